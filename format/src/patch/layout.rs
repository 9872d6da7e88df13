//! The description of the groups of a snapshot in its commit.

use crate::commit::{BlockEntry, Group};

use super::EncodedGroup;

/// Numbers the objects of groups, in their order, and collects the entries of COMMIT.
#[derive(Debug, Clone, Default)]
pub struct Layout {
    /// The blocks of the groups that are not gone.
    pub blocks: Vec<BlockEntry>,
    /// The state of each group.
    pub groups: Vec<Group>,
    /// Rows and references that the frames store.
    pub stored: u64,
    /// The length of the frames, in bytes.
    pub bytes: u64,
    next_object: u32,
}

impl Layout {
    /// Adds the next group, whose frame is at (offset, length) if it has one.
    pub fn add(&mut self, group: &EncodedGroup<(u64, u64)>) {
        let number = u32::try_from(self.groups.len()).unwrap_or(u32::MAX);
        self.groups.push(group.group);
        self.stored += group.stored;
        if group.group == Group::Gone {
            return;
        }
        let (offset, length) = group.frame.unwrap_or((0, 0));
        self.bytes += length;
        let is_continuation = u32::from(group.is_continuation);
        let first_object = self.next_object.saturating_sub(is_continuation);
        let &EncodedGroup { objects, references, .. } = group;
        self.blocks.push(BlockEntry { offset, length, first_object, objects, references, group: number });
        self.next_object = self.next_object.saturating_add(objects);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_numbered_without_those_of_groups_that_are_gone() {
        let group = |group, is_continuation, objects| EncodedGroup {
            group,
            is_continuation,
            frame: (group == Group::Block).then_some((64, 8)),
            objects,
            references: 1,
            stored: 2,
        };
        let mut layout = Layout::default();
        let groups = [
            group(Group::Same, false, 3),
            group(Group::Gone, false, 0),
            group(Group::Block, false, 2),
            group(Group::Block, true, 0),
        ];
        groups.iter().for_each(|group| layout.add(group));
        let found: Vec<_> = layout.blocks.iter().map(|block| (block.group, block.first_object)).collect();
        assert_eq!(found, [(0, 0), (2, 3), (3, 4)]);
        assert_eq!((layout.groups.len(), layout.bytes, layout.stored), (4, 16, 8));
    }
}
