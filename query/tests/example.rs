//! The example of this crate runs, and its JSON holds what the session answers.

#[path = "../examples/ask.rs"]
#[allow(dead_code, reason = "`main` reads the command line, and calls what the test calls")]
mod ask;

#[test]
fn the_example_answers_a_line_as_json() {
    let file = barrow_testdata::path("smallest.barrow").display().to_string();
    let answer: serde_json::Value = serde_json::from_str(&ask::ask(&file, "top 3").unwrap()).unwrap();
    let rows = answer["tables"][0]["rows"].as_array().unwrap();
    // The annotated file of docs/recording-format.md: one object of the type `Ring`.
    assert_eq!(rows.len(), 1, "{answer}");
    assert!(rows[0].to_string().contains("\"Ring\""), "{answer}");
    assert!(ask::ask(&file, "repack > x").is_err(), "verbs that write are refused");
}
