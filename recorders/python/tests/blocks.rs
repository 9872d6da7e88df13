//! The side table of sites against a plain map.

#[path = "../src/sites/blocks.rs"]
mod blocks;

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use blocks::{Blocks, MOST_SITES};
use proptest::prelude::*;

const REGION: u32 = 18;
const POOL: u32 = 12;

proptest! {
    /// An allocator that gives slots of pools, and larger blocks elsewhere; pools change their size, regions their use.
    #[test]
    fn each_block_has_the_site_it_got_last(steps in prop::collection::vec((0_u64..3000, 0_u64..6, 0_u64..40, 1_u64..70, 1_u32..MOST_SITES), 1..2_000)) {
        let mut blocks = Blocks::new(REGION, POOL);
        let mut live: HashMap<u64, u32> = HashMap::new();
        // For each pool its class, and for each region whether it is an arena.
        let mut pools: HashMap<(u64, u64), u64> = HashMap::new();
        let mut arenas: HashMap<u64, bool> = HashMap::new();
        for (choice, region, pool, size, site) in steps {
            let begin = (region * 300 + 7) << REGION;
            let is_arena = *arenas.entry(region).or_insert(region % 3 != 0);
            if choice < 3 {
                // All of the region is freed, and used otherwise.
                live.retain(|address, _| {
                    let is_freed = address >> REGION == begin >> REGION;
                    if is_freed { blocks.remove(*address) }
                    !is_freed
                });
                pools.retain(|of, _| of.0 != region);
                arenas.insert(region, !is_arena);
                continue;
            }
            if !is_arena {
                let address = begin + pool * 4096 + (choice % 4) * 1024 + 16;
                if size < 20 && live.remove(&address).is_some() {
                    blocks.remove(address);
                } else if let Entry::Vacant(free) = live.entry(address) {
                    blocks.set(address, 600, site);
                    free.insert(site);
                }
                continue;
            }
            let class = 1 + (size - 1) % 32;
            let pool_begin = begin + pool * 4096;
            let known = pools.entry((region, pool)).or_insert(class);
            if *known != class && choice < 300 {
                // All of the pool is freed, and divided otherwise.
                live.retain(|address, _| address >> POOL != pool_begin >> POOL);
                *known = class;
            }
            let slots = (4096 - 48) / (*known * 16);
            let address = pool_begin + 48 + (choice % slots) * *known * 16;
            let bytes = (*known * 16) as usize - (choice % 16) as usize;
            blocks.set(address, bytes, site);
            live.insert(address, site);
        }
        for kept in [false, true] {
            if kept {
                blocks.keep(|address| live.contains_key(&address));
            }
            for (&address, &site) in &live {
                prop_assert_eq!(blocks.get(address), site, "{:#x}", address);
            }
        }
    }
}
