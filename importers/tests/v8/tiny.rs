//! Snapshots made by hand: every field of the format has its place in a recording.

use crate::dump::{Dump, VERSIONS, Version, tiny};
use crate::recorded::{Described, record, record_file};
use barrow_analyzer::{KindRole, ObjectId, StrengthClass};
use barrow_importers::{ImportOptions, Silent, totals};
use barrow_writer::{Options, Writer};

fn described(kind: &str, name: &str, size: u64, serial: u64, references: &[(&str, StrengthClass, u32)]) -> Described {
    let references = references.iter().map(|&(label, class, target)| (label.to_owned(), class, target)).collect();
    Described {
        kind: kind.into(),
        role: if kind == "synthetic" { KindRole::Root } else { KindRole::Object },
        name: name.into(),
        own_name: None,
        place: None,
        size,
        serial: Some(serial),
        site: Vec::new(),
        references,
    }
}

fn named(object: Described, name: &str) -> Described {
    Described { own_name: Some(name.to_owned()), ..object }
}

fn expected(version: Version) -> Vec<Described> {
    use StrengthClass::{Ephemeron, Strong, Weak};
    // Only one version has traces, and so names of scripts.
    let script = if version == Version::Now { "cards.js" } else { "script 70" };
    let placed = |object: Described, line| Described {
        place: (version != Version::Old).then(|| (script.to_owned(), line)),
        ..object
    };
    let sited = |object: Described, versions: &[Version], site: &[&str]| {
        let site = if versions.contains(&version) { site } else { &[] };
        Described { site: site.iter().map(|&title| title.replace("SCRIPT", script)).collect(), ..object }
    };
    let now = &[Version::Now];
    let detached = |name: &str| if version == Version::Old { name.to_owned() } else { format!("Detached {name}") };
    let main = "main (cards.js:1), column Some(1)";
    let of_card = [("[0]", Strong, 6), ("[1]", Strong, 7), ("key", Strong, 11), ("[3]", Strong, 4)];
    let of_window =
        [("card", Strong, 4), ("12", Strong, 5), ("table", Strong, 10), ("[7]", Weak, 13), ("map", Strong, 3)];
    let of_table = [("[1]", Weak, 12), ("[0]", Weak, 11), ("value in WeakMap", Ephemeron, 12)];
    vec![
        described("synthetic", "(root)", 0, 1, &[("[1]", Strong, 2), ("[1]", Strong, 1)]),
        described("synthetic", "(GC roots)", 0, 3, &[("1 / (builtins)", Strong, 3)]),
        described("object", "Window", 48, 5, &of_window),
        named(described("object shape", "(object shape)", 80, 7, &[]), "system / Map"),
        sited(
            placed(described("object", "Card", 24, 9, &of_card), 12),
            now,
            &["(anonymous) (script 71), column None", main],
        ),
        placed(described("object", "Card", 32, 11, &[]), 13),
        // The root of the traces is no site.
        named(described("string", "(string)", 16, 13, &[]), "größer 😀 \u{fffd} \n"),
        named(
            sited(
                described("closure", "Function", 64, 15, &[("bound_this", Weak, 13), ("native", Strong, 8)]),
                &[Version::Now, Version::Later],
                &["SCRIPT:4, column Some(10)"],
            ),
            "deal",
        ),
        named(described("native", &detached("<div>"), 100, 17, &[("next", Strong, 9)]), r#"<div id="a">"#),
        named(described("native", &detached("<div>"), 200, 19, &[]), r#"<div class="b">"#),
        described("array", "(array)", 400, 21, &of_table),
        sited(described("object", "Key", 12, 23, &[("value in WeakMap", Weak, 12)]), now, &[main]),
        described("object", "Value", 13, 25, &[]),
        named(described("hidden", "(system)", 14, 27, &[]), "system / Cell"),
    ]
}

#[test]
fn every_field_arrives_whatever_the_version() {
    for version in VERSIONS {
        let text = tiny().text(version);
        let recorded = record(text.as_bytes()).unwrap_or_else(|error| panic!("{version:?}: {error}\n{text}"));
        assert_eq!(recorded.imported.lost, None, "{version:?}");
        let notes = &recorded.imported.notes;
        assert!(matches!(&notes[..], [note] if note.starts_with("1 strings hold halves")), "{notes:?}");
        assert_eq!(recorded.imported.format.to_string(), "V8 heap snapshot");
        for (object, expected) in recorded.objects().iter().zip(expected(version)) {
            assert_eq!(*object, expected, "{version:?}");
        }
        let totals = recorded.totals();
        assert_eq!((totals.objects, totals.references, totals.roots), (14, 19, 1));
        assert_eq!((totals.heap_bytes, totals.unmanaged_bytes), (1003, 0));
    }
}

#[test]
fn what_only_weak_references_lead_to_is_not_reachable() {
    let recorded = record(tiny().text(Version::Now).as_bytes()).expect("a whole snapshot");
    let heap = recorded.heap();
    let dominators = heap.dominators(&barrow_analyzer::Silent).expect("dominators");
    let unreachable = (0..14).map(ObjectId).filter(|&object| !dominators.is_reachable(object)).collect::<Vec<_>>();
    assert_eq!(unreachable, [ObjectId(13)]);
    // The value follows its key, as in DevTools; since it needs the table, too, that is a lower bound.
    assert_eq!(dominators.retained_bytes(ObjectId(11)), 12 + 13);
    assert_eq!(dominators.retained_bytes(ObjectId(10)), 400);
    assert!(!dominators.is_exact());
    assert_eq!(dominators.retained_bytes(ObjectId(0)), 1003 - 14);
}

#[test]
fn an_entry_whose_key_is_not_there_is_strong() {
    let mut dump = tiny();
    let name = dump.strings.iter().position(|name| name.starts_with("1 / part of key")).expect("a name");
    dump.strings[name] = dump.strings[name].replace("@23", "@99");
    let recorded = record(dump.text(Version::Now).as_bytes()).expect("a whole snapshot");
    let table = &recorded.objects()[10];
    let value = ("value in WeakMap".to_owned(), StrengthClass::Strong, 12);
    assert_eq!(table.references.iter().find(|reference| reference.0 == value.0), Some(&value));
}

/// V8 writes the entries' names on edges; a program can have any text, which only is a string of the snapshot.
#[test]
fn a_text_of_the_program_weakens_and_strengthens_nothing() {
    let dump = |id: Option<u64>| {
        let mut dump = Dump::default();
        let root = dump.node("synthetic", "", 1, 0);
        let others = [("number", "heap number", 3), ("hidden", "true", 5), ("string", "a", 7), ("object", "Other", 9)];
        let others = others.map(|(type_, name, id)| dump.node(type_, name, id, 8));
        let table = dump.node("array", "", 11, 400);
        let key = dump.node("object", "Key", 13, 12);
        let value = dump.node("object", "Value", 15, 1000);
        others.into_iter().chain([table, key]).for_each(|to| dump.edge(root, "property", "global", to));
        dump.edge(table, "weak", "0", key);
        dump.edge(table, "weak", "1", value);
        for (from, number) in [(table, 1), (key, 2)] {
            let entry = format!("{number} / part of key (Key @13) -> value (Value @15) pair in WeakMap (table @11)");
            dump.edge(from, "internal", &entry, value);
        }
        if let Some(id) = id {
            dump.string(&format!("0 / part of key (a @1) -> value (b @1) pair in WeakMap (table @{id})"));
        }
        record(dump.text(Version::Now).as_bytes()).expect("a whole snapshot")
    };
    let expected = dump(None).objects();
    assert_eq!(expected[5].references[2], ("value in WeakMap".to_owned(), StrengthClass::Ephemeron, 7));
    for id in (1..=17).step_by(2) {
        assert_eq!(dump(Some(id)).objects(), expected, "@{id}");
    }
}

/// As of a snapshot of 2015, whose nodes have the type 12, a symbol, and whose description ends at 11.
#[test]
fn types_without_a_name_are_one_kind() {
    let text = tiny().text(Version::Now);
    let cut = text.replace(r#", "symbol", "bigint", "object shape"]"#, "]").replace(r#", "shortcut", "weak"]"#, "]");
    assert!(cut.len() < text.len() - 30, "{text}");
    let recorded = record(cut.as_bytes()).expect("a whole snapshot");
    assert_eq!(recorded.imported.lost, None);
    let whole = record(text.as_bytes()).expect("a whole snapshot");
    assert_eq!((recorded.totals().objects, recorded.totals().references), (14, whole.totals().references));
    let notes = &recorded.imported.notes;
    for note in
        ["nodes of a type that the snapshot does not name: 1", "edges of a type that the snapshot does not name: 5"]
    {
        assert!(notes.iter().any(|found| found == note), "{notes:?}");
    }
    assert_eq!(recorded.objects()[3].kind, "unnamed type");
    // The first answer counts and does not import: it says the same.
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), &cut).expect("written");
    let writer = Writer::to_stream(Box::new(std::io::sink()), Options::default()).expect("writing to nowhere");
    let counted = totals(file.path(), &writer, &ImportOptions::default(), &Silent).expect("a dump").expect("counts");
    let unnamed = |notes: &[String]| notes.iter().filter(|note| note.contains("not name")).cloned().collect::<Vec<_>>();
    assert_eq!((unnamed(&counted.notes), unnamed(notes).len()), (unnamed(notes), 2));
}

#[test]
fn what_other_tools_did_to_the_text_does_not_matter() {
    let text = tiny().text(Version::Now);
    let expected = record(text.as_bytes()).expect("a whole snapshot").objects();
    let marked = format!("\u{feff}{text}");
    // As `jq -S` writes it. A map of serde_json is sorted.
    let sorted: std::collections::BTreeMap<String, serde_json::Value> =
        serde_json::from_str(&text.replace(r"\ud83d \n", r"\ufffd \n")).expect("JSON");
    let sorted = serde_json::to_string_pretty(&sorted).expect("JSON");
    assert!(sorted.starts_with("{\n  \"edges\""), "{}", &sorted[..40]);
    // As a tool that keeps an unordered map may write it.
    let keys: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&sorted).expect("JSON");
    let first = |first: &str| {
        let others = keys.keys().map(String::as_str).filter(|key| *key != first);
        let fields: Vec<String> =
            std::iter::once(first).chain(others).map(|key| format!("\"{key}\":{}", keys[key])).collect();
        format!("{{{}}}", fields.join(","))
    };
    for text in [&marked, &sorted, &first("strings"), &first("nodes")] {
        let recorded = record(text.as_bytes()).expect("a whole snapshot");
        assert_eq!(recorded.imported.lost, None);
        assert_eq!(recorded.objects(), expected);
    }
}

#[test]
fn what_follows_a_snapshot_is_noted() {
    let text = tiny().text(Version::Now);
    for (rest, what) in [(text.as_str(), "another snapshot"), ("\n[1]", "something else")] {
        let recorded = record(format!("{text}\n{rest}\n").as_bytes()).expect("a whole snapshot");
        assert_eq!(recorded.totals().objects, 14);
        let notes = &recorded.imported.notes;
        assert!(notes.iter().any(|note| note.starts_with(&format!("{what} follows at byte "))), "{notes:?}");
    }
}

#[test]
fn an_empty_snapshot_holds_none() {
    for version in VERSIONS {
        let error = record(Dump::default().text(version).as_bytes()).err().expect("nothing to import");
        let expected = format!("the dump of {} bytes holds no snapshot", Dump::default().text(version).len());
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn long_strings_are_shortened() {
    let mut dump = tiny();
    let long = "ä".repeat(600_000);
    let row = dump.node("object", &long, 99, 1);
    dump.edge(2, "property", &long, row);
    let recorded = record(dump.text(Version::Now).as_bytes()).expect("a whole snapshot");
    assert!(recorded.imported.notes.iter().any(|note| note.contains("too long for a recording: 1;")));
    let name = &recorded.objects()[14].name;
    assert!(name.starts_with(&long[..1_000_000]) && name.ends_with(" bytes left out)"));
}

#[test]
fn lying_counts_are_noted() {
    let text = tiny().text(Version::Now).replace("\"node_count\":14", "\"node_count\":123456789012");
    let recorded = record(text.as_bytes()).expect("a whole snapshot");
    assert!(
        recorded
            .imported
            .notes
            .contains(&"the dump claims to have 123456789012 nodes; the 14 that are there were imported".to_owned())
    );
}

#[test]
fn what_contradicts_itself_is_refused_with_its_place() {
    let dump = tiny();
    let (text, strings) = (dump.text(Version::Now), dump.strings.len());
    let one = dump.strings.iter().position(|string| string == "1").expect("a name");
    let first_edge = |target: u64| format!("\"edges\":[5,{one},{target}\n");
    let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part} is in\n{text}")) + part.len();
    let nodes = at("\"nodes\":[");
    let edges = at("\"edges\":[");
    let second = at("\n,9,2,3") - 5;
    for (from, to, message) in [
        (
            "\n,9,2,3,0,1,0,0",
            "\n,9,2,3,0,0,0,0",
            format!("the edges of all nodes at byte {edges}: 18 expected, 19 found"),
        ),
        (
            "\n,9,2,3,0,1,0,0",
            "\n,9,2,3,0,70,0,0",
            format!("the edges of a node at byte {second} is 70, the limit is 19"),
        ),
        (
            "\n,9,2,3,0,1,0,0",
            "\n,9,2,3,0,1,0",
            format!("the numbers of the nodes at byte {nodes}: 98 expected, 97 found"),
        ),
        (
            "\n,9,2,3,0,1,0,0",
            "\n,9,999,3,0,1,0,0",
            format!("the number of a string at byte {second} is 999, the limit is {strings}"),
        ),
        ("\n,9,2,3,0,1,0,0", "\n,9,2,3,\"\",1,0,0", format!("'\"' at byte {}, expected a number", second + 6)),
        (
            &*first_edge(14),
            &*first_edge(15),
            format!("the node that an edge leads to at byte {edges} is 15, the limit is 98"),
        ),
        (
            &*first_edge(14),
            &*first_edge(98),
            format!("the node that an edge leads to at byte {edges} is 98, the limit is 98"),
        ),
    ] {
        assert!(text.contains(from), "{from} is in\n{text}");
        let error = record(text.replacen(from, to, 1).as_bytes()).err().expect("damaged");
        assert_eq!(error.to_string(), format!("no whole snapshot: {message}"), "{from:?} → {to:?}");
    }
}

#[test]
fn damage_after_the_edges_costs_names_and_places_only() {
    let text = tiny().text(Version::Now);
    let whole = record(text.as_bytes()).expect("whole");
    let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part} is in\n{text}")) + part.len();
    for (from, to, message) in [
        (
            "\"locations\":[49,",
            "\"locations\":[490,",
            format!("the node of a location at byte {} is 70, the limit is 14", at("\"locations\":[")),
        ),
        (
            "\"Card\",",
            "\"Card\";",
            format!("';' at byte {}, expected a comma or the end of the strings", at("\"Card\"")),
        ),
        (
            "[3,2,1,24,[]]",
            "[3,2,1,24,25,[]]",
            format!("'2' at byte {}, expected a node of the trace tree", at("[3,2,1,24,")),
        ),
        ("[3,2,1,24,[]]", "[3,2,[]]", format!("'[' at byte {}, expected a node of the trace tree", at("[3,2,"))),
        ("[3,2,1,24,[]]", "[3,2,x]", format!("'x' at byte {}, expected a number", at("[3,2,"))),
    ] {
        assert!(text.contains(from), "{from} is in\n{text}");
        let recorded = record(text.replacen(from, to, 1).as_bytes()).expect("most of it");
        let lost = recorded.imported.lost.as_ref().expect("a loss").to_string();
        assert!(lost.starts_with(&message), "{lost}");
        assert_eq!(recorded.totals(), whole.totals());
    }
}

/// JSON texts that differ in a few bytes compress a hundredfold.
#[test]
fn many_strings_that_are_nearly_equal() {
    let text = |number: u32| format!("{number:08}{}", " row of a table".repeat(22));
    let mut dump = Dump::default();
    dump.string("<dummy>");
    let root = dump.node("synthetic", "", 1, 0);
    let map = dump.node("object", "Map", 3, 32);
    dump.numbered(root, "element", 1, map);
    dump.strings.extend((0..55_000).map(text));
    let first = dump.strings.len() as u64 - 55_000;
    for number in 0..55_000 {
        let row = dump.named_node("string", first + number, 5 + 2 * number, 360);
        dump.numbered(map, "element", number, row);
    }
    let recorded = record(dump.text(Version::Now).as_bytes()).expect("a whole snapshot");
    let recording = recorded.recording;
    assert!(recording.length_bytes() < 1 << 20, "{}", recording.length_bytes());
    assert_eq!(barrow_analyzer::verify(&recording, &barrow_analyzer::Silent).expect("verified").problems, []);
    let tables = recording.tables().expect("tables");
    let strings = (0..tables.string_count() as u32).map(barrow_analyzer::StringId);
    assert!(strings.map(|id| tables.string(id)).any(|found| found.starts_with("00054999 row")));
}

/// Threads read locations together, but the last one of a node counts for any number of threads.
#[test]
fn of_several_locations_of_a_node_the_last_counts() {
    let mut dump = Dump::default();
    dump.string("<dummy>");
    let root = dump.node("synthetic", "", 1, 0);
    let object = dump.node("object", "Card", 3, 32);
    dump.numbered(root, "element", 1, object);
    (0..200_000).for_each(|line| dump.location(object, [1, line % 7, 0]));
    dump.location(object, [1, 41, 0]);
    (0..100).for_each(|_| dump.location(root, [1, 5, 0]));
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), dump.text(Version::Now)).expect("written");
    for threads in [1, 2, 8] {
        let recorded = record_file(file.path(), threads).expect("a whole snapshot");
        assert_eq!(recorded.objects()[1].place, Some(("script 1".to_owned(), 42)), "{threads} threads");
    }
}
