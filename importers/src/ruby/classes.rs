//! The classes of a dump, found before the objects: what their instances are called.

use super::line::Line;
use crate::json_lines::{FastMap, MAX_NAME_BYTES, Text};

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
    /// The class of a line; `None` for other lines.
    pub(crate) fn of(line: &Line<'_>) -> Option<Self> {
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
        let mut attached = Vec::new();
        for ClassLine { address, class_address, class } in lines {
            if let (Some(singleton), ClassKind::Class | ClassKind::Module) = (class_address, class.kind) {
                attached.push((singleton, address));
            }
            classes.by_address.entry(address).or_insert(class);
        }
        for (singleton, attached) in attached {
            if let Some(class) = classes.by_address.get_mut(&singleton)
                && class.kind == ClassKind::Singleton
            {
                class.attached = class.attached.or(Some(attached));
            }
        }
        classes
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
                format!("#<Class:#<{}>>", class.real_class_name.as_deref().unwrap_or("Object"))
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
            ClassLine::of(&Line::read(line.as_bytes(), 0, &mut Reading::default()).expect("JSON")).expect("a class")
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

    #[test]
    fn classes_call_themselves_as_ruby_does() {
        let name = |address| classes().own_name(address);
        assert_eq!(name(0x100).as_deref(), Some("Card"));
        assert_eq!(name(0x200).as_deref(), Some("#<Class:Card>"));
        assert_eq!(name(0x400).as_deref(), Some("#<Class:#<Card>>"));
        assert_eq!(name(0x1000).as_deref(), Some("#<Module:0x0000000000001000>"));
    }
}
