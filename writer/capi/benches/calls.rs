//! Measures the cost of announcing through C and in Rust: the announcing thread's CPU time, best of seven runs.
//! `calls.c` is the C side.

#[path = "../tests/library/mod.rs"]
mod library;

use barrow_writer::{
    Compression, KindRole, Label, Object, Options, SnapshotInfo, StrengthId, StringId, TypeDescription, TypeId, Writer,
    WriterError,
};
use library::{Build, build, command, crate_folder, run};

const OBJECTS: u64 = 1_000_000;
const REFERENCES: u64 = 8;
const RUNS: usize = 7;

fn main() -> Result<(), WriterError> {
    println!("in Rust");
    let options = Options { threads: 1, compression: Compression::None, ..Options::default() };
    let writer = Writer::create("/dev/null", options)?;
    let kind = writer.kind("object", KindRole::Object)?;
    let type_id = writer.declare_type(&TypeDescription::new(kind, "T"))?;
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"].map(|name| writer.string(name).expect("a stream with room"));
    let best = |references: u64| -> Result<f64, WriterError> {
        let times: Result<Vec<f64>, _> = (0..RUNS).map(|_| record(&writer, type_id, &names, references)).collect();
        Ok(times?.into_iter().fold(f64::INFINITY, f64::min))
    };
    let (alone, with) = (best(0)?, best(REFERENCES)?);
    let reference = (with - alone) / REFERENCES as f64;
    println!("{:<36} {alone:>6.1} ns an object {reference:>6.1} ns a reference", "a call for each reference");

    let folder = tempfile::tempdir().expect("there is a temporary folder");
    for way in [Build::Static, Build::Shared] {
        println!("in C, {way:?}");
        let program = build(way, &crate_folder().join("benches/calls.c"), folder.path(), "calls");
        print!("{}", run(&mut command(&[], &program)));
    }
    Ok(())
}

/// CPU time of this thread for a snapshot, in ns per object.
fn record(writer: &Writer, type_id: TypeId, names: &[StringId], references: u64) -> Result<f64, WriterError> {
    let snapshot = writer.begin_snapshot(SnapshotInfo::default())?;
    let mut shard = snapshot.shard();
    let from = thread_ns();
    for number in 0..OBJECTS {
        shard.object(number, &Object::new(type_id, 16 + 8 * references))?;
        for (place, &name) in (0..references).zip(names) {
            shard.reference(Label::Name(name), StrengthId::STRONG, (number + 1 + place) % OBJECTS)?;
        }
    }
    let took = thread_ns() - from;
    shard.finish()?;
    snapshot.commit()?;
    Ok(took / OBJECTS as f64)
}

/// CPU time of the calling thread, in ns.
fn thread_ns() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is writable, and every thread has such a clock.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}
