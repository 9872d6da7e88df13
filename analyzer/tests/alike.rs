//! Compares references by page and by type, duplicates and waste with their definitions, on small random heaps.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use barrow_analyzer::{
    Cut, DuplicateGroups, Duplicates, Exclusion, Heap, IndexPlace, Memory, ObjectId, ObjectSet, Recording, Reference,
    Silent, SnapshotId, TypeReferences, Waste, outgoing, outgoing_page,
};
use barrow_testdata::{Edge, Graph, Heap as Plain, Node, Random, Shelf, Vocabulary};
use barrow_writer::{
    Compression, Encoding, KindRole, Label, Object, Options, SnapshotInfo, StrengthId, TypeDescription, TypeId, Value,
    Writer,
};

const SNAPSHOT: SnapshotId = SnapshotId(0);

fn recorded(make: impl FnOnce(&Vocabulary) -> Plain) -> (Plain, Heap) {
    let shelf = Shelf::default();
    let options = Options { compression: Compression::None, threads: 0, ..Options::default() };
    let writer = Writer::to_stream(Box::new(shelf.clone()), options).unwrap();
    let plain = make(&Vocabulary::declare(&writer).unwrap());
    plain.record(&writer).unwrap();
    writer.finish().unwrap();
    let bytes = shelf.take();
    (plain, of(Arc::new(Recording::from_bytes(bytes).unwrap())))
}

fn of(recording: Arc<Recording>) -> Heap {
    Heap::new(recording, SNAPSHOT, &IndexPlace::Nowhere, Memory::unlimited()).unwrap()
}

fn references(node: &Node) -> Vec<Reference> {
    let reference =
        |edge: &Edge| Reference { label: edge.label, strength: edge.strength, target: ObjectId(edge.target) };
    node.edges.iter().map(reference).collect()
}

/// References of objects, of one type each, added up.
fn by_type(plain: &Plain, ends: impl Iterator<Item = u32>) -> BTreeMap<TypeId, (u64, BTreeSet<u32>)> {
    let mut by_type: BTreeMap<TypeId, (u64, BTreeSet<u32>)> = BTreeMap::new();
    for end in ends {
        let sum = by_type.entry(plain.nodes[end as usize].type_id).or_default();
        sum.0 += 1;
        sum.1.insert(end);
    }
    by_type
}

fn assert_by_type(plain: &Plain, found: &[TypeReferences], ends: impl Iterator<Item = u32>) {
    let expected = by_type(plain, ends);
    assert_eq!(found.len(), expected.len());
    for (one, (type_id, (references, objects))) in found.iter().zip(expected) {
        let sizes = objects.iter().map(|&object| plain.nodes[object as usize].shallow_bytes);
        let bytes = sizes.fold(0, u64::wrapping_add);
        assert_eq!((one.type_id, one.references, one.objects), (type_id, references, objects.len() as u64));
        assert_eq!(one.shallow_bytes, bytes);
        assert!(objects.contains(&one.example.0));
    }
}

/// All references that lead to `target`: source, label, strength.
fn incoming(plain: &Plain, target: u32) -> Vec<(u32, Label, StrengthId)> {
    let sources = (0u32..).zip(&plain.nodes);
    let edges = sources.flat_map(|(source, node)| node.edges.iter().map(move |edge| (source, edge)));
    edges.filter(|(_, edge)| edge.target == target).map(|(source, edge)| (source, edge.label, edge.strength)).collect()
}

fn assert_incoming(
    plain: &Plain,
    heap: &Heap,
    target: u32,
    expected: &[(u32, Label, StrengthId)],
    random: &mut Random,
) {
    let referrers = heap.referrers(ObjectId(target), &Silent).unwrap();
    assert_eq!(referrers.count(), expected.len() as u64);
    let from = random.below(expected.len() as u64 + 2);
    let limit = random.below(5) as usize;
    for (from, limit) in [(0, usize::MAX), (from, limit)] {
        let page = heap.incoming_page(&referrers, from, limit).unwrap();
        let wanted: Vec<_> = expected.iter().skip(from as usize).take(limit).copied().collect();
        let found: Vec<_> = page.iter().map(|one| (one.source.id.0, one.label, one.strength)).collect();
        assert_eq!(found, wanted);
        for one in &page {
            let node = &plain.nodes[one.source.id.index()];
            assert_eq!((one.source.type_id, one.source.shallow_bytes), (node.type_id, node.shallow_bytes));
            assert_eq!(one.source.references, node.edges.len() as u64);
        }
    }
    assert_by_type(plain, &heap.incoming_by_type(ObjectId(target), &Silent).unwrap(), expected.iter().map(|one| one.0));
}

#[test]
fn references_are_paged_and_added_up_by_type() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let size = 1 + random.below(120) as u32;
        let (plain, heap) = recorded(|vocabulary| Plain::random(&mut random, size, vocabulary));
        for (id, node) in (0u32..).zip(&plain.nodes) {
            let all = references(node);
            assert_eq!(outgoing(heap.recording(), SNAPSHOT, ObjectId(id)).unwrap(), all);
            let (from, limit) = (random.below(8), random.below(8) as usize);
            let expected: Vec<Reference> = all.iter().skip(from as usize).take(limit).copied().collect();
            let page = outgoing_page(heap.recording(), SNAPSHOT, ObjectId(id), from, limit).unwrap();
            assert_eq!(page, (expected, all.len() as u64));
            let targets = all.iter().map(|reference| reference.target.0);
            assert_by_type(&plain, &heap.outgoing_by_type(ObjectId(id), &Silent).unwrap(), targets);
            let expected = incoming(&plain, id);
            // A new heap scans all references; the other one has incoming references already.
            let fresh = of(Arc::clone(heap.recording()));
            assert_incoming(&plain, &fresh, id, &expected, &mut random);
            let mut sources: Vec<ObjectId> = expected.iter().map(|one| ObjectId(one.0)).collect();
            sources.dedup();
            assert_eq!(fresh.referring_objects(ObjectId(id), &Silent).unwrap(), sources);
            assert!(fresh.known_incoming().is_none());
            assert_incoming(&plain, &heap, id, &expected, &mut random);
            assert_eq!(heap.referring_objects(ObjectId(id), &Silent).unwrap(), sources);
        }
        assert!(heap.known_incoming().is_some() || size == 1);
    }
}

#[test]
fn references_that_go_on_in_further_blocks_are_paged() {
    const MANY: u32 = (1 << 21) + 1000;
    let (plain, heap) = recorded(|vocabulary| {
        let node = |type_id, edges| Node {
            type_id,
            shallow_bytes: 16,
            unmanaged_bytes: 0,
            identity: (None, None, None),
            name: None,
            edges,
        };
        let edge = |index: u32| Edge {
            label: Label::Index(index.into()),
            strength: StrengthId::STRONG,
            // Only the first and the last block refer to object 3.
            target: if (5..MANY - 5).contains(&index) { index % 2 } else { 3 },
        };
        let kinds = [0, 1, 2, 3].map(|kind| vocabulary.types[kind]);
        let small = node(kinds[0], vec![edge(0)]);
        let array = node(kinds[1], (0..MANY).map(edge).collect());
        Plain { nodes: vec![small.clone(), node(kinds[2], Vec::new()), array, node(kinds[3], Vec::new()), small] }
    });
    let all = references(&plain.nodes[2]);
    for (from, limit) in [(0, 3), ((1 << 20) - 2, 5), ((1 << 21) - 10, 2000), (u64::from(MANY) - 1, 9), (1 << 40, 1)] {
        let (page, total) = outgoing_page(heap.recording(), SNAPSHOT, ObjectId(2), from, limit).unwrap();
        assert_eq!(total, u64::from(MANY));
        assert_eq!(page, all.iter().skip(from as usize).take(limit).copied().collect::<Vec<_>>(), "{from}");
    }
    let targets = all.iter().map(|reference| reference.target.0);
    assert_by_type(&plain, &heap.outgoing_by_type(ObjectId(2), &Silent).unwrap(), targets);
    let mut random = Random::new(1);
    for target in [3, 3, 1] {
        assert_incoming(&plain, &heap, target, &incoming(&plain, target), &mut random);
    }
    assert_eq!(heap.duplicates(&Silent).unwrap(), []);
}

#[test]
fn what_is_excluded_refers_to_nothing() {
    let (graph, names) = Graph::of_words("root -> a(16) -> b(24) -> c(8); root -> d(8) -> c; a -> c");
    let heap = of(Arc::new(graph.recording()));
    let id = |name: &str| ObjectId(names.iter().position(|known| known == name).unwrap() as u32);
    let sources = |heap: &Heap, of: &str| {
        let referrers = heap.referrers(id(of), &Silent).unwrap();
        let page = heap.incoming_page(&referrers, 0, 9).unwrap();
        let by_type = heap.incoming_by_type(id(of), &Silent).unwrap();
        assert_eq!(by_type.iter().map(|one| one.references).sum::<u64>(), page.len() as u64);
        page.iter().map(|one| names[one.source.id.index()].clone()).collect::<Vec<_>>()
    };
    assert_eq!(sources(&heap, "c"), ["a", "b", "d"]);
    let removed = ObjectSet::from_sorted(SNAPSHOT, heap.object_count(), [id("b")]);
    let rest = heap.excluding(Exclusion::new(&heap, &removed, None::<Cut>, &Silent).unwrap());
    // The first answer comes from a scan, the second from incoming references.
    assert_eq!([sources(&rest, "c"), sources(&rest, "c")], [["a", "d"], ["a", "d"]]);
    let kept: u64 = rest.outgoing_by_type(id("a"), &Silent).unwrap().iter().map(|one| one.references).sum();
    assert_eq!(kept, 1);
}

/// Duplicates by definition, without their examples.
fn naive_duplicates(plain: &Plain) -> BTreeMap<TypeId, (u64, u64, u64)> {
    let mut found: BTreeMap<TypeId, (u64, u64, u64)> = BTreeMap::new();
    let look = |node: &Node| (node.type_id, node.name, node.shallow_bytes, node.unmanaged_bytes, references(node));
    let says_something = |(_, node): &(usize, &Node)| node.name.is_some() || !node.edges.is_empty();
    for (id, node) in plain.nodes.iter().enumerate().filter(says_something) {
        let is_alike = |other: &&Node| look(other) == look(node);
        let mut of_type = plain.nodes.iter().filter(|other| other.type_id == node.type_id && !other.edges.is_empty());
        let tells_nothing = node.name.is_none()
            && node.edges.len() == 1
            && of_type.all(|other| other.edges.iter().take(4).any(|edge| *edge == node.edges[0]));
        let count = plain.nodes.iter().filter(is_alike).count() as u64;
        if tells_nothing || count < 2 || plain.nodes[..id].iter().any(|other| is_alike(&other)) {
            continue;
        }
        let sum = found.entry(node.type_id).or_default();
        sum.0 += 1;
        sum.1 += count;
        sum.2 = sum.2.wrapping_add((count - 1).wrapping_mul(node.shallow_bytes + node.unmanaged_bytes));
    }
    found
}

#[test]
fn duplicates_are_what_they_are_by_definition() {
    for seed in 0..150 {
        let mut random = Random::new(seed);
        let size = 1 + random.below(150) as u32;
        let (plain, heap) = recorded(|vocabulary| {
            let mut plain = Plain::random(&mut random, size, vocabulary);
            for _ in 0..random.below(u64::from(size)) {
                let [from, to] = [0; 2].map(|_: u8| random.below(size.into()) as usize);
                let identity = plain.nodes[to].identity;
                plain.nodes[to] = Node { identity, ..plain.nodes[from].clone() };
                // Some objects differ in a single attribute.
                match random.below(7) {
                    0 => plain.nodes[to].unmanaged_bytes ^= 1,
                    1 => plain.nodes[to].shallow_bytes ^= 8,
                    2 => plain.nodes[to].edges.reverse(),
                    3 => plain.nodes[to].edges.truncate(1),
                    4 => plain.nodes[to].name = Some(vocabulary.names[random.below(2) as usize]),
                    _ => {}
                }
            }
            plain
        });
        let expected = naive_duplicates(&plain);
        for threads in [1, 2, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let found = pool.install(|| heap.duplicates(&Silent)).unwrap();
            let sums = found.iter().map(|one| (one.type_id, (one.groups, one.objects, one.wasted_bytes)));
            assert_eq!(sums.collect::<BTreeMap<_, _>>(), expected, "seed {seed}");
            assert!(found.is_sorted_by_key(|one| std::cmp::Reverse(one.wasted_bytes)));
            found.iter().for_each(|one| assert_example(&plain, one));
            let groups = pool.install(|| heap.duplicate_groups(None, &Silent)).unwrap();
            assert_groups(&plain, &heap, &groups);
            let mut sums: BTreeMap<TypeId, (u64, u64, u64)> = BTreeMap::new();
            for group in &groups.groups {
                let sum = sums.entry(group.type_id).or_default();
                *sum = (sum.0 + 1, sum.1 + group.objects, sum.2.wrapping_add(group.wasted_bytes));
            }
            assert_eq!(sums, expected, "seed {seed}");
        }
    }
}

/// Strings whose texts are in arrays, which some of them share. By definition: they are alike if text and sizes are, and of
/// the arrays to which no string with another look refers, each look needs one.
#[test]
fn arrays_of_equal_texts_are_duplicates() {
    const OBJECTS: u64 = 60;
    const ARRAYS: u64 = 20;
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let shelf = Shelf::default();
        let writer = Writer::to_stream(Box::new(shelf.clone()), Options::default()).unwrap();
        let kind = writer.kind("object", KindRole::Object).unwrap();
        let array = writer.declare_type(&TypeDescription::new(kind, "byte[]")).unwrap();
        let attributes = &[("text of", "value")];
        let string = TypeDescription { attributes, ..TypeDescription::new(kind, "java.lang.String") };
        let string = writer.declare_type(&string).unwrap();
        let value = Label::Name(writer.string("value").unwrap());
        let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
        let mut shard = snapshot.shard();
        for id in 0..ARRAYS {
            shard.object(id, &Object::new(array, 1 << id)).unwrap();
        }
        // By look: how many strings, and their arrays.
        let mut alike: BTreeMap<(u64, u64), (u64, BTreeSet<u64>)> = BTreeMap::new();
        for id in ARRAYS..OBJECTS {
            if seed % 100 == 0 && id == OBJECTS / 2 {
                // The writer forgets which strings it has: equal texts get other ids.
                for number in 0..17 {
                    writer.string(&format!("{number}{}", "x".repeat(1_000_000))).unwrap();
                }
                assert!(writer.string("value").map(Label::Name).unwrap() != value);
            }
            let (text, size, target) = (random.below(6), random.below(2), random.below(ARRAYS));
            let name = Some(writer.string(&format!("text {text}")).unwrap());
            shard.object(id, &Object { name, ..Object::new(string, size << 40) }).unwrap();
            shard.reference(value, StrengthId::STRONG, target).unwrap();
            let same = alike.entry((text, size)).or_default();
            same.0 += 1;
            same.1.insert(target);
        }
        shard.finish().unwrap();
        snapshot.commit().unwrap();
        writer.finish().unwrap();
        let mut expected = (0, 0, 0);
        for (look, (count, arrays)) in &alike {
            let is_own =
                |array: &&u64| alike.iter().all(|(other, (_, arrays))| other == look || !arrays.contains(*array));
            if *count > 1 {
                let superfluous = arrays.iter().filter(is_own).skip(1).map(|&array| 1 << array);
                expected.0 += 1;
                expected.1 += count;
                expected.2 += (count - 1) * (look.1 << 40) + superfluous.sum::<u64>();
            }
        }
        let heap = of(Arc::new(Recording::from_bytes(shelf.take()).unwrap()));
        let found = heap.duplicates(&Silent).unwrap();
        let found: Vec<_> = found.iter().map(|one| (one.groups, one.objects, one.wasted_bytes)).collect();
        assert_eq!(found, [expected], "seed {seed}");
        let mut of_groups: Vec<(u64, u64, u64)> = Vec::new();
        for (look, (count, arrays)) in alike.iter().filter(|(_, (count, _))| *count > 1) {
            let is_own =
                |array: &&u64| alike.iter().all(|(other, (_, arrays))| other == look || !arrays.contains(*array));
            let own: Vec<u64> = arrays.iter().filter(is_own).map(|&array| 1 << array).collect();
            let (one, more) = own.split_first().map_or((0, 0), |(one, more)| (*one, more.iter().sum()));
            of_groups.push((*count, (look.1 << 40) + one, (count - 1) * (look.1 << 40) + more));
        }
        let groups = heap.duplicate_groups(None, &Silent).unwrap();
        let mut found: Vec<_> =
            groups.groups.iter().map(|group| (group.objects, group.each_bytes, group.wasted_bytes)).collect();
        found.sort_unstable();
        of_groups.sort_unstable();
        assert_eq!(found, of_groups, "seed {seed}");
    }
}

/// Objects with fields. By definition: they are alike if all but their optional fields are, or, if they have a name, if that
/// and their references are; but the field that tells all of an object counts, and an object that neither this nor a name
/// nor a reference tells apart is left out.
#[test]
fn what_fields_hold_is_compared() {
    #[derive(Clone, Copy, PartialEq, Eq)]
    struct Thing {
        is_array: bool,
        name: Option<u64>,
        number: Option<u64>,
        when: Option<u64>,
        elements: Option<u64>,
        target: Option<u64>,
    }
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let shelf = Shelf::default();
        let writer = Writer::to_stream(Box::new(shelf.clone()), Options::default()).unwrap();
        let kind = writer.kind("object", KindRole::Object).unwrap();
        let attributes = &[("all elements", "contents")];
        let array = TypeDescription { attributes, ..TypeDescription::new(kind, "int[]") };
        let types = [TypeDescription::new(kind, "Point"), array].map(|of| writer.declare_type(&of).unwrap());
        let [numbers, whens] = [("number", false), ("when", true)].map(|(name, is_optional)| {
            types.map(|of| writer.field(of, name, Encoding::Unsigned, is_optional).unwrap())
        });
        let contents = writer.field(types[1], "contents", Encoding::Text, true).unwrap();
        let label = |name| Label::Name(writer.string(name).unwrap());
        let (common, other) = (label("common"), label("other"));
        let perhaps = |random: &mut Random, of: u64| (random.below(2) == 0).then(|| random.below(of));
        let things: Vec<Thing> = (0..40)
            .map(|_| {
                let is_array = random.below(2) == 0;
                let name = (random.below(4) == 0).then(|| random.below(2));
                let [number, when, elements, target] = [2, 3, 2, 2].map(|of| perhaps(&mut random, of));
                let elements = elements.filter(|_| is_array);
                Thing { is_array, name, number, when, elements, target }
            })
            .collect();
        let has_common = seed % 2 == 0;
        let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
        let mut shard = snapshot.shard();
        for (id, thing) in (0..).zip(&things) {
            let of_type = usize::from(thing.is_array);
            let name = thing.name.map(|name| writer.string(&format!("name {name}")).unwrap());
            shard.object(id, &Object { name, ..Object::new(types[of_type], 16) }).unwrap();
            for (field, value) in [(numbers[of_type], thing.number), (whens[of_type], thing.when)] {
                value.map_or(Ok(()), |value| shard.value(field, Value::Unsigned(value))).unwrap();
            }
            if let Some(elements) = thing.elements {
                let text = Value::Text(writer.string(&format!("elements {elements}")).unwrap());
                shard.value(contents, text).unwrap();
            }
            if has_common {
                shard.reference(common, StrengthId::STRONG, 0).unwrap();
            }
            thing.target.map_or(Ok(()), |target| shard.reference(other, StrengthId::STRONG, target)).unwrap();
        }
        shard.finish().unwrap();
        snapshot.commit().unwrap();
        writer.finish().unwrap();
        let tells_something = |thing: &&Thing| {
            let mut targets = things.iter().filter(|other| other.is_array == thing.is_array).filter_map(|of| of.target);
            let target_tells = thing.target.is_some_and(|own| has_common || targets.any(|target| target != own));
            thing.name.is_some() || thing.elements.is_some() || target_tells
        };
        let look = |thing: &Thing| match thing.name {
            None => Thing { when: None, ..*thing },
            Some(_) => Thing { number: None, when: None, elements: None, ..*thing },
        };
        let mut alike: Vec<(Thing, u64)> = Vec::new();
        for thing in things.iter().filter(tells_something).map(look) {
            match alike.iter_mut().find(|(known, _)| *known == thing) {
                Some((_, count)) => *count += 1,
                None => alike.push((thing, 1)),
            }
        }
        let mut expected: BTreeMap<TypeId, (u64, u64)> = BTreeMap::new();
        for (thing, count) in alike.into_iter().filter(|(_, count)| *count > 1) {
            let sum = expected.entry(types[usize::from(thing.is_array)]).or_default();
            *sum = (sum.0 + 1, sum.1 + count);
        }
        let heap = of(Arc::new(Recording::from_bytes(shelf.take()).unwrap()));
        let found = heap.duplicates(&Silent).unwrap();
        let found: BTreeMap<_, _> = found.iter().map(|one| (one.type_id, (one.groups, one.objects))).collect();
        assert_eq!(found, expected, "seed {seed}");
    }
}

/// The objects of each group are all that look like its first one, and its holders are all references to them.
fn assert_groups(plain: &Plain, heap: &Heap, found: &DuplicateGroups) {
    assert!(found.groups.is_sorted_by_key(|group| std::cmp::Reverse(group.wasted_bytes)));
    let holders = heap.holders(found, &found.groups, &Silent).unwrap();
    assert_eq!(holders.len(), found.groups.len());
    for (group, holders) in found.groups.iter().zip(&holders) {
        let first = &plain.nodes[group.first.index()];
        let is_alike = |node: &Node| Node { identity: first.identity, ..node.clone() } == *first;
        let alike = (0u32..).zip(&plain.nodes).filter(|(_, node)| is_alike(node)).map(|(id, _)| ObjectId(id));
        let alike: Vec<ObjectId> = alike.collect();
        assert_eq!(found.objects(group).collect::<Vec<_>>(), alike);
        assert_eq!((group.first, group.objects, group.text), (alike[0], alike.len() as u64, first.name));
        assert_eq!(group.each_bytes, first.shallow_bytes.wrapping_add(first.unmanaged_bytes));
        let mut expected: BTreeMap<(TypeId, Label), u64> = BTreeMap::new();
        for (source, edge) in plain.nodes.iter().flat_map(|node| node.edges.iter().map(move |edge| (node, edge))) {
            if alike.contains(&ObjectId(edge.target)) {
                let label = if let Label::Index(_) = edge.label { Label::Index(0) } else { edge.label };
                *expected.entry((source.type_id, label)).or_default() += 1;
            }
        }
        let told = holders.iter().map(|one| ((one.source, one.label), one.references));
        assert_eq!(told.collect::<BTreeMap<_, _>>(), expected);
        assert!(holders.is_sorted_by_key(|one| std::cmp::Reverse(one.references)));
    }
    // Only groups that have one of some objects.
    let some = found.groups.iter().step_by(2).filter_map(|group| found.objects(group).last());
    let some = ObjectSet::from_sorted(SNAPSHOT, plain.nodes.len() as u64, some);
    let of_some = heap.duplicate_groups(Some(&some), &Silent).unwrap();
    let expected = found.groups.iter().step_by(2).map(|group| group.first);
    assert!(of_some.groups.iter().map(|group| group.first).eq(expected));
}

fn assert_example(plain: &Plain, one: &Duplicates) {
    let example = &plain.nodes[one.example.index()];
    let alike = plain.nodes.iter().filter(|node| Node { identity: example.identity, ..(*node).clone() } == *example);
    assert_eq!((example.type_id, one.example_count), (one.type_id, alike.count() as u64));
}

#[test]
fn waste_is_what_it_is_by_definition() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let mut class = None;
        let (plain, heap) = recorded(|vocabulary| {
            class = Some(Label::Name(vocabulary.names[0]));
            containers(&mut random, vocabulary)
        });
        let mut expected: BTreeMap<TypeId, (u64, u64, u64, u64)> = BTreeMap::new();
        let dictionary = plain.nodes[1].type_id;
        let is_container = |node: &Node| {
            let mut of_type = plain.nodes.iter().filter(|other| other.type_id == node.type_id);
            node.type_id == dictionary
                || of_type.any(|other| matches!(other.edges.last(), Some(Edge { label: Label::Index(_), .. })))
        };
        for node in &plain.nodes {
            let elements = node.edges.len() as u64 - 1;
            let is_array = matches!(node.edges[node.edges.len() - 1].label, Label::Index(_));
            let sum = expected.entry(node.type_id).or_default();
            if elements == 0 && is_container(node) {
                sum.0 += 1;
                sum.1 += node.shallow_bytes + node.unmanaged_bytes;
            }
            if is_array && node.unmanaged_bytes > 8 * elements {
                sum.2 += 1;
                sum.3 += node.unmanaged_bytes - 8 * elements;
            }
        }
        expected.retain(|_, sum| sum.0 + sum.2 > 0);
        let found = heap.waste(&Silent).unwrap();
        let sum = |one: &Waste| (one.empty_objects, one.empty_bytes, one.spare_objects, one.spare_bytes);
        assert_eq!(
            found.iter().map(|one| (one.type_id, sum(one))).collect::<BTreeMap<_, _>>(),
            expected,
            "seed {seed}"
        );
        assert!(found.is_sorted_by_key(|one| std::cmp::Reverse(one.empty_bytes + one.spare_bytes)));
    }
}

/// Arrays, dictionaries with too many different keys to be in shapes, and records. All of them begin with a reference
/// to their class. Some arrays and dictionaries are empty.
fn containers(random: &mut Random, vocabulary: &Vocabulary) -> Plain {
    let size = 900 + random.below(100);
    let nodes = (0..size).map(|number| {
        let kind = if number == 1 { 1 } else { random.below(4) };
        let strong = |label, target: u64| Edge { label, strength: StrengthId::STRONG, target: target as u32 };
        let mut edges = vec![strong(Label::Name(vocabulary.names[0]), kind)];
        for element in 0..random.below(6) {
            let label = match kind {
                0 => Label::Index(element),
                1 => Label::Name(vocabulary.names[1 + random.below(7) as usize]),
                2 if element > 2 => continue,
                // An object with fields but without elements.
                2 => Label::Name(vocabulary.names[1 + element as usize]),
                // References without labels do not make a container.
                _ => Label::Unknown,
            };
            edges.push(strong(label, random.below(size)));
        }
        let unmanaged_bytes = 8 * random.below(8);
        let type_id = vocabulary.types[kind as usize];
        let (shallow_bytes, identity) = (16 + 8 * random.below(3), (None, None, None));
        Node { type_id, shallow_bytes, unmanaged_bytes, identity, name: None, edges }
    });
    Plain { nodes: nodes.collect() }
}
