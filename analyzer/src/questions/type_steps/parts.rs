//! The positions below places, in parts of equal size: one for each thread and a few more.

use super::kinds::Kinds;
use super::walk::Part;
use crate::graph::dominators::Dominators;

/// Objects around positions that are looked for, in all: 10 ms. What is deeper, such as the second half of a list of
/// millions, is not cut.
const MOST_AROUND: usize = if cfg!(test) { 9 } else { 1 << 18 };

/// Cuts what is below some ascending places of the kind `own` into parts of `most` positions.
pub(super) fn parts<'p>(
    dominators: &Dominators,
    kinds: &Kinds<'_>,
    places: &'p [u32],
    own: u32,
    most: u32,
) -> Vec<Part<'p>> {
    let mut parts = Vec::new();
    let (mut first_place, mut first, mut above, mut size) = (0, 0, Vec::new(), 0);
    let mut most_around = MOST_AROUND;
    for (number, &place) in places.iter().enumerate() {
        let subtree = dominators.subtree(place);
        let mut around = Around { dominators, kinds, open: vec![(subtree.end, own)], next: place + 1 };
        let mut at = place + 1;
        while subtree.end - at > most.saturating_sub(size) {
            let cut = at + most.saturating_sub(size);
            let Some(around) = around.at(cut, &mut most_around) else { break };
            let before = Part { places: &places[first_place..=number], positions: first..cut, above };
            parts.push(before);
            (at, first_place, first, above, size) = (cut, number, cut, around, 0);
        }
        size = size.saturating_add(subtree.end - at);
    }
    parts.push(Part { places: &places[first_place..], positions: first..u32::MAX, above });
    parts
}

/// The objects around positions, which ascend.
struct Around<'a> {
    dominators: &'a Dominators,
    kinds: &'a Kinds<'a>,
    /// The ends of their subtrees and their kinds, from the place on. Of several of one kind below each other only the
    /// topmost one.
    open: Vec<(u32, u32)>,
    /// The objects around the last position come before this one.
    next: u32,
}

impl Around<'_> {
    /// The objects around a position, below the place; `None` if there are more new ones than `most`, which decreases.
    fn at(&mut self, position: u32, most: &mut usize) -> Option<Vec<(u32, u32)>> {
        while self.open.len() > 1 && self.open[self.open.len() - 1].0 <= position {
            self.open.pop();
        }
        let above = self.dominators.positions_above(position).take_while(|&above| above >= self.next);
        let above: Vec<u32> = above.take(*most + 1).collect();
        *most = most.checked_sub(above.len())?;
        for above in above.into_iter().rev() {
            let kind = self.kinds.at(self.dominators, above);
            if kind != self.open[self.open.len() - 1].1 {
                self.open.push((self.dominators.subtree(above).end, kind));
            }
        }
        self.next = position;
        Some(self.open[1..].to_vec())
    }
}
