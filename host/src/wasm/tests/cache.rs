//! The compile cache: what is taken from it, what is not, and that a plugin is loaded in any case.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;
use tempfile::TempDir;

use super::asking::{Asking, ECHO, PASS, guest, guest_with, load, object, plugins};
use crate::outcome::{Cause, Outcome};
use crate::plugin::Code;
use crate::wasm::component::{self, Origin};
use crate::wasm::{CompileCache, LoadError, Plugins, Stock};

/// A cache in a folder that is not there yet, and a guest.
struct Kept {
    home: TempDir,
    cache: CompileCache,
    guest: Vec<u8>,
}

impl Kept {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        Self { cache: CompileCache::at(home.path().join(".cache/tacklebox/compiled")), home, guest: guest(ECHO) }
    }

    /// With the guest's code in it.
    async fn filled() -> Self {
        let kept = Self::new();
        assert_eq!(kept.origin().await, Origin::Compiler);
        kept
    }

    /// Where a host that starts now has the guest's code from; and it works.
    async fn origin(&self) -> Origin {
        origin(&self.cache, &self.guest).await
    }

    /// A host that starts now.
    fn host(&self) -> Plugins {
        plugins().caching_in(self.cache.clone())
    }

    fn folder(&self) -> &Path {
        self.cache.folder()
    }

    /// The one entry.
    fn entry(&self) -> PathBuf {
        let mut files = fs::read_dir(self.folder()).unwrap();
        let entry = files.next().unwrap().unwrap().path();
        assert!(files.next().is_none());
        entry
    }

    /// Lays other bytes in the entry's place.
    fn replace(&self, bytes: &[u8]) {
        let entry = self.entry();
        fs::remove_file(&entry).unwrap();
        lay(&entry, bytes, 0o400);
    }
}

async fn origin(cache: &CompileCache, guest: &[u8]) -> Origin {
    let host = plugins().caching_in(cache.clone());
    let compiled = component::compile(&host.room, &host.shelf, host.cache.as_ref(), guest).await.unwrap();
    answers(&*load(&host, guest).await).await;
    compiled.origin
}

async fn answers(code: &dyn Code) {
    assert_eq!(Asking::bash("ls").reason(code).await, r#"{"command":"ls"}"#);
}

#[expect(clippy::disallowed_methods, reason = "a test lays its own files")]
fn lay(path: &Path, bytes: &[u8], mode: u32) {
    fs::write(path, bytes).unwrap();
    set_mode(path, mode);
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

#[tokio::test]
async fn what_one_host_compiled_the_next_one_takes() {
    let kept = Kept::filled().await;
    let written = fs::metadata(kept.entry()).unwrap().ino();
    assert_eq!(kept.origin().await, Origin::Cache);
    assert_eq!(fs::metadata(kept.entry()).unwrap().ino(), written);
    assert_eq!((mode(kept.folder()), mode(&kept.entry())), (0o700, 0o400));
    assert_eq!(mode(kept.folder().parent().unwrap()), 0o700);
    // Another component is another entry.
    assert_eq!(origin(&kept.cache, &guest(&format!("(nop) {ECHO}"))).await, Origin::Compiler);
    assert_eq!(kept.cache.stock().unwrap().entries, 2);
}

#[tokio::test]
async fn without_a_cache_nothing_is_kept() {
    let host = plugins();
    for _ in 0..2 {
        let compiled = component::compile(&host.room, &host.shelf, None, &guest(PASS)).await.unwrap();
        assert_eq!(compiled.origin, Origin::Compiler);
    }
}

#[tokio::test]
async fn code_from_the_cache_names_its_functions_when_it_traps() {
    let kept = Kept::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let misbehave = fs::read(root.join("tests/guests/misbehave/misbehave.wasm")).unwrap();
    let asking = Asking { config: object(json!({"do": "panic"})), ..Asking::bash("ls") };
    let mut said = Vec::new();
    for _ in 0..2 {
        match asking.of(&*load(&kept.host(), &misbehave).await).await.outcome {
            Outcome::NoAnswer(Cause::Trapped { backtrace, .. }) => said.push(backtrace),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(said[0], said[1]);
    assert!(said[1].iter().any(|function| function.ends_with("a_function_that_panics")), "{said:?}");
}

#[tokio::test]
async fn a_damaged_entry_is_compiled_once_more() {
    let kept = Kept::filled().await;
    let sound = fs::read(kept.entry()).unwrap();
    let flipped = |at: usize| {
        let mut bytes = sound.clone();
        bytes[at] ^= 1;
        bytes
    };
    let damages = [
        Vec::new(),
        b"what is this".to_vec(),
        sound[..47].to_vec(),
        sound[..48].to_vec(),
        sound[..sound.len() / 2].to_vec(),
        sound[..sound.len() - 1].to_vec(),
        [&sound[..], b"\0"].concat(),
        flipped(0),
        flipped(20),
        flipped(48),
        flipped(sound.len() / 2),
        flipped(sound.len() - 1),
        // The code alone, as a plugin might ship it.
        sound[48..].to_vec(),
    ];
    for (at, damaged) in damages.iter().enumerate() {
        kept.replace(damaged);
        assert_eq!(kept.origin().await, Origin::Compiler, "damage {at}");
        assert_eq!(kept.origin().await, Origin::Cache, "damage {at}");
    }
}

/// One whose code is large enough not to be copied to ordinary memory.
fn large() -> Kept {
    let data = "large ".repeat(300_000);
    Kept { guest: guest_with(&format!(r#"(data "{data}")"#), ECHO), ..Kept::new() }
}

#[tokio::test]
async fn large_code_is_taken_from_the_cache_like_any_other() {
    let kept = large();
    assert_eq!(kept.origin().await, Origin::Compiler);
    assert_eq!(kept.origin().await, Origin::Cache);
    let mut damaged = fs::read(kept.entry()).unwrap();
    assert!(damaged.len() > 1 << 20);
    *damaged.last_mut().unwrap() ^= 1;
    kept.replace(&damaged);
    assert_eq!(kept.origin().await, Origin::Compiler);
    assert_eq!(kept.origin().await, Origin::Cache);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn large_code_is_mapped_from_a_copy_and_not_from_the_cache() {
    let kept = large();
    assert_eq!(kept.origin().await, Origin::Compiler);
    let code = load(&kept.host(), &kept.guest).await;
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    assert!(maps.contains("/memfd:tacklebox-code"), "{maps}");
    assert!(!maps.contains(kept.folder().to_str().unwrap()), "{maps}");
    // Whatever becomes of the entry.
    set_mode(&kept.entry(), 0o600);
    File::options().write(true).open(kept.entry()).unwrap().set_len(0).unwrap();
    answers(&*code).await;
}

#[tokio::test]
async fn an_entry_under_the_name_of_another_is_none() {
    let kept = Kept::filled().await;
    let (own, own_bytes) = (kept.entry(), fs::read(kept.entry()).unwrap());
    // That of another version of the engine.
    let name = own.file_name().unwrap().to_str().unwrap();
    let (component, _) = name.split_once('-').unwrap();
    fs::rename(&own, kept.folder().join(format!("{component}-{}.code", "0".repeat(64)))).unwrap();
    assert_eq!(kept.origin().await, Origin::Compiler);
    // That of another component.
    let other = Kept { guest: guest(&format!("(nop) {ECHO}")), ..Kept::filled().await };
    other.cache.clear().unwrap();
    assert_eq!(other.origin().await, Origin::Compiler);
    other.replace(&own_bytes);
    assert_eq!(other.origin().await, Origin::Compiler);
}

#[tokio::test]
async fn an_entry_that_others_could_have_written_is_compiled_once_more() {
    let kept = Kept::filled().await;
    for open in [0o420, 0o402, 0o666] {
        set_mode(&kept.entry(), open);
        assert_eq!(kept.origin().await, Origin::Compiler, "{open:o}");
        assert_eq!(mode(&kept.entry()), 0o400);
    }
    assert_eq!(kept.origin().await, Origin::Cache);
}

#[tokio::test]
async fn a_folder_that_is_not_ours_alone_is_left_alone() {
    let kept = Kept::filled().await;
    let foreign = kept.cache.clone().of_user(rustix::process::geteuid().as_raw() + 1);
    assert_eq!(origin(&foreign, &kept.guest).await, Origin::Compiler);
    assert!(foreign.stock().unwrap_err().to_string().contains("belongs to the user"));
    assert!(foreign.clear().is_err());
    for open in [0o770, 0o707, 0o755] {
        set_mode(kept.folder(), open);
        assert_eq!(kept.origin().await, Origin::Compiler, "{open:o}");
        assert!(kept.cache.stock().unwrap_err().to_string().contains("open to others"));
        assert!(kept.cache.clear().is_err());
    }
    set_mode(kept.folder(), 0o700);
    assert_eq!(kept.origin().await, Origin::Cache);
}

#[tokio::test]
async fn a_link_is_not_followed() {
    let kept = Kept::filled().await;
    let (entry, elsewhere) = (kept.entry(), kept.home.path().join("elsewhere"));
    fs::rename(&entry, &elsewhere).unwrap();
    symlink(&elsewhere, &entry).unwrap();
    assert_eq!(kept.origin().await, Origin::Compiler);
    assert!(fs::symlink_metadata(&entry).unwrap().is_file() && elsewhere.exists());
    // Nor one in the folder's place.
    let moved = kept.home.path().join("moved");
    fs::rename(kept.folder(), &moved).unwrap();
    symlink(&moved, kept.folder()).unwrap();
    assert_eq!(kept.origin().await, Origin::Compiler);
    assert!(kept.cache.clear().is_err() && moved.join(entry.file_name().unwrap()).exists());
}

#[tokio::test]
async fn what_is_no_file_is_not_waited_for() {
    let kept = Kept::filled().await;
    let entry = kept.entry();
    fs::remove_file(&entry).unwrap();
    fs::create_dir(&entry).unwrap();
    assert_eq!(kept.origin().await, Origin::Compiler);
    assert_eq!(kept.cache.stock().unwrap(), Stock::default());
    fs::remove_dir(&entry).unwrap();
    pipe(&entry);
    assert_eq!(kept.origin().await, Origin::Compiler);
    assert_eq!(kept.origin().await, Origin::Cache);
}

#[cfg(target_os = "linux")]
fn pipe(path: &Path) {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

#[cfg(not(target_os = "linux"))]
fn pipe(path: &Path) {
    symlink("/dev/null", path).unwrap();
}

#[tokio::test]
async fn where_nothing_can_be_kept_plugins_are_loaded_all_the_same() {
    let kept = Kept::new();
    lay(&kept.home.path().join("file"), b"", 0o600);
    for nowhere in [kept.home.path().join("file/cache"), "/proc/cache".into(), "/dev/null".into()] {
        let cache = CompileCache::at(nowhere);
        for _ in 0..2 {
            assert_eq!(origin(&cache, &kept.guest).await, Origin::Compiler);
        }
    }
    // A folder that may be read alone; root may write nevertheless.
    let kept = Kept::new();
    fs::create_dir_all(kept.folder()).unwrap();
    set_mode(kept.folder(), 0o500);
    assert_eq!(kept.origin().await, Origin::Compiler);
    let second = if rustix::process::geteuid().is_root() { Origin::Cache } else { Origin::Compiler };
    assert_eq!(kept.origin().await, second);
    set_mode(kept.folder(), 0o700);
}

#[tokio::test(flavor = "multi_thread")]
async fn hosts_that_start_at_once_do_not_disturb_each_other() {
    let kept = Arc::new(Kept::new());
    let hosts = (0..8).map(|n| {
        let kept = Arc::clone(&kept);
        tokio::spawn(async move {
            for _ in 0..4 {
                kept.origin().await;
                if n == 0 {
                    kept.cache.clear().unwrap();
                }
            }
        })
    });
    for host in hosts.collect::<Vec<_>>() {
        host.await.unwrap();
    }
    kept.origin().await;
    assert_eq!(kept.origin().await, Origin::Cache);
    kept.entry();
}

#[tokio::test]
async fn loaded_code_outlives_its_entry() {
    let kept = Kept::filled().await;
    let host = kept.host();
    let compiled = component::compile(&host.room, &host.shelf, host.cache.as_ref(), &kept.guest).await.unwrap();
    assert_eq!(compiled.origin, Origin::Cache);
    let code = load(&host, &kept.guest).await;
    // Overwritten in place, as nobody should.
    let entry = kept.entry();
    let length = fs::metadata(&entry).unwrap().len() as usize;
    set_mode(&entry, 0o600);
    lay(&entry, &vec![0xcc; length], 0o400);
    answers(&*code).await;
    lay(&entry, b"", 0o400);
    answers(&*code).await;
    let cleared = kept.cache.clear().unwrap();
    assert_eq!(cleared.entries, 1);
    assert_eq!(kept.cache.stock().unwrap(), Stock::default());
    answers(&*code).await;
}

#[tokio::test]
async fn clearing_takes_what_is_ours_and_nothing_else() {
    let kept = Kept::new();
    assert_eq!(kept.cache.clear().unwrap(), Stock::default());
    kept.origin().await;
    let size = fs::metadata(kept.entry()).unwrap().len();
    lay(&kept.folder().join("notes.txt"), b"mine", 0o600);
    lay(&kept.folder().join(".new-left"), b"half", 0o600);
    assert_eq!(kept.cache.stock().unwrap(), Stock { entries: 1, bytes: size });
    assert_eq!(kept.cache.clear().unwrap(), Stock { entries: 1, bytes: size });
    assert_eq!(kept.entry(), kept.folder().join("notes.txt"));
}

#[tokio::test]
async fn what_nobody_used_for_long_is_swept_and_a_use_is_noted() {
    let kept = Kept::filled().await;
    let long_ago = std::time::SystemTime::UNIX_EPOCH;
    fs::File::open(kept.entry()).unwrap().set_modified(long_ago).unwrap();
    assert_eq!(kept.origin().await, Origin::Cache);
    let entry = kept.entry();
    assert!(fs::metadata(&entry).unwrap().modified().unwrap() > long_ago);
    fs::File::open(&entry).unwrap().set_modified(long_ago).unwrap();
    origin(&kept.cache, &guest(&format!("(nop) {ECHO}"))).await;
    assert!(!entry.exists());
    assert_eq!(kept.cache.stock().unwrap().entries, 1);
}

#[tokio::test]
async fn compiled_code_that_a_plugin_ships_is_never_taken() {
    let kept = Kept::filled().await;
    let host = kept.host();
    let entry = fs::read(kept.entry()).unwrap();
    let shipped = host.room.engine.precompile_component(&kept.guest).unwrap();
    for bytes in [&entry[..], &entry[48..], &shipped] {
        let refused = component::compile(&host.room, &host.shelf, host.cache.as_ref(), bytes).await.unwrap_err();
        assert!(matches!(refused, LoadError::NotWasm), "{refused:?}");
    }
}
