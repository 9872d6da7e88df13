//! Slices of plain numbers that several threads write at once.

#![expect(unsafe_code, reason = "the standard library has no stable way to see a slice as atomics")]

use std::sync::atomic::{AtomicU32, AtomicU64};

/// A plain number that has an atomic twin.
///
/// # Safety
/// `Atomic` has the same size and bit validity.
pub(crate) unsafe trait Number {
    /// The atomic type of the same width.
    type Atomic;
}

// SAFETY: the standard library guarantees the same size and bit validity for both types.
unsafe impl Number for u32 {
    type Atomic = AtomicU32;
}

// SAFETY: as above.
unsafe impl Number for u64 {
    type Atomic = AtomicU64;
}

/// Views plain numbers as atomics while they are borrowed.
pub(crate) fn atomics<T: Number>(numbers: &mut [T]) -> &[T::Atomic] {
    let length = numbers.len();
    let first = numbers.as_mut_ptr().cast::<T::Atomic>();
    // On 32-bit systems a plain 64-bit number may have a smaller alignment than its atomic.
    assert!(first.is_aligned(), "columns begin at pages, and numbers in them at multiples of their size");
    // SAFETY: the numbers are borrowed exclusively for the lifetime of the result, so that all access to them is atomic;
    // size and bit validity are the same, and the length is that of the slice.
    unsafe { std::slice::from_raw_parts(first, length) }
}
