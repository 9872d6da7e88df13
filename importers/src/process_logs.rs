//! What the importers of process logs share.
//!
//! In reading order: `clock` (times of the log as times of the recording), `lines`, `reading` (how far the import is),
//! `text` (bytes as text), `left_out` (what cannot be read).

mod clock;
mod left_out;
mod lines;
mod reading;
mod text;

pub(crate) use clock::Clock;
pub(crate) use left_out::LeftOut;
pub(crate) use lines::{Line, Lines};
pub(crate) use reading::Reading;
pub(crate) use text::{readable, text};
