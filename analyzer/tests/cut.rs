//! A file cut at any byte keeps exactly the snapshots whose commit is whole, says that it is damaged,
//! and can be repaired.

use barrow_analyzer::{Recording, Silent, SnapshotId, repair, summary, verify};
use barrow_format::frame::{Frame, SectionType};
use barrow_testdata::{Heap, Random, Vocabulary};
use barrow_writer::{Compression, Options, Writer};

/// A recording of several random heaps, as bytes.
fn record(sizes: &[u32]) -> (Vec<Heap>, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.barrow");
    let options = Options { threads: 0, compression: Compression::Zstd(1), ..Options::default() };
    let writer = Writer::create(&path, options).unwrap();
    let vocabulary = Vocabulary::declare(&writer).unwrap();
    let mut random = Random::new(1);
    let heaps: Vec<Heap> = sizes.iter().map(|&size| Heap::random(&mut random, size, &vocabulary)).collect();
    for (number, heap) in heaps.iter().enumerate() {
        // Tables grow between snapshots.
        writer.string(&format!("only needed from snapshot {number} on")).unwrap();
        heap.record(&writer).unwrap();
    }
    writer.finish().unwrap();
    (heaps, std::fs::read(path).unwrap())
}

/// Where each COMMIT frame ends.
fn commit_ends(file: &[u8]) -> Vec<u64> {
    let mut ends = Vec::new();
    let mut offset = 64;
    while let Ok(frame) = Frame::parse(file, offset) {
        if frame.header.section == SectionType::COMMIT {
            ends.push(frame.end());
        }
        offset = frame.end();
    }
    ends
}

/// Checks a damaged copy of a recording of which the first `whole` snapshots are complete.
fn check(bytes: Vec<u8>, heaps: &[Heap], whole: usize, deeply: bool) {
    let length = bytes.len();
    let recording = Recording::from_bytes(bytes).unwrap();
    let damage = recording.damage().unwrap_or_else(|| panic!("cut at {length} without a word"));
    assert_eq!(damage.whole_snapshots, whole, "cut at {length}: {damage}");
    assert_eq!(recording.snapshot_count(), whole, "cut at {length}");
    for (number, heap) in heaps.iter().enumerate().take(whole) {
        let id = SnapshotId(number as u32);
        assert_eq!(summary(&recording, id).unwrap().totals.objects, heap.nodes.len() as u64);
        if deeply {
            assert_eq!(&Heap::read(&recording, id).unwrap(), heap, "cut at {length}");
        }
    }
    if deeply {
        check_repair(&recording, heaps, whole);
    }
}

fn check_repair(recording: &Recording, heaps: &[Heap], whole: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("repaired.barrow");
    let repaired = repair(recording, &path, &Silent).unwrap();
    assert_eq!(repaired.snapshots as usize, whole);
    assert!(!repaired.dropped.is_empty());
    let recording = Recording::open(&path).unwrap();
    assert_eq!(recording.damage(), None);
    assert_eq!(verify(&recording, &Silent).unwrap().problems, []);
    for (number, heap) in heaps.iter().enumerate().take(whole) {
        assert_eq!(&Heap::read(&recording, SnapshotId(number as u32)).unwrap(), heap);
    }
}

#[test]
fn at_every_byte() {
    let (heaps, file) = record(&[30, 5, 40]);
    let ends = commit_ends(&file);
    assert_eq!(ends.len(), 3);
    for length in 0..file.len() {
        let cut = file[..length].to_vec();
        if length < 64 {
            assert!(Recording::from_bytes(cut).is_err(), "cut at {length}");
            continue;
        }
        let whole = ends.iter().filter(|&&end| end <= length as u64).count();
        let near_an_end = ends.iter().any(|end| end.abs_diff(length as u64) < 3);
        check(cut, &heaps, whole, length % 97 == 0 || near_an_end);
    }
}

#[test]
fn a_large_file_at_random_bytes() {
    let (heaps, file) = record(&[9000, 20_000, 70_000]);
    let ends = commit_ends(&file);
    let mut random = Random::new(5);
    for round in 0..200 {
        let length = 64 + random.below(file.len() as u64 - 64) as usize;
        let whole = ends.iter().filter(|&&end| end <= length as u64).count();
        let mut cut = file[..length].to_vec();
        check(cut.clone(), &heaps, whole, round % 40 == 0);
        // What a file system leaves of a file that was being extended.
        cut.resize(length + 4096, 0);
        check(cut, &heaps, whole, false);
    }
}
