//! Attributes of the built-in types of CPython. The recorder of running programs has a link to this file.

/// The attribute of a type with the name of a further base: neither its first base nor one of that base's bases.
pub(crate) const FURTHER_BASES: &str = "implements";

/// The attribute of a type with the name of the field that leads to further fields of its objects.
pub(crate) const FIELDS_IN: &str = "fields in";

/// The attribute of a type with the name of a field that its objects have, although the recording may not have it; and the
/// field of an object that says that it may have attributes of any name.
pub(crate) const NOT_RECORDED: &str = "not recorded";

/// The field that holds a number.
pub(crate) const VALUE: &str = "value";

/// The type of `None`.
pub(crate) const NONE: &str = "NoneType";

/// The attributes of a type: numbers represent values, collections have elements and slots, `None` is null, members
/// of an enumeration have a name, dates read as such, dictionaries have the further attributes of instances.
pub(crate) fn of_type(name: &str) -> &'static [(&'static str, &'static str)] {
    match name {
        "int" | "float" => &[("value of", VALUE), ("interchangeable", "yes")],
        "bool" => &[("value of", VALUE)],
        "list" => &[("elements", ".length"), ("slots", ".capacity"), ("slot bytes", "8"), ("entries", "=[]")],
        "bytearray" => &[("elements", ".length"), ("slots", ".capacity"), ("slot bytes", "1")],
        // Their first slots are in the object itself.
        "set" | "frozenset" => &[("elements", ".length"), ("slots", ".capacity"), ("entries", "[.length]=")],
        "dict" => &[("elements", ".length"), ("entries", "[=.length]")],
        "collections.deque" => &[("elements", ".length"), ("entries", "=[.length]")],
        "tuple" => &[("elements", ".length"), ("slots", ".length"), ("entries", "=[]")],
        "bytes" => &[("elements", ".length"), ("slots", ".length")],
        "enum.Enum" => &[("named by", "_name_"), ("reads as", "{.__dict__._name_}")],
        // Times of a zone other than UTC are not recorded.
        "datetime.date" => &[("reads as", "{.year .month .day:date}")],
        "datetime.datetime" => {
            &[("reads as", "{.year .month .day:date}T{.hour .minute .second .nanosecond:clock}[{?.is_utc}Z]")]
        }
        "object" => &[(FIELDS_IN, "__dict__")],
        NONE => &[("null", "None")],
        _ => &[],
    }
}
