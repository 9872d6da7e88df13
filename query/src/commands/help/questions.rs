//! The ten questions to begin with, by what the open file holds: together with what surrounds them, a screen of 24 lines.

use crate::command::Content;

/// A line at the prompt, and what it answers. Words in capitals stand for those of the file.
type Question = (&'static str, &'static str);

/// Questions of a screen: with the lines around them they fit one of 24 rows.
const MOST: usize = 10;

const OF_ONE_SNAPSHOT: [Question; MOST] = [
    ("summary", "How much is there, inside the heap and outside?"),
    ("top", "Which types hold most?"),
    ("top objects by retained", "Which objects keep most alive?"),
    ("leaks", "What accumulates, where, and what holds it?"),
    ("dominators", "What is freed with what?"),
    ("find type = \"TYPE\"", "Which objects of a type are there?"),
    ("show %1", "What does the object in row 1 refer to?"),
    ("path %1", "Why is the object in row 1 alive?"),
    ("group type = \"TYPE\" by text", "What do these objects have in common?"),
    ("strings", "Which texts does the program hold?"),
];

const OF_A_SERIES: [Question; MOST] = [
    ("summary all", "How large was each snapshot?"),
    ("growth", "What grows over the snapshots?"),
    ("diff 0 last", "What changed from the first to the last one?"),
    ("trend \"TYPE\"", "How does one type develop?"),
    ("born 0..last", "Which objects are new since the first one?"),
    ("top", "Which types hold most?"),
    ("leaks", "What accumulates, where, and what holds it?"),
    ("find type = \"TYPE\"", "Which objects of a type are there?"),
    ("show %1", "What does the object in row 1 refer to?"),
    ("path %1", "Why is the object in row 1 alive?"),
];

const OF_PROCESSES: [Question; MOST] = [
    ("summary", "How long did it take, and how much at once?"),
    ("classes", "What did compilers, linkers, tests … use?"),
    ("critical", "Which programs make up the time?"),
    ("what-if -j 8", "How long would it take with 8 slots?"),
    ("processes", "Which processes used most?"),
    ("info %1", "What is the process in row 1?"),
    ("tree --min 5%", "Which process started which?"),
    ("lanes", "What ran at each time?"),
    ("group by directory", "What did each directory use?"),
    ("find wall > 1s by memory", "Which processes match an expression?"),
];

const OF_TRIALS: [Question; MOST] = [
    ("summary", "What ran, how often, and where?"),
    ("trials", "What was measured?"),
    ("compare", "Is one program faster, also in its rarer modes?"),
    ("compare METRIC", "How does one metric differ?"),
    ("histogram METRIC PROGRAM", "How are its values distributed?"),
    ("modes METRIC PROGRAM", "Which modes has it, and what explains them?"),
    ("values METRIC", "What is each value?"),
    ("runs", "What are the layouts of the runs?"),
    ("runs failed", "Which runs failed, and what did they print?"),
    ("assert 'modes(METRIC) = 1'", "Is a statement true? For CI"),
];

/// Without a file: lines of a shell, in the folder of barrow's sources.
const SAMPLES: [Question; MOST] = [
    ("summary testdata/raku.barrow all", "a Raku process: 3 snapshots"),
    ("top testdata/jvm.barrow", "a Java program: 1 snapshot"),
    ("leaks testdata/invoices.barrow", "a Python program that leaks"),
    ("growth testdata/leaks/storefront.barrow", "a Java program that leaks"),
    ("sites testdata/orders.barrow", "a Rust program, by function"),
    ("classes testdata/build.barrow", "a build: its processes"),
    ("critical testdata/build.barrow", "… and what makes up its time"),
    ("compare testdata/trial.barrow", "two versions of a benchmark"),
    ("testdata/invoices.barrow", "the prompt: `help` again"),
    ("serve testdata", "a page about all of them"),
];

/// A screen of questions about a file that holds this, and whose heap has this number of snapshots.
pub(super) fn about(held: &[Content], snapshots: usize) -> String {
    // What an import has not reached is most likely a heap.
    let held = if held.is_empty() { &[Content::Heap] } else { held };
    let mut text = "Questions to begin with. Words in CAPITALS stand for words of this file.\n".to_owned();
    for content in held {
        let (of, questions) = match content {
            Content::Heap if snapshots > 1 => ("a series of snapshots", &OF_A_SERIES),
            Content::Heap => ("a snapshot", &OF_ONE_SNAPSHOT),
            Content::Processes => ("processes", &OF_PROCESSES),
            Content::Trials => ("trials", &OF_TRIALS),
        };
        text += &format!("\nAbout {of}\n");
        text += &lines(&questions[..MOST / held.len()], "");
    }
    text + "\n`help all` lists every verb, `help VERB` says more about one, and
`help expressions` what `find`, `count` and `let` take. A verb can be shortened.
`> file` and `| command` send the answer elsewhere."
}

/// A screen for those who have no file open.
pub(super) fn samples() -> String {
    "`barrow FILE` opens a prompt, `barrow VERB FILE` answers one question. FILE is a
recording, or a dump of another tool: `help import` lists which.

To begin with the samples in the folder of barrow's sources\n"
        .to_owned()
        + &lines(&SAMPLES, "barrow ")
        + "\n`barrow help all` lists every verb, `barrow help VERB` says more about one, and
`barrow help expressions` what `find`, `count` and `let` take.
`barrow record` records a build, `barrow trial` measures a program."
}

fn lines(questions: &[Question], program: &str) -> String {
    let width = questions.iter().map(|(line, _)| line.len()).max().unwrap_or(0);
    questions.iter().map(|(line, answer)| format!("  {program}{line:width$}  {answer}\n")).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::commands::named;
    use crate::{Session, Settings, Workspace};

    const HEAP: Content = Content::Heap;

    #[test]
    fn each_help_fits_a_screen() {
        let all = [HEAP, Content::Processes, Content::Trials];
        let screens = [about(&[], 0), about(&[HEAP], 9), about(&all[1..2], 0), about(&all[2..], 0), samples()];
        for text in screens.into_iter().chain([about(&all[..2], 2), about(&all, 1)]) {
            assert!(text.lines().count() <= 24, "{text}");
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        }
    }

    /// Asks in the order of the screen, since `%1` is a row of the answer before.
    #[test]
    fn bundled_recordings_answer_every_question() {
        let cases = [
            ("jvm.barrow", &OF_ONE_SNAPSHOT, "java.lang.String", ""),
            ("invoices.barrow", &OF_A_SERIES, "dict", ""),
            ("build.barrow", &OF_PROCESSES, "", ""),
            ("trial.barrow", &OF_TRIALS, "wall", "scan"),
        ];
        for (name, questions, word, program) in cases {
            let mut session = opened(&barrow_testdata::path(name).display().to_string());
            for (line, _) in questions {
                let line = line.replace("TYPE", word).replace("METRIC", word).replace("PROGRAM", program);
                let question = crate::Question::of_line(&line).unwrap().expect("no comment");
                let answer = session.ask(&question).unwrap_or_else(|error| panic!("{name}: {line}: {error}"));
                assert!(!answer.tables.is_empty() || !answer.facts.is_empty(), "{name}: {line}");
            }
        }
    }

    #[test]
    fn samples_are_bundled_and_answer() {
        for (line, _) in SAMPLES {
            let words: Vec<&str> = line.split(' ').collect();
            let path = words.iter().find_map(|word| word.strip_prefix("testdata")).expect("a sample");
            let path = barrow_testdata::path(path.trim_start_matches('/'));
            assert!(path.exists(), "{line}");
            let Some((verb, rest)) = words.split_first().filter(|(verb, _)| **verb != "serve" && words.len() > 1)
            else {
                continue;
            };
            named(verb).expect("a verb");
            let question = crate::Question::new(verb, rest[1..].iter().copied()).unwrap();
            opened(&path.display().to_string()).ask(&question).unwrap_or_else(|error| panic!("{line}: {error}"));
        }
    }

    fn opened(path: &str) -> Session {
        let settings = Settings { no_index: true, ..Settings::default() };
        let workspace: Arc<Workspace> = Workspace::new(None, None).expect("a workspace");
        let mut session = Session::new(workspace, settings);
        session.open(path).expect("a recording");
        session
    }
}
