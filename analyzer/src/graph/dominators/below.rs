//! The places right below one in the dominator tree, those that retain most first, a part at a time.
//!
//! There may be millions, and somebody looks at fifteen: so a part is selected, and nothing else is sorted.

use std::cmp::Reverse;

use super::Holder;

/// Where a place stands among those beside it: more bytes first, equal ones by what is there.
pub type Rank = (Reverse<u64>, Holder);

/// Which of the places right below one are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WantedBelow {
    /// Those that retain at least so many bytes.
    pub least: u64,
    /// So many of them are passed over.
    pub skip: usize,
    /// At most so many.
    pub most: usize,
    /// Those that stand after this one.
    pub after: Option<Rank>,
}

impl WantedBelow {
    /// None of them: only what there is in all.
    pub const NOTHING: WantedBelow = WantedBelow { least: u64::MAX, skip: 0, most: 0, after: None };
}

/// Places right below one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Below<P> {
    /// Those wanted, in order.
    pub places: Vec<P>,
    /// The rank of the last of them; there are others after it if there are as many as were wanted.
    pub last: Option<Rank>,
    /// How many there are in all, and the bytes they retain.
    pub all: (u64, u64),
    /// The same of those that retain at least as much as was asked for.
    pub large: (u64, u64),
}

impl<P: Copy> Below<P> {
    /// From all places with their bytes; `holder` tells what is at one.
    pub(super) fn of(
        children: impl Iterator<Item = (u64, P)>,
        holder: impl Fn(P) -> Holder,
        wanted: &WantedBelow,
    ) -> Self {
        let (mut all, mut large) = ((0, 0u64), (0, 0u64));
        let mut part = Part::new(wanted);
        for (bytes, child) in children {
            // Sizes of a hostile file may add up to more than 64 bits.
            all = (all.0 + 1, all.1.wrapping_add(bytes));
            if bytes < wanted.least {
                continue;
            }
            large = (large.0 + 1, large.1.wrapping_add(bytes));
            if bytes >= part.least && wanted.after.is_none_or(|(Reverse(after), _)| bytes <= after) {
                part.offer((Reverse(bytes), holder(child)), child);
            }
        }
        let found = part.finish(wanted.skip);
        let last = found.last().map(|&(rank, _)| rank);
        Below { places: found.into_iter().map(|(_, place)| place).collect(), last, all, large }
    }
}

/// The first so many places, while they come in any order.
struct Part<P> {
    after: Option<Rank>,
    /// How many to keep.
    count: usize,
    /// Up to twice as many; then those that are too many go at once, which takes constant time for each.
    found: Vec<(Rank, P)>,
    /// What stands here or after it is not among the first.
    end: Option<Rank>,
    /// The bytes of `end`: a place that retains less needs no closer look.
    least: u64,
}

impl<P: Copy> Part<P> {
    fn new(wanted: &WantedBelow) -> Self {
        let count = wanted.skip.saturating_add(wanted.most);
        Part { after: wanted.after, count, found: Vec::new(), end: None, least: 0 }
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

    /// Those that are wanted after the first `skip`, in order.
    fn finish(mut self, skip: usize) -> Vec<(Rank, P)> {
        self.cut();
        if skip >= self.found.len() {
            return Vec::new();
        }
        if skip > 0 {
            self.found.select_nth_unstable_by_key(skip, |&(rank, _)| rank);
            self.found.drain(..skip);
        }
        self.found.sort_unstable_by_key(|&(rank, _)| rank);
        self.found
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
