//! The references that lead to an object, page by page.

use barrow_format::block::ColumnSelection;
use barrow_format::rows::Label;
use barrow_format::{ObjectId, StrengthId};

use crate::error::{AnalyzerError, Result};
use crate::file::blocks::{BlockPlace, Workspace, decode, pooled};
use crate::file::object::{Cursor, ObjectDetails, Reference, details, run_of_blocks};
use crate::graph::incoming::scan;
use crate::heap::{Heap, QuestionKind};
use crate::progress::Progress;

/// The sources of the references that lead to an object, ascending; a source occurs once for each reference.
#[derive(Debug, Clone)]
pub struct Referrers {
    sources: Vec<u32>,
    target: ObjectId,
}

impl Referrers {
    /// The number of references.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.sources.len() as u64
    }

    /// The position of the first reference from `source` or a later object.
    fn first_from(&self, source: u32) -> usize {
        self.sources.partition_point(|&id| id < source)
    }
}

/// An incoming reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IncomingReference {
    /// The source.
    pub source: ObjectDetails,
    /// The label of the reference.
    pub label: Label,
    /// The strength: whether and how it keeps its target alive.
    pub strength: StrengthId,
}

/// The references to take from one source, of those that lead to the target.
struct SourceRequest {
    source: ObjectId,
    /// The number of references to skip first.
    skip: u64,
    /// The number of references to take.
    take: u64,
}

impl Heap {
    /// The references that lead to an object, without excluded ones. The first call scans all references, and the index
    /// file keeps its answer. The second call builds the incoming references of all objects, so that later calls are
    /// fast, unless the graph is dense.
    ///
    /// # Errors
    /// As for [`Heap::incoming`].
    pub fn referrers(&self, target: ObjectId, progress: &dyn Progress) -> Result<Referrers> {
        let sources = match self.known_sources(target).or_else(|| self.kept_sources(target)) {
            Some(sources) => sources,
            None if !self.is_dense()? && self.asks_again_for_incoming() => self.incoming(progress)?.each_source(target),
            None => {
                let exclusion = self.exclusion().map(|exclusion| &**exclusion);
                let sources = scan(self.recording(), self.snapshot(), target, exclusion, progress)?;
                let (answer, parameters) = (bytemuck::cast_slice(&sources), target.0.to_le_bytes());
                self.keep_last_answer(QuestionKind::Referrers, &parameters, answer, progress)?;
                sources
            }
        };
        Ok(Referrers { sources, target })
    }

    /// The sources that the index file keeps as an answer.
    fn kept_sources(&self, target: ObjectId) -> Option<Vec<u32>> {
        let question = self.asked(QuestionKind::Referrers, &target.0.to_le_bytes());
        let sources = self.kept_answer_numbers::<u32>(&question)?;
        let is_possible =
            sources.is_sorted() && sources.last().is_none_or(|&last| u64::from(last) < self.object_count());
        is_possible.then_some(sources)
    }

    /// The objects that refer to an object, ascending, each once, without excluded ones. All references are scanned
    /// unless the incoming references of all objects exist already.
    ///
    /// # Errors
    /// As for [`Heap::incoming`].
    pub fn referring_objects(&self, target: ObjectId, progress: &dyn Progress) -> Result<Vec<ObjectId>> {
        let exclusion = self.exclusion().map(|exclusion| &**exclusion);
        let mut sources = match self.known_sources(target) {
            Some(sources) => sources,
            None => scan(self.recording(), self.snapshot(), target, exclusion, progress)?,
        };
        sources.dedup();
        Ok(sources.into_iter().map(ObjectId).collect())
    }

    /// A page of the references that lead to an object: at most `limit` from position `from`, in order of their
    /// sources. Only blocks that hold sources of the page are decoded.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`].
    pub fn incoming_page(&self, referrers: &Referrers, from: u64, limit: usize) -> Result<Vec<IncomingReference>> {
        let sources = &referrers.sources;
        let mut jobs: Vec<(Vec<BlockPlace>, Vec<SourceRequest>)> = Vec::new();
        let mut number = usize::try_from(from).unwrap_or(usize::MAX).min(sources.len());
        let end = number.saturating_add(limit).min(sources.len());
        while number < end {
            let source = sources[number];
            let (first, after) = (referrers.first_from(source), referrers.first_from(source + 1));
            let want = SourceRequest {
                source: ObjectId(source),
                skip: number.saturating_sub(first) as u64,
                take: after.clamp(number + 1, end) as u64 - number as u64,
            };
            number += want.take as usize;
            match jobs
                .last_mut()
                .filter(|(run, _)| source.wrapping_sub(run[0].entry.first_object) < run[0].entry.objects)
            {
                Some((_, wants)) => wants.push(want),
                None => jobs.push((run_of_blocks(self.recording(), self.snapshot(), want.source)?, vec![want])),
            }
        }
        let found = pooled(jobs, |(run, wants), workspace| self.wanted(referrers.target, &run, wants, workspace))?;
        Ok(found.concat())
    }

    /// The wanted references of the objects of one block, which is the first of `run`; the others are continuations.
    fn wanted(
        &self,
        target: ObjectId,
        run: &[BlockPlace],
        wants: Vec<SourceRequest>,
        workspace: &mut Workspace,
    ) -> Result<Vec<IncomingReference>> {
        let tables = self.recording().tables()?;
        let mut references = Vec::new();
        let mut taken = ReferrerPage { heap: self, target, found: Vec::new() };
        // The last source may have continuations.
        let mut open: Option<(ObjectDetails, SourceRequest)> = None;
        for place in run {
            let is_continuation = place.entry.objects == 0;
            let is_open = open.as_ref().is_some_and(|(of, want)| of.id.0 == place.entry.first_object && want.take > 0);
            if is_continuation && !is_open {
                continue;
            }
            let at = AnalyzerError::section("BLOCK", place.entry.offset);
            decode(self.recording(), place, ColumnSelection::All, workspace, |_, columns| {
                if let Some((source, want)) = open.as_mut().filter(|_| is_continuation) {
                    references.clear();
                    Cursor::default().push_references(columns, 0, tables, &mut references).map_err(&at)?;
                    taken.take(*source, want, &references);
                    return Ok(());
                }
                let (mut cursor, mut next) = (Cursor::default(), 0);
                for mut want in wants.iter().map(|want| SourceRequest { ..*want }) {
                    let row = (want.source.0 - columns.first_object) as usize;
                    if row < next {
                        // Sources ascend unless the index file is damaged.
                        (cursor, next) = (Cursor::default(), 0);
                    }
                    (next..row).for_each(|row| cursor.step(columns, row));
                    next = row;
                    references.clear();
                    cursor.push_references(columns, row, tables, &mut references).map_err(&at)?;
                    let mut source = details(columns, row, tables);
                    if row + 1 == columns.objects() {
                        source.references += place.continued;
                    }
                    taken.take(source, &mut want, &references);
                    open = Some((source, want));
                }
                Ok(())
            })?;
        }
        Ok(taken.found)
    }
}

/// The references taken so far from those that lead to `target`.
struct ReferrerPage<'h> {
    heap: &'h Heap,
    target: ObjectId,
    found: Vec<IncomingReference>,
}

impl ReferrerPage<'_> {
    /// Takes the wanted ones of `references` that lead to the target.
    fn take(&mut self, source: ObjectDetails, want: &mut SourceRequest, references: &[Reference]) {
        for reference in references {
            if reference.target != self.target || !self.heap.has_reference(source.id, reference) {
                continue;
            }
            if want.skip > 0 {
                want.skip -= 1;
            } else if want.take > 0 {
                want.take -= 1;
                self.found.push(IncomingReference { source, label: reference.label, strength: reference.strength });
            }
        }
    }
}
