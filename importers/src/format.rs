//! A format of foreign dumps: its row in the table of importers.

use std::fmt;

use crate::context::{Context, Outcome};
use crate::counted::{Counted, CountedSnapshots};
use crate::error::ImportError;
use crate::intake::screen::{Screen, Text};
use crate::options::FormatOptions;
use crate::values::measurements::ReadFile;

/// A row of the table of importers: the facts that other modules need about a format.
pub(crate) struct Importer {
    /// A short unique name, for code.
    pub(crate) key: &'static str,
    /// The name that users read.
    pub(crate) name: &'static str,
    /// The heading of its section in `docs/imports.md`.
    pub(crate) heading: &'static str,
    /// A sample of it, below `testdata/foreign`.
    pub(crate) sample: &'static str,
    /// Returns whether a dump with these first bytes is of this format. At most one row says yes.
    pub(crate) recognises: fn(first_bytes: &[u8]) -> bool,
    /// Explains why a dump that no row recognises is not imported, if it is of a related format.
    pub(crate) rejects: Option<Reject>,
    /// The screen of a dump with these first bytes; `None` if they show that it is damaged.
    pub(crate) screen: fn(first_bytes: &[u8]) -> Option<Box<dyn Screen>>,
    /// Imports a dump.
    pub(crate) import: fn(dump: &[u8], context: &Context<'_>) -> Result<Outcome, ImportError>,
    /// Reads a file of measured values, if the format holds such.
    pub(crate) read: Option<ReadFile>,
    /// Counts a dump by type, for formats where that is much faster than an import. Returns `None` for dumps that it
    /// cannot count.
    pub(crate) totals: Option<Count>,
    /// Counts the snapshots of a dump by type, without an import, if a dump can hold several.
    pub(crate) snapshots: Option<CountSnapshots>,
    /// All threads of the import announce objects. Otherwise one does, which leaves the others to the writer.
    pub(crate) announces_on_all_threads: bool,
    /// Reads the time at which a dump was taken or a log began, in nanoseconds since 1970, from its first bytes, for
    /// formats that store it there.
    pub(crate) taken_ns: Option<ReadTime>,
    /// The kind of data in its files.
    pub(crate) holds: Holds,
    /// Options that only this format has.
    pub(crate) options: &'static [FormatOption],
}

impl Importer {
    /// The values shared by the rows of all formats of measured values. It recognises nothing.
    pub(crate) const OF_VALUES: Importer = Importer {
        key: "",
        name: "",
        heading: "",
        sample: "",
        recognises: |_| false,
        rejects: None,
        screen: |_| Some(Box::new(Text)),
        import: |_, _| Ok(Outcome::default()),
        read: None,
        totals: None,
        snapshots: None,
        announces_on_all_threads: true,
        taken_ns: None,
        holds: Holds::Values,
        options: &[],
    };
}

type Reject = fn(first_bytes: &[u8]) -> Option<ImportError>;
type Count = fn(dump: &[u8], context: &Context<'_>) -> Result<Option<Counted>, ImportError>;
type CountSnapshots = fn(dump: &[u8], context: &Context<'_>) -> Result<CountedSnapshots, ImportError>;
type ReadTime = fn(first_bytes: &[u8]) -> Option<u64>;

/// An option that only one format has.
#[derive(Debug, Clone, Copy)]
pub struct FormatOption {
    /// Its name: that of the flag, without dashes.
    pub name: &'static str,
    /// The syntax of its value, for the help.
    pub value: &'static str,
    /// Its effect, in a sentence.
    pub help: &'static str,
    /// A value that it accepts.
    pub example: &'static str,
    /// Parses a value and adds it to the options.
    ///
    /// # Errors
    /// A sentence that lists the valid values.
    pub set: fn(text: &str, options: &mut FormatOptions) -> Result<(), String>,
}

/// The kind of data in the files of a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// Snapshots of a heap.
    Snapshots,
    /// A tree of processes.
    Processes,
    /// Values that were measured in runs of programs.
    Values,
}

/// A format of foreign dumps.
#[derive(Clone, Copy)]
pub struct Format(pub(crate) &'static Importer);

impl Format {
    /// Its short name, such as `ruby`: no two formats have the same.
    #[must_use]
    pub fn key(self) -> &'static str {
        self.0.key
    }

    /// The heading of its section in `docs/imports.md`.
    #[must_use]
    pub fn heading(self) -> &'static str {
        self.0.heading
    }

    /// The path of a sample, below `testdata/foreign` in the project's repository.
    #[must_use]
    pub fn sample(self) -> &'static str {
        self.0.sample
    }

    /// Returns whether all threads of an import announce objects to the writer, which then needs none of its own:
    /// [`Options::threads`](barrow_writer::Options::threads) of 0 lets them encode what they announced.
    #[must_use]
    pub fn announces_on_all_threads(self) -> bool {
        self.0.announces_on_all_threads
    }

    /// The kind of data in its files. If that is processes, the recording should begin when the log does:
    /// [`Options::created_ns`](barrow_writer::Options::created_ns) of [`taken_ns`](crate::taken_ns).
    #[must_use]
    pub fn holds(self) -> Holds {
        self.0.holds
    }

    /// The options that only this format has.
    #[must_use]
    pub fn options(self) -> &'static [FormatOption] {
        self.0.options
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Format {}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Format").field(&self.key()).finish()
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}
