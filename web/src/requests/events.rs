//! Changes of the files, sent to a page while it listens.

use std::sync::Arc;
use std::time::Duration;

use hyper::header::CONTENT_TYPE;
use hyper::{Response, StatusCode};
use tokio::sync::mpsc;
use tokio::time::interval;

use super::App;
use crate::body::Body;

/// Interval of checks of the files: people see a new snapshot soon.
const INTERVAL: Duration = Duration::from_millis(500);
/// Number of checks without news after which something is sent, so that a disconnected page is noticed: ten seconds.
const QUIET: u32 = 20;

/// Sends the files whenever one of them changes.
pub(super) fn events(app: &Arc<App>) -> Response<Body> {
    let (sender, receiver) = mpsc::channel(1);
    let app = Arc::clone(app);
    tokio::spawn(async move {
        let mut ticks = interval(INTERVAL);
        let (mut before, mut quiet) = (String::new(), 0);
        while !sender.is_closed() {
            ticks.tick().await;
            let shared = Arc::clone(&app);
            let look = tokio::task::spawn_blocking(move || shared.files.look(&shared.templates).to_string());
            let Ok(files) = look.await else { return };
            quiet += 1;
            let text = if files != before {
                format!("event: files\ndata: {files}\n\n")
            } else if quiet >= QUIET {
                ": nothing new\n\n".to_owned()
            } else {
                continue;
            };
            (before, quiet) = (files, 0);
            if sender.send(Ok(text.into())).await.is_err() {
                return;
            }
        }
    });
    let response = Response::builder().status(StatusCode::OK).header(CONTENT_TYPE, "text/event-stream");
    response.body(Body::Pieces(receiver, None)).expect("these headers are valid")
}
