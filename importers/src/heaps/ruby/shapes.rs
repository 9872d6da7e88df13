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
use std::sync::OnceLock;

/// The field of an object with the names of its variables that its references do not have: `{@plan, @count}`. Another
/// text says that it may have variables of any name.
pub(super) const NOT_RECORDED: &str = "not recorded";
/// Such a text.
const ANY_NAME: &str = "all variables";

/// One shape.
#[derive(Debug)]
struct Shape {
    row: u32,
    parent_id: Option<u64>,
    /// The instance variable that it adds.
    variable: Option<(StringId, Box<str>)>,
    role: ShapeRole,
    /// The value of [`NOT_RECORDED`] for objects whose references have no names; `None` if they have no variables.
    not_recorded: OnceLock<Option<StringId>>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum ShapeRole {
    /// Every object begins with it.
    Root,
    /// The variables are in a table of the object: shapes do not tell their names.
    TooComplex,
    Other,
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
            let variable = variable.map(|name| {
                let name = name.to_name();
                Ok::<_, Stop>((vocabulary.string(&name)?, name.into_boxed_str()))
            });
            let shape = Shape {
                row,
                parent_id: line.shape.parent_id,
                variable: variable.transpose()?,
                role: match shape_type {
                    b"ROOT" => ShapeRole::Root,
                    b"OBJ_TOO_COMPLEX" | b"COMPLEX" => ShapeRole::TooComplex,
                    _ => ShapeRole::Other,
                },
                not_recorded: OnceLock::new(),
            };
            by_id.entry(id).or_insert(shape);
        }
        Ok(Shapes { by_id })
    }

    /// The row of a shape, unless it is a root.
    pub(crate) fn row(&self, id: u64) -> Option<u32> {
        self.by_id.get(&id).filter(|shape| shape.role != ShapeRole::Root).map(|shape| shape.row)
    }

    /// The names of the instance variables, if the shape has exactly `count`.
    pub(crate) fn variables(&self, id: u64, count: usize, out: &mut Vec<StringId>) -> bool {
        out.clear();
        // Shapes without a variable come between the others.
        let (shapes, is_whole) = self.line(id, 2 * count + 16);
        out.extend(shapes.iter().filter_map(|shape| shape.variable.as_ref().map(|(name, _)| *name)));
        out.reverse();
        is_whole && out.len() == count
    }

    /// The value of [`NOT_RECORDED`] for an object of a shape whose references have no names; `None` if it has no
    /// variables. `has_some`: the object says that it has.
    pub(super) fn not_recorded(
        &self,
        id: u64,
        has_some: bool,
        vocabulary: &Vocabulary<'_>,
    ) -> Result<Option<StringId>, Stop> {
        let Some(shape) = self.by_id.get(&id) else {
            return Ok(has_some.then(|| vocabulary.string(ANY_NAME)).transpose()?);
        };
        if let Some(&known) = shape.not_recorded.get() {
            return Ok(known);
        }
        let (shapes, is_whole) = self.line(id, self.by_id.len());
        let names: Vec<&str> = shapes.iter().rev().filter_map(|shape| Some(&*shape.variable.as_ref()?.1)).collect();
        // A name in a list holds none of the characters that separate them.
        let are_plain = names.iter().all(|name| !name.contains([',', '{', '}']));
        let text = match &names[..] {
            [] if is_whole => None,
            names if is_whole && are_plain => Some(vocabulary.string(&format!("{{{}}}", names.join(", ")))?),
            _ => Some(vocabulary.string(ANY_NAME)?),
        };
        Ok(*shape.not_recorded.get_or_init(|| text))
    }

    /// A shape and those that it extends, at most `most`, and whether these tell all variables.
    fn line(&self, id: u64, most: usize) -> (Vec<&Shape>, bool) {
        let mut found = Vec::new();
        let mut next = self.by_id.get(&id);
        // The limit ends a cycle of parents.
        while let Some(shape) = next.filter(|_| found.len() < most) {
            found.push(shape);
            next = shape.parent_id.and_then(|parent| self.by_id.get(&parent));
        }
        let is_whole = next.is_none() && !found.iter().any(|shape| shape.role == ShapeRole::TooComplex);
        (found, is_whole)
    }
}
