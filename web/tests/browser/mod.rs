//! A server, and requests to it over a socket.

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use barrow_query::{Settings, Workspace};
use barrow_web::{Options, Server, WebError};
use serde_json::Value;

/// A server that runs until it is dropped.
pub(crate) struct Page {
    pub(crate) port: u16,
    pub(crate) token: String,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// A response.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

/// A server that serves these files, not started yet.
pub(crate) fn server(operands: &[PathBuf]) -> Result<Server, WebError> {
    let cache = operands.first().and_then(|path| path.parent()).map(|folder| folder.join("cache"));
    Server::new(Options {
        operands: operands.to_vec(),
        port: None,
        fragment: String::new(),
        version: "test".to_owned(),
        workspace: Workspace::new(None, Some(2)).expect("two threads"),
        settings: Settings { no_index: true, cache, ..Settings::default() },
    })
}

impl Page {
    pub(crate) fn of(operands: &[PathBuf]) -> Self {
        let server = server(operands).expect("the files can be served");
        let address = server.address();
        let rest = address.strip_prefix("http://127.0.0.1:").expect("this machine");
        let (port, token) = rest.split_once("/?token=").expect("a token");
        let over = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&over);
        let thread = std::thread::spawn(move || server.run(|| is_over.load(Ordering::Relaxed)).expect("it serves"));
        Page { port: port.parse().expect("a number"), token: token.to_owned(), over, thread: Some(thread) }
    }

    /// A page of bundled files.
    pub(crate) fn bundled(names: &[&str]) -> Self {
        Page::of(&names.iter().map(|name| barrow_testdata::path(name)).collect::<Vec<_>>())
    }

    /// The headers of the page's requests.
    pub(crate) fn own(&self) -> String {
        format!("Host: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n", self.port, self.token)
    }

    /// Sends a head, and leaves the connection open.
    pub(crate) fn open(&self, head: &str) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
        stream.write_all(head.as_bytes()).expect("it reads");
        stream
    }

    /// The response to a request with these headers.
    pub(crate) fn request(&self, method: &str, path: &str, headers: &str) -> Reply {
        let mut stream = self.open(&format!("{method} {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n"));
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("a whole response");
        Reply::of(&bytes)
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.request("GET", path, &self.own())
    }

    pub(crate) fn post(&self, path: &str) -> Reply {
        self.request("POST", path, &self.own())
    }

    /// The response to a question; `more` is further parameters, like `s=3&w=…`.
    pub(crate) fn ask(&self, line: &str, more: &str) -> Reply {
        self.get(&format!("/api/ask?q={}&{more}", encoded(line)))
    }

    /// The answer to a question.
    pub(crate) fn answer(&self, line: &str, more: &str) -> Value {
        let reply = self.ask(line, more);
        let mut last = reply.lines().pop().unwrap_or_default();
        assert!(reply.status == 200 && last["answer"].is_object(), "{line} {more}: {reply:?}");
        last["answer"].take()
    }

    /// The list of files, as the server gives it.
    pub(crate) fn files(&self) -> Vec<Value> {
        self.get("/api/files").json()["files"].as_array().expect("files").clone()
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(std::thread::panicking() || matches!(ended, Some(Ok(()))), "the server has panicked");
    }
}

impl Reply {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or_else(|| {
            panic!("no head: {:?}", String::from_utf8_lossy(bytes));
        });
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).expect("a status");
        let headers = lines.filter_map(|line| line.split_once(": "));
        let headers: BTreeMap<_, _> = headers.map(|(key, value)| (key.to_lowercase(), value.to_owned())).collect();
        let rest = &bytes[end + 4..];
        let is_chunked = headers.get("transfer-encoding").is_some_and(|coding| coding == "chunked");
        let body = if is_chunked { chunks(rest) } else { rest.to_vec() };
        Reply { status, headers, body }
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// The lines of a stream.
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.text().lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
    }

    /// The sentence of a refusal.
    pub(crate) fn message(&self) -> String {
        self.json()["error"]["message"].as_str().unwrap_or_default().to_owned()
    }
}

fn chunks(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|two| two == b"\r\n") {
        let length = usize::from_str_radix(&String::from_utf8_lossy(&rest[..end]), 16).expect("a length");
        if length == 0 {
            break;
        }
        body.extend(&rest[end + 2..end + 2 + length]);
        rest = &rest[end + 2 + length + 2..];
    }
    body
}

/// A text as a part of an address.
pub(crate) fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}
