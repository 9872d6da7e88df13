//! Strengths: whether references keep their target alive, in the runtime's own words.

use super::Row;
use crate::error::Result;
use crate::fields::{Fields, put_varint};
use crate::frame::SectionType;
use crate::ids::StringId;
use crate::numbered::numbered_enum;

numbered_enum! {
    /// The effect of a reference on the reachability of its target.
    pub enum StrengthClass("class of a strength", up to 3) {
        /// Keeps its target alive.
        Strong = 0,
        /// Never keeps its target alive.
        Weak = 1,
        /// Keeps its target alive until memory runs short.
        Soft = 2,
        /// Keeps its target alive as long as its source and a key are; the key is the reference before it.
        Ephemeron = 3,
    }
}

/// A strength of references. Row 0 is always strong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Strength {
    /// The runtime's word for it.
    pub name: StringId,
    /// Its effect on reachability.
    pub class: StrengthClass,
}

impl Row for Strength {
    const SECTION: SectionType = SectionType::STRENGTHS;
    const NAME: &'static str = "strength";

    fn put(&self, out: &mut Vec<u8>) {
        put_varint(out, self.name.0.into());
        put_varint(out, self.class.number());
    }

    fn read(fields: &mut Fields<'_>, _id: u64) -> Result<Self> {
        Ok(Strength { name: StringId(fields.varint_u32()?), class: StrengthClass::from_number(fields.varint()?)? })
    }
}
