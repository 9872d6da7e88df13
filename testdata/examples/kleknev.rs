//! Writes a log of Kleknev with the numbers of its author's report to the standard output: 23,902 processes, 56 MB.
//!
//! ```sh
//! cargo run --release -p barrow-testdata --example kleknev > build.log         # one build
//! cargo run --release -p barrow-testdata --example kleknev 18 > long.log       # 18 of them: 1 GB
//! ```

use std::io::{BufWriter, Write, stdout};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let times = std::env::args().nth(1).map_or(Ok(1), |times| times.parse())?;
    let mut out = BufWriter::new(stdout().lock());
    barrow_testdata::kleknev_log(&mut out, times)?;
    Ok(out.flush()?)
}
