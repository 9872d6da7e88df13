//! A stream in memory whose bytes can be had after the writer is gone, and that can be full.

use std::io::{Error, ErrorKind, Result, Write};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

/// A stream in memory; clones share their bytes.
#[derive(Debug, Clone)]
pub struct Shelf {
    bytes: Arc<Mutex<Vec<u8>>>,
    room: usize,
}

impl Default for Shelf {
    /// One that is never full.
    fn default() -> Self {
        Shelf::with_room(usize::MAX)
    }
}

impl Shelf {
    /// A stream that takes `room` bytes and then fails.
    #[must_use]
    pub fn with_room(room: usize) -> Self {
        Shelf { bytes: Arc::default(), room }
    }

    /// The bytes written so far.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.lock().clone()
    }

    /// The bytes written so far, which are not kept.
    #[must_use]
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.bytes.lock()
    }
}

impl Write for Shelf {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let mut written = self.lock();
        let fits = bytes.len().min(self.room - written.len());
        written.extend_from_slice(&bytes[..fits]);
        if fits == 0 && !bytes.is_empty() { Err(Error::from(ErrorKind::StorageFull)) } else { Ok(fits) }
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}
