//! Sentences on stderr.

use std::io::Write;

/// Writes one line to stderr, for a problem that fails no call: at exit, on drop, or in the thread of intervals.
pub(crate) fn tell(clause: &str) {
    let _ = writeln!(std::io::stderr(), "barrow-alloc: {clause}");
}
