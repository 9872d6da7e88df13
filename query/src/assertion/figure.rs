//! What the figures of an assertion count, and how they read.

use crate::answer::units;

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
