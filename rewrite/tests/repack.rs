//! Repacked recordings hold what was recorded, in every column.

use std::collections::BTreeMap;

use barrow_analyzer::{Pairing, Recording, Roots, SerialOrigin, Silent, SnapshotId, verified_summaries, verify};
use barrow_format::frame::{Frame, FrameHeader, SectionType};
use barrow_format::header::HEADER_BYTES;
use barrow_format::index::parse_index;
use barrow_rewrite::{RedactOptions, RepackOptions, Repacked, redact, repack, repair};
use barrow_testdata::{Edge, Heap, Node, Random, Vocabulary};
use barrow_writer::{Label, Options, StrengthId, Writer};

/// The identity of an object in these tests: its unmanaged size, which is unique.
type Tag = u64;

/// A series of heaps, each made from the one before.
struct Series {
    heaps: Vec<Heap>,
    random: Random,
    next_tag: Tag,
    /// Whether objects have serials, and addresses.
    has: (bool, bool),
}

impl Series {
    fn new(seed: u64, size: u32, has: (bool, bool), vocabulary: &Vocabulary) -> Self {
        let mut random = Random::new(seed);
        let mut heap = Heap::random(&mut random, size, vocabulary);
        let mut series = Series { heaps: Vec::new(), random, next_tag: 1, has };
        heap.nodes.iter_mut().for_each(|node| series.name(node));
        // A list from which much can be reached.
        let element =
            |target| Edge { label: Label::Index(target), strength: StrengthId::STRONG, target: target as u32 };
        heap.nodes[0].edges = (0..u64::from(size) / 3).map(element).collect();
        series.heaps.push(heap);
        series
    }

    /// A new object gets a tag, and the identity that objects have.
    fn name(&mut self, node: &mut Node) {
        node.unmanaged_bytes = self.next_tag;
        let address = self.has.1.then(|| 4096 + 16 * self.next_tag);
        node.identity = (address, self.has.0.then_some(self.next_tag * 2 + 1), node.identity.2);
        self.next_tag += 1;
    }

    /// The next heap: some objects die, some change, some are new, and now and then all move.
    fn step(&mut self, vocabulary: &Vocabulary) {
        let mut heap = self.heaps.last().expect("there is a first").clone();
        let moves = self.random.below(3) == 0;
        let changes = [1, 5, 50][self.random.below(3) as usize];
        for number in 0..heap.nodes.len() {
            let count = heap.nodes.len() as u64;
            let node = &mut heap.nodes[number];
            if moves && let (Some(address), ..) = &mut node.identity {
                *address += 64 * (1 + number as u64 / 50);
            }
            if self.random.below(100) < changes
                && let Some(edge) = node.edges.first_mut()
            {
                edge.target = self.random.below(count) as u32;
            }
            if number > 0 && self.random.below(200) < changes {
                node.shallow_bytes += 8;
                node.name = vocabulary.names.first().copied();
            }
        }
        self.bury(&mut heap, changes);
        for mut node in Heap::random(&mut self.random, 1 + changes as u32, vocabulary).nodes {
            self.name(&mut node);
            heap.nodes.push(node);
        }
        self.heaps.push(heap);
    }

    /// Some objects die, never the first; references to them lead to the first.
    fn bury(&mut self, heap: &mut Heap, share: u64) {
        let mut next = 0;
        let number_of: Vec<Option<u32>> = (0..heap.nodes.len())
            .map(|number| {
                let lives = number == 0 || self.random.below(150) >= share;
                lives.then(|| {
                    next += 1;
                    next - 1
                })
            })
            .collect();
        let mut numbers = number_of.iter();
        heap.nodes.retain(|_| numbers.next().is_some_and(Option::is_some));
        for edge in heap.nodes.iter_mut().flat_map(|node| &mut node.edges) {
            edge.target = number_of[edge.target as usize].unwrap_or(0);
        }
    }

    fn record(&self, writer: &Writer) {
        for heap in &self.heaps {
            heap.record(writer).unwrap();
        }
    }
}

/// A recording of heaps that `fill` makes, in a file, and its repacked twin beside it.
struct Twins {
    folder: tempfile::TempDir,
    original: Recording,
    repacked: Recording,
    report: Repacked,
}

fn twins(options: Options, fill: impl FnOnce(&Writer, &Vocabulary)) -> Twins {
    let folder = tempfile::tempdir().unwrap();
    let (path, small) = (folder.path().join("a.barrow"), folder.path().join("b.barrow"));
    let writer = Writer::create(&path, options).unwrap();
    let vocabulary = Vocabulary::declare(&writer).unwrap();
    fill(&writer, &vocabulary);
    writer.finish().unwrap();
    let original = Recording::open(&path).unwrap();
    let report = repack(&original, &small, RepackOptions::default(), &Silent).unwrap();
    let repacked = Recording::open(&small).unwrap();
    Twins { folder, original, repacked, report }
}

impl Twins {
    fn patches(&self) -> usize {
        self.report.snapshots.iter().filter(|snapshot| snapshot.base.is_some()).count()
    }

    fn assert_equal(&self) {
        assert_same(&self.original, &self.repacked);
    }
}

fn assert_same(original: &Recording, repacked: &Recording) {
    assert_eq!(repacked.damage(), None);
    assert_eq!(verify(repacked, &Silent).unwrap().problems, []);
    let ids: Vec<SnapshotId> = original.snapshot_ids().collect();
    assert_eq!(repacked.snapshot_ids().collect::<Vec<_>>(), ids);
    let counted = [original, repacked].map(|recording| verified_summaries(recording, &ids, &Silent).unwrap());
    assert_eq!(counted[0], counted[1]);
    for id in ids {
        let infos = [original, repacked].map(|recording| recording.snapshot(id).unwrap());
        assert_eq!(
            (infos[0].totals, infos[0].time_ns, &infos[0].label),
            (infos[1].totals, infos[1].time_ns, &infos[1].label)
        );
        let heaps = [original, repacked].map(|recording| Heap::read(recording, id).unwrap());
        assert_eq!(by_tag(&heaps[0]), without_given_serials(&heaps[0], by_tag(&heaps[1])), "snapshot {id}");
        let roots = [original, repacked].map(|recording| Roots::read(recording, id).unwrap());
        let tags = [0, 1].map(|side| {
            let root = |root: &barrow_analyzer::Root| {
                (root.category, root.label, heaps[side].nodes[root.target.index()].unmanaged_bytes)
            };
            roots[side].rows().iter().map(root).collect::<Vec<_>>()
        });
        assert_eq!(tags[0], tags[1]);
    }
}

/// Objects by their tags, with their references.
type Named = Vec<(Tag, Node, Vec<(Label, StrengthId, Tag)>)>;

/// The objects by their tags; targets are tags, too.
fn by_tag(heap: &Heap) -> Named {
    let tag = |number: u32| heap.nodes[number as usize].unmanaged_bytes;
    let edges = |node: &Node| {
        let edge = |edge: &Edge| (edge.label, edge.strength, tag(edge.target));
        node.edges.iter().map(edge).collect()
    };
    let named = |node: &Node| (node.unmanaged_bytes, Node { edges: Vec::new(), ..node.clone() }, edges(node));
    let mut nodes: Vec<_> = heap.nodes.iter().map(named).collect();
    nodes.sort_unstable_by_key(|&(tag, ..)| tag);
    nodes
}

/// Removes the serials that repacking added if the runtime had recorded none.
fn without_given_serials(original: &Heap, mut repacked: Named) -> Named {
    if original.nodes.iter().all(|node| node.identity.1.is_none()) {
        repacked.iter_mut().for_each(|(_, node, _)| node.identity.1 = None);
    }
    repacked
}

#[test]
fn random_series_are_read_back() {
    let mut patches = 0;
    for seed in 0..60 {
        let has = (seed % 3 == 0, seed % 2 == 0);
        let steps = 1 + seed % 9;
        let twins = twins(Options::default(), |writer, vocabulary| {
            let mut series = Series::new(seed, 20 + 37 * seed as u32, has, vocabulary);
            (0..steps).for_each(|_| series.step(vocabulary));
            series.record(writer);
        });
        twins.assert_equal();
        let origin = if has.0 { SerialOrigin::Runtime } else { SerialOrigin::Repacked };
        assert_eq!((twins.report.origin, twins.repacked.serial_origin().unwrap()), (origin, origin));
        patches += twins.patches();
    }
    assert!(patches > 100, "{patches}");
}

#[test]
fn arrays_that_go_on_in_later_blocks_are_kept_grow_and_die() {
    // A small budget divides arrays of a few thousand references.
    let options = Options { memory_budget_bytes: 1 << 20, ..Options::default() };
    let twins = twins(options, |writer, vocabulary| {
        let mut series = Series::new(5, 3000, (true, false), vocabulary);
        for step in 0..8 {
            let mut heap = series.heaps.last().unwrap().clone();
            heap.nodes[step].shallow_bytes += 1;
            let arrays = [(7, Label::Unknown), (8, Label::Name(vocabulary.names[0])), (2000, Label::Index(0))];
            for (number, label) in arrays {
                // They are as before in steps 2, 3 and 6; in step 7 one of them gets longer.
                let length = [20_000, 20_001, 20_001, 20_001, 10, 20_000, 20_000, 20_000][step];
                let element = |position| Edge {
                    label: if label == Label::Index(0) { Label::Index(position) } else { label },
                    strength: StrengthId::STRONG,
                    target: (position % 2500) as u32,
                };
                heap.nodes[number].edges = (0..length).map(element).collect();
            }
            series.heaps.push(heap);
        }
        // The last one dies.
        let mut heap = series.heaps[8].clone();
        heap.nodes.truncate(2600);
        heap.nodes.remove(2000);
        for edge in heap.nodes.iter_mut().flat_map(|node| &mut node.edges) {
            edge.target = if edge.target > 2000 { edge.target - 1 } else { edge.target } % 2599;
        }
        series.heaps.push(heap);
        series.record(writer);
    });
    twins.assert_equal();
    let is_patch = |number: usize| twins.report.snapshots[number].base.is_some();
    assert!([1, 3, 4, 6, 7].into_iter().all(is_patch), "{:?}", twins.report);
}

#[test]
fn an_object_with_the_same_labels_is_as_before_whichever_shape_gives_them() {
    let twins = twins(Options::default(), |writer, vocabulary| {
        let mut series = Series::new(31, 2, (true, false), vocabulary);
        let name = Label::Name(vocabulary.names[0]);
        let edge = |target| Edge { label: name, strength: StrengthId::STRONG, target };
        let mut heap = Heap { nodes: vec![series.heaps[0].nodes[0].clone(); 3000] };
        for node in &mut heap.nodes {
            series.name(node);
            node.edges = vec![edge(series.random.below(3000) as u32)];
        }
        let mut after = heap.clone();
        after.nodes.iter_mut().for_each(|node| node.edges[0].target += 1);
        // The first object has a name again and again: the shape with that for a tail fits all others, too.
        after.nodes.insert(0, Node { edges: vec![edge(1), edge(2), edge(3)], ..heap.nodes[0].clone() });
        series.name(&mut after.nodes[0]);
        series.heaps = vec![heap, after];
        series.record(writer);
    });
    twins.assert_equal();
    let stored = [0, 1].map(|number: usize| twins.report.snapshots[number].stored_bytes);
    assert!(stored[1] < 400 && stored[0] > 3000, "{stored:?}");
}

#[test]
fn whole_snapshots_come_in_between() {
    let twins = twins(Options::default(), |writer, vocabulary| {
        let mut series = Series::new(11, 500, (true, true), vocabulary);
        (0..100).for_each(|_| series.step(vocabulary));
        series.record(writer);
    });
    twins.assert_equal();
    let whole = twins.report.snapshots.iter().filter(|snapshot| snapshot.base.is_none()).count();
    assert!((2..70).contains(&whole), "{:?}", twins.report);
}

#[test]
fn what_was_repacked_is_repacked_and_repaired_again() {
    let twins = twins(Options::default(), |writer, vocabulary| {
        let mut series = Series::new(21, 800, (false, true), vocabulary);
        (0..6).for_each(|_| series.step(vocabulary));
        series.record(writer);
    });
    let (again, repaired) = (twins.folder.path().join("c.barrow"), twins.folder.path().join("d.barrow"));
    repack(&twins.repacked, &again, RepackOptions { level: 1 }, &Silent).unwrap();
    assert_same(&twins.original, &Recording::open(&again).unwrap());
    assert_eq!(repair(&twins.repacked, &repaired, &Silent).unwrap().dropped(), [""; 0]);
    assert_same(&twins.original, &Recording::open(&repaired).unwrap());
}

#[test]
fn how_sure_matches_are_is_kept() {
    let twins = twins(Options::default(), |writer, vocabulary| {
        let mut series = Series::new(22, 800, (false, false), vocabulary);
        (0..6).for_each(|_| series.step(vocabulary));
        series.record(writer);
    });
    let matched = pairings(&twins.original);
    assert_eq!(matched.iter().filter(|pairing| pairing.is_some()).count(), matched.len() - 1);
    assert!(matched.iter().flatten().any(|pairing| pairing.confidence() < 1.0), "{matched:?}");
    let [again, repaired, redacted] = ["c", "d", "e"].map(|name| twins.folder.path().join(name));
    repack(&twins.repacked, &again, RepackOptions { level: 1 }, &Silent).unwrap();
    repair(&twins.repacked, &repaired, &Silent).unwrap();
    redact(&twins.repacked, &redacted, &RedactOptions::default(), &Silent).unwrap();
    assert_eq!(pairings(&twins.repacked), matched);
    for path in [again, repaired, redacted] {
        assert_eq!(pairings(&Recording::open(&path).unwrap()), matched, "{}", path.display());
    }
}

/// How each snapshot was matched with the one before.
fn pairings(recording: &Recording) -> Vec<Option<Pairing>> {
    let last = recording.snapshot_ids().last().expect("a snapshot");
    let mut walk = recording.serials(last).unwrap();
    std::iter::from_fn(|| walk.next(&Silent).unwrap()).map(|step| step.pairing).collect()
}

#[test]
fn the_index_lists_the_frames_that_are_there() {
    let twins = twins(Options::default(), |writer, vocabulary| {
        // Several blocks, so that some stay as they are.
        let mut series = Series::new(31, 70_000, (true, true), vocabulary);
        (0..2).for_each(|_| series.step(vocabulary));
        series.record(writer);
    });
    let file = std::fs::read(twins.folder.path().join("b.barrow")).unwrap();
    // By snapshot and section: where the first frame begins, and where the last one ends.
    let (mut found, mut listed) = (BTreeMap::new(), BTreeMap::new());
    let mut offset = HEADER_BYTES as u64;
    while let Ok(frame) = Frame::parse(&file, offset) {
        let FrameHeader { section, snapshot, .. } = frame.header;
        if [SectionType::BLOCK, SectionType::PATCH].contains(&section) {
            found.entry((snapshot, section.0)).or_insert((offset, 0)).1 = frame.end();
        }
        if section == SectionType::INDEX {
            for row in parse_index(frame.body().unwrap(), file.len() as u64).unwrap() {
                if [SectionType::BLOCK, SectionType::PATCH].contains(&row.section) {
                    listed.insert((row.snapshot, row.section.0), (row.offset, row.offset + row.length));
                }
            }
        }
        offset = frame.end();
    }
    assert!(twins.patches() > 0 && !listed.is_empty());
    assert_eq!(listed, found);
}

#[test]
fn a_file_cut_anywhere_has_every_snapshot_that_was_committed() {
    let twins = twins(Options::default(), |writer, vocabulary| {
        let mut series = Series::new(31, 60, (true, false), vocabulary);
        (0..5).for_each(|_| series.step(vocabulary));
        series.record(writer);
    });
    let bytes = std::fs::read(twins.folder.path().join("b.barrow")).unwrap();
    let mut most = 0;
    for length in 64..bytes.len() {
        let cut = Recording::from_bytes(bytes[..length].to_vec()).unwrap();
        let count = cut.snapshot_count();
        assert!(count >= most && count <= 6, "{count} snapshots in {length} bytes");
        if count > most {
            let last = SnapshotId(count as u32 - 1);
            assert_eq!(Heap::read(&cut, last).unwrap(), Heap::read(&twins.repacked, last).unwrap());
            most = count;
        }
    }
    assert_eq!(most, 6);
}

#[test]
fn any_changed_bit_is_noticed() {
    let twins = twins(Options::default(), |writer, vocabulary| {
        let mut series = Series::new(41, 300, (true, true), vocabulary);
        (0..3).for_each(|_| series.step(vocabulary));
        series.record(writer);
    });
    assert!(twins.patches() > 0);
    let bytes = std::fs::read(twins.folder.path().join("b.barrow")).unwrap();
    let mut random = Random::new(1);
    for _ in 0..3000 {
        let mut changed = bytes.clone();
        let at = 64 + random.below(bytes.len() as u64 - 64) as usize;
        changed[at] ^= 1 << random.below(8);
        let noticed = match Recording::from_bytes(changed) {
            Err(_) => true,
            Ok(recording) => recording.damage().is_some() || !verify(&recording, &Silent).unwrap().problems.is_empty(),
        };
        assert!(noticed, "byte {at}");
    }
}

#[test]
fn serials_name_objects_that_stay() {
    // With deaths and births at the end only, structure determines all pairs.
    let twins = twins(Options::default(), |writer, vocabulary| {
        let mut series = Series::new(51, 2000, (false, false), vocabulary);
        (0..3).for_each(|_| series.step(vocabulary));
        series.record(writer);
    });
    let last = SnapshotId(3);
    let mut walk = twins.original.serials(last).unwrap();
    assert_eq!(walk.origin(), SerialOrigin::Matched);
    let mut serials = Vec::new();
    while let Some(step) = walk.next(&Silent).unwrap() {
        let known: std::collections::HashSet<u64> = step.serials.iter().copied().collect();
        assert_eq!(known.len(), step.serials.len(), "each object has a serial of its own");
        serials.push(step.serials);
    }
    // The repacked recording gives the same answer for each object.
    for id in twins.original.snapshot_ids() {
        let heaps = [&twins.original, &twins.repacked].map(|recording| Heap::read(recording, id).unwrap());
        let stored = twins.repacked.recorded_serials(id).unwrap();
        let given: std::collections::HashMap<Tag, u64> =
            heaps[1].nodes.iter().zip(stored).map(|(node, serial)| (node.unmanaged_bytes, serial)).collect();
        for (node, serial) in heaps[0].nodes.iter().zip(&serials[id.0 as usize]) {
            assert_eq!(given[&node.unmanaged_bytes], *serial);
        }
    }
}
