//! The analyzer reads exactly what was announced: every object, reference, label and root, for several numbers of
//! announcing and encoding threads.

use std::sync::Arc;

use barrow_analyzer::{
    Expression, IndexPlace, Memory, ObjectId, Page, Recording, Silent, SnapshotId, objects, outgoing, summary,
    verified_summaries, verify,
};
use barrow_testdata::{Edge, Heap, Node, Random, Shelf, Vocabulary};
use barrow_writer::{Compression, Label, Options, SnapshotInfo, StrengthId, Writer};
use proptest::prelude::*;

fn record(options: Options, shards: usize, heaps: impl Fn(&Vocabulary) -> Vec<Heap>) -> (Vec<Heap>, Arc<Recording>) {
    let shelf = Shelf::default();
    let writer = Writer::to_stream(Box::new(shelf.clone()), options).unwrap();
    let heaps = heaps(&Vocabulary::declare(&writer).unwrap());
    for heap in &heaps {
        let snapshot = writer.begin_snapshot(SnapshotInfo { time_ns: Some(5), ..SnapshotInfo::default() }).unwrap();
        let mut shard = snapshot.shard();
        shard.root(writer.string("globals").unwrap(), None, 0).unwrap();
        shard.finish().unwrap();
        let length = heap.nodes.len().div_ceil(shards);
        std::thread::scope(|scope| {
            for start in (0..heap.nodes.len()).step_by(length) {
                let snapshot = &snapshot;
                let end = (start + length).min(heap.nodes.len());
                scope.spawn(move || heap.announce(snapshot, start..end).unwrap());
            }
        });
        snapshot.commit().unwrap();
    }
    writer.finish().unwrap();
    let bytes = shelf.take();
    (heaps, Arc::new(Recording::from_bytes(bytes).unwrap()))
}

fn assert_reads_back(heaps: &[Heap], recording: &Arc<Recording>) {
    assert_eq!(recording.damage(), None);
    assert_eq!(recording.snapshot_count(), heaps.len());
    let found = verify(recording, &Silent).unwrap();
    assert_eq!(found.problems, []);
    assert_eq!(found.roots, heaps.len() as u64);
    let ids: Vec<SnapshotId> = recording.snapshot_ids().collect();
    let verified = verified_summaries(recording, &ids, &Silent).unwrap();
    for ((heap, &id), verified) in heaps.iter().zip(&ids).zip(verified) {
        assert_eq!(&Heap::read(recording, id).unwrap(), heap);
        assert_questions_agree(heap, recording, id);
        let summary = summary(recording, id).unwrap();
        let bytes = |part: fn(&Node) -> u64| heap.nodes.iter().map(part).sum::<u64>();
        assert_eq!(summary.totals.objects, heap.nodes.len() as u64);
        assert_eq!(summary.totals.references, heap.nodes.iter().map(|node| node.edges.len() as u64).sum::<u64>());
        assert_eq!(summary.totals.heap_bytes, bytes(|node| node.shallow_bytes));
        assert_eq!(summary.totals.unmanaged_bytes, bytes(|node| node.unmanaged_bytes));
        assert_eq!(summary.kinds, verified.kinds);
    }
}

/// Questions about single objects give the same answers as a walk over all objects.
fn assert_questions_agree(heap: &Heap, recording: &Arc<Recording>, id: SnapshotId) {
    let count = heap.nodes.len();
    let ids: Vec<ObjectId> = [0, count / 2, count - 1, count / 3].map(|id| ObjectId(id as u32)).into();
    for (&object, details) in ids.iter().zip(objects(recording, id, &ids).unwrap()) {
        let node = &heap.nodes[object.index()];
        assert_eq!((details.id, details.type_id, details.shallow_bytes), (object, node.type_id, node.shallow_bytes));
        let edges = outgoing(recording, id, object).unwrap();
        assert_eq!(details.references, edges.len() as u64);
        let edges: Vec<_> = edges.iter().map(|edge| (edge.label, edge.strength, edge.target.0)).collect();
        let expected: Vec<_> = node.edges.iter().map(|edge| (edge.label, edge.strength, edge.target)).collect();
        assert_eq!(edges, expected);
    }
    let many = Expression::parse("refs > 3 and not (name = \"Map\" or name = next or size > 30)").unwrap();
    let matches = |node: &&Node| {
        let tables = recording.tables().unwrap();
        let name = node.name.map_or_else(|| tables.type_name(node.type_id), |name| tables.string(name));
        node.edges.len() > 3 && !(["Map", "next"].contains(&name) || node.shallow_bytes > 30)
    };
    let expected: Vec<&Node> = heap.nodes.iter().filter(matches).collect();
    let asked = barrow_analyzer::Heap::new(Arc::clone(recording), id, &IndexPlace::Nowhere, Memory::unlimited());
    let asked = asked.unwrap();
    assert_eq!(asked.count(&[], &many, &Silent).unwrap().objects, expected.len() as u64);
    let (mut from, mut found) = (Some(ObjectId(0)), 0);
    while let Some(next) = from {
        let page = asked.find(&[], &many, Page { from: next, limit: 10 }, &Silent).unwrap();
        found += page.objects.len();
        from = page.next;
    }
    assert_eq!(found, expected.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn random_heaps_are_read_back(
        seed in any::<u64>(),
        sizes in prop::collection::vec(1..400u32, 1..4),
        shards in 1..5usize,
        threads in 0..3usize,
        compression in prop_oneof![Just(Compression::None), Just(Compression::Lz4), Just(Compression::Zstd(1))],
    ) {
        let options = Options { threads, compression, ..Options::default() };
        let (heaps, recording) = record(options, shards, |vocabulary| {
            let mut random = Random::new(seed);
            sizes.iter().map(|&size| Heap::random(&mut random, size, vocabulary)).collect()
        });
        assert_reads_back(&heaps, &recording);
    }
}

#[test]
fn many_blocks_from_many_threads_within_a_small_budget() {
    let options = Options { threads: 3, memory_budget_bytes: 1 << 20, ..Options::default() };
    let (heaps, recording) =
        record(options, 7, |vocabulary| vec![Heap::random(&mut Random::new(3), 20_000, vocabulary)]);
    assert!(recording.snapshot(SnapshotId(0)).unwrap().blocks > 7);
    assert_reads_back(&heaps, &recording);
}

/// One array of a million elements: it does not fit one block, and its labels go on counting.
#[test]
fn an_array_larger_than_a_block_is_read_back() {
    let labels: [fn(u64, &Vocabulary) -> Label; 3] = [
        |position, _| Label::Index(position),
        |_, _| Label::Unknown,
        |position, vocabulary| Label::Name(vocabulary.names[(position % 5) as usize]),
    ];
    for label in labels {
        let (heaps, recording) = record(Options::without_threads(), 1, |vocabulary| {
            let edges = |count: u64| {
                let edge = |position| Edge {
                    label: label(position, vocabulary),
                    strength: StrengthId::STRONG,
                    target: (position % 3) as u32,
                };
                (0..count).map(edge).collect::<Vec<_>>()
            };
            let node = |count| Node {
                type_id: vocabulary.types[1],
                shallow_bytes: 8 * count,
                unmanaged_bytes: 0,
                identity: (None, None, None),
                name: None,
                edges: edges(count),
            };
            vec![Heap { nodes: vec![node(3), node(1_000_000), node(2)] }]
        });
        assert_reads_back(&heaps, &recording);
    }
}

#[test]
fn one_answer_for_any_number_of_threads() {
    let (_, recording) = record(Options::default(), 2, |vocabulary| {
        vec![Heap::random(&mut Random::new(9), 3000, vocabulary), Heap::random(&mut Random::new(4), 900, vocabulary)]
    });
    let answers: Vec<_> = [1, 2, 8]
        .into_iter()
        .map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let ids: Vec<SnapshotId> = recording.snapshot_ids().collect();
                (verify(&recording, &Silent).unwrap(), verified_summaries(&recording, &ids, &Silent).unwrap())
            })
        })
        .collect();
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0], answers[2]);
}
