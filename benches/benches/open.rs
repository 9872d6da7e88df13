//! Measures opening a recording of one gigabyte. It is made first by writing the last snapshot of a recording
//! repeatedly, uncompressed.

use barrow_analyzer::{Recording, summary};
use barrow_benches::{Loaded, measure, recording_path};
use barrow_writer::{Compression, Options, Writer};

const WANTED_BYTES: u64 = 1_000_000_000;

fn main() {
    let loaded = Loaded::load(&Recording::open(&recording_path()).expect("BARROW_BENCH is a recording"));
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let path = folder.path().join("large.barrow");
    let options = Options { compression: Compression::None, ..Options::default() };
    let writer = Writer::create(&path, options).expect("the folder is writable");
    loaded.declare(&writer);
    while path.metadata().expect("the file is there").len() < WANTED_BYTES {
        loaded.announce(&writer);
    }
    let finished = writer.finish().expect("the disk has room");
    println!("{} bytes, {} snapshots of {} objects", finished.bytes, finished.snapshots, loaded.objects.len());
    let open = || Recording::open(&path).expect("it was finished");
    measure("open", &[], || drop(open()));
    measure("open, totals of the last snapshot", &[], || {
        let recording = open();
        let last = recording.snapshot_ids().next_back().expect("it has snapshots");
        summary(&recording, last).expect("it is whole");
    });
}
