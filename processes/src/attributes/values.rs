//! The values that images have of an attribute.

use std::borrow::Cow;

use barrow_analyzer::signals;

use super::numbers::Column;
use super::{Attribute, Reading, Text};
use crate::classes::Classes;
use crate::tree::{ImageId, ProcessTree};

/// A value of an attribute.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AttributeValue<'t> {
    /// A property.
    Flag(bool),
    /// A number, in the unit of the attribute.
    Number(u64),
    /// A text.
    Text(Cow<'t, str>),
}

/// The values of an attribute in a tree.
pub struct Values<'t> {
    attribute: &'static Attribute,
    tree: &'t ProcessTree,
    classes: &'t Classes,
    column: Option<Column>,
}

impl<'t> Values<'t> {
    /// The values of `attribute`; those of numbers that depend on other images are computed now.
    #[must_use]
    pub fn of(attribute: &'static Attribute, tree: &'t ProcessTree, classes: &'t Classes) -> Self {
        Values { attribute, tree, classes, column: Column::of(attribute, tree) }
    }

    /// The value of an image, if known.
    #[must_use]
    pub fn get(&self, id: ImageId) -> Option<AttributeValue<'t>> {
        match self.attribute.reading {
            Reading::Text(text) => text.of(self.tree, self.classes, id).map(AttributeValue::Text),
            Reading::Property(holds) => holds(self.tree, id).map(AttributeValue::Flag),
            Reading::Number(..) | Reading::Either(..) => {
                self.column.as_ref()?.get(self.tree, id).map(AttributeValue::Number)
            }
        }
    }
}

impl Text {
    /// The text of an image.
    fn of<'t>(self, tree: &'t ProcessTree, classes: &'t Classes, id: ImageId) -> Option<Cow<'t, str>> {
        let image = tree.image(id);
        match self {
            Text::Class => label(classes, 0, id).map(Cow::Borrowed),
            Text::ClassOf(schema) => label(classes, schema, id).map(Cow::Borrowed),
            Text::Stored(text) => text(tree, image).map(|text| Cow::Borrowed(tree.text(text))),
            Text::Found(text) => text(tree, image).map(Cow::Borrowed),
            Text::Composed(text) => text(tree, image),
            Text::Process => Some(tree.name(image.process).into()),
            Text::Signal => signals::name(tree.end_of(id)?.signal?).map(Cow::Borrowed),
        }
    }
}

fn label(classes: &Classes, schema: usize, id: ImageId) -> Option<&str> {
    let schema = classes.schemata().get(schema)?;
    Some(&schema.labels()[schema.label(id)?.index()])
}
