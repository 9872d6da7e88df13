//! Aligning two snapshots by the order of their objects: most of a heap stands as it stood before.
//!
//! ```text
//!   before   a b c d e f g h  x  i j k l  …     ┌ a stretch: a row of objects that looks like no other on either side,
//!   after    q  a b c d e f g h  y  i j k l …   ┘ and what looks alike ahead of it and back
//!               └───────────────┘  └────────┘     x and y stand as far behind one stretch as before the next: one object
//! ```
//!
//! The order is that of addresses, which a collector that moves objects mostly keeps; without addresses it is that of
//! their numbers. Rows have a number of their own (a gear hash, Xia et al. 2014), and only a part of them is asked
//! whether they are unique, chosen by that number, so that it is the same part on both sides (as in content-defined
//! chunking, Rabin 1981). What two stretches claim belongs to neither. A stretch that does not go on where the one before
//! ended must be long, since what is like something that died is there again and again. Time O(n).
//!
//! Where addresses keep their order, stretches out of order are given up again, see [`super::address_order`].

use foldhash::{HashMap, HashMapExt};

use crate::series::address_order::{self, AddressOrder, Stretch};
use crate::series::whole::{NOBODY, Whole};

/// One of so many rows may begin a stretch.
const ONE_OF: u64 = 8;
/// So many objects in a row are told from others together.
const ROW: usize = 8;
/// The least length of a stretch that does not go on where the one before it ended.
const SHIFTED: usize = 16;
/// The least length of one that goes on elsewhere.
const ELSEWHERE: usize = 200;
/// Elsewhere is so many places away.
const FAR: usize = 1000;

/// Objects of `before` and `after` that look alike and stand in a row with others that do, and those between them. `looks`
/// has a number for each object. `may_be_one` is asked of objects that do not look alike. Returns for each object
/// of `after` its partner, or [`NOBODY`]; no object has two. And which other pairs their addresses allow.
pub(crate) fn align(
    before: (&Whole, &[u64]),
    after: (&Whole, &[u64]),
    may_be_one: impl Fn(u32, u32) -> bool,
) -> (Vec<u32>, AddressOrder) {
    let [old, new] = [before, after].map(|(whole, looks)| Line { order: in_order(whole), looks });
    let mut alignment = Alignment::of(&old, &new);
    let mut stretches = alignment.find_stretches();
    alignment.leave_doubted();
    let mut addresses = AddressOrder::Unknown;
    if !before.0.addresses.is_empty() && !after.0.addresses.is_empty() {
        stretches.sort_by_key(|stretch| stretch.new);
        for stretch in &mut stretches {
            let (old, new) = (old.order[stretch.old] as usize, new.order[stretch.new] as usize);
            stretch.is_fixed = before.0.addresses[old] == after.0.addresses[new];
        }
        if address_order::is_fixed(before.0, after.0, &alignment.old_of_new) {
            addresses = AddressOrder::Fixed;
            alignment.leave_if(|old, new| !addresses.allows((before.0, old), (after.0, new)));
        } else if let Some(believed) = address_order::believed(&stretches, ONE_OF as usize) {
            stretches = alignment.leave_unbelieved(&stretches, &believed);
            addresses = address_order::gaps(&stretches, &old.order, &new.order);
        }
    }
    let may_be_one = |old, new| {
        let alike = before.1[old as usize] == after.1[new as usize];
        addresses.allows((before.0, old), (after.0, new)) && (alike || may_be_one(old, new))
    };
    alignment.pair_between(&stretches, may_be_one);
    (alignment.old_of_new, addresses)
}

#[cfg(test)]
fn align_lines(old: &Line<'_>, new: &Line<'_>, may_be_one: impl Fn(u32, u32) -> bool) -> Vec<u32> {
    let mut alignment = Alignment::of(old, new);
    let stretches = alignment.find_stretches();
    alignment.leave_doubted();
    let alike = |one: u32, other: u32| old.looks[one as usize] == new.looks[other as usize];
    alignment.pair_between(&stretches, |one, other| alike(one, other) || may_be_one(one, other));
    alignment.old_of_new
}

impl Stretch {
    /// The length from which it is believed.
    fn least_length(&self, last: &Stretch) -> usize {
        let (old, new) = (self.old.wrapping_sub(last.old), self.new.wrapping_sub(last.new));
        match (old as isize).abs_diff(new as isize) {
            0 => 0,
            shift if shift <= FAR => SHIFTED,
            _ => ELSEWHERE,
        }
    }
}

struct Alignment<'a> {
    old: &'a Line<'a>,
    new: &'a Line<'a>,
    /// Partners by object, or [`NOBODY`].
    old_of_new: Vec<u32>,
    new_of_old: Vec<u32>,
    /// Objects of `new` that two stretches claim.
    doubted: Vec<bool>,
}

impl<'a> Alignment<'a> {
    fn of(old: &'a Line<'a>, new: &'a Line<'a>) -> Self {
        Alignment {
            old,
            new,
            old_of_new: vec![NOBODY; new.looks.len()],
            new_of_old: vec![NOBODY; old.looks.len()],
            doubted: vec![false; new.looks.len()],
        }
    }

    /// Pairs what looks alike around each pair of places that are unique.
    fn find_stretches(&mut self) -> Vec<Stretch> {
        let (old, new) = (self.old, self.new);
        let mut stretches: Vec<Stretch> = Vec::new();
        for (old_place, new_place) in unique_pairs(old, new) {
            if self.old_of_new[new.order[new_place] as usize] == old.order[old_place] {
                if let Some(last) = stretches.last_mut() {
                    last.unique_rows += 1;
                }
                continue;
            }
            let ahead = old.order[old_place..].iter().zip(&new.order[new_place..]);
            let ahead = self.pair_while_alike(ahead);
            let back = old.order[..old_place].iter().rev().zip(new.order[..new_place].iter().rev());
            let back = self.pair_while_alike(back);
            let stretch = Stretch {
                old: old_place - back,
                new: new_place - back,
                length: back + ahead,
                unique_rows: 1,
                is_fixed: false,
            };
            if stretches.last().is_none_or(|last| stretch.length >= stretch.least_length(last)) {
                stretches.push(stretch);
            } else {
                let objects = &new.order[stretch.new..stretch.new + stretch.length];
                objects.iter().for_each(|&object| self.doubted[object as usize] = true);
            }
        }
        stretches
    }

    /// How many were paired before the first that was not.
    fn pair_while_alike<'o>(&mut self, both: impl Iterator<Item = (&'o u32, &'o u32)>) -> usize {
        let (mut paired, mut is_claimed) = (0, false);
        for (&old, &new) in both {
            if self.old.looks[old as usize] != self.new.looks[new as usize] {
                break;
            }
            let (other_old, other_new) = (self.old_of_new[new as usize], self.new_of_old[old as usize]);
            if other_old == NOBODY && other_new == NOBODY {
                self.old_of_new[new as usize] = old;
                self.new_of_old[old as usize] = new;
                paired += usize::from(!is_claimed);
                continue;
            }
            // Another stretch came as far as here: where one of them ends and the other begins, nobody knows.
            is_claimed = true;
            let claimed = [if other_old == NOBODY { NOBODY } else { new }, other_new];
            let mut is_new = false;
            for object in claimed.into_iter().filter(|&object| object != NOBODY) {
                is_new |= !std::mem::replace(&mut self.doubted[object as usize], true);
            }
            if !is_new {
                break;
            }
        }
        paired
    }

    /// Leaves those without partners that two stretches claim.
    fn leave_doubted(&mut self) {
        for (partner, doubted) in self.old_of_new.iter_mut().zip(&self.doubted) {
            if *doubted {
                self.new_of_old[*partner as usize] = NOBODY;
                *partner = NOBODY;
            }
        }
    }

    /// Leaves those without partners that are no pair.
    fn leave_if(&mut self, is_no_pair: impl Fn(u32, u32) -> bool) {
        for (new, partner) in (0..).zip(&mut self.old_of_new) {
            if *partner != NOBODY && is_no_pair(*partner, new) {
                self.new_of_old[*partner as usize] = NOBODY;
                *partner = NOBODY;
            }
        }
    }

    /// Leaves the objects of stretches that are not believed without partners, and gives the other stretches.
    fn leave_unbelieved(&mut self, stretches: &[Stretch], believed: &[bool]) -> Vec<Stretch> {
        for (stretch, _) in stretches.iter().zip(believed).filter(|(_, is_believed)| !**is_believed) {
            for place in 0..stretch.length {
                let (old, new) = (self.old.order[stretch.old + place], self.new.order[stretch.new + place]);
                if self.old_of_new[new as usize] == old {
                    (self.old_of_new[new as usize], self.new_of_old[old as usize]) = (NOBODY, NOBODY);
                }
            }
        }
        stretches.iter().zip(believed).filter(|(_, is_believed)| **is_believed).map(|(stretch, _)| *stretch).collect()
    }

    /// Pairs what stands as far behind one stretch as before the next.
    fn pair_between(&mut self, stretches: &[Stretch], may_be_one: impl Fn(u32, u32) -> bool) {
        for both in stretches.windows(2) {
            let (end_old, end_new) = (both[0].old + both[0].length, both[0].new + both[0].length);
            let (next_old, next_new) = (both[1].old, both[1].new);
            if next_old < end_old || next_new < end_new || next_old - end_old != next_new - end_new {
                continue;
            }
            let between = self.old.order[end_old..next_old].iter().zip(&self.new.order[end_new..next_new]);
            for (&old, &new) in between {
                let are_free = self.old_of_new[new as usize] == NOBODY && self.new_of_old[old as usize] == NOBODY;
                if are_free && may_be_one(old, new) {
                    self.old_of_new[new as usize] = old;
                    self.new_of_old[old as usize] = new;
                }
            }
        }
    }
}

/// The objects of a snapshot in order.
struct Line<'a> {
    order: Vec<u32>,
    looks: &'a [u64],
}

impl Line<'_> {
    /// The places that may begin a stretch, with a number for the row of objects that ends there.
    fn candidates(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let mut row = 0u64;
        let rows = self.order.iter().map(move |&object| {
            // Each look moves the others on, until they fall out.
            row = (row << (u64::BITS as usize / ROW)).wrapping_add(self.looks[object as usize]);
            row
        });
        // The upper half depends on all the row.
        rows.enumerate().filter(|(_, row)| (row >> 32).is_multiple_of(ONE_OF))
    }
}

/// Objects by address, and those of one address or of none by their numbers.
fn in_order(whole: &Whole) -> Vec<u32> {
    let mut order: Vec<u32> = (0..whole.objects() as u32).collect();
    if !whole.addresses.is_sorted() {
        order.sort_by_key(|&object| whole.addresses[object as usize]);
    }
    order
}

/// Places where rows end that are nowhere else on either side, in the order of `new`.
fn unique_pairs(old: &Line<'_>, new: &Line<'_>) -> Vec<(usize, usize)> {
    /// Where a row is; NOBODY if it is in two places or more.
    struct Places {
        old: u32,
        /// The place and one; 0 if it is nowhere.
        new: u32,
    }
    let mut places: HashMap<u64, Places> = HashMap::with_capacity(old.order.len() / ONE_OF as usize);
    for (place, row) in old.candidates() {
        let there = places.entry(row);
        there.and_modify(|places| places.old = NOBODY).or_insert(Places { old: place as u32, new: 0 });
    }
    let mut met = Vec::new();
    for (place, row) in new.candidates() {
        if let Some(places) = places.get_mut(&row).filter(|places| places.old != NOBODY) {
            places.new = if places.new == 0 { place as u32 + 1 } else { NOBODY };
            met.push((row, place));
        }
    }
    let only = |(row, place): (u64, usize)| {
        let places = &places[&row];
        (places.new == place as u32 + 1).then_some((places.old as usize, place))
    };
    met.into_iter().filter_map(only).collect()
}

#[cfg(test)]
mod tests {
    use barrow_testdata::Random;

    use super::*;

    /// For each place of `after` the place in `before`. Only odd looks may be one.
    fn aligned(before: &[u64], after: &[u64]) -> Vec<Option<usize>> {
        let [old, new] = [before, after].map(|looks| Line { order: (0..looks.len() as u32).collect(), looks });
        let may_be_one = |old, new| before[old as usize] % 2 == 1 && after[new as usize] % 2 == 1;
        let partners = align_lines(&old, &new, may_be_one);
        partners.iter().map(|&partner| (partner != NOBODY).then_some(partner as usize)).collect()
    }

    #[test]
    fn stretches_stay_one_object_each() {
        let mut random = Random::new(3);
        let before: Vec<u64> = (0..2000).map(|_| random.next()).collect();
        let mut after = before.clone();
        // An object that changed, one that did not stay, one that died, two that were born.
        (after[500], after[600]) = (1, 2);
        after.remove(900);
        after.splice(1200..1200, [7, 7]);
        let mut expected: Vec<Option<usize>> = (0..2000).map(Some).collect();
        expected[500] = (before[500] % 2 == 1).then_some(500);
        expected[600] = None;
        expected.remove(900);
        expected.splice(1200..1200, [None, None]);
        assert_eq!(aligned(&before, &after), expected);
        // A long part that stands elsewhere is the same; a short one may be something new.
        after.rotate_left(700);
        expected.rotate_left(700);
        assert_eq!(aligned(&before, &after), expected);
        let short: Vec<u64> = before[..100].iter().chain(&before[1500..1550]).copied().collect();
        assert!(aligned(&before, &short)[..100].iter().all(Option::is_some));
        assert!(aligned(&before, &short)[100..].iter().all(Option::is_none));
    }

    #[test]
    fn what_two_stretches_claim_belongs_to_neither() {
        let mut random = Random::new(5);
        let [head, tail] = [0, 1].map(|_| (0..100).map(|_| random.next()).collect::<Vec<u64>>());
        let line = |alike: usize| [&head[..], &vec![6; alike][..], &tail[..]].concat();
        let partners = aligned(&line(20), &line(19));
        // One of twenty died, and nothing tells which.
        let expected = (0..219).map(|new| match new {
            0..100 => Some(new),
            100..119 => None,
            _ => Some(new + 1),
        });
        assert_eq!(partners, expected.collect::<Vec<_>>());
    }

    #[test]
    fn no_object_is_in_two_pairs_and_all_pairs_may_be() {
        let mut random = Random::new(7);
        for _ in 0..300 {
            // Few looks in some rounds, so that many are there twice.
            let bits = random.below(40);
            let looks = 2 + random.below(1 << bits);
            let draw = |random: &mut Random| random.below(looks).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let before: Vec<u64> = (0..random.below(900)).map(|_| draw(&mut random)).collect();
            let mut after = before.clone();
            for _ in 0..random.below(6) {
                let mut place = || random.below(after.len() as u64 + 1) as usize;
                let (one, other) = (place(), place());
                let moved: Vec<u64> = after.drain(one.min(other)..one.max(other)).collect();
                let place = random.below(after.len() as u64 + 1) as usize;
                after.splice(place..place, moved);
                after.insert(place, draw(&mut random));
            }
            let partners = aligned(&before, &after);
            let mut taken = vec![false; before.len()];
            for (new, old) in partners.iter().enumerate().filter_map(|(new, old)| Some((new, (*old)?))) {
                assert!(!std::mem::replace(&mut taken[old], true));
                assert!(before[old] == after[new] || before[old] % 2 == 1 && after[new] % 2 == 1);
            }
        }
    }

    #[test]
    fn rows_are_unique_if_all_their_objects_are_no_others() {
        let mut random = Random::new(9);
        for _ in 0..200 {
            let mut line = || (0..random.below(60)).map(|_| random.below(3) << 61 | 5).collect::<Vec<u64>>();
            let (before, after) = (line(), line());
            let [old, new] = [&before, &after].map(|looks| Line { order: (0..looks.len() as u32).collect(), looks });
            let places = |line: &Line<'_>, row: u64| {
                line.candidates().filter(|other| other.1 == row).map(|(place, _)| place).collect::<Vec<_>>()
            };
            let expected =
                new.candidates().filter_map(|(place, row)| match (&places(&old, row)[..], places(&new, row).len()) {
                    (&[old], 1) => Some((old, place)),
                    _ => None,
                });
            assert_eq!(unique_pairs(&old, &new), expected.collect::<Vec<_>>());
        }
    }
}
