//! Types ranked by what they hold, as `top` and `histogram` print them.

use barrow_analyzer::{GroupRetained, Heap, ObjectSet, Progress, Tables, TypeId, TypeIdentity, TypeTotals};

use crate::answer::units;
use crate::answer::{Answer, Audience, Column, Table, Value};
use crate::attributes::totals::Total;
use crate::error::QueryError;
use crate::language::kinds::Kinds;
use crate::sources::counted::CountedSnapshot;

/// A type and what it holds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RankedType {
    totals: TypeTotals,
    /// What its objects dominate, if requested.
    retained: Option<GroupRetained>,
}

impl RankedType {
    /// The type.
    pub(crate) fn type_id(&self) -> TypeId {
        self.totals.type_id
    }

    /// What its objects are in all.
    pub(crate) fn totals(&self) -> &TypeTotals {
        &self.totals
    }

    fn by(&self, order: Total) -> u64 {
        order.of(&self.totals, self.retained)
    }
}

/// These totals of types, the largest first.
pub(crate) fn ranked(totals: &[TypeTotals], order: Total) -> Vec<RankedType> {
    let mut types: Vec<RankedType> = totals.iter().map(|&totals| RankedType { totals, retained: None }).collect();
    types.sort_by_key(|row| (std::cmp::Reverse(row.by(order)), row.totals.type_id));
    types
}

/// What a retained size of a group is.
pub(crate) const AT_LEAST: &str = "≥: what single objects of the group dominate, each byte once; what several of them \
    hold only together comes on top: `retained type = …` tells that for one type";

/// The types of `kinds` in a heap, the largest first; equal ones by name. `counted` replaces the
/// objects of a heap that holds none.
pub(crate) fn types(
    heap: &Heap,
    counted: Option<&CountedSnapshot>,
    kinds: &Kinds,
    order: Total,
    progress: &dyn Progress,
) -> Result<Vec<RankedType>, QueryError> {
    let tables = heap.recording().tables()?;
    let retained = if order == Total::Retained { Some(heap.retained_by_type(progress)?) } else { None };
    let totals = match counted {
        Some(counted) => counted.types.clone(),
        None => heap.type_totals(progress)?,
    };
    Ok(sorted(tables, totals, retained.as_deref(), kinds, order))
}

/// The types of the objects of a set, the largest first; equal ones by name.
///
/// # Errors
/// A usage error for an order by retained size: what objects of a type retain within a set is no sum of known parts.
pub(crate) fn types_of(
    heap: &Heap,
    set: &ObjectSet,
    order: Total,
    progress: &dyn Progress,
) -> Result<Vec<RankedType>, QueryError> {
    if order == Total::Retained {
        return Err(QueryError::usage(
            "what the types of a set retain is not known; `retained EXPR` tells what the set retains, `top EXPR by retained` \
             what its objects do",
        ));
    }
    let totals = heap.type_totals_of(set, progress)?;
    Ok(sorted(heap.recording().tables()?, totals, None, &Kinds::default(), order))
}

fn sorted(
    tables: &Tables,
    totals: Vec<TypeTotals>,
    retained: Option<&[GroupRetained]>,
    kinds: &Kinds,
    order: Total,
) -> Vec<RankedType> {
    let of_kinds = totals.into_iter().filter(|totals| kinds.contain(tables.type_kind(totals.type_id)));
    let mut types: Vec<RankedType> = of_kinds
        .map(|totals| {
            let retained = retained.map(|retained| retained[totals.type_id.index()]);
            RankedType { totals, retained }
        })
        .collect();
    // Types that tie are in the order of their names, whatever their numbers are in this recording.
    let identity = |row: &RankedType| TypeIdentity::of(tables, row.totals.type_id);
    types.sort_by(|one, other| other.by(order).cmp(&one.by(order)).then_with(|| identity(one).cmp(&identity(other))));
    types
}

/// Draws ranked types.
pub(crate) fn answer(
    heap: &Heap,
    types: &[RankedType],
    order: Total,
    progress: &dyn Progress,
) -> Result<Answer, QueryError> {
    let tables = heap.recording().tables()?;
    let whole: u64 = match order {
        // What types dominate overlaps: one holds the other.
        Total::Retained => heap.largest(progress)?.reachable_bytes(),
        _ => types.iter().map(|row| row.by(order)).sum(),
    };
    let rows = types.iter().enumerate().map(|(at, row)| {
        let totals = &row.totals;
        let kind = tables.kind_name(tables.type_kind(totals.type_id));
        let mut cells = vec![
            Value::from(at + 1),
            Value::text(tables.type_title(totals.type_id)),
            Value::text(kind),
            tables.type_layout(totals.type_id).into(),
            totals.objects.into(),
            totals.heap_bytes.into(),
            totals.unmanaged_bytes.into(),
        ];
        cells.extend(row.retained.map(|retained| Value::from(retained.bytes)));
        cells.push(Value::share(row.by(order), whole));
        cells
    });
    let kind_of = |row: &RankedType| tables.type_kind(row.totals.type_id);
    let several = types.iter().any(|row| kind_of(row) != kind_of(&types[0]));
    let columns = columns(several, order == Total::Retained);
    let table = Table { key: "rows", audience: Audience::Everyone, columns, rows: rows.collect() };
    let answer = Answer::default().of_snapshot(heap.snapshot().0).table(table).note(sums_note(
        types,
        "",
        heap.recording().has_unmanaged_sizes()?,
    ));
    Ok(match order {
        Total::Retained => answer.at_least().note(AT_LEAST),
        _ => answer.exact(),
    })
}

fn columns(several_kinds: bool, retained: bool) -> Vec<Column> {
    let kind = Column::text("kind").names();
    let mut columns = vec![
        Column::rank(),
        Column::text("type").names(),
        if several_kinds { kind.secondary() } else { kind.for_machines() },
        Column::text("layout").names().secondary(),
        Column::count("objects"),
        Column::bytes("shallow_bytes"),
        Column::bytes("unmanaged_bytes"),
    ];
    columns.extend(retained.then_some(Column::bytes("retained_bytes").called("≥ retained")));
    columns.push(Column::share("share").for_people());
    columns
}

/// The sums of types whose objects are estimated.
pub(crate) fn estimated_note(types: &[RankedType], has_unmanaged_sizes: bool) -> String {
    sums_note(types, "~", has_unmanaged_sizes)
}

/// The sums of types; `sign` precedes each.
fn sums_note(types: &[RankedType], sign: &str, has_unmanaged_sizes: bool) -> String {
    let sum = |of: fn(&TypeTotals) -> u64| types.iter().map(|row| of(&row.totals)).sum::<u64>();
    let unmanaged = match has_unmanaged_sizes {
        true => format!(", {sign}{} unmanaged", units::size(sum(|totals| totals.unmanaged_bytes))),
        false => String::new(),
    };
    format!(
        "{}: {sign}{}, {sign}{} shallow{unmanaged}",
        units::counted(types.len() as u64, "type"),
        units::counted(sum(|totals| totals.objects), "object"),
        units::size(sum(|totals| totals.heap_bytes)),
    )
}

/// The column of retained sizes; inexact ones are lower bounds.
pub(crate) fn retained_column(is_exact: bool) -> Column {
    Column::bytes("retained_bytes").called(if is_exact { "retained" } else { "≥ retained" })
}
