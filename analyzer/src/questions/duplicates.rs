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

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};

use barrow_format::block::{BlockColumns, ColumnSelection};
use barrow_format::rows::{Encoding, Label, LabelCode};
use barrow_format::{FieldId, ObjectId, StringId, TypeId};
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

/// The attribute of a type whose objects' text is the contents of an array: the label of the reference to it.
const TEXT_OF: &str = "text of";
/// The attributes of a type whose values are names of fields that determine the whole object.
const TELL_ALL: [&str; 3] = ["all elements", "same elements", "value of"];
/// Stands for an array of a text in the hash of the object.
const ANY_ARRAY: u32 = u32::MAX;

/// The numbers of [`Duplicates`], in their order.
type Row = [u64; 6];

/// Before merging: the hash of an object, 96 bits, and its id, 32 bits. After merging: the id of a set's first object
/// and the number of its objects, 64 bits each.
type Record = u128;

const ID_BITS: u32 = u32::BITS;
const COUNT_BITS: u32 = u64::BITS;

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
        let (mut records, length, found) = self.hashes(progress)?;
        progress.begin("sorting hashes", length as u64, "objects");
        records[..length].par_sort_unstable();
        check(progress)?;
        let Found { common, arrays } = found;
        let wasted_arrays = self.wasted_arrays(arrays, &records[..length], progress)?;
        let sets = merge_equal(&mut records[..length]);
        records[..sets].par_sort_unstable();
        let mut found = self.sets_by_type(&records[..sets], &common, progress)?;
        for duplicates in &mut found {
            if let Some(arrays) = wasted_arrays.get(&duplicates.type_id) {
                let sizes = self.type_totals_of(arrays, progress)?;
                let bytes = sizes.iter().map(|of| of.heap_bytes.wrapping_add(of.unmanaged_bytes));
                duplicates.wasted_bytes = bytes.fold(duplicates.wasted_bytes, u64::wrapping_add);
            }
        }
        found.sort_by_key(|duplicates| (std::cmp::Reverse(duplicates.wasted_bytes), duplicates.type_id));
        Ok(found)
    }

    /// For each type with texts in arrays, the arrays that would be unnecessary: in each duplicate set all but the first, if
    /// objects of no other set refer to them. `arrays` are hashes of objects, 96 bits, and the arrays of their texts.
    fn wasted_arrays(
        &self,
        mut arrays: Vec<Record>,
        objects: &[Record],
        progress: &dyn Progress,
    ) -> Result<BTreeMap<TypeId, ObjectSet>> {
        let mut wasted = BTreeMap::new();
        if arrays.is_empty() {
            return Ok(wasted);
        }
        arrays.par_sort_unstable_by_key(|&record| (array_of(record), record));
        arrays.dedup();
        let by_array = arrays.chunk_by(|&one, &other| array_of(one) == array_of(other));
        let mut own: Vec<Record> = by_array.filter(|of_array| of_array.len() == 1).flatten().copied().collect();
        own.par_sort_unstable();
        check(progress)?;
        let types = self.types(progress)?;
        for of_set in own.chunk_by(|one, other| one >> ID_BITS == other >> ID_BITS) {
            let [first, superfluous @ ..] = of_set else { continue };
            if superfluous.is_empty() {
                continue;
            }
            // Each array was noted with an object of this hash.
            let object = objects[objects.partition_point(|object| object >> ID_BITS < first >> ID_BITS)];
            let type_id = TypeId(types[object as u32 as usize]);
            let arrays = wasted.entry(type_id).or_insert_with(|| ObjectSet::new(self.snapshot(), self.object_count()));
            superfluous.iter().for_each(|&record| _ = arrays.insert(ObjectId(array_of(record))));
        }
        Ok(wasted)
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

    /// Adds up duplicate sets by type. `sets` are in order of their first objects.
    fn sets_by_type(&self, sets: &[Record], common: &Common, progress: &dyn Progress) -> Result<Vec<Duplicates>> {
        let tables = self.recording().tables()?;
        let mut places = places(self.recording(), &[self.snapshot()])?;
        places.retain(|place| place.entry.objects > 0 && !sets_in(sets, place).is_empty());
        progress.begin("adding up sizes", places.iter().map(|place| u64::from(place.entry.objects)).sum(), "objects");
        let fields = self.comparisons()?;
        let found = map_blocks(self.recording(), &places, ColumnSelection::Values, progress, |place, _, columns| {
            let mut by_type = BTreeMap::new();
            for &set in sets_in(sets, place) {
                let (object, count) = (ObjectId((set >> COUNT_BITS) as u32), set as u64);
                let row = (object.0 - columns.first_object) as usize;
                let type_id = tables.shape(columns.dictionary[dictionary_place(columns, row)]).type_id;
                if name(columns, row).is_none()
                    && has_one_reference(place, columns, row)
                    && !Comparison::is_told(&fields, columns, row)
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

/// The id in a record that is not yet merged.
fn array_of(record: Record) -> u32 {
    record as u32
}

/// The sum of the duplicate sets of a type, and the bytes wasted by the set of the example.
struct Sum {
    all: Duplicates,
    example_bytes: u64,
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
        start += same;
        if same > 1 {
            // A set never overwrites records that were not read yet: each set replaces at least two.
            records[sets] = first << COUNT_BITS | same as u128;
            sets += 1;
        }
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
