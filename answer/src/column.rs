//! Columns: the names and units of values.

use std::borrow::Cow;

use serde::Serialize;

use crate::{Audience, visible};

/// The name and the unit of a value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Column {
    /// Its name for machines, unit included: `shallow_bytes`.
    pub key: Cow<'static, str>,
    /// Its name for people: `shallow`.
    pub heading: Cow<'static, str>,
    /// The unit of its values.
    pub unit: Unit,
    /// The origin of its texts.
    #[serde(skip)]
    pub texts: Texts,
    /// Its readers.
    pub audience: Audience,
    /// A narrow terminal may leave it out.
    pub is_secondary: bool,
    /// Its part in the table.
    pub role: Role,
}

impl Column {
    /// A column for everyone. People read the key without its unit and with blanks, `empty_bytes` as `empty`, unless
    /// [`Column::called`] gives another heading.
    pub fn new(key: &'static str, unit: Unit) -> Self {
        let suffix = match unit {
            Unit::Bytes => "_bytes",
            Unit::Duration => "_ns",
            _ => "",
        };
        let heading = key.strip_suffix(suffix).unwrap_or(key);
        let heading = if heading.contains('_') { heading.replace('_', " ").into() } else { Cow::Borrowed(heading) };
        let (texts, audience) = (Texts::Program, Audience::Everyone);
        Column { key: Cow::Borrowed(key), heading, unit, texts, audience, is_secondary: false, role: Role::Value }
    }

    /// A column of texts, which the program may have had in memory unless [`Column::own_words`] or [`Column::names`]
    /// says otherwise.
    pub fn text(key: &'static str) -> Self {
        Column::new(key, Unit::Text)
    }

    /// A column of numbers that name something.
    pub fn number(key: &'static str) -> Self {
        Column::new(key, Unit::Number)
    }

    /// A column of counts.
    pub fn count(key: &'static str) -> Self {
        Column::new(key, Unit::Count)
    }

    /// A column of bytes; its key ends with `_bytes`.
    pub fn bytes(key: &'static str) -> Self {
        Column::new(key, Unit::Bytes)
    }

    /// A column of nanoseconds; its key ends with `_ns`.
    pub fn duration(key: &'static str) -> Self {
        Column::new(key, Unit::Duration)
    }

    /// A column of objects.
    pub fn object(key: &'static str) -> Self {
        Column::new(key, Unit::Object)
    }

    /// A column of processes, by their names.
    pub fn process(key: &'static str) -> Self {
        Column::new(key, Unit::Process)
    }

    /// A column of parts of a whole.
    pub fn share(key: &'static str) -> Self {
        Column::new(key, Unit::Share)
    }

    /// A column of lists or records, which only JSON shows.
    pub fn nested(key: &'static str) -> Self {
        Column::new(key, Unit::Nested)
    }

    /// A column of values that are drawn, which CSV does not show.
    pub fn picture(key: &'static str) -> Self {
        Column::new(key, Unit::Picture)
    }

    /// A column for people that machines have in another form, so it has no key.
    pub fn shown(heading: impl Into<Cow<'static, str>>, unit: Unit) -> Self {
        Column::new("", unit).called(heading).for_people()
    }

    /// A column whose name comes from the recording, such as that of a field.
    pub fn named(name: String, unit: Unit) -> Self {
        let heading = visible::cell(&name).into_owned().into();
        Column { key: name.into(), heading, ..Column::new("", unit) }
    }

    /// The numbers of rows that list objects: `%3` names the object of row 3.
    pub fn row_number() -> Self {
        Column { role: Role::Place, ..Column::number("row").called("%").for_people() }
    }

    /// The places of rows in a ranking, from 1.
    pub fn rank() -> Self {
        Column { role: Role::Place, ..Column::number("rank").called("#").for_people() }
    }

    /// The depths of rows in a tree, from 0.
    pub fn depth() -> Self {
        Column { role: Role::Depth, ..Column::number("depth").for_machines() }
    }

    /// Sets the name for people.
    #[must_use]
    pub fn called(self, heading: impl Into<Cow<'static, str>>) -> Self {
        Column { heading: heading.into(), ..self }
    }

    /// Says that its texts are barrow's own words.
    #[must_use]
    pub fn own_words(self) -> Self {
        Column { texts: Texts::Own, ..self }
    }

    /// Says that its texts are names in the code of the program.
    #[must_use]
    pub fn names(self) -> Self {
        Column { texts: Texts::Names, ..self }
    }

    /// Says that it is the interval of the value of another column, or an end of it.
    #[must_use]
    pub fn interval(self) -> Self {
        Column { role: Role::Interval, ..self }
    }

    /// Lets a narrow terminal leave it out.
    #[must_use]
    pub fn secondary(self) -> Self {
        Column { is_secondary: true, ..self }
    }

    /// Hides it from machines.
    #[must_use]
    pub fn for_people(self) -> Self {
        Column { audience: Audience::People, ..self }
    }

    /// Hides it from people; it needs no heading.
    #[must_use]
    pub fn for_machines(self) -> Self {
        Column { audience: Audience::Machines, heading: Cow::Borrowed(""), ..self }
    }
}

/// The part of a column in its table. A page or a report may leave it out, or draw it in another way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The subject of the row, or a value of it.
    Value,
    /// The number or the rank of the row, which lines of a prompt name.
    Place,
    /// The depth of the row in a tree: the order of the rows is their meaning.
    Depth,
    /// The interval of the value of another column, or an end of it.
    Interval,
}

/// The origin of the texts of a column. A report that others may see leaves out those of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Texts {
    /// The memory of the program, its arguments or its files: private, hostile, anything. This is the default, so that a
    /// new column shows nothing by mistake.
    Program,
    /// Names in the code of the program and words of its recorder: types, kinds, layouts, labels of snapshots. They may be
    /// hostile, but are not private.
    Names,
    /// barrow itself.
    Own,
}

/// The unit of a number, which decides how people read it.
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
    /// A process, by a text: `1234:0`.
    Process,
    /// The address of an object: `0x7f00`.
    Address,
    /// Nanoseconds: `1.50 s`.
    Duration,
    /// A part of a whole: `12.3 %`.
    Share,
    /// A [`Value::List`](crate::Value::List) or [`Value::Record`](crate::Value::Record).
    Nested,
    /// Values that are drawn, such as a [`Value::Series`](crate::Value::Series) or a [`Value::Bar`](crate::Value::Bar).
    Picture,
}

impl Unit {
    /// Returns whether its values stand at the left and may be cut.
    #[must_use]
    pub fn is_text(self) -> bool {
        matches!(self, Unit::Text | Unit::Process | Unit::Picture)
    }
}
