//! The settings of one run of a program.

use std::path::Path;
use std::time::Duration;

use crate::layout::Layout;
use crate::output::Route;
use crate::pattern::ValuePattern;
use crate::round::Round;

/// The settings of one run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct How<'h> {
    pub(crate) layout: Layout,
    pub(crate) round: Round,
    pub(crate) seed: u64,
    /// The file in which the program may report values.
    pub(crate) values: Option<&'h Path>,
    pub(crate) counts_heap: bool,
    /// The destination of its standard output.
    pub(crate) output: Route,
    /// Its standard error is shown.
    pub(crate) shows_errors: bool,
    /// The patterns that are searched in its output.
    pub(crate) patterns: &'h [ValuePattern],
    /// Its whole standard output is kept.
    pub(crate) keeps_all: bool,
    pub(crate) time_limit: Option<Duration>,
    /// It keeps the terminal: its input, and the keys that stop it.
    pub(crate) has_terminal: bool,
}
