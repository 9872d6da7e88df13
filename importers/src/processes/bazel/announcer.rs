//! Announces the actions of a profile to the writer.

use barrow_writer::{ProcessDescription, ProcessEnd, ProcessId, ProgramDescription, Word};

use super::actions::{Actions, PhaseTimes};
use super::event::{Action, Phase};
use super::profile::Head;
use crate::context::Context;
use crate::error::Stop;
use crate::processes::process_logs::{Clock, Moment, moments, saturated};

/// Number of announced processes, and notes.
type Announced = (u64, Vec<String>);

/// Announces all actions in the order of time. There are no process ids, so processes are numbered from 1.
pub(super) fn announce(
    actions: Actions,
    head: Option<Head>,
    started_ns: Option<u64>,
    context: &Context<'_>,
) -> Result<Announced, Stop> {
    let writer = context.writer;
    writer.own_fact(Word::of_settings("recorded by"), "Bazel")?;
    if let Some(version) = head.as_ref().and_then(Head::version) {
        writer.own_fact(Word::of_settings("version of Bazel"), version)?;
    }
    if started_ns.is_some() {
        writer.own_fact(Word::of_settings("time of day"), "known")?;
    }
    // Without the time of day, times count from the beginning of the command.
    let offset_ns =
        started_ns.map_or(0, |started_ns| Clock::new(writer.created_ns()).since_created_ns(started_ns.into()));
    let phase_times = actions.phase_times();
    let spans = actions.actions.iter().map(|action| {
        let bounds_us = [action.span.start_us, action.span.end_us];
        bounds_us.map(|us| saturated(i128::from(offset_ns) + i128::from(us) * 1000)).into()
    });
    let spans: Vec<(i64, i64)> = spans.collect();
    let mut begun: Vec<Option<ProcessId>> = vec![None; spans.len()];
    let mut pid = 0;
    for moment in moments(&spans) {
        match moment {
            Moment::Begin(at) => {
                pid += 1;
                let action = &actions.actions[at];
                // Versions before 5 have no mnemonic.
                let executable = Some(action.mnemonic.as_deref().unwrap_or(&action.description));
                let program = ProgramDescription { executable, ..ProgramDescription::default() };
                let described =
                    ProcessDescription { time_ns: spans[at].0, pid, program, ..ProcessDescription::default() };
                let process = writer.begin_process(&described)?;
                attributes(action, &phase_times[at], process, context)?;
                begun[at] = Some(process);
            }
            Moment::End(at) => {
                let Some(process) = begun[at] else { continue };
                writer.end_process(process, spans[at].1, &ProcessEnd::default())?;
            }
        }
    }
    let in_bazel = phase_times.iter().filter(|times| !times.contains_key(&Phase::Run)).count();
    Ok((pid, notes(in_bazel, actions.merged)))
}

fn attributes(action: &Action, phases: &PhaseTimes, process: ProcessId, context: &Context<'_>) -> Result<(), Stop> {
    let times: Vec<(&'static str, String)> =
        phases.iter().map(|(phase, us)| (phase.attribute(), (us * 1000).to_string())).collect();
    let writer = context.writer;
    let mut attributes = vec![(writer.marked("description")?, action.description.as_str())];
    for (name, ns) in &times {
        attributes.push((writer.marked(Word::of_settings(name))?, ns.as_str()));
    }
    attributes.extend(action.target.as_deref().map(|target| ("label", target)));
    if let Some(output) = action.output.as_deref() {
        attributes.push((writer.marked(Word::of_names("output"))?, output));
    }
    if !phases.contains_key(&Phase::Run) {
        attributes.push(("not traced", "Bazel ran no process of its own on this machine for this action"));
    }
    Ok(writer.process_attributes(process, &attributes)?)
}

fn notes(in_bazel: usize, merged: u64) -> Vec<String> {
    let mut notes = Vec::new();
    if in_bazel > 0 {
        notes.push(format!("actions for which Bazel ran no process on this machine: {in_bazel}"));
    }
    if merged > 0 {
        notes.push(format!(
            "events that Bazel merged into others, among which actions may be: {merged}; `bazel build --noslim_profile` \
             keeps them"
        ));
    }
    notes
}
