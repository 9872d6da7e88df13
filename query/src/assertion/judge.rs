//! Judges assertions: reads their measures, and compares them with limits.

mod leaks;
pub(super) mod objects;
pub(super) mod paths;

use std::collections::HashMap;
use std::sync::Arc;

use barrow_analyzer::{Heap, LEAST_POINTS, Recording, SnapshotId, without_repeated};
use barrow_processes::ProcessTree;
use barrow_trials::{Trials, VariantId};

use super::judgement::{Found, Inexact, Judgement, Reading, Verdict};
use super::measure::OfTrials;
use super::processes::Processes;
use super::trials::{self, Programs};
use super::{Argument, Assertion, Claim, Compared, Comparison, Figure, Known, When};
use crate::answer::units;
use crate::error::QueryError;
use crate::flags::QuestionFlags;
use crate::language::selection;
use crate::session::state::State;
use crate::tables::trials::{surroundings, variant_of};
use objects::{Number, Objects};
use paths::TypePath;

/// Judges assertions about the open recording. It keeps what it measured, since a snapshot does not change.
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
    /// The flags of the question: the least size of a leak suspect, and the rules of classes.
    pub(crate) flags: QuestionFlags,
    /// The recording is still being written: snapshots that are missing may come.
    pub(crate) waits: bool,
    /// Measured numbers.
    measured: HashMap<Measured, Number>,
    /// Why a number measured for the assertion at hand is not exact; `None` if all are.
    inexact: Option<Inexact>,
}

/// A recording to compare with.
pub(crate) struct Baseline {
    /// The file, as it was named.
    pub(crate) file: String,
    pub(crate) recording: Arc<Recording>,
    /// Its snapshot; none if it holds none.
    pub(crate) snapshot: Option<SnapshotId>,
    /// The damage of the file.
    pub(crate) damage: Option<String>,
}

impl Baseline {
    pub(super) fn snapshot(&self) -> Result<SnapshotId, QueryError> {
        self.snapshot.ok_or_else(|| QueryError::usage("the baseline holds no snapshot"))
    }
}

/// The key of a measured number: true for the baseline, excluded references, quantity, expression, snapshot.
type Measured = (bool, String, &'static str, String, SnapshotId);

/// The recording that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Open,
    Baseline,
}

/// A part of a recording from which a measure is read as one number.
enum Case<'c> {
    /// A snapshot, or several for growth.
    Snapshots(&'c Objects, Vec<SnapshotId>),
    Path(&'c TypePath, Vec<SnapshotId>),
    Processes(&'c Processes),
    Program(&'c Programs, VariantId),
}

/// The comparison that is judged.
#[derive(Clone, Copy)]
struct Context<'c> {
    state: &'c State,
    assertion: &'c Assertion,
    compared: &'c Compared,
}

impl Judge {
    /// Forgets the numbers of the open recording, which is another one now.
    pub(crate) fn forget(&mut self) {
        self.measured.retain(|(is_baseline, ..), _| *is_baseline);
    }

    /// Judges an assertion.
    ///
    /// # Errors
    /// A usage error if there is no baseline, or no such snapshot, metric or program; those of the analyzer.
    pub(super) fn judge(&mut self, state: &State, assertion: &Assertion) -> Result<Judgement, QueryError> {
        self.inexact = None;
        let snapshots = match self.snapshots(state, assertion, Side::Open) {
            Err(QueryError::Usage { message }) if self.waits => {
                return Ok(Judgement::undecided(message, assertion.figure()));
            }
            snapshots => snapshots?,
        };
        let judgement = match &assertion.claim {
            Claim::NoLeaks(known) => self.no_leaks(state, known, &snapshots)?,
            Claim::Compared(compared) => match &compared.argument {
                Argument::Trials(programs) if matches!(programs.reading, OfTrials::Change) => {
                    self.change(state, compared, programs)?
                }
                _ => self.compared(Context { state, assertion, compared }, snapshots)?,
            },
        };
        Ok(Judgement { inexact: self.inexact.take(), ..judgement })
    }

    /// The snapshots of a recording that an assertion is about; none for processes and trials.
    fn snapshots(&self, state: &State, assertion: &Assertion, side: Side) -> Result<Vec<SnapshotId>, QueryError> {
        let is_growth = match &assertion.claim {
            Claim::NoLeaks(_) => false,
            Claim::Compared(Compared { argument: Argument::Objects(objects), .. }) => objects.is_growth(),
            Claim::Compared(Compared { argument: Argument::Path(_), .. }) => true,
            Claim::Compared(_) => return Ok(Vec::new()),
        };
        let known: Vec<SnapshotId> = match (side, &self.baseline) {
            (Side::Baseline, Some(baseline)) => baseline.recording.snapshot_ids().collect(),
            _ => state.snapshots()?,
        };
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

    /// Judges each case up to the first that fails.
    fn compared(&mut self, context: Context<'_>, snapshots: Vec<SnapshotId>) -> Result<Judgement, QueryError> {
        let cases: Vec<Case<'_>> = match &context.compared.argument {
            Argument::Objects(objects) if objects.is_growth() => vec![Case::Snapshots(objects, snapshots)],
            Argument::Objects(objects) => {
                snapshots.into_iter().map(|snapshot| Case::Snapshots(objects, vec![snapshot])).collect()
            }
            Argument::Path(path) => vec![Case::Path(path, snapshots)],
            Argument::Processes(processes) => vec![Case::Processes(processes)],
            Argument::Trials(programs) => {
                let variants = programs.variants(&*context.state.trials()?)?.into_iter();
                variants.map(|variant| Case::Program(programs, variant)).collect()
            }
        };
        let mut all = Vec::new();
        for case in cases {
            all.push(self.of_case(context, &case)?);
            if all.last().is_some_and(|judgement| judgement.verdict == Verdict::Fails) {
                break;
            }
        }
        let nothing = match &context.compared.argument {
            Argument::Trials(_) => "no run was recorded",
            _ => "there is no such snapshot",
        };
        Ok(Judgement::decisive(all).unwrap_or_else(|| Judgement::undecided(nothing, context.compared.measure.figure)))
    }

    fn of_case(&mut self, context: Context<'_>, case: &Case<'_>) -> Result<Judgement, QueryError> {
        let Context { state, compared, .. } = context;
        let mut unit = compared.measure.figure;
        if let Case::Program(programs, _) = case {
            unit = programs.figure(&*state.trials()?, unit)?;
            programs.check_unit(unit, compared.limit)?;
        }
        let limit = match compared.limit.factor {
            None => Ok(compared.limit.of(0.0)),
            Some(_) => {
                let before = self.of_baseline(context, case, unit)?;
                let found = self.read(context, &before, Side::Baseline)?;
                let found = found.and_then(|found| match found.doubt.filter(|_| found.interval.0 < found.interval.1) {
                    Some(doubt) => Err(format!("its number rests on {doubt}")),
                    None => Ok(compared.limit.of(found.value)),
                });
                found.map_err(|why| format!("of the baseline, {why}"))
            }
        };
        let found = match limit {
            Ok(limit) => self.read(context, case, Side::Open)?.map(|found| (found, limit)),
            Err(why) => Err(why),
        };
        let mut judgement = match found {
            Ok((found, limit)) => judged(found, compared.comparison, limit, unit)?,
            Err(why) => Judgement::undecided(why, unit),
        };
        match case {
            Case::Snapshots(objects, snapshots) if !objects.is_growth() => {
                judgement.snapshot = snapshots.first().copied();
            }
            Case::Program(_, variant) => {
                let trials = state.trials()?;
                if let (Verdict::Undecided(why), true) = (&mut judgement.verdict, trials.variants().len() > 1) {
                    *why = format!("`{}`: {why}", variant_of(&trials, *variant).name);
                }
            }
            _ => {}
        }
        Ok(judgement)
    }

    /// The case of the baseline that a case is compared with.
    fn of_baseline<'c>(&mut self, context: Context<'_>, case: &Case<'c>, unit: Figure) -> Result<Case<'c>, QueryError> {
        let has_names = match case {
            Case::Snapshots(objects, _) => objects.expression.snapshot().is_some(),
            Case::Processes(processes) => processes.expression.has_names(),
            Case::Path(..) | Case::Program(..) => false,
        };
        let baseline = self.baseline()?;
        if has_names {
            let message = "sets and rows belong to the open recording; the baseline does not have them";
            return Err(QueryError::usage(message));
        }
        Ok(match case {
            Case::Snapshots(objects, _) => {
                let mut snapshots = vec![baseline.snapshot()?];
                if objects.is_growth() {
                    snapshots = self.snapshots(context.state, context.assertion, Side::Baseline)?;
                }
                Case::Snapshots(objects, snapshots)
            }
            Case::Path(path, _) => Case::Path(path, self.snapshots(context.state, context.assertion, Side::Baseline)?),
            Case::Processes(processes) => Case::Processes(processes),
            Case::Program(programs, variant) => {
                let before = self.trials(context.state, Side::Baseline)?;
                let of_baseline = trials::counterpart(&*context.state.trials()?, *variant, &before)?;
                if programs.figure(&before, unit)? != unit {
                    return Err(QueryError::usage("the baseline measures it in another unit"));
                }
                Case::Program(programs, of_baseline)
            }
        })
    }

    fn read<'c>(&mut self, context: Context<'c>, case: &Case<'c>, side: Side) -> Result<Reading<'c>, QueryError> {
        let Context { state, compared: Compared { measure, .. }, .. } = context;
        match case {
            Case::Snapshots(objects, snapshots) => self.read_objects(state, objects, side, snapshots, measure.figure),
            Case::Path(path, snapshots) => self.read_path(state, path, side, snapshots, measure.figure),
            Case::Processes(processes) => processes.read(state, self.tree(state, side)?, &self.flags, measure),
            Case::Program(programs, variant) => programs.read(&self.trials(state, side)?, *variant),
        }
    }

    pub(super) fn baseline(&self) -> Result<&Baseline, QueryError> {
        self.baseline.as_ref().ok_or_else(|| QueryError::usage("which baseline? add `--baseline FILE`"))
    }

    pub(super) fn heap(&self, state: &State, side: Side, snapshot: SnapshotId) -> Result<Arc<Heap>, QueryError> {
        match side {
            Side::Open => state.heap(snapshot),
            Side::Baseline => {
                let recording = Arc::clone(&self.baseline()?.recording);
                Ok(Arc::new(state.context.heap_of(recording, snapshot)?))
            }
        }
    }

    fn tree(&mut self, state: &State, side: Side) -> Result<Arc<ProcessTree>, QueryError> {
        if side == Side::Open {
            return state.process_tree();
        }
        let recording = Arc::clone(&self.baseline()?.recording);
        if !recording.has_processes() {
            return Err(QueryError::usage("the baseline holds no processes"));
        }
        let tree = match self.tree_of_baseline.take() {
            Some(tree) => tree,
            None => Arc::new(ProcessTree::read_with(recording, &state.meter())?),
        };
        Ok(Arc::clone(self.tree_of_baseline.insert(tree)))
    }

    fn trials(&mut self, state: &State, side: Side) -> Result<Arc<Trials>, QueryError> {
        if side == Side::Open {
            return state.trials();
        }
        let recording = Arc::clone(&self.baseline()?.recording);
        if !recording.has_measurements() {
            return Err(QueryError::usage("the baseline holds no trials"));
        }
        let trials = match self.trials_of_baseline.take() {
            Some(trials) => trials,
            None => Arc::new(Trials::of(&recording, &state.meter())?),
        };
        Ok(Arc::clone(self.trials_of_baseline.insert(trials)))
    }

    /// Judges `compare(METRIC)`: the second program, or this recording beside the baseline, is not worse by more.
    fn change(&mut self, state: &State, compared: &Compared, programs: &Programs) -> Result<Judgement, QueryError> {
        let trials = state.trials()?;
        let is_baseline_compared = self.baseline.is_some() && programs.programs.len() < 2;
        let before = if is_baseline_compared { Some(self.trials(state, Side::Baseline)?) } else { None };
        let mut judgement = programs.change(&trials, before.as_deref(), compared)?;
        if is_baseline_compared {
            let new = state.recording()?.facts().unwrap_or_default();
            let old = self.baseline()?.recording.facts().unwrap_or_default();
            judgement.notes.extend(surroundings::differences(&old, &new));
        }
        Ok(judgement)
    }
}

/// The snapshots by which growth is judged, and whether the last one is left out; or the reason why there are too few.
/// Those of a baseline are not judged.
fn judged_snapshots<'s>(
    recording: &Recording,
    snapshots: &'s [SnapshotId],
    side: Side,
) -> Result<Result<(&'s [SnapshotId], bool), String>, QueryError> {
    if side == Side::Baseline {
        return Ok(Ok((snapshots, false)));
    }
    let (judged, is_repeated) = without_repeated(recording, snapshots)?;
    if judged.len() >= LEAST_POINTS {
        return Ok(Ok((judged, is_repeated)));
    }
    let there = units::counted(judged.len() as u64, "snapshot");
    let but = if is_repeated { " without the last one, which repeats the one before" } else { "" };
    Ok(Err(format!("{there}{but} can show no growth; {LEAST_POINTS} are needed")))
}

/// Compares a number with its limit. It is undecided if the limit is within the interval of the number.
fn judged(found: Found<'_>, comparison: Comparison, limit: f64, unit: Figure) -> Result<Judgement, QueryError> {
    let Found { value, interval: (low, high), doubt, growth, notes, witness } = found;
    let holds = comparison.holds(value, limit);
    let verdict = match &growth {
        Some(grown) => doubt.map_or_else(
            || grown.verdict(comparison, limit),
            |doubt| Verdict::Undecided(format!("how it grows rests on {doubt}")),
        ),
        None if doubt.is_some() => within(comparison, (low, high), limit, unit, &doubt.unwrap_or_default()),
        None if comparison.holds(low, limit) != holds || comparison.holds(high, limit) != holds => {
            let [low, high, limit] = [low, high, limit].map(|number| unit.text(number));
            Verdict::Undecided(format!(
                "it is known to be from {low} to {high} only, and the limit of {limit} is between them; more runs tell"
            ))
        }
        None if holds => Verdict::Holds,
        None => Verdict::Fails,
    };
    let mut judgement = Judgement::new(verdict, value, limit, unit);
    judgement.notes = notes;
    judgement.said = growth.as_ref().and_then(|grown| grown.said());
    // Growth that seems to be there is none, for this reason.
    if let Some(said) = judgement.said.filter(|_| judgement.verdict == Verdict::Holds && value > limit) {
        judgement.notes.push(format!("it {said}"));
    }
    if judgement.verdict == Verdict::Fails {
        judgement.witness = Some(witness()?);
    }
    Ok(judgement)
}

/// Judges a number of which only this interval is known, since it rests on objects of which it is not known whether
/// they count.
fn within(comparison: Comparison, (low, high): (f64, f64), limit: f64, unit: Figure, doubt: &str) -> Verdict {
    match (comparison.may_hold(low, high, limit), comparison.may_fail(low, high, limit)) {
        (true, false) => Verdict::Holds,
        (false, _) => Verdict::Fails,
        (true, true) => {
            let [from, to, limit] = [low, high, limit].map(|number| unit.text(number));
            Verdict::Undecided(if high.is_finite() {
                format!(
                    "it is known to be from {from} to {to} only, and the limit of {limit} is between them: it rests on {doubt}"
                )
            } else {
                format!("it is known to be at least {from}, and the limit is {limit}: it rests on {doubt}")
            })
        }
    }
}
