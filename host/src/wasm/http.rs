//! `wasi:http`: requests to hosts outside, each only where it was granted.
//!
//! Owns what a call may send and to whom. Which addresses a name may lead to is said in `address`, how a name is looked up in
//! `resolving`, whose certificates are believed in `trusting`, how a request goes out in `sending`, what a guest is told of a body
//! that broke off in `naming`. The engine follows no redirect: a guest that does sends a new request, which is looked at like the first.

mod address;
mod naming;
mod resolving;
mod sending;
#[cfg(test)]
mod tests;
mod trusting;

use std::sync::{Arc, Mutex, PoisonError};

use http::uri::Scheme;
use http::{Method, Request, Response};
use tokio::sync::watch;
use wasmtime::component::Linker;
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody, WasiHttpHooks};

use self::address::Named;
use self::resolving::Resolver;
use self::sending::{Parcel, Route};
use self::trusting::Tls;
use super::instance::Guest;
use super::process::{Denials, Until};
use crate::ask::Lease;
use crate::permission::{Hosts, Target};

/// How many requests a call may send.
const MOST_REQUESTS: usize = 8;
/// How much a guest hands over at once of a body, in bytes: two pieces of each are kept, sent or not.
const PIECE: usize = 16 << 10;

/// Links it.
pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    wasmtime_wasi_http::p2::add_only_http_to_linker_async(linker)?;
    naming::link(linker)
}

/// The hosts that a plugin may reach, and what it needs for that.
#[derive(Default)]
pub(super) struct Reach {
    asked: Hosts,
    granted: Hosts,
    resolver: Resolver,
    tls: Tls,
}

impl Reach {
    /// Those that stand in both. Over TLS these authorities are believed, in PEM, beside the machine's.
    pub(super) fn of(asked: &Hosts, granted: &Hosts, authorities: &[u8]) -> Self {
        let both = granted.0.iter().any(|host| asked.meets(host));
        match both {
            true => {
                let tls = Tls::believing(authorities);
                Self { asked: asked.clone(), granted: granted.clone(), tls, ..Self::default() }
            }
            false => Self { granted: granted.clone(), ..Self::default() },
        }
    }

    /// What is wrong with it, so that nothing is sent over TLS.
    pub(super) fn doubt(&self) -> Option<String> {
        self.tls.doubt()
    }

    /// Whether there is any.
    pub(super) fn is_empty(&self) -> bool {
        self.asked.0.is_empty()
    }

    /// How it was named, or why it may not be reached.
    fn permits(&self, target: &Target) -> Result<Named, &'static str> {
        match (self.granted.covers(target), self.asked.covers(target)) {
            (true, true) if self.granted.names(target) => Ok(Named::Itself),
            (true, true) => Ok(Named::AsOneOfMany),
            (true, false) => {
                Err("the permission `http` is granted for it, and the plugin does not ask for that in `permissions`")
            }
            (false, _) => Err("the permission `http` is not granted for it"),
        }
    }
}

/// What one call sends.
#[derive(Default)]
pub(super) struct Outgoing {
    reach: Arc<Reach>,
    until: Until,
    lease: Lease,
    /// Gone when the call is over, and with it whatever of a request goes on: an instance that is kept, and with it what it
    /// holds of an answer, outlasts the call.
    over: watch::Sender<()>,
    sent: usize,
    denials: Arc<Mutex<Denials>>,
}

impl Outgoing {
    /// To these hosts, until then.
    pub(super) fn to(reach: &Arc<Reach>, until: Until, lease: Lease) -> Self {
        Self { reach: Arc::clone(reach), until, lease, ..Self::default() }
    }

    /// What was denied.
    pub(super) fn denials(self) -> Denials {
        std::mem::take(&mut *self.denials.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Looks at a request before anything of it leaves.
    fn check(&mut self, request: Request<WasiBody>, options: RequestOptions) -> Result<Parcel, Error> {
        let target = target(&request)?;
        let named = self.reach.permits(&target).map_err(|why| {
            self.denials.lock().unwrap_or_else(PoisonError::into_inner).note(&target.to_string(), why);
            Error::HttpRequestDenied
        })?;
        // It would make a tunnel of the connection, and what goes through it is not looked at.
        if request.method() == Method::CONNECT {
            return Err(Error::HttpRequestMethodInvalid);
        }
        if self.sent == MOST_REQUESTS {
            return Err(Error::ConnectionLimitReached);
        }
        self.sent += 1;
        let (reach, denials) = (Arc::clone(&self.reach), Arc::clone(&self.denials));
        let route = Route { target, named, reach, denials };
        let (until, lease, over) = (self.until, self.lease.clone(), self.over.subscribe());
        Ok(Parcel { request, options, route, until, lease, over })
    }
}

/// Where it goes.
fn target(request: &Request<WasiBody>) -> Result<Target, Error> {
    let uri = request.uri();
    let authority = uri.authority().filter(|authority| !authority.as_str().contains('@'));
    let authority = authority.ok_or(Error::HttpRequestUriInvalid)?;
    let secure = uri.scheme() == Some(&Scheme::HTTPS);
    let port = match authority.port() {
        Some(port) => port.as_u16(),
        None if authority.as_str().ends_with(':') => return Err(Error::HttpRequestUriInvalid),
        None => Target::usual_port(secure),
    };
    Target::of(authority.host(), port, secure).ok_or(Error::HttpRequestUriInvalid)
}

/// A response, and what goes on beside it.
type Sent = Result<(Response<WasiBody>, Box<dyn Future<Output = Result<(), Error>> + Send>), Error>;

impl WasiHttpHooks for Outgoing {
    fn send_request(
        &mut self,
        request: Request<WasiBody>,
        options: Option<RequestOptions>,
        _: Box<dyn Future<Output = Result<(), Error>> + Send>,
    ) -> Box<dyn Future<Output = Sent> + Send> {
        let parcel = self.check(request, options.unwrap_or_default());
        Box::new(async move { parcel?.send().await })
    }

    fn p2_outgoing_body_chunk_size(&mut self) -> usize {
        PIECE
    }
}
