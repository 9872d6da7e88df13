//! Matching: which objects of a snapshot are which of the one before, where no serial says so.
//!
//! ```text
//!   before   root ──▶ Registry ─"cards"─▶ List ─[0]─▶ Card      both are walked together, breadth first:
//!   after    root ──▶ Registry ─"cards"─▶ List ─[0]─▶ Card      what references of one name lead to is one object
//! ```
//!
//! Two objects are taken for one if they have one type, one site and one name, and the references that led there
//! have one label. Each object is taken once, and the first way to it decides. Walking costs time and memory in
//! proportion to objects and references: 8 bytes an object beside the snapshots.
//!
//! A pair may be wrong where a container was rearranged. How far the pairs can be trusted is counted
//! afterwards: of the references of paired objects, those that lead to a pair again.

use std::collections::HashMap;

use barrow_format::ObjectId;
use barrow_format::rows::Root;

use crate::error::Result;
use crate::progress::{Progress, check};
use crate::tables::Tables;
use crate::whole::Whole;

/// In a list of partners: none.
pub(crate) const NOBODY: u32 = u32::MAX;

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
    let mut walk = Walk {
        before: before.whole,
        after: after.whole,
        tables,
        partner_of_after: vec![NOBODY; after.whole.objects()],
        is_taken: vec![false; before.whole.objects()],
        queue: Vec::new(),
        labels: HashMap::new(),
        seen: HashMap::new(),
    };
    progress.begin("matching", after.whole.objects() as u64, "objects");
    walk.pair_roots(before.roots, after.roots);
    walk.run(progress)?;
    Ok(walk.partner_of_after)
}

struct Walk<'a> {
    before: &'a Whole,
    after: &'a Whole,
    tables: &'a Tables,
    partner_of_after: Vec<u32>,
    is_taken: Vec<bool>,
    /// Objects of `after` that have partners, in the order they were found.
    queue: Vec<u32>,
    /// Targets of the older object at hand, by label and how often it was met before.
    labels: HashMap<(u64, u32), u32>,
    /// How often each label was met.
    seen: HashMap<u64, u32>,
}

impl Walk<'_> {
    /// Roots of one category and name are paired in their order.
    fn pair_roots(&mut self, before: &[Root], after: &[Root]) {
        let mut by_name: HashMap<_, std::collections::VecDeque<ObjectId>> = HashMap::new();
        for root in before {
            by_name.entry((root.category, root.label)).or_default().push_back(root.target);
        }
        for root in after {
            if let Some(target) = by_name.get_mut(&(root.category, root.label)).and_then(|roots| roots.pop_front()) {
                self.pair(target.0, root.target.0);
            }
        }
    }

    fn run(&mut self, progress: &dyn Progress) -> Result<()> {
        let mut next = 0;
        while let Some(&after) = self.queue.get(next) {
            if next.is_multiple_of(1 << 16) {
                check(progress)?;
                progress.advance(1 << 16);
            }
            self.pair_targets(self.partner_of_after[after as usize] as usize, after as usize);
            next += 1;
        }
        Ok(())
    }

    /// Takes two objects for one, unless something speaks against it.
    fn pair(&mut self, before: u32, after: u32) {
        let (old, new) = (before as usize, after as usize);
        if self.partner_of_after[new] != NOBODY || self.is_taken[old] || !self.may_be_one(old, new) {
            return;
        }
        self.partner_of_after[new] = before;
        self.is_taken[old] = true;
        self.queue.push(after);
    }

    fn may_be_one(&self, old: usize, new: usize) -> bool {
        let (before, after) = (self.before.own(old), self.after.own(new));
        let is_one_type =
            before.0 == after.0 || self.before.type_of(old, self.tables) == self.after.type_of(new, self.tables);
        is_one_type && before.3 == after.3 && before.4 == after.4
    }

    fn pair_targets(&mut self, old: usize, new: usize) {
        let (before, after) = (self.before, self.after);
        let (old_targets, new_targets) = (before.targets(old), after.targets(new));
        let is_one_shape = before.shapes[old] == after.shapes[new];
        let is_fixed = is_one_shape && before.has_fixed_labels(old, self.tables);
        if is_fixed || is_one_shape && before.labels(old) == after.labels(new) {
            for (&old, &new) in old_targets.iter().zip(new_targets) {
                self.pair(old, new);
            }
        } else {
            self.pair_by_label(old, new);
        }
        for (old, new) in before.continued(old).iter().zip(after.continued(new)) {
            if (old.shape, old.start_index) == (new.shape, new.start_index) && old.labels == new.labels {
                for (&old, &new) in old.targets.iter().zip(&new.targets) {
                    self.pair(old, new);
                }
            }
        }
    }

    /// Pairs the targets of references by their labels: of those with one label, the first with the first.
    fn pair_by_label(&mut self, old: usize, new: usize) {
        let mut labels = std::mem::take(&mut self.labels);
        let mut seen = std::mem::take(&mut self.seen);
        labels.clear();
        seen.clear();
        for (position, &target) in self.before.targets(old).iter().enumerate() {
            let label = self.before.label(old, position, self.tables).0;
            labels.insert((label, count(&mut seen, label)), target);
        }
        seen.clear();
        for (position, &target) in self.after.targets(new).iter().enumerate() {
            let label = self.after.label(new, position, self.tables).0;
            if let Some(&before) = labels.get(&(label, count(&mut seen, label))) {
                self.pair(before, target);
            }
        }
        (self.labels, self.seen) = (labels, seen);
    }
}

/// How often the label was met before; once more from now on.
fn count(seen: &mut HashMap<u64, u32>, label: u64) -> u32 {
    let times = seen.entry(label).or_default();
    *times += 1;
    *times - 1
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
    let mut pairing =
        Pairing { before: before.objects() as u64, after: after.objects() as u64, ..Pairing::default() };
    for (new, &old) in partner_of_after.iter().enumerate().filter(|(_, old)| **old != NOBODY) {
        pairing.pairs += 1;
        let (old_targets, new_targets) = (before.targets(old as usize), after.targets(new));
        pairing.references += old_targets.len().max(new_targets.len()) as u64;
        let both = old_targets.iter().zip(new_targets);
        pairing.agreeing += both.filter(|&(&old, &new)| partner_of_after[new as usize] == old).count() as u64;
    }
    pairing
}
