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

/// The processes that are measured.
#[derive(Debug, Clone)]
pub(super) struct Processes {
    pub(super) reading: OfProcesses,
    pub(super) expression: Expression,
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
        Ok(self.value(&mut measured, &mut notes).map(|value| {
            let witness = Box::new(move || Ok(witness::of_processes(&measured)));
            Found { notes, ..Found::exactly(value as f64, witness) }
        }))
    }

    /// The number, with notes on what it does not include; or the reason why it is not known.
    fn value(&self, measured: &mut Contributors, notes: &mut Vec<String>) -> Result<u64, String> {
        let tree = &*measured.tree;
        let selection = Selection::of(tree, &measured.images);
        match self.reading {
            OfProcesses::Total(noun, number) => {
                let (number, unknown) = number(&selection);
                if unknown > 0 && number.is_some() {
                    let programs = units::counted(unknown.into(), "program");
                    notes.push(format!("the {noun} of {programs} was not recorded and is not included"));
                }
                let none = (selection.images == 0).then_some(0);
                number.or(none).ok_or_else(|| format!("the {noun} was not recorded"))
            }
            OfProcesses::Failed if !tree.knowledge().failures => Err(asked::untold("failed", tree)),
            OfProcesses::Failed => {
                notes.extend(asked::failures_not_counted(tree, selection.unknown_failures));
                Ok(selection.failed)
            }
            OfProcesses::Sampled => {
                let peak = SampledPeak::of(tree, &measured.images);
                let peak = peak.ok_or_else(|| "the recording has no samples of memory".to_owned())?;
                let samples = units::counted(tree.samples().len() as u64, "sample");
                notes.push(format!("the largest of {samples}; between two of them it may have been larger"));
                Ok(measured.sample.insert(peak).bytes)
            }
        }
    }
}
