//! The cost of a request. One test: it measures the memory of this process.

#![cfg(target_os = "linux")]

mod browser;

use std::io::Write;

use browser::Page;

/// Bytes in memory.
fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").expect("Linux tells");
    pages.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).expect("a number of pages") * 4096
}

#[test]
fn an_address_without_end_takes_no_memory() {
    let page = Page::bundled(&["orders.barrow"]);
    let mut stream = page.open("GET /api/ask?q=");
    let piece = vec![b'x'; 1 << 20];
    stream.write_all(&piece).expect("it reads");
    let before = resident();
    for _ in 0..300 {
        stream.write_all(&piece).expect("it reads");
    }
    let more = resident().saturating_sub(before);
    assert!(more < 2 << 20, "{more} bytes for 300 MB");
    page.answer("top", "");
}
