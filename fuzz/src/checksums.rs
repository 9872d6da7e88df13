//! Corrects the checksums of a damaged recording, so that readers get beyond them.

use barrow_format::chain::Chain;
use barrow_format::commit::chained_checksum;
use barrow_format::fields::Fields;
use barrow_format::frame::{FRAME_ALIGNMENT, FRAME_HEADER_BYTES, FRAME_MAGIC, SectionType};
use barrow_format::header::{HEADER_BYTES, MAGIC, TRAILER_BYTES, TRAILER_MAGIC};

/// The same bytes with the checksums of header, frames, columns, commits and trailer as they should be, as
/// far as lengths can be followed. Magic numbers are put back too.
#[must_use]
pub fn with_checksums(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if let Some(header) = bytes.get_mut(..HEADER_BYTES) {
        header[..MAGIC.len()].copy_from_slice(&MAGIC);
        seal(header, HEADER_BYTES - 4);
    }
    let (mut offset, mut chain) = (HEADER_BYTES, Chain::new());
    while let Some(frame) = bytes.get_mut(offset..) {
        offset += fix_frame(frame, &mut chain).unwrap_or(FRAME_ALIGNMENT);
    }
    if let Some(start) = bytes.len().checked_sub(TRAILER_BYTES) {
        let trailer = &mut bytes[start..];
        if trailer.ends_with(&TRAILER_MAGIC) {
            seal(trailer, TRAILER_BYTES - 12);
        }
    }
    bytes
}

/// Writes the checksum of the first `length` bytes directly after them.
fn seal(bytes: &mut [u8], length: usize) {
    let crc = crc32c::crc32c(&bytes[..length]);
    bytes[length..length + 4].copy_from_slice(&crc.to_le_bytes());
}

/// Fixes the frame that `bytes` begin with, and adds it to the chain. Returns its length, unless none begins there.
fn fix_frame(bytes: &mut [u8], chain: &mut Chain) -> Option<usize> {
    if !bytes.starts_with(&FRAME_MAGIC) || bytes.len() < FRAME_HEADER_BYTES {
        return None;
    }
    let (header, rest) = bytes.split_at_mut(FRAME_HEADER_BYTES);
    let payload_length = usize::try_from(u64::from_le_bytes(header[16..24].try_into().ok()?)).ok()?;
    let directory_length = u32::from_le_bytes(header[24..28].try_into().ok()?) as usize;
    let section = SectionType(u16::from_le_bytes([header[4], header[5]]));
    let (is_block, is_commit) = (section.has_columns(), section == SectionType::COMMIT);
    let before = *chain;
    if let Some((directory, body)) =
        rest.get_mut(..payload_length).and_then(|payload| payload.split_at_mut_checked(directory_length))
    {
        if is_block {
            fix_columns(directory, body);
        }
        if let Some(checksum) = chained_checksum(before, body).ok().filter(|_| is_commit) {
            body[..8].copy_from_slice(&checksum.to_le_bytes());
            *chain = Chain::after_commit(checksum);
        }
        header[28..32].copy_from_slice(&crc32c::crc32c(directory).to_le_bytes());
        let body_crc = if is_block { 0 } else { crc32c::crc32c(body) };
        header[32..36].copy_from_slice(&body_crc.to_le_bytes());
    }
    seal(header, FRAME_HEADER_BYTES - 4);
    if !is_commit {
        chain.add(header);
    }
    let length = payload_length.checked_add(FRAME_HEADER_BYTES)?.checked_next_multiple_of(FRAME_ALIGNMENT)?;
    (length <= bytes.len()).then_some(length)
}

/// Fixes the checksums of a block's columns in its directory.
fn fix_columns(directory: &mut [u8], body: &[u8]) {
    let mut places = Vec::new();
    let mut fields = Fields::new("block directory", directory);
    let mut rest = body;
    // First object, objects, references, start index; then the number of columns.
    let columns = (0..4).try_for_each(|_| fields.varint().map(drop)).and_then(|()| fields.varint()).unwrap_or(0);
    for _ in 0..columns {
        // Id, codec, flags, values, raw length; then the length in the file.
        let before = (0..5).try_for_each(|_| fields.varint().map(drop));
        let Ok(length) = before.and_then(|()| fields.varint()) else { break };
        let column = usize::try_from(length).ok().and_then(|length| rest.split_at_checked(length));
        let place = fields.offset() as usize;
        let (Some((column, after)), Ok(_)) = (column, fields.u32()) else { break };
        places.push((place, crc32c::crc32c(column)));
        rest = after;
    }
    for (place, crc) in places {
        directory[place..place + 4].copy_from_slice(&crc.to_le_bytes());
    }
}
