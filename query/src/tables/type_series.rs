//! Sizes of types in every snapshot: a column beside a ranking of types.

use std::collections::HashMap;

use barrow_analyzer::TypeId;

use crate::answer::{Answer, Column, Value};
use crate::error::QueryError;
use crate::flags::Format;
use crate::session::state::State;
use crate::tables::ranking::{Order, RankedType};
use crate::tables::series;

/// Adds the column where statistics tell it: a line for people, or numbers for a program that draws them.
///
/// # Errors
/// Those of the analyzer.
pub(crate) fn add(state: &State, types: &[RankedType], order: Order, answer: &mut Answer) -> Result<(), QueryError> {
    let settings = &state.context.settings;
    let snapshots = state.snapshots()?;
    let is_known = state.away.is_empty() && order != Order::Retained && snapshots.len() >= series::LEAST_DRAWN;
    if !is_known || !(settings.with_series || settings.format == Format::Table) {
        return Ok(());
    }
    let mut by_type: HashMap<TypeId, Vec<u64>> = HashMap::new();
    for (at, &snapshot) in snapshots.iter().enumerate() {
        for totals in state.type_totals(snapshot)? {
            let values = by_type.entry(totals.type_id).or_insert_with(|| vec![0; snapshots.len()]);
            values[at] = order.of(&totals, None);
        }
    }
    let none = Vec::new();
    let values = types.iter().map(|row| by_type.get(&row.type_id()).unwrap_or(&none));
    let (column, cells): (Column, Vec<Value>) = if settings.with_series {
        let numbers = values.map(|values| Value::List(values.iter().map(|&value| value.into()).collect()));
        (Column::nested("series").for_machines(), numbers.collect())
    } else {
        let lines = values.map(|values| Value::text(line(values)));
        (Column::text("series").for_people().secondary(), lines.collect())
    };
    for table in &mut answer.tables {
        table.columns.push(column.clone());
        table.rows.iter_mut().zip(&cells).for_each(|(row, cell)| row.push(cell.clone()));
    }
    Ok(())
}

fn line(values: &[u64]) -> String {
    if values.is_empty() {
        return String::new();
    }
    series::spark(&values.iter().map(|&value| value as f64).collect::<Vec<_>>())
}
