//! Texts about a process: its command, its times, its signal.

use barrow_analyzer::signals;
use barrow_processes::{Image, ProcessTree};

use crate::answer::{Value, shell};

/// Characters of a command that a table repeats: a few lines. Some commands name thousands of files.
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

/// The name of a signal, or its number if it has none.
pub(crate) fn signal(number: u64) -> String {
    signals::name(number).map_or_else(|| number.to_string(), str::to_owned)
}
