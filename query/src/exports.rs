//! Process trees in the formats of other programs.

pub(crate) mod chrome;
pub(crate) mod markdown;
pub(crate) mod perfetto;
mod protobuf;
pub(crate) mod trace;
pub(crate) mod trial_values;
