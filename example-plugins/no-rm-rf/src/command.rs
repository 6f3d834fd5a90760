//! What a command does, whatever way it is spelt.

/// Programs that run the rest of their words.
const WRAPPERS: &str = "sudo doas env command exec nohup setsid time timeout nice busybox xargs find parallel";

/// A command, or a rule about one: its program, its flags less their order and spelling, its operands.
#[derive(PartialEq)]
pub(crate) struct Command(String, Vec<String>, Vec<String>);

impl Command {
    pub(crate) fn of(words: &[String]) -> Self {
        let mut command = Self(program(words), Vec::new(), Vec::new());
        for word in words.iter().skip(1) {
            let known =
                ["--recursive", "--force"].iter().find(|known| word.len() > 2 && known.starts_with(word.as_str()));
            let flags = match word.strip_prefix('-') {
                None => {
                    command.2.push(word.trim_end_matches('/').to_owned());
                    continue;
                }
                Some(long) if long.starts_with('-') => vec![known.map_or(long, |known| &known[2..3]).to_owned()],
                Some(short) => short.to_ascii_lowercase().chars().map(String::from).collect(),
            };
            for flag in flags {
                if let Err(place) = command.1.binary_search(&flag) {
                    command.1.insert(place, flag);
                }
            }
        }
        command
    }

    /// The command; of a wrapper every tail of its words too, since its own flags may have values.
    pub(crate) fn tails(words: &[String]) -> impl Iterator<Item = Self> {
        let wraps = WRAPPERS.split(' ').any(|wrapper| wrapper == program(words));
        (0..if wraps { words.len() } else { 1 }).map(|at| Self::of(&words[at..]))
    }

    /// Whether the rule is about this command: its program, all its flags, its words in their order.
    pub(crate) fn falls_under(&self, Self(program, flags, operands): &Self) -> bool {
        let unknown = self.0.contains(['$', '`']) && !flags.is_empty();
        let named = self.0.split('.').next() == Some(program) || self.0 == *program || unknown;
        let mut rest = self.2.iter();
        let in_order = operands.iter().all(|word| rest.any(|other| other == word));
        named && in_order && flags.iter().all(|flag| self.1.contains(flag))
    }
}

fn program(words: &[String]) -> String {
    words.first().and_then(|word| word.rsplit('/').next()).unwrap_or_default().to_ascii_lowercase()
}
