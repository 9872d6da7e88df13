//! Properties that hold for the answers about any heap, checked on the bundled recording of a real program and on small
//! random graphs.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use barrow_analyzer::{
    Dominators, Exclusion, Heap, Holder, IndexPlace, KindRole, Memory, ObjectId, ObjectSet, PathOptions, Recording,
    Silent, SnapshotId, StrengthClass, TreePlace, object, outgoing, walk,
};
use barrow_testdata::{Graph, Random};

/// The last snapshot of the bundled recording.
fn real() -> &'static Heap {
    static HEAP: OnceLock<Heap> = OnceLock::new();
    HEAP.get_or_init(|| {
        let recording = Recording::open(&barrow_testdata::path("raku.barrow")).unwrap();
        let last = recording.snapshot_ids().next_back().unwrap();
        Heap::new(Arc::new(recording), last, &IndexPlace::Nowhere, Memory::unlimited()).unwrap()
    })
}

fn all(heap: &Heap) -> impl Iterator<Item = ObjectId> + use<> {
    (0..heap.object_count() as u32).map(ObjectId)
}

fn set(heap: &Heap, objects: impl IntoIterator<Item = ObjectId>) -> ObjectSet {
    ObjectSet::from_sorted(heap.snapshot(), heap.object_count(), objects)
}

/// Objects and bytes of a set.
fn size(heap: &Heap, set: &ObjectSet) -> (u64, u64) {
    let totals = heap.type_totals_of(set, &Silent).unwrap();
    totals.iter().fold((0, 0), |sum, of| (sum.0 + of.objects, sum.1 + of.heap_bytes + of.unmanaged_bytes))
}

/// Some reachable objects: at random, and the largest.
fn some(heap: &Heap, seed: u64, count: usize) -> Vec<ObjectId> {
    let dominators = heap.dominators(&Silent).unwrap();
    let mut random = Random::new(seed);
    let mut some = dominators.largest(count / 3, |_| true);
    while some.len() < count {
        let object = ObjectId(random.below(heap.object_count()) as u32);
        if dominators.is_reachable(object) {
            some.push(object);
        }
    }
    some
}

#[test]
fn the_top_and_what_is_unreachable_are_everything() {
    let heap = real();
    let dominators = heap.dominators(&Silent).unwrap();
    let totals = heap.recording().snapshot(heap.snapshot()).unwrap().totals;
    let unreachable = size(heap, &heap.unreachable(&Silent).unwrap());
    let top = dominators.children(dominators.top());
    let below = top.fold((0, 0), |sum, at| (sum.0 + dominators.count_at(at), sum.1 + dominators.bytes_at(at)));
    assert_eq!(below, (dominators.reachable_count(), dominators.reachable_bytes()));
    assert_eq!(below.0 + unreachable.0, totals.objects);
    assert_eq!(below.1 + unreachable.1, totals.heap_bytes + totals.unmanaged_bytes);
    assert_eq!(size(heap, &heap.all_objects()), (totals.objects, totals.heap_bytes + totals.unmanaged_bytes));
}

#[test]
fn every_place_holds_itself_and_its_children() {
    let heap = real();
    let dominators = heap.dominators(&Silent).unwrap();
    let mut own = vec![0; heap.object_count() as usize];
    let add = |details: &barrow_analyzer::ObjectDetails, _: &[barrow_analyzer::Reference]| {
        own[details.id.index()] = details.shallow_bytes + details.unmanaged_bytes;
        Ok(())
    };
    walk(heap.recording(), heap.snapshot(), &Silent, add).unwrap();
    let (mut places, mut seen) = (vec![dominators.top()], 0);
    while let Some(place) = places.pop() {
        let children: Vec<TreePlace> = dominators.children(place).collect();
        let (itself, is_object) = match dominators.at(place) {
            Holder::Object(object) => (own[object.index()], 1),
            Holder::Roots(_) | Holder::Everything => (0, 0),
        };
        let bytes: u64 = children.iter().map(|&child| dominators.bytes_at(child)).sum();
        let count: u64 = children.iter().map(|&child| dominators.count_at(child)).sum();
        assert_eq!(dominators.bytes_at(place), itself + bytes, "{:?}", dominators.at(place));
        assert_eq!(dominators.count_at(place), is_object + count, "{:?}", dominators.at(place));
        seen += is_object;
        places.extend(children);
    }
    assert_eq!(seen, dominators.reachable_count());
}

#[test]
fn what_goes_with_an_object_is_its_retained_set() {
    let heap = real();
    let dominators = heap.dominators(&Silent).unwrap();
    assert!(dominators.is_exact());
    for (number, object) in some(heap, 1, 30).into_iter().enumerate() {
        let freed = heap.retained_set(&set(heap, [object]), &Silent).unwrap();
        let retained = (dominators.retained_count(object), dominators.retained_bytes(object));
        assert_eq!(size(heap, &freed), retained, "{object}");
        assert_eq!(freed, set(heap, dominators.dominated(object)), "{object}");
        assert_eq!(freed, heap.retained_set_of(object, &Silent).unwrap(), "{object}");
        if number % 10 > 0 {
            continue;
        }
        // Excluding it leaves exactly the rest.
        let rest = heap.excluding(Exclusion::new(heap, &set(heap, [object]), None, &Silent).unwrap());
        let (left, before) = (rest.dominators(&Silent).unwrap(), dominators);
        assert_eq!(left.reachable_count() + retained.0, before.reachable_count(), "{object}");
        assert_eq!(left.reachable_bytes() + retained.1, before.reachable_bytes(), "{object}");
        assert_eq!(rest.exclusion().unwrap().freed(), &freed, "{object}");
    }
}

/// From an object up to the top: each holder retains its own size and at least everything below it, and together they
/// make up what the first one retains.
#[test]
fn sizes_along_a_chain() {
    let heap = real();
    let dominators = heap.dominators(&Silent).unwrap();
    for below in some(heap, 2, 60) {
        let mut at = below;
        let mut sum = dominators.retained_bytes(below);
        while let Some(Holder::Object(above)) = dominators.immediate_dominator(at) {
            let place = dominators.place(above).unwrap();
            let others: u64 = dominators
                .children(place)
                .filter(|&child| dominators.at(child) != Holder::Object(at))
                .map(|child| dominators.bytes_at(child))
                .sum();
            let details = object(heap.recording(), heap.snapshot(), above).unwrap();
            sum += others + details.shallow_bytes + details.unmanaged_bytes;
            assert_eq!(dominators.retained_bytes(above), sum, "{above}");
            assert!(dominators.dominated(above).any(|object| object == below));
            at = above;
        }
    }
}

#[test]
fn every_path_can_be_walked() {
    let heap = real();
    let distances = heap.distances(&Silent).unwrap();
    let roots: BTreeSet<ObjectId> = heap.roots().unwrap().targets().into_iter().collect();
    let avoid = set(heap, some(heap, 3, 40));
    let unreachable = heap.unreachable(&Silent).unwrap();
    let tables = heap.recording().tables().unwrap();
    for (number, object) in some(heap, 4, 20).into_iter().chain(unreachable.iter().take(2)).enumerate() {
        let options = PathOptions {
            count: 1 + number % 4,
            weak: number % 5 == 4,
            avoid: (number % 3 == 2 && !avoid.contains(object)).then(|| avoid.clone()),
        };
        let paths = heap.paths(object, &options, &Silent).unwrap();
        let mut used = BTreeSet::new();
        for path in &paths {
            let steps = heap.steps(path, 0..path.objects.len()).unwrap();
            assert!(steps.iter().map(|step| step.object.id).eq(path.objects.iter().copied()));
            assert!(roots.contains(&path.objects[0]) && path.root.target == path.objects[0]);
            assert_eq!(*path.objects.last().unwrap(), object);
            for pair in steps.windows(2) {
                let (source, target) = (pair[0].object.id, pair[1].object.id);
                let (label, strength) = pair[1].reference.expect("a reference leads to it");
                let references = outgoing(heap.recording(), heap.snapshot(), source).unwrap();
                let is_this = |reference: &&barrow_analyzer::Reference| {
                    (reference.label, reference.strength, reference.target) == (label, strength, target)
                };
                assert!(references.iter().any(|reference| is_this(&reference)), "{path:?}");
                let is_group = tables.kind_role(tables.type_kind(pair[0].object.type_id)) == KindRole::Root;
                assert!(used.insert(source) || is_group, "{source} is on two paths");
                assert!(!options.avoid.as_ref().is_some_and(|avoid| avoid.contains(source)), "{path:?}");
            }
        }
        if options.avoid.is_none() && !options.weak {
            let steps = paths.first().map(|path| path.objects.len() as u32 - 1);
            assert_eq!(steps, distances.distance(object), "{object}");
        }
    }
}

/// Every reference is found from both ends, and the distance of its target is at most one more than that of its source.
#[test]
fn both_ends_of_a_reference() {
    let heap = real();
    let (incoming, distances) = (heap.incoming(&Silent).unwrap(), heap.distances(&Silent).unwrap());
    let (mut references, mut seen) = (0, 0);
    let tables = heap.recording().tables().unwrap();
    walk(heap.recording(), heap.snapshot(), &Silent, |source, outgoing| {
        seen += 1;
        references += outgoing.len() as u64;
        for reference in outgoing {
            let is_strong = tables.strength_class(reference.strength) == StrengthClass::Strong;
            if let (Some(steps), true) = (distances.distance(source.id), is_strong) {
                let next = distances.distance(reference.target);
                assert!(next.is_some_and(|next| next <= steps + 1), "{} to {}", source.id, reference.target);
            }
            if seen % 512 == 0 {
                assert!(incoming.sources(reference.target).binary_search(&source.id).is_ok());
            }
        }
        Ok(())
    })
    .unwrap();
    assert_eq!(all(heap).map(|object| incoming.count(object)).sum::<u64>(), references);
    for object in all(heap).filter(|&object| distances.distance(object).is_some()) {
        match distances.parent_of(object) {
            None => assert_eq!(distances.distance(object), Some(0)),
            Some(parent) => {
                assert_eq!(distances.distance(parent).map(|steps| steps + 1), distances.distance(object));
                assert!(incoming.sources(object).binary_search(&parent).is_ok());
            }
        }
    }
}

/// Merged paths count every object once at each level of its path.
#[test]
fn merged_paths_add_up() {
    let heap = real();
    let some = set(heap, some(heap, 5, 3000));
    let distances = heap.distances(&Silent).unwrap();
    let merged = heap.merged_paths(&some, &Silent).unwrap();
    assert_eq!(merged.unreachable, 0);
    let at = |depth: u32| merged.nodes.iter().filter(move |node| node.depth == depth);
    let mut members = 0;
    for depth in 0..100 {
        let through: u64 = at(depth).map(|node| node.through).sum();
        let expected = some.iter().filter(|&object| distances.distance(object) >= Some(depth)).count() as u64;
        assert_eq!(through, expected, "depth {depth}");
        members += at(depth).map(|node| node.members).sum::<u64>();
    }
    assert_eq!(members, some.len());
}

fn small(graph: &Graph) -> Heap {
    Heap::new(Arc::new(graph.recording()), SnapshotId(0), &IndexPlace::Nowhere, Memory::unlimited()).unwrap()
}

/// An additional reference to a reachable object does not make any object retain more.
#[test]
fn another_reference_never_makes_a_retained_size_larger() {
    let mut random = Random::new(6);
    for round in 0..1500 {
        let graph = Graph::random(&mut random, 4 + round % 30, round % 3 == 0);
        let before = small(&graph);
        let reachable = before.reachable(None, &Silent).unwrap();
        let targets: Vec<ObjectId> = reachable.iter().collect();
        if targets.is_empty() {
            continue;
        }
        let mut more = graph.clone();
        let target = targets[random.below(targets.len() as u64) as usize].0;
        if random.below(4) == 0 {
            more.roots.push((random.below(3) as u8, target));
        } else {
            let source = random.below(graph.types.len() as u64) as usize;
            // Last, so that it is not the key of an ephemeron.
            more.references[source].push((target, StrengthClass::Strong));
        }
        let after = small(&more);
        assert_eq!(after.reachable(None, &Silent).unwrap(), reachable, "{graph:?}");
        let sizes =
            |dominators: &Dominators, object| (dominators.retained_bytes(object), dominators.retained_count(object));
        for object in all(&before) {
            let removed = set(&before, [object]);
            let mut extra = after.retained_set(&removed, &Silent).unwrap();
            extra.difference_with(&before.retained_set(&removed, &Silent).unwrap());
            assert!(extra.is_empty(), "{object} holds {extra:?} more: {more:?} after {graph:?}");
            let (one, other) = (before.dominators(&Silent).unwrap(), after.dominators(&Silent).unwrap());
            let (one, other) = (sizes(one, object), sizes(other, object));
            assert!(
                other.0 <= one.0 && other.1 <= one.1,
                "{object}: {one:?} became {other:?}: {more:?} after {graph:?}"
            );
        }
    }
}
