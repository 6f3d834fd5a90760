//! One word of a shell text: its quotes, its expansions, and what of it is literal.
//!
//! It owns quote removal and the finding of substitutions inside words, quotes, expansions and here-documents. It
//! expands nothing: what an expansion would give stays in the word as it was written.

use super::lexer::{Lexer, Nesting, Refusal};

/// A word after quote removal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// The text; expansions stand in it as written.
    pub(super) text: String,
    /// Quotes or backslashes were removed.
    pub(super) quoted: bool,
    /// The text is not what the shell will see: a parameter, substitution, glob, brace or tilde is in it.
    pub(super) expands: bool,
    /// An unquoted `name=` begins it; its length.
    pub(super) assignment: Option<usize>,
    /// A parameter expansion in it assigns.
    pub(super) assigns: bool,
    /// The programs of the substitutions in it, outermost only.
    pub(super) substitutions: Vec<String>,
    /// The grammar may see it as written.
    transparent: bool,
}

/// Words that mean something to the grammar and hold more than [`is_plain`] allows.
const SIGNS: [&str; 8] = ["{", "}", "!", "[[", "]]", "==", "!=", "=~"];

impl Word {
    /// A here-document's body that nothing is expanded in.
    pub(super) fn quoted(text: String) -> Word {
        Word { text, quoted: true, ..Word::default() }
    }

    /// A word that is what it says.
    pub(super) fn literal(text: String) -> Word {
        Word { text, ..Word::default() }
    }

    /// The same word, known to be an assignment of this text.
    pub(super) fn assigning(self, text: String) -> Word {
        Word { assignment: Some(text.len()), text, ..self }
    }

    /// The text, where the grammar may give it a meaning.
    pub(super) fn keyword(&self) -> Option<&str> {
        self.transparent.then_some(self.text.as_str())
    }

    /// The same word, without meaning for the grammar.
    pub(super) fn opaque(mut self) -> Word {
        self.transparent = false;
        self.assignment = None;
        self
    }
}

/// Bytes that no part of the grammar's own reading of words can trip over.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_./:,@%+=-".contains(&byte)
}

/// A word while it is being read.
#[derive(Debug, Default)]
pub(super) struct Draft {
    word: Word,
    /// An unquoted `[` after a name is still open: a subscript, in which blanks do not end the word.
    subscript: Option<bool>,
    braces: bool,
    /// An unquoted `=` has been read, so a later one begins no assignment.
    named: bool,
}

impl Draft {
    /// Finishes a word.
    pub(super) fn into_word(self) -> Word {
        let mut word = self.word;
        // `{` and `}` are signs alone and expansions with company; `[` is a command of its own.
        word.expands |= self.braces && word.text.len() > 1;
        word.expands |= self.subscript.is_some() && word.text.len() > 1 && word.text != "[[";
        let plain = word.text.bytes().all(is_plain) || SIGNS.contains(&word.text.as_str());
        // Longer numbers before a redirection are no descriptors, and the grammar panics on them.
        let number = word.text.len() > 9 && word.text.bytes().all(|byte| byte.is_ascii_digit());
        word.transparent = plain && !number && !word.quoted && !word.text.is_empty();
        word
    }

    fn literal(&mut self, text: &str) {
        self.word.text.push_str(text);
    }

    fn quote(&mut self, text: &str) {
        self.word.quoted = true;
        self.literal(text);
    }

    /// What is expanded stays as written.
    fn expansion(&mut self, text: &str) {
        self.word.expands = true;
        self.literal(text);
    }

    /// An unquoted character that may mean something to the shell.
    fn bare(&mut self, character: char) {
        match character {
            '~' if self.word.text.is_empty() && !self.word.quoted => self.word.expands = true,
            '*' | '?' => self.word.expands = true,
            '{' | '}' => self.braces = true,
            '[' if self.subscript.is_none() => self.subscript = Some(!self.word.quoted && is_name(&self.word.text)),
            ']' => self.subscript = self.subscript.map(|_| false),
            '=' if !self.named && self.subscript != Some(true) => self.equals(),
            _ => {}
        }
        self.word.text.push(character);
    }

    /// The first `=` outside of a subscript decides.
    fn equals(&mut self) {
        self.named = true;
        let name = self.word.text.strip_suffix('+').unwrap_or(&self.word.text);
        let name = name.strip_suffix(']').and_then(|name| name.split('[').next()).unwrap_or(name);
        if is_name(name) && (!self.word.quoted || self.subscript.is_some()) {
            self.word.assignment = Some(self.word.text.len() + 1);
        }
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|first: char| first.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

impl Lexer<'_> {
    /// Reads one word.
    pub(super) fn word(&mut self) -> Result<Word, Refusal> {
        let mut draft = Draft::default();
        while let Some(byte) = self.peek() {
            let substitution = self.rest().starts_with("<(") || self.rest().starts_with(">(");
            match byte {
                b'<' | b'>' if substitution => self.process_substitution(&mut draft)?,
                b' ' | b'\t' | b'\n' | b'&' | b'|' | b';' | b'<' | b'>' | b'(' | b')' => break,
                _ => self.piece(&mut draft)?,
            }
        }
        // In a subscript blanks and `#` belong to the word, but only where an assignment may stand.
        if draft.subscript == Some(true) {
            return Err(Refusal::Ambiguous);
        }
        Ok(draft.into_word())
    }

    /// One piece outside of double quotes.
    fn piece(&mut self, draft: &mut Draft) -> Result<(), Refusal> {
        match self.peek() {
            Some(b'\\') => self.escape(draft),
            Some(b'\'') => self.single_quotes(draft),
            Some(b'"') => self.deeper(|lexer| lexer.double_quotes(draft)),
            Some(b'$') if self.rest().starts_with("$'") => self.ansi_quotes(draft),
            Some(b'$') if self.rest().starts_with("$\"") => {
                self.at += 1;
                Ok(())
            }
            Some(b'$') => self.dollar(draft, Quotes::None),
            Some(b'`') => self.backquotes(draft, Quotes::None),
            _ => {
                let character = self.character()?;
                draft.bare(character);
                Ok(())
            }
        }
    }

    fn character(&mut self) -> Result<char, Refusal> {
        let character = self.rest().chars().next().ok_or(Refusal::Unterminated)?;
        self.at += character.len_utf8();
        Ok(character)
    }

    fn escape(&mut self, draft: &mut Draft) -> Result<(), Refusal> {
        self.at += 1;
        match self.rest().chars().next() {
            // Shells keep a backslash at the very end, or drop it.
            None => return Err(Refusal::Ambiguous),
            Some('\n') => {}
            Some(character) => draft.quote(character.encode_utf8(&mut [0; 4])),
        }
        self.character().map(drop)
    }

    fn single_quotes(&mut self, draft: &mut Draft) -> Result<(), Refusal> {
        self.at += 1;
        let length = self.rest().find('\'').ok_or(Refusal::Unterminated)?;
        draft.quote(&self.source[self.at..self.at + length]);
        self.at += length + 1;
        Ok(())
    }

    /// `$'..'`, with its escapes.
    fn ansi_quotes(&mut self, draft: &mut Draft) -> Result<(), Refusal> {
        self.at += 2;
        let start = self.at;
        while let Some(byte) = self.peek() {
            match byte {
                b'\'' => {
                    draft.quote(&super::ansi::unescape(&self.source[start..self.at]));
                    self.at += 1;
                    return Ok(());
                }
                b'\\' => {
                    self.at += 1;
                    self.character()?;
                }
                _ => self.at += 1,
            }
        }
        Err(Refusal::Unterminated)
    }

    fn double_quotes(&mut self, draft: &mut Draft) -> Result<(), Refusal> {
        self.at += 1;
        draft.quote("");
        loop {
            match self.peek() {
                None => return Err(Refusal::Unterminated),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(_) => self.quoted_piece(draft, Quotes::Double)?,
            }
        }
    }

    /// Reads a here-document's body to its end.
    pub(super) fn here_document(&mut self, draft: &mut Draft) -> Result<(), Refusal> {
        while self.peek().is_some() {
            self.quoted_piece(draft, Quotes::HereDocument)?;
        }
        Ok(())
    }

    /// One piece where only `$`, backquotes and backslashes mean something.
    fn quoted_piece(&mut self, draft: &mut Draft, quotes: Quotes) -> Result<(), Refusal> {
        match self.peek() {
            Some(b'$') => self.dollar(draft, quotes),
            Some(b'`') => self.backquotes(draft, quotes),
            Some(b'\\') => self.quoted_escape(draft, quotes),
            _ => {
                let character = self.character()?;
                draft.literal(character.encode_utf8(&mut [0; 4]));
                Ok(())
            }
        }
    }

    fn quoted_escape(&mut self, draft: &mut Draft, quotes: Quotes) -> Result<(), Refusal> {
        self.at += 1;
        match self.rest().chars().next() {
            Some('\n') => {}
            Some(character @ ('$' | '`' | '\\')) => draft.literal(character.encode_utf8(&mut [0; 4])),
            Some('"') if quotes == Quotes::Double => draft.literal("\""),
            Some(character) => {
                draft.literal("\\");
                draft.literal(character.encode_utf8(&mut [0; 4]));
            }
            None if quotes == Quotes::HereDocument => {
                draft.literal("\\");
                return Ok(());
            }
            None => return Err(Refusal::Unterminated),
        }
        self.character().map(drop)
    }

    /// What begins with `$`.
    fn dollar(&mut self, draft: &mut Draft, quotes: Quotes) -> Result<(), Refusal> {
        let start = self.at;
        self.at += 1;
        match self.peek() {
            Some(b'(') => self.deeper(|lexer| lexer.parenthesis(draft))?,
            Some(b'{') => self.deeper(|lexer| lexer.parameter(draft, quotes))?,
            Some(b'[') => self.deeper(|lexer| lexer.old_arithmetic(draft))?,
            Some(byte) if byte.is_ascii_alphanumeric() || b"_@*#?$!-".contains(&byte) => self.at += 1,
            _ => {
                draft.literal("$");
                return Ok(());
            }
        }
        draft.expansion(&self.source[start..self.at]);
        Ok(())
    }

    /// `$((..))` if it ends like that, else `$(..)`.
    fn parenthesis(&mut self, draft: &mut Draft) -> Result<(), Refusal> {
        let start = self.at;
        if self.eat("((") {
            let mut inside = Draft::default();
            self.arithmetic(&mut inside)?;
            if self.eat(")") {
                draft.word.assigns = true;
                draft.word.substitutions.append(&mut inside.word.substitutions);
                return Ok(());
            }
            self.back_to(start)?;
        }
        self.program_text(draft)
    }

    /// `(..)` with a program in it.
    fn program_text(&mut self, draft: &mut Draft) -> Result<(), Refusal> {
        self.at += 1;
        let start = self.at;
        self.program(Nesting::Substitution)?;
        draft.word.substitutions.push(self.source[start..self.at].to_owned());
        self.at += 1;
        Ok(())
    }

    fn process_substitution(&mut self, draft: &mut Draft) -> Result<(), Refusal> {
        let start = self.at;
        self.at += 1;
        self.deeper(|lexer| lexer.program_text(draft))?;
        draft.expansion(&self.source[start..self.at]);
        Ok(())
    }

    /// The inside of `((..))` up to and with the parenthesis that matches the second. Gives the number of its parts
    /// between `;`.
    pub(super) fn arithmetic(&mut self, draft: &mut Draft) -> Result<usize, Refusal> {
        let (mut open, mut parts) = (0_usize, 1);
        loop {
            match self.peek().ok_or(Refusal::Unterminated)? {
                b')' if open == 0 => break,
                b')' => open -= 1,
                b'(' => open += 1,
                b';' if open == 0 => parts += 1,
                // Whether it quotes in there depends on the shell.
                b'\'' => return Err(Refusal::Ambiguous),
                _ => {
                    self.piece(draft)?;
                    continue;
                }
            }
            self.at += 1;
        }
        self.at += 1;
        Ok(parts)
    }

    /// `$[..]`, which bash still knows.
    fn old_arithmetic(&mut self, draft: &mut Draft) -> Result<(), Refusal> {
        self.at += 1;
        let (mut open, mut inside) = (0_usize, Draft::default());
        while let Some(byte) = self.peek() {
            match byte {
                b']' if open == 0 => {
                    self.at += 1;
                    draft.word.assigns = true;
                    draft.word.substitutions.append(&mut inside.word.substitutions);
                    return Ok(());
                }
                b']' => open -= 1,
                b'[' => open += 1,
                _ => {
                    self.piece(&mut inside)?;
                    continue;
                }
            }
            self.at += 1;
        }
        Err(Refusal::Unterminated)
    }

    /// `${..}`, which the first unquoted brace closes.
    fn parameter(&mut self, draft: &mut Draft, quotes: Quotes) -> Result<(), Refusal> {
        self.at += 1;
        let start = self.at;
        // `${ cmd; }` and `${| cmd; }` of newer shells run a program.
        if matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'|')) {
            return Err(Refusal::Ambiguous);
        }
        let mut inside = Draft::default();
        loop {
            let substitution = self.rest().starts_with("<(") || self.rest().starts_with(">(");
            match self.peek().ok_or(Refusal::Unterminated)? {
                b'}' => break,
                // Whether a single quote quotes in there depends on the operator and the shell.
                b'\'' if quotes != Quotes::None => return Err(Refusal::Ambiguous),
                b'$' if quotes != Quotes::None && self.rest().starts_with("$'") => return Err(Refusal::Ambiguous),
                b'<' | b'>' if substitution && quotes == Quotes::None => self.process_substitution(&mut inside)?,
                _ => self.piece(&mut inside)?,
            }
        }
        let text = &self.source[start..self.at];
        // `${x@P}` runs the substitutions in the value of `x`.
        if text.ends_with("@P") {
            return Err(Refusal::Ambiguous);
        }
        draft.word.assigns |= text.contains('=') || inside.word.assigns;
        draft.word.substitutions.append(&mut inside.word.substitutions);
        self.at += 1;
        Ok(())
    }

    /// `` `..` ``, whose text loses a level of backslashes.
    fn backquotes(&mut self, draft: &mut Draft, quotes: Quotes) -> Result<(), Refusal> {
        let start = self.at;
        self.at += 1;
        let mut program = String::new();
        loop {
            match self.character()? {
                '`' => break,
                '\\' => match self.character()? {
                    character @ ('$' | '`' | '\\') => program.push(character),
                    '"' if quotes == Quotes::Double => program.push('"'),
                    character => program.extend(['\\', character]),
                },
                character => program.push(character),
            }
        }
        draft.word.substitutions.push(program);
        draft.expansion(&self.source[start..self.at]);
        Ok(())
    }
}

/// What stands around a piece.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    Double,
    HereDocument,
}
