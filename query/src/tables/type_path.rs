//! Paths of types, as `growth` and `diff by path` print them.

use std::collections::HashMap;
use std::sync::Arc;

use barrow_analyzer::{Growth, GrowthPart, Heap, Recording, SnapshotId};

use crate::answer::{Answer, Column, Value, path, record, units};
use crate::arguments::Arguments;
use crate::error::QueryError;
use crate::flags::Least;
use crate::session::state::State;

/// By default, paths that never hold this part of the largest heap are left out.
pub(crate) const LEAST_SHARE: f64 = 0.005;

/// The share of the heap that `--min` says a path must hold once.
///
/// # Errors
/// A usage error for an amount.
pub(crate) fn least_share(arguments: &Arguments) -> Result<f64, QueryError> {
    match arguments.flags.min {
        None => Ok(LEAST_SHARE),
        Some(Least::Share(share)) => Ok(share),
        Some(Least::Amount(_)) => Err(QueryError::usage("heaps differ in size; give a share, like `--min 1%`")),
    }
}

/// A snapshot as a graph for a look at many of them: nothing is added to the index file.
///
/// # Errors
/// Those of the analyzer.
pub(crate) fn heap(state: &State, recording: &Arc<Recording>, snapshot: SnapshotId) -> Result<Arc<Heap>, QueryError> {
    let is_open = Arc::ptr_eq(&state.recording()?, recording);
    match is_open && !state.away.is_empty() {
        true => state.heap(snapshot),
        false => {
            let heap = state.context.heap_of(Arc::clone(recording), snapshot)?;
            Ok(Arc::new(heap.only_reading_the_index()))
        }
    }
}

fn title(part: GrowthPart<'_>) -> String {
    match part {
        GrowthPart::Everything => "everything".to_owned(),
        GrowthPart::Roots(name) => format!("[{name}]"),
        GrowthPart::Type(identity) => identity.title(),
        GrowthPart::AnyPath => "any path".to_owned(),
    }
}

fn titles(growth: &Growth<'_>, node: usize) -> Vec<String> {
    let path = growth.path(node);
    if path.is_empty() { vec![title(GrowthPart::Everything)] } else { path.into_iter().map(title).collect() }
}

/// For machines: all of the path.
pub(crate) fn whole(growth: &Growth<'_>, node: usize) -> String {
    titles(growth, node).join(" › ")
}

/// For machines: what each step names. That is a group of roots, a type by its title, or a class or module that an object
/// represents, by its kind and name; nothing if paths of types are together.
pub(crate) fn steps(growth: &Growth<'_>, node: usize) -> Value {
    let steps = growth.path(node).into_iter().map(|part| {
        let roots = if let GrowthPart::Roots(name) = part { Some(name) } else { None };
        let identity = if let GrowthPart::Type(identity) = part { Some(identity) } else { None };
        let represented = identity.and_then(|identity| Some((identity.kind, identity.stands_for?)));
        record! {
            Column::text("roots").names() => roots,
            Column::text("type").names() => identity.filter(|_| represented.is_none()).map(|identity| identity.title()),
            Column::text("kind").names() => represented.map(|(kind, _)| kind),
            Column::text("name").names() => represented.map(|(_, name)| name),
        }
    });
    Value::List(steps.collect())
}

/// For people: all of the path, of which a terminal shows as much as there is room for.
pub(crate) fn shown(growth: &Growth<'_>, node: usize) -> Value {
    Value::Path(titles(growth, node))
}

/// Returns for each of these nodes whether it is a deeper round of a cycle of types than another one of them that is
/// alike: what it retains is a part of that.
pub(crate) fn deeper_rounds(
    growth: &Growth<'_>,
    nodes: &[usize],
    are_alike: impl Fn(usize, usize) -> bool,
) -> Vec<bool> {
    let once: Vec<_> = nodes.iter().map(|&node| path::once(&growth.path(node))).collect();
    let depth = |at: usize| growth.nodes()[nodes[at]].depth;
    let mut first: HashMap<&[GrowthPart<'_>], usize> = HashMap::new();
    for (at, path) in once.iter().enumerate() {
        let known = first.entry(path).or_insert(at);
        if depth(at) < depth(*known) {
            *known = at;
        }
    }
    let is_deeper = |at: usize| {
        let outer = first[&once[at][..]];
        depth(outer) < depth(at) && are_alike(outer, at)
    };
    (0..nodes.len()).map(is_deeper).collect()
}

/// Says how many paths [`deeper_rounds`] are not shown, and how many of those that are shown may go on; nothing if there
/// are none.
pub(crate) fn told(answer: Answer, growth: &Growth<'_>, deeper: usize, shown: impl Iterator<Item = usize>) -> Answer {
    let path = |count: usize| units::counted(count as u64, "path");
    let cut = shown.filter(|&node| growth.is_cut(node)).count();
    let omitted = format!("{} not shown: deeper rounds of cycles of types", path(deeper));
    let note = format!("{} may go on: paths are followed for 64 steps, and rounds are counted in these", path(cut));
    answer
        .fact(Column::count("deeper_rounds").for_machines(), deeper)
        .note_if(deeper > 0, omitted)
        .note_if(cut > 0, note)
}
