//! Notes on what a recording knows of its processes only in part, and numbers leave out.

use barrow_processes::{ImageId, ProcessTree, Unseen};

use crate::answer::{Answer, units};

/// A note on processes that a number of failures does not include, if there may be any.
pub(crate) fn failures_not_counted(tree: &ProcessTree, unknown: u64) -> Option<String> {
    let knows = tree.knowledge();
    if knows.failures && unknown > 0 {
        let processes = units::counted(unknown, "process");
        return Some(format!("whether {processes} failed is not known, and not counted"));
    }
    let note = "Kleknev logs exit status 0 of processes that a signal ended, too: more may have failed";
    (!knows.signals).then(|| note.to_owned())
}

/// A note on processes that a recording of calls does not have, if it may lack some.
pub(crate) fn forks_not_counted(tree: &ProcessTree) -> Option<String> {
    const FORKS: &str = "forks that executed nothing and ended soon, by a signal or the call exit";
    match tree.knowledge().unseen {
        Unseen::None => None,
        Unseen::Unknown => Some(format!("{FORKS}, are not recorded via notify")),
        Unseen::Of(_) | Unseen::PerhapsOf(_) => unseen(tree).map(|unseen| format!("{unseen}: {FORKS}")),
    }
}

/// A doubt about a recording that lacks processes, or may.
pub(crate) fn unseen(tree: &ProcessTree) -> Option<String> {
    let (parents, are) = match tree.knowledge().unseen {
        Unseen::Of(parents) => (parents, "are"),
        Unseen::PerhapsOf(parents) => (parents, "may be"),
        Unseen::None | Unseen::Unknown => return None,
    };
    Some(format!("{} waited for others that {are} not recorded", units::counted(parents, "process")))
}

/// A note on programs that used at least what is recorded of them, if there are any.
pub(crate) fn used_at_least(count: u64) -> Option<String> {
    let programs = units::counted(count, "program");
    (count > 0).then(|| {
        format!(
            "of {programs}, which ended by a signal or the call exit, cpu and peak are at least those of samples, with system \
             time counted as user"
        )
    })
}

/// An answer with a row for each of these images: not exact if one of them used at least what is recorded of it.
pub(crate) fn rows_of(answer: Answer, tree: &ProcessTree, images: &[ImageId]) -> Answer {
    let at_least = images.iter().filter(|&&id| tree.used_at_least(id));
    match used_at_least(at_least.count() as u64) {
        Some(note) => answer.at_least().note(note),
        None => answer.exact(),
    }
}

/// Notes on what sums over all processes leave out: programs of which too little is recorded, or no time without a
/// processor, although that of others is.
pub(crate) fn left_out(tree: &ProcessTree) -> Vec<String> {
    let waiting = unknown_waits(tree)
        .map(|programs| format!("the time without a processor of {programs} is not known, and not in the sum"));
    let untraced = untraced(tree).map(|programs| format!("{programs} ran untraced: no sample has what they held"));
    some_used_at_least(tree).into_iter().chain(waiting).chain(untraced).chain(unwatched(tree)).collect()
}

/// A note on processes whose ends the recorder did not hear of.
fn unwatched(tree: &ProcessTree) -> Option<String> {
    let unwatched = tree.knowledge().unwatched;
    (unwatched > 0).then(|| {
        let processes = units::counted(unwatched, "process");
        format!(
            "too few files could be open while this was recorded: of {processes} it is not known whether a signal ended them, nor \
             whether any was waited for"
        )
    })
}

/// A note on the programs of a recording that used at least what is recorded of them, if there are any.
pub(crate) fn some_used_at_least(tree: &ProcessTree) -> Option<String> {
    used_at_least(tree.processes().iter().filter(|process| process.is_at_least).count() as u64)
}

/// The number of programs that ran untraced, with what they started, in words.
pub(crate) fn untraced(tree: &ProcessTree) -> Option<String> {
    let untraced = tree.processes().iter().filter(|process| process.is_untraced).count();
    (untraced > 0).then(|| units::counted(untraced as u64, "program"))
}

/// The number of programs whose time without a processor is unknown, in words, if that of others is known, or could be.
pub(crate) fn unknown_waits(tree: &ProcessTree) -> Option<String> {
    let images = tree.images();
    let unknown = images.iter().filter(|image| image.used.waiting_ns.is_none()).count();
    let is_recorded = unknown < images.len() || tree.knowledge().by_calls;
    (unknown > 0 && is_recorded).then(|| units::counted(unknown as u64, "program"))
}
