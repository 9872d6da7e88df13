//! The chain of calls that led here, as return addresses, the innermost first.
//!
//! Where code keeps frame pointers (`-C force-frame-pointers=yes`), frames are a linked list on the stack:
//!
//! ```text
//!   frame pointer ─▶ ┌ frame pointer of the caller ─▶ ┌ … ─▶ ┌
//!                    └ return address                 └ …    └ …        towards the bottom of the stack
//! ```
//!
//! Following it takes about a nanosecond a frame. Otherwise the unwinder of the C compiler's library reads the
//! program's tables: about a hundred times slower.
//!
//! Unsafe code is needed here to read the stack and to call that unwinder.

use std::ffi::{c_int, c_void};

/// The most frames that are ever looked at.
pub(crate) const MAX_DEPTH: usize = 256;

/// The bounds of the calling thread's stack.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Bounds {
    /// Its lowest address.
    low: usize,
    /// The end of the stack (exclusive); 0 if it is unknown.
    high: usize,
}

impl Bounds {
    /// Nothing is known of the stack.
    pub(crate) const NONE: Bounds = Bounds { low: 0, high: 0 };

    /// Those of the calling thread.
    pub(crate) fn of_this_thread() -> Self {
        let mut attributes = std::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
        let (mut low, mut length) = (std::ptr::null_mut::<c_void>(), 0usize);
        // SAFETY: the calling thread exists; its attributes are written to our variable.
        if unsafe { libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) } != 0 {
            return Bounds::default();
        }
        // SAFETY: the attributes were filled by the call above, and both results go to our variables.
        let found = unsafe { libc::pthread_attr_getstack(attributes.as_ptr(), &raw mut low, &raw mut length) } == 0;
        // SAFETY: the attributes were filled, and are not used again.
        unsafe { libc::pthread_attr_destroy(attributes.as_mut_ptr()) };
        if found { Bounds { low: low as usize, high: low as usize + length } } else { Bounds::default() }
    }
}

/// The frame pointer of the function that this is inlined into.
#[inline(always)]
pub(crate) fn frame_pointer() -> usize {
    let frame: usize;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a register is read, nothing else happens.
    unsafe {
        std::arch::asm!("mov {}, rbp", out(reg) frame, options(nomem, nostack, preserves_flags));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a register is read, nothing else happens.
    unsafe {
        std::arch::asm!("mov {}, x29", out(reg) frame, options(nomem, nostack, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        frame = 0;
    }
    frame
}

/// Visits up to `depth` return addresses from a frame pointer on. Whatever the frame pointer is, only the calling
/// thread's own stack is read, from the caller's frame on.
#[inline(always)]
pub(crate) fn follow(frame: usize, bounds: Bounds, depth: usize, mut visit: impl FnMut(u64)) {
    let here = &raw const bounds as usize;
    if here < bounds.low || here >= bounds.high {
        // Another stack than the thread's own: that of a coroutine, or of a signal handler.
        return;
    }
    let last = bounds.high - 2 * size_of::<usize>();
    let (mut above, mut frame) = (here, frame);
    for _ in 0..depth {
        // Frames of callers lie higher: the chain ends.
        if frame <= above || frame > last || !frame.is_multiple_of(size_of::<usize>()) {
            return;
        }
        // SAFETY: two aligned words between a variable of a function that is still running and the end of the
        // same stack, as checked above; all of that is mapped, and may be read as integers.
        let [next, address] = unsafe { (frame as *const [usize; 2]).read_volatile() };
        if address == 0 {
            return;
        }
        visit(address as u64);
        (above, frame) = (frame, next);
    }
}

unsafe extern "C-unwind" {
    fn _Unwind_Backtrace(visit: extern "C" fn(*mut c_void, *mut c_void) -> c_int, argument: *mut c_void) -> c_int;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
}

/// Goes on with the next frame, or ends.
const CONTINUE: c_int = 0;
const END: c_int = 4;

/// The frames that the unwinder has found.
struct Unwound {
    addresses: [u64; MAX_DEPTH],
    count: usize,
    depth: usize,
}

extern "C" fn found(context: *mut c_void, argument: *mut c_void) -> c_int {
    // SAFETY: the argument is the one that `unwind` passed, and nothing else uses it meanwhile.
    let unwound = unsafe { &mut *argument.cast::<Unwound>() };
    // SAFETY: the unwinder hands us its context for the duration of this call.
    let address = unsafe { _Unwind_GetIP(context) };
    if address == 0 || unwound.count >= unwound.depth {
        return END;
    }
    unwound.addresses[unwound.count] = address as u64;
    unwound.count += 1;
    CONTINUE
}

/// Visits up to `depth` return addresses as the program's tables tell them, of the frames outside of this one.
#[inline(never)]
pub(crate) fn unwind(depth: usize, mut visit: impl FnMut(u64)) {
    let mut unwound = Unwound { addresses: [0; MAX_DEPTH], count: 0, depth: (depth + 1).min(MAX_DEPTH) };
    // SAFETY: the callback gets the argument as we pass it, which lives until the call returns.
    unsafe { _Unwind_Backtrace(found, (&raw mut unwound).cast()) };
    // The first is this function itself.
    unwound.addresses[..unwound.count].iter().skip(1).for_each(|&address| visit(address));
}

/// Whether this crate was compiled with frame pointers, and so, very likely, the whole program.
#[inline(never)]
pub(crate) fn keeps_frame_pointers() -> bool {
    std::hint::black_box(nested(std::hint::black_box(2)))
}

/// Some frames below, both ways have to tell the same callers.
#[inline(never)]
fn nested(levels: usize) -> bool {
    if levels > 0 {
        let same = nested(levels - 1);
        // Used after the call, so that the call is none to jump to.
        return std::hint::black_box(same);
    }
    let (mut followed, mut unwound) = ([0; 3], [0; 3]);
    let mut count = 0;
    follow(frame_pointer(), Bounds::of_this_thread(), 3, |address| {
        followed[count] = address;
        count += 1;
    });
    count = 0;
    // The innermost frame is this one, whose return address lies within; those of callers must be equal.
    unwind(4, |address| {
        if (1..=3).contains(&count) {
            unwound[count - 1] = address;
        }
        count += 1;
    });
    followed[2] != 0 && followed == unwound
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn garbage_ends_the_walk() {
        let bounds = Bounds::of_this_thread();
        assert!(bounds.low < bounds.high);
        for frame in [0, 1, 8, bounds.low, bounds.high, bounds.high - 8, usize::MAX, usize::MAX - 7] {
            follow(frame, bounds, MAX_DEPTH, |_| panic!("nothing lies at {frame:#x}"));
        }
        // A frame that names itself as its caller's.
        let mut own = [0usize; 2];
        own[0] = own.as_ptr() as usize;
        own[1] = 1;
        let mut count = 0;
        follow(std::hint::black_box(&own).as_ptr() as usize, bounds, MAX_DEPTH, |_| count += 1);
        assert!(count <= 1);
        // Another stack is not read at all.
        follow(frame_pointer(), Bounds { low: 4096, high: 8192 }, 8, |_| panic!("not this stack"));
    }

    #[test]
    fn the_unwinder_knows_the_callers() {
        let mut count = 0;
        unwind(MAX_DEPTH, |_| count += 1);
        assert!(count > 3);
        let mut bounded = 0;
        unwind(3, |_| bounded += 1);
        assert_eq!(bounded, 3);
    }
}
