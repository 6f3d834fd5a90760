//! An entry: what it is called, and how one sees that it is what was written.

use std::hash::{Hash as _, Hasher};
use std::ops::Deref;

use sha2::{Digest as _, Sha256};
use wasmtime::Engine;

use super::super::native::Form;
use crate::plugin::Digest;

/// How an entry begins: the form of what follows, which is a SHA-256 and the code.
const MARK: &[u8; 16] = b"tacklebox-code-1";
/// How many bytes stand before the code.
const HEAD: usize = MARK.len() + 32;
/// How an entry's name ends.
const END: &str = ".code";
/// How the name of a file begins that is not whole yet.
const UNFINISHED: &str = ".new-";

/// Which code it is: of which file, in which form, for which engine.
#[derive(Debug)]
pub(super) struct Key {
    name: String,
    form: Form,
}

impl Key {
    /// That of this file for this engine: its version, target, processor features and settings, and our version.
    pub(super) fn of(engine: &Engine, file: Digest, form: Form) -> Self {
        let mut hasher = Sha256Hasher(Sha256::new());
        env!("CARGO_PKG_VERSION").hash(&mut hasher);
        form.hash(&mut hasher);
        // With the exact version of the engine in it: one that has been put right does not run what it compiled before.
        engine.precompile_compatibility_hash().hash(&mut hasher);
        Self { name: format!("{file}-{}{END}", hex(&hasher.0.finalize())), form }
    }

    /// The file's name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

/// Code whose entry was found sound.
pub(super) struct Artifact<B> {
    entry: B,
    form: Form,
}

impl<B: Deref<Target = [u8]>> Artifact<B> {
    /// Of which form the code is.
    pub(super) fn form(&self) -> Form {
        self.form
    }

    /// The code.
    pub(super) fn code(&self) -> &[u8] {
        &self.entry[HEAD..]
    }
}

/// An entry of this code.
pub(super) fn seal(key: &Key, code: &[u8]) -> Vec<u8> {
    [MARK, digest(key, code).as_slice(), code].concat()
}

/// The code in an entry, if it is what was written under this key.
pub(super) fn unseal<B: Deref<Target = [u8]>>(key: &Key, entry: B) -> Option<Artifact<B>> {
    let sealed = entry.strip_prefix(MARK)?.split_first_chunk::<32>();
    sealed.is_some_and(|(seal, code)| *seal == digest(key, code)).then_some(Artifact { entry, form: key.form })
}

/// Over the key as well, so that an entry under another name is none.
fn digest(key: &Key, code: &[u8]) -> [u8; 32] {
    Sha256::new().chain_update(&key.name).chain_update([0]).chain_update(code).finalize().into()
}

/// A name for a file that is not whole yet.
pub(super) fn unfinished_name() -> String {
    format!("{UNFINISHED}{}", uuid::Uuid::now_v7())
}

/// Whether a file is ours, and then whether it is whole.
pub(super) fn is_whole(name: &str) -> Option<bool> {
    let is_hex = |text: &str| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let parts = name.strip_suffix(END).and_then(|name| name.split_once('-'));
    if parts.is_some_and(|(component, engine)| is_hex(component) && is_hex(engine)) {
        return Some(true);
    }
    name.starts_with(UNFINISHED).then_some(false)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What the engine hashes for us: 64 bits would be few for something that is run.
struct Sha256Hasher(Sha256);

impl Hasher for Sha256Hasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        let digest: [u8; 32] = self.0.clone().finalize().into();
        digest.first_chunk().map_or(0, |first| u64::from_le_bytes(*first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> Key {
        Key::of(&Engine::default(), Digest::of(b"component"), Form::Component)
    }

    #[test]
    fn an_entry_gives_back_what_was_written() {
        let artifact = unseal(&key(), seal(&key(), b"code")).unwrap();
        assert_eq!(artifact.code(), b"code");
    }

    #[test]
    fn an_entry_of_which_any_bit_differs_is_none() {
        let entry = seal(&key(), b"code");
        for bit in 0..entry.len() * 8 {
            let mut damaged = entry.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(unseal(&key(), damaged).is_none(), "bit {bit}");
        }
    }

    #[test]
    fn an_entry_of_another_length_or_key_is_none() {
        let entry = seal(&key(), b"code");
        for length in 0..entry.len() {
            assert!(unseal(&key(), entry[..length].to_vec()).is_none(), "{length}");
        }
        assert!(unseal(&key(), [&entry[..], b"x"].concat()).is_none());
        assert!(unseal(&Key::of(&Engine::default(), Digest::of(b"other"), Form::Component), entry).is_none());
    }

    #[test]
    fn another_setting_of_the_engine_is_another_key() {
        let other = Engine::new(wasmtime::Config::new().epoch_interruption(true)).unwrap();
        assert_ne!(Key::of(&other, Digest::of(b"component"), Form::Component).name, key().name);
        assert_eq!(key().name, key().name);
    }

    #[test]
    fn a_core_module_is_another_key_and_its_entry_no_component() {
        let module = Key::of(&Engine::default(), Digest::of(b"component"), Form::Module);
        assert_ne!(module.name, key().name);
        assert!(unseal(&key(), seal(&module, b"code")).is_none());
    }

    #[test]
    fn only_names_of_ours_are_ours() {
        assert_eq!(is_whole(key().name()), Some(true));
        assert_eq!(is_whole(&unfinished_name()), Some(false));
        for name in ["", "a.code", "notes.txt", &key().name()[1..]] {
            assert_eq!(is_whole(name), None, "{name}");
        }
    }
}
