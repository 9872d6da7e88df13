//! Types ranked by what they hold, as `top` and `histogram` print them.

use barrow_analyzer::{Recording, SnapshotId, Tables, TypeTotals, type_totals};

use crate::answer::{Answer, Audience, Column, Table, Unit, Value};
use crate::error::ReplError;
use crate::kinds::Kinds;
use crate::units;

/// What ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Order {
    /// By shallow size.
    #[default]
    Size,
    /// By number of objects.
    Count,
    /// By unmanaged size.
    Unmanaged,
}

impl Order {
    /// `size`, `count` or `unmanaged`, or a beginning of one.
    pub(crate) fn named(word: &str) -> Option<Self> {
        let names =
            [("size", Order::Size), ("shallow", Order::Size), ("count", Order::Count), ("unmanaged", Order::Unmanaged)];
        let word = word.to_ascii_lowercase();
        names.into_iter().find(|(name, _)| !word.is_empty() && name.starts_with(&word)).map(|(_, order)| order)
    }

    /// What this order looks at.
    pub(crate) fn of(self, totals: &TypeTotals) -> u64 {
        match self {
            Order::Size => totals.heap_bytes,
            Order::Count => totals.objects,
            Order::Unmanaged => totals.unmanaged_bytes,
        }
    }
}

/// The types of `kinds` in `snapshot`, the largest first; equal ones by their number.
pub(crate) fn types(
    recording: &Recording,
    snapshot: SnapshotId,
    kinds: &Kinds,
    order: Order,
) -> Result<Vec<TypeTotals>, ReplError> {
    let tables = recording.tables()?;
    let mut types = type_totals(recording, snapshot)?;
    types.retain(|totals| kinds.contain(tables.type_kind(totals.type_id)));
    types.sort_by_key(|totals| (std::cmp::Reverse(order.of(totals)), totals.type_id));
    Ok(types)
}

/// Draws ranked types.
pub(crate) fn answer(tables: &Tables, snapshot: SnapshotId, types: &[TypeTotals], order: Order) -> Answer {
    let whole: u64 = types.iter().map(|totals| order.of(totals)).sum();
    let rows = types.iter().enumerate().map(|(at, totals)| {
        let kind = tables.kind_name(tables.type_kind(totals.type_id));
        vec![
            Value::from(at + 1),
            Value::text(tables.type_title(totals.type_id)),
            Value::text(kind),
            tables.type_layout(totals.type_id).into(),
            totals.objects.into(),
            totals.heap_bytes.into(),
            totals.unmanaged_bytes.into(),
            Value::share(order.of(totals), whole),
        ]
    });
    let several = types.iter().any(|totals| tables.type_kind(totals.type_id) != tables.type_kind(types[0].type_id));
    let table = Table { key: "rows", audience: Audience::Everyone, columns: columns(several), rows: rows.collect() };
    Answer::default()
        .fact(Column::new("snapshot", "snapshot", Unit::Number), snapshot.0)
        .table(table)
        .note(whole_note(types))
        .exact()
}

fn columns(several_kinds: bool) -> Vec<Column> {
    let kind = Column::new("kind", "kind", Unit::Text);
    vec![
        Column::new("rank", "#", Unit::Number).for_people(),
        Column::new("type", "type", Unit::Text),
        if several_kinds { kind } else { kind.for_machines() },
        Column::new("layout", "layout", Unit::Text),
        Column::new("objects", "objects", Unit::Count),
        Column::new("shallow_bytes", "shallow", Unit::Bytes),
        Column::new("unmanaged_bytes", "unmanaged", Unit::Bytes),
        Column::new("share", "share", Unit::Share).for_people(),
    ]
}

fn whole_note(types: &[TypeTotals]) -> String {
    let sum = |of: fn(&TypeTotals) -> u64| types.iter().map(of).sum::<u64>();
    format!(
        "{}: {}, {} shallow, {} unmanaged",
        units::counted(types.len() as u64, "type"),
        units::counted(sum(|totals| totals.objects), "object"),
        units::size(sum(|totals| totals.heap_bytes)),
        units::size(sum(|totals| totals.unmanaged_bytes)),
    )
}
