//! Finds the objects that match an expression.

mod columns;

use std::sync::Arc;

use barrow_format::block::ColumnSelection;
use barrow_format::{KindId, ObjectId};

use crate::error::{AnalyzerError, Result};
use crate::file::blocks::{BlockPlace, in_parallel, places};
use crate::file::object::{ObjectDetails, objects};
use crate::graph::object_set::ObjectSet;
use crate::graph::partial_set::PartialSet;
use crate::heap::last_doubts::KnownDoubts;
use crate::heap::{FlatColumns, Heap, visit_block};
use crate::progress::Progress;
use crate::questions::expression::{BlockObjects, CompiledExpression, Expression, FieldTerm};

use self::columns::{FromTree, HeapColumns};

/// A page of the objects that match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// The first object that may be on the page.
    pub from: ObjectId,
    /// The maximum number of objects.
    pub limit: usize,
}

/// The objects of a [`Page`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundPage {
    /// The objects in order of id.
    pub objects: Vec<ObjectDetails>,
    /// The next matching object after the page; `None` if there is none.
    pub next: Option<ObjectId>,
}

/// The totals of the objects that match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counted {
    /// The number of objects.
    pub objects: u64,
    /// Their shallow sizes, summed, in bytes.
    pub heap_bytes: u64,
    /// Their unmanaged sizes, summed, in bytes.
    pub unmanaged_bytes: u64,
}

/// The objects of which it is not known whether they match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubts {
    /// The objects.
    pub objects: ObjectSet,
    /// Their totals.
    pub counted: Counted,
    /// The attributes and paths that are not known of them, as they are typed, each once.
    pub about: Vec<String>,
}

impl Doubts {
    fn none(heap: &Heap) -> Self {
        let objects = ObjectSet::new(heap.snapshot(), heap.object_count());
        Doubts { objects, counted: Counted::default(), about: Vec::new() }
    }
}

/// An expression with its kinds and all that they mean; `None` if nothing of it can be unknown, or if it has names of sets,
/// which may mean something else the next time.
fn doubted(kinds: &[KindId], expression: &Expression) -> Option<String> {
    let is_lasting = expression.may_be_unknown() && expression.snapshot().is_none();
    is_lasting.then(|| format!("{kinds:?} {expression:?}"))
}

/// The number of blocks in the first batch of a search: a page is often full after one. Each further batch has twice
/// as many, until the page is full.
const FIRST_BLOCKS: usize = 2;

impl Heap {
    /// A page of the objects that match the expression and belong to one of `kinds`, or to any kind if `kinds` is
    /// empty.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`], [`AnalyzerError::Cancelled`], [`AnalyzerError::OtherSnapshot`],
    /// [`AnalyzerError::NoObject`]; [`AnalyzerError::MemoryCeiling`] if the expression needs derived columns.
    pub fn find(
        &self,
        kinds: &[KindId],
        expression: &Expression,
        page: Page,
        progress: &dyn Progress,
    ) -> Result<FoundPage> {
        let mut matching = self.with_search(kinds, expression, progress, |mut search| {
            search.places.retain(|place| place.entry.first_object + place.entry.objects > page.from.0);
            search.begin("searching", progress);
            let mut matching = Vec::new();
            // The first blocks suffice for frequent objects; for rare ones the batches become large enough for all
            // threads.
            let (mut rest, mut size) = (&search.places[..], FIRST_BLOCKS);
            // One object beyond the page shows whether there are more.
            while !rest.is_empty() && matching.len() <= page.limit {
                let (batch, others) = rest.split_at(size.min(rest.len()));
                (rest, size) = (others, 2 * size);
                let ids = search.map(batch, progress, |_, set| {
                    let ids = set.objects().filter(|id| *id >= page.from);
                    ids.take(page.limit.saturating_add(1)).collect::<Vec<_>>()
                })?;
                matching.extend(ids.into_iter().flatten());
            }
            Ok(matching)
        })?;
        let next = matching.get(page.limit).copied();
        matching.truncate(page.limit);
        Ok(FoundPage { objects: objects(self.recording(), self.snapshot(), &matching)?, next })
    }

    /// The totals of the objects that match the expression and belong to one of `kinds`, or to any kind if `kinds` is
    /// empty.
    ///
    /// # Errors
    /// As for [`Heap::find`].
    pub fn count(&self, kinds: &[KindId], expression: &Expression, progress: &dyn Progress) -> Result<Counted> {
        self.select(kinds, expression, progress).map(|(_, counted)| counted)
    }

    /// All objects that match the expression and belong to one of `kinds`, or to any kind if `kinds` is empty; and
    /// their totals.
    ///
    /// # Errors
    /// As for [`Heap::find`].
    pub fn select(
        &self,
        kinds: &[KindId],
        expression: &Expression,
        progress: &dyn Progress,
    ) -> Result<(ObjectSet, Counted)> {
        self.with_search(kinds, expression, progress, |search| {
            search.begin("selecting", progress);
            let (selected, doubts) = search.select_all(expression, progress)?;
            if let Some(of) = doubted(kinds, expression) {
                let Doubts { objects, counted, about } = doubts;
                let totals = [counted.objects, counted.heap_bytes, counted.unmanaged_bytes];
                self.last_doubts.remember(KnownDoubts { of, objects, totals, about });
            }
            Ok(selected)
        })
    }

    /// The objects of which it is not known whether they match the expression. They belong to one of `kinds`, or to any
    /// kind if `kinds` is empty. What an object holds may not have been recorded, or cannot be read, and only the
    /// beginning of a text may be known.
    ///
    /// # Errors
    /// As for [`Heap::find`].
    pub fn doubts(&self, kinds: &[KindId], expression: &Expression, progress: &dyn Progress) -> Result<Doubts> {
        if !expression.may_be_unknown() {
            return Ok(Doubts::none(self));
        }
        if let Some(KnownDoubts { objects, totals, about, .. }) =
            doubted(kinds, expression).and_then(|of| self.last_doubts.about(&of))
        {
            let [count, heap_bytes, unmanaged_bytes] = totals;
            return Ok(Doubts { objects, counted: Counted { objects: count, heap_bytes, unmanaged_bytes }, about });
        }
        self.with_search(kinds, expression, progress, |search| {
            search.begin("looking for what is not known", progress);
            Ok(search.select_all(expression, progress)?.1)
        })
    }

    /// Returns whether the set of matching objects is exact. It is not if the expression uses retained sizes and these
    /// are lower bounds.
    ///
    /// # Errors
    /// As for [`Heap::dominators`].
    pub fn matches_exactly(&self, expression: &Expression, progress: &dyn Progress) -> Result<bool> {
        if !expression.needs().retained {
            return Ok(true);
        }
        self.ask_dominators(progress, |dominators| Ok(dominators.is_exact()))
    }

    /// Calls `question` with a search for the matching objects. Retained sizes in an index file are read only for the
    /// objects visited.
    fn with_search<T>(
        &self,
        kinds: &[KindId],
        expression: &Expression,
        progress: &dyn Progress,
        mut question: impl FnMut(Search) -> Result<T>,
    ) -> Result<T> {
        let (snapshot, count) = (self.snapshot(), self.object_count());
        if let Some(named) = expression.snapshot().filter(|&named| named != snapshot) {
            return Err(AnalyzerError::OtherSnapshot { named, asked: snapshot });
        }
        if let Some(object) = expression.objects().find(|object| u64::from(object.0) >= count) {
            return Err(AnalyzerError::NoObject { object, snapshot, count });
        }
        if expression.asks_for_unmanaged() && !self.recording().has_unmanaged_sizes()? {
            return Err(AnalyzerError::NoUnmanagedSizes);
        }
        let needs = expression.needs();
        if !needs.retained {
            // The dominator tree, if it exists already, knows the reachable objects.
            if needs.reachable && !needs.distance {
                if let Some(reachable) = self.flat_reachable() {
                    let tree = FromTree::Reachable(&reachable);
                    return self.with_tree(tree, kinds, expression, progress, &mut question);
                }
                let found = self.ask_known_dominators(|dominators| {
                    let tree = FromTree::All(dominators, None, None);
                    self.with_tree(tree, kinds, expression, progress, &mut question)
                })?;
                if let Some(answer) = found {
                    return Ok(answer);
                }
            }
            return self.with_tree(FromTree::Nothing, kinds, expression, progress, &mut question);
        }
        let least = expression.least_retained();
        if least > 0
            && let Some(largest) = self.largest(progress)?.at_least(least)
        {
            return self.with_tree(FromTree::Largest(&largest), kinds, expression, progress, &mut question);
        }
        let (flat, reachable) = (self.flat_retained(), if needs.reachable { self.flat_reachable() } else { None });
        self.ask_dominators(progress, |dominators| {
            let tree = FromTree::All(dominators, flat.as_ref(), reachable.as_ref());
            self.with_tree(tree, kinds, expression, progress, &mut question)
        })
    }

    /// The objects that can match an expression, judging by their types. `None` are all, or if that would save nothing: only
    /// keys are looked up object by object.
    fn possible(
        &self,
        kinds: &[KindId],
        expression: &Expression,
        progress: &dyn Progress,
    ) -> Result<Option<ObjectSet>> {
        let has_keys = |term: &Arc<FieldTerm>| matches!(&**term, FieldTerm::Field(path, _) if path.has_keys());
        if !expression.field_terms().into_iter().any(has_keys) {
            return Ok(None);
        }
        let types = expression.possible_types(self.recording(), kinds)?;
        if types.iter().all(|&is_possible| is_possible) {
            return Ok(None);
        }
        self.objects_of_types(None, |id| types[id.index()], progress).map(Some)
    }

    /// Calls `question` with a search that takes retained sizes and reachability from `tree`.
    fn with_tree<T>(
        &self,
        tree: FromTree<'_>,
        kinds: &[KindId],
        expression: &Expression,
        progress: &dyn Progress,
        question: &mut impl FnMut(Search) -> Result<T>,
    ) -> Result<T> {
        let possible = self.possible(kinds, expression, progress)?;
        let columns = HeapColumns::of(self, expression, possible.as_ref(), tree, progress)?;
        let answer = question(Search::new(self, kinds, expression, &columns)?)?;
        self.recording().check_strings()?;
        Ok(answer)
    }
}

impl Counted {
    fn of(block: &BlockObjects<'_>, set: &PartialSet) -> Self {
        Counted {
            objects: set.len(),
            heap_bytes: block.shallow_bytes.sum(set),
            unmanaged_bytes: block.unmanaged_bytes.sum(set),
        }
    }

    /// The totals of other objects as well.
    #[must_use]
    pub fn and(self, other: Counted) -> Counted {
        Counted {
            objects: self.objects + other.objects,
            heap_bytes: self.heap_bytes.wrapping_add(other.heap_bytes),
            unmanaged_bytes: self.unmanaged_bytes.wrapping_add(other.unmanaged_bytes),
        }
    }
}

/// A search, prepared for the blocks of a snapshot.
struct Search<'a> {
    heap: &'a Heap,
    prepared: CompiledExpression<'a, HeapColumns<'a>>,
    tree: FromTree<'a>,
    wanted: ColumnSelection,
    /// The columns of the index file that replace blocks, if they suffice.
    flat: Option<FlatColumns>,
    /// The blocks to search, without continuations.
    places: Vec<BlockPlace>,
}

impl<'a> Search<'a> {
    fn new(heap: &'a Heap, kinds: &[KindId], expression: &'a Expression, columns: &'a HeapColumns<'a>) -> Result<Self> {
        let snapshot = heap.snapshot();
        let prepared = expression.prepare(heap.recording(), kinds, columns)?;
        let mut places = places(heap.recording(), &[snapshot])?;
        places.retain(|place| place.entry.objects > 0);
        let tree = columns.tree;
        places.retain(|place| tree.candidates(place).is_none_or(|candidates| !candidates.is_empty()));
        let wanted = expression.wanted();
        let needs_types = expression.needs_types() || !kinds.is_empty();
        let flat = if wanted == ColumnSelection::Sizes { heap.flat_columns(needs_types)? } else { None };
        Ok(Search { heap, prepared, tree, wanted, flat, places })
    }

    fn begin(&self, phase: &str, progress: &dyn Progress) {
        let objects = self.places.iter().map(|place| u64::from(place.entry.objects)).sum();
        progress.begin(phase, objects, "objects");
    }

    /// Calls `visit` with the matching objects of each block.
    fn map<T: Send>(
        &self,
        places: &[BlockPlace],
        progress: &dyn Progress,
        visit: impl Fn(&BlockObjects<'_>, PartialSet) -> T + Sync,
    ) -> Result<Vec<T>> {
        in_parallel(places, self.wanted, progress, |place, workspace| {
            visit_block(self.heap, place, self.wanted, self.flat.as_ref(), workspace, |block| {
                visit(block, self.select(place, block))
            })
        })
    }

    /// The matching objects with their totals, and those of which it is not known whether they match.
    fn select_all(&self, expression: &Expression, progress: &dyn Progress) -> Result<((ObjectSet, Counted), Doubts)> {
        let parts = in_parallel(&self.places, self.wanted, progress, |place, workspace| {
            visit_block(self.heap, place, self.wanted, self.flat.as_ref(), workspace, |block| {
                let unknown = self.prepared.unknown(block, self.candidates(place, block));
                [self.select(place, block), self.that_exist(block, unknown)].map(|set| {
                    let counted = Counted::of(block, &set);
                    (set, counted)
                })
            })
        })?;
        let none = ObjectSet::new(self.heap.snapshot(), self.heap.object_count());
        let mut sums = [(none.clone(), Counted::default()), (none, Counted::default())];
        for part in parts {
            for ((selected, total), (set, counted)) in sums.iter_mut().zip(part) {
                selected.insert_part(&set);
                *total = total.and(counted);
            }
        }
        let [selected, (objects, counted)] = sums;
        let about = self.about(expression, &objects);
        Ok((selected, Doubts { objects, counted, about }))
    }

    /// What is not known of objects of which it is not known whether they match, each once.
    fn about(&self, expression: &Expression, objects: &ObjectSet) -> Vec<String> {
        let mut about = Vec::new();
        let mut rest = objects.clone();
        for (term, tested) in &self.prepared.columns().fields {
            let mut common = tested.unknown.clone();
            common.intersect_with(objects);
            rest.difference_with(&tested.unknown);
            let text = term.to_string();
            if !common.is_empty() && !about.contains(&text) {
                about.push(text);
            }
        }
        if !rest.is_empty() {
            about.extend(expression.own_texts().into_iter().map(str::to_owned));
        }
        about
    }

    fn select(&self, place: &BlockPlace, block: &BlockObjects<'_>) -> PartialSet {
        self.that_exist(block, self.prepared.select(block, self.candidates(place, block)))
    }

    /// The objects of a block that may match.
    fn candidates(&self, place: &BlockPlace, block: &BlockObjects<'_>) -> PartialSet {
        match self.tree.candidates(place) {
            None => block.all(),
            Some(candidates) => {
                let mut within = block.none();
                candidates.iter().for_each(|&(object, _)| within.insert(object));
                within
            }
        }
    }

    /// The objects that are not excluded.
    fn that_exist(&self, block: &BlockObjects<'_>, objects: PartialSet) -> PartialSet {
        match self.heap.exclusion() {
            None => objects,
            Some(_) => objects.filter(|row| self.heap.has(block.object(row))),
        }
    }
}
