//! Dumps inside gzip, zstd, bzip2, xz and zip archives.

use barrow_importers::{Damage, ImportError, ImportOptions, Imported, Silent, import};
use barrow_writer::{Options, Writer};
use std::io::Write;
use std::path::Path;

const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/foreign/moarvm-2-nqp.mvmheap.zst");

fn imported(path: &Path) -> Result<Imported, ImportError> {
    let writer = Writer::to_stream(Box::new(std::io::sink()), Options::default()).expect("a sink");
    import(path, &writer, &ImportOptions::default(), &Silent)
}

/// The file of these bytes, imported.
fn imported_bytes(bytes: &[u8]) -> Result<Imported, ImportError> {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(bytes).expect("written");
    imported(file.path())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(bytes).expect("written to memory");
    gzip.finish().expect("finished")
}

#[test]
fn both_compressions_are_seen_through() {
    let zstd = imported(Path::new(SAMPLE)).expect("a whole dump");
    let dump = zstd::decode_all(std::fs::File::open(SAMPLE).expect("the sample")).expect("a whole stream");
    let gzip = imported_bytes(&gzip(&dump)).expect("a whole dump");
    let plain = imported_bytes(&dump).expect("a whole dump");
    for imported in [zstd, gzip] {
        assert_eq!(imported.format.key(), "moarvm-2");
        assert_eq!(imported.snapshots, plain.snapshots);
        assert_eq!(imported.lost, None);
    }
}

#[test]
fn a_cut_stream_gives_what_is_whole() {
    let dump = zstd::decode_all(std::fs::File::open(SAMPLE).expect("the sample")).expect("a whole stream");
    let packed = gzip(&dump);
    let cut = imported_bytes(&packed[..packed.len() * 3 / 4]).expect("a whole snapshot");
    assert_eq!(cut.snapshots.len(), 1);
    let lost = cut.lost.expect("a loss").to_string();
    assert!(lost.contains("the gzip stream is cut or damaged after"), "{lost}");
    // Only the checksum is missing.
    let cut = imported_bytes(&packed[..packed.len() - 5]).expect("two whole snapshots");
    assert_eq!(cut.snapshots.len(), 2);
    let damage = cut.lost.expect("a loss").damage;
    assert!(matches!(damage, Damage::Unpack { packing: "gzip", .. }), "{damage}");
}

#[test]
fn packed_nonsense_is_an_error() {
    assert!(matches!(imported_bytes(&gzip(b"nothing of the kind")), Err(ImportError::Unrecognised { .. })));
    let told = cause(&[0x1f, 0x8b, 8, 0, 1, 2, 3]);
    assert!(told.starts_with("this is packed by gzip, and nothing of it can be unpacked: "), "{told}");
    assert!(matches!(imported_bytes(b""), Err(ImportError::Unrecognised { .. })));
}

/// The file of these bytes, imported with a limit for what it unpacks to.
fn imported_with_limit(bytes: &[u8], max_unpacked: u64) -> Result<Imported, ImportError> {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(bytes).expect("written");
    let writer = Writer::to_stream(Box::new(std::io::sink()), Options::default()).expect("a sink");
    let options = ImportOptions { max_unpacked: Some(max_unpacked), ..ImportOptions::default() };
    import(file.path(), &writer, &options, &Silent)
}

#[test]
fn what_is_no_dump_is_not_unpacked_to_its_end() {
    let zeros = vec![0; 64 << 20];
    for begin in [
        &b"JAVA PROFILE 1.0.2\0\0\0\0\x08\0\0\0\0\0\0\0\x01"[..],
        b"MoarHeapDumpv002",
        b"MoarHeapDumpv003",
        b"snapshot 0\n",
        b"{\"snapshot\":{",
        b"{\"address\":\"0x10\", \"type\":\"STRING\"}\n",
        b"{\"barrow\":\"python heap\"}\n",
        b"<kleknevMagicNumber />\n<e>",
        b"# ninja log v6\n0\t1\t0\ta\t1\n",
        b"{\"otherData\":{\"build_id\":\"a\",\"output_base\":\"/b\"},\"traceEvents\":[\n",
        b"7 1795429206.866250 execve(\"/usr/bin/make\", [\"make\"], 0x7ffe) = 0\n",
        b"nothing of the kind",
    ] {
        let bomb = [begin, &zeros].concat();
        for packed in [zstd::encode_all(&bomb[..], 1).expect("packed"), gzip(&bomb)] {
            let unpacked = imported_with_limit(&packed, 4 << 20);
            let is_limit = matches!(unpacked, Err(ImportError::UnpacksToMore { .. }));
            assert!(!is_limit, "{}: {unpacked:?}", begin.escape_ascii());
        }
    }
}

#[test]
fn what_unpacks_to_more_than_the_limit_is_refused() {
    let dump = zstd::decode_all(std::fs::File::open(SAMPLE).expect("the sample")).expect("a whole stream");
    let (packed, length) = (gzip(&dump), dump.len() as u64);
    assert_eq!(imported_with_limit(&packed, length).expect("a whole dump").snapshots.len(), 2);
    let refused = imported_with_limit(&packed, length - 1).expect_err("too long").to_string();
    assert!(refused.contains("--max-unpacked"), "{refused}");
}

#[test]
fn a_damaged_dump_gives_everything_before_the_damage() {
    let line = "{\"address\":\"0x10\", \"type\":\"STRING\", \"memsize\":40}\n".repeat(10_000);
    let damaged = [line.as_bytes(), &[0; 32 << 20]].concat();
    let imported = imported_with_limit(&gzip(&damaged), 8 << 20).expect("everything before the damage");
    let lost = imported.lost.expect("a loss");
    assert!(matches!(lost.damage, Damage::Screened { .. }) && lost.is_last_partial, "{lost}");
    assert_eq!(imported.snapshots[0].objects, 10_000);
}

/// Packed by the modules `bz2`, `lzma` and `zipfile` of Python: the dump of two heap dumps of `testdata/foreign/jvm`.
#[test]
fn what_other_tools_packed_is_the_same_dump() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let plain = imported(&folder.join("../testdata/foreign/jvm/damaged/two_dumps_0c.hprof")).expect("a whole dump");
    for name in [
        "one.bz2",
        "two.bz2",
        "one.xz",
        "two.xz",
        "padded.xz",
        "deflated.zip",
        "stored.zip",
        "zip64.zip",
        "descriptor.zip",
    ] {
        let packed = imported(&folder.join("tests/packed").join(name)).expect(name);
        assert_eq!((packed.format, packed.snapshots), (plain.format, plain.snapshots.clone()), "{name}");
        assert_eq!(packed.lost.map(|lost| lost.to_string()), plain.lost.as_ref().map(ToString::to_string), "{name}");
    }
}

/// A file of `tests/packed`.
fn packed(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/packed").join(name)).expect("a file")
}

/// Why a file of these bytes cannot be opened.
fn cause(bytes: &[u8]) -> String {
    match imported_bytes(bytes) {
        Err(ImportError::Open { source, .. }) => source.to_string(),
        other => panic!("{other:?}"),
    }
}

/// `encrypted.zip` is made by Info-ZIP's `zip -P`, the others by Python's `zipfile`.
#[test]
fn other_zip_archives_are_refused_with_what_they_hold() {
    let several = cause(&packed("several.zip"));
    assert!(several.contains(r#"several files, "a\u{1b}[31m", "b", "c" and 2 more"#), "{several}");
    assert!(cause(&packed("none.zip")).contains("holds no file"));
    assert!(cause(&packed("lzma.zip")).contains("not packed by deflate"));
    assert!(cause(&packed("encrypted.zip")).contains("encrypted"));
}

#[test]
fn a_cut_zip_archive_gives_what_is_whole() {
    let whole = packed("deflated.zip");
    let directory = whole.windows(4).position(|four| four == b"PK\x01\x02").expect("a directory");
    let mut recovered = Vec::new();
    for length in 4..whole.len() {
        match imported_bytes(&whole[..length]) {
            Ok(imported) => {
                assert!(imported.lost.is_some(), "{length}");
                recovered.push(imported.snapshots.iter().map(|snapshot| snapshot.objects).collect::<Vec<_>>());
            }
            Err(error) => assert!(length < directory, "{length}: {error}"),
        }
    }
    // The dump holds two, of 16 and 19 objects: all of it is there as soon as only the directory is missing.
    assert_eq!(recovered.last().map(Vec::as_slice), Some(&[16, 19][..]), "{recovered:?}");
    let stored = packed("stored.zip");
    assert!(cause(&stored[..stored.len() - 30]).contains("damaged"));
}

#[test]
fn what_cannot_be_unpacked_is_said() {
    for (name, packing) in [("one.bz2", "bzip2"), ("one.xz", "xz")] {
        let mut bytes = packed(name);
        // In the first block.
        bytes[30] ^= 0xff;
        let told = cause(&bytes);
        assert!(
            told.starts_with(&format!("this is packed by {packing}, and nothing of it can be unpacked: ")),
            "{told}"
        );
    }
    // Python's `lzma` with a dictionary of 384 MiB; `xz --list -vv` says that 385 MiB are needed.
    let told = cause(&packed("large_dictionary.xz"));
    assert!(told.ends_with("it needs more than 256 MiB of memory"), "{told}");
}

/// A dump that is packed in two streams or blocks, the second of them damaged.
#[test]
fn damage_behind_the_first_stream_leaves_what_is_before_it() {
    let line = "{\"address\":\"0x10\", \"type\":\"STRING\", \"memsize\":40}\n".repeat(100);
    let bzip2 = |text: &str| {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        encoder.write_all(text.as_bytes()).expect("written to memory");
        encoder.finish().expect("finished")
    };
    let (first, mut second) = (bzip2(&line), bzip2(&line));
    second[20] ^= 0xff;
    let imported = imported_bytes(&[first, second].concat()).expect("the first stream");
    assert_eq!(imported.snapshots[0].objects, 100);
    let damage = imported.lost.expect("a loss").damage;
    assert!(
        matches!(damage, Damage::Unpack { packing: "bzip2", unpacked_bytes, .. } if unpacked_bytes == line.len() as u64),
        "{damage}"
    );
}

/// A line that is none is the smaller loss: the stream's is said as well.
#[test]
fn damage_of_a_stream_is_said_beside_lines_that_are_none() {
    let line = "{\"address\":\"0x10\", \"type\":\"STRING\", \"memsize\":40}\n";
    let text = [line, "oops\n", &line.repeat(2999)].concat();
    let packed = gzip(text.as_bytes());
    let mut wrong_sum = packed.clone();
    wrong_sum[packed.len() - 6] ^= 1;
    for (packed, objects) in
        [(&packed[..packed.len() - 20], None), (&packed[..packed.len() - 5], Some(3000)), (&wrong_sum, Some(3000))]
    {
        let imported = imported_bytes(packed).expect("objects");
        assert!(objects.is_none_or(|objects| imported.snapshots[0].objects == objects));
        let lost = imported.lost.expect("two losses").to_string();
        let [line, stream] = ["1 line was left out, 4 bytes in all", "the gzip stream is cut or damaged after"];
        assert!(lost.starts_with(line) && lost.contains(stream), "{lost}");
    }
}

#[test]
fn a_wrong_checksum_of_an_archive_is_said() {
    let mut whole = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/packed/stored.zip")).unwrap();
    // The last byte of the dump, before the directory: a length of the record that ends it.
    let directory = whole.windows(4).position(|four| four == b"PK\x01\x02").expect("a directory");
    whole[directory - 1] ^= 1;
    let lost = imported_bytes(&whole).expect("the snapshots before it").lost.expect("a loss").to_string();
    assert!(lost.contains("checksum"), "{lost}");
}
