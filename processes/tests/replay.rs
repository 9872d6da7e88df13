//! Replays against schedules that are made in the simplest way, against limits that hold for every schedule, and against
//! recordings of the same build with other slots.

use std::sync::Arc;

use barrow_analyzer::{Recording, Usage};
use barrow_processes::{Plan, ProcessTree, Totals};
use barrow_testdata::{Happening, ProcessLog, Random};

const MILLISECOND: i64 = 1_000_000;

fn tree(log: &ProcessLog) -> ProcessTree {
    ProcessTree::read(Arc::new(Recording::from_bytes(log.bytes()).unwrap())).unwrap()
}

fn plan(tree: &ProcessTree) -> Plan {
    Plan::of(tree, &Totals::of(tree))
}

/// `make -j1` with jobs one after the other: command lines, lengths in milliseconds, and the share that they compute.
fn one_after_the_other(jobs: &[(String, i64, f64)]) -> ProcessLog {
    let mut log = ProcessLog::default();
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    log.rows.push((0, Happening::Begin(None, 100, words("make -j1"))));
    let mut now = 0;
    for (id, (line, length, computes)) in (1..).zip(jobs) {
        log.rows.push((now, Happening::Begin(Some(0), 100 + u64::from(id), words(line))));
        now += length * MILLISECOND;
        let user_ns = Some((*length as f64 * 1e6 * computes) as u64);
        let used = Usage { user_ns, system_ns: Some(0), peak_bytes: Some(1 << 20), ..Usage::default() };
        log.rows.push((now, Happening::End(id, 0, used)));
    }
    log.rows.push((now, Happening::End(0, 0, Usage::default())));
    log
}

fn compile(file: usize, length: i64) -> (String, i64, f64) {
    (format!("cc -c {file}.c -o {file}.o"), length, 1.0)
}

/// When the last of the jobs ends if each begins in the slot that is free first.
fn greedy(lengths: &[i64], slots: usize) -> i64 {
    let mut free = vec![0; slots];
    for length in lengths {
        let first = free.iter_mut().min().unwrap();
        *first += length;
    }
    free.into_iter().max().unwrap()
}

#[test]
fn independent_jobs_begin_in_the_slot_that_is_free_first() {
    // Recordings of `ProcessLog` have four cores.
    for seed in 0..50 {
        let mut random = Random::new(seed);
        let lengths: Vec<i64> = (0..1 + random.below(30)).map(|_| 1 + random.below(500) as i64).collect();
        let jobs: Vec<_> = lengths.iter().enumerate().map(|(file, &length)| compile(file, length)).collect();
        let plan = plan(&tree(&one_after_the_other(&jobs)));
        assert_eq!((plan.recorded_slots(), plan.cores(), plan.jobs()), (1, 4, jobs.len()));
        for slots in 1..=4 {
            let found = plan.replay(slots as u64).wall_ns as f64 / 1e6;
            let expected = greedy(&lengths, slots) as f64;
            assert!((found - expected).abs() < 0.01, "seed {seed}, {slots} slots: {found} and not {expected}");
        }
    }
}

#[test]
fn more_jobs_than_cores_share_them() {
    let jobs: Vec<_> = (0..16).map(|file| compile(file, 100)).collect();
    let plan = plan(&tree(&one_after_the_other(&jobs)));
    // 1.6 s of work for four cores, however many slots there are; 16 jobs run at the same time if they may.
    for (slots, most_jobs) in [(4, 4), (8, 8), (16, 16), (40, 16)] {
        let outcome = plan.replay(slots);
        assert!((outcome.wall_ns as f64 / 1e6 - 400.0).abs() < 0.1, "{slots}: {}", outcome.wall_ns);
        assert_eq!(outcome.most_jobs, most_jobs);
    }
    // Jobs that wait half of the time use the cores of the others.
    let jobs: Vec<_> = (0..16).map(|file| (compile(file, 0).0, 100, 0.5)).collect();
    let half = tree(&one_after_the_other(&jobs));
    assert!((self::plan(&half).replay(8).wall_ns as f64 / 1e6 - 200.0).abs() < 0.1);
}

#[test]
fn what_names_files_waits_for_them() {
    let mut jobs: Vec<_> = (0..6).map(|file| compile(file, 100)).collect();
    jobs.push(("ar rcs lib.a 0.o 1.o".to_owned(), 10, 1.0));
    jobs.push(("ld -o program 2.o 3.o 4.o 5.o lib.a".to_owned(), 300, 1.0));
    jobs.push(("./program --test".to_owned(), 50, 1.0));
    jobs.push(compile(7, 100));
    let plan = plan(&tree(&one_after_the_other(&jobs)));
    // Two rounds of compilers with the archiver in the second one, then the linker and the program; 7.c runs meanwhile.
    let wall = plan.replay(4).wall_ns as f64 / 1e6;
    assert!((wall - 550.0).abs() < 0.1, "{wall}");
}

#[test]
fn scripts_go_on_one_after_the_other() {
    let mut log = one_after_the_other(&(0..5).map(|file| compile(file, 100)).collect::<Vec<_>>());
    let Happening::Begin(_, _, words) = &mut log.rows[0].1 else { panic!() };
    *words = ["sh", "build.sh"].map(str::to_owned).into();
    let plan = plan(&tree(&log));
    assert_eq!(plan.jobs(), 0);
    assert_eq!(plan.replay(8).wall_ns / 1_000_000, 500);
}

#[test]
fn a_faster_class_takes_as_much_less() {
    use barrow_processes::{Classes, LabelId, Rules};
    let jobs: Vec<_> = (0..8).map(|file| compile(file, 100)).collect();
    let tree = tree(&one_after_the_other(&jobs));
    let (totals, classes) = (Totals::of(&tree), Classes::of(&tree, Rules::standard()).unwrap());
    let schema = classes.first();
    let compiler = LabelId(schema.labels().iter().position(|label| label == "compiler").unwrap() as u32);
    let plan = Plan::of(&tree, &totals);
    for (factor, expected) in [(2.0, 400), (4.0, 200), (1.0, 800), (0.5, 1600)] {
        let outcome = plan.faster(&tree, &totals, (schema, compiler), factor).replay(1);
        assert_eq!((outcome.wall_ns + 500_000) / 1_000_000, expected, "{factor}");
    }
}

#[test]
fn no_schedule_beats_the_work_or_the_longest_job() {
    for seed in 0..200 {
        let tree = tree(&ProcessLog::build(&mut Random::new(seed), 40 + (seed as u32 % 200), 1 + seed as usize % 4));
        let plan = plan(&tree);
        let recorded = plan.replay(plan.recorded_slots()).wall_ns as f64;
        assert!((recorded / plan.recorded_ns() as f64 - 1.0).abs() < 0.05, "seed {seed}: {recorded}");
        let one = plan.replay(1).wall_ns;
        for slots in 2..10 {
            let wall = plan.replay(slots).wall_ns;
            assert!(wall <= one + 1000 && wall as f64 >= one as f64 / slots as f64 * 0.99, "seed {seed}, {slots}");
        }
    }
}

#[test]
fn any_tree_comes_to_its_end() {
    for seed in 0..500 {
        let tree = tree(&ProcessLog::random(&mut Random::new(seed), 30));
        let plan = plan(&tree);
        for slots in [0, 1, 3, u64::MAX] {
            let outcome = plan.replay(slots);
            let most: u64 = tree.images().iter().filter_map(|image| image.used.peak_bytes).sum();
            assert!(outcome.peak_bytes <= most as f64 + 1.0, "seed {seed}");
            let held: u64 = outcome.at_peak.iter().map(|&(_, bytes)| bytes).sum();
            // What is shared is in each of them.
            assert!(held as f64 + outcome.at_peak.len() as f64 + 1.0 >= outcome.peak_bytes, "seed {seed}");
        }
    }
}
