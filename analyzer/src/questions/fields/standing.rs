//! The values that objects represent: strings their text, boxed numbers the number, constants of an enumeration their name.
//!
//! ```text
//!   its type has the attribute `null`, with the object's name ────▶ null, as `None` does in Python
//!   its type, or a base, `value of` ─▶ the field ─────────────────▶ its value, if that is known
//!   the object has a text of its own ─────────────────────────────▶ that
//!   its type, or a base, `named by` ───────▶ the reference ──▶ the text of its target
//! ```

use std::sync::atomic::Ordering;

use barrow_format::block::{BlockColumns, ColumnSelection};
use barrow_format::rows::{Encoding, Field, KindRole, Value};
use barrow_format::{FieldId, ObjectId, StringId, TypeId};
use foldhash::{HashMap, HashSet};

use super::path::Declaration;
use super::{Held, Tested, ValuePredicate};
use crate::columns::atomic::atomics;
use crate::error::{AnalyzerError, Result};
use crate::file::blocks::{begin, map_blocks, places};
use crate::file::fields::Fields;
use crate::file::object::objects;
use crate::file::strings::StringAnswers;
use crate::file::tables::{NULL, Tables};
use crate::graph::object_set::{BITS, ObjectSet};
use crate::heap::Heap;
use crate::progress::Progress;
use crate::questions::texts::holds_text;

/// The attribute of a type with the name of the field that holds the value of its objects.
const VALUE_OF: &str = "value of";
/// The attribute of a type with the name of the reference to the name of its objects.
const NAMED_BY: &str = "named by";

/// The attribute of a type of strings, which have their text as their name.
const TEXT_OF: &str = "text of";

/// The attribute of a type with the name of objects that stand where a value is computed.
pub(crate) const COMPUTED: &str = "computed";

/// Types and kinds whose objects are numbers or times in any runtime: where no value is recorded, it is not known.
const NUMBER_TYPES: [&str; 10] = [
    "int",
    "float",
    "decimal.Decimal",
    "fractions.Fraction",
    "datetime.time",
    "datetime.timedelta",
    "Integer",
    "Float",
    "Rational",
    "BigDecimal",
];
const NUMBER_KINDS: [&str; 2] = ["number", "bigint"];

/// Returns whether objects of a type are numbers.
fn holds_number(tables: &Tables, id: TypeId) -> bool {
    let kind = tables.type_kind(id);
    tables.kind_role(kind) == KindRole::Object
        && (NUMBER_KINDS.contains(&tables.kind_name(kind))
            || tables.type_and_bases(id).any(|id| NUMBER_TYPES.contains(&tables.type_name(id))))
}

/// Returns whether objects of a type are texts themselves. Others may only be named by one, as functions are.
pub(crate) fn are_texts(tables: &Tables, id: TypeId) -> bool {
    holds_text(tables, id) || tables.type_and_bases(id).any(|id| tables.type_attribute(id, TEXT_OF).is_some())
}

/// The objects that represent a value, by what is known of it; others represent none.
pub(crate) struct Standing {
    /// The value passes a test.
    pub(crate) passing: ObjectSet,
    /// It does not.
    pub(crate) failing: ObjectSet,
    /// It is not known.
    pub(crate) unknown: ObjectSet,
}

/// The field with the value of objects.
#[derive(Debug, Clone, Copy)]
struct ValueField {
    id: FieldId,
    encoding: Encoding,
    /// Not all objects of the type have it.
    is_optional: bool,
    /// It is true or false, and a number as well: a base of its type has a number, as `int` of Python is of `bool`.
    is_number_too: bool,
}

impl ValueField {
    /// Returns whether the text of an object of the type is no value of it, as that of a number with too many digits.
    fn has_no_texts(&self) -> bool {
        !self.is_optional && self.encoding != Encoding::Text
    }
}

/// A value that an object represents, or what is known of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Meant {
    Known(Value),
    /// True or false, and 1 or 0 as well.
    KnownTruth(bool),
    /// Only the name of the object is known; the value would be of this encoding.
    Called(Value, Encoding),
    /// It is of this encoding, if that is known.
    Unknown(Option<Encoding>),
}

/// The types whose objects represent values.
pub(super) struct ValueTypes<'r> {
    tables: &'r Tables,
    /// For each type whose objects have their value in a field, this field.
    values: HashMap<TypeId, ValueField>,
    /// For each type whose objects have their name in another object, the reference to that.
    names: HashMap<TypeId, &'r str>,
    /// The types of which some objects represent the absence of a value.
    nulls: HashSet<TypeId>,
    /// Tells for the name of an object whether it stands where a value is computed.
    computed: Option<StringAnswers<'r>>,
    /// The types of texts and numbers, and those whose objects have their value in a field.
    always: HashSet<TypeId>,
}

impl<'r> ValueTypes<'r> {
    pub(super) fn find(heap: &'r Heap) -> Result<Self> {
        let (tables, fields) = (heap.recording().tables()?, heap.recording().fields()?);
        let (mut values, mut names) = (HashMap::default(), HashMap::default());
        let mut nulls = HashSet::default();
        let types = if fields.is_empty() { 0 } else { tables.type_count() };
        for id in (0..types as u32).map(TypeId) {
            let named_by = tables.type_and_bases(id).find_map(|id| tables.type_attribute(id, NAMED_BY));
            names.extend(named_by.map(|name| (id, name)));
            // Constants of an enumeration are called by their names, also those that are numbers.
            let line = tables.type_and_bases(id).take(if named_by.is_some() { 1 } else { usize::MAX });
            let field = line.into_iter().find_map(|id| {
                let name = tables.type_attribute(id, VALUE_OF)?;
                Some(value_field(tables, fields, id, name))
            });
            values.extend(field.flatten().map(|field| (id, field)));
            if tables.type_attribute(id, NULL).is_some() {
                nulls.insert(id);
            }
        }
        let has_value = |id: TypeId| [VALUE_OF, TEXT_OF].iter().any(|key| tables.type_attribute(id, key).is_some());
        let is_always = |&id: &TypeId| {
            let is_called = names.contains_key(&id);
            let mut chain = tables.type_and_bases(id).take(if is_called { 1 } else { usize::MAX });
            chain.any(has_value) || holds_text(tables, id) || !is_called && holds_number(tables, id)
        };
        let all = || (0..tables.type_count() as u32).map(TypeId);
        let of_computed = |id| tables.type_attributes(id).filter(|&(key, _)| key == COMPUTED).map(|(_, name)| name);
        let of_computed: HashSet<&str> = all().flat_map(of_computed).collect();
        let computed = (!of_computed.is_empty()).then(|| tables.string_answers(move |text| of_computed.contains(text)));
        let always = all().filter(is_always).collect();
        Ok(ValueTypes { tables, values, names, nulls, computed, always })
    }

    /// Returns whether true and false are the numbers 1 and 0, as in Python.
    pub(super) fn truths_are_numbers(&self) -> bool {
        self.values.values().any(|field| field.is_number_too)
    }

    /// The columns that values of objects are found in.
    pub(super) fn wanted(&self) -> ColumnSelection {
        if self.values.is_empty() { ColumnSelection::Identity } else { ColumnSelection::Values }
    }

    /// Null or undefined, if the object in a row represents the absence of a value.
    fn null(&self, columns: &BlockColumns, row: usize) -> Option<Held> {
        let type_id = Some(self.type_of(columns, row)).filter(|type_id| self.nulls.contains(type_id))?;
        Held::of_null(self.tables, type_id, columns.names.get(row).copied().flatten())
    }

    /// The value that the object in a row has itself, not in a target of its references.
    fn own(&self, columns: &BlockColumns, row: usize, fields: &[FieldId], codes: &[u64]) -> Option<Value> {
        let type_id = self.type_of(columns, row);
        if self.is_computed(columns, row) {
            return None;
        }
        let field = self.values.get(&type_id);
        let value = field.and_then(|of| {
            let at = fields.iter().position(|&field| field == of.id)?;
            Value::of_code(of.encoding, codes[at])
        });
        if value.is_some() || self.tables.kind_role(self.tables.type_kind(type_id)) != KindRole::Object {
            return value;
        }
        columns.names.get(row).copied().flatten().map(Value::Text)
    }

    /// What is known of the value that the object in a row has itself; `None` if it has none.
    fn meant(&self, columns: &BlockColumns, row: usize, fields: &[FieldId], codes: &[u64]) -> Option<Meant> {
        let type_id = self.type_of(columns, row);
        let field = self.values.get(&type_id);
        match self.own(columns, row, fields, codes) {
            Some(Value::Boolean(truth)) if field.is_some_and(|field| field.is_number_too) => {
                Some(Meant::KnownTruth(truth))
            }
            Some(name @ Value::Text(_)) if field.is_some_and(ValueField::has_no_texts) => {
                field.map(|field| Meant::Called(name, field.encoding))
            }
            Some(value) => Some(Meant::Known(value)),
            None => match field {
                Some(field) if !field.is_optional => Some(Meant::Unknown(Some(field.encoding))),
                _ if self.tables.type_attribute(type_id, TEXT_OF).is_some() => {
                    Some(Meant::Unknown(Some(Encoding::Text)))
                }
                _ => {
                    let is_unknown = self.always.contains(&type_id) || self.is_computed(columns, row);
                    is_unknown.then_some(Meant::Unknown(None))
                }
            },
        }
    }

    fn is_computed(&self, columns: &BlockColumns, row: usize) -> bool {
        let name = || columns.names.get(row).copied().flatten();
        self.computed.as_ref().zip(name()).is_some_and(|(computed, name)| computed.get(name))
    }

    fn type_of(&self, columns: &BlockColumns, row: usize) -> TypeId {
        self.tables.shape(columns.dictionary[columns.shapes[row] as usize]).type_id
    }

    /// The references that lead to names, each once.
    fn labels(&self) -> Vec<&'r str> {
        let mut labels: Vec<&str> = self.names.values().copied().collect();
        labels.sort_unstable();
        labels.dedup();
        labels
    }
}

/// Returns whether values of an encoding are numbers.
fn is_number(encoding: Encoding) -> bool {
    matches!(encoding, Encoding::Unsigned | Encoding::Signed | Encoding::Float | Encoding::Double)
}

/// The field with the value of objects, which `holder` declares.
fn value_field(tables: &Tables, fields: &Fields, holder: TypeId, name: &str) -> Option<ValueField> {
    let (id, row) = declared_field(tables, fields, holder, name)?;
    let is_number_too = row.encoding == Encoding::Boolean
        && tables.type_and_bases(holder).skip(1).any(|base| {
            let of_base = declared_field(tables, fields, base, name);
            of_base.is_some_and(|(_, row)| !matches!(row.encoding, Encoding::Boolean | Encoding::Reference))
        });
    Some(ValueField { id, encoding: row.encoding, is_optional: row.is_optional, is_number_too })
}

/// The field of a name that a type itself declares.
fn declared_field<'f>(tables: &Tables, fields: &'f Fields, id: TypeId, name: &str) -> Option<(FieldId, &'f Field)> {
    let mut declared = fields.declared_by(id).iter().filter_map(|&id| Some((id, fields.get(id)?)));
    declared.find(|(_, row)| tables.string(row.name) == name)
}

impl Heap {
    /// The value that each object of the set represents: the text of a string, the number of a boxed number, the name of a
    /// constant of an enumeration, null for `None` of Python; missing for the others.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`],
    /// [`AnalyzerError::Cancelled`].
    pub fn stand_for(&self, set: &ObjectSet, progress: &dyn Progress) -> Result<Vec<Held>> {
        let standing = ValueTypes::find(self)?;
        let mut column = self.own_meaning(&standing, set, true, progress)?;
        for label in standing.labels() {
            let named =
                self.objects_of_types(Some(set), |type_id| standing.names.get(&type_id) == Some(&label), progress)?;
            if named.is_empty() {
                continue;
            }
            let own = self.one_field(&named, label, Declaration::OfAttribute(NAMED_BY), progress);
            let leads = match own {
                Err(AnalyzerError::NoField { .. }) => vec![Held::Missing; named.len() as usize],
                own => own?,
            };
            let leads = self.or_called_elsewhere(&named, label, leads, progress)?;
            let names = self.through(&leads, |targets| self.own_meaning(&standing, targets, false, progress))?;
            let mut names = named.iter().zip(names).peekable();
            for (object, held) in set.iter().zip(&mut column) {
                if let Some((_, name)) = names.next_if(|&(named, _)| named == object)
                    && *held == Held::Missing
                    && let Held::Value(Value::Text(_)) = name
                {
                    *held = name;
                }
            }
        }
        Ok(column)
    }

    /// Returns whether true and false are the numbers 1 and 0, as in Python.
    pub(crate) fn truths_are_numbers(&self) -> Result<bool> {
        Ok(ValueTypes::find(self)?.truths_are_numbers())
    }

    /// Null or undefined for each object of the set that represents the absence of a value; missing for the others.
    pub(super) fn null_objects(&self, set: &ObjectSet, progress: &dyn Progress) -> Result<Vec<Held>> {
        let nulls = self.nulls(progress)?;
        Ok(set.iter().map(|object| nulls.held(object).unwrap_or(Held::Missing)).collect())
    }

    /// The text or the number that each object of the set has itself; with `has_nulls` null for one that represents the
    /// absence of a value.
    fn own_meaning(
        &self,
        standing: &ValueTypes<'_>,
        set: &ObjectSet,
        has_nulls: bool,
        progress: &dyn Progress,
    ) -> Result<Vec<Held>> {
        let mut places = places(self.recording(), &[self.snapshot()])?;
        places.retain(|place| set.may_hold_any(ObjectId(place.entry.first_object), place.entry.objects));
        begin(progress, "reading what objects stand for", &places, standing.wanted());
        let parts = map_blocks(self.recording(), &places, standing.wanted(), progress, |_, _, columns| {
            let mut held = Vec::new();
            let mut values = columns.values.rows();
            for row in 0..columns.objects() {
                let (fields, codes) = values.next().unwrap_or_default();
                if set.contains(ObjectId(columns.first_object + row as u32)) {
                    let null = if has_nulls { standing.null(columns, row) } else { None };
                    let value = || standing.own(columns, row, fields, codes).map(Held::Value);
                    held.push(null.or_else(value).unwrap_or(Held::Missing));
                }
            }
            Ok(held)
        })?;
        Ok(parts.into_iter().flatten().collect())
    }

    /// The objects that represent a value that passes a test, and those of which this is not known.
    pub(crate) fn standing_for(
        &self,
        passes: impl Fn(Value) -> Option<bool> + Sync,
        progress: &dyn Progress,
    ) -> Result<Tested> {
        let judge = |meant| match meant {
            Meant::Known(value) | Meant::Called(value, _) => passes(value),
            Meant::KnownTruth(truth) => passes(Value::Boolean(truth)),
            Meant::Unknown(_) => None,
        };
        let Standing { passing, unknown, .. } = self.standing_by(judge, progress)?;
        Ok(Tested { passing, unknown }.settled())
    }

    /// The objects that represent a value, by what `judge` says of it.
    pub(crate) fn standing_by(
        &self,
        judge: impl Fn(Meant) -> Option<bool> + Sync,
        progress: &dyn Progress,
    ) -> Result<Standing> {
        let standing = ValueTypes::find(self)?;
        let mut places = places(self.recording(), &[self.snapshot()])?;
        places.retain(|place| place.entry.objects > 0);
        begin(progress, "reading what objects stand for", &places, standing.wanted());
        let none = ObjectSet::new(self.snapshot(), self.object_count());
        let mut found = Standing { passing: none.clone(), failing: none.clone(), unknown: none };
        let [passing, failing, unknown] =
            [&mut found.passing, &mut found.failing, &mut found.unknown].map(|set| atomics(set.words_mut()));
        map_blocks(self.recording(), &places, standing.wanted(), progress, |_, _, columns| {
            let mut values = columns.values.rows();
            for row in 0..columns.objects() {
                let (fields, codes) = values.next().unwrap_or_default();
                let Some(meant) = standing.meant(columns, row, fields, codes) else { continue };
                let words = match judge(meant) {
                    Some(true) => passing,
                    Some(false) => failing,
                    None => unknown,
                };
                let object = columns.first_object as usize + row;
                // Relaxed: read after the threads have ended.
                words[object / BITS].fetch_or(1 << (object % BITS), Ordering::Relaxed);
            }
            Ok(())
        })?;
        let named = self.objects_of_types(None, |type_id| standing.names.contains_key(&type_id), progress)?;
        if !named.is_empty() {
            for (object, held) in named.iter().zip(self.stand_for(&named, progress)?) {
                let meant = match held {
                    Held::Value(value) => Meant::Known(value),
                    Held::Missing => Meant::Unknown(Some(Encoding::Text)),
                    _ => continue,
                };
                match judge(meant) {
                    Some(true) => found.passing.insert(object),
                    Some(false) => found.failing.insert(object),
                    None => found.unknown.insert(object),
                };
            }
        }
        Ok(found)
    }

    /// The objects of a set that are numbers by their types.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`], [`AnalyzerError::Cancelled`].
    pub(crate) fn number_objects(&self, set: &ObjectSet, progress: &dyn Progress) -> Result<ObjectSet> {
        let (standing, tables) = (ValueTypes::find(self)?, self.recording().tables()?);
        self.objects_of_types(Some(set), |id| standing.always.contains(&id) && !holds_text(tables, id), progress)
    }

    /// The objects of a set that are numbers, dates or times which cannot be read. None of them represents a value.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`], [`AnalyzerError::Cancelled`].
    pub(crate) fn unread_numbers(&self, set: &ObjectSet, progress: &dyn Progress) -> Result<ObjectSet> {
        let mut unread = self.number_objects(set, progress)?;
        unread.union_with(&self.measurable(Some(set), progress)?);
        Ok(unread)
    }

    /// The objects that fields hold of which it is not known what they say: texts and numbers that were not recorded or
    /// cannot be read.
    ///
    /// Time: passes over the types of these objects, and [`Heap::lines`] of those that have a template.
    ///
    /// # Errors
    /// [`AnalyzerError::Section`], [`AnalyzerError::Cancelled`].
    pub fn unread(&self, held: &[Held], progress: &dyn Progress) -> Result<ObjectSet> {
        let (set, tables) = (self.set_of(&Held::objects(held)), self.recording().tables()?);
        let mut unread = self.unread_numbers(&set, progress)?;
        unread.union_with(&self.objects_of_types(Some(&set), |id| holds_text(tables, id), progress)?);
        let mut read = ObjectSet::new(self.snapshot(), self.object_count());
        self.each_line(Some(&unread), progress, &mut |object, _| _ = read.insert(object))?;
        let meanings = self.stand_for(&unread, progress)?;
        let known = unread.iter().zip(meanings).filter(|(_, meaning)| *meaning != Held::Missing);
        known.for_each(|(object, _)| _ = read.insert(object));
        unread.difference_with(&read);
        Ok(unread)
    }

    /// The answer of a test for the objects of a set that represent a value or read as one, and for classes by their names.
    ///
    /// Time: a pass over all objects, and [`Heap::lines`] of those of the set.
    pub(super) fn representing(
        &self,
        values: &ValuePredicate<'_>,
        set: &ObjectSet,
        progress: &dyn Progress,
    ) -> Result<Tested> {
        let tables = self.recording().tables()?;
        let judge = |meant| match meant {
            Meant::Called(Value::Text(digits), encoding) if is_number(encoding) && values.is_of_numbers() => {
                values.holds_digits(tables.string(digits))
            }
            Meant::Known(value) | Meant::Called(value, _) => values.holds(value),
            Meant::KnownTruth(truth) => values.holds(Value::Boolean(truth)),
            Meant::Unknown(_) => None,
        };
        let Standing { passing, unknown, .. } = self.standing_by(judge, progress)?;
        let mut tested = Tested { passing, unknown }.settled();
        if values.excludes_texts() && !tested.unknown.is_empty() {
            // A text that is not known is no number for sure.
            let texts = self.objects_of_types(Some(&tested.unknown), |id| holds_text(tables, id), progress)?;
            tested.unknown.difference_with(&texts);
        }
        if values.is_of_truth() {
            return Ok(tested);
        }
        for (class, name) in self.classes_of(set, progress)? {
            let without_name = if values.excludes_texts() { Some(false) } else { None };
            tested.add(class, name.map_or(without_name, |name| values.holds(Value::Text(name))));
        }
        let mut read = ObjectSet::new(self.snapshot(), self.object_count());
        self.each_line(Some(set), progress, &mut |object, line| {
            tested.add(object, values.holds_line(&line));
            read.insert(object);
        })?;
        let mut unread = self.measurable(Some(set), progress)?;
        unread.difference_with(&read);
        if !unread.is_empty() {
            let meanings = self.stand_for(&unread, progress)?;
            let unread = unread.iter().zip(meanings).filter(|(_, meaning)| *meaning == Held::Missing);
            unread.for_each(|(object, _)| tested.add(object, None));
        }
        Ok(tested.settled())
    }

    /// The classes among the objects of a set, each with its name, if that is known.
    fn classes_of(&self, set: &ObjectSet, progress: &dyn Progress) -> Result<Vec<(ObjectId, Option<StringId>)>> {
        /// The type of `int.class`, too, which is no class that a JVM dumps as such.
        const CLASS_OF_JVM: &str = "java.lang.Class";
        let tables = self.recording().tables()?;
        let is_class =
            |id| tables.kind_role(tables.type_kind(id)) == KindRole::Type || tables.type_name(id) == CLASS_OF_JVM;
        let classes: Vec<ObjectId> = self.objects_of_types(Some(set), is_class, progress)?.iter().collect();
        let details = objects(self.recording(), self.snapshot(), &classes)?.into_iter();
        Ok(details.map(|class| (class.id, class.name)).collect())
    }
}
