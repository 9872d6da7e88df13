//! Timelines against what they are made of: the rows of random trees.

use std::collections::HashMap;
use std::sync::Arc;

use barrow_analyzer::Recording;
use barrow_processes::{Classes, Event, Happening, ProcessId, ProcessTree, Rules, TimeRange, Timeline, Tracks};
use barrow_testdata::{ProcessLog, Random};

fn recording(log: &ProcessLog) -> Arc<Recording> {
    Arc::new(Recording::from_bytes(log.bytes()).unwrap())
}

fn events(recording: &Arc<Recording>, window: TimeRange, columns: u32) -> Vec<Event> {
    let rules = Rules::standard();
    let evaluation = rules.evaluation(0);
    let mut labeller = rules.labeller(recording, &evaluation);
    let mut timeline = Timeline::new(Arc::clone(recording), window, columns).unwrap();
    std::iter::from_fn(|| timeline.next_event(&mut labeller).unwrap()).collect()
}

fn name(event: &Event) -> (u64, u32) {
    (event.block.pid, event.block.serial)
}

#[test]
fn every_process_begins_and_ends_once_and_no_two_blocks_overlap() {
    for seed in 0..300 {
        let recording = recording(&ProcessLog::random(&mut Random::new(seed), 60));
        let tree = ProcessTree::read(Arc::clone(&recording)).unwrap();
        let classes = Classes::of(&tree, Rules::standard()).unwrap();
        for room in [0, 20, 400] {
            let mut running: HashMap<u32, (u64, u32)> = HashMap::new();
            let (mut begun, mut ended) = (Vec::new(), Vec::new());
            for event in events(&recording, TimeRange::default(), room) {
                let name = name(&event);
                match event.what {
                    Happening::Begins => {
                        let parent = event.block.parent;
                        assert!(parent.is_none_or(|(.., column)| column < event.block.column), "seed {seed}");
                        assert!(parent.is_none_or(|(pid, serial, at)| running[&at] == (pid, serial)), "seed {seed}");
                        assert_eq!(running.insert(event.block.column, name), None, "seed {seed}, {name:?}");
                        begun.push((name, event.time_ns));
                    }
                    Happening::Executes => assert_eq!(running[&event.block.column], name, "seed {seed}"),
                    Happening::Ends { .. } | Happening::Interrupted => {
                        assert_eq!(running.remove(&event.block.column), Some(name), "seed {seed}");
                        let is_whole = event.what != Happening::Interrupted;
                        ended.push((name, event.time_ns, is_whole, event.block.class));
                    }
                    Happening::Runs => panic!("there is no window"),
                }
            }
            assert!(running.is_empty(), "seed {seed}");
            let expected: Vec<_> =
                tree.processes().iter().map(|process| ((process.pid, process.serial), process.began_ns)).collect();
            assert_eq!(begun, expected, "seed {seed}");
            ended.sort();
            let mut expected: Vec<_> = tree
                .processes()
                .iter()
                .map(|process| {
                    let class = classes.first().class(process.last_image).map(Arc::from);
                    ((process.pid, process.serial), tree.ended_ns(process), process.end.is_some(), class)
                })
                .collect();
            expected.sort();
            assert_eq!(ended, expected, "seed {seed}");
        }
    }
}

/// A recorder that hears of processes by notification writes ends and executions behind rows with later times.
#[test]
fn events_of_a_recorded_build_are_in_order_of_time() {
    for name in ["ninja-j2", "make-j4", "cargo-j2", "autotools-j2", "make-j2-loaded"] {
        let path = barrow_testdata::path(&format!("builds/{name}.barrow"));
        let events = events(&Arc::new(Recording::open(&path).unwrap()), TimeRange::default(), 400);
        assert!(events.len() > 200);
        assert!(events.is_sorted_by_key(|event| event.time_ns), "{name}");
    }
}

#[test]
fn a_part_has_what_runs_at_its_beginning_and_the_events_in_it() {
    for seed in 0..200 {
        let recording = recording(&ProcessLog::random(&mut Random::new(seed), 40));
        let all = events(&recording, TimeRange::default(), 400);
        let last = all.last().map_or(0, |event| event.time_ns);
        let mut random = Random::new(seed);
        let from = random.below(last.unsigned_abs() + 1) as i64;
        let to = from + random.below(20) as i64;
        let part = events(&recording, TimeRange { from_ns: Some(from), to_ns: Some(to) }, 400);
        let described = |event: &Event| (name(event), event.time_ns, format!("{:?}", event.what), event.block.column);
        let interrupted = |event: &Event| event.what == Happening::Interrupted;
        let inside = |event: &&Event| (from..=to).contains(&event.time_ns);
        // Rows of memory may come after the last event; processes are interrupted by the end of the recording.
        let expected: Vec<_> = all.iter().filter(inside).filter(|event| !interrupted(event)).map(described).collect();
        let found = part.iter().filter(|event| event.what != Happening::Runs && !interrupted(event));
        assert_eq!(found.map(described).collect::<Vec<_>>(), expected, "seed {seed}: {from} to {to}");
        let mut before = HashMap::new();
        for event in all.iter().filter(|event| event.time_ns < from) {
            match event.what {
                Happening::Begins => drop(before.insert(name(event), event.block.column)),
                Happening::Ends { .. } => drop(before.remove(&name(event))),
                _ => {}
            }
        }
        let runs: HashMap<_, _> = part
            .iter()
            .filter(|event| event.what == Happening::Runs)
            .map(|event| (name(event), event.block.column))
            .collect();
        if part.is_empty() {
            continue;
        }
        assert_eq!(runs, before, "seed {seed}: {from} to {to}");
    }
}

#[test]
fn every_process_is_on_one_track_where_none_overlaps_without_containing() {
    for seed in 0..300 {
        let tree = ProcessTree::read(recording(&ProcessLog::random(&mut Random::new(seed), 60))).unwrap();
        let tracks = Tracks::of(&tree);
        let mut all: Vec<_> = tracks.iter().flatten().map(|id| id.index()).collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..tree.processes().len()), "seed {seed}");
        let span = |id: ProcessId| (tree.process(id).began_ns, tree.ended_ns(tree.process(id)));
        for track in tracks.iter() {
            for (at, &one) in track.iter().enumerate() {
                let (began, ended) = span(one);
                for (other_began, other_ended) in track[at + 1..].iter().map(|&other| span(other)) {
                    assert!(other_began >= began, "seed {seed}");
                    assert!(other_began >= ended || other_ended <= ended, "seed {seed}: {track:?}");
                }
            }
        }
    }
}
