//! What a command answers: data that knows its units. [`json`] and [`csv`] draw it for machines.
//!
//! ```text
//! Answer ┬ facts    heading: value                one per line, or a key of the JSON object
//!        ├ tables   columns (key, unit) × rows    a table, an array of objects, a CSV file
//!        └ notes    sentences                     for people only
//! ```

pub mod csv;
pub mod json;
pub(crate) mod label;
pub(crate) mod measured;
pub(crate) mod series;
pub mod shell;
pub mod text;
pub mod units;
pub mod visible;

pub use label::shortened;
pub use measured::TimeUnit;

use std::borrow::Cow;

use barrow_analyzer::{SnapshotId, StringId, Tables};
use serde::Serialize;

/// Characters of an object's own text that an answer repeats.
const LONGEST_NAME: usize = 4096;

/// Called before each row that is drawn; an error stops the drawing there.
pub type Check<'c> = &'c (dyn Fn() -> std::io::Result<()> + 'c);

/// The answer to one question.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Answer {
    /// Single values, in their order.
    pub facts: Vec<Fact>,
    /// Tables, in their order.
    pub tables: Vec<Table>,
    /// Sentences for people, printed last, a line each.
    pub notes: Vec<String>,
    /// What JSON says of the numbers, if not each row says it.
    pub exactness: Option<&'static str>,
    /// What the exit code tells.
    pub outcome: Outcome,
    /// What is left out, and how to get it: for stderr where notes are not printed.
    pub cut: Option<String>,
    /// Further rows of its last table follow, as the answers of `more`: too many to be in memory at once.
    pub goes_on: bool,
    /// How many rows its last table has with those that follow, where that is known.
    pub all_rows: Option<u64>,
    /// What a dump had lost: a sentence for stderr, and an exit code of its own.
    pub lost: Option<String>,
}

/// How a question ended.
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
    /// Whether machines see it: JSON and CSV.
    #[must_use]
    pub fn has_machines(self) -> bool {
        self != Audience::People
    }

    /// Whether people see it: tables.
    #[must_use]
    pub fn has_people(self) -> bool {
        self != Audience::Machines
    }
}

/// A single value.
#[derive(Debug, Clone, Serialize)]
pub struct Fact {
    /// What it is called, and counted in.
    pub column: Column,
    /// The value.
    pub value: Value,
}

/// Rows of the same columns.
#[derive(Debug, Clone, Serialize)]
pub struct Table {
    /// Its key in JSON.
    pub key: &'static str,
    /// Its readers.
    pub audience: Audience,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows, each as long as `columns`.
    pub rows: Vec<Vec<Value>>,
}

/// The name and the unit of a value.
#[derive(Debug, Clone, Serialize)]
pub struct Column {
    /// Its name for machines, unit included: `shallow_bytes`.
    pub key: Cow<'static, str>,
    /// Its name for people: `shallow`.
    pub heading: Cow<'static, str>,
    /// What it counts.
    pub unit: Unit,
    /// Its readers.
    pub audience: Audience,
    /// Whether a narrow terminal may leave it out.
    pub is_secondary: bool,
}

impl Column {
    /// A column for everyone.
    pub const fn new(key: &'static str, heading: &'static str, unit: Unit) -> Self {
        let (key, heading) = (Cow::Borrowed(key), Cow::Borrowed(heading));
        Column { key, heading, unit, audience: Audience::Everyone, is_secondary: false }
    }

    /// A column with a name that is not known before: that of a field.
    pub fn named(name: String, unit: Unit) -> Self {
        let heading = Cow::Owned(visible::cell(&name).into_owned());
        let key = Cow::Owned(name);
        Column { key, heading, unit, audience: Audience::Everyone, is_secondary: false }
    }

    /// The numbers of rows that list objects: `%3` names the object of row 3.
    pub const fn row_number() -> Self {
        Column::new("row", "%", Unit::Number).for_people()
    }

    /// The same, left out where a terminal is too narrow for all columns.
    pub const fn secondary(mut self) -> Self {
        self.is_secondary = true;
        self
    }

    /// The same for people only.
    pub const fn for_people(mut self) -> Self {
        self.audience = Audience::People;
        self
    }

    /// The same for machines only.
    pub const fn for_machines(mut self) -> Self {
        self.audience = Audience::Machines;
        self
    }
}

/// What a number counts, so how people read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// No number.
    Text,
    /// A number that names something: printed as it is.
    Number,
    /// Things: `1,234`.
    Count,
    /// Bytes: `12.3 MiB`.
    Bytes,
    /// An object: `@123`.
    Object,
    /// Where an object lived: `0x7f00`.
    Address,
    /// Nanoseconds: `1.50 s`.
    Duration,
    /// A part of a whole: `12.3 %`.
    Share,
    /// A [`Value::List`] or [`Value::Record`].
    Nested,
}

/// A value; its column says what it counts. It serialises with its kind: `{"kind":"estimate","value":7}`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", content = "value", rename_all = "snake_case")]
pub enum Value {
    /// Not recorded, or does not apply.
    None,
    /// Text.
    Text(String),
    /// An object's own name or text: whole for machines and in facts, the beginning of it in tables.
    Name(String),
    /// A line to read instead of an object, as one line.
    Line(String),
    /// A path from the roots, step by step: whole, but at a terminal that is too narrow.
    Path(Vec<String>),
    /// A number.
    Number(u64),
    /// A number that a program holds, with its sign.
    Signed(i64),
    /// A number that is about right.
    Estimate(u64),
    /// A signed difference.
    Change(i64),
    /// Between 0 and 1.
    Share(f64),
    /// A share that is about right.
    EstimatedShare(f64),
    /// A number that need not be whole: so much per something, or a chance.
    Rate(f64),
    /// A measured number, and the same for people: columns of trials hold values of several units.
    Measured {
        /// The number.
        value: f64,
        /// With its unit.
        text: String,
    },
    /// Yes or no.
    Flag(bool),
    /// What a field of an object holds: true or false.
    Truth(bool),
    /// The object that a field holds, and how people name it.
    Object {
        /// Its number in the snapshot.
        id: u32,
        /// `@12 java.util.HashMap`.
        text: String,
    },
    /// Why a field of an object has no value to show.
    Absent(Absence),
    /// Values in order; machines only.
    List(Vec<Value>),
    /// Values by name; machines only.
    Record(Vec<(String, Value)>),
}

/// Why a field of an object has no value to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Absence {
    /// Objects of its type have no such field.
    Missing,
    /// It was not recorded.
    Unknown,
    /// It holds nothing.
    Null,
}

impl Absence {
    /// In one word; nothing of a field that is missing.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Absence::Missing => "",
            Absence::Unknown => "unknown",
            Absence::Null => "null",
        }
    }
}

/// What is between the steps of a [`Value::Path`].
pub const BETWEEN_STEPS: &str = " › ";

impl Value {
    /// Text, owned.
    pub fn text(text: impl Into<String>) -> Self {
        Value::Text(text.into())
    }

    /// An object's own name or text, if it has one.
    pub fn name(tables: &Tables, name: Option<StringId>) -> Self {
        name.map_or(Value::None, |name| Value::name_of(tables.string(name)))
    }

    /// The own name or text of an object. Of a long one its beginning, and how long it is.
    pub fn name_of(text: &str) -> Self {
        match text.char_indices().nth(LONGEST_NAME) {
            None => Value::Name(text.to_owned()),
            Some((end, _)) => Value::Name(format!("{}… ({} characters)", &text[..end], text.chars().count())),
        }
    }

    /// The difference between two counts, as far as 63 bits go.
    pub fn change(before: u64, after: u64) -> Self {
        let difference = i128::from(after) - i128::from(before);
        Value::Change(difference.clamp(i64::MIN.into(), i64::MAX.into()) as i64)
    }

    /// The same number or share, marked as an estimate.
    pub fn estimated(self) -> Self {
        match self {
            Value::Number(number) => Value::Estimate(number),
            Value::Share(share) => Value::EstimatedShare(share),
            other => other,
        }
    }

    /// `part` of `whole`; of nothing there is no share.
    pub fn share(part: u64, whole: u64) -> Self {
        if whole == 0 { Value::None } else { Value::Share(part as f64 / whole as f64) }
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::None, Into::into)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Value::Number(number)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Value::Number(number.into())
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Self {
        Value::Number(number as u64)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::Text(text)
    }
}

impl Answer {
    /// An answer that is words of our own, in lines: what `help` and `set` say.
    pub fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        let machines = Column::new("text", "", Unit::Text).for_machines();
        Answer {
            facts: vec![Fact { column: machines, value: Value::Text(text.clone()) }],
            notes: text.lines().map(str::to_owned).collect(),
            ..Answer::default()
        }
    }

    /// Adds a fact.
    pub fn fact(mut self, column: Column, value: impl Into<Value>) -> Self {
        self.facts.push(Fact { column, value: value.into() });
        self
    }

    /// Adds the snapshot that the answer is about.
    pub fn of_snapshot(self, snapshot: SnapshotId) -> Self {
        self.fact(Column::new("snapshot", "snapshot", Unit::Number), snapshot.0)
    }

    /// Adds a table.
    pub fn table(mut self, table: Table) -> Self {
        self.tables.push(table);
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

    /// Every number in it is exact.
    pub fn exact(mut self) -> Self {
        self.exactness = Some("exact");
        self
    }
}
