//! The columns of a block or of a patch, filled object by object.

use crate::block::{BlockColumns, MAX_OBJECTS, MAX_REFERENCES, MAX_VALUES, ShapeForm, ValueFiller};
use crate::{FieldId, ShapeId, StringId};

use super::NO_ROW;

/// A block ends after this number of references. It leaves room for an object with many references at the end.
pub const BLOCK_REFERENCES: usize = (MAX_REFERENCES / 4) as usize;

/// A block ends before this number of values. It leaves room for their layouts.
pub const BLOCK_VALUES: usize = (MAX_VALUES / 4) as usize;

/// The stored properties of an object besides its references, its values, its address and its serial.
#[derive(Debug, Clone, Copy)]
pub struct ObjectFields {
    /// Its shape.
    pub shape: ShapeId,
    /// The form of its shape.
    pub form: ShapeForm,
    /// Its shallow size.
    pub shallow_bytes: u64,
    /// Its unmanaged size.
    pub unmanaged_bytes: u64,
    /// Its allocation site, 0 for none.
    pub site: u32,
    /// Its own name or text.
    pub name: Option<StringId>,
}

/// Fills columns, object by object. Targets are rows.
#[derive(Debug, Default)]
pub struct ColumnFiller {
    /// For each shape its position in the dictionary, or [`NO_ROW`].
    positions: Vec<u32>,
    /// The columns so far. Addresses and serials are pushed by the caller.
    pub columns: BlockColumns,
    values: ValueFiller,
}

impl ColumnFiller {
    /// Number of values pushed.
    #[must_use]
    pub fn values(&self) -> usize {
        self.values.values.len()
    }

    /// Empties the columns, for rows from `first_row` on.
    pub fn begin(&mut self, first_row: u32) {
        self.forget_positions();
        self.columns.clear();
        self.columns.first_object = first_row;
        self.values.clear();
    }

    /// Appends an object; `labels` are the label codes in its explicit tail. `values` are the fields that have values,
    /// and their codes.
    pub fn push(
        &mut self,
        object: &ObjectFields,
        labels: &[u64],
        (fields, codes): (&[FieldId], &[u64]),
        targets: impl Iterator<Item = u32>,
    ) {
        let position = self.position(object.shape, object.form);
        let columns = &mut self.columns;
        self.values.push(columns.shapes.len(), fields, codes);
        columns.shapes.push(position);
        columns.shallow_bytes.push(object.shallow_bytes);
        columns.unmanaged_bytes.push(object.unmanaged_bytes);
        columns.sites.push(object.site);
        columns.names.push(object.name);
        columns.labels.extend_from_slice(labels);
        let before = columns.targets.len();
        columns.targets.extend(targets);
        columns.counts.push(length(columns.targets.len() - before));
    }

    fn position(&mut self, shape: ShapeId, form: ShapeForm) -> u32 {
        if self.positions.len() <= shape.index() {
            self.positions.resize(shape.index() + 1, NO_ROW);
        }
        let columns = &mut self.columns;
        let Some(position) = self.positions.get_mut(shape.index()) else { return NO_ROW };
        if *position == NO_ROW {
            *position = length(columns.dictionary.len());
            columns.dictionary.push(shape);
            columns.forms.push(form);
        }
        *position
    }

    /// The memory of the columns, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let columns = &self.columns;
        48 * columns.objects() + 4 * columns.targets.len() + 8 * columns.labels.len() + 8 * self.values.values.len()
    }

    /// Ends the columns: those in which every value is 0 are left out.
    pub fn end(&mut self) -> &mut BlockColumns {
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
        columns.values = self.values.take(columns.shapes.len());
        columns
    }

    /// Ends the columns, and takes them.
    pub fn take(&mut self) -> BlockColumns {
        self.end();
        self.forget_positions();
        std::mem::take(&mut self.columns)
    }

    fn forget_positions(&mut self) {
        for shape in &self.columns.dictionary {
            if let Some(position) = self.positions.get_mut(shape.index()) {
                *position = NO_ROW;
            }
        }
    }
}

/// Returns whether a block of `objects` with this many references and values ends before an object with `more` of them.
#[must_use]
pub fn is_full(objects: usize, [references, values]: [usize; 2], more: [usize; 2]) -> bool {
    let has_too_many = references + more[0] > BLOCK_REFERENCES || values + more[1] > BLOCK_VALUES;
    objects >= MAX_OBJECTS as usize || (objects > 0 && has_too_many)
}

/// The columns of a continuation: references of `row` from element `start_index` on.
#[must_use]
pub fn continuation(
    row: u32,
    start_index: u64,
    (shape, form): (ShapeId, ShapeForm),
    targets: Vec<u32>,
    labels: Vec<u64>,
) -> BlockColumns {
    BlockColumns {
        first_object: row,
        start_index,
        dictionary: vec![shape],
        forms: vec![form],
        counts: vec![length(targets.len())],
        targets,
        labels,
        ..BlockColumns::default()
    }
}

/// A count that the limits of blocks keep below 2^32.
fn length(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_numbered_anew_in_each_block() {
        let fields = |shape| ObjectFields {
            shape: ShapeId(shape),
            form: ShapeForm::default(),
            shallow_bytes: 8,
            unmanaged_bytes: 0,
            site: 0,
            name: None,
        };
        let mut filler = ColumnFiller::default();
        filler.begin(0);
        [5, 2, 5]
            .into_iter()
            .for_each(|shape| filler.push(&fields(shape), &[], Default::default(), [1, 2].into_iter()));
        let first = filler.take();
        assert_eq!((first.shapes, first.dictionary), (vec![0, 1, 0], vec![ShapeId(5), ShapeId(2)]));
        assert_eq!((first.counts, first.sites, first.unmanaged_bytes), (vec![2; 3], vec![], vec![]));
        filler.begin(3);
        filler.push(&fields(2), &[], Default::default(), [].into_iter());
        assert_eq!((filler.columns.shapes.as_slice(), filler.columns.first_object), (&[0][..], 3));
    }

    #[test]
    fn an_object_of_any_size_begins_a_block() {
        assert!(!is_full(0, [0; 2], [1 << 20; 2]));
        assert!(is_full(1, [0; 2], [1 << 20, 0]) && is_full(1, [0; 2], [0, 1 << 20]));
        assert!(is_full(1 << 16, [0; 2], [0; 2]) && !is_full(1, [10; 2], [10; 2]));
    }
}
