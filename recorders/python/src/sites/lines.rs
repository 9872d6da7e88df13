//! Places of instructions in the source: the three table formats of CPython.

/// The format of the table of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineFormat {
    /// Until 3.9: pairs of bytes passed and lines passed.
    Increments,
    /// 3.10: pairs of the length of a range and the lines passed to it; -128 has no line.
    Ranges,
    /// Since 3.11: entries of variable length, with columns.
    Locations,
}

/// A place in a source file, counted from 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct Location {
    pub(crate) line: Option<u32>,
    pub(crate) column: Option<u32>,
}

/// Finds the source location of an instruction in a function that begins at `first_line`. It is unknown if the table
/// ends early.
pub(crate) fn locate(format: LineFormat, table: &[u8], first_line: u32, instruction: u32) -> Location {
    match format {
        LineFormat::Increments => by_increments(table, first_line, i64::from(instruction) * 2),
        LineFormat::Ranges => by_ranges(table, first_line, i64::from(instruction) * 2),
        LineFormat::Locations => by_locations(table, first_line, i64::from(instruction)).unwrap_or_default(),
    }
}

fn by_increments(table: &[u8], first_line: u32, wanted: i64) -> Location {
    let (mut line, mut offset) = (i64::from(first_line), 0);
    for pair in table.chunks_exact(2) {
        offset += i64::from(pair[0]);
        if offset > wanted {
            break;
        }
        line += i64::from(pair[1].cast_signed());
    }
    Location { line: u32::try_from(line).ok(), column: None }
}

fn by_ranges(table: &[u8], first_line: u32, wanted: i64) -> Location {
    let (mut line, mut end) = (i64::from(first_line), 0);
    for pair in table.chunks_exact(2) {
        let lines = pair[1].cast_signed();
        end += i64::from(pair[0]);
        let has_line = lines != i8::MIN;
        if has_line {
            line += i64::from(lines);
        }
        if wanted < end {
            return Location { line: u32::try_from(line).ok().filter(|_| has_line), column: None };
        }
    }
    Location::default()
}

fn by_locations(table: &[u8], first_line: u32, wanted: i64) -> Option<Location> {
    const NO_LOCATION: u8 = 15;
    const LONG: u8 = 14;
    const NO_COLUMN: u8 = 13;
    const ONE_LINE: std::ops::RangeInclusive<u8> = 10..=12;
    let mut bytes = table.iter().copied();
    let (mut line, mut end) = (i64::from(first_line), 0);
    loop {
        let head = bytes.next()?;
        end += i64::from(head & 7) + 1;
        let kind = (head >> 3) & 15;
        let mut location = Location::default();
        let column = match kind {
            NO_LOCATION => None,
            LONG => {
                line += signed(&mut bytes)?;
                variable(&mut bytes)?;
                let column = variable(&mut bytes)?;
                variable(&mut bytes)?;
                column.checked_sub(1)
            }
            NO_COLUMN => {
                line += signed(&mut bytes)?;
                None
            }
            _ if ONE_LINE.contains(&kind) => {
                line += i64::from(kind - ONE_LINE.start());
                let column = bytes.next()?;
                bytes.next()?;
                Some(column.into())
            }
            _ => Some(u64::from(kind << 3 | bytes.next()? >> 4)),
        };
        if kind != NO_LOCATION {
            location.line = u32::try_from(line).ok();
            location.column = column.and_then(|column| u32::try_from(column + 1).ok());
        }
        if wanted < end {
            return Some(location);
        }
    }
}

/// Six bits a byte, the lowest first; bit 6 says that more follow.
fn variable(bytes: &mut impl Iterator<Item = u8>) -> Option<u64> {
    let (mut value, mut shift) = (0, 0);
    loop {
        let byte = bytes.next()?;
        value |= u64::from(byte & 63).checked_shl(shift)?;
        shift += 6;
        if byte & 64 == 0 {
            return Some(value);
        }
    }
}

/// The lowest bit is the sign.
fn signed(bytes: &mut impl Iterator<Item = u8>) -> Option<i64> {
    let value = variable(bytes)?;
    let size = i64::try_from(value >> 1).ok()?;
    Some(if value & 1 == 1 { -size } else { size })
}
