//! The children of a place in the dominator tree, in descending order of retained bytes, a page at a time.
//!
//! There may be millions of children, and most callers show fifteen. So only the page is selected and sorted.

use std::cmp::Reverse;

use super::Holder;

/// The order of siblings: descending by bytes, then ascending by holder.
pub type Rank = (Reverse<u64>, Holder);

/// Which children of a place are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WantedBelow {
    /// Only children that retain at least this number of bytes.
    pub least: u64,
    /// The number of children to skip.
    pub skip: usize,
    /// The maximum number of children to return.
    pub most: usize,
    /// Only children ranked after this one.
    pub after: Option<Rank>,
}

impl WantedBelow {
    /// No children, only their totals.
    pub const NOTHING: WantedBelow = WantedBelow { least: u64::MAX, skip: 0, most: 0, after: None };

    /// The child that retains at least half of a place with so many bytes.
    #[must_use]
    pub fn half_of(bytes: u64) -> Self {
        WantedBelow { least: bytes.div_ceil(2).max(1), skip: 0, most: 1, after: None }
    }
}

/// Children of a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Below<P> {
    /// The wanted children, in order.
    pub places: Vec<P>,
    /// The rank of the last of them. Others may follow if `places` has the wanted number.
    pub last: Option<Rank>,
    /// The rank of the last child that was skipped.
    pub before: Option<Rank>,
    /// The number of all children, and the bytes they retain.
    pub all: (u64, u64),
    /// The same for those that retain at least the wanted bytes.
    pub large: (u64, u64),
}

impl<P> Below<P> {
    /// The same children as other places.
    pub(super) fn map<Q>(self, place: impl Fn(P) -> Q) -> Below<Q> {
        let Below { places, last, before, all, large } = self;
        Below { places: places.into_iter().map(place).collect(), last, before, all, large }
    }
}

impl<P: Copy> Below<P> {
    /// Selects from all children, given with their bytes. `holder` returns the holder at a place.
    pub(super) fn of(
        children: impl Iterator<Item = (u64, P)>,
        holder: impl Fn(P) -> Holder,
        wanted: &WantedBelow,
    ) -> Self {
        let (mut all, mut large) = ((0, 0u64), (0, 0u64));
        let mut part = FirstPlaces::new(wanted);
        for (bytes, child) in children {
            // The sizes in a hostile file may add up to more than 64 bits.
            all = (all.0 + 1, all.1.wrapping_add(bytes));
            if bytes < wanted.least {
                continue;
            }
            large = (large.0 + 1, large.1.wrapping_add(bytes));
            if bytes >= part.least && wanted.after.is_none_or(|(Reverse(after), _)| bytes <= after) {
                part.offer((Reverse(bytes), holder(child)), child);
            }
        }
        let (found, before) = part.finish(wanted.skip);
        let last = found.last().map(|&(rank, _)| rank);
        Below { places: found.into_iter().map(|(_, place)| place).collect(), last, before, all, large }
    }
}

/// The first `count` places of a sequence in any order.
struct FirstPlaces<P> {
    after: Option<Rank>,
    /// The number of places to keep.
    count: usize,
    /// Up to twice `count` places. Then the surplus is removed at once, which takes constant time for each place.
    found: Vec<(Rank, P)>,
    /// Places of this rank or after it are not among the first.
    end: Option<Rank>,
    /// The bytes of `end`: places that retain less are discarded without computing their rank.
    least: u64,
}

impl<P: Copy> FirstPlaces<P> {
    fn new(wanted: &WantedBelow) -> Self {
        let count = wanted.skip.saturating_add(wanted.most);
        FirstPlaces { after: wanted.after, count, found: Vec::new(), end: None, least: 0 }
    }

    fn offer(&mut self, rank: Rank, place: P) {
        if self.count == 0 || self.after.is_some_and(|after| rank <= after) || self.end.is_some_and(|end| rank >= end) {
            return;
        }
        self.found.push((rank, place));
        if self.found.len() >= self.count.saturating_mul(2) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        if self.found.len() > self.count {
            let (_, &mut (end, _), _) = self.found.select_nth_unstable_by_key(self.count, |&(rank, _)| rank);
            self.found.truncate(self.count);
            (self.end, self.least) = (Some(end), end.0.0);
        }
    }

    /// The wanted places after the first `skip`, in order, and the rank of the last one skipped.
    fn finish(mut self, skip: usize) -> (Vec<(Rank, P)>, Option<Rank>) {
        self.cut();
        if skip >= self.found.len() {
            return (Vec::new(), None);
        }
        let mut before = None;
        if skip > 0 {
            self.found.select_nth_unstable_by_key(skip, |&(rank, _)| rank);
            before = self.found.drain(..skip).map(|(rank, _)| rank).max();
        }
        self.found.sort_unstable_by_key(|&(rank, _)| rank);
        (self.found, before)
    }
}

#[cfg(test)]
mod tests {
    use barrow_format::ObjectId;
    use barrow_testdata::Random;

    use super::*;

    #[test]
    fn parts_are_those_of_the_sorted_whole() {
        let mut random = Random::new(3);
        for round in 0..500 {
            let count = random.below(60);
            let mut children: Vec<(u64, u32)> = (0..count).map(|at| (random.below(8), at as u32)).collect();
            for at in (1..children.len()).rev() {
                children.swap(at, random.below(at as u64 + 1) as usize);
            }
            let holder = |child: u32| Holder::Object(ObjectId(child));
            let least = random.below(5);
            let mut sorted: Vec<(u64, u32)> = children.iter().copied().filter(|child| child.0 >= least).collect();
            sorted.sort_by_key(|&(bytes, child)| (Reverse(bytes), child));
            let sum = |children: &[(u64, u32)]| (children.len() as u64, children.iter().map(|child| child.0).sum());
            let expected: Vec<u32> = sorted.iter().map(|child| child.1).collect();
            let (skip, most) = (random.below(10) as usize, 1 + random.below(9) as usize);
            let mut wanted = WantedBelow { least, skip, most, after: None };
            let skipped = Below::of(children.iter().copied(), holder, &wanted).before;
            let last = sorted[..skip.min(sorted.len())].last().filter(|_| skip < sorted.len());
            assert_eq!(skipped, last.map(|&(bytes, child)| (Reverse(bytes), holder(child))));
            if skipped.is_some() {
                // A page is found again from the rank before it.
                wanted = WantedBelow { skip: 0, after: skipped, ..wanted };
            }
            let mut found = Vec::new();
            loop {
                let part = Below::of(children.iter().copied(), holder, &wanted);
                assert_eq!((part.all, part.large), (sum(&children), sum(&sorted)), "round {round}");
                found.extend_from_slice(&part.places);
                if part.places.len() < most {
                    break;
                }
                wanted = WantedBelow { skip: 0, after: part.last, ..wanted };
            }
            assert_eq!(found, expected[skip.min(expected.len())..], "round {round}");
        }
    }
}
