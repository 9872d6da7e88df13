//! Iterations of a program in Rust really have different layouts, and none of their own unless they are to.

mod programs;

use std::process::Command;

use programs::{ITERATIONS, Layouts, distinct, example, run};

/// A program without randomisation by the system.
fn program() -> Option<Command> {
    let mut command = Command::new("setarch");
    if command.args(["-R", "true"]).output().is_ok_and(|output| output.status.success()) {
        let mut command = Command::new("setarch");
        command.arg("-R").arg(example());
        return Some(command);
    }
    eprintln!("not tested: there is no setarch here");
    None
}

fn addresses(layouts: Layouts<'_>) -> Option<[usize; 3]> {
    let told = run(program()?, layouts);
    assert_eq!(told.printed.lines().count(), ITERATIONS);
    let found = distinct(&told.printed);
    println!("{layouts:?}: variable, small block, input at {found:?} places in a page");
    Some(found.try_into().unwrap())
}

#[test]
fn every_knob_moves_its_data_to_at_least_forty_places() {
    for seed in 1..=5 {
        let Some(places) = addresses(Layouts::Random(seed, "stack,heap")) else { return };
        assert!(places.iter().all(|&places| places >= 40), "{places:?}");
    }
    let Some([local, small, input]) = addresses(Layouts::Random(6, "aslr,heap")) else { return };
    assert!(local == 1 && small >= 40 && input >= 40);
    let Some([local, ..]) = addresses(Layouts::Random(7, "stack")) else { return };
    assert!(local >= 40);
}

#[test]
fn nothing_moves_outside_of_a_trial() {
    let Some(places) = addresses(Layouts::Off) else { return };
    assert_eq!(places, [1, 1, 1]);
    // The lines that are reported need memory, too, whose place changes as they grow.
    let Some([local, _, input]) = addresses(Layouts::Fixed) else { return };
    assert!(local == 1 && input <= 4, "{input}");
    let Some(places) = addresses(Layouts::Random(1, "aslr,env,argv,thp")) else { return };
    assert_eq!(places[0], 1);
}

#[test]
fn values_have_seeds_and_knobs_where_iterations_have_layouts() {
    let random = run(Command::new(example()), Layouts::Random(5, "stack,heap")).lines;
    let fixed = run(Command::new(example()), Layouts::Fixed).lines;
    assert_eq!((random.len(), fixed.len()), (ITERATIONS, ITERATIONS));
    for (number, (random, fixed)) in random.iter().zip(&fixed).enumerate() {
        let layout = barrow_trial::Layout::of(5, number as u64);
        let begins = format!("value\tsum\tns\tlower\t{number}\t{}\t", layout.seed);
        assert!(random.starts_with(&begins), "{random}");
        let knobs = format!(
            "\tstack={}\theap_small={}\theap_large={}\theap_offset={}\tlocal_address=",
            layout.stack, layout.heap_small, layout.heap_large, layout.heap_offset
        );
        assert!(random.contains(&knobs), "{random}");
        assert!(
            fixed.starts_with(&format!("value\tsum\tns\tlower\t{number}\t\t")) && !fixed.contains("heap_"),
            "{fixed}"
        );
    }
    assert!(run(Command::new(example()), Layouts::Off).lines.is_empty());
}
