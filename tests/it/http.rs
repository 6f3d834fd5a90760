//! Requests of plugins as an embedder grants them: a guest that sends what its config lists, to servers on this machine
//! that answer well, badly or never.
//!
//! Which addresses a name may lead to is tested beside the code that says so, since there names can be made up; here is
//! only what the machine itself resolves.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tacklebox::bus::{Heard, Record};
use tacklebox::event::{Context, PreToolUse};
use tacklebox::outcome::{Cause, Outcome};
use tacklebox::permission::{Host, Permissions};
use tacklebox::policy::Trust;
use tacklebox::report::Report;
use tacklebox::source::{Reach, Source};
use tacklebox::surroundings::Surroundings;
use tacklebox::{HookRuntime as _, Runtime};
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::agent::bash;
use crate::program;

mod secure;

/// The largest body.
const MIB: usize = 1 << 20;
const DENIED: &str = "error: HTTP-request-denied";
const REFUSED: &str = "error: a part of the request is refused";

/// How a server behaves once it has read a request.
#[derive(Clone, Debug)]
enum Manner {
    /// It says this.
    Says(Vec<u8>),
    /// It says this, a byte at a time.
    Spells(Vec<u8>),
    /// It says the first, and then the second for ever.
    Repeats(&'static str, &'static str),
}

impl Manner {
    fn fine() -> Self {
        Self::says("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
    }

    fn silent() -> Self {
        Self::says("")
    }

    fn says(answer: impl Into<Vec<u8>>) -> Self {
        Self::Says(answer.into())
    }

    fn redirects(to: &str) -> Self {
        Self::says(format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n"))
    }

    async fn answer(self, stream: &mut (impl AsyncWrite + Unpin)) -> std::io::Result<()> {
        match self {
            Self::Says(answer) => stream.write_all(&answer).await?,
            Self::Spells(answer) => {
                for byte in answer {
                    stream.write_all(&[byte]).await?;
                    stream.flush().await?;
                    tokio::task::yield_now().await;
                }
            }
            Self::Repeats(first, again) => {
                stream.write_all(first.as_bytes()).await?;
                loop {
                    stream.write_all(again.as_bytes()).await?;
                }
            }
        }
        stream.flush().await
    }
}

/// A server on this machine.
struct Server {
    port: u16,
    requests: UnboundedReceiver<String>,
    open: Arc<AtomicUsize>,
}

impl Server {
    async fn that(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (port, open) = (listener.local_addr().unwrap().port(), Arc::new(AtomicUsize::new(0)));
        let ((heard, requests), count) = (unbounded_channel(), Arc::clone(&open));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(Self::serve(stream, manner.clone(), heard.clone(), Arc::clone(&count)));
            }
        });
        Self { port, requests, open }
    }

    async fn serve(mut stream: TcpStream, manner: Manner, heard: UnboundedSender<String>, open: Arc<AtomicUsize>) {
        converse(&mut stream, manner, &heard).await;
        open.fetch_sub(1, Ordering::SeqCst);
    }

    fn at(&self, host: &str) -> String {
        format!("http://{host}:{}/", self.port)
    }

    fn url(&self) -> String {
        self.at("127.0.0.1")
    }

    /// As a grant names it.
    fn here(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Nobody has connected to it since.
    fn was_left_alone(&mut self) -> bool {
        self.open.load(Ordering::SeqCst) == 0 && self.requests.try_recv().is_err()
    }

    async fn until_all_are_closed(&self) {
        until("each connection is closed", || self.open.load(Ordering::SeqCst) == 0).await;
    }
}

/// Reads a request, answers, and stays until the other side is gone.
async fn converse(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), manner: Manner, heard: &UnboundedSender<String>) {
    let mut request = Vec::new();
    while !is_whole(&request) {
        if !matches!(stream.read_buf(&mut request).await, Ok(1..)) {
            break;
        }
    }
    let _ = heard.send(String::from_utf8_lossy(&request).into_owned());
    // A client that has had enough closes; that is not the server's to complain of.
    let _ = manner.answer(stream).await;
    let mut rest = vec![0; 64 << 10];
    while matches!(stream.read(&mut rest).await, Ok(1..)) {}
}

/// Of what is no HTTP, as a client's hello in TLS, the first bytes are enough.
fn is_whole(request: &[u8]) -> bool {
    if request.first() == Some(&0x16) {
        return true;
    }
    let Some(head) = request.windows(4).position(|end| end == b"\r\n\r\n") else { return false };
    let (head, body) = (String::from_utf8_lossy(&request[..head]).to_lowercase(), &request[head + 4..]);
    let length = head.split_once("content-length: ").and_then(|(_, rest)| rest.lines().next()?.parse().ok());
    match length {
        Some(length) => body.len() >= length,
        None if head.contains("transfer-encoding: chunked") => body.ends_with(b"0\r\n\r\n"),
        None => true,
    }
}

/// Polls until it is so; the bound is a busy machine's.
async fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// A plugin that sends, in a host of its own.
struct Sender {
    host: Runtime,
    doubts: Vec<String>,
    _package: TempDir,
}

impl Sender {
    /// It asks for and is granted these hosts, and has a minute for each call.
    async fn granted(hosts: &[&str], sends: Value) -> Self {
        Self::on(Surroundings::default(), hosts, hosts, sends, 60.0).await
    }

    async fn on(surroundings: Surroundings, asks: &[&str], grants: &[&str], sends: Value, seconds: f64) -> Self {
        let package = tempfile::tempdir().unwrap();
        std::fs::copy(guest(), package.path().join("sender.wasm")).unwrap();
        let manifest = json!({
            "name": "sender", "component": "sender.wasm", "permissions": {"http": asks}, "config": {"send": sends},
            "hooks": {"PreToolUse": [{"name": "sender", "timeout": seconds}]},
        });
        #[expect(clippy::disallowed_methods, reason = "a test lays its own files")]
        std::fs::write(package.path().join("plugin.json"), manifest.to_string()).unwrap();
        let host = Runtime::builder(Trust::Trusted, surroundings).without_settings().build().await.unwrap();
        let grant = grants.iter().fold(Permissions::default(), |all, host| all.sending(Host::parse(host).unwrap()));
        let loaded = host.load_granted(skill(), package.path(), Reach::Everywhere, grant).await.unwrap();
        let doubts = loaded.diagnostics.iter().map(ToString::to_string).collect();
        Self { host, doubts, _package: package }
    }

    /// What came of each request, and the report.
    async fn told(&self) -> (Vec<String>, Report) {
        let answer = self.host.pre_tool_use(&bash("ls"), &Context::new("s1")).await;
        match answer.verdict {
            PreToolUse::Proceed { context, .. } => {
                (context.unwrap_or_default().lines().map(error_marked).collect(), answer.report)
            }
            other => panic!("{other:?} {:?}", answer.report),
        }
    }

    async fn came(&self) -> Vec<String> {
        self.told().await.0
    }
}

/// A line that does not begin with a status is an error.
fn error_marked(line: &str) -> String {
    match line.starts_with(|first: char| first.is_ascii_digit()) {
        true => line.to_owned(),
        false => format!("error: {line}"),
    }
}

fn guest() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("guests/sender/sender.wasm")
}

fn skill() -> Source {
    Source::Skill("s".into())
}

/// A plain request to each.
fn to(urls: &[&str]) -> Value {
    urls.iter().map(|url| json!({"url": url})).collect()
}

fn warnings(report: &Report) -> Vec<String> {
    report.warnings.iter().map(ToString::to_string).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_and_port_that_are_granted_are_reached_and_no_other_is() {
    let (mut granted, mut other) = (Server::that(Manner::fine()).await, Server::that(Manner::fine()).await);
    let urls = [&granted.url(), &other.url(), &granted.at("localhost"), "http://127.0.0.1/", "http://example.com/"];
    let (came, report) = Sender::granted(&[&granted.here()], to(&urls)).await.told().await;
    assert_eq!(came, ["200 2 ok", DENIED, DENIED, DENIED, DENIED]);
    let said = warnings(&report);
    assert_eq!(said.len(), 4, "{said:?}");
    let expected = format!("plugin `sender` was denied `{}`: the permission `http` is not granted", other.here());
    assert!(said[0].contains(&expected), "{said:?}");
    let head = granted.requests.recv().await.unwrap();
    assert!(head.starts_with("GET / HTTP/1.1\r\n"), "{head}");
    assert!(other.was_left_alone());
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_grant_a_request_is_an_error_value_and_a_warning_on_the_bus() {
    let mut server = Server::that(Manner::fine()).await;
    let here = server.here();
    for (asks, grants) in [(&[&here[..]][..], &[][..]), (&[], &[&here[..]]), (&["a.example"], &[&here])] {
        let sender = Sender::on(Surroundings::default(), asks, grants, to(&[&server.url()]), 60.0).await;
        let mut records = sender.host.listen();
        assert_eq!(sender.came().await, [DENIED], "{asks:?} {grants:?}");
        loop {
            if let Some(Heard::Record(record)) = records.next().await
                && let Record::Warning(said) = &*record
            {
                let said = said.to_string();
                assert!(said.contains("`sender`") && said.contains(&here) && said.contains("`http`"), "{said}");
                break;
            }
        }
        assert!(server.was_left_alone());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_in_another_spelling_is_the_same_host_or_none() {
    let (mut granted, mut other) = (Server::that(Manner::fine()).await, Server::that(Manner::fine()).await);
    let name = format!("localhost:{}", granted.port);
    let same = ["LOCALHOST", "localhost.", "LocalHost."].map(|host| granted.at(host));
    let came = Sender::granted(&[&name], to(&same.each_ref().map(|url| url.as_str()))).await.came().await;
    assert_eq!(came, ["200 2 ok"; 3]);
    for _ in &same {
        let head = granted.requests.recv().await.unwrap();
        assert_eq!(head.matches("host:").count(), 1, "{head}");
    }
    let hosts = ["127.0.0.1", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]", "[::]", "127.0.0.2", "a.localhost"];
    let no_hosts =
        ["127.1", "0x7f.1", "0x7f000001", "2130706433", "0177.0.0.1", "127.0.0.1.", "localhost..", ".localhost"];
    let both = [&granted, &other];
    let urls: Vec<_> = both.iter().flat_map(|server| hosts.map(|host| server.at(host))).collect();
    let came = Sender::granted(&[&name], to(&urls.iter().map(String::as_str).collect::<Vec<_>>())).await.came().await;
    assert!(came.iter().all(|one| one == DENIED) && came.len() == urls.len(), "{came:?}");
    let mut urls: Vec<_> = both.iter().flat_map(|server| no_hosts.map(|host| server.at(host))).collect();
    for trick in ["@", ":80@", "%40", "\\@", "/@", "?@", "#@", "\t@", "\u{2100}"] {
        urls.push(format!("http://{name}{trick}{}/", other.here()));
        urls.push(format!("http://{}{trick}{name}/", other.here()));
    }
    let came = Sender::granted(&[&name], to(&urls.iter().map(String::as_str).collect::<Vec<_>>())).await.came().await;
    assert_eq!(came.len(), urls.len());
    for (url, one) in urls.iter().zip(&came) {
        assert!(one.starts_with("error: ") || url.starts_with(&format!("http://{name}")), "{url}: {one}");
    }
    assert!(other.was_left_alone());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_leads_nowhere_that_is_not_granted() {
    let mut secret = Server::that(Manner::fine()).await;
    for to in [secret.url(), secret.at("localhost"), secret.at("0.0.0.0"), secret.at("[::ffff:127.0.0.1]")] {
        let moved = Server::that(Manner::redirects(&to)).await;
        let sends = json!([{"url": moved.url()}, {"url": moved.url(), "follow": true}]);
        let came = Sender::granted(&[&moved.here()], sends).await.came().await;
        assert_eq!(came, ["302 0 ", DENIED], "{to}");
    }
    assert!(secret.was_left_alone());
    // To one that is, it is the plugin's to follow.
    let moved = Server::that(Manner::redirects(&secret.url())).await;
    let sends = json!([{"url": moved.url(), "follow": true}]);
    assert_eq!(Sender::granted(&[&moved.here(), &secret.here()], sends).await.came().await, ["200 2 ok"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_star_leads_to_nothing_on_this_machine() {
    let mut server = Server::that(Manner::fine()).await;
    let star = format!("*.localhost:{}", server.port);
    // Some machines know such names and some do not.
    let came = Sender::granted(&[&star], to(&[&server.at("a.localhost"), &server.at("localhost")])).await.came().await;
    let known = ["error: destination-IP-prohibited", "error: DNS-error", "error: destination-not-found"];
    assert!(known.contains(&came[0].as_str()) && came[1] == DENIED, "{came:?}");
    assert!(server.was_left_alone());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_sends_eight_requests_and_the_next_one_eight_again() {
    let mut server = Server::that(Manner::fine()).await;
    let (url, denied) = (server.url(), "http://127.0.0.1:1/");
    // What is denied does not count.
    let urls: Vec<_> = std::iter::once(denied).chain(std::iter::repeat_n(url.as_str(), 10)).collect();
    let sender = Sender::granted(&[&server.here()], to(&urls)).await;
    for _ in 0..2 {
        let came = sender.came().await;
        assert!(came[0] == DENIED && came[1..9].iter().all(|one| one == "200 2 ok"), "{came:?}");
        assert_eq!(came[9..], ["error: connection-limit-reached"; 2]);
        for _ in 0..8 {
            server.requests.recv().await.unwrap();
        }
        server.until_all_are_closed().await;
        assert!(server.was_left_alone());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_of_more_than_a_mebibyte_is_an_error_in_each_direction() {
    let server = Server::that(Manner::fine()).await;
    let post = |size: usize| json!({"url": server.url(), "method": "POST", "body": size});
    let came = Sender::granted(&[&server.here()], json!([post(MIB), post(MIB + 1), post(3 * MIB)])).await.came().await;
    assert_eq!(came[0], "200 2 ok");
    assert!(came[1..].iter().all(|one| one == "error: HTTP-request-body-size"), "{came:?}");
    server.until_all_are_closed().await;
    for (size, whole) in [(MIB, true), (MIB + 1, false)] {
        let body = vec![b'y'; size];
        let known = [format!("HTTP/1.1 200 OK\r\ncontent-length: {size}\r\n\r\n").into_bytes(), body.clone()].concat();
        let chunks = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{size:x}\r\n").into_bytes();
        let chunked = [&chunks[..], &body, b"\r\n0\r\n\r\n"].concat();
        for answer in [known, chunked] {
            let server = Server::that(Manner::says(answer)).await;
            let came = Sender::granted(&[&server.here()], to(&[&server.url()])).await.came().await;
            match whole {
                true => assert!(came[0].starts_with(&format!("200 {MIB} yyy")), "{came:?}"),
                false => assert_eq!(came, ["error: HTTP-response-body-size"]),
            }
            server.until_all_are_closed().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_in_many_pieces_arrives_whole() {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\nhe\r\n3\r\nllo\r\n0\r\nx: y\r\n\r\n";
    let until_the_end = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";
    for answer in [chunked, until_the_end] {
        let server = Server::that(Manner::Spells(answer.into())).await;
        let came = Sender::granted(&[&server.here()], to(&[&server.url()])).await.came().await;
        assert_eq!(came, ["200 5 hello"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_never_answers_costs_the_time_of_the_call_and_its_connection_is_closed() {
    let silent = [
        Manner::silent(),
        Manner::says("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhel"),
        Manner::says("HTTP/1.1 200 OK\r\ncontent-le"),
        Manner::Repeats("", "HTTP/1.1 100 Continue\r\n\r\n"),
    ];
    // At the same time, as each takes all of its time.
    let calls: Vec<_> = silent.into_iter().map(|manner| tokio::spawn(is_waited_for_in_vain(manner))).collect();
    for call in calls {
        call.await.unwrap();
    }
}

async fn is_waited_for_in_vain(manner: Manner) {
    let server = Server::that(manner.clone()).await;
    let (here, sends) = (server.here(), to(&[&server.url()]));
    let sender = Sender::on(Surroundings::default(), &[&here], &[&here], sends, 10.0).await;
    // The plugin hears of it a tenth before its own end, and can still say so.
    let (came, report) = sender.told().await;
    assert!(matches!(report.hooks[0].outcome, Some(Outcome::Continue(_))), "{report:?}");
    assert_eq!(came, ["error: connection-read-timeout"], "{manner:?}");
    server.until_all_are_closed().await;
    sender.host.unregister_all(skill()).ended().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_cancelled_closes_its_connection() {
    let mut server = Server::that(Manner::silent()).await;
    let sender = Arc::new(Sender::granted(&[&server.here()], to(&[&server.url()])).await);
    let asking = tokio::spawn({
        let sender = Arc::clone(&sender);
        async move { sender.host.pre_tool_use(&bash("ls"), &Context::new("s1")).await }
    });
    server.requests.recv().await.unwrap();
    let dropped = sender.host.unregister_all_now(skill());
    let answer = asking.await.unwrap();
    assert!(matches!(answer.verdict, PreToolUse::Blocked { .. }), "{:?}", answer.verdict);
    assert_eq!(answer.report.hooks[0].outcome, Some(Outcome::NoAnswer(Cause::Cancelled)));
    server.until_all_are_closed().await;
    dropped.ended().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_without_an_end_and_what_is_no_answer_are_errors() {
    let (long, no_http) = ("error: HTTP-response-header-section-size", "error: HTTP-protocol-error");
    for (manner, expected) in [
        (Manner::Repeats("HTTP/1.1 200 OK\r\n", "name: value\r\n"), long),
        (Manner::Repeats("HTTP/1.1 200 OK\r\nname: ", "value"), long),
        (Manner::Repeats("HTTP/1.1 200 ", "OK"), long),
        (Manner::Repeats("", "no HTTP at all\r\n"), no_http),
        (Manner::says("HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx"), no_http),
        (Manner::says("HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\nxx"), no_http),
        (Manner::says("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"), no_http),
    ] {
        let server = Server::that(manner.clone()).await;
        let came = Sender::granted(&[&server.here()], to(&[&server.url()])).await.came().await;
        assert_eq!(came, [expected], "{manner:?}");
        server.until_all_are_closed().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_a_plugin_writes_makes_another_request_of_its_own() {
    let mut server = Server::that(Manner::fine()).await;
    let with =
        |name: &str, value: &str| json!({"url": server.url(), "method": "POST", "body": 5, "headers": [[name, value]]});
    let mut sends: Vec<_> = [
        ("host", "evil.example"),
        ("Host", "evil.example"),
        ("transfer-encoding", "chunked"),
        ("Transfer-Encoding", "identity"),
        ("connection", "close, x"),
        ("keep-alive", "1"),
        ("upgrade", "h2c"),
        ("proxy-authorization", "Basic eA=="),
        ("proxy-connection", "keep-alive"),
        ("http2-settings", "x"),
        ("a", "b\r\nhost: evil.example"),
        ("a", "b\ncontent-length: 0"),
        ("a", "b\0"),
        ("a\r\nb", "c"),
        ("a: b", "c"),
        ("", "c"),
        ("content-length", "+5"),
        ("content-length", "5, 5"),
    ]
    .map(|(name, value)| with(name, value))
    .into();
    sends.push(json!({"url": server.url(), "headers": [["content-length", "0"], ["content-length", "5"]]}));
    for path in [" HTTP/1.1\r\nhost: evil\r\n\r\n", "a b", "a\r\nb: c", "\0"] {
        sends.push(json!({"url": format!("{}{path}", server.url())}));
    }
    for method in ["GET / HTTP/1.1\r\n", "G T", ""] {
        sends.push(json!({"url": server.url(), "method": method}));
    }
    let count = sends.len();
    let came = Sender::granted(&[&server.here()], json!(sends)).await.came().await;
    assert_eq!(came, vec![REFUSED; count]);
    assert!(server.was_left_alone());
    // A length that is not the body's.
    for (said, body) in [("3", 5), ("10", 5), ("0", 5)] {
        let sends =
            json!([{"url": server.url(), "method": "POST", "body": body, "headers": [["content-length", said]]}]);
        let came = Sender::granted(&[&server.here()], sends).await.came().await;
        assert!(came[0].starts_with("error: "), "{said}: {came:?}");
        server.until_all_are_closed().await;
        while let Ok(heard) = server.requests.try_recv() {
            let body = heard.split_once("\r\n\r\n").map_or("", |(_, body)| body);
            assert!(body.len() <= said.parse().unwrap(), "{heard}");
        }
    }
    // And one that is.
    let sends =
        json!([{"url": server.url(), "method": "POST", "body": 5, "headers": [["content-length", "5"], ["a", "b"]]}]);
    assert_eq!(Sender::granted(&[&server.here()], sends).await.came().await, ["200 2 ok"]);
    let heard = server.requests.recv().await.unwrap();
    assert_eq!(heard.matches("host:").count(), 1, "{heard}");
    assert!(heard.contains(&format!("host: {}\r\n", server.here())) && heard.ends_with("\r\n\r\nxxxxx"), "{heard}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_proxy_of_the_environment_is_used_and_nothing_of_the_environment_is_sent() {
    let (mut server, mut proxy) = (Server::that(Manner::fine()).await, Server::that(Manner::fine()).await);
    let world = program::World::new();
    world.lay("home/sender/sender.wasm", &std::fs::read(guest()).unwrap());
    let hook = json!({
        "name": "sender", "type": "callback", "plugin": "../sender/sender.wasm", "grant": {"http": [server.here()]},
        "config": {"send": [{"url": server.url()}]}, "timeout": 60,
    });
    world.lay("home/.freecode/settings.json", json!({"hooks": {"PreToolUse": [hook]}}).to_string().as_bytes());
    let mut command =
        world.command(&["run", "PreToolUse", "--tool", "bash", "--input", r#"{"command": "ls"}"#, "--json"]);
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
        command.env(name, format!("http://me:secret@{}", proxy.here()));
    }
    command.env_remove("NO_PROXY").env_remove("no_proxy").env("GITHUB_TOKEN", "secret");
    let said = tokio::task::spawn_blocking(move || program::Said::of(command.output().unwrap())).await.unwrap();
    assert!(said.out.contains("200 2 ok"), "{} {}", said.out, said.err);
    let heard = server.requests.recv().await.unwrap();
    assert!(heard.starts_with("GET / HTTP/1.1\r\n") && !heard.contains("secret"), "{heard}");
    assert!(proxy.was_left_alone());
}
