//! An entry: what it is called, and how one sees that it is what was written.

use std::hash::{Hash as _, Hasher};
use std::io::{self, Read};

use sha2::{Digest as _, Sha256};
use wasmtime::Engine;

use super::super::native::Form;
use super::copied::{Copied, Copying};
use crate::plugin::Digest;

/// How an entry begins: the form of what follows, which is a SHA-256 and the code.
const MARK: &[u8; 16] = b"tacklebox-code-1";
/// How many bytes stand before the code.
const HEAD: usize = MARK.len() + 32;
/// How many bytes are read, hashed and copied at once: they are still at hand from one to the next.
const AT_ONCE: usize = 128 << 10;
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
pub(super) struct Artifact {
    code: Copied,
    form: Form,
}

impl Artifact {
    /// One whose soundness nobody looked at.
    #[cfg(test)]
    pub(super) fn of(form: Form, code: Copied) -> Self {
        Self { code, form }
    }

    /// Of which form the code is.
    pub(super) fn form(&self) -> Form {
        self.form
    }

    /// The code.
    pub(super) fn code(&self) -> &Copied {
        &self.code
    }
}

/// An entry of this code.
pub(super) fn seal(key: &Key, code: &[u8]) -> Vec<u8> {
    [MARK, digest(key, code).as_slice(), code].concat()
}

/// Copies the code of an entry, if it is what was written under this key: what is hashed are the bytes that are
/// copied, and no others.
///
/// # Errors
///
/// Where the entry cannot be read, or the copy not be written.
pub(super) fn unseal(key: &Key, mut entry: impl Read, mut copying: Copying) -> io::Result<Option<Artifact>> {
    let mut head = [0; HEAD];
    match entry.read_exact(&mut head) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let (mut hasher, mut some) = (hasher(key), vec![0; AT_ONCE]);
    loop {
        let read = match entry.read(&mut some) {
            Ok(0) => break,
            Ok(read) => &some[..read],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hasher.update(read);
        copying.add(read)?;
    }
    let sound = head.strip_prefix(MARK).is_some_and(|seal| *seal == *hasher.finalize());
    if !sound {
        return Ok(None);
    }
    Ok(Some(Artifact { code: copying.finish()?, form: key.form }))
}

/// Over the key as well, so that an entry under another name is none.
fn digest(key: &Key, code: &[u8]) -> [u8; 32] {
    hasher(key).chain_update(code).finalize().into()
}

fn hasher(key: &Key) -> Sha256 {
    Sha256::new().chain_update(&key.name).chain_update([0])
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

    fn unsealed(key: &Key, entry: &[u8]) -> Option<Vec<u8>> {
        match unseal(key, entry, Copying::Memory(Vec::new())).unwrap()?.code {
            Copied::Memory(code) => Some(code),
            Copied::File(_) => panic!("it was to be copied to memory"),
        }
    }

    #[test]
    fn an_entry_gives_back_what_was_written() {
        for code in [b"code".to_vec(), Vec::new(), vec![7; 3 * AT_ONCE + 1]] {
            assert_eq!(unsealed(&key(), &seal(&key(), &code)), Some(code));
        }
    }

    #[test]
    fn an_entry_of_which_any_bit_differs_is_none() {
        let entry = seal(&key(), b"code");
        for bit in 0..entry.len() * 8 {
            let mut damaged = entry.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(unsealed(&key(), &damaged).is_none(), "bit {bit}");
        }
    }

    #[test]
    fn an_entry_of_another_length_or_key_is_none() {
        let entry = seal(&key(), b"code");
        for length in 0..entry.len() {
            assert!(unsealed(&key(), &entry[..length]).is_none(), "{length}");
        }
        assert!(unsealed(&key(), &[&entry[..], b"x"].concat()).is_none());
        assert!(unsealed(&Key::of(&Engine::default(), Digest::of(b"other"), Form::Component), &entry).is_none());
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
        assert!(unsealed(&key(), &seal(&module, b"code")).is_none());
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
