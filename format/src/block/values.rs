//! The values of the fields of objects, without references.
//!
//! ```text
//!   objects    A      B      A      A      C             which fields have a value: the object's layout
//!   LAYOUTS    0: x y   1: z                             each that an object of the block has
//!   LAYOUT     1      2      0      0      0             0: that of the last object of the same shape, at first none
//!   VALUES     x x x y y y z                             layout by layout, field by field, as references slot by slot
//! ```
//!
//! A field that is not in an object's layout is not known, which differs from 0.

#![expect(clippy::indexing_slicing, reason = "positions are checked when columns are decoded, or come from pushes")]

use std::collections::HashMap;
use std::ops::Range;

use super::decode::Numbers;
use super::{Block, Column, ColumnId, Decoder, Encoder, agree, limit};
use crate::error::{FormatError, Result};
use crate::ids::FieldId;
use crate::varint::{unzigzag, zigzag};

/// Maximum number of values in one block, and of fields of all its layouts.
pub const MAX_VALUES: u32 = 1 << 20;
/// Maximum number of values of one object.
pub const MAX_VALUES_OF_OBJECT: usize = 1 << 16;

/// The values of the objects of a block, object by object.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FieldValues {
    /// The fields of all layouts.
    fields: Vec<FieldId>,
    /// For each layout, the end of its fields.
    ends: Vec<u32>,
    /// For each object 0 if it has no values, else its layout + 1. Empty if no object has any.
    objects: Vec<u32>,
    /// The codes of the values, object by object.
    values: Vec<u64>,
}

impl FieldValues {
    /// Empties it, keeping its memory.
    pub fn clear(&mut self) {
        self.fields.clear();
        self.ends.clear();
        self.objects.clear();
        self.values.clear();
    }

    /// Returns whether no object has values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// Number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// All layouts: lists of fields.
    pub fn layouts(&self) -> impl Iterator<Item = &[FieldId]> {
        (0..self.ends.len()).map(|layout| self.layout(layout))
    }

    /// For each object 0 if it has no values, else its layout + 1. Empty if no object has any.
    #[must_use]
    pub fn objects(&self) -> &[u32] {
        &self.objects
    }

    /// The codes of all values, object by object.
    #[must_use]
    pub fn codes(&self) -> &[u64] {
        &self.values
    }

    /// Replaces every value by what `new` returns for its field and its code.
    pub fn map(&mut self, mut new: impl FnMut(FieldId, u64) -> u64) {
        let mut codes = std::mem::take(&mut self.values);
        let mut rest = codes.iter_mut();
        for &object in &self.objects {
            for (&field, code) in self.fields_of(object).iter().zip(&mut rest) {
                *code = new(field, *code);
            }
        }
        self.values = codes;
    }

    /// The fields and the codes of each object.
    pub fn rows(&self) -> impl Iterator<Item = (&[FieldId], &[u64])> {
        let mut start = 0;
        self.objects.iter().map(move |&object| {
            let fields = self.fields_of(object);
            let own = &self.values[start..start + fields.len()];
            start += fields.len();
            (fields, own)
        })
    }

    /// The fields of the object in a row that have a value.
    #[must_use]
    pub fn fields(&self, row: usize) -> &[FieldId] {
        self.objects.get(row).map_or(&[], |&object| self.fields_of(object))
    }

    /// For each row, the position of its first value, and finally the end of the last row. Empty if no object has
    /// values.
    #[must_use]
    pub fn starts(&self) -> Vec<u32> {
        if self.is_empty() {
            return Vec::new();
        }
        let mut starts = Vec::with_capacity(self.objects.len() + 1);
        let mut end = 0;
        starts.push(end);
        for &object in &self.objects {
            end += length(self.fields_of(object).len());
            starts.push(end);
        }
        starts
    }

    /// Appends the layouts of `other`. Returns the number of layouts before.
    pub fn append_layouts(&mut self, other: &FieldValues) -> u32 {
        let (before, fields) = (length(self.ends.len()), length(self.fields.len()));
        self.fields.extend_from_slice(&other.fields);
        self.ends.extend(other.ends.iter().map(|end| fields + end));
        before
    }

    /// Appends the objects in `rows` of `other`, whose layouts were appended after `layouts` others and whose rows start at
    /// `starts`. Objects of a block without values have none.
    pub fn append_rows(&mut self, other: &FieldValues, layouts: u32, starts: &[u32], rows: Range<usize>) {
        if other.is_empty() {
            return self.objects.resize(self.objects.len() + rows.len(), 0);
        }
        let objects = other.objects[rows.clone()].iter();
        self.objects.extend(objects.map(|&object| if object == 0 { 0 } else { object + layouts }));
        self.values.extend_from_slice(&other.values[starts[rows.start] as usize..starts[rows.end] as usize]);
    }

    /// Clears everything if no object has values.
    pub fn forget_if_absent(&mut self) {
        if self.objects.iter().all(|&object| object == 0) {
            self.clear();
        }
    }

    fn layout(&self, layout: usize) -> &[FieldId] {
        let start = layout.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.fields[start as usize..self.ends[layout] as usize]
    }

    fn fields_of(&self, object: u32) -> &[FieldId] {
        object.checked_sub(1).map_or(&[], |layout| self.layout(layout as usize))
    }

    /// For each layout, the position of the first value of its first field, and the number of objects that have it.
    fn places(&self) -> (Vec<(usize, usize)>, u64) {
        let mut counts = vec![0; self.ends.len()];
        for object in self.objects.iter().filter_map(|object| object.checked_sub(1)) {
            counts[object as usize] += 1;
        }
        let mut start = 0u64;
        let place = |(layout, count): (usize, usize)| {
            let place = usize::try_from(start).unwrap_or(usize::MAX);
            start += self.layout(layout).len() as u64 * count as u64;
            (place, count)
        };
        (counts.into_iter().enumerate().map(place).collect(), start)
    }

    /// Calls `each` with the place of every value in VALUES, in the order of the objects.
    fn walk(&self, mut places: Vec<(usize, usize)>, mut each: impl FnMut(usize)) {
        for layout in self.objects.iter().filter_map(|object| object.checked_sub(1)) {
            let fields = self.layout(layout as usize).len();
            let (next, count) = &mut places[layout as usize];
            (0..fields).for_each(|field| each(*next + field * *count));
            *next += 1;
        }
    }
}

/// Fills [`FieldValues`], object by object.
#[derive(Debug, Default)]
pub struct ValueFiller {
    /// The values so far. Complete only if an object was pushed for each row up to the last that has values.
    pub values: FieldValues,
    known: HashMap<Vec<FieldId>, u32>,
    /// For each field the last object whose layout begins with it, 0 for none: nearly always fields of one type begin
    /// only one layout, which is found without hashing.
    beginning: Vec<u32>,
}

impl ValueFiller {
    /// Empties it, keeping its memory.
    pub fn clear(&mut self) {
        self.values.clear();
        self.known.clear();
        self.beginning.clear();
    }

    /// Appends the values of the object in row `row`; the rows between it and the last one pushed have none.
    pub fn push(&mut self, row: usize, fields: &[FieldId], codes: &[u64]) {
        if fields.is_empty() {
            return;
        }
        let object = self.object(fields);
        let values = &mut self.values;
        values.objects.resize(row, 0);
        values.objects.push(object);
        values.values.extend_from_slice(codes);
    }

    /// The layout of these fields, of which there is one at least, + 1.
    fn object(&mut self, fields: &[FieldId]) -> u32 {
        let first = fields[0].index();
        if first >= self.beginning.len() {
            self.beginning.resize(first + 1, 0);
        }
        let values = &mut self.values;
        let likely = self.beginning[first];
        if likely > 0 && values.fields_of(likely) == fields {
            return likely;
        }
        let object = self.known.get(fields).copied().unwrap_or_else(|| {
            values.fields.extend_from_slice(fields);
            values.ends.push(length(values.fields.len()));
            let object = length(values.ends.len());
            self.known.insert(fields.to_vec(), object);
            object
        });
        self.beginning[first] = object;
        object
    }

    /// Takes the values of `rows` objects.
    pub fn take(&mut self, rows: usize) -> FieldValues {
        self.known.clear();
        self.beginning.clear();
        let mut values = std::mem::take(&mut self.values);
        if !values.objects.is_empty() {
            values.objects.resize(rows, 0);
        }
        values
    }
}

impl Encoder {
    pub(super) fn values(&mut self, stored: &mut Vec<Column>, shapes: &[u32], values: &FieldValues) -> Result<()> {
        let Some(known) = shapes.iter().max().map(|&highest| highest as usize + 1).filter(|_| !values.is_empty())
        else {
            return Ok(());
        };
        let (places, total) = values.places();
        agree("objects with values in a block", shapes.len() as u64, values.objects.len() as u64)?;
        agree("values in a block", total, values.values.len() as u64)?;
        limit("values in a block", length(values.values.len()), MAX_VALUES)?;
        limit("fields of a block", length(values.fields.len() + values.ends.len()), MAX_VALUES)?;
        let mut last = 0i64;
        let layouts = (0..values.ends.len()).flat_map(|layout| {
            let fields = values.layout(layout);
            std::iter::once((fields.len() as u64, None)).chain(fields.iter().map(|field| (0, Some(field.0))))
        });
        let layouts = layouts.map(|(count, field)| match field {
            None => count,
            Some(field) => {
                let difference = i64::from(field) - last;
                last = i64::from(field);
                zigzag(difference)
            }
        });
        self.column(stored, ColumnId::LAYOUTS, layouts)?;
        let mut last = vec![0; known];
        let objects = values.objects.iter().zip(shapes).map(|(&object, &shape)| {
            let before = std::mem::replace(&mut last[shape as usize], object);
            if object == before { 0 } else { 1 + u64::from(object) }
        });
        self.column(stored, ColumnId::LAYOUT, objects)?;
        let mut in_order = std::mem::take(&mut self.symbols);
        in_order.clear();
        in_order.resize(values.values.len(), 0);
        let mut codes = values.values.iter();
        values.walk(places, |place| in_order[place] = codes.next().copied().unwrap_or(0));
        let result = self.column(stored, ColumnId::VALUES, in_order.iter().copied());
        self.symbols = in_order;
        result
    }
}

impl Decoder {
    /// The values of the objects of a block with these shapes.
    pub(super) fn values(&mut self, block: &Block<'_>, shapes: &[u32], out: &mut FieldValues) -> Result<()> {
        let Some(layouts) = block.column(ColumnId::LAYOUTS)? else { return Ok(()) };
        self.numbers_u64(layouts, layouts.0.values)?;
        self.layouts(out)?;
        let found = block.column(ColumnId::LAYOUT)?;
        match self.numbers(found, length(shapes.len()))? {
            Numbers::Narrow => {}
            Numbers::Absent => return Err(FormatError::Missing { what: ColumnId::LAYOUT.what() }),
            Numbers::Wide => return Err(too_high(ColumnId::LAYOUT, u64::MAX, out.ends.len())),
        }
        let mut last = vec![0; shapes.iter().max().map_or(0, |&highest| highest as usize + 1)];
        out.objects.reserve(shapes.len());
        for (&code, &shape) in self.narrow.iter().zip(shapes) {
            let last = &mut last[shape as usize];
            if let Some(object) = code.checked_sub(1) {
                if object as usize > out.ends.len() {
                    return Err(too_high(ColumnId::LAYOUT, object.into(), out.ends.len()));
                }
                *last = object;
            }
            out.objects.push(*last);
        }
        let (places, total) = out.places();
        let found = block.column(ColumnId::VALUES)?;
        agree("values of column VALUES", found.map_or(0, |(column, _)| column.values).into(), total)?;
        let Some(found) = found else { return Ok(()) };
        self.numbers_u64(found, found.0.values)?;
        let mut codes = Vec::with_capacity(self.wide.len());
        out.walk(places, |place| codes.push(self.wide[place]));
        out.values = codes;
        Ok(())
    }

    /// Reads the layouts in `wide`.
    fn layouts(&mut self, out: &mut FieldValues) -> Result<()> {
        let mut numbers = self.wide.iter();
        let mut last = 0i64;
        while let Some(&count) = numbers.next() {
            for _ in 0..count {
                let missing = FormatError::Missing { what: "field of a layout" };
                let &difference = numbers.next().ok_or(missing)?;
                let field = last.checked_add(unzigzag(difference)).and_then(|field| u32::try_from(field).ok());
                let field = field.ok_or_else(|| too_high(ColumnId::LAYOUTS, difference, u32::MAX as usize))?;
                last = field.into();
                out.fields.push(FieldId(field));
            }
            out.ends.push(length(out.fields.len()));
        }
        Ok(())
    }
}

fn too_high(id: ColumnId, value: u64, limit: usize) -> FormatError {
    FormatError::OutOfRange { what: id.what(), value, limit: limit as u64 }
}

/// A count that the limits of blocks keep below 2^32.
fn length(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
