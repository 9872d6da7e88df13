//! A cluster of neighbouring values: two halves of a curve that meet at the peak, each with a scale of its own.

/// Candidates for the peak of a cluster.
const PEAKS: usize = 12;
/// Candidates for the peak of a single cluster of all values.
const FINE_PEAKS: usize = 60;
/// Parameters of a cluster: peak and two scales.
const PARAMETERS: f64 = 3.0;
/// The price of a cluster whose tails are not those of a normal distribution.
const HEAVY: f64 = 1.0;
/// The price of a cluster with a flat top.
const FLAT_TOP: f64 = 4.0;

/// How steeply the density of a cluster falls: with the exponential of this power of the distance to the peak.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tail {
    power: f64,
    /// The integral of a half with scale 1: the gamma function of 1 + 1 / power.
    width: f64,
    /// The price of a cluster with such tails, in units of log-likelihood.
    pub(super) price: f64,
}

/// The tails that a cluster may have: those of the normal distribution, of the exponential one, and heavier ones. Times
/// have rare disturbances of any size, which are no cluster.
pub(super) const TAILS: [Tail; 3] = [
    Tail { power: 2.0, width: 0.886_226_925_452_758, price: 0.0 },
    Tail { power: 1.0, width: 1.0, price: HEAVY },
    Tail { power: 0.5, width: 2.0, price: HEAVY },
];

/// Flat tops, with which a single cluster is compared with several that overlap: all values between two may be equally
/// likely.
pub(super) const FLAT: [Tail; 2] = [
    Tail { power: 4.0, width: 0.906_402_477_055_477, price: FLAT_TOP },
    Tail { power: 8.0, width: 0.941_742_699_849_701, price: FLAT_TOP },
];

impl Tail {
    /// A number that is not negative to this power.
    fn raised(self, number: f64) -> f64 {
        let square = number * number;
        match self.power {
            0.5 => number.sqrt(),
            1.0 => number,
            2.0 => square,
            4.0 => square * square,
            // There is no other; a general power would be computed in vain for each of them, before the power is looked at.
            _ => (square * square) * (square * square),
        }
    }

    /// The log-likelihood of all values if they are one cluster with such tails, which may end as sharply as it will.
    pub(super) fn log_likelihood(self, values: &[f64]) -> f64 {
        let (n, last) = (values.len() as f64, values.len() - 1);
        let of_peak = |number: usize| {
            let peak = values[last * number / FINE_PEAKS];
            let half = |values: &[f64]| {
                let sum: f64 = values.iter().map(|value| self.raised((value - peak).abs())).sum();
                sum.powf((self.power + 1.0).recip())
            };
            let at = values.partition_point(|value| *value < peak);
            let halves = half(&values[..at]) + half(&values[at..]);
            let common = (halves * self.power / n).powf(self.power.recip());
            -n * (self.width * halves * common).ln() - n / self.power
        };
        (0..=FINE_PEAKS).map(of_peak).fold(f64::MIN, f64::max)
    }
}

/// The cube root of a number that is not negative, within a few of its last digits; that of 0 is not 0, but below 1e-102.
/// That of the standard library takes several times as long.
fn cube_root(number: f64) -> f64 {
    let number = number.max(f64::MIN_POSITIVE);
    // A third of the exponent; then the method of Halley, of which each step has three times as many digits.
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

    /// What it adds to the score of a partition, where this part of the values is independent.
    pub(super) fn score(&self, all: usize, part: f64) -> f64 {
        let members = self.len() as f64;
        let independent = (part * members).max(PARAMETERS + 2.0);
        let price = PARAMETERS * independent / (independent - PARAMETERS - 1.0) + self.tail.price;
        part * (self.log_likelihood + members * (members / all as f64).ln()) - price
    }
}

/// For each half of a cluster a root of the powers of its distances to the peak, added up, so that a cluster takes an
/// addition per candidate for its peak.
struct Halves {
    tail: Tail,
    /// The scale of a standard deviation.
    scale_of_deviation: f64,
    count: usize,
    /// Columns are peaks. After the diagonal: the half from the value of the row up to before the peak. Up to it: the half
    /// from the peak up to the value of the row.
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

    /// The most likely cluster of the values from `first` to `last`, with its peak at one of these places.
    fn cluster(&self, values: &Values, first: usize, last: usize, places: &[usize]) -> Cluster {
        let Tail { power, width, .. } = self.tail;
        let members = (last + 1 - first) as f64;
        let row = |of: usize| &self.roots[of * self.count..][..self.count];
        let (left, right) = (row(first), row(last));
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
        // Of a half that is narrower than the least scale, the distances no longer add up to what they do at the best one.
        let misfits = match left > least && right > least {
            true => members / power,
            false => {
                let misfit = |half: f64| match half * common > least {
                    true => members / power * half / total,
                    false => half * self.tail.raised(half) / self.tail.raised(least),
                };
                halves.into_iter().map(misfit).sum()
            }
        };
        let (left, right) = (left.max(least), right.max(least));
        let log_likelihood = -members * (width * (left + right)).ln() - misfits;
        Cluster { first, last, peak: values.scaled[peak], left, right, tail: self.tail, log_likelihood }
    }
}

/// Values with what finds the most likely cluster of any of them.
pub(super) struct Values {
    pub(super) scaled: Vec<f64>,
    /// For each value the least standard deviation of a cluster that has its peak there.
    pub(super) least_scales: Vec<f64>,
    halves: Vec<Halves>,
}

impl Values {
    pub(super) fn of(scaled: &[f64], least_scales: Vec<f64>) -> Self {
        let halves = TAILS.map(|tail| Halves::of(scaled, tail)).into();
        Values { scaled: scaled.to_vec(), least_scales, halves }
    }

    pub(super) fn len(&self) -> usize {
        self.scaled.len()
    }

    /// The best cluster of the values from `first` to `last`.
    pub(super) fn cluster(&self, first: usize, last: usize) -> Cluster {
        let places: [usize; PEAKS + 1] = std::array::from_fn(|number| first + (last - first) * number / PEAKS);
        let worth = |cluster: &Cluster| cluster.log_likelihood - cluster.tail.price;
        let normal = self.halves[0].cluster(self, first, last, &places);
        self.halves[1..]
            .iter()
            .map(|halves| halves.cluster(self, first, last, &places))
            .fold(normal, |best, cluster| if worth(&cluster) > worth(&best) { cluster } else { best })
    }
}
