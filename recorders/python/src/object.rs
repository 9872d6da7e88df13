//! Objects of the interpreter, read where they lie.
//!
//! Everything here reads memory of the interpreter, which no type of Rust can vouch for. What makes it sound is
//! [`Stopped`]: while it exists, this thread holds the global lock and no code of the program runs, so no object is
//! freed or moved. An [`Object`] borrows from it.
//!
//! `class` has what is only asked of classes, `record` what is asked of code and of frames.

mod class;
mod record;

use std::ffi::{CStr, c_int, c_void};
use std::marker::PhantomData;
use std::ptr::NonNull;

use pyo3::ffi;

use crate::interpreter::layout;
use crate::layout::Attributes;

pub(crate) use class::{Class, Member, SizeMethod, flags};
pub(crate) use record::{Held, Record, without_tags};

// In every object.
const CLASS: usize = 8;
const SIZE: usize = 16;
// In a class: what it does with its instances.
const TRAVERSE: usize = 184;
const IS_GC: usize = 328;
// In a dictionary, a list, a tuple, a weak reference, a string, a bytes object.
const DICT_VALUES: usize = 40;
const LIST_ITEMS: usize = 24;
const LIST_CAPACITY: usize = 32;
// In a bytearray, a set, a float.
const BYTEARRAY_CAPACITY: usize = 24;
const SET_LENGTH: usize = 24;
const SET_MASK: usize = 32;
const REAL_NUMBER: usize = 16;
const REFERENT: usize = 16;
// In a date: whether it has a zone, its bytes from the year on, and the zone.
const HAS_ZONE: usize = 24;
const DATE_BYTES: usize = 25;
const ZONE: usize = 40;
const TEXT_LENGTH: usize = 16;
const TEXT_STATE: usize = 32;
const BYTES: usize = 32;

const COMPACT_ASCII: u32 = 0b110_0000;
/// From this count on an object is never freed; 3.12 and later.
const IMMORTAL: i64 = 1 << 29;

/// Proof that the program is paused: this thread has the global lock, and runs no code of the program.
pub(crate) struct Stopped(());

impl Stopped {
    /// # Safety
    /// The calling thread holds the global lock, and neither releases it nor frees any object while this exists.
    pub(crate) unsafe fn new() -> Self {
        Stopped(())
    }

    /// An object of which the caller knows the address.
    ///
    /// # Safety
    /// A live object lies there.
    pub(crate) unsafe fn object(&self, address: u64) -> Object<'_> {
        let pointer = NonNull::new(address as *mut u8).expect("no object lies at address 0");
        Object { pointer, stopped: PhantomData }
    }
}

/// A live object.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Object<'s> {
    pointer: NonNull<u8>,
    stopped: PhantomData<&'s ()>,
}

impl<'s> Object<'s> {
    pub(crate) fn address(self) -> u64 {
        self.pointer.as_ptr() as u64
    }

    fn raw(self) -> *mut ffi::PyObject {
        self.pointer.as_ptr().cast()
    }

    /// Reads a field.
    ///
    /// # Safety
    /// At `offset` of this object a `T` lies.
    unsafe fn field<T: Copy>(self, offset: usize) -> T {
        // SAFETY: the object is alive, and the caller vouches for the field.
        unsafe { self.pointer.as_ptr().add(offset).cast::<T>().read_unaligned() }
    }

    /// Reads a field that holds an object or nothing.
    ///
    /// # Safety
    /// As for [`Object::field`], of a pointer to a live object or null.
    unsafe fn object_field(self, offset: usize) -> Option<Object<'s>> {
        // SAFETY: as the caller says; `Option<Object>` is a pointer that may be null.
        unsafe { self.field(offset) }
    }

    /// The reference count of the interpreter; `None` if the object is never freed.
    pub(crate) fn reference_count(self) -> Option<u32> {
        // SAFETY: every object begins with its count.
        let count: i64 = unsafe { self.field(0) };
        // From 3.12 on the upper half of the word means something else.
        (0..IMMORTAL).contains(&count).then(|| u32::try_from(count).ok()).flatten()
    }

    pub(crate) fn class(self) -> Class<'s> {
        // SAFETY: every object has a class.
        Class(unsafe { self.field(CLASS) })
    }

    /// The field that objects of variable size keep their length in; its sign may mean something else.
    pub(crate) fn length(self) -> u64 {
        // SAFETY: asked only of objects whose class has a size for items; see `Sizing`.
        unsafe { self.field::<i64>(SIZE) }.unsigned_abs()
    }

    /// Number of items of a dictionary.
    pub(crate) fn dict_length(self) -> u64 {
        debug_assert!(self.class().has(flags::DICT));
        // SAFETY: a dictionary has this count where others have their length.
        unsafe { self.field(SIZE) }
    }

    /// Number of elements that fit into a list.
    pub(crate) fn list_capacity(self) -> u64 {
        debug_assert!(self.class().has(flags::LIST));
        // SAFETY: the class says that it is a list.
        unsafe { self.field(LIST_CAPACITY) }
    }

    /// Number of bytes that fit into a bytearray.
    pub(crate) fn bytearray_capacity(self) -> u64 {
        // SAFETY: asked only of objects whose class is derived from that of bytearrays.
        unsafe { self.field(BYTEARRAY_CAPACITY) }
    }

    /// Number of elements of a set.
    pub(crate) fn set_length(self) -> u64 {
        // SAFETY: asked only of objects whose class is derived from those of sets.
        unsafe { self.field(SET_LENGTH) }
    }

    /// Number of slots of the table of a set.
    pub(crate) fn set_capacity(self) -> u64 {
        // SAFETY: as above. The mask is the highest number of a slot.
        unsafe { self.field::<u64>(SET_MASK) + 1 }
    }

    /// The value of an `int`, if 64 bits suffice.
    pub(crate) fn whole_number(self) -> Option<i64> {
        debug_assert!(self.class().has(flags::LONG));
        let mut overflow = 0;
        // SAFETY: asked only of objects whose class says that they are whole numbers.
        let value = unsafe { ffi::PyLong_AsLongLongAndOverflow(self.raw(), &raw mut overflow) };
        (overflow == 0).then_some(value)
    }

    /// The value of a `float`.
    pub(crate) fn real_number(self) -> f64 {
        // SAFETY: asked only of objects whose class is derived from that of such numbers.
        unsafe { self.field(REAL_NUMBER) }
    }

    /// The bytes of a `date` or a `datetime` from its `first` one on: two of the year, month, day, hour, minute, second,
    /// three of the microseconds.
    pub(crate) fn date_bytes<const N: usize>(self, first: usize) -> [u8; N] {
        // SAFETY: asked only of objects whose class is derived from that of such dates, and of the bytes that these have.
        unsafe { self.field(DATE_BYTES + first) }
    }

    /// The address of the zone of a `datetime`, if it has one.
    pub(crate) fn zone(self) -> Option<u64> {
        // SAFETY: asked only of objects whose class is derived from `datetime`, which have a zone if this byte says so.
        unsafe { (self.field::<u8>(HAS_ZONE) != 0).then(|| self.field(ZONE)) }
    }

    /// The elements of a list, or of an object of a class derived from it.
    pub(crate) fn list_items(self) -> &'s [Option<Object<'s>>] {
        debug_assert!(self.class().has(flags::LIST));
        let length = usize::try_from(self.length()).unwrap_or(0);
        // SAFETY: the class says that it is a list, which has a pointer to as many pointers as its length, or null.
        unsafe {
            let items: *const Option<Object<'s>> = self.field(LIST_ITEMS);
            if items.is_null() { &[] } else { std::slice::from_raw_parts(items, length) }
        }
    }

    /// The elements of a tuple, or of an object of a class derived from it.
    pub(crate) fn tuple_items(self) -> &'s [Option<Object<'s>>] {
        debug_assert!(self.class().has(flags::TUPLE));
        let length = usize::try_from(self.length()).unwrap_or(0);
        // SAFETY: the class says that it is a tuple, which holds as many pointers as its length.
        unsafe { std::slice::from_raw_parts(self.pointer.as_ptr().add(layout().tuple_items).cast(), length) }
    }

    /// Calls `item` with each key and value of a dictionary.
    pub(crate) fn dict_items(self, mut item: impl FnMut(Object<'s>, Object<'s>)) {
        debug_assert!(self.class().has(flags::DICT));
        let (mut place, mut key, mut value) = (0, std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the class says that it is a dictionary; the program is paused.
        while unsafe { ffi::PyDict_Next(self.raw(), &raw mut place, &raw mut key, &raw mut value) } != 0 {
            if let (Some(key), Some(value)) = (from_raw(key), from_raw(value)) {
                item(key, value);
            }
        }
    }

    /// Whether the values of a dictionary are those that an instance keeps itself.
    pub(crate) fn shows_an_instance(self) -> bool {
        debug_assert!(self.class().has(flags::DICT));
        // SAFETY: a dictionary has such values or null there; their third byte says whether they are part of an instance.
        layout().attributes == Attributes::Inline
            && unsafe {
                let values: *const u8 = self.field(DICT_VALUES);
                !values.is_null() && values.add(2).read() != 0
            }
    }

    /// The value of a dictionary for a name.
    pub(crate) fn item(self, name: &CStr) -> Option<Object<'s>> {
        if !self.class().has(flags::DICT) {
            return None;
        }
        let mut found = None;
        self.dict_items(|key, value| {
            if found.is_none() && key.class().has(flags::TEXT) && key.equals(name) {
                found = Some(value);
            }
        });
        found
    }

    /// The target of a weak reference, if it is alive.
    pub(crate) fn referent(self) -> Option<Object<'s>> {
        // SAFETY: asked only of objects whose class is derived from that of weak references.
        let referent: Object<'s> = unsafe { self.object_field(REFERENT) }?;
        // Dead ones lead to `None`; one that is being freed has no references any more.
        (referent.reference_count() != Some(0)).then_some(referent)
    }

    /// Number of characters of a string.
    pub(crate) fn text_length(self) -> u64 {
        debug_assert!(self.class().has(flags::TEXT));
        // SAFETY: the class says that it is a string.
        unsafe { self.field(TEXT_LENGTH) }
    }

    /// The text of a string.
    pub(crate) fn text(self) -> String {
        self.first_text(usize::MAX)
    }

    /// The beginning of a string: at most this many characters.
    pub(crate) fn first_text(self, characters: usize) -> String {
        let length = usize::try_from(self.text_length()).unwrap_or(usize::MAX).min(characters);
        // SAFETY: the class says that it is a string.
        let state: u32 = unsafe { self.field(TEXT_STATE) };
        if state & COMPACT_ASCII == COMPACT_ASCII && self.class().0.pointer.as_ptr() == text_class() {
            // SAFETY: at least `length` bytes of ASCII follow.
            let bytes = unsafe { std::slice::from_raw_parts(self.pointer.as_ptr().add(layout().ascii), length) };
            return String::from_utf8_lossy(bytes).into_owned();
        }
        // Asking for its UTF-8 would make the string larger.
        // SAFETY: it is a string, and has a character at each place.
        let characters = (0..length.cast_signed()).map(|place| unsafe { ffi::PyUnicode_ReadChar(self.raw(), place) });
        characters.map(|code| char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    }

    /// The bytes of a bytes object.
    pub(crate) fn bytes(self) -> &'s [u8] {
        debug_assert!(self.class().has(flags::BYTES));
        let length = usize::try_from(self.length()).unwrap_or(0);
        // SAFETY: the class says that it is a bytes object: a length, a hash, then the bytes.
        unsafe { std::slice::from_raw_parts(self.pointer.as_ptr().add(BYTES), length) }
    }

    /// The text of a small `int`, `True`, `False` or `None`.
    pub(crate) fn plain_text(self) -> Option<String> {
        // SAFETY: these live as long as the interpreter.
        let singles = unsafe { [(ffi::Py_None(), "None"), (ffi::Py_True(), "True"), (ffi::Py_False(), "False")] };
        if let Some((_, text)) = singles.iter().find(|(single, _)| *single == self.raw()) {
            return Some((*text).to_owned());
        }
        if !self.class().has(flags::LONG) {
            return None;
        }
        self.whole_number().map(|value| value.to_string())
    }

    /// The value of a member of its class.
    pub(crate) fn member(self, member: Member<'_>) -> Option<Object<'s>> {
        // SAFETY: only classes make members; their instances have an object or null there.
        unsafe { self.object_field(member.offset) }
    }

    /// The dictionary of its attributes, if it has one, where the class says so by an offset.
    pub(crate) fn attribute_dict(self) -> Option<Object<'s>> {
        let offset = usize::try_from(self.class().dict_offset()).ok().filter(|&offset| offset > 0)?;
        // SAFETY: the class says that its instances have a dictionary or null there.
        unsafe { self.object_field(offset) }
    }

    /// The dictionary that a class manages for its instance, if there is one.
    pub(crate) fn managed_dict(self) -> Option<Object<'s>> {
        if layout().attributes == Attributes::Dictionary || !self.class().has(flags::MANAGED_DICT) {
            return None;
        }
        // SAFETY: instances of such classes have two words before the collector's.
        let word: u64 = unsafe { self.pointer.as_ptr().cast::<u64>().sub(3).read() };
        let is_tagged = layout().attributes == Attributes::Tagged && word & 1 == 1;
        // SAFETY: what is not tagged is the dictionary or null.
        (!is_tagged).then(|| from_raw(word as *mut ffi::PyObject)).flatten()
    }

    /// The values of attributes that it keeps without a dictionary, as many as there may be.
    pub(crate) fn attribute_values(self, count: usize) -> &'s [Option<Object<'s>>] {
        let class = self.class();
        if !class.has(flags::MANAGED_DICT) {
            return &[];
        }
        // SAFETY: which words and bytes these are is what `Attributes` says; the class says that they are there.
        unsafe {
            let words = self.pointer.as_ptr().cast::<u64>();
            let values = match layout().attributes {
                Attributes::Dictionary => 0,
                Attributes::Pointer => words.sub(4).read(),
                Attributes::Tagged => Some(words.sub(3).read()).filter(|word| word & 1 == 1).map_or(0, |word| word + 1),
                Attributes::Inline if class.has(flags::INLINE_VALUES) => {
                    let head = self.pointer.as_ptr().add(usize::try_from(class.basic_size()).unwrap_or(0));
                    // Capacity, how many were set, whether it is part of the object, whether it is used.
                    if head.add(3).read() == 0 { 0 } else { head.add(8) as u64 }
                }
                Attributes::Inline => 0,
            };
            if values == 0 { &[] } else { std::slice::from_raw_parts(values as *const Option<Object<'s>>, count) }
        }
    }

    /// Whether the collector takes care of it.
    pub(crate) fn is_collected(self) -> bool {
        let class = self.class();
        if !class.has(flags::HAVE_GC) {
            return false;
        }
        // SAFETY: a class has this function or null; it looks at the object only.
        unsafe {
            let is_gc: Option<extern "C" fn(*mut ffi::PyObject) -> c_int> = class.0.field(IS_GC);
            is_gc.is_none_or(|is_gc| is_gc(self.raw()) != 0)
        }
    }

    /// Calls `visit` with each object that it tells the collector it holds.
    pub(crate) fn traverse(self, mut visit: impl FnMut(Object<'s>)) {
        type Traverse = extern "C" fn(*mut ffi::PyObject, ffi::visitproc, *mut c_void) -> c_int;
        extern "C" fn call<'s, F: FnMut(Object<'s>)>(object: *mut ffi::PyObject, visit: *mut c_void) -> c_int {
            if let Some(object) = from_raw(object) {
                // SAFETY: `visit` is what `traverse` gave away below, of this type, and outlives the call.
                unsafe { (*visit.cast::<F>())(object) };
            }
            0
        }
        fn of<'s, F: FnMut(Object<'s>)>(_: &F) -> ffi::visitproc {
            call::<'s, F>
        }
        // SAFETY: a class has this function or null; it calls what it is given for each object held, with the argument.
        unsafe {
            let traverse: Option<Traverse> = self.class().0.field(TRAVERSE);
            if let Some(traverse) = traverse {
                traverse(self.raw(), of(&visit), (&raw mut visit).cast());
            }
        }
    }

    /// It as a class, if it is one.
    pub(crate) fn as_class(self) -> Option<Class<'s>> {
        self.class().has(flags::CLASS).then_some(Class(self))
    }

    /// The size in bytes that its own method returns.
    pub(crate) fn size_by(self, method: SizeMethod) -> Option<u64> {
        // SAFETY: the method belongs to its class and takes no arguments; what it returns is ours.
        unsafe {
            let size = (method.0)(self.raw(), std::ptr::null_mut());
            if size.is_null() {
                ffi::PyErr_Clear();
                return None;
            }
            let bytes = ffi::PyLong_AsSsize_t(size);
            ffi::Py_DecRef(size);
            if bytes < 0 {
                ffi::PyErr_Clear();
            }
            u64::try_from(bytes).ok()
        }
    }
}

impl Object<'_> {
    /// Whether a string says just that.
    fn equals(self, text: &CStr) -> bool {
        // SAFETY: asked only of strings; the other is ASCII that ends with 0.
        unsafe { ffi::PyUnicode_CompareWithASCIIString(self.raw(), text.as_ptr()) == 0 }
    }
}

fn text_class() -> *mut u8 {
    (&raw mut ffi::PyUnicode_Type).cast()
}

/// The object behind a pointer of C; `None` for null.
fn from_raw<'s>(pointer: *mut ffi::PyObject) -> Option<Object<'s>> {
    NonNull::new(pointer.cast()).map(|pointer| Object { pointer, stopped: PhantomData })
}
