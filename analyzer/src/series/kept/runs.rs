//! Sequences of numbers that mostly ascend by one, as runs.
//!
//! ```text
//!   numbers   7 8 9 10  3 4  11 12        runs   7×4  3×2  11×2
//!   bytes     number of runs, then for each run: its start less the end of the previous run, zigzag · its length
//! ```
//!
//! Serials and partners of objects have this form, because most objects of a snapshot stay in their order. All numbers
//! are varints.

use barrow_format::varint::{put, unzigzag, zigzag};

/// Appends the runs of `numbers`.
pub(crate) fn put_runs(numbers: impl Iterator<Item = u64>, out: &mut Vec<u8>) {
    let mut runs = Vec::new();
    let (mut count, mut end, mut start, mut length) = (0u64, 0u64, 0u64, 0u64);
    for number in numbers {
        if length > 0 && number == start.wrapping_add(length) {
            length += 1;
            continue;
        }
        if length > 0 {
            put_run(&mut runs, &mut end, start, length);
            count += 1;
        }
        (start, length) = (number, 1);
    }
    if length > 0 {
        put_run(&mut runs, &mut end, start, length);
        count += 1;
    }
    put(out, count);
    out.append(&mut runs);
}

fn put_run(out: &mut Vec<u8>, end: &mut u64, start: u64, length: u64) {
    put(out, zigzag(start.wrapping_sub(*end).cast_signed()));
    put(out, length);
    *end = start.wrapping_add(length);
}

/// Reads `count` numbers of `least..=most`. `None` if there are others, or another number of them.
pub(crate) fn take_runs(bytes: &[u8], count: usize, (least, most): (u64, u64)) -> Option<Vec<u64>> {
    let mut rest = bytes;
    let runs = take(&mut rest)?;
    let mut numbers = Vec::with_capacity(count);
    let mut end = 0u64;
    for _ in 0..runs {
        let start = end.wrapping_add(unzigzag(take(&mut rest)?).cast_unsigned());
        let length = take(&mut rest)?;
        let last = start.checked_add(length.checked_sub(1)?)?;
        if start < least || last > most || length > (count - numbers.len()) as u64 {
            return None;
        }
        numbers.extend(start..=last);
        end = last.wrapping_add(1);
    }
    (numbers.len() == count && rest.is_empty()).then_some(numbers)
}

/// Takes a varint from the front of `bytes`.
pub(crate) fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for (place, &byte) in bytes.iter().enumerate().take(10) {
        let bits = u64::from(byte & 0x7f);
        if place == 9 && bits > 1 {
            return None;
        }
        value |= bits << (7 * place);
        if byte < 0x80 {
            *bytes = &bytes[place + 1..];
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use barrow_testdata::Random;

    use super::*;

    #[test]
    fn numbers_are_read_as_they_were_written() {
        let mut random = Random::new(5);
        for _ in 0..300 {
            let mut next = 0;
            let numbers: Vec<u64> = (0..random.below(60))
                .map(|_| {
                    let bits = random.below(63);
                    next = if random.below(5) == 0 { random.below(1 << bits) } else { next + 1 };
                    next
                })
                .collect();
            let mut bytes = Vec::new();
            put_runs(numbers.iter().copied(), &mut bytes);
            let most = numbers.iter().copied().max().unwrap_or(0);
            assert_eq!(take_runs(&bytes, numbers.len(), (0, most)).as_deref(), Some(&numbers[..]));
            assert!(take_runs(&bytes, numbers.len() + 1, (0, most)).is_none());
            if let Some(fewer) = numbers.len().checked_sub(1) {
                assert!(take_runs(&bytes, fewer, (0, most)).is_none());
                assert!(most == 0 || take_runs(&bytes, numbers.len(), (0, most - 1)).is_none());
            }
            // Any bytes are read, or refused.
            for _ in 0..20 {
                let mut damaged = bytes.clone();
                let at = random.below(damaged.len() as u64) as usize;
                damaged[at] = random.next() as u8;
                let read = take_runs(&damaged, numbers.len(), (1, most));
                assert!(read.is_none_or(|read| read.iter().all(|number| (1..=most).contains(number))));
                take_runs(&damaged[..at], numbers.len(), (0, u64::MAX));
            }
        }
    }
}
