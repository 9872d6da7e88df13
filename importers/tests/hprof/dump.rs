//! Writes HPROF dumps by hand.

/// A dump that is being written; identifiers take `id_bytes`.
#[derive(Clone)]
pub(crate) struct Dump {
    id_bytes: usize,
    pub(crate) bytes: Vec<u8>,
    /// The sub-records of the segment that is being written.
    pub(crate) heap: Vec<u8>,
}

/// The codes of field types.
pub(crate) const OBJECT: u8 = 2;
pub(crate) const BYTE: u8 = 8;
pub(crate) const CHAR: u8 = 5;
pub(crate) const INT: u8 = 10;
pub(crate) const LONG: u8 = 11;

/// A class: fields are name, type, and for static ones the value's bytes.
#[derive(Default)]
pub(crate) struct Class<'a> {
    pub(crate) address: u64,
    pub(crate) superclass: u64,
    pub(crate) loader: u64,
    pub(crate) statics: &'a [(u64, u8, Vec<u8>)],
    pub(crate) fields: &'a [(u64, u8)],
}

impl Dump {
    pub(crate) fn new(version: &str, id_bytes: usize) -> Self {
        let mut bytes = format!("JAVA PROFILE {version}\0").into_bytes();
        bytes.extend((id_bytes as u32).to_be_bytes());
        bytes.extend(1_700_000_000_000_u64.to_be_bytes());
        Dump { id_bytes, bytes, heap: Vec::new() }
    }

    pub(crate) fn id(&self, id: u64) -> Vec<u8> {
        id.to_be_bytes()[8 - self.id_bytes..].to_vec()
    }

    pub(crate) fn record(&mut self, tag: u8, body: &[u8]) {
        self.bytes.push(tag);
        self.bytes.extend([0; 4]);
        self.bytes.extend((body.len() as u32).to_be_bytes());
        self.bytes.extend(body);
    }

    pub(crate) fn string(&mut self, id: u64, text: &str) {
        let body = [self.id(id), text.as_bytes().to_vec()].concat();
        self.record(0x01, &body);
    }

    /// A loaded class, whose serial is the identifier of its name.
    pub(crate) fn load_class(&mut self, address: u64, name: u64) {
        let serial = (name as u32).to_be_bytes().to_vec();
        let body = [serial, self.id(address), vec![0; 4], self.id(name)].concat();
        self.record(0x02, &body);
    }

    pub(crate) fn frame(&mut self, frame: u64, method: u64, source: u64, class_serial: u32, line: i32) {
        let ids = [frame, method, 0, source].map(|id| self.id(id)).concat();
        let body = [ids, class_serial.to_be_bytes().to_vec(), line.to_be_bytes().to_vec()].concat();
        self.record(0x04, &body);
    }

    pub(crate) fn trace(&mut self, serial: u32, thread: u32, frames: &[u64]) {
        let numbers = [serial, thread, frames.len() as u32].map(u32::to_be_bytes).concat();
        let body = [numbers, frames.iter().flat_map(|&frame| self.id(frame)).collect()].concat();
        self.record(0x05, &body);
    }

    /// A root; `numbers` are what follows the object.
    pub(crate) fn root(&mut self, tag: u8, object: u64, numbers: &[u32]) {
        let object = self.id(object);
        self.heap.push(tag);
        self.heap.extend(object);
        numbers.iter().for_each(|number| self.heap.extend(number.to_be_bytes()));
    }

    pub(crate) fn class(&mut self, class: &Class<'_>) {
        let Class { address, superclass, loader, statics, fields } = *class;
        let others = [superclass, loader, 0, 0, 0, 0].map(|id| self.id(id)).concat();
        let mut body = [self.id(address), vec![0; 4], others, vec![0; 4], vec![0; 2]].concat();
        body.extend((statics.len() as u16).to_be_bytes());
        for (name, kind, value) in statics {
            body.extend([self.id(*name), vec![*kind], value.clone()].concat());
        }
        body.extend((fields.len() as u16).to_be_bytes());
        for &(name, kind) in fields {
            body.extend([self.id(name), vec![kind]].concat());
        }
        self.heap.push(0x20);
        self.heap.extend(body);
    }

    pub(crate) fn instance(&mut self, address: u64, class: u64, fields: &[u8]) {
        self.instance_at(0, address, class, fields);
    }

    /// An instance with the serial of the stack trace at its allocation.
    pub(crate) fn instance_at(&mut self, trace: u32, address: u64, class: u64, fields: &[u8]) {
        let (trace, length) = (trace.to_be_bytes().to_vec(), (fields.len() as u32).to_be_bytes().to_vec());
        let body = [vec![0x21], self.id(address), trace, self.id(class), length, fields.to_vec()].concat();
        self.heap.extend(body);
    }

    pub(crate) fn object_array(&mut self, address: u64, class: u64, elements: &[u64]) {
        let length = (elements.len() as u32).to_be_bytes().to_vec();
        let elements = elements.iter().flat_map(|&element| self.id(element)).collect();
        let body = [vec![0x22], self.id(address), vec![0; 4], length, self.id(class), elements].concat();
        self.heap.extend(body);
    }

    pub(crate) fn primitive_array(&mut self, address: u64, element: u8, count: u32, elements: &[u8]) {
        let length = count.to_be_bytes().to_vec();
        let body = [vec![0x23], self.id(address), vec![0; 4], length, vec![element], elements.to_vec()].concat();
        self.heap.extend(body);
    }

    /// Ends the segment.
    pub(crate) fn segment(&mut self) {
        let heap = std::mem::take(&mut self.heap);
        self.record(0x1c, &heap);
    }

    /// The whole dump.
    pub(crate) fn end(mut self) -> Vec<u8> {
        if !self.heap.is_empty() {
            self.segment();
        }
        self.record(0x2c, &[]);
        self.bytes
    }
}

/// A heap with one of everything. Its classes are at 0x100, 0x108 and so on, other objects from 0x1000 on.
pub(crate) fn tiny(id_bytes: usize) -> Vec<u8> {
    let mut dump = Dump::new("1.0.2", id_bytes);
    let names = [
        (1, "java/lang/Object"),
        (2, "java/lang/ref/Reference"),
        (3, "java/lang/ref/WeakReference"),
        (4, "Node"),
        (5, "[LNode;"),
        (6, "java/lang/Thread"),
        (7, "java/lang/String"),
        (20, "next"),
        (21, "referent"),
        (22, "name"),
        (23, "value"),
        (24, "size"),
        (25, "FIRST"),
        (26, "run"),
        (27, "Node.java"),
        (28, "coder"),
    ];
    names.iter().for_each(|&(id, text)| dump.string(id, text));
    (1..=7).for_each(|name| dump.load_class(0x100 + 8 * (name - 1), name));
    dump.frame(900, 26, 27, 4, 17);
    dump.trace(1, 0, &[]);
    dump.trace(2, 1, &[900]);
    let (first, object) = (dump.id(0x1000), 0x100);
    let reference = |dump: &Dump, id| dump.id(id);
    dump.class(&Class { address: 0x100, ..Class::default() });
    dump.class(&Class { address: 0x108, superclass: object, fields: &[(21, OBJECT)], ..Class::default() });
    dump.class(&Class { address: 0x110, superclass: 0x108, ..Class::default() });
    dump.class(&Class {
        address: 0x118,
        superclass: object,
        loader: 0x1040,
        statics: &[(25, OBJECT, first), (24, INT, vec![0, 0, 0, 7])],
        fields: &[(24, LONG), (20, OBJECT)],
    });
    dump.class(&Class { address: 0x120, superclass: object, ..Class::default() });
    dump.class(&Class { address: 0x128, superclass: object, fields: &[(22, OBJECT)], ..Class::default() });
    dump.class(&Class { address: 0x130, superclass: object, fields: &[(23, OBJECT), (28, BYTE)], ..Class::default() });
    dump.segment();
    let node = |dump: &mut Dump, address, next| {
        let fields = [vec![0; 8], dump.id(next)].concat();
        dump.instance(address, 0x118, &fields);
    };
    // A chain of two nodes, a weak reference to the second, and one that is not reachable.
    node(&mut dump, 0x1000, 0x1018);
    node(&mut dump, 0x1018, 0);
    let referent = reference(&dump, 0x1018);
    dump.instance(0x1030, 0x110, &referent);
    dump.instance(0x1040, 0x100, &[]);
    dump.object_array(0x1050, 0x120, &[0x1000, 0, 0x1030, 0xdead_0000]);
    dump.segment();
    let name = reference(&dump, 0x1080);
    dump.instance(0x1070, 0x128, &name);
    let value = [reference(&dump, 0x1098), vec![0]].concat();
    dump.instance(0x1080, 0x130, &value);
    dump.primitive_array(0x1098, BYTE, 4, b"main");
    node(&mut dump, 0x10b0, 0x1000);
    dump.root(0x08, 0x1070, &[1, 2]);
    dump.root(0x03, 0x1050, &[1, 0]);
    dump.root(0x05, 0x118, &[]);
    dump.root(0x01, 0x1040, &if id_bytes == 4 { vec![9] } else { vec![0, 9] });
    dump.root(0xff, 0xdead_0000, &[]);
    dump.end()
}
