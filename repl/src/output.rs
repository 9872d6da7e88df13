//! Draws answers: [`table`] for people, [`json`] and [`csv`] for machines.

mod csv;
mod json;
pub(crate) mod junit;
mod table;

use std::io::{self, Write};

use crate::answer::{Answer, Audience};
use crate::args::Format;

/// What every drawing is told besides the answer.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Context<'a> {
    /// The recording asked, as it was named.
    pub(crate) file: Option<&'a str>,
    /// What the recording lost.
    pub(crate) damage: Option<&'a str>,
    /// Bold headings, and long texts cut.
    pub(crate) terminal: bool,
    /// How many characters a line of the terminal has, if it is one.
    pub(crate) width: Option<usize>,
    /// Whether headings may be coloured.
    pub(crate) colour: bool,
}

/// Writes `answer` to `out`.
pub(crate) fn draw(answer: &Answer, format: Format, context: Context<'_>, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Table => table::draw(answer, context, out),
        Format::Json => json::draw(answer, context, out),
        Format::Csv => csv::draw(answer, out),
    }
}

impl Audience {
    fn has_machines(self) -> bool {
        self != Audience::People
    }

    fn has_people(self) -> bool {
        self != Audience::Machines
    }
}
