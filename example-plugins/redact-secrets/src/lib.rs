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
const NAMES: [&str; 7] = ["password", "passwd", "secret", "secret_key", "access_key", "api_key", "auth_token"];

/// What tokens of the user's own begin with.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    #[serde(default)]
    prefixes: Vec<String>,
}

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
        let text = match input.event {
            Event::UserPromptSubmit => input.str("prompt")?,
            _ => input.tool_output.as_deref().unwrap_or_default(),
        };
        let (own, mut clean, mut rest) = (config()?, String::with_capacity(text.len()), text);
        while let Some(next) = rest.chars().next() {
            let in_word = clean.ends_with(|c: char| c.is_ascii_alphanumeric()) && !clean.ends_with("\\n");
            let (kind, start, end) = secret(rest, &own, in_word).unwrap_or_default();
            clean.push_str(&rest[..start]);
            match end {
                0 => clean.push(next),
                _ => clean.extend(["[redacted:", kind, "]"]),
            }
            rest = &rest[end.max(next.len_utf8())..];
        }
        Ok(if clean == text { Answer::pass() } else { Answer::modify().output(clean).into() })
    }
}

/// The kind of the secret at the start of a text, where it begins, and where it ends.
type Secret<'a> = Option<(&'a str, usize, usize)>;

fn secret(text: &str, own: &Config, in_word: bool) -> Secret<'static> {
    let of_own = token(text, "token", &own.prefixes, 1, "_-.");
    let mut known = TOKENS.iter().filter(|(kind, ..)| *kind != "api-key" || !in_word);
    let known = || known.find_map(|(kind, begins, least, more)| token(text, kind, begins, *least, more));
    of_own.or_else(known).or_else(|| private_key(text)).or_else(|| assigned(text))
}

fn token<'a>(text: &str, kind: &'a str, begins: &[impl AsRef<str>], least: usize, more: &str) -> Secret<'a> {
    let begin = begins.iter().map(AsRef::as_ref).find(|begin| text.starts_with(begin))?.len();
    let length = text[begin..].find(|c: char| !c.is_ascii_alphanumeric() && !more.contains(c));
    let end = length.map_or(text.len(), |length| begin + length);
    let whole = end >= begin + least && (kind != "jwt" || text[..end].matches('.').count() > 1);
    whole.then_some((kind, if kind == "bearer" { begin } else { 0 }, end))
}

fn private_key(text: &str) -> Secret<'static> {
    let title = text.strip_prefix("-----BEGIN ")?.split("-----").next()?;
    let end = format!("-----END {title}-----");
    let length = text.find(&end).map_or(text.len(), |at| at + end.len());
    title.ends_with("PRIVATE KEY").then_some(("private-key", 0, length))
}

/// The value after `password=`, `"password": "` and the like; not what looks like code, unless it is quoted.
fn assigned(text: &str) -> Secret<'static> {
    let is_name = |name: &&&str| text.get(..name.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(name));
    let after = text[NAMES.iter().find(is_name)?.len()..].trim_start_matches(['"', '\'', '\\', ' ']);
    let value = after.strip_prefix([':', '='])?.trim_start_matches([' ', '=', '>', '\\', '"', '\'']);
    let start = text.len() - value.len();
    let quote = text[..start].chars().next_back().filter(|last| ['"', '\''].contains(last));
    let ends =
        |c: char| quote.map_or(c.is_ascii_whitespace() || "\"'\\&;,".contains(c), |quote| c == quote || c == '\n');
    let value = value.split(ends).next()?.trim_end_matches('\\');
    let code = value.contains('(')
        || value.starts_with(['$', '<', '{', '[', '*', '&'])
        || ["string", "String", "None", "null"].contains(&value);
    (value.len() > 3 && (quote.is_some() || !code)).then_some(("password", start, start + value.len()))
}
