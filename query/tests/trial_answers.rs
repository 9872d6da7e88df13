//! Answers about trials hold what a program needs to draw them: bins, runs and settings of knobs beside the values.

use barrow_query::answer::{Answer, Value};
use barrow_query::{Question, Session, Settings, Touches, Workspace};

fn session() -> Session {
    let settings = Settings { no_index: true, ..Settings::default() };
    let mut session = Session::new(Workspace::new(None, Some(2)).unwrap(), settings);
    session.open(&barrow_testdata::path("trial.barrow").display().to_string()).unwrap();
    session
}

fn ask(session: &mut Session, line: &str) -> Answer {
    session.ask(&Question::of_line(line).unwrap().unwrap()).unwrap()
}

/// The list in a row of a table, or among the facts.
fn list(values: &Value) -> &[Value] {
    let Value::List(values) = values else { panic!("{values:?} is no list") };
    values
}

/// The numbers of a series among the facts.
fn numbers(value: &Value) -> &[Option<f64>] {
    let Value::Series { numbers, .. } = value else { panic!("{value:?} is no series") };
    numbers
}

fn fact<'a>(answer: &'a Answer, key: &str) -> &'a Value {
    &answer.facts.iter().find(|fact| fact.column.key == key).unwrap().value
}

/// The cells of a column of a table.
fn cells<'a>(answer: &'a Answer, table: &str, key: &str) -> Vec<&'a Value> {
    let table = answer.tables.iter().find(|one| one.key == table).unwrap();
    let at = table.columns.iter().position(|column| column.key == key).unwrap();
    table.rows.iter().map(|row| &row[at]).collect()
}

#[test]
fn each_metric_has_the_bins_of_its_histogram() {
    let mut session = session();
    let all = ask(&mut session, "trials");
    let one = ask(&mut session, "histogram wall scan-new");
    let row = cells(&all, "rows", "variant").iter().position(|name| **name == Value::from("scan-new")).unwrap();
    let of = |key| list(cells(&all, "rows", key)[row]).iter().collect::<Vec<_>>();
    assert_eq!(of("bin_counts"), cells(&one, "rows", "values"));
    assert_eq!(of("bin_modes"), cells(&one, "rows", "mode"));
}

#[test]
fn each_value_has_its_run_and_the_settings_of_its_knobs() {
    let mut session = session();
    let histogram = ask(&mut session, "histogram pass scan");
    let count = numbers(fact(&histogram, "values")).len();
    assert_eq!(count, 300);
    let [runs, iterations] = ["value_runs", "value_iterations"].map(|key| numbers(fact(&histogram, key)));
    assert_eq!((runs.len(), iterations.len()), (count, count));
    assert_eq!(iterations[..6], [0.0, 1.0, 2.0, 3.0, 4.0, 0.0].map(Some));
    let values = ask(&mut session, "values pass scan");
    let expected: Vec<Value> = runs.iter().map(|run| Value::from(run.unwrap() as u64)).collect();
    assert_eq!(cells(&values, "rows", "run"), expected.iter().collect::<Vec<_>>());
    let modes = ask(&mut session, "modes pass scan");
    assert_eq!(cells(&modes, "knobs", "knob")[0], &Value::from("heap_offset"));
    for settings in cells(&modes, "knobs", "settings") {
        assert_eq!(list(settings).len(), count);
        assert_eq!(list(settings)[0], list(settings)[4], "the values of a run share a layout");
    }
}

#[test]
fn the_values_of_a_mode_have_layouts() {
    let mut session = session();
    let answer = ask(&mut session, "values wall scan mode 2");
    let layouts = cells(&answer, "rows", "layout");
    assert_eq!(layouts.len(), 18);
    for layout in layouts {
        assert!(matches!(layout, Value::Text(text) if text.contains(" heap_offset=")), "{layout:?}");
    }
    assert!(ask(&mut session, "values wall scan").tables[0].columns.iter().all(|column| column.key != "layout"));
}

#[test]
fn a_program_goes_before_a_file_of_its_name_and_files_need_permission() {
    let mut session = session();
    session.allow(Touches::RECORDING);
    // Tests run in the folder of the package: `README.md` and `src` are there, and no program has such a name.
    assert!(Question::of_line("compare ./scan x.y wall").unwrap().unwrap().touches() == Touches::RECORDING);
    for line in ["compare README.md", "compare README.md:scan", "compare scan README.md", "compare other.barrow"] {
        let error = session.ask(&Question::of_line(line).unwrap().unwrap()).unwrap_err();
        assert!(error.to_string().contains("reads other files"), "{line}: {error}");
    }
    assert_eq!(ask(&mut session, "compare scan scan-new wall").tables[0].rows.len(), 1);
}
