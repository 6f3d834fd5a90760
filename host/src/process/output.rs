//! What a command prints: read as it comes, kept to a cap, the rest dropped, so that nothing it prints can stop it or
//! fill the host's memory.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, ChildStderr, ChildStdout};

use crate::wire::process::Stream;

/// The most bytes of a stream that are kept.
pub(crate) const OUTPUT_CAP: usize = 1 << 20;

/// A command's two streams and what came out of them so far.
pub(crate) struct Pipes {
    stdout: Pipe<ChildStdout>,
    stderr: Pipe<ChildStderr>,
}

impl Pipes {
    /// Takes the child's ends.
    pub(crate) fn of(child: &mut Child) -> Self {
        Self { stdout: Pipe::of(child.stdout.take()), stderr: Pipe::of(child.stderr.take()) }
    }

    /// Reads until `end` is done. That the streams end does not end it.
    pub(crate) async fn until<T>(&mut self, end: impl Future<Output = T>) -> T {
        let mut end = pin!(end);
        tokio::select! {
            biased;
            done = &mut end => return done,
            () = self.read_both() => {}
        }
        end.await
    }

    /// Reads until `end` is done; `None` where a stream passes the cap before.
    #[cfg(feature = "wasm")]
    pub(crate) async fn until_full<T>(&mut self, end: impl Future<Output = T>) -> Option<T> {
        let mut end = pin!(end);
        tokio::select! {
            biased;
            done = &mut end => return Some(done),
            full = self.fill_one() => if full { return None },
        }
        Some(end.await)
    }

    /// True when one of them is past the cap, false when both have ended.
    #[cfg(feature = "wasm")]
    async fn fill_one(&mut self) -> bool {
        let (mut out, mut err) = (pin!(self.stdout.fill()), pin!(self.stderr.fill()));
        tokio::select! {
            full = &mut out => full || err.await,
            full = &mut err => full || out.await,
        }
    }

    /// What was read. Whoever still prints meets a closed pipe.
    #[cfg(feature = "wasm")]
    pub(crate) fn drop_ends(self) -> (Stream, Stream) {
        (self.stdout.read, self.stderr.read)
    }

    /// Reads what is still on its way, for so long at most.
    pub(crate) async fn drain(&mut self, time: Duration) {
        // Late is what a child prints that was left behind; it is not waited for.
        let _ = tokio::time::timeout(time, self.read_both()).await;
    }

    /// What was read. A stream that somebody still holds is read on and dropped in the background: closing it would
    /// end a server that was left behind on purpose, at the next line that it prints.
    pub(crate) fn close(self) -> (Stream, Stream) {
        (self.stdout.close(), self.stderr.close())
    }

    async fn read_both(&mut self) {
        tokio::join!(self.stdout.read_out(), self.stderr.read_out());
    }
}

struct Pipe<R> {
    from: Option<R>,
    read: Stream,
}

impl<R: AsyncRead + Unpin + Send + 'static> Pipe<R> {
    fn of(from: Option<R>) -> Self {
        Self { from, read: Stream::default() }
    }

    /// May be dropped at any point and called again.
    async fn read_out(&mut self) {
        let mut buffer = vec![0; 16 << 10];
        while self.from.is_some() {
            self.read_some(&mut buffer).await;
        }
    }

    /// The same, up to the cap: whether that was passed.
    #[cfg(feature = "wasm")]
    async fn fill(&mut self) -> bool {
        let mut buffer = vec![0; 16 << 10];
        while self.from.is_some() && !self.read.cut {
            self.read_some(&mut buffer).await;
        }
        self.read.cut
    }

    async fn read_some(&mut self, buffer: &mut [u8]) {
        let Some(from) = &mut self.from else { return };
        match from.read(buffer).await {
            Ok(0) | Err(_) => self.from = None,
            Ok(n) => self.keep(&buffer[..n]),
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        let kept = bytes.len().min(OUTPUT_CAP - self.read.bytes.len());
        self.read.bytes.extend_from_slice(&bytes[..kept]);
        self.read.cut |= kept < bytes.len();
    }

    fn close(mut self) -> Stream {
        self.read.unfinished = self.from.is_some();
        if let (Some(mut from), Ok(runtime)) = (self.from, tokio::runtime::Handle::try_current()) {
            runtime.spawn(async move { tokio::io::copy(&mut from, &mut tokio::io::sink()).await });
        }
        self.read
    }
}
