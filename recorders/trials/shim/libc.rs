//! The functions of the C library that the shim calls.

use core::ffi::{c_char, c_int, c_long, c_void};

/// The definition after the shim in the order of search, and the first of all.
pub(crate) const RTLD_NEXT: *mut c_void = -1_isize as *mut c_void;
pub(crate) const RTLD_DEFAULT: *mut c_void = core::ptr::null_mut();
pub(crate) const ENOMEM: c_int = 12;
pub(crate) const ENOSYS: c_int = 38;
pub(crate) const O_RDWR: c_int = 2;
pub(crate) const O_CLOEXEC: c_int = 0o2_000_000;
pub(crate) const PROT_READ_WRITE: c_int = 3;
pub(crate) const MAP_SHARED: c_int = 1;
pub(crate) const MAP_FAILED: *mut c_void = -1_isize as *mut c_void;

unsafe extern "C" {
    pub(crate) static environ: *const *const c_char;
    pub(crate) fn abort() -> !;
    pub(crate) fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    pub(crate) fn dl_iterate_phdr(
        callback: unsafe extern "C" fn(*const ObjectInfo, usize, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
    pub(crate) fn getenv(name: *const c_char) -> *const c_char;
    pub(crate) fn open(path: *const c_char, flags: c_int, ...) -> c_int;
    pub(crate) fn close(file: c_int) -> c_int;
    pub(crate) fn mmap(
        at: *mut c_void,
        length: usize,
        protection: c_int,
        flags: c_int,
        file: c_int,
        offset: c_long,
    ) -> *mut c_void;
    pub(crate) fn getpid() -> c_int;
    pub(crate) fn pthread_atfork(
        before: Option<unsafe extern "C" fn()>,
        in_parent: Option<unsafe extern "C" fn()>,
        in_child: Option<unsafe extern "C" fn()>,
    ) -> c_int;
    pub(crate) fn __errno_location() -> *mut c_int;
}

/// The beginning of `dl_phdr_info`: a loaded object.
#[repr(C)]
pub(crate) struct ObjectInfo {
    pub(crate) base: usize,
    pub(crate) name: *const c_char,
    pub(crate) segments: *const Segment,
    pub(crate) segment_count: u16,
}

/// `Elf64_Phdr`.
#[repr(C)]
pub(crate) struct Segment {
    pub(crate) kind: u32,
    pub(crate) flags: u32,
    pub(crate) offset: u64,
    pub(crate) address: usize,
    pub(crate) physical: usize,
    pub(crate) file_bytes: usize,
    pub(crate) memory_bytes: usize,
    pub(crate) alignment: u64,
}

/// `Elf64_Dyn`.
#[repr(C)]
pub(crate) struct Dynamic {
    pub(crate) tag: i64,
    pub(crate) value: usize,
}

/// `Elf64_Sym`.
#[repr(C)]
pub(crate) struct Symbol {
    pub(crate) name: u32,
    pub(crate) info: u8,
    pub(crate) other: u8,
    pub(crate) section: u16,
    pub(crate) value: u64,
    pub(crate) bytes: u64,
}

/// `Elf64_Rela`.
#[repr(C)]
pub(crate) struct Relocation {
    pub(crate) offset: u64,
    pub(crate) info: u64,
    pub(crate) addend: i64,
}

/// Kinds of segments, tags of the dynamic section.
pub(crate) const PT_LOAD: u32 = 1;
pub(crate) const PT_DYNAMIC: u32 = 2;
pub(crate) const PT_NOTE: u32 = 4;
pub(crate) const DT_NULL: i64 = 0;
pub(crate) const DT_PLTRELSZ: i64 = 2;
pub(crate) const DT_STRTAB: i64 = 5;
pub(crate) const DT_SYMTAB: i64 = 6;
pub(crate) const DT_RELA: i64 = 7;
pub(crate) const DT_RELASZ: i64 = 8;
pub(crate) const DT_JMPREL: i64 = 23;
