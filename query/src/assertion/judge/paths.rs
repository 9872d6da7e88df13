//! The growth of a path of types: `growth(path "[roots] › Cache › Entry")`.

use std::sync::Arc;

use barrow_analyzer::{Judgement as Judged, ObjectId, ObjectSet, Recording, SnapshotId};

use super::{Judge, Side};
use crate::assertion::Figure;
use crate::assertion::judgement::{Found, Inexact, Reading, grown::Grown};
use crate::assertion::witness;
use crate::error::QueryError;
use crate::session::state::State;
use crate::tables::found::{BY_LOWER_BOUNDS, INEXACT};
use crate::tables::{growth_series, type_path};

/// A path of types, as `growth` writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::assertion) struct TypePath {
    pub(in crate::assertion) text: String,
}

/// A path in each snapshot.
struct PathSeries {
    retained_bytes: Vec<u64>,
    judgement: Judged,
    /// The object on it that retains most in the last snapshot.
    largest: Option<ObjectId>,
    is_exact: bool,
    /// It holds enough in some snapshot that `growth` follows it.
    is_known: bool,
}

impl Judge {
    /// Reads the slope of what the objects of a path retain.
    ///
    /// # Errors
    /// Those of the analyzer.
    pub(in crate::assertion) fn read_path<'r>(
        &mut self,
        state: &'r State,
        path: &'r TypePath,
        side: Side,
        snapshots: &[SnapshotId],
        unit: Figure,
    ) -> Result<Reading<'r>, QueryError> {
        let recording = match side {
            Side::Open => state.recording()?,
            Side::Baseline => Arc::clone(&self.baseline()?.recording),
        };
        let (snapshots, is_repeated) = match super::judged_snapshots(&recording, snapshots, side)? {
            Ok(judged) => judged,
            Err(why) => return Ok(Err(why)),
        };
        let PathSeries { retained_bytes, judgement, largest, is_exact, is_known } =
            path.in_snapshots(state, &recording, snapshots)?;
        if !is_exact {
            self.inexact = Some(Inexact { exactness: BY_LOWER_BOUNDS, note: INEXACT.to_owned() });
        }
        let numbers = snapshots.iter().map(|snapshot| f64::from(snapshot.0));
        let points: Vec<(f64, f64)> = numbers.zip(retained_bytes.iter().map(|&bytes| bytes as f64)).collect();
        let grown = Arc::new(Grown { points, growth: judgement });
        let (explained, last) = (Arc::clone(&grown), snapshots.last().copied().unwrap_or(SnapshotId(0)));
        let witness = move || {
            let heap = state.heap(last)?;
            let set = ObjectSet::from_sorted(last, heap.object_count(), largest);
            let of_last = witness::of_set(&heap, &set, &state.meter())?;
            Ok(witness::of_growth(last, of_last, &explained, unit))
        };
        let mut found = Found::exactly(grown.growth.trend.slope, Box::new(witness));
        found.interval = Grown::interval(&grown.growth);
        found.notes.extend(is_repeated.then(|| growth_series::REPEATED.to_owned()));
        let percent = type_path::LEAST_SHARE * 100.0;
        let unknown = || format!("no path `{}` holds {percent} % of the heap in any snapshot", path.text);
        found.notes.extend((!is_known).then(unknown));
        Ok(Ok(Found { growth: Some(grown), ..found }))
    }
}

impl TypePath {
    /// What the path retains in each of these snapshots; 0 where `growth` does not follow it.
    fn in_snapshots(
        &self,
        state: &State,
        recording: &Arc<Recording>,
        snapshots: &[SnapshotId],
    ) -> Result<PathSeries, QueryError> {
        let growth = growth_series::folded(state, recording, snapshots, type_path::LEAST_SHARE)?;
        let row = growth.rows().into_iter().find(|row| type_path::whole(&growth, row.node) == self.text);
        let (retained_bytes, judgement, largest) = match row {
            Some(row) => {
                let node = &growth.nodes()[row.node];
                let values = node.retained_bytes.iter().map(|bytes| bytes.unwrap_or(0)).collect();
                (values, row.judgement, node.largest)
            }
            None => (vec![0; snapshots.len()], Judged::of(&vec![0.0; snapshots.len()]), None),
        };
        Ok(PathSeries { retained_bytes, judgement, largest, is_exact: growth.is_exact(), is_known: row.is_some() })
    }
}
