//! Classes: which fields refer to something, how long instances are, and the types in the recording.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::OnceLock;

use barrow_writer::{
    Encoding, FieldId, KindId, KindRole, Label, StrengthClass, StrengthId, TypeDescription, TypeId, Value,
};

use crate::context::Vocabulary;
use crate::counted::TypeCount;
use crate::error::ImportError;

use super::conventions;
use super::layout::{self, Fields, Packing};
use super::outline::{Count, Outline};
use super::records::{ClassPart, FieldType, Header};
use super::values::{self, ValueField, encoding};

/// A chain of superclasses that is longer is none.
const MAX_SUPERCLASSES: usize = 1000;

/// A field of an instance that refers to something.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReferenceField {
    /// Where it is among the values of the fields.
    pub(super) offset: usize,
    pub(super) label: Label,
    pub(super) strength: StrengthId,
}

/// The name of a field that the dump does not name.
pub(super) const UNKNOWN_FIELD: &str = "<unknown field>";

/// What is derived from a class when its first instance comes.
#[derive(Debug)]
pub(super) struct Instances {
    /// How long their fields are in the dump.
    pub(super) field_bytes: usize,
    pub(super) references: Vec<ReferenceField>,
    /// Empty if no contents are recorded.
    pub(super) values: Vec<ValueField>,
    pub(super) shallow_bytes: u64,
    pub(super) type_id: TypeId,
    /// Their class, as they name it, see [`Classes::named`].
    pub(super) class: Option<u64>,
}

/// The kinds of objects of a JVM.
#[derive(Debug, Clone, Copy)]
struct Kinds {
    instance: KindId,
    array: KindId,
    primitive_array: KindId,
    class: KindId,
}

/// The strengths of references in a JVM, apart from strong ones.
#[derive(Debug, Clone, Copy)]
struct Strengths {
    soft: StrengthId,
    weak: StrengthId,
    phantom: StrengthId,
    finalizer: StrengthId,
}

/// The classes of a dump, by number.
pub(super) struct Classes<'o, 'a, const ID: usize> {
    outline: &'o Outline<'a>,
    /// As the language writes them, or the address where the dump does not name a class.
    names: Vec<Cow<'o, str>>,
    vocabulary: &'o Vocabulary<'o>,
    kinds: Kinds,
    strengths: Strengths,
    packing: Packing,
    runtime: Runtime,
    /// Classes that the JVM itself holds: their instances do not.
    is_held: Vec<bool>,
    /// Classes whose superclasses are not to be followed.
    is_circular: Vec<bool>,
    instances: Vec<OnceLock<Instances>>,
    arrays: Vec<OnceLock<(TypeId, Option<FieldId>)>>,
    /// Whether it is recorded what fields hold.
    has_values: bool,
    /// The number of `java.lang.Object`, which arrays and classes are, too.
    object: OnceLock<Option<usize>>,
}

impl<'o, 'a, const ID: usize> Classes<'o, 'a, ID> {
    pub(super) fn new(
        outline: &'o Outline<'a>,
        header: &Header<'_>,
        vocabulary: &'o Vocabulary<'o>,
        has_values: bool,
    ) -> Result<Self, ImportError> {
        let kinds = Kinds {
            instance: vocabulary.kind("instance", KindRole::Object)?,
            array: vocabulary.kind("array", KindRole::Object)?,
            primitive_array: vocabulary.kind("primitive array", KindRole::Object)?,
            class: vocabulary.kind("class", KindRole::Type)?,
        };
        let strengths = Strengths {
            soft: vocabulary.strength("soft", StrengthClass::Soft)?,
            weak: vocabulary.strength("weak", StrengthClass::Weak)?,
            phantom: vocabulary.strength("phantom", StrengthClass::Weak)?,
            finalizer: vocabulary.strength("finalizer", StrengthClass::Weak)?,
        };
        let count = outline.classes.len();
        let mut is_held = vec![false; count];
        for root in &outline.roots {
            if let Some(number) = outline.addresses.other(root.object)
                && let Some(is_held) = is_held.get_mut(number as usize)
            {
                *is_held = true;
            }
        }
        let name = |class: &ClassPart<'_>| {
            let name = outline.names.class_name(class.address);
            name.unwrap_or_else(|| format!("<class at {:#x}>", class.address).into())
        };
        let names: Vec<Cow<'o, str>> = outline.classes.iter().map(name).collect();
        let has = |class: &str| names.iter().any(|name| name == class);
        // Since JDK 14: nearly the versions that pack fields anew, which are those from 15 on.
        let is_recent = has("java.lang.Record");
        // Since JDK 8 the superclass of methods, which the JVM itself loads.
        let is_8_or_later = has("java.lang.reflect.Executable");
        let runtime = if header.is_of_android() { Runtime::Art } else { Runtime::HotSpot { is_8_or_later } };
        let classes = Classes {
            outline,
            names,
            vocabulary,
            kinds,
            strengths,
            packing: if is_recent { Packing::Gaps } else { Packing::Classic },
            runtime,
            is_held,
            instances: (0..count).map(|_| OnceLock::new()).collect(),
            arrays: (0..count).map(|_| OnceLock::new()).collect(),
            has_values,
            object: OnceLock::new(),
            is_circular: vec![false; count],
        };
        Ok(Classes { is_circular: classes.circular(), ..classes })
    }

    /// The number of the class at an address.
    #[inline]
    pub(super) fn number(&self, address: u64) -> Option<usize> {
        let number = self.outline.addresses.other(address)? as usize;
        (number < self.instances.len()).then_some(number)
    }

    /// The name of a class as the language writes it, or its address.
    pub(super) fn name(&self, number: usize) -> &str {
        &self.names[number]
    }

    /// The number of the class of this name: the first one, if several loaders define it.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|of_class| of_class == name)
    }

    /// What is to know of the instances of a class. `field_bytes` is how long one of them is in the dump.
    pub(super) fn instances(&self, number: usize, field_bytes: usize) -> Result<&Instances, ImportError> {
        if let Some(instances) = self.instances[number].get() {
            return Ok(instances);
        }
        let types = self.declare_chain(number)?;
        let instances = Instances {
            field_bytes: self.field_bytes(number),
            references: self.references(number, field_bytes)?,
            values: if self.has_values { self.values(number, &types)? } else { Vec::new() },
            shallow_bytes: self.fields(number).instance_bytes(&self.outline.layout),
            type_id: types[0],
            class: self.named(number),
        };
        Ok(self.instances[number].get_or_init(|| instances))
    }

    /// How long the fields of an instance are in the dump.
    fn field_bytes(&self, number: usize) -> usize {
        let of_class = |number: usize| self.outline.classes[number].fields::<ID>();
        self.chain(number).flat_map(of_class).map(|(_, kind)| usize::from(kind.bytes(ID as u8))).sum()
    }

    /// Whether the counted instances are as long as their classes say.
    pub(super) fn are_as_long_as_counted(&self) -> bool {
        self.outline.counts.instances.iter().all(|(&class, count)| {
            self.number(class).is_some_and(|number| self.field_bytes(number) as u64 * count.objects == count.bytes)
        })
    }

    /// The class as its objects name it; `None` if the JVM itself holds it. Another one lives as long as its objects,
    /// arrays among them, and may be unloaded when they are gone.
    #[inline]
    pub(super) fn named(&self, number: usize) -> Option<u64> {
        (!self.is_held[number]).then_some(number as u64)
    }

    /// The class of this name, which no two loaders define, as its objects name it.
    pub(super) fn named_by(&self, name: &str) -> Option<u64> {
        self.named(self.find(name)?)
    }

    /// The type of the arrays of a class, and the field with their length.
    pub(super) fn array_type(&self, number: usize) -> Result<(TypeId, Option<FieldId>), ImportError> {
        if let Some(&array) = self.arrays[number].get() {
            return Ok(array);
        }
        let name = self.name(number);
        let type_id = self.declare_array(self.kinds.array, name, &conventions::OF_ARRAYS)?;
        let length = self.length_field(type_id)?;
        Ok(*self.arrays[number].get_or_init(|| (type_id, length)))
    }

    /// The field with the length of arrays of this type, if that is recorded.
    pub(super) fn length_field(&self, array_type: TypeId) -> Result<Option<FieldId>, ImportError> {
        let length = || self.vocabulary.field(array_type, "length", Encoding::Unsigned, false);
        self.has_values.then(length).transpose()
    }

    /// The static fields of a class that are no references, and what they hold.
    pub(super) fn static_values(
        &self,
        class: &ClassPart<'_>,
        class_type: TypeId,
    ) -> Result<Vec<(FieldId, Value)>, ImportError> {
        let mut values = Vec::new();
        for (name, kind, bytes) in class.statics::<ID>().filter(|_| self.has_values) {
            let name = self.outline.names.text(name).unwrap_or(UNKNOWN_FIELD.into());
            if let Some(value) = values::value(kind, bytes) {
                values.push((self.vocabulary.field(class_type, &name, encoding(kind), true)?, value));
            }
        }
        Ok(values)
    }

    /// The size of a class object: the `own_bytes` of `java.lang.Class`, followed by the static fields.
    pub(super) fn class_bytes(&self, class: &ClassPart<'_>, own_bytes: u64) -> u64 {
        let layout = &self.outline.layout;
        let is_field = |name| !self.outline.names.text(name).is_some_and(|name| name.starts_with('<'));
        // HotSpot lists what classes hold elsewhere among their static fields: `<resolved_references>`.
        let statics = class.statics::<ID>().filter(|&(name, ..)| is_field(name)).map(|(_, kind, _)| kind);
        layout.aligned(own_bytes + layout::static_bytes(statics, layout))
    }

    /// The size of an instance of `java.lang.Class`, without static fields.
    pub(super) fn own_class_bytes(&self) -> u64 {
        let number = self.find("java.lang.Class");
        let fields = number.map_or_else(|| Fields::none(&self.outline.layout), |number| self.fields(number));
        fields.instance_bytes(&self.outline.layout)
    }

    /// The type of the class objects.
    pub(super) fn class_type(&self) -> Result<TypeId, ImportError> {
        let mut description = TypeDescription::new(self.kinds.class, "java.lang.Class");
        description.base = self.object_type()?;
        self.vocabulary.declare_type(&description)
    }

    /// The type of `java.lang.Object`.
    fn object_type(&self) -> Result<Option<TypeId>, ImportError> {
        self.object.get_or_init(|| self.find("java.lang.Object")).map(|number| self.declare(number)).transpose()
    }

    /// The type of objects whose class the dump does not hold.
    pub(super) fn unknown_type(&self) -> Result<TypeId, ImportError> {
        self.vocabulary.declare_type(&TypeDescription::new(self.kinds.instance, "<unknown class>"))
    }

    /// The type of arrays whose class the dump does not hold.
    pub(super) fn unknown_array_type(&self) -> Result<TypeId, ImportError> {
        self.vocabulary.declare_type(&TypeDescription::new(self.kinds.array, "<unknown class>[]"))
    }

    /// The type of the arrays of such elements.
    pub(super) fn primitive_array_type(&self, element: FieldType) -> Result<TypeId, ImportError> {
        let name = format!("{}[]", element.name());
        self.declare_array(self.kinds.primitive_array, &name, &conventions::OF_PRIMITIVE_ARRAYS)
    }

    fn declare_array(&self, kind: KindId, name: &str, attributes: &[(&str, &str)]) -> Result<TypeId, ImportError> {
        let mut description = TypeDescription::new(kind, name);
        description.base = self.object_type()?;
        description.attributes = if self.has_values { attributes } else { &[] };
        self.vocabulary.declare_type(&description)
    }

    /// The field with the value that all elements of such an array have, if that is recorded.
    pub(super) fn same_elements_field(
        &self,
        array_type: TypeId,
        element: FieldType,
    ) -> Result<Option<FieldId>, ImportError> {
        let field = || self.vocabulary.field(array_type, conventions::SAME_ELEMENTS, encoding(element), true);
        self.has_values.then(field).transpose()
    }

    /// The fields with all elements and with the first elements of an array, in words, if they are recorded.
    pub(super) fn elements_fields(&self, array_type: TypeId) -> Result<Option<[FieldId; 2]>, ImportError> {
        let field = |name, is_optional| self.vocabulary.field(array_type, name, Encoding::Text, is_optional);
        let fields = || Ok([field(conventions::ALL_ELEMENTS, false)?, field(conventions::FIRST_ELEMENTS, true)?]);
        self.has_values.then(fields).transpose()
    }

    /// What was counted by class, by type.
    pub(super) fn totals(&self) -> Result<Vec<TypeCount>, ImportError> {
        let mut totals: BTreeMap<TypeId, Count> = BTreeMap::new();
        let mut add = |type_id: TypeId, count: Count| totals.entry(type_id).or_default().add(count);
        let counts = &self.outline.counts;
        for (&class, &Count { objects, bytes }) in &counts.instances {
            let (type_id, bytes) = match self.number(class) {
                Some(number) => {
                    let shallow_bytes = self.fields(number).instance_bytes(&self.outline.layout);
                    (self.declare(number)?, shallow_bytes * objects)
                }
                // Such instances are imported, not counted: see `are_as_long_as_counted`.
                None => (self.unknown_type()?, bytes),
            };
            add(type_id, Count { objects, bytes });
        }
        for (&class, &count) in &counts.object_arrays {
            let number = self.number(class);
            add(number.map_or_else(|| self.unknown_array_type(), |number| Ok(self.array_type(number)?.0))?, count);
        }
        for &(element, count) in &counts.primitive_arrays {
            add(self.primitive_array_type(element)?, count);
        }
        let own_class_bytes = self.own_class_bytes();
        for class in &self.outline.classes {
            add(self.class_type()?, Count { objects: 1, bytes: self.class_bytes(class, own_class_bytes) });
        }
        let row = |(type_id, Count { objects, bytes: heap_bytes })| TypeCount {
            type_id,
            objects,
            heap_bytes,
            unmanaged_bytes: 0,
        };
        Ok(totals.into_iter().map(row).collect())
    }

    /// A class and its superclasses, itself first.
    pub(super) fn chain(&self, number: usize) -> impl Iterator<Item = usize> {
        let above = |&number: &usize| self.superclass(number).filter(|_| !self.is_circular[number]);
        std::iter::successors(Some(number), above).take(MAX_SUPERCLASSES)
    }

    /// Which classes have superclasses that go in a circle, as damage can make them: those are unknown.
    fn circular(&self) -> Vec<bool> {
        let count = self.outline.classes.len();
        let (mut known, mut seen_from) = (vec![None; count], vec![usize::MAX; count]);
        for first in 0..count {
            let (mut way, mut next) = (Vec::new(), Some(first));
            let is_circular = loop {
                let Some(number) = next else { break false };
                if let Some(is_circular) = known[number] {
                    break is_circular;
                }
                if std::mem::replace(&mut seen_from[number], first) == first {
                    break true;
                }
                way.push(number);
                next = self.superclass(number);
            };
            way.into_iter().for_each(|number| known[number] = Some(is_circular));
        }
        known.into_iter().map(|is_circular| is_circular.unwrap_or(false)).collect()
    }

    fn superclass(&self, number: usize) -> Option<usize> {
        self.number(self.outline.classes[number].superclass)
    }

    /// The fields of instances in their order: those of the class, then those of its superclasses.
    pub(super) fn all_fields(&self, number: usize) -> impl Iterator<Item = (Option<Cow<'o, str>>, FieldType)> {
        let of_class = |number: usize| self.outline.classes[number].fields::<ID>();
        self.chain(number).flat_map(of_class).map(|(name, kind)| (self.outline.names.text(name), kind))
    }

    fn fields(&self, number: usize) -> Fields {
        let layout = &self.outline.layout;
        let mut fields = Fields::none(layout);
        let chain: Vec<usize> = self.chain(number).collect();
        for &number in chain.iter().rev() {
            let class = self.name(number);
            let declared: Vec<(Cow<'_, str>, FieldType)> = self.outline.classes[number]
                .fields::<ID>()
                .map(|(name, kind)| (self.outline.names.text(name).unwrap_or_default(), kind))
                .collect();
            let has = |field: &str| declared.iter().any(|(name, _)| name == field);
            let hidden = self.runtime.hidden_fields(class, has);
            let of = |contended: bool| {
                let is_one =
                    |(name, _): &&(Cow<'_, str>, FieldType)| self.runtime.is_contended(class, name, has) == contended;
                declared.iter().filter(is_one).map(|&(_, kind)| kind).collect::<Vec<_>>()
            };
            fields.add(of(false).into_iter().chain(hidden.iter().copied()), layout, self.packing);
            fields.add_apart(&of(true), layout, self.packing);
        }
        fields
    }

    /// The fields that refer to something: first those of the class, then those of its superclasses.
    fn references(&self, number: usize, field_bytes: usize) -> Result<Vec<ReferenceField>, ImportError> {
        let mut references = Vec::new();
        let mut offset = 0;
        for declaring in self.chain(number) {
            let is_reference = self.name(declaring) == "java.lang.ref.Reference";
            for (name, kind) in self.outline.classes[declaring].fields::<ID>() {
                let start = offset;
                offset += usize::from(kind.bytes(ID as u8));
                if kind != FieldType::Reference || offset > field_bytes {
                    continue;
                }
                let name = self.outline.names.text(name).unwrap_or(UNKNOWN_FIELD.into());
                let is_referent = is_reference && name == "referent";
                let strength = if is_referent { self.strength(number) } else { StrengthId::STRONG };
                let label = Label::Name(self.vocabulary.string(&name)?);
                references.push(ReferenceField { offset: start, label, strength });
            }
        }
        Ok(references)
    }

    /// Declares all fields of the instances, in the same order. Returns those that are no references. `types` are those of the
    /// class and of its superclasses.
    fn values(&self, number: usize, types: &[TypeId]) -> Result<Vec<ValueField>, ImportError> {
        let mut values = Vec::new();
        let mut offset = 0;
        for (declaring, &type_id) in self.chain(number).zip(types) {
            for (name, kind) in self.outline.classes[declaring].fields::<ID>() {
                let name = self.outline.names.text(name).unwrap_or(UNKNOWN_FIELD.into());
                let bytes = usize::from(kind.bytes(ID as u8));
                // A truth in a number has the value of the last byte.
                let is_truth = kind == FieldType::Int && conventions::is_truth(self.name(declaring), &name);
                let (kind, at) = if is_truth { (FieldType::Boolean, offset + bytes - 1) } else { (kind, offset) };
                let field = self.vocabulary.field(type_id, &name, encoding(kind), false)?;
                if kind != FieldType::Reference {
                    values.push(ValueField { offset: at, kind, field });
                }
                offset += bytes;
            }
        }
        Ok(values)
    }

    /// How strongly a `java.lang.ref.Reference` refers.
    fn strength(&self, number: usize) -> StrengthId {
        let of_name = |name: &str| match name {
            "java.lang.ref.SoftReference" => Some(self.strengths.soft),
            "java.lang.ref.PhantomReference" => Some(self.strengths.phantom),
            // The second one is Android's.
            "java.lang.ref.FinalReference" | "java.lang.ref.FinalizerReference" => Some(self.strengths.finalizer),
            _ => None,
        };
        self.chain(number).find_map(|number| of_name(self.name(number))).unwrap_or(self.strengths.weak)
    }

    /// The type of a class's instances.
    fn declare(&self, number: usize) -> Result<TypeId, ImportError> {
        Ok(self.declare_chain(number)?[0])
    }

    /// Declares the types of a class's instances and of its superclasses', which come after it.
    fn declare_chain(&self, number: usize) -> Result<Vec<TypeId>, ImportError> {
        let chain: Vec<usize> = self.chain(number).collect();
        let mut types = Vec::with_capacity(chain.len());
        for &number in chain.iter().rev() {
            let name = self.name(number);
            let loader = self.loader_name(number);
            let mut attributes: Vec<(&str, &str)> = loader.iter().map(|loader| ("class loader", &**loader)).collect();
            attributes.extend(conventions::of_class(name, self.has_values));
            let mut description = TypeDescription::new(self.kinds.instance, name);
            description.base = types.last().copied();
            description.attributes = &attributes;
            types.push(self.vocabulary.declare_type(&description)?);
        }
        types.reverse();
        Ok(types)
    }

    /// The class of a class's loader; `None` for the JVM's own.
    fn loader_name(&self, number: usize) -> Option<String> {
        let loader = self.outline.addresses.number(self.outline.classes[number].loader)?;
        match self.outline.object::<ID>(loader)? {
            super::records::Part::Instance { class, .. } => Some(self.name(self.number(class)?).to_owned()),
            _ => None,
        }
    }
}

/// What lays out the objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Runtime {
    HotSpot {
        is_8_or_later: bool,
    },
    /// Android's, whose classes declare all fields that there are.
    Art,
}

impl Runtime {
    /// Fields that HotSpot adds to some classes and that no dump lists, for a class that declares what `has` says.
    fn hidden_fields(self, class: &str, has: impl Fn(&str) -> bool) -> &'static [FieldType] {
        use FieldType::{Boolean, Int, Long, Reference, Short};
        let Runtime::HotSpot { is_8_or_later } = self else { return &[] };
        match class {
            // The class in the JVM's own memory, that of its arrays; the size and the number of static references.
            // Source file and lock; before JDK 25 protection domain and signers, in place of the lock.
            "java.lang.Class" if has("signers") => &[Long, Long, Int, Int, Reference, Reference],
            "java.lang.Class" => &[Long, Long, Int, Int, Reference, Reference, Reference],
            // Since JDK 19: what debuggers and the flight recorder know of it.
            "java.lang.Thread" if has("holder") => &[Long, Int, Short, Boolean],
            // The data of a loader came with the metaspace.
            "java.lang.ClassLoader" if !is_8_or_later => &[],
            "java.lang.invoke.ResolvedMethodName" if !has("vmholder") => &[Long, Reference],
            "java.lang.ClassLoader"
            | "java.lang.Module"
            | "java.lang.invoke.MemberName"
            | "java.lang.invoke.ResolvedMethodName" => &[Long],
            "java.lang.invoke.MethodHandleNatives$CallSiteContext" => &[Long, Long],
            "java.lang.InternalError" => &[Boolean],
            _ => &[],
        }
    }

    /// Whether a field is marked `@Contended`, which no dump says. HotSpot pads such a field on both sides.
    fn is_contended(self, class: &str, field: &str, has: impl Fn(&str) -> bool) -> bool {
        if self == Runtime::Art {
            return false;
        }
        match class {
            // Until JDK 19, when threads got a holder.
            "java.lang.Thread" => field.starts_with("threadLocalRandom") && !has("holder"),
            "java.util.concurrent.ConcurrentHashMap$CounterCell"
            | "java.util.concurrent.atomic.Striped64$Cell"
            | "java.util.concurrent.Exchanger$Node" => true,
            _ => false,
        }
    }
}
