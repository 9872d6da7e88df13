//! Labels of command lines, as compilers and other tools are started in builds, and mistakes in files of rules.

use std::sync::Arc;

use barrow_analyzer::Recording;
use barrow_processes::{Classes, ImageId, ProcessTree, Rules};
use barrow_testdata::Shelf;
use barrow_writer::{Options, ProcessDescription, ProgramDescription, Writer};

/// A tree in which a process executes each line in a folder; `by` is what recorded it.
fn tree(lines: &[&str], by: &str) -> ProcessTree {
    let shelf = Shelf::default();
    let options = Options::without_threads();
    let writer = Writer::to_stream(Box::new(shelf.clone()), options).unwrap();
    writer.fact("recorded by", by).unwrap();
    for (time_ns, line) in (0..).zip(lines) {
        let arguments: Vec<&str> = match line.split_once(" -c '") {
            Some((shell, text)) => vec![shell, "-c", text.trim_end_matches('\'')],
            None => line.split(' ').collect(),
        };
        let program =
            ProgramDescription { executable: Some(arguments[0]), directory: Some("/src/lib"), arguments: &arguments };
        let begun = ProcessDescription { time_ns, pid: 1, program, ..ProcessDescription::default() };
        writer.begin_process(&begun).unwrap();
    }
    writer.finish().unwrap();
    ProcessTree::read(Arc::new(Recording::from_bytes(shelf.take()).unwrap())).unwrap()
}

const LINES: &[(&str, &str, &str, Option<&str>)] = &[
    // gcc 12 of Debian, as `gcc -###` prints it
    ("/usr/bin/gcc -O2 -DNDEBUG -c -o a.o a.c", "compiler", "gcc", Some("a.c")),
    (
        "/usr/lib/gcc/x86_64-linux-gnu/12/cc1 -quiet -imultiarch x86_64-linux-gnu a.c -quiet -dumpbase a.c -O2 -o /tmp/c.s",
        "compiler",
        "cc1",
        Some("a.c"),
    ),
    ("as --64 -o /tmp/cc7Bja3v.o /tmp/ccQIcDN7.s", "assembler", "as", Some("/tmp/cc7Bja3v.o")),
    (
        "/usr/lib/gcc/x86_64-linux-gnu/12/collect2 -plugin liblto.so -o a crt1.o /tmp/c.o",
        "linker",
        "collect2",
        Some("a"),
    ),
    ("/usr/bin/ld -plugin liblto.so -o a crt1.o /tmp/c.o", "linker", "ld", Some("a")),
    ("gcc -o prog a.o b.o -lm", "linker", "gcc", Some("prog")),
    ("x86_64-linux-gnu-g++-12 -c x/y.cc", "compiler", "x86_64-linux-gnu-g++-12", Some("x/y.cc")),
    ("cc --version", "compiler", "cc", None),
    ("clang++ -std=c++20 -c z.cpp -o z.o", "compiler", "clang++", Some("z.cpp")),
    ("/usr/lib/llvm-14/bin/ld.lld -o bin/x a.o", "linker", "ld.lld", Some("bin/x")),
    ("mold -o y b.o", "linker", "mold", Some("y")),
    ("ar cr libz.a a.o b.o", "archiver", "ar", Some("libz.a")),
    ("ranlib libz.a", "archiver", "ranlib", Some("libz.a")),
    // cargo
    (
        "/root/.rustup/toolchains/stable-x86_64-unknown-linux-gnu/bin/cargo test --workspace",
        "build-tool",
        "cargo",
        None,
    ),
    (
        "/root/.rustup/toolchains/stable-x86_64-unknown-linux-gnu/bin/rustc --crate-name barrow_analyzer --edition=2024 x.rs",
        "compiler",
        "rustc",
        Some("barrow_analyzer"),
    ),
    ("sccache rustc --crate-name libc src/lib.rs", "compiler", "rustc", Some("libc")),
    (
        "/w/target/debug/build/libc-0123456789abcdef/build-script-build",
        "build-script",
        "build-script-build",
        Some("libc"),
    ),
    // cargo 1.95 calls a package `proc-macro2`, and rustc its crate `proc_macro2`.
    (
        "rustc --crate-name proc_macro2 --edition=2021 src/lib.rs --crate-type lib --out-dir /w/target/debug/deps -C x=1",
        "compiler",
        "rustc",
        Some("proc_macro2"),
    ),
    (
        "rustc --crate-name build_script_build build.rs --out-dir /w/target/debug/build/proc-macro2-1612cd1e9f8dd8e3 -L x",
        "compiler",
        "rustc",
        Some("proc_macro2"),
    ),
    (
        "/w/target/debug/build/proc-macro2-1612cd1e9f8dd8e3/build-script-build",
        "build-script",
        "build-script-build",
        Some("proc_macro2"),
    ),
    (
        "rustc --crate-name probe build/probe.rs --out-dir /w/target/debug/build/proc-macro2-abcdef0123456789/out/probe",
        "compiler",
        "rustc",
        Some("proc_macro2"),
    ),
    (
        "cc -m64 /tmp/rustcX/symbols.o -o /w/target/debug/build/proc-macro2-1612cd1e9f8dd8e3/build_script_build-1612cd1e9f8dd8e3 -pie",
        "linker",
        "cc",
        Some("proc_macro2"),
    ),
    (
        "rust-lld -flavor gnu -shared -o /w/target/debug/deps/libthiserror_impl-8a08c13ef4894e53.so /usr/lib/crti.o",
        "linker",
        "rust-lld",
        Some("thiserror_impl"),
    ),
    ("collect2 -o /w/target/debug/deps/my_tool-8a08c13ef4894e53 a.o", "linker", "collect2", Some("my_tool")),
    ("ld -shared -o /w/target/debug/deps/libplug_in.so a.o", "linker", "ld", Some("plug_in")),
    ("ld -o /w/target/debug/deps/libfoo-8a08c13ef4894e53 a.o", "linker", "ld", Some("libfoo")),
    // The layout of build folders that cargo is about to have.
    (
        "rustc --crate-name build_script_build build.rs --out-dir /w/build/debug/build/proc-macro2/1612cd1e9f8dd8e3/out",
        "compiler",
        "rustc",
        Some("proc_macro2"),
    ),
    (
        "/w/target/debug/deps/totals-5fbd0124637a1ae5 --nocapture",
        "test-runner",
        "totals-5fbd0124637a1ae5",
        Some("totals"),
    ),
    // Go
    ("/usr/bin/go build ./...", "build-tool", "go", None),
    (
        "/usr/lib/go-1.19/pkg/tool/linux_amd64/compile -o $WORK/b002/_pkg_.a -trimpath $WORK/b002=> -p internal/cpu -std",
        "compiler",
        "compile",
        Some("internal/cpu"),
    ),
    ("/usr/lib/go-1.19/pkg/tool/linux_amd64/asm -p runtime -I x a.s", "assembler", "asm", Some("runtime")),
    ("/usr/lib/go-1.19/pkg/tool/linux_amd64/link -o a.out -importcfg c b.a", "linker", "link", Some("a.out")),
    ("link a b", "link", "link", None),
    // Java
    ("/usr/bin/javac -d out src/A.java", "compiler", "javac", Some("src/A.java")),
    (
        "java -Xmx2g -cp /opt/gradle.jar org.gradle.launcher.daemon.bootstrap.GradleDaemon 8.5",
        "build-tool",
        "java org.gradle.launcher.daemon.bootstrap.GradleDaemon",
        None,
    ),
    ("java -jar /tmp/surefire/surefirebooter1.jar x", "test-runner", "java surefirebooter1.jar", None),
    (
        "java -cp kotlin.jar org.jetbrains.kotlin.cli.jvm.K2JVMCompiler A.kt",
        "compiler",
        { "java org.jetbrains.kotlin.cli.jvm.K2JVMCompiler" },
        Some("A.kt"),
    ),
    ("java -cp . Main", "interpreter", "java Main", None),
    // JavaScript
    ("node /usr/bin/npm run build", "package-manager", "node npm", None),
    ("/usr/bin/node node_modules/.bin/tsc -p .", "compiler", "node tsc", None),
    ("node /w/node_modules/webpack/bin/webpack.js --mode production", "bundler", "node webpack.js", None),
    ("node node_modules/.bin/jest --ci", "test-runner", "node jest", None),
    ("node server.js", "interpreter", "node server.js", None),
    ("/w/node_modules/@esbuild/linux-x64/bin/esbuild --service=0.19", "bundler", "esbuild", None),
    // Python
    ("/usr/bin/python3 -m pytest tests/test_a.py", "test-runner", "python3 pytest", Some("tests/test_a.py")),
    ("/usr/bin/python3 /usr/bin/pip3 install .", "package-manager", "python3 pip3", None),
    ("python3 setup.py build_ext", "build-tool", "python3 setup.py", None),
    ("python3.11 -W ignore script.py", "interpreter", "python3.11 script.py", None),
    // Autotools, make and others
    ("/bin/sh ./configure --prefix=/usr", "configure", "sh configure", None),
    ("/bin/bash ../libtool --tag=CC --mode=compile gcc -c a.c", "build-tool", "bash libtool", None),
    ("/usr/bin/perl /usr/bin/automake-1.16 --gnu", "configure", "perl automake-1.16", None),
    ("make -j4", "build-tool", "make", None),
    ("cmake --build .", "build-tool", "cmake", None),
    ("ninja -C out", "build-tool", "ninja", None),
    ("/bin/sh -c 'echo hello'", "shell", "sh", None),
    ("sed -e s/a/b/ x", "text-tool", "sed", None),
    ("install -m 644 a b", "file-tool", "install", None),
    // Wrappers
    ("env CC=gcc nice -n 10 timeout 60 ccache gcc -c q.c", "compiler", "gcc", Some("q.c")),
    ("distcc g++ -c r.cc", "compiler", "g++", Some("r.cc")),
    ("time -v make", "build-tool", "make", None),
    ("ccache -s", "wrapper", "ccache", None),
    // What nothing is known of is called by its name.
    ("/opt/frobnicate --all", "frobnicate", "frobnicate", None),
];

#[test]
fn command_lines_have_classes_without_configuration() {
    let lines: Vec<&str> = LINES.iter().map(|line| line.0).collect();
    let tree = tree(&lines, "barrow record");
    let classes = Classes::of(&tree, Rules::standard()).unwrap();
    let names: Vec<&str> = classes.schemata().iter().map(|schema| schema.name()).collect();
    assert_eq!(names, ["category", "program", "directory", "unit"]);
    let mut wrong = Vec::new();
    for (at, &(line, category, program, unit)) in (0..).zip(LINES) {
        let found: Vec<Option<&str>> = classes.schemata().iter().map(|schema| schema.class(ImageId(at))).collect();
        if found != [Some(category), Some(program), Some("lib"), unit] {
            wrong.push(format!("{line}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn shells_are_looked_through_where_only_recipes_were_recorded() {
    let lines =
        ["/bin/sh -c 'cd sub && ccache gcc -c a.c'", "/bin/sh -c 'rm -f x.a; ar cr x.a a.o'", "/bin/sh -c 'cd x'"];
    let found = |by| {
        let tree = tree(&lines, by);
        let classes = Classes::of(&tree, Rules::standard()).unwrap();
        (0..3).map(|at| classes.first().class(ImageId(at)).unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(found("Kleknev"), ["compiler", "archiver", "shell"]);
    assert_eq!(found("barrow record"), ["shell", "shell", "shell"]);
}

#[test]
fn schemata_of_a_file_come_first_and_test_others_in_any_order() {
    let rules = r#"
        [[schema]]
        name = "family"
        only = { stage = "^fonts$" }
        otherwise = "IGNORE"
        [[schema.rule]]
        arguments = 'font-(?<family>[a-z]+)'
        label = "${family}"

        [[schema]]
        name = "stage"
        otherwise = "${category}/${directory}"
        [[schema.rule]]
        program = "^mt1$"
        label = "fonts"
    "#;
    let rules = Rules::read("barrow-classes.toml", rules).unwrap();
    let tree = tree(&["mt1 font-tsuku", "mt1 x", "gcc -c font-bll.c", "mt1 font-bll"], "barrow record");
    let classes = Classes::of(&tree, &rules).unwrap();
    let names: Vec<&str> = classes.schemata().iter().map(|schema| schema.name()).collect();
    assert_eq!(names, ["family", "stage", "category", "program", "directory", "unit"]);
    let labels = |name: &str| {
        let schema = classes.schema(name).unwrap();
        (0..4).map(|at| schema.class(ImageId(at))).collect::<Vec<_>>()
    };
    assert_eq!(labels("family"), [Some("tsuku"), None, None, Some("bll")]);
    assert_eq!(labels("stage"), [Some("fonts"), Some("fonts"), Some("compiler/lib"), Some("fonts")]);
    assert_eq!(classes.schema("family").unwrap().labels(), ["tsuku", "bll"]);
}

#[test]
fn many_rules_give_what_one_by_one_would() {
    let mut text = "default = false\n[[schema]]\nname = \"s\"\n".to_owned();
    (0..90).for_each(|at| text += &format!("[[schema.rule]]\narguments = \"x{at}( |$)\"\nlabel = \"l{at}\"\n"));
    let rules = Rules::read("many.toml", &text).unwrap();
    let tree = tree(&["a x89", "a x7 x3", "a y", "a x64 x65"], "barrow record");
    let classes = Classes::of(&tree, &rules).unwrap();
    let labels: Vec<_> = (0..4).map(|at| classes.first().class(ImageId(at)).unwrap()).collect();
    assert_eq!(labels, ["l89", "l3", "a", "l64"]);
}

#[test]
fn mistakes_name_the_file_and_the_line() {
    let schema = |rest: &str| format!("[[schema]]\nname = \"a\"\n{rest}");
    let rule = |rest: &str| schema(&format!("[[schema.rule]]\n{rest}"));
    for (text, told) in [
        ("[[schema]\n".to_owned(), "r.toml, line 1: "),
        (schema("colour = 1"), "r.toml, line 3: unknown field `colour`"),
        (
            rule("label = 'x'\nprogram = 'a(b'"),
            "r.toml, line 5: the pattern `a(b` is no regular expression: unclosed group",
        ),
        (rule("label = '$1'\nprogram = 'a'"), "r.toml, line 4: `${1}` is no group of the rule's patterns"),
        (rule("label = 'x'\nclass = { b = 'y' }"), "r.toml, line 5: there is no schema `b`"),
        (rule("program = 'x'"), "r.toml, line 3: missing field `label`"),
        (schema("[[schema]]\nname = 'a'"), "r.toml, line 4: there are two schemata `a`"),
        (
            schema("only = { b = 'x' }\n[[schema]]\nname = 'b'\notherwise = '${a}'"),
            "r.toml, line 3: schemata test each other in a circle: a → b → a",
        ),
        (schema("otherwise = '${a}'"), "r.toml, line 3: schemata test each other in a circle: a → a"),
        ("default = false".to_owned(), "r.toml, line 1: there is no [[schema]]"),
        (schema("[[wrapper]]\nprogram = '['"), "r.toml, line 4: the pattern `[` is no regular expression"),
    ] {
        let error = Rules::read("r.toml", &text).unwrap_err().to_string();
        assert!(error.starts_with(told) && !error.contains('\n'), "{text}\n{error}");
    }
}

#[test]
fn one_schema_alone_has_the_labels_that_it_has_among_all() {
    let lines: Vec<&str> = LINES.iter().map(|line| line.0).collect();
    let tree = tree(&lines, "barrow record");
    let all = Classes::of(&tree, Rules::standard()).unwrap();
    for (at, schema) in all.schemata().iter().enumerate() {
        let only = Classes::only(&tree, Rules::standard(), |wanted| wanted == at).unwrap();
        let only = &only.schemata()[at];
        assert_eq!((only.name(), only.labels()), (schema.name(), schema.labels()));
        assert!((0..lines.len() as u32).all(|image| only.label(ImageId(image)) == schema.label(ImageId(image))));
    }
}

/// Each schema holds the label of the one before ten times: 100 bytes become 10^12 in ten schemata.
#[test]
fn labels_that_hold_labels_have_a_limit() {
    let schema = |at: u32| {
        let label = if at == 0 { "x".repeat(100) } else { format!("${{l{}}}", at - 1).repeat(10) };
        format!("[[schema]]\nname = 'l{at}'\n[[schema.rule]]\nprogram = '.*'\nlabel = '{label}'\n")
    };
    let rules = |schemata: u32| Rules::read("r.toml", &(0..schemata).map(schema).collect::<String>());
    assert!(rules(2).is_ok());
    let error = rules(11).expect_err("too long").to_string();
    assert_eq!(error, "r.toml, line 15: label 1 of the schema `l2` takes 10000 bytes, the limit is 4096");
}

/// What a program captures is as long as its arguments: rules that repeat it are refused before they meet one.
#[test]
fn labels_that_repeat_what_they_capture_have_a_limit() {
    let schema = |at: u32| {
        let label = if at == 0 { "$1".repeat(10) } else { format!("${{l{}}}", at - 1).repeat(10) };
        format!("[[schema]]\nname = 'l{at}'\n[[schema.rule]]\narguments = '(.*)'\nlabel = '{label}'\n")
    };
    let read = |schemata: u32| Rules::read("r.toml", &(0..schemata).map(schema).collect::<String>());
    let error = read(2).expect_err("too many").to_string();
    assert_eq!(error, "r.toml, line 10: label 1 of the schema `l1` holds 100 texts of the program, the limit is 64");
    // Ten times 300 letters are fewer than 4,096 bytes, ten times 500 are not.
    let rules = read(1).expect("few texts");
    let (short, long) = ("s".repeat(300), "l".repeat(500));
    let fitting = tree(&[&format!("x {short}")], "barrow record");
    assert_eq!(Classes::of(&fitting, &rules).unwrap().first().labels(), [format!("x {short}").repeat(10)]);
    let excessive = tree(&[&format!("x {short}"), &format!("x {long}")], "barrow record");
    let error = Classes::of(&excessive, &rules).expect_err("5,020 bytes").to_string();
    let told = "r.toml, line 5: label 1 of the schema `l0` takes 5020 bytes for a program of this recording, the limit is 4096";
    assert!(error.starts_with(told) && !error.contains(&long), "{error}");
}

/// No text of a program makes the default rules invalid: their labels end with `…`.
#[test]
fn default_rules_cut_what_is_too_long() {
    let (one, other) = (format!("{}1", "l".repeat(5000)), format!("{}2", "l".repeat(5000)));
    let tree = tree(&[&format!("cc -c {one}.c"), &format!("cc -c {other}.c"), "cc -c short.c"], "barrow record");
    let classes = Classes::of(&tree, Rules::standard()).unwrap();
    let units = classes.schema("unit").expect("a default schema");
    assert_eq!((units.labels().len(), units.cut_labels()), (2, 1), "{:?}", units.labels());
    assert!(units.labels()[0].len() <= 4096 && units.labels()[0].ends_with('…'));
    // The user's rules that test such a label are valid, those that lengthen it are not.
    let read = |label: &str| {
        let text = format!("[[schema]]\nname = 'a'\n[[schema.rule]]\nprogram = 'cc'\nlabel = '{label}'\n");
        Rules::read("r.toml", &text).unwrap()
    };
    assert!(Classes::of(&tree, &read("${unit}")).is_ok());
    assert!(Classes::of(&tree, &read("of ${unit}")).is_err());
}

/// Of a recording of cargo: folders and names of rustc say which crate each process is of.
#[test]
fn a_crate_of_a_recording_is_one_unit() {
    let path = barrow_testdata::path("builds/cargo-j1.barrow");
    let tree = ProcessTree::read(Arc::new(Recording::open(&path).unwrap())).unwrap();
    let classes = Classes::of(&tree, Rules::standard()).unwrap();
    let units = classes.schema("unit").unwrap();
    assert!(
        !units.labels().iter().any(|label| label == "build_script_build" || label.contains("/build_script_build-"))
    );
    let (mut found, mut sought) = (0, 0);
    for at in 0..tree.images().len() as u32 {
        let image = tree.image(ImageId(at));
        let line = tree.arguments(image).collect::<Vec<_>>().join(" ");
        let of_crate =
            ["--crate-name proc_macro2 ", "--crate-name=proc_macro2 ", "vendor/proc-macro2-", "/build/proc-macro2-"];
        // Other crates of rustc name the build folder of one that they depend on.
        let telling = if line.contains("--crate-name") { &of_crate[..3] } else { &of_crate[..] };
        sought += u32::from(telling.iter().any(|part| line.contains(part)));
        found += u32::from(units.class(ImageId(at)) == Some("proc_macro2"));
    }
    // The build script, its compiler and four images of linkers; the library, and three probes.
    assert_eq!((found, sought), (10, 10));
}
