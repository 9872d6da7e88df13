//! Keyed permutations of short sequences and of numbers.
//!
//! ```text
//!   digits      d0 d1 d2 │ d3 d4 d5 d6        each with a radix of its own: how many values it may have
//!   round 0     left  += F(0, right)          F is a keyed hash, expanded to as many digits as are needed
//!   round 1     right += F(1, left)           sums are modulo each digit's radix
//!   …
//! ```
//!
//! This is an alternating Feistel network: each round is invertible, whatever F is, so different sequences stay
//! different. Reference: NIST SP 800-38G, whose FF1 has the same structure and the same ten rounds. Halves of sixteen
//! digits or more get four rounds, which suffice for a large domain (Luby and Rackoff 1988).

use super::key::Key;

/// Number of rounds of a network with short halves.
const ROUNDS: u8 = 10;
/// Number of rounds of a network with halves of at least [`LONG_HALF`] digits.
const ROUNDS_OF_LONG: u8 = 4;
const LONG_HALF: usize = 16;

/// The permuted quantity: permutations of different domains are independent.
#[derive(Debug, Clone, Copy)]
pub(super) enum Domain {
    Texts = 0,
    Names = 1,
    Numbers = 2,
}

/// One digit of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Digit {
    /// Below the radix.
    pub(super) value: u32,
    /// At least 1.
    pub(super) radix: u32,
}

/// Replaces a sequence of digits by another with the same radices. It is a permutation of all sequences with these
/// radices. Time is linear.
pub(super) fn permute_digits(key: &Key, domain: Domain, digits: &mut [Digit]) {
    if let [only] = digits {
        // Below the radix, which is a u32.
        only.value = permute(key, domain, only.value.into(), u64::from(only.radix) - 1) as u32;
        return;
    }
    let count = digits.len() as u64;
    let (left, right) = digits.split_at_mut(digits.len() / 2);
    let rounds = if left.len() < LONG_HALF { ROUNDS } else { ROUNDS_OF_LONG };
    for round in 0..rounds {
        if round % 2 == 0 {
            add(key, (domain, round, count), right, left)
        } else {
            add(key, (domain, round, count), left, right)
        }
    }
}

/// Adds digits that depend on `from` to those of `to`.
fn add(key: &Key, (domain, round, count): (Domain, u8, u64), from: &[Digit], to: &mut [Digit]) {
    let mut hasher = key.hasher();
    hasher.update(&[domain as u8, round]).update(&count.to_le_bytes());
    let mut bytes = Vec::with_capacity(4096);
    for digits in from.chunks(1024) {
        bytes.clear();
        digits.iter().for_each(|digit| bytes.extend(digit.value.to_le_bytes()));
        hasher.update(&bytes);
    }
    let mut stream = hasher.finalize_xof();
    for digits in to.chunks_mut(1024) {
        bytes.resize(4 * digits.len(), 0);
        stream.fill(&mut bytes);
        for (digit, four) in digits.iter_mut().zip(bytes.as_chunks::<4>().0) {
            let sum = u64::from(digit.value) + u64::from(u32::from_le_bytes(*four));
            // Below the radix, which is a u32.
            digit.value = (sum % u64::from(digit.radix)) as u32;
        }
    }
}

/// Replaces a number by another: a permutation of the numbers from 0 to `last`.
///
/// The network permutes the numbers of the next even number of bits, and is applied until the result is in range: this
/// takes four steps at most, on average.
pub(super) fn permute(key: &Key, domain: Domain, number: u64, last: u64) -> u64 {
    let half_bits = (u64::BITS - last.leading_zeros()).div_ceil(2).max(1);
    let mask = (1u64 << half_bits) - 1;
    let mut number = number;
    loop {
        let (mut left, mut right) = (number >> half_bits, number & mask);
        for round in 0..ROUNDS {
            let mut input = [0; 18];
            input[..2].copy_from_slice(&[domain as u8, round | 0x80]);
            input[2..10].copy_from_slice(&last.to_le_bytes());
            input[10..].copy_from_slice(&right.to_le_bytes());
            (left, right) = (right, (left ^ key.number(&input)) & mask);
        }
        number = left << half_bits | right;
        if number <= last {
            return number;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Calls `each` with all sequences of these radices.
    fn all_sequences(radices: &[u32], mut each: impl FnMut(&[Digit])) -> usize {
        let count = radices.iter().product::<u32>();
        for mut number in 0..count {
            let digits: Vec<Digit> = radices
                .iter()
                .map(|&radix| {
                    let value = number % radix;
                    number /= radix;
                    Digit { value, radix }
                })
                .collect();
            each(&digits);
        }
        count as usize
    }

    #[test]
    fn all_sequences_stay_different_and_keep_their_radices() {
        let key = Key::from_bytes([7; 32]);
        for radices in [&[1][..], &[95], &[2, 2], &[10, 10], &[3, 52], &[95, 33], &[5, 1, 7], &[3, 4, 5, 6], &[2; 10]] {
            let mut seen = HashSet::new();
            let mut moved = 0;
            let count = all_sequences(radices, |digits| {
                let mut permuted = digits.to_vec();
                permute_digits(&key, Domain::Texts, &mut permuted);
                assert!(
                    permuted.iter().zip(radices).all(|(digit, &radix)| digit.value < radix && digit.radix == radix)
                );
                moved += usize::from(permuted != digits);
                assert!(seen.insert(permuted.iter().map(|digit| digit.value).collect::<Vec<_>>()), "{radices:?}");
            });
            assert_eq!(seen.len(), count);
            // On average one sequence stays where it is, whatever their number.
            assert!(moved + 10 > count, "{radices:?}: {moved} of {count}");
        }
    }

    #[test]
    fn all_numbers_of_a_range_stay_different() {
        let key = Key::from_bytes([8; 32]);
        for last in [0, 1, 2, 3, 9, 94, 255, 256, 1000] {
            let images: HashSet<u64> = (0..=last).map(|number| permute(&key, Domain::Numbers, number, last)).collect();
            assert!(images.len() as u64 == last + 1 && images.iter().all(|&image| image <= last), "{last}");
        }
        let far: HashSet<u64> =
            (0..1000).map(|number| permute(&key, Domain::Numbers, u64::MAX - number, u64::MAX)).collect();
        assert_eq!(far.len(), 1000);
    }

    #[test]
    fn another_key_and_another_domain_are_another_permutation() {
        let digits = [Digit { value: 3, radix: 95 }; 40];
        let permuted = |seed, domain| {
            let mut digits = digits;
            permute_digits(&Key::from_bytes([seed; 32]), domain, &mut digits);
            digits
        };
        let first = permuted(1, Domain::Texts);
        assert_eq!(first, permuted(1, Domain::Texts));
        assert_ne!(first, permuted(2, Domain::Texts));
        assert_ne!(first, permuted(1, Domain::Names));
        // One digit at the end changes the beginning.
        let mut other = digits;
        other[39].value = 4;
        permute_digits(&Key::from_bytes([1; 32]), Domain::Texts, &mut other);
        assert!(other.iter().zip(&first).filter(|(one, other)| one != other).count() > 30);
    }
}
