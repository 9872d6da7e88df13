//! The places of the entries of an object, from the attribute `entries` of its type.

use barrow_format::TypeId;

use crate::file::tables::Tables;
use crate::questions::fields::FieldPath;

/// The attribute of a type with the places of the entries of its objects.
const ENTRIES: &str = "entries";

/// The maximum number of parts of an attribute, and of names in a path. No known collection needs more, and each costs time.
const MOST_PARTS: usize = 8;
const MOST_NAMES: usize = 4;

/// A word of the attribute: a contribution of an object to the entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Contribution {
    /// `.next`: the entries of the object there; with `~` at the end also if it is not known which of several fields of
    /// the name leads there.
    Of { path: FieldPath, is_any: bool },
    /// `.table[]`: the entries of each object that the array there holds.
    OfEach(FieldPath),
    /// `.map=`: the keys of the entries of the object there are the elements.
    KeysOf(FieldPath),
    /// `.key=.value`: an entry; with `?` at the end none if the value is null. With `?` after the key it was freed if it is
    /// null, so that it is not the key null.
    Entry { key: FieldPath, value: FieldPath, unless_null: bool, is_weak: bool },
    /// `=.item`: an element; `=.item=`: one in no order.
    Element { value: FieldPath, unless: AbsentElement, is_ordered: bool },
    /// `=.item*.count`: an element as many times as a number says.
    Copies { value: FieldPath, count: FieldPath },
    /// `=.items[]`: the elements are those of the array there; `=.items[.head]`: in the order of a ring that begins at the
    /// place that a field holds; `=.items[.from,.count]`: only the number that another field holds.
    Elements { array: FieldPath, head: Option<FieldPath>, count: Option<FieldPath> },
    /// `.items[]=`: the elements are those of the array there, in no order; `.items[.bits]=`: only those whose bit is set in
    /// a number.
    Members { array: FieldPath, bits: Option<FieldPath> },
    /// `.table[=]`: keys and values take turns in the array there.
    Turns(FieldPath),
    /// `.table[map]`: the entries in the array there, which is a hash table of V8; `.table[set]`: the elements. Each has the
    /// number of slots, of which the last one holds a number.
    Buckets { table: FieldPath, slots: u64 },
    /// `.keys[]=.values[]`: entries of two arrays.
    Parallel { keys: FieldPath, values: FieldPath },
    /// `=[]`: the elements are the targets of the object's own references with an index.
    OwnElements,
    /// `[=.length]`: from the first one without a name on, its references lead to keys and values by turns. The field holds
    /// the number of pairs.
    OwnTurns(FieldPath),
    /// `=[.length]`: its references without a name lead to the elements, if the field holds their number; `[.length]=`: in no
    /// order.
    OwnUnnamed { count: FieldPath, is_ordered: bool },
}

/// When there is no element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AbsentElement {
    Never,
    /// With `?` at the end: if it is null, or the object itself.
    Null,
    /// With `?java.lang.Object`: also if its type has this name.
    OfType(String),
}

impl Contribution {
    fn parse(word: &str) -> Option<Self> {
        if word == "=[]" {
            return Some(Contribution::OwnElements);
        }
        if let Some(count) = word.strip_prefix("[=").and_then(|rest| rest.strip_suffix(']')) {
            return path(count).map(Contribution::OwnTurns);
        }
        if let Some(count) = word.strip_prefix("=[").and_then(|rest| rest.strip_suffix(']')) {
            return Some(Contribution::OwnUnnamed { count: path(count)?, is_ordered: true });
        }
        if let Some(count) = word.strip_prefix('[').and_then(|rest| rest.strip_suffix("]=")) {
            return Some(Contribution::OwnUnnamed { count: path(count)?, is_ordered: false });
        }
        if let Some((value, count)) = word.strip_prefix('=').and_then(|word| word.split_once('*')) {
            return Some(Contribution::Copies { value: path(value)?, count: path(count)? });
        }
        if let Some(element) = word.strip_prefix('=').filter(|element| !element.contains('[')) {
            return Contribution::element(element);
        }
        if let Some(array) = word.strip_suffix("[=]") {
            return path(array).map(Contribution::Turns);
        }
        for (suffix, slots) in [("[map]", 3), ("[set]", 2)] {
            if let Some(table) = word.strip_suffix(suffix) {
                return path(table).map(|table| Contribution::Buckets { table, slots });
            }
        }
        if let Some(any) = word.strip_suffix('~') {
            let path = path(any).filter(|path| path.steps().len() == 1);
            return path.map(|path| Contribution::Of { path, is_any: true });
        }
        let (word, unless_null) = word.strip_suffix('?').map_or((word, false), |word| (word, true));
        let part = match word.split_once('=') {
            None => match word.strip_suffix("[]") {
                Some(array) => Contribution::OfEach(path(array)?),
                None => Contribution::Of { path: path(word)?, is_any: false },
            },
            Some(("", value)) => {
                let (array, places) = value.strip_suffix(']')?.split_once('[')?;
                let (head, count) = places.split_once(',').map_or((places, None), |(head, count)| (head, Some(count)));
                let head = if places.is_empty() { None } else { Some(path(head)?) };
                let count = if let Some(count) = count { Some(path(count)?) } else { None };
                Contribution::Elements { array: path(array)?, head, count }
            }
            Some((key, "")) => match key.strip_suffix(']').and_then(|key| key.split_once('[')) {
                Some((array, "")) => Contribution::Members { array: path(array)?, bits: None },
                Some((array, bits)) => Contribution::Members { array: path(array)?, bits: Some(path(bits)?) },
                None => Contribution::KeysOf(path(key)?),
            },
            Some((key, value)) => match (key.strip_suffix("[]"), value.strip_suffix("[]")) {
                (Some(keys), Some(values)) => Contribution::Parallel { keys: path(keys)?, values: path(values)? },
                _ => {
                    let (key, is_weak) = key.strip_suffix('?').map_or((key, false), |key| (key, true));
                    return Some(Contribution::Entry { key: path(key)?, value: path(value)?, unless_null, is_weak });
                }
            },
        };
        (!unless_null).then_some(part)
    }

    /// Reads `.item`, perhaps with `?` and a type, and with `=`.
    fn element(word: &str) -> Option<Self> {
        let (word, is_ordered) = word.strip_suffix('=').map_or((word, true), |word| (word, false));
        let (value, unless) = match word.split_once('?') {
            None => (word, AbsentElement::Never),
            Some((value, "")) => (value, AbsentElement::Null),
            Some((value, name)) => (value, AbsentElement::OfType(name.to_owned())),
        };
        Some(Contribution::Element { value: path(value)?, unless, is_ordered })
    }

    /// Returns whether the object itself is an entry or an element.
    pub(super) fn is_entry(&self) -> bool {
        matches!(self, Contribution::Entry { .. } | Contribution::Element { .. })
    }

    /// Returns whether it contributes entries that have a key.
    pub(super) fn has_key(&self) -> bool {
        use Contribution::{Buckets, Entry, OwnTurns, Parallel, Turns};
        matches!(self, Entry { .. } | Turns(_) | OwnTurns(_) | Parallel { .. } | Buckets { slots: 3, .. })
    }

    /// Returns whether it may lead to entries that have a key.
    pub(super) fn leads_to_keys(&self) -> bool {
        self.has_key() || matches!(self, Contribution::Of { .. } | Contribution::OfEach(_))
    }

    /// Returns whether it may lead to elements that have an index.
    pub(super) fn leads_to_indices(&self) -> bool {
        match self {
            Contribution::Element { is_ordered, .. } | Contribution::OwnUnnamed { is_ordered, .. } => *is_ordered,
            Contribution::Of { .. }
            | Contribution::OfEach(_)
            | Contribution::Copies { .. }
            | Contribution::Elements { .. }
            | Contribution::OwnElements => true,
            _ => false,
        }
    }

    /// The fields that it is found from.
    pub(super) fn paths(&self) -> Vec<&FieldPath> {
        match self {
            Contribution::Of { path, .. }
            | Contribution::OfEach(path)
            | Contribution::KeysOf(path)
            | Contribution::Turns(path)
            | Contribution::OwnTurns(path)
            | Contribution::Buckets { table: path, .. }
            | Contribution::OwnUnnamed { count: path, .. } => vec![path],
            Contribution::Entry { key, value, .. } => vec![key, value],
            Contribution::Element { value, .. } => vec![value],
            Contribution::Copies { value, count } => vec![value, count],
            Contribution::Elements { array, head, count } => std::iter::once(array).chain(head).chain(count).collect(),
            Contribution::Members { array, bits } => std::iter::once(array).chain(bits).collect(),
            Contribution::Parallel { keys, values } => vec![keys, values],
            Contribution::OwnElements => Vec::new(),
        }
    }
}

fn path(text: &str) -> Option<FieldPath> {
    let is_plain = !text.contains(['[', ']', '=', '?', '~', ',', '*']);
    FieldPath::of_attribute(ENTRIES, text).filter(|path| is_plain && path.steps().len() <= MOST_NAMES)
}

/// The attribute of the type, or of its nearest base with one.
pub(super) fn text_of_type(tables: &Tables, id: TypeId) -> Option<&str> {
    tables.type_and_bases(id).find_map(|id| tables.type_attribute(id, ENTRIES))
}

/// The parts in an attribute; `None` if it cannot be parsed.
pub(super) fn parse(text: &str) -> Option<Vec<Contribution>> {
    let parts: Option<Vec<Contribution>> = text.split(' ').take(MOST_PARTS + 1).map(Contribution::parse).collect();
    parts.filter(|parts| parts.len() <= MOST_PARTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_nineteen_forms() {
        let path = |text| FieldPath::of_attribute(ENTRIES, text).unwrap();
        let (a, b) = (path(".a"), path(".b"));
        let entry = |unless_null, is_weak| {
            let (key, value) = (a.clone(), path(".b.c"));
            Contribution::Entry { key, value, unless_null, is_weak }
        };
        for (text, part) in [
            (".a.b", Contribution::Of { path: path(".a.b"), is_any: false }),
            (".a~", Contribution::Of { path: a.clone(), is_any: true }),
            (".a[]", Contribution::OfEach(a.clone())),
            (".a=", Contribution::KeysOf(a.clone())),
            (".a=.b.c", entry(false, false)),
            (".a=.b.c?", entry(true, false)),
            (".a?=.b.c", entry(false, true)),
            ("=.a", Contribution::Element { value: a.clone(), unless: AbsentElement::Never, is_ordered: true }),
            ("=.a?", Contribution::Element { value: a.clone(), unless: AbsentElement::Null, is_ordered: true }),
            (
                "=.a?T$1=",
                Contribution::Element {
                    value: a.clone(),
                    unless: AbsentElement::OfType("T$1".into()),
                    is_ordered: false,
                },
            ),
            ("=.a*.b", Contribution::Copies { value: a.clone(), count: b.clone() }),
            ("=.a[]", Contribution::Elements { array: a.clone(), head: None, count: None }),
            ("=.a[.b]", Contribution::Elements { array: a.clone(), head: Some(b.clone()), count: None }),
            ("=.a[.b,.a]", Contribution::Elements { array: a.clone(), head: Some(b.clone()), count: Some(a.clone()) }),
            (".a[]=", Contribution::Members { array: a.clone(), bits: None }),
            (".a[.b]=", Contribution::Members { array: a.clone(), bits: Some(b.clone()) }),
            ("=[.a]", Contribution::OwnUnnamed { count: a.clone(), is_ordered: true }),
            ("[.a]=", Contribution::OwnUnnamed { count: a.clone(), is_ordered: false }),
            (".a[=]", Contribution::Turns(a.clone())),
            (".a[]=.b[]", Contribution::Parallel { keys: a.clone(), values: b }),
            (".a.b[map]", Contribution::Buckets { table: path(".a.b"), slots: 3 }),
            (".a[set]", Contribution::Buckets { table: a.clone(), slots: 2 }),
            ("=[]", Contribution::OwnElements),
            ("[=.a]", Contribution::OwnTurns(a)),
        ] {
            assert_eq!(Contribution::parse(text), Some(part), "{text}");
        }
        for wrong in [
            "",
            "a",
            "=",
            "[]",
            "[=]",
            ".",
            ".a?",
            ".a[]?",
            ".a=?",
            ".a?=",
            ".a[]?=.b[]",
            "=.a[]?",
            ".a[=]?",
            ".a[]=.b",
            ".a=.b[]",
            ".a=b",
            "=a",
            "=.a[b]",
            "=.a*",
            "=.a*.b?",
            "=.a*.b*.c",
            ".a*.b",
            "=.a[.b",
            "=.a[,.b]",
            "=.a[.b,]",
            "=.a[.b,.b,.b]",
            ".a[.b,.b]=",
            "=[.a]=",
            "=",
            "=.a].b",
            ".a[].b",
            ".a.b~",
            ".a[]~",
            "=.a~",
            ".a==.b",
            "=.a[map]",
            "[map]",
            ".a[map]=",
            ".a.b.c.d.e",
        ] {
            assert_eq!(Contribution::parse(wrong), None, "{wrong}");
        }
    }
}
