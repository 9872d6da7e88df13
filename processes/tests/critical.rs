//! The critical path and idle slots, against their definitions on small random trees.

use std::sync::Arc;

use barrow_analyzer::Recording;
use barrow_processes::{ImageId, Lanes, ProcessId, ProcessTree, Step, critical_path, idle_ns};
use barrow_testdata::{ProcessLog, Random};

fn tree(log: &ProcessLog) -> ProcessTree {
    ProcessTree::read(Arc::new(Recording::from_bytes(log.bytes()).unwrap())).unwrap()
}

/// The definition, back from `to`: the child that ended last by then was waited for, and what is after it is the parent's.
fn define(
    tree: &ProcessTree,
    process: Option<ProcessId>,
    (from, to): (i64, i64),
    steps: &mut Vec<(ProcessId, i64, i64)>,
) {
    let mut now = to;
    let mut seen = vec![false; tree.processes().len()];
    loop {
        let ids = (0..tree.processes().len() as u32).map(ProcessId);
        let children = ids.filter(|&id| tree.process(id).parent == process && !seen[id.index()]);
        let by_end = |id: &ProcessId| (tree.ended_ns(tree.process(*id)), *id);
        let last = children.filter(|&id| tree.ended_ns(tree.process(id)) <= now).max_by_key(by_end);
        let Some(child) = last.filter(|&id| tree.ended_ns(tree.process(id)) > from) else { break };
        let ended = tree.ended_ns(tree.process(child));
        // Those that ended later than the one that was waited for were not waited for.
        (0..tree.processes().len() as u32)
            .map(ProcessId)
            .for_each(|id| seen[id.index()] |= by_end(&id) >= (ended, child));
        steps.extend(process.filter(|_| ended < now).map(|process| (process, ended, now)));
        let began = tree.process(child).began_ns.max(from);
        define(tree, Some(child), (began, ended), steps);
        now = began.min(ended);
    }
    steps.extend(process.filter(|_| from < now).map(|process| (process, from, now)));
}

/// Steps one after the other in the same process as one.
fn joined(steps: impl IntoIterator<Item = (ProcessId, i64, i64)>) -> Vec<(ProcessId, i64, i64)> {
    let mut joined: Vec<(ProcessId, i64, i64)> = Vec::new();
    for (process, from, to) in steps {
        match joined.last_mut() {
            Some(last) if last.0 == process && last.2 == from => last.2 = to,
            _ => joined.push((process, from, to)),
        }
    }
    joined
}

#[test]
fn the_path_is_what_its_definition_says() {
    let mut steps_seen = 0;
    for seed in 0..400 {
        let tree = tree(&ProcessLog::random(&mut Random::new(seed), 12));
        let path = critical_path(&tree);
        let mut defined = Vec::new();
        define(&tree, None, tree.span_ns(), &mut defined);
        defined.reverse();
        let found = path.iter().map(|step| (tree.image(step.image).process, step.from_ns, step.to_ns));
        assert_eq!(joined(found), joined(defined), "seed {seed}");
        assert!(path.is_sorted_by(|one, next| one.to_ns <= next.from_ns), "seed {seed}");
        for Step { image, from_ns, to_ns } in &path {
            let of = tree.image(*image);
            let is_last = of.next.is_none();
            assert!(from_ns < to_ns && of.began_ns <= *from_ns, "seed {seed}");
            assert!(is_last || of.ended_ns.is_some_and(|end| *to_ns <= end), "seed {seed}");
        }
        steps_seen += path.len();
    }
    assert!(steps_seen > 1000, "{steps_seen}");
}

#[test]
fn the_path_of_a_build_makes_up_its_time() {
    let tree = tree(&ProcessLog::build(&mut Random::new(3), 400, 4));
    let path = critical_path(&tree);
    let whole: u64 = path.iter().map(Step::wall_ns).sum();
    let (first, last) = tree.span_ns();
    assert_eq!(whole, last.abs_diff(first));
    assert_eq!(Lanes::of(&tree).len(), 4);
}

#[test]
fn idle_slots_are_those_in_which_nothing_runs() {
    for seed in 0..200 {
        let tree = tree(&ProcessLog::random(&mut Random::new(seed), 10));
        let lanes = Lanes::of(&tree);
        let spans: Vec<_> = (0..lanes.len()).flat_map(|lane| lanes.lane(lane)).collect();
        let path = critical_path(&tree);
        for slots in [0, 1, 2, 5] {
            let found = idle_ns(&tree, &path, slots);
            for (step, &idle) in path.iter().zip(&found) {
                let running =
                    |time| spans.iter().filter(|span| (span.began_ns..span.ended_ns).contains(&time)).count() as u64;
                let defined: u64 = (step.from_ns..step.to_ns).map(|time| slots.saturating_sub(running(time))).sum();
                assert_eq!(idle, defined, "seed {seed}, {slots} slots, {step:?}");
            }
        }
    }
}

#[test]
fn a_tree_without_processes_has_no_path() {
    let tree = tree(&ProcessLog::default());
    assert!(critical_path(&tree).is_empty() && idle_ns(&tree, &[], 4).is_empty());
    assert_eq!(tree.images().len(), ImageId(0).index());
}
