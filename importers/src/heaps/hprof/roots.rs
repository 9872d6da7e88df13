//! The roots, with their categories, threads and frames.

use std::collections::HashMap;

use barrow_writer::{Shard, Snapshot, StringId, ThreadDescription};

use crate::context::Context;
use crate::error::{ImportError, Stop};

use super::classes::Classes;
use super::outline::{Outline, Table};
use super::records::{FieldType, Root, SubRecord, THREAD, id};
use super::stacks::frame_text;
use super::texts::Texts;

/// Maximum length of the names of threads, in bytes.
const MAX_NAME_BYTES: usize = 256;

/// A thread.
#[derive(Debug)]
struct Thread {
    name: String,
    /// What the labels of its roots begin with: its name, and its serial too if another thread has that name.
    label: String,
    /// The serial of its stack trace.
    trace: Option<u32>,
}

/// The tag of classes that the JVM itself keeps alive.
const STICKY_CLASS: u8 = 0x05;

/// The category of roots for the constants of classes. No dump has such roots.
const CONSTANT_POOL: &str = "constant pool";

/// The beginning of the keys of stacks, which go on with the name of the thread.
pub(super) const THREAD_OF: &str = "thread ";

/// Adds the classes of the boot loader, which nothing unloads, to the roots of a dump that names no sticky class; how many.
/// `jhsdb jmap` writes none. A dump without the boot loader's first class holds no heap of a whole JVM.
pub(super) fn add_boot_classes(outline: &mut Outline<'_>) -> usize {
    if outline.roots.iter().any(|root| root.tag == STICKY_CLASS) {
        return 0;
    }
    let boot_classes = outline.classes.iter().filter(|class| class.loader == 0);
    let boot_classes: Vec<u64> = boot_classes.map(|class| class.address).collect();
    let mut names = boot_classes.iter().map(|&class| outline.names.class_name(class));
    if !names.any(|name| name.as_deref() == Some("java.lang.Object")) {
        return 0;
    }
    let roots = boot_classes.iter().map(|&object| Root { tag: STICKY_CLASS, object, thread: None, place: None });
    outline.roots.extend(roots);
    boot_classes.len()
}

/// The roots of a heap dump, with their names.
pub(super) struct Roots<'o, 'a, const ID: usize> {
    outline: &'o Outline<'a>,
    classes: &'o Classes<'o, 'a, ID>,
    /// By serial.
    threads: Table<u32, Thread>,
    /// The addresses of arrays taken as constant pools.
    constant_pools: &'o [u64],
}

impl<'o, 'a, const ID: usize> Roots<'o, 'a, ID> {
    pub(super) fn new(outline: &'o Outline<'a>, classes: &'o Classes<'o, 'a, ID>, constant_pools: &'o [u64]) -> Self {
        let mut roots = Roots { outline, classes, threads: Table::default(), constant_pools };
        let texts = Texts::new(outline, classes, MAX_NAME_BYTES);
        for root in outline.roots.iter().filter(|root| root.tag == THREAD) {
            if let Some(serial) = root.thread {
                let name = texts.as_ref().and_then(|texts| roots.thread_name(root.object, texts));
                let name = name.unwrap_or_else(|| format!("{THREAD_OF}{serial}"));
                roots.threads.insert(serial, Thread { label: name.clone(), name, trace: root.place });
            }
        }
        roots.distinguish();
        roots
    }

    /// Gives threads of equal names labels of their own.
    fn distinguish(&mut self) {
        let mut threads_of: HashMap<String, u32> = HashMap::new();
        for thread in self.threads.values() {
            *threads_of.entry(thread.name.clone()).or_default() += 1;
        }
        for (serial, thread) in self.threads.iter_mut().filter(|(_, thread)| threads_of[&thread.name] > 1) {
            thread.label = format!("{} ({THREAD_OF}{serial})", thread.name);
        }
    }

    /// Announces the roots. Returns the number of those that lead to nothing in the dump.
    pub(super) fn announce(&self, snapshot: &Snapshot<'_>, context: &Context<'_>) -> Result<u64, Stop> {
        let mut shard = snapshot.shard();
        let mut missing = 0;
        for root in self.outline.roots.iter().filter(|root| holds(root.tag)) {
            match self.outline.addresses.number(root.object) {
                Some(number) => self.announce_one(root, number, &mut shard, context)?,
                None => missing += u64::from(root.object != 0),
            }
        }
        for number in self.constant_pools.iter().filter_map(|&pool| self.outline.addresses.number(pool)) {
            shard.root(context.vocabulary.word(CONSTANT_POOL)?, None, number.into())?;
        }
        shard.finish()?;
        Ok(missing)
    }

    /// Announces the threads, by serial.
    pub(super) fn announce_threads(&self, snapshot: &Snapshot<'_>) -> Result<(), Stop> {
        let mut threads: Vec<(&u32, &Thread)> = self.threads.iter().collect();
        threads.sort_by_key(|&(serial, _)| serial);
        for (&serial, thread) in threads {
            let (name, root_label) = (Some(&*thread.name), Some(&*thread.label));
            snapshot.thread(&ThreadDescription { name, root_label, ..ThreadDescription::new(serial.into()) })?;
        }
        Ok(())
    }

    /// The numbers of the objects that are threads, each with the thread's name.
    pub(super) fn thread_objects(&self) -> impl Iterator<Item = (u32, &str)> {
        let roots = self.outline.roots.iter().filter(|root| root.tag == THREAD);
        roots.filter_map(|root| {
            Some((self.outline.addresses.number(root.object)?, &*self.threads.get(&root.thread?)?.name))
        })
    }

    /// The threads by label, each with its stack as text.
    pub(super) fn stacks(&self) -> Vec<(String, String)> {
        let mut stacks: Vec<(String, String)> = self
            .threads
            .values()
            .map(|thread| {
                let frames = thread.trace.into_iter().flat_map(|trace| self.outline.names.frames::<ID>(trace));
                let lines: Vec<String> = frames.map(|(_, frame)| frame_text(&self.outline.names, frame)).collect();
                (format!("{THREAD_OF}{}", thread.label), lines.join("\n"))
            })
            .collect();
        stacks.sort();
        stacks
    }

    fn announce_one(&self, root: &Root, number: u32, shard: &mut Shard<'_>, context: &Context<'_>) -> Result<(), Stop> {
        let category = context.vocabulary.word(category(root.tag))?;
        let label = self.label(root, context)?;
        shard.root(category, label, number.into())?;
        Ok(())
    }

    /// The label of a root's thread and, if known, its frame.
    fn label(&self, root: &Root, context: &Context<'_>) -> Result<Option<StringId>, ImportError> {
        let Some(serial) = root.thread else { return Ok(None) };
        let Some(thread) = self.threads.get(&serial) else { return Ok(None) };
        let is_in_frame = matches!(root.tag, 0x02 | 0x03 | 0x8e);
        let place = root.place.filter(|_| is_in_frame).map(|place| place as usize);
        let frame =
            thread.trace.zip(place).and_then(|(trace, place)| self.outline.names.frames::<ID>(trace).nth(place));
        let text = match frame {
            Some((_, frame)) => format!("{}: {}", thread.label, frame_text(&self.outline.names, frame)),
            None => thread.label.clone(),
        };
        context.vocabulary.string(&text).map(Some)
    }

    fn thread_name(&self, thread: u64, texts: &Texts<'_, '_, ID>) -> Option<String> {
        let name = self.outline.addresses.number(self.reference(thread, "name")?)?;
        let SubRecord::Instance { class, fields, .. } = self.outline.object::<ID>(name)? else { return None };
        let mut text = String::new();
        let class = self.classes.number(class)?;
        if !texts.has(class) {
            return None;
        }
        texts.read(class, fields, &mut text)?;
        (!text.is_empty()).then_some(text)
    }

    /// The address in a field of an object.
    fn reference(&self, object: u64, field: &str) -> Option<u64> {
        let (kind, value) = self.value(object, field)?;
        (kind == FieldType::Reference).then(|| id::<ID>(value)).filter(|&address| address != 0)
    }

    /// The value of a field of an object. Of several fields of the name it is that of the least derived class: a thread's own
    /// class may have others.
    fn value(&self, object: u64, field: &str) -> Option<(FieldType, &'a [u8])> {
        let part = self.outline.object::<ID>(self.outline.addresses.number(object)?)?;
        let SubRecord::Instance { class, fields, .. } = part else { return None };
        let (mut offset, mut found) = (0, None);
        for declaring in self.classes.chain(self.classes.number(class)?) {
            for (name, kind) in self.outline.classes[declaring].fields::<ID>() {
                let end = offset + usize::from(kind.bytes(ID as u8));
                if self.outline.names.text(name).as_deref() == Some(field) {
                    found = Some((kind, fields.get(offset..end)?));
                }
                offset = end;
            }
        }
        found
    }
}

/// The category of roots with this tag.
fn category(tag: u8) -> &'static str {
    match tag {
        0x01 => "JNI global",
        0x02 => "JNI local",
        0x03 => "Java frame",
        0x04 => "native stack",
        STICKY_CLASS => "sticky class",
        0x06 => "thread block",
        0x07 => "monitor used",
        THREAD => "thread",
        0x89 => "interned string",
        0x8a => "finalizing",
        0x8b => "debugger",
        0x8c => "reference cleanup",
        0x8d => "VM internal",
        0x8e => "JNI monitor",
        _ => "unknown",
    }
}

/// Returns whether a root with this tag keeps anything alive. Android marks objects that it found unreachable.
fn holds(tag: u8) -> bool {
    tag != 0x90
}
