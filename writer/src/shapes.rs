//! Turns announced labels into shapes: the common properties of the objects of a type are stored once.

use std::sync::{PoisonError, RwLock};

use barrow_format::block::{BlockColumns, ShapeForm};
use barrow_format::codec::Compressor;
use barrow_format::frame::NO_SNAPSHOT;
use barrow_format::rows::{LabelCode, Shape, Tail};
use barrow_format::{ShapeId, TypeId};
use foldhash::HashMap;

use crate::announced::Announced;
use crate::error::Result;
use crate::sink::Sink;
use crate::tables::{Counts, Pending, declare};

/// Maximum number of shapes of one type. Objects that fit none of them share a shape whose labels are stored with each
/// object: such a type is a dictionary.
const MAX_SHAPES_OF_TYPE: u32 = 64;
/// Maximum number of additional shapes that fix only the first label or none.
const MAX_SHORT_SHAPES_OF_TYPE: u32 = 128;
/// Maximum number of labels that a shape fixes.
const MAX_FIXED_LABELS: usize = 1024;
/// Shapes of a type that are tried before its labels are hashed.
const RECENT: usize = 4;
/// Marks a free entry in the list of recent shapes.
const NONE: u32 = u32::MAX;
/// A name that is repeated this often at the end becomes a tail.
const MIN_REPEATS: usize = 3;

/// All shapes of the recording.
pub(crate) struct ShapeTable {
    inner: RwLock<KnownShapes>,
}

struct KnownShapes {
    ids: HashMap<Shape, ShapeId>,
    /// For each type, the number of its shapes.
    of_type: HashMap<TypeId, u32>,
    pending: Pending,
}

impl ShapeTable {
    pub(crate) fn new() -> Self {
        ShapeTable {
            inner: RwLock::new(KnownShapes {
                ids: HashMap::default(),
                of_type: HashMap::default(),
                pending: Pending::new(),
            }),
        }
    }

    /// Writes the shapes that are not in the file yet.
    pub(crate) fn flush(&self, sink: &mut Sink, compressor: &mut Compressor) -> Result<()> {
        let mut known = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        known.pending.flush::<Shape>(NO_SNAPSHOT, sink, compressor).map(drop)
    }

    /// Calls `with` with all shapes, by their numbers. No shape can be added meanwhile.
    pub(crate) fn with_all<T>(&self, with: impl FnOnce(&[&Shape]) -> T) -> T {
        let known = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        let mut shapes: Vec<(ShapeId, &Shape)> = known.ids.iter().map(|(shape, &id)| (id, shape)).collect();
        shapes.sort_unstable_by_key(|&(id, _)| id);
        with(&shapes.into_iter().map(|(_, shape)| shape).collect::<Vec<_>>())
    }

    pub(crate) fn is_full(&self) -> bool {
        self.inner.read().unwrap_or_else(PoisonError::into_inner).pending.is_full()
    }

    /// The number of `shape`, which is entered if it is new.
    fn enter(&self, shape: Shape, counts: &Counts) -> Result<ShapeId> {
        let mut known = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(&id) = known.ids.get(&shape) {
            return Ok(id);
        }
        let id = ShapeId(declare(&mut known.pending, &shape, &counts.shapes)?);
        *known.of_type.entry(shape.type_id).or_default() += 1;
        known.ids.insert(shape, id);
        Ok(id)
    }

    /// Returns whether a type may have `shape`: it is known, or the type has fewer than `limit` shapes.
    fn admits(&self, shape: &Shape, limit: u32) -> bool {
        let known = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        known.ids.contains_key(shape) || known.of_type.get(&shape.type_id).is_none_or(|&count| count < limit)
    }
}

/// Finds the shapes of a block's objects; one per encoder.
///
/// It remembers the last shapes of every type, which serve most objects without hashing anything.
#[derive(Default)]
pub(crate) struct Shaper {
    /// For each type the last shapes found, the latest first, as positions in `met`.
    recent: Vec<[u32; RECENT]>,
    /// Shapes that this encoder has found.
    met: Vec<RecentShape>,
    by_shape: HashMap<Shape, u32>,
    /// Number of blocks so far, so that a shape knows whether it is in the dictionary of this one.
    block: u64,
}

struct RecentShape {
    id: ShapeId,
    shape: Shape,
    form: ShapeForm,
    used_in_block: u64,
    place: u32,
}

impl Shaper {
    /// Fills `columns` from announced objects.
    pub(crate) fn shape(
        &mut self,
        announced: &mut Announced,
        table: &ShapeTable,
        counts: &Counts,
        columns: &mut BlockColumns,
    ) -> Result<()> {
        columns.clear();
        self.block += 1;
        columns.first_object = announced.first_object;
        if announced.is_continuation {
            return self.continuation(announced, table, counts, columns);
        }
        let mut start = 0;
        for (&type_id, &end) in announced.types.iter().zip(&announced.ends) {
            let labels = announced.labels.get(start..end as usize).unwrap_or_default();
            start = end as usize;
            let met = self.shape_of(TypeId(type_id), labels, table, counts)?;
            let place = self.place(met, columns);
            let form = columns.forms.get(place as usize).copied().unwrap_or_default();
            columns.shapes.push(place);
            columns.counts.push(u32::try_from(labels.len()).unwrap_or(u32::MAX));
            if form.is_explicit {
                columns.labels.extend_from_slice(labels.get(form.prefix as usize..).unwrap_or_default());
            }
        }
        std::mem::swap(&mut columns.shallow_bytes, &mut announced.shallow_bytes);
        std::mem::swap(&mut columns.unmanaged_bytes, &mut announced.unmanaged_bytes);
        std::mem::swap(&mut columns.addresses, &mut announced.addresses);
        std::mem::swap(&mut columns.serials, &mut announced.serials);
        std::mem::swap(&mut columns.sites, &mut announced.sites);
        std::mem::swap(&mut columns.names, &mut announced.names);
        columns.values = announced.take_values();
        std::mem::swap(&mut columns.targets, &mut announced.targets);
        Ok(())
    }

    /// A continuation has one shape without prefix.
    fn continuation(
        &mut self,
        announced: &mut Announced,
        table: &ShapeTable,
        counts: &Counts,
        columns: &mut BlockColumns,
    ) -> Result<()> {
        let labels = &announced.labels;
        let first = LabelCode(labels.first().copied().unwrap_or_default());
        let tail = if labels.iter().all(|&label| label == first.0) {
            Tail::Repeated(first)
        } else if is_indexed(labels) {
            columns.start_index = first.0 >> 6;
            Tail::Indexed(first.strength())
        } else {
            columns.labels.extend_from_slice(labels);
            Tail::Explicit
        };
        let type_id = TypeId(announced.types.first().copied().unwrap_or_default());
        let met = self.enter(Shape { type_id, prefix: Vec::new(), tail }, table, counts)?;
        self.place(met, columns);
        columns.counts.push(u32::try_from(labels.len()).unwrap_or(u32::MAX));
        std::mem::swap(&mut columns.targets, &mut announced.targets);
        Ok(())
    }

    /// The position of a shape in the block's dictionary.
    fn place(&mut self, met: u32, columns: &mut BlockColumns) -> u32 {
        let block = self.block;
        let Some(met) = self.met.get_mut(met as usize) else { return 0 };
        if met.used_in_block != block {
            met.used_in_block = block;
            met.place = u32::try_from(columns.dictionary.len()).unwrap_or(u32::MAX);
            columns.dictionary.push(met.id);
            columns.forms.push(met.form);
        }
        met.place
    }

    /// The shape of an object with these labels, as a position in `met`.
    fn shape_of(&mut self, type_id: TypeId, labels: &[u64], table: &ShapeTable, counts: &Counts) -> Result<u32> {
        if self.recent.len() <= type_id.index() {
            self.recent.resize(type_id.index() + 1, [NONE; RECENT]);
        }
        let Some(recent) = self.recent.get_mut(type_id.index()) else { return Ok(NONE) };
        let met = &self.met;
        let hit =
            recent.iter().position(|&number| met.get(number as usize).is_some_and(|met| fits(&met.shape, labels)));
        if let Some(hit) = hit {
            recent.get_mut(..=hit).unwrap_or_default().rotate_right(1);
            return Ok(recent[0]);
        }
        let (prefix, tail) = factor(labels);
        let shape = Shape { type_id, prefix: first_codes(labels, prefix), tail };
        let met = match self.by_shape.get(&shape) {
            Some(&met) => met,
            None => self.enter(choose(shape, labels, table), table, counts)?,
        };
        // An explicit tail fits everything, including objects that could have a shape of their own.
        let is_explicit = self.met.get(met as usize).is_some_and(|met| met.shape.tail == Tail::Explicit);
        if let Some(recent) = self.recent.get_mut(type_id.index()).filter(|_| !is_explicit) {
            recent.rotate_right(1);
            recent[0] = met;
        }
        Ok(met)
    }

    fn enter(&mut self, shape: Shape, table: &ShapeTable, counts: &Counts) -> Result<u32> {
        if let Some(&met) = self.by_shape.get(&shape) {
            return Ok(met);
        }
        let id = table.enter(shape.clone(), counts)?;
        let number = u32::try_from(self.met.len()).unwrap_or(NONE);
        let form = ShapeForm::from(&shape);
        self.by_shape.insert(shape.clone(), number);
        self.met.push(RecentShape { id, shape, form, used_in_block: 0, place: 0 });
        Ok(number)
    }
}

/// `shape` as it was factored from `labels`, unless its type has too many: then one whose labels are stored with each
/// object.
fn choose(shape: Shape, labels: &[u64], table: &ShapeTable) -> Shape {
    if shape.prefix.len() <= MAX_FIXED_LABELS && table.admits(&shape, MAX_SHAPES_OF_TYPE) {
        return shape;
    }
    let type_id = shape.type_id;
    let short = Shape { type_id, prefix: first_codes(labels, 1), tail: Tail::Explicit };
    if table.admits(&short, MAX_SHORT_SHAPES_OF_TYPE) {
        return short;
    }
    Shape { type_id, prefix: Vec::new(), tail: Tail::Explicit }
}

fn first_codes(labels: &[u64], length: usize) -> Vec<LabelCode> {
    labels.iter().take(length).map(|&code| LabelCode(code)).collect()
}

/// The number of labels to fix, and the tail after them.
fn factor(labels: &[u64]) -> (usize, Tail) {
    let Some(&last) = labels.last() else { return (0, Tail::None) };
    let last = LabelCode(last);
    let mut indexed = labels.len() - 1;
    while indexed > 0
        && let Some(pair) = labels.get(indexed - 1..=indexed)
        && LabelCode(pair[0]).next_index() == Some(LabelCode(pair[1]))
    {
        indexed -= 1;
    }
    if labels.get(indexed).is_some_and(|&first| first & 3 == 1 && first >> 6 == 0) {
        return (indexed, Tail::Indexed(last.strength()));
    }
    let repeated = labels.iter().rev().take_while(|&&label| label == last.0).count();
    let is_unknown = last.0 & 3 == 0;
    if is_unknown || repeated >= MIN_REPEATS {
        return (labels.len() - repeated, Tail::Repeated(last));
    }
    (labels.len(), Tail::None)
}

fn is_indexed(labels: &[u64]) -> bool {
    labels.first().is_some_and(|first| first & 3 == 1)
        && labels.windows(2).all(|pair| LabelCode(pair[0]).next_index() == Some(LabelCode(pair[1])))
}

/// Returns whether an object with these labels can be stored with this shape.
fn fits(shape: &Shape, labels: &[u64]) -> bool {
    let Some((prefix, tail)) = labels.split_at_checked(shape.prefix.len()) else { return false };
    if !prefix.iter().zip(&shape.prefix).all(|(&label, code)| label == code.0) {
        return false;
    }
    match shape.tail {
        Tail::None => tail.is_empty(),
        Tail::Explicit => true,
        Tail::Repeated(code) => tail.iter().all(|&label| label == code.0),
        Tail::Indexed(strength) => {
            let first = u64::from(strength.0) << 2 | 1;
            (0u64..).zip(tail).all(|(index, &label)| label == index << 6 | first)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use barrow_format::rows::Label;
    use barrow_format::{StrengthId, StringId};

    fn code(label: Label) -> u64 {
        LabelCode::new(label, StrengthId::STRONG).unwrap().0
    }

    #[test]
    fn labels_are_factored_into_prefix_and_tail() {
        let name = |number| code(Label::Name(StringId(number)));
        let index = |number| code(Label::Index(number));
        let unknown = code(Label::Unknown);
        assert_eq!(factor(&[]), (0, Tail::None));
        assert_eq!(factor(&[name(1), name(2)]), (2, Tail::None));
        assert_eq!(factor(&[name(1), index(0), index(1)]), (1, Tail::Indexed(StrengthId::STRONG)));
        assert_eq!(factor(&[name(1), index(1), index(2)]), (3, Tail::None));
        assert_eq!(factor(&[name(1), unknown]), (1, Tail::Repeated(LabelCode(unknown))));
        assert_eq!(factor(&[name(1), name(2), name(2)]), (3, Tail::None));
        assert_eq!(factor(&[name(1), name(2), name(2), name(2)]), (1, Tail::Repeated(LabelCode(name(2)))));
    }

    #[test]
    fn a_factored_shape_fits_its_labels_and_no_others() {
        let labels = [code(Label::Name(StringId(3))), code(Label::Index(0)), code(Label::Index(1))];
        let (prefix, tail) = factor(&labels);
        let prefix = labels[..prefix].iter().map(|&code| LabelCode(code)).collect();
        let shape = Shape { type_id: TypeId(0), prefix, tail };
        assert!(fits(&shape, &labels));
        assert!(fits(&shape, &labels[..1]));
        assert!(!fits(&shape, &labels[1..]));
        assert!(!fits(&shape, &[labels[0], labels[2]]));
    }

    #[test]
    fn a_type_with_too_many_shapes_keeps_those_it_has() {
        let (mut shaper, table, counts) = (Shaper::default(), ShapeTable::new(), Counts::default());
        let mut tail_of = |labels: &[u64]| {
            let met = shaper.shape_of(TypeId(0), labels, &table, &counts).unwrap();
            shaper.met[met as usize].shape.tail
        };
        let labels = |number| [code(Label::Name(StringId(0))), code(Label::Name(StringId(number)))];
        let of_their_own = (1..=MAX_SHAPES_OF_TYPE).map(labels);
        of_their_own.clone().for_each(|labels| assert_eq!(tail_of(&labels), Tail::None));
        for known in of_their_own {
            assert_eq!(tail_of(&labels(1000)), Tail::Explicit);
            assert_eq!(tail_of(&known), Tail::None);
        }
    }
}
