//! The class loaders of a JVM: the classes of each, their instances, and classes that several of them define.
//!
//! ```text
//!   class object ── <class loader> ──▶ loader ── parent ──▶ loader      no reference: the JVM's own loader
//!        ▲
//!        └── <class> ── instance      only of classes that the JVM itself does not hold
//! ```
//!
//! The objects of a type belong to the class of its name. Several loaders of one class may define classes of one name, which
//! have one type; then objects are counted by their references to the class, and are unknown without.

use std::collections::BTreeMap;

use barrow_format::rows::{KindRole, TypeTotals, Value};
use barrow_format::{ObjectId, TypeId};
use foldhash::HashMap;

use crate::error::{AnalyzerError, Result};
use crate::file::object::{ObjectDetails, objects};
use crate::file::tables::Tables;
use crate::graph::dominators::GroupRetained;
use crate::heap::Heap;
use crate::progress::Progress;
use crate::questions::fields::{FieldPath, Held};
use crate::questions::summary::type_totals;

const LOADER: &str = "<class loader>";
const CLASS: &str = "<class>";
const PARENT: &str = "parent";
const NAME: &str = "name";
/// Where a `java.net.URLClassLoader` loads classes from: a list of URLs.
const CLASS_PATH: [&str; 2] = ["ucp", "path"];

/// The number of loaders whose objects are in memory at once: a bit for each object of the heap.
const MOST_SETS: usize = 64;

/// The class loaders of a snapshot.
#[derive(Debug, Default)]
pub struct Loaders<'r> {
    /// The loaders, those with most classes first.
    pub loaders: Vec<Loader>,
    /// Classes that several loaders define, those that most define first.
    pub duplicates: Vec<DuplicateClass<'r>>,
}

impl Loaders<'_> {
    /// The maximum number of loaders of which it is computed what they retain with their classes. Each takes a search,
    /// so more take minutes in a large heap. This is a judgement.
    pub const MOST_WITH_COST: usize = 256;
}

/// A class loader.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Loader {
    /// Its object; `None` for the JVM's own.
    pub object: Option<ObjectDetails>,
    /// The name that the program gave it, or the first place that it loads classes from, if the dump tells one.
    pub name: Option<String>,
    /// The loader that it asks first, if it has one.
    pub parent: Option<ObjectId>,
    /// The number of classes that it defines.
    pub classes: u64,
    /// Those that another loader defines, too.
    pub duplicates: u64,
    /// The number of their instances, and of arrays of them, without those of other loaders' classes of the same name.
    pub instances: u64,
    /// The shallow sizes of these, summed, in bytes.
    pub bytes: u64,
    /// The classes whose instances are unknown.
    pub unknown: u64,
    members: Members,
}

/// The objects of a loader: it, its classes, and their instances.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Members {
    objects: Vec<ObjectId>,
    /// All objects of these types.
    types: Vec<TypeId>,
}

/// A class that several loaders define.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DuplicateClass<'r> {
    /// Its name.
    pub name: &'r str,
    /// The class objects, in ascending order.
    pub classes: Vec<ObjectId>,
    /// The number of instances of all of them.
    pub instances: u64,
    /// Their shallow sizes, summed, in bytes.
    pub bytes: u64,
}

/// A class object, and the totals of its instances.
struct Class<'r> {
    object: ObjectId,
    name: &'r str,
    /// The index of its loader among all.
    loader: usize,
    instances: u64,
    bytes: u64,
    is_unknown: bool,
    members: Members,
}

impl Heap {
    /// The class loaders, their classes and instances.
    ///
    /// Time: a pass over the class objects and over loaders, and one over the objects of each type that several classes have.
    ///
    /// # Errors
    /// [`AnalyzerError::NoField`] if no class has a loader, [`AnalyzerError::Section`], [`AnalyzerError::Cancelled`].
    pub fn loaders(&self, progress: &dyn Progress) -> Result<Loaders<'_>> {
        let tables = self.recording().tables()?;
        let set =
            self.objects_of_types(None, |id| tables.kind_role(tables.type_kind(id)) == KindRole::Type, progress)?;
        let details = objects(self.recording(), self.snapshot(), &set.iter().collect::<Vec<_>>())?;
        let loader_of = self.field_column(&set, &FieldPath::named(LOADER), progress)?;
        let mut loaders = self.found_loaders(&loader_of, progress)?;
        let mut place_of: HashMap<Option<ObjectId>, usize> = HashMap::default();
        place_of.extend(loaders.iter().enumerate().map(|(at, loader)| (loader.object.map(|object| object.id), at)));
        let mut classes = Vec::new();
        for (class, held) in details.iter().zip(loader_of) {
            if let (Some(name), Some(&loader)) = (class.name, place_of.get(&held.object())) {
                let (name, object) = (tables.string(name), class.id);
                let members = Members { objects: vec![object], types: Vec::new() };
                classes.push(Class { object, name, loader, instances: 0, bytes: 0, is_unknown: false, members });
            }
        }
        self.count_instances(&mut classes, &loaders, progress)?;
        let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        classes.iter().enumerate().for_each(|(at, class)| by_name.entry(class.name).or_default().push(at));
        let mut duplicates = Vec::new();
        for (name, same) in by_name {
            let is_duplicate = same.iter().any(|&at| classes[at].loader != classes[same[0]].loader);
            for class in same.iter().map(|&at| &classes[at]) {
                let loader = &mut loaders[class.loader];
                loader.classes += 1;
                loader.duplicates += u64::from(is_duplicate);
                loader.instances += class.instances;
                loader.bytes += class.bytes;
                loader.unknown += u64::from(class.is_unknown);
                loader.members.objects.extend(&class.members.objects);
                loader.members.types.extend(&class.members.types);
            }
            if is_duplicate {
                let objects = same.iter().map(|&at| classes[at].object).collect();
                let instances = same.iter().map(|&at| classes[at].instances).sum();
                let bytes = same.iter().map(|&at| classes[at].bytes).sum();
                duplicates.push(DuplicateClass { name, classes: objects, instances, bytes });
            }
        }
        loaders.sort_by_key(|loader| (std::cmp::Reverse(loader.classes), loader.object.map(|object| object.id)));
        duplicates.sort_by_key(|class| (std::cmp::Reverse((class.classes.len(), class.bytes)), class.name));
        tables.check_strings()?;
        Ok(Loaders { loaders, duplicates })
    }

    /// What would be freed without each of these loaders, its classes and their instances. `None` for the JVM's own, for
    /// one whose instances are not all known, and after the first 256.
    ///
    /// Time: for each loader that of [`Heap::retained_set`], and a pass over the heap for 64 loaders.
    ///
    /// # Errors
    /// As for [`Heap::retained_set`].
    pub fn retained_with_loaders(
        &self,
        loaders: &[Loader],
        progress: &dyn Progress,
    ) -> Result<Vec<Option<GroupRetained>>> {
        let mut retained = Vec::with_capacity(loaders.len());
        for some in loaders.chunks(MOST_SETS).take(Loaders::MOST_WITH_COST / MOST_SETS) {
            let mut class_of = vec![None; self.recording().tables()?.type_count()];
            for (at, loader) in some.iter().enumerate() {
                loader.members.types.iter().for_each(|id| class_of[id.index()] = Some(at as u32));
            }
            let sets = self.objects_by_class(None, &class_of, some.len(), progress)?;
            for (loader, mut set) in some.iter().zip(sets) {
                let Some(object) = loader.object.filter(|_| loader.unknown == 0) else {
                    retained.push(None);
                    continue;
                };
                loader.members.objects.iter().chain([&object.id]).for_each(|&id| _ = set.insert(id));
                let freed = self.retained_set(&set, progress)?;
                let bytes = self.type_totals_of(&freed, progress)?.iter().fold(0_u64, |sum, totals| {
                    sum.wrapping_add(totals.heap_bytes).wrapping_add(totals.unmanaged_bytes)
                });
                retained.push(Some(GroupRetained { objects: freed.len(), bytes }));
            }
        }
        retained.resize(loaders.len(), None);
        Ok(retained)
    }

    /// The JVM's own loader, then those that classes refer to, and those that are the parent of one.
    fn found_loaders(&self, loader_of: &[Held], progress: &dyn Progress) -> Result<Vec<Loader>> {
        let ids = Held::objects(loader_of);
        let parents = self.held_or_missing(&ids, &[PARENT], progress)?;
        let names = self.held_or_missing(&ids, &[NAME], progress)?;
        let paths = self.held_or_missing(&ids, &CLASS_PATH, progress)?;
        let details = objects(self.recording(), self.snapshot(), &ids)?;
        let tables = self.recording().tables()?;
        let mut loaders = vec![Loader::default()];
        for (at, object) in details.into_iter().enumerate() {
            let name = match names[at] {
                Held::Value(Value::Text(name)) => Some(tables.string(name).to_owned()),
                _ => paths[at].object().map_or(Ok(None), |paths| self.first_line(paths, progress))?,
            };
            loaders.push(Loader { object: Some(object), name, parent: parents[at].object(), ..Loader::default() });
        }
        Ok(loaders)
    }

    /// The value of a field of each object; missing if no type has such a field.
    fn held_or_missing(&self, ids: &[ObjectId], names: &[&str], progress: &dyn Progress) -> Result<Vec<Held>> {
        match self.field_column(&self.set_of(ids), &FieldPath::of_library(names), progress) {
            Err(AnalyzerError::NoField { .. }) => Ok(vec![Held::Missing; ids.len()]),
            column => column,
        }
    }

    /// The text or line of the first element of a list.
    fn first_line(&self, list: ObjectId, progress: &dyn Progress) -> Result<Option<String>> {
        let Some(found) = self.entries(list, 1, progress)? else { return Ok(None) };
        let first: Vec<Held> = found.entries.iter().map(|entry| entry.value).collect();
        Ok(self.lines_of(&first, progress)?.into_values().next().map(|line| line.text))
    }

    /// Counts the objects of every type for the class that they belong to.
    fn count_instances(&self, classes: &mut [Class<'_>], loaders: &[Loader], progress: &dyn Progress) -> Result<()> {
        let tables = self.recording().tables()?;
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::default();
        classes.iter().enumerate().for_each(|(at, class)| by_name.entry(class.name).or_default().push(at));
        for totals in type_totals(self.recording(), self.snapshot())? {
            let Some(named) = by_name.get(tables.type_name(totals.type_id)) else { continue };
            let same = of_loader(named, tables.type_loader(totals.type_id), classes, loaders, tables);
            match same[..] {
                [] => {}
                [only] => {
                    classes[only].instances += totals.objects;
                    classes[only].bytes += totals.heap_bytes;
                    classes[only].members.types.push(totals.type_id);
                }
                _ => self.count_by_reference(&totals, &same, classes, progress)?,
            }
        }
        Ok(())
    }

    /// Counts the objects of a type that several classes have, by their references to the class.
    fn count_by_reference(
        &self,
        totals: &TypeTotals,
        same: &[usize],
        classes: &mut [Class<'_>],
        progress: &dyn Progress,
    ) -> Result<()> {
        let set = self.objects_of_types(None, |id| id == totals.type_id, progress)?;
        let class_of = match self.field_column(&set, &FieldPath::named(CLASS), progress) {
            Err(AnalyzerError::NoField { .. }) => vec![Held::Missing; set.len() as usize],
            column => column?,
        };
        let ids: Vec<ObjectId> = set.iter().collect();
        let details = objects(self.recording(), self.snapshot(), &ids)?;
        for (object, held) in details.iter().zip(class_of) {
            let Held::Object(id) = held else {
                same.iter().for_each(|&at| classes[at].is_unknown = true);
                continue;
            };
            if let Some(&at) = same.iter().find(|&&at| classes[at].object == id) {
                classes[at].instances += 1;
                classes[at].bytes += object.shallow_bytes;
                classes[at].members.objects.push(object.id);
            }
        }
        Ok(())
    }
}

/// Those of the classes of a name whose loader is of the class that the type names. A type of arrays names none.
fn of_loader(
    named: &[usize],
    loader: Option<&str>,
    classes: &[Class<'_>],
    loaders: &[Loader],
    tables: &Tables,
) -> Vec<usize> {
    let same = named.iter().copied().filter(|&at| {
        let object = loaders[classes[at].loader].object;
        object.map(|object| tables.type_name(object.type_id)) == loader
    });
    let same: Vec<usize> = same.collect();
    if same.is_empty() && loader.is_none() { named.to_vec() } else { same }
}
