//! Steps of paths of types: objects below one step of the dominator tree, grouped by type.
//!
//! ```text
//!   places of a step       Map ─┬─ Entry ── Entry ── Entry      Entry × 3 is one step: an object directly below one of
//!                               └─ String                       its own type belongs to the same step
//! ```

mod kinds;
mod parts;
mod table;
mod walk;

use barrow_format::{StringId, TypeId};
use rayon::prelude::*;

use crate::error::Result;
use crate::file::tables::Tables;
use crate::file::type_identity::TypeIdentity;
use crate::graph::dominators::{Dominators, TreePlace};
use crate::heap::Heap;
use crate::progress::Progress;

pub(crate) use self::table::StepSums;

use self::kinds::Kinds;
use self::table::{TOP, Table};
use self::walk::{Limits, Walk};

/// The least number of positions that one thread visits at a time: a part takes a millisecond, and each has a table of
/// its own, so fewer would cost more than they save.
const LEAST_PART: u32 = if cfg!(test) { 3 } else { 1 << 16 };
/// Levels that are counted at a time. A list of two types in turn has a level for each object, and each part begins with
/// all steps above it.
const MOST_LEVELS: u32 = if cfg!(test) { 3 } else { 256 };
/// Parts for each thread, so that threads end at the same time.
const PARTS_OF_THREAD: u32 = 4;

/// A step of a path of types, by its numbers in the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypeStep {
    /// All reachable objects.
    Everything,
    /// The roots of the category of this name.
    Roots(StringId),
    /// Objects of a type: the first of all types with its identity.
    Type(TypeId),
    /// Objects of a type that represent the class or module of this name.
    Class(TypeId, StringId),
}

impl TypeStep {
    /// The display form.
    #[must_use]
    pub fn title(self, tables: &Tables) -> String {
        match self {
            TypeStep::Everything => "everything".to_owned(),
            TypeStep::Roots(name) => format!("[{}]", tables.string(name)),
            TypeStep::Type(id) => TypeIdentity::of(tables, id).title(),
            TypeStep::Class(id, name) => TypeIdentity::of_class(tables, id, tables.string(name)).title(),
        }
    }

    /// The type of its objects.
    #[must_use]
    pub fn type_id(self) -> Option<TypeId> {
        match self {
            TypeStep::Everything | TypeStep::Roots(_) => None,
            TypeStep::Type(id) | TypeStep::Class(id, _) => Some(id),
        }
    }
}

/// The steps below a place of one dominator tree. A step is counted when it is asked for what is below it, together with
/// the steps further down that retain much.
pub(crate) struct Steps<'s> {
    tables: &'s Tables,
    dominators: &'s Dominators,
    kinds: Kinds<'s>,
    table: Table,
    limits: Limits,
    progress: &'s dyn Progress,
}

impl<'s> Steps<'s> {
    /// The step of one place, see [`Steps::TOP`].
    ///
    /// # Errors
    /// As for [`Heap::types`].
    pub(crate) fn of(
        heap: &'s Heap,
        dominators: &'s Dominators,
        place: TreePlace,
        progress: &'s dyn Progress,
    ) -> Result<Self> {
        let kinds = Kinds::of(heap, dominators, progress)?;
        let mut table = Table::new(kinds.at(dominators, place.position()), 0);
        let (objects, bytes) = (dominators.count_at(place), dominators.bytes_at(place));
        table.steps[TOP as usize].sums.add(StepSums::one(place.position(), objects, bytes));
        table.wait(TOP, place.position());
        let limits = Limits { least_open: u64::MAX, deepest: u32::MAX, closed_from: u32::MAX };
        Ok(Steps { tables: heap.recording().tables()?, dominators, kinds, table, limits, progress })
    }

    /// The step of the place.
    pub(crate) const TOP: u32 = TOP;

    /// Asking for what is below a step also counts the `levels` levels below `top`, as far as steps retain `least_open`
    /// bytes. What is further down cannot be asked for. Without this, one level is counted at a time.
    pub(crate) fn open(&mut self, top: u32, levels: u32, least_open: u64) {
        let deepest = self.table.steps[top as usize].depth.saturating_add(levels);
        self.limits = Limits { least_open, deepest, ..self.limits };
    }

    /// What the topmost objects of a step add up to.
    pub(crate) fn sums(&self, step: u32) -> &StepSums {
        &self.table.steps[step as usize].sums
    }

    /// The step of a number.
    pub(crate) fn step(&self, step: u32) -> TypeStep {
        self.kinds.step(self.table.steps[step as usize].kind)
    }

    /// The number of objects of a step, including those directly below others of the same type and name; and the steps
    /// below it: root categories by name, then types as they come in the tree, then classes by type and name.
    ///
    /// Time: linear in the positions below the step that were not visited before, in parallel; those of small steps are
    /// passed over. Memory: at most 80 bytes for each step, and 8 bytes for each object that was passed over and dominates
    /// others.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Cancelled`].
    pub(crate) fn below(&mut self, step: u32) -> Result<(u64, Vec<u32>)> {
        self.count(step)?;
        let steps = &self.table.steps;
        let mut children: Vec<u32> = self.table.children(step).collect();
        children.sort_unstable_by_key(|&child| {
            let record = &steps[child as usize];
            self.kinds.rank(record.kind, record.sums.first())
        });
        Ok((steps[step as usize].objects.into(), children))
    }

    /// Counts what is below the places of a step that wait.
    fn count(&mut self, step: u32) -> Result<()> {
        let Steps { dominators, ref kinds, ref mut table, mut limits, progress, .. } = *self;
        limits.closed_from = table.steps[step as usize].depth.saturating_add(MOST_LEVELS);
        let walk = Walk { dominators, kinds, limits, progress };
        let most = 2 * LEAST_PART;
        let size = table.waiting_of(step).try_fold(0u32, |size, place| {
            let size = size.saturating_add(dominators.subtree(place).len() as u32);
            if size > most { None } else { Some(size) }
        });
        if size.is_some() {
            return walk.waiting_of(step, table);
        }
        let mut places = Vec::new();
        while let Some(place) = table.take_waiting(step) {
            places.push(place);
        }
        places.sort_unstable();
        let size = places.iter().fold(0u32, |size, &place| size.saturating_add(dominators.subtree(place).len() as u32));
        let part = size.div_ceil(PARTS_OF_THREAD * rayon::current_num_threads() as u32).max(LEAST_PART);
        let (kind, depth) = (table.steps[step as usize].kind, table.steps[step as usize].depth);
        let parts = parts::parts(dominators, kinds, &places, kind, part);
        let counted = parts.par_iter().map(|part| walk.part(part, kind, depth)).collect::<Result<Vec<_>>>()?;
        table.steps[step as usize].objects += places.len() as u32;
        for part in counted {
            table.append(step, part);
        }
        Ok(())
    }

    /// The one of some steps that a word names: a title, or a title with `#` and its rank by retained bytes.
    pub(crate) fn named(&self, mut steps: Vec<u32>, word: &str) -> Option<u32> {
        steps.sort_by_key(|&step| std::cmp::Reverse(self.sums(step).retained.1));
        let place = |title: &str, rank: usize| {
            let mut alike = steps.iter().filter(|&&step| self.step(step).title(self.tables) == title);
            alike.nth(rank).copied()
        };
        let ranked = || {
            let (title, rank) = word.rsplit_once('#')?;
            place(title, rank.parse::<usize>().ok()?.checked_sub(1)?)
        };
        place(word, 0).or_else(ranked)
    }
}
