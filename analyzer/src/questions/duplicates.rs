//! Finds duplicates: objects that are equal in all recorded properties.
//!
//! ```text
//!   blocks ──▶ hash, object          hashed are: type, sizes, name, values, labels, strengths, targets
//!                  │ sort
//!                  ▼
//!              hash, lowest object, count     equal hashes are adjacent: a duplicate set
//!                  │ sort by object
//!                  ▼
//!   blocks ──▶ by type               the bytes of all objects of a set but one
//! ```
//!
//! **Texts in arrays.** If a text is the contents of an array that the object refers to, as in a JVM, equal texts are in
//! different arrays. The type of such objects has the attribute [`TEXT_OF`], whose value is the label of that reference. Its
//! target is not compared. A set with several of these arrays wastes all but one. An array to which objects with several
//! texts refer is not wasted by any.
//!
//! **Values.** The values of fields are compared, unless the object has a name or text: that identifies it, and its fields
//! may hold values computed from the text, such as the hash of a string. An optional field is compared only if it determines
//! the whole object, as the field with the elements of an array of numbers does. The attributes [`TELL_ALL`] of types name
//! such fields.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};

use barrow_format::block::{BlockColumns, ColumnSelection};
use barrow_format::rows::{Encoding, Label, LabelCode};
use barrow_format::{FieldId, ObjectId, SnapshotId, StringId, TypeId};
use parking_lot::Mutex;
use rayon::prelude::*;

use crate::columns::memory::Column;
use crate::error::{AnalyzerError, Result};
use crate::file::blocks::{BlockPlace, Workspace, decode, map_blocks, places, pooled};
use crate::file::object::{Cursor, Reference, dictionary_place};
use crate::graph::object_set::ObjectSet;
use crate::heap::{Heap, QuestionKind};
use crate::progress::{Progress, check};

/// The duplicate sets of one type. The objects of a set are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Duplicates {
    /// The type.
    pub type_id: TypeId,
    /// The number of sets, each of at least two objects.
    pub groups: u64,
    /// The number of objects in them.
    pub objects: u64,
    /// The shallow and unmanaged sizes of all objects but one of each set, and of all arrays of their text but one, summed,
    /// in bytes.
    pub wasted_bytes: u64,
    /// The first object of the set that wastes most; of the first such set if there are several.
    pub example: ObjectId,
    /// The number of objects in the set of the example.
    pub example_count: u64,
}

impl Duplicates {
    /// The number of objects that would be unnecessary if each set were a single object.
    #[must_use]
    pub fn superfluous(&self) -> u64 {
        self.objects - self.groups
    }

    /// As the index file keeps it.
    fn row(&self) -> Row {
        let Duplicates { type_id, groups, objects, wasted_bytes, example, example_count } = *self;
        [type_id.0.into(), groups, objects, wasted_bytes, example.0.into(), example_count]
    }
}

/// A duplicate set: objects that are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DuplicateGroup {
    /// Their type.
    pub type_id: TypeId,
    /// Their name or text, if they have one.
    pub text: Option<StringId>,
    /// The first of them.
    pub first: ObjectId,
    /// Their number, at least two.
    pub objects: u64,
    /// The shallow and unmanaged size of one of them, in bytes, with the array of its text if no object with another text
    /// refers to that.
    pub each_bytes: u64,
    /// The shallow and unmanaged sizes of all of them but one, and of all arrays of their text but one, summed, in bytes.
    pub wasted_bytes: u64,
    /// Where its objects begin among those of all sets.
    start: u32,
}

/// The duplicate sets of a snapshot, and their objects.
#[derive(Debug)]
pub struct DuplicateGroups {
    snapshot: SnapshotId,
    /// The number of objects in the snapshot.
    snapshot_objects: u64,
    /// The sets, in descending order of wasted bytes.
    pub groups: Vec<DuplicateGroup>,
    /// The objects of all sets, those of a set together and ascending.
    objects: Column<u32>,
}

impl DuplicateGroups {
    /// The snapshot that holds the objects.
    #[must_use]
    pub fn snapshot(&self) -> SnapshotId {
        self.snapshot
    }

    /// The objects of a set, ascending.
    pub fn objects(&self, group: &DuplicateGroup) -> impl Iterator<Item = ObjectId> + '_ {
        let start = group.start as usize;
        self.objects[start..start + group.objects as usize].iter().copied().map(ObjectId)
    }

    /// The objects of a set, as a set.
    #[must_use]
    pub fn set(&self, group: &DuplicateGroup) -> ObjectSet {
        ObjectSet::from_sorted(self.snapshot, self.snapshot_objects, self.objects(group))
    }
}

/// The attribute of a type whose objects' text is the contents of an array: the label of the reference to it.
const TEXT_OF: &str = "text of";
/// The attributes of a type whose values are names of fields that determine the whole object.
const TELL_ALL: [&str; 3] = ["all elements", "same elements", "value of"];
/// Stands for an array of a text in the hash of the object.
const ANY_ARRAY: u32 = u32::MAX;

/// The numbers of [`Duplicates`], in their order.
type Row = [u64; 6];

/// Before merging: the hash of an object, 96 bits, and its id, 32 bits. After merging: the id of a set's first object, 64
/// bits, its place among the records before merging, and the number of its objects, 32 bits each.
type Record = u128;

const ID_BITS: u32 = u32::BITS;
const PLACE_BITS: u32 = u32::BITS;
const COUNT_BITS: u32 = u64::BITS;

/// The array of the text of objects of a duplicate set, to which objects of no other set refer.
#[derive(Clone, Copy)]
struct TextArray {
    /// The first object of the set.
    first: ObjectId,
    array: ObjectId,
    /// The set needs one of its arrays. The others would be unnecessary.
    is_needed: bool,
}

/// For each type the references that all its objects have among their first [`BEGINNING`].
type Common = BTreeMap<TypeId, Vec<Reference>>;

/// Precomputed answers about strings and fields.
struct Texts<'t> {
    /// The hash of each string.
    hashes: Vec<u64>,
    /// See [`Heap::text_labels`].
    labels: BTreeMap<TypeId, &'t str>,
    /// The comparison for each field.
    fields: Vec<Comparison>,
}

/// The way in which the values of a field are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Comparison {
    is_compared: bool,
    is_text: bool,
    /// They determine the whole object.
    tells_all: bool,
}

impl Comparison {
    /// Returns whether an object has a field whose value determines it.
    fn is_told(fields: &[Comparison], columns: &BlockColumns, row: usize) -> bool {
        columns.values.fields(row).iter().any(|&field| fields.get(field.index()).is_some_and(|field| field.tells_all))
    }
}

/// The findings of hashing other than the hashes.
#[derive(Default)]
struct Found {
    common: Common,
    /// The hash of each object whose text is in an array, 96 bits, and the array, 32 bits.
    arrays: Vec<Record>,
}

/// The number of leading references that are searched for one that all objects of a type have.
const BEGINNING: usize = 4;

/// Removes the references from `common` that are not among the first of `others`.
fn keep_common(common: &mut Vec<Reference>, others: &[Reference]) {
    common.retain(|reference| others.iter().take(BEGINNING).any(|other| other == reference));
}

impl Heap {
    /// The duplicate sets of each type. Objects are equal if they agree in type, name, shallow and unmanaged size, in
    /// the labels, strengths and targets of their references in order, and, if they have no name, in the values of fields.
    /// The array of which the text of an object is the contents is not compared. Types that waste most come first.
    ///
    /// Objects with neither a name nor references cannot be compared and are ignored, and so are those without a name whose
    /// single reference is one that all objects of the type have among their first four, such as the reference to the
    /// class; unless a field determines the whole object, as for arrays of numbers and boxed numbers.
    ///
    /// Time: all references are hashed once, on all threads, and objects are sorted by hash. Memory: 16 bytes for each
    /// object, as many for each text in an array, and 8 bytes for each string. Objects count as equal if their hashes of 96
    /// bits are, and texts if those of 64 bits are. Both depend on random keys.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`], [`AnalyzerError::Cancelled`], those of [`crate::Memory`].
    pub fn duplicates(&self, progress: &dyn Progress) -> Result<Vec<Duplicates>> {
        // Index files may hold answers for which values were not compared, or the arrays of texts were. Those have other
        // numbers.
        let question = self.asked(QuestionKind::Duplicates, &[2]);
        if let Some(kept) = self.kept_answer_numbers(&question)
            && let Some(found) = self.duplicates_of_rows(&kept)?
        {
            return Ok(found);
        }
        let found = self.find_duplicates(progress)?;
        let rows: Vec<Row> = found.iter().map(Duplicates::row).collect();
        self.keep_answer(&question, bytemuck::cast_slice(&rows), progress)?;
        Ok(found)
    }

    /// Duplicate sets that the index file has; `None` if they are damaged.
    fn duplicates_of_rows(&self, rows: &[Row]) -> Result<Option<Vec<Duplicates>>> {
        let types = self.recording().tables()?.type_count() as u64;
        let found = rows.iter().map(|&[type_id, groups, objects, wasted_bytes, example, example_count]| {
            let is_possible = type_id < types && example < self.object_count() && groups <= objects;
            let (type_id, example) = (TypeId(type_id as u32), ObjectId(example as u32));
            let found = Duplicates { type_id, groups, objects, wasted_bytes, example, example_count };
            is_possible.then_some(found)
        });
        Ok(found.collect())
    }

    fn find_duplicates(&self, progress: &dyn Progress) -> Result<Vec<Duplicates>> {
        let Sets { records, count, common, arrays, .. } = self.duplicate_sets(false, progress)?;
        let sums = self.map_sets(&records[..count], &common, progress, |found| {
            let mut by_type = BTreeMap::new();
            found.for_each(|group| merge(&mut by_type, Sum::of(group)));
            by_type
        })?;
        let mut by_type = BTreeMap::new();
        sums.into_iter().flat_map(BTreeMap::into_values).for_each(|part| merge(&mut by_type, part));
        let types = self.types(progress)?;
        for (array, bytes) in self.with_sizes(arrays, progress)? {
            if let Some(sum) = by_type.get_mut(&TypeId(types[array.first.index()])).filter(|_| !array.is_needed) {
                sum.all.wasted_bytes = sum.all.wasted_bytes.wrapping_add(bytes);
            }
        }
        let mut found: Vec<Duplicates> = by_type.into_values().map(|sum| sum.all).collect();
        found.sort_by_key(|duplicates| (Reverse(duplicates.wasted_bytes), duplicates.type_id));
        Ok(found)
    }

    /// The duplicate sets one by one, as [`Heap::duplicates`] finds them, those that waste most first. With `among` only
    /// sets that have one of these objects.
    ///
    /// Time and memory: as for [`Heap::duplicates`]; 4 bytes more for each object, and 56 for each set.
    ///
    /// # Errors
    /// As for [`Heap::duplicates`].
    pub fn duplicate_groups(&self, among: Option<&ObjectSet>, progress: &dyn Progress) -> Result<DuplicateGroups> {
        let Sets { records, count, common, arrays, objects } = self.duplicate_sets(true, progress)?;
        self.memory().require_more(count as u64 * size_of::<DuplicateGroup>() as u64)?;
        let parts = self.map_sets(&records[..count], &common, progress, |found| found.collect::<Vec<_>>())?;
        // In the order of their first objects.
        let mut groups: Vec<DuplicateGroup> = parts.into_iter().flatten().collect();
        for (array, bytes) in self.with_sizes(arrays, progress)? {
            if let Ok(at) = groups.binary_search_by_key(&array.first, |group| group.first) {
                let sum = if array.is_needed { &mut groups[at].each_bytes } else { &mut groups[at].wasted_bytes };
                *sum = sum.wrapping_add(bytes);
            }
        }
        let (snapshot, snapshot_objects) = (self.snapshot(), self.object_count());
        let mut found = DuplicateGroups { snapshot, snapshot_objects, groups: Vec::new(), objects };
        if let Some(among) = among {
            groups.retain(|group| found.objects(group).any(|object| among.contains(object)));
        }
        groups.par_sort_unstable_by_key(|group| (Reverse(group.wasted_bytes), group.first));
        found.groups = groups;
        Ok(found)
    }

    /// All duplicate sets, merged; with the objects of each if they are wanted.
    fn duplicate_sets(&self, has_objects: bool, progress: &dyn Progress) -> Result<Sets> {
        let (mut records, length, found) = self.hashes(progress)?;
        progress.begin("sorting hashes", length as u64, "objects");
        records[..length].par_sort_unstable();
        check(progress)?;
        let Found { common, arrays } = found;
        let arrays = self.text_arrays(arrays, &records[..length], progress)?;
        let mut objects: Column<u32> = self.memory().column(if has_objects { length } else { 0 })?;
        objects.iter_mut().zip(&records[..length]).for_each(|(object, &record)| *object = record as u32);
        let count = merge_equal(&mut records[..length]);
        records[..count].par_sort_unstable();
        Ok(Sets { records, count, common, arrays, objects })
    }

    /// The arrays of the texts of duplicate sets to which objects of no other set refer. The first one of each set is
    /// needed. `arrays` are hashes of objects, 96 bits, and the arrays of their texts.
    fn text_arrays(
        &self,
        mut arrays: Vec<Record>,
        objects: &[Record],
        progress: &dyn Progress,
    ) -> Result<Vec<TextArray>> {
        arrays.par_sort_unstable_by_key(|&record| (array_of(record), record));
        arrays.dedup();
        let by_array = arrays.chunk_by(|&one, &other| array_of(one) == array_of(other));
        let mut own: Vec<Record> = by_array.filter(|of_array| of_array.len() == 1).flatten().copied().collect();
        own.par_sort_unstable();
        check(progress)?;
        let mut found = Vec::new();
        for of_set in own.chunk_by(|one, other| one >> ID_BITS == other >> ID_BITS) {
            let hash = of_set[0] >> ID_BITS;
            // Each array was noted with an object of this hash.
            let alike = &objects[objects.partition_point(|object| object >> ID_BITS < hash)..];
            if alike.get(1).is_some_and(|second| second >> ID_BITS == hash) {
                let first = ObjectId(alike[0] as u32);
                let of_set = of_set.iter().enumerate();
                found.extend(of_set.map(|(at, &record)| TextArray {
                    first,
                    array: ObjectId(array_of(record)),
                    is_needed: at == 0,
                }));
            }
        }
        Ok(found)
    }

    /// Arrays with their shallow and unmanaged sizes, in bytes.
    fn with_sizes(&self, mut arrays: Vec<TextArray>, progress: &dyn Progress) -> Result<Vec<(TextArray, u64)>> {
        arrays.par_sort_unstable_by_key(|array| array.array);
        let mut places = places(self.recording(), &[self.snapshot()])?;
        let of_block = |place: &BlockPlace| {
            let first = place.entry.first_object;
            let [start, end] = [u64::from(first), u64::from(first) + u64::from(place.entry.objects)]
                .map(|object| arrays.partition_point(|array| u64::from(array.array.0) < object));
            start..end
        };
        places.retain(|place| place.entry.objects > 0 && !of_block(place).is_empty());
        progress.begin("adding up arrays", places.iter().map(|place| u64::from(place.entry.objects)).sum(), "objects");
        let found = map_blocks(self.recording(), &places, ColumnSelection::Sizes, progress, |place, _, columns| {
            let arrays = arrays[of_block(place)].iter();
            let sized = arrays.map(|&array| (array, size(columns, (array.array.0 - columns.first_object) as usize)));
            Ok(sized.collect::<Vec<_>>())
        })?;
        Ok(found.into_iter().flatten().collect())
    }

    /// The label of the reference to the array of the text, for each type that has such.
    fn text_labels(&self) -> Result<BTreeMap<TypeId, &str>> {
        let tables = self.recording().tables()?;
        let types = (0..tables.type_count() as u32).map(TypeId);
        Ok(types.filter_map(|id| Some((id, tables.type_attribute(id, TEXT_OF)?))).collect())
    }

    /// The comparison for each field.
    fn comparisons(&self) -> Result<Vec<Comparison>> {
        let (tables, fields) = (self.recording().tables()?, self.recording().fields()?);
        let mut comparisons = Vec::new();
        for (id, field) in fields.all() {
            let mut attributes = tables.type_attributes(field.type_id);
            let name = tables.string(field.name);
            let tells_all = attributes.any(|(key, value)| TELL_ALL.contains(&key) && value == name);
            let is_text = field.encoding == Encoding::Text;
            comparisons.resize(id.index() + 1, Comparison::default());
            comparisons[id.index()] = Comparison { is_compared: tells_all || !field.is_optional, is_text, tells_all };
        }
        Ok(comparisons)
    }

    /// The hashes of all objects that can be compared, in no particular order; their number; and the other findings.
    fn hashes(&self, progress: &dyn Progress) -> Result<(Column<Record>, usize, Found)> {
        let totals = self.recording().commit(self.snapshot())?.totals;
        let objects = usize::try_from(self.object_count()).unwrap_or(usize::MAX);
        let mut records: Column<Record> = self.memory().column(objects)?;
        progress.begin("hashing objects", totals.references, "references");
        let places = places(self.recording(), &[self.snapshot()])?;
        let runs: Vec<&[BlockPlace]> = places.chunk_by(|_, next| next.entry.objects == 0).collect();
        let key = Key::random();
        let free = Mutex::new((0, &mut records[..]));
        let tables = self.recording().tables()?;
        self.memory().require(size_of::<u64>() as u64 * tables.string_count() as u64)?;
        let state = RandomState::new();
        // A recording may hold equal texts under several ids.
        let hashes = tables.map_strings(|text| state.hash_one(text));
        let texts = Texts { hashes, labels: self.text_labels()?, fields: self.comparisons()? };
        tables.check_strings()?;
        let found = pooled(runs, |run, workspace| {
            check(progress)?;
            let (found, others) = self.hash_run(run, key, &texts, workspace)?;
            {
                let mut free = free.lock();
                let (own, rest) = std::mem::take(&mut free.1).split_at_mut(found.len());
                own.copy_from_slice(&found);
                *free = (free.0 + found.len(), rest);
            }
            progress.advance(run.iter().map(|place| u64::from(place.entry.references)).sum());
            Ok(others)
        })?;
        let length = free.into_inner().0;
        let mut all = Found::default();
        for Found { common, arrays } in found {
            all.arrays.extend(arrays);
            for (type_id, part) in common {
                all.common.entry(type_id).and_modify(|common| keep_common(common, &part)).or_insert(part);
            }
        }
        Ok((records, length, all))
    }

    /// The hashes of the objects of one block. The other blocks of `run` are continuations of its last object.
    fn hash_run(
        &self,
        run: &[BlockPlace],
        key: Key,
        texts: &Texts<'_>,
        workspace: &mut Workspace,
    ) -> Result<(Vec<Record>, Found)> {
        let tables = self.recording().tables()?;
        let mut records = Vec::with_capacity(run.first().map_or(0, |place| place.entry.objects as usize));
        let mut references = Vec::new();
        let (mut open, mut found): (Option<ObjectHasher>, _) = (None, Found::default());
        for place in run {
            let at = AnalyzerError::section("BLOCK", place.entry.offset);
            decode(self.recording(), place, ColumnSelection::All, workspace, |_, columns| {
                let mut cursor = Cursor::default();
                let mut values = columns.values.rows();
                for row in 0..columns.counts.len() {
                    let values = values.next().unwrap_or_default();
                    if columns.objects() > 0 {
                        records.extend(open.take().and_then(|looks| looks.record(&mut found.arrays)));
                        let shape = columns.dictionary[dictionary_place(columns, row)];
                        let text = name(columns, row).map(|name| texts.hashes[name.index()]);
                        let mut looks = ObjectHasher::new(columns, row, tables.shape(shape).type_id, text, key);
                        if text.is_none() {
                            looks.add_values(values, texts);
                        }
                        open = Some(looks);
                    }
                    references.clear();
                    cursor.push_references(columns, row, tables, &mut references).map_err(&at)?;
                    if let Some(looks) = open.as_mut().filter(|looks| self.has(looks.object)) {
                        let of_text = texts.labels.get(&looks.type_id).filter(|_| looks.has_name);
                        for reference in &references {
                            let is_of_text = of_text.is_some_and(|of_text| match reference.label {
                                Label::Name(name) => tables.string(name) == *of_text,
                                _ => false,
                            });
                            looks.add(reference, is_of_text);
                        }
                        if columns.objects() > 0 && !references.is_empty() {
                            let beginning = &references[..references.len().min(BEGINNING)];
                            let of_type = found.common.entry(looks.type_id);
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
        records.extend(open.and_then(|looks| looks.record(&mut found.arrays)));
        Ok((records, found))
    }

    /// Calls `work` with the duplicate sets whose first objects are in a block, for each block, in their order. `sets` are in
    /// order of their first objects. The arrays of texts are not part of the sizes yet.
    fn map_sets<T: Send>(
        &self,
        sets: &[Record],
        common: &Common,
        progress: &dyn Progress,
        work: impl Fn(&mut dyn Iterator<Item = DuplicateGroup>) -> T + Sync,
    ) -> Result<Vec<T>> {
        let tables = self.recording().tables()?;
        let mut places = places(self.recording(), &[self.snapshot()])?;
        places.retain(|place| place.entry.objects > 0 && !sets_in(sets, place).is_empty());
        progress.begin("adding up sizes", places.iter().map(|place| u64::from(place.entry.objects)).sum(), "objects");
        let fields = self.comparisons()?;
        map_blocks(self.recording(), &places, ColumnSelection::Values, progress, |place, _, columns| {
            let mut groups = sets_in(sets, place).iter().filter_map(|&set| {
                let (first, start) = (ObjectId((set >> COUNT_BITS) as u32), (set >> PLACE_BITS) as u32);
                let objects = u64::from(set as u32);
                let row = (first.0 - columns.first_object) as usize;
                let type_id = tables.shape(columns.dictionary[dictionary_place(columns, row)]).type_id;
                let text = name(columns, row);
                let is_untold = text.is_none()
                    && has_one_reference(place, columns, row)
                    && !Comparison::is_told(&fields, columns, row)
                    && common.get(&type_id).is_some_and(|common| !common.is_empty());
                let each_bytes = size(columns, row);
                let wasted_bytes = each_bytes.wrapping_mul(objects - 1);
                let group = DuplicateGroup { type_id, text, first, objects, each_bytes, wasted_bytes, start };
                (!is_untold).then_some(group)
            });
            Ok(work(&mut groups))
        })
    }
}

/// The duplicate sets of a snapshot.
struct Sets {
    /// Merged ones, of which the first `count` count, by their first objects.
    records: Column<Record>,
    count: usize,
    common: Common,
    arrays: Vec<TextArray>,
    /// See [`DuplicateGroups::objects`].
    objects: Column<u32>,
}

/// The id in a record that is not yet merged.
fn array_of(record: Record) -> u32 {
    record as u32
}

/// The sum of the duplicate sets of a type, and the bytes wasted by the set of the example.
struct Sum {
    all: Duplicates,
    example_bytes: u64,
}

impl Sum {
    fn of(group: DuplicateGroup) -> Self {
        let DuplicateGroup { type_id, first: example, objects, wasted_bytes, .. } = group;
        let all = Duplicates { type_id, groups: 1, objects, wasted_bytes, example, example_count: objects };
        Sum { all, example_bytes: wasted_bytes }
    }
}

/// Adds a part to the sum of its type.
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

/// The duplicate sets whose first objects are in a block.
fn sets_in<'s>(sets: &'s [Record], place: &BlockPlace) -> &'s [Record] {
    let first = u128::from(place.entry.first_object);
    let [start, end] = [first, first + u128::from(place.entry.objects)]
        .map(|object| sets.partition_point(|set| set >> COUNT_BITS < object));
    &sets[start..end]
}

/// Merges equal hashes, which are adjacent, into duplicate sets of at least two objects, in place. Returns the number
/// of sets.
fn merge_equal(records: &mut [Record]) -> usize {
    let (mut sets, mut start) = (0, 0);
    while start < records.len() {
        let (hash, first) = (records[start] >> ID_BITS, u128::from(records[start] as u32));
        let same = records[start..].iter().take_while(|&record| record >> ID_BITS == hash).count();
        if same > 1 {
            // A set never overwrites records that were not read yet: each set replaces at least two.
            records[sets] = first << COUNT_BITS | (start as u128) << PLACE_BITS | same as u128;
            sets += 1;
        }
        start += same;
    }
    sets
}

/// Returns whether an object has a single reference. If the objects of its type have a reference in common, it is that
/// one.
fn has_one_reference(place: &BlockPlace, columns: &BlockColumns, row: usize) -> bool {
    let is_continued = row + 1 == columns.objects() && place.continued > 0;
    columns.counts[row] == 1 && !is_continued
}

/// The name or text of the object in this row.
fn name(columns: &BlockColumns, row: usize) -> Option<StringId> {
    columns.names.get(row).copied().flatten()
}

/// The shallow and unmanaged size of the object in this row.
fn size(columns: &BlockColumns, row: usize) -> u64 {
    columns.shallow_bytes[row].wrapping_add(columns.unmanaged_bytes.get(row).copied().unwrap_or(0))
}

/// The key of a hash. It is random, so that no recording can be made in which different objects have the same hash.
#[derive(Clone, Copy)]
struct Key([u64; 4]);

impl Key {
    fn random() -> Self {
        // A product with an even factor would lose bits.
        Key([0u64, 1, 2, 3].map(|number| RandomState::new().hash_one(number) | 1))
    }
}

/// The hash of an object under construction: two lanes of 64 bits with different keys.
struct ObjectHasher {
    object: ObjectId,
    type_id: TypeId,
    key: Key,
    lanes: [u64; 2],
    has_name: bool,
    /// A field determines the whole object.
    is_told: bool,
    references: u64,
    /// The array of the text.
    array: Option<ObjectId>,
}

impl ObjectHasher {
    /// `text` is the hash of its name or text.
    fn new(columns: &BlockColumns, row: usize, type_id: TypeId, text: Option<u64>, key: Key) -> Self {
        let mut looks = ObjectHasher {
            object: ObjectId(columns.first_object + row as u32),
            type_id,
            key,
            lanes: [key.0[2], key.0[3]],
            has_name: text.is_some(),
            is_told: false,
            references: 0,
            array: None,
        };
        looks.mix(columns.shallow_bytes[row], type_id.0);
        let unmanaged_bytes = columns.unmanaged_bytes.get(row).copied().unwrap_or(0);
        looks.mix(unmanaged_bytes, text.is_some().into());
        looks.mix(text.unwrap_or_default(), 0);
        looks
    }

    /// Adds the values of fields.
    fn add_values(&mut self, (fields, codes): (&[FieldId], &[u64]), texts: &Texts<'_>) {
        for (field, &code) in fields.iter().zip(codes) {
            let of_field = texts.fields.get(field.index()).copied().unwrap_or_default();
            if of_field.is_compared {
                let value = match of_field.is_text {
                    true => usize::try_from(code).ok().and_then(|text| texts.hashes.get(text)).copied().unwrap_or(0),
                    false => code,
                };
                self.mix(value, field.0);
                self.is_told |= of_field.tells_all;
            }
        }
    }

    /// Adds a reference. The first that is `of_text` leads to the array of the text.
    fn add(&mut self, reference: &Reference, is_of_text: bool) {
        // The label was decoded from a code, so encoding cannot fail.
        let code = LabelCode::new(reference.label, reference.strength).unwrap_or_default();
        let target = match is_of_text && self.array.is_none() {
            true => {
                self.array = Some(reference.target);
                ANY_ARRAY
            }
            false => reference.target.0,
        };
        self.mix(code.0, target);
        self.references += 1;
    }

    /// Mixes two numbers into both lanes: a product of 128 bits, whose halves are combined.
    fn mix(&mut self, one: u64, other: u32) {
        let Key([first, second, ..]) = self.key;
        for (lane, key) in self.lanes.iter_mut().zip([first, second]) {
            let product = u128::from(*lane ^ one) * u128::from(key ^ u64::from(other) << ID_BITS);
            *lane = (product as u64 ^ (product >> u64::BITS) as u64).wrapping_add(key);
        }
    }

    /// The hash and the id of the object; `None` if it has neither name nor references, and no field determines it. The
    /// hash with the array of its text is added to `arrays`.
    fn record(mut self, arrays: &mut Vec<Record>) -> Option<Record> {
        // So the last reference affects all bits, too.
        self.mix(self.references, self.references as u32);
        let [one, other] = self.lanes.map(u128::from);
        let hash = (other << u64::BITS | one) << ID_BITS;
        arrays.extend(self.array.map(|array| hash | u128::from(array.0)));
        (self.has_name || self.is_told || self.references > 0).then_some(hash | u128::from(self.object.0))
    }
}
