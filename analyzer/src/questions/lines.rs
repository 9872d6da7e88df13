//! Lines to read instead of objects: a date as `2026-11-25T14:00:00Z`, a URL as it is written.
//!
//! ```text
//!   its type, or a base, `reads as` ─▶ template ─▶ fields ─▶ the object's line
//!                                                    └─▶ what they lead to: its text, its number, its line
//! ```
//!
//! See `template` for what templates are made of, `format` for how numbers are written.

mod format;
mod template;

use barrow_format::rows::{KindRole, Value};
use barrow_format::{ObjectId, TypeId};
use foldhash::HashMap;

use crate::error::Result;
use crate::file::object::objects;
use crate::graph::object_set::ObjectSet;
use crate::heap::Heap;
use crate::progress::Progress;
use crate::questions::fields::Held;

pub use format::days_to_date;
use template::Template;

/// The attribute of a type with the template of the lines of its objects.
const READS_AS: &str = "reads as";

/// The most templates of objects that are read at once. Objects of further ones have no line.
const MOST_TEMPLATES: usize = 64;
/// How far templates are followed from object to object.
const MOST_DEPTH: usize = 4;
/// The most bytes of a line, and of each text in it.
const MOST_BYTES: usize = 4096;

impl Heap {
    /// The line of each object whose type has a template for it, in the order of `ids`, which ascend. `None` without
    /// one, or if the template needs something that is not known, or that is null.
    ///
    /// Time: for each name of the longest path of a template a pass over the blocks that may hold these objects, and as
    /// much for the objects that are part of their lines.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`](crate::AnalyzerError::Section),
    /// [`AnalyzerError::Cancelled`](crate::AnalyzerError::Cancelled).
    pub fn lines(&self, ids: &[ObjectId], progress: &dyn Progress) -> Result<Vec<Option<String>>> {
        self.lines_at(ids, MOST_DEPTH, progress)
    }

    fn lines_at(&self, ids: &[ObjectId], depth: usize, progress: &dyn Progress) -> Result<Vec<Option<String>>> {
        let tables = self.recording().tables()?;
        let mut lines: Vec<Option<String>> = vec![None; ids.len()];
        let template_of = |id: TypeId| {
            let said = |id| tables.type_attributes(id).find(|(key, _)| *key == READS_AS).map(|(_, value)| value);
            tables.type_and_bases(id).find_map(said)
        };
        let mut known: HashMap<TypeId, Option<&str>> = HashMap::default();
        let mut by_template: HashMap<&str, Vec<usize>> = HashMap::default();
        for (at, details) in objects(self.recording(), self.snapshot(), ids)?.iter().enumerate() {
            if let Some(text) = *known.entry(details.type_id).or_insert_with(|| template_of(details.type_id)) {
                by_template.entry(text).or_default().push(at);
            }
        }
        let mut templates: Vec<(&str, Vec<usize>)> = by_template.into_iter().collect();
        templates.sort_unstable();
        let templates = templates.into_iter().filter_map(|(text, of)| Some((Template::parse(text)?, of)));
        let templates: Vec<(Template, Vec<usize>)> = templates.take(MOST_TEMPLATES).collect();
        if templates.is_empty() {
            return Ok(lines);
        }
        let set =
            |of: &[usize]| ObjectSet::from_sorted(self.snapshot(), self.object_count(), of.iter().map(|&at| ids[at]));
        let sets: Vec<ObjectSet> = templates.iter().map(|(_, of)| set(of)).collect();
        let asked = templates
            .iter()
            .zip(&sets)
            .flat_map(|((template, _), set)| template.paths().into_iter().map(move |path| (set, path)));
        let columns = self.paths_at_once(&asked.collect::<Vec<_>>(), progress)?;
        let texts = self.texts_of(&Held::objects(&columns.concat()), depth, progress)?;
        let has_numbers = !self.recording().has_replaced_numbers()?;
        let mut columns = columns.into_iter();
        for (template, of) in &templates {
            let own: Vec<Vec<Held>> = columns.by_ref().take(template.paths().len()).collect();
            for (row, &at) in of.iter().enumerate() {
                let held: Vec<Held> = own.iter().map(|column| column[row]).collect();
                let text = |held| match held {
                    Held::Object(id) => texts.get(&id).cloned(),
                    Held::Value(Value::Text(text)) => Some(beginning(tables.string(text)).to_owned()),
                    _ => None,
                };
                lines[at] = template
                    .filled(&held, &text, has_numbers)
                    .filter(|line| !line.is_empty() && line.len() <= MOST_BYTES);
            }
        }
        tables.check_strings()?;
        Ok(lines)
    }

    /// What objects are in the lines of others: classes their names, others what they stand for, or their own lines.
    fn texts_of(&self, ids: &[ObjectId], depth: usize, progress: &dyn Progress) -> Result<HashMap<ObjectId, String>> {
        let tables = self.recording().tables()?;
        let mut texts = HashMap::default();
        let Some(below) = depth.checked_sub(1).filter(|_| !ids.is_empty()) else { return Ok(texts) };
        let set = ObjectSet::from_sorted(self.snapshot(), self.object_count(), ids.iter().copied());
        let meanings = self.stand_for(&set, progress)?;
        let details = objects(self.recording(), self.snapshot(), ids)?;
        let mut others = Vec::new();
        for (details, meaning) in details.iter().zip(meanings) {
            let is_class = tables.kind_role(tables.type_kind(details.type_id)) == KindRole::Type;
            let text = match (meaning, details.name) {
                (Held::Value(Value::Text(text)), _) => Some(beginning(tables.string(text)).to_owned()),
                (Held::Value(value), _) => template::plain(value),
                (_, Some(name)) if is_class => Some(beginning(tables.string(name)).to_owned()),
                _ => None,
            };
            match text {
                Some(text) => drop(texts.insert(details.id, text)),
                None => others.push(details.id),
            }
        }
        let lines = self.lines_at(&others, below, progress)?;
        texts.extend(others.into_iter().zip(lines).filter_map(|(id, line)| Some((id, line?))));
        Ok(texts)
    }
}

/// The beginning of a text that is too long for a line.
fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(MOST_BYTES)]
}
