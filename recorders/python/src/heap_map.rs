//! Which addresses hold objects, and which number each of them has.
//!
//! ```text
//!   address ─▶ region (1 MiB) ─▶ page (4 KiB): 512 bits, one for each 8 bytes, and how many lie before
//! ```
//!
//! Numbers ascend with addresses. Finding one takes two look-ups and a population count, and memory is
//! 1/49 of what the regions span: about 2 bytes an object.

const GRAIN_BITS: u32 = 3;
const PAGE_BITS: u32 = 12;
const REGION_BITS: u32 = 20;
const WORDS: usize = 1 << (PAGE_BITS - GRAIN_BITS - 6);
const PAGES: usize = 1 << (REGION_BITS - PAGE_BITS);
/// Spreads the numbers of regions over the table (2^64 divided by the golden ratio).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// One bit for each place in 4 KiB where an object may begin.
#[derive(Clone, Copy, Default)]
struct Page {
    words: [u64; WORDS],
    /// Number of objects before this page.
    before: u32,
    /// Number of objects of this page before each word.
    before_word: [u16; WORDS],
}

struct Region {
    number: u64,
    pages: Box<[Page; PAGES]>,
}

/// A set of addresses, all multiples of 8, that can number its elements.
pub(crate) struct HeapMap {
    regions: Vec<Region>,
    /// For each slot of the hash table, 1 + where in `regions`; 0 is empty. A power of two of them.
    table: Vec<u32>,
    /// Place of the last address that was looked up.
    last: usize,
    objects: usize,
}

impl HeapMap {
    pub(crate) fn new() -> Self {
        HeapMap { regions: Vec::new(), table: vec![0; 64], last: 0, objects: 0 }
    }

    /// Number of addresses.
    pub(crate) fn len(&self) -> usize {
        self.objects
    }

    /// Adds an address. Returns whether it is new.
    pub(crate) fn insert(&mut self, address: u64) -> bool {
        let number = address >> REGION_BITS;
        let region = if self.regions.get(self.last).is_some_and(|region| region.number == number) {
            self.last
        } else {
            self.find(number).unwrap_or_else(|| self.add(number))
        };
        self.last = region;
        let (page, word, bit) = place(address);
        let word = &mut self.regions[region].pages[page].words[word];
        let is_new = *word & bit == 0;
        *word |= bit;
        self.objects += usize::from(is_new);
        is_new
    }

    /// Numbers the addresses in ascending order, from 0. To be called when all are there.
    pub(crate) fn number(&mut self) {
        self.regions.sort_unstable_by_key(|region| region.number);
        self.table.fill(0);
        let mut before = 0;
        for place in 0..self.regions.len() {
            self.enter(place);
            for page in self.regions[place].pages.iter_mut() {
                page.before = before;
                let mut within = 0;
                for (before_word, word) in page.before_word.iter_mut().zip(page.words) {
                    *before_word = within;
                    within += u16::try_from(word.count_ones()).expect("at most 64");
                }
                before += u32::from(within);
            }
        }
    }

    /// The number of an address, if it is there; see [`HeapMap::number`].
    pub(crate) fn id(&self, address: u64) -> Option<u32> {
        let region = self.find(address >> REGION_BITS)?;
        let (page, word, bit) = place(address);
        let page = &self.regions[region].pages[page];
        if page.words[word] & bit == 0 {
            return None;
        }
        Some(page.before + u32::from(page.before_word[word]) + (page.words[word] & (bit - 1)).count_ones())
    }

    /// All addresses, ascending once they are numbered.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = u64> {
        self.regions.iter().flat_map(|region| {
            let words = region.pages.iter().flat_map(|page| page.words);
            let first = region.number << REGION_BITS;
            words.enumerate().flat_map(move |(word, bits)| {
                Bits(bits).map(move |bit| first + ((word as u64 * 64 + u64::from(bit)) << GRAIN_BITS))
            })
        })
    }

    fn find(&self, number: u64) -> Option<usize> {
        let mask = self.table.len() - 1;
        let mut slot = slot(number, self.table.len());
        loop {
            let place = self.table[slot].checked_sub(1)? as usize;
            if self.regions[place].number == number {
                return Some(place);
            }
            slot = (slot + 1) & mask;
        }
    }

    #[cold]
    fn add(&mut self, number: u64) -> usize {
        self.regions.push(Region { number, pages: Box::new([Page::default(); PAGES]) });
        if self.regions.len() * 2 > self.table.len() {
            self.table = vec![0; self.table.len() * 2];
            (0..self.regions.len()).for_each(|place| self.enter(place));
        } else {
            self.enter(self.regions.len() - 1);
        }
        self.regions.len() - 1
    }

    fn enter(&mut self, place: usize) {
        let mask = self.table.len() - 1;
        let mut slot = slot(self.regions[place].number, self.table.len());
        while self.table[slot] != 0 {
            slot = (slot + 1) & mask;
        }
        self.table[slot] = u32::try_from(place + 1).expect("an address space has fewer than 2^32 MiB");
    }
}

/// The bits that are set in a word, the lowest first.
struct Bits(u64);

impl Iterator for Bits {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let bit = self.0.trailing_zeros();
        self.0 &= self.0.wrapping_sub(1);
        (bit < 64).then_some(bit)
    }
}

fn slot(number: u64, slots: usize) -> usize {
    (number.wrapping_mul(SPREAD) >> (64 - slots.trailing_zeros())) as usize
}

/// Page in the region, word in the page, bit in the word.
fn place(address: u64) -> (usize, usize, u64) {
    let grain = address >> GRAIN_BITS;
    let page = (address >> PAGE_BITS) as usize % PAGES;
    (page, (grain >> 6) as usize % WORDS, 1 << (grain & 63))
}
