//! `http-error-code` of `wasi:http`, which says why a body broke off. The engine's own knows no error that comes from here,
//! so a guest could not tell an answer that was too long from one that took too long.

use wasmtime::StoreContextMut;
use wasmtime::component::{Linker, Resource};
use wasmtime_wasi_http::p2::bindings::http::types::{ErrorCode, IoError};
use wasmtime_wasi_http::{Error, WasiHttpView as _};

use super::super::instance::Guest;

/// The interface, in the version that the engine links.
const TYPES: &str = "wasi:http/types@0.2.12";

/// Puts it in the place of the engine's own.
pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.allow_shadowing(true);
    linker.instance(TYPES)?.func_wrap("http-error-code", |mut store: StoreContextMut<'_, Guest>, (error,)| {
        let error: Resource<IoError> = error;
        Ok((name(store.data_mut().http().table.get(&error)?),))
    })?;
    linker.allow_shadowing(false);
    Ok(())
}

/// What can go wrong with a body.
fn name(error: &IoError) -> Option<ErrorCode> {
    match error.downcast_ref::<Error>() {
        Some(Error::HttpResponseBodySize(size)) => Some(ErrorCode::HttpResponseBodySize(*size)),
        Some(Error::HttpResponseIncomplete) => Some(ErrorCode::HttpResponseIncomplete),
        Some(Error::ConnectionReadTimeout) => Some(ErrorCode::ConnectionReadTimeout),
        Some(Error::HttpProtocolError) => Some(ErrorCode::HttpProtocolError),
        _ => error.downcast_ref::<ErrorCode>().cloned(),
    }
}
