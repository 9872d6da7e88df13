//! Names of classes, whose spelling depends on the writer of the dump.
//!
//! ```text
//!   HotSpot            java/lang/String     [Ljava/lang/String;    [I       as the JVM has them
//!   HPROF agent, ART   java.lang.String     java.lang.String[]     int[]    as the language has them
//! ```
//!
//! Sources: HotSpot's `heapDumper.cpp`, `signature_to_name` in `hprof_init.c` of JDK 8, ART's `PrettyDescriptor` in
//! `hprof.cc`.

use std::borrow::Cow;

/// Converts the name of a class to the spelling of the language, `java.lang.String` or `int[][]`.
pub(super) fn readable(name: Cow<'_, str>) -> Cow<'_, str> {
    if !name.starts_with('[') && !name.contains(['/', '+']) {
        return name;
    }
    let mut element = name.trim_start_matches('[');
    let dimensions = name.len() - element.len();
    if dimensions > 0 {
        let class = element.strip_prefix('L').and_then(|element| element.strip_suffix(';'));
        element = class.or_else(|| primitive(element)).unwrap_or(element);
    }
    // Hidden classes, those of lambdas for instance, have a `+` that the JVM shows as `/`.
    (element.replace('/', ".").replace("+0x", "/0x") + &"[]".repeat(dimensions)).into()
}

/// The primitive type with this code in the name of an array.
fn primitive(code: &str) -> Option<&'static str> {
    match code {
        "Z" => Some("boolean"),
        "C" => Some("char"),
        "F" => Some("float"),
        "D" => Some("double"),
        "B" => Some("byte"),
        "S" => Some("short"),
        "I" => Some("int"),
        "J" => Some("long"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_language() {
        for (written, name) in [
            ("java/lang/String", "java.lang.String"),
            ("[Ljava/util/Map$Entry;", "java.util.Map$Entry[]"),
            ("[Ljava.util.Map$Entry;", "java.util.Map$Entry[]"),
            ("java.util.Map$Entry[]", "java.util.Map$Entry[]"),
            ("[[I", "int[][]"),
            ("int[][]", "int[][]"),
            ("I", "I"),
            ("Main", "Main"),
            ("a/Main$$Lambda$3+0x00007f09", "a.Main$$Lambda$3/0x00007f09"),
            ("[", "[]"),
        ] {
            assert_eq!(readable(written.into()), name);
        }
    }
}
