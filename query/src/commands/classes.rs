//! `classes`: what the classes of processes used, and when they ran.

use barrow_processes::{
    Attribute, Classes, ImageId, Measure, ProcessTree, Schema, Totals, WholeSpan, class_peaks, class_totals,
    class_values, running_shares, running_shares_of_all,
};

use crate::answer::{Answer, Column, Value, units};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::attributes::processes;
use crate::error::QueryError;
use crate::tables::class_tables::{self, Totalled};
use crate::tables::known_in_part;

use super::{Command, Group, more};

pub(super) const COMMAND: Command = Command {
    arguments: "[SCHEMA] [by cpu|user|system|waiting|wall|memory] [histogram [log]] [--classes FILE]",
    example: "classes program by wall",
    flags: &["--classes"],
    orders: |_| processes::words(adds_up),
    ..Command::new("classes", include_str!("../../verbs/classes.md"), Group::Processes, run)
};

/// Classes with a bar. Each has 32 numbers in memory, and a table of more is not read to its end.
const MOST_BARS: usize = 1000;

#[derive(Debug, Default)]
struct Asked {
    schema: Option<String>,
    measure: Option<Measure>,
    /// A histogram, and whether it is logarithmic.
    histogram: Option<bool>,
}

fn asked(words: &[String]) -> Result<Asked, QueryError> {
    let mut asked = Asked::default();
    let mut words = words.iter().map(String::as_str).peekable();
    while let Some(word) = words.next() {
        match word {
            "by" => {
                let name = words.next().unwrap_or_default();
                let measure = measure(name).ok_or_else(|| COMMAND.refuses(&format!("by {name}")))?;
                asked.measure = Some(measure);
            }
            "histogram" => asked.histogram = Some(words.next_if_eq(&"log").is_some()),
            name if asked.schema.is_none() => asked.schema = Some(name.to_owned()),
            other => return Err(COMMAND.refuses(other)),
        }
    }
    Ok(asked)
}

fn measure(name: &str) -> Option<Measure> {
    Attribute::beginning(name, adds_up)?.class_measure()
}

/// Whether classes add an attribute up.
fn adds_up(attribute: &Attribute) -> bool {
    attribute.class_measure().is_some()
}

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let asked = asked(&ask.arguments.words())?;
    let (tree, totals) = (ask.process_tree()?, ask.process_totals()?);
    let is_all = asked.schema.is_none() && !ask.context.settings.is_abridged;
    let classes = match is_all {
        true => ask.classes(&ask.arguments.flags)?,
        false => ask.classes_in(&ask.arguments.flags, asked.schema.as_deref())?,
    };
    let schema = schema_of(&classes, asked.schema.as_deref())?;
    // Different texts may be one class.
    let cut = Some(schema.cut_labels()).filter(|&cut| cut > 0);
    let note = cut.map(|cut| format!("labels that are too long and cut at `…`: {cut}; what begins alike is one class"));
    let rows = ask.page_rows();
    let measure = asked.measure.unwrap_or(Measure::Cpu);
    if let Some(is_logarithmic) = asked.histogram {
        let values = class_values(&tree, &totals, schema, measure);
        let (table, scale) = class_tables::histogram(schema, &values, measure, is_logarithmic);
        let mut answer = Answer::default().table(table).lines(note).exact();
        answer.notes.extend(scale);
        return Ok(more::first_page(ask, answer, rows));
    }
    let all = classes.schemata().iter().filter(|one| is_all || std::ptr::eq(*one, schema));
    let records = all.map(|schema| class_tables::record(&totalled(&tree, &totals, schema))).collect();
    let mut answer = people(&tree, &totalled(&tree, &totals, schema), measure, rows).lines(note);
    answer = answer.fact(Column::nested("schemata").for_machines(), Value::List(records));
    let others: Vec<&str> = classes.schemata().iter().map(Schema::name).filter(|name| *name != schema.name()).collect();
    if asked.schema.is_none() && !others.is_empty() {
        answer = answer.note(format!("schema {}; others: {}", schema.name(), others.join(", ")));
    }
    let of_none = (0..tree.images().len() as u32).filter(|&id| schema.label(ImageId(id)).is_none()).count() as u64;
    answer = answer
        .note_if(of_none > 0, format!("programs of no class, which are in no figure: {}", units::grouped(of_none)));
    let left_out = known_in_part::left_out(&tree);
    answer = if left_out.is_empty() { answer.exact() } else { answer.at_least() };
    answer.notes.extend(left_out);
    Ok(more::first_page(ask, answer, rows))
}

/// The schema of this name, or the first one.
pub(super) fn schema_of<'c>(classes: &'c Classes, name: Option<&str>) -> Result<&'c Schema, QueryError> {
    let Some(name) = name else { return Ok(classes.first()) };
    classes.schema(name).ok_or_else(|| {
        let names: Vec<&str> = classes.schemata().iter().map(Schema::name).collect();
        QueryError::usage(format!("there is no schema `{name}`; there are {}", names.join(", ")))
    })
}

fn totalled<'s>(tree: &ProcessTree, totals: &Totals, schema: &'s Schema) -> Totalled<'s> {
    let of_classes = class_totals(tree, totals, schema);
    let whole = WholeSpan::of(tree, schema, &of_classes);
    Totalled { schema, totals: of_classes, peaks: class_peaks(tree, schema), whole }
}

/// The tables: all numbers for machines; for people the times of the classes, and their use of the measure.
fn people(tree: &ProcessTree, of: &Totalled<'_>, measure: Measure, rows: usize) -> Answer {
    let shares = running_shares(tree, of.schema, MOST_BARS, class_tables::PARTS);
    let unknown = class_tables::unknown(of, measure);
    let of_all = running_shares_of_all(tree, of.schema, class_tables::PARTS);
    let mut when = class_tables::when(of, &shares, &of_all);
    // The row about all of them stays.
    if when.rows.len() > rows
        && let Some(all) = when.rows.pop()
    {
        when.rows.truncate(rows.saturating_sub(1));
        when.rows.push(all);
    }
    let answer = Answer::default().table(class_tables::flat(of)).table(when).table(class_tables::used(of, measure));
    match unknown {
        Some((name, unknown)) if unknown > 0 => {
            let processes = units::counted(unknown, "process");
            answer.note(format!("the {name} of {processes} is not known, and in no figure"))
        }
        _ => answer,
    }
}
