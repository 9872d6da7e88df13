//! What a recording does not tell is unknown: neither it nor its opposite holds.

use std::sync::Arc;

use barrow_analyzer::Recording;
use barrow_processes::{Expression, Plan, ProcessTree, Totals};
use barrow_testdata::Shelf;
use barrow_writer::{Options, ProcessDescription, ProcessEnd, ProgramDescription, Writer};

/// A process without a parent and a child that executes nothing; they end with these exit statuses.
fn tree(by: Option<&str>, first: &[&str], statuses: [Option<u64>; 2], attributes: &[(&str, &str)]) -> ProcessTree {
    let shelf = Shelf::default();
    let writer = Writer::to_stream(Box::new(shelf.clone()), Options::without_threads()).expect("a writer");
    if let Some(by) = by {
        writer.fact("recorded by", by).expect("a fact");
    }
    let program = ProgramDescription { arguments: first, ..ProgramDescription::default() };
    let begun = ProcessDescription { time_ns: 1, pid: 7, program, ..ProcessDescription::default() };
    let parent = writer.begin_process(&begun).expect("a process");
    let begun = ProcessDescription { time_ns: 2, pid: 8, parent: Some(parent), ..ProcessDescription::default() };
    let child = writer.begin_process(&begun).expect("a process");
    for (process, exit_status) in [child, parent].into_iter().zip(statuses) {
        let end = ProcessEnd { exit_status, ..ProcessEnd::default() };
        writer.end_process(process, 3, &end).expect("an end");
    }
    writer.process_attributes(child, attributes).expect("attributes");
    writer.finish().expect("a recording");
    ProcessTree::read(Arc::new(Recording::from_bytes(shelf.take()).expect("a recording"))).expect("a tree")
}

/// The images that match, and those that match the opposite.
fn both(tree: &ProcessTree, property: &str) -> [Vec<u32>; 2] {
    [property.to_owned(), format!("not {property}")].map(|text| {
        let expression = Expression::parse(&text).expect("an expression");
        expression.select(tree, None).iter().map(|id| id.0).collect()
    })
}

#[test]
fn only_recorders_that_notice_it_say_that_nothing_was_left_alone() {
    let make = &["make"][..];
    let known = tree(Some("barrow record"), make, [Some(0), Some(0)], &[]);
    assert_eq!(both(&known, "waited"), [vec![0, 1], vec![]]);
    assert_eq!(both(&known, "outofmemory"), [vec![], vec![0, 1]]);
    for by in [None, Some("Kleknev"), Some("barrow-sh"), Some("ninja"), Some("Bazel"), Some("strace"), Some("other")] {
        let log = tree(by, make, [Some(0), Some(0)], &[]);
        assert_eq!(both(&log, "waited"), [vec![], vec![]], "{by:?}");
        assert_eq!(both(&log, "outofmemory"), [vec![], vec![]], "{by:?}");
        let asked = Expression::parse("running or not waited").expect("an expression");
        assert_eq!(asked.unknown_attribute(&log), Some("waited"), "{by:?}");
        assert_eq!(asked.unknown_attribute(&known), None);
    }
    // A recorder that is not known, but notes it.
    let noted = tree(Some("other"), make, [Some(0), Some(0)], &[("not waited for", "never")]);
    assert_eq!(both(&noted, "waited"), [vec![0], vec![1]]);
}

#[test]
fn an_end_that_is_unknown_is_no_success() {
    // Of the child nothing is known; the parent failed.
    let one = tree(Some("strace"), &["make"], [None, Some(2)], &[]);
    assert_eq!(both(&one, "failed"), [vec![0], vec![]]);
    let some = Expression::parse("failed or pid = 8").expect("an expression").select(&one, None);
    assert_eq!(some.iter().map(|id| id.0).collect::<Vec<_>>(), [0, 1]);
    let none = Expression::parse("not failed and pid = 8").expect("an expression").select(&one, None);
    assert_eq!(none.len(), 0);
    // Ninja logs nothing that failed, and Bazel no status.
    for by in ["ninja", "Bazel"] {
        let log = tree(Some(by), &["make"], [Some(0), Some(0)], &[]);
        assert!(!log.knowledge().failures && !log.knowledge().starters, "{by}");
        assert_eq!(both(&log, "failed"), [vec![], vec![]], "{by}");
        for asked in ["failed", "children = 0", "descendants = 0", "depth = 0"] {
            let attribute = Expression::parse(asked).expect("an expression").unknown_attribute(&log);
            assert_eq!(attribute, asked.split(' ').next(), "{by}");
        }
    }
}

#[test]
fn what_has_no_program_and_no_parent_is_no_fork() {
    let log = tree(Some("ninja"), &[], [Some(0), Some(0)], &[]);
    assert!(!log.images()[0].is_forked);
    // A recorder that sees forks saw one.
    let recorded = tree(Some("barrow record"), &[], [Some(0), Some(0)], &[]);
    assert!(recorded.images()[0].is_forked);
    assert_eq!(both(&recorded, "forked"), [vec![0, 1], vec![]]);
    let traced = tree(Some("strace"), &[], [Some(0), Some(0)], &[]);
    assert_eq!(both(&traced, "forked"), [vec![1], vec![]]);
}

/// Three processes of unknown parent. `barrow record` follows all that one command starts, so two are its orphans; strace
/// may have been attached to three jobs.
#[test]
fn only_a_recorder_of_one_command_has_orphans() {
    for (by, slots) in [("barrow record", 1), ("strace", 3), ("other", 3)] {
        let shelf = Shelf::default();
        let options = Options::without_threads();
        let writer = Writer::to_stream(Box::new(shelf.clone()), options).expect("a writer");
        writer.fact("recorded by", by).expect("a fact");
        writer.fact("command", "make").expect("a fact");
        let program = ProgramDescription { arguments: &["cc", "-c", "a.c"], ..ProgramDescription::default() };
        let begun = (0..3).map(|at| ProcessDescription {
            time_ns: at,
            pid: 7 + at as u64,
            program,
            ..ProcessDescription::default()
        });
        let begun: Vec<_> = begun.map(|begun| writer.begin_process(&begun).expect("a process")).collect();
        for process in begun.into_iter().rev() {
            writer.end_process(process, 1_000_000, &ProcessEnd::default()).expect("an end");
        }
        writer.finish().expect("a recording");
        let recording = Arc::new(Recording::from_bytes(shelf.take()).expect("a recording"));
        let tree = ProcessTree::read(recording).expect("a tree");
        assert_eq!(Plan::of(&tree, &Totals::of(&tree)).recorded_slots(), slots, "{by}");
    }
}
