//! Events of a timeline as rows, for machines.

use barrow_analyzer::Tables;
use barrow_processes::{Event, Happening};

use crate::answer::{Column, Unit, Value};

use super::process_text::time;

/// The columns of the rows.
pub(crate) fn columns() -> Vec<Column> {
    vec![
        Column::new("time_ns", "time", Unit::Duration),
        Column::new("event", "event", Unit::Text),
        Column::new("process", "process", Unit::Text),
        Column::new("host", "host", Unit::Text),
        Column::new("parent", "parent", Unit::Text),
        Column::new("class", "class", Unit::Text),
        Column::new("column", "column", Unit::Number),
        Column::new("wall_ns", "wall", Unit::Duration),
        Column::new("cpu_ns", "cpu", Unit::Duration),
        Column::new("exit_code", "exit", Unit::Number),
        Column::new("signal", "signal", Unit::Number),
    ]
}

/// The row of an event.
pub(crate) fn row(event: &Event, tables: &Tables) -> Vec<Value> {
    let block = &event.block;
    let (name, has_ended, [cpu_ns, exit_code, signal]) = match event.what {
        Happening::Begins => ("begin", false, [None; 3]),
        Happening::Runs => ("run", false, [None; 3]),
        Happening::Executes => ("execute", false, [None; 3]),
        Happening::Ends { exit_status, signal, cpu_ns } => ("end", true, [cpu_ns, exit_status, signal]),
        Happening::Interrupted => ("interrupted", true, [None; 3]),
    };
    vec![
        time(event.time_ns),
        name.into(),
        Value::Text(format!("{}:{}", block.pid, block.serial)),
        block.host.map(|host| tables.string(host)).into(),
        block.parent.map(|(pid, serial, _)| format!("{pid}:{serial}")).into(),
        block.class.as_deref().into(),
        block.column.into(),
        has_ended.then(|| event.wall_ns()).into(),
        cpu_ns.into(),
        exit_code.into(),
        signal.into(),
    ]
}
