//! Frames of a thread's stack: their roots, and the objects that they hold.
//!
//! ```text
//!   ROOTS                                             frame                  its objects
//!   "main: run (job.rb:3)" ──▶ @7                     run (job.rb:3)         @7
//!   "thread 9" ──▶ @2, a frame ──▶ items @5           the function of @2     items @5
//! ```
//!
//! Some runtimes have frames as objects, whose references have the names of local variables. Others tell only which objects
//! the frames of a function hold.

use std::collections::HashMap;

use barrow_format::rows::{KindRole, Label, Root};
use barrow_format::{ObjectId, StringId, TypeId};

use crate::error::Result;
use crate::file::object::{objects, outgoing};
use crate::graph::dominators::GroupRetained;
use crate::heap::Heap;
use crate::progress::{Progress, check};
use crate::questions::threads::{OTHER_ROOTS, Threads, find_threads};

/// The name of the reference of a frame to its own type, which is no local variable.
const CLASS: &str = "class";

/// The roots of a thread that belong to equal frames of its stack, or those that name the thread alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameRoots {
    /// The label; that of the thread for roots that name no frame.
    pub label: StringId,
    /// The type of the frames, where frames are objects: it stands for a function.
    pub function: Option<TypeId>,
    /// The number of roots.
    pub roots: u64,
    /// The objects that would be unreachable without these roots and, if they name the thread alone, without the thread
    /// object.
    pub retained: GroupRetained,
}

/// An object that a frame holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Local {
    /// The index of the frame's row in [`Frames::rows`].
    pub frame: usize,
    /// The category of the root that leads to it.
    pub category: StringId,
    /// The name of the local variable, or what the frame's own reference is called.
    pub name: Label,
    /// The object.
    pub object: ObjectId,
}

/// The frames of one thread.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Frames {
    /// The frames in the order of the recording. Those with equal labels and functions are one row.
    pub rows: Vec<FrameRoots>,
    /// The objects that they hold, in the order of the roots; of roots that name the thread alone, the objects too.
    pub locals: Vec<Local>,
    /// Retained sizes are exact; otherwise they are lower bounds, see [`crate::Dominators::is_exact`].
    pub are_exact: bool,
}

impl Heap {
    /// The frames of the thread with a label, see [`ThreadRoots::label`](crate::ThreadRoots::label). Objects that only
    /// several frames together retain count for none of them.
    ///
    /// Time and memory: those of computing dominators, and 24 bytes for each object that a frame holds.
    ///
    /// # Errors
    /// As for [`Heap::thread_roots`].
    pub fn frames(&self, threads: &Threads, label: StringId, progress: &dyn Progress) -> Result<Frames> {
        let tables = self.recording().tables()?;
        let roots = self.roots()?.rows();
        let (found, places) = find_threads(threads, roots, tables);
        let Some(asked) = found.iter().position(|thread| thread.label == label) else {
            return Ok(Frames { are_exact: true, ..Frames::default() });
        };
        let own: Vec<usize> = (0..roots.len()).filter(|&number| places[number] == Some(asked)).collect();
        let functions = self.functions(roots, &own)?;
        let mut rows: Vec<FrameRoots> = Vec::new();
        // A recording may hold equal labels under several ids.
        let mut row_of: HashMap<(&str, Option<TypeId>), usize> = HashMap::new();
        let mut row_of_root: HashMap<usize, usize> = HashMap::new();
        for (&number, &function) in own.iter().zip(&functions) {
            let Some(label) = roots[number].label else { continue };
            let row = *row_of.entry((tables.string(label), function)).or_insert_with(|| {
                rows.push(FrameRoots { label, function, roots: 0, retained: GroupRetained::default() });
                rows.len() - 1
            });
            rows[row].roots += 1;
            row_of_root.insert(number, row);
        }
        let thread_row = row_of.get(&(tables.string(label), None)).copied();
        let dominators = self.dominators_of_threads(
            &found,
            &places,
            |place, root| {
                let row = root.map_or(thread_row, |root| row_of_root.get(&root).copied());
                row.filter(|_| place == asked).map_or(OTHER_ROOTS, |row| StringId(row as u32))
            },
            progress,
        )?;
        for (category, retained) in dominators.retained_by_groups() {
            if let Some(frame) = rows.get_mut(category.index()) {
                frame.retained = retained;
            }
        }
        let mut locals = Vec::new();
        for (&number, function) in own.iter().zip(&functions) {
            check(progress)?;
            let Some(&row) = row_of_root.get(&number) else { continue };
            self.add_locals(&mut locals, row, &roots[number], function.is_some())?;
        }
        Ok(Frames { rows, locals, are_exact: dominators.is_exact() })
    }

    /// The type of each of these roots' objects that is a frame.
    ///
    /// # Errors
    /// Also one if there is no room for the references of these frames.
    fn functions(&self, roots: &[Root], numbers: &[usize]) -> Result<Vec<Option<TypeId>>> {
        let tables = self.recording().tables()?;
        let ids: Vec<ObjectId> = numbers.iter().map(|&number| roots[number].target).collect();
        let targets = objects(self.recording(), self.snapshot(), &ids)?;
        let is_frame = |id: TypeId| tables.kind_role(tables.type_kind(id)) == KindRole::Frame;
        let frames = targets.iter().filter(|object| is_frame(object.type_id));
        let locals = frames.map(|object| object.references).fold(0, u64::saturating_add);
        self.memory().require(locals.saturating_mul(size_of::<Local>() as u64))?;
        Ok(targets.iter().map(|object| Some(object.type_id).filter(|&id| is_frame(id))).collect())
    }

    /// Adds the object of a root, or those that it refers to if it is a frame.
    fn add_locals(&self, locals: &mut Vec<Local>, frame: usize, root: &Root, is_frame: bool) -> Result<()> {
        let category = root.category;
        if !is_frame {
            locals.push(Local { frame, category, name: Label::Unknown, object: root.target });
            return Ok(());
        }
        let mut held = outgoing(self.recording(), self.snapshot(), root.target)?;
        let tables = self.recording().tables()?;
        held.retain(|held| !matches!(held.label, Label::Name(name) if tables.string(name) == CLASS));
        locals.extend(held.iter().map(|held| Local { frame, category, name: held.label, object: held.target }));
        Ok(())
    }
}
