//! A shard: the announcements of one thread in a snapshot.

use std::marker::PhantomData;
use std::sync::Arc;

use barrow_format::block::{MAX_OBJECTS, MAX_VALUES_OF_OBJECT};
use barrow_format::patch::{BLOCK_REFERENCES, BLOCK_VALUES};
use barrow_format::rows::{Encoding, Label, LabelCode, Root, Value};
use barrow_format::{FieldId, ObjectId, StrengthId, StringId, TypeId};

use crate::announced::Announced;
use crate::collected::SnapshotResults;
use crate::encoders::Encoders;
use crate::error::{Result, WriterError};
use crate::lock::lock;
use crate::object::Object;
use crate::shared::Shared;
use crate::tables::Counts;

/// Maximum number of an object.
const MAX_OBJECT: u64 = u32::MAX as u64 - 1;
/// Number of references that a block may always have, however small its share of the budget.
const MIN_REFERENCES: usize = 4096;

/// A shard updates its share of the memory budget after this many objects.
const SHARE_INTERVAL: usize = 1024;

/// Announces objects, their references and roots, from one thread. Made by [`Snapshot::shard`](crate::Snapshot::shard).
///
/// The calls copy their arguments into a block of plain columns. Encoder threads encode and compress full blocks; with
/// `Options::threads` of 0 the announcing thread does. Announce objects in runs of ascending numbers: each jump begins a
/// new block.
#[derive(Debug)]
pub struct Shard<'s> {
    shared: Arc<Shared>,
    encoders: Arc<Encoders>,
    collected: Arc<SnapshotResults>,
    block: Announced,
    /// The number that would continue the block.
    next_object: u64,
    /// The last object's type, for continuations.
    type_id: TypeId,
    /// Bytes that the block may take, according to the last division of the budget.
    share_bytes: usize,
    /// Number of references that the block may hold: somewhat more than its share, so that only large objects are
    /// divided.
    most_references: usize,
    /// The encodings of the fields looked up so far.
    encodings: Vec<Encoding>,
    /// The last object was refused: then references that follow are refused, too.
    was_refused: bool,
    finished: bool,
    /// Borrows the snapshot, unless it is an owned shard.
    snapshot: PhantomData<&'s ()>,
}

impl Shard<'_> {
    pub(crate) fn new(shared: &Arc<Shared>, encoders: &Arc<Encoders>, collected: &Arc<SnapshotResults>) -> Self {
        collected.open_shard();
        Shard {
            shared: Arc::clone(shared),
            encoders: Arc::clone(encoders),
            collected: Arc::clone(collected),
            block: encoders.spare(),
            next_object: 0,
            type_id: TypeId(0),
            share_bytes: 0,
            most_references: 0,
            encodings: Vec::new(),
            was_refused: false,
            finished: false,
            snapshot: PhantomData,
        }
    }

    /// Announces an object. `id` is its number in the snapshot: finally the numbers of all shards must be 0 to n - 1,
    /// each announced once.
    ///
    /// # Errors
    /// [`WriterError::OutOfRange`], [`WriterError::Undeclared`], [`WriterError::ObjectAnnouncedTwice`]
    /// if this shard saw the number shortly before (otherwise the commit says so), or the error that an
    /// encoder met.
    #[inline]
    pub fn object(&mut self, id: u64, object: &Object) -> Result<()> {
        let announced = self.announce(id, object);
        self.was_refused = announced.is_err();
        announced
    }

    #[inline]
    fn announce(&mut self, id: u64, object: &Object) -> Result<()> {
        // Validate first, so that a caller can retry with the right type.
        Counts::check("type", object.type_id.0, &self.shared.counts.types)?;
        if let Some(name) = object.name {
            Counts::check("string", name.0, &self.shared.counts.strings)?;
        }
        if id != self.next_object || self.block.types.len() >= MAX_OBJECTS as usize || self.is_over_share() {
            self.begin_block(id)?;
        }
        self.type_id = object.type_id;
        if self.block.is_continuation {
            self.hand_on()?;
            self.block.begin(number(id));
        }
        self.block.push(object);
        self.next_object = id + 1;
        Ok(())
    }

    /// Announces a reference of the object announced last, in the order of its fields or elements.
    ///
    /// # Errors
    /// [`WriterError::ReferenceWithoutObject`], [`WriterError::OutOfRange`], [`WriterError::Undeclared`].
    #[inline]
    pub fn reference(&mut self, label: Label, strength: StrengthId, target: u64) -> Result<()> {
        if self.was_refused || self.block.types.is_empty() {
            return Err(WriterError::ReferenceWithoutObject);
        }
        if let Label::Name(name) = label {
            Counts::check("string", name.0, &self.shared.counts.strings)?;
        }
        Counts::check("strength", strength.0, &self.shared.counts.strengths)?;
        check_number("target of a reference", target)?;
        let code = LabelCode::new(label, strength)?;
        if self.block.targets.len() >= self.most_references {
            self.continue_object()?;
        }
        self.block.labels.push(code.0);
        self.block.targets.push(number(target));
        Ok(())
    }

    /// Announces the value of a field of the object announced last, unless that is a reference. Values come before
    /// references. Fields of the object that are not announced are unknown.
    ///
    /// # Errors
    /// [`WriterError::ValueWithoutObject`], [`WriterError::Undeclared`], [`WriterError::WrongValue`] if the field was
    /// declared with another encoding, [`WriterError::OutOfRange`] for more than 2^16 values.
    #[inline]
    pub fn value(&mut self, field: FieldId, value: Value) -> Result<()> {
        if self.was_refused || self.block.types.is_empty() || self.block.has_references() {
            return Err(WriterError::ValueWithoutObject);
        }
        let (encoding, code) = value.code();
        if self.encodings.get(field.index()) != Some(&encoding) {
            self.check_encoding(field, encoding)?;
        }
        if let Value::Text(text) = value {
            Counts::check("string", text.0, &self.shared.counts.strings)?;
        }
        if self.block.push_value(field, code) {
            return Ok(());
        }
        let limit = MAX_VALUES_OF_OBJECT as u64;
        Err(WriterError::OutOfRange { what: "values of an object", value: limit + 1, limit })
    }

    /// Checks the encoding of a field, looking up fields that were declared lately.
    #[cold]
    fn check_encoding(&mut self, field: FieldId, encoding: Encoding) -> Result<()> {
        Counts::check("field", field.0, &self.shared.counts.fields)?;
        let known = self.encodings.len();
        self.encodings.extend(lock(&self.shared.tables).encodings().iter().skip(known));
        match self.encodings.get(field.index()) {
            Some(&declared) if declared == encoding => Ok(()),
            declared => {
                Err(WriterError::WrongValue { field: field.0, declared: declared.copied(), announced: encoding })
            }
        }
    }

    /// Announces a root.
    ///
    /// # Errors
    /// [`WriterError::OutOfRange`], [`WriterError::Undeclared`].
    pub fn root(&mut self, category: StringId, label: Option<StringId>, target: u64) -> Result<()> {
        for name in [Some(category), label].into_iter().flatten() {
            Counts::check("string", name.0, &self.shared.counts.strings)?;
        }
        check_number("target of a root", target)?;
        self.collected.root(&self.shared, &Root { category, label, target: ObjectId(number(target)) })
    }

    /// Hands the rest over to the encoders. A snapshot with a shard that is dropped without this cannot be committed.
    ///
    /// # Errors
    /// The error of an encoder.
    pub fn finish(mut self) -> Result<()> {
        self.hand_on()?;
        self.finished = true;
        Ok(())
    }

    /// Returns whether the block exceeds this shard's share of the memory budget. The share is updated now and then,
    /// since it shrinks when other shards open.
    fn is_over_share(&mut self) -> bool {
        if self.block.types.len().is_multiple_of(SHARE_INTERVAL) {
            self.look_up_share();
        }
        self.block.targets.len() >= BLOCK_REFERENCES
            || self.block.value_count() >= BLOCK_VALUES
            || self.block.bytes() >= self.share_bytes
    }

    fn look_up_share(&mut self) {
        self.share_bytes = self.collected.share_bytes(&self.shared);
        self.most_references = (self.share_bytes / 8).clamp(MIN_REFERENCES, BLOCK_REFERENCES);
    }

    #[cold]
    fn begin_block(&mut self, id: u64) -> Result<()> {
        check_number("number of an object", id)?;
        let first = u64::from(self.block.first_object);
        if !self.block.types.is_empty() && (first..self.next_object).contains(&id) {
            return Err(WriterError::ObjectAnnouncedTwice { object: id });
        }
        self.hand_on()?;
        self.look_up_share();
        self.block.begin(number(id));
        Ok(())
    }

    /// Continues the last object in the next block: it has more references than a block may hold.
    #[cold]
    fn continue_object(&mut self) -> Result<()> {
        self.hand_on()?;
        self.block.begin(number(self.next_object - 1));
        self.block.is_continuation = true;
        // A continuation has no object of its own, only the type of the object it continues.
        self.block.types.push(self.type_id.0);
        Ok(())
    }

    fn hand_on(&mut self) -> Result<()> {
        self.collected.check()?;
        if self.block.is_empty() {
            return Ok(());
        }
        self.block.end_object();
        let full = std::mem::take(&mut self.block);
        self.encoders.submit(&self.collected, full)?;
        self.block = self.encoders.spare();
        Ok(())
    }
}

impl Drop for Shard<'_> {
    fn drop(&mut self) {
        self.collected.close_shard(self.finished);
    }
}

#[inline]
fn check_number(what: &'static str, value: u64) -> Result<()> {
    if value <= MAX_OBJECT { Ok(()) } else { Err(WriterError::OutOfRange { what, value, limit: MAX_OBJECT }) }
}

/// Converts a number that was checked.
#[inline]
fn number(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}
