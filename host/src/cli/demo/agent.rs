//! The agent's side: three real tools, its rules, and a person who approves what is put before them.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;

use crate::event::{Context, ToolCall};
use crate::port::{Approval, Prompt, Rule, Tool};

/// `bash`, `read` and `write` in the demo's project.
pub(super) struct Tools {
    project: PathBuf,
}

impl Tools {
    pub(super) fn new(project: PathBuf) -> Self {
        Self { project }
    }

    #[expect(clippy::disallowed_methods, reason = "this is the agent's shell, not a hook's")]
    async fn bash(&self, command: &str) -> Result<String, String> {
        let output = tokio::process::Command::new("bash")
            .args(["-c", command])
            .current_dir(&self.project)
            .stdin(std::process::Stdio::null())
            .output()
            .await
            .map_err(|error| format!("bash: {error}"))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        match output.status.success() {
            true => Ok(text),
            false => Err(format!("{}{text}", String::from_utf8_lossy(&output.stderr))),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "this is the agent's tool: it writes the demo's own files")]
    fn write(&self, path: &Path, content: &str) -> Result<String, String> {
        std::fs::write(path, content).map_err(|error| error.to_string())?;
        Ok(format!("wrote {} bytes", content.len()))
    }
}

#[async_trait]
impl Tool for Tools {
    async fn run(&self, call: &ToolCall, _: &Context) -> Result<String, String> {
        let argument = |name: &str| call.input.get(name).and_then(|value| value.as_str()).unwrap_or_default();
        let path = self.project.join(argument("path"));
        match call.tool.as_str() {
            "bash" => self.bash(argument("command")).await,
            "read" => std::fs::read_to_string(path).map_err(|error| error.to_string()),
            "write" => self.write(&path, argument("content")),
            other => Err(format!("no tool `{other}`")),
        }
    }
}

/// A shell that greps is asked about, all else is allowed.
pub(super) fn rules(call: &ToolCall, _: &Context) -> Rule {
    let greps = |value: &serde_json::Value| value.as_str().is_some_and(|command| command.starts_with("grep"));
    match call.input.get("command") {
        Some(command) if greps(command) => Rule::Ask,
        _ => Rule::Allow,
    }
}

/// A person who reads what is asked and says yes.
#[derive(Default)]
pub(super) struct Person {
    asked: AtomicBool,
}

impl Person {
    /// Whether the person was asked since this was last looked at.
    pub(super) fn was_asked(&self) -> bool {
        self.asked.swap(false, Ordering::Relaxed)
    }
}

#[async_trait]
impl Prompt for Person {
    async fn ask(&self, _: &ToolCall, _: Option<&str>, _: &Context) -> Approval {
        self.asked.store(true, Ordering::Relaxed);
        Approval::Approved
    }
}
