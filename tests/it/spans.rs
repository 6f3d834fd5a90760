//! What `tracing` is told of a dispatch, and how `-v` shows it.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use tacklebox::HookRuntime as _;
use tacklebox::event::{Event as Moment, EventName, StopInput};
use tacklebox::hook::{FunctionHook, HookSpec};
use tacklebox::outcome::Outcome;
use tacklebox::source::{Reach, Source};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;

use crate::agent::{bare, bash, cx, hook, host, rewrite};
use crate::program::World;

/// Every span and event, one text each: where it stands, and its fields in order.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<String>>>);

#[derive(Default)]
struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        // Times differ from run to run.
        let value = if field.name() == "millis" { "..".to_owned() } else { format!("{value:?}") };
        self.0.push_str(&format!(" {}={value}", field.name()));
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Heard {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, cx: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        cx.span(id).unwrap().extensions_mut().insert(fields);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, cx: Context<'_, S>) {
        values.record(cx.span(id).unwrap().extensions_mut().get_mut::<Fields>().unwrap());
    }

    fn on_event(&self, event: &Event<'_>, cx: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let spans = cx.event_scope(event).into_iter().flatten().map(|span| span.name());
        let path: Vec<_> = spans.collect();
        self.0.lock().unwrap().push(format!("event in {path:?}:{}", fields.0));
    }

    fn on_close(&self, id: Id, cx: Context<'_, S>) {
        let span = cx.span(&id).unwrap();
        let fields = &span.extensions().get::<Fields>().unwrap().0.clone();
        let parent = span.parent().map_or("nothing", |parent| parent.name());
        self.0.lock().unwrap().push(format!("{} under {parent}:{fields}", span.name()));
    }
}

impl Heard {
    /// Listens on this thread until the guard is dropped.
    fn listen(&self) -> DefaultGuard {
        tracing::subscriber::set_default(tracing_subscriber::registry().with(self.clone()))
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    fn one(&self, beginning: &str) -> String {
        let all = self.all();
        let found: Vec<_> = all.iter().filter(|line| line.starts_with(beginning)).collect();
        assert_eq!(found.len(), 1, "{beginning}: {all:#?}");
        found[0].clone()
    }
}

#[tokio::test]
async fn a_dispatch_is_a_span_with_one_under_it_for_each_hook_and_each_fact_is_told_once() {
    let heard = Heard::default();
    let _listening = heard.listen();
    let first = hook(EventName::PreToolUse, "first", |_| {
        tracing::info!("inside");
        Outcome::pass()
    });
    let twin = HookSpec { name: "twin".into(), ..first.clone() };
    let no = hook(EventName::PreToolUse, "no", |_| Outcome::block("not that"));
    let host = host(vec![first, twin, no]).await;
    let answer = host.pre_tool_use(&bash("echo hunter2"), &cx().sub_agent("s1/a", "a1", "helper")).await;
    let (dispatch, revision) = (answer.report.dispatch, answer.report.revision);
    host.unregister_all(Source::Sdk);
    let all = heard.all();
    let told: Vec<_> = all.iter().map(String::as_str).collect();
    let of_the_dispatch = format!(
        "dispatch under nothing: event=\"PreToolUse\" tool=\"bash\" session=\"s1/a\" agent=\"a1\" dispatch=\"{dispatch}\" \
         revision={revision} decision=\"block\" decided_by=\"no\" asked=2 millis=.."
    );
    let about = "generation=1 kind=\"function\" recheck=false";
    assert_eq!(
        told,
        [
            "event in []: message=reloaded revision=1 hooks=0",
            "event in []: message=registered source=sdk generation=1 count=3",
            "event in [\"hook\", \"dispatch\"]: message=inside",
            &format!(
                "hook under dispatch: hook=\"first\" source=sdk {about} outcome=\"continued\" ending=\"answered\" millis=.."
            ),
            "event in [\"dispatch\"]: message=skipped hook=twin source=sdk why=\"equals a hook that is asked before it\"",
            "event in [\"hook\", \"dispatch\"]: message=blocked reason=\"not that\"",
            &format!(
                "hook under dispatch: hook=\"no\" source=sdk {about} outcome=\"blocked\" ending=\"answered\" millis=.."
            ),
            &of_the_dispatch,
            "event in []: message=dropped source=sdk generation=1 count=3",
        ]
    );
    assert!(!format!("{told:?}").contains("hunter2"), "no payload: {told:#?}");
}

#[tokio::test]
async fn what_a_hook_says_later_on_stands_under_its_span_too() {
    let heard = Heard::default();
    let _listening = heard.listen();
    let waits = FunctionHook::new(|_: Moment, _| async {
        tokio::task::yield_now().await;
        tracing::info!("after a while");
        Outcome::pass()
    });
    let host = host(vec![HookSpec::new(EventName::PreToolUse, "waits", waits.into())]).await;
    let other = async {
        for _ in 0..5 {
            tokio::task::yield_now().await;
            tracing::info!("beside it");
        }
    };
    let (call, cx) = (bash("ls"), cx());
    tokio::join!(host.pre_tool_use(&call, &cx), other);
    heard.one("event in [\"hook\", \"dispatch\"]: message=after a while");
    assert_eq!(heard.all().iter().filter(|line| line.contains("in []: message=beside it")).count(), 5);
}

#[tokio::test]
async fn a_missing_answer_is_told_with_its_cause_and_warned_of_once() {
    let heard = Heard::default();
    let _listening = heard.listen();
    let host = host(vec![hook(EventName::Stop, "broken", |_| panic!("out of cheese"))]).await;
    host.stop(&StopInput { reason: "hunter2".into(), attempt: 1 }, &cx()).await;
    let failed = heard.one("event in [\"hook\", \"dispatch\"]: message=failed");
    assert!(failed.contains("out of cheese"), "{failed}");
    assert!(heard.one("hook under dispatch").contains("outcome=\"failed\" ending=\"broke\""));
    let warned = heard.all().iter().filter(|line| line.contains("message=Stop: hook `broken`")).count();
    assert_eq!(warned, 1, "{:#?}", heard.all());
}

#[tokio::test]
async fn an_asking_about_a_rewrite_is_a_span_of_its_own_and_shows_nothing_of_it() {
    let heard = Heard::default();
    let _listening = heard.listen();
    let rewrites = hook(EventName::PreToolUse, "rewrites", |_| rewrite("hunter2"));
    let host = host(vec![hook(EventName::PreToolUse, "guard", |_| Outcome::pass()), rewrites]).await;
    host.pre_tool_use(&bash("ls"), &cx()).await;
    let spans: Vec<_> = heard.all().into_iter().filter(|line| line.starts_with("hook under")).collect();
    let rechecks = spans.iter().map(|span| span.contains("recheck=true")).collect::<Vec<_>>();
    assert_eq!(rechecks, [false, false, true], "{spans:#?}");
    assert!(heard.all().iter().all(|line| !line.contains("hunter2")));
}

#[tokio::test]
async fn without_trust_the_span_says_so() {
    let world = World::with(r#"{"hooks": {"Stop": [{"name": "g", "command": "exit 0"}]}}"#);
    let surroundings =
        tacklebox::surroundings::Surroundings { project: Some(world.path("project")), ..Default::default() };
    let host = tacklebox::Runtime::builder(tacklebox::policy::Trust::Untrusted, surroundings).build().await.unwrap();
    let heard = Heard::default();
    let _listening = heard.listen();
    host.stop(&StopInput { reason: "done".into(), attempt: 1 }, &cx()).await;
    assert!(heard.one("dispatch under").contains("decision=\"untrusted\" asked=0"));
}

#[tokio::test]
async fn where_nobody_listens_a_dispatch_is_the_same() {
    let host = bare().build().await.unwrap();
    host.register(Source::Sdk, Reach::Everywhere, [hook(EventName::PreToolUse, "no", |_| Outcome::block("no"))])
        .unwrap();
    let quiet = host.pre_tool_use(&bash("ls"), &cx()).await.verdict;
    let heard = Heard::default();
    let _listening = heard.listen();
    assert_eq!(host.pre_tool_use(&bash("ls"), &cx()).await.verdict, quiet);
    assert!(!heard.all().is_empty());
}

const GUARD: &str = r#"{"hooks": {"PreToolUse": [
  {"name": "first", "command": "exit 0"},
  {"name": "guard", "matcher": "bash", "command": "printf 'not here\\033[2J' >&2; exit 2"}]}}"#;

#[test]
fn verbose_shows_dispatches_and_hooks_with_their_times_and_twice_what_begins_too() {
    let world = World::with(GUARD);
    let args = ["run", "PreToolUse", "--tool", "bash", "--input", r#"{"command": "hunter2"}"#, "--trust"];
    let once = world.run(&[&args[..], &["-v"]].concat());
    let line = |part: &str| {
        let found = once.err.lines().find(|line| line.contains(part));
        found.unwrap_or_else(|| panic!("{part}: {}", once.err)).to_owned()
    };
    assert!(line("first (project, command): continued in ").ends_with(" ms"));
    assert!(line("guard (project, command): blocked in ").starts_with("  "));
    assert!(line("PreToolUse bash: block by guard, 2 hooks asked, ").ends_with(" ms"));
    assert!(line("guard: blocked reason=").contains("not here\\u{1b}"));
    assert!(!once.err.contains("hunter2") && !once.err.contains('\u{1b}'), "{}", once.err);
    let twice = world.run(&[&args[..], &["-vv"]].concat());
    assert!(twice.err.contains("dispatch begins: event=PreToolUse tool=bash session=cli"), "{}", twice.err);
    assert!(twice.err.contains("hook begins: hook=guard"), "{}", twice.err);
}

#[test]
fn a_batch_is_silent_on_stderr_until_it_is_asked() {
    let world = World::with(GUARD);
    let lines = b"{\"event\":\"PreToolUse\",\"tool\":\"bash\"}\n{\"event\":\"PreToolUse\",\"tool\":\"bash\"}\n";
    assert_eq!(world.feed(&["run", "--batch", "-", "--trust"], lines).err, "");
    let said = world.feed(&["run", "--batch", "-", "--trust", "-v"], lines);
    assert_eq!(said.err.matches("PreToolUse bash: block").count(), 2, "{}", said.err);
    assert_eq!(said.lines().len(), 2);
}

/// What is parsed, spawned or handed to the sandbox on the way is not told either, by whatever crate.
#[tokio::test]
async fn no_kind_of_hook_shows_its_payload_at_any_level() {
    let heard = Heard::default();
    let _listening = heard.listen();
    let plugin = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../example-plugins/no-rm-rf/no-rm-rf.wasm");
    let host = bare().build().await.unwrap();
    host.load(Source::Skill("s".into()), &plugin, Reach::Everywhere).await.unwrap();
    let command = tacklebox::hook::CommandHook::new("cat \"$CLAUDE_TOOL_INPUT_FILE\" > /dev/null");
    let of_a_shell = HookSpec::new(EventName::PreToolUse, "shell", command.into());
    let condition = tacklebox::matching::Condition::new("bash(echo *)").0;
    let of_a_shell = HookSpec { condition: Some(condition), ..of_a_shell };
    host.register(Source::Sdk, Reach::Everywhere, [of_a_shell]).unwrap();
    let asked = host.pre_tool_use(&bash("echo hunter2 && ls"), &cx()).await.report.hooks;
    assert_eq!(asked.len(), 2, "{asked:?}");
    let loud: Vec<_> = heard.all().into_iter().filter(|line| line.contains("hunter2")).collect();
    assert!(loud.is_empty(), "{loud:#?}");
}
