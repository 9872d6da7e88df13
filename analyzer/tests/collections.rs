//! Compares what is said of collections with its definition, on small random heaps.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use barrow_analyzer::{
    CollectionType, Expression, FieldValue, Filling, Heap, Held, IndexPlace, Memory, ObjectId, ObjectSet, Recording,
    Silent, SnapshotId,
};
use barrow_testdata::{Random, Shelf};
use barrow_writer::{
    Encoding, KindRole, Label, Object, Options, SnapshotInfo, StrengthId, TypeDescription, Value, Writer,
};

/// The kind of a collection in the model.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// An array list: `size` and the array `slots`.
    List,
    /// The same, derived from it.
    Own,
    /// A hash table: some slots hold chains.
    Table,
    /// A ring: `head`, `tail` and `slots`.
    Ring,
    /// A counter that is not known if there are `cells`.
    Counter,
}

/// The attributes of a type: keys and values.
type Attributes = &'static [(&'static str, &'static str)];

const KINDS: [(Kind, &str, Attributes); 5] = [
    (Kind::List, "List", &[("elements", ".size"), ("slots", ".slots.length")]),
    (Kind::Own, "Own", &[]),
    (Kind::Table, "Table", &[("elements", ".size"), ("slots", ".slots.length"), ("hash table", ".slots")]),
    (Kind::Ring, "Ring", &[("elements", ".tail - .head % .slots.length"), ("slots", ".slots.length")]),
    (Kind::Counter, "Counter", &[("elements", ".size !.cells")]),
];

/// The bytes of an array's head, and of each of its slots.
const HEAD: u64 = 16;
const SLOT: u64 = 4;
/// The bytes of the first array of bytes; each has one more than the one before.
const FIRST_ARRAY_BYTES: u64 = 3000;
/// The bytes of a collection.
const OWN: u64 = 24;

#[derive(Debug, Clone)]
struct Collection {
    kind: Kind,
    size: u64,
    head: u64,
    /// The slots in use, of how many; `None` without an array.
    slots: Option<(u64, Vec<u64>)>,
    has_cells: bool,
}

impl Collection {
    fn random(random: &mut Random) -> Self {
        let kind = KINDS[random.below(5) as usize].0;
        // Arrays are long enough to tell what a slot needs.
        let length = 16 + random.below(40);
        let used: BTreeSet<u64> = (0..random.below(length)).map(|_| random.below(length)).collect();
        let has_array = kind == Kind::Ring || kind != Kind::Counter && random.below(4) > 0;
        let used = used.into_iter().collect::<Vec<_>>();
        let size = match kind {
            Kind::Table if used.is_empty() => 0,
            Kind::Table => used.len() as u64 + random.below(5),
            Kind::Ring => used.len() as u64,
            _ => random.below(3) * random.below(8),
        };
        let size = if has_array || kind == Kind::Counter { size } else { 0 };
        let slots = has_array.then_some((length, used));
        Collection { kind, size, head: random.below(16), slots, has_cells: random.below(2) == 0 }
    }

    fn elements(&self) -> Option<u64> {
        (self.kind != Kind::Counter || !self.has_cells).then_some(self.size)
    }

    fn length(&self) -> Option<u64> {
        (self.kind != Kind::Counter).then(|| self.slots.as_ref().map_or(0, |(length, _)| *length))
    }

    /// The bytes that it wastes: all of them if it is empty, else the slots that are not used.
    fn empty_bytes(&self) -> u64 {
        let array = self.slots.as_ref().map_or(0, |(length, _)| HEAD + SLOT * length);
        if self.elements() == Some(0) { OWN + array } else { 0 }
    }

    fn unused_bytes(&self) -> u64 {
        let used = |used: &[u64]| if self.kind == Kind::Table { used.len() as u64 } else { self.size };
        match (&self.slots, self.elements()) {
            (Some((length, slots)), Some(1..)) => SLOT * (length - used(slots)),
            _ => 0,
        }
    }
}

/// A heap with these collections, boxes and arrays of bytes; the collections have the first ids.
fn heap(collections: &[Collection], boxes: &[i64], arrays: &[Option<i64>]) -> Heap {
    let shelf = Shelf::default();
    let writer = Writer::to_stream(Box::new(shelf.clone()), Options::default()).unwrap();
    let kind = writer.kind("object", KindRole::Object).unwrap();
    let mut types = Vec::new();
    for (own, name, attributes) in KINDS {
        let mut description = TypeDescription::new(kind, name);
        description.base = (own == Kind::Own).then(|| types[0]);
        description.attributes = attributes;
        types.push(writer.declare_type(&description).unwrap());
    }
    let declared = |name, attributes| {
        let mut description = TypeDescription::new(kind, name);
        description.attributes = attributes;
        writer.declare_type(&description).unwrap()
    };
    let array = declared("Object[]", &[("elements", ".length"), ("slots", ".length")]);
    let box_type = declared("Box", &[("value of", "value"), ("interchangeable", "yes")]);
    let bytes = declared("byte[]", &[("elements", ".length"), ("slots", ".length"), ("same elements", "every")]);
    let field = |of, name, encoding, is_optional| writer.field(of, name, encoding, is_optional).unwrap();
    let length = field(array, "length", Encoding::Unsigned, false);
    let value_of_box = field(box_type, "value", Encoding::Signed, false);
    let every = field(bytes, "every", Encoding::Signed, true);
    let mut fields = BTreeMap::new();
    for (at, name) in [(0, "size"), (2, "size"), (4, "size"), (3, "head"), (3, "tail")] {
        fields.insert((at, name), field(types[at], name, Encoding::Signed, false));
    }
    for (at, name) in [(0, "slots"), (2, "slots"), (3, "slots"), (4, "cells")] {
        field(types[at], name, Encoding::Reference, false);
    }
    let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
    let mut shard = snapshot.shard();
    let named = |name| Label::Name(writer.string(name).unwrap());
    let (slots, cells, class) = (named("slots"), named("cells"), named("<class>"));
    let mut next = collections.len() as u64;
    let mut array_of = Vec::new();
    for (id, one) in (0..).zip(collections) {
        let at = KINDS.iter().position(|(kind, ..)| *kind == one.kind).unwrap();
        shard.object(id, &Object::new(types[at], OWN)).unwrap();
        let size = fields.get(&(if at == 1 { 0 } else { at }, "size"));
        size.map_or(Ok(()), |&field| shard.value(field, Value::Signed(one.size as i64))).unwrap();
        if one.kind == Kind::Ring {
            let length = one.slots.as_ref().unwrap().0;
            let tail = (one.head + one.size) % length;
            shard.value(fields[&(3, "head")], Value::Signed(one.head as i64)).unwrap();
            shard.value(fields[&(3, "tail")], Value::Signed(tail as i64)).unwrap();
        }
        if let Some(slots_of_one) = &one.slots {
            shard.reference(slots, StrengthId::STRONG, next).unwrap();
            array_of.push((next, slots_of_one));
            next += 1;
        }
        if one.kind == Kind::Counter && one.has_cells {
            shard.reference(cells, StrengthId::STRONG, 0).unwrap();
        }
    }
    for (id, (count, used)) in array_of {
        shard.object(id, &Object::new(array, HEAD + SLOT * count)).unwrap();
        shard.value(length, Value::Unsigned(*count)).unwrap();
        // That of the class is no slot.
        shard.reference(class, StrengthId::STRONG, 0).unwrap();
        used.iter().for_each(|&slot| shard.reference(Label::Index(slot), StrengthId::STRONG, 0).unwrap());
    }
    for (id, &value) in (next..).zip(boxes) {
        shard.object(id, &Object::new(box_type, 16)).unwrap();
        shard.value(value_of_box, Value::Signed(value)).unwrap();
    }
    for (at, &element) in (0..).zip(arrays) {
        shard.object(next + boxes.len() as u64 + at, &Object::new(bytes, FIRST_ARRAY_BYTES + at)).unwrap();
        element.map_or(Ok(()), |element| shard.value(every, Value::Signed(element))).unwrap();
    }
    shard.finish().unwrap();
    snapshot.commit().unwrap();
    writer.finish().unwrap();
    let recording = Arc::new(Recording::from_bytes(shelf.bytes()).unwrap());
    Heap::new(recording, SnapshotId(0), &IndexPlace::Nowhere, Memory::unlimited()).unwrap()
}

#[test]
fn collections_are_as_full_as_they_were_made() {
    let mut random = Random::new(31);
    let mut wasted = 0;
    for _ in 0..200 {
        let collections: Vec<Collection> = (0..1 + random.below(30)).map(|_| Collection::random(&mut random)).collect();
        let heap = heap(&collections, &[], &[]);
        let found = heap.collections(&Silent).unwrap();
        let tables = heap.recording().tables().unwrap();
        let of_kind = |name: &str| found.types.iter().find(|row| tables.type_name(row.type_id) == name);
        for (kind, name, _) in KINDS {
            let own: Vec<&Collection> = collections.iter().filter(|one| one.kind == kind).collect();
            let Some(row) = of_kind(name) else {
                assert!(own.is_empty(), "{name}");
                continue;
            };
            check(row, &own);
            wasted += row.wasted_bytes();
        }
        check_expressions(&heap, &collections);
    }
    assert!(wasted > 100_000, "{wasted}");
}

/// The fill of a few objects is found for these, that of many for all objects.
#[test]
fn few_collections_and_many_are_as_full_as_they_were_made() {
    let mut random = Random::new(33);
    let collections: Vec<Collection> = (0..2000).map(|_| Collection::random(&mut random)).collect();
    let heap = heap(&collections, &[], &[]);
    for _ in 0..400 {
        let rows: BTreeSet<u32> = (0..random.below(30)).map(|_| random.below(2000) as u32).collect();
        let set = ObjectSet::from_sorted(heap.snapshot(), heap.object_count(), rows.iter().copied().map(ObjectId));
        let said = heap.fillings(&set, &Silent).unwrap();
        let expected = rows.iter().map(|&id| &collections[id as usize]);
        let expected = expected.map(|one| Filling { elements: one.elements(), slots: one.length() });
        assert_eq!(said, expected.collect::<Vec<_>>());
    }
}

fn check(row: &CollectionType, own: &[&Collection]) {
    let count = |is: &dyn Fn(&&&Collection) -> bool| own.iter().filter(is).count() as u64;
    let sum = |of: &dyn Fn(&Collection) -> u64| own.iter().map(|one| of(one)).sum::<u64>();
    assert_eq!(row.objects, own.len() as u64);
    assert_eq!(row.unknown, count(&|one| one.elements().is_none()));
    assert_eq!(row.empty, count(&|one| one.elements() == Some(0)));
    assert_eq!(row.single, count(&|one| one.elements() == Some(1)));
    assert_eq!(row.elements, sum(&|one| one.elements().unwrap_or(0)));
    assert_eq!(row.slots, sum(&|one| one.length().unwrap_or(0)));
    assert_eq!(row.empty_bytes, sum(&Collection::empty_bytes), "{own:?}");
    assert_eq!(row.unused_bytes, (own[0].kind != Kind::Counter).then(|| sum(&Collection::unused_bytes)), "{own:?}");
    let collided = |one: &Collection| one.slots.as_ref().map_or(0, |(_, used)| one.size - used.len() as u64);
    let expected = (own[0].kind == Kind::Table).then(|| sum(&collided));
    assert_eq!(row.hashed.map(|hashed| hashed.collided), expected);
}

fn check_expressions(heap: &Heap, collections: &[Collection]) {
    type Definition = fn(&Collection) -> bool;
    let share = |one: &Collection| {
        let (elements, length) = (one.elements()?, one.length().filter(|&length| length > 0)?);
        Some((elements, length))
    };
    let tests: [(&str, Definition); 5] = [
        ("elements = 0", |one| one.elements() == Some(0)),
        ("elements != 0", |one| one.elements().is_some_and(|elements| elements != 0)),
        ("elements in 2..10", |one| one.elements().is_some_and(|elements| (2..=10).contains(&elements))),
        ("elements > 1.5", |one| one.elements().is_some_and(|elements| elements > 1)),
        // What is unknown stays so.
        ("not elements >= 0", |_| false),
    ];
    let found = |text: &str| {
        let (set, _) = heap.select(&[], &Expression::parse(text).unwrap(), &Silent).unwrap();
        (0..collections.len() as u32).map(|id| set.contains(ObjectId(id))).collect::<Vec<_>>()
    };
    for (text, definition) in tests {
        assert_eq!(found(text), collections.iter().map(definition).collect::<Vec<_>>(), "{text}");
    }
    let doubts = heap.doubts(&[], &Expression::parse("elements >= 0").unwrap(), &Silent).unwrap();
    let doubted = (0..collections.len() as u32).map(|id| doubts.objects.contains(ObjectId(id)));
    assert!(doubted.eq(collections.iter().map(|one| one.elements().is_none())));
    let mut some = ObjectSet::new(heap.snapshot(), heap.object_count());
    let third = (0..).step_by(3);
    let rows: Vec<u32> = third.take_while(|&id| (id as usize) < collections.len()).collect();
    rows.iter().for_each(|&id| _ = some.insert(ObjectId(id)));
    let fillings = heap.fillings(&some, &Silent).unwrap();
    let said = |filling: &Filling| (filling.elements, filling.slots);
    let expected = rows.iter().map(|&id| &collections[id as usize]).map(|one| (one.elements(), one.length()));
    assert_eq!(fillings.iter().map(said).collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    let filled = |is: &dyn Fn(u64, u64) -> bool| {
        collections
            .iter()
            .map(|one| share(one).is_some_and(|(elements, length)| is(elements, length)))
            .collect::<Vec<_>>()
    };
    if collections.iter().any(|one| one.kind != Kind::Counter) {
        assert_eq!(found("fill < 25%"), filled(&|elements, length| 4 * elements < length));
        assert_eq!(found("fill >= 0.5"), filled(&|elements, length| 2 * elements >= length));
        assert_eq!(found("fill in 10%..50%"), filled(&|e, length| 10 * e >= length && 2 * e <= length));
    }
}

#[test]
fn boxes_and_uniform_arrays_are_counted_by_value() {
    let mut random = Random::new(32);
    for _ in 0..100 {
        let boxes: Vec<i64> = (0..random.below(40)).map(|_| random.below(9) as i64 - 4).collect();
        let arrays: Vec<Option<i64>> =
            (0..random.below(40)).map(|_| (random.below(3) > 0).then(|| random.below(3) as i64 - 1)).collect();
        let found = heap(&[], &boxes, &arrays).collections(&Silent).unwrap();
        let distinct: BTreeSet<i64> = boxes.iter().copied().collect();
        assert_eq!(found.boxed.len(), usize::from(!boxes.is_empty()));
        if let Some(row) = found.boxed.first() {
            let (objects, different) = (boxes.len() as u64, distinct.len() as u64);
            assert_eq!((row.objects, row.distinct, row.bytes), (objects, different, 16 * objects));
            assert_eq!(row.superfluous_bytes, 16 * (objects - different));
        }
        let mut expected: BTreeMap<i64, (u64, u64)> = BTreeMap::new();
        for (bytes, element) in (FIRST_ARRAY_BYTES..).zip(&arrays) {
            if let Some(element) = element {
                let row = expected.entry(*element).or_default();
                *row = (row.0 + 1, row.1 + bytes);
            }
        }
        let rows = found.uniform.iter().map(|row| {
            let Held::Value(FieldValue::Signed(element)) = row.element else { panic!("{row:?}") };
            (element, (row.objects, row.bytes))
        });
        assert_eq!(rows.collect::<BTreeMap<_, _>>(), expected);
    }
}

#[test]
fn without_such_types_there_is_an_error() {
    let shelf = Shelf::default();
    let writer = Writer::to_stream(Box::new(shelf.clone()), Options::default()).unwrap();
    writer.begin_snapshot(SnapshotInfo::default()).unwrap().commit().unwrap();
    writer.finish().unwrap();
    let recording = Arc::new(Recording::from_bytes(shelf.bytes()).unwrap());
    let heap = Heap::new(recording, SnapshotId(0), &IndexPlace::Nowhere, Memory::unlimited()).unwrap();
    for text in ["elements > 1", "fill < 25%"] {
        let error = heap.select(&[], &Expression::parse(text).unwrap(), &Silent).unwrap_err();
        assert!(error.to_string().contains("no type says how many elements"), "{error}");
    }
    assert!(heap.collections(&Silent).is_err());
}
