//! A JVM that runs now, if there is one: its dump against its own histogram.

use crate::arrays::held_arrays;
use crate::read::record_file;
use crate::samples::{FOLDER, assert_agree, histogram};
use crate::texts::{expected, texts, with_contents};
use barrow_analyzer::Silent;
use barrow_importers::{Contents, ImportOptions};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

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
