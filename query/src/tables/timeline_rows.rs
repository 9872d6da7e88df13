//! Events of a timeline as rows, for machines.

use barrow_analyzer::Tables;
use barrow_processes::{Event, Happening, cpu_ns};

use crate::answer::{Column, Value};

use super::process_text::time;

/// The columns of the rows.
pub(crate) fn columns() -> Vec<Column> {
    vec![
        Column::duration("time_ns"),
        Column::number("unix_ns").called("unix_ns"),
        Column::text("event").own_words(),
        Column::process("process"),
        Column::text("host"),
        Column::text("parent"),
        Column::text("class"),
        Column::number("column"),
        Column::duration("wall_ns"),
        Column::duration("cpu_ns"),
        Column::duration("user_ns"),
        Column::duration("system_ns"),
        Column::number("exit_code").called("exit"),
        Column::number("signal"),
    ]
}

/// The row of an event. `start_ns` is when the recording began, in nanoseconds since 1970, if it tells.
pub(crate) fn row(event: &Event, start_ns: Option<u64>, tables: &Tables) -> Vec<Value> {
    let block = &event.block;
    let (name, has_ended, [user_ns, system_ns, exit_code, signal]) = match event.what {
        Happening::Begins => ("begin", false, [None; 4]),
        Happening::Runs => ("run", false, [None; 4]),
        Happening::Executes => ("execute", false, [None; 4]),
        Happening::Ends { exit_status, signal, user_ns, system_ns } => {
            ("end", true, [user_ns, system_ns, exit_status, signal])
        }
        Happening::Interrupted => ("interrupted", true, [None; 4]),
    };
    vec![
        time(event.time_ns),
        start_ns.and_then(|start_ns| start_ns.checked_add_signed(event.time_ns)).into(),
        name.into(),
        Value::Text(format!("{}:{}", block.pid, block.serial)),
        block.host.map(|host| tables.string(host)).into(),
        block.parent.map(|(pid, serial, _)| format!("{pid}:{serial}")).into(),
        block.class.as_deref().into(),
        block.column.into(),
        has_ended.then(|| event.wall_ns()).into(),
        cpu_ns(user_ns, system_ns).into(),
        user_ns.into(),
        system_ns.into(),
        exit_code.into(),
        signal.into(),
    ]
}
