//! Memory of the recorder's own: zeroed pages from the system, taken as they are touched, never given back.
//!
//! Unsafe code is needed here to make a slice of mapped pages.

use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64};

/// Types that can be made of zeroed pages and shared by all threads.
///
/// # Safety
/// All bytes zero must be a value of the type.
pub(crate) unsafe trait Zeroed: Sync + 'static {}

// SAFETY: an atomic has the representation of its integer, for which zero is a value.
unsafe impl Zeroed for AtomicU32 {}

/// A wide and a narrow number.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Pair {
    pub(crate) wide: AtomicU64,
    pub(crate) narrow: AtomicU32,
}

impl Pair {
    /// Both zero.
    pub(crate) const fn empty() -> Self {
        Pair { wide: AtomicU64::new(0), narrow: AtomicU32::new(0) }
    }
}

// SAFETY: as for its fields.
unsafe impl Zeroed for Pair {}

/// Allocations of a leaf by one thread, minus those that it has freed.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Counter {
    pub(crate) blocks: AtomicI64,
    pub(crate) bytes: AtomicI64,
}

// SAFETY: as for its fields.
unsafe impl Zeroed for Counter {}

/// `count` values, all zero; `None` if the system refuses.
pub(crate) fn zeroed<T: Zeroed>(count: usize) -> Option<&'static [T]> {
    let bytes = count.checked_mul(size_of::<T>()).filter(|&bytes| bytes > 0)?;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: an anonymous mapping at an address of the system's choice touches no memory in use.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return None;
    }
    // Rows are touched here and there: a huge page for each would be most of the memory in use.
    // SAFETY: the range was mapped just now; advice changes no content.
    unsafe { libc::madvise(start, bytes, libc::MADV_NOHUGEPAGE) };
    // SAFETY: the pages are mapped readable and writable, for ever, and nothing else uses them; they are aligned
    // to a page, which is more than any `T` here requires; zero bytes are values of `T` by its contract.
    Some(unsafe { std::slice::from_raw_parts(start.cast::<T>(), count) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn pages_are_zero_and_can_be_written() {
        let cells = zeroed::<AtomicU32>(10_000).unwrap();
        assert!(cells.iter().all(|cell| cell.load(Ordering::Relaxed) == 0));
        cells[9_999].store(7, Ordering::Relaxed);
        assert_eq!(cells[9_999].load(Ordering::Relaxed), 7);
        assert!(zeroed::<AtomicU32>(usize::MAX).is_none());
    }
}
