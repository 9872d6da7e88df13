//! Entries of WeakMaps.
//!
//! ```text
//!   table ──weak─────▶ key         V8 writes two strong edges to the value, one from the table
//!     │                 │          and one from the key, with names that belong together:
//!     └──internal─┐ ┌───┘internal
//!                 ▼ ▼              12 / part of key (Key @7) -> value (Value @9) pair in WeakMap (table @5)
//!                value
//! ```
//!
//! The value is alive as long as table *and* key are. In a recording, the table's edge becomes an ephemeron, which
//! follows the table's weak reference to the key, and the key's edge retains nothing by itself. DevTools ignores the
//! table's edge and lets the key alone retain the value.

use std::sync::atomic::{AtomicU64, Ordering};

use foldhash::{HashMap, HashMapExt, HashSet};

use super::reference::Reference;
use crate::error::Stop;
use barrow_writer::StrengthId;

/// The name of an edge to the value of an entry, which holds ids of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EntryName {
    pub(crate) key: u64,
    pub(crate) table: u64,
}

const BEFORE_KEY: &[u8] = b" / part of key (";
const BEFORE_VALUE: &[u8] = b") -> value (";
const BEFORE_TABLE: &[u8] = b" pair in WeakMap (table @";

impl EntryName {
    /// Reads the name of an edge, with the escapes of the dump.
    pub(crate) fn read(raw: &[u8]) -> Option<EntryName> {
        let digits = raw.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let rest = raw.get(digits..).filter(|_| digits > 0)?.strip_prefix(BEFORE_KEY)?;
        let table = memchr::memmem::rfind(rest, BEFORE_TABLE)?;
        let table_id = number(rest[table + BEFORE_TABLE.len()..].strip_suffix(b")")?)?;
        let ends = memchr::memmem::find_iter(rest, BEFORE_VALUE);
        // A name can hold anything: the first possible key counts, as in DevTools.
        let key = ends.filter_map(|end| last_id(&rest[..end])).next()?;
        let _value = last_id(rest[..table].strip_suffix(b")")?)?;
        Some(EntryName { key, table: table_id })
    }
}

/// The number after the last `@`.
fn last_id(text: &[u8]) -> Option<u64> {
    number(&text[memchr::memrchr(b'@', text)? + 1..])
}

fn number(digits: &[u8]) -> Option<u64> {
    if digits.iter().all(u8::is_ascii_digit) { str::from_utf8(digits).ok()?.parse().ok() } else { None }
}

/// All entries that the strings name.
pub(crate) fn entry_names(strings: &[u8]) -> impl Iterator<Item = EntryName> {
    memchr::memmem::find_iter(strings, BEFORE_TABLE).filter_map(|found| {
        // The end of a string, which each string has once: so no text is searched repeatedly.
        let after = &strings[found + BEFORE_TABLE.len()..];
        let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
        after[digits..].starts_with(b")\"").then_some(())?;
        let start = opening_quote(&strings[..found]).map_or(0, |quote| quote + 1);
        EntryName::read(&strings[start..found + BEFORE_TABLE.len() + digits + 1])
    })
}

/// The last quote that is not escaped.
fn opening_quote(strings: &[u8]) -> Option<usize> {
    let mut end = strings.len();
    loop {
        let quote = memchr::memrchr(b'"', &strings[..end])?;
        let backslashes = strings[..quote].iter().rev().take_while(|&&byte| byte == b'\\').count();
        if backslashes.is_multiple_of(2) {
            return Some(quote);
        }
        end = quote;
    }
}

/// The keys and tables of all entries of WeakMaps: nodes whose rows must be found.
#[derive(Default)]
pub(crate) struct WeakMapNodes {
    rows: HashMap<u64, AtomicU64>,
    /// A bit for some of the ids, which excludes most nodes quickly.
    filter: Vec<u64>,
    tables: HashSet<u64>,
}

/// No row yet.
const UNSEEN: u64 = u64::MAX;

impl WeakMapNodes {
    /// The nodes that the entries name as keys or tables.
    pub(crate) fn of(entries: &[EntryName]) -> WeakMapNodes {
        let mut wanted = WeakMapNodes::default();
        for pair in entries {
            for id in [pair.key, pair.table] {
                wanted.rows.entry(id).or_insert(AtomicU64::new(UNSEEN));
            }
            wanted.tables.insert(pair.table);
        }
        if !wanted.rows.is_empty() {
            let bits = (wanted.rows.len() * 16).next_power_of_two().max(1 << 10);
            wanted.filter = vec![0; bits / 64];
            for &id in wanted.rows.keys() {
                let (word, bit) = filter_bit(id, bits / 64);
                wanted.filter[word] |= bit;
            }
        }
        wanted
    }

    /// Notes that a node has this id and row.
    #[inline]
    pub(crate) fn see(&self, id: u64, row: u64) {
        let (word, bit) = filter_bit(id, self.filter.len());
        if self.filter.get(word).is_some_and(|word| word & bit != 0)
            && let Some(seen) = self.rows.get(&id)
        {
            // Relaxed: read after the threads have ended. Of several nodes with one id, the first counts.
            seen.fetch_min(row, Ordering::Relaxed);
        }
    }

    /// The rows that were found.
    pub(crate) fn into_entries(self) -> Entries {
        let rows = self.rows.into_iter().map(|(id, row)| (id, row.into_inner()));
        let rows: HashMap<u64, u64> = rows.filter(|&(_, row)| row != UNSEEN).collect();
        let mut tables: Vec<u64> = self.tables.iter().filter_map(|id| rows.get(id).copied()).collect();
        tables.sort_unstable();
        Entries { rows, tables }
    }
}

/// The word and bit of an id in the filter of `words` words, a power of two.
#[inline]
fn filter_bit(id: u64, words: usize) -> (usize, u64) {
    // Ids of one kind are all odd or all even; a multiplication spreads them.
    let spread = id.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    ((spread >> 6) as usize & words.wrapping_sub(1), 1 << (spread & 63))
}

/// The nodes that belong to entries of WeakMaps.
#[derive(Default)]
pub(crate) struct Entries {
    /// By id.
    rows: HashMap<u64, u64>,
    /// The rows of tables, ascending.
    tables: Vec<u64>,
}

/// An edge to the value of an entry, by its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueEdge {
    /// From the table; the row is the key's.
    Table(u64),
    /// From the key.
    Key,
}

impl Entries {
    /// The tables from `row` on.
    pub(crate) fn tables_from(&self, row: u64) -> impl Iterator<Item = u64> {
        self.tables[self.tables.partition_point(|&table| table < row)..].iter().copied()
    }

    /// The meaning of an edge with this name for its source; `None` if it is not half of an entry.
    pub(crate) fn value_edge(&self, pair: EntryName, source_id: u64) -> Option<ValueEdge> {
        let (&key, _) = (self.rows.get(&pair.key)?, self.rows.get(&pair.table)?);
        if source_id == pair.table {
            Some(ValueEdge::Table(key))
        } else {
            (source_id == pair.key).then_some(ValueEdge::Key)
        }
    }
}

/// Announces the references of a table in the order that ephemerons need: each follows the weak reference to its key.
/// A value without such a reference is retained strongly.
pub(crate) fn ordered(
    references: &[(Reference, Option<u64>)],
    weak: StrengthId,
    ephemeron: StrengthId,
    mut announce: impl FnMut(Reference) -> Result<(), Stop>,
) -> Result<(), Stop> {
    // By row of the key: its weak references, which wait for the values; the first comes last.
    let mut waiting: HashMap<u64, Vec<usize>> = HashMap::new();
    for key in references.iter().filter_map(|&(_, key)| key) {
        waiting.entry(key).or_default();
    }
    for (at, (reference, key)) in references.iter().enumerate().rev() {
        if key.is_none() && reference.strength == weak {
            waiting.entry(reference.target).and_modify(|waiting| waiting.push(at));
        }
    }
    for (reference, _) in references.iter().filter(|(_, key)| key.is_none()) {
        if reference.strength != weak || !waiting.contains_key(&reference.target) {
            announce(*reference)?;
        }
    }
    for &(value, key) in references {
        let Some(key) = key else { continue };
        let mut strength = StrengthId::STRONG;
        if let Some(at) = waiting.get_mut(&key).and_then(Vec::pop) {
            announce(references[at].0)?;
            strength = ephemeron;
        }
        announce(Reference { strength, ..value })?;
    }
    let mut rest: Vec<usize> = waiting.into_values().flatten().collect();
    rest.sort_unstable();
    rest.into_iter().try_for_each(|at| announce(references[at].0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use barrow_writer::Label;

    const NAME: &str = "12 / part of key (Key @7) -> value (Value @9) pair in WeakMap (table @5)";

    #[test]
    fn names_of_entries_are_understood() {
        let read = |name: &str| EntryName::read(name.as_bytes());
        assert_eq!(read(NAME), Some(EntryName { key: 7, table: 5 }));
        assert_eq!(read(&NAME[2..]), None, "no number");
        assert_eq!(read(&NAME[..NAME.len() - 1]), None, "as long names are cut");
        assert_eq!(read(&NAME.replace("@7", "7")), None);
        assert_eq!(read(&NAME.replace("@9", "@x9")), None);
        let strange = NAME.replace("(Key @7)", "(a) -> value (b) @1) -> value (c @3)");
        assert_eq!(read(&strange), Some(EntryName { key: 1, table: 5 }), "as DevTools understands it");
    }

    #[test]
    fn entries_are_found_among_all_strings() {
        let other = NAME.replace("@7", "@11").replace("Key", "a \"quoted\" pair in WeakMap (table @8");
        let other = other.replace('"', "\\\"");
        let strings = format!("a\",\"{NAME}\",\"b\",\"{other}\",\"x{NAME}\",\"{NAME} \"]");
        let found: Vec<EntryName> = entry_names(strings.as_bytes()).collect();
        assert_eq!(found, [EntryName { key: 7, table: 5 }, EntryName { key: 11, table: 5 }]);
        let wanted = WeakMapNodes::of(&found);
        for (row, id) in (0..).zip([3, 5, 7, 7, 9]) {
            wanted.see(id, row);
        }
        let entries = wanted.into_entries();
        assert_eq!(entries.tables_from(0).collect::<Vec<_>>(), [1]);
        assert_eq!(entries.tables_from(2).count(), 0);
        let edge = |key, source| entries.value_edge(EntryName { key, table: 5 }, source);
        assert_eq!((edge(7, 5), edge(7, 7), edge(7, 3)), (Some(ValueEdge::Table(2)), Some(ValueEdge::Key), None));
        assert_eq!(edge(11, 5), None, "no node has this key's id");
    }

    #[test]
    fn a_value_follows_its_key() {
        let (weak, ephemeron) = (StrengthId(1), StrengthId(2));
        let reference = |index, strength, target| Reference { label: Label::Index(index), strength, target };
        let of_table = [
            (reference(0, StrengthId::STRONG, 90), None),
            (reference(1, weak, 7), None),
            (reference(2, weak, 9), None),
            (reference(10, StrengthId::STRONG, 9), Some(7)),
            // The value of the first entry is the key of the second.
            (reference(3, weak, 9), None),
            (reference(4, weak, 8), None),
            (reference(11, StrengthId::STRONG, 8), Some(9)),
            (reference(12, StrengthId::STRONG, 8), Some(6)),
        ];
        let mut announced = Vec::new();
        ordered(&of_table, weak, ephemeron, |reference| {
            announced.push(reference);
            Ok(())
        })
        .expect("announced");
        let expected = [
            reference(0, StrengthId::STRONG, 90),
            reference(4, weak, 8),
            reference(1, weak, 7),
            reference(10, ephemeron, 9),
            reference(2, weak, 9),
            reference(11, ephemeron, 8),
            reference(12, StrengthId::STRONG, 8),
            reference(3, weak, 9),
        ];
        assert_eq!(announced, expected);
    }
}
