//! Jobs that wait for a slot, and for a place in a pool if they belong to one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Jobs that could begin if there were a slot; jobs that began earlier in the recording come first.
pub(super) struct Queue {
    slots: u64,
    free: u64,
    /// Slots that were added for jobs that others wait for, until one is given back.
    added: u64,
    /// The first is for jobs without a pool.
    pools: Vec<Pool>,
}

struct Pool {
    free: u64,
    waiting: BinaryHeap<Reverse<u32>>,
}
impl Pool {
    /// Its first job, if it has a free place.
    fn first(&self) -> Option<u32> {
        self.waiting.peek().map(|Reverse(job)| *job).filter(|_| self.free > 0)
    }
}

impl Queue {
    pub(super) fn new(slots: u64, pools: &[u64]) -> Self {
        let pool = |&free: &u64| Pool { free: free.max(1), waiting: BinaryHeap::new() };
        Queue { slots, free: slots, added: 0, pools: [u64::MAX].iter().chain(pools).map(pool).collect() }
    }

    /// Slots that are used.
    pub(super) fn used(&self) -> u64 {
        self.slots.saturating_sub(self.free)
    }

    pub(super) fn put(&mut self, job: u32, pool: Option<u32>) {
        if let Some(pool) = self.pools.get_mut(place(pool)) {
            pool.waiting.push(Reverse(job));
        }
    }

    /// The next job, if it can begin now.
    pub(super) fn take(&mut self) -> Option<u32> {
        let pools = self.pools.iter().zip(0..);
        let (job, place) = pools.filter_map(|(pool, at)| Some((pool.first()?, at))).min()?;
        self.free = self.free.checked_sub(1)?;
        let pool = self.pools.get_mut::<usize>(place)?;
        pool.free -= 1;
        pool.waiting.pop();
        Some(job)
    }

    /// Adds a slot until the next one is given back: jobs that run wait for others that have none. Returns false if none waits
    /// for one.
    pub(super) fn widen(&mut self) -> bool {
        let is_needed = self.free == 0 && self.pools.iter().any(|pool| pool.first().is_some());
        (self.added, self.free) = (self.added + u64::from(is_needed), self.free + u64::from(is_needed));
        is_needed
    }

    /// Takes a place in a pool for a job that has a slot. Returns false if there is none.
    pub(super) fn take_place(&mut self, pool: Option<u32>) -> bool {
        let Some(pool) = self.pools.get_mut(place(pool)).filter(|pool| pool.free > 0) else { return false };
        pool.free -= 1;
        true
    }

    pub(super) fn give_back_place(&mut self, pool: Option<u32>) {
        if let Some(pool) = self.pools.get_mut(place(pool)) {
            pool.free += 1;
        }
    }

    pub(super) fn give_back_slot(&mut self) {
        match self.added.checked_sub(1) {
            Some(added) => self.added = added,
            None => self.free += 1,
        }
    }
}

fn place(pool: Option<u32>) -> usize {
    pool.map_or(0, |pool| pool as usize + 1)
}
