//! A chain of objects in the dominator tree, such as a linked list.

use barrow_format::TypeId;

/// The maximum number of types: nodes of lists and maps have one or two, with a holder in between. This is a judgement.
pub(super) const MOST_TYPES: usize = 3;
/// The fewest objects of a chain: shorter ones are shown one by one, as a folded row explains more than it saves. This
/// is a judgement.
pub(super) const LEAST_OBJECTS: usize = 8;

/// A chain of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chain {
    pub(super) types: [TypeId; MOST_TYPES],
    /// The number of types.
    pub(super) count: usize,
    /// They repeat in this order.
    pub is_periodic: bool,
    /// The number of its objects.
    pub objects: u64,
    /// The bytes of its objects themselves.
    pub own_bytes: u64,
}

impl Chain {
    /// The types that repeat, or all types if they are in no order.
    #[must_use]
    pub fn types(&self) -> &[TypeId] {
        &self.types[..self.count]
    }
}

/// The beginning of a line of objects that is a chain: the number of its objects, its types, and whether they repeat in this
/// order. `types` are those of the objects, of which at most [`MOST_TYPES`] differ.
///
/// ```text
///   Node Node Node Node Node Node Node Node Leaf      Node × 8
///   Map Entry Map Entry Map Entry Map Entry Map       (Map, Entry) × 4.5
///   Text Text Style Text Text Text Style Text Leaf    Text and Style in no order × 8
/// ```
pub(super) fn beginning(types: &[TypeId]) -> Option<(usize, Vec<TypeId>, bool)> {
    let (periodic, period) = periodic(types);
    let mixed = mixed(types);
    // A list of lists is a chain of its own for each.
    if mixed >= LEAST_OBJECTS && (periodic < LEAST_OBJECTS || mixed >= 2 * periodic) {
        return Some((mixed, distinct(&types[..mixed]), false));
    }
    (periodic >= LEAST_OBJECTS).then(|| (periodic, types[..period].to_vec(), true))
}

/// The longest beginning in which one to three types repeat, and their number.
fn periodic(types: &[TypeId]) -> (usize, usize) {
    let length =
        |period: usize| (period..types.len()).find(|&at| types[at] != types[at - period]).unwrap_or(types.len());
    let all = (1..=MOST_TYPES.min(types.len())).map(|period| (length(period), period));
    all.min_by_key(|&(length, period)| (std::cmp::Reverse(length), period)).unwrap_or((0, 1))
}

/// The longest beginning in which each type is left and comes again.
fn mixed(types: &[TypeId]) -> usize {
    let mut length = types.len();
    loop {
        let once = distinct(&types[..length]).into_iter().filter_map(|type_id| {
            let mut runs = types[..length].chunk_by(|one, other| one == other).filter(|run| run[0] == type_id);
            runs.next()?;
            let is_once = runs.next().is_none();
            is_once.then(|| types.iter().position(|&one| one == type_id).unwrap_or(0))
        });
        match once.min() {
            Some(first) => length = first,
            None => return length,
        }
    }
}

fn distinct(types: &[TypeId]) -> Vec<TypeId> {
    let mut distinct = Vec::new();
    for &type_id in types {
        if !distinct.contains(&type_id) {
            distinct.push(type_id);
        }
    }
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(letters: &str) -> Option<(usize, String, bool)> {
        let types: Vec<TypeId> = letters.bytes().map(|letter| TypeId(letter.into())).collect();
        let text = |types: Vec<TypeId>| types.into_iter().map(|id| id.0 as u8 as char).collect();
        beginning(&types).map(|(objects, types, is_periodic)| (objects, text(types), is_periodic))
    }

    #[test]
    fn types_repeat_or_come_again() {
        let expected = [
            ("nnnnnnnn", Some((8, "n", true))),
            ("nnnnnnn", None),
            ("nnnnnnnnl", Some((8, "n", true))),
            ("meamemem", None),
            ("memememem", Some((9, "me", true))),
            ("aabaabaab", Some((9, "aab", true))),
            ("ttsttttstt", Some((10, "ts", false))),
            ("ttstttstsl", Some((9, "ts", false))),
            ("httsttstst", None),
            ("nnnnnnnnnmmmmmmmmm", Some((9, "n", true))),
            ("ttsttlttstts", None),
            ("tttttttttsttststtst", Some((19, "ts", false))),
            ("", None),
        ];
        for (types, chain_of) in expected {
            assert_eq!(chain(types), chain_of.map(|(objects, of, is)| (objects, of.to_owned(), is)), "{types}");
        }
    }
}
