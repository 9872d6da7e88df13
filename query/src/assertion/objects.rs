//! Measures of objects: `retained(type = "Cache")`, `growth(count size > 1M)`.

use std::sync::Arc;

use barrow_analyzer::{
    Counted, Expression, Heap, Judgement as Growth, LEAST_POINTS, ObjectSet, Reason, SURE_POINTS, SnapshotId,
    Verdict as Said, without_repeated,
};

use super::judge::{Judge, Side};
use super::judgement::{Found, Reading, Verdict};
use super::measure::{OfObjects, Quantity};
use super::{Comparison, Figure, witness};
use crate::answer::units;
use crate::error::QueryError;
use crate::language::kinds::{self, Kinds};
use crate::progress::Meter;
use crate::removal;
use crate::session::state::State;
use crate::tables::growth_series;
use crate::tables::series;

/// The objects that are measured.
#[derive(Debug, Clone)]
pub(super) struct Objects {
    pub(super) reading: OfObjects,
    /// The words that name a kind; empty for every kind.
    pub(super) kind: Vec<String>,
    pub(super) expression: Expression,
    /// Kind and expression as they were typed.
    pub(super) text: String,
}

impl Objects {
    fn quantity(&self) -> Quantity {
        match self.reading {
            OfObjects::Amount(quantity) | OfObjects::Growth(quantity) => quantity,
        }
    }

    /// Whether the measure is the growth of a number, and not the number.
    pub(super) fn is_growth(&self) -> bool {
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

/// A number in each of several snapshots.
pub(super) struct Grown {
    /// Snapshots with the number in each.
    pub(super) points: Vec<(f64, f64)>,
    /// The judgement of `growth` and `trend`, by the order of snapshots.
    pub(super) growth: Growth,
}

impl Grown {
    fn of(points: Vec<(f64, f64)>) -> Self {
        let growth = Growth::of(&points.iter().map(|&(_, found)| found).collect::<Vec<_>>());
        Grown { points, growth }
    }

    /// The interval of the slope.
    fn interval(growth: &Growth) -> (f64, f64) {
        growth.trend.interval.unwrap_or((f64::NEG_INFINITY, f64::INFINITY))
    }

    /// The judgement in words, unless the numbers seem not to grow at all.
    pub(super) fn said(&self) -> Option<&'static str> {
        (self.growth.verdict != Said::DoesNot(Reason::Chance)).then(|| series::words(self.growth.verdict))
    }

    /// Growth breaks a limit only if it is judged to grow and its whole interval lies beyond. It is undecided if the
    /// interval lies beyond and nothing is judged to grow, or if too few snapshots rise each time to be sure.
    pub(super) fn verdict(&self, comparison: Comparison, limit: f64) -> Verdict {
        let said = series::words(self.growth.verdict);
        if !lies_beyond(&self.growth, comparison, limit) {
            return Verdict::Holds;
        }
        if !breaks(&self.growth, comparison, limit) {
            return Verdict::Undecided(format!("its interval lies beyond the limit, but it {said}"));
        }
        if self.growth.verdict == Said::RisesEachTime {
            let count = self.points.len();
            let why = format!("it {said}: {SURE_POINTS} snapshots are needed, and there are {count}");
            return Verdict::Undecided(why);
        }
        Verdict::Fails
    }
}

/// Whether growth breaks a limit. Only objects that grow, or rise each time, can be too many.
fn breaks(growth: &Growth, comparison: Comparison, limit: f64) -> bool {
    let grows = matches!(growth.verdict, Said::Grows | Said::RisesEachTime);
    (grows || !matches!(comparison, Comparison::Less | Comparison::AtMost)) && lies_beyond(growth, comparison, limit)
}

/// Whether the whole interval of the slope breaks a limit.
fn lies_beyond(growth: &Growth, comparison: Comparison, limit: f64) -> bool {
    let (low, high) = Grown::interval(growth);
    !comparison.may_hold(low, high, limit)
}

impl Judge {
    /// Reads the number of the objects of the last snapshot, or the slope of the numbers of all.
    ///
    /// # Errors
    /// No such kind; those of the analyzer.
    pub(super) fn read_objects<'r>(
        &mut self,
        state: &'r State,
        objects: &'r Objects,
        side: Side,
        snapshots: &[SnapshotId],
        unit: Figure,
    ) -> Result<Reading<'r>, QueryError> {
        let is_judged = objects.is_growth() && side == Side::Open;
        let recording = state.recording()?;
        let (snapshots, is_repeated) =
            if is_judged { without_repeated(&recording, snapshots)? } else { (snapshots, false) };
        if is_judged && snapshots.len() < LEAST_POINTS {
            let there = units::counted(snapshots.len() as u64, "snapshot");
            let but = if is_repeated { " without the last one, which repeats the one before" } else { "" };
            return Ok(Err(format!("{there}{but} can show no growth; {LEAST_POINTS} are needed")));
        }
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

/// The bytes that would be freed with all objects of a set.
pub(super) fn retained_bytes(heap: &Heap, set: &ObjectSet, meter: &Meter) -> Result<u64, QueryError> {
    if set.is_empty() {
        return Ok(0);
    }
    let retained = heap.retained_set(set, meter)?;
    let types = heap.type_totals_of(&retained, meter)?;
    Ok(types.iter().fold(0, |sum, row| sum.saturating_add(row.heap_bytes).saturating_add(row.unmanaged_bytes)))
}

#[cfg(test)]
mod tests {
    use barrow_testdata::Random;

    use super::*;

    /// The number of series, of 1000 with 20 snapshots and noise of 2 % either way, for which `growth <= 0` is false.
    fn alarms(level: impl Fn(usize) -> f64) -> usize {
        let mut random = Random::new(5);
        let mut noise = || 0.98 + random.below(1001) as f64 / 25_000.0;
        let series = (0..1000).map(|_| (0..20).map(|at| level(at) * noise()).collect::<Vec<_>>());
        series.filter(|values| breaks(&Growth::of(values), Comparison::AtMost, 0.0)).count()
    }

    #[test]
    fn a_leak_is_told_from_noise_and_from_warm_ups() {
        let leak = alarms(|at| 1e6 * (1.0 + 0.02 * at as f64));
        let none = alarms(|_| 1e6);
        let warm_up = alarms(|at| 1e6 * (1.0 - 0.5 * 0.3f64.powi(at as i32)));
        let sawtooth = alarms(|at| 1e6 * (1.0 + 0.1 * (at % 5) as f64));
        let found = format!("leak {leak}, none {none}, warm-up {warm_up}, sawtooth {sawtooth}");
        assert!(leak >= 900 && none == 0 && warm_up == 0 && sawtooth == 0, "{found}");
    }
}
