//! A copy of 3,000 bytes, whose samples have memory layouts of their own under `barrow trial`. With `cargo bench` alone
//! it is a usual Criterion benchmark.

use std::hint::black_box;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use barrow_trial::{Metric, Trial};
use criterion::{Criterion, SamplingMode, criterion_group, criterion_main};

static TRIAL: LazyLock<Trial> = LazyLock::new(Trial::from_environment);

/// Criterion warms up with few calls, whose times are those of the clock. Shorter samples are not reported.
const SHORTEST: Duration = Duration::from_millis(5);
const BYTES: usize = 3000;

fn copy(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("copies");
    group.sampling_mode(SamplingMode::Flat).sample_size(60);
    group.warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_secs(1));
    group.bench_function("3,000 bytes", |bencher| {
        bencher.iter_custom(|calls| {
            TRIAL.iteration(|iteration| {
                // Set up under the layout of this sample.
                let (input, mut output) = (vec![1_u8; BYTES], vec![0_u8; BYTES]);
                iteration.note_address("input", input.as_ptr());
                iteration.note_address("output", output.as_ptr());
                let began = Instant::now();
                for _ in 0..calls {
                    black_box(&mut output).copy_from_slice(black_box(&input));
                }
                let elapsed = began.elapsed();
                if elapsed >= SHORTEST {
                    iteration.report(Metric::time("copy"), elapsed.as_nanos() as f64 / calls as f64);
                }
                elapsed
            })
        });
    });
    group.finish();
}

criterion_group!(benches, copy);
criterion_main!(benches);
