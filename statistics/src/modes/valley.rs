//! The valley between two peaks of a density.

/// Maximum density of a valley, relative to the lower peak beside it.
pub(super) const VALLEY: f64 = 0.75;
/// Number of steps between two peaks.
const STEPS: usize = 64;

/// The place of the lowest density between two places, and the density there.
pub(super) fn lowest(from: f64, to: f64, density: impl Fn(f64) -> f64) -> (f64, f64) {
    let places = (1..STEPS).map(|step| from + (to - from) * step as f64 / STEPS as f64);
    let places = places.map(|place| (place, density(place)));
    places.min_by(|one, other| one.1.total_cmp(&other.1)).unwrap_or((from, 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_place_is_found() {
        let (place, density) = lowest(-1.0, 3.0, |at| at * at + 2.0);
        assert!(place.abs() < 0.1 && (density - 2.0).abs() < 0.01, "{place} {density}");
    }
}
