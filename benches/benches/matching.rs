//! Measures matching of consecutive snapshots by structure: its speed, and its accuracy if the runtime recorded
//! serials.
//!
//! Where the system reports it, CPU time is measured, so that other work on the machine has little effect.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use barrow_analyzer::{Progress, Recording, SerialOrigin, Silent, SnapshotId};
use barrow_benches::recording_path;

/// The start of the last phase.
struct LastPhase(Mutex<Moment>);

/// A moment: wall time, and the CPU time of the threads of this process.
#[derive(Clone, Copy)]
struct Moment {
    clock: Instant,
    worked: Option<Duration>,
}

impl Moment {
    fn now() -> Self {
        Moment { clock: Instant::now(), worked: worked() }
    }

    fn seconds_since(self, before: Moment) -> f64 {
        let worked = self.worked.zip(before.worked).map(|(now, before)| now.saturating_sub(before));
        worked.unwrap_or(self.clock - before.clock).as_secs_f64()
    }
}

/// The CPU time of all threads, on Linux.
fn worked() -> Option<Duration> {
    let mut nanoseconds = 0;
    for task in std::fs::read_dir("/proc/self/task").ok()? {
        let text = std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        nanoseconds += text.split(' ').next()?.parse::<u64>().ok()?;
    }
    Some(Duration::from_nanos(nanoseconds))
}

impl Progress for LastPhase {
    fn begin(&self, _phase: &str, _total: u64, _unit: &'static str) {
        *self.0.lock().expect("no thread panicked") = Moment::now();
    }

    fn advance(&self, _steps: u64) {}

    fn cancelled(&self) -> bool {
        false
    }
}

fn main() {
    let recording = Recording::open(&recording_path()).expect("BARROW_BENCH is a recording");
    let snapshots: Vec<SnapshotId> = recording.snapshot_ids().collect();
    let (mut objects, mut all_seconds) = (0, 0.0);
    for pair in snapshots.windows(2) {
        let begin = Moment::now();
        // Both snapshots are read before matching starts.
        let matching = LastPhase(Mutex::new(begin));
        let partners = recording.partners(pair[0], pair[1], &matching).expect("it is whole");
        let end = Moment::now();
        let seconds = end.seconds_since(begin);
        let matching_seconds = end.seconds_since(matching.0.into_inner().expect("no thread panicked"));
        let serials = [pair[0], pair[1]].map(|snapshot| recording.recorded_serials(snapshot).expect("it is whole"));
        let paired = partners.iter().flatten().count();
        let rate = |seconds: f64| partners.len() as f64 / seconds / 1e6;
        let (alone, with_reading) = (rate(matching_seconds), rate(seconds));
        print!("{} → {}: {} objects, {paired} paired, ", pair[0], pair[1], partners.len());
        print!("{alone:.1} M objects/s, {with_reading:.1} with reading both");
        println!("{}", truth(&partners, &serials).unwrap_or_default());
        objects += partners.len();
        all_seconds += matching_seconds;
    }
    println!("all: {:.1} M objects/s", objects as f64 / all_seconds / 1e6);
    if recording.serial_origin().expect("it is whole") == SerialOrigin::Matched {
        trust(&recording);
    }
}

/// The number of agreeing references of paired objects, for each pair of snapshots.
fn trust(recording: &Recording) {
    let last = recording.snapshot_ids().last().expect("there are snapshots");
    let mut walk = recording.serials(last).expect("it is whole");
    print!("references that agree:");
    while let Some(serials) = walk.next(&Silent).expect("it is whole") {
        if let Some(pairing) = serials.pairing {
            print!(" {:.2} %", 100.0 * pairing.confidence());
        }
    }
    println!();
}

/// Precision and recall, if objects have serials.
fn truth(partners: &[Option<barrow_analyzer::ObjectId>], serials: &[Vec<u64>; 2]) -> Option<String> {
    let known: std::collections::HashSet<u64> = serials[0].iter().copied().filter(|&serial| serial != 0).collect();
    let stayed = serials[1].iter().filter(|serial| known.contains(serial)).count();
    let named = partners.iter().zip(&serials[1]).filter_map(|(old, &serial)| {
        let before = serials[0][(*old)?.index()];
        (serial != 0 && before != 0).then_some(before == serial)
    });
    let judged: Vec<bool> = named.collect();
    let right = judged.iter().filter(|&&is_right| is_right).count();
    let share = |of: usize| 100.0 * right as f64 / of.max(1) as f64;
    (stayed > 0).then(|| format!(", precision {:.2} %, recall {:.2} %", share(judged.len()), share(stayed)))
}
