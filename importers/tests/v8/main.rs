//! V8 heap snapshots, imported and read back.

mod contents;
mod cuts;
mod dump;
mod keys;
mod recorded;
mod samples;
mod symbols;
mod tiny;
mod values;
