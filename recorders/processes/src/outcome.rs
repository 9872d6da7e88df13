//! What a recording came to.

use barrow_writer::WriterError;

/// How the command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// With this exit status.
    Status(u8),
    /// By this signal.
    Signal(u64),
}

/// What a recording came to.
#[derive(Debug)]
pub struct Outcome {
    /// How the command ended.
    pub ended: Ended,
    /// What was not recorded, one sentence each.
    pub notes: Vec<String>,
    /// Why the recording is not whole.
    pub failure: Option<WriterError>,
}

impl Ended {
    /// What `wait` says.
    pub(crate) fn of(status: i32) -> Self {
        match status & 0x7f {
            0 => Ended::Status(((status >> 8) & 0xff) as u8),
            signal => Ended::Signal(u64::from(signal.unsigned_abs())),
        }
    }
}

/// Says which programs did not get rights.
pub(crate) fn without_rights(programs: &[String]) -> Option<String> {
    let mut names = programs.to_vec();
    names.sort_unstable();
    names.dedup();
    (!names.is_empty()).then(|| {
        format!("ran without the rights of its owner, which only root can record it with: {}", names.join(", "))
    })
}
