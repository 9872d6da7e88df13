//! `compare`: two programs, metric by metric and mode by mode.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use barrow_trials::{MetricId, Series, Trials, VariantId};

use crate::tables::trials::STATISTICS_BYTES;
use crate::tables::trials::comparison::{self, Asked, Compared};
use crate::tables::trials::presentation::Presentation;
use crate::tables::trials::surroundings;

use super::{more, prelude::*};

pub(super) const COMMAND: Command = Command {
    arguments: "[A] [B] [METRIC..] [--reference PROGRAM] [--threshold SHARE] [--floor AMOUNT] [--weight SHARE] [-u UNIT]",
    example: "compare sort sort-new wall",
    flags: &["--threshold", "--floor", "--weight", "--reference", "-u"],
    touches: Touches::RECORDING.with(Touches::READS_FILES),
    ..Command::new("compare", include_str!("../../verbs/compare.md"), Group::Trials, run)
};

/// One side of a comparison.
struct Side {
    trials: Arc<Trials>,
    variant: VariantId,
    damage: Option<String>,
    /// As it was named.
    name: String,
    /// The facts of its recording, if that is another one.
    facts: Option<Vec<(String, String)>>,
}

/// The series of a recording, found in one pass for all of its programs.
struct SeriesCache<'s> {
    trials: &'s Trials,
    known: HashMap<MetricId, HashMap<VariantId, Series<'s>>>,
}

impl<'s> SeriesCache<'s> {
    fn of(&mut self, metric: MetricId, variant: VariantId) -> Series<'s> {
        let known = self.known.entry(metric).or_insert_with(|| {
            Series::of_metric(self.trials, metric).into_iter().map(|one| (one.variant(), one)).collect()
        });
        known.get(&variant).cloned().unwrap_or_else(|| Series::of(self.trials, metric, variant))
    }
}

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let words = ask.arguments.words();
    let flags = &ask.arguments.flags.trial;
    let (a, others, metrics) = sides(ask, &words, flags.reference.as_deref())?;
    let presentation = Presentation::of(&a.trials, flags)?;
    let asked = Asked { relative: flags.threshold, floor: flags.floor, weight: flags.weight };
    // Every metric of many programs would be a page that says nothing: the time, or the first metric, is enough.
    let known = a.trials.metrics();
    let main = known.iter().find(|metric| metric.name == "wall").or(known.first());
    let main = [main.map_or_else(|| "wall".to_owned(), |metric| metric.name.clone())];
    let metrics = if others.len() > 1 && metrics.is_empty() { &main[..] } else { metrics };
    let mut rows = Vec::new();
    let mut of_a = SeriesCache { trials: &a.trials, known: HashMap::new() };
    for b in &others {
        rows.extend(compared(ask, &a, &mut of_a, b, metrics, asked)?);
        ask.context.check()?;
    }
    let mut notes = comparison::notes(&rows);
    let mut answer = Answer::default().fact(Column::text("a").called("A"), a.name.as_str());
    match &others[..] {
        [b] => {
            answer = answer.fact(Column::text("b").called("B"), b.name.as_str());
            answer.lost = b.damage.as_ref().map(|damage| format!("{}: {damage}", b.name));
            let own = ask.recording()?.facts().unwrap_or_default();
            notes.extend(b.facts.as_deref().and_then(|facts| surroundings::differences(&own, facts)));
        }
        _ => notes.push("`compare A B` compares two of them in all metrics".to_owned()),
    }
    for table in comparison::tables(&rows) {
        answer = answer.table(presentation.times(table));
    }
    Ok(more::first_page(ask, answer.lines(notes).exact(), ask.page_rows()))
}

/// The metrics that both sides have values of, or those that were named.
fn compared<'s>(
    state: &State,
    a: &'s Side,
    known: &mut SeriesCache<'s>,
    b: &'s Side,
    named: &[String],
    asked: Asked,
) -> Result<Vec<Compared<'s>>, QueryError> {
    let mut rows = Vec::new();
    let names: Vec<&str> = match named {
        [] => a.trials.metrics().iter().map(|metric| metric.name.as_str()).collect(),
        named => named.iter().map(String::as_str).collect(),
    };
    for name in names {
        let (of_a, of_b) = match (a.trials.metric(name), b.trials.metric(name)) {
            (Ok(of_a), Ok(of_b)) => (of_a, of_b),
            (Err(error), _) | (_, Err(error)) if !named.is_empty() => return Err(error.into()),
            _ => continue,
        };
        let (old, new) = (&a.trials.metrics()[of_a.index()], &b.trials.metrics()[of_b.index()]);
        if old.unit != new.unit {
            return Err(QueryError::usage(format!("{name} is in {} in A and in {} in B", old.unit, new.unit)));
        }
        let of_a = known.of(of_a, a.variant);
        let of_b = match Arc::ptr_eq(&a.trials, &b.trials) {
            true => known.of(of_b, b.variant),
            false => Series::of(&b.trials, of_b, b.variant),
        };
        if of_a.is_empty() || of_b.is_empty() {
            if named.is_empty() {
                continue;
            }
            return Err(QueryError::usage(format!("not both programs have a value of {name}")));
        }
        state.context.require(of_a.len() + of_b.len(), STATISTICS_BYTES)?;
        rows.push(Compared::of(old, &of_a, &of_b, &b.name, asked));
    }
    if rows.is_empty() {
        return Err(QueryError::usage(format!("{} and {} have no metric in common", a.name, b.name)));
    }
    Ok(rows)
}

/// A, each B, and the words after them.
fn sides<'w>(
    state: &State,
    words: &'w [String],
    reference: Option<&str>,
) -> Result<(Side, Vec<Side>, &'w [String]), QueryError> {
    let trials = state.trials()?;
    let reference = reference.map(|name| trials.variant(name)).transpose()?;
    if let [first, rest @ ..] = words
        && let Some((file, variant)) = file(&trials, first)
    {
        let b = of_file(state, file, variant)?;
        let same = b.trials.variants()[b.variant.index()].name.as_str();
        let a = trials.variant_ids().find(|id| trials.variants()[id.index()].name == same);
        let a = of_variant(&trials, a.or_else(|| trials.variant_ids().next()).ok_or(QueryError::NoTrials)?);
        return Ok((a, vec![b], rest));
    }
    if let [first, second, rest @ ..] = words
        && let Ok(variant) = trials.variant(first)
    {
        let a = of_variant(&trials, variant);
        if let Some((file, variant)) = file(&trials, second) {
            return Ok((a, vec![of_file(state, file, variant)?], rest));
        }
        // A single name may be followed by metrics.
        match trials.variant(second) {
            Ok(variant) => return Ok((a, vec![of_variant(&trials, variant)], rest)),
            Err(error) if trials.metric(first).is_err() => return Err(error.into()),
            Err(_) => {}
        }
    }
    if let Some(word) = words.iter().find(|word| trials.metric(word).is_err()) {
        trials.variant(word)?;
        return Err(QueryError::usage("name two programs, or a program and a FILE: `compare A B`"));
    }
    let with_runs: HashSet<VariantId> =
        trials.runs().iter().filter(|run| run.counts()).map(|run| run.variant).collect();
    let mut all: Vec<VariantId> = trials.variant_ids().filter(|id| with_runs.contains(id)).collect();
    all.sort_by_key(|id| Some(*id) != reference);
    match &all[..] {
        [a, others @ ..] if !others.is_empty() => {
            let others = others.iter().map(|&id| of_variant(&trials, id)).collect();
            Ok((of_variant(&trials, *a), others, words))
        }
        _ => Err(QueryError::usage(
            "only one program of this recording has values; name another recording, `compare FILE`, or record two with `barrow trial \
             --compare`",
        )),
    }
}

/// Returns whether a word is meant to be a recording, whatever files and programs there are.
pub(crate) fn is_recording_by_name(word: &str) -> bool {
    word.ends_with(".barrow") || word.contains(".barrow:")
}

/// A file and the program after its colon.
pub(crate) fn file_of_variant(word: &str) -> (&str, Option<&str>) {
    word.split_once(':').map_or((word, None), |(file, variant)| (file, Some(variant)))
}

/// The file that a word names, and the program after its colon. Programs precede files.
fn file<'w>(trials: &Trials, word: &'w str) -> Option<(&'w str, Option<&'w str>)> {
    if trials.variants().iter().any(|variant| variant.name == word) {
        return None;
    }
    if Path::new(word).is_file() {
        return Some((word, None));
    }
    let (file, variant) = file_of_variant(word);
    let is_file = Path::new(file).is_file() || file.ends_with(".barrow");
    is_file.then_some((file, variant))
}

fn of_variant(trials: &Arc<Trials>, variant: VariantId) -> Side {
    let name = trials.variants()[variant.index()].name.clone();
    Side { trials: Arc::clone(trials), variant, damage: None, name, facts: None }
}

fn of_file(state: &State, name: &str, variant: Option<&str>) -> Result<Side, QueryError> {
    let other = state.other(name, COMMAND.name)?;
    if !other.recording.has_measurements() {
        return Err(QueryError::unreadable(name, "it holds no trials"));
    }
    let trials = Arc::new(Trials::of(&other.recording, &state.meter())?);
    let variant = match variant {
        Some(variant) => trials.variant(variant)?,
        None => trials.variant_ids().next().ok_or(QueryError::NoTrials)?,
    };
    let label = format!("{name}:{}", trials.variants()[variant.index()].name);
    let facts = other.recording.facts().ok();
    Ok(Side { trials, variant, damage: other.damage, name: label, facts })
}
