//! The assertions, and whether they hold.

use barrow_query::answer::Answer;
use barrow_query::answer::text::text;

use crate::html::Html;
use crate::rows::Rows;

/// A row for each assertion.
pub(crate) fn draw(html: &mut Html, answer: &Answer) {
    let Some(rows) = Rows::of(answer, "assertions") else { return };
    html.element("ul", &[("class", "verdicts")], |html| {
        for row in 0..rows.len() {
            let result = rows.text(row, "result");
            let class = match result {
                "FALSE" => "false",
                "undecided" => "undecided",
                _ => "true",
            };
            html.element("li", &[("class", class)], |html| {
                html.leaf("strong", &[], result);
                html.text(" ");
                html.element("code", &[], |html| html.prose(rows.text(row, "assertion")));
                let unit = rows.text(row, "unit");
                let [found, limit] = ["found", "limit"].map(|key| measure(rows, row, key));
                if !found.is_empty() {
                    html.text(&format!(" — found {found} {unit}, limit {limit}"));
                }
                let why = rows.text(row, "undecided_because");
                if !why.is_empty() {
                    html.text(&format!(" — {why}"));
                }
            });
        }
    });
}

/// A sentence for each assertion that does not hold or is undecided.
pub(crate) fn broken(answer: &Answer) -> Vec<String> {
    let Some(rows) = Rows::of(answer, "assertions") else { return Vec::new() };
    let told = (0..rows.len()).filter(|&row| rows.text(row, "result") != "holds").map(|row| {
        let [result, assertion] = ["result", "assertion"].map(|key| rows.text(row, key));
        let why = ["false_because", "undecided_because"].map(|key| rows.text(row, key)).concat();
        format!("{result}: {assertion}: {why}")
    });
    told.collect()
}

/// A number with its unit of the answer, such as bytes.
fn measure(rows: Rows<'_>, row: usize, key: &str) -> String {
    use barrow_query::answer::{Unit, units};
    match rows.text(row, "unit") {
        unit if unit.starts_with("bytes") => match rows.value(row, key) {
            barrow_query::answer::Value::Number(bytes) => units::size(*bytes),
            value => text(value, Unit::Bytes),
        },
        _ => text(rows.value(row, key), Unit::Count),
    }
}
