//! The bytes of a connection. An address that is longer than any valid one is cut as it arrives. So it takes no more
//! memory than others, and is refused with the same kind of message. Bytes that arrive after the last response are
//! discarded: if they were left unread, the system would discard the response.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// Minimum length of refused addresses in bytes. The HTTP library accepts 65,534.
pub(crate) const TOO_LONG: usize = 60 << 10;
/// Lines are cut here: after the longest method and an address that is refused.
const CUT_AT: usize = TOO_LONG + "OPTIONS ".len();
/// Time that a browser may continue to send bytes that are discarded: it must have read the refusal before the
/// connection is closed. This is a judgement.
const LINGER: Duration = Duration::from_secs(5);

/// A connection that cuts long lines.
pub(crate) struct Connection<S> {
    stream: S,
    cutter: Cutter,
    /// The end of the time to linger, after the last response.
    lingers: Option<Pin<Box<Sleep>>>,
}

impl<S> Connection<S> {
    pub(crate) fn new(stream: S) -> Self {
        Connection { stream, cutter: Cutter::default(), lingers: None }
    }
}

/// Cuts lines. The next word is kept: after an address it is the version of HTTP.
#[derive(Default)]
struct Cutter {
    /// Number of bytes of this line that were kept.
    line: usize,
    is_cutting: bool,
}

impl Cutter {
    /// Moves the kept bytes to the front. Returns their number.
    fn cut(&mut self, bytes: &mut [u8]) -> usize {
        let mut kept = 0;
        for at in 0..bytes.len() {
            let byte = bytes[at];
            self.is_cutting &= !matches!(byte, b' ' | b'\n');
            if self.is_cutting {
                continue;
            }
            bytes[kept] = byte;
            kept += 1;
            self.line = if byte == b'\n' { 0 } else { self.line + 1 };
            self.is_cutting = self.line == CUT_AT;
        }
        kept
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Connection<S> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let Connection { stream, cutter, .. } = self.get_mut();
        let before = buffer.filled().len();
        loop {
            ready!(Pin::new(&mut *stream).poll_read(context, buffer))?;
            let read = buffer.filled().len() - before;
            let kept = cutter.cut(&mut buffer.filled_mut()[before..]);
            buffer.set_filled(before + kept);
            // An empty result would mean the end of the stream.
            if kept > 0 || read == 0 {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Connection<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Connection { stream, lingers, .. } = self.get_mut();
        if lingers.is_none() {
            ready!(Pin::new(&mut *stream).poll_shutdown(context))?;
        }
        let until = lingers.get_or_insert_with(|| Box::pin(tokio::time::sleep(LINGER)));
        while until.as_mut().poll(context).is_pending() {
            let mut unread = [0; 8 << 10];
            let mut unread = ReadBuf::new(&mut unread);
            ready!(Pin::new(&mut *stream).poll_read(context, &mut unread))?;
            if unread.filled().is_empty() {
                break;
            }
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_cut_wherever_pieces_end() {
        let long = format!("GET /{} HTTP/1.1\r\nHost: a b c\r\n\r\nGET / HTTP/1.1\r\n\r\n", "x".repeat(3 * CUT_AT));
        let expected = format!("GET /{} HTTP/1.1\r\nHost: a b c\r\n\r\nGET / HTTP/1.1\r\n\r\n", "x".repeat(CUT_AT - 5));
        for piece in [1, 7, 8192, long.len()] {
            let (mut cutter, mut kept) = (Cutter::default(), Vec::new());
            for piece in long.as_bytes().chunks(piece) {
                let mut piece = piece.to_vec();
                let length = cutter.cut(&mut piece);
                kept.extend_from_slice(&piece[..length]);
            }
            assert!(kept == expected.as_bytes(), "{piece}: {} bytes", kept.len());
        }
        let mut short = *b"POST /api/import?f=0 HTTP/1.1\r\n\r\n";
        assert_eq!(Cutter::default().cut(&mut short), short.len());
    }
}
