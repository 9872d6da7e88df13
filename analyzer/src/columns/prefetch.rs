//! Asking for memory before it is needed: a graph algorithm mostly waits for it.

#![cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "the instruction takes a pointer"))]

/// Asks for the cache line of element `at`; nothing happens if there is no such element.
#[inline(always)]
pub(crate) fn prefetch<T>(elements: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = elements.as_ptr().wrapping_add(at);
        // SAFETY: a prefetch reads nothing that the program sees and never faults, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (elements, at);
}

/// Things that are put off until what was asked for when they came is there.
pub(crate) struct Queue<T> {
    items: [Option<T>; 32],
    at: usize,
}

impl<T: Copy> Queue<T> {
    /// Steps that a thing is put off: until memory has answered.
    pub(crate) const LENGTH: usize = 32;

    pub(crate) fn new() -> Self {
        Queue { items: [None; 32], at: 0 }
    }

    /// Takes one in, and gives out the one that came [`Queue::LENGTH`] steps before.
    #[inline(always)]
    pub(crate) fn exchange(&mut self, item: Option<T>) -> Option<T> {
        self.at = (self.at + 1) % Self::LENGTH;
        std::mem::replace(&mut self.items[self.at], item)
    }
}
