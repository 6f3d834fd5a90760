//! The demo, read as a program reads it: what it tells is what the hooks did.

use serde_json::Value;

use crate::program::World;

fn steps() -> Vec<Value> {
    let said = World::new().run(&["demo", "--json"]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{}", said.out);
    said.lines()
}

/// The call of this command.
fn call<'a>(steps: &'a [Value], command: &str) -> &'a Value {
    let is_it = |step: &&Value| step["input"]["command"] == command;
    steps.iter().find(is_it).unwrap_or_else(|| panic!("`{command}` is not in the story"))
}

fn outcome<'a>(call: &'a Value, hook: &str) -> Option<&'a str> {
    call["hooks"].as_array()?.iter().find(|line| line["name"] == hook)?["outcome"].as_str()
}

#[test]
fn the_demo_shows_what_each_kind_of_hook_does() {
    let steps = steps();
    let redacted = call(&steps, "cat config.env");
    assert_eq!(outcome(redacted, "redact-secrets"), Some("modified"));
    assert!(!redacted["forModel"].as_str().unwrap().contains("AKIA"), "{redacted}");

    let blocked = call(&steps, "clean");
    assert_eq!((outcome(blocked, "no-rm-rf"), &blocked["ran"]), (Some("blocked"), &Value::Null));

    let judged = call(&steps, "cp config.env /mnt/usb/");
    assert_eq!((outcome(judged, "stays-here"), &judged["ran"]), (Some("blocked"), &Value::Null));
    assert_eq!(outcome(call(&steps, "cp src/app.py src/app.old.py"), "stays-here"), Some("continued"));

    assert_eq!(outcome(call(&steps, "npm publish"), "no-publish"), Some("blocked"));
    let [added, emptied] = [1, 2].map(|n| steps.iter().filter(|step| step["step"] == "reload").nth(n - 1).unwrap());
    assert_eq!(added["waiting"], serde_json::json!([]));
    assert!(emptied["waiting"].as_array().unwrap().iter().any(|hook| hook == "only-src"), "{emptied}");
    let last_call = steps.iter().rfind(|step| step["step"] == "call").unwrap();
    assert_eq!((outcome(last_call, "only-src"), &last_call["ran"]), (Some("blocked"), &Value::Null));

    let stops: Vec<_> =
        steps.iter().filter(|step| step["step"] == "stop").map(|step| !step["goesOn"].is_null()).collect();
    assert_eq!(stops, [false, true, false, false]);
}

#[test]
fn the_ledgers_sum_is_that_of_the_turns_that_ended() {
    let steps = steps();
    let ended = steps.iter().find(|step| step["step"] == "sessionEnd").unwrap();
    let [line] = ended["log"].as_array().unwrap().as_slice() else { panic!("{ended}") };
    assert_eq!(
        line,
        "3 turns: 19710 input, 2030 output, 0 cache read, 0 cache creation, 0 turns without counts; cost: 0.0896 USD"
    );
}
