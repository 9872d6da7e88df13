//! Long questions: progress, waiting, and the end of the work when the browser leaves. One test: it measures the
//! processor time of this process.

#![cfg(target_os = "linux")]

mod browser;

use std::fs;
use std::io::Read;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use barrow_testdata::{Heap, Random, Vocabulary};
use barrow_writer::{Options, SnapshotInfo, Writer};
use browser::Page;

/// Processor time of this process so far.
fn busy() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 10)
}

/// A question that takes many passes over all objects.
fn heavy(page: &Page, seed: usize) -> String {
    let parts: String = (0..60).map(|part| format!("&w=size+%3D+{}", 1_000_000 + 100 * seed + part)).collect();
    format!("GET /api/ask?q=top+by+retained{parts} HTTP/1.1\r\n{}\r\n", page.own())
}

/// Reads until `end` was sent.
fn read_until(stream: &mut TcpStream, end: &str) -> String {
    let (mut text, mut piece) = (String::new(), [0; 4096]);
    while !text.contains(end) {
        let read = stream.read(&mut piece).expect("something in time");
        assert!(read > 0, "the connection has ended: {text}");
        text.push_str(&String::from_utf8_lossy(&piece[..read]));
    }
    text
}

#[test]
fn work_ends_when_the_browser_leaves() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.barrow");
    let writer = Writer::create(&path, Options::default()).unwrap();
    let vocabulary = Vocabulary::declare(&writer).unwrap();
    let mut heap = Heap::random(&mut Random::new(1), 900_000, &vocabulary);
    heap.nodes.iter_mut().for_each(|node| node.shallow_bytes %= 4096);
    let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
    heap.announce(&snapshot, 0..heap.nodes.len()).unwrap();
    snapshot.commit().unwrap();
    writer.finish().unwrap();
    drop(heap);
    let page = Page::of(&[path]);

    // Progress comes after 100 ms, and tells what it counts.
    let mut stream = page.open(&heavy(&page, 0));
    let text = read_until(&mut stream, "\"progress\"");
    assert!(text.starts_with("HTTP/1.1 200 OK") && !text.contains("\"answer\""), "{text}");
    for key in ["phase", "done", "total", "unit", "elapsed_ms", "rate", "left_ms"] {
        assert!(text.contains(&format!("\"{key}\":")), "{key}: {text}");
    }

    // Leaving ends the work.
    drop(stream);
    assert_idle_soon("one question");

    // Those that take long keep no others waiting. Beyond the bound, one of their kind waits and says so.
    let streams: Vec<TcpStream> = (1..=20).map(|seed| page.open(&heavy(&page, seed))).collect();
    // Two processors that are busy take requests slowly, and each counts as slow half a second later.
    std::thread::sleep(Duration::from_secs(4));
    let head = format!("GET /api/ask?q=summary HTTP/1.1\r\n{}\r\n", page.own());
    drop(page.open(&head));
    page.answer("summary", "");
    let mut waiting = page.open(&heavy(&page, 99));
    let text = read_until(&mut waiting, "\"progress\"");
    assert!(text.contains("waiting until other questions are answered"), "{text}");
    // Lists and downloads do not wait.
    let begun = Instant::now();
    assert_eq!(page.get("/api/files").status, 200);
    assert_eq!(page.get("/api/csv?q=snapshots").status, 200);
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    drop(streams);
    // Its turn comes when others leave: the phases of the work follow.
    read_until(&mut waiting, "\"phase\":\"r");
    drop(waiting);
    assert_idle_soon("twenty questions");

    // Downloads that are not read keep no question waiting.
    let head = format!("GET /api/csv?q=find HTTP/1.1\r\n{}\r\n", page.own());
    let stalled: Vec<TcpStream> = (0..20).map(|_| page.open(&head)).collect();
    std::thread::sleep(Duration::from_millis(300));
    page.answer("summary", "");
    drop(stalled);
    assert_idle_soon("downloads");
    page.answer("top", "");
}

/// After 200 ms nothing works any more.
fn assert_idle_soon(what: &str) {
    std::thread::sleep(Duration::from_millis(200));
    let before = busy();
    std::thread::sleep(Duration::from_millis(500));
    let worked = busy() - before;
    assert!(worked < Duration::from_millis(150), "{what}: {worked:?} of work after the end");
}
