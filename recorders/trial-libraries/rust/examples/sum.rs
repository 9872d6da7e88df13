//! A benchmark of a sum, whose iterations have layouts of their own under `barrow trial`. It prints where its data was in
//! each iteration, modulo 4,096: a variable on the stack, a small block, and the input.
//!
//! ```text
//!   cargo build --release --example sum
//!   barrow trial -o sum.barrow -n 5 --layout random -- target/release/examples/sum
//! ```

use std::hint::black_box;

use barrow_trial::{Iteration, Metric, Trial};

/// What is measured: nanoseconds for one sum.
const SUM: Metric<'_> = Metric::time("sum");
const ITERATIONS: usize = 60;
const NUMBERS: u16 = 2048;

fn main() {
    let trial = Trial::from_environment();
    let places: Vec<[usize; 3]> = (0..ITERATIONS).map(|_| trial.iteration(sum)).collect();
    for [local, small, input] in places.into_iter().map(|places| places.map(|place| place % 4096)) {
        println!("{local} {small} {input}");
    }
}

/// Sets up, measures and drops.
fn sum(iteration: &mut Iteration<'_>) -> [usize; 3] {
    let local = 0_u64;
    let small = Box::new(0_u64);
    let input: Vec<f32> = (0..NUMBERS).map(f32::from).collect();
    iteration.note_address("local", black_box(&raw const local));
    iteration.note_address("small", black_box(&raw const *small));
    iteration.note_address("input", input.as_ptr());
    iteration.time(SUM, 200, || black_box(&input).iter().sum::<f32>());
    [(&raw const local).addr(), (&raw const *small).addr(), input.as_ptr().addr()]
}
