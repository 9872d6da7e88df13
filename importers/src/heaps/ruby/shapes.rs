//! Ruby's shapes (3.2 to 3.4): the instance variables of an object, in their order.
//!
//! ```text
//!   id 3  T_OBJECT
//!    └─ id 17  IVAR "@title"
//!        └─ id 18  IVAR "@words"        an object of shape 18 has @title and @words
//! ```

use super::line::{Line, LineBuffers};
use crate::context::Vocabulary;
use crate::error::Stop;
use crate::heaps::json_lines::{Addresses, FastMap};
use barrow_writer::StringId;

/// One shape.
#[derive(Debug, Clone, Copy)]
struct Shape {
    row: u32,
    parent_id: Option<u64>,
    /// The instance variable that it adds.
    variable: Option<StringId>,
    /// It is a root, which every object begins with.
    is_root: bool,
}

/// All shapes by their number.
#[derive(Debug, Default)]
pub(crate) struct Shapes {
    by_id: FastMap<u64, Shape>,
}

impl Shapes {
    /// Reads the lines of shapes.
    pub(crate) fn new<'d>(
        lines: impl Iterator<Item = (&'d [u8], u64)>,
        addresses: &Addresses,
        vocabulary: &Vocabulary<'_>,
    ) -> Result<Self, Stop> {
        let mut by_id = FastMap::default();
        for (text, offset) in lines {
            let line = Line::read(text, offset, &mut LineBuffers::default())?;
            let (Some(id), Some(row)) = (line.shape.id, line.address.and_then(|address| addresses.row(address))) else {
                continue;
            };
            let shape_type = line.shape.shape_type.map_or(&b""[..], |shape_type| shape_type.raw);
            let variable = line.shape.edge_name.filter(|_| shape_type == b"IVAR");
            let variable = variable.map(|name| vocabulary.string(&name.to_name()));
            let shape = Shape {
                row,
                parent_id: line.shape.parent_id,
                variable: variable.transpose()?,
                is_root: shape_type == b"ROOT",
            };
            by_id.entry(id).or_insert(shape);
        }
        Ok(Shapes { by_id })
    }

    /// The row of a shape, unless it is a root.
    pub(crate) fn row(&self, id: u64) -> Option<u32> {
        self.by_id.get(&id).filter(|shape| !shape.is_root).map(|shape| shape.row)
    }

    /// The names of the instance variables, if the shape has exactly `count`.
    pub(crate) fn variables(&self, id: u64, count: usize, out: &mut Vec<StringId>) -> bool {
        out.clear();
        let mut next = self.by_id.get(&id);
        // Shapes without a variable come between the others. The limit ends a cycle of parents.
        for _ in 0..2 * count + 16 {
            let Some(shape) = next else { break };
            out.extend(shape.variable);
            next = shape.parent_id.and_then(|parent| self.by_id.get(&parent));
        }
        out.reverse();
        next.is_none_or(|shape| shape.parent_id.is_none()) && out.len() == count
    }
}
