//! Metrics.

/// A metric: name, unit and direction, the same for all of its values.
///
/// ```
/// use barrow_trial::{Better, Metric};
/// const SUM: Metric = Metric::new("sum", "ns", Better::Lower);
/// assert_eq!(SUM, Metric::time("sum"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metric<'m> {
    /// Its name, which is not empty. Tabs and ends of lines become spaces.
    pub name: &'m str,
    /// Its unit: `ns`, `bytes`, any other text, or nothing for counts.
    pub unit: &'m str,
    /// Which values are better.
    pub better: Better,
}

/// Which values of a metric are better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Lower values, as of times.
    Lower,
    /// Higher values, as of throughput.
    Higher,
    /// That is not known.
    Unknown,
}

impl<'m> Metric<'m> {
    /// A metric.
    #[must_use]
    pub const fn new(name: &'m str, unit: &'m str, better: Better) -> Self {
        Metric { name, unit, better }
    }

    /// A time in nanoseconds.
    #[must_use]
    pub const fn time(name: &'m str) -> Self {
        Metric::new(name, "ns", Better::Lower)
    }
}

impl Better {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Better::Lower => "lower",
            Better::Higher => "higher",
            Better::Unknown => "",
        }
    }
}
