//! Values of objects other than references: numbers, dates, and lengths and capacities of containers.

use std::ffi::CStr;
use std::sync::atomic::{AtomicU64, Ordering};

use barrow_writer::{Encoding, FieldId, Value};
use pyo3::prelude::*;

use crate::attributes::VALUE;
use crate::interpreter::class_of;
use crate::object::{Class, Object, Stopped};

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
        let mut measures = measures.collect::<PyResult<Vec<Measure>>>()?;
        measures.extend(dates(py)?);
        Ok(Measures(measures))
    }

    /// The fields that a class itself gives to instances.
    pub(crate) fn of(&self, class: Class<'_>) -> impl Iterator<Item = Measure> {
        let address = class.address();
        self.0.iter().copied().filter(move |measure| measure.class == address)
    }
}

/// The address of `datetime.timezone.utc`.
static UTC: AtomicU64 = AtomicU64::new(0);

/// The fields of dates; none if this interpreter has no dates written in C, or if they are not as expected.
fn dates(py: Python<'_>) -> PyResult<Vec<Measure>> {
    const OF_DATE: [(&str, Read); 3] = [
        ("year", |date| Some(Value::Signed(u16::from_be_bytes(date.date_bytes(0)).into()))),
        ("month", |date| Some(Value::Signed(date.date_bytes::<1>(2)[0].into()))),
        ("day", |date| Some(Value::Signed(date.date_bytes::<1>(3)[0].into()))),
    ];
    const OF_TIME: [(&str, Encoding, Read); 5] = [
        ("hour", Encoding::Signed, |time| clock(time, 4)),
        ("minute", Encoding::Signed, |time| clock(time, 5)),
        ("second", Encoding::Signed, |time| clock(time, 6)),
        ("nanosecond", Encoding::Signed, |time| {
            let [high, middle, low] = time.date_bytes(7);
            let microseconds = u32::from_be_bytes([0, high, middle, low]);
            is_utc(time).map(|_| Value::Signed(i64::from(microseconds) * 1000))
        }),
        ("is_utc", Encoding::Boolean, |time| is_utc(time).map(Value::Boolean)),
    ];
    let Ok(module) = py.import("_datetime") else { return Ok(Vec::new()) };
    let [date, time] = ["date", "datetime"].map(|name| module.getattr(name));
    let (date, time) = (date?, time?);
    let utc = module.getattr("timezone")?.getattr("utc")?;
    UTC.store(utc.as_ptr() as u64, Ordering::Relaxed);
    let known = [date.call1((2020, 2, 10))?, time.call1((2020, 2, 10, 11, 12, 13, 0x0001_0203, utc))?];
    // SAFETY: this thread holds the global lock, and frees nothing while it reads.
    let stopped = unsafe { Stopped::new() };
    // SAFETY: the objects are alive.
    let [day, moment] = [0, 1].map(|at| unsafe { stopped.object(known[at].as_ptr() as u64) });
    let is_expected = day.date_bytes(0) == [7, 228, 2, 10]
        && moment.date_bytes(0) == [7, 228, 2, 10, 11, 12, 13, 1, 2, 3]
        && is_utc(moment) == Some(true);
    if !is_expected {
        return Ok(Vec::new());
    }
    let [date, time] = [date, time].map(|class| class.as_ptr() as u64);
    let of_date = OF_DATE.map(|(name, read)| Measure { class: date, name, encoding: Encoding::Signed, read });
    let of_time = OF_TIME.map(|(name, encoding, read)| Measure { class: time, name, encoding, read });
    Ok(of_date.into_iter().chain(of_time).collect())
}

/// A byte of the time of day; `None` in a zone that is not known.
fn clock(time: Object<'_>, byte: usize) -> Option<Value> {
    is_utc(time).map(|_| Value::Signed(time.date_bytes::<1>(byte)[0].into()))
}

/// Whether a time is one in UTC, and not one without a zone; `None` in another zone.
fn is_utc(time: Object<'_>) -> Option<bool> {
    match time.zone() {
        None => Some(false),
        Some(zone) => (zone == UTC.load(Ordering::Relaxed)).then_some(true),
    }
}

/// A field of an object, and how it is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MeasuredField {
    pub(crate) name: &'static str,
    pub(crate) field: FieldId,
    pub(crate) read: Read,
}
