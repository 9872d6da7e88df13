//! The types that one thread has declared, and their fields.

use super::FastMap;
use crate::context::Vocabulary;
use crate::error::{ImportError, Stop};
use barrow_writer::{FieldId, Shard, TypeId, Value};

/// Types, by their keys in a dump.
#[derive(Debug, Default)]
pub(crate) struct DeclaredTypes {
    places: FastMap<Box<[u8]>, usize>,
    types: Vec<DeclaredType>,
}

impl DeclaredTypes {
    /// The type with this key, declared at its first use. `declare` also returns the type that declares its fields: itself
    /// or a base.
    pub(crate) fn of(
        &mut self,
        key: &[u8],
        declare: impl FnOnce() -> Result<(TypeId, TypeId), ImportError>,
    ) -> Result<&mut DeclaredType, ImportError> {
        let place = match self.places.get(key) {
            Some(&place) => place,
            None => {
                let (type_id, declares_fields) = declare()?;
                self.types.push(DeclaredType { type_id, declares_fields, fields: Vec::new() });
                self.places.insert(key.into(), self.types.len() - 1);
                self.types.len() - 1
            }
        };
        Ok(&mut self.types[place])
    }
}

/// A type, and the fields that it has declared so far. These are few.
#[derive(Debug)]
pub(crate) struct DeclaredType {
    pub(crate) type_id: TypeId,
    declares_fields: TypeId,
    fields: Vec<(&'static str, FieldId)>,
}

impl DeclaredType {
    /// Announces the value of a field of the object announced last. The type declares the field with its first value;
    /// it is unknown for objects without one. All values of a field must have the same encoding.
    pub(crate) fn announce(
        &mut self,
        name: &'static str,
        value: Value,
        shard: &mut Shard<'_>,
        vocabulary: &Vocabulary<'_>,
    ) -> Result<(), Stop> {
        self.announce_field(name, value, false, shard, vocabulary)
    }

    /// The same for a field that some objects of the type do not have.
    pub(crate) fn announce_some(
        &mut self,
        name: &'static str,
        value: Value,
        shard: &mut Shard<'_>,
        vocabulary: &Vocabulary<'_>,
    ) -> Result<(), Stop> {
        self.announce_field(name, value, true, shard, vocabulary)
    }

    fn announce_field(
        &mut self,
        name: &'static str,
        value: Value,
        is_optional: bool,
        shard: &mut Shard<'_>,
        vocabulary: &Vocabulary<'_>,
    ) -> Result<(), Stop> {
        let field = match self.fields.iter().find(|(known, _)| *known == name) {
            Some(&(_, field)) => field,
            None => {
                let field = vocabulary.field(self.declares_fields, name, value.code().0, is_optional)?;
                self.fields.push((name, field));
                field
            }
        };
        Ok(shard.value(field, value)?)
    }
}
