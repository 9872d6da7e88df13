//! Attributes of processes as columns and cells. [`barrow_processes::ATTRIBUTES`] is their table.

use barrow_processes::{ATTRIBUTES, Attribute, AttributeValue, Classes, ImageId, ProcessTree, Quantity, Values};

use crate::answer::{Column, Unit, Value};
use crate::error::QueryError;

/// The words of the attributes that are wanted, as `by` and `of` take them.
pub(crate) fn words(wanted: impl Fn(&Attribute) -> bool) -> Vec<&'static str> {
    ATTRIBUTES.iter().filter(|attribute| wanted(attribute)).map(Attribute::word).collect()
}

/// The attribute that ranks processes: a number that has this name, or the first one that begins with it.
///
/// # Errors
/// A usage error that lists what ranks.
pub(crate) fn ranking(word: &str) -> Result<&'static Attribute, QueryError> {
    Attribute::beginning(word, Attribute::ranks).ok_or_else(|| {
        QueryError::usage(match Attribute::named(word) {
            Some(attribute) => {
                let word = attribute.word();
                format!("`{word}` is no number; `list … of {word} by {word}` puts processes in its order")
            }
            None => format!("processes have no order `{word}`; there are {}", words(Attribute::ranks).join(", ")),
        })
    })
}

/// The attribute of this name.
///
/// # Errors
/// A usage error that lists all attributes.
pub(crate) fn named(word: &str) -> Result<&'static Attribute, QueryError> {
    Attribute::named(word).ok_or_else(|| {
        let words = words(|_| true).join(", ");
        QueryError::usage(format!("`{word}` is no column of processes; there are {words}"))
    })
}

/// The column of a table that shows an attribute.
pub(crate) fn column(attribute: &Attribute) -> Column {
    let unit = match attribute.quantity() {
        None if attribute.is_process() => Unit::Process,
        None => Unit::Text,
        Some(Quantity::Bytes) => Unit::Bytes,
        Some(Quantity::Time) => Unit::Duration,
        Some(Quantity::Count) => Unit::Count,
        Some(Quantity::Number) => Unit::Number,
    };
    Column::new(attribute.key(), unit).called(attribute.word())
}

/// The cell of each image.
pub(crate) fn cells(
    attribute: &'static Attribute,
    tree: &ProcessTree,
    classes: &Classes,
    images: impl IntoIterator<Item = ImageId>,
) -> Vec<Value> {
    let values = Values::of(attribute, tree, classes);
    images.into_iter().map(|image| cell(values.get(image))).collect()
}

/// The cell of a value.
pub(crate) fn cell(value: Option<AttributeValue<'_>>) -> Value {
    match value {
        None => Value::None,
        Some(AttributeValue::Flag(holds)) => Value::Flag(holds),
        Some(AttributeValue::Number(number)) => number.into(),
        Some(AttributeValue::Text(text)) => Value::Text(text.into_owned()),
    }
}
