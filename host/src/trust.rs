//! What a project brings to run, its digest, and the store of what a person trusts (HOOKS.md, 10).
//!
//! Owns what a digest covers and where trust is kept. Whether hooks run is for `dispatch`, what stays in force while a
//! project changes for `runtime`. Reads files, and writes the store alone.
//!
//! - `brought`: a project's hooks with the files they name; `canonical`: the form of which the digest is taken
//! - `named`: the project's files that a command's words name; `seal`: whether they still are what was trusted
//! - `ration`: how much of a project is read before anybody trusts it
//! - `store`: the file in the person's own folder

mod brought;
mod canonical;
mod named;
mod ration;
mod seal;
mod store;

pub use brought::{Brought, BroughtHook, BroughtPlugin, PluginFiles};
pub use named::{NamedFile, Root};
pub use ration::{Ration, Spent};
pub use seal::Seal;
pub use store::{StoreError, TrustStore};

use crate::policy::Trust;

/// On whose word a project is trusted.
#[derive(Clone, Debug)]
pub enum TrustedBy {
    /// The embedder's: whatever the project brings, now and later.
    Word(Trust),
    /// The store's: what the project brings, exactly as it was when a person trusted it.
    Store(TrustStore),
}

impl From<Trust> for TrustedBy {
    fn from(trust: Trust) -> Self {
        Self::Word(trust)
    }
}

impl From<TrustStore> for TrustedBy {
    fn from(store: TrustStore) -> Self {
        Self::Store(store)
    }
}
