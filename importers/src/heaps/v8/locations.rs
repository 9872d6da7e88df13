//! The places of functions and of the constructors of objects in the program's source.

use std::num::NonZero;
use std::sync::atomic::{AtomicU32, Ordering};

use foldhash::{HashMap, HashMapExt};
use parking_lot::Mutex;

use super::layout::Layout;
use super::meta::{LocationFields, MAX_FIELDS};
use super::numbers::Numbers;
use super::parallel::for_each_unit;
use crate::context::Context;
use crate::error::{Damage, Stop};
use crate::options::ImportOptions;

/// A place in a script.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct SourcePosition {
    pub(crate) script_id: u64,
    /// Counted from 0, as in the dump.
    pub(crate) line: u64,
    pub(crate) column: u64,
}

/// The places of all nodes that have one.
#[derive(Default)]
pub(crate) struct Locations {
    /// By node: its row in `places` + 1; 0 for none. Empty if no node has a place. Threads fill it together.
    of_node: Vec<AtomicU32>,
    places: Vec<SourcePosition>,
}

/// The number of a place, from 1; 0 is "none".
pub(crate) type SourcePositionId = u32;

/// Number of locations that a thread reads at a time.
const UNIT_LOCATIONS: u64 = 1 << 16;

impl Locations {
    /// Reads the locations of a dump, on all threads.
    ///
    /// # Errors
    /// If the user cancels. Damage is the inner error; the locations before it are dropped, which only makes types
    /// coarser.
    pub(crate) fn read(layout: &Layout<'_>, context: &Context<'_>) -> Result<Result<Locations, Damage>, Stop> {
        let (Some(numbers), Some(fields)) = (&layout.locations, &layout.meta.locations) else {
            return Ok(Ok(Locations::default()));
        };
        if let Err(damage) = numbers.check_whole() {
            return Ok(Err(damage));
        }
        let nodes = NodeCount { nodes: layout.node_count(), fields: layout.meta.nodes.count as u64 };
        let mut read = read_all(numbers, fields, nodes, context);
        if let Ok((_, true)) = read {
            // Of several locations of one node, the last counts: one thread finds it.
            let options = ImportOptions { threads: NonZero::<usize>::MIN, ..context.options.clone() };
            read = read_all(numbers, fields, nodes, &Context { options: &options, ..context.clone() });
        }
        match read {
            Ok((locations, _)) => Ok(Ok(locations)),
            Err(Stop::Damage(damage, _)) => Ok(Err(damage)),
            Err(stop) => Err(stop),
        }
    }

    /// The place of a node.
    #[inline]
    pub(crate) fn of(&self, node: usize) -> SourcePositionId {
        // Relaxed: it was filled before these threads began.
        self.of_node.get(node).map_or(0, |place| place.load(Ordering::Relaxed))
    }

    /// The place of this number.
    pub(crate) fn place(&self, id: SourcePositionId) -> Option<SourcePosition> {
        self.places.get((id as usize).checked_sub(1)?).copied()
    }
}

/// The range of nodes that locations can refer to.
#[derive(Clone, Copy)]
struct NodeCount {
    nodes: u64,
    /// Fields of a node: locations name nodes by their first field.
    fields: u64,
}

/// Numbers of places, the same for all threads.
#[derive(Default)]
struct PositionNumbers {
    rows: HashMap<SourcePosition, SourcePositionId>,
    places: Vec<SourcePosition>,
}

impl PositionNumbers {
    fn number(&mut self, place: SourcePosition) -> SourcePositionId {
        *self.rows.entry(place).or_insert_with(|| {
            self.places.push(place);
            u32::try_from(self.places.len()).unwrap_or(0)
        })
    }
}

/// Reads all locations. Also returns whether a node has several.
fn read_all(
    numbers: &Numbers<'_>,
    fields: &LocationFields,
    nodes: NodeCount,
    context: &Context<'_>,
) -> Result<(Locations, bool), Stop> {
    let count = numbers.len() / fields.count as u64;
    if count == 0 {
        return Ok((Locations::default(), false));
    }
    let of_node: Vec<AtomicU32> = (0..nodes.nodes).map(|_| AtomicU32::new(0)).collect();
    let places: Mutex<PositionNumbers> = Mutex::default();
    let units = usize::try_from(count.div_ceil(UNIT_LOCATIONS)).unwrap_or(usize::MAX);
    for_each_unit(
        context,
        units,
        // Each thread remembers its places.
        || Ok(HashMap::<SourcePosition, SourcePositionId>::new()),
        |met, unit| {
            let first = unit as u64 * UNIT_LOCATIONS;
            let mut reader = numbers.from(first * fields.count as u64);
            let start = reader.offset();
            let mut record = [0; MAX_FIELDS];
            let record = &mut record[..fields.count];
            // Many neighbours have one place. No place has this number.
            let mut last = (SourcePosition::default(), 0);
            for _ in first..count.min(first + UNIT_LOCATIONS) {
                let offset = reader.offset();
                reader.record(record)?;
                let node = record[fields.object_index] / nodes.fields;
                let place = SourcePosition {
                    script_id: record[fields.script_id],
                    line: record[fields.line],
                    column: record[fields.column],
                };
                let Some(entry) = usize::try_from(node).ok().and_then(|node| of_node.get(node)) else {
                    let (what, limit) = ("the node of a location", nodes.nodes);
                    return Err(Damage::OutOfRange { what, offset, value: node, limit }.into());
                };
                if place != last.0 || last.1 == 0 {
                    let number = met.entry(place).or_insert_with(|| places.lock().number(place));
                    last = (place, *number);
                }
                // Relaxed: read after the threads have ended.
                entry.store(last.1, Ordering::Relaxed);
            }
            context.progress.advance(reader.offset() - start);
            context.release(start as usize..reader.offset() as usize);
            Ok(())
        },
        |_| Ok(()),
    )?;
    let PositionNumbers { places, .. } = places.into_inner();
    let located = of_node.iter().filter(|place| place.load(Ordering::Relaxed) != 0).count() as u64;
    Ok((Locations { of_node, places }, located < count))
}
