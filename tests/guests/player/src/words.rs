//! Words: what they stand for, what they match, and how `printf` writes them.

/// A word, as it was written.
#[derive(Clone)]
pub(crate) struct Word(pub(crate) Vec<Part>);

/// A part of a word.
#[derive(Clone)]
pub(crate) enum Part {
    /// Outside of quotes.
    Bare(String),
    /// Within quotes.
    Quoted(String),
    /// A variable.
    Variable { name: String, quoted: bool },
}

impl Part {
    pub(crate) fn quoted(text: &str) -> Self {
        Self::Quoted(text.to_owned())
    }
}

impl Word {
    /// Whether it is this word, written without quotes.
    pub(crate) fn is(&self, text: &str) -> bool {
        self.0.iter().all(|part| matches!(part, Part::Bare(_))) && self.text() == text
    }

    /// What it stands for. Of a long variable there is no second copy: memory is short in a sandbox.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for value in self.0.iter().map(value) {
            if text.is_empty() { text = value } else { text.push_str(&value) }
        }
        text
    }

    /// What it stands for as arguments: a variable outside of quotes may be none, one or many.
    pub(crate) fn fields(&self) -> Vec<String> {
        match self.0.as_slice() {
            [part @ Part::Variable { quoted: false, .. }] => {
                value(part).split_whitespace().map(str::to_owned).collect()
            }
            _ => vec![self.text()],
        }
    }

    /// Whether it matches the text as a pattern: `*` outside of quotes stands for anything.
    pub(crate) fn matches(&self, text: &str) -> bool {
        let mut pieces = vec![String::new()];
        for part in &self.0 {
            match part {
                Part::Bare(star) if star == "*" => pieces.push(String::new()),
                part => pieces.last_mut().expect("there is always one").push_str(&value(part)),
            }
        }
        matches_pieces(&pieces, text)
    }
}

fn value(part: &Part) -> String {
    match part {
        Part::Bare(text) | Part::Quoted(text) => text.clone(),
        Part::Variable { name, .. } => variable(name).unwrap_or_default(),
    }
}

/// A variable, where there is one.
#[expect(clippy::disallowed_methods, reason = "the one door to what a guard is told")]
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Whether these stand in the text in their order, with anything between them, the first and last at its ends.
fn matches_pieces(pieces: &[String], text: &str) -> bool {
    let [first, between @ .., last] = pieces else { return pieces.concat() == text };
    let Some(mut rest) = text.strip_prefix(first.as_str()) else { return false };
    for piece in between {
        match rest.find(piece.as_str()) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.len() >= last.len() && rest.ends_with(last.as_str())
}

/// What `printf` writes: escapes in the format, and an argument for each `%s`.
pub(crate) fn formatted(format: &str, arguments: &[&str]) -> Vec<u8> {
    let (mut out, mut rest, mut arguments) = (Vec::new(), format.as_bytes(), arguments.iter());
    loop {
        rest = match rest {
            [] => return out,
            [b'%', b's', after @ ..] => {
                out.extend_from_slice(arguments.next().unwrap_or(&"").as_bytes());
                after
            }
            [b'\\', b'n', after @ ..] => {
                out.push(b'\n');
                after
            }
            [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', after @ ..] => {
                out.push((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'));
                after
            }
            [b'%' | b'\\', ..] => panic!("the player does not format `{format}`"),
            [byte, after @ ..] => {
                out.push(*byte);
                after
            }
        };
    }
}

/// The text of `command` in a config, which has no other key.
pub(crate) fn config_command(config: &str) -> String {
    let inner = config.strip_prefix(r#"{"command":""#).and_then(|rest| rest.strip_suffix(r#""}"#));
    let mut characters = inner.expect("a config with a command alone").chars();
    let mut text = String::new();
    while let Some(character) = characters.next() {
        let character = match character {
            '\\' => match characters.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some(plain @ ('"' | '\\' | '/')) => plain,
                _ => panic!("the player does not read this escape"),
            },
            plain => plain,
        };
        text.push(character);
    }
    text
}
