//! Sizes of types in every snapshot: a column beside a ranking of types.

use std::collections::HashMap;

use barrow_analyzer::TypeId;

use crate::answer::{Answer, Column, Unit, Value};
use crate::attributes::totals::Total;
use crate::error::QueryError;
use crate::session::state::State;
use crate::tables::ranking::RankedType;
use crate::tables::series;

/// Adds the column where statistics tell it.
///
/// # Errors
/// Those of the analyzer.
pub(crate) fn add(
    state: &State,
    types: &[RankedType],
    order: Total,
    column: &Column,
    answer: &mut Answer,
) -> Result<(), QueryError> {
    let snapshots = state.snapshots()?;
    if !state.away.is_empty() || order == Total::Retained || snapshots.len() < series::LEAST_DRAWN {
        return Ok(());
    }
    let mut by_type: HashMap<TypeId, Vec<u64>> = HashMap::new();
    for (at, &snapshot) in snapshots.iter().enumerate() {
        for totals in state.type_totals(snapshot)? {
            let values = by_type.entry(totals.type_id).or_insert_with(|| vec![0; snapshots.len()]);
            values[at] = order.of(&totals, None);
        }
    }
    let unit = if order == Total::Count { Unit::Count } else { Unit::Bytes };
    for table in &mut answer.tables {
        table.columns.push(column.clone());
        for (row, of_row) in table.rows.iter_mut().zip(types) {
            let values = by_type.get(&of_row.type_id()).into_iter().flatten();
            row.push(Value::series(values.copied(), unit));
        }
    }
    Ok(())
}
