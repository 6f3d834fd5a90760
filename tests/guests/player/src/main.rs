//! A WASI command that does what its config says in the words of a shell: `{"command": "echo no >&2; exit 2"}`. By it, what
//! is tested with shell commands is tested in the sandbox as well.
//!
//! It speaks a small part of the language: `echo printf exit sleep true [`, `case`, `;`, `&&`, `||`, `>&2`, quotes and
//! variables. Whatever else is asked of it is a panic, and so no answer: it never pretends.

mod syntax;
mod words;

use std::io::Write as _;
use std::process::exit;
use std::time::Duration;

use syntax::{Command, Joined, Step};
use words::Word;

fn main() {
    let config = words::variable("HOOK_CONFIG").expect("a command finds its config");
    let text = words::config_command(&config);
    exit(run(&syntax::parse(&text)));
}

/// The exit code of the last command that ran.
fn run(steps: &[Step]) -> i32 {
    let mut status = 0;
    for Step { joined, command } in steps {
        let runs = match joined {
            Joined::Always => true,
            Joined::IfWell => status == 0,
            Joined::IfNot => status != 0,
        };
        if runs {
            status = execute(command);
        }
    }
    status
}

fn execute(command: &Command) -> i32 {
    match command {
        Command::Case { word, arms } => {
            let text = word.text();
            let arm = arms.iter().find(|arm| arm.patterns.iter().any(|pattern| pattern.matches(&text)));
            arm.map_or(0, |arm| run(&arm.steps))
        }
        Command::Simple { words, to_stderr } => {
            let words: Vec<_> = words.iter().flat_map(Word::fields).collect();
            let words: Vec<_> = words.iter().map(String::as_str).collect();
            simple(&words, *to_stderr)
        }
    }
}

fn simple(words: &[&str], to_stderr: bool) -> i32 {
    match words {
        ["true"] => 0,
        ["exit", code] => exit(code.parse().expect("an exit code")),
        ["sleep", seconds] => {
            std::thread::sleep(Duration::from_secs(seconds.parse().expect("whole seconds")));
            0
        }
        ["[", "-z", text, "]"] => i32::from(!text.is_empty()),
        ["[", one, "=", other, "]"] => i32::from(one != other),
        ["echo", rest @ ..] => print(format!("{}\n", rest.join(" ")).as_bytes(), to_stderr),
        ["printf", format, rest @ ..] => print(&words::formatted(format, rest), to_stderr),
        other => panic!("the player does not speak `{}`", other.join(" ")),
    }
}

fn print(bytes: &[u8], to_stderr: bool) -> i32 {
    let written = match to_stderr {
        true => std::io::stderr().write_all(bytes),
        false => std::io::stdout().write_all(bytes).and_then(|()| std::io::stdout().flush()),
    };
    i32::from(written.is_err())
}
