//! The sections of format 3, found one after the other.

use super::column::Column;
use crate::error::Damage;
use crate::intake::cursor::Cursor;

/// A section, with the parts that an importer needs.
pub(super) enum Section<'a> {
    FileMeta {
        json: &'a [u8],
        offset: u64,
    },
    SnapshotMeta {
        json: &'a [u8],
        offset: u64,
    },
    Column(Content, Column<'a>),
    /// A table of contents, which ends a group of sections.
    Contents,
}

/// A column of a snapshot or of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    Kind,
    Size,
    TypeIndex,
    ReferenceCount,
    FirstReference,
    Unmanaged,
    Description,
    Target,
    Strings,
    TypeLayout,
    TypeName,
    FrameName,
    FrameCuid,
    FrameLine,
    FrameFile,
    /// The largest types and frames: not needed.
    TopIds,
    TopScores,
}

/// By [`Content`]: the name in the dump, padded with NUL, and its description.
const NAMES: [(&[u8; 8], Content, &str); Content::COUNT] = [
    (b"colkind\0", Content::Kind, "the column of kinds"),
    (b"colsize\0", Content::Size, "the column of sizes"),
    (b"coltofi\0", Content::TypeIndex, "the column of types and frames"),
    (b"colrfcnt", Content::ReferenceCount, "the column of reference counts"),
    (b"colrfstr", Content::FirstReference, "the column of first references"),
    (b"colusize", Content::Unmanaged, "the column of unmanaged sizes"),
    (b"refdescr", Content::Description, "the column of reference descriptions"),
    (b"reftrget", Content::Target, "the column of reference targets"),
    (b"strings\0", Content::Strings, "the strings"),
    (b"reprname", Content::TypeLayout, "the column of REPR names"),
    (b"typename", Content::TypeName, "the column of type names"),
    (b"sfname\0\0", Content::FrameName, "the column of frame names"),
    (b"sfcuid\0\0", Content::FrameCuid, "the column of frame cuids"),
    (b"sfline\0\0", Content::FrameLine, "the column of frame lines"),
    (b"sffile\0\0", Content::FrameFile, "the column of frame files"),
    (b"topIDs\0\0", Content::TopIds, "the column of top ids"),
    (b"topscore", Content::TopScores, "the column of top scores"),
];

impl Content {
    pub(super) const COUNT: usize = 17;

    /// The columns that a snapshot must have.
    pub(super) const OF_SNAPSHOT: [Content; 8] = [
        Content::Kind,
        Content::Size,
        Content::TypeIndex,
        Content::ReferenceCount,
        Content::FirstReference,
        Content::Unmanaged,
        Content::Description,
        Content::Target,
    ];

    /// Its name in errors.
    pub(super) fn meaning(self) -> &'static str {
        NAMES[self as usize].2
    }
}

impl<'a> Section<'a> {
    /// Reads the section that begins here.
    pub(super) fn read(cursor: &mut Cursor<'a>) -> Result<Self, Damage> {
        let offset = cursor.offset();
        let name = cursor.take(8, "a section's name")?;
        match name {
            b"filemeta" => Ok(Section::FileMeta { json: json(cursor, "the metadata of the file")?, offset }),
            b"snapmeta" => Ok(Section::SnapshotMeta { json: json(cursor, "the metadata of a snapshot")?, offset }),
            b"toc\0\0\0\0\0" => contents(cursor),
            _ => column(name, offset, cursor),
        }
    }
}

/// Returns whether a section can have this name.
pub(super) fn is_name(name: &[u8; 8]) -> bool {
    [b"filemeta", b"snapmeta", b"toc\0\0\0\0\0"].contains(&name) || NAMES.iter().any(|(known, ..)| *known == name)
}

/// Reads a length and that number of bytes of JSON, without the NUL at their end.
fn json<'a>(cursor: &mut Cursor<'a>, inside: &'static str) -> Result<&'a [u8], Damage> {
    let length = cursor.u64(inside)?;
    let text = cursor.take(length, inside)?;
    Ok(text.strip_suffix(b"\0").unwrap_or(text))
}

/// Steps over a table of contents and the position after it.
fn contents<'a>(cursor: &mut Cursor<'a>) -> Result<Section<'a>, Damage> {
    let inside = "a table of contents";
    let count = cursor.u64(inside)?;
    cursor.take(count.saturating_mul(24).saturating_add(8), inside)?;
    Ok(Section::Contents)
}

/// Finds the end of a column or of the strings.
fn column<'a>(name: &[u8], offset: u64, cursor: &mut Cursor<'a>) -> Result<Section<'a>, Damage> {
    let Some(&(_, name, inside)) = NAMES.iter().find(|(known, ..)| &known[..] == name) else {
        return Err(Damage::Unexpected {
            found: format!("\"{}\"", name.escape_ascii()),
            offset,
            expected: "the name of a section",
        });
    };
    let element_bytes = if name == Content::Strings { 1 } else { cursor.u16(inside)? };
    if !matches!(element_bytes, 1 | 2 | 4 | 8) {
        let what = "the bytes of a column's elements";
        return Err(Damage::OutOfRange { what, offset, value: element_bytes.into(), limit: 8 });
    }
    cursor.u64(inside)?;
    let frame = frame(cursor, inside)?;
    Ok(Section::Column(name, Column { what: inside, offset, element_bytes: element_bytes.into(), frame }))
}

/// Takes one zstd frame, whose length zstd finds.
fn frame<'a>(cursor: &mut Cursor<'a>, inside: &'static str) -> Result<&'a [u8], Damage> {
    const MAGIC: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();
    let rest = cursor.rest();
    let starts = &MAGIC[..rest.len().min(MAGIC.len())];
    if !rest.starts_with(starts) {
        let found = rest.iter().take(4).copied().collect::<Vec<_>>();
        let found = format!("\"{}\"", found.escape_ascii());
        return Err(Damage::Unexpected { found, offset: cursor.offset(), expected: "a zstd frame" });
    }
    match zstd::zstd_safe::find_frame_compressed_size(rest) {
        Ok(length) => cursor.take(length as u64, inside),
        // Its blocks extend beyond the end: the frame is cut or damaged.
        Err(_) => Err(Damage::Ends { length: cursor.offset() + rest.len() as u64, inside }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_at_their_own_place() {
        for (position, (_, name, _)) in NAMES.iter().enumerate() {
            assert_eq!(*name as usize, position);
        }
    }
}
