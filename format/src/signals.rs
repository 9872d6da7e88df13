//! Signals: rows of PROCESSES and MEASUREMENTS hold their numbers.

/// Signals of Linux from 1 on, as on x86, ARM and RISC-V.
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

/// The name of a signal; `None` for those without one of their own.
#[must_use]
pub fn name(number: u64) -> Option<&'static str> {
    let at = usize::try_from(number).ok()?.checked_sub(1)?;
    NAMES.get(at).copied()
}

/// The number of a signal, also of one such as `SIGRT_2`.
#[must_use]
pub fn number(name: &str) -> Option<u64> {
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
        assert_eq!([1, 9, 15, 31].map(name), ["SIGHUP", "SIGKILL", "SIGTERM", "SIGSYS"].map(Some));
        assert_eq!([0, 32, u64::MAX].map(name), [None; 3]);
        assert_eq!(["", "KILL", "SIGRT", "SIGRT_", "SIGRT_x"].map(number), [None; 5]);
    }
}
