//! HPROF: dumps made by hand, real ones, and dumps of a JVM that runs now.

mod answers;
mod arrays;
mod art;
mod cuts;
mod damaged;
mod dump;
mod live;
mod lives;
mod loaders;
mod read;
mod relatives;
mod samples;
mod sizes;
mod texts;
mod tiny;
mod values;
