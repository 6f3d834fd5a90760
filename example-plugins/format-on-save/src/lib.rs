//! Formats each file that the agent writes, and tells the model where the text on disk may no longer be what it wrote.

use tacklebox_sdk::{Answer, Context, Error, Event, Failure, Hook, Info, Input, Plugin, Value, config, process};

mod telling;
#[cfg(test)]
mod tests;

/// What formats files with these extensions; the file becomes the last argument. Each says whether it has changed anything.
const FORMATTERS: [(&str, &str); 3] =
    [("go", "gofmt -l -w"), ("py pyi", "ruff format"), ("rs", "rustfmt --edition 2024 -l")];

struct FormatOnSave;
tacklebox_sdk::export!(FormatOnSave);

impl Plugin for FormatOnSave {
    fn info() -> Info {
        // The file is written, whatever its formatter thinks of it.
        let hook = Hook::on(Event::PostToolUse, "format-on-save").matcher("write|edit").on_error(Failure::Pass);
        Info::new("format-on-save", env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_DESCRIPTION")).hook(hook)
    }

    fn post_tool_use(input: &Input, cx: &Context) -> Result<Answer, Error> {
        let config: Value = config()?;
        let path = input.path().and_then(|path| in_project(path, cx)).unwrap_or_default();
        let words = extension(&path).map_or(Ok(Vec::new()), |extension| formatter(extension, &config))?;
        let [program, args @ ..] = words.as_slice() else { return Ok(Answer::pass()) };
        let args: Vec<&str> = args.iter().copied().chain([path.as_str()]).collect();
        let told = telling::of(program, &args, process::run(program, &args, b""))?;
        Ok(told.map_or_else(Answer::pass, |text| Answer::modify().context(text).into()))
    }
}

/// The whole path, which looks like no option; `.` and `..` go by the text. None for what is outside of the project.
fn in_project(path: &str, cx: &Context) -> Option<String> {
    let project = whole(cx.project_dir.as_deref()?, "")?;
    let path = whole(path, cx.cwd.as_deref().unwrap_or(&project))?;
    let is_inside = path.strip_prefix(&project).is_some_and(|rest| rest.starts_with('/'));
    (is_inside && !path.contains(char::is_control)).then_some(path)
}

fn whole(path: &str, base: &str) -> Option<String> {
    let (base, mut parts) = (if path.starts_with('/') { "/" } else { base }, Vec::new());
    for part in base.split('/').chain(path.split('/')).filter(|part| !["", "."].contains(part)) {
        match part {
            ".." => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    base.starts_with('/').then(|| format!("/{}", parts.join("/")))
}

fn extension(path: &str) -> Option<&str> {
    let (stem, extension) = path.rsplit('/').next()?.rsplit_once('.')?;
    (!stem.is_empty()).then_some(extension)
}

/// A program and its arguments, or nothing at all: the user's, else ours. Not by a type of its own, since the code that reads
/// a table is larger than all of this.
fn formatter<'a>(extension: &str, config: &'a Value) -> Result<Vec<&'a str>, Error> {
    let is_it = |of: &str| of.eq_ignore_ascii_case(extension);
    let (mut found, ours) = (Vec::new(), FORMATTERS.iter().find(|(of, _)| of.split(' ').any(is_it)));
    found.extend(ours.iter().flat_map(|(_, words)| words.split(' ')));
    for (key, table) in config.as_object().into_iter().flatten() {
        let table = table.as_object().filter(|_| key == "formatters");
        let table = table.ok_or_else(|| Error::new(format!("config: `{key}` is not a table called `formatters`")))?;
        for (of, words) in table {
            let list = words.as_array().and_then(|words| words.iter().map(Value::as_str).collect::<Option<_>>());
            let list = list.ok_or_else(|| Error::new(format!("config: `formatters.{of}` is not a list of words")))?;
            found = if is_it(of) { list } else { found };
        }
    }
    Ok(found)
}
