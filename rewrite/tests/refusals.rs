//! What cannot be written again is refused with an error that names the cause, and leaves no file.

use std::fs::{self, File};
use std::io::ErrorKind;

use barrow_analyzer::{AnalyzerError, Recording, Silent, verified_summaries};
use barrow_rewrite::{
    RedactOptions, RepackOptions, ResolveOptions, RewriteError, audit, redact, repack, repair, resolve,
};
use barrow_testdata::{LimitedProgress, path};

fn bundled(name: &str) -> Recording {
    Recording::open(&path(name)).unwrap()
}

#[test]
fn the_recording_itself_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("a.barrow");
    fs::copy(path("raku.barrow"), &own).unwrap();
    let recording = Recording::open(&own).unwrap();
    let other_name = folder.path().join(".").join("a.barrow");
    for error in [
        repair(&recording, &other_name, &Silent).unwrap_err(),
        repack(&recording, &other_name, RepackOptions::default(), &Silent).unwrap_err(),
        redact(&recording, &other_name, &RedactOptions::default(), &Silent).unwrap_err(),
    ] {
        assert!(matches!(&error, RewriteError::SameFile { path } if *path == other_name), "{error:?}");
        assert!(error.to_string().ends_with("a.barrow: is the recording itself; choose another name"), "{error}");
    }
    assert_eq!(fs::read(&own).unwrap(), fs::read(path("raku.barrow")).unwrap());
}

#[test]
fn what_is_refused_or_cancelled_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let recording = bundled("raku.barrow");
    let destination = folder.path().join("b.barrow");
    let too_high = repack(&recording, &destination, RepackOptions { level: 23 }, &Silent).unwrap_err();
    assert!(matches!(too_high, RewriteError::Encode { .. }), "{too_high:?}");
    for error in [
        repair(&recording, &destination, &LimitedProgress::new(0)).unwrap_err(),
        repack(&recording, &destination, RepackOptions::default(), &LimitedProgress::new(0)).unwrap_err(),
        redact(&recording, &destination, &RedactOptions::default(), &LimitedProgress::new(0)).unwrap_err(),
        audit(&recording, &LimitedProgress::new(0)).unwrap_err(),
    ] {
        assert!(matches!(error, RewriteError::Cancelled), "{error:?}");
    }
    // What is cut before its first commit holds nothing complete.
    let cut = Recording::from_bytes(fs::read(path("raku.barrow")).unwrap()[..1 << 16].to_vec()).unwrap();
    let error = redact(&cut, &destination, &RedactOptions::default(), &Silent).unwrap_err();
    assert!(matches!(error, RewriteError::NothingComplete), "{error:?}");
    let nowhere = folder.path().join("missing").join("b.barrow");
    let error = repair(&recording, &nowhere, &Silent).unwrap_err();
    assert!(matches!(&error, RewriteError::Io { source, .. } if source.kind() == ErrorKind::NotFound), "{error:?}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_recording_that_cannot_be_read_is_an_error_of_the_analyzer() {
    let error = RewriteError::from(AnalyzerError::TooManyReferences);
    assert!(matches!(&error, RewriteError::Analyzer(AnalyzerError::TooManyReferences)), "{error:?}");
    assert_eq!(error.to_string(), AnalyzerError::TooManyReferences.to_string());
}

#[test]
fn only_addresses_of_the_given_program_are_resolved() {
    let folder = tempfile::tempdir().unwrap();
    let destination = || File::create(folder.path().join("named.barrow")).unwrap();
    let resolved = |name: &str, options: &ResolveOptions| resolve(&bundled(name), destination(), options, &Silent);
    let error = resolved("raku.barrow", &ResolveOptions::default()).unwrap_err();
    assert!(matches!(error, RewriteError::NoAddresses), "{error:?}");
    let with = |binary| ResolveOptions { binary: Some(binary), ..ResolveOptions::default() };
    let error = resolved("orders-addresses.barrow", &with(folder.path().join("missing"))).unwrap_err();
    assert!(matches!(error, RewriteError::Symbols(_)), "{error:?}");
    let own = std::env::current_exe().unwrap();
    let error = resolved("orders-addresses.barrow", &with(own.clone())).unwrap_err();
    assert!(matches!(&error, RewriteError::OtherProgram { path, .. } if *path == own), "{error:?}");
    let cancelled = resolve(
        &bundled("orders-addresses.barrow"),
        destination(),
        &ResolveOptions::default(),
        &LimitedProgress::new(0),
    );
    assert!(matches!(cancelled, Err(RewriteError::Cancelled)), "{cancelled:?}");
}

#[test]
fn without_its_program_a_recording_keeps_blocks_and_sizes_on_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let recording = bundled("orders-addresses.barrow");
    let ids: Vec<_> = recording.snapshot_ids().collect();
    let bytes = |recording: &Recording| {
        let summaries = verified_summaries(recording, &ids, &Silent).unwrap();
        summaries.iter().map(|summary| summary.totals.heap_bytes).collect::<Vec<_>>()
    };
    for threads in [None, Some(1), Some(3)] {
        let path = folder.path().join(format!("{threads:?}.barrow"));
        let options = ResolveOptions { threads, ..ResolveOptions::default() };
        let report = resolve(&recording, File::create(&path).unwrap(), &options, &Silent).unwrap();
        assert!(report.addresses > 0 && report.sites > 0, "{report:?}");
        assert!(report.problems.iter().any(|problem| problem.contains("left as they are")), "{report:?}");
        assert_eq!(report.finished.bytes, fs::metadata(&path).unwrap().len());
        assert_eq!(bytes(&Recording::open(&path).unwrap()), bytes(&recording));
    }
}
