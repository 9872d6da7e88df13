//! Encodes a block again with other names, labels and values. All other columns are copied as they are stored.

use super::decode::Decoder;
use super::{Block, BlockColumns, ColumnId, ColumnSelection, Directory, Encoder, ShapeForm};
use crate::error::Result;

/// Columns that refer to strings or hold values.
const CONTENTS: [ColumnId; 5] =
    [ColumnId::NAME, ColumnId::LABELS, ColumnId::LAYOUTS, ColumnId::LAYOUT, ColumnId::VALUES];

impl Block<'_> {
    /// Its columns, known or not, each with its stored length in bytes.
    pub fn columns(&self) -> impl Iterator<Item = (ColumnId, u64)> + '_ {
        self.directory().columns.iter().map(|column| (column.id, column.stored_length.into()))
    }
}

impl Decoder {
    /// Decodes the contents of a BLOCK or PATCH frame: names, labels and values, with the shapes of the objects that
    /// they belong to. Targets, sizes and identities stay encoded. `forms` are those of the snapshot's shape table.
    ///
    /// # Errors
    /// Any error in these columns.
    pub fn decode_contents(&mut self, block: &Block<'_>, forms: &[ShapeForm], out: &mut BlockColumns) -> Result<()> {
        out.clear();
        out.first_object = block.first_object();
        if block.columns().all(|(id, _)| !CONTENTS.contains(&id)) {
            return Ok(());
        }
        self.shapes_and_sizes(block, forms, ColumnSelection::References, out)?;
        self.counts(block, out)?;
        self.labels(block, out)?;
        self.names(block, out)?;
        self.values(block, &out.shapes, &mut out.values)
    }
}

impl Encoder {
    /// The directory and the body of `block` with the names, labels and values of `contents`, which
    /// [`Decoder::decode_contents`] decoded from it. Columns that this version does not know are left out.
    ///
    /// # Errors
    /// The checksum of a copied column does not match, or as for [`Encoder::encode`].
    pub fn recode(&mut self, block: &Block<'_>, contents: &BlockColumns) -> Result<(Vec<u8>, &[u8])> {
        let mut stored = Vec::new();
        self.body.clear();
        for (id, _) in block.columns().filter(|(id, _)| id.name().is_some() && !CONTENTS.contains(id)) {
            let Some((column, bytes)) = block.column(id)? else { continue };
            self.body.extend_from_slice(bytes);
            stored.push(column);
        }
        if !contents.labels.is_empty() {
            self.labels(&mut stored, contents)?;
        }
        self.names_and_values(&mut stored, contents)?;
        let directory = Directory { columns: stored, ..block.directory().clone() };
        Ok((directory.encode(), &self.body))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Patch;
    use super::super::tests::columns;
    use super::*;
    use crate::codec::Compression;
    use crate::frame::{Frame, NO_SNAPSHOT, SectionType, encode_frame};
    use crate::ids::StringId;

    /// The same column contents, with each string one further and each value one higher.
    fn shifted(columns: &mut BlockColumns) {
        columns.names.iter_mut().flatten().for_each(|name| *name = StringId(name.0 ^ 1));
        columns.labels.iter_mut().filter(|label| **label & 3 == 2).for_each(|label| *label ^= 64);
        columns.values.map(|_, code| code ^ 1);
    }

    fn encoded(section: SectionType, (directory, body): (Vec<u8>, &[u8])) -> Vec<u8> {
        encode_frame(section, NO_SNAPSHOT, 0, &directory, body)
    }

    proptest! {
        #[test]
        fn what_is_recoded_differs_in_names_labels_and_values_only((forms, mut columns) in columns()) {
            let mut encoder = Encoder::new(Compression::Zstd(1)).unwrap();
            let bytes = encoded(SectionType::BLOCK, encoder.encode(&mut columns).unwrap());
            let block = Block::parse(&Frame::parse(&bytes, 0).unwrap()).unwrap();
            let (mut decoder, mut contents) = (Decoder::new(), BlockColumns::default());
            decoder.decode_contents(&block, &forms, &mut contents).unwrap();
            shifted(&mut contents);
            let bytes = encoded(SectionType::BLOCK, encoder.recode(&block, &contents).unwrap());
            let recoded = Block::parse(&Frame::parse(&bytes, 0).unwrap()).unwrap();
            recoded.check_columns().unwrap();
            let mut found = BlockColumns::default();
            decoder.decode(&recoded, &forms, u32::MAX, ColumnSelection::All, &mut found).unwrap();
            shifted(&mut columns);
            prop_assert_eq!(found, columns);
        }

        #[test]
        fn a_patch_is_recoded((forms, columns) in columns(), moved in prop::collection::vec(any::<u64>(), 0..20)) {
            let changed = (0..columns.shapes.len() as u32).map(|row| row * 3).collect();
            let columns = BlockColumns { addresses: Vec::new(), serials: Vec::new(), ..columns };
            let mut patch = Patch { dead: vec![1, 2], changed, columns, moved };
            let mut encoder = Encoder::new(Compression::Zstd(1)).unwrap();
            let old: &dyn Fn(u32) -> &'static [u32] = &|position| if position % 2 == 0 { &[7, 8, 9] } else { &[] };
            let bytes = encoded(SectionType::PATCH, encoder.encode_patch(&mut patch, old).unwrap());
            let block = Block::parse(&Frame::parse(&bytes, 0).unwrap()).unwrap();
            let (mut decoder, mut contents) = (Decoder::new(), BlockColumns::default());
            decoder.decode_contents(&block, &forms, &mut contents).unwrap();
            shifted(&mut contents);
            let bytes = encoded(SectionType::PATCH, encoder.recode(&block, &contents).unwrap());
            let recoded = Block::parse(&Frame::parse(&bytes, 0).unwrap()).unwrap();
            recoded.check_columns().unwrap();
            let mut found = Patch::default();
            let limits = super::super::PatchLimits { forms: &forms, rows: u32::MAX, group_rows: u32::MAX };
            decoder.decode_patch(&recoded, limits, ColumnSelection::All, old, &mut found).unwrap();
            shifted(&mut patch.columns);
            prop_assert_eq!(found, patch);
        }
    }
}
