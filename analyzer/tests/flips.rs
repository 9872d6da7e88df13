//! Every change of a recording is detected, and intact snapshots survive a repair.

use crate::sample::{Sample, frames};
use barrow_analyzer::{Recording, Silent, SnapshotId, verify};
use barrow_format::frame::SectionType;
use barrow_format::header::HEADER_BYTES;
use barrow_testdata::Random;
use barrow_writer::Compression;

/// Checks that the change is detected; with `repaired`, that a repair gives a clean file with the recorded content.
fn assert_noticed(sample: &Sample, changed: Vec<u8>, repaired: bool, what: impl Fn() -> String) {
    if changed == sample.bytes {
        return;
    }
    // Only the very first bytes and the version decide whether this is a recording at all.
    let Ok(recording) = Recording::from_bytes(changed) else { return };
    let found = verify(&recording, &Silent).unwrap();
    assert!(!found.problems.is_empty(), "{} went unnoticed", what());
    if repaired {
        sample.assert_repairs(&recording);
    }
}

#[test]
fn every_flipped_bit_is_noticed() {
    for compression in [Compression::None, Compression::Zstd(1)] {
        let sample = Sample::record(&[3, 7], compression);
        for bit in 0..8 * sample.bytes.len() {
            let mut changed = sample.bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_noticed(&sample, changed, bit % 29 == 0, || format!("bit {} of byte {}", bit % 8, bit / 8));
        }
    }
}

/// A CRC locates the damage, so the checksum of the next commit is not reported as well.
#[test]
fn damage_is_named_where_it_is() {
    let sample = Sample::record(&[3, 7], Compression::None);
    for byte in HEADER_BYTES..sample.bytes.len() {
        let mut changed = sample.bytes.clone();
        changed[byte] ^= 4;
        let recording = Recording::from_bytes(changed).unwrap();
        let found = verify(&recording, &Silent).unwrap();
        let of_chain = found.problems.iter().find(|problem| problem.message.contains("checksum over the frames"));
        assert_eq!(of_chain, None, "byte {byte}");
    }
}

/// Frames that are missing, swapped or foreign, with valid sequence numbers.
#[test]
fn exchanged_frames_are_noticed() {
    let sample = Sample::record(&[3, 7, 5], Compression::None);
    let frames = frames(&sample.bytes);
    let last_commit = frames.iter().rposition(|(section, _)| *section == SectionType::COMMIT).unwrap();
    let mut seen = 0;
    for (_, range) in frames[..last_commit].iter().filter(|(section, _)| *section != SectionType::COMMIT) {
        // Unused bits of the flags: every checksum of the frame is valid, and no question reads them.
        let mut changed = sample.bytes.clone();
        changed[range.start + 7] ^= 0x80;
        let crc = crc32c::crc32c(&changed[range.start..range.start + 36]);
        changed[range.start + 36..range.start + 40].copy_from_slice(&crc.to_le_bytes());
        let recording = Recording::from_bytes(changed).unwrap();
        let found = verify(&recording, &Silent).unwrap();
        let [problem] = &found.problems[..] else { panic!("byte {}: {:?}", range.start, found.problems) };
        assert!(problem.message.starts_with("COMMIT at byte "), "{problem}");
        assert!(problem.message.contains("at least one was changed"), "{problem}");
        let commit = sample.commit_ends.iter().position(|&end| end > range.start).unwrap();
        assert_eq!(problem.snapshot.map(SnapshotId::index), Some(commit), "{problem}");
        // The other snapshots remain valid.
        assert_eq!(sample.assert_repairs(&recording), 2);
        seen += 1;
    }
    assert!(seen > 15, "{seen}");
}

/// One damaged place costs no more than the snapshots it is in.
#[test]
fn a_flipped_bit_in_a_block_costs_one_snapshot() {
    let sample = Sample::record(&[40, 30, 50], Compression::Lz4);
    for (section, range) in frames(&sample.bytes) {
        let is_block = section.has_columns();
        for byte in range.step_by(5).filter(|_| is_block) {
            let mut changed = sample.bytes.clone();
            changed[byte] ^= 0x10;
            let recording = Recording::from_bytes(changed).unwrap();
            assert!(sample.assert_repairs(&recording) >= 2, "byte {byte}");
        }
    }
}

/// A lost chunk of a table costs the snapshots after it, not those before.
#[test]
fn a_damaged_table_keeps_the_snapshots_before_it() {
    let sample = Sample::record(&[10, 10, 10], Compression::None);
    for (section, range) in frames(&sample.bytes) {
        let before = sample.commit_ends.iter().filter(|&&end| end <= range.start).count();
        if section <= SectionType::SHAPES {
            let mut changed = sample.bytes.clone();
            changed[range.end - 9] ^= 1;
            let recording = Recording::from_bytes(changed).unwrap();
            let kept = sample.assert_repairs(&recording);
            assert!(kept >= before, "{section} at byte {}: {kept} of {before} kept", range.start);
        }
    }
}

#[test]
fn several_changes_at_once_are_noticed() {
    let sample = Sample::record(&[30, 60, 20], Compression::Zstd(1));
    let mut random = Random::new(2);
    for round in 0..1500 {
        let mut changed = sample.bytes.clone();
        for _ in 0..1 + random.below(6) {
            let bit = random.below(8 * changed.len() as u64) as usize;
            changed[bit / 8] ^= 1 << (bit % 8);
        }
        assert_noticed(&sample, changed, round % 10 == 0, || format!("round {round}"));
    }
    for word in (0..sample.bytes.len()).step_by(8) {
        let mut changed = sample.bytes.clone();
        changed[word..word + 8].fill(0);
        assert_noticed(&sample, changed, word % 40 == 0, || format!("zeros at byte {word}"));
    }
}

#[test]
fn moved_frames_are_noticed() {
    let sample = Sample::record(&[30, 60, 20], Compression::None);
    let frames = frames(&sample.bytes);
    for (position, (section, one)) in frames.iter().enumerate() {
        let what = |change: &str| format!("{section} at byte {} {change}", one.start);
        for (_, other) in &frames[position + 1..] {
            let parts = [0..one.start, other.clone(), one.end..other.start, one.clone(), other.end..sample.bytes.len()];
            assert_noticed(&sample, join(&sample, &parts), true, || what("was swapped"));
        }
        let twice = [0..one.end, one.clone(), one.end..sample.bytes.len()];
        assert_noticed(&sample, join(&sample, &twice), true, || what("is there twice"));
        let gone = [0..one.start, one.end..sample.bytes.len()];
        assert_noticed(&sample, join(&sample, &gone), true, || what("is gone"));
    }
}

#[test]
fn a_piece_cut_out_is_noticed() {
    let sample = Sample::record(&[30, 60, 20], Compression::Lz4);
    let mut random = Random::new(8);
    for round in 0..1000 {
        let mut ends = [0; 2].map(|_| random.below(sample.bytes.len() as u64) as usize);
        ends.sort_unstable();
        if round % 2 == 0 {
            // Later frames stay aligned, so that they can be found again.
            ends[1] -= (ends[1] - ends[0]) % 8;
        }
        let parts = [0..ends[0], ends[1]..sample.bytes.len()];
        assert_noticed(&sample, join(&sample, &parts), round % 5 == 0, || format!("bytes {ends:?} cut out"));
    }
}

fn join(sample: &Sample, parts: &[std::ops::Range<usize>]) -> Vec<u8> {
    parts.iter().flat_map(|range| &sample.bytes[range.clone()]).copied().collect()
}

/// Lost snapshots of a file without an index are named by number: a commit with changed bytes, a commit that is gone,
/// and a commit that may have been in an unreadable part.
#[test]
fn lost_commits_are_told_without_an_index() {
    let sample = Sample::record(&[10, 10, 10, 10], Compression::None);
    let commits: Vec<_> =
        frames(&sample.bytes).into_iter().filter(|(section, _)| *section == SectionType::COMMIT).collect();
    let end = sample.commit_ends[3];
    let damage = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = sample.bytes[..end].to_vec();
        change(&mut bytes);
        Recording::from_bytes(bytes).unwrap().damage().expect("it has no index").clone()
    };
    let whole = damage(&|_| ());
    assert!(whole.lost.is_empty() && whole.suspect_offset.is_none(), "{whole:?}");
    let second = commits[1].1.clone();
    let body = damage(&|bytes| bytes[second.end - 9] ^= 1);
    assert!(body.lost.len() == 1 && body.lost[0].cause.contains("is damaged"), "{body:?}");
    assert_eq!((body.lost[0].snapshot.0, body.lost[0].offset), (1, Some(second.start as u64)));
    let zeroed = damage(&|bytes| bytes[second.clone()].fill(0));
    assert!(zeroed.lost.len() == 1 && zeroed.lost[0].offset.is_none() && zeroed.suspect_offset.is_none(), "{zeroed:?}");
    assert_eq!((zeroed.lost[0].snapshot.0, zeroed.lost[0].last.0), (1, 1));
    let gone = damage(&|bytes| drop(bytes.drain(sample.commit_ends[0]..sample.commit_ends[2])));
    assert_eq!((gone.lost[0].snapshot.0, gone.lost[0].last.0), (1, 2), "{gone:?}");
    let last = commits[3].1.clone();
    let tail = damage(&|bytes| bytes[last.clone()].fill(0));
    assert_eq!((tail.lost.len(), tail.suspect_offset), (0, Some(last.start as u64)));
}
