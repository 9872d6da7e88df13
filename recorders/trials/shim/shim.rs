//! The library that `barrow trial` loads into the program that it measures (LD_PRELOAD). It
//!
//! - counts what malloc and its relatives hand out, by usable size, in a file that it shares with barrow;
//! - holds blocks on the heap, and one on the stack, that move what the program places there.
//!
//! It does nothing unless `BARROW_TRIAL_SHIM` says so. It needs glibc, whose allocator it calls by the names that glibc
//! exports for this. `build.rs` compiles it and puts it into the recorder.
//!
//! The variable: `PATH:RUN:SMALL:LARGE:OFFSET:STACK`, the file of counters, or nothing before the first colon, which run of
//! the file this is, and four numbers of bytes.

#![no_std]

mod counters;
mod libc;

use core::ffi::{c_char, c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use counters::{allocated, freed};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: abort takes nothing and does not return.
    unsafe { libc::abort() }
}

/// Registers the functions that run before `main`, once.
#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;

extern "C" fn begin() {
    counters::begin();
}

/// What glibc calls a program's `main`.
type Main = unsafe extern "C" fn(c_int, *mut *mut c_char, *mut *mut c_char) -> c_int;
type StartMain = unsafe extern "C" fn(
    Main,
    c_int,
    *mut *mut c_char,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    *mut c_void,
) -> c_int;

static MAIN: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
static STACK: AtomicUsize = AtomicUsize::new(0);

/// Starts the program with the blocks of its layout.
///
/// # Safety
/// As for glibc's function, which the start of every program calls.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __libc_start_main(
    main: Main,
    count: c_int,
    words: *mut *mut c_char,
    init: *mut c_void,
    fini: *mut c_void,
    of_loader: *mut c_void,
    stack_end: *mut c_void,
) -> c_int {
    // SAFETY: the name is a C string; what is found has this type.
    let start = unsafe { libc::dlsym(libc::RTLD_NEXT, c"__libc_start_main".as_ptr()) };
    if start.is_null() {
        // SAFETY: abort takes nothing.
        unsafe { libc::abort() }
    }
    // SAFETY: glibc's function of this name has this type.
    let start: StartMain = unsafe { core::mem::transmute(start) };
    let blocks = counters::layout();
    for bytes in [blocks.small, blocks.large, blocks.offset] {
        if bytes > 0 {
            // Kept until the program ends, and not counted. Written to, so that it is really there.
            // SAFETY: malloc may be called with any size.
            let block = unsafe { libc::__libc_malloc(bytes) };
            if !block.is_null() {
                // SAFETY: the block has at least one byte.
                unsafe { block.cast::<u8>().write_volatile(1) };
            }
        }
    }
    if blocks.stack == 0 {
        // SAFETY: the caller's promise.
        return unsafe { start(main, count, words, init, fini, of_loader, stack_end) };
    }
    STACK.store(blocks.stack & !15, Ordering::Relaxed);
    MAIN.store(main as *mut c_void, Ordering::Relaxed);
    // SAFETY: the caller's promise; `lower` calls the same main.
    unsafe { start(lower, count, words, init, fini, of_loader, stack_end) }
}

/// Calls `main` with the stack lower by the block of the layout.
///
/// # Safety
/// As for `main`.
unsafe extern "C" fn lower(count: c_int, words: *mut *mut c_char, environment: *mut *mut c_char) -> c_int {
    let (main, bytes) = (MAIN.load(Ordering::Relaxed), STACK.load(Ordering::Relaxed));
    let result: c_int;
    // SAFETY: the amount is a multiple of 16, so that the stack stays aligned; it is put back after the call, and the
    // register that keeps the amount is preserved by it. The function has a frame pointer, so that the stack can be unwound.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        core::arch::asm!(
            "sub rsp, r12",
            "call {main}",
            "add rsp, r12",
            main = in(reg) main,
            in("r12") bytes,
            in("edi") count,
            in("rsi") words,
            in("rdx") environment,
            lateout("eax") result,
            clobber_abi("C"),
        );
    }
    // SAFETY: as above.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        core::arch::asm!(
            "sub sp, sp, x20",
            "blr {main}",
            "add sp, sp, x20",
            main = in(reg) main,
            in("x20") bytes,
            inlateout("w0") count => result,
            in("x1") words,
            in("x2") environment,
            clobber_abi("C"),
        );
    }
    // Other processors have no block on the stack; barrow does not ask for one there.
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        let _ = bytes;
        // SAFETY: it is the program's main.
        let main: Main = unsafe { core::mem::transmute(main) };
        // SAFETY: the caller's promise.
        result = unsafe { main(count, words, environment) };
    }
    result
}

/// # Safety
/// As for glibc's function of this name, like all that follow.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malloc(size: usize) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe { allocated(libc::__libc_malloc(size)) }
}

/// # Safety
/// See [`malloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe { allocated(libc::__libc_calloc(count, size)) }
}

/// # Safety
/// See [`malloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn realloc(block: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the caller's promise; the size is asked before the block may be gone.
    unsafe {
        let before = if block.is_null() { 0 } else { libc::malloc_usable_size(block) };
        let moved = libc::__libc_realloc(block, size);
        if !block.is_null() && (!moved.is_null() || size == 0) {
            counters::released(before);
        }
        allocated(moved)
    }
}

/// # Safety
/// See [`malloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reallocarray(block: *mut c_void, count: usize, size: usize) -> *mut c_void {
    match count.checked_mul(size) {
        // SAFETY: the caller's promise.
        Some(size) => unsafe { realloc(block, size) },
        None => {
            // SAFETY: the place of errno is always there.
            unsafe { *libc::__errno_location() = libc::ENOMEM };
            ptr::null_mut()
        }
    }
}

/// # Safety
/// See [`malloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free(block: *mut c_void) {
    // SAFETY: the caller's promise.
    unsafe {
        freed(block);
        libc::__libc_free(block);
    }
}

/// # Safety
/// See [`malloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memalign(alignment: usize, size: usize) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe { allocated(libc::__libc_memalign(alignment, size)) }
}

/// # Safety
/// See [`malloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aligned_alloc(alignment: usize, size: usize) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe { memalign(alignment, size) }
}

/// # Safety
/// See [`malloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_memalign(place: *mut *mut c_void, alignment: usize, size: usize) -> c_int {
    if !alignment.is_power_of_two() || !alignment.is_multiple_of(size_of::<*mut c_void>()) {
        return libc::EINVAL;
    }
    // SAFETY: the caller's promise.
    unsafe {
        let block = memalign(alignment, size);
        if block.is_null() {
            return libc::ENOMEM;
        }
        *place = block;
    }
    0
}

/// # Safety
/// See [`malloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn valloc(size: usize) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe { allocated(libc::__libc_valloc(size)) }
}

/// # Safety
/// See [`malloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvalloc(size: usize) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe { allocated(libc::__libc_pvalloc(size)) }
}
