//! One snapshot: finds all objects, numbers them by address, announces them with their references, and finds the roots.
//!
//! ```text
//!   collected objects ─▶ reach ─▶ HeapMap ─▶ number ─▶ announce in order ─▶ roots: modules, frames,
//!                        (what only they hold)         (count references)   and whose count is not explained
//! ```

use barrow_writer::{Label, Object as Announced, Result, Shard, Snapshot, StrengthId, StringId, Word, Writer};

use crate::classes::{Classes, Known, Shape, Types};
use crate::heap_map::HeapMap;
use crate::interpreter::interpreter;
use crate::object::{Class, Held, Object, Record, Stopped, flags};
use crate::references::References;
use crate::sites::{Declared, keep, site_of};
use crate::stacks::{Frame, Place, frames};

/// Marks the unexplained references of an object that is never freed.
const IMMORTAL: i32 = i32::MAX / 2;

/// Inputs of the walk besides the heap.
pub(crate) struct Recipe<'w> {
    pub(crate) writer: &'w Writer,
    pub(crate) types: &'w mut Types,
    pub(crate) known: &'w Known,
    pub(crate) sites: Option<&'w mut Declared>,
    pub(crate) weak: StrengthId,
    /// The address of `sys.modules`.
    pub(crate) modules: u64,
}

/// Announces everything. Returns how many objects that is.
pub(crate) fn announce(stopped: &Stopped, recipe: &mut Recipe<'_>, snapshot: &Snapshot<'_>) -> Result<u64> {
    let frames = frames(stopped, recipe.known.code);
    let map = discover(stopped, recipe, &frames);
    let mut walk = Walk {
        stopped,
        weak: recipe.weak,
        sites: recipe.sites.as_deref_mut(),
        writer: recipe.writer,
        known: recipe.known,
        classes: Classes::new(recipe.writer, recipe.types, recipe.known),
        references: References::new(recipe.writer, recipe.known)?,
        unexplained: vec![0; map.len()],
        map,
        shard: snapshot.shard(),
    };
    walk.objects()?;
    walk.frames(&frames)?;
    walk.modules(recipe.modules)?;
    walk.held_elsewhere()?;
    if walk.sites.is_some() {
        keep(stopped, &walk.map);
    }
    let count = walk.map.len() as u64 + frames.iter().filter(|frame| frame.is_record()).count() as u64;
    walk.shard.finish()?;
    Ok(count)
}

/// Finds all objects: what the collector knows, and what can be reached from there and from the roots.
fn discover(stopped: &Stopped, recipe: &Recipe<'_>, frames: &[Frame<'_>]) -> HeapMap {
    let mut found = Discovery { map: HeapMap::new(), waiting: Vec::new(), class: 0, code: recipe.known.code };
    // SAFETY: the program is paused, and nothing below makes or frees objects.
    unsafe {
        interpreter().visit_collected(|address| {
            found.map.insert(address);
        });
        interpreter().visit_collected(|address| found.look_into(stopped.object(address)));
        found.reach(stopped.object(recipe.modules));
    }
    for frame in frames {
        frame.held().into_iter().for_each(|object| found.reach(object));
    }
    found.drain();
    found.map.number();
    found.map
}

struct Discovery<'s> {
    map: HeapMap,
    /// Found, but not looked into.
    waiting: Vec<Object<'s>>,
    /// The class looked at last.
    class: u64,
    code: u64,
}

impl<'s> Discovery<'s> {
    fn look_into(&mut self, object: Object<'s>) {
        self.parts(object);
        self.drain();
    }

    fn drain(&mut self) {
        while let Some(object) = self.waiting.pop() {
            self.parts(object);
        }
    }

    fn reach(&mut self, object: Object<'s>) {
        if !self.map.insert(object.address()) {
            return;
        }
        let class = object.class();
        if class.has(flags::HAVE_GC) || class.address() == self.code {
            self.waiting.push(object);
        } else {
            self.reach_class(class);
        }
    }

    fn reach_class(&mut self, class: Class<'s>) {
        if class.address() != self.class {
            self.class = class.address();
            self.reach(class.object());
        }
    }

    fn parts(&mut self, object: Object<'s>) {
        let class = object.class();
        self.reach_class(class);
        let is_collected = object.is_collected();
        if is_collected {
            object.traverse(|part| self.reach(part));
        }
        // References that are not reported to the collector.
        if class.has(flags::DICT) {
            object.dict_items(|key, _| self.reach(key));
        } else if let Some(class) = object.as_class() {
            let parts = class.holds().into_iter().chain(class.names()).filter_map(|(_, part)| part);
            parts.for_each(|part| self.reach(part));
        } else if !is_collected {
            // Seldom: code, mostly.
            for member in class.members() {
                object.member(member).into_iter().for_each(|part| self.reach(part));
            }
        }
    }
}

struct Walk<'s, 'w> {
    stopped: &'s Stopped,
    writer: &'w Writer,
    known: &'w Known,
    weak: StrengthId,
    sites: Option<&'w mut Declared>,
    classes: Classes<'s, 'w>,
    references: References<'s, 'w>,
    map: HeapMap,
    /// For each object, how many references the interpreter counts and nothing here explains.
    unexplained: Vec<i32>,
    shard: Shard<'w>,
}

impl<'s> Walk<'s, '_> {
    fn objects(&mut self) -> Result<()> {
        let map = std::mem::replace(&mut self.map, HeapMap::new());
        for (id, address) in (0..).zip(map.addresses()) {
            // SAFETY: it was found alive, and the program is paused.
            let object = unsafe { self.stopped.object(address) };
            self.object(&map, id, object)?;
        }
        self.map = map;
        Ok(())
    }

    fn object(&mut self, map: &HeapMap, id: u64, object: Object<'s>) -> Result<()> {
        let is_collected = object.is_collected();
        let mut type_id = None;
        if self.classes.facts(object.class())?.shape == Shape::Frame
            && let Some(code) = object.frame_record().and_then(|record| record.code(self.known.code))
        {
            type_id = Some(self.classes.type_of_frame(code)?);
        }
        let facts = self.classes.facts(object.class())?;
        let name = facts.name(object).map(|name| self.writer.string(&name)).transpose()?;
        let type_id = type_id.unwrap_or(facts.type_id);
        let site = match &mut self.sites {
            Some(declared) => {
                let block = object.address() - facts.bytes_before(is_collected);
                site_of(self.stopped, self.writer, declared, block)?
            }
            None => None,
        };
        let announced = Announced {
            address: Some(object.address()),
            name,
            site,
            ..Announced::new(type_id, facts.bytes(object, is_collected))
        };
        self.shard.object(id, &announced)?;
        for value in &facts.values {
            if let Some(held) = (value.read)(object) {
                self.shard.value(value.field, held)?;
            }
        }
        let own = &mut self.unexplained[usize::try_from(id).expect("numbers are below 2^32")];
        *own = own.saturating_add(
            object.reference_count().map_or(IMMORTAL, |count| i32::try_from(count).unwrap_or(IMMORTAL)),
        );
        for reference in self.references.of(object, facts, is_collected)? {
            let Some(target) = map.id(reference.target.address()) else { continue };
            let strength = if reference.is_weak { self.weak } else { StrengthId::STRONG };
            self.shard.reference(reference.label, strength, u64::from(target))?;
            if !reference.is_weak {
                self.unexplained[target as usize] -= 1;
            }
        }
        Ok(())
    }

    /// Announces frames that are records, and all frames as roots.
    fn frames(&mut self, frames: &[Frame<'s>]) -> Result<()> {
        let category = self.writer.word("frames")?;
        self.writer.word(Word::of_names("thread ").before_names())?;
        let mut next = self.map.len() as u64;
        for frame in frames {
            let id = match frame.place {
                Place::Object(object) => self.map.id(object.address()).map(u64::from),
                Place::Record(record) => {
                    self.record(frame.code, record, next)?;
                    next += 1;
                    Some(next - 1)
                }
            };
            if let Some(id) = id {
                let label = self.writer.string(&format!("thread {}", frame.thread))?;
                self.shard.root(category, Some(label), id)?;
            }
        }
        Ok(())
    }

    fn record(&mut self, code: Object<'s>, record: Record<'s>, id: u64) -> Result<()> {
        let type_id = self.classes.type_of_frame(code)?;
        self.shard.object(id, &Announced::new(type_id, 0))?;
        for (name, part) in record.parts() {
            let name = self.writer.string(name)?;
            self.held_by_record(part, name)?;
        }
        for (name, variable) in record.variables(code) {
            let name = self.references.name(name)?;
            self.held_by_record(variable, name)?;
        }
        Ok(())
    }

    fn held_by_record(&mut self, held: Held<'s>, name: StringId) -> Result<()> {
        let Some(target) = self.map.id(held.object.address()) else { return Ok(()) };
        self.unexplained[target as usize] -= i32::from(held.is_counted);
        self.shard.reference(Label::Name(name), StrengthId::STRONG, u64::from(target))
    }

    fn modules(&mut self, address: u64) -> Result<()> {
        let category = self.writer.word("modules")?;
        // SAFETY: the interpreter holds its modules.
        let modules = unsafe { self.stopped.object(address) };
        let mut roots = vec![(self.writer.word("sys.modules")?, modules)];
        if modules.class().has(flags::DICT) {
            let mut outcome = Ok(());
            modules.dict_items(|name, module| match self.references.name(name) {
                Ok(name) => roots.push((name, module)),
                Err(error) => outcome = Err(error),
            });
            outcome?;
        }
        for (name, object) in roots {
            if let Some(id) = self.map.id(object.address()) {
                self.shard.root(category, Some(name), u64::from(id))?;
            }
        }
        Ok(())
    }

    /// Roots of which nothing more is known: the interpreter counts references to them that no object has.
    fn held_elsewhere(&mut self) -> Result<()> {
        let (interpreter, immortal) = (self.writer.word("interpreter")?, self.writer.word("immortal")?);
        for (id, &unexplained) in (0..).zip(&self.unexplained) {
            if unexplained > 0 {
                let category = if unexplained > IMMORTAL / 2 { immortal } else { interpreter };
                self.shard.root(category, None, id)?;
            }
        }
        Ok(())
    }
}
