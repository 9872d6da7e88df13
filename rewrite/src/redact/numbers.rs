//! Replacing values of fields: another value of the same encoding.

use barrow_format::rows::Encoding;

use super::cipher::{Domain, permute};
use super::key::Key;
use super::texts::Texts;

/// Bits of a binary32 and of a binary64 without the sign, of infinity. Higher values are NaN.
const INFINITE: u64 = 0x7f80_0000;
const INFINITE_WIDE: u64 = 0x7ff0 << 48;

/// Replaces values. Within an encoding, equal values are replaced by equal ones and different values by different ones.
#[derive(Debug, Clone, Copy)]
pub(super) struct Numbers<'k> {
    pub(super) key: &'k Key,
}

impl Numbers<'_> {
    /// The code of the replacement of a value other than a text. `flips` says whether true and false are exchanged. A
    /// code without a value is replaced by one without a value.
    pub(super) fn replace(self, encoding: Option<Encoding>, code: u64, flips: bool) -> u64 {
        match encoding {
            Some(Encoding::Boolean) if code < 2 => code ^ u64::from(flips),
            Some(Encoding::Boolean) => 2 + self.permuted(code - 2, u64::MAX - 2),
            Some(Encoding::Character) if code <= u64::from(u32::MAX) => Texts { key: self.key }.replace_character(code),
            Some(Encoding::Float) if let Ok(bits) = u32::try_from(code) => {
                let bits = self.float(bits.swap_bytes().into(), 31, INFINITE);
                // The sign and 31 bits.
                u64::from((bits as u32).swap_bytes())
            }
            Some(Encoding::Character | Encoding::Float) => {
                let first = 1 << 32;
                first + self.permuted(code - first, u64::MAX - first)
            }
            Some(Encoding::Double) => self.float(code.swap_bytes(), 63, INFINITE_WIDE).swap_bytes(),
            // A value of an unknown field is treated as a number.
            _ => self.permuted(code, u64::MAX),
        }
    }

    fn permuted(self, number: u64, last: u64) -> u64 {
        permute(self.key, Domain::Numbers, number, last)
    }

    /// Finite numbers stay finite, and NaN stays NaN; infinities are kept. Both zeros are one value, and are kept with
    /// their sign.
    fn float(self, bits: u64, sign_shift: u32, infinite: u64) -> u64 {
        let (sign, magnitude) = (bits >> sign_shift, bits & ((1 << sign_shift) - 1));
        match magnitude {
            0 => bits,
            _ if magnitude == infinite => bits,
            _ if magnitude > infinite => {
                let last = (1 << sign_shift) - 1 - infinite - 1;
                sign << sign_shift | (infinite + 1 + self.permuted(magnitude - infinite - 1, last))
            }
            _ => {
                // The numbers of both signs, without zero and infinity.
                let one_sign = infinite - 1;
                let place = self.permuted(sign * one_sign + magnitude - 1, 2 * one_sign - 1);
                (place / one_sign) << sign_shift | (place % one_sign + 1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use barrow_format::rows::Value;

    use super::*;

    fn replaced(encoding: Encoding, codes: impl Iterator<Item = u64>) -> HashSet<u64> {
        let key = Key::from_bytes([3; 32]);
        codes.map(|code| Numbers { key: &key }.replace(Some(encoding), code, true)).collect()
    }

    #[test]
    fn values_stay_different_and_of_their_encoding() {
        let codes = || (0..500u64).chain((0..500).map(|low| (1 << 32) - 250 + low)).chain(u64::MAX - 500..=u64::MAX);
        let count = codes().count();
        for number in 0..8 {
            let encoding = Encoding::from_number(number).unwrap();
            if encoding == Encoding::Text {
                continue;
            }
            assert_eq!(replaced(encoding, codes()).len(), count, "{encoding:?}");
            let stands = |code| Value::of_code(encoding, code).is_some();
            for code in codes() {
                assert!(
                    replaced(encoding, [code].into_iter()).iter().all(|&new| stands(new) == stands(code)),
                    "{code}"
                );
            }
        }
        assert_eq!(replaced(Encoding::Boolean, 0..1), HashSet::from([1]));
    }

    #[test]
    fn what_a_float_is_stays() {
        let key = Key::from_bytes([4; 32]);
        let new = |value: Value| {
            let (encoding, code) = value.code();
            Value::of_code(encoding, Numbers { key: &key }.replace(Some(encoding), code, false)).unwrap()
        };
        for zero in [0.0f64, -0.0] {
            let Value::Double(wide) = new(Value::Double(zero)) else { panic!() };
            assert_eq!(wide.to_bits(), zero.to_bits());
        }
        for value in [1.5f32, -1.5, f32::MIN_POSITIVE / 2.0, f32::MAX, f32::MIN] {
            let Value::Float(narrow) = new(Value::Float(value)) else { panic!() };
            let Value::Double(wide) = new(Value::Double(value.into())) else { panic!() };
            assert!(narrow.is_finite() && narrow != value && narrow != 0.0, "{narrow}");
            assert!(wide.is_finite() && wide != f64::from(value) && wide != 0.0, "{wide}");
        }
        assert_eq!(new(Value::Float(f32::NEG_INFINITY)), Value::Float(f32::NEG_INFINITY));
        let Value::Double(no_number) = new(Value::Double(f64::NAN)) else { panic!() };
        assert!(no_number.is_nan());
    }
}
