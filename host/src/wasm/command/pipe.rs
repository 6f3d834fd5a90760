//! Where the output of a WASI command goes: kept to a cap, the rest dropped. The engine's own pipe fails when it is full,
//! and a guard that cannot print does not exit as it meant to; this one takes everything.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime_wasi::async_trait;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

use crate::wire::process::Stream;

/// The most bytes of a stream that are kept.
const CAP: usize = 1 << 20;

/// How much may be written at once.
const AT_ONCE: usize = 64 << 10;

/// One stream of a command's output. A clone is the same stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Pipe {
    kept: Arc<Mutex<Stream>>,
}

impl Pipe {
    /// What was kept of it; it is empty from then on.
    pub(super) fn close(&self) -> Stream {
        std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn keep(&self, bytes: &[u8]) {
        let mut stream = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = bytes.len().min(CAP - stream.bytes.len());
        stream.bytes.extend_from_slice(&bytes[..kept]);
        stream.cut |= kept < bytes.len();
    }
}

impl IsTerminal for Pipe {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Pipe {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

#[async_trait]
impl Pollable for Pipe {
    async fn ready(&mut self) {}
}

#[async_trait]
impl OutputStream for Pipe {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.keep(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(AT_ONCE)
    }
}

impl AsyncWrite for Pipe {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        self.keep(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_much_is_dropped_and_marked() {
        let pipe = Pipe::default();
        pipe.clone().keep(&vec![b'a'; CAP - 1]);
        pipe.keep(b"b");
        assert!(!pipe.kept.lock().unwrap().cut);
        pipe.keep(b"c");
        let stream = pipe.close();
        assert_eq!((stream.bytes.len(), stream.bytes.last(), stream.cut), (CAP, Some(&b'b'), true));
    }
}
