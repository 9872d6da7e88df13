//! The answers of commands: data that knows its units. [`json`] and [`csv`] draw it for machines.
//!
//! ```text
//! Answer ┬ facts    heading: value                one per line, or a key of the JSON object
//!        ├ tables   columns (key, unit) × rows    a table, an array of objects, a CSV file
//!        ├ curves   numbers in order                for people only: tables have them, too
//!        └ notes    sentences                     for people only
//! ```

#![forbid(unsafe_code)]

mod column;
pub mod csv;
pub mod json;
pub mod measured;
pub mod path;
pub mod shell;
mod table;
pub mod text;
pub mod timeline;
pub mod units;
mod value;
pub mod visible;

pub use column::{Column, Role, Texts, Unit};
pub use table::Table;
pub use text::shortened;
pub use value::{Absence, BETWEEN_STEPS, Mark, Value};

use serde::Serialize;

/// Called before each row that is drawn; an error stops the drawing there.
pub type Check<'c> = &'c (dyn Fn() -> std::io::Result<()> + 'c);

/// The answer to one question.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Answer {
    /// Single values, in their order.
    pub facts: Vec<Fact>,
    /// Tables, in their order.
    pub tables: Vec<Table>,
    /// Curves, drawn below the tables.
    pub curves: Vec<Curve>,
    /// Sentences for people, printed last, a line each.
    pub notes: Vec<String>,
    /// The exactness of the numbers in JSON, if rows do not have their own.
    pub exactness: Option<&'static str>,
    /// The outcome that the exit code reports.
    pub outcome: Outcome,
    /// The rows that are left out, and how to get them: for stderr where notes are not printed.
    pub cut: Option<String>,
    /// Further rows of its last table follow, as the answers of `more`: too many to be in memory at once.
    pub goes_on: bool,
    /// Number of rows of its last table with those that follow, if it is known.
    pub all_rows: Option<u64>,
    /// Losses of a dump: a sentence for stderr, and an exit code of its own.
    pub lost: Option<String>,
}

/// Numbers in order, of which people see the course; the numbers themselves are in a table.
#[derive(Debug, Clone, Serialize)]
pub struct Curve {
    /// Its name.
    pub heading: &'static str,
    /// The numbers.
    pub numbers: Vec<f64>,
    /// The unit of the numbers.
    pub unit: Unit,
    /// Its form.
    pub form: Form,
}

/// The form of a [`Curve`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// A line of text, from the least number to the greatest.
    Line,
    /// A chart, from 0 to the greatest number.
    Chart,
}

/// The outcome of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Answered.
    #[default]
    Answered,
    /// `verify` found damage.
    DamageFound,
    /// An assertion is false.
    False,
    /// An assertion is not false, and could not be judged.
    Undecided,
    /// `repair` saved everything that was committed, however damaged the rest of the file is.
    Saved,
    /// `repair` saved a part of what was committed.
    Lost,
    /// `repair` found nothing that it could save.
    NothingKept,
}

/// The readers of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Audience {
    /// Tables, JSON and CSV.
    Everyone,
    /// Tables: what machines can work out themselves, and what differs from run to run.
    People,
    /// JSON and CSV: what people see in another form.
    Machines,
}

impl Audience {
    /// Returns whether machines see it: JSON and CSV.
    #[must_use]
    pub fn has_machines(self) -> bool {
        self != Audience::People
    }

    /// Returns whether people see it: tables.
    #[must_use]
    pub fn has_people(self) -> bool {
        self != Audience::Machines
    }
}

/// A single value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fact {
    /// Its name and its unit.
    pub column: Column,
    /// The value.
    pub value: Value,
}

impl Fact {
    /// A value beside its name and unit.
    pub fn new(column: Column, value: impl Into<Value>) -> Self {
        Fact { column, value: value.into() }
    }

    /// A text that a recorder noted under a name of its own.
    pub fn noted(key: &str, text: &str) -> Self {
        Fact::new(Column::named(key.to_owned(), Unit::Text), text)
    }
}

impl Answer {
    /// An answer that is words of our own, in lines: what `help` and `set` say.
    pub fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        let machines = Column::text("text").for_machines();
        Answer {
            facts: vec![Fact { column: machines, value: Value::Text(text.clone()) }],
            notes: text.lines().map(str::to_owned).collect(),
            ..Answer::default()
        }
    }

    /// Adds a fact.
    pub fn fact(mut self, column: Column, value: impl Into<Value>) -> Self {
        self.facts.push(Fact::new(column, value));
        self
    }

    /// Adds the number of the snapshot that the answer is about.
    pub fn of_snapshot(self, snapshot: u32) -> Self {
        self.fact(Column::number("snapshot"), snapshot)
    }

    /// Adds a table.
    pub fn table(mut self, table: Table) -> Self {
        self.tables.push(table);
        self
    }

    /// Adds a curve.
    pub fn curve(mut self, curve: Curve) -> Self {
        self.curves.push(curve);
        self
    }

    /// Adds a note about what is left out of an answer, which machines find on stderr.
    pub fn cut(mut self, note: String) -> Self {
        self.cut = Some(note.clone());
        self.note(note)
    }

    /// Adds a note: one line, whatever a name in it holds.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Adds a note if it is true.
    pub fn note_if(self, is_true: bool, note: impl Into<String>) -> Self {
        if is_true { self.note(note) } else { self }
    }

    /// Adds notes that belong together, a line each.
    pub fn lines(mut self, lines: impl IntoIterator<Item = String>) -> Self {
        self.notes.extend(lines);
        self
    }

    /// Retained sizes are lower bounds; the rest is exact.
    pub fn at_least(mut self) -> Self {
        self.exactness = Some("lower bound");
        self
    }

    /// Retained sizes as exact as the dominator tree they come from.
    pub fn with_exactness(self, is_exact: bool) -> Self {
        if is_exact {
            return self.exact();
        }
        self.at_least().note(
            "retained sizes are lower bounds (≥): ephemerons keep objects alive that are freed with their source or \
             with their key, and a dominator tree has room for one of them; `retained @ID` is exact",
        )
    }

    /// It is not exact, in these words; `why` is for people.
    pub fn inexact(mut self, exactness: &'static str, why: &str) -> Self {
        self.exactness = Some(exactness);
        self.note(why)
    }

    /// Returns whether it said that its numbers are not exact.
    #[must_use]
    pub fn is_inexact(&self) -> bool {
        self.exactness.is_some_and(|exactness| exactness != "exact")
    }

    /// Every number in it is exact.
    pub fn exact(mut self) -> Self {
        self.exactness = Some("exact");
        self
    }
}

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;
