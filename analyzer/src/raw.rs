//! Access for programs that rewrite recordings: loaded snapshots, matching across snapshots, and the frames of a file.
//!
//! `barrow-rewrite` is that program. Questions about a recording need nothing of this module. The frames and their
//! columns are those of `barrow_format`.

use barrow_format::SnapshotId;
use barrow_format::commit::Commit;
use barrow_format::frame::{Frame, SectionType};

use crate::error::{AnalyzerError, Result};
use crate::file::recording::Recording;
use crate::file::tables::Tables;

pub use crate::columns::temporary::temporary;
pub use crate::file::contents::is_table;
pub use crate::series::identity::{MATCHED, PAIRED_KEY, SERIALS_FACT};
pub use crate::series::loaded_snapshot::{Continuation, LoadedSnapshot, NO_OBJECT, ObjectColumns};
pub use crate::series::matching::{Side, match_serials, match_structure, pairing};
pub use crate::series::serials::Serials;

/// The frames of a recording, as they are in its file.
#[derive(Debug, Clone, Copy)]
pub struct Frames<'r> {
    recording: &'r Recording,
}

impl<'r> Frames<'r> {
    /// The frames of this recording.
    #[must_use]
    pub fn of(recording: &'r Recording) -> Self {
        Frames { recording }
    }

    /// All bytes of the file.
    #[must_use]
    pub fn bytes(self) -> &'r [u8] {
        self.recording.bytes()
    }

    /// The chunks of the tables that all snapshots share, in file order: their types and offsets.
    #[must_use]
    pub fn tables(self) -> &'r [(SectionType, u64)] {
        &self.recording.contents().chunks
    }

    /// The commit of a snapshot.
    ///
    /// # Errors
    /// [`AnalyzerError::NoSnapshot`], [`AnalyzerError::Section`].
    pub fn commit(self, snapshot: SnapshotId) -> Result<&'r Commit> {
        self.recording.commit(snapshot)
    }

    /// The offset of a snapshot's COMMIT frame.
    ///
    /// # Errors
    /// [`AnalyzerError::NoSnapshot`].
    pub fn commit_offset(self, snapshot: SnapshotId) -> Result<u64> {
        self.recording.commit_offset(snapshot)
    }

    /// The frame at `offset`. Its section type, and its snapshot if given, must match.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`].
    pub fn frame(self, section: SectionType, snapshot: Option<SnapshotId>, offset: u64) -> Result<Frame<'r>> {
        self.recording.frame(section, snapshot, offset)
    }

    /// The first problem of the tables that all snapshots share, if they have any. All of them are decoded.
    #[must_use]
    pub fn table_problem(self) -> Option<AnalyzerError> {
        match self.decoded_tables() {
            Ok(tables) => tables.string_problems().into_iter().next(),
            Err(error) => Some(error),
        }
    }

    fn decoded_tables(self) -> Result<&'r Tables> {
        let recording = self.recording;
        recording.sites()?;
        recording.fields()?;
        recording.words()?;
        recording.process_rows(|_| Ok(()))?;
        recording.measurement_rows(|_| Ok(()))?;
        recording.tables()
    }

    /// The same file, opened without its index: every frame is searched for. `reason` says why, and becomes a part of
    /// [`Recording::damage`].
    ///
    /// # Errors
    /// [`AnalyzerError::Unreadable`].
    pub fn rescanned(self, reason: String) -> Result<Recording> {
        self.recording.rescanned(reason)
    }
}
