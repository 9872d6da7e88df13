//! The functions by which a process executes a program, or starts one.
//!
//! Each calls that of the library of C. A program that loses the shim, because its environment is another one or it loads no
//! library, is known by what it does not write, see `slots`.

use core::ffi::{c_char, c_int, c_void};
use core::mem;

use crate::next::Function;
use crate::{counters, libc, slots};

/// An array that ends with null: words, or an environment.
type Texts = *const *const c_char;

static EXECVE: Function = Function::new(c"execve");
static EXECV: Function = Function::new(c"execv");
static EXECVP: Function = Function::new(c"execvp");
static EXECVPE: Function = Function::new(c"execvpe");
static FEXECVE: Function = Function::new(c"fexecve");
static EXECVEAT: Function = Function::new(c"execveat");
static POSIX_SPAWN: Function = Function::new(c"posix_spawn");
static POSIX_SPAWNP: Function = Function::new(c"posix_spawnp");

/// Calls a function that comes back only if no program was executed.
fn execute(function: &Function, call: impl FnOnce(*mut c_void) -> c_int) -> c_int {
    let address = address(function);
    if address.is_null() {
        return missing();
    }
    let executing = counters::executes();
    let result = call(address);
    executing.inspect(|slot| slots::executes_not(slot));
    result
}

/// Looked up when it is first called: most programs execute none.
fn address(function: &Function) -> *mut c_void {
    let known = function.address();
    if known.is_null() { function.look_up() } else { known }
}

/// A library of C without this function.
fn missing() -> c_int {
    // SAFETY: the place of errno is always there.
    unsafe { *libc::__errno_location() = libc::ENOSYS };
    -1
}

/// # Safety
/// As for the function of this name in the library of C, like all that follow.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn execve(path: *const c_char, words: Texts, environment: Texts) -> c_int {
    type Call = unsafe extern "C" fn(*const c_char, Texts, Texts) -> c_int;
    // SAFETY: what was looked up by this name has this type, like all that follow; the caller's promise.
    execute(&EXECVE, |address| unsafe { mem::transmute::<_, Call>(address)(path, words, environment) })
}

/// # Safety
/// See [`execve`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn execv(path: *const c_char, words: Texts) -> c_int {
    // SAFETY: see `execve`.
    execute(&EXECV, |address| unsafe { mem::transmute::<_, Words>(address)(path, words) })
}

/// # Safety
/// See [`execve`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn execvp(file: *const c_char, words: Texts) -> c_int {
    // SAFETY: see `execve`.
    execute(&EXECVP, |address| unsafe { mem::transmute::<_, Words>(address)(file, words) })
}

type Words = unsafe extern "C" fn(*const c_char, Texts) -> c_int;

/// # Safety
/// See [`execve`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn execvpe(file: *const c_char, words: Texts, environment: Texts) -> c_int {
    type Call = unsafe extern "C" fn(*const c_char, Texts, Texts) -> c_int;
    // SAFETY: see `execve`.
    execute(&EXECVPE, |address| unsafe { mem::transmute::<_, Call>(address)(file, words, environment) })
}

/// # Safety
/// See [`execve`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fexecve(file: c_int, words: Texts, environment: Texts) -> c_int {
    type Call = unsafe extern "C" fn(c_int, Texts, Texts) -> c_int;
    // SAFETY: see `execve`.
    execute(&FEXECVE, |address| unsafe { mem::transmute::<_, Call>(address)(file, words, environment) })
}

/// # Safety
/// See [`execve`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn execveat(
    folder: c_int,
    path: *const c_char,
    words: Texts,
    environment: Texts,
    flags: c_int,
) -> c_int {
    type Call = unsafe extern "C" fn(c_int, *const c_char, Texts, Texts, c_int) -> c_int;
    let call = |address| {
        // SAFETY: see `execve`.
        unsafe { mem::transmute::<*mut c_void, Call>(address)(folder, path, words, environment, flags) }
    };
    execute(&EXECVEAT, call)
}

/// Arguments of `posix_spawn` that are handed on: actions on files, and attributes.
type Handed = *const c_void;
type Spawn = unsafe extern "C" fn(*mut c_int, *const c_char, Handed, Handed, Texts, Texts) -> c_int;

/// # Safety
/// See [`execve`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_spawn(
    place: *mut c_int,
    path: *const c_char,
    actions: Handed,
    attributes: Handed,
    words: Texts,
    environment: Texts,
) -> c_int {
    let call = |spawn: Spawn, process| {
        // SAFETY: the caller's promise; `spawn` has a place for the number.
        unsafe { spawn(process, path, actions, attributes, words, environment) }
    };
    // SAFETY: the caller's promise.
    unsafe { spawn(&POSIX_SPAWN, place, call) }
}

/// # Safety
/// See [`execve`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_spawnp(
    place: *mut c_int,
    file: *const c_char,
    actions: Handed,
    attributes: Handed,
    words: Texts,
    environment: Texts,
) -> c_int {
    let call = |spawn: Spawn, process| {
        // SAFETY: the caller's promise; `spawn` has a place for the number.
        unsafe { spawn(process, file, actions, attributes, words, environment) }
    };
    // SAFETY: the caller's promise.
    unsafe { spawn(&POSIX_SPAWNP, place, call) }
}

/// # Safety
/// The place is null or can be written to.
unsafe fn spawn(function: &Function, place: *mut c_int, call: impl FnOnce(Spawn, *mut c_int) -> c_int) -> c_int {
    let address = address(function);
    if address.is_null() {
        return libc::ENOSYS;
    }
    let mut process = 0;
    // SAFETY: what was looked up by this name has this type.
    let error = call(unsafe { mem::transmute::<*mut c_void, Spawn>(address) }, &raw mut process);
    if error == 0 {
        counters::started(process as u64);
        if !place.is_null() {
            // SAFETY: the caller's promise.
            unsafe { place.write(process) };
        }
    }
    error
}

/// Defines a function whose words are its own arguments, after a path: they are put together in memory, where those that are
/// on the stack follow those of registers, and handed to another function with the path.
macro_rules! listed {
    ($name:ident, $to:path) => {
        /// # Safety
        /// See [`execve`].
        #[cfg(target_arch = "x86_64")]
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                // In place of the address to return to, which is kept below.
                "pop rax",
                "push r9",
                "push r8",
                "push rcx",
                "push rdx",
                "push rsi",
                "mov rsi, rsp",
                "push rax",
                "call {to}",
                "pop rcx",
                "add rsp, 40",
                "jmp rcx",
                to = sym $to,
            )
        }

        /// # Safety
        /// See [`execve`].
        #[cfg(target_arch = "aarch64")]
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                "stp x29, x30, [sp, #-80]!",
                "str x1, [sp, #24]",
                "stp x2, x3, [sp, #32]",
                "stp x4, x5, [sp, #48]",
                "stp x6, x7, [sp, #64]",
                "add x1, sp, #24",
                "bl {to}",
                "ldp x29, x30, [sp], #80",
                "ret",
                to = sym $to,
            )
        }
    };
}

listed!(execl, execv);
listed!(execlp, execvp);
listed!(execle, with_environment_after_words);

/// # Safety
/// See [`execve`]. An environment follows the null after the words.
unsafe extern "C" fn with_environment_after_words(path: *const c_char, words: Texts) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        let mut end = words;
        while !(*end).is_null() {
            end = end.add(1);
        }
        execve(path, words, (*end.add(1)).cast())
    }
}
