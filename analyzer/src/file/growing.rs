//! A recording that is still being written: what is committed so far.
//!
//! ```text
//!   look ──▶ no file, no header ─────────────▶ nothing yet
//!     │      as long as before ──────────────▶ nothing new
//!     │      another name, other content ────▶ begin again
//!     ▼      an index at its end ────────────▶ finished
//!   go on from the first frame that was not whole
//! ```
//!
//! A look reads the frame headers, tables and commits that were appended since the last one; blocks are hopped over,
//! and nothing before is read again. A recording that a look returns shares the mapped file only: its tables are
//! loaded when a question asks for a name, as for any recording, so that costs their size once for each snapshot.
//!
//! The file is mapped while it is looked at, and as long as a recording of it lives. A writer only appends. Somebody
//! else who truncates the file at that very moment ends the process, as for every mapped file.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use barrow_format::frame::FRAME_HEADER_BYTES;
use barrow_format::header::{HEADER_BYTES, Header, MAGIC};

use crate::error::{AnalyzerError, Result};
use crate::file::bytes::Bytes;
use crate::file::contents::{Contents, Scan};
use crate::file::recording::Recording;

/// A recording that is still being written, or will be.
pub struct Growing {
    path: PathBuf,
    seen: Option<Seen>,
}

/// What was seen of a file.
struct Seen {
    uuid: [u8; 16],
    length: u64,
    scan: Scan,
    mark: Option<Mark>,
    finished: bool,
}

/// Bytes of the file that tell it from another with the same uuid: those of the last COMMIT name all frames before it.
struct Mark {
    offset: u64,
    bytes: [u8; MARK_BYTES],
}

/// A frame header, and the checksum that the body of a COMMIT begins with.
const MARK_BYTES: usize = FRAME_HEADER_BYTES + size_of::<u64>();

impl Mark {
    /// That of the last COMMIT that is known; before the first, of the last frame.
    fn of(file: &[u8], contents: &Contents, last_frame: Option<u64>) -> Option<Self> {
        let offset = contents.commits.iter().map(|&(_, offset)| offset).max().or(last_frame)?;
        let bytes = file.get(usize::try_from(offset).ok()?..)?.get(..MARK_BYTES)?.try_into().ok()?;
        Some(Mark { offset, bytes })
    }

    /// Whether the file still has these bytes.
    fn is_in(&self, file: &mut File) -> bool {
        let mut bytes = [0; MARK_BYTES];
        let read = file.seek(SeekFrom::Start(self.offset)).and_then(|_| file.read_exact(&mut bytes));
        read.is_ok() && bytes == self.bytes
    }
}

/// What a look at a growing recording found.
#[derive(Debug)]
pub enum Look {
    /// There is no file yet, or not even its header.
    Nothing,
    /// Nothing was committed since the last look.
    Same,
    /// There are more snapshots, or it was finished.
    Grown {
        /// The recording as far as it is committed. It counts as whole.
        recording: Arc<Recording>,
        /// Its writer finished it: no more will come.
        finished: bool,
        /// It is not the recording of the last look, or was cut: numbers of snapshots begin again.
        replaced: bool,
    },
}

impl Growing {
    /// A recording that is or will be at `path`. Nothing is read yet.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Growing { path: path.to_owned(), seen: None }
    }

    /// Looks what is there now.
    ///
    /// # Errors
    /// [`AnalyzerError::Io`]; [`AnalyzerError::Unreadable`] if it is no recording or a newer one.
    pub fn look(&mut self) -> Result<Look> {
        let Some((mut file, length, header)) = self.open()? else { return Ok(Look::Nothing) };
        let known = self.seen.take_if(|seen| {
            seen.uuid == header.uuid
                && seen.scan.offset <= length
                && seen.mark.as_ref().is_none_or(|mark| mark.is_in(&mut file))
        });
        let replaced = self.seen.take().is_some();
        if let Some(seen) = known {
            if seen.length == length || seen.finished {
                self.seen = Some(seen);
                return Ok(Look::Same);
            }
            return self.go_on(seen, &file, header, false);
        }
        let seen = Seen { uuid: header.uuid, length: 0, scan: Scan::new(), mark: None, finished: false };
        self.go_on(seen, &file, header, replaced)
    }

    /// The file with its length and header, if it has one.
    fn open(&self) -> Result<Option<(File, u64, Header)>> {
        let io = AnalyzerError::io(&self.path, "open");
        let mut file = match File::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file.map_err(io)?,
        };
        let io = AnalyzerError::io(&self.path, "read");
        let length = file.metadata().map_err(AnalyzerError::io(&self.path, "read"))?.len();
        let mut first = Vec::new();
        (&mut file).take(HEADER_BYTES as u64).read_to_end(&mut first).map_err(io)?;
        // What is there may become a header; or it never will, and parsing says so.
        if first.len() < HEADER_BYTES && MAGIC.starts_with(&first[..first.len().min(MAGIC.len())]) {
            return Ok(None);
        }
        let header = Header::parse(&first).map_err(AnalyzerError::Unreadable)?;
        Ok(Some((file, length, header)))
    }

    fn go_on(&mut self, mut seen: Seen, file: &File, header: Header, replaced: bool) -> Result<Look> {
        let bytes = Arc::new(Bytes::of(file, &self.path)?);
        let before = seen.scan.contents.commits.len();
        // What its index lists was committed, wherever the scan stands.
        let contents = match Contents::of_finished(&bytes).map_err(AnalyzerError::Unreadable)? {
            Some(contents) => {
                seen.finished = true;
                contents
            }
            None => {
                seen.scan.whole_frames(&bytes).map_err(AnalyzerError::Unreadable)?;
                let mut contents = seen.scan.contents.clone();
                contents.sort();
                contents
            }
        };
        seen.length = bytes.len() as u64;
        seen.mark = Mark::of(&bytes, &contents, seen.scan.last_frame);
        let finished = seen.finished;
        self.seen = Some(seen);
        if contents.commits.len() == before && !finished && !replaced {
            return Ok(Look::Same);
        }
        let recording = Recording::with_contents(Some(self.path.clone()), bytes, header, contents);
        Ok(Look::Grown { recording: Arc::new(recording), finished, replaced })
    }
}
