//! Sentences on stderr.

use std::io::{self, Write};

use barrow_query::answer::visible;

/// Says something on stderr, in one line. That nothing reads stderr is no fault.
pub(crate) fn complain(sentence: &str) {
    let _ = writeln!(io::stderr(), "barrow: {}", visible::line(sentence));
}
