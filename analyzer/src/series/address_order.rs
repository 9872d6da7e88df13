//! What addresses say of which objects of two snapshots can be the same.
//!
//! ```text
//!   before   a b c ▓ ▓ d e f ▓ g          ▓ died
//!   after    a b c d e f g ░ ░ ░          ░ was born: the collector moves objects together and keeps their order
//!            └──────────────┘             stretches that are the same, and the gaps between them
//! ```
//!
//! - Where nothing moves, an object has one address for life. Objects of two addresses are two objects.
//! - Where a collector compacts (JVM: Serial, Parallel, and G1 within what one of its threads compacts), survivors stay in their order. An
//!   object between two stretches was between the same stretches before. An object elsewhere is another one, however alike
//!   it looks.
//! - Where stretches are not in order, as after copying in the order of references, addresses say nothing.
//!
//! The largest chain of stretches that is in the same order on both sides is found as the heaviest increasing subsequence
//! (Fredman 1975, with a tree of maxima for weights), in O(s log s) for s stretches. The weight of a stretch is the number of rows in it
//! that are unique, so that a long run of objects that all look alike weighs little.

use crate::series::whole::{NOBODY, Whole};

/// The part of aligned objects that has the same address where nothing moves.
const FIXED: f64 = 0.99;
/// The part of the evidence of what moved that is in one order where order is kept.
const ORDERED: f64 = 0.8;
/// The part of its rows that must be unique in a stretch that is out of order.
const DISTINCT: f64 = 0.5;
/// The number of unique rows that it needs, too.
const LEAST_ROWS: usize = 4;
/// The unique rows that it takes to believe that objects were born between two stretches: a collector that compacts leaves
/// no room there.
const BIRTHS_BETWEEN: usize = 16;

/// A stretch of objects in a row that look alike on both sides: its first places, its length, and how many of the rows in it that
/// were asked for are unique.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) old: usize,
    pub(crate) new: usize,
    pub(crate) length: usize,
    pub(crate) unique_rows: usize,
    /// Whether its first object has one address on both sides.
    pub(crate) is_fixed: bool,
}

impl Stretch {
    /// How many objects that were before it are missing on the other side, less those that are new there.
    fn shift(&self) -> i64 {
        self.old as i64 - self.new as i64
    }
}

/// Which pairs addresses allow.
#[derive(Debug)]
pub(crate) enum AddressOrder {
    /// All: there are no addresses, or they say nothing.
    Unknown,
    /// Those of one address.
    Fixed,
    /// Those in one gap.
    Kept {
        /// For each object of the snapshot before its gap.
        old_gaps: Vec<u32>,
        /// For each object of the other one the gaps it may come from: that after the stretch before it, and that
        /// before the stretch after it. They differ only where two neighbouring stretches were no neighbours.
        new_gaps: Vec<[u32; 2]>,
    },
}

impl AddressOrder {
    /// Whether both can be the same object.
    pub(crate) fn allows(&self, (before, old): (&Whole, u32), (after, new): (&Whole, u32)) -> bool {
        if matches!(self, AddressOrder::Unknown) {
            return true;
        }
        let [old_address, new_address] = [(before, old), (after, new)].map(|(whole, object)| address(whole, object));
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

fn address(whole: &Whole, object: u32) -> u64 {
    whole.addresses.get(object as usize).copied().unwrap_or(0)
}

/// Whether most pairs have the same address on both sides. `old_of_new` has partners, or [`NOBODY`].
pub(crate) fn is_fixed(before: &Whole, after: &Whole, old_of_new: &[u32]) -> bool {
    let (mut pairs, mut same) = (0u64, 0u64);
    for (new, &old) in (0..).zip(old_of_new).filter(|(_, old)| **old != NOBODY) {
        let (old, new) = (address(before, old), address(after, new));
        pairs += u64::from(old != 0 && new != 0);
        same += u64::from(old != 0 && old == new);
    }
    pairs > 0 && same as f64 >= FIXED * pairs as f64
}

/// The stretches that are believed: those of the heaviest chain in one order, and others that are distinct all along. `None` if
/// order says nothing. `stretches` are in the order of `new`; a row is asked for one of `one_of` places.
pub(crate) fn believed(stretches: &[Stretch], one_of: usize) -> Option<Vec<bool>> {
    let mut believed = heaviest_chain(stretches);
    let weight = |these: &dyn Fn(usize) -> bool| -> usize {
        stretches.iter().enumerate().filter(|(at, _)| these(*at)).map(|(_, stretch)| stretch.unique_rows).sum()
    };
    let has_moved = |at: usize| !stretches[at].is_fixed;
    let (all, chain) = (weight(&has_moved), weight(&|at| has_moved(at) && believed[at]));
    if all == 0 || (chain as f64) < ORDERED * all as f64 {
        return None;
    }
    for (is_believed, stretch) in believed.iter_mut().zip(stretches) {
        let rows = stretch.unique_rows;
        *is_believed |= rows >= LEAST_ROWS && (rows * one_of) as f64 >= DISTINCT * stretch.length as f64;
    }
    Some(believed)
}

/// For each stretch whether it is in the chain that rises on both sides and has most unique rows in all, less
/// [`BIRTHS_BETWEEN`] for each stretch that moved and has new objects between it and the one before.
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
        let chain = (last.0 + stretch.unique_rows as i64, at + 1);
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

/// For each stretch its place if all were sorted by a key; equal ones keep their order.
fn ranks(stretches: &[Stretch], key: impl Fn(&Stretch) -> i64) -> Vec<usize> {
    let mut sorted: Vec<usize> = (0..stretches.len()).collect();
    sorted.sort_by_key(|&at| (key(&stretches[at]), at));
    let mut ranks = vec![0; stretches.len()];
    sorted.iter().enumerate().for_each(|(rank, &at)| ranks[at] = rank);
    ranks
}

/// By rank the heaviest chain that ends there: its weight and its last stretch plus one. A tree of maxima of prefixes (Fenwick
/// 1994).
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

/// The gaps between stretches. `old_order` and `new_order` are objects by place.
pub(crate) fn gaps(stretches: &[Stretch], old_order: &[u32], new_order: &[u32]) -> AddressOrder {
    let ranks = ranks(stretches, |stretch| stretch.old as i64);
    let mut starts: Vec<usize> = stretches.iter().map(|stretch| stretch.old).collect();
    starts.sort_unstable();
    // The gap after a stretch, with what is left in it, has its rank plus one.
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
