//! Histograms with bins of equal width.

use crate::modes::Modes;
use crate::sample::Sample;

/// Maximum number of bins.
const MOST: usize = 30;

/// A bin of a histogram.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bin {
    /// Its lower end, which belongs to it.
    pub from: f64,
    /// Its upper end, which belongs to the last bin only.
    pub to: f64,
    /// Number of values in it; may be 0.
    pub count: usize,
    /// The mode that most of its values are in.
    pub mode: Option<usize>,
}

/// The values of a sample in at most 30 bins of equal width. The width is that of Freedman and Diaconis (1981) for the
/// narrowest mode, so that no mode disappears in a bin; all values are counted. Equal values are one bin of width 0.
#[must_use]
pub fn bins(sample: &Sample, modes: &Modes) -> Vec<Bin> {
    let values = sample.sorted();
    let (Some(&first), Some(&last)) = (values.first(), values.last()) else { return Vec::new() };
    let count = number(&values, modes);
    let edges: Vec<f64> = (0..=count)
        .map(|edge| match edge {
            0 => first,
            edge if edge == count => last,
            // Both ends are scaled separately: the difference of large numbers may overflow.
            edge => first * ((count - edge) as f64 / count as f64) + last * (edge as f64 / count as f64),
        })
        .collect();
    let mut bins: Vec<Bin> =
        edges.windows(2).map(|edge| Bin { from: edge[0], to: edge[1], count: 0, mode: None }).collect();
    let mut members = vec![vec![0_usize; modes.modes.len()]; count];
    for &value in &values {
        let bin = bins.partition_point(|bin| bin.from <= value).saturating_sub(1);
        bins[bin].count += 1;
        if let Some(mode) = modes.mode_of(value) {
            members[bin][mode] += 1;
        }
    }
    for (bin, members) in bins.iter_mut().zip(&members) {
        let most = members.iter().copied().max().filter(|&most| most > 0);
        bin.mode = most.and_then(|most| members.iter().position(|&members| members == most));
    }
    bins
}

/// The measure of Brendan Gregg (2013): the differences of neighbouring bars, added up, divided by the highest bar. It is 2
/// for one mode; above 2.8 suggests several. `None` if there are no values.
#[must_use]
pub fn mvalue(bins: &[Bin]) -> Option<f64> {
    let most = bins.iter().map(|bin| bin.count).max().filter(|&most| most > 0)?;
    let (mut before, mut sum) = (0, 0);
    for count in bins.iter().map(|bin| bin.count).chain([0]) {
        sum += count.abs_diff(before);
        before = count;
    }
    Some(sum as f64 / most as f64)
}

/// The number of bins.
fn number(values: &[f64], modes: &Modes) -> usize {
    let range = values[values.len() - 1] / 2.0 - values[0] / 2.0;
    if range <= 0.0 {
        return 1;
    }
    let parts = values.chunk_by(|one, other| modes.mode_of(*one) == modes.mode_of(*other));
    let widths = parts.filter(|part| part.len() > 3).map(bin_width);
    let narrowest = widths.filter(|width| *width > 0.0).fold(f64::MAX, f64::min);
    // A few modes of equal values have width 0: a tenth of the range separates them.
    let width = if narrowest == f64::MAX { range / 10.0 } else { narrowest };
    ((range / width).ceil() as usize).clamp(1, MOST)
}

/// Half of the width of Freedman and Diaconis for ascending values.
fn bin_width(values: &[f64]) -> f64 {
    let [low, high] = [0.25, 0.75].map(|share| values[((values.len() - 1) as f64 * share).round() as usize]);
    2.0 * (high / 2.0 - low / 2.0) / (values.len() as f64).cbrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modes::Modes;

    #[test]
    fn every_value_is_in_a_bin() {
        let mut values: Vec<f64> = (0..60).map(|at| f64::from(at % 20)).collect();
        values.extend((0..20).map(|at| 300.0 + f64::from(at)));
        let sample = Sample::new(values.iter().map(|&value| vec![value]).collect());
        let modes = Modes::of(&sample);
        assert_eq!(modes.modes.len(), 2, "{modes:?}");
        let bins = bins(&sample, &modes);
        assert_eq!(bins.iter().map(|bin| bin.count).sum::<usize>(), 80);
        assert!(bins.len() <= MOST && bins.windows(2).all(|pair| pair[0].to == pair[1].from));
        assert_eq!((bins[0].mode, bins[bins.len() - 1].mode), (Some(0), Some(1)));
        assert!(bins.iter().any(|bin| bin.count == 0));
    }

    #[test]
    fn equal_values_are_one_bin() {
        let sample = Sample::new(vec![vec![7.0]; 20]);
        assert_eq!(super::bins(&sample, &Modes::of(&sample)), [Bin { from: 7.0, to: 7.0, count: 20, mode: Some(0) }]);
        assert_eq!(super::bins(&Sample::default(), &Modes::of(&Sample::default())), []);
    }

    #[test]
    fn extreme_values_are_counted() {
        let sample = Sample::new(vec![vec![-f64::MAX], vec![f64::MAX], vec![0.0]]);
        let bins = super::bins(&sample, &Modes::of(&sample));
        assert_eq!(bins.iter().map(|bin| bin.count).sum::<usize>(), 3);
        assert!(bins.iter().all(|bin| bin.from.is_finite() && bin.to.is_finite()), "{bins:?}");
    }
}
