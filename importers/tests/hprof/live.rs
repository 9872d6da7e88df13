//! A JVM that runs now, if there is one: its dump against its own histogram.

use crate::arrays::held_arrays;
use crate::read::{SNAPSHOT, record_file};
use crate::samples::{FOLDER, assert_agree, histogram};
use crate::texts::{expected, texts, with_contents};
use barrow_analyzer::{
    Entries, EntryKey, Expression, FieldPath, FieldValue, GroupKey, Heap, Held, LineRules, Number, NumberTotals,
    ObjectId, ObjectSet, Silent, Threads,
};
use barrow_importers::{Contents, ImportOptions};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, LazyLock};

/// Ends the JVM with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn is_there(command: &str) -> bool {
    Command::new(command).arg("-version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
        || Command::new(command).arg("-h").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

fn jcmd(jvm: &Running, command: &[&str]) -> String {
    let output = Command::new("jcmd").arg(jvm.0.id().to_string()).args(command).output().expect("jcmd");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Compiles a program of the folder of samples; whether there is a JDK.
fn compile(program: &str, folder: &Path) -> bool {
    if !["javac", "java", "jcmd"].into_iter().all(is_there) {
        eprintln!("not tested: no JDK here");
        return false;
    }
    let source = Path::new(FOLDER).join(format!("{program}.java"));
    let compiled = Command::new("javac").arg("-d").arg(folder).arg(source).stderr(Stdio::null()).status();
    assert!(compiled.expect("javac").success());
    true
}

/// Starts a program, and returns what it prints until it is ready.
fn start(program: &str, folder: &Path, flags: &[&str]) -> (Running, Vec<String>) {
    let jvm = Command::new("java")
        .args(flags)
        .args(["-Xmx64m", "-cp"])
        .arg(folder)
        .arg(program)
        .current_dir(folder)
        .stdout(Stdio::piped())
        .spawn();
    let mut jvm = Running(jvm.expect("java"));
    let output = BufReader::new(jvm.0.stdout.take().expect("piped"));
    let lines = output.lines().map(|line| line.expect("a line")).take_while(|line| line.trim() != "ready");
    (jvm, lines.collect())
}

fn write_dump(jvm: &Running, dump: &Path) {
    let _ = std::fs::remove_file(dump);
    jcmd(jvm, &["GC.heap_dump", &dump.to_string_lossy()]);
}

#[test]
fn a_running_jvm_and_its_dump_agree() {
    let folder = tempfile::tempdir().expect("a folder");
    if !compile("Shapes", folder.path()) {
        return;
    }
    for flags in [&["-XX:+UseSerialGC"][..], &["-XX:-UseCompressedOops"], &["-XX:ObjectAlignmentInBytes=16"]] {
        let (jvm, _) = start("Shapes", folder.path(), flags);
        let dump = folder.path().join("live.hprof");
        // The first time the JVM makes objects for the commands themselves.
        jcmd(&jvm, &["GC.class_histogram"]);
        write_dump(&jvm, &dump);
        let text = jcmd(&jvm, &["GC.class_histogram"]);
        write_dump(&jvm, &dump);
        let recorded = record_file(&dump, &ImportOptions::default()).expect("a whole dump");
        assert_agree(recorded.histogram(), histogram(&text));
    }
}

/// `jhsdb` needs no cooperation of the JVM and writes fewer roots: no classes, no constant pools, no JNI globals. What
/// became garbage since the first dump is in the second one only.
#[test]
fn a_dump_of_jhsdb_has_as_many_unreachable_objects_as_one_of_jcmd() {
    let folder = tempfile::tempdir().expect("a folder");
    if !compile("Shapes", folder.path()) {
        return;
    }
    // G1 takes classes of the JDK with their strings from an archive, if the JDK has one; others do not.
    for collector in ["-XX:+UseSerialGC", "-XX:+UseG1GC"] {
        if !agree(folder.path(), collector) {
            eprintln!("not tested: jhsdb cannot attach here");
            return;
        }
    }
}

/// Returns whether `jhsdb` made a dump; it is compared with one of `jcmd`.
fn agree(folder: &Path, collector: &str) -> bool {
    let (jvm, _) = start("Shapes", folder, &[collector]);
    let [whole, lean] = ["jcmd.hprof", "jhsdb.hprof"].map(|name| folder.join(name));
    let _ = std::fs::remove_file(&lean);
    write_dump(&jvm, &whole);
    let mut jhsdb = Command::new("jhsdb");
    jhsdb.args(["jmap", "--binaryheap", "--dumpfile"]).arg(&lean).arg("--pid").arg(jvm.0.id().to_string());
    let _ = jhsdb.stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !lean.exists() {
        return false;
    }
    let [whole, lean] = [whole, lean].map(|dump| record_file(&dump, &ImportOptions::default()).expect("a whole dump"));
    let has_note = |what: &str| lean.imported.notes.iter().any(|note| note.contains(what));
    assert!(has_note("no sticky classes") && has_note("constant pools"), "{:?}", lean.imported.notes);
    let objects = |heap: &Heap| -> BTreeMap<Option<u64>, bool> {
        let unreachable = heap.unreachable(&Silent).expect("a heap");
        let ids: Vec<ObjectId> = (0..heap.object_count() as u32).map(ObjectId).collect();
        let objects = barrow_analyzer::objects(heap.recording(), SNAPSHOT, &ids).expect("objects");
        objects.iter().map(|object| (object.address, unreachable.contains(object.id))).collect()
    };
    let [whole, lean] = [whole, lean].map(|recorded| objects(&recorded.into_heap()));
    let both = whole.keys().filter(|address| lean.contains_key(address)).count();
    assert!(both * 100 > whole.len() * 99, "{collector}: {both} of {}", whole.len());
    let unreachable = |one: &BTreeMap<_, bool>, other: &BTreeMap<_, bool>| {
        one.iter().filter(|(address, unreachable)| **unreachable && other.contains_key(*address)).count()
    };
    let (whole_count, lean_count) = (unreachable(&whole, &lean), unreachable(&lean, &whole));
    assert!(whole_count.abs_diff(lean_count) * 100 <= both, "{collector}: {whole_count} and {lean_count} of {both}");
    true
}

#[test]
fn strings_say_what_the_running_program_printed() {
    let folder = tempfile::tempdir().expect("a folder");
    if !compile("Texts", folder.path()) {
        return;
    }
    for flags in [&["-XX:+UseSerialGC"][..], &["-XX:-CompactStrings"], &["-XX:+UseZGC"]] {
        let (jvm, lines) = start("Texts", folder.path(), flags);
        let dump = folder.path().join("live.hprof");
        write_dump(&jvm, &dump);
        let recorded = record_file(&dump, &ImportOptions::default()).expect("a whole dump");
        let texts = texts(&recorded).into_iter().flatten().filter(|text| text.starts_with("text "));
        let found: BTreeSet<String> = texts.collect();
        let unit = |digits: &[u8]| u16::from_str_radix(str::from_utf8(digits).expect("digits"), 16).expect("a number");
        let printed: BTreeSet<String> =
            lines.iter().map(|line| expected(&line.as_bytes().chunks(4).map(unit).collect::<Vec<u16>>())).collect();
        assert_eq!(printed.len(), 2000);
        assert!(printed.is_subset(&found), "{flags:?}: {:?} of {}", printed.difference(&found).next(), found.len());
    }
}

#[test]
fn arrays_hold_what_the_running_program_printed() {
    let folder = tempfile::tempdir().expect("a folder");
    if !compile("Elements", folder.path()) {
        return;
    }
    let (jvm, lines) = start("Elements", folder.path(), &["-XX:+UseSerialGC"]);
    let dump = folder.path().join("live.hprof");
    write_dump(&jvm, &dump);
    let recorded = record_file(&dump, &with_contents(Contents::All)).expect("a whole dump");
    let found: BTreeSet<String> = held_arrays(&recorded.into_heap()).into_iter().map(|(_, line)| line).collect();
    let unit = |digits: &[u8]| u16::from_str_radix(str::from_utf8(digits).expect("digits"), 16).expect("a number");
    assert_eq!(lines.len(), 700);
    for line in lines {
        let line = match line.split_once(" text ") {
            Some((array, units)) => {
                let units: Vec<u16> = units.as_bytes().chunks(4).map(unit).collect();
                format!("{array} text {}", String::from_utf16(&units).expect("a text"))
            }
            None => line,
        };
        assert!(found.contains(&line), "{line}");
    }
}

#[test]
fn collections_hold_what_the_running_program_printed() {
    let folder = tempfile::tempdir().expect("a folder");
    if !compile("Filled", folder.path()) {
        return;
    }
    let (jvm, lines) = start("Filled", folder.path(), &["-XX:+UseSerialGC"]);
    let dump = folder.path().join("live.hprof");
    write_dump(&jvm, &dump);
    let recorded = record_file(&dump, &ImportOptions::default()).expect("a whole dump");
    let heap = recorded.into_heap();
    let (found, tables) = (heap.collections(&Silent).expect("collections"), heap.recording().tables().expect("tables"));
    let found: BTreeMap<&str, String> = found
        .types
        .iter()
        .map(|row| {
            let shared = row.hashed.map_or(-1, |hashed| hashed.collided as i64);
            let numbers = [row.objects, row.empty, row.single, row.elements].map(|number| number.to_string()).join(" ");
            let name = tables.type_name(row.type_id);
            assert_eq!(row.unknown, 0, "{name}");
            (name, format!("{name} {numbers} {shared}"))
        })
        .collect();
    assert_eq!(lines.len(), 8);
    for line in lines {
        let name = line.split(' ').next().expect("a name");
        assert_eq!(found.get(name), Some(&line));
    }
}

/// The objects of a program that it gave a name.
pub(crate) struct Cases {
    pub(crate) heap: Heap,
    pub(crate) meanings: Vec<Held>,
    pub(crate) cases: Vec<(String, ObjectId)>,
    /// The lines that the program printed about them.
    pub(crate) lines: Vec<String>,
}

/// The cases of a program; `None` without a JDK.
pub(crate) fn cases(program: &str) -> Option<Cases> {
    let folder = tempfile::tempdir().expect("a folder");
    if !compile(program, folder.path()) {
        return None;
    }
    let (jvm, lines) = start(program, folder.path(), &["-XX:+UseSerialGC"]);
    let dump = folder.path().join("live.hprof");
    write_dump(&jvm, &dump);
    let recorded = record_file(&dump, &ImportOptions::default()).expect("a whole dump");
    let heap = recorded.into_heap();
    let meanings = meanings(&heap);
    let of_type = Expression::parse(&format!("type = \"{program}$Case\"")).expect("an expression");
    let found = heap.select(&[], &of_type, &Silent).expect("objects").0;
    let case = |id| {
        let fields = heap.object_fields(id).expect("fields");
        let field = |name| fields.iter().find(|field| field.name == name).expect("a field").held;
        let Held::Object(held) = field("held") else { panic!("a case without an object") };
        (said(&heap, &meanings, field("name")), held)
    };
    let cases: Vec<(String, ObjectId)> = found.iter().map(case).collect();
    assert_eq!(cases.len(), lines.len());
    Some(Cases { heap, meanings, cases, lines })
}

/// Those of `Entries`, which two tests are about.
fn entries() -> Option<&'static Cases> {
    static ENTRIES: LazyLock<Option<Cases>> = LazyLock::new(|| cases("Entries"));
    ENTRIES.as_ref()
}

#[test]
fn entries_are_those_that_the_running_program_printed() {
    let Some(Cases { heap, meanings, cases, lines }) = entries() else { return };
    let mut printed: Vec<(&str, bool, Vec<&str>)> = Vec::new();
    for line in lines {
        let mut words = line.split('\t');
        let (name, is_ordered) = (words.next().expect("a name"), words.next() == Some("true"));
        let mut entries: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        if !is_ordered {
            entries.sort_unstable();
        }
        printed.push((name, is_ordered, entries));
    }
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for (name, held) in cases {
        let entries = heap.entries(*held, usize::MAX, &Silent).expect("a heap").expect("entries");
        assert!(entries.are_known && !entries.has_more, "{name}");
        let nulls = match name.as_str() {
            "ArrayList with null" | "unmodifiable list with null" => Some(3),
            "Object[] with null" | "subList with null" => Some(1),
            // No field says how long they are.
            "emptyList" | "emptySet" | "emptyMap" => None,
            _ => Some(0),
        };
        assert_eq!(entries.nulls, nulls, "{name}");
        let mut words: Vec<String> = Vec::new();
        for entry in entries.entries {
            let value = said(heap, meanings, entry.value);
            words.push(match entry.key {
                EntryKey::None => value,
                EntryKey::Index(index) => format!("{index}={value}"),
                EntryKey::Held(key) => format!("{}={value}", said(heap, meanings, key)),
            });
        }
        found.push((name.clone(), words));
    }
    // The dump has objects in any order.
    for (name, is_ordered, entries) in printed {
        let is_it = |(other, words): &(String, Vec<String>)| {
            let mut words = words.clone();
            if !is_ordered {
                words.sort_unstable();
            }
            other == name && words == entries
        };
        let at = found.iter().position(is_it);
        assert!(at.is_some(), "{name}: {entries:?}");
        found.swap_remove(at.unwrap_or(0));
    }
    assert!(found.is_empty());
}

#[test]
fn keys_lead_to_what_the_running_program_printed() {
    let Some(Cases { heap, meanings, cases, lines }) = entries() else { return };
    let mut printed: BTreeMap<&str, Vec<BTreeMap<&str, &str>>> = BTreeMap::new();
    for line in lines {
        let mut words = line.split('\t');
        let name = words.next().expect("a name");
        printed.entry(name).or_default().push(words.filter_map(|word| word.split_once('=')).collect());
    }
    // Several cases have one name: their entries tell them apart.
    let mut maps: BTreeMap<ObjectId, &BTreeMap<&str, &str>> = BTreeMap::new();
    for (name, held) in cases {
        let Entries { entries, nulls, .. } =
            heap.entries(*held, usize::MAX, &Silent).expect("a heap").expect("entries");
        // The program does not print elements that are null.
        if nulls.is_some_and(|nulls| nulls > 0) {
            continue;
        }
        let words = entries.iter().map(|entry| match entry.key {
            EntryKey::Held(key) => Some((said(heap, meanings, key), said(heap, meanings, entry.value))),
            EntryKey::Index(index) => Some((index.to_string(), said(heap, meanings, entry.value))),
            EntryKey::None => None,
        });
        let Some(words) = words.collect::<Option<BTreeMap<String, String>>>() else { continue };
        // An `IdentityHashMap` may have keys that read alike.
        if words.len() < entries.len() {
            continue;
        }
        let is_it = |map: &&BTreeMap<&str, &str>| {
            map.len() == words.len() && map.iter().all(|(key, value)| words.get(*key).is_some_and(|of| of == value))
        };
        let map = printed.get(name.as_str()).and_then(|maps| maps.iter().find(is_it));
        maps.extend(map.map(|map| (*held, map)));
    }
    let set = ObjectSet::from_sorted(SNAPSHOT, heap.object_count(), maps.keys().copied());
    let keys: BTreeSet<&str> = maps.values().flat_map(|map| map.keys().take(1)).copied().chain(["absent"]).collect();
    let mut compared = [0, 0];
    for key in keys {
        let is_bare = key.parse::<f64>().is_ok() || ["true", "false", "null"].contains(&key);
        let typed = if is_bare { format!(".[{key}]") } else { format!(".[\"{key}\"]") };
        let path = FieldPath::typed(&typed).expect("a path");
        let column = heap.field_column(&set, &path, &Silent).expect("a heap");
        for (map, held) in maps.values().zip(column) {
            assert_eq!(said(heap, meanings, held), map.get(key).copied().unwrap_or("Missing"), "{typed} {map:?}");
            compared[usize::from(map.contains_key(key))] += 1;
        }
    }
    assert!(compared.into_iter().all(|count| count > 60), "{compared:?}");
}

/// What each object stands for, by its number. An object of the program is printed as its own number.
fn meanings(heap: &Heap) -> Vec<Held> {
    let all = heap.all_objects();
    let stand_for = heap.stand_for(&all, &Silent).expect("a heap");
    let numbers = heap.field_column(&all, &FieldPath::named("value"), &Silent).expect("a heap");
    let meaning = |(held, number)| if held == Held::Missing { number } else { held };
    stand_for.into_iter().zip(numbers).map(meaning).collect()
}

/// The value of a field, as Java prints it.
pub(crate) fn said(heap: &Heap, meanings: &[Held], held: Held) -> String {
    let tables = heap.recording().tables().expect("tables");
    let held = match held {
        Held::Object(object) => meanings[object.0 as usize],
        held => held,
    };
    match held {
        Held::Value(FieldValue::Text(text)) => tables.string(text).to_owned(),
        Held::Value(FieldValue::Signed(number)) => number.to_string(),
        Held::Value(FieldValue::Boolean(truth)) => truth.to_string(),
        Held::Value(FieldValue::Double(number)) => number.to_string(),
        Held::Value(FieldValue::Character(code)) => char::from_u32(code).expect("a letter").to_string(),
        Held::Null => "null".to_owned(),
        other => format!("{other:?}"),
    }
}

#[test]
fn lines_are_those_that_the_running_program_printed() {
    let Some(Cases { heap, cases, lines, .. }) = cases("Lines") else { return };
    let expected: BTreeMap<&str, &str> =
        lines.iter().map(|line| line.split_once('\t').expect("a name and a line")).collect();
    let ids: BTreeSet<ObjectId> = cases.iter().map(|(_, held)| *held).collect();
    let ids: Vec<ObjectId> = ids.into_iter().collect();
    let found = heap.lines(&ids, &Silent).expect("a heap");
    let mut differences = Vec::new();
    for (name, held) in &cases {
        let at = ids.binary_search(held).expect("an object");
        let found = found[at].clone().unwrap_or_default().replace('\t', "\\t").replace('\n', "\\n");
        if found != expected[name.as_str()] {
            differences.push(format!("{name}: {found:?} for {:?}", expected[name.as_str()]));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(cases.len() > 2000);
    // Objects with equal lines are one group, others one each.
    let all = Expression::parse("type = \"Lines$Case\"").expect("an expression");
    let (all, _) = heap.select(&[], &all, &Silent).expect("a heap");
    let held = GroupKey::Field(FieldPath::parse(".held").expect("a field"));
    let groups = heap.groups(&all, &[held], &Silent).expect("a heap").groups;
    let said: BTreeSet<&str> = expected.values().copied().filter(|line| !line.is_empty()).collect();
    let silent = expected.values().filter(|line| line.is_empty()).count();
    assert_eq!((groups.len(), all.len()), (said.len() + silent, cases.len() as u64));
}

/// The lines of a file of rules for the classes of `OwnLines`, as these say themselves what they are.
const OWN_LINES: &str = r##"
"OwnLines$Key" = "{.name}#{.id}"
"OwnLines$NamedKey" = "key {.title}"
"OwnLines$Order" = "order {.no} of {.of}[ ({.note})]"
"OwnLines$Session" = '{.attributes["tenant"]}: {.attributes["key"]}'
"OwnLines$Basket" = "basket of {elements}"
"OwnLines$Point" = "{{{.x}\\|{.isSet}}}"
"##;

#[test]
fn lines_of_rules_are_what_the_objects_of_the_running_program_said() {
    let Some(Cases { heap, cases, lines, .. }) = cases("OwnLines") else { return };
    let expected: BTreeMap<&str, &str> =
        lines.iter().map(|line| line.split_once('\t').expect("a name and a line")).collect();
    let rules = LineRules::read("own.toml", OWN_LINES).expect("rules");
    let heap = heap.with_lines(Arc::new(rules)).expect("a heap");
    for (name, held) in &cases {
        let found = heap.lines(&[*held], &Silent).expect("a heap").remove(0);
        assert_eq!(found.as_deref(), Some(expected[name.as_str()]), "{name}");
    }
    assert!(cases.len() > 400);
    // Fields that lead to an object are compared with its line, and objects with equal lines are one group.
    let said = |text: &str| expected.values().filter(|line| line.contains(text)).count() as u64;
    let umbrella = Expression::parse("line ~ /^Umbrella: /").expect("an expression");
    assert_eq!(heap.select(&[], &umbrella, &Silent).expect("objects").0.len(), said("Umbrella: "));
    let orders = Expression::parse("type = \"OwnLines$Order\" and .of ~ /^key n/").expect("an expression");
    assert_eq!(heap.select(&[], &orders, &Silent).expect("objects").0.len(), said("of key n"));
}

#[test]
fn numbers_and_dates_compare_and_add_up_as_in_the_running_program() {
    let folder = tempfile::tempdir().expect("a folder");
    if !compile("Values", folder.path()) {
        return;
    }
    let (jvm, lines) = start("Values", folder.path(), &["-XX:+UseSerialGC"]);
    let dump = folder.path().join("live.hprof");
    write_dump(&jvm, &dump);
    let heap = record_file(&dump, &ImportOptions::default()).expect("a whole dump").into_heap();
    let all = select(&heap, "type = \"Values$Case\"");
    let mut differences = Vec::new();
    let mut groups: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    for line in &lines {
        let words: Vec<&str> = line.split('\t').collect();
        let found = match words[0] {
            "count" => select(&heap, &format!("type = \"Values$Case\" and ({})", words[1])).len().to_string(),
            "group" => {
                let groups =
                    groups.entry(words[1].to_owned()).or_insert_with(|| sizes_of_groups(&heap, &all, words[1]));
                groups.get(words[2]).copied().unwrap_or_default().to_string()
            }
            aggregate => {
                let totals = totals(&heap, &all, words[1]);
                assert_eq!((totals.known + totals.absent, totals.unknown), (all.len(), 0));
                let number = match aggregate {
                    "sum" => totals.sum(),
                    "min" => totals.least().cloned(),
                    _ => totals.greatest().cloned(),
                };
                match number {
                    Some(Number::Whole(whole)) => whole.to_string(),
                    Some(Number::Decimal(decimal)) => decimal.to_string(),
                    other => panic!("{other:?}"),
                }
            }
        };
        if found != words[words.len() - 1] {
            differences.push(format!("{line}: {found}"));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(lines.len() > 150, "{}", lines.len());
}

fn select(heap: &Heap, text: &str) -> ObjectSet {
    let expression = Expression::parse(text).expect(text);
    heap.select(&[], &expression, &Silent).expect(text).0
}

/// The numbers that a field of several objects holds, in all.
fn totals(heap: &Heap, set: &ObjectSet, field: &str) -> NumberTotals {
    let (path, mut totals) = (FieldPath::parse(field).expect("a field"), NumberTotals::default());
    let mut told = BTreeSet::new();
    heap.field_numbers(set, &path, &Silent, &mut |at, found| {
        assert!(told.insert(at), "each object once");
        totals.add_found(found);
    })
    .expect("numbers");
    assert_eq!(told.len() as u64, set.len());
    totals
}

/// The number of objects of each group, by its line.
fn sizes_of_groups(heap: &Heap, set: &ObjectSet, field: &str) -> BTreeMap<String, u64> {
    let key = GroupKey::Field(FieldPath::parse(field).expect("a field"));
    let groups = heap.groups(set, &[key], &Silent).expect("groups");
    let held: Vec<Held> = groups.groups.iter().map(|group| groups.held(group)[0]).collect();
    let lines = heap.lines_of(&held, &Silent).expect("lines");
    let of_group = |(group, held): (&barrow_analyzer::ObjectGroup, &Held)| match held {
        Held::Object(object) => (lines[object].text.clone(), group.objects),
        held => (format!("{held:?}"), group.objects),
    };
    groups.groups.iter().zip(&held).map(of_group).collect()
}

/// Each of three threads that are called `worker` holds an array of another length, which it prints with its number.
#[test]
fn threads_of_equal_names_hold_what_each_of_them_printed() {
    let folder = tempfile::tempdir().expect("a folder");
    if !compile("Workers", folder.path()) {
        return;
    }
    let (jvm, lines) = start("Workers", folder.path(), &["-XX:+UseSerialGC"]);
    let dump = folder.path().join("live.hprof");
    write_dump(&jvm, &dump);
    let heap = record_file(&dump, &ImportOptions::default()).expect("a whole dump").into_heap();
    let tables = heap.recording().tables().expect("tables");
    let threads = Threads::read(heap.recording(), SNAPSHOT).expect("threads");
    let (roots, is_exact) = heap.thread_roots(&threads, &Silent).expect("roots");
    assert!(is_exact);
    let meanings = meanings(&heap);
    let mut found = BTreeMap::new();
    for thread in &roots {
        let Some(row) = thread.row.map(|row| &threads.rows()[row]) else { continue };
        if row.name.is_none_or(|name| tables.string(name) != "worker") {
            continue;
        }
        let object = ObjectSet::from_sorted(SNAPSHOT, heap.object_count(), thread.object);
        let number =
            said(&heap, &meanings, heap.field_column(&object, &FieldPath::named("tid"), &Silent).expect("a heap")[0]);
        let frames = heap.frames(&threads, thread.label, &Silent).expect("frames");
        let of_work = frames.rows.iter().filter(|frame| tables.string(frame.label).contains(": Workers.work("));
        let of_work: Vec<u64> = of_work.map(|frame| frame.retained.bytes).collect();
        let [held] = of_work[..] else { panic!("{of_work:?}") };
        assert!(thread.retained.bytes >= held, "{thread:?}");
        found.insert(number, held);
    }
    let printed = lines.iter().filter_map(|line| line.split_once(' '));
    let printed: BTreeMap<&str, u64> =
        printed.map(|(number, length)| (number, length.parse().expect("a length"))).collect();
    assert_eq!(printed.len(), 3, "{lines:?}");
    assert_eq!(found.keys().collect::<Vec<_>>(), printed.keys().collect::<Vec<_>>());
    for (number, length) in printed {
        // The array, with its head, and nothing else of that size.
        assert!((length..length + 1000).contains(&found[number]), "{number}: {found:?}");
    }
}

/// `Sums` adds floats as doubles, and the bits of 0.1 exactly; which sums 64 bits do not hold follows from its numbers.
#[test]
fn sums_and_extremes_are_those_that_the_program_printed() {
    let folder = tempfile::tempdir().expect("a folder");
    if !compile("Sums", folder.path()) {
        return;
    }
    let (jvm, lines) = start("Sums", folder.path(), &["-XX:+UseSerialGC"]);
    let dump = folder.path().join("live.hprof");
    write_dump(&jvm, &dump);
    let heap = record_file(&dump, &ImportOptions::default()).expect("a whole dump").into_heap();
    let orders = select(&heap, "type = \"Sums$Order\"");
    let printed: BTreeMap<&str, &str> = lines.iter().filter_map(|line| line.split_once(' ')).collect();
    assert_eq!((orders.len(), printed.len()), (1000, 4), "{lines:?}");
    for (field, name, is_rounded) in
        [(".part", "parts", false), (".quarters", "quarters", false), (".tenth", "tenths", true)]
    {
        let totals = totals(&heap, &orders, field);
        let sum: f64 = printed[name].parse().expect("a number");
        assert_eq!((totals.sum(), totals.is_rounded()), (Some(Number::Real(sum)), is_rounded), "{field}");
    }
    let days = totals(&heap, &orders, ".day");
    let (first, last) = days.first_and_last().expect("days");
    assert_eq!((format!("{} {}", first.text, last.text).as_str(), days.times()), (printed["days"], 1000));
    assert_eq!((days.sum(), days.known, days.absent), (None, 0, 0));
}
