//! Measures the memory of all processes from time to time, and has the rows of the recording written.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use barrow_writer::ProcessId;

use crate::log::Log;
use crate::proc::Proc;
use crate::system;

/// The shortest time between two samples.
const SHORTEST: Duration = Duration::from_millis(50);
/// The share of a core that measuring may take is one part in this.
const SHARE: u32 = 100;

/// The processes that run now.
pub(crate) type Running = Mutex<Vec<(i32, ProcessId)>>;

/// Measures until `ended` hangs up. `interval` is the time between two samples; `None` measures no memory.
pub(crate) fn run(log: &Log, running: &Running, interval: Option<Duration>, ended: &Receiver<()>) {
    let mut proc = Proc::default();
    let mut wait = interval.map_or(SHORTEST, |interval| interval.max(SHORTEST));
    while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
        let before = system::own_cpu_ns();
        if interval.is_some() {
            sample(log, running, &mut proc);
        }
        log.flush_if_due();
        let cost = Duration::from_nanos(system::own_cpu_ns() - before);
        wait = interval.unwrap_or(SHORTEST).max(SHORTEST).max(cost * SHARE);
    }
}

fn sample(log: &Log, running: &Running, proc: &mut Proc) {
    let now = running.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let mut bytes = Vec::with_capacity(now.len());
    for (pid, process) in now {
        bytes.extend(proc.proportional_bytes(pid).map(|size| (process, size)));
    }
    if !bytes.is_empty() {
        log.memory(&bytes);
    }
}
