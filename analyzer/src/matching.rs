//! Matching: which objects of a snapshot are which of the one before, where no serial says so.
//!
//! ```text
//!   before   root ──▶ Registry ─"cards"─▶ List ─[0]─▶ Card      both are walked together, breadth first:
//!   after    root ──▶ Registry ─"cards"─▶ List ─[0]─▶ Card      what references of one name lead to is one object
//! ```
//!
//! Two objects may be one if they have one type, one site and one name. A pair is *strong* if they look the same too:
//! their sizes, and the types and sizes of what they refer to. Strong pairs are taken first; where none is left, the
//! oldest weak one is: what references of one name lead to, or what is left over in a list, in its order.
//! Each object is taken once. Time and memory are in proportion to objects and references: about 20 bytes an
//! object beside the snapshots.
//!
//! Where objects have addresses, those are [aligned](crate::alignment) before anything else.
//!
//! A pair may be wrong where things were rearranged. How far the pairs can be trusted is counted
//! afterwards: of the references of paired objects, those that lead to a pair again.

use std::collections::VecDeque;

use barrow_format::ObjectId;
use barrow_format::rows::{LabelCode, Root};
use foldhash::{HashMap, HashMapExt};
use rayon::prelude::*;

use crate::alignment::aligned;
use crate::error::Result;
use crate::progress::{Progress, check};
use crate::tables::Tables;
use crate::whole::{NOBODY, Own, Whole};

/// A snapshot as it is matched.
#[derive(Clone, Copy)]
pub(crate) struct Side<'a> {
    pub(crate) whole: &'a Whole,
    pub(crate) roots: &'a [Root],
}

/// How a snapshot's objects were paired with those of the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pairing {
    /// Objects of the snapshot before.
    pub before: u64,
    /// Objects of this one.
    pub after: u64,
    /// Objects that were paired.
    pub pairs: u64,
    /// References of paired objects.
    pub references: u64,
    /// Those that lead to a pair, on both sides at the same place.
    pub agreeing: u64,
}

impl Pairing {
    /// The share of references of paired objects that lead to a pair again: 1 if nothing contradicts the
    /// pairs. It is an estimate of how many pairs are right, which nobody knows.
    #[must_use]
    pub fn confidence(&self) -> f64 {
        if self.references == 0 { 1.0 } else { self.agreeing as f64 / self.references as f64 }
    }
}

/// For each object of `after` its partner in `before`, or [`NOBODY`].
pub(crate) fn match_structure(
    before: Side<'_>,
    after: Side<'_>,
    tables: &Tables,
    progress: &dyn Progress,
) -> Result<Vec<u32>> {
    progress.begin("matching", after.whole.objects() as u64, "objects");
    let mut walk = Walk {
        before: Looks::of(before.whole, tables),
        after: Looks::of(after.whole, tables),
        tables,
        partner_of_after: vec![NOBODY; after.whole.objects()],
        is_taken: vec![false; before.whole.objects()],
        queue: Vec::new(),
        weak: VecDeque::new(),
        leftovers: Leftovers::default(),
    };
    for (old, new) in aligned((before.whole, &walk.before.looks), (after.whole, &walk.after.looks)) {
        walk.pair(old, new);
    }
    walk.pair_roots(before.roots, after.roots);
    walk.run(progress)?;
    Ok(walk.partner_of_after)
}

/// A snapshot and what its objects look like.
struct Looks<'a> {
    whole: &'a Whole,
    /// For each object a number: that of its type, sizes, site and name, and of those of its targets in order.
    looks: Vec<u64>,
}

impl<'a> Looks<'a> {
    fn of(whole: &'a Whole, tables: &Tables) -> Self {
        let own = |object: usize| {
            let Own { shape, shallow_bytes, unmanaged_bytes, site, name } = whole.own(object);
            let type_id = tables.shape(shape).type_id;
            let name = name.map_or(0, |name| u64::from(name.0) + 1);
            [shallow_bytes, unmanaged_bytes, site.into(), name]
                .iter()
                .fold(type_id.0.into(), |sum, &part| mix(sum, part))
        };
        let own: Vec<u64> = (0..whole.objects()).into_par_iter().map(own).collect();
        let look =
            |object: usize| whole.all_targets(object).fold(own[object], |sum, target| mix(sum, own[target as usize]));
        Looks { whole, looks: (0..whole.objects()).into_par_iter().map(look).collect() }
    }
}

/// Joins two numbers; differing ones hardly ever give the same.
fn mix(sum: u64, part: u64) -> u64 {
    let product = u128::from(sum ^ 0x9e37_79b9_7f4a_7c15) * u128::from(part ^ 0xd6e8_feb8_6659_fd93 | 1);
    (product as u64) ^ (product >> 64) as u64
}

struct Walk<'a> {
    before: Looks<'a>,
    after: Looks<'a>,
    tables: &'a Tables,
    partner_of_after: Vec<u32>,
    is_taken: Vec<bool>,
    /// Objects of `after` that have partners and whose references are still to be followed.
    queue: Vec<u32>,
    /// Objects that may be one: `before`, `after`.
    weak: VecDeque<(u32, u32)>,
    leftovers: Leftovers,
}

/// References of a pair that led to no strong pair: label and target. Reused from pair to pair.
#[derive(Default)]
struct Leftovers {
    before: Vec<(u64, u32)>,
    after: Vec<(u64, u32)>,
    known: Queues,
}

/// Objects in queues that have numbers.
#[derive(Default)]
struct Queues {
    /// By number the first and the last entry of its queue.
    ends: HashMap<u64, (u32, u32)>,
    /// Objects, and the entry behind each in its queue; [`NOBODY`] behind the last.
    entries: Vec<(u32, u32)>,
}

impl Queues {
    /// Puts objects into queues by their numbers, in their order, instead of what there was.
    fn fill(&mut self, all: impl Iterator<Item = (u64, u32)>) {
        self.ends.clear();
        self.entries.clear();
        for (number, object) in all {
            let entry = self.entries.len() as u32;
            self.entries.push((object, NOBODY));
            let (first, last) = self.ends.entry(number).or_insert((NOBODY, NOBODY));
            match *first {
                NOBODY => *first = entry,
                _ => self.entries[*last as usize].1 = entry,
            }
            *last = entry;
        }
    }

    /// Takes the first object of a queue.
    fn pop(&mut self, number: u64) -> Option<u32> {
        let (first, _) = self.ends.get_mut(&number)?;
        let &(object, next) = self.entries.get(*first as usize)?;
        *first = next;
        Some(object)
    }
}

impl Walk<'_> {
    /// Roots of one category and name are paired in their order.
    fn pair_roots(&mut self, before: &[Root], after: &[Root]) {
        let mut by_name: HashMap<_, VecDeque<ObjectId>> = HashMap::new();
        for root in before {
            by_name.entry((root.category, root.label)).or_default().push_back(root.target);
        }
        for root in after {
            if let Some(target) = by_name.get_mut(&(root.category, root.label)).and_then(VecDeque::pop_front) {
                self.weak.push_back((target.0, root.target.0));
            }
        }
    }

    fn run(&mut self, progress: &dyn Progress) -> Result<()> {
        for step in 1u64.. {
            if step.is_multiple_of(1 << 16) {
                check(progress)?;
                progress.advance(1 << 16);
            }
            if let Some(after) = self.queue.pop() {
                self.pair_targets(self.partner_of_after[after as usize] as usize, after as usize);
            } else if let Some((before, after)) = self.weak.pop_front() {
                self.pair(before, after);
            } else {
                break;
            }
        }
        Ok(())
    }

    fn is_free(&self, before: u32, after: u32) -> bool {
        self.partner_of_after[after as usize] == NOBODY && !self.is_taken[before as usize]
    }

    fn look_the_same(&self, before: u32, after: u32) -> bool {
        self.before.looks[before as usize] == self.after.looks[after as usize]
    }

    /// Takes two objects for one, unless something speaks against it.
    fn pair(&mut self, before: u32, after: u32) {
        if self.is_free(before, after) && self.may_be_one(before as usize, after as usize) {
            self.partner_of_after[after as usize] = before;
            self.is_taken[before as usize] = true;
            self.queue.push(after);
        }
    }

    fn may_be_one(&self, old: usize, new: usize) -> bool {
        let (before, after) = (self.before.whole.own(old), self.after.whole.own(new));
        let type_of = |shape| self.tables.shape(shape).type_id;
        let is_one_type = before.shape == after.shape || type_of(before.shape) == type_of(after.shape);
        is_one_type && before.site == after.site && before.name == after.name
    }

    fn pair_targets(&mut self, old: usize, new: usize) {
        let (before, after) = (self.before.whole, self.after.whole);
        let mut leftovers = std::mem::take(&mut self.leftovers);
        let is_one_shape = before.shapes[old] == after.shapes[new] && before.labels(old) == after.labels(new);
        let (old_targets, new_targets) = (before.targets(old), after.targets(new));
        for (position, (&old_target, &new_target)) in old_targets.iter().zip(new_targets).enumerate() {
            if is_one_shape && self.is_free(old_target, new_target) && self.look_the_same(old_target, new_target) {
                self.pair(old_target, new_target);
                continue;
            }
            if !self.is_taken[old_target as usize] {
                leftovers.before.push((before.label(old, position, self.tables).0, old_target));
            }
            if self.partner_of_after[new_target as usize] == NOBODY {
                leftovers.after.push((after.label(new, position, self.tables).0, new_target));
            }
        }
        let both = old_targets.len().min(new_targets.len());
        let beyond = |(label, target): (LabelCode, u32)| (label.0, target);
        leftovers.before.extend(before.references_from(old, both, self.tables).map(beyond));
        leftovers.after.extend(after.references_from(new, both, self.tables).map(beyond));
        self.pair_leftovers(&mut leftovers);
        self.leftovers = leftovers;
    }

    /// Pairs what looks the same wherever it stands, and puts off the rest: by label, then in order.
    fn pair_leftovers(&mut self, leftovers: &mut Leftovers) {
        let Leftovers { before, after, known } = leftovers;
        before.retain(|&(_, target)| !self.is_taken[target as usize]);
        after.retain(|&(_, target)| self.partner_of_after[target as usize] == NOBODY);
        if !before.is_empty() && !after.is_empty() {
            let looks = &self.before.looks;
            known.fill(before.iter().map(|&(_, target)| (looks[target as usize], target)));
            for &(_, target) in after.iter() {
                if let Some(partner) = known.pop(self.after.looks[target as usize]) {
                    self.pair(partner, target);
                }
            }
            before.retain(|&(_, target)| !self.is_taken[target as usize]);
            after.retain(|&(_, target)| self.partner_of_after[target as usize] == NOBODY);
            known.fill(before.iter().copied());
            for &(label, target) in after.iter() {
                if let Some(partner) = known.pop(label) {
                    self.weak.push_back((partner, target));
                }
            }
        }
        before.clear();
        after.clear();
    }
}

/// Pairs objects by their serials; those without one are nobody's partners.
pub(crate) fn match_serials(before: &Whole, after: &Whole) -> Vec<u32> {
    let mut known: HashMap<u64, u32> = HashMap::new();
    for (object, &serial) in (0..).zip(&before.serials).filter(|(_, serial)| **serial != 0) {
        known.entry(serial).or_insert(object);
    }
    let mut partners: Vec<u32> = after.serials.iter().map(|serial| known.remove(serial).unwrap_or(NOBODY)).collect();
    partners.resize(after.objects(), NOBODY);
    partners
}

/// Counts how far the references of paired objects agree.
pub(crate) fn pairing(before: &Whole, after: &Whole, partner_of_after: &[u32]) -> Pairing {
    let mut pairing = Pairing { before: before.objects() as u64, after: after.objects() as u64, ..Pairing::default() };
    for (new, &old) in partner_of_after.iter().enumerate().filter(|(_, old)| **old != NOBODY) {
        pairing.pairs += 1;
        pairing.references += before.references_of(old as usize).max(after.references_of(new)) as u64;
        let both = before.all_targets(old as usize).zip(after.all_targets(new));
        pairing.agreeing += both.filter(|&(old, new)| partner_of_after[new as usize] == old).count() as u64;
    }
    pairing
}
