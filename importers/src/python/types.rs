//! The types of objects: what tells them apart in a dump, and how they are declared.

use super::Classes;
use super::attributes;
use super::line::Line;
use crate::context::Vocabulary;
use crate::error::ImportError;
use crate::json_lines::{MAX_NAME_BYTES, Text};
use barrow_writer::{KindRole, TypeDescription, TypeId};

/// What the line of an object says of its type.
#[derive(Debug)]
pub(crate) struct LineType {
    kind: String,
    role: KindRole,
    class: Option<u64>,
    /// Of a frame: what is called in it.
    function: Option<String>,
    file: Option<String>,
    line: Option<u32>,
}

/// Puts into `key` what tells the type of a line from others.
#[inline]
pub(crate) fn put_key(line: &Line<'_>, key: &mut Vec<u8>) {
    key.clear();
    key.extend_from_slice(&line.class.unwrap_or(0).to_le_bytes());
    key.extend_from_slice(line.kind);
    if let Some(function) = line.function {
        key.push(b'"');
        key.extend_from_slice(&line.line.unwrap_or(0).to_le_bytes());
        key.extend_from_slice(function.raw);
        key.push(b'"');
        key.extend_from_slice(line.file.map_or(&b""[..], |file| file.raw));
    }
}

impl LineType {
    /// The type of a line.
    pub(crate) fn of(line: &Line<'_>) -> Self {
        let decode = |text: Text<'_>| text.decode_first(MAX_NAME_BYTES).into_owned();
        LineType {
            kind: String::from_utf8_lossy(line.kind).into_owned(),
            role: match line.kind {
                b"type" => KindRole::Type,
                b"frame" => KindRole::Frame,
                _ => KindRole::Object,
            },
            class: line.class,
            function: line.function.map(decode),
            file: line.file.map(decode),
            line: line.line.and_then(|line| u32::try_from(line).ok()),
        }
    }

    /// Declares it. With `has_values`, numbers stand for what they are.
    pub(crate) fn declare(
        &self,
        classes: &Classes,
        vocabulary: &Vocabulary<'_>,
        has_values: bool,
    ) -> Result<TypeId, ImportError> {
        let kind = vocabulary.kind(&self.kind, self.role)?;
        let name_of_class = || self.class.and_then(|class| classes.name(class)).unwrap_or("(class not in the dump)");
        let name = self.function.as_deref().unwrap_or_else(name_of_class);
        let has_attributes = has_values && self.role == KindRole::Object;
        let bases = self.class.filter(|_| has_attributes).into_iter().flat_map(|class| classes.bases(class));
        let attributes = if has_attributes { attributes_of(name, bases) } else { Vec::new() };
        let description = TypeDescription { attributes: &attributes, ..TypeDescription::new(kind, name) };
        vocabulary.declare_type(&TypeDescription { file: self.file.as_deref(), line: self.line, ..description })
    }
}

/// The attributes of a type, or else those of its nearest base that has any which count for derived types: types are
/// declared without their bases.
fn attributes_of<'b>(name: &str, bases: impl Iterator<Item = &'b str>) -> Vec<(&'static str, &'static str)> {
    const OF_DERIVED: [&str; 6] = ["elements", "entries", "named by", "reads as", "slot bytes", "slots"];
    let own = attributes::of_type(name);
    if !own.is_empty() {
        return own.to_vec();
    }
    let inherited = bases.map(attributes::of_type).find(|attributes| !attributes.is_empty()).unwrap_or_default();
    inherited.iter().filter(|(key, _)| OF_DERIVED.contains(key)).copied().collect()
}
