//! Dumps as Android's runtime writes them, by `hprof.cc` of ART and not by what the importer expects:
//!
//! - version 1.0.3, identifiers of 4 bytes, all strings first;
//! - names as `PrettyDescriptor` has them, also those of arrays and of primitive classes;
//! - every object has `shadow$_klass_` and `shadow$_monitor_`;
//! - a string has a field `value` of its own, of an array that is not there, whose address is inside of the string;
//! - a class has the static field `$classOverhead`, an array with the rest of what it takes;
//! - HEAP_DUMP_INFO before the objects of each heap.

use crate::dump::{BYTE, CHAR, Class, Dump, INT, OBJECT};
use crate::read::{Recorded, record};

/// The address of a class by its place in the list.
fn class(names: &[&str], name: &str) -> u64 {
    0x7000_0000 + 0x100 * names.iter().position(|of| *of == name).expect("a class of the dump") as u64
}

const NAMES: [&str; 16] = [
    "java.lang.Object",
    "java.lang.Class",
    "java.lang.String",
    "java.lang.Thread",
    "java.lang.ref.Reference",
    "java.lang.ref.WeakReference",
    "java.lang.ref.SoftReference",
    "java.lang.ref.PhantomReference",
    "java.lang.ref.FinalizerReference",
    "java.lang.ClassLoader",
    "byte",
    "byte[]",
    "char[]",
    "java.lang.Object[]",
    "java.lang.String[][]",
    "com.example.MainActivity",
];

/// A heap in which only references of all kinds refer to activities, and a thread has a name.
fn dump() -> Vec<u8> {
    let mut dump = Dump::new("1.0.3", 4);
    let of = |name: &str| class(&NAMES, name);
    (1..).zip(NAMES).for_each(|(id, name)| dump.string(id, name));
    let fields = ["shadow$_klass_", "shadow$_monitor_", "referent", "value", "count", "hash", "name", "$classOverhead"];
    (100..).zip(fields).for_each(|(id, name)| dump.string(id, name));
    let [klass, monitor, referent, value, count, hash, name, overhead] = std::array::from_fn(|at| 100 + at as u64);
    [(200, "zygote"), (201, "app")].into_iter().for_each(|(id, name)| dump.string(id, name));
    (1..).zip(NAMES).for_each(|(id, name)| dump.load_class(of(name), id));
    dump.trace(0, 0, &[]);

    let heap = |dump: &mut Dump, number: u8, name: u64| {
        let name = dump.id(name);
        dump.heap.extend([vec![0xfe, 0, 0, 0, number], name].concat());
    };
    heap(&mut dump, b'Z', 200);
    for of_class in NAMES {
        let superclass = match of_class {
            "java.lang.Object" | "byte" => 0,
            "java.lang.ref.WeakReference"
            | "java.lang.ref.SoftReference"
            | "java.lang.ref.PhantomReference"
            | "java.lang.ref.FinalizerReference" => of("java.lang.ref.Reference"),
            _ => of("java.lang.Object"),
        };
        let fields: &[(u64, u8)] = match of_class {
            "java.lang.Object" => &[(klass, OBJECT), (monitor, INT)],
            "java.lang.String" => &[(count, INT), (hash, INT), (value, OBJECT)],
            "java.lang.Thread" => &[(name, OBJECT)],
            "java.lang.ref.Reference" => &[(referent, OBJECT)],
            _ => &[],
        };
        let address = of(of_class);
        dump.primitive_array(address | 1, BYTE, 8, &[0; 8]);
        let statics = [(overhead, OBJECT, dump.id(address | 1))];
        dump.class(&Class { address, superclass, fields, statics: &statics, ..Class::default() });
        dump.root(0x05, address, &[]);
    }

    heap(&mut dump, b'A', 201);
    let object = |dump: &Dump, class: u64| [dump.id(class), vec![0; 4]].concat();
    let instance = |dump: &mut Dump, address: u64, name: &str, own: Vec<u8>| {
        let fields = [own, object(dump, of(name))].concat();
        dump.instance(address, of(name), &fields);
    };
    let references = ["WeakReference", "SoftReference", "PhantomReference", "FinalizerReference"];
    for (at, reference) in (0..).zip(references) {
        let activity = 0x2000 + 0x10 * at;
        let own = dump.id(activity);
        instance(&mut dump, 0x1000 + 0x10 * at, &format!("java.lang.ref.{reference}"), own);
        instance(&mut dump, activity, "com.example.MainActivity", Vec::new());
        dump.root(0x01, 0x1000 + 0x10 * at, &[0]);
    }
    let string = |dump: &mut Dump, address: u64, count: u32, kind: u8, characters: &[u8]| {
        let own = [count.to_be_bytes().to_vec(), vec![0; 4], dump.id(address + 16)].concat();
        instance(dump, address, "java.lang.String", own);
        let length = characters.len() as u32 / if kind == CHAR { 2 } else { 1 };
        dump.primitive_array(address + 16, kind, length, characters);
    };
    // The lowest bit of the count is 0 if the characters are bytes.
    string(&mut dump, 0x3000, 6 << 1, BYTE, b"worker");
    string(&mut dump, 0x3100, 2 << 1 | 1, CHAR, &[0x01, 0x61, 0x20, 0xac]);
    dump.root(0x89, 0x3100, &[]);
    let own = dump.id(0x3000);
    instance(&mut dump, 0x4000, "java.lang.Thread", own);
    dump.root(0x08, 0x4000, &[7, 0]);
    dump.object_array(0x5000, of("java.lang.String[][]"), &[0x3100]);
    dump.root(0x03, 0x5000, &[7, u32::MAX]);
    dump.end()
}

fn of_type<'a>(objects: &'a [String], name: &str) -> Vec<&'a str> {
    objects.iter().filter_map(|line| line.strip_prefix(name)?.strip_prefix('(')).collect()
}

fn recorded() -> Recorded {
    record(&dump()).expect("a whole dump")
}

#[test]
fn references_are_as_strong_as_their_class_says() {
    let recorded = recorded();
    let objects = recorded.objects();
    for (class, strength) in [
        ("WeakReference", "weak"),
        ("SoftReference", "soft"),
        ("PhantomReference", "phantom"),
        // Android has a list of them in place of `FinalReference`.
        ("FinalizerReference", "finalizer"),
    ] {
        let found = of_type(&objects, &format!("java.lang.ref.{class}"));
        assert_eq!(found.len(), 1, "{class}");
        assert!(found[0].contains(&format!(" {strength}:referent=")), "{}", found[0]);
    }
    let activities = of_type(&objects, "com.example.MainActivity").len();
    assert_eq!((activities, recorded.unreachable().len()), (4, 4), "references that do not retain");
}

#[test]
fn threads_and_strings_have_their_texts() {
    let recorded = recorded();
    assert_eq!(recorded.threads(), [(7, "worker")]);
    let is_string = |line: &String| line.starts_with("java.lang.String(");
    let strings = (0..).zip(recorded.objects()).filter(|(_, line)| is_string(line)).map(|(object, _)| object);
    let texts: Vec<_> = strings.map(|object| recorded.name(object).expect("a text")).collect();
    assert_eq!(texts, ["worker", "š€"]);
    assert!(recorded.roots().iter().any(|root| root.starts_with("Java frame, worker = ")), "{:?}", recorded.roots());
}

/// An object has the class and the lock in its 8 bytes of header, and these are also two fields; a class has what it
/// declares, what is static, and beside it the array that stands for the rest.
#[test]
fn objects_are_as_long_as_their_fields_say() {
    let recorded = recorded();
    assert_eq!(recorded.histogram()["com.example.MainActivity"].0, 4);
    let classes: Vec<String> =
        recorded.objects().iter().filter(|line| line.starts_with("java.lang.Class(")).cloned().collect();
    assert_eq!(classes.len(), NAMES.len());
    let sizes: Vec<&str> = classes.iter().map(|line| &line[..line.find(')').expect("a size")]).collect();
    assert!(sizes.windows(2).all(|two| two[0] == two[1]), "all declare one static field: {sizes:?}");
}

#[test]
fn arrays_are_named_once() {
    let recorded = recorded();
    let histogram = recorded.histogram();
    assert_eq!(histogram["byte[]"].0, 17, "of each class one, and that of a string");
    assert_eq!((histogram["char[]"].0, histogram["java.lang.String[][]"].0), (1, 1));
}
