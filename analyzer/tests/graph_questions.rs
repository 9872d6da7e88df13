//! Compares retained sets, incoming references, the dominator tree, paths and exclusions with their definitions, on
//! small random graphs and with several numbers of threads. `BARROW_GRAPHS` sets the number of graphs.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use barrow_analyzer::{
    Cut, Dominators, Exclusion, Heap, Holder, IndexPlace, KindRole, Label, Memory, ObjectId, ObjectSet, Path,
    PathOptions, Recording, Silent, SnapshotId, StrengthClass, StringId, outgoing,
};
use barrow_testdata::{Graph, Random, Shelf};
use barrow_writer::{Object, Options, SnapshotInfo, StrengthId, TypeDescription, Writer};
use rayon::ThreadPool;

const SNAPSHOT: SnapshotId = SnapshotId(0);

fn graphs() -> u64 {
    std::env::var("BARROW_GRAPHS").ok().and_then(|text| text.parse().ok()).unwrap_or(2000)
}

fn pools() -> Vec<ThreadPool> {
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
    [1, 2, 8].map(pool).into()
}

fn heap(graph: &Graph) -> Heap {
    let recording = Arc::new(graph.recording());
    Heap::new(recording, SNAPSHOT, &IndexPlace::Nowhere, Memory::unlimited()).expect("the snapshot is there")
}

fn count(graph: &Graph) -> usize {
    graph.types.len()
}

fn objects(graph: &Graph) -> impl Iterator<Item = ObjectId> + use<> {
    (0..graph.types.len() as u32).map(ObjectId)
}

fn flags(graph: &Graph, set: &ObjectSet) -> Vec<bool> {
    objects(graph).map(|object| set.contains(object)).collect()
}

fn set(flags: &[bool]) -> ObjectSet {
    let ids = (0..).map(ObjectId).zip(flags).filter(|(_, is_in)| **is_in).map(|(id, _)| id);
    ObjectSet::from_sorted(SNAPSHOT, flags.len() as u64, ids)
}

fn random_flags(random: &mut Random, graph: &Graph, one_in: u64) -> Vec<bool> {
    (0..count(graph)).map(|_| random.below(one_in) == 0).collect()
}

fn minus(one: &[bool], other: &[bool]) -> Vec<bool> {
    one.iter().zip(other).map(|(one, other)| *one && !*other).collect()
}

fn union(one: &[bool], other: &[bool]) -> Vec<bool> {
    one.iter().zip(other).map(|(one, other)| *one || *other).collect()
}

/// The objects that are reachable now, but not without `removed`.
fn lost(graph: &Graph, removed: &[bool]) -> Vec<bool> {
    let none = vec![false; count(graph)];
    minus(&graph.reachable_without(&none), &graph.reachable_without(removed))
}

fn lost_with(graph: &Graph, object: ObjectId) -> Vec<bool> {
    let mut removed = vec![false; count(graph)];
    removed[object.index()] = true;
    lost(graph, &removed)
}

// ---- Retained sets and references -------------------------------------------------------------------

fn check_sets(graph: &Graph, heap: &Heap, random: &mut Random) {
    let none = vec![false; count(graph)];
    let reachable = graph.reachable_without(&none);
    let unreachable = minus(&vec![true; count(graph)], &reachable);
    assert_eq!(flags(graph, &heap.unreachable(&Silent).unwrap()), unreachable, "{graph:?}");
    for one_in in [1, 2, 5, 9] {
        if one_in == 5 {
            // Once dominators exist, reachability is taken from them.
            heap.dominators(&Silent).unwrap();
            assert_eq!(flags(graph, &heap.unreachable(&Silent).unwrap()), unreachable, "{graph:?}");
        }
        let removed = random_flags(random, graph, one_in);
        let found = heap.retained_set(&set(&removed), &Silent).unwrap();
        assert_eq!(flags(graph, &found), lost(graph, &removed), "without {removed:?} of {graph:?}");
        let types = heap.type_totals_of(&set(&removed), &Silent).unwrap();
        for (number, name) in Graph::TYPES.iter().enumerate() {
            let is_of_type = |object: usize| removed[object] && usize::from(graph.types[object]) == number;
            let expected = (0..count(graph)).filter(|&object| is_of_type(object));
            let expected = expected.fold((0, 0, 0), |(objects, heap, unmanaged), object| {
                (objects + 1, heap + graph.sizes[object].0, unmanaged + graph.sizes[object].1)
            });
            let found =
                types.iter().find(|totals| heap.recording().tables().unwrap().type_name(totals.type_id) == *name);
            let found = found.map_or((0, 0, 0), |found| (found.objects, found.heap_bytes, found.unmanaged_bytes));
            assert_eq!(found, expected, "{name} of {removed:?} of {graph:?}");
        }
    }
}

fn check_incoming(graph: &Graph, heap: &Heap) {
    // Found by scanning, before incoming references exist.
    let scanned: Vec<_> = objects(graph).map(|object| heap.referring_objects(object, &Silent).unwrap()).collect();
    let incoming = heap.incoming(&Silent).unwrap();
    for object in objects(graph) {
        let refers = |source: usize| graph.references[source].iter().filter(|(target, _)| *target == object.0).count();
        let sources: Vec<ObjectId> = objects(graph).filter(|source| refers(source.index()) > 0).collect();
        assert_eq!(incoming.sources(object), sources, "{object} of {graph:?}");
        assert_eq!(
            incoming.count(object),
            (0..count(graph)).map(refers).sum::<usize>() as u64,
            "{object} of {graph:?}"
        );
        assert_eq!(scanned[object.index()], sources, "{object} of {graph:?}");
    }
}

// ---- The dominator tree -----------------------------------------------------------------------------

/// The holder of an object by definition: the nearest object without which it is unreachable, or the root category
/// without which it is.
fn holder(graph: &Graph, object: ObjectId, lost: &[Vec<bool>], groups: &[StringId]) -> Option<Holder> {
    if !lost[object.index()][object.index()] {
        return None;
    }
    let strict = || (0..count(graph)).filter(|&other| other != object.index() && lost[other][object.index()]);
    let nearest = strict().find(|&nearest| strict().all(|other| lost[other][nearest]));
    if let Some(nearest) = nearest {
        return Some(Holder::Object(ObjectId(nearest as u32)));
    }
    let none = vec![false; count(graph)];
    let group = (0..groups.len()).find(|&group| {
        let mut without = graph.clone();
        without.roots.retain(|&(other, _)| usize::from(other) != group);
        !without.reachable_without(&none)[object.index()]
    });
    Some(group.map_or(Holder::Everything, |group| Holder::Roots(groups[group])))
}

/// The string ids of root categories, and of labels.
fn strings(heap: &Heap, names: &[&str]) -> Vec<StringId> {
    let tables = heap.recording().tables().unwrap();
    let ids = || (0..tables.string_count() as u32).map(StringId);
    let find = |name: &&str| ids().find(|&id| tables.string(id) == *name).expect("the name was recorded");
    names.iter().map(find).collect()
}

/// Everything the tree says about a place.
fn check_place(graph: &Graph, dominators: &Dominators, place: barrow_analyzer::TreePlace, below: &[Vec<ObjectId>]) {
    let holder = dominators.at(place);
    let under: BTreeSet<ObjectId> = match holder {
        Holder::Object(object) => below[object.index()].iter().copied().collect(),
        _ => {
            let is_under = |object: &ObjectId| match holder {
                Holder::Everything => dominators.is_reachable(*object),
                _ => top_of(dominators, *object) == Some(holder),
            };
            objects(graph).filter(is_under).collect()
        }
    };
    assert_eq!(dominators.count_at(place), under.len() as u64, "{holder:?} of {graph:?}");
    let bytes: u64 = under.iter().map(|object| graph.bytes(object.index())).sum();
    assert_eq!(dominators.bytes_at(place), bytes, "{holder:?} of {graph:?}");
    let children: Vec<Holder> = dominators.children(place).map(|child| dominators.at(child)).collect();
    let mut found: Vec<ObjectId> = children
        .iter()
        .filter_map(|child| match child {
            Holder::Object(object) => Some(*object),
            _ => None,
        })
        .collect();
    found.sort_unstable();
    let expected: Vec<ObjectId> =
        objects(graph).filter(|object| dominators.immediate_dominator(*object) == Some(holder)).collect();
    assert_eq!(found, expected, "children of {holder:?} of {graph:?}");
    let groups = children.len() - found.len();
    let expected: BTreeSet<u8> = graph.roots.iter().map(|&(group, _)| group).collect();
    assert_eq!(groups, if holder == Holder::Everything { expected.len() } else { 0 }, "{graph:?}");
}

/// The root category that holds an object, if one does.
fn top_of(dominators: &Dominators, object: ObjectId) -> Option<Holder> {
    match dominators.immediate_dominator(object)? {
        Holder::Object(above) => top_of(dominators, above),
        holder => Some(holder),
    }
}

fn check_tree(graph: &Graph, heap: &Heap, random: &mut Random) {
    let dominators = heap.dominators(&Silent).unwrap();
    // The objects below each object, found by following holders upwards.
    let mut below = vec![Vec::new(); count(graph)];
    for object in objects(graph).filter(|object| dominators.is_reachable(*object)) {
        let mut at = object;
        below[at.index()].push(object);
        while let Some(Holder::Object(above)) = dominators.immediate_dominator(at) {
            below[above.index()].push(object);
            at = above;
        }
    }
    if dominators.is_exact() {
        let lost: Vec<Vec<bool>> = objects(graph).map(|object| lost_with(graph, object)).collect();
        let groups = strings(heap, &Graph::GROUPS);
        for object in objects(graph) {
            let expected = holder(graph, object, &lost, &groups);
            assert_eq!(dominators.immediate_dominator(object), expected, "{object} of {graph:?}");
            assert_eq!(
                flags(graph, &ids(graph, &below[object.index()])),
                lost[object.index()],
                "{object} of {graph:?}"
            );
        }
    }
    for object in objects(graph) {
        let dominated: Vec<ObjectId> = dominators.dominated(object).collect();
        assert_eq!(dominated.first().copied(), dominators.is_reachable(object).then_some(object), "{graph:?}");
        assert_eq!(ids(graph, &dominated), ids(graph, &below[object.index()]), "{object} of {graph:?}");
        assert_eq!(dominated.len(), below[object.index()].len(), "{object} of {graph:?}");
        match dominators.place(object) {
            Some(place) => check_place(graph, dominators, place, &below),
            None => assert!(!dominators.is_reachable(object), "{object} of {graph:?}"),
        }
    }
    for place in std::iter::once(dominators.top()).chain(dominators.children(dominators.top())) {
        check_place(graph, dominators, place, &below);
    }
    check_largest(graph, dominators, random);
    check_groups(graph, heap, dominators, &below);
}

fn ids(graph: &Graph, ids: &[ObjectId]) -> ObjectSet {
    ObjectSet::from_sorted(SNAPSHOT, count(graph) as u64, ids.iter().copied())
}

fn check_largest(graph: &Graph, dominators: &Dominators, random: &mut Random) {
    let wanted = random_flags(random, graph, 2);
    for (number, only) in [(0, false), (1, true), (3, false), (4, true), (count(graph) + 1, false)] {
        let is_wanted = |object: ObjectId| !only || wanted[object.index()];
        let mut expected: Vec<ObjectId> =
            objects(graph).filter(|&object| dominators.is_reachable(object) && is_wanted(object)).collect();
        expected.sort_by_key(|&object| (std::cmp::Reverse(dominators.retained_bytes(object)), object));
        expected.truncate(number);
        assert_eq!(dominators.largest(number, is_wanted), expected, "{number} largest of {graph:?}");
    }
}

fn check_groups(graph: &Graph, heap: &Heap, dominators: &Dominators, below: &[Vec<ObjectId>]) {
    let group_of = |object: ObjectId| Some(usize::from(graph.types[object.index()]));
    let found = heap.retained_by_type(&Silent).unwrap();
    assert_eq!(found.len(), 4);
    for (group, found) in found.iter().enumerate() {
        let of_group = || objects(graph).filter(|&object| group_of(object) == Some(group));
        let held: BTreeSet<ObjectId> = of_group().flat_map(|object| below[object.index()].iter().copied()).collect();
        let bytes: u64 = held.iter().map(|object| graph.bytes(object.index())).sum();
        let reachable = of_group().filter(|&object| dominators.is_reachable(object)).count() as u64;
        assert_eq!((found.bytes, found.objects), (bytes, reachable), "group {group} of {graph:?}");
    }
}

// ---- Paths ------------------------------------------------------------------------------------------

/// The distance of an object from the roots without `avoid`, along references of these classes.
fn steps_to(graph: &Graph, object: ObjectId, avoid: &[bool], weak: bool) -> Option<usize> {
    let mut distance = vec![None; count(graph)];
    let mut waiting = VecDeque::new();
    for &(_, root) in graph.roots.iter().filter(|&&(_, root)| !avoid[root as usize]) {
        distance[root as usize] = Some(0);
        waiting.push_back(root as usize);
    }
    while let Some(source) = waiting.pop_front() {
        for &(target, class) in &graph.references[source] {
            let target = target as usize;
            if (weak || class == StrengthClass::Strong) && !avoid[target] && distance[target].is_none() {
                distance[target] = distance[source].map(|steps: usize| steps + 1);
                waiting.push_back(target);
            }
        }
    }
    distance[object.index()]
}

/// Checks that each step exists, with its label and strength.
fn check_path(graph: &Graph, heap: &Heap, path: &Path, object: ObjectId, weak: bool) {
    let steps = heap.steps(path, 0..path.objects.len()).unwrap();
    // Any range of the steps gives the same result.
    let from = path.objects.len() / 2;
    assert_eq!(heap.steps(path, from..path.objects.len()).unwrap(), steps[from..], "{graph:?}");
    assert_eq!(heap.steps(path, from..from).unwrap(), [], "{graph:?}");
    let several = [from..path.objects.len(), 1..1, 0..from];
    assert_eq!(heap.steps_of(path, &several).unwrap(), [&steps[from..], &steps[..from]].concat(), "{graph:?}");
    let expected = barrow_analyzer::objects(heap.recording(), SNAPSHOT, &path.objects).unwrap();
    assert!(steps.iter().map(|step| step.object).eq(expected), "{graph:?}");
    let first = steps.first().expect("a path has at least one object");
    assert_eq!((path.root.target, first.reference), (first.object.id, None), "{graph:?}");
    let group = strings(heap, &Graph::GROUPS).iter().position(|&group| group == path.root.category).unwrap();
    assert!(graph.roots.contains(&(group as u8, first.object.id.0)), "{:?} of {graph:?}", path.root);
    assert_eq!(path.objects.last(), Some(&object), "{graph:?}");
    let names = strings(heap, &Graph::NAMES);
    for pair in steps.windows(2) {
        let (label, strength) = pair[1].reference.unwrap_or_else(|| panic!("{path:?} misses a reference: {graph:?}"));
        let at = match label {
            Label::Name(name) => names.iter().position(|&known| known == name).expect("names are known"),
            Label::Index(index) => index as usize,
            other => panic!("no reference has the label {other:?}"),
        };
        let (target, class) = graph.references[pair[0].object.id.index()][at];
        assert_eq!(target, pair[1].object.id.0, "{path:?} of {graph:?}");
        let found = heap.recording().tables().unwrap().strength_class(strength);
        assert_eq!(found, class, "{path:?} of {graph:?}");
        assert!(
            weak || matches!(class, StrengthClass::Strong | StrengthClass::Ephemeron),
            "{path:?} goes over a reference that keeps nothing: {graph:?}"
        );
    }
}

fn check_paths(graph: &Graph, heap: &Heap, random: &mut Random, has_ephemerons: bool) {
    let none = vec![false; count(graph)];
    let all_strong = {
        let mut graph = graph.clone();
        graph.references.iter_mut().flatten().for_each(|reference| reference.1 = StrengthClass::Strong);
        graph
    };
    for object in objects(graph) {
        for weak in [false, true] {
            let mut avoid = if random.below(2) == 0 { none.clone() } else { random_flags(random, graph, 5) };
            avoid[object.index()] = false;
            let is_plain = avoid == none && random.below(2) == 0;
            let wanted = 1 + random.below(4) as usize;
            let options = PathOptions { avoid: (!is_plain).then(|| set(&avoid)), weak, count: wanted };
            let paths = heap.paths(object, &options, &Silent).unwrap();
            assert!(paths.len() <= wanted);
            let mut used = avoid.clone();
            for path in &paths {
                check_path(graph, heap, path, object, weak);
                let (_, before) = path.objects.split_last().unwrap();
                for object in before {
                    assert!(!used[object.index()], "{object} twice, or avoided: {paths:?} of {graph:?}");
                    used[object.index()] = true;
                }
            }
            // The first path is a shortest one. If there are fewer paths than requested, no more exist.
            let mut followed = if weak { all_strong.clone() } else { graph.clone() };
            assert_eq!(paths.is_empty(), !followed.reachable_without(&avoid)[object.index()], "{object} of {graph:?}");
            if !has_ephemerons || weak {
                let shortest = steps_to(&followed, object, &avoid, weak);
                assert_eq!(paths.first().map(|path| path.objects.len() - 1), shortest, "{object} of {graph:?}");
            }
            if paths.len() < wanted {
                if paths.iter().any(|path| path.objects.len() == 1) {
                    followed.roots.retain(|&(_, target)| target != object.0);
                }
                let more = followed.reachable_without(&used)[object.index()];
                assert!(!more, "more paths than {paths:?} lead to {object} of {graph:?}");
            }
        }
    }
}

fn check_merged_paths(graph: &Graph, heap: &Heap, random: &mut Random) {
    let distances = heap.distances(&Silent).unwrap();
    let members = random_flags(random, graph, 2);
    let merged = heap.merged_paths(&set(&members), &Silent).unwrap();
    // The expected nodes, by the types along the paths.
    let mut expected: BTreeMap<Vec<u32>, (u64, u64)> = BTreeMap::new();
    let mut unreachable = 0;
    for object in objects(graph).filter(|object| members[object.index()]) {
        let path = distances.path(object);
        let types: Vec<u32> = path.iter().map(|object| graph.types[object.index()].into()).collect();
        unreachable += u64::from(types.is_empty());
        for end in 1..=types.len() {
            let node = expected.entry(types[..end].to_vec()).or_default();
            node.0 += 1;
            node.1 += u64::from(end == types.len());
        }
    }
    assert_eq!(merged.unreachable, unreachable, "{graph:?}");
    let mut found = BTreeMap::new();
    let mut types: Vec<u32> = Vec::new();
    for (at, node) in merged.nodes.iter().enumerate() {
        assert!(node.depth as usize <= types.len(), "{merged:?}");
        types.truncate(node.depth as usize);
        types.push(node.type_id.0);
        assert_eq!(u32::from(graph.types[node.example.index()]), node.type_id.0);
        assert!((1..=node.through).contains(&node.objects) && node.members <= node.objects, "{merged:?}");
        assert!(found.insert(types.clone(), (node.through, node.members)).is_none(), "{types:?} twice: {merged:?}");
        let later = merged.nodes[at + 1..].iter().take_while(|other| other.depth >= node.depth);
        assert!(later.filter(|other| other.depth == node.depth).all(|other| other.through <= node.through));
    }
    assert_eq!(found, expected, "{merged:?} of {graph:?}");
}

// ---- Exclusions ---------------------------------------------------------------------------------------

/// A graph with exclusions, which can also be recorded without the excluded objects and references.
struct Rest {
    /// The rest of the graph, with the ids of the whole graph. Cut references become weak, since they may be keys of
    /// ephemerons.
    graph: Graph,
    removed: Vec<bool>,
    freed: Vec<bool>,
}

impl Rest {
    fn of(graph: &Graph) -> Self {
        let none = vec![false; count(graph)];
        Rest { graph: graph.clone(), removed: none.clone(), freed: none }
    }

    /// Excludes objects, and the references of `sources` with labels from `names`.
    fn without(&self, removed: &[bool], names: &[bool; 3], sources: &[bool]) -> Self {
        let before = self.graph.reachable_without(&self.removed);
        let mut graph = self.graph.clone();
        for (references, _) in graph.references.iter_mut().zip(sources).filter(|(_, is_source)| **is_source) {
            for (reference, _) in references.iter_mut().zip(names).filter(|(_, is_cut)| **is_cut) {
                reference.1 = StrengthClass::Weak;
            }
        }
        let removed = union(&self.removed, removed);
        let lost = minus(&before, &graph.reachable_without(&removed));
        Rest { freed: union(&union(&self.freed, &lost), &removed), removed, graph }
    }

    /// The graph of the rest, and the new id of each object.
    fn renumbered(&self) -> (Graph, Vec<Option<u32>>) {
        let mut next = 0;
        let number = |&is_freed: &bool| {
            (!is_freed).then(|| {
                next += 1;
                next - 1
            })
        };
        let numbers: Vec<Option<u32>> = self.freed.iter().map(number).collect();
        let mut rest = Graph::default();
        for object in (0..count(&self.graph)).filter(|&object| !self.freed[object]) {
            rest.types.push(self.graph.types[object]);
            rest.sizes.push(self.graph.sizes[object]);
            let mut references = Vec::new();
            let mut key = None;
            for &(target, class) in &self.graph.references[object] {
                // An ephemeron without its key keeps nothing alive.
                let is_dead = class == StrengthClass::Ephemeron && key.is_some_and(|key: usize| self.freed[key]);
                key = Some(target as usize);
                if let Some(target) = numbers[target as usize] {
                    references.push((target, if is_dead { StrengthClass::Weak } else { class }));
                }
            }
            rest.references.push(references);
        }
        let roots = self.graph.roots.iter();
        rest.roots = roots.filter_map(|&(group, target)| Some((group, numbers[target as usize]?))).collect();
        (rest, numbers)
    }
}

/// Checks that every answer of the heap equals that of a recording of the rest.
fn check_rest(rest: &Rest, heap: &Heap, random: &mut Random, is_cut: bool) {
    let (graph, numbers) = rest.renumbered();
    let whole = &rest.graph;
    let real = self::heap(&graph);
    let new = |object: ObjectId| numbers[object.index()].map(ObjectId);
    let olds: Vec<ObjectId> = objects(whole).filter(|&object| new(object).is_some()).collect();
    let old = |object: ObjectId| olds[object.index()];
    let old_set = |set: &ObjectSet| ObjectSet::from_sorted(SNAPSHOT, count(whole) as u64, set.iter().map(old));
    assert_eq!(flags(whole, heap.exclusion().unwrap().freed()), rest.freed, "{whole:?}");
    assert!(objects(whole).all(|object| heap.has(object) == new(object).is_some()));
    assert_eq!(heap.all_objects(), old_set(&real.all_objects()), "{whole:?}");
    assert_eq!(heap.type_totals(&Silent).unwrap(), real.type_totals(&Silent).unwrap(), "{whole:?}");
    assert_eq!(heap.reachable(None, &Silent).unwrap(), old_set(&real.reachable(None, &Silent).unwrap()), "{whole:?}");
    assert_eq!(heap.unreachable(&Silent).unwrap(), old_set(&real.unreachable(&Silent).unwrap()), "{whole:?}");
    let removed = random_flags(random, &graph, 3);
    let (some, found) = (set(&removed), real.retained_set(&set(&removed), &Silent).unwrap());
    assert_eq!(heap.retained_set(&old_set(&some), &Silent).unwrap(), old_set(&found), "{whole:?}");
    check_rest_tree(whole, heap, &real, &new);
    check_rest_references(whole, heap, &real, &new, is_cut);
    for object in objects(whole) {
        for path in heap.paths(object, &PathOptions { count: 3, ..PathOptions::default() }, &Silent).unwrap() {
            // Cut references are weak here, and no path uses them.
            check_path(whole, heap, &path, object, false);
            assert!(path.objects.iter().all(|&object| heap.has(object)), "{path:?} of {whole:?}");
        }
    }
}

fn check_rest_tree(whole: &Graph, heap: &Heap, real: &Heap, new: &impl Fn(ObjectId) -> Option<ObjectId>) {
    let (found, expected) = (heap.dominators(&Silent).unwrap(), real.dominators(&Silent).unwrap());
    let totals =
        |dominators: &Dominators| (dominators.is_exact(), dominators.reachable_count(), dominators.reachable_bytes());
    assert_eq!(totals(found), totals(expected), "{whole:?}");
    let (distances, real_distances) = (heap.distances(&Silent).unwrap(), real.distances(&Silent).unwrap());
    for object in objects(whole) {
        let holder = found.immediate_dominator(object);
        let sizes = (found.retained_bytes(object), found.retained_count(object));
        let steps = distances.distance(object);
        let Some(renumbered) = new(object) else {
            assert_eq!((holder, sizes, steps, distances.parent_of(object)), (None, (0, 0), None, None), "{whole:?}");
            continue;
        };
        let holder = holder.map(|holder| match holder {
            Holder::Object(holder) => Holder::Object(new(holder).expect("what is gone holds nothing")),
            other => other,
        });
        assert_eq!(holder, expected.immediate_dominator(renumbered), "{object} of {whole:?}");
        let real_sizes = (expected.retained_bytes(renumbered), expected.retained_count(renumbered));
        assert_eq!(sizes, real_sizes, "{object} of {whole:?}");
        assert_eq!(steps, real_distances.distance(renumbered), "{object} of {whole:?}");
        let parent = distances.parent_of(object).map(|parent| new(parent).expect("what is gone refers to nothing"));
        assert_eq!(parent, real_distances.parent_of(renumbered), "{object} of {whole:?}");
    }
    assert_eq!(heap.retained_by_type(&Silent).unwrap(), real.retained_by_type(&Silent).unwrap(), "{whole:?}");
}

fn check_rest_references(
    whole: &Graph,
    heap: &Heap,
    real: &Heap,
    new: &impl Fn(ObjectId) -> Option<ObjectId>,
    is_cut: bool,
) {
    let (found, expected) = (heap.incoming(&Silent).unwrap(), real.incoming(&Silent).unwrap());
    for object in objects(whole) {
        let Some(renumbered) = new(object) else {
            assert_eq!(found.count(object), 0, "{object} of {whole:?}");
            continue;
        };
        let sources: Vec<ObjectId> = found.sources(object).into_iter().filter_map(new).collect();
        assert_eq!(sources.len(), found.sources(object).len(), "what is gone refers to {object} of {whole:?}");
        let expected_sources = expected.sources(renumbered);
        if is_cut {
            // In the graph of the rest they are weak.
            assert!(sources.iter().all(|source| expected_sources.contains(source)), "{object} of {whole:?}");
        } else {
            assert_eq!((sources, found.count(object)), (expected_sources, expected.count(renumbered)), "{whole:?}");
        }
    }
}

fn check_without(graph: &Graph, heap: &Heap, random: &mut Random) {
    let none = vec![false; count(graph)];
    let mut rest = Rest::of(graph);
    let mut overlay: Option<Heap> = None;
    let mut is_cut = false;
    let string_count = heap.recording().tables().unwrap().string_count();
    let ids = strings(heap, &Graph::NAMES);
    // Exclude two or three times in succession.
    for _ in 0..2 + random.below(2) {
        let removed = if random.below(4) == 0 { none.clone() } else { random_flags(random, graph, 6) };
        let cuts = random.below(2) == 0;
        let names = [0; 3].map(|_| cuts && random.below(2) == 0);
        let sources = (random.below(2) == 0).then(|| random_flags(random, graph, 2));
        rest = rest.without(&removed, &names, sources.as_deref().unwrap_or(&vec![true; count(graph)]));
        is_cut |= cuts;
        let mut by_id = vec![false; string_count];
        ids.iter().zip(names).for_each(|(id, is_cut)| by_id[id.index()] = is_cut);
        let cut = cuts.then(|| Cut { names: by_id, sources: sources.map(|sources| set(&sources)) });
        let before = overlay.as_ref().unwrap_or(heap);
        let without = Exclusion::new(before, &set(&removed), cut, &Silent).unwrap();
        let after = before.excluding(without);
        check_rest(&rest, &after, random, is_cut);
        overlay = Some(after);
    }
}

// ---- All of it --------------------------------------------------------------------------------------

fn check_all(seed: u64, most: impl Fn(u64) -> u64, strengths: bool) {
    let pools = pools();
    let mut random = Random::new(seed);
    for round in 0..graphs() {
        let graph = Graph::random(&mut random, most(round), strengths);
        let mut random = Random::new(random.next());
        pools[(round % 3) as usize].install(|| {
            let heap = heap(&graph);
            match round % 4 {
                0 => {
                    check_sets(&graph, &heap, &mut random);
                    check_incoming(&graph, &heap);
                }
                1 => check_tree(&graph, &heap, &mut random),
                2 => {
                    check_paths(&graph, &heap, &mut random, strengths);
                    check_merged_paths(&graph, &heap, &mut random);
                }
                _ => check_without(&graph, &heap, &mut random),
            }
        });
    }
}

#[test]
fn answers_are_those_of_the_definitions() {
    check_all(11, |round| 3 + round % 22, false);
}

#[test]
fn ephemerons_and_weak_references_follow_their_rules() {
    check_all(12, |round| 3 + round % 15, true);
}

/// Along an ephemeron the distance is that of the farther of source and key.
#[test]
fn distances_over_ephemerons() {
    let mut random = Random::new(13);
    for round in 0..graphs() / 2 {
        let graph = Graph::random(&mut random, 3 + round % 15, true);
        let heap = heap(&graph);
        let mut expected: Vec<Option<u32>> = vec![None; count(&graph)];
        graph.roots.iter().for_each(|&(_, root)| expected[root as usize] = Some(0));
        for _ in 0..count(&graph) {
            for source in 0..count(&graph) {
                for (at, &(target, class)) in graph.references[source].iter().enumerate() {
                    let key = at.checked_sub(1).map_or(source, |before| graph.references[source][before].0 as usize);
                    let from = match class {
                        StrengthClass::Strong => expected[source],
                        StrengthClass::Ephemeron => {
                            expected[source].zip(expected[key]).map(|(one, other)| one.max(other))
                        }
                        _ => None,
                    };
                    let old = &mut expected[target as usize];
                    *old = [*old, from.map(|steps| steps + 1)].into_iter().flatten().min();
                }
            }
        }
        let distances = heap.distances(&Silent).unwrap();
        let found: Vec<Option<u32>> = objects(&graph).map(|object| distances.distance(object)).collect();
        assert_eq!(found, expected, "{graph:?}");
    }
}

/// All answers about a heap, as text.
fn everything(heap: &Heap, random: &mut Random) -> String {
    let object_count = heap.object_count();
    let dominators = heap.dominators(&Silent).unwrap();
    let distances = heap.distances(&Silent).unwrap();
    let incoming = heap.incoming(&Silent).unwrap();
    let objects: Vec<String> = (0..object_count as u32)
        .map(ObjectId)
        .map(|object| {
            let held = (dominators.immediate_dominator(object), dominators.retained_bytes(object));
            let reached = (distances.distance(object), distances.parent_of(object));
            format!("{held:?} {reached:?} {:?} {:?}", incoming.sources(object), dominators.place(object))
        })
        .collect();
    let some = (0..object_count as u32).map(ObjectId).filter(|_| random.below(50) == 0);
    let some = ObjectSet::from_sorted(SNAPSHOT, object_count, some);
    let ask = PathOptions { count: 4, ..PathOptions::default() };
    let paths: Vec<Path> =
        some.iter().step_by(97).flat_map(|object| heap.paths(object, &ask, &Silent).unwrap()).collect();
    let steps: Vec<_> = paths.iter().map(|path| heap.steps(path, 0..path.objects.len()).unwrap()).collect();
    format!(
        "{objects:?} {paths:?} {steps:?} {:?} {:?} {:?} {:?} {:?}",
        heap.retained_set(&some, &Silent).unwrap(),
        heap.merged_paths(&some, &Silent).unwrap(),
        heap.retained_by_type(&Silent).unwrap(),
        heap.leak_suspects(0.01, &Silent).unwrap(),
        heap.type_totals(&Silent).unwrap(),
    )
}

#[test]
fn any_number_of_threads_gives_the_same_answers() {
    let pools = pools();
    let mut random = Random::new(14);
    for (most, rounds) in [(40, 60), (3_000, 6), (30_000, 4)] {
        for round in 0..rounds {
            let graph = Graph::random(&mut random, most, round % 2 == 1);
            let seed = random.next();
            let mut answers = pools.iter().map(|pool| {
                pool.install(|| {
                    let mut random = Random::new(seed);
                    let heap = heap(&graph);
                    let mut text = everything(&heap, &mut random);
                    let removed = random_flags(&mut random, &graph, 20);
                    let without = Exclusion::new(&heap, &set(&removed), None, &Silent).unwrap();
                    text += &everything(&heap.excluding(without), &mut random);
                    text
                })
            });
            let first = answers.next();
            // `assert_eq` would print megabytes.
            assert!(answers.all(|text| Some(text) == first), "graph {round} of up to {most} objects");
        }
    }
}

/// A path that uses the last reference of an array stored in several blocks, and then a list of many blocks.
#[test]
fn a_long_path_after_a_long_array() {
    const MANY: u32 = (1 << 21) + 1000;
    const LENGTH: u32 = 100_000;
    let references = |object: u32| match object {
        // The array is the last object of its block; the list begins after it.
        0 => vec![(1, StrengthClass::Strong)],
        1 => (0..MANY).map(|at| (if at + 1 == MANY { 2 } else { 0 }, StrengthClass::Strong)).collect(),
        _ if object + 1 < LENGTH => vec![(object + 1, StrengthClass::Strong)],
        _ => Vec::new(),
    };
    let graph = Graph {
        types: vec![0; LENGTH as usize],
        sizes: vec![(16, 0); LENGTH as usize],
        references: (0..LENGTH).map(references).collect(),
        roots: vec![(0, 0)],
    };
    let heap = heap(&graph);
    let last = ObjectId(LENGTH - 1);
    let paths = heap.paths(last, &PathOptions::default(), &Silent).unwrap();
    assert!(paths[0].objects.iter().copied().eq((0..LENGTH).map(ObjectId)));
    assert_eq!(heap.steps(&paths[0], 2..3).unwrap()[0].reference.unwrap().0, Label::Index(u64::from(MANY) - 1));
    let steps = heap.steps(&paths[0], 0..LENGTH as usize).unwrap();
    assert!(steps.iter().skip(1).all(|step| step.reference.is_some()));
    assert_eq!(steps[1].object.references, u64::from(MANY));
}

/// A cut reference is on no path, even if another reference has the same source and target.
#[test]
fn a_path_names_a_reference_that_counts() {
    let (mut graph, _) = Graph::of_words("root -> a(1) -> b(1); a -> b");
    let by = |heap: &Heap, weak: bool| {
        let options = PathOptions { weak, ..PathOptions::default() };
        let paths = heap.paths(ObjectId(1), &options, &Silent).unwrap();
        heap.steps(&paths[0], 1..2).unwrap()[0].reference.map(|(label, _)| label)
    };
    let whole = heap(&graph);
    let names = strings(&whole, &Graph::NAMES);
    assert_eq!(by(&whole, false), Some(Label::Name(names[0])));
    let mut cut = vec![false; whole.recording().tables().unwrap().string_count()];
    cut[names[0].index()] = true;
    let nothing = ObjectSet::new(SNAPSHOT, 2);
    let cut = Cut { names: cut, sources: None };
    let rest = whole.excluding(Exclusion::new(&whole, &nothing, Some(cut), &Silent).unwrap());
    assert_eq!(by(&rest, false), Some(Label::Name(names[1])));

    // The object is alive because of the ephemeron, not of the weak reference before it.
    graph.references[0] = vec![(1, StrengthClass::Weak), (0, StrengthClass::Weak), (1, StrengthClass::Ephemeron)];
    let whole = heap(&graph);
    assert_eq!(by(&whole, false), Some(Label::Name(names[2])));
    assert_eq!(outgoing(whole.recording(), SNAPSHOT, ObjectId(0)).unwrap().len(), 3);
}

/// The target of a root may also be held by other objects.
#[test]
fn paths_beside_a_root() {
    let (graph, _) = Graph::of_words("root -> a -> b -> c; root -> c; root -> d -> c");
    let heap = heap(&graph);
    let ask = |count| PathOptions { count, ..PathOptions::default() };
    let paths = heap.paths(ObjectId(2), &ask(5), &Silent).unwrap();
    let objects: Vec<Vec<u32>> =
        paths.iter().map(|path| path.objects.iter().map(|object| object.0).collect()).collect();
    assert_eq!(objects, [vec![2], vec![3, 2], vec![0, 1, 2]]);
    assert_eq!(heap.paths(ObjectId(2), &ask(1), &Silent).unwrap().len(), 1);
}

/// V8 and MoarVM record root categories as objects, which hold everything else.
#[test]
fn paths_share_objects_that_represent_groups_of_roots() {
    // Objects 0 and 1 are root categories; object 2 is the target.
    let paths = |references: &[(u64, u64)]| {
        let shelf = Shelf::default();
        let writer = Writer::to_stream(Box::new(shelf.clone()), Options::default()).unwrap();
        let types = [("group", KindRole::Root), ("object", KindRole::Object)].map(|(name, role)| {
            let kind = writer.kind(name, role).unwrap();
            writer.declare_type(&TypeDescription::new(kind, name)).unwrap()
        });
        let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
        let mut shard = snapshot.shard();
        shard.root(writer.string("root").unwrap(), None, 0).unwrap();
        for object in 0..5 {
            shard.object(object, &Object::new(types[usize::from(object > 1)], 16)).unwrap();
            for &(_, target) in references.iter().filter(|&&(source, _)| source == object) {
                shard.reference(Label::Unknown, StrengthId::STRONG, target).unwrap();
            }
        }
        shard.finish().unwrap();
        snapshot.commit().unwrap();
        writer.finish().unwrap();
        let recording = Arc::new(Recording::from_bytes(shelf.take()).unwrap());
        let heap = Heap::new(recording, SNAPSHOT, &IndexPlace::Nowhere, Memory::unlimited()).unwrap();
        let options = PathOptions { count: 5, ..PathOptions::default() };
        let paths = heap.paths(ObjectId(2), &options, &Silent).unwrap();
        paths.iter().map(|path| path.objects.iter().map(|object| object.0).collect()).collect::<Vec<Vec<u32>>>()
    };
    let through_both = [(0, 1), (0, 3), (1, 4), (3, 2), (4, 2)];
    assert_eq!(paths(&through_both), [vec![0, 3, 2], vec![0, 1, 4, 2]]);
    // A category that refers to the target directly is not on other paths.
    assert_eq!(paths(&[&through_both[..], &[(1, 2)]].concat()), [vec![0, 1, 2], vec![0, 3, 2]]);
}
