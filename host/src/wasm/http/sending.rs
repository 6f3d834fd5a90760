//! A request from its look-up to the end of its answer: one look-up, every address of it checked, a connection to one of
//! those and to nothing else, HTTP/1.1 on it. No proxy, no redirect, no second try, nothing of the environment.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Instant, Sleep, sleep_until, timeout_at};
use wasmtime_wasi::runtime::{AbortOnDropJoinHandle, spawn};
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody};

use super::address::{Named, Place};
use super::{Reach, Sent};
use crate::ask::Lease;
use crate::permission::Target;
use crate::wasm::process::{Denials, Until, its_end};

/// The largest body in each direction, in bytes.
pub(super) const LARGEST_BODY: usize = 1 << 20;
/// How long a connection may take, if the call has so much time.
const CONNECT_TIME: Duration = Duration::from_secs(10);
/// How much may stand before an answer's body, in bytes.
const LARGEST_HEAD: usize = 64 << 10;

/// A request that may be sent.
pub(super) struct Parcel {
    pub(super) request: Request<WasiBody>,
    pub(super) options: RequestOptions,
    pub(super) route: Route,
    pub(super) until: Until,
    pub(super) lease: Lease,
    pub(super) over: watch::Receiver<()>,
}

/// Where it goes, and what that may lead to.
pub(super) struct Route {
    pub(super) target: Target,
    pub(super) named: Named,
    pub(super) reach: Arc<Reach>,
    pub(super) denials: Arc<Mutex<Denials>>,
}

/// What carries a connection.
trait Carrier: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Carrier for T {}

impl Parcel {
    /// Sends it, and gives the answer as soon as its head is there. Dropping the future ends the connection, which holds the
    /// lease until then; so does the end of the call.
    pub(super) async fn send(self) -> Sent {
        let over = over(self.over.clone());
        tokio::select! {
            sent = self.exchange() => sent,
            () = over => Err(Error::ConnectionTerminated),
        }
    }

    async fn exchange(self) -> Sent {
        let Self { request, options, route, until, lease, over: call } = self;
        let end = its_end(until);
        let connected_by = sooner(end, Some(options.connect_timeout.unwrap_or(CONNECT_TIME)));
        let connected = timeout_at(connected_by, route.connect()).await;
        let carrier = connected.map_err(|_| Error::ConnectionTimeout)??;
        let mut builder = http1::Builder::new();
        let handshake = builder.max_buf_size(LARGEST_HEAD).handshake(TokioIo::new(carrier));
        let (mut sender, connection) = handshake.await.map_err(|_| Error::HttpProtocolError)?;
        let connection = spawn(async move {
            tokio::select! {
                _ended = connection => {}
                () = over(call) => {}
            }
            drop(lease);
        });
        let too_long = Arc::new(AtomicBool::new(false));
        let request = in_origin_form(request)?.map(|body| Counted::of(body, &too_long).boxed_unsync());
        let head_by = sooner(end, options.first_byte_timeout);
        let answer = timeout_at(head_by, sender.send_request(request)).await;
        let answer = answer.map_err(|_| Error::ConnectionReadTimeout)?.map_err(|error| {
            match too_long.load(Ordering::Relaxed) {
                true => Error::HttpRequestBodySize(Some(LARGEST_BODY as u64)),
                false => response_error(&error),
            }
        })?;
        received(answer, end, options.between_bytes_timeout, connection)
    }
}

/// Comes back when the call is over.
async fn over(mut call: watch::Receiver<()>) {
    while call.changed().await.is_ok() {}
}

impl Route {
    async fn connect(&self) -> Result<Box<dyn Carrier>, Error> {
        let stream = connect_to_one(&self.addresses().await?).await?;
        if !self.target.secure() {
            return Ok(Box::new(stream));
        }
        // The name is what the certificate must be for, whatever the address.
        let name = ServerName::try_from(self.target.host().to_owned()).map_err(|_| Error::HttpRequestUriInvalid)?;
        let tls = self.reach.tls.connector().await.map_err(|why| Error::InternalError(Some(why)))?;
        let stream = tls.connect(name, stream).await.map_err(|error| tls_error(&error))?;
        Ok(Box::new(stream))
    }

    /// The only look-up. One address where the host may not be refuses them all: who mixes them in wants them tried.
    async fn addresses(&self) -> Result<Vec<SocketAddr>, Error> {
        let (all, by_address) = match self.target.address() {
            Some(ip) => (vec![SocketAddr::new(ip, self.target.port())], true),
            None => {
                let found = self.reach.resolver.look_up(self.target.host(), self.target.port()).await;
                (found.map_err(|_| Error::DnsError { rcode: None, info_code: None })?, false)
            }
        };
        if all.iter().all(|one| Place::of(one.ip()).is_open(self.named, by_address)) {
            return Ok(all);
        }
        let why = "it leads to an address that the permission `http` does not name";
        self.denials.lock().unwrap_or_else(PoisonError::into_inner).note(&self.target.to_string(), why);
        Err(Error::DestinationIpProhibited)
    }
}

async fn connect_to_one(all: &[SocketAddr]) -> Result<TcpStream, Error> {
    let mut last = Error::DestinationNotFound;
    for address in all {
        match TcpStream::connect(address).await {
            Ok(stream) => {
                // A request is written in few pieces, and each is waited for.
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => last = Error::ConnectionRefused,
            Err(_) => last = Error::DestinationUnavailable,
        }
    }
    Err(last)
}

fn tls_error(error: &std::io::Error) -> Error {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<rustls::Error>());
    match cause {
        Some(rustls::Error::InvalidCertificate(_)) => Error::TlsCertificateError,
        _ => Error::TlsProtocolError,
    }
}

fn response_error(error: &hyper::Error) -> Error {
    match () {
        () if error.is_incomplete_message() || error.is_canceled() || error.is_closed() => {
            Error::HttpResponseIncomplete
        }
        () if error.is_parse_too_large() => Error::HttpResponseHeaderSectionSize(Some(LARGEST_HEAD as u32)),
        () => Error::HttpProtocolError,
    }
}

/// Scheme and host are in the request line for proxies alone.
fn in_origin_form(mut request: Request<WasiBody>) -> Result<Request<WasiBody>, Error> {
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str()).to_owned();
    *request.uri_mut() = Uri::builder().path_and_query(path).build().map_err(|_| Error::HttpRequestUriInvalid)?;
    Ok(request)
}

fn sooner(end: Instant, patience: Option<Duration>) -> Instant {
    patience.and_then(|patience| Instant::now().checked_add(patience)).map_or(end, |by| by.min(end))
}

fn received(
    answer: Response<Incoming>,
    end: Instant,
    patience: Option<Duration>,
    connection: AbortOnDropJoinHandle<()>,
) -> Sent {
    let too_long = answer.body().size_hint().lower();
    if too_long > LARGEST_BODY as u64 {
        return Err(Error::HttpResponseBodySize(Some(too_long)));
    }
    let answer = answer.map(|body| Received::of(body, end, patience).boxed_unsync());
    let beside = async {
        connection.await;
        Ok(())
    };
    Ok((answer, Box::new(beside)))
}

/// A request's body, up to the limit.
struct Counted {
    body: WasiBody,
    left: usize,
    too_long: Arc<AtomicBool>,
}

impl Counted {
    fn of(body: WasiBody, too_long: &Arc<AtomicBool>) -> Self {
        Self { body, left: LARGEST_BODY, too_long: Arc::clone(too_long) }
    }
}

impl Body for Counted {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let this = self.get_mut();
        let frame = ready!(Pin::new(&mut this.body).poll_frame(cx));
        Poll::Ready(match frame {
            Some(Ok(frame)) if take(&mut this.left, &frame).is_none() => {
                this.too_long.store(true, Ordering::Relaxed);
                Some(Err(Error::HttpRequestBodySize(Some(LARGEST_BODY as u64))))
            }
            frame => frame,
        })
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// An answer's body, up to the limit and the end of its time.
struct Received {
    body: Incoming,
    left: usize,
    end: Instant,
    patience: Option<Duration>,
    silence: Pin<Box<Sleep>>,
}

impl Received {
    fn of(body: Incoming, end: Instant, patience: Option<Duration>) -> Self {
        let silence = Box::pin(sleep_until(sooner(end, patience)));
        Self { body, left: LARGEST_BODY, end, patience, silence }
    }
}

impl Body for Received {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let this = self.get_mut();
        match Pin::new(&mut this.body).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => {
                this.silence.as_mut().reset(sooner(this.end, this.patience));
                let fits = take(&mut this.left, &frame);
                let too_long = Error::HttpResponseBodySize(Some(LARGEST_BODY as u64));
                Poll::Ready(Some(fits.map(|()| frame).ok_or(too_long)))
            }
            Poll::Ready(Some(Err(error))) => Poll::Ready(Some(Err(response_error(&error)))),
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => {
                ready!(this.silence.as_mut().poll(cx));
                Poll::Ready(Some(Err(Error::ConnectionReadTimeout)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Takes a frame's bytes of what is left; none where they are more.
fn take(left: &mut usize, frame: &Frame<Bytes>) -> Option<()> {
    *left = left.checked_sub(frame.data_ref().map_or(0, Bytes::len))?;
    Some(())
}
