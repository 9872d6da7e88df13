//! What is told of a process in words.

use barrow_processes::{Image, ProcessTree};

use crate::answer::{Value, shell};

/// Characters of a command that a table repeats.
const LONGEST_COMMAND: usize = 300;

/// A time as machines read it; before the recording began it is negative.
pub(crate) fn time(time_ns: i64) -> Value {
    u64::try_from(time_ns).map_or(Value::Change(time_ns), Value::Number)
}

/// The beginning of the command of an image, as a shell would read it.
pub(crate) fn command(tree: &ProcessTree, image: &Image) -> String {
    let command = shell::beginning(tree.arguments(image), LONGEST_COMMAND);
    let command = if command.is_empty() { tree.executable(image).unwrap_or("(unknown)").to_owned() } else { command };
    if image.is_forked { format!("{command} (forked)") } else { command }
}

/// The name of a signal of Linux.
pub(crate) fn signal(number: u64) -> String {
    const NAMES: [&str; 31] = [
        "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM",
        "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF",
        "WINCH", "IO", "PWR", "SYS",
    ];
    let name = usize::try_from(number).ok().and_then(|number| NAMES.get(number.checked_sub(1)?));
    name.map_or_else(|| number.to_string(), |name| format!("SIG{name}"))
}
