//! Referrers and fields that the objects of a set have in common.
//!
//! ```text
//!   cache ──entries──▶ a, b, c, d       of a, b, c, d: all by Cache.entries, 2 by Node.next
//!   node ──next──▶ a
//!   node ──next──▶ b
//! ```
//!
//! [`crate::Dominators::common_holders`] has their common dominators, and [`Heap::groups`] the values that they share.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use barrow_format::rows::{Encoding, Label};
use barrow_format::{ObjectId, StringId, TypeId};
use foldhash::{HashMap, HashSet};
use parking_lot::Mutex;

use crate::error::Result;
use crate::file::object::outgoing_page;
use crate::graph::object_set::ObjectSet;
use crate::heap::Heap;
use crate::progress::{Progress, check};
use crate::questions::set_references::Direction;

/// The number of fields whose targets are collected at once, with a bit for each object of the snapshot.
const FIELDS_AT_ONCE: usize = 32;
/// The number of references of an object that are read at once: one array may hold those of the whole heap.
const REFERENCES_AT_ONCE: usize = 1 << 16;
/// Bytes per object of the snapshot while referrers are counted.
const COUNTER_BYTES: u64 = size_of::<u32>() as u64;

/// A field of the objects of a type, whose references lead to objects of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldReferrer {
    /// The type of the objects that refer to them.
    pub source: TypeId,
    /// The label of the references. All positions of an array are the same one, position 0.
    pub label: Label,
    /// The number of objects of the set to which such a reference leads.
    pub objects: u64,
}

/// An object that refers to objects of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObjectReferrer {
    /// The object that refers to them.
    pub source: ObjectId,
    /// The number of objects of the set that it refers to.
    pub objects: u64,
}

/// The referrers of the objects of a set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommonReferrers {
    /// Fields, those that lead to most objects first.
    pub fields: Vec<FieldReferrer>,
    /// The number of all such fields.
    pub all_fields: u64,
    /// Objects, those that refer to most objects first.
    pub objects: Vec<ObjectReferrer>,
    /// The number of all such objects.
    pub all_objects: u64,
}

impl Heap {
    /// The fields and the objects that refer to most objects of a set, at most so many of each. Objects to which several
    /// references lead count once. References of every strength count.
    ///
    /// Time: three passes over all references; more if many fields have more references than the first ones have
    /// targets. Memory: 8 bytes for each object of the snapshot.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Section`], [`crate::AnalyzerError::Cancelled`],
    /// [`crate::AnalyzerError::MemoryCeiling`].
    pub fn common_referrers(
        &self,
        set: &ObjectSet,
        [most_fields, most_objects]: [usize; 2],
        progress: &dyn Progress,
    ) -> Result<CommonReferrers> {
        let (fields, all_fields) = self.common_fields_of_referrers(set, most_fields, progress)?;
        let (objects, all_objects) = self.common_objects_of_referrers(set, most_objects, progress)?;
        Ok(CommonReferrers { fields, all_fields, objects, all_objects })
    }

    fn common_fields_of_referrers(
        &self,
        set: &ObjectSet,
        most: usize,
        progress: &dyn Progress,
    ) -> Result<(Vec<FieldReferrer>, u64)> {
        // Those with most references come first, and a field has no more targets than references.
        let by_references = self.references_by_field(set, Direction::Incoming, progress)?;
        self.memory().require(self.object_count().div_ceil(8) * FIELDS_AT_ONCE.min(by_references.len()) as u64)?;
        let mut found: Vec<FieldReferrer> = Vec::new();
        for part in by_references.chunks(FIELDS_AT_ONCE) {
            if found.len() >= most && most > 0 && found[most - 1].objects >= part[0].references {
                break;
            }
            let place: HashMap<(TypeId, Label), usize> =
                part.iter().map(|field| (field.source, field.label)).zip(0..).collect();
            let none = || ObjectSet::new(self.snapshot(), self.object_count());
            let targets = Mutex::new(part.iter().map(|_| none()).collect::<Vec<ObjectSet>>());
            self.visit_references(set, Direction::Incoming, progress, |rows| {
                let mut targets = targets.lock();
                for (row, reference) in rows.iter().flat_map(|row| row.references.iter().map(move |one| (row, one))) {
                    if let Some(&at) = place.get(&(row.type_id, of_any_position(reference.label))) {
                        targets[at].insert(reference.target);
                    }
                }
            })?;
            found.extend(part.iter().zip(targets.into_inner()).map(|(field, targets)| FieldReferrer {
                source: field.source,
                label: field.label,
                objects: targets.len(),
            }));
            found.sort_by_key(|field| (Reverse(field.objects), field.source, field.label));
        }
        found.truncate(most);
        Ok((found, by_references.len() as u64))
    }

    fn common_objects_of_referrers(
        &self,
        set: &ObjectSet,
        most: usize,
        progress: &dyn Progress,
    ) -> Result<(Vec<ObjectReferrer>, u64)> {
        self.memory().require(self.object_count().saturating_mul(COUNTER_BYTES))?;
        let counts = Mutex::new((vec![0_u32; self.object_count() as usize], HashSet::default()));
        self.visit_references(set, Direction::Incoming, progress, |rows| {
            let of_rows = rows.iter().map(|row| {
                let mut targets: Vec<ObjectId> = row.references.iter().map(|reference| reference.target).collect();
                targets.sort_unstable();
                targets.dedup();
                (row.source, targets.len() as u32)
            });
            let of_rows: Vec<(ObjectId, u32)> = of_rows.collect();
            let mut counts = counts.lock();
            let (counts, continued) = &mut *counts;
            for (source, targets) in of_rows {
                let count = &mut counts[source.index()];
                if *count > 0 && targets > 0 {
                    // Its references go on in another block, and may lead to the same objects there.
                    continued.insert(source);
                }
                *count = count.saturating_add(targets);
            }
        })?;
        let (mut counts, continued) = counts.into_inner();
        for source in continued {
            counts[source.index()] = self.targets_in(set, source, progress)?;
        }
        let held = (0_u32..).map(ObjectId).zip(counts).filter(|&(_, objects)| objects > 0);
        let (mut largest, mut all) = (BTreeSet::new(), 0);
        for (source, objects) in held {
            all += 1;
            largest.insert((Reverse(objects), source));
            if largest.len() > most {
                largest.pop_last();
            }
        }
        let row =
            |(Reverse(objects), source): (Reverse<u32>, ObjectId)| ObjectReferrer { source, objects: objects.into() };
        Ok((largest.into_iter().map(row).collect(), all))
    }

    /// The number of objects of a set that an object refers to.
    fn targets_in(&self, set: &ObjectSet, source: ObjectId, progress: &dyn Progress) -> Result<u32> {
        let (mut targets, mut from) = (ObjectSet::new(self.snapshot(), self.object_count()), 0);
        loop {
            check(progress)?;
            let (page, total) = outgoing_page(self.recording(), self.snapshot(), source, from, REFERENCES_AT_ONCE)?;
            let own = page.iter().filter(|one| set.contains(one.target) && self.has_reference(source, one));
            own.for_each(|reference| _ = targets.insert(reference.target));
            from += page.len() as u64;
            if page.is_empty() || from >= total {
                return Ok(targets.len() as u32);
            }
        }
    }

    /// The names of the fields that at least `least` objects of a set may have, in order of name: those that their
    /// types declare, or else those of their references.
    ///
    /// Time: a pass over the types of the objects; over their references if no type declares any.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Section`], [`crate::AnalyzerError::Cancelled`].
    pub fn common_fields(&self, set: &ObjectSet, least: u64, progress: &dyn Progress) -> Result<Vec<&str>> {
        let (tables, fields) = (self.recording().tables()?, self.recording().fields()?);
        let mut objects_with: HashMap<&str, u64> = HashMap::default();
        for totals in self.type_totals_of(set, progress)? {
            let declared = tables.type_and_bases(totals.type_id).flat_map(|id| fields.declared_by(id));
            let names = declared.filter_map(|&id| fields.get(id)).map(|field| tables.string(field.name));
            for name in names.collect::<HashSet<&str>>() {
                *objects_with.entry(name).or_default() += totals.objects;
            }
        }
        if !fields.all().any(|(_, field)| field.encoding == Encoding::Reference) {
            let labels: Mutex<HashMap<StringId, u64>> = Mutex::default();
            self.visit_references(set, Direction::Outgoing, progress, |rows| {
                let mut labels = labels.lock();
                for row in rows {
                    let names = row.references.iter().filter_map(|reference| match reference.label {
                        Label::Name(name) => Some(name),
                        _ => None,
                    });
                    for name in names.collect::<HashSet<StringId>>() {
                        *labels.entry(name).or_default() += 1;
                    }
                }
            })?;
            for (name, objects) in labels.into_inner() {
                *objects_with.entry(tables.string(name)).or_default() += objects;
            }
        }
        tables.check_strings()?;
        let mut names: Vec<&str> =
            objects_with.into_iter().filter(|&(_, objects)| objects >= least).map(|(name, _)| name).collect();
        names.sort_unstable();
        Ok(names)
    }
}

/// The label of all positions of an array.
fn of_any_position(label: Label) -> Label {
    if let Label::Index(_) = label { Label::Index(0) } else { label }
}
