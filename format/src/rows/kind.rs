//! Kinds: the coarsest grouping of objects, in the runtime's own words.

use super::Row;
use crate::error::Result;
use crate::fields::{Fields, put_varint};
use crate::frame::SectionType;
use crate::ids::StringId;
use crate::numbered::numbered_enum;

numbered_enum! {
    /// The purpose of a kind: all that an analyzer needs to know of it, whatever the runtime.
    pub enum KindRole("role of a kind", up to 3) {
        /// Ordinary objects.
        Object = 0,
        /// Objects that describe types: classes, metaobjects, hidden layouts.
        Type = 1,
        /// Call frames and closures; their types are functions with a file and a line.
        Frame = 2,
        /// Not on the heap: represents a group of roots, usually of size 0.
        Root = 3,
    }
}

/// A kind of object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// Its name, in the singular.
    pub name: StringId,
    /// Its purpose.
    pub role: KindRole,
}

impl Row for Kind {
    const SECTION: SectionType = SectionType::KINDS;
    const NAME: &'static str = "kind";

    fn put(&self, out: &mut Vec<u8>) {
        put_varint(out, self.name.0.into());
        put_varint(out, self.role.number());
    }

    fn read(fields: &mut Fields<'_>, _id: u64) -> Result<Self> {
        Ok(Kind { name: StringId(fields.varint_u32()?), role: KindRole::from_number(fields.varint()?)? })
    }
}
