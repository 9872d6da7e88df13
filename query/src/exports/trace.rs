//! A process tree for viewers of traces: a bar for each process on its track, and the memory of all.

use std::io;

use barrow_processes::{Image, Process, ProcessId, ProcessTree, Schema, Tracks, Usage, memory_curve};

use crate::answer::shell;
use crate::tables::process_text::signal;

/// A process tree as a viewer shows it.
pub(crate) struct Trace<'t> {
    /// The tree.
    pub(crate) tree: &'t ProcessTree,
    /// The classes of its images.
    pub(crate) schema: &'t Schema,
    /// Called now and then; an error stops the writing.
    pub(crate) check: &'t dyn Fn() -> io::Result<()>,
}

/// A value that a bar shows when it is selected.
pub(crate) enum Detail {
    Text(String),
    Number(u64),
}

/// The bar of a process.
pub(crate) struct Bar {
    /// Its beginning, in nanoseconds since the trace began.
    pub(crate) began_ns: u64,
    /// Its end.
    pub(crate) ended_ns: u64,
    /// The program that it executed last.
    pub(crate) name: String,
    /// Its class.
    pub(crate) class: String,
    /// Everything else that is known.
    pub(crate) details: Vec<(&'static str, Detail)>,
}

/// The beginning or the end of a bar.
pub(crate) enum Edge {
    Begins(Bar),
    Ends(u64),
}

impl Trace<'_> {
    /// The recorded command.
    pub(crate) fn title(&self) -> String {
        let facts = self.tree.recording().facts().unwrap_or_default();
        let command = facts.into_iter().find(|(key, _)| key == "command").map(|(_, command)| command);
        command.unwrap_or_else(|| "processes".to_owned())
    }

    /// The memory of all processes: times, and bytes.
    pub(crate) fn memory(&self) -> impl Iterator<Item = (u64, u64)> {
        memory_curve(self.tree).into_iter().map(|(time_ns, bytes)| (self.time(time_ns), bytes))
    }

    /// The tracks.
    pub(crate) fn tracks(&self) -> Tracks {
        Tracks::of(self.tree)
    }

    /// The bar of a process.
    pub(crate) fn bar(&self, id: ProcessId) -> Bar {
        let process = self.tree.process(id);
        let image = self.tree.image(process.last_image);
        let (began_ns, ended_ns) = (self.time(process.began_ns), self.time(self.tree.ended_ns(process)));
        Bar {
            began_ns,
            ended_ns: ended_ns.max(began_ns),
            name: self.tree.command(image).unwrap_or("(unknown)").to_owned(),
            class: self.schema.class(process.last_image).unwrap_or_default().to_owned(),
            details: self.details(id, process),
        }
    }

    /// The beginnings and ends of the bars of a track, in their order.
    pub(crate) fn edges(&self, track: &[ProcessId], mut show: impl FnMut(Edge) -> io::Result<()>) -> io::Result<()> {
        let mut open: Vec<u64> = Vec::new();
        for &id in track {
            (self.check)()?;
            let bar = self.bar(id);
            while let Some(end) = open.pop_if(|end| *end <= bar.began_ns) {
                show(Edge::Ends(end))?;
            }
            open.push(bar.ended_ns);
            show(Edge::Begins(bar))?;
        }
        open.into_iter().rev().try_for_each(|end| show(Edge::Ends(end)))
    }

    /// A time since the trace began: that is the beginning of the recording, or what was recorded of earlier times.
    fn time(&self, time_ns: i64) -> u64 {
        time_ns.abs_diff(self.tree.span_ns().0.min(0))
    }

    fn details(&self, id: ProcessId, process: &Process) -> Vec<(&'static str, Detail)> {
        let last = self.tree.image(process.last_image);
        let images: Vec<&Image> = self.tree.images_of(id).map(|(_, image)| image).collect();
        let commands: Vec<String> = images.iter().map(|image| shell::line(self.tree.arguments(image))).collect();
        let texts = [
            ("process", Some(self.tree.name(id))),
            ("arguments", Some(commands.join("; then "))),
            ("directory", self.tree.directory(last).map(str::to_owned)),
            ("host", process.host.map(|host| self.tree.text(host).to_owned())),
            ("signal", process.end.and_then(|end| end.signal).map(signal)),
            ("ended", process.end.is_none().then(|| "was running when the recording ended".to_owned())),
        ];
        let numbers = [
            ("exit status", process.end.and_then(|end| end.exit_status)),
            ("user_ns", sum(&images, |used| used.user_ns)),
            ("system_ns", sum(&images, |used| used.system_ns)),
            ("peak_bytes", images.iter().filter_map(|image| image.used.peak_bytes).max()),
            ("read_bytes", sum(&images, |used| used.read_bytes)),
            ("written_bytes", sum(&images, |used| used.written_bytes)),
        ];
        let texts = texts.into_iter().filter_map(|(key, text)| Some((key, Detail::Text(text?))));
        texts.chain(numbers.into_iter().filter_map(|(key, number)| Some((key, Detail::Number(number?))))).collect()
    }
}

/// The sum over all images of which the amount is known.
fn sum(images: &[&Image], part: fn(&Usage) -> Option<u64>) -> Option<u64> {
    images.iter().filter_map(|image| part(&image.used)).reduce(u64::saturating_add)
}
