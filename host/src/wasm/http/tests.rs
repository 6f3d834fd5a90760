//! Requests as a guest hands them over, to servers on this machine and by a table of names.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::Instant;
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody, WasiHttpHooks as _};

use super::resolving::Resolver;
use super::sending::LARGEST_BODY;
use super::{MOST_REQUESTS, Outgoing, Reach};
use crate::ask::Lease;
use crate::permission::{Host, Hosts};

fn hosts(texts: &[&str]) -> Hosts {
    Hosts(texts.iter().map(|text| Host::parse(text).unwrap()).collect())
}

/// One call of a plugin that asks for just what it is granted, on a machine that knows these names.
fn granted(texts: &[&str], names: &'static [(&str, &[&str])]) -> Outgoing {
    let table = move |name: &str| -> Vec<IpAddr> {
        let known = names.iter().filter(|(known, _)| *known == name);
        known.flat_map(|(_, all)| all.iter().map(|ip| ip.parse().unwrap())).collect()
    };
    call(Reach { resolver: Resolver::Table(Arc::new(table)), ..Reach::of(&hosts(texts), &hosts(texts), b"") })
}

fn call(reach: Reach) -> Outgoing {
    Outgoing::to(&Arc::new(reach), Some(Instant::now() + Duration::from_secs(600)), Lease::default())
}

fn request(url: &str, body: usize) -> Request<WasiBody> {
    let body = Full::new(Bytes::from(vec![b'x'; body])).map_err(|never| match never {}).boxed_unsync();
    Request::post(url).body(body).unwrap()
}

/// The status and the body's length.
async fn sent(call: &mut Outgoing, request: Request<WasiBody>) -> Result<(u16, usize), Error> {
    let (answer, beside) = Box::into_pin(call.send_request(request, None, Box::new(async { Ok(()) }))).await?;
    let _beside = wasmtime_wasi::runtime::spawn(async { Box::into_pin(beside).await });
    let status = answer.status().as_u16();
    Ok((status, answer.into_body().collect().await?.to_bytes().len()))
}

async fn get(call: &mut Outgoing, url: &str) -> Result<(u16, usize), Error> {
    sent(call, request(url, 0)).await
}

/// A server that takes each request's head and answers with this; what it has read is handed over.
async fn server(answer: impl Into<Vec<u8>>) -> (u16, mpsc::UnboundedReceiver<Vec<u8>>) {
    let (listener, answer) = (TcpListener::bind("127.0.0.1:0").await.unwrap(), answer.into());
    let (port, (heard, hears)) = (listener.local_addr().unwrap().port(), mpsc::unbounded_channel());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, answer.clone(), heard.clone()));
        }
    });
    (port, hears)
}

async fn serve(mut stream: TcpStream, answer: Vec<u8>, heard: mpsc::UnboundedSender<Vec<u8>>) {
    let (mut all, mut some, mut answered) = (Vec::new(), vec![0; 64 << 10], false);
    while let Ok(read @ 1..) = stream.read(&mut some).await {
        all.extend_from_slice(&some[..read]);
        let head = all.windows(4).any(|end| end == b"\r\n\r\n") || all[0] == 0x16;
        if head && !answered {
            answered = true;
            let _ = heard.send(all.clone());
            let _ = stream.write_all(&answer).await;
        }
    }
}

const FINE: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

fn is_denied<T>(came: &Result<T, Error>) -> bool {
    matches!(came, Err(Error::HttpRequestDenied))
}

fn is_prohibited<T>(came: &Result<T, Error>) -> bool {
    matches!(came, Err(Error::DestinationIpProhibited))
}

#[tokio::test]
async fn a_host_is_reached_where_it_is_asked_for_and_granted_and_is_denied_else() {
    let (port, mut heard) = server(FINE).await;
    let (here, url) = (format!("127.0.0.1:{port}"), format!("http://127.0.0.1:{port}/a?b"));
    assert_eq!(get(&mut granted(&[&here], &[]), &url).await.unwrap(), (200, 2));
    let head = String::from_utf8(heard.recv().await.unwrap()).unwrap();
    assert!(head.starts_with("POST /a?b HTTP/1.1\r\n"), "{head}");
    let here = [here.as_str()];
    for (asked, granted) in [(&[][..], &here[..]), (&here[..], &[][..]), (&["a.example"][..], &here[..])] {
        let mut call = call(Reach::of(&hosts(asked), &hosts(granted), b""));
        assert!(is_denied(&get(&mut call, &url).await), "{asked:?} {granted:?}");
        let said: Vec<_> = call.denials().warnings("p").collect();
        assert!(said.len() == 1 && said[0].contains("`p`") && said[0].contains("the permission `http` is"), "{said:?}");
        assert_eq!(said[0].contains("does not ask for"), !granted.is_empty(), "{said:?}");
    }
    let mut call = Outgoing::default();
    for _ in 0..3 {
        assert!(is_denied(&get(&mut call, &url).await));
    }
    assert_eq!(call.denials().warnings("p").count(), 1);
    assert!(heard.try_recv().is_err(), "nothing of a denied request leaves");
}

#[tokio::test]
async fn another_port_scheme_or_spelling_of_a_granted_host_is_another_host() {
    let mut call = granted(&["127.0.0.1:9", "a.example"], &[]);
    for url in [
        "http://127.0.0.1/",
        "http://127.0.0.1:10/",
        "http://localhost:9/",
        "http://a.example:8080/",
        "http://a.example:443/",
        "https://a.example:80/",
        "http://b.a.example/",
        "http://[::ffff:127.0.0.1]:9/",
    ] {
        assert!(is_denied(&get(&mut call, url).await), "{url}");
    }
    for url in ["http://a.example@127.0.0.1:9/", "http://127.1:9/", "http://0x7f000001:9/", "http://a.example:/"] {
        assert!(matches!(get(&mut call, url).await, Err(Error::HttpRequestUriInvalid)), "{url}");
    }
}

#[tokio::test]
async fn a_subdomain_leads_to_no_address_that_is_not_public() {
    let mut call = granted(
        &["*.example.com"],
        &[
            ("loop.example.com", &["127.0.0.1"]),
            ("link.example.com", &["169.254.169.254"]),
            ("home.example.com", &["10.0.0.1"]),
            ("nat.example.com", &["100.64.0.1"]),
            ("zero.example.com", &["0.0.0.0"]),
            ("mixed.example.com", &["1.1.1.1", "127.0.0.1"]),
            ("six.example.com", &["::1"]),
            ("mapped.example.com", &["::ffff:127.0.0.1"]),
            ("nat64.example.com", &["64:ff9b::a9fe:a9fe"]),
        ],
    );
    for name in ["loop", "link", "home", "nat", "zero", "mixed", "six", "mapped"] {
        assert!(is_prohibited(&get(&mut call, &format!("http://{name}.example.com/")).await), "{name}");
    }
    let said: Vec<_> = call.denials().warnings("p").collect();
    assert!(said.len() == 8 && said[0].contains("`loop.example.com:80`") && said[0].contains("`http`"), "{said:?}");
}

#[tokio::test]
async fn a_name_that_is_granted_itself_may_be_near_and_never_link_local() {
    let (port, _heard) = server(FINE).await;
    let (near, odd) = (format!("near.test:{port}"), format!("odd.test:{port}"));
    let mut call =
        granted(&[&near, &odd], &[("near.test", &["127.0.0.1"]), ("odd.test", &["127.0.0.1", "169.254.169.254"])]);
    assert_eq!(get(&mut call, &format!("http://NEAR.test.:{port}/")).await.unwrap(), (200, 2));
    assert!(is_prohibited(&get(&mut call, &format!("http://odd.test:{port}/")).await));
    let missing = format!("missing.test:{port}");
    let missed = get(&mut granted(&[&missing], &[]), &format!("http://{missing}/")).await;
    assert!(matches!(missed, Err(Error::DestinationNotFound)), "{missed:?}");
}

#[tokio::test]
async fn a_name_is_looked_up_once_and_what_was_checked_is_what_is_reached() {
    let (port, _heard) = server(FINE).await;
    let lookups = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&lookups);
    // Another address each time.
    let table = move |_: &str| match counted.fetch_add(1, Ordering::Relaxed) {
        0 => vec!["127.0.0.1".parse().unwrap()],
        _ => vec!["169.254.169.254".parse().unwrap()],
    };
    let host = format!("turns.test:{port}");
    let both = hosts(&[&host]);
    let mut call = call(Reach { resolver: Resolver::Table(Arc::new(table)), ..Reach::of(&both, &both, b"") });
    assert_eq!(get(&mut call, &format!("http://{host}/")).await.unwrap(), (200, 2));
    assert_eq!(lookups.load(Ordering::Relaxed), 1);
    assert!(is_prohibited(&get(&mut call, &format!("http://{host}/")).await));
}

#[tokio::test]
async fn over_tls_the_name_is_what_is_asked_for_and_a_server_without_a_certificate_is_none() {
    let (port, mut heard) = server("no TLS here, and enough of it").await;
    let host = format!("named.test:{port}");
    let mut call = granted(&[&host], &[("named.test", &["127.0.0.1"])]);
    let came = get(&mut call, &format!("https://{host}/")).await;
    assert!(matches!(came, Err(Error::TlsProtocolError | Error::InternalError(_))), "{came:?}");
    if let Some(hello) = heard.recv().await {
        assert!(hello[0] == 0x16 && hello.windows(10).any(|name| name == b"named.test"), "{hello:?}");
    }
}

#[tokio::test]
async fn a_redirect_is_answered_and_not_followed() {
    let (secret, mut heard) = server(FINE).await;
    let to = format!("http://127.0.0.1:{secret}/");
    let (port, _heard) = server(format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n")).await;
    let host = format!("moved.test:{port}");
    let mut call = granted(&[&host], &[("moved.test", &["127.0.0.1"])]);
    assert_eq!(get(&mut call, &format!("http://{host}/")).await.unwrap(), (302, 0));
    // The guest's to follow, and looked at like any other.
    assert!(is_denied(&get(&mut call, &to).await));
    assert!(heard.try_recv().is_err());
}

#[tokio::test]
async fn the_ninth_request_of_a_call_is_one_too_many_and_a_tunnel_is_none() {
    let (port, _heard) = server(FINE).await;
    let here = format!("127.0.0.1:{port}");
    let (mut call, url) = (granted(&[&here], &[]), format!("http://{here}/"));
    let mut tunnel = request(&url, 0);
    *tunnel.method_mut() = http::Method::CONNECT;
    assert!(matches!(sent(&mut call, tunnel).await, Err(Error::HttpRequestMethodInvalid)));
    for nth in 0..MOST_REQUESTS {
        assert_eq!(get(&mut call, &url).await.unwrap(), (200, 2), "{nth}");
    }
    assert!(matches!(get(&mut call, &url).await, Err(Error::ConnectionLimitReached)));
}

#[tokio::test]
async fn a_body_of_one_byte_too_many_is_an_error_in_each_direction() {
    let (port, _heard) = server(FINE).await;
    let here = format!("127.0.0.1:{port}");
    let mut call = granted(&[&here], &[]);
    let url = format!("http://{here}/");
    assert_eq!(sent(&mut call, request(&url, LARGEST_BODY)).await.unwrap(), (200, 2));
    let came = sent(&mut call, request(&url, LARGEST_BODY + 1)).await;
    assert!(matches!(came, Err(Error::HttpRequestBodySize(_))), "{came:?}");
    for (head, size, fits) in [
        (format!("content-length: {LARGEST_BODY}\r\n\r\n"), LARGEST_BODY, true),
        (format!("content-length: {}\r\n\r\n", LARGEST_BODY + 1), LARGEST_BODY + 1, false),
        (format!("transfer-encoding: chunked\r\n\r\n{:x}\r\n", LARGEST_BODY + 1), LARGEST_BODY + 1, false),
    ] {
        let (port, _heard) =
            server([format!("HTTP/1.1 200 OK\r\n{head}").into_bytes(), vec![b'x'; size]].concat()).await;
        let here = format!("127.0.0.1:{port}");
        let came = get(&mut granted(&[&here], &[]), &format!("http://{here}/")).await;
        match fits {
            true => assert_eq!(came.unwrap(), (200, LARGEST_BODY)),
            false => assert!(matches!(came, Err(Error::HttpResponseBodySize(_))), "{head}: {came:?}"),
        }
    }
}

#[tokio::test]
async fn a_server_that_is_silent_or_breaks_off_is_an_error() {
    let (silent, _heard) = server("").await;
    let here = format!("127.0.0.1:{silent}");
    let options = RequestOptions { first_byte_timeout: Some(Duration::from_millis(20)), ..RequestOptions::default() };
    let mut call = granted(&[&here], &[]);
    let url = format!("http://{here}/");
    let sending = call.send_request(request(&url, 0), Some(options), Box::new(async { Ok(()) }));
    assert!(matches!(Box::into_pin(sending).await, Err(Error::ConnectionReadTimeout)));
    // The call's own end counts as well, whatever the guest is ready to wait for.
    let both = hosts(&[&here]);
    let end = Some(Instant::now() + Duration::from_millis(50));
    let mut call = Outgoing::to(&Arc::new(Reach::of(&both, &both, b"")), end, Lease::default());
    assert!(matches!(get(&mut call, &url).await, Err(Error::ConnectionReadTimeout | Error::ConnectionTimeout)));
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let here = closed.local_addr().unwrap().to_string();
    drop(closed);
    assert!(matches!(
        get(&mut granted(&[&here], &[]), &format!("http://{here}/")).await,
        Err(Error::ConnectionRefused)
    ));
}

#[tokio::test]
async fn a_call_that_is_dropped_leaves_no_connection_and_gives_back_its_lease() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let here = listener.local_addr().unwrap().to_string();
    let both = hosts(&[&here]);
    let held: Arc<dyn std::any::Any + Send + Sync> = Arc::new(());
    let mut call = Outgoing::to(&Arc::new(Reach::of(&both, &both, b"")), None, Lease::on(Arc::clone(&held)));
    call.until = Some(Instant::now() + Duration::from_secs(600));
    let sending =
        Box::into_pin(call.send_request(request(&format!("http://{here}/"), 0), None, Box::new(async { Ok(()) })));
    let sending = tokio::spawn(sending);
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut head = [0; 16];
    stream.read_exact(&mut head).await.unwrap();
    sending.abort();
    drop(call);
    let mut rest = Vec::new();
    // To its end: the connection is closed, since nobody answered it.
    let _ = stream.read_to_end(&mut rest).await;
    while Arc::strong_count(&held) > 1 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn an_answer_that_was_left_unread_is_no_other_calls() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let here = listener.local_addr().unwrap().to_string();
    let mut call = granted(&[&here], &[]);
    let sending = call.send_request(request(&format!("http://{here}/"), 0), None, Box::new(async { Ok(()) }));
    let sending = tokio::spawn(Box::into_pin(sending));
    let (mut stream, _) = listener.accept().await.unwrap();
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhel").await.unwrap();
    let (answer, beside) = sending.await.unwrap().unwrap();
    let beside = tokio::spawn(async { Box::into_pin(beside).await });
    // Another request is on its way still.
    let late = call.send_request(request(&format!("http://{here}/"), 0), None, Box::new(async { Ok(()) }));
    let late = tokio::spawn(Box::into_pin(late));
    let (mut other, _) = listener.accept().await.unwrap();
    drop(call);
    for stream in [&mut stream, &mut other] {
        let mut rest = Vec::new();
        // To its end, although what the guest has of it is held on to.
        let _ = stream.read_to_end(&mut rest).await;
    }
    assert!(late.await.unwrap().is_err());
    assert!(matches!(answer.into_body().collect().await, Err(Error::HttpResponseIncomplete)));
    beside.await.unwrap().unwrap();
}
