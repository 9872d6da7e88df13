//! Real snapshots, compared with what DevTools' own code says of them (see testdata/foreign/README.md).

use crate::recorded::{Described, Recorded, record_file, record_series};
use barrow_analyzer::{EntryKey, Expression, FieldPath, Held, KindRole, ObjectId, Silent, SnapshotId, StrengthClass};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// A sample, and how many objects, references and bytes it holds.
pub(crate) const SAMPLES: [(&str, [u64; 3]); 3] = [
    ("node20-cards-1", [39_749, 180_053, 2_962_763]),
    ("node20-cards-2", [39_755, 180_076, 2_963_051]),
    ("chrome147-page", [27_581, 110_933, 746_515]),
];

pub(crate) fn path(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/foreign/v8")).join(name)
}

fn sample(name: &str, threads: usize) -> Recorded {
    record_file(&path(&format!("{name}.heapsnapshot.zst")), threads).expect("a whole snapshot")
}

fn golden(name: &str) -> String {
    let packed = std::fs::read(path(&format!("{name}.zst"))).expect("the golden file");
    String::from_utf8(zstd::decode_all(&packed[..]).expect("a whole stream")).expect("text")
}

/// Objects and bytes by constructor.
type Constructors = BTreeMap<String, (u64, u64)>;

/// Those of objects with these sizes, without those whose size is 0: DevTools does not count them.
fn constructors(objects: &[Described], sizes: &[u64]) -> Constructors {
    let mut constructors = Constructors::new();
    for (object, &size) in objects.iter().zip(sizes).filter(|&(_, &size)| size > 0) {
        // DevTools has one class for all groups of roots.
        let name = if object.role == KindRole::Root { "(synthetic)" } else { &object.name };
        let (count, bytes) = constructors.entry(name.to_owned()).or_default();
        *count += 1;
        *bytes += size;
    }
    constructors
}

/// As DevTools says.
fn golden_constructors(name: &str) -> Constructors {
    let read = |line: &str| {
        let mut fields = line.split('\t');
        let mut field = || fields.next().expect("three fields");
        let (count, bytes) = (field().parse().expect("a count"), field().parse().expect("a size"));
        (serde_json::from_str(field()).expect("a name"), (count, bytes))
    };
    golden(name).lines().map(read).collect()
}

fn assert_same(found: &Constructors, expected: &Constructors, name: &str) {
    for (constructor, amounts) in expected {
        assert_eq!(found.get(constructor), Some(amounts), "{constructor} in {name}");
    }
    assert_eq!(found.len(), expected.len(), "{name}");
}

#[test]
fn totals_are_those_of_the_snapshots() {
    for (name, totals) in SAMPLES {
        let recorded = sample(name, 2);
        let found = recorded.totals();
        assert_eq!([found.objects, found.references, found.heap_bytes], totals, "{name}");
        assert_eq!(recorded.imported.lost, None);
        let verified = barrow_analyzer::verify(&recorded.recording, &Silent).expect("verified");
        assert_eq!(verified.problems, []);
    }
}

#[test]
fn constructors_are_those_of_devtools() {
    for (name, _) in SAMPLES {
        let objects = sample(name, 2).objects();
        let sizes: Vec<u64> = objects.iter().map(|object| object.size).collect();
        assert_same(&constructors(&objects, &sizes), &golden_constructors(&format!("{name}.constructors.tsv")), name);
    }
}

/// Sizes as DevTools shows them (`calculateShallowSizes` in its `HeapSnapshot.ts`): what arrays, hidden
/// objects and the texts of strings outside the heap take that only one object leads to counts for that object.
fn shown_sizes(objects: &[Described]) -> Vec<u64> {
    const NOBODY: usize = usize::MAX;
    const SEVERAL: usize = usize::MAX - 1;
    let mut sizes: Vec<u64> = objects.iter().map(|object| object.size).collect();
    let is_text = |object: &Described| object.kind == "native" && object.name == "system / ExternalStringData";
    let is_owned = |object: &Described| ["hidden", "array"].contains(&&*object.kind) || is_text(object);
    let mut owners: Vec<usize> =
        (0..objects.len()).map(|at| if is_owned(&objects[at]) { NOBODY } else { at }).collect();
    let mut waiting: Vec<usize> = (0..objects.len()).filter(|&at| owners[at] == at).collect();
    while let Some(at) = waiting.pop() {
        let owner = owners[at];
        for (_, _, target) in objects[at].references.iter().filter(|reference| !reference.0.starts_with("weak:")) {
            let target = *target as usize;
            let new = if owners[target] == NOBODY { owner } else { SEVERAL };
            if owners[target] != target && owners[target] != owner && owners[target] != SEVERAL {
                owners[target] = new;
                waiting.push(target);
            }
        }
    }
    for (at, &owner) in owners.iter().enumerate() {
        let is_shown = owner < objects.len() && owner != at && objects[owner].role != KindRole::Root;
        if is_shown {
            sizes[owner] += std::mem::take(&mut sizes[at]);
        }
    }
    sizes
}

#[test]
fn a_recording_holds_all_that_devtools_makes_its_sizes_of() {
    for (name, _) in SAMPLES {
        let recorded = sample(name, 2);
        let mut objects = recorded.objects();
        // DevTools does not follow what the snapshot calls weak, but shortcuts, and both halves of an entry.
        let tables = recorded.recording.tables().expect("tables");
        let mut row = 0;
        barrow_analyzer::walk(&recorded.recording, SnapshotId(0), &Silent, |_, references| {
            for (described, reference) in objects[row].references.iter_mut().zip(references) {
                if tables.strength_name(reference.strength) == "weak" {
                    described.0.insert_str(0, "weak:");
                }
            }
            row += 1;
            Ok(())
        })
        .expect("a walk");
        let sizes = shown_sizes(&objects);
        assert_same(&constructors(&objects, &sizes), &golden_constructors(&format!("{name}.shown.tsv")), name);
    }
}

#[test]
fn retained_sizes_are_those_of_devtools() {
    for (name, _) in SAMPLES {
        let recorded = sample(name, 2);
        let heap = recorded.heap();
        let dominators = heap.dominators(&Silent).expect("dominators");
        let golden = golden(&format!("{name}.retained.txt"));
        let expected: Vec<u64> = golden.lines().map(|line| line.parse().expect("a size")).collect();
        assert_eq!(expected.len() as u64, recorded.totals().objects);
        // DevTools lets the root retain what nothing leads to.
        let differing: Vec<_> = (0..)
            .map(ObjectId)
            .zip(&expected)
            .filter(|&(object, _)| dominators.is_reachable(object))
            .filter(|&(object, &expected)| dominators.retained_bytes(object) != expected)
            .map(|(object, &expected)| (object.0, dominators.retained_bytes(object), expected))
            .collect();
        assert_eq!(differing, [], "object, here, DevTools; in {name}");
    }
}

#[test]
fn any_number_of_threads_finds_the_same() {
    for (name, _) in SAMPLES {
        let one = sample(name, 1);
        let objects = one.objects();
        for threads in [2, 8] {
            let more = sample(name, threads);
            assert_eq!(more.totals(), one.totals());
            assert!(more.objects() == objects, "{name} with {threads} threads");
        }
    }
}

#[test]
fn entries_of_weak_maps_are_ephemerons() {
    let objects = sample("node20-cards-1", 2).objects();
    let ephemerons: Vec<_> = objects
        .iter()
        .flat_map(|object| object.references.windows(2))
        .filter(|pair| pair[1].1 == StrengthClass::Ephemeron)
        .collect();
    // The program's own, and two of Node.js.
    assert!(ephemerons.len() >= 52, "{}", ephemerons.len());
    for pair in &ephemerons {
        let key = &objects[pair[0].2 as usize];
        assert_eq!(pair[0].1, StrengthClass::Weak);
        // The other half of the entry.
        assert!(key.references.iter().any(|half| half.0 == pair[1].0 && half.2 == pair[1].2), "{key:?}");
    }
    let cards = ephemerons.iter().filter(|pair| objects[pair[0].2 as usize].name == "Card").count();
    assert_eq!(cards, 52);
}

/// `cards.js` puts each card of four suits into a `Map` by its name, and each suit into a `Set`.
#[test]
fn maps_and_sets_hold_what_the_program_put_into_them() {
    const SUITS: [&str; 4] = ["clubs", "diamonds", "hearts", "spades"];
    let recorded = sample("node20-cards-1", 2);
    let (heap, objects) = (recorded.heap(), recorded.objects());
    let name = |held: Held| match held {
        Held::Object(object) => objects[object.0 as usize].own_name.clone().unwrap_or_default(),
        other => panic!("{other:?}"),
    };
    let deck =
        heap.select(&[], &Expression::parse("type = \"Deck\"").expect("an expression"), &Silent).expect("objects").0;
    assert_eq!(deck.len(), 1);
    let entries = |field: &str| {
        let held = heap.field_column(&deck, &FieldPath::named(field), &Silent).expect("a field");
        let [Held::Object(collection)] = held[..] else { panic!("{held:?}") };
        heap.entries(collection, 100, &Silent).expect("a heap").expect("entries").entries
    };
    let by_name = entries("byName").into_iter().map(|entry| {
        let (EntryKey::Held(key), Held::Object(card)) = (entry.key, entry.value) else { panic!("{entry:?}") };
        assert_eq!(objects[card.0 as usize].name, "Card");
        name(key)
    });
    let expected: BTreeSet<String> =
        SUITS.iter().flat_map(|suit| (1..=13).map(move |value| format!("{value} of {suit}"))).collect();
    assert_eq!(by_name.collect::<BTreeSet<_>>(), expected);
    let seen: BTreeSet<String> = entries("seen").into_iter().map(|entry| name(entry.value)).collect();
    assert_eq!(seen, SUITS.map(str::to_owned).into());
    // The value under a key is the card of that suit and value.
    let path = FieldPath::typed(".byName[\"7 of hearts\"].suit").expect("a path");
    let suit = heap.field_column(&deck, &path, &Silent).expect("a field");
    let Held::Value(barrow_analyzer::FieldValue::Text(suit)) = suit[0] else { panic!("{suit:?}") };
    assert_eq!(heap.recording().tables().expect("tables").string(suit), "hearts");
}

#[test]
fn serials_tell_which_objects_live_on() {
    let serials = |name| -> BTreeMap<u64, String> {
        let objects = sample(name, 2).objects().into_iter();
        objects
            .filter(|object| object.kind == "object")
            .filter_map(|object| Some((object.serial?, object.name)))
            .collect()
    };
    let (before, after) = (serials("node20-cards-1"), serials("node20-cards-2"));
    let cards = |serials: &BTreeMap<u64, String>| serials.values().filter(|name| *name == "Card").count();
    assert_eq!((cards(&before) + 1, cards(&before)), (cards(&after), cards(&after) - 1));
    let living = before.iter().filter(|(serial, name)| after.get(serial) == Some(name)).count();
    assert!(living * 100 > before.len() * 95, "{living} of {} objects live on", before.len());
}

#[test]
fn objects_have_the_sites_that_chrome_tracked() {
    let mut sites: BTreeMap<Vec<String>, u64> = BTreeMap::new();
    for object in sample("chrome147-page", 2).objects() {
        if object.kind != "closure" {
            *sites.entry(object.site).or_default() += 1;
        }
    }
    sites.retain(|site, _| !site.is_empty());
    let script = "(anonymous) (script 6:1), column Some(2)";
    let site = |titles: &[&str]| titles.iter().map(|&title| title.to_owned()).collect::<Vec<_>>();
    let expected = [
        (site(&[script]), 4),
        (site(&["make (script 6:1), column Some(43)", script]), 605),
        (site(&["push, column None", script]), 1),
    ];
    assert_eq!(sites.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn what_detached_elements_hold_is_detached() {
    let objects = sample("chrome147-page", 2).objects();
    let count = |name: &str| objects.iter().filter(|object| object.name == name).count();
    // A hundred cards are in the list, a hundred were removed, each with two texts.
    for (name, attached, detached) in [("<li>", 100, 100), ("<span>", 100, 100), ("Text", 201, 200)] {
        assert_eq!((count(name), count(&format!("Detached {name}"))), (attached, detached), "{name}");
    }
}

#[test]
fn several_snapshots_of_a_process_are_a_series() {
    let series = record_series(&["1", "2"].map(|number| path(&format!("node20-cards-{number}.heapsnapshot.zst"))));
    assert_eq!(series.recording.snapshot_count(), 2);
    let tables = series.recording.tables().expect("tables");
    let cards = |snapshot| {
        let totals = barrow_analyzer::type_totals(&series.recording, SnapshotId(snapshot)).expect("totals");
        let cards = totals.into_iter().filter(|totals| tables.type_name(totals.type_id) == "Card");
        cards.map(|totals| (totals.type_id, totals.objects)).collect::<BTreeMap<_, _>>()
    };
    let (before, after) = (cards(0), cards(1));
    // Two constructors and their prototypes; the types of both snapshots are the same.
    assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
    let growth: Vec<u64> = before.iter().map(|(type_id, count)| after[type_id] - count).collect();
    assert_eq!(growth.iter().sum::<u64>(), 1);
}
