//! The references of one snapshot, in memory: 8 bytes each.
//!
//! ```text
//!   target u32 │ label u32 = value << 2 | kind      kind 0 unknown, 1 index, 2 name, 3 large index
//! ```
//!
//! The few indexes that need more than 30 bits are in a list of their own; `value` is then the place
//! in that list.

use super::Collectable;
use crate::error::Damage;
use barrow_writer::{Label, StringId};

/// The largest index that a recording can hold.
const MAX_INDEX: u64 = u64::MAX >> 6;
/// The first value that does not fit beside a kind.
const LARGE: u64 = 1 << 30;

/// MoarVM's numbers for what a reference's description is.
const UNKNOWN: u8 = 0;
const INDEX: u8 = 1;
const NAME: u8 = 2;
/// Ours: `value` is a place in [`References::large`].
const LARGE_INDEX: u8 = 3;

/// One reference; its position tells its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reference {
    /// The number of the collectable it points to.
    pub(crate) target: u32,
    label: u32,
}

/// All references of a snapshot, checked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct References {
    rows: Vec<Reference>,
    large: Vec<u64>,
    collectable_count: u64,
    string_count: u64,
}

impl References {
    /// Room for `capacity` references between `collectable_count` collectables, named by
    /// `string_count` strings.
    ///
    /// # Errors
    /// [`Damage::OutOfRange`] if that does not fit in memory.
    pub(crate) fn new(capacity: u64, collectable_count: u64, string_count: u64, offset: u64) -> Result<Self, Damage> {
        let limit = u64::from(u32::MAX);
        let too_many = |what, value, limit| Damage::OutOfRange { what, offset, value, limit };
        if collectable_count > limit {
            return Err(too_many("the number of collectables", collectable_count, limit));
        }
        if string_count > LARGE {
            return Err(too_many("the number of strings", string_count, LARGE));
        }
        let mut rows = Vec::new();
        usize::try_from(capacity)
            .ok()
            .and_then(|capacity| rows.try_reserve_exact(capacity).ok())
            .ok_or_else(|| too_many("the number of references", capacity, u64::MAX / 8))?;
        Ok(References { rows, large: Vec::new(), collectable_count, string_count })
    }

    /// Appends a reference as MoarVM describes it, found at `offset`.
    ///
    /// # Errors
    /// [`Damage::OutOfRange`] if it points to no collectable, its name is no string, or its
    /// description is of no known kind.
    #[inline]
    pub(crate) fn push(&mut self, kind: u8, value: u64, target: u64, offset: u64) -> Result<(), Damage> {
        if target >= self.collectable_count || value >= self.limit(kind) {
            return Err(self.refuse(kind, value, target, offset));
        }
        // Without a description there is no value either.
        let value = if kind == UNKNOWN { 0 } else { value };
        let label = if value < LARGE {
            (value as u32) << 2 | u32::from(kind)
        } else {
            self.large.push(value);
            (self.large.len() as u32 - 1) << 2 | u32::from(LARGE_INDEX)
        };
        self.rows.push(Reference { target: target as u32, label });
        Ok(())
    }

    /// What the value of a description must stay below.
    #[inline]
    fn limit(&self, kind: u8) -> u64 {
        match kind {
            UNKNOWN => u64::MAX,
            // Every large index takes a place in their list.
            INDEX if (self.large.len() as u64) < LARGE => MAX_INDEX + 1,
            INDEX => LARGE,
            NAME => self.string_count,
            _ => 0,
        }
    }

    #[cold]
    fn refuse(&self, kind: u8, value: u64, target: u64, offset: u64) -> Damage {
        let out_of_range = |what, value, limit| Damage::OutOfRange { what, offset, value, limit };
        if target >= self.collectable_count {
            return out_of_range("the target of a reference", target, self.collectable_count);
        }
        match kind {
            INDEX => out_of_range("the index of a reference", value, self.limit(kind)),
            NAME => out_of_range("the name of a reference", value, self.string_count),
            UNKNOWN => out_of_range("the description of a reference", value, self.limit(kind)),
            _ => out_of_range("the kind of a reference's description", kind.into(), NAME.into()),
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> u64 {
        self.rows.len() as u64
    }

    /// The references of a collectable that was checked.
    #[inline]
    pub(crate) fn of(&self, collectable: &Collectable) -> &[Reference] {
        if collectable.reference_count == 0 {
            return &[];
        }
        let first = collectable.first_reference as usize;
        let end = first.saturating_add(collectable.reference_count as usize);
        self.rows.get(first..end).unwrap_or_default()
    }

    /// A reference's label, given the recording's ids of the strings.
    #[inline]
    pub(crate) fn label(&self, reference: &Reference, names: &[StringId]) -> Label {
        let value = reference.label >> 2;
        match (reference.label & 3) as u8 {
            INDEX => Label::Index(value.into()),
            NAME => Label::Name(names[value as usize]),
            LARGE_INDEX => Label::Index(self.large[value as usize]),
            _ => Label::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(kind: u8, value: u64, target: u64) -> Result<Label, Damage> {
        let mut references = References::new(1, 10, 2, 0)?;
        references.push(kind, value, target, 99)?;
        let names = [StringId(70), StringId(71)];
        Ok(references.label(&references.rows[0], &names))
    }

    #[test]
    fn labels_come_back() {
        assert_eq!(one(UNKNOWN, 5, 0), Ok(Label::Unknown));
        assert_eq!(one(INDEX, 5, 0), Ok(Label::Index(5)));
        assert_eq!(one(NAME, 1, 9), Ok(Label::Name(StringId(71))));
        for index in [LARGE - 1, LARGE, 1 << 40, MAX_INDEX] {
            assert_eq!(one(INDEX, index, 0), Ok(Label::Index(index)));
        }
    }

    #[test]
    fn what_does_not_exist_is_refused() {
        let out_of_range = |what, value, limit| Err(Damage::OutOfRange { what, offset: 99, value, limit });
        assert_eq!(one(UNKNOWN, 0, 10), out_of_range("the target of a reference", 10, 10));
        assert_eq!(one(NAME, 2, 0), out_of_range("the name of a reference", 2, 2));
        assert_eq!(
            one(INDEX, MAX_INDEX + 1, 0),
            out_of_range("the index of a reference", MAX_INDEX + 1, MAX_INDEX + 1)
        );
        assert_eq!(one(3, 0, 0), out_of_range("the kind of a reference's description", 3, 2));
    }
}
