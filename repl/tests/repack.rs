//! `repack` as it is typed: a smaller file with the same answers.

use std::path::Path;

use crate::program::{recording, run};

fn shown(path: &Path) -> &str {
    path.to_str().expect("the path is UTF-8")
}

#[test]
fn what_was_repacked_is_smaller_and_answers_the_same() {
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let [whole, small] = ["whole", "small"].map(|name| folder.path().join(name).join("raku.barrow"));
    for path in [&whole, &small] {
        std::fs::create_dir(path.parent().expect("it is in a folder")).expect("the folder can be made");
    }
    std::fs::copy(recording(), &whole).expect("the recording can be copied");
    let repacked = run(&["repack", shown(&whole), "-o", shown(&small), "--format", "json"]);
    assert_eq!(repacked.code, 0, "{}", repacked.stderr);
    let answer: serde_json::Value = serde_json::from_str(&repacked.stdout).expect("it is JSON");
    let bases: Vec<&serde_json::Value> =
        answer["snapshots"].as_array().expect("a list").iter().map(|row| &row["base"]).collect();
    assert_eq!(bases, [&serde_json::Value::Null, &0.into(), &1.into()]);
    let [before, after] = [&whole, &small].map(|path| std::fs::metadata(path).expect("it is there"));
    assert!(2 * after.len() < before.len(), "{} and {} bytes", before.len(), after.len());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(after.permissions().mode(), before.permissions().mode(), "who may read one may read the other");
    }
    assert_eq!(run(&["verify", shown(&small)]).code, 0);
    // Of what has no numbers of objects in it: they get new ones.
    for question in
        [&["summary", "all"][..], &["top", "5"], &["diff", "0", "last", "by", "path"], &["diff", "0", "last"]]
    {
        let [before, after] = [&whole, &small].map(|path| {
            let words = [&[question[0], shown(path), "--no-index", "--quiet"][..], &question[1..]].concat();
            run(&words)
        });
        assert_eq!((before.code, before.stdout), (after.code, after.stdout), "{question:?}");
    }
    // An existing file is not replaced by accident, nor the recording by itself.
    let again = run(&["repack", shown(&whole), "-o", shown(&small)]);
    assert!(again.code == 2 && again.stderr.contains("--force"), "{}", again.stderr);
    assert_eq!(run(&["repack", shown(&whole), "-o", shown(&small), "--force", "--level", "1"]).code, 0);
    assert_ne!(run(&["repack", shown(&small), "-o", shown(&small), "--force"]).code, 0);
    assert_eq!(run(&["verify", shown(&small)]).code, 0);
}
