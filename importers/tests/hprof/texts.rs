//! Texts of strings: dumps made by hand and at random.

use barrow_importers::{Contents, ImportOptions};
use barrow_testdata::Random;

use crate::dump::{BYTE, CHAR, Class, Dump, INT, OBJECT};
use crate::read::{Recorded, record, record_with};

/// The layout of strings in a JVM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// Up to JDK 6: part of a `char[]`.
    Part,
    /// A whole `char[]`.
    Characters,
    /// Bytes and how they are coded; two bytes of a character in the order of the machine.
    Bytes { is_big_endian: bool },
    /// Android: bytes if all characters fit, and no word about it.
    Android,
}

const LAYOUTS: [Layout; 5] = [
    Layout::Part,
    Layout::Characters,
    Layout::Bytes { is_big_endian: false },
    Layout::Bytes { is_big_endian: true },
    Layout::Android,
];
const STRING: u64 = 0x100;

/// A dump that holds nothing but strings and their arrays.
struct Strings {
    dump: Dump,
    layout: Layout,
    next: u64,
}

impl Strings {
    fn new(layout: Layout, id_bytes: usize) -> Self {
        let mut dump = Dump::new("1.0.2", id_bytes);
        let names = [
            (1, "java/lang/String"),
            (2, "java/lang/StringUTF16"),
            (3, "value"),
            (4, "coder"),
            (5, "offset"),
            (6, "count"),
            (7, "hash"),
            (8, "HI_BYTE_SHIFT"),
            (9, "LO_BYTE_SHIFT"),
        ];
        names.iter().for_each(|&(id, text)| dump.string(id, text));
        dump.load_class(STRING, 1);
        dump.load_class(0x108, 2);
        let fields: &[(u64, u8)] = match layout {
            Layout::Part => &[(7, INT), (3, OBJECT), (5, INT), (6, INT)],
            Layout::Characters => &[(3, OBJECT), (7, INT)],
            Layout::Bytes { .. } => &[(7, INT), (4, BYTE), (3, OBJECT)],
            // Its `count` is no number of characters, and it has no `offset`.
            Layout::Android => &[(6, INT), (7, INT), (3, OBJECT)],
        };
        dump.class(&Class { address: STRING, fields, ..Class::default() });
        let shift = |is_shifted| if is_shifted { vec![0, 0, 0, 8] } else { vec![0; 4] };
        let is_big_endian = layout == Layout::Bytes { is_big_endian: true };
        let statics = [(9, INT, shift(!is_big_endian)), (8, INT, shift(is_big_endian))];
        dump.class(&Class { address: 0x108, statics: &statics, ..Class::default() });
        Strings { dump, layout, next: 0x1000 }
    }

    fn address(&mut self) -> u64 {
        self.next += 8;
        self.next
    }

    /// Adds the array of a string and then, or before it, the string itself.
    fn add(&mut self, units: &[u16], is_array_first: bool) {
        let (array, string) = (self.address(), self.address());
        if is_array_first {
            self.array(array, units);
        }
        self.string(string, array, units);
        if !is_array_first {
            self.array(array, units);
        }
    }

    fn is_wide(units: &[u16]) -> bool {
        units.iter().any(|&unit| unit > 0xff)
    }

    fn string(&mut self, address: u64, array: u64, units: &[u16]) {
        let (array, int) = (self.dump.id(array), |value: u32| value.to_be_bytes().to_vec());
        let count = units.len() as u32;
        let fields = match self.layout {
            Layout::Part => [int(77), array, int(2), int(count)].concat(),
            Layout::Characters => [array, int(77)].concat(),
            Layout::Bytes { .. } => [int(77), vec![u8::from(Self::is_wide(units))], array].concat(),
            Layout::Android => [int(count << 1 | 1), int(77), array].concat(),
        };
        self.dump.instance(address, STRING, &fields);
    }

    fn array(&mut self, address: u64, units: &[u16]) {
        let of = |bytes: fn(u16) -> [u8; 2]| units.iter().copied().flat_map(bytes).collect::<Vec<u8>>();
        let narrow: Vec<u8> = units.iter().map(|&unit| unit as u8).collect();
        let (kind, elements) = match self.layout {
            // There is something before it and behind.
            Layout::Part => (CHAR, [vec![0, b'<', 0, b'<'], of(u16::to_be_bytes), vec![0, b'>']].concat()),
            Layout::Characters => (CHAR, of(u16::to_be_bytes)),
            _ if !Self::is_wide(units) => (BYTE, narrow),
            Layout::Bytes { is_big_endian: true } => (BYTE, of(u16::to_be_bytes)),
            Layout::Bytes { is_big_endian: false } => (BYTE, of(u16::to_le_bytes)),
            Layout::Android => (CHAR, of(u16::to_be_bytes)),
        };
        let count = if kind == CHAR { elements.len() / 2 } else { elements.len() };
        self.dump.primitive_array(address, kind, count as u32, &elements);
    }
}

/// The texts of all strings, in the order of the dump.
pub(crate) fn texts(recorded: &Recorded) -> Vec<Option<String>> {
    let is_string = |line: &String| line.starts_with("java.lang.String(");
    let objects = recorded.objects();
    let strings = (0..).zip(&objects).filter(|(_, line)| is_string(line));
    strings.map(|(number, _)| recorded.name(number)).collect()
}

/// The text of these units in a recording: half of a pair of surrogates is an escape.
pub(crate) fn expected(units: &[u16]) -> String {
    let character = |unit: Result<char, std::char::DecodeUtf16Error>| match unit {
        Ok(character) => character.to_string(),
        Err(lone) => format!("\\u{:04X}", lone.unpaired_surrogate()),
    };
    char::decode_utf16(units.iter().copied()).map(character).collect()
}

#[test]
fn random_strings_say_what_they_say() {
    for seed in 0..100 {
        let mut random = Random::new(seed);
        let layout = LAYOUTS[seed as usize % LAYOUTS.len()];
        let mut dump = Strings::new(layout, if random.below(2) == 0 { 4 } else { 8 });
        // Several chunks' worth of places in some.
        let count = if seed % 20 == 0 { 20_000 } else { random.below(200) };
        let mut all = Vec::new();
        for _ in 0..count {
            let most = [0x7f, 0xff, 0xffff][random.below(3) as usize];
            let units: Vec<u16> = (0..random.below(30)).map(|_| random.below(most + 1) as u16).collect();
            dump.add(&units, random.below(2) == 0);
            all.push(Some(expected(&units)));
            if random.below(50) == 0 {
                dump.dump.segment();
            }
        }
        let recorded = record(&dump.dump.end());
        if count == 0 {
            continue;
        }
        assert_eq!(texts(&recorded.expect("a whole dump")), all, "{layout:?}, seed {seed}");
    }
}

pub(crate) fn with_contents(contents: Contents) -> ImportOptions {
    ImportOptions { contents, ..ImportOptions::default() }
}

#[test]
fn long_texts_are_shortened_and_none_are_recorded_on_request() {
    for layout in LAYOUTS {
        let mut strings = Strings::new(layout, 8);
        let units = |text: &str| text.encode_utf16().collect::<Vec<u16>>();
        let (fits, long, wide) = ("x".repeat(200), "y".repeat(201), "€".repeat(100));
        for text in [&fits, &long, &wide] {
            strings.add(&units(text), true);
        }
        let dump = strings.dump.end();
        let recorded = record_with(&dump, &with_contents(Contents::Texts(200))).expect("a whole dump");
        let shortened = [
            fits.clone(),
            format!("{}… (201 characters)", "y".repeat(136)),
            format!("{}… (100 characters)", "€".repeat(45)),
        ];
        assert_eq!(texts(&recorded), shortened.map(Some), "{layout:?}");
        let note = "texts that take more than 200 bytes, of which the beginning is kept: 2";
        assert!(recorded.imported.notes.contains(&note.to_owned()), "{:?}", recorded.imported.notes);
        let recorded = record_with(&dump, &with_contents(Contents::None)).expect("a whole dump");
        assert_eq!(texts(&recorded), [None, None, None], "{layout:?}");
    }
}

#[test]
fn strings_without_characters_have_no_text() {
    for layout in LAYOUTS {
        let mut strings = Strings::new(layout, 4);
        let narrow = [u16::from(b'a')];
        // Null: such a string has no characters, so none are missing.
        strings.string(0x2000, 0, &narrow);
        // No array at that address; one that is too short for a part; an object that is no array of characters.
        strings.string(0x2010, 0x9000, &narrow);
        strings.string(0x2020, 0x2000, &narrow);
        strings.string(0x2030, 0x3000, &narrow);
        strings.dump.primitive_array(0x3000, INT, 1, &[0, 0, 0, 9]);
        let mut missing = 3;
        if layout == Layout::Part {
            strings.string(0x2040, 0x3010, &[0; 7]);
            strings.dump.primitive_array(0x3010, CHAR, 8, &[0; 16]);
            missing += 1;
        }
        let recorded = record(&strings.dump.end()).expect("a whole dump");
        assert_eq!(texts(&recorded), vec![None; 1 + missing], "{layout:?}");
        let note = format!("strings whose characters are not in the dump, or too many: {missing}");
        assert!(recorded.imported.notes.contains(&note), "{:?}", recorded.imported.notes);
    }
}

/// Each string of a hostile dump says the same, and a long thing.
#[test]
fn texts_that_share_an_array_do_not_grow_without_bounds() {
    let mut strings = Strings::new(Layout::Characters, 4);
    let array = strings.address();
    let units = vec![u16::from(b'x'); 500_000];
    strings.array(array, &units);
    for _ in 0..1000 {
        let string = strings.address();
        strings.string(string, array, &units);
    }
    let recorded = record(&strings.dump.end()).expect("a whole dump");
    let missing = texts(&recorded).iter().filter(|text| text.is_none()).count();
    // 16 times the dump's megabyte, and 64 MiB.
    assert!((750..950).contains(&missing), "{missing} have no text");
    let note = format!("strings whose characters are not in the dump, or too many: {missing}");
    assert!(recorded.imported.notes.contains(&note), "{:?}", recorded.imported.notes);
}
