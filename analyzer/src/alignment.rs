//! Aligning two snapshots by addresses: a collector that moves objects mostly keeps their order.
//!
//! ```text
//!   before   A  b  b  C  x  b  D  b        what looks like nothing else (A, C, D) and stands in the same order on both
//!   after    A  b  b  C  b  D  b  b  E     sides is an anchor; from there on both sides are followed while they look alike
//! ```
//!
//! The anchors are the longest run of such objects that ascends on both sides (patience sorting, Fredman 1975).

use std::collections::HashMap;

use crate::whole::{NOBODY, Whole};

/// Pairs of objects, `before` and `after`, that look alike and stand in the same order. No object is in two
/// pairs. `looks` has a number for each object.
pub(crate) fn aligned(before: (&Whole, &[u64]), after: (&Whole, &[u64])) -> Vec<(u32, u32)> {
    let [old, new] = [before, after].map(|(whole, looks)| Line { order: by_address(&whole.addresses), looks });
    align(&old, &new)
}

fn align(old: &Line<'_>, new: &Line<'_>) -> Vec<(u32, u32)> {
    let anchors = ascending(&unique_pairs(old, new));
    let mut pairs = Vec::new();
    let mut from = (0, 0);
    for (at, anchor) in anchors.iter().enumerate() {
        // What stands between the last anchor and this, and looks alike counted from here.
        let back = (0..).take_while(|&steps| {
            let is_there = anchor.0 > from.0 + steps && anchor.1 > from.1 + steps;
            is_there && old.look(anchor.0 - steps - 1) == new.look(anchor.1 - steps - 1)
        });
        let back = back.count();
        pairs.extend((1..=back).map(|steps| (old.order[anchor.0 - steps], new.order[anchor.1 - steps])));
        let end = anchors.get(at + 1).copied().unwrap_or((old.order.len(), new.order.len()));
        let alike = (0..(end.0 - anchor.0).min(end.1 - anchor.1))
            .take_while(|&steps| old.look(anchor.0 + steps) == new.look(anchor.1 + steps))
            .count();
        pairs.extend((0..alike).map(|steps| (old.order[anchor.0 + steps], new.order[anchor.1 + steps])));
        from = (anchor.0 + alike, anchor.1 + alike);
    }
    pairs
}

/// The objects of a snapshot in the order of their addresses.
struct Line<'a> {
    order: Vec<u32>,
    looks: &'a [u64],
}

impl Line<'_> {
    fn look(&self, place: usize) -> u64 {
        self.looks[self.order[place] as usize]
    }
}

fn by_address(addresses: &[u64]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..addresses.len() as u32).filter(|&object| addresses[object as usize] != 0).collect();
    if !order.is_sorted_by_key(|&object| addresses[object as usize]) {
        order.sort_unstable_by_key(|&object| addresses[object as usize]);
    }
    order
}

/// Places of what looks like nothing else on either side, by its place in `old`.
fn unique_pairs(old: &Line<'_>, new: &Line<'_>) -> Vec<(usize, usize)> {
    if old.order.is_empty() || new.order.is_empty() {
        return Vec::new();
    }
    // For each look its places; NOBODY once there are two.
    let mut places: HashMap<u64, (u32, u32)> = HashMap::with_capacity(old.order.len() / 4);
    for place in 0..old.order.len() {
        places.entry(old.look(place)).and_modify(|places| places.0 = NOBODY).or_insert((place as u32, 0));
    }
    // The second counts from 1: 0 is none.
    for place in 0..new.order.len() {
        if let Some(places) = places.get_mut(&new.look(place)) {
            places.1 = if places.1 == 0 { place as u32 + 1 } else { NOBODY };
        }
    }
    let is_unique = |&&(old, new): &&(u32, u32)| old != NOBODY && new != NOBODY && new != 0;
    let mut pairs: Vec<(usize, usize)> =
        places.values().filter(is_unique).map(|&(old, new)| (old as usize, new as usize - 1)).collect();
    pairs.sort_unstable();
    pairs
}

/// The longest subsequence whose second places ascend, too.
fn ascending(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length the pair that ends the best run so long; for each pair the one before it.
    let mut ends: Vec<usize> = Vec::new();
    let mut previous: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|&end| pairs[end].1 < pair.1);
        previous.push(length.checked_sub(1).map(|before| ends[before]));
        if length == ends.len() {
            ends.push(at);
        } else {
            ends[length] = at;
        }
    }
    let mut run: Vec<(usize, usize)> =
        std::iter::successors(ends.last().copied(), |&at| previous[at]).map(|at| pairs[at]).collect();
    run.reverse();
    run
}

#[cfg(test)]
mod tests {
    use barrow_testdata::Random;

    use super::*;

    #[test]
    fn the_longest_ascending_run_is_found() {
        let mut random = Random::new(7);
        for _ in 0..300 {
            let seconds: Vec<usize> = (0..random.below(9)).map(|_| random.below(12) as usize).collect();
            let pairs: Vec<(usize, usize)> = seconds.iter().copied().enumerate().collect();
            let run = ascending(&pairs);
            assert!(run.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1));
            // By trying every subset.
            let longest = (0..1u32 << pairs.len())
                .map(|subset| {
                    (0..pairs.len()).filter(|at| subset >> at & 1 == 1).map(|at| pairs[at].1).collect::<Vec<_>>()
                })
                .filter(|seconds| seconds.windows(2).all(|pair| pair[0] < pair[1]))
                .map(|seconds| seconds.len())
                .max();
            assert_eq!(Some(run.len()), longest);
        }
    }

    #[test]
    fn what_looks_alike_between_anchors_is_paired() {
        let (before, after) = ([1, 7, 7, 2, 9, 7, 3, 7], [1, 7, 7, 2, 7, 3, 7, 7, 4]);
        let [old, new] =
            [&before[..], &after[..]].map(|looks| Line { order: (0..looks.len() as u32).collect(), looks });
        let mut sorted = align(&old, &new);
        sorted.sort_unstable();
        assert_eq!(sorted, [(0, 0), (1, 1), (2, 2), (3, 3), (5, 4), (6, 5), (7, 6)]);
    }
}
