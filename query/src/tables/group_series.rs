//! Groups of objects over snapshots, as `growth` and `diff` show them.

use std::collections::BTreeMap;

use barrow_analyzer::{Amounts, GroupKey, is_shortened};

use crate::answer::{Answer, Value};
use crate::error::QueryError;
use crate::session::state::State;
use crate::tables::each_snapshot::EachSnapshot;
use crate::tables::{found, group_keys};

/// A group over the snapshots.
pub(crate) struct GroupSeries {
    pub(crate) keys: Vec<Value>,
    /// Its amounts in each snapshot: nothing where it is not there.
    pub(crate) amounts: Vec<Amounts>,
}

/// Bytes of a group without its keys and amounts, and of each of these. This is an estimate by their fields.
const GROUP_BYTES: u64 = 250;
const KEY_BYTES: u64 = 160;

/// The groups of all snapshots.
pub(crate) struct Groups {
    /// By their keys.
    pub(crate) series: Vec<GroupSeries>,
    /// Whether their amounts are exact.
    are_exact: bool,
    /// The number of objects in groups with a text of which only the beginning is compared.
    shortened: u64,
}

impl Groups {
    /// Marks an answer about them inexact if need be, and says why.
    pub(crate) fn said(&self, answer: Answer) -> Answer {
        let answer = found::said(answer, self.are_exact);
        match self.shortened {
            0 => answer,
            objects => group_keys::with_shortened(answer, objects),
        }
    }
}

/// Returns whether a cell is a text of which only the beginning is compared with others.
pub(crate) fn is_beginning(cell: &Value) -> bool {
    matches!(cell, Value::Text(text) | Value::Name(text) | Value::Line(text) if is_shortened(text))
}

/// All groups. They have retained sizes if `has_retained`.
///
/// # Errors
/// Those of the analyzer; as for [`EachSnapshot::visit`].
pub(crate) fn group_series(
    state: &State,
    each: &EachSnapshot,
    keys: &[GroupKey],
    has_retained: bool,
) -> Result<Groups, QueryError> {
    let meter = state.meter();
    let nothing = Amounts { retained_bytes: has_retained.then_some(0), ..Amounts::default() };
    let bytes = GROUP_BYTES + KEY_BYTES * keys.len() as u64 + (size_of::<Amounts>() * each.snapshots.len()) as u64;
    let mut series: BTreeMap<String, GroupSeries> = BTreeMap::new();
    let (mut are_exact, mut shortened) = (true, 0);
    let is_exact = each.visit(state, |column, heap, set| {
        let found = heap.groups(&set, keys, &meter)?;
        state.context.require_rows_of(series.len() + found.groups.len(), bytes)?;
        let retained = if has_retained { Some(found.retained(&meter)?) } else { None };
        are_exact &= retained.as_ref().is_none_or(|retained| retained.are_exact);
        let lines = group_keys::lines(&found, heap, &meter)?;
        let cells = group_keys::cells(keys, &found, &lines, heap)?;
        for (at, (group, cells)) in found.groups.iter().zip(cells).enumerate() {
            let cells: Vec<Value> = cells.into_iter().map(without_number).collect();
            shortened += if cells.iter().any(is_beginning) { group.objects } else { 0 };
            let series = series.entry(format!("{cells:?}")).or_insert_with(|| {
                let amounts = vec![nothing; each.snapshots.len()];
                GroupSeries { keys: cells, amounts }
            });
            let own = Amounts {
                objects: group.objects,
                heap_bytes: group.heap_bytes,
                unmanaged_bytes: group.unmanaged_bytes,
                retained_bytes: retained.as_ref().map(|retained| retained.groups[at].bytes),
            };
            series.amounts[column].add(&own);
        }
        state.context.check()
    })?;
    Ok(Groups { series: series.into_values().collect(), are_exact: is_exact && are_exact, shortened })
}

/// A value that means the same in every snapshot: an object without its number, by its type and name; 0 without a sign.
pub(crate) fn without_number(key: Value) -> Value {
    match key {
        Value::Rate(number) => Value::Rate(number + 0.0),
        Value::Object { text, .. } => text.split_once(' ').map_or(text.as_str(), |(_, named)| named).into(),
        key => key,
    }
}
