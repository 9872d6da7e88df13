//! A recording that is still being written, up to its last commit.
//!
//! ```text
//!   look ──▶ no file, no header ─────────────▶ nothing yet
//!     │      same length as before ──────────▶ nothing new
//!     │      other uuid or content ──────────▶ start again
//!     ▼      an index at its end ────────────▶ finished
//!   continue at the first frame that was not complete
//! ```
//!
//! A look reads the frame headers, tables and commits that were appended since the last look. It skips blocks and reads
//! nothing twice. The recording that a look returns shares only the mapped file. Its tables are loaded when a question
//! needs a name, as for any recording, so they are loaded once for each snapshot.
//!
//! The file stays mapped during a look, and as long as a recording of it is alive. A writer only appends. If another
//! program truncates the file at that moment, this process ends, as with any mapped file.

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

/// A recording that is being written or will be.
pub struct Growing {
    path: PathBuf,
    seen: Option<Seen>,
}

/// The state of a file at the last look.
struct Seen {
    uuid: [u8; 16],
    length: u64,
    scan: Scan,
    mark: Option<Mark>,
    finished: bool,
}

/// Bytes that distinguish the file from another with the same uuid. The header and checksum of the last COMMIT identify
/// all frames before it.
struct Mark {
    offset: u64,
    bytes: [u8; MARK_BYTES],
}

/// A frame header and the checksum at the start of a COMMIT's body.
const MARK_BYTES: usize = FRAME_HEADER_BYTES + size_of::<u64>();

impl Mark {
    /// The mark at the last known COMMIT; before the first commit, at the last frame.
    fn of(file: &[u8], contents: &Contents, last_frame: Option<u64>) -> Option<Self> {
        let offset = contents.commits.iter().map(|&(_, offset)| offset).max().or(last_frame)?;
        let bytes = file.get(usize::try_from(offset).ok()?..)?.get(..MARK_BYTES)?.try_into().ok()?;
        Some(Mark { offset, bytes })
    }

    /// Returns whether the file still has these bytes at the same offset.
    fn is_in(&self, file: &mut File) -> bool {
        let mut bytes = [0; MARK_BYTES];
        let read = file.seek(SeekFrom::Start(self.offset)).and_then(|_| file.read_exact(&mut bytes));
        read.is_ok() && bytes == self.bytes
    }
}

/// The result of a look at a growing recording.
#[derive(Debug)]
pub enum Look {
    /// There is no file yet, or its header is incomplete.
    Nothing,
    /// Nothing was committed since the last look.
    Same,
    /// There are more snapshots, or the recording was finished.
    Grown {
        /// The recording up to its last commit. It counts as complete.
        recording: Arc<Recording>,
        /// Its writer finished it, so that no more snapshots will come.
        finished: bool,
        /// The file was replaced or truncated since the last look, so that snapshot numbers start again.
        replaced: bool,
    },
}

impl Growing {
    /// A recording at `path`, which need not exist yet. Nothing is read yet.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Growing { path: path.to_owned(), seen: None }
    }

    /// Reads the frames that were appended since the last look.
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

    /// Opens the file. Returns it with its length and header; `None` if it has no complete header yet.
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
        // A prefix of the magic bytes may still become a header. For other bytes parsing returns the error.
        if first.len() < HEADER_BYTES && MAGIC.starts_with(&first[..first.len().min(MAGIC.len())]) {
            return Ok(None);
        }
        let header = Header::parse(&first).map_err(AnalyzerError::Unreadable)?;
        Ok(Some((file, length, header)))
    }

    fn go_on(&mut self, mut seen: Seen, file: &File, header: Header, replaced: bool) -> Result<Look> {
        let bytes = Arc::new(Bytes::of(file, &self.path)?);
        let before = seen.scan.contents.commits.len();
        // A finished file has an index, which lists all commits.
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
