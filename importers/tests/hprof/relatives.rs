//! Other dumps of JVMs, which are named and not imported.

use barrow_importers::recognise;

use crate::read::record;

fn refused(dump: &[u8]) -> String {
    assert!(recognise(dump).is_none());
    record(dump).err().expect("nothing to import").to_string()
}

/// The first lines of `java.hprof.txt` by JDK 5.
#[test]
fn a_profile_as_text_is_named() {
    let text = b"JAVA PROFILE 1.0.1, created Sun Mar  9 20:47:24 2008\n\nHeader for -agentlib:hprof (or -Xrunhprof) ";
    assert_eq!(
        refused(text),
        "a profile that the JVM's HPROF agent wrote as text; binary heap dumps can be imported: \
         `-agentlib:hprof=heap=dump,format=b`, or `jcmd PID GC.heap_dump FILE`"
    );
    // The size of identifiers follows the zero byte.
    assert!(recognise(b"JAVA PROFILE 1.0.1\0, created ").is_some());
}

/// OpenJ9 begins with `writeUTF("portable heap dump")`, its version and flags.
#[test]
fn a_dump_of_openj9_is_named() {
    let dump = b"\0\x12portable heap dump\0\0\0\x06\0\0\0\x05\x01\x04";
    assert_eq!(
        refused(dump),
        "a heap dump of OpenJ9 (PHD), which holds no names of fields and no values; \
         of JVMs, HPROF heap dumps can be imported"
    );
    assert!(!refused(b"\0\x12portable heap").contains("OpenJ9"));
}
