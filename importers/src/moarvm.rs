//! MoarVM heap dumps: what their three formats share.
//!
//! ```text
//!   tables, for the whole dump          one snapshot
//!   strings  «P6opaque» «Document» …    collectables  kind · type or frame · size · unmanaged · first, count
//!   types    (REPR name, type name)                        │                                      │
//!   frames   (name, cuid, line, file)                      │   ┌──────────────────────────────────┘
//!                                       references         └──▶│ label · target │ label · target │ …
//! ```
//!
//! A collectable (MoarVM's word for anything on its heap, and for its groups of roots) becomes an
//! object with the collectable's number as id. Its references are adjacent in the dump, but not in
//! the order of collectables, so the [`References`] of one snapshot are held in memory; collectables
//! are visited where they are ([`Collectables`]), once to check them and once to announce them.
//!
//! All kinds of roots but one keep their targets alive. The exception: the inter-generational roots are the remembered set, old
//! objects that refer to young ones. A minor collection starts from them, since it does not look at other old objects; a
//! full one does not, and frees those that nothing else refers to. So their references are weak here.
//!
//! MoarVM has one type table for objects, type objects and STables alike; in a recording every type
//! belongs to one kind. So a pair (kind, type) is one type there, declared when it is first used.

mod header;
mod kinds;
mod references;
mod tables;

mod format1;
mod format2;
mod format3;

pub(crate) use kinds::{CALL_STACK_ROOTS, FRAME, Kind, OBJECT, STABLE, TYPE_OBJECT};
pub(crate) use references::References;
pub(crate) use tables::Tables;

use crate::context::{Context, Outcome, Vocabulary};
use crate::error::{Damage, ImportError, Stop};
use crate::format::Importer;
use crate::screen::{Anything, Screen, Text};
use barrow_progress::Progress;
use barrow_writer::{
    KindId, Object, SnapshotInfo, StrengthClass, StrengthId, StringId, Totals, TypeDescription, TypeId, Writer,
};
use kinds::{INTER_GENERATIONAL_ROOTS, KINDS};
use tables::FrameRow;

/// MoarVM's text format.
pub(crate) const IMPORTER_1: Importer = Importer {
    key: "moarvm-1",
    name: "MoarVM heap dump, format 1",
    sample: "moarvm-1-tiny.mvmheap",
    recognises: header::is_text,
    screen: |_| Some(Box::new(Text)),
    import: |dump, context| import(context, |session| format1::import(dump, session)),
    ..IMPORTER_2
};

/// MoarVM's format of plain records.
pub(crate) const IMPORTER_2: Importer = Importer {
    key: "moarvm-2",
    name: "MoarVM heap dump, format 2",
    heading: "MoarVM",
    sample: "moarvm-2-nqp.mvmheap.zst",
    recognises: |first_bytes| header::version(first_bytes) == Some(b"002"),
    rejects: Some(header::reject_version),
    screen: |first_bytes| screen(first_bytes, format2::begins_chunk),
    import: |dump, context| import(context, |session| format2::import(dump, session)),
    totals: None,
    taken_ms: None,
    options: &[],
};

/// MoarVM's format of compressed columns.
pub(crate) const IMPORTER_3: Importer = Importer {
    key: "moarvm-3",
    name: "MoarVM heap dump, format 3",
    sample: "moarvm-3-cut.mvmheap",
    recognises: |first_bytes| header::version(first_bytes) == Some(b"003"),
    screen: |first_bytes| screen(first_bytes, format3::begins_section),
    import: |dump, context| import(context, |session| format3::import(dump, session)),
    ..IMPORTER_2
};

/// Imports a dump with the function of its format.
fn import<'a>(
    context: &Context<'a>,
    import_as: impl FnOnce(&mut Session<'a>) -> Result<(), Stop>,
) -> Result<Outcome, ImportError> {
    let mut session = Session::new(context)?;
    let end = import_as(&mut session);
    Ok(session.finish(end))
}

/// The screen of a binary dump: the first part follows the header, and the rest is compressed or plain bytes.
fn screen(first_bytes: &[u8], begins_part: fn(&[u8]) -> bool) -> Option<Box<dyn Screen>> {
    let part = first_bytes.get(header::HEADER_BYTES..).unwrap_or_default();
    if begins_part(part) { Some(Box::new(Anything)) } else { None }
}

/// After how many records [`Progress::cancelled`] is asked.
const RECORDS_PER_QUESTION: u64 = 1 << 16;

/// Something on MoarVM's heap, or a group of roots, as the dump has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Collectable {
    /// Its offset in the dump, or that of its columns.
    pub(crate) offset: u64,
    /// MoarVM's number of its kind.
    pub(crate) kind: u64,
    /// Its row in the types or, for a frame, in the frames.
    pub(crate) type_index: u64,
    /// Bytes on the heap.
    pub(crate) size: u64,
    /// Bytes elsewhere that it owns.
    pub(crate) unmanaged: u64,
    /// Its first reference; means nothing without references.
    pub(crate) first_reference: u64,
    /// How many references it has.
    pub(crate) reference_count: u64,
}

/// The collectables of one snapshot, wherever they are.
pub(crate) trait Collectables {
    /// Hands them over one by one, from number 0 on.
    fn for_each(&self, visit: impl FnMut(&Collectable) -> Result<(), Stop>) -> Result<(), Stop>;
}

/// The columns of one snapshot.
pub(crate) struct Columns<C> {
    /// The snapshot's number in the dump.
    pub(crate) number: u64,
    pub(crate) collectables: C,
    pub(crate) references: References,
}

/// What a snapshot holds, counted from its columns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Counts {
    /// Collectables by [`Kind`].
    pub(crate) collectables: [u64; KINDS.len()],
    /// References by the [`Kind`] of their source.
    pub(crate) references: [u64; KINDS.len()],
    /// Sizes on the heap, summed, in bytes.
    pub(crate) heap_bytes: u64,
    /// Unmanaged sizes, summed, in bytes.
    pub(crate) unmanaged_bytes: u64,
}

/// One import: the writer, the tables so far and what came of the snapshots so far.
pub(crate) struct Session<'a> {
    pub(crate) progress: &'a dyn Progress,
    pub(crate) tables: Tables<'a>,
    pub(crate) notes: Vec<String>,
    writer: &'a Writer,
    vocabulary: &'a Vocabulary<'a>,
    kinds: Vec<KindId>,
    root_category: StringId,
    /// How strongly the remembered set refers.
    remembered: StrengthId,
    /// The string table's rows in the recording.
    names: Vec<StringId>,
    /// By kind, then by row of the type or frame table: the type in the recording, once declared.
    types: [Vec<Option<TypeId>>; KINDS.len()],
    snapshots: Vec<Totals>,
}

impl<'a> Session<'a> {
    /// Declares what every MoarVM dump has.
    fn new(context: &Context<'a>) -> Result<Self, ImportError> {
        let &Context { writer, vocabulary, progress, .. } = context;
        writer.fact("runtime", "MoarVM")?;
        let kinds = KINDS.iter().map(|(name, role)| vocabulary.kind(name, *role)).collect::<Result<_, _>>()?;
        Ok(Session {
            vocabulary,
            progress,
            tables: Tables::default(),
            notes: Vec::new(),
            writer,
            kinds,
            root_category: writer.string("root")?,
            remembered: vocabulary.strength("remembered", StrengthClass::Weak)?,
            names: Vec::new(),
            types: Default::default(),
            snapshots: Vec::new(),
        })
    }

    /// The snapshots that were imported, and notes for the user.
    fn finish(mut self, end: Result<(), Stop>) -> Outcome {
        self.notes.extend(self.tables.notes());
        Outcome { snapshots: self.snapshots, notes: self.notes, end }
    }

    /// Adds a fact to the recording.
    pub(crate) fn fact(&self, key: &str, value: &str) -> Result<(), ImportError> {
        Ok(self.writer.fact(key, value)?)
    }

    /// How many snapshots were imported.
    pub(crate) fn imported(&self) -> u64 {
        self.snapshots.len() as u64
    }

    /// Ends the import if the user cancelled it.
    pub(crate) fn check_cancelled(&self) -> Result<(), ImportError> {
        if self.progress.cancelled() { Err(ImportError::Cancelled) } else { Ok(()) }
    }

    /// Checks that everything a snapshot refers to exists, and counts.
    pub(crate) fn check<C: Collectables>(&self, columns: &Columns<C>) -> Result<Counts, Stop> {
        let mut counts = Counts::default();
        let mut references_left = columns.references.len();
        columns.collectables.for_each(|collectable| {
            let kind = Kind::of(collectable)?;
            self.tables.check_type(kind, collectable)?;
            check_references(collectable, columns.references.len(), &mut references_left)?;
            counts.add(kind, collectable)
        })?;
        Ok(counts)
    }

    /// Announces a snapshot that was checked, and commits it.
    pub(crate) fn announce<C: Collectables>(&mut self, columns: &Columns<C>, info: SnapshotInfo) -> Result<(), Stop> {
        self.intern_strings()?;
        let writer = self.writer;
        let snapshot = writer.begin_snapshot(info)?;
        let mut shard = snapshot.shard();
        let mut object_id = 0;
        columns.collectables.for_each(|collectable| {
            let kind = Kind::of(collectable)?;
            let type_id = self.type_id(kind, collectable)?;
            let mut object = Object::new(type_id, collectable.size);
            object.unmanaged_bytes = collectable.unmanaged;
            shard.object(object_id, &object)?;
            let strength = if kind == INTER_GENERATIONAL_ROOTS { self.remembered } else { StrengthId::STRONG };
            for reference in columns.references.of(collectable) {
                let label = columns.references.label(reference, &self.names);
                shard.reference(label, strength, reference.target.into())?;
            }
            if kind == kinds::ROOT {
                shard.root(self.root_category, None, object_id)?;
            }
            object_id += 1;
            if object_id % RECORDS_PER_QUESTION == 0 { Ok(self.check_cancelled()?) } else { Ok(()) }
        })?;
        shard.finish()?;
        self.snapshots.push(snapshot.commit()?);
        Ok(())
    }

    /// [`Session::check`] and [`Session::announce`] for dumps that say nothing about their snapshots;
    /// what does not add up becomes a note.
    pub(crate) fn import<C: Collectables>(&mut self, columns: &Columns<C>, info: SnapshotInfo) -> Result<Counts, Stop> {
        let counts = self.check(columns).map_err(|stop| stop.in_snapshot(columns.number))?;
        self.notes.extend(counts.notes(columns.number, columns.references.len()));
        self.announce(columns, info).map_err(|stop| stop.in_snapshot(columns.number))?;
        Ok(counts)
    }

    /// Interns the strings that came since the last snapshot.
    fn intern_strings(&mut self) -> Result<(), ImportError> {
        for text in self.tables.strings().iter().skip(self.names.len()) {
            self.names.push(self.writer.string(text)?);
        }
        Ok(())
    }

    /// The type of a collectable that was checked.
    fn type_id(&mut self, kind: Kind, collectable: &Collectable) -> Result<TypeId, Stop> {
        let index = if kind.is_root() { 0 } else { collectable.type_index as usize };
        let known = self.types.get(kind.index()).and_then(|types| types.get(index));
        if let Some(&Some(type_id)) = known {
            return Ok(type_id);
        }
        // The dump is mapped and may have changed since the first check.
        self.tables.check_type(kind, collectable)?;
        let type_id = self.declare_type(kind, index)?;
        let types = &mut self.types[kind.index()];
        if types.len() <= index {
            types.resize(index + 1, None);
        }
        types[index] = Some(type_id);
        Ok(type_id)
    }

    /// Declares a row of the type or frame table for one kind.
    fn declare_type(&self, kind: Kind, index: usize) -> Result<TypeId, ImportError> {
        let mut description = TypeDescription {
            kind: self.kinds[kind.index()],
            name: kind.name(),
            layout: None,
            base: None,
            file: None,
            line: None,
            attributes: &[],
        };
        if kind.is_root() {
            return self.vocabulary.declare_type(&description);
        }
        if kind != FRAME {
            let (layout, name) = self.tables.type_names(index);
            description.layout = Some(layout);
            description.name = name;
            return self.vocabulary.declare_type(&description);
        }
        let FrameRow { name, cuid, line, file } = self.tables.frame(index);
        let attributes = [("cuid", cuid)];
        description.name = if name.is_empty() { "<anon>" } else { name };
        description.file = (!file.is_empty()).then_some(file);
        description.line = Some(line);
        description.attributes = &attributes;
        self.vocabulary.declare_type(&description)
    }
}

/// Checks the references of a collectable: all are there, and no two collectables share one.
fn check_references(collectable: &Collectable, reference_count: u64, left: &mut u64) -> Result<(), Damage> {
    if collectable.reference_count == 0 {
        return Ok(());
    }
    let end = collectable.first_reference.saturating_add(collectable.reference_count);
    let too_large = |what, value, limit| Damage::OutOfRange { what, offset: collectable.offset, value, limit };
    if end > reference_count {
        return Err(too_large("the end of a collectable's references", end, reference_count));
    }
    *left = left
        .checked_sub(collectable.reference_count)
        .ok_or_else(|| too_large("the number of a collectable's references", collectable.reference_count, *left))?;
    Ok(())
}

impl Counts {
    fn add(&mut self, kind: Kind, collectable: &Collectable) -> Result<(), Stop> {
        self.collectables[kind.index()] += 1;
        self.references[kind.index()] += collectable.reference_count;
        self.heap_bytes = add_bytes(self.heap_bytes, collectable.size, collectable.offset)?;
        self.unmanaged_bytes = add_bytes(self.unmanaged_bytes, collectable.unmanaged, collectable.offset)?;
        Ok(())
    }

    /// What the user should know of a snapshot whose columns hold `reference_count` references.
    fn notes(&self, number: u64, reference_count: u64) -> Vec<String> {
        let mut notes = Vec::new();
        if self.collectables[kinds::ROOT.index()] == 0 {
            notes.push(format!("snapshot {number} has no collectable of kind 9, so no GC root"));
        }
        let unused = reference_count - self.references.iter().sum::<u64>();
        if unused > 0 {
            notes.push(format!("snapshot {number}: {unused} references belong to no collectable and were left out"));
        }
        notes
    }
}

/// Adds sizes; together they must fit an `i64`, as any sizes in one address space do.
fn add_bytes(sum: u64, size: u64, offset: u64) -> Result<u64, Damage> {
    let limit = i64::MAX as u64;
    sum.checked_add(size).filter(|&sum| sum <= limit).ok_or(Damage::OutOfRange {
        what: "the size of a collectable",
        offset,
        value: size,
        limit,
    })
}
