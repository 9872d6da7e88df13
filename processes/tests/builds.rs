//! Recordings of real builds: each predicts what the other one measured with another number of slots.

use std::sync::Arc;

use barrow_analyzer::{Recording, Usage};
use barrow_processes::{Outcome, Plan, ProcessTree, Totals, critical_path, peak, whole_wall_ns};

struct Build {
    tree: ProcessTree,
    plan: Plan,
    as_recorded: Outcome,
}

fn build(name: &str) -> Build {
    let path = barrow_testdata::path(&format!("builds/{name}.barrow"));
    let tree = ProcessTree::read(Arc::new(Recording::open(&path).unwrap())).unwrap();
    let plan = Plan::of(&tree, &Totals::of(&tree));
    let as_recorded = plan.replay(plan.recorded_slots());
    Build { tree, plan, as_recorded }
}

/// By how much a prediction is above what was measured, as a share of that: time, and memory.
fn errors(from: &Build, to: &Build) -> (f64, f64) {
    let predicted = from.plan.replay(to.plan.recorded_slots());
    let bytes = from.plan.sampled_bytes(&predicted, &from.as_recorded).unwrap() as f64;
    let wall_ns = predicted.wall_ns as f64;
    (wall_ns / whole_wall_ns(&to.tree) as f64 - 1.0, bytes / peak(&to.tree).unwrap().bytes as f64 - 1.0)
}

#[test]
fn one_slot_predicts_two_and_two_predict_one() {
    // Compilers of Rust wait for one another where two share slots, which is not seen from outside. The third takes 2.4 s
    // with two slots: 14 samples miss the moment at which both hold most.
    for (name, most_time, most_memory) in [("cargo", 0.15, 0.15), ("ninja", 0.03, 0.17), ("make", 0.03, 0.55)] {
        let [one, two] = ["j1", "j2"].map(|jobs| build(&format!("{name}-{jobs}")));
        assert_eq!((one.plan.recorded_slots(), two.plan.recorded_slots()), (1, 2), "{name}");
        for (from, to) in [(&one, &two), (&two, &one)] {
            let (wall, memory) = errors(from, to);
            println!("{name}: {:+.1} % of the time, {:+.1} % of the memory", wall * 100.0, memory * 100.0);
            assert!(wall.abs() < most_time, "{name}: {wall}");
            assert!(memory.abs() < most_memory, "{name}: {memory}");
        }
    }
}

#[test]
fn a_build_is_replayed_as_it_was() {
    let flat =
        ["cargo-j1", "cargo-j2", "ninja-j1", "ninja-j2", "make-j1", "make-j2", "pytest-n2"].map(|name| (name, 0.02));
    let others =
        ["jinja2-n1", "jinja2-n2", "jinja2-n4", "control-j1", "control-j2", "control-j4"].map(|name| (name, 0.03));
    // Makes that call one another are replayed too fast, the more so the more slots there are; equal jobs of one make are not.
    let recursive = [("hello-j1", 0.03), ("hello-j2", 0.07), ("hello-j4", 0.13)];
    for (name, most) in flat.into_iter().chain(others).chain(recursive) {
        let Build { tree, as_recorded, .. } = build(name);
        let error = as_recorded.wall_ns as f64 / whole_wall_ns(&tree) as f64 - 1.0;
        println!("{name}: {:+.1} %", error * 100.0);
        assert!(error.abs() < most, "{name}: {error}");
    }
}

#[test]
fn the_critical_path_of_a_build_makes_up_its_time() {
    for name in ["cargo-j2", "ninja-j2", "make-j2", "pytest-n2", "hello-j1", "hello-j2", "hello-j4", "jinja2-n4"] {
        let Build { tree, .. } = build(name);
        let path: u64 = critical_path(&tree).iter().map(barrow_processes::Step::wall_ns).sum();
        let error = path as f64 / whole_wall_ns(&tree) as f64 - 1.0;
        assert!(error.abs() < 0.001, "{name}: {error}");
    }
}

#[test]
fn a_recursive_build_on_a_busy_machine_predicts_as_badly_as_it_did() {
    // What was measured on a busy machine, with some margin: equal jobs are mispredicted by as much there. These bounds notice
    // changes of the model; they do not say how good it is. See the README of the recordings.
    let expected = [
        ((1, 2), (0.15, 0.25)),
        ((2, 1), (0.05, 0.20)),
        ((1, 4), (0.35, 1.20)),
        ((2, 4), (0.35, 0.85)),
        ((4, 1), (0.55, 0.60)),
        ((4, 2), (0.38, 0.50)),
    ];
    for ((from, to), (most_time, most_memory)) in expected {
        let [one, other] = [from, to].map(|slots| build(&format!("hello-j{slots}")));
        assert_eq!((one.plan.recorded_slots(), other.plan.recorded_slots()), (from, to));
        let (wall, memory) = errors(&one, &other);
        println!("{from} -> {to}: {:+.1} % of the time, {:+.1} % of the memory", wall * 100.0, memory * 100.0);
        assert!(wall.abs() < most_time, "{from} -> {to}: {wall}");
        assert!(memory.abs() < most_memory, "{from} -> {to}: {memory}");
    }
}

#[test]
fn a_build_does_the_same_with_any_number_of_slots() {
    let work = |slots: u64| {
        let Build { tree, plan, .. } = build(&format!("hello-j{slots}"));
        let mut commands: Vec<_> = tree.images().iter().map(|image| tree.command(image).map(str::to_owned)).collect();
        commands.sort();
        let sum =
            |part: fn(&Usage) -> Option<u64>| tree.images().iter().filter_map(|image| part(&image.used)).sum::<u64>();
        let totals = Totals::of(&tree);
        assert_eq!(totals.whole().user_ns.value(), Some(sum(|used| used.user_ns)), "{slots}");
        assert_eq!(totals.whole().system_ns.value(), Some(sum(|used| used.system_ns)), "{slots}");
        (commands, plan.jobs(), totals.whole().cpu_ns().unwrap() as f64)
    };
    let (commands, jobs, cpu_ns) = work(1);
    assert_eq!((commands.len(), jobs), (297, 60));
    for slots in [2, 4] {
        let (others, other_jobs, other_ns) = work(slots);
        assert_eq!((&others, other_jobs), (&commands, jobs), "{slots}");
        assert!((other_ns / cpu_ns - 1.0).abs() < 0.1, "{slots}: {other_ns}");
    }
}
