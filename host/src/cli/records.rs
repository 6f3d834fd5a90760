//! `--records FILE`: where `run` appends a line a dispatch, with digests instead of contents.

use std::path::Path;
use std::sync::Arc;

use crate::RuntimeBuilder;
use crate::sink::JsonLines;

use super::fault::Fault;

/// The file, where one is named.
pub(super) struct RecordFile(Option<Arc<JsonLines>>);

impl RecordFile {
    /// Opens it.
    pub(super) fn open(file: Option<&Path>) -> anyhow::Result<Self> {
        let Some(file) = file else { return Ok(Self(None)) };
        let lines = JsonLines::append(file).map_err(|error| {
            let hint = "name a file of your own that nobody else may write, or one that does not exist yet";
            Fault::new(format!("`--records`: {error}"), hint)
        })?;
        Ok(Self(Some(Arc::new(lines))))
    }

    /// Has the host write to it.
    pub(super) fn of(&self, builder: RuntimeBuilder) -> RuntimeBuilder {
        match &self.0 {
            Some(lines) => builder.sink(lines.clone()),
            None => builder,
        }
    }

    /// Waits for the last line; why it is not whole, if it is not.
    pub(super) fn close(self) -> Option<String> {
        let lines = self.0?;
        lines.flush();
        lines.problem().map(|problem| format!("the records are not whole: {problem}"))
    }
}
