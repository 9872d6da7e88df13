//! Matching consecutive snapshots by structure: how fast, and how right where the runtime's serials tell the truth.

use std::sync::Mutex;
use std::time::Instant;

use barrow_analyzer::{Progress, Recording, SnapshotId};
use barrow_benches::recording_path;

/// When the last phase began.
struct LastPhase(Mutex<Instant>);

impl Progress for LastPhase {
    fn begin(&self, _phase: &str, _total: u64, _unit: &'static str) {
        *self.0.lock().expect("nobody panicked") = Instant::now();
    }

    fn advance(&self, _steps: u64) {}

    fn cancelled(&self) -> bool {
        false
    }
}

fn main() {
    let recording = Recording::open(&recording_path()).expect("BARROW_BENCH is a recording");
    let snapshots: Vec<SnapshotId> = recording.snapshot_ids().collect();
    for pair in snapshots.windows(2) {
        let begin = Instant::now();
        // Both are read before they are matched.
        let matching = LastPhase(Mutex::new(begin));
        let partners = recording.partners(pair[0], pair[1], &matching).expect("it is whole");
        let seconds = begin.elapsed().as_secs_f64();
        let matching_seconds = matching.0.into_inner().expect("nobody panicked").elapsed().as_secs_f64();
        let serials = [pair[0], pair[1]].map(|snapshot| recording.recorded_serials(snapshot).expect("it is whole"));
        let paired = partners.iter().flatten().count();
        let rate = |seconds: f64| partners.len() as f64 / seconds / 1e6;
        let (alone, with_reading) = (rate(matching_seconds), rate(seconds));
        print!("{} → {}: {} objects, {paired} paired, ", pair[0], pair[1], partners.len());
        print!("{alone:.1} M objects/s, {with_reading:.1} with reading both");
        println!("{}", truth(&partners, &serials).unwrap_or_default());
    }
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
