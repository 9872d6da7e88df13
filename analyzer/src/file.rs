//! The contents of a recording file, from its bytes up: sections, tables, blocks and objects.

pub(crate) mod blocks;
pub(crate) mod bytes;
pub(crate) mod contents;
pub(crate) mod fields;
pub(crate) mod growing;
pub(crate) mod live_rows;
pub(crate) mod measurement_ids;
pub(crate) mod measurements;
pub(crate) mod object;
pub(crate) mod patch_chain;
pub(crate) mod patch_merge;
pub(crate) mod patched_snapshot;
pub(crate) mod process_ids;
pub(crate) mod processes;
pub(crate) mod recording;
pub(crate) mod references;
pub(crate) mod sites;
pub(crate) mod strings;
pub(crate) mod tables;
pub(crate) mod type_identity;
pub(crate) mod words;
