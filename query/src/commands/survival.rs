//! `survival`: what part of newly born objects lives how long.

use barrow_analyzer::{LifeStep, Lives, ObjectSet};

use crate::answer::series;
use crate::answer::{Answer, Audience, Column, Table, Unit, Value};
use crate::arguments::Arguments;
use crate::error::QueryError;
use crate::session::Session;
use crate::tables::lifelines;
use crate::tables::type_counts;
use crate::tables::type_path;
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject, trend};

pub(super) const COMMAND: Command = Command {
    name: "survival",
    aliases: &[],
    group: Group::Series,
    arguments: "TYPE | [KIND] EXPR",
    about: "What share of new objects still exists after 1, 2, 3 … snapshots",
    details: "Of the objects that match in a snapshot: how many are gone in the next, by age. Objects of the first \
              snapshot are left out, because their age is unknown. Objects that still exist at the end count for as \
              long as they were seen (Kaplan and Meier 1958). A curve that stays at the top is of objects that never \
              die. `help born` says how objects are identified.",
    example: "survival type ~ /Session/",
    flags: &[],
    subject: Subject::Recording,
    touches: Touches::RECORDING,
    asks_for_totals: None,
    completion: Completion::Expressions,
    run,
};

fn run(session: &mut Session, arguments: &Arguments) -> Result<Answer, QueryError> {
    lifelines::refuse_without(session)?;
    if arguments.words().is_empty() {
        return Err(QueryError::usage("the survival of what? `survival Session`, `survival type ~ /Session/`"));
    }
    let snapshots = session.snapshots()?;
    let last = *snapshots.last().ok_or(QueryError::NoSnapshot)?;
    let recording = session.recording()?;
    let mut lives = Lives::with(&recording, last, session.context.series_options())?;
    let mut ages = vec![Age::default(); snapshots.len()];
    let meter = session.meter();
    let mut before = None;
    for at in 0..snapshots.len() {
        let Some(step) = lives.next(&meter)? else { break };
        if let Some(set) = before {
            count_dead(&step, &set, at, &mut ages);
        }
        let (kinds, expression) = trend::asked(session, arguments, 0, step.snapshot)?;
        let (set, _) = type_path::heap(session, &recording, step.snapshot)?.select(&kinds, &expression, &meter)?;
        if at + 1 < snapshots.len() {
            let born = set.iter().filter_map(|object| step.born(object)).filter(|&born| born > 0);
            born.for_each(|born| ages[at - born].objects += 1);
        }
        before = Some(set);
    }
    drop(meter);
    session.listed.clear();
    let curve = curve(ages);
    let drawn: Vec<f64> = curve.iter().map(|age| age.surviving).collect();
    let answer = Answer::default().table(table(&curve, lives.origin().is_exact()));
    let answer = match curve.is_empty() {
        true => answer.note("none was born after the first snapshot, so it is unknown how long they live"),
        false => answer.note(format!("surviving {}", series::spark(&drawn))),
    };
    Ok(lifelines::with_origin(answer, lives.origin(), lives.confidence()))
}

/// Objects of one age.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Age {
    /// Those that could be seen one snapshot later.
    objects: u64,
    /// Those that were not.
    died: u64,
    /// The part of all new objects that lives longer than this.
    surviving: f64,
}

/// Counts those of a set of the snapshot before that are dead in `step`, which is number `at`.
fn count_dead(step: &LifeStep, set: &ObjectSet, at: usize, ages: &mut [Age]) {
    let dead = step.died.iter().filter(|&&(object, born)| born > 0 && set.contains(object));
    dead.for_each(|&(_, born)| ages[at - 1 - born].died += 1);
}

/// What part lives longer than each age, as far as there are objects of it.
fn curve(mut ages: Vec<Age>) -> Vec<Age> {
    ages.truncate(ages.iter().take_while(|age| age.objects > 0).count());
    let mut surviving = 1.0;
    for age in &mut ages {
        surviving *= 1.0 - age.died as f64 / age.objects as f64;
        age.surviving = surviving;
    }
    ages
}

fn table(curve: &[Age], is_exact: bool) -> Table {
    let columns = vec![
        Column::new("age", "age", Unit::Number),
        Column::new("objects", "objects", Unit::Count),
        Column::new("died", "died", Unit::Count),
        Column::new("surviving", "surviving", Unit::Share),
        Column::new("exactness", "", Unit::Text).for_machines(),
    ];
    let as_known = |value: Value| if is_exact { value } else { value.estimated() };
    let cells = |(age, found): (usize, &Age)| {
        vec![
            Value::from(age + 1),
            as_known(found.objects.into()),
            as_known(found.died.into()),
            as_known(Value::Share(found.surviving)),
            type_counts::exactness(is_exact),
        ]
    };
    Table { key: "rows", audience: Audience::Everyone, columns, rows: curve.iter().enumerate().map(cells).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_is_that_of_all_ages() {
        let age = |objects, died| Age { objects, died, surviving: 0.0 };
        let curve = curve(vec![age(10, 5), age(4, 1), age(0, 0), age(3, 0)]);
        let shares: Vec<f64> = curve.iter().map(|age| age.surviving).collect();
        assert_eq!(shares, [0.5, 0.375]);
        assert!(super::curve(vec![age(0, 0)]).is_empty());
    }
}
