//! A block as announced: plain columns, filled by one shard, emptied by an encoder.

use barrow_format::block::{FieldValues, MAX_VALUES_OF_OBJECT, ValueFiller};
use barrow_format::{FieldId, StringId};

use crate::object::Object;

/// Objects and references in the order of their announcement.
#[derive(Debug, Default)]
pub(crate) struct Announced {
    /// The number of the first object; of the continued one in a continuation.
    pub(crate) first_object: u32,
    /// It continues the last object of an earlier block: no objects, one run of references.
    pub(crate) is_continuation: bool,
    /// Counts the blocks of a snapshot, so that continuations keep their order.
    pub(crate) sequence: u64,
    pub(crate) types: Vec<u32>,
    pub(crate) shallow_bytes: Vec<u64>,
    pub(crate) unmanaged_bytes: Vec<u64>,
    /// For each object, the end of its references.
    pub(crate) ends: Vec<u32>,
    pub(crate) labels: Vec<u64>,
    pub(crate) targets: Vec<u32>,
    /// Empty until an object has one; then as long as `types`.
    pub(crate) addresses: Vec<u64>,
    pub(crate) serials: Vec<u64>,
    pub(crate) sites: Vec<u32>,
    pub(crate) names: Vec<Option<StringId>>,
    /// The values of all objects but the last.
    values: ValueFiller,
    /// The fields of the last object that have values, and the codes of these.
    fields: Vec<FieldId>,
    codes: Vec<u64>,
}

impl Announced {
    pub(crate) fn begin(&mut self, first_object: u32) {
        self.clear();
        self.first_object = first_object;
    }

    /// As a new block, except for its memory.
    pub(crate) fn clear(&mut self) {
        self.first_object = 0;
        self.is_continuation = false;
        self.sequence = 0;
        self.types.clear();
        self.shallow_bytes.clear();
        self.unmanaged_bytes.clear();
        self.ends.clear();
        self.labels.clear();
        self.targets.clear();
        self.addresses.clear();
        self.serials.clear();
        self.sites.clear();
        self.names.clear();
        self.values.clear();
        self.fields.clear();
        self.codes.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.types.is_empty() && self.targets.is_empty()
    }

    pub(crate) fn push(&mut self, object: &Object) {
        let before = self.types.len();
        self.end_object();
        self.types.push(object.type_id.0);
        self.shallow_bytes.push(object.shallow_bytes);
        self.unmanaged_bytes.push(object.unmanaged_bytes);
        push_optional(&mut self.addresses, before, object.address.unwrap_or(0));
        push_optional(&mut self.serials, before, object.serial.unwrap_or(0));
        push_optional(&mut self.sites, before, object.site.map_or(0, |site| site.0));
        push_optional(&mut self.names, before, object.name);
    }

    /// Marks the end of the references of the last object.
    pub(crate) fn end_object(&mut self) {
        if self.ends.len() < self.types.len() {
            self.values.push(self.ends.len(), &self.fields, &self.codes);
            self.fields.clear();
            self.codes.clear();
            self.ends.push(u32::try_from(self.targets.len()).unwrap_or(u32::MAX));
        }
    }

    /// Returns whether the last object has references in this block.
    pub(crate) fn has_references(&self) -> bool {
        self.is_continuation || self.ends.last().map_or(0, |&end| end as usize) < self.targets.len()
    }

    /// Adds a value to the last object. False if it has too many.
    #[inline]
    pub(crate) fn push_value(&mut self, field: FieldId, code: u64) -> bool {
        self.fields.push(field);
        self.codes.push(code);
        self.fields.len() <= MAX_VALUES_OF_OBJECT
    }

    /// The number of values of all objects but the last.
    pub(crate) fn value_count(&self) -> usize {
        self.values.values.len()
    }

    /// Takes the values of all objects, after the last one ended.
    pub(crate) fn take_values(&mut self) -> FieldValues {
        self.values.take(self.types.len())
    }

    /// Memory that it holds, used or not, in bytes.
    pub(crate) fn allocated_bytes(&self) -> usize {
        let wide = [&self.shallow_bytes, &self.unmanaged_bytes, &self.labels, &self.addresses, &self.serials];
        let narrow = [&self.types, &self.ends, &self.targets, &self.sites];
        8 * wide.map(Vec::capacity).iter().sum::<usize>()
            + 4 * narrow.map(Vec::capacity).iter().sum::<usize>()
            + size_of::<Option<StringId>>() * self.names.capacity()
            + 12 * self.values.values.len()
    }

    /// Memory in use, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let optional = 8 * (self.addresses.len() + self.serials.len() + self.names.len()) + 4 * self.sites.len();
        24 * self.types.len() + 12 * self.targets.len() + 8 * self.value_count() + optional
    }
}

/// Appends to a column that stays empty as long as all its values are 0 or none.
fn push_optional<T: Copy + Default + PartialEq>(column: &mut Vec<T>, before: usize, value: T) {
    if value != T::default() || !column.is_empty() {
        column.resize(before, T::default());
        column.push(value);
    }
}
