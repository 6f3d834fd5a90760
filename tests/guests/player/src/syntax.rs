//! From the text of a command to what is to be done.

use crate::words::{Part, Word};

/// A command, and when it runs.
pub(crate) struct Step {
    pub(crate) joined: Joined,
    pub(crate) command: Command,
}

/// How a command stands to the one before it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Joined {
    /// Behind `;`, or first.
    Always,
    /// Behind `&&`.
    IfWell,
    /// Behind `||`.
    IfNot,
}

/// What runs.
pub(crate) enum Command {
    /// Words, the first of which is its name.
    Simple { words: Vec<Word>, to_stderr: bool },
    /// The first arm that fits.
    Case { word: Word, arms: Vec<Arm> },
}

/// One arm of a `case`.
pub(crate) struct Arm {
    pub(crate) patterns: Vec<Word>,
    pub(crate) steps: Vec<Step>,
}

enum Token {
    Word(Word),
    Operator(&'static str),
}

/// The longer before the shorter.
const OPERATORS: [&str; 13] = [">&2", "&&", "||", ";;", ";", ")", "|", "&", "(", "<", ">", "`", "\n"];

/// What this text says.
pub(crate) fn parse(text: &str) -> Vec<Step> {
    let mut reader = Reader { tokens: tokens(text), at: 0 };
    let steps = reader.steps();
    assert!(reader.at == reader.tokens.len(), "the player does not speak all of `{text}`");
    steps
}

struct Reader {
    tokens: Vec<Token>,
    at: usize,
}

impl Reader {
    fn steps(&mut self) -> Vec<Step> {
        let (mut steps, mut joined) = (Vec::new(), Joined::Always);
        while let Some(Token::Word(first)) = self.tokens.get(self.at) {
            if first.is("esac") {
                break;
            }
            let command = if first.is("case") { self.case() } else { self.simple() };
            steps.push(Step { joined, command });
            joined = match self.tokens.get(self.at) {
                Some(Token::Operator(";")) => Joined::Always,
                Some(Token::Operator("&&")) => Joined::IfWell,
                Some(Token::Operator("||")) => Joined::IfNot,
                _ => break,
            };
            self.at += 1;
        }
        steps
    }

    fn simple(&mut self) -> Command {
        let (mut words, mut to_stderr) = (Vec::new(), false);
        loop {
            match self.tokens.get(self.at) {
                Some(Token::Word(word)) => words.push(word.clone()),
                Some(Token::Operator(">&2")) => to_stderr = true,
                _ => return Command::Simple { words, to_stderr },
            }
            self.at += 1;
        }
    }

    fn case(&mut self) -> Command {
        self.expect_word("case");
        let word = self.word();
        self.expect_word("in");
        let mut arms = Vec::new();
        while !matches!(self.tokens.get(self.at), Some(Token::Word(word)) if word.is("esac")) {
            let patterns = vec![self.word()];
            self.expect(")");
            let steps = self.steps();
            self.expect(";;");
            arms.push(Arm { patterns, steps });
        }
        self.expect_word("esac");
        Command::Case { word, arms }
    }

    fn word(&mut self) -> Word {
        match self.tokens.get(self.at) {
            Some(Token::Word(word)) => {
                self.at += 1;
                word.clone()
            }
            _ => panic!("the player expected a word"),
        }
    }

    fn expect_word(&mut self, text: &str) {
        assert!(self.word().is(text), "the player expected `{text}`");
    }

    fn expect(&mut self, operator: &str) {
        assert!(matches!(self.tokens.get(self.at), Some(Token::Operator(found)) if *found == operator));
        self.at += 1;
    }
}

fn tokens(text: &str) -> Vec<Token> {
    let (mut tokens, mut rest) = (Vec::new(), text.trim_start());
    while !rest.is_empty() {
        let operator = OPERATORS.into_iter().find(|operator| rest.starts_with(operator));
        rest = match operator {
            Some(operator) => {
                tokens.push(Token::Operator(operator));
                &rest[operator.len()..]
            }
            None => {
                let (word, after) = word(rest);
                tokens.push(Token::Word(word));
                after
            }
        };
        rest = rest.trim_start_matches(' ');
    }
    tokens
}

/// The word at the beginning of the text, and what stands after it.
fn word(text: &str) -> (Word, &str) {
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        match first {
            ' ' => break,
            '\'' => {
                let (inner, after) = rest[1..].split_once('\'').expect("a closing quote");
                parts.push(Part::quoted(inner));
                rest = after;
            }
            '"' => rest = double_quoted(&rest[1..], &mut parts),
            '$' => rest = variable(&rest[1..], false, &mut parts),
            '\\' => panic!("the player knows no backslash outside of quotes"),
            _ if OPERATORS.iter().any(|operator| rest.starts_with(operator)) => break,
            _ => {
                parts.push(Part::Bare(first.into()));
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    (Word(parts), rest)
}

fn double_quoted<'t>(text: &'t str, parts: &mut Vec<Part>) -> &'t str {
    parts.push(Part::quoted(""));
    let mut rest = text;
    loop {
        let first = rest.chars().next().expect("a closing quote");
        let after = &rest[first.len_utf8()..];
        rest = match first {
            '"' => return after,
            '$' => variable(after, true, parts),
            '\\' if after.starts_with(['"', '\\', '$']) => {
                parts.push(Part::quoted(&after[..1]));
                &after[1..]
            }
            '`' => panic!("the player substitutes no commands"),
            _ => {
                parts.push(Part::quoted(first.encode_utf8(&mut [0; 4])));
                after
            }
        };
    }
}

fn variable<'t>(text: &'t str, quoted: bool, parts: &mut Vec<Part>) -> &'t str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    assert!(end > 0, "the player knows variables by name alone");
    parts.push(Part::Variable { name: text[..end].into(), quoted });
    &text[end..]
}
