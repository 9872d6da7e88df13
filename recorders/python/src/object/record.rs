//! Code, and the records of calls that run it.

use std::ffi::c_int;
use std::marker::PhantomData;
use std::ptr::NonNull;

use super::Object;
use crate::interpreter::layout;

// In a frame object, since 3.11.
const FRAME_RECORD: usize = 24;

/// Since 3.14 the lowest bits of what a record holds are not part of the address.
const TAGS: u64 = 3;
/// One of them: the interpreter does not count the reference, as another one lives longer.
const NOT_COUNTED: u64 = 1;

/// The address that a word of a record has.
#[inline]
pub(crate) fn without_tags(word: u64) -> u64 {
    word & !TAGS
}

/// An object that a record holds.
#[derive(Clone, Copy)]
pub(crate) struct Held<'s> {
    pub(crate) object: Object<'s>,
    /// Whether its reference count includes this reference.
    pub(crate) is_counted: bool,
}

impl<'s> Object<'s> {
    /// The function's name.
    pub(crate) fn code_name(self) -> Option<Object<'s>> {
        // SAFETY: asked only of code objects.
        unsafe { self.object_field(layout().code.name) }
    }

    pub(crate) fn code_file(self) -> Option<Object<'s>> {
        // SAFETY: asked only of code objects.
        unsafe { self.object_field(layout().code.file) }
    }

    pub(crate) fn code_first_line(self) -> Option<u32> {
        // SAFETY: asked only of code objects.
        u32::try_from(unsafe { self.field::<c_int>(layout().code.first_line) }).ok()
    }

    /// Whether the interpreter made it, to call `__init__` for instance: such code is in no file, and has its name
    /// instead.
    pub(crate) fn is_code_of_interpreter(self) -> bool {
        self.code_file().is_none_or(|file| self.code_name() == Some(file))
    }

    /// The names of the local variables, in the order of a frame's.
    pub(crate) fn code_local_names(self) -> impl Iterator<Item = Object<'s>> + use<'s> {
        // SAFETY: asked only of code objects, which have tuples there.
        let tuples = layout().code.local_names.iter().filter_map(move |&offset| unsafe { self.object_field(offset) });
        tuples.flat_map(|tuple: Object<'s>| tuple.tuple_items().iter().copied().flatten())
    }

    /// Whether a generator is suspended or has not begun: only then its variables are its own.
    fn is_suspended(self) -> bool {
        // SAFETY: asked only of generators, which keep their state 5 bytes before the record; below 0 it does not run.
        layout().generator_frame.is_some_and(|record| unsafe { self.field::<i8>(record - 5) } < 0)
    }

    /// The record of a generator that is suspended.
    pub(crate) fn generator_record(self) -> Option<Record<'s>> {
        let offset = layout().generator_frame.filter(|_| self.is_suspended())?;
        // SAFETY: asked only of generators, which have their record as a part.
        unsafe { Some(Record::new(self.pointer.as_ptr().add(offset))) }
    }

    /// The record of a frame: the object itself before 3.11.
    pub(crate) fn frame_record(self) -> Option<Record<'s>> {
        // SAFETY: asked only of frames. Their record, if apart, lives as long as they do, on the stack or in them.
        unsafe {
            let record = if layout().frame.object.is_some() { self.field(FRAME_RECORD) } else { self.pointer.as_ptr() };
            (!record.is_null()).then(|| Record::new(record))
        }
    }
}

/// The interpreter's record of a call: code and local variables.
#[derive(Clone, Copy)]
pub(crate) struct Record<'s> {
    pointer: *const u8,
    stopped: PhantomData<&'s ()>,
}

impl<'s> Record<'s> {
    /// # Safety
    /// A live record lies there.
    pub(crate) unsafe fn new(pointer: *const u8) -> Self {
        Record { pointer, stopped: PhantomData }
    }

    /// The code that runs, if any: calls from C have records without. `code_class` is the class of code.
    pub(crate) fn code(self, code_class: u64) -> Option<Object<'s>> {
        if let Some((offset, from_c)) = layout().frame.owner {
            // SAFETY: a record has this byte.
            let owner: u8 = unsafe { self.pointer.add(offset).read() };
            if owner >= from_c {
                return None;
            }
        }
        // SAFETY: a record has an object or null there.
        let code = unsafe { self.held(layout().frame.code) }?.object;
        (code.class().address() == code_class && !code.is_code_of_interpreter()).then_some(code)
    }

    /// Reads the object at an offset.
    ///
    /// # Safety
    /// The word there is an object or null, with tags.
    unsafe fn held(self, offset: usize) -> Option<Held<'s>> {
        // SAFETY: as the caller says.
        let word: u64 = unsafe { self.pointer.add(offset).cast::<u64>().read() };
        let pointer = NonNull::new(without_tags(word) as *mut u8)?;
        Some(Held { object: Object { pointer, stopped: PhantomData }, is_counted: word & NOT_COUNTED == 0 })
    }

    /// References other than variables, with names.
    pub(crate) fn parts(self) -> impl Iterator<Item = (&'static str, Held<'s>)> {
        let frame = layout().frame.object.map(|offset| ("frame", offset));
        let parts = layout().frame.parts.iter().copied().chain(frame);
        // SAFETY: a record has an object or null there.
        parts.filter_map(move |(name, offset)| Some((name, unsafe { self.held(offset) }?)))
    }

    /// The local variables that have a value, with the names that its code has for them.
    pub(crate) fn variables(self, code: Object<'s>) -> impl Iterator<Item = (Object<'s>, Held<'s>)> {
        let offsets = (layout().frame.locals..).step_by(size_of::<u64>());
        let variables = code.code_local_names().zip(offsets);
        // SAFETY: after its other fields a record has as many variables as its code has names; empty ones are null.
        variables.filter_map(move |(name, offset)| Some((name, unsafe { self.held(offset) }?)))
    }

    /// The record of the caller.
    pub(crate) fn previous(self) -> Option<Record<'s>> {
        // SAFETY: a record has another or null there.
        let previous = unsafe { self.pointer.add(layout().frame.previous).cast::<*const u8>().read() };
        (!previous.is_null()).then_some(Record { pointer: previous, stopped: PhantomData })
    }

    /// It as an object: before 3.11 it is one.
    ///
    /// # Safety
    /// The version is one of these.
    pub(crate) unsafe fn as_object(self) -> Object<'s> {
        let pointer = NonNull::new(self.pointer.cast_mut()).expect("a record is somewhere");
        Object { pointer, stopped: PhantomData }
    }
}
