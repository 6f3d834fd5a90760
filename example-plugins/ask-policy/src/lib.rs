//! Asks a policy service whether a tool may run. What it does not answer, or not clearly, is no answer: the call blocks.

use tacklebox_sdk::{Answer, Context, Error, Event, Failure, Hook, Info, Input, Plugin, Value, config, serde_json};
use tacklebox_sdk_http::send;

#[cfg(test)]
mod tests;

struct AskPolicy;
tacklebox_sdk::export!(AskPolicy);

impl Plugin for AskPolicy {
    fn info() -> Info {
        let hook = Hook::on(Event::PreToolUse, "ask-policy").on_error(Failure::Block);
        Info::new("ask-policy", env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_DESCRIPTION")).hook(hook)
    }

    fn pre_tool_use(input: &Input, cx: &Context) -> Result<Answer, Error> {
        // Not as types of its own, since the code that reads those is larger than all of this.
        let config: Value = config()?;
        let url =
            config["url"].as_str().ok_or_else(|| Error::new("`url` of the config must say where the service is"))?;
        let answer = send("POST", url, &[("content-type", "application/json")], question(input, cx)?.as_bytes());
        let answer = answer.map_err(|why| Error::new(format!("the policy service does not answer: {why}")))?;
        read(answer.status, &answer.body)
    }
}

fn question(input: &Input, cx: &Context) -> Result<String, Error> {
    let (tool, session) = (serde_json::to_string(&input.tool_name)?, serde_json::to_string(&cx.session_id)?);
    Ok(format!(r#"{{"tool":{tool},"input":{},"session":{session}}}"#, input.tool_input))
}

fn read(status: u16, body: &[u8]) -> Result<Answer, Error> {
    let said: Value = serde_json::from_str(std::str::from_utf8(body).unwrap_or_default())?;
    match said["decision"].as_str().filter(|_| status == 200) {
        Some("allow") => Ok(Answer::modify().allow().into()),
        Some("ask") => Ok(Answer::modify().ask().into()),
        Some("deny") => Ok(Answer::block(said["reason"].as_str().unwrap_or("the policy service says no"))),
        _ => Err(Error::new("the policy service answers without a decision")),
    }
}
