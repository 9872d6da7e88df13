//! The columns of a block as plain arrays.

use super::FieldValues;
use crate::ids::{ShapeId, StringId};
use crate::rows::{Shape, Tail};

/// The properties of a shape that determine the layout of its objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ShapeForm {
    /// References that every object has.
    pub prefix: u32,
    /// A counted tail follows them.
    pub has_tail: bool,
    /// The tail's labels are stored with each object.
    pub is_explicit: bool,
}

impl From<&Shape> for ShapeForm {
    fn from(shape: &Shape) -> Self {
        ShapeForm {
            prefix: u32::try_from(shape.prefix.len()).unwrap_or(u32::MAX),
            has_tail: shape.tail != Tail::None,
            is_explicit: shape.tail == Tail::Explicit,
        }
    }
}

/// The columns of one block, decoded or about to be encoded. Reused from block to block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlockColumns {
    /// The first object; in a continuation the object that is continued.
    pub first_object: u32,
    /// In a continuation of an indexed tail: the index of its first reference.
    pub start_index: u64,
    /// Shapes the block uses.
    pub dictionary: Vec<ShapeId>,
    /// Their forms, in the same order.
    pub forms: Vec<ShapeForm>,
    /// For each object its shape, as a position in the dictionary. Empty in a continuation.
    pub shapes: Vec<u32>,
    /// For each object its shallow size.
    pub shallow_bytes: Vec<u64>,
    /// For each object its unmanaged size; empty if all are 0.
    pub unmanaged_bytes: Vec<u64>,
    /// For each object its number of references; in a continuation one number.
    pub counts: Vec<u32>,
    /// The objects referred to, source by source.
    pub targets: Vec<u32>,
    /// The label codes of references in explicit tails, in order.
    pub labels: Vec<u64>,
    /// For each object its address, 0 for none; empty if there are none.
    pub addresses: Vec<u64>,
    /// For each object its serial, 0 for none; empty if there are none.
    pub serials: Vec<u64>,
    /// For each object its allocation site, 0 for none; empty if there are none.
    pub sites: Vec<u32>,
    /// For each object its own name or text, if it has one; empty if there are none.
    pub names: Vec<Option<StringId>>,
    /// The values of the fields of the objects, without references.
    pub values: FieldValues,
}

impl BlockColumns {
    /// Empties all columns, keeping their memory.
    pub fn clear(&mut self) {
        self.first_object = 0;
        self.start_index = 0;
        self.dictionary.clear();
        self.forms.clear();
        self.shapes.clear();
        self.shallow_bytes.clear();
        self.unmanaged_bytes.clear();
        self.counts.clear();
        self.targets.clear();
        self.labels.clear();
        self.addresses.clear();
        self.serials.clear();
        self.sites.clear();
        self.names.clear();
        self.values.clear();
    }

    /// Objects that begin in the block; 0 in a continuation.
    #[must_use]
    pub fn objects(&self) -> usize {
        self.shapes.len()
    }
}
