//! Several files are successive runs of the same programs.

use barrow_analyzer::MeasurementRow;
use barrow_importers::{ImportOptions, Series, Silent, read_values};

use crate::recorded::{record_sample, recorded, sample};

#[test]
fn metrics_and_variants_are_declared_once() {
    for name in [
        "google-benchmark-1.7.json",
        "hyperfine-1.15.json",
        "values.csv",
        "heap.dhat.json",
        "go-1.19.txt",
        "jmh-1.38.json",
    ] {
        let one = record_sample(name);
        let both = recorded(|writer| {
            let options = ImportOptions::default();
            let mut series = Series::new(writer, &options, &Silent);
            series.import(&sample(name))?;
            series.import(&sample(name))
        })
        .expect("a series");
        let count =
            |rows: &[MeasurementRow], is: fn(&MeasurementRow) -> bool| rows.iter().filter(|row| is(row)).count();
        let (one, both) = (one.rows(), both.rows());
        let is_metric = |row: &MeasurementRow| matches!(row, MeasurementRow::Metric { .. });
        let is_variant = |row: &MeasurementRow| matches!(row, MeasurementRow::Variant { .. });
        let is_run = |row: &MeasurementRow| matches!(row, MeasurementRow::Begin { .. });
        assert_eq!(count(&both, is_metric), count(&one, is_metric), "{name}");
        assert_eq!(count(&both, is_variant), count(&one, is_variant), "{name}");
        assert_eq!(count(&both, is_run), 2 * count(&one, is_run), "{name}");
    }
}

#[test]
fn values_can_be_read_without_a_recording() {
    let text = std::fs::read(sample("values.csv")).expect("a sample");
    let read = read_values(&text).expect("values");
    assert_eq!(read.values.len(), 9);
    let value = &read.values[7];
    assert_eq!((&*value.variant, &*value.metric, &*value.unit), ("sort a", "frame", "ns"));
    assert_eq!((value.run, value.iteration, value.seed, value.value), (0, Some(1), Some(102), 18.5));
    assert_eq!(read.values[1].seed, Some(18));
    assert!(read.values[4].exact && !value.exact);

    let text = std::fs::read(sample("hyperfine-1.15.json")).expect("a sample");
    let read = read_values(&text).expect("values");
    assert_eq!(read.values.iter().filter(|value| value.failed).count(), 16);
    assert_eq!(read.values[9].run, 1);

    let other = read_values(b"JAVA PROFILE 1.0.2\0").expect_err("a dump").to_string();
    assert_eq!(other, "JVM heap dump (HPROF); values of benchmarks can be read");
}
