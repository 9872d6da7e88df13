//! What the figures of an assertion count, and how they read.

use crate::answer::{measured, units};

/// What a figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Figure {
    Objects,
    Bytes,
    ObjectsPerSnapshot,
    BytesPerSnapshot,
    Suspects,
    /// Programs that processes executed.
    Programs,
    Processes,
    /// Nanoseconds.
    Time,
    /// Runs of a program.
    Runs,
    /// Clusters of values.
    Modes,
    /// Values of a metric.
    Measured(MeasuredUnit),
    /// A part of a whole.
    Share,
}

/// The unit of a metric, as far as figures depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MeasuredUnit {
    /// Nanoseconds.
    Time,
    Bytes,
    /// Any other unit, or none.
    Other,
}

impl MeasuredUnit {
    /// The unit of this name.
    pub(super) fn of(name: &str) -> Self {
        match name {
            "ns" => MeasuredUnit::Time,
            "bytes" => MeasuredUnit::Bytes,
            _ => MeasuredUnit::Other,
        }
    }

    fn name(self) -> &'static str {
        match self {
            MeasuredUnit::Time => "ns",
            MeasuredUnit::Bytes => "bytes",
            MeasuredUnit::Other => "",
        }
    }
}

impl Figure {
    /// What it counts, for machines.
    pub(super) fn name(self) -> &'static str {
        match self {
            Figure::Objects => "objects",
            Figure::Bytes => "bytes",
            Figure::ObjectsPerSnapshot => "objects per snapshot",
            Figure::BytesPerSnapshot => "bytes per snapshot",
            Figure::Suspects => "suspects",
            Figure::Programs => "programs",
            Figure::Processes => "processes",
            Figure::Time => "ns",
            Figure::Runs => "runs",
            Figure::Modes => "modes",
            Figure::Measured(unit) => unit.name(),
            Figure::Share => "share",
        }
    }

    /// What grows.
    pub(super) fn per_snapshot(self) -> Self {
        match self {
            Figure::ObjectsPerSnapshot => Figure::Objects,
            Figure::BytesPerSnapshot => Figure::Bytes,
            other => other,
        }
    }

    /// A figure as people read it.
    pub(super) fn text(self, value: f64) -> String {
        match self {
            Figure::Measured(unit) => return measured::text(value, unit.name()),
            Figure::Share => return format!("{:.1} %", value * 100.0),
            _ => {}
        }
        let magnitude = value.abs();
        let text = match self {
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
