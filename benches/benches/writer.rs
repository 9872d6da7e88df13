//! Measures the writer from memory to a committed file. The last snapshot of a recording is loaded, then announced
//! repeatedly.

use barrow_analyzer::Recording;
use barrow_benches::{Amount, Loaded, measure, recording_path};
use barrow_writer::{Compression, Options, Writer};

fn main() {
    let path = recording_path();
    let recording = Recording::open(&path).expect("BARROW_BENCH is a recording");
    let loaded = Loaded::load(&recording);
    let amounts = [
        Amount { count: loaded.objects.len() as u64, unit: "objects" },
        Amount { count: loaded.references.len() as u64, unit: "references" },
    ];
    println!("{}: last snapshot, {} objects, {} references", path.display(), amounts[0].count, amounts[1].count);
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    for (name, compression) in [
        ("not compressed", Compression::None),
        ("lz4", Compression::Lz4),
        ("zstd-1", Compression::Zstd(1)),
        ("zstd-3", Compression::Zstd(3)),
    ] {
        for threads in [0, 2] {
            let file = folder.path().join("bench.barrow");
            let options = Options { compression, threads, ..Options::default() };
            let writer = Writer::create(&file, options).expect("the folder is writable");
            loaded.declare(&writer);
            let where_encoded =
                if threads == 0 { "announcing thread".to_owned() } else { format!("{threads} encoders") };
            measure(&format!("write, {name}, {where_encoded}"), &amounts, || loaded.announce(&writer));
        }
    }
}
