//! What objects have of each attribute, as cells.

use barrow_analyzer::{Attribute, AttributeValue, Heap, ObjectDetails, Progress};

use crate::answer::Value;
use crate::error::QueryError;

/// The value of an attribute of each object.
///
/// # Errors
/// Those of the analyzer.
pub(super) fn read(
    attribute: &Attribute,
    objects: &[ObjectDetails],
    heap: &Heap,
    progress: &dyn Progress,
) -> Result<Vec<Value>, QueryError> {
    let values = heap.attribute_values(attribute, objects, progress)?.into_iter();
    let cells = values.map(|value| match value {
        AttributeValue::None => Value::None,
        AttributeValue::Name(name) => Value::text(name),
        AttributeValue::Text(text) => Value::name_of(text),
        AttributeValue::Line(line) => Value::Line(line),
        AttributeValue::Number(number) | AttributeValue::Address(number) => Value::Number(number),
        AttributeValue::Share(share) => Value::Share(share),
        AttributeValue::Flag(is_so) => Value::Flag(is_so),
    });
    Ok(cells.collect())
}
