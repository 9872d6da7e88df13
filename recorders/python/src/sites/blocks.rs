//! The site of each block of memory: a side table by page and slot.
//!
//! ```text
//!   address ─▶ region (an arena) ─▶ pool ─▶ slot: 4 bytes        blocks of up to 512 bytes
//!           └▶ table by address                                  larger ones
//! ```
//!
//! CPython's allocator divides pools into slots of one size, behind a head of 48 bytes. A slot that is used again gets its new site;
//! nothing needs to be done when it is freed. Arenas lie at multiples of their size, so a region has pools or larger blocks, never both.

use foldhash::HashMap;

const POOL_HEAD: usize = 48;
const ALIGNMENT: usize = 16;
const SMALL: usize = 512;
const CLASSES: usize = SMALL / ALIGNMENT + 1;
/// No address is in this one.
const NOWHERE: u64 = u64::MAX;

/// A pool's slots. `class` is their size in units of 16 bytes; 0 if nothing is known.
#[derive(Default, Clone, Copy)]
struct Pool {
    class: usize,
    /// Where its sites begin.
    start: usize,
}

/// Which pages of 16 KiB may have something: says no for sure, and yes perhaps.
struct Marks(Box<[u64; 1 << 10]>);

impl Marks {
    const PAGE_BITS: u32 = 14;

    fn new() -> Self {
        Marks(Box::new([0; 1 << 10]))
    }

    #[inline]
    fn place(address: u64) -> (usize, u64) {
        let page = address >> Self::PAGE_BITS;
        ((page >> 6) as usize % (1 << 10), 1 << (page & 63))
    }

    #[inline]
    fn has(&self, address: u64) -> bool {
        let (word, bit) = Self::place(address);
        self.0[word] & bit != 0
    }

    fn insert(&mut self, address: u64) {
        let (word, bit) = Self::place(address);
        self.0[word] |= bit;
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
    sites: Vec<u32>,
    /// Runs of `sites` that no pool has any more, by class.
    unused: [Vec<usize>; CLASSES],
    regions: HashMap<u64, usize>,
    pools: Vec<Box<[Pool]>>,
    large: HashMap<u64, u32>,
    large_marks: Marks,
    /// How often a mark promised a large block that was not there.
    disappointments: usize,
    /// Where single blocks were noted among others that were not; see [`Blocks::clear`].
    sample_marks: Marks,
}

impl Blocks {
    /// No sites yet. Arenas have 2^`region_bits` bytes, pools 2^`pool_bits`.
    pub(crate) fn new(region_bits: u32, pool_bits: u32) -> Self {
        let mut inverse = [0; CLASSES];
        for (class, inverse) in inverse.iter_mut().enumerate().skip(1) {
            *inverse = (1_usize << 20).div_ceil(class * ALIGNMENT);
        }
        Blocks {
            region_bits,
            pool_bits,
            current: [(NOWHERE, 0); CLASSES],
            inverse,
            sites: Vec::new(),
            unused: [const { Vec::new() }; CLASSES],
            regions: HashMap::default(),
            pools: Vec::new(),
            large: HashMap::default(),
            large_marks: Marks::new(),
            disappointments: 0,
            sample_marks: Marks::new(),
        }
    }

    /// Notes the site of a block of so many bytes.
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
        self.sites[self.current[class].1 + slot] = site;
    }

    /// Notes the site of a block, where most blocks are [cleared](Blocks::clear).
    pub(crate) fn set_sample(&mut self, address: u64, bytes: usize, site: u32) {
        self.sample_marks.insert(address);
        self.set(address, bytes, site);
    }

    /// Notes that a block has no site: a sample that was in its place before is forgotten.
    #[inline]
    pub(crate) fn clear(&mut self, address: u64, bytes: usize) {
        if self.sample_marks.has(address) {
            self.clear_marked(address, bytes);
        }
    }

    #[cold]
    fn clear_marked(&mut self, address: u64, bytes: usize) {
        if bytes > SMALL {
            return self.remove(address);
        }
        let Some(&region) = self.regions.get(&(address >> self.region_bits)) else { return };
        if self.pools[region][self.pool_in_region(address)].class != 0 {
            self.set(address, bytes, 0);
        }
    }

    /// The site of a block; 0 if it is not known.
    pub(crate) fn get(&self, address: u64) -> u32 {
        let Some(&region) = self.regions.get(&(address >> self.region_bits)) else {
            return self.large.get(&address).copied().unwrap_or(0);
        };
        let pool = self.pools[region][self.pool_in_region(address)];
        let slot = if pool.class > 0 { self.slot(address, pool.class) } else { None };
        slot.map_or(0, |slot| self.sites[pool.start + slot])
    }

    /// Forgets a block that is freed.
    #[inline]
    pub(crate) fn remove(&mut self, address: u64) {
        if self.large_marks.has(address) {
            self.remove_large(address);
        }
    }

    /// Which slot of its pool a block is, if it is one.
    #[inline]
    fn slot(&self, address: u64, class: usize) -> Option<usize> {
        let offset = (address & ((1 << self.pool_bits) - 1)) as usize;
        let behind = offset.checked_sub(POOL_HEAD)?;
        let slot = (behind * self.inverse[class]) >> 20;
        (slot * class * ALIGNMENT == behind && slot < self.slots(class)).then_some(slot)
    }

    /// How many slots of a class a pool has.
    fn slots(&self, class: usize) -> usize {
        (((1 << self.pool_bits) - POOL_HEAD) * self.inverse[class]) >> 20
    }

    fn pool_in_region(&self, address: u64) -> usize {
        ((address & ((1 << self.region_bits) - 1)) >> self.pool_bits) as usize
    }

    /// Where the sites of the pool begin that a block of a class is in.
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
        let slots = self.slots(class) + 1;
        let start = self.unused[class].pop().unwrap_or(self.sites.len());
        self.sites.resize(self.sites.len().max(start + slots), 0);
        self.sites[start..start + slots].fill(0);
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

    #[cold]
    fn set_large(&mut self, address: u64, site: u32) {
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
        self.large_marks.insert(address);
        self.large.insert(address, site);
    }

    #[cold]
    fn remove_large(&mut self, address: u64) {
        if self.large.remove(&address).is_some() {
            return;
        }
        self.disappointments += 1;
        if self.disappointments > self.large.len() + (1 << 16) {
            self.disappointments = 0;
            self.large_marks = Marks::new();
            self.large.keys().for_each(|&address| self.large_marks.insert(address));
        }
    }
}
