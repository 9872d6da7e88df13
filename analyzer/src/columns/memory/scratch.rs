//! Columns that grow up to a bound that few computations reach.
//!
//! ```text
//!   [ memory, charged in steps │ a temporary file, allocated in steps │ never touched ]
//!                              └ the limit was reached                └ ready
//! ```
//!
//! The whole column is one range of addresses from the start on, so it is one slice.

use std::ops::{Deref, DerefMut};

use bytemuck::Pod;

use super::spill::Spill;
use super::{Charge, Column, Memory, Region};
use crate::error::Result;

/// Bytes that become usable at a time. They are whole pages of every size.
const STEP_BYTES: usize = 4 << 20;

/// A column of zeros whose start is used.
#[derive(Debug)]
pub(crate) struct Scratch<T> {
    // Declared before the column, so that the pager forgets the file before it is unmapped.
    growth: Growth,
    column: Column<T>,
}

/// The usable part of a column, which grows on demand.
#[derive(Debug)]
pub(crate) struct Growth {
    memory: Memory,
    value_bytes: usize,
    /// Address and length of the mapping.
    address: usize,
    mapped_bytes: usize,
    /// The bytes that may be used.
    ready_bytes: usize,
    charge: Option<Charge>,
    /// The file, and the offset of its beginning in the column.
    spill: Option<(Spill, usize)>,
    region: Option<Region>,
}

impl<T: Pod> Scratch<T> {
    /// A column of at most `bound` values.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Allocation`]; elsewhere than on Linux those of [`Memory::column`].
    pub(super) fn new(memory: &Memory, bound: usize) -> Result<Self> {
        let grows = memory.limit_bytes().is_some() && cfg!(target_os = "linux");
        let column = match memory.limit_bytes() {
            Some(_) if !grows => memory.column(bound)?,
            _ => Column::anonymous(bound, None)?,
        };
        let (address, mapped_bytes) = (column.map.as_ptr() as usize, column.map.len());
        let growth = Growth {
            memory: memory.clone(),
            value_bytes: size_of::<T>(),
            address,
            mapped_bytes,
            ready_bytes: if grows { 0 } else { mapped_bytes },
            charge: None,
            spill: None,
            region: None,
        };
        Ok(Scratch { growth, column })
    }

    /// The values, and the growth that makes more of them usable.
    pub(crate) fn parts(&mut self) -> (&mut [T], &mut Growth) {
        (&mut self.column, &mut self.growth)
    }

    /// The first `length` values, as a column.
    pub(crate) fn into_column(self, length: usize) -> Column<T> {
        let Scratch { growth, column } = self;
        let Column { map, charge, region, values, .. } = column;
        Column { length, region: growth.region.or(region), map, charge: growth.charge.or(charge), values }
    }
}

impl<T: Pod> Deref for Scratch<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.column
    }
}

impl<T: Pod> DerefMut for Scratch<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.column
    }
}

impl Growth {
    /// Makes the first `length` values usable, or all if there are fewer. Values must not be written before they are
    /// usable.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Io`] and [`crate::AnalyzerError::TemporaryRoom`] if they must go to a file.
    #[inline(always)]
    pub(crate) fn reach(&mut self, length: usize) -> Result<()> {
        let bytes = length.saturating_mul(self.value_bytes);
        if bytes > self.ready_bytes { self.grow(bytes) } else { Ok(()) }
    }

    #[cold]
    fn grow(&mut self, bytes: usize) -> Result<()> {
        let until = bytes.checked_next_multiple_of(STEP_BYTES).unwrap_or(bytes).min(self.mapped_bytes);
        let more = (until - self.ready_bytes) as u64;
        if more == 0 {
            return Ok(());
        }
        if self.spill.is_none() {
            let memory = &self.memory;
            if let Some(charge) = memory.charge(more, memory.room_bytes(), memory.ceiling_bytes()) {
                match &mut self.charge {
                    Some(before) => before.join(charge),
                    none => *none = Some(charge),
                }
                self.ready_bytes = until;
                return Ok(());
            }
            self.begin_file()?;
        }
        if let Some((spill, start)) = &self.spill {
            spill.allocate((self.ready_bytes - start) as u64, more)?;
        }
        self.ready_bytes = until;
        Ok(())
    }

    /// Makes the rest of the column a mapped file.
    fn begin_file(&mut self) -> Result<()> {
        let (start, length) = (self.ready_bytes, self.mapped_bytes - self.ready_bytes);
        let spill = Spill::new(&self.memory.0.folder, length as u64)?;
        // SAFETY: the range is the rest of the column's own mapping, from a multiple of the page size on. Nothing was
        // written there, so the zeros of the file are what it holds already. The file has no name and has that length.
        unsafe { super::map_over(self.address + start, length, &spill)? };
        self.region = Some(self.memory.spilled_region(self.address + start, length));
        self.spill = Some((spill, start));
        Ok(())
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_column_goes_on_in_a_file() {
        const TURN: usize = 3 << 20;
        let memory = Memory::limited(112 << 20);
        let most = memory.ceiling_bytes();
        let mut scratch: Scratch<u32> = memory.scratch(8 * TURN).unwrap();
        for end in (1..=8).map(|turn| turn * TURN) {
            let (values, growth) = scratch.parts();
            growth.reach(end).unwrap();
            (end - TURN..end).for_each(|at| values[at] = at as u32 ^ 5);
            assert!(memory.0.used_bytes.load(std::sync::atomic::Ordering::Relaxed) <= most);
        }
        assert!(scratch.growth.spill.is_some() && scratch.growth.charge.is_some());
        assert_eq!(memory.0.regions.lock().len(), 1);
        std::thread::sleep(std::time::Duration::from_millis(30));
        let column = scratch.into_column(7 * TURN);
        assert!(column.iter().enumerate().all(|(at, &value)| value == at as u32 ^ 5));
        drop(column);
        assert_eq!(memory.0.regions.lock().len(), 0);
        assert_eq!(memory.0.used_bytes.load(std::sync::atomic::Ordering::Relaxed), 0);
    }

    #[test]
    fn only_what_is_used_is_charged() {
        let memory = Memory::limited(1 << 30);
        let mut scratch: Scratch<u8> = memory.scratch(100 << 30).unwrap();
        scratch.parts().1.reach(10).unwrap();
        let used = memory.0.used_bytes.load(std::sync::atomic::Ordering::Relaxed);
        assert!((1..=2 * STEP_BYTES as u64).contains(&used), "{used}");
        assert!(scratch.growth.spill.is_none());
    }
}
