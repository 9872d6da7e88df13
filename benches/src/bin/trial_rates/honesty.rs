//! Whether what is promised holds: intervals, and the smallest difference that would be found.

use barrow_benches::Random;
use barrow_statistics::{ComparisonVerdict, Direction, Modes, Sample, compare};

use crate::draw::{By, Mode, Plan, Shape};
use crate::rare::{USUAL, two};
use crate::{heading, rates, row};

/// The samples that are compared and whose intervals are checked.
fn plans() -> [Plan; 6] {
    [
        Plan { runs: 6, ..Plan::SINGLE },
        Plan { runs: 10, ..Plan::SINGLE },
        Plan { runs: 20, ..Plan::SINGLE },
        Plan::SINGLE,
        Plan::of(10, 6, 1.0, By::Value),
        Plan::of(20, 5, 3.0, By::Value),
    ]
}

fn moved(sample: &Sample, by: f64) -> Sample {
    Sample::new(sample.groups().map(|group| group.iter().map(|value| value + by).collect()).collect())
}

/// How often a shift is found that is as large as `smallest_detectable` promises, in other samples of the same kind.
pub(crate) fn detectable(trials: u64) {
    let columns = ["runs × values", "normal", "log-normal 1", "gamma", "Student's t, 2 d.f.", "two modes"];
    heading("A shift by `smallest_detectable`, in new samples: found, %", &columns);
    for plan in plans() {
        let of = |modes: &[Mode], shape: Shape| {
            rates(trials, 113, |seed| {
                let mut random = Random::new(seed);
                let [a, b, c, d] = [(); 4].map(|()| plan.draw(modes, shape, &mut random));
                let promised = compare(&a, &b, USUAL, Direction::Lower).smallest_detectable.unwrap_or(f64::NAN);
                let by = promised * barrow_statistics::Location::of(&c).map_or(f64::NAN, |location| location.median);
                [compare(&c, &moved(&d, by), USUAL, Direction::Lower).verdict == ComparisonVerdict::Worse]
            })[0]
        };
        let one = [Mode { location: 100.0, sigma: 10.0, weight: 1.0 }];
        let mut cells =
            [Shape::Normal, Shape::LogNormal(1.0), Shape::Gamma, Shape::Heavy].map(|shape| of(&one, shape)).to_vec();
        cells.push(of(&two(120.0, 0.2), Shape::Normal));
        row(&plan.name(), &cells);
    }
}

/// How often intervals of 95 % hold the truth.
pub(crate) fn intervals(trials: u64) {
    let columns = ["runs × values", "location of one mode", "location of the mode of 30 %", "its weight", "two found"];
    heading("Intervals of 95 % hold the truth, % of the samples with the right number of modes", &columns);
    let plans = [
        Plan { runs: 20, ..Plan::SINGLE },
        Plan::SINGLE,
        Plan { runs: 200, ..Plan::SINGLE },
        Plan::of(20, 6, 1.0, By::Value),
        Plan::of(30, 10, 3.0, By::Value),
        Plan::of(60, 5, 1.0, By::Run),
    ];
    for plan in plans {
        let holds = |low: f64, truth: f64, high: f64| low <= truth && truth <= high;
        let one = [Mode { location: 100.0, sigma: 2.0, weight: 1.0 }];
        let found = rates(trials, 127, |seed| {
            let mut random = Random::new(seed);
            let single = Modes::of(&plan.draw(&one, Shape::Normal, &mut random)).modes;
            let several = Modes::of(&plan.draw(&two(130.0, 0.3), Shape::Normal, &mut random)).modes;
            let location = |mode: &barrow_statistics::Mode, truth| holds(mode.location_low, truth, mode.location_high);
            let (is_one, is_two) = (single.len() == 1, several.len() == 2);
            [
                is_one,
                is_one && location(&single[0], 100.0),
                is_two,
                is_two && location(&several[1], 130.0),
                is_two && holds(several[1].weight_low, 0.3, several[1].weight_high),
            ]
        });
        let [one, of_one, two, of_two, weight] = found;
        let share = |part: f64, whole: f64| 100.0 * part / whole.max(f64::MIN_POSITIVE);
        row(&plan.name(), &[share(of_one, one), share(of_two, two), share(weight, two), two]);
    }
}
