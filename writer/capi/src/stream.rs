//! A stream implemented by a function of the program.

use std::cell::Cell;
use std::ffi::c_void;
use std::io::{Error, Write};

use crate::codes::Failure;

/// Writes all of `length` bytes. Returns 0, or the `errno` of the failure; nothing more is written then.
pub type WriteFunction = Option<unsafe extern "C" fn(context: *mut c_void, bytes: *const u8, length: usize) -> i32>;

/// Flushes the written bytes, after each commit and at the end. Returns like a `barrow_write_function`.
pub type FlushFunction = Option<unsafe extern "C" fn(context: *mut c_void) -> i32>;

/// The program's functions, and their context.
pub(crate) struct Stream {
    write: unsafe extern "C" fn(*mut c_void, *const u8, usize) -> i32,
    flush: FlushFunction,
    context: *mut c_void,
}

// SAFETY: the contract of a stream says that its functions may be called from any thread.
unsafe impl Send for Stream {}

impl Stream {
    /// # Safety
    /// Both functions may be called with `context` from any thread, one call at a time, for as long as the
    /// stream lives, and return to where they were called.
    pub(crate) unsafe fn new(
        write: WriteFunction,
        flush: FlushFunction,
        context: *mut c_void,
    ) -> Result<Self, Failure> {
        Ok(Stream { write: write.ok_or_else(|| Failure::null("write"))?, flush, context })
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        // SAFETY: as promised to `new`; the stream is not shared, so that calls come one at a time.
        let errno = inside(|| unsafe { (self.write)(self.context, bytes.as_ptr(), bytes.len()) });
        if errno == 0 { Ok(bytes.len()) } else { Err(Error::from_raw_os_error(errno)) }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        let Some(flush) = self.flush else { return Ok(()) };
        // SAFETY: as above.
        let errno = inside(|| unsafe { flush(self.context) });
        if errno == 0 { Ok(()) } else { Err(Error::from_raw_os_error(errno)) }
    }
}

thread_local! {
    static IS_INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether this thread is inside a function of the program: calling the writer from there would deadlock, since
/// locks are held until the function returns.
pub(crate) fn is_inside() -> bool {
    IS_INSIDE.get()
}

fn inside(work: impl FnOnce() -> i32) -> i32 {
    IS_INSIDE.set(true);
    let errno = work();
    IS_INSIDE.set(false);
    errno
}
