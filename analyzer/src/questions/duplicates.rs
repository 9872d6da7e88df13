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
//!
//! [`TEXT_OF`]: text_arrays::TEXT_OF
//! [`TELL_ALL`]: hasher::TELL_ALL

mod groups;
mod hasher;
mod hashes;
mod sets;
mod text_arrays;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use barrow_format::{ObjectId, TypeId};
use rayon::prelude::*;

use crate::error::Result;
use crate::graph::object_set::ObjectSet;
use crate::heap::{Heap, QuestionKind};
use crate::progress::Progress;

pub use groups::{DuplicateGroup, DuplicateGroups};

use sets::Sets;

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

/// The numbers of [`Duplicates`], in their order.
type Row = [u64; 6];

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
    /// [`crate::AnalyzerError::Section`], [`crate::AnalyzerError::Cancelled`], those of [`crate::Memory`].
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
