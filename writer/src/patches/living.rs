//! The living rows, and their objects.

/// A bitmap of rows. Once counted, it numbers them: objects are the living rows in their order.
#[derive(Debug)]
pub(super) struct Living {
    words: Vec<u64>,
    /// For each word, the number of living rows before it.
    before: Vec<u32>,
}

impl Living {
    /// No row lives.
    pub(super) fn none(rows: u32) -> Self {
        Living { words: vec![0; rows.div_ceil(u64::BITS) as usize], before: Vec::new() }
    }

    /// Marks a row as living. False if it was already.
    pub(super) fn insert(&mut self, row: u32) -> bool {
        let (word, bit) = place(row);
        let is_new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        is_new
    }

    pub(super) fn contains(&self, row: u32) -> bool {
        let (word, bit) = place(row);
        self.words[word] & bit != 0
    }

    /// Counts the rows; needed before [`Living::object`].
    pub(super) fn count(&mut self) {
        let mut before = 0;
        let words = self.words.iter().map(|word| {
            before += word.count_ones();
            before - word.count_ones()
        });
        self.before = words.collect();
    }

    /// The object of a living row.
    pub(super) fn object(&self, row: u32) -> u32 {
        let (word, bit) = place(row);
        self.before[word] + (self.words[word] & (bit - 1)).count_ones()
    }
}

fn place(row: u32) -> (usize, u64) {
    ((row / u64::BITS) as usize, 1 << (row % u64::BITS))
}
