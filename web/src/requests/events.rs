//! What happens to the files: sent to a page as long as it listens.

use std::sync::Arc;
use std::time::Duration;

use hyper::header::CONTENT_TYPE;
use hyper::{Response, StatusCode};
use tokio::sync::mpsc;
use tokio::time::interval;

use super::App;
use crate::body::Body;

/// How often the files are looked at.
const INTERVAL: Duration = Duration::from_millis(500);
/// Looks without news after which something is sent, so that a page that has left is noticed.
const QUIET: u32 = 20;

/// The files whenever something about them changes.
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
