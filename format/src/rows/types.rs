//! Types: the classes, layouts and functions that objects are instances of.

use super::{Row, pairs, put_pairs};
use crate::error::Result;
use crate::fields::{Fields, put_optional, put_varint};
use crate::frame::SectionType;
use crate::ids::{KindId, StringId, TypeId};

/// A type of object. Every type belongs to one kind: a class and its metaobject are two types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Type {
    /// The kind its objects are of.
    pub kind: KindId,
    /// Its name.
    pub name: StringId,
    /// The memory layout of its objects, in the runtime's words.
    pub layout: Option<StringId>,
    /// The type it is derived from.
    pub base: Option<TypeId>,
    /// The file it is declared in.
    pub file: Option<StringId>,
    /// The line it is declared at.
    pub line: Option<u32>,
    /// Other facts that the runtime knows: keys and values.
    pub attributes: Vec<(StringId, StringId)>,
}

impl Row for Type {
    const SECTION: SectionType = SectionType::TYPES;
    const NAME: &'static str = "type";

    fn put(&self, out: &mut Vec<u8>) {
        put_varint(out, self.kind.0.into());
        put_varint(out, self.name.0.into());
        put_optional(out, self.layout.map(|layout| layout.0.into()));
        put_optional(out, self.base.map(|base| base.0.into()));
        put_optional(out, self.file.map(|file| file.0.into()));
        put_optional(out, self.line.map(u64::from));
        put_pairs(out, &self.attributes);
    }

    fn read(fields: &mut Fields<'_>, _id: u64) -> Result<Self> {
        Ok(Type {
            kind: KindId(fields.varint_u32()?),
            name: StringId(fields.varint_u32()?),
            layout: fields.optional_u32()?.map(StringId),
            base: fields.optional_u32()?.map(TypeId),
            file: fields.optional_u32()?.map(StringId),
            line: fields.optional_u32()?,
            attributes: pairs(fields)?,
        })
    }
}
