//! The values of the fields of objects.
//!
//! ```text
//!   a field of the type has a value ────────────────────▶ the value
//!   a reference of the object has the field's name ─────▶ the object it leads to
//!   the type declares it as a reference ────────────────▶ null
//!   the type declares it, and no value was recorded ────▶ not known
//!   its type says that a map has further fields ────────▶ the value in the map, see `elsewhere`
//!   otherwise ──────────────────────────────────────────▶ missing: objects of the type have no such field
//! ```
//!
//! Of several fields with one name, that of the most derived type counts, except in paths that attributes of types have:
//! there it is a field of the type with the attribute, or of its bases. If some of them are references, of which some are
//! null, it is not known which. In recordings without declared fields, the names of references serve as fields.

mod computing;
mod count;
mod elsewhere;
mod filling;
mod matching;
mod named;
mod names;
mod path;
mod set_fillings;
mod standing;
mod tested;
mod unrecorded;
mod value_predicate;

use std::borrow::Cow;

use barrow_expressions::PathStep;
use barrow_format::block::ColumnSelection;
use barrow_format::rows::{Encoding, Field, KindRole, Label, Value};
use barrow_format::{FieldId, ObjectId, StringId, TypeId};
use foldhash::HashMap;

use crate::error::{AnalyzerError, Result};
use crate::file::blocks::{BlockPlace, begin, decode, in_parallel, places};
use crate::file::object::{outgoing, outgoing_page, run_of_blocks};
use crate::file::tables::Tables;
use crate::graph::object_set::ObjectSet;
use crate::heap::Heap;
use crate::progress::Progress;

pub use filling::Filling;
pub(crate) use filling::{Filled, FillingFields, Measure};
use named::NamedField;
use path::Declaration;
pub use path::FieldPath;
pub(crate) use standing::{COMPUTED, Meant, Standing, are_texts};
pub(crate) use tested::Tested;
pub(crate) use value_predicate::{TextAnswers, ValuePredicate};
pub(crate) use value_predicate::{number, shortest};

/// The name of objects that are [`Held::Undefined`].
const UNDEFINED: &str = "undefined";

/// The value of a field of an object.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Held {
    /// Objects of its type have no such field.
    Missing,
    /// It was not recorded.
    Unknown,
    /// Nothing.
    Null,
    /// Nothing in the second way that some languages have: `undefined` of V8.
    Undefined,
    /// A number, a text, true or false.
    Value(Value),
    /// An object.
    Object(ObjectId),
}

impl Held {
    /// What a field holds that refers to an object of this type and name, if that represents the absence of a value.
    #[must_use]
    pub fn of_null(tables: &Tables, type_id: TypeId, name: Option<StringId>) -> Option<Self> {
        let is_undefined = || name.is_some_and(|name| tables.string(name) == UNDEFINED);
        tables.is_null(type_id, name).then(|| if is_undefined() { Held::Undefined } else { Held::Null })
    }

    pub(crate) fn object(self) -> Option<ObjectId> {
        if let Held::Object(object) = self { Some(object) } else { None }
    }

    /// The objects that fields hold, each once, in ascending order.
    #[must_use]
    pub fn objects(held: &[Held]) -> Vec<ObjectId> {
        let mut objects: Vec<ObjectId> = held.iter().filter_map(|held| held.object()).collect();
        objects.sort_unstable();
        objects.dedup();
        objects
    }

    /// Two numbers that nothing else has that a field may hold. Equal numbers have them whatever their encodings are.
    pub(crate) fn identity(self) -> (u8, u64) {
        match self {
            Held::Missing => (0, 0),
            Held::Unknown => (1, 0),
            Held::Null => (2, 0),
            Held::Undefined => (2, 1),
            Held::Object(object) => (3, object.0.into()),
            Held::Value(value) => {
                let (encoding, code) = in_one_encoding(value).code();
                (4 + encoding as u8, code)
            }
        }
    }
}

/// A number in the encoding that it shares with those that are equal to it: a whole one is signed, another one has 64 bits.
fn in_one_encoding(value: Value) -> Value {
    let real = match value {
        Value::Unsigned(number) => return i64::try_from(number).map_or(value, Value::Signed),
        Value::Float(number) => shortest(number),
        Value::Double(number) => number,
        _ => return value,
    };
    let whole = real as i64;
    // The largest number of 64 bits is no floating-point number: the conversion would come back as the next one.
    if whole as f64 == real && whole < i64::MAX { Value::Signed(whole) } else { Value::Double(real) }
}

/// The number of leading references of an object that are searched for fields of its own: objects with more are
/// collections, whose labels are keys. This is a judgement.
pub const OWN_FIELDS: usize = 50;

/// A field of one object.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ObjectField<'r> {
    /// Its name.
    pub name: &'r str,
    /// The type that declares it: that of the object or one of its bases. `None` for a field of the object's own.
    pub declared_by: Option<TypeId>,
    /// The encoding of its values.
    pub encoding: Encoding,
    /// Its value.
    pub held: Held,
}

impl Heap {
    /// The fields of an object: those that its type declares, then those of its bases. If the object is a class, or no type
    /// declares references, as in dumps of V8 and Python, then those of its first [`OWN_FIELDS`] references whose name is
    /// unique among them.
    ///
    /// # Errors
    /// [`AnalyzerError::NoObject`], [`AnalyzerError::Section`].
    pub fn object_fields(&self, object: ObjectId) -> Result<Vec<ObjectField<'_>>> {
        let (recording, tables) = (self.recording(), self.recording().tables()?);
        let fields = recording.fields()?;
        let place = run_of_blocks(recording, self.snapshot(), object)?[0];
        let (type_id, values) =
            decode(recording, &place, ColumnSelection::Values, &mut Default::default(), |_, columns| {
                let row = (object.0 - columns.first_object) as usize;
                let (fields, codes) = columns.values.rows().nth(row).unwrap_or_default();
                let values: Vec<(FieldId, u64)> = fields.iter().copied().zip(codes.iter().copied()).collect();
                Ok((tables.shape(columns.dictionary[columns.shapes[row] as usize]).type_id, values))
            })?;
        let declared = tables.type_and_bases(type_id).flat_map(|id| fields.declared_by(id));
        let declared: Vec<(FieldId, &Field)> = declared.filter_map(|&id| Some((id, fields.get(id)?))).collect();
        let has_references = declared.iter().any(|(_, field)| field.encoding == Encoding::Reference);
        let references = if has_references { outgoing(recording, self.snapshot(), object)? } else { Vec::new() };
        // By name the number of fields that are references, and the targets of the references with this name, in order.
        let mut by_name: HashMap<&str, (usize, Vec<ObjectId>)> = HashMap::default();
        for (_, field) in declared.iter().filter(|(_, field)| field.encoding == Encoding::Reference) {
            by_name.entry(tables.string(field.name)).or_default().0 += 1;
        }
        for reference in &references {
            if let Label::Name(label) = reference.label
                && let Some((_, targets)) = by_name.get_mut(tables.string(label))
            {
                targets.push(reference.target);
            }
        }
        let mut used: HashMap<&str, usize> = HashMap::default();
        let mut found = Vec::new();
        for (id, field) in declared {
            let name = tables.string(field.name);
            let held = match (field.encoding, by_name.get(name)) {
                (Encoding::Reference, Some((count, targets))) => {
                    let at = used.entry(name).or_default();
                    *at += 1;
                    match targets.get(*at - 1) {
                        // If a field shadows another one of its name and only some of them are null, it is not recorded
                        // which.
                        _ if !targets.is_empty() && targets.len() < *count => Held::Unknown,
                        target => target.map_or(Held::Null, |&target| Held::Object(target)),
                    }
                }
                _ => {
                    let code = values.iter().find(|(field, _)| *field == id).map(|&(_, code)| code);
                    let value = code.and_then(|code| Value::of_code(field.encoding, code));
                    value.map_or(Held::Unknown, Held::Value)
                }
            };
            if !field.is_optional || held != Held::Unknown {
                found.push(ObjectField { name, declared_by: Some(field.type_id), encoding: field.encoding, held });
            }
        }
        // The names of references of a collection belong to its entries.
        let has_entries =
            tables.type_and_bases(type_id).any(|id| tables.type_attributes(id).any(|(key, _)| key == "entries"));
        let is_class = tables.kind_role(tables.type_kind(type_id)) == KindRole::Type;
        if is_class || !fields.all().any(|(_, field)| field.encoding == Encoding::Reference) && !has_entries {
            let own = self.own_fields(object, &found)?;
            found.extend(own);
        }
        tables.check_strings()?;
        Ok(found)
    }

    /// The fields from the first references of an object whose names are unique among them and not those of `known` fields.
    fn own_fields(&self, object: ObjectId, known: &[ObjectField<'_>]) -> Result<Vec<ObjectField<'_>>> {
        let tables = self.recording().tables()?;
        let (own, _) = outgoing_page(self.recording(), self.snapshot(), object, 0, OWN_FIELDS)?;
        // A repeated name is that of elements.
        let mut uses: HashMap<Label, usize> = HashMap::default();
        own.iter().for_each(|reference| *uses.entry(reference.label).or_insert(0) += 1);
        let fields = own.into_iter().filter_map(|reference| {
            let Label::Name(name) = reference.label else { return None };
            let name = tables.string(name);
            let is_own = uses[&reference.label] == 1 && !known.iter().any(|field| field.name == name);
            let (encoding, held) = (Encoding::Reference, Held::Object(reference.target));
            is_own.then_some(ObjectField { name, declared_by: None, encoding, held })
        });
        Ok(fields.collect())
    }

    /// The value of the field at the end of the path for each object of the set, in their order. An object that represents a
    /// text or a number is replaced by it. If a reference on the way is null, the result is null.
    ///
    /// Time: for each name a pass over the blocks that may hold objects of the set. Memory: 16 bytes for each object.
    ///
    /// # Errors
    /// [`AnalyzerError::NoField`] if no object has such a field, [`AnalyzerError::Section`], [`AnalyzerError::Cancelled`].
    pub fn field_column(&self, set: &ObjectSet, path: &FieldPath, progress: &dyn Progress) -> Result<Vec<Held>> {
        let leads = self.path_column(set, path, progress).map_err(|error| path.place(error))?;
        self.resolved(&leads, progress)
    }

    /// What a path leads to, with the values that objects represent in their place.
    pub(crate) fn resolved(&self, leads: &[Held], progress: &dyn Progress) -> Result<Vec<Held>> {
        let resolved = self.through(leads, |targets| self.stand_for(targets, progress))?;
        // Without contents the set of fields is unknown.
        let absent = if self.recording().has_contents()? { Held::Missing } else { Held::Unknown };
        let values = leads.iter().zip(resolved).map(|(&held, resolved)| match (held, resolved) {
            (Held::Missing, Held::Missing) => absent,
            // An object that represents nothing else stays that object.
            (held, Held::Missing) => held,
            (_, resolved) => resolved,
        });
        Ok(values.collect())
    }

    /// The same, with objects as they are.
    pub(crate) fn path_column(&self, set: &ObjectSet, path: &FieldPath, progress: &dyn Progress) -> Result<Vec<Held>> {
        let mut steps = path.steps().iter().enumerate();
        let Some((at, first)) = steps.next() else { return Ok(Vec::new()) };
        let mut column = self.one_step(set, first, path.declaration(at), progress)?;
        for (at, step) in steps {
            column = self
                .through(&column, |targets| self.null_objects(targets, progress))?
                .into_iter()
                .zip(column)
                .map(|(meaning, held)| if matches!(meaning, Held::Null | Held::Undefined) { meaning } else { held })
                .collect();
            let targets = Held::objects(&column);
            // Also looked for where no reference leads to an object that could have it.
            let of_target = self.one_step(&self.set_of(&targets), step, path.declaration(at), progress)?;
            column = next_step(&column, &targets, &of_target, self.computing(progress)?);
        }
        Ok(column)
    }

    /// What a step of a path leads to from each object of the set.
    fn one_step(
        &self,
        set: &ObjectSet,
        step: &PathStep,
        declaration: Declaration,
        progress: &dyn Progress,
    ) -> Result<Vec<Held>> {
        match step {
            PathStep::Field(name) => {
                self.or_elsewhere(set, name, self.one_field(set, name, declaration, progress), progress)
            }
            PathStep::Key(key) => self.values_under(set, key, progress),
        }
    }

    /// A column in which each object is replaced by the result of `next` for it. Null and unknown values stay; other values
    /// have no fields, so they become missing.
    fn through(&self, column: &[Held], next: impl FnOnce(&ObjectSet) -> Result<Vec<Held>>) -> Result<Vec<Held>> {
        let targets = Held::objects(column);
        let of_target = if targets.is_empty() { Vec::new() } else { next(&self.set_of(&targets))? };
        Ok(next_step(column, &targets, &of_target, None))
    }

    /// The value of the field of this name for each object of the set.
    fn one_field(
        &self,
        set: &ObjectSet,
        name: &str,
        declaration: Declaration,
        progress: &dyn Progress,
    ) -> Result<Vec<Held>> {
        let named = NamedField::declared_by(self.recording(), name, declaration)?;
        if set.is_empty() {
            return Ok(Vec::new());
        }
        let column = self.fields_at_once(&[(set, &named)], progress)?.remove(0);
        if !named.is_certain() && column.iter().all(|held| *held == Held::Missing) {
            self.collect(&named, name, progress, |_| Some(false))?;
        }
        Ok(column)
    }

    /// The value of any field of the path's only name for each object of the set, if several fields have the name.
    pub(crate) fn any_field(&self, set: &ObjectSet, path: &FieldPath, progress: &dyn Progress) -> Result<Vec<Held>> {
        let (name, declaration) = (path.name_at(0).unwrap_or_default(), path.declaration(0));
        let named = NamedField::declared_by(self.recording(), name, declaration)?.or_any();
        Ok(self.fields_at_once(&[(set, &named)], progress)?.remove(0))
    }

    /// The values of several fields, each for the objects of its own set, in one pass over the blocks that may hold any of
    /// these.
    fn fields_at_once(
        &self,
        asked: &[(&ObjectSet, &NamedField<'_>)],
        progress: &dyn Progress,
    ) -> Result<Vec<Vec<Held>>> {
        let (recording, tables) = (self.recording(), self.recording().tables()?);
        let mut places = places(recording, &[self.snapshot()])?;
        places.retain(|place| asked.iter().any(|(set, _)| may_be_in(set, place)));
        // Decoding references takes most of the time, and often only objects outside the sets have such a reference.
        let (may_refer, holds_values) =
            (asked.iter().any(|(_, named)| named.may_refer()), asked.iter().any(|(_, named)| named.holds_values()));
        begin(progress, "reading fields", &places, ColumnSelection::Values);
        let parts = in_parallel(&places, ColumnSelection::Values, progress, |place, workspace| {
            let of_block = asked.iter().enumerate().filter(|(_, (set, _))| may_be_in(set, place));
            let mut wanted = if may_refer && !holds_values { ColumnSelection::All } else { ColumnSelection::Values };
            if may_refer
                && holds_values
                && decode(recording, place, ColumnSelection::Sizes, workspace, |_, columns| {
                    let mut of_block = of_block.clone();
                    Ok(of_block.any(|(_, (set, named))| named.needs_references(columns, tables, |id| set.contains(id))))
                })?
            {
                wanted = ColumnSelection::All;
            }
            decode(recording, place, wanted, workspace, |_, columns| {
                let mut parts = vec![Vec::new(); asked.len()];
                for (at, (set, named)) in of_block {
                    let part = &mut parts[at];
                    named.visit(
                        columns,
                        tables,
                        |object| set.contains(object),
                        |object, held| part.push((object, held)),
                    );
                }
                Ok(parts)
            })
        })?;
        let mut found = vec![(Vec::new(), None); asked.len()];
        for (at, part) in parts.into_iter().flat_map(|parts| parts.into_iter().enumerate()) {
            let (column, last) = &mut found[at];
            for (object, held) in part {
                if *last != Some(object) {
                    column.push(held);
                    *last = Some(object);
                } else if let (Some(before @ (Held::Null | Held::Missing)), Held::Object(_)) = (column.last_mut(), held)
                {
                    // References of an object go on in further blocks.
                    *before = held;
                }
            }
        }
        tables.check_strings()?;
        Ok(found.into_iter().map(|(column, _)| column).collect())
    }

    /// The values at the ends of several paths, each for the objects of its own set, with one pass for each step of the
    /// longest path, which has no keys. A field that no object has is missing. Objects are not replaced by the values they represent.
    pub(crate) fn paths_at_once(
        &self,
        asked: &[(&ObjectSet, &FieldPath)],
        progress: &dyn Progress,
    ) -> Result<Vec<Vec<Held>>> {
        let mut columns: Vec<Vec<Held>> =
            asked.iter().map(|(set, _)| vec![Held::Missing; set.len() as usize]).collect();
        let steps = asked.iter().map(|(_, path)| path.steps().len()).max().unwrap_or(0);
        for step in 0..steps {
            // The columns whose paths have this step: their positions, the objects, and the field.
            let mut going: Vec<(usize, Cow<'_, ObjectSet>, NamedField<'_>)> = Vec::new();
            for (at, &(set, path)) in asked.iter().enumerate() {
                let Some(name) = path.name_at(step) else { continue };
                let declaration = path.declaration(step);
                let targets = match step {
                    0 => Cow::Borrowed(set),
                    _ => Cow::Owned(self.set_of(&Held::objects(&columns[at]))),
                };
                if targets.is_empty() {
                    columns[at] = next_step(&columns[at], &[], &[], None);
                    continue;
                }
                match NamedField::declared_by(self.recording(), name, declaration) {
                    Ok(named) => going.push((at, targets, named)),
                    // A null or unknown value on the way stays so, even if no object has the field.
                    Err(AnalyzerError::NoField { .. }) => columns[at] = next_step(&columns[at], &[], &[], None),
                    Err(error) => return Err(error),
                }
            }
            let requests: Vec<_> = going.iter().map(|(_, targets, named)| (&**targets, named)).collect();
            let found = self.fields_at_once(&requests, progress)?;
            let computing = if step > 0 { self.computing(progress)? } else { None };
            for ((at, targets, _), of_target) in going.iter().zip(found) {
                columns[*at] = match step {
                    0 => of_target,
                    _ => next_step(&columns[*at], &targets.iter().collect::<Vec<_>>(), &of_target, computing),
                };
            }
        }
        Ok(columns)
    }

    /// The set of objects that are in ascending order.
    pub(crate) fn set_of(&self, objects: &[ObjectId]) -> ObjectSet {
        ObjectSet::from_sorted(self.snapshot(), self.object_count(), objects.iter().copied())
    }
}

/// A column in which each object is replaced by its element of `of_target`, which is in the order of `targets`. Null and
/// unknown values stay; other values have no fields, so they become missing. Fields of objects that are `computing` are
/// unknown.
fn next_step(column: &[Held], targets: &[ObjectId], of_target: &[Held], computing: Option<&ObjectSet>) -> Vec<Held> {
    let next = column.iter().map(|held| match held {
        Held::Object(target) if computing.is_some_and(|computing| computing.contains(*target)) => Held::Unknown,
        Held::Object(target) => targets.binary_search(target).map_or(Held::Missing, |at| of_target[at]),
        Held::Value(_) => Held::Missing,
        other => *other,
    });
    next.collect()
}

fn may_be_in(set: &ObjectSet, place: &BlockPlace) -> bool {
    set.may_hold_any(ObjectId(place.entry.first_object), place.entry.objects.max(1))
}
