//! Imports without contents: names of structure remain, texts do not.

use crate::dump::{Dump, VERSIONS};
use crate::recorded::{Described, Recorded, record_contents};
use crate::samples::{SAMPLES, path};
use barrow_analyzer::StringId;
use barrow_format::frame::SectionType;
use barrow_importers::Contents;
use std::collections::{BTreeSet, HashSet};

/// Types of nodes whose names are texts of the program, or say nothing that its type does not.
const TEXTS: [&str; 6] = ["string", "concatenated string", "sliced string", "regexp", "number", "bigint"];

/// V8 itself names some of its constants.
const CONSTANTS: [&str; 5] = ["true", "false", "null", "undefined", "system / Oddball"];

fn strings(recorded: &Recorded) -> HashSet<String> {
    let tables = recorded.recording.tables().expect("tables");
    (0..tables.string_count() as u32).map(|id| tables.string(StringId(id)).to_owned()).collect()
}

/// The same object without contents.
fn without_contents(mut object: Described) -> Described {
    match &*object.kind {
        kind if TEXTS.contains(&kind) => object.own_name = None,
        // Only elements have a name beside their type's.
        "native" => object.own_name = None,
        "hidden" if CONSTANTS.map(Some).contains(&object.own_name.as_deref()) => object.own_name = None,
        _ => {}
    }
    object
}

/// Everything that names structure in these objects.
fn structure(objects: &[Described]) -> HashSet<&str> {
    let names = objects.iter().flat_map(|object| {
        let labels = object.references.iter().map(|(label, ..)| &**label);
        let own = object.own_name.as_deref().filter(|_| !TEXTS.contains(&&*object.kind));
        labels.chain(own).chain([&*object.name, &*object.kind])
    });
    names.collect()
}

#[test]
fn without_contents_names_remain_and_texts_do_not() {
    for (name, _) in SAMPLES {
        let sample = path(&format!("{name}.heapsnapshot.zst"));
        let all = record_contents(&sample, 2, Contents::All).expect("a whole snapshot");
        let mut sizes = Vec::new();
        for threads in [1, 3] {
            let none = record_contents(&sample, threads, Contents::None).expect("a whole snapshot");
            let expected: Vec<_> = all.objects().into_iter().map(without_contents).collect();
            for (found, expected) in none.objects().into_iter().zip(&expected) {
                assert!(found.own_name.is_none() || !TEXTS.contains(&&*found.kind), "{name}: {found:?}");
                assert_eq!(without_contents(found), *expected, "{name}");
            }
            let (recorded, kept) = (strings(&none), structure(&expected));
            let objects = all.objects();
            let texts =
                objects.iter().filter(|object| object.kind == "string").filter_map(|object| object.own_name.as_deref());
            let texts: HashSet<&str> = texts.filter(|text| !kept.contains(text)).collect();
            assert!(texts.len() > 1_000, "{name}: {}", texts.len());
            let left: Vec<_> = texts.into_iter().filter(|&text| recorded.contains(text)).collect();
            // Places of types name scripts and columns; other words are the importer's own.
            let is_other = |text: &str| {
                let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
                let words = ["root", "column"].iter().chain(&CONSTANTS).chain(&TEXTS);
                is_number || words.into_iter().any(|&word| word == text) || is_script(&objects, text)
            };
            assert!(left.iter().all(|text| is_other(text)), "{name}: {left:?}");
            sizes.push(none.recording.length_bytes());
        }
        println!("{name}: {} bytes with contents, {sizes:?} without", all.recording.length_bytes());
    }
}

fn is_script(objects: &[Described], text: &str) -> bool {
    let places = objects.iter().filter_map(|object| object.place.as_ref());
    places.clone().any(|(file, _)| file == text)
        || objects.iter().flat_map(|object| &object.site).any(|site| site.contains(text))
}

#[test]
fn no_text_is_in_a_recording_without_contents() {
    let mut dump = Dump::default();
    let root = dump.node("synthetic", "", 1, 0);
    let holder = dump.node("object", "Holder", 3, 24);
    dump.edge(root, "internal", "holder", holder);
    for kind in TEXTS {
        let text = dump.node(kind, &format!("secret {kind}"), 0, 16);
        dump.edge(holder, "property", kind, text);
        dump.edge(text, "internal", "value", text);
    }
    // One string of the dump is a text and the name of a property.
    let shared = dump.node("string", "both", 0, 16);
    dump.edge(holder, "property", "both", shared);
    let element = dump.node("native", r#"<div id=\"secret\">"#, 0, 40);
    dump.edge(holder, "weak", "element", element);
    let function = dump.node("closure", "run", 0, 32);
    dump.numbered(holder, "element", 7, function);
    let number = dump.node("number", "heap number", 0, 12);
    let said = dump.node("string", "424242", 0, 12);
    dump.edge(number, "internal", "value", said);
    dump.samples = vec![[0, 1], [50_000, 3], [60_000, 99]];
    for version in VERSIONS {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), dump.text(version)).expect("written");
        let all = record_contents(file.path(), 2, Contents::All).expect("a whole snapshot");
        let none = record_contents(file.path(), 2, Contents::None).expect("a whole snapshot");
        let secrets = |recorded: &Recorded| {
            let strings = strings(recorded);
            let secrets = strings.into_iter().filter(|text| text.contains("secret") || text.contains("424242"));
            secrets.collect::<BTreeSet<_>>()
        };
        assert_eq!(secrets(&all).len(), TEXTS.len() + 2);
        assert_eq!(secrets(&none), BTreeSet::new(), "{version:?}");
        assert_eq!(none.totals(), all.totals());
        let objects = none.objects();
        assert_eq!(objects[shared as usize].own_name, None);
        assert_eq!(objects[element as usize].name, "<div>");
        assert_eq!(objects[function as usize].own_name.as_deref(), Some("run"));
        let labels: Vec<_> = objects[holder as usize].references.iter().map(|(label, ..)| &**label).collect();
        let expected = [&TEXTS[..], &["both", "element", "[7]"]].concat();
        assert_eq!(labels, expected);
        let frames = barrow_analyzer::raw::Frames::of(&none.recording);
        assert!(frames.tables().iter().all(|&(section, _)| section != SectionType::FIELDS), "no field has a value");
    }
}
