//! `process`: programs outside the sandbox. Nothing is granted in this version: every call is denied, and says so.

use super::bindings::process::{Error, Host, Output};
use super::instance::Guest;

/// How many programs are named in warnings, and how many characters of a name.
const MOST_NAMED: usize = 8;
const LONGEST_NAME: usize = 64;

/// The programs that were denied to one call.
#[derive(Debug, Default)]
pub(super) struct Denials {
    programs: Vec<String>,
}

impl Denials {
    fn note(&mut self, program: &str) {
        let program: String = program.chars().take(LONGEST_NAME).collect();
        if self.programs.len() < MOST_NAMED && !self.programs.contains(&program) {
            self.programs.push(program);
        }
    }

    /// A warning for each.
    pub(super) fn warnings(self, plugin: &str) -> impl Iterator<Item = String> {
        let warn =
            move |program| format!("plugin `{plugin}` was denied `{program}`: the permission `run` is not granted");
        self.programs.into_iter().map(warn)
    }
}

impl Host for Guest {
    fn available(&mut self, _: String) -> bool {
        false
    }

    fn run(&mut self, program: String, _: Vec<String>, _: Vec<u8>) -> Result<Output, Error> {
        self.denials.note(&program);
        Err(Error::Denied)
    }
}
