//! What there is to say about runs that depend on their order.

use barrow_statistics::Dependence;

/// What was found, and what to do about it. More runs do not help.
pub(crate) fn sentence(found: Dependence) -> String {
    let Dependence { lag, trend, is_trend } = found;
    let what = match is_trend {
        true => format!("values drift in the order of the runs (correlation {trend:+.2})"),
        false => format!("a run is like the one before it (correlation {lag:+.2})"),
    };
    format!("{what}, so there is no interval and no verdict; measure in turn with `--compare`, on a machine at rest")
}
