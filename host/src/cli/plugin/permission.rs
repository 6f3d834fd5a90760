//! Which permission an import could use (HOOKS.md, 5).

/// The permissions, as `plugin.json` names them.
pub(super) const NAMES: [&str; 6] = ["read", "write", "env", "http", "run", "approve"];

/// What an import is for, as far as permissions go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// It could use these.
    Of(&'static [&'static str]),
    /// It works without any.
    Free,
    /// Nothing can be granted for it.
    Never,
    /// Nobody here knows.
    Unknown,
}

impl Use {
    /// That of an import, by its full name.
    pub(super) fn of(import: &str) -> Self {
        if let Some(function) = import.strip_prefix("wasi_snapshot_preview1::") {
            return Self::of_preview1(function);
        }
        let name = import.split('@').next().unwrap_or(import);
        match name.split_once('/').unwrap_or((name, "")) {
            ("wasi:filesystem", _) => Self::Of(&["read", "write"]),
            ("wasi:cli", "environment") => Self::Of(&["env"]),
            ("wasi:http", _) => Self::Of(&["http"]),
            ("tacklebox:hooks", "process") => Self::Of(&["run"]),
            ("wasi:sockets", _) => Self::Never,
            ("tacklebox:hooks" | "wasi:io" | "wasi:clocks" | "wasi:random" | "wasi:cli", _) => Self::Free,
            _ => Self::Unknown,
        }
    }

    /// That of a function of preview 1, which has one module for everything.
    fn of_preview1(function: &str) -> Self {
        match function.split('_').next() {
            Some("path") => Self::Of(&["read", "write"]),
            Some("environ") => Self::Of(&["env"]),
            Some("sock") => Self::Never,
            // Descriptors are of files too, but each is opened by `path_open`.
            _ => Self::Free,
        }
    }

    /// In words.
    pub(super) fn words(self) -> String {
        match self {
            Self::Of(permissions) => permissions.join(", "),
            Self::Free => "needs none".to_owned(),
            Self::Never => "never granted".to_owned(),
            Self::Unknown => "unknown".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_lead_to_permissions() {
        for (import, words) in [
            ("wasi:filesystem/types@0.2.6", "read, write"),
            ("wasi:cli/environment@0.2.0", "env"),
            ("wasi:cli/stdout@0.2.0", "needs none"),
            ("tacklebox:hooks/process@0.1.0", "run"),
            ("tacklebox:hooks/log@0.1.0", "needs none"),
            ("wasi:sockets/tcp@0.2.0", "never granted"),
            ("acme:disk/format", "unknown"),
            ("wasi_snapshot_preview1::path_open", "read, write"),
            ("wasi_snapshot_preview1::environ_get", "env"),
            ("wasi_snapshot_preview1::sock_accept", "never granted"),
            ("wasi_snapshot_preview1::fd_write", "needs none"),
            ("env::abort", "unknown"),
        ] {
            assert_eq!(Use::of(import).words(), words, "{import}");
        }
    }
}
