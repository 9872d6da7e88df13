//! Contents of arrays of numbers and characters: dumps made at random, each array compared.

use std::collections::BTreeMap;

use barrow_analyzer::{FieldValue, Heap, Held, ObjectId};
use barrow_importers::Contents;
use barrow_testdata::Random;

use crate::dump::{Class, Dump, OBJECT};
use crate::read::record_with;
use crate::texts::with_contents;

/// The primitive types: code, name, bytes of an element.
const KINDS: [(u8, &str, usize); 8] = [
    (4, "boolean", 1),
    (5, "char", 2),
    (6, "float", 4),
    (7, "double", 8),
    (8, "byte", 1),
    (9, "short", 2),
    (10, "int", 4),
    (11, "long", 8),
];

/// Each array of a primitive type in a recording: its object, and `int[] 3 elements 1 2 3`, `char[] 2 text ab` or `int[] 3
/// every`.
pub(crate) fn held_arrays(heap: &Heap) -> Vec<(u32, String)> {
    let tables = heap.recording().tables().expect("tables");
    let mut lines = Vec::new();
    for number in 0..heap.object_count() as u32 {
        let (object, snapshot) = (ObjectId(number), heap.snapshot());
        let described = barrow_analyzer::object(heap.recording(), snapshot, object).expect("the object");
        let name = tables.type_name(described.type_id);
        if !KINDS.iter().any(|(_, kind, _)| name.strip_suffix("[]") == Some(kind)) {
            continue;
        }
        let fields = heap.object_fields(object).expect("fields");
        let held = |name: &str| {
            let field = fields.iter().find(|field| field.name == name);
            field.map(|field| field.held).filter(|held| *held != Held::Unknown)
        };
        let Some(Held::Value(FieldValue::Unsigned(length))) = held("length") else { panic!("no length") };
        let words = match (described.name, held("contents"), held("every")) {
            (Some(text), None, None) => format!("text {}", tables.string(text)),
            (None, Some(Held::Value(FieldValue::Text(text))), None) => in_words(tables.string(text)),
            (None, None, Some(_)) => "every".to_owned(),
            (None, None, None) => "nothing".to_owned(),
            other => panic!("{other:?}"),
        };
        lines.push((number, format!("{name} {length} {words}")));
    }
    lines
}

fn in_words(elements: &str) -> String {
    if elements.is_empty() { "elements".to_owned() } else { format!("elements {elements}") }
}

/// The same by definition. The elements are `width` bytes each.
fn expected(kind: &str, elements: &[Vec<u8>]) -> String {
    let start = format!("{kind}[] {}", elements.len());
    if elements.len() > 1 && elements.iter().all(|element| *element == elements[0]) {
        return format!("{start} every");
    }
    let zeros = elements.iter().rev().take_while(|element| element.iter().all(|&byte| byte == 0)).count();
    let used = elements[..elements.len() - zeros].concat();
    let text = match kind {
        "byte" => String::from_utf8(used.clone()).ok().filter(|_| used.len() >= 4),
        "char" => {
            let units: Vec<u16> = used.chunks(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect();
            String::from_utf16(&units).ok().filter(|text| !text.is_empty())
        }
        _ => None,
    };
    let is_of_texts = |character: char| !character.is_control() || "\t\n\r\u{c}".contains(character);
    if let Some(text) = text.filter(|text| text.chars().all(is_of_texts)) {
        let unused = match zeros {
            0 => String::new(),
            1 => "… (1 zero)".to_owned(),
            _ => format!("… ({zeros} zeros)"),
        };
        return format!("{start} text {text}{unused}");
    }
    let words = elements.iter().map(|element| {
        let mut bits = [0; 8];
        bits[8 - element.len()..].copy_from_slice(element);
        let bits = u64::from_be_bytes(bits);
        match kind {
            "boolean" => u8::from(bits != 0).to_string(),
            "char" => bits.to_string(),
            "byte" => format!("{bits:02x}"),
            "float" => format!("{:?}", f32::from_bits(bits as u32)),
            "double" => format!("{:?}", f64::from_bits(bits)),
            "short" => (bits as i16).to_string(),
            "int" => (bits as i32).to_string(),
            _ => (bits as i64).to_string(),
        }
    });
    format!("{start} {}", in_words(&words.collect::<Vec<String>>().join(" ")))
}

#[test]
fn every_array_of_random_dumps_is_as_it_was_written() {
    let mut kinds_of_words: BTreeMap<String, u32> = BTreeMap::new();
    for seed in 0..100 {
        let mut random = Random::new(seed);
        let mut dump = Dump::new("1.0.2", if random.below(2) == 0 { 4 } else { 8 });
        let mut lines = Vec::new();
        for number in 0..1 + random.below(300) {
            let (code, kind, width) = KINDS[random.below(8) as usize];
            // Elements of any bits, small ones, letters, few different ones; some with zeros behind.
            let style = random.below(4);
            let mut elements: Vec<Vec<u8>> = (0..random.below(12))
                .map(|_| {
                    let bits = match style {
                        0 => random.next(),
                        1 => random.below(0x120),
                        2 => 0x20 + random.below(0x5f),
                        _ => random.below(2),
                    };
                    bits.to_be_bytes()[8 - width..].to_vec()
                })
                .collect();
            if random.below(3) == 0 {
                elements.extend(vec![vec![0; width]; random.below(9) as usize]);
            }
            dump.primitive_array(0x1000 + 8 * number, code, elements.len() as u32, &elements.concat());
            lines.push((number as u32, expected(kind, &elements)));
            if random.below(50) == 0 {
                dump.segment();
            }
        }
        let heap = record_with(&dump.end(), &with_contents(Contents::All)).expect("a whole dump").into_heap();
        let held = held_arrays(&heap);
        assert_eq!(held.len(), lines.len());
        for ((number, held), (expected_number, line)) in held.into_iter().zip(lines) {
            assert_eq!((number, &held), (expected_number, &line), "seed {seed}");
            let words = line.split(' ').nth(2).expect("words");
            *kinds_of_words.entry(words.to_owned()).or_default() += 1;
        }
    }
    assert!(kinds_of_words.len() == 3 && kinds_of_words.values().all(|&count| count > 300), "{kinds_of_words:?}");
}

#[test]
fn arrays_of_strings_and_arrays_without_contents_hold_nothing_of_their_own() {
    let mut dump = Dump::new("1.0.2", 4);
    [(1, "java/lang/String"), (2, "value")].into_iter().for_each(|(id, text)| dump.string(id, text));
    dump.load_class(0x100, 1);
    dump.class(&Class { address: 0x100, fields: &[(2, OBJECT)], ..Class::default() });
    dump.primitive_array(0x1000, 8, 5, b"first");
    dump.instance(0x1010, 0x100, &[0, 0, 0x10, 0x20]);
    dump.primitive_array(0x1020, 8, 6, b"second");
    let dump = dump.end();
    let lines = |contents| {
        let heap = record_with(&dump, &with_contents(contents)).expect("a whole dump").into_heap();
        held_arrays(&heap).into_iter().map(|(_, line)| line).collect::<Vec<String>>()
    };
    assert_eq!(lines(Contents::default()), ["byte[] 5 text first", "byte[] 6 nothing"]);
    let recorded = record_with(&dump, &with_contents(Contents::None)).expect("a whole dump");
    assert_eq!(recorded.named("first"), Vec::<&str>::new());
}
