//! Announces the lines of one thread to a shard.

use super::classes::Classes;
use super::line::{Line, LineBuffers};
use super::shapes::{NOT_RECORDED, Shapes};
use super::sites::{Sites, SitesOfThread};
use super::types::{LineType, put_key};
use super::values;
use super::{FREE_SLOT, ReferenceNames};
use crate::contents::Contents;
use crate::context::Vocabulary;
use crate::error::{Damage, Stop};
use crate::heaps::json_lines::{Addresses, DeclaredTypes, Strings, Text, add_bytes, unexpected};
use barrow_writer::{Label, Object, Shard, StrengthId, StringId, Value};

/// Size of a slot in dumps that lack it: Ruby 2.7 to 3.1 have slots of one size.
const SLOT_BYTES: u64 = 40;

/// The categories of Ruby's roots.
const CATEGORIES: [&str; 12] = [
    "YJIT",
    "encodings",
    "end_proc",
    "finalizers",
    "generic_ivars",
    "global_list",
    "global_symbols",
    "global_tbl",
    "machine_context",
    "object_id",
    "symbols",
    "vm",
];

/// Tables that all threads share.
#[derive(Clone, Copy)]
pub(crate) struct SharedTables<'k> {
    pub(crate) vocabulary: &'k Vocabulary<'k>,
    pub(crate) contents: Contents,
    pub(crate) words: &'k ReferenceNames,
    pub(crate) addresses: &'k Addresses,
    pub(crate) classes: &'k Classes,
    pub(crate) shapes: &'k Shapes,
    pub(crate) sites: &'k Sites<'k>,
}

/// Counts of announced lines.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Announced {
    /// References and roots whose target is not in the dump.
    pub(crate) lost_references: u64,
    /// Slots without an object.
    pub(crate) free_slots: u64,
    /// Objects whose size is not in the dump.
    pub(crate) unsized_objects: u64,
    /// Sizes of objects, summed, in bytes.
    pub(crate) bytes: u64,
}

impl Announced {
    pub(crate) fn add(&mut self, other: &Announced) -> Result<(), Damage> {
        self.bytes = add_bytes(self.bytes, other.bytes, 0)?;
        self.lost_references += other.lost_references;
        self.free_slots += other.free_slots;
        self.unsized_objects += other.unsized_objects;
        Ok(())
    }

    /// Notes for the user.
    pub(crate) fn notes(&self, repeated_addresses: u64) -> Vec<String> {
        let sentences = [
            (self.lost_references, "references lead to addresses that are not in the dump and were left out"),
            (
                repeated_addresses,
                "objects have the address of an earlier object; references to it lead to the earlier one",
            ),
            (self.free_slots, "free slots were left out"),
        ];
        let said = sentences.iter().filter(|(count, _)| *count > 0);
        said.map(|(count, sentence)| format!("{count} {sentence}")).chain(assumed_sizes(self.unsized_objects)).collect()
    }
}

/// Note on assumed sizes, if the dump lacks any.
pub(super) fn assumed_sizes(unsized_objects: u64) -> Option<String> {
    let count = unsized_objects;
    (count > 0).then(|| format!("objects of which the dump tells no size, counted with {SLOT_BYTES} B each: {count}"))
}

/// Announces the lines of one thread.
pub(crate) struct Announcer<'k, 's> {
    known: SharedTables<'k>,
    shard: Shard<'s>,
    /// The next object's number.
    row: u64,
    types: DeclaredTypes,
    strings: Strings<'k>,
    sites: SitesOfThread<'k>,
    // Kept for their memory.
    key: Vec<u8>,
    reading: LineBuffers,
    variables: Vec<StringId>,
    rows: Vec<u32>,
    pub(crate) announced: Announced,
}

impl<'k, 's> Announcer<'k, 's> {
    pub(crate) fn new(known: SharedTables<'k>, shard: Shard<'s>) -> Self {
        Announcer {
            known,
            shard,
            row: 0,
            types: DeclaredTypes::default(),
            strings: Strings::new(known.vocabulary),
            sites: SitesOfThread::new(known.sites),
            key: Vec::new(),
            reading: LineBuffers::default(),
            variables: Vec::new(),
            rows: Vec::new(),
            announced: Announced::default(),
        }
    }

    pub(crate) fn finish(self) -> Result<(), Stop> {
        Ok(self.shard.finish()?)
    }

    /// Begins a chunk whose first object is number `row`.
    pub(crate) fn begin(&mut self, row: u64) {
        self.row = row;
        self.announced = Announced::default();
    }

    /// Announces the line at `offset`: roots, or the next object.
    pub(crate) fn announce(&mut self, text: &[u8], offset: u64) -> Result<(), Stop> {
        let mut reading = std::mem::take(&mut self.reading);
        let line = Line::read(text, offset, &mut reading)?;
        let references = &reading.references;
        let announced = match (line.address, line.root) {
            (Some(_), _) if line.kind == FREE_SLOT => {
                self.announced.free_slots += 1;
                Ok(())
            }
            (Some(address), _) => self.object(&line, address, references, offset),
            (None, Some(category)) => self.roots(category, references),
            (None, None) => Err(unexpected(text, offset)),
        };
        self.reading = reading;
        announced
    }

    fn roots(&mut self, category: Text<'_>, references: &[u64]) -> Result<(), Stop> {
        self.known.vocabulary.mark_known(&category.to_name(), &CATEGORIES)?;
        let category = self.strings.id(category)?;
        let found = references.iter().filter_map(|&address| self.known.addresses.row(address));
        self.rows.clear();
        self.rows.extend(found);
        self.announced.lost_references += (references.len() - self.rows.len()) as u64;
        // Ruby lists each marking, so an object may occur repeatedly.
        self.rows.sort_unstable();
        self.rows.dedup();
        for &row in &self.rows {
            self.shard.root(category, None, row.into())?;
        }
        Ok(())
    }

    fn object(&mut self, line: &Line<'_>, address: u64, references: &[u64], offset: u64) -> Result<(), Stop> {
        let (shallow_bytes, unmanaged_bytes) = sizes(line);
        self.announced.unsized_objects += u64::from(!has_size(line));
        self.announced.bytes = add_bytes(self.announced.bytes, shallow_bytes, offset)?;
        self.announced.bytes = add_bytes(self.announced.bytes, unmanaged_bytes, offset)?;
        let (site, name) = (self.sites.id(&line.site)?, self.name(line, address)?);
        let are_named = self.are_variables(line, references.len());
        put_key(line, &mut self.key);
        let SharedTables { classes, vocabulary, .. } = self.known;
        let has_values = self.known.contents.has_values();
        let declared = self.types.of(&self.key, || {
            let type_id = LineType::of(line).declare(classes, vocabulary, has_values)?;
            Ok((type_id, type_id))
        })?;
        let object = Object {
            unmanaged_bytes,
            address: Some(address).filter(|&address| address != 0),
            site,
            name,
            ..Object::new(declared.type_id, shallow_bytes)
        };
        self.shard.object(self.row, &object)?;
        self.row += 1;
        if has_values {
            for (name, value) in values::numbers(line) {
                if let Some(value) = value {
                    declared.announce(name, Value::Unsigned(value), &mut self.shard, vocabulary)?;
                }
            }
            if let Some(encoding) = values::encoding(line) {
                let encoding = Value::Text(self.strings.id(encoding)?);
                declared.announce("encoding", encoding, &mut self.shard, vocabulary)?;
            }
        }
        if !are_named && let Some(shape_id) = line.shape_id {
            let has_some = line.ivars.is_some_and(|count| count > 0);
            if let Some(names) = self.known.shapes.not_recorded(shape_id, has_some, vocabulary)? {
                declared.announce_some(NOT_RECORDED, Value::Text(names), &mut self.shard, vocabulary)?;
            }
        }
        if line.kind == b"IMEMO" {
            return self.imemo_references(line, references);
        }
        self.references(line, references, are_named)
    }

    /// The name of an object: the text of a string or symbol, the name of a class, the variable that a shape adds,
    /// the method of a method entry, the structure that C wraps as a plain `Object`, such as the table of those that trace
    /// allocations.
    fn name(&mut self, line: &Line<'_>, address: u64) -> Result<Option<StringId>, Stop> {
        if matches!(line.kind, b"CLASS" | b"MODULE") {
            let name = self.known.classes.own_name(address);
            return Ok(name.map(|name| self.known.vocabulary.string(&name)).transpose()?);
        }
        if let Some(text) = values::text(line) {
            let longest = self.known.contents.longest_text();
            return Ok(longest.map(|longest| self.strings.of_text(text, longest)).transpose()?);
        }
        let is_plain = |class: u64| self.known.classes.name_of_instances(class).is_some_and(|class| class == "Object");
        let structure = line.structure.filter(|_| line.class.is_some_and(is_plain));
        let name = line.method_id.or(line.shape.edge_name).or(structure);
        Ok(name.map(|text| self.strings.id(text)).transpose()?)
    }

    /// Up to Ruby 3.1 the `class` of an imemo is whatever value is in that word, and `references` omits it: a
    /// reference if it is an object, but not to a class. Call caches do not keep theirs alive.
    fn imemo_references(&mut self, line: &Line<'_>, references: &[u64]) -> Result<(), Stop> {
        if let Some(row) = line.class.and_then(|address| self.known.addresses.row(address)) {
            let is_cache = line.imemo_type.is_some_and(|imemo_type| imemo_type.raw == b"callcache");
            let strength = if is_cache { self.known.words.weak } else { StrengthId::STRONG };
            self.shard.reference(Label::Unknown, strength, row.into())?;
        }
        references.iter().try_for_each(|&address| self.reference(Label::Unknown, address))
    }

    /// Announces the references of an object: `class` and shape, then those in `references`. Superclass and default
    /// proc are among the latter, and get their names there. `are_named`: these are the variables.
    fn references(&mut self, line: &Line<'_>, references: &[u64], are_named: bool) -> Result<(), Stop> {
        let words = self.known.words;
        let mut class = line.class.map(|address| (words.class, address));
        let mut superclass = line.superclass.map(|address| (words.superclass, address));
        let mut default = line.default.map(|address| (words.default, address));
        // Those that are not in `references` come first.
        for field in [&mut class, &mut superclass, &mut default] {
            if let Some((name, address)) = *field
                && !references.contains(&address)
            {
                self.reference(Label::Name(name), address)?;
                *field = None;
            }
        }
        let shape = line.shape_id.and_then(|id| self.known.shapes.row(id)).map(|row| (words.shape, row));
        let parent = line.shape.parent_id.and_then(|id| self.known.shapes.row(id)).map(|row| (words.parent, row));
        for (name, row) in shape.into_iter().chain(parent) {
            self.shard.reference(Label::Name(name), StrengthId::STRONG, row.into())?;
        }
        if are_named {
            for (position, &address) in references.iter().enumerate() {
                let name = self.variables.get(position).copied();
                self.reference(name.map_or(Label::Unknown, Label::Name), address)?;
            }
            return Ok(());
        }
        for &address in references {
            let fields = [&mut class, &mut superclass, &mut default];
            let field = fields.into_iter().find(|field| field.is_some_and(|(_, named)| named == address));
            let name = field.and_then(Option::take).map(|(name, _)| name);
            self.reference(name.map_or(Label::Unknown, Label::Name), address)?;
        }
        Ok(())
    }

    /// Returns whether the references are just the instance variables, each of which is an object.
    fn are_variables(&mut self, line: &Line<'_>, reference_count: usize) -> bool {
        let Some(shape_id) = line.shape_id else { return false };
        line.kind == b"OBJECT"
            && reference_count > 0
            && line.ivars == Some(reference_count as u64)
            && self.known.shapes.variables(shape_id, reference_count, &mut self.variables)
    }

    fn reference(&mut self, label: Label, address: u64) -> Result<(), Stop> {
        match self.known.addresses.row(address) {
            Some(row) => self.shard.reference(label, StrengthId::STRONG, row.into())?,
            None => self.announced.lost_references += 1,
        }
        Ok(())
    }
}

/// Bytes of an object in its slot and elsewhere. `memsize` is the sum. Shapes live in a table of their own, outside
/// of all slots.
pub(super) fn sizes(line: &Line<'_>) -> (u64, u64) {
    match (line.kind, line.slot_size, line.memsize) {
        (b"SHAPE", _, memsize) => (0, memsize.unwrap_or(0)),
        (_, Some(slot), memsize) => (slot, memsize.unwrap_or(0).saturating_sub(slot)),
        (_, None, Some(memsize)) => (memsize.min(SLOT_BYTES), memsize.saturating_sub(SLOT_BYTES)),
        (_, None, None) => (SLOT_BYTES, 0),
    }
}

/// Returns whether the dump has the size of an object; it lacks those of objects that wait for their finalizer
/// (`ZOMBIE`).
pub(super) fn has_size(line: &Line<'_>) -> bool {
    line.kind == b"SHAPE" || line.slot_size.is_some() || line.memsize.is_some()
}
