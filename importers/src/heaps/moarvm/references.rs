//! The references of one snapshot. Formats that can be read only once hold them in memory, in 8 bytes each:
//!
//! ```text
//!   target u32 │ label u32 = value << 2 | kind      kind 0 unknown, 1 index, 2 name, 3 large index
//! ```
//!
//! The few indexes that need more than 30 bits are in a list of their own; `value` is then the place
//! in that list.

use super::collectables::Collectable;
use crate::error::{Damage, Stop};
use barrow_writer::{Label, StringId};

/// The largest index that a recording can hold.
const MAX_INDEX: u64 = u64::MAX >> 6;
/// The first value that does not fit beside a kind.
const LARGE: u64 = 1 << 30;

/// MoarVM's numbers for the kinds of descriptions of references.
const UNKNOWN: u8 = 0;
const INDEX: u8 = 1;
const NAME: u8 = 2;
/// Ours: `value` is a place in [`ReferenceRows::large`].
const LARGE_INDEX: u8 = 3;

/// One reference; its position determines its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Reference {
    /// The number of its target collectable.
    target: u32,
    label: u32,
}

/// The references of a snapshot, checked, in memory or in the dump.
pub(crate) trait References: Send + Sync {
    /// Number of references.
    fn len(&self) -> u64;

    /// Bytes that they take in memory.
    fn memory_bytes(&self) -> u64;

    /// The place of the first reference of a collectable. Places do not depend on each other, so the processor can
    /// load several at once.
    ///
    /// # Errors
    /// A dump that changed since it was checked.
    fn place(&self, collectable: &Collectable) -> Result<usize, Damage>;

    /// Visits label and target of `count` references from a place on. `names` are the recording's ids of the strings.
    fn for_each_from(
        &self,
        place: usize,
        count: u64,
        names: &[StringId],
        visit: impl FnMut(Label, u32) -> Result<(), Stop>,
    ) -> Result<(), Stop>;
}

/// The limits of the references of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    collectable_count: u64,
    /// The first invalid value of a description, by its kind; no other kinds are known.
    values: [u64; 4],
}

impl Limits {
    /// References between `collectable_count` collectables, named by `string_count` strings. They start at `offset`.
    ///
    /// # Errors
    /// [`Damage::OutOfRange`] for more than a recording can hold.
    pub(crate) fn new(collectable_count: u64, string_count: u64, offset: u64) -> Result<Self, Damage> {
        let limit = u64::from(u32::MAX);
        if collectable_count > limit {
            return Err(out_of_range("the number of collectables", offset, collectable_count, limit));
        }
        if string_count > LARGE {
            return Err(out_of_range("the number of strings", offset, string_count, LARGE));
        }
        Ok(Limits { collectable_count, values: [u64::MAX, MAX_INDEX + 1, string_count, 0] })
    }

    /// Checks a reference as MoarVM describes it, found at `offset`.
    ///
    /// # Errors
    /// [`Damage::OutOfRange`] if it points to no collectable, its name is no string, or its
    /// description is of no known kind.
    #[inline]
    pub(crate) fn check(&self, kind: u8, value: u64, target: u64, offset: u64) -> Result<(), Damage> {
        if target >= self.collectable_count || value >= self.values[usize::from(kind.min(3))] {
            return Err(self.refuse(kind, value, target, offset));
        }
        Ok(())
    }

    #[cold]
    fn refuse(&self, kind: u8, value: u64, target: u64, offset: u64) -> Damage {
        if target >= self.collectable_count {
            return out_of_range("the target of a reference", offset, target, self.collectable_count);
        }
        let limit = self.values[usize::from(kind.min(3))];
        match kind {
            INDEX => out_of_range("the index of a reference", offset, value, limit),
            NAME => out_of_range("the name of a reference", offset, value, limit),
            UNKNOWN => out_of_range("the description of a reference", offset, value, limit),
            _ => out_of_range("the kind of a reference's description", offset, kind.into(), NAME.into()),
        }
    }
}

fn out_of_range(what: &'static str, offset: u64, value: u64, limit: u64) -> Damage {
    Damage::OutOfRange { what, offset, value, limit }
}

/// The label of a reference that was checked.
#[inline]
pub(crate) fn label(kind: u8, value: u64, names: &[StringId]) -> Label {
    match kind {
        INDEX => Label::Index(value),
        NAME => names.get(value as usize).map_or(Label::Unknown, |&name| Label::Name(name)),
        _ => Label::Unknown,
    }
}

/// All references of a snapshot, in memory.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ReferenceRows {
    rows: Vec<Reference>,
    large: Vec<u64>,
    limits: Limits,
}

impl ReferenceRows {
    /// Room for `capacity` references within these limits.
    ///
    /// # Errors
    /// [`Damage::OutOfRange`] if that does not fit in memory.
    pub(crate) fn new(capacity: u64, limits: Limits, offset: u64) -> Result<Self, Damage> {
        let mut rows = Vec::new();
        usize::try_from(capacity).ok().and_then(|capacity| rows.try_reserve_exact(capacity).ok()).ok_or(
            Damage::OutOfRange { what: "the number of references", offset, value: capacity, limit: u64::MAX / 8 },
        )?;
        Ok(ReferenceRows { rows, large: Vec::new(), limits })
    }

    /// Appends a reference as MoarVM describes it, found at `offset`.
    ///
    /// # Errors
    /// Those of [`Limits::check`].
    #[inline]
    pub(crate) fn push(&mut self, kind: u8, value: u64, target: u64, offset: u64) -> Result<(), Damage> {
        self.limits.check(kind, value, target, offset)?;
        // Without a description there is no value.
        let value = if kind == UNKNOWN { 0 } else { value };
        let label = if value < LARGE {
            (value as u32) << 2 | u32::from(kind)
        } else {
            self.push_large(value, offset)? << 2 | u32::from(LARGE_INDEX)
        };
        self.rows.push(Reference { target: target as u32, label });
        Ok(())
    }

    /// Appends a large index to the list, and returns its place there.
    #[cold]
    fn push_large(&mut self, value: u64, offset: u64) -> Result<u32, Damage> {
        let place = self.large.len() as u64;
        if place >= LARGE {
            return Err(Damage::OutOfRange { what: "the index of a reference", offset, value, limit: LARGE });
        }
        self.large.push(value);
        Ok(place as u32)
    }
}

impl References for ReferenceRows {
    fn len(&self) -> u64 {
        self.rows.len() as u64
    }

    fn memory_bytes(&self) -> u64 {
        (self.rows.capacity() * size_of::<Reference>() + self.large.capacity() * size_of::<u64>()) as u64
    }

    fn place(&self, collectable: &Collectable) -> Result<usize, Damage> {
        Ok(collectable.first_reference as usize)
    }

    #[inline]
    fn for_each_from(
        &self,
        place: usize,
        count: u64,
        names: &[StringId],
        mut visit: impl FnMut(Label, u32) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        for reference in self.rows.get(place..place.saturating_add(count as usize)).unwrap_or_default() {
            let (kind, value) = ((reference.label & 3) as u8, reference.label >> 2);
            let label = match kind {
                LARGE_INDEX => Label::Index(self.large[value as usize]),
                _ => label(kind, value.into(), names),
            };
            visit(label, reference.target)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(kind: u8, value: u64, target: u64) -> Result<Label, Damage> {
        let mut references = ReferenceRows::new(1, Limits::new(10, 2, 0)?, 0)?;
        references.push(kind, value, target, 99)?;
        let names = [StringId(70), StringId(71)];
        let mut found = Label::Unknown;
        let visited = references.for_each_from(0, 1, &names, |label, _| {
            found = label;
            Ok(())
        });
        assert!(visited.is_ok());
        Ok(found)
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
