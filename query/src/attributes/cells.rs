//! What objects have of each attribute. What is kept for all objects is opened once.

use barrow_analyzer::{Filling, Heap, ObjectDetails, ObjectId, ObjectSet, Progress, Tables, TypeId};

use crate::answer::Value;
use crate::error::QueryError;
use crate::tables::label;

type Cells = Result<Vec<Value>, QueryError>;

/// Objects whose distances are read one by one: opening those of all takes longer than so many looks.
const FEW: usize = 64;
/// The attribute of a site in which recorders write the collection of its objects.
const GENERATION: &str = "generation";

fn each(objects: &[ObjectDetails], cell: impl Fn(&ObjectDetails) -> Value) -> Cells {
    Ok(objects.iter().map(cell).collect())
}

pub(super) fn of_types(objects: &[ObjectDetails], heap: &Heap, cell: impl Fn(&Tables, TypeId) -> Value) -> Cells {
    let tables = heap.recording().tables()?;
    each(objects, |object| cell(tables, object.type_id))
}

pub(super) fn types(objects: &[ObjectDetails], heap: &Heap, _: &dyn Progress) -> Cells {
    of_types(objects, heap, |tables, id| Value::text(tables.type_title(id)))
}

pub(super) fn kinds(objects: &[ObjectDetails], heap: &Heap, _: &dyn Progress) -> Cells {
    of_types(objects, heap, |tables, id| Value::text(tables.kind_name(tables.type_kind(id))))
}

pub(super) fn names(objects: &[ObjectDetails], heap: &Heap, _: &dyn Progress) -> Cells {
    let tables = heap.recording().tables()?;
    each(objects, |object| label::name(tables, object.name))
}

pub(super) fn lines(objects: &[ObjectDetails], heap: &Heap, progress: &dyn Progress) -> Cells {
    let sorted = sorted(objects);
    let lines = heap.lines(&sorted, progress)?;
    each(objects, |object| {
        sorted.binary_search(&object.id).map_or(Value::None, |at| lines[at].clone().map(Value::Line).into())
    })
}

pub(super) fn sizes(objects: &[ObjectDetails], _: &Heap, _: &dyn Progress) -> Cells {
    each(objects, |object| object.shallow_bytes.into())
}

pub(super) fn unmanaged(objects: &[ObjectDetails], heap: &Heap, _: &dyn Progress) -> Cells {
    let are_known = heap.recording().has_unmanaged_sizes()?;
    each(objects, |object| are_known.then_some(object.unmanaged_bytes).into())
}

pub(super) fn retained(objects: &[ObjectDetails], heap: &Heap, progress: &dyn Progress) -> Cells {
    heap.ask_dominators(progress, |dominators| each(objects, |object| dominators.retained_bytes(object.id).into()))
}

pub(super) fn elements(objects: &[ObjectDetails], heap: &Heap, progress: &dyn Progress) -> Cells {
    measured(objects, heap, progress, |filling| filling.elements.into())
}

pub(super) fn fills(objects: &[ObjectDetails], heap: &Heap, progress: &dyn Progress) -> Cells {
    measured(objects, heap, progress, |filling| filling.share().map(Value::Share).into())
}

fn measured(
    objects: &[ObjectDetails],
    heap: &Heap,
    progress: &dyn Progress,
    cell: impl Fn(&Filling) -> Value,
) -> Cells {
    let sorted = sorted(objects);
    let mut set = ObjectSet::new(heap.snapshot(), heap.object_count());
    sorted.iter().for_each(|&id| _ = set.insert(id));
    let fillings = heap.fillings(&set, progress)?;
    each(objects, |object| sorted.binary_search(&object.id).map_or(Value::None, |at| cell(&fillings[at])))
}

pub(super) fn distances(objects: &[ObjectDetails], heap: &Heap, progress: &dyn Progress) -> Cells {
    if objects.len() <= FEW {
        return objects.iter().map(|object| Ok(heap.distance(object.id, progress)?.into())).collect();
    }
    let distances = heap.distances(progress)?;
    each(objects, |object| distances.distance(object.id).into())
}

pub(super) fn incoming(objects: &[ObjectDetails], heap: &Heap, progress: &dyn Progress) -> Cells {
    let incoming = heap.incoming(progress)?;
    each(objects, |object| incoming.count(object.id).into())
}

pub(super) fn references(objects: &[ObjectDetails], _: &Heap, _: &dyn Progress) -> Cells {
    each(objects, |object| object.references.into())
}

pub(super) fn ids(objects: &[ObjectDetails], _: &Heap, _: &dyn Progress) -> Cells {
    each(objects, |object| object.id.0.into())
}

pub(super) fn sites(objects: &[ObjectDetails], heap: &Heap, _: &dyn Progress) -> Cells {
    let place = |object: &ObjectDetails| object.site.map(|site| heap.recording().site_place(site)).transpose();
    objects.iter().map(|object| Ok(place(object)?.map(|site| site.0).into())).collect()
}

pub(super) fn generations(objects: &[ObjectDetails], heap: &Heap, _: &dyn Progress) -> Cells {
    let recording = heap.recording();
    let cell = |object: &ObjectDetails| {
        let Some(site) = object.site else { return Ok(Value::None) };
        let details = recording.site(site)?;
        let attributes = details.map(|details| details.attributes).unwrap_or_default();
        let generation = attributes.iter().find(|(key, _)| *key == GENERATION);
        Ok(generation.and_then(|(_, value)| value.parse::<u64>().ok()).into())
    };
    objects.iter().map(cell).collect()
}

pub(super) fn serials(objects: &[ObjectDetails], _: &Heap, _: &dyn Progress) -> Cells {
    each(objects, |object| object.serial.into())
}

pub(super) fn addresses(objects: &[ObjectDetails], _: &Heap, _: &dyn Progress) -> Cells {
    each(objects, |object| object.address.into())
}

// Dominators are kept, and a search for what is reachable would begin again with each page.
pub(super) fn are_reachable(objects: &[ObjectDetails], heap: &Heap, progress: &dyn Progress) -> Cells {
    heap.ask_dominators(progress, |dominators| each(objects, |object| Value::Flag(dominators.is_reachable(object.id))))
}

pub(super) fn are_unreachable(objects: &[ObjectDetails], heap: &Heap, progress: &dyn Progress) -> Cells {
    heap.ask_dominators(progress, |dominators| each(objects, |object| Value::Flag(!dominators.is_reachable(object.id))))
}

pub(super) fn are_roots(objects: &[ObjectDetails], heap: &Heap, _: &dyn Progress) -> Cells {
    let mut targets: Vec<ObjectId> = heap.roots()?.rows().iter().map(|root| root.target).collect();
    targets.sort_unstable();
    each(objects, |object| Value::Flag(targets.binary_search(&object.id).is_ok()))
}

fn sorted(objects: &[ObjectDetails]) -> Vec<ObjectId> {
    let mut ids: Vec<ObjectId> = objects.iter().map(|object| object.id).collect();
    ids.sort_unstable();
    ids
}
