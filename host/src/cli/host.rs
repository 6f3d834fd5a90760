//! The host that the program builds: the project's and the user's settings, and the plugins named beside them.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use async_trait::async_trait;

use crate::diagnostic::{Diagnostic, printable, printable_path};
use crate::policy::Trust;
use crate::port::{Model, ModelError, Question};
use crate::provider::{HttpModel, Provider};
use crate::source::{Reach, Source};
use crate::surroundings::Surroundings;
use crate::trust::{TrustStore, TrustedBy};
use crate::{Runtime, RuntimeBuilder};

use super::conduct;
use super::fault::Fault;
use super::style::DIM;

const HEADING: &str = "Which hooks";

/// Which hooks there are.
#[derive(Debug, clap::Args)]
pub(super) struct HostArgs {
    /// The project whose settings are read [default: the current folder]
    #[arg(long, value_name = "DIR", help_heading = HEADING)]
    project: Option<PathBuf>,
    /// A plugin to load besides: a component, or a folder with a plugin.json; may be repeated
    #[arg(long = "plugin", value_name = "FILE", help_heading = HEADING)]
    plugins: Vec<PathBuf>,
    /// Who brings these plugins
    #[arg(long, value_name = "SOURCE", default_value = "session:cli", help_heading = HEADING)]
    source: Source,
    /// Trust what the project brings, whatever that is, without looking into the trust store
    #[arg(long, help_heading = HEADING)]
    trust: bool,
}

impl HostArgs {
    /// Builds it, guarded: a batch that watches its settings does not lose a guard to them.
    pub(super) async fn open(&self) -> anyhow::Result<Runtime> {
        self.open_with(|builder| builder).await
    }

    /// Builds it, with what one command alone wants of it.
    pub(super) async fn open_with(
        &self,
        more: impl FnOnce(RuntimeBuilder) -> RuntimeBuilder,
    ) -> anyhow::Result<Runtime> {
        let surroundings = surroundings(self.project.as_deref())?;
        let trust: TrustedBy = match self.trust {
            true => Trust::Trusted.into(),
            false => TrustStore::of_this_user(&surroundings).into(),
        };
        let mut builder = Runtime::builder(trust, surroundings.clone()).compile_cache().guarded_reload();
        if let Some(provider) = Provider::of(&surroundings) {
            builder = builder.model(model(provider));
        }
        let runtime = more(builder).build().await?;
        for plugin in &self.plugins {
            let loading = runtime.load(self.source.clone(), plugin, Reach::Everywhere);
            conduct::telling(loading, || compiling(plugin)).await?;
        }
        Ok(runtime)
    }
}

/// The model at `provider`. One that is not set up well spoils nothing but the hooks that ask it.
fn model(provider: Provider) -> Arc<dyn Model> {
    match HttpModel::new(provider) {
        Ok(model) => Arc::new(model),
        Err(error) => Arc::new(Unusable(error.to_string())),
    }
}

/// A model that cannot be asked.
struct Unusable(String);

#[async_trait]
impl Model for Unusable {
    async fn ask(&self, _: &Question) -> Result<String, ModelError> {
        Err(ModelError::Unusable(self.0.clone()))
    }
}

/// What a host of this project knows of the machine; without one, of the current folder.
pub(super) fn surroundings(project: Option<&Path>) -> anyhow::Result<Surroundings> {
    let project = project.unwrap_or(Path::new("."));
    let about = std::fs::metadata(project).with_context(|| project.display().to_string())?;
    if !about.is_dir() {
        let hint = "give the folder that holds `.freecode`";
        return Err(Fault::new(format!("{}: not a folder", project.display()), hint).into());
    }
    Ok(Surroundings::of_this_process(normal(project)))
}

/// `.` at the end of every path that is printed helps nobody.
fn normal(project: &Path) -> PathBuf {
    std::path::absolute(project).map_or_else(|_| project.to_owned(), |path| path.components().collect())
}

/// Tells whoever sits before a terminal what is waited for.
pub(super) fn compiling(plugin: &Path) {
    if std::io::stderr().is_terminal() {
        let plugin = printable_path(plugin);
        let _ =
            writeln!(anstream::stderr().lock(), "{DIM}compiling {plugin}, and keeping that for the next time{DIM:#}");
    }
}

/// What to say of a project that is not trusted.
pub(super) fn untrusted() -> String {
    "the project brings hooks and is not trusted, so no hook ran; look at them with `tacklebox trust`, which asks"
        .to_owned()
}

/// The words of what was said while settings and plugins were loaded.
pub(super) fn said(diagnostics: &[Diagnostic]) -> Vec<String> {
    diagnostics.iter().map(|diagnostic| printable(&diagnostic.to_string())).collect()
}
