//! A simulated replay of a recorded tree: with other slots, or with a faster class of processes.
//!
//! *Schedulers*, such as `make` and `cargo`, start as many jobs as they have slots. Other starters of several
//! processes, such as scripts, start them one after the other as they did before.
//!
//! ```text
//!   sh build.sh ─┬─ configure          a job without a slot: the script waits for it
//!                └─ make -j2 ─┬─ cc a.c          jobs, each in a slot
//!                             ├─ cc b.c
//!                             └─ make -C lib ─┬─ cc c.c     slots are shared, and a make that waits needs none
//!                                             └─ ar lib.a   begins when the files that it names are there
//! ```
//!
//! Assumptions: a job needs the processor as much as it did; jobs that together need more than all cores are slowed
//! down equally; a job holds as much memory at each part of its time as was sampled, or as recorded jobs did on
//! average; jobs of one program share as much as samples of several at a time show. So both results are estimates.

mod curves;
mod drag;
mod held;
mod lent_slots;
mod load;
mod memory;
mod needs;
mod node;
mod plan;
mod queue;
mod range;
mod schedule;
mod sharing;
mod simulation;
mod slots;
mod starters;
mod times;

pub use plan::{Plan, most_jobs};
pub use range::MemoryRange;
pub use simulation::Outcome;
