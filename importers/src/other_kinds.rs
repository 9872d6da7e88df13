//! Files that are mistaken for dumps: their kinds, and advice on what to import instead.

use crate::error::ImportError;

/// The first bytes of files, their kinds, and advice on what to import instead.
const BEGINNINGS: [(&[u8], &str, &str); 4] = [
    (b"7z\xbc\xaf\x27\x1c", "this is a 7-Zip archive", "unpack it and import what it holds"),
    (
        b"version https://git-lfs.github.com/spec/",
        "this is a pointer of Git LFS, not the file",
        "`git lfs pull` gets it",
    ),
    (
        b"--------------------------------------------------------------------------------\nCommand:",
        "this is the output of ms_print or of another tool of valgrind, for people",
        "import the file `massif.out.PID` itself",
    ),
    (
        b"\x7fELF",
        "this is a program, a library or a core file",
        "`jhsdb jmap --binaryheap` makes a dump of a JVM's core",
    ),
];

/// The mark of tar archives, with its offset.
const TAR: (usize, &[u8]) = (257, b"ustar");

/// The error for files of another known kind with these first bytes.
pub(crate) fn other_kind(first_bytes: &[u8]) -> Option<ImportError> {
    if first_bytes.get(TAR.0..).is_some_and(|rest| rest.starts_with(TAR.1)) {
        let (found, instead) = ("this is a tar archive", "unpack it and import what it holds");
        return Some(ImportError::OtherKind { found, instead });
    }
    let &(_, found, instead) = BEGINNINGS.iter().find(|(begin, ..)| first_bytes.starts_with(begin))?;
    Some(ImportError::OtherKind { found, instead })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(bytes: &[u8]) -> String {
        other_kind(bytes).map(|error| error.to_string()).unwrap_or_default()
    }

    /// The first bytes that `7z`, `tar`, `git lfs` and `ms_print` write.
    #[test]
    fn what_people_take_for_dumps_is_named() {
        assert_eq!(told(b"7z\xbc\xaf\x27\x1c\0\x04"), "this is a 7-Zip archive; unpack it and import what it holds");
        let tar = [&b"heap.hprof"[..], &[0; 247], b"ustar  \0"].concat();
        assert!(told(&tar).starts_with("this is a tar archive;"));
        assert!(told(b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a").starts_with("this is a pointer"));
        let line = "-".repeat(80);
        assert!(told(format!("{line}\nCommand:            ./a\n").as_bytes()).contains("ms_print"));
        for bytes in [&b""[..], b"P", b"JAVA PROFILE 1.0.2\0", b"{}", b"hello"] {
            assert_eq!(told(bytes), "");
        }
    }
}
