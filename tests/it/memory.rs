//! Memory that comes back: plugins are loaded and dropped, and what the process occupies is measured.
//!
//! Each measurement has a process of its own, in which nothing else runs, with one arena and an allocator that gives
//! back at once what it can: what is still occupied then is held by somebody.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::json;
use tacklebox::Runtime;
use tacklebox::source::{Reach, Source};
use tempfile::TempDir;

use crate::agent::bare;

/// Says to the program that it is to measure.
const MEASURES: &str = "TACKLEBOX_TEST_MEASURES";
const MIB: usize = 1 << 20;
/// What stands in a guest for bytes of its own.
const FILLING: u8 = b'~';

#[expect(clippy::disallowed_methods, reason = "the program under test is this very one")]
fn measures() -> bool {
    std::env::var_os(MEASURES).is_some()
}

/// Runs this test alone, in a process whose memory is its own.
#[expect(clippy::disallowed_methods, reason = "the program under test is this very one")]
fn in_a_process_of_its_own(test: &str) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(MEASURES, "1").stdin(Stdio::null());
    command.env("MALLOC_ARENA_MAX", "1").env("MALLOC_TRIM_THRESHOLD_", "0").env("MALLOC_MMAP_THRESHOLD_", "65536");
    let said = command.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&said.stdout), String::from_utf8_lossy(&said.stderr));
    assert!(said.status.success() && out.contains("1 passed"), "{out}\n{err}");
}

/// What this process occupies, in bytes.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches("kB").trim().parse::<usize>().unwrap() << 10
}

/// What is occupied once that is less than `enough`; whoever freed it may be a moment late. After a while, what is.
async fn resident_below(enough: usize) -> usize {
    for _ in 0..1000 {
        if resident() < enough {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    resident()
}

/// A guest with much code and so much data.
fn guest(functions: usize, data: usize) -> Vec<u8> {
    let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/src/wasm/tests/guest.wat");
    let text = std::fs::read_to_string(text).unwrap();
    let step = |n: usize| format!("(local.set $x (i32.mul (i32.xor (local.get $x) (i32.const {n})) (i32.const 31)))");
    let body = (0..60).map(step).collect::<String>();
    let function = |n| format!("(func (export \"f{n}\") (param $x i32) (result i32) {body} (local.get $x))");
    let code = (0..functions).map(function).collect::<String>();
    let filling = String::from(FILLING as char).repeat(data);
    let more = format!("{code} (data $filling \"{filling}\")");
    wat::parse_str(text.replace("(;MORE;)", &more).replace("(;RUN;)", "(call $continue)")).unwrap()
}

/// The same guest with bytes of its own in the place of its filling: another plugin.
fn distinct(guest: &[u8], seed: u32) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    let mut noise = move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state as u8
    };
    let start = guest.windows(64).position(|window| window.iter().all(|byte| *byte == FILLING)).unwrap();
    let (head, rest) = guest.split_at(start);
    let filling = rest.iter().take_while(|byte| **byte == FILLING).count();
    let mut bytes = head.to_vec();
    bytes.extend((0..filling).map(|_| noise()));
    bytes.extend_from_slice(&rest[filling..]);
    bytes
}

#[expect(clippy::disallowed_methods, reason = "a test lays its own files")]
fn package(component: &[u8]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let manifest = json!({"name": "p", "component": "p.wasm", "hooks": {"Stop": [{"name": "h"}]}});
    std::fs::write(folder.path().join("plugin.json"), manifest.to_string()).unwrap();
    lay(&folder, component);
    folder
}

/// Puts other bytes in the component's place, as whoever writes a plugin does.
#[expect(clippy::disallowed_methods, reason = "a test lays its own files")]
fn lay(folder: &TempDir, component: &[u8]) {
    std::fs::write(folder.path().join("p.wasm"), component).unwrap();
}

async fn load(host: &Runtime, source: Source, folder: &TempDir) {
    assert_eq!(host.load(source, folder.path(), Reach::Everywhere).await.unwrap().hooks, 1);
}

async fn load_all(host: &Runtime, packages: &[TempDir]) {
    for (nth, folder) in packages.iter().enumerate() {
        load(host, Source::Plugin(nth.to_string()), folder).await;
    }
}

async fn drop_all(host: &Runtime) {
    host.unregister_all(tacklebox::source::SourceKind::Plugin).ended().await;
}

#[test]
fn the_memory_of_plugins_comes_back_when_they_are_dropped() {
    if !measures() {
        return in_a_process_of_its_own("memory::the_memory_of_plugins_comes_back_when_they_are_dropped");
    }
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio.block_on(async {
        let host = bare().build().await.unwrap();
        let plain = guest(100, 4 * MIB);
        let packages: Vec<_> = (0..10).map(|seed| package(&distinct(&plain, seed))).collect();
        drop(plain);
        // The engine, its thread and its compiler stay: they are there before anything is measured.
        load_all(&host, &packages[..1]).await;
        drop_all(&host).await;
        let mut left = Vec::new();
        let before = resident();
        for round in 1..=3 {
            load_all(&host, &packages).await;
            let growth = resident().saturating_sub(before);
            drop_all(&host).await;
            let after = resident_below(before + growth / 5).await.saturating_sub(before);
            println!("round {round}: {growth} bytes more with ten plugins, {after} of them left without");
            assert!(growth > 30 * MIB, "the plugins are too small to be seen: {growth}");
            assert!(after < growth / 5, "{after} of {growth} bytes did not come back");
            left.push((growth, after));
        }
        let ((growth, first), (_, last)) = (left[0], left[2]);
        assert!(last < first + growth / 10, "it climbs: {left:?}");
    });
}

#[test]
fn loading_and_dropping_a_plugin_again_and_again_does_not_climb() {
    if !measures() {
        return in_a_process_of_its_own("memory::loading_and_dropping_a_plugin_again_and_again_does_not_climb");
    }
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio.block_on(async {
        let host = bare().build().await.unwrap();
        let plain = guest(4, MIB);
        let folder = package(&plain);
        let mut settled = 0;
        for cycle in 0..150 {
            lay(&folder, &distinct(&plain, 2 * cycle));
            load(&host, Source::Plugin("p".into()), &folder).await;
            // Every third time it is replaced while it is there.
            if cycle % 3 == 0 {
                lay(&folder, &distinct(&plain, 2 * cycle + 1));
                load(&host, Source::Plugin("p".into()), &folder).await;
                host.reload().await;
            }
            drop_all(&host).await;
            if cycle == 15 {
                settled = resident();
            }
        }
        let most = settled + 16 * MIB;
        let after = resident_below(most).await;
        println!("{settled} bytes after 20 times, {after} after 200");
        assert!(after < most, "it climbs: {settled} bytes after 20 times, {after} after 200");
        assert!(host.hooks().is_empty());
    });
}
