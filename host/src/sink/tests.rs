//! Disks that are slow, full or broken, and files that are not taken.

use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::mpsc;
use std::time::SystemTime;

use serde_json::Value;

use super::*;
use crate::event::{Context, Decision, EventName};
use crate::id::{DispatchId, Revision};
use crate::report::Report;

/// A record whose number stands in its session.
fn record(number: usize) -> DispatchRecord {
    let report = Report::new(EventName::Stop, DispatchId::fresh(), Revision(1));
    DispatchRecord::new(&report, Decision::Allow, &Context::new(number.to_string()), SystemTime::now())
}

/// What the lines say: a session, or how many are missing.
fn said(text: &str) -> Vec<String> {
    let read = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        match line["type"].as_str().unwrap() {
            "missed" => format!("missed {}", line["count"]),
            _ => line["session"].as_str().unwrap().to_owned(),
        }
    };
    text.lines().map(read).collect()
}

/// A disk that can be as slow, as full or as broken as a test wants.
#[derive(Clone, Default)]
struct Disk(Arc<Mutex<Vec<u8>>>);

impl Disk {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

/// Writes as a closure says: how many bytes of these, or why not.
struct Writes<F>(Disk, F);

impl<F: FnMut(&[u8]) -> io::Result<usize>> Write for Writes<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = (self.1)(bytes)?;
        self.0.0.lock().unwrap().extend_from_slice(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn lines_on(disk: &Disk, most: usize, write: impl FnMut(&[u8]) -> io::Result<usize> + Send + 'static) -> JsonLines {
    let path = Path::new("records.jsonl");
    JsonLines::over(path, Appending::over(path, Writes(disk.clone(), write)), most).unwrap()
}

#[test]
fn what_does_not_fit_is_counted_where_it_would_stand_and_nobody_waits_for_the_disk() {
    let disk = Disk::default();
    let (begun, has_begun) = mpsc::channel();
    let (go, may_go) = mpsc::channel::<()>();
    let lines = lines_on(&disk, 2, move |bytes| {
        // Where the test is over it need not wait any longer.
        let _ = begun.send(());
        let _ = may_go.recv();
        Ok(bytes.len())
    });
    lines.record(&record(0));
    has_begun.recv().unwrap();
    // The disk stands still; two wait, and three are missed.
    (1..=5).for_each(|number| lines.record(&record(number)));
    go.send(()).unwrap();
    has_begun.recv().unwrap();
    // Now one has room.
    lines.record(&record(6));
    lines.record(&record(7));
    drop(go);
    lines.flush();
    assert_eq!(said(&disk.text()), ["0", "1", "2", "missed 3", "6", "missed 1"]);
    lines.record(&record(8));
    drop(lines);
    assert_eq!(said(&disk.text()).last().unwrap(), "8");
}

#[test]
fn what_cannot_be_written_is_told_once_and_counted_when_it_can_again() {
    let disk = Disk::default();
    let mut calls = 0;
    let lines = lines_on(&disk, QUEUE, move |bytes| {
        calls += 1;
        match calls {
            // A full disk takes a piece of the second line, and nothing for a while.
            2 => Ok(10),
            3..=5 => Err(ErrorKind::StorageFull.into()),
            6 => Err(ErrorKind::Interrupted.into()),
            _ => Ok(bytes.len()),
        }
    });
    assert_eq!(lines.problem(), None);
    for number in 0..5 {
        lines.record(&record(number));
        lines.flush();
    }
    let text = disk.text();
    let (whole, torn): (Vec<_>, Vec<_>) = text.lines().partition(|line| line.ends_with('}'));
    assert_eq!((torn.len(), torn[0].len()), (1, 10), "{text}");
    let whole = said(&whole.join("\n"));
    assert_eq!(whole[0], "0");
    assert!(whole.iter().any(|line| line.starts_with("missed")) && whole.last().unwrap() == "4", "{whole:?}");
    let problem = lines.problem().unwrap();
    assert!(problem.starts_with("records.jsonl: "), "{problem}");
}

#[test]
fn a_line_is_one_write() {
    let disk = Disk::default();
    let lines = lines_on(&disk, QUEUE, |bytes| {
        assert_eq!(bytes.iter().filter(|byte| **byte == b'\n').count(), 1);
        assert!(bytes.ends_with(b"\n"));
        Ok(bytes.len())
    });
    (0..100).for_each(|number| lines.record(&record(number)));
    drop(lines);
    assert_eq!(disk.text().lines().count(), 100);
}

#[test]
fn two_that_append_to_one_file_leave_whole_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.jsonl");
    let both = [(); 2].map(|()| JsonLines::append(&path).unwrap());
    std::thread::scope(|scope| {
        for lines in &both {
            scope.spawn(move || {
                for number in 0..500 {
                    lines.record(&record(number));
                    if number % 100 == 0 {
                        lines.flush();
                    }
                }
            });
        }
    });
    drop(both);
    let said = said(&std::fs::read_to_string(&path).unwrap());
    assert_eq!(said.len(), 1000);
}

#[test]
fn a_file_is_made_for_its_owner_alone_and_one_that_is_there_is_appended_to_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.jsonl");
    let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    JsonLines::append(&path).unwrap().record(&record(1));
    assert_eq!(mode(), 0o600);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    JsonLines::append(&path).unwrap().record(&record(2));
    assert_eq!((mode(), said(&std::fs::read_to_string(&path).unwrap())), (0o644, vec!["1".to_owned(), "2".to_owned()]));
    for open in [0o620, 0o602, 0o666] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(open)).unwrap();
        let error = JsonLines::append(&path).unwrap_err().to_string();
        assert!(error.ends_with("records.jsonl: others may write it"), "{error}");
        assert_eq!(mode(), open, "it is left as it is");
    }
}

#[test]
fn a_link_a_folder_and_what_is_no_file_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let target = at("target");
    symlink(&target, at("dangling")).unwrap();
    let refused = |name: &str| JsonLines::append(at(name)).unwrap_err().to_string();
    assert!(refused("dangling").contains("symbolic link"), "{}", refused("dangling"));
    assert!(!target.exists(), "nothing was made behind it");
    drop(JsonLines::append(&target).unwrap());
    symlink(&target, at("link")).unwrap();
    assert!(refused("link").contains("symbolic link"));
    std::fs::create_dir(at("folder")).unwrap();
    assert!(refused("folder").contains("folder"));
    rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    assert!(refused("pipe").contains("not a regular file"), "{}", refused("pipe"));
    assert!(refused("none/records").contains("none/records"));
}
