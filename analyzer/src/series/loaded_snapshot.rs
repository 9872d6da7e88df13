//! A snapshot decoded into memory with every column, for matching and repacking, which access objects in any order.

use std::iter;
use std::ops::Range;
use std::sync::OnceLock;

use barrow_format::block::{BlockColumns, ColumnSelection, FieldValues, ShapeForm};
use barrow_format::rows::LabelCode;
use barrow_format::{FieldId, ObjectId, ShapeId, SnapshotId, StringId};
use foldhash::HashMap;

use crate::error::Result;
use crate::file::blocks::{Workspace, decode, places};
use crate::file::recording::Recording;
use crate::file::tables::Tables;
use crate::progress::{Progress, check};

/// The entry of a packed list of objects or rows that names none.
pub const NO_OBJECT: u32 = u32::MAX;

/// All columns of a snapshot. Memory: about 24 bytes for each object and 4 for each reference, plus the columns of
/// addresses, serials, sites, names and values if they were recorded.
#[derive(Debug, Default)]
pub struct LoadedSnapshot {
    pub(crate) shapes: Vec<ShapeId>,
    pub(crate) shallow_bytes: Vec<u64>,
    /// Unmanaged bytes of each object. This column is empty if all its values are 0, as are those below.
    pub unmanaged_bytes: Vec<u64>,
    /// The address of each object.
    pub addresses: Vec<u64>,
    /// The serial of each object.
    pub serials: Vec<u64>,
    /// For each object the number of its site plus one; 0 without a site.
    pub sites: Vec<u32>,
    /// The name of each object.
    pub names: Vec<Option<StringId>>,
    /// The values of fields, except references, and the position of the values of each object.
    values: FieldValues,
    value_starts: Vec<u64>,
    /// For each object the start of its references in `targets`, followed by the end of the last. Only references of
    /// the object's first block are included.
    starts: Vec<u64>,
    targets: Vec<u32>,
    /// The same for the labels of explicit tails, in `labels`.
    label_starts: Vec<u64>,
    labels: Vec<u64>,
    /// References in continuation blocks, by object.
    continued: HashMap<ObjectId, Vec<Continuation>>,
    /// For each object its look, see [`super::matching`]: a snapshot is matched with the previous one and with the next.
    looks: OnceLock<Vec<u64>>,
}

/// The references of one object in one continuation block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Continuation {
    /// The shape of the object.
    pub shape: ShapeId,
    /// The labelling of references by the shape.
    pub form: ShapeForm,
    /// The number of references of the object in earlier blocks.
    pub start_index: u64,
    /// The objects that are referred to.
    pub targets: Vec<u32>,
    /// The labels of the explicit tail.
    pub labels: Vec<u64>,
}

/// The columns of one object, except references, values, serial and address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObjectColumns {
    /// Its shape.
    pub shape: ShapeId,
    /// Its shallow size, in bytes.
    pub shallow_bytes: u64,
    /// Bytes that it holds outside of the heap.
    pub unmanaged_bytes: u64,
    /// The number of its site plus one; 0 without a site.
    pub site: u32,
    /// Its name.
    pub name: Option<StringId>,
}

impl Continuation {
    fn references<'a>(&'a self, tables: &'a Tables) -> impl Iterator<Item = (LabelCode, u32)> + 'a {
        let shape = tables.shape(self.shape);
        self.targets.iter().enumerate().map(move |(position, &target)| {
            let code = shape.label(position.saturating_add(self.start_index as usize));
            (code.unwrap_or_else(|| LabelCode(self.labels[position])), target)
        })
    }
}

impl LoadedSnapshot {
    /// Decodes a snapshot.
    ///
    /// # Errors
    /// [`AnalyzerError::NoSnapshot`](crate::AnalyzerError::NoSnapshot),
    /// [`AnalyzerError::Section`](crate::AnalyzerError::Section),
    /// [`AnalyzerError::Cancelled`](crate::AnalyzerError::Cancelled).
    pub fn read(recording: &Recording, snapshot: SnapshotId, progress: &dyn Progress) -> Result<Self> {
        LoadedSnapshot::default().read_next(recording, snapshot, progress)
    }

    /// Decodes a snapshot into the memory of another one. Fresh memory costs time.
    ///
    /// # Errors
    /// As for [`LoadedSnapshot::read`].
    pub(crate) fn read_next(
        self,
        recording: &Recording,
        snapshot: SnapshotId,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let places = places(recording, &[snapshot])?;
        let totals = recording.commit(snapshot)?.totals;
        let mut loaded = self.emptied();
        loaded.reserve(totals.objects as usize, totals.references as usize);
        let mut workspace = Workspace::default();
        progress.begin("reading", totals.references, "references");
        for place in &places {
            check(progress)?;
            decode(recording, place, ColumnSelection::All, &mut workspace, |_, columns| {
                loaded.add(columns);
                Ok(())
            })?;
            progress.advance(place.entry.references.into());
        }
        recording.release();
        loaded.fill();
        Ok(loaded)
    }

    /// The same columns without values.
    fn emptied(mut self) -> Self {
        [&mut self.shallow_bytes, &mut self.unmanaged_bytes, &mut self.addresses, &mut self.serials, &mut self.labels]
            .into_iter()
            .for_each(Vec::clear);
        [&mut self.sites, &mut self.targets].into_iter().for_each(Vec::clear);
        for starts in [&mut self.starts, &mut self.label_starts] {
            starts.clear();
            starts.push(0);
        }
        self.shapes.clear();
        self.names.clear();
        self.values.clear();
        self.value_starts.clear();
        self.continued.clear();
        self.looks = OnceLock::new();
        self
    }

    /// The looks of all objects. `compute` is called the first time.
    pub(crate) fn looks(&self, compute: impl FnOnce() -> Vec<u64>) -> &[u64] {
        self.looks.get_or_init(compute)
    }

    /// Reserves the columns that every object or reference has. If memory is short, they grow as they are filled.
    fn reserve(&mut self, objects: usize, references: usize) {
        let _ = self.shapes.try_reserve_exact(objects);
        let _ = self.shallow_bytes.try_reserve_exact(objects);
        let _ = self.starts.try_reserve_exact(objects);
        let _ = self.label_starts.try_reserve_exact(objects);
        let _ = self.targets.try_reserve_exact(references);
    }

    fn add(&mut self, columns: &BlockColumns) {
        if columns.objects() == 0 {
            let continued = Continuation {
                shape: columns.dictionary[0],
                form: columns.forms[0],
                start_index: columns.start_index,
                targets: columns.targets.clone(),
                labels: columns.labels.clone(),
            };
            self.continued.entry(ObjectId(columns.first_object)).or_default().push(continued);
            return;
        }
        let before = self.shapes.len();
        self.shapes.extend(columns.shapes.iter().map(|&shape| columns.dictionary[shape as usize]));
        self.shallow_bytes.extend_from_slice(&columns.shallow_bytes);
        append(&mut self.unmanaged_bytes, before, &columns.unmanaged_bytes);
        append(&mut self.addresses, before, &columns.addresses);
        append(&mut self.serials, before, &columns.serials);
        append(&mut self.sites, before, &columns.sites);
        append(&mut self.names, before, &columns.names);
        self.add_values(before, &columns.values);
        for (&shape, &count) in columns.shapes.iter().zip(&columns.counts) {
            let form = columns.forms[shape as usize];
            let explicit = if form.is_explicit { u64::from(count - form.prefix) } else { 0 };
            self.starts.push(self.starts[self.starts.len() - 1] + u64::from(count));
            self.label_starts.push(self.label_starts[self.label_starts.len() - 1] + explicit);
        }
        self.targets.extend_from_slice(&columns.targets);
        self.labels.extend_from_slice(&columns.labels);
    }

    /// Appends the values of a block, after the `before` objects of earlier blocks.
    fn add_values(&mut self, before: usize, values: &FieldValues) {
        if values.is_empty() && self.values.is_empty() {
            return;
        }
        self.fill_values(before);
        let (layouts, starts) = (self.values.append_layouts(values), values.starts());
        self.values.append_rows(values, layouts, &starts, 0..values.objects().len());
        let first = self.value_starts.last().copied().unwrap_or(0);
        self.value_starts.extend(starts.iter().skip(1).map(|&end| first + u64::from(end)));
    }

    /// Adds empty values for objects without any, up to a total of `objects` objects.
    fn fill_values(&mut self, objects: usize) {
        let missing = objects - self.values.objects().len();
        self.values.append_rows(&FieldValues::default(), 0, &[], 0..missing);
        let last = self.value_starts.last().copied().unwrap_or(0);
        self.value_starts.resize(objects + 1, last);
    }

    /// Extends columns that only some blocks have to the length of the others.
    fn fill(&mut self) {
        let objects = self.shapes.len();
        for column in [&mut self.unmanaged_bytes, &mut self.addresses, &mut self.serials] {
            append(column, objects, &[]);
        }
        append(&mut self.sites, objects, &[]);
        append(&mut self.names, objects, &[]);
        if !self.values.is_empty() {
            self.fill_values(objects);
        }
    }

    /// The number of objects.
    #[must_use]
    pub fn objects(&self) -> usize {
        self.shapes.len()
    }

    /// The number of references.
    #[must_use]
    pub fn references(&self) -> usize {
        self.targets.len() + self.continued.values().flatten().map(|part| part.targets.len()).sum::<usize>()
    }

    /// The targets of an object in its first block.
    #[must_use]
    pub fn targets(&self, object: usize) -> &[u32] {
        &self.targets[range(&self.starts, object)]
    }

    /// The labels of an object's explicit tail, in its first block.
    #[must_use]
    pub fn labels(&self, object: usize) -> &[u64] {
        &self.labels[range(&self.label_starts, object)]
    }

    /// The continuations of an object, in order.
    #[must_use]
    pub fn continued(&self, object: usize) -> &[Continuation] {
        if self.continued.is_empty() {
            return &[];
        }
        self.continued.get(&ObjectId(object as u32)).map_or(&[], Vec::as_slice)
    }

    /// All objects that have continuations, with these, in no particular order.
    pub(crate) fn all_continued(&self) -> impl Iterator<Item = (ObjectId, &[Continuation])> {
        self.continued.iter().map(|(&object, continued)| (object, continued.as_slice()))
    }

    /// The number of references of an object, continuations included.
    pub(crate) fn references_of(&self, object: usize) -> usize {
        let continued = self.continued(object).iter().map(|continued| continued.targets.len());
        self.targets(object).len() + continued.sum::<usize>()
    }

    /// All targets of an object in order, continuations included.
    pub(crate) fn all_targets(&self, object: usize) -> impl Iterator<Item = u32> + '_ {
        let continued = self.continued(object).iter().flat_map(|continued| &continued.targets);
        self.targets(object).iter().chain(continued).copied()
    }

    /// Returns whether a target of an object, continuations included, satisfies `wanted`.
    pub(crate) fn has_target(&self, object: usize, wanted: impl Fn(u32) -> bool) -> bool {
        self.targets(object).iter().any(|&target| wanted(target))
            || self.continued(object).iter().flat_map(|continued| &continued.targets).any(|&target| wanted(target))
    }

    /// Label and target of an object's references in order, from number `start`, continuations included.
    pub fn references_from<'a>(
        &'a self,
        object: usize,
        start: usize,
        tables: &'a Tables,
    ) -> impl Iterator<Item = (LabelCode, u32)> + 'a {
        let first = self.targets(object).iter().enumerate().skip(start);
        let first = first.map(move |(position, &target)| (self.label(object, position, tables), target));
        let skipped = start.saturating_sub(self.targets(object).len());
        let continued = self.continued(object).iter().flat_map(|continued| continued.references(tables));
        first.chain(continued.skip(skipped))
    }

    /// The number of an object's references in each of its blocks: the first block, then its continuations.
    #[must_use]
    pub fn division(&self, object: usize) -> Vec<u32> {
        let continued = self.continued(object).iter().map(|continued| continued.targets.len() as u32);
        iter::once(self.targets(object).len() as u32).chain(continued).collect()
    }

    /// The label of the reference at this position of an object's first block.
    #[must_use]
    pub fn label(&self, object: usize, position: usize, tables: &Tables) -> LabelCode {
        let shape = tables.shape(self.shapes[object]);
        match shape.label(position) {
            Some(code) => code,
            None => LabelCode(self.labels(object)[position - shape.prefix.len()]),
        }
    }

    /// The columns of one object, except references, serial and address.
    #[must_use]
    pub fn own(&self, object: usize) -> ObjectColumns {
        ObjectColumns {
            shape: self.shapes[object],
            shallow_bytes: self.shallow_bytes[object],
            unmanaged_bytes: self.unmanaged_bytes.get(object).copied().unwrap_or(0),
            site: self.sites.get(object).copied().unwrap_or(0),
            name: self.names.get(object).copied().flatten(),
        }
    }

    /// The fields of an object that have values, and the codes of these.
    #[must_use]
    pub fn values(&self, object: usize) -> (&[FieldId], &[u64]) {
        if self.values.is_empty() {
            return Default::default();
        }
        (self.values.fields(object), &self.values.codes()[range(&self.value_starts, object)])
    }
}

/// Appends a block's column, which may be absent, after the `before` objects of earlier blocks.
fn append<T: Copy + Default>(column: &mut Vec<T>, before: usize, values: &[T]) {
    if !values.is_empty() || !column.is_empty() {
        column.resize(before, T::default());
        column.extend_from_slice(values);
    }
}

fn range(starts: &[u64], object: usize) -> Range<usize> {
    starts[object] as usize..starts[object + 1] as usize
}
