//! Asks the questions of a report, and puts their answers together.

use std::path::Path;

use barrow_query::answer::{Answer, Outcome, units};
use barrow_query::flags::QuestionFlags;
use barrow_query::{QueryError, Question, Session};

use crate::detail::Detail;
use crate::html::Html;
use crate::options::Options;
use crate::section::{Section, left_out, note, quoted};
use crate::suspects;
use crate::table::{Drawing, draw};
use crate::{assertions, map, overview, tree, verdict};

const STYLE: &str = include_str!("style.css");
/// No scripts and nothing from elsewhere, even if some text were not escaped.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// A report.
#[derive(Debug)]
pub struct Report {
    /// The file.
    pub html: Vec<u8>,
    /// The outcome of the assertions.
    pub outcome: Outcome,
    /// A sentence for each assertion that does not hold or is undecided.
    pub broken: Vec<String>,
}

/// Makes a report about the file that is open in a session. The same file gives the same bytes.
///
/// # Errors
/// A file without snapshots, an assertion that cannot be understood; a usage error if even the least report is too large.
pub fn make(session: &mut Session, options: &Options) -> Result<Report, QueryError> {
    session.settings_mut().is_abridged = false;
    let answers = Answers::ask(session, options)?;
    let mut detail = Detail::FULL;
    loop {
        let html = answers.html(options, detail);
        if html.len() as u64 <= options.most_bytes {
            let asserted = answers.asserted.as_ref();
            let outcome = asserted.map_or(Outcome::Answered, |answer| answer.outcome);
            let broken = asserted.map(assertions::broken).unwrap_or_default();
            return Ok(Report { html: html.into_bytes(), outcome, broken });
        }
        detail = detail.less().ok_or_else(|| {
            let least = units::size(html.len() as u64);
            QueryError::usage(format!("a report takes {least} at least; give a larger `--max-size`"))
        })?;
    }
}

/// An answer, or why there is none.
type Reply = Result<Answer, QueryError>;

/// The answers to the questions of a report.
struct Answers {
    /// The file, as lines name it.
    file: String,
    damage: Option<String>,
    snapshots: usize,
    info: Answer,
    summary: Answer,
    asserted: Option<Answer>,
    growth: Reply,
    suspects: Reply,
    types: Reply,
    difference: Reply,
    tree: Reply,
    below_roots: Reply,
    baseline: Option<[Reply; 2]>,
}

impl Answers {
    fn ask(session: &mut Session, options: &Options) -> Result<Self, QueryError> {
        let opened = session.file().ok_or_else(|| QueryError::usage("no recording is open"))?;
        // The folder says nothing about the recording, and something about who made the report.
        let name = Path::new(&opened.name)
            .file_name()
            .map_or_else(|| opened.name.clone(), |name| name.to_string_lossy().into_owned());
        let (file, damage) = (quoted(&name), opened.damage.clone());
        let info = ask(session, "info")?;
        let summary = ask(session, "summary all")?;
        let snapshots = summary.tables.first().map_or(0, |table| table.rows.len());
        let asserted = asserted(session, &options.flags)?;
        let baseline = options.flags.baseline.as_ref().map(|baseline| {
            ["type", "path"].map(|by| {
                stopped(
                    Question::new("diff", [baseline.as_str(), "by", by]).and_then(|question| session.ask(&question)),
                )
            })
        });
        let baseline = match baseline {
            Some([one, other]) => Some([one?, other?]),
            None => None,
        };
        Ok(Answers {
            growth: stopped(ask(session, "growth 1000"))?,
            suspects: stopped(ask(session, "leaks"))?,
            types: stopped(ask(session, "top 1000"))?,
            difference: stopped(ask(session, "diff 0 last"))?,
            tree: stopped(ask(session, &format!("dominators --cells {}", Detail::FULL.cells)))?,
            below_roots: stopped(ask(session, "dominators by type"))?,
            file,
            damage,
            snapshots,
            info,
            summary,
            asserted,
            baseline,
        })
    }

    fn html(&self, options: &Options, detail: Detail) -> Html {
        let mut html = Html::default();
        html.constant("<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n");
        html.open("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")]);
        html.open("meta", &[("http-equiv", "Content-Security-Policy"), ("content", POLICY)]);
        html.leaf("title", &[], &format!("barrow report: {}", self.file));
        html.constant("\n<style>\n");
        html.constant(STYLE);
        html.constant("</style>\n");
        html.element("main", &[], |html| self.main(html, options, detail));
        html.constant("</html>\n");
        html
    }

    fn main(&self, html: &mut Html, options: &Options, detail: Detail) {
        let sections = self.sections(options, detail);
        html.leaf("h1", &[], &format!("Heap report: {}", self.file));
        if let Some(damage) = &self.damage {
            note(html, damage);
        }
        let answers = verdict::Answers {
            asserted: self.asserted.as_ref(),
            suspects: self.suspects.as_ref().ok(),
            growth: self.growth.as_ref().ok(),
            summary: &self.summary,
        };
        verdict::draw(html, &answers, options.with_texts);
        html.element("nav", &[("aria-label", "Sections")], |html| {
            html.element("ul", &[], |html| {
                for section in &sections {
                    html.element("li", &[], |html| {
                        html.leaf("a", &[("href", &format!("#{}", section.id))], section.heading);
                    });
                }
            });
        });
        sections.iter().for_each(|section| section.draw(html));
    }

    /// The sections in which there is something, what is most likely wanted first.
    fn sections(&self, options: &Options, detail: Detail) -> Vec<Section> {
        let with_texts = options.with_texts;
        let mut sections = Vec::new();
        if let Some(answer) = &self.asserted {
            let words = assertion_words(&options.flags);
            sections.push(
                self.section("assertions", "Assertions", "assert", &words, |html| assertions::draw(html, answer)),
            );
        }
        sections.push(self.section("suspects", "Leak suspects", "leaks", "", |html| match &self.suspects {
            Ok(answer) => {
                let left = suspects::draw(html, answer, detail.suspects, &self.file, with_texts);
                left_out(html, left, "suspect");
            }
            Err(error) => note(html, &error.to_string()),
        }));
        if self.snapshots > 1 {
            sections.push(self.section("growth", "What grows", "growth", "", |html| {
                let drawing = Drawing { caption: "What grows, by path of types", rows: detail.growth, with_texts };
                of_answer(html, &self.growth, drawing, "path");
            }));
        }
        sections.push(self.section("series", "All snapshots", "summary", "all", |html| {
            overview::series(html, &self.summary, detail, with_texts);
        }));
        sections.push(self.section("types", "Types that hold most", "top", &detail.types.to_string(), |html| {
            let drawing = Drawing { caption: "Types that hold most", rows: detail.types, with_texts };
            of_answer(html, &self.types, drawing, "type");
        }));
        if self.snapshots > 1 {
            sections.push(self.section("difference", "First and last snapshot", "diff", "0 last", |html| {
                of_answer(html, &self.difference, self.changes("Change by type", detail, with_texts), "type");
            }));
        }
        let cells = format!("--cells {}", detail.cells);
        sections.push(self.section("map", "What holds what", "dominators", &cells, |html| {
            self.tree(html, detail, with_texts);
        }));
        self.compared(&mut sections, options, detail);
        sections.push(self.section("file", "The file", "info", "", |html| self.about_file(html, options, detail)));
        sections.retain(|section| section.body.len() > 0);
        sections
    }

    /// Adds the comparison with the baseline.
    fn compared(&self, sections: &mut Vec<Section>, options: &Options, detail: Detail) {
        let (Some([by_type, by_path]), Some(baseline)) = (&self.baseline, &options.flags.baseline) else { return };
        let name = Path::new(baseline)
            .file_name()
            .map_or_else(|| baseline.clone(), |name| name.to_string_lossy().into_owned());
        for (id, heading, by, answer) in [
            ("baseline", "Compared with the baseline, by type", "type", by_type),
            ("baseline-paths", "Compared with the baseline, by path", "path", by_path),
        ] {
            let words = format!("{} by {by}", quoted(&name));
            sections.push(self.section(id, heading, "diff", &words, |html| {
                of_answer(html, answer, self.changes(heading, detail, options.with_texts), by);
            }));
        }
    }

    /// The origin of the recording, and what the report leaves out.
    fn about_file(&self, html: &mut Html, options: &Options, detail: Detail) {
        overview::provenance(html, &self.file, options, &self.info);
        if !options.with_texts {
            note(html, "Names and texts of objects are left out: they may be anything that the program had in memory.");
        }
        if detail != Detail::FULL {
            let most = units::size(options.most_bytes);
            note(html, &format!("Tables are shorter than usual, so that the report is not larger than {most}."));
        }
    }

    fn changes<'a>(&self, caption: &'a str, detail: Detail, with_texts: bool) -> Drawing<'a> {
        Drawing { caption, rows: detail.changes, with_texts }
    }

    /// The map and the list of the places of the dominator tree that retain most.
    fn tree(&self, html: &mut Html, detail: Detail, with_texts: bool) {
        match &self.tree {
            Ok(answer) => {
                let mut places = tree::places(answer, with_texts);
                let all = places.len();
                tree::prune(&mut places, detail.cells);
                let left = all - places.len();
                if let Ok(by_type) = &self.below_roots {
                    tree::divide(&mut places, by_type);
                }
                map::draw(html, &places);
                tree::draw(html, &places);
                notes(html, answer);
                left_out(html, left, "place");
            }
            Err(error) => note(html, &error.to_string()),
        }
    }

    fn section(
        &self,
        id: &'static str,
        heading: &'static str,
        verb: &str,
        words: &str,
        draw: impl FnOnce(&mut Html),
    ) -> Section {
        let mut body = Html::default();
        draw(&mut body);
        let line = format!("barrow {verb} {} {words}", self.file).trim_end().to_owned();
        Section { id, heading, line, body }
    }
}

/// Draws the last table of an answer, nothing if it has no rows, or why there is no answer.
fn of_answer(html: &mut Html, asked: &Reply, drawing: Drawing<'_>, noun: &str) {
    match asked {
        Ok(answer) => {
            let table = answer.tables.iter().rev().find(|table| table.audience.has_machines());
            let Some(table) = table.filter(|table| !table.rows.is_empty()) else { return };
            let left = draw(html, table, drawing);
            left_out(html, left, noun);
            notes(html, answer);
        }
        Err(error) => note(html, &error.to_string()),
    }
}

/// Draws the notes of an answer.
fn notes(html: &mut Html, answer: &Answer) {
    for text in answer.notes.iter().filter(|text| !text.starts_with('…') && !text.is_empty()) {
        note(html, text);
    }
}

fn ask(session: &mut Session, line: &str) -> Reply {
    let question = Question::of_line(line)?.ok_or_else(|| QueryError::usage("no question"))?;
    session.ask(&question)
}

/// A question that was stopped ends the report; another fault is told in its section.
fn stopped(asked: Reply) -> Result<Reply, QueryError> {
    match asked {
        Err(error) if error.is_stopped() => Err(error),
        asked => Ok(asked),
    }
}

/// The answer to what is asserted, if anything is.
fn asserted(session: &mut Session, flags: &QuestionFlags) -> Result<Option<Answer>, QueryError> {
    if flags.assertions.is_empty() && flags.from.is_none() {
        return Ok(None);
    }
    let assertions = QuestionFlags {
        from: flags.from.clone(),
        allow: flags.allow.clone(),
        baseline: flags.baseline.clone(),
        ..QuestionFlags::default()
    };
    session.ask(&Question::new("assert", flags.assertions.clone())?.with(assertions)).map(Some)
}

/// The words that assert the same in a shell.
fn assertion_words(flags: &QuestionFlags) -> String {
    let mut words: Vec<String> = flags.assertions.iter().map(|assertion| quoted(assertion)).collect();
    for (flag, path) in
        flags.from.iter().map(|path| ("--from", path)).chain(flags.allow.iter().map(|path| ("--allow", path)))
    {
        words.push(format!("{flag} {}", quoted(&path.display().to_string())));
    }
    words.extend(flags.baseline.iter().map(|baseline| format!("--baseline {}", quoted(baseline))));
    words.join(" ")
}
