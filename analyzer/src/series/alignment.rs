//! Aligns two snapshots by the order of their objects, because most of a heap stays in place.
//!
//! ```text
//!   before   a b c d e f g h  x  i j k l  …     ┌ a stretch: starts at a window of 8 objects that is unique in both
//!   after    q  a b c d e f g h  y  i j k l …   ┘ snapshots, extended both ways while looks are equal
//!               └───────────────┘  └────────┘     x and y have the same place between two stretches: a pair
//! ```
//!
//! Objects are ordered by address, which a moving collector mostly preserves; without addresses they are ordered by
//! number. Each window of consecutive objects has a rolling hash (a gear hash, Xia et al. 2014). Only windows whose
//! hash is divisible by [`ONE_OF`] are tested for uniqueness, so both sides test the same ones (content-defined
//! chunking, Rabin 1981). An object that two stretches claim is in neither. A stretch that does not continue the
//! previous one must be long, because copies of dead objects are common. Time O(n).
//!
//! If addresses keep their order, stretches that break it are dropped, see [`super::address_order`].

use foldhash::{HashMap, HashMapExt};

use crate::series::address_order::{self, AddressOrder, Stretch};
use crate::series::loaded_snapshot::{LoadedSnapshot, NO_OBJECT};

/// One in this number of windows is tested for uniqueness and may start a stretch, which saves time: a stretch that
/// counts has several. This is a judgement.
const ONE_OF: u64 = 8;
/// The number of consecutive objects in a window. In some heaps few single objects have a unique look.
const WINDOW: usize = 8;
/// The minimum length of a stretch at another offset from its counterpart than the previous stretch: two
/// windows. This is a judgement.
const SHIFTED: usize = 16;
/// The minimum length of a stretch whose offset differs by more than [`FAR`]. Shorter ones are often new objects that look
/// like dead ones: without this minimum, the precision of the worst measured pair of snapshots was 99.88 %.
const ELSEWHERE: usize = 200;
/// The largest difference of offsets that counts as near, in objects. This is a judgement.
const FAR: usize = 1000;

/// Pairs the objects in stretches, and those between neighbouring stretches. Each side comes with a look for each
/// object. `may_be_one` decides about objects whose looks differ. Returns for each object of `after` its partner or
/// [`NO_OBJECT`], each partner at most once; and the pairs that addresses allow besides.
pub(crate) fn align(
    before: (&LoadedSnapshot, &[u64]),
    after: (&LoadedSnapshot, &[u64]),
    may_be_one: impl Fn(u32, u32) -> bool,
) -> (Vec<u32>, AddressOrder) {
    let [old, new] = [before, after].map(|(loaded, looks)| Line { order: in_order(loaded), looks });
    let mut alignment = Alignment::of(&old, &new);
    let mut stretches = alignment.find_stretches();
    alignment.unpair_doubted();
    let mut addresses = AddressOrder::Unknown;
    if !before.0.addresses.is_empty() && !after.0.addresses.is_empty() {
        stretches.sort_by_key(|stretch| stretch.new);
        for stretch in &mut stretches {
            let (old, new) = (old.order[stretch.old] as usize, new.order[stretch.new] as usize);
            stretch.is_fixed = before.0.addresses[old] == after.0.addresses[new];
        }
        if address_order::is_fixed(before.0, after.0, &alignment.old_of_new) {
            addresses = AddressOrder::Fixed;
            alignment.unpair_if(|old, new| !addresses.allows((before.0, old), (after.0, new)));
        } else if let Some(believed) = address_order::believed(&stretches, ONE_OF as usize) {
            stretches = alignment.unpair_unbelieved(&stretches, &believed);
            addresses = address_order::gaps(&stretches, &old.order, &new.order);
        }
    }
    alignment.pair_between(&stretches, |old, new| {
        let alike = before.1[old as usize] == after.1[new as usize];
        addresses.allows((before.0, old), (after.0, new)) && (alike || may_be_one(old, new))
    });
    (alignment.old_of_new, addresses)
}

#[cfg(test)]
fn align_lines(old: &Line<'_>, new: &Line<'_>, may_be_one: impl Fn(u32, u32) -> bool) -> Vec<u32> {
    let mut alignment = Alignment::of(old, new);
    let stretches = alignment.find_stretches();
    alignment.unpair_doubted();
    alignment.pair_between(&stretches, |one, other| {
        old.looks[one as usize] == new.looks[other as usize] || may_be_one(one, other)
    });
    alignment.old_of_new
}

impl Stretch {
    /// The minimum length of this stretch after the stretch `last`.
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
    /// Partners by object, or [`NO_OBJECT`].
    old_of_new: Vec<u32>,
    new_of_old: Vec<u32>,
    /// For each object of `new`, whether two stretches claim it.
    doubted: Vec<bool>,
}

impl<'a> Alignment<'a> {
    fn of(old: &'a Line<'a>, new: &'a Line<'a>) -> Self {
        Alignment {
            old,
            new,
            old_of_new: vec![NO_OBJECT; new.looks.len()],
            new_of_old: vec![NO_OBJECT; old.looks.len()],
            doubted: vec![false; new.looks.len()],
        }
    }

    /// Extends each pair of unique windows both ways while looks are equal, and pairs the objects.
    fn find_stretches(&mut self) -> Vec<Stretch> {
        let (old, new) = (self.old, self.new);
        let mut stretches: Vec<Stretch> = Vec::new();
        for (old_place, new_place) in unique_pairs(old, new) {
            if self.old_of_new[new.order[new_place] as usize] == old.order[old_place] {
                if let Some(last) = stretches.last_mut() {
                    last.unique_windows += 1;
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
                unique_windows: 1,
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

    /// Pairs objects while their looks are equal. Returns the number of pairs up to the first object that another
    /// stretch claims.
    fn pair_while_alike<'o>(&mut self, both: impl Iterator<Item = (&'o u32, &'o u32)>) -> usize {
        let (mut paired, mut is_claimed) = (0, false);
        for (&old, &new) in both {
            if self.old.looks[old as usize] != self.new.looks[new as usize] {
                break;
            }
            let (other_old, other_new) = (self.old_of_new[new as usize], self.new_of_old[old as usize]);
            if other_old == NO_OBJECT && other_new == NO_OBJECT {
                self.old_of_new[new as usize] = old;
                self.new_of_old[old as usize] = new;
                paired += usize::from(!is_claimed);
                continue;
            }
            // Another stretch reaches this object, so the boundary between the two is unknown.
            is_claimed = true;
            let claimed = [if other_old == NO_OBJECT { NO_OBJECT } else { new }, other_new];
            let mut is_new = false;
            for object in claimed.into_iter().filter(|&object| object != NO_OBJECT) {
                is_new |= !std::mem::replace(&mut self.doubted[object as usize], true);
            }
            if !is_new {
                break;
            }
        }
        paired
    }

    /// Removes the pairs of objects that two stretches claim.
    fn unpair_doubted(&mut self) {
        for (partner, doubted) in self.old_of_new.iter_mut().zip(&self.doubted) {
            if *doubted {
                self.new_of_old[*partner as usize] = NO_OBJECT;
                *partner = NO_OBJECT;
            }
        }
    }

    /// Removes the pairs for which `is_no_pair` holds.
    fn unpair_if(&mut self, is_no_pair: impl Fn(u32, u32) -> bool) {
        for (new, partner) in (0..).zip(&mut self.old_of_new) {
            if *partner != NO_OBJECT && is_no_pair(*partner, new) {
                self.new_of_old[*partner as usize] = NO_OBJECT;
                *partner = NO_OBJECT;
            }
        }
    }

    /// Removes the pairs of stretches that are not believed, and returns the other stretches.
    fn unpair_unbelieved(&mut self, stretches: &[Stretch], believed: &[bool]) -> Vec<Stretch> {
        for (stretch, _) in stretches.iter().zip(believed).filter(|(_, is_believed)| !**is_believed) {
            for place in 0..stretch.length {
                let (old, new) = (self.old.order[stretch.old + place], self.new.order[stretch.new + place]);
                if self.old_of_new[new as usize] == old {
                    (self.old_of_new[new as usize], self.new_of_old[old as usize]) = (NO_OBJECT, NO_OBJECT);
                }
            }
        }
        stretches.iter().zip(believed).filter(|(_, is_believed)| **is_believed).map(|(stretch, _)| *stretch).collect()
    }

    /// Pairs the objects between neighbouring stretches by position, where both sides have the same number of them.
    fn pair_between(&mut self, stretches: &[Stretch], may_be_one: impl Fn(u32, u32) -> bool) {
        for both in stretches.windows(2) {
            let (end_old, end_new) = (both[0].old + both[0].length, both[0].new + both[0].length);
            let (next_old, next_new) = (both[1].old, both[1].new);
            if next_old < end_old || next_new < end_new || next_old - end_old != next_new - end_new {
                continue;
            }
            let between = self.old.order[end_old..next_old].iter().zip(&self.new.order[end_new..next_new]);
            for (&old, &new) in between {
                let are_free = self.old_of_new[new as usize] == NO_OBJECT && self.new_of_old[old as usize] == NO_OBJECT;
                if are_free && may_be_one(old, new) {
                    self.old_of_new[new as usize] = old;
                    self.new_of_old[old as usize] = new;
                }
            }
        }
    }
}

/// The objects of a snapshot in order of address, with their looks.
struct Line<'a> {
    order: Vec<u32>,
    looks: &'a [u64],
}

impl Line<'_> {
    /// The places that may start a stretch, each with the hash of the window that ends there.
    fn candidates(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let mut hash = 0u64;
        let hashes = self.order.iter().map(move |&object| {
            // Each step shifts older looks up, and out after 8 steps.
            hash = (hash << (u64::BITS as usize / WINDOW)).wrapping_add(self.looks[object as usize]);
            hash
        });
        // The upper half of the hash depends on the whole window.
        hashes.enumerate().filter(|(_, hash)| (hash >> 32).is_multiple_of(ONE_OF))
    }
}

/// The objects in order of address; equal addresses, or none, in order of number.
fn in_order(loaded: &LoadedSnapshot) -> Vec<u32> {
    let mut order: Vec<u32> = (0..loaded.objects() as u32).collect();
    if !loaded.addresses.is_sorted() {
        order.sort_by_key(|&object| loaded.addresses[object as usize]);
    }
    order
}

/// The places where windows end that are unique in both snapshots, in the order of `new`.
fn unique_pairs(old: &Line<'_>, new: &Line<'_>) -> Vec<(usize, usize)> {
    /// The place of a window on each side; `NO_OBJECT` if there are several.
    struct Places {
        old: u32,
        /// The place plus one; 0 if there is none.
        new: u32,
    }
    let mut places: HashMap<u64, Places> = HashMap::with_capacity(old.order.len() / ONE_OF as usize);
    for (place, hash) in old.candidates() {
        let there = places.entry(hash);
        there.and_modify(|places| places.old = NO_OBJECT).or_insert(Places { old: place as u32, new: 0 });
    }
    let mut met = Vec::new();
    for (place, hash) in new.candidates() {
        if let Some(places) = places.get_mut(&hash).filter(|places| places.old != NO_OBJECT) {
            places.new = if places.new == 0 { place as u32 + 1 } else { NO_OBJECT };
            met.push((hash, place));
        }
    }
    let unique = met.into_iter().filter_map(|(hash, place)| {
        let places = &places[&hash];
        (places.new == place as u32 + 1).then_some((places.old as usize, place))
    });
    unique.collect()
}

#[cfg(test)]
mod tests {
    use barrow_testdata::Random;

    use super::*;

    /// For each place of `after` its partner in `before`. Objects with different looks may be paired if both looks are
    /// odd.
    fn aligned(before: &[u64], after: &[u64]) -> Vec<Option<usize>> {
        let [old, new] = [before, after].map(|looks| Line { order: (0..looks.len() as u32).collect(), looks });
        let may_be_one = |old, new| before[old as usize] % 2 == 1 && after[new as usize] % 2 == 1;
        let partners = align_lines(&old, &new, may_be_one);
        partners.iter().map(|&partner| (partner != NO_OBJECT).then_some(partner as usize)).collect()
    }

    #[test]
    fn stretches_stay_one_object_each() {
        let mut random = Random::new(3);
        let before: Vec<u64> = (0..2000).map(|_| random.next()).collect();
        let mut after = before.clone();
        // One object changed its look, one was replaced, one died, and two were born.
        (after[500], after[600]) = (1, 2);
        after.remove(900);
        after.splice(1200..1200, [7, 7]);
        let mut expected: Vec<Option<usize>> = (0..2000).map(Some).collect();
        expected[500] = (before[500] % 2 == 1).then_some(500);
        expected[600] = None;
        expected.remove(900);
        expected.splice(1200..1200, [None, None]);
        assert_eq!(aligned(&before, &after), expected);
        // A long stretch that moved is paired; a short one may consist of new objects.
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
        // One of twenty equal objects died, and it is unknown which.
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
            // Some rounds have few looks, so that many occur twice.
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
    fn unique_windows_are_those_of_the_definition() {
        let mut random = Random::new(9);
        for _ in 0..200 {
            let mut line = || (0..random.below(60)).map(|_| random.below(3) << 61 | 5).collect::<Vec<u64>>();
            let (before, after) = (line(), line());
            let [old, new] = [&before, &after].map(|looks| Line { order: (0..looks.len() as u32).collect(), looks });
            let places = |line: &Line<'_>, hash: u64| {
                line.candidates().filter(|other| other.1 == hash).map(|(place, _)| place).collect::<Vec<_>>()
            };
            let expected = new.candidates().filter_map(|(place, hash)| {
                match (&places(&old, hash)[..], places(&new, hash).len()) {
                    (&[old], 1) => Some((old, place)),
                    _ => None,
                }
            });
            assert_eq!(unique_pairs(&old, &new), expected.collect::<Vec<_>>());
        }
    }
}
