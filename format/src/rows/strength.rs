//! Strengths: which references keep their target alive, in the runtime's own words.

use super::Row;
use crate::error::{FormatError, Result};
use crate::fields::{Fields, put_varint};
use crate::frame::SectionType;
use crate::ids::StringId;

/// How a reference takes part in keeping its target alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StrengthClass {
    /// Keeps its target alive.
    Strong,
    /// Never keeps its target alive.
    Weak,
    /// Keeps its target alive until memory runs short.
    Soft,
    /// Keeps its target alive as long as its source and a key are; the key is the reference before it.
    Ephemeron,
}

impl StrengthClass {
    /// The number in the file.
    #[must_use]
    pub fn number(self) -> u64 {
        match self {
            StrengthClass::Strong => 0,
            StrengthClass::Weak => 1,
            StrengthClass::Soft => 2,
            StrengthClass::Ephemeron => 3,
        }
    }

    fn from_number(number: u64) -> Result<Self> {
        match number {
            0 => Ok(StrengthClass::Strong),
            1 => Ok(StrengthClass::Weak),
            2 => Ok(StrengthClass::Soft),
            3 => Ok(StrengthClass::Ephemeron),
            _ => Err(FormatError::OutOfRange { what: "class of a strength", value: number, limit: 3 }),
        }
    }
}

/// A strength of references. Row 0 is always strong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Strength {
    /// The runtime's word for it.
    pub name: StringId,
    /// What it means for reachability.
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
