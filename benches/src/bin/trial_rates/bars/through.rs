//! Values through the command line of barrow, or its library, and what it says of them.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::outcome::{Outcome, Told};
use super::{Pair, library};

/// What is asked: the program, or the library.
pub(crate) enum Through {
    /// The program of barrow.
    CommandLine(CommandLine),
    /// Its statistics, in this process.
    Library,
}

impl Through {
    /// Compares pairs.
    pub(super) fn compare(&self, pairs: &[Pair]) -> Vec<Outcome> {
        match self {
            Through::CommandLine(command) => command.compare(pairs),
            Through::Library => library::compared(pairs),
        }
    }

    /// The number of modes of each sample.
    pub(super) fn numbers(&self, samples: &[Vec<f64>]) -> Vec<u64> {
        match self {
            Through::CommandLine(command) => command.numbers(samples),
            Through::Library => library::numbers(samples),
        }
    }

    /// The modes of each sample.
    pub(super) fn modes(&self, samples: &[Vec<f64>]) -> Vec<Vec<Told>> {
        match self {
            Through::CommandLine(command) => command.modes(samples),
            Through::Library => library::modes(samples),
        }
    }
}

/// The program, and a folder for what it reads and writes.
pub(crate) struct CommandLine {
    program: PathBuf,
    folder: tempfile::TempDir,
}

impl CommandLine {
    /// With this program.
    pub(crate) fn new(program: &Path) -> Self {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        CommandLine { program: program.to_owned(), folder }
    }

    /// Compares pairs, each as a metric of its own.
    fn compare(&self, pairs: &[Pair]) -> Vec<Outcome> {
        for (side, name) in ["a", "b"].into_iter().enumerate() {
            self.import(name, pairs.iter().map(|pair| &pair[side][..]));
        }
        let told = self.run(&["compare", "a.barrow", "b.barrow", "--format", "json"], "");
        let answer: Value = serde_json::from_str(&told).expect("an answer in JSON");
        let rows = answer["rows"].as_array().expect("rows");
        assert_eq!(rows.len(), pairs.len(), "each pair has a row");
        rows.iter()
            .map(|row| Outcome {
                verdict: row["verdict"].as_str().unwrap_or_default().to_owned(),
                shift: row["shift_low"].as_f64().zip(row["shift_high"].as_f64()),
                depends: row["depends_on_order"].as_bool().unwrap_or(false),
            })
            .collect()
    }

    /// The number of modes of each sample.
    fn numbers(&self, samples: &[Vec<f64>]) -> Vec<u64> {
        self.import("a", samples.iter().map(Vec::as_slice));
        let told = self.run(&["trials", "a.barrow", "--format", "json"], "");
        let answer: Value = serde_json::from_str(&told).expect("an answer in JSON");
        let rows = answer["rows"].as_array().expect("rows");
        rows.iter().map(|row| row["modes"].as_u64().unwrap_or(0)).collect()
    }

    /// The modes of each sample.
    fn modes(&self, samples: &[Vec<f64>]) -> Vec<Vec<Told>> {
        self.import("a", samples.iter().map(Vec::as_slice));
        let lines: String = (0..samples.len()).fold(String::new(), |mut lines, number| {
            writeln!(lines, "modes {}", name(number)).expect("a string takes what is written");
            lines
        });
        let told = self.run(&["a.barrow", "--format", "json"], &lines);
        let answers = serde_json::Deserializer::from_str(&told).into_iter::<Value>();
        let found: Vec<Vec<Told>> = answers.map(|answer| told_modes(&answer.expect("an answer in JSON"))).collect();
        assert_eq!(found.len(), samples.len(), "each sample has an answer");
        found
    }

    /// Writes samples as values of metrics, and imports them as a recording.
    fn import<'s>(&self, name: &str, samples: impl Iterator<Item = &'s [f64]>) {
        let mut table = "metric,unit,run,iteration,seed,value\n".to_owned();
        for (number, values) in samples.enumerate() {
            for (run, value) in values.iter().enumerate() {
                writeln!(table, "{},ns,{},1,,{value:?}", self::name(number), run + 1).expect("a string takes it");
            }
        }
        let file = format!("{name}.csv");
        std::fs::write(self.folder.path().join(&file), table).expect("the folder can be written to");
        self.run(&["import", &file, "-o", &format!("{name}.barrow"), "--force"], "");
    }

    /// What the program prints.
    fn run(&self, arguments: &[&str], input: &str) -> String {
        let mut child = Command::new(&self.program)
            .args(arguments)
            .current_dir(self.folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("barrow starts; `--barrow` names it");
        let mut to = child.stdin.take().expect("its input is a pipe");
        let input = input.to_owned();
        let writer = std::thread::spawn(move || to.write_all(input.as_bytes()));
        let output = child.wait_with_output().expect("barrow ends");
        drop(writer.join());
        assert!(output.status.success(), "barrow {} ended with {}", arguments.join(" "), output.status);
        String::from_utf8(output.stdout).expect("its output is text")
    }
}

/// The name of a metric.
fn name(number: usize) -> String {
    format!("p{number:05}")
}

fn told_modes(answer: &Value) -> Vec<Told> {
    let rows = answer["rows"].as_array().map_or(&[][..], Vec::as_slice);
    let ends = |row: &Value, of: &str| {
        let end = |end: &str| row[format!("{of}_{end}")].as_f64().unwrap_or(f64::NAN);
        (end("low"), end("high"))
    };
    rows.iter().map(|row| Told { location: ends(row, "location"), weight: ends(row, "weight") }).collect()
}
