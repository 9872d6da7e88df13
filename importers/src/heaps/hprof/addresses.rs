//! A map from addresses to object numbers, in about two bytes per object.
//!
//! ```text
//!   address ──▶ page of 4 KiB ──▶ bitmap of its 512 places ──▶ number of objects below: the rank
//!   rank ──▶ number        the same if the dump is in the order of addresses; otherwise a column
//! ```
//!
//! Objects live at multiples of eight. The few identifiers that are not, and classes, which are numbered before
//! everything else, are in a hash table.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};

/// A page of addresses: its number, and a bit for each place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Page {
    number: u64,
    places: [u64; 8],
}

impl Page {
    /// Number of addresses in the page.
    fn count(&self) -> u64 {
        self.places.iter().map(|word| u64::from(word.count_ones())).sum()
    }
}

/// Collects the addresses of a part of the dump.
#[derive(Debug, Default)]
pub(super) struct Collector {
    pages: Vec<Page>,
    /// The last address.
    ascending: Option<u64>,
    first: Option<u64>,
    is_ascending: bool,
}

impl Collector {
    pub(super) fn new() -> Self {
        Collector { is_ascending: true, ..Self::default() }
    }

    /// Marks the addresses as unordered, so that each object's number must be set.
    pub(super) fn unordered(mut collected: Vec<Collector>) -> Vec<Collector> {
        collected.iter_mut().for_each(|collector| collector.is_ascending = false);
        collected
    }

    /// Adds an address that [`has_place`].
    #[inline]
    pub(super) fn push(&mut self, address: u64) {
        self.is_ascending &= self.ascending.is_none_or(|last| last < address);
        self.ascending = Some(address);
        self.first = self.first.or(Some(address));
        let (number, word, bit) = place(address);
        match self.pages.last_mut() {
            Some(page) if page.number == number => page.places[word] |= bit,
            _ => {
                let mut places = [0; 8];
                places[word] = bit;
                self.pages.push(Page { number, places });
            }
        }
    }
}

/// Returns whether an address has a place in a page.
#[inline]
pub(super) fn has_place(address: u64) -> bool {
    address.is_multiple_of(8)
}

/// Page, word and bit of an address.
#[inline]
fn place(address: u64) -> (u64, usize, u64) {
    (address >> 12, (address >> 9 & 7) as usize, 1 << (address >> 3 & 63))
}

/// The places of a page, which the processor fetches at once.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Places([u64; 8]);

/// A map from addresses to object numbers.
#[derive(Debug)]
pub(super) struct Addresses {
    directory: Directory,
    pages: Vec<Places>,
    /// Number of addresses with a place.
    placed_count: u64,
    /// The number of the first object with a place.
    first_number: u32,
    /// Numbers by rank, unless the two are equal.
    order: Option<Vec<AtomicU32>>,
    others: HashMap<u64, u32, foldhash::fast::RandomState>,
}

/// Merges the collected pages in the order of their numbers. Also returns whether all addresses were ascending.
fn merge(collected: Vec<Collector>) -> (Vec<Page>, bool) {
    let mut last = None;
    let mut is_ascending = true;
    for collector in &collected {
        is_ascending &= collector.is_ascending && (collector.first.is_none() || collector.first > last);
        last = collector.ascending.or(last);
    }
    let mut pages: Vec<Page> = Vec::with_capacity(collected.iter().map(|collector| collector.pages.len()).sum());
    for collector in collected {
        pages.extend(collector.pages);
    }
    if !is_ascending {
        pages.sort_unstable_by_key(|page| page.number);
    }
    pages.dedup_by(|page, before| {
        let is_same = page.number == before.number;
        if is_same {
            before.places.iter_mut().zip(page.places).for_each(|(before, places)| *before |= places);
        }
        is_same
    });
    (pages, is_ascending)
}

/// A map from the numbers of pages to their indexes.
#[derive(Debug)]
enum Directory {
    /// One entry for each page number from `first` on.
    Flat { first: u64, entries: Vec<PageEntry> },
    /// The numbers of the pages, which are too far apart for a table: binary search.
    Sparse { numbers: Vec<u64>, below: Vec<u32> },
}

/// Where a page is.
#[derive(Debug, Clone, Copy, Default)]
struct PageEntry {
    /// Its index + 1; 0 if there is none.
    after: u32,
    /// Number of addresses below it.
    below: u32,
}

impl Addresses {
    /// Builds the map of addresses collected in the order of the dump. Objects with a place are numbered from
    /// `first_number` on, in that order; the rest are in `others`. If the result is not
    /// [`is_ordered`](Self::is_ordered), the number of each object must be [`set`](Self::set).
    pub(super) fn new(
        collected: Vec<Collector>,
        first_number: u32,
        others: HashMap<u64, u32, foldhash::fast::RandomState>,
    ) -> Self {
        let (pages, is_ascending) = merge(collected);
        let mut addresses = Addresses { first_number, ..Self::of_pages(pages, others) };
        if !is_ascending {
            addresses.forget_numbers();
        }
        addresses
    }

    /// Builds a map in which only the addresses in `others` have numbers.
    pub(super) fn without_numbers(
        collected: Vec<Collector>,
        others: HashMap<u64, u32, foldhash::fast::RandomState>,
    ) -> Self {
        Self::of_pages(merge(collected).0, others)
    }

    fn of_pages(pages: Vec<Page>, others: HashMap<u64, u32, foldhash::fast::RandomState>) -> Self {
        let mut count = 0;
        let below = pages.iter().map(|page| {
            let below = count;
            count += page.count() as u32;
            below
        });
        let below = below.collect();
        let directory = Directory::new(&pages, below);
        let pages = pages.into_iter().map(|page| Places(page.places)).collect();
        Addresses { directory, pages, placed_count: count.into(), first_number: 0, order: None, others }
    }

    /// Forgets the numbers of objects with a place: each must be set.
    fn forget_numbers(&mut self) {
        self.order = Some((0..self.placed_count()).map(|_| AtomicU32::new(u32::MAX)).collect());
    }

    /// Number of addresses with a place.
    pub(super) fn placed_count(&self) -> u64 {
        self.placed_count
    }

    /// Forgets all numbers: each must be set, except those without a place, which are in `others`.
    pub(super) fn renumber(&mut self, others: HashMap<u64, u32, foldhash::fast::RandomState>) {
        self.forget_numbers();
        self.others = others;
    }

    /// Returns whether numbers follow addresses. Otherwise each must be set.
    pub(super) fn is_ordered(&self) -> bool {
        self.order.is_none()
    }

    /// Sets the number of the object at an address.
    pub(super) fn set(&self, address: u64, number: u32) {
        if let (Some(order), Some(rank)) = (&self.order, self.rank(address)) {
            // Relaxed: read only after the threads that set have ended.
            order[rank as usize].store(number, Ordering::Relaxed);
        }
    }

    /// The number of the object at an address; `None` if there is none.
    #[inline]
    pub(super) fn number(&self, address: u64) -> Option<u32> {
        match self.rank(address) {
            Some(rank) => match &self.order {
                None => Some(self.first_number + rank),
                Some(order) => Some(order[rank as usize].load(Ordering::Relaxed)),
            },
            None => self.others.get(&address).copied(),
        }
    }

    /// The number of a class or another address in `others`.
    pub(super) fn other(&self, address: u64) -> Option<u32> {
        self.others.get(&address).copied()
    }

    /// Number of objects with a place below an address; `None` if no object is there.
    #[inline(always)]
    pub(super) fn rank(&self, address: u64) -> Option<u32> {
        if !has_place(address) {
            return None;
        }
        let (number, word, bit) = place(address);
        let (index, below) = match &self.directory {
            Directory::Flat { first, entries } => {
                let at = usize::try_from(number.checked_sub(*first)?).ok()?;
                let entry = entries.get(at)?;
                (entry.after.checked_sub(1)? as usize, entry.below)
            }
            Directory::Sparse { numbers, below } => {
                let index = numbers.binary_search(&number).ok()?;
                (index, below[index])
            }
        };
        let places = &self.pages[index].0;
        if places[word] & bit == 0 {
            return None;
        }
        let before: u32 = places[..word].iter().map(|word| word.count_ones()).sum();
        Some(below + before + (places[word] & (bit - 1)).count_ones())
    }
}

impl Directory {
    fn new(pages: &[Page], below: Vec<u32>) -> Self {
        let sparse = |below| Directory::Sparse { numbers: pages.iter().map(|page| page.number).collect(), below };
        let (Some(first), Some(last)) = (pages.first(), pages.last()) else { return sparse(below) };
        let span = last.number - first.number;
        if span > 16 * pages.len() as u64 + (1 << 16) {
            return sparse(below);
        }
        let mut entries = vec![PageEntry::default(); span as usize + 1];
        for ((after, page), below) in (1..).zip(pages).zip(below) {
            entries[(page.number - first.number) as usize] = PageEntry { after, below };
        }
        Directory::Flat { first: first.number, entries }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(parts: &[&[u64]]) -> Addresses {
        let collected = parts.iter().map(|part| {
            let mut collector = Collector::new();
            part.iter().for_each(|&address| collector.push(address));
            collector
        });
        let mut others = HashMap::default();
        others.insert(0x1234_5679, 1);
        let addresses = Addresses::new(collected.collect(), 2, others);
        if !addresses.is_ordered() {
            for (number, &address) in (2..).zip(parts.iter().copied().flatten()) {
                addresses.set(address, number);
            }
        }
        addresses
    }

    #[test]
    fn numbers_follow_the_dump() {
        let near: &[&[u64]] = &[&[8, 16, 0x1000], &[], &[0x1008, 0x5_0000]];
        let far: &[&[u64]] = &[&[8, 16], &[0x1000, 0x7fff_0000_0000, 0xffff_ffff_ffff_fff8]];
        let mixed: &[&[u64]] = &[&[0x2000, 0x2008], &[8, 0x2010], &[0x1000]];
        let falling: &[&[u64]] = &[&[0x2000, 0x1000, 8]];
        for (parts, is_ordered) in [(near, true), (far, true), (mixed, false), (falling, false), (&[], true)] {
            let addresses = addresses(parts);
            assert_eq!(addresses.is_ordered(), is_ordered, "{parts:x?}");
            for (number, &address) in (2..).zip(parts.iter().copied().flatten()) {
                assert_eq!(addresses.number(address), Some(number), "{address:x} of {parts:x?}");
            }
            assert_eq!(addresses.number(0x1234_5679), Some(1));
            for missing in [0, 24, 0x1010, 0x3000, 0x1234_5678, 0x6_0000, u64::MAX] {
                assert_eq!(addresses.number(missing), None, "{missing:x} of {parts:x?}");
            }
        }
    }
}
