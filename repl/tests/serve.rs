//! `serve`: what it prints, when it refuses, and how it ends. The server itself has its tests in `web/tests`.
#![cfg(all(feature = "serve", unix))]

mod program;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use program::{Run, program, recording, run};

/// A server and the line that it printed.
struct Serving {
    child: Child,
    line: String,
    rest: BufReader<std::process::ChildStdout>,
}

impl Serving {
    fn new(words: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut program = program(folder.path());
        program.arg("serve").args(words);
        Serving::of(program)
    }

    fn of(mut program: Command) -> Self {
        let mut child = program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut rest = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        rest.read_line(&mut line).unwrap();
        Serving { child, line: line.trim_end().to_owned(), rest }
    }

    fn port(&self) -> u16 {
        let (_, rest) = self.line.split_once("http://127.0.0.1:").expect("an address");
        rest.split('/').next().and_then(|port| port.parse().ok()).expect("a port")
    }

    /// The part after `#`.
    fn fragment(&self) -> &str {
        self.line.split_once('#').map_or("", |(_, fragment)| fragment)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Connections leave files for the question, and the oldest give way.
#[test]
fn a_process_with_few_files_answers_beside_idle_connections() {
    let folder = tempfile::tempdir().unwrap();
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -n 24; exec \"$0\" serve \"$1\"", env!("CARGO_BIN_EXE_barrow"), &recording()]);
    limited.env("BARROW_CACHE", folder.path().join("cache")).env("XDG_STATE_HOME", folder.path());
    let serving = Serving::of(limited);
    let (_, token) = serving.line.split_once("/?token=").expect("a token");
    let connect = || TcpStream::connect(("127.0.0.1", serving.port())).unwrap();
    let begun = Instant::now();
    let _idle: Vec<TcpStream> = (0..60).map(|_| connect()).collect();
    let mut stream = connect();
    let host = format!("Host: 127.0.0.1:{}\r\nConnection: close\r\n\r\n", serving.port());
    write!(stream, "GET /api/ask?q=summary HTTP/1.1\r\nAuthorization: Bearer {token}\r\n{host}").unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    assert!(reply.starts_with("HTTP/1.1 200") && reply.contains("\"answer\""), "{reply}");
    // A connection without a request ends after ten seconds by itself.
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
}

#[test]
fn one_line_is_printed_and_ctrl_c_ends_it() {
    let mut serving = Serving::new(&[&recording()]);
    let (address, token) = serving.line.split_once("/?token=").expect("a token");
    assert!(address.starts_with("http://127.0.0.1:") && token.len() == 32, "{}", serving.line);
    let mut stream = TcpStream::connect(("127.0.0.1", serving.port())).unwrap();
    let host = format!("Host: 127.0.0.1:{}\r\nConnection: close\r\n\r\n", serving.port());
    write!(stream, "GET /api/ask?q=summary HTTP/1.1\r\nAuthorization: Bearer {token}\r\n{host}").unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    assert!(reply.starts_with("HTTP/1.1 200") && reply.contains("\"answer\""), "{reply}");
    // A page that listens does not keep it alive.
    let mut stream = TcpStream::connect(("127.0.0.1", serving.port())).unwrap();
    let host = host.replace("close", "keep-alive");
    write!(stream, "GET /api/events HTTP/1.1\r\nAuthorization: Bearer {token}\r\n{host}").unwrap();
    std::thread::sleep(Duration::from_millis(100));
    let sent = Command::new("kill").args(["-INT", &serving.child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let begun = Instant::now();
    let status = loop {
        match serving.child.try_wait().unwrap() {
            Some(status) => break status,
            None => assert!(begun.elapsed() < Duration::from_secs(10), "it does not end"),
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    assert_eq!(status.code(), Some(0));
    let mut rest = String::new();
    serving.rest.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
}

#[test]
fn lines_become_the_address() {
    let file = recording();
    let lines = ["without type ~ X", "let $a = size > 1K", "snapshot 1", "top", "growth 0..2"];
    let words: Vec<&str> = [file.as_str()].into_iter().chain(lines.iter().flat_map(|line| ["--at", line])).collect();
    let expected = "w=type%20%7E%20X&let=%24a%20%3D%20size%20%3E%201K&s=1&q=growth%200..2";
    assert_eq!(Serving::new(&words).fragment(), expected);
    assert_eq!(Serving::new(&[&file, "-s", "2", "--at", "top"]).fragment(), "s=2&q=top");
    assert_eq!(Serving::new(&[&file, "-s", "2", "--at", "use last"]).fragment(), "s=last");
    for line in ["nosuchverb", "top | sh", "top > out.txt", "repair -o x", "snapshot x", "find size >"] {
        assert_eq!(run(&["serve", &file, "--at", line]).code, 2, "{line}");
    }
}

#[test]
fn what_cannot_be_served_ends_it() {
    let file = recording();
    for words in
        [&["serve"][..], &["serve", "-"], &["serve", &file, "--port", "0"], &["serve", &file, "--port", "70000"]]
    {
        assert_eq!(run(words).code, 2, "{words:?}");
    }
    let Run { code, stdout, stderr } = run(&["serve", "nosuch.barrow"]);
    assert!(code == 3 && stdout.is_empty() && stderr.contains("nosuch.barrow"), "{code} {stdout} {stderr}");
    assert_eq!(run(&["serve", env!("CARGO_MANIFEST_DIR")]).code, 3);
    assert_eq!(run(&["serve", &file, concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")]).code, 3);
    let taken = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let Run { code, stdout, stderr } = run(&["serve", &file, "--port", &port]);
    assert!(code == 2 && stdout.is_empty() && stderr.contains(&format!("port {port}")), "{code} {stdout} {stderr}");
}
