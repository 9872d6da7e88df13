//! What can be asked of every object by a word: in `list`, after `by` of `find`, and as a key of `group`. Expressions have
//! the same words; `barrow_analyzer::ATTRIBUTES` says what each means.

mod cells;

use barrow_analyzer::{GroupKey, Heap, ObjectDetails, Progress};

use crate::answer::{Column, Unit, Value};
use crate::error::QueryError;

/// Reads an attribute of objects: a value for each of them.
type Read = fn(&[ObjectDetails], &Heap, &dyn Progress) -> Result<Vec<Value>, QueryError>;

/// An attribute of objects.
#[derive(Debug)]
pub(crate) struct ObjectAttribute {
    /// The words for it; the first is the usual one.
    words: &'static [&'static str],
    key: &'static str,
    heading: &'static str,
    unit: Unit,
    pub(crate) read: Read,
    /// The key that divides objects by it, if it does not tell nearly each one from all others.
    pub(crate) group: Option<GroupKey>,
}

/// All attributes, in the order of `help expressions`. `is` is none: it compares a type with all that the object's type is
/// derived from, and has no value.
const OBJECTS: [ObjectAttribute; 26] = {
    const fn row(
        words: &'static [&'static str],
        (key, heading, unit): (&'static str, &'static str, Unit),
        read: Read,
        group: Option<GroupKey>,
    ) -> ObjectAttribute {
        ObjectAttribute { words, key, heading, unit, read, group }
    }
    [
        row(&["type"], ("type", "type", Unit::Text), cells::types, Some(GroupKey::Type)),
        row(&["package"], ("package", "package", Unit::Text), cells::packages, Some(GroupKey::Package)),
        row(&["superclass"], ("superclass", "superclass", Unit::Text), cells::superclasses, Some(GroupKey::Superclass)),
        row(&["loader"], ("loader", "loader", Unit::Text), cells::loaders, Some(GroupKey::Loader)),
        row(&["name"], ("name", "name", Unit::Text), cells::names, None),
        row(&["text"], ("name", "name", Unit::Text), cells::names, Some(GroupKey::Text)),
        row(&["line"], ("line", "line", Unit::Text), cells::lines, Some(GroupKey::Line)),
        row(&["kind"], ("kind", "kind", Unit::Text), cells::kinds, Some(GroupKey::Kind)),
        row(&["layout", "repr"], ("layout", "layout", Unit::Text), cells::layouts, Some(GroupKey::Layout)),
        row(&["file"], ("file", "file", Unit::Text), cells::files, Some(GroupKey::File)),
        row(&["size", "shallow"], ("shallow_bytes", "shallow", Unit::Bytes), cells::sizes, None),
        row(&["unmanaged"], ("unmanaged_bytes", "unmanaged", Unit::Bytes), cells::unmanaged, None),
        row(&["retained"], ("retained_bytes", "retained", Unit::Bytes), cells::retained, None),
        row(&["elements"], ("elements", "elements", Unit::Count), cells::elements, None),
        row(&["fill"], ("fill", "fill", Unit::Share), cells::fills, None),
        row(&["distance"], ("distance", "distance", Unit::Count), cells::distances, None),
        row(&["inrefs", "in", "incoming"], ("incoming", "inrefs", Unit::Count), cells::incoming, None),
        row(&["refs", "references", "outrefs"], ("references", "references", Unit::Count), cells::references, None),
        row(&["id"], ("id", "id", Unit::Number), cells::ids, None),
        row(&["site"], ("site", "site", Unit::Number), cells::sites, Some(GroupKey::Site)),
        row(
            &["generation"],
            ("generation", "generation", Unit::Number),
            cells::generations,
            Some(GroupKey::Generation),
        ),
        row(&["serial"], ("serial", "serial", Unit::Number), cells::serials, None),
        row(&["address"], ("address", "address", Unit::Address), cells::addresses, None),
        row(&["reachable"], ("reachable", "reachable", Unit::Text), cells::are_reachable, None),
        row(&["unreachable"], ("unreachable", "unreachable", Unit::Text), cells::are_unreachable, None),
        row(&["root"], ("root", "root", Unit::Text), cells::are_roots, None),
    ]
};

/// The attribute of this name.
pub(crate) fn named(word: &str) -> Option<&'static ObjectAttribute> {
    static ALL: [ObjectAttribute; 26] = OBJECTS;
    ALL.iter().find(|attribute| attribute.words.contains(&word))
}

/// The usual word for each.
pub(crate) fn words() -> Vec<&'static str> {
    OBJECTS.iter().map(|attribute| attribute.words[0]).collect()
}

/// The words of those that are numbers, which rank objects.
pub(crate) fn ranking_words() -> Vec<&'static str> {
    OBJECTS.iter().filter(|attribute| attribute.ranks()).map(|attribute| attribute.words[0]).collect()
}

/// The words of those that objects are grouped by.
pub(crate) fn group_words() -> Vec<&'static str> {
    OBJECTS.iter().filter(|attribute| attribute.group.is_some()).map(|attribute| attribute.words[0]).collect()
}

impl ObjectAttribute {
    /// The column of a table that shows it.
    pub(crate) fn column(&self) -> Column {
        Column::new(self.key, self.unit).called(self.heading)
    }

    /// Whether it is a number, so that some objects have most of it.
    pub(crate) fn ranks(&self) -> bool {
        self.unit != Unit::Text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `is` compares, and has no value.
    #[test]
    fn every_attribute_of_expressions_has_a_row() {
        let known: Vec<&str> =
            barrow_analyzer::ATTRIBUTES.iter().map(|(word, _)| *word).filter(|word| *word != "is").collect();
        assert_eq!(words(), known);
    }
}
