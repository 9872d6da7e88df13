//! Values of objects other than references: numbers, and lengths and capacities of containers.

use std::ffi::CStr;

use barrow_writer::{Encoding, FieldId, Value};
use pyo3::prelude::*;

use crate::attributes::VALUE;
use crate::interpreter::class_of;
use crate::object::{Class, Object};

/// Reads a value from an object; `None` if the recording has no room for it.
pub(crate) type Read = fn(Object<'_>) -> Option<Value>;

/// A field that instances of a class have, and of those derived from it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measure {
    /// The address of the class.
    class: u64,
    pub(crate) name: &'static str,
    pub(crate) encoding: Encoding,
    pub(crate) read: Read,
}

/// The fields of all classes that have any. Lengths are those of `len`.
#[derive(Debug, Clone)]
pub(crate) struct Measures(Vec<Measure>);

impl Measures {
    /// Asks the interpreter for the classes.
    pub(crate) fn find(py: Python<'_>) -> PyResult<Self> {
        const LENGTHS: [(&CStr, Read); 9] = [
            (c"''", |object| Some(Value::Unsigned(object.text_length()))),
            (c"b''", |object| Some(Value::Unsigned(object.length()))),
            (c"bytearray()", |object| Some(Value::Unsigned(object.length()))),
            (c"[]", |object| Some(Value::Unsigned(object.length()))),
            (c"()", |object| Some(Value::Unsigned(object.length()))),
            (c"{}", |object| Some(Value::Unsigned(object.dict_length()))),
            (c"set()", |object| Some(Value::Unsigned(object.set_length()))),
            (c"frozenset()", |object| Some(Value::Unsigned(object.set_length()))),
            (c"__import__('_collections').deque()", |object| Some(Value::Unsigned(object.length()))),
        ];
        const CAPACITIES: [(&CStr, Read); 4] = [
            (c"bytearray()", |object| Some(Value::Unsigned(object.bytearray_capacity()))),
            (c"[]", |object| Some(Value::Unsigned(object.list_capacity()))),
            (c"set()", |object| Some(Value::Unsigned(object.set_capacity()))),
            (c"frozenset()", |object| Some(Value::Unsigned(object.set_capacity()))),
        ];
        const NUMBERS: [(&CStr, Encoding, Read); 3] = [
            (c"True", Encoding::Boolean, |object| object.whole_number().map(|value| Value::Boolean(value != 0))),
            (c"0", Encoding::Signed, |object| object.whole_number().map(Value::Signed)),
            (c"0.0", Encoding::Double, |object| Some(Value::Double(object.real_number()))),
        ];
        let lengths = LENGTHS.into_iter().map(|(class, read)| (class, "length", Encoding::Unsigned, read));
        let capacities = CAPACITIES.into_iter().map(|(class, read)| (class, "capacity", Encoding::Unsigned, read));
        let numbers = NUMBERS.into_iter().map(|(class, encoding, read)| (class, VALUE, encoding, read));
        let all = lengths.chain(capacities).chain(numbers);
        let measures =
            all.map(|(class, name, encoding, read)| Ok(Measure { class: class_of(py, class)?, name, encoding, read }));
        Ok(Measures(measures.collect::<PyResult<_>>()?))
    }

    /// The fields that a class itself gives to instances.
    pub(crate) fn of(&self, class: Class<'_>) -> impl Iterator<Item = Measure> {
        let address = class.address();
        self.0.iter().copied().filter(move |measure| measure.class == address)
    }
}

/// A field of an object, and how it is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MeasuredField {
    pub(crate) name: &'static str,
    pub(crate) field: FieldId,
    pub(crate) read: Read,
}
