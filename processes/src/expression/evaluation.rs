//! Evaluates an expression on images.
//!
//! Most images share the path, directory, host and class of their program with others: these are compared once for each
//! text. Arguments rarely repeat, so they are compared image by image, after the cheaper terms of `and` and `or`.

use barrow_analyzer::{StringId, signals};
use barrow_expressions::{Range, TextTest};

use super::labels::schema_of;
use super::terms::{Node, Term};
use crate::attributes::{Attribute, Bounds, Column, Text};
use crate::classes::Classes;
use crate::image_set::ImageSet;
use crate::tree::{Image, ImageId, ProcessTree};

/// The images for which an expression holds.
pub(super) fn select(node: &Node, tree: &ProcessTree, classes: Option<&Classes>) -> ImageSet {
    let step = Step::of(node, View { tree, classes, numbers: Numbers::Recorded });
    ImageSet::of(tree, |image| step.truth(tree, image) == Some(true))
}

/// The images of which too little is recorded to know whether an expression holds for them.
pub(super) fn undecided(node: &Node, tree: &ProcessTree, classes: Option<&Classes>) -> ImageSet {
    let step = Step::of(node, View { tree, classes, numbers: Numbers::Bounded });
    ImageSet::of(tree, |image| step.truth(tree, image).is_none())
}

/// What an expression is evaluated on.
#[derive(Clone, Copy)]
struct View<'e> {
    tree: &'e ProcessTree,
    classes: Option<&'e Classes>,
    numbers: Numbers,
}

/// The meaning of numbers that are recorded in part, or not at all.
#[derive(Clone, Copy)]
enum Numbers {
    /// They are what is recorded; a comparison with nothing is false.
    Recorded,
    /// They are all numbers that are possible.
    Bounded,
}

/// A node of the tree, prepared for one process tree.
enum Step<'e> {
    Any(Vec<Step<'e>>),
    All(Vec<Step<'e>>),
    Not(Box<Step<'e>>),
    /// The result for each label, and for images without one.
    Labels {
        schema: Option<usize>,
        by_label: Vec<bool>,
        otherwise: bool,
        classes: Option<&'e Classes>,
    },
    /// The result for each text that images have, and for images without one.
    Texts {
        text: fn(&ProcessTree, &Image) -> Option<StringId>,
        by_text: Vec<bool>,
        otherwise: bool,
    },
    /// A text found or composed for each image.
    Made(Text, &'e TextTest),
    Number(Option<Column>, Range),
    Bounded(Option<Bounds>, Range),
    Is(&'static Attribute),
    Member(&'e ImageSet),
    Image(ImageId),
}

impl<'e> Step<'e> {
    fn of(node: &'e Node, view: View<'e>) -> Self {
        let View { tree, classes, numbers } = view;
        match node {
            Node::Any(nodes) => Step::Any(Step::cheapest_first(nodes, view)),
            Node::All(nodes) => Step::All(Step::cheapest_first(nodes, view)),
            Node::Not(node) => Step::Not(Box::new(Step::of(node, view))),
            Node::Term(Term::Text(text, test)) => Step::of_text(*text, test, tree, classes),
            Node::Term(Term::Number(attribute, range)) => match numbers {
                Numbers::Recorded => Step::Number(Column::of(attribute, tree), *range),
                Numbers::Bounded => Step::Bounded(Bounds::of(attribute, tree), *range),
            },
            Node::Term(Term::Is(property)) => Step::Is(property),
            Node::Term(Term::Member(set)) => Step::Member(set),
            Node::Term(Term::Image(id)) => Step::Image(*id),
        }
    }

    fn cheapest_first(nodes: &'e [Node], view: View<'e>) -> Vec<Self> {
        let mut steps: Vec<Step<'e>> = nodes.iter().map(|node| Step::of(node, view)).collect();
        steps.sort_by_key(Step::cost);
        steps
    }

    fn of_text(text: Text, test: &'e TextTest, tree: &ProcessTree, classes: Option<&'e Classes>) -> Self {
        match text {
            Text::Class => {
                let schema = classes.map_or(0, |classes| schema_of(test, classes));
                Step::of_class(schema, test, classes)
            }
            Text::ClassOf(schema) => Step::of_class(schema, test, classes),
            Text::Stored(text) => Step::Texts { text, by_text: by_text(tree, text, test), otherwise: test.holds(None) },
            Text::Found(_) | Text::Composed(_) | Text::Process | Text::Signal => Step::Made(text, test),
        }
    }

    fn of_class(schema: usize, test: &TextTest, classes: Option<&'e Classes>) -> Self {
        let known = classes.and_then(|classes| classes.schemata().get(schema));
        let labels = known.map_or(&[][..], |schema| schema.labels());
        let by_label = labels.iter().map(|label| test.holds(Some(label))).collect();
        Step::Labels { schema: known.map(|_| schema), by_label, otherwise: test.holds(None), classes }
    }

    /// The relative cost of a term.
    fn cost(&self) -> u32 {
        match self {
            Step::Any(steps) | Step::All(steps) => steps.iter().map(Step::cost).max().unwrap_or(0),
            Step::Not(step) => step.cost(),
            Step::Made(Text::Composed(_) | Text::Process, _) => 3,
            Step::Made(..) => 2,
            Step::Labels { .. } | Step::Texts { .. } | Step::Is(_) => 1,
            Step::Number(..) | Step::Bounded(..) | Step::Member(_) | Step::Image(_) => 0,
        }
    }

    /// Whether it holds for an image; `None` if unknown: then neither it nor its opposite selects the image.
    fn truth(&self, tree: &ProcessTree, id: ImageId) -> Option<bool> {
        Some(match self {
            Step::Any(steps) => return decided(steps, true, tree, id),
            Step::All(steps) => return decided(steps, false, tree, id),
            Step::Not(step) => return step.truth(tree, id).map(|holds| !holds),
            Step::Is(property) => return property.holds(tree, id),
            Step::Labels { schema, by_label, otherwise, classes } => {
                let schema = schema.zip(*classes).and_then(|(number, classes)| classes.schemata().get(number));
                let label = schema.and_then(|schema| schema.label(id));
                label.map_or(*otherwise, |label| by_label[label.index()])
            }
            Step::Texts { text, by_text, otherwise } => {
                text(tree, tree.image(id)).map_or(*otherwise, |text| by_text[text.index()])
            }
            Step::Made(text, test) => made_holds(*text, test, tree, id),
            Step::Number(column, range) => column.as_ref()?.get(tree, id).is_some_and(|number| range.contains(number)),
            Step::Bounded(bounds, range) => match bounds.as_ref()?.get(tree, id) {
                Some([least, most]) => return range.of_all(least, most),
                None => false,
            },
            Step::Member(set) => set.contains(id),
            Step::Image(image) => id == *image,
        })
    }
}

/// The result of several steps: `decisive` if any step yields it, its opposite if all steps yield that, otherwise
/// unknown.
fn decided(steps: &[Step<'_>], decisive: bool, tree: &ProcessTree, id: ImageId) -> Option<bool> {
    let mut truth = Some(!decisive);
    for step in steps {
        match step.truth(tree, id) {
            Some(holds) if holds == decisive => return Some(decisive),
            Some(_) => {}
            None => truth = None,
        }
    }
    truth
}

/// The result for each text, by its id. Texts that no image has stay false.
fn by_text(tree: &ProcessTree, text: fn(&ProcessTree, &Image) -> Option<StringId>, test: &TextTest) -> Vec<bool> {
    let mut answers: Vec<Option<bool>> = Vec::new();
    for id in tree.images().iter().filter_map(|image| text(tree, image)) {
        if answers.len() <= id.index() {
            answers.resize(id.index() + 1, None);
        }
        let answer = &mut answers[id.index()];
        if answer.is_none() {
            *answer = Some(test.holds(Some(tree.text(id))));
        }
    }
    answers.into_iter().map(|answer| answer == Some(true)).collect()
}

fn made_holds(text: Text, test: &TextTest, tree: &ProcessTree, id: ImageId) -> bool {
    let image = tree.image(id);
    match text {
        Text::Found(text) => test.holds(text(tree, image)),
        Text::Composed(text) => test.holds(text(tree, image).as_deref()),
        Text::Process => test.holds(Some(&tree.name(image.process))),
        _ => {
            let name = tree.end_of(id).and_then(|end| signals::name(end.signal?));
            // Both forms of the name match: with and without SIG.
            let short = name.and_then(|name| name.strip_prefix("SIG"));
            match &test.pattern {
                _ if name.is_none() => test.holds(None),
                pattern => [name, short].into_iter().flatten().any(|name| pattern.matches(name)) != test.negated,
            }
        }
    }
}
