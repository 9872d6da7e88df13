//! The classes of a dump, found before the objects: what their instances are called.

use super::line::Line;
use crate::heaps::json_lines::{FastMap, MAX_NAME_BYTES, Text};

/// How many superclasses are looked at. Real chains have dozens.
const MAX_CHAIN: usize = 1000;

/// A class, module or included module.
#[derive(Debug)]
struct Class {
    name: Option<Box<str>>,
    real_class_name: Option<Box<str>>,
    superclass: Option<u64>,
    kind: ClassKind,
    /// Of a singleton class: the class or module it belongs to, if it belongs to one.
    attached: Option<u64>,
    /// Of a class without name and superclass: its references. Ruby 3.0 writes neither the superclass nor that a class
    /// is a singleton class.
    references: Vec<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum ClassKind {
    Class,
    Singleton,
    Module,
    /// A module in a chain of superclasses.
    Included,
}

/// What the line of a class says.
#[derive(Debug)]
pub(crate) struct ClassLine {
    address: u64,
    /// The class of the class.
    class_address: Option<u64>,
    class: Class,
}

impl ClassLine {
    /// The class of a line with these references; `None` for other lines.
    pub(crate) fn of(line: &Line<'_>, references: &[u64]) -> Option<Self> {
        let kind = match line.kind {
            b"MODULE" => ClassKind::Module,
            b"ICLASS" => ClassKind::Included,
            b"CLASS" if line.is_singleton => ClassKind::Singleton,
            b"CLASS" => ClassKind::Class,
            _ => return None,
        };
        let boxed = |text: Text<'_>| text.decode_first(4 * MAX_NAME_BYTES).into_owned().into_boxed_str();
        let class = Class {
            name: line.name.map(boxed),
            real_class_name: line.real_class_name.map(boxed),
            superclass: line.superclass,
            kind,
            attached: None,
            references: if kind == ClassKind::Class && line.name.is_none() && line.superclass.is_none() {
                references.to_vec()
            } else {
                Vec::new()
            },
        };
        Some(ClassLine { address: line.address?, class_address: line.class, class })
    }
}

/// All classes by address.
#[derive(Debug, Default)]
pub(crate) struct Classes {
    by_address: FastMap<u64, Class>,
}

impl Classes {
    /// The classes of these lines. Of several at one address the first counts.
    pub(crate) fn new(lines: impl IntoIterator<Item = ClassLine>) -> Self {
        let mut classes = Classes::default();
        let mut of_classes = FastMap::default();
        for ClassLine { address, class_address, class } in lines {
            if let Some(of_class) = class_address {
                of_classes.entry(address).or_insert(of_class);
            }
            classes.by_address.entry(address).or_insert(class);
        }
        classes.find_singletons(&of_classes);
        let is_class = |address| match classes.by_address.get(address) {
            Some(class) => matches!(class.kind, ClassKind::Class | ClassKind::Module),
            None => false,
        };
        let mut attached: Vec<(u64, u64)> =
            of_classes.iter().filter(|(address, _)| is_class(address)).map(|(&address, &of)| (of, address)).collect();
        attached.sort_unstable();
        for (singleton, attached) in attached {
            if let Some(class) = classes.by_address.get_mut(&singleton)
                && class.kind == ClassKind::Singleton
            {
                class.attached = class.attached.or(Some(attached));
            }
        }
        classes
    }

    /// Finds out which classes of Ruby 3.0 are singleton classes, and the superclass of those: the first class that the
    /// garbage collector marks for it. A class that is none has a singleton class of its own from its beginning, which
    /// refers to it; the singleton class of an object has the one of the object's class.
    fn find_singletons(&mut self, of_classes: &FastMap<u64, u64>) {
        let refers =
            |from: &u64, to: u64| self.by_address.get(from).is_some_and(|class| class.references.contains(&to));
        let is_singleton = |address: u64, class: &Class| {
            let belongs = class.references.iter().any(|of| of_classes.get(of) == Some(&address) && *of != address);
            belongs || !of_classes.get(&address).is_some_and(|of| *of != address && refers(of, address))
        };
        let unnamed = self.by_address.iter().filter(|(_, class)| !class.references.is_empty());
        let singletons: Vec<(u64, Option<u64>)> = unnamed
            .filter(|&(&address, class)| is_singleton(address, class))
            .map(|(&address, class)| {
                let is_class = |of: &&u64| **of != address && self.by_address.contains_key(of);
                (address, class.references.iter().find(is_class).copied())
            })
            .collect();
        for (address, superclass) in singletons {
            if let Some(class) = self.by_address.get_mut(&address) {
                (class.kind, class.superclass) = (ClassKind::Singleton, superclass);
            }
        }
    }

    /// What `obj.class` answers for an object whose class is at `address`: singleton classes and included
    /// modules are passed over. `None` if the dump does not have the class.
    pub(crate) fn name_of_instances(&self, address: u64) -> Option<String> {
        let mut next = Some(address);
        let mut real_class_name = None;
        for _ in 0..MAX_CHAIN {
            let Some(class) = next.and_then(|address| self.by_address.get(&address)) else { break };
            match class.kind {
                ClassKind::Class | ClassKind::Module => return next.map(|address| self.name(address, class)),
                ClassKind::Singleton => real_class_name = real_class_name.or(class.real_class_name.as_deref()),
                ClassKind::Included => {}
            }
            next = class.superclass;
        }
        real_class_name.map(str::to_owned)
    }

    /// What the class at `address` calls itself, as its `inspect` does.
    pub(crate) fn own_name(&self, address: u64) -> Option<String> {
        self.by_address.get(&address).map(|class| self.name(address, class))
    }

    fn name(&self, address: u64, class: &Class) -> String {
        if let Some(name) = &class.name {
            return name.to_string();
        }
        match (class.kind, class.attached.and_then(|attached| self.by_address.get_key_value(&attached))) {
            // Of a class, so not of another singleton class: this is at most one step.
            (ClassKind::Singleton, Some((&attached, class))) => format!("#<Class:{}>", self.name(attached, class)),
            (ClassKind::Singleton, None) => {
                format!("#<Class:#<{}>>", self.name_of_instances(address).as_deref().unwrap_or("Object"))
            }
            (ClassKind::Module, _) => format!("#<Module:{address:#018x}>"),
            (ClassKind::Class | ClassKind::Included, _) => format!("#<Class:{address:#018x}>"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::line::Reading;
    use super::*;

    fn classes() -> Classes {
        let lines = r##"{"address":"0x100", "type":"CLASS", "class":"0x200", "name":"Card", "superclass":"0x900"}
{"address":"0x200", "type":"CLASS", "class":"0x300", "superclass":"0x800", "real_class_name":"Class", "singleton":true}
{"address":"0x300", "type":"CLASS", "class":"0x800", "name":"Class"}
{"address":"0x400", "type":"CLASS", "class":"0x300", "superclass":"0x500", "real_class_name":"Card", "singleton":true}
{"address":"0x500", "type":"ICLASS", "class":"0x600", "superclass":"0x100"}
{"address":"0x600", "type":"MODULE", "class":"0x700", "name":"Comparable"}
{"address":"0x700", "type":"CLASS", "superclass":"0x700"}
{"address":"0x800", "type":"CLASS", "superclass":"0x800", "singleton":true}
{"address":"0x1000", "type":"MODULE"}"##;
        let read = |line: &str| {
            let mut reading = Reading::default();
            let line = Line::read(line.as_bytes(), 0, &mut reading).expect("JSON");
            ClassLine::of(&line, &reading.references).expect("a class")
        };
        Classes::new(lines.lines().map(read))
    }

    #[test]
    fn instances_are_called_by_their_real_class() {
        let name = |address| classes().name_of_instances(address);
        assert_eq!(name(0x100).as_deref(), Some("Card"));
        assert_eq!(name(0x400).as_deref(), Some("Card"), "past singleton class and included module");
        assert_eq!(name(0x700).as_deref(), Some("#<Class:0x0000000000000700>"));
        assert_eq!(name(0x600).as_deref(), Some("Comparable"));
        assert_eq!(name(0x200).as_deref(), Some("Class"), "what the singleton class itself says");
        assert_eq!(name(0x800), None, "a circle");
        assert_eq!(name(0x900), None);
    }

    /// `lazy` is an object with a singleton class, `Lazy` a class, `0x5000` one without a name. In Ruby 3.0 the superclass
    /// comes first (`gc_mark_children` in its `gc.c`) and `__attached__` later; what `make_metaclass` and
    /// `make_singleton_class` in its `class.c` set are the classes.
    #[test]
    fn singleton_classes_of_ruby_3_0_are_known_by_their_references() {
        let lines = r#"{"address":"0x1000", "type":"CLASS", "class":"0x2000", "name":"Object", "references":["0x9000"]}
{"address":"0x1100", "type":"CLASS", "class":"0x2100", "name":"Class", "references":["0x1000"]}
{"address":"0x1200", "type":"CLASS", "class":"0x2200", "name":"Lazy", "references":["0x1000"]}
{"address":"0x2000", "type":"CLASS", "class":"0x2100", "references":["0x1100", "0x1000"]}
{"address":"0x2100", "type":"CLASS", "class":"0x2100", "references":["0x1100", "0x1100"]}
{"address":"0x2200", "type":"CLASS", "class":"0x2100", "references":["0x2000", "0x7000", "0x1200"]}
{"address":"0x3000", "type":"CLASS", "class":"0x2200", "references":["0x1200", "0x7028", "0x8000"]}
{"address":"0x5000", "type":"CLASS", "class":"0x6000", "references":["0x1200", "0x7050"]}
{"address":"0x6000", "type":"CLASS", "class":"0x2100", "references":["0x2200", "0x5000"]}"#;
        let read = |line: &str| {
            let mut reading = Reading::default();
            let line = Line::read(line.as_bytes(), 0, &mut reading).expect("JSON");
            ClassLine::of(&line, &reading.references).expect("a class")
        };
        let classes = Classes::new(lines.lines().map(read));
        let of_instances = |address| classes.name_of_instances(address).expect("a class");
        assert_eq!(of_instances(0x3000), "Lazy", "of the object `lazy`");
        assert_eq!(of_instances(0x5000), "#<Class:0x0000000000005000>");
        for metaclass in [0x2000, 0x2100, 0x2200, 0x6000] {
            assert_eq!(of_instances(metaclass), "Class", "{metaclass:#x}");
        }
        let own = |address| classes.own_name(address).expect("a class");
        assert_eq!(own(0x2200), "#<Class:Lazy>");
        assert_eq!(own(0x6000), "#<Class:#<Class:0x0000000000005000>>");
        assert_eq!(own(0x3000), "#<Class:#<Lazy>>");
    }

    #[test]
    fn classes_call_themselves_as_ruby_does() {
        let name = |address| classes().own_name(address);
        assert_eq!(name(0x100).as_deref(), Some("Card"));
        assert_eq!(name(0x200).as_deref(), Some("#<Class:Card>"));
        assert_eq!(name(0x400).as_deref(), Some("#<Class:#<Card>>"));
        assert_eq!(name(0x1000).as_deref(), Some("#<Module:0x0000000000001000>"));
    }
}
