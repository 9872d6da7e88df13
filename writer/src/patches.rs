//! Snapshots written as their difference to the one before, if the runtime identifies objects across snapshots.
//!
//! ```text
//!   announcing   encoders ──▶ blocks as of a whole snapshot ──▶ spill, a temporary file
//!   commit       spill ──▶ serials ──▶ rows: the object was there before, or is new
//!                spill ──▶ contents, hashed ──▶ what changed ──▶ PATCH frames; what is new ──▶ BLOCK frames
//!                either those or all blocks as they are ──▶ the file
//!   afterwards   remembered: for each row serial and content, for each group its rows
//! ```
//!
//! The numbers of targets have no meaning before all objects were announced, hence the spill. Only a commit changes the
//! remembered state; without it, or without all serials, a snapshot is whole.

mod changes;
mod comparison;
mod contents;
mod context;
mod difference;
mod draft;
mod living;
mod reader;
mod rows;
mod spill;

use std::sync::Mutex;

use barrow_format::codec::Compression;
use barrow_format::commit::{BlockEntry, Group};
use barrow_format::patch::{Divisions, MAX_CHAIN, NO_ROW, RowGroup};

use crate::error::Result;
use crate::lock::lock;
use crate::shapes::ShapeTable;
use contents::{Contents, Keys};
use context::Context;
use difference::Difference;
pub(crate) use draft::Draft;
use reader::{BlockItem, Reader};
use rows::Rows;
pub(crate) use spill::Spill;

/// The share of the memory budget for rows that are gathered at once.
const GATHERED_PART: usize = 8;

/// The last committed snapshot, and the means to compare the next one with it.
#[derive(Debug)]
pub(crate) struct Patches {
    compression: Compression,
    /// Maximum memory of rows gathered at once, in bytes.
    gathered_bytes: usize,
    keys: Keys,
    before: Mutex<Option<PreviousSnapshot>>,
}

/// The remembered state of a snapshot.
#[derive(Debug)]
struct PreviousSnapshot {
    snapshot: u32,
    rows: Rows,
    groups: Vec<RowGroup>,
    /// The division of the references of each row with continuations into blocks.
    divisions: Divisions,
    /// Patches since the last whole snapshot.
    chain: usize,
    /// Rows and references in blocks and patches since then, itself included.
    stored: u64,
}

impl Patches {
    pub(crate) fn new(compression: Compression, memory_budget_bytes: usize) -> Self {
        let gathered_bytes = memory_budget_bytes / GATHERED_PART;
        Patches { compression, gathered_bytes, keys: Keys::default(), before: Mutex::new(None) }
    }

    /// The difference of a snapshot to the one before, in frames appended to the spill. `None` if the snapshot should
    /// be written whole.
    pub(crate) fn draft(
        &self,
        snapshot: u32,
        blocks: &[BlockEntry],
        spill: &Mutex<Spill>,
        shapes: &ShapeTable,
    ) -> Result<Option<Draft>> {
        let before = lock(&self.before);
        let Some(before) = before.as_ref().filter(|before| before.chain < MAX_CHAIN) else { return Ok(None) };
        shapes.with_all(|shapes| {
            let reader = Reader::new(spill, blocks, shapes);
            let context = Context { patches: self, before, snapshot, spill };
            match Difference::begin(context, reader)? {
                Some(difference) => difference.draft(),
                None => Ok(None),
            }
        })
    }

    /// Remembers a snapshot that was committed as it was drafted.
    pub(crate) fn committed(&self, snapshot: u32, draft: Draft) {
        let mut remembered = lock(&self.before);
        // Nothing is remembered if this does not complete.
        if let Some(mut before) = remembered.take() {
            before.follow(snapshot, draft);
            *remembered = Some(before);
        }
    }

    /// Remembers a snapshot that was committed with all its blocks. If they cannot be read back or do not give every
    /// object a unique serial, nothing is remembered, and the next snapshot is whole as well.
    pub(crate) fn committed_whole(
        &self,
        snapshot: u32,
        blocks: &[BlockEntry],
        spill: &Mutex<Spill>,
        shapes: &ShapeTable,
    ) {
        let mut remembered = lock(&self.before);
        *remembered = None;
        let before =
            shapes.with_all(|shapes| PreviousSnapshot::whole(snapshot, Reader::new(spill, blocks, shapes), &self.keys));
        *remembered = before.ok().flatten();
    }
}

impl PreviousSnapshot {
    /// The state of a whole snapshot; `None` if not every object has a unique serial.
    fn whole(snapshot: u32, mut reader: Reader<'_>, keys: &Keys) -> Result<Option<Self>> {
        let stored = u64::from(reader.objects()) + reader.references();
        let (groups, mut divisions) = (groups_of(reader.blocks()), Divisions::default());
        let mut rows = Rows::default();
        rows.reserve(reader.objects() as usize);
        let mut contents = Contents::new(keys);
        let (mut serial, mut are_named, mut addresses) = (0, true, Vec::new());
        let mut first_part = (NO_ROW, 0);
        reader.walk(0..reader.blocks().len(), |part| {
            match part {
                BlockItem::Object(number, object) => {
                    (serial, first_part) = (object.serial, (number, object.targets.len() as u32));
                    if object.address != 0 {
                        addresses.resize(number as usize, 0);
                        addresses.push(object.address);
                    }
                    contents.begin(&object, |target| target);
                }
                BlockItem::More(object) => {
                    let (row, in_first) = first_part;
                    divisions.add(row, in_first, object.targets.len() as u32);
                    contents.go_on(&object, |target| target);
                }
                BlockItem::End => are_named = are_named && serial != 0 && rows.push(serial, contents.end()),
            }
            Ok(())
        })?;
        if !addresses.is_empty() {
            addresses.resize(rows.len() as usize, 0);
        }
        rows.set_addresses(addresses);
        Ok(are_named.then_some(PreviousSnapshot { snapshot, rows, groups, divisions, chain: 0, stored }))
    }

    /// Updates the state after a commit as a patch.
    fn follow(&mut self, snapshot: u32, draft: Draft) {
        let Draft { layout, living, changed, new, addresses, .. } = draft;
        let changed = changed.rows.into_iter().zip(changed.contents);
        for row in 0..self.rows.len() {
            if !living.contains(row) {
                self.rows.bury(row);
            }
        }
        changed.for_each(|(row, content)| self.rows.change(row, content));
        self.rows.reserve(new.contents.len());
        for (serial, content) in new.serials.into_iter().zip(new.contents) {
            self.rows.push(serial, content);
        }
        self.rows.set_addresses(addresses);
        for (group, fate) in self.groups.iter_mut().zip(&layout.groups) {
            group.is_gone = *fate == Group::Gone;
        }
        self.groups.extend(new.groups);
        self.divisions.retain(|row| self.rows.is_alive(row));
        self.divisions.extend(new.divisions);
        self.snapshot = snapshot;
        self.chain += 1;
        self.stored += layout.stored;
    }
}

/// The groups of a whole snapshot.
fn groups_of(blocks: &[BlockEntry]) -> Vec<RowGroup> {
    let mut part = 0;
    let groups = blocks.iter().map(|block| {
        part = if block.objects == 0 { part + 1 } else { 0 };
        let rows = block.first_object..block.first_object + block.objects.max(1);
        RowGroup { rows, part, is_gone: false }
    });
    groups.collect()
}
