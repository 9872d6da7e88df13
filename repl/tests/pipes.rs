//! Input from a pipe is read like a file, and leaves no file.

mod program;

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use barrow_testdata::Random;
use program::{Run, finished, program, recording, run, testdata};

/// Runs the program with this file as its standard input, through a pipe of the shell.
fn piped(folder: &Path, file: &str, words: &[&str]) -> Run {
    let mut cat = Command::new("cat").arg(file).stdout(Stdio::piped()).spawn().expect("cat starts");
    let stdin = cat.stdout.take().expect("stdout is piped");
    let run = finished(program(folder).args(words).stdin(stdin).output().expect("the program starts"));
    cat.wait().expect("cat ends");
    run
}

fn left_in(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder.join("cache")) else { return Vec::new() };
    entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn a_recording_and_dumps_come_through_pipes() {
    let folder = tempfile::tempdir().unwrap();
    let raku = recording();
    let from_file = run(&["top", &raku, "3", "--no-index"]);
    let from_pipe = piped(folder.path(), &raku, &["top", "-", "3"]);
    assert_eq!((from_pipe.code, &from_pipe.stderr[..]), (0, ""));
    assert_eq!(from_pipe.stdout, from_file.stdout);
    let dump = testdata("foreign/ruby-3.1.jsonl.zst").display().to_string();
    let from_file =
        finished(program(folder.path()).args(["top", &dump, "by", "retained", "--no-index"]).output().unwrap());
    let other = tempfile::tempdir().unwrap();
    let from_pipe = piped(other.path(), &dump, &["top", "-", "by", "retained"]);
    assert_eq!((from_pipe.code, &from_pipe.stderr[..]), (0, ""));
    assert_eq!(from_pipe.stdout, from_file.stdout);
    assert_eq!(left_in(other.path()), [""; 0], "neither an import nor an index stays");
}

#[test]
fn lines_and_imports_take_pipes() {
    let folder = tempfile::tempdir().unwrap();
    let raku = recording();
    let run = piped(folder.path(), &raku, &["-", "--quiet", "-e", "count frames", "-e", "top 1"]);
    assert_eq!((run.code, run.stdout.contains("objects    2,967")), (0, true), "{}{}", run.stdout, run.stderr);
    let dump = testdata("foreign/ruby-3.1.jsonl.zst").display().to_string();
    let written = folder.path().join("x.barrow");
    let run = piped(folder.path(), &dump, &["import", "-", "-o", &written.display().to_string(), "--quiet"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(File::open(&written).is_ok());
}

/// A block of bzip2 says nothing before all of it is there, and an archive nothing before its end.
#[test]
fn packed_dumps_come_through_pipes() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random::new(7);
    let line = |at| format!("{{\"address\":\"0x{at:x}0\",\"type\":\"STRING\",\"value\":\"{:x}\"}}\n", random.next());
    let dump: String = (1..50_000).map(line).collect();
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
    bzip2.write_all(dump.as_bytes()).unwrap();
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let stored = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    archive.start_file("heap.jsonl", stored).unwrap();
    archive.write_all(dump.as_bytes()).unwrap();
    for (name, bytes) in [("bz2", bzip2.finish().unwrap()), ("zip", archive.finish().unwrap().into_inner())] {
        let path = folder.path().join(name).display().to_string();
        fs::write(&path, &bytes).unwrap();
        let run = piped(folder.path(), &path, &["summary", "-"]);
        assert_eq!((run.code, run.stdout.contains("49,999")), (0, true), "{name}: {}{}", run.stdout, run.stderr);
        fs::write(&path, &bytes[..bytes.len() / 20]).unwrap();
        let run = piped(folder.path(), &path, &["summary", "-"]);
        let is_said = run.stderr.contains("nothing of it can be unpacked") || run.stderr.contains("archive is damaged");
        assert_eq!((run.code, is_said), (3, true), "{name}: {}{}", run.stdout, run.stderr);
    }
}

#[cfg(unix)]
#[test]
fn a_named_pipe_is_read_too() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe").display().to_string();
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let mut child = program(folder.path());
    let child = child.args(["summary", &pipe]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    File::options().write(true).open(&pipe).unwrap().write_all(&fs::read(recording()).unwrap()).unwrap();
    let run = finished(child.wait_with_output().unwrap());
    assert_eq!((run.code, run.stdout.contains("540,607")), (0, true), "{}{}", run.stdout, run.stderr);
}

#[test]
fn an_endless_pipe_of_something_else_ends_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut yes = Command::new("yes").stdout(Stdio::piped()).spawn().unwrap();
    let stdin = yes.stdout.take().unwrap();
    let run = finished(program(folder.path()).args(["summary", "-"]).stdin(stdin).output().unwrap());
    let _ = yes.kill();
    let _ = yes.wait();
    assert_eq!(run.code, 3);
    assert!(
        run.stderr.contains("barrow: -: not a recording and no dump; barrow reads its own recordings, and files of"),
        "{}",
        run.stderr
    );
    assert_eq!(left_in(folder.path()), [""; 0]);
}
