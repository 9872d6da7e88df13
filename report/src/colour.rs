//! Colours of types: a name has the same one in every report.

/// Colours of the style sheet: `c0` and so on.
const COLOURS: u32 = 12;

/// The class of a type's colour.
pub(crate) fn class(name: &str) -> String {
    // FNV-1a.
    let hash = name.bytes().fold(0x811c_9dc5u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("c{}", (hash >> 8) % COLOURS)
}
