//! Processes that outlive their run.

use std::fs;

/// Whether a process runs that began no earlier than `since`, in the steps of [`now_ticks`](crate::system::now_ticks). One that
/// began before has the number in another namespace.
pub(crate) fn is_running(process: u64, since: u64) -> bool {
    fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|stat| is_of_running(&stat, since))
}

/// The same of what the system tells of the process.
fn is_of_running(stat: &str, since: u64) -> bool {
    // The name of the program is in parentheses, and may hold others.
    let mut fields = stat.rsplit(')').next().unwrap_or_default().split_ascii_whitespace();
    let has_ended = fields.next().is_none_or(|state| matches!(state, "Z" | "X" | "x"));
    // The 22nd field of all.
    let began = fields.nth(18).and_then(|began| began.parse::<u64>().ok());
    !has_ended && began.is_some_and(|began| began >= since)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, id};

    use super::*;
    use crate::system::now_ticks;

    #[test]
    fn a_process_runs_until_it_has_ended() {
        let since = now_ticks();
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let number = u64::from(child.id());
        assert!(is_running(number, since) && !is_running(number, since + 1000) && is_running(id().into(), 0));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!is_running(number, since));
        let stat = |state: &str| format!("7 (a) b) {state} 1 {}90 0", "0 ".repeat(17));
        assert!(is_of_running(&stat("S"), 90) && !is_of_running(&stat("S"), 91) && !is_of_running(&stat("Z"), 90));
        assert!(!is_of_running("", 0));
    }
}
