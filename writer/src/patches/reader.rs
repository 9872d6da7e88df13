//! The blocks of a snapshot, read back before it is committed.

use std::sync::Mutex;

use barrow_format::block::{Block, BlockColumns, ColumnSelection, Decoder, ShapeForm};
use barrow_format::commit::BlockEntry;
use barrow_format::frame::Frame;
use barrow_format::patch::ObjectFields;
use barrow_format::rows::{Shape, Tail};
use barrow_format::{FieldId, ShapeId, StringId};

use super::spill::Spill;
use crate::error::Result;
use crate::lock::lock;

/// Reads back the blocks of a snapshot, one at a time.
pub(super) struct Reader<'a> {
    spill: &'a Mutex<Spill>,
    /// The blocks in the order of their objects; offsets are those in the spill.
    blocks: &'a [BlockEntry],
    shapes: &'a [&'a Shape],
    forms: Vec<ShapeForm>,
    objects: u32,
    decoder: Decoder,
    frame: Vec<u8>,
    columns: BlockColumns,
}

impl<'a> Reader<'a> {
    pub(super) fn new(spill: &'a Mutex<Spill>, blocks: &'a [BlockEntry], shapes: &'a [&'a Shape]) -> Self {
        let forms = shapes.iter().map(|&shape| ShapeForm::from(shape)).collect();
        let objects = blocks.iter().map(|block| block.objects).sum();
        let (decoder, frame, columns) = (Decoder::new(), Vec::new(), BlockColumns::default());
        Reader { spill, blocks, shapes, forms, objects, decoder, frame, columns }
    }

    pub(super) fn blocks(&self) -> &'a [BlockEntry] {
        self.blocks
    }

    pub(super) fn objects(&self) -> u32 {
        self.objects
    }

    pub(super) fn references(&self) -> u64 {
        self.blocks.iter().map(|block| u64::from(block.references)).sum()
    }

    /// The length of all blocks, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.blocks.iter().map(|block| block.length).sum()
    }

    pub(super) fn is_continuation(&self, block: usize) -> bool {
        self.blocks.get(block).is_some_and(|block| block.objects == 0)
    }

    /// The block of an object, and its position in it.
    pub(super) fn find(&self, object: u32) -> (usize, usize) {
        let block = self.blocks.partition_point(|block| block.first_object + block.objects.max(1) <= object);
        (block, (object - self.blocks[block].first_object) as usize)
    }

    /// Decodes a block.
    pub(super) fn read(&mut self, block: usize, wanted: ColumnSelection) -> Result<DecodedBlock<'_>> {
        let entry = self.blocks[block];
        lock(self.spill).read(entry.offset, entry.length, &mut self.frame)?;
        let read = Block::parse(&Frame::parse(&self.frame, 0)?)?;
        self.decoder.decode(&read, &self.forms, self.objects, wanted, &mut self.columns)?;
        Ok(DecodedBlock { columns: &self.columns, shapes: self.shapes })
    }

    /// Reads these blocks and passes their contents to `visit`, object by object.
    pub(super) fn walk(
        &mut self,
        blocks: impl Iterator<Item = usize>,
        mut tell: impl FnMut(BlockItem<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut is_open = false;
        for block in blocks {
            let is_continuation = self.is_continuation(block);
            let mut number = self.blocks[block].first_object;
            for object in self.read(block, ColumnSelection::All)?.objects() {
                if is_continuation {
                    tell(BlockItem::More(object))?;
                    continue;
                }
                if is_open {
                    tell(BlockItem::End)?;
                }
                is_open = true;
                tell(BlockItem::Object(number, object))?;
                number += 1;
            }
        }
        if is_open { tell(BlockItem::End) } else { Ok(()) }
    }
}

/// An item of a walk over blocks.
pub(super) enum BlockItem<'a> {
    /// An object by its number, with the references in its own block.
    Object(u32, DecodedObject<'a>),
    /// Further references of the same object.
    More(DecodedObject<'a>),
    /// The end of the object.
    End,
}

/// A decoded block.
#[derive(Clone, Copy)]
pub(super) struct DecodedBlock<'a> {
    pub(super) columns: &'a BlockColumns,
    shapes: &'a [&'a Shape],
}

/// A decoded object, or the part of one in a continuation.
#[derive(Debug, Clone, Copy)]
pub(super) struct DecodedObject<'a> {
    pub(super) shape_id: ShapeId,
    pub(super) shape: &'a Shape,
    pub(super) shallow_bytes: u64,
    pub(super) unmanaged_bytes: u64,
    pub(super) address: u64,
    pub(super) serial: u64,
    pub(super) site: u32,
    pub(super) name: Option<StringId>,
    pub(super) targets: &'a [u32],
    /// Label codes after the prefix, if the shape does not fix them.
    pub(super) explicit: &'a [u64],
    /// The number of the first element, in a continuation.
    pub(super) start_index: u64,
    /// The fields that have values, and the codes of these.
    pub(super) values: (&'a [FieldId], &'a [u64]),
}

impl<'a> DecodedBlock<'a> {
    /// The objects in their order; in a continuation a single one, of which only the references are known.
    pub(super) fn objects(self) -> impl Iterator<Item = DecodedObject<'a>> {
        let DecodedBlock { columns, shapes } = self;
        let (mut targets, mut labels) = (columns.targets.as_slice(), columns.labels.as_slice());
        let mut values = columns.values.rows();
        (0..).zip(&columns.counts).map(move |(at, &count): (usize, _)| {
            let shape_id = columns.dictionary[columns.shapes.get(at).copied().unwrap_or(0) as usize];
            let shape = shapes[shape_id.index()];
            let is_explicit = shape.tail == Tail::Explicit;
            let explicit_count = if is_explicit { count as usize - shape.prefix.len() } else { 0 };
            let (own, explicit);
            (own, targets) = targets.split_at(count as usize);
            (explicit, labels) = labels.split_at(explicit_count);
            DecodedObject {
                shape_id,
                shape,
                shallow_bytes: columns.shallow_bytes.get(at).copied().unwrap_or(0),
                unmanaged_bytes: columns.unmanaged_bytes.get(at).copied().unwrap_or(0),
                address: columns.addresses.get(at).copied().unwrap_or(0),
                serial: columns.serials.get(at).copied().unwrap_or(0),
                site: columns.sites.get(at).copied().unwrap_or(0),
                name: columns.names.get(at).copied().flatten(),
                targets: own,
                explicit,
                start_index: columns.start_index,
                values: values.next().unwrap_or_default(),
            }
        })
    }
}

impl<'a> DecodedObject<'a> {
    /// The label codes of its references.
    pub(super) fn labels(&self) -> impl Iterator<Item = u64> + use<'a> {
        let (shape, explicit, start_index) = (self.shape, self.explicit, self.start_index);
        let tail = (0..).map(move |at: usize| match shape.tail {
            Tail::None => 0,
            Tail::Repeated(code) => code.0,
            Tail::Indexed(strength) => (start_index + at as u64) << 6 | u64::from(strength.0) << 2 | 1,
            Tail::Explicit => explicit.get(at).copied().unwrap_or(0),
        });
        shape.prefix.iter().map(|code| code.0).chain(tail)
    }

    pub(super) fn form(&self) -> ShapeForm {
        ShapeForm::from(self.shape)
    }

    /// Its stored properties besides references, address and serial.
    pub(super) fn fields(&self) -> ObjectFields {
        let &DecodedObject { shape_id: shape, shallow_bytes, unmanaged_bytes, site, name, .. } = self;
        ObjectFields { shape, form: self.form(), shallow_bytes, unmanaged_bytes, site, name }
    }
}
