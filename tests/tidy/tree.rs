//! The files that the rules look at: those of this checkout, or made-up ones.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{LazyLock, OnceLock};

use crate::code::Code;

/// Files by their path from the root, with `/` between its parts.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    files: BTreeMap<String, File>,
}

/// A file; its code is read once, by whichever rule asks first.
#[derive(Debug, Default)]
struct File {
    bytes: Vec<u8>,
    code: OnceLock<Code>,
    product: OnceLock<Code>,
}

/// A Rust file.
#[derive(Debug)]
pub(crate) struct Source<'a> {
    pub(crate) path: &'a str,
    pub(crate) text: &'a str,
    file: &'a File,
}

static CHECKOUT: LazyLock<Tree> = LazyLock::new(|| {
    let mut tree = Tree::default();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    tree.add_folder(&root, "");
    assert!(tree.bytes("host/src/lib.rs").is_some(), "{} is not a checkout", root.display());
    tree
});

impl Tree {
    pub(crate) fn checkout() -> &'static Self {
        &CHECKOUT
    }

    pub(crate) fn of<const N: usize>(files: [(&str, &str); N]) -> Self {
        let mut tree = Self::default();
        files.into_iter().for_each(|(path, text)| tree.add(path.to_owned(), text.as_bytes().to_vec()));
        tree
    }

    fn add(&mut self, path: String, bytes: Vec<u8>) {
        self.files.insert(path, File { bytes, ..File::default() });
    }

    fn add_folder(&mut self, folder: &Path, name: &str) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let own = entry.file_name().into_string().unwrap();
            let path = if name.is_empty() { own.clone() } else { format!("{name}/{own}") };
            let kind = entry.file_type().unwrap();
            if own == ".git" || own == "target" {
                continue;
            } else if kind.is_dir() {
                self.add_folder(&entry.path(), &path);
            } else if kind.is_file() {
                self.add(path, std::fs::read(entry.path()).unwrap());
            }
        }
    }

    pub(crate) fn bytes(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(|file| file.bytes.as_slice())
    }

    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.bytes(path).and_then(|bytes| std::str::from_utf8(bytes).ok())
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files.iter().map(|(path, file)| (path.as_str(), file.bytes.as_slice()))
    }

    /// Every Rust file.
    pub(crate) fn rust(&self) -> impl Iterator<Item = Source<'_>> {
        let rust = self.files.iter().filter(|(path, _)| path.ends_with(".rs"));
        rust.filter_map(|(path, file)| Some(Source { path, text: std::str::from_utf8(&file.bytes).ok()?, file }))
    }

    /// The Rust files of the library that are part of a module: all but `lib.rs` and `main.rs`.
    pub(crate) fn modules(&self) -> impl Iterator<Item = Source<'_>> {
        self.rust().filter(|source| source.module().is_some())
    }
}

impl<'a> Source<'a> {
    /// The module at the top of the library that it belongs to.
    pub(crate) fn module(&self) -> Option<&'a str> {
        let path = self.path.strip_prefix("host/src/")?.strip_suffix(".rs")?;
        let top = path.split('/').next()?;
        (top != "lib" && top != "main").then_some(top)
    }

    /// How many modules deep it lies in the library.
    pub(crate) fn depth(&self) -> usize {
        self.path.trim_start_matches("host/src/").split('/').count()
    }

    /// Whether all of it is compiled for tests alone.
    pub(crate) fn is_test(&self) -> bool {
        self.path.starts_with("tests/") || self.path.ends_with("/tests.rs") || self.path.contains("/tests/")
    }

    /// Its code.
    pub(crate) fn code(&self) -> &'a Code {
        self.file.code.get_or_init(|| Code::of(self.text))
    }

    /// Its code without its tests.
    pub(crate) fn product(&self) -> &'a Code {
        let without = || if self.is_test() { Code::default() } else { Code::without_tests(self.text) };
        self.file.product.get_or_init(without)
    }
}
