//! Moments of a timeline, on which time goes from top to bottom and each process has a column.

use std::sync::Arc;

use serde::{Serialize, Serializer};

/// The processes that run at a time, and what happens to one of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Moment {
    /// The time, where it is told.
    pub time: MomentTime,
    /// The processes that run and have one of the first [`Moment::COLUMNS`] columns, from left to right. One that begins or
    /// ends is among them.
    pub running: Vec<Running>,
    /// Number of processes that run without a column.
    pub hidden: u64,
    /// The event.
    pub event: MomentEvent,
    /// Characters of a line, if the question says; else a terminal has its own.
    pub width: Option<u16>,
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
    /// Nothing: the calendar is told.
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
    /// A process executes a program of another class.
    Executes {
        /// Its column.
        column: u32,
    },
    /// A process ends.
    Ends {
        /// Its column.
        column: u32,
        /// Its processor times, which may share a line.
        used: Vec<String>,
        /// The way it ended, unless it succeeded; each text has a line.
        how: Vec<String>,
        /// How long it ran, or that its end was not recorded.
        mark: String,
    },
}

impl MomentEvent {
    /// The column of the process to which it happens.
    #[must_use]
    pub fn column(&self) -> Option<u32> {
        match self {
            MomentEvent::Begins { column, .. }
            | MomentEvent::Executes { column }
            | MomentEvent::Ends { column, .. } => Some(*column),
            MomentEvent::Nothing => None,
        }
    }
}

impl Moment {
    /// Columns in which processes are placed. Processes beyond them are counted only: otherwise a moment of a million
    /// processes that run at once would hold a million. The widest line, of 400 characters, has room for them.
    pub const COLUMNS: u32 = 193;
}
