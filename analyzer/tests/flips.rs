//! No changed bit goes unnoticed: `verify` finds it, and `repair` keeps what is sound.

use barrow_analyzer::{Recording, Silent, repair, verify};
use barrow_testdata::{Heap, Random, Vocabulary};
use barrow_writer::{Options, Writer};

fn record() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flips.barrow");
    let writer = Writer::create(&path, Options { threads: 0, ..Options::default() }).unwrap();
    let vocabulary = Vocabulary::declare(&writer).unwrap();
    let mut random = Random::new(2);
    for size in [40, 3, 60] {
        Heap::random(&mut random, size, &vocabulary).record(&writer).unwrap();
    }
    writer.finish().unwrap();
    std::fs::read(path).unwrap()
}

/// Whether somebody who opens and verifies these bytes is told that something is wrong.
fn is_noticed(bytes: Vec<u8>) -> bool {
    match Recording::from_bytes(bytes) {
        Ok(recording) => !verify(&recording, &Silent).unwrap().problems.is_empty(),
        Err(_) => true,
    }
}

fn check_repair(bytes: Vec<u8>, what: &str) {
    let Ok(recording) = Recording::from_bytes(bytes) else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("repaired.barrow");
    repair(&recording, &path, &Silent).unwrap_or_else(|error| panic!("{what}: {error}"));
    let repaired = Recording::open(&path).unwrap();
    assert_eq!(repaired.damage(), None, "{what}");
    assert_eq!(verify(&repaired, &Silent).unwrap().problems, [], "{what}");
}

#[test]
fn every_single_bit() {
    let file = record();
    assert!(!is_noticed(file.clone()));
    for bit in 0..file.len() * 8 {
        // Every byte has its turn, each with another bit; one byte in 50 has all.
        if bit % 8 != (bit / 8) % 8 && (bit / 8) % 50 != 0 {
            continue;
        }
        let mut changed = file.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(is_noticed(changed.clone()), "bit {bit} of {}", file.len() * 8);
        if bit % 61 == 0 {
            check_repair(changed, &format!("bit {bit}"));
        }
    }
}

#[test]
fn larger_wounds() {
    let file = record();
    let mut random = Random::new(3);
    for round in 0..300 {
        let mut changed = file.clone();
        let at = random.below(file.len() as u64 - 64) as usize;
        let length = 1 + random.below(64) as usize;
        match round % 4 {
            0 => changed[at..at + length].fill(0),
            1 => changed[at..at + length].iter_mut().for_each(|byte| *byte = random.next() as u8),
            2 => drop(changed.drain(at..at + length)),
            _ => {
                let copy = changed[at..at + length].to_vec();
                drop(changed.splice(at..at, copy));
            }
        }
        if changed != file {
            assert!(is_noticed(changed.clone()), "round {round} at {at}, {length} bytes");
            check_repair(changed, &format!("round {round} at {at}, {length} bytes"));
        }
    }
}
