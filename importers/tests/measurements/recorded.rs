//! The measurements of a recording after an import, in words.

use std::path::{Path, PathBuf};

use barrow_analyzer::{MeasurementRow, Recording, StringId};
use barrow_importers::{ImportError, ImportOptions, Imported, Silent, import, import_bytes};
use barrow_testdata::Shelf;
use barrow_writer::{Options, Writer};

/// An import and the recording it made.
pub(crate) struct Recorded {
    pub(crate) imported: Imported,
    pub(crate) recording: Recording,
}

/// Imports a text.
pub(crate) fn record(text: &[u8]) -> Result<Recorded, ImportError> {
    recorded(|writer| import_bytes(text, writer, &Silent))
}

/// Imports a sample.
pub(crate) fn record_sample(name: &str) -> Recorded {
    recorded(|writer| import(&sample(name), writer, &ImportOptions::default(), &Silent)).expect("a sample")
}

/// The path of a sample.
pub(crate) fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/foreign").join(name)
}

/// Makes a recording with `import`.
pub(crate) fn recorded(import: impl FnOnce(&Writer) -> Result<Imported, ImportError>) -> Result<Recorded, ImportError> {
    let shelf = Shelf::default();
    let options = Options::without_threads();
    let writer = Writer::to_stream(Box::new(shelf.clone()), options).expect("writing to memory");
    let imported = import(&writer);
    writer.finish().expect("writing to memory");
    let recording = Recording::from_bytes(shelf.take()).expect("a whole recording");
    assert_eq!(recording.damage(), None);
    Ok(Recorded { imported: imported?, recording })
}

impl Recorded {
    /// All rows.
    pub(crate) fn rows(&self) -> Vec<MeasurementRow> {
        let mut rows = Vec::new();
        self.recording
            .measurement_rows(|row| {
                rows.push(row);
                Ok(())
            })
            .expect("rows");
        rows
    }

    /// Every row as a line.
    pub(crate) fn text(&self) -> String {
        self.rows().iter().map(|row| format!("{}\n", self.line(row))).collect()
    }

    /// The values of the metric of this name, in the order of the file.
    pub(crate) fn values(&self, metric: &str) -> Vec<f64> {
        let rows = self.rows();
        let named = rows.iter().find_map(|row| match row {
            MeasurementRow::Metric { metric: id, name, .. } if self.string(*name) == metric => Some(*id),
            _ => None,
        });
        let named = named.unwrap_or_else(|| panic!("no metric {metric} in\n{}", self.text()));
        let value = |row: &MeasurementRow| match row {
            MeasurementRow::Value { metric, value, .. } if *metric == named => Some(*value),
            _ => None,
        };
        rows.iter().filter_map(value).collect()
    }

    /// The value of a fact.
    pub(crate) fn fact(&self, key: &str) -> Option<String> {
        let facts = self.recording.facts().expect("facts");
        facts.into_iter().find(|(found, _)| found == key).map(|(_, value)| value)
    }

    /// The losses, as a sentence.
    pub(crate) fn lost(&self) -> Option<String> {
        self.imported.lost.as_ref().map(ToString::to_string)
    }

    fn string(&self, id: StringId) -> String {
        self.recording.tables().expect("tables").string(id).to_owned()
    }

    fn line(&self, row: &MeasurementRow) -> String {
        let number =
            |before: &str, number: Option<u64>| number.map_or(String::new(), |number| format!("{before}{number}"));
        match row {
            MeasurementRow::Metric { metric, name, unit, better, is_exact } => {
                let exact = if *is_exact { ", exact" } else { "" };
                format!("metric {}: {} [{}] {better:?}{exact}", metric.0, self.string(*name), self.string(*unit))
            }
            MeasurementRow::Variant { variant, name, attributes, .. } => {
                let pair = |&(key, value): &(_, _)| format!(" {}={}", self.string(key), self.string(value));
                format!(
                    "variant {}: {}{}",
                    variant.0,
                    self.string(*name),
                    attributes.iter().map(pair).collect::<String>()
                )
            }
            MeasurementRow::Begin { run, variant, seed, .. } => {
                format!("run {} of {}{}", run.0, variant.0, number(" seed ", *seed))
            }
            MeasurementRow::Value { metric, run, iteration, seed, value, .. } => {
                let (iteration, seed) = (number(".", *iteration), number(" seed ", *seed));
                format!("{}{iteration} metric {} = {value}{seed}", run.0, metric.0)
            }
            MeasurementRow::End { run, exit_status, failure, .. } => {
                let failed = if failure.is_some() { " failed" } else { "" };
                format!("end {}{}{failed}", run.0, number(" status ", *exit_status))
            }
            other => format!("{other:?}"),
        }
    }
}

/// The smallest, mean and largest value.
pub(crate) fn min_mean_max(values: &[f64]) -> [f64; 3] {
    let min = values.iter().copied().fold(f64::INFINITY, f64::min);
    let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    [min, values.iter().sum::<f64>() / values.len() as f64, max]
}

/// Numbers are equal but for rounding.
pub(crate) fn assert_close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{found} instead of {expected}");
    }
}
