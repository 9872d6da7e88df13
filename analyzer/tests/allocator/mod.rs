//! An allocator that counts, so that a test can say how much memory something took.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

/// Bytes that are allocated now, and the most there were since the last reset.
static CURRENT: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// Relaxed: no other data depends on the counts, which are read when the allocating threads are done or known.
fn add(bytes: usize) {
    PEAK.fetch_max(CURRENT.fetch_add(bytes, Ordering::Relaxed) + bytes, Ordering::Relaxed);
}

fn remove(bytes: usize) {
    CURRENT.fetch_sub(bytes, Ordering::Relaxed);
}

// SAFETY: every call is passed on to the system's allocator unchanged; counting touches no memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller keeps the conditions of `alloc`, which are those of the system's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: as for `alloc`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        remove(layout.size());
        // SAFETY: the pointer came from the system's allocator, with this layout: the caller says so.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both may exist while one is copied to the other.
        add(size);
        // SAFETY: as for `dealloc`, and the caller keeps the conditions on `size`.
        let moved = unsafe { System.realloc(pointer, layout, size) };
        remove(layout.size());
        moved
    }
}

/// The most bytes that were allocated during `work` beyond those before it. One measurement at a
/// time, so whatever else allocates must go through here too.
pub(crate) fn peak_bytes<T>(work: impl FnOnce() -> T) -> (usize, T) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let before = CURRENT.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let result = work();
    (PEAK.load(Ordering::Relaxed).saturating_sub(before), result)
}
