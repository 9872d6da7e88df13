//! The library that `barrow trial` loads into the program that it measures (LD_PRELOAD). It
//!
//! - counts what malloc and its relatives hand out, by usable size, in a file that it shares with barrow;
//! - holds blocks on the heap, and one on the stack, that move what the program places there.
//!
//! Each function calls the one that the program would call without the library: that of glibc, of jemalloc, or of whatever
//! allocator is loaded. Where it is not certain that all blocks are seen, none is counted, and the file has the reason.
//! `build.rs` compiles it and puts it into the recorder.
//!
//! The variable `BARROW_TRIAL_SHIM`: `PATH:RUN:SMALL:LARGE:OFFSET:STACK:COUNTS`, the file of counters, which run of the file
//! this is, four numbers of bytes, and 1 if blocks are to be counted. Without it the library does nothing.
//!
//! Reading order: `next` (the functions that it calls), with `arena`, which serves while they are looked up; `verdict` with
//! `objects` (whose they are), `slots` and `counters`, `family` (the functions that programs call), `programs` (those by
//! which they execute others).

#![no_std]

mod arena;
mod counters;
mod family;
mod libc;
mod next;
mod objects;
mod programs;
mod slots;
mod verdict;

use core::ffi::{c_char, c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: abort takes nothing and does not return.
    unsafe { libc::abort() }
}

// Parts of `core` name this function, which is called where a panic unwinds, and nothing unwinds here. It is hidden: programs
// in Rust may have one in a library.
core::arch::global_asm!(".globl rust_eh_personality", ".hidden rust_eh_personality", "rust_eh_personality:", "ret");

/// Registers the functions that run before `main`, once.
#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;

extern "C" fn begin() {
    counters::begin();
}

/// The type of a program's `main`, as glibc calls it.
type Main = unsafe extern "C" fn(c_int, *mut *mut c_char, *mut *mut c_char) -> c_int;
type StartMain =
    unsafe extern "C" fn(Main, c_int, *mut *mut c_char, *mut c_void, *mut c_void, *mut c_void, *mut c_void) -> c_int;

static MAIN: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
static STACK: AtomicUsize = AtomicUsize::new(0);
/// The blocks of the layout, so that no checker of leaks finds them lost.
#[used]
static HELD: [AtomicPtr<c_void>; 3] = [const { AtomicPtr::new(ptr::null_mut()) }; 3];

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
    for (bytes, held) in [blocks.small, blocks.large, blocks.offset].into_iter().zip(&HELD) {
        if bytes > 0 {
            // Kept until the program ends, and not counted. Written to, so that it is really there.
            // SAFETY: malloc may be called with any size; the layout was read after the functions were looked up.
            let block = unsafe { next::malloc(bytes) };
            if !block.is_null() {
                // SAFETY: the block has at least one byte.
                unsafe { block.cast::<u8>().write_volatile(1) };
                held.store(block, Ordering::Relaxed);
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
