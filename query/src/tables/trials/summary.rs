//! The programs that ran, and the machine.

use barrow_trials::Trials;

use crate::answer::{Answer, Column, Unit, Value, table};

/// The facts about the machine and the plan that are shown, in this order.
const FACTS: [&str; 9] =
    ["command", "layout", "stop", "seed", "allocations not known", "host", "cores", "memory", "kernel"];

/// Adds what ran, how often, and on which machine.
pub(crate) fn add(answer: Answer, trials: &Trials, facts: &[(String, String)]) -> Answer {
    let mut answer = answer;
    for name in FACTS {
        let Some((_, value)) = facts.iter().find(|(key, _)| key == name) else { continue };
        answer = match value.parse::<u64>() {
            Ok(bytes) if name == "memory" => answer.fact(Column::shown(name, Unit::Bytes), bytes),
            _ => answer.fact(Column::shown(name, Unit::Text), value.as_str()),
        };
    }
    // For each program the runs that count, those that failed, and the warm-ups.
    let mut counts = vec![[0_usize; 3]; trials.variants().len()];
    for run in trials.runs() {
        if let Some(counts) = counts.get_mut(run.variant.index()) {
            let what = if run.is_warmup { 2 } else { usize::from(run.has_failed()) };
            counts[what] += 1;
        }
    }
    let table = table!("programs", trials.variants().iter().zip(counts), |(variant, [counting, failed, warmups])| {
        Column::text("variant").called("program") => variant.name.as_str(),
        Column::count("runs") => counting,
        Column::count("failed_runs").called("failed") => failed,
        Column::count("warmup_runs").called("warm-ups") => warmups,
        Column::text("command") => variant.command.join(" "),
    });
    let metrics: Vec<Value> = trials.metrics().iter().map(|metric| metric.name.as_str().into()).collect();
    answer.fact(Column::text("metrics"), metrics).table(table).note("`trials` tells what was measured")
}
