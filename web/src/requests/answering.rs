//! Questions: progress while they are answered, then the answer. An error that is found before anything is sent becomes
//! a status.

use std::sync::Arc;
use std::time::Duration;

use barrow_query::answer::Answer;
use barrow_query::{OpenFile, QueryError, SnapshotName};
use hyper::body::Bytes;
use hyper::{Response, StatusCode};
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::json;
use tokio::sync::mpsc::{self, Receiver};
use tokio::sync::oneshot;
use tokio::time::{Instant, interval_at, timeout};

use super::{App, failed, json_response};
use crate::body::{Body, Broken};
use crate::encoder::Encoder;
use crate::error::{Fault, Refusal};
use crate::files::Unready;
use crate::places::Kind;
use crate::question::ParsedRequest;
use crate::reporter::{Reporter, StopOnDrop};
use crate::templates::Key;

/// Interval of progress reports, and the time before the first one: a shorter answer seems immediate.
const TICK: Duration = Duration::from_millis(100);
/// Maximum number of rows of an answer without a window. Some megabytes of JSON, which the page draws in parts. This
/// is a judgement.
const MOST_ROWS: usize = 10_000;
/// Maximum number of lines that wait for the browser: reports of progress that it has not read are out of date.
const WAITING: usize = 4;

/// One line of a response.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Event<T> {
    Progress(crate::reporter::Progress),
    Remark(String),
    Answer(T),
    Imported(T),
    Error(Fault),
}

impl<T: Serialize> Event<T> {
    pub(super) fn line(&self) -> Vec<u8> {
        let mut line =
            serde_json::to_vec(self).unwrap_or_else(|error| json!({ "error": error.to_string() }).to_string().into());
        line.push(b'\n');
        line
    }
}

/// Answers a question.
pub(super) async fn ask(app: &Arc<App>, query: &str, gzip: bool) -> Result<Response<Body>, Refusal> {
    let asked = app.files.request(query)?;
    let reporter = Reporter::new();
    let (shared, follower) = (Arc::clone(app), reporter.clone());
    let kind = (asked.file, asked.question.command.name);
    stream(app, kind, reporter, gzip, move || answer(&shared, &asked, &follower)).await
}

/// An answer with the requested part of its last table.
#[derive(Serialize)]
struct WindowedAnswer {
    #[serde(flatten)]
    answer: Answer,
    from: u64,
    rows_total: Option<u64>,
    elapsed_ms: u64,
    revision: String,
}

/// The reason why a question is not answered: refused, or failed.
pub(super) enum Failure {
    Refused(Refusal),
    Failed(QueryError),
}

impl From<QueryError> for Failure {
    fn from(error: QueryError) -> Self {
        Failure::Failed(error)
    }
}

fn answer(app: &App, asked: &ParsedRequest, reporter: &Reporter) -> Result<Vec<u8>, Failure> {
    let file = app.files.get(asked.file).ok_or_else(|| Failure::Refused(failed()))?;
    let is_plain = asked.without.is_empty() && asked.lets.is_empty();
    let opened = match is_plain {
        true => file.open_for(&asked.question, &app.templates),
        false => file.open(&app.templates),
    };
    let (file, revision) = opened.map_err(|unready| Failure::Refused(unready.into()))?;
    let mut session = app.templates.session(&key(asked, revision), &file, reporter)?;
    session.select(asked.snapshot);
    session.open_beside(beside(app, asked, reporter)?);
    let (from, (mut answer, rows_total)) = match asked.window {
        Some((from, rows)) => (from, session.window(&asked.question, from, rows)?),
        None => {
            let answer = session.ask(&asked.question)?;
            (0, (answer, None))
        }
    };
    // An answer without a window may leave rows out. It knows their number only if it says so.
    let mut rows_total = rows_total.or(answer.all_rows);
    if let Some(table) = answer.tables.last_mut().filter(|table| table.rows.len() > MOST_ROWS) {
        let rows = table.rows.len();
        table.rows.truncate(MOST_ROWS);
        rows_total = rows_total.or(Some(rows as u64));
        answer = answer.cut(format!("the first {MOST_ROWS} of {rows} rows; windows of rows and CSV have all"));
    }
    let elapsed_ms = reporter.elapsed_ms();
    let windowed = WindowedAnswer { answer, from, rows_total, elapsed_ms, revision: revision.to_string() };
    Ok(Event::Answer(windowed).line())
}

/// The served files that a question names beside its own. Dumps are imported, as the file of a question is.
pub(super) fn beside(app: &App, asked: &ParsedRequest, reporter: &Reporter) -> Result<Vec<OpenFile>, Failure> {
    let mut files = Vec::new();
    for name in asked.question.other_files(&|name| app.files.named(name).is_some()) {
        let Some(file) = app.files.named(&name) else { continue };
        let opened = match file.open(&app.templates) {
            Err(Unready::NotImported(_)) => {
                file.import(&app.templates, reporter)?;
                file.open(&app.templates)
            }
            opened => opened,
        };
        let (mut file, _) = opened.map_err(|unready| Failure::Refused(unready.into()))?;
        file.name = name;
        files.push(file);
    }
    Ok(files)
}

/// The context of the session of a question.
pub(super) fn key(asked: &ParsedRequest, revision: u64) -> Key {
    let is_plain = asked.without.is_empty() && asked.lets.is_empty();
    let snapshot: Option<SnapshotName> = (!is_plain).then_some(asked.snapshot);
    Key { file: asked.file, revision, snapshot, lets: asked.lets.clone(), without: asked.without.clone() }
}

/// Runs `work` on its own thread, and sends progress until its line is there.
pub(super) async fn stream(
    app: &Arc<App>,
    kind: Kind,
    reporter: Reporter,
    gzip: bool,
    work: impl FnOnce() -> Result<Vec<u8>, Failure> + Send + 'static,
) -> Result<Response<Body>, Refusal> {
    // Disconnecting drops this, wherever the response is.
    let stop = StopOnDrop(reporter.clone());
    let encoder = Arc::new(Mutex::new(Encoder::new(gzip)));
    let (sender, mut receiver) = oneshot::channel();
    let (places, last, waiting) = (app.places.clone(), Arc::clone(&encoder), reporter.clone());
    let shared = Arc::clone(app);
    tokio::spawn(async move {
        let Some(place) = places.take(kind, &waiting).await else { return };
        tokio::task::spawn_blocking(move || {
            let done = work();
            drop(place);
            let _ = sender.send(last_line(done, &last));
            shared.templates.keep_index();
        });
    });
    const KIND: &str = "application/x-ndjson";
    if let Ok(done) = timeout(TICK, &mut receiver).await {
        let bytes = done.map_err(|_| failed())??;
        return Ok(json_response(StatusCode::OK, KIND, gzip, bytes.into()));
    }
    let body = Body::Pieces(pump(receiver, reporter, encoder), Some(stop));
    Ok(json_response(StatusCode::OK, KIND, gzip, body))
}

/// The last line of a response, or a refusal: a status, if nothing was sent before.
fn last_line(done: Result<Vec<u8>, Failure>, encoder: &Mutex<Encoder>) -> Result<Vec<u8>, Refusal> {
    match done {
        Ok(line) => Ok(encoded(encoder, line)),
        Err(Failure::Refused(refusal)) => Err(refusal),
        Err(Failure::Failed(error)) => {
            let fault = Fault::of(&error);
            match fault.status() {
                Some(status) => Err(Refusal { status, fault }),
                None => Ok(encoded(encoder, Event::<()>::Error(fault).line())),
            }
        }
    }
}

fn encoded(encoder: &Mutex<Encoder>, line: Vec<u8>) -> Vec<u8> {
    encoder.lock().last(line)
}

/// Sends progress until the last line is there.
fn pump(
    mut last: oneshot::Receiver<Result<Vec<u8>, Refusal>>,
    reporter: Reporter,
    encoder: Arc<Mutex<Encoder>>,
) -> Receiver<Result<Bytes, Broken>> {
    let (sender, receiver) = mpsc::channel(WAITING);
    tokio::spawn(async move {
        let mut ticks = interval_at(Instant::now(), TICK);
        loop {
            tokio::select! {
                biased;
                done = &mut last => {
                    let line = match done.unwrap_or_else(|_| Err(failed())) {
                        Ok(line) => line,
                        Err(refusal) => encoded(&encoder, Event::<()>::Error(refusal.fault).line()),
                    };
                    let _ = sender.send(Ok(line.into())).await;
                    return;
                }
                _ = ticks.tick() => {
                    let Some(piece) = progress(&reporter, &encoder) else { continue };
                    if sender.send(Ok(piece.into())).await.is_err() {
                        return;
                    }
                }
            }
        }
    });
    receiver
}

/// New progress, unless the last line is being encoded.
fn progress(reporter: &Reporter, encoder: &Mutex<Encoder>) -> Option<Vec<u8>> {
    let mut encoder = encoder.try_lock()?;
    let remarks = reporter.take_remarks().into_iter().map(|remark| Event::<()>::Remark(remark).line());
    let progress = reporter.progress().map(|progress| Event::<()>::Progress(progress).line());
    let lines: Vec<u8> = remarks.chain(progress).flatten().collect();
    if lines.is_empty() { None } else { Some(encoder.piece(lines)) }
}
