//! Roots: the starting points of the collector.

use super::Row;
use crate::error::Result;
use crate::fields::{Fields, put_optional, put_varint};
use crate::frame::SectionType;
use crate::ids::{ObjectId, StringId};

/// An object that is alive because the runtime itself refers to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Root {
    /// The group of roots, in the runtime's words.
    pub category: StringId,
    /// The root within the group, if the runtime knows it.
    pub label: Option<StringId>,
    /// The object.
    pub target: ObjectId,
}

impl Row for Root {
    const SECTION: SectionType = SectionType::ROOTS;
    const NAME: &'static str = "root";

    fn put(&self, out: &mut Vec<u8>) {
        put_varint(out, self.category.0.into());
        put_optional(out, self.label.map(|label| label.0.into()));
        put_varint(out, self.target.0.into());
    }

    fn read(fields: &mut Fields<'_>, _id: u64) -> Result<Self> {
        Ok(Root {
            category: StringId(fields.varint_u32()?),
            label: fields.optional_u32()?.map(StringId),
            target: ObjectId(fields.varint_u32()?),
        })
    }
}
