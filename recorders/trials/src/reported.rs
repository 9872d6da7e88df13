//! Values that a program reports itself, line by line in a file, see `recorders/trial-libraries`.
//!
//! ```text
//!   value <tab> METRIC <tab> UNIT <tab> DIRECTION <tab> ITERATION <tab> SEED <tab> VALUE [ <tab> knob=value … ]
//! ```
//!
//! ITERATION and SEED may be empty. A metric that barrow measures itself, such as `wall`, becomes `reported wall`. Lines
//! that are no values are counted, and nothing more.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::folder::Folder;
use crate::metrics::is_measured;
use barrow_writer::Better;

/// More of a file is not read.
const MOST_BYTES: u64 = 64 << 20;

/// A value reported by a program.
#[derive(Debug, Clone, PartialEq)]
pub struct Reported {
    /// The name of the metric.
    pub metric: String,
    /// Its unit: `ns`, `bytes`, any other text, or nothing for counts.
    pub unit: String,
    /// Which values are better.
    pub better: Better,
    /// The iteration of the run, from 0; nothing for the run as a whole.
    pub iteration: Option<u64>,
    /// The seed of the iteration's own layout.
    pub seed: Option<u64>,
    /// The value, a finite number.
    pub value: f64,
    /// Names and values of the knobs of the iteration.
    pub knobs: Vec<(String, String)>,
}

impl Reported {
    /// A value of 0 of a run as a whole.
    #[must_use]
    pub fn new(metric: &str, unit: &str, better: Better) -> Self {
        let (metric, unit) = (metric.to_owned(), unit.to_owned());
        Reported { metric, unit, better, iteration: None, seed: None, value: 0.0, knobs: Vec::new() }
    }
}

/// The file that programs report to.
pub(crate) struct ReportFile {
    path: PathBuf,
    /// As it was made. Each run asks it whether something was reported, which is faster than to look for its path.
    made: File,
    _folder: Folder,
}

impl ReportFile {
    pub(crate) fn new() -> io::Result<Self> {
        let folder = Folder::new(&std::env::temp_dir())?;
        let path = folder.path().join("values");
        let made = File::options().write(true).create_new(true).mode(0o600).open(&path)?;
        Ok(ReportFile { path, made, _folder: folder })
    }

    /// The path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Takes what was reported since the last time, with the number of lines that are no values.
    pub(crate) fn take(&self) -> io::Result<(Vec<Reported>, usize)> {
        let made = self.made.metadata()?;
        // A program may have replaced the file.
        let is_replaced = made.nlink() == 0;
        let length = if is_replaced { fs::metadata(self.path()).map_or(0, |file| file.len()) } else { made.len() };
        if length == 0 {
            return Ok((Vec::new(), 0));
        }
        let mut bytes = Vec::new();
        File::open(self.path())?.take(MOST_BYTES).read_to_end(&mut bytes)?;
        fs::write(self.path(), [])?;
        let text = String::from_utf8_lossy(&bytes);
        let mut values = Vec::new();
        let mut others = usize::from(length > MOST_BYTES);
        for line in text.lines().filter(|line| !line.is_empty()) {
            match reported(line) {
                Some(value) => values.push(value),
                None => others += 1,
            }
        }
        Ok((values, others))
    }
}

fn reported(line: &str) -> Option<Reported> {
    let mut fields = line.split('\t');
    if fields.next()? != "value" {
        return None;
    }
    let metric = fields.next().filter(|name| !name.is_empty())?;
    let metric = if is_measured(metric) { format!("reported {metric}") } else { metric.to_owned() };
    let unit = fields.next()?.to_owned();
    let better = match fields.next()? {
        "lower" => Better::Lower,
        "higher" => Better::Higher,
        _ => Better::Unknown,
    };
    let (iteration, seed) = (optional_number(fields.next()?)?, optional_number(fields.next()?)?);
    let value = fields.next()?.parse::<f64>().ok().filter(|value| value.is_finite())?;
    let knobs = fields
        .map(|field| field.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned())))
        .collect::<Option<_>>()?;
    Some(Reported { metric, unit, better, iteration, seed, value, knobs })
}

/// A number; `Some(None)` for an empty field.
fn optional_number<N: FromStr>(field: &str) -> Option<Option<N>> {
    if field.is_empty() { Some(None) } else { field.parse().ok().map(Some) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_values_or_are_counted() {
        let file = ReportFile::new().unwrap();
        let lines = "value\twall\tns\tlower\t\t\t5\nvalue\tlatency\tns\tlower\t3\t17\t12.5\theap_small=4\n\
                     value\tlatency\tns\tlower\t\t\t1e3\n\
                     value\tlatency\tns\tlower\t\t\tNaN\nvalue\nnoise\nvalue\t\tns\tlower\t\t\t1\n";
        fs::write(file.path(), lines).unwrap();
        let (mut values, others) = file.take().unwrap();
        assert_eq!((values.len(), others), (3, 4));
        // The time of the whole run is another metric.
        assert_eq!(values.remove(0).metric, "reported wall");
        assert_eq!(values[0].knobs, [("heap_small".to_owned(), "4".to_owned())]);
        assert_eq!((values[0].iteration, values[0].seed, values[1].seed), (Some(3), Some(17), None));
        assert_eq!(file.take().unwrap(), (Vec::new(), 0));
        fs::write(file.path(), [0xff, b'\n', 0, b'\t', b'\n']).unwrap();
        assert_eq!(file.take().unwrap(), (Vec::new(), 2));
        for _ in 0..2 {
            let other = file.path().with_extension("new");
            fs::write(&other, lines).unwrap();
            fs::rename(other, file.path()).unwrap();
            assert_eq!(file.take().unwrap().0.len(), 3, "the file was replaced");
            assert_eq!(file.take().unwrap(), (Vec::new(), 0));
        }
    }
}
