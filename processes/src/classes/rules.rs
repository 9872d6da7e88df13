//! Compiled rules: the tests of each schema, and the order in which schemata are evaluated.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use barrow_analyzer::Recording;
use regex::Regex;

use super::Labeller;
use super::command::Launchers;
use super::file::{File, RuleText, SchemaText, Source, Text};
use super::patterns::FieldPatterns;
use super::template::{self, Field, Segment};
use crate::error::{ProcessError, Result};

/// The rules used without a file.
const DEFAULT: &str = include_str!("default.toml");
/// The label that excludes an image.
pub(super) const IGNORE: &str = "IGNORE";

/// Maximum length of a label in bytes. Labels are names of classes: a longer one is a mistake, and labels that contain
/// labels grow exponentially with the number of schemata.
pub(super) const MOST_LABEL_BYTES: usize = 4096;
/// Maximum number of texts of the program in a label, including those of the labels in it. Naming a class takes few.
const MOST_TEXTS: usize = 64;

/// Rules that assign labels to images.
#[derive(Debug)]
pub struct Rules {
    pub(super) schemata: Vec<SchemaRules>,
    /// The schemata, each after those whose labels it tests.
    pub(super) order: Vec<usize>,
    /// The schemata whose labels each tests.
    needs: Vec<Vec<usize>>,
    pub(super) launchers: Launchers,
}

/// A schema with those whose labels it tests, in an order in which they can be evaluated.
#[derive(Debug, Clone)]
pub struct Evaluation {
    schema: usize,
    schemata: Vec<usize>,
}

/// The rules of one schema.
#[derive(Debug)]
pub(super) struct SchemaRules {
    pub(super) name: String,
    /// The file they come from; `None` for default rules.
    file: Option<String>,
    pub(super) only: Vec<(usize, Regex)>,
    pub(super) rules: Vec<Rule>,
    /// For each of [`Field::ALL`].
    pub(super) fields: [FieldPatterns; 5],
    /// The patterns of the rules on the arguments.
    pub(super) arguments: FieldPatterns,
    /// The label if no rule matches.
    pub(super) otherwise: Label,
}

/// A label with holes.
#[derive(Debug)]
pub(super) struct Label {
    pub(super) parts: Vec<Segment>,
    /// Its line in the file.
    line: usize,
}

impl SchemaRules {
    /// Refuses a label that takes more than [`MOST_LABEL_BYTES`] with its captures. Default rules cut it instead: no
    /// text of a program makes them invalid.
    pub(super) fn check_length(&self, label: &Label, bytes: usize) -> Result<()> {
        let Some(file) = self.file.as_ref().filter(|_| bytes > MOST_LABEL_BYTES) else { return Ok(()) };
        let position = self.rules.iter().position(|rule| std::ptr::eq(&rule.label, label));
        let number = position.unwrap_or(self.rules.len()) + 1;
        let what = format!(
            "label {number} of the schema `{}` takes {bytes} bytes for a program of this recording, the limit is \
             {MOST_LABEL_BYTES}; a pattern that captures less, such as `(.{{0,99}})`, makes it shorter",
            self.name
        );
        Err(ProcessError::Rules { file: file.clone(), line: label.line, what })
    }
}

/// One rule.
#[derive(Debug)]
pub(super) struct Rule {
    /// The patterns with groups, in the order of [`Field::ALL`], then the one on the arguments.
    pub(super) captured: Vec<(Option<Field>, Regex)>,
    pub(super) arguments: Option<Regex>,
    pub(super) classes: Vec<(usize, Regex)>,
    pub(super) label: Label,
}

impl Rule {
    /// Whether its patterns match the labels in other schemata.
    pub(super) fn has_classes(&self, texts: &[String]) -> bool {
        self.classes.iter().all(|(other, pattern)| pattern.is_match(&texts[*other]))
    }
}

impl Rules {
    /// The rules used without a file.
    #[must_use]
    pub fn standard() -> &'static Self {
        static STANDARD: LazyLock<Rules> = LazyLock::new(|| {
            let source = Source { name: "default.toml", text: DEFAULT };
            source.parse().and_then(|file| Rules::compile(None, &[(source, &file)])).expect("the default file is right")
        });
        &STANDARD
    }

    /// Reads the rules of a file; `name` is its name in errors. Unless it says `default = false`, the default schemata
    /// follow its own, except those with the same names.
    ///
    /// # Errors
    /// [`ProcessError::Rules`] with the file, the line and the mistake.
    pub fn read(name: &str, text: &str) -> Result<Self> {
        let source = Source { name, text };
        let file = source.parse()?;
        if file.schema.is_empty() && !file.default {
            return Err(source.error(None, "there is no [[schema]]"));
        }
        let standard = Source { name: "default.toml", text: DEFAULT };
        match file.default {
            true => Rules::compile(Some(name), &[(source, &file), (standard, &standard.parse()?)]),
            false => Rules::compile(Some(name), &[(source, &file)]),
        }
    }

    /// The schemata at `wanted` positions and those whose labels they test, in an order in which they can be evaluated.
    pub(super) fn order_of(&self, wanted: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut is_needed: Vec<bool> = (0..self.schemata.len()).map(wanted).collect();
        for &schema in self.order.iter().rev() {
            if is_needed[schema] {
                self.needs[schema].iter().for_each(|&other| is_needed[other] = true);
            }
        }
        self.order.iter().copied().filter(|&schema| is_needed[schema]).collect()
    }

    /// A labeller of programs in the schema of `evaluation`.
    #[must_use]
    pub fn labeller<'t>(&'t self, recording: &'t Recording, evaluation: &'t Evaluation) -> Labeller<'t> {
        Labeller::new(recording, self, evaluation.schema, &evaluation.schemata)
    }

    /// The evaluation of the schema at this position.
    #[must_use]
    pub fn evaluation(&self, schema: usize) -> Evaluation {
        Evaluation { schema, schemata: self.order_of(|at| at == schema) }
    }

    /// The names of the schemata.
    pub fn schema_names(&self) -> impl Iterator<Item = &str> {
        self.schemata.iter().map(|schema| schema.name.as_str())
    }

    /// Compiles files in their order; a schema of an earlier file hides later ones with its name. The first file is the
    /// user's if it has a name.
    fn compile(user: Option<&str>, files: &[(Source<'_>, &File)]) -> Result<Self> {
        let mut all: Vec<(Source<'_>, &SchemaText)> = Vec::new();
        let mut of_user = 0;
        for &(source, file) in files {
            let before = all.len();
            for schema in &file.schema {
                let name = schema.name.get_ref();
                match all.iter().position(|(_, known)| known.name.get_ref() == name) {
                    Some(at) if at >= before => {
                        return Err(source.error(Some(schema.name.span()), format!("there are two schemata `{name}`")));
                    }
                    Some(_) => {}
                    None => all.push((source, schema)),
                }
            }
            of_user = if before == 0 { all.len() } else { of_user };
        }
        let names: Vec<&str> = all.iter().map(|(_, schema)| schema.name.get_ref().as_str()).collect();
        let compiled = (0..).zip(&all).map(|(at, &(source, schema))| {
            CompileContext { source, names: &names, file: user.filter(|_| at < of_user) }.schema(schema)
        });
        let (schemata, places): (Vec<SchemaRules>, Vec<SchemaReferences>) =
            compiled.collect::<Result<Vec<_>>>()?.into_iter().unzip();
        let order = in_order(&all, &names, &places)?;
        check_lengths(&all, &schemata, &order)?;
        let launchers =
            files.iter().map(|&(source, file)| Launchers::compile(source, file)).collect::<Result<Vec<_>>>()?;
        let needs = places.iter().map(|places| places.keys().copied().collect()).collect();
        Ok(Rules {
            schemata,
            order,
            needs,
            launchers: launchers.into_iter().fold(Launchers::default(), Launchers::and_then),
        })
    }
}

/// The schemata whose labels a schema tests, each with a place where it does.
type SchemaReferences = BTreeMap<usize, std::ops::Range<usize>>;

/// An order in which each schema follows those it needs.
fn in_order(all: &[(Source<'_>, &SchemaText)], names: &[&str], needs: &[SchemaReferences]) -> Result<Vec<usize>> {
    let mut order = Vec::with_capacity(all.len());
    let mut is_done = vec![false; all.len()];
    while order.len() < all.len() {
        match (0..all.len()).find(|&at| !is_done[at] && needs[at].keys().all(|&other| is_done[other])) {
            Some(at) => {
                is_done[at] = true;
                order.push(at);
            }
            None => return Err(circle(all, names, needs, &is_done)),
        }
    }
    Ok(order)
}

/// Size of a label, including the labels in it, whatever the program: bytes of its own text, and number of texts of the
/// program.
#[derive(Debug, Clone, Copy, Default)]
struct Extent {
    bytes: usize,
    texts: usize,
}

impl Extent {
    /// The extent of a label. `longest` has the largest label of each schema that it may contain.
    fn of(parts: &[Segment], longest: &[Extent]) -> Extent {
        let extents = parts.iter().map(|part| match part {
            Segment::Text(text) => Extent { bytes: text.len(), texts: 0 },
            Segment::Class(other) => longest[*other],
            Segment::Group(..) | Segment::Identifier(..) | Segment::Field(_) => Extent { bytes: 0, texts: 1 },
        });
        extents.fold(Extent::default(), Extent::and)
    }

    fn and(self, other: Extent) -> Extent {
        Extent { bytes: self.bytes.saturating_add(other.bytes), texts: self.texts.saturating_add(other.texts) }
    }
}

/// Refuses labels that are too long whatever the program, or that contain too many of its texts.
fn check_lengths(all: &[(Source<'_>, &SchemaText)], schemata: &[SchemaRules], order: &[usize]) -> Result<()> {
    let mut longest = vec![Extent::default(); schemata.len()];
    for &schema in order {
        let (source, text) = all[schema];
        let labels =
            text.rule.iter().map(|rule| &rule.label).zip(schemata[schema].rules.iter().map(|rule| &rule.label.parts));
        let otherwise = text.otherwise.iter().map(|label| (label, &schemata[schema].otherwise.parts));
        let mut most = Extent::default();
        for (number, (label, parts)) in (1..).zip(labels.chain(otherwise)) {
            let Extent { bytes, texts } = Extent::of(parts, &longest);
            let excess = match () {
                () if bytes > MOST_LABEL_BYTES => format!("takes {bytes} bytes, the limit is {MOST_LABEL_BYTES}"),
                () if texts > MOST_TEXTS => format!("holds {texts} texts of the program, the limit is {MOST_TEXTS}"),
                () => {
                    most = Extent { bytes: most.bytes.max(bytes), texts: most.texts.max(texts) };
                    continue;
                }
            };
            let what = format!("label {number} of the schema `{}` {excess}", text.name.get_ref());
            return Err(source.error(Some(label.span()), what));
        }
        longest[schema] = most;
    }
    Ok(())
}

/// The error for schemata that need each other.
fn circle(
    all: &[(Source<'_>, &SchemaText)],
    names: &[&str],
    needs: &[SchemaReferences],
    is_done: &[bool],
) -> ProcessError {
    let mut way = vec![(0..all.len()).find(|&at| !is_done[at]).unwrap_or_default()];
    loop {
        let last = next_needed(needs, is_done, way[way.len() - 1]);
        if let Some(start) = way.iter().position(|&at| at == last) {
            way.drain(..start);
            let text = way.iter().chain([&last]).map(|&at| names[at]).collect::<Vec<_>>().join(" → ");
            let (source, _) = all[way[0]];
            let place = needs[way[0]].get(&next_needed(needs, is_done, way[0])).cloned();
            return source.error(place, format!("schemata test each other in a circle: {text}"));
        }
        way.push(last);
    }
}

/// The next schema on a circle. Each schema that is not done needs another one that is not done, so the path returns.
fn next_needed(needs: &[SchemaReferences], is_done: &[bool], at: usize) -> usize {
    needs[at].keys().copied().find(|&other| !is_done[other]).unwrap_or(at)
}

/// The context in which the patterns and labels of a file are compiled.
#[derive(Clone, Copy)]
struct CompileContext<'c> {
    source: Source<'c>,
    names: &'c [&'c str],
    /// The user's file.
    file: Option<&'c str>,
}

impl CompileContext<'_> {
    fn schema(self, text: &SchemaText) -> Result<(SchemaRules, SchemaReferences)> {
        let mut needs = SchemaReferences::new();
        let only = self.classes(&text.only, &mut needs)?;
        let rules = text.rule.iter().map(|rule| self.rule(rule, &mut needs)).collect::<Result<Vec<_>>>()?;
        let otherwise = match &text.otherwise {
            Some(label) => self.label(label, &[], &mut needs)?,
            None => {
                Label { parts: vec![Segment::Field(Field::Program)], line: self.source.line(text.name.span().start) }
            }
        };
        let fields = [
            self.field(text, |rule| rule.program.as_ref())?,
            self.field(text, |rule| rule.script.as_ref())?,
            self.field(text, |rule| rule.executable.as_ref())?,
            self.field(text, |rule| rule.directory.as_ref())?,
            self.field(text, |rule| rule.target.as_ref())?,
        ];
        let arguments = self.field(text, |rule| rule.arguments.as_ref())?;
        let name = text.name.get_ref().clone();
        if name.is_empty() {
            return Err(self.source.error(Some(text.name.span()), "the name of a schema is empty"));
        }
        let file = self.file.map(str::to_owned);
        Ok((SchemaRules { name, file, only, rules, fields, arguments, otherwise }, needs))
    }

    /// The patterns of the rules of a schema on the field that `of` selects.
    fn field(self, text: &SchemaText, of: fn(&RuleText) -> Option<&Text>) -> Result<FieldPatterns> {
        let patterns = text.rule.iter().enumerate().filter_map(|(at, rule)| Some((at, of(rule)?.get_ref().as_str())));
        let patterns = FieldPatterns::new(&patterns.collect::<Vec<_>>(), text.rule.len());
        patterns.map_err(|what| self.source.error(Some(text.name.span()), what))
    }

    fn rule(self, text: &RuleText, needs: &mut SchemaReferences) -> Result<Rule> {
        let fields = [&text.program, &text.script, &text.executable, &text.directory, &text.target];
        let mut captured = Vec::new();
        for (field, pattern) in Field::ALL.into_iter().zip(fields) {
            if let Some(pattern) = pattern {
                captured.push((Some(field), self.source.pattern(pattern)?));
            }
        }
        let arguments = text.arguments.as_ref().map(|pattern| self.source.pattern(pattern)).transpose()?;
        captured.extend(arguments.clone().map(|pattern| (None, pattern)));
        captured.retain(|(_, pattern)| pattern.captures_len() > 1);
        let patterns: Vec<&Regex> = captured.iter().map(|(_, pattern)| pattern).collect();
        let label = self.label(&text.label, &patterns, needs)?;
        let classes = self.classes(&text.class, needs)?;
        Ok(Rule { captured, arguments, classes, label })
    }

    fn classes(self, tested: &BTreeMap<String, Text>, needs: &mut SchemaReferences) -> Result<Vec<(usize, Regex)>> {
        let compiled = tested.iter().map(|(name, pattern)| {
            let schema = self
                .find(name)
                .ok_or_else(|| self.source.error(Some(pattern.span()), format!("there is no schema `{name}`")))?;
            needs.entry(schema).or_insert(pattern.span());
            Ok((schema, self.source.pattern(pattern)?))
        });
        compiled.collect()
    }

    fn label(self, label: &Text, patterns: &[&Regex], needs: &mut SchemaReferences) -> Result<Label> {
        let parts = template::parse(label.get_ref(), patterns, |name| self.find(name));
        let parts = parts.map_err(|what| self.source.error(Some(label.span()), what))?;
        for part in &parts {
            if let Segment::Class(schema) = part {
                needs.entry(*schema).or_insert(label.span());
            }
        }
        Ok(Label { parts, line: self.source.line(label.span().start) })
    }

    fn find(self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| *known == name)
    }
}
