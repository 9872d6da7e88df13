//! Compares what maps hold under a key, and lists at an index, with a search in their entries, on random heaps of small ones.

use std::sync::Arc;

use barrow_analyzer::{
    EntryKey, Expression, FieldPath, FieldValue, Heap, Held, IndexPlace, Memory, ObjectId, ObjectSet, Recording,
    Silent, SnapshotId,
};
use barrow_testdata::{Random, Shelf};
use barrow_writer::{
    Encoding, KindRole, Label, Object, Options, SnapshotInfo, StrengthId, TypeDescription, Value, Writer,
};

const SNAPSHOT: SnapshotId = SnapshotId(0);
/// The types that are maps or parts of maps: name, where entries are, fields that refer to objects.
const MAPS: [(&str, &str, &[&str]); 9] = [
    ("Map", ".table[]", &["table"]),
    ("Node", ".key=.value .next", &["key", "value", "next"]),
    ("Wrapper", ".map", &["map"]),
    ("Turns", ".table[=]", &["table"]),
    ("Pairs", ".keys[]=.values[]", &["keys", "values"]),
    ("Dict", "[=.length]", &[]),
    ("Array", "=[]", &[]),
    ("Cell", "=.item .rest", &["item", "rest"]),
    ("Entry", ".key=.value .after .next", &["key", "value", "after", "next"]),
];
/// The keys as people type them, and what objects that represent them mean.
const KEYS: [(&str, &str); 8] = [
    ("\"a\"", "text a"),
    ("\"7\"", "text 7"),
    ("7", "number 7"),
    ("2", "number 2"),
    ("-1", "number -1"),
    ("NaN", "number NaN"),
    ("true", "true"),
    ("null", "null"),
];

#[derive(Debug, Clone)]
enum Model {
    /// What it means; `None` if that is not known.
    Value(Option<&'static str>),
    /// An object of the program that has a map.
    Owner(Option<u32>),
    /// One of [`MAPS`] with its fields, and what it holds at each index.
    Map(usize, Vec<Option<u32>>, Vec<Option<u32>>),
}

impl Model {
    fn random(random: &mut Random, objects: u64) -> Self {
        let mut any = |of: u64| (random.below(of) > 0).then(|| random.below(objects) as u32);
        let owned = any(6);
        let fields: Vec<Option<u32>> = (0..4).map(|_| any(8)).collect();
        let slots: Vec<Option<u32>> = (0..8).map(|_| any(4)).collect();
        match random.below(21) {
            0..4 => Model::Value((random.below(9) > 0).then(|| KEYS[random.below(KEYS.len() as u64) as usize].1)),
            4..6 => Model::Owner(owned),
            kind => {
                let kind = [0, 1, 1, 2, 3, 4, 5, 6, 6, 1, 7, 7, 8, 8, 8][kind as usize - 6];
                let slots = &slots[..random.below(9) as usize];
                let slots = match MAPS[kind].0 {
                    // Keys and values without names, none of them null.
                    "Dict" => slots.iter().flatten().copied().map(Some).collect(),
                    "Array" => slots.to_vec(),
                    _ => Vec::new(),
                };
                Model::Map(kind, fields[..MAPS[kind].2.len()].to_vec(), slots)
            }
        }
    }
}

/// A heap with these objects.
fn heap(objects: &[Model]) -> Heap {
    let shelf = Shelf::default();
    let writer = Writer::to_stream(Box::new(shelf.clone()), Options::default()).unwrap();
    let kind = writer.kind("object", KindRole::Object).unwrap();
    let declare = |name, attributes: &[(&str, &str)]| {
        writer.declare_type(&TypeDescription { attributes, ..TypeDescription::new(kind, name) }).unwrap()
    };
    let maps = MAPS.map(|(name, entries, _)| declare(name, &[("entries", entries), ("elements", ".length")]));
    for (id, (_, _, fields)) in maps.iter().zip(MAPS) {
        for field in fields {
            writer.field(*id, field, Encoding::Reference, false).unwrap();
        }
    }
    let lengths = [5, 6].map(|map| writer.field(maps[map], "length", Encoding::Unsigned, false).unwrap());
    let owner = declare("Owner", &[]);
    writer.field(owner, "map", Encoding::Reference, false).unwrap();
    let text = declare("Text", &[("text of", "characters")]);
    let number = declare("Number", &[("value of", "number")]);
    let truth = declare("Truth", &[("value of", "truth")]);
    let null = declare("Null", &[("null", "nil")]);
    let number_of = writer.field(number, "number", Encoding::Double, false).unwrap();
    let truth_of = writer.field(truth, "truth", Encoding::Boolean, false).unwrap();
    let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
    let mut shard = snapshot.shard();
    for (id, object) in (0..).zip(objects) {
        let type_id = match object {
            Model::Value(Some("number 7" | "number 2" | "number -1" | "number NaN")) => number,
            Model::Value(Some("true")) => truth,
            Model::Value(Some("null")) => null,
            // Of some texts and numbers it is not known what they are.
            Model::Value(None) => [text, number, truth][id as usize % 3],
            Model::Value(_) => text,
            Model::Owner(_) => owner,
            Model::Map(kind, ..) => maps[*kind],
        };
        let mut described = Object::new(type_id, 16);
        let meaning = if let Model::Value(meaning) = object { *meaning } else { None };
        let name =
            meaning.and_then(|meaning| meaning.strip_prefix("text ")).or((meaning == Some("null")).then_some("nil"));
        described.name = name.map(|name| writer.string(name).unwrap());
        shard.object(id, &described).unwrap();
        match meaning {
            Some("true") => shard.value(truth_of, Value::Boolean(true)).unwrap(),
            Some(meaning) if meaning.starts_with("number ") => {
                shard.value(number_of, Value::Double(meaning[7..].parse().unwrap())).unwrap();
            }
            _ => {}
        }
        let (names, fields, slots): (&[&str], &[Option<u32>], &[Option<u32>]) = match object {
            Model::Value(_) => continue,
            Model::Owner(map) => (&["map"], std::slice::from_ref(map), &[]),
            Model::Map(kind, fields, slots) => (MAPS[*kind].2, fields, slots),
        };
        if type_id == maps[5] {
            shard.value(lengths[0], Value::Unsigned(slots.len() as u64 / 2)).unwrap();
        }
        if type_id == maps[6] && has_length(id as u32) {
            shard.value(lengths[1], Value::Unsigned(slots.len() as u64)).unwrap();
        }
        for (name, target) in names.iter().zip(fields).filter_map(|(name, target)| Some((name, (*target)?))) {
            shard.reference(Label::Name(writer.string(name).unwrap()), StrengthId::STRONG, target.into()).unwrap();
        }
        for (slot, target) in (0..).zip(slots).filter_map(|(slot, target)| Some((slot, (*target)?))) {
            let label = if type_id == maps[5] { Label::Unknown } else { Label::Index(slot) };
            shard.reference(label, StrengthId::STRONG, target.into()).unwrap();
        }
    }
    shard.finish().unwrap();
    snapshot.commit().unwrap();
    writer.finish().unwrap();
    let recording = Arc::new(Recording::from_bytes(shelf.bytes()).unwrap());
    Heap::new(recording, SNAPSHOT, &IndexPlace::Nowhere, Memory::unlimited()).unwrap()
}

/// Returns whether the length of an array was recorded.
fn has_length(array: u32) -> bool {
    !array.is_multiple_of(3)
}

/// The arrays whose elements are among the entries of an object.
fn lists(objects: &[Model], object: u32, seen: &mut Vec<u32>) -> Vec<u32> {
    if seen.contains(&object) {
        return Vec::new();
    }
    seen.push(object);
    let slots =
        |array: u32| if let Model::Map(6, _, slots) = &objects[array as usize] { slots.clone() } else { vec![] };
    let next: Vec<Option<u32>> = match &objects[object as usize] {
        Model::Map(0, fields, _) => fields[0].map(slots).unwrap_or_default(),
        Model::Map(1, fields, _) => vec![fields[2]],
        Model::Map(2, fields, _) => vec![fields[0]],
        Model::Map(7, fields, _) => vec![fields[1]],
        Model::Map(8, fields, _) => vec![fields[2], fields[3]],
        Model::Map(6, ..) => return vec![object],
        _ => Vec::new(),
    };
    next.into_iter().flatten().flat_map(|next| lists(objects, next, seen)).collect()
}

/// What a field holds, in words.
fn words(objects: &[Model], held: Held) -> String {
    match held {
        Held::Missing => "missing".to_owned(),
        Held::Unknown => "unknown".to_owned(),
        Held::Null => "null".to_owned(),
        Held::Undefined => "undefined".to_owned(),
        Held::Value(value) => format!("{value:?}"),
        Held::Object(id) => match objects[id.0 as usize] {
            Model::Value(Some(meaning)) => meaning.to_owned(),
            _ => format!("@{id}"),
        },
    }
}

/// The definition: the only entry with the key, or the element at the index, among those that `entries` lists.
fn expected(heap: &Heap, objects: &[Model], object: u32, key: &str) -> String {
    match &objects[object as usize] {
        Model::Value(None) | Model::Owner(_) => return "unknown".to_owned(),
        Model::Value(Some("null")) => return "null".to_owned(),
        Model::Value(Some(_)) => return "missing".to_owned(),
        Model::Map(..) => {}
    }
    let entries = heap.entries(ObjectId(object), usize::MAX, &Silent).unwrap().unwrap();
    let mut are_known = entries.are_known;
    let index = key.strip_prefix("number ").and_then(|number| number.parse::<u64>().ok());
    let mut found = Vec::new();
    for entry in entries.entries {
        let held = match entry.key {
            EntryKey::Index(at) if Some(at) == index => {
                found.push(words(objects, entry.value));
                break;
            }
            EntryKey::Held(held) => held,
            _ => continue,
        };
        if words(objects, held) == key {
            found.push(words(objects, entry.value));
        }
        // An object that represents nothing may be any text or number.
        let may_be_it = |id: ObjectId| match objects[id.0 as usize] {
            // Its type says whether it is a text, a number or a truth value.
            Model::Value(None) => match id.0 % 3 {
                0 => key.starts_with("text "),
                1 => key.starts_with("number "),
                // True and false are numbers in some languages.
                _ => key == "true" || key.starts_with("number "),
            },
            Model::Owner(_) => !["null", "true"].contains(&key),
            Model::Value(Some(_)) | Model::Map(..) => false,
        };
        are_known &=
            !matches!(held, Held::Unknown | Held::Missing) && !matches!(held, Held::Object(id) if may_be_it(id));
    }
    match &found[..] {
        [] => {}
        [one] => return one.clone(),
        _ => return "unknown".to_owned(),
    }
    let is_null = match (index, &lists(objects, object, &mut Vec::new())[..]) {
        (Some(index), &[list]) if has_length(list) => {
            let Model::Map(_, _, slots) = &objects[list as usize] else { unreachable!("a list is an array") };
            Some(index < slots.len() as u64)
        }
        (Some(_), [_, ..]) => None,
        _ => Some(false),
    };
    match is_null {
        Some(true) if are_known => "null",
        Some(false) if are_known => "missing",
        _ => "unknown",
    }
    .to_owned()
}

/// The same words for values that objects were replaced by.
fn read(heap: &Heap, objects: &[Model], held: Held) -> String {
    let tables = heap.recording().tables().unwrap();
    match held {
        Held::Value(FieldValue::Text(text)) => format!("text {}", tables.string(text)),
        Held::Value(FieldValue::Double(number)) => format!("number {number}"),
        Held::Value(FieldValue::Boolean(truth)) => truth.to_string(),
        held => words(objects, held),
    }
}

/// Returns whether these are the words for an object that stands for something unknown.
fn stands_for_unknown(objects: &[Model], words: &str) -> bool {
    let id = words.strip_prefix('@').map(|id| id.parse::<usize>().unwrap());
    id.is_some_and(|id| matches!(objects[id], Model::Value(None)))
}

#[test]
fn keys_lead_to_what_entries_list() {
    let mut compared = [0_u32; 4];
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let count = 1 + random.below(200);
        let objects: Vec<Model> = (0..count).map(|_| Model::random(&mut random, count)).collect();
        let heap = heap(&objects);
        let all = ObjectSet::from_sorted(SNAPSHOT, count, (0..count as u32).map(ObjectId));
        for (typed, key) in KEYS {
            let path = FieldPath::typed(&format!(".[{typed}]")).unwrap();
            let column = heap.field_column(&all, &path, &Silent).unwrap();
            let found: Vec<String> = column.into_iter().map(|held| read(&heap, &objects, held)).collect();
            let wanted: Vec<String> = (0..count as u32).map(|object| expected(&heap, &objects, object, key)).collect();
            assert_eq!(found, wanted, "seed {seed}, {typed}");
            for found in &found {
                compared[["missing", "unknown", "null"].iter().position(|word| word == found).unwrap_or(3)] += 1;
            }
            let matching = |text: &str| -> Vec<u32> {
                let expression = Expression::parse(text).unwrap();
                let found = heap.select(&[], &expression, &Silent).unwrap().0;
                found.iter().map(|object| object.0).collect()
            };
            for (test, value) in [("= \"a\"", "text a"), ("< 0", "number -1"), ("= unknown", "unknown")] {
                // A value that cannot be read is unknown as well.
                let is_unknown = |found: &String| found == "unknown" || stands_for_unknown(&objects, found);
                let passes = |found: &String| if value == "unknown" { is_unknown(found) } else { found == value };
                let places = |is: &dyn Fn(&String) -> bool| -> Vec<u32> {
                    (0..).zip(&wanted).filter(|(_, found)| is(found)).map(|(object, _)| object).collect()
                };
                let doubted = |text: &str| -> Vec<u32> {
                    let doubts = heap.doubts(&[], &Expression::parse(text).unwrap(), &Silent).unwrap();
                    doubts.objects.iter().map(|object| object.0).collect()
                };
                let text = format!(".[{typed}] {test}");
                assert_eq!(matching(&text), places(&passes), "{seed} {typed} {test}");
                let expected = if value == "unknown" { Vec::new() } else { places(&is_unknown) };
                assert_eq!(doubted(&text), expected, "{seed} {typed} {test}");
                // Keys of objects of other types are not looked up.
                let nodes = |all: Vec<u32>, are_wanted: bool| -> Vec<u32> {
                    let is_node = |&object: &u32| matches!(objects[object as usize], Model::Map(1, ..));
                    all.into_iter().filter(|object| is_node(object) == are_wanted).collect()
                };
                let of_nodes = format!("type = Node and {text}");
                assert_eq!(matching(&of_nodes), nodes(places(&passes), true), "{seed} {typed} {test}");
                assert_eq!(doubted(&of_nodes), nodes(expected, true), "{seed} {typed} {test}");
                let of_others = format!("not (type = Node or not {text})");
                assert_eq!(matching(&of_others), nodes(places(&passes), false), "{seed} {typed} {test}");
            }
            let owners = (0..).zip(&objects).filter(|(_, object)| match object {
                Model::Owner(Some(map)) => wanted[*map as usize] == "text a",
                Model::Map(2, fields, _) => fields[0].is_some_and(|map| wanted[map as usize] == "text a"),
                _ => false,
            });
            let owners: Vec<u32> = owners.map(|(object, _)| object).collect();
            assert_eq!(matching(&format!(".map[{typed}] = \"a\"")), owners, "{seed} {typed}");
        }
    }
    assert!(compared.iter().all(|&count| count > 300), "{compared:?}");
}
