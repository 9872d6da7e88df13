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
/// Regions that are found without a search: a power of two.
const RECENT: usize = 1024;
/// No address is in this one.
const NOWHERE: u64 = u64::MAX;

/// A pool's slots. `class` is their size in units of 16 bytes; 0 if nothing is known.
#[derive(Default, Clone, Copy)]
struct Pool {
    class: usize,
    /// Where its sites begin.
    start: usize,
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
    recent: Box<[(u64, usize)]>,
    large: HashMap<u64, u32>,
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
            recent: vec![(NOWHERE, 0); RECENT].into(),
            large: HashMap::default(),
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

    /// Notes that a block has no site: the one before it in its place may have had one.
    #[inline]
    pub(crate) fn clear(&mut self, address: u64, bytes: usize) {
        if bytes > SMALL {
            self.remove(address);
        } else if self.recent[(address >> self.region_bits) as usize % RECENT].0 == address >> self.region_bits {
            self.clear_small(address, bytes);
        } else if self.regions.contains_key(&(address >> self.region_bits)) {
            self.region(address >> self.region_bits);
            self.clear_small(address, bytes);
        }
    }

    fn clear_small(&mut self, address: u64, bytes: usize) {
        let region = self.recent[(address >> self.region_bits) as usize % RECENT].1;
        let place = self.pool_in_region(address);
        if self.pools[region][place].class != 0 {
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
        let number = address >> self.region_bits;
        if self.recent[number as usize % RECENT].0 != number {
            self.remove_large(number, address);
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
        let region = *self.regions.entry(number).or_insert_with(|| {
            // Larger blocks that were there are gone.
            self.large.retain(|address, _| address >> self.region_bits != number);
            self.pools.push(vec![Pool::default(); 1 << (self.region_bits - self.pool_bits)].into());
            self.pools.len() - 1
        });
        self.recent[number as usize % RECENT] = (number, region);
        region
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
            self.recent[number as usize % RECENT] = (NOWHERE, 0);
        }
        self.large.insert(address, site);
    }

    #[cold]
    fn remove_large(&mut self, number: u64, address: u64) {
        match self.regions.get(&number) {
            Some(&region) => self.recent[number as usize % RECENT] = (number, region),
            None => drop(self.large.remove(&address)),
        }
    }
}
