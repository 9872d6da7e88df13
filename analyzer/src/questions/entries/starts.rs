//! The objects at which walks to a key begin.
//!
//! ```text
//!   a map that forbids changes ──▶ HashMap               the walk begins at the second one
//!   a cell of a list ──▶ the next cell ──▶ … ──▶ null    no walk: lists have no keys
//! ```
//!
//! An object with one part that may lead to the key, and that to one object, has the key if the other one has it. Such
//! chains are followed once for all objects on them: a walk from each would take as long as the square of their lengths.

use barrow_format::ObjectId;
use foldhash::HashMap;

use super::forms::Forms;
use super::parts::Contribution;
use crate::error::Result;
use crate::graph::object_set::ObjectSet;
use crate::heap::Heap;
use crate::progress::{Progress, check};
use crate::questions::fields::{FieldPath, Held};

/// Steps of chains that are read for the objects that are asked for; then all objects of the forms are read at once. Maps
/// around maps are few, and lists are long. This is a judgement.
const MOST_ROUNDS: usize = 8;
/// Steps of chains between two checks for cancellation.
const CHECK_STEPS: u64 = 1 << 16;

/// Maps of the JDK that find their keys by an order, which may be one of the program.
const ORDERED_MAPS: [&str; 2] = ["java.util.TreeMap", "java.util.concurrent.ConcurrentSkipListMap"];

/// The place where the walk to the key of an object begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    At(ObjectId),
    /// None is needed: the object has no key.
    NoKey,
    /// None is possible: it is not known what the object leads to.
    Unknown,
}

/// The only part of an object that may lead to a key.
struct Link<'f> {
    path: &'f FieldPath,
    is_any: bool,
    /// The object has no other parts: without this one it is not known where its entries are.
    is_whole: bool,
}

/// The role of the objects of a form in the walk to a key.
enum Role<'f> {
    Start,
    NoKey,
    Link(Link<'f>),
}

/// The knowledge of an object that has a link.
#[derive(Debug, Clone, Copy)]
enum Known {
    LeadsTo(ObjectId),
    /// It is on the chain that is followed.
    Visited,
    /// Its start, and whether a map with an order of the program is on the way.
    Resolved(Start, bool),
}

/// The starts of many objects.
pub(super) struct Starts {
    known: HashMap<ObjectId, Known>,
    without_key: ObjectSet,
    /// Maps with an order of the program.
    ordered: ObjectSet,
}

impl Starts {
    /// Follows the chains of these objects.
    ///
    /// Time: a pass over the types of all objects, and over the fields of those with a link. Memory: 20 bytes for each of
    /// these.
    pub(super) fn find(
        heap: &Heap,
        forms: &Forms,
        set: &ObjectSet,
        may_be_index: bool,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let roles: Vec<Role<'_>> = (0..forms.len() as u32).map(|form| role(forms.parts(form), may_be_index)).collect();
        let role_of = |id| forms.of(id).map(|form| &roles[form as usize]);
        let without_key = heap.objects_of_types(Some(set), |id| matches!(role_of(id), Some(Role::NoKey)), progress)?;
        let mut starts = Starts { known: HashMap::default(), without_key, ordered: ordered(heap, progress)? };
        let mut links = links(heap, forms, &roles, progress)?;
        let mut next = set.clone();
        for round in 0.. {
            let mut targets = Vec::new();
            for (link, unread) in &mut links {
                let mut asked = unread.clone();
                asked.intersect_with(&next);
                if asked.is_empty() {
                    continue;
                }
                if round >= MOST_ROUNDS {
                    asked.clone_from(unread);
                }
                unread.difference_with(&asked);
                starts.read(heap, link, &asked, &mut targets, progress)?;
            }
            if targets.is_empty() {
                break;
            }
            targets.sort_unstable();
            next = heap.set_of(&targets);
        }
        starts.resolve(progress)?;
        Ok(starts)
    }

    /// The start of an object, and whether a map with an order of the program is on the way: that may take another key for
    /// the same.
    pub(super) fn of(&self, object: ObjectId) -> (Start, bool) {
        match self.known.get(&object) {
            Some(&Known::Resolved(start, is_ordered)) => (start, is_ordered),
            _ => (self.end(object), self.ordered.contains(object)),
        }
    }

    /// The objects at which walks begin, in the order of their numbers.
    pub(super) fn walks(&self, objects: &ObjectSet) -> Vec<ObjectId> {
        let at = |object| if let (Start::At(start), _) = self.of(object) { Some(start) } else { None };
        let mut walks: Vec<ObjectId> = objects.iter().filter_map(at).collect();
        walks.sort_unstable();
        walks.dedup();
        walks
    }

    /// The start at an object without a link.
    fn end(&self, object: ObjectId) -> Start {
        if self.without_key.contains(object) { Start::NoKey } else { Start::At(object) }
    }

    /// Reads what objects lead to.
    fn read(
        &mut self,
        heap: &Heap,
        link: &Link<'_>,
        objects: &ObjectSet,
        targets: &mut Vec<ObjectId>,
        progress: &dyn Progress,
    ) -> Result<()> {
        let mut column = heap.paths_at_once(&[(objects, link.path)], progress)?.remove(0);
        if link.is_any && column.contains(&Held::Unknown) {
            column = heap.any_field(objects, link.path, progress)?;
        }
        for (object, held) in objects.iter().zip(column) {
            let known = match held {
                Held::Object(target) => {
                    targets.push(target);
                    Known::LeadsTo(target)
                }
                Held::Null => Known::Resolved(Start::NoKey, self.ordered.contains(object)),
                Held::Missing if !link.is_whole => Known::Resolved(Start::NoKey, self.ordered.contains(object)),
                Held::Missing | Held::Unknown | Held::Undefined | Held::Value(_) => {
                    Known::Resolved(Start::Unknown, false)
                }
            };
            self.known.insert(object, known);
        }
        Ok(())
    }

    /// Follows each chain to its end. One that leads back to itself has no key.
    fn resolve(&mut self, progress: &dyn Progress) -> Result<()> {
        let objects: Vec<ObjectId> = self.known.keys().copied().collect();
        let (mut chain, mut steps) = (Vec::new(), 0_u64);
        for object in objects {
            let mut at = object;
            let (start, mut is_ordered) = loop {
                steps += 1;
                if steps.is_multiple_of(CHECK_STEPS) {
                    check(progress)?;
                }
                match self.known.get_mut(&at) {
                    Some(known @ &mut Known::LeadsTo(target)) => {
                        *known = Known::Visited;
                        chain.push(at);
                        at = target;
                    }
                    Some(&mut Known::Resolved(start, is_ordered)) => break (start, is_ordered),
                    Some(Known::Visited) => {
                        let mut circle = chain.iter().skip_while(|&&one| one != at);
                        break (Start::NoKey, circle.any(|&one| self.ordered.contains(one)));
                    }
                    None => break (self.end(at), self.ordered.contains(at)),
                }
            };
            while let Some(one) = chain.pop() {
                is_ordered |= self.ordered.contains(one);
                self.known.insert(one, Known::Resolved(start, is_ordered));
            }
        }
        Ok(())
    }
}

/// The links of all forms, each with the objects that have it.
fn links<'r, 'f>(
    heap: &Heap,
    forms: &Forms,
    roles: &'r [Role<'f>],
    progress: &dyn Progress,
) -> Result<Vec<(&'r Link<'f>, ObjectSet)>> {
    let (numbers, links): (Vec<u32>, Vec<&Link<'_>>) = (0..)
        .zip(roles)
        .filter_map(|(form, role)| if let Role::Link(link) = role { Some((form, link)) } else { None })
        .unzip();
    let class_of =
        forms.of_types().map(|form| numbers.binary_search(&form?).ok().map(|class| class as u32)).collect::<Vec<_>>();
    let sets = heap.objects_by_class(None, &class_of, links.len(), progress)?;
    Ok(links.into_iter().zip(sets).filter(|(_, set)| !set.is_empty()).collect())
}

fn role(parts: &[Contribution], may_be_index: bool) -> Role<'_> {
    let mut leading = parts.iter().filter(|part| part.leads_to_keys() || may_be_index && part.leads_to_indices());
    match (leading.next(), leading.next()) {
        (Some(Contribution::Of { path, is_any }), None) => {
            Role::Link(Link { path, is_any: *is_any, is_whole: parts.len() == 1 })
        }
        (None, _) if !parts.is_empty() => Role::NoKey,
        _ => Role::Start,
    }
}

/// The maps with an order of the program.
fn ordered(heap: &Heap, progress: &dyn Progress) -> Result<ObjectSet> {
    let tables = heap.recording().tables()?;
    let is_ordered = |id| tables.type_and_bases(id).any(|id| ORDERED_MAPS.contains(&tables.type_name(id)));
    let maps = heap.objects_of_types(None, is_ordered, progress)?;
    if maps.is_empty() {
        return Ok(maps);
    }
    let comparators = heap.paths_at_once(&[(&maps, &FieldPath::of_library(&["comparator"]))], progress)?.remove(0);
    let of_program = |(map, held): (ObjectId, Held)| (!matches!(held, Held::Null | Held::Missing)).then_some(map);
    let of_program: Vec<ObjectId> = maps.iter().zip(comparators).filter_map(of_program).collect();
    Ok(heap.set_of(&of_program))
}
