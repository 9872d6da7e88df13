//! Sentences about runs that depend on their order.

use barrow_statistics::Dependence;

/// The dependence, and its effect on a comparison. More runs do not help.
pub(crate) fn sentence(found: Dependence) -> String {
    let what = what(found);
    format!("{what}, so there is no interval and no verdict; measure in turn with `--compare`, on a machine at rest")
}

/// The dependence, and its effect on the values of one program.
pub(crate) fn of_one(found: Dependence) -> String {
    format!("{}, so there are no intervals: they are about independent runs", what(found))
}

fn what(found: Dependence) -> String {
    let Dependence { lag, trend, is_trend } = found;
    match is_trend {
        true => format!("values drift in the order of the runs (correlation {trend:+.2})"),
        false => format!("a run is like the one before it (correlation {lag:+.2})"),
    }
}
