//! A dump as a model: built by hand or read from format 2, and written in any of the three formats.

use byteorder::{ByteOrder, LittleEndian};

/// Everything a dump says, whatever its format.
#[derive(Debug, Clone, Default)]
pub(crate) struct Dump {
    pub(crate) strings: Vec<Vec<u8>>,
    /// REPR name, name.
    pub(crate) types: Vec<[u32; 2]>,
    /// Name, cuid, line, file.
    pub(crate) frames: Vec<[u32; 4]>,
    pub(crate) snapshots: Vec<Snapshot>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Snapshot {
    /// Kind, type or frame, size, unmanaged size, first reference, number of references.
    pub(crate) collectables: Vec<[u64; 6]>,
    /// Kind, description, target.
    pub(crate) references: Vec<[u64; 3]>,
    /// Rows of the three tables once this snapshot has been written.
    pub(crate) tables: [usize; 3],
}

/// Differences between builds of MoarVM in writing format 2.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Build {
    pub(crate) tables: TablesAt,
    pub(crate) strings_field: StringsField,
    pub(crate) index: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum TablesAt {
    EachSnapshot,
    TheEnd,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum StringsField {
    First,
    Count,
}

/// As Debian's package writes it.
pub(crate) const DEBIAN: Build =
    Build { tables: TablesAt::EachSnapshot, strings_field: StringsField::First, index: true };

/// Two snapshots of a tiny heap: every kind of label and of type, labels of every width, references
/// that are not in the order of their objects, and tables that grow between the snapshots.
pub(crate) fn tiny() -> Dump {
    let text = [
        "P6opaque",
        "Document",
        "SCRef",
        "<anon SCRef>",
        "walk",
        "cuid_1",
        "src/walk.raku",
        "",
        "cuid_2",
        "Thread Roots",
        "$!title",
        "späte Eigenschaft",
    ];
    let first = Snapshot {
        collectables: vec![
            [9, 0, 0, 0, 0, 2],           // 0: the root
            [8, 0, 0, 0, 4, 1],           // 1: thread roots
            [11, 0, 0, 0, 2, 1],          // 2: call stack roots
            [4, 0, 200, 16, 3, 1],        // 3: a frame of `walk`
            [1, 0, 24, 0, 5, 3],          // 4: a document
            [2, 0, 16, 0, 0, 0],          // 5: its type object
            [3, 0, 65535, 1 << 40, 8, 1], // 6: its STable
            [1, 1, 32, 0, 0, 0],          // 7: an SCRef, which nothing refers to
        ],
        references: vec![
            [2, 9, 1],       // the root's: «Thread Roots»
            [0, 0, 2],       //             no description
            [1, 0, 3],       // the call stack's: 0
            [0, 0, 4],       // the frame's
            [0, 0, 4],       // the thread's
            [2, 10, 5],      // the document's: «$!title»
            [1, 300, 6],     //                300, of 16 bits
            [1, 1 << 33, 4], //            8589934592, of 64 bits: itself
            [1, 70_000, 5],  // the STable's: 70000, of 32 bits
        ],
        tables: [11, 2, 1],
    };
    let mut second = first.clone();
    second.collectables.push([4, 1, 8, 0, 9, 1]); // 8: a frame without name and file
    second.references.push([2, 11, 7]); // «späte Eigenschaft»
    second.tables = [12, 2, 2];
    Dump {
        strings: text.iter().map(|text| text.as_bytes().to_vec()).collect(),
        types: vec![[0, 1], [2, 3]],
        frames: vec![[4, 5, 14, 6], [7, 8, 1, 7]],
        snapshots: vec![first, second],
    }
}

impl Dump {
    /// As format 1.
    pub(crate) fn format1(&self) -> Vec<u8> {
        let strings = self.strings.iter().map(|text| String::from_utf8(text.clone()).expect("UTF-8"));
        let json = serde_json::to_string(&strings.collect::<Vec<_>>()).expect("strings are JSON");
        let mut text = format!("# a heap dump\n\nstrings: {json}\n");
        text += &format!("types: {}\n", rows(&self.types));
        text += &format!("static_frames: {}\n", rows(&self.frames));
        for (number, snapshot) in self.snapshots.iter().enumerate() {
            text += &format!("\nsnapshot {number}\n");
            text += &format!("collectables: {}\n", rows(&snapshot.collectables));
            text += &format!("references: {};\n", rows(&snapshot.references));
        }
        text.into_bytes()
    }

    /// As format 2.
    pub(crate) fn format2(&self, build: Build) -> Vec<u8> {
        let mut bytes = b"MoarHeapDumpv002".to_vec();
        let mut index = Vec::new();
        let mut written = [0; 3];
        for snapshot in &self.snapshots {
            let start = bytes.len();
            collectables2(&snapshot.collectables, &mut bytes);
            let middle = bytes.len();
            references2(&snapshot.references, &mut bytes);
            index.extend([middle - start, bytes.len() - middle, 20, 0]);
            if build.tables == TablesAt::EachSnapshot {
                self.tables2(written, snapshot.tables, build.strings_field, &mut bytes);
                written = snapshot.tables;
            }
        }
        let all = [self.strings.len(), self.types.len(), self.frames.len()];
        let sizes = self.tables2(written, all, build.strings_field, &mut bytes);
        index.extend(sizes);
        index.push(self.snapshots.len());
        if build.index {
            index.iter().for_each(|&field| bytes.extend((field as u64).to_le_bytes()));
        }
        bytes
    }

    /// Writes the rows `from..to` of the three tables, and returns the sizes of the chunks.
    fn tables2(&self, from: [usize; 3], to: [usize; 3], field: StringsField, bytes: &mut Vec<u8>) -> [usize; 3] {
        let start = bytes.len();
        let strings = &self.strings[from[0]..to[0]];
        bytes.extend(b"strs");
        bytes.extend((if field == StringsField::First { from[0] } else { strings.len() } as u64).to_le_bytes());
        for text in strings {
            bytes.extend((text.len() as u64).to_le_bytes());
            bytes.extend(text);
        }
        let types_start = bytes.len();
        table2(b"type", &self.types[from[1]..to[1]], bytes);
        let frames_start = bytes.len();
        table2(b"fram", &self.frames[from[2]..to[2]], bytes);
        [types_start - start, frames_start - types_start, bytes.len() - frames_start]
    }

    /// As format 3; `totals` replaces what MoarVM would state about each snapshot.
    pub(crate) fn format3(&self, totals: Option<&str>) -> Vec<u8> {
        let mut file = Format3 { bytes: b"MoarHeapDumpv003".to_vec(), inner: Vec::new(), outer: Vec::new() };
        file.json(b"filemeta", "{ \"subversion\": 1, \"start_time\": 1000, \"pid\": 77 }", true);
        let mut written = [0; 3];
        for (number, snapshot) in self.snapshots.iter().enumerate() {
            let stated = totals.map_or_else(|| stated(snapshot), str::to_string);
            file.json(
                b"snapmeta",
                &format!("{{ \"snap_time\": {}, \"gc_seq_num\": {number}{stated} }}", 2000 + number),
                false,
            );
            let column = |field: usize| snapshot.collectables.iter().map(|row| row[field]).collect::<Vec<_>>();
            file.column(b"colkind\0", 2, &column(0));
            file.column(b"colsize\0", 2, &column(2));
            file.column(b"coltofi\0", 4, &column(1));
            file.column(b"colrfcnt", 4, &column(5));
            file.column(b"colrfstr", 8, &column(4));
            file.column(b"colusize", 8, &column(3));
            let descriptions = snapshot.references.iter().map(|row| row[1] << 2 | row[0]).collect::<Vec<_>>();
            file.column(b"refdescr", 8, &descriptions);
            file.column(b"reftrget", 8, &snapshot.references.iter().map(|row| row[2]).collect::<Vec<_>>());
            file.tables(self, written, snapshot.tables);
            written = snapshot.tables;
            file.column(b"topIDs\0\0", 8, &[0; 160]);
            file.column(b"topscore", 8, &[0; 160]);
            file.contents();
        }
        file.tables(self, written, [self.strings.len(), self.types.len(), self.frames.len()]);
        file.contents();
        file.bytes
    }

    /// Reads a whole dump of format 2 as Debian's package writes it: a second reader, as simple as can be.
    pub(crate) fn from_format2(bytes: &[u8]) -> Dump {
        let mut dump = Dump::default();
        let mut at = 16;
        let u64_at = |at: usize| LittleEndian::read_u64(&bytes[at..at + 8]);
        let u32_at = |at: usize| LittleEndian::read_u32(&bytes[at..at + 4]);
        loop {
            let count = u64_at(at + 4) as usize;
            match &bytes[at..at + 4] {
                b"coll" => {
                    at += 20;
                    let records = bytes[at..at + 28 * count].chunks_exact(28);
                    let collectables = records.map(|record| {
                        [0..2, 2..6, 6..8, 8..16, 16..24, 24..28]
                            .map(|field| LittleEndian::read_uint(&record[field.clone()], field.len()))
                    });
                    dump.snapshots.push(Snapshot { collectables: collectables.collect(), ..Snapshot::default() });
                    at += 28 * count;
                }
                b"refs" => {
                    at += 20;
                    for _ in 0..count {
                        let width = [(b'0', 1), (b'1', 2), (b'3', 4), (b'6', 8)]
                            .into_iter()
                            .find_map(|(letter, width)| (letter == bytes[at]).then_some(width))
                            .expect("a width letter");
                        let field = |number: usize| LittleEndian::read_uint(&bytes[at + 2 + number * width..], width);
                        let row = [u64::from(bytes[at + 1]), field(0), field(1)];
                        dump.snapshots.last_mut().expect("collectables came first").references.push(row);
                        at += 2 + 2 * width;
                    }
                }
                b"strs" => {
                    at += 12;
                    while &bytes[at..at + 4] != b"type" {
                        let length = u64_at(at) as usize;
                        dump.strings.push(bytes[at + 8..at + 8 + length].to_vec());
                        at += 8 + length;
                    }
                }
                b"type" => {
                    at += 20;
                    dump.types.extend((0..count).map(|row| [0, 8].map(|field| u32_at(at + 16 * row + field))));
                    at += 16 * count;
                }
                b"fram" => {
                    at += 20;
                    dump.frames.extend((0..count).map(|row| [0, 8, 16, 24].map(|field| u32_at(at + 32 * row + field))));
                    at += 32 * count;
                    let tables = [dump.strings.len(), dump.types.len(), dump.frames.len()];
                    dump.snapshots.last_mut().expect("a snapshot came first").tables = tables;
                }
                _ => return dump,
            }
        }
    }
}

fn rows<T: ToString, const N: usize>(rows: &[[T; N]]) -> String {
    let row = |row: &[T; N]| row.iter().map(T::to_string).collect::<Vec<_>>().join(",");
    rows.iter().map(row).collect::<Vec<_>>().join(";")
}

fn collectables2(rows: &[[u64; 6]], bytes: &mut Vec<u8>) {
    chunk_header(b"coll", rows.len(), 28, bytes);
    for row in rows {
        for (value, width) in row.iter().zip([2, 4, 2, 8, 8, 4]) {
            bytes.extend(&value.to_le_bytes()[..width]);
        }
    }
}

fn references2(rows: &[[u64; 3]], bytes: &mut Vec<u8>) {
    chunk_header(b"refs", rows.len(), 17, bytes);
    for &[kind, value, target] in rows {
        let (letter, width) = match value.max(target) {
            0..0xff => (b'0', 1),
            0xff..0xffff => (b'1', 2),
            0xffff..0xffff_ffff => (b'3', 4),
            _ => (b'6', 8),
        };
        bytes.extend([letter, kind as u8]);
        bytes.extend(&value.to_le_bytes()[..width]);
        bytes.extend(&target.to_le_bytes()[..width]);
    }
}

/// Every field is 8 bytes with garbage in the upper half, as MoarVM writes it.
fn table2<const N: usize>(tag: &[u8; 4], rows: &[[u32; N]], bytes: &mut Vec<u8>) {
    chunk_header(tag, rows.len(), 8 * N, bytes);
    for field in rows.iter().flatten() {
        bytes.extend(field.to_le_bytes());
        bytes.extend(0xdead_beef_u32.to_le_bytes());
    }
}

fn chunk_header(tag: &[u8; 4], count: usize, record_bytes: usize, bytes: &mut Vec<u8>) {
    bytes.extend(tag);
    bytes.extend((count as u64).to_le_bytes());
    bytes.extend((record_bytes as u64).to_le_bytes());
}

/// MoarVM's totals: frames found by walking call stacks are left out.
fn stated(snapshot: &Snapshot) -> String {
    let of_kind = |kind: u64| snapshot.collectables.iter().filter(move |row| row[0] == kind);
    let on_call_stack = of_kind(11).map(|row| row[5]).sum::<u64>();
    format!(
        ", \"total_heap_size\": {}, \"total_objects\": {}, \"total_typeobjects\": {}, \"total_stables\": {}, \
         \"total_frames\": {}, \"total_refs\": {}",
        snapshot.collectables.iter().map(|row| row[2] + row[3]).sum::<u64>(),
        of_kind(1).count(),
        of_kind(2).count(),
        of_kind(3).count(),
        of_kind(4).count() as u64 - on_call_stack,
        snapshot.references.len(),
    )
}

/// A dump of format 3 that is being written.
struct Format3 {
    bytes: Vec<u8>,
    inner: Vec<([u8; 8], usize, usize)>,
    outer: Vec<([u8; 8], usize, usize)>,
}

impl Format3 {
    fn json(&mut self, name: &[u8; 8], text: &str, of_file: bool) {
        let start = self.bytes.len();
        self.bytes.extend(name);
        self.bytes.extend((text.len() as u64 + 1).to_le_bytes());
        self.bytes.extend(text.as_bytes());
        self.bytes.push(0);
        let contents = if of_file { &mut self.outer } else { &mut self.inner };
        contents.push((*name, start, self.bytes.len()));
    }

    fn column(&mut self, name: &[u8; 8], width: usize, values: &[u64]) {
        let raw = values.iter().flat_map(|value| value.to_le_bytes()[..width].to_vec()).collect::<Vec<_>>();
        self.compressed(name, &(width as u16).to_le_bytes(), &raw);
    }

    /// Streamed, as MoarVM does it, so that the frame does not hold the size of its content.
    fn compressed(&mut self, name: &[u8; 8], width: &[u8], raw: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend(name);
        self.bytes.extend(width);
        self.bytes.extend(0_u64.to_le_bytes());
        let frame = zstd::stream::encode_all(raw, 1).expect("compressing into memory");
        self.bytes.extend(frame);
        self.inner.push((*name, start, self.bytes.len()));
    }

    fn tables(&mut self, dump: &Dump, from: [usize; 3], to: [usize; 3]) {
        let mut strings = Vec::new();
        for text in &dump.strings[from[0]..to[0]] {
            strings.extend((text.len() as u32).to_le_bytes());
            strings.extend(text);
        }
        if !strings.is_empty() {
            self.compressed(b"strings\0", &[], &strings);
        }
        self.table([b"reprname", b"typename"], &dump.types[from[1]..to[1]]);
        self.table([b"sfname\0\0", b"sfcuid\0\0", b"sfline\0\0", b"sffile\0\0"], &dump.frames[from[2]..to[2]]);
    }

    fn table<const N: usize>(&mut self, names: [&[u8; 8]; N], rows: &[[u32; N]]) {
        for (field, name) in names.into_iter().enumerate().filter(|_| !rows.is_empty()) {
            self.column(name, 4, &rows.iter().map(|row| row[field].into()).collect::<Vec<_>>());
        }
    }

    /// The table of contents of a group, then that of the file so far.
    fn contents(&mut self) {
        let inner = std::mem::take(&mut self.inner);
        let written = self.toc(&inner);
        self.outer.push(written);
        let outer = std::mem::take(&mut self.outer);
        self.toc(&outer);
        self.outer = outer;
    }

    fn toc(&mut self, entries: &[([u8; 8], usize, usize)]) -> ([u8; 8], usize, usize) {
        let start = self.bytes.len();
        self.bytes.extend(b"toc\0\0\0\0\0");
        self.bytes.extend((entries.len() as u64).to_le_bytes());
        for (name, start, end) in entries {
            self.bytes.extend(name);
            self.bytes.extend((*start as u64).to_le_bytes());
            self.bytes.extend((*end as u64).to_le_bytes());
        }
        let end = self.bytes.len();
        self.bytes.extend((start as u64).to_le_bytes());
        (*b"toc\0\0\0\0\0", start, end)
    }
}
