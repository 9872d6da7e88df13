//! What barrow keeps for the next time: the index file beside a recording, and cached imports of dumps.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use barrow_analyzer::{Heap, IndexPlace, Memory, Recording, Silent, SnapshotId};
use barrow_repl::Console;
use byteorder::{ByteOrder, LittleEndian};
use tempfile::TempDir;

use crate::record_small;

/// Header of an index file, as `analyzer/src/columns/index_file.rs` draws it.
const HEADER_BYTES: usize = 56;
const KEY_BYTES: usize = 40;
const ENTRY_BYTES: usize = 32;
const PIECE_BYTES: usize = 1 << 18;

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
    let beside = beside();
    fs::write(&beside.index, bytes).expect("a file in the temporary folder");
    let answers = ask(&beside.recording).expect("a whole recording answers, whatever its index is");
    assert_eq!(answers, beside.answers);
}

/// As [`index`] with the key and every checksum made right first: lies get past them, and must not end in a panic.
pub fn index_fixed(bytes: &[u8]) {
    let beside = beside();
    fs::write(&beside.index, with_index_checksums(bytes, &beside.genuine)).expect("a file in the temporary folder");
    let _ = ask(&beside.recording);
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
    bytes[..KEY_BYTES].copy_from_slice(&genuine[..KEY_BYTES]);
    let count = LittleEndian::read_u32(&bytes[40..44]) as usize;
    let room = (bytes.len() - HEADER_BYTES) / ENTRY_BYTES;
    let directory_end = HEADER_BYTES + count.min(room) * ENTRY_BYTES;
    for at in (HEADER_BYTES..directory_end).step_by(ENTRY_BYTES) {
        let field = |from: usize| usize::try_from(LittleEndian::read_u64(&bytes[at + from..at + from + 8])).ok();
        let (Some(offset), Some(length)) = (field(8), field(16)) else { continue };
        let Some(end) = offset.checked_add(length) else { continue };
        let Some(values) = bytes.get(offset.max(directory_end)..end) else { continue };
        let sums: Vec<u8> = values.chunks(PIECE_BYTES).flat_map(|piece| crc32c::crc32c(piece).to_le_bytes()).collect();
        let Some(place) = bytes.get_mut(end..end + sums.len()) else { continue };
        place.copy_from_slice(&sums);
        LittleEndian::write_u32(&mut bytes[at + 24..at + 28], crc32c::crc32c(&sums));
    }
    let length = bytes.len() as u64;
    LittleEndian::write_u64(&mut bytes[44..52], length);
    let sum = crc32c::crc32c_append(crc32c::crc32c(&bytes[..52]), &bytes[HEADER_BYTES..directory_end]);
    LittleEndian::write_u32(&mut bytes[52..56], sum);
    bytes
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
