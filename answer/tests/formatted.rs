//! Values as people read them, in a file that the tests of the page read too: both write the same. `BLESS=1` writes it anew.

use std::path::Path;

use barrow_answer::measured::{Measured, TimeUnit, difference, measured};
use barrow_answer::text::text;
use barrow_answer::{Absence, Column, Unit, Value, record};
use serde_json::json;

/// Values at the ends of their ranges, at halves, which are rounded to the even digit, and of all kinds.
fn cases() -> Vec<(Value, Unit)> {
    let mut cases = Vec::new();
    let numbers = [0, 1, 999, 1000, 1023, 1024, 1234, 1280, 1536, 12_900_000, (1 << 20) - 1, 3 << 40, (1 << 53) + 2];
    for number in numbers.into_iter().chain([1 << 60, u64::MAX]) {
        for unit in [Unit::Number, Unit::Count, Unit::Bytes, Unit::Object, Unit::Address, Unit::Duration] {
            cases.push((Value::Number(number), unit));
        }
    }
    let times = [50, 99_949, 99_950, 99_999, 100_000, 1_255_000, 9_999_999, 10_000_000, 125_000_000, 3_600_000_000_000];
    cases.extend(times.map(|ns| (Value::Number(ns), Unit::Duration)));
    for number in [0, 1504, 1280, u64::MAX] {
        cases.extend([Unit::Count, Unit::Bytes, Unit::Duration].map(|unit| (Value::Estimate(number), unit)));
    }
    for number in [0, 1, -1, 1234, -1234, -2048, 1280, i64::MIN, i64::MAX] {
        cases.extend([Unit::Count, Unit::Bytes].map(|unit| (Value::Change(number), unit)));
        cases.push((Value::Signed(number.into()), Unit::Number));
    }
    for share in [0.0, 0.0005, 0.0015, 0.0625, 0.123, 0.999_49, 0.9995, 1.0] {
        cases.extend([Value::Share(share), Value::EstimatedShare(share)].map(|value| (value, Unit::Share)));
    }
    for rate in [0.0, 3.0, -0.25, 0.001, -0.001, 0.125, 0.375, 9.995, 1536.4, -2048.0, 1280.0, 1e-6, 1e-5, -7.0] {
        cases.extend([Unit::Bytes, Unit::Count].map(|unit| (Value::Rate(rate), unit)));
    }
    let amounts =
        [0.0, 2e-10, 0.000_5, 0.25, 0.999_94, 0.999_95, 0.999_99, 1.0, 9.999_5, 17.5314, 100.5, 999.95, 1023.5];
    let more = [1024.5, 1500.0, 12_344.5, 12_345.678, 140_725.0, 1_234_567.0, 2.5e9, 8_875_584.0, 1e14, 1e15, 1e300];
    for amount in amounts.into_iter().chain(more) {
        for unit in ["ns", "bytes", "", "MB/s", "\u{202e}s"] {
            cases.push((measured(amount, unit), Unit::Number));
        }
        cases.extend(["ns", "bytes"].map(|unit| (difference(-amount, unit), Unit::Number)));
        cases.push((difference(amount, ""), Unit::Number));
    }
    for time_unit in [TimeUnit::Nanosecond, TimeUnit::Microsecond, TimeUnit::Millisecond, TimeUnit::Second] {
        for (value, is_difference) in [(1_234_567.0, false), (1_234_567.0, true), (-1_234_567.0, true), (0.0, true)] {
            let time_unit = Some(time_unit);
            let measured = Measured { value, unit: "ns".into(), is_difference, time_unit };
            cases.push((Value::Measured(measured), Unit::Number));
        }
    }
    for (value, decimals) in [(0.0, 3), (0.0625, 3), (0.000_04, 3), (2.125, 2), (2.375, 2), (-1.0, 2), (1e9, 2)] {
        cases.push((Value::Decimal { value, decimals }, Unit::Number));
    }
    cases.push((Value::Name("a\tb\nc".to_owned()), Unit::Text));
    // A terminal writes line ends in texts as blanks, and the page as `\n`.
    let texts = ["", "plain", "\u{1b}[31m", "\u{202e}txt.exe", "it's \"so\" \\", "Größe 日本語 🦀"];
    for one in texts {
        cases.push((Value::text(one), Unit::Text));
        cases.push((Value::Name(one.to_owned()), Unit::Text));
    }
    cases.extend([
        (Value::None, Unit::Bytes),
        (Value::Flag(true), Unit::Text),
        (Value::Flag(false), Unit::Text),
        (Value::Truth(true), Unit::Number),
        (Value::Truth(false), Unit::Number),
        (Value::Absent(Absence::Missing), Unit::Number),
        (Value::Absent(Absence::Unknown), Unit::Number),
        (Value::Absent(Absence::Null), Unit::Number),
        (Value::Absent(Absence::Undefined), Unit::Number),
        (Value::Absent(Absence::NoField), Unit::Number),
        (Value::Object { id: 12, text: "@12 java.util.HashMap".to_owned() }, Unit::Text),
        (Value::Path(vec!["[thread]".to_owned(), "Node\u{202e}".to_owned()]), Unit::Text),
        (Value::Path("[root] A B C A B C A B C Leak".split(' ').map(str::to_owned).collect()), Unit::Text),
        (Value::List(vec![Value::Number(1024), Value::Estimate(2048)]), Unit::Bytes),
    ]);
    let record = record! {
        Column::text("type") => "Order",
        Column::object("object") => 7_u64,
        Column::bytes("shallow_bytes") => 2048_u64,
        Column::duration("cpu_time_ns") => 1_500_000_u64,
        Column::count("retained_objects") => 1234_u64,
        Column::number("serial") => 1234_u64,
    };
    cases.push((record, Unit::Nested));
    cases
}

#[test]
fn values_are_written_as_the_page_writes_them() {
    let lines: Vec<String> = cases()
        .iter()
        .map(|(value, unit)| json!({ "text": text(value, *unit), "unit": unit, "value": value }).to_string())
        .collect();
    let found = format!("[\n{}\n]\n", lines.join(",\n"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formatted.json");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(found, expected, "BLESS=1 writes the file anew");
}
