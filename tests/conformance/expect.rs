//! What may be expected of a verdict, and how each expectation is checked.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::case::expanded;

/// What must hold. What is not named may be as it likes; `null` means that the verdict has no such key.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Expect {
    #[serde(default, deserialize_with = "given")]
    decision: Option<Value>,
    #[serde(default, deserialize_with = "given")]
    reason: Option<Value>,
    #[serde(default, deserialize_with = "given")]
    modified_input: Option<Value>,
    #[serde(default, deserialize_with = "given")]
    input: Option<Value>,
    #[serde(default, deserialize_with = "given")]
    modified_output: Option<Value>,
    #[serde(default, deserialize_with = "given")]
    additional_context: Option<Value>,
    #[serde(default, deserialize_with = "given")]
    consent: Option<Value>,
    reason_contains: Option<String>,
    context_contains: Option<String>,
    warns_about: Option<String>,
    warns: Option<bool>,
    ran: Option<Vec<String>>,
    outcomes: Option<BTreeMap<String, String>>,
    max_millis: Option<u64>,
    no_process: Option<String>,
}

/// `null` is a value, and not the same as no key.
fn given<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

impl Expect {
    /// The keys that must be equal.
    fn equal(&self) -> [(&'static str, &Option<Value>); 7] {
        [
            ("decision", &self.decision),
            ("reason", &self.reason),
            ("modifiedInput", &self.modified_input),
            ("input", &self.input),
            ("modifiedOutput", &self.modified_output),
            ("additionalContext", &self.additional_context),
            ("consent", &self.consent),
        ]
    }

    /// Whether nothing is expected at all.
    pub(crate) fn is_empty(&self) -> bool {
        let Self {
            reason_contains, context_contains, warns_about, warns, ran, outcomes, max_millis, no_process, ..
        } = self;
        self.equal().iter().all(|(_, value)| value.is_none())
            && [reason_contains, context_contains, warns_about, no_process].iter().all(|text| text.is_none())
            && warns.is_none()
            && ran.is_none()
            && max_millis.is_none()
            && outcomes.as_ref().is_none_or(BTreeMap::is_empty)
    }

    /// Checks a verdict that took so long; `seen` are all warnings of the process so far, this verdict's last.
    pub(crate) fn check(&self, verdict: &Value, took: Duration, seen: &[String]) -> anyhow::Result<()> {
        ensure!(verdict.get("error").is_none(), "the line was refused");
        for (key, expected) in self.equal() {
            let Some(expected) = expected else { continue };
            let expected = expanded(expected)?;
            let found = verdict.get(key).cloned().unwrap_or_default();
            ensure!(found == expected, "`{key}` is {}, expected {}", short(&found), short(&expected));
        }
        contains(verdict, "reason", self.reason_contains.as_deref())?;
        contains(verdict, "additionalContext", self.context_contains.as_deref())?;
        self.check_warnings(verdict, seen)?;
        self.check_hooks(verdict)?;
        if let Some(most) = self.max_millis {
            ensure!(took < Duration::from_millis(most), "took {} ms, expected less than {most}", took.as_millis());
        }
        self.no_process.as_deref().map_or(Ok(()), none_is_left)
    }

    fn check_warnings(&self, verdict: &Value, seen: &[String]) -> anyhow::Result<()> {
        if let Some(about) = &self.warns_about {
            ensure!(seen.iter().any(|warning| warning.contains(about)), "no warning is about {about:?}: {seen:?}");
        }
        if let Some(warns) = self.warns {
            let own = verdict.get("warnings").and_then(Value::as_array).is_some_and(|all| !all.is_empty());
            ensure!(own == warns, "expected {} warning: {seen:?}", if warns { "some" } else { "no" });
        }
        Ok(())
    }

    fn check_hooks(&self, verdict: &Value) -> anyhow::Result<()> {
        let hooks = verdict.get("hooks").and_then(Value::as_array).context("the verdict has no `hooks`")?;
        let text = |hook: &Value, key: &str| hook.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        if let Some(expected) = &self.ran {
            let ran = hooks.iter().filter(|hook| text(hook, "outcome") != "skipped");
            let ran: Vec<_> = ran.map(|hook| text(hook, "name")).collect();
            ensure!(ran == *expected, "{ran:?} ran, expected {expected:?}");
        }
        for (name, expected) in self.outcomes.iter().flatten() {
            match hooks.iter().find(|hook| text(hook, "name") == *name) {
                Some(hook) => {
                    let outcome = text(hook, "outcome");
                    ensure!(outcome == *expected, "`{name}` {outcome}, expected {expected}");
                }
                None => bail!("`{name}` is not among the hooks"),
            }
        }
        Ok(())
    }
}

fn contains(verdict: &Value, key: &str, part: Option<&str>) -> anyhow::Result<()> {
    let Some(part) = part else { return Ok(()) };
    let text = verdict.get(key).and_then(Value::as_str).unwrap_or_default();
    ensure!(text.contains(part), "`{key}` is {}, expected something with {part:?}", short(&text.into()));
    Ok(())
}

/// Whether no process has this command line; what was told to end has a moment to do so.
fn none_is_left(command: &str) -> anyhow::Result<()> {
    let until = Instant::now() + Duration::from_secs(3);
    while is_running(command)? {
        ensure!(Instant::now() < until, "a process still runs as {command:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

fn is_running(command: &str) -> anyhow::Result<bool> {
    for entry in std::fs::read_dir("/proc")? {
        // A process may end while we look.
        let Ok(line) = std::fs::read(entry?.path().join("cmdline")) else { continue };
        let words: Vec<_> = line.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
        if words.join(" ").trim_end() == command {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A value that may be very long, for a message.
pub(crate) fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(300) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text,
    }
}
