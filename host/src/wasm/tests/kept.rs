//! Instances that outlast a call: who sees them, what ends them, and what of a call never reaches the next.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::asking::{Asking, REMEMBER, guest, guest_with, load, plugins, plugins_with};
use super::guests::{file, told};
use crate::ask::Asked;
use crate::life::SessionLives;
use crate::outcome::{Cause, Limit, Outcome};
use crate::plugin::Code;
use crate::source::Source;
use crate::wasm::{Limits, Owner, Plugins};

async fn misbehave(plugins: &Plugins) -> Arc<dyn Code> {
    load(plugins, &file("tests/guests/misbehave/misbehave.wasm")).await
}

/// Does so in this session's instance.
fn deed(session: &str, deed: &str) -> Asking {
    told(json!({"do": deed})).in_session(session)
}

/// The number that the instance has in memory: 1 in a fresh one.
async fn count(code: &dyn Code, session: &str) -> String {
    deed(session, "remember").context(code).await
}

/// Waits for it, on a machine that may be busy.
async fn until(what: impl Fn() -> bool) {
    for _ in 0..3_000 {
        if what() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it never came");
}

#[tokio::test]
async fn the_calls_of_a_session_share_an_instance_and_nobody_else_sees_it() {
    let plugins = plugins();
    let (code, other) = (misbehave(&plugins).await, misbehave(&plugins).await);
    for expected in ["1", "2", "3"] {
        assert_eq!(count(&*code, "s1").await, expected);
    }
    assert_eq!(count(&*code, "s2").await, "1");
    assert_eq!(count(&*other, "s1").await, "1", "the same bytes, loaded for somebody else");
    assert_eq!(told(json!({"do": "remember"})).context(&*code).await, "1", "a hook that does not ask for it");
    assert_eq!(count(&*code, "s1").await, "4");
}

#[tokio::test]
async fn a_sub_agent_has_its_own() {
    let code = misbehave(&plugins()).await;
    assert_eq!(count(&*code, "root").await, "1");
    let mut asking = deed("child", "remember");
    asking.cx.root_session = "root".into();
    assert_eq!(asking.context(&*code).await, "1");
    assert_eq!(count(&*code, "root").await, "2");
}

#[tokio::test]
async fn whatever_goes_wrong_ends_it_and_what_a_plugin_says_itself_does_not() {
    let plugins = plugins();
    let code = misbehave(&plugins).await;
    for bad in ["panic", "recurse", "allocate", "huge", "invalid-json"] {
        assert_eq!(count(&*code, "s").await, "1", "before {bad}");
        assert_eq!(count(&*code, "s").await, "2", "before {bad}");
        assert!(matches!(deed("s", bad).of(&*code).await.outcome, Outcome::NoAnswer(_)), "{bad}");
        assert_eq!(plugins.room.kept.count(), 0, "after {bad}");
    }
    let spin = deed("s", "spin").within(Duration::from_millis(100)).cause(&*code).await;
    assert_eq!(spin, Cause::TimedOut(Duration::from_millis(100)));
    assert_eq!(count(&*code, "s").await, "1");
    for good in ["err", "block", "continue", "log-flood", "process"] {
        deed("s", good).of(&*code).await;
    }
    assert_eq!(count(&*code, "s").await, "2");
}

#[tokio::test]
async fn a_call_that_is_cancelled_ends_it_and_gives_its_place_back() {
    let plugins = plugins_with(2, 0);
    let code = misbehave(&plugins).await;
    assert_eq!(count(&*code, "s").await, "1");
    for _ in 0..3 {
        let given_up = tokio::time::timeout(Duration::from_millis(30), deed("s", "spin").of(&*code)).await;
        assert!(given_up.is_err());
        assert_eq!(plugins.room.kept.count(), 0);
    }
    assert_eq!(count(&*code, "s").await, "1");
}

#[tokio::test]
async fn each_call_has_its_own_config_and_its_own_log() {
    let code = misbehave(&plugins()).await;
    assert_eq!(count(&*code, "s").await, "1");
    let flood = deed("s", "log-flood").of(&*code).await;
    assert_eq!((flood.log.len(), flood.warnings.len()), (100, 1));
    let quiet: Asked = deed("s", "process").of(&*code).await;
    assert_eq!((quiet.log.len(), quiet.warnings.len()), (0, 1), "{:?}", quiet.warnings);
    assert!(quiet.warnings[0].contains("was denied"));
    let echo = told(json!({"do": "echo", "to": "other"})).in_session("s");
    let echo: serde_json::Value = serde_json::from_str(&echo.context(&*code).await).unwrap();
    assert_eq!(echo["config"], json!({"do": "echo", "to": "other"}));
    let answer = deed("s", "continue").of(&*code).await;
    assert_eq!((answer.log.len(), answer.warnings.len()), (0, 0));
    assert_eq!(count(&*code, "s").await, "2", "all of that was one instance");
}

#[tokio::test]
async fn each_call_may_answer_as_its_own_input_allows() {
    // Blocks with 3 MiB, which is right for an input of half of that alone.
    let says = "(drop (memory.grow (i32.const 100))) (call $block (i32.const 131072) (i32.const 3145728))";
    let code = load(&plugins(), &guest(says)).await;
    assert_eq!(Asking::bash(&"x".repeat(3 << 19)).in_session("s").reason(&*code).await.len(), 3 << 20);
    let cause = Asking::bash("ls").in_session("s").cause(&*code).await;
    assert_eq!(cause, Cause::Limit(Limit::Answer(1 << 20)));
}

#[tokio::test]
async fn processor_time_is_counted_for_each_call() {
    // Long enough for some ticks, which is when a guest's time is looked at.
    let works = "(local $n i32)
        (loop $again
          (local.set $n (i32.add (local.get $n) (i32.const 1)))
          (br_if $again (i32.lt_u (local.get $n) (i32.const 100000000))))";
    let plugins = plugins();
    let limits = Limits { processor: Duration::from_secs(60), ..Limits::default() };
    let bytes = guest(&format!("{works} {REMEMBER}"));
    let code = plugins.load(&bytes, Owner::new(Source::Sdk), limits).await.unwrap();
    let asking = Asking::bash("ls").within(Duration::from_secs(300)).in_session("s");
    for expected in ["1", "2", "3"] {
        assert_eq!(asking.context(&*code).await, expected);
        plugins.room.kept.charge(limits.processor);
    }
}

/// Takes so many pages, then counts.
fn grows(pages: u32) -> Vec<u8> {
    guest(&format!("(drop (memory.grow (i32.const {pages}))) {REMEMBER}"))
}

#[tokio::test]
async fn memory_is_counted_over_its_whole_life_and_one_that_runs_out_is_ended_in_time() {
    let plugins = plugins();
    // 10 MiB a call: the fourth is past the half of 64, so the fifth starts anew, and none reaches the limit.
    let code = load(&plugins, &grows(160)).await;
    for expected in ["1", "2", "3", "4", "1", "2", "3", "4", "1"] {
        assert_eq!(Asking::bash("ls").in_session("s").context(&*code).await, expected);
    }
}

#[tokio::test]
async fn one_that_reached_its_limit_and_went_on_is_not_kept() {
    let plugins = plugins();
    let code = load(&plugins, &grows(2_000)).await;
    for _ in 0..2 {
        assert_eq!(Asking::bash("ls").in_session("s").context(&*code).await, "1");
    }
    assert_eq!(plugins.room.kept.count(), 0);
}

#[tokio::test]
async fn a_limit_that_was_reached_before_is_no_cause_of_a_later_trap() {
    // The first call asks for too much, is refused and goes on: its instance ends. The second traps for another reason.
    let run = format!(
        "(if (i32.load8_u offset=12 (i32.load offset=24 (local.get $in)))
          (then (if (i32.eq (i32.load8_u offset=12 (i32.load offset=24 (local.get $in))) (i32.const 97))
            (then unreachable))))
        (drop (memory.grow (i32.const 2000))) {REMEMBER}"
    );
    let code = load(&plugins(), &guest(&run)).await;
    assert_eq!(Asking::bash("b").in_session("s").context(&*code).await, "1");
    let cause = Asking::bash("a").in_session("s").cause(&*code).await;
    assert!(matches!(cause, Cause::Trapped { .. }), "{cause:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_asked_one_call_at_a_time_and_each_gets_its_own_answer() {
    let plugins = plugins_with(8, 64);
    // Counts, waits a little in the middle, and counts back: two at a time would see each other.
    let run = "(local $n i32)
        (if (i32.load (i32.const 200)) (then unreachable))
        (i32.store (i32.const 200) (i32.const 1))
        (loop $again
          (local.set $n (i32.add (local.get $n) (i32.const 1)))
          (br_if $again (i32.lt_u (local.get $n) (i32.const 1000000))))
        (i32.store (i32.const 200) (i32.const 0))
        (call $block (i32.load offset=24 (local.get $in)) (i32.load offset=28 (local.get $in)))";
    let code = load(&plugins, &guest(run)).await;
    let calls = (0..32).map(|n| {
        let code = Arc::clone(&code);
        tokio::spawn(async move { (n, Asking::bash(&format!("echo {n}")).in_session("s").reason(&*code).await) })
    });
    for call in calls.collect::<Vec<_>>() {
        let (n, reason) = call.await.unwrap();
        assert_eq!(reason, format!(r#"{{"command":"echo {n}"}}"#));
    }
    assert_eq!(plugins.room.kept.count(), 1);
}

#[tokio::test]
async fn whoever_waits_for_it_waits_no_longer_than_its_own_time() {
    let plugins = plugins();
    let code = misbehave(&plugins).await;
    let long = deed("s", "spin").within(Duration::from_secs(2));
    let (spun, late, elsewhere) = tokio::join!(
        long.cause(&*code),
        async {
            tokio::task::yield_now().await;
            deed("s", "continue").within(Duration::from_millis(50)).cause(&*code).await
        },
        async { count(&*code, "another").await }
    );
    assert_eq!(spun, Cause::TimedOut(Duration::from_secs(2)));
    assert!(matches!(&late, Cause::CouldNotStart(why) if why.contains("one at a time")), "{late:?}");
    assert_eq!(elsewhere, "1");
    assert_eq!(count(&*code, "s").await, "1");
}

#[tokio::test]
async fn it_ends_with_its_session_and_no_other() {
    let plugins = plugins();
    let code = misbehave(&plugins).await;
    for session in ["s1", "s2"] {
        count(&*code, session).await;
    }
    plugins.end_session(&"s1".into());
    assert_eq!(plugins.room.kept.count(), 1);
    assert_eq!((count(&*code, "s1").await, count(&*code, "s2").await), ("1".into(), "2".into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_outlives_its_session_leaves_nothing_to_the_next_of_that_name() {
    let plugins = plugins();
    let code = misbehave(&plugins).await;
    assert_eq!(count(&*code, "s").await, "1");
    let late = tokio::spawn({
        let code = Arc::clone(&code);
        async move { deed("s", "spin").within(Duration::from_secs(1)).cause(&*code).await }
    });
    until(|| plugins.room.kept.resting() == 0).await;
    plugins.end_session(&"s".into());
    assert_eq!(count(&*code, "s").await, "1", "the new one waits for nobody and has nothing of the old one");
    assert_eq!(late.await.unwrap(), Cause::TimedOut(Duration::from_secs(1)));
    assert_eq!(count(&*code, "s").await, "2");
    assert_eq!(plugins.room.kept.count(), 1);
}

#[tokio::test]
async fn what_comes_after_its_sessions_end_is_not_begun_and_leaves_nothing_under_its_id() {
    let (plugins, lives) = (plugins(), SessionLives::default());
    let code = misbehave(&plugins).await;
    let command = load(
        &plugins,
        b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x03\x02\x01\0\x07\x0a\x01\x06_start\0\0\x0a\x04\x01\x02\0\x0b",
    )
    .await;
    let life = lives.of(&"s".into());
    assert_eq!(deed("s", "remember").living(&life).context(&*code).await, "1");
    life.end();
    plugins.end_session(&life);
    assert_eq!(deed("s", "remember").living(&life).cause(&*code).await, Cause::SessionEnded);
    assert_eq!(told(json!({"do": "state"})).living(&life).cause(&*code).await, Cause::SessionEnded);
    assert_eq!(Asking::bash("ls").living(&life).cause(&*command).await, Cause::SessionEnded);
    assert!(plugins.room.kept.count() == 0 && plugins.states.is_empty());
    assert_eq!(deed("s", "remember").living(&lives.of(&"s".into())).context(&*code).await, "1");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_waited_for_its_turn_over_the_end_is_not_begun() {
    let (plugins, lives) = (plugins(), SessionLives::default());
    let (code, life) = (misbehave(&plugins).await, lives.of(&"s".into()));
    assert_eq!(deed("s", "remember").living(&life).context(&*code).await, "1");
    let asking = |deed: Asking| {
        let (code, deed) = (Arc::clone(&code), deed.living(&life));
        tokio::spawn(async move { deed.cause(&*code).await })
    };
    let first = asking(deed("s", "spin").within(Duration::from_secs(2)));
    until(|| plugins.room.kept.resting() == 0).await;
    let second = asking(deed("s", "remember"));
    until(|| plugins.room.kept.waiting() == 1).await;
    life.end();
    plugins.end_session(&life);
    let next = lives.of(&"s".into());
    assert_eq!(deed("s", "remember").living(&next).context(&*code).await, "1", "the new one waits for nobody");
    assert_eq!(first.await.unwrap(), Cause::TimedOut(Duration::from_secs(2)));
    assert_eq!(second.await.unwrap(), Cause::SessionEnded);
    assert_eq!(deed("s", "remember").living(&next).context(&*code).await, "2");
    assert_eq!(plugins.room.kept.count(), 1);
}

#[tokio::test]
async fn one_that_answers_after_its_session_ended_is_not_kept() {
    let plugins = plugins();
    let code = misbehave(&plugins).await;
    // Ended while the call is on its way: the first poll has the turn, and the guest yields at each tick.
    let spins_a_while = "(local $n i64)
        (loop $again
          (local.set $n (i64.add (local.get $n) (i64.const 1)))
          (br_if $again (i64.lt_u (local.get $n) (i64.const 300000000))))
        (call $continue)";
    let slow = load(&plugins, &guest(spins_a_while)).await;
    let asking = Asking::bash("ls").in_session("s");
    let (asked, ()) = tokio::join!(asking.of(&*slow), async {
        tokio::task::yield_now().await;
        plugins.end_session(&"s".into());
    });
    assert_eq!(asked.outcome, Outcome::pass());
    assert_eq!(plugins.room.kept.count(), 0);
    drop(code);
}

#[tokio::test]
async fn it_ends_with_its_plugin_and_gives_its_places_back() {
    let plugins = plugins_with(4, 0);
    let (code, other) = (misbehave(&plugins).await, misbehave(&plugins).await);
    for code in [&code, &other] {
        count(&**code, "s").await;
    }
    drop(code);
    assert_eq!(plugins.room.kept.count(), 1);
    assert_eq!(count(&*other, "s").await, "2");
    let engine = plugins.room.engine.weak();
    drop(plugins);
    assert_eq!(count(&*other, "s").await, "3");
    drop(other);
    until(|| engine.upgrade().is_none()).await;
}

#[tokio::test]
async fn what_rests_takes_half_of_the_places_at_most_and_the_oldest_goes_first() {
    let plugins = plugins_with(8, 0);
    let code = misbehave(&plugins).await;
    for session in ["a", "b", "c", "d", "a", "e"] {
        count(&*code, session).await;
    }
    assert_eq!((plugins.room.kept.resting(), plugins.room.kept.count()), (4, 4));
    // `b` had rested longest when `e` came.
    assert_eq!(count(&*code, "a").await, "3");
    assert_eq!(count(&*code, "b").await, "1");
}

#[tokio::test]
async fn a_hundred_sessions_are_answered_and_leave_no_more_than_may_rest() {
    let plugins = plugins();
    let code = misbehave(&plugins).await;
    for n in 0..100 {
        assert_eq!(count(&*code, &format!("s{n}")).await, "1");
        assert_eq!(count(&*code, &format!("s{n}")).await, "2");
    }
    assert_eq!(plugins.room.kept.count(), 32);
    for n in 0..100 {
        plugins.end_session(&format!("s{n}").as_str().into());
    }
    assert_eq!(plugins.room.kept.count(), 0);
}

#[tokio::test]
async fn whoever_needs_a_place_gets_that_of_one_that_rests() {
    let plugins = plugins_with(2, 0);
    let code = misbehave(&plugins).await;
    count(&*code, "s").await;
    assert_eq!(plugins.room.kept.resting(), 1);
    // Two at a time, with no queue: there is room for both all the same.
    let spin = told(json!({"do": "spin"})).within(Duration::from_millis(200));
    let (one, two) = tokio::join!(spin.cause(&*code), spin.cause(&*code));
    assert_eq!((&one, &two), (&Cause::TimedOut(spin.time_limit), &Cause::TimedOut(spin.time_limit)));
    assert_eq!(plugins.room.kept.count(), 0);
    assert_eq!(count(&*code, "s").await, "1");
}

#[tokio::test]
async fn a_trap_while_it_is_made_is_the_calls_and_the_next_one_works() {
    let traps_first =
        guest_with("(func $nothing)", "(if (i32.eqz (i32.load (i32.const 200))) (then unreachable)) (call $continue)");
    let plugins = plugins();
    let code = load(&plugins, &traps_first).await;
    for _ in 0..3 {
        assert!(matches!(Asking::bash("ls").in_session("s").cause(&*code).await, Cause::Trapped { .. }));
    }
    assert_eq!(plugins.room.kept.count(), 0);
}
