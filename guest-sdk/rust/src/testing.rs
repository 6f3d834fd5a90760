//! What stands in for the host where there is none: in a plugin's own tests, compiled for the machine they run on.
//!
//! Each thread, so each test, has its own: a config that the test sets, the lines that were logged, and a `state` without
//! limits. Every program is [`denied`](crate::process::Error::Denied).

use crate::log::Level;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeMap;

#[derive(Default)]
struct StandIn {
    config: Option<String>,
    lines: Vec<(Level, String)>,
    state: BTreeMap<String, Vec<u8>>,
}

thread_local! {
    static STAND_IN: RefCell<StandIn> = RefCell::default();
}

/// Sets what [`config`](crate::config()) reads on this thread.
pub fn set_config(config: &Value) {
    with(|host| host.config = Some(config.to_string()));
}

/// What was logged on this thread, in order.
pub fn logged() -> Vec<(Level, String)> {
    with(|host| host.lines.clone())
}

fn with<T>(use_it: impl FnOnce(&mut StandIn) -> T) -> T {
    STAND_IN.with(|host| use_it(&mut host.borrow_mut()))
}

/// The shapes of the generated imports.
pub(crate) mod host {
    pub(crate) mod log {
        pub(crate) fn write(level: crate::log::Level, message: &str) {
            super::super::with(|host| host.lines.push((level, message.into())));
        }
    }

    pub(crate) mod config {
        pub(crate) fn get() -> String {
            super::super::with(|host| host.config.clone().unwrap_or_else(|| "{}".into()))
        }
    }

    pub(crate) mod state {
        use crate::state::Error;

        pub(crate) fn get(key: &str) -> Option<Vec<u8>> {
            super::super::with(|host| host.state.get(key).cloned())
        }

        pub(crate) fn set(key: &str, value: &[u8]) -> Result<(), Error> {
            super::super::with(|host| host.state.insert(key.into(), value.into()));
            Ok(())
        }

        pub(crate) fn remove(key: &str) {
            super::super::with(|host| host.state.remove(key));
        }

        pub(crate) fn add(key: &str, delta: i64) -> Result<i64, Error> {
            let text = get(key).map(|value| String::from_utf8_lossy(&value).into_owned());
            let sum = text.and_then(|text| text.parse().ok()).unwrap_or(0_i64).saturating_add(delta);
            set(key, sum.to_string().as_bytes())?;
            Ok(sum)
        }
    }

    pub(crate) mod process {
        use crate::process::{Error, Output};

        pub(crate) fn available(_program: &str) -> bool {
            false
        }

        pub(crate) fn run(_program: &str, _args: &[String], _stdin: &[u8]) -> Result<Output, Error> {
            Err(Error::Denied)
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{config, json, log, process, state, testing};
    use std::collections::BTreeMap;

    #[test]
    fn config_is_what_the_test_set_and_empty_before() {
        type Config = BTreeMap<String, u8>;
        assert_eq!(config::<Config>(), Ok(Config::new()));
        testing::set_config(&json!({"limit": 3}));
        assert_eq!(config::<Config>(), Ok(Config::from([("limit".into(), 3)])));
        testing::set_config(&json!({"limit": "3"}));
        assert!(config::<Config>().expect_err("no number").to_string().starts_with("config, at `limit`: expected u8"));
    }

    #[test]
    fn lines_are_kept_in_order() {
        log::warn("one");
        log::debug(format_args!("{}", 2));
        assert_eq!(testing::logged(), [(log::Level::Warn, "one".into()), (log::Level::Debug, "2".into())]);
    }

    #[test]
    fn state_lasts_and_counts() {
        assert_eq!(state::get("k"), None);
        assert_eq!(state::add("k", 2).ok(), Some(2));
        assert_eq!(state::add("k", -3).ok(), Some(-1));
        assert!(state::set("k", b"v").is_ok());
        assert_eq!(state::get("k").as_deref(), Some(b"v".as_slice()));
        state::remove("k");
        assert_eq!(state::get("k"), None);
    }

    #[test]
    fn programs_are_denied() {
        assert!(!process::available("git"));
        assert!(matches!(process::run("git", &["status"], b""), Err(process::Error::Denied)));
    }
}
