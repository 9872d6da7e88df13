//! `barrow-sh` beside `/bin/sh`: the same effect, and a log.
#![cfg(unix)]

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use barrow_analyzer::Recording;
use barrow_importers::{Silent, import_bytes};
use barrow_processes::ProcessTree;
use barrow_writer::{Options, Writer};

const OURS: &str = env!("CARGO_BIN_EXE_barrow-sh");

fn run(shell: &str, words: &[&str], log: Option<&Path>) -> Output {
    let mut command = Command::new(shell);
    command.args(words).stdin(Stdio::null()).env_remove("BARROW_SH_LOG").env_remove("BARROW_SH_PARENT");
    log.map(|log| command.env("BARROW_SH_LOG", log));
    command.output().unwrap()
}

/// The tree of a log.
fn tree(log: &[u8]) -> ProcessTree {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.barrow");
    let writer = Writer::create(&path, Options::default()).unwrap();
    let imported = import_bytes(log, &writer, &Silent).unwrap();
    assert_eq!(imported.lost, None);
    writer.finish().unwrap();
    ProcessTree::read(Arc::new(Recording::from_bytes(std::fs::read(path).unwrap()).unwrap())).unwrap()
}

#[test]
fn it_has_the_effect_of_the_shell() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let lines: [&[&str]; 10] = [
        &["-c", "echo one; echo two >&2; exit 7"],
        &["-c", "echo \"$0 $1 $2\"", "name", "a  b", "ü\n"],
        &["-c", "nonsense-that-is-no-program"],
        &["-c", "kill -TERM $$"],
        &["-c", "kill -9 $$"],
        &["-ec", "false; echo never"],
        &["-c", "cat; echo end"],
        &["/no/such/script"],
        &["-c", "if ("],
        &["-c", "yes | head -n 3"],
    ];
    for words in lines {
        let expected = run("/bin/sh", words, None);
        for log in [None, Some(&*log), Some(Path::new("/no/such/folder/log"))] {
            let found = run(OURS, words, log);
            assert_eq!(found.status.code(), expected.status.code(), "{words:?}");
            assert_eq!(found.status.signal(), expected.status.signal(), "{words:?}");
            assert_eq!(found.stdout, expected.stdout, "{words:?}");
            assert_eq!(found.stderr, expected.stderr, "{words:?}");
        }
    }
    let tree = tree(&std::fs::read(log).unwrap());
    assert_eq!(tree.processes().len(), lines.len());
    let ends: Vec<_> = tree.processes().iter().map(|process| process.end.unwrap()).collect();
    assert_eq!((ends[0].exit_status, ends[3].signal, ends[4].signal), (Some(7), Some(15), Some(9)));
    let second = tree.image(tree.processes()[1].first_image);
    assert_eq!(tree.arguments(second).last(), Some("ü\n"));
    assert!(second.used.peak_bytes.unwrap() > 100_000, "{second:?}");
}

#[test]
fn wrappers_know_the_wrapper_around_them() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    run(OURS, &["-c", &format!("{OURS} -c 'true'; {OURS} -c 'false'; true")], Some(&log));
    let tree = tree(&std::fs::read(log).unwrap());
    let parents: Vec<_> = tree.processes().iter().map(|process| process.parent.map(|parent| parent.0)).collect();
    assert_eq!(parents, [None, Some(0), Some(0)]);
}

#[test]
fn eight_writers_tear_no_record() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let loop_of = format!("i=0; while [ $i -lt 125 ]; do {OURS} -c : \"$(printf '%04000d' $i)\"; i=$((i+1)); done");
    let mut writers: Vec<_> = (0..8)
        .map(|_| Command::new("/bin/sh").args(["-c", &loop_of]).env("BARROW_SH_LOG", &log).spawn().unwrap())
        .collect();
    writers.iter_mut().for_each(|writer| assert!(writer.wait().unwrap().success()));
    let tree = tree(&std::fs::read(log).unwrap());
    assert_eq!(tree.processes().len(), 1000);
    assert!(tree.processes().iter().all(|process| process.end.is_some()));
}

#[test]
fn under_another_name_it_wraps_the_program_of_that_name() {
    let folder = tempfile::tempdir().unwrap();
    let (bin, log) = (folder.path().join("bin"), folder.path().join("log"));
    std::fs::create_dir(&bin).unwrap();
    for name in ["expr", "sh"] {
        std::os::unix::fs::symlink(OURS, bin.join(name)).unwrap();
    }
    let path = format!("{0}:{0}:{1}", bin.display(), std::env::var("PATH").unwrap());
    let found = Command::new("sh")
        .args(["-c", "expr 3 + 4; exec expr 5 + 6"])
        .env("PATH", &path)
        .env("BARROW_SH_LOG", &log)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(found.stdout).unwrap(), "7\n11\n");
    let tree = tree(&std::fs::read(log).unwrap());
    let commands: Vec<String> =
        tree.images().iter().map(|image| tree.arguments(image).next().unwrap().to_owned()).collect();
    assert!(commands.iter().filter(|command| command.ends_with("expr")).count() >= 2, "{commands:?}");
    // Where there is no other program of the name, it says so and does not run itself for ever.
    std::os::unix::fs::symlink(OURS, bin.join("no-such-program")).unwrap();
    let found = Command::new(bin.join("no-such-program")).env("PATH", &bin).output().unwrap();
    assert_eq!(found.status.code(), Some(127));
}

#[test]
fn signals_reach_what_is_run() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let script = "trap 'echo got; exit 9' TERM; echo ready; while :; do sleep 0.01; done";
    let mut child =
        Command::new(OURS).args(["-c", script]).env("BARROW_SH_LOG", &log).stdout(Stdio::piped()).spawn().unwrap();
    let mut ready = [0; 6];
    let mut out = child.stdout.take().unwrap();
    std::io::Read::read_exact(&mut out, &mut ready).unwrap();
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(9));
    assert_eq!(std::io::read_to_string(out).unwrap(), "got\n");
}
