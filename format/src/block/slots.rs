//! References ordered by slot: the symbols of the same field of all objects of one shape are stored together.
//!
//! ```text
//!   objects      A(x, y)  B(z)  A(x, y)  A(x, y)
//!   references   x y z x y x y               in the order of the objects
//!   REFERENCES   x x x y y y z               slot by slot: similar symbols are neighbours, which helps the codec
//! ```
//!
//! Symbols are still decoded in the order of the objects, so that each may use the reference before it as its base.
//! Each slot has its own place in the column.

#![expect(clippy::indexing_slicing, reason = "as for blocks: shapes are checked before columns are walked")]

use std::hint::select_unpredictable;

use super::LocalShape;
use crate::varint::{unzigzag, zigzag};

/// One slot of a shape while the references of a block are walked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    /// The last target.
    last: u32,
    /// The last target other than `last`.
    other: u32,
    /// The position of the slot's next symbol in the column.
    next: u32,
}

/// Gives each slot its place in the column. The sum of `counts` is less than 2^32, and `shapes` are in `locals`.
pub(super) fn lay_out(locals: &[LocalShape], shapes: &[u32], counts: &[u32], first_object: u32, out: &mut Vec<Slot>) {
    let needed = locals.last().map_or(0, |last| last.first_slot + last.last_slot + 1);
    out.clear();
    out.resize(needed as usize, Slot { last: first_object, other: first_object, next: 0 });
    // At first `next` counts the objects whose references outside the last slot end before this one.
    let mut in_last_slots = vec![0; locals.len()];
    for (&shape, &count) in shapes.iter().zip(counts) {
        let local = &locals[shape as usize];
        let end = count.min(local.last_slot);
        out[(local.first_slot + end) as usize].next += 1;
        in_last_slots[shape as usize] += count - end;
    }
    let mut start = 0;
    for (local, in_last_slot) in locals.iter().zip(in_last_slots) {
        let slots = &mut out[local.first_slot as usize..=(local.first_slot + local.last_slot) as usize];
        let mut longer: u32 = slots.iter().map(|slot| slot.next).sum();
        for slot in slots {
            longer -= slot.next;
            slot.next = start;
            start += longer;
        }
        start += in_last_slot;
    }
}

impl Slot {
    /// The place of the slot's next symbol.
    #[inline]
    pub(super) fn place(&mut self) -> usize {
        let place = self.next as usize;
        self.next += 1;
        place
    }

    /// The shortest symbol for `target`.
    #[inline]
    pub(super) fn symbol(&self, target: u32, source: u32, previous: u32) -> u64 {
        self.symbol_in_patch(target, source, previous, self.other)
    }

    /// The same in a patch; the reference led to `before` in the base.
    #[inline]
    pub(super) fn symbol_in_patch(&self, target: u32, source: u32, previous: u32, before: u32) -> u64 {
        let mut best = u64::MAX;
        for (which, base) in (0..).zip([self.last, source, previous, before]) {
            let difference = i64::from(target.wrapping_sub(base).cast_signed());
            best = best.min(zigzag(difference) << 2 | which);
        }
        best
    }

    /// The target of a symbol.
    #[inline]
    pub(super) fn target(&self, which: u32, difference: u32, source: u32, previous: u32) -> u32 {
        // The base follows no pattern that a processor could predict. Bases known early are selected first.
        let own = select_unpredictable(which == 0, self.last, self.other);
        let own = select_unpredictable(which == 1, source, own);
        select_unpredictable(which == 2, previous, own).wrapping_add(difference)
    }

    /// The target of a symbol in a patch; the reference led to `before` in the base.
    #[inline]
    pub(super) fn target_in_patch(&self, symbol: u64, source: u32, previous: u32, before: u32) -> u32 {
        #[expect(clippy::cast_possible_truncation, reason = "arithmetic of targets is modulo 2^32")]
        let (which, difference) = ((symbol & 3) as u32, unzigzag(symbol >> 2) as u32);
        Slot { other: before, ..*self }.target(which, difference, source, previous)
    }

    /// Advances to the slot's next reference.
    #[inline]
    pub(super) fn follow(&mut self, target: u32) {
        self.other = select_unpredictable(target == self.last, self.other, self.last);
        self.last = target;
    }
}
