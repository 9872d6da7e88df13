//! What barrow keeps for the next time: the index file beside a recording, and cached imports of dumps.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use barrow_analyzer::{Heap, IndexPlace, Memory, Recording, Silent, SnapshotId};
use barrow_repl::Console;
use byteorder::{ByteOrder, LittleEndian};
use tempfile::TempDir;

use super::record_small;

/// Parts of an index file, as `analyzer/src/columns/index_file/section.rs` draws them.
const HEADER_BYTES: usize = 64;
const HEAD_BYTES: usize = 64;
const ENTRY_BYTES: usize = 48;
const PIECE_ENTRY_BYTES: usize = 12;
/// Bytes of a piece, by the number of its form.
const PIECE_BYTES: [usize; 4] = [1 << 18, 1 << 14, 1 << 16, 1 << 16];

/// A recording in a folder of its own, with what is asked of it and the index that this leaves.
struct Beside {
    _folder: TempDir,
    recording: PathBuf,
    index: PathBuf,
    answers: Vec<String>,
    genuine: Vec<u8>,
}

/// Takes the bytes for the index file of a recording: unless they are that file, nothing of them is used.
pub fn index(bytes: &[u8]) {
    let _turn = turn();
    let beside = beside();
    fs::write(&beside.index, bytes).expect("a file in the temporary folder");
    let answers = ask(&beside.recording).expect("a whole recording answers, whatever its index is");
    assert_eq!(answers, beside.answers);
}

/// As [`index`] with the key and every checksum made right first: lies get past them, and must not end in a panic.
pub fn index_fixed(bytes: &[u8]) {
    let _turn = turn();
    let beside = beside();
    fs::write(&beside.index, with_index_checksums(bytes, &beside.genuine)).expect("a file in the temporary folder");
    let _ = ask(&beside.recording);
}

/// The index file is written in place while nobody else has it mapped.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn beside() -> &'static Beside {
    static BESIDE: OnceLock<Beside> = OnceLock::new();
    BESIDE.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let recording = folder.path().join("small.barrow");
        fs::write(&recording, record_small().expect("a recording in memory")).expect("a file in the temporary folder");
        let index = folder.path().join("small.barrow.index");
        let answers = ask(&recording).expect("a whole recording");
        let genuine = fs::read(&index).expect("questions leave an index");
        Beside { _folder: folder, recording, index, answers, genuine }
    })
}

/// The index file that asking leaves: a seed.
#[must_use]
pub fn genuine_index() -> Vec<u8> {
    beside().genuine.clone()
}

/// Asks all that an index keeps columns of.
fn ask(path: &Path) -> barrow_analyzer::Result<Vec<String>> {
    let recording = Arc::new(Recording::open(path)?);
    let place = IndexPlace::BESIDE;
    let mut answers = Vec::new();
    for id in recording.snapshot_ids() {
        let heap = Heap::new(Arc::clone(&recording), SnapshotId(id.0), &place, Memory::unlimited())?;
        let all: Vec<_> = heap.all_objects().iter().collect();
        answers.push(format!("{:?}", heap.largest(&Silent)?.objects()));
        answers.push(format!("{:?}", heap.unreachable(&Silent)?.iter().collect::<Vec<_>>()));
        for &object in &all {
            let referrers = heap.referrers(object, &Silent)?;
            answers.push(format!("{:?}", heap.incoming_page(&referrers, 0, usize::MAX)?));
            answers.push(format!("{:?}", heap.paths(object, &Default::default(), &Silent)?));
        }
        answers.push(format!("{:?}", heap.retained_by_type(&Silent)?));
        answers.push(format!("{:?}", heap.retained_by_kind(&Silent)?));
        answers.push(format!("{:?}", heap.retained_by_site(&Silent)?));
        let dominators = heap.dominators(&Silent)?;
        answers.extend(all.iter().map(|&object| dominators.retained_bytes(object).to_string()));
    }
    Ok(answers)
}

/// The same bytes as an index file of the recording whose `genuine` one is given, as far as lengths can be followed.
fn with_index_checksums(bytes: &[u8], genuine: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes.resize(bytes.len().max(HEADER_BYTES), 0);
    bytes[..HEADER_BYTES].copy_from_slice(&genuine[..HEADER_BYTES]);
    let (mut at, mut like) = (HEADER_BYTES, HEADER_BYTES);
    while let Some(section) = bytes.get_mut(at..).filter(|rest| rest.len() >= HEAD_BYTES) {
        let length = section_length(section).clamp(HEAD_BYTES, section.len());
        // It is about the same content as the genuine section in its place, the last one for those that are too many.
        section[..8].copy_from_slice(&genuine[like..like + 8]);
        section[16..28].copy_from_slice(&genuine[like + 16..like + 28]);
        fix_section(&mut section[..length]);
        at += length;
        let next = like + section_length(&genuine[like..]);
        like = if next + HEAD_BYTES <= genuine.len() { next } else { like };
    }
    bytes
}

/// The length that the head of a section says.
fn section_length(head: &[u8]) -> usize {
    usize::try_from(LittleEndian::read_u64(&head[8..])).unwrap_or(usize::MAX)
}

/// Makes the checksums of a section right: of each piece, of each list of pieces, of the directory.
fn fix_section(section: &mut [u8]) {
    let count = LittleEndian::read_u32(&section[28..]) as usize;
    let room = (section.len() - HEAD_BYTES) / ENTRY_BYTES;
    let directory_end = HEAD_BYTES + count.min(room) * ENTRY_BYTES;
    for at in (HEAD_BYTES..directory_end).step_by(ENTRY_BYTES) {
        if let Some(sum) = fix_pieces(section, at, directory_end) {
            LittleEndian::write_u32(&mut section[at + 32..at + 36], sum);
        }
    }
    let sum = crc32c::crc32c_append(crc32c::crc32c(&section[..32]), &section[HEAD_BYTES..directory_end]);
    LittleEndian::write_u32(&mut section[32..36], sum);
}

/// Makes the checksums of the pieces of the column with its entry at `at` right, and returns that of their list.
fn fix_pieces(section: &mut [u8], at: usize, directory_end: usize) -> Option<u32> {
    let field = |from: usize| usize::try_from(LittleEndian::read_u64(&section[at + from..at + from + 8])).ok();
    let (values, offset, stored) = (field(8)?, field(16)?, field(24)?);
    let piece_values = PIECE_BYTES.get(usize::from(section[at + 4]))? / usize::from(section[at + 5]).max(1);
    let list_bytes = values.div_ceil(piece_values.max(1)).checked_mul(PIECE_ENTRY_BYTES)?;
    let list = offset.checked_add(stored)?;
    let (columns, lists) = section.get_mut(..list.checked_add(list_bytes)?)?.split_at_mut_checked(list)?;
    let pieces = columns.get(offset.max(directory_end)..)?;
    let mut from = 0;
    for entry in lists.chunks_exact_mut(PIECE_ENTRY_BYTES) {
        let end = usize::try_from(LittleEndian::read_u64(entry)).ok()?;
        LittleEndian::write_u32(&mut entry[8..], crc32c::crc32c(pieces.get(from..end)?));
        from = end;
    }
    Some(crc32c::crc32c(lists))
}

/// A dump, its entry in the cache, and what it is told to hold.
struct Dump {
    folder: TempDir,
    path: PathBuf,
    entry: PathBuf,
    summary: String,
}

/// Takes the bytes for the cached import of a dump: unless they are a whole recording, the dump is imported again.
pub fn cache(bytes: &[u8]) {
    let dump = dump();
    fs::write(&dump.entry, bytes).expect("a file of the cache");
    let summary = summary_of(&dump.path, dump.folder.path());
    let is_whole = Recording::from_bytes(bytes.to_vec()).is_ok_and(|recording| recording.damage().is_none());
    assert!(is_whole || summary == dump.summary, "{summary}");
}

fn summary_of(dump: &Path, folder: &Path) -> String {
    Console::open(dump, &folder.join("cache")).expect("the dump can be imported").ask("summary").text
}

fn dump() -> &'static Dump {
    static DUMP: OnceLock<Dump> = OnceLock::new();
    DUMP.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("small.jsonl");
        let text = concat!(
            r#"{"type":"ROOT", "root":"vm", "references":["0x7f0000000010"]}"#, "\n",
            r#"{"address":"0x7f0000000010", "type":"OBJECT", "class":"0x7f0000000030", "references":["0x7f0000000020"], "memsize":40}"#, "\n",
            r#"{"address":"0x7f0000000020", "type":"STRING", "class":"0x7f0000000030", "value":"text", "memsize":40}"#, "\n",
            r#"{"address":"0x7f0000000030", "type":"CLASS", "name":"Thing", "memsize":400}"#, "\n",
        );
        fs::write(&path, text).expect("a file in the temporary folder");
        let summary = summary_of(&path, folder.path());
        let files = fs::read_dir(folder.path().join("cache")).expect("the cache").flatten().map(|file| file.path());
        let mut entries = files.filter(|file| file.extension().is_some_and(|extension| extension == "barrow"));
        let entry = entries.next().expect("the dump was cached");
        Dump { folder, path, entry, summary }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The checksums of the first section, and of its first list of pieces, are where this file looks for them.
    #[test]
    fn checksums_that_were_right_stay_and_wrong_ones_become_right() {
        let genuine = genuine_index();
        assert_eq!(with_index_checksums(&genuine, &genuine), genuine);
        let mut wrong = genuine.clone();
        wrong[HEADER_BYTES + 32] ^= 1;
        wrong[HEADER_BYTES + HEAD_BYTES + 32] ^= 1;
        assert_eq!(with_index_checksums(&wrong, &genuine), genuine);
    }
}
