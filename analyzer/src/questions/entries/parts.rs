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
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Part {
    /// `.next`: the entries of the object there; with `~` at the end also if it is not known which of several fields of
    /// the name leads there.
    Of { path: FieldPath, is_any: bool },
    /// `.table[]`: the entries of each object that the array there holds.
    OfEach(FieldPath),
    /// `.map=`: the keys of the entries of the object there are the elements.
    KeysOf(FieldPath),
    /// `.key=.value`: an entry; with `?` at the end none if the value is null.
    Entry { key: FieldPath, value: FieldPath, unless_null: bool },
    /// `=.item`: an element; `=.item=`: one in no order.
    Element { value: FieldPath, unless: Unless, is_ordered: bool },
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
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Unless {
    Never,
    /// With `?` at the end: if it is null, or the object itself.
    Null,
    /// With `?java.lang.Object`: also if its type has this name.
    OfType(String),
}

impl Part {
    fn parse(word: &str) -> Option<Self> {
        if word == "=[]" {
            return Some(Part::OwnElements);
        }
        if let Some(count) = word.strip_prefix("[=").and_then(|rest| rest.strip_suffix(']')) {
            return path(count).map(Part::OwnTurns);
        }
        if let Some(count) = word.strip_prefix("=[").and_then(|rest| rest.strip_suffix(']')) {
            return Some(Part::OwnUnnamed { count: path(count)?, is_ordered: true });
        }
        if let Some(count) = word.strip_prefix('[').and_then(|rest| rest.strip_suffix("]=")) {
            return Some(Part::OwnUnnamed { count: path(count)?, is_ordered: false });
        }
        if let Some((value, count)) = word.strip_prefix('=').and_then(|word| word.split_once('*')) {
            return Some(Part::Copies { value: path(value)?, count: path(count)? });
        }
        if let Some(element) = word.strip_prefix('=').filter(|element| !element.contains('[')) {
            return Part::element(element);
        }
        if let Some(array) = word.strip_suffix("[=]") {
            return path(array).map(Part::Turns);
        }
        if let Some(any) = word.strip_suffix('~') {
            let path = path(any).filter(|path| path.names().len() == 1);
            return path.map(|path| Part::Of { path, is_any: true });
        }
        let (word, unless_null) = word.strip_suffix('?').map_or((word, false), |word| (word, true));
        let part = match word.split_once('=') {
            None => match word.strip_suffix("[]") {
                Some(array) => Part::OfEach(path(array)?),
                None => Part::Of { path: path(word)?, is_any: false },
            },
            Some(("", value)) => {
                let (array, places) = value.strip_suffix(']')?.split_once('[')?;
                let (head, count) = places.split_once(',').map_or((places, None), |(head, count)| (head, Some(count)));
                let head = if places.is_empty() { None } else { Some(path(head)?) };
                let count = if let Some(count) = count { Some(path(count)?) } else { None };
                Part::Elements { array: path(array)?, head, count }
            }
            Some((key, "")) => match key.strip_suffix(']').and_then(|key| key.split_once('[')) {
                Some((array, "")) => Part::Members { array: path(array)?, bits: None },
                Some((array, bits)) => Part::Members { array: path(array)?, bits: Some(path(bits)?) },
                None => Part::KeysOf(path(key)?),
            },
            Some((key, value)) => match (key.strip_suffix("[]"), value.strip_suffix("[]")) {
                (Some(keys), Some(values)) => Part::Parallel { keys: path(keys)?, values: path(values)? },
                _ => return Some(Part::Entry { key: path(key)?, value: path(value)?, unless_null }),
            },
        };
        (!unless_null).then_some(part)
    }

    /// Reads `.item`, perhaps with `?` and a type, and with `=`.
    fn element(word: &str) -> Option<Self> {
        let (word, is_ordered) = word.strip_suffix('=').map_or((word, true), |word| (word, false));
        let (value, unless) = match word.split_once('?') {
            None => (word, Unless::Never),
            Some((value, "")) => (value, Unless::Null),
            Some((value, name)) => (value, Unless::OfType(name.to_owned())),
        };
        Some(Part::Element { value: path(value)?, unless, is_ordered })
    }

    /// Whether the object itself is an entry or an element.
    pub(super) fn is_entry(&self) -> bool {
        matches!(self, Part::Entry { .. } | Part::Element { .. })
    }

    /// The fields that it is found from.
    pub(super) fn paths(&self) -> Vec<&FieldPath> {
        match self {
            Part::Of { path, .. }
            | Part::OfEach(path)
            | Part::KeysOf(path)
            | Part::Turns(path)
            | Part::OwnTurns(path)
            | Part::OwnUnnamed { count: path, .. } => vec![path],
            Part::Entry { key, value, .. } => vec![key, value],
            Part::Element { value, .. } => vec![value],
            Part::Copies { value, count } => vec![value, count],
            Part::Elements { array, head, count } => std::iter::once(array).chain(head).chain(count).collect(),
            Part::Members { array, bits } => std::iter::once(array).chain(bits).collect(),
            Part::Parallel { keys, values } => vec![keys, values],
            Part::OwnElements => Vec::new(),
        }
    }
}

fn path(text: &str) -> Option<FieldPath> {
    let is_plain = !text.contains(['[', ']', '=', '?', '~', ',', '*']);
    FieldPath::parse(text).filter(|path| is_plain && path.names().len() <= MOST_NAMES)
}

/// The parts in the attribute of the type, or of its nearest base with one; `None` if there is none or it cannot be parsed.
pub(super) fn of_type(tables: &Tables, id: TypeId) -> Option<Vec<Part>> {
    let words = tables.type_and_bases(id).find_map(|id| tables.type_attribute(id, ENTRIES))?.split(' ');
    let parts: Option<Vec<Part>> = words.take(MOST_PARTS + 1).map(Part::parse).collect();
    parts.filter(|parts| parts.len() <= MOST_PARTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_sixteen_forms() {
        let path = |text| FieldPath::parse(text).unwrap();
        let (a, b) = (path(".a"), path(".b"));
        let entry = |unless_null| Part::Entry { key: a.clone(), value: path(".b.c"), unless_null };
        for (text, part) in [
            (".a.b", Part::Of { path: path(".a.b"), is_any: false }),
            (".a~", Part::Of { path: a.clone(), is_any: true }),
            (".a[]", Part::OfEach(a.clone())),
            (".a=", Part::KeysOf(a.clone())),
            (".a=.b.c", entry(false)),
            (".a=.b.c?", entry(true)),
            ("=.a", Part::Element { value: a.clone(), unless: Unless::Never, is_ordered: true }),
            ("=.a?", Part::Element { value: a.clone(), unless: Unless::Null, is_ordered: true }),
            ("=.a?T$1=", Part::Element { value: a.clone(), unless: Unless::OfType("T$1".into()), is_ordered: false }),
            ("=.a*.b", Part::Copies { value: a.clone(), count: b.clone() }),
            ("=.a[]", Part::Elements { array: a.clone(), head: None, count: None }),
            ("=.a[.b]", Part::Elements { array: a.clone(), head: Some(b.clone()), count: None }),
            ("=.a[.b,.a]", Part::Elements { array: a.clone(), head: Some(b.clone()), count: Some(a.clone()) }),
            (".a[]=", Part::Members { array: a.clone(), bits: None }),
            (".a[.b]=", Part::Members { array: a.clone(), bits: Some(b.clone()) }),
            ("=[.a]", Part::OwnUnnamed { count: a.clone(), is_ordered: true }),
            ("[.a]=", Part::OwnUnnamed { count: a.clone(), is_ordered: false }),
            (".a[=]", Part::Turns(a.clone())),
            (".a[]=.b[]", Part::Parallel { keys: a.clone(), values: b }),
            ("=[]", Part::OwnElements),
            ("[=.a]", Part::OwnTurns(a)),
        ] {
            assert_eq!(Part::parse(text), Some(part), "{text}");
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
            ".a.b.c.d.e",
        ] {
            assert_eq!(Part::parse(wrong), None, "{wrong}");
        }
    }
}
