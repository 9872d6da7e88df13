//! The family of malloc, as programs call it.

use core::ffi::{c_int, c_void};
use core::ptr;

use crate::counters::{allocated, bytes_if_counted, freed, released};
use crate::next::{self, Function};
use crate::{arena, libc};

/// # Safety
/// As for the function of this name in the library of C, like all that follow.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malloc(size: usize) -> *mut c_void {
    if !next::is_known() {
        return arena::take(size, 1);
    }
    // SAFETY: the caller's promise.
    unsafe { allocated(next::malloc(size)) }
}

/// # Safety
/// See [`malloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    if !next::is_known() {
        return count.checked_mul(size).map_or(ptr::null_mut(), |bytes| arena::take(bytes, 1));
    }
    // SAFETY: the caller's promise.
    unsafe { allocated(next::calloc(count, size)) }
}

/// # Safety
/// See [`malloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn realloc(block: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe { resized(block, size) }
}

/// # Safety
/// See [`malloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reallocarray(block: *mut c_void, count: usize, size: usize) -> *mut c_void {
    match count.checked_mul(size) {
        // SAFETY: the caller's promise.
        Some(size) => unsafe { resized(block, size) },
        None => next::refused(),
    }
}

/// # Safety
/// See [`malloc`].
unsafe fn resized(block: *mut c_void, size: usize) -> *mut c_void {
    if !next::is_known() || arena::holds(block) {
        // SAFETY: the caller's promise.
        return unsafe { moved_from_arena(block, size) };
    }
    // SAFETY: the caller's promise; the size is asked before the block may be gone.
    unsafe {
        let before = bytes_if_counted(block);
        let moved = next::realloc(block, size);
        if !block.is_null() && (!moved.is_null() || size == 0) {
            released(before);
        }
        allocated(moved)
    }
}

/// # Safety
/// As for `realloc`, with a block of the arena, or while functions are looked up.
#[cold]
unsafe fn moved_from_arena(block: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the caller's promise; both blocks have so many bytes.
    unsafe {
        let moved = malloc(size);
        if !moved.is_null() && arena::holds(block) {
            ptr::copy_nonoverlapping(block.cast::<u8>(), moved.cast::<u8>(), arena::bytes(block).min(size));
        }
        moved
    }
}

/// # Safety
/// See [`malloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free(block: *mut c_void) {
    // SAFETY: the caller's promise.
    unsafe { release(block) }
}

/// # Safety
/// See [`malloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cfree(block: *mut c_void) {
    // SAFETY: the caller's promise; old programs call `free` by this name.
    unsafe { release(block) }
}

/// # Safety
/// See [`malloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free_sized(block: *mut c_void, _: usize) {
    // SAFETY: the caller's promise; C defines it as `free` of a block of this size.
    unsafe { release(block) }
}

/// # Safety
/// See [`malloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free_aligned_sized(block: *mut c_void, _: usize, _: usize) {
    // SAFETY: the caller's promise; C defines it as `free` of a block of this alignment and size.
    unsafe { release(block) }
}

/// # Safety
/// See [`malloc`].
#[inline]
unsafe fn release(block: *mut c_void) {
    if !next::is_known() || arena::holds(block) {
        return;
    }
    // SAFETY: the caller's promise.
    unsafe {
        freed(block);
        next::free(block);
    }
}

/// # Safety
/// See [`malloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memalign(alignment: usize, size: usize) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe { aligned(&next::MEMALIGN, alignment, size) }
}

/// # Safety
/// See [`malloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aligned_alloc(alignment: usize, size: usize) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe { aligned(&next::ALIGNED_ALLOC, alignment, size) }
}

/// # Safety
/// See [`malloc`].
unsafe fn aligned(function: &Function, alignment: usize, size: usize) -> *mut c_void {
    if !next::is_known() {
        return arena::take(size, alignment);
    }
    // SAFETY: the caller's promise.
    unsafe { counted(function, next::aligned(function, alignment, size)) }
}

/// # Safety
/// See [`malloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_memalign(place: *mut *mut c_void, alignment: usize, size: usize) -> c_int {
    if !next::is_known() {
        return libc::ENOMEM;
    }
    // SAFETY: the caller's promise; the place has a block if there was no error.
    unsafe {
        let error = next::posix_memalign(place, alignment, size);
        if error == 0 {
            counted(&next::POSIX_MEMALIGN, *place);
        }
        error
    }
}

/// # Safety
/// See [`malloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn valloc(size: usize) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe { paged(&next::VALLOC, size) }
}

/// # Safety
/// See [`malloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvalloc(size: usize) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe { paged(&next::PVALLOC, size) }
}

/// # Safety
/// See [`malloc`].
unsafe fn paged(function: &Function, size: usize) -> *mut c_void {
    if !next::is_known() {
        return next::refused();
    }
    // SAFETY: the caller's promise.
    unsafe { counted(function, next::paged(function, size)) }
}

/// Counts a block if its allocator is that of `malloc`.
///
/// # Safety
/// The block is null or was handed out by this function.
unsafe fn counted(function: &Function, block: *mut c_void) -> *mut c_void {
    // SAFETY: the caller's promise.
    if function.counts() { unsafe { allocated(block) } } else { block }
}
