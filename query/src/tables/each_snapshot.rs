//! The objects that one expression describes in each of several snapshots, of one recording or of several.

use std::sync::Arc;

use barrow_analyzer::{AnalyzerError, Expression, Heap, KindId, ObjectSet, Recording, SnapshotId};

use crate::answer::Answer;
use crate::arguments::Arguments;
use crate::error::QueryError;
use crate::language::names;
use crate::language::operand::Compared;
use crate::session::state::State;
use crate::tables::{found, type_path};

/// An expression, and the snapshots it is about.
pub(crate) struct EachSnapshot {
    pub(crate) snapshots: Vec<OneSnapshot>,
    pub(crate) expression: Expression,
}

/// A snapshot, and the kinds of its objects that count.
pub(crate) struct OneSnapshot {
    pub(crate) recording: Arc<Recording>,
    pub(crate) snapshot: SnapshotId,
    /// All kinds if there are none; `None` if the recording does not know the kind that was asked for.
    kinds: Option<Vec<KindId>>,
}

impl EachSnapshot {
    /// Snapshots of one recording.
    pub(crate) fn of_recording(
        recording: &Arc<Recording>,
        snapshots: &[SnapshotId],
        kinds: Vec<KindId>,
        expression: Expression,
    ) -> Self {
        let snapshots = snapshots.iter().map(|&snapshot| OneSnapshot {
            recording: Arc::clone(recording),
            snapshot,
            kinds: Some(kinds.clone()),
        });
        EachSnapshot { snapshots: snapshots.collect(), expression }
    }

    /// Two snapshots that are compared, and the words `[KIND] [EXPR]`; without any word every object matches.
    ///
    /// # Errors
    /// A usage error for words that are none, for a type that neither recording knows, and for objects of one snapshot.
    pub(crate) fn of_sides(state: &State, sides: [&Compared; 2], words: &Arguments) -> Result<Self, QueryError> {
        let [before, after] = [sides[0].recording.tables()?, sides[1].recording.tables()?];
        let scope = state.scope(sides[0].snapshot);
        let (tables, (kinds, expression)) = match words.words().is_empty() {
            true => (before, (Vec::new(), found::all(&scope)?)),
            false => match (found::read(before, &scope, words, 0), found::read(after, &scope, words, 0)) {
                (Ok(known), _) => (before, known),
                (Err(_), Ok(known)) => (after, known),
                (Err(error), Err(_)) => return Err(error),
            },
        };
        if let Some(only) = expression.snapshot() {
            let message = format!("it names objects of snapshot {only}, and two snapshots are compared");
            return Err(QueryError::usage(message));
        }
        let unknown = expression.unknown_types(after);
        if let Some(name) = expression.unknown_types(before).into_iter().find(|name| unknown.contains(name)) {
            return Err(QueryError::usage(names::unknown_type(name, before)));
        }
        let names: Vec<&str> = kinds.iter().map(|&kind| tables.kind_name(kind)).collect();
        let snapshots = sides.into_iter().zip([before, after]).map(|(side, tables)| {
            let all = (0..tables.kind_count() as u32).map(KindId);
            let kinds: Vec<KindId> = all.filter(|&kind| names.contains(&tables.kind_name(kind))).collect();
            let is_known = names.is_empty() || !kinds.is_empty();
            let (recording, snapshot) = (Arc::clone(&side.recording), side.snapshot);
            OneSnapshot { recording, snapshot, kinds: is_known.then_some(kinds) }
        });
        Ok(EachSnapshot { snapshots: snapshots.collect(), expression })
    }

    /// Calls `visit` with each snapshot in which objects match: its place among all, and these objects. Returns whether
    /// they match exactly, as for [`found::said`]. Nothing is added to index files.
    ///
    /// # Errors
    /// Those of `visit`; those of the analyzer; a field that no object has in any snapshot.
    pub(crate) fn visit(
        &self,
        state: &State,
        mut visit: impl FnMut(usize, &Heap, Arc<ObjectSet>) -> Result<(), QueryError>,
    ) -> Result<bool, QueryError> {
        let meter = state.meter();
        let (mut is_exact, mut has_field, mut no_field) = (true, false, None);
        for (at, OneSnapshot { recording, snapshot, kinds }) in self.snapshots.iter().enumerate() {
            let Some(kinds) = kinds else { continue };
            let heap = type_path::heap(state, recording, *snapshot)?;
            let (set, _) = match heap.select(kinds, &self.expression, &meter) {
                // Names of fields may be those of references, and not every snapshot has the same.
                Err(error @ AnalyzerError::NoField { .. }) => {
                    no_field = Some(error);
                    continue;
                }
                selected => selected?,
            };
            has_field = true;
            is_exact &= heap.matches_exactly(&self.expression, &meter)?;
            if !set.is_empty() {
                visit(at, &heap, Arc::new(set))?;
            }
        }
        match no_field.filter(|_| !has_field) {
            Some(error) => Err(error.into()),
            None => Ok(is_exact),
        }
    }

    /// Says what the recordings lack that the expression tests, as [`found::with_gaps`] does; each note once.
    ///
    /// # Errors
    /// Those of the analyzer.
    pub(crate) fn with_gaps(&self, mut answer: Answer, state: &State) -> Result<Answer, QueryError> {
        for OneSnapshot { recording, snapshot, kinds } in &self.snapshots {
            let Some(kinds) = kinds else { continue };
            let heap = || type_path::heap(state, recording, *snapshot);
            let wanted = found::Wanted { snapshot: *snapshot, kinds, expression: &self.expression };
            let gaps = match found::with_gaps_of(Answer::default(), state, recording, heap, wanted) {
                Err(QueryError::Analyzer(AnalyzerError::NoField { .. })) => continue,
                gaps => gaps?,
            };
            let new: Vec<String> = gaps.notes.into_iter().filter(|note| !answer.notes.contains(note)).collect();
            answer.exactness = gaps.exactness.or(answer.exactness);
            answer = answer.lines(new);
        }
        Ok(answer)
    }
}
