//! What a secret looks like.

/// A kind of token: what it begins with, how much must follow, and what may beside letters and digits.
pub(crate) const TOKENS: [(&str, &[&str], usize, &str); 5] = [
    ("aws-key", &["AKIA", "ASIA"], 16, ""),
    ("github-token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"], 20, "_"),
    ("api-key", &["sk-"], 20, "_-"),
    ("jwt", &["eyJ"], 30, "_-."),
    ("bearer", &["Bearer ", "bearer "], 16, "_-.~+/="),
];
/// What is assigned to a name that ends so is a secret.
pub(crate) const NAMES: [&str; 7] =
    ["password", "passwd", "secret", "secret_key", "access_key", "api_key", "auth_token"];

/// The kind of the secret at the start of a text, where it begins, and where it ends.
pub(crate) type Secret = Option<(&'static str, usize, usize)>;

/// `prefixes` are those of the user, `before` is the text in front.
pub(crate) fn at_start(text: &str, prefixes: &[String], before: &str) -> Secret {
    let own = token(text, "token", prefixes, 1, "_-.");
    if own.is_some() || !may_begin(text.as_bytes()) {
        return own;
    }
    let in_word = before.ends_with(|c: char| c.is_ascii_alphanumeric()) && !before.ends_with("\\n");
    let mut tokens = TOKENS.iter().filter(|(kind, ..)| *kind != "api-key" || !in_word);
    let known = tokens.find_map(|(kind, begins, least, more)| token(text, kind, begins, *least, more));
    known.or_else(|| private_key(text)).or_else(|| assigned(text))
}

/// The fast way past most text: whether one of ours begins with such two letters, in either case.
pub(crate) fn may_begin(text: &[u8]) -> bool {
    let [first, second, ..] = text else { return false };
    match first | 32 {
        b'a' => b"kscpu".contains(&(second | 32)),
        b's' => b"ke".contains(&(second | 32)),
        b'g' => b"hi".contains(&(second | 32)),
        b'b' => second | 32 == b'e',
        b'e' => second | 32 == b'y',
        b'p' => second | 32 == b'a',
        b'-' => *second == b'-',
        _ => false,
    }
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
    let ends =
        |c: char| quote.map_or(c.is_ascii_whitespace() || "\"'\\&;,".contains(c), |quote| c == quote || c == '\n');
    let value = value.split(ends).next()?.trim_end_matches('\\');
    let code = value.contains('(')
        || value.starts_with(['$', '<', '{', '[', '*', '&'])
        || ["string", "String", "None", "null"].contains(&value);
    (value.len() > 3 && (quote.is_some() || !code)).then_some(("password", start, start + value.len()))
}
