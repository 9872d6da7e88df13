//! Builds forged files: every checksum is valid, and any number may be wrong.

use barrow_format::block::ColumnId;
use barrow_format::chain::Chain;
use barrow_format::commit::{BlockEntry, Commit, TableCounts, Totals, chained_checksum};
use barrow_format::fields::{put_u32, put_varint};
use barrow_format::frame::{FRAME_HEADER_BYTES, FrameHeader, NO_SNAPSHOT, SectionType, encode_frame};
use barrow_format::header::{HEADER_BYTES, Header, Trailer};
use barrow_format::index::{IndexRow, encode_index};
use barrow_format::rows::{
    KeyValue, Kind, KindRole, LabelCode, Root, Row, Shape, Strength, StrengthClass, Tail, Text, Type, TypeTotals,
};
use barrow_format::{KindId, ObjectId, StringId, TypeId};

/// The label `a` of a strong reference: string 1.
pub(crate) const NAME: LabelCode = LabelCode(1 << 6 | 2);

/// A column of a block.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) id: ColumnId,
    pub(crate) codec: u64,
    pub(crate) flags: u64,
    pub(crate) values: u64,
    pub(crate) raw_length: u64,
    pub(crate) stored: Vec<u8>,
}

impl Column {
    /// These numbers, uncompressed.
    pub(crate) fn new(id: ColumnId, numbers: &[u64]) -> Self {
        let mut stored = Vec::new();
        numbers.iter().for_each(|&number| put_varint(&mut stored, number));
        let (values, raw_length) = (numbers.len() as u64, stored.len() as u64);
        Column { id, codec: 0, flags: 0, values, raw_length, stored }
    }

    /// The same few bytes repeated `values` times, compressed with zstd.
    pub(crate) fn bomb(id: ColumnId, values: u64, number: &[u8]) -> Self {
        let raw = number.repeat(values as usize);
        let flags = u64::from(number.len() > 5);
        Column { id, codec: 2, flags, values, raw_length: raw.len() as u64, stored: zstd(&raw) }
    }
}

/// A block: the content of its directory, and its columns.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    pub(crate) first_object: u64,
    pub(crate) objects: u64,
    pub(crate) references: u64,
    pub(crate) start_index: u64,
    pub(crate) columns: Vec<Column>,
}

impl Block {
    /// `objects` objects of size 8 without references, of shape 0.
    pub(crate) fn plain(first_object: u64, objects: u64) -> Self {
        let zeros = vec![0; objects as usize];
        let mut sizes = zeros.clone();
        sizes[0] = 16;
        let columns = vec![
            Column::new(ColumnId::DICTIONARY, &[0]),
            Column::new(ColumnId::SHAPE, &zeros),
            Column::new(ColumnId::SIZE, &sizes),
        ];
        Block { first_object, objects, references: 0, start_index: 0, columns }
    }

    /// A continuation with references of the preceding object, of `shape`.
    pub(crate) fn continuation(object: u64, references: u64, shape: u64) -> Self {
        let columns = vec![
            Column::new(ColumnId::DICTIONARY, &[shape]),
            Column::new(ColumnId::REFERENCES, &vec![0; references as usize]),
        ];
        Block { first_object: object, objects: 0, references, start_index: 0, columns }
    }

    /// Its column `id`.
    pub(crate) fn column(&mut self, id: ColumnId) -> &mut Column {
        self.columns.iter_mut().find(|column| column.id == id).expect("the block has the column")
    }

    fn encode(&self) -> (Vec<u8>, Vec<u8>) {
        let (mut directory, mut body) = (Vec::new(), Vec::new());
        for value in [self.first_object, self.objects, self.references, self.start_index, self.columns.len() as u64] {
            put_varint(&mut directory, value);
        }
        for column in &self.columns {
            let stored_length = column.stored.len() as u64;
            for value in [column.id.0, column.codec, column.flags, column.values, column.raw_length, stored_length] {
                put_varint(&mut directory, value);
            }
            put_u32(&mut directory, crc32c(&column.stored));
            body.extend_from_slice(&column.stored);
        }
        (directory, body)
    }
}

type Edit<T> = Box<dyn Fn(&mut T)>;

/// All parts of a file with one snapshot. It is valid unless a part is changed.
pub(crate) struct Parts {
    pub(crate) strings: Vec<Text>,
    pub(crate) kinds: Vec<Kind>,
    pub(crate) strengths: Vec<Strength>,
    pub(crate) types: Vec<Type>,
    pub(crate) shapes: Vec<Shape>,
    pub(crate) facts: Vec<KeyValue>,
    pub(crate) roots: Vec<Root>,
    /// Further chunks of roots, each with the number of its rows: directories and bodies.
    pub(crate) root_chunks: Vec<(u64, Vec<u8>, Vec<u8>)>,
    pub(crate) stats: Vec<TypeTotals>,
    pub(crate) blocks: Vec<Block>,
    /// Further frames before those of the snapshot: section, flags, directory, body.
    pub(crate) frames: Vec<(SectionType, u16, Vec<u8>, Vec<u8>)>,
    /// Further frames of the snapshot: section, directory, body.
    pub(crate) of_snapshot: Vec<(SectionType, Vec<u8>, Vec<u8>)>,
    pub(crate) commit: Edit<Commit>,
    /// The records after the fields of the commit.
    pub(crate) records: Vec<u8>,
    pub(crate) index: Edit<Vec<IndexRow>>,
    pub(crate) trailer: Edit<Trailer>,
}

impl Default for Parts {
    fn default() -> Self {
        let shape = |prefix: &[LabelCode], tail| Shape { type_id: TypeId(0), prefix: prefix.to_vec(), tail };
        Parts {
            strings: ["strong", "a", "T"].map(|text| Text(text.to_owned())).to_vec(),
            kinds: vec![Kind { name: StringId(1), role: KindRole::Object }],
            strengths: vec![Strength { name: StringId(0), class: StrengthClass::Strong }],
            types: vec![Type {
                kind: KindId(0),
                name: StringId(2),
                layout: None,
                base: None,
                file: None,
                line: None,
                attributes: Vec::new(),
            }],
            shapes: vec![
                shape(&[], Tail::None),
                shape(&[NAME], Tail::None),
                shape(&[], Tail::Explicit),
                shape(&[], Tail::Indexed(barrow_format::StrengthId::STRONG)),
                shape(&[NAME], Tail::Indexed(barrow_format::StrengthId::STRONG)),
            ],
            facts: vec![KeyValue { key: StringId(1), value: StringId(2) }],
            roots: vec![Root { category: StringId(1), label: None, target: ObjectId(0) }],
            root_chunks: Vec::new(),
            stats: Vec::new(),
            blocks: vec![Block::plain(0, 2), Block::plain(2, 3)],
            frames: Vec::new(),
            of_snapshot: Vec::new(),
            commit: Box::new(|_| {}),
            records: Vec::new(),
            index: Box::new(|_| {}),
            trailer: Box::new(|_| {}),
        }
    }
}

/// A file under construction.
#[derive(Default)]
pub(crate) struct Forge {
    pub(crate) bytes: Vec<u8>,
    sequence: u32,
    index: Vec<IndexRow>,
}

impl Forge {
    /// Builds the file.
    pub(crate) fn file(parts: &Parts) -> Vec<u8> {
        let mut forge = Forge { bytes: Header::new([7; 16], 0).encode(), ..Forge::default() };
        forge.table(&parts.strings);
        forge.table(&parts.kinds);
        forge.table(&parts.strengths);
        forge.table(&parts.types);
        forge.table(&parts.shapes);
        forge.table(&parts.facts);
        for (section, flags, directory, body) in &parts.frames {
            forge.section(*section, NO_SNAPSHOT, directory, body);
            forge.set_flags(*flags);
        }
        forge.snapshot(parts, 0);
        forge.finish(parts)
    }

    /// Appends a section and enters it into the index. Returns its offset.
    pub(crate) fn section(&mut self, section: SectionType, snapshot: u32, directory: &[u8], body: &[u8]) -> u64 {
        let offset = self.bytes.len() as u64;
        let frame = encode_frame(section, snapshot, self.sequence, directory, body);
        self.sequence += 1;
        let length = frame.len() as u64;
        if section != SectionType::BLOCK {
            self.index.push(IndexRow { section, snapshot, offset, length, rows: 1, split_offset: offset });
        }
        self.bytes.extend(frame);
        offset
    }

    /// The chained checksum of all frames, none of which is a COMMIT.
    fn chain(&self) -> Chain {
        let (mut chain, mut offset) = (Chain::new(), HEADER_BYTES);
        while let Ok(header) = FrameHeader::parse(&self.bytes[offset..]) {
            chain.add(&self.bytes[offset..offset + FRAME_HEADER_BYTES]);
            offset += header.frame_length().expect("a frame made here") as usize;
        }
        chain
    }

    /// Replaces the flags of the last frame.
    fn set_flags(&mut self, flags: u16) {
        let offset = self.index.last().expect("a frame was appended").offset as usize;
        let header = &mut self.bytes[offset..offset + 40];
        header[6..8].copy_from_slice(&flags.to_le_bytes());
        let crc = crc32c(&header[..36]);
        header[36..].copy_from_slice(&crc.to_le_bytes());
    }

    pub(crate) fn table<R: Row>(&mut self, rows: &[R]) {
        let (directory, body) = chunk(0, rows);
        self.section(R::SECTION, NO_SNAPSHOT, &directory, &body);
    }

    fn snapshot(&mut self, parts: &Parts, number: u32) {
        let mut commit = Commit { snapshot: number, ..Commit::default() };
        for (section, directory, body) in &parts.of_snapshot {
            let offset = self.section(*section, number, directory, body);
            if *section == SectionType::THREADS {
                commit.threads.push(offset);
            }
        }
        for block in &parts.blocks {
            let (directory, body) = block.encode();
            let offset = self.section(SectionType::BLOCK, number, &directory, &body);
            let narrow = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
            commit.blocks.push(BlockEntry {
                offset,
                length: self.bytes.len() as u64 - offset,
                first_object: narrow(block.first_object),
                objects: narrow(block.objects),
                references: narrow(block.references),
                group: 0,
            });
        }
        let sum = |part: fn(&BlockEntry) -> u32| commit.blocks.iter().map(|block| u64::from(part(block))).sum::<u64>();
        commit.totals = Totals {
            objects: sum(|block| block.objects),
            references: sum(|block| block.references),
            roots: parts.roots.len() as u64 + parts.root_chunks.iter().map(|(rows, ..)| rows).sum::<u64>(),
            heap_bytes: 8 * sum(|block| block.objects),
            unmanaged_bytes: 0,
        };
        let Totals { objects, heap_bytes, .. } = commit.totals;
        let rows = [TypeTotals { type_id: TypeId(0), objects, heap_bytes, unmanaged_bytes: 0 }];
        let (directory, body) = chunk(0, if parts.stats.is_empty() { &rows } else { &parts.stats });
        commit.stats = vec![self.section(SectionType::STATS, number, &directory, &body)];
        let (directory, body) = chunk(0, &parts.roots);
        commit.roots = vec![self.section(SectionType::ROOTS, number, &directory, &body)];
        for (_, directory, body) in &parts.root_chunks {
            commit.roots.push(self.section(SectionType::ROOTS, number, directory, body));
        }
        commit.tables = TableCounts {
            strings: parts.strings.len() as u32,
            kinds: parts.kinds.len() as u32,
            strengths: parts.strengths.len() as u32,
            types: parts.types.len() as u32,
            shapes: parts.shapes.len() as u32,
        };
        (parts.commit)(&mut commit);
        self.index.extend(IndexRow::of_blocks(&commit));
        let mut body = commit.seal(self.chain());
        if !parts.records.is_empty() {
            body.extend(&parts.records);
            let checksum = chained_checksum(self.chain(), &body).expect("a commit has a checksum");
            body[..8].copy_from_slice(&checksum.to_le_bytes());
        }
        self.section(SectionType::COMMIT, number, &[], &body);
    }

    pub(crate) fn finish(mut self, parts: &Parts) -> Vec<u8> {
        (parts.index)(&mut self.index);
        let index_offset = self.bytes.len() as u64;
        let body = encode_index(&self.index);
        self.section(SectionType::INDEX, NO_SNAPSHOT, &[], &body);
        let mut trailer = Trailer { index_offset, index_length: self.bytes.len() as u64 - index_offset };
        (parts.trailer)(&mut trailer);
        self.bytes.extend(trailer.encode());
        self.bytes
    }
}

/// Rows as an uncompressed chunk.
pub(crate) fn chunk<R: Row>(first: u64, rows: &[R]) -> (Vec<u8>, Vec<u8>) {
    let mut body = Vec::new();
    rows.iter().for_each(|row| row.put(&mut body));
    (directory(0, body.len() as u64, first, rows.len() as u64), body)
}

/// The directory of a chunk.
pub(crate) fn directory(codec: u64, raw_length: u64, first: u64, count: u64) -> Vec<u8> {
    let mut directory = Vec::new();
    let no_flags = 0;
    [codec, raw_length, first, count, no_flags].iter().for_each(|&value| put_varint(&mut directory, value));
    directory
}

/// The bytes as a zstd frame.
pub(crate) fn zstd(raw: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut compressor =
        barrow_format::codec::Compressor::new(barrow_format::codec::Compression::Zstd(19)).expect("a level");
    compressor.append(raw, &mut out).expect("zstd compresses");
    out
}

/// The CRC-32C of some bytes: that of a frame with this body.
pub(crate) fn crc32c(bytes: &[u8]) -> u32 {
    let frame = encode_frame(SectionType::META, NO_SNAPSHOT, 0, &[], bytes);
    FrameHeader::parse(&frame).expect("a frame just made").body_crc
}
