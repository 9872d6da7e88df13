//! Requests and their responses.

mod answering;
mod completing;
mod events;
mod export;
mod importing;

use std::sync::Arc;

use hyper::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderMap, IF_NONE_MATCH, VARY,
};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::assets::Asset;
use crate::body::Body;
use crate::connection::TOO_LONG;
use crate::encoder::Encoder;
use crate::error::Refusal;
use crate::files::{Files, Served, Unready};
use crate::guard::{Guard, HEADERS};
use crate::places::QuestionSlots;
use crate::templates::Templates;
use crate::verbs;

/// The state from which requests are answered.
pub(crate) struct App {
    pub(crate) guard: Guard,
    pub(crate) files: Files,
    pub(crate) templates: Templates,
    /// The places where questions are answered.
    pub(crate) places: QuestionSlots,
    /// Permits to make a CSV file. A download that the browser pauses keeps its permit, and must not block questions.
    pub(crate) downloads: Arc<Semaphore>,
}

/// The response to a request.
pub(crate) async fn respond<B>(app: &Arc<App>, request: &Request<B>) -> Response<Body> {
    let mut response = match route(app, request).await {
        Ok(response) => response,
        Err(refusal) => refused(&refusal),
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, hyper::header::HeaderValue::from_static(value));
    }
    headers.entry(CACHE_CONTROL).or_insert(hyper::header::HeaderValue::from_static("no-store"));
    response
}

async fn route<B>(app: &Arc<App>, request: &Request<B>) -> Result<Response<Body>, Refusal> {
    let (method, path, headers) = (request.method(), request.uri().path(), request.headers());
    let query = request.uri().query().unwrap_or_default();
    app.guard.check_origin(method, headers)?;
    if request.uri().to_string().len() >= TOO_LONG {
        let message = "this address is too long; a line has at most 8 KiB";
        return Err(Refusal::new(StatusCode::URI_TOO_LONG, message));
    }
    if !path.starts_with("/api/") {
        // The page itself is the same for everybody, and reveals nothing about the files.
        return if method == Method::POST { Err(takes("GET")) } else { asset(path, headers) };
    }
    app.guard.check_token(headers)?;
    let is_change = matches!(path, "/api/import" | "/api/open");
    if is_change != (method == Method::POST) {
        return Err(takes(if is_change { "POST" } else { "GET" }));
    }
    match path {
        "/api/files" => {
            let shared = Arc::clone(app);
            let files = tokio::task::spawn_blocking(move || shared.files.look(&shared.templates)).await;
            Ok(data(headers, &files.map_err(|_| failed())?))
        }
        "/api/verbs" => Ok(data(headers, &verbs::list())),
        "/api/completions" => {
            let found = completing::completions(app, served(app, query)?, query).await?;
            Ok(data(headers, &found))
        }
        "/api/ask" => answering::ask(app, query, takes_gzip(headers)).await,
        "/api/csv" => export::csv(app, query).await,
        "/api/import" => importing::import(app, served(app, query)?).await,
        "/api/open" => {
            let (shared, file) = (Arc::clone(app), served(app, query)?);
            let opened = tokio::task::spawn_blocking(move || file.reopen(&shared.templates)).await;
            Ok(data(headers, &json!({ "file": opened.map_err(|_| failed())? })))
        }
        "/api/events" => Ok(events::events(app)),
        _ => Err(nothing()),
    }
}

fn takes(method: &str) -> Refusal {
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, format!("this address takes {method}"))
}

fn nothing() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, "there is nothing at this address")
}

/// A file of the page.
fn asset(path: &str, headers: &HeaderMap) -> Result<Response<Body>, Refusal> {
    let asset = Asset::at(path).ok_or_else(nothing)?;
    let (packed, tag) = asset.packed();
    let tag = format!("\"{tag}\"");
    let is_live = cfg!(debug_assertions) && std::env::var_os("BARROW_PAGE").is_some();
    let response = Response::builder().header(CONTENT_TYPE, asset.content_type()).header(CACHE_CONTROL, "no-cache");
    let response = response.header(VARY, "accept-encoding");
    let is_known = headers.get_all(IF_NONE_MATCH).iter().any(|known| known.as_bytes() == tag.as_bytes());
    let response = match () {
        () if is_live => response.body(Body::Whole(Some(asset.bytes()))),
        () if is_known => response.status(StatusCode::NOT_MODIFIED).header(ETAG, tag).body(Body::Whole(None)),
        () if takes_gzip(headers) => {
            response.header(ETAG, tag).header(CONTENT_ENCODING, "gzip").body(Body::Whole(Some(packed)))
        }
        () => response.header(ETAG, tag).body(Body::Whole(Some(asset.bytes()))),
    };
    Ok(response.expect("these headers are valid"))
}

/// The file of a request.
fn served(app: &App, query: &str) -> Result<Arc<Served>, Refusal> {
    let number = form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == "f").map(|(_, value)| value);
    let number = number.map_or(Ok(0), |number| number.parse::<usize>());
    let file = number.ok().and_then(|number| app.files.get(number));
    file.ok_or_else(|| Refusal::new(StatusCode::NOT_FOUND, "no file of that number is served"))
}

/// Data as JSON.
fn data(headers: &HeaderMap, data: &Value) -> Response<Body> {
    let gzip = takes_gzip(headers);
    let bytes = Encoder::new(gzip).last(data.to_string().into_bytes());
    json_response(StatusCode::OK, "application/json", gzip, bytes.into())
}

/// The response to a refused request.
fn refused(refusal: &Refusal) -> Response<Body> {
    let bytes = json!({ "error": refusal.fault }).to_string().into_bytes();
    json_response(refusal.status, "application/json", false, bytes.into())
}

fn json_response(status: StatusCode, kind: &str, gzip: bool, body: Body) -> Response<Body> {
    let response = Response::builder().status(status).header(CONTENT_TYPE, kind);
    let response = if gzip { response.header(CONTENT_ENCODING, "gzip") } else { response };
    response.body(body).expect("these headers are valid")
}

fn takes_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    accepted.flat_map(|line| line.split(',')).any(|one| {
        let mut parts = one.split(';').map(str::trim);
        parts.next() == Some("gzip") && !parts.any(|part| part == "q=0")
    })
}

/// The response for a file that cannot be asked now.
impl From<Unready> for Refusal {
    fn from(unready: Unready) -> Self {
        match unready {
            Unready::NotImported(message) | Unready::Replaced(message) => Refusal::new(StatusCode::CONFLICT, message),
            Unready::Unreadable(message) => Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, message),
        }
    }
}

/// A thread of the server has ended early: that is a bug of barrow.
fn failed() -> Refusal {
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "barrow failed at this question; others go on")
}
