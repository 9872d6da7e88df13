//! The body of a response: bytes, or pieces sent as they become available.

use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Bytes, Frame, SizeHint};
use tokio::sync::mpsc::Receiver;

use crate::connections::Busy;
use crate::reporter::StopOnDrop;

/// The error of a body that ends early: the browser sees a broken transfer, and not a complete file.
#[derive(Debug, thiserror::Error)]
#[error("the rest of this answer could not be made")]
pub(crate) struct Broken;

/// The body of a response.
pub(crate) enum Body {
    /// All of it.
    Whole(Option<Bytes>),
    /// Pieces, until the sender ends. If the browser leaves, the body is dropped, which stops the work.
    Pieces(
        Receiver<Result<Bytes, Broken>>,
        #[expect(dead_code, reason = "stops the work when it is dropped")] Option<StopOnDrop>,
    ),
}

/// A body, and the request that it answers. The connection does not yield to another one until the body has been sent.
pub(crate) struct HeldBody {
    pub(crate) body: Body,
    #[expect(dead_code, reason = "the request is over when it is dropped")]
    pub(crate) busy: Busy,
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Self {
        Body::Whole(Some(bytes.into()))
    }
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        match self.get_mut() {
            Body::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Body::Pieces(pieces, _) => pieces.poll_recv(context).map(|piece| piece.map(|piece| piece.map(Frame::data))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Body::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Body::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Body::Pieces(..) => SizeHint::default(),
        }
    }
}

impl hyper::body::Body for HeldBody {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        Pin::new(&mut self.get_mut().body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
