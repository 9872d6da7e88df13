//! The allocator that records: four bytes after each block hold its leaf.
//!
//! ```text
//!   what the program requests           what the recorder requests
//!   ├─────── size ───────┤              ├─────── size ───────┼ leaf ┤
//!   ▲ aligned as asked                                         4 bytes, not aligned
//! ```
//!
//! Rust tells the size of a block when it is freed, so the leaf is found without a table, and addresses are those of the
//! underlying allocator.
//!
//! Unsafe code is needed here because of the trait of allocators, and to read and write after the blocks.

use std::alloc::{GlobalAlloc, Layout};

use crate::sites::UNRECORDED;
use crate::{Recorder, startup, threads};

/// Bytes after each block.
const TRAILER_BYTES: usize = size_of::<u32>();

// SAFETY: blocks are those of the underlying allocator, at its addresses and somewhat longer than requested, and nothing
// here unwinds.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Recorder<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(with_trailer) = with_trailer(layout) else { return std::ptr::null_mut() };
        // SAFETY: the size is not zero.
        let block = unsafe { self.inner.alloc(with_trailer) };
        // SAFETY: it was allocated with a trailer, unless it is null.
        unsafe { begin(block, layout.size()) };
        block
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let Some(with_trailer) = with_trailer(layout) else { return std::ptr::null_mut() };
        // SAFETY: the size is not zero.
        let block = unsafe { self.inner.alloc_zeroed(with_trailer) };
        // SAFETY: it was allocated with a trailer, unless it is null.
        unsafe { begin(block, layout.size()) };
        block
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: a block of ours with this layout, by the caller.
        let leaf = unsafe { trailer(block, layout.size()).read_unaligned() };
        if leaf != UNRECORDED {
            threads::freed(leaf, layout.size());
        }
        // SAFETY: it fitted when the block was allocated, so it does now.
        let with_trailer = unsafe { Layout::from_size_align_unchecked(layout.size() + TRAILER_BYTES, layout.align()) };
        // SAFETY: the layout with which the block was allocated.
        unsafe { self.inner.dealloc(block, with_trailer) };
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        let new_layout = Layout::from_size_align(new_size, layout.align()).ok().and_then(with_trailer);
        let (Some(old_layout), Some(new_layout)) = (with_trailer(layout), new_layout) else {
            return std::ptr::null_mut();
        };
        // Before the underlying allocator may move or cut the block.
        // SAFETY: a block of ours with this layout, by the caller.
        let leaf = unsafe { trailer(block, layout.size()).read_unaligned() };
        // SAFETY: the layout with which the block was allocated, and a size that is not zero and was checked.
        let moved = unsafe { self.inner.realloc(block, old_layout, new_layout.size()) };
        if !moved.is_null() {
            if leaf != UNRECORDED {
                threads::freed(leaf, layout.size());
            }
            // SAFETY: it was reallocated with a trailer.
            unsafe { begin(moved, new_size) };
        }
        moved
    }
}

/// The layout with room for the trailer; `None` if that is more than there can be.
#[inline(always)]
fn with_trailer(layout: Layout) -> Option<Layout> {
    Layout::from_size_align(layout.size().checked_add(TRAILER_BYTES)?, layout.align()).ok()
}

/// Records a block, and writes its trailer.
///
/// # Safety
/// The block is null, or has `size` bytes and a trailer.
#[inline(always)]
unsafe fn begin(block: *mut u8, size: usize) {
    if block.is_null() {
        return;
    }
    let leaf = if startup::is_on() { threads::allocated(size) } else { UNRECORDED };
    // SAFETY: by the caller, the bytes of the trailer follow the block.
    unsafe { trailer(block, size).write_unaligned(leaf) };
}

/// Returns the place of the trailer of a block.
///
/// # Safety
/// The block has `size` bytes and a trailer.
#[inline(always)]
unsafe fn trailer(block: *mut u8, size: usize) -> *mut u32 {
    // SAFETY: within the block as it was allocated, by the caller.
    unsafe { block.add(size) }.cast()
}
