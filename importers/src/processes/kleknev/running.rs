//! Wrappers by their process id, which the system reuses.

use std::collections::{HashMap, VecDeque};

use barrow_writer::ProcessId;

use super::usage::Inclusive;

/// Number of ended wrappers that are remembered: processes that they left in the background may begin another.
const MOST_ENDED: usize = 1 << 16;

/// The host of a wrapper, by its number, and its process id.
pub(super) type Key = (u32, u64);

/// A wrapper.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wrapper {
    pub(super) process: ProcessId,
    /// The wrapper that began it, if that was running.
    pub(super) parent: Option<(Key, ProcessId)>,
    /// Resources used by the wrappers that it began, when they ended; `None` if one of them is unknown.
    pub(super) children: Option<Inclusive>,
    pub(super) has_children: bool,
}

/// A wrapper that ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct EndedWrapper {
    pub(super) process: ProcessId,
    /// The resources used, unless they are in the recording already.
    pub(super) used: Option<Inclusive>,
}

/// The newest wrapper of each process id.
#[derive(Debug, Default)]
pub(super) struct Wrappers {
    running: HashMap<Key, Wrapper>,
    ended: HashMap<Key, EndedWrapper>,
    /// The order in which they ended.
    order: VecDeque<Key>,
}

impl Wrappers {
    /// Adds a wrapper. An earlier one with the same process id has ended, even without a record.
    pub(super) fn begin(&mut self, key: Key, wrapper: Wrapper) {
        self.ended.remove(&key);
        self.running.insert(key, wrapper);
    }

    pub(super) fn running(&mut self, key: Key) -> Option<&mut Wrapper> {
        self.running.get_mut(&key)
    }

    /// The newest wrapper of this process id, if it ended not too long ago.
    pub(super) fn ended(&mut self, key: Key) -> Option<&mut EndedWrapper> {
        self.ended.get_mut(&key)
    }

    /// Ends a wrapper that used these resources, if known, and adds them to its parent's.
    pub(super) fn end(&mut self, key: Key, used: Option<Inclusive>) -> Option<Wrapper> {
        let wrapper = self.running.remove(&key)?;
        if let Some((parent_key, process)) = wrapper.parent
            && let Some(parent) = self.running.get_mut(&parent_key).filter(|parent| parent.process == process)
        {
            parent.children = parent.children.zip(used).map(|(mut children, used)| {
                children += used;
                children
            });
        }
        self.remember(key, EndedWrapper { process: wrapper.process, used: used.filter(|_| !wrapper.has_children) });
        Some(wrapper)
    }

    fn remember(&mut self, key: Key, ended: EndedWrapper) {
        if self.order.len() == MOST_ENDED
            && let Some(oldest) = self.order.pop_front()
        {
            self.ended.remove(&oldest);
        }
        self.order.push_back(key);
        self.ended.insert(key, ended);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapper(process: u32, parent: Option<(Key, u32)>) -> Wrapper {
        let parent = parent.map(|(key, process)| (key, ProcessId(process)));
        Wrapper { process: ProcessId(process), parent, children: Some(Inclusive::default()), has_children: false }
    }

    #[test]
    fn what_children_used_is_added_to_the_parent_that_began_them() {
        let (parent, child, used) = ((0, 1), (0, 2), Inclusive { user_ns: 5, ..Inclusive::default() });
        let mut wrappers = Wrappers::default();
        wrappers.begin(parent, wrapper(0, None));
        wrappers.begin(child, wrapper(1, Some((parent, 0))));
        wrappers.end(child, Some(used));
        assert_eq!(wrappers.running(parent).expect("running").children, Some(used));
        // The parent's process id is used again.
        wrappers.begin(child, wrapper(2, Some((parent, 0))));
        wrappers.begin(parent, wrapper(3, None));
        wrappers.end(child, Some(used));
        assert_eq!(wrappers.running(parent).expect("running").children, Some(Inclusive::default()));
        assert!(wrappers.end((1, 1), Some(used)).is_none(), "another host");
        // Nobody knows what a child used.
        wrappers.begin(child, wrapper(4, Some((parent, 3))));
        wrappers.end(child, None);
        assert_eq!(wrappers.running(parent).expect("running").children, None);
    }

    #[test]
    fn wrappers_that_ended_are_forgotten_in_time() {
        let mut wrappers = Wrappers::default();
        for pid in 0..=MOST_ENDED as u64 {
            wrappers.begin((0, pid), wrapper(pid as u32, None));
            wrappers.end((0, pid), Some(Inclusive::default()));
        }
        assert!(wrappers.ended((0, 0)).is_none());
        assert_eq!(wrappers.ended((0, 1)).expect("remembered").process, ProcessId(1));
        assert_eq!(wrappers.ended.len(), MOST_ENDED);
    }
}
