//! The allocator without the feature `record`: it only forwards to the underlying one.
//!
//! Unsafe code is needed here because of the trait of allocators.

use std::alloc::{GlobalAlloc, Layout};
use std::path::Path;

use crate::{Options, RecordError, Taken};

// SAFETY: every call is handed on as it is.
unsafe impl<A: GlobalAlloc> GlobalAlloc for crate::Recorder<A> {
    #[inline(always)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        unsafe { self.inner.alloc(layout) }
    }

    #[inline(always)]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        unsafe { self.inner.alloc_zeroed(layout) }
    }

    #[inline(always)]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { self.inner.dealloc(block, layout) }
    }

    #[inline(always)]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        unsafe { self.inner.realloc(block, layout, new_size) }
    }
}

/// Records nothing: the feature `record` is off.
#[derive(Debug)]
#[must_use = "the recording ends when it is dropped"]
pub struct Recording(());

impl Recording {
    /// Ends the recording.
    ///
    /// # Errors
    /// None, without the feature.
    pub fn finish(self) -> Result<(), RecordError> {
        Ok(())
    }
}

pub(crate) fn begin(_: &Path, _: &Options) -> Result<Recording, RecordError> {
    Ok(Recording(()))
}

pub(crate) fn snapshot(_: &str) -> Result<Option<Taken>, RecordError> {
    Ok(None)
}
