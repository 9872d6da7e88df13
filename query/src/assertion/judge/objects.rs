//! Measures of objects: `retained(type = "Cache")`, `growth(count size > 1M)`.

use std::sync::Arc;

use barrow_analyzer::{Counted, Expression, Heap, KindId, ObjectSet, SnapshotId};

use super::{Judge, Side};
use crate::assertion::judgement::{Found, Inexact, Reading, grown::Grown};
use crate::assertion::measure::{OfObjects, Quantity};
use crate::assertion::{Figure, witness};
use crate::error::QueryError;
use crate::language::kinds::{self, Kinds};
use crate::progress::Meter;
use crate::removal;
use crate::session::state::State;
use crate::tables::found::{self, AS_FAR_AS_KNOWN, BY_LOWER_BOUNDS, INEXACT};
use crate::tables::growth_series;

/// The objects that are measured.
#[derive(Debug, Clone)]
pub(in crate::assertion) struct Objects {
    pub(in crate::assertion) reading: OfObjects,
    /// The words that name a kind; empty for every kind.
    pub(in crate::assertion) kind: Vec<String>,
    pub(in crate::assertion) expression: Expression,
    /// Kind and expression as they were typed.
    pub(in crate::assertion) text: String,
}

/// A measured number.
#[derive(Debug, Clone)]
pub(super) struct Number {
    /// The number of the objects that are known to match.
    least: f64,
    /// The number with the objects of which this is not known.
    most: f64,
    /// These objects in words, if there are any.
    doubt: Option<String>,
    /// Why it is not exact.
    inexact: Option<Inexact>,
}

impl Objects {
    fn quantity(&self) -> Quantity {
        match self.reading {
            OfObjects::Amount(quantity) | OfObjects::Growth(quantity) => quantity,
        }
    }

    /// Returns whether the measure is the growth of a number, and not the number.
    pub(in crate::assertion) fn is_growth(&self) -> bool {
        matches!(self.reading, OfObjects::Growth(_))
    }

    /// Selects the objects of a snapshot, and counts them.
    ///
    /// # Errors
    /// A usage error if its recording has no such kind; those of [`Heap::select`].
    fn select(&self, heap: &Heap, meter: &Meter) -> Result<(ObjectSet, Counted), QueryError> {
        Ok(heap.select(&self.kinds(heap)?, &self.expression, meter)?)
    }

    /// Measures the objects of a snapshot.
    ///
    /// # Errors
    /// Those of [`Objects::select`].
    fn number(&self, heap: &Heap, meter: &Meter) -> Result<Number, QueryError> {
        let (kinds, of) = (self.kinds(heap)?, self.quantity().of);
        let (mut set, mut counted) = heap.select(&kinds, &self.expression, meter)?;
        let least = of(heap, &set, &counted, meter)? as f64;
        let doubts = heap.doubts(&kinds, &self.expression, meter)?;
        let doubt = found::doubted(&doubts);
        let mut most = least;
        if doubt.is_some() {
            set.union_with(&doubts.objects);
            counted = counted.and(doubts.counted);
            most = of(heap, &set, &counted, meter)? as f64;
        }
        let inexact = match (&doubt, heap.matches_exactly(&self.expression, meter)?) {
            (_, false) => Some(Inexact { exactness: BY_LOWER_BOUNDS, note: INEXACT.to_owned() }),
            (Some(doubt), true) => {
                Some(Inexact { exactness: AS_FAR_AS_KNOWN, note: format!("this leaves out {doubt}") })
            }
            (None, true) => {
                let unknown = found::unknown_bases(heap.recording().tables()?, &self.expression);
                unknown.map(|(exactness, note)| Inexact { exactness, note: note.to_owned() })
            }
        };
        Ok(Number { least, most, doubt, inexact })
    }

    /// The kinds of the objects; all if there are none.
    ///
    /// # Errors
    /// A usage error if the recording has no such kind.
    fn kinds(&self, heap: &Heap) -> Result<Vec<KindId>, QueryError> {
        let kinds = match self.kind.is_empty() {
            true => Kinds::default(),
            false => kinds::leading_kind(heap.recording().tables()?, &self.kind)?,
        };
        if kinds.words < self.kind.len() {
            let follows = "what follows a kind is an expression, such as `size > 1M`";
            return Err(QueryError::usage(format!("`{}` is no kind; {follows}", self.kind.join(" "))));
        }
        Ok(kinds.ids)
    }
}

impl Judge {
    /// Reads the number of the objects of the last snapshot, or the slope of the numbers of all.
    ///
    /// # Errors
    /// No such kind; those of the analyzer.
    pub(in crate::assertion) fn read_objects<'r>(
        &mut self,
        state: &'r State,
        objects: &'r Objects,
        side: Side,
        snapshots: &[SnapshotId],
        unit: Figure,
    ) -> Result<Reading<'r>, QueryError> {
        let recording = state.recording()?;
        let (snapshots, is_repeated) = match objects.is_growth() {
            true => match super::judged_snapshots(&recording, snapshots, side)? {
                Ok(judged) => judged,
                Err(why) => return Ok(Err(why)),
            },
            false => (snapshots, false),
        };
        let (mut last, mut points) = (SnapshotId(0), Vec::new());
        let (mut interval, mut doubt) = ((0.0, 0.0), None);
        for &snapshot in snapshots {
            let number = self.measured(state, objects, side, snapshot)?;
            last = snapshot;
            points.push((f64::from(snapshot.0), number.least));
            interval = (number.least, number.most);
            doubt = doubt.or(number.doubt);
        }
        let grown = objects.is_growth().then(|| Arc::new(Grown::of(points)));
        let explained = grown.clone();
        let witness = move || {
            let (heap, meter) = (state.heap(last)?, state.meter());
            let (set, _) = objects.select(&heap, &meter)?;
            let of_last = witness::of_set(&heap, &set, &meter)?;
            Ok(match explained {
                Some(grown) => witness::of_growth(last, of_last, &grown, unit),
                None => of_last,
            })
        };
        let mut found = Found { interval, doubt, ..Found::exactly(interval.0, Box::new(witness)) };
        if let Some(grown) = &grown {
            (found.value, found.interval) = (grown.growth.trend.slope, Grown::interval(&grown.growth));
        }
        found.notes.extend(is_repeated.then(|| growth_series::REPEATED.to_owned()));
        Ok(Ok(Found { growth: grown, ..found }))
    }

    /// Measures a snapshot, unless it did so before.
    fn measured(
        &mut self,
        state: &State,
        objects: &Objects,
        side: Side,
        snapshot: SnapshotId,
    ) -> Result<Number, QueryError> {
        let (quantity, away) = (objects.quantity(), removal::text(&state.away));
        let key = (side == Side::Baseline, away, quantity.name, objects.text.clone(), snapshot);
        // Names may mean something else the next time.
        let known = self.measured.get(&key).filter(|_| objects.expression.snapshot().is_none());
        let number = match known.cloned() {
            Some(known) => known,
            None => objects.number(&*self.heap(state, side, snapshot)?, &state.meter())?,
        };
        self.inexact = self.inexact.take().or_else(|| number.inexact.clone());
        self.measured.insert(key, number.clone());
        Ok(number)
    }
}
