//! Compares what kinds, types, sites and generations retain, and the objects that match expressions, with their
//! definitions, on random recordings with kinds, sites and sizes of every form. Answers are computed, and read from the
//! index file.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use barrow_analyzer::{
    Expression, GroupRetained, Heap, IndexPlace, KindId, Memory, ObjectDetails, ObjectId, Recording, Silent, SiteId,
    SnapshotId, TypeIdentity, objects,
};
use barrow_testdata::{Heap as Recorded, Random, Vocabulary};
use barrow_writer::{Options, SiteDescription, TypeDescription, Writer};

const SNAPSHOT: SnapshotId = SnapshotId(0);

/// A recording in a folder of its own. Two types are identical, and two sites differ only in their generation.
fn recorded(random: &mut Random, size: u32) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("heap.barrow");
    let writer = Writer::create(&path, Options::default()).unwrap();
    let mut vocabulary = Vocabulary::declare(&writer).unwrap();
    vocabulary.types[1] = writer
        .declare_type(&TypeDescription { layout: Some("boxed"), ..TypeDescription::new(vocabulary.kinds[0], "Pair") })
        .unwrap();
    let sites = ["3", "18446744073709551615", "4"].map(|generation| {
        let attributes = &[("generation", generation)];
        let function = if random.below(2) == 0 { "build" } else { "run" };
        writer.site(&SiteDescription { function: Some(function), attributes, ..SiteDescription::default() }).unwrap()
    });
    let mut heap = Recorded::random(random, size, &vocabulary);
    // Sizes of more than 32 bits take another code path.
    let are_small = random.below(2) == 0;
    for node in &mut heap.nodes {
        if let Some(site) = node.identity.2.as_mut().filter(|_| random.below(2) == 0) {
            *site = sites[random.below(3) as usize];
        }
        if are_small {
            node.shallow_bytes %= 5_000;
            node.unmanaged_bytes %= 300;
        } else if random.below(20) == 0 {
            node.shallow_bytes = u64::from(u32::MAX) + random.below(3) - 1;
        }
    }
    heap.record(&writer).unwrap();
    writer.finish().unwrap();
    (folder, path)
}

fn open(path: &std::path::Path, place: &IndexPlace) -> Heap {
    Heap::new(Arc::new(Recording::open(path).unwrap()), SNAPSHOT, place, Memory::unlimited()).unwrap()
}

/// For each class of objects, such as a type or a site, the bytes that its reachable objects dominate, and their
/// number.
fn by_definition<G: Ord + Copy>(heap: &Heap, group_of: impl Fn(&ObjectDetails) -> G) -> BTreeMap<G, GroupRetained> {
    let dominators = heap.dominators(&Silent).unwrap();
    let ids: Vec<ObjectId> = (0..heap.object_count() as u32).map(ObjectId).collect();
    let details = objects(heap.recording(), SNAPSHOT, &ids).unwrap();
    let mut groups: BTreeMap<G, (u64, BTreeSet<ObjectId>)> = BTreeMap::new();
    for object in &details {
        let (count, held) = groups.entry(group_of(object)).or_default();
        *count += u64::from(dominators.is_reachable(object.id));
        held.extend(dominators.dominated(object.id));
    }
    let own = |id: &ObjectId| details[id.index()].shallow_bytes.wrapping_add(details[id.index()].unmanaged_bytes);
    let sum = |held: &BTreeSet<ObjectId>| held.iter().map(own).fold(0, u64::wrapping_add);
    groups.into_iter().map(|(of, (objects, held))| (of, GroupRetained { objects, bytes: sum(&held) })).collect()
}

/// The entries that are not 0.
fn some<G: Ord>(found: impl IntoIterator<Item = (G, GroupRetained)>) -> BTreeMap<G, GroupRetained> {
    found.into_iter().filter(|(_, of)| *of != GroupRetained::default()).collect()
}

fn check(heap: &Heap, expected: &Heap, what: &str) {
    let recording = expected.recording();
    let tables = recording.tables().unwrap();
    let numbered = |found: Vec<GroupRetained>| some((0u32..).zip(found));
    let by_type = heap.retained_by_type(&Silent).unwrap();
    assert_eq!(numbered(by_type), some(by_definition(expected, |object| object.type_id.0)), "{what}");
    let by_kind = heap.retained_by_kind(&Silent).unwrap();
    assert_eq!(numbered(by_kind), some(by_definition(expected, |object| tables.type_kind(object.type_id).0)), "{what}");
    let (frames, _) = heap.select(&[KindId(1)], &Expression::parse("").unwrap(), &Silent).unwrap();
    let known = heap.known_to_be_dominated(&frames, &Silent).unwrap();
    let of_frames =
        by_definition(expected, |object| tables.type_kind(object.type_id).0).get(&1).map_or(0, |of| of.bytes);
    assert_eq!(known, Some(of_frames), "{what}");
    let identities = some(by_definition(expected, |object| TypeIdentity::of(tables, object.type_id)));
    let found = heap.retained_by_identity(&Silent).unwrap().into_iter().filter(|&bytes| bytes > 0);
    let (mut found, mut bytes): (Vec<u64>, Vec<u64>) =
        (found.collect(), identities.values().map(|of| of.bytes).collect());
    found.sort_unstable();
    bytes.sort_unstable();
    bytes.retain(|&bytes| bytes > 0);
    assert_eq!(found, bytes, "{what}");
    let site = |object: &ObjectDetails| object.site.unwrap_or(SiteId(0));
    let place = |object: &ObjectDetails| recording.site_place(site(object)).unwrap();
    assert_eq!(some(heap.retained_by_site(&Silent).unwrap()), some(by_definition(expected, place)), "{what}");
    let generation = |object: &ObjectDetails| {
        let details = recording.site(site(object)).unwrap()?;
        details.attributes.iter().find(|(key, _)| *key == "generation")?.1.parse::<u64>().ok()
    };
    let by_generation = heap.retained_by_generation(&Silent).unwrap();
    assert_eq!(some(by_generation), some(by_definition(expected, generation)), "{what}");
    for text in [
        "retained > 1K",
        "retained >= 4294967295 or size = 4294967295",
        "size > 40 and type = Pair",
        "not (unmanaged > 100 or retained < 4G)",
        "retained in 20..70 and size != 48",
        "size > 4294967295",
        "unreachable or size in 8..30",
        "not (reachable and retained > 30)",
        "reachable and retained > 5000 and distance < 9",
        "type ~ M* and retained > 10 or name = main",
    ] {
        for kinds in [&[][..], &[KindId(1)]] {
            let expression = Expression::parse(text).unwrap();
            let select = |heap: &Heap| heap.select(kinds, &expression, &Silent).unwrap();
            assert_eq!(select(heap), select(expected), "{text} of {kinds:?}, {what}");
        }
    }
    assert_eq!(heap.site_totals(&Silent).unwrap(), expected.site_totals(&Silent).unwrap(), "{what}");
    assert_eq!(heap.generation_totals(None, &Silent).unwrap(), expected.generation_totals(None, &Silent).unwrap());
    let unreachable = |heap: &Heap| {
        let set = heap.unreachable(&Silent).unwrap();
        (heap.type_totals_of(&set, &Silent).unwrap(), set)
    };
    assert_eq!(unreachable(heap), unreachable(expected), "{what}");
}

#[test]
fn groups_retain_what_the_definition_says() {
    let mut random = Random::new(31);
    for round in 0..60 {
        let size = 1 + random.below(if round % 20 == 0 { 3_000 } else { 60 }) as u32;
        let (_folder, path) = recorded(&mut random, size);
        let expected = open(&path, &IndexPlace::Nowhere);
        check(&expected, &expected, &format!("round {round}, computed"));
        let place = IndexPlace::BESIDE;
        open(&path, &place).dominators(&Silent).unwrap();
        check(&open(&path, &place), &expected, &format!("round {round}, kept"));
    }
}

#[test]
fn answers_with_an_index_equal_those_without() {
    let mut random = Random::new(32);
    let (_folder, path) = recorded(&mut random, 40);
    let whole = std::fs::read(&path).unwrap();
    let answer = |place| {
        let heap = Heap::new(Arc::new(Recording::open(&path).ok()?), SNAPSHOT, place, Memory::unlimited()).ok()?;
        let dominators = heap.dominators(&Silent).ok()?;
        Some(format!("{} {}", dominators.reachable_count(), dominators.reachable_bytes()))
    };
    let place = IndexPlace::BESIDE;
    let index = path.with_extension("barrow.index");
    let mut answered = 0;
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 1 << random.below(8);
        std::fs::write(&path, changed).unwrap();
        let expected = answer(&IndexPlace::Nowhere);
        answered += u64::from(expected.is_some());
        assert_eq!(answer(&place), expected, "byte {at} is damaged");
        let _ = std::fs::remove_file(&index);
    }
    assert!(answered > 0, "something of the file takes no part in dominators");
}
