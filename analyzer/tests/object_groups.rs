//! Compares groups of objects, and what they retain, with their definition, on small random graphs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use barrow_analyzer::{
    Expression, GroupKey, Heap, IndexPlace, Memory, ObjectId, ObjectSet, Recording, Silent, SnapshotId, StrengthClass,
};
use barrow_testdata::{Graph, Random, Shelf};
use barrow_writer::{KindRole, Label, Object, Options, SnapshotInfo, StrengthId, TypeDescription, Writer};

const SNAPSHOT: SnapshotId = SnapshotId(0);

fn heap(recording: Recording) -> Heap {
    Heap::new(Arc::new(recording), SNAPSHOT, &IndexPlace::Nowhere, Memory::unlimited()).expect("the snapshot is there")
}

/// The objects to which strong references lead from `starts` without entering a chosen object.
fn reach(graph: &Graph, starts: &[usize], chosen: &[bool]) -> BTreeSet<usize> {
    let mut found: BTreeSet<usize> = starts.iter().copied().collect();
    let mut open = starts.to_vec();
    while let Some(object) = open.pop() {
        for &(target, strength) in &graph.references[object] {
            let target = target as usize;
            if strength == StrengthClass::Strong && !chosen[target] && found.insert(target) {
                open.push(target);
            }
        }
    }
    found
}

/// Objects, and bytes of both sizes.
fn sum(graph: &Graph, objects: impl Iterator<Item = usize>) -> (u64, u64) {
    objects.fold((0, 0), |(count, bytes), object| (count + 1, bytes + graph.sizes[object].0 + graph.sizes[object].1))
}

#[test]
fn groups_and_what_is_shared_add_up_to_what_all_retain() {
    let mut random = Random::new(24);
    for round in 0..3000 {
        let graph = Graph::random(&mut random, 12, round % 3 == 0);
        let count = graph.types.len();
        let chosen: Vec<bool> = (0..count).map(|_| random.below(3) == 0).collect();
        let ids = (0..).map(ObjectId).zip(&chosen).filter(|(_, chosen)| **chosen).map(|(id, _)| id);
        let set = ObjectSet::from_sorted(SNAPSHOT, count as u64, ids);
        let reachable = graph.reachable_without(&vec![false; count]);
        let without = graph.reachable_without(&chosen);
        let freed: Vec<usize> = (0..count).filter(|&object| reachable[object] && !without[object]).collect();

        let heap = heap(graph.recording());
        let tables = heap.recording().tables().unwrap();
        let found = heap.groups(&set, &[GroupKey::Type], &Silent).unwrap();
        let retained = found.retained(&Silent).unwrap();
        let all = retained.groups.iter().chain([&retained.shared]);
        let all = all.fold((0, 0), |(objects, bytes), one| (objects + one.objects, bytes + one.bytes));
        assert_eq!(all, sum(&graph, freed.iter().copied()), "{chosen:?} of {graph:?}");

        let mut holders: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut expected_groups = 0;
        for (number, name) in Graph::TYPES.iter().enumerate() {
            let is_member = |object: &usize| chosen[*object] && usize::from(graph.types[*object]) == number;
            let of_group: Vec<usize> = (0..count).filter(is_member).collect();
            let starts: Vec<usize> = of_group.iter().copied().filter(|&object| reachable[object]).collect();
            for object in reach(&graph, &starts, &chosen) {
                holders.entry(object).or_default().push(number);
            }
            let group = found.groups.iter().find(|group| group.key(&GroupKey::Type, tables) == Some(*name));
            assert_eq!(group.is_some(), !of_group.is_empty(), "{name} of {chosen:?} of {graph:?}");
            expected_groups += usize::from(group.is_some());
            let total = group.map_or((0, 0), |group| (group.objects, group.heap_bytes + group.unmanaged_bytes));
            assert_eq!(total, sum(&graph, of_group.into_iter()), "{name} of {chosen:?} of {graph:?}");
        }
        assert_eq!(found.groups.len(), expected_groups);
        let has_ephemerons =
            graph.references.iter().flatten().any(|(_, strength)| *strength == StrengthClass::Ephemeron);
        if has_ephemerons {
            continue;
        }
        assert!(retained.are_exact);
        for (group, part) in found.groups.iter().zip(&retained.groups) {
            let name = group.key(&GroupKey::Type, tables).unwrap();
            let number = Graph::TYPES.iter().position(|known| *known == name).unwrap();
            let own = freed.iter().copied().filter(|object| holders[object] == [number]);
            assert_eq!((part.objects, part.bytes), sum(&graph, own), "{name} of {chosen:?} of {graph:?}");
        }
        let shared = freed.iter().copied().filter(|object| holders[object].len() > 1);
        assert_eq!((retained.shared.objects, retained.shared.bytes), sum(&graph, shared), "{chosen:?} of {graph:?}");
    }
}

/// Objects of several classes, each referring to the one before, with these texts.
fn with_texts(texts: &[(usize, Option<&str>)]) -> Recording {
    let shelf = Shelf::default();
    let writer = Writer::to_stream(Box::new(shelf.clone()), Options::default()).unwrap();
    let kind = writer.kind("object", KindRole::Object).unwrap();
    let class = writer.kind("class", KindRole::Type).unwrap();
    let loader = [("class loader", "app.Loader"), ("implements", "app.Closing"), ("implements", "java.util.SortedMap")];
    let describe =
        |kind, name, base, attributes| TypeDescription { base, attributes, ..TypeDescription::new(kind, name) };
    let interfaces = [("implements", "java.util.Map")];
    let base = writer.declare_type(&describe(kind, "java.util.AbstractMap", None, &interfaces[..])).unwrap();
    let types = [
        base,
        writer.declare_type(&describe(kind, "java.util.HashMap", Some(base), &[][..])).unwrap(),
        writer.declare_type(&describe(kind, "app.Session", None, &loader[..])).unwrap(),
        writer.declare_type(&describe(class, "java.lang.Class", None, &[][..])).unwrap(),
    ];
    let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
    let mut shard = snapshot.shard();
    for (number, &(of_type, text)) in (0..).zip(texts) {
        let name = text.map(|text| writer.string(text).unwrap());
        let object = Object { name, ..Object::new(types[of_type], 8 + number) };
        shard.object(number, &object).unwrap();
        if number > 0 {
            shard.reference(Label::Unknown, StrengthId::STRONG, number - 1).unwrap();
        }
    }
    shard.finish().unwrap();
    snapshot.commit().unwrap();
    writer.finish().unwrap();
    Recording::from_bytes(shelf.bytes()).unwrap()
}

fn of_type(word: &str) -> GroupKey {
    GroupKey::OfType(barrow_analyzer::Attribute::named(word).unwrap())
}

#[test]
fn keys_are_those_of_the_type_and_the_text() {
    let texts = [
        (0, None),
        (1, Some("a")),
        (1, Some("b")),
        (2, Some("a")),
        (2, Some("a")),
        // The name of a class is no text.
        (3, Some("a")),
    ];
    let heap = heap(with_texts(&texts));
    let tables = heap.recording().tables().unwrap();
    let grouped = |keys: &[GroupKey]| {
        let (all, _) = heap.select(&[], &Expression::parse("").unwrap(), &Silent).unwrap();
        let found = heap.groups(&all, keys, &Silent).unwrap();
        let row = |group: &barrow_analyzer::ObjectGroup| {
            let keys = keys.iter().map(|key| group.key(key, tables).unwrap_or("-").to_owned());
            (keys.collect::<Vec<_>>().join(" "), group.objects)
        };
        found.groups.iter().map(row).collect::<BTreeMap<String, u64>>()
    };
    let expected = |rows: &[(&str, u64)]| rows.iter().map(|&(key, objects)| (key.to_owned(), objects)).collect();
    assert_eq!(grouped(&[of_type("package")]), expected(&[("app", 2), ("java.lang", 1), ("java.util", 3)]));
    assert_eq!(grouped(&[of_type("loader")]), expected(&[("-", 4), ("app.Loader", 2)]));
    assert_eq!(grouped(&[of_type("superclass")]), expected(&[("-", 4), ("java.util.AbstractMap", 2)]));
    assert_eq!(grouped(&[GroupKey::Kind]), expected(&[("class", 1), ("object", 5)]));
    assert_eq!(grouped(&[GroupKey::Text]), expected(&[("-", 2), ("a", 3), ("b", 1)]));
    assert_eq!(
        grouped(&[of_type("package"), GroupKey::Text]),
        expected(&[("app a", 2), ("java.lang -", 1), ("java.util -", 1), ("java.util a", 1), ("java.util b", 1)])
    );
    for (expression, objects) in [
        ("is java.util.AbstractMap", 3),
        ("is java.util.HashMap", 2),
        ("is java.*", 6),
        ("is /AbstractMap$/ and not type = java.util.HashMap", 1),
        ("is /Map$/ and not type = java.util.HashMap", 3),
        ("is java.util.Map", 3),
        ("is java.util.SortedMap", 2),
        ("is app.*", 2),
        ("not is java.util.Map", 3),
        ("package = java.util", 3),
        ("package != java.util", 3),
        ("superclass = java.util.AbstractMap", 2),
        ("loader = app.Loader", 2),
        ("loader ~ app.*", 2),
        ("text = a", 3),
        ("text != a", 1),
        ("not text = a", 3),
        ("text ~ /./", 4),
        ("name = a", 4),
    ] {
        let expression_of = Expression::parse(expression).unwrap();
        assert_eq!(heap.count(&[], &expression_of, &Silent).unwrap().objects, objects, "{expression}");
    }
    for (expression, interfaces, unknown) in [
        ("is java.util.HashMap", "", ""),
        ("is java.util.Map or is app.*", "java.util.Map", ""),
        ("type = java.util.Map", "", "java.util.Map"),
        ("is java.util.List", "", "java.util.List"),
    ] {
        let expression_of = Expression::parse(expression).unwrap();
        let found = [expression_of.interfaces(tables), expression_of.unknown_types(tables)];
        assert_eq!(found.map(|names| names.join(" ")), [interfaces, unknown], "{expression}");
    }
}
