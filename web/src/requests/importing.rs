//! Imports of dumps: progress, then the imported file.

use std::sync::Arc;

use hyper::Response;

use super::App;
use super::answering::{Event, Failure, stream};
use crate::body::Body;
use crate::error::Refusal;
use crate::files::Served;
use crate::reporter::Reporter;

/// Imports a dump into the cache.
pub(super) async fn import(app: &Arc<App>, file: Arc<Served>) -> Result<Response<Body>, Refusal> {
    let reporter = Reporter::new();
    let (shared, follower, kind) = (Arc::clone(app), reporter.clone(), (file.number, "import"));
    let work = move || {
        let imported = file.import(&shared.templates, &follower).map_err(Failure::Failed)?;
        Ok(Event::Imported(serde_json::json!({ "file": imported })).line())
    };
    stream(app, kind, reporter, false, work).await
}
