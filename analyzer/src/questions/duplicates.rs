//! Objects that look the same, as far as a recording knows.
//!
//! ```text
//!   blocks ──▶ hash, object          each with references or a name: type, sizes, name, labels, strengths, targets
//!                  │ sort
//!                  ▼
//!              hash, lowest object, count     equal hashes stand together: a group
//!                  │ sort by object
//!                  ▼
//!   blocks ──▶ by type               what the objects of a group but one take
//! ```

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};
use std::sync::{Mutex, PoisonError};

use barrow_format::block::{BlockColumns, Wanted};
use barrow_format::rows::LabelCode;
use barrow_format::{ObjectId, StringId, TypeId};
use rayon::prelude::*;

use crate::columns::memory::Column;
use crate::error::{AnalyzerError, Result};
use crate::file::blocks::{BlockPlace, Workspace, decode, map_blocks, places, pooled};
use crate::file::object::{Cursor, Reference, dictionary_place};
use crate::heap::Heap;
use crate::progress::{Progress, check};

/// Groups of objects of one type that look the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Duplicates {
    /// The type.
    pub type_id: TypeId,
    /// How many groups of at least two.
    pub groups: u64,
    /// How many objects are in them.
    pub objects: u64,
    /// Shallow and unmanaged sizes of all but one of each group, in bytes.
    pub wasted_bytes: u64,
    /// The first object of the group that wastes most; of the first of them if several do.
    pub example: ObjectId,
    /// How many objects look like the example, itself included.
    pub example_count: u64,
}

impl Duplicates {
    /// How many objects would not be needed if each group were one.
    #[must_use]
    pub fn superfluous(&self) -> u64 {
        self.objects - self.groups
    }
}

/// First the hash of an object and its number; then the number of a group's first object and its count.
type Record = [u64; 3];

/// For each type the references that all its objects have, of those they begin with.
type Common = BTreeMap<TypeId, Vec<Reference>>;

/// How far from its beginning a reference is looked for that all objects of a type have.
const BEGINNING: usize = 4;

/// Keeps what objects of a type have in common with `others`.
fn keep_common(common: &mut Vec<Reference>, others: &[Reference]) {
    common.retain(|reference| others.iter().take(BEGINNING).any(|other| other == reference));
}

impl Heap {
    /// Groups of objects that look the same: type, name, shallow and unmanaged size, and the same labels,
    /// strengths and targets in the same order. By type, what wastes most first.
    ///
    /// Of contents no more is recorded than names and texts, so nothing tells objects apart that have neither
    /// those nor references, and they are left out; so are those without a name and with a single reference
    /// that all objects of the type have among their first four, like that to a class.
    ///
    /// Time: all references are hashed once, on all threads; objects are sorted by hash. Memory: 24 bytes
    /// an object. Two objects are taken for the same if 128 bits of SipHash are. Names are compared by their string's
    /// number: a text that the recording holds twice is taken for two.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`], [`AnalyzerError::Cancelled`], those of [`crate::Memory`].
    pub fn duplicates(&self, progress: &dyn Progress) -> Result<Vec<Duplicates>> {
        let (mut records, length, common) = self.hashes(progress)?;
        progress.begin("sorting hashes", length as u64, "objects");
        records[..length].par_sort_unstable();
        check(progress)?;
        let groups = group(&mut records[..length]);
        records[..groups].par_sort_unstable();
        let mut found = self.groups_by_type(&records[..groups], &common, progress)?;
        found.sort_by_key(|duplicates| (std::cmp::Reverse(duplicates.wasted_bytes), duplicates.type_id));
        Ok(found)
    }

    /// The hashes of all objects that have references or a name, in no order, how many they are, and what the
    /// objects of each type have in common.
    fn hashes(&self, progress: &dyn Progress) -> Result<(Column<Record>, usize, Common)> {
        let totals = self.recording().commit(self.snapshot())?.totals;
        let objects = usize::try_from(self.object_count()).unwrap_or(usize::MAX);
        let mut records: Column<Record> = self.memory().scratch(objects)?;
        progress.begin("hashing objects", totals.references, "references");
        let places = places(self.recording(), &[self.snapshot()])?;
        let runs: Vec<&[BlockPlace]> = places.chunk_by(|_, next| next.entry.objects == 0).collect();
        let free = Mutex::new((0, &mut records[..]));
        let found = pooled(runs, |run, workspace| {
            check(progress)?;
            let (found, common) = self.hash_run(run, workspace)?;
            {
                let mut free = free.lock().unwrap_or_else(PoisonError::into_inner);
                let (own, rest) = std::mem::take(&mut free.1).split_at_mut(found.len());
                own.copy_from_slice(&found);
                *free = (free.0 + found.len(), rest);
            }
            progress.advance(run.iter().map(|place| u64::from(place.entry.references)).sum());
            Ok(common)
        })?;
        let length = free.into_inner().unwrap_or_else(PoisonError::into_inner).0;
        let mut common = Common::new();
        for (type_id, part) in found.into_iter().flatten() {
            common.entry(type_id).and_modify(|common| keep_common(common, &part)).or_insert(part);
        }
        Ok((records, length, common))
    }

    /// The hashes of the objects of one block, whose last object may go on in the others of `run`.
    fn hash_run(&self, run: &[BlockPlace], workspace: &mut Workspace) -> Result<(Vec<Record>, Common)> {
        let tables = self.recording().tables()?;
        let mut records = Vec::with_capacity(run.first().map_or(0, |place| place.entry.objects as usize));
        let mut references = Vec::new();
        let (mut open, mut common): (Option<Looks>, _) = (None, Common::new());
        for place in run {
            let at = AnalyzerError::section("BLOCK", place.entry.offset);
            decode(self.recording(), place, Wanted::All, workspace, |_, columns| {
                let mut cursor = Cursor::default();
                for row in 0..columns.counts.len() {
                    if columns.objects() > 0 {
                        records.extend(open.take().and_then(Looks::record));
                        let shape = columns.dictionary[dictionary_place(columns, row)];
                        open = Some(Looks::new(columns, row, tables.shape(shape).type_id));
                    }
                    references.clear();
                    cursor.push_references(columns, row, tables, &mut references).map_err(&at)?;
                    if let Some(looks) = open.as_mut().filter(|looks| self.has(looks.object)) {
                        references.iter().for_each(|reference| looks.add(reference));
                        if columns.objects() > 0 && !references.is_empty() {
                            let beginning = &references[..references.len().min(BEGINNING)];
                            let of_type = common.entry(looks.type_id);
                            of_type
                                .and_modify(|common: &mut Vec<Reference>| keep_common(common, beginning))
                                .or_insert_with(|| beginning.to_vec());
                        }
                    }
                    cursor.step(columns, row);
                }
                Ok(())
            })?;
        }
        records.extend(open.and_then(Looks::record));
        Ok((records, common))
    }

    /// What groups, by their first objects, add up to.
    fn groups_by_type(&self, groups: &[Record], common: &Common, progress: &dyn Progress) -> Result<Vec<Duplicates>> {
        let tables = self.recording().tables()?;
        let mut places = places(self.recording(), &[self.snapshot()])?;
        places.retain(|place| place.entry.objects > 0 && !groups_in(groups, place).is_empty());
        progress.begin("adding up sizes", places.iter().map(|place| u64::from(place.entry.objects)).sum(), "objects");
        let found = map_blocks(self.recording(), &places, Wanted::Identity, progress, |place, _, columns| {
            let mut by_type = BTreeMap::new();
            for &[object, count, _] in groups_in(groups, place) {
                let object = ObjectId(object as u32);
                let row = (object.0 - columns.first_object) as usize;
                let type_id = tables.shape(columns.dictionary[dictionary_place(columns, row)]).type_id;
                if name(columns, row).is_none()
                    && has_one_reference(place, columns, row)
                    && common.get(&type_id).is_some_and(|common| !common.is_empty())
                {
                    continue;
                }
                let wasted_bytes = size(columns, row).wrapping_mul(count - 1);
                let (example, example_count) = (object, count);
                let one = Duplicates { type_id, groups: 1, objects: count, wasted_bytes, example, example_count };
                merge(&mut by_type, Sum { all: one, example_bytes: wasted_bytes });
            }
            Ok(by_type)
        })?;
        let mut by_type = BTreeMap::new();
        found.into_iter().flat_map(BTreeMap::into_values).for_each(|part| merge(&mut by_type, part));
        Ok(by_type.into_values().map(|sum| sum.all).collect())
    }
}

/// What groups of a type add up to, and what the group of the example wastes.
struct Sum {
    all: Duplicates,
    example_bytes: u64,
}

/// Adds the groups of a type to those before them.
fn merge(by_type: &mut BTreeMap<TypeId, Sum>, part: Sum) {
    let Some(sum) = by_type.get_mut(&part.all.type_id) else {
        by_type.insert(part.all.type_id, part);
        return;
    };
    sum.all.groups += part.all.groups;
    sum.all.objects += part.all.objects;
    sum.all.wasted_bytes = sum.all.wasted_bytes.wrapping_add(part.all.wasted_bytes);
    if part.example_bytes > sum.example_bytes {
        sum.example_bytes = part.example_bytes;
        (sum.all.example, sum.all.example_count) = (part.all.example, part.all.example_count);
    }
}

/// The groups whose first objects begin in a block.
fn groups_in<'g>(groups: &'g [Record], place: &BlockPlace) -> &'g [Record] {
    let from = |object: u64| groups.partition_point(|group| group[0] < object);
    let first = u64::from(place.entry.first_object);
    &groups[from(first)..from(first + u64::from(place.entry.objects))]
}

/// Turns sorted hashes into groups of at least two, in place. Returns how many there are.
fn group(records: &mut [Record]) -> usize {
    let (mut groups, mut start) = (0, 0);
    while start < records.len() {
        let [one, other, object] = records[start];
        let same = records[start..].iter().take_while(|record| record[..2] == [one, other]).count();
        start += same;
        if same > 1 {
            // Groups are fewer than the records they were made from.
            records[groups] = [object, same as u64, 0];
            groups += 1;
        }
    }
    groups
}

/// Whether an object has a single reference. If the objects of its type have some in common, it is that.
fn has_one_reference(place: &BlockPlace, columns: &BlockColumns, row: usize) -> bool {
    let is_continued = row + 1 == columns.objects() && place.continued > 0;
    columns.counts[row] == 1 && !is_continued
}

/// A row's own name or text.
fn name(columns: &BlockColumns, row: usize) -> Option<StringId> {
    columns.names.get(row).copied().flatten()
}

/// Shallow and unmanaged size of a row.
fn size(columns: &BlockColumns, row: usize) -> u64 {
    columns.shallow_bytes[row].wrapping_add(columns.unmanaged_bytes.get(row).copied().unwrap_or(0))
}

/// What an object looks like: two hashes that begin differently.
struct Looks {
    object: ObjectId,
    type_id: TypeId,
    hashers: [DefaultHasher; 2],
    has_name: bool,
    references: u64,
}

impl Looks {
    fn new(columns: &BlockColumns, row: usize, type_id: TypeId) -> Self {
        let name = name(columns, row);
        let hashers = [1, 2].map(|key| {
            let mut hasher = DefaultHasher::new();
            hasher.write_u64(key);
            hasher.write_u32(type_id.0);
            hasher.write_u64(columns.shallow_bytes[row]);
            hasher.write_u64(columns.unmanaged_bytes.get(row).copied().unwrap_or(0));
            hasher.write_u64(name.map_or(0, |name| u64::from(name.0) + 1));
            hasher
        });
        Looks {
            object: ObjectId(columns.first_object + row as u32),
            type_id,
            hashers,
            has_name: name.is_some(),
            references: 0,
        }
    }

    fn add(&mut self, reference: &Reference) {
        // It was made from a code.
        let code = LabelCode::new(reference.label, reference.strength).unwrap_or_default();
        for hasher in &mut self.hashers {
            hasher.write_u64(code.0);
            hasher.write_u32(reference.target.0);
        }
        self.references += 1;
    }

    /// Its hash and its number; nothing if it has neither name nor references.
    fn record(self) -> Option<Record> {
        let [one, other] = self.hashers.map(|hasher| hasher.finish());
        (self.has_name || self.references > 0).then_some([one, other, self.object.0.into()])
    }
}
