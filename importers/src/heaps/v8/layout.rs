//! The layout of a dump: the places of its parts.
//!
//! ```text
//!   {"snapshot": {"meta": …, "node_count": …},      ◀ description
//!    "nodes": […], "edges": […],                    ◀ without these there is no snapshot
//!    "trace_function_infos": […], "trace_tree": […], "samples": […], "locations": […],
//!    "strings": […]}                                ◀ last: a cut dump has lost names first
//! ```

use std::ops::Range;

use super::meta::Meta;
use super::numbers::Numbers;
use super::recognition::BYTE_ORDER_MARK;
use super::strings::{Strings, expect, skip_space, string_end};
use crate::context::Context;
use crate::error::{Damage, Stop};

/// The parts of a dump that were found.
pub(crate) struct Layout<'a> {
    pub(crate) dump: &'a [u8],
    pub(crate) meta: Meta,
    pub(crate) nodes: Numbers<'a>,
    pub(crate) edges: Numbers<'a>,
    pub(crate) locations: Option<Numbers<'a>>,
    pub(crate) functions: Option<Numbers<'a>>,
    pub(crate) samples: Option<Numbers<'a>>,
    /// The text of the tree of allocation traces.
    pub(crate) trace_tree: Option<Range<usize>>,
    pub(crate) strings: Strings<'a>,
    /// The offset of other bytes after the snapshot.
    pub(crate) rest: Option<usize>,
    /// The reason why the dump is incomplete.
    pub(crate) end: Result<(), Damage>,
}

/// The parts, while they are being found.
#[derive(Default)]
struct LayoutParts<'a> {
    meta: Option<Meta>,
    nodes: Option<Numbers<'a>>,
    edges: Option<Numbers<'a>>,
    locations: Option<Numbers<'a>>,
    functions: Option<Numbers<'a>>,
    samples: Option<Numbers<'a>>,
    trace_tree: Option<Range<usize>>,
    strings: Option<Strings<'a>>,
}

impl<'a> Layout<'a> {
    /// Finds the parts of a dump.
    ///
    /// # Errors
    /// Damage if description, nodes and edges are not all whole; other errors that end an import.
    pub(crate) fn find(dump: &'a [u8], context: &Context<'_>) -> Result<Layout<'a>, Stop> {
        let mut found = LayoutParts::default();
        let (rest, end) = match found.walk(dump, context) {
            Ok(end) => (Some(skip_space(dump, end)).filter(|&rest| rest < dump.len()), Ok(())),
            Err(Stop::Damage(damage, _)) => (None, Err(damage)),
            Err(stop) => return Err(stop),
        };
        let meta = found.meta.ok_or_else(|| missing(dump, "\"snapshot\"", &end))?;
        let nodes = found.nodes.ok_or_else(|| missing(dump, "\"nodes\"", &end))?;
        let edges = found.edges.ok_or_else(|| missing(dump, "\"edges\"", &end))?;
        nodes.check_whole()?;
        edges.check_whole()?;
        let end = if found.strings.is_none() && end.is_ok() { Err(missing(dump, "\"strings\"", &end)) } else { end };
        let LayoutParts { locations, functions, samples, trace_tree, strings, .. } = found;
        let strings = strings.unwrap_or_else(|| Strings::none(dump));
        Ok(Layout { dump, meta, nodes, edges, locations, functions, samples, trace_tree, strings, rest, end })
    }

    /// Number of nodes.
    pub(crate) fn node_count(&self) -> u64 {
        self.nodes.len() / self.meta.nodes.count as u64
    }

    /// The row of the node that begins at this index of the nodes' array. `offset` is that of an edge to it, for
    /// errors.
    #[inline(always)]
    pub(crate) fn row(&self, to_node: u64, offset: u64) -> Result<u64, Damage> {
        let fields = self.meta.nodes.count as u64;
        // The usual divisors are constants here, so that the compiler can multiply instead.
        let row = match fields {
            7 => to_node / 7,
            6 => to_node / 6,
            5 => to_node / 5,
            _ => to_node / fields,
        };
        if row * fields == to_node && to_node < self.nodes.len() {
            return Ok(row);
        }
        let limit = self.nodes.len();
        Err(Damage::OutOfRange { what: "the node that an edge leads to", offset, value: to_node, limit })
    }
}

/// The damage of a dump without a part, given how the search for parts ended.
fn missing(dump: &[u8], part: &'static str, end: &Result<(), Damage>) -> Damage {
    match end {
        Ok(()) => Damage::Unfinished { length: dump.len() as u64, missing: part },
        Err(damage) => damage.clone(),
    }
}

fn numbers<'a>(dump: &'a [u8], at: usize, what: &'static str, context: &Context<'_>) -> Result<Numbers<'a>, Stop> {
    expect(dump, at, b'[', "an array")?;
    Numbers::count(dump, what, at + 1, context)
}

impl<'a> LayoutParts<'a> {
    /// Finds all parts. Returns the end of the snapshot.
    fn walk(&mut self, dump: &'a [u8], context: &Context<'_>) -> Result<usize, Stop> {
        let mut at = skip_space(dump, if dump.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 });
        expect(dump, at, b'{', "an object")?;
        at = skip_space(dump, at + 1);
        loop {
            expect(dump, at, b'"', "the name of a part")?;
            let end = string_end(dump, at + 1)?;
            let name = &dump[at + 1..end];
            at = skip_space(dump, end + 1);
            expect(dump, at, b':', "a colon")?;
            at = self.part(dump, name, skip_space(dump, at + 1), context)?;
            at = skip_space(dump, at);
            if dump.get(at) == Some(&b'}') {
                return Ok(at + 1);
            }
            expect(dump, at, b',', "a comma or the end of the dump")?;
            at = skip_space(dump, at + 1);
        }
    }

    /// Finds the end of the part that starts at `at`.
    fn part(&mut self, dump: &'a [u8], name: &[u8], at: usize, context: &Context<'_>) -> Result<usize, Stop> {
        // Cut arrays are kept, too: they are checked where they are used.
        let kept = match name {
            b"nodes" => self.nodes.insert(numbers(dump, at, "the nodes", context)?),
            b"edges" => self.edges.insert(numbers(dump, at, "the edges", context)?),
            b"locations" => self.locations.insert(numbers(dump, at, "the locations", context)?),
            b"trace_function_infos" => {
                self.functions.insert(numbers(dump, at, "the functions of allocation traces", context)?)
            }
            b"samples" => self.samples.insert(numbers(dump, at, "the samples", context)?),
            b"strings" => {
                expect(dump, at, b'[', "an array")?;
                let (strings, found) = Strings::find(dump, at + 1, context)?;
                let end = self.strings.insert(strings).end();
                return Ok(found.map(|()| end)?);
            }
            _ => {
                let end = value_end(dump, at)?;
                match name {
                    b"snapshot" => self.meta = Some(Meta::read(&dump[at..end], at as u64)?),
                    b"trace_tree" => self.trace_tree = Some(at..end),
                    _ => {}
                }
                return Ok(end);
            }
        };
        kept.check_whole()?;
        Ok(kept.end() + 1)
    }
}

/// The offset after the value that starts at `at`.
fn value_end(dump: &[u8], at: usize) -> Result<usize, Damage> {
    let mut depth = 0_usize;
    let mut at = at;
    loop {
        let byte = *dump.get(at).ok_or(Damage::Ends { length: dump.len() as u64, inside: "the dump's structure" })?;
        match byte {
            b'"' => at = string_end(dump, at + 1)?,
            b'[' | b'{' => depth += 1,
            // The end of the enclosing value: a number or a word ends before it.
            b']' | b'}' | b',' if depth == 0 => return Ok(at),
            b']' | b'}' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 && matches!(byte, b'"' | b']' | b'}') {
            return Ok(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_ends_where_it_ends() {
        fn end(text: &str) -> Result<&str, Damage> {
            value_end(text.as_bytes(), 0).map(|end| &text[end..])
        }
        assert_eq!(end(r#"{"a": [1, {"]": "}"}]}, 7"#), Ok(", 7"));
        assert_eq!(end(r#""a\"]", 7"#), Ok(", 7"));
        assert_eq!(end("12 }"), Ok("}"));
        assert_eq!(end("[[],[[]]]"), Ok(""));
        assert_eq!(end("[1"), Err(Damage::Ends { length: 2, inside: "the dump's structure" }));
    }
}
