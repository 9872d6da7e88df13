//! Readable lines for objects: a date as `2026-11-25T14:00:00Z`, a URL in its usual form.
//!
//! ```text
//!   its type, or a base, `reads as` ─▶ template ─▶ fields ─▶ the object's line
//!                                                    └─▶ their targets: text, number or line
//! ```
//!
//! See `template` for the syntax of templates, `format` for the formats of numbers.

mod format;
mod template;

use std::collections::BTreeMap;

use barrow_expressions::TextTest;
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

/// The maximum number of templates of objects that are read at once. Objects of further ones have no line.
const MOST_TEMPLATES: usize = 64;
/// The maximum depth of lines within lines.
const MOST_DEPTH: usize = 4;
/// The maximum length of a line, and of each text in it, in bytes.
const MOST_BYTES: usize = 4096;
/// The number of objects whose lines are in memory at once if not all are kept.
const PART_OBJECTS: usize = 1 << 17;

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
        let mut known: HashMap<TypeId, Option<&str>> = HashMap::default();
        let mut by_template: HashMap<&str, Vec<usize>> = HashMap::default();
        for (at, details) in objects(self.recording(), self.snapshot(), ids)?.iter().enumerate() {
            if let Some(text) = *known.entry(details.type_id).or_insert_with(|| tables.type_template(details.type_id)) {
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
        let ids_of = templates.iter().map(|(_, of)| of.iter().map(|&at| ids[at]).collect::<Vec<_>>());
        let sets: Vec<ObjectSet> = ids_of.map(|ids| self.set_of(&ids)).collect();
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
                let line = template.filled(
                    &held,
                    &|held| match held {
                        Held::Object(id) => texts.get(&id).cloned(),
                        Held::Value(Value::Text(text)) => Some(beginning(tables.string(text)).to_owned()),
                        _ => None,
                    },
                    has_numbers,
                );
                lines[at] = line.filter(|line| !line.is_empty() && line.len() <= MOST_BYTES);
            }
        }
        tables.check_strings()?;
        Ok(lines)
    }

    /// The lines of the objects that fields hold, for those that have a line and represent no other value.
    ///
    /// Time: as for [`Heap::lines`]. Memory: each line.
    ///
    /// # Errors
    /// Those of [`Heap::lines`].
    pub fn lines_of(&self, held: &[Held], progress: &dyn Progress) -> Result<BTreeMap<ObjectId, String>> {
        let (objects, mut lines) = (Held::objects(held), BTreeMap::new());
        if !objects.is_empty() {
            self.each_line(Some(&self.set_of(&objects)), progress, &mut |object, line| {
                lines.insert(object, line);
            })?;
        }
        Ok(lines)
    }

    /// Calls `tell` with the line of each object that has one and represents no other value, within a set or among all, in
    /// the order of their numbers.
    ///
    /// Time: a pass over the types of the objects, and [`Heap::lines`] of those of which a type has a template.
    pub(crate) fn each_line(
        &self,
        within: Option<&ObjectSet>,
        progress: &dyn Progress,
        tell: &mut dyn FnMut(ObjectId, String),
    ) -> Result<()> {
        let tables = self.recording().tables()?;
        let with_template = self.objects_of_types(within, |id| tables.type_template(id).is_some(), progress)?;
        let ids: Vec<ObjectId> = with_template.iter().collect();
        for part in ids.chunks(PART_OBJECTS) {
            let meanings = self.stand_for(&self.set_of(part), progress)?;
            let lines = self.lines(part, progress)?;
            for ((&object, line), meaning) in part.iter().zip(lines).zip(meanings) {
                if let Some(line) = line.filter(|_| !matches!(meaning, Held::Value(_))) {
                    tell(object, line);
                }
            }
        }
        Ok(())
    }

    /// The objects whose line passes a test; see [`Heap::each_line`].
    pub(crate) fn line_matches(&self, test: &TextTest, progress: &dyn Progress) -> Result<ObjectSet> {
        let mut matching = ObjectSet::new(self.snapshot(), self.object_count());
        self.each_line(None, progress, &mut |object, line| {
            if test.holds(Some(&line)) {
                matching.insert(object);
            }
        })?;
        Ok(matching)
    }

    /// For each object of the set that has a line, the first one with the same line; see [`Heap::each_line`].
    ///
    /// Memory: each different line once, and 16 bytes for each object.
    pub(crate) fn same_lines(&self, set: &ObjectSet, progress: &dyn Progress) -> Result<HashMap<ObjectId, ObjectId>> {
        let (mut first_of, mut same): (HashMap<String, ObjectId>, _) = (HashMap::default(), HashMap::default());
        self.each_line(Some(set), progress, &mut |object, line| {
            same.insert(object, *first_of.entry(line).or_insert(object));
        })?;
        Ok(same)
    }

    /// The texts of objects in the lines of others: classes have their names, others the values they represent or their own
    /// lines.
    fn texts_of(&self, ids: &[ObjectId], depth: usize, progress: &dyn Progress) -> Result<HashMap<ObjectId, String>> {
        let tables = self.recording().tables()?;
        let mut texts = HashMap::default();
        let Some(below) = depth.checked_sub(1).filter(|_| !ids.is_empty()) else { return Ok(texts) };
        let meanings = self.stand_for(&self.set_of(ids), progress)?;
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
