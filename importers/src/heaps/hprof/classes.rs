//! Classes: fields that are references, sizes of instances, and types in the recording.

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
use super::records::{ClassPart, FieldType, Header, id};
use super::values::{self, ValueField, encoding};

/// Longer chains of superclasses are cut.
const MAX_SUPERCLASSES: usize = 1000;

/// A field of an instance that refers to something.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReferenceField {
    /// Its offset in the values of the fields.
    pub(super) offset: usize,
    pub(super) label: Label,
    pub(super) strength: StrengthId,
}

/// The name of a field that the dump does not name.
pub(super) const UNKNOWN_FIELD: &str = "<unknown field>";
/// The name of a class that the dump does not hold.
pub(super) const UNKNOWN_CLASS: &str = "<unknown class>";
/// The name of a method that the dump does not name.
pub(super) const UNKNOWN_METHOD: &str = "<unknown method>";

/// Facts about the instances of a class, derived at the first instance.
#[derive(Debug)]
pub(super) struct Instances {
    /// Length of their fields in the dump, in bytes.
    pub(super) field_bytes: usize,
    pub(super) references: Vec<ReferenceField>,
    /// Empty if no contents are recorded.
    pub(super) values: Vec<ValueField>,
    pub(super) shallow_bytes: u64,
    pub(super) type_id: TypeId,
    /// The object number of their class, see [`Classes::named`].
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
    /// In the spelling of the language; the address of a class that the dump does not name.
    names: Vec<Cow<'o, str>>,
    vocabulary: &'o Vocabulary<'o>,
    kinds: Kinds,
    strengths: Strengths,
    packing: Packing,
    runtime: Runtime,
    /// Classes that the JVM itself keeps alive: references from their instances are not recorded.
    is_held: Vec<bool>,
    /// Classes whose superclasses are not followed, since they form a circle.
    is_circular: Vec<bool>,
    instances: Vec<OnceLock<Instances>>,
    arrays: Vec<OnceLock<(TypeId, Option<FieldId>)>>,
    /// Values of fields are recorded.
    has_values: bool,
    /// The number of `java.lang.Object`, the superclass of arrays and classes.
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
            instance: vocabulary.own_kind("instance", KindRole::Object)?,
            array: vocabulary.own_kind("array", KindRole::Object)?,
            primitive_array: vocabulary.own_kind("primitive array", KindRole::Object)?,
            class: vocabulary.own_kind("class", KindRole::Type)?,
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
        let names = outline.classes.iter().map(|class| {
            let name = outline.names.class_name(class.address);
            name.unwrap_or_else(|| format!("<class at {:#x}>", class.address).into())
        });
        let names: Vec<Cow<'o, str>> = names.collect();
        // Since JDK 14. The packing of fields changed in JDK 15, nearly the same version.
        let is_recent = names.iter().any(|name| name == "java.lang.Record");
        // Since JDK 8 the superclass of methods, which the JVM itself loads.
        let is_8_or_later = names.iter().any(|name| name == "java.lang.reflect.Executable");
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

    /// The name of a class in the spelling of the language, or its address.
    pub(super) fn name(&self, number: usize) -> &str {
        &self.names[number]
    }

    /// The number of the class of this name: the first one, if several loaders define it.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|of_class| of_class == name)
    }

    /// Facts about the instances of a class. `field_bytes` is the length of the fields of one of them in the dump.
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

    /// Length of the fields of an instance in the dump, in bytes.
    fn field_bytes(&self, number: usize) -> usize {
        let fields = self.chain(number).flat_map(|number| self.outline.classes[number].fields::<ID>());
        fields.map(|(_, kind)| usize::from(kind.bytes(ID as u8))).sum()
    }

    /// Returns whether the counted instances have the lengths that follow from their classes.
    pub(super) fn are_as_long_as_counted(&self) -> bool {
        self.outline.counts.instances.iter().all(|(&class, count)| {
            self.number(class).is_some_and(|number| self.field_bytes(number) as u64 * count.objects == count.bytes)
        })
    }

    /// The object number of a class, for references from its objects; `None` if the JVM itself keeps the class alive.
    /// Other classes live as long as their objects and arrays, and may be unloaded after them.
    #[inline]
    pub(super) fn named(&self, number: usize) -> Option<u64> {
        (!self.is_held[number]).then_some(number as u64)
    }

    /// [`named`](Self::named) for the class of this name, which no two loaders define.
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
        if !self.has_values {
            return Ok(None);
        }
        self.vocabulary.field(array_type, "length", Encoding::Unsigned, false).map(Some)
    }

    /// The static fields of a class that are not references, with their values.
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

    /// The numbers of the objects that collections keep in place of null.
    pub(super) fn placeholders(&self) -> impl Iterator<Item = u64> {
        let fields = conventions::PLACEHOLDERS.iter().filter(|_| self.has_values);
        fields.filter_map(|&(class, field)| {
            let class = &self.outline.classes[self.find(class)?];
            let (.., value) = class.statics::<ID>().find(|&(name, kind, _)| {
                kind == FieldType::Reference && self.outline.names.text(name).as_deref() == Some(field)
            })?;
            self.outline.addresses.number(id::<ID>(value)).map(u64::from)
        })
    }

    /// The size of a class object: the `own_bytes` of `java.lang.Class`, followed by the static fields.
    pub(super) fn class_bytes(&self, class: &ClassPart<'_>, own_bytes: u64) -> u64 {
        let layout = &self.outline.layout;
        // Among the static fields, HotSpot lists data that classes hold elsewhere: `<resolved_references>`.
        let statics = class
            .statics::<ID>()
            .filter(|&(name, ..)| !self.outline.names.text(name).is_some_and(|name| name.starts_with('<')));
        let statics = statics.map(|(_, kind, _)| kind);
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

    /// The type of objects whose class is not in the dump.
    pub(super) fn unknown_type(&self) -> Result<TypeId, ImportError> {
        self.vocabulary.declare_type(&TypeDescription::new(self.kinds.instance, self.vocabulary.marked(UNKNOWN_CLASS)?))
    }

    /// The type of arrays whose class is not in the dump.
    pub(super) fn unknown_array_type(&self) -> Result<TypeId, ImportError> {
        self.vocabulary.word(UNKNOWN_CLASS)?;
        self.vocabulary.declare_type(&TypeDescription::new(self.kinds.array, "<unknown class>[]"))
    }

    /// The type of arrays of these elements.
    pub(super) fn primitive_array_type(&self, element: FieldType) -> Result<TypeId, ImportError> {
        let name = format!("{}[]", self.vocabulary.marked(element.name())?);
        self.declare_array(self.kinds.primitive_array, &name, &conventions::OF_PRIMITIVE_ARRAYS)
    }

    fn declare_array(&self, kind: KindId, name: &str, attributes: &[(&str, &str)]) -> Result<TypeId, ImportError> {
        let mut description = TypeDescription::new(kind, name);
        description.base = self.object_type()?;
        description.attributes = if self.has_values { attributes } else { &[] };
        self.vocabulary.declare_type(&description)
    }

    /// The field with the value shared by all elements of an array, if that is recorded.
    pub(super) fn same_elements_field(
        &self,
        array_type: TypeId,
        element: FieldType,
    ) -> Result<Option<FieldId>, ImportError> {
        if !self.has_values {
            return Ok(None);
        }
        self.vocabulary.field(array_type, conventions::SAME_ELEMENTS, encoding(element), true).map(Some)
    }

    /// The fields with all elements and with the first elements of an array, as text, if they are recorded.
    pub(super) fn elements_fields(&self, array_type: TypeId) -> Result<Option<[FieldId; 2]>, ImportError> {
        if !self.has_values {
            return Ok(None);
        }
        let all = self.vocabulary.field(array_type, conventions::ALL_ELEMENTS, Encoding::Text, false)?;
        let first = self.vocabulary.field(array_type, conventions::FIRST_ELEMENTS, Encoding::Text, true)?;
        Ok(Some([all, first]))
    }

    /// The counts by class, summed by type.
    pub(super) fn totals(&self) -> Result<Vec<TypeCount>, ImportError> {
        let mut totals: BTreeMap<TypeId, Count> = BTreeMap::new();
        let counts = &self.outline.counts;
        for (&class, &Count { objects, bytes }) in &counts.instances {
            let (type_id, bytes) = match self.number(class) {
                Some(number) => {
                    let shallow_bytes = self.fields(number).instance_bytes(&self.outline.layout);
                    (self.declare(number)?, shallow_bytes * objects)
                }
                // Dumps with such instances are imported instead: see `are_as_long_as_counted`.
                None => (self.unknown_type()?, bytes),
            };
            totals.entry(type_id).or_default().add(Count { objects, bytes });
        }
        for (&class, &count) in &counts.object_arrays {
            let type_id = match self.number(class) {
                Some(number) => self.array_type(number)?.0,
                None => self.unknown_array_type()?,
            };
            totals.entry(type_id).or_default().add(count);
        }
        for &(element, count) in &counts.primitive_arrays {
            totals.entry(self.primitive_array_type(element)?).or_default().add(count);
        }
        let own_class_bytes = self.own_class_bytes();
        for class in &self.outline.classes {
            let bytes = self.class_bytes(class, own_class_bytes);
            totals.entry(self.class_type()?).or_default().add(Count { objects: 1, bytes });
        }
        let totals = totals.into_iter().map(|(type_id, Count { objects, bytes: heap_bytes })| TypeCount {
            type_id,
            objects,
            heap_bytes,
            unmanaged_bytes: 0,
        });
        Ok(totals.collect())
    }

    /// A class, followed by its superclasses.
    pub(super) fn chain(&self, number: usize) -> impl Iterator<Item = usize> {
        let superclass = move |&number: &usize| self.superclass(number).filter(|_| !self.is_circular[number]);
        std::iter::successors(Some(number), superclass).take(MAX_SUPERCLASSES)
    }

    /// Marks the classes whose chain of superclasses ends in a circle, as damage can cause.
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

    /// The fields of instances in order: those of the class, then those of its superclasses.
    pub(super) fn all_fields(&self, number: usize) -> impl Iterator<Item = (Option<Cow<'o, str>>, FieldType)> {
        let fields = self.chain(number).flat_map(|number| self.outline.classes[number].fields::<ID>());
        fields.map(|(name, kind)| (self.outline.names.text(name), kind))
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
            let (mut packed, mut apart) = (Vec::new(), Vec::new());
            for (name, kind) in &declared {
                let is_contended = self.runtime.is_contended(class, name, has);
                if is_contended { &mut apart } else { &mut packed }.push(*kind);
            }
            packed.extend_from_slice(hidden);
            fields.add(packed.into_iter(), layout, self.packing);
            fields.add_apart(&apart, layout, self.packing);
        }
        fields
    }

    /// The fields that are references: first those of the class, then those of its superclasses.
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

    /// Declares all fields of the instances, in the same order, and returns those that are not references. `types`
    /// are the types of the class and of its superclasses.
    fn values(&self, number: usize, types: &[TypeId]) -> Result<Vec<ValueField>, ImportError> {
        let mut values = Vec::new();
        let mut offset = 0;
        for (declaring, &type_id) in self.chain(number).zip(types) {
            for (name, kind) in self.outline.classes[declaring].fields::<ID>() {
                let name = self.outline.names.text(name).unwrap_or(UNKNOWN_FIELD.into());
                let bytes = usize::from(kind.bytes(ID as u8));
                // A boolean stored in a number is the last byte.
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

    /// The strength of the referent of a `java.lang.ref.Reference`.
    fn strength(&self, number: usize) -> StrengthId {
        let strength = self.chain(number).find_map(|number| match self.name(number) {
            "java.lang.ref.SoftReference" => Some(self.strengths.soft),
            "java.lang.ref.PhantomReference" => Some(self.strengths.phantom),
            // The second one is Android's.
            "java.lang.ref.FinalReference" | "java.lang.ref.FinalizerReference" => Some(self.strengths.finalizer),
            _ => None,
        });
        strength.unwrap_or(self.strengths.weak)
    }

    /// The type of a class's instances.
    fn declare(&self, number: usize) -> Result<TypeId, ImportError> {
        Ok(self.declare_chain(number)?[0])
    }

    /// Declares the types of the instances of a class and of its superclasses, in this order.
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

    /// The name of the class of a class's loader; `None` for the JVM's own loader.
    fn loader_name(&self, number: usize) -> Option<String> {
        let loader = self.outline.addresses.number(self.outline.classes[number].loader)?;
        match self.outline.object::<ID>(loader)? {
            super::records::SubRecord::Instance { class, .. } => Some(self.name(self.number(class)?).to_owned()),
            _ => None,
        }
    }
}

/// The runtime that laid out the objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Runtime {
    HotSpot {
        is_8_or_later: bool,
    },
    /// That of Android, whose classes declare all their fields.
    Art,
}

impl Runtime {
    /// Fields that HotSpot adds to a class and that no dump lists. `has` tells whether the class declares a field.
    fn hidden_fields(self, class: &str, has: impl Fn(&str) -> bool) -> &'static [FieldType] {
        use FieldType::{Boolean, Int, Long, Reference, Short};
        let Runtime::HotSpot { is_8_or_later } = self else { return &[] };
        match class {
            // The class in the JVM's own memory, that of its arrays; the size and the number of static references.
            // Source file and lock; before JDK 25 protection domain and signers, in place of the lock.
            "java.lang.Class" if has("signers") => &[Long, Long, Int, Int, Reference, Reference],
            "java.lang.Class" => &[Long, Long, Int, Int, Reference, Reference, Reference],
            // Since JDK 19: data for debuggers and the flight recorder.
            "java.lang.Thread" if has("holder") => &[Long, Int, Short, Boolean],
            // Loaders refer to their data since the metaspace was introduced.
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

    /// Returns whether a field is marked `@Contended`, which dumps do not record. HotSpot pads such a field on both
    /// sides.
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
