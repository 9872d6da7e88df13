//! Limits on the number of consecutive patches, and on the cost of reading them.

use super::NO_ROW;

/// Maximum number of patches between two whole snapshots.
pub const MAX_CHAIN: usize = 64;
/// A patch is worthwhile if it takes at most this share of the whole snapshot.
const WORTHWHILE: f64 = 0.9;

/// Maximum number of rows, living and dead, of a snapshot that is stored as a patch: 1.5 per object, all below
/// [`NO_ROW`].
#[must_use]
pub fn most_rows(objects: u64) -> u64 {
    (objects.saturating_mul(3) / 2).min(u64::from(NO_ROW) - 1)
}

/// Maximum number of rows and references stored since the last whole snapshot, including that one: 1.75 times those
/// that the snapshot has. This bounds the cost of reading it.
#[must_use]
pub fn most_stored(objects: u64, references: u64) -> u64 {
    objects.saturating_add(references).saturating_mul(7) / 4
}

/// Returns whether a patch of this length is worthwhile compared with the whole snapshot.
#[must_use]
pub fn is_worthwhile(patch_bytes: u64, whole_bytes: f64) -> bool {
    patch_bytes as f64 <= WORTHWHILE * whole_bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_in_proportion_to_the_snapshot_and_never_overflow() {
        assert_eq!((most_rows(100), most_rows(u64::MAX)), (150, u64::from(NO_ROW) - 1));
        assert_eq!((most_stored(100, 300), most_stored(u64::MAX, 1)), (700, u64::MAX / 4));
        assert!(is_worthwhile(90, 100.0) && !is_worthwhile(91, 100.0));
    }
}
