//! Lines of least squares, alone and with a warm-up beside them.

/// Warm-ups are tried at so many places at most.
const PLACES: usize = 32;
/// A warm-up is granted if it makes the logarithm of the squared residuals, times the number of points,
/// smaller by this: twice what it adds to the logarithm of the likelihood. A line with noise alone looks
/// so in 1 of 25 series.
const EXPLAINED: f64 = 10.0;
/// How much likelier a line alone is than one beside the mean warm-up, as a logarithm, before points are looked at.
const PLAIN: f64 = 6.5;
/// By how much the fit makes neighbouring residuals of n points less alike, times n.
const BIAS: f64 = 2.0;
/// Residuals must be so much more alike than chance makes them, in standard errors, to be doubted.
const DOUBT: f64 = 1.5;

/// A line through points.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fit {
    slope: f64,
    /// The standard error of the slope.
    error: f64,
    /// The squares of what the line leaves, summed.
    left: f64,
    /// What rounding alone may leave.
    rounding: f64,
}

impl Fit {
    /// The line of least squares.
    pub(super) fn line(points: &[(f64, f64)]) -> Self {
        let (xs, ys) = centred(points);
        let (xx, xy, yy) = (dot(&xs, &xs), dot(&xs, &ys), dot(&ys, &ys));
        let rounding = rounding(points);
        let slope = if xx > 0.0 { xy / xx } else { 0.0 };
        let left = (yy - slope * xy).max(rounding);
        let freedom = points.len().saturating_sub(2).max(1) as f64;
        Fit { slope, error: (left / freedom / xx).sqrt(), left, rounding }
    }

    /// The slope in standard errors.
    pub(super) fn t(&self) -> f64 {
        if self.error > 0.0 && self.error.is_finite() { self.slope / self.error } else { 0.0 }
    }
}

/// What is left of growth when a warm-up is granted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Warmth {
    /// The slope beside the warm-up.
    pub(super) slope: f64,
    /// Its standard error.
    pub(super) error: f64,
}

impl Warmth {
    /// The warm-up that explains points best, if one does so clearly better than the line.
    pub(super) fn best(points: &[(f64, f64)], line: &Fit) -> Option<Self> {
        // Three numbers are fitted: with fewer points any warm-up would do.
        if points.len() < 5 || line.left <= line.rounding {
            return None;
        }
        let (xs, ys) = centred(points);
        let fits = shapes(points).filter_map(|shape| beside(&xs, &ys, &shape, line.rounding));
        let (left, best) = fits.min_by(|(left, _), (other, _)| left.total_cmp(other))?;
        (left < (-EXPLAINED / points.len() as f64).exp() * line.left).then_some(best)
    }
}

/// The slope of the line alone and beside every warm-up, each as likely as it makes the points, and the standard
/// error of that mean (the averaging of models of Raftery 1995 and Burnham and Anderson 2002). Between a leak and
/// a warm-up there is no step at which the one becomes the other.
pub(super) fn averaged(points: &[(f64, f64)], line: &Fit) -> (f64, f64) {
    if points.len() < 5 || line.left <= line.rounding {
        return (line.slope, line.error);
    }
    let (xs, ys) = centred(points);
    let count = points.len() as f64;
    let mut fits: Vec<(f64, Warmth)> =
        shapes(points).filter_map(|shape| beside(&xs, &ys, &shape, line.rounding)).collect();
    let alone = PLAIN + (fits.len().max(1) as f64).ln();
    fits.push(((-2.0 * alone / count).exp() * line.left, Warmth { slope: line.slope, error: line.error }));
    let least = fits.iter().map(|(left, _)| *left).fold(f64::INFINITY, f64::min);
    let weight = |left: f64| (least / left).powf(count / 2.0);
    let all: f64 = fits.iter().map(|(left, _)| weight(*left)).sum();
    let mean = |value: &dyn Fn(&Warmth) -> f64| {
        fits.iter().map(|(left, warmth)| weight(*left) * value(warmth)).sum::<f64>() / all
    };
    let slope = mean(&|warmth| warmth.slope);
    let variance = mean(&|warmth| warmth.error.powi(2) + (warmth.slope - slope).powi(2));
    (slope, variance.sqrt())
}

/// The line beside a shape that goes up; with what both leave.
fn beside(xs: &[f64], ys: &[f64], shape: &[f64], rounding: f64) -> Option<(f64, Warmth)> {
    let (xx, xs_shape, shapes) = (dot(xs, xs), dot(xs, shape), dot(shape, shape));
    let (xy, shape_y, yy) = (dot(xs, ys), dot(shape, ys), dot(ys, ys));
    let both = xx * shapes - xs_shape * xs_shape;
    if both <= 1e-9 * xx * shapes {
        return None;
    }
    let slope = (xy * shapes - shape_y * xs_shape) / both;
    let height = (shape_y * xx - xy * xs_shape) / both;
    let left = (yy - slope * xy - height * shape_y).max(rounding);
    let freedom = (xs.len() - 3) as f64;
    let error = (left / freedom * shapes / both).sqrt();
    (height > 0.0).then_some((left, Warmth { slope, error }))
}

/// The shapes of warm-ups: steps up, growth that stops, and growth that dies away; centred.
fn shapes(points: &[(f64, f64)]) -> impl Iterator<Item = Vec<f64>> + '_ {
    let (first, last) = (points[0].0, points[points.len() - 1].0);
    let stride = points.len().div_ceil(PLACES);
    let places = (1..points.len()).step_by(stride);
    let steps = places.clone().map(move |place| shape(points, |x| f64::from(u8::from(x >= points[place].0))));
    // The end of a series is no place to say that growth has stopped.
    let stops = places.filter(|place| 4 * place <= 3 * points.len());
    let stops = stops.map(move |place| shape(points, |x| x.min(points[place].0)));
    let span = last - first;
    let deaths = [0.02, 0.03, 0.045, 0.06, 0.08, 0.1, 0.125, 0.15, 0.18, 0.215, 0.25, 0.3].into_iter();
    let deaths = deaths.map(move |part| shape(points, move |x| -(-(x - first) / (part * span)).exp()));
    steps.chain(stops).chain(deaths)
}

fn shape(points: &[(f64, f64)], of: impl Fn(f64) -> f64) -> Vec<f64> {
    let mut values: Vec<f64> = points.iter().map(|&(x, _)| of(x)).collect();
    centre(&mut values);
    values
}

/// By how much the variance of a slope is larger than it seems because residuals resemble the ones before
/// them, as those of a sawtooth do; 1 if they do not.
pub(super) fn neighbourly(points: &[(f64, f64)]) -> f64 {
    if points.len() < 6 {
        return 1.0;
    }
    let (xs, ys) = centred(points);
    let mut bend: Vec<f64> = xs.iter().map(|x| x * x).collect();
    centre(&mut bend);
    // What neither a line nor a bend explains: growth that speeds up is no reason to doubt it.
    let across = dot(&xs, &bend) / dot(&xs, &xs);
    bend.iter_mut().zip(&xs).for_each(|(bend, x)| *bend -= across * x);
    let (slope, curve) = (dot(&xs, &ys) / dot(&xs, &xs), dot(&bend, &ys) / dot(&bend, &bend));
    let rest: Vec<f64> = ys.iter().zip(&xs).zip(&bend).map(|((y, x), bend)| y - slope * x - curve * bend).collect();
    let square = dot(&rest, &rest);
    if square <= rounding(points) {
        return 1.0;
    }
    let count = points.len() as f64;
    let alike = rest.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / square;
    // The fit itself makes neighbours differ.
    let alike = (alike + BIAS / count).min(0.9);
    if alike * count.sqrt() < DOUBT { 1.0 } else { (1.0 + alike) / (1.0 - alike) }
}

/// What is left of points that lie on a line but for rounding.
fn rounding(points: &[(f64, f64)]) -> f64 {
    let largest = points.iter().map(|(_, y)| y.abs()).fold(0.0, f64::max);
    points.len() as f64 * (largest * 1e-13).powi(2)
}

fn centred(points: &[(f64, f64)]) -> (Vec<f64>, Vec<f64>) {
    let (mut xs, mut ys): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
    centre(&mut xs);
    centre(&mut ys);
    (xs, ys)
}

fn centre(values: &mut [f64]) {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    values.iter_mut().for_each(|value| *value -= mean);
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}
