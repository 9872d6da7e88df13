//! Mixtures of modes that have the same shape, such as those of one program under several layouts.
//!
//! If modes overlap, a cut assigns the tail of each mode to the other, and both look narrower than they are. A mixture
//! gives each value a probability for each mode. Left and right of its peak, each mode is half of a normal curve; the
//! two standard deviations are the same for all modes. So a mode takes two numbers, its location and its weight.
//! Expectation-maximisation (Dempster, Laird and Rubin 1977) finds the most likely mixture. The price of a number is
//! near to that of Schwarz's criterion (1978).

use crate::modes::groups::Groups;
use crate::modes::valley::{VALLEY, lowest};

/// Maximum number of modes.
const MOST: usize = 5;
/// Maximum number of steps that improve a mixture, and the improvement of the log-likelihood below which they end.
const STEPS: usize = 100;
const ENOUGH: f64 = 1e-4;
/// The price of a mode, in units of log-likelihood: a constant, and a part proportional to the logarithm of the number
/// of values; and the price of any mixture. With a factor of 1.1 and no constant, a third mode 4 sigma from its
/// neighbours was found in 53 % instead of 60 % of the samples of 60 values; one normal mode is called several in 1.0 %
/// of the samples instead of 0.2 %.
const MODE: [f64; 2] = [0.35, 0.85];
const ANY: f64 = 0.3;
/// Minimum number of values of a mode, their minimum share of all values, and their minimum number of groups. In real
/// times, fewer values far above the others are disturbances: all modes are equally wide here, so a mixture takes the
/// end of a long tail for a mode.
const LEAST_MEMBERS: f64 = 5.0;
const LEAST_SHARE: f64 = 0.06;
const LEAST_GROUPS: usize = 5;

/// Modes of the same shape.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mixture {
    /// The peaks, ascending.
    peaks: Vec<f64>,
    weights: Vec<f64>,
    /// The standard deviations of both halves.
    left: f64,
    right: f64,
    log_likelihood: f64,
}

/// Finds mixtures of values.
pub(crate) struct Search<'v> {
    /// Ascending.
    pub(crate) values: &'v [f64],
    pub(crate) groups: &'v Groups,
    /// The share of the values that is independent.
    pub(crate) part: f64,
    /// The least standard deviation of a half, and the least distance of two peaks.
    pub(crate) least_scale: f64,
    pub(crate) least_distance: f64,
}

impl Search<'_> {
    /// The price of one more mode.
    pub(crate) fn mode_price(&self) -> f64 {
        MODE[0] + MODE[1] * (self.part * self.values.len() as f64).ln()
    }

    /// The score and the cuts of the best mixture of two or more modes, if its score is higher than `wanted`. Each list
    /// of `begins` has the initial peaks of a mixture with as many modes.
    pub(crate) fn best<'b>(&self, begins: impl Iterator<Item = &'b [f64]>, wanted: f64) -> Option<(f64, Vec<usize>)> {
        begins
            .filter(|peaks| (2..=MOST).contains(&peaks.len()))
            .filter_map(|peaks| {
                let price = ANY + self.mode_price() * peaks.len() as f64;
                let mixture = self.likeliest(peaks, (wanted + price) / self.part)?;
                Some((self.part * mixture.log_likelihood - price, self.cuts(&mixture)?))
            })
            .filter(|(score, _)| *score > wanted)
            .max_by(|one, other| one.0.total_cmp(&other.0))
    }

    /// The most likely mixture with as many modes as `peaks`, starting from these and from places at equal distances.
    /// One that cannot be expected to become as likely as `wanted` is not improved any further.
    fn likeliest(&self, peaks: &[f64], wanted: f64) -> Option<Mixture> {
        let (first, last) = (self.values[0], self.values[self.values.len() - 1]);
        let even = (0..peaks.len()).map(|at| first + (last - first) * (at as f64 + 0.5) / peaks.len() as f64);
        let even: Vec<f64> = even.collect();
        let wide = ((last - first) / 4.0 / peaks.len() as f64).max(self.least_scale);
        let both = [peaks, &even].map(|peaks| self.climb(peaks, wide, wanted));
        let fits = both.into_iter().filter(|mixture| self.allows(mixture));
        fits.max_by(|one, other| one.log_likelihood.total_cmp(&other.log_likelihood))
    }

    /// Improves a mixture that starts from these peaks, until it stays as it is, or would stay below the log-likelihood
    /// `wanted` even if each further step improved it as much as the last.
    fn climb(&self, peaks: &[f64], wide: f64, wanted: f64) -> Mixture {
        let count = peaks.len();
        let mut mixture = Mixture {
            peaks: peaks.to_vec(),
            weights: vec![1.0 / count as f64; count],
            left: wide,
            right: wide,
            log_likelihood: f64::MIN,
        };
        let mut room = Buffers::default();
        for left in (0..STEPS).rev() {
            let before = mixture.log_likelihood;
            mixture.improve(self.values, self.least_scale, &mut room);
            let gain = mixture.log_likelihood - before;
            if gain < ENOUGH || mixture.log_likelihood + gain * left as f64 <= wanted {
                break;
            }
        }
        mixture.peaks_ascending()
    }

    /// Whether each mode has enough values, and there is a valley between neighbours.
    fn allows(&self, mixture: &Mixture) -> bool {
        let all = self.values.len() as f64;
        let least = LEAST_MEMBERS.max(LEAST_SHARE * all);
        mixture.weights.iter().all(|weight| weight * all >= least)
            && mixture.peaks.windows(2).all(|pair| {
                let lower = mixture.density(pair[0]).min(mixture.density(pair[1]));
                pair[1] - pair[0] >= self.least_distance && mixture.valley(pair).1 < VALLEY * lower
            })
    }

    /// The starts of the modes, and the end; `None` if a mode has values of too few groups.
    fn cuts(&self, mixture: &Mixture) -> Option<Vec<usize>> {
        let begins = mixture.peaks.windows(2).map(|pair| {
            let bound = mixture.valley(pair).0;
            self.values.partition_point(|value| *value < bound)
        });
        let cuts: Vec<usize> = std::iter::once(0).chain(begins).chain([self.values.len()]).collect();
        let least = LEAST_GROUPS.min(self.groups.count);
        cuts.windows(2).all(|cut| self.groups.count_in(cut[0]..cut[1]) >= least).then_some(cuts)
    }
}

impl Mixture {
    /// Takes one step. The likelihood is that of the mixture before it. `room` keeps memory between steps.
    fn improve(&mut self, values: &[f64], least_scale: f64, room: &mut Buffers) {
        let n = values.len();
        room.all.clear();
        room.all.resize(n, 0.0);
        room.of_modes.resize(n * self.peaks.len(), 0.0);
        for (at, densities) in room.of_modes.chunks_exact_mut(n).enumerate() {
            let height = self.height(at);
            for (side, scale) in self.sides(values, at) {
                let steepness = -0.5 / (scale * scale);
                let of = values[side.clone()].iter().zip(&mut densities[side.clone()]).zip(&mut room.all[side]);
                for ((value, density), all) in of {
                    let distance = value - self.peaks[at];
                    *density = height * exponential(distance * distance * steepness);
                    *all += *density;
                }
            }
        }
        room.all.iter_mut().for_each(|all| *all = all.max(f64::MIN_POSITIVE));
        self.log_likelihood = log_of_product(&room.all);
        room.all.iter_mut().for_each(|all| *all = all.recip());
        let mut halves = [0.0_f64; 2];
        for (at, densities) in room.of_modes.chunks_exact(n).enumerate() {
            let (mut members, mut precision, mut shift) = (0.0, 0.0, 0.0);
            for ((side, scale), half) in self.sides(values, at).into_iter().zip(&mut halves) {
                let [count, sum, squares] =
                    moments(&values[side.clone()], &densities[side.clone()], &room.all[side], self.peaks[at]);
                members += count;
                precision += count / (scale * scale);
                shift += sum / (scale * scale);
                *half += squares;
            }
            if precision > 0.0 {
                self.peaks[at] += shift / precision;
            }
            self.weights[at] = members / n as f64;
        }
        // The most likely scales of a curve of two halves (John 1982).
        let [left, right] = halves.map(f64::cbrt);
        let common = ((left + right) / n as f64).sqrt();
        (self.left, self.right) = ((left * common).max(least_scale), (right * common).max(least_scale));
    }

    /// The values left and right of a peak, and the scale there.
    fn sides(&self, values: &[f64], at: usize) -> [(std::ops::Range<usize>, f64); 2] {
        let middle = values.partition_point(|value| *value < self.peaks[at]);
        [(0..middle, self.left), (middle..values.len(), self.right)]
    }

    fn peaks_ascending(mut self) -> Self {
        let mut modes: Vec<(f64, f64)> = self.peaks.iter().copied().zip(self.weights.iter().copied()).collect();
        modes.sort_by(|one, other| one.0.total_cmp(&other.0));
        (self.peaks, self.weights) = modes.into_iter().unzip();
        self
    }

    /// The density of a mode.
    fn of_mode(&self, at: usize, value: f64) -> f64 {
        let distance = value - self.peaks[at];
        let scaled = distance / if distance < 0.0 { self.left } else { self.right };
        self.height(at) * (-scaled * scaled / 2.0).exp()
    }

    /// The density of a mode at its peak.
    fn height(&self, at: usize) -> f64 {
        self.weights[at] * std::f64::consts::FRAC_2_PI.sqrt() / (self.left + self.right)
    }

    fn density(&self, value: f64) -> f64 {
        (0..self.peaks.len()).map(|at| self.of_mode(at, value)).sum()
    }

    /// The place of the lowest density between two peaks, and the density.
    fn valley(&self, pair: &[f64]) -> (f64, f64) {
        lowest(pair[0], pair[1], |value| self.density(value))
    }
}

/// Memory reused by the steps.
#[derive(Default)]
struct Buffers {
    /// The densities of all values in the first mode, then in the next.
    of_modes: Vec<f64>,
    /// The density of each value, then its reciprocal.
    all: Vec<f64>,
}

/// The sums over values of the powers 0, 1 and 2 of their distance to a peak, each value weighted by its probability of
/// being of the mode: its density there divided by that in all modes.
fn moments(values: &[f64], densities: &[f64], reciprocals: &[f64], peak: f64) -> [f64; 3] {
    // Sums in several independent parts, which the processor computes in parallel.
    const PARTS: usize = 4;
    let mut sums = [[0.0; PARTS]; 3];
    let (values, densities, reciprocals) = (values.chunks(PARTS), densities.chunks(PARTS), reciprocals.chunks(PARTS));
    for ((values, densities), reciprocals) in values.zip(densities).zip(reciprocals) {
        for (at, ((value, density), reciprocal)) in values.iter().zip(densities).zip(reciprocals).enumerate() {
            let (part, distance) = (density * reciprocal, value - peak);
            sums[0][at] += part;
            sums[1][at] += part * distance;
            sums[2][at] += part * distance * distance;
        }
    }
    sums.map(|parts| parts.iter().sum())
}

/// The logarithm of the product of positive numbers.
fn log_of_product(numbers: &[f64]) -> f64 {
    let (mut sum, mut product) = (0.0, 1.0);
    for number in numbers {
        let next = product * number;
        if (1e-280..1e280).contains(&next) {
            product = next;
        } else {
            sum += f64::ln(product);
            product = *number;
        }
    }
    sum + product.ln()
}

/// The exponential of a non-positive number, with a relative error of less than 1e-14; 0 below 1e-307. Unlike that of
/// the standard library, it can be vectorized.
#[inline]
fn exponential(number: f64) -> f64 {
    const LEAST: f64 = -708.0;
    /// The logarithm of 2; the first part times a whole number is exact.
    const LN_2: [f64; 2] = [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10];
    /// Added to a number, it leaves a whole number in the last digits.
    const WHOLE: f64 = 6_755_399_441_055_744.0;
    let shifted = number.max(LEAST) * std::f64::consts::LOG2_E + WHOLE;
    let whole = shifted - WHOLE;
    let rest = number - whole * LN_2[0] - whole * LN_2[1];
    // Taylor's series; the rest is at most half of the logarithm of 2. Even and odd powers are computed in parallel.
    const FACTORIALS: [f64; 12] =
        [1.0, 1.0, 2.0, 6.0, 24.0, 120.0, 720.0, 5_040.0, 40_320.0, 362_880.0, 3_628_800.0, 39_916_800.0];
    let square = rest * rest;
    let (mut even, mut odd) = (0.0, 0.0);
    for pair in FACTORIALS.as_chunks::<2>().0.iter().rev() {
        even = even * square + 1.0 / pair[0];
        odd = odd * square + 1.0 / pair[1];
    }
    let series = even + odd * rest;
    let scaled = f64::from_bits(series.to_bits().wrapping_add(shifted.to_bits() << 52));
    if number < LEAST { 0.0 } else { scaled }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Roughly normal numbers around these places in turn.
    fn around(places: &[f64], count: usize) -> Vec<f64> {
        let mut random = Random::new(7);
        let mut noise = || (0..12).map(|_| random.below(1 << 20) as f64 / f64::from(1 << 20)).sum::<f64>() - 6.0;
        let mut values: Vec<f64> = (0..count).map(|at| places[at % places.len()] + noise()).collect();
        values.sort_by(f64::total_cmp);
        values
    }

    fn with<T>(values: &[f64], ask: impl FnOnce(&Search<'_>) -> T) -> T {
        let numbers: Vec<usize> = (0..values.len()).collect();
        let groups = Groups::of(&numbers, values.len());
        ask(&Search { values, groups: &groups, part: 1.0, least_scale: 1e-3, least_distance: 1e-2 })
    }

    #[test]
    fn exponentials_and_products_are_those_of_the_standard_library() {
        for number in (0..200_000).map(|at| -710.0 * f64::from(at) / 200_000.0) {
            let (found, exact) = (exponential(number), number.exp());
            let error = if number < -708.0 { found } else { (found - exact).abs() / exact };
            assert!(error < 1e-14, "{number}: {found} beside {exact}");
        }
        for numbers in [vec![1e-300, 1e-300, 0.5], vec![1e300; 7], vec![f64::MIN_POSITIVE; 3], vec![0.3; 2000], vec![]]
        {
            let exact: f64 = numbers.iter().map(|number: &f64| number.ln()).sum();
            let found = log_of_product(&numbers);
            assert!((found - exact).abs() <= 1e-12 * exact.abs(), "{found} beside {exact}");
        }
    }

    /// A step by definition: value by value, mode by mode.
    fn improved(mixture: &Mixture, values: &[f64], least_scale: f64) -> Mixture {
        let mut next = mixture.clone();
        let part = |at: usize, value: f64| mixture.of_mode(at, value) / mixture.density(value).max(f64::MIN_POSITIVE);
        let scale = |at: usize, value: f64| if value < mixture.peaks[at] { mixture.left } else { mixture.right };
        let sum = |of: &dyn Fn(f64) -> f64| values.iter().map(|value| of(*value)).sum::<f64>();
        let squares = |is_left: bool| {
            let of = |at: usize, value: f64| part(at, value) * (value - mixture.peaks[at]).powi(2);
            let is_there = |at: usize, value: f64| (value < mixture.peaks[at]) == is_left;
            let of_mode = |at| sum(&|value| if is_there(at, value) { of(at, value) } else { 0.0 });
            (0..mixture.peaks.len()).map(of_mode).sum::<f64>().cbrt()
        };
        for at in 0..mixture.peaks.len() {
            next.weights[at] = sum(&|value| part(at, value)) / values.len() as f64;
            let precision = sum(&|value| part(at, value) / scale(at, value).powi(2));
            next.peaks[at] = sum(&|value| value * part(at, value) / scale(at, value).powi(2)) / precision;
        }
        let (left, right) = (squares(true), squares(false));
        let common = ((left + right) / values.len() as f64).sqrt();
        (next.left, next.right) = ((left * common).max(least_scale), (right * common).max(least_scale));
        next.log_likelihood = sum(&|value| mixture.density(value).max(f64::MIN_POSITIVE).ln());
        next
    }

    #[test]
    fn a_step_is_that_of_the_definition() {
        for (places, count) in [(&[0.0, 4.5][..], 61), (&[0.0, 3.0, 20.0][..], 90), (&[0.0, 60.0][..], 14)] {
            let values = around(places, count);
            let (left, right) = (0.7, 1.9);
            let weights = vec![1.0 / places.len() as f64; places.len()];
            let peaks = places.iter().map(|place| place + 0.3).collect();
            let mut mixture = Mixture { peaks, weights, left, right, log_likelihood: f64::MIN };
            for _ in 0..5 {
                let expected = improved(&mixture, &values, 1e-3);
                mixture.improve(&values, 1e-3, &mut Buffers::default());
                let numbers = |mixture: &Mixture| {
                    let [left, right, likelihood] = [mixture.left, mixture.right, mixture.log_likelihood];
                    [&mixture.peaks[..], &mixture.weights, &[left, right, likelihood]].concat()
                };
                for (found, exact) in numbers(&mixture).into_iter().zip(numbers(&expected)) {
                    assert!((found - exact).abs() <= 1e-10 * exact.abs().max(1.0), "{mixture:?} beside {expected:?}");
                }
            }
        }
    }

    #[test]
    fn no_mixture_nearby_is_more_likely() {
        let values = around(&[0.0, 4.5], 100);
        let found = with(&values, |search| search.likeliest(&[1.0, 3.0], f64::MIN)).unwrap();
        let likelihood = |mixture: &Mixture| values.iter().map(|value| mixture.density(*value).ln()).sum::<f64>();
        let reached = likelihood(&found);
        assert!((found.weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        let changes: [fn(&mut Mixture, f64); 5] = [
            |mixture, by| mixture.peaks[0] += by,
            |mixture, by| mixture.peaks[1] += by,
            |mixture, by| mixture.left += by,
            |mixture, by| mixture.right += by,
            |mixture, by| {
                mixture.weights[0] += by;
                mixture.weights[1] -= by;
            },
        ];
        for change in changes {
            for by in [-0.05, 0.05] {
                let mut other = found.clone();
                change(&mut other, by);
                assert!(likelihood(&other) < reached + 1e-3, "{other:?} beside {found:?}");
            }
        }
    }

    #[test]
    fn modes_that_overlap_are_cut_in_the_valley() {
        let values = around(&[0.0, 4.5, 9.0], 150);
        let (_, cuts) = with(&values, |search| search.best([&[0.0, 4.0, 9.0][..]].into_iter(), f64::MIN)).unwrap();
        let counts: Vec<usize> = cuts.windows(2).map(|cut| cut[1] - cut[0]).collect();
        assert!(counts.len() == 3 && counts.iter().all(|count| (45..=55).contains(count)), "{counts:?}");
    }

    #[test]
    fn modes_without_a_valley_are_none() {
        let values = around(&[0.0, 1.0], 100);
        assert_eq!(with(&values, |search| search.best([&[0.0, 1.0][..]].into_iter(), f64::MIN)), None);
        let mut few = around(&[0.0], 60);
        few.extend([20.0; 3]);
        assert_eq!(with(&few, |search| search.best([&[0.0, 20.0][..]].into_iter(), f64::MIN)), None);
    }
}
