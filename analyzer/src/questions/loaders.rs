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

use barrow_format::ObjectId;
use barrow_format::rows::{KindRole, TypeTotals};
use foldhash::HashMap;

use crate::error::{AnalyzerError, Result};
use crate::file::object::{ObjectDetails, objects};
use crate::file::tables::Tables;
use crate::heap::Heap;
use crate::progress::Progress;
use crate::questions::fields::{FieldPath, Held};
use crate::questions::summary::type_totals;

const LOADER: &str = "<class loader>";
const CLASS: &str = "<class>";
const PARENT: &str = "parent";

/// The class loaders of a snapshot.
#[derive(Debug, Default)]
pub struct Loaders<'r> {
    /// The loaders, those with most classes first.
    pub loaders: Vec<Loader>,
    /// Classes that several loaders define, those that most define first.
    pub duplicates: Vec<DuplicateClass<'r>>,
}

/// A class loader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loader {
    /// Its object; `None` for the JVM's own.
    pub object: Option<ObjectDetails>,
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
        let loader_of = self.field_column(&set, &FieldPath::of(vec![LOADER.to_owned()]), progress)?;
        let mut loaders = self.found_loaders(&loader_of, progress)?;
        let mut place_of: HashMap<Option<ObjectId>, usize> = HashMap::default();
        place_of.extend(loaders.iter().enumerate().map(|(at, loader)| (loader.object.map(|object| object.id), at)));
        let mut classes = Vec::new();
        for (class, held) in details.iter().zip(loader_of) {
            if let (Some(name), Some(&loader)) = (class.name, place_of.get(&held.object())) {
                let (name, object) = (tables.string(name), class.id);
                classes.push(Class { object, name, loader, instances: 0, bytes: 0, is_unknown: false });
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

    /// The JVM's own loader, then those that classes refer to, and those that are the parent of one.
    fn found_loaders(&self, loader_of: &[Held], progress: &dyn Progress) -> Result<Vec<Loader>> {
        let none = Loader { object: None, parent: None, classes: 0, duplicates: 0, instances: 0, bytes: 0, unknown: 0 };
        let ids = Held::objects(loader_of);
        let parents = match self.field_column(&self.set_of(&ids), &FieldPath::named(PARENT), progress) {
            Ok(parents) => parents,
            Err(AnalyzerError::NoField { .. }) => vec![Held::Missing; ids.len()],
            Err(error) => return Err(error),
        };
        let found = objects(self.recording(), self.snapshot(), &ids)?.into_iter().zip(parents);
        let found = found.map(|(object, held)| Loader { object: Some(object), parent: held.object(), ..none.clone() });
        Ok(std::iter::once(none.clone()).chain(found).collect())
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
        let class_of = match self.field_column(&set, &FieldPath::of(vec![CLASS.to_owned()]), progress) {
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
