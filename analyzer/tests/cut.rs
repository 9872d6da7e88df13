//! A recording cut anywhere keeps every snapshot that was committed before the cut, and says that it is cut.

use crate::sample::Sample;
use barrow_analyzer::{AnalyzerError, Recording, Silent, SnapshotId, summary, verify};
use barrow_format::header::HEADER_BYTES;
use barrow_testdata::Random;
use barrow_writer::Compression;

/// Opens what is left and compares it with what was committed. Returns the recording unless it is
/// too short to be one.
fn open_cut(sample: &Sample, left: &[u8]) -> Option<Recording> {
    let recording = match Recording::from_bytes(left.to_vec()) {
        Ok(recording) => recording,
        Err(error) => {
            assert!(matches!(error, AnalyzerError::Unreadable(_)), "{error}");
            assert!(left.len() < HEADER_BYTES, "{} bytes are left: {error}", left.len());
            return None;
        }
    };
    assert!(left.len() >= HEADER_BYTES);
    let committed = sample.commit_ends.iter().filter(|&&end| left.get(..end) == sample.bytes.get(..end)).count();
    assert_eq!(recording.snapshot_count(), committed, "{} bytes are left", left.len());
    let damage = recording.damage().expect("a cut recording is not whole");
    assert_eq!(damage.whole_snapshots, committed);
    let sentence = damage.to_string();
    assert!(sentence.starts_with("the recording is not whole: ") && !sentence.contains('\n'), "{sentence}");
    recording.snapshot_ids().for_each(|id| assert_summary(sample, &recording, id));
    Some(recording)
}

/// The totals of a snapshot are those of its heap.
fn assert_summary(sample: &Sample, recording: &Recording, id: SnapshotId) {
    let (totals, heap) = (summary(recording, id).unwrap().totals, &sample.heaps[id.index()]);
    let bytes = heap.nodes.iter().map(|node| node.shallow_bytes).fold(0, u64::wrapping_add);
    assert_eq!((totals.objects, totals.heap_bytes), (heap.nodes.len() as u64, bytes));
}

/// Beyond counting: everything is read, verified and repaired.
fn assert_whole_up_to_the_cut(sample: &Sample, recording: &Recording) {
    sample.assert_agrees(recording);
    let problems = verify(recording, &Silent).unwrap().problems;
    assert!(problems.iter().all(|problem| problem.snapshot.is_none()), "{problems:?}");
    assert!(!problems.is_empty(), "verifying a cut recording reports the cut");
    assert_eq!(sample.assert_repairs(recording), recording.snapshot_count());
}

#[test]
fn a_recording_cut_at_every_byte() {
    let sample = Sample::record(&[6, 20, 3, 9], Compression::Zstd(1));
    assert_eq!(sample.commit_ends.len(), 4);
    for length in 0..sample.bytes.len() {
        let cut = open_cut(&sample, &sample.bytes[..length]);
        if let Some(damage) = cut.as_ref().and_then(Recording::damage) {
            assert!(damage.lost.is_empty() && damage.suspect_offset.is_none(), "byte {length}: {damage:?}");
        }
        if let Some(recording) = cut
            && (length % 7 == 0 || sample.commit_ends.iter().any(|end| end.abs_diff(length) <= 1))
        {
            assert_whole_up_to_the_cut(&sample, &recording);
        }
    }
    let whole = Recording::from_bytes(sample.bytes.clone()).unwrap();
    assert_eq!(whole.damage(), None);
    assert_eq!(sample.assert_repairs(&whole), 4);
}

#[test]
fn a_larger_recording_cut_at_random() {
    let sample = Sample::record(&[20_000, 5_000, 20_000], Compression::Lz4);
    let mut random = Random::new(5);
    for round in 0..300 {
        let length = random.below(sample.bytes.len() as u64) as usize;
        let mut left = sample.bytes[..length].to_vec();
        if round % 3 == 0 {
            // As after a crash of the whole machine: the file is as long as it was, its end never came.
            let zeros = random.below(2 * (sample.bytes.len() - length) as u64) as usize;
            left.resize(length + zeros, 0);
        }
        if let Some(recording) = open_cut(&sample, &left)
            && round % 15 == 0
        {
            assert_whole_up_to_the_cut(&sample, &recording);
        }
    }
}
