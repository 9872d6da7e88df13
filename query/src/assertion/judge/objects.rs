//! Measures of objects: `retained(type = "Cache")`, `growth(count size > 1M)`.

use std::sync::Arc;

use barrow_analyzer::{Counted, Expression, Heap, ObjectSet, SnapshotId};

use super::{Judge, Side};
use crate::assertion::judgement::{Found, Reading, grown::Grown};
use crate::assertion::measure::{OfObjects, Quantity};
use crate::assertion::{Figure, witness};
use crate::error::QueryError;
use crate::language::kinds::{self, Kinds};
use crate::progress::Meter;
use crate::removal;
use crate::session::state::State;
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
        let kinds = match self.kind.is_empty() {
            true => Kinds::default(),
            false => kinds::leading_kind(heap.recording().tables()?, &self.kind)?,
        };
        if kinds.words < self.kind.len() {
            let follows = "what follows a kind is an expression, such as `size > 1M`";
            return Err(QueryError::usage(format!("`{}` is no kind; {follows}", self.kind.join(" "))));
        }
        Ok(heap.select(&kinds.ids, &self.expression, meter)?)
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
        for &snapshot in snapshots {
            last = snapshot;
            points.push((f64::from(snapshot.0), self.measured(state, objects, side, snapshot)?));
        }
        let found = points.last().map_or(0.0, |&(_, found)| found);
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
        let mut found = Found::exactly(found, Box::new(witness));
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
    ) -> Result<f64, QueryError> {
        let (quantity, away) = (objects.quantity(), removal::text(&state.away));
        let key = (side == Side::Baseline, away, quantity.name, objects.text.clone(), snapshot);
        // Names may mean something else the next time.
        if let Some(&(found, is_exact)) = self.measured.get(&key).filter(|_| objects.expression.snapshot().is_none()) {
            self.is_exact &= is_exact;
            return Ok(found);
        }
        let (heap, meter) = (self.heap(state, side, snapshot)?, state.meter());
        let (set, counted) = objects.select(&heap, &meter)?;
        let found = (quantity.of)(&heap, &set, &counted, &meter)? as f64;
        let is_exact = heap.matches_exactly(&objects.expression, &meter)?;
        self.is_exact &= is_exact;
        self.measured.insert(key, (found, is_exact));
        Ok(found)
    }
}
