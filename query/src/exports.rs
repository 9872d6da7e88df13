//! Process trees and trials in the formats of other programs.

pub(crate) mod asciidoc;
pub(crate) mod chrome;
pub(crate) mod hyperfine;
pub(crate) mod markdown;
pub(crate) mod orgmode;
pub(crate) mod perfetto;
mod protobuf;
mod text_table;
pub(crate) mod trace;
pub(crate) mod trial_values;
