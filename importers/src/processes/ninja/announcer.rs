//! Announces the commands of a log to the writer.

use barrow_writer::{ProcessDescription, ProcessEnd, ProcessId, Word};

use super::builds::{Builds, Command, Order};
use crate::context::Context;
use crate::error::Stop;
use crate::processes::process_logs::{Moment, moments, saturated, text};

/// Number of announced processes, and notes.
type Announced = (u64, Vec<String>);

/// Announces all commands in the order of time. There are no process ids, so processes are numbered from 1.
pub(super) fn announce(mut builds: Builds<'_>, context: &Context<'_>) -> Result<Announced, Stop> {
    let writer = context.writer;
    writer.own_fact(Word::of_settings("recorded by"), "ninja")?;
    let order = builds.finish();
    context.check_cancelled()?;
    let starts_ms = if order == Order::InTurn { builds.starts_ms() } else { vec![0; builds.count()] };
    let spans = builds.commands.iter().map(|command| {
        let bounds_ms = [command.entry.start_ms, command.entry.end_ms];
        bounds_ms.map(|ms| saturated((i128::from(starts_ms[command.build]) + i128::from(ms)) * 1_000_000)).into()
    });
    let spans: Vec<(i64, i64)> = spans.collect();
    let mut begun: Vec<Option<ProcessId>> = vec![None; spans.len()];
    let mut pid = 0;
    for moment in moments(&spans) {
        context.check_cancelled()?;
        match moment {
            Moment::Begin(at) => {
                pid += 1;
                let (time_ns, _) = spans[at];
                let process =
                    writer.begin_process(&ProcessDescription { time_ns, pid, ..ProcessDescription::default() })?;
                let build = (order == Order::InTurn).then_some(builds.commands[at].build);
                attributes(&builds.commands[at], build, process, context)?;
                begun[at] = Some(process);
            }
            Moment::End(at) => {
                let Some(process) = begun[at] else { continue };
                // Ninja logs no failed command.
                let end = ProcessEnd { exit_status: Some(0), ..ProcessEnd::default() };
                writer.end_process(process, spans[at].1, &end)?;
            }
        }
    }
    let note = remark(order, builds.count());
    if let Some(note) = &note {
        writer.own_fact("builds", note)?;
    }
    Ok((pid, note.into_iter().collect()))
}

fn attributes(
    command: &Command<'_>,
    build: Option<usize>,
    process: ProcessId,
    context: &Context<'_>,
) -> Result<(), Stop> {
    let (label, hash) = (text(command.entry.output), text(command.entry.hash));
    let (mtime, build) = (text(command.entry.mtime), build.map(|build| (build + 1).to_string()));
    let others: Vec<_> = command.other_outputs.iter().map(|output| text(output)).collect();
    let writer = context.writer;
    let mut attributes = vec![("label", &*label), (writer.marked("command hash")?, &*hash)];
    for output in &others {
        attributes.push((writer.marked(Word::of_names("also made"))?, &**output));
    }
    if mtime != "0" {
        attributes.push((writer.marked(Word::of_settings("mtime"))?, &*mtime));
    }
    if let Some(build) = build.as_deref() {
        attributes.push((writer.marked(Word::of_settings("build"))?, build));
    }
    Ok(writer.process_attributes(process, &attributes)?)
}

/// Note on several builds in one log.
fn remark(order: Order, builds: usize) -> Option<String> {
    match order {
        Order::Single => None,
        Order::InTurn => Some(format!(
            "the log holds {builds} builds; they follow each other here, since it does not say how much time was between \
             them. Of an output that was built again, ninja drops older lines when the log has grown"
        )),
        Order::Mixed => Some(
            "the log holds several builds, which cannot be told apart, since ninja wrote it anew and kept the newest line \
             of each output; here they all begin at the same time, so processes overlap that never ran together. `rm \
             .ninja_log` before a full build gives a log of that build"
                .to_owned(),
        ),
    }
}
