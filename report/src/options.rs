//! The options of a report.

use barrow_query::flags::QuestionFlags;

/// Options of a report.
#[derive(Debug, Clone)]
pub struct Options {
    /// Texts and names of objects are shown. They may be anything that the program had in memory.
    pub with_texts: bool,
    /// The largest report, in bytes.
    pub most_bytes: u64,
    /// Assertions, and the files and the baseline that they use. With a baseline, the report compares with it.
    pub flags: QuestionFlags,
    /// The version of the program.
    pub version: String,
}

impl Default for Options {
    /// No texts, and at most 2 MiB.
    fn default() -> Self {
        Options { with_texts: false, most_bytes: 2 << 20, flags: QuestionFlags::default(), version: String::new() }
    }
}
