//! A real snapshot, repeated: of any size, with the shape of a real heap.

use std::error::Error;
use std::path::Path;

use barrow_analyzer::{Recording, Reference, Roots, SnapshotId};
use barrow_format::rows::Root;
use barrow_statistics::Random;
use barrow_writer::{
    KindId, KindRole, Label, Object, Shard, Snapshot, StrengthId, StringId, TypeDescription, TypeId, Writer,
    WriterError,
};

use super::Shape;
use super::announcer::array_bytes;
use crate::Loaded;

/// The largest distance between the ids of an extra reference, except for one in [`FAR`].
const NEARBY: u64 = 64;
/// One in this number of extra references leads to any object.
const FAR: u64 = 10;

/// How a snapshot is repeated.
#[derive(Debug, Clone, Copy)]
pub struct Repetition {
    /// The minimum number of objects; copies are complete.
    pub objects: u64,
    /// The share of references that lead into another copy: 0.01 is one in a hundred.
    pub cross: f64,
    /// The average number of references for each object, if the snapshot has fewer.
    pub references: Option<f64>,
    /// The seed; the same seed gives the same recording.
    pub seed: u64,
}

/// A snapshot to repeat. Memory is proportional to the snapshot, not to the number of copies.
///
/// ```text
///   roots ─▶ copy 0 ⇄ copy 1 ⇄ …      object n of copy c has the number c × objects of the snapshot + n
///               ▲         ▲
///   root ─▶ Copies ───────┘            an array, the last object
/// ```
///
/// A copy keeps types, sizes, labels and strengths, but no addresses, serials and sites. A redirected reference leads
/// to the same object of another copy, so the type of its target does not change.
#[derive(Debug)]
pub struct Repeated {
    recording: Recording,
    loaded: Loaded,
    roots: Vec<Root>,
    repetition: Repetition,
}

impl Repeated {
    /// Loads a snapshot; the default is the last one.
    ///
    /// # Errors
    /// If the recording cannot be read, or if there is no such snapshot with objects and roots.
    pub fn load(
        path: &Path,
        snapshot: Option<SnapshotId>,
        repetition: Repetition,
    ) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let recording = Recording::open(path)?;
        let last = recording.snapshot_ids().next_back();
        let snapshot = snapshot.or(last).ok_or("the recording has no snapshot")?;
        let loaded = Loaded::load_snapshot(&recording, snapshot)?;
        let roots = Roots::read(&recording, snapshot)?.rows().to_vec();
        if roots.is_empty() {
            return Err(format!("snapshot {snapshot} has no roots: no copy would be reachable").into());
        }
        Ok(Repeated { recording, loaded, roots, repetition })
    }

    /// The number of copies.
    #[must_use]
    pub fn copies(&self) -> u64 {
        self.repetition.objects.div_ceil(self.source_objects()).max(1)
    }

    fn source_objects(&self) -> u64 {
        self.loaded.objects.len() as u64
    }

    /// The average number of extra references for each object.
    fn padding(&self) -> f64 {
        let average = self.loaded.references.len() as f64 / self.source_objects() as f64;
        self.repetition.references.map_or(0.0, |wanted| (wanted - average).max(0.0))
    }
}

impl Shape for Repeated {
    fn announce(&self, writer: &Writer, snapshot: &Snapshot<'_>) -> Result<(), WriterError> {
        let vocabulary = Vocabulary::declare(&self.recording, writer)?;
        let mut shard = snapshot.shard();
        for root in &self.roots {
            let label = root.label.map(|label| vocabulary.strings[label.index()]);
            shard.root(vocabulary.strings[root.category.index()], label, root.target.0.into())?;
        }
        let mut copying = Copying {
            copies: self.copies(),
            source_objects: self.source_objects(),
            crossing: threshold(self.repetition.cross),
            padding: self.padding(),
            random: Random::new(self.repetition.seed),
            vocabulary,
        };
        for copy in 0..copying.copies {
            copying.announce_copy(&self.loaded, copy, &mut shard)?;
        }
        copying.announce_array(&self.roots, &mut shard)?;
        shard.finish()
    }
}

/// The source's tables, as the writer numbers them.
struct Vocabulary {
    strings: Vec<StringId>,
    strengths: Vec<StrengthId>,
    types: Vec<TypeId>,
    /// The type of the array that refers to all copies.
    copies: TypeId,
    /// The category of the root that refers to this array.
    category: StringId,
}

impl Vocabulary {
    fn declare(recording: &Recording, writer: &Writer) -> Result<Self, WriterError> {
        let tables = recording.tables().expect("the snapshot was read with them");
        let strings = ids(tables.string_count()).map(|id| writer.string(tables.string(StringId(id))));
        let strings = strings.collect::<Result<_, _>>()?;
        let mut strengths = vec![StrengthId::STRONG];
        for id in ids(tables.strength_count()).skip(1).map(StrengthId) {
            strengths.push(writer.strength(tables.strength_name(id), tables.strength_class(id))?);
        }
        let mut kinds = Vec::new();
        for id in ids(tables.kind_count()).map(KindId) {
            kinds.push(writer.kind(tables.kind_name(id), tables.kind_role(id))?);
        }
        let mut types: Vec<TypeId> = Vec::new();
        for id in ids(tables.type_count()).map(TypeId) {
            let attributes: Vec<(&str, &str)> = tables.type_attributes(id).collect();
            types.push(writer.declare_type(&TypeDescription {
                kind: kinds[tables.type_kind(id).index()],
                name: tables.type_name(id),
                layout: tables.type_layout(id),
                base: tables.type_base(id).and_then(|base| types.get(base.index()).copied()),
                file: tables.type_file(id),
                line: tables.type_line(id),
                attributes: &attributes,
            })?);
        }
        let kind = ids(tables.kind_count()).map(KindId).find(|&kind| tables.kind_role(kind) == KindRole::Object);
        let kind = kind.map_or_else(|| writer.kind("object", KindRole::Object), |kind| Ok(kinds[kind.index()]))?;
        let copies = writer.declare_type(&TypeDescription::new(kind, "Copies"))?;
        Ok(Vocabulary { strings, strengths, types, copies, category: writer.string("copies")? })
    }

    fn label(&self, label: Label) -> Label {
        match label {
            Label::Name(name) => Label::Name(self.strings[name.index()]),
            other => other,
        }
    }
}

/// Announces the copies one by one.
struct Copying {
    copies: u64,
    source_objects: u64,
    /// A reference is redirected if a random number is below this.
    crossing: u64,
    padding: f64,
    random: Random,
    vocabulary: Vocabulary,
}

impl Copying {
    fn announce_copy(&mut self, source: &Loaded, copy: u64, shard: &mut Shard<'_>) -> Result<(), WriterError> {
        let shift = copy * self.source_objects;
        let mut rest = source.references.as_slice();
        for object in &source.objects {
            let number = shift + u64::from(object.id.0);
            let type_id = self.vocabulary.types[object.type_id.index()];
            let unmanaged_bytes = object.unmanaged_bytes;
            shard.object(number, &Object { unmanaged_bytes, ..Object::new(type_id, object.shallow_bytes) })?;
            let (own, after) = rest.split_at(object.references as usize);
            rest = after;
            for reference in own {
                let target = self.target(reference, copy);
                let strength = self.vocabulary.strengths[reference.strength.index()];
                shard.reference(self.vocabulary.label(reference.label), strength, target)?;
            }
            if self.padding > 0.0 {
                self.pad(number, own.last(), shard)?;
            }
        }
        Ok(())
    }

    /// The target of a reference in a copy: in the same copy, or sometimes in another.
    fn target(&mut self, reference: &Reference, copy: u64) -> u64 {
        let is_crossing = self.copies > 1 && self.random.next() < self.crossing;
        let steps = if is_crossing { 1 + self.random.below(self.copies - 1) } else { 0 };
        let copy = (copy + steps) % self.copies;
        copy * self.source_objects + u64::from(reference.target.0)
    }

    /// Announces the extra references of an object. Their indices continue after its own last one.
    fn pad(&mut self, number: u64, last: Option<&Reference>, shard: &mut Shard<'_>) -> Result<(), WriterError> {
        let first = last.map_or(0, |last| if let Label::Index(index) = last.label { index + 1 } else { 0 });
        let one_more = self.random.next() < threshold(self.padding.fract());
        for index in 0..self.padding as u64 + u64::from(one_more) {
            let objects = self.copies * self.source_objects;
            let target = if self.random.below(FAR) == 0 {
                self.random.below(objects)
            } else {
                (number + self.random.below(2 * NEARBY + 1)).saturating_sub(NEARBY).min(objects - 1)
            };
            shard.reference(Label::Index(first + index), StrengthId::STRONG, target)?;
        }
        Ok(())
    }

    /// Announces the array that holds the root objects of every copy.
    fn announce_array(&self, roots: &[Root], shard: &mut Shard<'_>) -> Result<(), WriterError> {
        let mut held: Vec<u64> = roots.iter().map(|root| root.target.0.into()).collect();
        held.sort_unstable();
        held.dedup();
        let array = self.copies * self.source_objects;
        shard.root(self.vocabulary.category, None, array)?;
        shard.object(array, &Object::new(self.vocabulary.copies, array_bytes(self.copies * held.len() as u64)))?;
        let targets = (0..self.copies).flat_map(|copy| held.iter().map(move |root| copy * self.source_objects + root));
        for (index, target) in (0..).zip(targets) {
            shard.reference(Label::Index(index), StrengthId::STRONG, target)?;
        }
        Ok(())
    }
}

/// The limit below which random numbers are with this probability.
fn threshold(probability: f64) -> u64 {
    (probability * 2f64.powi(64)) as u64
}

/// The ids of a table's rows.
fn ids(count: usize) -> std::ops::Range<u32> {
    0..u32::try_from(count).expect("tables are numbered with 32 bits")
}

#[cfg(test)]
mod tests {
    use barrow_testdata::{Edge, Heap, Node};
    use barrow_writer::Options;

    use super::*;
    use crate::shapes::tests::{Written, written};

    const REPETITION: Repetition = Repetition { objects: 1000, cross: 0.2, references: None, seed: 1 };

    /// A heap of 100 objects, repeated.
    fn repeated(repetition: Repetition) -> (Heap, Written) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("source.barrow");
        let writer = Writer::create(&path, Options::default()).unwrap();
        let vocabulary = barrow_testdata::Vocabulary::declare(&writer).unwrap();
        for size in [100, 7] {
            Heap::random(&mut barrow_testdata::Random::new(5), size, &vocabulary).record(&writer).unwrap();
        }
        writer.finish().unwrap();
        let shape = Repeated::load(&path, Some(SnapshotId(0)), repetition).unwrap();
        (Heap::read(&shape.recording, SnapshotId(0)).unwrap(), written(&shape))
    }

    /// The object without its identity, so that copies compare equal.
    fn in_source(node: &Node) -> Node {
        let edges = node.edges.iter().map(|edge| Edge { target: edge.target % 100, ..*edge }).collect();
        Node { identity: (None, None, None), edges, ..node.clone() }
    }

    #[test]
    fn copies_are_like_their_source_and_linked_with_each_other() {
        let (source, copies) = repeated(REPETITION);
        let references: usize = source.nodes.iter().map(|node| node.edges.len()).sum();
        assert_eq!((copies.totals.objects, copies.totals.references), (1001, 10 * references as u64 + 10));
        let mut crossing = 0;
        for (number, node) in copies.heap.nodes[..1000].iter().enumerate() {
            assert_eq!(in_source(node), in_source(&source.nodes[number % 100]), "object {number}");
            crossing += node.edges.iter().filter(|edge| edge.target as usize / 100 != number / 100).count();
        }
        let share = crossing as f64 / (10 * references) as f64;
        assert!((0.15..0.25).contains(&share), "{share}");
    }

    #[test]
    fn every_copy_is_held_by_the_last_object() {
        let (_, copies) = repeated(REPETITION);
        assert_eq!(copies.roots, [0, 1000]);
        assert_eq!(copies.targets(1000), (0..10).map(|copy| 100 * copy).collect::<Vec<u32>>());
    }

    #[test]
    fn without_cross_links_copies_stay_apart() {
        let (_, copies) = repeated(Repetition { cross: 0.0, ..REPETITION });
        assert!((0..1000).all(|object| copies.targets(object).iter().all(|target| target / 100 == object / 100)));
    }

    #[test]
    fn extra_references_make_up_the_average() {
        let (source, copies) = repeated(Repetition { references: Some(6.5), ..REPETITION });
        let average = copies.totals.references as f64 / 1000.0;
        assert!((6.4..6.6).contains(&average), "{average}");
        for (number, node) in copies.heap.nodes[..1000].iter().enumerate() {
            let own = &source.nodes[number % 100].edges;
            let (kept, extra) = node.edges.split_at(own.len());
            assert!(kept.iter().zip(own).all(|(kept, own)| kept.label == own.label));
            assert!(extra.iter().all(|edge| matches!(edge.label, Label::Index(_))));
        }
    }
}
