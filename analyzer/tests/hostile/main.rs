//! Forged files with valid checksums give a clear error, never a panic, and take memory in proportion to the file.

#[path = "../allocator/mod.rs"]
mod allocator;
mod forge;

use allocator::peak_bytes;
use parking_lot::{Mutex, MutexGuard};
use std::sync::Arc;
use std::time::{Duration, Instant};

use barrow_analyzer::{
    AnalyzerError, Expression, FormatError, Heap, IndexPlace, Memory, ObjectId, Page, Recording, Silent, Threads,
    object, objects, outgoing, summary, verified_summaries, verify, walk,
};
use barrow_format::block::{ColumnId, MAX_OBJECTS, MAX_REFERENCES};
use barrow_format::frame::{CRITICAL, FRAME_HEADER_BYTES, Frame, SectionType};
use barrow_format::header::HEADER_BYTES;
use barrow_format::rows::{LabelCode, Root, Row, Shape, Site, Strength, StrengthClass, Tail, Text, Thread, TypeTotals};
use barrow_format::{KindId, SiteId, SnapshotId, StrengthId, StringId, TypeId};
use barrow_rewrite::repair;
use forge::{Block, Column, Forge, NAME, Parts, chunk, crc32c, directory};

/// The memory that any file may take: the buffers of the decoding threads, and cached strings.
const ANY_FILE_BYTES: usize = 96 << 20;
/// The additional memory for each byte of the file.
const PER_BYTE: usize = 64;

/// Runs one test at a time, because allocations of other tests would be counted, too.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock()
}

/// Asks all questions about a file and returns all errors.
fn complaints(file: Vec<u8>) -> Vec<String> {
    let limit = ANY_FILE_BYTES + PER_BYTE * file.len();
    let (peak, complaints) = peak_bytes(|| ask(file));
    assert!(peak <= limit, "{peak} bytes were allocated, {limit} are in proportion");
    assert!(complaints.iter().all(|text| !text.is_empty() && !text.contains('\n')), "{complaints:?}");
    complaints
}

fn ask(file: Vec<u8>) -> Vec<String> {
    let recording = match Recording::from_bytes(file) {
        Ok(recording) => Arc::new(recording),
        Err(error) => return vec![error.to_string()],
    };
    let mut complaints: Vec<String> = recording.damage().map(ToString::to_string).into_iter().collect();
    let found = verify(&recording, &Silent).unwrap();
    complaints.extend(found.problems.iter().map(ToString::to_string));
    let every = Expression::parse("refs >= 0 and type ~ T*").unwrap();
    for id in recording.snapshot_ids() {
        let heap = Heap::new(Arc::clone(&recording), id, &IndexPlace::Nowhere, Memory::unlimited());
        let of_heap = |question: fn(&Heap) -> Result<(), AnalyzerError>| match &heap {
            Ok(heap) => question(heap),
            // The same error as that of `snapshot`.
            Err(_) => Ok(()),
        };
        let page = Page { from: ObjectId(1), limit: 2 };
        let answers: [Result<(), AnalyzerError>; 17] = [
            recording.snapshot(id).map(drop),
            summary(&recording, id).map(drop),
            verified_summaries(&recording, &[id], &Silent).map(drop),
            heap.as_ref().map_or(Ok(()), |heap| heap.count(&[], &every, &Silent).map(drop)),
            heap.as_ref().map_or(Ok(()), |heap| heap.find(&[], &every, page, &Silent).map(drop)),
            of_heap(|heap| heap.dominators(&Silent).map(drop)),
            of_heap(|heap| heap.distances(&Silent).map(drop)),
            of_heap(|heap| heap.incoming(&Silent).map(drop)),
            of_heap(|heap| heap.unreachable(&Silent).map(drop)),
            of_heap(|heap| heap.leak_suspects(0.1, &Silent).map(drop)),
            object(&recording, id, ObjectId(0)).map(drop),
            objects(&recording, id, &[ObjectId(1), ObjectId(0)]).map(drop),
            outgoing(&recording, id, ObjectId(1)).map(drop),
            walk(&recording, id, &Silent, |_, _| Ok(())),
            (0..9).try_for_each(|site| recording.site(SiteId(site)).map(drop)),
            Threads::read(&recording, id).map(drop),
            of_heap(|heap| {
                let threads = Threads::read(heap.recording(), heap.snapshot())?;
                let _ = threads.since(&threads);
                heap.thread_roots(&threads, &Silent).map(drop)
            }),
        ];
        complaints.extend(answers.into_iter().filter_map(Result::err).map(|error| error.to_string()));
    }
    // Not for each of thousands of files, because it is the only operation that writes.
    if recording.length_bytes() % 3 == 0 || complaints.len() < 3 {
        check_repair(&recording);
    }
    complaints
}

/// Checks that a repair gives a clean file.
fn check_repair(recording: &Recording) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("repaired.barrow");
    let Ok(repaired) = repair(recording, &path, &Silent) else { return };
    assert_eq!(repaired.bytes.is_some(), path.exists());
    if repaired.bytes.is_some() {
        let clean = Recording::open(&path).unwrap();
        assert_eq!(clean.damage(), None);
        assert_eq!(verify(&clean, &Silent).unwrap().problems, []);
    }
}

/// Checks that the change leads to an error that contains these words.
fn assert_refused(words: &str, change: impl FnOnce(&mut Parts)) {
    let mut parts = Parts::default();
    change(&mut parts);
    let complaints = complaints(Forge::file(&parts));
    assert!(complaints.iter().any(|text| text.contains(words)), "{words}: {complaints:#?}");
}

#[test]
fn without_a_lie_there_is_no_complaint() {
    let _alone = alone();
    assert_eq!(complaints(Forge::file(&Parts::default())), [""; 0]);
}

#[test]
fn commits_whose_blocks_are_elsewhere() {
    let _alone = alone();
    type Change = fn(&mut barrow_format::commit::Commit);
    let cases: [(&str, Change); 12] = [
        ("end of a section is", |commit| {
            commit.blocks[1] = commit.blocks[0];
            commit.totals.objects = 4;
        }),
        ("end of a section is", |commit| commit.blocks[1].offset = commit.blocks[0].offset + 8),
        ("end of a section is", |commit| commit.stats.push(commit.stats[0])),
        ("end of a section is", |commit| commit.roots.push(commit.roots[0])),
        ("end of a section is", |commit| commit.blocks[0].offset = 0),
        ("end of a section is", |commit| commit.blocks[1].offset = 1 << 40),
        ("end of a section is", |commit| commit.blocks[1].offset = u64::MAX),
        ("end of a section is", |commit| commit.blocks.iter_mut().for_each(|block| block.length = 1 << 63)),
        ("length of a block", |commit| commit.blocks[1].length -= 8),
        ("section type", |commit| commit.roots[0] = std::mem::replace(&mut commit.stats[0], commit.roots[0])),
        ("frame does not begin with its magic number", |commit| {
            commit.blocks[1].offset += 16;
            commit.blocks[1].length -= 16;
        }),
        ("a commit names a frame", |commit| commit.roots[0] += 8),
    ];
    for (words, change) in cases {
        assert_refused(words, |parts| parts.commit = Box::new(change));
    }
}

#[test]
fn commits_whose_counts_lie() {
    let _alone = alone();
    type Change = fn(&mut barrow_format::commit::Commit);
    let cases: [(&str, Change); 13] = [
        ("objects in blocks", |commit| commit.totals.objects = 1 << 32),
        ("objects in blocks", |commit| commit.totals.objects = 1 << 63),
        ("references in blocks", |commit| commit.totals.references = u64::MAX),
        ("roots of the snapshot", |commit| commit.totals.roots = 1 << 63),
        ("heap bytes in statistics", |commit| commit.totals.heap_bytes += 1),
        ("objects in a block", |commit| {
            commit.blocks[0].objects = u32::MAX - 3;
            commit.totals.objects = u64::from(u32::MAX);
        }),
        ("references in a block", |commit| {
            commit.blocks[0].references = u32::MAX;
            commit.totals.references = u64::from(u32::MAX) + 1;
        }),
        ("strings of the snapshot", |commit| commit.tables.strings = u32::MAX),
        ("types of the snapshot", |commit| commit.tables.types = 2),
        ("shapes of the snapshot", |commit| commit.tables.shapes = 1 << 20),
        ("shape is 0, the limit is 0", |commit| commit.tables.shapes = 0),
        ("string of a commit", |commit| commit.label = Some(StringId(3))),
        ("number of the snapshot", |commit| commit.snapshot = 1),
    ];
    for (words, change) in cases {
        assert_refused(words, |parts| parts.commit = Box::new(change));
    }
    // The chain of commits is never followed backwards, so a cycle is harmless.
    for offset in [0, 64, 1 << 63, u64::MAX - 1] {
        let commit = Box::new(move |commit: &mut barrow_format::commit::Commit| commit.previous_offset = Some(offset));
        assert_eq!(complaints(Forge::file(&Parts { commit, ..Parts::default() })), [""; 0]);
    }
}

#[test]
fn ids_that_no_table_has() {
    let _alone = alone();
    let label = |value: u64| LabelCode(value << 6 | 2);
    assert_refused("string is 3, the limit is 3", |parts| parts.kinds[0].name = StringId(3));
    assert_refused("string is 9", |parts| parts.strengths[0].name = StringId(9));
    assert_refused("string is 4294967295", |parts| parts.facts[0].value = StringId(u32::MAX));
    assert_refused("string is 3", |parts| parts.types[0].name = StringId(3));
    assert_refused("string is 3", |parts| parts.types[0].layout = Some(StringId(3)));
    assert_refused("string is 3", |parts| parts.types[0].file = Some(StringId(3)));
    assert_refused("string is 3", |parts| parts.types[0].attributes = vec![(StringId(0), StringId(3))]);
    assert_refused("kind is 1", |parts| parts.types[0].kind = KindId(1));
    assert_refused("base type is 1", |parts| parts.types[0].base = Some(TypeId(1)));
    assert_refused("type of a shape is 1", |parts| parts.shapes[0].type_id = TypeId(1));
    assert_refused("name of a reference is 3", |parts| parts.shapes[1].prefix[0] = label(3));
    assert_refused("name of a reference", |parts| parts.shapes[1].prefix[0] = label(1 << 40));
    assert_refused("kind of a label is 3", |parts| parts.shapes[1].prefix[0] = LabelCode(3));
    assert_refused("kind of a label is 0", |parts| parts.shapes[1].prefix[0] = LabelCode(1 << 6));
    assert_refused("strength is 15", |parts| parts.shapes[1].prefix[0] = LabelCode(NAME.0 | 15 << 2));
    assert_refused("strength is 1", |parts| parts.shapes[3].tail = Tail::Indexed(StrengthId(1)));
    assert_refused("strength is 99", |parts| parts.shapes[3].tail = Tail::Indexed(StrengthId(99)));
    assert_refused("kind of a label is 3", |parts| parts.shapes[3].tail = Tail::Repeated(LabelCode(3)));
    assert_refused("the strong strength is missing", |parts| parts.strengths[0].class = StrengthClass::Weak);
    assert_refused("strength is 16", |parts| {
        let more = Strength { name: StringId(0), class: StrengthClass::Weak };
        parts.strengths.resize(20, more);
        parts.shapes[3].tail = Tail::Indexed(StrengthId(16));
    });
    let root = |name, label, target| Root { category: StringId(name), label, target: ObjectId(target) };
    assert_refused("target of a root is 5", |parts| parts.roots[0] = root(1, None, 5));
    assert_refused("string of a root is 3", |parts| parts.roots[0] = root(3, None, 0));
    assert_refused("string of a root is 3", |parts| parts.roots[0] = root(0, Some(StringId(3)), 0));
    let totals =
        |type_id, objects| TypeTotals { type_id: TypeId(type_id), objects, heap_bytes: 40, unmanaged_bytes: 0 };
    assert_refused("type in statistics is 1", |parts| parts.stats = vec![totals(1, 5)]);
    assert_refused("objects in statistics", |parts| parts.stats = vec![totals(0, 4)]);
    assert_refused("type in statistics", |parts| parts.stats = vec![totals(0, 3), totals(0, 2)]);
    assert_refused("types with objects", |parts| {
        parts.types.push(parts.types[0].clone());
        parts.stats = vec![totals(0, 4), TypeTotals { heap_bytes: 0, ..totals(1, 1) }];
    });
}

#[test]
fn chunks_that_lie() {
    let _alone = alone();
    let strings = |directory: Vec<u8>, body: Vec<u8>| {
        move |parts: &mut Parts| parts.frames.push((SectionType::STRINGS, CRITICAL, directory, body))
    };
    let text = || chunk(3, &[Text("more".to_owned())]).1;
    assert_refused("first row of a table chunk", strings(directory(0, 5, 2, 1), text()));
    assert_refused("first row of a table chunk", strings(directory(0, 5, u64::MAX, 1), text()));
    assert_refused("first row of a table chunk", strings(directory(0, 5, u32::MAX.into(), 1), text()));
    assert_refused("rows in a table chunk", strings(directory(0, 5, 3, 1 << 63), text()));
    assert_refused("rows in a table chunk", strings(directory(0, 5, 3, 6), text()));
    assert_refused("string needs", strings(directory(0, 5, 3, 1), vec![9, b'm', b'o', b'r', b'e']));
    assert_refused("string: 5 is stored, 0 was found", strings(directory(0, 5, 3, 0), text()));
    assert_refused("table chunk length", strings(directory(2, 1 << 63, 3, 1), text()));
    assert_refused("does not decompress", strings(directory(2, 4 << 20, 3, 1), text()));
    assert_refused("does not decompress", strings(directory(1, 4 << 20, 3, 1), text()));
    assert_refused("does not decompress", strings(directory(0, 4 << 20, 3, 1), text()));
    assert_refused("codec is 3", strings(directory(3, 5, 3, 1), text()));
    assert_refused("string 3 is not UTF-8", strings(directory(0, 5, 3, 1), vec![4, b'm', 0xff, 0xfe, b'e']));
    assert_refused("overflows or does not end", strings(directory(0, 11, 3, 1), vec![0xff; 11]));
    assert_refused("overflows or does not end", strings(vec![0x80], text()));
    let raw = |section, first, body: Vec<u8>| {
        let directory = directory(0, body.len() as u64, first, 1);
        move |parts: &mut Parts| parts.frames.push((section, CRITICAL, directory, body))
    };
    assert_refused("role of a kind is 4", raw(SectionType::KINDS, 1, vec![0, 4]));
    assert_refused("class of a strength is 4", raw(SectionType::STRENGTHS, 1, vec![0, 4]));
    assert_refused("tail of a shape is 4", raw(SectionType::SHAPES, 5, vec![0, 4, 0]));
}

#[test]
fn small_chunks_that_expand_hugely() {
    let _alone = alone();
    let empty_strings = |first: u64, count: u64| {
        let body = forge::zstd(&vec![0; count as usize]);
        assert!(body.len() < 400);
        (SectionType::STRINGS, CRITICAL, directory(2, count, first, count), body)
    };
    // Strings are read one chunk at a time, so their number is not limited.
    let rows = 4 << 20;
    let mut parts = Parts::default();
    parts.frames.extend((0..6).map(|number| empty_strings(3 + number * rows, rows)));
    assert_eq!(complaints(Forge::file(&parts)), [""; 0]);

    // Other rows are held in memory together, so their number is limited to what a writer may write.
    let rows = |section, row: &[u8], first: u64| {
        let count = (4 << 20) / row.len() as u64;
        let raw = row.repeat(count as usize);
        (section, CRITICAL, directory(2, raw.len() as u64, first * count + 1, count), forge::zstd(&raw))
    };
    for (section, row, words) in [
        (SectionType::TYPES, &[0; 7][..], "memory for tables (TYPES)"),
        (SectionType::SITES, &[0; 7], "memory for tables (SITES)"),
        (SectionType::SHAPES, &[0; 3], "memory for tables (SHAPES)"),
        (SectionType::KINDS, &[0; 2], "memory for tables (KINDS)"),
        (SectionType::META, &[0; 2], "memory for tables (META)"),
    ] {
        let mut parts = Parts { shapes: Vec::new(), ..Parts::default() };
        parts.shapes.push(Shape { type_id: TypeId(0), prefix: Vec::new(), tail: Tail::None });
        parts.facts.truncate(1);
        let mut frames: Vec<_> = (0..40).map(|first| rows(section, row, first)).collect();
        if section == SectionType::SITES {
            let (directory, body) = chunk(0, &[Site::default()]);
            frames.insert(0, (section, 0, directory, body));
        }
        parts.frames.extend(frames);
        let file = Forge::file(&parts);
        assert!(file.len() < 50_000, "{}", file.len());
        let (peak, found) = peak_bytes(|| Recording::from_bytes(file).map(|recording| verify(&recording, &Silent)));
        let found = format!("{:?}", found.unwrap().unwrap().problems);
        assert!(found.contains(words), "{words}: {found}");
        assert!(peak < FULL_TABLE_BYTES, "{words}: {peak}");
    }
}

#[test]
fn roots_that_expand_hugely() {
    let _alone = alone();
    // Category, no label, target: three bytes for each root.
    let rows = (4 << 20) / 3;
    let raw = [1, 0, 0].repeat(rows as usize);
    let body = forge::zstd(&raw);
    let chunk = |number: u64| (rows, directory(2, raw.len() as u64, 1 + number * rows, rows), body.clone());
    let few = Parts { root_chunks: (0..2).map(chunk).collect(), ..Parts::default() };
    assert_eq!(ask(Forge::file(&few)), [""; 0]);
    let many = Parts { root_chunks: (0..40).map(chunk).collect(), ..Parts::default() };
    let file = Forge::file(&many);
    assert!(file.len() < 50_000, "{}", file.len());
    let (peak, complaints) = peak_bytes(|| ask(file));
    assert!(complaints.iter().any(|text| text.contains("memory for tables (ROOTS)")), "{complaints:?}");
    assert!(peak < FULL_TABLE_BYTES, "{peak}");
}

/// The memory of one table of maximum size while it grows.
const FULL_TABLE_BYTES: usize = 1 << 30;

/// Chunks of four long strings each. A chunk takes a few hundred bytes in the file.
fn long_strings(parts: &mut Parts, chunks: u64) {
    let length = (1 << 20) - 3;
    let mut raw = Vec::new();
    (0..4).for_each(|_| Text("x".repeat(length)).put(&mut raw));
    let body = forge::zstd(&raw);
    assert!(body.len() < 1000);
    let first = parts.strings.len() as u64;
    parts.frames.extend((0..chunks).map(|number| {
        let directory = directory(2, raw.len() as u64, first + 4 * number, 4);
        (SectionType::STRINGS, CRITICAL, directory, body.clone())
    }));
}

#[test]
fn strings_of_a_bomb_are_decoded_when_they_are_asked_for() {
    let _alone = alone();
    let mut parts = Parts::default();
    long_strings(&mut parts, 2000);
    let file = Forge::file(&parts);
    assert!(file.len() < 1 << 20);
    let before = Instant::now();
    let (peak, ()) = peak_bytes(|| {
        let recording = Recording::from_bytes(file).unwrap();
        assert_eq!(summary(&recording, SnapshotId(0)).unwrap().totals.objects, 5);
        let tables = recording.tables().unwrap();
        assert_eq!(tables.string_count(), 8003);
        assert_eq!(tables.string(StringId(8002)).len(), (1 << 20) - 3);
        tables.check_strings().unwrap();
    });
    // The strings would take 8 GB, but no question needs them.
    assert!(peak < 32 << 20, "{peak}");
    assert!(before.elapsed() < Duration::from_secs(5), "{:?}", before.elapsed());
}

#[test]
fn strings_beyond_what_memory_holds_go_to_files() {
    let _alone = alone();
    let mut parts = Parts::default();
    long_strings(&mut parts, 60);
    let file = Forge::file(&parts);
    let (peak, ()) = peak_bytes(|| {
        let recording = Recording::from_bytes(file).unwrap();
        let tables = recording.tables().unwrap();
        let total: usize = (0..60).map(|chunk| tables.string(StringId(3 + 4 * chunk)).len()).sum();
        assert_eq!(total, 60 * ((1 << 20) - 3));
        tables.check_strings().unwrap();
    });
    assert!(peak < 96 << 20, "{peak}");
    // A search does not keep strings that do not fit in the cache.
    assert_eq!(complaints(Forge::file(&parts)), [""; 0]);
}

/// Many chunks are searched by their directories: one that is damaged, or that leaves a gap, costs its own strings.
#[test]
fn a_chunk_among_many() {
    let _alone = alone();
    let many = |lie: &dyn Fn(u64) -> (u64, &'static [u8])| {
        let mut parts = Parts::default();
        for first in 3..43 {
            let (stored, body) = lie(first);
            let directory = directory(0, body.len() as u64, stored, 1);
            parts.frames.push((SectionType::STRINGS, CRITICAL, directory, body.to_vec()));
        }
        Forge::file(&parts)
    };
    let texts = |file: Vec<u8>| -> (Vec<String>, Result<(), AnalyzerError>) {
        let recording = Recording::from_bytes(file).unwrap();
        let tables = recording.tables().unwrap();
        let texts = (0..43).map(|id| tables.string(StringId(id)).to_owned()).collect();
        (texts, tables.check_strings())
    };
    let right = ["strong", "a", "T"].map(str::to_owned).into_iter().chain((3..43).map(|_| "more".to_owned()));
    let right: Vec<String> = right.collect();
    let (found, checked) = texts(many(&|first| (first, b"\x04more")));
    assert_eq!((found, checked.is_ok()), (right.clone(), true));

    let (found, checked) = texts(many(&|first| (first, if first == 20 { b"\x04m\xff\xfee" } else { b"\x04more" })));
    let unreadable = |id: usize, found: &[String]| found[id] == "(unreadable string)";
    assert!(unreadable(20, &found));
    assert!((0..43).filter(|&id| id != 20).all(|id| found[id] == right[id]), "{found:?}");
    assert!(checked.unwrap_err().to_string().contains("string 20 is not UTF-8"));

    let gap = many(&|first| (if first == 20 { 21 } else { first }, b"\x04more"));
    let (found, checked) = texts(gap.clone());
    assert!(unreadable(20, &found));
    assert!(checked.unwrap_err().to_string().contains("first row of a table chunk"));
    assert!(complaints(gap).iter().any(|found| found.contains("first row of a table chunk")));

    // A checksum that does not hold: of the body, then of the directory.
    let whole = many(&|first| (first, b"\x04more"));
    let at = whole.windows(5).enumerate().filter(|(_, bytes)| bytes == b"\x04more").map(|(at, _)| at).nth(17).unwrap();
    for (place, what) in [(at, "frame body"), (at - 1, "frame directory")] {
        let mut file = whole.clone();
        file[place] ^= 1;
        let (found, checked) = texts(file.clone());
        assert!(unreadable(20, &found), "{what}");
        assert!(checked.unwrap_err().to_string().contains(what), "{what}");
        assert!(complaints(file).iter().any(|found| found.contains(what)), "{what}");
    }
}

/// A chunk with a valid checksum that cannot be decoded, after enough strings that chunks are decoded only when needed.
#[test]
fn strings_that_lie_are_met_late() {
    let _alone = alone();
    let mut parts = Parts::default();
    long_strings(&mut parts, 2);
    let lie = vec![4, b'm', 0xff, 0xfe, b'e'];
    parts.frames.push((SectionType::STRINGS, CRITICAL, directory(0, 5, 11, 1), lie));
    let file = Forge::file(&parts);
    let expected = "string 11 is not UTF-8";
    for file in [file.clone(), cut_trailer(file.clone())] {
        let recording = Recording::from_bytes(file).unwrap();
        let tables = recording.tables().unwrap();
        assert_eq!(tables.string(StringId(2)), "T");
        tables.check_strings().unwrap();
        assert_eq!(tables.string(StringId(11)), "(unreadable string)");
        assert!(tables.check_strings().unwrap_err().to_string().contains(expected));
        // From now on every answer with texts is an error.
        assert!(recording.facts().unwrap_err().to_string().contains(expected));
        let found = verify(&recording, &Silent).unwrap();
        assert!(found.problems.iter().any(|problem| problem.message.contains(expected)), "{found:?}");
    }
    assert!(complaints(file.clone()).iter().any(|found| found.contains(expected)));
    let folder = tempfile::tempdir().unwrap();
    let repaired = folder.path().join("repaired.barrow");
    assert_eq!(repair(&Recording::from_bytes(file).unwrap(), &repaired, &Silent).unwrap().kept.len(), 1);
    let repaired = Recording::open(&repaired).unwrap();
    assert_eq!(verify(&repaired, &Silent).unwrap().problems, []);
    assert_eq!(repaired.tables().unwrap().string_count(), 11);
}

/// Ten bytes for each number, which is the maximum.
const WIDE: [u8; 10] = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0];

#[test]
fn small_blocks_that_expand_hugely() {
    let _alone = alone();
    let references = u64::from(MAX_REFERENCES);
    let mut block = Block::continuation(4, references, 2);
    *block.column(ColumnId::REFERENCES) = Column::bomb(ColumnId::REFERENCES, references, &WIDE);
    block.columns.push(Column::bomb(ColumnId::LABELS, references, &WIDE));
    let mut parts = Parts::default();
    parts.blocks.push(block);
    let file = Forge::file(&parts);
    assert!(file.len() < 8000);
    assert_eq!(complaints(file), [""; 0]);

    // Many objects with a dictionary that names the same shape for each.
    let objects = u64::from(MAX_OBJECTS);
    let mut block = Block::plain(0, 1);
    block.objects = objects;
    *block.column(ColumnId::SIZE) = Column::bomb(ColumnId::SIZE, objects, &[0]);
    *block.column(ColumnId::SHAPE) = Column::bomb(ColumnId::SHAPE, objects, &[7]);
    *block.column(ColumnId::DICTIONARY) = Column::bomb(ColumnId::DICTIONARY, objects, &[2]);
    block.columns.push(Column::bomb(ColumnId::COUNT, objects, &[0]));
    let totals = TypeTotals { type_id: TypeId(0), objects: 200 * objects, heap_bytes: 0, unmanaged_bytes: 0 };
    let parts = Parts {
        blocks: (0..200).map(|number| Block { first_object: number * objects, ..block.clone() }).collect(),
        commit: Box::new(|commit| commit.totals.heap_bytes = 0),
        stats: vec![totals],
        ..Parts::default()
    };
    assert_eq!(complaints(Forge::file(&parts)), [""; 0]);

    for lie in [1 << 21, 1 << 32, 1 << 63] {
        assert_refused("the limit is", |parts| parts.blocks[0].column(ColumnId::SIZE).raw_length = lie);
        assert_refused("the limit is", |parts| parts.blocks[0].column(ColumnId::SIZE).values = lie);
        assert_refused("the limit is", |parts| parts.blocks[0].objects = lie);
        assert_refused("the limit is", |parts| parts.blocks[0].references = lie);
    }
}

#[test]
fn blocks_that_lie() {
    let _alone = alone();
    type Change = fn(&mut Block);
    let cases: [(&str, Change); 14] = [
        ("first object of a block", |block| block.first_object = 3),
        ("column DICTIONARY is missing", |block| drop(block.columns.remove(0))),
        ("column SHAPE is missing", |block| drop(block.columns.remove(1))),
        ("column SIZE is missing", |block| drop(block.columns.remove(2))),
        ("shape is 5", |block| *block.column(ColumnId::DICTIONARY) = Column::new(ColumnId::DICTIONARY, &[5])),
        ("shape in a block is 1", |block| *block.column(ColumnId::SHAPE) = Column::new(ColumnId::SHAPE, &[0, 1, 0])),
        ("column SIZE", |block| *block.column(ColumnId::SIZE) = Column::new(ColumnId::SIZE, &[16, 0])),
        ("column DICTIONARY", |block| block.column(ColumnId::DICTIONARY).flags = 1),
        ("column SHAPE", |block| block.column(ColumnId::SHAPE).flags = 1),
        ("column SITE", |block| {
            block.columns.push(Column { flags: 1, ..Column::new(ColumnId::SITE, &[1, 2, 3]) });
        }),
        ("overflows or does not end", |block| block.column(ColumnId::SIZE).stored[2] = 0x80),
        ("codec is 7", |block| block.column(ColumnId::SIZE).codec = 7),
        ("column SIZE", |block| block.columns.push(block.columns[2].clone())),
        ("references in a block", |block| {
            *block.column(ColumnId::DICTIONARY) = Column::new(ColumnId::DICTIONARY, &[1])
        }),
    ];
    for (words, change) in cases {
        assert_refused(words, |parts| change(&mut parts.blocks[1]));
    }
}

/// Objects with one reference each, of shape 1 or with an explicit tail.
fn with_references(shape: u64, references: &[u64], further: Vec<Column>) -> Block {
    let mut block = Block::plain(2, 3);
    block.references = 3;
    *block.column(ColumnId::DICTIONARY) = Column::new(ColumnId::DICTIONARY, &[shape]);
    block.columns.push(Column::new(ColumnId::REFERENCES, references));
    block.columns.extend(further);
    block
}

#[test]
fn references_that_lie() {
    let _alone = alone();
    let counts = || Column::new(ColumnId::COUNT, &[1, 1, 1]);
    let labels = |labels: [u64; 3]| Column::new(ColumnId::LABELS, &labels);
    let cases = [
        ("target of a reference", with_references(1, &[0, 0, 100 << 3], vec![])),
        ("target of a reference", with_references(1, &[(5 << 1 | 1) << 2, 0, 0], vec![])),
        ("target of a reference", with_references(1, &[100 << 3 | 3, 0, 0], vec![])),
        ("column REFERENCES", with_references(1, &[0, 0], vec![])),
        ("column REFERENCES", with_references(1, &[0, 0, 0, 0], vec![])),
        ("values of column COUNT", with_references(1, &[0, 0, 0], vec![counts()])),
        ("values of column COUNT", with_references(2, &[0, 0, 0], vec![])),
        ("column COUNT", with_references(2, &[0, 0, 0], vec![Column { flags: 1, ..counts() }])),
        ("values of column LABELS", with_references(2, &[0, 0, 0], vec![counts()])),
        ("values of column LABELS", with_references(1, &[0, 0, 0], vec![labels([0, 0, 0])])),
        // The values of a tail: a label that is unknown, and a step from a label that is.
        ("kind of a label is 0", with_references(2, &[0, 0, 0], vec![counts(), labels([1 << 6, 0, 0])])),
        ("name of a reference is 3", {
            let counts = Column::new(ColumnId::COUNT, &[2, 1, 0]);
            with_references(2, &[0, 0, 0], vec![counts, labels([2 << 6 | 2, 3, 0])])
        }),
        ("name of a reference is 3", with_references(2, &[0, 0, 0], vec![counts(), labels([3 << 6 | 2, 0, 0])])),
        ("strength is 1", with_references(2, &[0, 0, 0], vec![counts(), labels([1 << 2, 0, 0])])),
    ];
    for (words, block) in cases {
        assert_refused(words, |parts| parts.blocks[1] = block);
    }
}

#[test]
fn continuations_that_lie() {
    let _alone = alone();
    let good = || Block::continuation(1, 3, 3);
    let with = |change: fn(&mut Block)| {
        let mut block = good();
        change(&mut block);
        move |parts: &mut Parts| parts.blocks.insert(1, block)
    };
    let mut parts = Parts::default();
    with(|_| {})(&mut parts);
    assert_eq!(complaints(Forge::file(&parts)), [""; 0]);

    assert_refused("first object of a block is 0", |parts| parts.blocks.insert(0, Block::continuation(0, 3, 3)));
    assert_refused("first object of a block", with(|block| block.first_object = 0));
    assert_refused("tail of a continuation is missing", with(|block| block.columns[0] = dictionary(&[0])));
    assert_refused("tail of a continuation is missing", with(|block| block.columns[0] = dictionary(&[1])));
    assert_refused("tail of a continuation is missing", with(|block| block.columns[0] = dictionary(&[4])));
    assert_refused("shapes of a continuation", with(|block| block.columns[0] = dictionary(&[])));
    assert_refused("shapes in a block", with(|block| block.columns[0] = dictionary(&[3, 3])));
    assert_refused("column DICTIONARY is missing", with(|block| drop(block.columns.remove(0))));
    assert_refused("start index of a continuation", with(|block| block.start_index = u64::MAX));
    assert_refused("start index of a continuation", with(|block| block.start_index = u64::MAX >> 6));
    assert_refused("values of column LABELS", with(|block| block.columns[0] = dictionary(&[2])));
    // Without objects and references it is useless but harmless.
    let mut parts = Parts::default();
    parts.blocks.insert(1, Block { references: 0, columns: vec![dictionary(&[3])], ..good() });
    assert_eq!(complaints(Forge::file(&parts)), [""; 0]);
}

fn dictionary(shapes: &[u64]) -> Column {
    Column::new(ColumnId::DICTIONARY, shapes)
}

#[test]
fn an_index_that_lies() {
    let _alone = alone();
    type Change = fn(&mut Vec<barrow_format::index::IndexRow>);
    let cases: [(&str, Change); 8] = [
        ("section in index", |rows| rows[0].offset = 1 << 40),
        ("section in index", |rows| rows[0].length = u64::MAX),
        ("section in index", |rows| rows[0].split_offset = 1 << 40),
        ("out of order", |rows| rows.push(*rows.last().unwrap())),
        ("out of order", |rows| rows.insert(1, rows[0])),
        ("disagree", |rows| rows.truncate(5)),
        ("disagree", |rows| rows.truncate(rows.len() - 1)),
        ("section type", |rows| rows[0].section = SectionType::KINDS),
    ];
    for (words, change) in cases {
        assert_refused(words, |parts| parts.index = Box::new(change));
    }
    assert_refused("index is damaged", |parts| parts.trailer = Box::new(|trailer| trailer.index_offset = u64::MAX));
    assert_refused("index is not where", |parts| {
        parts.trailer = Box::new(|trailer| trailer.index_offset = HEADER_BYTES as u64);
    });
    // The index lists a frame that is not a commit, many times.
    assert_refused("section type", |parts| {
        parts.index = Box::new(|rows| {
            let row = *rows.last().unwrap();
            rows.pop();
            rows.extend((0..20_000).map(|snapshot| barrow_format::index::IndexRow {
                snapshot,
                offset: HEADER_BYTES as u64,
                split_offset: HEADER_BYTES as u64,
                ..row
            }));
        });
    });
}

#[test]
fn sections_of_the_future() {
    let _alone = alone();
    let unknown = |section, flags| {
        let mut parts = Parts::default();
        parts.frames.push((section, flags, b"directory".to_vec(), b"body".to_vec()));
        Forge::file(&parts)
    };
    for section in [
        SectionType::GC_EVENTS,
        SectionType::CONTENTS,
        SectionType::TEXTS,
        SectionType::CHECKPOINT,
        SectionType(99),
        SectionType(SectionType::FIRST_PRIVATE),
    ] {
        assert_eq!(complaints(unknown(section, 0)), [""; 0]);
        for file in [unknown(section, CRITICAL), cut_trailer(unknown(section, CRITICAL))] {
            let error = Recording::from_bytes(file).unwrap_err();
            let AnalyzerError::Unreadable(FormatError::UnknownCriticalSection { section: found }) = error else {
                panic!("{error}");
            };
            assert_eq!(found, section.0);
        }
    }
}

/// Forged sites are rejected when a question needs them, and a repair loses nothing but the sites.
#[test]
fn sites_that_lie() {
    let _alone = alone();
    let site = Site { function: Some(StringId(1)), line: Some(7), ..Site::default() };
    let lies = [
        ("string is 3, the limit is 3", Site { function: Some(StringId(3)), ..Site::default() }),
        ("string is 9, the limit is 3", Site { file: Some(StringId(9)), ..Site::default() }),
        ("string is 4", Site { attributes: vec![(StringId(0), StringId(4))], ..Site::default() }),
        ("caller of a site is 2, the limit is 1", Site { caller: Some(SiteId(2)), ..Site::default() }),
        ("caller of a site is 4294967295", Site { caller: Some(SiteId(u32::MAX)), ..Site::default() }),
    ];
    for (expected, lie) in lies {
        let mut parts = Parts::default();
        let (directory, body) = chunk(0, std::slice::from_ref(&site));
        parts.frames.push((SectionType::SITES, 0, directory, body));
        let (directory, body) = chunk(1, &[lie]);
        parts.frames.push((SectionType::SITES, 0, directory, body));
        let file = Forge::file(&parts);
        assert!(complaints(file.clone()).iter().any(|found| found.contains(expected)), "{expected}");
        // Without an index the first chunk is valid by itself.
        let scanned = Recording::from_bytes(cut_trailer(file.clone())).unwrap();
        assert_eq!(scanned.site_count().unwrap(), 1);
        assert_eq!(scanned.site(SiteId(1)).unwrap().unwrap().function, Some("a"));
        for id in [0, 2, u32::MAX] {
            assert_eq!(scanned.site(SiteId(id)).unwrap(), None);
        }
        let folder = tempfile::tempdir().unwrap();
        let repaired = folder.path().join("repaired.barrow");
        let report = repair(&Recording::from_bytes(file).unwrap(), &repaired, &Silent).unwrap();
        assert!(report.kept.len() == 1 && report.has_lost(), "{report:?}");
        let repaired = Recording::open(&repaired).unwrap();
        assert_eq!(verify(&repaired, &Silent).unwrap().problems, []);
        assert_eq!(repaired.site_count().unwrap(), 1);
    }
}

/// The threads of a snapshot.
fn threads(parts: &mut Parts, directory: Vec<u8>, body: Vec<u8>) {
    parts.of_snapshot.push((SectionType::THREADS, directory, body));
}

/// Forged threads are rejected when a question needs them, and a repair loses nothing but the threads.
#[test]
fn threads_that_lie() {
    let _alone = alone();
    let text = |id| Some(StringId(id));
    let honest = Thread { id: 7, name: text(1), ..Thread::default() };
    type Lie = Box<dyn Fn(&mut Parts)>;
    let row = |row: Thread| -> Lie {
        Box::new(move |parts| {
            let (directory, body) = chunk(1, std::slice::from_ref(&row));
            threads(parts, directory, body);
        })
    };
    let raw = |directory: Vec<u8>, body: &'static [u8]| -> Lie {
        Box::new(move |parts| threads(parts, directory.clone(), body.to_vec()))
    };
    let lies = [
        ("string of a thread is 3, the limit is 3", row(Thread { name: text(3), ..Thread::default() })),
        ("string of a thread is 9, the limit is 3", row(Thread { state: text(9), ..Thread::default() })),
        ("string of a thread is 4294967294", row(Thread { root_label: text(u32::MAX - 1), ..Thread::default() })),
        ("string of a thread is 4", row(Thread { attributes: vec![(StringId(0), StringId(4))], ..Thread::default() })),
        ("first row of a table chunk", raw(directory(0, 8, 0, 1), &[1, 0, 0, 0, 0, 0, 0, 0])),
        ("first row of a table chunk", raw(directory(0, 8, 5, 1), &[1, 0, 0, 0, 0, 0, 0, 0])),
        ("varint in thread", raw(directory(0, 7, 1, 1), &[1, 0, 0, 0, 0, 0, 0])),
        ("thread is 100", raw(directory(0, 8, 1, 1), &[1, 0, 0, 0, 0, 0, 0, 100])),
        ("thread: 9 is stored", raw(directory(0, 9, 1, 1), &[1, 0, 0, 0, 0, 0, 0, 0, 0])),
        ("does not decompress", raw(directory(2, 4 << 20, 1, 1), &[1, 2, 3])),
    ];
    for (expected, lie) in lies {
        let mut parts = Parts::default();
        let (directory, body) = chunk(0, std::slice::from_ref(&honest));
        threads(&mut parts, directory, body);
        lie(&mut parts);
        let file = Forge::file(&parts);
        let found = complaints(file.clone());
        assert!(found.iter().any(|found| found.contains(expected)), "{expected}: {found:?}");
        complaints(cut_trailer(file.clone()));
        let folder = tempfile::tempdir().unwrap();
        let repaired = folder.path().join("repaired.barrow");
        let report = repair(&Recording::from_bytes(file).unwrap(), &repaired, &Silent).unwrap();
        assert!(report.kept.len() == 1 && report.has_lost(), "{expected}: {report:?}");
        assert!(report.dropped()[0].starts_with("left out of snapshot 0: its threads: "), "{report:?}");
        let repaired = Recording::open(&repaired).unwrap();
        assert_eq!(verify(&repaired, &Silent).unwrap().problems, []);
        assert_eq!(Threads::read(&repaired, SnapshotId(0)).unwrap().rows(), []);
    }
}

/// The threads of a snapshot are those that its commit names, with an index and without: not those that a snapshot left
/// that was given up.
#[test]
fn threads_are_those_that_the_commit_names() {
    let _alone = alone();
    let rows = |first: u64, ids: &[u64]| {
        chunk(first, &ids.iter().map(|&id| Thread { id, ..Thread::default() }).collect::<Vec<_>>())
    };
    for (chunks, given_up, expected) in [
        (vec![rows(0, &[1, 2]), rows(2, &[3])], 0, vec![1, 2, 3]),
        (vec![rows(0, &[9]), rows(1, &[8]), rows(0, &[1]), rows(1, &[2])], 2, vec![1, 2]),
        (vec![rows(0, &[9]), rows(0, &[])], 1, vec![]),
        (vec![rows(0, &[9])], 1, vec![]),
    ] {
        let mut parts = Parts::default();
        chunks.into_iter().for_each(|(directory, body)| threads(&mut parts, directory, body));
        parts.commit = Box::new(move |commit| drop(commit.threads.drain(..given_up)));
        let file = Forge::file(&parts);
        for file in [file.clone(), cut_trailer(file)] {
            let recording = Recording::from_bytes(file).unwrap();
            let found = Threads::read(&recording, SnapshotId(0)).unwrap();
            assert_eq!(found.rows().iter().map(|row| row.id).collect::<Vec<_>>(), expected);
        }
    }
}

/// Threads of which a chunk is missing are an error, with an index and without, and cost a repair nothing but the threads.
#[test]
fn threads_that_are_missing() {
    let _alone = alone();
    let row = |first| chunk(first, &[Thread::default()]);
    for (chunks, change) in [(vec![row(0), row(2)], None), (vec![row(1)], None), (vec![row(0)], Some(8))] {
        let mut parts = Parts::default();
        chunks.into_iter().for_each(|(directory, body)| threads(&mut parts, directory, body));
        if let Some(shift) = change {
            parts.commit = Box::new(move |commit| commit.threads[0] += shift);
        }
        let file = Forge::file(&parts);
        for file in [file.clone(), cut_trailer(file)] {
            let recording = Recording::from_bytes(file).unwrap();
            assert!(Threads::read(&recording, SnapshotId(0)).is_err());
            let folder = tempfile::tempdir().unwrap();
            let repaired = folder.path().join("repaired.barrow");
            let report = repair(&recording, &repaired, &Silent).unwrap();
            assert!(report.kept.len() == 1 && report.has_lost(), "{report:?}");
            assert!(report.dropped()[0].starts_with("left out of snapshot 0: its threads: "), "{report:?}");
            let repaired = Recording::open(&repaired).unwrap();
            assert_eq!(verify(&repaired, &Silent).unwrap().problems, []);
        }
    }
}

/// A file of a later version that holds no snapshot: processes and values that were measured, whose rows have kinds.
#[test]
fn a_file_of_the_future_without_snapshots() {
    let _alone = alone();
    let parts = Parts::default();
    let mut forge = Forge::default();
    forge.bytes = barrow_format::header::Header::new([7; 16], 0).encode();
    forge.table(&parts.strings);
    let mut directory = directory(0, 4, 0, 1);
    *directory.last_mut().unwrap() = 1;
    for section in [SectionType::PROCESSES, SectionType::MEASUREMENTS] {
        forge.section(section, barrow_format::frame::NO_SNAPSHOT, &directory, &[3, 9, 1, 2]);
    }
    forge.section(SectionType::CHECKPOINT, barrow_format::frame::NO_SNAPSHOT, &[], &[0; 8]);
    let file = forge.finish(&parts);
    for (is_whole, file) in [(true, file.clone()), (false, cut_trailer(file))] {
        let recording = Recording::from_bytes(file).unwrap();
        assert_eq!(recording.damage().is_none(), is_whole);
        assert_eq!(recording.snapshot_ids().count(), 0);
        assert_eq!(recording.tables().unwrap().string(StringId(1)), "a");
        let found = verify(&recording, &Silent).unwrap();
        assert_eq!(found.problems.len(), usize::from(!is_whole), "{found:?}");
    }
}

/// A commit of a later version may have records that this reader does not know.
#[test]
fn commit_records_of_the_future() {
    let _alone = alone();
    // Kind, length, bytes. Even kinds may be skipped.
    let parts = Parts { records: vec![2, 3, 20, 1, 64, 200, 1, 0], ..Parts::default() };
    let file = Forge::file(&parts);
    assert_eq!(complaints(file.clone()), [""; 0]);
    let plain = Recording::from_bytes(Forge::file(&Parts::default())).unwrap();
    let found = Recording::from_bytes(file).unwrap();
    let totals = |recording| summary(recording, SnapshotId(0)).unwrap().totals;
    assert_eq!(totals(&found), totals(&plain));

    let file = Forge::file(&Parts { records: vec![3, 0], ..Parts::default() });
    let expected = "commit record 3 must not be skipped and is unknown; update barrow";
    for file in [file.clone(), cut_trailer(file)] {
        let found = complaints(file);
        assert!(found.iter().any(|found| found.contains(expected)), "{found:?}");
    }
    let file = Forge::file(&Parts { records: vec![2, 9], ..Parts::default() });
    assert!(complaints(file).iter().any(|found| found.contains("commit needs 9 bytes")));
}

/// A column of a later version, of a codec that this reader does not know.
#[test]
fn columns_of_the_future() {
    let _alone = alone();
    let with = |flags| {
        let unknown = Column { flags, codec: 7, ..Column::new(ColumnId(40), &[1, 2, 3]) };
        let mut parts = Parts::default();
        parts.blocks[0].columns.push(unknown);
        Forge::file(&parts)
    };
    assert_eq!(complaints(with(0)), [""; 0]);
    let found = complaints(with(2));
    let expected = "column 40 must not be skipped and is unknown; update barrow";
    assert!(found.iter().any(|found| found.contains(expected)), "{found:?}");
}

/// Rows of a later version, which have fields that this reader does not know: each has its length before it.
#[test]
fn fields_of_the_future() {
    let _alone = alone();
    let more = |raw: &[u8], first: u64, flags: u64| {
        let mut directory = directory(0, raw.len() as u64, first, 1);
        *directory.last_mut().unwrap() = flags as u8;
        (directory, raw.to_vec())
    };
    let mut parts = Parts::default();
    let (directory, body) = more(&[9, 5, b'n', b'a', b'm', b'e', b's', 1, 2, 3], 3, 1);
    parts.frames.push((SectionType::STRINGS, CRITICAL, directory, body));
    let (directory, body) = more(&[9, 0, 2, 0, 0, 0, 0, 0, 77, 78], 1, 1);
    parts.frames.push((SectionType::TYPES, CRITICAL, directory, body));
    let (directory, body) = more(&[10, 5, 0, 0, 0, 0, 0, 0, 0, 99, 99], 0, 1);
    threads(&mut parts, directory, body);
    parts.commit = Box::new(|commit| {
        commit.tables.strings += 1;
        commit.tables.types += 1;
    });
    let file = Forge::file(&parts);
    for file in [file.clone(), cut_trailer(file.clone())] {
        let recording = Recording::from_bytes(file).unwrap();
        assert_eq!(recording.tables().unwrap().string(StringId(3)), "names");
        assert_eq!(recording.tables().unwrap().type_name(TypeId(1)), "T");
        assert_eq!(Threads::read(&recording, SnapshotId(0)).unwrap().rows()[0].id, 5);
    }
    assert_eq!(complaints(file), [""; 0]);

    let (directory, body) = more(&[4, b'm', b'o', b'r', b'e'], 3, 2);
    let mut parts = Parts::default();
    parts.frames.push((SectionType::STRINGS, CRITICAL, directory, body));
    let found = complaints(Forge::file(&parts));
    assert!(found.iter().any(|found| found.contains("flags of a table chunk is 2, the limit is 1")), "{found:?}");
}

/// A recording may have site numbers and no table: then a site is known by its number only, and that is no error.
#[test]
fn site_numbers_without_a_table() {
    let _alone = alone();
    let mut parts = Parts::default();
    parts.blocks[0].columns.push(Column::new(ColumnId::SITE, &[7, u64::from(u32::MAX)]));
    let file = Forge::file(&parts);
    assert_eq!(complaints(file.clone()), [""; 0]);
    let recording = Recording::from_bytes(file).unwrap();
    let found = object(&recording, SnapshotId(0), ObjectId(1)).unwrap();
    assert_eq!(found.site, Some(SiteId(u32::MAX)));
    assert_eq!(recording.site(SiteId(u32::MAX)).unwrap(), None);
}

#[test]
fn names_that_lie() {
    let _alone = alone();
    for (expected, codes) in [
        ("name of an object is 3, the limit is 3", [1 + 6, 0]),
        ("name of an object is 4294967295, the limit is 3", [1 + 2 * u64::from(u32::MAX), 0]),
        ("difference of names", [1 + 1, 0]),
        ("difference of names", [1 + 4, 1 + 5]),
        ("difference of names", [u64::MAX, 0]),
        ("difference of names", [1 + (1 << 33), 0]),
    ] {
        assert_refused(expected, |parts| {
            let flags = u64::from(codes.iter().any(|&code| code >> 32 != 0));
            parts.blocks[0].columns.push(Column { flags, ..Column::new(ColumnId::NAME, &codes) });
        });
    }
    assert_refused("column NAME", |parts| parts.blocks[0].columns.push(Column::new(ColumnId::NAME, &[1, 1, 1])));
    let mut parts = Parts::default();
    parts.blocks[0].columns.push(Column::new(ColumnId::NAME, &[1 + 4, 1 + 3]));
    assert_eq!(complaints(Forge::file(&parts)), [""; 0]);
}

fn cut_trailer(mut file: Vec<u8>) -> Vec<u8> {
    file.truncate(file.len() - 1);
    file
}

/// Changes every byte of every payload to other values, with valid checksums.
#[test]
fn any_byte_may_lie() {
    let _alone = alone();
    let mut parts = Parts::default();
    parts.blocks[1] = with_references(
        2,
        &[0, 8, 1],
        vec![
            Column::new(ColumnId::COUNT, &[1, 1, 1]),
            Column::new(ColumnId::LABELS, &[0, 1 << 6 | 1, NAME.0]),
            Column::new(ColumnId::ADDRESS, &[1 << 40, 16, 0]),
            Column::new(ColumnId::NAME, &[3, 0, 1]),
        ],
    );
    parts.blocks.push(Block::continuation(4, 2, 3));
    let site = Site { line: Some(3), caller: Some(SiteId(1)), ..Site::default() };
    let (directory, body) = chunk(0, &[Site { file: Some(StringId(1)), ..Site::default() }, site]);
    parts.frames.push((SectionType::SITES, 0, directory, body));
    let file = Forge::file(&parts);
    assert_eq!(complaints(file.clone()), [""; 0]);
    for byte in HEADER_BYTES..file.len() {
        for value in [0, 0x7f, 0xff, file[byte] ^ 1] {
            let mut changed = file.clone();
            changed[byte] = value;
            seal(&mut changed);
            complaints(changed);
        }
    }
}

/// A block of another recording with the same uuid and the same commit. Its own checksums are valid, and it can be
/// decoded.
#[test]
fn a_block_of_another_recording_is_noticed() {
    let _alone = alone();
    let file = |target| {
        let mut parts = Parts::default();
        let columns = [(ColumnId::COUNT, [1, 1, 1]), (ColumnId::LABELS, [NAME.0; 3])];
        let columns = columns.iter().map(|(id, values)| Column::new(*id, values)).collect();
        parts.blocks[1] = with_references(2, &[0, 8, target], columns);
        Forge::file(&parts)
    };
    let (one, other) = (file(1), file(5));
    assert_eq!((complaints(one.clone()), complaints(other.clone())), (Vec::new(), Vec::new()));
    assert_eq!(one.len(), other.len());
    let commit = frame_of(&one, SectionType::COMMIT);
    let mut mixed = one.clone();
    mixed[..commit].copy_from_slice(&other[..commit]);
    assert_ne!(mixed, one);
    let [complaint] = &complaints(mixed)[..] else { panic!("one complaint") };
    let expected = format!("snapshot 0: COMMIT at byte {commit}: its checksum over the frames from byte 64 on is ");
    assert!(complaint.starts_with(&expected), "{complaint}");
}

/// The offset of the first frame of this type.
fn frame_of(file: &[u8], section: SectionType) -> usize {
    let mut offset = HEADER_BYTES as u64;
    loop {
        let frame = Frame::parse(file, offset).expect("a whole file");
        if frame.header.section == section {
            return offset as usize;
        }
        offset = frame.end();
    }
}

/// Recomputes the checksums of all frames. Those of columns are taken from their directory.
fn seal(file: &mut [u8]) {
    let mut offset = HEADER_BYTES;
    while let Some(frame) = file.get_mut(offset..).filter(|rest| rest.starts_with(b"BrwF")) {
        let field = |at: usize, length: usize| {
            frame[at..at + length].iter().rev().fold(0usize, |value, &byte| value << 8 | usize::from(byte))
        };
        let (payload, directory, section) = (field(16, 8), field(24, 4), field(4, 2));
        let Some(length) = payload.checked_add(FRAME_HEADER_BYTES).map(|length| length.next_multiple_of(8)) else {
            return;
        };
        if length > frame.len() || directory > payload {
            return;
        }
        let (header, rest) = frame.split_at_mut(FRAME_HEADER_BYTES);
        let (directory, body) = rest[..payload].split_at(directory);
        header[28..32].copy_from_slice(&crc32c(directory).to_le_bytes());
        let is_block = section == usize::from(SectionType::BLOCK.0);
        let body_crc = if is_block { 0 } else { crc32c(body) };
        header[32..36].copy_from_slice(&body_crc.to_le_bytes());
        let crc = crc32c(&header[..36]);
        header[36..].copy_from_slice(&crc.to_le_bytes());
        offset += length;
    }
}

/// Checks the limits of this test against what files really take.
#[test]
fn memory_of_an_honest_file() {
    let _alone = alone();
    let file = Forge::file(&Parts::default());
    let (peak, found) = peak_bytes(|| ask(file));
    assert_eq!(found, [""; 0]);
    assert!(peak < 8 << 20, "{peak}");
}
