//! Ranks of values; equal ones share the mean of theirs.

/// The rank of each value, counted from 1.
pub(crate) fn midranks(values: &[f64]) -> Vec<f64> {
    let mut ranks = vec![0.0; values.len()];
    for_each_tie(values, |tie, first| {
        let rank = first as f64 + (tie.len() as f64 + 1.0) / 2.0;
        tie.iter().for_each(|&at| ranks[at] = rank);
    });
    ranks
}

/// Σ t³ − t over the numbers t of equal values.
pub(crate) fn tie_term(values: &[f64]) -> f64 {
    let mut term = 0.0;
    for_each_tie(values, |tie, _| {
        let t = tie.len() as f64;
        term += t * t * t - t;
    });
    term
}

/// Calls `visit` with the positions of equal values and the number of smaller ones.
fn for_each_tie(values: &[f64], mut visit: impl FnMut(&[usize], usize)) {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&one, &other| values[one].total_cmp(&values[other]));
    let mut first = 0;
    for tie in order.chunk_by(|&one, &other| values[one] == values[other]) {
        visit(tie, first);
        first += tie.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_their_rank() {
        assert_eq!(midranks(&[3.0, 1.0, 3.0, 2.0, 3.0]), [4.0, 1.0, 4.0, 2.0, 4.0]);
        assert_eq!(midranks(&[0.0, -0.0]), [1.5, 1.5]);
        assert_eq!(tie_term(&[3.0, 1.0, 3.0, 2.0, 3.0, 1.0]), 24.0 + 6.0);
    }
}
