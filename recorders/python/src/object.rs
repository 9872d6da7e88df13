//! Objects of the interpreter, read where they lie.
//!
//! Everything here reads memory of the interpreter, which no type of Rust can vouch for. What makes it sound is
//! [`Stopped`]: while it exists, this thread holds the global lock and no code of the program runs, so no object is
//! freed or moved. An [`Object`] borrows from it.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::ptr::NonNull;

use pyo3::ffi;

use crate::interpreter::{interpreter, layout};
use crate::layout::Attributes;

// In every object.
const CLASS: usize = 8;
const SIZE: usize = 16;
// In a class.
const NAME: usize = 24;
const BASIC_SIZE: usize = 32;
const ITEM_SIZE: usize = 40;
const FLAGS: usize = 168;
const TRAVERSE: usize = 184;
const MEMBERS: usize = 240;
const BASE: usize = 256;
const SPACE: usize = 264;
const DICT_OFFSET: usize = 288;
const IS_GC: usize = 328;
const BASES: usize = 336;
const RESOLUTION: usize = 344;
const CACHE: usize = 352;
// In a dictionary, a frame since 3.11, a list, a tuple, a weak reference, a method descriptor, a string, a table of names.
const DICT_VALUES: usize = 40;
const FRAME_RECORD: usize = 24;
const LIST_ITEMS: usize = 24;
const TUPLE_ITEMS: usize = 24;
const REFERENT: usize = 16;
const METHOD: usize = 40;
const TEXT_LENGTH: usize = 16;
const TEXT_STATE: usize = 32;
const NAMES_COUNT: usize = 24;
const NAMES_INDEX_BITS: usize = 9;
const NAMES_KIND: usize = 10;
const NAMES_INDEX: usize = 32;
const NAMES_GENERAL: u8 = 0;

const COMPACT_ASCII: u32 = 0b110_0000;
const OBJECT_MEMBERS: [c_int; 2] = [6, 16];
/// From this count on an object is never freed; 3.12 and later.
const IMMORTAL: i64 = 1 << 29;

/// What a class says of its instances and itself, by bit.
pub(crate) mod flags {
    pub(crate) const INLINE_VALUES: u64 = 1 << 2;
    pub(crate) const MANAGED_WEAKREF: u64 = 1 << 3;
    pub(crate) const MANAGED_DICT: u64 = 1 << 4;
    pub(crate) const HEAP_TYPE: u64 = 1 << 9;
    pub(crate) const HAVE_GC: u64 = 1 << 14;
    pub(crate) const LONG: u64 = 1 << 24;
    pub(crate) const LIST: u64 = 1 << 25;
    pub(crate) const TUPLE: u64 = 1 << 26;
    pub(crate) const TEXT: u64 = 1 << 28;
    pub(crate) const DICT: u64 = 1 << 29;
    pub(crate) const CLASS: u64 = 1 << 31;
}

/// Proof that the program stands still: this thread has the global lock, and runs no code of the program.
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

/// A field of instances of a class that holds an object.
#[derive(Clone, Copy)]
pub(crate) struct Member<'s> {
    pub(crate) name: &'s CStr,
    offset: usize,
}

impl<'s> Member<'s> {
    /// A member that the interpreter keeps, but does not tell of.
    ///
    /// # Safety
    /// Instances that it is asked of have an object or null there.
    pub(crate) unsafe fn untold(name: &'s CStr, offset: usize) -> Self {
        Member { name, offset }
    }
}

/// A function of a class that tells the size of an instance.
#[derive(Clone, Copy)]
pub(crate) struct SizeMethod(ffi::PyCFunction);

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

    /// How many references to it the interpreter counts; `None` if it is never freed.
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

    /// The elements of a list, or of an object of a class derived from it.
    pub(crate) fn list_items(self) -> &'s [Option<Object<'s>>] {
        debug_assert!(self.class().has(flags::LIST));
        let length = usize::try_from(self.length()).unwrap_or(0);
        // SAFETY: the class says that it is a list, which has a pointer to so many pointers, or to none.
        unsafe {
            let items: *const Option<Object<'s>> = self.field(LIST_ITEMS);
            if items.is_null() { &[] } else { std::slice::from_raw_parts(items, length) }
        }
    }

    /// The elements of a tuple, or of an object of a class derived from it.
    pub(crate) fn tuple_items(self) -> &'s [Option<Object<'s>>] {
        debug_assert!(self.class().has(flags::TUPLE));
        let length = usize::try_from(self.length()).unwrap_or(0);
        // SAFETY: the class says that it is a tuple, which so many pointers belong to.
        unsafe { std::slice::from_raw_parts(self.pointer.as_ptr().add(TUPLE_ITEMS).cast(), length) }
    }

    /// Calls `item` with each key and value of a dictionary.
    pub(crate) fn dict_items(self, mut item: impl FnMut(Object<'s>, Object<'s>)) {
        debug_assert!(self.class().has(flags::DICT));
        let (mut place, mut key, mut value) = (0, std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the class says that it is a dictionary; the program stands still.
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

    /// What a dictionary has under a name.
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

    /// What a weak reference leads to, if that is alive.
    pub(crate) fn referent(self) -> Option<Object<'s>> {
        // SAFETY: asked only of objects whose class is derived from that of weak references.
        let referent: Object<'s> = unsafe { self.object_field(REFERENT) }?;
        // Dead ones lead to `None`; one that is being freed has no references any more.
        (referent.reference_count() != Some(0)).then_some(referent)
    }

    /// The text of a string.
    pub(crate) fn text(self) -> String {
        debug_assert!(self.class().has(flags::TEXT));
        // SAFETY: the class says that it is a string.
        let (length, state): (usize, u32) = unsafe { (self.field(TEXT_LENGTH), self.field(TEXT_STATE)) };
        if state & COMPACT_ASCII == COMPACT_ASCII && self.class().0.pointer.as_ptr() == text_class() {
            // SAFETY: so many bytes of ASCII follow.
            let bytes = unsafe { std::slice::from_raw_parts(self.pointer.as_ptr().add(layout().ascii), length) };
            return String::from_utf8_lossy(bytes).into_owned();
        }
        // Asking for its UTF-8 would make the string larger.
        // SAFETY: it is a string, and has a character at each place.
        let character = |place| unsafe { ffi::PyUnicode_ReadChar(self.raw(), place) };
        let characters = (0..length.cast_signed()).map(character);
        characters.map(|code| char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    }

    /// What a whole number that is not large, `True`, `False` or `None` is written as.
    pub(crate) fn plain_text(self) -> Option<String> {
        // SAFETY: these live as long as the interpreter.
        let singles = unsafe { [(ffi::Py_None(), "None"), (ffi::Py_True(), "True"), (ffi::Py_False(), "False")] };
        if let Some((_, text)) = singles.iter().find(|(single, _)| *single == self.raw()) {
            return Some((*text).to_owned());
        }
        if !self.class().has(flags::LONG) {
            return None;
        }
        let mut overflow = 0;
        // SAFETY: the class says that it is a whole number.
        let value = unsafe { ffi::PyLong_AsLongLongAndOverflow(self.raw(), &raw mut overflow) };
        (overflow == 0).then(|| value.to_string())
    }

    /// What a member of its class holds.
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

    /// What it says itself that it takes, in bytes.
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

/// A code object's fields.
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

/// A class: an object that says what its instances are like.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Class<'s>(Object<'s>);

impl<'s> Class<'s> {
    pub(crate) fn object(self) -> Object<'s> {
        self.0
    }

    pub(crate) fn address(self) -> u64 {
        self.0.address()
    }

    fn flags(self) -> u64 {
        // SAFETY: of a class.
        unsafe { self.0.field(FLAGS) }
    }

    pub(crate) fn has(self, flag: u64) -> bool {
        self.flags() & flag != 0
    }

    pub(crate) fn basic_size(self) -> u64 {
        // SAFETY: of a class.
        unsafe { self.0.field(BASIC_SIZE) }
    }

    pub(crate) fn item_size(self) -> u64 {
        // SAFETY: of a class.
        unsafe { self.0.field(ITEM_SIZE) }
    }

    fn dict_offset(self) -> i64 {
        // SAFETY: of a class.
        unsafe { self.0.field(DICT_OFFSET) }
    }

    pub(crate) fn base(self) -> Option<Class<'s>> {
        // SAFETY: of a class.
        unsafe { self.0.object_field(BASE) }.map(Class)
    }

    /// The class itself, its base, that one's base, and so on.
    pub(crate) fn line(self) -> impl Iterator<Item = Class<'s>> + use<'s> {
        std::iter::successors(Some(self), |class| class.base())
    }

    /// Where its fields, bases and attributes are kept.
    pub(crate) fn space(self) -> Option<Object<'s>> {
        // SAFETY: it is a class, and the program stands still.
        match unsafe { interpreter().type_dict(self.0.raw()) } {
            Some(space) => from_raw(space),
            // SAFETY: of a class.
            None => unsafe { self.0.object_field(SPACE) },
        }
    }

    /// What a class holds by fields of its own, with names.
    pub(crate) fn holds(self) -> [(&'static str, Option<Object<'s>>); 5] {
        // SAFETY: of a class. Of what is part of the interpreter, the cache may be something else.
        let field = |offset| unsafe { self.0.object_field(offset) };
        let cache = if self.has(flags::HEAP_TYPE) { field(CACHE) } else { None };
        [
            ("__dict__", self.space()),
            ("__bases__", field(BASES)),
            ("__mro__", field(RESOLUTION)),
            ("__base__", field(BASE)),
            ("method cache", cache),
        ]
    }

    /// Its names, if it was made at run time.
    pub(crate) fn names(self) -> [(&'static str, Option<Object<'s>>); 2] {
        // SAFETY: such classes have a string two words before their qualified name.
        let name = || unsafe { self.0.object_field(layout().qualified_name - 16) };
        let name = if self.has(flags::HEAP_TYPE) { name() } else { None };
        [("__name__", name), ("__qualname__", self.qualified_name())]
    }

    /// Its name, without what it is nested in; with the module for classes of C outside of the builtins.
    fn plain_name(self) -> String {
        // SAFETY: of a class: a text that ends with 0.
        let name: *const c_char = unsafe { self.0.field(NAME) };
        if name.is_null() {
            return String::new();
        }
        // SAFETY: as above.
        unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
    }

    /// Its name with its module, unless that is `builtins`, and with what it is nested in.
    pub(crate) fn full_name(self) -> String {
        let Some(name) = self.qualified_name().filter(|name| name.class().has(flags::TEXT)) else {
            return self.plain_name();
        };
        let module = self.attribute(c"__module__").filter(|module| module.class().has(flags::TEXT)).map(Object::text);
        match module.as_deref() {
            None | Some("builtins") => name.text(),
            Some(module) => format!("{module}.{}", name.text()),
        }
    }

    /// Its qualified name, if it was made at run time.
    fn qualified_name(self) -> Option<Object<'s>> {
        // SAFETY: such classes have a string there.
        self.has(flags::HEAP_TYPE).then(|| unsafe { self.0.object_field(layout().qualified_name) }).flatten()
    }

    /// What its own space has under a name.
    pub(crate) fn attribute(self, name: &CStr) -> Option<Object<'s>> {
        self.space()?.item(name)
    }

    /// The fields of its instances that hold objects, those of bases too.
    pub(crate) fn members(self) -> Vec<Member<'s>> {
        let mut members = Vec::new();
        for class in self.line() {
            // SAFETY: a class has null there, or rows of five words; the last has no name.
            unsafe {
                let mut row: *const u8 = class.0.field(MEMBERS);
                while !row.is_null() {
                    let name: *const c_char = row.cast::<*const c_char>().read();
                    if name.is_null() {
                        break;
                    }
                    let (kind, offset) = (row.add(8).cast::<c_int>().read(), row.add(16).cast::<isize>().read());
                    if let (true, Ok(offset)) = (OBJECT_MEMBERS.contains(&kind), usize::try_from(offset)) {
                        members.push(Member { name: CStr::from_ptr(name), offset });
                    }
                    row = row.add(40);
                }
            }
        }
        members
    }

    /// The names of attributes that instances keep without a dictionary, in the order of their values.
    pub(crate) fn attribute_names(self) -> Vec<Object<'s>> {
        if layout().attributes == Attributes::Dictionary
            || !self.has(flags::HEAP_TYPE)
            || !self.has(flags::MANAGED_DICT)
        {
            return Vec::new();
        }
        // SAFETY: such classes have a table of names or null there: a head, an index, then pairs of key and value.
        unsafe {
            let table: *const u8 = self.0.field(layout().cached_keys);
            if table.is_null() || table.add(NAMES_KIND).read() == NAMES_GENERAL {
                return Vec::new();
            }
            let count = table.add(NAMES_COUNT).cast::<usize>().read();
            let names = table.add(NAMES_INDEX + (1 << table.add(NAMES_INDEX_BITS).read()));
            let name = |place: usize| names.cast::<*mut ffi::PyObject>().add(2 * place).read();
            (0..count).map_while(|place| from_raw(name(place))).collect()
        }
    }

    /// How instances tell their size, by the nearest class in its line that does so in C. `descriptor` is the class
    /// of such methods; what is written in Python is not run. None if it is as `object` does it: by two fields.
    pub(crate) fn size_method(self, descriptor: u64) -> Option<SizeMethod> {
        // Since 3.13 `object` adds the attributes that are part of some instances.
        let asks_object = layout().attributes == Attributes::Inline && self.has(flags::INLINE_VALUES);
        let line = self.line().filter(|class| asks_object || class.base().is_some());
        let mut methods = line.filter_map(|class| class.attribute(c"__sizeof__"));
        let method = methods.find(|method| method.class().address() == descriptor)?;
        // SAFETY: a descriptor of a method in C leads to its definition: name, function, flags.
        unsafe {
            let definition: *const ffi::PyMethodDef = method.field(METHOD);
            ((*definition).ml_flags == ffi::METH_NOARGS).then(|| SizeMethod((*definition).ml_meth.PyCFunction))
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

/// What C calls an object: null is nothing.
fn from_raw<'s>(pointer: *mut ffi::PyObject) -> Option<Object<'s>> {
    NonNull::new(pointer.cast()).map(|pointer| Object { pointer, stopped: PhantomData })
}
