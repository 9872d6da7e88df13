//! Ruby's dumps: what becomes of each field, and what is refused.

use crate::dumps::{RUBY_31, RUBY_34};
use crate::recorded::{record, record_bytes, record_file};
use barrow_analyzer::{Expression, KindRole, Silent, TypeTotals};
use barrow_importers::{Damage, ImportError};
use std::collections::BTreeMap;
use std::process::Command;

#[test]
fn every_field_has_its_place() {
    let recorded = record(RUBY_31).expect("a whole dump");
    assert_eq!(recorded.imported.format.key(), "ruby");
    assert_eq!(recorded.imported.lost, None);
    let expected = r##"
class Class 40+504 @0x7f10 "Card" [class 2, superclass 1, ? 4]
class Class 40+560 @0x7f38 "Object" [class 3]
class Class 40+504 @0x7f60 "#<Class:Card>" [class 3, ? 0]
class Class 40+460 @0x7f88 "Class" [class 2]
string String 40+48 @0x7fb0 "späte \"Karte\"" at new (a.rb:12) [class 5]
class Class 40+0 @0x7fd8 "String" [class 2]
object Card 40+0 @0x8000 at new (a.rb:12) [class 0, ? 4, ? 4]
hash #<Class:0x0000000000008050> 40+128 @0x8028 at a.rb:14 [class 8, ? 6, default 9]
class Class 40+0 @0x8050 "#<Class:0x0000000000008050>" [class 2, superclass 10]
data Object (proc) 40+40 @0x8078 "proc" [class 1, ? 6]
iclass Kernel 40+0 @0x80a0 [class 11, superclass 1]
module Class 40+0 @0x80c8 "Kernel" [class 2]
imemo callcache 40+0 @0x80f0 [weak ? 4]
imemo cref 40+0 @0x8118 [? 0]
array (hidden) 40+0 @0x8140 []
data autoload_const (autoload_const) 40+64 @0x8168 []
zombie (hidden) 40+0 @0x8190 []
"##;
    assert_eq!(recorded.text(), expected.trim_start());
    assert_eq!(recorded.roots(), ["vm ? 0", "vm ? 1", "global_tbl ? 4"]);
    assert_eq!(
        recorded.imported.notes,
        [
            "2 references lead to addresses that are not in the dump and were left out",
            "1 free slots were left out",
            "objects of which the dump tells no size, counted with 40 B each: 1",
        ]
    );
    assert_eq!(recorded.role("class"), KindRole::Type);
    assert_eq!(recorded.role("string"), KindRole::Object);
}

#[test]
fn sites_of_one_place_differ_in_the_generation() {
    let heap = record(RUBY_31).expect("a whole dump").into_heap();
    let objects = |totals: BTreeMap<Option<u64>, TypeTotals>| -> Vec<(Option<u64>, u64)> {
        totals.into_iter().map(|(generation, sum)| (generation, sum.objects)).collect()
    };
    let all = objects(heap.generation_totals(None, &Silent).expect("totals"));
    assert_eq!(all, [(None, heap.object_count() - 3), (Some(18), 1), (Some(19), 2)]);
    let retained = heap.retained_by_generation(&Silent).expect("retained sizes");
    let generations: Vec<Option<u64>> = retained.iter().map(|&(generation, _)| generation).collect();
    assert_eq!(generations, [None, Some(18), Some(19)]);
    // Twice `new` in line 12, once line 14.
    let totals = heap.site_totals(&Silent).expect("totals");
    let counts: Vec<u64> = totals.iter().map(|(_, sum)| sum.objects).collect();
    assert_eq!(counts, [heap.object_count() - 3, 2, 1]);
    let place = totals[1].0;
    let own = objects(heap.generation_totals(Some(place), &Silent).expect("totals"));
    assert_eq!(own, [(Some(18), 1), (Some(19), 1)]);
    let count = |text: &str| {
        let expression = Expression::parse(text).expect("an expression");
        heap.select(&[], &expression, &Silent).expect("objects").0.len()
    };
    assert_eq!([count("generation = 19"), count("generation < 19"), count("generation != 19")], [2, 1, 1]);
    assert_eq!(count(&format!("site = {place}")), 2);
}

#[test]
fn shapes_name_instance_variables() {
    let recorded = record(RUBY_34).expect("a whole dump");
    let expected = r##"
shape ROOT 0+168 @0x9000 []
shape T_OBJECT 0+72 @0x9018 []
shape IVAR 0+24 @0x9030 "@left" [parent 1]
shape IVAR 0+24 @0x9048 "@right" [parent 2]
shape FROZEN 0+24 @0x9060 [parent 3]
class Class 160+88 @0x30010 "Pair" [class 6]
class Class 160+0 @0x300b0 "Class" [class 6]
object Pair 40+0 @0x30150 [class 5, shape 4, @left 8, @right 7]
object Pair 40+0 @0x30178 [class 5, shape 3, ? 7]
imemo ment 40+48 @0x301a0 "read" []
"##;
    assert_eq!(recorded.text(), expected.trim_start());
    // Of the second pair, one variable holds no object, and it is not said which.
    assert_eq!(recorded.role("shape"), KindRole::Type);
}

#[test]
fn whitespace_and_order_do_not_matter() {
    let dump = "\n{ \"type\" : \"ROOT\",\"references\":[ \"0x10\" ], \"root\":\"vm\"}\r\n\n{\"memsize\":50,\"type\":\"STRING\",\"address\":\"0x10\"}\t";
    let recorded = record(dump).expect("a whole dump");
    assert_eq!(recorded.lines(), ["string (hidden) 40+10 @0x10 []"]);
    assert_eq!(recorded.roots(), ["vm ? 0"]);
}

#[test]
fn odd_objects_are_recorded() {
    let dump = r#"{"address":"0x10", "type":"STRING", "memsize":7, "references":[]}
{"address":"0x10", "type":"NEW_TYPE", "references":["0x10", "0x10"], "memsize":null}
{"address":"0x0", "type":"OBJECT", "class":5, "shape_id":77, "slot_size":80}
"#;
    let recorded = record(dump).expect("a whole dump");
    assert_eq!(
        recorded.lines(),
        ["string (hidden) 7+0 @0x10 []", "new_type (hidden) 40+0 @0x10 [? 0, ? 0]", "object (hidden) 80+0 []"]
    );
    let note = "1 objects have the address of an earlier object; references to it lead to the earlier one";
    let unsized_one = "objects of which the dump tells no size, counted with 40 B each: 1";
    assert_eq!(recorded.imported.notes, [note, unsized_one]);
}

/// `obj_info` of Ruby up to 3.1 writes file names with quotes, and names that are not ASCII, without escapes.
#[test]
fn a_line_that_is_no_json_is_left_out_with_its_place() {
    let whole = record(RUBY_31).expect("a whole dump").totals().objects;
    let third = RUBY_31.match_indices('\n').nth(1).expect("three lines").0 + 1;
    for (line, message) in [
        (r#"{"address":"0x7f10", "type":"CLASS", oops}"#, "at its byte 37 a string is expected"),
        (r#"{"address":"0x7f10", "type":"CLASS""#, "at its byte 35 a comma or the end of an object is expected"),
        (r#"{"address":"0x7f10", "type":"CLA"#, "it ends inside a string"),
        (
            r#"{"address":"0x7f10", "references":["0x10" "0x20"]}"#,
            "at its byte 43 a comma or the end of an array is expected",
        ),
        (r#"{"address":"0x7f10", "references":[16]}"#, "at its byte 37 an address before this is expected"),
        (r#"{"address":"0x7f10"} {}"#, "at its byte 22 the end of the line is expected"),
    ] {
        let (before, after) = RUBY_31.split_at(third);
        let (_, after) = after.split_once('\n').expect("a line");
        let dump = format!("{before}{line}\n{after}");
        let recorded = record(&dump).expect("the other lines");
        let lost = recorded.imported.lost.clone().expect("a line");
        assert!(matches!(lost.damage, Damage::LeftOut { count: 1, offset, .. } if offset == third as u64), "{lost}");
        let place = format!("1 line was left out, {} bytes in all; the first is at byte {third}: ", line.len());
        let text = lost.to_string();
        assert!(
            text.starts_with(&place) && text.ends_with(&format!("{message}; everything else was imported")),
            "{text}"
        );
        // The third line is that of `Card`.
        assert_eq!(recorded.totals().objects, whole - 1);
    }
    let recorded = record("{\"address\":\"0x10\", \"type\":\"STRING\"}\n{\"a\":1}\n{").expect("one object");
    assert_eq!(
        recorded.imported.lost.expect("a line").to_string(),
        "1 line was left out, 7 bytes in all; the first is at byte 36: \"{\\\"a\\\":1}\" at byte 36, expected an object \
         with its address, or roots; the dump ends at byte 45 inside a line; everything else before that was imported"
    );
    assert!(record("{\"address\":\"0x10\", \"type\":\n").is_err(), "nothing is left");
}

/// A program that appends each dump to the one before: `ObjectSpace.dump_all(output: File.open(name, "a"))`.
#[test]
fn several_dumps_in_one_file_are_a_series() {
    let [one, other] = [RUBY_31, RUBY_34].map(|dump| record(dump).expect("a whole dump").totals());
    let both = record(&[RUBY_31, RUBY_34, RUBY_31].concat()).expect("whole dumps");
    assert_eq!(both.imported.snapshots, [one, other, one]);
    assert_eq!(both.imported.lost, None);
    let (first, rest) = RUBY_34.split_once("\"name\":\"Pair\"").expect("a class");
    let oops = [RUBY_31, first, "oops", rest].concat();
    let damaged = record(&oops).expect("dumps");
    assert_eq!(damaged.imported.snapshots[0], one);
    assert_eq!(damaged.imported.snapshots[1].objects, other.objects - 1);
    let lost = damaged.imported.lost.expect("a line").to_string();
    let line = RUBY_31.len() + first.rfind('\n').expect("lines") + 1;
    assert!(lost.contains("1 line was left out") && lost.contains(&format!("at byte {line}:")), "{lost}");
    let notes = &both.imported.notes;
    assert!(notes.iter().all(|note| note.starts_with("heap dump ")), "{notes:?}");
    // Cut after the roots of the second one: they are none of the first.
    let roots = RUBY_34.split_inclusive('\n').next().expect("roots");
    let cut = record(&[RUBY_31, roots].concat()).expect("the first");
    assert_eq!(cut.imported.snapshots, [one]);
    let lost = cut.imported.lost.expect("the second").to_string();
    assert!(lost.contains("without the objects of its last heap dump"), "{lost}");
    // Cut in the second one, which then has fewer objects.
    let cut = record(&oops[..RUBY_31.len() + first.len() - 30]).expect("the first");
    assert_eq!(cut.imported.snapshots[0], one);
    assert!(cut.imported.lost.is_some());
}

#[test]
fn sizes_that_no_memory_has_are_refused() {
    let line = |bytes: u64| format!("{{\"address\":\"0x10\", \"type\":\"STRING\", \"memsize\":{bytes}}}\n");
    let half = i64::MAX as u64 / 2 + 1;
    assert!(record(&line(half)).is_ok());
    for dump in [line(u64::MAX), line(half) + &line(half)] {
        let Err(ImportError::NoWholeSnapshot { damage }) = record(&dump).map(drop) else { panic!("it was read") };
        assert!(matches!(damage, Damage::OutOfRange { .. }), "{damage}");
    }
}

#[test]
fn an_object_without_end_takes_no_more_memory_than_its_line() {
    let deep = format!("{{\"address\":\"0x10\", \"type\":\"STRING\", \"x\":{}", "[".repeat(1 << 20));
    let Err(error) = record_bytes(format!("{deep}\n").as_bytes(), 2).map(drop) else { panic!("it was read") };
    assert!(error.to_string().contains("values that nest less deeply"), "{error}");
}

/// Their names compress a hundredfold.
#[test]
fn many_strings_that_are_nearly_equal() {
    use std::fmt::Write;
    let text = |number: u32| format!("{number:08}{}", " row of a table".repeat(20));
    let mut dump = r#"{"type":"ROOT", "root":"vm", "references":["0x10000"]}"#.to_owned() + "\n";
    dump += r#"{"address":"0x8000", "type":"CLASS", "class":"0x8000", "name":"String", "memsize":40}"#;
    for number in 0..100_000 {
        let (address, value) = (0x10000 + 40 * number, text(number));
        let line = r#""type":"STRING", "class":"0x8000", "#;
        writeln!(dump).expect("a line");
        write!(dump, r#"{{"address":"{address:#x}", {line}"bytesize":308, "value":"{value}", "memsize":350}}"#)
            .expect("a line");
    }
    dump += "\n";
    let recorded = record(&dump).expect("a whole dump");
    assert!(recorded.recording.length_bytes() < 1 << 20, "{}", recorded.recording.length_bytes());
    assert_eq!(barrow_analyzer::verify(&recorded.recording, &Silent).expect("verified").problems, []);
    let heap = recorded.into_heap();
    let texts = heap.texts(None, &Silent).expect("texts").found;
    assert_eq!(texts.len(), 100_000);
    let tables = heap.recording().tables().expect("tables");
    assert!(texts.iter().any(|of| tables.string(of.text).starts_with("00099999 row")));
}

/// Prints what Ruby says of strings, arrays and hashes, after a dump with them.
const PROGRAM: &str = r##"
require "objspace"
GC.disable
held = [
  "", "ascii", "späte Karte", "a" * 1000, "é" * 500, "a".b * 300, "\xff\x00\xfe".b, "b" * 23, "c" * 24,
  "abc".encode("UTF-16LE"), "abc".encode("US-ASCII"), "caf\xe9".dup.force_encoding("ISO-8859-1"), "\xff broken",
  String.new(capacity: 5000), String.new("text", capacity: 300), ("long " * 100)[10..], :"symbol #{1}", :"späte #{2}",
  [], [1, 2, 3], Array.new(1000) { |number| number }, {}, { one: 1 }, (0...500).to_h { |number| [number, number] },
]
held << (held[3] + "").tap { |text| text.valid_encoding? } << "äö".dup.tap { |text| text.ascii_only? }
File.open(ARGV[0], "w") { |file| ObjectSpace.dump_all(output: file) }
held.each do |value|
  puts "#{ObjectSpace.dump(value)[/0x\h+/]} length #{value.length}"
  next unless value.is_a?(String)
  puts "#{ObjectSpace.dump(value)[/0x\h+/]} bytesize #{value.bytesize}"
  puts "#{ObjectSpace.dump(value)[/0x\h+/]} encoding #{value.encoding.name}"
end
puts "#{ObjectSpace.dump(held[13])[/0x\h+/]} capacity 5000"
"##;

#[test]
fn values_are_those_that_the_program_prints() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let dump = folder.path().join("program.jsonl");
    let Ok(output) = Command::new("ruby").args(["--disable-gems", "-Ku", "-e", PROGRAM]).arg(&dump).output() else {
        println!("skipped: no ruby");
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).expect("text");
    let columns: BTreeMap<&str, _> = ["length", "bytesize", "capacity", "encoding"]
        .map(|field| (field, record_file(&dump, 2).expect("a whole dump").held(&format!(".{field}"))))
        .into();
    let (mut known, mut unknown) = (0, 0);
    for line in printed.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let address = u64::from_str_radix(&words[0][2..], 16).expect("an address");
        match columns[words[1]].get(&address).map(String::as_str) {
            Some("unknown") => unknown += 1,
            found => {
                known += 1;
                assert_eq!(found, Some(words[2]), "{line}");
            }
        }
    }
    assert!(known > 50 && unknown < 15, "{known} known, {unknown} unknown");
}
