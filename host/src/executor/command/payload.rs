//! What a command is told about its event, in the sizes that fit and whole in files.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::files::{Contents, Files};
use crate::event::{Event, EventName, Object};
use crate::process::is_scarcity;
use crate::text::capped;
use crate::wire::json::{Fitted, View, Whole};

/// The most bytes of one environment variable's value. Linux takes 128 KiB for name and value together.
pub(super) const VALUE_LIMIT: usize = 96 << 10;

/// An event's payload, ready for a command.
#[derive(Debug)]
pub(super) struct Payload {
    /// Everything, whole.
    pub(super) files: Files,
    /// The arguments as JSON.
    pub(super) input: Fitted,
    /// What the tool printed.
    pub(super) output: Option<Told>,
    /// The prompt.
    pub(super) prompt: Option<Told>,
    arguments: Arc<Object>,
}

/// A text as it is told, and whether that is the whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) text: String,
    pub(super) cut: bool,
}

impl Told {
    /// The text within the cap on texts.
    fn capped(text: &str) -> Self {
        let text = capped(text);
        Self { cut: matches!(text, Cow::Owned(_)), text: text.into_owned() }
    }
}

impl Payload {
    /// Prepares the payload and writes its files, on a thread that may block: an argument can be many megabytes.
    pub(super) async fn of(event: &Event) -> Result<Self, String> {
        let prompt = event.name == EventName::UserPromptSubmit;
        let session_start = event.name == EventName::SessionStart;
        let (arguments, output) = (Arc::clone(&event.input), event.output.clone());
        let work = move || Self::prepared(arguments, output.as_deref(), prompt, session_start);
        match tokio::task::spawn_blocking(work).await {
            Ok(Ok(payload)) => Ok(payload),
            Ok(Err(error)) => Err(format!("its private files could not be written: {error}")),
            Err(error) if error.is_panic() => Err("preparing its payload panicked".to_owned()),
            Err(_) => Err("the host is going down".to_owned()),
        }
    }

    fn prepared(arguments: Arc<Object>, output: Option<&str>, has_prompt: bool, env: bool) -> io::Result<Self> {
        let prompt = arguments.get("prompt").and_then(|p| p.as_str()).filter(|_| has_prompt);
        let told = prompt.map(Told::capped);
        let whole = View::of(&arguments).whole();
        let parent = std::env::temp_dir();
        let files = twice(|| Files::holding(&parent, &Contents { input: whole.json(), output, prompt, env }))?;
        let input = fitted(&whole, &arguments, told.as_ref(), VALUE_LIMIT);
        let output = output.map(Told::capped);
        Ok(Self { files, input, output, prompt: told, arguments: Arc::clone(&arguments) })
    }

    /// The arguments as JSON in so many bytes.
    pub(super) fn input_within(&self, bytes: usize) -> Fitted {
        if bytes >= VALUE_LIMIT {
            return self.input.clone();
        }
        fitted(&View::of(&self.arguments).whole(), &self.arguments, self.prompt.as_ref(), bytes)
    }
}

fn fitted(whole: &Whole<'_>, arguments: &Object, prompt: Option<&Told>, bytes: usize) -> Fitted {
    match prompt.filter(|prompt| prompt.cut) {
        Some(prompt) => {
            let told = View::of(arguments).with_text("prompt", &prompt.text).whole();
            Fitted { cut: true, ..told.within(bytes) }
        }
        None => whole.within(bytes),
    }
}

/// Once more after a pause, where nothing but a moment's scarcity stood in the way.
fn twice<T>(work: impl Fn() -> io::Result<T>) -> io::Result<T> {
    work().or_else(|error| {
        if !is_scarcity(&error) {
            return Err(error);
        }
        std::thread::sleep(Duration::from_millis(100));
        work()
    })
}
