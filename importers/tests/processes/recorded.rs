//! The processes of a recording after an import, in words.

use barrow_analyzer::{ProcessRow, Program, Recording, StringId, Usage};
use barrow_importers::{ImportError, ImportOptions, Imported, Silent, import, import_bytes};
use barrow_testdata::Shelf;
use barrow_writer::{Options, Writer};

/// An import and the recording it made, which began at a round second.
pub(crate) struct Recorded {
    pub(crate) imported: Imported,
    pub(crate) recording: Recording,
}

/// When recordings begin, in nanoseconds since 1970.
pub(crate) const CREATED_NS: u64 = 1_700_000_000_000_000_000;

/// Imports a log.
pub(crate) fn record(log: &str) -> Result<Recorded, ImportError> {
    record_bytes(log.as_bytes())
}

/// Imports a log.
pub(crate) fn record_bytes(log: &[u8]) -> Result<Recorded, ImportError> {
    let shelf = Shelf::default();
    let options = Options { created_ns: Some(CREATED_NS), ..Options::without_threads() };
    let writer = Writer::to_stream(Box::new(shelf.clone()), options).expect("writing to memory");
    let imported = import_bytes(log, &writer, &Silent);
    writer.finish().expect("writing to memory");
    let recording = Recording::from_bytes(shelf.take()).expect("a whole recording");
    assert_eq!(recording.damage(), None);
    Ok(Recorded { imported: imported?, recording })
}

/// Imports a log with options.
pub(crate) fn record_with(log: &[u8], options: &ImportOptions) -> Result<Recorded, ImportError> {
    let (folder, shelf) = (tempfile::tempdir().expect("a folder"), Shelf::default());
    let path = folder.path().join("log");
    std::fs::write(&path, log).expect("writing the log");
    let of_writer = Options { created_ns: Some(CREATED_NS), ..Options::without_threads() };
    let writer = Writer::to_stream(Box::new(shelf.clone()), of_writer).expect("writing to memory");
    let imported = import(&path, &writer, options, &Silent);
    writer.finish().expect("writing to memory");
    let recording = Recording::from_bytes(shelf.take()).expect("a whole recording");
    Ok(Recorded { imported: imported?, recording })
}

impl Recorded {
    /// All rows.
    pub(crate) fn rows(&self) -> Vec<ProcessRow> {
        let mut rows = Vec::new();
        self.recording
            .process_rows(|row| {
                rows.push(row);
                Ok(())
            })
            .expect("rows");
        rows
    }

    /// Every row as a line: `2us begin 1 (pid 7 of 0, on a) /bin/sh in /b: sh -c x`.
    pub(crate) fn text(&self) -> String {
        self.rows().iter().map(|row| format!("{}\n", self.line(row))).collect()
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

    fn line(&self, row: &ProcessRow) -> String {
        match row {
            ProcessRow::Begin { process, time_ns, pid, parent, host, program } => {
                let parent = parent.map_or(String::new(), |parent| format!(" of {}", parent.0));
                let host = host.map_or(String::new(), |host| format!(", on {}", self.string(host)));
                format!("{} begin {} (pid {pid}{parent}{host}){}", us(*time_ns), process.0, self.program(program))
            }
            ProcessRow::Image { process, time_ns, program, used } => {
                format!("{} image {}{}{}", us(*time_ns), process.0, self.program(program), usage(used))
            }
            ProcessRow::End { process, time_ns, exit_status, signal, used } => {
                let status = exit_status.map_or(String::new(), |status| format!(" status {status}"));
                let signal = signal.map_or(String::new(), |signal| format!(" signal {signal}"));
                format!("{} end {}{status}{signal}{}", us(*time_ns), process.0, usage(used))
            }
            ProcessRow::Attributes { process, attributes } => {
                let pair = |&(key, value): &(_, _)| format!(" {}={}", self.string(key), self.string(value));
                format!("attributes {}:{}", process.0, attributes.iter().map(pair).collect::<String>())
            }
            other => format!("{other:?}"),
        }
    }

    fn program(&self, program: &Program) -> String {
        let text =
            |before: &str, id: Option<StringId>| id.map_or(String::new(), |id| format!("{before}{}", self.string(id)));
        let arguments: Vec<String> = program.arguments.iter().map(|&argument| self.string(argument)).collect();
        let arguments = if arguments.is_empty() { String::new() } else { format!(": {}", arguments.join(" ")) };
        format!("{}{}{arguments}", text(" ", program.executable), text(" in ", program.directory))
    }
}

fn us(time_ns: i64) -> String {
    format!("{}us", time_ns as f64 / 1000.0)
}

fn usage(used: &Usage) -> String {
    let fields = [
        ("user", used.user_ns),
        ("system", used.system_ns),
        ("peak", used.peak_bytes),
        ("minor", used.minor_faults),
        ("major", used.major_faults),
        ("read", used.read_bytes),
        ("written", used.written_bytes),
        ("voluntary", used.voluntary_switches),
        ("involuntary", used.involuntary_switches),
    ];
    fields.iter().filter_map(|(name, value)| value.map(|value| format!(" {name} {value}"))).collect()
}
