//! Every row of the table of importers is documented, and has a sample that only it recognises.

use std::collections::HashSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use barrow_importers::{FORMATS, FormatOptions, Holds, ImportOptions, Silent, first_bytes, import, recognise};
use barrow_writer::{Options, Writer};

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

fn read(path: &str) -> String {
    fs::read_to_string(repository(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn keys_and_names_are_unique() {
    let keys: HashSet<_> = FORMATS.iter().map(|format| format.key()).collect();
    let names: HashSet<_> = FORMATS.iter().map(ToString::to_string).collect();
    assert_eq!((keys.len(), names.len()), (FORMATS.len(), FORMATS.len()));
}

#[test]
fn every_format_is_documented() {
    let document = read("docs/imports.md");
    for format in FORMATS {
        let heading = format!("## {}", format.heading());
        assert!(
            document.lines().any(|line| line == heading),
            "docs/imports.md has no section {heading:?} for {format}"
        );
    }
}

#[test]
fn every_format_has_a_sample_with_its_origin() {
    let origins = read("testdata/foreign/README.md");
    for format in FORMATS {
        let sample = repository("testdata/foreign").join(format.sample());
        let mut file = File::open(&sample).unwrap_or_else(|error| panic!("{}: {error}", sample.display()));
        let found = recognise(&first_bytes(&mut file).expect("readable"));
        assert_eq!(found, Some(*format), "{}", sample.display());
        assert!(
            origins.contains(format.sample()),
            "testdata/foreign/README.md does not tell the origin of {}",
            format.sample()
        );

        let writer = Writer::to_stream(Box::new(std::io::sink()), Options::default()).expect("a sink");
        let imported = import(&sample, &writer, &ImportOptions::default(), &Silent).expect("a dump");
        assert_eq!(imported.format, *format);
        let has_objects = imported.snapshots.iter().any(|totals| totals.objects > 0);
        let holds = [
            (Holds::Snapshots, has_objects),
            (Holds::Processes, imported.processes > 0),
            (Holds::Values, imported.values > 0),
        ];
        for (kind, is_there) in holds {
            assert_eq!(is_there, format.holds() == kind, "{kind:?} in {}", sample.display());
        }
    }
}

#[test]
fn every_option_of_a_format_is_documented_and_parses() {
    let document = read("docs/imports.md");
    let options: Vec<_> = FORMATS.iter().flat_map(|format| format.options()).collect();
    assert!(!options.is_empty());
    for option in options {
        let flag = format!("--{}", option.name);
        assert!(document.contains(&flag), "docs/imports.md does not mention {flag}");
        (option.set)(option.example, &mut FormatOptions::default()).expect("its own example");
        assert!((option.set)("nonsense", &mut FormatOptions::default()).is_err(), "{flag} accepts nonsense");
    }
}
