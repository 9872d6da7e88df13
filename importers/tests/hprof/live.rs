//! A JVM that runs now, if there is one: its dump against its own histogram.

use crate::read::record_file;
use crate::samples::{FOLDER, assert_agree, histogram};
use barrow_importers::ImportOptions;
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

#[test]
fn a_running_jvm_and_its_dump_agree() {
    if !["javac", "java", "jcmd"].into_iter().all(is_there) {
        eprintln!("not tested: no JDK here");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let source = Path::new(FOLDER).join("Shapes.java");
    let compiled = Command::new("javac").arg("-d").arg(folder.path()).arg(source).stderr(Stdio::null()).status();
    assert!(compiled.expect("javac").success());
    for flags in [&["-XX:+UseSerialGC"][..], &["-XX:-UseCompressedOops"], &["-XX:ObjectAlignmentInBytes=16"]] {
        let jvm = Command::new("java")
            .args(flags)
            .args(["-Xmx64m", "-cp"])
            .arg(folder.path())
            .arg("Shapes")
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .spawn();
        let mut jvm = Running(jvm.expect("java"));
        let mut line = String::new();
        let output = jvm.0.stdout.take().expect("piped");
        BufReader::new(output).read_line(&mut line).expect("a line");
        assert_eq!(line.trim(), "ready");
        let dump = folder.path().join("live.hprof");
        let write = |jvm: &Running| {
            let _ = std::fs::remove_file(&dump);
            jcmd(jvm, &["GC.heap_dump", &dump.to_string_lossy()])
        };
        // The first time the JVM makes objects for the commands themselves.
        jcmd(&jvm, &["GC.class_histogram"]);
        write(&jvm);
        let text = jcmd(&jvm, &["GC.class_histogram"]);
        write(&jvm);
        let recorded = record_file(&dump, &ImportOptions::default()).expect("a whole dump");
        assert_agree(recorded.histogram(), histogram(&text));
    }
}
