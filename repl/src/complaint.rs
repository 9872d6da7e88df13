//! Sentences on stderr.

use std::io::{self, Write};

use barrow_query::QueryError;
use barrow_query::answer::visible;

use crate::error::ReplError;

/// Says something on stderr, in one line. That nothing reads stderr is no fault.
pub(crate) fn complain(sentence: &str) {
    let _ = writeln!(io::stderr(), "barrow: {}", visible::line(sentence));
}

/// Tells on stderr why there is no answer.
pub(crate) fn report(error: &ReplError) {
    match error {
        error if error.is_broken_pipe() => {}
        ReplError::Query(QueryError::Expression { .. }) => {
            drop(writeln!(io::stderr(), "barrow: {}", visible::lines(&error.to_string())));
        }
        error => complain(&error.to_string()),
    }
}
