//! The whole order around one tool call.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use tacklebox::event::{
    Consent, Context, EventName, Notification, PermissionRequest, PostToolUse, PreCompact, PreCompactInput, PreToolUse,
    ToolCall,
};
use tacklebox::gate::{CompactGate, Passage, RefusedBy, ToolGate};
use tacklebox::port::{Approval, Prompt, Rule, Rules, Tool};
use tacklebox::{FakeRuntime, HookRuntime};

use crate::agent::{bash, command_input, cx, hook, host, is_about, rewrite};

/// Notes what ran.
#[derive(Default)]
struct Shell(Mutex<Vec<String>>);

#[async_trait]
impl Tool for Shell {
    async fn run(&self, call: &ToolCall, _: &Context) -> Result<String, String> {
        let command = call.input["command"].as_str().unwrap().to_owned();
        self.0.lock().unwrap().push(command);
        Ok("ran".into())
    }
}

/// Answers as told, and notes what was shown.
struct Person(Approval, Mutex<Vec<String>>);

#[async_trait]
impl Prompt for Person {
    async fn ask(&self, call: &ToolCall, _: Option<&str>, _: &Context) -> Approval {
        self.1.lock().unwrap().push(call.input["command"].as_str().unwrap().to_owned());
        self.0.clone()
    }
}

/// Never answers.
struct Asleep;

#[async_trait]
impl Prompt for Asleep {
    async fn ask(&self, _: &ToolCall, _: Option<&str>, _: &Context) -> Approval {
        std::future::pending().await
    }
}

fn person(answer: Approval) -> Arc<Person> {
    Arc::new(Person(answer, Mutex::default()))
}

fn always(rule: Rule) -> Arc<dyn Rules> {
    Arc::new(move |_: &ToolCall, _: &Context| rule.clone())
}

fn fake(fake: FakeRuntime) -> Arc<FakeRuntime> {
    Arc::new(fake)
}

async fn pass(gate: &ToolGate) -> (Passage, Vec<String>) {
    let shell = Shell::default();
    let passage = gate.pass(&bash("ls"), &cx(), &shell).await;
    (passage, shell.0.into_inner().unwrap())
}

fn refused_by(passage: &Passage) -> Option<&RefusedBy> {
    match passage {
        Passage::Refused { refused, .. } => Some(&refused.by),
        Passage::Ran { .. } => None,
    }
}

fn allow() -> PermissionRequest {
    PermissionRequest::Allow { input: None, rewrite: None, reason: None }
}

fn ask() -> PermissionRequest {
    PermissionRequest::Ask { input: None, rewrite: None, reason: Some("look".into()) }
}

fn consent(consent: Consent) -> PreToolUse {
    PreToolUse::Proceed { input: None, rewrite: None, context: None, consent }
}

#[tokio::test]
async fn a_rules_deny_is_final_and_no_permission_hook_is_asked() {
    let hooks = fake(FakeRuntime::new().answers(allow()));
    let gate = ToolGate::new(hooks.clone(), always(Rule::Deny { reason: "no".into() }));
    let (passage, ran) = pass(&gate).await;
    assert_eq!(refused_by(&passage), Some(&RefusedBy::Rules));
    assert!(ran.is_empty());
    assert_eq!(hooks.calls(), ["PreToolUse"]);
}

/// Rule, PreToolUse's consent, PermissionRequest's verdict: is a person asked?
#[tokio::test]
async fn who_spares_a_prompt_and_who_does_not() {
    let passthrough = || PermissionRequest::Passthrough { input: None, rewrite: None, reason: None };
    let no_word = || consent(Consent::Unset);
    let ask_first = || consent(Consent::Ask { reason: None });
    let cases = [
        (Rule::Allow, no_word(), passthrough(), false),
        (Rule::Allow, no_word(), ask(), true),
        (Rule::Allow, ask_first(), allow(), true),
        (Rule::Ask, no_word(), passthrough(), true),
        (Rule::Ask, no_word(), allow(), false),
        (Rule::Ask, consent(Consent::Allow), passthrough(), false),
        (Rule::Ask, consent(Consent::Allow), ask(), true),
        (Rule::Ask, ask_first(), allow(), true),
        (Rule::AskAlways, no_word(), allow(), true),
        (Rule::AskAlways, consent(Consent::Allow), allow(), true),
    ];
    for (rule, pre, permission, asked) in cases {
        let what = format!("{rule:?} {pre:?} {permission:?}");
        let person = person(Approval::Approved);
        let hooks = fake(FakeRuntime::new().answers(pre).answers(permission));
        let (_, ran) = pass(&ToolGate::new(hooks, always(rule)).prompt(person.clone())).await;
        assert_eq!(ran, ["ls"], "{what}");
        assert_eq!(person.1.lock().unwrap().len(), usize::from(asked), "{what}");
    }
}

#[tokio::test]
async fn where_nobody_can_be_asked_the_answer_is_no() {
    let gate = ToolGate::new(fake(FakeRuntime::new()), always(Rule::Ask));
    let (passage, ran) = pass(&gate).await;
    assert_eq!(refused_by(&passage), Some(&RefusedBy::Nobody));
    assert!(ran.is_empty());
}

#[tokio::test]
async fn a_late_answer_is_no() {
    let gate = ToolGate::new(fake(FakeRuntime::new()), always(Rule::Ask))
        .prompt(Arc::new(Asleep))
        .patience(Duration::from_millis(20));
    let (passage, ran) = pass(&gate).await;
    assert_eq!(refused_by(&passage), Some(&RefusedBy::Nobody));
    assert!(ran.is_empty());
}

#[tokio::test]
async fn a_persons_no_is_a_no() {
    let no = Approval::Denied { reason: Some("not now".into()) };
    let gate = ToolGate::new(fake(FakeRuntime::new()), always(Rule::Ask)).prompt(person(no));
    let (passage, ran) = pass(&gate).await;
    assert_eq!(refused_by(&passage), Some(&RefusedBy::Person));
    assert_eq!(passage.for_model(), "not now");
    assert!(ran.is_empty());
}

#[tokio::test]
async fn an_untrusted_project_asks_for_every_call_and_denies_where_nobody_is_there() {
    let hooks = || fake(FakeRuntime::new().answers(PreToolUse::Untrusted).answers(PermissionRequest::Untrusted));
    let person = person(Approval::Approved);
    let gate = ToolGate::new(hooks(), always(Rule::Allow)).prompt(person.clone());
    assert_eq!(pass(&gate).await.1, ["ls"]);
    assert_eq!(person.1.lock().unwrap().len(), 1);
    let (passage, ran) = pass(&ToolGate::new(hooks(), always(Rule::Allow))).await;
    assert_eq!(refused_by(&passage), Some(&RefusedBy::Nobody));
    assert!(ran.is_empty());
}

#[tokio::test]
async fn notification_hooks_hear_of_a_prompt() {
    let hooks = fake(FakeRuntime::new().answers(Notification::Told));
    pass(&ToolGate::new(hooks.clone(), always(Rule::Ask)).prompt(person(Approval::Approved))).await;
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert!(hooks.calls().contains(&"Notification".to_owned()), "{:?}", hooks.calls());
}

#[tokio::test]
async fn a_permission_hooks_rewrite_goes_before_the_guards_once_more() {
    let hooks = host(vec![
        hook(EventName::PreToolUse, "guard", |event| match is_about(event, "rm -rf /") {
            true => tacklebox::outcome::Outcome::block("never"),
            false => tacklebox::outcome::Outcome::pass(),
        }),
        hook(EventName::PermissionRequest, "sly", |_| rewrite("rm -rf /")),
    ])
    .await;
    let (passage, ran) = pass(&ToolGate::new(Arc::new(hooks), always(Rule::Allow))).await;
    assert_eq!(passage.for_model(), "never");
    assert!(ran.is_empty());
}

#[tokio::test]
async fn a_permission_hooks_rewrite_goes_before_the_rules_once_more() {
    let hooks = host(vec![hook(EventName::PermissionRequest, "sly", |_| rewrite("rm -rf /"))]).await;
    let rules = |call: &ToolCall, _: &Context| match call.input["command"] == "rm -rf /" {
        true => Rule::Deny { reason: "the rules say no".into() },
        false => Rule::Allow,
    };
    let (passage, ran) = pass(&ToolGate::new(Arc::new(hooks), Arc::new(rules))).await;
    assert_eq!(refused_by(&passage), Some(&RefusedBy::Rules));
    assert!(ran.is_empty());
}

#[tokio::test]
async fn what_a_person_approved_is_what_runs_and_later_hooks_know_who_changed_it() {
    let seen = Arc::new(Mutex::new(None));
    let noted = seen.clone();
    let hooks = host(vec![
        hook(EventName::PreToolUse, "compact", |_| rewrite("rtk ls")),
        hook(EventName::PostToolUse, "audit", move |event| {
            *noted.lock().unwrap() = event.original.clone();
            tacklebox::outcome::Outcome::pass()
        }),
    ])
    .await;
    let person = person(Approval::Approved);
    let gate = ToolGate::new(Arc::new(hooks), always(Rule::Ask)).prompt(person.clone());
    let (_, ran) = pass(&gate).await;
    assert_eq!(ran, ["rtk ls"]);
    assert_eq!(*person.1.lock().unwrap(), ["rtk ls"]);
    let original = seen.lock().unwrap().clone().unwrap();
    assert_eq!(original.input, command_input("ls"));
    assert_eq!(original.changed_by, ["compact".into()]);
}

#[tokio::test]
async fn a_blocked_call_is_not_run_and_the_model_reads_why() {
    let no = PreToolUse::Blocked { reason: "no".into(), context: Some("try make".into()), stop: false };
    let (passage, ran) = pass(&ToolGate::new(fake(FakeRuntime::new().answers(no)), always(Rule::Allow))).await;
    assert_eq!(passage.for_model(), "no\ntry make");
    assert!(ran.is_empty());
}

#[tokio::test]
async fn a_withheld_output_does_not_reach_the_model() {
    let hidden = PostToolUse::Withheld { reason: "hidden".into(), context: None, stop: false };
    let (passage, _) = pass(&ToolGate::new(fake(FakeRuntime::new().answers(hidden)), always(Rule::Allow))).await;
    assert_eq!(passage.for_model(), "hidden");
}

#[tokio::test]
async fn a_blocked_compaction_is_not_asked_about_again_until_there_is_more() {
    let hooks = FakeRuntime::new().answers(PreCompact::Blocked { reason: "keep it".into() });
    let gate = CompactGate::new();
    let size = |tokens| PreCompactInput { history_length: 1, token_count: Some(tokens) };
    for (tokens, asked) in [(100, 1), (100, 1), (90, 1), (101, 2), (101, 2)] {
        assert!(!gate.ask(&hooks, &size(tokens), &cx()).await.may_proceed());
        assert_eq!(hooks.calls().len(), asked, "{tokens}");
    }
    let hooks: &dyn HookRuntime = &hooks;
    assert!(!gate.ask(hooks, &size(1), &Context::new("another")).await.may_proceed());
}
