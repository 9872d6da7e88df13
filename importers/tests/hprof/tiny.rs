//! A dump made by hand, word by word.

use crate::dump::{CHAR, Class, Dump, INT, OBJECT, tiny};
use crate::read::{Recorded, record, record_with};
use barrow_importers::{ImportOptions, ObjectLayout};
use std::num::NonZero;

const EIGHT: usize = 8;

#[test]
fn everything_is_there() {
    for id_bytes in [4, EIGHT] {
        let recorded = record(&tiny(id_bytes)).expect("a whole dump");
        assert_eq!(recorded.imported.format.key(), "hprof");
        assert_eq!(recorded.imported.lost, None);
        let objects: Vec<String> = recorded.objects();
        let names: Vec<&str> = objects.iter().map(|line| line.split_once('(').expect("a size").0).collect();
        let classes = ["java.lang.Class"; 7];
        let others = [
            "Node",
            "Node",
            "java.lang.ref.WeakReference",
            "java.lang.Object",
            "Node[]",
            "java.lang.Thread",
            "java.lang.String",
            "byte[]",
            "Node",
        ];
        assert_eq!(names, [&classes[..], &others].concat());
        let references: Vec<&str> = objects.iter().map(|line| line.split_once(')').expect("a size").1).collect();
        // Node is a root here, so that its instances need not name it; java.lang.Object and Node[] are not.
        let expected = [
            "",
            " <superclass>=0",
            " <superclass>=1",
            " <superclass>=0 <class loader>=10 FIRST=7",
            " <superclass>=0",
            " <superclass>=0",
            " <superclass>=0",
            " next=8",
            "",
            " <class>=2 weak:referent=8",
            " <class>=0",
            " <class>=4 [0]=7 [2]=9",
            " <class>=5 name=13",
            " <class>=6 value=14",
            "",
            " next=7",
        ];
        assert_eq!(references, expected);
        let roots = [
            "thread, main = 12",
            "Java frame, main: Node.run(Node.java:17) = 11",
            "sticky class = 3",
            "JNI global = 10",
        ];
        assert_eq!(recorded.roots(), roots);
        assert_eq!(recorded.threads(), [(1, "main")]);
        assert_eq!(recorded.address(7), Some(0x1000));
        let left_out = |what| format!("{what} that lead to nothing in the dump, left out: 1");
        // In the narrow one no neighbours tell the layout.
        let notes = &recorded.imported.notes;
        assert_eq!(notes[notes.len() - 2..], [left_out("references"), left_out("roots")], "{notes:?}");
    }
}

/// A root that holds an array only, of a class whose loader holds a cache; and what else names its class.
#[test]
fn an_array_holds_its_class_and_so_its_loader() {
    let mut dump = Dump::new("1.0.2", EIGHT);
    let names = [(1, "java/lang/Class"), (2, "[LPlugin;"), (3, "Loader"), (4, "[I"), (5, "cache")];
    names.iter().for_each(|&(id, text)| dump.string(id, text));
    (1..=4).for_each(|name| dump.load_class(0x100 + 8 * (name - 1), name));
    dump.class(&Class { address: 0x100, ..Class::default() });
    dump.class(&Class { address: 0x108, loader: 0x2000, ..Class::default() });
    dump.class(&Class { address: 0x110, fields: &[(5, OBJECT)], ..Class::default() });
    dump.class(&Class { address: 0x118, ..Class::default() });
    dump.object_array(0x1000, 0x108, &[0, 0x2000]);
    let cache = dump.id(0x3000);
    dump.instance(0x2000, 0x110, &cache);
    dump.primitive_array(0x3000, INT, 1000, &[0; 4000]);
    dump.object_array(0x8000, 0x108, &[]);
    dump.root(0x01, 0x8000, &[0, 9]);
    let recorded = record(&dump.end()).expect("a whole dump");
    let references: Vec<String> =
        recorded.objects().iter().map(|line| line.split_once(')').unwrap().1.into()).collect();
    let expected = [
        " <class>=0",
        " <class>=0 <class loader>=5",
        " <class>=0",
        " <class>=0",
        " <class>=1 [1]=5",
        " <class>=2 cache=6",
        " <class>=3",
        " <class>=1",
    ];
    assert_eq!(references, expected);
    assert_eq!(recorded.unreachable(), [4], "the array that is no root");
}

#[test]
fn class_objects_are_called_as_their_class() {
    let recorded = record(&tiny(EIGHT)).expect("a whole dump");
    let names: Vec<Option<String>> = (0..8).map(|object| recorded.name(object)).collect();
    let name = |text: &str| Some(text.to_owned());
    assert_eq!(names[3..], [name("Node"), name("Node[]"), name("java.lang.Thread"), name("java.lang.String"), None]);
}

#[test]
fn objects_have_the_site_of_their_stack_trace() {
    let mut dump = Dump::new("1.0.1", EIGHT);
    for (id, text) in [(1, "Main"), (2, "run"), (3, "make"), (4, "Main.java")] {
        dump.string(id, text);
    }
    dump.load_class(0x100, 1);
    dump.frame(800, 2, 4, 1, 10);
    dump.frame(801, 3, 4, 1, 20);
    dump.frame(802, 3, 0, 1, -3);
    dump.trace(1, 0, &[]);
    dump.trace(5, 0, &[801, 800]);
    dump.trace(6, 0, &[802, 800]);
    dump.class(&Class { address: 0x100, ..Class::default() });
    for (trace, address) in [(5, 0x1000), (6, 0x1010), (1, 0x1020), (5, 0x1030)] {
        dump.instance_at(trace, address, 0x100, &[]);
    }
    let recorded = record(&dump.end()).expect("a whole dump");
    let make = "Main.make (Main.java:20) < Main.run (Main.java:10)";
    let sites: Vec<String> = (1..5).map(|object| recorded.site(object)).collect();
    assert_eq!(sites, [make, "Main.make < Main.run (Main.java:10)", "", make]);
}

/// Options with an object layout.
fn with_layout(layout: &str) -> ImportOptions {
    let mut options = ImportOptions::default();
    options.of_formats.set::<ObjectLayout>(layout.parse().expect("a layout"));
    options
}

#[test]
fn sizes_follow_the_layout() {
    let options = with_layout("4,12,16,8");
    let recorded = record_with(&tiny(EIGHT), &options).expect("a whole dump");
    let histogram = recorded.histogram();
    // Header 12, a reference 4, a long 8.
    assert_eq!(histogram["Node"], (3, 3 * 24));
    assert_eq!(histogram["java.lang.Object"], (1, 16));
    assert_eq!(histogram["Node[]"], (1, 32));
    assert_eq!(histogram["byte[]"], (1, 24));
    let options = with_layout("8,16,24,16");
    let histogram = record_with(&tiny(EIGHT), &options).expect("a whole dump").histogram();
    assert_eq!(histogram["Node"], (3, 3 * 32));
    assert_eq!(histogram["Node[]"], (1, 64));
}

/// `HeapHprofBinWriter` of the serviceability agent, behind `jhsdb jmap`, writes roots of threads and of JNI only. The
/// boot loader's classes are never unloaded (JVMS 12.7), so what their static fields hold is alive.
#[test]
fn classes_of_the_boot_loader_are_roots_where_no_class_is_sticky() {
    let dump = |sticky: bool, names: [&str; 3]| {
        let mut dump = Dump::new("1.0.2", EIGHT);
        (1..).zip(names).for_each(|(id, name)| dump.string(id, name));
        dump.string(10, "cache");
        (1..=3).for_each(|name| dump.load_class(0x100 * name, name));
        let statics = |value| [(10, OBJECT, u64::to_be_bytes(value).to_vec())];
        dump.class(&Class { address: 0x100, statics: &statics(0x1000), ..Class::default() });
        dump.class(&Class { address: 0x200, statics: &statics(0x1010), ..Class::default() });
        dump.class(&Class { address: 0x300, loader: 0x1030, statics: &statics(0x1020), ..Class::default() });
        for address in [0x1000, 0x1010, 0x1020, 0x1030, 0x1040] {
            dump.instance(address, 0x100, &[]);
        }
        if sticky {
            dump.root(0x05, 0x100, &[]);
        }
        dump.end()
    };
    let whole = ["java/lang/Object", "java/lang/Cache", "App"];
    let recorded = record(&dump(false, whole)).expect("a whole dump");
    assert_eq!(recorded.roots(), ["sticky class = 0", "sticky class = 1"]);
    let note = "the dump names no sticky classes; classes of the boot loader are taken as roots: 2";
    assert!(recorded.imported.notes.iter().any(|found| found == note), "{:?}", recorded.imported.notes);
    // The class of the program, what it holds, its loader, and one that nothing refers to.
    assert_eq!(recorded.unreachable(), [2, 5, 6, 7]);
    // A dump that names one is believed, and a part of a heap without the JVM's first class has no boot loader.
    assert_eq!(record(&dump(true, whole)).expect("a whole dump").roots(), ["sticky class = 0"]);
    assert_eq!(record(&dump(false, ["A", "B", "C"])).expect("a whole dump").roots(), Vec::<String>::new());
}

/// HotSpot keeps what a class's constant pool refers to in an `Object[]` that only the class knows
/// (`ConstantPool::resolved_references` in `constantPool.hpp`): strings, method types, method handles, call sites, and
/// null for what is not resolved. `jhsdb jmap` writes the arrays and not who knows them.
#[test]
fn what_looks_like_a_constant_pool_is_a_root_where_no_class_is_sticky() {
    let names = [
        "java/lang/Object",
        "java/lang/String",
        "[Ljava/lang/Object;",
        "java/lang/invoke/MethodHandle",
        "java/lang/invoke/DirectMethodHandle",
        "Holder",
        "[Ljava/lang/String;",
    ];
    let dump = |sticky: bool| {
        let mut dump = Dump::new("1.0.2", EIGHT);
        (1..).zip(names).for_each(|(id, name)| dump.string(id, name));
        dump.string(20, "held");
        (1..=names.len() as u64).for_each(|name| dump.load_class(0x100 * name, name));
        let class =
            |at: u64| Class { address: 0x100 * at, superclass: if at == 1 { 0 } else { 0x100 }, ..Class::default() };
        for at in [1, 2, 3, 4, 7] {
            dump.class(&class(at));
        }
        dump.class(&Class { superclass: 0x400, ..class(5) });
        let fields = [(20, OBJECT)];
        let statics = [(20, OBJECT, u64::to_be_bytes(0x2050).to_vec())];
        dump.class(&Class { fields: &fields, statics: &statics, loader: 0x3000, ..class(6) });
        for string in [0x1000, 0x1010, 0x1020, 0x1030] {
            dump.instance(string, 0x200, &[]);
        }
        dump.instance(0x1040, 0x500, &[]);
        dump.instance(0x1050, 0x600, &u64::to_be_bytes(0x2040));
        dump.object_array(0x2000, 0x300, &[0x1000, 0, 0x1040]);
        // It holds what is no constant; it is no Object[]; objects, an array and a static field refer to these.
        dump.object_array(0x2010, 0x300, &[0x1010, 0x1050]);
        dump.object_array(0x2020, 0x700, &[0x1020]);
        dump.object_array(0x2030, 0x300, &[0x1030]);
        dump.object_array(0x2040, 0x300, &[0x1030]);
        dump.object_array(0x2050, 0x300, &[0x1030]);
        dump.object_array(0x2060, 0x700, &[0x2030]);
        if sticky {
            dump.root(0x05, 0x100, &[]);
        }
        dump.end()
    };
    let recorded = record(&dump(false)).expect("a whole dump");
    let pools: Vec<String> = recorded.roots().into_iter().filter(|root| root.starts_with("constant pool")).collect();
    // Classes have the numbers 0 to 6, the holder's the last; then come strings, the handle and the holder.
    assert_eq!(pools, ["constant pool = 13"]);
    let note = "arrays that nothing refers to and that look like constant pools, taken as roots: 1";
    assert!(recorded.imported.notes.iter().any(|found| found == note), "{:?}", recorded.imported.notes);
    assert_eq!(recorded.unreachable(), [6, 8, 9, 10, 12, 14, 15, 16, 17, 18, 19]);
    let sticky = record(&dump(true)).expect("a whole dump");
    assert!(sticky.roots().iter().all(|root| !root.starts_with("constant pool")), "{:?}", sticky.roots());
}

/// The heap that is in the archive of class data is entered by one `Object[]` of the JVM (`HeapShared::roots` in
/// `heapShared.cpp` of JDK 17): pools of all classes in the archive, and objects such as the module graph. Pools of classes
/// that were not loaded are not in the dump.
#[test]
fn the_array_of_an_archive_is_a_root_where_no_class_is_sticky() {
    let dump = |pools: u64| {
        let mut dump = Dump::new("1.0.2", EIGHT);
        let names = ["java/lang/Object", "java/lang/String", "[Ljava/lang/Object;", "ArchivedModuleGraph"];
        (1..).zip(names).for_each(|(id, name)| dump.string(id, name));
        (1..=4).for_each(|name| dump.load_class(0x100 * name, name));
        for at in 1..=4 {
            let superclass = if at == 1 { 0 } else { 0x100 };
            dump.class(&Class { address: 0x100 * at, superclass, loader: 0x10 * (at / 4), ..Class::default() });
        }
        dump.instance(0x1000, 0x400, &[]);
        dump.instance(0x1010, 0x200, &[]);
        (0..pools).for_each(|pool| dump.object_array(0x2000 + 16 * pool, 0x300, &[0x1010]));
        let missing = (0..100).map(|pool| 0x9000 + 16 * pool);
        let elements: Vec<u64> =
            [0x1000].into_iter().chain((0..pools).map(|pool| 0x2000 + 16 * pool)).chain(missing).collect();
        dump.object_array(0x4000, 0x300, &elements);
        record(&dump.end()).expect("a whole dump")
    };
    let pools = |recorded: &Recorded| {
        recorded.roots().into_iter().filter(|root| root.starts_with("constant pool")).collect::<Vec<String>>()
    };
    // Classes have the numbers 0 to 3; the graph, a string and the pools follow.
    let archive = dump(40);
    assert_eq!(pools(&archive), ["constant pool = 46"]);
    // Three pools and an object are anything.
    let garbage = dump(3);
    assert_eq!((pools(&garbage).len(), garbage.unreachable().contains(&4)), (0, true));
    assert!(!archive.unreachable().contains(&4));
}

/// HotSpot gave loaders a field of its own with the metaspace of JDK 8: `java_lang_ClassLoader` in `javaClasses.hpp` of
/// JDK 7 and of JDK 8.
#[test]
fn loaders_have_a_hidden_field_since_jdk_8() {
    for (version, names, bytes) in [
        (7, &["java/lang/Object", "java/lang/ClassLoader", "App"][..], 40),
        (8, &["java/lang/Object", "java/lang/ClassLoader", "App", "java/lang/reflect/Executable"][..], 48),
    ] {
        let mut dump = Dump::new("1.0.1", EIGHT);
        (1..).zip(names).for_each(|(id, name)| dump.string(id, name));
        (10..13).for_each(|id| dump.string(id, "field"));
        (1..=names.len() as u64).for_each(|name| dump.load_class(0x100 * name, name));
        dump.class(&Class { address: 0x100, ..Class::default() });
        let fields = [(10, OBJECT), (11, OBJECT), (12, OBJECT)];
        dump.class(&Class { address: 0x200, superclass: 0x100, fields: &fields, ..Class::default() });
        dump.class(&Class { address: 0x300, superclass: 0x200, ..Class::default() });
        if version == 8 {
            dump.class(&Class { address: 0x400, superclass: 0x100, ..Class::default() });
        }
        dump.instance(0x1000, 0x300, &[0; 24]);
        let recorded = record_with(&dump.end(), &with_layout("8,16,24,8")).expect("a whole dump");
        assert_eq!(recorded.histogram()["App"], (1, bytes), "JDK {version}");
    }
}

#[test]
fn threads_do_not_matter() {
    let dump = many(10_000);
    let of = |threads| {
        let options = ImportOptions { threads: NonZero::new(threads).expect("not 0"), ..Default::default() };
        record_with(&dump, &options).expect("a whole dump").objects()
    };
    let expected = of(1);
    assert_eq!(expected.len(), 20_002);
    assert_eq!(expected[2 + 17], "Box(16) <class>=0 next=10019");
    for threads in [2, 8] {
        assert!(of(threads) == expected, "{threads} threads");
    }
}

/// Two kinds of boxes in segments, each of the first referring to one of the second, in falling
/// addresses.
fn many(count: u64) -> Vec<u8> {
    let mut dump = Dump::new("1.0.1", EIGHT);
    for (id, text) in [(1, "Box"), (2, "next"), (3, "Other")] {
        dump.string(id, text);
    }
    dump.load_class(0x10, 1);
    dump.load_class(0x18, 3);
    dump.class(&Class { address: 0x10, fields: &[(2, OBJECT)], ..Class::default() });
    dump.class(&Class { address: 0x18, ..Class::default() });
    for number in 0..count {
        let next = dump.id(0x10_0000 + 16 * (count - number));
        dump.instance(0x80_0000 + 16 * number, 0x10, &next);
        if number % 100 == 0 {
            dump.segment();
        }
    }
    for number in 0..count {
        dump.instance(0x10_0000 + 16 * (count - number), 0x18, &[]);
    }
    dump.end()
}

#[test]
fn identifiers_need_not_be_addresses() {
    let mut dump = Dump::new("1.0.1", 4);
    for (id, text) in [(1, "Box"), (2, "next")] {
        dump.string(id, text);
    }
    dump.load_class(3, 1);
    dump.class(&Class { address: 3, fields: &[(2, OBJECT)], ..Class::default() });
    // Odd, in no order, and one twice: the first counts.
    for (address, next) in [(21, 9), (8, 21), (9, 7), (7, 8), (7, 0)] {
        let next = dump.id(next);
        dump.instance(address, 3, &next);
    }
    let recorded = record(&dump.end()).expect("a whole dump");
    let references: Vec<String> =
        recorded.objects().iter().map(|line| line.split_once(')').unwrap().1.into()).collect();
    let class = " <class>=0";
    let expected = [
        "".into(),
        format!("{class} next=3"),
        format!("{class} next=1"),
        format!("{class} next=4"),
        format!("{class} next=2"),
    ];
    assert_eq!(references, expected);
}

#[test]
fn what_is_missing_is_told() {
    let mut dump = Dump::new("1.0.2", EIGHT);
    dump.instance(0x1000, 0x5000, &[1, 2, 3]);
    dump.object_array(0x1020, 0x5008, &[0x1000, 0x6000]);
    dump.primitive_array(0x1040, CHAR, 2, &[0, 65, 0, 66]);
    dump.primitive_array(0x1060, INT, 0, &[]);
    let recorded = record(&dump.end()).expect("a whole dump");
    let objects = recorded.objects();
    // 3 bytes of fields after a header, where neighbours are 32 bytes apart.
    assert_eq!(objects[0], "<unknown class>(32)");
    assert!(objects[1].starts_with("<unknown class>[](") && objects[1].ends_with(" [0]=0"), "{}", objects[1]);
    assert!(objects[2].starts_with("char[]("));
    let notes = &recorded.imported.notes;
    assert_eq!(notes[0], "references that lead to nothing in the dump, left out: 3");
    assert!(
        notes[1].starts_with("objects whose class is not in the dump, or has fields of another length: 1;"),
        "{notes:?}"
    );
}

/// A class that is loaded but not dumped, one whose superclass is missing, and records that are not as long as their class
/// says: what cannot be read is told, and a count leaves such dumps to the import.
#[test]
fn instances_that_do_not_fit_their_class_are_told() {
    let mut dump = Dump::new("1.0.2", EIGHT);
    for (id, text) in [(1, "java/lang/Object"), (2, "Loaded"), (3, "Heir"), (4, "Plain"), (5, "next")] {
        dump.string(id, text);
    }
    (1..=4).for_each(|name| dump.load_class(0x100 * name, name));
    dump.class(&Class { address: 0x100, ..Class::default() });
    dump.class(&Class { address: 0x300, superclass: 0x200, ..Class::default() });
    dump.class(&Class { address: 0x400, superclass: 0x100, fields: &[(5, OBJECT)], ..Class::default() });
    let next = u64::to_be_bytes(0x1000);
    dump.instance(0x1000, 0x400, &next);
    dump.instance(0x1010, 0x200, &[&next[..], &[0; 12]].concat());
    dump.instance(0x1030, 0x300, &next);
    dump.instance(0x1040, 0x400, &next[..4]);
    dump.instance(0x1050, 0x400, &[next, next].concat());
    let bytes = dump.end();
    let recorded = record(&bytes).expect("a whole dump");
    let note = "objects whose class is not in the dump, or has fields of another length: 4;";
    assert!(recorded.imported.notes.iter().any(|found| found.starts_with(note)), "{:?}", recorded.imported.notes);
    // A header of 12 bytes and fields of 20.
    assert!(recorded.objects().iter().any(|object| object.starts_with("Loaded(32)")), "{:?}", recorded.objects());
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("odd.hprof");
    std::fs::write(&path, bytes).expect("written");
    let writer = barrow_writer::Writer::create(folder.path().join("types"), barrow_writer::Options::default());
    let writer = writer.expect("a new file");
    let counted = barrow_importers::totals(
        &path,
        &writer,
        &barrow_importers::ImportOptions::default(),
        &barrow_importers::Silent,
    );
    assert!(counted.expect("a dump").is_none());
}

#[test]
fn a_class_that_is_its_own_superclass_is_no_end() {
    let mut dump = Dump::new("1.0.2", EIGHT);
    for (id, text) in [(1, "A"), (2, "B"), (3, "next")] {
        dump.string(id, text);
    }
    dump.load_class(0x100, 1);
    dump.load_class(0x108, 2);
    dump.class(&Class { address: 0x100, superclass: 0x108, fields: &[(3, OBJECT)], ..Class::default() });
    dump.class(&Class { address: 0x108, superclass: 0x100, ..Class::default() });
    let next = dump.id(0x1000);
    dump.instance(0x1000, 0x100, &next);
    assert_eq!(record(&dump.end()).expect("a whole dump").object_count(), 3);
}

#[test]
fn androids_tags_are_read() {
    let mut dump = Dump::new("1.0.3", 4);
    dump.string(1, "app");
    let heap = dump.id(1);
    dump.heap.extend([[0xfe, 0, 0, 0, 65].to_vec(), heap].concat());
    dump.primitive_array(0x1000, INT, 1, &[0, 0, 0, 5]);
    for (tag, numbers) in [(0x89, vec![]), (0x8a, vec![]), (0x8e, vec![1, 2]), (0x90, vec![])] {
        dump.root(tag, 0x1000, &numbers);
    }
    // An array whose elements were left out.
    dump.heap.extend([0xc3, 0, 0, 0x10, 0x20, 0, 0, 0, 0, 0, 0, 0, 9, INT]);
    let recorded = record(&dump.end()).expect("a whole dump");
    assert_eq!(recorded.object_count(), 2);
    // The last root's tag says that nothing reaches it.
    assert_eq!(recorded.roots(), ["interned string = 0", "finalizing = 0", "JNI monitor = 0"]);
}
