//! GC roots: the objects at which a collector starts, in the runtime's groups.

use barrow_format::codec::Decompressor;
use barrow_format::frame::SectionType;
use barrow_format::rows::{Chunk, Root};
use barrow_format::{FormatError, ObjectId, SnapshotId, StringId};

use crate::error::{AnalyzerError, Result};
use crate::file::recording::Recording;
use crate::file::tables::TableRoom;

/// The roots of one snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Roots {
    rows: Vec<Root>,
    /// The groups, in the order of their first roots.
    categories: Vec<RootCategory>,
}

/// The roots of one group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootCategory {
    /// The name of the group in the runtime.
    pub name: StringId,
    /// The root objects, ascending, without duplicates.
    pub targets: Vec<ObjectId>,
}

impl Roots {
    /// Reads the roots of a snapshot.
    ///
    /// # Errors
    /// [`AnalyzerError::NoSnapshot`], [`AnalyzerError::Section`].
    pub fn read(recording: &Recording, snapshot: SnapshotId) -> Result<Self> {
        let commit = recording.commit(snapshot)?;
        let mut decompressor = Decompressor::new();
        let mut rows = Vec::new();
        let mut room = TableRoom::new(recording.bytes());
        for &offset in &commit.roots {
            let at = AnalyzerError::section("ROOTS", offset);
            let frame = recording.frame(SectionType::ROOTS, Some(snapshot), offset)?;
            let chunk = frame.directory().and_then(|directory| Chunk::parse(directory, frame.body()?)).map_err(&at)?;
            room.take(SectionType::ROOTS, &chunk).map_err(&at)?;
            let (objects, strings) = (commit.totals.objects, u64::from(commit.tables.strings));
            let read = chunk.for_each(&mut decompressor, |root: Root| {
                below("target of a root", root.target.0, objects)?;
                below("category of a root", root.category.0, strings)?;
                root.label.map_or(Ok(()), |label| below("name of a root", label.0, strings))?;
                rows.push(root);
                Ok(())
            });
            read.map_err(&at)?;
        }
        Ok(Self::of(rows))
    }

    /// Groups these roots.
    pub(crate) fn of(rows: Vec<Root>) -> Self {
        let mut categories: Vec<RootCategory> = Vec::new();
        let mut places = std::collections::HashMap::new();
        for root in &rows {
            let place = *places.entry(root.category).or_insert_with(|| {
                categories.push(RootCategory { name: root.category, targets: Vec::new() });
                categories.len() - 1
            });
            categories[place].targets.push(root.target);
        }
        for category in &mut categories {
            category.targets.sort_unstable();
            category.targets.dedup();
        }
        Roots { rows, categories }
    }

    /// All roots, in the order of the recording.
    #[must_use]
    pub fn rows(&self) -> &[Root] {
        &self.rows
    }

    /// The groups, in the order of their first roots.
    #[must_use]
    pub fn categories(&self) -> &[RootCategory] {
        &self.categories
    }

    /// The root objects, ascending, without duplicates.
    #[must_use]
    pub fn targets(&self) -> Vec<ObjectId> {
        let mut targets: Vec<ObjectId> = self.rows.iter().map(|root| root.target).collect();
        targets.sort_unstable();
        targets.dedup();
        targets
    }
}

fn below(what: &'static str, id: u32, count: u64) -> Result<(), FormatError> {
    let value = u64::from(id);
    if value < count { Ok(()) } else { Err(FormatError::OutOfRange { what, value, limit: count }) }
}
