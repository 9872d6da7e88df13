//! Moments of a timeline, on which time goes from top to bottom and each process has a column.

use std::sync::Arc;

use serde::{Serialize, Serializer};

/// The processes that run at a time, and what happens to one of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Moment {
    /// The time, where it is told.
    pub time: MomentTime,
    /// The processes that run, from left to right.
    pub running: Vec<Running>,
    /// Number of processes that run without a column.
    pub hidden: u64,
    /// The event.
    pub event: MomentEvent,
    /// Characters of a line, for which the columns were chosen.
    pub width: usize,
}

/// The time of a [`Moment`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MomentTime {
    /// As before.
    Unchanged,
    /// Nanoseconds since the recording began.
    Since(i64),
    /// A year, a day or a time of day, as people read it.
    Calendar(String),
}

/// A process that runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Running {
    /// Its column.
    pub column: u32,
    /// The class of its program, if it has one.
    #[serde(serialize_with = "as_text")]
    pub class: Option<Arc<str>>,
}

fn as_text<S: Serializer>(class: &Option<Arc<str>>, serializer: S) -> Result<S::Ok, S::Error> {
    class.as_deref().serialize(serializer)
}

/// An event at a [`Moment`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MomentEvent {
    /// Nothing: the classes are told.
    Nothing,
    /// A process begins.
    Begins {
        /// The column of the process that started it, if that still runs.
        from: Option<u32>,
        /// Its column.
        column: u32,
        /// Its name.
        name: String,
    },
    /// Something is told of a process.
    Told {
        /// Its column.
        column: u32,
        /// The text.
        text: String,
    },
    /// A process ends.
    Ends {
        /// Its column.
        column: u32,
        /// The way it ended.
        text: String,
        /// There is room for the text only to the right of all processes.
        is_afar: bool,
    },
}

impl MomentEvent {
    /// The column of the process to which it happens.
    #[must_use]
    pub fn column(&self) -> Option<u32> {
        match self {
            MomentEvent::Begins { column, .. }
            | MomentEvent::Told { column, .. }
            | MomentEvent::Ends { column, .. } => Some(*column),
            MomentEvent::Nothing => None,
        }
    }
}

impl Moment {
    /// Characters before the first column: a time.
    pub const GUTTER: usize = 10;
    /// Characters after the last column: how many more processes run.
    pub const MORE: usize = 4;
    /// Characters of a column.
    pub const COLUMN: usize = 2;

    /// Columns that have room in lines of so many characters.
    #[must_use]
    pub fn columns(width: usize) -> u32 {
        u32::try_from(Moment::limit(width) / Moment::COLUMN).unwrap_or(u32::MAX)
    }

    /// Characters of all columns in lines of so many characters.
    #[must_use]
    pub fn limit(width: usize) -> usize {
        width.saturating_sub(Moment::GUTTER + Moment::MORE)
    }

    /// Characters between a process and the next one to its right, or the end of the columns.
    #[must_use]
    pub fn room(width: usize, column: u32, next: Option<u32>) -> usize {
        let from = Moment::place(column) + Moment::COLUMN;
        next.map_or(Moment::limit(width), |next| Moment::place(next).saturating_sub(1)).saturating_sub(from)
    }

    /// The first character of a column.
    #[must_use]
    pub fn place(column: u32) -> usize {
        column as usize * Moment::COLUMN
    }
}
