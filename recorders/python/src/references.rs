//! The references of an object, with their names.
//!
//! The references of an object are those that it reports to the collector, in an order of its own and without names.
//! Names come from elsewhere: elements, items, members of the class, attributes, variables. The two lists are matched
//! by the target objects, which mostly come in the same order.

use barrow_writer::{Label, Result, StringId, Writer};
use foldhash::HashSet;

use crate::classes::{Facts, Known, Shape};
use crate::object::{Object, Record, flags};
use crate::texts::cut;

/// Distance from the expected place within which a name is searched.
const WINDOW: usize = 16;
/// Slots of the cache of names: a power of two.
const CACHE_SLOTS: usize = 1 << 16;

/// A reference: what it leads to, what it is called, whether it holds what it leads to.
#[derive(Clone, Copy)]
pub(crate) struct Reference<'s> {
    pub(crate) target: Object<'s>,
    pub(crate) label: Label,
    pub(crate) is_weak: bool,
}

/// Finds references, and keeps the memory that takes from object to object.
pub(crate) struct References<'s, 'w> {
    writer: &'w Writer,
    known: &'w Known,
    found: Vec<Reference<'s>>,
    /// References that are found already, though they may be reported to the collector: strings that are keys or names
    /// are not, since they are in no cycle.
    told: Expected<'s>,
    named: Expected<'s>,
    names: Names<'w>,
    own: OwnNames,
}

/// Names that are the same for many objects.
struct OwnNames {
    class: StringId,
    dict: StringId,
    referent: StringId,
}

impl<'s, 'w> References<'s, 'w> {
    pub(crate) fn new(writer: &'w Writer, known: &'w Known) -> Result<Self> {
        let own = OwnNames {
            class: writer.string("__class__")?,
            dict: writer.string("__dict__")?,
            referent: writer.string("referent")?,
        };
        Ok(References {
            writer,
            known,
            found: Vec::new(),
            told: Expected::default(),
            named: Expected::default(),
            names: Names::new(writer),
            own,
        })
    }

    /// The references of an object whose class is known.
    pub(crate) fn of(&mut self, object: Object<'s>, facts: &Facts<'s>, is_collected: bool) -> Result<&[Reference<'s>]> {
        self.found.clear();
        match facts.shape {
            Shape::Dict => self.items(object)?,
            Shape::List => self.found.extend(elements(object.list_items()).map(strong)),
            Shape::Tuple => self.found.extend(elements(object.tuple_items()).map(strong)),
            _ => self.others(object, facts, is_collected)?,
        }
        Ok(&self.found)
    }

    /// The name of a variable, an attribute or an item.
    pub(crate) fn name(&mut self, text: Object<'s>) -> Result<StringId> {
        self.names.of(text)
    }

    fn items(&mut self, dict: Object<'s>) -> Result<()> {
        if dict.shows_an_instance() {
            return Ok(());
        }
        let (found, names) = (&mut self.found, &mut self.names);
        let mut outcome = Ok(());
        dict.dict_items(|key, value| {
            let label = names.of_key(key).unwrap_or_else(|error| {
                outcome = Err(error);
                Label::Unknown
            });
            found.push(strong((key, Label::Unknown)));
            found.push(strong((value, label)));
        });
        outcome
    }

    fn others(&mut self, object: Object<'s>, facts: &Facts<'s>, is_collected: bool) -> Result<()> {
        self.told.clear();
        self.named.clear();
        match facts.shape {
            Shape::DictAndMore => self.items(object)?,
            Shape::Class => self.parts_of_class(object)?,
            Shape::ListAndMore => elements(object.list_items()).for_each(|(item, label)| self.named.push(item, label)),
            Shape::TupleAndMore => {
                elements(object.tuple_items()).for_each(|(item, label)| self.named.push(item, label))
            }
            Shape::Frame => self.variables(object.frame_record())?,
            Shape::Generator => self.variables(object.generator_record())?,
            _ => {}
        }
        self.attributes(object, facts);
        if facts.shape == Shape::DictAndMore {
            self.leave_names_to_attributes(object)?;
        }
        self.found.iter().for_each(|one| self.told.push(one.target, one.label));
        let (found, told, named) = (&mut self.found, &mut self.told, &mut self.named);
        if is_collected {
            object.traverse(|target| {
                if told.take(target).is_none() {
                    found.push(strong((target, named.take(target).unwrap_or(Label::Unknown))));
                }
            });
        } else {
            found.extend(named.entries.drain(..).flatten().map(strong));
        }
        if facts.shape == Shape::WeakReference
            && let Some(target) = object.referent()
        {
            found.push(Reference { target, label: Label::Name(self.own.referent), is_weak: true });
        }
        Ok(())
    }

    fn attributes(&mut self, object: Object<'s>, facts: &Facts<'s>) {
        let members = facts.members.iter().filter_map(|&(member, name)| Some((object.member(member)?, name)));
        let values = object.attribute_values(facts.attributes.len()).iter().zip(&facts.attributes);
        let values = values.filter_map(|(&value, &name)| Some((value?, name)));
        let dicts = [object.attribute_dict(), object.managed_dict()].into_iter().flatten();
        let dicts = dicts.map(|dict| (dict, self.own.dict));
        let class = facts.is_held.then(|| (object.class().object(), self.own.class));
        let all = members.chain(values).chain(dicts).chain(class);
        all.for_each(|(target, name)| self.named.push(target, Label::Name(name)));
    }

    /// Removes the label of each item of a dictionary whose key is also the name of an attribute: the item is found by its key.
    fn leave_names_to_attributes(&mut self, object: Object<'s>) -> Result<()> {
        let mut own: HashSet<Label> = self.named.entries.iter().flatten().map(|&(_, label)| label).collect();
        let (names, mut outcome) = (&mut self.names, Ok(()));
        for dict in [object.attribute_dict(), object.managed_dict()].into_iter().flatten() {
            dict.dict_items(|key, _| match names.of_key(key) {
                Ok(label) => _ = own.insert(label),
                Err(error) => outcome = Err(error),
            });
        }
        for item in &mut self.found {
            if own.contains(&item.label) {
                item.label = Label::Unknown;
            }
        }
        outcome
    }

    fn parts_of_class(&mut self, object: Object<'s>) -> Result<()> {
        let Some(class) = object.as_class() else { return Ok(()) };
        for (name, part) in class.names() {
            if let Some(target) = part {
                self.found.push(strong((target, Label::Name(self.writer.string(name)?))));
            }
        }
        for (name, part) in class.holds() {
            if let Some(part) = part {
                self.named.push(part, Label::Name(self.writer.string(name)?));
            }
        }
        Ok(())
    }

    fn variables(&mut self, record: Option<Record<'s>>) -> Result<()> {
        let Some(record) = record else { return Ok(()) };
        let Some(code) = record.code(self.known.code) else { return Ok(()) };
        for (name, held) in record.variables(code) {
            self.named.push(held.object, Label::Name(self.names.of(name)?));
        }
        Ok(())
    }
}

fn strong<'s>((target, label): (Object<'s>, Label)) -> Reference<'s> {
    Reference { target, label, is_weak: false }
}

fn elements<'s>(items: &'s [Option<Object<'s>>]) -> impl Iterator<Item = (Object<'s>, Label)> {
    items.iter().zip(0..).filter_map(|(&item, index)| Some((item?, Label::Index(index))))
}

/// Objects with names, in about the order in which they will be met.
#[derive(Default)]
struct Expected<'s> {
    entries: Vec<Option<(Object<'s>, Label)>>,
    /// The place at which the next one is expected.
    next: usize,
}

impl<'s> Expected<'s> {
    fn clear(&mut self) {
        self.entries.clear();
        self.next = 0;
    }

    fn push(&mut self, object: Object<'s>, label: Label) {
        self.entries.push(Some((object, label)));
    }

    /// Takes the name of an object that was met, if it is close to where it is expected.
    fn take(&mut self, met: Object<'s>) -> Option<Label> {
        let is_it = |entry: &Option<(Object<'s>, Label)>| entry.is_some_and(|(object, _)| object == met);
        let (before, ahead) = self.entries.split_at(self.next.min(self.entries.len()));
        let found = ahead.iter().take(WINDOW).position(is_it).map(|place| self.next + place);
        let from = before.len().saturating_sub(WINDOW);
        let found = found.or_else(|| before[from..].iter().position(is_it).map(|place| from + place))?;
        self.next = found + 1;
        self.entries[found].take().map(|(_, label)| label)
    }
}

/// Names of attributes and items, by the address of the string that says them: most are used again soon.
struct Names<'w> {
    writer: &'w Writer,
    cache: Vec<(u64, StringId)>,
}

impl<'w> Names<'w> {
    fn new(writer: &'w Writer) -> Self {
        Names { writer, cache: vec![(0, StringId(0)); CACHE_SLOTS] }
    }

    fn of(&mut self, text: Object<'_>) -> Result<StringId> {
        let address = text.address();
        let slot = (address >> 4) as usize % CACHE_SLOTS;
        if self.cache[slot].0 != address {
            self.cache[slot] = (address, self.writer.string(&cut(text.text()))?);
        }
        Ok(self.cache[slot].1)
    }

    /// The label of an item by its key: a string, a whole number, `None`, `True` or `False`.
    fn of_key(&mut self, key: Object<'_>) -> Result<Label> {
        if key.class().has(flags::TEXT) {
            return self.of(key).map(Label::Name);
        }
        match key.plain_text() {
            Some(text) => self.writer.string(&text).map(Label::Name),
            None => Ok(Label::Unknown),
        }
    }
}
