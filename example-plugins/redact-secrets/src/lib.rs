//! Replaces secrets in prompts and in what tools print by `[redacted:kind]`, before the model sees them.

use serde::Deserialize;
use tacklebox_sdk::{Answer, Context, Error, Event, Failure, Hook, Info, Input, Plugin, config};

#[cfg(test)]
mod tests;

/// A kind of token: what it begins with, how much must follow, and what may beside letters and digits.
const TOKENS: [(&str, &[&str], usize, &str); 5] = [
    ("aws-key", &["AKIA", "ASIA"], 16, ""),
    ("github-token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"], 20, "_"),
    ("api-key", &["sk-"], 20, "_-"),
    ("jwt", &["eyJ"], 30, "_-."),
    ("bearer", &["Bearer ", "bearer "], 16, "_-.~+/="),
];
/// What is assigned to a name that ends so is a secret.
const NAMES: [&str; 7] = ["password", "passwd", "secret", "secret_key", "access_key", "api_key", "auth_token"];
/// The fast way past most text: what the first letter of all of these is.
const BEGINS: &str = "AaSsGgBbEePp-";

/// What tokens of the user's own begin with.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    #[serde(default)]
    prefixes: Vec<String>,
}

/// The kind of the secret at the start of a text, where it begins, and where it ends.
type Secret = Option<(&'static str, usize, usize)>;

struct RedactSecrets;
tacklebox_sdk::export!(RedactSecrets);

impl Plugin for RedactSecrets {
    fn info() -> Info {
        // It fails closed: a text that was not looked through is not shown.
        let hook = |event| Hook::on(event, "redact-secrets").on_error(Failure::Block);
        let info = Info::new("redact-secrets", env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_DESCRIPTION"));
        info.hook(hook(Event::PostToolUse)).hook(hook(Event::PostToolUseFailure)).hook(hook(Event::UserPromptSubmit))
    }

    fn run(input: &Input, _: &Context) -> Result<Answer, Error> {
        let text = input.tool_output.as_deref().map_or_else(|| input.str("prompt"), Ok)?;
        let Config { prefixes } = config()?;
        let (mut clean, mut rest) = (String::with_capacity(text.len()), text);
        while let Some(next) = rest.chars().next().map(char::len_utf8) {
            let (kind, start, end) = secret(rest, &prefixes, &clean).unwrap_or(("", next, next));
            clean.push_str(&rest[..start]);
            if start < end {
                clean.extend(["[redacted:", kind, "]"]);
            }
            rest = &rest[end..];
        }
        Ok(if clean == text { Answer::pass() } else { Answer::modify().output(clean).into() })
    }
}

/// `prefixes` are those of the user, `before` is the text in front.
fn secret(text: &str, prefixes: &[String], before: &str) -> Secret {
    let own = token(text, "token", prefixes, 1, "_-.");
    if own.is_some() || !text.starts_with(|c| BEGINS.contains(c)) {
        return own;
    }
    let in_word = before.ends_with(|c: char| c.is_ascii_alphanumeric()) && !before.ends_with("\\n");
    let mut tokens = TOKENS.iter().filter(|(kind, ..)| *kind != "api-key" || !in_word);
    let known = tokens.find_map(|(kind, begins, least, more)| token(text, kind, begins, *least, more));
    known.or_else(|| private_key(text)).or_else(|| assigned(text))
}

fn token(text: &str, kind: &'static str, begins: &[impl AsRef<str>], least: usize, more: &str) -> Secret {
    let begin = begins.iter().map(AsRef::as_ref).find(|begin| text.starts_with(begin))?.len();
    let length = text[begin..].find(|c: char| !c.is_ascii_alphanumeric() && !more.contains(c));
    let end = length.map_or(text.len(), |length| begin + length);
    let whole = end >= begin + least && (kind != "jwt" || text[..end].matches('.').count() > 1);
    whole.then_some((kind, if kind == "bearer" { begin } else { 0 }, end))
}

fn private_key(text: &str) -> Secret {
    let title = text.strip_prefix("-----BEGIN ")?.split("-----").next()?;
    let end = format!("-----END {title}-----");
    let length = text.find(&end).map_or(text.len(), |at| at + end.len());
    title.ends_with("PRIVATE KEY").then_some(("private-key", 0, length))
}

/// The value after `password=`, `"password": "` and the like; not what looks like code, unless it is quoted.
fn assigned(text: &str) -> Secret {
    let is_name = |name: &&&str| text.get(..name.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(name));
    let after = text[NAMES.iter().find(is_name)?.len()..].trim_start_matches(['"', '\'', '\\', ' ']);
    let value = after.strip_prefix([':', '='])?.trim_start_matches([' ', '=', '>', '\\', '"', '\'']);
    let start = text.len() - value.len();
    let quote = text[..start].chars().next_back().filter(|last| ['"', '\''].contains(last));
    let blank = |c: char| c.is_ascii_whitespace() || "\"'\\&;,".contains(c);
    let value = value.split(|c| quote.map_or(blank(c), |quote| c == quote || c == '\n')).next()?.trim_end_matches('\\');
    let code = value.contains('(') || value.starts_with(['$', '<', '{', '[', '*', '&']);
    let word = ["string", "String", "None", "null"].contains(&value);
    (value.len() > 3 && (quote.is_some() || !(code || word))).then_some(("password", start, start + value.len()))
}
