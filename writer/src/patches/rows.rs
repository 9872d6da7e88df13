//! The remembered objects of a snapshot: row by row serial, content and address.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;

use barrow_format::patch::NO_ROW;

/// Serials, contents and addresses of rows, and the row of each serial.
///
/// Memory per row: 24 bytes, 4 bytes for each of up to 4/3 places in the hash table, and 8 if addresses are recorded.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// 0 once the row is dead.
    serials: Vec<u64>,
    contents: Vec<u128>,
    /// Empty if no object has one.
    addresses: Vec<u64>,
    /// Rows by the hash of their serials, each in the first free place; [`NO_ROW`] marks free ones.
    places: Vec<u32>,
    hashing: RandomState,
}

impl Rows {
    pub(super) fn len(&self) -> u32 {
        // Rows are numbered in 32 bits when they are made.
        self.serials.len() as u32
    }

    pub(super) fn is_alive(&self, row: u32) -> bool {
        self.serials[row as usize] != 0
    }

    pub(super) fn content(&self, row: u32) -> u128 {
        self.contents[row as usize]
    }

    pub(super) fn addresses(&self) -> &[u64] {
        &self.addresses
    }

    /// The living row of a serial; `guess` is tried first. Objects usually stay in their order, so trying the row after
    /// the last one found saves two cache misses.
    pub(super) fn find_near(&self, serial: u64, guess: u32) -> Option<u32> {
        if self.serials.get(guess as usize) == Some(&serial) { Some(guess) } else { self.find(serial) }
    }

    /// The living row of a serial.
    fn find(&self, serial: u64) -> Option<u32> {
        let first = self.place(serial);
        let places = self.places.iter().skip(first).chain(&self.places).take_while(|row| **row != NO_ROW);
        places.copied().find(|&row| self.serials[row as usize] == serial)
    }

    /// The first place for a serial.
    fn place(&self, serial: u64) -> usize {
        // The high half of the product: uniform over all places.
        ((u128::from(self.hashing.hash_one(serial)) * self.places.len() as u128) >> 64) as usize
    }

    /// Makes room for exactly `count` more rows.
    pub(super) fn reserve(&mut self, count: usize) {
        self.serials.reserve_exact(count);
        self.contents.reserve_exact(count);
        let rows = self.serials.len() + count;
        if rows * 5 <= self.places.len() * 4 {
            return;
        }
        self.places = Vec::new();
        self.places.resize(rows * 4 / 3 + 1, NO_ROW);
        for row in 0..self.len() {
            if self.is_alive(row) {
                self.enter(row);
            }
        }
    }

    /// Adds a row, for which there is room. False if its serial has one already.
    pub(super) fn push(&mut self, serial: u64, content: u128) -> bool {
        let is_new = self.find(serial).is_none();
        let row = self.len();
        self.serials.push(serial);
        self.contents.push(content);
        self.enter(row);
        is_new
    }

    fn enter(&mut self, row: u32) {
        let mut place = self.place(self.serials[row as usize]);
        while self.places[place] != NO_ROW {
            place = if place + 1 == self.places.len() { 0 } else { place + 1 };
        }
        self.places[place] = row;
    }

    /// Marks a row as dead because its object died or has another row.
    pub(super) fn bury(&mut self, row: u32) {
        self.serials[row as usize] = 0;
    }

    pub(super) fn change(&mut self, row: u32, content: u128) {
        self.contents[row as usize] = content;
    }

    /// Sets the addresses of all rows; empty if no object has one.
    pub(super) fn set_addresses(&mut self, addresses: Vec<u64>) {
        self.addresses = addresses;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn living_rows_are_found_by_their_serials() {
        let mut rows = Rows::default();
        assert_eq!(rows.find(7), None);
        for (start, end) in [(0u64, 10), (10, 500), (500, 3000)] {
            rows.reserve((end - start) as usize);
            assert!((start..end).all(|number| rows.push(number * 8 + 1, number.into())));
        }
        assert!((0..3000).filter(|row| row % 3 == 0).all(|row| {
            rows.bury(row);
            true
        }));
        for row in 0..3000u32 {
            let expected = (row % 3 != 0).then_some(row);
            assert_eq!(rows.find(u64::from(row) * 8 + 1), expected);
            assert_eq!(rows.find_near(u64::from(row) * 8 + 1, row / 2 * 2), expected);
            assert_eq!((rows.is_alive(row), rows.content(row)), (row % 3 != 0, row.into()));
        }
        rows.reserve(2);
        assert!(rows.push(1, 9), "the row before is dead");
        assert!(!rows.push(9, 9), "row 1 has it");
    }
}
