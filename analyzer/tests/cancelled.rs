//! A question that is cancelled at any moment stops, and it is answered when it is asked again.

use std::sync::Arc;

use barrow_analyzer::{
    AnalyzerError, Exclusion, Heap, IndexPlace, Memory, ObjectId, ObjectSet, PathOptions, Progress, Recording, Result,
    Silent, SnapshotId, StrengthClass,
};
use barrow_testdata::{Graph, LimitedProgress, Random};

const SNAPSHOT: SnapshotId = SnapshotId(0);

type Question = fn(&Heap, &dyn Progress) -> Result<String>;

fn objects(heap: &Heap) -> impl Iterator<Item = ObjectId> + use<> {
    (0..heap.object_count() as u32).map(ObjectId)
}

fn some(heap: &Heap) -> ObjectSet {
    ObjectSet::from_sorted(heap.snapshot(), heap.object_count(), objects(heap).step_by(50))
}

const QUESTIONS: [(&str, Question); 10] = [
    ("dominators", |heap, progress| {
        let dominators = heap.dominators(progress)?;
        Ok(objects(heap).map(|object| format!("{} ", dominators.retained_bytes(object))).collect())
    }),
    ("distances", |heap, progress| {
        let distances = heap.distances(progress)?;
        Ok(objects(heap).map(|object| format!("{:?} ", distances.distance(object))).collect())
    }),
    ("incoming", |heap, progress| {
        let incoming = heap.incoming(progress)?;
        Ok(objects(heap).map(|object| format!("{} ", incoming.count(object))).collect())
    }),
    ("a retained set", |heap, progress| Ok(format!("{:?}", heap.retained_set(&some(heap), progress)?.len()))),
    ("types", |heap, progress| Ok(format!("{:?}", heap.retained_by_type(progress)?))),
    ("suspects", |heap, progress| Ok(format!("{:?}", heap.leak_suspects(0.001, progress)?))),
    ("paths", |heap, progress| {
        let options = PathOptions { count: 2, weak: true, ..PathOptions::default() };
        Ok(format!("{:?}", heap.paths(ObjectId(heap.object_count() as u32 - 1), &options, progress)?))
    }),
    ("merged paths", |heap, progress| Ok(format!("{:?}", heap.merged_paths(&some(heap), progress)?))),
    ("a scan", |heap, progress| Ok(format!("{:?}", heap.referring_objects(ObjectId(1), progress)?))),
    ("without", |heap, progress| {
        let rest = heap.excluding(Exclusion::new(heap, &some(heap), None, progress)?);
        Ok(format!("{:?}", rest.reachable(None, progress)?.len()))
    }),
];

/// Cancels every question at every check. Returns the number of checks.
fn stop_everywhere(graph: &Graph) -> u64 {
    let recording = Arc::new(graph.recording());
    QUESTIONS.iter().map(|(name, question)| stop(&recording, name, *question)).sum()
}

fn stop(recording: &Arc<Recording>, name: &str, question: Question) -> u64 {
    let new = || Heap::new(Arc::clone(recording), SNAPSHOT, &IndexPlace::Nowhere, Memory::unlimited()).unwrap();
    let expected = question(&new(), &Silent).unwrap();
    let mut heap = new();
    for calls in 0.. {
        match question(&heap, &LimitedProgress::new(calls)) {
            Err(AnalyzerError::Cancelled) => {}
            Err(error) => panic!("{name}, stopped after {calls} calls: {error}"),
            Ok(found) => {
                assert!(found == expected, "{name} after all {calls} calls");
                return calls;
            }
        }
        // The heap may keep results from before the cancellation, so ask the same heap and a new one.
        if calls % 16 == 0 {
            assert!(question(&heap, &Silent).unwrap() == expected, "{name}, stopped after {calls} calls");
            heap = new();
        }
    }
    0
}

#[test]
fn stopped_on_a_large_graph() {
    let mut random = Random::new(21);
    let mut graph = Graph::random(&mut random, 1, true);
    while graph.types.len() < 66_000 {
        graph = Graph::random(&mut random, 80_000, true);
    }
    graph.roots.push((0, 0));
    let moments = stop_everywhere(&graph);
    assert!(moments > 50, "there were only {moments} moments to stop at");
}

/// A long list has one level for each element, and each level checks for cancellation.
#[test]
fn stopped_on_a_long_list() {
    let (mut graph, _) = Graph::of_words("root -> a(1)");
    for object in 0..300 {
        graph.types.push(0);
        graph.sizes.push((1, 0));
        graph.references[object].push((object as u32 + 1, StrengthClass::Strong));
        graph.references.push(Vec::new());
    }
    let moments = stop_everywhere(&graph);
    assert!(moments > 900, "there were only {moments} moments to stop at");
}
