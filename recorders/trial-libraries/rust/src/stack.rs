//! Calls a function with the stack lower by a number of bytes.
//!
//! Eight calls are nested, one for each power of two from 2,048 to 16. Each has a block of its size or an empty one.

use std::hint::black_box;
use std::mem::MaybeUninit;

/// The function that a nested call calls.
type Inner<'i> = &'i mut dyn FnMut();

/// Calls `inner` with a block of `bytes` on the stack: a multiple of 16 below 4,096.
pub(crate) fn lowered(bytes: u64, inner: Inner<'_>) {
    of::<2048>(bytes, &mut || {
        of::<1024>(bytes, &mut || {
            of::<512>(bytes, &mut || {
                of::<256>(bytes, &mut || {
                    of::<128>(bytes, &mut || {
                        of::<64>(bytes, &mut || of::<32>(bytes, &mut || of::<16>(bytes, inner)));
                    });
                });
            });
        });
    });
}

/// Calls `inner` with a block if the bit of its size is set in `bytes`.
fn of<const SIZE: usize>(bytes: u64, inner: Inner<'_>) {
    // Unknown to the optimiser, which would merge frames otherwise.
    let inner = black_box(inner);
    if bytes & SIZE as u64 == 0 { with::<0>(inner) } else { with::<SIZE>(inner) }
}

/// Calls `inner` with a block of `SIZE` bytes. Its address goes somewhere, before and after the call: otherwise the
/// optimiser would remove it. It is not filled, so that frames of all sizes are alike.
#[inline(never)]
fn with<const SIZE: usize>(inner: Inner<'_>) {
    let mut block = MaybeUninit::<([u8; 16], [u8; SIZE])>::uninit();
    black_box(&mut block);
    inner();
    black_box(&mut block);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    fn address_of_local(bytes: u64) -> usize {
        let mut address = 0;
        lowered(bytes, &mut || {
            let local = [0_u8; 16];
            address = black_box(&local).as_ptr().addr();
        });
        address
    }

    #[test]
    fn every_size_moves_the_stack_by_itself() {
        let without = address_of_local(0);
        for bytes in (0..4096).step_by(16) {
            assert_eq!(without - address_of_local(bytes), usize::try_from(bytes).unwrap());
        }
    }
}
