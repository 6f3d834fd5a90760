"""The README's part about languages, for scripts/guests.sh: the steps and sources that it shows, and its table of figures.

    languages.py steps LANGUAGE                            prints what a person types
    languages.py source LANGUAGE PROJECT                   lays the source that is shown over a project
    languages.py shown LANGUAGE REPORT                     whether a `plugin test --json` is what that source gives
    languages.py figures LANGUAGE KIND FOLDER COLD VERSION makes figures.json of a folder's runs, and compares it with the table
    languages.py table FOLDER                              rewrites the table from all figures under a folder
"""

import json
import os
import re
import statistics
import sys
from pathlib import Path

README = Path(__file__).resolve().parent.parent / "README.md"
BEGIN, END = "<!-- languages -->", "<!-- /languages -->"
COLUMNS = ["language", "`--lang`", "size", "loaded first", "from the cache", "a call", "imports"]

# What the README shows: the fence of the source, and the file that it stands for.
SHOWN = {"rust": ("rust", "src/lib.rs"), "javascript": ("js", "hook.js"), "python": ("python", "hook.py")}
# The cases that the sources there leave out, since they read no config.
BY_CONFIG = {"the config names other endings", "and then no more than these"}

# What its compiler does not say of itself.
TITLES = {"assemblyscript": "AssemblyScript", "c": "C", "go": "Go", "rust": "Rust", "zig": "Zig"}
# The two shapes of a plugin.
COMPONENT, COMMAND = "component", "command"

# Their components ask for nothing beside the interface.
WITHOUT_WASI = {"assemblyscript", "c", "cpp", "go", "rust", "zig"}
# So much may a size differ from the table's.
SLACK = 0.1


def fail(message):
    sys.exit(f"error: {message}")


def blocks(language):
    """Fence and text of each block of the README that is about this language, in order."""
    if language not in SHOWN:
        fail(f"the README shows no plugin in {language}")
    section = README.read_text().split("\n## A plugin in five minutes\n")[1].split("\n## ")[0]
    found = re.findall(r"^```(\w+)\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    starts = [n for n, (_, text) in enumerate(found) if "tacklebox plugin new" in text] + [len(found)]
    parts = [found[begin:end] for begin, end in zip(starts, starts[1:])]
    mine = [part for part in parts if f"--lang {language}" in part[0][1]]
    return mine[0] if len(mine) == 1 else fail(f"the README begins {len(mine)} plugins in {language}")


def steps(language):
    print("".join(text for fence, text in blocks(language) if fence == "sh"), end="")


def source(language, project):
    fence, file = SHOWN[language]
    texts = [text for found, text in blocks(language) if found == fence]
    if len(texts) != 1:
        fail(f"the README shows {len(texts)} sources in {language}")
    Path(project, file).write_text(texts[0])


def shown(language, report):
    failed = {case["name"] for case in read(report)["cases"] if not case["passed"]}
    if failed != BY_CONFIG:
        fail(f"the README's source in {language} fails {sorted(failed)}, and says that it would {sorted(BY_CONFIG)}")


def read(file):
    return json.loads(Path(file).read_text())


def figures(language, kind, folder, cold, version):
    cold, runs = int(cold), Path(folder, "runs")
    all_runs = [read(runs / f"{n}.json") for n in range(len(list(runs.glob("[0-9]*.json"))))]
    first, cached = all_runs[:cold], all_runs[cold:]
    inspected = read(runs / "inspected.json")
    imports = sorted(one["name"] for one in inspected["imports"])
    if kind == COMPONENT and language in WITHOUT_WASI and any(name.startswith("wasi:") for name in imports):
        fail(f"the {language} plugin imports {', '.join(imports)}")
    millis = lambda some: statistics.median(run["loadMillis"] for run in some)
    made = {
        "language": language,
        "title": TITLES.get(language) or inspected["made"]["languages"][0]["name"],
        "kind": kind,
        "size": inspected["size"],
        "imports": imports,
        "firstMillis": millis(first) if first else None,
        "cachedMillis": millis(cached),
        "callMicros": statistics.median(case["micros"] for run in cached for case in run["cases"] if case["micros"]),
        "loads": [len(first), len(cached)],
        "program": version,
        "cores": os.cpu_count(),
    }
    Path(folder, "figures.json").write_text(json.dumps(made, indent=1) + "\n")
    loaded = f"{made['firstMillis']:.0f} ms first and " if first else ""
    print(f"{language}, {kind}: {made['size']} bytes, loaded in {loaded}{made['cachedMillis']:.0f} ms from the cache, "
          f"call p50 {made['callMicros']:.0f} us, imports {imported(imports)}")
    # Where it is measured, the table is about to be written.
    if not first:
        compare(made)


def option(made):
    """What follows `--lang`, in the table's second column."""
    return f"`{made['language']}`" if made["kind"] == COMPONENT else f"`{made['language']} --command`"


def compare(made):
    row = next((row for row in rows() if row[1] == option(made)), None)
    again = "measure anew, as scripts/guests.sh says"
    if row is None:
        fail(f"{option(made)} is not in the README's table: {again}")
    size, imports = row[2], row[6]
    if abs(in_bytes(size) - made["size"]) > SLACK * made["size"]:
        fail(f"the README says {size} of {option(made)}, and it has {told(made['size'])}: {again}")
    if imports != imported(made["imports"]):
        fail(f"the README says that {option(made)} imports {imports}, and it is {imported(made['imports'])}: {again}")


def rows():
    table = README.read_text().split(BEGIN)[1].split(END)[0]
    lines = [line for line in table.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def imported(imports):
    """In short: the interfaces that have functions, and WASI's packages, or the whole of its preview 1."""
    own = [name.split("/")[1].split("@")[0] for name in imports if name.startswith("tacklebox:")]
    wasi = sorted({re.split("/|::", name)[0] for name in imports if name.startswith("wasi")})
    return ", ".join(f"`{name}`" for name in [name for name in own if name != "types"] + wasi) or "none"


def told(size):
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} KB"


def in_bytes(told):
    number, unit = told.split()
    return float(number) * {"KB": 1e3, "MB": 1e6}[unit]


def time(millis):
    if millis >= 1000:
        return f"{millis / 1000:.1f} s"
    return f"{millis:.0f} ms" if millis >= 10 else f"{millis:.2g} ms"


def row(made):
    title = f"[{made['title']}](guest-sdk/{made['language']})" + (", no SDK" if made["kind"] == COMMAND else "")
    times = [made["firstMillis"], made["cachedMillis"], made["callMicros"] / 1000]
    return [title, option(made), told(made["size"]), *map(time, times), imported(made["imports"])]


def table(folder):
    made = [read(file) for file in Path(folder).glob("*/*/figures.json")]
    measured = [one for one in made if one["firstMillis"] is not None]
    if not measured or len({(one["program"], one["cores"], *one["loads"]) for one in measured}) != 1:
        fail("not all was measured in one go: scripts/guests.sh measure LANGUAGE ..")
    order = [row[1] for row in rows()]
    place = lambda one: (order.index(option(one)) if option(one) in order else len(order), one["kind"] == COMMAND, one["language"])
    one, lines = measured[0], [COLUMNS, ["---"] * len(COLUMNS)] + [row(one) for one in sorted(measured, key=place)]
    text = "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
    loads = f"medians of {one['loads'][0]} loads that compile and {one['loads'][1]} from the cache, all calls in fresh instances"
    caption = f"Measured by `scripts/guests.sh measure` with {one['program']}, a release build, on {one['cores']} cores: {loads}."
    before, rest = README.read_text().split(BEGIN)
    README.write_text(f"{before}{BEGIN}\n{text}\n{caption}\n{END}{rest.split(END)[1]}")


if __name__ == "__main__":
    commands = {"steps": steps, "source": source, "shown": shown, "figures": figures, "table": table}
    commands[sys.argv[1]](*sys.argv[2:])
