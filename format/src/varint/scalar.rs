//! The decoders in plain Rust: the definition that the vector bodies are tested against.

use super::{MAX_BYTES_U32, MAX_BYTES_U64};
use crate::error::{FormatError, Result};

/// See [`super::decode_u32`].
///
/// # Errors
/// See [`super::decode_u32`].
pub fn decode_u32(what: &'static str, bytes: &[u8], count: usize, out: &mut Vec<u32>) -> Result<()> {
    out.clear();
    out.reserve(count.min(bytes.len()));
    let mut rest = bytes;
    while !rest.is_empty() {
        if out.len() == count {
            return Err(too_many(what, count));
        }
        let (value, after) = next_u32(what, bytes, rest)?;
        out.push(value);
        rest = after;
    }
    exactly(what, count, out.len())
}

/// See [`super::decode_u64`].
///
/// # Errors
/// See [`super::decode_u64`].
pub fn decode_u64(what: &'static str, bytes: &[u8], count: usize, out: &mut Vec<u64>) -> Result<()> {
    out.clear();
    out.reserve(count.min(bytes.len()));
    let mut rest = bytes;
    while !rest.is_empty() {
        if out.len() == count {
            return Err(too_many(what, count));
        }
        let (value, after) = next_u64(rest).ok_or_else(|| broken(what, bytes, rest))?;
        out.push(value);
        rest = after;
    }
    exactly(what, count, out.len())
}

/// The first number of `rest` (a tail of `all`), and the bytes after it.
#[inline]
pub(super) fn next_u32<'a>(what: &'static str, all: &[u8], rest: &'a [u8]) -> Result<(u32, &'a [u8])> {
    if let Some((&first, after)) = rest.split_first()
        && first < 0x80
    {
        return Ok((u32::from(first), after));
    }
    let mut value = 0u32;
    for (position, &byte) in rest.iter().take(MAX_BYTES_U32 as usize).enumerate() {
        value |= u32::from(byte & 0x7f) << (7 * position);
        if byte < 0x80 {
            if position + 1 == MAX_BYTES_U32 as usize && byte > 0x0f {
                break;
            }
            return Ok((value, rest.get(position + 1..).unwrap_or_default()));
        }
    }
    Err(broken(what, all, rest))
}

#[inline]
fn next_u64(rest: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0u64;
    for (position, &byte) in rest.iter().take(MAX_BYTES_U64 as usize).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * position);
        if byte < 0x80 {
            if position + 1 == MAX_BYTES_U64 as usize && byte > 0x01 {
                return None;
            }
            return Some((value, rest.get(position + 1..).unwrap_or_default()));
        }
    }
    None
}

#[cold]
pub(super) fn broken(what: &'static str, all: &[u8], rest: &[u8]) -> FormatError {
    FormatError::Varint { what, offset: (all.len() - rest.len()) as u64 }
}

#[cold]
pub(super) fn too_many(what: &'static str, count: usize) -> FormatError {
    FormatError::Mismatch { what, stored: count as u64, found: count as u64 + 1 }
}

pub(super) fn exactly(what: &'static str, count: usize, found: usize) -> Result<()> {
    if count == found {
        return Ok(());
    }
    Err(FormatError::Mismatch { what, stored: count as u64, found: found as u64 })
}
