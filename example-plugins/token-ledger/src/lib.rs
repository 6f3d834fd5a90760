//! Sums the tokens of a session's turns, and says at its end how many they were and what they cost.

use serde::Deserialize;
use tacklebox_sdk::{Answer, Context, Error, Event, Hook, Info, Input, Plugin, Value, config, log, state};

#[cfg(test)]
mod tests;

/// What is counted: what the agent calls it, and the report.
const KINDS: [(&str, &str); 4] = [
    ("inputTokens", "input"),
    ("outputTokens", "output"),
    ("cacheReadInputTokens", "cache read"),
    ("cacheCreationInputTokens", "cache creation"),
];
const TURNS: &str = "turns";
/// Turns of which the agent told no count at all.
const UNCOUNTED: &str = "turns without counts";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    prices: Option<Prices>,
    currency: Option<String>,
}

/// For a million tokens.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
struct Prices {
    input: f64,
    output: f64,
    cache_read: f64,
    cache_creation: f64,
}

struct TokenLedger;
tacklebox_sdk::export!(TokenLedger);

impl Plugin for TokenLedger {
    fn info() -> Info {
        let info = Info::new("token-ledger", env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_DESCRIPTION"));
        let hook = |event| Hook::on(event, "token-ledger");
        info.hook(hook(Event::TurnEnd)).hook(hook(Event::SessionEnd))
    }

    fn turn_end(input: &Input, _: &Context) -> Result<Answer, Error> {
        let turn = input.json()?;
        let counts = KINDS.map(|(key, _)| turn.get(key).and_then(Value::as_u64));
        state::add(TURNS, 1)?;
        state::add(UNCOUNTED, counts.iter().all(Option::is_none).into())?;
        for ((key, _), count) in KINDS.iter().zip(counts) {
            state::add(key, count.unwrap_or(0).try_into().unwrap_or(i64::MAX))?;
        }
        Ok(Answer::pass())
    }

    fn session_end(_: &Input, _: &Context) -> Result<Answer, Error> {
        let Config { prices, currency } = config()?;
        let mut line = format!("{} turns:", state::add(TURNS, 0)?);
        let mut sums = [0; 4];
        for ((key, name), sum) in KINDS.iter().zip(&mut sums) {
            *sum = state::add(key, 0)?;
            line += &format!(" {sum} {name},");
        }
        line += &format!(" {} {UNCOUNTED}", state::add(UNCOUNTED, 0)?);
        if let Some(prices) = prices {
            line += &format!("; cost: {} {}", cost(sums, &prices), currency.unwrap_or_default());
        }
        log::info(line.trim_end());
        Ok(Answer::pass())
    }
}

/// With four decimals; without the code that writes any float, which is as large as all of this.
fn cost(sums: [i64; 4], Prices { input, output, cache_read, cache_creation }: &Prices) -> String {
    let costs = sums.iter().zip([input, output, cache_read, cache_creation]).map(|(sum, price)| *sum as f64 * price);
    let parts = (costs.sum::<f64>() / 100.0 + 0.5) as u64;
    format!("{}.{:04}", parts / 10_000, parts % 10_000)
}
