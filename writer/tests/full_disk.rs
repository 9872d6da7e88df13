//! A disk that fills up is an error, and nothing that was committed is lost.

use std::io::{Error, ErrorKind, Write};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use barrow_analyzer::{Recording, Silent, SnapshotId, verify};
use barrow_testdata::{Heap, Random, Vocabulary};
use barrow_writer::{Compression, Options, Writer, WriterError};

/// A stream with room for so many bytes.
#[derive(Clone)]
struct Small {
    room: usize,
    bytes: Arc<Mutex<Vec<u8>>>,
}

impl Write for Small {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut written = self.bytes.lock().unwrap();
        let taken = bytes.len().min(self.room - written.len());
        if taken == 0 {
            return Err(Error::from(ErrorKind::StorageFull));
        }
        written.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Records heaps until something fails. Returns those that were committed.
fn record(writer: &Writer) -> Result<Vec<Heap>, WriterError> {
    let vocabulary = Vocabulary::declare(writer)?;
    let mut committed = Vec::new();
    for size in [20, 35, 5] {
        let heap = Heap::random(&mut Random::new(size.into()), size, &vocabulary);
        if heap.record(writer).is_err() {
            break;
        }
        committed.push(heap);
    }
    Ok(committed)
}

#[test]
fn a_stream_that_fails_at_any_byte() {
    let options = |threads| Options { threads, compression: Compression::Zstd(1), ..Options::default() };
    let whole = Small { room: usize::MAX, bytes: Arc::default() };
    let writer = Writer::to_stream(Box::new(whole.clone()), options(0)).unwrap();
    record(&writer).unwrap();
    writer.finish().unwrap();
    let length = whole.bytes.lock().unwrap().len();
    for room in 0..length {
        let threads = [0, 2][usize::from(room % 8 == 0)];
        let small = Small { room, bytes: Arc::default() };
        let Ok(writer) = Writer::to_stream(Box::new(small.clone()), options(threads)) else {
            assert!(room < 64);
            continue;
        };
        let committed = record(&writer).unwrap();
        assert!(matches!(writer.finish(), Err(WriterError::Io { .. } | WriterError::Broken)), "room for {room}");
        let recording = Recording::from_bytes(small.bytes.lock().unwrap().clone()).unwrap();
        assert_eq!(recording.snapshot_count(), committed.len(), "room for {room}");
        for (number, heap) in (0..).zip(&committed) {
            assert_eq!(&Heap::read(&recording, SnapshotId(number)).unwrap(), heap);
        }
    }
}

const FOLDER: &str = "BARROW_FULL_DISK_FOLDER";

/// Runs in a mount namespace of its own, with a file system of 2 MiB at the folder.
#[test]
fn record_on_a_small_disk() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let path = Path::new(&folder).join("small.barrow");
    let ballast = Path::new(&folder).join("ballast");
    std::fs::write(&ballast, vec![1; 300_000]).unwrap();
    let options = Options { compression: Compression::None, threads: 2, ..Options::default() };
    let writer = Writer::create(&path, options).unwrap();
    let vocabulary = Vocabulary::declare(&writer).unwrap();
    let heap = |size| Heap::random(&mut Random::new(size), size as u32, &vocabulary);
    let mut committed = vec![heap(2000)];
    committed[0].record(&writer).unwrap();
    let error = heap(200_000).record(&writer).unwrap_err();
    assert!(matches!(&error, WriterError::Io { source, .. } if source.kind() == ErrorKind::StorageFull), "{error}");
    // Partly written frames were taken back, so that with a little room the recording goes on.
    std::fs::remove_file(&ballast).unwrap();
    committed.push(heap(500));
    committed[1].record(&writer).unwrap();
    writer.finish().unwrap();

    let recording = Recording::open(&path).unwrap();
    assert_eq!(recording.damage(), None);
    let found = verify(&recording, &Silent).unwrap();
    assert_eq!((found.problems.as_slice(), found.snapshots.len()), ([].as_slice(), 2));
    assert!(found.unused_bytes > 0, "the snapshot that did not fit left blocks behind");
    for (id, heap) in recording.snapshot_ids().zip(&committed) {
        assert_eq!(&Heap::read(&recording, id).unwrap(), heap);
    }
}

#[test]
fn a_small_disk() {
    let folder = tempfile::tempdir().unwrap();
    let mount = format!("mount -t tmpfs -o size=2m none {}", folder.path().display());
    let in_namespace = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]).env(FOLDER, folder.path());
        command
    };
    if !in_namespace(&mount).output().is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: this system does not let a process mount a small disk for itself");
        return;
    }
    let program = std::env::current_exe().unwrap();
    let script = format!("{mount} && {} --exact record_on_a_small_disk --nocapture", program.display());
    let output = in_namespace(&script).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_device_without_room() {
    let device = Path::new("/dev/full");
    if device.exists() {
        let error = Writer::create(device, Options::default()).unwrap_err();
        assert!(matches!(error, WriterError::Io { .. }), "{error}");
    }
}
