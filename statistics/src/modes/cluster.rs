//! A cluster of neighbouring values: two halves of a curve that meet at the peak, each with a scale of its own.

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

/// The cube root of a non-negative number, accurate except for a few of its last digits; that of 0 is not 0, but below
/// 1e-102. The one of the standard library takes several times as long.
fn cube_root(number: f64) -> f64 {
    let number = number.max(f64::MIN_POSITIVE);
    // A third of the exponent; then Halley's method, which triples the number of digits in each step.
    let mut root = f64::from_bits(number.to_bits() / 3 + 0x2a9f_7893_782d_a1ce);
    for _ in 0..3 {
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
    tail: Tail,
    /// The scale of a standard deviation.
    scale_of_deviation: f64,
    count: usize,
    /// Columns are peaks. Right of the diagonal: the half from the value of the row up to before the peak. Otherwise:
    /// the half from the peak up to the value of the row.
    roots: Vec<f64>,
}

impl Halves {
    fn of(values: &[f64], tail: Tail) -> Self {
        match tail.power {
            1.0 => Halves::with(values, tail, f64::abs, f64::sqrt),
            0.5 => Halves::with(values, tail, |distance| distance.abs().sqrt(), |sum| cube_root(sum * sum)),
            _ => Halves::with(values, tail, |distance| distance * distance, cube_root),
        }
    }

    /// With the power, and the root of degree power + 1.
    fn with(values: &[f64], tail: Tail, power: impl Fn(f64) -> f64, root: impl Fn(f64) -> f64) -> Self {
        let n = values.len();
        let mut roots = vec![0.0; n * n];
        let mut sums = vec![0.0; n];
        for (first, value) in values.iter().enumerate().rev() {
            let row = &mut roots[first * n..][..n];
            for at in first + 1..n {
                sums[at] += power(values[at] - value);
                row[at] = root(sums[at]);
            }
        }
        sums.fill(0.0);
        for (last, value) in values.iter().enumerate() {
            let row = &mut roots[last * n..][..n];
            for at in 0..=last {
                sums[at] += power(value - values[at]);
                row[at] = root(sums[at]);
            }
        }
        let scale_of_deviation = TAILS[0].width * std::f64::consts::SQRT_2 / tail.width;
        Halves { tail, scale_of_deviation, count: n, roots }
    }

    fn row(&self, of: usize) -> &[f64] {
        &self.roots[of * self.count..][..self.count]
    }

    /// The most likely cluster of the values from `first` to `last`, with its peak at one of these places.
    fn cluster(&self, values: &Values, first: usize, last: usize, places: &[usize]) -> Cluster {
        let Tail { power, width, .. } = self.tail;
        let members = (last + 1 - first) as f64;
        let (left, right) = (self.row(first), self.row(last));
        let (mut total, mut peak) = (f64::MAX, first);
        for &place in places {
            let found = left[place] + right[place];
            (total, peak) = if found < total { (found, place) } else { (total, peak) };
        }
        let common = match (total * power / members, power) {
            (common, 1.0) => common,
            (common, 0.5) => common * common,
            (common, _) => common.sqrt(),
        };
        let least = values.least_scales[peak] * self.scale_of_deviation;
        let halves = [left[peak], right[peak]];
        let [left, right] = halves.map(|half| half * common);
        // If a half is narrower than the least scale, the sum of its distances is not the one at the optimum.
        let misfits = match left > least && right > least {
            true => members / power,
            false => {
                let misfits = halves.into_iter().map(|half| match half * common > least {
                    true => members / power * half / total,
                    false => half * self.tail.raised(half) / self.tail.raised(least),
                });
                misfits.sum()
            }
        };
        let (left, right) = (left.max(least), right.max(least));
        let log_likelihood = -members * (width * (left + right)).ln() - misfits;
        Cluster { first, last, peak: values.scaled[peak], left, right, tail: self.tail, log_likelihood }
    }
}

/// Values with precomputed roots that find the most likely cluster of any range of them.
pub(super) struct Values {
    pub(super) scaled: Vec<f64>,
    /// For each value, the least standard deviation of a cluster with its peak there.
    pub(super) least_scales: Vec<f64>,
    halves: Vec<Halves>,
}

impl Values {
    pub(super) fn of(scaled: &[f64], least_scales: Vec<f64>) -> Self {
        let halves = TAILS.map(|tail| Halves::of(scaled, tail)).into();
        Values { scaled: scaled.to_vec(), least_scales, halves }
    }

    /// The same values, with other minimum standard deviations.
    pub(super) fn with_least_scales(self, least_scales: Vec<f64>) -> Self {
        Values { least_scales, ..self }
    }

    pub(super) fn len(&self) -> usize {
        self.scaled.len()
    }

    /// The best cluster of the values from `first` to `last`.
    pub(super) fn cluster(&self, first: usize, last: usize) -> Cluster {
        let places: [usize; PEAKS + 1] = std::array::from_fn(|number| first + (last - first) * number / PEAKS);
        let normal = self.halves[0].cluster(self, first, last, &places);
        let others = self.halves[1..].iter().map(|halves| halves.cluster(self, first, last, &places));
        others.fold(normal, |best, cluster| if cluster.worth() > best.worth() { cluster } else { best })
    }
}
