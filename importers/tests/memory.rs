//! Imports take memory by object, and little of it, whatever the length of the dump.

#[path = "../../analyzer/tests/allocator/mod.rs"]
mod allocator;

use std::fmt::Write;

use allocator::peak_bytes;
use barrow_importers::{ImportOptions, Progress, Silent, import, import_bytes};
use barrow_writer::{Options, Writer};
use parking_lot::{Mutex, MutexGuard};

/// The limit of all imports, beside a constant.
const BYTES_PER_OBJECT: usize = 16;

/// A writer that keeps little, so that it hardly counts.
fn writer() -> Writer {
    let options = Options { memory_budget_bytes: 4 << 20, ..Options::without_threads() };
    Writer::to_stream(Box::new(std::io::sink()), options).expect("writing to nowhere")
}

/// One test at a time: what others allocate would count.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock()
}

/// Fails if an import takes much more memory for each further object.
fn assert_little(dump: impl Fn(usize) -> String) {
    let _turn = turn();
    const FEW: usize = 60_000;
    const MANY: usize = 300_000;
    let peak = |objects: usize| {
        let text = dump(objects);
        let (peak, imported) = peak_bytes(|| {
            let writer = writer();
            let imported = import_bytes(text.as_bytes(), &writer, &Silent).expect("a whole dump");
            writer.finish().expect("written");
            imported
        });
        assert!(imported.lost.is_none() && imported.snapshots[0].objects >= objects as u64, "{imported:?}");
        peak
    };
    let (few, many) = (peak(FEW), peak(MANY));
    assert!(many < 128 << 20, "{many} bytes");
    let each = many.saturating_sub(few) / (MANY - FEW);
    assert!(each <= BYTES_PER_OBJECT, "{each} bytes per object: {few}, then {many}");
}

#[test]
fn ruby_takes_little_memory_per_object() {
    assert_little(|objects| {
        let mut text = String::from("{\"type\":\"ROOT\", \"root\":\"vm\", \"references\":[\"0x10000\"]}\n");
        for at in 0..objects {
            // Pages in no order, as Ruby's are.
            let address = 0x10000 + ((at ^ 0x1600) * 40);
            let (to, line) = (0x10000 + (at / 2 * 40), at % 500);
            writeln!(
                text,
                "{{\"address\":\"{address:#x}\", \"type\":\"STRING\", \"class\":\"0x10000\", \"value\":\"v{line}\", \
                 \"references\":[\"{to:#x}\"], \"file\":\"a.rb\", \"line\":{line}, \"generation\":{}, \"memsize\":40}}",
                at % 7
            )
            .expect("written");
        }
        text
    });
}

#[test]
fn python_takes_little_memory_per_object() {
    assert_little(|objects| {
        let mut text = String::from("{\"barrow\":\"python-heap\", \"version\":1, \"collected\":true}\n");
        for at in 0..objects {
            let address = 0x10000 + ((at ^ 0x1600) * 48);
            let to = 0x10000 + (at / 2 * 48);
            writeln!(
                text,
                "{{\"address\":\"{address:#x}\", \"type\":\"object\", \"class\":\"0x10000\", \"size\":48, \
                 \"references\":[\"{to:#x}\"], \"elements\":1}}"
            )
            .expect("written");
        }
        text + &format!("{{\"barrow\":\"end\", \"objects\":{objects}}}\n")
    });
}

#[test]
fn logs_of_processes_take_little_memory_whatever_their_length() {
    let _turn = turn();
    let peak = |builds: u64| {
        let mut log = Vec::new();
        barrow_testdata::kleknev_log(&mut log, builds).expect("written to memory");
        let (peak, imported) = peak_bytes(|| {
            let writer = writer();
            let imported = import_bytes(&log, &writer, &Silent).expect("a whole log");
            writer.finish().expect("written");
            imported
        });
        assert_eq!((imported.processes, imported.lost), (23_902 * builds, None));
        peak
    };
    let (one, four) = (peak(1), peak(4));
    // Texts that the writer remembers are the most of it, and it forgets them in time.
    assert!(four < 56 << 20 && four <= one + (1 << 20), "{one}, then {four} bytes");
}

/// A snapshot of V8 with a location for each node, in which `strings` follow the few that are needed.
fn v8(objects: usize, strings: &str) -> String {
    let mut text = String::from(
        r#"{"snapshot":{"meta":{"node_fields":["type","name","id","self_size","edge_count","trace_node_id","detachedness"],
"node_types":[["hidden","object","string"],"string","number","number","number","number","number"],
"edge_fields":["type","name_or_index","to_node"],"edge_types":[["element","property"],"string_or_number","node"],
"location_fields":["object_index","script_id","line","column"]}},"nodes":["#,
    );
    let comma = |at: usize| if at == 0 { "" } else { "," };
    (0..objects).for_each(|at| writeln!(text, "{}1,{},{},24,1,0,0", comma(at), at % 9, 2 * at + 1).expect("written"));
    text += "],\"edges\":[";
    (0..objects).for_each(|at| writeln!(text, "{}1,{},{}", comma(at), at % 9, at / 2 * 7).expect("written"));
    text += "],\"locations\":[";
    (0..objects).for_each(|at| writeln!(text, "{}{},1,{},2", comma(at), at * 7, at % 99).expect("written"));
    text += "],\"strings\":[\"0\",\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\",\"h\"";
    text + strings + "]}"
}

#[test]
fn v8_takes_little_memory_per_object() {
    assert_little(|objects| v8(objects, ""));
}

/// Remembers the most pages of files that were in memory.
#[cfg(target_os = "linux")]
#[derive(Default)]
struct FilePages(std::sync::atomic::AtomicU64);

#[cfg(target_os = "linux")]
impl FilePages {
    /// Pages of files that this process has in memory now, in KiB.
    fn now() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").expect("the status of this process");
        let line = status.lines().find_map(|line| line.strip_prefix("RssFile:")).expect("Linux 4.5 has it");
        line.trim().strip_suffix(" kB").and_then(|number| number.parse().ok()).expect("a number")
    }
}

#[cfg(target_os = "linux")]
impl Progress for FilePages {
    fn begin(&self, _: &str, _: u64, _: &'static str) {}

    fn advance(&self, _: u64) {
        self.0.fetch_max(Self::now(), std::sync::atomic::Ordering::Relaxed);
    }

    fn cancelled(&self) -> bool {
        false
    }
}

#[test]
#[cfg(target_os = "linux")]
fn strings_of_v8_do_not_stay_in_memory() {
    use std::num::NonZero;
    let _turn = turn();
    let strings = format!(",\"{}\"", "a text that is longer than most names of things. ".repeat(20)).repeat(120_000);
    let dump = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(dump.path(), v8(1000, &strings)).expect("written");
    drop(strings);
    let (pages, before) = (FilePages::default(), FilePages::now());
    let options = ImportOptions { threads: NonZero::new(2).expect("two"), ..ImportOptions::default() };
    let writer = writer();
    let imported = import(dump.path(), &writer, &options, &pages).expect("a whole dump");
    writer.finish().expect("written");
    assert_eq!(imported.snapshots[0].objects, 1000);
    let most = pages.0.into_inner().saturating_sub(before);
    assert!(most < 64 << 10, "{most} KiB of a dump of 110 MiB");
}

#[test]
fn values_take_memory_in_proportion() {
    const FEW: usize = 100_000;
    const MANY: usize = 400_000;
    // A value, the room that a growing list has in reserve, and a copy to sort them.
    const BYTES_PER_VALUE: usize = 256;
    let _turn = turn();
    let name = "n".repeat(1 << 10);
    let json = |values: usize| {
        let data = "1e-6,".repeat(values);
        format!("{{\"benchmarks\":[{{\"fullname\":\"{name}\",\"stats\":{{\"data\":[{data}0]}}}}]}}")
    };
    let csv = |values: usize| format!("metric,value\n{}", format!("{name},1\n").repeat(values / 100));
    let peak = |text: String| {
        let (peak, imported) = peak_bytes(|| {
            let writer = writer();
            let imported = import_bytes(text.as_bytes(), &writer, &Silent).expect("values");
            writer.finish().expect("written");
            imported
        });
        (peak, imported.values as usize)
    };
    for text in [&json as &dyn Fn(usize) -> String, &csv] {
        let ((few, few_values), (many, many_values)) = (peak(text(FEW)), peak(text(MANY)));
        let each = many.saturating_sub(few) / (many_values - few_values);
        assert!(each <= BYTES_PER_VALUE, "{each} bytes per value: {few}, then {many}");
    }
}
