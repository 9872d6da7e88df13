//! The header that is checked in is the one that cbindgen makes of the sources. `BLESS=1` rewrites it.

mod library;

use std::fs;
use std::path::Path;

/// The header as the sources say it.
fn header() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).unwrap();
    let bindings = cbindgen::Builder::new().with_config(config).with_src(folder.join("src/lib.rs"));
    let mut header = Vec::new();
    bindings.generate().unwrap().write(&mut header);
    let mut header = String::from_utf8(header).unwrap();
    // The functions share their handles, and lock them: for Rust they do not change, for C they do.
    for handle in ["writer", "snapshot", "shard"] {
        header = header.replace(&format!("(const struct barrow_{handle} *"), &format!("(struct barrow_{handle} *"));
    }
    header
}

#[test]
fn the_header_is_what_the_sources_say() {
    let (path, header) = (Path::new(env!("CARGO_MANIFEST_DIR")).join("include/barrow.h"), header());
    if std::env::var_os("BLESS").is_some() {
        // At once, since the other test compiles it meanwhile.
        let new = path.with_extension("new");
        fs::write(&new, &header).unwrap();
        fs::rename(&new, &path).unwrap();
    }
    let stored = fs::read_to_string(&path).unwrap();
    assert!(stored == header, "barrow.h is not up to date: BLESS=1 cargo test -p barrow-capi --test header");
}

#[test]
fn every_dialect_takes_the_header() {
    let folder = tempfile::tempdir().unwrap();
    for (language, standards) in [("c", ["c99", "c11", "c2x"].as_slice()), ("c++", &["c++11", "c++20"])] {
        if !library::speaks(language) {
            eprintln!("not tested: no compiler of {language} here");
            continue;
        }
        let source = folder.path().join("only.c");
        fs::write(&source, "#include <barrow.h>\nbarrow_text text(void) { return BARROW_TEXT(\"text\"); }\n").unwrap();
        for standard in standards {
            let mut compiler = library::compiler();
            compiler.args(["-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-x", language]);
            let done = compiler.arg(format!("-std={standard}")).arg(&source).output().unwrap();
            assert!(done.status.success(), "{standard}: {}", String::from_utf8_lossy(&done.stderr));
        }
    }
}
