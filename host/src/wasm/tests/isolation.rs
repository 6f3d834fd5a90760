//! What one call, plugin or session leaves behind is not seen by another.

use std::sync::Arc;

use super::asking::{Asking, COUNT, ECHO, PASS, REMEMBER, guest, importing, load, plugins, plugins_with, text};
use crate::outcome::Cause;
use crate::source::Source;
use crate::wasm::{Limits, Owner, guarded};

#[tokio::test]
async fn a_call_does_not_see_the_memory_of_the_one_before() {
    let code = load(&plugins_with(1, 1), &guest(REMEMBER)).await;
    for _ in 0..3 {
        assert_eq!(Asking::bash("ls").context(&*code).await, "1");
    }
}

#[tokio::test]
async fn the_bytes_of_one_plugin_are_not_in_the_memory_of_another() {
    // Writes a mark all over its second page, and past what it began with.
    let writes = "(local $at i32)
        (drop (memory.grow (i32.const 4)))
        (local.set $at (i32.const 65536))
        (loop $again
          (i64.store (local.get $at) (i64.const 0x5ec2e75ec2e75ec2))
          (local.set $at (i32.add (local.get $at) (i32.const 8)))
          (br_if $again (i32.lt_u (local.get $at) (i32.const 393216))))
        (call $continue)";
    let looks = "(local $at i32) (local $seen i32)
        (drop (memory.grow (i32.const 4)))
        (local.set $at (i32.const 65536))
        (loop $again
          (if (i64.eq (i64.load (local.get $at)) (i64.const 0x5ec2e75ec2e75ec2))
            (then (local.set $seen (i32.const 1))))
          (local.set $at (i32.add (local.get $at) (i32.const 8)))
          (br_if $again (i32.lt_u (local.get $at) (i32.const 393216))))
        (call $number (local.get $seen))";
    let plugins = plugins_with(1, 1);
    let (writes, looks) = (load(&plugins, &guest(writes)).await, load(&plugins, &guest(looks)).await);
    for _ in 0..3 {
        Asking::bash("ls").of(&*writes).await;
        assert_eq!(Asking::bash("ls").context(&*looks).await, "0");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_of_many_calls_at_a_time_gets_its_own_answer() {
    let plugins = plugins_with(8, 64);
    let code = load(&plugins, &guest(ECHO)).await;
    let calls = (0..32).map(|n| {
        let code = Arc::clone(&code);
        tokio::spawn(async move { (n, Asking::bash(&format!("echo {n}")).reason(&*code).await) })
    });
    for call in calls.collect::<Vec<_>>() {
        let (n, reason) = call.await.unwrap();
        assert_eq!(reason, format!(r#"{{"command":"echo {n}"}}"#));
    }
}

#[tokio::test]
async fn state_lasts_for_its_plugin_and_session() {
    let plugins = plugins();
    let bytes = guest(COUNT);
    let code = load(&plugins, &bytes).await;
    let (here, mut there) = (Asking::bash("ls"), Asking::bash("ls"));
    there.cx.session = "s2".into();
    assert_eq!(here.context(&*code).await, "1");
    assert_eq!(here.context(&*code).await, "2");
    assert_eq!(there.context(&*code).await, "1");
    // The same plugin, loaded once more, is the same; from another source it is another.
    let again = load(&plugins, &bytes).await;
    assert_eq!(here.context(&*again).await, "3");
    let other = plugins.load(&bytes, Owner::new(Source::Managed), Limits::default()).await.unwrap();
    assert_eq!(here.context(&*other).await, "1");
    plugins.states.end_session(&"s1".into());
    assert_eq!(here.context(&*code).await, "1");
}

#[tokio::test]
async fn equal_components_share_their_code_and_the_last_one_frees_it() {
    let plugins = plugins();
    let bytes = guest(PASS);
    let one = load(&plugins, &bytes).await;
    let two = plugins.load(&bytes, Owner::new(Source::Managed), Limits::default()).await.unwrap();
    assert_eq!(plugins.shelf.len(), 1);
    let weak = Arc::downgrade(&one);
    drop(one);
    assert!(weak.upgrade().is_none());
    assert_eq!(plugins.shelf.len(), 1);
    drop(two);
    assert_eq!(plugins.shelf.len(), 0);
}

#[tokio::test]
async fn a_plugin_outlives_the_sandbox_that_loaded_it_and_then_nothing_is_left() {
    let plugins = plugins();
    let engine = plugins.room.engine.weak();
    let code = load(&plugins, &guest(PASS)).await;
    drop(plugins);
    Asking::bash("ls").of(&*code).await;
    drop(code);
    // The thread of the clock may hold the engine for the length of one tick.
    for _ in 0..200 {
        if engine.upgrade().is_none() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("the engine is still there");
}

#[tokio::test]
async fn a_panic_is_the_failure_of_that_call() {
    let asked = guarded(async { panic!("the engine {}", "broke") }).await;
    assert_eq!(asked.outcome, crate::outcome::Outcome::NoAnswer(Cause::Panicked("the engine broke".into())));
}

#[tokio::test]
async fn what_a_plugin_says_of_itself_is_not_by_chance() {
    // Wants as many hooks as a byte of chance says.
    let by_chance = "(i32.store (i32.const 540) (i32.and (i32.wrap_i64 (call $chance)) (i32.const 255)))";
    let text = text(PASS).replace("(;DESCRIBE;)", by_chance);
    for (interface, function) in [("random", "get-random-u64"), ("insecure", "get-insecure-random-u64")] {
        let imports = format!(
            r#"(import "wasi:random/{interface}@0.2.0" (instance $random (export "{function}" (func (result u64)))))"#
        );
        let lowered = format!(r#"(func $random "{function}")"#);
        let bytes = importing(&text, &imports, &[("chance", &lowered, "(result i64)")]);
        let mut wanted = Vec::new();
        for _ in 0..8 {
            wanted.push(load(&plugins(), &bytes).await.info().hooks.len());
        }
        assert!(wanted.iter().all(|hooks| *hooks == wanted[0]), "{interface}: {wanted:?}");
    }
}

#[tokio::test]
async fn what_a_call_keeps_after_its_sessions_end_is_not_in_the_next_of_that_name() {
    let plugins = plugins();
    let spins_first = format!(
        "(local $n i64)
        (loop $again
          (local.set $n (i64.add (local.get $n) (i64.const 1)))
          (br_if $again (i64.lt_u (local.get $n) (i64.const 100000000))))
        {COUNT}"
    );
    let slow = load(&plugins, &guest(&spins_first)).await;
    let asking = Asking::bash("ls");
    let (late, ()) = tokio::join!(asking.context(&*slow), async {
        // The call is on its way: the guest yields at each tick.
        plugins.states.end_session(&"s1".into());
    });
    assert_eq!(late, "1");
    assert!(plugins.states.is_empty(), "nobody ends that session once more");
    assert_eq!(Asking::bash("ls").context(&*slow).await, "1");
}
