//! A map from addresses to the rows of objects.
//!
//! ```text
//!   address ─ shift ─▶ slot = page · 512 + bit
//!                              │       │
//!     pages: page ─▶ one line ◀┘       ▼
//!       first │ 00100101…  512 bits    rank = first + ones before the bit
//!                                      row = order[rank], or rank itself if the dump is in that order
//! ```
//!
//! Slots are as small as the alignment of all addresses allows: 8 bytes for Ruby, 16 for CPython. A page has an entry
//! of 72 bytes, so densely filled heaps take one or two bytes per object, and four more if the dump is not in the
//! order of addresses on each page. A dump with a single object on each page takes about a hundred bytes for each,
//! less than the length of a line in all real dumps.

use super::FastMap;

/// One bit for each slot of a page.
#[derive(Debug, Clone, Copy, Default)]
struct Page {
    bits: [u64; 8],
    /// Number of objects on earlier pages.
    first: u32,
}

const PAGE_BITS: u32 = 9;

/// A map from addresses to rows.
#[derive(Debug, Default)]
pub(crate) struct Addresses {
    shift: u32,
    pages: FastMap<u64, u32>,
    lines: Vec<Page>,
    /// Rows by rank, unless the two are equal.
    order: Option<Vec<u32>>,
    /// Number of objects at the address of an earlier one.
    pub(crate) repeated: u64,
}

impl Addresses {
    /// Builds the map. With more than 2^32 objects, rows are wrong: the writer refuses such a dump.
    pub(crate) fn new(surveyed: &[Vec<u64>]) -> Self {
        let all = surveyed.iter().flatten().copied();
        let shift = all.clone().fold(0, |bits, address| bits | address).trailing_zeros().min(12);
        let mut addresses = Addresses { shift, ..Addresses::default() };
        addresses.set_bits(all.clone());
        addresses.count_ranks();
        addresses.find_order(all);
        addresses
    }

    fn set_bits(&mut self, all: impl Iterator<Item = u64>) {
        let mut last = None;
        for address in all {
            let slot = address >> self.shift;
            let page = slot >> PAGE_BITS;
            let line = match last {
                Some((same, line)) if same == page => line,
                _ => {
                    let new = self.lines.len() as u32;
                    let line = *self.pages.entry(page).or_insert(new);
                    if line == new {
                        self.lines.push(Page::default());
                    }
                    last = Some((page, line));
                    line
                }
            };
            let (word, bit) = place(slot);
            let word = &mut self.lines[line as usize].bits[word];
            self.repeated += u64::from(*word & bit != 0);
            *word |= bit;
        }
    }

    fn count_ranks(&mut self) {
        let mut first = 0;
        for line in &mut self.lines {
            line.first = first;
            first = first.wrapping_add(line.bits.iter().map(|word| word.count_ones()).sum());
        }
    }

    /// Stores the row of each rank, if any differs.
    fn find_order(&mut self, all: impl Iterator<Item = u64> + Clone) {
        let in_order = (0_u32..).zip(all.clone()).all(|(row, address)| self.rank(address) == Some(row));
        if in_order {
            return;
        }
        let mut order = vec![u32::MAX; all.clone().count()];
        for (row, address) in (0_u32..).zip(all) {
            let rank = self.rank(address).and_then(|rank| order.get_mut(rank as usize));
            // The first object at an address counts.
            if let Some(rank) = rank.filter(|rank| **rank == u32::MAX) {
                *rank = row;
            }
        }
        self.order = Some(order);
    }

    fn rank(&self, address: u64) -> Option<u32> {
        let slot = address >> self.shift;
        let line = self.lines.get(*self.pages.get(&(slot >> PAGE_BITS))? as usize)?;
        let (word, bit) = place(slot);
        if line.bits[word] & bit == 0 || slot << self.shift != address {
            return None;
        }
        let before = line.bits[..word].iter().map(|word| word.count_ones()).sum::<u32>();
        Some(line.first.wrapping_add(before + (line.bits[word] & (bit - 1)).count_ones()))
    }

    /// The row of the object at `address`.
    pub(crate) fn row(&self, address: u64) -> Option<u32> {
        let rank = self.rank(address)?;
        match &self.order {
            None => Some(rank),
            Some(order) => order.get(rank as usize).copied(),
        }
    }
}

/// The word of a slot in its page, and its bit in that word.
fn place(slot: u64) -> (usize, u64) {
    ((slot >> 6 & 7) as usize, 1 << (slot & 63))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    #[test]
    fn rows_are_found_by_address() {
        let surveyed = [vec![0x1010, 0x1038, 0x1060], vec![], vec![0x9000, 0x8000]];
        let addresses = Addresses::new(&surveyed);
        assert_eq!(addresses.shift, 3);
        for (row, address) in (0..).zip(surveyed.concat()) {
            assert_eq!(addresses.row(address), Some(row));
        }
        for other in [0, 0x1018, 0x1011, 0x1039, 0x2010, u64::MAX] {
            assert_eq!(addresses.row(other), None, "{other:#x}");
        }
        assert_eq!(Addresses::new(&[vec![0x1010, 0x1038], vec![0x1_0000]]).order, None, "pages from front to back");
    }

    proptest! {
        #[test]
        fn any_addresses_are_found(
            raw in proptest::collection::vec(prop_oneof![0_u64..2000, any::<u64>()], 0..200),
            shift in 0_u32..5,
            cut in any::<prop::sample::Index>(),
        ) {
            let all: Vec<u64> = raw.iter().map(|address| address << shift).collect();
            let (front, back) = all.split_at(cut.index(all.len() + 1));
            let addresses = Addresses::new(&[front.to_vec(), back.to_vec()]);
            let mut first = HashMap::new();
            for (row, &address) in (0..).zip(&all) {
                first.entry(address).or_insert(row);
            }
            prop_assert_eq!(addresses.repeated as usize, all.len() - first.len());
            for near in all.iter().flat_map(|&address| [address, address ^ 1, address.wrapping_add(8)]) {
                prop_assert_eq!(addresses.row(near), first.get(&near).copied());
            }
        }
    }
}
