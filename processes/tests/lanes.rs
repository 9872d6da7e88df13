//! Lanes of small random trees, compared with their definitions.

use std::sync::Arc;

use barrow_analyzer::Recording;
use barrow_processes::{
    Block, Classes, ImageId, Lanes, Limits, ProcessTree, Rules, Schema, Span, Totals, Window, class_memory_curve,
    memory_curve, memory_within,
};
use barrow_testdata::{ProcessLog, Random};

fn tree(log: &ProcessLog) -> ProcessTree {
    ProcessTree::read(Arc::new(Recording::from_bytes(log.bytes()).unwrap())).unwrap()
}

fn random_trees() -> impl Iterator<Item = (ProcessTree, Random)> {
    let mut random = Random::new(11);
    (0..400).map(move |round| {
        let log = match round % 8 {
            0 => ProcessLog::build(&mut random, 1 + round as u32, 1 + round as usize % 5),
            _ => ProcessLog::random(&mut random, 1 + round % 25),
        };
        (tree(&log), Random::new(round))
    })
}

fn all_spans(lanes: &Lanes) -> impl Iterator<Item = &Span> {
    (0..lanes.len()).flat_map(|lane| lanes.lane(lane))
}

fn length(span: &Span) -> u64 {
    span.ended_ns.abs_diff(span.began_ns)
}

/// Some part of the time of a tree.
fn some_window(tree: &ProcessTree, random: &mut Random) -> Window {
    let all = Window::of(tree);
    let mut some = || all.from_ns + random.below(all.length_ns() + 1) as i64;
    let (one, other) = (some(), some());
    Window { from_ns: one.min(other), to_ns: one.max(other) }
}

#[test]
fn a_span_is_a_time_in_which_an_image_runs_alone() {
    for (tree, _) in random_trees() {
        let (lanes, totals) = (Lanes::of(&tree), Totals::of(&tree));
        for id in (0..tree.images().len() as u32).map(ImageId) {
            let own: Vec<&Span> = all_spans(&lanes).filter(|span| span.image == id).collect();
            assert_eq!(own.iter().map(|span| length(span)).sum::<u64>(), totals.alone_ns(id));
            let image = tree.image(id);
            let end = image.ended_ns.unwrap_or(tree.span_ns().1);
            for span in own {
                assert!(image.began_ns <= span.began_ns && span.began_ns < span.ended_ns && span.ended_ns <= end);
                for process in tree.processes().iter().filter(|process| process.started_by == Some(id)) {
                    let is_before = tree.ended_ns(process) <= span.began_ns;
                    let is_nothing = tree.ended_ns(process) <= process.began_ns;
                    assert!(is_before || is_nothing || span.ended_ns <= process.began_ns);
                }
            }
        }
    }
}

#[test]
fn nothing_in_a_lane_overlaps_and_there_are_as_few_as_can_be() {
    for (tree, _) in random_trees() {
        let lanes = Lanes::of(&tree);
        for lane in 0..lanes.len() {
            assert!(!lanes.lane(lane).is_empty());
            assert!(lanes.lane(lane).windows(2).all(|pair| pair[0].ended_ns <= pair[1].began_ns));
        }
        let at = |time: i64| all_spans(&lanes).filter(|span| span.began_ns <= time && time < span.ended_ns).count();
        let most = all_spans(&lanes).map(|span| at(span.began_ns)).max().unwrap_or(0);
        assert_eq!(lanes.len(), most);
    }
}

/// The spans of a block, by what it says.
fn spans_of(lanes: &Lanes, block: &Block, window: Window) -> Vec<Span> {
    let inside = |span: &Span| block.from_ns <= span.began_ns && span.ended_ns <= block.to_ns;
    lanes.within(block.lane as usize, window).filter(inside).collect()
}

fn check_block(lanes: &Lanes, schema: &Schema, block: &Block, window: Window, cell_ns: u64) {
    let spans = spans_of(lanes, block, window);
    assert_eq!(spans.len(), block.spans as usize);
    assert_eq!((spans[0].began_ns, spans[spans.len() - 1].ended_ns), (block.from_ns, block.to_ns));
    assert_eq!(spans.iter().map(length).sum::<u64>(), block.running_ns);
    let of_class = spans.iter().filter(|span| schema.label(span.image) == block.label);
    if spans.len() == 1 {
        assert_eq!(of_class.map(length).sum::<u64>(), block.label_ns);
    } else {
        // What is merged is short, and near.
        assert!(of_class.map(length).sum::<u64>() >= block.label_ns && block.label_ns > 0);
        assert!(spans.iter().all(|span| length(span) < cell_ns));
        assert!(spans.windows(2).all(|pair| pair[1].began_ns.abs_diff(pair[0].ended_ns) < cell_ns));
    }
    let images: Vec<ImageId> = spans.iter().map(|span| span.image).collect();
    assert_eq!(block.image, images.iter().all(|image| *image == images[0]).then_some(images[0]));
}

#[test]
fn blocks_are_all_spans_of_a_window() {
    for (tree, mut random) in random_trees() {
        let (lanes, classes) = (Lanes::of(&tree), Classes::of(&tree, Rules::standard()).unwrap());
        let schema = classes.first();
        for cells in [1, 3, 10, 1000] {
            let window = some_window(&tree, &mut random);
            let limits = Limits { cells, lanes: 3, blocks: 20 };
            let drawn = lanes.blocks(schema, &[], window, limits);
            assert!(drawn.blocks.len() <= 20 || window.length_ns() / drawn.cell_ns <= 4);
            for block in &drawn.blocks {
                check_block(&lanes, schema, block, window, drawn.cell_ns);
            }
            for pair in drawn.blocks.windows(2) {
                assert!(pair[0].lane < pair[1].lane || pair[0].to_ns <= pair[1].from_ns);
            }
            let in_window = |lane| lanes.within(lane, window);
            let shown: usize = (0..lanes.len().min(3)).map(|lane| in_window(lane).count()).sum();
            assert_eq!(drawn.blocks.iter().map(|block| block.spans as usize).sum::<usize>(), shown);
            // Together, what is drawn and what is left out is all that ran in the window.
            let running = |span: &Span| {
                span.ended_ns.min(window.to_ns).saturating_sub(span.began_ns.max(window.from_ns)).max(0) as u64
            };
            let drawn_ns: u64 = drawn.blocks.iter().map(|block| block.running_ns).sum();
            assert_eq!(drawn_ns + drawn.left_out_ns, all_spans(&lanes).map(running).sum::<u64>());
        }
    }
}

#[test]
fn a_cell_has_the_class_that_ran_longest_in_it() {
    for (tree, _) in random_trees() {
        let (lanes, classes) = (Lanes::of(&tree), Classes::of(&tree, Rules::standard()).unwrap());
        let (schema, window) = (classes.first(), Window::of(&tree));
        let limits = Limits { cells: 1, lanes: usize::MAX, blocks: usize::MAX };
        for block in lanes.blocks(schema, &[], window, limits).blocks.iter().filter(|block| block.spans > 1) {
            let of = |label| {
                let spans = spans_of(&lanes, block, window);
                spans.iter().filter(|span| schema.label(span.image) == label).map(length).sum::<u64>()
            };
            assert_eq!(of(block.label), block.label_ns);
            assert!(all_spans(&lanes).all(|span| of(schema.label(span.image)) <= block.label_ns));
        }
    }
}

#[test]
fn classes_of_a_window_are_those_of_its_images() {
    for (tree, mut random) in random_trees() {
        let (lanes, classes) = (Lanes::of(&tree), Classes::of(&tree, Rules::standard()).unwrap());
        let schema = classes.first();
        for window in [Window::of(&tree), some_window(&tree, &mut random)] {
            let found = lanes.classes(&tree, schema, window);
            let running: u64 =
                (0..lanes.len()).flat_map(|lane| lanes.within(lane, window)).map(|span| length(&span)).sum();
            assert_eq!(found.iter().map(|class| class.running_ns).sum::<u64>(), running);
            for (label, class) in schema.labels().iter().zip(&found) {
                let of = |id: &ImageId| schema.class(*id) == Some(label);
                let own = (0..tree.images().len() as u32).map(ImageId).filter(of).map(|id| tree.image(id));
                let inside = own.filter(|image| window.part_of(&tree, image).is_some()).collect::<Vec<_>>();
                assert_eq!(class.images as usize, inside.len());
                let cpu = |used: &barrow_processes::Usage| barrow_processes::cpu_ns(used.user_ns, used.system_ns);
                let whole: u64 = inside.iter().filter_map(|image| cpu(&image.used)).sum();
                let estimate = class.cpu_ns.value().unwrap_or(0);
                assert!(estimate <= whole && (window != Window::of(&tree) || estimate == whole));
            }
        }
    }
}

#[test]
fn two_halves_estimate_what_the_whole_used() {
    for (tree, _) in random_trees() {
        let (lanes, classes) = (Lanes::of(&tree), Classes::of(&tree, Rules::standard()).unwrap());
        let whole = Window::of(&tree);
        let middle = whole.from_ns + (whole.length_ns() / 2) as i64;
        let used = |window| {
            let classes = lanes.classes(&tree, classes.first(), window);
            classes.iter().filter_map(|class| class.cpu_ns.value()).sum::<u64>() as i64
        };
        let both = used(Window { to_ns: middle, ..whole }) + used(Window { from_ns: middle, ..whole });
        // An image that took no time in the middle is in both.
        let moments = tree.images().iter().filter(|image| image.began_ns == middle && tree.wall_ns(image) == 0).count();
        let rounding = tree.images().len() as i64;
        assert!(moments > 0 || (both - used(whole)).abs() <= rounding, "{both} {}", used(whole));
    }
}

#[test]
fn the_memory_of_a_window_is_the_largest_sample_of_each_part() {
    for (tree, mut random) in random_trees() {
        let classes = Classes::of(&tree, Rules::standard()).unwrap();
        let (schema, window) = (classes.first(), some_window(&tree, &mut random));
        for cells in [1, 4, 100_000] {
            let found = memory_within(&tree, schema, window, cells);
            let samples: Vec<(i64, u64)> =
                memory_curve(&tree).into_iter().filter(|&(time, _)| window.has_sample(time)).collect();
            assert!(found.len() <= cells as usize + 1);
            assert_eq!(found.iter().map(|one| one.bytes).max(), samples.iter().map(|&(_, bytes)| bytes).max());
            for one in &found {
                assert!(samples.contains(&(one.time_ns, one.bytes)));
                assert_eq!(one.by_label.iter().sum::<u64>(), one.bytes);
                for (label, &bytes) in (0..).map(barrow_processes::LabelId).zip(&one.by_label) {
                    assert!(class_memory_curve(&tree, schema, label).contains(&(one.time_ns, bytes)));
                }
            }
        }
    }
}

#[test]
fn a_path_is_marked_where_it_is_drawn() {
    for (tree, mut random) in random_trees() {
        let (lanes, classes) = (Lanes::of(&tree), Classes::of(&tree, Rules::standard()).unwrap());
        // Pieces of some spans, one after the other.
        let mut path: Vec<Span> = Vec::new();
        let mut spans: Vec<&Span> = all_spans(&lanes).collect();
        spans.sort_by_key(|span| span.began_ns);
        for span in spans {
            let began_ns = path.last().map_or(span.began_ns, |last| last.ended_ns.max(span.began_ns));
            if began_ns < span.ended_ns && random.below(3) > 0 {
                let ended_ns = began_ns + 1 + random.below(began_ns.abs_diff(span.ended_ns)) as i64;
                path.push(Span { image: span.image, began_ns, ended_ns });
            }
        }
        let window = some_window(&tree, &mut random);
        let inside = |piece: &Span| {
            piece.ended_ns.min(window.to_ns).saturating_sub(piece.began_ns.max(window.from_ns)).max(0) as u64
        };
        let limits = Limits { cells: 1 + random.below(20) as u32, lanes: usize::MAX, blocks: 50 };
        let drawn = lanes.blocks(classes.first(), &path, window, limits).blocks;
        let marked: u64 = drawn.iter().map(|block| block.marked_ns).sum();
        assert_eq!(marked, path.iter().map(inside).sum::<u64>());
        assert!(drawn.iter().all(|block| block.marked_ns <= block.running_ns));
        let alone = Lanes::of_path(path.clone());
        let drawn = alone.blocks(classes.first(), &[], window, limits).blocks;
        assert_eq!(drawn.iter().map(|block| block.running_ns).sum::<u64>(), marked);
    }
}
