//! Classes: objects that say what their instances are like.

use std::ffi::{CStr, c_char, c_int};

use pyo3::ffi;

use super::{Object, from_raw};
use crate::interpreter::{interpreter, layout};
use crate::layout::Attributes;

const NAME: usize = 24;
const BASIC_SIZE: usize = 32;
const ITEM_SIZE: usize = 40;
const FLAGS: usize = 168;
const MEMBERS: usize = 240;
const BASE: usize = 256;
const SPACE: usize = 264;
const SETS: usize = 280;
const DICT_OFFSET: usize = 288;
const BASES: usize = 336;
const RESOLUTION: usize = 344;
const CACHE: usize = 352;
// In a descriptor of a method, and in a table of names.
const METHOD: usize = 40;
const NAMES_COUNT: usize = 24;
const NAMES_INDEX_BITS: usize = 9;
const NAMES_KIND: usize = 10;
const NAMES_INDEX: usize = 32;
const NAMES_GENERAL: u8 = 0;

/// The kinds of members that are objects.
const OBJECT_MEMBERS: [c_int; 2] = [6, 16];

/// Flags of a class about its instances and itself.
pub(crate) mod flags {
    pub(crate) const INLINE_VALUES: u64 = 1 << 2;
    pub(crate) const MANAGED_WEAKREF: u64 = 1 << 3;
    pub(crate) const MANAGED_DICT: u64 = 1 << 4;
    pub(crate) const HEAP_TYPE: u64 = 1 << 9;
    pub(crate) const HAVE_GC: u64 = 1 << 14;
    pub(crate) const LONG: u64 = 1 << 24;
    pub(crate) const LIST: u64 = 1 << 25;
    pub(crate) const TUPLE: u64 = 1 << 26;
    pub(crate) const BYTES: u64 = 1 << 27;
    pub(crate) const TEXT: u64 = 1 << 28;
    pub(crate) const DICT: u64 = 1 << 29;
    pub(crate) const CLASS: u64 = 1 << 31;
}

/// A class: an object that says what its instances are like.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Class<'s>(pub(super) Object<'s>);

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

    pub(super) fn dict_offset(self) -> i64 {
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

    /// The classes that it is derived from and that are not in its line.
    pub(crate) fn further_bases(self) -> impl Iterator<Item = Class<'s>> {
        // SAFETY: of a class: a tuple of classes, unless it was never used.
        let order = unsafe { self.0.object_field(RESOLUTION) };
        let classes = order.into_iter().flat_map(Object::tuple_items).copied().flatten().map(Class);
        classes.filter(move |&class| self.line().all(|known| known != class))
    }

    /// The dictionary with its fields, bases and attributes.
    pub(crate) fn space(self) -> Option<Object<'s>> {
        // SAFETY: it is a class, and the program is paused.
        match unsafe { interpreter().type_dict(self.0.raw()) } {
            Some(space) => from_raw(space),
            // SAFETY: of a class.
            None => unsafe { self.0.object_field(SPACE) },
        }
    }

    /// References of the class itself by fixed fields, with names.
    pub(crate) fn holds(self) -> [(&'static str, Option<Object<'s>>); 5] {
        // SAFETY: a class has these fields. The cache of one that is part of the interpreter may be something else.
        let [bases, resolution, base, cache] = unsafe {
            let cache = if self.has(flags::HEAP_TYPE) { self.0.object_field(CACHE) } else { None };
            [self.0.object_field(BASES), self.0.object_field(RESOLUTION), self.0.object_field(BASE), cache]
        };
        [
            ("__dict__", self.space()),
            ("__bases__", bases),
            ("__mro__", resolution),
            ("__base__", base),
            ("method cache", cache),
        ]
    }

    /// Its names, if it was made at run time.
    pub(crate) fn names(self) -> [(&'static str, Option<Object<'s>>); 2] {
        let is_of_heap = self.has(flags::HEAP_TYPE);
        // SAFETY: such classes have a string two words before their qualified name.
        let name = is_of_heap.then(|| unsafe { self.0.object_field(layout().qualified_name - 16) }).flatten();
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

    /// The value of its own dictionary for a name.
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

    /// The names of attributes that instances have although they may hold no object for them: a property, or a number that a
    /// class in C keeps as such. Those of bases outside of its line count as its own.
    pub(crate) fn computed(self) -> Vec<String> {
        const OF_LANGUAGE: [&str; 3] = ["__class__", "__dict__", "__weakref__"];
        let held = self.members();
        let mut names = Vec::new();
        for class in std::iter::once(self).chain(self.further_bases()) {
            let Some(space) = class.space() else { continue };
            space.dict_items(|name, value| {
                // SAFETY: of a class: the function that sets such an attribute, or null.
                let is_constant = unsafe { value.class().0.field::<*const u8>(SETS) }.is_null();
                if is_constant || !name.class().has(flags::TEXT) {
                    return;
                }
                let name = name.text();
                if !OF_LANGUAGE.contains(&name.as_str())
                    && held.iter().all(|member| member.name.to_bytes() != name.as_bytes())
                {
                    names.push(name);
                }
            });
        }
        names
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
            let names = names.cast::<*mut ffi::PyObject>();
            (0..count).map_while(|place| from_raw(names.add(2 * place).read())).collect()
        }
    }

    /// The method in C by which instances tell their size, of the nearest class in its line. `descriptor` is the class
    /// of such methods; methods written in Python are not run. `None` if it is that of `object`, which uses two fields.
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

/// A field of instances of a class that holds an object.
#[derive(Clone, Copy)]
pub(crate) struct Member<'s> {
    pub(crate) name: &'s CStr,
    pub(super) offset: usize,
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
pub(crate) struct SizeMethod(pub(super) ffi::PyCFunction);
