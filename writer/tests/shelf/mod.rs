//! Streams for tests: one whose bytes can be had after the writer is gone, and that can be full.

use std::io::{Error, ErrorKind, Write};
use std::sync::{Arc, Mutex};

/// A stream in memory.
#[derive(Clone)]
pub(crate) struct Shelf {
    bytes: Arc<Mutex<Vec<u8>>>,
    room: usize,
}

impl Shelf {
    /// A stream that takes `room` bytes and then fails.
    pub(crate) fn with_room(room: usize) -> Self {
        Shelf { bytes: Arc::default(), room }
    }

    /// The bytes written so far.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.bytes.lock().unwrap().clone()
    }
}

impl Write for Shelf {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut written = self.bytes.lock().unwrap();
        let fits = bytes.len().min(self.room - written.len());
        written.extend_from_slice(&bytes[..fits]);
        if fits == 0 && !bytes.is_empty() {
            return Err(Error::from(ErrorKind::StorageFull));
        }
        Ok(fits)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
