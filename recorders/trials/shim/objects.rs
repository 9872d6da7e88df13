//! The objects that the loader has loaded: where each lies, and what it calls in others.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;
use core::slice;

use crate::libc::{self, Dynamic, ObjectInfo, PT_DYNAMIC, PT_LOAD, PT_NOTE, Relocation, Segment, Symbol};

/// Functions of allocators that hand out or take blocks and are no part of the family of malloc.
const OTHERS: [&[u8]; 8] =
    [b"mallocx", b"rallocx", b"xallocx", b"dallocx", b"sdallocx", b"smallocx", b"reallocf", b"reallocarr"];
/// Prefixes of the names of allocators' own functions.
const PREFIXES: [&[u8]; 3] = [b"je_", b"mi_", b"tc_"];
/// The prefix of C++ names.
const CPP: &[u8] = b"_Z";
/// Objects that have the operators themselves, or only hand them on.
const LIBRARIES_OF_CPP: [&[u8]; 3] = [b"libstdc++.so", b"libc++.so", b"libc++abi.so"];

/// The bytes after the size of the contents in Go's note: kind 4, its name.
const GO_NOTE: [u8; 8] = *b"\x04\0\0\0Go\0\0";

/// A loaded object; one that is nowhere holds nothing.
#[derive(Clone, Copy)]
pub(crate) struct Object {
    base: usize,
    name: *const c_char,
    segments: *const Segment,
    segment_count: u16,
}

/// A search for the object that contains an address.
struct Search {
    address: *const c_void,
    found: Object,
}

impl Object {
    pub(crate) const NOWHERE: Object = Object { base: 0, name: ptr::null(), segments: ptr::null(), segment_count: 0 };

    /// The object that an address lies in.
    pub(crate) fn of(address: *const c_void) -> Self {
        let mut search = Search { address, found: Object::NOWHERE };
        // SAFETY: the callback gets the search, which is there until the call ends.
        unsafe { libc::dl_iterate_phdr(find, (&raw mut search).cast()) };
        search.found
    }

    /// Whether both are the same.
    pub(crate) fn is(&self, other: &Object) -> bool {
        self.base == other.base && self.segments == other.segments
    }

    /// Whether an address lies in it.
    pub(crate) fn holds(&self, address: *const c_void) -> bool {
        let address = address as usize;
        self.segments().iter().any(|segment| {
            segment.kind == PT_LOAD && address.wrapping_sub(self.base + segment.address) < segment.memory_bytes
        })
    }

    /// The name of its file without folders; nothing for the program itself.
    pub(crate) fn file_name(&self) -> &'static [u8] {
        if self.name.is_null() {
            return b"";
        }
        // SAFETY: the loader's names end with a zero. What is loaded with the program is never unloaded.
        let name = unsafe { CStr::from_ptr(self.name) }.to_bytes();
        name.rsplit(|&byte| byte == b'/').next().unwrap_or(name)
    }

    fn segments(&self) -> &[Segment] {
        if self.segments.is_null() {
            return &[];
        }
        // SAFETY: the loader keeps the headers of what it has loaded.
        unsafe { slice::from_raw_parts(self.segments, self.segment_count.into()) }
    }

    /// Whether it calls a function of such a name that another object has.
    pub(crate) fn calls(&self, is_wanted: impl Fn(&[u8]) -> bool) -> bool {
        let Some(dynamic) = self.segments().iter().find(|segment| segment.kind == PT_DYNAMIC) else { return false };
        let of = |tag: i64| {
            let mut entry = (self.base + dynamic.address) as *const Dynamic;
            // SAFETY: the section ends with an entry without tag.
            unsafe {
                while (*entry).tag != libc::DT_NULL && (*entry).tag != tag {
                    entry = entry.add(1);
                }
                if (*entry).tag == tag { (*entry).value } else { 0 }
            }
        };
        let (texts, symbols) = (self.absolute(of(libc::DT_STRTAB)), self.absolute(of(libc::DT_SYMTAB)));
        let tables = [(libc::DT_JMPREL, libc::DT_PLTRELSZ), (libc::DT_RELA, libc::DT_RELASZ)];
        tables.iter().any(|&(table, bytes)| {
            let (table, bytes) = (self.absolute(of(table)), of(bytes));
            (0..bytes / size_of::<Relocation>()).any(|at| {
                // SAFETY: the loader has read these tables, which lie in the object: so many relocations, the symbols that
                // they are of, and their names, which end with a zero.
                unsafe {
                    let number = ((*(table as *const Relocation).add(at)).info >> 32) as usize;
                    let symbol = &*(symbols as *const Symbol).add(number);
                    let name = CStr::from_ptr((texts as *const c_char).add(symbol.name as usize));
                    number != 0 && symbol.section == 0 && is_wanted(name.to_bytes())
                }
            })
        })
    }

    /// The loader has made addresses of tables absolute, except where it cannot write: these are counted from the base.
    fn absolute(&self, address: usize) -> usize {
        if address < self.base { self.base + address } else { address }
    }
}

unsafe extern "C" fn find(info: *const ObjectInfo, _: usize, search: *mut c_void) -> c_int {
    // SAFETY: the loader hands out an object, `Object::of` its search.
    let (object, search) = unsafe { (Object::from(&*info), &mut *search.cast::<Search>()) };
    if !object.holds(search.address) {
        return 0;
    }
    search.found = object;
    1
}

impl From<&ObjectInfo> for Object {
    fn from(info: &ObjectInfo) -> Self {
        Object { base: info.base, name: info.name, segments: info.segments, segment_count: info.segment_count }
    }
}

/// The allocator whose callers are looked for.
struct Callers {
    /// The base addresses of the allocator and the shim.
    excluded: [usize; 2],
    /// It has the operators of C++.
    has_operators: bool,
}

/// Whether some object allocates through functions of the allocator that are no part of the family of malloc: those of its
/// own, or the operators of C++ if it has them. Their blocks are not seen.
pub(crate) fn allocate_past_the_family(allocator: &Object, own: &Object) -> bool {
    // SAFETY: the name is a C string; the callback gets what is there until the call ends.
    unsafe {
        let operator = libc::dlsym(libc::RTLD_NEXT, c"_Znwm".as_ptr());
        let has_operators = allocator.holds(operator);
        let mut callers = Callers { excluded: [allocator.base, own.base], has_operators };
        libc::dl_iterate_phdr(look_at, (&raw mut callers).cast()) != 0
    }
}

unsafe extern "C" fn look_at(info: *const ObjectInfo, _: usize, callers: *mut c_void) -> c_int {
    // SAFETY: the loader hands out an object, `allocate_past_the_family` what it looks for.
    let (object, callers) = unsafe { (Object::from(&*info), &*callers.cast::<Callers>()) };
    let name = object.file_name();
    if callers.excluded.contains(&object.base) || LIBRARIES_OF_CPP.iter().any(|library| name.starts_with(library)) {
        return 0;
    }
    let is_past = |name: &[u8]| {
        let is_own = OTHERS.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        is_own || callers.has_operators && name.starts_with(CPP)
    };
    object.calls(is_past).into()
}

/// Whether the program itself is one of Go, as its linker notes it.
pub(crate) fn is_of_go() -> bool {
    // SAFETY: the callback needs nothing.
    unsafe { libc::dl_iterate_phdr(has_note_of_go, ptr::null_mut()) == NOTED }
}

/// Results that end the search at the first object, which is the program: with a note of Go, and without one.
const NOTED: c_int = 1;
const NOT_NOTED: c_int = 2;

unsafe extern "C" fn has_note_of_go(info: *const ObjectInfo, _: usize, _: *mut c_void) -> c_int {
    // SAFETY: the loader hands out an object.
    let program = unsafe { Object::from(&*info) };
    let is_noted = program.segments().iter().filter(|segment| segment.kind == PT_NOTE).any(|segment| {
        // SAFETY: notes are mapped with the program: the sizes of name and contents, a kind, the name, the contents.
        unsafe { slice::from_raw_parts((program.base + segment.address) as *const u8, segment.memory_bytes) }
            .windows(GO_NOTE.len())
            .any(|bytes| bytes == GO_NOTE)
    });
    if is_noted { NOTED } else { NOT_NOTED }
}
