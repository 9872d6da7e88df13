//! MoarVM heap dumps, imported and read back.

mod cuts;
mod dump;
mod recorded;
mod samples;
mod threads;
mod tiny;
