//! `barrow trial` with programs that have allocators of their own: they run as they would without it, and what they
//! allocate is counted, or said to be unknown.

#![cfg(target_os = "linux")]

mod program;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use program::trials::{asked, barrow, values};
use program::{Run, finished, program};

/// 50 rounds of 2,000 blocks of 1,000 to 2,999 bytes, of which those of the last round stay.
const WORK: &str = r#"
#include <stdlib.h>
#include <string.h>
int main(void) {
    static char *volatile blocks[2000];
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 2000; i++) {
            blocks[i] = malloc(1000 + i);
            memset(blocks[i], 1, 10);
        }
        for (int i = 0; i < 2000 && round < 49; i++) free(blocks[i]);
    }
    return 0;
}
"#;
const WORK_BLOCKS: f64 = 100_000.0;
const WORK_BYTES: f64 = 50.0 * 3_999_000.0;
const WORK_LIVE_BYTES: f64 = 3_999_000.0;
/// The most blocks and bytes that libraries may allocate before `main`.
const OF_LIBRARIES: [f64; 2] = [100.0, 500_000.0];

/// Not quietly: what is unknown is said.
fn trial(folder: &Path, words: &[&str]) -> Run {
    barrow(folder, &[&["trial", "--force", "-o", "t.barrow"], words].concat())
}

fn has_metric(folder: &Path, metric: &str) -> bool {
    asked(folder, &["trials"])["rows"].as_array().unwrap().iter().any(|row| row["metric"] == metric)
}

/// Returns whether a compiler made a program of this source in the folder, and prints the reason if not.
fn compiled(compiler: &str, folder: &Path, name: &str, source: &str, flags: &[&str]) -> bool {
    let file = folder.join(format!("{name}.{}", if compiler == "c++" { "cc" } else { "c" }));
    std::fs::write(&file, source).unwrap();
    let mut command = Command::new(compiler);
    command.args(["-O1", "-fno-builtin", "-o"]).arg(folder.join(name)).arg(file).args(flags);
    let Ok(output) = command.output() else {
        eprintln!("{name} is not tested: there is no {compiler}");
        return false;
    };
    if !output.status.success() {
        eprintln!("{name} is not tested: {}", String::from_utf8_lossy(&output.stderr));
    }
    output.status.success()
}

/// The path of a library as the compiler finds it.
fn library(name: &str) -> Option<PathBuf> {
    let output = Command::new("cc").arg(format!("-print-file-name={name}")).output().ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    if path.is_absolute() {
        return Some(path);
    }
    eprintln!("{name} is not tested: it is not installed");
    None
}

const ALLOCATORS: [&str; 3] = ["libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libmimalloc.so.2"];

#[test]
fn a_program_keeps_its_allocator_and_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let libraries = ALLOCATORS.iter().filter_map(|name| library(name)).map(|path| path.display().to_string());
    let flags = libraries.map(|path| vec!["-Wl,--no-as-needed".to_owned(), path]).chain([Vec::new()]);
    for (at, flags) in flags.enumerate() {
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        if !compiled("cc", folder, &format!("work{at}"), WORK, &flags) {
            continue;
        }
        for layout in ["as-is", "fixed", "random"] {
            let run = trial(folder, &["-n", "3", "--layout", layout, "--", &format!("./work{at}")]);
            assert_eq!(run.code, 0, "{flags:?} {layout}: {}", run.stderr);
            assert!(!run.stderr.contains("not known"), "{flags:?} {layout}: {}", run.stderr);
            let within = |metric: &str, least: f64, most: f64| {
                let found = values(folder, metric);
                assert!(found.iter().all(|value| (least..most).contains(value)), "{flags:?}: {metric} {found:?}");
            };
            let [blocks, bytes] = OF_LIBRARIES;
            within("blocks", WORK_BLOCKS, WORK_BLOCKS + blocks);
            // By the sizes of the allocator, which rounds up by a quarter at most.
            within("allocated", WORK_BYTES, WORK_BYTES * 1.25 + bytes);
            within("live_at_end", WORK_LIVE_BYTES, WORK_LIVE_BYTES * 1.25 + bytes);
        }
    }
}

/// An allocator that hands out and takes nothing back, whole or without `malloc_usable_size`.
const OWN: &str = r#"
#include <stddef.h>
static char pool[1 << 20];
static size_t at;
void *malloc(size_t size) { void *block = pool + at; at += (size + 15) & ~15ul; return at > sizeof pool ? NULL : block; }
void free(void *block) { if (block && ((char *)block < pool || (char *)block >= pool + sizeof pool)) __builtin_trap(); }
void *calloc(size_t count, size_t size) { return malloc(count * size); }
void *realloc(void *block, size_t size) {
    char *to = malloc(size);
    for (size_t i = 0; block && i < size; i++) to[i] = ((char *)block)[i];
    return to;
}
#ifndef LIBRARY
int main(void) { for (int i = 0; i < 100; i++) free(malloc(100)); return 0; }
#endif
"#;

#[test]
fn what_is_not_seen_is_unknown_and_not_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let path = folder.display().to_string();
    let main = "#include <stdlib.h>\nint main(void) { for (int i = 0; i < 100; i++) free(malloc(100)); return 0; }";
    let is_there = compiled("cc", folder, "own", OWN, &[])
        && compiled("cc", folder, "libpart.so", OWN, &["-DLIBRARY", "-shared", "-fPIC"])
        && compiled(
            "cc",
            folder,
            "part",
            main,
            &["-Wl,--no-as-needed", "-L", &path, "-l:libpart.so", "-Wl,-rpath", &path],
        );
    if !is_there {
        return;
    }
    let cases = [
        ("./own", "it has an allocator of its own"),
        ("./part", "it uses libpart.so, which has only a part of malloc's functions"),
        ("./own; true", "a program that it starts has an allocator of its own"),
    ];
    for (line, why) in cases {
        for layout in ["as-is", "fixed", "random"] {
            let run = trial(folder, &["-n", "3", "--layout", layout, line]);
            assert_eq!(run.code, 0, "{line} {layout}: {}", run.stderr);
            assert!(run.stderr.contains("its allocations are not known") && run.stderr.contains(why), "{}", run.stderr);
            assert!(!has_metric(folder, "peak_heap") && !has_metric(folder, "blocks"), "{line} {layout}");
            for words in [&["runs", "t.barrow", "0"][..], &["summary", "t.barrow"]] {
                let said = finished(program(folder).current_dir(folder).args(words).output().unwrap());
                assert!(said.stdout.contains("runs 0 to 2 of ") && said.stdout.contains(why), "{}", said.stdout);
            }
        }
    }
    // A library that only moves memory counts nothing: unknown is not 0.
    let run = trial(folder, &["-n", "2", "--layout", "random", "--no-heap-counts", "--", "sort", "/dev/null"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let told = asked(folder, &["trials"]);
    let metrics: Vec<&str> = told["rows"].as_array().unwrap().iter().filter_map(|row| row["metric"].as_str()).collect();
    assert!(metrics.contains(&"wall") && !metrics.contains(&"blocks"), "{metrics:?}");
    // Blocks that glibc hands out move nothing there; with counts or without.
    for words in [&["--no-heap-counts"][..], &[]] {
        let run = trial(folder, &[&["-n", "2", "--layout", "random"], words, &["--", "./own"]].concat());
        assert!(run.code == 0 && run.stderr.contains("the knob heap does nothing"), "{}", run.stderr);
        let runs = asked(folder, &["runs"]);
        let knobs = runs["rows"][0]["knobs"].as_object().unwrap();
        assert!(knobs.contains_key("stack") && !knobs.contains_key("heap_offset"), "{knobs:?}");
    }
}

/// Where such a program takes the address of `malloc`, it has a place of this name itself.
/// A launcher: it executes a program with the environment that it has, or with another one, in place of itself or beside it.
const LAUNCHER: &str = r#"
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
int main(int count, char **words) {
    char *none[] = {"A=1", NULL}, *work[] = {"./work", "1", NULL}, *no[] = {"./none", NULL};
    char **environment = strchr(words[1], '-') ? none : environ;
    pid_t child;
    switch (words[1][0]) {
    case 'e': execve("./none", no, none); execve("./work", work, environment); return 1;
    case 'l': execl("./none", "a", NULL); execle("./work", "1", "2", "3", "4", "5", "6", "7", "8", NULL, environment); return 1;
    case 'p': execlp("./none", "a", NULL); execvpe("./work", work, environment); return 1;
    case 's': if (posix_spawn(&child, "./work", NULL, NULL, work, environment)) return 1; break;
    case 'n': if (!posix_spawn(&child, "./none", NULL, NULL, no, none)) return 1; return 0;
    case 'v': if (!(child = vfork())) { execve("./none", no, none); execve("./work", work, environment); _exit(1); } break;
    case 'x': if (!(child = vfork())) { execle("./none", "a", NULL, none); _exit(0); } break;
    }
    int status;
    waitpid(child, &status, 0);
    return status;
}
"#;

/// `-` is another environment, without the library that counts.
#[test]
fn a_program_that_loses_the_library_is_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let is_there =
        compiled("cc", folder, "work", WORK, &[]) && compiled("cc", folder, "launcher", LAUNCHER, &["-D_GNU_SOURCE"]);
    if !is_there {
        return;
    }
    let static_works = compiled("cc", folder, "static", "int main(void) { return 0; }", &["-static"]);
    for how in ["e", "l", "p", "s", "n", "v", "x", "e-", "l-", "p-", "s-", "v-"] {
        let run = trial(folder, &["-n", "3", "--", "./launcher", how]);
        assert_eq!(run.code, 0, "{how}: {}", run.stderr);
        let verb = if "elp".contains(&how[..1]) { "becomes" } else { "starts" };
        let why = format!("its allocations are not known: it {verb} a program that has not loaded the library");
        assert_eq!(run.stderr.contains(&why), how.ends_with('-'), "{how}: {}", run.stderr);
        assert_eq!(has_metric(folder, "blocks"), !how.ends_with('-'), "{how}");
        if how.ends_with('-') || how == "n" || how == "x" {
            continue;
        }
        let blocks = values(folder, "blocks");
        assert!(blocks.iter().all(|blocks| (WORK_BLOCKS..WORK_BLOCKS + 200.0).contains(blocks)), "{how}: {blocks:?}");
    }
    for script in ["env -i ./work", "LD_PRELOAD=libm.so.6 ./work; :", "./static; :"] {
        if script.starts_with("./static") && !static_works {
            continue;
        }
        let run = trial(folder, &["-n", "2", "--", "sh", "-c", script]);
        assert!(run.stderr.contains("a program that has not loaded the library"), "{script}: {}", run.stderr);
        assert!(!has_metric(folder, "peak_heap"), "{script}");
    }
}

#[test]
fn a_program_at_a_fixed_address_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let source = "#include <stdlib.h>\n
void *(*volatile take)(size_t) = malloc;
void (*volatile give)(void *) = free;
int main(void) { for (int i = 0; i < 100; i++) give(take(100)); return 0; }";
    if !compiled("cc", folder, "placed", source, &["-no-pie", "-fno-pie"]) {
        return;
    }
    let run = trial(folder, &["-n", "2", "--layout", "random", "--", "./placed"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(values(folder, "blocks").iter().all(|blocks| (100.0..110.0).contains(blocks)));
}

#[test]
fn functions_past_malloc_are_not_counted() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let source = "#include <string>\n#include <vector>\n
int main() {
    std::vector<std::string> words;
    for (int i = 0; i < 1000; i++) words.push_back(std::string(100, 'x'));
    try { words.reserve(words.max_size()); } catch (const std::exception &) { return words.size() == 1000 ? 0 : 1; }
    return 2;
}";
    if !compiled("c++", folder, "plain", source, &[]) {
        return;
    }
    // The operators of C++ are those of libstdc++, which calls malloc: a block for each word, and more for the vector.
    let run = trial(folder, &["-n", "2", "--layout", "random", "--", "./plain"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(values(folder, "blocks").iter().all(|blocks| (1000.0..1100.0).contains(blocks)));
    let Some(library) = library("libjemalloc.so.2") else { return };
    assert!(compiled("c++", folder, "own", source, &["-Wl,--no-as-needed", &library.display().to_string()]));
    let run = trial(folder, &["-n", "2", "--layout", "random", "--", "./own"]);
    let why =
        "it also allocates through functions of libjemalloc.so.2 that are not counted, such as the operators of C++";
    assert!(run.code == 0 && run.stderr.contains(why), "{}", run.stderr);
    assert!(!has_metric(folder, "blocks"));
}

#[test]
fn another_library_of_c_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    if !compiled("musl-gcc", folder, "musl", WORK, &[]) {
        return;
    }
    let run = trial(folder, &["-n", "2", "--layout", "random", "--", "./musl"]);
    assert!(run.code == 0 && run.stderr.contains("does not use glibc"), "{}", run.stderr);
    // A shell loads the library that counts, and hands it on to what it starts.
    let run = trial(folder, &["-n", "2", "--layout", "random", "./musl; true"]);
    assert!(run.code == 0 && run.stderr.contains("a program that it starts uses ld-musl-"), "{}", run.stderr);
    assert!(!has_metric(folder, "blocks"));
}

#[test]
fn a_heap_of_go_is_not_that_of_malloc() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let source = "package main\n\n// #include <stdlib.h>\nimport \"C\"\n\nfunc main() { C.free(C.malloc(10)) }\n";
    std::fs::write(folder.join("main.go"), source).unwrap();
    let mut go = Command::new("go");
    go.args(["build", "-o", "go-program", "main.go"]).current_dir(folder);
    let built = go.env("CGO_ENABLED", "1").env("GOCACHE", folder.join("go-cache")).env("GOFLAGS", "-mod=mod").output();
    if !built.is_ok_and(|built| built.status.success()) {
        eprintln!("Go is not tested: it is not installed, or has no cgo");
        return;
    }
    let run = trial(folder, &["-n", "2", "--layout", "random", "--", "./go-program"]);
    assert!(run.code == 0 && run.stderr.contains("it is a program of Go, whose heap is not that of malloc"));
    assert!(!has_metric(folder, "blocks"));
}

/// Four threads that allocate with every function of the family and fork, with all descriptors closed; then what the loader
/// does: another program, and libraries.
const BUSY: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
static void *work(void *unused) {
    for (int i = 0; i < 500; i++) {
        void *blocks[7], *aligned = NULL;
        blocks[0] = realloc(malloc(100 + i % 50), 1000);
        if (posix_memalign(&aligned, 64, 100)) abort();
        blocks[1] = aligned;
        blocks[2] = memalign(128, 50);
        blocks[3] = aligned_alloc(64, 64);
        blocks[4] = valloc(100);
        blocks[5] = calloc(3, 50);
        blocks[6] = reallocarray(NULL, 3, 9);
        for (int at = 0; at < 7; at++) free(blocks[at]);
        if (i % 250 == 0) {
            pid_t child = fork();
            if (child == 0) { free(malloc(50)); _exit(0); }
            int status;
            if (waitpid(child, &status, 0) < 0 || status != 0) abort();
        }
    }
    return unused;
}
int main(int count, char **words) {
    for (int file = 0; file < 256; file++) close(file);
    pthread_t threads[4];
    for (int at = 0; at < 4; at++) pthread_create(threads + at, NULL, work, NULL);
    for (int at = 0; at < 4; at++) pthread_join(threads[at], NULL);
    pid_t child;
    int status;
    char *others[] = {"true", NULL};
    if (posix_spawnp(&child, "true", NULL, NULL, others, environ) || waitpid(child, &status, 0) < 0) abort();
    void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
    if (library) { if (dlsym(library, "none")) abort(); dlclose(library); }
    if (!malloc_usable_size(environ ? malloc(1) : NULL)) abort();
    return status;
}
"#;

#[test]
fn threads_forks_and_libraries_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let libraries = ALLOCATORS.iter().filter_map(|name| library(name)).map(|path| path.display().to_string());
    let flags = libraries.map(|path| vec!["-Wl,--no-as-needed".to_owned(), path]).chain([Vec::new()]);
    for (at, flags) in flags.enumerate() {
        let flags: Vec<&str> = flags.iter().map(String::as_str).chain(["-pthread", "-ldl"]).collect();
        if !compiled("cc", folder, &format!("busy{at}"), BUSY, &flags) {
            continue;
        }
        for bind_now in [false, true] {
            let line = ["-n", "3", "--layout", "random", "--", &format!("./busy{at}")];
            let mut command = program(folder);
            command.current_dir(folder).args(["trial", "--force", "-o", "t.barrow"]).args(line);
            if bind_now {
                command.env("LD_BIND_NOW", "1");
            }
            let run = finished(command.output().unwrap());
            assert_eq!(run.code, 0, "{flags:?} {bind_now}: {}", run.stderr);
            // Eight blocks in each iteration, one of each child.
            let least = 4.0 * 500.0 * 8.0 + 8.0;
            let found = values(folder, "blocks");
            assert!(found.iter().all(|blocks| (least..least + 1000.0).contains(blocks)), "{flags:?}: {found:?}");
        }
    }
}

#[test]
fn checkers_of_memory_still_check() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let source = "#include <stdlib.h>\nint main(void) { for (int i = 0; i < 10; i++) free(malloc(10)); return 0; }";
    for sanitizer in ["address", "leak"] {
        let flag = format!("-fsanitize={sanitizer}");
        if !compiled("cc", folder, sanitizer, source, &[&flag]) {
            continue;
        }
        // As a program of the trial, and as one that such a program starts.
        for line in [format!("./{sanitizer}"), format!("./{sanitizer}; ./{sanitizer}")] {
            let run = trial(folder, &["-n", "2", "--layout", "random", &line]);
            assert_eq!(run.code, 0, "{line}: {}", run.stderr);
            assert!(values(folder, "blocks").iter().all(|blocks| *blocks >= 10.0), "{line}");
        }
    }
}

#[test]
fn a_program_that_goes_on_as_another_user_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    let user = ["setpriv", "--reuid", "65534", "--clear-groups"];
    if !Command::new(user[0]).args(&user[1..]).arg("true").output().is_ok_and(|output| output.status.success()) {
        eprintln!("another user is not tested: only root can become one, by setpriv");
        return;
    }
    if !compiled("cc", folder, "work", WORK, &[]) {
        return;
    }
    let line = format!("{} ./work 2>> said", user.join(" "));
    let run = trial(folder, &["-n", "2", "--layout", "random", &line]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(values(folder, "blocks").iter().all(|blocks| *blocks > WORK_BLOCKS));
    assert_eq!(std::fs::read_to_string(folder.join("said")).unwrap(), "");
}

#[test]
fn counts_that_differ_in_spite_of_a_fixed_layout_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // The numbers of processes follow each other.
    let source = "#include <stdlib.h>\n#include <unistd.h>\n
int main(void) { return !malloc(1000 + getpid() % 1000 * 16) || !calloc(1, 10); }";
    if !compiled("cc", folder, "different", source, &[]) {
        return;
    }
    let said = "counts differ although the layout is fixed";
    let run = trial(folder, &["-n", "6", "--layout", "fixed", "--", "./different"]);
    assert!(run.code == 0 && run.stderr.contains(said) && run.stderr.contains("of 6 runs unlike"), "{}", run.stderr);
    assert!(!run.stderr.contains("blocks from"), "{}", run.stderr);
    let run = trial(folder, &["-n", "6", "--layout", "as-is", "--", "./different"]);
    assert!(!run.stderr.contains(said), "{}", run.stderr);
    let run = trial(folder, &["-n", "6", "--layout", "fixed", "--", "true"]);
    assert!(!run.stderr.contains(said), "{}", run.stderr);
}
