//! The numbers of signals on Linux.

/// Signals from 1 on, as on x86, ARM and RISC-V.
const NAMES: [&str; 31] = [
    "SIGHUP",
    "SIGINT",
    "SIGQUIT",
    "SIGILL",
    "SIGTRAP",
    "SIGABRT",
    "SIGBUS",
    "SIGFPE",
    "SIGKILL",
    "SIGUSR1",
    "SIGSEGV",
    "SIGUSR2",
    "SIGPIPE",
    "SIGALRM",
    "SIGTERM",
    "SIGSTKFLT",
    "SIGCHLD",
    "SIGCONT",
    "SIGSTOP",
    "SIGTSTP",
    "SIGTTIN",
    "SIGTTOU",
    "SIGURG",
    "SIGXCPU",
    "SIGXFSZ",
    "SIGVTALRM",
    "SIGPROF",
    "SIGWINCH",
    "SIGIO",
    "SIGPWR",
    "SIGSYS",
];
/// The first of the signals without names.
const FIRST_REAL_TIME: u64 = 32;

/// The number of a signal.
pub(super) fn number(name: &str) -> Option<u64> {
    if let Some(at) = NAMES.iter().position(|known| *known == name) {
        return Some(at as u64 + 1);
    }
    match name.strip_prefix("SIGRT") {
        Some("MIN") => Some(FIRST_REAL_TIME),
        Some(number) => Some(FIRST_REAL_TIME + number.strip_prefix('_')?.parse::<u8>().ok().map(u64::from)?),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_numbers() {
        assert_eq!(["SIGKILL", "SIGSEGV", "SIGSYS", "SIGRTMIN", "SIGRT_2"].map(number), [9, 11, 31, 32, 34].map(Some));
        assert_eq!(["", "KILL", "SIGRT", "SIGRT_", "SIGRT_x"].map(number), [None; 5]);
    }
}
