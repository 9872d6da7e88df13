//! Logs of processes: Kleknev's, ninja's, Bazel's, strace's.

mod article;
mod bazel;
mod cuts;
mod kleknev;
mod logs;
mod ninja;
mod recorded;
mod samples;
mod strace;
