//! Compares what the objects of sets have in common with its definition, on small random heaps.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use barrow_analyzer::{
    FieldReferrer, Heap, Holder, IndexPlace, Label, Memory, ObjectId, ObjectReferrer, ObjectSet, Recording, Silent,
    SnapshotId, TypeId,
};
use barrow_testdata::{Graph, Heap as Recorded, Random, Shelf, Vocabulary};
use barrow_writer::{Encoding, KindRole, Object, Options, SnapshotInfo, StrengthId, TypeDescription, Value, Writer};

const SNAPSHOT: SnapshotId = SnapshotId(0);

fn heap_of(recording: Recording) -> Heap {
    Heap::new(Arc::new(recording), SNAPSHOT, &IndexPlace::Nowhere, Memory::unlimited()).unwrap()
}

fn random_set(random: &mut Random, objects: usize) -> ObjectSet {
    let sparse = 1 + random.below(8);
    let ids = (0..objects as u32).map(ObjectId).filter(|_| random.below(sparse) == 0);
    ObjectSet::from_sorted(SNAPSHOT, objects as u64, ids.collect::<Vec<_>>())
}

#[test]
fn common_dominators_are_those_without_which_no_object_is_reachable() {
    let (mut random, mut shared, mut shared_by_several) = (Random::new(5), 0, 0);
    for round in 0..3000 {
        let graph = Graph::random(&mut random, 16, false);
        let (heap, size) = (heap_of(graph.recording()), graph.types.len());
        let set = random_set(&mut random, size);
        let reachable = graph.reachable_without(&vec![false; size]);
        let members: Vec<usize> = set.iter().map(ObjectId::index).filter(|&object| reachable[object]).collect();
        let rest: Vec<Vec<bool>> = (0..size)
            .map(|removed| graph.reachable_without(&(0..size).map(|object| object == removed).collect::<Vec<_>>()))
            .collect();
        let dominates = |one: usize, other: usize| one != other && reachable[other] && !rest[one][other];
        let expected: BTreeSet<usize> =
            (0..size).filter(|&one| members.iter().all(|&member| dominates(one, member))).collect();
        let found: Vec<Holder> = heap.dominators(&Silent).unwrap().common_holders(&set).collect();
        if members.is_empty() {
            assert_eq!(found, [], "round {round}");
            continue;
        }
        let (last, objects) = found.split_last().expect("the roots are common to all");
        assert_eq!(last.object(), None, "round {round}");
        let objects: Vec<usize> = objects.iter().map(|holder| holder.object().expect("an object").index()).collect();
        assert_eq!(objects.iter().copied().collect::<BTreeSet<_>>(), expected, "round {round}: {graph:?} {members:?}");
        assert!(objects.is_sorted_by(|&one, &next| dominates(next, one)), "round {round}: the nearest comes first");
        shared += usize::from(!objects.is_empty());
        shared_by_several += usize::from(!objects.is_empty() && members.len() > 2);
    }
    assert!(shared > 300 && shared_by_several > 50, "{shared} {shared_by_several}");
}

#[test]
fn referrers_are_counted_by_the_objects_that_they_lead_to() {
    let (mut random, mut with_several_targets) = (Random::new(6), 0);
    for round in 0..400 {
        let shelf = Shelf::default();
        let writer = Writer::to_stream(Box::new(shelf.clone()), Options::without_threads()).unwrap();
        let vocabulary = Vocabulary::declare(&writer).unwrap();
        let size = 1 + random.below(60) as u32;
        let plain = Recorded::random(&mut random, size, &vocabulary);
        plain.record(&writer).unwrap();
        writer.finish().unwrap();
        let heap = heap_of(Recording::from_bytes(shelf.take()).unwrap());
        let set = random_set(&mut random, plain.nodes.len());
        let (mut by_field, mut by_object) = (BTreeMap::new(), BTreeMap::new());
        for (source, node) in (0..).map(ObjectId).zip(&plain.nodes) {
            for edge in node.edges.iter().filter(|edge| set.contains(ObjectId(edge.target))) {
                let label = if let Label::Index(_) = edge.label { Label::Index(0) } else { edge.label };
                let targets: &mut BTreeSet<u32> = by_field.entry((node.type_id, label)).or_default();
                targets.insert(edge.target);
                let targets: &mut BTreeSet<u32> = by_object.entry(source).or_default();
                targets.insert(edge.target);
            }
        }
        let most = 1 + random.below(50) as usize;
        let found = heap.common_referrers(&set, [most; 2], &Silent).unwrap();
        let row = |(&(source, label), targets): (&(TypeId, Label), &BTreeSet<u32>)| FieldReferrer {
            source,
            label,
            objects: targets.len() as u64,
        };
        let mut fields: Vec<FieldReferrer> = by_field.iter().map(row).collect();
        fields.sort_by_key(|field| Reverse(field.objects));
        let row =
            |(&source, targets): (&ObjectId, &BTreeSet<u32>)| ObjectReferrer { source, objects: targets.len() as u64 };
        let mut objects: Vec<ObjectReferrer> = by_object.iter().map(row).collect();
        objects.sort_by_key(|object| Reverse(object.objects));
        with_several_targets += objects.iter().filter(|object| object.objects > 1).count();
        assert_eq!((found.all_fields, found.all_objects), (fields.len() as u64, objects.len() as u64), "round {round}");
        fields.truncate(most);
        objects.truncate(most);
        assert_eq!((found.fields, found.objects), (fields, objects), "round {round}");
    }
    assert!(with_several_targets > 1000, "{with_several_targets}");
}

/// References that go on in further blocks lead to the same objects again.
#[test]
fn an_array_of_several_blocks_refers_to_an_object_once() {
    const TARGETS: u32 = 100;
    let shelf = Shelf::default();
    let writer = Writer::to_stream(Box::new(shelf.clone()), Options::without_threads()).unwrap();
    let kind = writer.kind("object", KindRole::Object).unwrap();
    let plain = writer.declare_type(&TypeDescription::new(kind, "Plain")).unwrap();
    let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
    let mut shard = snapshot.shard();
    (0..TARGETS).for_each(|id| shard.object(id.into(), &Object::new(plain, 16)).unwrap());
    shard.object(TARGETS.into(), &Object::new(plain, 16)).unwrap();
    for index in 0..2_000_000_u32 {
        shard.reference(Label::Index(index.into()), StrengthId::STRONG, (index % TARGETS).into()).unwrap();
    }
    shard.finish().unwrap();
    snapshot.commit().unwrap();
    writer.finish().unwrap();
    let heap = heap_of(Recording::from_bytes(shelf.take()).unwrap());
    let blocks = heap.recording().snapshot(SNAPSHOT).unwrap().totals;
    assert_eq!(blocks.references, 2_000_000);
    let set = ObjectSet::from_sorted(SNAPSHOT, heap.object_count(), (0..40).map(ObjectId));
    let found = heap.common_referrers(&set, [3; 2], &Silent).unwrap();
    assert_eq!(found.objects, [ObjectReferrer { source: ObjectId(TARGETS), objects: 40 }]);
    assert_eq!(found.fields.iter().map(|field| field.objects).collect::<Vec<_>>(), [40]);
}

#[test]
fn common_fields_are_those_that_enough_objects_have() {
    let shelf = Shelf::default();
    let writer = Writer::to_stream(Box::new(shelf.clone()), Options::without_threads()).unwrap();
    let kind = writer.kind("object", KindRole::Object).unwrap();
    let base = writer.declare_type(&TypeDescription::new(kind, "Base")).unwrap();
    let mut description = TypeDescription::new(kind, "Derived");
    description.base = Some(base);
    let derived = writer.declare_type(&description).unwrap();
    let both = writer.field(base, "both", Encoding::Signed, false).unwrap();
    writer.field(derived, "one", Encoding::Reference, false).unwrap();
    let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
    let mut shard = snapshot.shard();
    for id in 0..10 {
        shard.object(id, &Object::new(if id < 8 { derived } else { base }, 16)).unwrap();
        shard.value(both, Value::Signed(1)).unwrap();
    }
    shard.finish().unwrap();
    snapshot.commit().unwrap();
    writer.finish().unwrap();
    let heap = heap_of(Recording::from_bytes(shelf.take()).unwrap());
    let set = ObjectSet::from_sorted(SNAPSHOT, 10, (0..10).map(ObjectId));
    let names = |least| heap.common_fields(&set, least, &Silent).unwrap();
    assert_eq!([names(8), names(9), names(11)], [vec!["both", "one"], vec!["both"], vec![]]);
}
