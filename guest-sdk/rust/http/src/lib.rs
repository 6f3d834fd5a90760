//! Requests over HTTP for plugins that were granted `http`: one function over `wasi:http`.
//!
//! Beside the SDK and not in it: a plugin that imports `wasi:http` says so, and most need not. What may be sent and to whom
//! is the host's to say (HOOKS.md, 5). Redirects are not followed, and nothing is tried twice.

#[expect(unsafe_code, reason = "the calls of the host are foreign ones")]
mod abi;

use abi::{Broken, Code};

/// What came back.
#[derive(Debug)]
pub struct Response {
    /// Its status.
    pub status: u16,
    /// Its body.
    pub body: Vec<u8>,
    handle: u32,
}

impl Response {
    /// The first header of this name, which is in lower case.
    pub fn header(&self, name: &str) -> Option<Vec<u8>> {
        abi::headers(self.handle).into_iter().find_map(|[one, value]| (one == name.as_bytes()).then_some(value))
    }
}

/// What the host calls what went wrong, in the order of their numbers.
const CODES: &str = "DNS-timeout DNS-error destination-not-found destination-unavailable destination-IP-prohibited \
    destination-IP-unroutable connection-refused connection-terminated connection-timeout connection-read-timeout \
    connection-write-timeout connection-limit-reached TLS-protocol-error TLS-certificate-error TLS-alert-received \
    HTTP-request-denied HTTP-request-length-required HTTP-request-body-size HTTP-request-method-invalid \
    HTTP-request-URI-invalid HTTP-request-URI-too-long HTTP-request-header-section-size HTTP-request-header-size \
    HTTP-request-trailer-section-size HTTP-request-trailer-size HTTP-response-incomplete \
    HTTP-response-header-section-size HTTP-response-header-size HTTP-response-body-size \
    HTTP-response-trailer-section-size HTTP-response-trailer-size HTTP-response-transfer-coding \
    HTTP-response-content-coding HTTP-response-timeout HTTP-upgrade-failed HTTP-protocol-error loop-detected \
    configuration-error internal-error";

/// Sends `body` to `url` (`http` or `https`) with `method` and these headers, and waits for all of the answer.
///
/// # Errors
///
/// A URL or header that is none, or the error code that the host has for a request that was denied or went wrong.
pub fn send(method: &str, url: &str, headers: &[(&str, &str)], body: &[u8]) -> Result<Response, String> {
    wit_bindgen::rt::maybe_link_cabi_realloc();
    let (secure, authority, path) = parts(url).ok_or("no URL of `http` or `https`")?;
    let request = abi::request(method, secure, authority, &path, headers);
    let (request, body_out) = request.ok_or("a part of the request is refused")?;
    let answer = abi::handle(request).map_err(name)?;
    // Who refuses a body may have answered already, and says more than that.
    let written = abi::write(body_out, body);
    let response = abi::wait(answer).ok_or("no answer")?.map_err(name)?;
    written.map_err(why)?;
    Ok(Response { status: abi::status(response), body: read(response)?, handle: response })
}

/// Whether it is over TLS, host and port, and path with query.
fn parts(url: &str) -> Option<(bool, &str, String)> {
    let plain = url.strip_prefix("http://");
    let rest = plain.or_else(|| url.strip_prefix("https://"))?.split('#').next()?;
    let (authority, path) = rest.split_at_checked(rest.find(['/', '?']).unwrap_or(rest.len()))?;
    let slash = if path.starts_with('/') { "" } else { "/" };
    Some((plain.is_none(), authority, format!("{slash}{path}")))
}

fn read(response: u32) -> Result<Vec<u8>, String> {
    let stream = abi::stream(response).ok_or("no body can be read")?;
    let mut body = Vec::new();
    loop {
        match abi::read(stream) {
            Ok(more) => body.extend(more),
            Err(Broken::Ended) => return Ok(body),
            Err(broken) => return Err(why(broken)),
        }
    }
}

fn why(broken: Broken) -> String {
    match broken {
        Broken::Failed(Some(code)) => name(code),
        _ => "broken off".to_owned(),
    }
}

fn name(code: Code) -> String {
    CODES.split(' ').nth(code.into()).unwrap_or("unknown").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_taken_apart() {
        for (url, expected) in [
            ("http://a", Some((false, "a", "/"))),
            ("https://a:1/b/c?d#e", Some((true, "a:1", "/b/c?d"))),
            ("http://[::1]:2?q", Some((false, "[::1]:2", "/?q"))),
            ("ftp://a", None),
            ("a/b", None),
        ] {
            let expected = expected.map(|(secure, authority, path)| (secure, authority, path.to_owned()));
            assert_eq!(parts(url), expected, "{url}");
        }
    }

    #[test]
    fn the_codes_are_those_of_the_interface_in_their_order() {
        let wit = include_str!("../wit/deps/http.wit");
        let cases =
            wit.split_once("variant error-code {").and_then(|(_, rest)| rest.split_once('}')).unwrap_or_default();
        let case = |line: &str| Some(line.trim().split(['(', ',']).next()?.to_owned()).filter(|name| !name.is_empty());
        let names: Vec<_> = cases.0.lines().filter_map(case).collect();
        assert_eq!(CODES.split(' ').collect::<Vec<_>>(), names);
    }
}
