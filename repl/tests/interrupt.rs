//! Ctrl-C: what runs or prints stops; a session stays, a one-shot command ends with 130.
#![cfg(unix)]

mod program;

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use program::{finished, program, recording};

/// Every object of the bundled recording, as JSON: many times what a pipe holds.
fn start_printing(folder: &tempfile::TempDir, format: &str) -> Child {
    let mut program = program(folder.path());
    program.args(["find", &recording(), "1000000", "all", "--quiet", "--no-index", "--format", format]);
    program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
}

/// Sends the signal of Ctrl-C to this process only.
fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

fn first_bytes(child: &mut Child) -> Vec<u8> {
    let mut bytes = vec![0; 100];
    child.stdout.as_mut().unwrap().read_exact(&mut bytes).unwrap();
    bytes
}

#[test]
fn what_is_printed_stops_and_does_not_look_complete() {
    for format in ["json", "csv", "table"] {
        let folder = tempfile::tempdir().unwrap();
        let mut child = start_printing(&folder, format);
        let mut text = first_bytes(&mut child);
        interrupt(&child);
        std::thread::sleep(Duration::from_millis(200));
        child.stdout.take().unwrap().read_to_end(&mut text).unwrap();
        let run = finished(child.wait_with_output().unwrap());
        assert_eq!(run.code, 130, "{format}: {}", run.stderr);
        if format == "json" {
            assert!(serde_json::from_slice::<serde_json::Value>(&text).is_err());
        }
        if format == "csv" && run.stderr.contains("stopped") {
            assert!(text.ends_with(b"\r\n"), "no number may be cut");
        }
    }
}

#[test]
fn a_reader_that_does_not_read_keeps_nothing_from_ending() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = start_printing(&folder, "csv");
    first_bytes(&mut child);
    interrupt(&child);
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("it does not end");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn lines_after_the_one_that_was_stopped_do_not_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut program = program(folder.path());
    program.args([&recording(), "--no-index", "-e", "find 1000000 all --format csv", "-e", "snapshots"]);
    let mut child = program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut text = first_bytes(&mut child);
    interrupt(&child);
    child.stdout.take().unwrap().read_to_end(&mut text).unwrap();
    let run = finished(child.wait_with_output().unwrap());
    assert_eq!(run.code, 130, "{}", run.stderr);
    assert!(!String::from_utf8(text).unwrap().contains("stored"));
}

/// A terminal, with Python, since no crate here opens one. The script prints what it saw and fails at the first thing
/// that does not come within a minute.
const TERMINAL: &str = r#"
import os, pty, select, sys, time

child, terminal = pty.fork()
if child == 0:
    os.environ["TERM"] = "xterm"
    os.execv(sys.argv[1], [sys.argv[1], sys.argv[2], "--no-index", "--no-color", "--quiet"])

seen = b""
def expect(*words):
    global seen
    end = time.time() + 60
    while True:
        for word in words:
            at = seen.find(word)
            if at >= 0:
                seen = seen[at + len(word):]
                return word
        left = end - time.time()
        if left <= 0 or not select.select([terminal], [], [], left)[0]:
            sys.exit("no %r in a minute, but %r" % (words, seen[-2000:]))
        try:
            seen += os.read(terminal, 65536)
        except OSError:
            sys.exit("it ended before %r: %r" % (words, seen[-2000:]))

def send(line):
    os.write(terminal, line.encode())

PROMPT = b"3]> "
expect(PROMPT)
send("let $large = size > 1K\r")
expect(b"objects"); expect(PROMPT)
# Keys at the prompt.
for _ in range(3):
    send("\x03")
    # Until the prompt is back, the terminal makes a signal of the key.
    expect(b"Ctrl-D leaves"); expect(PROMPT)
for line, begun in [("find 1000000 all", b"@100"), ("find 1000000 all --format json", b'"object":100')]:
    send(line + "\r")
    expect(begun)
    for _ in range(4):
        send("\x03")
        time.sleep(0.05)
    expect(b"stopped")
    expect(PROMPT)
# What is pressed too late is a key at the prompt; a command that does not read is no obstacle.
send("\r")
time.sleep(0.5)
send("find 1000000 all --format csv | sleep 1000\r")
time.sleep(3)
send("\x03")
expect(b"stopped")
expect(PROMPT)
send("let\r")
expect(b"$large")
expect(PROMPT)
send("exit\r")
_, status = os.waitpid(child, 0)
sys.exit(os.waitstatus_to_exitcode(status))
"#;

#[test]
fn a_session_outlives_any_number_of_ctrl_c() {
    let folder = tempfile::tempdir().unwrap();
    let mut python = Command::new("python3");
    python.args(["-c", TERMINAL, env!("CARGO_BIN_EXE_barrow"), &recording()]);
    python.env("BARROW_CACHE", folder.path().join("cache")).env("XDG_STATE_HOME", folder.path());
    let run = finished(python.stdin(Stdio::null()).output().expect("python3 is there"));
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{}", run.stdout);
}

#[test]
fn a_file_appears_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let (kept, new) = (folder.path().join("kept.csv"), folder.path().join("new.csv"));
    std::fs::write(&kept, "before").unwrap();
    for path in [&kept, &new] {
        let line = format!("find 1000000 all --format csv > {}", path.display());
        let mut program = program(folder.path());
        program.args([&recording(), "--no-index", "-e", &line]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = program.spawn().unwrap();
        let is_begun = || {
            let files = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap());
            files.into_iter().any(|file| file.file_name().to_string_lossy().ends_with(".part"))
        };
        let begun = Instant::now();
        while !is_begun() && begun.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(1));
        }
        interrupt(&child);
        let run = finished(child.wait_with_output().unwrap());
        assert_eq!(run.code, 130, "{}", run.stderr);
    }
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), "before");
    assert!(!new.exists());
}
