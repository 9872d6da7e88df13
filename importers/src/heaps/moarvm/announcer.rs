//! Announces snapshots to the writer, on all threads.

use super::census::Census;
use super::collectables::{Collectable, Collectables, Run, Runs, on_all_threads};
use super::kinds::{FRAME, INTER_GENERATIONAL_ROOTS, KINDS, Kind};
use super::reading::{CheckedSnapshot, ReadContext, Snapshots};
use super::references::References;
use super::tables::{FrameRow, Tables};
use crate::context::{Context, Vocabulary, check_cancelled};
use crate::error::{Damage, ImportError, Stop};
use barrow_progress::Progress;
use barrow_writer::{
    KindId, Object, Shard, StrengthClass, StrengthId, StringId, Totals, TypeDescription, TypeId, Word, Writer,
};

/// Number of collectables read before the first of them is announced.
const BATCH_COLLECTABLES: usize = 32;

/// Announces snapshots, and keeps their declarations.
pub(crate) struct Announcer<'a> {
    writer: &'a Writer,
    vocabulary: &'a Vocabulary<'a>,
    progress: &'a dyn Progress,
    kinds: Vec<KindId>,
    root_category: StringId,
    /// The strength of references of the remembered set.
    remembered: StrengthId,
    /// The string table's rows in the recording.
    names: Vec<StringId>,
    /// By kind, then by row of the type or frame table: the type in the recording, once declared.
    types: [Vec<Option<TypeId>>; KINDS.len()],
    pub(crate) notes: Vec<String>,
    pub(crate) snapshots: Vec<Totals>,
}

impl<'a> Announcer<'a> {
    /// Declares the kinds and names that every MoarVM dump has.
    pub(crate) fn new(context: &Context<'a>) -> Result<Self, ImportError> {
        let &Context { writer, vocabulary, progress, .. } = context;
        let kinds = KINDS.iter().map(|(name, role)| vocabulary.own_kind(name, *role)).collect::<Result<_, _>>()?;
        Ok(Announcer {
            writer,
            vocabulary,
            progress,
            kinds,
            root_category: writer.word("root")?,
            remembered: vocabulary.strength("remembered", StrengthClass::Weak)?,
            names: Vec::new(),
            types: Default::default(),
            notes: Vec::new(),
            snapshots: Vec::new(),
        })
    }

    /// Declares the strings and types that are new in a snapshot. Types come in the order of their first objects.
    pub(crate) fn declare(&mut self, census: &Census, tables: &Tables<'_>) -> Result<(), ImportError> {
        for text in tables.strings().iter().skip(self.names.len()) {
            self.names.push(self.writer.string(text)?);
        }
        for (kind, row) in census.types() {
            self.type_id(kind, row, tables)?;
        }
        Ok(())
    }

    /// The type of a row of the type or frame table, which was checked.
    pub(crate) fn type_id(&mut self, kind: Kind, row: usize, tables: &Tables<'_>) -> Result<TypeId, ImportError> {
        let types = &mut self.types[kind.index()];
        if types.len() <= row {
            types.resize(row + 1, None);
        }
        if let Some(type_id) = types[row] {
            return Ok(type_id);
        }
        let type_id = self.declare_type(kind, row, tables)?;
        self.types[kind.index()][row] = Some(type_id);
        Ok(type_id)
    }

    /// Declares a row of the type or frame table for one kind.
    fn declare_type(&self, kind: Kind, row: usize, tables: &Tables<'_>) -> Result<TypeId, ImportError> {
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
            self.vocabulary.word(kind.name())?;
            return self.vocabulary.declare_type(&description);
        }
        if kind != FRAME {
            let (layout, name) = tables.type_names(row);
            description.layout = Some(layout);
            description.name = name;
            return self.vocabulary.declare_type(&description);
        }
        let FrameRow { name, cuid, line, file } = tables.frame(row);
        let attributes = [(self.vocabulary.marked(Word::of_names("cuid"))?, cuid)];
        description.name = if name.is_empty() { self.vocabulary.marked("<anon>")? } else { name };
        description.file = (!file.is_empty()).then_some(file);
        description.line = Some(line);
        description.attributes = &attributes;
        self.vocabulary.declare_type(&description)
    }

    /// Announces a snapshot whose strings and types were declared, and commits it.
    pub(crate) fn announce<C: Collectables, R: References>(
        &mut self,
        checked: CheckedSnapshot<C, R>,
    ) -> Result<(), Stop> {
        let number = checked.number;
        let (totals, notes) = self.commit(checked).map_err(|stop| stop.in_snapshot(number))?;
        self.notes.extend(notes);
        self.snapshots.push(totals);
        Ok(())
    }

    fn commit<C: Collectables, R: References>(
        &self,
        checked: CheckedSnapshot<C, R>,
    ) -> Result<(Totals, Vec<String>), Stop> {
        let CheckedSnapshot { info, collectables, references, census, notes, .. } = checked;
        let snapshot = self.writer.begin_snapshot(info)?;
        let mut shard = snapshot.shard();
        for &root in census.roots() {
            shard.root(self.root_category, None, root)?;
        }
        shard.finish()?;
        let runs = Runs::new(collectables.runs()?);
        let (bytes, count) = (u128::from(collectables.unreported_bytes()), u128::from(census.objects().max(1)));
        on_all_threads(|| {
            let mut shard = snapshot.shard();
            while let Some((first, run)) = runs.next()? {
                check_cancelled(self.progress)?;
                self.announce_run(&mut shard, first, &run, &references)?;
                let end = first + run.len() as u64;
                // As if all collectables took the same number of bytes.
                let [before, after] = [first, end].map(|number| (bytes * u128::from(number) / count) as u64);
                self.progress.advance(after - before);
            }
            Ok(shard.finish()?)
        })?;
        Ok((snapshot.commit()?, notes))
    }

    fn announce_run<T: Run, R: References>(
        &self,
        shard: &mut Shard<'_>,
        first: u64,
        run: &T,
        references: &R,
    ) -> Result<(), Stop> {
        let mut object_id = first;
        let mut batch = Vec::with_capacity(BATCH_COLLECTABLES);
        run.for_each(|collectable| {
            batch.push((*collectable, references.place(collectable)?));
            if batch.len() == BATCH_COLLECTABLES {
                object_id = self.announce_batch(shard, object_id, &batch, references)?;
                batch.clear();
            }
            Ok(())
        })?;
        self.announce_batch(shard, object_id, &batch, references).map(drop)
    }

    /// Announces collectables, each with the place of its references. Returns the number after the last one.
    fn announce_batch<R: References>(
        &self,
        shard: &mut Shard<'_>,
        first: u64,
        batch: &[(Collectable, usize)],
        references: &R,
    ) -> Result<u64, Stop> {
        let mut object_id = first;
        for (collectable, place) in batch {
            let kind = Kind::of(collectable)?;
            let mut object = Object::new(self.declared(kind, collectable)?, collectable.size);
            object.unmanaged_bytes = collectable.unmanaged;
            shard.object(object_id, &object)?;
            object_id += 1;
            let strength = if kind == INTER_GENERATIONAL_ROOTS { self.remembered } else { StrengthId::STRONG };
            references.for_each_from(*place, collectable.reference_count, &self.names, |label, target| {
                Ok(shard.reference(label, strength, target.into())?)
            })?;
        }
        Ok(object_id)
    }

    /// The type of a collectable that was checked.
    #[inline]
    fn declared(&self, kind: Kind, collectable: &Collectable) -> Result<TypeId, Damage> {
        let types = &self.types[kind.index()];
        // The dump is mapped and may have changed since it was checked.
        types.get(kind.row(collectable)).copied().flatten().ok_or(Damage::OutOfRange {
            what: "the type of a collectable",
            offset: collectable.offset,
            value: collectable.type_index,
            limit: types.len() as u64,
        })
    }
}

/// Maximum bytes of references that are held for two snapshots at once.
const READ_AHEAD_BYTES: u64 = 64 << 20;

/// Announces all snapshots. While one is announced, a thread reads and checks the next one.
pub(crate) fn announce_all<'a, S: Snapshots<'a>>(
    snapshots: &mut S,
    reading: &mut ReadContext<'a>,
    announcer: &mut Announcer<'a>,
) -> Result<(), Stop> {
    let mut next = snapshots.next(reading)?;
    while let Some(checked) = next {
        announcer.declare(&checked.census, &reading.tables)?;
        next = if checked.references.memory_bytes() > READ_AHEAD_BYTES {
            announcer.announce(checked)?;
            snapshots.next(reading)?
        } else {
            let (announced, read) = rayon::join(|| announcer.announce(checked), || snapshots.next(reading));
            announced?;
            read?
        };
    }
    Ok(())
}
