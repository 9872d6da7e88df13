//! A cluster of neighbouring values: two halves of a curve that meet at the peak, each with a scale of its own.

use std::array::from_fn;
use std::f64::consts::SQRT_2;

/// Candidates for the peak of a cluster.
const PEAKS: usize = 12;
/// Candidates for the peak of a single cluster of all values.
const FINE_PEAKS: usize = 60;
/// Parameters of a cluster: peak and two scales.
const PARAMETERS: f64 = 3.0;
/// The price of a cluster whose tails are not normal.
const HEAVY: f64 = 1.0;
/// The price of a cluster with a flat top.
const FLAT_TOP: f64 = 4.0;

/// The decay of the density of a cluster: the exponential of the negative of this power of the distance to the peak.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tail {
    power: f64,
    /// The integral of a half with scale 1: the gamma function of 1 + 1 / power.
    width: f64,
    /// The price of a cluster with such tails, in units of log-likelihood.
    pub(super) price: f64,
}

/// The possible tails of a cluster: normal, exponential, and heavier ones. Times have rare disturbances of any size,
/// which are not a cluster.
pub(super) const TAILS: [Tail; 3] = [
    Tail { power: 2.0, width: 0.886_226_925_452_758, price: 0.0 },
    Tail { power: 1.0, width: 1.0, price: HEAVY },
    Tail { power: 0.5, width: 2.0, price: HEAVY },
];

/// Number of values that are computed together: one for each tail, and one that is not used, so that they fill registers.
const LANES: usize = 4;

/// Flat tops, with which a single cluster is compared with several that overlap: all values between two peaks may be
/// equally likely.
pub(super) const FLAT: [Tail; 2] = [
    Tail { power: 4.0, width: 0.906_402_477_055_477, price: FLAT_TOP },
    Tail { power: 8.0, width: 0.941_742_699_849_701, price: FLAT_TOP },
];

impl Tail {
    /// A non-negative number raised to this power.
    fn raised(self, number: f64) -> f64 {
        let square = number * number;
        match self.power {
            0.5 => number.sqrt(),
            1.0 => number,
            2.0 => square,
            4.0 => square * square,
            // There is no other power; `powf` would be computed for each of them in vain, before the power is tested.
            _ => (square * square) * (square * square),
        }
    }

    /// The log-likelihood of all values if they are one cluster with such tails, whose halves may be as narrow as they
    /// like.
    pub(super) fn log_likelihood(self, values: &[f64]) -> f64 {
        let (n, last) = (values.len() as f64, values.len() - 1);
        (0..=FINE_PEAKS).fold(f64::MIN, |best, number| {
            let peak = values[last * number / FINE_PEAKS];
            let (left, right) = values.split_at(values.partition_point(|value| *value < peak));
            let [left, right] = [left, right].map(|half| {
                let sum: f64 = half.iter().map(|value| self.raised((value - peak).abs())).sum();
                sum.powf((self.power + 1.0).recip())
            });
            let halves = left + right;
            let common = (halves * self.power / n).powf(self.power.recip());
            best.max(-n * (self.width * halves * common).ln() - n / self.power)
        })
    }
}

/// The cube root of a non-negative number, with a relative error below 1e-12; that of 0 is not 0, but below 1e-102. The one
/// of the standard library takes several times as long.
fn cube_root(number: f64) -> f64 {
    let number = number.max(f64::MIN_POSITIVE);
    // A third of the exponent; then Halley's method, which triples the number of digits in each step.
    // Only the upper half of the bits is divided, because processors divide several numbers of 32 bits at a time.
    let third = u64::from((number.to_bits() >> 32) as u32 / 3);
    let mut root = f64::from_bits((third << 32) + 0x2a9f_7893_782d_a1ce);
    for _ in 0..2 {
        let cube = root * root * root;
        root *= (cube + 2.0 * number) / (2.0 * cube + number);
    }
    root
}

/// A cluster of neighbouring values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cluster {
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) peak: f64,
    left: f64,
    right: f64,
    pub(super) tail: Tail,
    log_likelihood: f64,
}

impl Cluster {
    pub(super) fn len(&self) -> usize {
        self.last + 1 - self.first
    }

    /// The density at a place, of all values.
    pub(super) fn density(&self, at: f64, all: usize) -> f64 {
        let scale = if at < self.peak { self.left } else { self.right };
        let distance = (at - self.peak).abs() / scale.max(f64::MIN_POSITIVE);
        self.len() as f64 / all as f64 * self.height() * (-self.tail.raised(distance)).exp()
    }

    /// The density at the peak, of its own values.
    fn height(&self) -> f64 {
        1.0 / (self.tail.width * (self.left + self.right))
    }

    /// Its log-likelihood minus the price of its tails.
    fn worth(&self) -> f64 {
        self.log_likelihood - self.tail.price
    }

    /// Its contribution to the score of a partition, if this share of the values is independent.
    pub(super) fn score(&self, all: usize, part: f64) -> f64 {
        let members = self.len() as f64;
        let independent = (part * members).max(PARAMETERS + 2.0);
        let price = PARAMETERS * independent / (independent - PARAMETERS - 1.0) + self.tail.price;
        part * (self.log_likelihood + members * (members / all as f64).ln()) - price
    }
}

/// For each half of a cluster, a root of the sum of the powers of its distances to the peak, so that a cluster takes
/// one addition per candidate for its peak.
struct Halves {
    count: usize,
    /// Columns are peaks. Right of the diagonal: the half from the value of the row up to before the peak. Otherwise:
    /// the half from the peak up to the value of the row. The roots of all tails are beside each other, because they are
    /// read together.
    roots: Vec<[f64; LANES]>,
}

impl Halves {
    /// For clusters between these bounds.
    fn of(values: &[f64], bounds: &[usize]) -> Self {
        let mut is_bound = vec![false; values.len() + 1];
        bounds.iter().for_each(|bound| is_bound[*bound] = true);
        let mut halves = Halves { count: values.len(), roots: vec![[0.0; LANES]; values.len() * values.len()] };
        for (lane, tail) in TAILS.iter().enumerate() {
            match tail.power {
                1.0 => halves.fill(lane, values, &is_bound, f64::abs, f64::sqrt),
                0.5 => {
                    halves.fill(lane, values, &is_bound, |distance| distance.abs().sqrt(), |sum| cube_root(sum * sum))
                }
                _ => halves.fill(lane, values, &is_bound, |distance| distance * distance, cube_root),
            }
        }
        halves
    }

    /// With the power, and the root of degree power + 1.
    fn fill(
        &mut self,
        lane: usize,
        values: &[f64],
        is_bound: &[bool],
        power: impl Fn(f64) -> f64,
        root: impl Fn(f64) -> f64,
    ) {
        let n = values.len();
        let (mut sums, mut found) = (vec![0.0; n], vec![0.0; n]);
        let from_first = (0..n).rev().map(|first| (first, first + 1..n, is_bound[first]));
        let to_last = (0..n).map(|last| (last, 0..last + 1, is_bound[last + 1]));
        for (row, columns, is_read) in from_first.chain(to_last) {
            let value = values[row];
            // The sum of the column of this row begins here, in both directions.
            sums[row] = 0.0;
            let sums = &mut sums[columns.clone()];
            sums.iter_mut().zip(&values[columns.clone()]).for_each(|(sum, other)| *sum += power(other - value));
            if is_read {
                let found = &mut found[columns.clone()];
                found.iter_mut().zip(sums).for_each(|(found, sum)| *found = root(*sum));
                let places = self.roots[row * n..][columns].iter_mut();
                places.zip(found).for_each(|(place, found)| place[lane] = *found);
            }
        }
    }

    fn row(&self, of: usize) -> &[[f64; LANES]] {
        &self.roots[of * self.count..][..self.count]
    }

    /// For each tail, the place of the most likely peak of a cluster of the values from `first` to `last`.
    fn peaks(&self, first: usize, last: usize) -> [usize; LANES] {
        let (left, right) = (self.row(first), self.row(last));
        let place = |number: usize| first + (last - first) * number / PEAKS;
        // The last four bits of each sum hold the number of its place, so that the least sum tells its place.
        const MARK: u64 = 15;
        let mut least = [f64::MAX; LANES];
        for number in 0..=PEAKS {
            let (left, right) = (&left[place(number)], &right[place(number)]);
            for lane in 0..LANES {
                let sum = (left[lane] + right[lane]).to_bits();
                let marked = f64::from_bits(sum & !MARK | number as u64);
                least[lane] = if marked < least[lane] { marked } else { least[lane] };
            }
        }
        least.map(|marked| place((marked.to_bits() & MARK) as usize))
    }

    /// The most likely cluster of the values from `first` to `last` with these tails and its peak at this place.
    fn cluster(&self, values: &Values, first: usize, last: usize, lane: usize, peak: usize) -> Cluster {
        let tail = TAILS[lane];
        let Tail { power, width, .. } = tail;
        let members = (last + 1 - first) as f64;
        let halves = [self.row(first)[peak][lane], self.row(last)[peak][lane]];
        let total = halves[0] + halves[1];
        let common = match (total * power / members, power) {
            (common, 1.0) => common,
            (common, 0.5) => common * common,
            (common, _) => common.sqrt(),
        };
        // The scale of a standard deviation.
        let least = values.least_scales[peak] * (TAILS[0].width * SQRT_2 / width);
        let [left, right] = halves.map(|half| half * common);
        // If a half is narrower than the least scale, the sum of its distances is not the one at the optimum.
        let misfits = match left > least && right > least {
            true => members / power,
            false => {
                let misfits = halves.into_iter().map(|half| match half * common > least {
                    true => members / power * half / total,
                    false => half * tail.raised(half) / tail.raised(least),
                });
                misfits.sum()
            }
        };
        let (left, right) = (left.max(least), right.max(least));
        let log_likelihood = -members * (width * (left + right)).ln() - misfits;
        Cluster { first, last, peak: values.scaled[peak], left, right, tail, log_likelihood }
    }
}

/// Values with precomputed roots that find the most likely cluster of any range of them.
pub(super) struct Values {
    pub(super) scaled: Vec<f64>,
    /// For each value, the least standard deviation of a cluster with its peak there.
    pub(super) least_scales: Vec<f64>,
    halves: Halves,
}

impl Values {
    /// For clusters between these bounds, which include 0 and the number of values.
    pub(super) fn of(scaled: &[f64], least_scales: Vec<f64>, bounds: &[usize]) -> Self {
        Values { scaled: scaled.to_vec(), least_scales, halves: Halves::of(scaled, bounds) }
    }

    /// The same values, with other minimum standard deviations.
    pub(super) fn with_least_scales(self, least_scales: Vec<f64>) -> Self {
        Values { least_scales, ..self }
    }

    pub(super) fn len(&self) -> usize {
        self.scaled.len()
    }

    /// The best cluster of the values from `first` to `last`, between two bounds.
    pub(super) fn cluster(&self, first: usize, last: usize) -> Cluster {
        let peaks = self.halves.peaks(first, last);
        let [normal, others @ ..] =
            from_fn::<_, { TAILS.len() }, _>(|lane| self.halves.cluster(self, first, last, lane, peaks[lane]));
        others.into_iter().fold(normal, |best, cluster| if cluster.worth() > best.worth() { cluster } else { best })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cube_roots_are_those_of_the_standard_library() {
        for number in (0..200_000).map(|at| (f64::from(at) / 1000.0 - 100.0).exp()) {
            let (found, exact) = (cube_root(number), number.cbrt());
            assert!((found - exact).abs() < 1e-12 * exact, "{number}: {found} beside {exact}");
        }
    }

    #[test]
    fn a_cluster_has_the_peak_and_the_tails_of_the_highest_likelihood() {
        let mut random = crate::random::Random::new(5);
        let mut number = || random.below(1 << 20) as f64 / f64::from(1 << 20);
        for count in [8, 13, 40] {
            let mut values: Vec<f64> = (0..count).map(|_| number().powi(3) + number()).collect();
            values.sort_by(f64::total_cmp);
            let found = Values::of(&values, vec![1e-12; count], &[0, count]).cluster(0, count - 1);
            // By definition: each tail, each place for the peak, and scales that are the optimum for both sums of powers.
            let worth = |tail: Tail, peak: f64| {
                let sum = |is_left: bool| {
                    let half = values.iter().filter(|value| (**value < peak) == is_left);
                    half.map(|value| (value - peak).abs().powf(tail.power)).sum::<f64>()
                };
                let [left, right] = [sum(true), sum(false)].map(|sum| sum.powf(1.0 / (tail.power + 1.0)));
                let common = ((left + right) * tail.power / count as f64).powf(1.0 / tail.power);
                let normal = count as f64 * (tail.width * (left + right) * common).ln();
                -normal - count as f64 / tail.power - tail.price
            };
            let places = (0..=PEAKS).map(|number| values[(count - 1) * number / PEAKS]);
            let all = places.flat_map(|peak| TAILS.map(|tail| worth(tail, peak)));
            let best = all.filter(|worth| worth.is_finite()).fold(f64::MIN, f64::max);
            assert!((found.worth() - best).abs() < 1e-6, "{} beside {best}", found.worth());
        }
    }
}
