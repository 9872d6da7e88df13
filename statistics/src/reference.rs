//! Compares methods with what SciPy, NumPy and diptest compute: `tests/reference/make.py` wrote the data.

use serde::Deserialize;

use crate::brunner_munzel::Tendency;
use crate::comparison::welch;
use crate::counts_test::fisher;
use crate::kolmogorov;
use crate::modes::{Modes, wilson};
use crate::quantile::quantile;
use crate::rank_test::Chances;
use crate::sample::{kruskal_wallis, sorted};
use crate::shift::Shift;
use crate::{KnobValues, Sample, dip, knob_shares, tails};

#[derive(Deserialize)]
struct Reference {
    two_samples: Vec<TwoSamples>,
    kruskal: Vec<Kruskal>,
    fisher: Vec<Fisher>,
    quantiles: Vec<Quantiles>,
    tails: Tails,
    epsilon_squared: Vec<EpsilonSquared>,
    bootstrap: Vec<Bootstrap>,
    dips: Vec<DipOf>,
}

#[derive(Deserialize)]
struct TwoSamples {
    a: Vec<f64>,
    b: Vec<f64>,
    larger: f64,
    smaller: f64,
    shift: f64,
    shift_low: f64,
    shift_high: f64,
    munzel_larger: f64,
    munzel_smaller: f64,
    welch_larger: f64,
    smirnov: f64,
}

#[derive(Deserialize)]
struct Kruskal {
    groups: Vec<Vec<f64>>,
    p_value: f64,
}

#[derive(Deserialize)]
struct Fisher {
    hits: [usize; 2],
    totals: [usize; 2],
    p_value: f64,
}

#[derive(Deserialize)]
struct Quantiles {
    values: Vec<f64>,
    shares: Vec<f64>,
    quantiles: Vec<f64>,
}

#[derive(Deserialize)]
struct Tails {
    normal: Vec<(f64, f64)>,
    chi_squared: Vec<(f64, f64, f64)>,
    beta: Vec<(f64, f64, f64, f64)>,
    at_most_half: Vec<(usize, usize, f64)>,
    ln_choose: Vec<(u64, u64, f64)>,
    wilson: Vec<(f64, f64, f64, f64)>,
}

#[derive(Deserialize)]
struct EpsilonSquared {
    values: Vec<f64>,
    knob: Vec<u64>,
    share: f64,
}

#[derive(Deserialize)]
struct Bootstrap {
    groups: Vec<Vec<f64>>,
    low: f64,
    high: f64,
    error: f64,
}

#[derive(Deserialize)]
struct DipOf {
    values: Vec<f64>,
    dip: f64,
    p_value: f64,
}

fn reference() -> Reference {
    serde_json::from_str(include_str!("../tests/reference/reference.json")).unwrap()
}

#[track_caller]
fn assert_near(found: f64, expected: f64, relative: f64) {
    let is_near = (found - expected).abs() <= relative * expected.abs().max(1e-300);
    assert!(is_near, "found {found}, expected {expected}");
}

#[test]
fn mann_whitney_and_hodges_lehmann() {
    for row in reference().two_samples {
        let (a, b) = (sorted(row.a), sorted(row.b));
        let chances = Chances::of(&a, 0.0, &b);
        assert_near(chances.larger, row.larger, 1e-8);
        assert_near(chances.smaller, row.smaller, 1e-8);
        let shift = Shift::of(&a, &b).unwrap();
        for (found, expected) in [(shift.estimate, row.shift), (shift.low, row.shift_low), (shift.high, row.shift_high)]
        {
            assert!((found - expected).abs() < 1e-9, "found {found}, expected {expected}");
        }
    }
}

#[test]
fn brunner_munzel_and_welch() {
    for row in reference().two_samples {
        let (a, b) = (sorted(row.a), sorted(row.b));
        let chances = Tendency::of(&a, 0.0, &b).unwrap().chances();
        assert_near(chances.larger, row.munzel_larger, 1e-6);
        assert_near(chances.smaller, row.munzel_smaller, 1e-6);
        assert_near(welch(&a, 0.0, &b).larger, row.welch_larger, 1e-6);
    }
}

#[test]
fn kolmogorov_smirnov() {
    for row in reference().two_samples {
        let (a, b) = (sorted(row.a), sorted(row.b));
        // SciPy's limit has no correction for small samples, so larger samples are near to it only.
        if a.len() > 100 {
            let found = kolmogorov::chance(&a, 1.0, 0.0, &b);
            assert!((found - row.smirnov).abs() < 0.03, "{found} {}", row.smirnov);
        }
    }
}

#[test]
fn kruskal_wallis_and_fisher() {
    for row in reference().kruskal {
        assert_near(kruskal_wallis(row.groups.iter().map(Vec::as_slice)).unwrap(), row.p_value, 1e-8);
    }
    for row in reference().fisher {
        assert_near(fisher(row.hits, row.totals), row.p_value, 1e-8);
    }
}

#[test]
fn quantiles_of_values() {
    for row in reference().quantiles {
        for (share, expected) in row.shares.iter().zip(row.quantiles) {
            assert_near(quantile(&row.values, *share), expected, 1e-8);
        }
    }
}

#[test]
fn tails_of_distributions() {
    let Tails { normal, chi_squared, beta, at_most_half, ln_choose, wilson: shares } = reference().tails;
    normal.into_iter().for_each(|(z, expected)| assert_near(tails::normal(z), expected, 1e-9));
    chi_squared.into_iter().for_each(|(x, k, expected)| assert_near(tails::chi_squared(x, k), expected, 1e-9));
    beta.into_iter().for_each(|(x, a, b, expected)| assert_near(tails::beta_up_to(x, a, b), expected, 1e-9));
    at_most_half.into_iter().for_each(|(k, n, expected)| assert_near(tails::at_most_half(k, n), expected, 1e-9));
    ln_choose.into_iter().for_each(|(n, k, expected)| assert_near(tails::ln_choose(n, k), expected, 1e-10));
    for (hits, n, low, high) in shares {
        let found = wilson(hits / n, n);
        assert!((found.0 - low).abs() < 1e-9 && (found.1 - high).abs() < 1e-9, "{found:?}");
    }
}

#[test]
fn shares_of_knobs() {
    for row in reference().epsilon_squared {
        let sample = Sample::new(row.values.iter().map(|&value| vec![value]).collect());
        let found = knob_shares(&sample, &[KnobValues::Names(row.knob)]);
        assert!((found[0].share - row.share).abs() < 1e-12, "{found:?} {}", row.share);
    }
}

#[test]
fn the_bootstrap_of_groups() {
    for row in reference().bootstrap {
        let modes = Modes::of(&Sample::new(row.groups)).modes;
        assert_eq!(modes.len(), 1);
        // Resampling has an error of its own: for 999 resamples an eighth of a standard error, at 2.5 %.
        let error = [modes[0].location_low - row.low, modes[0].location_high - row.high];
        assert!(error.iter().all(|error| error.abs() < 0.4 * row.error), "{error:?} {}", row.error);
    }
}

#[test]
fn dips_and_their_chances() {
    for row in reference().dips {
        let found = dip(&Sample::new(row.values.iter().map(|&value| vec![value]).collect())).unwrap();
        assert!((found.statistic - row.dip).abs() < 1e-10, "{found:?} {} of {}", row.dip, row.values.len());
        // Both p-values are interpolated in tables.
        let error = 0.03_f64.max(0.1 * row.p_value.min(1.0 - row.p_value));
        assert!((found.p_value - row.p_value).abs() < error, "{found:?} {} of {}", row.p_value, row.values.len());
    }
}
