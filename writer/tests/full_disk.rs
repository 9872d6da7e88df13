//! A full disk while recording is an error; what was committed before stays readable, and with room again
//! recording goes on.

use std::fs;
use std::io::{Error, ErrorKind, Write};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};

use barrow_analyzer::{Recording, Silent, SnapshotId, verify};
use barrow_format::header::HEADER_BYTES;
use barrow_testdata::{Heap, Random, Shelf, Vocabulary};
use barrow_writer::{Compression, Options, Result, SnapshotInfo, Sync, Writer, WriterError};

/// Records heaps of these sizes. Returns the committed ones and the first error.
fn record(writer: Writer, sizes: &[u32]) -> (Vec<Heap>, Option<WriterError>) {
    let mut committed = Vec::new();
    let result = Vocabulary::declare(&writer).and_then(|vocabulary| {
        let mut random = Random::new(4);
        let results: Vec<Result<Heap>> =
            sizes.iter().map(|&size| commit(&writer, size, &mut random, &vocabulary)).collect();
        // Every snapshot is tried, so that calls after a failure are tried too.
        results.into_iter().try_for_each(|heap| {
            committed.push(heap?);
            Ok(())
        })
    });
    let finished = writer.finish().map(drop);
    (committed, result.and(finished).err())
}

fn commit(writer: &Writer, size: u32, random: &mut Random, vocabulary: &Vocabulary) -> Result<Heap> {
    let heap = Heap::random(random, size, vocabulary);
    let snapshot =
        writer.begin_snapshot(SnapshotInfo { label: Some(format!("of {size}")), ..SnapshotInfo::default() })?;
    heap.announce(&snapshot, 0..size as usize)?;
    let mut shard = snapshot.shard();
    shard.root(vocabulary.names[0], None, 0)?;
    shard.finish()?;
    snapshot.commit()?;
    Ok(heap)
}

fn assert_holds(recording: &Recording, heaps: &[Heap]) {
    assert_eq!(recording.snapshot_count(), heaps.len());
    for (id, heap) in (0..).map(SnapshotId).zip(heaps) {
        assert_eq!(&Heap::read(recording, id).unwrap(), heap);
    }
}

#[test]
fn a_stream_that_fails_anywhere() {
    let options =
        |threads| Options { threads, compression: Compression::Lz4, sync: Sync::AtCommit, ..Options::default() };
    let whole = Shelf::default();
    let writer = Writer::to_stream(Box::new(whole.clone()), options(0)).unwrap();
    assert!(record(writer, &[5, 9, 2]).1.is_none());
    for threads in [0, 2] {
        for room in 0..whole.bytes().len() {
            let shelf = Shelf::with_room(room);
            let Ok(writer) = Writer::to_stream(Box::new(shelf.clone()), options(threads)) else {
                assert!(room < HEADER_BYTES);
                continue;
            };
            let (committed, error) = record(writer, &[5, 9, 2]);
            let error = error.expect("the stream was full");
            assert!(matches!(error, WriterError::Io { .. } | WriterError::Broken), "{error}");
            assert_holds(&Recording::from_bytes(shelf.bytes()).unwrap(), &committed);
        }
    }
}

/// Takes everything until it is full, and tells that a write failed.
struct Filling {
    is_full: Arc<AtomicBool>,
    failed: Sender<()>,
}

impl Write for Filling {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if !self.is_full.load(Ordering::SeqCst) {
            return Ok(bytes.len());
        }
        self.failed.send(()).expect("the test listens");
        Err(Error::from(ErrorKind::StorageFull))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// An encoder meets the full disk first, and another call tells it.
#[test]
fn whichever_call_is_first_tells_the_cause() {
    let (is_full, (failed, has_failed)) = (Arc::new(AtomicBool::new(false)), channel());
    let stream = Filling { is_full: Arc::clone(&is_full), failed };
    let writer = Writer::to_stream(Box::new(stream), Options { threads: 1, ..Options::default() }).unwrap();
    let vocabulary = Vocabulary::declare(&writer).unwrap();
    let heap = Heap::random(&mut Random::new(4), 9, &vocabulary);
    let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
    is_full.store(true, Ordering::SeqCst);
    // The encoder may be faster than this call, which then says why.
    let announced = heap.announce(&snapshot, 0..9);
    has_failed.recv().unwrap();
    writer.string("a row that waits").unwrap();
    let told = [announced.err(), writer.flush().err(), writer.flush().err()];
    assert!(told[1].is_some() && told[2].is_some());
    for error in told.into_iter().flatten() {
        assert_is_full(error);
    }
    drop(snapshot);
    assert!(matches!(writer.flush(), Err(WriterError::Broken)));
}

#[test]
fn a_device_that_is_always_full() {
    let Err(error) = Writer::create("/dev/full", Options::default()) else { panic!("nothing fits /dev/full") };
    let WriterError::Io { source, .. } = error else { panic!("{error}") };
    assert_eq!(source.kind(), std::io::ErrorKind::StorageFull);
}

/// Tells a child which folder to use, on a small disk of its own.
const CHILD: &str = "BARROW_FULL_DISK_CHILD";

/// The child process: fills its disk with a recording. Otherwise this test does nothing.
#[test]
fn child() {
    let Some(folder) = std::env::var_os(CHILD) else { return };
    let (path, ballast) = (Path::new(&folder).join("full.barrow"), Path::new(&folder).join("ballast"));
    for threads in [0, 2] {
        fs::write(&ballast, vec![1; 1 << 20]).unwrap();
        let options = Options { threads, memory_budget_bytes: 1 << 20, ..Options::default() };
        let writer = Writer::create(&path, options).unwrap();
        let vocabulary = Vocabulary::declare(&writer).unwrap();
        let mut random = Random::new(17);
        let mut committed = vec![commit(&writer, 3_000, &mut random, &vocabulary).unwrap()];
        let error = commit(&writer, 400_000, &mut random, &vocabulary).expect_err("the disk is too small");
        assert_is_full(error);
        assert_holds(&Recording::open(&path).unwrap(), &committed);

        // The abandoned snapshot still takes its room: another file must go.
        fs::remove_file(&ballast).unwrap();
        committed.push(commit(&writer, 2_000, &mut random, &vocabulary).unwrap());
        writer.finish().unwrap();
        let recording = Recording::open(&path).unwrap();
        assert_eq!(recording.damage(), None);
        let found = verify(&recording, &Silent).unwrap();
        assert_eq!(found.problems, []);
        assert!(found.unused_bytes > 0);
        assert_holds(&recording, &committed);
        fs::remove_file(&path).unwrap();
    }
}

/// Tells a child which folder to use, with a limit to the length of files.
const LIMITED: &str = "BARROW_LIMITED_CHILD";

/// The child process: writes a frame that is longer than the limit allows. Otherwise this test does nothing.
#[test]
fn limited_child() {
    let Some(folder) = std::env::var_os(LIMITED) else { return };
    let path = Path::new(&folder).join("limited.barrow");
    let options = Options { compression: Compression::None, ..Options::without_threads() };
    let writer = Writer::create(&path, options).unwrap();
    let vocabulary = Vocabulary::declare(&writer).unwrap();
    let mut random = Random::new(17);
    let mut committed = vec![commit(&writer, 300, &mut random, &vocabulary).unwrap()];
    for size in [40_000, 200, 40_000, 100] {
        let length = fs::metadata(&path).unwrap().len();
        match commit(&writer, size, &mut random, &vocabulary) {
            Ok(heap) => committed.push(heap),
            Err(error) => {
                assert!(size > 300 && matches!(error, WriterError::Io { .. }), "{size}: {error}");
                assert_eq!(fs::metadata(&path).unwrap().len(), length, "what was written is taken back");
            }
        }
    }
    assert_eq!(committed.len(), 3, "the large ones are too long");
    writer.finish().unwrap();
    let recording = Recording::open(&path).unwrap();
    assert_eq!((recording.damage(), verify(&recording, &Silent).unwrap().problems), (None, Vec::new()));
    assert_holds(&recording, &committed);
}

/// The checksums of commits cover the frames that are in the file, not those that were taken back.
#[test]
fn frames_that_are_taken_back_are_in_no_checksum() {
    let folder = tempfile::tempdir().unwrap();
    // A signal that is ignored stays so in the program that takes the shell's place; blocks of 512 bytes.
    let script = r#"trap '' XFSZ; ulimit -f 256; exec "$@""#;
    let status = Command::new("sh")
        .args(["-c", script, "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "limited_child", "--nocapture"])
        .env(LIMITED, folder.path())
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "the child failed: {status}");
}

fn assert_is_full(error: WriterError) {
    let text = error.to_string();
    let WriterError::Io { source, .. } = error else { panic!("{text}") };
    assert_eq!(source.kind(), std::io::ErrorKind::StorageFull, "{text}");
    assert!(text.starts_with("cannot append to the recording: "), "{text}");
}

#[test]
fn a_small_disk_that_fills_up() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"mount -t tmpfs -o size=2m tmpfs "$1" || exit 77; shift; exec "$@""#;
    let status = Command::new("unshare")
        .args(["-rm", "sh", "-c", script, "sh"])
        .arg(folder.path())
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture"])
        .env(CHILD, folder.path())
        .status();
    match status {
        Ok(status) if status.success() => {}
        // `unshare` ends with 1 where it is not permitted, but so does nothing else: tests end with 101.
        Ok(status) if matches!(status.code(), Some(1 | 77)) => eprintln!("not tested: no disk can be mounted here"),
        Ok(status) => panic!("the child failed: {status}"),
        Err(error) => eprintln!("not tested: no unshare here ({error})"),
    }
}
