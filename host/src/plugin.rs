//! What is known of a loaded plugin, and the door through which it is called.
//!
//! Owns no engine: `wasm` implements [`Code`]; the registry keeps it alive and drops it with its set.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use sha2::{Digest as _, Sha256};

use crate::ask::{Ask, Asked};
use crate::diagnostic::Place;
use crate::event::Object;
use crate::hook::{CallbackHook, Lifetime, OnError};
use crate::id::PluginName;
use crate::limits::LimitsSaid;
use crate::permission::{Approve, Permissions};
use crate::surroundings::Surroundings;

/// The SHA-256 of a component's bytes: what a plugin *is*, whatever it is called.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Digest {
    /// That of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The one that is printed so: 64 digits in lower case; `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'a'..=b'f' => Some(byte - b'a' + 10),
            _ => None,
        };
        let mut bytes = [0; 32];
        if text.len() != 2 * bytes.len() {
            return None;
        }
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Some(Self(bytes))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What a plugin says of itself (`describe`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginInfo {
    /// Its name.
    pub name: PluginName,
    /// Its version.
    pub version: String,
    /// What it is for.
    pub description: String,
    /// The hooks it wants to be registered.
    pub hooks: Vec<WantedHook>,
}

/// A hook that a plugin wants to be registered, in its own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedHook {
    /// The event's name.
    pub event: String,
    /// The hook's name.
    pub name: String,
    /// Its matcher.
    pub matcher: Option<String>,
    /// Its `if`.
    pub condition: Option<String>,
    /// How long a call may take.
    pub timeout: Option<Duration>,
    /// Once per session.
    pub once: bool,
    /// What a missing answer means.
    pub on_error: Option<OnError>,
}

/// A loaded plugin that can be called.
#[async_trait]
pub trait Code: Send + Sync + fmt::Debug {
    /// What it said of itself when it was loaded.
    fn info(&self) -> &PluginInfo;

    /// What it is.
    fn digest(&self) -> Digest;

    /// What came of what it asked for and what it was granted.
    fn allowed(&self) -> &Allowed;
    /// Whether it was asked what it is and which hooks it wants. A WASI command cannot be: what is known of it is its name.
    fn describes_itself(&self) -> bool {
        true
    }

    /// Asks it. Never fails and never panics: whatever goes wrong is an answer that is missing.
    async fn call(&self, hook: &CallbackHook, ask: &Ask<'_>) -> Asked;
}

/// What a plugin may do beyond answering, as far as others than the sandbox have to know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    /// Its approvals count.
    pub approves: Approve,
    /// It may wait for others: it runs programs or sends requests.
    pub waits: bool,
    /// What was granted to no effect, and why.
    pub doubts: Vec<String>,
}

/// On which terms a plugin is loaded.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    /// What its package asks for. A component without a `plugin.json` has nowhere to ask: of it, what is granted counts
    /// as asked for, since whoever grants names this very file.
    pub requested: Option<Permissions>,
    /// What is granted.
    pub granted: Permissions,
    /// The folder of its package, where it has one.
    pub package: Option<PathBuf>,
    /// The machine.
    pub surroundings: Surroundings,
}

/// A plugin, or the folder of one, that settings load with all the hooks it brings.
#[derive(Clone, Debug, PartialEq)]
pub struct WholePlugin {
    /// What it is called there.
    pub name: PluginName,
    /// The component's file, or the folder.
    pub path: PathBuf,
    /// What it is given.
    pub given: Given,
    /// What its hooks read as their `config`, where they have none of their own; an empty one leaves that to `plugin.json`.
    pub config: Object,
    /// Where it was written.
    pub place: Place,
}

/// What whoever loads a plugin gives it, beside what its package says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Given {
    /// What it may do, of what it asks for.
    pub permissions: Permissions,
    /// What it may use up, in place of what its package says.
    pub limits: LimitsSaid,
    /// How long its instances live, in place of what its package says.
    pub instance: Option<Lifetime>,
}

impl Given {
    /// These permissions, and all else at its default.
    pub fn granting(permissions: Permissions) -> Self {
        Self { permissions, ..Self::default() }
    }

    /// The same, with these limits.
    #[must_use]
    pub fn within(self, limits: LimitsSaid) -> Self {
        Self { limits, ..self }
    }

    /// The same, with instances that live so long.
    #[must_use]
    pub fn living(self, instance: Lifetime) -> Self {
        Self { instance: Some(instance), ..self }
    }
}

/// What a package's `plugin.json` says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Manifest {
    /// The plugin's name.
    pub name: Option<PluginName>,
    /// Its version.
    pub version: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// The component's file: seen from the package's folder in `plugin.json`, with that folder once it was read.
    pub component: PathBuf,
    /// Its hooks, each of kind callback; `None` leaves that to `describe`.
    pub hooks: Option<Vec<crate::hook::HookSpec>>,
    /// What its hooks read as their `config`, where they have none of their own.
    pub config: Object,
    /// What a missing answer of its hooks means, where they do not say.
    pub on_error: Option<OnError>,
    /// The permissions it asks for; `None` for a component without a `plugin.json`, which has nowhere to ask.
    pub permissions: Option<Permissions>,
    /// The limits it asks for; alone they can only lower the defaults.
    pub limits: LimitsSaid,
    /// How long its instances live, where its hooks do not say.
    pub instance: Option<Lifetime>,
}
