//! Generated heaps of any size: real ones repeated, and shapes that hurt graph algorithms.
//!
//! They are written as they are made, so that a hundred million objects need no memory.

use barrow_analyzer::{AnalyzerError, Recording, SnapshotId, StrengthClass, TypeId};
use barrow_testdata::Random;
use barrow_writer::{
    KindId, KindRole, Label, Object, Shard, SnapshotInfo, StrengthId, TypeDescription, Writer, WriterError,
};

use crate::loaded::Loaded;

/// The form of a generated heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// References to objects anywhere: no locality at all.
    Random,
    /// A list, in the order of its objects.
    List,
    /// A list, in no order.
    Scattered,
    /// An array of all objects, each of which refers to one of them.
    Hub,
    /// Arrays of a million references to shared objects.
    Arrays,
    /// Groups of a thousand objects that all refer to all of another thousand, and back.
    Bipartite,
    /// A list whose last object refers to an array of as many objects, to which the root refers too.
    ListHub,
}

/// Why nothing was generated.
#[derive(Debug)]
pub enum GenerateError {
    /// The recording could not be written.
    Write(WriterError),
    /// The heap to repeat could not be read.
    Read(AnalyzerError),
}

impl From<WriterError> for GenerateError {
    fn from(error: WriterError) -> Self {
        GenerateError::Write(error)
    }
}

impl From<AnalyzerError> for GenerateError {
    fn from(error: AnalyzerError) -> Self {
        GenerateError::Read(error)
    }
}

/// Objects on one side of a bipartite group, and references of the large arrays.
const SIDE: u64 = 1000;
const ARRAY: u64 = 1_000_000;

impl Shape {
    /// All shapes with their names.
    pub const ALL: [(&'static str, Shape); 7] = [
        ("random", Shape::Random),
        ("list", Shape::List),
        ("scattered", Shape::Scattered),
        ("hub", Shape::Hub),
        ("arrays", Shape::Arrays),
        ("bipartite", Shape::Bipartite),
        ("listhub", Shape::ListHub),
    ];

    /// Records a heap of about so many objects, with object 0 as its root; `references` to each object
    /// where the shape leaves that open.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn record(self, writer: &Writer, objects: u64, references: u64) -> Result<(), WriterError> {
        let kind = writer.kind("object", KindRole::Object)?;
        let node = writer.declare_type(&TypeDescription::new(kind, "Node"))?;
        let array = writer.declare_type(&TypeDescription::new(kind, "Array"))?;
        let snapshot = writer.begin_snapshot(SnapshotInfo::default())?;
        let mut shard = snapshot.shard();
        shard.root(writer.string("globals")?, None, 0)?;
        let objects = match self {
            Shape::Bipartite => objects.next_multiple_of(2 * SIDE) + 1,
            _ => objects,
        };
        let mut random = Random::new(objects);
        for object in 0..objects {
            let targets = self.targets(object, objects, references, &mut random);
            let type_id = if targets.size_hint().0 > 16 { array } else { node };
            shard.object(object, &Object::new(type_id, 16 + 8 * (object % 4)))?;
            refer(&mut shard, targets)?;
        }
        shard.finish()?;
        snapshot.commit().map(drop)
    }

    fn targets(self, object: u64, objects: u64, references: u64, random: &mut Random) -> Targets {
        let half = objects / 2;
        let one = |target: u64| Box::new((target < objects).then_some(target).into_iter()) as Targets;
        match self {
            Shape::Random => {
                let all: Vec<u64> = (0..references).map(|_| random.below(objects)).collect();
                Box::new(all.into_iter())
            }
            Shape::List => one(object + 1),
            // A full cycle through all numbers, cut where it closes.
            Shape::Scattered => match next_scattered(object, objects) {
                0 => Box::new(std::iter::empty()),
                next => one(next),
            },
            Shape::Hub if object == 0 => Box::new(1..objects),
            Shape::Hub => one(1),
            Shape::Arrays => {
                // The first objects are the arrays; each holds a window of the others.
                let arrays = (objects / 100_000).max(1);
                match object {
                    0 => Box::new((1..=arrays).chain(arrays + 1..(arrays + 1 + ARRAY).min(objects))),
                    _ if object <= arrays => {
                        let first = arrays + 1 + random.below(objects - arrays - 1);
                        let span = objects - arrays - 1;
                        Box::new((0..ARRAY.min(span)).map(move |at| arrays + 1 + (first + at) % span))
                    }
                    _ => one(1 + random.below(arrays)),
                }
            }
            Shape::Bipartite if object == 0 => Box::new((1..objects).step_by(2 * SIDE as usize)),
            Shape::Bipartite => {
                let (group, place) = ((object - 1) / (2 * SIDE), (object - 1) % (2 * SIDE));
                let first = 1 + group * 2 * SIDE + if place < SIDE { SIDE } else { 0 };
                Box::new(first..first + SIDE)
            }
            Shape::ListHub if object == 0 => Box::new((half..objects).chain([1])),
            Shape::ListHub if object + 1 == half => Box::new(half..objects),
            Shape::ListHub if object < half => one(object + 1),
            Shape::ListHub => Box::new(std::iter::empty()),
        }
    }
}

type Targets = Box<dyn Iterator<Item = u64>>;

/// The object after this one in a cycle through all objects that jumps to and fro.
fn next_scattered(object: u64, objects: u64) -> u64 {
    // A step that shares no divisor with the number of objects goes through all of them.
    let step = (objects * 618 / 1000..).find(|&step| step > 0 && gcd(step, objects) == 1).unwrap_or(1);
    (object + step) % objects
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn refer(shard: &mut Shard<'_>, targets: impl Iterator<Item = u64>) -> Result<(), WriterError> {
    for (index, target) in (0..).zip(targets) {
        shard.reference(Label::Index(index), StrengthId::STRONG, target)?;
    }
    Ok(())
}

/// Records a real heap again and again, with a part of the references leading to the same object of
/// another copy, and more of them until each object has `references` on average. All copies are held
/// by one array.
///
/// # Errors
/// Those of the writer and of the analyzer.
pub fn repeat(
    writer: &Writer,
    source: &Recording,
    snapshot: SnapshotId,
    objects: u64,
    references: f64,
    crossing: f64,
) -> Result<(), GenerateError> {
    let tables = source.tables()?;
    for string in 0..tables.string_count() as u32 {
        writer.string(tables.string(barrow_analyzer::StringId(string)))?;
    }
    for kind in (0..tables.kind_count() as u32).map(KindId) {
        writer.kind(tables.kind_name(kind), tables.kind_role(kind))?;
    }
    for strength in 1..tables.strength_count() as u32 {
        let id = StrengthId(strength);
        let class: StrengthClass = tables.strength_class(id);
        writer.strength(tables.strength_name(id), class)?;
    }
    for type_id in (0..tables.type_count() as u32).map(TypeId) {
        let (kind, name) = (tables.type_kind(type_id), tables.type_name(type_id));
        writer.declare_type(&TypeDescription {
            layout: tables.type_layout(type_id),
            file: tables.type_file(type_id),
            line: tables.type_line(type_id),
            ..TypeDescription::new(kind, name)
        })?;
    }
    let loaded = Loaded::load_snapshot(source, snapshot);
    let roots = barrow_analyzer::Roots::read(source, snapshot)?;
    let size = loaded.objects.len() as u64;
    let copies = objects.div_ceil(size.max(1));
    let missing = (references - loaded.references.len() as f64 / size as f64).max(0.0);
    let copies_type = writer.declare_type(&TypeDescription::new(KindId(0), "Copies"))?;
    let group = writer.string("copies")?;
    let recorded = writer.begin_snapshot(SnapshotInfo::default())?;
    let mut shard = recorded.shard();
    let mut random = Random::new(objects);
    // In parts of a million.
    let happens = |part: f64, random: &mut Random| (random.below(1_000_000) as f64) < part * 1e6;
    for root in roots.rows() {
        shard.root(root.category, root.label, root.target.0.into())?;
    }
    shard.root(group, None, size * copies)?;
    for copy in 0..copies {
        let mut rest = loaded.references.as_slice();
        for object in &loaded.objects {
            let number = copy * size + u64::from(object.id.0);
            let announced =
                Object { unmanaged_bytes: object.unmanaged_bytes, ..Object::new(object.type_id, object.shallow_bytes) };
            shard.object(number, &announced)?;
            let (own, after) = rest.split_at(object.references as usize);
            rest = after;
            for reference in own {
                let other = if happens(crossing, &mut random) { random.below(copies) } else { copy };
                let target = other * size + u64::from(reference.target.0);
                shard.reference(reference.label, reference.strength, target)?;
            }
            let more = missing as u64 + u64::from(happens(missing.fract(), &mut random));
            for index in 0..more {
                let near = (u64::from(object.id.0) + random.below(1000)) % size;
                let other = if happens(crossing, &mut random) { random.below(copies) } else { copy };
                shard.reference(Label::Index(index), StrengthId::STRONG, other * size + near)?;
            }
        }
    }
    shard.object(size * copies, &Object::new(copies_type, 16 + 8 * copies))?;
    let first = roots.rows().first().map_or(0, |root| u64::from(root.target.0));
    refer(&mut shard, (0..copies).map(|copy| copy * size + first))?;
    shard.finish()?;
    recorded.commit()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use barrow_analyzer::{Heap, IndexPlace, Memory, Silent};
    use barrow_writer::Options;

    use super::*;

    fn generated(work: impl FnOnce(&Writer)) -> Heap {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("generated.barrow");
        let writer = Writer::create(&path, Options::default()).expect("the folder is there");
        work(&writer);
        writer.finish().expect("the disk has room");
        let recording = std::sync::Arc::new(Recording::open(&path).expect("it was written"));
        let last = recording.snapshot_ids().next_back().expect("it has a snapshot");
        Heap::new(recording, last, &IndexPlace::Nowhere, Memory::unlimited()).expect("it is whole")
    }

    #[test]
    fn everything_is_reachable_in_every_shape() {
        for (name, shape) in Shape::ALL.into_iter().filter(|(_, shape)| *shape != Shape::Random) {
            let heap = generated(|writer| shape.record(writer, 3000, 4).expect("memory has room"));
            let dominators = heap.dominators(&Silent).expect("it is whole");
            assert_eq!(dominators.reachable_count(), heap.object_count(), "{name}");
        }
    }

    #[test]
    fn a_heap_is_repeated() {
        let source = Recording::open(&barrow_testdata::path("smallest.barrow")).expect("it is there");
        let snapshot = source.snapshot_ids().next_back().expect("it has a snapshot");
        let size = source.snapshot(snapshot).expect("it is whole").totals.objects;
        let heap = generated(|writer| repeat(writer, &source, snapshot, 10 * size, 4.0, 0.1).expect("both are whole"));
        assert_eq!(heap.object_count(), 10 * size + 1);
    }
}
