//! The grammar: simple commands out of words and operators, by the parser of the crate `brush-parser`.
//!
//! It owns the bridge to that crate, which no other file names. The parser is given our words, not the text: words
//! that hold quotes or expansions stand in it as numbered marks, so it never reads the inside of one, and what it
//! takes for a word is what [`super::lexer`] took for one. Bounds are checked before it is called, since it recurses.

use std::sync::Arc;

use brush_parser::ast::{
    AndOr, AndOrList, Assignment, AssignmentValue, Command, CommandPrefixOrSuffixItem as Item, CompoundCommand,
    CompoundList, FunctionDefinition, IoFileRedirectTarget, IoRedirect, Pipeline, SimpleCommand, Word as Name,
};
use brush_parser::{ParserOptions, SourcePosition, SourceSpan, Token, parse_tokens};

use super::lexer::{Lexed, Lexeme, Placed, Refusal};
use super::word::Word;

/// A character no text may hold, which sets off the number of a word.
const MARK: char = '\u{10fffe}';

/// How deep the grammar may nest.
const MAX_NESTING: usize = 24;

/// How deep `case` may nest: the parser reads the last branch twice at every level.
const MAX_CASES: usize = 6;

/// How many words in a row may be ones that the parser recurses on.
const MAX_PREFIXES: usize = 16;

/// What the grammar found in a program.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub(super) simple: Vec<Simple>,
    /// Something other than a simple command assigns, redirects to a file, or names a function.
    pub(super) side_effects: bool,
}

/// A simple command.
#[derive(Debug, Default)]
pub(super) struct Simple {
    pub(super) words: Vec<Word>,
    /// The assignments before it, after quote removal.
    pub(super) assignments: Vec<String>,
    /// The redirections to or from files: operator and target.
    pub(super) redirections: Vec<(&'static str, String)>,
}

/// Parses a cut program.
pub(super) fn parse(lexed: &Lexed) -> Result<Parsed, Refusal> {
    if lexed.words.iter().any(|word| word.text.contains(MARK)) {
        return Err(Refusal::Ambiguous);
    }
    bounded(lexed)?;
    let tokens: Vec<Token> = lexed.lexemes.iter().map(|placed| token(placed, lexed)).collect();
    // The parser is not ours: a panic in it must not become one of the agent's.
    let program = std::panic::catch_unwind(|| unheard(|| parse_tokens(&tokens, &ParserOptions::default()).ok()));
    let program = program.ok().flatten().ok_or(Refusal::Unparsable)?;
    let mut walk = Walk { words: &lexed.words, parsed: Parsed::default() };
    program.complete_commands.iter().for_each(|list| walk.list(list));
    Ok(walk.parsed)
}

/// The parser tells `tracing` the whole of what it parsed: a payload, which is in no log.
fn unheard<T>(parse: impl FnOnce() -> T) -> T {
    tracing::dispatcher::with_default(&tracing::Dispatch::none(), parse)
}

/// Refuses what nests too deep. Words that are no keywords where they stand are counted too; that errs on the safe
/// side.
fn bounded(lexed: &Lexed) -> Result<(), Refusal> {
    let (mut depth, mut cases, mut prefixes) = (0_usize, 0_usize, 0_usize);
    for placed in &lexed.lexemes {
        let text = match placed.lexeme {
            Lexeme::Operator(operator) => operator,
            Lexeme::Word(at) => lexed.words.get(at).and_then(Word::keyword).unwrap_or_default(),
        };
        prefixes = if matches!(text, "!" | "coproc" | "time" | "function") { prefixes + 1 } else { 0 };
        match text {
            "(" | "{" | "if" | "while" | "until" | "for" | "[[" | "case" => depth += 1,
            ")" | "}" | "fi" | "done" | "]]" | "esac" => depth = depth.saturating_sub(1),
            _ => {}
        }
        match text {
            "case" => cases += 1,
            "esac" => cases = cases.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_NESTING || cases > MAX_CASES || prefixes > MAX_PREFIXES {
            return Err(Refusal::TooDeep);
        }
    }
    Ok(())
}

/// The parser's token for one of our lexemes. It looks at places to tell `2>x` from `2 >x`.
fn token(placed: &Placed, lexed: &Lexed) -> Token {
    let position = |index| Arc::new(SourcePosition { index, line: 1, column: index + 1 });
    let span = SourceSpan { start: position(placed.start), end: position(placed.end) };
    match placed.lexeme {
        Lexeme::Operator(operator) => Token::Operator(operator.to_owned(), span),
        Lexeme::Word(at) => Token::Word(stand_in(at, lexed.words.get(at)), span),
    }
}

/// The text that stands for a word: itself where the grammar may read it, else its number. A name before `=` stays
/// visible, for that makes it an assignment.
fn stand_in(at: usize, word: Option<&Word>) -> String {
    if let Some(text) = word.and_then(Word::keyword) {
        return text.to_owned();
    }
    let name = word.filter(|word| word.assignment.is_some()).map_or("", |_| "a=");
    format!("{name}{MARK}{at}{MARK}")
}

/// Collects simple commands. Substitutions are found in the words of the whole program, wherever they stand, so
/// nothing here depends on visiting every word.
struct Walk<'a> {
    words: &'a [Word],
    parsed: Parsed,
}

impl Walk<'_> {
    fn list(&mut self, list: &CompoundList) {
        list.0.iter().for_each(|item| self.and_or(&item.0));
    }

    fn and_or(&mut self, list: &AndOrList) {
        self.pipeline(&list.first);
        for AndOr::And(pipeline) | AndOr::Or(pipeline) in &list.additional {
            self.pipeline(pipeline);
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        pipeline.seq.iter().for_each(|command| self.command(command));
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound, redirections) => {
                self.compound(compound);
                self.outer_redirections(redirections.as_ref().map_or(&[], |list| &list.0));
            }
            Command::Function(function) => self.function(function),
            Command::ExtendedTest(_, redirections) => {
                // `=~` fills a variable.
                self.parsed.side_effects = true;
                self.outer_redirections(redirections.as_ref().map_or(&[], |list| &list.0));
            }
        }
    }

    fn function(&mut self, function: &FunctionDefinition) {
        self.parsed.side_effects = true;
        self.compound(&function.body.0);
    }

    fn compound(&mut self, compound: &CompoundCommand) {
        match compound {
            CompoundCommand::Arithmetic(_) => self.parsed.side_effects = true,
            CompoundCommand::BraceGroup(group) => self.list(&group.list),
            CompoundCommand::Subshell(subshell) => self.list(&subshell.list),
            CompoundCommand::WhileClause(repeat) | CompoundCommand::UntilClause(repeat) => {
                self.list(&repeat.0);
                self.list(&repeat.1.list);
            }
            CompoundCommand::ForClause(repeat) => self.assigning(&repeat.body.list),
            CompoundCommand::ArithmeticForClause(repeat) => self.assigning(&repeat.body.list),
            CompoundCommand::CaseClause(case) => {
                case.cases.iter().filter_map(|item| item.cmd.as_ref()).for_each(|list| self.list(list))
            }
            CompoundCommand::IfClause(branches) => {
                self.list(&branches.condition);
                self.list(&branches.then);
                for branch in branches.elses.iter().flatten() {
                    branch.condition.iter().for_each(|list| self.list(list));
                    self.list(&branch.body);
                }
            }
            CompoundCommand::Coprocess(process) => {
                self.parsed.side_effects = true;
                self.command(&process.body);
            }
        }
    }

    /// The body of a loop over a variable, which it assigns.
    fn assigning(&mut self, body: &CompoundList) {
        self.parsed.side_effects = true;
        self.list(body);
    }

    fn outer_redirections(&mut self, redirections: &[IoRedirect]) {
        let to_files = redirections.iter().filter_map(|redirection| self.redirection(redirection)).count();
        self.parsed.side_effects |= to_files > 0;
    }

    fn simple(&mut self, command: &SimpleCommand) {
        let mut simple = Simple::default();
        for item in command.prefix.iter().flat_map(|prefix| &prefix.0) {
            match item {
                Item::AssignmentWord(assignment, word) => simple.assignments.push(self.assignment(assignment, word)),
                other => self.item(other, &mut simple),
            }
        }
        simple.words.extend(command.word_or_name.iter().map(|word| self.word(word)));
        command.suffix.iter().flat_map(|suffix| &suffix.0).for_each(|item| self.item(item, &mut simple));
        self.parsed.simple.push(simple);
    }

    fn item(&mut self, item: &Item, simple: &mut Simple) {
        match item {
            Item::IoRedirect(redirection) => simple.redirections.extend(self.redirection(redirection)),
            Item::Word(word) => simple.words.push(self.word(word)),
            Item::AssignmentWord(assignment, word) => {
                let text = self.assignment(assignment, word);
                simple.words.push(self.word(word).assigning(text));
            }
            // Our words hold process substitutions, so the parser sees none.
            Item::ProcessSubstitution(_, subshell) => self.list(&subshell.list),
        }
    }

    /// An assignment as one text.
    fn assignment(&self, assignment: &Assignment, word: &Name) -> String {
        match &assignment.value {
            AssignmentValue::Scalar(_) => self.word(word).text,
            AssignmentValue::Array(elements) => {
                let elements: Vec<String> = elements.iter().map(|(_, element)| self.word(element).text).collect();
                let append = if assignment.append { "+" } else { "" };
                format!("{}{append}=({})", assignment.name, elements.join(" "))
            }
        }
    }

    /// Operator and target of a redirection to or from a file. `/dev/null` keeps and gives nothing, so it is none.
    fn redirection(&self, redirection: &IoRedirect) -> Option<(&'static str, String)> {
        use brush_parser::ast::IoFileRedirectKind as Kind;
        let (operator, target) = match redirection {
            IoRedirect::HereDocument(..) | IoRedirect::HereString(..) => return None,
            IoRedirect::OutputAndError(word, append) => (if *append { "&>>" } else { "&>" }, self.word(word).text),
            IoRedirect::File(_, kind, target) => {
                let operator = match kind {
                    Kind::Read => "<",
                    Kind::Write => ">",
                    Kind::Append => ">>",
                    Kind::ReadAndWrite => "<>",
                    Kind::Clobber => ">|",
                    Kind::DuplicateInput => "<&",
                    Kind::DuplicateOutput => ">&",
                };
                (operator, self.target(target)?)
            }
        };
        (target != "/dev/null").then_some((operator, target))
    }

    /// The file a redirection names; `None` for a descriptor.
    fn target(&self, target: &IoFileRedirectTarget) -> Option<String> {
        match target {
            IoFileRedirectTarget::Filename(word) => Some(self.word(word).text),
            IoFileRedirectTarget::Duplicate(word) => {
                let text = self.word(word).text;
                let descriptor = text.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit());
                (!descriptor).then_some(text)
            }
            IoFileRedirectTarget::Fd(_) | IoFileRedirectTarget::ProcessSubstitution(..) => None,
        }
    }

    /// Our word behind one of the parser's.
    fn word(&self, name: &Name) -> Word {
        let number = name.value.split(MARK).nth(1).and_then(|number| number.parse::<usize>().ok());
        match number.and_then(|at| self.words.get(at)) {
            Some(word) => word.clone(),
            None => Word::literal(name.value.clone()),
        }
    }
}
