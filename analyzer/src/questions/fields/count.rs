//! The ways in which the attribute `elements` of a type says how many elements its objects have.
//!
//! ```text
//!   .size                                   the value of a field
//!   .baseCount !.counterCells               the same, but not known if another field holds an object
//!   .tail - .head % .elements.length        a ring: the distance from head to tail, modulo the number of slots
//!   bits of .elements                       the number of bits that are 1
//!   1                                       always this number
//!   of .map                                 as many as the collection in a field
//!   entries                                 as many as it has entries
//!   unknown                                 some number
//! ```

use barrow_format::rows::Value;

use super::{FieldPath, Held};

/// The attribute of a type with the place of the number of elements of its objects.
pub(super) const ELEMENTS: &str = "elements";

/// The way to find a number of elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Count {
    Field(FieldPath),
    Unless(FieldPath, FieldPath),
    Ring { tail: FieldPath, head: FieldPath, slots: FieldPath },
    Bits(FieldPath),
    Always(u64),
    Of(FieldPath),
    Entries,
    Unknown,
}

impl Count {
    /// Reads the attribute `elements`; `None` if it is none of the forms above.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split(' ').collect();
        Some(match words[..] {
            ["entries"] => Count::Entries,
            ["unknown"] => Count::Unknown,
            [word] if word.starts_with(|first: char| first.is_ascii_digit()) => Count::Always(word.parse().ok()?),
            [field] => Count::Field(path(field)?),
            ["of", field] => Count::Of(path(field)?),
            ["bits", "of", field] => Count::Bits(path(field)?),
            [field, other] => Count::Unless(path(field)?, path(other.strip_prefix('!')?)?),
            [tail, "-", head, "%", slots] => Count::Ring { tail: path(tail)?, head: path(head)?, slots: path(slots)? },
            _ => return None,
        })
    }

    /// The fields from whose values it follows.
    pub(super) fn paths(&self) -> Vec<&FieldPath> {
        match self {
            Count::Field(path) | Count::Bits(path) => vec![path],
            Count::Unless(path, other) => vec![path, other],
            Count::Ring { tail, head, slots } => vec![tail, head, slots],
            Count::Always(_) | Count::Of(_) | Count::Entries | Count::Unknown => Vec::new(),
        }
    }

    /// The number, from the values of these fields; `None` if it does not follow from them.
    pub(super) fn of(&self, held: &[Held]) -> Option<u64> {
        match (self, held) {
            (Count::Field(_), &[field]) => number(field),
            (Count::Unless(..), &[field, other]) => number(field).filter(|_| other == Held::Null),
            (Count::Ring { .. }, &[tail, head, slots]) => way(number(tail), number(head), number(slots)),
            (Count::Bits(_), &[Held::Value(Value::Unsigned(bits))]) => Some(bits.count_ones().into()),
            (Count::Bits(_), &[Held::Value(Value::Signed(bits))]) => Some(bits.count_ones().into()),
            (Count::Always(number), []) => Some(*number),
            _ => None,
        }
    }
}

/// Reads a path in the attributes of a type.
pub(super) fn path(text: &str) -> Option<FieldPath> {
    FieldPath::of_attribute(ELEMENTS, text)
}

/// The value of a field as a number of things.
pub(super) fn number(held: Held) -> Option<u64> {
    match held {
        Held::Value(Value::Unsigned(number)) => Some(number),
        Held::Value(Value::Signed(number)) => u64::try_from(number).ok(),
        _ => None,
    }
}

/// The way from head to tail in a ring.
fn way(tail: Option<u64>, head: Option<u64>, slots: Option<u64>) -> Option<u64> {
    let (tail, head, slots) = (tail?, head?, slots?);
    (tail < slots && head < slots).then(|| if tail >= head { tail - head } else { tail + (slots - head) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_eight_forms() {
        let path = |text| path(text).unwrap();
        assert_eq!(Count::parse(".m.size"), Some(Count::Field(path(".m.size"))));
        assert_eq!(Count::parse(".a !.b"), Some(Count::Unless(path(".a"), path(".b"))));
        let ring = Count::Ring { tail: path(".t"), head: path(".h"), slots: path(".e.length") };
        assert_eq!(Count::parse(".t - .h % .e.length"), Some(ring));
        assert_eq!(Count::parse("bits of .mask"), Some(Count::Bits(path(".mask"))));
        assert_eq!(Count::parse("of .map"), Some(Count::Of(path(".map"))));
        assert_eq!(Count::parse("12"), Some(Count::Always(12)));
        assert_eq!(Count::parse("entries"), Some(Count::Entries));
        assert_eq!(Count::parse("unknown"), Some(Count::Unknown));
        for wrong in ["", "size", "a.size", ".a .b", ".a - .b", ".a !b", "  ", ".a..b", "1 2", "of map", "3x", "-1"] {
            assert_eq!(Count::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn bits_are_those_of_a_mask() {
        let mask = Count::Bits(path(".mask").unwrap());
        assert_eq!(mask.of(&[Held::Value(Value::Signed(-1))]), Some(64));
        assert_eq!(mask.of(&[Held::Value(Value::Signed(0b1010))]), Some(2));
        assert_eq!(mask.of(&[Held::Unknown]), None);
    }

    #[test]
    fn a_ring_goes_on_at_its_start() {
        assert_eq!(way(Some(5), Some(2), Some(8)), Some(3));
        assert_eq!(way(Some(2), Some(5), Some(8)), Some(5));
        assert_eq!(way(Some(4), Some(4), Some(8)), Some(0));
        assert_eq!(way(Some(8), Some(4), Some(8)), None);
        assert_eq!(way(Some(8), None, Some(8)), None);
    }
}
