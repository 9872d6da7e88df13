//! Compares tests and columns of fields with their definition, on small random heaps of several snapshots.

use std::sync::Arc;

use barrow_analyzer::{
    AnalyzerError, Expression, FieldPath, FieldValue, GroupKey, Heap, Held, IndexPlace, Memory, ObjectId, ObjectSet,
    Recording, Silent, SnapshotId, verify,
};
use barrow_testdata::{Random, Shelf};
use barrow_writer::{
    Encoding, FieldId, KindRole, Label, Object, Options, SnapshotInfo, StrengthId, TypeDescription, TypeId, Value,
    Writer,
};

/// An object of the model. `Node` declares count, next and open; `Leaf` is derived from it and declares name and a count of
/// its own; `Text` says something, and stands for nothing if that is `null` or `undefined`; `Box` stands for its value, or says something; `Plain` declares nothing; `Called` is called
/// by its name.
#[derive(Debug, Clone, PartialEq)]
struct Thing {
    kind: usize,
    count: Option<i64>,
    /// The count that `Leaf` declares, which shadows the other.
    own_count: Option<i64>,
    open: Option<bool>,
    next: Option<usize>,
    name: Option<usize>,
    text: Option<usize>,
    value: Option<f64>,
}

const KINDS: [&str; 6] = ["Node", "Leaf", "Text", "Box", "Plain", "Called"];
const TEXTS: [&str; 5] = ["a", "b", "", "null", "undefined"];

impl Thing {
    fn random(random: &mut Random, count: usize) -> Self {
        let kind = random.below(6) as usize;
        let mut maybe = |of: u64| (random.below(4) > 0).then(|| random.below(of));
        let signed = |value: u64| value as i64 - 3;
        Thing {
            kind,
            count: maybe(7).map(signed),
            own_count: maybe(7).map(signed),
            open: maybe(2).map(|open| open == 1),
            next: maybe(count as u64).map(|at| at as usize),
            name: maybe(count as u64).map(|at| at as usize),
            text: maybe(TEXTS.len() as u64).map(|at| at as usize),
            value: maybe(4).map(|value| value as f64 / 2.0),
        }
    }

    /// The value of a field, by its definition.
    fn held(&self, field: &str) -> Model {
        let value = |value: Option<Model>| value.unwrap_or(Model::Unknown);
        let object = |target: Option<usize>| target.map_or(Model::Null, Model::Object);
        match (field, self.kind) {
            // The field that shadows the other counts, even if its value is not known.
            ("count", 1) => value(self.own_count.map(|count| Model::Number(count as f64))),
            ("count", 0) => value(self.count.map(|count| Model::Number(count as f64))),
            ("open", 0 | 1) => value(self.open.map(Model::Truth)),
            ("next", 0 | 1) => object(self.next),
            ("name", 1 | 5) => object(self.name),
            ("value", 3) => value(self.value.map(Model::Number)),
            _ => Model::Missing,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Model {
    Missing,
    Unknown,
    Null,
    Undefined,
    Number(f64),
    Truth(bool),
    Object(usize),
}

/// The value at the end of a path from an object.
fn follow(things: &[Thing], object: usize, path: &[&str]) -> Model {
    match (things[object].held(path[0]), path.len()) {
        (held, 1) => held,
        (Model::Object(target), _) => follow(things, target, &path[1..]),
        (Model::Number(_) | Model::Truth(_), _) => Model::Missing,
        (held, _) => held,
    }
}

/// Likewise, where objects that stand for nothing are nothing.
fn follow_nulls(things: &[Thing], object: usize, path: &[&str]) -> Model {
    match things[object].held(path[0]) {
        Model::Object(target) if nothing(&things[target]).is_some() => nothing(&things[target]).unwrap(),
        Model::Object(target) if path.len() > 1 => follow_nulls(things, target, &path[1..]),
        held if path.len() > 1 && matches!(held, Model::Number(_) | Model::Truth(_)) => Model::Missing,
        held => held,
    }
}

/// What it stands for if that is nothing, as its type says of objects with its name.
fn nothing(thing: &Thing) -> Option<Model> {
    match (thing.kind, thing.text) {
        (2, Some(3)) => Some(Model::Null),
        (2, Some(4)) => Some(Model::Undefined),
        _ => None,
    }
}

/// The number or the text that something stands for.
fn number(things: &[Thing], held: Model) -> Option<f64> {
    match held {
        Model::Number(number) => Some(number),
        Model::Object(target) if things[target].kind == 3 => things[target].value,
        _ => None,
    }
}

fn text(things: &[Thing], held: Model) -> Option<&'static str> {
    let Model::Object(target) = held else { return None };
    let said = match (things[target].kind, things[target].name) {
        (5, Some(name)) => &things[name],
        _ => &things[target],
    };
    // A value that is known comes before a text.
    let says_it = said.kind == 2 || said.kind == 3 && said.value.is_none();
    said.text.filter(|_| says_it).map(|text| TEXTS[text])
}

/// It stands for something that is not known.
fn is_unread(things: &[Thing], held: Model) -> bool {
    let Model::Object(target) = held else { return false };
    let is_known = number(things, held).is_some() || text(things, held).is_some();
    [3, 5].contains(&things[target].kind) && !is_known
}

struct Declared {
    types: Vec<TypeId>,
    count: FieldId,
    own_count: FieldId,
    open: FieldId,
    value: FieldId,
}

impl Declared {
    fn of(writer: &Writer) -> Self {
        let kind = writer.kind("object", KindRole::Object).unwrap();
        let mut types: Vec<TypeId> = Vec::new();
        for name in KINDS {
            let mut description = TypeDescription::new(kind, name);
            description.base = if name == "Leaf" { Some(types[0]) } else { None };
            description.attributes = match name {
                "Box" => &[("value of", "value")],
                "Called" => &[("named by", "name")],
                "Text" => &[("null", "null"), ("null", "undefined"), ("null", "nil")],
                _ => &[],
            };
            types.push(writer.declare_type(&description).unwrap());
        }
        let field = |at: usize, name: &str, encoding| writer.field(types[at], name, encoding, false).unwrap();
        let (count, open) = (field(0, "count", Encoding::Signed), field(0, "open", Encoding::Boolean));
        field(0, "next", Encoding::Reference);
        field(1, "name", Encoding::Reference);
        field(5, "name", Encoding::Reference);
        let (own_count, value) = (field(1, "count", Encoding::Signed), field(3, "value", Encoding::Double));
        Declared { types, count, own_count, open, value }
    }

    fn announce(&self, writer: &Writer, things: &[Thing]) {
        let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
        let mut shard = snapshot.shard();
        shard.root(writer.string("globals").unwrap(), None, 0).unwrap();
        for (id, thing) in things.iter().enumerate() {
            let mut object = Object::new(self.types[thing.kind], 16);
            object.serial = Some(id as u64 + 1);
            object.name =
                thing.text.filter(|_| [2, 3].contains(&thing.kind)).map(|text| writer.string(TEXTS[text]).unwrap());
            shard.object(id as u64, &object).unwrap();
            let mut value =
                |field, value: Option<Value>| value.map_or(Ok(()), |value| shard.value(field, value)).unwrap();
            if thing.kind == 1 {
                value(self.own_count, thing.own_count.map(Value::Signed));
            }
            if thing.kind < 2 {
                value(self.count, thing.count.map(Value::Signed));
                value(self.open, thing.open.map(Value::Boolean));
            }
            if thing.kind == 3 {
                value(self.value, thing.value.map(Value::Double));
            }
            let mut refer = |name: &str, target: Option<usize>| {
                if let Some(target) = target {
                    let label = Label::Name(writer.string(name).unwrap());
                    shard.reference(label, StrengthId::STRONG, target as u64).unwrap();
                }
            };
            refer("name", thing.name.filter(|_| [1, 5].contains(&thing.kind)));
            refer("next", thing.next.filter(|_| thing.kind < 2));
        }
        shard.finish().unwrap();
        snapshot.commit().unwrap();
    }
}

/// Recordings of the same series: written whole, as patches, repacked, repaired.
fn recordings(series: &[Vec<Thing>]) -> Vec<Arc<Recording>> {
    let mut all = Vec::new();
    for patches in [false, true] {
        let shelf = Shelf::default();
        let options = Options { patches, ..Options::default() };
        let writer = Writer::to_stream(Box::new(shelf.clone()), options).unwrap();
        let declared = Declared::of(&writer);
        series.iter().for_each(|things| declared.announce(&writer, things));
        writer.finish().unwrap();
        all.push(Arc::new(Recording::from_bytes(shelf.bytes()).unwrap()));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("anew.barrow");
    let whole = Arc::clone(&all[0]);
    barrow_rewrite::repack(&whole, &path, barrow_rewrite::RepackOptions::default(), &Silent).unwrap();
    all.push(Arc::new(Recording::from_bytes(std::fs::read(&path).unwrap()).unwrap()));
    barrow_rewrite::repair(&whole, &path, &Silent).unwrap();
    all.push(Arc::new(Recording::from_bytes(std::fs::read(&path).unwrap()).unwrap()));
    all
}

/// The objects of a snapshot by serial, which is the number of the thing + 1: repacking gives other numbers.
fn by_serial(heap: &Heap) -> Vec<ObjectId> {
    let mut ids = vec![ObjectId(0); heap.object_count() as usize];
    for object in 0..heap.object_count() as u32 {
        let details = barrow_analyzer::object(heap.recording(), heap.snapshot(), ObjectId(object)).unwrap();
        ids[details.serial.unwrap() as usize - 1] = ObjectId(object);
    }
    ids
}

#[test]
fn tests_and_columns_are_those_of_the_definition() {
    let mut random = Random::new(24);
    let mut matches = 0;
    for _ in 0..150 {
        let count = 1 + random.below(12) as usize;
        let mut series = vec![(0..count).map(|_| Thing::random(&mut random, count)).collect::<Vec<_>>()];
        for _ in 0..3 {
            let mut next = series[series.len() - 1].clone();
            let changed = random.below(count as u64) as usize;
            next[changed] = Thing { kind: next[changed].kind, ..Thing::random(&mut random, count) };
            series.push(next);
        }
        for recording in recordings(&series) {
            assert_eq!(verify(&recording, &Silent).unwrap().problems, []);
            for (snapshot, things) in (0..).map(SnapshotId).zip(&series) {
                let heap =
                    Heap::new(Arc::clone(&recording), snapshot, &IndexPlace::Nowhere, Memory::unlimited()).unwrap();
                let ids = by_serial(&heap);
                matches += check_tests(&heap, things, &ids);
                check_columns(&heap, things, &ids);
            }
        }
    }
    assert!(matches > 10_000, "{matches} objects matched");
}

fn check_tests(heap: &Heap, things: &[Thing], ids: &[ObjectId]) -> usize {
    type Definition = fn(&[Thing], Model) -> bool;
    let tests: [(&str, Definition); 18] = [
        ("> -1", |things, held| number(things, held).is_some_and(|number| number > -1.0)),
        ("= 1", |things, held| number(things, held) == Some(1.0)),
        ("!= 1", |things, held| number(things, held).is_some_and(|number| number != 1.0)),
        ("<= 0.5", |things, held| number(things, held).is_some_and(|number| number <= 0.5)),
        ("in -2..1", |things, held| number(things, held).is_some_and(|number| (-2.0..=1.0).contains(&number))),
        ("", |_, held| held == Model::Truth(true)),
        ("= false", |_, held| held == Model::Truth(false)),
        ("!= false", |_, held| held == Model::Truth(true)),
        ("= null", |_, held| held == Model::Null),
        ("!= null", |_, held| !matches!(held, Model::Null | Model::Unknown | Model::Missing)),
        ("= undefined", |_, held| held == Model::Undefined),
        ("!= undefined", |_, held| !matches!(held, Model::Undefined | Model::Unknown | Model::Missing)),
        ("= unknown", |things, held| held == Model::Unknown || is_unread(things, held)),
        ("!= unknown", |things, held| !matches!(held, Model::Unknown | Model::Missing) && !is_unread(things, held)),
        ("= a", |things, held| text(things, held) == Some("a")),
        ("= \"null\"", |things, held| text(things, held) == Some("null")),
        ("!= a", |things, held| text(things, held).is_some_and(|text| text != "a")),
        ("~ /^[an]/", |things, held| text(things, held).is_some_and(|text| text.starts_with(['a', 'n']))),
    ];
    let mut matches = 0;
    for path in [&["count"][..], &["open"], &["next"], &["name"], &["next", "name"], &["next", "next", "count"]] {
        for (test, definition) in tests {
            let asked = format!(".{} {test}", path.join("."));
            let expression = Expression::parse(&asked).unwrap();
            let is_about_nothing = ["= null", "undefined", "unknown"].iter().any(|end| test.ends_with(end));
            let is_about_texts = ["= a", "\"null\"", "/"].iter().any(|end| test.ends_with(end));
            let follow = if is_about_nothing || is_about_texts { follow_nulls } else { follow };
            let expected: Vec<bool> =
                (0..things.len()).map(|at| definition(things, follow(things, at, path))).collect();
            match heap.select(&[], &expression, &Silent) {
                Ok((found, _)) => {
                    let found: Vec<bool> = ids.iter().map(|&id| found.contains(id)).collect();
                    assert_eq!(found, expected, "{asked} of {things:?}");
                    matches += found.into_iter().filter(|&found| found).count();
                    let unknown: Vec<bool> = (0..things.len())
                        .map(|at| match follow(things, at, path) {
                            Model::Unknown => !test.ends_with("unknown"),
                            held => is_unread(things, held) && !is_about_nothing,
                        })
                        .collect();
                    if heap.snapshot() == SnapshotId(0) {
                        check_doubts(heap, &asked, ids, &expected, &unknown);
                    }
                }
                // A number cannot be compared with a text, nor a text with a number.
                Err(error) => {
                    assert!(!expected.contains(&true) && !is_about_nothing, "{asked} of {things:?}");
                    assert!(error.to_string().contains("cannot be compared"), "{asked}: {error}");
                }
            }
        }
    }
    for (asked, path, definition) in [
        ("length(.name) = 1", &["name"][..], (|length| length == 1) as fn(usize) -> bool),
        ("length(.next.name) != 1", &["next", "name"], |length| length != 1),
        ("length(.name) in 1..4", &["name"], |length| (1..=4).contains(&length)),
    ] {
        let found = heap.select(&[], &Expression::parse(asked).unwrap(), &Silent);
        for (at, &id) in ids.iter().enumerate() {
            let text = text(things, follow_nulls(things, at, path));
            let is_found = found.as_ref().is_ok_and(|(found, _)| found.contains(id));
            assert_eq!(is_found, text.is_some_and(|text| definition(text.chars().count())), "{asked}");
        }
    }
    let (found, _) = heap.select(&[], &Expression::parse("length(text) < 2").unwrap(), &Silent).unwrap();
    for (thing, &id) in things.iter().zip(ids) {
        let own = thing.text.filter(|_| [2, 3].contains(&thing.kind)).map(|text| TEXTS[text]);
        assert_eq!(found.contains(id), own.is_some_and(|own| own.len() < 2), "{thing:?}");
    }
    assert!(heap.select(&[], &Expression::parse(".nothing = 1").unwrap(), &Silent).is_err());
    matches
}

/// What is unknown passes neither the test nor its opposite, and counts only if it decides.
fn check_doubts(heap: &Heap, asked: &str, ids: &[ObjectId], expected: &[bool], unknown: &[bool]) {
    let parse = |text: &str| Expression::parse(text).unwrap();
    let of_set = |set: &ObjectSet| ids.iter().map(|&id| set.contains(id)).collect::<Vec<bool>>();
    let matching = |text: &str| of_set(&heap.select(&[], &parse(text), &Silent).unwrap().0);
    let doubtful = |text: &str| of_set(&heap.doubts(&[], &parse(text), &Silent).unwrap().objects);
    let each = |is: fn(bool, bool) -> bool| -> Vec<bool> {
        expected.iter().zip(unknown).map(|(&passes, &unknown)| is(passes, unknown)).collect()
    };
    assert_eq!(doubtful(asked), unknown, "{asked}");
    assert_eq!(matching(&format!("not {asked}")), each(|passes, unknown| !passes && !unknown), "not {asked}");
    assert_eq!(doubtful(&format!("not {asked}")), unknown, "not {asked}");
    let nothing = vec![false; ids.len()];
    assert_eq!(doubtful(&format!("type = Nothing and {asked}")), nothing, "{asked}");
    assert_eq!(doubtful(&format!("size > 0 or {asked}")), nothing, "{asked}");
    assert_eq!(matching(&format!("size > 0 or {asked}")), vec![true; ids.len()], "{asked}");
    assert_eq!(doubtful(&format!("size > 0 and {asked}")), unknown, "{asked}");
    assert_eq!(
        matching(&format!("not (size > 0 and {asked})")),
        each(|passes, unknown| !passes && !unknown),
        "{asked}"
    );
}

fn check_columns(heap: &Heap, things: &[Thing], ids: &[ObjectId]) {
    let tables = heap.recording().tables().unwrap();
    let chosen: Vec<ObjectId> = (0..things.len() as u32).filter(|id| id % 3 != 1).map(ObjectId).collect();
    let set = ObjectSet::from_sorted(heap.snapshot(), heap.object_count(), chosen.iter().copied());
    let thing_of = |id: ObjectId| ids.iter().position(|&other| other == id).unwrap();
    for path in [&["count"][..], &["next"], &["name"], &["next", "name"], &["next", "count"]] {
        let asked = FieldPath::parse(&format!(".{}", path.join("."))).unwrap();
        let column = heap.field_column(&set, &asked, &Silent).unwrap();
        assert_eq!(column.len(), chosen.len());
        let words = |held: Held| match held {
            Held::Value(FieldValue::Signed(number)) => (number as f64).to_string(),
            Held::Value(FieldValue::Double(number)) => number.to_string(),
            Held::Value(FieldValue::Text(text)) => format!("text {}", tables.string(text)),
            Held::Object(target) => format!("object {}", thing_of(target)),
            other => format!("{other:?}"),
        };
        let expected = |id: ObjectId| {
            let held = follow_nulls(things, thing_of(id), path);
            match (held, number(things, held), text(things, held)) {
                (_, Some(number), _) => number.to_string(),
                (_, _, Some(text)) => format!("text {text}"),
                (Model::Object(target), ..) => format!("object {target}"),
                (other, ..) => format!("{other:?}"),
            }
        };
        for (&id, &held) in chosen.iter().zip(&column) {
            assert_eq!(words(held), expected(id), ".{} of {id} in {things:?}", path.join("."));
        }
        let groups = heap.groups(&set, &[GroupKey::Field(asked)], &Silent).unwrap();
        let mut found: Vec<(String, u64)> =
            groups.groups.iter().map(|group| (words(groups.held(group)[0]), group.objects)).collect();
        found.sort();
        let mut counted = std::collections::BTreeMap::new();
        chosen.iter().for_each(|&id| *counted.entry(expected(id)).or_insert(0) += 1);
        assert_eq!(found, counted.into_iter().collect::<Vec<_>>());
    }
}

/// A recording in which each object refers to the next one by another name, and one object says `uses`.
fn differently_labelled(facts: &[(&str, &str)]) -> Heap {
    let shelf = Shelf::default();
    let writer = Writer::to_stream(Box::new(shelf.clone()), Options::default()).unwrap();
    facts.iter().for_each(|(key, value)| writer.fact(key, value).unwrap());
    let kind = writer.kind("object", KindRole::Object).unwrap();
    let type_id = writer.declare_type(&TypeDescription::new(kind, "Hash")).unwrap();
    let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
    let mut shard = snapshot.shard();
    for number in 0..300 {
        let name = (number == 7).then(|| writer.string("uses").unwrap());
        shard.object(number, &Object { name, ..Object::new(type_id, 16) }).unwrap();
        let label = Label::Name(writer.string(&format!("key{number}")).unwrap());
        shard.reference(label, StrengthId::STRONG, (number + 1) % 300).unwrap();
    }
    shard.finish().unwrap();
    snapshot.commit().unwrap();
    writer.finish().unwrap();
    let recording = Arc::new(Recording::from_bytes(shelf.take()).unwrap());
    Heap::new(recording, SnapshotId(0), &IndexPlace::Nowhere, Memory::unlimited()).unwrap()
}

#[test]
fn a_field_that_no_object_has_is_an_error_with_its_path() {
    let heap = differently_labelled(&[]);
    let select = |asked: &str| heap.select(&[], &Expression::parse(asked).unwrap(), &Silent);
    let column = |path: &str| heap.field_column(&heap.all_objects(), &FieldPath::parse(path).unwrap(), &Silent);
    assert_eq!(select(".key299 != null").unwrap().0.iter().collect::<Vec<_>>(), [ObjectId(299)]);
    assert_eq!(select(".key5.key6.key7 != null").unwrap().0.iter().collect::<Vec<_>>(), [ObjectId(5)]);
    assert_eq!(column(".key6").unwrap()[6], Held::Value(FieldValue::Text(heap_text(&heap, "uses"))));
    // The names of no reference, of which one is a text of the program.
    for name in ["uses", "nowhere"] {
        for test in ["= null", "!= unknown", "> 3", "~ a*"] {
            let error = select(&format!(".{name} {test}")).unwrap_err().to_string();
            assert_eq!(error, format!("no object has a field or a reference `.{name}`, as far as this is recorded"));
            let path = [format!(".key5.{name}"), format!(".{name}.key5")];
            for path in &path {
                let error = select(&format!("{path} {test}")).unwrap_err().to_string();
                let place = format!("no object has a field or a reference `.{name}` as in `{path}`");
                assert!(error.starts_with(&place), "{error}");
                assert_eq!(column(path).unwrap_err().to_string(), error);
            }
        }
        assert!(column(&format!(".{name}")).is_err());
    }
}

fn heap_text(heap: &Heap, wanted: &str) -> barrow_analyzer::StringId {
    let tables = heap.recording().tables().unwrap();
    let mut all = (0..tables.string_count() as u32).map(barrow_analyzer::StringId);
    all.find(|&id| tables.string(id) == wanted).unwrap()
}

/// The type of an object, its name, and its references with their labels.
type Described<'d> = (TypeId, Option<&'d str>, &'d [(&'d str, u64)]);

/// A heap of these objects, numbered from 0, of a writer that announced their types.
fn heap_of(shelf: &Shelf, writer: Writer, objects: &[Described<'_>]) -> Heap {
    let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
    let mut shard = snapshot.shard();
    for (id, &(type_id, name, references)) in (0..).zip(objects) {
        let mut object = Object::new(type_id, 16);
        object.name = name.map(|name| writer.string(name).unwrap());
        shard.object(id, &object).unwrap();
        for &(label, target) in references {
            shard.reference(Label::Name(writer.string(label).unwrap()), StrengthId::STRONG, target).unwrap();
        }
    }
    shard.finish().unwrap();
    snapshot.commit().unwrap();
    writer.finish().unwrap();
    let recording = Arc::new(Recording::from_bytes(shelf.bytes()).unwrap());
    Heap::new(recording, SnapshotId(0), &IndexPlace::Nowhere, Memory::unlimited()).unwrap()
}

/// An object that does not have a field itself may keep it in a map, which its type names; its own field comes first.
#[test]
fn fields_are_looked_for_in_the_map_that_a_type_names() {
    let shelf = Shelf::default();
    let writer = Writer::to_stream(Box::new(shelf.clone()), Options::default()).unwrap();
    let kind = writer.kind("object", KindRole::Object).unwrap();
    let declare = |name, attributes: &[(&str, &str)]| {
        writer.declare_type(&TypeDescription { attributes, ..TypeDescription::new(kind, name) }).unwrap()
    };
    let user = declare("User", &[("fields in", "space")]);
    let map = declare("Map", &[("entries", ".key=.value .next")]);
    for field in ["key", "value", "next"] {
        writer.field(map, field, Encoding::Reference, false).unwrap();
    }
    let text = declare("Text", &[("text of", "characters")]);
    // Users with a plan of their own, in a map, in both, nowhere, and with a friend in a map.
    let heap = heap_of(
        &shelf,
        writer,
        &[
            (user, None, &[("plan", 10)]),
            (user, None, &[("space", 5)]),
            (user, None, &[("plan", 11), ("space", 5)]),
            (user, None, &[("space", 6)]),
            (user, None, &[("space", 7)]),
            (map, None, &[("key", 8), ("value", 10)]),
            (map, None, &[("key", 9), ("value", 10)]),
            (map, None, &[("key", 9), ("value", 1)]),
            (text, Some("plan"), &[]),
            (text, Some("friend"), &[]),
            (text, Some("pro"), &[]),
            (text, Some("free"), &[]),
        ],
    );
    let selected = |text: &str| -> Vec<u32> {
        let found = heap.select(&[], &Expression::parse(text).unwrap(), &Silent).unwrap().0;
        found.iter().map(|object| object.0).collect()
    };
    assert_eq!(selected(".plan = \"pro\""), [0, 1]);
    assert_eq!(selected(".plan = \"free\""), [2]);
    assert_eq!(selected(".plan = unknown"), []);
    // No object has it itself.
    assert_eq!(selected(".friend.plan = \"pro\""), [4]);
    let users = ObjectSet::from_sorted(SnapshotId(0), heap.object_count(), (0..5).map(ObjectId));
    let column = |path: &str| heap.field_column(&users, &FieldPath::typed(path).unwrap(), &Silent);
    let texts = |path: &str| -> Vec<String> {
        let tables = heap.recording().tables().unwrap();
        let text = |held| match held {
            Held::Value(FieldValue::Text(text)) => tables.string(text).to_owned(),
            Held::Object(object) => object.to_string(),
            Held::Missing => "missing".to_owned(),
            other => format!("{other:?}"),
        };
        column(path).unwrap().into_iter().map(text).collect()
    };
    assert_eq!(texts(".plan"), ["pro", "pro", "free", "missing", "missing"]);
    assert_eq!(texts(".friend.plan"), ["missing", "missing", "missing", "missing", "pro"]);
    assert!(matches!(column(".nothing"), Err(AnalyzerError::NoField { .. })));
}

#[test]
fn without_contents_nothing_is_known_of_values() {
    let heap = differently_labelled(&[("contents", "none")]);
    let select = |asked: &str| heap.select(&[], &Expression::parse(asked).unwrap(), &Silent);
    for asked in [".uses = null", ".nowhere > 3", ".key5 > 3", ".key5", ".key5.key6 in 1..2", ".key5 ~ nothing"] {
        let error = select(asked).unwrap_err().to_string();
        assert!(error.contains("this was recorded without contents"), "{asked}: {error}");
    }
    // References and names are recorded.
    assert_eq!(select(".key5 != null").unwrap().0.len(), 1);
    assert_eq!(select(".key6 = uses").unwrap().0.len(), 1);
}

/// Members of enumerations of CPython have their name in a dictionary, or in themselves.
#[test]
fn constants_are_called_by_the_name_in_their_map() {
    let shelf = Shelf::default();
    let writer = Writer::to_stream(Box::new(shelf.clone()), Options::default()).unwrap();
    let kind = writer.kind("object", KindRole::Object).unwrap();
    let declare = |name, attributes: &[(&str, &str)]| {
        writer.declare_type(&TypeDescription { attributes, ..TypeDescription::new(kind, name) }).unwrap()
    };
    let colour = declare("Colour", &[("named by", "_name_"), ("fields in", "__dict__")]);
    let map = declare("Map", &[]);
    let text = declare("Text", &[("text of", "characters")]);
    let number = declare("Number", &[("value of", "value")]);
    writer.field(number, "value", Encoding::Signed, false).unwrap();
    let heap = heap_of(
        &shelf,
        writer,
        &[
            (colour, None, &[("__dict__", 3)]),
            (colour, None, &[("_name_", 5)]),
            (colour, None, &[("__dict__", 4)]),
            (map, None, &[("_name_", 6), ("other", 5)]),
            (map, None, &[("other", 5)]),
            (text, Some("RED"), &[]),
            (text, Some("GREEN"), &[]),
        ],
    );
    let colours = ObjectSet::from_sorted(SnapshotId(0), heap.object_count(), (0..3).map(ObjectId));
    let tables = heap.recording().tables().unwrap();
    let called: Vec<Option<&str>> = heap
        .stand_for(&colours, &Silent)
        .unwrap()
        .into_iter()
        .map(|held| if let Held::Value(FieldValue::Text(text)) = held { Some(tables.string(text)) } else { None })
        .collect();
    assert_eq!(called, [Some("GREEN"), Some("RED"), None]);
}
