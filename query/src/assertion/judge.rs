//! Says whether an assertion holds, and measures what it is about.

use std::collections::HashMap;
use std::sync::Arc;

use barrow_analyzer::{
    Heap, Judgement as Growth, LEAST_POINTS, ObjectSet, Reason, Recording, SURE_POINTS, SnapshotId, Verdict as Said,
    without_repeated,
};
use barrow_processes::ProcessTree;
use barrow_trials::Trials;

use super::excused::{self, Excused};
use super::figure::Figure;
use super::judgement::{Judgement, Verdict, undecided};
use super::process_witness;
use super::processes::ProcessMeasure;
use super::trials::{Judged, TrialLimit, TrialMeasure};
use super::witness;
use super::{Assertion, Claim, Comparison, Known, Limit, Measure, Quantity, When};
use crate::answer::units;
use crate::error::QueryError;
use crate::flags::{Least, QuestionFlags};
use crate::language::selection;
use crate::progress::Meter;
use crate::removal;
use crate::session::state::State;
use crate::tables::growth_series;
use crate::tables::series;
use crate::tables::suspects::suspects;
use crate::tables::trials::surroundings;

/// Judges assertions about the open recording. It remembers what it measured: a snapshot does not change.
#[derive(Default)]
pub(crate) struct Judge {
    /// The recording to compare with.
    pub(crate) baseline: Option<Baseline>,
    /// Leaks that may be there, whatever is asserted.
    pub(crate) allowed: Vec<Known>,
    /// The processes of the baseline, once they were read.
    tree_of_baseline: Option<Arc<ProcessTree>>,
    /// The trials of the baseline, once they were read.
    trials_of_baseline: Option<Arc<Trials>>,
    /// The flags of the question: what a leak suspect has to hold, and the rules of classes.
    pub(crate) flags: QuestionFlags,
    /// The recording is still being written: what is not there may come.
    pub(crate) waits: bool,
    /// What was measured, and whether it is exact which objects that was.
    measured: HashMap<Measured, (f64, bool)>,
    /// Whether all that the assertion at hand was measured by is exact.
    is_exact: bool,
}

/// A recording to compare with.
pub(crate) struct Baseline {
    /// The file, as it was named.
    pub(crate) file: String,
    pub(crate) recording: Arc<Recording>,
    /// Its snapshot; none if it holds processes only.
    pub(crate) snapshot: Option<SnapshotId>,
    /// What the file had lost.
    pub(crate) damage: Option<String>,
}

impl Baseline {
    fn snapshot(&self) -> Result<SnapshotId, QueryError> {
        self.snapshot.ok_or_else(|| QueryError::usage("the baseline holds no snapshot"))
    }
}

/// What was measured: of the baseline or not, what is excluded, the quantity, expression and snapshot.
type Measured = (bool, String, Quantity, String, SnapshotId);

/// Which recording is asked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Open,
    Baseline,
}

impl Judge {
    /// Forgets what was measured: the recording is another one.
    pub(crate) fn forget(&mut self) {
        self.measured.retain(|(is_baseline, ..), _| *is_baseline);
    }

    /// Judges one assertion.
    ///
    /// # Errors
    /// A usage error if there is no baseline, or no such snapshot; those of the analyzer.
    pub(super) fn judge(&mut self, state: &State, assertion: &Assertion) -> Result<Judgement, QueryError> {
        self.is_exact = true;
        let mut judgement = self.verdict_on(state, assertion)?;
        judgement.is_exact = self.is_exact;
        Ok(judgement)
    }

    fn verdict_on(&mut self, state: &State, assertion: &Assertion) -> Result<Judgement, QueryError> {
        if let Claim::Processes { measure, comparison, limit } = &assertion.claim {
            return self.of_processes(state, measure, *comparison, *limit);
        }
        if let Claim::Trials { measure, comparison, limit } = &assertion.claim {
            return self.of_trials(state, measure, *comparison, *limit);
        }
        let snapshots = match self.snapshots(state, assertion, Side::Open) {
            Err(QueryError::Usage { message }) if self.waits => return Ok(undecided(message, assertion.claim.unit())),
            snapshots => snapshots?,
        };
        match &assertion.claim {
            Claim::NoLeaks(known) => self.no_leaks(state, known, &snapshots),
            Claim::Compared { measure, comparison, limit } => {
                let baseline = match limit.factor {
                    None => 0.0,
                    Some(_) => self.of_baseline(state, assertion, measure)?,
                };
                let limit = limit.of(baseline);
                if measure.growth {
                    return self.growth(state, measure, *comparison, limit, &snapshots);
                }
                self.amount(state, measure, *comparison, limit, &snapshots)
            }
            Claim::Processes { .. } | Claim::Trials { .. } => {
                Ok(undecided("it is not about snapshots".to_owned(), assertion.claim.unit()))
            }
        }
    }

    /// The snapshots that the assertion is about.
    fn snapshots(&self, state: &State, assertion: &Assertion, side: Side) -> Result<Vec<SnapshotId>, QueryError> {
        let known: Vec<SnapshotId> = match (side, &self.baseline) {
            (Side::Baseline, Some(baseline)) => baseline.recording.snapshot_ids().collect(),
            _ => state.snapshots()?,
        };
        let is_growth = matches!(&assertion.claim, Claim::Compared { measure, .. } if measure.growth);
        match &assertion.when {
            When::Over(range) => {
                let words: Vec<String> = range.split_whitespace().map(str::to_owned).collect();
                selection::several(&words, &known)
            }
            // While a recording is followed, snapshots after the selected one are not considered yet.
            When::Selected if is_growth && self.waits && side == Side::Open => {
                let selected = state.snapshot()?;
                Ok(known.into_iter().filter(|&snapshot| snapshot <= selected).collect())
            }
            When::Selected if is_growth => Ok(known),
            When::Selected => Ok(vec![state.snapshot()?]),
            When::In(name) => Ok(vec![selection::one(*name, &known)?]),
        }
    }

    /// What the baseline has: in its last snapshot, or the one that was named; as growth over the same snapshots.
    fn of_baseline(&mut self, state: &State, assertion: &Assertion, measure: &Measure) -> Result<f64, QueryError> {
        let snapshot = self.baseline()?.snapshot()?;
        if measure.expression.snapshot().is_some() {
            return Err(QueryError::usage(
                "sets and rows belong to the open recording; the baseline does not have them",
            ));
        }
        if !measure.growth {
            return self.measured(state, measure, Side::Baseline, snapshot);
        }
        let snapshots = self.snapshots(state, assertion, Side::Baseline)?;
        let series = self.series(state, measure, Side::Baseline, &snapshots)?;
        Ok(judged(&series).trend.slope)
    }

    /// What is measured of processes is compared with the limit. What was not recorded of any is undecided.
    fn of_processes(
        &mut self,
        state: &State,
        measure: &ProcessMeasure,
        comparison: Comparison,
        limit: Limit,
    ) -> Result<Judgement, QueryError> {
        let unit = measure.quantity.unit();
        let baseline = match limit.factor {
            None => 0.0,
            Some(_) => match self.processes_of_baseline(state, measure)? {
                Ok(found) => found,
                Err(why) => return Ok(undecided(format!("of the baseline, {why}"), unit)),
            },
        };
        let limit = limit.of(baseline);
        let measured = measure.of(state, &state.process_tree()?, &self.flags)?;
        let found = match &measured.found {
            Ok(found) => *found,
            Err(why) => return Ok(undecided(why.clone(), unit)),
        };
        let holds = comparison.may_hold(found, found, limit);
        let witness = (!holds).then(|| process_witness::of_processes(&measured, measure.quantity));
        let verdict = if holds { Verdict::Holds } else { Verdict::Fails };
        let notes = measured.notes;
        Ok(Judgement { verdict, snapshot: None, found, limit, said: None, unit, witness, is_exact: true, notes })
    }

    /// What is measured of trials is compared with the limit, or with the baseline.
    fn of_trials(
        &mut self,
        state: &State,
        measure: &TrialMeasure,
        comparison: Comparison,
        limit: TrialLimit,
    ) -> Result<Judgement, QueryError> {
        let trials = state.trials()?;
        if let (None, Some(baseline)) = (&self.trials_of_baseline, &self.baseline) {
            if !baseline.recording.has_measurements() {
                return Err(QueryError::usage("the baseline holds no trials"));
            }
            self.trials_of_baseline = Some(Arc::new(Trials::of(&baseline.recording, &state.meter())?));
        }
        let judged = Judged { trials: &trials, baseline: self.trials_of_baseline.as_deref() };
        let mut judgement = judged.judge(measure, comparison, limit)?;
        if let (Some(baseline), true) = (&self.baseline, measure.compares()) {
            let new = state.recording()?.facts().unwrap_or_default();
            let old = baseline.recording.facts().unwrap_or_default();
            judgement.notes.extend(surroundings::differences(&old, &new));
        }
        Ok(judgement)
    }

    /// What the baseline has; an inner error says why that is not known.
    fn processes_of_baseline(
        &mut self,
        state: &State,
        measure: &ProcessMeasure,
    ) -> Result<Result<f64, String>, QueryError> {
        if measure.expression.has_names() {
            return Err(QueryError::usage(
                "sets and rows belong to the open recording; the baseline does not have them",
            ));
        }
        let recording = Arc::clone(&self.baseline()?.recording);
        if !recording.has_processes() {
            return Err(QueryError::usage("the baseline holds no processes"));
        }
        let tree = match &self.tree_of_baseline {
            Some(tree) => Arc::clone(tree),
            None => Arc::new(ProcessTree::read_with(recording, &state.meter())?),
        };
        self.tree_of_baseline = Some(Arc::clone(&tree));
        Ok(measure.of(state, &tree, &self.flags)?.found)
    }

    fn baseline(&self) -> Result<&Baseline, QueryError> {
        self.baseline.as_ref().ok_or_else(|| QueryError::usage("which baseline? add `--baseline FILE`"))
    }

    /// Each snapshot has to fulfil the comparison; the first that does not is the witness.
    fn amount(
        &mut self,
        state: &State,
        measure: &Measure,
        comparison: Comparison,
        limit: f64,
        snapshots: &[SnapshotId],
    ) -> Result<Judgement, QueryError> {
        let unit = measure.unit();
        let mut judgement = undecided("there is no such snapshot".to_owned(), unit);
        for &snapshot in snapshots {
            let found = self.measured(state, measure, Side::Open, snapshot)?;
            let verdict = Verdict::Holds;
            judgement = Judgement {
                verdict,
                snapshot: Some(snapshot),
                found,
                limit,
                said: None,
                unit,
                witness: None,
                is_exact: true,
                notes: Vec::new(),
            };
            if !comparison.may_hold(found, found, limit) {
                let heap = state.heap(snapshot)?;
                let set = measure.select(&heap, &state.meter())?.0;
                judgement.verdict = Verdict::Fails;
                judgement.witness = Some(witness::of_set(&heap, &set, &state.meter())?);
                break;
            }
        }
        Ok(judgement)
    }

    /// Growth breaks a limit only where it is said to grow and its whole interval lies beyond. Where the interval lies
    /// beyond and nothing is said to grow, it is undecided. A rise each time that is
    /// beyond the limit, but of too few snapshots to be sure, is undecided.
    fn growth(
        &mut self,
        state: &State,
        measure: &Measure,
        comparison: Comparison,
        limit: f64,
        snapshots: &[SnapshotId],
    ) -> Result<Judgement, QueryError> {
        let (snapshots, is_repeated) = without_repeated(&*state.recording()?, snapshots)?;
        if snapshots.len() < LEAST_POINTS {
            let there = crate::answer::units::counted(snapshots.len() as u64, "snapshot");
            let but = if is_repeated { " without the last one, which repeats the one before" } else { "" };
            let why = format!("{there}{but} can show no growth; {LEAST_POINTS} are needed");
            return Ok(undecided(why, measure.unit()));
        }
        let series = self.series(state, measure, Side::Open, snapshots)?;
        let growth = judged(&series);
        let unit = measure.unit();
        let fails = breaks(&growth, comparison, limit);
        let mut judgement = Judgement {
            verdict: Verdict::Holds,
            snapshot: None,
            found: growth.trend.slope,
            limit,
            said: (growth.verdict != Said::DoesNot(Reason::Chance)).then(|| series::words(growth.verdict)),
            unit,
            witness: None,
            is_exact: true,
            notes: is_repeated.then(|| growth_series::REPEATED.to_owned()).into_iter().collect(),
        };
        if !fails && lies_beyond(&growth, comparison, limit) {
            let why = format!("its interval lies beyond the limit, but it {}", series::words(growth.verdict));
            judgement.verdict = Verdict::Undecided(why);
        } else if fails && growth.verdict == Said::RisesEachTime {
            let why = format!(
                "it {}: {SURE_POINTS} snapshots are needed, and there are {}",
                series::words(growth.verdict),
                snapshots.len()
            );
            judgement.verdict = Verdict::Undecided(why);
        } else if fails {
            let last = snapshots.last().copied().unwrap_or(SnapshotId(0));
            let heap = state.heap(last)?;
            let set = measure.select(&heap, &state.meter())?.0;
            judgement.verdict = Verdict::Fails;
            judgement.witness = Some(witness::of_growth(&heap, &set, &series, &growth, unit, &state.meter())?);
        }
        Ok(judgement)
    }

    fn series(
        &mut self,
        state: &State,
        measure: &Measure,
        side: Side,
        snapshots: &[SnapshotId],
    ) -> Result<Vec<(f64, f64)>, QueryError> {
        let points = snapshots.iter().map(|&snapshot| {
            let found = self.measured(state, measure, side, snapshot)?;
            Ok((f64::from(snapshot.0), found))
        });
        points.collect()
    }

    /// Measures one snapshot, unless that happened before.
    fn measured(
        &mut self,
        state: &State,
        measure: &Measure,
        side: Side,
        snapshot: SnapshotId,
    ) -> Result<f64, QueryError> {
        let away = removal::text(&state.away);
        let key = (side == Side::Baseline, away, measure.quantity, measure.text.clone(), snapshot);
        // Names may mean something else the next time.
        if let Some(&(found, is_exact)) = self.measured.get(&key).filter(|_| measure.expression.snapshot().is_none()) {
            self.is_exact &= is_exact;
            return Ok(found);
        }
        let heap = self.heap(state, side, snapshot)?;
        let meter = state.meter();
        let (set, counted) = measure.select(&heap, &meter)?;
        let found = match measure.quantity {
            Quantity::Count => counted.objects,
            Quantity::Size => counted.heap_bytes.saturating_add(counted.unmanaged_bytes),
            Quantity::Retained => retained_bytes(&heap, &set, &meter)?,
        } as f64;
        let is_exact = heap.matches_exactly(&measure.expression, &meter)?;
        self.is_exact &= is_exact;
        self.measured.insert(key, (found, is_exact));
        Ok(found)
    }

    fn heap(&self, state: &State, side: Side, snapshot: SnapshotId) -> Result<Arc<Heap>, QueryError> {
        match side {
            Side::Open => state.heap(snapshot),
            Side::Baseline => {
                let recording = Arc::clone(&self.baseline()?.recording);
                Ok(Arc::new(state.context.heap_of(recording, snapshot)?))
            }
        }
    }

    /// No snapshot may have a suspect that is not known.
    fn no_leaks(&mut self, state: &State, known: &[Known], snapshots: &[SnapshotId]) -> Result<Judgement, QueryError> {
        let mut excused = Excused { known: known.iter().chain(&self.allowed).collect(), of_baseline: Vec::new() };
        if known.contains(&Known::Baseline) || self.baseline.is_some() {
            let heap = self.heap(state, Side::Baseline, self.baseline()?.snapshot()?)?;
            let found = suspects(&heap, self.flags.min, &state.meter())?;
            excused.of_baseline.extend(found.iter().map(|one| (one.fingerprint, one.retained_bytes)));
        }
        let mut judgement = undecided("there is no such snapshot".to_owned(), Figure::Suspects);
        for &snapshot in snapshots {
            judgement = leaks_of(&*state.heap(snapshot)?, self.flags.min, &excused, &state.meter())?;
            if judgement.verdict == Verdict::Fails {
                break;
            }
        }
        Ok(judgement)
    }
}

/// Whether one heap has no suspects but those that are excused.
fn leaks_of(heap: &Heap, min: Option<Least>, excused: &Excused<'_>, meter: &Meter) -> Result<Judgement, QueryError> {
    let whole = heap.largest(meter)?.reachable_bytes();
    let (mut left, mut notes) = (Vec::new(), Vec::new());
    for suspected in suspects(heap, min, meter)? {
        match excused.judge(&suspected, whole) {
            excused::Verdict::Known => {}
            excused::Verdict::New => left.push((suspected, None)),
            excused::Verdict::Grown(reason) => left.push((suspected, Some(reason))),
            excused::Verdict::Unbounded => {
                let (fingerprint, bytes) = (suspected.fingerprint, units::size(suspected.retained_bytes));
                notes.push(format!(
                    "{fingerprint} is excused at any size, now {bytes}; `up to SIZE` or a baseline bounds it"
                ));
            }
        }
    }
    let witness = (!left.is_empty()).then(|| witness::of_suspects(heap, &left, meter)).transpose()?;
    Ok(Judgement {
        verdict: if left.is_empty() { Verdict::Holds } else { Verdict::Fails },
        snapshot: Some(heap.snapshot()),
        found: left.len() as f64,
        limit: 0.0,
        said: None,
        unit: Figure::Suspects,
        witness,
        is_exact: true,
        notes,
    })
}

/// The same judgement as that of `growth` and `trend`: by the order of snapshots.
fn judged(series: &[(f64, f64)]) -> Growth {
    Growth::of(&series.iter().map(|&(_, found)| found).collect::<Vec<_>>())
}

/// Whether growth does not hold to a limit. Only what grows, or rises each time, can be too much.
fn breaks(growth: &Growth, comparison: Comparison, limit: f64) -> bool {
    let is_told = matches!(growth.verdict, Said::Grows | Said::RisesEachTime);
    match comparison {
        Comparison::Less | Comparison::AtMost if !is_told => false,
        _ => lies_beyond(growth, comparison, limit),
    }
}

/// Whether the whole interval of the slope does not hold to a limit.
fn lies_beyond(growth: &Growth, comparison: Comparison, limit: f64) -> bool {
    let (low, high) = growth.trend.interval.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    !comparison.may_hold(low, high, limit)
}

impl Claim {
    /// What it counts.
    fn unit(&self) -> Figure {
        match self {
            Claim::NoLeaks(_) => Figure::Suspects,
            Claim::Compared { measure, .. } => measure.unit(),
            Claim::Processes { measure, .. } => measure.quantity.unit(),
            Claim::Trials { measure, .. } => measure.quantity.unit(),
        }
    }
}

impl Measure {
    fn unit(&self) -> Figure {
        match (self.quantity, self.growth) {
            (Quantity::Count, false) => Figure::Objects,
            (Quantity::Count, true) => Figure::ObjectsPerSnapshot,
            (_, false) => Figure::Bytes,
            (_, true) => Figure::BytesPerSnapshot,
        }
    }
}

/// What would be freed with all objects of a set.
fn retained_bytes(heap: &Heap, set: &ObjectSet, meter: &Meter) -> Result<u64, QueryError> {
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

    /// In how many of 1000 series of 20 snapshots, with noise of 2 % either way, `growth <= 0` is false.
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
