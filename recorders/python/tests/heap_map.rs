//! The map of addresses against a sorted set.

#[path = "../src/heap_map.rs"]
mod heap_map;

use std::collections::BTreeSet;

use heap_map::HeapMap;
use proptest::prelude::*;

proptest! {
    #[test]
    fn numbers_ascend_with_addresses(
        places in prop::collection::vec((0_u64..200, 0_u64..1 << 17), 0..2_000),
        others in prop::collection::vec((0_u64..300, 0_u64..1 << 17), 0..100),
    ) {
        // Regions far apart, and places that lie close in them.
        let address = |&(region, place): &(u64, u64)| (region * region * 977) << 20 | place << 3;
        let mut map = HeapMap::new();
        let mut set = BTreeSet::new();
        for place in &places {
            prop_assert_eq!(map.insert(address(place)), set.insert(address(place)));
        }
        map.number();
        prop_assert_eq!(map.len(), set.len());
        prop_assert!(map.addresses().eq(set.iter().copied()));
        for (id, &address) in set.iter().enumerate() {
            prop_assert_eq!(map.id(address), u32::try_from(id).ok());
        }
        for place in &others {
            prop_assert_eq!(map.id(address(place)).is_some(), set.contains(&address(place)));
        }
    }
}
