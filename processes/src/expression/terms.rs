//! The terms of expressions about processes, and the names of attributes and properties.

use std::sync::Arc;

use barrow_expressions::{Range, TextTest, Unit};

use crate::image_set::ImageSet;
use crate::tree::ImageId;

/// An expression or a part of one.
pub(super) type Node = barrow_expressions::Node<Term>;

/// A test of an image.
#[derive(Debug, Clone)]
pub(super) enum Term {
    Text(TextAttribute, TextTest),
    Number(NumberAttribute, Range),
    Is(Property),
    Member(Arc<ImageSet>),
    Image(ImageId),
}

/// The attributes and properties of processes, with their meanings.
pub const ATTRIBUTES: [(&str, &str); 39] = [
    (
        "class",
        "label in the first schema, or with = and != in the first that has the label; `class.NAME` is that in NAME",
    ),
    ("command", "name of the program as it was started, without its folder"),
    ("executable", "path of the program"),
    ("arguments", "all arguments, with blanks between them, the name of the program first"),
    ("directory", "working directory in which the program began"),
    ("host", "machine that it ran on"),
    ("label", "what it built, in the words of the tool that started it"),
    ("process", "name of the process, such as \"1234:0\""),
    ("memory", "peak of its resident memory, in bytes"),
    ("cpu", "processor time: user and system"),
    ("user", "processor time in the program"),
    ("system", "processor time in the kernel"),
    ("waiting", "time without a processor that its threads could have used"),
    ("wall", "time from its beginning to its end, or to that of the recording"),
    ("reads", "bytes read from devices"),
    ("writes", "bytes written to devices"),
    ("faults", "page faults, minor and major"),
    ("majorfaults", "page faults that waited for a device"),
    ("exit", "exit status, of the last program of a process"),
    ("signal", "signal that ended it: a number, or a name such as KILL"),
    ("pid", "number that the system gave to the process"),
    ("image", "number of the program among those of its process, from 0"),
    ("began", "when it began, since the beginning of the recording"),
    ("ended", "when it ended; no comparison holds for what was still running"),
    ("children", "number of processes that it started"),
    ("descendants", "number of processes that it, its children and so on started"),
    ("depth", "number of ancestors of the process"),
    ("total.cpu", "processor time of the program and of its descendants"),
    ("total.user", "the same in programs"),
    ("total.system", "the same in the kernel"),
    ("total.waiting", "time without a processor that they could have used"),
    ("total.reads", "bytes read by the program and its descendants"),
    ("total.writes", "bytes written by them"),
    ("total.faults", "page faults of them"),
    (
        "failed",
        "true if it ended with an exit status other than 0, or by a signal; neither true nor false if that is unknown",
    ),
    ("forked", "true if it was forked and has executed nothing"),
    ("running", "true if it was still running when the recording ended"),
    ("waited", "true if it has ended and its parent waited for it; only recordings of `barrow record` tell"),
    ("outofmemory", "true if the system killed it because memory ran out; only recordings of `barrow record` tell"),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextAttribute {
    /// The label in the first schema, or in the first that has the label that it is compared with.
    Class,
    /// The label in the schema of this number.
    ClassOf(usize),
    Command,
    Executable,
    Arguments,
    Directory,
    Host,
    Label,
    Process,
    Signal,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberAttribute {
    Memory,
    Cpu,
    User,
    System,
    Waiting,
    Wall,
    Reads,
    Writes,
    Faults,
    MajorFaults,
    Exit,
    Signal,
    Pid,
    Image,
    Began,
    Ended,
    Children,
    Descendants,
    Depth,
    TotalCpu,
    TotalUser,
    TotalSystem,
    TotalWaiting,
    TotalReads,
    TotalWrites,
    TotalFaults,
}

/// A property that an image may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Property {
    Failed,
    Forked,
    Running,
    Waited,
    OutOfMemory,
}

/// The attribute or property at the start of a term.
pub(super) type Attribute = barrow_expressions::Attribute<TextAttribute, NumberAttribute, Property>;

/// The attribute with this name, in lower case; only the first schema is known here.
fn number(attribute: NumberAttribute) -> Attribute {
    Attribute::Number(attribute, Unit::Size)
}

fn time(attribute: NumberAttribute) -> Attribute {
    Attribute::Number(attribute, Unit::Duration)
}

pub(super) fn attribute_named(word: &str) -> Option<Attribute> {
    use NumberAttribute as N;
    use barrow_expressions::Attribute::{Either, Property as Is, Text};
    Some(match word {
        "class" => Text(TextAttribute::Class),
        "command" => Text(TextAttribute::Command),
        "executable" => Text(TextAttribute::Executable),
        "arguments" => Text(TextAttribute::Arguments),
        "directory" => Text(TextAttribute::Directory),
        "host" => Text(TextAttribute::Host),
        "label" => Text(TextAttribute::Label),
        "process" => Text(TextAttribute::Process),
        "memory" | "peak" => number(N::Memory),
        "cpu" => time(N::Cpu),
        "user" => time(N::User),
        "system" => time(N::System),
        "waiting" => time(N::Waiting),
        "wall" => time(N::Wall),
        "reads" => number(N::Reads),
        "writes" => number(N::Writes),
        "faults" => number(N::Faults),
        "majorfaults" => number(N::MajorFaults),
        "exit" => number(N::Exit),
        "signal" => Either(TextAttribute::Signal, N::Signal, Unit::Size),
        "pid" => number(N::Pid),
        "image" => number(N::Image),
        "began" => time(N::Began),
        "ended" => time(N::Ended),
        "children" => number(N::Children),
        "descendants" => number(N::Descendants),
        "depth" => number(N::Depth),
        "total.cpu" => time(N::TotalCpu),
        "total.user" => time(N::TotalUser),
        "total.system" => time(N::TotalSystem),
        "total.waiting" => time(N::TotalWaiting),
        "total.reads" => number(N::TotalReads),
        "total.writes" => number(N::TotalWrites),
        "total.faults" => number(N::TotalFaults),
        "failed" => Is(Property::Failed),
        "forked" => Is(Property::Forked),
        "running" => Is(Property::Running),
        "waited" => Is(Property::Waited),
        "outofmemory" => Is(Property::OutOfMemory),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_attribute_in_the_list_is_known() {
        for (name, meaning) in ATTRIBUTES {
            assert!(attribute_named(name).is_some() && !meaning.is_empty(), "{name}");
        }
    }
}
