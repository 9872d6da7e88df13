//! Cuts ascending values into clusters.
//!
//! A cluster is two halves of a curve with scales of their own that meet at the peak, so that a skewed cluster is one and
//! not two. The curve is that of a normal distribution, or has heavier tails, so that disturbances are no cluster. No
//! cluster is narrower than what matters: the fine structure of a sharp peak is not looked at. Dynamic programming finds
//! the cuts of highest classification likelihood (Symons 1981) for each number of clusters; each cluster has a price that
//! grows as it gets small, each further one a price of its own. A cluster has values of at least six groups, so a run whose
//! values lie closely together is none. Then neighbours without a valley between their peaks become one. At last, a mixture
//! of modes of one shape may describe the values better.
//!
//! The prices were chosen by simulation: `trial_rates` in `benches/` prints how often one cluster is taken for several,
//! and several for fewer. The lowland detector of Akinshin (2020) was tried first: with 60 values it took one normal
//! cluster for several in more than 20 % of the cases.

use crate::modes::groups::Groups;
use crate::modes::mixture::Limits;
use crate::sample::midpoint;

/// Values that a cluster has at least, in numbers and as a part of all.
pub(crate) const LEAST_MEMBERS: usize = 6;
const LEAST_SHARE: f64 = 0.03;
/// More values are thinned.
const MOST_VALUES: usize = 240;
/// Clusters that are looked for.
const MOST_CLUSTERS: usize = 8;
/// Candidates for the peak of a cluster.
const PEAKS: usize = 12;
/// Candidates for the peak of a single cluster of all values.
const FINE_PEAKS: usize = 60;
/// The price of the second cluster, in units of log-likelihood, and that of each further one: for up to 60 values, and what
/// comes to it for 200.
const SECOND: [f64; 2] = [4.0, 3.5];
const FURTHER: [f64; 2] = [2.0, 3.0];
/// Parameters of a cluster: peak and two scales.
const PARAMETERS: f64 = 3.0;
/// No scale is less than this part of the range.
const LEAST_SCALE: f64 = 1e-9;
/// Where values are not exact, no standard deviation of a cluster is less than this part of its peak, so that what matters
/// to nobody is no structure. Peaks that are nearer than `LEAST_DISTANCE` of them, which is 1 %, are one.
const LEAST_DEVIATION: f64 = 0.002;
const LEAST_DISTANCE: f64 = 5.0;
/// Whole numbers are exact if this part of them are there at least `LEAST_MEMBERS` times.
const EXACT_SHARE: f64 = 0.8;
/// Values less groups that must be left to look inside of groups.
const LEAST_FREE: f64 = 12.0;
/// The price of a cluster whose tails are not those of a normal distribution.
const HEAVY: f64 = 1.0;
/// The price of a cluster with a flat top.
const FLAT_TOP: f64 = 4.0;
/// A valley is lower than this part of the lower peak beside it.
const VALLEY: f64 = 0.75;
/// Places where the density is looked at between two peaks.
const VALLEY_STEPS: usize = 64;

/// A value, and the number of its group.
pub(crate) type Grouped = (f64, usize);

/// The gaps between clusters of ascending values, themselves ascending; none if there is one cluster. Each is the last value
/// of a cluster and the first of the next. `None` if the values count for fewer than `least` independent ones.
pub(crate) fn gaps(sorted: &[Grouped], groups: usize, least: usize) -> Option<Vec<Gap>> {
    let Some(scaled) = Scaled::of(sorted) else { return (sorted.len() >= least).then(Vec::new) };
    let grouped = Groups::of(&scaled.groups, groups);
    let one = [0, scaled.values.len()];
    let independent = grouped.independent_part(&scaled.values, &one) * scaled.values.len() as f64;
    if independent < least as f64 {
        return None;
    }
    let values = Values::of(&scaled.values, scaled.least_scales(sorted));
    if let Some(gap) = between_two(sorted) {
        return Some(vec![gap]);
    }
    let partitions = partitions(&values, &grouped);
    let clusters = merged(best(&values, &grouped, &partitions), &values);
    let overlapping = of_mixture(&values, &grouped, &partitions, &clusters);
    let cuts = overlapping.unwrap_or_else(|| cuts(&clusters));
    Some(cuts[1..cuts.len() - 1].iter().map(|cut| scaled.gap(sorted, *cut)).collect())
}

/// The gap between two whole numbers, if values are nothing else, and each of them is in enough groups. They have no
/// valley between them if they are neighbours, but neither is there any noise that could make one of the other.
fn between_two(sorted: &[Grouped]) -> Option<Gap> {
    let (low, high) = (sorted.first()?.0, sorted.last()?.0);
    let mut parts = sorted.chunk_by(|one, other| one.0 == other.0);
    let (Some(below), Some(above), None) = (parts.next(), parts.next(), parts.next()) else { return None };
    let has_enough = |part: &[Grouped]| {
        // Values that are equal are in the order of their groups.
        part.chunk_by(|one, other| one.1 == other.1).count() >= LEAST_MEMBERS
            && part.len() as f64 >= LEAST_SHARE * sorted.len() as f64
    };
    let is_whole = low.fract() == 0.0 && high.fract() == 0.0;
    (is_whole && has_enough(below) && has_enough(above)).then_some(Gap { low, high })
}

/// Whether values are counts that mostly say the same: whole numbers, most of which there are several times.
fn is_exact(sorted: &[Grouped]) -> bool {
    let several =
        sorted.chunk_by(|one, other| one.0 == other.0).map(<[Grouped]>::len).filter(|&len| len >= LEAST_MEMBERS);
    sorted.iter().all(|(value, _)| value.fract() == 0.0)
        && several.sum::<usize>() as f64 >= EXACT_SHARE * sorted.len() as f64
}

/// Values moved and scaled to 0 to 1, thinned, with equal ones spread over the resolution.
struct Scaled {
    values: Vec<f64>,
    groups: Vec<usize>,
    /// The place of each in the original values.
    places: Vec<usize>,
}

impl Scaled {
    /// `None` for values that are too few or all equal.
    fn of(sorted: &[Grouped]) -> Option<Self> {
        let (&(first, _), &(last, _)) = (sorted.first()?, sorted.last()?);
        let range = last / 2.0 - first / 2.0;
        if range <= 0.0 || sorted.len() < 2 * LEAST_MEMBERS {
            return None;
        }
        let unit: Vec<f64> = sorted.iter().map(|(value, _)| (value / 2.0 - first / 2.0) / range).collect();
        let spread = spread(&unit, resolution(sorted) / 2.0 / range);
        let count = spread.len().min(MOST_VALUES);
        let places: Vec<usize> = (0..count).map(|at| (2 * at + 1) * spread.len() / (2 * count)).collect();
        let (values, groups) = places.iter().map(|&at| (spread[at], sorted[at].1)).unzip();
        Some(Scaled { values, groups, places })
    }

    /// The least standard deviation of a cluster that has its peak at a value.
    fn least_scales(&self, sorted: &[Grouped]) -> Vec<f64> {
        let range = sorted[sorted.len() - 1].0 / 2.0 - sorted[0].0 / 2.0;
        let part = if is_exact(sorted) { 0.0 } else { LEAST_DEVIATION };
        let scale = |&at: &usize| (sorted[at].0.abs() / 2.0 / range * part).max(LEAST_SCALE);
        self.places.iter().map(scale).collect()
    }

    /// The gap between the cluster that begins with this value and what is below it.
    fn gap(&self, sorted: &[Grouped], first: usize) -> Gap {
        let (low, high) = (self.places[first - 1], self.places[first]);
        // Of what was thinned out between both, the widest gap counts.
        let width = |at: &usize| sorted[at + 1].0 / 2.0 - sorted[*at].0 / 2.0;
        let widest = (low..high).max_by(|one, other| width(one).total_cmp(&width(other))).unwrap_or(low);
        Gap { low: sorted[widest].0, high: sorted[widest + 1].0 }
    }
}

/// What is between two clusters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Gap {
    low: f64,
    high: f64,
}

impl Gap {
    /// The bound in its middle: a value up to it is below.
    pub(crate) fn middle(self) -> f64 {
        self.nearest(midpoint(self.low, self.high))
    }

    /// The bound that is nearest to a number.
    pub(crate) fn nearest(self, to: f64) -> f64 {
        // The values beside the gap stay on their sides, unless they are equal.
        to.min(self.high.next_down()).max(self.low)
    }
}

/// The distance of neighbouring numbers that can be told apart: the tick of a clock, the greatest common divisor of whole
/// and of decimal numbers, otherwise the smallest distance of different ones.
fn resolution(sorted: &[Grouped]) -> f64 {
    /// Values are whole multiples of a tick if their distances differ from multiples by less than this part of it.
    const ROUNDED: f64 = 0.1;
    const LEAST_TICKS: usize = 4;
    let (first, last) = (sorted[0].0, sorted[sorted.len() - 1].0);
    // Distances in the last digits are errors of rounding.
    let rounding = 8.0 * f64::EPSILON * first.abs().max(last.abs());
    let distances = sorted.windows(2).map(|pair| pair[1].0 - pair[0].0).filter(move |distance| *distance > rounding);
    let smallest = distances.clone().fold(f64::MAX, f64::min);
    let is_multiple = |distance: f64| (distance / smallest - (distance / smallest).round()).abs() < ROUNDED;
    if distances.clone().count() + 1 >= LEAST_TICKS && distances.clone().all(is_multiple) {
        return smallest;
    }
    divisor(sorted).unwrap_or(smallest)
}

/// The greatest common divisor of numbers with at most six decimals.
fn divisor(sorted: &[Grouped]) -> Option<f64> {
    const MOST_EXACT: f64 = 9_007_199_254_740_992.0;
    let whole = |value: f64, scale: f64| {
        let scaled = value * scale;
        let is_whole = (scaled - scaled.round()).abs() <= 4.0 * f64::EPSILON * scaled.abs();
        (is_whole && scaled.abs() < MOST_EXACT).then(|| scaled.round().abs() as u64)
    };
    [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6].into_iter().find_map(|scale| {
        let mut wholes = sorted.iter().map(|(value, _)| whole(*value, scale));
        let divisor = wholes.try_fold(0, |divisor, whole| Some(greatest_common_divisor(divisor, whole?)))?;
        Some(divisor as f64 / scale)
    })
}

fn greatest_common_divisor(mut one: u64, mut other: u64) -> u64 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

/// Equal values get different places, all within the resolution around their value.
fn spread(values: &[f64], resolution: f64) -> Vec<f64> {
    let mut spread = Vec::with_capacity(values.len());
    for tie in values.chunk_by(|one, other| one == other) {
        let step = resolution / tie.len() as f64;
        spread.extend(tie.iter().enumerate().map(|(at, value)| value + step * (at as f64 + 0.5) - resolution / 2.0));
    }
    spread
}

/// How steeply the density of a cluster falls: with the exponential of this power of the distance to the peak.
#[derive(Debug, Clone, Copy)]
struct Tail {
    power: f64,
    /// The integral of a half with scale 1: the gamma function of 1 + 1 / power.
    width: f64,
    /// The price of a cluster with such tails, in units of log-likelihood.
    price: f64,
}

/// The tails that a cluster may have: those of the normal distribution, of the exponential one, and heavier ones. Times
/// have rare disturbances of any size, which are no cluster.
const TAILS: [Tail; 3] = [
    Tail { power: 2.0, width: 0.886_226_925_452_758, price: 0.0 },
    Tail { power: 1.0, width: 1.0, price: HEAVY },
    Tail { power: 0.5, width: 2.0, price: HEAVY },
];

/// Flat tops, with which a single cluster is compared with several that overlap: all values between two may be equally
/// likely.
const FLAT: [Tail; 2] = [
    Tail { power: 4.0, width: 0.906_402_477_055_477, price: FLAT_TOP },
    Tail { power: 8.0, width: 0.941_742_699_849_701, price: FLAT_TOP },
];

impl Tail {
    /// A number that is not negative to this power.
    fn raised(self, number: f64) -> f64 {
        match self.power {
            1.0 => number,
            0.5 => number.sqrt(),
            2.0 => number * number,
            power => number.powf(power),
        }
    }

    /// The log-likelihood of all values if they are one cluster with such tails, which may end as sharply as it will.
    fn log_likelihood(self, values: &[f64]) -> f64 {
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
struct Cluster {
    first: usize,
    last: usize,
    peak: f64,
    left: f64,
    right: f64,
    tail: Tail,
    log_likelihood: f64,
}

impl Cluster {
    fn len(&self) -> usize {
        self.last + 1 - self.first
    }

    /// The density at a place, of all values.
    fn density(&self, at: f64, all: usize) -> f64 {
        let scale = if at < self.peak { self.left } else { self.right };
        let distance = (at - self.peak).abs() / scale.max(f64::MIN_POSITIVE);
        self.len() as f64 / all as f64 * self.height() * (-self.tail.raised(distance)).exp()
    }

    /// The density at the peak, of its own values.
    fn height(&self) -> f64 {
        1.0 / (self.tail.width * (self.left + self.right))
    }

    /// What it adds to the score of a partition, where this part of the values is independent.
    fn score(&self, all: usize, part: f64) -> f64 {
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
struct Values {
    scaled: Vec<f64>,
    /// For each value the least standard deviation of a cluster that has its peak there.
    least_scales: Vec<f64>,
    halves: Vec<Halves>,
}

impl Values {
    fn of(scaled: &[f64], least_scales: Vec<f64>) -> Self {
        let halves = TAILS.map(|tail| Halves::of(scaled, tail)).into();
        Values { scaled: scaled.to_vec(), least_scales, halves }
    }

    fn len(&self) -> usize {
        self.scaled.len()
    }

    /// The best cluster of the values from `first` to `last`.
    fn cluster(&self, first: usize, last: usize) -> Cluster {
        let places: [usize; PEAKS + 1] = std::array::from_fn(|number| first + (last - first) * number / PEAKS);
        let worth = |cluster: &Cluster| cluster.log_likelihood - cluster.tail.price;
        let normal = self.halves[0].cluster(self, first, last, &places);
        self.halves[1..]
            .iter()
            .map(|halves| halves.cluster(self, first, last, &places))
            .fold(normal, |best, cluster| if worth(&cluster) > worth(&best) { cluster } else { best })
    }
}

/// The clusters of the highest score. For each number of clusters the best cuts are found. One cluster is what is believed
/// at first; then the smallest larger number whose score is higher, and so on. Values of a group that say the same thing
/// several times would raise the score of any number, so likelihoods count as much as the values are independent within the
/// clusters that are believed.
fn best(values: &Values, groups: &Groups, partitions: &[Vec<Cluster>]) -> Vec<Cluster> {
    let mut believed = 0;
    loop {
        let part = groups.independent_part(&values.scaled, &cuts(&partitions[believed]));
        let total = |number: usize| {
            let clusters = &partitions[number];
            clusters.iter().map(|cluster| cluster.score(values.len(), part)).sum::<f64>()
                - price(number, part * values.len() as f64)
        };
        let known = total(believed);
        let inside = |number: usize| within_groups(values, groups, &cuts(&partitions[number]));
        let known_inside = inside(believed);
        let shows_inside = |number: usize| Some(inside(number)? > known_inside?);
        let is_better = |number: &usize| total(*number) > known || shows_inside(*number).unwrap_or(false);
        match (believed + 1..partitions.len()).find(is_better) {
            Some(more) => believed = more,
            None => break,
        }
    }
    partitions[believed].clone()
}

/// The cuts of a mixture of modes that overlap, if it is more likely than these clusters, and than a single one, even one with
/// flat tops, for the numbers that it takes.
fn of_mixture(
    values: &Values,
    groups: &Groups,
    partitions: &[Vec<Cluster>],
    clusters: &[Cluster],
) -> Option<Vec<usize>> {
    let n = values.len();
    let part = groups.independent_part(&values.scaled, &cuts(clusters));
    let least_scale = values.least_scales[n / 2];
    let limits =
        Limits { values: &values.scaled, groups, part, least_scale, least_distance: LEAST_DISTANCE * least_scale };
    let peaks: Vec<Vec<f64>> =
        partitions.iter().map(|clusters| clusters.iter().map(|cluster| cluster.peak).collect()).collect();
    let (score, cuts) = limits.best(peaks.iter().map(Vec::as_slice))?;
    // A cluster beyond the first has two scales of its own as well.
    let price = limits.mode_price() * (2 * clusters.len() - 1) as f64;
    let density = |value: &f64| clusters.iter().map(|cluster| cluster.density(*value, n)).sum::<f64>();
    let log_likelihood: f64 = values.scaled.iter().map(|value| density(value).max(f64::MIN_POSITIVE).ln()).sum();
    let heavy: f64 = clusters.iter().map(|cluster| cluster.tail.price).sum();
    let of_one = TAILS.iter().chain(&FLAT).map(|tail| part * tail.log_likelihood(&values.scaled) - tail.price);
    let of_one = of_one.fold(f64::MIN, f64::max) - limits.mode_price();
    let others = (part * log_likelihood - heavy - price).max(of_one);
    (score > others).then_some(cuts)
}

/// The score of clusters with these cuts if what each group adds to its values is taken from them: clusters that show inside
/// of groups are real, however different groups are. `None` if groups have too few values.
fn within_groups(values: &Values, groups: &Groups, cuts: &[usize]) -> Option<f64> {
    let n = values.len();
    let free = (n - groups.count) as f64;
    if free < LEAST_FREE {
        return None;
    }
    let rest = groups.without_effects(&values.scaled, cuts);
    let clusters = cuts.windows(2).map(|cut| {
        let members = crate::sample::sorted(rest[cut[0]..cut[1]].to_vec());
        let last = members.len() - 1;
        Values::of(&members, values.least_scales[cut[0]..cut[1]].to_vec()).cluster(0, last).score(n, free / n as f64)
    });
    Some(clusters.sum::<f64>() - price(cuts.len() - 2, free))
}

/// The price of a number of clusters beyond the first, for this many independent values: more values have more places for a
/// cut, of which the best counts.
fn price(number: usize, independent: f64) -> f64 {
    let growth = ((independent / 60.0).ln() / (200.0_f64 / 60.0).ln()).max(0.0);
    let at = |[price, more]: [f64; 2]| price + more * growth;
    if number == 0 { 0.0 } else { at(SECOND) + at(FURTHER) * (number - 1) as f64 }
}

/// Where clusters begin, and the end.
fn cuts(clusters: &[Cluster]) -> Vec<usize> {
    let end = clusters.last().map_or(0, |cluster| cluster.last + 1);
    clusters.iter().map(|cluster| cluster.first).chain([end]).collect()
}

/// The best clusters for each number of them, from one on.
fn partitions(values: &Values, groups: &Groups) -> Vec<Vec<Cluster>> {
    let n = values.len();
    let least = LEAST_MEMBERS.max((n as f64 * LEAST_SHARE).ceil() as usize);
    // The first end at which the values from each place on are of enough groups.
    let ends = groups.ends(least);
    // Of the values from the column up to before the row; none where these are too few.
    let mut scores = vec![f64::NEG_INFINITY; (n + 1) * n];
    for first in 0..n {
        for end in ends[first]..=n {
            scores[end * n + first] = values.cluster(first, end - 1).score(n, 1.0);
        }
    }
    // best_up_to[k][end]: the score of the first `end` values in k + 1 clusters, and where the last of them begins.
    let mut first_row: Vec<(f64, usize)> = (0..=n).map(|end| (scores[end * n], 0)).collect();
    first_row[n].0 = values.cluster(0, n - 1).score(n, 1.0);
    let mut best_up_to = vec![first_row];
    for number in 1..MOST_CLUSTERS.min(n / least) {
        let before = &best_up_to[number - 1];
        let row = (0..=n).map(|end| {
            let mut best = (f64::NEG_INFINITY, 0);
            for (first, (before, last)) in before.iter().zip(&scores[end * n..][..end]).enumerate().skip(1) {
                let score = before.0 + last;
                best = if score >= best.0 { (score, first) } else { best };
            }
            best
        });
        let row: Vec<(f64, usize)> = row.collect();
        if row[n].0 == f64::NEG_INFINITY {
            break;
        }
        best_up_to.push(row);
    }
    let traced = |count: usize| {
        let mut clusters = Vec::new();
        let mut end = n;
        for number in (0..=count).rev() {
            let first = best_up_to[number][end].1;
            clusters.push(values.cluster(first, end - 1));
            end = first;
        }
        clusters.reverse();
        clusters
    };
    (0..best_up_to.len()).map(traced).collect()
}

/// Joins neighbours without a valley between them, the shallowest first, and those that are nearer than what can be told
/// apart.
fn merged(mut clusters: Vec<Cluster>, values: &Values) -> Vec<Cluster> {
    loop {
        let depths = clusters.windows(2).enumerate().map(|(at, pair)| {
            let least = values.least_scales[pair[0].first] * LEAST_DISTANCE;
            let is_near = pair[1].peak - pair[0].peak < least;
            let depth = valley(&clusters, pair, values.len()).max(emptiness(pair, &values.scaled));
            (at, if is_near { f64::MAX } else { depth })
        });
        let shallowest = depths.max_by(|one, other| one.1.total_cmp(&other.1));
        let Some((at, _)) = shallowest.filter(|(_, depth)| *depth > VALLEY) else { return clusters };
        let joined = values.cluster(clusters[at].first, clusters[at + 1].last);
        clusters.splice(at..=at + 1, [joined]);
    }
}

/// How dense values are beside the cut of two clusters, relative to the middle half of the sparser one. The curves of a
/// sharp peak and of its tail may have a valley that the values do not have.
fn emptiness(pair: &[Cluster], values: &[f64]) -> f64 {
    let density = |from: usize, to: usize| (to - from) as f64 / (values[to] - values[from]).max(f64::MIN_POSITIVE);
    let middle = |cluster: &Cluster| density(cluster.first + cluster.len() / 4, cluster.last - cluster.len() / 4);
    let beside = (pair[0].len().min(pair[1].len()) / 4).max(LEAST_MEMBERS / 2);
    let cut = pair[1].first;
    density(cut - beside, cut + beside - 1) / middle(&pair[0]).min(middle(&pair[1]))
}

/// The lowest density between two peaks, relative to the lower peak.
fn valley(clusters: &[Cluster], pair: &[Cluster], all: usize) -> f64 {
    let density = |at: f64| clusters.iter().map(|cluster| cluster.density(at, all)).sum::<f64>();
    let (from, to) = (pair[0].peak, pair[1].peak);
    let between = (1..VALLEY_STEPS).map(|step| from + (to - from) * step as f64 / VALLEY_STEPS as f64);
    let lowest = between.map(density).fold(f64::MAX, f64::min);
    lowest / density(from).min(density(to)).max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of which each is a group.
    fn singles(values: &[f64]) -> Vec<Grouped> {
        values.iter().copied().zip(0..).collect()
    }

    fn bounds(sorted: &[f64]) -> Vec<f64> {
        let gaps = gaps(&singles(sorted), sorted.len(), 12).unwrap_or_default();
        gaps.into_iter().map(Gap::middle).collect()
    }

    fn resolution(values: &[f64]) -> f64 {
        super::resolution(&singles(values))
    }

    #[test]
    fn whole_numbers_have_a_common_divisor() {
        assert_eq!(resolution(&[4096.0, 8192.0, 20480.0]), 4096.0);
        assert_eq!(resolution(&[0.25, 0.25, 0.75, 1.0]), 0.25);
        assert_eq!(resolution(&[-6.0, 0.0, 9.0]), 3.0);
        assert_eq!(resolution(&[1.5, 1.5, 2.7]), 0.3);
        // A clock of 24 MHz, in whole nanoseconds; and what rounding adds.
        assert_eq!(resolution(&[41.0, 83.0, 83.0, 125.0, 208.0]), 42.0);
        assert!((resolution(&[0.1 + 0.2, 0.3, 0.4, 0.5]) - 0.1).abs() < 1e-9);
    }

    #[test]
    fn equal_values_are_spread_around_their_value() {
        assert_eq!(spread(&[0.0, 0.5, 0.5, 1.0], 0.25), [0.0, 0.4375, 0.5625, 1.0]);
    }

    #[test]
    fn the_cuts_are_those_of_the_highest_score() {
        // By definition: all cuts into two clusters are tried.
        let values: Vec<f64> = (0..12).map(|at| f64::from(at * at) / 300.0 + if at > 6 { 0.3 } else { 0.0 }).collect();
        let n = values.len();
        let values = Values::of(&values, vec![LEAST_SCALE; n]);
        let score = |first, last| values.cluster(first, last).score(n, 1.0);
        let of_two =
            (6..=6).map(|cut| score(0, cut - 1) + score(cut, n - 1) - price(1, n as f64)).fold(f64::MIN, f64::max);
        let groups: Vec<usize> = (0..n).collect();
        let groups = Groups::of(&groups, n);
        let found = best(&values, &groups, &partitions(&values, &groups));
        let found_score: f64 =
            found.iter().map(|one| one.score(n, 1.0)).sum::<f64>() - price(found.len() - 1, n as f64);
        assert!((found_score - of_two.max(score(0, n - 1))).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn far_groups_are_clusters_and_near_ones_are_not() {
        let two: Vec<f64> = (0..30).map(|at| f64::from(at % 10) + if at < 10 { 0.0 } else { 100.0 }).collect();
        let mut two = two;
        two.sort_by(f64::total_cmp);
        assert_eq!(bounds(&two), [54.5]);
        let one: Vec<f64> = (0..60).map(f64::from).collect();
        assert_eq!(bounds(&one), [0.0; 0]);
        assert_eq!(bounds(&[1.0; 50]), [0.0; 0]);
        assert_eq!(bounds(&[]), [0.0; 0]);
    }

    #[test]
    fn any_finite_values_have_bounds() {
        let mut extreme = vec![-f64::MAX; 10];
        extreme.extend([0.0; 10]);
        extreme.extend([f64::MIN_POSITIVE / 16.0; 10]);
        extreme.extend([f64::MAX; 10]);
        let bounds = bounds(&extreme);
        assert!(bounds.windows(2).all(|pair| pair[0] < pair[1]), "{bounds:?}");
    }
}
