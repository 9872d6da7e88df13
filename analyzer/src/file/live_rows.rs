//! The live rows of a patched snapshot and their object numbers.

/// A bitmap with counts. The object number of a row is the number of live rows before it.
#[derive(Debug, Default)]
pub(crate) struct LiveRows {
    words: Vec<Word>,
    rows: u32,
}

/// 64 rows.
#[derive(Debug, Clone, Copy, Default)]
struct Word {
    bits: u64,
    /// Number of live rows before these 64.
    before: u32,
}

const BITS: u32 = u64::BITS;

impl LiveRows {
    /// Returns whether the row exists and is alive.
    pub(crate) fn is_alive(&self, row: u32) -> bool {
        self.words.get((row / BITS) as usize).is_some_and(|word| word.bits >> (row % BITS) & 1 == 1)
    }

    /// Marks a row as dead. Returns false if it was not alive.
    pub(crate) fn kill(&mut self, row: u32) -> bool {
        let lived = self.is_alive(row);
        if lived {
            self.words[(row / BITS) as usize].bits &= !(1 << (row % BITS));
        }
        lived
    }

    /// Appends live rows.
    pub(crate) fn grow(&mut self, rows: u32) {
        for row in self.rows..self.rows.saturating_add(rows) {
            if row.is_multiple_of(BITS) {
                self.words.push(Word::default());
            }
            self.words[(row / BITS) as usize].bits |= 1 << (row % BITS);
        }
        self.rows = self.rows.saturating_add(rows);
    }

    /// Counts the live rows and returns their number. [`LiveRows::object`] and [`LiveRows::living`] are valid only
    /// after this.
    pub(crate) fn count(&mut self) -> u64 {
        let mut before = 0u32;
        for word in &mut self.words {
            word.before = before;
            before += word.bits.count_ones();
        }
        before.into()
    }

    /// The number of rows, dead ones included.
    pub(crate) fn rows(&self) -> u32 {
        self.rows
    }

    /// The number of live rows in a range.
    pub(crate) fn living(&self, rows: std::ops::Range<u32>) -> u32 {
        self.before(rows.end) - self.before(rows.start)
    }

    /// The number of live rows before this one.
    fn before(&self, row: u32) -> u32 {
        match self.words.get((row / BITS) as usize) {
            Some(word) => word.before + (word.bits & ((1 << (row % BITS)) - 1)).count_ones(),
            None => self.words.last().map_or(0, |last| last.before + last.bits.count_ones()),
        }
    }

    /// The object number of a row; `None` if the row is dead or does not exist.
    #[inline]
    pub(crate) fn object(&self, row: u32) -> Option<u32> {
        let word = self.words.get((row / BITS) as usize)?;
        let bit = 1u64 << (row % BITS);
        (word.bits & bit != 0).then(|| word.before + (word.bits & (bit - 1)).count_ones())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_counted_among_the_living() {
        for rows in [0, 1, 63, 64, 65, 200] {
            let mut live = LiveRows::default();
            live.grow(rows / 2);
            live.grow(rows - rows / 2);
            assert!((0..rows).filter(|row| row % 3 == 1).all(|row| live.kill(row)));
            assert!(rows < 2 || !live.kill(1));
            let mut next = 0;
            let expected: Vec<Option<u32>> = (0..rows + 70)
                .map(|row| {
                    (row < rows && row % 3 != 1).then(|| {
                        next += 1;
                        next - 1
                    })
                })
                .collect();
            assert_eq!(live.count(), u64::from(next));
            assert_eq!((0..rows + 70).map(|row| live.object(row)).collect::<Vec<_>>(), expected);
            assert_eq!((live.rows(), live.living(0..rows)), (rows, next));
        }
    }
}
