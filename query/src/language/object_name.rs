//! An object as people name it: `123` or `@123`, `2:@123` in snapshot 2, `0x7f00` where it lived,
//! `%3` in row 3 of the last table.

use std::str::FromStr;

use barrow_analyzer::ObjectId;

use crate::error::QueryError;

/// A name of an object, not looked up yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ObjectName {
    /// The snapshot, if it is not the selected one.
    pub(crate) snapshot: Option<u32>,
    /// Which object.
    pub(crate) which: Which,
}

/// The way in which a word names an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    /// Its number in the snapshot.
    Id(ObjectId),
    /// Where it lived.
    Address(u64),
    /// A row of the last table, counted from 1.
    Row(usize),
}

impl FromStr for ObjectName {
    type Err = QueryError;

    fn from_str(text: &str) -> Result<Self, QueryError> {
        parse(text).ok_or_else(|| {
            QueryError::usage(format!(
                "`{text}` names no object; try 123, @123, 2:@123 (in snapshot 2), 0x7f00 (an address) or %3 (a row)"
            ))
        })
    }
}

fn parse(text: &str) -> Option<ObjectName> {
    if let Some((snapshot, rest)) = text.split_once(':') {
        let name = parse(rest).filter(|name| name.snapshot.is_none() && !matches!(name.which, Which::Row(_)))?;
        return Some(ObjectName { snapshot: Some(snapshot.parse().ok()?), ..name });
    }
    let which = if let Some(row) = text.strip_prefix('%') {
        Which::Row(row.parse().ok()?)
    } else if let Some(address) = text.strip_prefix("0x") {
        Which::Address(u64::from_str_radix(address, 16).ok()?)
    } else {
        Which::Id(ObjectId(text.strip_prefix('@').unwrap_or(text).parse().ok()?))
    };
    Some(ObjectName { snapshot: None, which })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_named_in_four_ways() {
        let parsed = |text: &str| text.parse::<ObjectName>().ok().map(|name| (name.snapshot, name.which));
        assert_eq!(parsed("123"), Some((None, Which::Id(ObjectId(123)))));
        assert_eq!(parsed("@123"), Some((None, Which::Id(ObjectId(123)))));
        assert_eq!(parsed("2:@123"), Some((Some(2), Which::Id(ObjectId(123)))));
        assert_eq!(parsed("2:0x7f"), Some((Some(2), Which::Address(0x7f))));
        assert_eq!(parsed("%3"), Some((None, Which::Row(3))));
        for wrong in ["", "x", "@", "%", "0x", "1:2:3", "2:%3", "99999999999"] {
            assert_eq!(parsed(wrong), None, "{wrong}");
        }
    }
}
