//! Shapes: a type together with the names of the references its objects hold.
//!
//! ```text
//!   shape 17   type Document
//!              prefix  «<STable>» «$!id» «$!title» «@!words»      named once, here
//!              tail    none                                        → 4 references, no count stored
//!   shape 18   type BOOTArray
//!              prefix  «<STable>»
//!              tail    indexed                                     → count stored with each object
//! ```
//!
//! Objects of one shape differ only in sizes, targets and, where there is a tail, its length.

use super::Row;
use crate::error::{FormatError, Result};
use crate::fields::{Fields, put_varint};
use crate::frame::SectionType;
use crate::ids::{StrengthId, StringId, TypeId};

/// The name of a reference in its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Label {
    /// The runtime does not say.
    Unknown,
    /// An element, counted from 0.
    Index(u64),
    /// A field, variable or key.
    Name(StringId),
}

/// Maximum index that a [`LabelCode`] can hold.
pub const MAX_LABEL_VALUE: u64 = u64::MAX >> 6;

/// A label and a strength in one number: `value << 6 | strength << 2 | kind`, where kind is
/// 0 unknown, 1 index, 2 name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct LabelCode(pub u64);

impl LabelCode {
    /// Maximum strength id that a code can hold.
    pub const MAX_STRENGTH: u32 = 15;

    /// Packs a label and a strength.
    ///
    /// # Errors
    /// [`FormatError::OutOfRange`] for an index above [`MAX_LABEL_VALUE`] or a strength above
    /// [`LabelCode::MAX_STRENGTH`].
    pub fn new(label: Label, strength: StrengthId) -> Result<Self> {
        let (kind, value) = match label {
            Label::Unknown => (0, 0),
            Label::Index(index) => (1, index),
            Label::Name(name) => (2, u64::from(name.0)),
        };
        if value > MAX_LABEL_VALUE {
            return Err(FormatError::OutOfRange { what: "index of a reference", value, limit: MAX_LABEL_VALUE });
        }
        if strength.0 > Self::MAX_STRENGTH {
            return Err(FormatError::OutOfRange {
                what: "strength",
                value: strength.0.into(),
                limit: Self::MAX_STRENGTH.into(),
            });
        }
        Ok(LabelCode(value << 6 | u64::from(strength.0) << 2 | kind))
    }

    /// The label.
    ///
    /// # Errors
    /// [`FormatError::OutOfRange`] for an invalid kind or name.
    pub fn label(self) -> Result<Label> {
        let value = self.0 >> 6;
        match self.0 & 3 {
            0 if value == 0 => Ok(Label::Unknown),
            1 => Ok(Label::Index(value)),
            2 => u32::try_from(value).map(|name| Label::Name(StringId(name))).map_err(|_| FormatError::OutOfRange {
                what: "name of a reference",
                value,
                limit: u32::MAX.into(),
            }),
            kind => Err(FormatError::OutOfRange { what: "kind of a label", value: kind, limit: 2 }),
        }
    }

    /// The strength.
    #[must_use]
    pub fn strength(self) -> StrengthId {
        StrengthId((self.0 >> 2 & 15) as u32)
    }

    /// The code of the next element, if this is an element.
    #[must_use]
    pub fn next_index(self) -> Option<LabelCode> {
        (self.0 & 3 == 1).then(|| self.0.checked_add(1 << 6).map(LabelCode)).flatten()
    }
}

/// The references after a shape's prefix; their number is stored with each object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tail {
    /// None: all objects of the shape have exactly the references of the prefix.
    None,
    /// Elements counted from 0, of one strength.
    Indexed(StrengthId),
    /// The same label for all.
    Repeated(LabelCode),
    /// Labels are stored with each object.
    Explicit,
}

/// A type and the labels of its objects' references.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The type.
    pub type_id: TypeId,
    /// The labels of the first references, in order.
    pub prefix: Vec<LabelCode>,
    /// The references after the prefix.
    pub tail: Tail,
}

impl Shape {
    /// The strengths of all references that objects of this shape can have; `None` if each object has
    /// its own.
    pub fn fixed_strengths(&self) -> Option<impl Iterator<Item = StrengthId> + '_> {
        let tail = match self.tail {
            Tail::None => None,
            Tail::Indexed(strength) => Some(strength),
            Tail::Repeated(code) => Some(code.strength()),
            Tail::Explicit => return None,
        };
        Some(self.prefix.iter().map(|code| code.strength()).chain(tail))
    }

    /// The code of the reference at `position`, if the shape fixes it.
    #[must_use]
    pub fn label(&self, position: usize) -> Option<LabelCode> {
        if let Some(&code) = self.prefix.get(position) {
            return Some(code);
        }
        match self.tail {
            Tail::None | Tail::Explicit => None,
            Tail::Repeated(code) => Some(code),
            Tail::Indexed(strength) => {
                LabelCode::new(Label::Index((position - self.prefix.len()) as u64), strength).ok()
            }
        }
    }
}

impl Row for Shape {
    const SECTION: SectionType = SectionType::SHAPES;
    const NAME: &'static str = "shape";

    fn put(&self, out: &mut Vec<u8>) {
        put_varint(out, self.type_id.0.into());
        match self.tail {
            Tail::None => put_varint(out, 0),
            Tail::Indexed(strength) => {
                put_varint(out, 1);
                put_varint(out, strength.0.into());
            }
            Tail::Repeated(code) => {
                put_varint(out, 2);
                put_varint(out, code.0);
            }
            Tail::Explicit => put_varint(out, 3),
        }
        put_varint(out, self.prefix.len() as u64);
        self.prefix.iter().for_each(|code| put_varint(out, code.0));
    }

    fn read(fields: &mut Fields<'_>, _id: u64) -> Result<Self> {
        let type_id = TypeId(fields.varint_u32()?);
        let tail = match fields.varint()? {
            0 => Tail::None,
            1 => Tail::Indexed(StrengthId(fields.varint_u32()?)),
            2 => Tail::Repeated(LabelCode(fields.varint()?)),
            3 => Tail::Explicit,
            kind => return Err(FormatError::OutOfRange { what: "tail of a shape", value: kind, limit: 3 }),
        };
        let length = fields.count()?;
        let prefix = (0..length).map(|_| fields.varint().map(LabelCode)).collect::<Result<_>>()?;
        Ok(Shape { type_id, prefix, tail })
    }
}
