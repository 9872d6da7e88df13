//! Readable lines for objects: a date as `2026-11-25T14:00:00Z`, a URL in its usual form.
//!
//! ```text
//!   rule for its type, or a base ──┬─▶ template ─▶ fields ─▶ the object's line
//!   its type, or a base, `reads as` ─┘               └─▶ their targets: text, number or line
//! ```
//!
//! See `template` for the syntax of templates, `format` for the formats of numbers, `rules` for the file of rules. A line
//! of a recording that consists of a number or a time is compared and added as such, see `line`.

mod format;
mod line;
mod rules;
mod template;

use std::collections::BTreeMap;

use barrow_expressions::TextTest;
use barrow_format::rows::{KindRole, Value};
use barrow_format::{ObjectId, TypeId};
use foldhash::HashMap;

use crate::error::{AnalyzerError, Result};
use crate::file::object::{ObjectDetails, objects};
use crate::file::tables::Tables;
use crate::graph::object_set::ObjectSet;
use crate::heap::{Heap, LineTemplate};
use crate::progress::Progress;
use crate::questions::expression::{Attribute, AttributeValue};
use crate::questions::fields::{FieldPath, Held, Tested};
use crate::questions::shortened;

pub use format::days_to_date;
pub use line::Line;
use template::{Origin, Template};

/// The maximum number of templates of a recording that are read at once, each with memory of its own. Objects of
/// further ones have no line. This is a judgement.
const MOST_TEMPLATES: usize = 64;
/// The maximum depth of lines within lines: deeper ones are longer than a cell. This is a judgement.
const MOST_DEPTH: usize = 4;
/// Ends a text that was cut.
const MARK: &str = "…";
/// The maximum length of a line, and of each text in it, in bytes: as much as an answer repeats of a text.
const MOST_BYTES: usize = 4096;
/// The same of a line of a rule within another line.
const NESTED_BYTES: usize = 512;
/// The greatest number of objects whose lines are made at once, and of the first ones.
const PART_OBJECTS: usize = 1 << 17;
const FIRST_OBJECTS: usize = 1 << 14;
/// Bytes of lines that are made at once, if they are as long as those before.
const PART_BYTES: usize = 32 << 20;

/// Takes the lines of some objects.
type TellLines<'t> = dyn FnMut(&[ObjectId], Vec<Option<Line>>) -> Result<()> + 't;

impl Heap {
    /// The line of each object whose type has a template for it, in the order of `ids`, which ascend. `None` without
    /// one, or if the template needs something that is not known, or that is null.
    ///
    /// Time: for each name of the longest path of a template a pass over the blocks that may hold these objects, and as
    /// much for the objects that are part of their lines.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`], [`AnalyzerError::Cancelled`].
    pub fn lines(&self, ids: &[ObjectId], progress: &dyn Progress) -> Result<Vec<Option<String>>> {
        let mut texts = Vec::with_capacity(ids.len());
        self.lines_in_parts(ids, progress, &mut |_, lines| {
            texts.extend(lines.into_iter().map(|line| line.map(|line| line.text)));
            Ok(())
        })?;
        Ok(texts)
    }

    /// Makes the lines of objects in parts, so that their number does not decide how much memory those in them take.
    fn lines_in_parts(&self, ids: &[ObjectId], progress: &dyn Progress, tell: &mut TellLines<'_>) -> Result<()> {
        let (mut rest, mut most) = (ids, FIRST_OBJECTS);
        while !rest.is_empty() {
            let (part, later) = rest.split_at(most.min(rest.len()));
            let lines = self.lines_at(part, MOST_DEPTH, progress)?;
            let bytes: usize = lines.iter().flatten().map(|line| line.text.len()).sum();
            most = (PART_BYTES / (bytes / part.len()).max(1)).clamp(1, PART_OBJECTS);
            tell(part, lines)?;
            rest = later;
        }
        Ok(())
    }

    fn lines_at(&self, ids: &[ObjectId], depth: usize, progress: &dyn Progress) -> Result<Vec<Option<Line>>> {
        self.count_line_use();
        let mut lines: Vec<Option<Line>> = vec![None; ids.len()];
        let templates = self.templates_of(ids)?;
        if templates.is_empty() {
            return Ok(lines);
        }
        let ids_of = templates.iter().map(|(_, of)| of.iter().map(|&at| ids[at]).collect::<Vec<_>>());
        let sets: Vec<ObjectSet> = ids_of.map(|ids| self.set_of(&ids)).collect();
        let asked = templates
            .iter()
            .zip(&sets)
            .flat_map(|((template, _), set)| template.paths().into_iter().map(move |path| (set, path)));
        let columns = self.columns_at_once(&asked.collect::<Vec<_>>(), progress)?;
        let texts = self.texts_of(&Held::objects(&columns.concat()), depth, progress)?;
        let (has_numbers, tables) = (!self.recording().has_replaced_numbers()?, self.recording().tables()?);
        let longest = if depth == MOST_DEPTH { MOST_BYTES } else { NESTED_BYTES };
        let mut columns = columns.into_iter();
        for ((template, of), set) in templates.iter().zip(&sets) {
            let own: Vec<Vec<Held>> = columns.by_ref().take(template.paths().len()).collect();
            let attributes = template.attributes();
            let attributes = attributes.into_iter().map(|attribute| self.attribute_texts(attribute, set, progress));
            let attributes: Vec<Vec<Option<String>>> = attributes.collect::<Result<_>>()?;
            for (row, &at) in of.iter().enumerate() {
                let held: Vec<Held> = own.iter().map(|column| texts.resolved(column[row])).collect();
                let of_row: Vec<Option<&str>> = attributes.iter().map(|column| column[row].as_deref()).collect();
                let text = |held| match held {
                    Held::Object(id) => texts.text(id, template.origin),
                    Held::Value(Value::Text(text)) => Some(Line::of_text(&beginning(tables.string(text), MOST_BYTES))),
                    _ => None,
                };
                let line = template.filled(&held, &of_row, &text, has_numbers).filter(|line| !line.text.is_empty());
                lines[at] = match template.origin {
                    // The file of rules does not decide what a number is.
                    Origin::Rules => line.map(|line| Line::of_text(&beginning(&line.text, longest))),
                    Origin::Recording => line.filter(|line| line.text.len() <= MOST_BYTES),
                };
            }
        }
        tables.check_strings()?;
        Ok(lines)
    }

    /// The templates of objects, each with the places of its objects in `ids`.
    fn templates_of(&self, ids: &[ObjectId]) -> Result<Vec<(Template, Vec<usize>)>> {
        let tables = self.recording().tables()?;
        let mut known: HashMap<TypeId, Option<LineTemplate<'_>>> = HashMap::default();
        let mut by_template: HashMap<LineTemplate<'_>, Vec<usize>> = HashMap::default();
        for (at, details) in objects(self.recording(), self.snapshot(), ids)?.iter().enumerate() {
            let template = known.entry(details.type_id).or_insert_with(|| self.line_template(tables, details.type_id));
            if let Some(template) = *template {
                by_template.entry(template).or_default().push(at);
            }
        }
        let mut templates: Vec<(LineTemplate<'_>, Vec<usize>)> = by_template.into_iter().collect();
        templates.sort_unstable();
        let (mut found, mut recorded) = (Vec::new(), 0);
        for (template, of) in templates {
            let parsed = match template {
                LineTemplate::Rule(text) => Template::parse(text, Origin::Rules).ok(),
                LineTemplate::Recorded(_) if recorded == MOST_TEMPLATES => None,
                LineTemplate::Recorded(text) => {
                    Template::parse(text, Origin::Recording).ok().inspect(|_| recorded += 1)
                }
            };
            found.extend(parsed.map(|template| (template, of)));
        }
        Ok(found)
    }

    /// The values at the ends of several paths, each for the objects of its own set. A field that no object has is missing.
    fn columns_at_once(&self, asked: &[(&ObjectSet, &FieldPath)], progress: &dyn Progress) -> Result<Vec<Vec<Held>>> {
        let without_keys: Vec<_> = asked.iter().filter(|(_, path)| !path.has_keys()).copied().collect();
        let mut at_once = self.paths_at_once(&without_keys, progress)?.into_iter();
        let columns = asked.iter().map(|&(set, path)| {
            if !path.has_keys() {
                return Ok(at_once.next().unwrap_or_default());
            }
            match self.path_column(set, path, progress) {
                Err(AnalyzerError::NoField { .. } | AnalyzerError::NoKeys) => {
                    Ok(vec![Held::Missing; set.len() as usize])
                }
                column => column,
            }
        });
        columns.collect()
    }

    /// The text of an attribute of each object of a set; `None` if it has none.
    fn attribute_texts(
        &self,
        attribute: &Attribute,
        set: &ObjectSet,
        progress: &dyn Progress,
    ) -> Result<Vec<Option<String>>> {
        let details = objects(self.recording(), self.snapshot(), &set.iter().collect::<Vec<_>>())?;
        let text = |value| match value {
            AttributeValue::None => None,
            AttributeValue::Name(name) => Some(beginning(&name, MOST_BYTES)),
            AttributeValue::Text(text) => Some(beginning(text, MOST_BYTES)),
            AttributeValue::Line(line) => Some(line),
            AttributeValue::Number(number) => Some(number.to_string()),
            AttributeValue::Address(address) => Some(format!("{address:#x}")),
            AttributeValue::Share(share) => Some(format!("{:.1} %", share * 100.0)),
            AttributeValue::Flag(is_so) => Some(is_so.to_string()),
        };
        match self.attribute_values(attribute, &details, progress) {
            Err(AnalyzerError::NoElements { .. } | AnalyzerError::ReplacedNumbers) => Ok(vec![None; details.len()]),
            values => Ok(values?.into_iter().map(text).collect()),
        }
    }

    /// Returns whether tables show the line of an object: its type has a template, which is a rule if the object has a name.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`].
    pub fn shows_line(&self, object: &ObjectDetails) -> Result<bool> {
        let tables = self.recording().tables()?;
        Ok(match self.line_template(tables, object.type_id) {
            Some(LineTemplate::Rule(_)) => true,
            Some(LineTemplate::Recorded(_)) => object.name.is_none(),
            None => false,
        })
    }

    /// The lines of the objects that fields hold, for those that have a line and represent no other value.
    ///
    /// Time: as for [`Heap::lines`]. Memory: each line.
    ///
    /// # Errors
    /// Those of [`Heap::lines`].
    pub fn lines_of(&self, held: &[Held], progress: &dyn Progress) -> Result<BTreeMap<ObjectId, Line>> {
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
        tell: &mut dyn FnMut(ObjectId, Line),
    ) -> Result<()> {
        let tables = self.recording().tables()?;
        // It counts even if no object has a template.
        self.count_line_use();
        let with_template = self.objects_of_types(within, |id| self.line_template(tables, id).is_some(), progress)?;
        let ids: Vec<ObjectId> = with_template.iter().collect();
        self.lines_in_parts(&ids, progress, &mut |part, lines| {
            let meanings = self.stand_for(&self.set_of(part), progress)?;
            for ((&object, line), meaning) in part.iter().zip(lines).zip(meanings) {
                if let Some(line) = line.filter(|_| !matches!(meaning, Held::Value(_))) {
                    tell(object, line);
                }
            }
            Ok(())
        })
    }

    /// The objects whose line passes a test, and those of which this is not known; see [`Heap::each_line`].
    pub(crate) fn line_matches(&self, test: &TextTest, progress: &dyn Progress) -> Result<Tested> {
        let (mut tested, mut read) = (Tested::none(self), Tested::none(self).passing);
        self.each_line(None, progress, &mut |object, line| {
            tested.add(object, shortened::tested(test, &line.text));
            read.insert(object);
        })?;
        let mut unread = self.measurable(None, progress)?;
        unread.difference_with(&read);
        tested.unknown.union_with(&unread);
        Ok(tested)
    }

    /// The objects of the set, or of all, that are a number or a time according to their type, whether or not it can be
    /// read.
    pub(crate) fn measurable(&self, set: Option<&ObjectSet>, progress: &dyn Progress) -> Result<ObjectSet> {
        let tables = self.recording().tables()?;
        let template = |id| Template::parse(tables.type_template(id)?, Origin::Recording).ok();
        self.objects_of_types(set, |id| template(id).is_some_and(|template| template.measures()), progress)
    }

    /// For each object of the set that has a line, the first one with the same line; see [`Heap::each_line`].
    ///
    /// Memory: each different line once, and 16 bytes for each object.
    pub(crate) fn same_lines(&self, set: &ObjectSet, progress: &dyn Progress) -> Result<HashMap<ObjectId, ObjectId>> {
        let (mut first_of, mut same): (HashMap<String, ObjectId>, _) = (HashMap::default(), HashMap::default());
        self.each_line(Some(set), progress, &mut |object, line| {
            same.insert(object, *first_of.entry(line.text).or_insert(object));
        })?;
        Ok(same)
    }

    /// The texts of objects in the lines of others: classes have their names, others the values they represent or their own
    /// lines.
    fn texts_of(&self, ids: &[ObjectId], depth: usize, progress: &dyn Progress) -> Result<Texts<'_>> {
        let tables = self.recording().tables()?;
        let mut texts = Texts { tables, known: HashMap::default(), others: HashMap::default() };
        if ids.is_empty() {
            return Ok(texts);
        }
        let meanings = self.stand_for(&self.set_of(ids), progress)?;
        for (details, meaning) in objects(self.recording(), self.snapshot(), ids)?.into_iter().zip(meanings) {
            let is_class = tables.kind_role(tables.type_kind(details.type_id)) == KindRole::Type;
            let text = match (meaning, details.name) {
                (Held::Value(value), _) => Some(Known::Value(value)),
                (Held::Null | Held::Undefined, _) => Some(Known::Absent(meaning)),
                (_, Some(name)) if is_class => Some(Known::Value(Value::Text(name))),
                _ => None,
            };
            match text {
                Some(text) => drop(texts.known.insert(details.id, text)),
                None => drop(texts.others.insert(details.id, details)),
            }
        }
        if let Some(below) = depth.checked_sub(1) {
            let mut others: Vec<ObjectId> = texts.others.keys().copied().collect();
            others.sort_unstable();
            let lines = self.lines_at(&others, below, progress)?;
            texts.known.extend(others.into_iter().zip(lines).filter_map(|(id, line)| Some((id, Known::Line(line?)))));
        }
        Ok(texts)
    }
}

/// The texts of objects in the lines of others.
struct Texts<'h> {
    tables: &'h Tables,
    known: HashMap<ObjectId, Known>,
    /// Objects that represent no value, and are no classes.
    others: HashMap<ObjectId, ObjectDetails>,
}

/// The text of an object.
enum Known {
    /// That of a value.
    Value(Value),
    /// It represents the absence of a value.
    Absent(Held),
    Line(Line),
}

impl Texts<'_> {
    /// What a field holds, with the number or the absence of a value instead of the object that represents it.
    fn resolved(&self, held: Held) -> Held {
        match held.object().and_then(|id| self.known.get(&id)) {
            Some(&Known::Value(value)) if !matches!(value, Value::Text(_)) => Held::Value(value),
            Some(&Known::Absent(absent)) => absent,
            _ => held,
        }
    }

    /// The text of an object that represents nothing else. In a rule one without a text has its number and type.
    fn text(&self, id: ObjectId, origin: Origin) -> Option<Line> {
        match self.known.get(&id) {
            Some(Known::Line(line)) => return Some(line.clone()),
            Some(&Known::Value(Value::Text(text))) => {
                return Some(Line::of_text(&beginning(self.tables.string(text), MOST_BYTES)));
            }
            Some(&Known::Value(value)) => return Line::of_value(value),
            Some(Known::Absent(_)) | None if origin == Origin::Recording => return None,
            Some(Known::Absent(_)) | None => {}
        }
        let title = self.tables.type_title(self.others.get(&id)?.type_id);
        Some(Line::of_text(&beginning(&format!("@{id} {title}"), MOST_BYTES)))
    }
}

/// A text, or the beginning of one of more than `longest` bytes, with a mark.
fn beginning(text: &str, longest: usize) -> String {
    match text.len() <= longest {
        true => text.to_owned(),
        false => format!("{}{MARK}", &text[..text.floor_char_boundary(longest - MARK.len())]),
    }
}
