//! What a snapshot says of a program with objects of every sort, against what Python itself says of them.

mod python;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use barrow_analyzer::{
    Expression, FieldPath, FieldValue, Heap, Held, IndexPlace, Label, Memory, ObjectDetails, ObjectId, ObjectSet,
    Recording, Reference, Silent, SnapshotId, StrengthId, Tables, walk,
};
use python::{Python, said};

const FIRST: SnapshotId = SnapshotId(0);

/// A snapshot with objects by their addresses.
struct Read {
    recording: Recording,
    objects: Vec<(ObjectDetails, Vec<Reference>)>,
    by_address: HashMap<u64, ObjectId>,
}

impl Read {
    fn open(path: &Path) -> Read {
        let recording = Recording::open(path).expect("a whole recording");
        let mut objects = Vec::new();
        walk(&recording, FIRST, &Silent, |object, references| {
            objects.push((*object, references.to_vec()));
            Ok(())
        })
        .expect("a whole snapshot");
        let addresses = objects.iter().filter_map(|(object, _)| Some((object.address?, object.id)));
        let by_address = addresses.collect();
        Read { recording, objects, by_address }
    }

    fn tables(&self) -> &Tables {
        self.recording.tables().expect("tables")
    }

    fn at(&self, address: u64) -> Option<&(ObjectDetails, Vec<Reference>)> {
        self.by_address.get(&address).map(|id| &self.objects[id.0 as usize])
    }

    /// The name of a type without what it is nested in, as Python tells it.
    fn class(&self, object: &ObjectDetails) -> &str {
        self.tables().type_name(object.type_id)
    }

    fn label(&self, label: Label) -> String {
        match label {
            Label::Unknown => "?".to_owned(),
            Label::Index(index) => index.to_string(),
            Label::Name(name) => self.tables().string(name).to_owned(),
        }
    }

    /// Addresses that an object refers to, sorted.
    fn targets(&self, references: &[Reference], is_strong: bool) -> Vec<u64> {
        let wanted = references.iter().filter(|one| (one.strength == StrengthId::STRONG) == is_strong);
        let mut targets: Vec<_> = wanted.filter_map(|one| self.objects[one.target.0 as usize].0.address).collect();
        targets.sort_unstable();
        targets
    }

    fn has(&self, source: &(ObjectDetails, Vec<Reference>), name: &str, target: u64) -> bool {
        let is_it = |reference: &&Reference| self.objects[reference.target.0 as usize].0.address == Some(target);
        source.1.iter().filter(is_it).any(|reference| self.label(reference.label) == name)
    }
}

fn numbers<'a>(words: impl Iterator<Item = &'a str>) -> Vec<u64> {
    words.map(|word| word.parse().expect("an address")).collect()
}

/// A value as Python writes it.
fn said_of(held: Held) -> String {
    match held {
        Held::Unknown => "?".to_owned(),
        Held::Value(FieldValue::Unsigned(value)) => value.to_string(),
        Held::Value(FieldValue::Signed(value)) => value.to_string(),
        Held::Value(FieldValue::Double(value)) => value.to_string(),
        Held::Value(FieldValue::Boolean(value)) => value.to_string(),
        held => panic!("{held:?}"),
    }
}

/// A text as Python's `ascii` writes it.
fn ascii(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let escaped = |character: char| match character {
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        '\\' => "\\\\".to_owned(),
        character if character == quote => format!("\\{quote}"),
        ' '..='~' => character.to_string(),
        _ => match u32::from(character) {
            code @ ..=0xff => format!("\\x{code:02x}"),
            code @ ..=0xffff => format!("\\u{code:04x}"),
            code => format!("\\U{code:08x}"),
        },
    };
    format!("{quote}{}{quote}", text.chars().map(escaped).collect::<String>())
}

#[test]
fn a_snapshot_says_what_python_says() {
    let Some(python) = Python::find() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("every.barrow");
    let mut command = python.command();
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/every_sort.py")).arg(&path);
    let said = said(&command.output().expect("a Python"));
    let read = Read::open(&path);
    let heap =
        Heap::new(Recording::open(&path).expect("whole").into(), FIRST, &IndexPlace::Nowhere, Memory::unlimited())
            .expect("a whole snapshot");
    let reachable = heap.reachable(None, &Silent).expect("a whole snapshot");
    let mut counted: BTreeMap<&str, u64> = BTreeMap::new();
    let mut missing = 0_u64;
    for line in said.lines() {
        let mut words = line.split(' ');
        let kind = words.next().expect("a word");
        *counted.entry(kind).or_default() += 1;
        match kind {
            "object" => {
                let (address, class) = (words.next().expect("an address"), words.next().expect("a class"));
                let bytes: u64 = words.next().expect("a size").parse().expect("a size");
                let rest: Vec<_> = words.filter(|word| !word.is_empty()).collect();
                let Some((object, references)) = read.at(address.parse().expect("an address")) else {
                    // Made after the snapshot.
                    missing += 1;
                    continue;
                };
                let name = read.class(object);
                let is_frame = read.tables().kind_name(read.tables().type_kind(object.type_id)) == "frame";
                // Another object may be at an address that was free.
                if !is_frame && name.replace(' ', "_") != class && !name.ends_with(&format!(".{class}")) {
                    missing += 1;
                    continue;
                }
                assert_eq!(object.shallow_bytes, bytes, "{line}\n{name}");
                if rest != ["-"] {
                    // The collector is not told of strings that are keys or names.
                    let mut more = read.targets(references, true);
                    for target in numbers(rest.into_iter()) {
                        let place = more.binary_search(&target);
                        more.remove(place.unwrap_or_else(|_| panic!("{target} is not in {more:?}\n{line}")));
                    }
                    let mut more = more.iter().filter_map(|&address| read.at(address));
                    assert!(more.all(|(object, _)| read.class(object) == "str"), "{line}");
                }
            }
            "label" => {
                let words: Vec<_> = line.splitn(3, ' ').collect();
                let (name, target) = words[2].rsplit_once(' ').expect("a name and an address");
                let source = read.at(words[1].parse().expect("an address")).expect("an object");
                let labels: Vec<_> = source.1.iter().map(|reference| read.label(reference.label)).collect();
                assert!(read.has(source, name, target.parse().expect("an address")), "{line}\n{labels:?}");
            }
            "variable" => {
                let words: Vec<_> = words.collect();
                let target = words[2].parse().expect("an address");
                let frames = read.objects.iter().filter(|(object, _)| read.class(object) == words[0]);
                assert!(frames.into_iter().any(|frame| read.has(frame, words[1], target)), "{line}");
            }
            "weak" => {
                let ids = numbers(words);
                let (_, references) = read.at(ids[0]).expect("an object");
                assert_eq!(read.targets(references, false), [ids[1]], "{line}");
            }
            "holds" => {
                let words: Vec<_> = words.collect();
                let object = read.by_address[&words[0].parse().expect("an address")];
                let set = ObjectSet::from_sorted(FIRST, read.objects.len() as u64, [object]);
                let path = FieldPath::parse(&format!(".{}", words[1])).expect("a field");
                let held = heap.field_column(&set, &path, &Silent).expect("a field")[0];
                assert_eq!(said_of(held), words[2], "{line}");
            }
            "says" => {
                let (address, text) = line["says ".len()..].split_once(' ').expect("two words");
                let (object, _) = read.at(address.parse().expect("an address")).expect("an object");
                let name = object.name.map(|name| read.tables().string(name));
                assert_eq!(name.map(ascii), Some(text.to_owned()), "{line}");
            }
            "is" => {
                let asked = Expression::parse(&format!("is {}", words.next().expect("a class")));
                let (set, _) = heap.select(&[], &asked.expect("an expression"), &Silent).expect("a whole snapshot");
                let mut expected: Vec<_> = numbers(words).iter().map(|address| read.by_address[address]).collect();
                expected.sort_unstable();
                assert_eq!(set.iter().collect::<Vec<_>>(), expected, "{line}");
            }
            "garbage" => {
                let garbage = read.by_address[&numbers(words)[0]];
                assert!(!reachable.contains(garbage), "nothing holds it");
            }
            "taken" => assert_eq!(numbers(words), [read.objects.len() as u64]),
            _ => panic!("{line}"),
        }
    }
    assert!(counted["object"] > 30_000 && counted["label"] > 15 && counted["weak"] == 10, "{counted:?}");
    assert!(missing < 600, "{missing} of {counted:?} are not there");
    let unreachable = read.objects.len() as u64 - reachable.len();
    assert!(unreachable < 20, "{unreachable} are held by nothing");
}
