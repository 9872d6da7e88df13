//! Kinds: the coarsest grouping of objects, in the runtime's own words.

use super::Row;
use crate::error::{FormatError, Result};
use crate::fields::{Fields, put_varint};
use crate::frame::SectionType;
use crate::ids::StringId;

/// What a kind is for, as far as an analyzer that knows no runtime must understand it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KindRole {
    /// Ordinary objects.
    Object,
    /// Objects that describe types: classes, metaobjects, hidden layouts.
    Type,
    /// Call frames and closures; their types are functions with a file and a line.
    Frame,
    /// Not on the heap: a stand-in for a group of roots, usually of size 0.
    Root,
}

impl KindRole {
    /// The number in the file.
    #[must_use]
    pub fn number(self) -> u64 {
        match self {
            KindRole::Object => 0,
            KindRole::Type => 1,
            KindRole::Frame => 2,
            KindRole::Root => 3,
        }
    }

    fn from_number(number: u64) -> Result<Self> {
        match number {
            0 => Ok(KindRole::Object),
            1 => Ok(KindRole::Type),
            2 => Ok(KindRole::Frame),
            3 => Ok(KindRole::Root),
            _ => Err(FormatError::OutOfRange { what: "role of a kind", value: number, limit: 3 }),
        }
    }
}

/// A kind of object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// Its name, in the singular.
    pub name: StringId,
    /// What it is for.
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
