//! Why an assertion about processes does not hold: those that contribute most.

use barrow_processes::{Amounts, ImageId, ProcessTree};

use super::figure::Figure;
use super::processes::{Measured, Quantity};
use super::witness::Witness;
use crate::answer::{Value, shortened, units};

/// The processes that are shown.
const SHOWN: usize = 3;
/// Characters of a command line that are shown.
const LONGEST_COMMAND: usize = 100;

/// The processes with most of what was measured, or the first ones where each counts as much.
pub(super) fn of_processes(measured: &Measured, quantity: Quantity) -> Witness {
    let tree = &*measured.tree;
    let mut rows = rows(measured, quantity);
    let all = rows.len();
    rows.truncate(SHOWN);
    let unit = quantity.unit();
    let mut lines: Vec<String> = rows.iter().map(|&(id, found)| line(tree, id, found, unit)).collect();
    if let Some(sample) = &measured.sample {
        let time = units::duration(sample.time_ns.unsigned_abs());
        let sign = if sample.time_ns < 0 { "-" } else { "" };
        lines.insert(0, format!("in the sample at {sign}{time}:"));
    }
    if all > SHOWN {
        let order =
            if quantity.attribute().is_some() || measured.sample.is_some() { ", the largest first" } else { "" };
        lines.push(format!("… of {}{order}", units::counted(all as u64, "program")));
    }
    if all == 0 {
        lines.push("there is no such process".to_owned());
    }
    let records = rows.iter().map(|&(id, found)| record(tree, id, found)).collect();
    Witness { lines, fields: vec![("processes".to_owned(), Value::List(records))] }
}

/// Images with what each contributes, in the order to show them.
fn rows(measured: &Measured, quantity: Quantity) -> Vec<(ImageId, Option<u64>)> {
    let tree = &*measured.tree;
    if let Some(sample) = &measured.sample {
        let mut rows: Vec<_> = sample.images.iter().map(|&(id, bytes)| (id, Some(bytes))).collect();
        rows.sort_by_key(|&(id, bytes)| (std::cmp::Reverse(bytes), id));
        return rows;
    }
    match quantity.attribute().and_then(|name| Amounts::named(name, tree)) {
        Some(by) => by.ranked(tree, &measured.images).into_iter().map(|id| (id, by.of(tree, id))).collect(),
        None => {
            let is_wanted =
                |&id: &ImageId| quantity != Quantity::Failed || tree.end_of(id).is_some_and(|end| end.is_failure());
            measured.images.iter().filter(is_wanted).map(|id| (id, None)).collect()
        }
    }
}

/// `1234:0 gcc -c a.c: 2.1 GiB`.
fn line(tree: &ProcessTree, id: ImageId, found: Option<u64>, unit: Figure) -> String {
    let image = tree.image(id);
    let command = tree.arguments(image).collect::<Vec<_>>().join(" ");
    let mut line = format!("{} {}", tree.name(image.process), shortened(&command, LONGEST_COMMAND));
    if let Some(found) = found {
        line += &format!(": {}", unit.text(found as f64));
    }
    match tree.end_of(id) {
        Some(end) if end.is_failure() => match (end.exit_status, end.signal) {
            (_, Some(signal)) => line += &format!(", ended by signal {signal}"),
            (Some(status), None) => line += &format!(", exit status {status}"),
            (None, None) => {}
        },
        _ => {}
    }
    line
}

fn record(tree: &ProcessTree, id: ImageId, found: Option<u64>) -> Value {
    let image = tree.image(id);
    let end = tree.end_of(id);
    let arguments = tree.arguments(image).map(Value::text).collect();
    let fields: [(&str, Value); 6] = [
        ("process", Value::Text(tree.name(image.process))),
        ("image", image.number.into()),
        ("arguments", Value::List(arguments)),
        ("found", found.into()),
        ("exit_code", end.and_then(|end| end.exit_status).into()),
        ("signal", end.and_then(|end| end.signal).into()),
    ];
    Value::Record(fields.map(|(key, value)| (key.to_owned(), value)).to_vec())
}
