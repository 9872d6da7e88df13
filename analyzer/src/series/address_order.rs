//! Limits the pairs of objects of two snapshots to those that addresses allow.
//!
//! ```text
//!   before   a b c ▓ ▓ d e f ▓ g          ▓ died
//!   after    a b c d e f g ░ ░ ░          ░ was born: the collector compacts and keeps the order
//!            └──────────────┘             paired stretches, and the gaps between them
//! ```
//!
//! - If objects do not move, an object keeps its address. Objects at different addresses are different objects.
//! - If a collector compacts (JVM: Serial, Parallel, and G1 within the region of one of its threads), survivors keep
//!   their order. An object between two stretches was between the same stretches before. An object elsewhere is
//!   a different one, even if its look is equal.
//! - If stretches are not in order, as after copying in order of references, addresses say nothing.
//!
//! The heaviest increasing subsequence gives the chain of stretches that is in the same order on both sides (Fredman
//! 1975, with a tree of maxima for weights), in O(s log s) for s stretches. The weight of a stretch is its number of
//! unique windows, so a long run of equal objects weighs little.

use crate::series::loaded_snapshot::{LoadedSnapshot, NO_OBJECT};

/// Objects do not move if at least this share of aligned objects has equal addresses: the rest is alike by chance.
/// This is a judgement.
const FIXED: f64 = 0.99;
/// Order is kept if at least this share of the weight of moved stretches is in the chain.
const ORDERED: f64 = 0.8;
/// The share of windows that must be unique in a stretch out of order for it to be believed.
const DISTINCT: f64 = 0.5;
/// The number of unique windows that it must have, too.
const LEAST_WINDOWS: usize = 4;
/// The weight that the chain loses where objects were born between two moved stretches: a compacting collector leaves
/// no room there.
const BIRTHS_BETWEEN: usize = 16;

/// Consecutive objects with equal looks on both sides: the first place on each side, the length, and the number of
/// tested windows in it that are unique.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) old: usize,
    pub(crate) new: usize,
    pub(crate) length: usize,
    pub(crate) unique_windows: usize,
    /// Its first object has the same address on both sides.
    pub(crate) is_fixed: bool,
}

impl Stretch {
    /// The number of earlier objects that died, less the number that were born.
    fn shift(&self) -> i64 {
        self.old as i64 - self.new as i64
    }
}

/// The pairs that addresses allow.
#[derive(Debug)]
pub(crate) enum AddressOrder {
    /// All pairs: there are no addresses, or they say nothing.
    Unknown,
    /// Pairs with equal addresses.
    Fixed,
    /// Pairs in the same gap.
    Kept {
        /// For each object of the previous snapshot its gap.
        old_gaps: Vec<u32>,
        /// For each object of the other snapshot the gaps it may come from: the gap after the preceding stretch, and
        /// the gap before the following stretch. They differ only if the two stretches were not neighbours before.
        new_gaps: Vec<[u32; 2]>,
    },
}

impl AddressOrder {
    /// Returns whether the two can be the same object.
    pub(crate) fn allows(&self, (before, old): (&LoadedSnapshot, u32), (after, new): (&LoadedSnapshot, u32)) -> bool {
        if matches!(self, AddressOrder::Unknown) {
            return true;
        }
        let [old_address, new_address] = [(before, old), (after, new)].map(|(loaded, object)| address(loaded, object));
        if old_address == 0 || new_address == 0 {
            return true;
        }
        match self {
            AddressOrder::Unknown => true,
            AddressOrder::Fixed => old_address == new_address,
            AddressOrder::Kept { old_gaps, new_gaps } => new_gaps[new as usize].contains(&old_gaps[old as usize]),
        }
    }
}

fn address(loaded: &LoadedSnapshot, object: u32) -> u64 {
    loaded.addresses.get(object as usize).copied().unwrap_or(0)
}

/// Returns whether nearly all pairs have equal addresses. `old_of_new` holds partners, or [`NO_OBJECT`].
pub(crate) fn is_fixed(before: &LoadedSnapshot, after: &LoadedSnapshot, old_of_new: &[u32]) -> bool {
    let (mut pairs, mut same) = (0u64, 0u64);
    for (new, &old) in (0..).zip(old_of_new).filter(|(_, old)| **old != NO_OBJECT) {
        let (old, new) = (address(before, old), address(after, new));
        pairs += u64::from(old != 0 && new != 0);
        same += u64::from(old != 0 && old == new);
    }
    pairs > 0 && same as f64 >= FIXED * pairs as f64
}

/// For each stretch whether it is believed: it is in the heaviest chain, or consists of unique windows mostly. `None`
/// if the order says nothing. `stretches` are in the order of `new`; one in `one_of` windows was tested.
pub(crate) fn believed(stretches: &[Stretch], one_of: usize) -> Option<Vec<bool>> {
    let mut believed = heaviest_chain(stretches);
    let (mut all, mut chain) = (0, 0);
    for (stretch, &is_in_chain) in stretches.iter().zip(&believed).filter(|(stretch, _)| !stretch.is_fixed) {
        all += stretch.unique_windows;
        chain += if is_in_chain { stretch.unique_windows } else { 0 };
    }
    if all == 0 || (chain as f64) < ORDERED * all as f64 {
        return None;
    }
    for (is_believed, stretch) in believed.iter_mut().zip(stretches) {
        let unique = stretch.unique_windows;
        *is_believed |= unique >= LEAST_WINDOWS && (unique * one_of) as f64 >= DISTINCT * stretch.length as f64;
    }
    Some(believed)
}

/// For each stretch whether it is in the heaviest chain that ascends on both sides. The weight of a chain is its number
/// of unique windows, less [`BIRTHS_BETWEEN`] for each moved stretch with new objects between it and its predecessor.
fn heaviest_chain(stretches: &[Stretch]) -> Vec<bool> {
    let by_old = ranks(stretches, |stretch| stretch.old as i64);
    let by_shift = ranks(stretches, Stretch::shift);
    let [mut after_births, mut after_deaths] = [(); 2].map(|()| PrefixMaxima::new(stretches.len()));
    let mut previous = vec![0; stretches.len()];
    let mut best = (0, 0);
    for (at, stretch) in stretches.iter().enumerate() {
        let price = if stretch.is_fixed { 0 } else { BIRTHS_BETWEEN as i64 };
        let (weight, before) = after_births.best_below(by_old[at]);
        let last = after_deaths.best_below(by_shift[at]).max((weight - price, before)).max((0, 0));
        previous[at] = last.1;
        let chain = (last.0 + stretch.unique_windows as i64, at + 1);
        after_births.raise(by_old[at], chain);
        after_deaths.raise(by_shift[at], chain);
        best = best.max(chain);
    }
    let mut is_in = vec![false; stretches.len()];
    let mut place = best.1;
    while place > 0 {
        is_in[place - 1] = true;
        place = previous[place - 1];
    }
    is_in
}

/// For each stretch its rank by a key; equal keys keep their order.
fn ranks(stretches: &[Stretch], key: impl Fn(&Stretch) -> i64) -> Vec<usize> {
    let mut sorted: Vec<usize> = (0..stretches.len()).collect();
    sorted.sort_by_key(|&at| (key(&stretches[at]), at));
    let mut ranks = vec![0; stretches.len()];
    sorted.iter().enumerate().for_each(|(rank, &at)| ranks[at] = rank);
    ranks
}

/// For each rank the heaviest chain that ends at it: its weight, and its last stretch plus one. A tree of prefix maxima
/// (Fenwick 1994).
struct PrefixMaxima(Vec<(i64, usize)>);

impl PrefixMaxima {
    fn new(length: usize) -> Self {
        PrefixMaxima(vec![(0, 0); length + 1])
    }

    fn best_below(&self, rank: usize) -> (i64, usize) {
        let (mut best, mut place) = ((0, 0), rank);
        while place > 0 {
            best = best.max(self.0[place]);
            place &= place - 1;
        }
        best
    }

    fn raise(&mut self, rank: usize, chain: (i64, usize)) {
        let mut place = rank + 1;
        while place < self.0.len() {
            self.0[place] = self.0[place].max(chain);
            place += place & place.wrapping_neg();
        }
    }
}

/// The gaps between stretches. `old_order` and `new_order` hold the objects in order of place.
pub(crate) fn gaps(stretches: &[Stretch], old_order: &[u32], new_order: &[u32]) -> AddressOrder {
    let ranks = ranks(stretches, |stretch| stretch.old as i64);
    let mut starts: Vec<usize> = stretches.iter().map(|stretch| stretch.old).collect();
    starts.sort_unstable();
    // The gap after a stretch, together with the unpaired objects in it, has the stretch's rank plus one.
    let mut old_gaps = vec![0; old_order.len()];
    let mut gap = 0;
    for (place, &object) in old_order.iter().enumerate() {
        while starts.get(gap).is_some_and(|&start| start <= place) {
            gap += 1;
        }
        old_gaps[object as usize] = gap as u32;
    }
    let mut new_gaps = vec![[0; 2]; new_order.len()];
    let mut next = 0;
    for (place, &object) in new_order.iter().enumerate() {
        while stretches.get(next).is_some_and(|stretch| stretch.new <= place) {
            next += 1;
        }
        let after_last = if next == 0 { 0 } else { ranks[next - 1] + 1 };
        let before_next = ranks.get(next).copied().unwrap_or(after_last);
        new_gaps[object as usize] = [after_last as u32, before_next as u32];
    }
    AddressOrder::Kept { old_gaps, new_gaps }
}
