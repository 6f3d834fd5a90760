//! What a model replied: a block in it blocks whatever stands around it, and nothing but an `allow` gives context.

use tacklebox::outcome::{Change, Outcome};
use tacklebox::text::TEXT_CAP;
use tacklebox::wire::prompt::{Reply, read};

use crate::shown::is_printable;

const BLOCK: &str = r#"{"decision":"block"}"#;

/// Reads the bytes as a model's reply.
pub fn check(bytes: &[u8]) {
    let reply = String::from_utf8_lossy(bytes);
    for strict in [false, true] {
        let said = read(&reply, strict);
        assert_eq!(said, read(&reply, strict), "{reply:?} is read in two ways");
        is_sound(&reply, strict, &said);
        blocks(&format!("{reply} {BLOCK}"), strict);
        blocks(&format!("{BLOCK} {reply}"), strict);
    }
}

fn blocks(reply: &str, strict: bool) {
    let said = read(reply, strict);
    assert!(matches!(said.outcome, Outcome::Block(_)), "{reply:?} does not block: {said:?}");
}

fn is_sound(reply: &str, strict: bool, said: &Reply) {
    said.warning.iter().for_each(|warning| is_printable(warning));
    // As a JSON string the reply has its quotes escaped.
    let decides = reply.contains("\"decision\"") || reply.contains('\\');
    match &said.outcome {
        Outcome::Continue(change) => {
            assert!(!strict || decides, "{reply:?} decides nothing, and passes: {said:?}");
            assert!(change.context.is_none() || decides, "{reply:?} decides nothing, and is context: {said:?}");
            assert_eq!(*change, Change { context: change.context.clone(), ..Change::default() }, "{reply:?}");
        }
        Outcome::Block(block) => {
            assert!(decides && !block.reason.is_empty() && !block.stop, "{reply:?} blocks: {said:?}");
            assert!(block.reason.chars().count() <= TEXT_CAP, "{reply:?}: the reason has no bound");
        }
        Outcome::NoAnswer(_) => {}
    }
}
