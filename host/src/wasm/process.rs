//! `process`: programs outside the sandbox, each by bare name and only where it was granted.
//!
//! Owns what a call may start and how much it may read of it. How a program is found is said in `lookup`, how it is
//! started and ended in `running`.

mod lookup;
mod running;

use tokio::time::Instant;

pub(super) use self::lookup::{Lookup, Program};
use self::lookup::{Refused, Resolved};
use self::running::Failure;
pub(super) use self::running::its_end;
use super::bindings::process::{Error, Host, Output};
use super::instance::Guest;
use crate::diagnostic::printable;
use crate::permission::is_bare_name;

/// How many programs a call may run.
const MOST_RUNS: usize = 8;
/// How many programs or hosts are named in warnings, and how many characters of a name.
const MOST_NAMED: usize = 8;
const LONGEST_NAME: usize = 64;

/// The programs or hosts that were denied to one call, each with the reason.
#[derive(Debug, Default)]
pub(super) struct Denials {
    all: Vec<(String, &'static str)>,
}

impl Denials {
    pub(super) fn note(&mut self, what: &str, why: &'static str) {
        let what: String = what.chars().take(LONGEST_NAME).collect();
        if self.all.len() < MOST_NAMED && self.all.iter().all(|(known, _)| *known != what) {
            self.all.push((what, why));
        }
    }

    /// A warning for each.
    pub(super) fn warnings(self, plugin: &str) -> impl Iterator<Item = String> {
        let warn = move |(what, why): (String, _)| {
            format!("plugin `{}` was denied `{}`: {why}", printable(plugin), printable(&what))
        };
        self.all.into_iter().map(warn)
    }
}

impl Host for Guest {
    async fn available(&mut self, program: String) -> bool {
        matches!(self.resolve(&program).await, Ok(Resolved { .. }))
    }

    async fn run(&mut self, program: String, args: Vec<String>, stdin: Vec<u8>) -> Result<Output, Error> {
        let found = match self.resolve(&program).await {
            Ok(found) => found,
            Err(Refused::NotThere) => return Err(Error::NotFound),
            Err(Refused::Denied(why)) => {
                self.denials.note(&program, why);
                return Err(Error::Denied);
            }
        };
        if self.runs == MOST_RUNS {
            return Err(Error::Failed(format!("a call may run {MOST_RUNS} programs")));
        }
        self.runs += 1;
        let ran = running::run(found, args, stdin, self.deadline, self.lease.clone()).await;
        ran.map_err(|failure| match failure {
            Failure::TimedOut => Error::TimedOut,
            Failure::Other(why) => Error::Failed(why),
        })
    }
}

impl Guest {
    /// Looks on a thread that may block.
    fn resolve(&self, program: &str) -> impl Future<Output = Result<Resolved, Refused>> + Send + use<> {
        let granted = self.allowance.programs.iter().find(|granted| granted.name() == program);
        let both = granted.cloned().zip(self.outside.clone()).ok_or(Refused::Denied(self.why_not(program)));
        async {
            let (granted, outside) = both?;
            let looked = tokio::task::spawn_blocking(move || granted.resolve(&outside)).await;
            looked.unwrap_or(Err(Refused::NotThere))
        }
    }

    fn why_not(&self, program: &str) -> &'static str {
        if !is_bare_name(program) {
            "the permission `run` is for bare names of programs"
        } else if self.allowance.granted_unasked.allows(program) {
            "the permission `run` is granted for it, and the plugin does not ask for that in `permissions`"
        } else {
            "the permission `run` is not granted"
        }
    }
}

/// By when a call must be over; none while a plugin describes itself, and runs nothing.
pub(super) type Until = Option<Instant>;
