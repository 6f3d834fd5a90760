//! Guests that go too far. Each costs its own call, and the next one works.

use std::time::{Duration, Instant};

use super::asking::{Asking, PASS, SPIN, binary, guest, guest_with, importing, load, plugins, plugins_with, text};
use crate::outcome::{Cause, Limit, Outcome};
use crate::source::Source;
use crate::wasm::{Limits, LoadError, Owner};

const FOR_EVER: Duration = Duration::from_secs(3600);

#[tokio::test]
async fn a_guest_that_spins_is_ended_in_time_while_another_answers() {
    let plugins = plugins();
    let (spins, answers) = (load(&plugins, &guest(SPIN)).await, load(&plugins, &guest(PASS)).await);
    let limit = Duration::from_millis(500);
    let (began, spinning) = (Instant::now(), Asking::bash("ls").within(limit));
    let (cause, answered) = tokio::join!(spinning.cause(&*spins), async {
        let asked = Asking::bash("ls").of(&*answers).await;
        (asked.outcome, began.elapsed())
    });
    println!("limit {limit:?}: ended after {:?}; the other one answered after {:?}", began.elapsed(), answered.1);
    assert_eq!(cause, Cause::TimedOut(limit));
    assert!(began.elapsed() < limit * 10, "ended after {:?}", began.elapsed());
    assert_eq!(answered.0, Outcome::pass());
    assert!(answered.1 < limit, "answered after {:?}", answered.1);
}

#[tokio::test]
async fn processor_time_is_a_limit_of_its_own() {
    let limits = Limits { processor: Duration::from_millis(50), ..Limits::default() };
    let plugins = plugins();
    let code = plugins.load(&guest(SPIN), Owner::new(Source::Sdk), limits).await.unwrap();
    let cause = Asking::bash("ls").within(FOR_EVER).cause(&*code).await;
    assert_eq!(cause, Cause::Limit(Limit::Processor(Duration::from_millis(50))));
}

/// Counts how often it is its turn, for as long as `work` takes.
async fn turns_during<T>(mut turn: impl AsyncFnMut(), work: impl Future<Output = T>) -> (T, u64) {
    let mut turns = 0;
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            biased;
            done = &mut work => return (done, turns),
            () = turn() => turns += 1,
        }
    }
}

#[tokio::test]
async fn timers_run_on_the_thread_of_a_guest_that_spins() {
    let plugins = plugins();
    let code = load(&plugins, &guest(SPIN)).await;
    let spins = tokio::spawn(async move { Asking::bash("ls").within(Duration::from_secs(1)).cause(&*code).await });
    let before = plugins.room.ticker.ticks();
    let (cause, timers) = turns_during(async || tokio::time::sleep(Duration::from_millis(1)).await, spins).await;
    let ticks = plugins.room.ticker.ticks() - before;
    assert_eq!(cause.unwrap(), Cause::TimedOut(Duration::from_secs(1)));
    // The guest yields at most once in a tick, and each time there is a timer to be seen to; a busy machine lets ticks pass.
    assert!(timers * 20 >= ticks, "{timers} timers in {ticks} ticks");
}

#[tokio::test]
async fn whoever_makes_many_calls_in_a_row_leaves_the_thread_to_others() {
    let plugins = plugins();
    let code = load(&plugins, &guest(PASS)).await;
    let calls = tokio::spawn(async move {
        for _ in 0..1_000 {
            assert_eq!(Asking::bash("ls").of(&*code).await.outcome, Outcome::pass());
        }
    });
    let (done, turns) = turns_during(tokio::task::yield_now, calls).await;
    done.unwrap();
    assert!(turns >= 5, "{turns}");
}

#[tokio::test]
async fn the_clock_stands_still_while_no_guest_runs() {
    let plugins = plugins();
    let code = load(&plugins, &guest(PASS)).await;
    Asking::bash("ls").of(&*code).await;
    tokio::time::sleep(Duration::from_millis(40)).await;
    let before = plugins.room.ticker.ticks();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(plugins.room.ticker.ticks(), before);
}

#[tokio::test]
async fn memory_that_is_denied_is_named_and_not_the_trap() {
    let plugins = plugins();
    let allocates = "(loop $again (br_if $again (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) unreachable";
    let code = load(&plugins, &guest(allocates)).await;
    assert_eq!(Asking::bash("ls").cause(&*code).await, Cause::Limit(Limit::Memory(64 << 20)));
    let gives_up = guest(&allocates.replace("unreachable", PASS));
    let code = load(&plugins, &gives_up).await;
    assert_eq!(Asking::bash("ls").of(&*code).await.outcome, Outcome::pass());
}

#[tokio::test]
async fn the_memory_limit_is_the_plugins_own() {
    let grows = "(if (i32.eq (memory.grow (i32.const 1600)) (i32.const -1)) (then unreachable)) (call $continue)";
    let limits = Limits { memory: 128 << 20, ..Limits::default() };
    let code = plugins().load(&guest(grows), Owner::new(Source::Sdk), limits).await.unwrap();
    assert_eq!(Asking::bash("ls").of(&*code).await.outcome, Outcome::pass());
}

#[tokio::test]
async fn a_full_stack_is_named() {
    let recurse = "(func $recurse (param i32) (result i32)
        (i32.add (call $recurse (i32.add (local.get 0) (i32.const 1))) (i32.const 1)))";
    let code = load(&plugins(), &guest_with(recurse, "(call $recurse (i32.const 0))")).await;
    assert_eq!(Asking::bash("ls").cause(&*code).await, Cause::Limit(Limit::Stack(512 << 10)));
}

#[tokio::test]
async fn a_trap_says_where_and_the_next_call_works() {
    let traps_on_a = "(if (i32.eq (i32.load8_u offset=12 (i32.load offset=24 (local.get $in))) (i32.const 97))
        (then (call $a_function_that_panics))) (call $continue)";
    let code = load(&plugins(), &guest_with("(func $a_function_that_panics unreachable)", traps_on_a)).await;
    match Asking::bash("a").cause(&*code).await {
        Cause::Trapped { message, backtrace } => {
            assert_eq!(message, "wasm trap: wasm `unreachable` instruction executed");
            assert_eq!(backtrace[0], "a_function_that_panics");
            assert!(backtrace.len() > 1, "{backtrace:?}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(Asking::bash("b").of(&*code).await.outcome, Outcome::pass());
}

#[tokio::test]
async fn a_flood_of_log_lines_is_bounded() {
    let floods = "(local $n i32)
        (loop $again
          (call $write (i32.const 2) (i32.const 1024) (i32.const 5))
          (local.set $n (i32.add (local.get $n) (i32.const 1)))
          (br_if $again (i32.lt_u (local.get $n) (i32.const 10000))))
        (call $continue)";
    let asked = Asking::bash("ls").of(&*load(&plugins(), &guest(floods)).await).await;
    assert_eq!(asked.outcome, Outcome::pass());
    assert_eq!((asked.log.len(), asked.warnings.len()), (100, 1));
    assert_eq!(asked.log[0].message, "guest");
}

#[tokio::test]
async fn a_huge_answer_is_none() {
    let says = |bytes: u32| {
        format!("(drop (memory.grow (i32.const 900))) (call $block (i32.const 131072) (i32.const {bytes}))")
    };
    let plugins = plugins();
    let cause = async |bytes, input: &str| {
        let asked = Asking::bash(input).of(&*load(&plugins, &guest(&says(bytes))).await).await;
        matches!(asked.outcome, Outcome::NoAnswer(Cause::Limit(Limit::Answer(_))))
    };
    assert!(!cause(1 << 20, "ls").await);
    assert!(cause((1 << 20) + 1, "ls").await);
    // Past what the engine copies at all.
    assert!(cause(50 << 20, "ls").await);
    // Twice the input, where that is more.
    assert!(!cause(3 << 20, &"x".repeat(3 << 19)).await);
}

#[tokio::test]
async fn a_single_log_line_is_not_copied_at_any_size() {
    let writes = |mib: u32| {
        guest(&format!(
            "(drop (memory.grow (i32.const 900)))
            (call $write (i32.const 2) (i32.const 131072) (i32.const {})) (call $continue)",
            mib << 20
        ))
    };
    let plugins = plugins();
    let asked = Asking::bash("ls").of(&*load(&plugins, &writes(10)).await).await;
    assert_eq!((asked.outcome, asked.warnings.len()), (Outcome::pass(), 1));
    match Asking::bash("ls").cause(&*load(&plugins, &writes(50)).await).await {
        Cause::Trapped { message, .. } => assert_eq!(message, "the plugin handed over more than 16 MiB at once"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_full_sandbox_says_so_and_a_queue_waits() {
    let plugins = plugins_with(1, 1);
    let (spins, answers) = (load(&plugins, &guest(SPIN)).await, load(&plugins, &guest(PASS)).await);
    let spinning = Asking::bash("ls").within(Duration::from_millis(150));
    let asking = Asking::bash("ls");
    let impatient = Asking::bash("ls").within(Duration::from_millis(30));
    let ((), waited, refused) = tokio::join!(async { drop(spinning.of(&*spins).await) }, asking.of(&*answers), async {
        impatient.cause(&*answers).await.to_string()
    },);
    assert_eq!(waited.outcome, Outcome::pass());
    assert_eq!(refused, "could not start: the sandbox is full now: 1 places are taken and 1 calls wait for one");
    let cause = async {
        let (_, late) = tokio::join!(spinning.of(&*spins), impatient.cause(&*answers));
        late
    };
    assert!(matches!(cause.await, Cause::CouldNotStart(why) if why.contains("full now")));
}

#[tokio::test]
async fn a_dropped_call_gives_its_place_back() {
    let plugins = plugins_with(1, 0);
    let (spins, answers) = (load(&plugins, &guest(SPIN)).await, load(&plugins, &guest(PASS)).await);
    let spinning = Asking::bash("ls");
    let given_up = tokio::time::timeout(Duration::from_millis(30), spinning.of(&*spins)).await;
    assert!(given_up.is_err());
    assert_eq!(Asking::bash("ls").of(&*answers).await.outcome, Outcome::pass());
}

#[tokio::test]
async fn a_table_limit_is_named() {
    let table = text(
        "(if (i32.eq (table.grow $t (ref.null func) (i32.const 30000)) (i32.const -1)) (then unreachable))
        (call $continue)",
    );
    let code = load(&plugins(), &binary(&table.replace("(;MORE;)", "(table $t 1 funcref)"))).await;
    assert_eq!(Asking::bash("ls").cause(&*code).await, Cause::Limit(Limit::Table(20_000)));
}

/// Waits for so long, outside the sandbox.
fn waits(time: Duration) -> Vec<u8> {
    let imports = r#"(import "wasi:io/poll@0.2.0" (instance $poll
          (export "pollable" (type $pollable (sub resource)))
          (export "[method]pollable.block" (func (param "self" (borrow $pollable))))))
        (alias export $poll "pollable" (type $pollable))
        (import "wasi:clocks/monotonic-clock@0.2.0" (instance $clock
          (alias outer 1 $pollable (type $outer))
          (export "pollable" (type $inner (eq $outer)))
          (export "subscribe-duration" (func (param "when" u64) (result (own $inner))))))"#;
    let functions = [
        ("subscribe", r#"(func $clock "subscribe-duration")"#, "(param i64) (result i32)"),
        ("block-on", r#"(func $poll "[method]pollable.block")"#, "(param i32)"),
    ];
    let run = format!("(call $block-on (call $subscribe (i64.const {}))) {PASS}", time.as_nanos());
    importing(&text(&run), imports, &functions)
}

#[tokio::test]
async fn a_wait_outside_the_sandbox_costs_no_processor_time() {
    let limits = Limits { processor: Duration::from_millis(20), ..Limits::default() };
    let code = plugins().load(&waits(Duration::from_millis(100)), Owner::new(Source::Sdk), limits).await.unwrap();
    assert_eq!(Asking::bash("ls").of(&*code).await.outcome, Outcome::pass());
}

#[tokio::test]
async fn a_wait_outside_the_sandbox_ends_with_the_call() {
    let plugins = plugins_with(1, 0);
    let (waits, answers) = (load(&plugins, &waits(FOR_EVER)).await, load(&plugins, &guest(PASS)).await);
    let limit = Duration::from_millis(50);
    assert_eq!(Asking::bash("ls").within(limit).cause(&*waits).await, Cause::TimedOut(limit));
    assert_eq!(Asking::bash("ls").of(&*answers).await.outcome, Outcome::pass());
}

#[tokio::test]
async fn the_limits_are_the_same_without_a_pool() {
    // More places than there is address space for.
    let plugins = plugins_with(100_000, 1);
    assert!(plugins.room.engine.get_pooling_config().is_none());
    let allocates = "(loop $again (br_if $again (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) unreachable";
    let code = load(&plugins, &guest(allocates)).await;
    assert_eq!(Asking::bash("ls").cause(&*code).await, Cause::Limit(Limit::Memory(64 << 20)));
    let limit = Duration::from_millis(50);
    let code = load(&plugins, &guest(SPIN)).await;
    assert_eq!(Asking::bash("ls").within(limit).cause(&*code).await, Cause::TimedOut(limit));
    let large = text(PASS).replace(r#"(memory (export "memory") 2)"#, r#"(memory (export "memory") 1025)"#);
    let refused = plugins.load(&binary(&large), Owner::new(Source::Sdk), Limits::default()).await.unwrap_err();
    assert_eq!(refused, LoadError::Describe(Cause::Limit(Limit::Memory(64 << 20))));
}
