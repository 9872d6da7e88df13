//! Process trees in the formats of other programs.

pub(crate) mod chrome;
pub(crate) mod perfetto;
mod protobuf;
pub(crate) mod trace;
