//! Unsigned LEB128: seven bits per byte, low bits first; the high bit means that more bytes follow.
//!
//! ```text
//!   300 = 0b10_0101100   →   1_0101100  0_0000010   =   AC 02
//!                             └ more      └ last
//! ```
//!
//! Signed numbers are folded by [`zigzag`] first: 0, -1, 1, -2 … become 0, 1, 2, 3 …
//!
//! [`decode_u32`] is the kernel of every block column. It has two bodies with one meaning: [`scalar`], and [`ssse3`] on
//! processors that have it, detected at run time. Seven of eight values of a real column take one byte; the vector body
//! decodes up to eight values from eight bytes with one table look-up, with any lengths up to four bytes. `cargo bench
//! -p barrow-benches --bench varint` compares them with the `leb128` crate.

pub mod scalar;
#[cfg(target_arch = "x86_64")]
pub mod ssse3;

use crate::error::Result;

/// Maximum length of an encoded 32-bit number, in bytes.
pub const MAX_BYTES_U32: u32 = 5;
/// Maximum length of an encoded 64-bit number, in bytes.
pub const MAX_BYTES_U64: u32 = 10;

/// Folds a signed number into an unsigned one: small magnitudes stay small.
#[must_use]
pub const fn zigzag(value: i64) -> u64 {
    (value.cast_unsigned() << 1) ^ (value >> 63).cast_unsigned()
}

/// The inverse of [`zigzag`].
#[must_use]
pub const fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

/// Appends one number.
#[inline]
pub fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push((value & 0x7f) as u8);
}

/// Decodes the whole of `bytes` as exactly `count` numbers of 32 bits into `out`, which is
/// overwritten. `what` names the column in errors.
///
/// # Errors
/// [`crate::FormatError::Varint`] if a number overflows or does not end;
/// [`crate::FormatError::Mismatch`] if `bytes` holds more or fewer numbers.
pub fn decode_u32(what: &'static str, bytes: &[u8], count: usize, out: &mut Vec<u32>) -> Result<()> {
    #[cfg(target_arch = "x86_64")]
    if ssse3::is_available() {
        return ssse3::decode_u32(what, bytes, count, out);
    }
    scalar::decode_u32(what, bytes, count, out)
}

/// Decodes the whole of `bytes` as exactly `count` numbers of 64 bits into `out`, which is
/// overwritten. For the rare wide columns.
///
/// # Errors
/// As for [`decode_u32`].
pub fn decode_u64(what: &'static str, bytes: &[u8], count: usize, out: &mut Vec<u64>) -> Result<()> {
    scalar::decode_u64(what, bytes, count, out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::FormatError;
    use proptest::prelude::*;

    fn encode(values: &[u64]) -> Vec<u8> {
        let mut bytes = Vec::new();
        values.iter().for_each(|&value| put(&mut bytes, value));
        bytes
    }

    /// Numbers as columns have them: mostly one byte, some of every length.
    fn value() -> impl Strategy<Value = u32> {
        prop_oneof![6 => 0..128u32, 2 => 0..16_384u32, 1 => 0..2_097_152u32, 1 => any::<u32>()]
    }

    #[test]
    fn the_example_of_the_documentation() {
        assert_eq!(encode(&[300]), [0xAC, 0x02]);
        assert_eq!([0, -1, 1, -2].map(zigzag), [0, 1, 2, 3]);
    }

    #[test]
    fn what_does_not_end_or_overflows_is_an_error() {
        let mut out = Vec::new();
        let cases: [&[u8]; 5] = [
            &[0x80],
            &[1, 2, 0xff],
            &[0xff, 0xff, 0xff, 0xff, 0x10],       // 33 bits
            &[0x80, 0x80, 0x80, 0x80, 0x80, 0x00], // six bytes
            &[0x80; 40],
        ];
        for bytes in cases {
            for count in 1..3 {
                let error = decode_u32("test", bytes, count, &mut out).unwrap_err();
                assert!(
                    matches!(error, FormatError::Varint { .. } | FormatError::Mismatch { .. }),
                    "{bytes:02x?}: {error}"
                );
            }
        }
        let eleven = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x80, 0x01];
        assert!(decode_u64("test", &eleven, 1, &mut Vec::new()).is_err());
    }

    #[test]
    fn numbers_of_every_length_are_written_as_the_crate_writes_them() {
        for bits in 0..=64 {
            let end = 1u64.checked_shl(bits).unwrap_or(0);
            for value in [end, end.wrapping_sub(1), end.wrapping_add(1), end.wrapping_mul(0x9e37_79b9_7f4a_7c15)] {
                let mut by_crate = Vec::new();
                leb128::write::unsigned(&mut by_crate, value).unwrap();
                assert_eq!(encode(&[value, 1]), [&by_crate[..], &[1]].concat(), "{value:#x}");
            }
        }
    }

    proptest! {
        #[test]
        fn both_decoders_and_the_crate_agree(values in prop::collection::vec(value(), 0..300)) {
            let wide: Vec<u64> = values.iter().map(|&value| u64::from(value)).collect();
            let bytes = encode(&wide);
            let mut by_crate = Vec::new();
            let mut rest = bytes.as_slice();
            while !rest.is_empty() {
                by_crate.push(leb128::read::unsigned(&mut rest).unwrap());
            }
            prop_assert_eq!(&by_crate, &wide);

            let mut out = vec![7; 3];
            scalar::decode_u32("test", &bytes, values.len(), &mut out).unwrap();
            prop_assert_eq!(&out, &values);
            decode_u32("test", &bytes, values.len(), &mut out).unwrap();
            prop_assert_eq!(&out, &values);
            let mut out = Vec::new();
            decode_u64("test", &bytes, values.len(), &mut out).unwrap();
            prop_assert_eq!(&out, &wide);
        }

        #[test]
        fn both_decoders_agree_on_any_bytes(
            bytes in prop::collection::vec(prop_oneof![3 => 0..128u8, 1 => any::<u8>()], 0..200),
            count in 0..200usize,
        ) {
            let (mut one, mut other) = (Vec::new(), Vec::new());
            let scalar = scalar::decode_u32("test", &bytes, count, &mut one);
            let vector = decode_u32("test", &bytes, count, &mut other);
            prop_assert_eq!(scalar.is_ok(), vector.is_ok(), "{:?} {:?}", scalar, vector);
            if scalar.is_ok() {
                prop_assert_eq!(one, other);
            }
        }

        #[test]
        fn zigzag_is_undone(value in any::<i64>()) {
            prop_assert_eq!(unzigzag(zigzag(value)), value);
        }
    }
}
