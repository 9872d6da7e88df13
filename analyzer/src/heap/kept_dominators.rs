//! Dominators and retained sizes of a heap: computed, or read from its index file.

use std::sync::Arc;

use barrow_format::StringId;
use bytemuck::Pod;

use super::retained_by_group::SiteTables;
use super::{Heap, Keeps, below, column};
use crate::columns::index_file::{ColumnId, ColumnValues, MakeValues};
use crate::columns::lookup::Lookup;
use crate::error::{AnalyzerError, Result};
use crate::graph::adjacency::Adjacency;
use crate::graph::dominators::{Canopy, DominatorColumns, Dominators, Largest, resident_bytes};
use crate::graph::reachable::reachable;
use crate::graph::roots::Roots;
use crate::progress::{Progress, Quiet};
use crate::questions::leaks::{self, LEAK_THRESHOLD, Suspect};

/// The time at which a kept column is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CheckTime {
    Whole,
    WhenRead,
}

impl Heap {
    /// Dominators and retained sizes.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`], [`AnalyzerError::Cancelled`], [`AnalyzerError::MemoryCeiling`].
    pub fn dominators(&self, progress: &dyn Progress) -> Result<&Dominators> {
        if let Some(dominators) = self.dominators_in_memory() {
            return Ok(dominators);
        }
        if let Some(kept) = self.kept_dominators(CheckTime::Whole)? {
            return Ok(self.dominators.store(Arc::new(kept)));
        }
        let dominators = self.dominators.store(Arc::new(self.dominators_anew(progress)?));
        match (&self.index, &self.answers) {
            _ if self.keeps == Keeps::Never => {}
            (Some(_), _) if self.can_keep_later() => self.owe_index(dominators),
            (Some(_), _) => self.keep_dominators(dominators, progress)?,
            (None, Some(_)) => self.keep_answers_of(dominators, progress)?,
            (None, None) => {}
        }
        Ok(dominators)
    }

    /// Dominators that are in memory already. From then on they stay there.
    fn dominators_in_memory(&self) -> Option<&Dominators> {
        let known = self.dominators.get_or_find(|| self.owed_dominators());
        known.map(|dominators| &**dominators)
    }

    /// Dominators, computed even if they are known.
    fn dominators_anew(&self, progress: &dyn Progress) -> Result<Dominators> {
        self.memory.require(resident_bytes(self.objects))?;
        self.find_dominators(self.take_adjacency(progress)?, self.roots()?, progress)
    }

    /// Keeps only the answers to the most common questions, for a heap with an exclusion.
    fn keep_answers_of(&self, dominators: &Dominators, progress: &dyn Progress) -> Result<()> {
        let types = self.types(progress)?;
        let largest = Largest::of(dominators);
        let canopy = Canopy::of(dominators, &largest).to_column();
        let suspects = leaks::suspects(dominators, types, self.recording.tables()?, LEAK_THRESHOLD, progress)?;
        let (largest, suspects) = (largest.to_column(), leaks::to_column(&suspects));
        let type_tables = self.type_tables(dominators, types, progress)?;
        let mut columns = vec![
            (column::LARGEST, ColumnValues::of(&largest)),
            (column::CANOPY, ColumnValues::of(&canopy)),
            (column::LEAK_SUSPECTS, ColumnValues::of(&suspects)),
        ];
        columns.extend(type_tables.columns());
        self.keep_besides(&columns, progress)
    }

    /// The dominators of the objects that `roots` reach over `adjacency`.
    ///
    /// # Errors
    /// As for [`Heap::dominators`].
    pub(crate) fn find_dominators(
        &self,
        adjacency: Adjacency,
        roots: &Roots,
        progress: &dyn Progress,
    ) -> Result<Dominators> {
        let mut live = Vec::new();
        if !adjacency.ephemerons().is_empty() {
            let seen = reachable(self.snapshot, &adjacency, &roots.targets(), None, progress)?;
            live = adjacency.ephemerons().live_in(&seen);
        }
        Dominators::find(&self.recording, self.snapshot, adjacency, roots, &live, self.run(progress))
    }

    /// Keeps dominators, and the answers to the most common questions, which then need not read the dominators.
    pub(super) fn keep_dominators(&self, dominators: &Dominators, progress: &dyn Progress) -> Result<()> {
        let known_types = self.known_types()?;
        let types = match known_types {
            Some(types) => types,
            None => {
                let types = self.read_types(progress)?;
                self.types.store(types.into())
            }
        };
        let largest = Largest::of(dominators);
        let canopy = Canopy::of(dominators, &largest).to_column();
        let tables = self.recording.tables()?;
        // Each of these visits the tree with one thread. The first tells how far it is, for all of them.
        let (type_tables, (site_tables, suspects)) = rayon::join(
            || self.type_tables(dominators, types, progress),
            || {
                rayon::join(
                    || self.site_tables(dominators, &Quiet(progress)),
                    || leaks::suspects(dominators, types, tables, LEAK_THRESHOLD, &Quiet(progress)),
                )
            },
        );
        let (type_tables, suspects) = (type_tables?, leaks::to_column(&suspects?));
        // Damaged site tables must not prevent other answers.
        let site_tables = match site_tables {
            Err(AnalyzerError::Section { .. }) => None,
            found => Some(found?),
        };
        let root_groups = self.root_groups_of(types)?;
        let kept = dominators.columns();
        let mut columns = vec![
            (column::POSITION, ColumnValues::of(kept.position)),
            (column::GROUP_POSITION, ColumnValues::of(kept.group_position)),
            (column::VERTEX, ColumnValues::of(kept.vertex)),
            (column::EXTENT, ColumnValues::of(kept.extent)),
            (column::IDOM, ColumnValues::of(kept.idom)),
            (column::BEFORE, ColumnValues::of(kept.before)),
            (column::EPHEMERONS, ColumnValues::of(std::slice::from_ref(&kept.live_ephemerons))),
        ];
        let reachable = self.reachable_in(dominators);
        let largest = largest.to_column();
        columns.extend([
            (column::LARGEST, ColumnValues::of(&largest)),
            (column::CANOPY, ColumnValues::of(&canopy)),
            (column::LEAK_SUSPECTS, ColumnValues::of(&suspects)),
            (column::ROOT_GROUPS, ColumnValues::of(&root_groups)),
            (column::REACHABLE, ColumnValues::of(reachable.words())),
        ]);
        let bytes = self.objects * size_of::<u32>() as u64;
        let has_unmanaged = self.recording.commit(self.snapshot)?.totals.unmanaged_bytes > 0;
        let shallow: &MakeValues<'_> = &|out| {
            // Unmanaged sizes that contradict the totals make a block unknown.
            self.each_size(
                |columns| (has_unmanaged || columns.unmanaged_bytes.is_empty()).then_some(&columns.shallow_bytes),
                progress,
                out,
            )
        };
        let unmanaged: &MakeValues<'_> = &|out| self.each_size(|columns| Some(&columns.unmanaged_bytes), progress, out);
        let retained: &MakeValues<'_> = &|out| self.each_retained(dominators, progress, out);
        columns.push((column::SHALLOW, ColumnValues::Streamed(bytes, shallow)));
        if has_unmanaged {
            columns.push((column::UNMANAGED, ColumnValues::Streamed(bytes, unmanaged)));
        }
        columns.push((column::RETAINED, ColumnValues::Streamed(bytes, retained)));
        columns.extend(type_tables.columns());
        columns.extend(site_tables.iter().flat_map(SiteTables::columns));
        if known_types.is_none() {
            columns.push((column::TYPE, ColumnValues::of(types)));
        }
        self.keep(&columns, progress)
    }

    /// Answers a question about a few objects of the dominators. Only the values of kept columns that the question
    /// reads are checked. If some of these are damaged, the dominators are computed and the question is asked again.
    ///
    /// # Errors
    /// As for [`Heap::dominators`], and those of `question`.
    pub fn ask_dominators<T, E: From<AnalyzerError>>(
        &self,
        progress: &dyn Progress,
        mut question: impl FnMut(&Dominators) -> Result<T, E>,
    ) -> Result<T, E> {
        match self.ask_known_dominators(&mut question)? {
            Some(answer) => Ok(answer),
            None => question(self.dominators(progress)?),
        }
    }

    /// As [`Heap::ask_dominators`], but `None` if the dominators would have to be computed.
    pub(crate) fn ask_known_dominators<T, E: From<AnalyzerError>>(
        &self,
        mut question: impl FnMut(&Dominators) -> Result<T, E>,
    ) -> Result<Option<T>, E> {
        if let Some(dominators) = self.dominators_in_memory() {
            return question(dominators).map(Some);
        }
        let Some(kept) = self.kept_dominators(CheckTime::WhenRead)? else { return Ok(None) };
        let answer = question(&kept);
        if kept.are_damaged() { Ok(None) } else { answer.map(Some) }
    }

    pub(super) fn kept_dominators(&self, checked: CheckTime) -> Result<Option<Dominators>> {
        let Some(index) = &self.index else { return Ok(None) };
        let roots = self.roots()?;
        let vertices = self.objects + roots.categories().len() as u64;
        let Some(count) = index.length::<u32>(self.snapshot, column::VERTEX) else { return Ok(None) };
        // These columns are kept together with the tree and used as often. If one is missing because it was damaged,
        // all are computed again.
        if ![column::TYPE, column::SHALLOW, column::RETAINED]
            .iter()
            .all(|&column| index.length::<u32>(self.snapshot, column).is_some())
        {
            return Ok(None);
        }
        let by_group =
            index.column(self.snapshot, column::GROUP_POSITION, |_, piece: &[u32]| below(piece, count as u64));
        let ephemerons = self.kept_numbers(column::EPHEMERONS);
        let columns = (
            self.kept(column::POSITION, checked, 0, move |_, piece| below(piece, count as u64)),
            // Position 0 is the top, which has no vertex.
            self.kept(column::VERTEX, checked, 0, move |first, piece| {
                below(&piece[usize::from(first == 0)..], vertices)
            }),
            self.kept(column::EXTENT, checked, 1, move |first, piece| are_extents(piece, first, count)),
            self.kept(column::IDOM, checked, 0, move |first, piece| are_idoms(piece, first)),
            self.kept(column::BEFORE, checked, 0, |_, _| true),
        );
        let (Some(by_group), Some(ephemerons)) = (by_group, ephemerons) else { return Ok(None) };
        let (Some(position), Some(vertex), Some(extent), Some(idom), Some(before)) = columns else { return Ok(None) };
        let live_ephemerons = ephemerons.first().copied().unwrap_or(0);
        let group_position = by_group.to_vec();
        let columns = DominatorColumns { position, group_position, vertex, extent, idom, before, live_ephemerons };
        Ok(Dominators::of_columns(self.objects, count, roots, columns))
    }

    /// A column of the index file. Damaged values read as `harmless`.
    pub(super) fn kept<T: Pod + Send + Sync>(
        &self,
        column: ColumnId,
        checked: CheckTime,
        harmless: T,
        is_valid: impl Fn(usize, &[T]) -> bool + Send + Sync + 'static,
    ) -> Option<Lookup<T>> {
        let index = self.index.as_ref()?;
        match checked {
            CheckTime::Whole => index.column(self.snapshot, column, is_valid).map(Lookup::Whole),
            CheckTime::WhenRead => {
                let column = index.sparse_column(self.snapshot, column, is_valid)?;
                Some(Lookup::sparse(column, harmless))
            }
        }
    }

    /// The objects with the largest retained sizes, up to the number that the index file keeps. If it has them, the
    /// dominators are not read.
    ///
    /// # Errors
    /// As for [`Heap::dominators`].
    pub fn largest(&self, progress: &dyn Progress) -> Result<&Largest> {
        self.largest.get_or_compute(|| {
            let kept = self.kept_numbers(column::LARGEST);
            let kept = kept.and_then(|kept| Largest::from_column(&kept, self.objects));
            kept.map_or_else(|| self.find_largest(progress), Ok)
        })
    }

    /// The same, from dominators. If these are computed now, they are dropped when they are in the index file, which
    /// leaves their memory to the next question.
    fn find_largest(&self, progress: &dyn Progress) -> Result<Largest> {
        let is_known = self.dominators_in_memory().is_some() || self.kept_dominators(CheckTime::WhenRead)?.is_some();
        if is_known || self.index.is_none() || self.keeps == Keeps::Never {
            return Ok(Largest::of(self.dominators(progress)?));
        }
        let found = Arc::new(self.dominators_anew(progress)?);
        let largest = Largest::of(&found);
        self.owe_index(&found);
        drop(found);
        if !self.can_keep_later() {
            self.keep_index(progress)?;
        }
        Ok(largest)
    }

    /// The upper part of the dominator tree, if the index file has it.
    ///
    /// # Errors
    /// As for [`Heap::roots`].
    pub fn kept_canopy(&self) -> Result<Option<Canopy>> {
        let Some(kept) = self.kept_numbers(column::CANOPY) else { return Ok(None) };
        let groups: Vec<StringId> = self.roots()?.categories().iter().map(|group| group.name).collect();
        Ok(Canopy::from_column(&kept, self.objects, &groups))
    }

    /// The objects and types in which at least `threshold` of all reachable bytes accumulates, the most suspicious ones
    /// first.
    ///
    /// # Errors
    /// As for [`Heap::dominators`].
    pub fn leak_suspects(&self, threshold: f64, progress: &dyn Progress) -> Result<Vec<Suspect>> {
        if threshold == LEAK_THRESHOLD
            && let Some(kept) = self.kept_leak_suspects()?
        {
            return Ok(kept);
        }
        let tables = self.recording.tables()?;
        leaks::suspects(self.dominators(progress)?, self.types(progress)?, tables, threshold, progress)
    }

    /// The retained sizes of threads, as written by [`Heap::keep_threads`].
    pub(crate) fn kept_threads(&self) -> Option<Vec<u64>> {
        self.kept_numbers(column::RETAINED_BY_THREAD)
    }

    /// Keeps the retained sizes of threads.
    ///
    /// # Errors
    /// As for [`Heap::dominators`].
    pub(crate) fn keep_threads(&self, retained: &[u64], progress: &dyn Progress) -> Result<()> {
        self.keep_numbers(column::RETAINED_BY_THREAD, retained, progress)
    }

    /// The suspects at [`LEAK_THRESHOLD`], if the index file has them.
    fn kept_leak_suspects(&self) -> Result<Option<Vec<Suspect>>> {
        let Some(kept) = self.kept_numbers(column::LEAK_SUSPECTS) else { return Ok(None) };
        Ok(leaks::from_column(&kept, self.objects, self.recording.tables()?.type_count() as u64))
    }
}

/// Returns whether the subtrees at the positions from `first` on have these extents and end within a tree of `count`
/// positions.
fn are_extents(piece: &[u32], first: usize, count: usize) -> bool {
    // Branch-free, because nearly always all of them are valid.
    !piece
        .iter()
        .enumerate()
        .fold(false, |found, (at, &extent)| found | (extent == 0 || first + at + extent as usize > count))
}

/// Returns whether the immediate dominators of the positions from `first` on precede them.
fn are_idoms(piece: &[u32], first: usize) -> bool {
    !piece.iter().enumerate().fold(false, |found, (at, &idom)| found | (idom as usize >= (first + at).max(1)))
}
