//! The hashes of all objects of a snapshot.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::hash::{BuildHasher, RandomState};

use barrow_format::block::{BlockColumns, ColumnSelection};
use barrow_format::rows::Label;
use barrow_format::{StringId, TypeId};
use parking_lot::Mutex;

use super::hasher::{Key, ObjectHasher, Record, Texts};
use crate::columns::memory::Column;
use crate::error::{AnalyzerError, Result};
use crate::file::blocks::{BlockPlace, Workspace, decode, places, pooled};
use crate::file::object::{Cursor, Reference, dictionary_place};
use crate::heap::Heap;
use crate::progress::{Progress, check};

/// For each type the references that all its objects have among their first [`BEGINNING`].
pub(super) type Common = BTreeMap<TypeId, Vec<Reference>>;

/// The findings of hashing other than the hashes.
#[derive(Default)]
pub(super) struct Found {
    pub(super) common: Common,
    /// The hash of each object whose text is in an array, 96 bits, and the array, 32 bits.
    pub(super) arrays: Vec<Record>,
}

impl Found {
    /// Adds the references that some objects of a type have among their first.
    fn add_common(&mut self, type_id: TypeId, of_some: Vec<Reference>) {
        match self.common.entry(type_id) {
            Entry::Occupied(mut common) => keep_common(common.get_mut(), &of_some),
            Entry::Vacant(common) => _ = common.insert(of_some),
        }
    }
}

/// The number of leading references that are searched for one that all objects of a type have.
/// This is a judgement.
const BEGINNING: usize = 4;

/// Removes the references from `common` that are not among the first of `others`.
fn keep_common(common: &mut Vec<Reference>, others: &[Reference]) {
    common.retain(|reference| others.iter().take(BEGINNING).any(|other| other == reference));
}

impl Heap {
    /// The hashes of all objects that can be compared, in no particular order; their number; and the other findings.
    pub(super) fn hashes(&self, progress: &dyn Progress) -> Result<(Column<Record>, usize, Found)> {
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
            let own = {
                let mut free = free.lock();
                let (own, rest) = std::mem::take(&mut free.1).split_at_mut(found.len());
                *free = (free.0 + found.len(), rest);
                own
            };
            // Without the lock: the first write to a page takes longer than copying.
            own.copy_from_slice(&found);
            progress.advance(run.iter().map(|place| u64::from(place.entry.references)).sum());
            Ok(others)
        })?;
        let length = free.into_inner().0;
        let mut all = Found::default();
        for Found { common, arrays } in found {
            all.arrays.extend(arrays);
            common.into_iter().for_each(|(type_id, common)| all.add_common(type_id, common));
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
        // Most objects with a text have a label in common.
        let mut last: Option<(TypeId, StringId, bool)> = None;
        for place in run {
            let at = AnalyzerError::section("BLOCK", place.entry.offset);
            decode(self.recording(), place, ColumnSelection::All, workspace, |_, columns| {
                let mut cursor = Cursor::default();
                let mut values = columns.values.rows();
                let mut common: Vec<Option<Vec<Reference>>> = vec![None; columns.dictionary.len()];
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
                            let is_of_text = of_text.is_some_and(|of_text| match (reference.label, last) {
                                (Label::Name(name), Some((of, known, is_it)))
                                    if (of, known) == (looks.type_id, name) =>
                                {
                                    is_it
                                }
                                (Label::Name(name), _) => {
                                    let is_it = tables.string(name) == *of_text;
                                    last = Some((looks.type_id, name, is_it));
                                    is_it
                                }
                                _ => false,
                            });
                            looks.add(reference, is_of_text);
                        }
                        if columns.objects() > 0 && !references.is_empty() {
                            let beginning = &references[..references.len().min(BEGINNING)];
                            match &mut common[dictionary_place(columns, row)] {
                                Some(common) => keep_common(common, beginning),
                                of_shape => *of_shape = Some(beginning.to_vec()),
                            }
                        }
                    }
                    cursor.step(columns, row);
                }
                for (&shape, common) in columns.dictionary.iter().zip(common) {
                    common.into_iter().for_each(|common| found.add_common(tables.shape(shape).type_id, common));
                }
                Ok(())
            })?;
        }
        records.extend(open.and_then(|looks| looks.record(&mut found.arrays)));
        Ok((records, found))
    }
}

/// The name or text of the object in this row.
pub(super) fn name(columns: &BlockColumns, row: usize) -> Option<StringId> {
    columns.names.get(row).copied().flatten()
}

/// The shallow and unmanaged size of the object in this row.
pub(super) fn size(columns: &BlockColumns, row: usize) -> u64 {
    columns.shallow_bytes[row].wrapping_add(columns.unmanaged_bytes.get(row).copied().unwrap_or(0))
}
