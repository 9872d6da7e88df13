//! The libraries for C and Python do what the crate does.

mod programs;

use std::path::{Path, PathBuf};
use std::process::Command;

use barrow_trial::Layout;
use programs::{ITERATIONS, Layouts, Told, distinct, libraries, run, said};

/// The layouts that the programs print when they are asked for them.
fn layouts() -> String {
    let layout = |i: u64| {
        let Layout { seed, stack, heap_small, heap_large, heap_offset } = Layout::of((i * 1_000_003).wrapping_neg(), i);
        format!("{seed} {stack} {heap_small} {heap_large} {heap_offset}\n")
    };
    (0..100).map(layout).collect()
}

/// The lines of the programs: one with knobs, one without, each iteration, and one of the run.
fn assert_lines(told: &Told, seed: Option<u64>) {
    assert_eq!(told.lines.len(), 2 * ITERATIONS + 1);
    for (number, lines) in told.lines[..2 * ITERATIONS].chunks(2).enumerate() {
        let layout = seed.map(|seed| Layout::of(seed, number as u64));
        let place = format!("{number}\t{}", layout.map(|layout| layout.seed.to_string()).unwrap_or_default());
        let begins = format!("value\ts um \tn s\tlower\t{place}\t");
        assert!(lines[0].starts_with(&begins), "{}", lines[0]);
        assert!(lines[0].contains("\taddress=") && lines[0].ends_with("\ta_ b=7"), "{}", lines[0]);
        if let Some(layout) = layout {
            let knobs = format!(
                "\theap_small={}\theap_large={}\theap_offset={}\t",
                layout.heap_small, layout.heap_large, layout.heap_offset
            );
            assert!(lines[0].contains(&knobs), "{}", lines[0]);
        }
        let fields: Vec<&str> = lines[1].split('\t').collect();
        assert_eq!(fields[..6].join("\t"), format!("value\trate\t\thigher\t{place}"));
        assert_eq!(fields[6].parse(), Ok(1e300));
        assert_eq!(fields.len(), 7);
    }
    let whole = &told.lines[2 * ITERATIONS];
    assert!(whole.starts_with("value\twhole\t\t\t\t\t1"), "{whole}");
}

/// Builds the program in C as one in this language. Warnings are errors.
fn build(folder: &Path, compiler: &str, flags: &[&str]) -> Option<PathBuf> {
    let name = format!("{compiler}{}", flags.join("")).replace('/', "_");
    let program = folder.join(name);
    let mut command = Command::new(compiler);
    command.args(flags).args(["-Wall", "-Wextra", "-pedantic", "-Werror", "-I"]).arg(libraries().join("c"));
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/iterations.c")).arg("-o").arg(&program);
    match command.output() {
        Ok(output) => {
            said(&output);
            Some(program)
        }
        Err(error) => {
            eprintln!("not tested: {compiler}: {error}");
            None
        }
    }
}

#[test]
fn programs_in_c() {
    let folder = tempfile::tempdir().unwrap();
    let ways: [(&str, &[&str]); 5] = [
        ("cc", &["-std=c99", "-O0"]),
        ("cc", &["-std=c99", "-O3"]),
        ("cc", &["-std=gnu17", "-O2", "-g"]),
        ("c++", &["-x", "c++", "-std=c++11", "-O2"]),
        ("c++", &["-x", "c++", "-std=c++17", "-O0"]),
    ];
    for (compiler, flags) in ways {
        let Some(program) = build(folder.path(), compiler, flags) else { continue };
        assert_eq!(said(&Command::new(&program).arg("layouts").output().unwrap()), layouts());
        for seed in 1..=3 {
            let told = run(Command::new(&program), Layouts::Random(seed, "stack,heap"));
            assert_lines(&told, Some(seed));
            let places = distinct(&told.printed);
            println!("{compiler} {flags:?}: variable, small block, input at {places:?} places in a page");
            assert!(places.iter().all(|&places| places >= 40), "{flags:?} {places:?}");
        }
        for layouts in [Layouts::Off, Layouts::Fixed] {
            let told = run(Command::new(&program), layouts);
            assert_eq!(distinct(&told.printed), [1, 1, 1], "{flags:?} {layouts:?}");
            match layouts {
                Layouts::Off => assert!(told.lines.is_empty()),
                _ => assert_lines(&told, None),
            }
        }
    }
}

#[test]
fn documented_programs_compile() {
    let folder = tempfile::tempdir().unwrap();
    let page = std::fs::read_to_string(libraries().join("c/README.md")).unwrap();
    let program = page.split("```c\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    let example = folder.path().join("example.c");
    std::fs::write(&example, program).unwrap();
    let benchmarks = libraries().join("../../benches/trials");
    for source in [example, benchmarks.join("aligned.c"), benchmarks.join("steady.c")] {
        let mut compiler = Command::new("cc");
        compiler.args(["-std=gnu99", "-O2", "-Wall", "-Wextra", "-Werror", "-I"]).arg(libraries().join("c"));
        compiler.arg(&source).arg("-o").arg(folder.path().join("program"));
        match compiler.output() {
            Ok(output) => said(&output),
            Err(error) => return eprintln!("not tested: cc: {error}"),
        };
        let told = run(Command::new(folder.path().join("program")), Layouts::Random(1, "heap"));
        assert_eq!(told.lines.len(), ITERATIONS, "{}", source.display());
    }
}

fn python() -> Option<Command> {
    let interpreter = || {
        let mut command = Command::new(std::env::var_os("BARROW_PYTHON").unwrap_or_else(|| "python3".into()));
        command.arg("-B").env("PYTHONPATH", libraries().join("python"));
        command
    };
    let is_new = "import sys; sys.exit(sys.version_info < (3, 9) or sys.implementation.name != 'cpython')";
    if !interpreter().args(["-c", is_new]).output().is_ok_and(|output| output.status.success()) {
        eprintln!("not tested: there is no CPython 3.9 or later");
        return None;
    }
    let mut command = interpreter();
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/iterations.py"));
    Some(command)
}

#[test]
fn programs_in_python() {
    let Some(mut asked) = python() else { return };
    assert_eq!(said(&asked.arg("layouts").output().unwrap()), layouts());
    for seed in 1..=2 {
        let told = run(python().unwrap(), Layouts::Random(seed, "stack,heap"));
        assert_lines(&told, Some(seed));
        let places = distinct(&told.printed);
        println!("Python: bytes object, bytearray at {places:?} places in a page");
        assert!(places.iter().all(|&places| places >= 40), "{places:?}");
    }
    assert_lines(&run(python().unwrap(), Layouts::Fixed), None);
    assert!(run(python().unwrap(), Layouts::Off).lines.is_empty());
}
