//! A section of a report: a heading, the line that asks it, and its answer or why there is none.

use crate::html::Html;

/// A section.
pub(crate) struct Section {
    /// Its name in links.
    pub(crate) id: &'static str,
    pub(crate) heading: &'static str,
    /// The question, as a line for a shell.
    pub(crate) line: String,
    pub(crate) body: Html,
}

impl Section {
    pub(crate) fn draw(&self, html: &mut Html) {
        html.element("section", &[("id", self.id)], |html| {
            html.leaf("h2", &[], self.heading);
            html.element("p", &[("class", "line")], |html| {
                html.element("code", &[], |html| html.prose(&self.line));
            });
            html.append(&self.body);
        });
    }
}

/// A sentence.
pub(crate) fn note(html: &mut Html, text: &str) {
    html.element("p", &[("class", "note")], |html| html.text(text));
}

/// Says how many rows are left out, and where they are.
pub(crate) fn left_out(html: &mut Html, left: usize, noun: &str) {
    if left > 0 {
        let left = barrow_query::answer::units::counted(left as u64, noun);
        note(html, &format!("… {left} left out here; the line above lists more."));
    }
}

/// A word as a shell takes it.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "._/-@".contains(c));
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}
