//! The units of the numbers of an assertion.

use crate::answer::{Unit, measured, units};

/// The unit of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Figure {
    /// Things with this name in the plural.
    Count(&'static str),
    /// Leak suspects, of which there may be none.
    Suspects,
    Bytes,
    /// Nanoseconds.
    Time,
    ObjectsPerSnapshot,
    BytesPerSnapshot,
    /// Values of a metric: `ns`, `bytes`, or empty for any other unit.
    Measured(&'static str),
    /// A fraction.
    Share,
}

impl Figure {
    /// The unit of the values of a metric in `unit`.
    pub(super) fn of_metric(unit: &str) -> Self {
        Figure::Measured(match unit {
            "ns" => "ns",
            "bytes" => "bytes",
            _ => "",
        })
    }

    /// Its name, for machines.
    pub(super) fn name(self) -> &'static str {
        match self {
            Figure::Count(name) | Figure::Measured(name) => name,
            Figure::Suspects => "suspects",
            Figure::Bytes => "bytes",
            Figure::Time => "ns",
            Figure::ObjectsPerSnapshot => "objects per snapshot",
            Figure::BytesPerSnapshot => "bytes per snapshot",
            Figure::Share => "share",
        }
    }

    /// The unit of numbers without what they are counted by.
    pub(super) fn unit(self) -> Unit {
        match self {
            Figure::Count(_) | Figure::Suspects | Figure::ObjectsPerSnapshot => Unit::Count,
            Figure::Bytes | Figure::BytesPerSnapshot => Unit::Bytes,
            Figure::Time => Unit::Duration,
            Figure::Measured(_) => Unit::Number,
            Figure::Share => Unit::Share,
        }
    }

    /// A number for people. Numbers of heaps and processes are rounded like those of tables about them.
    pub(super) fn text(self, value: f64) -> String {
        let magnitude = value.abs();
        let text = match self {
            Figure::Measured(unit) => return measured::text(value, unit),
            Figure::Share => return format!("{:.1} %", value * 100.0),
            Figure::Bytes | Figure::BytesPerSnapshot => units::size(magnitude.round() as u64),
            Figure::Time => units::duration(magnitude.round() as u64),
            _ if magnitude.fract() == 0.0 => units::grouped(magnitude as u64),
            _ => format!("{magnitude:.1}"),
        };
        let sign = if value < 0.0 { "-" } else { "" };
        match self {
            Figure::ObjectsPerSnapshot => format!("{sign}{text} objects/snapshot"),
            Figure::BytesPerSnapshot => format!("{sign}{text}/snapshot"),
            _ => format!("{sign}{text}"),
        }
    }
}
