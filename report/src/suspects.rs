//! Leak suspects: what each holds, where it piles up, and what holds it.

use barrow_query::answer::{Answer, Value, path, units};

use crate::html::Html;
use crate::rows::{self, Rows, field, list, number, shown_title, text};
use crate::section::quoted;

/// Kinds of what piles up that are named: those that hold most, which say what it is.
const KINDS: usize = 5;
/// Columns of a title, of which both ends are shown: about two lines. This is a judgement.
const LONGEST_TITLE: usize = 150;

/// An entry for each suspect. Returns how many are left out.
pub(crate) fn draw(html: &mut Html, answer: &Answer, most: usize, file: &str, with_texts: bool) -> usize {
    let Some(rows) = Rows::of(answer, "suspects").filter(|rows| rows.len() > 0) else { return 0 };
    html.element("ol", &[("class", "suspects")], |html| {
        for row in 0..rows.len().min(most) {
            html.element("li", &[], |html| suspect(html, rows, row, file, with_texts));
        }
    });
    rows.len().saturating_sub(most)
}

/// The object or objects of a suspect, and what they retain.
pub(crate) fn headline(rows: Rows<'_>, row: usize, with_texts: bool) -> (String, String) {
    let objects = rows.number(row, "objects");
    let of = if objects > 1 {
        // The title is that of the largest.
        format!("{} of {}", units::counted(objects, "object"), path::cut(rows.text(row, "type"), LONGEST_TITLE))
    } else {
        let title = shown_title(rows.value(row, "title"), rows.value(row, "type"), with_texts);
        format!("{} @{}", path::cut(title, LONGEST_TITLE), rows.number(row, "object"))
    };
    let share = match rows.value(row, "share") {
        Value::Share(share) => format!(", {:.1} % of what is reachable", share * 100.0),
        _ => String::new(),
    };
    let verb = if objects > 1 { "retain" } else { "retains" };
    (of, format!("{verb} {}{share}", units::size(rows.number(row, "retained_bytes"))))
}

fn suspect(html: &mut Html, rows: Rows<'_>, row: usize, file: &str, with_texts: bool) {
    let objects = rows.number(row, "objects");
    let (of, retains) = headline(rows, row, with_texts);
    html.element("p", &[], |html| {
        html.leaf("strong", &[], &of);
        html.text(&format!(" {retains}"));
        let alike = rows.number(row, "alike");
        if alike > 1 {
            let together = units::size(rows.number(row, "together_bytes"));
            html.text(&format!("; {} like it, together {together}", units::grouped(alike)));
        }
    });
    if objects == 1 && rows.number(row, "accumulation_object") != rows.number(row, "object") {
        let [title, type_name] = ["accumulation_title", "accumulation_type"].map(|key| rows.value(row, key));
        let title = shown_title(title, type_name, with_texts);
        let bytes = units::size(rows.number(row, "accumulation_bytes"));
        html.leaf("p", &[], &format!("It piles up in {title} @{}: {bytes}", rows.number(row, "accumulation_object")));
    }
    accumulated(html, list(rows.value(row, "accumulated")));
    holders(html, list(rows.value(row, "path")), with_texts);
    let fingerprint = rows.text(row, "fingerprint");
    html.element("p", &[("class", "line")], |html| {
        html.text("To accept it in CI: ");
        let line = format!("barrow assert {file} {}", quoted(&format!("no leaks except {fingerprint}")));
        html.element("code", &[], |html| html.prose(&line));
    });
}

fn accumulated(html: &mut Html, kinds: &[Value]) {
    if kinds.is_empty() {
        return;
    }
    html.element("ul", &[], |html| {
        for kind in kinds.iter().take(KINDS) {
            let objects = units::counted(number(field(kind, "objects")), "object");
            let bytes = units::size(number(field(kind, "retained_bytes")));
            let chain = if field(kind, "is_chain") == &Value::Flag(true) { ", one below the other" } else { "" };
            let content = match field(kind, "content_type") {
                Value::None => String::new(),
                name => {
                    let objects = units::counted(number(field(kind, "content_objects")), "object");
                    let bytes = units::size(number(field(kind, "content_bytes")));
                    format!("; in them {objects} of {}: {bytes}", text(name))
                }
            };
            html.leaf("li", &[], &format!("{objects} of {}: {bytes}{chain}{content}", text(field(kind, "type"))));
        }
        if kinds.len() > KINDS {
            html.leaf("li", &[], &format!("… and {} more types", kinds.len() - KINDS));
        }
    });
}

/// Draws the path that holds it, from the root on. What repeats is one step.
fn holders(html: &mut Html, steps: &[Value], with_texts: bool) {
    if steps.is_empty() {
        return;
    }
    html.element("p", &[("class", "path")], |html| {
        html.text("held by ");
        let (mut rest, mut is_first) = (steps, true);
        while let Some(first) = rest.first() {
            let (times, period) = (number(field(first, "times")), number(field(first, "period")).max(1));
            let round;
            (round, rest) = rest.split_at((period as usize).min(rest.len()));
            let titles: Vec<String> = round
                .iter()
                .map(|step| {
                    let title = shown_title(field(step, "title"), field(step, "type"), with_texts);
                    path::cut(title, LONGEST_TITLE)
                })
                .collect();
            let text = match times {
                0 | 1 => format!("{} @{}", titles[0], number(field(first, "object"))),
                _ => path::repeated(&titles, times),
            };
            let reference = rows::text(field(first, "reference"));
            match (std::mem::take(&mut is_first), with_texts && !reference.is_empty()) {
                (true, true) => html.prose(&format!("{reference} → ")),
                (false, true) => html.prose(&format!(" –{reference}→ ")),
                (true, false) => {}
                (false, false) => html.text(" → "),
            }
            html.element("span", &[], |html| html.prose(&text));
        }
    });
}
