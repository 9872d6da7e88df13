//! Asks one line about a file, shows progress, and prints the whole answer as JSON:
//! `cargo run -p barrow-query --example ask -- testdata/orders.barrow 'top 3 by retained'`.

use std::sync::Arc;

use barrow_query::{Question, Session, Settings, Touches, Watcher, Workspace};

/// Prints the phases of a question.
struct Phases;

impl Watcher for Phases {
    fn begin(&self, phase: &str, total: u64, unit: &'static str) {
        eprintln!("{phase}: {total} {unit}");
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let (Some(file), Some(line)) = (words.next(), words.next()) else { return Err("usage: ask FILE LINE".into()) };
    println!("{}", ask(&file, &line)?);
    Ok(())
}

/// The whole answer to a line as JSON; an empty line has none.
pub(crate) fn ask(file: &str, line: &str) -> Result<String, Box<dyn std::error::Error>> {
    let mut session = Session::new(Workspace::new(None, None)?, Settings { no_index: true, ..Settings::default() });
    session.allow(Touches::READ_ONLY);
    session.watch_with(Arc::new(Phases));
    session.open(file)?;
    let Some(question) = Question::of_line(line)? else { return Ok(String::new()) };
    Ok(serde_json::to_string_pretty(&session.ask(&question)?)?)
}
