//! Trees as they are read: who started whom, and what each image used.

use std::sync::Arc;

use barrow_analyzer::Recording;
use barrow_processes::{ImageId, ProcessId, ProcessTree, Usage};
use barrow_testdata::{ProcessLog, Random};
use barrow_writer::{Options, ProcessDescription, ProcessEnd, ProgramDescription, Writer};

/// Reads back what `write` announces.
fn tree(write: impl FnOnce(&Writer)) -> ProcessTree {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("build.barrow");
    let writer = Writer::create(&path, Options::without_threads()).unwrap();
    write(&writer);
    writer.finish().unwrap();
    ProcessTree::read(Arc::new(Recording::from_bytes(std::fs::read(path).unwrap()).unwrap())).unwrap()
}

fn program<'a>(arguments: &'a [&'a str]) -> ProgramDescription<'a> {
    ProgramDescription { executable: Some(arguments[0]), directory: Some("/src"), arguments }
}

fn cpu(user_ns: u64, peak_bytes: u64) -> Usage {
    Usage { user_ns: Some(user_ns), peak_bytes: Some(peak_bytes), ..Usage::default() }
}

#[test]
fn a_process_has_an_image_for_each_program() {
    let tree = tree(|writer| {
        let begun = |time_ns, pid, parent| ProcessDescription { time_ns, pid, parent, ..ProcessDescription::default() };
        let make =
            writer.begin_process(&ProcessDescription { program: program(&["make"]), ..begun(0, 100, None) }).unwrap();
        let child = writer.begin_process(&begun(10, 101, Some(make))).unwrap();
        writer.process_image(child, 15, &program(&["env", "gcc"]), cpu(3, 900)).unwrap();
        writer.process_image(child, 20, &program(&["gcc"]), cpu(5, 100)).unwrap();
        let assembler = writer.begin_process(&begun(25, 102, Some(child))).unwrap();
        writer.process_memory(30, &[(make, 10), (child, 20), (assembler, 30)]).unwrap();
        let end = |exit_status, used| ProcessEnd { exit_status: Some(exit_status), signal: None, used };
        writer.end_process(assembler, 40, &end(1, cpu(7, 50))).unwrap();
        writer.end_process(child, 50, &end(0, cpu(100, 800))).unwrap();
        let again = writer.begin_process(&begun(60, 101, Some(make))).unwrap();
        writer.end_process(again, 70, &end(0, Usage::default())).unwrap();
    });
    let names: Vec<(u64, u32)> = tree.processes().iter().map(|process| (process.pid, process.serial)).collect();
    assert_eq!(names, [(100, 0), (101, 0), (102, 0), (101, 1)]);
    assert_eq!(tree.span_ns(), (0, 70));
    let images: Vec<_> = tree.images_of(ProcessId(1)).map(|(_, image)| image).collect();
    let commands: Vec<Vec<&str>> = images.iter().map(|image| tree.arguments(image).collect()).collect();
    assert_eq!(commands, [vec!["env", "gcc"], vec!["gcc"]]);
    // The fork belongs to the first program, but not the memory of the copy.
    assert_eq!((images[0].began_ns, images[0].ended_ns, images[0].used), (10, Some(20), cpu(5, 100)));
    assert_eq!((images[1].began_ns, images[1].ended_ns, images[1].used), (20, Some(50), cpu(95, 800)));
    assert_eq!(tree.process(ProcessId(1)).before_exec.unwrap().peak_bytes, Some(900));
    // A process that never executed is a copy of the image that forked it.
    let assembler = tree.image(tree.process(ProcessId(2)).first_image);
    assert!(assembler.is_forked && tree.arguments(assembler).eq(["gcc"]));
    assert_eq!(tree.started_by(tree.process(ProcessId(2)).first_image), Some(ImageId(2)));
    assert!(tree.process(ProcessId(2)).end.unwrap().is_failure());
    let sample = tree.samples().next().unwrap();
    assert_eq!(sample.total_bytes(), 60);
    assert_eq!(sample.bytes, [(ImageId(0), 10), (ImageId(2), 20), (ImageId(3), 30)]);
    // What was not ended ran to the end of the recording.
    assert!(tree.process(ProcessId(0)).end.is_none() && tree.wall_ns(tree.image(ImageId(0))) == 70);
}

#[test]
fn a_program_that_ignores_ends_waits_for_nothing() {
    let tree = tree(|writer| {
        let begun = |time_ns, pid, parent| ProcessDescription { time_ns, pid, parent, ..ProcessDescription::default() };
        let end = ProcessEnd { exit_status: Some(0), signal: None, used: Usage::default() };
        let shell = ProcessDescription { program: program(&["sh"]), ..begun(0, 100, None) };
        let shell = writer.begin_process(&shell).unwrap();
        let waited_for = writer.begin_process(&begun(1, 101, Some(shell))).unwrap();
        writer.end_process(waited_for, 2, &end).unwrap();
        writer.process_image(shell, 3, &program(&["server"]), Usage::default()).unwrap();
        let ignored = writer.begin_process(&begun(4, 102, Some(shell))).unwrap();
        writer.begin_process(&begun(5, 103, Some(shell))).unwrap();
        writer.end_process(ignored, 6, &end).unwrap();
        writer.process_attributes(shell, &[("ends of children", "ignored")]).unwrap();
        writer.end_process(shell, 7, &end).unwrap();
    });
    let not_waited_for: Vec<bool> = tree.processes().iter().map(|process| process.is_not_waited_for).collect();
    // The last one still runs.
    assert_eq!(not_waited_for, [false, false, true, false]);
}

#[test]
fn processes_are_named_by_number_and_serial() {
    let begun = |time_ns, pid, host| ProcessDescription { time_ns, pid, host, ..ProcessDescription::default() };
    let one_host = tree(|writer| {
        for (time_ns, pid) in [(0, 10), (1, 11), (2, 10)] {
            writer.begin_process(&begun(time_ns, pid, Some("a"))).unwrap();
        }
    });
    let names = |tree: &ProcessTree| (0..3).map(|id| tree.name(ProcessId(id))).collect::<Vec<_>>();
    assert_eq!(names(&one_host), ["10:0", "11:0", "10:1"]);
    for (name, id) in [("10:0", 0), ("11", 1), ("11:0", 1), ("10:1", 2), ("a:10:1", 2), ("a:11", 1)] {
        assert_eq!(one_host.named(name).unwrap(), ProcessId(id), "{name}");
    }
    let told = |tree: &ProcessTree, name: &str| tree.named(name).unwrap_err().to_string();
    assert_eq!(told(&one_host, "10"), "`10` may be any of 2 processes: 10:0, 10:1");
    for name in ["", "12", "10:2", "b:10:0", "x", "-1", "99999999999999999999"] {
        assert!(told(&one_host, name).starts_with(&format!("there is no process `{name}`")));
    }
    let two_hosts = tree(|writer| {
        for host in ["a", "b:1", "a"] {
            writer.begin_process(&begun(0, 10, Some(host))).unwrap();
        }
    });
    assert_eq!(names(&two_hosts), ["a:10:0", "b:1:10:0", "a:10:1"]);
    for id in 0..3 {
        assert_eq!(two_hosts.named(&two_hosts.name(ProcessId(id))).unwrap(), ProcessId(id));
    }
    assert_eq!(told(&two_hosts, "10:0"), "`10:0` may be any of 2 processes: a:10:0, b:1:10:0");
    assert_eq!(two_hosts.named("b:1:10").unwrap(), ProcessId(1));
}

#[test]
fn the_bundled_build_is_what_the_generator_makes() {
    barrow_testdata::assert_golden("build.barrow", |path| {
        let log = ProcessLog::build(&mut Random::new(1), 60, 4);
        std::fs::write(path, log.bytes()).unwrap();
    });
}
