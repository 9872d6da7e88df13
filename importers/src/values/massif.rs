//! Valgrind's massif (`massif.out.PID`).
//!
//! ```text
//!   desc: --massif-out-file=heap.massif
//!   cmd: ./heap arg
//!   time_unit: i
//!   #-----------
//!   snapshot=0
//!   #-----------
//!   time=0
//!   mem_heap_B=0             useful bytes
//!   mem_heap_extra_B=0       bytes that the allocator adds
//!   mem_stacks_B=0
//!   heap_tree=empty          or `detailed`, or `peak` with a tree below it
//! ```
//!
//! `docs/imports.md` lists the use of each field.

use std::path::Path;

use barrow_writer::Better;

use crate::error::{Damage, ImportError, Stop};
use crate::format::Importer;
use crate::processes::process_logs::{Lines, readable, text};
use crate::values::measurements::{MetricText, ParsedValues, Values, import, standard};

/// Files of massif.
pub(crate) const IMPORTER: Importer = Importer {
    key: "massif",
    name: "file of massif (massif.out)",
    heading: "massif",
    sample: "heap.massif",
    recognises: |first_bytes| {
        let mut lines = Lines::new(first_bytes).map(|line| line.text);
        let desc = lines.next().is_some_and(|line| line.starts_with(b"desc:"));
        desc && lines.take(2).any(|line| line.starts_with(b"cmd:"))
    },
    import: |dump, context| import(dump, context, read),
    read: Some(read),
    ..Importer::OF_VALUES
};

/// The name of the variant if its command is unknown.
const UNNAMED: &str = "unnamed";
/// Pages that the program mapped, with `--pages-as-heap=yes`.
const PEAK_MAPPED: MetricText<'static> =
    MetricText { name: "peak_mapped", unit: "bytes", better: Better::Lower, exact: false };

/// The peak so far.
#[derive(Debug, Default)]
struct Peak {
    /// Useful bytes of the current snapshot.
    current: Option<u64>,
    /// Those of the snapshot that massif marks as the peak.
    marked: Option<u64>,
    most: Option<u64>,
}

impl Peak {
    /// Takes a line of a snapshot. Returns false if its number is invalid.
    fn take(&mut self, line: &[u8]) -> bool {
        if let Some(bytes) = line.strip_prefix(b"mem_heap_B=") {
            self.current = str::from_utf8(bytes).ok().and_then(|bytes| bytes.parse().ok());
            self.most = self.most.max(self.current);
            return self.current.is_some();
        }
        if line == b"heap_tree=peak" {
            self.marked = self.current;
        }
        true
    }
}

fn read(text_of_file: &[u8], _: Option<&Path>) -> Result<ParsedValues, ImportError> {
    let mut values = Values::default();
    let (mut peak, mut options, mut command) = (Peak::default(), &b""[..], &b""[..]);
    let mut end = Ok(());
    for (number, line) in (1..).zip(Lines::new(text_of_file)) {
        if line.is_cut {
            end = Err(Stop::from(Damage::Ends { length: text_of_file.len() as u64, inside: "a line" }));
        } else if let Some(desc) = line.text.strip_prefix(b"desc:") {
            options = desc.trim_ascii();
        } else if let Some(cmd) = line.text.strip_prefix(b"cmd:") {
            command = cmd.trim_ascii();
        } else if !peak.take(line.text) {
            values.no_number(|| format!("{} in line {number}", readable(line.text)));
        }
    }
    let [has_pages, has_stacks] =
        [&b"--pages-as-heap=yes"[..], b"--stacks=yes"].map(|option| memchr::memmem::find(options, option).is_some());
    let metric = if has_pages { PEAK_MAPPED } else { standard::PEAK_HEAP };
    if has_stacks {
        values.note("the peak is that of heap and stacks together; the heap alone may have had a higher one");
    }
    let name = if command.is_empty() { UNNAMED.into() } else { text(command) };
    values.word(UNNAMED);
    let variant = values.variant(&name, &[]);
    let (metric, run) = (values.own_metric(&metric), values.run(variant));
    if peak.marked.is_none() && peak.most.is_some() {
        values.note("no snapshot is marked as the peak; the largest one is taken");
    }
    // Massif marks a peak within 1 % of the true one, and a later snapshot may be larger.
    if let Some(marked) = peak.marked.filter(|&marked| Some(marked) < peak.most) {
        values.note(format!(
            "a snapshot is larger than the one that is marked as the peak, {marked} bytes; the largest one is taken"
        ));
    }
    if let Some(bytes) = peak.most {
        values.value(metric, run, None, bytes as f64, || "the peak".to_owned());
    }
    Ok(ParsedValues { values, end })
}
