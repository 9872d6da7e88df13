//! Measured values of a file, without a recording.

use std::sync::Arc;

use barrow_writer::Better;

use crate::error::{Damage, ImportError, Stop};
use crate::table::{recognise, unrecognised};
use crate::values::measurements::no_values;

/// The measured values of a file.
#[derive(Debug, Clone, Default)]
pub struct ReadValues {
    /// The values, in the order of the file.
    pub values: Vec<ReadValue>,
    /// Notes for the user: values left out.
    pub notes: Vec<String>,
}

/// A measured value.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadValue {
    /// The measured program, as the file names it. Several may have the same name and different parameters.
    pub variant: Arc<str>,
    /// The metric, such as `wall`.
    pub metric: Arc<str>,
    /// Its unit: `ns`, `bytes`, any other text, or nothing for counts.
    pub unit: Arc<str>,
    /// The direction in which values are better.
    pub better: Better,
    /// The same program under the same layout has the same value.
    pub exact: bool,
    /// The number of the run among those of its variant. Values of one run share a layout.
    pub run: u64,
    /// The iteration of the run, from 0; `None` for the run as a whole.
    pub iteration: Option<u64>,
    /// The seed of the layout.
    pub seed: Option<u64>,
    /// The run failed: then its values are not those of the program.
    pub failed: bool,
    /// The value, a finite number.
    pub value: f64,
}

/// Reads the values of an uncompressed file of one of [`FORMATS`](crate::FORMATS) whose format holds
/// [`Holds::Values`](crate::Holds). Takes about 100 bytes for each value, and each name once.
///
/// ```
/// let read = barrow_importers::read_values(b"metric,unit,value\nwall,ns,1500\nwall,ns,1700\n")?;
/// let values: Vec<f64> = read.values.iter().map(|value| value.value).collect();
/// assert_eq!(values, [1500.0, 1700.0]);
/// assert_eq!(&*read.values[0].metric, "wall");
/// # Ok::<(), barrow_importers::ImportError>(())
/// ```
///
/// # Errors
/// [`ImportError::Unrecognised`], [`ImportError::OtherKind`], [`ImportError::NoValues`], and
/// [`ImportError::NoWholeValue`] for a file that is cut or damaged. Single unreadable rows or lines are left out, and
/// a note counts them.
pub fn read_values(text: &[u8]) -> Result<ReadValues, ImportError> {
    let format = recognise(text).ok_or_else(|| unrecognised(text))?;
    let Some(read) = format.0.read else {
        let instead = "values of benchmarks can be read";
        return Err(ImportError::OtherKind { found: format.0.name, instead });
    };
    let mut read = read(text, None)?;
    match read.end {
        Ok(()) => {}
        Err(Stop::Damage(damage @ Damage::LeftOut { .. }, _)) => read.values.note(damage.to_string()),
        Err(Stop::Damage(damage, _) | Stop::Partial(damage)) => return Err(ImportError::NoWholeValue { damage }),
        Err(Stop::Import(error)) => return Err(error),
    }
    let mut notes = read.values.take_notes();
    notes.extend(read.values.take_unusable().into_iter().map(|unusable| unusable.to_string()));
    if read.values.rows.is_empty() {
        return Err(no_values(&notes));
    }
    let values = read.values.rows.iter().map(|row| {
        let (run, metric) = (&read.values.runs[row.run], &read.values.metrics[row.metric]);
        ReadValue {
            variant: Arc::clone(&read.values.variants[run.variant].name),
            metric: Arc::clone(&metric.name),
            unit: Arc::clone(&metric.unit),
            better: metric.better,
            exact: metric.exact,
            run: run.number,
            iteration: row.iteration,
            seed: row.seed.or(run.seed),
            failed: run.end.is_some_and(|end| end.failed),
            value: row.value,
        }
    });
    Ok(ReadValues { values: values.collect(), notes })
}
