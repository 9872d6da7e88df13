//! The types of objects: their keys in a dump, and their declaration.

use super::Classes;
use super::attributes;
use super::line::Line;
use crate::context::Vocabulary;
use crate::error::ImportError;
use crate::heaps::json_lines::Text;
use barrow_writer::{KindRole, TypeDescription, TypeId};

/// The type of an object, as its line describes it.
#[derive(Debug)]
pub(crate) struct LineType {
    kind: String,
    role: KindRole,
    class: Option<u64>,
    /// Function called in a frame.
    function: Option<String>,
    file: Option<String>,
    line: Option<u32>,
}

/// Writes the key by which the type of a line is found to `key`.
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
        LineType {
            kind: String::from_utf8_lossy(line.kind).into_owned(),
            role: match line.kind {
                b"type" => KindRole::Type,
                b"frame" => KindRole::Frame,
                _ => KindRole::Object,
            },
            class: line.class,
            function: line.function.map(Text::to_name),
            file: line.file.map(Text::to_name),
            line: line.line.and_then(|line| u32::try_from(line).ok()),
        }
    }

    /// Declares it. With `has_values`, numbers have attributes for their values. Also returns the type that declares the
    /// fields of its objects: the nearest one with attributes about them.
    pub(crate) fn declare(
        &self,
        classes: &Classes,
        vocabulary: &Vocabulary<'_>,
        has_values: bool,
    ) -> Result<(TypeId, TypeId), ImportError> {
        let kind = vocabulary.known_kind(&self.kind, &["object", "type", "frame"], self.role)?;
        if let Some(function) = &self.function {
            let description = TypeDescription::new(kind, function);
            let type_id = vocabulary.declare_type(&TypeDescription {
                file: self.file.as_deref(),
                line: self.line,
                ..description
            })?;
            return Ok((type_id, type_id));
        }
        let Some(class) = self.class.filter(|&class| classes.name(class).is_some()) else {
            let name = vocabulary.marked("(class not in the dump)")?;
            let type_id = vocabulary.declare_type(&TypeDescription::new(kind, name))?;
            return Ok((type_id, type_id));
        };
        // Without values, `None` is an object that cannot be told from others.
        let has_attributes = |name| (has_values || name == attributes::NONE) && self.role == KindRole::Object;
        let mut declared = classes.declared.lock();
        let (mut base, mut new) = (None, Vec::new());
        for (address, class) in classes.line(class) {
            if let Some(&known) = declared.get(&(address, kind)) {
                base = Some(known);
                break;
            }
            new.push((address, class));
        }
        for (address, class) in new.into_iter().rev() {
            let own = if has_attributes(&*class.name) { attributes::of_type(&class.name) } else { &[] };
            let further = classes.further_bases(class).map(|name| (attributes::FURTHER_BASES, name));
            let computed = class.computed.iter().map(|name| (attributes::NOT_RECORDED, name.as_str()));
            let attributes: Vec<(&str, &str)> = own.iter().copied().chain(further).chain(computed).collect();
            let description =
                TypeDescription { base, attributes: &attributes, ..TypeDescription::new(kind, &class.name) };
            let type_id = vocabulary.declare_type(&description)?;
            declared.insert((address, kind), type_id);
            base = Some(type_id);
        }
        let type_id = base.expect("a class is in its own line");
        let has_own = |name| attributes::of_type(name).iter().any(|(key, _)| *key != attributes::FIELDS_IN);
        let mut built_in = classes.line(class).filter(|(_, class)| has_own(&class.name));
        let declares_fields = built_in.find_map(|(address, _)| declared.get(&(address, kind)).copied());
        Ok((type_id, declares_fields.unwrap_or(type_id)))
    }
}
