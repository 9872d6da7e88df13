//! The allocator of the program: what it would call if the shim were not there, function by function.

use core::ffi::{CStr, c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

use crate::libc;

/// A function of the family, with its name.
pub(crate) struct Function {
    pub(crate) name: &'static CStr,
    address: AtomicPtr<c_void>,
    /// Whether its blocks are counted: not those of another allocator than that of `malloc`.
    counts: AtomicBool,
}

impl Function {
    pub(crate) const fn new(name: &'static CStr) -> Self {
        Function { name, address: AtomicPtr::new(ptr::null_mut()), counts: AtomicBool::new(false) }
    }

    /// The address of the function; null if there is none.
    #[inline]
    pub(crate) fn address(&self) -> *mut c_void {
        self.address.load(Ordering::Relaxed)
    }

    /// Looks for it. Null if there is none.
    pub(crate) fn look_up(&self) -> *mut c_void {
        // SAFETY: the name is a C string.
        let address = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        self.address.store(address, Ordering::Relaxed);
        address
    }

    /// Whether its blocks are counted, if any are.
    #[inline]
    pub(crate) fn counts(&self) -> bool {
        self.counts.load(Ordering::Relaxed)
    }

    pub(crate) fn count_if(&self, counts: bool) {
        self.counts.store(counts, Ordering::Relaxed);
    }
}

pub(crate) static MALLOC: Function = Function::new(c"malloc");
pub(crate) static CALLOC: Function = Function::new(c"calloc");
pub(crate) static REALLOC: Function = Function::new(c"realloc");
pub(crate) static FREE: Function = Function::new(c"free");
pub(crate) static USABLE_SIZE: Function = Function::new(c"malloc_usable_size");
pub(crate) static MEMALIGN: Function = Function::new(c"memalign");
pub(crate) static ALIGNED_ALLOC: Function = Function::new(c"aligned_alloc");
pub(crate) static POSIX_MEMALIGN: Function = Function::new(c"posix_memalign");
pub(crate) static VALLOC: Function = Function::new(c"valloc");
pub(crate) static PVALLOC: Function = Function::new(c"pvalloc");

/// Without one allocator that has all of these, nothing is counted.
pub(crate) static NEEDED: [&Function; 5] = [&MALLOC, &CALLOC, &REALLOC, &FREE, &USABLE_SIZE];
pub(crate) static FURTHER: [&Function; 5] = [&MEMALIGN, &ALIGNED_ALLOC, &POSIX_MEMALIGN, &VALLOC, &PVALLOC];

static STATE: AtomicU32 = AtomicU32::new(UNKNOWN);
const UNKNOWN: u32 = 0;
const LOOKING: u32 = 1;
const KNOWN: u32 = 2;

/// Whether the functions are known. They are not while they are looked up, which allocates itself. The first caller is
/// alone: no thread starts without a block.
#[inline]
pub(crate) fn is_known() -> bool {
    STATE.load(Ordering::Acquire) == KNOWN || look_up()
}

#[cold]
fn look_up() -> bool {
    if STATE.swap(LOOKING, Ordering::AcqRel) == LOOKING {
        return false;
    }
    for function in NEEDED.iter().chain(&FURTHER) {
        function.look_up();
    }
    STATE.store(KNOWN, Ordering::Release);
    true
}

/// `malloc` of the program's allocator.
///
/// # Safety
/// As for the function of this name, like all that follow; [`is_known`].
#[inline]
pub(crate) unsafe fn malloc(size: usize) -> *mut c_void {
    // SAFETY: what was looked up by this name has this type, like all that follow.
    unsafe { core::mem::transmute::<_, unsafe extern "C" fn(usize) -> *mut c_void>(MALLOC.address())(size) }
}

/// # Safety
/// See [`malloc`].
#[inline]
pub(crate) unsafe fn calloc(count: usize, size: usize) -> *mut c_void {
    // SAFETY: see `malloc`.
    unsafe {
        core::mem::transmute::<_, unsafe extern "C" fn(usize, usize) -> *mut c_void>(CALLOC.address())(count, size)
    }
}

/// # Safety
/// See [`malloc`].
#[inline]
pub(crate) unsafe fn realloc(block: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: see `malloc`.
    unsafe {
        core::mem::transmute::<_, unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void>(REALLOC.address())(
            block, size,
        )
    }
}

/// # Safety
/// See [`malloc`].
#[inline]
pub(crate) unsafe fn free(block: *mut c_void) {
    // SAFETY: see `malloc`.
    unsafe { core::mem::transmute::<_, unsafe extern "C" fn(*mut c_void)>(FREE.address())(block) }
}

/// # Safety
/// See [`malloc`]. The block is one of the allocator that has `malloc`.
#[inline]
pub(crate) unsafe fn usable_size(block: *mut c_void) -> usize {
    // SAFETY: see `malloc`.
    unsafe { core::mem::transmute::<_, unsafe extern "C" fn(*mut c_void) -> usize>(USABLE_SIZE.address())(block) }
}

/// `memalign` or `aligned_alloc`; null where there is none.
///
/// # Safety
/// See [`malloc`].
pub(crate) unsafe fn aligned(function: &Function, alignment: usize, size: usize) -> *mut c_void {
    let address = function.address();
    if address.is_null() {
        return refused();
    }
    // SAFETY: see `malloc`.
    unsafe { core::mem::transmute::<_, unsafe extern "C" fn(usize, usize) -> *mut c_void>(address)(alignment, size) }
}

/// # Safety
/// See [`malloc`].
pub(crate) unsafe fn posix_memalign(place: *mut *mut c_void, alignment: usize, size: usize) -> c_int {
    let address = POSIX_MEMALIGN.address();
    if address.is_null() {
        return libc::ENOMEM;
    }
    // SAFETY: see `malloc`.
    unsafe {
        core::mem::transmute::<_, unsafe extern "C" fn(*mut *mut c_void, usize, usize) -> c_int>(address)(
            place, alignment, size,
        )
    }
}

/// `valloc` or `pvalloc`; null where there is none.
///
/// # Safety
/// See [`malloc`].
pub(crate) unsafe fn paged(function: &Function, size: usize) -> *mut c_void {
    let address = function.address();
    if address.is_null() {
        return refused();
    }
    // SAFETY: see `malloc`.
    unsafe { core::mem::transmute::<_, unsafe extern "C" fn(usize) -> *mut c_void>(address)(size) }
}

/// Null, as where there is no memory.
pub(crate) fn refused() -> *mut c_void {
    // SAFETY: the place of errno is always there.
    unsafe { *libc::__errno_location() = libc::ENOMEM };
    ptr::null_mut()
}
