//! `heap`: a question about the recording of the heap of a process.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use barrow_analyzer::Recording;
use barrow_processes::{ProcessId, ProcessTree};

use crate::command::Subject as About;
use crate::question::Question;
use crate::session::Session;

use super::prelude::*;

pub(super) const COMMAND: Command = Command {
    arguments: "PID [QUESTION...]",
    example: "heap 1234:0 top 5",
    touches: Touches::RECORDING.with(Touches::READS_FILES),
    ..Command::new("heap", include_str!("../../verbs/heap.md"), Group::Processes, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let words = ask.arguments.words();
    let Some((name, rest)) = words.split_first() else {
        return Err(QueryError::usage("whose heap? name a process, like `heap 1234:0 summary`"));
    };
    let tree = ask.process_tree()?;
    let id = tree.named(name)?;
    let path = recording(ask, &tree, id)?;
    let (verb, rest) = rest.split_first().map_or(("summary", rest), |(verb, rest)| (verb.as_str(), rest));
    let question = Question::new(verb, rest)?;
    let touches = question.touches().except(ask.allowed);
    if question.command.subject != About::Recording || question.command.writes() || touches != Touches::NOTHING {
        return Err(QueryError::usage(format!("`{verb}` is no question about a heap")));
    }
    let mut other = Session::new(Arc::clone(&ask.context.workspace), ask.context.settings.clone());
    other.watch_with(Arc::clone(&ask.context.watcher));
    other.open(&path.display().to_string())?;
    let mut answer = other.ask(&question)?;
    // Further pages are asked for in that file itself.
    answer.goes_on = false;
    Ok(answer.note(format!("of {}", path.display())).into())
}

/// The file with the heap of a process.
fn recording(state: &State, tree: &ProcessTree, id: ProcessId) -> Result<PathBuf, QueryError> {
    let process = tree.process(id);
    let name = tree.name(id);
    let Some(uuid) = process.heap else {
        return Err(QueryError::usage(format!("process {name} wrote no heap recording")));
    };
    let written = tree.attribute(process, "heap").map(PathBuf::from);
    let folder = state.file().and_then(|file| Path::new(&file.name).parent().map(Path::to_owned)).unwrap_or_default();
    let beside = written.as_ref().and_then(|path| path.file_name()).map(|file| folder.join(file));
    let mut candidates = written.iter().chain(&beside).filter(|path| path.is_file());
    if let Some(path) = candidates.find(|path| Recording::open(path).is_ok_and(|found| found.uuid() == uuid)) {
        return Ok(path.clone());
    }
    let hex: String = uuid.iter().map(|byte| format!("{byte:02x}")).collect();
    let place = written.map_or_else(String::new, |path| format!("; it was written to {}", path.display()));
    Err(QueryError::usage(format!("the heap recording {hex} of process {name} is not found{place}")))
}
