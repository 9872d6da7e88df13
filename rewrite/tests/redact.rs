//! Redacted recordings have the answers that they had, and say nothing of what they held.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use barrow_analyzer::raw::Frames;
use barrow_analyzer::{
    Heap as Loaded, IndexPlace, Memory, Recording, Roots, Silent, SnapshotId, TextPattern, Threads, verified_summaries,
    verify,
};
use barrow_format::block::{Block, BlockColumns, Decoder};
use barrow_format::frame::{NO_SNAPSHOT, SectionType, encode_frame};
use barrow_format::header::TRAILER_BYTES;
use barrow_rewrite::{Audit, Key, RedactOptions, Redacted, RepackOptions, State, audit, redact, repack, repair};
use barrow_testdata::{Heap, ProcessLog, Random, Vocabulary, path};
use barrow_writer::{
    Better, Encoding, KindRole, Label, MetricDescription, Object, Options, ProcessDescription, ProgramDescription,
    RunDescription, RunEnd, SiteDescription, SnapshotInfo, StrengthId, ThreadDescription, TypeDescription, Value,
    VariantDescription, Writer,
};

const BUNDLED: [&str; 12] = [
    "raku.barrow",
    "invoices.barrow",
    "named.barrow",
    "orders.barrow",
    "orders-addresses.barrow",
    "smallest.barrow",
    "threads.barrow",
    "build.barrow",
    "trial.barrow",
    "trials/before.barrow",
    "trials/random.barrow",
    "trials/fixed.barrow",
];

/// A recording and its redacted twin, in a folder that lives as long as they do.
struct Twins {
    folder: tempfile::TempDir,
    original: Recording,
    redacted: Recording,
    report: Redacted,
}

fn keyed(secret: &str) -> RedactOptions {
    RedactOptions { key: Key::of_secret(secret.as_bytes()), ..RedactOptions::default() }
}

fn keeping(patterns: &[&str]) -> RedactOptions {
    let pattern = |typed: &&str| ((*typed).to_owned(), TextPattern::parse(typed).unwrap());
    RedactOptions { keep_matching: patterns.iter().map(pattern).collect(), ..RedactOptions::default() }
}

fn redacted(original: &Recording, to: &Path, options: &RedactOptions) -> (Recording, Redacted) {
    let report = redact(original, to, options, &Silent).unwrap();
    let recording = Recording::open(to).unwrap();
    assert_eq!(recording.length_bytes(), report.bytes);
    assert_eq!(verify(&recording, &Silent).unwrap().problems, []);
    (recording, report)
}

fn twins(original: Recording, options: &RedactOptions) -> Twins {
    let folder = tempfile::tempdir().unwrap();
    let (redacted, report) = redacted(&original, &folder.path().join("b.barrow"), options);
    Twins { folder, original, redacted, report }
}

/// A one-to-one map that is found step by step.
#[derive(Default)]
struct Mapping(HashMap<String, String>, HashMap<String, String>);

impl Mapping {
    fn add(&mut self, old: &str, new: &str) {
        assert_eq!(old.len(), new.len(), "{old} {new}");
        assert_eq!(self.0.entry(old.to_owned()).or_insert_with(|| new.to_owned()), new, "{old}");
        assert_eq!(self.1.entry(new.to_owned()).or_insert_with(|| old.to_owned()), old, "{new}");
    }
}

/// What is the same in both: everything but strings and values, and these up to a one-to-one map.
fn assert_alike(original: &Recording, redacted: &Recording) {
    let both = [original, redacted];
    let ids: Vec<SnapshotId> = original.snapshot_ids().collect();
    assert_eq!(redacted.snapshot_ids().collect::<Vec<_>>(), ids);
    let counted = both.map(|recording| verified_summaries(recording, &ids, &Silent).unwrap());
    assert_eq!(counted[0], counted[1]);
    let tables = both.map(|recording| recording.tables().unwrap());
    let (mut names, mut texts) = (Mapping::default(), Mapping::default());
    for id in ids {
        let infos = both.map(|recording| recording.snapshot(id).unwrap());
        assert_eq!((infos[0].totals, infos[0].time_ns), (infos[1].totals, infos[1].time_ns));
        let heaps = both.map(|recording| Heap::read(recording, id).unwrap());
        assert_eq!(heaps[0].nodes.len(), heaps[1].nodes.len());
        for (old, new) in heaps[0].nodes.iter().zip(&heaps[1].nodes) {
            assert_eq!(
                (old.type_id, old.shallow_bytes, old.unmanaged_bytes, old.identity),
                (new.type_id, new.shallow_bytes, new.unmanaged_bytes, new.identity)
            );
            let is_data = tables[0].kind_role(tables[0].type_kind(old.type_id)) == barrow_analyzer::KindRole::Object;
            match (old.name, new.name) {
                (Some(old), Some(new)) => {
                    let mapping = if is_data { &mut texts } else { &mut names };
                    mapping.add(tables[0].string(old), tables[1].string(new));
                }
                (old, new) => assert_eq!(old, new),
            }
            names.add(tables[0].type_name(old.type_id), tables[1].type_name(new.type_id));
            let shown = |tables: &barrow_analyzer::Tables, label| match label {
                Label::Name(name) => (Label::Unknown, tables.string(name).to_owned()),
                label => (label, String::new()),
            };
            assert_eq!(old.edges.len(), new.edges.len());
            for (old, new) in old.edges.iter().zip(&new.edges) {
                assert_eq!((old.strength, old.target), (new.strength, new.target));
                let [(old, old_name), (new, new_name)] = [shown(tables[0], old.label), shown(tables[1], new.label)];
                assert_eq!(old, new);
                names.add(&old_name, &new_name);
            }
        }
        let roots = both.map(|recording| Roots::read(recording, id).unwrap());
        for (old, new) in roots[0].rows().iter().zip(roots[1].rows()) {
            assert_eq!(old.target, new.target);
            names.add(tables[0].string(old.category), tables[1].string(new.category));
        }
        assert_eq!(roots[0].rows().len(), roots[1].rows().len());
        let threads = both.map(|recording| Threads::read(recording, id).unwrap());
        assert_eq!(threads[0].rows().len(), threads[1].rows().len());
        assert_same_answers(both, id);
    }
    let codes = both.map(codes);
    assert_eq!(codes[0].len(), codes[1].len());
    assert!(codes[0].iter().zip(&codes[1]).all(|(old, new)| old.0 == new.0));
}

fn assert_same_answers(both: [&Recording; 2], id: SnapshotId) {
    let [duplicates, waste] = [0, 1];
    let found = both.map(|recording| {
        let copy = Arc::new(Recording::from_bytes(Frames::of(recording).bytes().to_vec()).unwrap());
        let heap = Loaded::new(copy, id, &IndexPlace::Nowhere, Memory::unlimited()).unwrap();
        let mut answers = [Vec::new(), Vec::new()];
        answers[duplicates] = heap
            .duplicates(&Silent)
            .unwrap()
            .iter()
            .map(|one| (u64::from(one.type_id.0), one.groups, one.objects, one.wasted_bytes))
            .collect();
        answers[waste] = heap
            .waste(&Silent)
            .unwrap()
            .iter()
            .map(|one| (u64::from(one.type_id.0), one.empty_objects, one.empty_bytes, one.spare_bytes))
            .collect();
        answers.iter_mut().for_each(|rows| rows.sort_unstable());
        answers
    });
    assert_eq!(found[0], found[1]);
}

/// All values: fields and codes.
fn codes(recording: &Recording) -> Vec<(barrow_format::FieldId, u64)> {
    let (mut decoder, mut columns, mut all) = (Decoder::new(), BlockColumns::default(), Vec::new());
    let frames = Frames::of(recording);
    for id in recording.snapshot_ids() {
        for (section, entry) in frames.commit(id).unwrap().own_blocks() {
            let frame = frames.frame(section, Some(id), entry.offset).unwrap();
            let block = Block::parse(&frame).unwrap();
            decoder.decode_contents(&block, recording.tables().unwrap().forms(), &mut columns).unwrap();
            for (fields, codes) in columns.values.rows() {
                all.extend(fields.iter().copied().zip(codes.iter().copied()));
            }
        }
    }
    all
}

/// All strings of a recording.
fn strings(recording: &Recording) -> Vec<String> {
    let tables = recording.tables().unwrap();
    (0..tables.string_count() as u32).map(|id| tables.string(barrow_format::StringId(id)).to_owned()).collect()
}

#[test]
fn bundled_recordings_have_the_same_answers() {
    for name in BUNDLED {
        let twins = twins(Recording::open(&path(name)).unwrap(), &keyed("a secret of sixteen bytes"));
        assert_alike(&twins.original, &twins.redacted);
        assert_eq!(twins.report.left_out_bytes, 0, "{name}");
        let rows = |recording: &Recording| {
            let (mut processes, mut measurements) = (0, 0);
            recording
                .process_rows(|_| {
                    processes += 1;
                    Ok(())
                })
                .unwrap();
            recording
                .measurement_rows(|_| {
                    measurements += 1;
                    Ok(())
                })
                .unwrap();
            (processes, measurements)
        };
        assert_eq!(rows(&twins.original), rows(&twins.redacted), "{name}");
        // The result can be repaired, and redacted again.
        let repaired = twins.folder.path().join("c.barrow");
        assert!(!repair(&twins.redacted, &repaired, &Silent).unwrap().has_lost());
        let again = twins.folder.path().join("d.barrow");
        let again = redacted(&twins.redacted, &again, &RedactOptions::default()).0;
        redacted(&again, &twins.folder.path().join("e.barrow"), &RedactOptions::default());
    }
}

/// Records random heaps whose objects have values, with patches.
fn random_series(folder: &Path, seed: u64) -> PathBuf {
    let (whole, small) = (folder.join("whole.barrow"), folder.join("small.barrow"));
    let mut random = Random::new(seed);
    let writer = Writer::create(&whole, Options::default()).unwrap();
    let vocabulary = Vocabulary::declare(&writer).unwrap();
    let fields: Vec<_> = (0..7)
        .map(|number| {
            let encoding = Encoding::from_number(number).unwrap();
            writer.field(vocabulary.types[0], &format!("field{number}"), encoding, false).unwrap()
        })
        .collect();
    let mut heap = Heap::random(&mut random, 300, &vocabulary);
    for _ in 0..3 {
        let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
        let mut shard = snapshot.shard();
        shard.root(vocabulary.names[0], Some(vocabulary.names[1]), 0).unwrap();
        for (number, node) in heap.nodes.iter_mut().enumerate() {
            if random.below(20) == 0 {
                node.shallow_bytes += 8;
            }
            let text = writer.string(["int", "head", "a text", "x"][random.below(4) as usize]).unwrap();
            let mut object = Object::new(node.type_id, node.shallow_bytes);
            object.serial = Some(number as u64 + 1);
            object.name = (number % 3 == 0).then_some(text);
            shard.object(number as u64, &object).unwrap();
            let any = random.below(5);
            let values = [
                Value::Unsigned(any),
                Value::Signed(-(any as i64)),
                Value::Boolean(any > 2),
                Value::Character(0x60 + any as u32),
                Value::Float(any as f32 / 2.0),
                Value::Double(any as f64 / 3.0),
                Value::Text(text),
            ];
            if node.type_id == vocabulary.types[0] {
                for (&field, value) in fields.iter().zip(values).filter(|_| number % 7 > 0) {
                    shard.value(field, value).unwrap();
                }
            }
            for edge in &node.edges {
                shard.reference(edge.label, edge.strength, edge.target.into()).unwrap();
            }
        }
        shard.finish().unwrap();
        snapshot.commit().unwrap();
    }
    writer.finish().unwrap();
    repack(&Recording::open(&whole).unwrap(), &small, RepackOptions::default(), &Silent).unwrap();
    small
}

#[test]
fn random_series_have_the_same_answers() {
    let mut patches = 0;
    for seed in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let original = Recording::open(&random_series(folder.path(), seed)).unwrap();
        patches +=
            original.snapshot_ids().filter(|&id| Frames::of(&original).commit(id).unwrap().patched.is_some()).count();
        let options = keyed(&format!("the secret of seed {seed}"));
        let to = folder.path().join("redacted.barrow");
        let (new, report) = redacted(&original, &to, &options);
        assert_alike(&original, &new);
        // Values are mapped one to one within an encoding, texts as texts of objects are.
        let encodings: Vec<u64> = (0..7).collect();
        let mut one_to_one: HashMap<(u64, u64), u64> = HashMap::new();
        let mut seen: HashSet<(u64, u64)> = HashSet::new();
        let (old_codes, new_codes) = (codes(&original), codes(&new));
        assert!(!old_codes.is_empty());
        for (&(field, old), &(_, new)) in old_codes.iter().zip(&new_codes) {
            let encoding = encodings[field.index()];
            let known = one_to_one.insert((encoding, old), new);
            assert!(known.is_none_or(|known| known == new), "{encoding}: {old}");
            assert!(known.is_some() || seen.insert((encoding, new)), "{encoding}: {old}");
        }
        assert_eq!(report.values, old_codes.iter().filter(|(field, _)| field.0 != 6).count() as u64);
        // The same key gives the same file, another key another one.
        let again = folder.path().join("again.barrow");
        redact(&original, &again, &options, &Silent).unwrap();
        assert!(std::fs::read(&to).unwrap() == std::fs::read(&again).unwrap());
        redact(&original, &again, &RedactOptions::default(), &Silent).unwrap();
        assert!(std::fs::read(&to).unwrap() != std::fs::read(&again).unwrap());
        // It can be repacked.
        let small = folder.path().join("smaller.barrow");
        repack(&new, &small, RepackOptions::default(), &Silent).unwrap();
        assert_eq!(verify(&Recording::open(&small).unwrap(), &Silent).unwrap().problems, []);
    }
    assert!(patches > 10, "{patches}");
}

/// Lists with a size and an array of slots.
fn lists(to: &Path) {
    let writer = Writer::create(to, Options::default()).unwrap();
    let kind = writer.kind("object", KindRole::Object).unwrap();
    let declared = |name, attributes| {
        writer.declare_type(&TypeDescription { attributes, ..TypeDescription::new(kind, name) }).unwrap()
    };
    let list = declared("app.List", &[("elements", ".size !.cells"), ("slots", ".slots.length")]);
    let array = declared("app.Slot[]", &[("elements", ".length"), ("slots", ".length")]);
    let size = writer.field(list, "size", Encoding::Signed, false).unwrap();
    writer.field(list, "slots", Encoding::Reference, false).unwrap();
    writer.field(list, "cells", Encoding::Reference, false).unwrap();
    let length = writer.field(array, "length", Encoding::Unsigned, false).unwrap();
    let slots = Label::Name(writer.string("slots").unwrap());
    let snapshot = writer.begin_snapshot(SnapshotInfo::default()).unwrap();
    let mut shard = snapshot.shard();
    for id in 0..10 {
        shard.object(2 * id, &Object::new(list, 24)).unwrap();
        shard.value(size, Value::Signed(id as i64)).unwrap();
        shard.reference(slots, StrengthId::STRONG, 2 * id + 1).unwrap();
        shard.object(2 * id + 1, &Object::new(array, 16 + 4 * 20)).unwrap();
        shard.value(length, Value::Unsigned(20)).unwrap();
    }
    shard.finish().unwrap();
    snapshot.commit().unwrap();
    writer.finish().unwrap();
}

#[test]
fn numbers_that_were_replaced_are_not_measured() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    lists(&at("lists.barrow"));
    let original = Recording::open(&at("lists.barrow")).unwrap();
    let heap = |recording| Loaded::new(Arc::new(recording), SnapshotId(0), &IndexPlace::Nowhere, Memory::unlimited());
    let count = |heap: &Loaded, text: &str| {
        let expression = barrow_analyzer::Expression::parse(text).unwrap();
        heap.select(&[], &expression, &Silent).map(|(set, _)| set.len())
    };
    let kept = RedactOptions { keep_numbers: true, ..keyed("lists") };
    let (kept, _) = redacted(&original, &at("kept.barrow"), &kept);
    let (replaced, _) = redacted(&original, &at("replaced.barrow"), &keyed("lists"));
    let [original, kept, replaced] = [original, kept, replaced].map(|recording| heap(recording).unwrap());
    for (text, expected) in [("elements > 5", 14), ("fill < 25%", 5), ("elements = 20", 10)] {
        assert_eq!(count(&original, text).unwrap(), expected, "{text}");
        // Names were replaced, and with them those of the fields in the attributes.
        assert_eq!(count(&kept, text).unwrap(), expected, "{text}");
        assert!(count(&replaced, text).unwrap_err().to_string().contains("were replaced"), "{text}");
    }
    let types = |heap: &Loaded| heap.collections(&Silent).unwrap().types;
    assert_eq!(types(&kept), types(&original));
    assert_eq!(types(&original)[0].empty, 1);
    assert!(replaced.collections(&Silent).is_err());
    // Equality means what it did.
    let field = replaced.object_fields(barrow_analyzer::ObjectId(0)).unwrap()[0].name.to_owned();
    assert!(count(&replaced, &format!(".{field} > 5")).unwrap_err().to_string().contains("were replaced"));
    assert_eq!(count(&replaced, &format!(".{field} = 5")).map(|found| found <= 1).ok(), Some(true));
}

/// What no redacted file may hold. Each place of a recording has one of its own.
fn secret(place: &str) -> String {
    format!("Hush{place}")
}

/// A recording with a secret in every place that a writer can fill.
fn secrets(to: &Path) -> Vec<String> {
    let told = std::cell::RefCell::new(Vec::new());
    let hush = |place: &str| {
        told.borrow_mut().push(secret(place));
        secret(place)
    };
    let writer = Writer::create(to, Options::default()).unwrap();
    writer.fact("command", &hush("Command")).unwrap();
    writer.fact("host", &hush("Host")).unwrap();
    writer.fact(&hush("FactKey"), &hush("Fact")).unwrap();
    writer.string(&hush("Unnamed")).unwrap();
    let kind = writer.kind("object", KindRole::Object).unwrap();
    let class_kind = writer.kind("class", KindRole::Type).unwrap();
    let card = writer
        .declare_type(&TypeDescription {
            layout: Some(&hush("Layout")),
            file: Some(&hush("TypeFile")),
            attributes: &[("class loader", &hush("Loader")), (&hush("TypeKey"), &hush("TypeValue"))],
            ..TypeDescription::new(kind, &hush("Type"))
        })
        .unwrap();
    let class = writer.declare_type(&TypeDescription::new(class_kind, &hush("Class"))).unwrap();
    let field = writer.field(card, &hush("Field"), Encoding::Text, false).unwrap();
    let number = writer.field(card, &hush("Number"), Encoding::Unsigned, false).unwrap();
    let site = writer
        .site(&SiteDescription {
            function: Some(&hush("Function")),
            file: Some(&hush("SiteFile")),
            attributes: &[(&hush("SiteKey"), &hush("SiteValue"))],
            ..SiteDescription::default()
        })
        .unwrap();
    let process = writer
        .begin_process(&ProcessDescription { host: Some(&hush("ProcessHost")), ..ProcessDescription::default() })
        .unwrap();
    let program = ProgramDescription {
        executable: Some(&hush("Executable")),
        directory: Some(&hush("Directory")),
        arguments: &[&hush("Program"), &hush("Argument")],
    };
    writer.process_image(process, 1, &program, barrow_writer::Usage::default()).unwrap();
    writer
        .process_attributes(process, &[("label", &hush("Label")), (&hush("ProcessKey"), &hush("ProcessValue"))])
        .unwrap();
    let metric = MetricDescription { name: &hush("Metric"), unit: &hush("Unit"), better: Better::Lower, exact: false };
    writer.metric(&metric).unwrap();
    let variant = writer
        .variant(&VariantDescription {
            name: &hush("Variant"),
            command: &[&hush("VariantProgram"), &hush("VariantArgument")],
            directory: Some(&hush("VariantDirectory")),
            attributes: &[(&hush("VariantKey"), &hush("VariantValue"))],
        })
        .unwrap();
    let run = writer.begin_run(&RunDescription { variant, ..RunDescription::default() }).unwrap();
    writer.run_knobs(run, None, &[(&hush("Knob"), &hush("KnobValue")), ("env", &hush("Environment"))]).unwrap();
    let output = hush("Output");
    writer.end_run(run, &RunEnd { failed: true, output: Some(&output), ..RunEnd::default() }).unwrap();
    let info = SnapshotInfo {
        label: Some(hush("Snapshot")),
        key_values: vec![
            (hush("SnapshotKey"), hush("SnapshotValue")),
            (format!("thread {}", hush("Stack")), hush("Frame")),
        ],
        ..SnapshotInfo::default()
    };
    let snapshot = writer.begin_snapshot(info).unwrap();
    snapshot
        .thread(&ThreadDescription {
            id: 1,
            name: Some(&hush("Thread")),
            state: Some(&hush("State")),
            root_label: Some(&secret("Thread")),
            attributes: &[(&hush("ThreadKey"), &hush("ThreadValue"))],
            ..ThreadDescription::default()
        })
        .unwrap();
    let mut shard = snapshot.shard();
    let label = writer.string(&format!("{}: {}", secret("Thread"), hush("RootLabel"))).unwrap();
    shard.root(writer.string(&hush("Category")).unwrap(), Some(label), 0).unwrap();
    let mut object = Object::new(card, 16);
    (object.name, object.site) = (Some(writer.string(&hush("Text")).unwrap()), Some(site));
    shard.object(0, &object).unwrap();
    shard.value(field, Value::Text(writer.string(&hush("FieldText")).unwrap())).unwrap();
    shard.value(number, Value::Unsigned(u64::from_le_bytes(*b"HushNumb"))).unwrap();
    shard.reference(Label::Name(writer.string(&hush("Reference")).unwrap()), StrengthId::STRONG, 1).unwrap();
    let mut of_class = Object::new(class, 16);
    // A name of a class that is a text elsewhere.
    of_class.name = Some(writer.string(&secret("Text")).unwrap());
    shard.object(1, &of_class).unwrap();
    for number in 2..40 {
        shard.object(number, &Object::new(card, 16)).unwrap();
        // Labels of their own: too many shapes for a prefix.
        for key in 0..number % 13 {
            let name = writer.string(&hush(&format!("Key{number}of{key}"))).unwrap();
            shard.reference(Label::Name(name), StrengthId::STRONG, 0).unwrap();
        }
    }
    shard.finish().unwrap();
    snapshot.commit().unwrap();
    writer.finish().unwrap();
    told.into_inner()
}

#[test]
fn no_secret_is_left_anywhere() {
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path().join("a.barrow");
    let told = secrets(&from);
    let original = Recording::open(&from).unwrap();
    // Every one of them is in the original, so that the test would find it.
    let before = strings(&original);
    assert!(told.len() > 100 && told.iter().all(|secret| before.iter().any(|text| text.contains(secret.as_str()))));
    let to = folder.path().join("b.barrow");
    let (new, report) = redacted(&original, &to, &RedactOptions::default());
    let after = strings(&new);
    let bytes = std::fs::read(&to).unwrap();
    for secret in &told {
        assert!(!after.iter().any(|text| text.contains(secret.as_str())), "{secret}");
        assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()), "{secret}");
    }
    assert!(!after.iter().any(|text| text.contains("Hush")), "{after:?}");
    assert!(codes(&new).iter().all(|&(_, code)| code != u64::from_le_bytes(*b"HushNumb")));
    assert_eq!(report.strings.unnamed, 1);
    assert_ne!(new.uuid(), original.uuid());
    // The label of a root still continues that of its thread.
    let threads = Threads::read(&new, SnapshotId(0)).unwrap();
    let roots = Roots::read(&new, SnapshotId(0)).unwrap();
    let tables = new.tables().unwrap();
    let label = tables.string(roots.rows()[0].label.unwrap());
    assert!(label.starts_with(&format!("{}: ", tables.string(threads.rows()[0].root_label.unwrap()))), "{label}");
    // With names kept, only texts, unknown values and numbers go.
    let (named, _) = redacted(&original, &to, &RedactOptions { keep_names: true, ..RedactOptions::default() });
    let after = strings(&named);
    let has = |secret: &str| after.iter().any(|text| text.contains(secret));
    for kept in ["HushType", "HushField", "HushFunction", "HushThread", "HushText", "HushKey7of3"] {
        assert!(has(kept), "{kept}");
    }
    for gone in ["HushArgument", "HushOutput", "HushTypeValue", "HushFieldText", "HushUnnamed", "HushEnvironment"] {
        assert!(!has(gone), "{gone}");
    }
    // "HushText" stays as the name of the class, and no longer is the text of an object.
    let heap = Heap::read(&named, SnapshotId(0)).unwrap();
    let name = |object: usize| named.tables().unwrap().string(heap.nodes[object].name.unwrap());
    assert_eq!((name(0) == "HushText", name(1)), (false, "HushText"));
}

#[test]
fn names_that_match_and_numbers_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path().join("a.barrow");
    secrets(&from);
    let options = RedactOptions { keep_numbers: true, ..keeping(&["HushT*", "HushField"]) };
    let twins = twins(Recording::open(&from).unwrap(), &options);
    let types = |recording: &Recording| {
        let tables = recording.tables().unwrap();
        (0..2).map(|id| tables.type_name(barrow_analyzer::TypeId(id)).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(types(&twins.redacted)[0], "HushType");
    assert_ne!(types(&twins.redacted)[1], "HushClass");
    assert!(codes(&twins.redacted).iter().any(|&(_, code)| code == u64::from_le_bytes(*b"HushNumb")));
    assert_eq!((twins.report.values, twins.report.kept_values), (0, 1));
    let found = audit(&twins.redacted, &Silent).unwrap();
    let state = |key: &str| found.classes.iter().find(|class| class.key == key).unwrap().state.clone();
    assert_eq!(state("object_texts"), State::Replaced("replaced".to_owned()));
    assert_eq!(state("type_names"), State::Replaced("replaced, except HushT*, HushField".to_owned()));
    assert_eq!(state("unsigned"), State::Recorded);
    assert_eq!(state("doubles"), State::Absent);
    assert_eq!(state("kinds"), State::Word);
}

#[test]
fn an_audit_counts_every_string_and_every_byte() {
    let sum = |audit: &Audit| audit.parts.iter().map(|part| part.bytes).sum::<u64>();
    for name in BUNDLED {
        let recording = Recording::open(&path(name)).unwrap();
        let found = audit(&recording, &Silent).unwrap();
        assert_eq!(sum(&found), recording.length_bytes(), "{name}");
        assert!(found.parts.iter().all(|part| part.is_known), "{name}");
        // A string may be in several classes, and each is in one.
        let counted: u64 = found.classes.iter().filter(|class| class.example.is_some()).map(|class| class.count).sum();
        let different = strings(&recording).iter().filter(|text| !text.is_empty()).count() as u64;
        assert!(counted >= different, "{name}: {counted} of {different}");
        assert!(found.redacted.is_empty());
    }
}

#[test]
fn what_this_version_does_not_know_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path().join("a.barrow");
    let mut bytes = std::fs::read(path("threads.barrow")).unwrap();
    let trailer = bytes.split_off(bytes.len() - TRAILER_BYTES);
    let index = u64::from_le_bytes(trailer[..8].try_into().unwrap()) as usize;
    bytes.truncate(index);
    // A private section, and bytes that are no frame.
    bytes.extend(encode_frame(SectionType(40_000), NO_SNAPSHOT, 0, b"", b"a secret section"));
    bytes.extend(b"a secret outside");
    std::fs::write(&from, &bytes).unwrap();
    let twins = twins(Recording::open(&from).unwrap(), &RedactOptions::default());
    assert_eq!(twins.report.left_out_bytes, 72);
    let found = audit(&twins.original, &Silent).unwrap();
    assert_eq!(found.parts.iter().map(|part| part.bytes).sum::<u64>(), bytes.len() as u64);
    assert_eq!(found.parts.iter().filter(|part| !part.is_known).map(|part| part.bytes).sum::<u64>(), 72);
    let new = std::fs::read(twins.folder.path().join("b.barrow")).unwrap();
    assert!(!new.windows(8).any(|window| window == b"a secret"));
    assert_alike(&twins.original, &twins.redacted);
}

#[test]
fn damaged_recordings_are_refused_or_redacted_and_nothing_panics() {
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read(random_series(folder.path(), 3)).unwrap();
    let to = folder.path().join("b.barrow");
    let (mut refused, mut written) = (0, 0);
    let mut random = Random::new(5);
    for _ in 0..300 {
        let mut bytes = whole.clone();
        let at = 64 + random.below(bytes.len() as u64 - 64) as usize;
        bytes[at] ^= 1 << random.below(8);
        let Ok(recording) = Recording::from_bytes(bytes) else { continue };
        match redact(&recording, &to, &RedactOptions::default(), &Silent) {
            Ok(_) => {
                written += 1;
                assert_eq!(verify(&Recording::open(&to).unwrap(), &Silent).unwrap().problems, [], "{at}");
            }
            Err(_) => refused += 1,
        }
        let _ = audit(&recording, &Silent);
    }
    assert!(refused > 50 && written > 5, "{refused} {written}");
}

#[test]
fn logs_of_processes_keep_their_rows() {
    for seed in 0..20 {
        let log = ProcessLog::random(&mut Random::new(seed), 30);
        let twins = twins(Recording::from_bytes(log.bytes()).unwrap(), &RedactOptions::default());
        let shape = |recording: &Recording| {
            let mut rows = Vec::new();
            recording
                .process_rows(|row| {
                    // Everything but texts: names of programs are all there is.
                    rows.push(format!("{row:?}").replace(|one: char| one.is_ascii_digit(), ""));
                    Ok(())
                })
                .unwrap();
            rows
        };
        assert_eq!(shape(&twins.original), shape(&twins.redacted));
    }
}
