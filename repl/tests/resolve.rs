//! `resolve`, with this very test as the program that was recorded.

use crate::program;
use std::alloc::System;
use std::path::Path;
use std::process::{Command, Output};

use barrow_alloc::{Frames, Options, Recorder};

#[global_allocator]
static ALLOC: Recorder<System> = Recorder::system();

type Order = Box<[u8; 777]>;

#[inline(never)]
fn take_orders(orders: &mut Vec<Order>) {
    for n in 0..10 {
        orders.push(std::hint::black_box(take_one(n)));
    }
}

#[inline(always)]
fn take_one(n: u8) -> Order {
    Box::new([n; 777])
}

fn barrow(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_barrow")).args(words).arg("--no-index").output().unwrap()
}

fn answer(words: &[&str]) -> String {
    let output = barrow(words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The message of a question about a missing or wrong program; its exit code is that of a wrong question.
fn refusal(words: &[&str]) -> String {
    let output = barrow(words);
    assert_eq!(output.status.code(), Some(2), "{words:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn record(path: &Path) {
    let recording = Options { frames: Frames::Tables, ..Options::default() }.recording(path).unwrap();
    let mut orders = Vec::new();
    take_orders(&mut orders);
    barrow_alloc::snapshot("taken").unwrap().unwrap();
    drop(orders);
    recording.finish().unwrap();
}

#[test]
fn a_recording_of_addresses_gets_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (raw, named) = (path("raw.barrow"), path("named.barrow"));
    record(Path::new(&raw));
    let told = answer(&["resolve", &raw, "-o", &named]);
    assert!(told.contains("snapshots  2"), "{told}");

    // The inlined function is the site, the function itself its caller; what was called of the library names the blocks.
    let sites = answer(&["sites", &named, "1000", "-s", "0", "--format", "csv"]);
    let site = sites.lines().find(|line| line.contains("take_one")).unwrap_or_else(|| panic!("{sites}"));
    assert!(site.contains("resolve.rs") && site.contains(",10,7770,"), "{site}");
    let number = site.split(',').find(|cell| cell.parse::<u32>().is_ok()).unwrap();
    let chain = answer(&["site", &named, number, "-s", "0"]);
    let lines: Vec<&str> = chain.lines().filter(|line| line.contains("resolve::")).collect();
    assert!(lines.iter().any(|line| line.contains("take_orders")), "{chain}");
    assert!(lines.iter().any(|line| line.contains("a_recording_of_addresses_gets_names")), "{chain}");

    // Nothing was lost or added.
    for snapshot in ["0", "1"] {
        let blocks = |file: &str| answer(&["count", file, "kind = \"block\"", "-s", snapshot, "--format", "csv"]);
        assert_eq!(blocks(&raw), blocks(&named));
    }
    assert!(answer(&["verify", &named]).contains("the recording is sound"));
    let retained = answer(&["top", &named, "100", "frames", "by", "retained", "-s", "0", "--format", "csv"]);
    let frame = retained.lines().find(|line| line.contains("take_one")).unwrap_or_else(|| panic!("{retained}"));
    assert!(frame.contains("7770"), "{frame}");

    let again = refusal(&["resolve", &named, "-o", &raw, "--force"]);
    assert!(again.contains("resolved already"), "{again}");
}

#[test]
fn only_the_build_that_was_recorded_gives_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let raw = program::testdata("orders-addresses.barrow");
    let raw = raw.to_str().unwrap();
    // That program is nowhere: its addresses stay as they are.
    let (named, other) = (path("named.barrow"), path("other.barrow"));
    let told = answer(&["resolve", raw, "-o", &named]);
    assert!(told.contains("its addresses are left as they are"), "{told}");
    assert!(answer(&["sites", &named, "-s", "7"]).contains("orders+0x"));
    let wrong = refusal(&["resolve", raw, "-o", &other, "--binary", env!("CARGO_BIN_EXE_barrow")]);
    assert!(wrong.contains("is not what was recorded"), "{wrong}");
}
