//! The table of attributes of processes: expressions, rankings, lists, groups, assertions, help, completion and documents
//! read it. An attribute is one row.
//!
//! Exit status, signal and `failed` belong to the last image of a process: earlier images ended by executing the next.

use std::borrow::Cow;

use barrow_analyzer::StringId;

use crate::class_totals::Measure;
use crate::knowledge::Knowledge;
use crate::selection::Selection;
use crate::totals::{Sum, faults};
use crate::tree::{Image, ImageId, ProcessTree};

mod amounts;
mod bounds;
mod numbers;
mod values;

pub use amounts::Amounts;
pub use values::{AttributeValue, Values};

pub(crate) use bounds::Bounds;
pub(crate) use numbers::{Column, Source};

/// An attribute or property of images.
#[derive(Debug, Clone, Copy)]
pub struct Attribute {
    word: &'static str,
    aliases: &'static [&'static str],
    document: &'static str,
    column: Option<&'static str>,
    pub(crate) reading: Reading,
    /// Whether the recorder tells it. Where it does not, no comparison holds.
    pub(crate) is_told: fn(&Knowledge) -> bool,
    /// Whether nearly each image has another value, so that it makes no groups.
    is_unique: bool,
    /// Whether its number of a program of which not all is recorded may contain that of another attribute.
    is_divided: bool,
    aggregate: Option<Aggregate>,
    of_classes: Option<Measure>,
}

/// The type of an attribute, and its place in the tree.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Reading {
    Text(Text),
    Number(Quantity, Source),
    /// A number whose values have names.
    Either(Text, Quantity, Source),
    /// True or false; `None` if the recording does not tell.
    Property(fn(&ProcessTree, ImageId) -> Option<bool>),
}

/// A text of images.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Text {
    /// The label in the first schema, or in the first that has the label that it is compared with.
    Class,
    /// The label in the schema of this number.
    ClassOf(usize),
    /// Stored once for all images that have it.
    Stored(fn(&ProcessTree, &Image) -> Option<StringId>),
    /// Found without being composed.
    Found(for<'t> fn(&'t ProcessTree, &Image) -> Option<&'t str>),
    /// Composed for each image.
    Composed(for<'t> fn(&'t ProcessTree, &Image) -> Option<Cow<'t, str>>),
    /// The name of the process.
    Process,
    /// The name of the signal that ended the image.
    Signal,
}

/// The unit of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Bytes.
    Bytes,
    /// Nanoseconds.
    Time,
    /// A plain count.
    Count,
    /// An identifier: it counts nothing.
    Number,
}

/// One number of several images: usually their sum.
#[derive(Debug, Clone, Copy)]
pub struct Aggregate {
    /// The number, as sentences call it; empty if it is always known.
    pub noun: &'static str,
    /// The number if any is known, and the number of images for which it is not known.
    pub of: fn(&Selection) -> (Option<u64>, u32),
    /// The meaning, with the least that an assertion about it may say; `None` for a sum.
    pub document: Option<&'static str>,
}

/// All attributes, in the order of `help expressions`.
pub static ATTRIBUTES: [Attribute; 39] = {
    use Quantity::{Bytes, Count, Number, Time};
    use Source::{Own, Starters, Total};
    [
        text(
            "class",
            "label in the first schema, or with = and != in the first that has the label; `class.NAME` is that in NAME",
            Text::Class,
        ),
        text(
            "command",
            "name of the program as it was started, without its folder",
            Text::Found(|tree, image| tree.command(image)),
        ),
        text("executable", "path of the program", Text::Stored(|tree, image| tree.program(image).executable)),
        text(
            "arguments",
            "all arguments, with blanks between them, the name of the program first",
            Text::Composed(joined_arguments),
        ),
        text(
            "directory",
            "working directory in which the program began",
            Text::Stored(|tree, image| tree.program(image).directory),
        ),
        text("host", "machine that it ran on", Text::Stored(|tree, image| tree.process(image.process).host)),
        text("label", "what it built, in the words of the tool that started it", Text::Found(label)),
        text(
            "process",
            "name of the process, such as \"1234:0\"",
            Text::Process,
        )
        .unique(),
        number("memory", "peak of its resident memory, in bytes", Bytes, Own(|_, _, image| image.used.peak_bytes))
            .also(&["peak"])
            .column("peak_bytes")
            .of_classes(Measure::Memory)
            .aggregate_of("peak of memory", |all| (all.peak_bytes, all.unknown_peaks))
            .which_is("`memory(EXPR) < 2G`, the largest peak of a single process"),
        number("cpu", "processor time: user and system", Time, Own(|tree, _, image| tree.cpu_ns(image)))
            .column("cpu_ns")
            .of_classes(Measure::Cpu)
            .aggregate_of("processor time", |all| (all.cpu_ns.value(), all.unknown_cpu())),
        number("user", "processor time in the program", Time, Own(|_, _, image| image.used.user_ns))
            .column("user_ns")
            .of_classes(Measure::User)
            .divided()
            .aggregate_of("user time", |all| known(all.user_ns)),
        number("system", "processor time in the kernel", Time, Own(|_, _, image| image.used.system_ns))
            .column("system_ns")
            .of_classes(Measure::System)
            .aggregate_of("system time", |all| known(all.system_ns)),
        number(
            "wall",
            "time from its beginning to its end, or to that of the recording",
            Time,
            Own(|tree, _, image| Some(tree.wall_ns(image))),
        )
        .column("wall_ns")
        .of_classes(Measure::Wall)
        .aggregate_of("", |all| (Some(all.wall_ns()), 0))
        .which_is("`wall(EXPR) < 10min`, from the beginning of the first to the end of the last"),
        number(
            "waiting",
            "time without a processor that its threads could have used",
            Time,
            Own(|_, _, image| image.used.waiting_ns),
        )
        .column("waiting_ns")
        .of_classes(Measure::Waiting)
        .aggregate_of("time without a processor", |all| known(all.waiting_ns)),
        number("reads", "bytes read from devices", Bytes, Own(|_, _, image| image.used.read_bytes))
            .column("read_bytes")
            .aggregate_of("number of bytes read", |all| known(all.read_bytes)),
        number("writes", "bytes written to devices", Bytes, Own(|_, _, image| image.used.written_bytes))
            .column("written_bytes")
            .aggregate_of("number of bytes written", |all| known(all.written_bytes)),
        number("faults", "page faults, minor and major", Count, Own(|_, _, image| faults(&image.used)))
            .aggregate_of("number of page faults", |all| known(all.faults)),
        number(
            "majorfaults",
            "page faults that waited for a device",
            Count,
            Own(|_, _, image| image.used.major_faults),
        )
        .aggregate_of("number of major page faults", |all| known(all.major_faults)),
        number(
            "exit",
            "exit status, of the last program of a process",
            Number,
            Own(|tree, id, _| tree.end_of(id)?.exit_status),
        ),
        Attribute::new(
            "signal",
            "signal that ended it: a number, or a name such as KILL",
            Reading::Either(Text::Signal, Number, Own(|tree, id, _| tree.end_of(id)?.signal)),
        ),
        number(
            "pid",
            "number that the system gave to the process",
            Number,
            Own(|tree, _, image| Some(tree.process(image.process).pid)),
        )
        .unique(),
        number(
            "image",
            "number of the program among those of its process, from 0",
            Number,
            Own(|_, _, image| Some(image.number.into())),
        ),
        number(
            "began",
            "when it began, since the beginning of the recording",
            Time,
            Own(|_, _, image| Some(numbers::since_beginning(image.began_ns))),
        )
        .column("started_ns"),
        number(
            "ended",
            "when it ended; no comparison holds for what was still running",
            Time,
            Own(|_, _, image| image.ended_ns.map(numbers::since_beginning)),
        )
        .column("ended_ns"),
        number("children", "number of processes that it started", Count, Starters(numbers::children))
            .told_if(|knows| knows.starters),
        number(
            "descendants",
            "number of processes that it, its children and so on started",
            Count,
            Starters(numbers::descendants),
        )
        .told_if(|knows| knows.starters),
        number("depth", "number of ancestors of the process", Number, Starters(numbers::depths))
            .told_if(|knows| knows.starters),
        number(
            "total.cpu",
            "processor time of the program and of its descendants",
            Time,
            Total(|tree, image| tree.cpu_ns(image)),
        ),
        number("total.user", "the same in programs", Time, Total(|_, image| image.used.user_ns)).divided(),
        number("total.system", "the same in the kernel", Time, Total(|_, image| image.used.system_ns)),
        number(
            "total.waiting",
            "time without a processor that they could have used",
            Time,
            Total(|_, image| image.used.waiting_ns),
        ),
        number(
            "total.reads",
            "bytes read by the program and its descendants",
            Bytes,
            Total(|_, image| image.used.read_bytes),
        ),
        number("total.writes", "bytes written by them", Bytes, Total(|_, image| image.used.written_bytes)),
        number("total.faults", "page faults of them", Count, Total(|_, image| faults(&image.used))),
        property(
            "failed",
            "true if it ended with an exit status other than 0, or by a signal; neither true nor false if that is unknown",
            has_failed,
        )
        .told_if(|knows| knows.failures),
        property("forked", "true if it was forked and has executed nothing", |tree, id| {
            let image = tree.image(id);
            (image.is_forked || !tree.program(image).is_empty()).then_some(image.is_forked)
        })
        .told_if(|knows| knows.starters),
        property("running", "true if it was still running when the recording ended", |tree, id| {
            Some(tree.image(id).ended_ns.is_none())
        }),
        property(
            "waited",
            "true if it has ended and its parent waited for it; only recordings of `barrow record` tell",
            |tree, id| {
                let process = tree.process(tree.image(id).process);
                tree.knowledge().waits.then_some(process.end.is_some() && !process.is_not_waited_for)
            },
        )
        .told_if(|knows| knows.waits),
        property(
            "outofmemory",
            "true if the system killed it because memory ran out; only recordings of `barrow record` tell",
            |tree, id| {
                let is_killed = tree.process(tree.image(id).process).is_killed_for_memory;
                tree.knowledge().memory_kills.then_some(tree.end_of(id).is_some() && is_killed)
            },
        )
        .told_if(|knows| knows.memory_kills),
    ]
};

const fn text(word: &'static str, document: &'static str, text: Text) -> Attribute {
    Attribute::new(word, document, Reading::Text(text))
}

const fn number(word: &'static str, document: &'static str, quantity: Quantity, source: Source) -> Attribute {
    Attribute::new(word, document, Reading::Number(quantity, source))
}

const fn property(
    word: &'static str,
    document: &'static str,
    holds: fn(&ProcessTree, ImageId) -> Option<bool>,
) -> Attribute {
    Attribute::new(word, document, Reading::Property(holds))
}

impl Attribute {
    const fn new(word: &'static str, document: &'static str, reading: Reading) -> Self {
        Attribute {
            word,
            aliases: &[],
            document,
            column: None,
            reading,
            is_told: |_| true,
            is_unique: false,
            is_divided: false,
            aggregate: None,
            of_classes: None,
        }
    }

    const fn also(self, aliases: &'static [&'static str]) -> Self {
        Attribute { aliases, ..self }
    }

    const fn column(self, key: &'static str) -> Self {
        Attribute { column: Some(key), ..self }
    }

    const fn told_if(self, is_told: fn(&Knowledge) -> bool) -> Self {
        Attribute { is_told, ..self }
    }

    const fn unique(self) -> Self {
        Attribute { is_unique: true, ..self }
    }

    const fn divided(self) -> Self {
        Attribute { is_divided: true, ..self }
    }

    const fn of_classes(self, measure: Measure) -> Self {
        Attribute { of_classes: Some(measure), ..self }
    }

    const fn aggregate_of(self, noun: &'static str, of: fn(&Selection) -> (Option<u64>, u32)) -> Self {
        Attribute { aggregate: Some(Aggregate { noun, of, document: None }), ..self }
    }

    const fn which_is(mut self, document: &'static str) -> Self {
        if let Some(aggregate) = &mut self.aggregate {
            aggregate.document = Some(document);
        }
        self
    }

    /// The attribute that `word` names exactly, in any case.
    #[must_use]
    pub fn named(word: &str) -> Option<&'static Attribute> {
        ATTRIBUTES.iter().find(|attribute| attribute.words().any(|known| known.eq_ignore_ascii_case(word)))
    }

    /// The attribute that `word` names, or the first one whose usual word begins with it, of those that are `wanted`.
    #[must_use]
    pub fn beginning(word: &str, wanted: impl Fn(&Attribute) -> bool) -> Option<&'static Attribute> {
        let lower = word.to_ascii_lowercase();
        let mut wanted_ones = ATTRIBUTES.iter().filter(|attribute| wanted(attribute));
        let exactly = Attribute::named(word).filter(|attribute| wanted(attribute));
        exactly.or_else(|| wanted_ones.find(|attribute| !lower.is_empty() && attribute.word.starts_with(&lower)))
    }

    /// The usual word for it.
    #[must_use]
    pub fn word(&self) -> &'static str {
        self.word
    }

    /// All words for it, the usual one first.
    pub fn words(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.word).chain(self.aliases.iter().copied())
    }

    /// The meaning, for people.
    #[must_use]
    pub fn document(&self) -> &'static str {
        self.document
    }

    /// The key of the column that shows it: a noun with its unit.
    #[must_use]
    pub fn key(&self) -> &'static str {
        self.column.unwrap_or(self.word)
    }

    /// The unit of its numbers; `None` if it is a text or a property.
    #[must_use]
    pub fn quantity(&self) -> Option<Quantity> {
        match self.reading {
            Reading::Number(quantity, _) | Reading::Either(_, quantity, _) => Some(quantity),
            Reading::Text(_) | Reading::Property(_) => None,
        }
    }

    /// Whether it is the name of the process.
    #[must_use]
    pub fn is_process(&self) -> bool {
        matches!(self.reading, Reading::Text(Text::Process))
    }

    /// Whether it is a number, which ranks images.
    #[must_use]
    pub fn ranks(&self) -> bool {
        self.quantity().is_some()
    }

    /// Whether images have it in common, so that it divides them into groups.
    #[must_use]
    pub fn groups(&self) -> bool {
        !self.is_unique && matches!(self.quantity(), None | Some(Quantity::Number))
    }

    /// One number of several images; `None` if such a number would say nothing.
    #[must_use]
    pub fn aggregate(&self) -> Option<Aggregate> {
        self.aggregate
    }

    /// Whether an image has the property; `None` if the recording does not tell, or if it is no property.
    pub(crate) fn holds(&self, tree: &ProcessTree, id: ImageId) -> Option<bool> {
        match self.reading {
            Reading::Property(holds) => holds(tree, id),
            Reading::Text(_) | Reading::Number(..) | Reading::Either(..) => None,
        }
    }

    /// The measure of classes that adds it up.
    #[must_use]
    pub fn class_measure(&self) -> Option<Measure> {
        self.of_classes
    }
}

fn label<'t>(tree: &'t ProcessTree, image: &Image) -> Option<&'t str> {
    tree.process(image.process).label.map(|label| tree.text(label))
}

/// A single argument is not copied.
fn joined_arguments<'t>(tree: &'t ProcessTree, image: &Image) -> Option<Cow<'t, str>> {
    let arguments: Vec<&str> = tree.arguments(image).collect();
    match &arguments[..] {
        [] => None,
        [only] => Some(Cow::Borrowed(only)),
        several => Some(several.join(" ").into()),
    }
}

fn has_failed(tree: &ProcessTree, id: ImageId) -> Option<bool> {
    let knows = tree.knowledge().failures;
    match tree.end_of(id) {
        Some(end) => (knows && end.is_known()).then(|| end.is_failure()),
        None => knows.then_some(false),
    }
}

/// A sum without the images of which it is not known, and their number.
fn known(sum: Sum) -> (Option<u64>, u32) {
    (sum.value(), sum.unknown())
}
