//! Totals of small random trees, compared with their definitions.

use std::sync::Arc;

use barrow_analyzer::Recording;
use barrow_processes::{
    Classes, ImageId, LabelId, ProcessId, ProcessTree, Rules, Totals, class_memory_curve, class_peaks, class_totals,
    cpu_ns, memory_curve, running_shares,
};
use barrow_testdata::{ProcessLog, Random};

fn tree(log: &ProcessLog) -> ProcessTree {
    ProcessTree::read(Arc::new(Recording::from_bytes(log.bytes()).unwrap())).unwrap()
}

fn random_trees() -> impl Iterator<Item = ProcessTree> {
    let mut random = Random::new(7);
    (0..400).map(move |round| tree(&ProcessLog::random(&mut random, 1 + round % 25)))
}

fn images(tree: &ProcessTree) -> impl Iterator<Item = ImageId> + '_ {
    (0..tree.images().len() as u32).map(ImageId)
}

/// Whether `image` is `top`, or was started by it, by the definition.
fn is_under(tree: &ProcessTree, image: ImageId, top: ImageId) -> bool {
    std::iter::successors(Some(image), |&image| tree.started_by(image)).any(|image| image == top)
}

fn end(tree: &ProcessTree, image: ImageId) -> i64 {
    tree.image(image).ended_ns.unwrap_or(tree.span_ns().1)
}

/// The sum of what is known; `None` if nothing is.
fn sum(values: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    values.flatten().reduce(|one, other| one + other)
}

#[test]
fn inclusive_is_the_image_and_all_that_it_started() {
    for tree in random_trees() {
        let totals = Totals::of(&tree);
        for top in images(&tree) {
            let below = || images(&tree).filter(|&image| is_under(&tree, image, top)).map(|image| tree.image(image));
            let inclusive = totals.inclusive(top);
            assert_eq!(inclusive.images as usize, below().count());
            assert_eq!(inclusive.user_ns.value(), sum(below().map(|image| image.used.user_ns)));
            assert_eq!(inclusive.system_ns.value(), sum(below().map(|image| image.used.system_ns)));
            let unknown = below().filter(|image| image.used.user_ns.is_none()).count();
            assert_eq!(inclusive.user_ns.unknown() as usize, unknown);
            let ran_alone = |at: i64| {
                let is_running = |image: ImageId| tree.image(image).began_ns <= at && at < end(&tree, image);
                let started = |id: ProcessId| tree.process(id).started_by == Some(top);
                is_running(top) && !images(&tree).any(|image| started(tree.image(image).process) && is_running(image))
            };
            let (first, last) = tree.span_ns();
            assert_eq!(totals.alone_ns(top), (first..last).filter(|&at| ran_alone(at)).count() as u64);
        }
        let whole = totals.whole();
        assert_eq!(whole.user_ns.value(), sum(tree.images().iter().map(|image| image.used.user_ns)));
        assert_eq!(whole.images as usize, tree.images().len());
    }
}

#[test]
fn the_walk_keeps_together_what_an_image_started() {
    for tree in random_trees() {
        let totals = Totals::of(&tree);
        let mut seen = totals.walk().to_vec();
        seen.sort_unstable();
        assert!(seen.into_iter().eq(images(&tree)));
        for (position, &top) in totals.walk().iter().enumerate() {
            let after = &totals.walk()[position..position + totals.inclusive(top).images as usize];
            assert!(after.iter().all(|&image| is_under(&tree, image, top)));
        }
    }
}

#[test]
fn classes_count_processes_and_each_second_once() {
    for tree in random_trees() {
        let (totals, classes) = (Totals::of(&tree), Classes::of(&tree, Rules::standard()).unwrap());
        for schema in classes.schemata() {
            let found = class_totals(&tree, &totals, schema);
            assert_eq!(found.len(), schema.labels().len());
            let starts: Vec<i64> = found.iter().map(|class| class.first_ns).collect();
            assert!(starts.is_sorted());
            for (at, class) in (0..).zip(&found) {
                let label = Some(LabelId(at));
                let own = || images(&tree).filter(|&image| schema.label(image) == label);
                let of = |id: ImageId| tree.image(id).process;
                let mut processes: Vec<ProcessId> = own().map(of).collect();
                processes.dedup();
                processes.sort_unstable();
                processes.dedup();
                assert_eq!((class.images as usize, class.processes as usize), (own().count(), processes.len()));
                assert_eq!(class.user_ns.exclusive.sum().value(), sum(own().map(|id| tree.image(id).used.user_ns)));
                // Each image that the class has above it, itself included, counts once.
                let nested = || images(&tree).filter(|&id| own().any(|top| is_under(&tree, id, top)));
                assert_eq!(class.user_ns.total.value(), sum(nested().map(|id| tree.image(id).used.user_ns)));
                let by_process = |of: fn(&ProcessTree, &Totals, ImageId) -> Option<u64>| {
                    let one = |process: &ProcessId| {
                        sum(own().filter(|&id| tree.image(id).process == *process).map(|id| of(&tree, &totals, id)))
                    };
                    processes.iter().filter_map(one).collect::<Vec<u64>>()
                };
                let system = by_process(|tree, _, id| tree.image(id).used.system_ns);
                assert_eq!(class.system_ns.exclusive.minimum(), system.iter().min().copied());
                assert_eq!(class.system_ns.exclusive.maximum(), system.iter().max().copied());
                let mean = system.iter().sum::<u64>().checked_div(system.len() as u64);
                assert_eq!(class.system_ns.exclusive.mean(), mean);
                let inclusive = by_process(|_, totals, id| totals.inclusive(id).cpu_ns());
                assert_eq!(class.cpu_ns.inclusive.maximum(), inclusive.iter().max().copied());
                let wall = by_process(|tree, _, id| Some(tree.wall_ns(tree.image(id))));
                assert_eq!(class.wall_ns.inclusive.maximum(), wall.iter().max().copied());
                assert_eq!(class.peak_bytes.maximum(), own().filter_map(|id| tree.image(id).used.peak_bytes).max());
                let (first, last) = tree.span_ns();
                let runs = |at: i64| own().any(|id| tree.image(id).began_ns <= at && at < end(&tree, id));
                assert_eq!(class.running_ns, (first..last).filter(|&at| runs(at)).count() as u64);
                assert_eq!(Some(class.first_ns), own().map(|id| tree.image(id).began_ns).min());
                assert_eq!(Some(class.last_ns), own().map(|id| end(&tree, id)).max());
            }
            // The bars show the same time as the totals.
            let (first, last) = tree.span_ns();
            let width = ((last - first) as f64 / 10.0).max(1.0);
            for (shares, class) in running_shares(&tree, schema, usize::MAX, 10).iter().zip(&found) {
                let shown: f64 = shares.iter().sum::<f64>() * width;
                assert!((shown - class.running_ns as f64).abs() < 0.01, "{shown} {}", class.running_ns);
            }
        }
    }
}

#[test]
fn memory_is_that_of_the_samples() {
    for tree in random_trees() {
        let classes = Classes::of(&tree, Rules::standard()).unwrap();
        let all = memory_curve(&tree);
        // Nothing is ignored by the first schema: its classes add up to the tree.
        let curves: Vec<_> = (0..classes.first().labels().len() as u32)
            .map(|at| class_memory_curve(&tree, classes.first(), LabelId(at)))
            .collect();
        for (at, &(time, bytes)) in all.iter().enumerate() {
            assert_eq!(curves.iter().map(|curve| curve[at].1).sum::<u64>(), bytes);
            assert!(curves.iter().all(|curve| curve[at].0 == time));
        }
        for (peak, curve) in class_peaks(&tree, classes.first()).into_iter().zip(&curves) {
            let most = curve.iter().map(|&(_, bytes)| bytes).max().filter(|&bytes| bytes > 0);
            assert_eq!(peak.map(|(_, bytes)| bytes), most);
        }
    }
}

#[test]
fn unknown_times_are_not_nothing() {
    assert_eq!((cpu_ns(None, None), cpu_ns(Some(0), None), cpu_ns(Some(1), Some(2))), (None, Some(0), Some(3)));
}
