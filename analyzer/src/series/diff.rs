//! The changes between two snapshots, type by type.
//!
//! ```text
//!   before  type 3, type 8 ─┐ Pair, object, boxed
//!                           ├────────────────────▶ one row: objects and sizes, before and after
//!   after   type 5 ─────────┘ Pair, object, boxed
//! ```
//!
//! A type id has no meaning in another recording, and a recording may declare a type twice. So types are matched by
//! name, file, line, kind and layout, see [`TypeIdentity`]. Types that agree in all of these share a row.

use std::collections::BTreeMap;

use barrow_format::SnapshotId;
use barrow_format::rows::TypeTotals;

use crate::error::Result;
use crate::file::recording::Recording;
use crate::file::type_identity::TypeIdentity;
use crate::questions::summary::type_totals;

/// One of the two snapshots that are compared.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// The recording that holds it.
    pub recording: &'a Recording,
    /// The snapshot.
    pub snapshot: SnapshotId,
    /// The totals of its types, if they differ from its statistics because objects or references are excluded.
    pub types: Option<&'a [TypeTotals]>,
    /// The bytes that the objects of each type retain together, by type id, if known; types beyond the end retain
    /// nothing. The sizes of types that share a row are added. For the size of their union, give it to one of them and
    /// 0 to the others.
    pub retained_bytes: Option<&'a [u64]>,
}

/// Totals of the objects of a type, of a kind or of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Amounts {
    /// The number of objects.
    pub objects: u64,
    /// Their shallow sizes, summed, in bytes.
    pub heap_bytes: u64,
    /// Their unmanaged sizes, summed, in bytes.
    pub unmanaged_bytes: u64,
    /// The bytes that they retain together, if known. It is `None` for sums over several types, whose retained sets may
    /// overlap.
    pub retained_bytes: Option<u64>,
}

/// A type in both snapshots. Its amounts are zero in a snapshot without objects of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypeChange<'a> {
    /// The type.
    pub identity: TypeIdentity<'a>,
    /// Its objects in the first snapshot.
    pub before: Amounts,
    /// Its objects in the second one.
    pub after: Amounts,
}

/// A kind in both snapshots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KindChange<'a> {
    /// The name of the kind.
    pub kind: &'a str,
    /// Its objects in the first snapshot.
    pub before: Amounts,
    /// Its objects in the second one.
    pub after: Amounts,
}

/// Two snapshots, compared type by type. The rows add up to the totals of each snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diff<'a> {
    /// Every type that has objects in at least one snapshot, changed or not, in the order of identities.
    pub rows: Vec<TypeChange<'a>>,
    /// All objects of the first snapshot.
    pub before: Amounts,
    /// All objects of the second one.
    pub after: Amounts,
}

/// Compares two snapshots of one recording or of two. Only statistics are read: a few kilobytes for snapshots of any
/// size.
///
/// # Errors
/// [`AnalyzerError::NoSnapshot`](crate::AnalyzerError::NoSnapshot),
/// [`AnalyzerError::Section`](crate::AnalyzerError::Section).
pub fn diff<'a>(before: Side<'a>, after: Side<'a>) -> Result<Diff<'a>> {
    let (first, second) = (amounts(before)?, amounts(after)?);
    let mut both: BTreeMap<TypeIdentity<'a>, (Amounts, Amounts)> = BTreeMap::new();
    let absent = (Amounts::nothing(before), Amounts::nothing(after));
    for (identity, amounts) in first {
        both.entry(identity).or_insert(absent).0.add(&amounts);
    }
    for (identity, amounts) in second {
        both.entry(identity).or_insert(absent).1.add(&amounts);
    }
    let rows = both.into_iter().map(|(identity, (before, after))| TypeChange { identity, before, after });
    Ok(Diff::of_rows(rows.collect()))
}

fn totals_of(side: Side<'_>) -> Result<Vec<TypeTotals>> {
    side.types.map_or_else(|| type_totals(side.recording, side.snapshot), |types| Ok(types.to_vec()))
}

/// The totals of every type of a side; an identity may occur twice.
fn amounts<'a>(side: Side<'a>) -> Result<Vec<(TypeIdentity<'a>, Amounts)>> {
    let tables = side.recording.tables()?;
    let types = totals_of(side)?;
    let amounts = types.iter().map(|totals| {
        let retained = side.retained_bytes.map(|bytes| bytes.get(totals.type_id.index()).copied().unwrap_or(0));
        let amounts = Amounts {
            objects: totals.objects,
            heap_bytes: totals.heap_bytes,
            unmanaged_bytes: totals.unmanaged_bytes,
            retained_bytes: retained,
        };
        (TypeIdentity::of(tables, totals.type_id), amounts)
    });
    Ok(amounts.collect())
}

impl Amounts {
    /// The amounts of a type without objects on this side.
    fn nothing(side: Side<'_>) -> Self {
        Amounts { retained_bytes: side.retained_bytes.map(|_| 0), ..Amounts::default() }
    }

    /// Adds `other`; sums are modulo 2^64, as in the file.
    pub fn add(&mut self, other: &Amounts) {
        self.objects = self.objects.wrapping_add(other.objects);
        self.heap_bytes = self.heap_bytes.wrapping_add(other.heap_bytes);
        self.unmanaged_bytes = self.unmanaged_bytes.wrapping_add(other.unmanaged_bytes);
        let retained = self.retained_bytes.zip(other.retained_bytes);
        self.retained_bytes = retained.map(|(bytes, more)| bytes.saturating_add(more));
    }

    /// Sums of amounts, modulo 2^64 as in the file. The retained size of the sum is unknown.
    #[must_use]
    pub fn sum<'s>(all: impl Iterator<Item = &'s Amounts>) -> Self {
        let mut sum = Amounts::default();
        all.for_each(|amounts| sum.add(amounts));
        sum
    }

    /// Returns whether any number known for both differs.
    #[must_use]
    pub fn differ(&self, other: &Amounts) -> bool {
        // A retained size known for one of them only is ignored.
        let retained_bytes = self.retained_bytes.and(other.retained_bytes).or(self.retained_bytes);
        *self != Amounts { retained_bytes, ..*other }
    }
}

impl<'a> Diff<'a> {
    fn of_rows(rows: Vec<TypeChange<'a>>) -> Self {
        let before = Amounts::sum(rows.iter().map(|row| &row.before));
        let after = Amounts::sum(rows.iter().map(|row| &row.after));
        Diff { rows, before, after }
    }

    /// Keeps only the types of the kind of this name, and their totals.
    #[must_use]
    pub fn of_kind(mut self, kind: &str) -> Self {
        self.rows.retain(|row| row.identity.kind == kind);
        Self::of_rows(self.rows)
    }

    /// The totals of kinds in order of name. The retained sizes of kinds are unknown.
    #[must_use]
    pub fn by_kind(&self) -> Vec<KindChange<'a>> {
        let mut kinds: BTreeMap<&'a str, (Amounts, Amounts)> = BTreeMap::new();
        for row in &self.rows {
            let (before, after) = kinds.entry(row.identity.kind).or_default();
            before.add(&row.before);
            after.add(&row.after);
        }
        kinds.into_iter().map(|(kind, (before, after))| KindChange { kind, before, after }).collect()
    }
}

#[cfg(test)]
mod tests {
    use barrow_format::TypeId;
    use barrow_testdata::{Heap, Random, Vocabulary};
    use barrow_writer::{Object, Options, SnapshotInfo, TypeDescription, Writer};

    use super::*;
    use crate::questions::summary::summary;

    /// A recording in memory with the content that `fill` writes.
    fn recorded(fill: impl FnOnce(&Writer)) -> Recording {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("heap.barrow");
        let writer = Writer::create(&path, Options::default()).unwrap();
        fill(&writer);
        writer.finish().unwrap();
        Recording::from_bytes(std::fs::read(path).unwrap()).unwrap()
    }

    fn side(recording: &Recording, snapshot: u32) -> Side<'_> {
        Side { recording, snapshot: SnapshotId(snapshot), types: None, retained_bytes: None }
    }

    fn amounts_of(objects: u64, heap_bytes: u64, unmanaged_bytes: u64) -> Amounts {
        Amounts { objects, heap_bytes, unmanaged_bytes, retained_bytes: None }
    }

    /// Checks that types and kinds add up to the totals in the commit.
    fn reconcile(diff: &Diff<'_>, before: Side<'_>, after: Side<'_>) {
        for (side, total, of_type, of_kind) in [
            (before, diff.before, (|row| row.before) as fn(&TypeChange<'_>) -> Amounts, {
                (|row| row.before) as fn(&KindChange<'_>) -> Amounts
            }),
            (after, diff.after, |row| row.after, |row| row.after),
        ] {
            let totals = summary(side.recording, side.snapshot).unwrap().totals;
            let expected = amounts_of(totals.objects, totals.heap_bytes, totals.unmanaged_bytes);
            let types: Vec<Amounts> = diff.rows.iter().map(of_type).collect();
            let kinds: Vec<Amounts> = diff.by_kind().iter().map(of_kind).collect();
            assert_eq!(total, expected);
            assert_eq!(Amounts::sum(types.iter()), expected);
            assert_eq!(Amounts::sum(kinds.iter()), expected);
        }
    }

    /// The totals of a type, counted object by object.
    fn counted(heap: &Heap, type_id: TypeId) -> Amounts {
        let nodes = heap.nodes.iter().filter(|node| node.type_id == type_id);
        let sizes = nodes.map(|node| amounts_of(1, node.shallow_bytes, node.unmanaged_bytes));
        Amounts::sum(sizes.collect::<Vec<_>>().iter())
    }

    /// Declares unused types, so that the types of the heap get other ids.
    fn shift_types(writer: &Writer, count: u64) {
        let kind = writer.kind("unused", barrow_writer::KindRole::Object).unwrap();
        for _ in 0..count {
            writer.declare_type(&TypeDescription::new(kind, "Unused")).unwrap();
        }
    }

    #[test]
    fn random_heaps_are_compared_as_counted_by_hand() {
        for seed in 0..40 {
            let mut random = Random::new(seed);
            let mut heaps = Vec::new();
            let mut heap = |writer: &Writer, vocabulary: &Vocabulary| {
                let size = 1 + random.below(300) as u32;
                let heap = Heap::random(&mut random, size, vocabulary);
                heap.record(writer).unwrap();
                heaps.push((heap, vocabulary.types.clone()));
            };
            let first = recorded(|writer| {
                let vocabulary = Vocabulary::declare(writer).unwrap();
                heap(writer, &vocabulary);
                heap(writer, &vocabulary);
            });
            let second = recorded(|writer| {
                shift_types(writer, 1 + seed);
                heap(writer, &Vocabulary::declare(writer).unwrap());
            });
            for (from, to) in [(0, 1), (1, 0), (0, 2), (2, 1), (0, 0)] {
                let sides = [from, to].map(|at| if at < 2 { side(&first, at) } else { side(&second, 0) });
                let diff = diff(sides[0], sides[1]).unwrap();
                reconcile(&diff, sides[0], sides[1]);
                assert!(from != to || diff.rows.iter().all(|row| !row.before.differ(&row.after)));
                let names = ["Pair", "List", "Größe", "Map", "main", "worker"];
                let mut expected = 0;
                for (at, name) in names.into_iter().enumerate() {
                    let [before, after] = [from, to].map(|heap| {
                        let (heap, types) = &heaps[heap as usize];
                        counted(heap, types[at])
                    });
                    let row = diff.rows.iter().find(|row| row.identity.name == name);
                    assert_eq!(row.map(|row| (row.before, row.after)), {
                        (before.objects + after.objects > 0).then_some((before, after))
                    });
                    expected += usize::from(row.is_some());
                }
                assert_eq!(diff.rows.len(), expected, "seed {seed}");
            }
        }
    }

    /// Writes a snapshot with one object for each `(type, shallow size)`.
    fn snapshot(writer: &Writer, objects: &[(TypeId, u64)]) {
        let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
        let mut shard = snapshot.shard();
        for (number, &(type_id, bytes)) in (0..).zip(objects) {
            shard.object(number, &Object::new(type_id, bytes)).unwrap();
        }
        shard.finish().unwrap();
        snapshot.commit().unwrap();
    }

    /// `Pair` declared twice, a `Pair` with another layout, and two functions with the same name.
    fn look_alikes() -> Recording {
        recorded(|writer| {
            let object = writer.kind("object", barrow_writer::KindRole::Object).unwrap();
            let frame = writer.kind("frame", barrow_writer::KindRole::Frame).unwrap();
            let declare = |description: TypeDescription<'_>| writer.declare_type(&description).unwrap();
            let pair = declare(TypeDescription::new(object, "Pair"));
            let packed = declare(TypeDescription { layout: Some("packed"), ..TypeDescription::new(object, "Pair") });
            let call = declare(TypeDescription { file: Some("a"), line: Some(1), ..TypeDescription::new(frame, "f") });
            let other = declare(TypeDescription { file: Some("a"), line: Some(2), ..TypeDescription::new(frame, "f") });
            let again = declare(TypeDescription::new(object, "Pair"));
            snapshot(writer, &[(pair, 10), (packed, 20), (call, 30)]);
            snapshot(writer, &[(pair, 10), (again, 11), (again, 12), (other, 31)]);
        })
    }

    #[test]
    fn types_of_equal_identity_share_a_row() {
        let recording = look_alikes();
        let (before, after) = (side(&recording, 0), side(&recording, 1));
        let diff = diff(before, after).unwrap();
        reconcile(&diff, before, after);
        let rows: Vec<_> = diff
            .rows
            .iter()
            .map(|row| (row.identity.title(), row.identity.layout, row.before.heap_bytes, row.after.heap_bytes))
            .collect();
        assert_eq!(
            rows,
            [
                ("Pair".into(), None, 10, 33),
                ("Pair".into(), Some("packed"), 20, 0),
                ("f (a:1)".into(), None, 30, 0),
                ("f (a:2)".into(), None, 0, 31),
            ]
        );
        assert_eq!(diff.rows[0].after.objects, 3);
    }

    #[test]
    fn a_kind_has_totals_of_its_own() {
        let recording = look_alikes();
        let frames = diff(side(&recording, 0), side(&recording, 1)).unwrap().of_kind("frame");
        assert_eq!(frames.rows.len(), 2);
        assert_eq!((frames.before, frames.after), (amounts_of(1, 30, 0), amounts_of(1, 31, 0)));
        let kinds = frames.by_kind();
        assert_eq!(kinds, [KindChange { kind: "frame", before: frames.before, after: frames.after }]);
    }

    #[test]
    fn retained_sizes_come_from_outside() {
        let recording = look_alikes();
        let known = [100, 200, 300, 400, 500];
        let before = Side { retained_bytes: Some(&known[..2]), ..side(&recording, 0) };
        let after = Side { retained_bytes: Some(&known), ..side(&recording, 1) };
        let compared = diff(before, after).unwrap();
        let retained = |row: &TypeChange<'_>| (row.before.retained_bytes, row.after.retained_bytes);
        let rows: Vec<_> = compared.rows.iter().map(retained).collect();
        let expected = [(100, 600), (200, 0), (0, 0), (0, 400)];
        assert_eq!(rows, expected.map(|(before, after)| (Some(before), Some(after))));
        assert_eq!((compared.before.retained_bytes, compared.by_kind()[0].after.retained_bytes), (None, None));
        // A size known for one side only does not count as a change.
        let half = diff(Side { retained_bytes: None, ..before }, Side { snapshot: SnapshotId(0), ..after }).unwrap();
        assert!(half.rows.iter().all(|row| row.before.retained_bytes.is_none() && !row.before.differ(&row.after)));
    }

    #[test]
    fn the_bundled_recording_reconciles_to_the_byte() {
        let recording = Recording::open(&barrow_testdata::path("raku.barrow")).unwrap();
        for (from, to) in [(0, 1), (1, 2), (2, 0)] {
            let (before, after) = (side(&recording, from), side(&recording, to));
            let diff = diff(before, after).unwrap();
            reconcile(&diff, before, after);
            assert!(diff.rows.is_sorted_by_key(|row| row.identity));
            assert!(diff.rows.windows(2).all(|rows| rows[0].identity != rows[1].identity));
        }
    }

    #[test]
    fn a_snapshot_that_is_not_there_is_told() {
        let recording = look_alikes();
        assert!(diff(side(&recording, 0), side(&recording, 2)).is_err());
        assert!(diff(side(&recording, 2), side(&recording, 0)).is_err());
    }
}
