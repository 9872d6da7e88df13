//! Pairs the modes of two samples: as many as possible, in their order, at minimum cost.

/// Pairs modes by their locations, ascending in both. Unpaired modes are pairs with one side. The cost of a pair is the
/// distance of the logarithms if all locations are positive, and the distance otherwise.
pub(super) fn matched(a: &[f64], b: &[f64]) -> Vec<(Option<usize>, Option<usize>)> {
    let is_positive = a.iter().chain(b).all(|location| *location > 0.0);
    let [x, y] = [a, b].map(|locations| {
        let scaled = locations.iter().map(|location| if is_positive { location.ln() } else { *location });
        scaled.collect::<Vec<f64>>()
    });
    // costs[i][j]: the first i of a and j of b, of which min(i, j) are paired.
    let mut costs = vec![vec![0.0_f64; b.len() + 1]; a.len() + 1];
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let paired = costs[i - 1][j - 1] + (x[i - 1] - y[j - 1]).abs();
            costs[i][j] = match i.cmp(&j) {
                std::cmp::Ordering::Less => paired.min(costs[i][j - 1]),
                std::cmp::Ordering::Equal => paired,
                std::cmp::Ordering::Greater => paired.min(costs[i - 1][j]),
            };
        }
    }
    let (mut i, mut j) = (a.len(), b.len());
    let mut pairs = Vec::new();
    while i > 0 || j > 0 {
        let is_paired = i > 0 && j > 0 && costs[i][j] >= costs[i - 1][j - 1] + (x[i - 1] - y[j - 1]).abs();
        if is_paired {
            (i, j) = (i - 1, j - 1);
            pairs.push((Some(i), Some(j)));
        } else if i > j {
            i -= 1;
            pairs.push((Some(i), None));
        } else {
            j -= 1;
            pairs.push((None, Some(j)));
        }
    }
    pairs.reverse();
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_modes_are_pairs() {
        let pair = |a, b| (Some(a), Some(b));
        assert_eq!(matched(&[10.0, 20.0], &[11.0, 26.0]), [pair(0, 0), pair(1, 1)]);
        assert_eq!(matched(&[10.0], &[9.0, 20.0]), [pair(0, 0), (None, Some(1))]);
        assert_eq!(matched(&[10.0, 20.0, 30.0], &[29.0]), [(Some(0), None), (Some(1), None), pair(2, 0)]);
        assert_eq!(matched(&[-5.0, 5.0], &[5.0, 6.0, 7.0]), [pair(0, 0), pair(1, 1), (None, Some(2))]);
        assert_eq!(matched(&[], &[1.0]), [(None, Some(0))]);
        assert_eq!(matched(&[], &[]), []);
    }

    #[test]
    fn the_cost_is_the_least_of_all_matchings() {
        let mut random = crate::random::Random::new(9);
        for _ in 0..200 {
            let locations = |count: usize, random: &mut crate::random::Random| {
                let mut all: Vec<f64> = (0..count).map(|_| 1.0 + random.below(1000) as f64).collect();
                all.sort_by(f64::total_cmp);
                all
            };
            let (m, n) = (1 + random.position(4), 1 + random.position(4));
            let (a, b) = (locations(m, &mut random), locations(n, &mut random));
            let cost =
                |pairs: &[(usize, usize)]| pairs.iter().map(|&(i, j)| (a[i].ln() - b[j].ln()).abs()).sum::<f64>();
            let found: Vec<(usize, usize)> = matched(&a, &b).into_iter().filter_map(|(i, j)| Some((i?, j?))).collect();
            assert_eq!(found.len(), m.min(n));
            // By definition: every choice of the longer side's modes.
            let (long, short) = (m.max(n), m.min(n));
            let choices = (0..1_u32 << long).filter(|choice| choice.count_ones() as usize == short);
            let least = choices.map(|choice| {
                let chosen = (0..long).filter(|at| choice >> at & 1 == 1);
                let pairs: Vec<(usize, usize)> = match m >= n {
                    true => chosen.zip(0..n).collect(),
                    false => (0..m).zip(chosen).collect(),
                };
                cost(&pairs)
            });
            let least = least.fold(f64::MAX, f64::min);
            assert!((cost(&found) - least).abs() < 1e-9, "{a:?} {b:?}");
        }
    }
}
