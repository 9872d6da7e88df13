//! Announces synthetic objects in order of their ids.

use barrow_writer::{
    KindRole, Label, Object, Shard, Snapshot, StrengthId, StringId, TypeDescription, TypeId, Writer, WriterError,
};

/// The size of an object without its references, in bytes.
const HEADER_BYTES: u64 = 16;
/// The size of a reference, in bytes.
const REFERENCE_BYTES: u64 = 8;

/// Announces objects of two types: nodes with named fields, and arrays.
pub(super) struct Announcer<'s> {
    shard: Shard<'s>,
    node: TypeId,
    array: TypeId,
    fields: Vec<StringId>,
    globals: StringId,
    next_object: u64,
}

impl<'s> Announcer<'s> {
    /// Declares the types; the nodes have these fields.
    pub(super) fn begin<'t>(
        writer: &Writer,
        snapshot: &'s Snapshot<'_>,
        fields: impl IntoIterator<Item = &'t str>,
    ) -> Result<Self, WriterError> {
        let kind = writer.kind("object", KindRole::Object)?;
        Ok(Announcer {
            shard: snapshot.shard(),
            node: writer.declare_type(&TypeDescription::new(kind, "Node"))?,
            array: writer.declare_type(&TypeDescription::new(kind, "Array"))?,
            fields: fields.into_iter().map(|field| writer.string(field)).collect::<Result<_, _>>()?,
            globals: writer.string("globals")?,
            next_object: 0,
        })
    }

    /// Announces a root.
    pub(super) fn root(&mut self, target: u64) -> Result<(), WriterError> {
        self.shard.root(self.globals, None, target)
    }

    /// Announces a node. Its fields refer to these objects; fields without an object are empty.
    pub(super) fn node(&mut self, targets: impl IntoIterator<Item = u64>) -> Result<(), WriterError> {
        self.object(self.node, self.fields.len() as u64)?;
        for (&field, target) in self.fields.iter().zip(targets) {
            self.shard.reference(Label::Name(field), StrengthId::STRONG, target)?;
        }
        Ok(())
    }

    /// Announces an array that refers to these `count` objects.
    pub(super) fn array(&mut self, count: u64, targets: impl IntoIterator<Item = u64>) -> Result<(), WriterError> {
        self.object(self.array, count)?;
        for (index, target) in (0..count).zip(targets) {
            self.shard.reference(Label::Index(index), StrengthId::STRONG, target)?;
        }
        Ok(())
    }

    /// Passes the remaining objects on.
    pub(super) fn finish(self) -> Result<(), WriterError> {
        self.shard.finish()
    }

    fn object(&mut self, type_id: TypeId, places: u64) -> Result<(), WriterError> {
        self.shard.object(self.next_object, &Object::new(type_id, array_bytes(places)))?;
        self.next_object += 1;
        Ok(())
    }
}

/// The size of an object with room for this many references, in bytes.
pub(super) fn array_bytes(places: u64) -> u64 {
    HEADER_BYTES + REFERENCE_BYTES * places
}
