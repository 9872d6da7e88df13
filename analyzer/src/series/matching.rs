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
//! Each object is taken once. Time and memory are in proportion to objects and references: about 40 bytes an
//! object beside the snapshots.
//!
//! Before anything else the snapshots are [aligned](super::alignment). The walk begins where something is left to be
//! paired: at roots, and at pairs that refer to objects without partners.
//!
//! A pair may be wrong where things were rearranged. How far the pairs can be trusted is counted
//! afterwards: of the references of paired objects, those that lead to a pair again.

use std::collections::VecDeque;

use barrow_format::ObjectId;
use barrow_format::rows::{LabelCode, Root};
use foldhash::{HashMap, HashMapExt};
use rayon::prelude::*;

use crate::error::Result;
use crate::file::tables::Tables;
use crate::progress::{Progress, check};
use crate::series::address_order::AddressOrder;
use crate::series::alignment::align;
use crate::series::whole::{NOBODY, Own, Whole};

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
    let [old_looks, new_looks] = [before.whole, after.whole].map(|whole| looks(whole, tables));
    let may_be_one = |old, new| may_be_one(before.whole, old, after.whole, new, tables);
    let (aligned, addresses) = align((before.whole, &old_looks), (after.whole, &new_looks), may_be_one);
    let pairs = Pairs::of(aligned, before.whole.objects());
    let mut walk = Walk {
        before: before.whole,
        after: after.whole,
        old_looks,
        new_looks,
        tables,
        pairs,
        queue: Vec::new(),
        weak: VecDeque::new(),
        leftovers: Leftovers::default(),
        addresses,
    };
    walk.pair_roots(before.roots, after.roots);
    walk.begin_where_targets_are_free();
    walk.run(progress)?;
    walk.pair_by_address();
    Ok(walk.pairs.partner_of_after)
}

/// Which objects of two snapshots are one.
struct Pairs {
    /// For each object of `after` its partner in `before`, or [`NOBODY`].
    partner_of_after: Vec<u32>,
    is_taken: Vec<bool>,
}

impl Pairs {
    fn of(partner_of_after: Vec<u32>, before: usize) -> Self {
        let mut is_taken = vec![false; before];
        for &partner in partner_of_after.iter().filter(|partner| **partner != NOBODY) {
            is_taken[partner as usize] = true;
        }
        Pairs { partner_of_after, is_taken }
    }

    /// Whether both are in no pair.
    fn are_free(&self, before: u32, after: u32) -> bool {
        self.is_free_after(after) && self.is_free_before(before)
    }

    fn is_free_before(&self, object: u32) -> bool {
        !self.is_taken[object as usize]
    }

    fn is_free_after(&self, object: u32) -> bool {
        self.partner_of_after[object as usize] == NOBODY
    }

    /// Takes two free objects for one.
    fn add(&mut self, before: u32, after: u32) {
        self.partner_of_after[after as usize] = before;
        self.is_taken[before as usize] = true;
    }
}

/// Objects that are hashed at a time.
const STRIDE: usize = 1 << 13;

/// For each object a number: that of its type, sizes, site and name, and of those of its targets in order.
fn looks(whole: &Whole, tables: &Tables) -> Vec<u64> {
    let types: Vec<u32> = tables.shapes().iter().map(|shape| shape.type_id.0).collect();
    let mut own = vec![0; whole.objects()];
    own.par_chunks_mut(STRIDE).enumerate().for_each(|(chunk, own)| {
        for (object, own) in (chunk * STRIDE..).zip(own) {
            *own = look_alone(&whole.own(object), &types);
        }
    });
    let own = &own;
    let with = |look: u64, targets: &[u32]| targets.iter().fold(look, |sum, &target| mix(sum, own[target as usize]));
    let mut looks = vec![0; whole.objects()];
    looks.par_chunks_mut(STRIDE).enumerate().for_each(|(chunk, looks)| {
        for (object, look) in (chunk * STRIDE..).zip(looks) {
            *look = with(own[object], whole.targets(object));
        }
    });
    for (object, continued) in whole.all_continued() {
        let look = &mut looks[object.index()];
        *look = continued.iter().fold(*look, |look, part| with(look, &part.targets));
    }
    looks
}

/// The number of an object without its targets. `types` are those of shapes.
fn look_alone(own: &Own, types: &[u32]) -> u64 {
    let Own { shape, shallow_bytes, unmanaged_bytes, site, name } = *own;
    let what = u64::from(types[shape.index()]) << 32 | u64::from(site);
    let name = name.map_or(0, |name| u64::from(name.0) + 1);
    mix(mix(what, name), mix(shallow_bytes, unmanaged_bytes))
}

/// Joins two numbers; differing ones hardly ever give the same.
fn mix(sum: u64, part: u64) -> u64 {
    let product = u128::from(sum ^ 0x9e37_79b9_7f4a_7c15) * u128::from(part ^ 0xd6e8_feb8_6659_fd93 | 1);
    (product as u64) ^ (product >> 64) as u64
}

struct Walk<'a> {
    before: &'a Whole,
    after: &'a Whole,
    old_looks: Vec<u64>,
    new_looks: Vec<u64>,
    tables: &'a Tables,
    pairs: Pairs,
    /// Objects of `after` that have partners and whose references are still to be followed.
    queue: Vec<u32>,
    /// Objects that may be one: `before`, `after`.
    weak: VecDeque<(u32, u32)>,
    leftovers: Leftovers,
    /// Which pairs addresses allow.
    addresses: AddressOrder,
}

/// Whether nothing speaks against it that two objects are one.
fn may_be_one(before: &Whole, old: u32, after: &Whole, new: u32, tables: &Tables) -> bool {
    let (old, new) = (before.own(old as usize), after.own(new as usize));
    let type_of = |shape| tables.shape(shape).type_id;
    let is_one_type = old.shape == new.shape || type_of(old.shape) == type_of(new.shape);
    is_one_type && old.site == new.site && old.name == new.name
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

    /// Queues what was paired and refers to free objects on both sides: the others lead to nothing new.
    fn begin_where_targets_are_free(&mut self) {
        let Walk { before, after, pairs, .. } = self;
        let partners = pairs.partner_of_after.iter().enumerate().filter(|(_, partner)| **partner != NOBODY);
        let begin = partners.filter(|&(new, &old)| {
            after.all_targets(new).any(|target| pairs.is_free_after(target))
                && before.all_targets(old as usize).any(|target| pairs.is_free_before(target))
        });
        self.queue = begin.map(|(new, _)| new as u32).collect();
    }

    fn run(&mut self, progress: &dyn Progress) -> Result<()> {
        for step in 1u64.. {
            if step.is_multiple_of(1 << 16) {
                check(progress)?;
                progress.advance(1 << 16);
            }
            if let Some(after) = self.queue.pop() {
                self.pair_targets(self.pairs.partner_of_after[after as usize] as usize, after as usize);
            } else if let Some((before, after)) = self.weak.pop_front() {
                if self.pairs.are_free(before, after)
                    && self.may_meet(before, after)
                    && may_be_one(self.before, before, self.after, after, self.tables)
                {
                    self.pair(before, after);
                }
            } else {
                break;
            }
        }
        Ok(())
    }

    /// Whether addresses allow that two objects are one.
    fn may_meet(&self, before: u32, after: u32) -> bool {
        self.addresses.allows((self.before, before), (self.after, after))
    }

    /// What looks the same has the same type, site and name.
    fn look_the_same(&self, before: u32, after: u32) -> bool {
        self.old_looks[before as usize] == self.new_looks[after as usize]
    }

    /// Takes two objects for one.
    fn pair(&mut self, before: u32, after: u32) {
        self.pairs.add(before, after);
        self.queue.push(after);
    }

    fn pair_targets(&mut self, old: usize, new: usize) {
        let (before, after) = (self.before, self.after);
        let mut leftovers = std::mem::take(&mut self.leftovers);
        let is_one_shape = before.shapes[old] == after.shapes[new] && before.labels(old) == after.labels(new);
        let (old_targets, new_targets) = (before.targets(old), after.targets(new));
        for (position, (&old_target, &new_target)) in old_targets.iter().zip(new_targets).enumerate() {
            let (old_is_free, new_is_free) =
                (self.pairs.is_free_before(old_target), self.pairs.is_free_after(new_target));
            let may_be_one = is_one_shape && old_is_free && new_is_free && self.may_meet(old_target, new_target);
            if may_be_one && self.look_the_same(old_target, new_target) {
                self.pair(old_target, new_target);
                continue;
            }
            if old_is_free {
                leftovers.before.push((before.label(old, position, self.tables).0, old_target));
            }
            if new_is_free {
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
        before.retain(|&(_, target)| self.pairs.is_free_before(target));
        after.retain(|&(_, target)| self.pairs.is_free_after(target));
        if !before.is_empty() && !after.is_empty() {
            let looks = &self.old_looks;
            known.fill(before.iter().map(|&(_, target)| (looks[target as usize], target)));
            for &(_, target) in after.iter() {
                // An object may be there twice.
                if let Some(partner) = known.pop(self.new_looks[target as usize])
                    && self.pairs.are_free(partner, target)
                    && self.may_meet(partner, target)
                {
                    self.pair(partner, target);
                }
            }
            before.retain(|&(_, target)| self.pairs.is_free_before(target));
            after.retain(|&(_, target)| self.pairs.is_free_after(target));
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

impl Walk<'_> {
    /// Pairs what is left by address, and what looks the same in the same gap in its order.
    fn pair_by_address(&mut self) {
        match &self.addresses {
            AddressOrder::Unknown => {}
            AddressOrder::Fixed => self.pair_same_addresses(),
            AddressOrder::Kept { .. } => self.pair_in_gaps(),
        }
    }

    fn pair_same_addresses(&mut self) {
        let free = (0..self.before.objects() as u32).filter(|&old| self.pairs.is_free_before(old));
        let address = |whole: &Whole, object: u32| whole.addresses[object as usize];
        let known: HashMap<u64, u32> = free.map(|old| (address(self.before, old), old)).collect();
        for new in 0..self.after.objects() as u32 {
            let partner = known.get(&address(self.after, new)).copied().filter(|_| address(self.after, new) != 0);
            if let Some(old) = partner.filter(|&old| self.pairs.are_free(old, new))
                && may_be_one(self.before, old, self.after, new, self.tables)
            {
                self.pairs.add(old, new);
            }
        }
    }

    fn pair_in_gaps(&mut self) {
        let AddressOrder::Kept { old_gaps, new_gaps } = &self.addresses else { return };
        let has_address = |whole: &Whole, object: u32| whole.addresses[object as usize] != 0;
        let free = by_address(self.before).filter(|&old| self.pairs.is_free_before(old));
        let mut known = Queues::default();
        let number = |look: u64, gap: u32| mix(look, u64::from(gap));
        let all = free.filter(|&old| has_address(self.before, old));
        known.fill(all.map(|old| (number(self.old_looks[old as usize], old_gaps[old as usize]), old)));
        for new in by_address(self.after).filter(|&new| has_address(self.after, new)) {
            if !self.pairs.is_free_after(new) {
                continue;
            }
            let look = self.new_looks[new as usize];
            let partner = new_gaps[new as usize].into_iter().find_map(|gap| known.pop(number(look, gap)));
            if let Some(old) = partner.filter(|&old| self.may_meet(old, new)) {
                self.pairs.add(old, new);
            }
        }
    }
}

/// The objects in the order of their addresses.
fn by_address(whole: &Whole) -> impl Iterator<Item = u32> {
    let mut objects: Vec<u32> = (0..whole.objects() as u32).collect();
    objects.sort_by_key(|&object| whole.addresses[object as usize]);
    objects.into_iter()
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
