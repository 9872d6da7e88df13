//! The functions of a shard: objects, their references, roots.

use std::cell::RefCell;

use barrow_writer::{Label, Shard, Value, WriterError};

use crate::codes::{Code, Failure, guarded};
use crate::pointers::{array, structure};
use crate::process::Process;
use crate::stream::is_inside;
use crate::values::{BARROW_NULL, FieldId, Object, Reference, StrengthId, StringId};
use crate::writer::{free, handle, outside_of_streams};

/// The announcements of one thread in a snapshot. One thread at a time may use it; it need not always be the same.
pub struct ShardHandle {
    pub(crate) process: Process,
    /// None once it is finished. If the cell is borrowed already, the program violates the rule above, or a write
    /// function called barrow.
    pub(crate) shard: RefCell<Option<Shard<'static>>>,
}

impl ShardHandle {
    #[inline]
    fn with(&self, work: impl FnOnce(&mut Shard<'static>) -> Result<(), Failure>) -> Result<(), Failure> {
        self.process.check()?;
        // Only within a write function may this thread hold what the shard is about to wait for.
        if is_inside() {
            return outside_of_streams();
        }
        let Ok(mut shard) = self.shard.try_borrow_mut() else { return Err(busy()) };
        let Some(shard) = shard.as_mut() else { return Err(ended()) };
        work(shard)
    }
}

#[cold]
fn busy() -> Failure {
    Failure::new(Code::Busy, "the shard is in use: each thread needs one of its own")
}

#[cold]
fn ended() -> Failure {
    Failure::new(Code::Ended, "the shard was finished")
}

#[inline]
fn refer(shard: &mut Shard<'_>, label: Label, strength: StrengthId, target: u64) -> Result<(), WriterError> {
    if target == BARROW_NULL {
        return Ok(());
    }
    shard.reference(label, barrow_writer::StrengthId(strength.number), target)
}

#[inline]
fn refer_all(shard: &mut Shard<'_>, references: &[Reference]) -> Result<(), Failure> {
    for reference in references {
        let Some(label) = reference.label() else { return Err(reference.no_label()) };
        refer(shard, label, reference.strength, reference.target)?;
    }
    Ok(())
}

/// Announces an object. `number` is its position in the snapshot: finally the numbers of all shards must be 0 to n - 1,
/// each announced once, best in ascending order.
///
/// # Safety
/// `shard` is NULL or a handle that no other thread uses now; `object` is readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barrow_shard_object(shard: Option<&ShardHandle>, number: u64, object: *const Object) -> Code {
    guarded(|| {
        // SAFETY: the caller's.
        let object = unsafe { structure(object) }?;
        handle(shard)?.with(|shard| Ok(shard.object(number, &(&object).into())?))
    })
}

/// Announces an object and its references, in the order of its fields or elements. If a reference is refused, the
/// object and the references before it have been announced: abandon the snapshot.
///
/// # Safety
/// As for `barrow_shard_object`; `references` leads to `reference_count` of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barrow_shard_object_with(
    shard: Option<&ShardHandle>,
    number: u64,
    object: *const Object,
    references: *const Reference,
    reference_count: usize,
) -> Code {
    guarded(|| {
        // SAFETY: the caller's.
        let (object, references) = unsafe { (structure(object)?, array("references", references, reference_count)?) };
        handle(shard)?.with(|shard| {
            shard.object(number, &(&object).into())?;
            refer_all(shard, references)
        })
    })
}

/// Announces references of the object announced last. If one is refused, those before it have been announced.
///
/// # Safety
/// `shard` is NULL or a handle that no other thread uses now; `references` leads to `count` of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barrow_shard_references(
    shard: Option<&ShardHandle>,
    references: *const Reference,
    count: usize,
) -> Code {
    guarded(|| {
        // SAFETY: the caller's.
        let references = unsafe { array("references", references, count) }?;
        handle(shard)?.with(|shard| refer_all(shard, references))
    })
}

/// Announces the fields of the object announced last: `names[i]` leads to `targets[i]`. The names are the
/// type's: make the array once. If one is refused, those before it have been announced.
///
/// # Safety
/// `shard` is NULL or a handle that no other thread uses now; `names` and `targets` lead to `count` of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barrow_shard_fields(
    shard: Option<&ShardHandle>,
    strength: StrengthId,
    names: *const StringId,
    targets: *const u64,
    count: usize,
) -> Code {
    guarded(|| {
        // SAFETY: the caller's.
        let (names, targets) = unsafe { (array("names", names, count)?, array("targets", targets, count)?) };
        handle(shard)?.with(|shard| {
            for (name, &target) in names.iter().zip(targets) {
                refer(shard, Label::Name(name.known()), strength, target)?;
            }
            Ok(())
        })
    })
}

/// Announces elements of the object announced last: element `first_index + i` leads to `targets[i]`. If one is
/// refused, those before it have been announced.
///
/// # Safety
/// `shard` is NULL or a handle that no other thread uses now; `targets` leads to `count` of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barrow_shard_elements(
    shard: Option<&ShardHandle>,
    strength: StrengthId,
    first_index: u64,
    targets: *const u64,
    count: usize,
) -> Code {
    guarded(|| {
        // SAFETY: the caller's.
        let targets = unsafe { array("targets", targets, count) }?;
        handle(shard)?.with(|shard| {
            for (place, &target) in (0..).zip(targets) {
                refer(shard, Label::Index(first_index.saturating_add(place)), strength, target)?;
            }
            Ok(())
        })
    })
}

/// Announces one reference of the object announced last: a field, variable or key called `name`.
///
/// # Safety
/// `shard` is NULL or a handle that no other thread uses now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barrow_shard_reference_named(
    shard: Option<&ShardHandle>,
    strength: StrengthId,
    name: StringId,
    target: u64,
) -> Code {
    guarded(|| handle(shard)?.with(|shard| Ok(refer(shard, Label::Name(name.known()), strength, target)?)))
}

/// Announces one reference of the object announced last: the element at `index`, counted from 0.
///
/// # Safety
/// `shard` is NULL or a handle that no other thread uses now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barrow_shard_reference_indexed(
    shard: Option<&ShardHandle>,
    strength: StrengthId,
    index: u64,
    target: u64,
) -> Code {
    guarded(|| handle(shard)?.with(|shard| Ok(refer(shard, Label::Index(index), strength, target)?)))
}

/// Announces one reference of the object announced last whose name the runtime does not know.
///
/// # Safety
/// `shard` is NULL or a handle that no other thread uses now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barrow_shard_reference_unknown(
    shard: Option<&ShardHandle>,
    strength: StrengthId,
    target: u64,
) -> Code {
    guarded(|| handle(shard)?.with(|shard| Ok(refer(shard, Label::Unknown, strength, target)?)))
}

/// Announces the value of a field of the object announced last, of `BARROW_ENCODING_UNSIGNED`. Values come before
/// references.
///
/// # Safety
/// `shard` is NULL or a handle that no other thread uses now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barrow_shard_value_unsigned(shard: Option<&ShardHandle>, field: FieldId, value: u64) -> Code {
    guarded(|| handle(shard)?.with(|shard| Ok(shard.value(field.known(), Value::Unsigned(value))?)))
}

/// Announces the value of a field of the object announced last, of `BARROW_ENCODING_SIGNED`. Values come before
/// references.
///
/// # Safety
/// `shard` is NULL or a handle that no other thread uses now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barrow_shard_value_signed(shard: Option<&ShardHandle>, field: FieldId, value: i64) -> Code {
    guarded(|| handle(shard)?.with(|shard| Ok(shard.value(field.known(), Value::Signed(value))?)))
}

/// Announces the value of a field of the object announced last, of `BARROW_ENCODING_BOOLEAN`: 0 is false. Values come
/// before references.
///
/// # Safety
/// `shard` is NULL or a handle that no other thread uses now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barrow_shard_value_boolean(shard: Option<&ShardHandle>, field: FieldId, value: u32) -> Code {
    guarded(|| handle(shard)?.with(|shard| Ok(shard.value(field.known(), Value::Boolean(value != 0))?)))
}

/// Announces the value of a field of the object announced last, of `BARROW_ENCODING_CHARACTER`. Values come before
/// references.
///
/// # Safety
/// `shard` is NULL or a handle that no other thread uses now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barrow_shard_value_character(shard: Option<&ShardHandle>, field: FieldId, value: u32) -> Code {
    guarded(|| handle(shard)?.with(|shard| Ok(shard.value(field.known(), Value::Character(value))?)))
}

/// Announces the value of a field of the object announced last, of `BARROW_ENCODING_FLOAT`. Values come before
/// references.
///
/// # Safety
/// `shard` is NULL or a handle that no other thread uses now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barrow_shard_value_float(shard: Option<&ShardHandle>, field: FieldId, value: f32) -> Code {
    guarded(|| handle(shard)?.with(|shard| Ok(shard.value(field.known(), Value::Float(value))?)))
}

/// Announces the value of a field of the object announced last, of `BARROW_ENCODING_DOUBLE`. Values come before
/// references.
///
/// # Safety
/// `shard` is NULL or a handle that no other thread uses now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barrow_shard_value_double(shard: Option<&ShardHandle>, field: FieldId, value: f64) -> Code {
    guarded(|| handle(shard)?.with(|shard| Ok(shard.value(field.known(), Value::Double(value))?)))
}

/// Announces the value of a field of the object announced last, of `BARROW_ENCODING_TEXT`. Values come before
/// references.
///
/// # Safety
/// `shard` is NULL or a handle that no other thread uses now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barrow_shard_value_text(shard: Option<&ShardHandle>, field: FieldId, value: StringId) -> Code {
    guarded(|| handle(shard)?.with(|shard| Ok(shard.value(field.known(), Value::Text(value.known()))?)))
}

/// Announces a root: `category` is a group in the runtime's words, `label` may be 0.
///
/// # Safety
/// `shard` is NULL or a handle that no other thread uses now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barrow_shard_root(
    shard: Option<&ShardHandle>,
    category: StringId,
    label: StringId,
    target: u64,
) -> Code {
    guarded(|| handle(shard)?.with(|shard| Ok(shard.root(category.known(), label.optional(), target)?)))
}

/// Hands the rest over to the encoders. The shard ends even if this fails.
///
/// # Safety
/// `shard` is NULL or a handle that no other thread uses now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barrow_shard_finish(shard: Option<&ShardHandle>) -> Code {
    guarded(|| {
        let shard = handle(shard)?;
        shard.process.check()?;
        outside_of_streams()?;
        let taken = shard.shard.try_borrow_mut().map_err(|_| busy())?.take();
        Ok(taken.ok_or_else(ended)?.finish()?)
    })
}

/// Frees the handle. If the shard was not finished, its snapshot cannot be committed.
///
/// # Safety
/// `shard` is NULL or a handle that no other thread uses and that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barrow_shard_free(shard: Option<Box<ShardHandle>>) {
    free(shard, |shard| shard.process);
}
