//! The roots of a snapshot, from the bytes of its recording.

use barrow_format::codec::Decompressor;
use barrow_format::commit::Commit;
use barrow_format::frame::{Frame, SectionType};
use barrow_format::header::HEADER_BYTES;
use barrow_format::rows::{Chunk, Root};
use barrow_format::{FormatError, SnapshotId};

/// Hops along the frames to the snapshot's commit, and reads the roots it names. None if there is no
/// such snapshot.
pub(super) fn roots(file: &[u8], snapshot: SnapshotId) -> Result<Vec<Root>, FormatError> {
    let mut offset = HEADER_BYTES as u64;
    loop {
        let frame = Frame::parse(file, offset)?;
        match frame.header.section {
            SectionType::COMMIT => {
                let commit = Commit::parse(frame.body()?)?;
                if commit.snapshot == snapshot.0 {
                    return roots_of(file, &commit);
                }
            }
            SectionType::INDEX => return Ok(Vec::new()),
            _ => {}
        }
        offset = frame.end();
    }
}

fn roots_of(file: &[u8], commit: &Commit) -> Result<Vec<Root>, FormatError> {
    let mut roots = Vec::new();
    for &offset in &commit.roots {
        let frame = Frame::parse(file, offset)?;
        Chunk::parse(frame.directory()?, frame.body()?)?.for_each(&mut Decompressor::new(), |root: Root| {
            roots.push(root);
            Ok(())
        })?;
    }
    Ok(roots)
}
