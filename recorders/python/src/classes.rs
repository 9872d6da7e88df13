//! Facts about each class: its type in the recording, the size of instances, and the names of their references.

use std::ffi::CStr;

use barrow_writer::{FieldId, KindId, KindRole, Result, StringId, TypeDescription, TypeId, Word, Writer};
use foldhash::HashMap;
use pyo3::prelude::*;

use crate::attributes;
use crate::interpreter::{class_of, layout};
use crate::object::{Class, Member, Object, SizeMethod, flags};
use crate::texts::{bytes_shown, cut, text_shown};
use crate::values::{MeasuredField, Measures};

/// Bytes of the header that the collector puts before each object.
const COLLECTOR_BYTES: u64 = 16;

/// Classes that the interpreter treats in a way of its own, by address.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    dict: u64,
    list: u64,
    tuple: u64,
    module: u64,
    frame: u64,
    weak_reference: u64,
    generators: [u64; 3],
    pub(crate) code: u64,
    method_descriptor: u64,
    none: u64,
    /// Fields of built-in classes with values other than references.
    measures: Measures,
    /// References that no member describes: the class, the name and the offset.
    untold: Vec<(u64, &'static CStr, usize)>,
}

impl Known {
    /// Asks the interpreter for them.
    pub(crate) fn find(py: Python<'_>) -> PyResult<Self> {
        Ok(Known {
            dict: class_of(py, c"{}")?,
            list: class_of(py, c"[]")?,
            tuple: class_of(py, c"()")?,
            module: class_of(py, c"__import__('sys')")?,
            frame: class_of(py, c"__import__('sys')._getframe()")?,
            weak_reference: class_of(py, c"__import__('_weakref').ref(type(lambda: 0))")?,
            generators: [
                class_of(py, c"(_ for _ in ())")?,
                py.import("types")?.getattr("CoroutineType")?.as_ptr() as u64,
                py.import("types")?.getattr("AsyncGeneratorType")?.as_ptr() as u64,
            ],
            code: class_of(py, c"(lambda: 0).__code__")?,
            method_descriptor: class_of(py, c"str.lower")?,
            none: class_of(py, c"None")?,
            measures: Measures::find(py)?,
            untold: untold(py)?,
        })
    }
}

impl Known {
    /// References of instances of a class that no member describes.
    fn untold<'s>(&self, class: Class<'s>) -> impl Iterator<Item = Member<'s>> {
        let of_class = self.untold.iter().filter(move |&&(of, ..)| of == class.address());
        // SAFETY: where one instance has such an object, all have one or null.
        of_class.map(|&(_, name, offset)| unsafe { Member::untold(name, offset) })
    }
}

/// Finds references that no member describes, in instances that are made with known attributes.
fn untold(py: Python<'_>) -> PyResult<Vec<(u64, &'static CStr, usize)>> {
    const PROBES: [(&CStr, &[&CStr]); 3] = [
        (
            c"(lambda space: exec('def probe(a: 1 = 2, *, b: 3 = 4): pass\\nprobe.mark = 5', space) or space['probe'])({})",
            &[
                c"__code__",
                c"__name__",
                c"__qualname__",
                c"__defaults__",
                c"__kwdefaults__",
                c"__annotations__",
                c"__annotate__",
            ],
        ),
        (c"(lambda x: lambda: x)([]).__closure__[0]", &[c"cell_contents"]),
        (c"[].append", &[c"__self__"]),
    ];
    let mut found = Vec::new();
    for (expression, names) in PROBES {
        let probe = py.eval(expression, None, None)?;
        let class = probe.get_type();
        let bytes: usize = class.getattr("__basicsize__")?.extract()?;
        for &name in names {
            // Not every version has all of them.
            let Ok(value) = probe.getattr(name.to_str().expect("names are ASCII")) else { continue };
            let value = value.as_ptr() as u64;
            let start = probe.as_ptr().cast::<u8>();
            // SAFETY: an instance has at least this many bytes.
            let offset =
                (16..bytes).step_by(8).find(|&offset| unsafe { start.add(offset).cast::<u64>().read() } == value);
            found.extend(offset.map(|offset| (class.as_ptr() as u64, name, offset)));
        }
    }
    Ok(found)
}

/// The way to find the references of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Plain,
    /// A dictionary, list or tuple, and nothing more.
    Dict,
    List,
    Tuple,
    /// Of a class derived from one of these.
    DictAndMore,
    ListAndMore,
    TupleAndMore,
    Class,
    Code,
    WeakReference,
    Frame,
    Generator,
}

/// The way to measure instances, as `sys.getsizeof` does.
#[derive(Clone, Copy)]
enum Sizing {
    /// A size, and one for each item.
    Fields(u64, u64),
    /// A function of C, and what to say if it fails.
    Method(SizeMethod, u64),
}

/// The source of the names of instances that have any.
#[derive(Clone, Copy)]
enum Naming<'s> {
    Nothing,
    Class,
    Code,
    /// By the object in a field: of functions.
    Field(Member<'s>),
    /// By `__name__` in its dictionary.
    Module,
    /// By what they say, in at most this many bytes: strings and bytes.
    Text(usize),
    Bytes(usize),
    None,
}

/// Facts about a class.
pub(crate) struct Facts<'s> {
    pub(crate) type_id: TypeId,
    pub(crate) shape: Shape,
    sizing: Sizing,
    /// Bytes before the object, besides the collector's.
    before_bytes: u64,
    pub(crate) members: Vec<(Member<'s>, StringId)>,
    /// Names of the attributes that instances keep without a dictionary.
    pub(crate) attributes: Vec<StringId>,
    /// Values of instances, other than references.
    pub(crate) values: Vec<MeasuredField>,
    /// Whether references may lead to the class itself.
    pub(crate) is_held: bool,
    naming: Naming<'s>,
}

impl<'s> Facts<'s> {
    /// The name of an instance, if it has one of its own.
    pub(crate) fn name(&self, object: Object<'s>) -> Option<String> {
        let text = |object: Object<'s>| object.class().has(flags::TEXT).then(|| cut(object.text()));
        match self.naming {
            Naming::Nothing => None,
            Naming::Class => object.as_class().map(|class| cut(class.full_name())),
            Naming::Code => object.code_name().and_then(text),
            Naming::Field(member) => object.member(member).and_then(text),
            Naming::Module => object.attribute_dict()?.item(c"__name__").and_then(text),
            Naming::Text(longest) => Some(text_shown(object, longest)),
            Naming::Bytes(longest) => Some(bytes_shown(object.bytes(), longest)),
            Naming::None => Some("None".to_owned()),
        }
    }

    /// Bytes between the beginning of an instance's block and the instance.
    pub(crate) fn bytes_before(&self, is_collected: bool) -> u64 {
        self.before_bytes + if is_collected { COLLECTOR_BYTES } else { 0 }
    }

    /// The size of an instance as `sys.getsizeof` returns it.
    pub(crate) fn bytes(&self, object: Object<'s>, is_collected: bool) -> u64 {
        let own = match self.sizing {
            Sizing::Fields(basic, 0) => basic,
            Sizing::Fields(basic, item) => basic + item * object.length(),
            Sizing::Method(method, otherwise) => object.size_by(method).unwrap_or(otherwise),
        };
        let by_class = layout().adds_collector_by_class && object.class().has(flags::HAVE_GC);
        let collector = if is_collected || by_class { COLLECTOR_BYTES } else { 0 };
        own + self.before_bytes + collector
    }
}

/// The types that a recording has: kept from snapshot to snapshot, since addresses of classes may be used again.
#[derive(Debug)]
pub(crate) struct Types {
    object: KindId,
    class: KindId,
    frame: KindId,
    declared: HashMap<(KindId, String, u32), TypeId>,
    fields: HashMap<(TypeId, &'static str), FieldId>,
    /// The most bytes of a text; `None` if nothing is recorded of what objects hold besides references.
    longest_text: Option<usize>,
}

impl Types {
    pub(crate) fn declare(writer: &Writer, longest_text: Option<usize>) -> Result<Self> {
        Ok(Types {
            object: writer.kind(writer.marked(Word::of_kind("object"))?, KindRole::Object)?,
            class: writer.kind(writer.marked(Word::of_kind("type"))?, KindRole::Type)?,
            frame: writer.kind(writer.marked(Word::of_kind("frame"))?, KindRole::Frame)?,
            declared: HashMap::default(),
            fields: HashMap::default(),
            longest_text,
        })
    }

    /// The type of a class's instances.
    fn of_instances(&mut self, writer: &Writer, class: Class<'_>) -> Result<TypeId> {
        let kind = if class.has(flags::CLASS) { self.class } else { self.object };
        let name = class.full_name();
        if let Some(&known) = self.declared.get(&(kind, name.clone(), 0)) {
            return Ok(known);
        }
        let base = class.base().map(|base| self.of_instances(writer, base)).transpose()?;
        let own = if self.longest_text.is_some() { attributes::of_type(&name) } else { &[] };
        let further: Vec<String> = class.further_bases().map(|base| base.full_name()).collect();
        let further = further.iter().map(|name| (attributes::FURTHER_BASES, &**name));
        let computed = class.computed();
        let computed = computed.iter().map(|name| (attributes::NOT_RECORDED, &**name));
        let attributes: Vec<(&str, &str)> = own.iter().copied().chain(further).chain(computed).collect();
        let description = TypeDescription { base, attributes: &attributes, ..TypeDescription::new(kind, &name) };
        let type_id = writer.declare_type(&description)?;
        self.declared.insert((kind, name, 0), type_id);
        Ok(type_id)
    }

    /// Fields of the instances of a class with values other than references. Each is declared by the class that adds
    /// it.
    fn values(&mut self, writer: &Writer, class: Class<'_>, known: &Known) -> Result<Vec<MeasuredField>> {
        let has_contents = self.longest_text.is_some();
        let mut values: Vec<MeasuredField> = Vec::new();
        for base in class.line().take_while(|_| has_contents) {
            for measure in known.measures.of(base) {
                if values.iter().any(|value| value.name == measure.name) {
                    continue;
                }
                let type_id = self.of_instances(writer, base)?;
                let field = match self.fields.get(&(type_id, measure.name)) {
                    Some(&field) => field,
                    None => writer.field(type_id, measure.name, measure.encoding, false)?,
                };
                self.fields.insert((type_id, measure.name), field);
                values.push(MeasuredField { name: measure.name, field, read: measure.read });
            }
        }
        Ok(values)
    }

    /// The type of the frames that run some code.
    pub(crate) fn of_frame(&mut self, writer: &Writer, code: Object<'_>) -> Result<TypeId> {
        let name = code.code_name().map(Object::text).unwrap_or_default();
        let file = code.code_file().map(Object::text).unwrap_or_default();
        let line = code.code_first_line();
        let key = (self.frame, format!("{name}\0{file}"), line.unwrap_or(0));
        if let Some(&known) = self.declared.get(&key) {
            return Ok(known);
        }
        let description = TypeDescription { file: Some(&file), line, ..TypeDescription::new(self.frame, &name) };
        let type_id = writer.declare_type(&description)?;
        self.declared.insert(key, type_id);
        Ok(type_id)
    }
}

/// The classes met in one snapshot.
pub(crate) struct Classes<'s, 'w> {
    writer: &'w Writer,
    types: &'w mut Types,
    known: &'w Known,
    by_address: HashMap<u64, usize>,
    facts: Vec<Facts<'s>>,
    last: (u64, usize),
}

impl<'s, 'w> Classes<'s, 'w> {
    pub(crate) fn new(writer: &'w Writer, types: &'w mut Types, known: &'w Known) -> Self {
        Classes { writer, types, known, by_address: HashMap::default(), facts: Vec::new(), last: (0, 0) }
    }

    /// Returns the facts about a class; computes them at its first use.
    pub(crate) fn facts(&mut self, class: Class<'s>) -> Result<&Facts<'s>> {
        let address = class.address();
        if self.last.0 != address {
            let place = match self.by_address.get(&address) {
                Some(&place) => place,
                None => self.meet(class)?,
            };
            self.last = (address, place);
        }
        Ok(&self.facts[self.last.1])
    }

    pub(crate) fn type_of_frame(&mut self, code: Object<'s>) -> Result<TypeId> {
        self.types.of_frame(self.writer, code)
    }

    #[cold]
    fn meet(&mut self, class: Class<'s>) -> Result<usize> {
        let shape = self.shape(class);
        let mut members = Vec::new();
        for member in class.members().into_iter().chain(self.known.untold(class)) {
            members.push((member, self.writer.string(&member.name.to_string_lossy())?));
        }
        let names = class.attribute_names();
        let attributes = names.into_iter().map(|name| self.writer.string(&name.text())).collect::<Result<_>>()?;
        let sizing = match class.size_method(self.known.method_descriptor) {
            Some(method) => Sizing::Method(method, class.basic_size()),
            None => Sizing::Fields(class.basic_size(), class.item_size()),
        };
        let has_preheader = layout().has_preheaders && class.has(flags::MANAGED_DICT | flags::MANAGED_WEAKREF);
        self.facts.push(Facts {
            type_id: self.types.of_instances(self.writer, class)?,
            shape,
            sizing,
            before_bytes: if has_preheader { 16 } else { 0 },
            members,
            attributes,
            values: self.types.values(self.writer, class, self.known)?,
            is_held: class.has(flags::HEAP_TYPE),
            naming: self.naming(class),
        });
        self.by_address.insert(class.address(), self.facts.len() - 1);
        Ok(self.facts.len() - 1)
    }

    fn naming(&self, class: Class<'s>) -> Naming<'s> {
        if class.has(flags::CLASS) {
            Naming::Class
        } else if class.address() == self.known.code {
            Naming::Code
        } else if class.address() == self.known.module {
            Naming::Module
        } else if let Some(member) = self.known.untold(class).find(|member| member.name == c"__qualname__") {
            Naming::Field(member)
        } else if class.has(flags::TEXT) {
            self.types.longest_text.map_or(Naming::Nothing, Naming::Text)
        } else if class.has(flags::BYTES) {
            self.types.longest_text.map_or(Naming::Nothing, Naming::Bytes)
        } else if class.address() == self.known.none {
            Naming::None
        } else {
            Naming::Nothing
        }
    }

    fn shape(&self, class: Class<'s>) -> Shape {
        let known = self.known;
        let address = class.address();
        if class.has(flags::DICT) {
            if address == known.dict { Shape::Dict } else { Shape::DictAndMore }
        } else if class.has(flags::LIST) {
            if address == known.list { Shape::List } else { Shape::ListAndMore }
        } else if class.has(flags::TUPLE) {
            if address == known.tuple { Shape::Tuple } else { Shape::TupleAndMore }
        } else if class.has(flags::CLASS) {
            Shape::Class
        } else if address == known.code {
            Shape::Code
        } else if address == known.frame {
            Shape::Frame
        } else if known.generators.contains(&address) {
            Shape::Generator
        } else if class.line().any(|one| one.address() == known.weak_reference) {
            Shape::WeakReference
        } else {
            Shape::Plain
        }
    }
}
