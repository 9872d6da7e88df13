//! The bytes of a file, by what they are.

use std::collections::{BTreeMap, HashSet};

use barrow_analyzer::Recording;
use barrow_analyzer::raw::Frames;
use barrow_format::block::Block;
use barrow_format::frame::{Frame, SectionType, next_frame};
use barrow_format::header::HEADER_BYTES;

use crate::error::{Result, in_section};

/// A part of the file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FilePart {
    /// What it is: a section, a column of blocks.
    pub name: String,
    /// Whether this version knows what it says. A redaction leaves out what it does not know.
    pub is_known: bool,
    /// Its bytes in the file.
    pub bytes: u64,
}

/// All bytes of the file, by what they are. They add up to its length.
pub(crate) fn file_parts(recording: &Recording) -> Result<Vec<FilePart>> {
    let source = Frames::of(recording);
    let file = source.bytes();
    let length = file.len() as u64;
    let mut named: HashSet<u64> = source.tables().iter().map(|&(_, offset)| offset).collect();
    for id in recording.snapshot_ids() {
        let commit = source.commit(id)?;
        named.insert(source.commit_offset(id)?);
        named.extend(commit.own_blocks().map(|(_, block)| block.offset));
        named.extend([&commit.stats, &commit.roots, &commit.threads].into_iter().flatten());
    }
    let mut parts: BTreeMap<(bool, String), u64> = BTreeMap::new();
    let mut add = |name: String, is_known: bool, bytes: u64| *parts.entry((is_known, name)).or_default() += bytes;
    let start = (HEADER_BYTES as u64).min(length);
    add("header, index and trailer".to_owned(), true, start);
    let mut offset = start;
    while offset < length {
        let Ok(frame) = Frame::parse(file, offset) else {
            let next = next_frame(file, offset + 1).unwrap_or(length);
            let is_trailer = recording.damage().is_none() && next == length;
            add(
                if is_trailer { "header, index and trailer" } else { "outside of frames" }.to_owned(),
                is_trailer,
                next - offset,
            );
            offset = next;
            continue;
        };
        let section = frame.header.section;
        let bytes = frame.end() - offset;
        let name = section.name().map_or_else(|| section.to_string(), str::to_owned);
        match () {
            () if section == SectionType::INDEX => add("header, index and trailer".to_owned(), true, bytes),
            () if !section.is_read() => add(format!("{name}: unknown to this version"), false, bytes),
            () if !named.contains(&offset) => add(format!("{name}: of no snapshot"), false, bytes),
            () if section.has_columns() => {
                let block = Block::parse(&frame).map_err(in_section("BLOCK", offset))?;
                let mut rest = bytes;
                for (id, stored) in block.columns() {
                    let column =
                        id.name().map_or_else(|| format!("column {}", id.0), |name| name.replace("column ", ""));
                    let is_known = id.name().is_some();
                    add(format!("blocks: {column}{}", if is_known { "" } else { ", unknown" }), is_known, stored);
                    rest = rest.saturating_sub(stored);
                }
                add("blocks: headers".to_owned(), true, rest);
            }
            () => add(name, true, bytes),
        }
        offset = frame.end();
    }
    let part = |((is_known, name), bytes)| FilePart { name, is_known, bytes };
    let mut parts: Vec<FilePart> = parts.into_iter().map(part).collect();
    parts.sort_by(|one, other| other.bytes.cmp(&one.bytes).then_with(|| one.name.cmp(&other.name)));
    Ok(parts)
}
