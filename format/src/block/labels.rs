//! Labels of explicit tails: a label code, or the step from the label before it.
//!
//! ```text
//!   labels    [0]  [1]  [2]  [5]  x    y         elements of an array, then names
//!   stored    +0   +0   +0   +2   x    y         most steps are 0, which is one byte
//! ```
//!
//! A label code has kind 0, 1 or 2 in its low two bits; 3 marks a step. Element *i* followed by element *j* of the same
//! strength is the step *j* − *i* − 1, so that arrays are steps of 0 and hash tables small steps.

use super::agree;
use crate::error::{FormatError, Result};

/// The low bits of a step, which no label code has.
const STEP: u64 = 3;
/// The bits of a label code below its value.
const VALUE_SHIFT: u32 = 6;
/// The label before the first of each tail: one before the first strong element.
const BEFORE_FIRST: u64 = 1u64.wrapping_sub(1 << VALUE_SHIFT);
/// Longer steps are stored as label codes.
const MAX_STEPS: u64 = 1 << 32;

/// Returns whether a stored value is a step.
pub(super) fn is_step(stored: u64) -> bool {
    stored & 3 == STEP
}

/// Encodes label codes for storage, one tail after the other. Tails are given by their lengths.
///
/// # Errors
/// [`FormatError::Mismatch`] if the number of labels differs from the sum of the tails; [`FormatError::OutOfRange`] for
/// a label of an unknown kind.
pub(super) fn steps_from_labels(tails: impl Iterator<Item = usize>, labels: &[u64]) -> Result<Vec<u64>> {
    if labels.iter().any(|&label| is_step(label)) {
        return Err(FormatError::OutOfRange { what: "kind of a label", value: STEP, limit: 2 });
    }
    let mut stored = Vec::with_capacity(labels.len());
    let mut rest = labels;
    let mut needed = 0;
    for length in tails {
        needed += length;
        let (own, others) = rest.split_at(length.min(rest.len()));
        rest = others;
        let mut before = BEFORE_FIRST;
        for &label in own {
            stored.push(step(before, label).unwrap_or(label));
            before = label;
        }
    }
    agree("labels in a block", labels.len() as u64, needed as u64)?;
    Ok(stored)
}

/// The step from one label to another, if there is one.
fn step(before: u64, label: u64) -> Option<u64> {
    let distance = label.wrapping_sub(before);
    let (steps, rest) = (distance >> VALUE_SHIFT, distance & ((1 << VALUE_SHIFT) - 1));
    (rest == 0 && (1..=MAX_STEPS).contains(&steps)).then(|| (steps - 1) << 2 | STEP)
}

/// Turns stored values into label codes, tail by tail. The caller checks that the tails together are as long as
/// `stored`.
pub(super) fn labels_from_steps(tails: impl Iterator<Item = u32>, stored: &mut [u64]) {
    let mut rest = stored;
    for length in tails {
        let (own, others) = rest.split_at_mut(length as usize);
        let mut before = BEFORE_FIRST;
        for value in own {
            if is_step(*value) {
                *value = before.wrapping_add(((*value >> 2) + 1) << VALUE_SHIFT);
            }
            before = *value;
        }
        rest = others;
    }
}
