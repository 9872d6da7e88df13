//! The arguments of a starting program, read from its stack, which is faster than reading `/proc`.
//!
//! ```text
//!   stack pointer ▶ argc │ argv[0] … │ 0 │ envp[0] … │ 0 │ auxiliary vector … │ AT_NULL │ … │ texts of argv │ texts of envp
//! ```

use crate::system::{self, Pid};

/// Size of the first read: enough for the pointers and a typical command line.
const FIRST_BYTES: usize = 4096;
/// Longest command line that is read from the stack; longer ones are read from `/proc`.
const MOST_BYTES: u64 = 256 << 10;
const WORD: usize = size_of::<u64>();
const AT_NULL: u64 = 0;
const AT_SECURE: u64 = 23;

/// The start of a program according to its stack.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Start {
    /// The arguments, each with a zero after it.
    pub(crate) arguments: Vec<u8>,
    /// The program has rights that the process did not have, or would have them if it were not traced.
    pub(crate) has_new_rights: bool,
}

/// Reads the stack of a process that is stopped as it executes a program. `None` if this program or processor does not allow
/// that.
pub(crate) fn start(pid: Pid) -> Option<Start> {
    let stack_pointer = system::stack_pointer(pid)?;
    let mut first = [0; FIRST_BYTES];
    let read = system::memory(pid, &[stack_pointer], &mut first);
    parse(stack_pointer, first.get(..read)?, |address, bytes| system::memory(pid, &[address], bytes) == bytes.len())
}

fn parse(stack_pointer: u64, stack: &[u8], mut read: impl FnMut(u64, &mut [u8]) -> bool) -> Option<Start> {
    let (words, _) = stack.as_chunks::<WORD>();
    let count = usize::try_from(word(words, 0)?).ok()?;
    let environment = count.checked_add(2)?;
    let mut vector = environment;
    while word(words, vector)? != 0 {
        vector += 1;
    }
    vector += 1;
    let mut has_new_rights = false;
    while word(words, vector)? != AT_NULL {
        has_new_rights |= word(words, vector)? == AT_SECURE && word(words, vector + 1)? != 0;
        vector += 2;
    }
    // The arguments end where the environment begins. Without one their end is unknown.
    let (from, to) = (word(words, 1)?, word(words, environment)?);
    let length = to.checked_sub(from).filter(|&length| count > 0 && length <= MOST_BYTES)?;
    let length = usize::try_from(length).ok()?;
    let place = usize::try_from(from.checked_sub(stack_pointer)?).ok()?;
    let arguments = match stack.get(place..place.checked_add(length)?) {
        Some(arguments) => arguments.to_vec(),
        None => {
            let mut arguments = vec![0; length];
            read(from, &mut arguments).then_some(arguments)?
        }
    };
    let is_whole = arguments.iter().filter(|&&byte| byte == 0).count() == count && arguments.ends_with(b"\0");
    is_whole.then_some(Start { arguments, has_new_rights })
}

fn word(words: &[[u8; WORD]], index: usize) -> Option<u64> {
    words.get(index).map(|word| u64::from_le_bytes(*word))
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: u64 = 0x7000;

    /// A stack with these arguments and `A=b`.
    fn stack(arguments: &[&str], secure: u64) -> Vec<u8> {
        let texts: Vec<String> = arguments.iter().map(|text| format!("{text}\0")).collect();
        let numbers = 1 + texts.len() + 1 + 2 + 6;
        let mut place = AT + (numbers * WORD) as u64;
        let mut words = vec![texts.len() as u64];
        for text in &texts {
            words.push(place);
            place += text.len() as u64;
        }
        words.extend([0, place, 0, 6, 4096, AT_SECURE, secure, AT_NULL, 0]);
        let mut bytes: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
        bytes.extend(texts.concat().bytes().chain(*b"A=b\0"));
        bytes
    }

    #[test]
    fn arguments_lie_between_their_first_and_the_environment() {
        let bytes = stack(&["sh", "", "it is"], 0);
        let start = parse(AT, &bytes, |_, _| false).unwrap();
        assert_eq!(start, Start { arguments: b"sh\0\0it is\0".to_vec(), has_new_rights: false });
        assert!(parse(AT, &stack(&["su"], 1), |_, _| false).unwrap().has_new_rights);
    }

    #[test]
    fn what_was_not_read_at_first_is_read_then() {
        let bytes = stack(&["cc", "-c", "x.c"], 0);
        let short = &bytes[..bytes.len() - 8];
        let rest = |address: u64, to: &mut [u8]| {
            let from = (address - AT) as usize;
            to.copy_from_slice(&bytes[from..from + to.len()]);
            true
        };
        assert_eq!(parse(AT, short, rest).unwrap().arguments, b"cc\0-c\0x.c\0");
        assert_eq!(parse(AT, short, |_, _| false), None);
    }

    #[test]
    fn no_bytes_are_wrong_enough_for_a_panic() {
        let bytes = stack(&["sh", "-c", "true"], 0);
        for place in 0..bytes.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut changed = bytes.clone();
                changed[place] = value;
                let _ = parse(AT, &changed, |_, _| false);
                let _ = parse(AT, &changed[..place], |_, _| true);
            }
        }
    }
}
