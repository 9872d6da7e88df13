//! Mixtures of modes that have the same shape, such as those of one program under several layouts.
//!
//! Where modes overlap, a cut assigns the tail of each mode to the other, and both look narrower than they are. A mixture
//! gives each value a probability for each mode. Left and right of its peak, each mode is half of a normal curve; the two
//! standard deviations are those of all modes. So a mode takes two numbers, its location and its weight.
//! Expectation-maximisation (Dempster, Laird and Rubin 1977) finds the most likely mixture. The price of a number is near to
//! that of Schwarz's criterion (1978).

use crate::modes::groups::Groups;
use crate::modes::valley::{VALLEY, lowest};

/// Modes that are looked for.
const MOST: usize = 5;
/// Steps that a mixture is improved by at most, and the improvement of the log-likelihood that is enough.
const STEPS: usize = 100;
const ENOUGH: f64 = 1e-4;
/// The price of a mode, in units of log-likelihood for each unit of the logarithm of the number of values; and that of any
/// mixture.
const MODE: f64 = 1.1;
const ANY: f64 = 0.3;
/// The values that a mode has at least, in numbers and as a part of all, and the groups that these are of. In real times,
/// fewer values far above the others are disturbances: all modes are equally wide here, so a mixture takes the end of a
/// long tail for a mode.
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
    /// The part of the values that is independent.
    pub(crate) part: f64,
    /// The least standard deviation of a half, and the least distance of two peaks.
    pub(crate) least_scale: f64,
    pub(crate) least_distance: f64,
}

impl Search<'_> {
    /// What one more mode costs.
    pub(crate) fn mode_price(&self) -> f64 {
        MODE * (self.part * self.values.len() as f64).ln()
    }

    /// The score and the cuts of the best mixture of two or more modes. Each list has peaks to begin with: a mixture of as
    /// many modes is looked for.
    pub(crate) fn best<'b>(&self, begins: impl Iterator<Item = &'b [f64]>) -> Option<(f64, Vec<usize>)> {
        let of = |peaks: &[f64]| {
            let mixture = self.likeliest(peaks)?;
            let cuts = self.cuts(&mixture)?;
            Some((self.part * mixture.log_likelihood - ANY - self.mode_price() * peaks.len() as f64, cuts))
        };
        begins
            .filter(|peaks| (2..=MOST).contains(&peaks.len()))
            .filter_map(of)
            .max_by(|one, other| one.0.total_cmp(&other.0))
    }

    /// The most likely mixture of as many modes as these, from their peaks and from places at equal distances.
    fn likeliest(&self, peaks: &[f64]) -> Option<Mixture> {
        let (first, last) = (self.values[0], self.values[self.values.len() - 1]);
        let even = |at: usize| first + (last - first) * (at as f64 + 0.5) / peaks.len() as f64;
        let even: Vec<f64> = (0..peaks.len()).map(even).collect();
        let wide = ((last - first) / 4.0 / peaks.len() as f64).max(self.least_scale);
        let both = [peaks, &even].map(|peaks| Mixture::climb(self.values, peaks, wide, self.least_scale));
        let fits = both.into_iter().filter(|mixture| self.allows(mixture));
        fits.max_by(|one, other| one.log_likelihood.total_cmp(&other.log_likelihood))
    }

    /// Whether each mode has enough values, and there is a valley between neighbours.
    fn allows(&self, mixture: &Mixture) -> bool {
        let all = self.values.len() as f64;
        let has_values = |weight: &f64| weight * all >= LEAST_MEMBERS.max(LEAST_SHARE * all);
        let is_apart = |pair: &[f64]| {
            let lower = mixture.density(pair[0]).min(mixture.density(pair[1]));
            pair[1] - pair[0] >= self.least_distance && mixture.valley(pair).1 < VALLEY * lower
        };
        mixture.weights.iter().all(has_values) && mixture.peaks.windows(2).all(is_apart)
    }

    /// Where modes begin, and the end; `None` if one of them has values of too few groups.
    fn cuts(&self, mixture: &Mixture) -> Option<Vec<usize>> {
        let begin = |pair: &[f64]| {
            let bound = mixture.valley(pair).0;
            self.values.partition_point(|value| *value < bound)
        };
        let begins = mixture.peaks.windows(2).map(begin);
        let cuts: Vec<usize> = std::iter::once(0).chain(begins).chain([self.values.len()]).collect();
        let least = LEAST_GROUPS.min(self.groups.count);
        cuts.windows(2).all(|cut| self.groups.count_in(cut[0]..cut[1]) >= least).then_some(cuts)
    }
}

impl Mixture {
    /// Improves a mixture that begins with these peaks.
    fn climb(values: &[f64], peaks: &[f64], wide: f64, least_scale: f64) -> Self {
        let count = peaks.len();
        let mut mixture = Mixture {
            peaks: peaks.to_vec(),
            weights: vec![1.0 / count as f64; count],
            left: wide,
            right: wide,
            log_likelihood: f64::MIN,
        };
        for _ in 0..STEPS {
            let before = mixture.log_likelihood;
            mixture.improve(values, least_scale);
            if mixture.log_likelihood - before < ENOUGH {
                break;
            }
        }
        mixture.peaks_ascending()
    }

    /// One step. The likelihood is that of the mixture before it.
    fn improve(&mut self, values: &[f64], least_scale: f64) {
        let count = self.peaks.len();
        let (mut members, mut sums, mut precisions) = (vec![0.0; count], vec![0.0; count], vec![0.0; count]);
        let (mut left, mut right) = (0.0_f64, 0.0_f64);
        self.log_likelihood = 0.0;
        let mut densities = vec![0.0; count];
        for &value in values {
            densities.iter_mut().enumerate().for_each(|(at, density)| *density = self.of_mode(at, value));
            let all = densities.iter().sum::<f64>().max(f64::MIN_POSITIVE);
            self.log_likelihood += all.ln();
            for (at, density) in densities.iter().enumerate() {
                let part = density / all;
                let distance = value - self.peaks[at];
                let (half, scale) = if distance < 0.0 { (&mut left, self.left) } else { (&mut right, self.right) };
                *half += part * distance * distance;
                members[at] += part;
                sums[at] += part * value / (scale * scale);
                precisions[at] += part / (scale * scale);
            }
        }
        for at in 0..count {
            if precisions[at] > 0.0 {
                self.peaks[at] = sums[at] / precisions[at];
            }
            self.weights[at] = members[at] / values.len() as f64;
        }
        // The most likely scales of a curve of two halves (John 1982).
        let (left, right) = (left.cbrt(), right.cbrt());
        let common = ((left + right) / values.len() as f64).sqrt();
        (self.left, self.right) = ((left * common).max(least_scale), (right * common).max(least_scale));
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
        self.weights[at] * std::f64::consts::FRAC_2_PI.sqrt() / (self.left + self.right)
            * (-scaled * scaled / 2.0).exp()
    }

    fn density(&self, value: f64) -> f64 {
        (0..self.peaks.len()).map(|at| self.of_mode(at, value)).sum()
    }

    /// The place of the lowest density between two peaks, and the density.
    fn valley(&self, pair: &[f64]) -> (f64, f64) {
        lowest(pair[0], pair[1], |value| self.density(value))
    }
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
    fn no_mixture_nearby_is_more_likely() {
        let values = around(&[0.0, 4.5], 100);
        let found = with(&values, |search| search.likeliest(&[1.0, 3.0])).unwrap();
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
        let (_, cuts) = with(&values, |search| search.best([&[0.0, 4.0, 9.0][..]].into_iter())).unwrap();
        let counts: Vec<usize> = cuts.windows(2).map(|cut| cut[1] - cut[0]).collect();
        assert!(counts.len() == 3 && counts.iter().all(|count| (45..=55).contains(count)), "{counts:?}");
    }

    #[test]
    fn modes_without_a_valley_are_none() {
        let values = around(&[0.0, 1.0], 100);
        assert_eq!(with(&values, |search| search.best([&[0.0, 1.0][..]].into_iter())), None);
        let mut few = around(&[0.0], 60);
        few.extend([20.0; 3]);
        assert_eq!(with(&few, |search| search.best([&[0.0, 20.0][..]].into_iter())), None);
    }
}
