//! The strict reading of a condition: whether its hook may approve a call.
//!
//! It owns the opposite of what [`super::condition`] does with doubt: there one test that holds is enough, here every
//! part must be met as a whole and anything out of the ordinary must be spelled by the pattern. Whether the hook's
//! source may approve at all is policy, not matching.

use super::condition::{Alternative, Call, Condition, Subject, Test};
use super::matcher::MatcherHit;
use super::pattern::Pattern;
use super::shell::{Commands, SimpleCommand, Within};

impl Condition {
    /// Whether a hook with this condition may approve the call. If not, the hook has no opinion on it.
    ///
    /// A command must have parsed; nothing in it but simple commands may have an effect; and each of them, those in
    /// substitutions too, must be met from end to end by one of the alternatives. Otherwise the path counts, without
    /// `..` unless the pattern spells that; where nothing is known about the tool, every value.
    pub fn approves(&self, call: &Call<'_>) -> bool {
        let asked: Vec<&Alternative> = self.alternatives.iter().filter(|asked| asked.surely_of(call.tool)).collect();
        match call.subject {
            Subject::Command(commands) => commands.is_some_and(|commands| all_met(&asked, commands)),
            Subject::Path(path) => asked.iter().any(|asked| asked.meets_value(path)),
            Subject::Unknown => asked.iter().any(|asked| asked.is_bare()) || values_met(&asked, &call.values().each),
        }
    }
}

fn all_met(asked: &[&Alternative], commands: &Commands) -> bool {
    let mut run = commands.list.iter().filter(|command| command.within == Within::Text).peekable();
    commands.parsed
        && !commands.side_effects
        // A text without a command is nothing to approve.
        && run.peek().is_some()
        && run.all(|command| command.literal && asked.iter().any(|asked| asked.meets_command(command)))
}

fn values_met(asked: &[&Alternative], values: &[String]) -> bool {
    !values.is_empty() && values.iter().all(|value| asked.iter().any(|asked| asked.meets_value(Some(value))))
}

impl Alternative {
    /// A tool pattern that reached its backtrack limit is not sure.
    fn surely_of(&self, tool: &str) -> bool {
        let hit = self.tool.as_ref().and_then(|matcher| matcher.test(tool));
        hit.is_some_and(|hit| hit != MatcherHit::PatternLimit)
    }

    fn is_bare(&self) -> bool {
        matches!(self.test, Test::Bare)
    }

    fn meets_value(&self, value: Option<&str>) -> bool {
        match (&self.test, value) {
            (Test::Bare, _) => true,
            (Test::Pattern(pattern), Some(value)) => {
                pattern.covers(value) && (!climbs(value) || climbs(pattern.text()))
            }
            (Test::Pattern(_), None) | (Test::Unreadable, _) => false,
        }
    }

    fn meets_command(&self, command: &SimpleCommand) -> bool {
        let ordinary = command.assignments.is_empty() && command.redirections.is_empty() && folder(command).is_empty();
        match &self.test {
            Test::Bare => ordinary,
            Test::Pattern(pattern) if ordinary => pattern.covers(command.joined()),
            Test::Pattern(pattern) => spells(pattern, command) && pattern.covers(command.in_full()),
            Test::Unreadable => false,
        }
    }
}

/// Whether a path leaves a folder upwards, so that `src/*` would cover a file outside of `src`.
fn climbs(path: &str) -> bool {
    path.split(['/', '\\']).any(|part| part == "..")
}

/// The folder of the first word, with its slash.
fn folder(command: &SimpleCommand) -> &str {
    let first = command.words.first().map_or("", String::as_str);
    first.rfind('/').map_or("", |slash| &first[..=slash])
}

/// Whether the pattern holds literally what is out of the ordinary about a command.
fn spells(pattern: &Pattern, command: &SimpleCommand) -> bool {
    let text = pattern.text();
    command.assignments.iter().all(|assignment| text.contains(assignment.as_str()))
        && command.redirections.iter().all(|redirection| text.contains(&spelled(redirection)))
        && text.contains(folder(command))
}

fn spelled((operator, target): &(&'static str, String)) -> String {
    format!("{operator} {target}")
}

#[cfg(test)]
mod tests {
    use super::super::tools::{Dialect, ToolTable};
    use super::*;
    use serde_json::{Map, Value, json};

    fn approves(condition: &str, tool: &str, input: &Value) -> bool {
        let (tools, empty) = (ToolTable::default(), Map::new());
        let input = input.as_object().unwrap_or(&empty);
        let commands = tools.command(tool, input).map(Commands::parse);
        let call = tools.call(Dialect::Freecode, tool, input, commands.as_ref());
        Condition::new(condition).0.approves(&call)
    }

    #[test]
    fn every_simple_command_must_be_met_as_a_whole() {
        let cases: &[(&str, &str, bool)] = &[
            ("bash(git *)", "git status && git log", true),
            ("bash(git *)", "git status && curl x | sh", false),
            ("bash(git *)", "git log > ~/.bashrc", false),
            ("bash(git *)", "{ git log; } > ~/.bashrc", false),
            ("bash(git *)", "git log 2>&1 >/dev/null", true),
            ("bash(git *)", "X=1 git fetch", false),
            ("bash(git *)", "PATH=. && git fetch", false),
            ("bash(git *)", "for PATH in .; do git fetch; done", false),
            ("bash(git *)", "((PATH=0)); git fetch", false),
            ("bash(git *)", "git log ${PATH:=.}", false),
            ("bash(git *)", "git() { git log; }; git", false),
            ("bash(git *)", "git log $(git rev-parse x)", true),
            ("bash(git *)", "git log $(rm x)", false),
            ("bash(git *)", "git log <(rm x)", false),
            ("bash(git *)", "git log \"`rm x`\"", false),
            ("bash(git *)", "sudo git log", false),
            ("bash(git *)", "env git log", false),
            ("bash(git *)", "/tmp/git log", false),
            ("bash(git *)", "./git log", false),
            ("bash(git *)", "g?t log", false),
            ("bash(*)", "$X log", false),
            ("bash(*)", "ls | wc", true),
            ("bash(*)", "ls > f", false),
            ("bash(git *)", "git 'unclosed", false),
            ("bash(git *)", "", false),
            ("bash(git *)", "# git log", false),
            ("bash", "ls", true),
            ("bash", "X=1 ls", false),
            ("bash(git push)", "rm git push", false),
            ("bash(git push)", "git push", true),
            ("bash(git (push|pull))", "git pull", true),
            ("bash(git (push|pull))", "git pull; rm x", false),
            ("bash(git *)|bash(ls *)", "git log | ls", true),
            ("bash(X=1 git *)", "X=1 git fetch", true),
            ("bash(X=1 git *)", "X=2 git fetch", false),
            ("bash(git log > out.txt)", "git log >out.txt", true),
            ("bash(git log > *)", "git log > ~/.bashrc", false),
            ("bash(./gradlew *)", "./gradlew build", true),
            ("bash(*/gradlew *)", "/tmp/gradlew build", false),
            ("bash([)", "ls", false),
            ("bash(git *)", "git log\r\n", true),
            ("bash(git *)", "git log\r\nrm x", false),
        ];
        for (condition, command, expected) in cases {
            assert_eq!(
                approves(condition, "bash", &json!({"command": command})),
                *expected,
                "{condition:?} on {command:?}"
            );
        }
    }

    #[test]
    fn what_approves_a_command_is_about_it_however_it_is_spaced() {
        for (condition, command) in [
            ("bash(git log > out.txt)", "git log >out.txt"),
            ("bash(X=1 git *)", "X=1  git fetch"),
            ("bash(* > /etc/*)", "echo x>'/etc/hosts'"),
        ] {
            let (tools, input) = (ToolTable::default(), json!({"command": command}));
            let commands = Commands::parse(command);
            let call = tools.call(Dialect::Freecode, "bash", input.as_object().unwrap(), Some(&commands));
            let condition = Condition::new(condition).0;
            assert!(condition.test(&call).holds(), "{condition:?} misses {command:?}");
        }
    }

    #[test]
    fn without_a_command_the_path_counts_or_every_value() {
        let cases = [
            ("edit(src/*)", "edit", json!({"path": "src/a.rs", "content": "x"}), true),
            ("edit(src/*)", "edit", json!({"path": "b.rs", "content": "src/a"}), false),
            ("edit(src/*)", "edit", json!({"path": "src/../b.rs"}), false),
            ("edit(src/../*)", "edit", json!({"path": "src/../b.rs"}), true),
            ("edit(src/*)", "edit", json!({"content": "src/a"}), false),
            ("edit", "edit", json!({"path": "a"}), true),
            ("edit", "write", json!({"path": "a"}), false),
            ("other(a*)", "other", json!({"x": "a1", "y": ["a2"]}), true),
            ("other(a*)", "other", json!({"x": "a1", "y": ["b"]}), false),
            ("other(a*)", "other", json!({}), false),
            ("bash(git *)", "bash", json!({"command": ["git", "log"]}), false),
        ];
        for (condition, tool, input, expected) in cases {
            assert_eq!(approves(condition, tool, &input), expected, "{condition:?} on {tool} {input}");
        }
    }
}
