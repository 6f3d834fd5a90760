//! `tacklebox run --batch`: an announcement a line in, a verdict a line out, in order, in one process.
//!
//! A line that cannot be read is answered with `{"error": ..}`, and the batch goes on. Where settings and plugins are
//! watched, what is said of their changes goes into the next verdict's warnings.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::slice;
use std::sync::Arc;
use std::thread;

use anyhow::{Context as _, bail};
use serde::Serialize;
use tokio::sync::mpsc::{Receiver, channel};

use crate::Runtime;
use crate::bus::{Heard, Record, Records};

use super::announcement::Announcement;
use super::exit::Exit;
use super::fault::Fault;
use super::host::{self, HostArgs};
use super::moment::Moment;
use super::out;
use super::records::RecordFile;
use super::verdict::VerdictJson;

/// Where lines come from.
pub(super) type Lines = Box<dyn BufRead + Send>;

#[derive(Serialize)]
struct BadLine {
    error: String,
}

/// Opens the file, or stdin.
pub(super) fn open(file: &Path) -> anyhow::Result<Lines> {
    if file == Path::new("-") {
        return Ok(Box::new(BufReader::new(io::stdin())));
    }
    let opened = File::open(file).with_context(|| file.display().to_string())?;
    Ok(Box::new(BufReader::new(opened)))
}

/// Whether changes of settings and plugins are taken while the batch goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Changes {
    /// They are for the next batch.
    Left,
    /// As they come.
    Taken,
}

/// Answers each line before the next one is asked about.
pub(super) async fn run(lines: Lines, host: HostArgs, records: RecordFile, changes: Changes) -> anyhow::Result<Exit> {
    let runtime = Arc::new(host.open_with(|builder| records.of(builder)).await?);
    let mut before = host::said(&runtime.diagnostics());
    let mut watching = match changes {
        Changes::Taken => Some((runtime.listen(), runtime.watch()?)),
        Changes::Left => None,
    };
    let mut lines = read(lines)?;
    let mut exit = Exit::Fine;
    while let Some(line) = lines.recv().await {
        let line = line.context("reading the batch")?;
        if line.trim_ascii().is_empty() {
            continue;
        }
        before.extend(watching.iter_mut().flat_map(|(news, _)| warnings(news)));
        match answer(&line, &runtime, &mut before).await {
            Ok(verdict) => out::json(&verdict)?,
            Err(error) => {
                out::json(&BadLine { error: Fault::line(&error) })?;
                exit = Exit::Fault;
            }
        }
    }
    match records.close() {
        Some(problem) => bail!(problem),
        None => Ok(exit),
    }
}

/// What was said since the last line.
fn warnings(news: &mut Records) -> Vec<String> {
    let mut said = Vec::new();
    while let Some(heard) = news.try_next() {
        match heard {
            Heard::Missed(count) => said.push(format!("{count} records of what happened were missed")),
            Heard::Record(record) => {
                if let Record::Warning(diagnostic) = &*record {
                    said.extend(host::said(slice::from_ref(diagnostic)));
                }
            }
        }
    }
    said
}

/// `before` is what was said before this line; this verdict takes it along.
async fn answer(line: &[u8], runtime: &Runtime, before: &mut Vec<String>) -> anyhow::Result<VerdictJson> {
    let (moment, cx, doubts) = Moment::of(Announcement::read(line)?)?;
    let answered = moment.announce(runtime, &cx).await;
    let before = std::mem::take(before).into_iter().chain(doubts).collect();
    Ok(VerdictJson::new(answered, before))
}

/// Reads on a thread of its own: while it waits for a line, what hooks left to be done goes on, and a signal is heard.
fn read(mut lines: Lines) -> anyhow::Result<Receiver<io::Result<Vec<u8>>>> {
    let (to, from) = channel(1);
    let all = move || {
        loop {
            let mut line = Vec::new();
            let read = match lines.read_until(b'\n', &mut line) {
                Ok(0) => return,
                Ok(_) => Ok(line),
                Err(error) => Err(error),
            };
            let failed = read.is_err();
            if to.blocking_send(read).is_err() || failed {
                return;
            }
        }
    };
    thread::Builder::new().name("batch".to_owned()).spawn(all).context("no thread to read the batch")?;
    Ok(from)
}
