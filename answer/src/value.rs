//! Values of cells and facts.

use serde::Serialize;

use crate::measured::Measured;
use crate::timeline::Moment;
use crate::{Fact, Texts, Unit};

/// Characters of an object's own text that an answer repeats: more than people read in a cell, and a page of 1,000
/// rows stays within megabytes.
const LONGEST_NAME: usize = 4096;

/// The text between the steps of a [`Value::Path`].
pub const BETWEEN_STEPS: &str = " › ";

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
    /// A number that a program holds, or a sum of such numbers, with its sign.
    Signed(i128),
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
    /// A measured number with its unit: columns of trials hold values of several units.
    Measured(Measured),
    /// A number that people read with this many decimals.
    Decimal {
        /// The number.
        value: f64,
        /// Digits after the point.
        decimals: u8,
    },
    /// Yes or no.
    Flag(bool),
    /// The value of a field of an object: true or false.
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
    /// Numbers in order, such as one for each snapshot, and what they count; `None` where there is none.
    Series {
        /// The numbers.
        numbers: Vec<Option<f64>>,
        /// The unit of the numbers.
        unit: Unit,
    },
    /// A bar beside others of its column.
    Bar {
        /// Its length.
        length: u64,
        /// That of the longest one.
        longest: u64,
    },
    /// The share of each of equal parts of a time in which something ran.
    Load(Vec<f64>),
    /// The class that ran longest in each of equal parts of a time.
    Lane(Vec<Mark>),
    /// The mark of a class in a [`Value::Lane`].
    Mark(Mark),
    /// A moment of a timeline.
    Moment(Box<Moment>),
    /// Values in order; machines only.
    List(Vec<Value>),
    /// Values by name, each with its unit; machines only. [`record!`](crate::record) makes one.
    Record(Vec<Fact>),
}

/// A class in a [`Value::Lane`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// No class: nothing ran.
    Nothing,
    /// The class of this rank, from 0.
    Rank(u32),
    /// A class without a rank.
    Other,
}

/// Why a field of an object has no value to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Absence {
    /// Objects of its type have no such field.
    Missing,
    /// The same, where a row is about that: people read it in words.
    NoField,
    /// It was not recorded.
    Unknown,
    /// It holds nothing.
    Null,
    /// It holds nothing in the second way that some languages have.
    Undefined,
}

impl Absence {
    /// In one word; nothing of a field that is missing.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Absence::Missing => "",
            Absence::Unknown => "unknown",
            Absence::Null => "null",
            Absence::Undefined => "undefined",
            Absence::NoField => "(no such field)",
        }
    }
}

impl Value {
    /// Text, owned.
    pub fn text(text: impl Into<String>) -> Self {
        Value::Text(text.into())
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

    /// Known numbers in order, and what they count.
    pub fn series(numbers: impl IntoIterator<Item = u64>, unit: Unit) -> Self {
        Value::Series { numbers: numbers.into_iter().map(|number| Some(number as f64)).collect(), unit }
    }

    /// The same number or share, marked as an estimate.
    pub fn estimated(self) -> Self {
        match self {
            Value::Number(number) => Value::Estimate(number),
            Value::Share(share) => Value::EstimatedShare(share),
            other => other,
        }
    }

    /// Returns whether it may repeat what the program had in memory, if its column holds texts of this origin. A name or
    /// a line of an object and what a field holds may do so in any column, and a number that barrow computed in none.
    #[must_use]
    pub fn may_repeat_memory(&self, texts: Texts) -> bool {
        match self {
            Value::Name(_)
            | Value::Line(_)
            | Value::Signed(_)
            | Value::Truth(_)
            | Value::Object { .. }
            | Value::Moment(_)
            | Value::Absent(_) => true,
            Value::None
            | Value::Number(_)
            | Value::Estimate(_)
            | Value::Change(_)
            | Value::Share(_)
            | Value::EstimatedShare(_)
            | Value::Rate(_)
            | Value::Decimal { .. }
            | Value::Flag(_)
            | Value::Series { .. }
            | Value::Bar { .. }
            | Value::Load(_)
            | Value::Lane(_)
            | Value::Mark(_) => false,
            Value::Text(_) | Value::Path(_) | Value::Measured(_) => texts == Texts::Program,
            Value::List(values) => values.iter().any(|value| value.may_repeat_memory(texts)),
            Value::Record(fields) => fields.iter().any(|field| field.value.may_repeat_memory(field.column.texts)),
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

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Value::Flag(flag)
    }
}

impl From<Vec<Value>> for Value {
    fn from(values: Vec<Value>) -> Self {
        Value::List(values)
    }
}
