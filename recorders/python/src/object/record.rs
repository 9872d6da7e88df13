//! Code, and the records of calls that run it.

use std::ffi::c_int;
use std::marker::PhantomData;
use std::ptr::NonNull;

use super::Object;
use crate::interpreter::layout;

// In a frame object, since 3.11.
const FRAME_RECORD: usize = 24;

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

    /// Whether it is the interpreter's own, to call `__init__` for instance: such code is in no file, and says its name instead.
    pub(crate) fn is_code_of_interpreter(self) -> bool {
        self.code_file().is_none_or(|file| self.code_name() == Some(file))
    }

    /// The names of the local variables, in the order of a frame's.
    pub(crate) fn code_local_names(self) -> impl Iterator<Item = Object<'s>> + use<'s> {
        // SAFETY: asked only of code objects, which have tuples there.
        let tuple = move |&offset: &usize| unsafe { self.object_field(offset) };
        let tuples = layout().code.local_names.iter().filter_map(tuple);
        tuples.flat_map(|tuple: Object<'s>| tuple.tuple_items().iter().copied().flatten())
    }

    /// Whether a generator has begun and waits to go on, or has not begun: only then its variables are its own.
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

/// Where the interpreter keeps what a call needs: code and local variables.
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

    /// What runs, if that is code: calls from C have records without. `code_class` is the class of code.
    pub(crate) fn code(self, code_class: u64) -> Option<Object<'s>> {
        if let Some((offset, from_c)) = layout().frame.owner {
            // SAFETY: a record has this byte.
            let owner: u8 = unsafe { self.pointer.add(offset).read() };
            if owner == from_c {
                return None;
            }
        }
        // SAFETY: a record has an object or null there.
        let code: Option<Object<'s>> =
            unsafe { self.pointer.add(layout().frame.code).cast::<Option<Object<'s>>>().read() };
        code.filter(|code| code.class().address() == code_class && !code.is_code_of_interpreter())
    }

    /// The frame object that stands for it, if there is one and it is another.
    pub(crate) fn object(self) -> Option<Object<'s>> {
        let offset = layout().frame.object?;
        // SAFETY: a record has an object or null there.
        unsafe { self.pointer.add(offset).cast::<Option<Object<'s>>>().read() }
    }

    /// What it holds besides variables, with names.
    pub(crate) fn parts(self) -> impl Iterator<Item = (&'static str, Object<'s>)> {
        let part = move |&(name, offset): &(&'static str, usize)| {
            // SAFETY: a record has an object or null there.
            let part: Option<Object<'s>> = unsafe { self.pointer.add(offset).cast::<Option<Object<'s>>>().read() };
            Some((name, part?))
        };
        layout().frame.parts.iter().filter_map(part).chain(self.object().map(|object| ("frame", object)))
    }

    /// The local variables, in the order of the names of its code.
    pub(crate) fn variables(self, code: Object<'s>) -> &'s [Option<Object<'s>>] {
        let count = code.code_local_names().count();
        // SAFETY: behind its other fields a record has as many variables as its code has names; empty ones are null.
        unsafe { std::slice::from_raw_parts(self.pointer.add(layout().frame.locals).cast(), count) }
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
