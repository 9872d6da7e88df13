//! What concatenated strings say: their nodes have no text, but lead to the two strings that they consist of.
//!
//! ```text
//!   (concatenated string) ─ first ──▶ (concatenated string) ─ first ──▶ "user "
//!                         │                                 └ second ─▶ "7"
//!                         └ second ─▶ " has left"
//! ```
//!
//! Programs append to strings again and again, so the left side may be a million parts deep, and each step may be
//! alive. A text has no more characters than V8 writes of any string. Where the first part alone has so many, the
//! whole has the same text: that of its *source*.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::layout::Layout;
use super::names::{Names, shortened};
use super::nodes::{Edges, FlatStrings, NodeEdges};
use super::parallel::for_each_unit;
use crate::context::Context;
use crate::error::Stop;
use crate::json_lines::FastMap;
use barrow_writer::StringId;

/// The most characters that V8 writes of a string.
const MAX_CHARACTERS: usize = 1024;
/// How many strings are processed at a time.
const UNIT_STRINGS: usize = 1 << 13;
/// What a part costs beside its bytes, see [`Texts::budget`].
const COST_OF_PART: u64 = 16;
/// The most parts that a thread remembers, each with at most some kilobytes.
const MAX_REMEMBERED: usize = 1 << 10;

/// What the concatenated strings of a dump say, by row.
#[derive(Debug, Default)]
pub(crate) struct Concatenated {
    rows: Vec<u32>,
    /// [`NO_TEXT`] if it is unknown.
    texts: Vec<StringId>,
}

const NO_TEXT: StringId = StringId(u32::MAX);

impl Concatenated {
    /// Reads the texts, on all threads. Takes 8 bytes for each string, and for the time being 40.
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
        let labels = [context.vocabulary.string("first")?, context.vocabulary.string("second")?];
        let joined = Known { layout, names, flat, nodes: &nodes, labels }.joined(context)?;
        let rows = nodes.iter().map(|node| node.row).collect();
        drop(nodes);
        let sources = Sources::find(&joined);
        let budget = AtomicU64::new(budget(layout));
        let mut texts = Texts { layout, joined: &joined, sources: &sources, budget, longest }.assemble(context)?;
        for (place, &source) in sources.sources.iter().enumerate() {
            texts[place] = texts.get(source as usize).copied().unwrap_or(NO_TEXT);
        }
        Ok(Concatenated { rows, texts })
    }

    /// What the concatenated string in a row says, if that is known.
    #[inline]
    pub(crate) fn text(&self, row: u64) -> Option<StringId> {
        let place = self.rows.binary_search_by_key(&row, |&row| row.into()).ok()?;
        Some(self.texts[place]).filter(|&text| text != NO_TEXT)
    }
}

/// How much all texts together may cost: a damaged dump may have any number of strings that share long parts.
fn budget(layout: &Layout<'_>) -> u64 {
    (layout.dump.len() as u64).saturating_mul(16).saturating_add(64 << 20)
}

/// A part of a concatenated string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Its text is not in the dump.
    Unknown,
    /// The number of its text, and its characters, at most [`MAX_CHARACTERS`].
    Flat(u32, u16),
    /// Another concatenated string, by its place among them.
    Joined(u32),
}

/// The two parts of a concatenated string.
type Joined = [Part; 2];

/// What finds the parts.
struct Known<'k, 'a> {
    layout: &'k Layout<'a>,
    names: &'k Names,
    flat: &'k FlatStrings,
    nodes: &'k [NodeEdges],
    labels: [StringId; 2],
}

impl Known<'_, '_> {
    /// The parts of all strings.
    fn joined(&self, context: &Context<'_>) -> Result<Vec<Joined>, Stop> {
        let all = Mutex::new(vec![[Part::Unknown; 2]; self.nodes.len()]);
        let work = |parts: &mut Vec<Joined>, unit: usize| {
            let first = unit * UNIT_STRINGS;
            let last = self.nodes.len().min(first + UNIT_STRINGS);
            parts.clear();
            self.add_parts(&self.nodes[first..last], parts)?;
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            all[first..last].copy_from_slice(parts);
            Ok(())
        };
        for_each_unit(context, self.nodes.len().div_ceil(UNIT_STRINGS), || Ok(Vec::new()), work, |_| Ok(()))?;
        Ok(all.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds the parts of the strings that these nodes are.
    fn add_parts(&self, nodes: &[NodeEdges], joined: &mut Vec<Joined>) -> Result<(), Stop> {
        let Layout { meta, edges: numbers, .. } = self.layout;
        let Some(first) = nodes.first() else { return Ok(()) };
        let mut edges = Edges::new(numbers, &meta.edges, first.first_edge);
        for node in nodes {
            edges.go_to(numbers, node.first_edge);
            let mut parts = [Part::Unknown; 2];
            for _ in 0..node.edge_count {
                let offset = edges.offset();
                let edge = edges.next()?;
                let label = self.names.plain(edge.name_or_index);
                if let Some(place) = self.labels.iter().position(|&known| label == Some(known)) {
                    parts[place] = self.part(self.layout.row(edge.to_node, offset)?);
                }
            }
            joined.push(parts);
        }
        Ok(())
    }

    fn part(&self, row: u64) -> Part {
        if let Some(name) = self.flat.name(row) {
            let text = usize::try_from(name).ok().and_then(|name| self.layout.strings.text(name));
            let characters = text.map(|text| text.chars().take(MAX_CHARACTERS).count() as u16);
            return characters.map_or(Part::Unknown, |characters| Part::Flat(name as u32, characters));
        }
        let place = self.nodes.binary_search_by_key(&row, |node| node.row.into());
        place.map_or(Part::Unknown, |place| Part::Joined(place as u32))
    }
}

/// For each concatenated string the one whose text it has.
struct Sources {
    /// [`UNKNOWN`] if the text is not known.
    sources: Vec<u32>,
    /// Characters, at most [`MAX_CHARACTERS`].
    lengths: Vec<u16>,
}

const UNKNOWN: u32 = u32::MAX;
/// Not visited yet, and visited but not finished.
const NEW: u16 = u16::MAX;
const OPEN: u16 = u16::MAX - 1;

impl Sources {
    fn find(joined: &[Joined]) -> Sources {
        let mut found = Sources { sources: vec![UNKNOWN; joined.len()], lengths: vec![NEW; joined.len()] };
        let mut waiting = Vec::new();
        for place in 0..joined.len() {
            waiting.push(place);
            while let Some(&place) = waiting.last() {
                match found.lengths[place] {
                    NEW => {
                        found.lengths[place] = OPEN;
                        let parts = joined[place].iter().filter_map(|part| match part {
                            Part::Joined(part) => Some(*part as usize),
                            _ => None,
                        });
                        waiting.extend(parts.filter(|&part| found.lengths[part] == NEW));
                    }
                    OPEN => {
                        found.finish(place, joined[place]);
                        waiting.pop();
                    }
                    _ => _ = waiting.pop(),
                }
            }
        }
        found
    }

    /// The source of a string whose parts have theirs.
    fn finish(&mut self, place: usize, parts: Joined) {
        let [first, second] = parts.map(|part| self.length(part));
        let source_of = |part| match part {
            Part::Joined(part) => self.sources[part as usize],
            _ => place as u32,
        };
        let full = MAX_CHARACTERS as u16;
        let (source, length) = match (first, second) {
            (Some(first), _) if first == full => (source_of(parts[0]), full),
            (Some(first), Some(0)) => (source_of(parts[0]), first),
            (Some(0), Some(second)) => (source_of(parts[1]), second),
            (Some(first), Some(second)) => (place as u32, full.min(first + second)),
            _ => (UNKNOWN, 0),
        };
        (self.sources[place], self.lengths[place]) = (source, length);
    }

    /// The characters of a part, if its text is known. One that is still open is a part of itself.
    fn length(&self, part: Part) -> Option<u16> {
        match part {
            Part::Unknown => None,
            Part::Flat(_, length) => Some(length),
            Part::Joined(part) => {
                let (source, length) = (self.sources[part as usize], self.lengths[part as usize]);
                (source != UNKNOWN && length != OPEN).then_some(length)
            }
        }
    }
}

/// Puts the texts together.
struct Texts<'k, 'a> {
    layout: &'k Layout<'a>,
    joined: &'k [Joined],
    sources: &'k Sources,
    budget: AtomicU64,
    longest: usize,
}

impl Texts<'_, '_> {
    /// The texts of the strings that are sources.
    fn assemble(&self, context: &Context<'_>) -> Result<Vec<StringId>, Stop> {
        let all = Mutex::new(vec![NO_TEXT; self.joined.len()]);
        let work = |reading: &mut Reading, unit: usize| {
            let first = unit * UNIT_STRINGS;
            let last = self.joined.len().min(first + UNIT_STRINGS);
            let mut texts = Vec::new();
            for place in (first..last).filter(|&place| self.sources.sources[place] as usize == place) {
                if self.read(place, reading) {
                    texts.push((place, context.vocabulary.string(&shortened(&reading.text, self.longest))?));
                }
            }
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            texts.into_iter().for_each(|(place, text)| all[place] = text);
            Ok(())
        };
        let units = self.joined.len().div_ceil(UNIT_STRINGS);
        for_each_unit(context, units, || Ok(Reading::default()), work, |_| Ok(()))?;
        Ok(all.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the text of a source; whether all texts together still cost less than they may.
    fn read(&self, place: usize, reading: &mut Reading) -> bool {
        let Reading { text, waiting, remembered } = reading;
        text.clear();
        waiting.clear();
        waiting.extend(self.joined[place].iter().rev());
        let (mut characters, mut cost) = (0, 0);
        // Each part has a character at least, and parts end where there are enough of these.
        while characters < MAX_CHARACTERS
            && let Some(part) = waiting.pop()
        {
            match part {
                Part::Unknown => return false,
                Part::Joined(part) => match self.joined.get(self.sources.sources[part as usize] as usize) {
                    Some(parts) => waiting.extend(parts.iter().rev()),
                    None => return false,
                },
                Part::Flat(name, _) => {
                    if remembered.len() >= MAX_REMEMBERED {
                        remembered.clear();
                    }
                    let part = remembered.entry(name).or_insert_with(|| {
                        let text = self.layout.strings.text(name as usize).unwrap_or_default();
                        text.chars().take(MAX_CHARACTERS).collect::<String>().into_boxed_str()
                    });
                    for character in part.chars().take(MAX_CHARACTERS - characters) {
                        text.push(character);
                        characters += 1;
                    }
                    cost += COST_OF_PART + part.len() as u64;
                }
            }
        }
        if characters == MAX_CHARACTERS {
            text.push('…');
        }
        // Relaxed: a sum.
        self.budget.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(cost)).is_ok()
    }
}

/// What one thread reads texts with.
#[derive(Default)]
struct Reading {
    text: String,
    waiting: Vec<Part>,
    /// Texts of parts, which many strings share.
    remembered: FastMap<u32, Box<str>>,
}
