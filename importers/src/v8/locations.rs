//! Where the program says that functions and the constructors of objects are.

use foldhash::HashMap;

use super::meta::LocationFields;
use super::numbers::Numbers;
use crate::error::Damage;

/// A place in a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct SourcePosition {
    pub(crate) script_id: u64,
    /// Counted from 0, as in the dump.
    pub(crate) line: u64,
    pub(crate) column: u64,
}

/// The places of all nodes that have one.
#[derive(Default)]
pub(crate) struct Locations {
    /// By node: its row in `places` + 1; 0 for none. Empty if no node has a place.
    of_node: Vec<u32>,
    places: Vec<SourcePosition>,
}

/// The number of a place, from 1; 0 is "none".
pub(crate) type SourcePositionId = u32;

impl Locations {
    /// Reads the locations of a dump with `nodes` nodes of `node_fields` fields each.
    ///
    /// # Errors
    /// Damage; the locations before it are lost, too, which only makes types coarser.
    pub(crate) fn read(
        numbers: &Numbers<'_>,
        fields: &LocationFields,
        nodes: usize,
        node_fields: usize,
    ) -> Result<Locations, Damage> {
        numbers.check_whole()?;
        let mut locations = Locations::default();
        let count = numbers.len() / fields.count as u64;
        if count == 0 {
            return Ok(locations);
        }
        locations.of_node = vec![0; nodes];
        let mut known = HashMap::default();
        let mut reader = numbers.from(0);
        let mut record = vec![0; fields.count];
        for _ in 0..count {
            let offset = reader.offset();
            reader.record(&mut record)?;
            let node = record[fields.object_index] / node_fields as u64;
            let place = SourcePosition {
                script_id: record[fields.script_id],
                line: record[fields.line],
                column: record[fields.column],
            };
            let entry = usize::try_from(node).ok().and_then(|node| locations.of_node.get_mut(node));
            let Some(entry) = entry else {
                return Err(Damage::OutOfRange {
                    what: "the node of a location",
                    offset,
                    value: node,
                    limit: nodes as u64,
                });
            };
            *entry = *known.entry(place).or_insert_with(|| {
                locations.places.push(place);
                u32::try_from(locations.places.len()).unwrap_or(0)
            });
        }
        Ok(locations)
    }

    /// The place of a node.
    #[inline]
    pub(crate) fn of(&self, node: usize) -> SourcePositionId {
        self.of_node.get(node).copied().unwrap_or(0)
    }

    /// The place of this number.
    pub(crate) fn place(&self, id: SourcePositionId) -> Option<SourcePosition> {
        self.places.get((id as usize).checked_sub(1)?).copied()
    }
}
