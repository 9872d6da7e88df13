//! Values of fields: dumps made at random, each value compared.

use barrow_analyzer::{FieldValue, Heap, Held, ObjectId};
use barrow_importers::{Contents, ImportOptions};
use barrow_testdata::Random;

use crate::dump::{Class, Dump, INT, OBJECT};
use crate::read::{record, record_with};

const BOOLEAN: u8 = 4;
const DOUBLE: u8 = 7;

/// The fields of an object: name, declaring class and what it holds, in words.
type Fields = Vec<(String, String, String)>;

/// A class of the dump: its fields by number of their name, and its superclass by position.
struct Kind {
    fields: Vec<(u64, u8)>,
    superclass: Option<usize>,
}

fn address(class: usize) -> u64 {
    0x100 + 8 * class as u64
}

/// The bytes of a random value, and the value in words.
fn random_value(random: &mut Random, kind: u8, id_bytes: usize, objects: u64) -> (Vec<u8>, String) {
    let any = random.next() >> random.below(64);
    let bytes = |width: usize| any.to_be_bytes()[8 - width..].to_vec();
    match kind {
        OBJECT if random.below(3) == 0 => (vec![0; id_bytes], "null".to_owned()),
        OBJECT => {
            let number = random.below(objects);
            let address = (0x10_000 + 16 * number).to_be_bytes()[8 - id_bytes..].to_vec();
            (address, format!("object {number}"))
        }
        BOOLEAN => (bytes(1), (any as u8 != 0).to_string()),
        5 => (bytes(2), format!("character {}", any as u16)),
        6 => (bytes(4), format!("{:?}", f32::from_bits(any as u32))),
        DOUBLE => (bytes(8), format!("{:?}", f64::from_bits(any))),
        8 => (bytes(1), (any as u8).cast_signed().to_string()),
        9 => (bytes(2), (any as u16).cast_signed().to_string()),
        INT => (bytes(4), (any as u32).cast_signed().to_string()),
        _ => (bytes(8), any.cast_signed().to_string()),
    }
}

/// The fields of an object in a recording. `first` is the number of the first object that is no class.
fn fields_of(heap: &Heap, object: u32, first: u32) -> Fields {
    let tables = heap.recording().tables().expect("tables");
    let words = |held| match held {
        Held::Missing => "missing".to_owned(),
        Held::Unknown => "unknown".to_owned(),
        Held::Null => "null".to_owned(),
        Held::Undefined => panic!("undefined"),
        Held::Object(target) => format!("object {}", target.0 - first),
        Held::Value(FieldValue::Unsigned(value)) => value.to_string(),
        Held::Value(FieldValue::Signed(value)) => value.to_string(),
        Held::Value(FieldValue::Boolean(value)) => value.to_string(),
        Held::Value(FieldValue::Character(value)) => format!("character {value}"),
        Held::Value(FieldValue::Float(value)) => format!("{value:?}"),
        Held::Value(FieldValue::Double(value)) => format!("{value:?}"),
        Held::Value(FieldValue::Text(text)) => tables.string(text).to_owned(),
    };
    let fields = heap.object_fields(ObjectId(object)).expect("fields").into_iter();
    fields
        .filter_map(|field| {
            Some((field.name.to_owned(), tables.type_name(field.declared_by?).to_owned(), words(field.held)))
        })
        .collect()
}

/// Classes that shadow each other's fields, instances of them, static fields, arrays.
#[test]
fn every_field_of_random_dumps_is_as_it_was_written() {
    let kinds = [OBJECT, BOOLEAN, 5, 6, DOUBLE, 8, 9, INT, 11];
    let mut values = 0;
    for seed in 0..100 {
        let mut random = Random::new(seed);
        let id_bytes = if random.below(2) == 0 { 4 } else { 8 };
        let mut dump = Dump::new("1.0.2", id_bytes);
        // Few names, so that subclasses have fields of the names of their superclasses'.
        (0..6).for_each(|name| dump.string(10 + name, &format!("field{name}")));
        let classes = 1 + random.below(6) as usize;
        let mut of_class: Vec<Kind> = Vec::new();
        let objects = 1 + random.below(200);
        let mut expected: Vec<Fields> = Vec::new();
        for class in 0..classes {
            dump.string(100 + class as u64, &format!("Class{class}"));
            dump.load_class(address(class), 100 + class as u64);
            let mut names: Vec<u64> = (0..6).filter(|_| random.below(2) == 0).collect();
            names.truncate(random.below(6) as usize);
            let fields = names.into_iter().map(|name| (10 + name, kinds[random.below(9) as usize])).collect();
            let superclass = (class > 0 && random.below(3) > 0).then(|| random.below(class as u64) as usize);
            of_class.push(Kind { fields, superclass });
        }
        for (class, kind) in of_class.iter().enumerate() {
            let mut statics = Vec::new();
            let mut own = Vec::new();
            let names: Vec<u64> = (0..6).filter(|_| random.below(3) == 0).collect();
            for name in names {
                let kind = kinds[1 + random.below(8) as usize];
                let (bytes, words) = random_value(&mut random, kind, id_bytes, objects);
                own.push((format!("field{name}"), "java.lang.Class".to_owned(), words));
                statics.push((10 + name, kind, bytes));
            }
            own.sort();
            expected.push(own);
            let superclass = kind.superclass.map_or(0, address);
            let class = Class {
                address: address(class),
                superclass,
                statics: &statics,
                fields: &kind.fields,
                ..Class::default()
            };
            dump.class(&class);
        }
        for object in 0..objects {
            let at = 0x10_000 + 16 * object;
            if random.below(8) == 0 {
                let elements: Vec<i32> = (0..random.below(5)).map(|_| random.below(2) as i32 - 1).collect();
                let bytes: Vec<u8> = elements.iter().flat_map(|element| element.to_be_bytes()).collect();
                dump.primitive_array(at, INT, elements.len() as u32, &bytes);
                let field = |name: &str, held: String| (name.to_owned(), "int[]".to_owned(), held);
                let mut own = vec![field("length", elements.len().to_string())];
                if elements.len() > 1 && elements.iter().all(|element| *element == elements[0]) {
                    own.push(field("every", elements[0].to_string()));
                    own.push(field("contents", "unknown".to_owned()));
                } else {
                    let elements: Vec<String> = elements.iter().map(i32::to_string).collect();
                    own.push(field("contents", elements.join(" ")));
                }
                expected.push(own);
                continue;
            }
            let class = random.below(classes as u64) as usize;
            let (mut bytes, mut own) = (Vec::new(), Vec::new());
            let mut next = Some(class);
            while let Some(declaring) = next {
                for &(name, kind) in &of_class[declaring].fields {
                    let (value, words) = random_value(&mut random, kind, id_bytes, objects);
                    bytes.extend(value);
                    own.push((format!("field{}", name - 10), format!("Class{declaring}"), words));
                }
                next = of_class[declaring].superclass;
            }
            dump.instance(at, address(class), &bytes);
            if random.below(20) == 0 {
                dump.segment();
            }
            expected.push(own);
        }
        let dump = dump.end();
        let heap = record(&dump).expect("a whole dump").into_heap();
        for (object, expected) in (0..).zip(&expected) {
            let mut found = fields_of(&heap, object, classes as u32);
            if object < classes as u32 {
                found.sort();
            }
            // Where a class shadows a reference of its superclass and one of both is null, it is not known which.
            let is_reference = |held: &str| held.starts_with("object") || held == "null";
            let ambiguous = |name: &str| {
                let of_name = expected.iter().filter(|(other, _, held)| other == name && is_reference(held));
                let nulls: Vec<bool> = of_name.map(|(.., held)| held == "null").collect();
                nulls.contains(&true) && nulls.contains(&false)
            };
            let known = expected.iter().map(|(name, class, held)| {
                let held = if is_reference(held) && ambiguous(name) { "unknown" } else { held };
                (name.clone(), class.clone(), held.to_owned())
            });
            assert_eq!(found, known.collect::<Fields>(), "object {object}, seed {seed}");
            values += found.len();
        }
        let none = ImportOptions { contents: Contents::None, ..ImportOptions::default() };
        let heap = record_with(&dump, &none).expect("a whole dump").into_heap();
        assert!((0..expected.len() as u32).all(|object| fields_of(&heap, object, 0).is_empty()), "seed {seed}");
    }
    assert!(values > 20_000, "{values} fields were compared");
}

/// A dump may end an instance before its last field.
#[test]
fn what_the_dump_does_not_say_is_not_known() {
    let mut dump = Dump::new("1.0.2", 4);
    [(1, "Pair"), (2, "left"), (3, "right")].into_iter().for_each(|(id, text)| dump.string(id, text));
    dump.load_class(0x100, 1);
    dump.class(&Class { address: 0x100, fields: &[(2, INT), (3, INT)], ..Class::default() });
    dump.instance(0x1000, 0x100, &[0, 0, 0, 7]);
    let heap = record(&dump.end()).expect("a whole dump").into_heap();
    let field = |name: &str, held: &str| (name.to_owned(), "Pair".to_owned(), held.to_owned());
    assert_eq!(fields_of(&heap, 1, 1), [field("left", "7"), field("right", "unknown")]);
}
