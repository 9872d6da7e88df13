//! What ran, and where.

use barrow_trials::Trials;

use crate::answer::{Answer, Audience, Column, Table, Unit, Value};

/// The facts about the machine and the plan that are shown, in this order.
const FACTS: [&str; 8] = ["command", "layout", "stop", "seed", "host", "cores", "memory", "kernel"];

/// Adds what ran, how often, and on which machine.
pub(crate) fn add(answer: Answer, trials: &Trials, facts: &[(String, String)]) -> Answer {
    let people = |heading, unit| Column::new("", heading, unit).for_people();
    let mut answer = answer;
    for name in FACTS {
        if let Some((_, value)) = facts.iter().find(|(key, _)| key == name) {
            let value = match value.parse::<u64>() {
                Ok(bytes) if name == "memory" => (people(name, Unit::Bytes), Value::Number(bytes)),
                _ => (people(name, Unit::Text), Value::text(value.as_str())),
            };
            answer = answer.fact(value.0, value.1);
        }
    }
    let columns = vec![
        Column::new("variant", "program", Unit::Text),
        Column::new("runs", "runs", Unit::Count),
        Column::new("failed_runs", "failed", Unit::Count),
        Column::new("warmup_runs", "warm-ups", Unit::Count),
        Column::new("command", "command", Unit::Text),
    ];
    let rows = trials.variant_ids().map(|id| {
        let variant = &trials.variants()[id.index()];
        let count = |is: fn(&barrow_trials::Run) -> bool| {
            trials.runs().iter().filter(|run| run.variant == id && is(run)).count()
        };
        vec![
            variant.name.as_str().into(),
            count(barrow_trials::Run::counts).into(),
            count(|run| !run.is_warmup && run.has_failed()).into(),
            count(|run| run.is_warmup).into(),
            Value::text(variant.command.join(" ")),
        ]
    });
    let metrics: Vec<&str> = trials.metrics().iter().map(|metric| metric.name.as_str()).collect();
    let table = Table { key: "programs", audience: Audience::Everyone, rows: rows.collect(), columns };
    answer
        .fact(
            Column::new("metrics", "metrics", Unit::Text),
            Value::List(metrics.into_iter().map(Value::from).collect()),
        )
        .table(table)
        .note("`trials` tells what was measured")
}
