//! Any bytes are answered, or the connection ends: the server never panics and never hangs.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use crate::browser::{Page, encoded};
use barrow_testdata::Random;

const PARTS: [&str; 34] = [
    "GET ",
    "POST ",
    "HEAD ",
    "/",
    "/api/ask",
    "/api/csv",
    "/api/import",
    "/api/files",
    "?q=",
    "top",
    "find",
    "%",
    "%zz",
    "&s=",
    "&f=",
    "&from=",
    "&n=",
    "\r\n",
    "\n",
    " ",
    " HTTP/1.1\r\n",
    " HTTP/9.9\r\n",
    "Host:",
    "\0",
    "\u{ff}",
    "Content-Length: 99999999999999999999\r\n",
    "Transfer-Encoding: chunked\r\n",
    "\r\n\r\n",
    "|",
    ">",
    "\"",
    "Accept-Encoding: gzip\r\n",
    "&w=",
    "&let=$a = ",
];

const WORDS: [&str; 36] = [
    "top",
    "find",
    "info",
    "path",
    "diff",
    "growth",
    "dominators",
    "count",
    "histogram",
    "by",
    "type",
    "size",
    "name",
    "retained",
    "objects",
    "@1",
    "@99",
    "%1",
    "$_",
    "$a",
    "(",
    ")",
    "~",
    "/x/",
    "\"",
    "=",
    ">",
    "<",
    "|",
    "1..",
    "..5",
    "-s 9",
    "--min 1%",
    "99999999999999999999",
    "not",
    "\u{202e}ü",
];

fn pick<'a>(random: &mut Random, from: &[&'a str]) -> &'a str {
    from[random.below(from.len() as u64) as usize]
}

/// Bytes that are no request, that are nearly one, or that ask nonsense.
fn bytes(random: &mut Random, own: &str) -> Vec<u8> {
    match random.below(3) {
        0 => {
            let mut text = String::new();
            for _ in 0..random.below(25) {
                text.push_str(if random.below(5) == 0 { own } else { pick(random, &PARTS) });
            }
            text.into_bytes()
        }
        1 => {
            let path = pick(random, &["/api/ask?q=top+5", "/api/csv?q=find", "/api/files", "/main.js", "/api/verbs"]);
            let mut bytes = format!("GET {path} HTTP/1.1\r\n{own}Connection: close\r\n\r\n").into_bytes();
            for _ in 0..=random.below(5) {
                let at = random.below(bytes.len() as u64) as usize;
                bytes[at] = random.below(256) as u8;
            }
            bytes
        }
        _ => {
            let mut query = String::new();
            for _ in 0..=random.below(5) {
                let words: Vec<&str> = (0..random.below(8)).map(|_| pick(random, &WORDS)).collect();
                let key = pick(random, &["q", "q", "s", "f", "w", "let", "from", "n"]);
                query.push_str(&format!("{key}={}&", encoded(&words.join(" "))));
            }
            let address = pick(random, &["ask", "csv"]);
            format!("GET /api/{address}?{query} HTTP/1.1\r\n{own}Connection: close\r\n\r\n").into_bytes()
        }
    }
}

#[test]
fn any_bytes_are_answered_or_refused() {
    let page = Page::bundled(&["orders.barrow", "threads.barrow"]);
    let own = page.own();
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let (page, own) = (&page, &own);
            scope.spawn(move || {
                let mut random = Random::new(seed);
                for _ in 0..1000 {
                    let sent = bytes(&mut random, own);
                    let shown = String::from_utf8_lossy(&sent).into_owned();
                    let reply = exchange(page.port, &sent).unwrap_or_else(|| panic!("no end: {shown:?}"));
                    assert!(reply.is_empty() || reply.starts_with(b"HTTP/1."), "{shown:?}");
                    assert!(!reply.starts_with(b"HTTP/1.1 500"), "{shown:?}");
                }
            });
        }
    });
    page.answer("top", "");
}

fn is_late(read: std::io::Result<usize>) -> bool {
    use std::io::ErrorKind::{TimedOut, WouldBlock};
    read.is_err_and(|error| matches!(error.kind(), WouldBlock | TimedOut))
}

/// The bytes that the server sends until it closes the connection; `None` if it does not.
fn exchange(port: u16, sent: &[u8]) -> Option<Vec<u8>> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    // It may have closed the connection after the first bytes.
    let _ = stream.write_all(sent);
    let mut reply = Vec::new();
    if !is_late(stream.read_to_end(&mut reply)) {
        return Some(reply);
    }
    // It waits for the rest of a request, or for the next one: there is none.
    let _ = stream.shutdown(Shutdown::Write);
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    if is_late(stream.read_to_end(&mut reply)) { None } else { Some(reply) }
}
