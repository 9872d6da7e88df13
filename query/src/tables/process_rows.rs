//! Rows of images: what each process executed, and what that used.

use barrow_processes::{Classes, Image, ImageId, ProcessTree, cpu_ns};

use crate::answer::{Audience, Column, Table, Unit, Value, shell};

/// Characters of a command that a table repeats.
const LONGEST_COMMAND: usize = 300;

/// A time as machines read it; before the recording began it is negative.
pub(crate) fn time(time_ns: i64) -> Value {
    u64::try_from(time_ns).map_or(Value::Change(time_ns), Value::Number)
}

/// The columns of [`row`].
pub(crate) fn columns() -> Vec<Column> {
    vec![
        Column::new("process", "process", Unit::Text),
        Column::new("image", "", Unit::Number).for_machines(),
        Column::new("parent", "", Unit::Text).for_machines(),
        Column::new("host", "host", Unit::Text).for_machines(),
        Column::new("executable", "", Unit::Text).for_machines(),
        Column::new("arguments", "", Unit::Nested).for_machines(),
        Column::new("directory", "", Unit::Text).for_machines(),
        Column::new("class", "class", Unit::Text),
        Column::new("started_ns", "start", Unit::Duration),
        Column::new("ended_ns", "", Unit::Duration).for_machines(),
        Column::new("exit_code", "exit", Unit::Number),
        Column::new("signal", "", Unit::Number).for_machines(),
        Column::new("", "signal", Unit::Text).for_people(),
        Column::new("user_ns", "", Unit::Duration).for_machines(),
        Column::new("system_ns", "", Unit::Duration).for_machines(),
        Column::new("", "cpu", Unit::Duration).for_people(),
        Column::new("", "wall", Unit::Duration).for_people(),
        Column::new("peak_bytes", "peak", Unit::Bytes),
        Column::new("minor_faults", "", Unit::Count).for_machines(),
        Column::new("major_faults", "", Unit::Count).for_machines(),
        Column::new("read_bytes", "read", Unit::Bytes).secondary(),
        Column::new("written_bytes", "written", Unit::Bytes).secondary(),
        Column::new("", "command", Unit::Text).for_people(),
    ]
}

/// A table of images.
pub(crate) fn table(tree: &ProcessTree, classes: &Classes, images: &[ImageId]) -> Table {
    let rows = images.iter().map(|&id| row(tree, classes, id)).collect();
    Table { key: "rows", audience: Audience::Everyone, columns: columns(), rows }
}

fn row(tree: &ProcessTree, classes: &Classes, id: ImageId) -> Vec<Value> {
    let image = tree.image(id);
    let process = tree.process(image.process);
    // An image that executes another one has no exit.
    let end = process.end.filter(|_| image.next.is_none());
    let exit = end.and_then(|end| end.exit_status).map(Value::from);
    vec![
        tree.name(image.process).into(),
        image.number.into(),
        process.parent.map(|parent| tree.name(parent)).into(),
        process.host.map(|host| tree.text(host)).into(),
        tree.executable(image).into(),
        Value::List(tree.arguments(image).map(Value::text).collect()),
        tree.directory(image).into(),
        classes.first().class(id).into(),
        time(image.began_ns),
        image.ended_ns.map_or(Value::None, time),
        exit.unwrap_or(Value::None),
        end.and_then(|end| end.signal).into(),
        end.and_then(|end| end.signal).map(signal).into(),
        image.used.user_ns.into(),
        image.used.system_ns.into(),
        cpu_ns(image.used.user_ns, image.used.system_ns).into(),
        tree.wall_ns(image).into(),
        image.used.peak_bytes.into(),
        image.used.minor_faults.into(),
        image.used.major_faults.into(),
        image.used.read_bytes.into(),
        image.used.written_bytes.into(),
        Value::text(command(tree, image)),
    ]
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
