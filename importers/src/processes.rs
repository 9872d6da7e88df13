//! Logs of processes: builds as other tools recorded them.

pub(crate) mod bazel;
pub(crate) mod kleknev;
pub(crate) mod ninja;
pub(crate) mod process_logs;
pub(crate) mod strace;
