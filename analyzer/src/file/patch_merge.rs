//! Applying the patches of a group of rows to its block.

use std::ops::Range;

use barrow_format::FormatError;
use barrow_format::block::{Block, BlockColumns, ColumnSelection, Decoder, Patch, PatchLimits};

/// A group being merged: its base block and its patches, each of which is a layer. Buffers are reused between groups.
#[derive(Debug, Default)]
pub(crate) struct PatchMerge {
    base: BlockColumns,
    patches: Vec<Patch>,
    /// For each layer, base first: the positions at which the references of each row begin.
    starts: Vec<Vec<u32>>,
    /// For each row, the newest layer that stores it and its position there.
    newest: Vec<(u32, u32)>,
    is_dead: Vec<bool>,
    /// The address of each row; empty if there are none.
    addresses: Vec<u64>,
}

impl PatchMerge {
    /// Makes room for `patches` patches.
    pub(super) fn prepare(&mut self, patches: usize) {
        self.patches.truncate(patches);
        self.patches.resize_with(patches, Patch::default);
    }

    /// The columns of the base block, for decoding.
    pub(super) fn base_mut(&mut self) -> &mut BlockColumns {
        &mut self.base
    }

    /// Starts with all rows taken from the base.
    pub(super) fn begin(&mut self, rows: usize) {
        self.newest.clear();
        self.newest.extend((0..rows as u32).map(|row| (0, row)));
        self.is_dead.clear();
        self.is_dead.resize(rows, false);
        self.addresses.clear();
        self.addresses.extend_from_slice(&self.base.addresses);
        self.starts.resize_with(self.patches.len() + 1, Vec::new);
        starts_of(&self.base.counts, &mut self.starts[0]);
    }

    /// Decodes patch `number` and applies it.
    pub(super) fn add(
        &mut self,
        number: usize,
        block: &Block<'_>,
        limits: PatchLimits<'_>,
        wanted: ColumnSelection,
        decoder: &mut Decoder,
    ) -> std::result::Result<(), FormatError> {
        let (before, rest) = self.patches.split_at_mut(number);
        let patch = &mut rest[0];
        let (base, starts, newest) = (&self.base, &self.starts, &self.newest);
        decoder.decode_patch(
            block,
            limits,
            wanted,
            |position| {
                let Some(&(layer, row)) = newest.get(position as usize) else { return &[][..] };
                let columns = layer.checked_sub(1).map_or(base, |patch| &before[patch as usize].columns);
                let rows = row as usize..row as usize + 1;
                columns.targets.get(between(&starts[layer as usize], &rows)).unwrap_or_default()
            },
            patch,
        )?;
        starts_of(&patch.columns.counts, &mut self.starts[number + 1]);
        for &position in &patch.dead {
            self.is_dead[position as usize] = true;
        }
        for (place, &position) in (0..).zip(&patch.changed) {
            if self.is_dead[position as usize] {
                let (value, limit) = (position.into(), 0);
                return Err(FormatError::OutOfRange { what: "row that changed, but is dead,", value, limit });
            }
            self.newest[position as usize] = (number as u32 + 1, place);
        }
        if patch.moved.is_empty() {
            return Ok(());
        }
        let living = self.is_dead.iter().filter(|&&is_dead| !is_dead).count() as u64;
        if living != patch.moved.len() as u64 {
            let found = patch.moved.len() as u64;
            return Err(FormatError::Mismatch { what: "column MOVED", stored: living, found });
        }
        self.addresses.resize(self.newest.len(), 0);
        let living = self.addresses.iter_mut().zip(&self.is_dead).filter(|(_, is_dead)| !**is_dead);
        living.zip(&patch.moved).for_each(|((address, _), &by)| *address = address.wrapping_add(by));
        Ok(())
    }

    /// Writes the live rows to `out`.
    pub(super) fn finish(&self, wanted: ColumnSelection, out: &mut BlockColumns) {
        out.clear();
        let layers: Vec<&BlockColumns> =
            std::iter::once(&self.base).chain(self.patches.iter().map(|patch| &patch.columns)).collect();
        let mut dictionary_starts = Vec::new();
        let mut label_starts = Vec::new();
        let mut value_starts = Vec::new();
        for layer in &layers {
            dictionary_starts.push(out.dictionary.len() as u32);
            out.dictionary.extend_from_slice(&layer.dictionary);
            out.forms.extend_from_slice(&layer.forms);
            label_starts.push(label_starts_of(layer));
            value_starts.push((out.values.append_layouts(&layer.values), layer.values.starts()));
        }
        let has_unmanaged = layers.iter().any(|layer| !layer.unmanaged_bytes.is_empty());
        let has_sites = layers.iter().any(|layer| !layer.sites.is_empty());
        let has_names = layers.iter().any(|layer| !layer.names.is_empty());
        let has_values = layers.iter().any(|layer| !layer.values.is_empty());
        let has_references = wanted.has_references();
        let mut positions = 0..self.newest.len();
        while let Some(position) = positions.find(|&at| !self.is_dead[at]) {
            let run = self.run(position);
            let (layer, row) = (self.newest[position].0 as usize, self.newest[position].1 as usize);
            let (columns, rows) = (layers[layer], row..row + run);
            let first = dictionary_starts[layer];
            out.shapes.extend(columns.shapes[rows.clone()].iter().map(|shape| first + shape));
            out.shallow_bytes.extend_from_slice(columns.shallow_bytes.get(rows.clone()).unwrap_or_default());
            if has_unmanaged {
                append(&mut out.unmanaged_bytes, &columns.unmanaged_bytes, rows.clone());
            }
            out.counts.extend_from_slice(columns.counts.get(rows.clone()).unwrap_or_default());
            if has_references {
                let starts = &self.starts[layer];
                out.targets.extend_from_slice(&columns.targets[between(starts, &rows)]);
                if let Some(starts) = &label_starts[layer] {
                    out.labels.extend_from_slice(&columns.labels[between(starts, &rows)]);
                }
            }
            if has_sites {
                append(&mut out.sites, &columns.sites, rows.clone());
            }
            if has_names {
                append(&mut out.names, &columns.names, rows.clone());
            }
            if has_values {
                let (layouts, starts) = &value_starts[layer];
                out.values.append_rows(&columns.values, *layouts, starts, rows.clone());
            }
            for (own, all) in [(&mut out.addresses, &self.addresses), (&mut out.serials, &self.base.serials)] {
                own.extend_from_slice(all.get(position..position + run).unwrap_or_default());
            }
            positions.start = position + run;
        }
        forget_if_absent(out);
    }

    /// The number of live rows from `position` on that are consecutive in one layer.
    fn run(&self, position: usize) -> usize {
        let (layer, row) = self.newest[position];
        let later = self.newest[position..].iter().zip(&self.is_dead[position..]);
        let places = later.zip(row..).take_while(|&((&place, &is_dead), row)| !is_dead && place == (layer, row));
        places.count()
    }
}

/// Appends the values of some rows. An absent column has default values.
fn append<T: Copy + Default>(out: &mut Vec<T>, column: &[T], rows: Range<usize>) {
    match column.get(rows.clone()) {
        Some(values) => out.extend_from_slice(values),
        None => out.resize(out.len() + rows.len(), T::default()),
    }
}

/// The range of references that belong to some rows.
fn between(starts: &[u32], rows: &Range<usize>) -> Range<usize> {
    starts[rows.start] as usize..starts[rows.end] as usize
}

/// Clears columns that hold only default values, since whole snapshots leave them out.
fn forget_if_absent(out: &mut BlockColumns) {
    for column in [&mut out.unmanaged_bytes, &mut out.addresses, &mut out.serials] {
        if column.iter().all(|&value| value == 0) {
            column.clear();
        }
    }
    if out.sites.iter().all(|&site| site == 0) {
        out.sites.clear();
    }
    if out.names.iter().all(Option::is_none) {
        out.names.clear();
    }
    out.values.forget_if_absent();
}

/// Computes the positions at which the references of each row begin. The last element is the end of the last row.
fn starts_of(counts: &[u32], starts: &mut Vec<u32>) {
    starts.clear();
    starts.push(0);
    let mut end = 0;
    starts.extend(counts.iter().map(|&count| {
        end += count;
        end
    }));
}

/// The same for explicit labels; `None` if there are none.
fn label_starts_of(columns: &BlockColumns) -> Option<Vec<u32>> {
    if columns.labels.is_empty() {
        return None;
    }
    let counts = columns.shapes.iter().zip(&columns.counts).map(|(&shape, &count)| {
        let form = columns.forms[shape as usize];
        if form.is_explicit { count - form.prefix } else { 0 }
    });
    let mut starts = Vec::new();
    starts_of(&counts.collect::<Vec<_>>(), &mut starts);
    Some(starts)
}
