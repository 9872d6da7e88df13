//! Replays against schedules that are made in the simplest way, against limits that hold for every schedule, and
//! against recordings of the same build with other slots.

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

/// `make -j1` in folders, one after the other, each with jobs that compute for these milliseconds. A make in a folder has 100 MiB.
fn folders(folders: &[Vec<i64>]) -> ProcessLog {
    let mut log = ProcessLog::default();
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    log.rows.push((0, Happening::Begin(None, 100, words("make -j1"))));
    let (mut now, mut next) = (0, 1);
    for jobs in folders {
        let make = next;
        log.rows.push((now, Happening::Begin(Some(0), 100 + make as u64, words("make -C folder"))));
        for &length in jobs {
            next += 1;
            log.rows.push((now, Happening::Begin(Some(make), 100 + next as u64, words("cc -c a.c"))));
            now += length * MILLISECOND;
            let user_ns = Some((length * MILLISECOND) as u64);
            let used = Usage { user_ns, system_ns: Some(0), peak_bytes: Some(1 << 20), ..Usage::default() };
            log.rows.push((now, Happening::End(next, 0, used)));
        }
        let used = Usage { peak_bytes: Some(100 << 20), ..Usage::default() };
        log.rows.push((now, Happening::End(make, 0, used)));
        next += 1;
    }
    log.rows.push((now, Happening::End(0, 0, Usage::default())));
    log
}

/// A make that a make starts has the slot in which it was started, for the first of its jobs.
#[test]
fn a_make_in_a_folder_runs_in_a_slot() {
    use barrow_processes::{Classes, LabelId, Rules};
    for seed in 0..100 {
        let mut random = Random::new(seed);
        let mut jobs = || (0..1 + random.below(6)).map(|_| 1 + random.below(500) as i64).collect::<Vec<_>>();
        let makes: Vec<Vec<i64>> = (0..1 + seed % 12).map(|_| jobs()).collect();
        let tree = tree(&folders(&makes));
        let (totals, classes) = (Totals::of(&tree), Classes::of(&tree, Rules::standard()).unwrap());
        let compiler = classes.first().labels().iter().position(|label| label == "compiler").unwrap();
        let plan = plan(&tree);
        let one_at_a_time = plan.with_pool(&tree, &totals, (classes.first(), LabelId(compiler as u32)), 1);
        let lengths = makes.concat();
        assert_eq!((plan.recorded_slots(), plan.jobs()), (1, lengths.len()));
        for slots in 1..=4 {
            let outcome = plan.replay(slots);
            let wall = (outcome.wall_ns as f64 / 1e6).round() as i64;
            assert_eq!(wall, greedy(&lengths, slots as usize), "seed {seed}, {slots} slots");
            let in_pool = one_at_a_time.replay(slots);
            let wall = (in_pool.wall_ns as f64 / 1e6).round() as i64;
            assert_eq!(wall, lengths.iter().sum::<i64>(), "seed {seed}, {slots} slots");
            assert!(outcome.most_jobs.max(in_pool.most_jobs) <= slots, "seed {seed}, {slots} slots");
            let memory = outcome.memory.unwrap();
            let most = slots.min(makes.len() as u64) * (100 << 20) + slots * (1 << 20);
            assert!(memory.likely >= 100 << 20 && memory.high <= most, "seed {seed}, {slots} slots: {memory:?}");
        }
    }
}

/// A make waits until there is what its jobs need, if it did so before.
#[test]
fn a_make_in_a_folder_waits_for_what_its_jobs_need() {
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let begin = |ms: i64, parent, pid, line: &str| (ms * MILLISECOND, Happening::Begin(parent, pid, words(line)));
    let end = |ms: i64, id, worked_ms: u64, bytes| {
        let user_ns = Some(worked_ms * MILLISECOND as u64);
        let used = Usage { user_ns, system_ns: Some(0), peak_bytes: Some(bytes), ..Usage::default() };
        (ms * MILLISECOND, Happening::End(id, 0, used))
    };
    let rows = vec![
        begin(0, None, 100, "make -j1"),
        begin(0, Some(0), 101, "make -C lib"),
        begin(0, Some(1), 102, "ar qc library.a"),
        end(300, 2, 300, 1 << 20),
        end(300, 1, 0, 100 << 20),
        begin(300, Some(0), 103, "make -C app"),
        begin(300, Some(3), 104, "cc main.c -o main library.a"),
        end(500, 4, 200, 1 << 20),
        end(500, 3, 0, 100 << 20),
        end(500, 0, 0, 0),
    ];
    let plan = plan(&tree(&ProcessLog { rows }));
    for slots in 1..=4 {
        let outcome = plan.replay(slots);
        assert_eq!(outcome.wall_ns / 1_000_000, 500, "{slots} slots");
        // Both makes never run at the same time.
        assert_eq!(outcome.memory.unwrap().high, 101 << 20, "{slots} slots");
    }
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
            let most_sampled: u64 = tree.samples().map(|sample| sample.total_bytes()).sum();
            let Some(memory) = outcome.memory else { continue };
            assert!(memory.low <= memory.likely && memory.likely <= memory.high, "seed {seed}: {memory:?}");
            assert!(memory.high <= most + most_sampled + 1, "seed {seed}: {memory:?}");
            let holders = plan.at_peak(&tree, slots, &outcome);
            let held: u64 = holders.iter().map(|&(_, bytes)| bytes).sum();
            // What is shared is in each of them.
            assert!(held + holders.len() as u64 + 1 >= memory.likely, "seed {seed}: {held} {memory:?}");
        }
    }
}

/// A job that fills its memory in a tenth of its time and then holds it: its program, bytes of its own, and
/// milliseconds.
#[derive(Clone)]
struct Filling {
    program: &'static str,
    own: u64,
    length: i64,
}

const MIB: u64 = 1 << 20;
const SAMPLED_EVERY: i64 = 50;

/// `make` with so many slots runs jobs whose programs have `shared` bytes of code: each in the slot that is free first.
/// Memory is sampled as the system divides it.
fn filling(jobs: &[Filling], slots: usize, shared: u64) -> ProcessLog {
    let mut free = vec![0; slots];
    let times: Vec<(i64, i64)> = jobs
        .iter()
        .map(|job| {
            let slot = (0..slots).min_by_key(|&slot| (free[slot], slot)).unwrap();
            free[slot] += job.length;
            (free[slot] - job.length, free[slot])
        })
        .collect();
    let words = |line: String| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let end = times.iter().map(|time| time.1).max().unwrap();
    let mut rows = vec![(0, 1, Happening::Begin(None, 100, words("make -j".to_owned())))];
    for ((number, job), &(began, ended)) in (1u32..).zip(jobs).zip(&times) {
        let line = words(format!("{} {number}.c", job.program));
        rows.push((began, 2, Happening::Begin(Some(0), 100 + u64::from(number), line)));
        let used = Usage { user_ns: Some(0), peak_bytes: Some(job.own + shared), ..Usage::default() };
        rows.push((ended, 0, Happening::End(number, 0, used)));
    }
    for now in (SAMPLED_EVERY / 2..end).step_by(SAMPLED_EVERY as usize) {
        let run = |at: usize| (times[at].0..times[at].1).contains(&now);
        let together = |program| (0..jobs.len()).filter(|&at| run(at) && jobs[at].program == program).count() as u64;
        let held = |at: usize| {
            let filled = ((now - times[at].0) as f64 / (jobs[at].length as f64 / 10.0)).min(1.0);
            (jobs[at].own as f64 * filled) as u64 + shared / together(jobs[at].program)
        };
        let running = (0..jobs.len()).filter(|&at| run(at)).map(|at| (at as u32 + 1, held(at)));
        rows.push((now, 3, Happening::Memory(running.collect())));
    }
    rows.push((end, 4, Happening::End(0, 0, Usage::default())));
    rows.sort_by_key(|&(time, order, _)| (time, order));
    // Processes are numbered in the order in which they begin, which is that of the jobs.
    ProcessLog { rows: rows.into_iter().map(|(time, _, what)| (time * MILLISECOND, what)).collect() }
}

fn memory_of(plan: &Plan, slots: u64) -> barrow_processes::MemoryRange {
    plan.replay(slots).memory.unwrap()
}

fn assert_near(found: u64, truth: u64, share: f64, what: &str) {
    let error = found as f64 / truth as f64 - 1.0;
    assert!(error.abs() <= share, "{what}: {} MiB and not {} MiB", found / MIB, truth / MIB);
}

#[test]
fn equal_jobs_hold_their_own_memory_each_and_what_they_share_once() {
    for count in 2..=8usize {
        for own in [50, 130, 400] {
            for recorded in [1, 2, count] {
                // With one at a time nothing tells that 28 MiB of 78 are shared.
                let shared = if recorded == 1 { 6 * MIB } else { 28 * MIB };
                let jobs = vec![Filling { program: "cc1", own: own * MIB, length: 1200 }; count];
                let plan = plan(&tree(&filling(&jobs, recorded, shared)));
                assert_eq!(plan.recorded_slots(), recorded as u64);
                for slots in [1, 2, count] {
                    let truth = slots as u64 * own * MIB + shared;
                    let memory = memory_of(&plan, slots as u64);
                    let what = format!("{count} jobs of {own} MiB, -j{recorded} to -j{slots}: {memory:?}");
                    assert_near(memory.likely, truth, if recorded == 1 { 0.15 } else { 0.03 }, &what);
                    assert!(memory.low <= truth && truth <= memory.high, "{what}");
                }
            }
        }
    }
}

/// A recorder that tells how large the files in memory are tells what is shared with one job at a time, too.
#[test]
fn what_processes_share_may_be_told() {
    for shared in [6, 28, 60] {
        let jobs = vec![Filling { program: "cc1", own: 50 * MIB, length: 1200 }; 6];
        let mut log = filling(&jobs, 1, shared * MIB);
        let end = log.rows.last().unwrap().0;
        let told = |job, bytes: u64| (end, Happening::Attribute(job, "file memory".to_owned(), bytes.to_string()));
        log.rows.extend((1..=6).map(|job| told(job, shared * MIB / 2)));
        log.rows.push(told(3, shared * MIB));
        let plan = plan(&tree(&log));
        for slots in 1..=6 {
            let truth = (slots * 50 + shared) * MIB;
            assert_near(memory_of(&plan, slots).likely, truth, 0.01, &format!("-j{slots}, {shared} MiB shared"));
        }
    }
}

/// Cases in which equally large jobs were taken for shared memory, or in which a ratio to what was recorded made a few
/// MiB of 1.4 GiB or the reverse.
#[test]
fn predictions_that_could_not_be() {
    let compilers = vec![Filling { program: "cc1", own: 121 * MIB + MIB / 2, length: 1500 }; 3];
    let one = memory_of(&plan(&tree(&filling(&compilers, 1, 28 * MIB))), 3);
    assert!(one.contains(392 * MIB + MIB / 2) && one.likely >= 392 * MIB, "{one:?}");
    let three = memory_of(&plan(&tree(&filling(&compilers, 3, 28 * MIB))), 1);
    assert_near(three.likely, 149 * MIB + MIB / 2, 0.02, "three compilers, -j3 to -j1");
    for count in [2, 3] {
        let jobs = vec![Filling { program: "python3", own: 200 * MIB, length: 1100 }; count];
        let plan = plan(&tree(&filling(&jobs, 1, 8 * MIB)));
        let two = memory_of(&plan, 2);
        assert_near(two.likely, 408 * MIB, 0.05, "two jobs of 208 MiB");
        assert!(two.high <= 416 * MIB + 1, "{two:?}");
        let fits = (1..=4).filter(|&slots| memory_of(&plan, slots).high <= 300 * MIB);
        assert_eq!(fits.collect::<Vec<_>>(), [1], "{count} jobs in 300 MiB");
    }
    // Two interpreters of 47 MiB among compilers that are small and short.
    let mut jobs: Vec<Filling> =
        (0..40).map(|at| Filling { program: "cc1", own: (5 + at % 9) * MIB, length: 90 }).collect();
    jobs.insert(10, Filling { program: "python3", own: 42 * MIB, length: 700 });
    jobs.insert(11, Filling { program: "python3", own: 42 * MIB, length: 700 });
    let memory = memory_of(&plan(&tree(&filling(&jobs, 2, 5 * MIB))), 4);
    assert!(
        (89 * MIB..2 * (47 + 18) * MIB).contains(&memory.likely) && memory.high <= 2 * (47 + 18) * MIB,
        "{memory:?}"
    );
}

#[test]
fn memory_is_between_the_largest_job_and_the_largest_that_run_at_once() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let jobs: Vec<Filling> = (0..2 + random.below(20))
            .map(|_| Filling {
                program: ["cc1", "ld", "python3"][random.below(3) as usize],
                own: (1 + random.below(300)) * MIB,
                length: 200 + random.below(900) as i64,
            })
            .collect();
        let shared = random.below(20) * MIB;
        let recorded = 1 + random.below(3) as usize;
        let plan = plan(&tree(&filling(&jobs, recorded, shared)));
        let mut peaks: Vec<u64> = jobs.iter().map(|job| job.own + shared).collect();
        peaks.sort_unstable_by(|a, b| b.cmp(a));
        for slots in 1..=8 {
            let memory = memory_of(&plan, slots as u64);
            let most: u64 = peaks.iter().take(slots).sum();
            let what = format!("seed {seed}, -j{recorded} to -j{slots}: {memory:?}");
            assert!(memory.low <= memory.likely && memory.likely <= memory.high && memory.high <= most + 1, "{what}");
            // With others of the same program a job is never sampled with all that it shares.
            assert!(memory.high >= peaks[0] && memory.likely + shared >= peaks[0], "{what}, {} MiB", peaks[0] / MIB);
        }
    }
}

#[test]
fn more_jobs_of_the_same_size_at_once_need_more() {
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let own = (20 + random.below(200)) * MIB;
        let job = |length| Filling { program: "cc1", own, length };
        let jobs: Vec<Filling> = (0..3 + random.below(12)).map(|_| job(300 + random.below(900) as i64)).collect();
        let plan = plan(&tree(&filling(&jobs, 1 + random.below(3) as usize, 9 * MIB)));
        let memory: Vec<_> = (1..=8).map(|slots| memory_of(&plan, slots)).collect();
        let parts: [fn(&barrow_processes::MemoryRange) -> u64; 2] = [|memory| memory.likely, |memory| memory.high];
        for part in parts {
            assert!(memory.iter().map(part).is_sorted(), "seed {seed}: {memory:?}");
        }
    }
}

/// Jobs that are too short for samples have peaks, and a wide range.
#[test]
fn memory_without_samples_is_a_wide_range() {
    let jobs = vec![Filling { program: "cc1", own: 92 * MIB, length: 10 }; 6];
    let mut log = filling(&jobs, 2, 8 * MIB);
    log.rows.retain(|(_, what)| !matches!(what, Happening::Memory(_)));
    let memory = memory_of(&plan(&tree(&log)), 4);
    assert_eq!((memory.low, memory.high), (0, 400 * MIB));
    let unknown = tree(&one_after_the_other(&[]));
    assert_eq!(plan(&unknown).replay(3).memory, None);
}

#[test]
fn a_pool_holds_back_the_jobs_of_its_class() {
    use barrow_processes::{Classes, LabelId, Rules};
    let mut jobs: Vec<_> = (0..4).map(|file| compile(file, 100)).collect();
    jobs.extend((0..4).map(|file| (format!("ld -o program{file} x{file}"), 100, 1.0)));
    let tree = tree(&one_after_the_other(&jobs));
    let (totals, classes) = (Totals::of(&tree), Classes::of(&tree, Rules::standard()).unwrap());
    let schema = classes.first();
    let label = |name| LabelId(schema.labels().iter().position(|label| label == name).unwrap() as u32);
    let plan = Plan::of(&tree, &totals);
    assert_eq!(plan.replay(4).wall_ns / MILLISECOND as u64, 200);
    let milliseconds = |outcome: barrow_processes::Outcome| (outcome.wall_ns + 500_000) / 1_000_000;
    // The compilers come first, then one linker after the other.
    let linker = plan.with_pool(&tree, &totals, (schema, label("linker")), 1);
    assert_eq!((milliseconds(linker.replay(4)), linker.jobs_in_pools()), (500, vec![4]));
    assert_eq!(milliseconds(linker.replay(1)), 800);
    let two = plan.with_pool(&tree, &totals, (schema, label("linker")), 2);
    assert_eq!(milliseconds(two.replay(4)), 300);
    let both = linker.with_pool(&tree, &totals, (schema, label("compiler")), 1);
    assert_eq!((milliseconds(both.replay(8)), both.jobs_in_pools()), (400, vec![4, 4]));
}

/// `make -j2` with `sleep 6`, `sleep 5`, `sleep 4`: the first one is not on the chain, but holds a slot.
#[test]
fn drag_is_what_the_whole_takes_less() {
    let job = |length| Filling { program: "sleep", own: MIB, length };
    for (lengths, drags) in
        [([6000, 5000, 4000], [4000, 3000, 3000]), ([1000, 5000, 4000], [0, 1000, 0]), ([100, 100, 1], [1, 1, 1])]
    {
        let tree = tree(&filling(&lengths.map(job), 2, 0));
        let totals = Totals::of(&tree);
        let plan = Plan::of(&tree, &totals);
        let greedy_without = |left_out: usize| {
            let lengths: Vec<i64> = (0..3).map(|at| if at == left_out { 0 } else { lengths[at] }).collect();
            greedy(&lengths, 2)
        };
        for (at, drag) in (0..3).zip(drags) {
            let image = tree.process(barrow_processes::ProcessId(at as u32 + 1)).last_image;
            let found = (plan.drag_ns(&tree, &totals, &[image], plan.replayed_ns()) + 500_000) / 1_000_000;
            let expected = greedy(&lengths, 2) - greedy_without(at);
            assert_eq!((found as i64, expected), (expected, drag), "{lengths:?}, {at}");
        }
        let all: Vec<_> = (1..4).map(|at| tree.process(barrow_processes::ProcessId(at)).last_image).collect();
        let found = (plan.drag_ns(&tree, &totals, &all, plan.replayed_ns()) + 500_000) / 1_000_000;
        assert_eq!(found as i64, greedy(&lengths, 2), "{lengths:?}");
    }
}

/// A shell that waits for 1 s, and then executes make, which starts two jobs after 10 ms and goes on for 5 ms.
#[test]
fn drag_is_that_of_each_program_of_a_starter() {
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let mut log = ProcessLog::default();
    let mut row = |at_ms: i64, what| log.rows.push((at_ms * MILLISECOND, what));
    row(0, Happening::Begin(None, 100, words("sh build.sh")));
    row(1000, Happening::Execute(0, words("make -j2"), Usage::default()));
    row(1010, Happening::Begin(Some(0), 101, words("sleep 0.6")));
    row(1010, Happening::Begin(Some(0), 102, words("sleep 0.4")));
    row(1410, Happening::End(2, 0, Usage::default()));
    row(1610, Happening::End(1, 0, Usage::default()));
    row(1615, Happening::End(0, 0, Usage::default()));
    let tree = tree(&log);
    let totals = Totals::of(&tree);
    let plan = Plan::of(&tree, &totals);
    let images: Vec<_> = tree.images_of(barrow_processes::ProcessId(0)).map(|(image, _)| image).collect();
    let drag = |images: &[_]| (plan.drag_ns(&tree, &totals, images, plan.replayed_ns()) + 500_000) / 1_000_000;
    assert_eq!(images.iter().map(|&image| drag(&[image])).collect::<Vec<_>>(), [1000, 15]);
    assert_eq!(drag(&images), 1015);
}

/// Other programs used the cores: a compiler needs 12 s and waited 336 s.
#[test]
fn waits_for_a_processor_are_taken_off() {
    let second = |seconds: u64| Some(seconds * 1_000_000_000);
    let waits = |log: &mut ProcessLog, waiting: &dyn Fn(u32) -> Option<u64>| {
        for (_, what) in &mut log.rows {
            if let Happening::End(process, _, used) = what {
                used.waiting_ns = waiting(*process).filter(|_| *process > 0);
            }
        }
    };
    let jobs: Vec<_> = (0..4).map(|file| (compile(file, 0).0, 348_000, 12.0 / 348.0)).collect();
    let mut log = one_after_the_other(&jobs);
    waits(&mut log, &|_| second(336));
    let alone = plan(&tree(&log));
    for (slots, seconds) in [(1, 48), (2, 24), (4, 12)] {
        assert_eq!((alone.replay(slots).wall_ns + 500_000_000) / 1_000_000_000, seconds, "-j{slots}");
    }
    assert_eq!(alone.waited_ns() / 1_000_000_000, 4 * 336);
    // Without the wait nothing tells that they were not idle, and one that does not know counts as before.
    waits(&mut log, &|process| second(336).filter(|_| process > 1));
    assert_eq!((plan(&tree(&log)).replay(1).wall_ns + 500_000_000) / 1_000_000_000, 348 + 3 * 12);
    // Two threads that waited half of the time each: 10 s of 20 s.
    let mut log = one_after_the_other(&[(compile(0, 0).0, 20_000, 1.0)]);
    waits(&mut log, &|_| second(20));
    assert_eq!((plan(&tree(&log)).replay(1).wall_ns + 500_000_000) / 1_000_000_000, 10);
}

/// Eight jobs at a time on four cores waited for one another: with as many slots they do again.
#[test]
fn jobs_that_waited_for_one_another_do_so_again() {
    let mut rows = vec![(0, Happening::Begin(None, 100, vec!["make".to_owned(), "-j8".to_owned()]))];
    for job in 1..=8u32 {
        let line = ["cc".to_owned(), "-c".to_owned(), format!("{job}.c")];
        rows.push((0, Happening::Begin(Some(0), 100 + u64::from(job), line.into())));
    }
    for job in 1..=8u32 {
        let used = Usage { user_ns: Some(500_000_000), waiting_ns: Some(500_000_000), ..Usage::default() };
        rows.push((1000 * MILLISECOND, Happening::End(job, 0, used)));
    }
    rows.push((1000 * MILLISECOND, Happening::End(0, 0, Usage::default())));
    let plan = plan(&tree(&ProcessLog { rows }));
    for (slots, milliseconds) in [(8, 1000), (4, 1000), (2, 2000), (1, 4000)] {
        assert_eq!((plan.replay(slots).wall_ns + 500_000) / 1_000_000, milliseconds, "-j{slots}");
    }
}

/// Linkers fork what does their work, and end before it: a process of unknown parent is not a third job of `make -j2`.
#[test]
fn orphans_take_no_slots() {
    let build = |with_orphans: bool| {
        let mut rows = vec![(0, Happening::Begin(None, 100, vec!["make".to_owned(), "-j2".to_owned()]))];
        let mut begun = 1;
        for round in 0..4i64 {
            let (began, ended) = (round * 100 * MILLISECOND, (round + 1) * 100 * MILLISECOND);
            let jobs = [begun, begun + 1];
            for job in jobs {
                let line = ["cc".to_owned(), "-c".to_owned(), format!("{job}.c")];
                rows.push((began, Happening::Begin(Some(0), 100 + u64::from(job), line.into())));
            }
            begun += 2;
            if with_orphans {
                let orphan = began + 10 * MILLISECOND;
                rows.push((orphan, Happening::Begin(None, 200 + u64::from(begun), Vec::new())));
                rows.push((orphan, Happening::Begin(Some(begun), 300 + u64::from(begun), Vec::new())));
                rows.push((orphan + MILLISECOND, Happening::End(begun + 1, 0, Usage::default())));
                rows.push((ended, Happening::End(begun, 0, Usage::default())));
                begun += 2;
            }
            let used = Usage { user_ns: Some(100_000_000), ..Usage::default() };
            rows.extend(jobs.map(|job| (ended, Happening::End(job, 0, used))));
        }
        rows.push((400 * MILLISECOND, Happening::End(0, 0, Usage::default())));
        tree(&ProcessLog { rows })
    };
    for with_orphans in [false, true] {
        let plan = plan(&build(with_orphans));
        assert_eq!((plan.recorded_slots(), plan.jobs()), (2, 8), "{with_orphans}");
        for (slots, milliseconds) in [(1, 800), (2, 400), (4, 200)] {
            assert_eq!((plan.replay(slots).wall_ns + 500_000) / 1_000_000, milliseconds, "-j{slots} {with_orphans}");
        }
    }
}

/// A scheduler that waits for a processor itself begins jobs late. Four jobs at -j2, 200 ms from an end to the next
/// begin: with as much waiting they did not need one another, and 20 ms are usual; without it they did.
#[test]
fn a_scheduler_that_waits_for_a_processor_makes_no_needs() {
    let mut rows = vec![(0, Happening::Begin(None, 100, vec!["make".to_owned(), "-j2".to_owned()]))];
    for (job, began) in [(1..3u32, 0), (3..5, 1200)] {
        for job in job.clone() {
            let line = ["cc".to_owned(), "-c".to_owned(), format!("{job}.c")];
            rows.push((began * MILLISECOND, Happening::Begin(Some(0), 100 + u64::from(job), line.into())));
        }
        let used = Usage { user_ns: Some(1_000_000_000), ..Usage::default() };
        rows.extend(job.map(|job| ((began + 1000) * MILLISECOND, Happening::End(job, 0, used))));
    }
    for (waited_ms, wall_ms) in [(Some(400), 1020), (Some(100), 2200), (None, 2200)] {
        let used = Usage { waiting_ns: waited_ms.map(|waited| waited * 1_000_000), ..Usage::default() };
        let mut rows = rows.clone();
        rows.push((2200 * MILLISECOND, Happening::End(0, 0, used)));
        assert_eq!((plan(&tree(&ProcessLog { rows })).replay(4).wall_ns + 500_000) / 1_000_000, wall_ms);
    }
}
