//! Asking for memory before it is needed: a graph algorithm mostly waits for it.

#![expect(unsafe_code, reason = "the instruction takes a pointer")]

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
