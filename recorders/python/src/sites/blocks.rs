//! The site of each block of memory: a side table by page and slot.
//!
//! ```text
//!   address ─▶ region (an arena) ─▶ pool ─▶ slot: 3 bytes        blocks of up to 512 bytes
//!           └▶ table by address                                  larger ones
//! ```
//!
//! CPython's allocator divides pools into slots of one size, after a head of 48 bytes. A slot that is used again gets its new site;
//! nothing needs to be done when it is freed. Arenas lie at multiples of their size, so a region has pools or larger blocks, never both.

use foldhash::HashMap;

const POOL_HEAD: usize = 48;
const ALIGNMENT: usize = 16;
/// Larger blocks do not lie in pools.
pub(crate) const SMALL: usize = 512;
const CLASSES: usize = SMALL / ALIGNMENT + 1;
/// The most large blocks that are noted, in about 140 MiB. Most frees of large blocks are not reported, so at this number
/// all are forgotten.
const MOST_LARGE: usize = 1 << 22;
/// There are fewer sites than this, so that 3 bytes hold each: code with that many instructions has 32 MiB.
pub(crate) const MOST_SITES: u32 = 1 << 24;
/// No address is in this one.
const NOWHERE: u64 = u64::MAX;

/// A pool's slots. `class` is their size in units of 16 bytes; 0 if nothing is known.
#[derive(Default, Clone, Copy)]
struct Pool {
    class: usize,
    /// The index of the first of its sites.
    start: usize,
}

/// Counts for pages of 16 KiB. Pages 1 GiB apart are counted together, and 255 stays for ever: zero is certain, other
/// counts are not.
struct Marks(Box<[u8; 1 << 16]>);

impl Marks {
    const PAGE_BITS: u32 = 14;

    fn new() -> Self {
        Marks(Box::new([0; 1 << 16]))
    }

    fn place(address: u64) -> usize {
        (address >> Self::PAGE_BITS) as usize % (1 << 16)
    }

    #[inline]
    fn may_have(&self, address: u64) -> bool {
        self.0[Self::place(address)] != 0
    }

    fn add(&mut self, address: u64) {
        let count = &mut self.0[Self::place(address)];
        *count = count.saturating_add(1);
    }

    fn subtract(&mut self, address: u64) {
        let count = &mut self.0[Self::place(address)];
        *count -= u8::from(*count > 0 && *count < u8::MAX);
    }
}

/// The sites of blocks, by address.
pub(crate) struct Blocks {
    region_bits: u32,
    pool_bits: u32,
    /// The pool that slots of each class were taken from last, and where its sites begin.
    current: [(u64, usize); CLASSES],
    /// 2^20 divided by the size of each class's slots, rounded up: to divide by multiplying.
    inverse: [usize; CLASSES],
    /// The end of the last slot of each class, in slots from the first.
    ends: [usize; CLASSES],
    sites: Vec<[u8; 3]>,
    /// Runs of `sites` that no pool has any more, by class.
    unused: [Vec<usize>; CLASSES],
    regions: HashMap<u64, usize>,
    pools: Vec<Box<[Pool]>>,
    large: HashMap<u64, u32>,
    large_marks: Marks,
}

impl Blocks {
    /// No sites yet. Arenas have 2^`region_bits` bytes, pools 2^`pool_bits`.
    pub(crate) fn new(region_bits: u32, pool_bits: u32) -> Self {
        let mut inverse = [0; CLASSES];
        let mut ends = [0; CLASSES];
        for class in 1..CLASSES {
            let bytes = class * ALIGNMENT;
            inverse[class] = (1_usize << 20).div_ceil(bytes);
            ends[class] = ((1 << pool_bits) - POOL_HEAD) / bytes * bytes;
        }
        Blocks {
            region_bits,
            pool_bits,
            current: [(NOWHERE, 0); CLASSES],
            inverse,
            ends,
            sites: Vec::new(),
            unused: [const { Vec::new() }; CLASSES],
            regions: HashMap::default(),
            pools: Vec::new(),
            large: HashMap::default(),
            large_marks: Marks::new(),
        }
    }

    /// Records the site of a block of `bytes` bytes.
    #[inline]
    pub(crate) fn set(&mut self, address: u64, bytes: usize, site: u32) {
        if bytes > SMALL {
            return self.set_large(address, site);
        }
        let class = bytes.max(1).div_ceil(ALIGNMENT);
        let pool = address >> self.pool_bits;
        let Some(slot) = self.slot(address, class) else { return self.set_large(address, site) };
        if self.current[class].0 != pool {
            self.current[class] = (pool, self.start(address, class));
        }
        self.sites[self.current[class].1 + slot] = packed(site);
    }

    /// The site of a block; 0 if it is not known.
    pub(crate) fn get(&self, address: u64) -> u32 {
        let Some(&region) = self.regions.get(&(address >> self.region_bits)) else {
            return self.large.get(&address).copied().unwrap_or(0);
        };
        let pool = self.pools[region][self.pool_in_region(address)];
        let slot = if pool.class > 0 { self.slot(address, pool.class) } else { None };
        slot.map_or(0, |slot| unpacked(self.sites[pool.start + slot]))
    }

    /// Forgets a block that is freed.
    #[inline]
    pub(crate) fn remove(&mut self, address: u64) {
        if self.large_marks.may_have(address) {
            self.remove_large(address);
        }
    }

    /// Forgets large blocks that do not live any more: not all that are freed are [removed](Blocks::remove).
    pub(crate) fn keep(&mut self, lives: impl Fn(u64) -> bool) {
        self.large.retain(|&address, _| lives(address));
        self.mark_large();
    }

    /// Which slot of its pool a block is, if it is one.
    #[inline]
    fn slot(&self, address: u64, class: usize) -> Option<usize> {
        let offset = (address & ((1 << self.pool_bits) - 1)) as usize;
        let behind = offset.checked_sub(POOL_HEAD)?;
        let slot = (behind * self.inverse[class]) >> 20;
        (slot * class * ALIGNMENT == behind && behind < self.ends[class]).then_some(slot)
    }

    fn pool_in_region(&self, address: u64) -> usize {
        ((address & ((1 << self.region_bits) - 1)) >> self.pool_bits) as usize
    }

    /// The index of the first site of the pool that contains a block of a class.
    #[cold]
    fn start(&mut self, address: u64, class: usize) -> usize {
        let number = address >> self.region_bits;
        let region = self.region(number);
        let place = self.pool_in_region(address);
        let pool = self.pools[region][place];
        if pool.class == class {
            return pool.start;
        }
        // It is new, or has slots of another size than before.
        if pool.class > 0 {
            self.unused[pool.class].push(pool.start);
            if self.current[pool.class].0 == address >> self.pool_bits {
                self.current[pool.class] = (NOWHERE, 0);
            }
        }
        let slots = self.ends[class] / (class * ALIGNMENT);
        let start = self.unused[class].pop().unwrap_or(self.sites.len());
        self.sites.resize(self.sites.len().max(start + slots), [0; 3]);
        self.sites[start..start + slots].fill([0; 3]);
        self.pools[region][place] = Pool { class, start };
        start
    }

    fn region(&mut self, number: u64) -> usize {
        *self.regions.entry(number).or_insert_with(|| {
            // Larger blocks that were there are gone.
            self.large.retain(|address, _| address >> self.region_bits != number);
            self.pools.push(vec![Pool::default(); 1 << (self.region_bits - self.pool_bits)].into());
            self.pools.len() - 1
        })
    }

    /// Notes the site of a block that does not lie in a pool.
    #[cold]
    pub(crate) fn set_large(&mut self, address: u64, site: u32) {
        let number = address >> self.region_bits;
        if let Some(region) = self.regions.remove(&number) {
            // The arena that was there is gone.
            for pool in std::mem::take(&mut self.pools[region]) {
                if pool.class > 0 {
                    self.unused[pool.class].push(pool.start);
                }
            }
            self.current = [(NOWHERE, 0); CLASSES];
        }
        if self.large.len() >= MOST_LARGE {
            self.large.clear();
            self.mark_large();
        }
        if self.large.insert(address, site).is_none() {
            self.large_marks.add(address);
        }
    }

    fn mark_large(&mut self) {
        self.large_marks = Marks::new();
        self.large.keys().for_each(|&address| self.large_marks.add(address));
    }

    #[cold]
    fn remove_large(&mut self, address: u64) {
        if self.large.remove(&address).is_some() {
            self.large_marks.subtract(address);
        }
    }
}

/// A site, which is below [`MOST_SITES`], in 3 bytes.
#[inline]
fn packed(site: u32) -> [u8; 3] {
    let [low, middle, high, _] = site.to_le_bytes();
    [low, middle, high]
}

fn unpacked([low, middle, high]: [u8; 3]) -> u32 {
    u32::from_le_bytes([low, middle, high, 0])
}
