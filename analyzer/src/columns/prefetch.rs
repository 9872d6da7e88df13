//! Prefetching: graph algorithms mostly wait for memory, so it is requested before it is needed.

#![cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "the instruction takes a pointer"))]

/// Prefetches the cache line of element `at`. Does nothing if there is no such element.
#[inline(always)]
pub(crate) fn prefetch<T>(elements: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = elements.as_ptr().wrapping_add(at);
        // SAFETY: a prefetch has no visible effect and never faults, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (elements, at);
}

/// A delay queue: an item leaves [`Queue::LENGTH`] steps after it enters, when its prefetch has completed.
pub(crate) struct Queue<T> {
    items: [Option<T>; 32],
    at: usize,
}

impl<T: Copy> Queue<T> {
    /// Steps between entering and leaving: about the latency of memory.
    pub(crate) const LENGTH: usize = 32;

    pub(crate) fn new() -> Self {
        Queue { items: [None; 32], at: 0 }
    }

    /// Takes an item in and returns the one that entered [`Queue::LENGTH`] steps before.
    #[inline(always)]
    pub(crate) fn exchange(&mut self, item: Option<T>) -> Option<T> {
        self.at = (self.at + 1) % Self::LENGTH;
        std::mem::replace(&mut self.items[self.at], item)
    }
}
