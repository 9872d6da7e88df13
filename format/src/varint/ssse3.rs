//! The decoder with 128-bit registers (SSSE3).
//!
//! ```text
//!   8 bytes      05 | AC 02 | 11 | 7F | 03 | 80 …        high bits → mask 1000_0010
//!   table[mask]  5 values end here, 6 bytes are used, and this shuffle gives each its lane:
//!   2 × pshufb   05 00 00 00 | AC 02 00 00 | 11 00 00 00 | 7F 00 00 00 ‖ 03 00 00 00 | …
//!   pmaddubsw    pairs of bytes  → 14 bits      (b0 + 128·b1)
//!   pmaddwd      pairs of those  → 28 bits      (w0 + 16384·w1)
//! ```
//!
//! A value of five bytes ends the run of a table entry; it is decoded by [`super::scalar`].

#![expect(unsafe_code, reason = "calling a function for a feature of the processor, after asking for it")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    reason = "the table is indexed by a byte, its builder is checked at compile time, and slices are cut to constant lengths"
)]

use std::arch::x86_64::{
    __m128i, _mm_and_si128, _mm_cvtsi128_si64, _mm_madd_epi16, _mm_maddubs_epi16, _mm_movemask_epi8, _mm_set_epi64x,
    _mm_set1_epi8, _mm_set1_epi16, _mm_set1_epi32, _mm_setzero_si128, _mm_shuffle_epi8, _mm_unpackhi_epi8,
    _mm_unpackhi_epi16, _mm_unpackhi_epi64, _mm_unpacklo_epi8, _mm_unpacklo_epi16,
};

use super::scalar::{exactly, next_u32, too_many};
use crate::error::Result;

/// Maximum number of values that a table entry decodes: one from each byte.
const LANES: usize = 8;

/// The decoding of eight bytes whose high bits form one mask.
#[derive(Clone, Copy)]
struct Entry {
    /// The source byte of each lane; 0x80 clears. Four bytes per value.
    shuffle: [u8; 4 * LANES],
    /// Values that end within the eight bytes, before the first longer than four bytes.
    values: u8,
    /// Number of bytes they take.
    bytes: u8,
}

static TABLE: [Entry; 256] = table();

const fn table() -> [Entry; 256] {
    let mut table = [Entry { shuffle: [0x80; 4 * LANES], values: 0, bytes: 0 }; 256];
    let mut mask = 0;
    while mask < 256 {
        let (mut byte, mut start, mut values) = (0, 0, 0);
        while byte < 8 {
            if mask >> byte & 1 == 0 {
                if byte - start >= 4 {
                    break;
                }
                let mut part = start;
                while part <= byte {
                    table[mask].shuffle[values * 4 + part - start] = part as u8;
                    part += 1;
                }
                values += 1;
                start = byte + 1;
            }
            byte += 1;
        }
        table[mask].values = values as u8;
        table[mask].bytes = start as u8;
        mask += 1;
    }
    table
}

/// Returns whether this processor can run [`decode_u32`].
#[must_use]
pub fn is_available() -> bool {
    is_x86_feature_detected!("ssse3")
}

/// See [`super::decode_u32`].
///
/// # Errors
/// See [`super::decode_u32`].
///
/// # Panics
/// On a processor without SSSE3: ask [`is_available`] first.
pub fn decode_u32(what: &'static str, bytes: &[u8], count: usize, out: &mut Vec<u32>) -> Result<()> {
    assert!(is_available(), "the caller asks is_available");
    // The vector body stores eight lanes at a time, some of which may be beyond the last value.
    let room = count.min(bytes.len()) + LANES;
    if out.len() < room {
        out.resize(room, 0);
    }
    let (mut used, mut written) = (0, 0);
    // In a column of counts or small differences nearly all values take one byte.
    if bytes.len() < count + count / 16 {
        // SAFETY: the only condition of `decode_one_byte_runs` is SSSE3, which was asserted above.
        (used, written) = unsafe { decode_one_byte_runs(bytes, count, &mut out[..room]) };
    }
    while used < bytes.len() {
        let rest = &bytes[used..];
        if rest.len() >= LANES && written < count {
            let window = written..;
            // SAFETY: the only condition of `decode_run` is SSSE3, which was asserted above.
            let (more_used, more) = unsafe { decode_run(rest, count - written, &mut out[window]) };
            used += more_used;
            written += more;
            if more > 0 {
                continue;
            }
        }
        if written == count {
            return Err(too_many(what, count));
        }
        let (value, after) = next_u32(what, bytes, rest)?;
        out[written] = value;
        written += 1;
        used += rest.len() - after.len();
    }
    exactly(what, count, written)?;
    out.truncate(count);
    Ok(())
}

/// Decodes from the front of `bytes`, sixteen values of one byte at a time while there are as many, until it meets one
/// of the ends of [`decode_run`]. Returns bytes used and values written.
#[target_feature(enable = "ssse3")]
fn decode_one_byte_runs(bytes: &[u8], count: usize, out: &mut [u32]) -> (usize, usize) {
    let (mut used, mut written) = (0, 0);
    while let Some(window) = bytes.get(used..used + 2 * LANES)
        && written + 2 * LANES <= count
        && let Some(lanes) = out.get_mut(written..written + 2 * LANES)
    {
        let sixteen = _mm_set_epi64x(word(&window[LANES..]), word(&window[..LANES]));
        if _mm_movemask_epi8(sixteen) == 0 {
            let zero = _mm_setzero_si128();
            let (low, high) = (_mm_unpacklo_epi8(sixteen, zero), _mm_unpackhi_epi8(sixteen, zero));
            store(_mm_unpacklo_epi16(low, zero), &mut lanes[..4]);
            store(_mm_unpackhi_epi16(low, zero), &mut lanes[4..8]);
            store(_mm_unpacklo_epi16(high, zero), &mut lanes[8..12]);
            store(_mm_unpackhi_epi16(high, zero), &mut lanes[12..]);
            used += 2 * LANES;
            written += 2 * LANES;
            continue;
        }
        let (more_used, more) = decode_run(window, 2 * LANES, lanes);
        if more == 0 {
            break;
        }
        used += more_used;
        written += more;
    }
    (used, written)
}

/// Decodes from the front of `bytes` until it meets a value of five bytes, fewer than eight bytes
/// or fewer than eight missing values. Returns bytes used and values written.
#[target_feature(enable = "ssse3")]
fn decode_run(bytes: &[u8], count: usize, out: &mut [u32]) -> (usize, usize) {
    let (mut used, mut written) = (0, 0);
    while let Some(window) = bytes.get(used..used + LANES)
        && written + LANES <= count
        && let Some(lanes) = out.get_mut(written..written + LANES)
    {
        let word = i64::from_le_bytes(window.try_into().unwrap_or_default());
        let eight = _mm_set_epi64x(0, word);
        let entry = &TABLE[(_mm_movemask_epi8(eight) & 0xff) as usize];
        if entry.values == 0 {
            break;
        }
        let (low, high) = entry.shuffle.split_at(16);
        store(widen(eight, low), &mut lanes[..4]);
        store(widen(eight, high), &mut lanes[4..]);
        used += usize::from(entry.bytes);
        written += usize::from(entry.values);
    }
    (used, written)
}

/// Shuffles the bytes of four values into their lanes and joins the seven bits of each byte.
#[target_feature(enable = "ssse3")]
fn widen(eight: __m128i, shuffle: &[u8]) -> __m128i {
    let shuffle = _mm_set_epi64x(word(&shuffle[8..16]), word(&shuffle[..8]));
    let bytes = _mm_and_si128(_mm_shuffle_epi8(eight, shuffle), _mm_set1_epi8(0x7f));
    // Weight 1 for the even byte, 128 for the odd: the weights are the unsigned operand.
    let pairs = _mm_maddubs_epi16(_mm_set1_epi16(0x8001u16.cast_signed()), bytes);
    _mm_madd_epi16(pairs, _mm_set1_epi32(0x4000_0001))
}

fn word(bytes: &[u8]) -> i64 {
    i64::from_le_bytes(bytes.try_into().unwrap_or_default())
}

#[target_feature(enable = "ssse3")]
fn store(values: __m128i, lanes: &mut [u32]) {
    let low = _mm_cvtsi128_si64(values).cast_unsigned();
    let high = _mm_cvtsi128_si64(_mm_unpackhi_epi64(values, values)).cast_unsigned();
    lanes[0] = low as u32;
    lanes[1] = (low >> 32) as u32;
    lanes[2] = high as u32;
    lanes[3] = (high >> 32) as u32;
}
