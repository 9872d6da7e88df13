//! What assertions measure of processes: `memory(class = "ld") < 2G`, `wall() < 10min`.

use std::sync::Arc;

use barrow_processes::{Expression, ImageSet, ProcessTree, SampledPeak, Selection, Sum};

use super::figure::Figure;
use crate::answer::units;
use crate::error::QueryError;
use crate::flags::QuestionFlags;
use crate::language::asked;
use crate::session::state::State;

/// What is measured of the processes that an expression describes.
#[derive(Debug, Clone)]
pub(super) struct ProcessMeasure {
    pub(super) quantity: Quantity,
    pub(super) expression: Expression,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantity {
    /// How many programs were executed.
    Count,
    /// How many processes failed.
    Failed,
    /// The largest peak of memory of a single one.
    Memory,
    /// The most memory that they had together in a sample.
    Peak,
    /// From the beginning of the first to the end of the last.
    Wall,
    Cpu,
    User,
    System,
    Reads,
    Writes,
}

/// Processes that were measured.
pub(super) struct Measured {
    pub(super) tree: Arc<ProcessTree>,
    pub(super) images: Arc<ImageSet>,
    /// The sample with the peak, if that was measured.
    pub(super) sample: Option<SampledPeak>,
    /// The number; `Err` says why it is not known.
    pub(super) found: Result<f64, String>,
    /// What the number does not include.
    pub(super) notes: Vec<String>,
}

impl Quantity {
    const ALL: [(&'static str, Quantity); 10] = [
        ("count", Quantity::Count),
        ("failed", Quantity::Failed),
        ("memory", Quantity::Memory),
        ("peak", Quantity::Peak),
        ("wall", Quantity::Wall),
        ("cpu", Quantity::Cpu),
        ("user", Quantity::User),
        ("system", Quantity::System),
        ("reads", Quantity::Reads),
        ("writes", Quantity::Writes),
    ];

    /// The quantity of this name.
    pub(super) fn named(word: &str) -> Option<Self> {
        Quantity::ALL.into_iter().find(|(name, _)| *name == word).map(|(_, quantity)| quantity)
    }

    /// The attribute that ranks the processes of a witness; none where each counts as much.
    pub(super) fn attribute(self) -> Option<&'static str> {
        match self {
            Quantity::Count | Quantity::Failed | Quantity::Peak => None,
            _ => Quantity::ALL.into_iter().find(|(_, quantity)| *quantity == self).map(|(name, _)| name),
        }
    }

    /// What it counts.
    pub(super) fn unit(self) -> Figure {
        match self {
            Quantity::Count => Figure::Programs,
            Quantity::Failed => Figure::Processes,
            Quantity::Memory | Quantity::Peak | Quantity::Reads | Quantity::Writes => Figure::Bytes,
            Quantity::Wall | Quantity::Cpu | Quantity::User | Quantity::System => Figure::Time,
        }
    }
}

impl ProcessMeasure {
    /// Measures the processes of a tree.
    ///
    /// # Errors
    /// Those of the classes.
    pub(super) fn of(
        &self,
        state: &State,
        tree: &Arc<ProcessTree>,
        flags: &QuestionFlags,
    ) -> Result<Measured, QueryError> {
        let classes = if self.expression.needs_classes() {
            Some(asked::classes(state, tree, &self.expression, flags)?)
        } else {
            None
        };
        let images = self.expression.select(tree, classes.as_deref());
        let selection = Selection::of(tree, &images);
        let mut measured = Measured {
            tree: Arc::clone(tree),
            images: Arc::new(images),
            sample: None,
            found: Ok(0.0),
            notes: Vec::new(),
        };
        if let Some(classes) = &classes {
            let strange = self.expression.strange_labels(classes).into_iter();
            measured.notes.extend(strange.map(|strange| asked::told(strange, classes)));
        }
        match self.quantity {
            Quantity::Count => measured.found = Ok(selection.images as f64),
            Quantity::Failed => measured.fail(&selection),
            Quantity::Wall => measured.found = Ok(selection.wall_ns() as f64),
            Quantity::Peak => measured.sample(),
            Quantity::Memory => {
                measured.take(selection.peak_bytes, selection.unknown_peaks, &selection, "peak of memory")
            }
            Quantity::Cpu => {
                measured.take(selection.cpu_ns.value(), selection.unknown_cpu(), &selection, "processor time")
            }
            Quantity::User => measured.add(selection.user_ns, &selection, "user time"),
            Quantity::System => measured.add(selection.system_ns, &selection, "system time"),
            Quantity::Reads => measured.add(selection.read_bytes, &selection, "number of bytes read"),
            Quantity::Writes => measured.add(selection.written_bytes, &selection, "number of bytes written"),
        }
        if let Some(attribute) = self.expression.unknown_attribute(tree) {
            measured.found = Err(asked::untold(attribute, tree));
        }
        Ok(measured)
    }
}

impl Measured {
    /// Takes the number of processes that failed.
    fn fail(&mut self, selection: &Selection) {
        if !self.tree.knowledge().failures {
            self.found = Err(asked::untold("failed", &self.tree));
            return;
        }
        self.found = Ok(selection.failed as f64);
        self.notes.extend(asked::failures_not_counted(&self.tree, selection.unknown_failures));
    }

    /// Takes a sum, of which a part may be unknown.
    fn add(&mut self, sum: Sum, selection: &Selection, what: &str) {
        self.take(sum.value(), sum.unknown(), selection, what);
    }

    /// Takes a number that does not include some programs; it may be unknown, unless there are no programs.
    fn take(&mut self, number: Option<u64>, unknown: u32, selection: &Selection, what: &str) {
        let none = (selection.images == 0).then_some(0);
        self.found = match number.or(none) {
            Some(number) => Ok(number as f64),
            None => Err(format!("the {what} was not recorded")),
        };
        if unknown > 0 && number.is_some() {
            let programs = units::counted(unknown.into(), "program");
            self.notes.push(format!("the {what} of {programs} was not recorded and is not included"));
        }
    }

    /// Takes the largest sample of memory.
    fn sample(&mut self) {
        self.sample = SampledPeak::of(&self.tree, &self.images);
        match &self.sample {
            None => self.found = Err("the recording has no samples of memory".to_owned()),
            Some(sample) => {
                self.found = Ok(sample.bytes as f64);
                let samples = units::counted(self.tree.samples().len() as u64, "sample");
                self.notes.push(format!("the largest of {samples}; between two of them it may have been larger"));
            }
        }
    }
}
