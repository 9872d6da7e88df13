//! Moments of a timeline as lines: time goes from top to bottom, and each process that runs is a block.
//!
//! ```text
//!        *2026*                  the date and the time of day, where they are known and each time they change
//!        Nov 27
//!    16:55:26Z
//!     0:00.000 >=100:0
//!     0:00.010 +-<=101:0         a line from the process that started it
//!              | | sh            the class, wherever there is room beside the block
//!     0:00.015 | +-<=102:0
//!              | | | compiler
//!              | | | 0.3000u 0.0100s
//!     0:00.345 | | \=0.33s
//! ```

mod layout;
mod line;

use std::collections::BTreeSet;

use barrow_answer::timeline::{Moment, MomentEvent, MomentTime, Running};
use barrow_answer::{Table, Value, units};
use unicode_width::UnicodeWidthStr;

use line::{Annotation, line};

/// The width without a terminal, in characters: the narrowest that is usual.
const USUAL_WIDTH: usize = 80;
/// Less room than this, in characters, is too little for what is told at the end of a process. This is a judgement.
const LEAST_ROOM: usize = 7;
/// Columns in which the name of a process is written: enough for the beginnings of most. This is a judgement.
const NEAR: u32 = 8;

/// Draws moments. What it keeps from one to the next is also right where a page begins.
#[derive(Default)]
pub(crate) struct Timeline {
    /// The width of the terminal.
    terminal: Option<usize>,
    /// The columns of processes whose class no line has shown yet.
    unshown: BTreeSet<u32>,
    /// Processes that began and had no room.
    left_out: u64,
    /// The width of the last line.
    width: usize,
}

impl Timeline {
    /// Draws at the width of a terminal, unless the question says another one.
    pub(crate) fn new(terminal: Option<usize>) -> Self {
        Timeline { terminal, ..Timeline::default() }
    }

    /// The table with a row for each line; `None` if it holds no moments.
    pub(crate) fn table(&mut self, table: &Table) -> Option<Table> {
        let [Value::Moment(_)] = &table.rows.first()?[..] else { return None };
        let mut lines = Vec::new();
        for cells in &table.rows {
            if let [Value::Moment(moment)] = &cells[..] {
                self.add(moment, &mut lines);
            }
        }
        let rows = lines.into_iter().map(|line| vec![Value::Text(line)]).collect();
        Some(Table { rows, columns: table.columns.clone(), ..*table })
    }

    /// The note on processes that had no room, if there are any.
    pub(crate) fn note(&self) -> Option<String> {
        let are = if self.left_out == 1 { "process is" } else { "processes are" };
        let (left_out, width) = (units::grouped(self.left_out), self.width);
        (self.left_out > 0).then(|| {
            format!("{left_out} {are} left out: {width} columns have no room for them; try --width {}", width * 2)
        })
    }

    /// Adds the lines of a moment.
    fn add(&mut self, moment: &Moment, lines: &mut Vec<String>) {
        self.width = moment.width.map(usize::from).or(self.terminal).unwrap_or(USUAL_WIDTH);
        let columns = layout::columns(self.width).min(Moment::COLUMNS);
        let shown = moment.running.partition_point(|process| process.column < columns);
        let (running, hidden) = moment.running.split_at(shown);
        let mut drawing = Lines { lines, running, hidden: moment.hidden + hidden.len() as u64, timeline: self };
        match &moment.event {
            MomentEvent::Begins { column, .. } if *column >= columns => self.left_out += 1,
            event if event.column().is_some_and(|column| column >= columns) => {}
            MomentEvent::Nothing => drawing.line(&moment.time, &Annotation::Nothing),
            MomentEvent::Begins { from, column, name } => drawing.begins(&moment.time, *from, *column, name),
            MomentEvent::Executes { column } => drawing.executes(&moment.time, *column),
            MomentEvent::Ends { column, used, how, mark } => drawing.ends(&moment.time, *column, used, how, mark),
        }
    }
}

/// The lines of a moment.
struct Lines<'l> {
    lines: &'l mut Vec<String>,
    /// The processes that run and have room.
    running: &'l [Running],
    /// Number of the others.
    hidden: u64,
    timeline: &'l mut Timeline,
}

impl Lines<'_> {
    fn line(&mut self, time: &MomentTime, told: &Annotation<'_>) {
        let width = self.timeline.width;
        for process in self.running.iter().filter(|process| !told.covers(process.column)) {
            if self.room_beside(process.column) > 0 {
                self.timeline.unshown.remove(&process.column);
            }
        }
        self.lines.push(line(width, time, self.running, self.hidden, told));
    }

    fn begins(&mut self, time: &MomentTime, from: Option<u32>, column: u32, name: &str) {
        let at = self.running.partition_point(|process| process.column < column);
        // The new block may cover the place of a class that was not shown yet.
        let covered = at.checked_sub(1).map(|before| self.running[before].column);
        if covered.is_some_and(|before| self.timeline.unshown.contains(&before) && before + NEAR > column) {
            let others = [&self.running[..at], &self.running[at + 1..]].concat();
            let Lines { lines, hidden, timeline, .. } = self;
            Lines { lines, running: &others, hidden: *hidden, timeline }
                .line(&MomentTime::Unchanged, &Annotation::Nothing);
        }
        self.set_unshown(column);
        self.line(time, &Annotation::Begins { from, column, name });
    }

    fn executes(&mut self, time: &MomentTime, column: u32) {
        let was_shown = !self.timeline.unshown.contains(&column);
        self.set_unshown(column);
        if was_shown && self.room_beside(column) >= LEAST_ROOM {
            self.line(time, &Annotation::Nothing);
        }
    }

    fn ends(&mut self, time: &MomentTime, column: u32, used: &[String], how: &[String], mark: &str) {
        let room = self.room_beside(column);
        let is_unshown = self.timeline.unshown.remove(&column) || room < LEAST_ROOM;
        let mut texts: Vec<String> = self.class(column).filter(|_| is_unshown).map(str::to_owned).into_iter().collect();
        // Where there is no room at all, everything goes into one line.
        let both = used.join(" ");
        if both.width() <= room || room < LEAST_ROOM {
            texts.extend(Some(both).filter(|both| !both.is_empty()));
        } else {
            texts.extend_from_slice(used);
        }
        texts.extend_from_slice(how);
        if room < LEAST_ROOM {
            texts.push(mark.to_owned());
            return self.line(time, &Annotation::Ends { column, text: &texts.join(", "), is_afar: true });
        }
        for text in &texts {
            self.line(&MomentTime::Unchanged, &Annotation::Text { column, text });
        }
        self.line(time, &Annotation::Ends { column, text: mark, is_afar: false });
    }

    /// Marks the class of a process as not shown, if it has one.
    fn set_unshown(&mut self, column: u32) {
        match self.class(column) {
            Some(_) => self.timeline.unshown.insert(column),
            None => self.timeline.unshown.remove(&column),
        };
    }

    fn class(&self, column: u32) -> Option<&str> {
        self.running.iter().find(|process| process.column == column)?.class.as_deref()
    }

    /// Characters between a process and the next one.
    fn room_beside(&self, column: u32) -> usize {
        let next = self.running.partition_point(|process| process.column <= column);
        layout::room(self.timeline.width, column, self.running.get(next).map(|process| process.column))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use barrow_answer::{Audience, Column};

    fn moment(columns: &[u32], event: MomentEvent) -> Moment {
        let running = columns.iter().map(|&column| Running { column, class: Some("compiler".into()) }).collect();
        Moment { time: MomentTime::Since(2_000_000), running, hidden: 0, event, width: None }
    }

    fn begins(from: Option<u32>, column: u32) -> MomentEvent {
        MomentEvent::Begins { from, column, name: format!("{column}:0") }
    }

    /// The lines of moments at a terminal, and the note after them.
    fn drawn(terminal: usize, moments: &[Moment]) -> (Vec<String>, Option<String>) {
        let mut timeline = Timeline::new(Some(terminal));
        let rows = moments.iter().map(|moment| vec![Value::Moment(Box::new(moment.clone()))]).collect();
        let columns = vec![Column::picture("line")];
        let table = Table { key: "rows", audience: Audience::Everyone, columns, rows };
        let lines = timeline.table(&table).expect("moments").rows.into_iter().map(|cells| match &cells[..] {
            [Value::Text(line)] => line.clone(),
            other => panic!("{other:?}"),
        });
        (lines.collect(), timeline.note())
    }

    #[test]
    fn the_same_moments_are_drawn_at_each_width() {
        let ends = MomentEvent::Ends {
            column: 0,
            used: vec!["0.3000u".to_owned(), "0.0100s".to_owned()],
            how: vec!["exit 1".to_owned()],
            mark: "0.33s".to_owned(),
        };
        let moments = [moment(&[0], begins(None, 0)), moment(&[0, 17], begins(Some(0), 17)), moment(&[0, 17], ends)];
        let wide = [
            " 0:00.002 >=0:0",
            " 0:00.002 +---------------------------------<=17:0",
            "          | compiler                        | compiler",
            "          | 0.3000u 0.0100s                 | compiler",
            "          | exit 1                          | compiler",
            " 0:00.002 \\=0.33s                           | compiler",
        ];
        assert_eq!(drawn(80, &moments), (wide.map(str::to_owned).to_vec(), None));
        let (lines, note) = drawn(40, &moments);
        assert_eq!((lines[0].as_str(), lines[1].as_str()), (wide[0], "          | compiler                 +1"));
        assert!(lines.len() == 5 && lines.iter().all(|line| line.len() <= 40), "{lines:?}");
        let expected = "1 process is left out: 40 columns have no room for them; try --width 80";
        assert_eq!(note.as_deref(), Some(expected));
        // The question says another width than the terminal's.
        let asked = moments.map(|moment| Moment { width: Some(80), ..moment });
        assert_eq!(drawn(40, &asked).0, wide);
    }
}
