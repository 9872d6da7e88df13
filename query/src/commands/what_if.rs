//! `what-if`: the recorded tree with other slots, or with a faster class.

use std::collections::HashMap;
use std::sync::Arc;

use barrow_analyzer::nearest;
use barrow_processes::{Classes, LabelId, Outcome, PeakKind, Plan, ProcessTree, Schema};
use rayon::prelude::*;

use crate::tables::known_in_part;

use super::prelude::*;

pub(super) const COMMAND: Command = Command {
    arguments: "[-j N] [--memory SIZE] [--slots CLASS=N] [CLASS FACTORx] [--classes FILE]",
    example: "what-if -j 8",
    flags: &["-j", "--memory", "--slots", "--classes"],
    ..Command::new("what-if", include_str!("../../verbs/what-if.md"), Group::Processes, run)
};

/// The most slots that are tried: each takes a replay, and few machines have more processors.
const MOST_SLOTS: u64 = 128;
/// A wait for processors of this part of the whole is worth saying. This is a judgement.
const WAITED: f64 = 0.05;
/// Classes that are listed: those that used most, so the others matter little.
const MOST_CLASSES: usize = 10;

/// The class that is faster, and its factor.
fn faster(words: &[String]) -> Result<Option<(&str, f64)>, QueryError> {
    match words {
        [] => Ok(None),
        [class, factor] => Ok(Some((class, parse_factor(factor)?))),
        [class] => Err(QueryError::usage(format!("how much faster? say `what-if {class} 2x`"))),
        [_, _, word, ..] => Err(COMMAND.refuses(word)),
    }
}

fn parse_factor(text: &str) -> Result<f64, QueryError> {
    let factor = text.strip_suffix(['x', 'X']).and_then(|factor| factor.parse::<f64>().ok());
    factor
        .filter(|factor| (0.001..=1000.0).contains(factor))
        .ok_or_else(|| QueryError::usage(format!("`{text}` is no factor: 2x is twice as fast, 0.5x half as fast")))
}

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let flags = &ask.arguments.flags;
    let words = ask.arguments.words();
    let faster = faster(&words)?;
    let (tree, recorded) = (ask.process_tree()?, ask.process_plan()?);
    let pools = &flags.slots;
    let names = faster.iter().map(|(class, _)| *class).chain(pools.iter().map(|pool| pool.class.as_str()));
    let classes = with_classes(ask, &tree, &names.collect::<Vec<_>>())?;
    let mut plan = Arc::clone(&recorded);
    if let Some((class, factor)) = faster {
        plan = Arc::new(plan.faster(&tree, &*ask.process_totals()?, class_named(&classes, class)?, factor));
    }
    for pool in pools {
        plan = Arc::new(plan.with_pool(&tree, &*ask.process_totals()?, class_named(&classes, &pool.class)?, pool.jobs));
    }
    let as_recorded = recorded.replay(recorded.recorded_slots());
    let question = Question {
        tree: &tree,
        recorded: &recorded,
        plan: &plan,
        as_recorded: &as_recorded,
        slots: flags.jobs,
        memory: flags.memory,
    };
    let choices = question.choices();
    let chosen = question.chosen(&choices);
    let mut answer = question.facts(chosen).table(question.table(&choices, chosen));
    if let Some(choice) = chosen {
        answer = answer.table(question.at_peak(choice, classes.first()));
    }
    let in_pools = pools.iter().zip(plan.jobs_in_pools()).map(|(pool, jobs)| {
        let (jobs, most) = (units::counted(jobs as u64, "job"), units::grouped(pool.jobs));
        format!("{}: {jobs}, no more than {most} of them at a time", pool.class)
    });
    Ok(answer.lines(in_pools).lines(question.notes(&choices, chosen)).into())
}

/// The classes of the schemata up to the one that has the last of these labels; of the first one if there are none.
fn with_classes(ask: &Ask, tree: &Arc<ProcessTree>, names: &[&str]) -> Result<Arc<Classes>, QueryError> {
    let mut count = 1;
    loop {
        let classes = ask.first_classes(tree, count, &ask.arguments.flags)?;
        if count >= classes.schemata().len() || names.iter().all(|name| class_named(&classes, name).is_ok()) {
            return Ok(classes);
        }
        count += 1;
    }
}

fn class_named<'c>(classes: &'c Classes, name: &str) -> Result<(&'c Schema, LabelId), QueryError> {
    let found = classes.schemata().iter().find_map(|schema| {
        let label = schema.labels().iter().position(|label| label == name)?;
        Some((schema, LabelId(label as u32)))
    });
    found.ok_or_else(|| {
        let known = classes.schemata().iter().flat_map(|schema| schema.labels());
        let near = nearest(name, known.map(String::as_str));
        let near = near.map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default();
        let (schema, labels) = (classes.first().name(), classes.first().labels());
        let listed = labels.iter().take(MOST_CLASSES).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = if labels.len() > MOST_CLASSES { ", …" } else { "" };
        QueryError::usage(format!(
            "no process of this recording has the class \"{name}\"{near}; the classes of {schema} are {listed}{more}"
        ))
    })
}

/// The outcome of a number of slots.
struct Choice {
    slots: u64,
    outcome: Outcome,
}

impl Choice {
    /// Returns whether it surely needs no more.
    fn fits(&self, most: u64) -> bool {
        self.outcome.memory.is_some_and(|memory| memory.high <= most)
    }

    /// The memory: likely, at least and at most.
    fn memory(&self) -> [Value; 3] {
        match self.outcome.memory {
            Some(memory) => {
                // Without samples nothing is known of the least.
                let low = if memory.low > 0 { Value::Estimate(memory.low) } else { Value::None };
                [Value::Estimate(memory.likely), low, Value::Estimate(memory.high)]
            }
            None => [Value::None, Value::None, Value::None],
        }
    }
}

struct Question<'q> {
    tree: &'q ProcessTree,
    /// As it was.
    recorded: &'q Plan,
    /// As it would be.
    plan: &'q Plan,
    as_recorded: &'q Outcome,
    /// The number of slots that was asked for.
    slots: Option<u64>,
    /// The memory that must suffice, in bytes.
    memory: Option<u64>,
}

impl Question<'_> {
    fn choice(&self, slots: u64) -> Choice {
        Choice { slots, outcome: self.plan.replay(slots) }
    }

    /// The slots that are tried: all numbers to find the largest one that fits, otherwise powers of two, and what was
    /// recorded.
    fn choices(&self) -> Vec<Choice> {
        let recorded = self.recorded.recorded_slots();
        let usual = self.recorded.cores().saturating_mul(2).max(recorded).clamp(1, MOST_SLOTS);
        let mut slots: Vec<u64> = match self.memory {
            Some(_) => (1..=usual.saturating_mul(2).min(MOST_SLOTS)).collect(),
            None => (0..8).map(|power| 1 << power).filter(|&slots| slots <= usual).collect(),
        };
        slots.extend([recorded].into_iter().chain(self.slots));
        slots.sort_unstable();
        slots.dedup();
        slots.into_par_iter().map(|slots| self.choice(slots)).collect()
    }

    fn chosen<'c>(&self, choices: &'c [Choice]) -> Option<&'c Choice> {
        match (self.slots, self.memory) {
            (None, Some(most)) => choices.iter().rfind(|choice| choice.fits(most)),
            (slots, _) => {
                let slots = slots.unwrap_or(self.recorded.recorded_slots());
                choices.iter().find(|choice| choice.slots == slots)
            }
        }
    }

    fn facts(&self, chosen: Option<&Choice>) -> Answer {
        let recorded = self.recorded;
        let (was, is) = (recorded.recorded_ns(), self.as_recorded.wall_ns);
        // A replay without the waits is meant to differ.
        let error = match self.has_waited() {
            true => "not known: waits are left out".to_owned(),
            false => error(was, is),
        };
        let sampled = recorded.recorded_peak().filter(|peak| peak.kind == PeakKind::Sampled);
        let [peak, low, high] = chosen.map_or([Value::None, Value::None, Value::None], Choice::memory);
        let replayed_peak = self.as_recorded.memory.map(|memory| Value::Estimate(memory.likely));
        Answer::default()
            .fact(Column::count("slots"), chosen.map(|choice| choice.slots))
            .fact(Column::duration("wall_ns"), chosen.map(|choice| Value::Estimate(choice.outcome.wall_ns)))
            .fact(Column::bytes("peak_bytes"), peak)
            .fact(Column::bytes("peak_low_bytes").called("peak, low end"), low)
            .fact(Column::bytes("peak_high_bytes").called("peak, high end"), high)
            .fact(Column::count("recorded_slots"), recorded.recorded_slots())
            .fact(Column::duration("recorded_wall_ns"), was)
            .fact(Column::duration("replayed_wall_ns"), Value::Estimate(is))
            .fact(Column::shown("error", Unit::Text), error)
            .fact(Column::bytes("recorded_peak_bytes"), sampled.map(|peak| peak.bytes))
            .fact(Column::bytes("replayed_peak_bytes"), replayed_peak)
            .fact(Column::count("cores"), recorded.known_cores())
            .fact(Column::count("jobs"), recorded.jobs())
    }

    fn table(&self, choices: &[Choice], chosen: Option<&Choice>) -> Table {
        table!("choices", choices, |choice| {
            let marks = [
                (choice.slots == self.recorded.recorded_slots()).then_some("recorded"),
                chosen.filter(|chosen| chosen.slots == choice.slots).map(|_| "asked for"),
            ];
            let [peak, low, high] = choice.memory();
            Column::number("slots").called("-j") => choice.slots,
            Column::duration("wall_ns") => Value::Estimate(choice.outcome.wall_ns),
            Column::bytes("peak_bytes") => peak,
            Column::bytes("peak_low_bytes").called("low end") => low,
            Column::bytes("peak_high_bytes").called("high end") => high,
            Column::count("used_slots") => choice.outcome.most_jobs,
            Column::shown("", Unit::Text) => marks.into_iter().flatten().collect::<Vec<_>>().join(", "),
        })
    }

    /// The classes that hold the memory when most is held.
    fn at_peak(&self, choice: &Choice, schema: &Schema) -> Table {
        // Of what processes share, each has a part.
        let holders = self.plan.at_peak(self.tree, choice.slots, &choice.outcome);
        let sum: f64 = holders.iter().map(|&(_, bytes)| bytes as f64).sum();
        let factor = choice.outcome.memory.map_or(1.0, |memory| memory.likely as f64 / sum.max(1.0));
        let mut sums: HashMap<Option<LabelId>, (u64, f64)> = HashMap::new();
        for (image, bytes) in holders {
            let sum = sums.entry(schema.label(image)).or_default();
            *sum = (sum.0 + 1, sum.1 + bytes as f64 * factor);
        }
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.sort_by(|(one, (_, a)), (other, (_, b))| b.total_cmp(a).then(one.cmp(other)));
        table!("at_peak", sums.into_iter().take(MOST_CLASSES), |(label, (processes, bytes))| {
            Column::text("class").called("at the peak") => label.map(|label| schema.text(label)),
            Column::count("processes").called("at once") => processes,
            Column::bytes("bytes").called("memory") => Value::Estimate(bytes as u64),
        })
    }

    /// Returns whether much of the recorded time was waiting for processors.
    fn has_waited(&self) -> bool {
        has_waited(self.recorded)
    }

    fn notes(&self, choices: &[Choice], chosen: Option<&Choice>) -> Vec<String> {
        let mut notes = Vec::new();
        if let (Some(_), None, Some(chosen)) = (self.memory, self.slots, chosen) {
            if choices.last().is_some_and(|last| last.slots == chosen.slots) {
                notes.push(format!("no more than {} slots were tried; -j tries one number", chosen.slots));
            }
            let fastest = choices.iter().filter(|choice| choice.slots <= chosen.slots);
            if let Some(fastest) = fastest.min_by_key(|choice| (choice.outcome.wall_ns, choice.slots)) {
                let wall = units::duration(fastest.outcome.wall_ns);
                notes.push(format!("the fastest of these that fit is -j{} with about {wall}", fastest.slots));
            }
        }
        if let (Some(most), None, None) = (self.memory, self.slots, chosen) {
            notes.push(match self.choice(1).outcome.memory {
                Some(memory) => {
                    let (most, high) = (units::size(most), units::size(memory.high));
                    format!("nothing surely fits in {most}: one slot may need {high}")
                }
                None => "no memory was recorded".to_owned(),
            });
        }
        if self.as_recorded.memory.is_some()
            && self.recorded.recorded_peak().is_none_or(|peak| peak.kind != PeakKind::Sampled)
        {
            notes.push(
                "the memory of the whole was not sampled: each peak is a sum of peaks of processes, an upper bound"
                    .to_owned(),
            );
        }
        if self.has_waited() {
            let waited = units::duration(self.recorded.waited_ns());
            notes.push(format!(
                "jobs waited {waited} of their time for processors in the recording; the replay leaves this out, and \
                 shares the cores anew"
            ));
        }
        notes.extend(
            known_in_part::unknown_waits(self.tree).map(|programs| {
                format!("how long {programs} waited for processors is not known, and stays in the times")
            }),
        );
        if self.recorded.jobs() == 0 {
            notes.push("nothing in this recording runs jobs in slots; -j changes nothing".to_owned());
        }
        notes
    }
}

/// Returns whether much of the recorded time was waiting for processors.
pub(super) fn has_waited(plan: &Plan) -> bool {
    plan.waited_ns() as f64 > plan.recorded_ns() as f64 * WAITED
}

/// By how much the second number differs from the first one.
fn error(was: u64, is: u64) -> String {
    if was == 0 { String::new() } else { format!("{:+.1} %", (is as f64 - was as f64) * 100.0 / was as f64) }
}
