//! Dumps of one process among others: by their formats and names.
//!
//! ```text
//!   heap-1.hprof  heap-2.hprof  heap-10.hprof     heap-*.hprof
//!   before.hprof  after.hprof                     *.hprof, since HPROF says when it was taken
//!   java_pid7.hprof  java_pid9.hprof              two processes: a number after `pid` counts
//! ```

use std::io;
use std::path::Path;

use barrow_importers::Holds;

use super::recognition::first_bytes;

/// What dumps have in common that may be snapshots of one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeriesPattern {
    /// The format, as people call it.
    pub format: String,
    /// Their names, with `*` where they may differ.
    pub name: String,
}

/// The pattern of a heap dump; `None` for other files, and for dumps that nothing would put in order.
///
/// # Errors
/// The system's.
pub fn series_pattern(dump: &Path) -> io::Result<Option<SeriesPattern>> {
    let Some(format) = barrow_importers::recognise(&first_bytes(dump)?) else { return Ok(None) };
    let Some(name) = dump.file_name().and_then(|name| name.to_str()) else { return Ok(None) };
    if format.holds() != Holds::Snapshots {
        return Ok(None);
    }
    let has_time = barrow_importers::taken_ns(dump)?.is_some();
    let numbered = without_numbers(name);
    let name = match numbered == name {
        false => Some(numbered),
        // Of names that nothing puts in order only the endings count.
        true => has_time.then(|| name.find('.').map_or_else(|| "*".to_owned(), |dot| format!("*{}", &name[dot..]))),
    };
    Ok(name.map(|name| SeriesPattern { format: format.to_string(), name }))
}

/// A name with `*` for each number, except one that follows `pid`.
fn without_numbers(name: &str) -> String {
    let mut pattern = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(first) = rest.find(|c: char| c.is_ascii_digit()) {
        let end = rest[first..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |length| first + length);
        pattern.push_str(&rest[..first]);
        let is_process = pattern.to_ascii_lowercase().ends_with("pid");
        pattern.push_str(if is_process { &rest[first..end] } else { "*" });
        rest = &rest[end..];
    }
    pattern + rest
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn numbers_may_differ_but_not_those_of_processes() {
        let patterns = [
            ("heap-10.hprof", "heap-*.hprof"),
            ("java_pid77.hprof.1", "java_pid77.hprof.*"),
            ("run-2/7", "run-*/*"),
            ("Heap.20240102.030405.0.001.heapsnapshot", "Heap.*.*.*.*.heapsnapshot"),
            ("before", "before"),
        ];
        for (name, pattern) in patterns {
            assert_eq!(without_numbers(name), pattern);
        }
    }

    #[test]
    fn only_dumps_of_heaps_that_something_orders_have_a_pattern() {
        let folder = tempfile::tempdir().unwrap();
        let pattern = |from: &str, name: &str| {
            let path = folder.path().join(name);
            fs::copy(barrow_testdata::path(from), &path).unwrap();
            series_pattern(&path).unwrap().map(|pattern| pattern.name)
        };
        let hprof = "foreign/jvm/17.hprof.zst";
        assert_eq!(pattern(hprof, "after.hprof.zst"), Some("*.hprof.zst".to_owned()));
        assert_eq!(pattern(hprof, "a1.hprof.zst"), Some("a*.hprof.zst".to_owned()));
        // MoarVM's dumps have no time, a log of processes is no heap, a recording no dump.
        assert_eq!(pattern("foreign/moarvm-1-tiny.mvmheap", "after.mvmheap"), None);
        assert_eq!(pattern("foreign/make.strace", "make-1.strace"), None);
        assert_eq!(pattern("orders.barrow", "orders-1.barrow"), None);
    }
}
