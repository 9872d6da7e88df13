//! Measures of processes: `memory(class = "ld")`, `wall()`.

use std::sync::Arc;

use barrow_processes::{Expression, ImageSet, ProcessTree, SampledPeak, Selection};

use super::judgement::{Found, Reading};
use super::measure::{Measure, OfProcesses};
use super::witness::{self, Contributors};
use crate::answer::units;
use crate::error::QueryError;
use crate::flags::QuestionFlags;
use crate::language::asked;
use crate::session::state::State;
use crate::tables::known_in_part;

/// The processes that are measured.
#[derive(Debug, Clone)]
pub(super) struct Processes {
    pub(super) reading: OfProcesses,
    pub(super) expression: Expression,
}

/// A number, and the least and the most that it may be because of a doubt.
struct Known {
    value: u64,
    least: f64,
    most: f64,
    doubt: Option<String>,
}

/// The doubt about a recording that was cut, or whose recorder was killed.
const EARLY: &str = "what the command did after the recording ended";

impl Known {
    /// A number that may be any larger one if there is a doubt.
    fn at_least(value: u64, doubt: Option<String>) -> Self {
        let least = value as f64;
        Known { value, least, most: if doubt.is_some() { f64::INFINITY } else { least }, doubt }
    }
}

impl Processes {
    /// Reads a measure from a tree.
    ///
    /// # Errors
    /// Those of the classes.
    pub(super) fn read(
        &self,
        state: &State,
        tree: Arc<ProcessTree>,
        flags: &QuestionFlags,
        measure: &'static Measure,
    ) -> Result<Reading<'static>, QueryError> {
        let mut notes = Vec::new();
        let mut classes = None;
        if self.expression.needs_classes() {
            let known = asked::classes(state, &tree, &self.expression, flags)?;
            let strange = self.expression.strange_labels(&known).into_iter();
            notes.extend(strange.map(|strange| asked::told(strange, &known)));
            classes = Some(known);
        }
        if let Some(attribute) = self.expression.unknown_attribute(&tree) {
            return Ok(Err(asked::untold(attribute, &tree)));
        }
        let images = self.expression.select(&tree, classes.as_deref());
        let undecided = self.expression.undecided(&tree, classes.as_deref());
        let mut measured = Contributors { tree, images, sample: None, measure };
        let known = self.value(&mut measured, &mut notes);
        let known = known.and_then(|known| self.with_undecided(known, &measured, &undecided));
        Ok(known.map(|Known { value, least, most, doubt }| {
            let witness = Box::new(move || Ok(witness::of_processes(&measured)));
            Found { notes, doubt, interval: (least, most), ..Found::exactly(value as f64, witness) }
        }))
    }

    /// A number as far as it is known if any of the undecided images may be among those that are measured, and any may not.
    /// All measures grow with the set.
    fn with_undecided(&self, known: Known, measured: &Contributors, undecided: &ImageSet) -> Result<Known, String> {
        if undecided.is_empty() {
            return Ok(known);
        }
        let of = |images| self.value(&mut Contributors { images, ..measured.clone() }, &mut Vec::new());
        let fewest = of(measured.images.iter().filter(|&id| !undecided.contains(id)).collect())?;
        let all = of(measured.images.iter().chain(undecided.iter()).collect())?;
        let programs = units::counted(undecided.len() as u64, "program");
        let doubt = Some(format!("{programs} of which too little is known"));
        Ok(Known { least: fewest.least, most: known.most.max(all.most), doubt: known.doubt.or(doubt), ..known })
    }

    /// The doubt about a number of all processes in a recording that lacks some. Of those it is known that they executed
    /// nothing, so another number seldom concerns them.
    fn unseen(&self, tree: &ProcessTree) -> Option<String> {
        known_in_part::unseen(tree).filter(|_| self.expression.is_of_all())
    }

    /// The number, with notes on what it does not include; or the reason why it is not known.
    fn value(&self, measured: &mut Contributors, notes: &mut Vec<String>) -> Result<Known, String> {
        let tree = &*measured.tree;
        let selection = Selection::of(tree, &measured.images);
        match self.reading {
            OfProcesses::Total(noun, number) => {
                let (number, unknown) = number(&selection);
                let none = (selection.images == 0).then_some(0);
                let value = number.or(none).ok_or_else(|| format!("the {noun} was not recorded"))?;
                // Times from the first to the last have no noun.
                let unknown = if noun.is_empty() { 0 } else { unknown.max(selection.at_least) };
                let programs = units::counted(unknown.into(), "program");
                let early = tree.ends_early().then(|| EARLY.to_owned());
                let doubt = match unknown {
                    0 if noun.is_empty() => early,
                    0 => early.or_else(|| self.unseen(tree)),
                    _ => Some(format!("{programs} whose {noun} is not known, or only in part")),
                };
                Ok(Known::at_least(value, doubt))
            }
            OfProcesses::Failed if !tree.knowledge().failures => Err(asked::untold("failed", tree)),
            OfProcesses::Failed => {
                let unknown = selection.unknown_failures;
                notes.extend(known_in_part::failures_not_counted(tree, unknown));
                notes.extend(known_in_part::forks_not_counted(tree));
                let processes = units::counted(unknown, "process");
                if let Some(doubt) = tree.ends_early().then(|| EARLY.to_owned()).or_else(|| self.unseen(tree)) {
                    return Ok(Known::at_least(selection.failed, Some(doubt)));
                }
                let doubt = (unknown > 0).then(|| format!("{processes} of which it is not known whether they failed"));
                let most = (selection.failed + unknown) as f64;
                Ok(Known { most, doubt, ..Known::at_least(selection.failed, None) })
            }
            OfProcesses::Sampled => {
                let peak = SampledPeak::of(tree, &measured.images);
                let peak = peak.ok_or_else(|| "the recording has no samples of memory".to_owned())?;
                let samples = units::counted(tree.samples().len() as u64, "sample");
                notes.push(format!("the largest of {samples}; between two of them it may have been larger"));
                let value = measured.sample.insert(peak).bytes;
                let untraced = known_in_part::untraced(tree).map(|programs| format!("{programs} that ran untraced"));
                let doubt = untraced.or_else(|| tree.ends_early().then(|| EARLY.to_owned()));
                Ok(Known::at_least(value, doubt))
            }
        }
    }
}
