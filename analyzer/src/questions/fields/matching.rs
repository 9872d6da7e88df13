//! The objects whose fields pass a test.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use barrow_expressions::{FieldTest, PathStep};
use barrow_format::block::ColumnSelection;
use barrow_format::rows::{Encoding, Value};
use barrow_format::{ObjectId, TypeId};
use foldhash::HashMap;

use super::named::{NamedField, no_field};
use super::value_predicate::{HeldTest, compares_objects, is_of_absence, nothing_holds};
use super::{FieldPath, Held, Tested, UNDEFINED};
use crate::columns::atomic::atomics;
use crate::error::{AnalyzerError, Result};
use crate::file::blocks::{begin, map_blocks, places};
use crate::file::tables::{NULL, Tables};
use crate::graph::object_set::{BITS, ObjectSet};
use crate::heap::Heap;
use crate::heap::nulls::Nulls;
use crate::progress::Progress;
use crate::questions::lines::Line;

impl Heap {
    /// The objects for which the field at the end of a path passes a test, and those for which this is not known. Of others than
    /// `possible`, if that is given, nothing need be found out.
    ///
    /// Time: for each name of the path a pass over all objects, and one over those that fields refer to.
    ///
    /// # Errors
    /// [`AnalyzerError::NoField`], [`AnalyzerError::OtherValues`], [`AnalyzerError::Section`],
    /// [`AnalyzerError::Cancelled`].
    pub(crate) fn field_matches(
        &self,
        path: &FieldPath,
        test: &FieldTest,
        possible: Option<&ObjectSet>,
        progress: &dyn Progress,
    ) -> Result<Tested> {
        let elsewhere = self.with_fields_elsewhere(progress)?;
        let found = match path.has_keys() {
            true => self.column_matches(path, test, possible, elsewhere.as_ref(), progress),
            false => match elsewhere {
                Some(elsewhere) => self.matches_there_too(path, test, &elsewhere, progress),
                None => self.named_matches(path, test, progress),
            },
        };
        found.map_err(|error| path.place(error))
    }

    /// The same where some objects keep fields `elsewhere`.
    fn matches_there_too(
        &self,
        path: &FieldPath,
        test: &FieldTest,
        elsewhere: &ObjectSet,
        progress: &dyn Progress,
    ) -> Result<Tested> {
        let found = self.column_matches(path, test, None, Some(elsewhere), progress)?;
        if !found.passing.is_empty() || is_of_absence(test) {
            return Ok(found);
        }
        // What objects have themselves may be of another kind than what it is compared with, which is an error.
        match self.named_matches(path, test, progress) {
            Ok(_) | Err(AnalyzerError::NoField { .. }) => Ok(found),
            refused => refused,
        }
    }

    /// The objects for which what a path with keys leads to passes a test, or what any path leads to if some objects keep
    /// fields `elsewhere`.
    fn column_matches(
        &self,
        path: &FieldPath,
        test: &FieldTest,
        possible: Option<&ObjectSet>,
        elsewhere: Option<&ObjectSet>,
        progress: &dyn Progress,
    ) -> Result<Tested> {
        self.require_numbers(test)?;
        let begins_with_key = path.name_at(0).is_none();
        let mut starts = match test {
            FieldTest::Unknown { .. } if begins_with_key => self.all_objects(),
            _ => self.starts(path, elsewhere, progress)?,
        };
        possible.into_iter().for_each(|possible| starts.intersect_with(possible));
        let column = self.path_column(&starts, path, progress)?;
        let nulls = self.nulls(progress)?;
        let referred = self.set_of(&Held::objects(&column));
        let held_test = HeldTest::new(self, test, nulls, Some(&referred), progress)?;
        let mut tested = Tested::none(self);
        starts.iter().zip(column).for_each(|(object, held)| tested.add(object, held_test.holds(held)));
        if begins_with_key && !matches!(test, FieldTest::Unknown { .. }) {
            tested.unknown.union_with(&self.perhaps_maps(possible, nulls, progress)?);
        }
        Ok(tested)
    }

    /// The objects of which it is not known whether they are maps: all `possible` ones but those whose type says where their
    /// entries are, texts, numbers and null.
    fn perhaps_maps(&self, possible: Option<&ObjectSet>, nulls: &Nulls, progress: &dyn Progress) -> Result<ObjectSet> {
        let mut perhaps = possible.cloned().unwrap_or_else(|| self.all_objects());
        perhaps.difference_with(&self.with_entries(progress)?);
        if perhaps.is_empty() {
            return Ok(perhaps);
        }
        perhaps.difference_with(&self.standing_for(|_| Some(true), progress)?.passing);
        [&nulls.null, &nulls.undefined].into_iter().for_each(|set| perhaps.difference_with(set));
        Ok(perhaps)
    }

    /// The objects from which a path may lead to something: those with the first field, or that may have it `elsewhere`; or
    /// all that the first key may be of.
    fn starts(&self, path: &FieldPath, elsewhere: Option<&ObjectSet>, progress: &dyn Progress) -> Result<ObjectSet> {
        let name = match path.steps().first() {
            Some(PathStep::Key(key)) => return self.maps(key, progress),
            _ => path.name_at(0).unwrap_or_default(),
        };
        let own = NamedField::find(self.recording(), name)
            .and_then(|field| self.collect(&field, name, progress, |held| Some(held != Held::Missing)));
        match (own, elsewhere) {
            (Err(AnalyzerError::NoField { .. }), Some(elsewhere)) => Ok(elsewhere.clone()),
            (own, elsewhere) => {
                let mut starts = own?.passing;
                elsewhere.into_iter().for_each(|elsewhere| starts.union_with(elsewhere));
                Ok(starts)
            }
        }
    }

    /// The objects that represent a value that was not recorded.
    pub(crate) fn unrecorded(&self, progress: &dyn Progress) -> Result<&ObjectSet> {
        self.unrecorded.get_or_compute(|| Ok(self.standing_for(|_| Some(false), progress)?.unknown))
    }

    /// The objects for which the field at the end of a path without keys passes a test.
    fn named_matches(&self, path: &FieldPath, test: &FieldTest, progress: &dyn Progress) -> Result<Tested> {
        let mut names = (0..).map_while(|step| path.name_at(step)).collect::<Vec<_>>();
        let last = names.pop().unwrap_or_default();
        // As a text, the name of `None` would pass.
        let nulls = match is_of_absence(test) || matches!(test, FieldTest::Text(_) | FieldTest::Time(_, Some(_))) {
            true => self.nulls(progress)?.clone(),
            false => {
                let none = ObjectSet::new(self.snapshot(), self.object_count());
                Nulls { null: none.clone(), undefined: none }
            }
        };
        let mut matching = self.passing(last, test, &nulls, progress)?;
        let is_doubtful =
            [&matching.passing, &matching.unknown].iter().all(|set| set.is_empty()) && !is_of_absence(test);
        for name in names.into_iter().rev() {
            let field = NamedField::find(self.recording(), name)?;
            let computing = self.computing(progress)?;
            // What is null, undefined or unknown on the way is so at the end of the path.
            matching = self.collect(&field, name, progress, |held| {
                match held.object().and_then(|target| nulls.held(target)).unwrap_or(held) {
                    Held::Object(target) if computing.is_some_and(|computing| computing.contains(target)) => {
                        nothing_holds(test, Held::Unknown)
                    }
                    Held::Object(target) => matching.passes(target),
                    Held::Missing | Held::Value(_) => Some(false),
                    held => nothing_holds(test, held),
                }
            })?;
        }
        if is_doubtful {
            self.require_comparable(last, test, progress)?;
        }
        Ok(matching)
    }

    /// The objects that represent the absence of a value, such as `None` of Python, according to attributes of types.
    pub(crate) fn nulls(&self, progress: &dyn Progress) -> Result<&Nulls> {
        self.nulls.get_or_compute(|| self.find_nulls(progress))
    }

    fn find_nulls(&self, progress: &dyn Progress) -> Result<Nulls> {
        let tables = self.recording().tables()?;
        let names = names_of_null(tables);
        let none = ObjectSet::new(self.snapshot(), self.object_count());
        let mut nulls = Nulls { null: none.clone(), undefined: none };
        if names.is_empty() {
            return Ok(nulls);
        }
        let places = places(self.recording(), &[self.snapshot()])?;
        begin(progress, "reading names of null", &places, ColumnSelection::Identity);
        let parts = map_blocks(self.recording(), &places, ColumnSelection::Identity, progress, |_, _, columns| {
            let of_shapes = columns.dictionary.iter().map(|&shape| names.get(&tables.shape(shape).type_id));
            let of_shapes: Vec<_> = of_shapes.collect();
            let found = (0..columns.objects()).filter_map(|row| {
                let wanted = of_shapes[columns.shapes[row] as usize]?;
                let name = tables.string(columns.names.get(row).copied().flatten()?);
                let object = ObjectId(columns.first_object + row as u32);
                wanted.contains(&name).then_some((object, name == UNDEFINED))
            });
            Ok(found.collect::<Vec<_>>())
        })?;
        tables.check_strings()?;
        for (object, is_undefined) in parts.into_iter().flatten() {
            (if is_undefined { &mut nulls.undefined } else { &mut nulls.null }).insert(object);
        }
        Ok(nulls)
    }

    /// The objects for which the field of this name passes a test.
    fn passing(&self, name: &str, test: &FieldTest, nulls: &Nulls, progress: &dyn Progress) -> Result<Tested> {
        let field = NamedField::find(self.recording(), name)?;
        if is_of_absence(test) && !self.recording().has_contents()? {
            // A null cannot be told from an unknown value, nor its object from any other one.
            let is_told = match test {
                FieldTest::Null { negated: true } | FieldTest::Undefined { negated: true } => {
                    names_of_null(self.recording().tables()?).is_empty()
                }
                _ => false,
            };
            if !is_told {
                return Err(no_field(self.recording(), name)?);
            }
        }
        let kinds: Vec<Kind> = field.encodings().map(Kind::of).collect();
        if !field.is_reference() && !kinds.iter().any(|kind| kind.is_comparable(test)) {
            return Err(AnalyzerError::OtherValues { name: name.to_owned(), held: described(kinds.into_iter()) });
        }
        self.require_numbers(test)?;
        let referred = match field.may_refer() && compares_objects(test) {
            true => Some(self.referred(&field, name, progress)?),
            false => None,
        };
        let held_test = HeldTest::new(self, test, nulls, referred.as_ref(), progress)?;
        let found = self.collect(&field, name, progress, |held| held_test.holds(held))?;
        // Without contents, references to texts and numbers are known, but not their values.
        if held_test.compares_objects()
            && !is_of_absence(test)
            && found.passing.is_empty()
            && !self.recording().has_contents()?
        {
            return Err(no_field(self.recording(), name)?);
        }
        Ok(found)
    }

    /// Requires original numbers if they are compared by size.
    fn require_numbers(&self, test: &FieldTest) -> Result<()> {
        match matches!(test, FieldTest::Number(test) if !test.is_equality())
            && self.recording().has_replaced_numbers()?
        {
            true => Err(AnalyzerError::ReplacedNumbers),
            false => Ok(()),
        }
    }

    /// Requires that the field of this name refers to an object that represents a value of the kind that the test compares,
    /// unless it refers to no object.
    fn require_comparable(&self, name: &str, test: &FieldTest, progress: &dyn Progress) -> Result<()> {
        let field = NamedField::find(self.recording(), name)?;
        if !field.may_refer() || field.encodings().any(|encoding| Kind::of(encoding).is_comparable(test)) {
            return Ok(());
        }
        let is_of_texts = matches!(test, FieldTest::Text(_));
        let mut lines: BTreeMap<Kind, ObjectSet> = BTreeMap::new();
        self.each_line(Some(&self.referred(&field, name, progress)?), progress, &mut |object, line| {
            let kind = Kind::of_line(&line);
            // Each line is a text, too.
            for kind in [Some(kind), (is_of_texts && kind != Kind::Texts).then_some(Kind::Texts)].into_iter().flatten()
            {
                lines
                    .entry(kind)
                    .or_insert_with(|| ObjectSet::new(self.snapshot(), self.object_count()))
                    .insert(object);
            }
        })?;
        // Null may be an object that has a name, which is no text that somebody compares with.
        let nulls = self.nulls(progress)?;
        let is_value = |object: ObjectId| nulls.held(object).is_none();
        let mut kinds = Vec::new();
        for kind in [Kind::Texts, Kind::Numbers, Kind::Truths, Kind::Times] {
            let mut set = self.standing_for(|value| Some(Kind::of_value(value) == kind), progress)?.passing;
            if let Some(lines) = lines.get(&kind) {
                set.union_with(lines);
            }
            let is_in_set =
                |held: Held| Some(held.object().is_some_and(|object| set.contains(object) && is_value(object)));
            if !self.collect(&field, name, progress, is_in_set)?.passing.is_empty() {
                kinds.push(kind);
            }
        }
        if kinds.iter().any(|kind| kind.is_comparable(test))
            || self
                .collect(&field, name, progress, |held| Some(held.object().is_some_and(is_value)))?
                .passing
                .is_empty()
        {
            return Ok(());
        }
        let held = match kinds.is_empty() {
            true => "objects that are no texts or numbers, as far as this is recorded",
            false => described(kinds.into_iter().chain(field.encodings().map(Kind::of))),
        };
        Err(AnalyzerError::OtherValues { name: name.to_owned(), held })
    }

    /// The objects that the field of this name refers to.
    fn referred(&self, field: &NamedField<'_>, name: &str, progress: &dyn Progress) -> Result<ObjectSet> {
        let mut referred = ObjectSet::new(self.snapshot(), self.object_count());
        let words = atomics(referred.words_mut());
        self.collect(field, name, progress, |held| {
            if let Some(target) = held.object() {
                // Relaxed: read after the threads have ended.
                words[target.index() / BITS].fetch_or(1 << (target.index() % BITS), Ordering::Relaxed);
            }
            Some(false)
        })?;
        Ok(referred)
    }

    /// The objects for which the value of the field of this name passes, and those for which this is not known.
    ///
    /// # Errors
    /// [`AnalyzerError::NoField`] if no object has the field.
    pub(super) fn collect(
        &self,
        field: &NamedField<'_>,
        name: &str,
        progress: &dyn Progress,
        passes: impl Fn(Held) -> Option<bool> + Sync,
    ) -> Result<Tested> {
        let (recording, tables) = (self.recording(), self.recording().tables()?);
        let places = places(recording, &[self.snapshot()])?;
        let is_met = AtomicBool::new(field.is_certain());
        begin(progress, "reading fields", &places, field.wanted());
        let parts = map_blocks(recording, &places, field.wanted(), progress, |_, _, columns| {
            let (mut found, is_continuation) = (Vec::new(), columns.objects() == 0);
            let mut is_met_here = false;
            field.visit(
                columns,
                tables,
                |_| true,
                |object, held| {
                    // A continuation adds references to its object and nothing else.
                    let is_reference = matches!(held, Held::Object(_));
                    is_met_here |= held != Held::Missing;
                    if is_reference || !is_continuation {
                        let passes = passes(held);
                        if passes != Some(false) {
                            found.push((object, passes));
                        }
                    }
                },
            );
            // Relaxed: read after the threads have ended.
            is_met.fetch_or(is_met_here, Ordering::Relaxed);
            Ok(found)
        })?;
        tables.check_strings()?;
        if !is_met.into_inner() {
            return Err(no_field(recording, name)?);
        }
        let mut tested = Tested::none(self);
        parts.into_iter().flatten().for_each(|(object, passes)| tested.add(object, passes));
        Ok(tested.settled())
    }
}

/// What fields hold, as far as tests tell it apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Texts,
    Characters,
    Numbers,
    Truths,
    Times,
    Objects,
}

impl Kind {
    fn of(encoding: Encoding) -> Self {
        match encoding {
            Encoding::Text => Kind::Texts,
            Encoding::Character => Kind::Characters,
            Encoding::Boolean => Kind::Truths,
            Encoding::Reference => Kind::Objects,
            Encoding::Unsigned | Encoding::Signed | Encoding::Float | Encoding::Double => Kind::Numbers,
        }
    }

    /// The kind of a value that an object represents.
    fn of_value(value: Value) -> Self {
        match value {
            Value::Text(_) | Value::Character(_) => Kind::Texts,
            Value::Boolean(_) => Kind::Truths,
            Value::Unsigned(_) | Value::Signed(_) | Value::Float(_) | Value::Double(_) => Kind::Numbers,
        }
    }

    fn of_line(line: &Line) -> Self {
        if line.number().is_some() {
            Kind::Numbers
        } else if line.time().is_some() {
            Kind::Times
        } else {
            Kind::Texts
        }
    }

    /// Returns whether such values can pass a test.
    fn is_comparable(self, test: &FieldTest) -> bool {
        match test {
            FieldTest::Boolean(_) => self == Kind::Truths,
            FieldTest::Number(_) => !matches!(self, Kind::Truths | Kind::Texts | Kind::Times),
            FieldTest::Text(_) => matches!(self, Kind::Texts | Kind::Characters),
            FieldTest::Time(_, None) => self == Kind::Times,
            FieldTest::Time(_, Some(_)) => matches!(self, Kind::Texts | Kind::Characters | Kind::Times),
            FieldTest::Null { .. } | FieldTest::Undefined { .. } | FieldTest::Unknown { .. } => true,
        }
    }

    fn described(self) -> &'static str {
        match self {
            Kind::Texts => "texts",
            Kind::Characters | Kind::Numbers => "numbers",
            Kind::Truths => "true or false",
            Kind::Times => "dates or times",
            Kind::Objects => "objects",
        }
    }
}

/// The names of the objects that represent the absence of a value, for each type that has some.
fn names_of_null(tables: &Tables) -> HashMap<TypeId, Vec<&str>> {
    let of_type = |id| tables.type_attributes(id).filter(|(key, _)| *key == NULL).map(|(_, name)| name).collect();
    let types = (0..tables.type_count() as u32).map(TypeId).map(|id| (id, of_type(id)));
    types.filter(|(_, names): &(_, Vec<&str>)| !names.is_empty()).collect()
}

/// The contents of fields, in words.
fn described(kinds: impl Iterator<Item = Kind>) -> &'static str {
    let mut kinds: Vec<&str> = kinds.map(Kind::described).collect();
    kinds.sort_unstable();
    kinds.dedup();
    if let [kind] = kinds[..] { kind } else { "other values" }
}
