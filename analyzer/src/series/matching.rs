//! Matching: finds for each object of a snapshot the same object in the previous one if serials are missing.
//!
//! ```text
//!   before   root ──▶ Registry ─"cards"─▶ List ─[0]─▶ Card      both are walked together, breadth first:
//!   after    root ──▶ Registry ─"cards"─▶ List ─[0]─▶ Card      references of one name lead to the same object
//! ```
//!
//! Two objects can be the same only if type, site and name are equal. A pair is *strong* if their looks are equal, too:
//! their sizes, and the types and sizes of their targets. All strong pairs are made first, then the oldest *weak* pair:
//! the targets of references with the same label, or the remaining elements of two lists in their order. Each object is
//! in at most one pair. Time is linear in objects and references; memory is about 40 bytes for each object besides the
//! snapshots.
//!
//! The snapshots are first [aligned](super::alignment). The walk then starts at roots, and at pairs that refer to
//! objects without partners.
//!
//! A pair may be wrong if the program rearranged its objects. As a measure of confidence, [`Pairing`] counts the references
//! of paired objects that lead to a pair again.

use std::collections::VecDeque;

use barrow_format::ObjectId;
use barrow_format::rows::Root;
use foldhash::{HashMap, HashMapExt};
use rayon::prelude::*;

use crate::error::Result;
use crate::file::tables::Tables;
use crate::progress::{Progress, check};
use crate::series::address_order::AddressOrder;
use crate::series::alignment::align;
use crate::series::loaded_snapshot::{LoadedSnapshot, NO_OBJECT, ObjectColumns};

/// One of two snapshots that are matched.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// The snapshot.
    pub loaded: &'a LoadedSnapshot,
    /// Its roots.
    pub roots: &'a [Root],
}

/// The result of pairing the objects of a snapshot with those of the previous one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pairing {
    /// Objects of the previous snapshot.
    pub before: u64,
    /// Objects of this one.
    pub after: u64,
    /// Objects that were paired.
    pub pairs: u64,
    /// References of paired objects.
    pub references: u64,
    /// Those whose targets on both sides, at the same position, are a pair.
    pub agreeing: u64,
}

impl Pairing {
    /// The share of references of paired objects that lead to a pair again: 1 if nothing contradicts the pairs. It
    /// estimates the share of pairs that are right, which cannot be measured.
    #[must_use]
    pub fn confidence(&self) -> f64 {
        if self.references == 0 { 1.0 } else { self.agreeing as f64 / self.references as f64 }
    }

    /// The sentence that a repacked snapshot keeps under [`PAIRED_KEY`](crate::raw::PAIRED_KEY).
    #[must_use]
    pub fn sentence(&self) -> String {
        let Pairing { before, after, pairs, references, agreeing } = self;
        format!("{pairs} of {before} and {after} objects, {agreeing} of {references} references agree")
    }

    /// Reads such a sentence. `None` if it is another one, or its numbers are impossible.
    #[must_use]
    pub fn from_sentence(sentence: &str) -> Option<Self> {
        let words = sentence.split(|letter: char| !letter.is_ascii_digit()).filter(|word| !word.is_empty());
        let numbers = words.map(|word| word.parse().ok()).collect::<Option<Vec<u64>>>()?;
        let &[pairs, before, after, agreeing, references] = &numbers[..] else { return None };
        let pairing = Pairing { before, after, pairs, references, agreeing };
        let is_possible = pairs <= before.min(after) && agreeing <= references;
        (is_possible && pairing.sentence() == sentence).then_some(pairing)
    }
}

/// For each object of `after` its partner in `before`, or [`NO_OBJECT`]. References and roots decide; serials are
/// ignored.
///
/// # Errors
/// [`AnalyzerError::Cancelled`](crate::AnalyzerError::Cancelled).
pub fn match_structure(
    before: Side<'_>,
    after: Side<'_>,
    tables: &Tables,
    progress: &dyn Progress,
) -> Result<Vec<u32>> {
    progress.begin("matching", after.loaded.objects() as u64, "objects");
    let [old_looks, new_looks] = [before.loaded, after.loaded].map(|loaded| loaded.looks(|| looks(loaded, tables)));
    let (aligned, addresses) = align((before.loaded, old_looks), (after.loaded, new_looks), |old, new| {
        may_be_one(before.loaded, old, after.loaded, new, tables)
    });
    let pairs = Pairs::of(aligned, before.loaded.objects());
    let mut walk = Walk {
        before: before.loaded,
        after: after.loaded,
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

/// The pairs made so far.
struct Pairs {
    /// For each object of `after` its partner in `before`, or [`NO_OBJECT`].
    partner_of_after: Vec<u32>,
    is_taken: Vec<bool>,
}

impl Pairs {
    fn of(partner_of_after: Vec<u32>, before: usize) -> Self {
        let mut is_taken = vec![false; before];
        for &partner in partner_of_after.iter().filter(|partner| **partner != NO_OBJECT) {
            is_taken[partner as usize] = true;
        }
        Pairs { partner_of_after, is_taken }
    }

    /// Returns whether neither object is in a pair.
    fn are_free(&self, before: u32, after: u32) -> bool {
        self.is_free_after(after) && self.is_free_before(before)
    }

    fn is_free_before(&self, object: u32) -> bool {
        !self.is_taken[object as usize]
    }

    fn is_free_after(&self, object: u32) -> bool {
        self.partner_of_after[object as usize] == NO_OBJECT
    }

    /// Pairs two free objects.
    fn add(&mut self, before: u32, after: u32) {
        self.partner_of_after[after as usize] = before;
        self.is_taken[before as usize] = true;
    }
}

/// The number of objects that are hashed at a time, so that threads share them evenly. This is a judgement.
const STRIDE: usize = 1 << 13;

/// For each object its look: a hash of its type, sizes, site and name, and of those of its targets in order.
fn looks(loaded: &LoadedSnapshot, tables: &Tables) -> Vec<u64> {
    let types: Vec<u32> = tables.shapes().iter().map(|shape| shape.type_id.0).collect();
    let mut own = vec![0; loaded.objects()];
    own.par_chunks_mut(STRIDE).enumerate().for_each(|(chunk, own)| {
        for (object, own) in (chunk * STRIDE..).zip(own) {
            *own = look_alone(&loaded.own(object), &types);
        }
    });
    let mut looks = vec![0; loaded.objects()];
    looks.par_chunks_mut(STRIDE).enumerate().for_each(|(chunk, looks)| {
        for (object, look) in (chunk * STRIDE..).zip(looks) {
            *look = mix_targets(own[object], loaded.targets(object), &own);
        }
    });
    for (object, continued) in loaded.all_continued() {
        let look = &mut looks[object.index()];
        *look = continued.iter().fold(*look, |look, part| mix_targets(look, &part.targets, &own));
    }
    looks
}

/// Mixes the looks of targets into a look. `own` holds the look of each object without its targets.
#[inline]
fn mix_targets(look: u64, targets: &[u32], own: &[u64]) -> u64 {
    targets.iter().fold(look, |sum, &target| mix(sum, own[target as usize]))
}

/// The look of an object without its targets. `types` holds the type of each shape.
fn look_alone(own: &ObjectColumns, types: &[u32]) -> u64 {
    let ObjectColumns { shape, shallow_bytes, unmanaged_bytes, site, name } = *own;
    let what = u64::from(types[shape.index()]) << 32 | u64::from(site);
    let name = name.map_or(0, |name| u64::from(name.0) + 1);
    mix(mix(what, name), mix(shallow_bytes, unmanaged_bytes))
}

/// Mixes `part` into a hash.
fn mix(sum: u64, part: u64) -> u64 {
    let product = u128::from(sum ^ 0x9e37_79b9_7f4a_7c15) * u128::from(part ^ 0xd6e8_feb8_6659_fd93 | 1);
    (product as u64) ^ (product >> 64) as u64
}

struct Walk<'a> {
    before: &'a LoadedSnapshot,
    after: &'a LoadedSnapshot,
    old_looks: &'a [u64],
    new_looks: &'a [u64],
    tables: &'a Tables,
    pairs: Pairs,
    /// Paired objects of `after` whose references have not been followed yet.
    queue: Vec<u32>,
    /// Weak pairs, oldest first: `before`, `after`.
    weak: VecDeque<(u32, u32)>,
    leftovers: Leftovers,
    /// The pairs that addresses allow.
    addresses: AddressOrder,
}

/// Returns whether two objects can be the same: type, site and name are equal.
fn may_be_one(before: &LoadedSnapshot, old: u32, after: &LoadedSnapshot, new: u32, tables: &Tables) -> bool {
    let (old, new) = (before.own(old as usize), after.own(new as usize));
    let is_one_type = old.shape == new.shape || tables.shape(old.shape).type_id == tables.shape(new.shape).type_id;
    is_one_type && old.site == new.site && old.name == new.name
}

/// References of a pair that led to no strong pair: label and target. The buffers are reused.
#[derive(Default)]
struct Leftovers {
    before: Vec<(u64, u32)>,
    after: Vec<(u64, u32)>,
    known: Queues,
}

/// Queues of objects, each with a number as its key, in one vector.
#[derive(Default)]
struct Queues {
    /// For each key the first and the last entry of its queue.
    ends: HashMap<u64, (u32, u32)>,
    /// Each object with the index of the next entry in its queue; [`NO_OBJECT`] after the last.
    entries: Vec<(u32, u32)>,
}

impl Queues {
    /// Clears all queues and appends each object to the queue of its key.
    fn fill(&mut self, all: impl Iterator<Item = (u64, u32)>) {
        self.ends.clear();
        self.entries.clear();
        for (number, object) in all {
            let entry = self.entries.len() as u32;
            self.entries.push((object, NO_OBJECT));
            let (first, last) = self.ends.entry(number).or_insert((NO_OBJECT, NO_OBJECT));
            match *first {
                NO_OBJECT => *first = entry,
                _ => self.entries[*last as usize].1 = entry,
            }
            *last = entry;
        }
    }

    /// Removes the first object of a queue.
    fn pop(&mut self, number: u64) -> Option<u32> {
        let (first, _) = self.ends.get_mut(&number)?;
        let &(object, next) = self.entries.get(*first as usize)?;
        *first = next;
        Some(object)
    }
}

impl Walk<'_> {
    /// Pairs roots of the same category and label in their order, weakly.
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

    /// Queues the aligned pairs that refer to free objects on both sides; other pairs lead to nothing new.
    fn begin_where_targets_are_free(&mut self) {
        let Walk { before, after, pairs, .. } = self;
        let partners = pairs.partner_of_after.iter().enumerate().filter(|(_, partner)| **partner != NO_OBJECT);
        let begin = partners.filter(|&(new, &old)| {
            after.has_target(new, |target| pairs.is_free_after(target))
                && before.has_target(old as usize, |target| pairs.is_free_before(target))
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

    /// Returns whether addresses allow this pair.
    fn may_meet(&self, before: u32, after: u32) -> bool {
        self.addresses.allows((self.before, before), (self.after, after))
    }

    /// Returns whether the looks are equal, which implies equal type, site and name.
    fn look_the_same(&self, before: u32, after: u32) -> bool {
        self.old_looks[before as usize] == self.new_looks[after as usize]
    }

    /// Pairs two objects and queues them.
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
        for (loaded, object, leftovers) in [(before, old, &mut leftovers.before), (after, new, &mut leftovers.after)] {
            let beyond = loaded.references_from(object, both, self.tables);
            leftovers.extend(beyond.map(|(label, target)| (label.0, target)));
        }
        self.pair_leftovers(&mut leftovers);
        self.leftovers = leftovers;
    }

    /// Pairs leftovers with equal looks at any position, and queues the others as weak pairs by label, in order.
    fn pair_leftovers(&mut self, leftovers: &mut Leftovers) {
        let Leftovers { before, after, known } = leftovers;
        before.retain(|&(_, target)| self.pairs.is_free_before(target));
        after.retain(|&(_, target)| self.pairs.is_free_after(target));
        if !before.is_empty() && !after.is_empty() {
            let looks = self.old_looks;
            known.fill(before.iter().map(|&(_, target)| (looks[target as usize], target)));
            for &(_, target) in after.iter() {
                // An object may be the target of several references.
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
    /// Pairs the remaining objects: those with equal addresses, or those with equal looks in the same gap, in order.
    fn pair_by_address(&mut self) {
        match &self.addresses {
            AddressOrder::Unknown => {}
            AddressOrder::Fixed => self.pair_same_addresses(),
            AddressOrder::Kept { .. } => self.pair_in_gaps(),
        }
    }

    fn pair_same_addresses(&mut self) {
        let free = (0..self.before.objects() as u32).filter(|&old| self.pairs.is_free_before(old));
        let known: HashMap<u64, u32> = free.map(|old| (self.before.addresses[old as usize], old)).collect();
        for (new, address) in (0..).zip(&self.after.addresses) {
            let partner = known.get(address).copied().filter(|_| *address != 0);
            if let Some(old) = partner.filter(|&old| self.pairs.are_free(old, new))
                && may_be_one(self.before, old, self.after, new, self.tables)
            {
                self.pairs.add(old, new);
            }
        }
    }

    fn pair_in_gaps(&mut self) {
        let AddressOrder::Kept { old_gaps, new_gaps } = &self.addresses else { return };
        let free = by_address(self.before).filter(|&old| self.pairs.is_free_before(old));
        let mut known = Queues::default();
        known.fill(free.map(|old| (mix(self.old_looks[old as usize], old_gaps[old as usize].into()), old)));
        for new in by_address(self.after) {
            if !self.pairs.is_free_after(new) {
                continue;
            }
            let look = self.new_looks[new as usize];
            let partner = new_gaps[new as usize].into_iter().find_map(|gap| known.pop(mix(look, gap.into())));
            if let Some(old) = partner.filter(|&old| self.may_meet(old, new)) {
                self.pairs.add(old, new);
            }
        }
    }
}

/// The objects that have addresses, in ascending order of these.
fn by_address(loaded: &LoadedSnapshot) -> impl Iterator<Item = u32> {
    let objects = (0..).zip(&loaded.addresses).filter(|(_, address)| **address != 0).map(|(object, _)| object);
    let mut objects: Vec<u32> = objects.collect();
    objects.sort_by_key(|&object| loaded.addresses[object as usize]);
    objects.into_iter()
}

/// Pairs objects by their serials: for each object of `after` its partner in `before`, or [`NO_OBJECT`] if it has none
/// or no serial.
#[must_use]
pub fn match_serials(before: &LoadedSnapshot, after: &LoadedSnapshot) -> Vec<u32> {
    let mut known: HashMap<u64, u32> = HashMap::new();
    for (object, &serial) in (0..).zip(&before.serials).filter(|(_, serial)| **serial != 0) {
        known.entry(serial).or_insert(object);
    }
    let mut partners: Vec<u32> = after.serials.iter().map(|serial| known.remove(serial).unwrap_or(NO_OBJECT)).collect();
    partners.resize(after.objects(), NO_OBJECT);
    partners
}

/// Counts the references of paired objects, and those that agree.
#[must_use]
pub fn pairing(before: &LoadedSnapshot, after: &LoadedSnapshot, partner_of_after: &[u32]) -> Pairing {
    let mut pairing = Pairing { before: before.objects() as u64, after: after.objects() as u64, ..Pairing::default() };
    for (new, &old) in partner_of_after.iter().enumerate().filter(|(_, old)| **old != NO_OBJECT) {
        let old = old as usize;
        pairing.pairs += 1;
        if before.continued(old).is_empty() && after.continued(new).is_empty() {
            // Nearly always: slices are several times as fast.
            let (old, new) = (before.targets(old), after.targets(new));
            pairing.references += old.len().max(new.len()) as u64;
            let agreeing = old.iter().zip(new).map(|(&old, &new)| u64::from(partner_of_after[new as usize] == old));
            pairing.agreeing += agreeing.sum::<u64>();
            continue;
        }
        pairing.references += before.references_of(old).max(after.references_of(new)) as u64;
        let both = before.all_targets(old).zip(after.all_targets(new));
        pairing.agreeing += both.filter(|&(old, new)| partner_of_after[new as usize] == old).count() as u64;
    }
    pairing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sentences_with_possible_numbers_are_read() {
        let pairing = Pairing { before: 9, after: 12, pairs: 8, references: 30, agreeing: 29 };
        assert_eq!(pairing.sentence(), "8 of 9 and 12 objects, 29 of 30 references agree");
        assert_eq!(Pairing::from_sentence(&pairing.sentence()), Some(pairing));
        for other in [
            "",
            "8 of 9, confidence 0.967",
            "10 of 9 and 12 objects, 29 of 30 references agree",
            "8 of 9 and 12 objects, 31 of 30 references agree",
            "8 of 9 and 12 objects, 29 of 99999999999999999999 references agree",
            "8 of 9 and 12 objects; 29 of 30 references agree",
        ] {
            assert_eq!(Pairing::from_sentence(other), None, "{other}");
        }
    }
}
