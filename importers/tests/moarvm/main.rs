//! MoarVM heap dumps, imported and read back.

mod counted;
mod cuts;
mod dump;
mod recorded;
mod samples;
mod threads;
mod tiny;
