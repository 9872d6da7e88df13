//! Class loaders: classes of one name that several of them define.

use std::sync::Arc;

use barrow_analyzer::{Heap, IndexPlace, Memory, ObjectId, Silent};

use crate::dump::{Class, Dump, INT, OBJECT};
use crate::read::{SNAPSHOT, record};

/// Two loaders of one class define `Plug`; the JVM's own defines `Loader`, a third loader, of another class, `Other` and
/// `Plug`. A reference of native code leads to each object of `held`.
fn dump(held: &[u64]) -> Vec<u8> {
    let mut dump = Dump::new("1.0.2", 4);
    let names = ["Loader", "Strange", "Plug", "Other", "parent", "x"];
    names.iter().zip(1..).for_each(|(text, id)| dump.string(id, text));
    let classes = [(0x100, 1), (0x108, 2), (0x110, 3), (0x118, 3), (0x120, 3), (0x128, 4)];
    classes.into_iter().for_each(|(class, name)| dump.load_class(class, name));
    let parent = [(5, OBJECT)];
    let x = [(6, INT)];
    // The JVM holds its own classes.
    [0x100, 0x108].into_iter().for_each(|class| dump.root(0x05, class, &[]));
    for class in [0x100, 0x108] {
        dump.class(&Class { address: class, fields: &parent, ..Class::default() });
    }
    for (class, loader) in [(0x110, 0x1000), (0x118, 0x1010), (0x120, 0x1020), (0x128, 0x1020)] {
        dump.class(&Class { address: class, loader, fields: &x, ..Class::default() });
    }
    for (loader, class, parent) in [(0x1000, 0x100, 0), (0x1010, 0x100, 0x1000), (0x1020, 0x108, 0)] {
        let parent = dump.id(parent);
        dump.instance(loader, class, &parent);
    }
    let mut address = 0x2000;
    for (class, count) in [(0x110, 3), (0x118, 5), (0x120, 7), (0x128, 1)] {
        for _ in 0..count {
            dump.instance(address, class, &[0; 4]);
            address += 16;
        }
    }
    held.iter().for_each(|&object| dump.root(0x01, object, &[0]));
    dump.end()
}

#[test]
fn instances_belong_to_the_loader_of_their_class() {
    let recording = Arc::new(record(&dump(&[])).expect("a whole dump").recording);
    let heap = Heap::new(recording, SNAPSHOT, &IndexPlace::Nowhere, Memory::unlimited()).expect("a heap");
    let found = heap.loaders(&Silent).expect("loaders");
    let tables = heap.recording().tables().expect("tables");
    let name = |id| tables.type_name(id);
    let rows = found.loaders.iter().map(|loader| {
        let object = loader.object.as_ref().map(|object| (object.id.0, name(object.type_id)));
        let parent = loader.parent.map(|parent| parent.0);
        (object, parent, loader.classes, loader.duplicates, loader.instances, loader.unknown)
    });
    // Objects are numbered after the six classes.
    let expected = [
        (None, None, 2, 0, 3, 0),
        (Some((8, "Strange")), None, 2, 1, 8, 0),
        (Some((6, "Loader")), None, 1, 1, 3, 0),
        (Some((7, "Loader")), Some(6), 1, 1, 5, 0),
    ];
    assert_eq!(rows.collect::<Vec<_>>(), expected);
    let duplicates = found.duplicates.iter().map(|class| (class.name, class.classes.clone(), class.instances));
    assert_eq!(duplicates.collect::<Vec<_>>(), [("Plug", vec![ObjectId(2), ObjectId(3), ObjectId(4)], 15)]);
    let sizes: Vec<u64> = found.loaders.iter().map(|loader| loader.bytes).collect();
    assert_eq!(sizes.iter().sum::<u64>(), sizes[0] + found.duplicates[0].bytes + 16);
}

/// An instance holds its class, and that holds its loader.
#[test]
fn a_loader_costs_what_it_keeps_with_its_classes_and_instances() {
    let recording = Arc::new(record(&dump(&[0x2000, 0x2030, 0x2040])).expect("a whole dump").recording);
    let heap = Heap::new(recording, SNAPSHOT, &IndexPlace::Nowhere, Memory::unlimited()).expect("a heap");
    let found = heap.loaders(&Silent).expect("loaders");
    let retained = heap.retained_with_loaders(&found.loaders, &Silent).expect("sizes");
    let objects: Vec<_> = retained.iter().map(|retained| retained.map(|retained| retained.objects)).collect();
    // One instance of the first `Plug` is alive, two of the second, none of the third.
    assert_eq!(objects, [None, Some(0), Some(1 + 1 + 1), Some(2 + 1 + 1)]);
}
