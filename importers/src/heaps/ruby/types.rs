//! The types of objects: their keys in a dump, and their declaration.

use super::classes::Classes;
use super::line::Line;
use crate::context::Vocabulary;
use crate::error::ImportError;
use crate::heaps::json_lines::Text;
use barrow_writer::{KindRole, TypeDescription, TypeId};

/// Ruby's types of values, in lower case.
const KINDS: [&str; 29] = [
    "array", "bignum", "class", "complex", "data", "false", "file", "fixnum", "float", "hash", "iclass", "imemo",
    "match", "module", "moved", "nil", "node", "none", "object", "rational", "regexp", "root", "shape", "string",
    "struct", "symbol", "true", "undef", "zombie",
];

/// The attribute of a type with the name of a module that its class includes.
const MODULES: &str = "implements";

/// The type of an object as its line has it.
#[derive(Debug)]
pub(crate) struct LineType {
    /// In lower case.
    kind: String,
    role: KindRole,
    class: Option<u64>,
    /// The C structure that it wraps.
    structure: Option<String>,
    /// The type of an imemo or shape.
    word: Option<String>,
}

/// The class of an object. The field of an imemo is not a class.
fn class_of(line: &Line<'_>) -> Option<u64> {
    line.class.filter(|_| line.kind != b"IMEMO")
}

/// Writes the key by which the type of a line is found to `key`.
#[inline]
pub(crate) fn put_key(line: &Line<'_>, key: &mut Vec<u8>) {
    key.clear();
    key.extend_from_slice(&class_of(line).unwrap_or(0).to_le_bytes());
    key.extend_from_slice(line.kind);
    if let Some(word) = line.imemo_type.or(line.structure).or(line.shape.shape_type) {
        key.push(b'"');
        key.extend_from_slice(word.raw);
    }
}

impl LineType {
    /// The type of a line.
    pub(crate) fn of(line: &Line<'_>) -> Self {
        LineType {
            kind: String::from_utf8_lossy(line.kind).to_lowercase(),
            role: match line.kind {
                b"CLASS" | b"MODULE" | b"ICLASS" | b"SHAPE" => KindRole::Type,
                _ => KindRole::Object,
            },
            class: class_of(line),
            structure: line.structure.map(Text::to_name),
            word: line.imemo_type.or(line.shape.shape_type).map(Text::to_name),
        }
    }

    /// Declares it, and those that it is derived from. With `has_values`, arrays and hashes have an attribute for their
    /// number of elements.
    pub(crate) fn declare(
        &self,
        classes: &Classes,
        vocabulary: &Vocabulary<'_>,
        has_values: bool,
    ) -> Result<TypeId, ImportError> {
        let kind = vocabulary.known_kind(&self.kind, &KINDS, self.role)?;
        let structure = self.structure.as_deref();
        let instances = self.class.map(|class| classes.name_of_instances(class));
        let name = match &instances {
            Some(Some(name)) => name,
            Some(None) => vocabulary.marked("(class not in the dump)")?,
            None => match self.word.as_deref().or(structure) {
                Some(name) => name,
                None => vocabulary.marked("(hidden)")?,
            },
        };
        let has_elements = has_values && matches!(&*self.kind, "array" | "hash");
        let attributes: &[_] = if has_elements { &[("elements", ".length")] } else { &[] };
        let bases = self.class.map_or_else(Vec::new, |class| classes.bases(class));
        let mut base = None;
        for derived in bases.iter().rev().filter(|_| self.word.is_none()) {
            let modules = derived.modules.iter().map(|module| (MODULES, &**module));
            let attributes: Vec<(&str, &str)> = attributes.iter().copied().chain(modules).collect();
            let description =
                TypeDescription { base, attributes: &attributes, ..TypeDescription::new(kind, &derived.name) };
            // The first of the line is the type itself.
            let layout = structure.filter(|_| std::ptr::eq(derived, &raw const bases[0]));
            base = Some(vocabulary.declare_type(&TypeDescription { layout, ..description })?);
        }
        if let Some(type_id) = base {
            return Ok(type_id);
        }
        let description = TypeDescription { attributes, ..TypeDescription::new(kind, name) };
        vocabulary.declare_type(&TypeDescription { layout: structure, ..description })
    }
}
