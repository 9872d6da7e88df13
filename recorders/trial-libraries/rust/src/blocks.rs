//! Blocks on the heap that move what is allocated after them.

use std::hint::black_box;

use crate::layout::Layout;

/// Blocks that find where fresh memory begins: less than the 128 KiB from which glibc maps pages of their own.
const PROBE_BYTES: usize = 120 << 10;
const PROBES: usize = 4;
/// Sizes of blocks that fill gaps, from large to small. glibc keeps some of the last ones for the thread that freed
/// them.
const GAP_BYTES: [usize; 7] = [64 << 10, 32 << 10, 16 << 10, 8 << 10, 4 << 10, 2 << 10, 1 << 10];
const SMALL_GAP_BYTES: [usize; 6] = [512, 256, 128, 64, 40, 24];
/// At most this many gaps of each size are filled.
const MOST_GAPS: usize = 1000;
/// Largest number of freed blocks that the allocator keeps of each small size, and hands out before it looks for gaps.
const KEPT_BLOCKS: usize = 7;
/// These sizes are 24 bytes, and 16 more for each of the others.
const KEPT_SIZES: usize = 64;
/// The next block is near if it is at most this far after the end of the one before.
const NEAR_BYTES: usize = 64;
/// Number of attempts to find a place with room.
const MOST_TRIES: usize = 8;
/// Initial capacity, in blocks.
const USUAL_BLOCKS: usize = 1000;

/// Blocks that are held.
///
/// ```text
///   … gap, filled │ gap, filled … │ heap_small │ heap_large │ heap_offset │ what is allocated next, and moves
/// ```
///
/// An allocator uses gaps between earlier blocks before fresh memory. A block that fits into a gap would not move, so all
/// gaps are filled first.
#[derive(Debug)]
pub(crate) struct Blocks {
    held: Vec<Vec<u8>>,
}

impl Blocks {
    /// Allocates the blocks of a layout.
    pub(crate) fn of(layout: &Layout) -> Self {
        let mut blocks = Blocks { held: Vec::with_capacity(USUAL_BLOCKS) };
        let fresh = (0..PROBES).map(|_| blocks.hold(PROBE_BYTES)).max().unwrap_or_default();
        let fresh = blocks.fill_gaps(&GAP_BYTES, fresh);
        for number in 0..KEPT_SIZES * KEPT_BLOCKS {
            blocks.hold(24 + number / KEPT_BLOCKS * 16);
        }
        blocks.fill_gaps(&SMALL_GAP_BYTES, fresh);
        let [small, large, offset] =
            [layout.heap_small, layout.heap_large, layout.heap_offset].map(|bytes| usize::try_from(bytes).unwrap_or(0));
        blocks.hold(small);
        blocks.hold(large);
        blocks.hold_with_room(offset);
        blocks
    }

    /// Allocates a block that has room after it, or else further ones. Without room, what comes next would be
    /// elsewhere.
    fn hold_with_room(&mut self, bytes: usize) {
        for _ in 0..MOST_TRIES {
            let address = self.hold(bytes);
            let room = self.hold(PROBE_BYTES);
            if (address..=address + bytes + NEAR_BYTES).contains(&room) {
                self.held.pop();
                return;
            }
            let fresh = self.fill_gaps(&GAP_BYTES, room);
            self.fill_gaps(&SMALL_GAP_BYTES, fresh);
        }
    }

    /// Fills gaps of these sizes, the largest first. `fresh` is an address in fresh memory, which is after all other
    /// blocks. The allocator takes the smallest gap that fits, and fresh memory if none does: so there is no gap of a
    /// size when a block of it is further on. Returns the last of these addresses.
    fn fill_gaps(&mut self, sizes: &[usize], mut fresh: usize) -> usize {
        for &bytes in sizes {
            let further = (0..MOST_GAPS).map(|_| self.hold(bytes)).find(|&address| address > fresh);
            fresh = further.unwrap_or(fresh);
        }
        fresh
    }

    /// Allocates a block. Returns its address.
    fn hold(&mut self, bytes: usize) -> usize {
        let mut block = Vec::with_capacity(bytes);
        if bytes > 0 {
            block.push(1_u8);
        }
        // An allocation that is never read may be removed.
        let address = black_box(block.as_mut_ptr()).addr();
        self.held.push(block);
        address
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn what_is_kept_beyond_an_iteration_does_not_hold_data_in_place() {
        let (mut kept, mut small, mut large) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        for iteration in 0..60 {
            let blocks = Blocks::of(&Layout::of(1, iteration));
            let (one, many) = (black_box(Box::new(iteration)), black_box(vec![1_u8; 20_000]));
            small.insert((&raw const *one).addr() % 4096);
            large.insert(many.as_ptr().addr() % 4096);
            // After the data: a gap remains when they are freed.
            kept.push(black_box(Box::new([iteration; 20])));
            drop(blocks);
        }
        assert!(small.len() >= 30 && large.len() >= 30, "{} {}", small.len(), large.len());
    }
}
