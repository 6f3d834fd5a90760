//! A plugin that sends each request that its config lists, and gives what came of them as context, a line for each:
//! `{"send": [{"url": "http://localhost/", "method": "GET", "body": 3, "headers": [["a", "b"]], "follow": true}]}`. For
//! tests of the host.

use tacklebox_sdk::{Answer, Context, Error, Event, Hook, Info, Input, Plugin, Value, config};
use tacklebox_sdk_http::{Response, send};

struct Sender;

tacklebox_sdk::export!(Sender);

impl Plugin for Sender {
    fn info() -> Info {
        Info::new("sender", env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_DESCRIPTION"))
            .hook(Hook::on(Event::PreToolUse, "sender"))
    }

    fn run(_: &Input, _: &Context) -> Result<Answer, Error> {
        let config: Value = config()?;
        let mut told = String::new();
        for wanted in config["send"].as_array().into_iter().flatten() {
            match answer(wanted) {
                Ok(response) => tell(&mut told, &response),
                Err(why) => told.push_str(&why),
            }
            told.push('\n');
        }
        Ok(Answer::modify().context(told).into())
    }
}

fn answer(wanted: &Value) -> Result<Response, String> {
    let url = text(&wanted["url"]);
    let first = request(wanted, url)?;
    if wanted["follow"] != true {
        return Ok(first);
    }
    // As a client does that was told to.
    let to = first.header("location").and_then(|to| String::from_utf8(to).ok());
    request(wanted, &to.ok_or("leads nowhere")?)
}

fn request(wanted: &Value, url: &str) -> Result<Response, String> {
    let headers = wanted["headers"].as_array().into_iter().flatten();
    let headers: Vec<_> = headers.map(|pair| (text(&pair[0]), text(&pair[1]))).collect();
    let body = vec![b'x'; wanted["body"].as_u64().unwrap_or(0) as usize];
    send(wanted["method"].as_str().unwrap_or("GET"), url, &headers, &body)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The status, how long the body is, and how it begins. By hand, since what formats numbers is larger than all of this.
fn tell(told: &mut String, response: &Response) {
    digits(told, response.status.into());
    told.push(' ');
    digits(told, response.body.len());
    told.push(' ');
    let begin = response.body.iter().take(400);
    told.extend(begin.map(|byte| if byte.is_ascii_graphic() { *byte as char } else { ' ' }));
}

fn digits(told: &mut String, number: usize) {
    if number > 9 {
        digits(told, number / 10);
    }
    told.push((b'0' + (number % 10) as u8) as char);
}
