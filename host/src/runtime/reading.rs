//! Reading the settings files as a host lives with them: a broken save keeps what was read before, and one that is gone
//! has some time to come back.

use std::sync::PoisonError;
use std::time::Duration;

use crate::diagnostic::{Diagnostic, Place};
use crate::settings;
use crate::wire::settings::Parsed;

use super::Runtime;
use super::origins::Reads;

/// How long a settings file may be gone before it counts as gone.
const GRACE: Duration = Duration::from_secs(2);

impl Runtime {
    /// Returns when every file that could be read before is there again, or [`GRACE`] is over.
    pub(super) async fn wait_for_what_vanished(&self) {
        let until = tokio::time::Instant::now() + GRACE;
        while self.something_vanished() && tokio::time::Instant::now() < until {
            tokio::time::sleep(GRACE / 20).await;
        }
    }

    fn something_vanished(&self) -> bool {
        let good = self.loading.good.lock().unwrap_or_else(PoisonError::into_inner);
        good.keys().any(|path| !path.exists())
    }

    pub(super) fn read_settings(&self, reads: &Reads) -> Vec<Parsed> {
        let mut good = self.loading.good.lock().unwrap_or_else(PoisonError::into_inner);
        let surroundings = &self.dispatcher.surroundings;
        settings::candidates(surroundings).iter().for_each(|file| reads.look(&file.path));
        let mut files = Vec::new();
        for file in settings::locate(surroundings) {
            let Some(parsed) = settings::read(&file, &self.events, surroundings) else {
                if good.remove(&file.path).is_some() {
                    let gone = Diagnostic::warning(Place::file(&file.path), "the file is gone, and its hooks with it");
                    files.push(Parsed { diagnostics: vec![gone], ..Parsed::empty(file) });
                }
                continue;
            };
            if parsed.readable {
                good.insert(file.path, parsed.clone());
                files.push(parsed);
            } else if let Some(before) = good.get(&file.path) {
                files.push(Parsed { diagnostics: parsed.diagnostics, ..before.clone() });
            } else {
                files.push(parsed);
            }
        }
        files
    }
}
