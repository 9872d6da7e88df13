//! Writes a large recording of one snapshot: `generate SHAPE --objects 12M -o FILE`.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use barrow_analyzer::SnapshotId;
use barrow_benches::shapes::{
    Arrays, Bipartite, Generated, Hub, List, ListHub, RandomGraph, Repeated, Repetition, Shape, generate,
};
use clap::{Args, Parser, Subcommand};

/// Writes a large recording of one snapshot, to measure with.
#[derive(Debug, Parser)]
#[command(name = "generate")]
struct Flags {
    #[command(subcommand)]
    shape: Chosen,
}

/// The options of every shape.
#[derive(Debug, Args)]
struct Common {
    /// The number of objects, such as 12M, 500k or 1000.
    #[arg(long, value_name = "N", value_parser = parse_count)]
    objects: u64,
    /// The recording to write; an existing one is replaced.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The seed of random numbers.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

#[derive(Debug, Subcommand)]
enum Chosen {
    /// A real snapshot, repeated, with references between its copies.
    Repeated {
        #[command(flatten)]
        common: Common,
        /// The recording to repeat; the default is the bundled one.
        #[arg(long, value_name = "FILE")]
        source: Option<PathBuf>,
        /// The snapshot to repeat; the default is the last one.
        #[arg(long, value_name = "N")]
        snapshot: Option<u32>,
        /// The share of references that lead into another copy, from 0 to 1.
        #[arg(long, value_name = "SHARE", default_value_t = 0.01, value_parser = parse_share)]
        cross: f64,
        /// The average number of references for each object, if the snapshot has fewer.
        #[arg(long, value_name = "N")]
        references: Option<f64>,
    },
    /// Every object refers to random others.
    Random {
        #[command(flatten)]
        common: Common,
        /// The number of references of each object.
        #[arg(long, value_name = "N", default_value_t = 4)]
        references: u64,
    },
    /// A singly linked list.
    List {
        #[command(flatten)]
        common: Common,
        /// Shuffle the ids along the list.
        #[arg(long)]
        scattered: bool,
    },
    /// An array of objects that all refer to the same one.
    Hub {
        #[command(flatten)]
        common: Common,
    },
    /// Huge arrays over shared objects.
    Arrays {
        #[command(flatten)]
        common: Common,
        /// The average number of references for each object, which determines the number of arrays.
        #[arg(long, value_name = "N", default_value_t = 4)]
        references: u64,
        /// The number of references of each array.
        #[arg(long, value_name = "N", default_value = "1M", value_parser = parse_count)]
        length: u64,
    },
    /// Bipartite components: each object of one side refers to each of the other.
    Bipartite {
        #[command(flatten)]
        common: Common,
        /// The number of objects on each side of a component.
        #[arg(long, value_name = "N", default_value = "1000", value_parser = parse_count)]
        side: u64,
    },
    /// A list that ends in an array, whose elements a root array holds, too.
    Listhub {
        #[command(flatten)]
        common: Common,
    },
}

impl Chosen {
    /// The shape, and the options of every shape.
    fn shape(self) -> Result<(Box<dyn Shape>, Common), Box<dyn Error + Send + Sync>> {
        Ok(match self {
            Chosen::Repeated { common, source, snapshot, cross, references } => {
                let source = source.unwrap_or_else(barrow_benches::bundled_recording);
                let repetition = Repetition { objects: common.objects, cross, references, seed: common.seed };
                (Box::new(Repeated::load(&source, snapshot.map(SnapshotId), repetition)?), common)
            }
            Chosen::Random { common, references } => {
                (Box::new(RandomGraph { objects: common.objects, references, seed: common.seed }), common)
            }
            Chosen::List { common, scattered } => {
                (Box::new(List { objects: common.objects, scattered: scattered.then_some(common.seed) }), common)
            }
            Chosen::Hub { common } => (Box::new(Hub { objects: common.objects }), common),
            Chosen::Arrays { common, references, length } => {
                (Box::new(Arrays { objects: common.objects, references, length, seed: common.seed }), common)
            }
            Chosen::Bipartite { common, side } => (Box::new(Bipartite { objects: common.objects, side }), common),
            Chosen::Listhub { common } => (Box::new(ListHub { objects: common.objects }), common),
        })
    }
}

fn main() -> ExitCode {
    match run(Flags::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("generate: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(flags: Flags) -> Result<(), Box<dyn Error + Send + Sync>> {
    let (shape, common) = flags.shape.shape()?;
    let Generated { totals, file_bytes, elapsed } = generate(shape.as_ref(), &common.output)?;
    println!(
        "{}: {} objects, {} references, {} roots, {file_bytes} bytes, {:.2} s",
        common.output.display(),
        totals.objects,
        totals.references,
        totals.roots,
        elapsed.as_secs_f64()
    );
    Ok(())
}

/// `12M`, `500k`, `1G` or a plain number, but not 0.
fn parse_count(text: &str) -> Result<u64, String> {
    let units = [("k", 1_000), ("M", 1_000_000), ("G", 1_000_000_000)];
    let suffixed = units.iter().find_map(|&(suffix, unit)| Some((text.strip_suffix(suffix)?, unit)));
    let (digits, unit) = suffixed.unwrap_or((text, 1));
    let count = digits.parse().ok().and_then(|number: u64| number.checked_mul(unit));
    count.filter(|&count| count > 0).ok_or_else(|| "counts are written like 1000, 500k, 12M or 1G".to_owned())
}

fn parse_share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "a share is a number from 0 to 1".to_owned())
}
