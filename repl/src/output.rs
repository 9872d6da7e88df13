//! Draws answers: [`barrow_present`] for people, JSON and CSV for machines.

use std::io::{self, Write};

use barrow_present::Style;
use barrow_query::answer::{csv, json};
use barrow_query::{Answer, Format};

use crate::interrupt;

/// Inputs of every drawing besides the answer.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Context<'a> {
    /// The recording asked, as it was named.
    pub(crate) file: Option<&'a str>,
    /// The damage of the recording.
    pub(crate) damage: Option<&'a str>,
    /// The width in columns of the terminal that shows the answer; `None` if it goes elsewhere: then nothing is cut.
    pub(crate) width: Option<usize>,
    /// Headings may be coloured.
    pub(crate) colour: bool,
}

impl<'a> Context<'a> {
    fn style(self) -> Style {
        Style { width: self.width, has_colour: self.colour }
    }

    fn source(self) -> json::Source<'a> {
        json::Source { file: self.file, damage: self.damage }
    }
}

/// Writes `answer` to `out`.
pub(crate) fn draw(answer: &Answer, format: Format, context: Context<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut drawing = Drawing::new(format, context);
    drawing.piece(answer, out)?;
    drawing.end(out)
}

/// An answer that is drawn in pieces: the first one, then those with further rows of its last table, then the end.
pub(crate) struct Drawing<'a> {
    format: Format,
    context: Context<'a>,
    /// Pieces that were drawn.
    pieces: usize,
    table: barrow_present::Drawing<'static>,
    json: json::Progress,
}

impl<'a> Drawing<'a> {
    /// Draws nothing yet.
    pub(crate) fn new(format: Format, context: Context<'a>) -> Self {
        let table = barrow_present::Drawing::new(context.style(), &interrupt::check);
        Drawing { format, context, pieces: 0, table, json: json::Progress::default() }
    }

    /// Draws the next piece.
    pub(crate) fn piece(&mut self, answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
        let is_first = self.pieces == 0;
        self.pieces += 1;
        match (self.format, is_first) {
            (Format::Table, _) => self.table.piece(answer, out),
            (Format::Json, true) => json::begin(answer, &mut self.json, self.context.source(), &interrupt::check, out),
            (Format::Json, false) => json::go_on(answer, &mut self.json, &interrupt::check, out),
            (Format::Csv, true) => csv::begin(answer, &interrupt::check, out),
            (Format::Csv, false) => csv::go_on(answer, &interrupt::check, out),
        }
    }

    /// Draws what comes after all rows.
    pub(crate) fn end(self, out: &mut dyn Write) -> io::Result<()> {
        match self.format {
            Format::Table => self.table.end(out),
            Format::Json => json::end(&self.json, out),
            Format::Csv => Ok(()),
        }
    }
}
