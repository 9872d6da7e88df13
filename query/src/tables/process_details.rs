//! One process: its ancestors, what it executed, how it ended, what it used.

use barrow_processes::{Classes, Process, ProcessId, ProcessTree, Totals};

use super::process_rows::Rows;
use super::process_summary;
use super::process_text;
use super::unit_labels::UnitLabels;
use crate::answer::{Answer, Audience, Column, Table, Unit, Value, shell};
use crate::context::Context;
use crate::error::QueryError;

/// The attribute of sampled memory that holds pages of files.
const FILE_MEMORY: &str = "file memory";
/// Ancestors that are listed.
const MOST_ANCESTORS: usize = 64;
/// Children that are listed.
const MOST_CHILDREN: usize = 1000;

/// All about a process.
pub(crate) fn answer(
    context: &Context,
    tree: &ProcessTree,
    totals: &Totals,
    (classes, units): (&Classes, &UnitLabels),
    id: ProcessId,
) -> Result<Answer, QueryError> {
    let process = tree.process(id);
    let last = tree.image(process.last_image);
    let inclusive = totals.of_process(tree, id);
    let sum = |of: fn(&barrow_processes::Usage) -> Option<u64>| {
        let known = tree.images_of(id).filter_map(|(_, image)| of(&image.used));
        known.reduce(u64::saturating_add)
    };
    let children: Vec<ProcessId> = (0..tree.processes().len() as u32)
        .map(ProcessId)
        .filter(|&child| tree.process(child).parent == Some(id))
        .collect();
    let heap = process.heap.map(|uuid| uuid.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    let mut answer = Answer::default()
        .fact(Column::new("process", "process", Unit::Text), tree.name(id))
        .fact(Column::new("host", "host", Unit::Text), process.host.map(|host| tree.text(host)))
        .fact(Column::new("class", "class", Unit::Text), classes.first().class(process.last_image))
        .fact(Column::new("command", "command", Unit::Text), shell::line(tree.arguments(last)))
        .fact(Column::new("executable", "executable", Unit::Text), tree.executable(last))
        .fact(Column::new("directory", "directory", Unit::Text), tree.directory(last))
        .fact(Column::new("started_ns", "start", Unit::Duration), process_text::time(process.began_ns))
        .fact(Column::new("ended_ns", "end", Unit::Duration), {
            process.end.map_or(Value::None, |end| process_text::time(end.time_ns))
        })
        .fact(Column::new("", "exit", Unit::Text).for_people(), exit(process))
        .fact(Column::new("exit_code", "", Unit::Number).for_machines(), process.end.and_then(|end| end.exit_status))
        .fact(Column::new("signal", "", Unit::Number).for_machines(), process.end.and_then(|end| end.signal))
        .fact(Column::new("user_ns", "user", Unit::Duration), sum(|used| used.user_ns))
        .fact(Column::new("system_ns", "system", Unit::Duration), sum(|used| used.system_ns))
        .fact(Column::new("", "cpu is", Unit::Text).for_people(), process_summary::cpu_limits(tree))
        .fact(Column::new("waiting_ns", "waiting", Unit::Duration), sum(|used| used.waiting_ns))
        .fact(Column::new("with_started_cpu_ns", "cpu with started", Unit::Duration), inclusive.cpu_ns())
        .fact(Column::new("peak_bytes", "peak", Unit::Bytes), last.used.peak_bytes)
        .fact(Column::new("minor_faults", "minor faults", Unit::Count), sum(|used| used.minor_faults))
        .fact(Column::new("major_faults", "major faults", Unit::Count), sum(|used| used.major_faults))
        .fact(Column::new("read_bytes", "read", Unit::Bytes), sum(|used| used.read_bytes))
        .fact(Column::new("written_bytes", "written", Unit::Bytes), sum(|used| used.written_bytes))
        .fact(Column::new("voluntary_switches", "waited", Unit::Count), sum(|used| used.voluntary_switches))
        .fact(Column::new("involuntary_switches", "interrupted", Unit::Count), sum(|used| used.involuntary_switches));
    if let Some(before) = process.before_exec {
        answer = answer
            .fact(Column::new("executed_ns", "executed", Unit::Duration), process_text::time(before.until_ns))
            .fact(Column::new("before_exec_peak_bytes", "peak before exec", Unit::Bytes), before.peak_bytes);
    }
    let is_noted = |key| tree.text(key) != FILE_MEMORY;
    for &(key, value) in process.attributes.iter().filter(|&&(key, _)| is_noted(key)) {
        let pair = format!("{}: {}", tree.text(key), tree.text(value));
        answer = answer.fact(Column::new("", "noted", Unit::Text).for_people(), pair);
    }
    let noted = process.attributes.iter().filter(|&&(key, _)| is_noted(key));
    let noted = noted.map(|&(key, value)| (tree.text(key).to_owned(), Value::text(tree.text(value))));
    // It was told again as it grew.
    let of_files = process.attributes.iter().filter(|&&(key, _)| !is_noted(key));
    let of_files = of_files.filter_map(|&(_, value)| tree.text(value).parse::<u64>().ok()).max();
    answer = answer
        .fact(Column::new("file_memory_bytes", "memory of files", Unit::Bytes), of_files)
        .fact(Column::new("attributes", "", Unit::Nested).for_machines(), Value::Record(noted.collect()))
        .fact(Column::new("heap", "heap recording", Unit::Text), heap)
        .fact(
            Column::new("children_count", "children", Unit::Count),
            tree.knowledge().starters.then_some(children.len() as u64),
        );
    if process.heap.is_some() {
        answer = answer
            .fact(Column::new("", "asked by", Unit::Text).for_people(), format!("heap {} summary", tree.name(id)));
    }
    let ancestors = std::iter::successors(process.parent, |&parent| tree.process(parent).parent);
    let ancestors: Vec<ProcessId> = ancestors.take(MOST_ANCESTORS).collect();
    let images = images(context, tree, (classes, units), id)?;
    Ok(answer
        .table(relatives(tree, "ancestors", "started by", &ancestors))
        .table(images)
        .table(relatives(tree, "children", "started", &children[..children.len().min(MOST_CHILDREN)]))
        .exact())
}

fn exit(process: &Process) -> String {
    match process.end {
        None => "was running when the recording ended".to_owned(),
        Some(end) => match (end.signal, end.exit_status) {
            (Some(number), _) => format!("killed by {}", process_text::signal(number)),
            (None, Some(status)) => status.to_string(),
            (None, None) => "not known".to_owned(),
        },
    }
}

fn relatives(tree: &ProcessTree, key: &'static str, heading: &'static str, processes: &[ProcessId]) -> Table {
    let columns = vec![Column::new("process", heading, Unit::Text), Column::new("command", "command", Unit::Text)];
    let rows = processes.iter().map(|&id| {
        let image = tree.image(tree.process(id).last_image);
        vec![tree.name(id).into(), process_text::command(tree, image).into()]
    });
    Table { key, audience: Audience::Everyone, rows: rows.collect(), columns }
}

/// The programs that it executed, if they are several.
fn images(
    context: &Context,
    tree: &ProcessTree,
    (classes, units): (&Classes, &UnitLabels),
    id: ProcessId,
) -> Result<Table, QueryError> {
    let images: Vec<_> = tree.images_of(id).map(|(image, _)| image).collect();
    let table = Rows { tree, classes, units, by: None }.table(context, &images, |_| Value::None)?;
    let audience = if images.len() > 1 { Audience::Everyone } else { Audience::Machines };
    Ok(Table { key: "images", audience, ..table })
}
