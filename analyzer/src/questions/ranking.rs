//! The first objects of a set in the order of an attribute.
//!
//! ```text
//!   a set ──▶ blocks in parallel: ranks of their objects, the first of each ──▶ the first of all
//! ```

use std::borrow::Cow;

use barrow_format::ObjectId;
use barrow_format::block::ColumnSelection;
use rayon::prelude::*;

use crate::error::Result;
use crate::file::blocks::{in_parallel, places};
use crate::file::sites::Sites;
use crate::file::tables::Tables;
use crate::graph::distances::Distances;
use crate::graph::dominators::{Dominators, PIECE};
use crate::graph::incoming::Incoming;
use crate::graph::object_set::ObjectSet;
use crate::heap::{FlatColumns, FlatRetained, Heap, visit_block};
use crate::progress::{Progress, check};
use crate::questions::expression::{Attribute, BlockObjects, NumberAttribute, Operand, TextAttribute};
use crate::questions::fields::Filling;

/// The order of objects by an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RankOrder {
    /// The smallest number or the first text comes first.
    Ascending,
    /// The largest number or the last text comes first.
    Descending,
}

/// The place of an object in an order: whether it has no value, its value, and its number.
type Rank = (bool, u64, ObjectId);

/// Where the values of an attribute are.
enum Source<'h> {
    /// In the blocks.
    Block(NumberAttribute),
    /// In the table of sites.
    Site(&'h Sites, &'h Tables, NumberAttribute),
    /// By type, as numbers in the order of the texts.
    Type(Vec<Option<u64>>),
    Retained(&'h Dominators, Option<FlatRetained>),
    Distance(&'h Distances),
    Incoming(&'h Incoming),
}

impl Heap {
    /// The first `count` objects of a set in the order of an attribute. Equal ones are in the order of their numbers,
    /// and those without a value are the last ones, which all are if the attribute has no
    /// [order of its own](Attribute::has_order).
    ///
    /// Time: linear in the blocks of the set, in parallel; that of the column that the attribute is in, if it is
    /// computed from the references of all objects. Memory: 16 bytes for each of `count` objects and of those of a block.
    ///
    /// # Errors
    /// Those of [`Heap::attribute_values`].
    pub fn first_by(
        &self,
        set: &ObjectSet,
        attribute: &Attribute,
        order: RankOrder,
        count: usize,
        progress: &dyn Progress,
    ) -> Result<Vec<ObjectId>> {
        let asked = Asked { set, order, count };
        let number = match attribute.operand() {
            Operand::Number(number, _) | Operand::Measure(number) | Operand::Either(_, number, _) => number,
            Operand::Text(text) => return self.first_of(asked, &Source::Type(self.ranks_of_types(text)?), progress),
            Operand::Is(_) | Operand::Property(_) => return Ok(asked.sorted(asked.without_value().collect())),
        };
        match number {
            NumberAttribute::Retained => self.ask_dominators(progress, |dominators| {
                self.first_of(asked, &Source::Retained(dominators, self.flat_retained()), progress)
            }),
            NumberAttribute::Distance => self.first_of(asked, &Source::Distance(self.distances(progress)?), progress),
            NumberAttribute::Incoming => self.first_of(asked, &Source::Incoming(self.incoming(progress)?), progress),
            NumberAttribute::Site | NumberAttribute::Generation => {
                let recording = self.recording();
                self.first_of(asked, &Source::Site(recording.sites()?, recording.tables()?, number), progress)
            }
            NumberAttribute::Elements | NumberAttribute::Fill => self.first_by_filling(asked, number, progress),
            // Nothing is known of any object.
            NumberAttribute::Unmanaged if !self.recording().has_unmanaged_sizes()? => {
                Ok(asked.sorted(asked.without_value().collect()))
            }
            _ => self.first_of(asked, &Source::Block(number), progress),
        }
    }

    /// The first objects by the number of their elements or their fill. Where there is no room for those of all, they
    /// are found part by part.
    fn first_by_filling(
        &self,
        asked: Asked<'_>,
        number: NumberAttribute,
        progress: &dyn Progress,
    ) -> Result<Vec<ObjectId>> {
        let value = |filling: Filling| match number {
            // Shares are not negative, so their bits are in their order.
            NumberAttribute::Fill => filling.share().map(f64::to_bits),
            _ => filling.elements,
        };
        let mut first = Vec::new();
        if let Some(known) = self.all_fillings(asked.set.len(), progress)? {
            let pieces = known.objects().par_chunks(PIECE).enumerate().map(|(piece, objects)| {
                check(progress)?;
                let places =
                    (piece * PIECE..).zip(objects).filter(|&(_, &object)| asked.set.contains(ObjectId(object)));
                let values = places.map(|(place, &object)| (ObjectId(object), value(known.at(place))));
                Ok(asked.first_with_value(values))
            });
            first = pieces.collect::<Result<Vec<_>>>()?.concat();
        } else {
            let mut objects = asked.set.iter().peekable();
            while objects.peek().is_some() {
                let part = objects.by_ref().take(self.objects_at_once());
                let part = ObjectSet::from_sorted(self.snapshot(), self.object_count(), part);
                let fillings = self.fillings(&part, progress)?;
                first.extend(asked.first_with_value(part.iter().zip(fillings.into_iter().map(value))));
                asked.keep_first(&mut first);
            }
        }
        asked.keep_first(&mut first);
        let mut first = asked.sorted(first);
        // Those without a value follow, if all others were not enough.
        let missing = asked.count - first.len();
        if missing > 0 {
            let (mut others, mut known) = (asked.set.clone(), ObjectSet::new(self.snapshot(), self.object_count()));
            first.iter().for_each(|&object| _ = known.insert(object));
            others.difference_with(&known);
            first.extend(others.iter().take(missing));
        }
        Ok(first)
    }

    fn first_of(&self, asked: Asked<'_>, source: &Source<'_>, progress: &dyn Progress) -> Result<Vec<ObjectId>> {
        Ok(asked.sorted(self.ranks_of(asked, source, progress)?))
    }

    /// The ranks of the first objects, in no order.
    fn ranks_of(&self, asked: Asked<'_>, source: &Source<'_>, progress: &dyn Progress) -> Result<Vec<Rank>> {
        let wanted = source.wanted();
        let flat = match wanted {
            ColumnSelection::Sizes => self.flat_columns(matches!(source, Source::Type(_)))?,
            _ => None,
        };
        let mut places = places(self.recording(), &[self.snapshot()])?;
        places.retain(|place| place.entry.objects > 0);
        progress.begin("ordering", places.iter().map(|place| u64::from(place.entry.objects)).sum(), "objects");
        let flat: Option<&FlatColumns> = flat.as_ref();
        let parts = in_parallel(&places, wanted, progress, |place, workspace| {
            let part = asked.set.part(ObjectId(place.entry.first_object), place.entry.objects as usize);
            if part.is_empty() {
                return Ok(Vec::new());
            }
            visit_block(self, place, wanted, flat, workspace, |block| {
                let value = source.values(block);
                let ranks = part.objects().map(|object| asked.rank(object, value(object)));
                let mut ranks: Vec<Rank> = ranks.collect();
                asked.keep_first(&mut ranks);
                // The room of the others is not held until all blocks are done.
                ranks.shrink_to_fit();
                ranks
            })
        })?;
        let mut first = parts.concat();
        asked.keep_first(&mut first);
        Ok(first)
    }

    /// For each type the place of its text among those of all types; `None` for one without a text, and for texts that
    /// objects of one type do not share.
    fn ranks_of_types(&self, attribute: TextAttribute) -> Result<Vec<Option<u64>>> {
        let tables = self.recording().tables()?;
        let types = (0..tables.type_count() as u32).map(barrow_format::TypeId);
        let texts: Vec<Option<Cow<'_, str>>> = match attribute {
            TextAttribute::Type => types.map(|id| Some(tables.type_title(id).into())).collect(),
            TextAttribute::Kind => types.map(|id| Some(tables.kind_name(tables.type_kind(id)).into())).collect(),
            TextAttribute::OfType(text) => types.map(|id| text(tables, id).map(Cow::Borrowed)).collect(),
            _ => types.map(|_| None).collect(),
        };
        let mut sorted: Vec<&str> = texts.iter().flatten().map(AsRef::as_ref).collect();
        sorted.par_sort_unstable();
        sorted.dedup();
        let rank = |text: &str| sorted.partition_point(|other| *other < text) as u64;
        Ok(texts.iter().map(|text| text.as_deref().map(rank)).collect())
    }
}

/// The objects that are wanted.
#[derive(Clone, Copy)]
struct Asked<'a> {
    set: &'a ObjectSet,
    order: RankOrder,
    count: usize,
}

impl Asked<'_> {
    /// The ranks of the first objects if none has a value.
    fn without_value(&self) -> impl Iterator<Item = Rank> {
        self.set.iter().take(self.count).map(|object| self.rank(object, None))
    }

    /// The ranks of the first of those that have a value.
    fn first_with_value(&self, values: impl Iterator<Item = (ObjectId, Option<u64>)>) -> Vec<Rank> {
        let known = values.filter(|(_, value)| value.is_some());
        let mut ranks = known.map(|(object, value)| self.rank(object, value)).collect();
        self.keep_first(&mut ranks);
        ranks
    }

    fn rank(&self, object: ObjectId, value: Option<u64>) -> Rank {
        let value_in_order = |value: u64| if self.order == RankOrder::Ascending { value } else { !value };
        (value.is_none(), value.map_or(0, value_in_order), object)
    }

    /// Removes all but the first ones, which come in no order.
    fn keep_first(&self, ranks: &mut Vec<Rank>) {
        if self.count < ranks.len() {
            ranks.select_nth_unstable(self.count);
            ranks.truncate(self.count);
        }
    }

    fn sorted(&self, mut ranks: Vec<Rank>) -> Vec<ObjectId> {
        ranks.par_sort_unstable();
        ranks.into_iter().map(|(_, _, object)| object).collect()
    }
}

impl Source<'_> {
    /// The columns of blocks that it needs.
    fn wanted(&self) -> ColumnSelection {
        match self {
            Source::Block(number) | Source::Site(_, _, number) => number.columns(),
            _ => ColumnSelection::Sizes,
        }
    }

    /// The value of each object of a block.
    fn values<'s>(&'s self, block: &'s BlockObjects<'_>) -> impl Fn(ObjectId) -> Option<u64> + 's {
        let first = block.first.0;
        let row = move |object: ObjectId| (object.0 - first) as usize;
        let mut retained = None;
        if let Source::Retained(_, Some(flat)) = self {
            let mut sizes = Vec::new();
            retained = flat.in_a_row(block.first, block.count, &mut sizes).map(<[u32]>::to_vec);
        }
        move |object| match self {
            Source::Block(number) => number.in_block(block, row(object)),
            Source::Site(sites, tables, number) => {
                let site = block.site(row(object))?;
                match number {
                    NumberAttribute::Generation => sites.generation(site, tables),
                    _ => Some(sites.place_of(site).0.into()),
                }
            }
            Source::Type(ranks) => ranks[block.type_of(row(object)).index()],
            Source::Retained(dominators, _) => Some(match &retained {
                Some(sizes) => sizes[row(object)].into(),
                None => dominators.retained_bytes(object),
            }),
            Source::Distance(distances) => distances.distance(object).map(u64::from),
            Source::Incoming(incoming) => Some(incoming.count(object)),
        }
    }
}
