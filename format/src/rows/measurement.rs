//! Measurements: runs of programs and the values measured in them, as rows that are appended as they become known.
//!
//! ```text
//!   METRIC 0 (wall, ns)   VARIANT 0 (sort)   BEGIN 0   KNOBS 0 (heap_offset 4,064)   VALUE 0 of run 0: 1.25e6   END 0
//! ```
//!
//! Metrics, variants and runs are numbered from 0 in the order of their rows. A run without an END row was not finished
//! when the recording ended, or its end is not known because its values were imported.

use byteorder::{ByteOrder, LittleEndian};

use super::{Row, pairs, put_pairs};
use crate::error::{FormatError, Result};
use crate::fields::{Fields, put_optional, put_varint};
use crate::frame::SectionType;
use crate::ids::{MetricId, RunId, StringId, VariantId};
use crate::varint::{unzigzag, zigzag};

/// The kinds of rows.
mod kind {
    pub(super) const METRIC: u64 = 0;
    pub(super) const VARIANT: u64 = 1;
    pub(super) const BEGIN: u64 = 2;
    pub(super) const KNOBS: u64 = 3;
    pub(super) const VALUE: u64 = 4;
    pub(super) const END: u64 = 5;
}

/// The direction of better values of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Better {
    /// Not known.
    #[default]
    Unknown,
    /// The smaller ones.
    Lower,
    /// The larger ones.
    Higher,
}

/// A fact about measurements. Times are in nanoseconds since the recording began.
#[derive(Debug, Clone, PartialEq)]
pub enum MeasurementRow {
    /// A metric.
    Metric {
        /// The metric: the number of metrics before it.
        metric: MetricId,
        /// Its name.
        name: StringId,
        /// Its unit: `ns`, `bytes`, another text, or nothing for counts.
        unit: StringId,
        /// The direction of better values.
        better: Better,
        /// The same program under the same layout has the same value.
        is_exact: bool,
    },
    /// A measured program; a trial compares several.
    Variant {
        /// The variant: the number of variants before it.
        variant: VariantId,
        /// Its name.
        name: StringId,
        /// The working directory.
        directory: Option<StringId>,
        /// The command, word by word; empty if unknown.
        command: Vec<StringId>,
        /// Other facts about it: keys and values.
        attributes: Vec<(StringId, StringId)>,
    },
    /// A run began.
    Begin {
        /// The run: the number of runs before it.
        run: RunId,
        /// The program.
        variant: VariantId,
        /// Time of the start.
        time_ns: i64,
        /// The seed of its layout.
        seed: Option<u64>,
        /// The run prepares the measurement: its values do not count.
        is_warmup: bool,
    },
    /// The layout of a run, or of one of its iterations.
    Knobs {
        /// The run.
        run: RunId,
        /// The iteration; `None` for the run as a whole.
        iteration: Option<u64>,
        /// Names and values of the knobs that were applied.
        knobs: Vec<(StringId, StringId)>,
    },
    /// A measured value.
    Value {
        /// The metric.
        metric: MetricId,
        /// The run.
        run: RunId,
        /// The iteration of the run; `None` for the run as a whole.
        iteration: Option<u64>,
        /// The seed of the iteration's layout, if it has one of its own.
        seed: Option<u64>,
        /// Time of the measurement.
        time_ns: Option<i64>,
        /// The value, a finite number.
        value: f64,
    },
    /// A run ended.
    End {
        /// The run.
        run: RunId,
        /// Time of the end.
        time_ns: i64,
        /// Its exit status, unless a signal ended it.
        exit_status: Option<u64>,
        /// The signal that ended it.
        signal: Option<u64>,
        /// The reason why it counts as failed; its values are then not those of the program.
        failure: Option<Failure>,
    },
    /// A row of a kind that this version does not know.
    Unknown,
}

/// The failure of a run, and its last output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    /// It ran longer than permitted and was killed.
    pub timed_out: bool,
    /// The end of its output.
    pub output: Option<StringId>,
}

impl Row for MeasurementRow {
    const SECTION: SectionType = SectionType::MEASUREMENTS;
    const NAME: &'static str = "measurement";
    const HAS_LENGTH: bool = true;

    fn put(&self, out: &mut Vec<u8>) {
        match self {
            MeasurementRow::Metric { metric, name, unit, better, is_exact } => {
                let better = match better {
                    Better::Unknown => 0,
                    Better::Lower => 1,
                    Better::Higher => 2,
                };
                let fields = [kind::METRIC, metric.0.into(), name.0.into(), unit.0.into(), better, (*is_exact).into()];
                fields.into_iter().for_each(|field| put_varint(out, field));
            }
            MeasurementRow::Variant { variant, name, directory, command, attributes } => {
                let fields = [kind::VARIANT, variant.0.into(), name.0.into()];
                fields.into_iter().for_each(|field| put_varint(out, field));
                put_optional(out, directory.map(|directory| directory.0.into()));
                put_varint(out, command.len() as u64);
                command.iter().for_each(|word| put_varint(out, word.0.into()));
                put_pairs(out, attributes);
            }
            MeasurementRow::Begin { run, variant, time_ns, seed, is_warmup } => {
                let fields = [kind::BEGIN, run.0.into(), variant.0.into(), zigzag(*time_ns), (*is_warmup).into()];
                fields.into_iter().for_each(|field| put_varint(out, field));
                put_seed(out, *seed);
            }
            MeasurementRow::Knobs { run, iteration, knobs } => {
                put_varint(out, kind::KNOBS);
                put_varint(out, run.0.into());
                put_optional(out, *iteration);
                put_pairs(out, knobs);
            }
            MeasurementRow::Value { metric, run, iteration, seed, time_ns, value } => {
                let fields = [kind::VALUE, metric.0.into(), run.0.into()];
                fields.into_iter().for_each(|field| put_varint(out, field));
                put_optional(out, *iteration);
                put_seed(out, *seed);
                put_varint(out, time_ns.is_some().into());
                put_varint(out, zigzag(time_ns.unwrap_or_default()));
                out.extend_from_slice(&value.to_le_bytes());
            }
            MeasurementRow::End { run, time_ns, exit_status, signal, failure } => {
                let fields = [kind::END, run.0.into(), zigzag(*time_ns)];
                fields.into_iter().for_each(|field| put_varint(out, field));
                put_optional(out, *exit_status);
                put_optional(out, *signal);
                put_varint(out, failure.map_or(0, |failure| if failure.timed_out { 2 } else { 1 }));
                put_optional(out, failure.and_then(|failure| failure.output).map(|output| output.0.into()));
            }
            // An unknown row: its number counts.
            MeasurementRow::Unknown => put_varint(out, u64::MAX),
        }
    }

    fn read(fields: &mut Fields<'_>, _id: u64) -> Result<Self> {
        Ok(match fields.varint()? {
            kind::METRIC => {
                let (metric, name) = (MetricId(fields.varint_u32()?), StringId(fields.varint_u32()?));
                let unit = StringId(fields.varint_u32()?);
                let better = match choice(fields, "direction of a metric", 2)? {
                    1 => Better::Lower,
                    2 => Better::Higher,
                    _ => Better::Unknown,
                };
                MeasurementRow::Metric { metric, name, unit, better, is_exact: flag(fields)? }
            }
            kind::VARIANT => {
                let (variant, name) = (VariantId(fields.varint_u32()?), StringId(fields.varint_u32()?));
                let directory = fields.optional_u32()?.map(StringId);
                let count = fields.count()?;
                let command = (0..count).map(|_| fields.varint_u32().map(StringId)).collect::<Result<_>>()?;
                MeasurementRow::Variant { variant, name, directory, command, attributes: pairs(fields)? }
            }
            kind::BEGIN => {
                let (run, variant) = (RunId(fields.varint_u32()?), VariantId(fields.varint_u32()?));
                let time_ns = unzigzag(fields.varint()?);
                let is_warmup = flag(fields)?;
                MeasurementRow::Begin { run, variant, time_ns, seed: seed(fields)?, is_warmup }
            }
            kind::KNOBS => {
                let run = RunId(fields.varint_u32()?);
                MeasurementRow::Knobs { run, iteration: fields.optional()?, knobs: pairs(fields)? }
            }
            kind::VALUE => {
                let (metric, run) = (MetricId(fields.varint_u32()?), RunId(fields.varint_u32()?));
                let (iteration, seed) = (fields.optional()?, seed(fields)?);
                let (has_time, time_ns) = (flag(fields)?, unzigzag(fields.varint()?));
                let value = number(fields)?;
                let time_ns = has_time.then_some(time_ns);
                MeasurementRow::Value { metric, run, iteration, seed, time_ns, value }
            }
            kind::END => {
                let (run, time_ns) = (RunId(fields.varint_u32()?), unzigzag(fields.varint()?));
                let (exit_status, signal) = (fields.optional()?, fields.optional()?);
                let failed = choice(fields, "failure of a run", 2)?;
                let output = fields.optional_u32()?.map(StringId);
                let failure = (failed > 0).then_some(Failure { timed_out: failed == 2, output });
                MeasurementRow::End { run, time_ns, exit_status, signal, failure }
            }
            _ => {
                fields.bytes(fields.rest().len() as u64)?;
                MeasurementRow::Unknown
            }
        })
    }
}

/// A seed may be any number, so it has no spare value for "none".
fn put_seed(out: &mut Vec<u8>, seed: Option<u64>) {
    put_varint(out, seed.is_some().into());
    if let Some(seed) = seed {
        out.extend_from_slice(&seed.to_le_bytes());
    }
}

fn seed(fields: &mut Fields<'_>) -> Result<Option<u64>> {
    if flag(fields)? { fields.u64().map(Some) } else { Ok(None) }
}

fn flag(fields: &mut Fields<'_>) -> Result<bool> {
    Ok(choice(fields, "flag of a measurement", 1)? == 1)
}

fn choice(fields: &mut Fields<'_>, what: &'static str, limit: u64) -> Result<u64> {
    let value = fields.varint()?;
    if value <= limit { Ok(value) } else { Err(FormatError::OutOfRange { what, value, limit }) }
}

/// A finite number.
fn number(fields: &mut Fields<'_>) -> Result<f64> {
    let value = LittleEndian::read_f64(fields.bytes(8)?);
    if value.is_finite() { Ok(value) } else { Err(FormatError::NotFinite { what: "measured value" }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::{Compression, Compressor, Decompressor};
    use crate::rows::{Chunk, encode_chunk};

    fn read(directory: &[u8], body: &[u8]) -> Result<Vec<MeasurementRow>> {
        let mut rows = Vec::new();
        Chunk::parse(directory, body)?.for_each(&mut Decompressor::new(), |row| {
            rows.push(row);
            Ok(())
        })?;
        Ok(rows)
    }

    fn rows() -> Vec<MeasurementRow> {
        let text = StringId;
        let (metric, variant, run) = (MetricId(0), VariantId(0), RunId(0));
        let value =
            |iteration, seed, time_ns, value| MeasurementRow::Value { metric, run, iteration, seed, time_ns, value };
        let end = |exit_status, signal, failure| MeasurementRow::End { run, time_ns: 9, exit_status, signal, failure };
        vec![
            MeasurementRow::Metric { metric, name: text(1), unit: text(0), better: Better::Higher, is_exact: true },
            MeasurementRow::Metric {
                metric: MetricId(1),
                name: text(u32::MAX),
                unit: text(0),
                better: Better::Unknown,
                is_exact: false,
            },
            MeasurementRow::Variant {
                variant,
                name: text(2),
                directory: Some(text(5)),
                command: vec![text(3), text(3)],
                attributes: vec![(text(1), text(2))],
            },
            MeasurementRow::Begin { run, variant, time_ns: i64::MIN, seed: Some(u64::MAX), is_warmup: true },
            MeasurementRow::Begin { run: RunId(1), variant, time_ns: i64::MAX, seed: None, is_warmup: false },
            MeasurementRow::Knobs { run, iteration: None, knobs: vec![(text(8), text(9)); 3] },
            MeasurementRow::Knobs { run, iteration: Some(3), knobs: Vec::new() },
            value(None, None, None, -0.0),
            value(Some(0), Some(0), Some(-1), f64::MAX),
            value(Some(7), None, Some(i64::MAX), f64::MIN_POSITIVE / 4.0),
            end(Some(0), None, None),
            end(None, Some(9), Some(Failure { timed_out: true, output: Some(text(4)) })),
            end(Some(1), None, Some(Failure { timed_out: false, output: None })),
            MeasurementRow::Unknown,
        ]
    }

    #[test]
    fn measurements_are_read_back() {
        let rows = rows();
        for compression in [Compression::None, Compression::Zstd(1)] {
            let mut compressor = Compressor::new(compression).unwrap();
            for count in 0..=rows.len() {
                let (directory, body) = encode_chunk(5, &rows[..count], &mut compressor).unwrap();
                assert_eq!(read(&directory, &body).unwrap(), rows[..count]);
            }
        }
    }

    #[test]
    fn the_bytes_of_rows() {
        let rows = [
            MeasurementRow::Metric {
                metric: MetricId(0),
                name: StringId(7),
                unit: StringId(8),
                better: Better::Lower,
                is_exact: false,
            },
            MeasurementRow::Begin {
                run: RunId(3),
                variant: VariantId(1),
                time_ns: -1,
                seed: Some(0x0102),
                is_warmup: false,
            },
            MeasurementRow::Value {
                metric: MetricId(0),
                run: RunId(3),
                iteration: Some(4),
                seed: None,
                time_ns: Some(2),
                value: 1.0,
            },
        ];
        let mut compressor = Compressor::new(Compression::None).unwrap();
        let (_, body) = encode_chunk(0, &rows, &mut compressor).unwrap();
        let expected = [
            6, // bytes of the row
            0, 0, 7, 8, 1, 0, // metric 0, name, unit, smaller is better, not exact
            14, 2, 3, 1, 1, 0, // begin of run 3, variant 1, time -1, no warm-up
            1, 2, 1, 0, 0, 0, 0, 0, 0, // its seed
            15, 4, 0, 3, 5, 0, // value of metric 0 in run 3, iteration 4, no seed of its own
            1, 4, // time 2
            0, 0, 0, 0, 0, 0, 0xf0, 0x3f, // 1.0
        ];
        assert_eq!(body, expected);
    }

    #[test]
    fn rows_of_kinds_to_come_count() {
        let mut body = vec![3, 99, 1, 2];
        let mut row = Vec::new();
        let end = MeasurementRow::End { run: RunId(0), time_ns: 0, exit_status: None, signal: None, failure: None };
        end.put(&mut row);
        // With a field at its end that this version does not know.
        put_varint(&mut body, row.len() as u64 + 1);
        body.extend(row);
        body.push(0xff);
        let mut directory = Vec::new();
        for value in [0, body.len() as u64, 0, 2, 1] {
            put_varint(&mut directory, value);
        }
        assert_eq!(read(&directory, &body).unwrap(), [MeasurementRow::Unknown, end]);
    }

    #[test]
    fn what_is_no_measurement_is_refused() {
        let infinite = |value: f64| [&[15, 4, 0, 0, 0, 0, 0, 0][..], &value.to_le_bytes()].concat();
        let bodies: [&[u8]; 7] = [
            &[1, 2],
            &[6, 0, 0, 7, 8, 3, 0],
            &[6, 0, 0, 7, 8, 1, 2],
            &[4, 3, 0, 0, 9],
            &[6, 2, 0, 0, 0, 0, 1],
            &infinite(f64::NAN),
            &infinite(f64::INFINITY),
        ];
        for body in bodies {
            let mut directory = Vec::new();
            for value in [0, body.len() as u64, 0, 1, 1] {
                put_varint(&mut directory, value);
            }
            assert!(read(&directory, body).is_err(), "{body:?}");
        }
    }
}
