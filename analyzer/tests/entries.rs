//! Compares the entries of objects with their definition, on random heaps that refer to themselves in every way.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use barrow_analyzer::{
    Entries, Entry, EntryKey, Heap, Held, IndexPlace, Memory, ObjectId, Recording, Silent, SnapshotId,
};
use barrow_testdata::{Random, Shelf};
use barrow_writer::{
    Encoding, KindRole, Label, Object, Options, SnapshotInfo, StrengthId, TypeDescription, Value, Writer,
};

/// The types of the model: name, where entries are, and the fields that refer to objects.
const KINDS: [(&str, &str, &[&str]); 20] = [
    ("Map", ".table[]", &["table"]),
    ("Node", ".key=.value .next", &["key", "value", "next"]),
    ("Tree", ".left .key=.value? .right", &["left", "key", "value", "right"]),
    ("Set", ".map=", &["map"]),
    ("List", "=.items[]", &["items"]),
    ("Ring", "=.items[.head]", &["items"]),
    ("Link", "=.item? .next", &["item", "next"]),
    ("Queue", ".first.next", &["first"]),
    ("Turns", ".table[=]", &["table"]),
    ("Pairs", ".keys[]=.values[]", &["keys", "values"]),
    ("Dict", "[=.length]", &["class"]),
    ("Array", "=[]", &[]),
    ("Plain", "", &["next"]),
    ("Bag", ".items[]=", &["items"]),
    ("Slice", "=.items[.from,.count]", &["items"]),
    ("Bits", ".items[.bits]=", &["items"]),
    ("Some", "=.item?Plain", &["item"]),
    ("Own list", "=[.length]", &["class"]),
    ("Own set", "[.length]=", &["class"]),
    ("Copies", "=.item*.count", &["item"]),
];
const RING: usize = 5;
const DICT: usize = 10;
const ARRAY: usize = 11;
const PLAIN: usize = 12;
const SLICE: usize = 14;
const BITS: usize = 15;
const OWN_LIST: usize = 17;
const OWN_SET: usize = 18;
const COPIES: usize = 19;
/// The number of a type derived from the first one, which says nothing itself.
const OWN: usize = 20;
/// Of more lists it is not counted how many elements are null.
const MOST_LISTS: usize = 16;

#[derive(Debug, Clone, Default)]
struct Model {
    kind: usize,
    fields: BTreeMap<&'static str, u32>,
    /// Targets of references with an index, or, of a dictionary, without one.
    elements: Vec<Option<u32>>,
    /// Of rings and slices where they begin, of dictionaries and their like how long they are, and a number of bits.
    number: Option<u64>,
    /// Of slices how long they are.
    count: Option<u64>,
}

impl Model {
    fn random(random: &mut Random, objects: u64) -> Self {
        // Nodes and arrays are most of what there is, so that walks are long.
        let kind =
            [random.below(21), [1, 1, 2, 6, ARRAY as u64][random.below(5) as usize]][random.below(3).min(1) as usize];
        let kind = kind as usize;
        let any = |random: &mut Random| random.below(objects) as u32;
        let fields = if kind == OWN { KINDS[0].2 } else { KINDS[kind].2 };
        let fields = fields.iter().filter(|_| random.below(4) > 0).copied().collect::<Vec<_>>();
        let fields = fields.into_iter().map(|name| (name, any(random))).collect();
        let elements = match kind {
            ARRAY => (0..random.below(9)).map(|_| (random.below(3) > 0).then(|| any(random))).collect(),
            DICT | OWN_LIST | OWN_SET => (0..random.below(9)).map(|_| Some(any(random))).collect(),
            _ => Vec::new(),
        };
        let number = match kind {
            RING | SLICE | COPIES => Some(random.below(10)),
            BITS => Some(random.next()),
            OWN_LIST | OWN_SET => {
                Some(elements.len() as u64 + random.below(8) / 7 - (random.below(4) / 3).min(elements.len() as u64))
            }
            DICT => Some(elements.len() as u64 / 2 + random.below(8) / 7),
            _ => None,
        };
        let count = (kind == SLICE && random.below(9) > 0).then(|| random.below(10));
        Model { kind, fields, elements, number: number.filter(|_| random.below(9) > 0), count }
    }
}

/// The definition: what an object contributes, one part after the other, each object once.
struct Definition<'m> {
    objects: &'m [Model],
    seen: BTreeSet<u32>,
    found: Vec<Entry>,
    counted: u64,
    are_known: bool,
    /// Number of null elements of each list, if that is known.
    nulls: Vec<Option<u64>>,
}

fn held(object: Option<u32>) -> Held {
    object.map_or(Held::Null, |object| Held::Object(ObjectId(object)))
}

impl Definition<'_> {
    fn of(objects: &[Model], object: u32) -> Option<Entries> {
        let seen = BTreeSet::new();
        let mut definition =
            Definition { objects, seen, found: Vec::new(), counted: 0, are_known: true, nulls: Vec::new() };
        if objects[object as usize].kind == PLAIN {
            return None;
        }
        definition.visit(object, false);
        let Definition { found: entries, are_known, nulls, .. } = definition;
        let is_counted = are_known && nulls.len() <= MOST_LISTS;
        let nulls = if is_counted { nulls.into_iter().sum() } else { None };
        Some(Entries { entries, has_more: false, are_known, nulls })
    }

    fn field(&self, object: u32, name: &str) -> Option<u32> {
        self.objects[object as usize].fields.get(name).copied()
    }

    fn has(&self, object: u32, name: &str) -> bool {
        let kind = self.objects[object as usize].kind;
        KINDS[if kind == OWN { 0 } else { kind }].2.contains(&name)
    }

    fn tell(&mut self, key: Held, value: Held, only_keys: bool) {
        self.found.push(match only_keys {
            true => Entry { key: EntryKey::None, value: key },
            false => Entry { key: EntryKey::Held(key), value },
        });
    }

    fn slots(&self, array: u32) -> Vec<(u64, u32)> {
        let array = &self.objects[array as usize];
        let slots = (0..).zip(&array.elements).filter(|_| array.kind == ARRAY);
        slots.filter_map(|(slot, element)| Some((slot, (*element)?))).collect()
    }

    fn all(&mut self, objects: impl IntoIterator<Item = u32>, only_keys: bool) {
        objects.into_iter().for_each(|object| self.visit(object, only_keys));
    }

    fn visit(&mut self, object: u32, only_keys: bool) {
        if !self.seen.insert(object) {
            return;
        }
        let model = &self.objects[object as usize];
        let field = |name| self.field(object, name);
        let index = |slot, value| Entry { key: EntryKey::Index(slot), value: held(Some(value)) };
        match if model.kind == OWN { "Map" } else { KINDS[model.kind].0 } {
            "Map" => {
                let nodes: Vec<u32> =
                    field("table").iter().flat_map(|&array| self.slots(array)).map(|(_, node)| node).collect();
                self.all(nodes, only_keys);
            }
            "Node" => {
                let (key, value, next) = (field("key"), field("value"), field("next"));
                self.tell(held(key), held(value), only_keys);
                self.all(next, only_keys);
            }
            "Tree" => {
                let (left, key, value, right) = (field("left"), field("key"), field("value"), field("right"));
                self.all(left, only_keys);
                if value.is_some() {
                    self.tell(held(key), held(value), only_keys);
                }
                self.all(right, only_keys);
            }
            "Set" => self.all(field("map"), true),
            "List" => {
                let slots: Vec<_> = field("items").iter().flat_map(|&array| self.slots(array)).collect();
                self.nulls.extend(field("items").map(|_| None));
                self.found.extend(slots.into_iter().map(|(slot, value)| index(slot, value)));
            }
            "Slice" => match (field("items"), model.number, model.count) {
                (_, None, _) | (_, _, None) => self.are_known = false,
                (None, ..) => {}
                (Some(array), Some(from), Some(count)) => {
                    let slots = self.slots(array).into_iter().filter(|(slot, _)| (from..from + count).contains(slot));
                    let slots: Vec<_> = slots.collect();
                    self.nulls.push(Some(count - slots.len() as u64));
                    self.found.extend(slots.into_iter().map(|(slot, value)| index(slot - from, value)));
                }
            },
            "Bits" => match (field("items"), model.number) {
                (_, None) => self.are_known = false,
                (None, _) => {}
                (Some(array), Some(bits)) => {
                    let slots = self.slots(array).into_iter().filter(|(slot, _)| bits & 1 << slot != 0);
                    slots.for_each(|(_, value)| self.tell(held(Some(value)), Held::Null, true));
                }
            },
            "Some" => {
                if let item @ Some(target) = field("item")
                    && target != object
                    && self.objects[target as usize].kind != PLAIN
                {
                    self.found.push(Entry { key: EntryKey::Index(self.counted), value: held(item) });
                    self.counted += 1;
                }
            }
            "Copies" => match model.number {
                Some(count) => {
                    let value = held(field("item"));
                    for _ in 0..count {
                        self.found.push(Entry { key: EntryKey::Index(self.counted), value });
                        self.counted += 1;
                    }
                }
                None => self.are_known = false,
            },
            "Own list" | "Own set" => match model.number {
                Some(count) if count == model.elements.len() as u64 => {
                    for &element in &model.elements {
                        if model.kind == OWN_SET {
                            self.tell(held(element), Held::Null, true);
                        } else {
                            self.found.push(Entry { key: EntryKey::Index(self.counted), value: held(element) });
                            self.counted += 1;
                        }
                    }
                }
                _ => self.are_known = false,
            },
            "Bag" => {
                let slots: Vec<_> = field("items").iter().flat_map(|&array| self.slots(array)).collect();
                slots.into_iter().for_each(|(_, value)| self.tell(held(Some(value)), Held::Null, true));
            }
            "Ring" => match (field("items"), model.number) {
                (_, None) => self.are_known = false,
                (None, _) => {}
                (Some(array), Some(head)) => {
                    let array_model = &self.objects[array as usize];
                    let length = match array_model.kind {
                        ARRAY => Some(array_model.elements.len() as u64),
                        DICT | OWN_LIST | OWN_SET => array_model.number,
                        _ => None,
                    };
                    let Some(length) = length.filter(|&length| head <= length) else {
                        self.are_known = false;
                        return;
                    };
                    self.nulls.push(None);
                    let mut slots = self.slots(array);
                    slots.iter_mut().for_each(|(slot, _)| *slot = (*slot + length - head) % length);
                    slots.sort_unstable();
                    self.found.extend(slots.into_iter().map(|(slot, value)| index(slot, value)));
                }
            },
            "Link" => {
                if let item @ Some(target) = field("item")
                    && target != object
                {
                    self.found.push(Entry { key: EntryKey::Index(self.counted), value: held(item) });
                    self.counted += 1;
                }
                self.all(self.field(object, "next"), only_keys);
            }
            "Queue" => match field("first") {
                // That object has no such field.
                Some(first) if !self.has(first, "next") => self.are_known = false,
                Some(first) => self.all(self.field(first, "next"), only_keys),
                None => {}
            },
            "Turns" => {
                let slots: BTreeMap<u64, u32> = field("table").iter().flat_map(|&array| self.slots(array)).collect();
                let pairs: BTreeSet<u64> = slots.keys().map(|slot| slot / 2).collect();
                for pair in pairs {
                    let at = |slot| held(slots.get(&slot).copied());
                    self.tell(at(2 * pair), at(2 * pair + 1), only_keys);
                }
            }
            "Pairs" => {
                if let (Some(keys), Some(values)) = (field("keys"), field("values")) {
                    let keys: BTreeMap<u64, u32> = self.slots(keys).into_iter().collect();
                    for (slot, value) in self.slots(values) {
                        self.tell(held(keys.get(&slot).copied()), held(Some(value)), only_keys);
                    }
                }
            }
            "Dict" => match model.number {
                Some(pairs) if 2 * pairs <= model.elements.len() as u64 => {
                    for pair in model.elements.chunks_exact(2).take(pairs as usize) {
                        self.tell(held(pair[0]), held(pair[1]), only_keys);
                    }
                }
                _ => self.are_known = false,
            },
            "Array" => {
                let slots = self.slots(object);
                self.nulls.push(Some((model.elements.len() - slots.len()) as u64));
                self.found.extend(slots.into_iter().map(|(slot, value)| index(slot, value)));
            }
            _ => self.are_known = false,
        }
    }
}

/// A heap with these objects.
fn heap(objects: &[Model]) -> Heap {
    let shelf = Shelf::default();
    let writer = Writer::to_stream(Box::new(shelf.clone()), Options::default()).unwrap();
    let kind = writer.kind("object", KindRole::Object).unwrap();
    let mut types = Vec::new();
    for (name, entries, fields) in KINDS {
        let mut description = TypeDescription::new(kind, name);
        let mut attributes = vec![("entries", entries)];
        match name {
            "Plain" => attributes.clear(),
            "Array" => attributes.push(("elements", ".length")),
            "Slice" => attributes.push(("elements", ".count")),
            _ => {}
        }
        description.attributes = &attributes;
        let declared = writer.declare_type(&description).unwrap();
        for field in fields {
            writer.field(declared, field, Encoding::Reference, false).unwrap();
        }
        types.push(declared);
    }
    let mut description = TypeDescription::new(kind, "Own");
    description.base = Some(types[0]);
    types.push(writer.declare_type(&description).unwrap());
    let number = |of: usize, name| writer.field(types[of], name, Encoding::Unsigned, false).unwrap();
    let numbers = BTreeMap::from([
        (RING, number(RING, "head")),
        (SLICE, number(SLICE, "from")),
        (BITS, number(BITS, "bits")),
        (COPIES, number(COPIES, "count")),
        (OWN_LIST, number(OWN_LIST, "length")),
        (OWN_SET, number(OWN_SET, "length")),
        (DICT, number(DICT, "length")),
        (ARRAY, number(ARRAY, "length")),
    ]);
    let count = number(SLICE, "count");
    let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
    let mut shard = snapshot.shard();
    for (id, object) in (0..).zip(objects) {
        shard.object(id, &Object::new(types[object.kind], 16)).unwrap();
        let value = if object.kind == ARRAY { Some(object.elements.len() as u64) } else { object.number };
        if let (Some(&field), Some(value)) = (numbers.get(&object.kind), value) {
            shard.value(field, Value::Unsigned(value)).unwrap();
        }
        if let Some(value) = object.count {
            shard.value(count, Value::Unsigned(value)).unwrap();
        }
        for (&name, &target) in &object.fields {
            let label = Label::Name(writer.string(name).unwrap());
            shard.reference(label, StrengthId::STRONG, target.into()).unwrap();
        }
        for (slot, &target) in (0..).zip(&object.elements) {
            let Some(target) = target else { continue };
            let named = || Label::Name(writer.string("name").unwrap());
            let label = match object.kind {
                // Keys have no name, values may have that of their key.
                DICT if slot % 4 == 1 => named(),
                DICT | OWN_LIST | OWN_SET => Label::Unknown,
                _ => Label::Index(slot),
            };
            shard.reference(label, StrengthId::STRONG, target.into()).unwrap();
        }
    }
    shard.finish().unwrap();
    snapshot.commit().unwrap();
    writer.finish().unwrap();
    let recording = Arc::new(Recording::from_bytes(shelf.bytes()).unwrap());
    Heap::new(recording, SnapshotId(0), &IndexPlace::Nowhere, Memory::unlimited()).unwrap()
}

#[test]
fn entries_are_those_of_the_definition() {
    let (mut entries, mut longest) = (0, 0);
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let count = 1 + random.below(300);
        let objects: Vec<Model> = (0..count).map(|_| Model::random(&mut random, count)).collect();
        let heap = heap(&objects);
        for object in 0..count as u32 {
            let found = heap.entries(ObjectId(object), usize::MAX, &Silent).unwrap();
            let whole = Definition::of(&objects, object);
            assert_eq!(found, whole, "seed {seed}, object {object}: {:?}", objects[object as usize]);
            let Some(whole) = whole else { continue };
            (entries, longest) = (entries + whole.entries.len(), longest.max(whole.entries.len()));
            let limit = random.below(whole.entries.len() as u64 + 2) as usize;
            let part = heap.entries(ObjectId(object), limit, &Silent).unwrap().unwrap();
            assert_eq!(part.entries, whole.entries[..limit.min(whole.entries.len())]);
            assert_eq!(part.has_more, limit < whole.entries.len());
        }
    }
    assert!(entries > 19_000 && longest > 20, "{entries} {longest}");
}

/// A list in many blocks, each node in another one than the node before, and a circle at its end.
#[test]
fn long_lists_do_not_need_a_look_into_the_file_for_each_node() {
    let count = 400_000_u32;
    // A step that has no divisor in common with the count leads to all objects.
    let next = |object: u32| (u64::from(object) + 100_003) % u64::from(count);
    let link = |object| Model {
        kind: 6,
        fields: BTreeMap::from([("item", next(object) as u32), ("next", next(object) as u32)]),
        ..Model::default()
    };
    let heap = heap(&(0..count).map(link).collect::<Vec<_>>());
    let found = heap.entries(ObjectId(7), usize::MAX, &Silent).unwrap().unwrap();
    assert_eq!(found.entries.len(), count as usize);
    let mut object = 7;
    for (at, entry) in (0..).zip(&found.entries) {
        object = next(object) as u32;
        assert_eq!(*entry, Entry { key: EntryKey::Index(at), value: held(Some(object)) });
    }
}

/// A list of a few bytes may say that it holds more than anybody can.
#[test]
fn copies_are_told_up_to_a_limit() {
    let copies =
        |count| Model { kind: COPIES, fields: BTreeMap::from([("item", 0)]), number: Some(count), ..Model::default() };
    let heap = heap(&[copies(65_536), copies(u64::MAX)]);
    let found = |object| heap.entries(ObjectId(object), usize::MAX, &Silent).unwrap().unwrap();
    let (whole, part) = (found(0), found(1));
    assert_eq!((whole.entries.len(), whole.has_more, whole.are_known), (65_536, false, true));
    assert_eq!(whole.entries[65_535], Entry { key: EntryKey::Index(65_535), value: held(Some(0)) });
    assert_eq!((part.entries.len(), part.has_more), (65_536, true));
    let few = heap.entries(ObjectId(1), 3, &Silent).unwrap().unwrap();
    assert_eq!((few.entries.len(), few.has_more), (3, true));
}
