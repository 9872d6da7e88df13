//! What recording costs: programs that do little but allocate, in processes of their own, by turns with the system's
//! allocator, with the recorder and with dhat.
//!
//! ```sh
//! RUSTFLAGS="-C force-frame-pointers=yes" cargo bench -p barrow-alloc --bench overhead
//! ```
//!
//! `overhead --child trees plain` runs one of them, for tools that start a program themselves.

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::HashMap;
use std::process::Command;
use std::sync::atomic::{AtomicU8, Ordering};

use barrow_alloc::Recorder;

/// Which allocator a process has is said by its environment, before the first allocation.
struct Chosen;

static CHOICE: AtomicU8 = AtomicU8::new(UNKNOWN);
static RECORDER: Recorder<System> = Recorder::system();
static DHAT: dhat::Alloc = dhat::Alloc;

const UNKNOWN: u8 = 0;
const PLAIN: u8 = 1;
const RECORDED: u8 = 2;
const BY_DHAT: u8 = 3;

/// The variable that says it.
const VARIABLE: &std::ffi::CStr = c"OVERHEAD_ALLOCATOR";

#[inline(always)]
fn choice() -> u8 {
    match CHOICE.load(Ordering::Relaxed) {
        UNKNOWN => choose(),
        choice => choice,
    }
}

#[cold]
fn choose() -> u8 {
    // SAFETY: the name ends with a zero, and nothing changes the environment so early.
    let value = unsafe { libc::getenv(VARIABLE.as_ptr()) };
    // SAFETY: if it is not null, there is at least the zero at its end.
    let first = if value.is_null() { 0 } else { unsafe { *value } } as u8;
    let choice = match first {
        b'r' => RECORDED,
        b'd' => BY_DHAT,
        _ => PLAIN,
    };
    CHOICE.store(choice, Ordering::Relaxed);
    choice
}

// SAFETY: all calls of a process go to one and the same allocator.
unsafe impl GlobalAlloc for Chosen {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        unsafe {
            match choice() {
                PLAIN => System.alloc(layout),
                RECORDED => RECORDER.alloc(layout),
                _ => DHAT.alloc(layout),
            }
        }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe {
            match choice() {
                PLAIN => System.dealloc(block, layout),
                RECORDED => RECORDER.dealloc(block, layout),
                _ => DHAT.dealloc(block, layout),
            }
        }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        unsafe {
            match choice() {
                PLAIN => System.realloc(block, layout, new_size),
                RECORDED => RECORDER.realloc(block, layout, new_size),
                _ => DHAT.realloc(block, layout, new_size),
            }
        }
    }
}

#[global_allocator]
static ALLOC: Chosen = Chosen;

/// Binary trees: nothing but blocks of 16 bytes, made by calls up to sixteen deep, and freed. Each node is made by a
/// chain of calls of its own, tens of thousands of them: the worst that a recorder can meet.
mod trees {
    /// A node with two children or none.
    struct Tree(Option<Box<(Tree, Tree)>>);

    fn build(depth: u32) -> Tree {
        Tree((depth > 0).then(|| Box::new((build(depth - 1), build(depth - 1)))))
    }

    fn count(tree: &Tree) -> u64 {
        1 + tree.0.as_ref().map_or(0, |children| count(&children.0) + count(&children.1))
    }

    pub(super) fn run() -> u64 {
        let kept = build(16);
        count(&kept) + (0..200).map(|_| count(&build(14))).sum::<u64>()
    }
}

/// Words of a text, counted, sorted and joined: strings, vectors that grow, maps.
fn words() -> u64 {
    let mut total = 0;
    for round in 0..20u64 {
        let mut counted: HashMap<String, Vec<String>> = HashMap::new();
        let mut seed = round + 1;
        for _ in 0..30_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let word = format!("word {}", (seed >> 33) % 5_000);
            counted.entry(word.to_uppercase()).or_default().push(word);
        }
        let mut sorted: Vec<(String, Vec<String>)> = counted.into_iter().collect();
        sorted.sort();
        total += sorted.iter().map(|(word, found)| (word.clone() + &found.join(" ")).len() as u64).sum::<u64>();
    }
    total
}

/// A table whose rows are replaced again and again: blocks of any size up to 256 bytes, freed in no order.
fn churn() -> u64 {
    let mut table: Vec<Box<[u8]>> = vec![Box::default(); 20_000];
    let (mut seed, mut total) = (1u64, 0);
    for _ in 0..4_000_000 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (row, size) = ((seed >> 33) as usize % table.len(), (seed >> 20) as usize % 256 + 1);
        let mut fresh = vec![0; size].into_boxed_slice();
        fresh[0] = 1;
        total += std::mem::replace(&mut table[row], fresh).len() as u64;
    }
    total
}

/// Gives a number, so that nothing is left out.
type Program = fn() -> u64;

/// The programs, by name.
const PROGRAMS: [(&str, Program); 3] = [("words", words), ("churn", churn), ("trees", trees::run)];
const ROUNDS: usize = 7;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == "--child") {
        return child(&arguments[at + 1], &arguments[at + 2]);
    }
    let program = std::env::current_exe().expect("this program has a name");
    println!("CPU seconds, median of {ROUNDS} by turns; × of the system's allocator alone");
    for (name, _) in PROGRAMS {
        let mut seconds: [Vec<f64>; 3] = Default::default();
        let mut memory = [0; 3];
        let ways = ["plain", "recorder", "dhat"];
        for _ in 0..ROUNDS {
            for (way, allocator) in ways.iter().enumerate() {
                let mut command = Command::new(&program);
                command.args(["--child", name, allocator]).env("OVERHEAD_ALLOCATOR", allocator);
                let output = command.output().expect("this program can be started");
                assert!(output.status.success(), "{name} {allocator}: {}", String::from_utf8_lossy(&output.stderr));
                let text = String::from_utf8_lossy(&output.stdout);
                let mut numbers = text.split_whitespace().map(|number| number.parse::<f64>().expect("a number"));
                seconds[way].push(numbers.next().expect("CPU seconds"));
                memory[way] = memory[way].max(numbers.next().expect("KiB") as u64);
            }
        }
        let medians = seconds.map(|mut seconds| {
            seconds.sort_by(f64::total_cmp);
            seconds[ROUNDS / 2]
        });
        for ((way, median), memory) in ways.iter().zip(medians).zip(memory) {
            println!(
                "{name:8} {way:10} {median:8.3} s   × {:6.2}   {:8.1} MiB",
                median / medians[0],
                memory as f64 / 1024.0
            );
        }
    }
}

/// Runs one program, and prints its CPU time and peak memory.
fn child(name: &str, allocator: &str) {
    let (_, run) = PROGRAMS.iter().find(|(known, _)| *known == name).expect("a program of this name");
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let recording = (allocator == "recorder").then(|| {
        let path = folder.path().join("overhead.barrow");
        barrow_alloc::recording(path).expect("the folder is writable")
    });
    let profiler =
        (allocator == "dhat").then(|| dhat::Profiler::builder().file_name(folder.path().join("dhat.json")).build());
    let before = usage().0;
    std::hint::black_box(run());
    let (after, kib) = usage();
    println!("{:.4} {kib}", after - before);
    // What comes at the end, resolving the names above all, is not counted.
    drop((recording, profiler));
}

/// CPU seconds and peak memory of this process, in KiB.
fn usage() -> (f64, u64) {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the result goes to our variable, which may have any bytes.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    (seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss as u64)
}
