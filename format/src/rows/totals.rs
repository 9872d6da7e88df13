//! Totals of one type in one snapshot.

use super::Row;
use crate::error::Result;
use crate::fields::{Fields, put_varint};
use crate::frame::SectionType;
use crate::ids::TypeId;

/// Totals of the objects of one type in one snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TypeTotals {
    /// The type.
    pub type_id: TypeId,
    /// Number of objects.
    pub objects: u64,
    /// Sum of their shallow sizes, in bytes.
    pub heap_bytes: u64,
    /// Sum of the memory outside the managed heap that they own, in bytes.
    pub unmanaged_bytes: u64,
}

impl Row for TypeTotals {
    const SECTION: SectionType = SectionType::STATS;
    const NAME: &'static str = "totals of a type";

    fn put(&self, out: &mut Vec<u8>) {
        put_varint(out, self.type_id.0.into());
        put_varint(out, self.objects);
        put_varint(out, self.heap_bytes);
        put_varint(out, self.unmanaged_bytes);
    }

    fn read(fields: &mut Fields<'_>, _id: u64) -> Result<Self> {
        Ok(TypeTotals {
            type_id: TypeId(fields.varint_u32()?),
            objects: fields.varint()?,
            heap_bytes: fields.varint()?,
            unmanaged_bytes: fields.varint()?,
        })
    }
}
