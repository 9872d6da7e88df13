//! A line of the log.

/// Maximum plausible time, in milliseconds: a hundred years.
const MOST_MS: u64 = 100 * 366 * 86_400_000;

/// An output of a command that succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry<'d> {
    /// The times at which the command began and ended, in milliseconds since the build began.
    pub(super) start_ms: u64,
    pub(super) end_ms: u64,
    /// The time of the output that ninja compares, as written in the log; `0` if ninja has none.
    pub(super) mtime: &'d [u8],
    pub(super) output: &'d [u8],
    /// The hash of the command.
    pub(super) hash: &'d [u8],
}

impl<'d> Entry<'d> {
    /// Parses a line without its end.
    pub(super) fn parse(line: &'d [u8]) -> Option<Entry<'d>> {
        let mut fields = line.splitn(4, |&byte| byte == b'\t');
        let (start_ms, end_ms) = (number(fields.next()?)?, number(fields.next()?)?);
        let (mtime, rest) = (fields.next()?, fields.next()?);
        number(mtime)?;
        // An output may hold any byte, the hash may not.
        let tab = memchr::memrchr(b'\t', rest)?;
        let (output, hash) = (&rest[..tab], &rest[tab + 1..]);
        let is_whole = start_ms <= end_ms
            && end_ms <= MOST_MS
            && !output.is_empty()
            && !hash.is_empty()
            && hash.iter().all(u8::is_ascii_hexdigit);
        is_whole.then_some(Entry { start_ms, end_ms, mtime, output, hash })
    }
}

fn number(text: &[u8]) -> Option<u64> {
    str::from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_an_output() {
        let entry = Entry::parse(b"1\t20\t300\tsub/a b.o\t0f").expect("a line");
        assert_eq!((entry.start_ms, entry.end_ms, entry.mtime), (1, 20, &b"300"[..]));
        assert_eq!((entry.output, entry.hash), (&b"sub/a b.o"[..], &b"0f"[..]));
        assert_eq!(Entry::parse(b"1\t1\t0\ta\tb\tc").expect("a line").output, b"a\tb");
    }

    #[test]
    fn other_lines_are_none() {
        for line in
            ["", "1\t2\t3\ta", "2\t1\t0\ta\t1", "1\t2\t-\ta\t1", "x\t2\t0\ta\t1", "1\t2\t0\t\t1", "1\t2\t0\ta\tx"]
        {
            assert_eq!(Entry::parse(line.as_bytes()), None, "{line:?}");
        }
        assert_eq!(Entry::parse(b"1\t9999999999999999999\t0\ta\t1"), None);
    }
}
