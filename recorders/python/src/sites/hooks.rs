//! The functions that the interpreter calls in place of its allocator's, and how they come and go.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::Ordering;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use super::{Function, Mode, SITES, Sites};
use crate::interpreter::{layout, needed};

/// `PYMEM_DOMAIN_OBJ`.
const OBJECTS: c_int = 2;

/// `PyMemAllocatorEx`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Allocator {
    context: *mut c_void,
    malloc: unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void,
    calloc: unsafe extern "C" fn(*mut c_void, usize, usize) -> *mut c_void,
    realloc: unsafe extern "C" fn(*mut c_void, *mut c_void, usize) -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void, *mut c_void),
}

type GetSetAllocator = unsafe extern "C" fn(c_int, *mut Allocator);

/// Whether blocks lie in pools as they do in the interpreter's own allocator: of all that are in use, it alone gives 16 bytes
/// for 16 bytes.
pub(super) fn check_pools(py: Python<'_>) -> PyResult<()> {
    let made = py.eval(c"[object() for _ in range(4096)]", None, None)?;
    let mut objects = Vec::new();
    for object in made.try_iter()? {
        objects.push(object?.as_ptr() as u64);
    }
    objects.sort_unstable();
    let pool = (1_u64 << layout().pool_bits) - 1;
    let in_pools = objects.iter().all(|address| (address & pool) >= 48 && address.is_multiple_of(16));
    if in_pools && objects.windows(2).any(|pair| pair[1] - pair[0] == 16) {
        return Ok(());
    }
    Err(PyRuntimeError::new_err("allocation sites need the interpreter's own allocator (PYTHONMALLOC says another)"))
}

/// The current allocator of objects.
///
/// # Safety
/// The caller has the global lock.
pub(super) unsafe fn allocator() -> PyResult<Allocator> {
    let mut current = std::mem::MaybeUninit::uninit();
    // SAFETY: the function has this type in every version, and fills what it is given.
    unsafe {
        std::mem::transmute::<Function, GetSetAllocator>(needed(c"PyMem_GetAllocator")?)(OBJECTS, current.as_mut_ptr());
        Ok(current.assume_init())
    }
}

/// Puts the hooks in front of what allocates objects now. They use [`SITES`].
///
/// # Safety
/// The caller has the global lock; `sites` is what [`SITES`] has.
pub(super) unsafe fn put_before(sites: *mut Sites) -> PyResult<()> {
    // SAFETY: as the caller says.
    unsafe {
        let below = allocator()?;
        (*sites).below = below;
        // The hooks need no context. If what is below needs none either, it can free by itself, as most blocks that are
        // freed need no attention; see `Blocks::keep`.
        let free = if below.context.is_null() { below.free } else { free };
        set_allocator(match (*sites).mode {
            Mode::Light | Mode::Full => Allocator { context: null_mut(), malloc, calloc, realloc, free },
            Mode::Sample(_) => {
                Allocator { context: null_mut(), malloc: malloc_some, calloc: calloc_some, realloc, free }
            }
        })
    }
}

/// Takes the hooks away, if nothing else was put in front of them. Returns whether that was so.
///
/// # Safety
/// The caller has the global lock; `sites` is what [`SITES`] has.
pub(super) unsafe fn take_away(sites: *mut Sites) -> bool {
    type Malloc = unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void;
    let ours: [Malloc; 2] = [malloc, malloc_some];
    let is_ours = |current: Allocator| ours.iter().any(|&ours| std::ptr::fn_addr_eq(current.malloc, ours));
    // SAFETY: as the caller says.
    unsafe { allocator().is_ok_and(is_ours) && set_allocator((*sites).below).is_ok() }
}

/// # Safety
/// The caller has the global lock, and the functions do what their names say.
unsafe fn set_allocator(mut new: Allocator) -> PyResult<()> {
    // SAFETY: the function has this type in every version, and copies what it is given.
    unsafe {
        std::mem::transmute::<Function, GetSetAllocator>(needed(c"PyMem_SetAllocator")?)(OBJECTS, &raw mut new);
    }
    Ok(())
}

// The interpreter calls these with the global lock held, and `SITES` is there before they are.

unsafe extern "C" fn malloc(_context: *mut c_void, bytes: usize) -> *mut c_void {
    // SAFETY: as above.
    unsafe {
        let sites = &mut *SITES.load(Ordering::Relaxed);
        let block = (sites.below.malloc)(sites.below.context, bytes);
        sites.note(block as u64, bytes);
        block
    }
}

unsafe extern "C" fn calloc(_context: *mut c_void, count: usize, bytes: usize) -> *mut c_void {
    // SAFETY: as above.
    unsafe {
        let sites = &mut *SITES.load(Ordering::Relaxed);
        let block = (sites.below.calloc)(sites.below.context, count, bytes);
        sites.note(block as u64, count.saturating_mul(bytes));
        block
    }
}

/// `malloc` when sampling is on.
unsafe extern "C" fn malloc_some(_context: *mut c_void, bytes: usize) -> *mut c_void {
    // SAFETY: as above.
    unsafe {
        let sites = &mut *SITES.load(Ordering::Relaxed);
        if sites.passes(bytes) {
            return (sites.below.malloc)(sites.below.context, bytes);
        }
        malloc_sample(sites, bytes)
    }
}

/// Apart, so that most calls need no room on the stack.
///
/// # Safety
/// As above.
#[cold]
#[inline(never)]
unsafe fn malloc_sample(sites: &mut Sites, bytes: usize) -> *mut c_void {
    // SAFETY: as above.
    unsafe {
        let block = (sites.below.malloc)(sites.below.context, sites.sampled_bytes(bytes));
        sites.note_sample(block as u64, bytes);
        block
    }
}

/// `calloc` when sampling is on.
unsafe extern "C" fn calloc_some(_context: *mut c_void, count: usize, bytes: usize) -> *mut c_void {
    // SAFETY: as above.
    unsafe {
        let sites = &mut *SITES.load(Ordering::Relaxed);
        let all = count.saturating_mul(bytes);
        if sites.passes(all) {
            return (sites.below.calloc)(sites.below.context, count, bytes);
        }
        let block = (sites.below.calloc)(sites.below.context, 1, sites.sampled_bytes(all));
        sites.note_sample(block as u64, all);
        block
    }
}

unsafe extern "C" fn realloc(_context: *mut c_void, old: *mut c_void, bytes: usize) -> *mut c_void {
    // SAFETY: as above.
    unsafe {
        let sites = &mut *SITES.load(Ordering::Relaxed);
        let block = (sites.below.realloc)(sites.below.context, old, bytes);
        // A block that does not move keeps its site.
        if block != old && !block.is_null() {
            sites.note_moved(old as u64, block as u64, bytes);
        }
        block
    }
}

unsafe extern "C" fn free(_context: *mut c_void, block: *mut c_void) {
    // SAFETY: as above.
    unsafe {
        let sites = &mut *SITES.load(Ordering::Relaxed);
        sites.blocks.remove(block as u64);
        (sites.below.free)(sites.below.context, block);
    }
}
