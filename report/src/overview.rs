//! The origin of the recording, and its snapshots.

use barrow_query::answer::{Answer, units};

use crate::chart::chart;
use crate::detail::Detail;
use crate::html::Html;
use crate::options::Options;
use crate::rows::Rows;
use crate::section::note;
use crate::table::{Drawing, draw};

/// The fact that holds the arguments of the recorded program.
const ARGUMENTS: &str = "argv";

/// Rows of a table that is always shown; a longer one opens by a click. This is a judgement: about half a screen.
const SHORT: usize = 12;

/// Draws the facts of the file about itself, and about the program that was recorded.
pub(crate) fn provenance(html: &mut Html, file: &str, options: &Options, answer: &Answer) {
    let facts = answer.facts.iter().filter(|fact| fact.column.audience.has_people() && !fact.column.key.is_empty());
    let facts = facts.filter(|fact| options.with_texts || !fact.value.may_repeat_memory(fact.column.texts));
    html.element("dl", &[], |html| {
        fact(html, "file", file);
        for found in facts {
            let value = barrow_query::answer::text::text(&found.value, found.column.unit);
            if !value.is_empty() {
                fact(html, &found.column.heading, &value);
            }
        }
        if let Some(rows) = Rows::of(answer, "facts") {
            // Arguments of a program may be anything that somebody typed.
            let shown = (0..rows.len()).filter(|&row| options.with_texts || rows.text(row, "key") != ARGUMENTS);
            // Each of several dumps says the same of itself.
            let mut told = std::collections::HashSet::new();
            for of in shown.map(|row| (rows.text(row, "key"), rows.text(row, "value"))) {
                if !of.1.is_empty() && told.insert(of) {
                    fact(html, of.0, of.1);
                }
            }
        }
        fact(html, "reported by", &format!("barrow {}", options.version));
    });
}

fn fact(html: &mut Html, name: &str, value: &str) {
    html.leaf("dt", &[], name);
    html.leaf("dd", &[], value);
}

fn numbers(rows: &Rows<'_>, key: &str) -> Vec<u64> {
    (0..rows.len()).map(|row| rows.number(row, key)).collect()
}

/// Charts of all snapshots, and a row for each.
pub(crate) fn series(html: &mut Html, answer: &Answer, detail: Detail, with_texts: bool) {
    let Some(table) = answer.tables.iter().find(|table| table.key == "snapshots") else { return };
    let rows = Rows::of(answer, "snapshots").expect("the table is there");
    if rows.len() > 1 {
        html.element("div", &[("class", "charts")], |html| {
            for (heading, key) in [("shallow size", "heap_bytes"), ("unmanaged size", "unmanaged_bytes")] {
                let values = numbers(&rows, key);
                if values.iter().any(|&value| value > 0) {
                    chart(html, heading, &values, units::size);
                }
            }
            chart(html, "objects", &numbers(&rows, "objects"), units::grouped);
        });
    }
    let mut shown = table.clone();
    let step = rows.len().div_ceil(detail.snapshots.max(1)).max(1);
    let last = rows.len().saturating_sub(1);
    let mut number = 0..;
    shown.rows.retain(|_| number.next().is_some_and(|row: usize| row.is_multiple_of(step) || row == last));
    let drawing = Drawing { caption: "Snapshots", rows: usize::MAX, with_texts };
    // A long table is there on request: the charts say most of it.
    let is_open: &[(&'static str, &str)] = if shown.rows.len() <= SHORT { &[("open", "")] } else { &[] };
    html.element("details", is_open, |html| {
        html.leaf("summary", &[], &format!("The numbers of {}", units::counted(shown.rows.len() as u64, "snapshot")));
        draw(html, &shown, drawing);
        if step > 1 {
            note(html, &format!("The table has every {step}th snapshot and the last one; the line above lists all."));
        }
    });
}
