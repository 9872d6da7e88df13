//! Words of barrow and of runtimes: they are the same in all programs, and questions look for them.

/// What the value of a key is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// Nobody knows: the key may be anything, too.
    Unknown,
    /// The stack of the thread that the key names.
    Stack,
    /// Any text of the program or of its surroundings.
    Text,
    /// Something with a name: of a type, of a field, a path.
    Name,
    /// A version, a counter or a setting of barrow or of a runtime.
    Setting,
}

/// The fact that says whether texts were replaced.
pub const TEXTS_FACT: &str = "redacted texts";
/// The same for names.
pub(crate) const NAMES_FACT: &str = "redacted names";
/// The fact that counts what was damaged or changed before redaction made new checksums.
pub(crate) const DAMAGED_FACT: &str = "redacted although damaged";
/// As [`TEXTS_FACT`], for numbers.
pub(crate) use barrow_analyzer::REPLACED_NUMBERS as NUMBERS_FACT;

/// Before the name of a thread in a key or in a label of roots.
const THREAD: &str = "thread ";
/// What the keys of all notes of an import but the first begin with.
const FURTHER_NOTES: &str = "note ";
/// What barrow puts before a name of the program, in keys and labels.
pub(crate) const BEFORE_NAMES: &[&str] = &["module ", THREAD, "throughput of "];
/// What it puts behind one, in names of metrics.
pub(crate) const BEHIND_NAMES: &[&str] = &[
    " MB/s",
    " allocated",
    " blocks",
    " bytes_per_second",
    " cpu",
    " gc.alloc.rate",
    " gc.count",
    " gc.time",
    " items_per_second",
    " peak_resident",
];

/// Keys of facts, of snapshots and of attributes whose values are settings: versions, counters, and words of barrow.
const SETTINGS: &[&str] = &[
    "MHz per processor",
    "Python",
    "architecture",
    "build",
    "build type of Google Benchmark",
    "cache_ns",
    "chains and sizes met so far",
    "clock",
    "column",
    "contents",
    "cores",
    "counts heap",
    "cpu of all that was waited for",
    "date",
    "download_ns",
    "file memory",
    "frames",
    "frames of a site, at most",
    "generation",
    "hprof version",
    "identifier bytes",
    "interchangeable",
    "kernel",
    "killed by",
    "layout",
    "live blocks",
    "matched when repacked",
    "memory",
    "mtime",
    "new rights",
    "not waited for",
    "object layout",
    "paired with the snapshot before",
    "parent pid",
    "pid",
    "processors",
    "producer",
    "queue_ns",
    "recorded by",
    "recorded via",
    "redacted although damaged",
    "redacted by",
    "redacted field values",
    "redacted names",
    "redacted texts",
    "redaction key",
    "remote_ns",
    "resolved by",
    "return address",
    "run_ns",
    "runtime",
    "sampling",
    "seed",
    "serials",
    "slot bytes",
    "small peaks",
    "source format",
    "source subversion",
    "statuses",
    "stop",
    "system_ns including children",
    "taken, ms since 1970",
    "threads",
    "time of day",
    "total_frames",
    "total_heap_size",
    "total_objects",
    "total_refs",
    "total_stables",
    "total_typeobjects",
    "upload_ns",
    "user_ns including children",
    "version of Bazel",
    "version of BenchmarkDotNet",
    "version of JMH",
    "version of Python",
    "version of the runtime",
];

/// Those whose values are names.
const NAMES: &[&str] = &[
    "all elements",
    "class loader",
    "cuid",
    "elements",
    "entries",
    "hash table",
    "heap",
    "host",
    "implements",
    "input",
    "label",
    "module",
    "named by",
    "output",
    "reads as",
    "same elements",
    "shell",
    "slots",
    "text of",
    "value of",
    "values without direction",
];

/// Those whose values are any texts.
const TEXTS: &[&str] = &[
    "allocations not known",
    "argv",
    "builds",
    "command",
    "command hash",
    "description",
    "dump",
    "line",
    "lost",
    "not traced",
    "note",
    "null",
    "processor",
];

/// Names that stay: types, references, categories of roots, states and metrics that are the same in all programs.
const WORDS: &[&str] = &[
    "(Bootstrapper)",
    "(Builtins)",
    "(Client heap)",
    "(Code flusher)",
    "(Compilation cache)",
    "(Debugger)",
    "(Eternal handles)",
    "(Extensions)",
    "(External strings)",
    "(GC roots)",
    "(Global handles)",
    "(Handle scope)",
    "(Identity map)",
    "(Internalized strings)",
    "(Micro tasks)",
    "(Read-only object cache)",
    "(Read-only roots)",
    "(Relocatable)",
    "(Retain maps)",
    "(Shareable object cache)",
    "(SharedStruct type registry)",
    "(Smi roots)",
    "(Stack roots)",
    "(Startup object cache)",
    "(Strong root list)",
    "(Strong roots)",
    "(Thread manager)",
    "(Traced handles)",
    "(Unknown)",
    "(Weak collections)",
    "(Weak roots)",
    "(Wrapper tracing)",
    "(Write barrier)",
    "(anonymous)",
    "(array)",
    "(bigint)",
    "(compiled code)",
    "(concatenated string)",
    "(name lost)",
    "(number)",
    "(object shape)",
    "(regexp)",
    "(root)",
    "(sliced string)",
    "(string)",
    "(symbol)",
    "(system)",
    "(unnamed type)",
    "<class loader>",
    "<class>",
    "<protection domain>",
    "<signers>",
    "<superclass>",
    "<unknown class>",
    "<unknown field>",
    "<unknown method>",
    "C stack roots",
    "JNI global",
    "JNI local",
    "JNI monitor",
    "Java frame",
    "MB/s",
    "MB/sec",
    "VM internal",
    "YJIT",
    "allocated",
    "allocations",
    "blocks",
    "boolean",
    "branch_misses",
    "builtins",
    "byte",
    "bytes",
    "bytes/s",
    "cache_misses",
    "call stack roots",
    "calls",
    "char",
    "constant pool",
    "context_switches",
    "counts",
    "cycles",
    "debugger",
    "double",
    "encodings",
    "end_proc",
    "finalizers",
    "finalizing",
    "finish",
    "float",
    "frames",
    "generic_ivars",
    "global_list",
    "global_symbols",
    "global_tbl",
    "globals",
    "heap",
    "immortal",
    "instance roots",
    "instructions",
    "int",
    "inter-generational roots",
    "interned string",
    "interpreter",
    "items/s",
    "live",
    "live_at_end",
    "long",
    "machine_context",
    "modules",
    "monitor used",
    "ms",
    "native stack",
    "ns",
    "object_id",
    "ops/s",
    "page_faults",
    "peak_heap",
    "peak_mapped",
    "peak_resident",
    "permanent roots",
    "reference cleanup",
    "root",
    "running",
    "short",
    "stack",
    "sticky class",
    "symbols",
    "system",
    "thread",
    "thread block",
    "thread roots",
    "unknown",
    "user",
    "vm",
    "waiting",
    "wall",
];

/// The knobs of a layout, see `docs/trials.md`.
const KNOBS: &[&str] = &["argv", "aslr", "env", "heap_large", "heap_offset", "heap_small", "stack", "thp"];

/// What a value is, of a fact or of an attribute.
pub(crate) fn meaning_of_key(key: &str, _value: &str) -> Meaning {
    let holds = |keys: &[&str]| keys.binary_search(&key).is_ok();
    match () {
        () if holds(SETTINGS) => Meaning::Setting,
        () if holds(NAMES) => Meaning::Name,
        () if holds(TEXTS) => Meaning::Text,
        () if key.starts_with(THREAD) => Meaning::Stack,
        () if key.strip_prefix(FURTHER_NOTES).is_some_and(is_number) => Meaning::Text,
        () => Meaning::Unknown,
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// What a value of a knob is: of a known one a number or a switch.
pub(crate) fn meaning_of_knob(knob: &str, value: &str) -> Meaning {
    let is_setting = ["on", "off"].contains(&value) || value.bytes().all(|byte| byte.is_ascii_digit());
    match KNOBS.binary_search(&knob) {
        Ok(_) if is_setting => Meaning::Setting,
        Ok(_) => Meaning::Text,
        Err(_) => Meaning::Unknown,
    }
}

/// Whether a name is the same in all programs: `int`, and arrays of it.
pub(crate) fn is_word(name: &str) -> bool {
    WORDS.binary_search(&name.trim_end_matches("[]")).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_in_order() {
        for list in [SETTINGS, NAMES, TEXTS, WORDS, KNOBS] {
            assert!(list.is_sorted_by(|one, other| one < other), "{list:?}");
        }
    }

    #[test]
    fn values_are_what_their_keys_say() {
        for (key, meaning) in [
            ("pid", Meaning::Setting),
            ("class loader", Meaning::Name),
            ("note", Meaning::Text),
            ("note 12", Meaning::Text),
            ("note of Smith", Meaning::Unknown),
            ("entries", Meaning::Name),
            ("implements", Meaning::Name),
            ("reads as", Meaning::Name),
            ("command", Meaning::Text),
            ("thread main", Meaning::Stack),
            ("password", Meaning::Unknown),
        ] {
            assert_eq!(meaning_of_key(key, "x"), meaning, "{key}");
        }
        assert_eq!(meaning_of_knob("env", "128"), Meaning::Setting);
        assert_eq!(meaning_of_knob("env", "PASSWORD=x"), Meaning::Text);
        assert_eq!(meaning_of_knob("hue", "1"), Meaning::Unknown);
        assert!(is_word("int[][]") && !is_word("int[]x") && !is_word("[]"));
    }
}
