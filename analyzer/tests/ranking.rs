//! The first objects by an attribute are those that sorting all objects by its values has first.

use std::cmp::Ordering;
use std::path::Path;
use std::sync::Arc;

use barrow_analyzer::{
    ATTRIBUTES, AttributeValue, Heap, IndexPlace, Memory, ObjectId, ObjectSet, RankOrder, Recording, Silent, objects,
};
use barrow_testdata::Random;

fn last_heap(recording: &Path, index: &IndexPlace) -> Heap {
    let recording = Recording::open(recording).unwrap();
    let last = recording.snapshot_ids().next_back().unwrap();
    Heap::new(Arc::new(recording), last, index, Memory::unlimited()).unwrap()
}

/// The order of two values of an attribute; none is no value.
fn order(one: &AttributeValue<'_>, other: &AttributeValue<'_>) -> Ordering {
    use AttributeValue::{Address, Name, Number, Share};
    match (one, other) {
        (Number(one), Number(other)) | (Address(one), Address(other)) => one.cmp(other),
        (Share(one), Share(other)) => one.total_cmp(other),
        (Name(one), Name(other)) => one.cmp(other),
        _ => panic!("{one:?} and {other:?}"),
    }
}

fn sorted(heap: &Heap, set: &ObjectSet, attribute: &barrow_analyzer::Attribute, by: RankOrder) -> Vec<ObjectId> {
    let ids: Vec<ObjectId> = set.iter().collect();
    // Values of few objects are read from the objects themselves.
    let values = ids.chunks(1000).flat_map(|ids| {
        let details = objects(heap.recording(), heap.snapshot(), ids).unwrap();
        heap.attribute_values(attribute, &details, &Silent).unwrap()
    });
    let values: Vec<AttributeValue<'_>> = values.collect();
    let (mut known, mut unknown) = (Vec::new(), Vec::new());
    for (id, value) in ids.into_iter().zip(values) {
        match value {
            AttributeValue::None => unknown.push(id),
            value => known.push((value, id)),
        }
    }
    // Equal ones stay in the order of their numbers.
    known
        .sort_by(|(one, _), (other, _)| if by == RankOrder::Ascending { order(one, other) } else { order(other, one) });
    known.into_iter().map(|(_, id)| id).chain(unknown).collect()
}

#[test]
fn the_first_are_those_of_the_whole_order() {
    let mut random = Random::new(7);
    let mut orders = 0;
    for name in ["jvm.barrow", "raku.barrow", "named.barrow", "orders.barrow", "orders-addresses.barrow"] {
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join(name);
        std::fs::copy(barrow_testdata::path(name), &copy).unwrap();
        // The last one has what the one before kept.
        let places = [IndexPlace::Nowhere, IndexPlace::BESIDE, IndexPlace::BESIDE];
        let plain = last_heap(&copy, &IndexPlace::Nowhere);
        for heap in places.iter().map(|index| last_heap(&copy, index)) {
            let objects = heap.object_count();
            let mut one_in = |share| {
                let some = (0..objects as u32).map(ObjectId).filter(|_| random.below(share) == 0).collect::<Vec<_>>();
                ObjectSet::from_sorted(heap.snapshot(), objects, some)
            };
            let sets = [one_in(1 + objects / 5000), one_in(50), ObjectSet::new(heap.snapshot(), objects)];
            for (set, attribute) in sets.iter().flat_map(|set| ATTRIBUTES.iter().map(move |attribute| (set, attribute)))
            {
                if !attribute.has_order() {
                    continue;
                }
                for by in [RankOrder::Ascending, RankOrder::Descending] {
                    // A runtime whose types have no elements is refused in both ways.
                    let first = |count| heap.first_by(set, attribute, by, count, &Silent);
                    let Ok(all) = first(usize::MAX) else {
                        assert!(["elements", "fill"].contains(&attribute.word()), "{name} {}", attribute.word());
                        continue;
                    };
                    let expected = sorted(&plain, set, attribute, by);
                    assert!(all == expected, "{name} {} {by:?}", attribute.word());
                    for count in [0, 1, 7, 1000, all.len()] {
                        let count = count.min(all.len());
                        assert!(first(count).unwrap() == expected[..count], "{name} {} {count}", attribute.word());
                    }
                    orders += usize::from(!all.is_sorted());
                }
            }
        }
    }
    // Where all values are equal, objects are in the order of their numbers.
    assert!(orders > 100, "{orders}");
}
