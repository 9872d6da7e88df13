//! Compares questions about lines with their definition, on random heaps.

use std::collections::BTreeMap;
use std::sync::Arc;

use barrow_analyzer::{
    Expression, FieldPath, GroupKey, Heap, Held, IndexPlace, Memory, ObjectId, ObjectSet, Recording, Silent, SnapshotId,
};
use barrow_testdata::{Random, Shelf};
use barrow_writer::{
    Encoding, KindRole, Label, Object, Options, SnapshotInfo, StrengthId, TypeDescription, Value, Writer,
};

const SNAPSHOT: SnapshotId = SnapshotId(0);

/// The objects: days with a line, unless their number is not known; strings with a text, whose type has a template,
/// too; and others. Each may have another object in its field `when`.
#[derive(Debug, Clone, Copy)]
struct Model {
    kind: Kind,
    when: Option<u32>,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Day(Option<i64>),
    Text(u64),
    Plain,
}

impl Model {
    fn random(random: &mut Random, objects: u64) -> Self {
        let kind = match random.below(5) {
            0 | 1 => Kind::Day((random.below(8) > 0).then(|| random.below(20).cast_signed() - 5)),
            2 => Kind::Text(random.below(9)),
            _ => Kind::Plain,
        };
        Model { kind, when: (random.below(4) > 0).then(|| random.below(objects) as u32) }
    }

    fn line(&self) -> Option<String> {
        if let Kind::Day(Some(number)) = self.kind { Some(format!("day {number}")) } else { None }
    }

    /// The text that a field leading to it is compared with.
    fn said(&self) -> Option<String> {
        if let Kind::Text(number) = self.kind { Some(format!("day {number}")) } else { self.line() }
    }
}

fn heap(objects: &[Model]) -> Heap {
    let shelf = Shelf::default();
    let writer = Writer::to_stream(Box::new(shelf.clone()), Options::default()).unwrap();
    let kind = writer.kind("object", KindRole::Object).unwrap();
    // No note is there, and no type has the field `is_good`.
    let template = [("reads as", "day {.number}{?.note.is_good}")];
    let [day, text, plain] = [("Day", true), ("Text", true), ("Plain", false)].map(|(name, has_line)| {
        let mut description = TypeDescription::new(kind, name);
        description.attributes = if has_line { &template } else { &[] };
        let declared = writer.declare_type(&description).unwrap();
        writer.field(declared, "when", Encoding::Reference, false).unwrap();
        writer.field(declared, "note", Encoding::Reference, false).unwrap();
        declared
    });
    let number = writer.field(day, "number", Encoding::Signed, false).unwrap();
    let number_of_text = writer.field(text, "number", Encoding::Signed, false).unwrap();
    let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
    let mut shard = snapshot.shard();
    for (id, object) in (0..).zip(objects) {
        let name = if let Kind::Text(number) = object.kind { Some(format!("day {number}")) } else { None };
        let type_id = match object.kind {
            Kind::Day(_) => day,
            Kind::Text(_) => text,
            Kind::Plain => plain,
        };
        let name = name.as_deref().map(|name| writer.string(name).unwrap());
        shard.object(id, &Object { name, ..Object::new(type_id, 16) }).unwrap();
        match object.kind {
            Kind::Day(Some(value)) => shard.value(number, Value::Signed(value)).unwrap(),
            Kind::Text(_) => shard.value(number_of_text, Value::Signed(99)).unwrap(),
            _ => {}
        }
        if let Some(target) = object.when {
            let label = Label::Name(writer.string("when").unwrap());
            shard.reference(label, StrengthId::STRONG, target.into()).unwrap();
        }
    }
    shard.finish().unwrap();
    snapshot.commit().unwrap();
    writer.finish().unwrap();
    let recording = Arc::new(Recording::from_bytes(shelf.bytes()).unwrap());
    Heap::new(recording, SNAPSHOT, &IndexPlace::Nowhere, Memory::unlimited()).unwrap()
}

/// Returns whether an object matches.
type Definition<'d> = &'d dyn Fn(&Model) -> bool;

#[test]
fn lines_are_compared_and_grouped_as_texts_are() {
    let (mut matches, mut merged) = (0, 0);
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let count = 1 + random.below(200);
        let objects: Vec<Model> = (0..count).map(|_| Model::random(&mut random, count)).collect();
        let heap = heap(&objects);
        let when = |object: &Model| object.when.map(|target| objects[target as usize]);
        let asked = format!("day {}", random.below(15));
        let is = |text: Option<String>| text.as_ref() == Some(&asked);
        let is_other = |text: Option<String>| text.is_some_and(|text| text != asked);
        let cases: [(String, Definition<'_>); 8] = [
            (format!("line = \"{asked}\""), &|object| is(object.line())),
            (format!("line != \"{asked}\""), &|object| is_other(object.line())),
            (format!("not line = \"{asked}\""), &|object| !is(object.line())),
            ("line ~ /1/".to_owned(), &|object| object.line().is_some_and(|line| line.contains('1'))),
            ("length(line) = 6".to_owned(), &|object| object.line().is_some_and(|line| line.len() == 6)),
            (format!(".when = \"{asked}\""), &|object| is(when(object).and_then(|when| when.said()))),
            (format!(".when != \"{asked}\""), &|object| is_other(when(object).and_then(|when| when.said()))),
            (format!(".when.when ~ \"{asked}*\""), &|object| {
                let said = when(object).and_then(|middle| when(&middle)).and_then(|when| when.said());
                said.is_some_and(|said| said.starts_with(&asked))
            }),
        ];
        for (text, holds) in cases {
            let (found, _) = heap.select(&[], &Expression::parse(&text).unwrap(), &Silent).unwrap();
            let expected = (0..).map(ObjectId).zip(&objects).filter(|(_, object)| holds(object)).map(|(id, _)| id);
            let expected: Vec<ObjectId> = expected.collect();
            assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{text}, seed {seed}: {objects:?}");
            matches += expected.len();
        }

        let all = ObjectSet::from_sorted(SNAPSHOT, count, (0..count as u32).map(ObjectId));
        let line_of = |held: Held| if let Held::Object(id) = held { objects[id.index()].line() } else { None };
        let groups = heap.groups(&all, &[GroupKey::Line], &Silent).unwrap();
        let found = groups.groups.iter().map(|group| (line_of(groups.held(group)[0]), group.objects));
        let found: BTreeMap<Option<String>, u64> = found.collect();
        let mut expected = BTreeMap::new();
        objects.iter().for_each(|object| *expected.entry(object.line()).or_insert(0) += 1);
        assert_eq!((groups.groups.len(), found), (expected.len(), expected), "seed {seed}: {objects:?}");

        let path = FieldPath::parse(".when").unwrap();
        let column = heap.field_column(&all, &path, &Silent).unwrap();
        let lines = heap.lines_of(&column, &Silent).unwrap();
        for id in Held::objects(&column) {
            assert_eq!(lines.get(&id), objects[id.index()].line().as_ref());
        }
        let groups = heap.groups(&all, &[GroupKey::Field(path)], &Silent).unwrap();
        // A day by its line, a text by what it says, others by their number.
        let key = |object: &Model| match (object.when, when(object).and_then(|when| when.line())) {
            (_, Some(line)) => line,
            (Some(target), None) => match objects[target as usize].said() {
                Some(text) => format!("text {text}"),
                None => target.to_string(),
            },
            (None, None) => String::new(),
        };
        let mut expected: BTreeMap<String, u64> = BTreeMap::new();
        objects.iter().for_each(|object| *expected.entry(key(object)).or_insert(0) += 1);
        let mut counts: Vec<u64> = groups.groups.iter().map(|group| group.objects).collect();
        let mut expected: Vec<u64> = expected.into_values().collect();
        counts.sort_unstable();
        expected.sort_unstable();
        assert_eq!(counts, expected, "seed {seed}: {objects:?}");
        let days = column.iter().filter(|&&held| line_of(held).is_some()).count();
        merged +=
            days.saturating_sub(groups.groups.iter().filter(|group| line_of(groups.held(group)[0]).is_some()).count());
    }
    assert!(matches > 2000 && merged > 300, "{matches} {merged}");
}
