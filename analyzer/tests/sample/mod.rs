//! A recording to damage, with its content.

use std::ops::Range;

use barrow_analyzer::{Recording, Silent, verify};
use barrow_format::frame::{Frame, SectionType};
use barrow_format::header::{HEADER_BYTES, TRAILER_BYTES};
use barrow_rewrite::{Repaired, repair};
use barrow_testdata::{Heap, Random, Shelf, Vocabulary};
use barrow_writer::{Compression, Options, SnapshotInfo, TypeDescription, Writer};

/// A valid recording.
pub(crate) struct Sample {
    /// Its snapshots.
    pub(crate) heaps: Vec<Heap>,
    /// Its file.
    pub(crate) bytes: Vec<u8>,
    /// The ends of its COMMIT frames in the file, padding included.
    pub(crate) commit_ends: Vec<usize>,
}

impl Sample {
    /// Records snapshots of these sizes. Tables grow before each snapshot, and one snapshot is abandoned in between.
    pub(crate) fn record(sizes: &[u32], compression: Compression) -> Self {
        let shelf = Shelf::default();
        let options = Options { compression, ..Options::without_threads() };
        let writer = Writer::to_stream(Box::new(shelf.clone()), options).unwrap();
        let vocabulary = Vocabulary::declare(&writer).unwrap();
        let mut random = Random::new(11);
        let mut heaps = Vec::new();
        for &size in sizes {
            let mut words = vocabulary.clone();
            let name = format!("Type {}", heaps.len());
            words.types[3] = writer.declare_type(&TypeDescription::new(words.kinds[0], &name)).unwrap();
            words.names[7] = writer.string(&format!("name {}", heaps.len())).unwrap();
            writer.fact("snapshot", &name).unwrap();
            let heap = Heap::random(&mut random, size, &words);
            if heaps.len() == 1 {
                let given_up = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
                heap.announce(&given_up, 0..size as usize).unwrap();
            }
            let info = SnapshotInfo { label: Some(name), ..SnapshotInfo::default() };
            let snapshot = writer.begin_snapshot(info).unwrap();
            heap.announce(&snapshot, 0..size as usize).unwrap();
            let mut shard = snapshot.shard();
            shard.root(words.names[0], Some(words.names[7]), u64::from(size) - 1).unwrap();
            shard.finish().unwrap();
            snapshot.commit().unwrap();
            heaps.push(heap);
        }
        writer.finish().unwrap();
        let bytes = shelf.take();
        let commits = frames(&bytes).into_iter().filter(|(section, _)| *section == SectionType::COMMIT);
        let commit_ends = commits.map(|(_, range)| range.end).collect();
        Sample { heaps, bytes, commit_ends }
    }

    /// Checks that the readable part agrees with what was recorded.
    pub(crate) fn assert_agrees(&self, recording: &Recording) {
        for id in recording.snapshot_ids() {
            assert_eq!(Heap::read(recording, id).unwrap(), self.heaps[id.index()], "snapshot {id}");
        }
    }

    /// Checks that every snapshot before the last known one is kept or named as lost, with the right label if it has
    /// one.
    fn assert_accounted(&self, recording: &Recording, repaired: &Repaired) {
        let mut told: Vec<u32> = repaired.kept.iter().map(|kept| kept.snapshot.0).collect();
        told.extend(repaired.lost.iter().flat_map(|lost| lost.snapshot.0..=lost.last.0));
        told.sort_unstable();
        assert_eq!(told, (0..told.len() as u32).collect::<Vec<_>>(), "{repaired:?}");
        let is_all = told.len() == self.heaps.len();
        let is_cut = self.bytes.len() as u64 > recording.length_bytes();
        assert!(is_all || is_cut || repaired.has_lost(), "{repaired:?}");
    }

    /// Repairs the recording, and checks that the new file is clean and holds only what was recorded. Returns the
    /// number of snapshots kept.
    pub(crate) fn assert_repairs(&self, recording: &Recording) -> usize {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("repaired.barrow");
        let repaired = repair(recording, &path, &Silent).unwrap();
        self.assert_accounted(recording, &repaired);
        if repaired.bytes.is_none() {
            assert!(repaired.kept.is_empty() && !path.exists());
            return 0;
        }
        let clean = Recording::open(&path).unwrap();
        assert_eq!(clean.damage(), None);
        assert_eq!(verify(&clean, &Silent).unwrap().problems, []);
        assert_eq!(clean.snapshot_count(), repaired.kept.len());
        self.assert_agrees(&clean);
        clean.snapshot_count()
    }
}

/// Every frame of a valid file, with its offset.
pub(crate) fn frames(bytes: &[u8]) -> Vec<(SectionType, Range<usize>)> {
    let mut frames = Vec::new();
    let mut offset = HEADER_BYTES;
    while offset < bytes.len() - TRAILER_BYTES {
        let frame = Frame::parse(bytes, offset as u64).unwrap();
        let end = usize::try_from(frame.end()).unwrap();
        frames.push((frame.header.section, offset..end));
        offset = end;
    }
    frames
}
