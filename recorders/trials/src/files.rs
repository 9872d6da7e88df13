//! Files of values that programs write in each run, such as the JSON of a benchmark.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use crate::error::TrialError;
use crate::output::Output;
use crate::plan::ReadValues;
use crate::reported::Reported;

/// What stands for the output of the program.
const OUTPUT: &str = "-";

/// The files of a trial.
pub(crate) struct ValueFiles<'p> {
    read: &'p [ReadValues],
    /// What each was before the run: one that the run did not write says nothing of it.
    before: Vec<Option<(SystemTime, u64)>>,
}

impl<'p> ValueFiles<'p> {
    pub(crate) fn new(read: &'p [ReadValues]) -> Self {
        ValueFiles { read, before: Vec::new() }
    }

    /// A run begins.
    pub(crate) fn begin(&mut self) {
        self.before = self.read.iter().map(|file| state(&file.file)).collect();
    }

    /// The values that a run wrote, in the order of the files. Values of one metric are its iterations, if there are
    /// several.
    ///
    /// # Errors
    /// A file was not written, or cannot be read.
    pub(crate) fn take(&self, run: u32, output: &Output) -> Result<Vec<Reported>, TrialError> {
        let mut values = Vec::new();
        for (file, before) in self.read.iter().zip(&self.before) {
            values.extend(self::values(file, *before, run, output)?);
        }
        let mut counts: HashMap<String, u64> = HashMap::new();
        values.iter().for_each(|value| *counts.entry(value.metric.clone()).or_default() += 1);
        let mut next: HashMap<String, u64> = HashMap::new();
        for value in &mut values {
            let next = next.entry(value.metric.clone()).or_default();
            value.iteration = (counts[&value.metric] > 1).then_some(*next);
            *next += 1;
        }
        Ok(values)
    }
}

fn state(path: &Path) -> Option<(SystemTime, u64)> {
    let file = fs::metadata(path).ok()?;
    Some((file.modified().ok()?, file.len()))
}

fn values(
    read: &ReadValues,
    before: Option<(SystemTime, u64)>,
    run: u32,
    output: &Output,
) -> Result<Vec<Reported>, TrialError> {
    let name = || read.file.display().to_string();
    let bytes = if read.file == Path::new(OUTPUT) {
        output.text().map_err(TrialError::io("read the output"))?.into_bytes()
    } else if state(&read.file).is_none() || state(&read.file) == before {
        return Err(TrialError::NotWritten { file: name(), run });
    } else {
        fs::read(&read.file).map_err(|error| TrialError::Values { file: name(), run, cause: error.to_string() })?
    };
    (read.read)(&bytes).map_err(|cause| TrialError::Values { file: name(), run, cause })
}

#[cfg(test)]
mod tests {
    use barrow_writer::Better;

    use super::*;

    fn lines(bytes: &[u8]) -> Result<Vec<Reported>, String> {
        let value = |line: &str| {
            let (metric, value) = line.split_once(' ').ok_or("no value")?;
            let value = value.parse().map_err(|_| "no number")?;
            Ok(Reported { value, ..Reported::new(metric, "", Better::Lower) })
        };
        String::from_utf8_lossy(bytes).lines().map(value).collect()
    }

    #[test]
    fn a_run_writes_its_values() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("values");
        let read = [ReadValues { file: path.clone(), read: lines }];
        let output = Output::new().unwrap();
        let mut files = ValueFiles::new(&read);
        files.begin();
        assert!(matches!(files.take(0, &output), Err(TrialError::NotWritten { run: 0, .. })));
        fs::write(&path, "a 1\na 2\nb 3\n").unwrap();
        let found = files.take(0, &output).unwrap();
        let found: Vec<_> = found.iter().map(|one| (one.metric.as_str(), one.iteration, one.value)).collect();
        assert_eq!(found, [("a", Some(0), 1.0), ("a", Some(1), 2.0), ("b", None, 3.0)]);
        files.begin();
        assert!(matches!(files.take(1, &output), Err(TrialError::NotWritten { run: 1, .. })), "it is that of run 0");
        fs::write(&path, "a\n").unwrap();
        assert!(matches!(files.take(1, &output), Err(TrialError::Values { .. })));
    }
}
