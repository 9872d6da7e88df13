//! The second pass: all threads announce objects with their references to the writer.

use std::sync::atomic::{AtomicU64, Ordering};

use barrow_writer::{FieldId, Label, Object, Shard, Snapshot, StrengthId, StringId, TypeId, Value};
use rayon::prelude::*;

use crate::context::Context;
use crate::error::{ImportError, Stop};

use super::arrays::{ArrayContents, ArrayReader};
use super::classes::{Classes, UNKNOWN_CLASS, UNKNOWN_FIELD, UNKNOWN_METHOD};
use super::conventions;
use super::outline::{Chunk, Outline, for_each_object};
use super::records::{FieldType, SubRecord, id};
use super::roots::Roots;
use super::stacks::Sites;
use super::texts::{OwnArrays, Texts};
use super::values;

/// Number of chunks that a job announces.
const JOB_CHUNKS: usize = 16;

/// Announces the objects of a dump.
pub(super) struct Announcer<'o, 'a, const ID: usize> {
    outline: &'o Outline<'a>,
    classes: &'o Classes<'o, 'a, ID>,
    context: &'o Context<'o>,
    labels: Labels,
    primitive_arrays: [PrimitiveArrays; 12],
    class_type: TypeId,
    /// The object number of `java.lang.Class`, to which classes refer.
    class_of_classes: Option<u64>,
    /// The type of objects whose class is not in the dump.
    unknown_type: TypeId,
    sites: Sites,
    /// `None` if no texts are recorded.
    texts: Option<Texts<'o, 'a, ID>>,
    /// The arrays that hold the characters of strings.
    string_arrays: Option<OwnArrays>,
    /// `None` if contents of arrays are not recorded.
    arrays: Option<ArrayReader>,
    missing: AtomicU64,
    odd_instances: AtomicU64,
    shortened_texts: AtomicU64,
    missing_texts: AtomicU64,
    /// The bytes of all texts so far.
    text_bytes: AtomicU64,
    /// The objects with names that are not their texts, by number: threads, and those that collections keep in place of
    /// null.
    named: Vec<(u64, StringId)>,
}

/// Arrays of one primitive type.
#[derive(Debug, Clone, Copy)]
struct PrimitiveArrays {
    type_id: TypeId,
    /// The field with their length, if that is recorded.
    length: Option<FieldId>,
    /// The field with the value shared by all elements, if that is recorded.
    same_elements: Option<FieldId>,
    /// The fields with all elements, and with only the first elements, if they are recorded.
    elements: Option<[FieldId; 2]>,
    /// The object number of their class, which is found by its name.
    class: Option<u64>,
}

/// The names of references that are not fields.
struct Labels {
    class: StringId,
    superclass: StringId,
    loader: StringId,
    signers: StringId,
    protection_domain: StringId,
}

/// Counts of data left out, because it is not in the dump or too long.
#[derive(Debug, Clone, Copy)]
pub(super) struct LeftOut {
    pub(super) references: u64,
    /// Instances whose class is not in the dump, or whose fields have another length than their class says.
    pub(super) odd_instances: u64,
    /// Texts of which only the beginning was recorded.
    pub(super) shortened_texts: u64,
    pub(super) texts: u64,
}

/// The texts read by a job.
#[derive(Debug, Default)]
struct JobTexts {
    /// The text read last.
    text: String,
    /// Counts not added to those of the announcer yet: bytes, shortened texts, texts not in the dump.
    bytes: u64,
    shortened: u64,
    missing: u64,
    /// The texts of all jobs exceed the limit; then no more are read.
    are_too_many: bool,
}

/// A job adds the bytes of its texts to the shared sum once they reach this number.
const COUNTED_TEXT_BYTES: u64 = 1 << 20;

/// The announcement of some chunks by one thread.
struct Job<'s, 'o, 'a, const ID: usize> {
    announcer: &'s Announcer<'o, 'a, ID>,
    shard: Shard<'s>,
    /// Number of references to objects that are not in the dump.
    missing: u64,
    odd_instances: u64,
    texts: JobTexts,
    /// The objects with names that the current chunk may hold and that are not announced yet.
    named: &'s [(u64, StringId)],
}

impl<'o, 'a, const ID: usize> Announcer<'o, 'a, ID> {
    pub(super) fn new(
        outline: &'o Outline<'a>,
        classes: &'o Classes<'o, 'a, ID>,
        roots: &Roots<'_, '_, ID>,
        context: &'o Context<'o>,
    ) -> Result<Self, ImportError> {
        let vocabulary = context.vocabulary;
        for word in [UNKNOWN_CLASS, UNKNOWN_FIELD, UNKNOWN_METHOD] {
            vocabulary.word(word)?;
        }
        let thread = |(number, name): (u32, &str)| Ok((u64::from(number), vocabulary.string(name)?));
        let mut named = roots.thread_objects().map(thread).collect::<Result<Vec<_>, ImportError>>()?;
        for number in classes.placeholders() {
            named.push((number, vocabulary.word(conventions::NULL)?));
        }
        named.sort_unstable_by_key(|&(number, _)| number);
        let unknown_type = classes.unknown_type()?;
        let none =
            PrimitiveArrays { type_id: unknown_type, length: None, same_elements: None, elements: None, class: None };
        let mut primitive_arrays = [none; 12];
        for (code, arrays) in (0..).zip(&mut primitive_arrays) {
            if let Some(element) = FieldType::new(code).filter(|&element| element != FieldType::Reference) {
                let type_id = classes.primitive_array_type(element)?;
                let length = classes.length_field(type_id)?;
                let same_elements = classes.same_elements_field(type_id, element)?;
                let class = classes.named_by(&format!("{}[]", element.name()));
                let elements = classes.elements_fields(type_id)?;
                *arrays = PrimitiveArrays { type_id, length, same_elements, elements, class };
            }
        }
        let contents = context.options.contents;
        let texts = contents.longest_text().and_then(|longest| Texts::new(outline, classes, longest));
        Ok(Announcer {
            outline,
            classes,
            context,
            labels: Labels {
                class: vocabulary.word("<class>")?,
                superclass: vocabulary.word("<superclass>")?,
                loader: vocabulary.word("<class loader>")?,
                signers: vocabulary.word("<signers>")?,
                protection_domain: vocabulary.word("<protection domain>")?,
            },
            primitive_arrays,
            class_type: classes.class_type()?,
            class_of_classes: classes.named_by("java.lang.Class"),
            unknown_type,
            sites: Sites::declare::<ID>(outline, context)?,
            string_arrays: texts.as_ref().map(|texts| texts.arrays(context)).transpose()?,
            texts,
            arrays: ArrayReader::new(contents),
            missing: AtomicU64::new(0),
            odd_instances: AtomicU64::new(0),
            shortened_texts: AtomicU64::new(0),
            missing_texts: AtomicU64::new(0),
            text_bytes: AtomicU64::new(0),
            named,
        })
    }

    /// Announces everything on all threads of the current pool. Returns the counts of data left out.
    pub(super) fn announce(&self, snapshot: &Snapshot<'_>) -> Result<LeftOut, Stop> {
        self.context.progress.begin("importing", self.outline.dump.len() as u64, "bytes");
        self.job(snapshot, |job| job.announce_classes())?;
        self.outline.chunks.par_chunks(JOB_CHUNKS).try_for_each(|chunks| {
            self.context.check_cancelled()?;
            self.job(snapshot, |job| chunks.iter().try_for_each(|chunk| job.announce_chunk(chunk)))
        })?;
        Ok(LeftOut {
            references: self.missing.load(Ordering::Relaxed),
            odd_instances: self.odd_instances.load(Ordering::Relaxed),
            shortened_texts: self.shortened_texts.load(Ordering::Relaxed),
            texts: self.missing_texts.load(Ordering::Relaxed),
        })
    }

    fn job(
        &self,
        snapshot: &Snapshot<'_>,
        announce: impl FnOnce(&mut Job<'_, 'o, 'a, ID>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let (shard, texts) = (snapshot.shard(), JobTexts::default());
        let mut job = Job { announcer: self, shard, missing: 0, odd_instances: 0, texts, named: &[] };
        announce(&mut job)?;
        job.shard.finish()?;
        // Relaxed: sums.
        self.missing.fetch_add(job.missing, Ordering::Relaxed);
        self.odd_instances.fetch_add(job.odd_instances, Ordering::Relaxed);
        self.text_bytes.fetch_add(job.texts.bytes, Ordering::Relaxed);
        self.shortened_texts.fetch_add(job.texts.shortened, Ordering::Relaxed);
        self.missing_texts.fetch_add(job.texts.missing, Ordering::Relaxed);
        Ok(())
    }
}

impl<const ID: usize> Job<'_, '_, '_, ID> {
    fn announce_classes(&mut self) -> Result<(), Stop> {
        let &Announcer { outline, classes, ref labels, class_type, class_of_classes, .. } = self.announcer;
        let own_class_bytes = classes.own_class_bytes();
        for (number, class) in outline.classes.iter().enumerate() {
            let mut object = Object::new(class_type, classes.class_bytes(class, own_class_bytes));
            object.address = Some(class.address).filter(|&address| address != 0);
            object.name = Some(self.announcer.context.vocabulary.string(classes.name(number))?);
            self.shard.object(number as u64, &object)?;
            for (field, value) in classes.static_values(class, class_type)? {
                self.shard.value(field, value)?;
            }
            self.class_reference(class_of_classes)?;
            for (label, address) in [
                (labels.superclass, class.superclass),
                (labels.loader, class.loader),
                (labels.signers, class.signers),
                (labels.protection_domain, class.protection_domain),
            ] {
                self.reference(Label::Name(label), StrengthId::STRONG, address)?;
            }
            for (name, kind, value) in class.statics::<ID>() {
                if kind == FieldType::Reference {
                    let name = outline.names.text(name).unwrap_or(UNKNOWN_FIELD.into());
                    let name = self.announcer.context.vocabulary.string(&name)?;
                    self.reference(Label::Name(name), StrengthId::STRONG, id::<ID>(value))?;
                }
            }
        }
        Ok(())
    }

    fn announce_chunk(&mut self, chunk: &Chunk<'_>) -> Result<(), Stop> {
        let mut number = u64::from(chunk.first_number);
        let named = &self.announcer.named;
        self.named = &named[named.partition_point(|&(object, _)| object < number)..];
        let mut result = Ok(());
        for_each_object::<ID>(chunk, |address, part| {
            if result.is_ok() {
                result = self.announce_object(number, address, part);
                number += 1;
            }
        });
        self.announcer.context.progress.advance(chunk.bytes.len() as u64);
        result
    }

    /// The name of an object that is not its text. Must be called in the order of object numbers.
    #[inline]
    fn name(&mut self, number: u64) -> Option<StringId> {
        while let [(object, name), rest @ ..] = self.named
            && *object <= number
        {
            self.named = rest;
            if *object == number {
                return Some(*name);
            }
        }
        None
    }

    #[inline]
    fn announce_object(&mut self, number: u64, address: u64, part: SubRecord<'_>) -> Result<(), Stop> {
        let &Announcer { outline, classes, ref sites, unknown_type, .. } = self.announcer;
        let mut object = Object::new(unknown_type, 0);
        object.address = Some(address).filter(|&address| address != 0);
        match part {
            SubRecord::Instance { trace, class, fields, .. } => {
                object.site = sites.of(trace);
                let Some(class_number) = classes.number(class) else {
                    object.shallow_bytes = outline.layout.instance_bytes(fields.len() as u64);
                    self.missing += 1;
                    self.odd_instances += 1;
                    self.shard.object(number, &object)?;
                    return Ok(());
                };
                let instances = classes.instances(class_number, fields.len())?;
                object.type_id = instances.type_id;
                object.shallow_bytes = instances.shallow_bytes;
                if fields.len() != instances.field_bytes {
                    self.odd_instances += 1;
                    if class_number >= outline.dumped_classes {
                        object.shallow_bytes = outline.layout.instance_bytes(fields.len() as u64);
                    }
                }
                object.name = match &self.announcer.texts {
                    Some(texts) if texts.has(class_number) => self.text(texts, class_number, fields)?,
                    _ => self.name(number),
                };
                self.shard.object(number, &object)?;
                for field in &instances.values {
                    if let Some(value) = field.value(fields) {
                        self.shard.value(field.field, value)?;
                    }
                }
                self.class_reference(instances.class)?;
                for field in &instances.references {
                    if let Some(value) = fields.get(field.offset..field.offset + ID) {
                        self.reference(field.label, field.strength, id::<ID>(value))?;
                    }
                }
            }
            SubRecord::ObjectArray { trace, class, elements, .. } => {
                object.site = sites.of(trace);
                let class_number = classes.number(class);
                let mut length = None;
                if let Some(class_number) = class_number {
                    (object.type_id, length) = classes.array_type(class_number)?;
                } else {
                    object.type_id = classes.unknown_array_type()?;
                    self.missing += 1;
                }
                let count = elements.len() / ID;
                object.shallow_bytes = outline.layout.array_bytes(FieldType::Reference, count as u64);
                self.shard.object(number, &object)?;
                self.length(length, count as u64)?;
                self.class_reference(class_number.and_then(|number| classes.named(number)))?;
                for (index, element) in (0..).zip(elements.chunks_exact(ID)) {
                    self.reference(Label::Index(index), StrengthId::STRONG, id::<ID>(element))?;
                }
            }
            SubRecord::PrimitiveArray { trace, element, count, elements, .. } => {
                object.site = sites.of(trace);
                object.shallow_bytes = outline.layout.array_bytes(element, count.into());
                self.primitive_array(number, object, element, count, elements)?;
            }
            _ => {}
        }
        Ok(())
    }

    #[inline]
    fn primitive_array(
        &mut self,
        number: u64,
        mut object: Object,
        element: FieldType,
        count: u32,
        elements: &[u8],
    ) -> Result<(), Stop> {
        let arrays = self.announcer.primitive_arrays[element.code() as usize];
        object.type_id = arrays.type_id;
        let same = arrays.same_elements.zip(values::of_all(element, elements));
        let contents = match same {
            Some(_) => None,
            None => self.contents(number, element, elements)?,
        };
        if let Some((ArrayContents::Text { .. }, text)) = contents {
            object.name = Some(text);
        }
        self.shard.object(number, &object)?;
        self.length(arrays.length, count.into())?;
        if let Some((field, value)) = same {
            self.shard.value(field, value)?;
        }
        if let (Some([all, first]), Some((ArrayContents::Elements { are_all }, text))) = (arrays.elements, contents) {
            self.shard.value(if are_all { all } else { first }, Value::Text(text))?;
        }
        self.class_reference(arrays.class)
    }

    /// Announces the length of an array.
    #[inline]
    fn length(&mut self, field: Option<FieldId>, length: u64) -> Result<(), Stop> {
        if let Some(field) = field {
            self.shard.value(field, Value::Unsigned(length))?;
        }
        Ok(())
    }

    /// Reads the contents of an array; `None` if they are not recorded.
    fn contents(
        &mut self,
        number: u64,
        kind: FieldType,
        elements: &[u8],
    ) -> Result<Option<(ArrayContents, StringId)>, Stop> {
        let Announcer { string_arrays, arrays, context, .. } = self.announcer;
        let is_of_string = string_arrays.as_ref().is_some_and(|arrays| arrays.contain(number));
        let Some(arrays) = arrays.as_ref().filter(|_| !is_of_string) else { return Ok(None) };
        let read = &mut self.texts;
        read.text.clear();
        let found = arrays.read(kind, elements, &mut read.text);
        read.shortened += u64::from(found == ArrayContents::Text { is_whole: false });
        Ok(Some((found, context.vocabulary.string(&read.text)?)))
    }

    /// Reads the characters of a string of class `class`.
    fn text(&mut self, texts: &Texts<'_, '_, ID>, class: usize, fields: &[u8]) -> Result<Option<StringId>, Stop> {
        let read = &mut self.texts;
        if read.bytes >= COUNTED_TEXT_BYTES {
            let bytes = std::mem::take(&mut read.bytes);
            // Relaxed: a sum, which may lack recent additions of other threads.
            let all = self.announcer.text_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
            read.are_too_many = all > texts.most_bytes();
        }
        read.text.clear();
        let is_whole = if read.are_too_many { None } else { texts.read(class, fields, &mut read.text) };
        read.bytes += read.text.len() as u64;
        read.missing += u64::from(is_whole.is_none() && !texts.has_none(class, fields));
        read.shortened += u64::from(is_whole == Some(false));
        let text = is_whole.map(|_| self.announcer.context.vocabulary.string(&read.text));
        Ok(text.transpose()?)
    }

    /// Announces the reference of an object to its class, if it has one.
    #[inline]
    fn class_reference(&mut self, class: Option<u64>) -> Result<(), Stop> {
        if let Some(class) = class {
            let label = Label::Name(self.announcer.labels.class);
            self.shard.reference(label, StrengthId::STRONG, class)?;
        }
        Ok(())
    }

    /// Announces a reference to the object at an address; 0 means none.
    #[inline]
    fn reference(&mut self, label: Label, strength: StrengthId, address: u64) -> Result<(), Stop> {
        if address == 0 {
            return Ok(());
        }
        match self.announcer.outline.addresses.number(address) {
            Some(target) => self.shard.reference(label, strength, target.into())?,
            None => self.missing += 1,
        }
        Ok(())
    }
}
