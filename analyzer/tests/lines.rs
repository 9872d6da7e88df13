//! Compares questions about lines with their definition, on random heaps.

use std::collections::BTreeMap;
use std::sync::Arc;

use barrow_analyzer::{
    Expression, FieldPath, GroupKey, Heap, Held, IndexPlace, LineRules, Memory, ObjectId, ObjectSet, Recording, Silent,
    SnapshotId,
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
            assert_eq!(lines.get(&id).map(|line| line.text.clone()), objects[id.index()].line());
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

/// A type of a random hierarchy: its base, and whether the recording and a rule have a template for it.
struct Hierarchy(Vec<(Option<usize>, bool, bool)>);

impl Hierarchy {
    fn random(random: &mut Random) -> Self {
        let types = 2 + random.below(6) as usize;
        let one = |at: usize, random: &mut Random| {
            let base = (at > 0 && random.below(4) > 0).then(|| random.below(at as u64) as usize);
            (base, random.below(3) == 0, random.below(3) == 0)
        };
        Hierarchy((0..types).map(|at| one(at, random)).collect())
    }

    fn rules(&self) -> String {
        let with_rule = self.0.iter().enumerate().filter(|(_, of)| of.2);
        with_rule.map(|(at, _)| format!("\"T{at}\" = \"rule {at} {{.number}} {{id}}\"\n")).collect()
    }

    /// The line of an object of a type: that of the nearest one with a template, a rule before that of the recording.
    fn line(&self, of: usize, id: usize, number: Option<i64>) -> Option<String> {
        let (base, is_recorded, has_rule) = self.0[of];
        match (has_rule, is_recorded, number) {
            (true, _, Some(number)) => Some(format!("rule {of} {number} {id}")),
            (true, _, None) => Some(format!("rule {of} ? {id}")),
            (false, true, number) => number.map(|number| format!("recorded {of} {number}")),
            (false, false, _) => self.line(base?, id, number),
        }
    }

    fn heap(&self, objects: &[(usize, Option<i64>)]) -> Heap {
        let shelf = Shelf::default();
        let writer = Writer::to_stream(Box::new(shelf.clone()), Options::default()).unwrap();
        let kind = writer.kind("object", KindRole::Object).unwrap();
        let (mut types, mut fields) = (Vec::new(), Vec::new());
        for (at, &(base, is_recorded, _)) in self.0.iter().enumerate() {
            let (name, template) = (format!("T{at}"), format!("recorded {at} {{.number}}"));
            let attributes = [("reads as", template.as_str())];
            let mut description = TypeDescription::new(kind, &name);
            description.base = base.map(|base| types[base]);
            description.attributes = if is_recorded { &attributes } else { &[] };
            let declared = writer.declare_type(&description).unwrap();
            fields.push(writer.field(declared, "number", Encoding::Signed, false).unwrap());
            types.push(declared);
        }
        let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
        let mut shard = snapshot.shard();
        for (id, &(of, number)) in (0..).zip(objects) {
            shard.object(id, &Object::new(types[of], 16)).unwrap();
            // A template reads the field of the type that has it, a rule that of the object's own type.
            let chain = std::iter::successors(Some(of), |&of| self.0[of].0);
            for of in chain.filter(|_| number.is_some()) {
                shard.value(fields[of], Value::Signed(number.unwrap_or_default())).unwrap();
            }
        }
        shard.finish().unwrap();
        snapshot.commit().unwrap();
        writer.finish().unwrap();
        let recording = Arc::new(Recording::from_bytes(shelf.bytes()).unwrap());
        Heap::new(recording, SNAPSHOT, &IndexPlace::Nowhere, Memory::unlimited()).unwrap()
    }
}

#[test]
fn the_nearest_template_of_a_type_counts_and_a_rule_before_that_of_the_recording() {
    let (mut random, mut by_rules) = (Random::new(9), 0);
    for round in 0..300 {
        let hierarchy = Hierarchy::random(&mut random);
        let object = |random: &mut Random| {
            let of = random.below(hierarchy.0.len() as u64) as usize;
            (of, (random.below(4) > 0).then(|| random.below(9).cast_signed() - 4))
        };
        let objects: Vec<(usize, Option<i64>)> = (0..1 + random.below(30)).map(|_| object(&mut random)).collect();
        let rules = Arc::new(LineRules::read("own.toml", &hierarchy.rules()).unwrap());
        let heap = hierarchy.heap(&objects).with_lines(Arc::clone(&rules)).unwrap();
        let ids: Vec<ObjectId> = (0..objects.len() as u32).map(ObjectId).collect();
        let expected: Vec<Option<String>> =
            objects.iter().enumerate().map(|(id, &(of, number))| hierarchy.line(of, id, number)).collect();
        assert_eq!(heap.lines(&ids, &Silent).unwrap(), expected, "round {round}");
        assert!(rules.uses() > 0 && rules.unknown_classes(heap.recording().tables().unwrap()).is_empty());
        by_rules += expected.iter().flatten().filter(|line| line.starts_with("rule")).count();
        // Expressions read the same.
        let (found, _) = heap.select(&[], &Expression::parse("line ~ /^rule/").unwrap(), &Silent).unwrap();
        let starts = |line: &Option<String>| line.as_ref().is_some_and(|line| line.starts_with("rule"));
        let matching = ids.iter().zip(&expected).filter(|(_, line)| starts(line)).map(|(id, _)| *id);
        assert_eq!(found.iter().collect::<Vec<_>>(), matching.collect::<Vec<_>>(), "round {round}");
    }
    assert!(by_rules > 500, "{by_rules}");
}

/// A ring of objects whose lines show each other, and a long text.
fn ring(length: u64, text: &str) -> Heap {
    let shelf = Shelf::default();
    let writer = Writer::to_stream(Box::new(shelf.clone()), Options::default()).unwrap();
    let kind = writer.kind("object", KindRole::Object).unwrap();
    let [node, string] = ["Node", "Text"].map(|name| writer.declare_type(&TypeDescription::new(kind, name)).unwrap());
    writer.field(node, "next", Encoding::Reference, false).unwrap();
    let text_of = writer.field(node, "text", Encoding::Text, false).unwrap();
    let text = writer.string(text).unwrap();
    let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
    let mut shard = snapshot.shard();
    for id in 0..length {
        shard.object(id, &Object::new(node, 16)).unwrap();
        shard.value(text_of, Value::Text(text)).unwrap();
        let label = Label::Name(writer.string("next").unwrap());
        shard.reference(label, StrengthId::STRONG, (id + 1) % length).unwrap();
    }
    shard.object(length, &Object { name: Some(text), ..Object::new(string, 16) }).unwrap();
    shard.finish().unwrap();
    snapshot.commit().unwrap();
    writer.finish().unwrap();
    let recording = Arc::new(Recording::from_bytes(shelf.bytes()).unwrap());
    Heap::new(recording, SNAPSHOT, &IndexPlace::Nowhere, Memory::unlimited()).unwrap()
}

fn line_by(heap: Heap, rules: &str, id: u32) -> String {
    let heap = heap.with_lines(Arc::new(LineRules::read("own.toml", rules).unwrap())).unwrap();
    heap.lines(&[ObjectId(id)], &Silent).unwrap().remove(0).expect("a line")
}

#[test]
fn lines_within_lines_end_and_long_ones_are_cut_with_a_mark() {
    // Five times, then the object itself.
    assert_eq!(line_by(ring(2, ""), "Node = '<{.next}>'", 0), "<<<<<@1 Node>>>>>");
    assert_eq!(line_by(ring(7, ""), "Node = '<{.next}>'", 3), "<<<<<@1 Node>>>>>");
    let long = "ä".repeat(3000);
    for template in ["{.text}", "{.text}{.text}", "{.next}"] {
        let line = line_by(ring(1, &long), &format!("Node = '{template}'\nText = 'x'"), 0);
        assert!(template == "{.next}" || line.ends_with("ä…") && (4093..=4096).contains(&line.len()), "{}", line.len());
        assert!(line.len() <= 4096);
    }
    let all = format!("Node = '{}'", "{.text}".repeat(70));
    assert!(line_by(ring(1, &long), &all, 0).len() <= 4096);
    // What a rule says of a string is its line; what it says elsewhere is its text.
    assert_eq!(line_by(ring(1, "said"), "Node = '{{{.text}}}'\nText = 'x{size}'", 1), "x16");
}

#[test]
fn rules_that_are_no_rules_say_where() {
    for (text, said) in [
        ("a = ", "own.toml, line 1: "),
        ("a = '{.b}'\na = '{.c}'", "own.toml, line 2: duplicate key"),
        ("\n\na.b = '{.c}'", "own.toml, line 3: `a` is no text: a line of this file is \"com.acme.Key\" = \"{.name}\""),
        ("a = 3", "own.toml, line 1: `a` is no text"),
        ("[table]\na = '{.b}'", "`table` is no text"),
        ("a = 'x'\n\"b\" = '{.c'", "own.toml, line 2: the `{` is never closed; `{{` is a brace"),
        (
            "a = '{colour}'",
            "own.toml, line 1: `colour` is no field, as `.colour` would be, and no attribute of objects",
        ),
        ("a = '{line}'", "`line` is no part of a line"),
        ("a = '{.b:never}'", "`never` is no format of one number"),
        ("a = '[{.b}'", "the `[` is never closed"),
    ] {
        let error = LineRules::read("own.toml", text).unwrap_err().to_string();
        assert!(error.contains(said), "{text}: {error}");
        assert!(!error.contains('\n'), "{text}: {error}");
    }
    let many: String = (0..1001).map(|at| format!("c{at} = 'x'\n")).collect();
    let error = LineRules::read("own.toml", &many).unwrap_err().to_string();
    assert_eq!(error, "own.toml, line 1001: there are more than 1000 classes");
    let long = format!("a = '{}'", "x".repeat(513));
    assert!(LineRules::read("own.toml", &long).unwrap_err().to_string().contains("at most 512 bytes"));
    assert!(LineRules::read("own.toml", "").is_ok());
}
