//! Where the entries of an object are, as the attribute `entries` of its type says.

use barrow_format::TypeId;

use crate::file::tables::Tables;
use crate::questions::fields::FieldPath;

/// The attribute of a type with the places of the entries of its objects.
const ENTRIES: &str = "entries";

/// The most parts of an attribute, and the most names of a path: more are of no use, and each costs time.
const MOST_PARTS: usize = 8;
const MOST_NAMES: usize = 4;

/// A word of the attribute: what an object contributes.
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
    /// `=.item`: an element; with `?` at the end none if it is null.
    Element { value: FieldPath, unless_null: bool },
    /// `=.items[]`: what the array there holds are the elements; `=.items[.head]`: from the place on that a field
    /// holds.
    Elements { array: FieldPath, head: Option<FieldPath> },
    /// `.items[]=`: what the array there holds are the elements, in no order.
    Members(FieldPath),
    /// `.table[=]`: keys and values take turns in the array there.
    Turns(FieldPath),
    /// `.keys[]=.values[]`: entries of two arrays.
    Parallel { keys: FieldPath, values: FieldPath },
    /// `=[]`: what the object's own references with an index lead to are the elements.
    OwnElements,
    /// `[=.length]`: from the first one without a name on, its references lead to keys and values by turns, twice as
    /// many as the field says.
    OwnTurns(FieldPath),
}

impl Part {
    fn parse(word: &str) -> Option<Self> {
        if word == "=[]" {
            return Some(Part::OwnElements);
        }
        if let Some(count) = word.strip_prefix("[=").and_then(|rest| rest.strip_suffix(']')) {
            return path(count).map(Part::OwnTurns);
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
            Some(("", value)) => match value.strip_suffix(']').and_then(|value| value.split_once('[')) {
                Some((array, "")) => Part::Elements { array: path(array)?, head: None },
                Some((array, head)) => Part::Elements { array: path(array)?, head: Some(path(head)?) },
                None => return Some(Part::Element { value: path(value)?, unless_null }),
            },
            Some((key, "")) => match key.strip_suffix("[]") {
                Some(array) => Part::Members(path(array)?),
                None => Part::KeysOf(path(key)?),
            },
            Some((key, value)) => match (key.strip_suffix("[]"), value.strip_suffix("[]")) {
                (Some(keys), Some(values)) => Part::Parallel { keys: path(keys)?, values: path(values)? },
                _ => return Some(Part::Entry { key: path(key)?, value: path(value)?, unless_null }),
            },
        };
        (!unless_null).then_some(part)
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
            | Part::Members(path)
            | Part::Turns(path)
            | Part::OwnTurns(path) => vec![path],
            Part::Entry { key, value, .. } => vec![key, value],
            Part::Element { value, .. } => vec![value],
            Part::Elements { array, head } => std::iter::once(array).chain(head).collect(),
            Part::Parallel { keys, values } => vec![keys, values],
            Part::OwnElements => Vec::new(),
        }
    }
}

fn path(text: &str) -> Option<FieldPath> {
    let is_plain = !text.contains(['[', ']', '=', '?', '~']);
    FieldPath::parse(text).filter(|path| is_plain && path.names().len() <= MOST_NAMES)
}

/// What the type says, or the first that it is derived from that says anything; `None` if that cannot be read.
pub(super) fn of_type(tables: &Tables, id: TypeId) -> Option<Vec<Part>> {
    let said = |id| tables.type_attributes(id).find(|(key, _)| *key == ENTRIES).map(|(_, value)| value);
    let words = tables.type_and_bases(id).find_map(said)?.split(' ');
    let parts: Option<Vec<Part>> = words.take(MOST_PARTS + 1).map(Part::parse).collect();
    parts.filter(|parts| parts.len() <= MOST_PARTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_eleven_forms() {
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
            ("=.a", Part::Element { value: a.clone(), unless_null: false }),
            ("=.a?", Part::Element { value: a.clone(), unless_null: true }),
            ("=.a[]", Part::Elements { array: a.clone(), head: None }),
            ("=.a[.b]", Part::Elements { array: a.clone(), head: Some(b.clone()) }),
            (".a[]=", Part::Members(a.clone())),
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
            "=.a[.b",
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
