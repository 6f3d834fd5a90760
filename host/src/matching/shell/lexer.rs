//! The words and operators of a shell text, cut as bash cuts them.
//!
//! It owns where a word, a comment, a here-document or a substitution ends, since that is where one reader of a
//! command can be shown something else than another. Where versions of bash disagree, or the end depends on the
//! grammar, it refuses the text, and a refused text counts as not parsed. The insides of words are [`super::word`]'s,
//! the grammar is [`super::grammar`]'s.

use super::word::{Draft, Word};

/// How deep constructs may be nested in each other before a text is refused, so that no stack overflows.
const MAX_DEPTH: usize = 16;

/// How many times its length a text may be read again.
const REREAD: usize = 8;

/// How many here-documents may be pending on one line.
const MAX_PENDING: usize = 16;

/// Every operator, longest first.
const OPERATORS: [&str; 24] = [
    "&>>", ";;&", "<<<", "<<-", "&&", "&>", "||", "|&", ";;", ";&", "<<", "<&", "<>", ">>", ">&", ">|", "&", "|", ";",
    "<", ">", "(", ")", "\n",
];

/// Why a text was not cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// A quote, substitution or here-document has no end.
    Unterminated,
    /// Constructs are nested beyond the bound.
    TooDeep,
    /// Shells read this differently.
    Ambiguous,
    /// The grammar does not know it.
    Unparsable,
}

/// One piece of the cut text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Lexeme {
    /// An operator or newline.
    Operator(&'static str),
    /// A word, by its place in [`Lexed::words`].
    Word(usize),
}

/// A lexeme and the bytes it stands on.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) lexeme: Lexeme,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// A cut text.
#[derive(Debug, Default)]
pub(super) struct Lexed {
    pub(super) lexemes: Vec<Placed>,
    pub(super) words: Vec<Word>,
    /// An arithmetic expression occurred, which can assign to variables.
    pub(super) arithmetic: bool,
}

/// A here-document whose body begins after the next newline.
struct Pending {
    tag: String,
    quoted: bool,
    strip_tabs: bool,
    body: usize,
}

/// The state of cutting one text.
pub(super) struct Lexer<'a> {
    pub(super) source: &'a str,
    pub(super) at: usize,
    depth: usize,
    /// How many bytes may still be read a second time.
    fuel: usize,
}

/// Cuts a whole text.
pub(super) fn cut(source: &str) -> Result<Lexed, Refusal> {
    // NUL ends an argument early. `extglob` changes how the rest of the text is cut.
    if source.contains('\0') || source.contains("extglob") {
        return Err(Refusal::Ambiguous);
    }
    Lexer::new(source, 0).program(Nesting::Outermost)
}

/// Whether a program is the text itself or stands between parentheses of a substitution.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Nesting {
    /// Ends with the text.
    Outermost,
    /// Ends before the parenthesis that closes it.
    Substitution,
}

impl<'a> Lexer<'a> {
    fn new(source: &'a str, depth: usize) -> Lexer<'a> {
        Lexer { source, at: 0, depth, fuel: REREAD.saturating_mul(source.len()) }
    }

    /// Steps back to read a stretch in another way. Each level of nesting may do so, hence the bound.
    pub(super) fn back_to(&mut self, start: usize) -> Result<(), Refusal> {
        self.fuel = self.fuel.checked_sub(self.at - start).ok_or(Refusal::TooDeep)?;
        self.at = start;
        Ok(())
    }

    /// The byte here, `None` at the end.
    pub(super) fn peek(&self) -> Option<u8> {
        self.source.as_bytes().get(self.at).copied()
    }

    /// The text from here on.
    pub(super) fn rest(&self) -> &str {
        self.source.get(self.at..).unwrap_or_default()
    }

    /// Steps over a text if it stands here.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let here = self.rest().starts_with(text);
        if here {
            self.at += text.len();
        }
        here
    }

    /// Runs one construct a level deeper.
    pub(super) fn deeper<T>(&mut self, inside: impl FnOnce(&mut Self) -> Result<T, Refusal>) -> Result<T, Refusal> {
        if self.depth == MAX_DEPTH {
            return Err(Refusal::TooDeep);
        }
        self.depth += 1;
        let result = inside(self);
        self.depth -= 1;
        result
    }

    /// Cuts up to the end of the text, or up to the parenthesis that closes a substitution.
    pub(super) fn program(&mut self, nesting: Nesting) -> Result<Lexed, Refusal> {
        let mut program = Program { nesting, ..Program::default() };
        loop {
            self.blanks();
            match self.peek() {
                None if nesting == Nesting::Substitution || !program.pending.is_empty() => {
                    return Err(Refusal::Unterminated);
                }
                None => return Ok(program.lexed),
                // A here-document that the substitution ends before its body: shells differ.
                Some(b')') if program.closes() && !program.pending.is_empty() => return Err(Refusal::Ambiguous),
                Some(b')') if program.closes() => return Ok(program.lexed),
                Some(b'#') => self.comment(&program)?,
                Some(_) => self.lexeme(&mut program)?,
            }
        }
    }

    /// Steps over spaces, tabs and continued lines.
    fn blanks(&mut self) {
        while self.eat(" ") || self.eat("\t") || self.eat("\\\n") {}
    }

    /// Steps over a comment. In a substitution old shells look for the closing parenthesis and for quotes inside a
    /// comment too, and in `[[ ]]` a `#` can be part of a pattern.
    fn comment(&mut self, program: &Program) -> Result<(), Refusal> {
        let text = self.rest().split('\n').next().unwrap_or_default();
        let marks = text.contains(['(', ')', '\'', '"', '`', '\\', '{', '}', '$']);
        if program.in_test || (program.nesting == Nesting::Substitution && marks) {
            return Err(Refusal::Ambiguous);
        }
        self.at += text.len();
        Ok(())
    }

    /// Cuts one operator or word.
    fn lexeme(&mut self, program: &mut Program) -> Result<(), Refusal> {
        let operator =
            OPERATORS.iter().find(|operator| self.rest().starts_with(**operator)).copied().unwrap_or_default();
        let substitution = self.rest().starts_with("<(") || self.rest().starts_with(">(");
        if operator.is_empty() || substitution {
            return self.word_lexeme(program);
        }
        let start = self.at;
        if operator == "(" && self.arithmetic_command(program)? {
            return Ok(());
        }
        self.at += operator.len();
        program.operator(operator, start);
        match operator {
            "\n" => self.bodies(program),
            "<<" | "<<-" => self.tag(program, operator == "<<-"),
            _ => Ok(()),
        }
    }

    fn word_lexeme(&mut self, program: &mut Program) -> Result<(), Refusal> {
        let start = self.at;
        let word = self.word()?;
        match word.keyword() {
            // Where a pattern's parenthesis ends in there is the grammar's to know.
            Some("case") if program.nesting == Nesting::Substitution => return Err(Refusal::Ambiguous),
            Some("[[") => program.in_test = true,
            Some("]]") => program.in_test = false,
            _ => {}
        }
        program.word(word, start, self.at);
        Ok(())
    }

    /// `((..))`, as a command or after `for`; steps back when it is two subshells instead.
    fn arithmetic_command(&mut self, program: &mut Program) -> Result<bool, Refusal> {
        let start = self.at;
        if !self.eat("((") {
            return Ok(false);
        }
        let mut draft = Draft::default();
        let parts = self.deeper(|lexer| lexer.arithmetic(&mut draft))?;
        if !self.eat(")") {
            self.back_to(start)?;
            return Ok(false);
        }
        program.arithmetic(draft.into_word(), parts, start, self.at);
        Ok(true)
    }

    /// The tag of a here-document. The body's word is made now, since the grammar wants it here, and filled later.
    fn tag(&mut self, program: &mut Program, strip_tabs: bool) -> Result<(), Refusal> {
        self.blanks();
        let start = self.at;
        let word = self.word()?;
        if program.pending.len() == MAX_PENDING || word.expands || self.at == start {
            return Err(Refusal::Ambiguous);
        }
        let (tag, quoted) = (word.text.clone(), word.quoted);
        let body = program.lexed.words.len() + 1;
        program.word(word.clone().opaque(), start, self.at);
        program.word(Word::default(), self.at, self.at);
        program.word(word.opaque(), self.at, self.at);
        program.pending.push(Pending { tag, quoted, strip_tabs, body });
        Ok(())
    }

    /// Reads the bodies that begin after a newline.
    fn bodies(&mut self, program: &mut Program) -> Result<(), Refusal> {
        for pending in std::mem::take(&mut program.pending) {
            let body = self.body(&pending)?;
            let word = if pending.quoted { Word::quoted(body) } else { here_document(&body, self.depth)? };
            if let Some(slot) = program.lexed.words.get_mut(pending.body) {
                *slot = word;
            }
        }
        Ok(())
    }

    /// One body, up to the line that is its tag. In an unquoted one a continued line is joined before it is compared.
    fn body(&mut self, pending: &Pending) -> Result<String, Refusal> {
        let (mut body, mut logical) = (String::new(), String::new());
        loop {
            if self.peek().is_none() {
                return Err(Refusal::Unterminated);
            }
            let line = self.rest().split('\n').next().unwrap_or_default().to_owned();
            self.at = (self.at + line.len() + 1).min(self.source.len());
            let line = if pending.strip_tabs { line.trim_start_matches('\t') } else { &line };
            logical.push_str(line);
            if !pending.quoted && continues(line) {
                logical.pop();
                continue;
            }
            if logical == pending.tag {
                return Ok(body);
            }
            body.push_str(&logical);
            body.push('\n');
            logical.clear();
        }
    }
}

/// Whether a line ends in a backslash that no backslash escapes.
fn continues(line: &str) -> bool {
    line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

/// The expansions in an unquoted body.
fn here_document(body: &str, depth: usize) -> Result<Word, Refusal> {
    let mut draft = Draft::default();
    Lexer::new(body, depth).here_document(&mut draft)?;
    Ok(draft.into_word().opaque())
}

/// What has been cut of a program so far.
struct Program {
    lexed: Lexed,
    nesting: Nesting,
    open: usize,
    in_test: bool,
    pending: Vec<Pending>,
}

impl Default for Program {
    fn default() -> Program {
        Program { lexed: Lexed::default(), nesting: Nesting::Outermost, open: 0, in_test: false, pending: Vec::new() }
    }
}

impl Program {
    /// Whether a closing parenthesis here ends the program.
    fn closes(&self) -> bool {
        self.nesting == Nesting::Substitution && self.open == 0
    }

    fn operator(&mut self, operator: &'static str, start: usize) {
        // The grammar takes `( (` for the start of an expression too, and tries that first at every level, which
        // doubles its work each time. A newline between the two rules it out.
        if operator == "(" && self.ends_with("(") {
            self.push(Lexeme::Operator("\n"), start, start);
        }
        match operator {
            "(" => self.open += 1,
            ")" => self.open = self.open.saturating_sub(1),
            _ => {}
        }
        self.push(Lexeme::Operator(operator), start, start + operator.len());
    }

    fn ends_with(&self, operator: &'static str) -> bool {
        self.lexed.lexemes.last().is_some_and(|placed| placed.lexeme == Lexeme::Operator(operator))
    }

    fn word(&mut self, word: Word, start: usize, end: usize) {
        let at = self.lexed.words.len();
        self.lexed.words.push(word);
        self.push(Lexeme::Word(at), start, end);
    }

    /// The grammar sees a stand-in for each part between `;`.
    fn arithmetic(&mut self, word: Word, parts: usize, start: usize, end: usize) {
        self.lexed.arithmetic = true;
        self.push(Lexeme::Operator("("), start, start + 1);
        self.push(Lexeme::Operator("("), start + 1, start + 2);
        self.word(word.opaque(), start + 2, start + 2);
        for _ in 1..parts {
            self.push(Lexeme::Operator(";"), start + 2, start + 2);
            self.word(Word::default(), start + 2, start + 2);
        }
        self.push(Lexeme::Operator(")"), end - 2, end - 1);
        self.push(Lexeme::Operator(")"), end - 1, end);
    }

    fn push(&mut self, lexeme: Lexeme, start: usize, end: usize) {
        self.lexed.lexemes.push(Placed { lexeme, start, end });
    }
}
