//! Files of values that programs write in each run, such as the JSON of a benchmark.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use crate::output::Output;
use crate::plan::ReadValues;
use crate::reported::Reported;

/// The file name that stands for the output of the program.
const OUTPUT: &str = "-";

/// The files of a trial.
pub(crate) struct ValueFiles<'p> {
    read: &'p [ReadValues],
    /// The state of each file before the run, which shows whether the run wrote it.
    before: Vec<Option<(SystemTime, u64)>>,
}

impl<'p> ValueFiles<'p> {
    pub(crate) fn new(read: &'p [ReadValues]) -> Self {
        ValueFiles { read, before: Vec::new() }
    }

    /// Whether the output of programs is one of the files.
    pub(crate) fn reads_output(&self) -> bool {
        self.read.iter().any(|read| read.file == Path::new(OUTPUT))
    }

    /// Prepares for a run.
    pub(crate) fn begin(&mut self) {
        self.before = self.read.iter().map(|file| state(&file.file)).collect();
    }

    /// The values that a run wrote, in the order of the files. Values of one metric are its iterations, if there are
    /// several.
    ///
    /// # Errors
    /// A file was not written, or cannot be read: what the run did, as a clause.
    pub(crate) fn take(&self, output: &Output) -> Result<Vec<Reported>, String> {
        let mut values = Vec::new();
        for (file, before) in self.read.iter().zip(&self.before) {
            values.extend(self::values(file, *before, output)?);
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

fn values(read: &ReadValues, before: Option<(SystemTime, u64)>, output: &Output) -> Result<Vec<Reported>, String> {
    let name = read.file.display();
    if read.file == Path::new(OUTPUT) {
        let values = output.whole().and_then(|bytes| (read.read)(bytes));
        return values.map_err(|cause| format!("printed what is not read: {cause}"));
    }
    if state(&read.file).is_none() || state(&read.file) == before {
        return Err(format!("did not write `{name}`"));
    }
    let bytes = fs::read(&read.file).map_err(|error| error.to_string());
    bytes.and_then(|bytes| (read.read)(&bytes)).map_err(|cause| format!("wrote `{name}`, which is not read: {cause}"))
}

#[cfg(test)]
mod tests {
    use barrow_writer::Better;

    use super::*;
    use crate::plan::OutputTo;

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
        let output = Output::new(&OutputTo::Pipe).unwrap();
        let mut files = ValueFiles::new(&read);
        files.begin();
        assert!(files.take(&output).unwrap_err().starts_with("did not write `"));
        fs::write(&path, "a 1\na 2\nb 3\n").unwrap();
        let found = files.take(&output).unwrap();
        let found: Vec<_> = found.iter().map(|one| (one.metric.as_str(), one.iteration, one.value)).collect();
        assert_eq!(found, [("a", Some(0), 1.0), ("a", Some(1), 2.0), ("b", None, 3.0)]);
        files.begin();
        assert!(files.take(&output).is_err(), "it is that of the run before");
        fs::write(&path, "a\n").unwrap();
        assert!(files.take(&output).unwrap_err().ends_with("which is not read: no value"));
    }
}
