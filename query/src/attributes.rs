//! Attributes of objects, wherever a word names one: in `list`, after `by` of `find`, and as a key of `group`. Their table
//! is [`barrow_analyzer::ATTRIBUTES`]. Attributes of processes are in [`processes`].

mod cells;
pub(crate) mod processes;
pub(crate) mod totals;
pub mod vocabulary;

use std::sync::LazyLock;

use barrow_analyzer::{ATTRIBUTES, Attribute, GroupKey, Heap, ObjectDetails, Progress, Quantity};

use crate::answer::{Column, Unit, Value};
use crate::error::QueryError;

use totals::Total;

/// An attribute of objects.
#[derive(Debug)]
pub(crate) struct ObjectAttribute {
    /// Its row in the table.
    pub(crate) of: &'static Attribute,
    /// The key that divides objects by it, if it does not tell nearly each one from all others.
    pub(crate) group: Option<GroupKey>,
    /// The number of several objects that it adds up to.
    total: Option<Total>,
}

/// All attributes that are values, in the order of `help expressions`.
static OBJECTS: LazyLock<Vec<ObjectAttribute>> = LazyLock::new(|| {
    let attributes = ATTRIBUTES.iter().filter(|of| of.has_value()).map(|of| {
        let (group, total) = (GroupKey::of_attribute(of), Total::of_attribute(of));
        ObjectAttribute { of, group, total }
    });
    attributes.collect()
});

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
        Column::new(self.of.key(), self.unit()).called(self.of.heading())
    }

    /// The unit of its values.
    pub(crate) fn unit(&self) -> Unit {
        match self.of.quantity() {
            None => Unit::Text,
            Some(Quantity::Bytes) => Unit::Bytes,
            Some(Quantity::Count) => Unit::Count,
            Some(Quantity::Number) => Unit::Number,
            Some(Quantity::Share) => Unit::Share,
            Some(Quantity::Address) => Unit::Address,
        }
    }

    /// Whether it is a number, so that some objects have most of it.
    pub(crate) fn ranks(&self) -> bool {
        self.of.quantity().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
