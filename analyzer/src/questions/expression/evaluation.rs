//! Evaluates an expression on objects.
//!
//! Most expressions compare types, and most objects have one of few types. So the expression is first evaluated for
//! every type: for most types all objects match, or none. Objects of the other types are evaluated by block, with the
//! cheap terms of `and` and `or` first. Each term scans one column of the block and yields one bit for each object.
//! Names of objects are compared once for every string of the recording, and texts of sites once for every site.
//!
//! **What is not known.** A term passes, does not pass, or is unknown, and so is the whole, by the logic of Kleene:
//!
//! ```text
//!   not unknown = unknown      unknown and false = false      unknown or true = true      else unknown stays unknown
//! ```
//!
//! Two evaluations tell the three apart. One takes what is unknown for what does not pass, the other for what does;
//! `not` exchanges them. The second is made only if a term is unknown for any object.

use std::sync::Arc;

use barrow_expressions::{Pattern, TextTest};
use barrow_format::rows::KindRole;
use barrow_format::{KindId, ObjectId, SiteId, TypeId};

use super::Expression;
use super::block_objects::{BlockObjects, Sizes};
use super::needs::needs_sites;
use super::terms::{FieldTerm, Node, NumberAttribute, NumberComparison, Property, Term, TextAttribute, TextComparison};
use crate::error::Result;
use crate::file::recording::Recording;
use crate::file::sites::Sites;
use crate::file::tables::Tables;
use crate::graph::object_set::ObjectSet;
use crate::graph::partial_set::PartialSet;
use crate::questions::fields::{Tested, TextAnswers};
use crate::questions::texts::holds_text;

/// Columns that are computed from the references of all objects of a snapshot. They are read from many threads, and
/// only for objects of the snapshot.
pub(crate) trait DerivedColumns: Sync {
    /// The bytes freed if the object were collected.
    fn retained_bytes(&self, object: ObjectId) -> u64;
    /// Reads the retained bytes of `count` consecutive objects from `first` into a buffer, and returns them, if they are
    /// stored in a row.
    fn retained_in_a_row<'b>(&self, first: ObjectId, count: usize, buffer: &'b mut Vec<u32>) -> Option<&'b [u32]>;
    /// Returns whether the roots reach the object.
    fn is_reachable(&self, object: ObjectId) -> bool;
    /// The reachable ones of `count` consecutive objects from `first`, if they are known together.
    fn reachable_in_a_row(&self, first: ObjectId, count: usize) -> Option<PartialSet>;
    /// The references from the nearest root to the object: 0 for a root; `None` if it is unreachable.
    fn distance(&self, object: ObjectId) -> Option<u32>;
    /// The number of references to the object.
    fn incoming_count(&self, object: ObjectId) -> u64;
    /// Returns whether the object is the target of a root.
    fn is_root(&self, object: ObjectId) -> bool;
    /// The answer of a test of a field; `None` if the expression has no such test.
    fn tested(&self, _term: &Arc<FieldTerm>) -> Option<&Tested> {
        None
    }
}

impl Expression {
    /// Evaluates the terms that depend on types, strings and sites only, once for each of them. `columns` must have
    /// every column that the expression needs.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Section`] if the tables are damaged.
    pub(crate) fn prepare<'e, D: DerivedColumns>(
        &'e self,
        recording: &'e Recording,
        kinds: &[KindId],
        columns: &'e D,
    ) -> Result<CompiledExpression<'e, D>> {
        let tables = recording.tables()?;
        let no_sites = Sites::default();
        let sites = if needs_sites(&self.node) { recording.sites()? } else { &no_sites };
        let step = Step::of(&self.node, &Texts { tables, sites });
        let by_type = type_ids(tables).map(|id| match kinds.is_empty() || kinds.contains(&tables.type_kind(id)) {
            true => step.of_type(id),
            false => Some(false),
        });
        Ok(CompiledExpression { by_type: by_type.collect(), step, columns })
    }
}

impl Expression {
    /// The types all of whose objects match, if no type has some that match and some that do not. `kinds` are as for
    /// [`crate::Heap::select`].
    ///
    /// # Errors
    /// As for [`Recording::tables`].
    pub fn matching_types(&self, recording: &Recording, kinds: &[KindId]) -> Result<Option<Vec<TypeId>>> {
        let prepared = self.prepare(recording, kinds, &NoColumns)?;
        if self.snapshot().is_some() || !self.is_of_types() || prepared.by_type.contains(&None) {
            return Ok(None);
        }
        let matching = (0u32..).map(TypeId).zip(&prepared.by_type).filter(|&(_, &matches)| matches == Some(true));
        Ok(Some(matching.map(|(id, _)| id).collect()))
    }
}

impl Expression {
    /// For each type, whether an object of it can match. `kinds` are as for [`crate::Heap::select`].
    ///
    /// # Errors
    /// As for [`Recording::tables`].
    pub(crate) fn possible_types(&self, recording: &Recording, kinds: &[KindId]) -> Result<Vec<bool>> {
        let prepared = self.prepare(recording, kinds, &NoColumns)?;
        Ok(prepared.by_type.iter().map(|&matches| matches != Some(false)).collect())
    }
}

/// The columns of an expression that asks for none.
struct NoColumns;

impl DerivedColumns for NoColumns {
    fn retained_bytes(&self, _object: ObjectId) -> u64 {
        0
    }

    fn retained_in_a_row<'b>(&self, _first: ObjectId, _count: usize, _buffer: &'b mut Vec<u32>) -> Option<&'b [u32]> {
        None
    }

    fn is_reachable(&self, _object: ObjectId) -> bool {
        false
    }

    fn reachable_in_a_row(&self, _first: ObjectId, _count: usize) -> Option<PartialSet> {
        None
    }

    fn distance(&self, _object: ObjectId) -> Option<u32> {
        None
    }

    fn incoming_count(&self, _object: ObjectId) -> u64 {
        0
    }

    fn is_root(&self, _object: ObjectId) -> bool {
        false
    }
}

fn type_ids(tables: &Tables) -> impl Iterator<Item = TypeId> {
    (0u32..).map(TypeId).take(tables.type_count())
}

/// The texts of a recording.
#[derive(Clone, Copy)]
struct Texts<'r, 't> {
    tables: &'r Tables,
    /// Empty unless the expression compares sites.
    sites: &'t Sites,
}

/// An expression with its answer for every type.
pub(crate) struct CompiledExpression<'e, D> {
    step: Step<'e>,
    /// For each type whether all or none of its objects match; `None` if that depends on the object.
    by_type: Vec<Option<bool>>,
    columns: &'e D,
}

/// The treatment of what is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unknown {
    /// It does not pass.
    Fails,
    /// It passes.
    Passes,
}

impl Unknown {
    fn exchanged(self) -> Self {
        match self {
            Unknown::Fails => Unknown::Passes,
            Unknown::Passes => Unknown::Fails,
        }
    }
}

impl<'e, D: DerivedColumns> CompiledExpression<'e, D> {
    /// The columns that the expression needs.
    pub(crate) fn columns(&self) -> &'e D {
        self.columns
    }

    /// The objects of `within` that match.
    pub(crate) fn select(&self, block: &BlockObjects<'_>, within: PartialSet) -> PartialSet {
        self.select_with(block, within, Unknown::Fails)
    }

    /// The objects of `within` of which it is not known whether they match.
    pub(crate) fn unknown(&self, block: &BlockObjects<'_>, within: PartialSet) -> PartialSet {
        if !self.step.may_be_unknown(self.columns) {
            return block.none();
        }
        let mut unknown = self.select_with(block, within.clone(), Unknown::Passes);
        unknown.difference_with(&self.select(block, within));
        unknown
    }

    fn select_with(&self, block: &BlockObjects<'_>, within: PartialSet, unknown: Unknown) -> PartialSet {
        let answers = block.by_place(&self.by_type);
        let mut matching = match answers.contains(&Some(true)) {
            true => of_answer(Some(true), &answers, block, &within),
            false => block.none(),
        };
        if answers.contains(&None) {
            let open = of_answer(None, &answers, block, &within);
            matching.union_with(&self.step.select(block, &open, (self.columns, unknown)));
        }
        matching
    }
}

/// The objects of `within` whose types have this answer. `answers` are by place.
fn of_answer(
    answer: Option<bool>,
    answers: &[Option<bool>],
    block: &BlockObjects<'_>,
    within: &PartialSet,
) -> PartialSet {
    match answers.iter().all(|&one| one == answer) {
        true => within.clone(),
        false => within.filter_by(block.places, |place| answers[place as usize] == answer),
    }
}

/// A node of the tree, prepared for one recording.
enum Step<'e> {
    Any(Vec<Step<'e>>),
    All(Vec<Step<'e>>),
    Not(Box<Step<'e>>),
    /// The answer for each type.
    Types(Vec<bool>),
    /// The answer for each string that may be the name of an object, and for each type for objects without a name.
    Names {
        by_string: TextAnswers<'e>,
        by_type: Vec<Option<bool>>,
    },
    /// The answer for each site in the table of sites, by id; and for all other objects.
    Sites {
        by_site: Vec<bool>,
        otherwise: bool,
    },
    /// Compares a number of the object's site, with the number of each site in the table of sites.
    OfSite {
        comparison: NumberComparison,
        numbers: Vec<Option<u64>>,
    },
    Number(NumberComparison),
    Is(Property),
    Member(&'e ObjectSet),
    Object(ObjectId),
    Field(&'e Arc<FieldTerm>),
}

impl<'e> Step<'e> {
    fn of(node: &'e Node, texts: &Texts<'e, '_>) -> Self {
        match node {
            Node::Any(nodes) => Step::Any(cheapest_first(nodes, texts)),
            Node::All(nodes) => Step::All(cheapest_first(nodes, texts)),
            Node::Not(node) => Step::Not(Box::new(Step::of(node, texts))),
            Node::Term(term) => Step::of_term(term, texts),
        }
    }

    fn of_term(term: &'e Term, texts: &Texts<'e, '_>) -> Self {
        let tables = texts.tables;
        match term {
            Term::Text(comparison) if matches!(comparison.attribute, TextAttribute::Site) => {
                comparison.of_site_texts(texts)
            }
            Term::Text(comparison) => {
                let by_type: Vec<bool> = type_ids(tables).map(|id| comparison.holds(tables, id)).collect();
                match comparison.attribute {
                    TextAttribute::Name => {
                        let by_string = TextAnswers::new(tables, &comparison.test);
                        Step::Names { by_string, by_type: by_type.into_iter().map(Some).collect() }
                    }
                    TextAttribute::Text => {
                        let by_string = TextAnswers::new(tables, &comparison.test);
                        // A text that was not recorded is unknown.
                        let of_type = |id| (!holds_text(tables, id)).then_some(false);
                        let without_text = type_ids(tables).map(of_type).collect();
                        Step::All(vec![Step::Types(by_type), Step::Names { by_string, by_type: without_text }])
                    }
                    _ => Step::Types(by_type),
                }
            }
            Term::Number(comparison) => match comparison.attribute {
                NumberAttribute::Site | NumberAttribute::Generation => comparison.of_sites(texts),
                _ => Step::Number(*comparison),
            },
            Term::Is(property) => Step::Is(*property),
            Term::Member(set) => Step::Member(set),
            Term::Object(id) => Step::Object(*id),
            Term::Field(field) => Step::Field(field),
        }
    }

    /// The relative cost of a term: types first, then columns of the block, then columns far away in memory.
    fn cost(&self) -> u32 {
        match self {
            Step::Types(_) => 0,
            Step::Object(_) | Step::Names { .. } | Step::Sites { .. } | Step::OfSite { .. } => 1,
            Step::Number(comparison) => match comparison.attribute {
                NumberAttribute::Retained | NumberAttribute::Distance | NumberAttribute::Incoming => 3,
                _ => 1,
            },
            Step::Member(_) | Step::Field(_) => 2,
            Step::Is(_) => 3,
            Step::Not(step) => step.cost(),
            Step::Any(steps) | Step::All(steps) => steps.iter().map(Step::cost).max().unwrap_or(0),
        }
    }

    /// Returns whether all or none of the objects of a type match; `None` if that depends on the object.
    fn of_type(&self, id: TypeId) -> Option<bool> {
        match self {
            Step::Any(steps) => Step::combined(steps, id, true),
            Step::All(steps) => Step::combined(steps, id, false),
            Step::Not(step) => step.of_type(id).map(|answer| !answer),
            Step::Types(answers) => Some(answers[id.index()]),
            Step::Names { .. }
            | Step::Sites { .. }
            | Step::OfSite { .. }
            | Step::Number(_)
            | Step::Is(_)
            | Step::Member(_)
            | Step::Field(_)
            | Step::Object(_) => None,
        }
    }

    /// The combined answer of several steps for a type. A deciding answer wins; otherwise an unknown one makes the result
    /// unknown.
    fn combined(steps: &[Step<'_>], id: TypeId, deciding: bool) -> Option<bool> {
        let mut answers = steps.iter().map(|step| step.of_type(id));
        let is_open = answers.clone().any(|answer| answer.is_none());
        if answers.any(|answer| answer == Some(deciding)) { Some(deciding) } else { (!is_open).then_some(!deciding) }
    }

    /// Returns whether it may be unknown of an object whether it matches.
    fn may_be_unknown(&self, columns: &impl DerivedColumns) -> bool {
        match self {
            Step::Any(steps) | Step::All(steps) => steps.iter().any(|step| step.may_be_unknown(columns)),
            Step::Not(step) => step.may_be_unknown(columns),
            Step::Names { .. } => true,
            Step::Field(field) => columns.tested(field).is_some_and(|tested| !tested.unknown.is_empty()),
            _ => false,
        }
    }

    /// The objects of `within` that match.
    fn select<D: DerivedColumns>(
        &self,
        block: &BlockObjects<'_>,
        within: &PartialSet,
        (derived, unknown): (&D, Unknown),
    ) -> PartialSet {
        let passes = |answer: Option<bool>| answer.unwrap_or(unknown == Unknown::Passes);
        match self {
            Step::Any(steps) => {
                let (mut found, mut rest) = (block.none(), within.clone());
                for step in steps {
                    let more = step.select(block, &rest, (derived, unknown));
                    rest.difference_with(&more);
                    found.union_with(&more);
                }
                found
            }
            Step::All(steps) => {
                steps.iter().fold(within.clone(), |rest, step| step.select(block, &rest, (derived, unknown)))
            }
            Step::Not(step) => {
                let mut rest = within.clone();
                rest.difference_with(&step.select(block, within, (derived, unknown.exchanged())));
                rest
            }
            Step::Types(answers) => {
                let of_place = block.by_place(answers);
                within.filter_by(block.places, |place| of_place[place as usize])
            }
            Step::Names { by_string, by_type } => within.filter(|row| {
                passes(match block.name(row) {
                    Some(name) => by_string.passes(name),
                    None => by_type[block.type_of(row).index()],
                })
            }),
            Step::Sites { by_site, otherwise } => within.filter(|row| {
                let known = block.site(row).and_then(|site| by_site.get(site.index()));
                known.copied().unwrap_or(*otherwise)
            }),
            Step::OfSite { comparison, numbers } => within.filter(|row| {
                let number = block.site(row).and_then(|site| match numbers.get(site.index()) {
                    Some(&number) => number,
                    None => matches!(comparison.attribute, NumberAttribute::Site).then_some(site.0.into()),
                });
                number.is_some_and(|found| comparison.range.contains(found))
            }),
            Step::Number(comparison) => comparison.select(block, within, derived),
            Step::Is(Property::Root) => within.filter(|row| derived.is_root(block.object(row))),
            Step::Is(property) => {
                let wanted = *property == Property::Reachable;
                match derived.reachable_in_a_row(block.first, block.count) {
                    Some(reachable) if wanted => reachable.intersection(within),
                    Some(reachable) => {
                        let mut rest = within.clone();
                        rest.difference_with(&reachable);
                        rest
                    }
                    None => within.filter(|row| derived.is_reachable(block.object(row)) == wanted),
                }
            }
            Step::Member(set) => within.filter(|row| set.contains(block.object(row))),
            Step::Field(field) => match derived.tested(field) {
                Some(tested) if unknown == Unknown::Passes => within.filter(|row| {
                    let object = block.object(row);
                    tested.passing.contains(object) || tested.unknown.contains(object)
                }),
                Some(tested) => within.filter(|row| tested.passing.contains(block.object(row))),
                None => block.none(),
            },
            Step::Object(id) => within.filter(|row| block.object(row) == *id),
        }
    }
}

fn cheapest_first<'e>(nodes: &'e [Node], texts: &Texts<'e, '_>) -> Vec<Step<'e>> {
    let mut steps: Vec<Step<'e>> = nodes.iter().map(|node| Step::of(node, texts)).collect();
    steps.sort_by_key(Step::cost);
    steps
}

impl TextComparison {
    /// Returns whether it holds for all objects of a type, or for those without a name; for [`TextAttribute::Text`],
    /// whether objects of the type may have a text.
    fn holds(&self, tables: &Tables, id: TypeId) -> bool {
        let text = match self.attribute {
            TextAttribute::Text => return tables.kind_role(tables.type_kind(id)) == KindRole::Object,
            TextAttribute::Is => {
                let bases = tables.type_and_bases(id).map(|id| tables.type_name(id));
                return bases.chain(tables.type_interfaces(id)).any(|name| self.test.holds(Some(name)));
            }
            TextAttribute::OfType(text) => text(tables, id),
            TextAttribute::Type => return self.holds_for_type(tables, id),
            TextAttribute::Name => Some(tables.type_name(id)),
            TextAttribute::Kind => Some(tables.kind_name(tables.type_kind(id))),
            // Compared by site, see `of_site_texts`, or before blocks are read, see `Step::Field`.
            TextAttribute::Site | TextAttribute::Line => None,
        };
        self.test.holds(text)
    }

    /// Compares the name of a type. Its title, `name (file:line)`, is compared as well, which tables show, but not its length.
    fn holds_for_type(&self, tables: &Tables, id: TypeId) -> bool {
        let TextTest { pattern, negated } = &self.test;
        let is_titled = !matches!(pattern, Pattern::Length(_)) && tables.type_file(id).is_some();
        let holds = pattern.matches(tables.type_name(id)) || is_titled && pattern.matches(&tables.type_title(id));
        holds != *negated
    }

    /// Compares the text of every site. With `=`, `file:line` alone is compared as well.
    fn of_site_texts<'e>(&self, texts: &Texts<'e, '_>) -> Step<'e> {
        let ids = (0u32..).map(SiteId).take(texts.sites.count() + 1);
        let (pattern, negated) = (&self.test.pattern, self.test.negated);
        let by_site = ids.map(|id| {
            let Some(site) = texts.sites.details(id, texts.tables) else { return negated };
            let mut forms = site.title().into_iter().chain(match pattern {
                Pattern::Exact(_) => site.place(),
                Pattern::Word(_) | Pattern::Regex(_) | Pattern::Length(_) => None,
            });
            forms.any(|text| pattern.matches(&text)) != negated
        });
        Step::Sites { by_site: by_site.collect(), otherwise: negated }
    }
}

impl NumberComparison {
    /// The number of every site that the attribute selects: the id of the first equal site, or the generation.
    fn of_sites<'e>(&self, texts: &Texts<'e, '_>) -> Step<'e> {
        let ids = (0u32..).map(SiteId).take(texts.sites.count() + 1);
        let numbers = ids.map(|id| match self.attribute {
            NumberAttribute::Generation => texts.sites.generation(id, texts.tables),
            _ => Some(texts.sites.place_of(id).0.into()),
        });
        Step::OfSite { comparison: *self, numbers: numbers.collect() }
    }

    /// The objects of `within` whose number is in the range.
    fn select(&self, block: &BlockObjects<'_>, within: &PartialSet, derived: &impl DerivedColumns) -> PartialSet {
        let range = self.range;
        match self.attribute {
            NumberAttribute::Size => self.select_sizes(block.shallow_bytes, within),
            NumberAttribute::Unmanaged => self.select_sizes(block.unmanaged_bytes, within),
            NumberAttribute::Retained => match derived.retained_in_a_row(block.first, block.count, &mut Vec::new()) {
                Some(sizes) => self.select_sizes(Sizes::Narrow(sizes), within),
                None => within.filter(|row| range.contains(derived.retained_bytes(block.object(row)))),
            },
            NumberAttribute::Distance => within.filter(|row| {
                derived.distance(block.object(row)).is_some_and(|distance| range.contains(distance.into()))
            }),
            NumberAttribute::Incoming => within.filter(|row| range.contains(derived.incoming_count(block.object(row)))),
            NumberAttribute::Stored(stored) => {
                within.filter(|row| (stored.in_block)(block, row).is_some_and(|number| range.contains(number)))
            }
            // Evaluated by site, see `Step::OfSite`, or before blocks are read, see `Step::Field`.
            NumberAttribute::Site | NumberAttribute::Generation | NumberAttribute::Elements | NumberAttribute::Fill => {
                block.none()
            }
        }
    }

    fn select_sizes(&self, sizes: Sizes<'_>, within: &PartialSet) -> PartialSet {
        match sizes {
            Sizes::Zero => within.filter(|_| self.range.contains(0)),
            Sizes::Narrow(sizes) => within.filter_by(sizes, self.range.contains_narrow()),
            Sizes::Wide(sizes) => within.filter_by(sizes, |size| self.range.contains(size)),
        }
    }
}

#[cfg(test)]
mod tests {
    use barrow_format::block::BlockColumns;

    use super::*;

    /// Object 7 is a root with two references and 100 retained bytes. No other object is reachable.
    struct Columns;

    impl DerivedColumns for Columns {
        fn retained_bytes(&self, _object: ObjectId) -> u64 {
            100
        }

        fn retained_in_a_row<'b>(
            &self,
            _first: ObjectId,
            _count: usize,
            _buffer: &'b mut Vec<u32>,
        ) -> Option<&'b [u32]> {
            None
        }

        fn is_reachable(&self, object: ObjectId) -> bool {
            self.is_root(object)
        }

        fn reachable_in_a_row(&self, _first: ObjectId, _count: usize) -> Option<PartialSet> {
            None
        }

        fn distance(&self, object: ObjectId) -> Option<u32> {
            self.is_root(object).then_some(0)
        }

        fn incoming_count(&self, _object: ObjectId) -> u64 {
            2
        }

        fn is_root(&self, object: ObjectId) -> bool {
            object == ObjectId(7)
        }
    }

    /// A block of one object, whose second reference is in a continuation.
    fn object(id: u32, shallow_bytes: u64) -> BlockColumns {
        BlockColumns {
            first_object: id,
            shapes: vec![0],
            shallow_bytes: vec![shallow_bytes],
            unmanaged_bytes: vec![5],
            counts: vec![1],
            addresses: vec![0x7f00],
            ..BlockColumns::default()
        }
    }

    fn holds(text: &str, columns: &BlockColumns) -> bool {
        let expression = Expression::parse(text).unwrap();
        // There is a single type, and these expressions do not compare texts.
        let (tables, sites) = (Tables::default(), Sites::default());
        let step = Step::of(&expression.node, &Texts { tables: &tables, sites: &sites });
        let prepared = CompiledExpression { step, by_type: vec![None], columns: &Columns };
        let block = BlockObjects { types: Some(vec![TypeId(0)]), ..BlockObjects::new(columns, 1, &tables) };
        prepared.select(&block, block.all()) == block.all()
    }

    #[test]
    fn numbers_are_compared() {
        for text in [
            "",
            "size > 1K",
            "size >= 2k and refs = 2",
            "not (id = 8 or unmanaged != 5)",
            "size<=2KiB",
            "size in 1K..2K & size in 2K.. & size in ..2K",
            "address = 0x7F00 and address in 0x7000..0x8000",
            "inrefs = 2 and in in 1..2 and incoming > 1 and outrefs = 2",
            "retained = 100 and distance = 0 and root and reachable",
        ] {
            assert!(holds(text, &object(7, 2048)), "{text}");
        }
        for text in ["size < 2048", "refs = 3 or id > 7", "not not size = 1", "size in 3K..", "unreachable"] {
            assert!(!holds(text, &object(7, 2048)), "{text}");
        }
    }

    #[test]
    fn what_an_object_does_not_have_is_not_compared() {
        let unreachable = object(8, 1);
        for text in
            ["distance < 5", "distance >= 0", "distance != 3", "serial != 1", "site in 0..", "reachable", "root"]
        {
            assert!(!holds(text, &unreachable), "{text}");
            assert!(holds(&format!("not {text}"), &unreachable), "{text}");
        }
        assert!(holds("unreachable", &unreachable));
    }

    #[test]
    fn not_binds_closer_than_and_closer_than_or() {
        assert!(holds("id = 7 or id = 8 and id = 9", &object(7, 1)));
        assert!(holds("id = 7 | id = 8 & id = 9", &object(7, 1)));
        assert!(!holds("(id = 7 or id = 8) and id = 9", &object(7, 1)));
        assert!(holds("not id = 8 and id = 7", &object(7, 1)));
        assert!(holds("!@8 & @7", &object(7, 1)));
        assert!(!holds("@7 - @7 | @8", &object(7, 1)));
        assert!(holds("@7 - @8 and size = 1", &object(7, 1)));
        assert!(!holds("@7 - (@8 | size = 1)", &object(7, 1)));
    }
}
