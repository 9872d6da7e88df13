//! Labels every image: each program once, in parallel. The rules that a name or path satisfies are cached.

use std::collections::HashMap;

use barrow_analyzer::{Program, Recording, StringId, Tables};
use foldhash::fast::RandomState;
use rayon::prelude::*;
use regex::Captures;

use super::IGNORED;
use super::command::{Command, Launching};
use super::patterns::{RuleBits, rules_of};
use super::rules::{IGNORE, Label, MOST_LABEL_BYTES, Rule, Rules, SchemaRules};
use super::template::{self, Field, Segment};
use crate::error::Result;
use crate::tree::{ProcessTree, ProgramId};

/// The label of images about which nothing is known.
const UNKNOWN: &str = "UNKNOWN";
/// The end of a cut label.
const CUT: &str = "…";
/// Minimum number of programs that one thread labels at a time.
const FEW: usize = 2048;
/// With more candidate rules than this, the arguments are matched against all patterns at once.
const MANY_RULES: usize = 6;

/// The labels of one schema.
pub(super) struct SchemaLabels {
    pub(super) labels: Vec<String>,
    pub(super) of_images: Vec<u32>,
}

/// The unit of labelling: a program, with the target that its process is said to build.
type Item = (ProgramId, Option<StringId>);

/// The labels of all images, by schema. Only those of `order` are evaluated; the others ignore everything.
///
/// # Errors
/// A label of the user's rules is too long.
pub(super) fn of(tree: &ProcessTree, rules: &Rules, order: &[usize]) -> Result<Vec<SchemaLabels>> {
    let (items, of_images) = items(tree);
    let is_recipe = holds_recipes(tree.recording());
    let size = items.len().div_ceil(rayon::current_num_threads() * 2).max(FEW);
    let parts: Vec<Result<Vec<Labels>>> = items
        .par_chunks(size)
        .map(|items| {
            let mut worker = Worker::new(tree.recording(), rules, order, is_recipe);
            let mut labels: Vec<Labels> = rules.schemata.iter().map(|_| Labels::default()).collect();
            for &(program, target) in items {
                worker.label(tree.program_of(program), target)?;
                order.iter().for_each(|&schema| labels[schema].push(&worker.texts[schema]));
            }
            Ok(labels)
        })
        .collect();
    // The first of several errors, so that every run reports the same one.
    let parts = parts.into_iter().collect::<Result<Vec<_>>>()?;
    let schemata = (0..rules.schemata.len()).into_par_iter().map(|schema| {
        let mut all = Labels::default();
        if !order.contains(&schema) {
            return SchemaLabels { labels: Vec::new(), of_images: vec![IGNORED; of_images.len()] };
        }
        for part in &parts {
            let part = &part[schema];
            let ids: Vec<u32> = part.names.iter().map(|name| all.id(name)).collect();
            all.of_items.extend(part.of_items.iter().map(|&label| ids.get(label as usize).copied().unwrap_or(IGNORED)));
        }
        let of_images = of_images.iter().map(|&item| all.of_items[item as usize]).collect();
        SchemaLabels { labels: all.names, of_images }
    });
    Ok(schemata.collect())
}

/// The distinct items to label, and for each image the position of its item.
fn items(tree: &ProcessTree) -> (Vec<Item>, Vec<u32>) {
    let mut items: Vec<Item> = tree.programs().map(|(program, _)| (program, None)).collect();
    let mut special: HashMap<Item, u32> = HashMap::new();
    let of_images = tree.images().iter().map(|image| {
        let target = tree.process(image.process).label;
        if target.is_none() {
            return image.program.index() as u32;
        }
        *special.entry((image.program, target)).or_insert_with(|| {
            items.push((image.program, target));
            (items.len() - 1) as u32
        })
    });
    let of_images = of_images.collect();
    (items, of_images)
}

/// Whether the recording has shells but not the commands they execute.
fn holds_recipes(recording: &Recording) -> bool {
    let facts = recording.facts().unwrap_or_default();
    let by = facts.iter().find(|(key, _)| key == "recorded by").map(|(_, by)| by.as_str());
    matches!(by, Some("barrow-sh" | "Kleknev" | "ninja" | "Bazel"))
}

/// The labels of a schema, in the order of their first use.
#[derive(Default)]
struct Labels {
    names: Vec<String>,
    ids: HashMap<String, u32, RandomState>,
    of_items: Vec<u32>,
}

impl Labels {
    fn id(&mut self, name: &str) -> u32 {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = u32::try_from(self.names.len()).unwrap_or(IGNORED);
        self.names.push(name.to_owned());
        self.ids.insert(name.to_owned(), id);
        id
    }

    fn push(&mut self, label: &str) {
        let id = if label == IGNORE { IGNORED } else { self.id(label) };
        self.of_items.push(id);
    }
}

/// Labels programs one after the other.
struct Worker<'t, 'o> {
    tables: Option<&'t Tables>,
    rules: &'t Rules,
    order: &'o [usize],
    is_recipe: bool,
    launching: HashMap<&'t str, Launching, RandomState>,
    /// For each schema and field: the rules that a text satisfies.
    satisfied: Vec<[HashMap<&'t str, RuleBits, RandomState>; 5]>,
    command: Command<'t>,
    /// The labels of the program, by schema.
    texts: Vec<String>,
}

/// Labels programs one after the other in one schema, for a question that does not hold the whole tree.
pub struct Labeller<'t> {
    worker: Worker<'t, 't>,
    schema: usize,
}

impl<'t> Labeller<'t> {
    pub(super) fn new(recording: &'t Recording, rules: &'t Rules, schema: usize, order: &'t [usize]) -> Self {
        Labeller { worker: Worker::new(recording, rules, order, holds_recipes(recording)), schema }
    }

    /// The label of a program of the recording, given the target its process is said to build; `None` if the schema
    /// ignores it.
    ///
    /// # Errors
    /// The label of the user's rules is too long.
    pub fn label(&mut self, program: &Program, target: Option<StringId>) -> Result<Option<&str>> {
        self.worker.label(program, target)?;
        Ok(Some(self.worker.texts[self.schema].as_str()).filter(|label| *label != IGNORE))
    }
}

/// The properties of a command that rules test.
struct CommandProperties<'a, 't> {
    /// For each of [`Field::ALL`].
    fields: [&'t str; 5],
    arguments: JoinedArguments<'a, 't>,
}

/// The arguments as one text, joined when the first rule tests them.
struct JoinedArguments<'a, 't> {
    arguments: &'a [&'t str],
    text: Option<String>,
}

impl JoinedArguments<'_, '_> {
    fn text(&mut self) -> &str {
        self.text.get_or_insert_with(|| self.arguments.join(" "))
    }
}

impl<'t, 'o> Worker<'t, 'o> {
    fn new(recording: &'t Recording, rules: &'t Rules, order: &'o [usize], is_recipe: bool) -> Self {
        let count = rules.schemata.len();
        Worker {
            tables: recording.tables().ok(),
            rules,
            order,
            is_recipe,
            launching: HashMap::default(),
            satisfied: (0..count).map(|_| Default::default()).collect(),
            command: Command::default(),
            texts: vec![String::new(); count],
        }
    }

    /// Labels a program in each schema, into `texts`.
    fn label(&mut self, program: &Program, target: Option<StringId>) -> Result<()> {
        let (tables, rules, order) = (self.tables, self.rules, self.order);
        let arguments = program.arguments.iter().map(|&argument| text_of(tables, Some(argument)));
        let mut command = std::mem::take(&mut self.command);
        let executable = text_of(tables, program.executable);
        command.read(executable, arguments, &rules.launchers, self.is_recipe, |name| {
            *self.launching.entry(name).or_insert_with(|| rules.launchers.launching(name))
        });
        let (directory, target) = (text_of(tables, program.directory), text_of(tables, target));
        let mut looked = CommandProperties {
            fields: [command.name, command.script, command.executable, directory, target],
            arguments: JoinedArguments { arguments: &command.arguments, text: None },
        };
        for &schema in order {
            let mut label = std::mem::take(&mut self.texts[schema]);
            label.clear();
            self.label_in(schema, &mut looked, &mut label)?;
            self.texts[schema] = label;
        }
        self.command = command;
        Ok(())
    }

    fn label_in(&mut self, schema: usize, looked: &mut CommandProperties<'_, 't>, label: &mut String) -> Result<()> {
        let of = &self.rules.schemata[schema];
        let is_left_out = of.only.iter().any(|(other, pattern)| !pattern.is_match(&self.texts[*other]));
        if is_left_out {
            label.push_str(IGNORE);
            return Ok(());
        }
        let rule = self.matching(schema, of, looked);
        let template = rule.map_or(&of.otherwise, |rule| &rule.label);
        let bytes = fill(label, template, rule, looked, &self.texts);
        if label.is_empty() {
            label.push_str(UNKNOWN);
        }
        of.check_length(template, bytes)
    }

    /// The first rule that matches.
    fn matching(
        &mut self,
        schema: usize,
        of: &'t SchemaRules,
        looked: &mut CommandProperties<'_, 't>,
    ) -> Option<&'t Rule> {
        if of.rules.is_empty() {
            return None;
        }
        let mut left: Option<RuleBits> = None;
        for (at, patterns) in of.fields.iter().enumerate().filter(|(_, patterns)| !patterns.is_empty()) {
            let text = looked.fields[at];
            let satisfied = self.satisfied[schema][at].entry(text).or_insert_with(|| patterns.satisfied(text));
            match &mut left {
                None => left = Some(satisfied.clone()),
                Some(left) => left.iter_mut().zip(satisfied.iter()).for_each(|(left, more)| *left &= more),
            }
        }
        let left = left.unwrap_or_else(|| of.arguments.all());
        let texts = &self.texts;
        if rules_of(&left).filter(|&at| of.rules[at].arguments.is_some()).nth(MANY_RULES).is_some() {
            let satisfied = of.arguments.satisfied(looked.arguments.text());
            let left = left.iter().zip(satisfied.iter()).map(|(left, more)| left & more).collect::<Vec<u64>>();
            return rules_of(&left).map(|at| &of.rules[at]).find(|rule| rule.has_classes(texts));
        }
        rules_of(&left).map(|at| &of.rules[at]).find(|rule| {
            rule.has_classes(texts)
                && rule.arguments.as_ref().is_none_or(|pattern| pattern.is_match(looked.arguments.text()))
        })
    }
}

fn text_of(tables: Option<&Tables>, id: Option<StringId>) -> &str {
    tables.zip(id).map_or("", |(tables, id)| tables.string(id))
}

/// Appends a label with its holes filled, cut to the maximum length, and returns the length of the uncut label in
/// bytes.
fn fill(
    label: &mut String,
    template: &Label,
    rule: Option<&Rule>,
    looked: &mut CommandProperties<'_, '_>,
    texts: &[String],
) -> usize {
    let has_groups = template.parts.iter().any(|part| matches!(part, Segment::Group(..) | Segment::Identifier(..)));
    let captured = rule.map_or(&[][..], |rule| &rule.captured).iter().filter(|_| has_groups);
    let captured: Vec<_> = captured.collect();
    if captured.iter().any(|(field, _)| field.is_none()) {
        looked.arguments.text();
    }
    let arguments = looked.arguments.text.as_deref().unwrap_or_default();
    let captures: Vec<Option<Captures<'_>>> = captured
        .iter()
        .map(|(field, pattern)| pattern.captures(field.map_or(arguments, |field| looked.fields[field as usize])))
        .collect();
    let mut bytes = 0;
    for part in &template.parts {
        let identifier;
        let text = match part {
            Segment::Text(text) => text,
            Segment::Group(pattern, group) => template::captured(captures[*pattern].as_ref(), *group),
            Segment::Identifier(pattern, group) => {
                identifier = template::captured(captures[*pattern].as_ref(), *group).replace('-', "_");
                &identifier
            }
            Segment::Field(Field::Directory) => last_part(looked.fields[Field::Directory as usize]),
            Segment::Field(field) => looked.fields[*field as usize],
            Segment::Class(other) => &texts[*other],
        };
        push(label, text);
        bytes += text.len();
    }
    bytes
}

/// Whether a label was cut. A label of maximum length that ends with the mark by itself counts as cut.
pub(super) fn is_cut(label: &str) -> bool {
    label.ends_with(CUT) && label.len() + char::MAX_LEN_UTF8 > MOST_LABEL_BYTES
}

/// Appends text to a label, up to the maximum length: a capture may be as long as the arguments of the program.
fn push(label: &mut String, text: &str) {
    let room = MOST_LABEL_BYTES.saturating_sub(label.len());
    if text.len() <= room {
        label.push_str(text);
    } else if !label.ends_with(CUT) || room > 0 {
        label.push_str(&text[..text.floor_char_boundary(room)]);
        let end = label.floor_char_boundary(MOST_LABEL_BYTES - CUT.len());
        label.truncate(end);
        label.push_str(CUT);
    }
}

/// The last part of a path; `/` for the root.
fn last_part(path: &str) -> &str {
    let trimmed = path.trim_end_matches('/');
    if trimmed.is_empty() { path } else { trimmed.rsplit('/').next().unwrap_or(trimmed) }
}
