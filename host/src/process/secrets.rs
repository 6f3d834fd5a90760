//! Which of the host's variables look like secrets (HOOKS.md, 3).

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// The words, between underscores of a name, that mark a secret.
const WORDS: [&str; 10] =
    ["KEY", "APIKEY", "TOKEN", "SECRET", "PASS", "PASSWD", "CREDENTIAL", "CREDENTIALS", "AUTH", "PAT"];

/// Whether the variable looks like a secret, by its name or by its value.
pub(super) fn is_secret(name: &OsStr, value: &OsStr) -> bool {
    is_secret_name(&name.to_string_lossy()) || holds_password(value.as_bytes())
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    // The agent's socket is no secret, and git over ssh does not work without it.
    name != "SSH_AUTH_SOCK" && (name.contains("PASSWORD") || name.split('_').any(|word| WORDS.contains(&word)))
}

/// Whether there is a `scheme://user:password@` anywhere in the value.
fn holds_password(value: &[u8]) -> bool {
    let mut rest = value;
    while let Some(at) = rest.windows(3).position(|bytes| bytes == b"://") {
        let scheme = rest[..at].last().is_some_and(u8::is_ascii_alphanumeric);
        rest = &rest[at + 3..];
        if scheme && begins_with_password(rest) {
            return true;
        }
    }
    false
}

fn begins_with_password(authority: &[u8]) -> bool {
    let end = authority.iter().position(|b| b"/?#".contains(b) || b.is_ascii_whitespace()).unwrap_or(authority.len());
    let Some(at) = authority[..end].iter().rposition(|b| *b == b'@') else { return false };
    authority[..at].iter().position(|b| *b == b':').is_some_and(|colon| colon + 1 < at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_that_look_like_secrets() {
        let table = [
            ("MY_KEY", "", true),
            ("APIKEY", "", true),
            ("github_token", "", true),
            ("SECRET_SAUCE", "", true),
            ("DB_PASS", "", true),
            ("X_PASSWD_Y", "", true),
            ("CREDENTIAL", "", true),
            ("AWS_CREDENTIALS", "", true),
            ("NPM_AUTH", "", true),
            ("GH_PAT", "", true),
            ("PGPASSWORD", "", true),
            ("mypasswords", "", true),
            ("KEYBOARD", "", false),
            ("PATH", "/bin:/usr/bin", false),
            ("MONKEY", "", false),
            ("AUTHOR", "", false),
            ("SSH_AUTH_SOCK", "/tmp/s", false),
            ("DATABASE_URL", "postgres://me:pw@host/db", true),
            ("REDIS", "redis://:pw@host", true),
            ("PROXIES", "none, http://u:p@ss@proxy", true),
            ("HOMEPAGE", "https://host:8080/a:b@c", false),
            ("REMOTE", "ssh://git@host/repo", false),
            ("EMPTY", "http://user:@host", false),
            ("ODD", "://user:pw@host", false),
            ("LIST", "http://a.b http://u:p@c", true),
        ];
        for (name, value, secret) in table {
            assert_eq!(is_secret(OsStr::new(name), OsStr::new(value)), secret, "{name}={value}");
        }
    }
}
