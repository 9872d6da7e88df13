//! Slices of plain numbers that several threads write at once.

#![expect(unsafe_code, reason = "the standard library has no stable way to see a slice as atomics")]

use std::sync::atomic::AtomicU32;

/// The same numbers, as atomics for as long as they are borrowed.
pub(crate) fn atomics(numbers: &mut [u32]) -> &[AtomicU32] {
    let length = numbers.len();
    let first = numbers.as_mut_ptr().cast::<AtomicU32>();
    // SAFETY: the numbers are borrowed exclusively for the lifetime of the result, so that all access
    // to them is atomic; `AtomicU32` has the size and bit validity of `u32`, and its alignment on every
    // target that has it; the length is that of the slice.
    unsafe { std::slice::from_raw_parts(first, length) }
}
