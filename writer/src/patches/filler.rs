//! Columns of a block or patch that are filled with objects read back.

use barrow_format::block::{BlockColumns, ShapeForm};
use barrow_format::{ShapeId, StringId};
use foldhash::HashMap;

use super::reader::Seen;

/// Fills columns, object by object; targets are rows.
#[derive(Debug, Default)]
pub(super) struct Filler {
    /// For each shape its place in the dictionary.
    places: HashMap<ShapeId, u32>,
    pub(super) columns: BlockColumns,
}

/// What is stored of an object apart from its references, its address and its serial.
#[derive(Debug, Clone, Copy)]
pub(super) struct Own {
    shape: ShapeId,
    form: ShapeForm,
    shallow_bytes: u64,
    unmanaged_bytes: u64,
    site: u32,
    name: Option<StringId>,
}

impl From<&Seen<'_>> for Own {
    fn from(object: &Seen<'_>) -> Self {
        let &Seen { shape_id: shape, shallow_bytes, unmanaged_bytes, site, name, .. } = object;
        Own { shape, form: object.form(), shallow_bytes, unmanaged_bytes, site, name }
    }
}

impl Filler {
    /// Empties it for rows from this one on.
    pub(super) fn begin(&mut self, first_row: u32) {
        self.places.clear();
        self.columns.clear();
        self.columns.first_object = first_row;
    }

    /// Appends an object but for its address and its serial.
    pub(super) fn push(&mut self, own: &Own, labels: &[u64], targets: impl Iterator<Item = u32>) {
        let place = self.place(own.shape, own.form);
        let columns = &mut self.columns;
        columns.shapes.push(place);
        columns.shallow_bytes.push(own.shallow_bytes);
        columns.unmanaged_bytes.push(own.unmanaged_bytes);
        columns.sites.push(own.site);
        columns.names.push(own.name);
        columns.labels.extend_from_slice(labels);
        let before = columns.targets.len();
        columns.targets.extend(targets);
        // A block has no more references than fit.
        columns.counts.push((columns.targets.len() - before) as u32);
    }

    fn place(&mut self, shape: ShapeId, form: ShapeForm) -> u32 {
        let columns = &mut self.columns;
        *self.places.entry(shape).or_insert_with(|| {
            columns.dictionary.push(shape);
            columns.forms.push(form);
            columns.dictionary.len() as u32 - 1
        })
    }

    /// What its columns take, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let columns = &self.columns;
        48 * columns.objects() + 4 * columns.targets.len() + 8 * columns.labels.len()
    }

    /// Leaves out the columns that say nothing.
    pub(super) fn end(&mut self) -> &mut BlockColumns {
        let columns = &mut self.columns;
        if columns.addresses.iter().all(|&address| address == 0) {
            columns.addresses.clear();
        }
        if columns.unmanaged_bytes.iter().all(|&bytes| bytes == 0) {
            columns.unmanaged_bytes.clear();
        }
        if columns.sites.iter().all(|&site| site == 0) {
            columns.sites.clear();
        }
        columns
    }
}
