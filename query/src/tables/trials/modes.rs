//! The modes of a series.

use barrow_statistics::{Modes, ModesVerdict};

use crate::answer::{Column, Table, Value, measured::measured, table};

/// A row for each mode, numbered from 1; with intervals, if runs are independent.
pub(crate) fn table(modes: &Modes, unit: &str, has_intervals: bool) -> Table {
    table!("rows", modes.modes.iter().enumerate(), |(at, mode)| {
        let bounds = Some(mode).filter(|mode| has_intervals && !mode.location_low.is_nan() && !mode.weight_low.is_nan());
        Column::number("mode") => at + 1,
        Column::number("location") => measured(mode.location, unit),
        Column::number("low").called("from") => measured(mode.low, unit),
        Column::number("high").called("to") => measured(mode.high, unit),
        Column::number("location_low").for_machines().interval() => bounds.map(|mode| measured(mode.location_low, unit)),
        Column::number("location_high").for_machines().interval() => bounds.map(|mode| measured(mode.location_high, unit)),
        Column::count("values") => mode.count,
        Column::share("weight") => Value::Share(mode.weight),
        Column::share("weight_low").called("weight from").interval() => bounds.map(|mode| Value::Share(mode.weight_low)),
        Column::share("weight_high").called("weight to").interval() => bounds.map(|mode| Value::Share(mode.weight_high)),
    })
}

/// Says that many values are equal, as counts and what a coarse clock measures are. At a half, none of 40 normal samples of
/// 60 values has a dip with a p below 0.05; at a third 15 %, at a quarter 88 %.
pub(crate) fn ties(sorted: &[f64]) -> Option<String> {
    let different = sorted.chunk_by(|a, b| a == b).count();
    let are_many = different > 1 && different * 2 <= sorted.len();
    are_many.then(|| {
        format!(
            "many values are equal: {} are {different} different ones; the p of the dip is too small then, and modes \
             nearer than the steps between them are one",
            sorted.len()
        )
    })
}

/// The number of modes in words.
pub(crate) fn sentence(modes: &Modes, values: usize) -> String {
    match (modes.verdict, modes.modes.len()) {
        (ModesVerdict::TooFew, _) => {
            format!("{values} values are too few for a statement about modes; 12 or more can have one")
        }
        (ModesVerdict::AllEqual, _) => "all values are equal".to_owned(),
        (ModesVerdict::Found, 1) => "one mode".to_owned(),
        (ModesVerdict::Found, several) => format!("{several} modes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_equal_values_are_said() {
        let steps = |step: usize| (0..60).map(|at| (at / step) as f64).collect::<Vec<f64>>();
        assert!(ties(&steps(1)).is_none() && ties(&steps(60)).is_none() && ties(&[]).is_none());
        assert!(ties(&steps(2)).unwrap().starts_with("many values are equal: 60 are 30 different ones;"));
        assert!(ties(&[steps(1), vec![60.0; 5]].concat()).is_none());
    }
}
