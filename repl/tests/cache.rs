//! The cache of imported dumps: what it answers with, who may read it, and what it forgets.
#![cfg(unix)]

mod program;

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use program::{Run, finished, program, testdata};

/// A MoarVM dump of one object with two digits of bytes.
fn dump(bytes: u8) -> String {
    format!(
        "strings: [\"P6opaque\",\"Document\"]\ntypes: 0,1\nstatic_frames:\n\
         snapshot 0\ncollectables: 9,0,0,0,0,1;1,0,{bytes},0,0,0\nreferences: 0,0,1\n"
    )
}

/// The program with no cache named but by these variables.
fn with(folder: &Path, variables: &[(&str, &Path)]) -> Command {
    let mut program = program(folder);
    program.env_remove("BARROW_CACHE").env_remove("XDG_CACHE_HOME").env_remove("HOME");
    program.envs(variables.iter().copied());
    program
}

fn asked(mut program: Command, words: &[&str]) -> Run {
    finished(program.args(words).output().unwrap())
}

/// The recordings in a cache.
fn recordings(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|extension| extension == "barrow")).collect()
}

fn shown(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_dump_written_anew_with_equal_length_and_time_is_imported_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("heap.mvmheap");
    let written = SystemTime::now() - Duration::from_secs(3600);
    let size_of = |bytes| {
        fs::write(&path, dump(bytes)).unwrap();
        File::options().append(true).open(&path).unwrap().set_modified(written).unwrap();
        let run = asked(program(folder.path()), &["summary", shown(&path), "--format", "csv", "--verify"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        run.stdout
    };
    let first = size_of(24);
    assert_ne!(size_of(48), first);
    assert_eq!(size_of(24), first);
    assert_eq!(recordings(&folder.path().join("cache")).len(), 1, "what it was before is forgotten");
}

#[test]
fn what_was_lost_is_part_of_the_recording() {
    let folder = tempfile::tempdir().unwrap();
    let cut = testdata("foreign/moarvm-3-cut.mvmheap");
    let ask = || asked(program(folder.path()), &["roots", "--quiet", shown(&cut)]);
    let first = ask();
    assert_eq!(first.code, 4, "{}", first.stderr);
    // Another process removes whatever else there is.
    let cache = folder.path().join("cache");
    for file in fs::read_dir(&cache).unwrap().map(|file| file.unwrap().path()) {
        if file.extension().is_none_or(|extension| extension != "barrow") {
            fs::remove_file(file).unwrap();
        }
    }
    let second = ask();
    assert_eq!((second.code, second.stderr.as_str()), (4, first.stderr.as_str()));
    // A damaged recording is made anew.
    let recording = &recordings(&cache)[0];
    let bytes = fs::read(recording).unwrap();
    fs::write(recording, &bytes[..bytes.len() / 2]).unwrap();
    let third = ask();
    assert_eq!((third.code, third.stderr, third.stdout), (4, first.stderr, first.stdout));
}

/// Two snapshots one after the other, as `cat` joins them: the second is not read, and every way to ask says so.
#[test]
fn what_an_import_remarks_is_said_once_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("two.heapsnapshot");
    let packed = fs::read(testdata("foreign/v8/node20-cards-1.heapsnapshot.zst")).unwrap();
    let one = zstd::decode_all(&packed[..]).unwrap();
    fs::write(&path, [&one[..], &one[..]].concat()).unwrap();
    let note = format!("another snapshot follows at byte {} and was not read", one.len());
    let ask = |words: &[&str]| asked(program(folder.path()), &[words, &["--quiet", shown(&path)]].concat());
    // Counted, without an import: each time.
    for _ in 0..2 {
        let run = ask(&["summary"]);
        assert_eq!((run.code, run.stderr.matches(&note).count(), run.stdout.matches(&note).count()), (0, 1, 0));
    }
    let first = ask(&["roots"]);
    assert_eq!((first.code, first.stderr.matches(&note).count()), (0, 1), "{}", first.stderr);
    let again = ask(&["roots"]);
    assert_eq!((again.code, again.stderr.as_str()), (0, ""));
    let run = ask(&["summary"]);
    assert_eq!((run.code, run.stderr.as_str(), run.stdout.matches(&note).count()), (0, "", 1), "{}", run.stdout);
    assert!(ask(&["info"]).stdout.contains(&format!("note           {note}")));
    // Redaction replaces it, and nobody reads what it made of it.
    let [plain, redacted] = ["plain.barrow", "redacted.barrow"].map(|name| folder.path().join(name));
    let imported = asked(program(folder.path()), &["import", shown(&path), "-o", shown(&plain)]);
    assert!(imported.stdout.contains(&note), "{}", imported.stdout);
    assert_eq!(asked(program(folder.path()), &["redact", shown(&plain), "-o", shown(&redacted)]).code, 0);
    let facts = asked(program(folder.path()), &["info", shown(&redacted)]).stdout;
    let value = facts.lines().find_map(|line| line.strip_prefix("note")).expect("the key is barrow's word");
    assert!(value.trim().len() > 20 && !value.contains("another"), "{facts}");
    let totals = asked(program(folder.path()), &["summary", shown(&redacted)]).stdout;
    assert!(!totals.contains(value.trim()), "{totals}");
}

#[test]
fn processes_that_open_a_cut_dump_at_once_all_tell_what_was_lost() {
    let folder = tempfile::tempdir().unwrap();
    let cut = folder.path().join("cut.mvmheap");
    let bytes = fs::read(testdata("foreign/moarvm-3-cut.mvmheap")).unwrap();
    for _ in 0..3 {
        // Written anew: each process imports, and removes what was before.
        fs::write(&cut, &bytes).unwrap();
        let start = || {
            let mut program = program(folder.path());
            program.args(["snapshots", shown(&cut), "--quiet"]).stdout(std::process::Stdio::piped());
            program.stderr(std::process::Stdio::piped()).spawn().unwrap()
        };
        let started: Vec<_> = (0..8).map(|_| start()).collect();
        for child in started {
            let run = finished(child.wait_with_output().unwrap());
            assert_eq!(run.code, 4, "{}", run.stderr);
            assert!(run.stderr.len() > "barrow: \n".len() + 20, "{}", run.stderr);
        }
    }
}

#[test]
fn cached_files_are_for_their_owner() {
    let folder = tempfile::tempdir().unwrap();
    let dump = folder.path().join("cards.heapsnapshot.zst");
    fs::copy(testdata("foreign/v8/node20-cards-1.heapsnapshot.zst"), &dump).unwrap();
    fs::set_permissions(&dump, Permissions::from_mode(0o600)).unwrap();
    let cache = folder.path().join("caches");
    let ask = || with(folder.path(), &[("XDG_CACHE_HOME", &cache)]);
    assert_eq!(asked(ask(), &["top", shown(&dump), "1", "all", "by", "retained"]).code, 0);
    assert_eq!((mode(&cache), mode(&cache.join("barrow"))), (0o700, 0o700));
    let files: Vec<PathBuf> = fs::read_dir(cache.join("barrow")).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(files.len(), 2, "a recording and its index: {files:?}");
    files.iter().for_each(|file| assert_eq!(mode(file), 0o600, "{}", file.display()));
    // A folder that an earlier version made, too.
    fs::set_permissions(cache.join("barrow"), Permissions::from_mode(0o755)).unwrap();
    fs::write(&dump, fs::read(&dump).unwrap()).unwrap();
    assert_eq!(asked(ask(), &["snapshots", shown(&dump)]).code, 0);
    assert_eq!(mode(&cache.join("barrow")), 0o700);
}

#[test]
fn without_a_home_the_cache_is_a_folder_of_this_user_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (path, temporary) = (folder.path().join("heap.mvmheap"), folder.path().join("tmp"));
    fs::write(&path, dump(24)).unwrap();
    fs::create_dir(&temporary).unwrap();
    // Another user may have made these.
    let elsewhere = folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, temporary.join("barrow")).unwrap();
    let ask = || asked(with(folder.path(), &[("TMPDIR", &temporary)]), &["snapshots", shown(&path)]);
    assert_eq!(ask().code, 0);
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0, "no link is followed");
    let made = fs::read_dir(&temporary).unwrap().map(|file| file.unwrap().path());
    let own: Vec<PathBuf> = made.filter(|path| !path.is_symlink()).collect();
    assert_eq!((own.len(), mode(&own[0])), (1, 0o700));
    fs::set_permissions(&own[0], Permissions::from_mode(0o777)).unwrap();
    let refused = ask();
    assert_eq!(refused.code, 3);
    assert!(refused.stderr.contains("BARROW_CACHE"), "{}", refused.stderr);
    // A question that needs no cache is answered all the same.
    let words = ["top", &program::recording(), "1", "all", "by", "retained", "--no-index"];
    assert_eq!(asked(with(folder.path(), &[("TMPDIR", &temporary)]), &words).code, 0);
}

#[test]
fn recordings_of_dumps_that_are_gone_are_forgotten_and_so_is_what_is_too_much() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let open = |name: &str, limit: &str| {
        let path = folder.path().join(name);
        fs::write(&path, dump(24)).unwrap();
        let mut program = program(folder.path());
        program.env("BARROW_CACHE_SIZE", limit);
        let run = asked(program, &["top", shown(&path), "1", "all", "by", "retained"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        recordings(&cache).len()
    };
    assert_eq!((open("a", ""), open("b", "1G")), (1, 2));
    let other = cache.join("notes.barrow.index");
    fs::write(&other, "not ours").unwrap();
    fs::remove_file(folder.path().join("a")).unwrap();
    assert_eq!(open("c", ""), 2);
    // The newest stays whatever the limit.
    assert_eq!(open("d", "1"), 1);
    let mut left: Vec<String> =
        fs::read_dir(&cache).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    left.sort_by_key(String::len);
    assert_eq!(left.len(), 3, "a recording, its index, and what is not ours: {left:?}");
    assert!(other.exists());
    let mut program = program(folder.path());
    program.env("BARROW_CACHE_SIZE", "much");
    fs::write(folder.path().join("e"), dump(24)).unwrap();
    let refused = asked(program, &["snapshots", shown(&folder.path().join("e"))]);
    assert!(refused.code == 2 && refused.stderr.contains("BARROW_CACHE_SIZE"), "{}", refused.stderr);
}
