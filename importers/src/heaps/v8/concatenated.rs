//! The texts of concatenated strings: their nodes have no text, but refer to the two strings that they consist of.
//!
//! ```text
//!   (concatenated string) ─ first ──▶ (concatenated string) ─ first ──▶ "user "
//!                         │                                 └ second ─▶ "7"
//!                         └ second ─▶ " has left"
//! ```
//!
//! Programs append to strings repeatedly, so the left side may be a million parts deep, and each step is alive as a
//! part of the next one: all texts together could take the square of the dump's size. So the texts of steps end at a
//! *limit*, with `…`: the longest for which all texts together keep to a budget. If the first part alone is longer
//! than that, the step has the same text: that of its *source*. A string that is not part of another one has its
//! whole text.

mod outlines;

use self::outlines::{Extent, Limits, Outlines, PartPair, StringPart};
use super::layout::Layout;
use super::names::{MARK, Names, WellKnown, may_go_on};
use super::nodes::{Edges, FlatStrings, NodeEdges};
use super::parallel::for_each_unit;
use crate::context::Context;
use crate::error::Stop;
use crate::heaps::json_lines::FastMap;
use barrow_writer::StringId;
use parking_lot::Mutex;

/// Number of strings processed at a time.
const UNIT_STRINGS: usize = 1 << 13;
/// Maximum number of flat texts that a thread remembers.
const MAX_REMEMBERED: usize = 1 << 10;
/// Maximum length of a remembered text, in bytes: a thread remembers at most 4 MiB.
const MAX_REMEMBERED_BYTES: usize = 1 << 12;
/// Maximum number of flat texts whose extents a thread remembers.
const MAX_REMEMBERED_EXTENTS: usize = 1 << 16;

/// The texts of the concatenated strings of a dump, by row.
#[derive(Debug, Default)]
pub(crate) struct Concatenated {
    rows: Vec<u32>,
    /// [`NO_TEXT`] if it is unknown.
    texts: Vec<StringId>,
}

const NO_TEXT: StringId = StringId(u32::MAX);

impl Concatenated {
    /// Reads the texts, on all threads. Takes 8 bytes for each string, and temporarily 65.
    pub(crate) fn read(
        layout: &Layout<'_>,
        names: &Names,
        flat: &FlatStrings,
        nodes: Vec<NodeEdges>,
        context: &Context<'_>,
    ) -> Result<Concatenated, Stop> {
        let Some(longest) = context.options.contents.longest_text().filter(|_| !nodes.is_empty()) else {
            return Ok(Concatenated::default());
        };
        let labels = [WellKnown::First, WellKnown::Second].map(|label| names.well_known(label));
        let joined = PartTables { layout, names, flat, nodes: &nodes, labels, longest }.joined(context)?;
        let rows = nodes.iter().map(|node| node.row).collect();
        drop(nodes);
        let outlines = Outlines::find(&joined);
        let limits = outlines.limits(&joined, longest - MARK.len_utf8(), budget(layout));
        let cut = outlines.cut(&limits, &joined);
        let mut texts = Texts { layout, joined: &joined, outlines: &outlines, cut: &cut, limits }.assemble(context)?;
        for (place, &source) in cut.iter().enumerate() {
            texts[place] = texts.get(source as usize).copied().unwrap_or(NO_TEXT);
        }
        Ok(Concatenated { rows, texts })
    }

    /// The text of the concatenated string in a row, if known.
    #[inline]
    pub(crate) fn text(&self, row: u64) -> Option<StringId> {
        let place = self.rows.binary_search_by_key(&row, |&row| row.into()).ok()?;
        Some(self.texts[place]).filter(|&text| text != NO_TEXT)
    }
}

/// The total cost that all texts may have, in bytes.
fn budget(layout: &Layout<'_>) -> u64 {
    (layout.dump.len() as u64).saturating_mul(4).saturating_add(64 << 20)
}

/// The tables in which parts are looked up.
struct PartTables<'k, 'a> {
    layout: &'k Layout<'a>,
    names: &'k Names,
    flat: &'k FlatStrings,
    nodes: &'k [NodeEdges],
    /// The labels of the references to the parts.
    labels: [Option<StringId>; 2],
    longest: usize,
}

impl PartTables<'_, '_> {
    /// The parts of all strings.
    fn joined(&self, context: &Context<'_>) -> Result<Vec<PartPair>, Stop> {
        let all = Mutex::new(vec![[StringPart::Unknown; 2]; self.nodes.len()]);
        for_each_unit(
            context,
            self.nodes.len().div_ceil(UNIT_STRINGS),
            || Ok((Vec::new(), FastMap::default())),
            |(parts, extents), unit| {
                let first = unit * UNIT_STRINGS;
                let last = self.nodes.len().min(first + UNIT_STRINGS);
                parts.clear();
                self.add_parts(&self.nodes[first..last], parts, extents)?;
                let mut all = all.lock();
                all[first..last].copy_from_slice(parts);
                Ok(())
            },
            |_| Ok(()),
        )?;
        Ok(all.into_inner())
    }

    /// Adds the parts of the strings of these nodes.
    fn add_parts(
        &self,
        nodes: &[NodeEdges],
        joined: &mut Vec<PartPair>,
        extents: &mut FastMap<u32, Extent>,
    ) -> Result<(), Stop> {
        let Layout { meta, edges: numbers, .. } = self.layout;
        let Some(first) = nodes.first() else { return Ok(()) };
        let mut edges = Edges::new(numbers, &meta.edges, first.first_edge);
        for node in nodes {
            edges.go_to(numbers, node.first_edge);
            let mut parts = [StringPart::Unknown; 2];
            for _ in 0..node.edge_count {
                let offset = edges.offset();
                let edge = edges.next()?;
                let label = self.names.plain(edge.name_or_index);
                if let Some(place) = self.labels.iter().position(|&known| label.is_some() && label == known) {
                    parts[place] = self.part(self.layout.row(edge.to_node, offset)?, extents);
                }
            }
            joined.push(parts);
        }
        Ok(())
    }

    fn part(&self, row: u64, extents: &mut FastMap<u32, Extent>) -> StringPart {
        if let Some(name) = self.flat.name(row) {
            let Ok(name) = u32::try_from(name) else { return StringPart::Unknown };
            if let Some(&extent) = extents.get(&name) {
                return StringPart::Flat(name, extent);
            }
            let Some(text) = self.layout.strings.beginning(name as usize, self.longest) else {
                return StringPart::Unknown;
            };
            let extent = Extent::new(text.len(), may_go_on(&text));
            if extents.len() >= MAX_REMEMBERED_EXTENTS {
                extents.clear();
            }
            extents.insert(name, extent);
            return StringPart::Flat(name, extent);
        }
        let place = self.nodes.binary_search_by_key(&row, |node| node.row.into());
        place.map_or(StringPart::Unknown, |place| StringPart::Joined(place as u32))
    }
}

/// Assembles the texts.
struct Texts<'k, 'a> {
    layout: &'k Layout<'a>,
    joined: &'k [PartPair],
    outlines: &'k Outlines,
    /// The sources, given that steps end at their limit.
    cut: &'k [u32],
    limits: Limits,
}

impl Texts<'_, '_> {
    /// The texts of the strings that are sources.
    fn assemble(&self, context: &Context<'_>) -> Result<Vec<StringId>, Stop> {
        let all = Mutex::new(vec![NO_TEXT; self.joined.len()]);
        for_each_unit(
            context,
            self.joined.len().div_ceil(UNIT_STRINGS),
            || Ok(TextReader::default()),
            |reading, unit| {
                let first = unit * UNIT_STRINGS;
                let last = self.joined.len().min(first + UNIT_STRINGS);
                let mut texts = Vec::new();
                for place in (first..last).filter(|&place| self.cut[place] as usize == place) {
                    context.check_cancelled()?;
                    if self.read(place, reading) {
                        texts.push((place, context.vocabulary.string(&reading.text)?));
                    }
                }
                let mut all = all.lock();
                texts.into_iter().for_each(|(place, text)| all[place] = text);
                Ok(())
            },
            |_| Ok(()),
        )?;
        Ok(all.into_inner())
    }

    /// Reads the text of a source. Returns whether it is known.
    fn read(&self, place: usize, reading: &mut TextReader) -> bool {
        let TextReader { text, waiting, remembered } = reading;
        text.clear();
        waiting.clear();
        waiting.extend(self.joined[place].iter().rev());
        let (limit, sources) = match self.limits.of(self.outlines, place) {
            Some(limit) => (limit, &self.outlines.sources[..]),
            None => (self.limits.steps, self.cut),
        };
        let mut goes_on = false;
        // Each part has at least one character, and reading ends at the limit.
        while !goes_on
            && text.len() <= limit
            && let Some(part) = waiting.pop()
        {
            match part {
                StringPart::Unknown => return false,
                StringPart::Joined(part) => match self.joined.get(sources[part as usize] as usize) {
                    Some(parts) => waiting.extend(parts.iter().rev()),
                    None => return false,
                },
                StringPart::Flat(name, extent) => {
                    remembered.push_onto(text, name, self.layout, limit);
                    goes_on = extent.goes_on();
                }
            }
        }
        if text.len() > limit {
            text.truncate(text.floor_char_boundary(limit));
            goes_on = true;
        }
        if goes_on {
            text.push(MARK);
        }
        true
    }
}

/// State of one thread that reads texts.
#[derive(Default)]
struct TextReader {
    text: String,
    waiting: Vec<StringPart>,
    remembered: FlatTexts,
}

/// Flat texts, which many strings share.
#[derive(Default)]
struct FlatTexts(FastMap<u32, Box<str>>);

impl FlatTexts {
    fn push_onto(&mut self, text: &mut String, name: u32, layout: &Layout<'_>, limit: usize) {
        if let Some(part) = self.0.get(&name) {
            text.push_str(part);
            return;
        }
        let part = layout.strings.beginning(name as usize, limit.max(MAX_REMEMBERED_BYTES)).unwrap_or_default();
        text.push_str(&part);
        if part.len() <= MAX_REMEMBERED_BYTES {
            if self.0.len() >= MAX_REMEMBERED {
                self.0.clear();
            }
            self.0.insert(name, part.into());
        }
    }
}
