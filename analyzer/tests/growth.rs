//! Compares growth by path of types with its definition on small random graphs. The path of an object consists of the
//! types of all objects without which it is unreachable, the nearest to the root first. `BARROW_GRAPHS` sets the number
//! of graphs.

use std::collections::BTreeMap;
use std::sync::Arc;

use barrow_analyzer::{Growth, GrowthPart, Heap, IndexPlace, Memory, Recording, Silent, SnapshotId};
use barrow_testdata::{Graph, Random};

fn graphs() -> u64 {
    std::env::var("BARROW_GRAPHS").ok().and_then(|number| number.parse().ok()).unwrap_or(300)
}

/// A path by definition.
#[derive(Default, Debug)]
struct Path {
    /// The bytes at and below it.
    bytes: u64,
    /// The number of objects at it.
    own: u64,
    /// The number of objects at and below it.
    held: u64,
    /// The bytes that each of its topmost objects retains.
    topmost: BTreeMap<u32, u64>,
}

type Paths = BTreeMap<Vec<String>, Path>;

fn defined(graph: &Graph) -> Paths {
    let reached = graph.reachable_without(&vec![false; graph.types.len()]);
    // For each object the number of its dominators, and the objects that are unreachable without it.
    let without: Vec<Vec<bool>> = (0..graph.types.len())
        .map(|removed| graph.reachable_without(&(0..graph.types.len()).map(|it| it == removed).collect::<Vec<_>>()))
        .collect();
    let dominates = |above: usize, object: usize| !without[above][object];
    let rank = |object: usize| (0..graph.types.len()).filter(|&above| dominates(above, object)).count();
    let retained = |top: usize| {
        let below = (0..graph.types.len()).filter(|&object| reached[object] && dominates(top, object));
        below.map(|object| graph.bytes(object)).sum()
    };
    let mut paths = Paths::new();
    for object in (0..graph.types.len()).filter(|&object| reached[object]) {
        let mut path: Vec<String> = Vec::new();
        for (group, name) in Graph::GROUPS.into_iter().enumerate() {
            let roots = graph.roots.iter().copied().filter(|root| usize::from(root.0) != group).collect();
            let others = Graph { roots, ..graph.clone() };
            if !others.reachable_without(&vec![false; graph.types.len()])[object] {
                path.push(format!("roots {name}"));
            }
        }
        let mut above: Vec<usize> = (0..graph.types.len()).filter(|&above| reached[above]).collect();
        above.retain(|&above| dominates(above, object));
        above.sort_by_key(|&above| rank(above));
        path.extend(above.iter().map(|&above| Graph::TYPES[usize::from(graph.types[above])].to_owned()));
        let is_topmost = path.len() < 2 || path[path.len() - 2] != path[path.len() - 1];
        path.dedup();
        let at = paths.entry(path.clone()).or_default();
        at.own += 1;
        if is_topmost {
            at.topmost.insert(object as u32, retained(object));
        }
        for length in 0..=path.len() {
            let node = paths.entry(path[..length].to_vec()).or_default();
            node.bytes += graph.bytes(object);
            node.held += 1;
        }
    }
    paths
}

fn path_of(growth: &Growth<'_>, node: usize) -> Vec<String> {
    let name = |part: GrowthPart<'_>| match part {
        GrowthPart::Everything => unreachable!("the path of everything is empty"),
        GrowthPart::Roots(name) => format!("roots {name}"),
        GrowthPart::Type(identity) => identity.name.to_owned(),
        GrowthPart::AnyPath => "any path".to_owned(),
    };
    growth.path(node).into_iter().map(name).collect()
}

fn heap(recording: &Arc<Recording>, column: usize) -> Heap {
    let snapshot = SnapshotId(column as u32);
    Heap::new(Arc::clone(recording), snapshot, &IndexPlace::Nowhere, Memory::unlimited()).unwrap()
}

fn folded<'a>(recording: &'a Arc<Recording>, order: &[usize], least_share: f64) -> Growth<'a> {
    let mut growth = Growth::new(order.len(), least_share);
    for &column in order {
        growth.fold(column, recording, &heap(recording, column), &Silent).unwrap();
    }
    growth
}

#[test]
fn paths_are_those_of_the_definition() {
    let mut random = Random::new(11);
    for round in 0..graphs() {
        let graphs: Vec<Graph> = (0..3).map(|_| Graph::random(&mut random, 3 + round % 24, false)).collect();
        let recording = Recording::from_bytes(Graph::bytes_of(&graphs.iter().collect::<Vec<_>>(), None)).unwrap();
        let recording = Arc::new(recording);
        let order = [[2, 1, 0], [0, 1, 2], [1, 2, 0]][random.below(3) as usize];
        let share = [0.0, 0.5, 3.0][random.below(3) as usize];
        let growth = folded(&recording, &order, share);
        let mut refolded = folded(&recording, &order, share);
        for (column, graph) in graphs.iter().enumerate() {
            let mut paths = defined(graph);
            for (number, node) in growth.nodes().iter().enumerate() {
                let path = path_of(&growth, number);
                let is_group = matches!(node.part, GrowthPart::Everything | GrowthPart::Roots(_));
                let defined = paths.remove(&path).unwrap_or_default();
                match node.retained_bytes[column] {
                    Some(known) => {
                        let objects = if is_group { defined.held } else { defined.own };
                        assert_eq!((known, node.objects[column]), (defined.bytes, Some(objects)), "{round} {path:?}");
                        if column == 2 {
                            let largest = node.largest.map(|object| defined.topmost[&object.0]);
                            let most = defined.topmost.values().copied().max().filter(|_| !is_group);
                            assert_eq!(largest, most, "{round} {path:?}");
                        }
                    }
                    None => assert!(defined.bytes < growth.least_bytes()[column], "{round} {path:?}"),
                }
            }
            if share == 0.5 {
                refolded.fold(column, &recording, &heap(&recording, column), &Silent).unwrap();
                assert!(refolded.is_complete(column));
            }
            // A path without a node was too small in this snapshot.
            assert!(paths.values().all(|path| path.bytes < growth.least_bytes()[column]), "{round} {paths:?}");
        }
    }
}

#[test]
fn the_path_that_grows_comes_first_and_represents_those_above() {
    let snapshot = |number: u64| {
        // `globals` holds a map of lists, and a leaf that is replaced; the map gains a list each time.
        let mut graph = Graph { types: vec![2, 3], sizes: vec![(100, 0), (5000 + number % 3, 0)], ..Graph::default() };
        graph.references = vec![Vec::new(), Vec::new()];
        graph.roots = vec![(1, 0), (1, 1)];
        for list in 0..10 + number {
            let strong = barrow_analyzer::StrengthClass::Strong;
            graph.types.push(1);
            graph.sizes.push((50, 0));
            graph.references.push(Vec::new());
            graph.references[0].push((2 + list as u32, strong));
        }
        graph
    };
    let graphs: Vec<Graph> = (0..8).map(snapshot).collect();
    let recording = Recording::from_bytes(Graph::bytes_of(&graphs.iter().collect::<Vec<_>>(), None)).unwrap();
    let recording = Arc::new(recording);
    let growth = folded(&recording, &[7, 6, 5, 4, 3, 2, 1, 0], 0.001);
    let rows = growth.rows();
    let first = rows.iter().find(|row| !row.is_carried).unwrap();
    assert_eq!(path_of(&growth, first.node), ["roots globals", "Map", "List"]);
    assert_eq!((first.judgement.trend.slope, first.judgement.grows()), (50.0, Some(true)));
    assert_eq!(growth.nodes()[first.node].objects[7], Some(17));
    let leaf = rows.iter().find(|row| path_of(&growth, row.node) == ["roots globals", "Leaf"]).unwrap();
    assert!(leaf.judgement.grows() == Some(false) && !leaf.is_carried);
}

/// Leaking lists that a map holds. In some snapshots a pair refers to them, too, so the roots dominate them.
fn moving(number: usize, lists: usize) -> Graph {
    let strong = barrow_analyzer::StrengthClass::Strong;
    let mut graph = Graph { types: vec![2, 0], sizes: vec![(100, 0), (100, 0)], ..Graph::default() };
    graph.references = vec![Vec::new(), Vec::new()];
    graph.roots = vec![(1, 0), (1, 1)];
    for list in 0..lists {
        graph.types.push(1);
        graph.sizes.push((50, 0));
        graph.references.push(Vec::new());
        let holders = if number % 3 == 1 { 0..2 } else { 0..1 };
        holders.for_each(|holder| graph.references[holder].push((2 + list as u32, strong)));
    }
    graph
}

#[test]
fn what_moves_from_path_to_path_grows_over_all_of_them() {
    let verdicts = |lists: fn(usize) -> usize| {
        let graphs: Vec<Graph> = (0..9).map(|number| moving(number, lists(number))).collect();
        let recording = Recording::from_bytes(Graph::bytes_of(&graphs.iter().collect::<Vec<_>>(), None)).unwrap();
        let recording = Arc::new(recording);
        let mut growth = folded(&recording, &[8, 7, 6, 5, 4, 3, 2, 1, 0], 0.001);
        assert!(growth.rows().iter().all(|row| row.judgement.grows() == Some(false)), "no single path grows");
        growth.gather_moving();
        let rows = growth.rows();
        let grow = rows.iter().filter(|row| row.judgement.grows() == Some(true));
        grow.map(|row| (path_of(&growth, row.node), row.judgement.trend.slope)).collect::<Vec<_>>()
    };
    assert_eq!(verdicts(|number| 100 + 10 * number), [(vec!["any path".to_owned(), "List".to_owned()], 500.0)]);
    assert_eq!(verdicts(|number| 100 + number % 2), []);
}

/// A map holds lists by another object in each snapshot, and as many bytes more itself.
fn moving_below(number: usize, more: u64) -> Graph {
    let strong = barrow_analyzer::StrengthClass::Strong;
    let mut graph = Graph {
        types: vec![2, [0, 3][usize::from(number % 3 == 1)]],
        sizes: vec![(100, 0), (100, 0)],
        ..Graph::default()
    };
    graph.sizes[0].0 += more * number as u64;
    graph.references = vec![vec![(1, strong)], Vec::new()];
    graph.roots = vec![(1, 0)];
    for list in 0..100 + 10 * number {
        graph.types.push(1);
        graph.sizes.push((50, 0));
        graph.references.push(Vec::new());
        graph.references[1].push((2 + list as u32, strong));
    }
    graph
}

#[test]
fn what_moves_below_a_path_that_grows_is_told_if_it_is_most_of_it() {
    for (more, is_told) in [(0, true), (100, true), (1000, false)] {
        let graphs: Vec<Graph> = (0..9).map(|number| moving_below(number, more)).collect();
        let recording = Recording::from_bytes(Graph::bytes_of(&graphs.iter().collect::<Vec<_>>(), None)).unwrap();
        let recording = Arc::new(recording);
        let mut growth = folded(&recording, &[8, 7, 6, 5, 4, 3, 2, 1, 0], 0.001);
        growth.gather_moving();
        let rows = growth.rows();
        let grow = rows.iter().filter(|row| row.judgement.grows() == Some(true) && !row.is_carried);
        let grow: Vec<_> = grow.map(|row| (path_of(&growth, row.node), row.judgement.trend.slope)).collect();
        let list = (vec!["any path".to_owned(), "List".to_owned()], 500.0);
        assert_eq!(grow.contains(&list), is_told, "{grow:?}");
        let is_above = grow.iter().any(|(path, _)| path == &["roots globals", "Map"]);
        assert_eq!(is_above, more > 0, "{grow:?}");
    }
}

/// A map holds a list of two types in turn, with a leaf in each round.
fn list_in_turn(rounds: usize) -> Graph {
    let strong = barrow_analyzer::StrengthClass::Strong;
    let mut graph = Graph { types: vec![2], sizes: vec![(100, 0)], references: vec![Vec::new()], ..Graph::default() };
    graph.roots = vec![(1, 0)];
    let mut end = 0;
    for round in 0..rounds {
        let first = 1 + 3 * round as u32;
        graph.types.extend([0, 1, 3]);
        graph.sizes.extend([(30, 0), (20, 0), (7, 0)]);
        graph.references.extend([vec![(first + 1, strong), (first + 2, strong)], Vec::new(), Vec::new()]);
        graph.references[end].push((first, strong));
        end = first as usize + 1;
    }
    graph
}

/// No step of the list grows: each has its size as soon as it is there. The list does, however deep it is.
#[test]
fn a_list_of_two_types_in_turn_grows_as_a_whole() {
    for (least, verdicts) in [(2, [true, false]), (6, [true, false]), (60, [true, false])] {
        for (grows, rounds) in verdicts.into_iter().zip([1usize, 0]) {
            let graphs: Vec<Graph> = (0..9).map(|number| list_in_turn(least + rounds * number)).collect();
            let recording = Recording::from_bytes(Graph::bytes_of(&graphs.iter().collect::<Vec<_>>(), None)).unwrap();
            let recording = Arc::new(recording);
            let growth = folded(&recording, &[8, 7, 6, 5, 4, 3, 2, 1, 0], 0.001);
            let rows = growth.rows();
            let found: Vec<_> =
                rows.iter().filter(|row| row.judgement.grows() == Some(true) && !row.is_carried).collect();
            assert_eq!(found.len(), usize::from(grows), "{least} {rounds}");
            let Some(first) = found.first() else { continue };
            assert_eq!(path_of(&growth, first.node), ["roots globals", "Map", Graph::TYPES[0]]);
            assert_eq!(first.judgement.trend.slope, 57.0);
            let deepest = path_of(&growth, first.deepest);
            assert_eq!(deepest.len(), (2 + 2 * (least + 8)).min(64), "{deepest:?}");
        }
    }
}
