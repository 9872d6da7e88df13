//! Writes a generated heap: `generate SHAPE -o FILE [--objects 12M] [--references 4]`.

use std::path::PathBuf;
use std::time::Instant;

use barrow_analyzer::{Recording, parse_size};
use barrow_benches::{GenerateError, Shape, repeat};
use barrow_writer::{Compression, Options, Writer};
use clap::Parser;

/// Writes a recording of one generated snapshot.
#[derive(Parser)]
struct Arguments {
    /// repeated, random, list, scattered, hub, arrays, bipartite or listhub.
    shape: String,
    /// How many objects: 12M are 12 × 2^20.
    #[arg(long, default_value = "12M", value_parser = number)]
    objects: u64,
    /// References of an object, on average, where the shape leaves that open.
    #[arg(long, default_value_t = 4.0)]
    references: f64,
    /// repeated: the recording whose last snapshot is repeated; the bundled one unless told.
    #[arg(long)]
    source: Option<PathBuf>,
    /// repeated: the part of references that lead to another copy.
    #[arg(long, default_value_t = 0.01)]
    crossing: f64,
    /// The recording to write.
    #[arg(short)]
    output: PathBuf,
}

fn number(text: &str) -> Result<u64, String> {
    parse_size(text).ok_or_else(|| "numbers are written like 1000 or 12M".to_owned())
}

fn main() {
    let arguments = Arguments::parse();
    let start = Instant::now();
    if let Err(error) = generate(&arguments) {
        eprintln!("nothing is generated: {error:?}");
        std::process::exit(1);
    }
    let written = Recording::open(&arguments.output).expect("it was just written");
    let last = written.snapshot_ids().next_back().expect("it has a snapshot");
    let totals = written.snapshot(last).expect("it is whole").totals;
    println!(
        "{} objects, {} references, {} bytes in {:.1} s",
        totals.objects,
        totals.references,
        written.length_bytes(),
        start.elapsed().as_secs_f64()
    );
}

fn generate(arguments: &Arguments) -> Result<(), GenerateError> {
    let options = Options { compression: Compression::Zstd(1), ..Options::default() };
    let writer = Writer::create(&arguments.output, options)?;
    match Shape::ALL.into_iter().find(|(name, _)| *name == arguments.shape) {
        Some((_, shape)) => shape.record(&writer, arguments.objects, arguments.references as u64)?,
        None if arguments.shape == "repeated" => {
            let path = arguments.source.clone().unwrap_or_else(|| barrow_testdata::path("raku.barrow"));
            let source = Recording::open(&path)?;
            let Some(last) = source.snapshot_ids().next_back() else { return Ok(()) };
            repeat(&writer, &source, last, arguments.objects, arguments.references, arguments.crossing)?;
        }
        None => {
            eprintln!("there is no shape `{}`", arguments.shape);
            std::process::exit(2);
        }
    }
    writer.finish()?;
    Ok(())
}
