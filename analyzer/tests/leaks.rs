//! Leak suspects: compares accumulation with its definition on small random graphs, and checks the ranking.

use std::collections::HashMap;
use std::sync::Arc;

use barrow_analyzer::{
    Growth, Heap, Holder, IndexPlace, KindRole, Memory, ObjectId, ObjectSet, Recording, Silent, SnapshotId, Suspect,
};
use barrow_testdata::{Graph, Random, Shelf};
use barrow_writer::{Label, Object, Options, SnapshotInfo, StrengthId, TypeDescription, Writer};

const SNAPSHOT: SnapshotId = SnapshotId(0);

fn heap_of(recording: Recording) -> Heap {
    Heap::new(Arc::new(recording), SNAPSHOT, &IndexPlace::Nowhere, Memory::unlimited()).unwrap()
}

/// Builds a heap step by step. Types with names that begin with `class` belong to a kind for classes; `[…]` is a root
/// category.
#[derive(Default)]
struct Draft {
    objects: Vec<(String, u64)>,
    references: Vec<(usize, usize)>,
    roots: Vec<usize>,
}

impl Draft {
    /// An object that another one refers to, or a root.
    fn object(&mut self, holder: Option<usize>, title: &str, size: u64) -> usize {
        self.objects.push((title.to_owned(), size));
        let object = self.objects.len() - 1;
        match holder {
            Some(holder) => self.references.push((holder, object)),
            None => self.roots.push(object),
        }
        object
    }

    fn heap(&self) -> Heap {
        let shelf = Shelf::default();
        let writer = Writer::to_stream(Box::new(shelf.clone()), Options::default()).unwrap();
        let object_kind = writer.kind("object", KindRole::Object).unwrap();
        let class_kind = writer.kind("class", KindRole::Type).unwrap();
        let root_kind = writer.kind("root", KindRole::Root).unwrap();
        let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
        let mut shard = snapshot.shard();
        let roots = writer.string("globals").unwrap();
        let mut types = HashMap::new();
        let mut targets = vec![Vec::new(); self.objects.len()];
        self.references.iter().for_each(|&(source, target)| targets[source].push(target));
        self.roots.iter().for_each(|&root| shard.root(roots, None, root as u64).unwrap());
        for (number, (title, size)) in self.objects.iter().enumerate() {
            let class = title.strip_prefix("class ");
            let kind = match class {
                Some(_) => class_kind,
                None if title.starts_with('[') => root_kind,
                None => object_kind,
            };
            let type_name = class.map_or(&**title, |_| "Class");
            let declare = || writer.declare_type(&TypeDescription::new(kind, type_name)).unwrap();
            let mut object = Object::new(*types.entry(type_name).or_insert_with(declare), *size);
            object.name = class.map(|class| writer.string(class).unwrap());
            shard.object(number as u64, &object).unwrap();
            for &target in &targets[number] {
                shard.reference(Label::Unknown, StrengthId::STRONG, target as u64).unwrap();
            }
        }
        shard.finish().unwrap();
        snapshot.commit().unwrap();
        writer.finish().unwrap();
        heap_of(Recording::from_bytes(shelf.take()).unwrap())
    }

    fn title(&self, object: ObjectId) -> &str {
        &self.objects[object.0 as usize].0
    }

    /// The accumulation points at 10 %, in their order.
    fn points(&self) -> Vec<(&str, u64)> {
        let points = self.heap().leak_suspects(0.1, &Silent).unwrap();
        let point = |suspect: Suspect| match suspect.objects {
            1 => (self.title(suspect.accumulation.unwrap()), suspect.accumulated.first().map_or(0, |sum| sum.objects)),
            objects => (self.title(suspect.object), objects),
        };
        points.into_iter().map(point).collect()
    }
}

/// Every object that retains the threshold has a suspect at, below or above it, and every byte accumulates in one
/// place.
#[test]
fn suspects_are_those_of_the_definition() {
    let mut random = Random::new(31);
    for round in 0..1500 {
        let graph = Graph::random(&mut random, if round % 3 == 0 { 12 } else { 60 }, false);
        let heap = heap_of(graph.recording());
        let dominators = heap.dominators(&Silent).unwrap();
        let threshold = [0.05, 0.1, 0.3][round % 3];
        let least = ((dominators.reachable_bytes() as f64 * threshold) as u64).max(1);
        let suspects = heap.leak_suspects(threshold, &Silent).unwrap();
        let single: Vec<&Suspect> = suspects.iter().filter(|suspect| suspect.objects == 1).collect();
        let points: Vec<ObjectId> = single.iter().map(|suspect| suspect.accumulation.unwrap()).collect();
        let dominates = |one: ObjectId, other: ObjectId| {
            one == other || dominators.holders(other).any(|holder| holder == Holder::Object(one))
        };
        for object in (0..graph.types.len() as u32).map(ObjectId) {
            let is_large = dominators.retained_bytes(object) >= least;
            let near = |&point: &ObjectId| dominates(point, object) || dominates(object, point);
            assert!(!is_large || points.iter().any(near), "{graph:?} {object} {suspects:?}");
        }
        let mut piled_up = 0;
        for suspect in &suspects {
            let retained = |object| {
                let set = ObjectSet::from_sorted(SNAPSHOT, graph.types.len() as u64, [object]);
                let freed = heap.retained_set(&set, &Silent).unwrap();
                freed.iter().map(|object| graph.sizes[object.index()]).map(|(heap, other)| heap + other).sum::<u64>()
            };
            if let (1, Some(point)) = (suspect.objects, suspect.accumulation) {
                assert!(dominates(suspect.object, point));
                assert_eq!(suspect.retained_bytes, retained(suspect.object));
                assert_eq!(suspect.accumulation_bytes, retained(point));
                piled_up += suspect.accumulated.iter().map(|sum| sum.retained_bytes).sum::<u64>();
            } else {
                assert!(suspect.retained_bytes >= least);
                piled_up += suspect.retained_bytes;
            }
            assert!(suspect.ranking_bytes <= suspect.retained_bytes);
        }
        assert!(piled_up <= dominators.reachable_bytes(), "{graph:?} {suspects:?}");
        assert!(suspects.is_sorted_by(|one, other| one.ranking_bytes >= other.ranking_bytes));
        let ends = single.len() as f64;
        assert!(ends <= 1.0 / threshold || dominators.reachable_bytes() < 100, "{graph:?} {suspects:?}");
    }
}

#[test]
fn a_list_piles_up_in_its_head() {
    let mut draft = Draft::default();
    let class = draft.object(None, "class Jobs", 8);
    let mut last = draft.object(Some(class), "Queue", 8);
    for _ in 0..20_000 {
        last = draft.object(Some(last), "Node", 24);
        draft.object(Some(last), "Load", 40);
    }
    draft.object(None, "Config", 10_000);
    let suspects = draft.heap().leak_suspects(0.1, &Silent).unwrap();
    assert_eq!(suspects.len(), 1, "{suspects:?}");
    let first = &suspects[0];
    assert_eq!((first.object, first.accumulation), (ObjectId(0), Some(ObjectId(2))));
    let nodes = first.accumulated[0];
    assert_eq!((nodes.objects, nodes.retained_bytes, nodes.is_chain), (19_999, 19_999 * 64, true));
    let load = nodes.content.unwrap();
    assert_eq!((load.objects, load.retained_bytes), (19_999, 19_999 * 40));
}

/// 300 slots have an entry or several, one below the other; each has a key and a value. The values are named if they are most.
#[test]
fn a_hash_table_is_told_by_all_of_its_entries_and_their_values() {
    for (value_bytes, is_named) in [(1_000, true), (20, false)] {
        let mut draft = Draft::default();
        let registry = draft.object(None, "Registry", 16);
        let table = draft.object(Some(registry), "Entry[]", 4_000);
        for slot in 0..300_u64 {
            let mut above = table;
            for _ in 0..1 + slot % 3 {
                above = draft.object(Some(above), "Entry", 32);
                draft.object(Some(above), "Key", 48);
                let session = draft.object(Some(above), "Session", 16);
                draft.object(Some(session), "byte[]", value_bytes - 16);
            }
        }
        let heap = draft.heap();
        let suspects = heap.leak_suspects(0.1, &Silent).unwrap();
        let tables = heap.recording().tables().unwrap();
        let [entries] = suspects[0].accumulated[..] else { panic!("{suspects:?}") };
        assert_eq!((tables.type_title(entries.type_id).as_str(), entries.objects), ("Entry", 600));
        assert_eq!((entries.retained_bytes, entries.is_chain), (600 * (80 + value_bytes), false));
        let content = entries
            .content
            .map(|content| (tables.type_title(content.type_id), content.objects, content.retained_bytes));
        assert_eq!(content, is_named.then(|| ("Session".to_owned(), 600, 600 * value_bytes)));
    }
}

#[test]
fn so_do_a_tree_and_a_list_with_objects_between_its_links() {
    let mut tree = Draft::default();
    let mut nodes = vec![tree.object(None, "Tree", 8)];
    for at in 0..3_000usize {
        let node = tree.object(Some(nodes[at.div_ceil(2)]), "Entry", 40);
        nodes.push(node);
    }
    assert_eq!(tree.points()[0], ("Entry", 2_999));
    let mut promises = Draft::default();
    let mut last = promises.object(None, "Context", 30);
    for _ in 0..2_000 {
        let closure = promises.object(Some(last), "Closure", 30);
        let promise = promises.object(Some(closure), "Promise", 30);
        last = promises.object(Some(promise), "Context", 30);
    }
    assert_eq!(promises.points(), [("Context", 2_000)]);
}

#[test]
fn an_object_of_the_chains_type_that_holds_much_is_a_holder_of_its_own() {
    let mut draft = Draft::default();
    let module = draft.object(None, "dict", 100);
    let sessions = draft.object(Some(module), "dict", 100);
    for _ in 0..1_000 {
        draft.object(Some(sessions), "Session", 50);
    }
    let first = &draft.heap().leak_suspects(0.1, &Silent).unwrap()[0];
    assert_eq!((first.object, first.accumulation), (ObjectId(0), Some(ObjectId(1))));
    // A list of lists accumulates in the outer list.
    let mut lists = Draft::default();
    let outer = lists.object(None, "list", 100);
    for _ in 0..1_000 {
        lists.object(Some(outer), "list", 50);
    }
    let first = &lists.heap().leak_suspects(0.1, &Silent).unwrap()[0];
    assert_eq!((first.accumulation, first.accumulated[0].is_chain), (Some(ObjectId(0)), false));
}

/// A fifth of the heap in a map comes before a runtime's tables, classes and code.
#[test]
fn many_similar_parts_rank_before_what_is_large() {
    let mut draft = Draft::default();
    let top = draft.object(None, "[root]", 0);
    let app = draft.object(Some(top), "class App", 100);
    let map = draft.object(Some(app), "Map", 100);
    for _ in 0..1_000 {
        draft.object(Some(map), "Session", 200);
    }
    let grammar = draft.object(Some(top), "Grammar", 100);
    for at in 0..200u64 {
        draft.object(Some(grammar), "Automaton", if at == 0 { 150_000 } else { at * 5 });
    }
    draft.object(Some(top), "Code space", 150_000);
    let classes: Vec<usize> = (0..400).map(|at| draft.object(Some(top), &format!("class C{at}"), 500)).collect();
    draft.object(Some(classes[0]), "Method", 100);
    for _ in 0..800 {
        draft.object(Some(top), "Function", 150);
    }
    let points = draft.points();
    assert_eq!(points[0], ("Map", 1_000), "{points:?}");
    let titles: Vec<&str> = points.iter().map(|(title, _)| *title).collect();
    // A single large object is still a suspect, and objects without a holder rank with a reduced weight.
    assert!(titles.contains(&"Code space") && titles.contains(&"Automaton"), "{points:?}");
    assert_eq!(points.last().map(|(_, objects)| *objects), Some(400), "{points:?}");
}

/// A holder inside a large one is found, though no child of the large one has most of it.
#[test]
fn a_holder_is_found_below_one_that_has_more() {
    let mut draft = Draft::default();
    let app = draft.object(None, "App", 100);
    for part in ["Cache", "Index", "Users"] {
        let part = draft.object(Some(app), part, 100);
        (0..if part == 1 { 900 } else { 500 }).for_each(|_| _ = draft.object(Some(part), "Item", 100));
    }
    let titles: Vec<&str> = draft.points().iter().map(|(title, _)| *title).collect();
    assert_eq!(titles[0], "Cache");
    assert_eq!(titles.len(), 3);
}

/// Two classes that hold one list each; one of them may be a known leak.
fn two_classes(first: &str, second: &str) -> Draft {
    let mut draft = Draft::default();
    for class in [first, second] {
        let class = draft.object(None, &format!("class {class}"), 10);
        let list = draft.object(Some(class), "List", 10);
        (0..100).for_each(|_| _ = draft.object(Some(list), "Item", 100));
    }
    draft
}

#[test]
fn classes_are_told_apart_by_their_names() {
    let heap = two_classes("Orders", "Users").heap();
    let fingerprints = |heap: &Heap| {
        let suspects = heap.leak_suspects(0.1, &Silent).unwrap();
        let mut found: Vec<_> = suspects.iter().map(|one| heap.fingerprint(one, &Silent).unwrap()).collect();
        found.sort();
        found
    };
    let found = fingerprints(&heap);
    assert!(found.len() == 2 && found[0] != found[1], "{found:?}");
    assert_eq!(found, fingerprints(&two_classes("Users", "Orders").heap()));
    let [one, other] = ["Lambda/0x7f01", "Lambda/0x7f02"].map(|name| fingerprints(&two_classes(name, "Users").heap()));
    assert_eq!(one, other, "numbers in names of classes are left out");
}

#[test]
fn a_class_is_a_step_of_its_own_in_merged_paths() {
    let draft = two_classes("Orders", "Users");
    let heap = draft.heap();
    let tables = heap.recording().tables().unwrap();
    let items = (0..draft.objects.len() as u32).map(ObjectId).filter(|&object| draft.title(object) == "Item");
    let set = ObjectSet::from_sorted(SNAPSHOT, draft.objects.len() as u64, items);
    let merged = heap.merged_paths(&set, &Silent).unwrap();
    let told: Vec<(Option<&str>, u64, u64)> = merged
        .nodes
        .iter()
        .map(|node| (node.stands_for.map(|name| tables.string(name)), node.objects, node.through))
        .collect();
    let expected = |class| [(Some(class), 1, 100), (None, 1, 100), (None, 100, 100)];
    let mut sides = [&told[..3], &told[3..]];
    sides.sort();
    assert_eq!(sides, [&expected("Orders")[..], &expected("Users")[..]]);
    let mut growth = Growth::new(1, 0.01);
    growth.fold(0, heap.recording(), &heap, &Silent).unwrap();
    let mut paths: Vec<String> =
        (0..growth.nodes().len()).map(|node| growth.path(node)).map(|path| titles(&path)).collect();
    paths.sort();
    assert!(paths.contains(&"class Orders, List, Item".to_owned()), "{paths:?}");
    assert!(paths.contains(&"class Users, List, Item".to_owned()), "{paths:?}");
}

fn titles(path: &[barrow_analyzer::GrowthPart<'_>]) -> String {
    let types = path.iter().filter_map(|part| match part {
        barrow_analyzer::GrowthPart::Type(identity) => Some(identity.title()),
        _ => None,
    });
    types.collect::<Vec<_>>().join(", ")
}
