//! Answers as CSV files, with all rows.

use std::io::{self, Write};
use std::sync::Arc;

use barrow_query::answer::csv;
use hyper::body::Bytes;
use hyper::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use hyper::{Response, StatusCode};
use tokio::sync::{mpsc, oneshot};

use super::answering::{Failure, beside, key};
use super::{App, failed};
use crate::body::{Body, Broken};
use crate::error::{Fault, Refusal};
use crate::question::ParsedRequest;
use crate::reporter::{Reporter, StopOnDrop};

/// Bytes sent at a time: few system calls for a large file, and few bytes to hold.
const PIECE: usize = 64 << 10;
/// Maximum number of pieces that wait for the browser: a slow one costs 512 KiB, not the whole table.
const WAITING: usize = 8;

/// The rows of the answer to a question, as a file.
pub(super) async fn csv(app: &Arc<App>, query: &str) -> Result<Response<Body>, Refusal> {
    let asked = app.files.request(query)?;
    let reporter = Reporter::new();
    let stop = StopOnDrop(reporter.clone());
    let name = format!("barrow-{}.csv", asked.question.command.name);
    let permit = Arc::clone(&app.downloads).acquire_owned().await.map_err(|_| failed())?;
    let (pieces, receiver) = mpsc::channel(WAITING);
    let (begun, has_begun) = oneshot::channel();
    let app = Arc::clone(app);
    tokio::task::spawn_blocking(move || {
        let mut out = Pieces { pieces, bytes: Vec::new(), begun: Some(begun) };
        let done = write(&app, &asked, &reporter, &mut out);
        drop(permit);
        out.end(done);
    });
    has_begun.await.map_err(|_| failed())??;
    let response = Response::builder().status(StatusCode::OK).header(CONTENT_TYPE, "text/csv; charset=utf-8");
    let response = response.header(CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\""));
    Ok(response.body(Body::Pieces(receiver, Some(stop))).expect("these headers are valid"))
}

fn write(app: &App, asked: &ParsedRequest, reporter: &Reporter, out: &mut Pieces) -> Result<(), Failure> {
    let file = app.files.get(asked.file).ok_or_else(|| Failure::Refused(failed()))?;
    let (file, revision) = file.open(&app.templates).map_err(|unready| Failure::Refused(unready.into()))?;
    let mut session = app.templates.session(&key(asked, revision), &file, reporter)?;
    session.select(asked.snapshot);
    session.open_beside(beside(app, asked, reporter)?);
    let left = |_: io::Error| Failure::Failed(barrow_query::QueryError::Stopped);
    for (number, piece) in session.pieces(&asked.question, true)?.enumerate() {
        let piece = piece?;
        let drawn = if number == 0 { csv::begin(&piece, &|| Ok(()), out) } else { csv::go_on(&piece, &|| Ok(()), out) };
        drawn.map_err(left)?;
    }
    Ok(())
}

/// Sends written bytes piece by piece.
struct Pieces {
    pieces: mpsc::Sender<Result<Bytes, Broken>>,
    bytes: Vec<u8>,
    /// Signalled when the first piece is there, or with the reason why there is none.
    begun: Option<oneshot::Sender<Result<(), Refusal>>>,
}

impl Pieces {
    fn send(&mut self) -> io::Result<()> {
        if let Some(begun) = self.begun.take() {
            let _ = begun.send(Ok(()));
        }
        let bytes = std::mem::take(&mut self.bytes);
        self.pieces.blocking_send(Ok(bytes.into())).map_err(io::Error::other)
    }

    /// Sends the rest. An error after the first piece breaks the download.
    fn end(mut self, done: Result<(), Failure>) {
        match (done, self.begun.take()) {
            (Ok(()), begun) => {
                self.begun = begun;
                let _ = self.send();
            }
            (Err(failure), Some(begun)) => {
                let _ = begun.send(Err(match failure {
                    Failure::Refused(refusal) => refusal,
                    Failure::Failed(error) => {
                        let fault = Fault::of(&error);
                        Refusal { status: fault.status().unwrap_or(StatusCode::UNPROCESSABLE_ENTITY), fault }
                    }
                }));
            }
            (Err(_), None) => drop(self.pieces.blocking_send(Err(Broken))),
        }
    }
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() >= PIECE {
            self.send()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
