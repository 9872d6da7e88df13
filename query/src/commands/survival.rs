//! `survival`: what part of newly born objects lives how long.

use barrow_analyzer::{AgeCount, SnapshotId, Survival};

use crate::answer::{Answer, Column, Curve, Form, Table, Unit, Value, table};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::tables::each_snapshot::EachSnapshot;
use crate::tables::{lifelines, type_counts};

use super::{Command, Completion, Group, trend};

pub(super) const COMMAND: Command = Command {
    arguments: "TYPE | [KIND] EXPR",
    example: "survival type ~ /Session/",
    completion: Completion::Expressions,
    ..Command::new("survival", include_str!("../../verbs/survival.md"), Group::Series, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    lifelines::refuse_without(ask)?;
    if ask.arguments.words().is_empty() {
        return Err(QueryError::usage("the survival of what? `survival Session`, `survival type ~ /Session/`"));
    }
    let recording = ask.recording()?;
    let first = recording.snapshot_ids().next().ok_or(QueryError::NoSnapshot)?;
    let (kinds, expression) = trend::asked(ask, &ask.arguments, 0, first)?;
    let options = ask.context.series_options();
    let survival = Survival::of(&recording, (&kinds, &expression), &options, &ask.meter())?;
    let curve = curve(&survival.ages);
    let answer = Answer::default().table(table(&curve, survival.origin.is_exact()));
    let answer = match curve.is_empty() {
        true => answer.note("none was born after the first snapshot, so it is unknown how long they live"),
        false => {
            let numbers = curve.iter().map(|(_, surviving)| *surviving).collect();
            answer.curve(Curve { heading: "surviving", numbers, unit: Unit::Share, form: Form::Line })
        }
    };
    let answer = lifelines::with_origin(answer, survival.origin, survival.confidence);
    let snapshots: Vec<SnapshotId> = recording.snapshot_ids().collect();
    let each = EachSnapshot::of_recording(&recording, &snapshots, kinds, expression);
    Ok(each.with_gaps(answer, ask)?.into())
}

/// Objects of one age, and the part of all new objects that lives longer than this.
type Step = (AgeCount, f64);

/// The share of new objects that live longer than each age, up to the first age without objects.
fn curve(ages: &[AgeCount]) -> Vec<Step> {
    let known = ages.iter().take_while(|age| age.objects > 0);
    let survivors = known.scan(1.0, |surviving, &age| {
        *surviving *= 1.0 - age.died as f64 / age.objects as f64;
        Some((age, *surviving))
    });
    survivors.collect()
}

fn table(curve: &[Step], is_exact: bool) -> Table {
    table!("rows", (1_usize..).zip(curve), |(age, (found, surviving))| {
        let [objects, died, surviving] = [found.objects.into(), found.died.into(), Value::Share(*surviving)]
            .map(|value: Value| if is_exact { value } else { value.estimated() });
        Column::number("age") => age,
        Column::count("objects") => objects,
        Column::count("died") => died,
        Column::share("surviving") => surviving,
        Column::text("exactness").own_words().for_machines() => type_counts::exactness(is_exact),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_is_that_of_all_ages() {
        let age = |objects, died| AgeCount { objects, died };
        let curve = curve(&[age(10, 5), age(4, 1), age(0, 0), age(3, 0)]);
        let shares: Vec<f64> = curve.iter().map(|(_, surviving)| *surviving).collect();
        assert_eq!(shares, [0.5, 0.375]);
        assert!(super::curve(&[age(0, 0)]).is_empty());
    }
}
