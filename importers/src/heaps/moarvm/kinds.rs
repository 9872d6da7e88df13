//! The kinds of collectables, which MoarVM numbers from 1 in `src/profiler/heapsnapshot.h`.

use super::collectables::Collectable;
use crate::error::Damage;
use barrow_writer::KindRole;

/// Name and role of each kind, kind 1 first.
pub(super) const KINDS: [(&str, KindRole); 11] = [
    ("object", KindRole::Object),
    ("type object", KindRole::Type),
    ("STable", KindRole::Type),
    ("frame", KindRole::Frame),
    ("permanent roots", KindRole::Root),
    ("instance roots", KindRole::Root),
    ("C stack roots", KindRole::Root),
    ("thread roots", KindRole::Root),
    ("root", KindRole::Root),
    ("inter-generational roots", KindRole::Root),
    ("call stack roots", KindRole::Root),
];

/// A kind that exists: its position in [`KINDS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind(u8);

/// An ordinary object.
pub(crate) const OBJECT: Kind = Kind(0);
/// The type itself, as a value.
pub(crate) const TYPE_OBJECT: Kind = Kind(1);
/// The part shared by all objects of a type.
pub(crate) const STABLE: Kind = Kind(2);
/// A call frame.
pub(crate) const FRAME: Kind = Kind(3);
/// The roots of the collector: refers to all other kinds of roots.
pub(crate) const ROOT: Kind = Kind(8);
/// The remembered set: old objects that refer to young ones, for minor collections.
pub(super) const INTER_GENERATIONAL_ROOTS: Kind = Kind(9);
/// The frames of one thread's call stack.
pub(crate) const CALL_STACK_ROOTS: Kind = Kind(10);

impl Kind {
    /// The kind of a collectable.
    ///
    /// # Errors
    /// [`Damage::UnknownKind`] for numbers other than 1 to 11.
    #[inline]
    pub(crate) fn of(collectable: &Collectable) -> Result<Kind, Damage> {
        let index = collectable.kind.wrapping_sub(1);
        if index < KINDS.len() as u64 {
            Ok(Kind(index as u8))
        } else {
            Err(Damage::UnknownKind { kind: collectable.kind, offset: collectable.offset })
        }
    }

    /// All kinds, in the order of [`KINDS`].
    pub(crate) fn all() -> impl Iterator<Item = Kind> {
        (0..KINDS.len() as u8).map(Kind)
    }

    /// The row of a collectable of this kind in the types or frames; groups of roots share the row 0.
    #[inline]
    pub(crate) fn row(self, collectable: &Collectable) -> usize {
        if self.is_root() { 0 } else { usize::try_from(collectable.type_index).unwrap_or(usize::MAX) }
    }

    /// Its position in a table of all kinds.
    #[inline]
    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        KINDS[self.index()].0
    }

    /// Returns whether it is a group of roots, which has no type.
    #[inline]
    pub(crate) fn is_root(self) -> bool {
        self.0 > FRAME.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_moarvm() {
        let of = |kind| {
            let numbers = Collectable {
                offset: 7,
                kind,
                type_index: 0,
                size: 0,
                unmanaged: 0,
                first_reference: 0,
                reference_count: 0,
            };
            Kind::of(&numbers)
        };
        assert_eq!(of(1), Ok(OBJECT));
        assert_eq!(of(3), Ok(STABLE));
        assert_eq!(of(4), Ok(FRAME));
        assert_eq!(of(9), Ok(ROOT));
        assert_eq!(of(11), Ok(CALL_STACK_ROOTS));
        for kind in [0, 12, 256 + 1, u64::MAX] {
            assert_eq!(of(kind), Err(Damage::UnknownKind { kind, offset: 7 }));
        }
    }
}
