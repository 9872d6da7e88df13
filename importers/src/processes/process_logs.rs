//! Code shared by the importers of process logs.
//!
//! In reading order: `clock` (converts times of the log to times of the recording), `lines`, `reading` (reports
//! progress), `moments` (beginnings and ends in the order of time), `text` (bytes as text), `shell_words` (arguments
//! as a command line), `left_out` (unreadable parts).

mod clock;
mod left_out;
mod lines;
mod moments;
mod reading;
mod shell_words;
mod text;

pub(crate) use clock::{Clock, saturated};
pub(crate) use left_out::UnreadableParts;
pub(crate) use lines::{Line, Lines};
pub(crate) use moments::{Moment, moments};
pub(crate) use reading::LogProgress;
pub(crate) use shell_words::shell_words;
pub(crate) use text::{readable, text};
