//! Measures of processes: `memory(class = "ld")`, `wall()`.

use std::sync::Arc;

use barrow_processes::{Expression, ProcessTree, SampledPeak, Selection};

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

/// A number, and the most that it may be because of a doubt.
struct Known {
    value: u64,
    most: f64,
    doubt: Option<String>,
}

/// The doubt about a recording that was cut, or whose recorder was killed.
const EARLY: &str = "what the command did after the recording ended";

impl Known {
    /// A number that may be any larger one if there is a doubt.
    fn at_least(value: u64, doubt: Option<String>) -> Self {
        Known { value, most: if doubt.is_some() { f64::INFINITY } else { value as f64 }, doubt }
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
        let mut measured = Contributors { tree, images, sample: None, measure };
        Ok(self.value(&mut measured, &mut notes).map(|Known { value, most, doubt }| {
            let witness = Box::new(move || Ok(witness::of_processes(&measured)));
            Found { notes, doubt, interval: (value as f64, most), ..Found::exactly(value as f64, witness) }
        }))
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
                let doubt = match unknown {
                    0 => tree.ends_early().then(|| EARLY.to_owned()),
                    _ => Some(format!("{programs} whose {noun} is not known, or only in part")),
                };
                Ok(Known::at_least(value, doubt))
            }
            OfProcesses::Failed if !tree.knowledge().failures => Err(asked::untold("failed", tree)),
            OfProcesses::Failed => {
                let unknown = selection.unknown_failures;
                notes.extend(known_in_part::failures_not_counted(tree, unknown));
                notes.extend(known_in_part::forks_not_counted(tree).map(str::to_owned));
                let processes = units::counted(unknown, "process");
                if tree.ends_early() {
                    return Ok(Known::at_least(selection.failed, Some(EARLY.to_owned())));
                }
                let doubt = (unknown > 0).then(|| format!("{processes} of which it is not known whether they failed"));
                Ok(Known { value: selection.failed, most: (selection.failed + unknown) as f64, doubt })
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
