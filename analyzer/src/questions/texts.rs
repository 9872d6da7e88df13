//! The names and texts of objects, each with the totals of the objects that have it.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use barrow_format::block::ColumnSelection;
use barrow_format::rows::KindRole;
use barrow_format::{ObjectId, StringId, TypeId};
use parking_lot::Mutex;
use rayon::prelude::*;
use regex::Regex;

use crate::error::Result;
use crate::file::blocks::{map_blocks, places};
use crate::file::object::dictionary_place;
use crate::file::tables::Tables;
use crate::graph::object_set::ObjectSet;
use crate::heap::Heap;
use crate::progress::Progress;
use crate::questions::shortened::is_shortened;
use barrow_expressions::{ExpressionError, name_pattern};

/// A pattern for texts.
#[derive(Debug, Clone)]
pub struct TextPattern(Regex);

impl TextPattern {
    /// Parses a glob pattern for whole texts, or a regular expression between slashes that matches anywhere.
    ///
    /// # Errors
    /// [`ExpressionError`] if the regular expression is not valid.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        name_pattern(text).map(TextPattern)
    }

    /// Returns whether a text matches.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

/// The totals of the objects with one text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextTotals {
    /// The text.
    pub text: StringId,
    /// Their type; `None` if there are several.
    pub type_id: Option<TypeId>,
    /// The number of objects.
    pub objects: u64,
    /// Their shallow sizes, summed, in bytes.
    pub heap_bytes: u64,
    /// Their unmanaged sizes, summed, in bytes.
    pub unmanaged_bytes: u64,
}

/// The texts of a snapshot, and the objects of which more or other text may be true.
#[derive(Debug, Clone, Default)]
pub struct Texts {
    /// Each text once, in descending order of bytes.
    pub found: Vec<TextTotals>,
    /// The objects that are texts without a recorded one, by type, in the order of types. They match no pattern.
    pub unknown: Vec<(TypeId, u64)>,
    /// The number of objects whose text ends with the mark of texts that were shortened. Those of one text are equal at
    /// its beginning only.
    pub shortened: u64,
}

/// Types and kinds whose objects are texts in any runtime: a text that none of them has was not recorded, and is not empty.
const TEXT_TYPES: [&str; 5] = ["java.lang.String", "str", "bytes", "VMString", "String"];
const TEXT_KINDS: [&str; 3] = ["string", "concatenated string", "sliced string"];

impl TextTotals {
    /// Shallow and unmanaged sizes together, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.heap_bytes.wrapping_add(self.unmanaged_bytes)
    }

    fn add(&mut self, other: &TextTotals) {
        self.text = self.text.min(other.text);
        self.type_id = self.type_id.filter(|_| self.type_id == other.type_id);
        self.objects += other.objects;
        self.heap_bytes = self.heap_bytes.wrapping_add(other.heap_bytes);
        self.unmanaged_bytes = self.unmanaged_bytes.wrapping_add(other.unmanaged_bytes);
    }
}

impl Heap {
    /// The number of objects of a set that are texts of which none was recorded.
    ///
    /// # Errors
    /// As for [`Heap::texts`].
    pub fn without_text(&self, set: &ObjectSet, progress: &dyn Progress) -> Result<u64> {
        let tables = self.recording().tables()?;
        let places = places(self.recording(), &[self.snapshot()])?;
        progress.begin("reading texts", self.object_count(), "objects");
        let counts = map_blocks(self.recording(), &places, ColumnSelection::Identity, progress, |_, _, columns| {
            let is_one = |row: &usize| {
                let type_id = tables.shape(columns.dictionary[dictionary_place(columns, *row)]).type_id;
                set.contains(ObjectId(columns.first_object + *row as u32))
                    && columns.names.get(*row).copied().flatten().is_none()
                    && holds_text(tables, type_id)
            };
            Ok((0..columns.objects()).filter(is_one).count() as u64)
        })?;
        Ok(counts.into_iter().sum())
    }

    /// The names and texts of objects, each once, in descending order of bytes; only those that match, if there is a pattern.
    /// Types and frames are excluded, because their names are not data of the program.
    ///
    /// Time: one pass over all objects, on all threads, and with a pattern one over all strings. Memory: 48 bytes for each
    /// different text.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`](crate::AnalyzerError::Section),
    /// [`AnalyzerError::Cancelled`](crate::AnalyzerError::Cancelled).
    pub fn texts(&self, pattern: Option<&TextPattern>, progress: &dyn Progress) -> Result<Texts> {
        let tables = self.recording().tables()?;
        let all = (0..tables.type_count() as u32).map(TypeId);
        let are_texts: Vec<bool> = all.map(|id| holds_text(tables, id)).collect();
        let unknown: Mutex<BTreeMap<TypeId, u64>> = Mutex::default();
        let matching = pattern.map(|pattern| tables.string_answers(|text| pattern.matches(text)));
        let places = places(self.recording(), &[self.snapshot()])?;
        progress.begin("reading texts", self.object_count(), "objects");
        let by_id: Mutex<HashMap<StringId, TextTotals>> = Mutex::default();
        map_blocks(self.recording(), &places, ColumnSelection::Identity, progress, |_, _, columns| {
            let (mut of_block, mut without) = (HashMap::new(), BTreeMap::new());
            for row in 0..columns.objects() {
                let Some(text) = columns.names.get(row).copied().flatten() else {
                    let type_id = tables.shape(columns.dictionary[dictionary_place(columns, row)]).type_id;
                    if are_texts[type_id.0 as usize] && self.has(ObjectId(columns.first_object + row as u32)) {
                        *without.entry(type_id).or_insert(0_u64) += 1;
                    }
                    continue;
                };
                if matching.as_ref().is_some_and(|matching| !matching.get(text)) {
                    continue;
                }
                let type_id = tables.shape(columns.dictionary[dictionary_place(columns, row)]).type_id;
                let is_data = tables.kind_role(tables.type_kind(type_id)) == KindRole::Object;
                if is_data && self.has(ObjectId(columns.first_object + row as u32)) {
                    let [heap_bytes, unmanaged_bytes] = [&columns.shallow_bytes, &columns.unmanaged_bytes]
                        .map(|column| column.get(row).copied().unwrap_or(0));
                    let one = TextTotals { text, type_id: Some(type_id), objects: 1, heap_bytes, unmanaged_bytes };
                    add(&mut of_block, text, one);
                }
            }
            let mut unknown = unknown.lock();
            without.into_iter().for_each(|(type_id, objects)| *unknown.entry(type_id).or_insert(0) += objects);
            let mut by_id = by_id.lock();
            of_block.into_iter().for_each(|(text, totals)| add(&mut by_id, text, totals));
            Ok(())
        })?;
        // A recording may hold equal texts under several ids.
        let mut by_text = HashMap::new();
        for (id, totals) in by_id.into_inner() {
            add(&mut by_text, tables.string(id), totals);
        }
        tables.check_strings()?;
        let mut found: Vec<TextTotals> = by_text.into_values().collect();
        found.par_sort_unstable_by_key(|totals| (std::cmp::Reverse(totals.bytes()), totals.text));
        let shortened = found.iter().filter(|totals| is_shortened(tables.string(totals.text)));
        let shortened = shortened.map(|totals| totals.objects).sum();
        Ok(Texts { found, unknown: unknown.into_inner().into_iter().collect(), shortened })
    }
}

/// Returns whether objects of a type are texts.
pub(crate) fn holds_text(tables: &Tables, id: TypeId) -> bool {
    let kind = tables.kind_name(tables.type_kind(id));
    tables.kind_role(tables.type_kind(id)) == KindRole::Object
        && (TEXT_TYPES.contains(&tables.type_name(id)) || TEXT_KINDS.contains(&kind))
}

/// Adds totals to those of their key.
fn add<K: std::hash::Hash + Eq>(all: &mut HashMap<K, TextTotals>, key: K, totals: TextTotals) {
    match all.entry(key) {
        Entry::Occupied(mut known) => known.get_mut().add(&totals),
        Entry::Vacant(new) => drop(new.insert(totals)),
    }
}
