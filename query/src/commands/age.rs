//! `age`: how long objects have lived, by type or by allocation site.

use barrow_analyzer::{CountBounds, LifeStep, Lives, ObjectId, SiteId, TypeId};

use crate::answer::{Answer, Audience, Column, Table, Value};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::tables::lifelines;
use crate::tables::series;
use crate::tables::type_counts::{self, TypeCounts};

use super::{Command, Group, more};

pub(super) const COMMAND: Command = Command {
    arguments: "[by type|site]",
    ..Command::new("age", include_str!("../../verbs/age.md"), Group::Series, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    lifelines::refuse_without(ask)?;
    let by_site = match ask.arguments.words().iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] | ["by", "type"] => false,
        ["by", "site"] => true,
        ["by", word, ..] | [word, ..] => return Err(COMMAND.refuses(word)),
    };
    let snapshot = ask.snapshot()?;
    let recording = ask.recording()?;
    let heap = ask.heap(snapshot)?;
    let meter = ask.meter();
    let mut lives = Lives::with(&recording, snapshot, ask.context.series_options())?;
    let place = ask.snapshots()?.iter().take_while(|&&before| before < snapshot).count();
    let step = lives.last(&meter)?.ok_or(QueryError::NoSnapshot)?;
    let groups = match by_site {
        true => by_age(&step, place, &heap.sites(&meter)?),
        false => by_age(&step, place, heap.types(&meter)?),
    };
    drop(meter);
    let tables = recording.tables()?;
    let before = ask.snapshots()?.get(place.saturating_sub(1)).copied().unwrap_or(snapshot);
    let counts = TypeCounts::of(&recording, [before, snapshot], lives.origin())?;
    let mut rows = Vec::new();
    for (group, ages) in groups {
        let title = match by_site {
            false => tables.type_title(TypeId(group)),
            true if group == 0 => "unknown".to_owned(),
            true => {
                recording.site(SiteId(group))?.and_then(|site| site.title()).unwrap_or_else(|| format!("site {group}"))
            }
        };
        let is_exact = lives.origin().is_exact() || place == 0;
        let born = ages.first().copied().unwrap_or(0);
        let new = match (is_exact, by_site) {
            (true, _) => Some(CountBounds { low: born, high: born }),
            (false, true) => None,
            (false, false) => Some(counts.bounds(TypeId(group), CountBounds::born, born)),
        };
        rows.push(cells(title, &ages, is_exact, new));
    }
    let group = if by_site { "site" } else { "type" };
    let answer = Answer::default().of_snapshot(snapshot.0).table(Table {
        key: "rows",
        audience: Audience::Everyone,
        columns: columns(group),
        rows,
    });
    Ok(more::first_page(ask, lifelines::with_origin(answer, lives.origin(), lives.confidence()), ask.page_rows()))
}

/// For each group how many objects there are of each age, those with most objects first.
fn by_age(step: &LifeStep, place: usize, groups: &[u32]) -> Vec<(u32, Vec<u64>)> {
    let most = groups.iter().max().map_or(0, |&group| group as usize + 1);
    let mut found: Vec<Vec<u64>> = vec![Vec::new(); most];
    for object in (0..step.objects() as u32).map(ObjectId) {
        if let Some(born) = step.born(object) {
            let ages = &mut found[groups[object.index()] as usize];
            if ages.is_empty() {
                ages.resize(place + 1, 0);
            }
            ages[place - born] += 1;
        }
    }
    let mut rows: Vec<_> = (0..).zip(found).filter(|(_, ages)| !ages.is_empty()).collect();
    rows.sort_by_key(|(group, ages)| (std::cmp::Reverse(ages.iter().sum::<u64>()), *group));
    rows
}

fn columns(group: &'static str) -> Vec<Column> {
    vec![
        Column::text(group),
        Column::count("objects"),
        Column::number("median_age"),
        Column::number("oldest"),
        Column::count("new_objects").called("new"),
        Column::count("new_low").for_machines(),
        Column::count("new_high").for_machines(),
        Column::text("exactness").for_machines(),
        Column::nested("objects_by_age").for_machines(),
        Column::text("line").called("by age").for_people(),
    ]
}

/// A row. `new` says between which numbers the new objects are, where counts of the group say that.
fn cells(title: String, ages: &[u64], is_exact: bool, new: Option<CountBounds>) -> Vec<Value> {
    let objects: u64 = ages.iter().sum();
    let mut seen = 0;
    let median = ages.iter().position(|count| {
        seen += count;
        2 * seen >= objects
    });
    let drawn: Vec<f64> = ages.iter().map(|&count| count as f64).collect();
    let as_known = |value: Value, is_exact: bool| if is_exact { value } else { value.estimated() };
    vec![
        Value::Text(title),
        objects.into(),
        as_known(median.into(), is_exact),
        as_known(ages.iter().rposition(|&count| count > 0).into(), is_exact),
        as_known(ages.first().copied().into(), is_exact || new.is_some_and(CountBounds::is_exact)),
        new.map(|bounds| bounds.low).into(),
        new.map(|bounds| bounds.high).into(),
        type_counts::exactness(is_exact),
        Value::List(ages.iter().map(|&count| count.into()).collect()),
        Value::Text(series::spark(&drawn)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_of_objects() {
        let found = cells("Pair".to_owned(), &[1, 0, 3, 1, 0], true, None);
        assert_eq!(found[1..5], [5u64, 2, 3, 1].map(Value::Number));
        assert_eq!(cells("Pair".to_owned(), &[2, 0, 2], true, None)[2], Value::Number(0));
    }
}
