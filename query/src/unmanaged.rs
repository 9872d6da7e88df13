//! Unmanaged sizes in answers about recordings that do not tell them: they are unknown, not 0.

use barrow_analyzer::AnalyzerError;

use crate::answer::{Answer, Audience, Column, Fact, Unit, Value};
use crate::arguments::Arguments;
use crate::attributes::totals::Total;
use crate::error::QueryError;

/// The part that the keys of all such values have in common.
const KEY: &str = "unmanaged_bytes";
/// The heading of those that have no key.
const HEADING: &str = "unmanaged";

/// Refuses an order by unmanaged sizes.
///
/// # Errors
/// [`AnalyzerError::NoUnmanagedSizes`].
pub(crate) fn require_other_order(arguments: &Arguments) -> Result<(), QueryError> {
    let words = arguments.divided().words();
    let mut orders = words.windows(2).filter(|pair| pair[0] == "by").flat_map(|pair| pair[1].split(','));
    match orders.any(|order| Total::named(order) == Some(Total::Unmanaged)) {
        true => Err(AnalyzerError::NoUnmanagedSizes.into()),
        false => Ok(()),
    }
}

/// The same answer with unknown unmanaged sizes: null in JSON, empty in CSV, without columns in tables.
pub(crate) fn without(mut answer: Answer) -> Answer {
    let mut facts = Vec::with_capacity(answer.facts.len());
    for mut fact in answer.facts {
        hide(&mut fact.value);
        if !is_unmanaged(&fact.column) {
            facts.push(fact);
            continue;
        }
        let (heading, audience) = (fact.column.heading.clone(), fact.column.audience);
        if audience.has_machines() {
            facts.push(Fact::new(fact.column.for_machines(), Value::None));
        }
        if audience.has_people() {
            facts.push(Fact::new(Column::shown(heading, Unit::Text).own_words(), "unknown"));
        }
    }
    for table in &mut answer.tables {
        for (at, column) in table.columns.iter().enumerate() {
            let is_unmanaged = is_unmanaged(column);
            for row in &mut table.rows {
                if is_unmanaged { row[at] = Value::None } else { hide(&mut row[at]) }
            }
        }
    }
    answer.facts = facts;
    answer
}

fn is_unmanaged(column: &Column) -> bool {
    column.key.contains(KEY) || column.audience == Audience::People && column.heading == HEADING
}

/// Hides those inside a value.
fn hide(value: &mut Value) {
    match value {
        Value::List(values) => values.iter_mut().for_each(hide),
        Value::Record(facts) => facts.iter_mut().for_each(|fact| match is_unmanaged(&fact.column) {
            true => fact.value = Value::None,
            false => hide(&mut fact.value),
        }),
        _ => {}
    }
}
