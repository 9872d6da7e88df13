//! Values whose distribution is known.

use barrow_benches::Random;
use barrow_statistics::Sample;

/// A number from 0 to below 1.
pub(crate) fn unit(random: &mut Random) -> f64 {
    (random.next() >> 11) as f64 / (1_u64 << 53) as f64
}

/// A standard normal number (Box and Muller 1958).
pub(crate) fn normal(random: &mut Random) -> f64 {
    let (one, other) = (1.0 - unit(random), unit(random));
    (-2.0 * one.ln()).sqrt() * (2.0 * std::f64::consts::PI * other).cos()
}

/// A shape of values, with mean 0 and standard deviation 1 where both exist.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Shape {
    /// The normal distribution.
    Normal,
    /// A log-normal distribution, whose logarithm has this standard deviation.
    LogNormal(f64),
    /// A gamma distribution of shape 4: skewness 1.
    Gamma,
    /// From -√3 to √3, all equally likely.
    Uniform,
    /// Exponential: skewness 2.
    Exponential,
    /// Student's t with 2 degrees of freedom: no variance. Its scale is 1.
    Heavy,
    /// Two normal humps 2.5 sigma apart, without a clear valley.
    Unclear,
    /// The normal distribution, rounded to whole numbers.
    Ticks,
    /// Mostly 0; one in ten is 5.
    Outliers,
}

impl Shape {
    pub(crate) fn draw(self, random: &mut Random) -> f64 {
        match self {
            Shape::Normal => normal(random),
            Shape::LogNormal(sigma) => {
                let variance = sigma * sigma;
                let deviation = ((variance.exp() - 1.0) * variance.exp()).sqrt();
                ((sigma * normal(random)).exp() - (variance / 2.0).exp()) / deviation
            }
            Shape::Gamma => {
                let sum: f64 = (0..4).map(|_| -(1.0 - unit(random)).ln()).sum();
                (sum - 4.0) / 2.0
            }
            Shape::Uniform => (2.0 * unit(random) - 1.0) * 3.0_f64.sqrt(),
            Shape::Exponential => -(1.0 - unit(random)).ln() - 1.0,
            Shape::Heavy => {
                let chi = -2.0 * (1.0 - unit(random)).ln();
                normal(random) / (chi / 2.0).sqrt()
            }
            Shape::Unclear => {
                let hump = if unit(random) < 0.5 { -1.25 } else { 1.25 };
                (hump + normal(random)) / 1.6
            }
            Shape::Ticks => normal(random).round(),
            Shape::Outliers => {
                if unit(random) < 0.1 {
                    5.0
                } else {
                    0.0
                }
            }
        }
    }

    /// The median.
    pub(crate) fn median(self) -> f64 {
        match self {
            Shape::LogNormal(sigma) => {
                let variance = sigma * sigma;
                (1.0 - (variance / 2.0).exp()) / ((variance.exp() - 1.0) * variance.exp()).sqrt()
            }
            // The median of the gamma distribution of shape 4 is 3.6720608.
            Shape::Gamma => (3.672_060_8 - 4.0) / 2.0,
            Shape::Exponential => std::f64::consts::LN_2 - 1.0,
            Shape::Normal | Shape::Uniform | Shape::Heavy | Shape::Unclear | Shape::Ticks | Shape::Outliers => 0.0,
        }
    }

    pub(crate) fn name(self) -> String {
        match self {
            Shape::Normal => "normal".to_owned(),
            Shape::LogNormal(sigma) => format!("log-normal {sigma}"),
            Shape::Gamma => "gamma".to_owned(),
            Shape::Uniform => "uniform".to_owned(),
            Shape::Exponential => "exponential".to_owned(),
            Shape::Heavy => "Student's t, 2 d.f.".to_owned(),
            Shape::Unclear => "two humps 2.5 sigma apart".to_owned(),
            Shape::Ticks => "rounded to sigma".to_owned(),
            Shape::Outliers => "constant, a tenth elsewhere".to_owned(),
        }
    }
}

/// A mode.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Mode {
    pub(crate) location: f64,
    /// The standard deviation.
    pub(crate) sigma: f64,
    pub(crate) weight: f64,
}

/// What decides the mode of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    /// Chance, for each value.
    Value,
    /// The layout that the values of a run share.
    Run,
}

/// How values are measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Plan {
    pub(crate) runs: usize,
    pub(crate) iterations: usize,
    /// The standard deviation of what a run adds to all of its values, in standard deviations of a value.
    pub(crate) run_effect: f64,
    pub(crate) by: By,
    /// How much values grow from the first run to the last, in standard deviations.
    pub(crate) drift: f64,
}

impl Plan {
    /// Runs of one value each.
    pub(crate) const SINGLE: Plan = Plan { runs: 60, iterations: 1, run_effect: 0.0, by: By::Value, drift: 0.0 };

    pub(crate) fn of(runs: usize, iterations: usize, run_effect: f64, by: By) -> Self {
        Plan { runs, iterations, run_effect, by, drift: 0.0 }
    }

    pub(crate) fn name(self) -> String {
        let effect = match self.run_effect {
            0.0 => String::new(),
            effect => format!(", run effect {effect} sigma"),
        };
        let by = match (self.iterations, self.by) {
            (1, _) => "",
            (_, By::Value) => ", mode by value",
            (_, By::Run) => ", mode by run",
        };
        let drift = if self.drift == 0.0 { String::new() } else { format!(", drift {} sigma", self.drift) };
        format!("{} × {}{effect}{by}{drift}", self.runs, self.iterations)
    }

    /// The values of one run.
    pub(crate) fn run(self, number: usize, modes: &[Mode], shape: Shape, random: &mut Random) -> Vec<f64> {
        let of_run = chosen(modes, random);
        let effect = if self.run_effect == 0.0 { 0.0 } else { self.run_effect * normal(random) };
        let drift = self.drift * number as f64 / self.runs as f64;
        let value = |_| {
            let mode = if self.by == By::Run { of_run } else { chosen(modes, random) };
            mode.location + mode.sigma * (effect + drift + shape.draw(random))
        };
        (0..self.iterations).map(value).collect()
    }

    /// All runs.
    pub(crate) fn draw(self, modes: &[Mode], shape: Shape, random: &mut Random) -> Sample {
        Sample::new((0..self.runs).map(|number| self.run(number, modes, shape, random)).collect())
    }
}

/// A mode, by weight.
pub(crate) fn chosen(modes: &[Mode], random: &mut Random) -> Mode {
    let mut left = unit(random) * modes.iter().map(|mode| mode.weight).sum::<f64>();
    let found = modes.iter().find(|mode| {
        left -= mode.weight;
        left < 0.0
    });
    found.or(modes.last()).copied().unwrap_or(Mode { location: 0.0, sigma: 1.0, weight: 1.0 })
}
