//! Objects of each type in the snapshots of a range, and the bounds of births and deaths that follow from their numbers.

use std::collections::BTreeMap;

use barrow_analyzer::{CountBounds, Recording, SerialOrigin, SnapshotId, TypeId};

use crate::answer::{Column, Value, units};
use crate::error::QueryError;

/// Bounds of a number, from the objects in each snapshot: [`CountBounds::born`] or its siblings.
pub(crate) type Rule = fn(&[u64]) -> CountBounds;

/// The objects of each type, snapshot by snapshot.
#[derive(Debug, Clone)]
pub(crate) struct TypeCounts {
    by_type: BTreeMap<TypeId, Vec<u64>>,
    snapshots: usize,
    /// The runtime told births and deaths.
    is_exact: bool,
}

impl TypeCounts {
    /// Those of the snapshots from `first` to `last`. `origin` says how objects are known in them.
    ///
    /// # Errors
    /// Those of the analyzer.
    pub(crate) fn of(
        recording: &Recording,
        [first, last]: [SnapshotId; 2],
        origin: SerialOrigin,
    ) -> Result<Self, QueryError> {
        let all = recording.snapshot_ids().filter(|&snapshot| first <= snapshot && snapshot <= last);
        let all: Vec<SnapshotId> = all.collect();
        let mut by_type: BTreeMap<TypeId, Vec<u64>> = BTreeMap::new();
        for (place, &snapshot) in all.iter().enumerate() {
            for totals in barrow_analyzer::type_totals(recording, snapshot)? {
                by_type.entry(totals.type_id).or_insert_with(|| vec![0; all.len()])[place] += totals.objects;
            }
        }
        Ok(TypeCounts { by_type, snapshots: all.len(), is_exact: origin.is_exact() })
    }

    /// The bounds for a type. `found` is the number that the snapshots' serials or matches give.
    pub(crate) fn bounds(&self, of: TypeId, rule: Rule, found: u64) -> CountBounds {
        if self.is_exact {
            return CountBounds { low: found, high: found };
        }
        self.by_type.get(&of).map_or_else(|| rule(&vec![0; self.snapshots]), |counts| rule(counts))
    }

    /// The number of types that may have such objects by their counts, without those that `are_found`.
    pub(crate) fn possible_others(&self, rule: Rule, are_found: impl Fn(TypeId) -> bool) -> u64 {
        if self.is_exact {
            return 0;
        }
        self.by_type.iter().filter(|(of, counts)| rule(counts).high > 0 && !are_found(**of)).count() as u64
    }
}

/// Columns that say between which numbers another one is, for machines.
pub(crate) fn bounds_columns([low, high]: [&'static str; 2]) -> [Column; 2] {
    [low, high].map(|key| Column::count(key).for_machines())
}

/// Their cells.
pub(crate) fn bounds_cells(bounds: CountBounds) -> [Value; 2] {
    [bounds.low.into(), bounds.high.into()]
}

/// The word of JSON for a number in these bounds.
pub(crate) fn exactness(is_exact: bool) -> Value {
    Value::text(if is_exact { "exact" } else { "estimate" })
}

/// `2,500–5,500` for people; nothing where there is only one number.
pub(crate) fn range(bounds: CountBounds) -> Value {
    if bounds.is_exact() {
        return Value::None;
    }
    Value::Text(format!("{}–{}", units::grouped(bounds.low), units::grouped(bounds.high)))
}

/// A value that is right only if the number in these bounds is.
pub(crate) fn as_exact_as(bounds: CountBounds, value: impl Into<Value>) -> Value {
    if bounds.is_exact() { value.into() } else { value.into().estimated() }
}
