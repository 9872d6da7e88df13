//! Expressions hold for the images for which their definition says so.

use std::fmt::Write;
use std::sync::Arc;

use barrow_analyzer::Recording;
use barrow_processes::{
    ATTRIBUTES, Attribute, Classes, Expression, ImageId, ImageNames, ImageSet, ProcessTree, Rules, Usage,
};
use barrow_testdata::Random;
use barrow_writer::{Options, ProcessDescription, ProcessEnd, ProgramDescription, Writer};

/// An image as a simple program would remember it.
#[derive(Debug, Clone, Default)]
struct Row {
    process: usize,
    image: u64,
    pid: u64,
    serial: u64,
    host: Option<&'static str>,
    label: Option<&'static str>,
    waited: bool,
    /// The image that started the process, by its number.
    started_by: Option<usize>,
    executable: Option<&'static str>,
    directory: Option<&'static str>,
    arguments: Vec<&'static str>,
    forked: bool,
    began: u64,
    ended: Option<u64>,
    exit: Option<u64>,
    signal: Option<u64>,
    oom: bool,
    used: [Option<u64>; 8],
}

const EXECUTABLES: [&str; 4] = ["/usr/bin/gcc", "/usr/lib/cc1", "/bin/sh", "ld"];
const ARGUMENTS: [&[&str]; 6] =
    [&["gcc", "-c", "a.c"], &["/usr/lib/cc1", "a b"], &["sh"], &["ld"], &[""], &["é\u{1b}\"("]];

fn pick<T: Clone>(random: &mut Random, of: &[T]) -> T {
    of[random.below(of.len() as u64) as usize].clone()
}

fn maybe<T: Clone>(random: &mut Random, of: &[T]) -> Option<T> {
    (random.below(4) > 0).then(|| pick(random, of))
}

fn usage(of: [Option<u64>; 8]) -> Usage {
    let [user_ns, system_ns, peak_bytes, minor_faults, major_faults, read_bytes, written_bytes, waiting_ns] = of;
    let used = Usage { user_ns, system_ns, peak_bytes, minor_faults, major_faults, ..Usage::default() };
    Usage { read_bytes, written_bytes, waiting_ns, ..used }
}

/// A random tree, and what a simple program remembers of it.
fn random_tree(seed: u64) -> (ProcessTree, Vec<Row>) {
    let mut random = Random::new(seed);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("build.barrow");
    let writer = Writer::create(&path, Options::without_threads()).unwrap();
    // It tells of each process whether its parent waited.
    writer.fact("recorded by", "barrow record").unwrap();
    let (mut rows, mut running, mut ids) = (Vec::<Row>::new(), Vec::<usize>::new(), Vec::new());
    let mut counters: Vec<[Option<u64>; 8]> = Vec::new();
    for time in 0..60u64 {
        let time_ns = time as i64 * 100;
        match random.below(5) {
            0..=1 => {
                let started_by = if running.is_empty() { None } else { Some(pick(&mut random, &running)) };
                let forked = started_by.is_some() && random.below(2) == 0;
                let host = pick(&mut random, &[None, Some("east"), Some("west")]);
                let pid = 1 + random.below(9);
                let known = |row: &&Row| row.image == 0 && row.pid == pid && row.host == host;
                let mut row =
                    Row { process: ids.len(), pid, host, started_by, forked, began: time * 100, ..Row::default() };
                row.serial = rows.iter().filter(known).count() as u64;
                if forked {
                    let starter = &rows[started_by.unwrap()];
                    row.executable = starter.executable;
                    row.directory = starter.directory;
                    row.arguments.clone_from(&starter.arguments);
                } else {
                    program(&mut random, &mut row);
                }
                let described = ProgramDescription {
                    executable: row.executable,
                    directory: row.directory,
                    arguments: &row.arguments,
                };
                let parent = started_by.map(|image| ids[rows[image].process]);
                let program = if forked { ProgramDescription::default() } else { described };
                let id = writer.begin_process(&ProcessDescription { time_ns, pid, parent, host, program }).unwrap();
                if random.below(3) == 0 {
                    row.label = Some("target");
                    writer.process_attributes(id, &[("label", "target")]).unwrap();
                }
                ids.push(id);
                counters.push([Some(0); 8]);
                running.push(rows.len());
                rows.push(row);
            }
            2 if !running.is_empty() => {
                let at = random.below(running.len() as u64) as usize;
                let before = running[at];
                let used = grown(&mut random, &counters[rows[before].process]);
                let mut row = Row { image: rows[before].image + 1, began: time * 100, ..rows[before].clone() };
                program(&mut random, &mut row);
                let described = ProgramDescription {
                    executable: row.executable,
                    directory: row.directory,
                    arguments: &row.arguments,
                };
                writer.process_image(ids[row.process], time_ns, &described, usage(used)).unwrap();
                if rows[before].forked {
                    // The copy becomes the first image; its time and CPU count.
                    let began = rows[before].began;
                    rows[before] = Row { image: 0, began, forked: false, ..row };
                } else {
                    rows[before].used = since(&counters[row.process], &used);
                    rows[before].ended = Some(time * 100);
                    counters[row.process] = used;
                    running[at] = rows.len();
                    rows.push(Row { forked: false, used: [None; 8], ..row });
                }
            }
            3 if !running.is_empty() => {
                let at = random.below(running.len() as u64) as usize;
                let last = running.swap_remove(at);
                let process = rows[last].process;
                let used = grown(&mut random, &counters[process]);
                let signal = if random.below(4) == 0 { Some(pick(&mut random, &[9, 11, 64])) } else { None };
                let exit_status = if signal.is_none() { Some(random.below(3)) } else { None };
                writer
                    .end_process(ids[process], time_ns, &ProcessEnd { exit_status, signal, used: usage(used) })
                    .unwrap();
                let of = &mut rows[last];
                (of.exit, of.signal, of.ended) = (exit_status, signal, Some(time * 100));
                of.used = since(&counters[process], &used);
                let waited = random.below(3) > 0;
                if !waited {
                    writer.process_attributes(ids[process], &[("not waited for", "never")]).unwrap();
                }
                of.oom = random.below(5) == 0;
                if of.oom {
                    writer.process_attributes(ids[process], &[("killed by", "out of memory")]).unwrap();
                }
                rows.iter_mut().filter(|row| row.process == process).for_each(|row| row.waited = waited);
            }
            _ => {}
        }
    }
    writer.finish().unwrap();
    let recording = Recording::from_bytes(std::fs::read(path).unwrap()).unwrap();
    // A label belongs to every image of the process.
    for at in 0..rows.len() {
        rows[at].label = rows.iter().find(|row| row.process == rows[at].process && row.image == 0).unwrap().label;
    }
    (ProcessTree::read(Arc::new(recording)).unwrap(), rows)
}

fn program(random: &mut Random, row: &mut Row) {
    row.executable = maybe(random, &EXECUTABLES);
    row.directory = maybe(random, &["/src", "/src/lib", "/"]);
    row.arguments = pick(random, &ARGUMENTS).to_vec();
}

/// Counters after a while; some are not known.
fn grown(random: &mut Random, before: &[Option<u64>; 8]) -> [Option<u64>; 8] {
    before.map(|count| if random.below(6) == 0 { None } else { Some(count.unwrap_or(0) + random.below(5) * 1000) })
}

/// The peak is that of the image.
fn since(before: &[Option<u64>; 8], now: &[Option<u64>; 8]) -> [Option<u64>; 8] {
    let mut used: [Option<u64>; 8] =
        std::array::from_fn(|at| now[at].map(|now| now.saturating_sub(before[at].unwrap_or(0))));
    used[2] = now[2];
    used
}

/// What is below an image, by definition.
fn below(rows: &[Row], image: usize) -> Vec<usize> {
    let started: Vec<usize> =
        rows.iter().filter(|row| row.image == 0 && row.started_by == Some(image)).map(|row| row.process).collect();
    let images = |process: usize| (0..rows.len()).filter(move |&at| rows[at].process == process);
    started.into_iter().flat_map(images).flat_map(|at| [vec![at], below(rows, at)].concat()).collect()
}

fn sum(parts: impl IntoIterator<Item = Option<u64>>) -> Option<u64> {
    parts.into_iter().flatten().reduce(|sum, part| sum + part)
}

/// The number of an image, from its row.
fn number(rows: &[Row], at: usize, name: &str, end: u64) -> Option<u64> {
    let row = &rows[at];
    let total = |of: &dyn Fn(&Row) -> Option<u64>| {
        let parts = [vec![at], below(rows, at)].concat();
        sum(parts.into_iter().map(|at| of(&rows[at])))
    };
    let cpu = |row: &Row| sum([row.used[0], row.used[1]]);
    let faults = |row: &Row| sum([row.used[3], row.used[4]]);
    let first = |process: usize| rows.iter().find(|row| row.process == process && row.image == 0).unwrap();
    match name {
        "memory" => row.used[2],
        "cpu" => cpu(row),
        "user" => row.used[0],
        "system" => row.used[1],
        "waiting" => row.used[7],
        "wall" => Some(row.ended.unwrap_or(end) - row.began),
        "reads" => row.used[5],
        "writes" => row.used[6],
        "faults" => faults(row),
        "majorfaults" => row.used[4],
        "exit" => row.exit,
        "signal" => row.signal,
        "pid" => Some(row.pid),
        "image" => Some(row.image),
        "began" => Some(row.began),
        "ended" => row.ended,
        "children" => Some(rows.iter().filter(|one| one.image == 0 && one.started_by == Some(at)).count() as u64),
        "descendants" => Some(below(rows, at).iter().filter(|&&one| rows[one].image == 0).count() as u64),
        "depth" => {
            let mut depth = 0;
            let mut process = row.process;
            while let Some(starter) = first(process).started_by {
                (depth, process) = (depth + 1, rows[starter].process);
            }
            Some(depth)
        }
        "total.cpu" => total(&cpu),
        "total.user" => total(&|row| row.used[0]),
        "total.system" => total(&|row| row.used[1]),
        "total.waiting" => total(&|row| row.used[7]),
        "total.reads" => total(&|row| row.used[5]),
        "total.writes" => total(&|row| row.used[6]),
        "total.faults" => total(&faults),
        other => panic!("{other}"),
    }
}

fn text(rows: &[Row], at: usize, name: &str) -> Option<String> {
    let row = &rows[at];
    match name {
        "command" => {
            let name = row.arguments.first().copied().or(row.executable)?;
            Some(name.rsplit('/').next().unwrap().to_owned())
        }
        "executable" => row.executable.map(str::to_owned),
        "arguments" => Some(row.arguments.join(" ")),
        "directory" => row.directory.map(str::to_owned),
        "host" => row.host.map(str::to_owned),
        "label" => row.label.map(str::to_owned),
        other => panic!("{other}"),
    }
}

const TIMES: [&str; 11] = [
    "cpu",
    "user",
    "system",
    "waiting",
    "wall",
    "began",
    "ended",
    "total.cpu",
    "total.user",
    "total.system",
    "total.waiting",
];
const NUMBERS: [&str; 15] = [
    "memory",
    "reads",
    "writes",
    "faults",
    "majorfaults",
    "exit",
    "signal",
    "pid",
    "image",
    "children",
    "descendants",
    "depth",
    "total.reads",
    "total.writes",
    "total.faults",
];
const TEXTS: [&str; 6] = ["command", "executable", "arguments", "directory", "host", "label"];
const PROPERTIES: [&str; 5] = ["failed", "forked", "running", "waited", "outofmemory"];

/// A comparison of numbers.
type Compare = fn(u64, u64) -> bool;

struct Tree {
    tree: ProcessTree,
    rows: Vec<Row>,
    /// The row of each image: rows are in the order of a simple program.
    end: u64,
}

impl Tree {
    fn new(seed: u64) -> Self {
        let (tree, rows) = random_tree(seed);
        let end = tree.span_ns().1 as u64;
        assert_eq!(tree.images().len(), rows.len());
        for (image, row) in tree.images().iter().zip(&rows) {
            assert_eq!((image.process.index(), u64::from(image.number)), (row.process, row.image));
        }
        Tree { tree, rows, end }
    }

    fn check(&self, expression: &str, holds: impl Fn(usize) -> bool) {
        let expected: Vec<u32> = (0..self.rows.len()).filter(|&at| holds(at)).map(|at| at as u32).collect();
        let set = Expression::parse(expression).unwrap().select(&self.tree, None);
        assert_eq!(set.iter().map(|id| id.0).collect::<Vec<_>>(), expected, "{expression}");
        assert_eq!(set.len(), expected.len());
    }
}

#[test]
fn every_attribute_is_known_to_these_tests() {
    let mut known = [&TIMES[..], &NUMBERS, &TEXTS, &PROPERTIES, &["class", "process"]].concat();
    let mut told: Vec<&str> = ATTRIBUTES.iter().map(Attribute::word).collect();
    known.sort_unstable();
    told.sort_unstable();
    assert_eq!(known, told);
}

#[test]
fn numbers_are_compared_by_every_operator() {
    for seed in 0..20 {
        let tree = Tree::new(seed);
        for name in TIMES.iter().chain(&NUMBERS) {
            let found: Vec<Option<u64>> =
                (0..tree.rows.len()).map(|at| number(&tree.rows, at, name, tree.end)).collect();
            let unit = if TIMES.contains(name) { "ns" } else { "" };
            let known = found.iter().flatten().copied();
            let mut values: Vec<u64> = known.chain([0, 1, u64::MAX / 4]).collect();
            values.sort_unstable();
            values.dedup();
            for value in values {
                let compare: [(&str, Compare); 7] = [
                    ("=", |a, b| a == b),
                    ("==", |a, b| a == b),
                    ("!=", |a, b| a != b),
                    ("<", |a, b| a < b),
                    ("<=", |a, b| a <= b),
                    (">", |a, b| a > b),
                    (">=", |a, b| a >= b),
                ];
                for (operator, holds) in compare {
                    let expression = format!("{name} {operator} {value}{unit}");
                    tree.check(&expression, |at| found[at].is_some_and(|found| holds(found, value)));
                }
                let range = format!("{name} in {}{unit}..{value}{unit}", value / 2);
                tree.check(&range, |at| found[at].is_some_and(|found| (value / 2..=value).contains(&found)));
                tree.check(&format!("not {range}"), |at| {
                    !found[at].is_some_and(|found| (value / 2..=value).contains(&found))
                });
            }
        }
    }
}

/// A number that is not recorded may be any, and a sum without it may be larger.
#[test]
fn images_are_undecided_where_more_would_have_to_be_known() {
    let own = [("reads", 5), ("waiting", 7), ("majorfaults", 4)];
    for seed in 0..20 {
        let tree = Tree::new(seed);
        let undecided = |expression: &str| {
            let undecided = Expression::parse(expression).unwrap().undecided(&tree.tree, None);
            undecided.iter().map(|id| id.0 as usize).collect::<Vec<_>>()
        };
        let those = |is: &dyn Fn(usize) -> bool| (0..tree.rows.len()).filter(|&at| is(at)).collect::<Vec<_>>();
        let all_of = |at: usize| [vec![at], below(&tree.rows, at)].concat();
        for (name, place) in own {
            let unit = if name == "waiting" { "ns" } else { "" };
            let of = |at: usize| tree.rows[at].used[place];
            for value in [1, 10, 500] {
                for operator in ["=", "!=", "<", "<=", ">", ">="] {
                    assert_eq!(undecided(&format!("{name} {operator} {value}{unit}")), those(&|at| of(at).is_none()));
                }
                // Whatever the number is, the other side decides.
                assert_eq!(undecided(&format!("{name} > {value}{unit} and image > 99")), those(&|_| false));
                let either = format!("not ({name} > {value}{unit} or image > 0)");
                assert_eq!(undecided(&either), those(&|at| of(at).is_none() && tree.rows[at].image == 0));
                if name == "majorfaults" {
                    continue;
                }
                let may_grow = |at: usize| {
                    let is_unknown = all_of(at).into_iter().any(|one| of(one).is_none());
                    is_unknown && sum(all_of(at).into_iter().map(of)).unwrap_or(0) <= value
                };
                assert_eq!(undecided(&format!("total.{name} > {value}{unit}")), those(&may_grow), "{name} {value}");
            }
        }
        assert_eq!(undecided("pid > 4 or ended > 1ns or depth = 2 or wall > 5ns"), those(&|_| false));
        let is_unknown = |at: usize| tree.rows[at].ended.is_some() && number(&tree.rows, at, "exit", 0).is_none();
        let failed = undecided("failed");
        assert!(failed.iter().all(|&at| is_unknown(at)), "{failed:?}");
    }
}

#[test]
fn texts_are_compared_by_every_operator() {
    for seed in 20..40 {
        let tree = Tree::new(seed);
        for name in TEXTS {
            let found: Vec<Option<String>> = (0..tree.rows.len()).map(|at| text(&tree.rows, at, name)).collect();
            for value in ["gcc", "cc1", "/usr/lib/cc1 a b", "/usr/bin/gcc", "/src", "east", "target", "", "é\u{1b}\"("]
            {
                let mut quoted = String::new();
                write!(quoted, "\"{}\"", value.replace('"', "\\\"")).unwrap();
                let is = |at: usize| found[at].as_deref() == Some(value);
                tree.check(&format!("{name} = {quoted}"), is);
                tree.check(&format!("{name} == {quoted}"), is);
                tree.check(&format!("{name} != {quoted}"), |at| !is(at));
            }
            let matches = |at: usize, of: fn(&str) -> bool| found[at].as_deref().is_some_and(of);
            tree.check(&format!("{name} ~ *c*"), |at| matches(at, |text| text.contains('c')));
            tree.check(&format!("{name} ~ ?cc"), |at| {
                matches(at, |text| text.chars().count() == 3 && text.ends_with("cc"))
            });
            tree.check(&format!("{name} ~ /c( |$)/"), |at| {
                matches(at, |text| text.contains("c ") || text.ends_with('c'))
            });
            tree.check(&format!("{name} !~ /c/"), |at| !matches(at, |text| text.contains('c')));
        }
        tree.check("process = \"3:0\"", |at| {
            let row = &tree.rows[at];
            // With several hosts, their name comes first.
            tree.tree.name(tree.tree.images()[at].process) == "3:0" && row.pid == 3 && row.serial == 0
        });
        tree.check("signal = KILL", |at| tree.rows[at].signal == Some(9));
        tree.check("signal = \"SIGSEGV\"", |at| tree.rows[at].signal == Some(11));
        tree.check("signal ~ S*", |at| matches!(tree.rows[at].signal, Some(9 | 11)));
        tree.check("signal !~ SIG*", |at| !matches!(tree.rows[at].signal, Some(9 | 11)));
    }
}

#[test]
fn properties_and_connectives_are_those_of_logic() {
    for seed in 40..60 {
        let tree = Tree::new(seed);
        let row = |at: usize| &tree.rows[at];
        let failed = |at: usize| row(at).signal.is_some() || row(at).exit.is_some_and(|exit| exit != 0);
        let is_last =
            |at: usize| tree.rows.iter().all(|one| one.process != row(at).process || one.image <= row(at).image);
        let waited = |at: usize| {
            let last = tree.rows.iter().rfind(|one| one.process == row(at).process).unwrap();
            last.ended.is_some() && last.waited
        };
        tree.check("", |_| true);
        tree.check("failed", failed);
        tree.check("!forked", |at| !row(at).forked);
        tree.check("forked", |at| row(at).forked);
        tree.check("running", |at| row(at).ended.is_none());
        tree.check("waited", waited);
        tree.check("outofmemory", |at| row(at).oom && is_last(at));
        tree.check("failed or running and waited", |at| failed(at) || row(at).ended.is_none() && waited(at));
        tree.check("(failed | running) & waited", |at| (failed(at) || row(at).ended.is_none()) && waited(at));
        tree.check("waited - failed", |at| waited(at) && !failed(at));
        tree.check("command = gcc and arguments ~ /-c/ and not memory > 2000", |at| {
            let gcc = text(&tree.rows, at, "command").as_deref() == Some("gcc");
            gcc && row(at).arguments.join(" ").contains("-c") && row(at).used[2].is_none_or(|peak| peak <= 2000)
        });
        let set: Vec<u32> = Expression::parse("memory < 2000 and memory >= 2000")
            .unwrap()
            .select(&tree.tree, None)
            .iter()
            .map(|id| id.0)
            .collect();
        assert!(set.is_empty());
    }
}

#[test]
fn classes_are_labels_of_schemata() {
    struct Schemata<'c>(&'c Classes);
    impl ImageNames for Schemata<'_> {
        fn schemata(&self) -> Vec<String> {
            self.0.schemata().iter().map(|schema| schema.name().to_owned()).collect()
        }
        fn set(&self, name: &str) -> Result<Arc<ImageSet>, String> {
            Ok(Arc::new(name.chars().map(|c| ImageId(c as u32 - 'a' as u32)).collect()))
        }
        fn row(&self, row: usize) -> Result<ImageId, String> {
            Ok(ImageId(row as u32 - 1))
        }
    }
    for seed in 60..70 {
        let Tree { tree, .. } = Tree::new(seed);
        let classes = classes(&tree);
        let names = Schemata(&classes);
        for (number, schema) in classes.schemata().iter().enumerate() {
            let attribute = if number == 0 { "class".to_owned() } else { format!("class.{}", schema.name()) };
            for label in schema.labels().iter().map(String::as_str).chain(["none such"]) {
                let has = |id| schema.label(id).is_some_and(|of| schema.labels()[of.index()] == label);
                let ids = |is: &dyn Fn(ImageId) -> bool| {
                    (0..tree.images().len() as u32).map(ImageId).filter(|&id| is(id)).collect::<ImageSet>()
                };
                let select = |operator| {
                    let text = format!("{attribute} {operator} \"{}\"", label.replace('"', "\\\""));
                    let expression = Expression::parse_with(&text, &names).unwrap();
                    assert!(expression.needs_classes() && !expression.has_names());
                    expression.select(&tree, Some(&classes)).iter().collect::<Vec<_>>()
                };
                assert_eq!(select("="), ids(&has).iter().collect::<Vec<_>>());
                assert_eq!(select("!="), ids(&|id| !has(id)).iter().collect::<Vec<_>>());
            }
        }
        let named = Expression::parse_with("($ad or %3) and not %4", &names).unwrap();
        assert!(named.has_names() && !named.needs_classes());
        assert_eq!(named.select(&tree, None).iter().collect::<Vec<_>>(), [ImageId(0), ImageId(2)]);
        let error = Expression::parse_with("class.none = a", &names).unwrap_err();
        assert!(error.position == 0 && error.message.contains("unknown attribute"), "{error}");
    }
}

fn classes(tree: &ProcessTree) -> Classes {
    Classes::of(tree, Rules::standard()).unwrap()
}

#[test]
fn errors_have_a_place() {
    for (text, position, message) in [
        ("memory", 6, "expected an operator"),
        ("memroy > 5", 0, "did you mean `memory`?"),
        ("cpu > 5", 6, "a time with its unit"),
        ("cpu > 5K", 6, "a time with its unit"),
        ("cpu in 1s..500ms", 7, "ends before it begins"),
        ("cpu in 1..2", 7, "expected a range such as 1s..2min"),
        ("memory > 5s", 9, "expected a number such as 100"),
        ("memory = \"5\"", 9, "expected a number"),
        ("class > a", 6, "texts are compared with"),
        ("class = ", 8, "expected a value"),
        ("class = (", 8, "expected a text such as \"cc1\""),
        ("class ~ /(/", 8, "not a regular expression"),
        ("failed = 1", 7, "true or false"),
        ("@5", 0, "processes are named as in"),
        ("$a", 0, "no set has a name"),
        ("memory > 1K and %1", 16, "lists no processes"),
        ("type = a", 0, "unknown attribute; there are class, command"),
        ("class.x = a", 0, "unknown attribute"),
        ("memory > 1K memory", 12, "expected `and`"),
    ] {
        let error = Expression::parse(text).unwrap_err();
        assert_eq!(error.position, position, "{text}: {error}");
        assert!(error.message.contains(message), "{text}: {error}");
    }
}

/// Whatever is typed, there is an answer, and the place of a mistake is one in the text.
#[test]
fn any_text_is_read_or_refused() {
    const PIECES: [&str; 26] = [
        "class", "class.x", "memory", "cpu", "signal", "failed", "not", "and", "or", "-", "(", ")", "=", "!~", "<",
        "in", "1s..2s", "..5", "10min", "64K", "\"a b\"", "/(x/", "é*", "$a", "%1", "@3",
    ];
    let Tree { tree, .. } = Tree::new(7);
    let mut random = Random::new(8);
    let mut parsed = 0;
    for _ in 0..50_000 {
        let mut text = String::new();
        for _ in 0..=random.below(6) {
            text += PIECES[random.below(26) as usize];
            text += if random.below(3) > 0 { " " } else { "" };
        }
        match Expression::parse(&text) {
            Ok(expression) => {
                parsed += 1;
                assert!(expression.select(&tree, None).len() <= tree.images().len());
            }
            Err(error) => assert!(text.get(error.position..).is_some() && !error.message.is_empty(), "{text}: {error}"),
        }
    }
    assert!(parsed > 100, "{parsed}");
}
