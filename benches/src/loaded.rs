//! A snapshot in memory, which can be announced repeatedly.

use barrow_analyzer::{AnalyzerError, ObjectDetails, Recording, Reference, Silent, SnapshotId, walk};
use barrow_writer::{KindId, KindRole, Object, SnapshotInfo, TypeDescription, Writer};

/// A snapshot in memory that can be announced.
#[derive(Debug)]
pub struct Loaded {
    /// Its objects.
    pub objects: Vec<ObjectDetails>,
    /// Their references, object by object.
    pub references: Vec<Reference>,
    kinds: usize,
    types: usize,
    strings: usize,
}

impl Loaded {
    /// Loads the last snapshot.
    ///
    /// # Panics
    /// If the recording is damaged or empty.
    #[must_use]
    pub fn load(recording: &Recording) -> Self {
        let last = recording.snapshot_ids().next_back().expect("the recording has a snapshot");
        Self::load_snapshot(recording, last).expect("the snapshot is whole")
    }

    /// Loads a snapshot.
    ///
    /// # Errors
    /// Those of the analyzer.
    pub fn load_snapshot(recording: &Recording, snapshot: SnapshotId) -> Result<Self, AnalyzerError> {
        let tables = recording.tables()?;
        let (mut objects, mut references) = (Vec::new(), Vec::new());
        walk(recording, snapshot, &Silent, |object, outgoing| {
            objects.push(*object);
            references.extend_from_slice(outgoing);
            Ok(())
        })?;
        let (kinds, types) = (tables.kind_count(), tables.type_count());
        Ok(Loaded { objects, references, kinds, types, strings: tables.string_count() })
    }

    /// Declares the same number of kinds, types and names as the recording has, so that their ids are equal.
    ///
    /// # Panics
    /// If the file cannot be written.
    pub fn declare(&self, writer: &Writer) {
        for number in 0..self.strings {
            writer.string(&number.to_string()).expect("short");
        }
        for _ in 0..self.kinds {
            writer.kind("kind", KindRole::Object).expect("few");
        }
        for _ in 0..self.types {
            writer.declare_type(&TypeDescription::new(KindId(0), "type")).expect("few");
        }
    }

    /// Records the snapshot once more.
    ///
    /// # Panics
    /// If the file cannot be written.
    pub fn announce(&self, writer: &Writer) {
        let snapshot = writer.begin_snapshot(SnapshotInfo::default()).expect("none is open");
        let mut shard = snapshot.shard();
        let mut rest = self.references.as_slice();
        for object in &self.objects {
            let announced =
                Object { unmanaged_bytes: object.unmanaged_bytes, ..Object::new(object.type_id, object.shallow_bytes) };
            shard.object(object.id.0.into(), &announced).expect("numbers ascend");
            let (own, after) = rest.split_at(object.references as usize);
            rest = after;
            for reference in own {
                shard.reference(reference.label, reference.strength, reference.target.0.into()).expect("targets exist");
            }
        }
        shard.finish().expect("the disk has room");
        snapshot.commit().expect("the disk has room");
    }
}
