//! Writes the recording of a made-up build: `cargo run -p barrow-testdata --example processes -- 24000 build.barrow`.

use std::path::PathBuf;

use barrow_testdata::{ProcessLog, Random};

fn main() {
    let mut words = std::env::args().skip(1);
    let processes = words.next().and_then(|word| word.parse().ok()).expect("how many processes");
    let path: PathBuf = words.next().expect("which file").into();
    std::fs::write(path, ProcessLog::build(&mut Random::new(1), processes, 4).bytes()).expect("the file is written");
}
