//! Tacklebox runs an agent's lifecycle hooks: shell commands, questions to a model, functions, and WASM plugins in a
//! sandbox.
//!
//! An agent announces a moment of its life (before a tool runs, when a prompt is sent, when a session ends). Tacklebox
//! finds the hooks that are registered for it, asks them in order, and hands back one typed verdict with a report of who
//! said what. What a hook may say is in `HOOKS.md` beside this crate, the map of the code in `ARCHITECTURE.md`.
//!
//! ```
//! use tacklebox::event::{Context, EventName, Object, PreToolUse, ToolCall};
//! use tacklebox::hook::{CommandHook, HookSpec};
//! use tacklebox::policy::Trust;
//! use tacklebox::source::{Reach, Source};
//! use tacklebox::surroundings::Surroundings;
//! use tacklebox::{HookRuntime, Runtime};
//!
//! # let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! # tokio.block_on(async {
//! // Trust has no default: a repository's hooks are a stranger's code.
//! let runtime = Runtime::builder(Trust::Trusted, Surroundings::of_this_process("."))
//!     .without_settings()
//!     .build()
//!     .await?;
//! let guard = CommandHook::new("case \"$CLAUDE_TOOL_INPUT\" in *secret*) echo 'not that' >&2; exit 2;; esac");
//! let guard = HookSpec::new(EventName::PreToolUse, "guard", guard.into());
//! runtime.register(Source::Sdk, Reach::Everywhere, [guard])?;
//!
//! let call = ToolCall::new("bash", Object::from_iter([("command".to_owned(), "cat secret.txt".into())]));
//! let answer = runtime.pre_tool_use(&call, &Context::new("session-1")).await;
//! assert!(matches!(answer.verdict, PreToolUse::Blocked { reason, .. } if reason == "not that"));
//! assert_eq!(answer.report.decided_by.unwrap().hook.as_str(), "guard");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Where to look:
//!
//! - [`Runtime`] is what an embedder holds; [`HookRuntime`] is its face, with a method for each event, and
//!   [`FakeRuntime`] stands in for it in tests; [`gate::ToolGate`] takes a tool call the whole way.
//! - [`event`]: the one table of events, what each hands over, and its verdict; [`report`]: how a verdict came about.
//! - [`hook`], [`matching`], [`outcome`]: what is registered, whom it is about, what it may answer.
//! - [`source`], [`registry`], [`policy`]: who brings hooks, how sets come and go, whose word counts; [`permission`],
//!   [`limits`]: what a plugin may do and use up; [`trust`]: what a project brings to run, and the store of what a person trusts.
//! - [`bus`]: what happens, as it happens, for whoever listens; [`record`], [`sink`]: a line a dispatch, without contents.
//! - [`settings`], [`wire`]: the files people write; [`port`]: what the embedder supplies.
//! - `Runtime::watch` (feature `watch`): changes of settings and plugins, taken as they come.
//! - `wasm` (feature `wasm`): the sandbox; `provider` (feature `http`): a model for prompt hooks; `cli` (feature `cli`):
//!   the program.

pub mod aside;
pub mod ask;
pub mod bus;
#[cfg(feature = "cli")]
pub mod cli;
pub mod diagnostic;
pub mod dispatch;
pub mod event;
pub mod executor;
pub mod gate;
pub mod hook;
pub mod id;
pub mod life;
pub mod limits;
pub mod matching;
pub mod once;
pub mod outcome;
pub mod permission;
pub mod plugin;
pub mod policy;
pub mod port;
mod process;
#[cfg(feature = "http")]
pub mod provider;
pub mod record;
pub mod registry;
pub mod report;
pub mod runtime;
pub mod session;
pub mod settings;
pub mod sink;
pub mod source;
pub mod surroundings;
pub mod text;
pub mod trust;
#[cfg(feature = "wasm")]
pub mod wasm;
#[cfg(feature = "watch")]
mod watch;
pub mod wire;

pub use dispatch::fold::InputView;
pub use port::HookRuntime;
pub use runtime::{FakeRuntime, Runtime, RuntimeBuilder};
