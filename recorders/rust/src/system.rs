//! Calls of the C library: the environment, threads, exit and fork.
//!
//! Unsafe code is needed here for those calls. The standard library's own are not used where it may not be there yet, or not
//! any more: in the first allocation of a process, and at its exit.

use std::ffi::{CStr, c_void};

/// A variable of the environment.
pub(crate) fn variable(name: &CStr) -> Option<String> {
    // SAFETY: the name ends with a zero; nothing changes the environment in the first allocation of a process.
    let value = unsafe { libc::getenv(name.as_ptr()) };
    if value.is_null() {
        return None;
    }
    // SAFETY: it is not null, and ends with a zero.
    let value = unsafe { CStr::from_ptr(value) };
    Some(value.to_string_lossy().into_owned()).filter(|value| !value.is_empty())
}

/// Calls `last` when the process exits.
pub(crate) fn at_exit(last: extern "C" fn()) {
    // SAFETY: the function is there as long as the process.
    unsafe { libc::atexit(last) };
}

/// Calls `first` in every process that is forked from this one.
pub(crate) fn in_children(first: extern "C" fn()) {
    // SAFETY: the function is there as long as the process, and only stores into an atomic.
    unsafe { libc::pthread_atfork(None, None, Some(first)) };
}

/// Runs a function in a thread of its own. Whether there is one now.
pub(crate) fn in_a_thread(run: extern "C" fn(*mut c_void) -> *mut c_void) -> bool {
    let mut thread = std::mem::MaybeUninit::<libc::pthread_t>::uninit();
    // SAFETY: the thread's number goes to our variable; the function takes no argument.
    if unsafe { libc::pthread_create(thread.as_mut_ptr(), std::ptr::null(), run, std::ptr::null_mut()) } != 0 {
        return false;
    }
    // SAFETY: the thread was made just now, and nothing joins it.
    unsafe { libc::pthread_detach(thread.assume_init()) };
    true
}
