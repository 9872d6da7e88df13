//! Attributes of objects, wherever a word names one: in `list`, after `by` of `find`, and as a key of `group`. Their words
//! and documents are those of expressions, in [`barrow_analyzer::ATTRIBUTES`]. A row here adds the column and its cells,
//! which a text of types has anyway. Attributes of processes are in [`processes`].

mod cells;
pub(crate) mod processes;
pub(crate) mod totals;

use std::sync::LazyLock;

use barrow_analyzer::{ATTRIBUTES, Attribute, GroupKey, Heap, ObjectDetails, Progress};

use crate::answer::{Column, Unit, Value};
use crate::error::QueryError;

use totals::Total;

/// An attribute of objects.
#[derive(Debug, Clone)]
pub(crate) struct ObjectAttribute {
    /// Its words and its document.
    pub(crate) of: &'static Attribute,
    key: &'static str,
    heading: &'static str,
    unit: Unit,
    /// The key that divides objects by it, if it does not tell nearly each one from all others.
    pub(crate) group: Option<GroupKey>,
    /// The number of several objects that it adds up to.
    total: Option<Total>,
}

/// All attributes, in the order of `help expressions`. `is` is none: it compares a type with all that the object's type is
/// derived from, and has no value.
static OBJECTS: LazyLock<Vec<ObjectAttribute>> = LazyLock::new(|| {
    let attributes = ATTRIBUTES.iter().filter_map(|of| match of.of_type() {
        Some(_) => Some(ObjectAttribute::of_types(of)),
        None => OF_OBJECTS.iter().find(|own| own.of == of).cloned(),
    });
    attributes.collect()
});

/// Attributes that are no text of types, in any order.
static OF_OBJECTS: [ObjectAttribute; 21] = {
    const fn row(
        word: &'static str,
        (key, heading, unit): (&'static str, &'static str, Unit),
        group: Option<GroupKey>,
    ) -> ObjectAttribute {
        ObjectAttribute { of: of_expressions(word), key, heading, unit, group, total: None }
    }
    [
        row("type", ("type", "type", Unit::Text), Some(GroupKey::Type)),
        row("name", ("name", "name", Unit::Text), None),
        row("text", ("name", "name", Unit::Text), Some(GroupKey::Text)),
        row("line", ("line", "line", Unit::Text), Some(GroupKey::Line)),
        row("kind", ("kind", "kind", Unit::Text), Some(GroupKey::Kind)),
        row("size", ("shallow_bytes", "shallow", Unit::Bytes), None).adding_up_to(Total::Size),
        row("unmanaged", ("unmanaged_bytes", "unmanaged", Unit::Bytes), None).adding_up_to(Total::Unmanaged),
        row("retained", ("retained_bytes", "retained", Unit::Bytes), None).adding_up_to(Total::Retained),
        row("elements", ("elements", "elements", Unit::Count), None),
        row("fill", ("fill", "fill", Unit::Share), None),
        row("distance", ("distance", "distance", Unit::Count), None),
        row("inrefs", ("incoming", "inrefs", Unit::Count), None),
        row("refs", ("references", "references", Unit::Count), None),
        row("id", ("id", "id", Unit::Number), None),
        row("site", ("site", "site", Unit::Number), Some(GroupKey::Site)),
        row("generation", ("generation", "generation", Unit::Number), Some(GroupKey::Generation)),
        row("serial", ("serial", "serial", Unit::Number), None),
        row("address", ("address", "address", Unit::Address), None),
        row("reachable", ("reachable", "reachable", Unit::Text), None),
        row("unreachable", ("unreachable", "unreachable", Unit::Text), None),
        row("root", ("root", "root", Unit::Text), None),
    ]
};

/// The attribute of expressions with this usual word. There must be one, or this does not compile.
const fn of_expressions(word: &str) -> &'static Attribute {
    let mut at = 0;
    while at < ATTRIBUTES.len() {
        let (known, word) = (ATTRIBUTES[at].words[0].as_bytes(), word.as_bytes());
        let mut same = 0;
        while same < known.len() && same < word.len() && known[same] == word[same] {
            same += 1;
        }
        if same == known.len() && same == word.len() {
            return &ATTRIBUTES[at];
        }
        at += 1;
    }
    panic!("expressions know no attribute of this name")
}

/// The attribute of this name.
pub(crate) fn named(word: &str) -> Option<&'static ObjectAttribute> {
    OBJECTS.iter().find(|attribute| attribute.of.words.contains(&word))
}

/// The usual word for each.
pub(crate) fn words() -> Vec<&'static str> {
    OBJECTS.iter().map(|attribute| attribute.of.word()).collect()
}

/// The words of those that are numbers, which rank objects.
pub(crate) fn ranking_words() -> Vec<&'static str> {
    OBJECTS.iter().filter(|attribute| attribute.ranks()).map(|attribute| attribute.of.word()).collect()
}

/// The words of those that objects are grouped by.
pub(crate) fn group_words() -> Vec<&'static str> {
    OBJECTS.iter().filter(|attribute| attribute.group.is_some()).map(|attribute| attribute.of.word()).collect()
}

/// The keys that divide objects, one for each attribute that has one.
pub(crate) fn group_keys() -> impl Iterator<Item = GroupKey> {
    OBJECTS.iter().filter_map(|attribute| attribute.group.clone())
}

impl ObjectAttribute {
    fn of_types(of: &'static Attribute) -> Self {
        let (word, group) = (of.word(), Some(GroupKey::OfType(of)));
        ObjectAttribute { of, key: word, heading: word, unit: Unit::Text, group, total: None }
    }

    const fn adding_up_to(mut self, total: Total) -> Self {
        self.total = Some(total);
        self
    }

    /// The value of each object.
    ///
    /// # Errors
    /// Those of the analyzer.
    pub(crate) fn read(
        &self,
        objects: &[ObjectDetails],
        heap: &Heap,
        progress: &dyn Progress,
    ) -> Result<Vec<Value>, QueryError> {
        cells::read(self.of, objects, heap, progress)
    }

    /// The column of a table that shows it.
    pub(crate) fn column(&self) -> Column {
        Column::new(self.key, self.unit).called(self.heading)
    }

    /// The unit of its values.
    pub(crate) fn unit(&self) -> Unit {
        self.unit
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
        let known: Vec<&str> = ATTRIBUTES.iter().map(Attribute::word).filter(|word| *word != "is").collect();
        assert_eq!(words(), known);
    }

    #[test]
    fn keys_of_groups_have_the_names_of_their_attributes() {
        for attribute in OBJECTS.iter() {
            let key = attribute.group.as_ref().map(GroupKey::name);
            assert!(key.is_none_or(|key| key == attribute.of.word()), "{}", attribute.of.word());
        }
    }

    #[test]
    fn totals_are_named_by_their_beginning_in_any_case() {
        assert_eq!(Total::usual_words(), ["size", "count", "unmanaged", "retained"]);
        let named = ["S", "shallow", "c", "count", "un", "ret", "", "sized", "distance"].map(Total::named);
        let (size, count) = (Some(Total::Size), Some(Total::Count));
        let [unmanaged, retained] = [Some(Total::Unmanaged), Some(Total::Retained)];
        assert_eq!(named, [size, size, count, count, unmanaged, retained, None, None, None]);
    }
}
