//! The inputs that the fuzzer starts from, played without it: each target on each file of its folder in `corpus`.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::{Path, PathBuf};

use tacklebox_fuzz::TARGETS;

fn files(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let paths = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    paths.map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

#[test]
fn every_property_holds_for_every_input_of_the_corpus() {
    for (name, check) in TARGETS {
        let files = files(name);
        assert!(!files.is_empty(), "`{name}` has no corpus");
        for (path, bytes) in files {
            let held = std::panic::catch_unwind(|| check(&bytes));
            assert!(held.is_ok(), "`{name}` is broken by {}", path.display());
        }
    }
}
