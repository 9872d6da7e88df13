//! A place in a dump: fields are read from it, and errors say where it was.

use crate::error::Damage;
use byteorder::{ByteOrder, LittleEndian};

/// Reads fields one after the other; all integers are little-endian.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    dump: &'a [u8],
    offset: usize,
}

impl<'a> Cursor<'a> {
    /// The place `offset` bytes into `dump`, or its end if that is nearer.
    pub(crate) fn new(dump: &'a [u8], offset: usize) -> Self {
        Cursor { dump, offset: offset.min(dump.len()) }
    }

    /// Bytes from the start of the dump.
    pub(crate) fn offset(&self) -> u64 {
        self.offset as u64
    }

    /// Everything that follows.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.dump.get(self.offset..).unwrap_or_default()
    }

    /// The next `length` bytes, which belong to `inside`.
    ///
    /// # Errors
    /// [`Damage::Ends`] if there are fewer.
    pub(crate) fn take(&mut self, length: u64, inside: &'static str) -> Result<&'a [u8], Damage> {
        let ends = Damage::Ends { length: self.dump.len() as u64, inside };
        let Ok(length) = usize::try_from(length) else { return Err(ends) };
        let Some(taken) = self.rest().get(..length) else { return Err(ends) };
        self.offset += length;
        Ok(taken)
    }

    pub(crate) fn u16(&mut self, inside: &'static str) -> Result<u16, Damage> {
        self.take(2, inside).map(LittleEndian::read_u16)
    }

    pub(crate) fn u64(&mut self, inside: &'static str) -> Result<u64, Damage> {
        self.take(8, inside).map(LittleEndian::read_u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_follow_each_other() {
        let dump = [
            0xff, // skipped
            1, 2, // u16
            4, 0, 0, 0, 0, 0, 0, 0, // u64
        ];
        let mut cursor = Cursor::new(&dump, 1);
        assert_eq!(cursor.u16("a"), Ok(0x0201));
        assert_eq!(cursor.u64("c"), Ok(4));
        assert_eq!(cursor.offset(), 11);
        assert_eq!(cursor.take(u64::MAX, "d"), Err(Damage::Ends { length: 11, inside: "d" }));
        assert!(cursor.rest().is_empty());
    }
}
