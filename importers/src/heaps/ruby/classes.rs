//! The classes of a dump, found before the objects, with the names that their instances show.

use super::line::Line;
use crate::heaps::json_lines::{FastMap, MAX_NAME_BYTES, Text};

/// Maximum number of superclasses followed. Real chains have dozens.
const MAX_CHAIN: usize = 1000;

/// A class, module or included module.
#[derive(Debug)]
struct Class {
    name: Option<Box<str>>,
    real_class_name: Option<Box<str>>,
    superclass: Option<u64>,
    /// The module that is included.
    module: Option<u64>,
    kind: ClassKind,
    /// Class or module of a singleton class, if it belongs to one.
    attached: Option<u64>,
    /// References of a class without name and superclass. Ruby 3.0 writes neither the superclass nor whether a
    /// class is a singleton class.
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

/// A class in the line of another one.
#[derive(Debug, PartialEq)]
pub(crate) struct Base {
    pub(crate) name: String,
    /// The modules that it includes.
    pub(crate) modules: Vec<String>,
}

/// A class as its line describes it.
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
        let class = Class {
            name: line.name.map(decode),
            real_class_name: line.real_class_name.map(decode),
            superclass: line.superclass,
            module: line.class.filter(|_| kind == ClassKind::Included),
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

fn decode(text: Text<'_>) -> Box<str> {
    text.decode_first(4 * MAX_NAME_BYTES).into_owned().into_boxed_str()
}

/// All classes by address.
#[derive(Debug, Default)]
pub(crate) struct Classes {
    by_address: FastMap<u64, Class>,
}

impl Classes {
    /// Indexes the classes of these lines. Of several at one address, the first counts.
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
        let mut attached: Vec<(u64, u64)> = of_classes.iter().map(|(&address, &of)| (of, address)).collect();
        attached.retain(|(_, address)| {
            let class = classes.by_address.get(address);
            class.is_some_and(|class| matches!(class.kind, ClassKind::Class | ClassKind::Module))
        });
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

    /// Finds the singleton classes of Ruby 3.0, and their superclass: the first class that the garbage collector marks
    /// for them.
    fn find_singletons(&mut self, of_classes: &FastMap<u64, u64>) {
        let mut singletons = Vec::new();
        for (&address, class) in self.by_address.iter().filter(|(_, class)| !class.references.is_empty()) {
            if self.is_singleton(address, class, of_classes) {
                let mut references = class.references.iter().copied();
                let superclass = references.find(|of| *of != address && self.by_address.contains_key(of));
                singletons.push((address, superclass));
            }
        }
        for (address, superclass) in singletons {
            if let Some(class) = self.by_address.get_mut(&address) {
                (class.kind, class.superclass) = (ClassKind::Singleton, superclass);
            }
        }
    }

    /// Returns whether a class of Ruby 3.0 is a singleton class. Other classes have a singleton class of their own from
    /// the beginning, which refers to them; the singleton class of an object has the one of the object's class.
    fn is_singleton(&self, address: u64, class: &Class, of_classes: &FastMap<u64, u64>) -> bool {
        if class.references.iter().any(|of| of_classes.get(of) == Some(&address) && *of != address) {
            return true;
        }
        let Some(own) = of_classes.get(&address).filter(|own| **own != address) else { return true };
        !self.by_address.get(own).is_some_and(|own| own.references.contains(&address))
    }

    /// The answer of `obj.class` for an object whose class is at `address`: skips singleton classes and included
    /// modules. `None` if the dump lacks the class.
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

    /// The class of the instances of the class at `address`, and those that it is derived from, the nearest first. Empty if
    /// the dump lacks the class.
    pub(crate) fn bases(&self, address: u64) -> Vec<Base> {
        let mut found: Vec<Base> = Vec::new();
        let mut next = Some(address);
        for _ in 0..MAX_CHAIN {
            let Some((address, class)) = next.and_then(|address| Some((address, self.by_address.get(&address)?)))
            else {
                break;
            };
            match (class.kind, found.last_mut()) {
                (ClassKind::Class | ClassKind::Module, _) => {
                    found.push(Base { name: self.name(address, class), modules: Vec::new() });
                }
                // Those of a singleton class belong to one object.
                (ClassKind::Included, Some(base)) => {
                    let module = class.module.and_then(|module| self.own_name(module));
                    base.modules.extend(module.filter(|module| !base.modules.contains(module)));
                }
                _ => {}
            }
            next = class.superclass;
        }
        found
    }

    /// The name of the class at `address`, as its `inspect` returns it.
    pub(crate) fn own_name(&self, address: u64) -> Option<String> {
        self.by_address.get(&address).map(|class| self.name(address, class))
    }

    fn name(&self, address: u64, class: &Class) -> String {
        if let Some(name) = &class.name {
            return name.to_string();
        }
        match (class.kind, class.attached.and_then(|attached| self.by_address.get_key_value(&attached))) {
            // Attached to a class, so not to another singleton class: this recurses at most once.
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
    use super::super::line::LineBuffers;
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
            let mut reading = LineBuffers::default();
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
            let mut reading = LineBuffers::default();
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
    fn bases_are_past_singleton_classes_and_included_modules() {
        let base = |name: &str, modules: &[&str]| Base {
            name: name.to_owned(),
            modules: modules.iter().map(|&module| module.to_owned()).collect(),
        };
        let classes = classes();
        assert_eq!(classes.bases(0x100), [base("Card", &[])]);
        assert_eq!(classes.bases(0x400), [base("Card", &[])], "the module is that of one object");
        assert_eq!(classes.bases(0x800), [], "a circle");
        assert_eq!(classes.bases(0x900), []);
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
