//! What ran, and where.

use barrow_trials::Trials;

use crate::answer::{Answer, Audience, Column, Table, Unit, Value};

/// The facts about the machine and the plan that are shown, in this order.
const FACTS: [&str; 9] =
    ["command", "layout", "stop", "seed", "allocations not known", "host", "cores", "memory", "kernel"];

/// Adds what ran, how often, and on which machine.
pub(crate) fn add(answer: Answer, trials: &Trials, facts: &[(String, String)]) -> Answer {
    let people = |heading, unit| Column::shown(heading, unit);
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
        Column::text("variant").called("program"),
        Column::count("runs"),
        Column::count("failed_runs").called("failed"),
        Column::count("warmup_runs").called("warm-ups"),
        Column::text("command"),
    ];
    // For each program the runs that count, those that failed, and the warm-ups.
    let mut counts = vec![[0_usize; 3]; trials.variants().len()];
    for run in trials.runs() {
        if let Some(counts) = counts.get_mut(run.variant.index()) {
            let what = if run.is_warmup { 2 } else { usize::from(run.has_failed()) };
            counts[what] += 1;
        }
    }
    let rows = trials.variants().iter().zip(counts).map(|(variant, [counting, failed, warmups])| {
        vec![
            variant.name.as_str().into(),
            counting.into(),
            failed.into(),
            warmups.into(),
            Value::text(variant.command.join(" ")),
        ]
    });
    let metrics: Vec<&str> = trials.metrics().iter().map(|metric| metric.name.as_str()).collect();
    let table = Table { key: "programs", audience: Audience::Everyone, rows: rows.collect(), columns };
    answer
        .fact(Column::text("metrics"), Value::List(metrics.into_iter().map(Value::from).collect()))
        .table(table)
        .note("`trials` tells what was measured")
}
