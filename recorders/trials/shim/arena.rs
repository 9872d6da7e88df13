//! Blocks for what is allocated while the allocator of the program is looked up: `dlsym` itself may allocate.
//!
//! They are never used again. One thread looks up, before any other exists.

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering};

/// More than every library of C allocates in a look-up.
const BYTES: usize = 16 << 10;
/// Of every block, and of what is before it, its size.
const ALIGNMENT: usize = 16;

#[repr(align(16))]
struct Room(core::cell::UnsafeCell<[u8; BYTES]>);

// SAFETY: each block is handed out once, to one caller.
unsafe impl Sync for Room {}

static ROOM: Room = Room(core::cell::UnsafeCell::new([0; BYTES]));
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// A block of zeros; null if there is no room.
pub(crate) fn take(bytes: usize, alignment: usize) -> *mut c_void {
    let begin = ROOM.0.get().cast::<u8>();
    let from = begin as usize + NEXT.load(Ordering::Relaxed) + ALIGNMENT;
    let alignment = alignment.max(ALIGNMENT);
    let block = (from + alignment - 1) & !(alignment - 1);
    let at = block - begin as usize;
    let Some(end) = at.checked_add(bytes).filter(|end| *end <= BYTES) else { return ptr::null_mut() };
    NEXT.store((end + ALIGNMENT - 1) & !(ALIGNMENT - 1), Ordering::Relaxed);
    // SAFETY: the block and what is before it lie in the room, and nothing else has them.
    unsafe {
        let block = begin.add(at);
        block.sub(size_of::<usize>()).cast::<usize>().write(bytes);
        block.cast()
    }
}

/// Whether a block is from here.
#[inline]
pub(crate) fn holds(block: *const c_void) -> bool {
    (block as usize).wrapping_sub(ROOM.0.get() as usize) < BYTES
}

/// The bytes of a block that is from here.
pub(crate) fn bytes(block: *const c_void) -> usize {
    // SAFETY: the size is before each block.
    unsafe { block.cast::<u8>().sub(size_of::<usize>()).cast::<usize>().read() }
}
