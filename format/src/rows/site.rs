//! Sites: the places in a program where objects are allocated.

use super::{Row, pairs, put_pairs};
use crate::error::Result;
use crate::fields::{Fields, put_optional, put_varint};
use crate::frame::SectionType;
use crate::ids::{SiteId, StringId};

/// The kind of rows with a location in the program.
const LOCATION: u64 = 0;

/// A place in the program, and the place that called it. Row 0 of the table is site 1.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Site {
    /// The function.
    pub function: Option<StringId>,
    /// The file it is in.
    pub file: Option<StringId>,
    /// The line in it.
    pub line: Option<u32>,
    /// The column of that line.
    pub column: Option<u32>,
    /// The call site of the function: a site with a smaller number.
    pub caller: Option<SiteId>,
    /// Other facts that the runtime knows: keys and values.
    pub attributes: Vec<(StringId, StringId)>,
}

impl Row for Site {
    const SECTION: SectionType = SectionType::SITES;
    const NAME: &'static str = "site";

    fn put(&self, out: &mut Vec<u8>) {
        put_varint(out, LOCATION);
        put_optional(out, self.function.map(|function| function.0.into()));
        put_optional(out, self.file.map(|file| file.0.into()));
        put_optional(out, self.line.map(u64::from));
        put_optional(out, self.column.map(u64::from));
        put_varint(out, self.caller.map_or(0, |caller| caller.0.into()));
        put_pairs(out, &self.attributes);
    }

    /// A row of a kind other than a location is a site without known properties.
    fn read(fields: &mut Fields<'_>, _id: u64) -> Result<Self> {
        if fields.varint()? != LOCATION {
            let length = fields.varint()?;
            fields.bytes(length)?;
            return Ok(Site::default());
        }
        Ok(Site {
            function: fields.optional_u32()?.map(StringId),
            file: fields.optional_u32()?.map(StringId),
            line: fields.optional_u32()?,
            column: fields.optional_u32()?,
            caller: Some(SiteId(fields.varint_u32()?)).filter(|caller| caller.0 != 0),
            attributes: pairs(fields)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::{Compression, Compressor, Decompressor};
    use crate::rows::{Chunk, encode_chunk, encode_raw_chunk};

    fn read(directory: &[u8], body: &[u8]) -> Result<Vec<Site>> {
        let mut sites = Vec::new();
        Chunk::parse(directory, body)?.for_each(&mut Decompressor::new(), |site| {
            sites.push(site);
            Ok(())
        })?;
        Ok(sites)
    }

    #[test]
    fn sites_are_read_back() {
        let full = Site {
            function: Some(StringId(0)),
            file: Some(StringId(u32::MAX)),
            line: Some(0),
            column: Some(u32::MAX),
            caller: Some(SiteId(1)),
            attributes: vec![(StringId(3), StringId(4)), (StringId(3), StringId(5))],
        };
        let sites = [Site::default(), full, Site { line: Some(7), ..Site::default() }];
        let mut compressor = Compressor::new(Compression::None).unwrap();
        let (directory, body) = encode_chunk(0, &sites, &mut compressor).unwrap();
        assert_eq!(read(&directory, &body).unwrap(), sites);
    }

    #[test]
    fn rows_of_kinds_to_come_are_sites_with_only_a_number() {
        let mut raw = vec![9, 3, 0xff, 0xff, 0xff];
        let known = Site { line: Some(7), ..Site::default() };
        known.put(&mut raw);
        let mut compressor = Compressor::new(Compression::None).unwrap();
        let (directory, body) = encode_raw_chunk::<Site>(0, 2, &raw, &mut compressor).unwrap();
        assert_eq!(read(&directory, &body).unwrap(), [Site::default(), known]);
        let (directory, body) = encode_raw_chunk::<Site>(0, 1, &[9, 4, 0xff], &mut compressor).unwrap();
        assert!(read(&directory, &body).is_err());
    }
}
