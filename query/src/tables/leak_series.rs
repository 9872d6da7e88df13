//! Paths that keep growing and whose objects do not die: `leaks A..B`.

use barrow_analyzer::{
    CountBounds, Growth, GrowthPart, GrowthRow, LEAST_POINTS, ObjectId, SerialOrigin, Tables, Turnover, Turnovers,
    TypeId, TypeIdentity, Verdict,
};

use crate::answer::{Answer, Column, Table, Value, table, units};
use crate::arguments::Arguments;
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::session::listed::Listed;
use crate::tables::{growth_series, lifelines, series, type_counts, type_path};

/// A path that grows, with the births and deaths of the objects at its end.
struct Leak {
    row: GrowthRow,
    turnover: Turnover,
}

impl Leak {
    /// The part of the objects born in the series that is still there.
    fn left(&self) -> f64 {
        let Turnover { born, died, .. } = self.turnover;
        if born == 0 { 1.0 } else { 1.0 - died as f64 / born as f64 }
    }

    /// The bounds of the number of objects born in the series.
    fn born_bounds(&self, origin: SerialOrigin) -> CountBounds {
        let born = self.turnover.born;
        if origin.is_exact() { CountBounds { low: born, high: born } } else { self.turnover.born_bounds }
    }

    /// Paths that grow for sure come first, then those that grow most by objects that stay.
    fn rank(&self) -> (u8, f64) {
        let (class, score) = self.row.judgement.rank();
        (class, self.left() * score)
    }
}

/// The paths that grow, or rise each time where that is all that can be said; those first that grow most by objects
/// that stay.
///
/// # Errors
/// A usage error for less than five snapshots; those of the analyzer.
pub(crate) fn answer(ask: &Ask, arguments: &Arguments) -> Result<Reply, QueryError> {
    lifelines::refuse_without(ask)?;
    let recording = ask.recording()?;
    let (snapshots, is_repeated) = growth_series::snapshots(ask, &recording, &arguments.words())?;
    if snapshots.len() < LEAST_POINTS {
        return Err(QueryError::usage(format!(
            "whether something grows takes {LEAST_POINTS} snapshots at least; try `growth`"
        )));
    }
    let growth = growth_series::folded(ask, &recording, &snapshots, type_path::least_share(arguments)?)?;
    let range = [snapshots[0], snapshots[snapshots.len() - 1]];
    let turnovers = Turnovers::of(&recording, range, &ask.context.series_options(), &ask.meter())?;

    let tables = recording.tables()?;
    let of = |node: usize| turnover_of(tables, &turnovers.by_type, growth.nodes()[node].part);
    let rows = growth.rows().into_iter().filter(|row| !row.is_carried && is_told(row) && growth.changes(row.node));
    let mut leaks: Vec<Leak> = rows.map(|row| Leak { row, turnover: of(row.node) }).collect();
    leaks.sort_by(|one, other| {
        let (one, other) = (one.rank(), other.rank());
        other.0.cmp(&one.0).then(other.1.total_cmp(&one.1))
    });
    let mut listed = Listed::default();
    let table = table(&growth, &leaks, turnovers.origin, |object| listed.push((range[1], object)));
    let answer = Answer::default().fact(Column::text("slope_per").own_words().for_machines(), series::PER).table(table);
    let answer = match leaks.first() {
        None => answer.note(format!(
            "nothing grows; `growth` lists all paths of {}",
            units::counted(snapshots.len() as u64, "snapshot")
        )),
        Some(leak) if leak.row.judgement.verdict == Verdict::RisesEachTime => answer.note(series::few(snapshots.len())),
        Some(_) => answer,
    };
    let answer = if is_repeated { answer.note(growth_series::REPEATED) } else { answer };
    let answer = lifelines::with_origin(answer, turnovers.origin, turnovers.confidence);
    Ok(Reply::from(answer).listing(listed))
}

fn is_told(row: &GrowthRow) -> bool {
    matches!(row.judgement.verdict, Verdict::Grows | Verdict::RisesEachTime)
}

/// The births and deaths of the objects of all types that are the same as that at the end of a path.
fn turnover_of(tables: &Tables, turnover: &[Turnover], part: GrowthPart<'_>) -> Turnover {
    let GrowthPart::Type(identity) = part else { return Turnover::default() };
    let same = (0..turnover.len()).filter(|&id| TypeIdentity::of(tables, TypeId(id as u32)) == identity);
    same.fold(Turnover::default(), |mut sum, id| {
        sum.born += turnover[id].born;
        sum.died += turnover[id].died;
        sum.born_bounds += turnover[id].born_bounds;
        sum
    })
}

/// A row for each path. `numbered` returns the number of the row of an object.
fn table(
    growth: &Growth<'_>,
    leaks: &[Leak],
    origin: SerialOrigin,
    mut numbered: impl FnMut(ObjectId) -> usize,
) -> Table {
    let is_exact = origin.is_exact();
    table!("rows", leaks, |leak| {
        let node = &growth.nodes()[leak.row.node];
        let born = Value::Number(leak.turnover.born);
        let left = if leak.turnover.born == 0 { Value::None } else { Value::Share(leak.left()) };
        Column::row_number() => node.largest.map(&mut numbered),
        Column::text("path").for_machines() => type_path::whole(growth, leak.row.node),
        Column::nested("steps").for_machines() => type_path::steps(growth, leak.row.node),
        Column::text("shown_path").called("path").for_people() => type_path::shown(growth, leak.row.deepest),
        Column::bytes("last_retained_bytes").called("retained") => node.retained_bytes.last().copied().flatten(),
        Column::count("last_objects").called("objects") => node.objects.last().copied().flatten(),
        Column::count("type_born").called("born of type") => if is_exact { born } else { born.estimated() },
        Column::share("type_left").called("still there") => if is_exact { left } else { left.estimated() },
        Column::text("type_born_exactness").for_machines() => type_counts::exactness(is_exact),
        ..type_counts::bounds_columns(["type_born_low", "type_born_high"])
            => type_counts::bounds_cells(leak.born_bounds(origin)),
        ..series::trend_columns() => series::trend_cells(&leak.row.judgement),
        Column::object("example").called("largest").secondary() => node.largest.map(|largest| largest.0),
    })
}
