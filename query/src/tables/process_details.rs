//! One process: its ancestors, what it executed, how it ended, what it used.

use barrow_processes::{Classes, Process, ProcessId, ProcessTree, Totals};

use super::{process_rows::Rows, process_summary, process_text, unit_labels::UnitLabels};
use crate::answer::{Answer, Audience, Column, Fact, Table, Unit, Value, shell, table};
use crate::context::Context;
use crate::error::QueryError;

/// The attribute of sampled memory that holds pages of files.
const FILE_MEMORY: &str = "file memory";
/// Ancestors that are listed: builds have fewer, and a chain of forks may have a million.
const MOST_ANCESTORS: usize = 64;
/// Children that are listed: nobody reads more, and `tree` shows those of a process too. This is a judgement.
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
        .fact(Column::process("process"), tree.name(id))
        .fact(Column::text("host"), process.host.map(|host| tree.text(host)))
        .fact(Column::text("class"), classes.first().class(process.last_image))
        .fact(Column::text("command"), shell::line(tree.arguments(last)))
        .fact(Column::text("executable"), tree.executable(last))
        .fact(Column::text("directory"), tree.directory(last))
        .fact(Column::duration("started_ns").called("start"), process_text::time(process.began_ns))
        .fact(Column::duration("ended_ns").called("end"), process.end.map(|end| process_text::time(end.time_ns)))
        .fact(Column::shown("exit", Unit::Text), exit(process))
        .fact(Column::number("exit_code").for_machines(), process.end.and_then(|end| end.exit_status))
        .fact(Column::number("signal").for_machines(), process.end.and_then(|end| end.signal))
        .fact(Column::duration("user_ns"), sum(|used| used.user_ns))
        .fact(Column::duration("system_ns"), sum(|used| used.system_ns))
        .fact(Column::shown("cpu is", Unit::Text), process_summary::cpu_limits(tree))
        .fact(Column::duration("waiting_ns"), sum(|used| used.waiting_ns))
        .fact(Column::duration("with_started_cpu_ns").called("cpu with started"), inclusive.cpu_ns())
        .fact(Column::bytes("peak_bytes"), last.used.peak_bytes)
        .fact(Column::count("minor_faults"), sum(|used| used.minor_faults))
        .fact(Column::count("major_faults"), sum(|used| used.major_faults))
        .fact(Column::bytes("read_bytes"), sum(|used| used.read_bytes))
        .fact(Column::bytes("written_bytes"), sum(|used| used.written_bytes))
        .fact(Column::count("voluntary_switches"), sum(|used| used.voluntary_switches))
        .fact(Column::count("involuntary_switches"), sum(|used| used.involuntary_switches));
    if let Some(before) = process.before_exec {
        answer = answer
            .fact(Column::duration("executed_ns"), process_text::time(before.until_ns))
            .fact(Column::bytes("before_exec_peak_bytes").called("peak before exec"), before.peak_bytes);
    }
    answer = with_attributes(answer, tree, process).fact(Column::text("heap").called("heap recording"), heap).fact(
        Column::count("children_count").called("children"),
        tree.knowledge().starters.then_some(children.len() as u64),
    );
    if process.heap.is_some() {
        answer = answer.fact(Column::shown("asked by", Unit::Text), format!("heap {} summary", tree.name(id)));
    }
    let ancestors = std::iter::successors(process.parent, |&parent| tree.process(parent).parent);
    let ancestors: Vec<ProcessId> = ancestors.take(MOST_ANCESTORS).collect();
    let images: Vec<_> = tree.images_of(id).map(|(image, _)| image).collect();
    // People see the programs that it executed only if there are several.
    let audience = if images.len() > 1 { Audience::Everyone } else { Audience::Machines };
    let images = Rows { tree, classes, units, by: None }.table(context, &images, |_| Value::None)?;
    Ok(answer
        .table(relatives(tree, "ancestors", "started by", &ancestors))
        .table(Table { key: "images", audience, ..images })
        .table(relatives(tree, "children", "started", &children[..children.len().min(MOST_CHILDREN)]))
        .exact())
}

/// Adds what is noted of a process, and the memory of files, which is sampled.
fn with_attributes(mut answer: Answer, tree: &ProcessTree, process: &Process) -> Answer {
    let is_noted = |key| tree.text(key) != FILE_MEMORY;
    for &(key, value) in process.attributes.iter().filter(|&&(key, _)| is_noted(key)) {
        let pair = format!("{}: {}", tree.text(key), tree.text(value));
        answer = answer.fact(Column::shown("noted", Unit::Text), pair);
    }
    let noted = process.attributes.iter().filter(|&&(key, _)| is_noted(key));
    let noted = noted.map(|&(key, value)| Fact::noted(tree.text(key), tree.text(value)));
    // It was told again as it grew.
    let of_files = process.attributes.iter().filter(|&&(key, _)| !is_noted(key));
    let of_files = of_files.filter_map(|&(_, value)| tree.text(value).parse::<u64>().ok()).max();
    answer
        .fact(Column::bytes("file_memory_bytes").called("memory of files"), of_files)
        .fact(Column::nested("attributes").for_machines(), Value::Record(noted.collect()))
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
    table!(key, processes, |&id| {
        Column::process("process").called(heading) => tree.name(id),
        Column::text("command") => process_text::command(tree, tree.image(tree.process(id).last_image)),
    })
}
