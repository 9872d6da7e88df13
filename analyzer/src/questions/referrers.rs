//! Who refers to an object, page by page.

use barrow_format::block::Wanted;
use barrow_format::rows::Label;
use barrow_format::{ObjectId, StrengthId};

use crate::error::{AnalyzerError, Result};
use crate::file::blocks::{BlockPlace, Workspace, decode, pooled};
use crate::file::object::{Cursor, ObjectDetails, Reference, details, run_of_blocks};
use crate::graph::incoming::scan;
use crate::heap::Heap;
use crate::progress::Progress;

/// Who refers to an object: as many sources as there are references, ascending.
#[derive(Debug, Clone)]
pub struct Referrers {
    sources: Vec<u32>,
    target: ObjectId,
}

impl Referrers {
    /// How many references there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.sources.len() as u64
    }

    /// The number of the first reference whose source is not below `source`.
    fn first_from(&self, source: u32) -> usize {
        self.sources.partition_point(|&id| id < source)
    }
}

/// An incoming reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IncomingReference {
    /// The object it starts from.
    pub source: ObjectDetails,
    /// What it is called there.
    pub label: Label,
    /// Whether and how it keeps its target alive.
    pub strength: StrengthId,
}

/// References of one source that are wanted: so many of those that lead to the target, behind some.
struct Want {
    source: ObjectId,
    skip: u64,
    take: u64,
}

impl Heap {
    /// Who refers to an object, without what is thought away. The first question is answered by looking
    /// at all references; the second one makes the incoming references of all objects known.
    ///
    /// # Errors
    /// As for [`Heap::incoming`].
    pub fn referrers(&self, target: ObjectId, progress: &dyn Progress) -> Result<Referrers> {
        let sources = match self.known_sources(target) {
            Some(sources) => sources,
            None if self.asks_again_for_incoming() => self.incoming(progress)?.each_source(target).collect(),
            None => scan(
                self.recording(),
                self.snapshot(),
                target,
                self.exclusion().map(|exclusion| &**exclusion),
                progress,
            )?,
        };
        Ok(Referrers { sources, target })
    }

    /// The objects that refer to an object, ascending, each once, without what is thought away. All references are looked
    /// at unless those of all objects are known.
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

    /// A page of the references that lead to an object: at most `limit`, from number `from` on, in the
    /// order of their sources. Blocks without sources of the page are not decoded.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`].
    pub fn incoming_page(&self, referrers: &Referrers, from: u64, limit: usize) -> Result<Vec<IncomingReference>> {
        let sources = &referrers.sources;
        let mut jobs: Vec<(Vec<BlockPlace>, Vec<Want>)> = Vec::new();
        let mut number = usize::try_from(from).unwrap_or(usize::MAX).min(sources.len());
        let end = number.saturating_add(limit).min(sources.len());
        while number < end {
            let source = sources[number];
            let (first, after) = (referrers.first_from(source), referrers.first_from(source + 1));
            let want = Want {
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

    /// The wanted references of the objects of one block, which `run` begins with.
    fn wanted(
        &self,
        target: ObjectId,
        run: &[BlockPlace],
        wants: Vec<Want>,
        workspace: &mut Workspace,
    ) -> Result<Vec<IncomingReference>> {
        let tables = self.recording().tables()?;
        let (mut references, mut found) = (Vec::new(), Vec::new());
        // The last one may go on in continuations.
        let mut open: Option<(ObjectDetails, Want)> = None;
        for place in run {
            let is_continuation = place.entry.objects == 0;
            let is_open = open.as_ref().is_some_and(|(of, want)| of.id.0 == place.entry.first_object && want.take > 0);
            if is_continuation && !is_open {
                continue;
            }
            let at = AnalyzerError::section("BLOCK", place.entry.offset);
            decode(self.recording(), place, Wanted::All, workspace, |_, columns| {
                if let Some((source, want)) = open.as_mut().filter(|_| is_continuation) {
                    references.clear();
                    Cursor::default().push_references(columns, 0, tables, &mut references).map_err(&at)?;
                    self.take(target, *source, want, &references, &mut found);
                    return Ok(());
                }
                let (mut cursor, mut next) = (Cursor::default(), 0);
                for mut want in wants.iter().map(|want| Want { ..*want }) {
                    let row = (want.source.0 - columns.first_object) as usize;
                    if row < next {
                        // Only sources of a broken index do not ascend.
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
                    self.take(target, source, &mut want, &references, &mut found);
                    open = Some((source, want));
                }
                Ok(())
            })?;
        }
        Ok(found)
    }

    /// Takes those of `references` that lead to `target` and are wanted.
    fn take(
        &self,
        target: ObjectId,
        source: ObjectDetails,
        want: &mut Want,
        references: &[Reference],
        found: &mut Vec<IncomingReference>,
    ) {
        let is_there =
            |&&reference: &&Reference| reference.target == target && self.has_reference(source.id, &reference);
        for reference in references.iter().filter(is_there) {
            if want.skip > 0 {
                want.skip -= 1;
            } else if want.take > 0 {
                want.take -= 1;
                found.push(IncomingReference { source, label: reference.label, strength: reference.strength });
            }
        }
    }
}
