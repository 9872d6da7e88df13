//! V8 heap snapshots, imported and read back.

mod contents;
mod cuts;
mod dump;
mod recorded;
mod samples;
mod tiny;
mod values;
