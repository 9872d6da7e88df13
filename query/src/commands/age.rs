//! `age`: how long objects have lived, by type or by allocation site.

use barrow_analyzer::{CountBounds, LifeStep, Lives, ObjectId, SiteId, TypeId};

use crate::answer::{Answer, Column, Unit, Value, table};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::tables::lifelines;
use crate::tables::type_counts::{self, TypeCounts};

use super::{Command, Group, more};

pub(super) const COMMAND: Command = Command {
    arguments: "[by type|site]",
    orders: |_| vec!["type", "site"],
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
    let is_exact = lives.origin().is_exact() || place == 0;
    let table = table!("rows", groups, |(group, ages)| {
        let title = match by_site {
            false => tables.type_title(TypeId(group)),
            true if group == 0 => "unknown".to_owned(),
            true => {
                recording.site(SiteId(group))?.and_then(|site| site.title()).unwrap_or_else(|| format!("site {group}"))
            }
        };
        let born = ages[0];
        // Bounds of the new objects, where counts of the group have any.
        let new = match (is_exact, by_site) {
            (true, _) => Some(CountBounds { low: born, high: born }),
            (false, true) => None,
            (false, false) => Some(counts.bounds(TypeId(group), CountBounds::born, born)),
        };
        Column::text(if by_site { "site" } else { "type" }).names() => title,
        Column::count("objects") => ages.iter().sum::<u64>(),
        Column::number("median_age") => as_known(median(&ages), is_exact),
        Column::number("oldest") => as_known(ages.iter().rposition(|&count| count > 0), is_exact),
        Column::count("new_objects").called("new") => {
            as_known(Some(born), is_exact || new.is_some_and(CountBounds::is_exact))
        },
        Column::count("new_low").for_machines() => new.map(|bounds| bounds.low),
        Column::count("new_high").for_machines() => new.map(|bounds| bounds.high),
        Column::text("exactness").own_words().for_machines() => type_counts::exactness(is_exact),
        Column::nested("objects_by_age").for_machines() => {
            Value::List(ages.iter().map(|&count| count.into()).collect())
        },
        Column::picture("line").called("by age").for_people() => Value::series(ages, Unit::Count),
    });
    let answer = Answer::default().of_snapshot(snapshot.0).table(table);
    Ok(more::first_page(ask, lifelines::with_origin(answer, lives.origin(), lives.confidence()), ask.page_rows()))
}

fn as_known(value: Option<impl Into<Value>>, is_exact: bool) -> Value {
    let value = Value::from(value);
    if is_exact { value } else { value.estimated() }
}

/// The number of objects of each age in each group; the group with most objects first.
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

/// The median age of objects, of which `ages` counts those of each age.
fn median(ages: &[u64]) -> Option<usize> {
    let objects: u64 = ages.iter().sum();
    let mut seen = 0;
    ages.iter().position(|count| {
        seen += count;
        2 * seen >= objects
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_of_objects() {
        assert_eq!(median(&[1, 0, 3, 1, 0]), Some(2));
        assert_eq!(median(&[2, 0, 2]), Some(0));
    }
}
