//! Which files are formatted, by what, and what the model is told of it.

use super::*;
use tacklebox_sdk::process::{Error as Trouble, Output};
use tacklebox_sdk::{json, testing};

fn cx(project: &str, cwd: &str) -> Context {
    Context { project_dir: Some(project.into()), cwd: Some(cwd.into()), ..Context::test() }
}

fn wrote(path: &str) -> Answer {
    let input = Input::test(Event::PostToolUse, "write", json!({"path": path, "content": "x"})).with_output("written");
    FormatOnSave::run(&input, &cx("/home/me/app", "/home/me/app/src")).expect("an answer")
}

fn words(extension: &str, config: &Value) -> Vec<String> {
    let words = formatter(extension, config).expect("a config that fits");
    words.into_iter().map(String::from).collect()
}

fn told(args: &[&str], code: Option<i32>, stdout: &str, stderr: &str) -> Option<String> {
    let output = Output { exit_code: code, stdout: stdout.into(), stderr: stderr.into() };
    telling::of("fmt", args, Ok(output)).expect("no failure")
}

#[test]
fn paths_are_whole_and_lie_in_the_project() {
    let whole = |path: &str| in_project(path, &cx("/home/me/app/", "/home/me/app/src"));
    for (path, expected) in [
        ("a.rs", "/home/me/app/src/a.rs"),
        ("./x/../a.rs", "/home/me/app/src/a.rs"),
        ("../a.rs", "/home/me/app/a.rs"),
        ("/home/me/app/b//c/a.rs", "/home/me/app/b/c/a.rs"),
        ("-a.rs", "/home/me/app/src/-a.rs"),
        ("--config=x.rs", "/home/me/app/src/--config=x.rs"),
        ("a b;c\"$(d).rs", "/home/me/app/src/a b;c\"$(d).rs"),
    ] {
        assert_eq!(whole(path).as_deref(), Some(expected), "{path}");
    }
}

#[test]
fn other_paths_are_left_alone() {
    let project = cx("/home/me/app", "/home/me/app");
    for path in [
        "",
        ".",
        "/",
        "/home/me/app",
        "/home/me/app/",
        "/etc/x.rs",
        "../x.rs",
        "src/../../x.rs",
        "/home/me/app/../x.rs",
        "/home/me/apples/x.rs",
        "a\0.rs",
        "a\n.rs",
        "a\u{1b}[m.rs",
    ] {
        assert_eq!(in_project(path, &project), None, "{path:?}");
    }
    assert_eq!(in_project("a.rs", &cx("/home/me/app", "src")), None, "nobody knows where that is");
    assert_eq!(in_project("/a.rs", &cx("/", "/")), None, "all of the machine is no project");
    assert_eq!(in_project("/home/me/app/a.rs", &Context::test()), None, "there is no project");
}

#[test]
fn the_extension_is_that_of_the_name_in_either_case() {
    for (path, expected) in [
        ("/a/b.rs", Some("rs")),
        ("/a/b.test.RS", Some("RS")),
        ("/a/Makefile", None),
        ("/a.rs/b", None),
        ("/a/.rs", None),
        ("/a/b.", Some("")),
    ] {
        assert_eq!(extension(path), expected, "{path}");
    }
    let none = json!({});
    assert_eq!(words("RS", &none), ["rustfmt", "--edition", "2024", "-l"]);
    assert_eq!(words("PYI", &none), ["ruff", "format"]);
    for extension in ["", "txt", "rss", "py pyi", " "] {
        assert!(words(extension, &none).is_empty(), "{extension:?}");
    }
}

#[test]
fn the_users_formatters_come_before_ours() {
    let own = json!({"formatters": {"Rs": ["dprint", "fmt"], "py": [], "toml": ["taplo", "a b"]}});
    assert_eq!(words("rs", &own), ["dprint", "fmt"]);
    assert_eq!(words("TOML", &own), ["taplo", "a b"]);
    assert!(words("py", &own).is_empty());
    assert_eq!(words("go", &own), ["gofmt", "-l", "-w"]);
    testing::set_config(&json!({"formatters": {"rs": []}}));
    assert_eq!(wrote("a.rs"), Answer::pass());
}

#[test]
fn a_formatter_that_is_not_granted_is_told_once() {
    let text = "`/home/me/app/src/a.rs` and its like are not formatted: `rustfmt` may not be run";
    assert_eq!(wrote("a.rs"), Answer::modify().context(text).into());
    assert_eq!(wrote("b.rs"), Answer::pass());
    assert_ne!(wrote("b.go"), Answer::pass(), "another one");
    let gone = || telling::of("fmt", &["/a"], Err(Trouble::NotFound)).expect("no failure");
    assert_eq!(gone().as_deref(), Some("`/a` and its like are not formatted: `fmt` is not there"));
    assert_eq!(gone(), None);
}

#[test]
fn what_is_not_to_be_formatted_is_passed_in_silence() {
    for path in ["a.txt", "Makefile", ".rs", "/etc/a.rs", "a\n.rs", ""] {
        assert_eq!(wrote(path), Answer::pass(), "{path:?}");
    }
    let input = Input::test(Event::PostToolUse, "write", json!({"file": "a.rs"}));
    assert_eq!(FormatOnSave::run(&input, &cx("/p", "/p")), Ok(Answer::pass()));
}

#[test]
fn the_model_is_told_of_a_change_and_where_nobody_says_that_there_was_none() {
    let changed = Some("`/a` was formatted by `fmt` and may no longer be as written: read it again".to_owned());
    for (args, stdout, stderr) in [
        (["-l", "/a"], "/a\n", ""),
        (["-w", "/a"], "", ""),
        (["-l", "/a"], "", "warning: x"),
        (["format", "/a"], "1 file reformatted\n", ""),
        (["--write", "/a"], "a 20ms\n", ""),
    ] {
        assert_eq!(told(&args, Some(0), stdout, stderr), changed, "{args:?} {stdout}");
    }
    for (args, stdout, stderr) in [
        (["-l", "/a"], "", ""),
        (["format", "/a"], "1 file left unchanged\n", ""),
        (["-q", "/a"], "", "1 file left unchanged."),
        (["--write", "/a"], "a 20ms (unchanged)\n", ""),
    ] {
        assert_eq!(told(&args, Some(0), stdout, stderr), None, "{args:?} {stdout}");
    }
}

#[test]
fn a_failure_is_told_in_short_and_never_keeps_the_output_back() {
    let text = told(&["-l", "/a"], Some(1), "", "  error: \u{1b}[31mno }\n at 1:2\0\n").expect("a text");
    assert_eq!(text, "`fmt` failed on `/a` (exit code 1), and may have changed it: error: [31mno }\n at 1:2");
    let text = told(&["/a"], None, "", &"é".repeat(5_000)).expect("a text");
    assert!(text.starts_with("`fmt` failed on `/a` (a signal)") && text.matches('é').count() == 1_000, "{text}");
    for (trouble, part) in
        [(Trouble::TimedOut, "took too long over `/a`"), (Trouble::Failed("it is odd".into()), "it is odd")]
    {
        let text = telling::of("fmt", &["/a"], Err(trouble)).expect("no failure").expect("a text");
        assert!(text.contains(part) && text.contains("may have changed it"), "{text}");
    }
    assert_eq!(FormatOnSave::info().hooks[0].on_error, Some(Failure::Pass));
}

#[test]
fn a_config_that_does_not_fit_is_a_failure_that_names_its_place() {
    for (config, expected) in [
        (json!({"formatter": {}}), "config: `formatter` is not a table called `formatters`"),
        (json!({"formatters": ["rustfmt"]}), "config: `formatters` is not a table called `formatters`"),
        (json!({"formatters": {"rs": "rustfmt"}}), "config: `formatters.rs` is not a list of words"),
        (json!({"formatters": {"go": ["gofmt", 1]}}), "config: `formatters.go` is not a list of words"),
    ] {
        testing::set_config(&config);
        let input = Input::test(Event::PostToolUse, "write", json!({"path": "a.rs"}));
        let failure = FormatOnSave::run(&input, &cx("/p", "/p")).expect_err("no answer").to_string();
        assert_eq!(failure, expected);
    }
}
