//! Leak suspects with their fingerprints: those of one fingerprint are one.

use barrow_analyzer::{Fingerprint, Heap, Holder, LEAK_THRESHOLD, ObjectId, Suspect};

use crate::error::QueryError;
use crate::flags::Least;
use crate::progress::Meter;

/// Suspects of one fingerprint, such as the threads of a pool.
pub(crate) struct Suspected {
    /// The one that ranks first.
    pub(crate) suspect: Suspect,
    /// The fingerprint that they share; it is the same in every run.
    pub(crate) fingerprint: Fingerprint,
    /// Their number.
    pub(crate) alike: u64,
    /// The bytes that they retain together, each counted once.
    pub(crate) retained_bytes: u64,
}

/// The suspects of a heap, those first that look most like a leak. `min` is the least size of one.
///
/// # Errors
/// Those of the analyzer.
pub(crate) fn suspects(heap: &Heap, min: Option<Least>, meter: &Meter) -> Result<Vec<Suspected>, QueryError> {
    let whole = heap.largest(meter)?.reachable_bytes();
    let threshold = threshold(min, whole);
    let mut found: Vec<(Fingerprint, Vec<Suspect>)> = Vec::new();
    for suspect in heap.leak_suspects(threshold, meter)? {
        let fingerprint = heap.fingerprint(&suspect, meter)?;
        match found.iter_mut().find(|(known, _)| *known == fingerprint) {
            Some((_, alike)) => alike.push(suspect),
            None => found.push((fingerprint, vec![suspect])),
        }
    }
    let mut suspects = Vec::new();
    for (fingerprint, mut alike) in found {
        let retained_bytes = together(heap, &alike, meter)?;
        let ranking = alike.iter().map(|suspect| suspect.ranking_bytes).fold(0, u64::saturating_add);
        let count = alike.len() as u64;
        suspects
            .push((ranking, Suspected { suspect: alike.swap_remove(0), fingerprint, alike: count, retained_bytes }));
    }
    suspects.sort_by_key(|(ranking, suspected)| std::cmp::Reverse((*ranking, suspected.retained_bytes)));
    Ok(suspects.into_iter().map(|(_, suspected)| suspected).collect())
}

/// The part of the heap that a suspect has to hold.
pub(crate) fn threshold(min: Option<Least>, whole: u64) -> f64 {
    min.map_or(LEAK_THRESHOLD, |min| min.of(whole) as f64 / whole.max(1) as f64)
}

/// The bytes that suspects of one fingerprint retain together: one that another dominates is a part of that.
fn together(heap: &Heap, alike: &[Suspect], meter: &Meter) -> Result<u64, QueryError> {
    if let [only] = alike {
        return Ok(only.retained_bytes);
    }
    let objects: Vec<ObjectId> = alike.iter().map(|suspect| suspect.object).collect();
    heap.ask_dominators(meter, |dominators| {
        let is_part = |suspect: &&Suspect| {
            let mut holders = dominators.holders(suspect.object).filter_map(Holder::object);
            suspect.objects == 1 && holders.any(|holder| objects.contains(&holder))
        };
        let mut counted: Vec<&Suspect> = alike.iter().filter(|suspect| !is_part(suspect)).collect();
        counted.sort_by_key(|suspect| (suspect.object, suspect.objects));
        counted.dedup_by_key(|suspect| (suspect.object, suspect.objects));
        Ok(counted.iter().map(|suspect| suspect.retained_bytes).fold(0, u64::saturating_add))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use barrow_analyzer::{IndexPlace, Memory, SnapshotId};
    use barrow_testdata::Graph;

    use crate::progress::Unwatched;
    use crate::workspace::Workspace;

    use super::*;

    /// Maps that the roots hold, each with twenty leaves.
    fn heap(maps: usize) -> Heap {
        let words: Vec<String> = (0..maps)
            .map(|map| {
                (0..20).map(|leaf| format!("root -> m{map}(1) -> l{map}.{leaf}(20)")).collect::<Vec<_>>().join(";")
            })
            .collect();
        let (mut graph, names) = Graph::of_words(&words.join(";"));
        let type_of = |name: &String| if name.starts_with('m') { 2 } else { 3 };
        graph.types = names.iter().map(type_of).collect();
        let recording = Arc::new(graph.recording());
        Heap::new(recording, SnapshotId(0), &IndexPlace::Nowhere, Memory::unlimited()).unwrap()
    }

    #[test]
    fn suspects_of_one_fingerprint_are_one() {
        let workspace = Workspace::new(None, None).unwrap();
        let meter = Meter::new(Arc::new(Unwatched), Arc::new(workspace.ceiling()), false);
        for maps in [1, 4] {
            let found = suspects(&heap(maps), None, &meter).unwrap();
            let told: Vec<(u64, u64, u64)> =
                found.iter().map(|one| (one.alike, one.suspect.retained_bytes, one.retained_bytes)).collect();
            assert_eq!(told, [(maps as u64, 401, 401 * maps as u64)]);
        }
    }
}
