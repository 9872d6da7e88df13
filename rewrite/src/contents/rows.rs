//! Which strings the rows of tables, commits and blocks name, and what they are there.

use barrow_analyzer::KindRole;
use barrow_format::block::BlockColumns;
use barrow_format::commit::Commit;
use barrow_format::rows::{
    Encoding, Field, KeyValue, Kind, Label, LabelCode, MeasurementRow, ProcessRow, Program, Root, Row, Shape, Site,
    Strength, Tail, Thread, Type, TypeTotals, WordRow, WordValues,
};
use barrow_format::{FieldId, StringId};

use super::Class;
use super::vocabulary::{Meaning, Vocabulary};
use crate::error::{Result, RewriteError};

/// Is called for each string that something names, with what it is there. It may put another string in its place.
pub(crate) type Visit<'v> = &'v mut dyn FnMut(&mut StringId, Class) -> Result<()>;

/// A row that may name strings.
pub(crate) trait StringRow: Row {
    /// Calls `visit` for each string that it names.
    fn strings(&mut self, known: Vocabulary<'_>, visit: Visit<'_>) -> Result<()>;
}

fn optional(text: &mut Option<StringId>, class: Class, visit: Visit<'_>) -> Result<()> {
    text.as_mut().map_or(Ok(()), |text| visit(text, class))
}

/// Keys and values: what a value is depends on its key.
fn pairs(pairs: &mut [(StringId, StringId)], known: Vocabulary<'_>, visit: Visit<'_>) -> Result<()> {
    pairs.iter_mut().try_for_each(|(key, value)| {
        let meaning = known.words.meaning_of_key(known.tables.string(*key));
        pair(key, value, meaning, visit)
    })
}

fn pair(key: &mut StringId, value: &mut StringId, meaning: Meaning, visit: Visit<'_>) -> Result<()> {
    let (key_class, values) = match meaning {
        Meaning::Unknown => (Class::Keys, WordValues::Texts),
        Meaning::Word(values) => (Class::Words, values),
        Meaning::Name(values) => (Class::Keys, values),
    };
    let value_class = match values {
        WordValues::Texts => Class::AttributeTexts,
        WordValues::Names => Class::AttributeNames,
        WordValues::Settings => Class::Settings,
    };
    visit(key, key_class)?;
    visit(value, value_class)
}

/// The name of a kind or of a strength, which the program may have said.
fn kind(name: &mut StringId, known: Vocabulary<'_>, visit: Visit<'_>) -> Result<()> {
    let is_word = known.words.is_kind(known.tables.string(*name));
    visit(name, if is_word { Class::Kinds } else { Class::TypeNames })
}

fn label(code: &mut LabelCode, visit: Visit<'_>) -> Result<()> {
    let invalid = |source| RewriteError::Encode { section: "label of a reference", source };
    if let Label::Name(mut name) = code.label().map_err(invalid)? {
        visit(&mut name, Class::References)?;
        *code = LabelCode::new(Label::Name(name), code.strength()).map_err(invalid)?;
    }
    Ok(())
}

impl StringRow for KeyValue {
    fn strings(&mut self, known: Vocabulary<'_>, visit: Visit<'_>) -> Result<()> {
        let mut pair = [(self.key, self.value)];
        pairs(&mut pair, known, visit)?;
        [(self.key, self.value)] = pair;
        Ok(())
    }
}

impl StringRow for Kind {
    fn strings(&mut self, known: Vocabulary<'_>, visit: Visit<'_>) -> Result<()> {
        kind(&mut self.name, known, visit)
    }
}

impl StringRow for Strength {
    fn strings(&mut self, known: Vocabulary<'_>, visit: Visit<'_>) -> Result<()> {
        kind(&mut self.name, known, visit)
    }
}

impl StringRow for Type {
    fn strings(&mut self, known: Vocabulary<'_>, visit: Visit<'_>) -> Result<()> {
        visit(&mut self.name, Class::TypeNames)?;
        optional(&mut self.layout, Class::TypeNames, visit)?;
        optional(&mut self.file, Class::Files, visit)?;
        pairs(&mut self.attributes, known, visit)
    }
}

impl StringRow for Shape {
    fn strings(&mut self, _: Vocabulary<'_>, visit: Visit<'_>) -> Result<()> {
        self.prefix.iter_mut().try_for_each(|code| label(code, visit))?;
        if let Tail::Repeated(code) = &mut self.tail { label(code, visit) } else { Ok(()) }
    }
}

impl StringRow for Option<Field> {
    fn strings(&mut self, _: Vocabulary<'_>, visit: Visit<'_>) -> Result<()> {
        self.as_mut().map_or(Ok(()), |field| visit(&mut field.name, Class::References))
    }
}

impl StringRow for Site {
    fn strings(&mut self, known: Vocabulary<'_>, visit: Visit<'_>) -> Result<()> {
        optional(&mut self.function, Class::Functions, visit)?;
        optional(&mut self.file, Class::Files, visit)?;
        pairs(&mut self.attributes, known, visit)
    }
}

impl StringRow for Option<WordRow> {
    fn strings(&mut self, _: Vocabulary<'_>, visit: Visit<'_>) -> Result<()> {
        self.as_mut().map_or(Ok(()), |word| visit(&mut word.text, Class::Marked))
    }
}

impl StringRow for Root {
    fn strings(&mut self, _: Vocabulary<'_>, visit: Visit<'_>) -> Result<()> {
        visit(&mut self.category, Class::Roots)?;
        optional(&mut self.label, Class::Roots, visit)
    }
}

impl StringRow for TypeTotals {
    fn strings(&mut self, _: Vocabulary<'_>, _: Visit<'_>) -> Result<()> {
        Ok(())
    }
}

impl StringRow for Thread {
    fn strings(&mut self, known: Vocabulary<'_>, visit: Visit<'_>) -> Result<()> {
        optional(&mut self.name, Class::Threads, visit)?;
        optional(&mut self.state, Class::Threads, visit)?;
        optional(&mut self.root_label, Class::Roots, visit)?;
        pairs(&mut self.attributes, known, visit)
    }
}

impl StringRow for ProcessRow {
    fn strings(&mut self, known: Vocabulary<'_>, visit: Visit<'_>) -> Result<()> {
        match self {
            ProcessRow::Begin { host, program: begun, .. } => {
                optional(host, Class::Programs, visit)?;
                program(begun, visit)
            }
            ProcessRow::Image { program: executed, .. } => program(executed, visit),
            ProcessRow::Attributes { attributes, .. } => pairs(attributes, known, visit),
            ProcessRow::End { .. } | ProcessRow::Heap { .. } | ProcessRow::Memory { .. } | ProcessRow::Unknown => {
                Ok(())
            }
        }
    }
}

fn program(program: &mut Program, visit: Visit<'_>) -> Result<()> {
    optional(&mut program.executable, Class::Programs, visit)?;
    optional(&mut program.directory, Class::Programs, visit)?;
    command(&mut program.arguments, visit)
}

/// The first word of a command is the name of a program.
fn command(words: &mut [StringId], visit: Visit<'_>) -> Result<()> {
    let classes = std::iter::once(Class::Programs).chain(std::iter::repeat(Class::Arguments));
    words.iter_mut().zip(classes).try_for_each(|(word, class)| visit(word, class))
}

impl StringRow for MeasurementRow {
    fn strings(&mut self, known: Vocabulary<'_>, visit: Visit<'_>) -> Result<()> {
        match self {
            MeasurementRow::Metric { name, unit, .. } => {
                visit(name, Class::Trials)?;
                visit(unit, Class::Trials)
            }
            MeasurementRow::Variant { name, directory, command: words, attributes, .. } => {
                visit(name, Class::Trials)?;
                optional(directory, Class::Programs, visit)?;
                command(words, visit)?;
                pairs(attributes, known, visit)
            }
            MeasurementRow::Knobs { knobs, .. } => knobs.iter_mut().try_for_each(|(knob, value)| {
                let texts = [*knob, *value].map(|text| known.tables.string(text));
                pair(knob, value, known.words.meaning_of_knob(texts[0], texts[1]), visit)
            }),
            MeasurementRow::End { failure, .. } => {
                let output = failure.as_mut().and_then(|failure| failure.output.as_mut());
                output.map_or(Ok(()), |output| visit(output, Class::Outputs))
            }
            MeasurementRow::Begin { .. } | MeasurementRow::Value { .. } | MeasurementRow::Unknown => Ok(()),
        }
    }
}

/// The strings that the end of a snapshot names.
pub(crate) fn commit_strings(commit: &mut Commit, known: Vocabulary<'_>, visit: Visit<'_>) -> Result<()> {
    optional(&mut commit.label, Class::Snapshots, visit)?;
    pairs(&mut commit.key_values, known, visit)
}

/// The strings that the objects of a block name. `encoding` gives that of a field.
pub(crate) fn columns_strings(
    columns: &mut BlockColumns,
    Vocabulary { tables, .. }: Vocabulary<'_>,
    encoding: impl Fn(FieldId) -> Option<Encoding>,
    visit: Visit<'_>,
) -> Result<()> {
    let classes: Vec<Class> = columns
        .dictionary
        .iter()
        .map(|&shape| match tables.kind_role(tables.type_kind(tables.shape(shape).type_id)) {
            KindRole::Object => Class::ObjectTexts,
            KindRole::Type | KindRole::Frame | KindRole::Root => Class::ObjectNames,
        })
        .collect();
    for (name, &shape) in columns.names.iter_mut().zip(&columns.shapes) {
        optional(name, classes[shape as usize], visit)?;
    }
    for code in &mut columns.labels {
        let mut one = LabelCode(*code);
        label(&mut one, visit)?;
        *code = one.0;
    }
    let mut result = Ok(());
    columns.values.map(|field, code| {
        if encoding(field) != Some(Encoding::Text) || result.is_err() {
            return code;
        }
        // What is no string of 32 bits is none of the table either: `visit` says so.
        let mut text = StringId(u32::try_from(code).unwrap_or(u32::MAX));
        result = visit(&mut text, Class::FieldTexts);
        text.0.into()
    });
    result
}
