//! Births and deaths between dumps of a heap that a collector compacts, whose truth is known.

use std::collections::BTreeMap;

use barrow_analyzer::{
    Between, CountBounds, ObjectSet, Recording, SerialOrigin, Silent, SnapshotId, type_totals, walk,
};
use barrow_importers::{ImportOptions, Series};
use barrow_testdata::Random;
use barrow_writer::{Options, Writer};

use crate::dump::{BYTE, Class, Dump, OBJECT};

const BOX: u64 = 0x100;
const SESSION: u64 = 0x108;
const NODE: u64 = 0x110;
const ARRAY: u64 = 0x118;
const MAIN: u64 = 0x120;
const BYTES: u64 = 0;

/// An object of a heap; references are numbers of objects, which are never used again.
struct Living {
    number: u64,
    class: u64,
    length: u64,
    references: Vec<Option<u64>>,
}

/// A heap in the order of its addresses.
#[derive(Default)]
struct Heap {
    objects: Vec<Living>,
    born: u64,
    boxes: Vec<u64>,
    sessions: Vec<u64>,
}

impl Heap {
    fn make(&mut self, class: u64, length: u64, references: Vec<Option<u64>>) -> u64 {
        self.born += 1;
        self.objects.push(Living { number: self.born, class, length, references });
        self.born
    }

    /// Boxes differ by the lengths of their bytes.
    fn add_boxes(&mut self, count: u64, random: &mut Random) {
        for _ in 0..count {
            let length = random.below(200);
            let bytes = self.make(BYTES, length, vec![]);
            let new = self.make(BOX, 0, vec![Some(bytes)]);
            self.boxes.push(new);
        }
    }

    fn add_sessions(&mut self, count: u64) {
        for _ in 0..count {
            let new = self.make(SESSION, 0, vec![None]);
            self.sessions.push(new);
        }
    }

    /// A table with a chain of nodes for each of its places, as a hash map's, and an array of sessions.
    fn dump(&mut self) -> Vec<u8> {
        self.objects.retain(|object| !matches!(object.class, NODE | ARRAY));
        let mut places = vec![None; self.boxes.len() * 2];
        for held in self.boxes.clone() {
            let place = (held.wrapping_mul(2_654_435_761) % places.len() as u64) as usize;
            places[place] = Some(self.make(NODE, 0, vec![Some(held), places[place]]));
        }
        let table = self.make(ARRAY, 0, places);
        let sessions = self.make(ARRAY, 0, self.sessions.iter().copied().map(Some).collect());
        // Objects without references to them are collected, and the rest moves together.
        let alive: std::collections::BTreeSet<u64> =
            self.objects.iter().flat_map(|object| &object.references).flatten().copied().collect();
        self.objects.retain(|object| alive.contains(&object.number) || object.class == ARRAY);
        let mut end = 0x10_0000;
        let mut addresses = BTreeMap::new();
        for object in &self.objects {
            addresses.insert(object.number, end);
            end += (24 + object.length + 8 * object.references.len() as u64).next_multiple_of(8);
        }
        self.bytes(&addresses, [addresses[&table], addresses[&sessions]])
    }

    fn bytes(&self, addresses: &BTreeMap<u64, u64>, arrays: [u64; 2]) -> Vec<u8> {
        let mut dump = Dump::new("1.0.2", 8);
        let names = [(1, "Box"), (2, "Session"), (3, "Node"), (4, "[LNode;"), (5, "Main"), (6, "value"), (7, "next")];
        names.iter().for_each(|&(id, text)| dump.string(id, text));
        (1..=5).for_each(|name| dump.load_class(0xf8 + 8 * name, name));
        for (address, fields) in [(BOX, &[6][..]), (SESSION, &[6]), (NODE, &[6, 7]), (ARRAY, &[])] {
            let fields: Vec<(u64, u8)> = fields.iter().map(|&name| (name, OBJECT)).collect();
            dump.class(&Class { address, fields: &fields, ..Class::default() });
        }
        let statics = arrays.map(|array| (6, OBJECT, dump.id(array)));
        dump.class(&Class { address: MAIN, statics: &statics, ..Class::default() });
        for object in &self.objects {
            let address = addresses[&object.number];
            let to = |reference: &Option<u64>| reference.map_or(0, |number| addresses[&number]);
            let references: Vec<u64> = object.references.iter().map(to).collect();
            match object.class {
                BYTES => {
                    dump.primitive_array(address, BYTE, object.length as u32, &vec![0; object.length as usize]);
                }
                ARRAY => dump.object_array(address, ARRAY, &references),
                class => {
                    let fields: Vec<u8> = references.iter().flat_map(|&reference| dump.id(reference)).collect();
                    dump.instance(address, class, &fields);
                }
            }
        }
        dump.root(0x05, MAIN, &[]);
        dump.end()
    }
}

fn series(dumps: &[Vec<u8>]) -> Recording {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("series.barrow");
    let writer = Writer::create(&path, Options::default()).expect("a new file");
    let options = ImportOptions::default();
    let mut series = Series::new(&writer, &options, &barrow_importers::Silent);
    for (number, dump) in dumps.iter().enumerate() {
        let file = folder.path().join(format!("{number}.hprof"));
        std::fs::write(&file, dump).expect("written");
        series.import(&file).expect("a whole dump");
    }
    writer.finish().expect("a recording");
    Recording::from_bytes(std::fs::read(&path).expect("a recording")).expect("a whole recording")
}

fn of_type(recording: &Recording, set: &ObjectSet, name: &str) -> u64 {
    let tables = recording.tables().expect("tables");
    let mut count = 0;
    walk(recording, set.snapshot(), &Silent, |object, _| {
        count += u64::from(set.contains(object.id) && tables.type_name(object.type_id) == name);
        Ok(())
    })
    .expect("objects");
    count
}

fn count(recording: &Recording, snapshot: u32, name: &str) -> u64 {
    let tables = recording.tables().expect("tables");
    let totals = type_totals(recording, SnapshotId(snapshot)).expect("totals");
    totals.iter().filter(|of| tables.type_name(of.type_id) == name).map(|of| of.objects).sum()
}

#[test]
fn objects_that_stay_are_not_born_again_and_objects_that_are_replaced_are() {
    let random = &mut Random::new(1);
    let mut heap = Heap::default();
    heap.add_boxes(1500, random);
    heap.add_sessions(400);
    heap.add_boxes(1500, random);
    let mut dumps = vec![heap.dump()];
    for _ in 0..5 {
        // The oldest 150 sessions end, and 150 others begin.
        heap.sessions.drain(..150);
        heap.add_sessions(150);
        heap.add_boxes(500, random);
        dumps.push(heap.dump());
    }
    let recording = series(&dumps);
    let between = |earlier, later| {
        Between::of(&recording, SnapshotId(earlier), SnapshotId(later), &Silent).expect("two snapshots")
    };
    let whole = between(0, 5);
    assert_eq!(whole.origin, SerialOrigin::Matched);
    let found = [&whole.born, &whole.died, &whole.stayed].map(|set| of_type(&recording, set, "Box"));
    let [born, died, stayed] = found;
    assert!(died <= 15, "{found:?}");
    assert_eq!((born, stayed), (2500 + died, 3000 - died));
    for step in 0..5 {
        let found = between(step, step + 1);
        let [born, died] = [&found.born, &found.died].map(|set| of_type(&recording, set, "Session"));
        assert_eq!(born, died);
        // By looks and references alone none was born: the new ones are in the places of the old ones.
        assert!((100..=250).contains(&born), "{step}: {born}");
        let counts = [count(&recording, step, "Session"), count(&recording, step + 1, "Session")];
        assert_eq!(CountBounds::born(&counts), CountBounds { low: 0, high: 400 });
    }
}
