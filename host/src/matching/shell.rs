//! The simple commands of a shell text.
//!
//! It owns what a guard may be shown of a command: every simple command in it, in every form a pattern is tested on,
//! and the reasons for which no pattern can vouch for it. The text is cut by [`lexer`] and [`word`], parsed by
//! [`grammar`], and what a simple command runs in turn is read by [`invocation`]. It never runs anything and expands
//! nothing; what a pattern makes of a command is [`super::condition`]'s and [`super::approval`]'s.

mod ansi;
mod grammar;
mod invocation;
mod lexer;
mod word;

use std::collections::VecDeque;

use invocation::Invocation;

/// The longest command text that is taken apart, in bytes. A longer one counts as not parsed.
pub const MAX_COMMAND: usize = 256 * 1024;

/// How deep programs may hold programs: substitutions, and the texts of shells and of `eval`.
pub const MAX_DEPTH: usize = 8;

/// How many bytes are read in all, over every level.
const MAX_WORK: usize = 1024 * 1024;

/// The simple commands of a command text, and whether they can be relied on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Commands {
    /// The whole text was understood. If not, [`Commands::list`] holds what was.
    pub parsed: bool,
    /// Every simple command, those of substitutions and of the texts of shells and `eval` included.
    pub list: Vec<SimpleCommand>,
    /// Why a condition holds whatever its pattern says, in the order found.
    pub reasons: Vec<Reason>,
    /// Something that is no simple command assigns to a variable, defines a function or redirects to a file.
    pub side_effects: bool,
}

/// One simple command: its words after quote removal, without assignments and redirections.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SimpleCommand {
    /// The words. What the shell would expand stands in them as written.
    pub words: Vec<String>,
    /// The assignments before it, such as `X=1`.
    pub assignments: Vec<String>,
    /// Its redirections to and from files, the operator first. `/dev/null` and copies of descriptors are left out.
    pub redirections: Vec<(&'static str, String)>,
    /// The first word is what the shell will see.
    pub literal: bool,
    /// Where it stands.
    pub within: Within,
    joined: String,
    forms: Vec<usize>,
    in_full: Option<String>,
}

/// Where a simple command stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Within {
    /// In the text, or in a substitution in it: the tool's shell runs it.
    Text,
    /// In a text that another shell or `eval` is given.
    InnerText,
}

/// Why a condition holds whatever its pattern says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The text, or one inside it, could not be taken apart: the shell's grammar, a bound, or a form that shells read
    /// differently.
    Unparsed,
    /// The word that names the program is expanded by the shell.
    ProgramNotLiteral(String),
    /// `source` or `.` runs a file.
    Sources,
    /// This shell reads its program from a pipe or a file.
    ShellReadsProgram(String),
    /// The text given to this shell or to `eval` holds expansions, so it is not known.
    TextNotLiteral(String),
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Reason::Unparsed => f.write_str("the command could not be taken apart"),
            Reason::ProgramNotLiteral(word) => write!(f, "`{word}` is expanded before it names a program"),
            Reason::Sources => f.write_str("a file is sourced"),
            Reason::ShellReadsProgram(shell) => write!(f, "`{shell}` reads its program from a pipe or a file"),
            Reason::TextNotLiteral(shell) => write!(f, "the text given to `{shell}` holds expansions"),
        }
    }
}

impl Commands {
    /// Takes a command text apart. Time is bounded, and nothing in a text makes it panic.
    pub fn parse(text: &str) -> Commands {
        let mut parsing = Parsing::new();
        parsing.add(text.to_owned(), 0, Within::Text);
        // Bash keeps a carriage return as part of the word; a tool may drop it before. Both readings count.
        if text.contains("\r\n") {
            parsing.add(text.replace("\r\n", "\n"), 0, Within::Text);
        }
        parsing.run()
    }

    /// The words of every simple command, for a plugin's `extra`.
    pub fn words(&self) -> Vec<Vec<String>> {
        self.list.iter().map(|command| command.words.clone()).collect()
    }
}

impl SimpleCommand {
    /// The words joined by single spaces.
    pub fn joined(&self) -> &str {
        &self.joined
    }

    /// Its assignments, words and redirections, in this order, with single spaces between all.
    pub fn in_full(&self) -> &str {
        self.in_full.as_deref().unwrap_or(&self.joined)
    }

    /// Every form of its words that a condition is tested on: as written, without the folder of the first word, and both again for every
    /// shorter tail behind a wrapper such as `sudo`.
    pub fn forms(&self) -> impl Iterator<Item = &str> {
        self.forms.iter().filter_map(|start| self.joined.get(*start..))
    }
}

/// A text to be taken apart.
struct Waiting {
    text: String,
    depth: usize,
    within: Within,
}

/// The work in progress: texts wait in a queue, so that depth costs no stack.
struct Parsing {
    waiting: VecDeque<Waiting>,
    work: usize,
    found: Commands,
}

impl Parsing {
    fn new() -> Parsing {
        Parsing { waiting: VecDeque::new(), work: 0, found: Commands { parsed: true, ..Commands::default() } }
    }

    fn add(&mut self, text: String, depth: usize, within: Within) {
        self.waiting.push_back(Waiting { text, depth, within });
    }

    fn run(mut self) -> Commands {
        while let Some(next) = self.waiting.pop_front() {
            self.work += next.text.len();
            let bounded = next.text.len() <= MAX_COMMAND && self.work <= MAX_WORK && next.depth <= MAX_DEPTH;
            if !bounded || self.take_apart(&next).is_err() {
                self.unparsed();
            }
        }
        self.found
    }

    fn unparsed(&mut self) {
        self.found.parsed = false;
        self.reason(Reason::Unparsed);
    }

    fn reason(&mut self, reason: Reason) {
        if !self.found.reasons.contains(&reason) {
            self.found.reasons.push(reason);
        }
    }

    fn take_apart(&mut self, waiting: &Waiting) -> Result<(), lexer::Refusal> {
        let lexed = lexer::cut(&waiting.text)?;
        let parsed = grammar::parse(&lexed)?;
        self.found.side_effects |=
            parsed.side_effects || lexed.arithmetic || lexed.words.iter().any(|word| word.assigns);
        for simple in parsed.simple {
            self.simple(simple, waiting);
        }
        for program in lexed.words.into_iter().flat_map(|word| word.substitutions) {
            self.add(program, waiting.depth + 1, waiting.within);
        }
        Ok(())
    }

    fn simple(&mut self, simple: grammar::Simple, waiting: &Waiting) {
        let invocation = Invocation::read(&simple.words);
        for reason in invocation.reasons {
            self.reason(reason);
        }
        for text in invocation.texts {
            self.add(text, waiting.depth + 1, Within::InnerText);
        }
        if !invocation.understood {
            self.unparsed();
        }
        let words: Vec<String> = simple.words.iter().map(|word| word.text.clone()).collect();
        self.found.list.push(SimpleCommand {
            in_full: in_full(&simple.assignments, &words, &simple.redirections),
            literal: simple.words.first().is_none_or(|word| !word.expands),
            words,
            assignments: simple.assignments,
            redirections: simple.redirections,
            within: waiting.within,
            joined: invocation.joined,
            forms: invocation.forms,
        });
    }
}

/// `None` where the words are all that there is.
fn in_full(assignments: &[String], words: &[String], redirections: &[(&'static str, String)]) -> Option<String> {
    if assignments.is_empty() && redirections.is_empty() {
        return None;
    }
    let mut parts: Vec<String> = assignments.iter().chain(words).cloned().collect();
    parts.extend(redirections.iter().map(|(operator, target)| format!("{operator} {target}")));
    Some(parts.join(" "))
}

#[cfg(test)]
mod tests;
