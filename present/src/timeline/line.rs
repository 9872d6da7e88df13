//! One line of a timeline: the time, and the processes that run, with what is told of one of them.

use barrow_answer::timeline::{MomentTime, Running};
use barrow_answer::visible;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::layout;

/// The text of a line beside a process.
pub(super) enum Annotation<'t> {
    /// None: the classes are told.
    Nothing,
    /// A process begins: its name, and the column of the process that started it, if that still runs.
    Begins { from: Option<u32>, column: u32, name: &'t str },
    /// A text about a process.
    Text { column: u32, text: &'t str },
    /// A process ends. There is room for the text beside it, or only to the right of all processes.
    Ends { column: u32, text: &'t str, is_afar: bool },
}

impl Annotation<'_> {
    /// The column of the process.
    fn column(&self) -> Option<u32> {
        match self {
            Annotation::Begins { column, .. } | Annotation::Text { column, .. } | Annotation::Ends { column, .. } => {
                Some(*column)
            }
            Annotation::Nothing => None,
        }
    }

    /// Whether the line has something else in the place of the class of the process in `column`.
    pub(super) fn covers(&self, column: u32) -> bool {
        match self {
            Annotation::Begins { from: Some(from), column: at, .. } => (*from..=*at).contains(&column),
            Annotation::Ends { column: at, is_afar: true, .. } => column >= *at,
            told => told.column() == Some(column),
        }
    }
}

/// A line of `width` characters. `hidden` processes run besides those in `running`.
pub(super) fn line(width: usize, time: &MomentTime, running: &[Running], hidden: u64, told: &Annotation<'_>) -> String {
    let limit = layout::limit(width);
    let time = match time {
        MomentTime::Unchanged => String::new(),
        MomentTime::Since(time_ns) => time_text(*time_ns),
        MomentTime::Calendar(text) => text.clone(),
    };
    let mut line = Line { text: format!("{time:>width$} ", width = layout::GUTTER - 1), length: 0 };
    let mut running = running.iter().peekable();
    while let Some(process) = running.next() {
        let column = process.column;
        let room = layout::room(width, column, running.peek().map(|next| next.column));
        match told {
            Annotation::Begins { from: Some(from), column: at, .. } if *from == column => {
                line.cross(column, '+', layout::place(*at));
            }
            told if told.column() == Some(column) => line.told(column, told, room, limit),
            told if told.covers(column) => {}
            _ => {
                line.put(layout::place(column), "| ");
                if let Some(class) = process.class.as_deref().filter(|_| room > 0) {
                    line.put(layout::place(column) + layout::COLUMN, &cut(class, room));
                }
            }
        }
    }
    if hidden > 0 {
        let more = if hidden < 100 { format!("+{hidden}") } else { ">99".to_owned() };
        line.put(limit + 1, &more);
    }
    line.text.truncate(line.text.trim_end().len());
    line.text
}

/// A line that grows to the right.
struct Line {
    text: String,
    /// Characters after the time.
    length: usize,
}

impl Line {
    /// Adds a text at a place, after blanks.
    fn put(&mut self, at: usize, text: &str) {
        self.fill(at, ' ');
        self.text.push_str(text);
        self.length += text.width();
    }

    fn fill(&mut self, to: usize, with: char) {
        self.text.extend(std::iter::repeat_n(with, to.saturating_sub(self.length)));
        self.length = self.length.max(to);
    }

    /// A line from a column to a place.
    fn cross(&mut self, from: u32, first: char, to: usize) {
        self.put(layout::place(from), first.encode_utf8(&mut [0; 4]));
        self.fill(to, '-');
    }

    fn told(&mut self, column: u32, told: &Annotation<'_>, room: usize, limit: usize) {
        let at = layout::place(column);
        let (mark, text) = match told {
            Annotation::Begins { from, name, .. } => (if from.is_some() { "<=" } else { ">=" }, name),
            Annotation::Text { text, .. } => ("| ", text),
            Annotation::Ends { text, is_afar: false, .. } => ("\\=", text),
            Annotation::Ends { text, is_afar: true, .. } => {
                let text = cut(text, limit.saturating_sub(at + layout::COLUMN));
                self.cross(column, '\\', limit.saturating_sub(text.width() + 1));
                self.put(self.length, "=");
                return self.put(self.length, &text);
            }
            Annotation::Nothing => return,
        };
        self.put(at, mark);
        self.put(at + layout::COLUMN, &cut(text, room));
    }
}

/// Minutes and seconds, with as many digits of a second as have room.
fn time_text(time_ns: i64) -> String {
    let (sign, ms) = (if time_ns < 0 { "-" } else { "" }, time_ns.unsigned_abs() / 1_000_000);
    let (minutes, seconds, ms) = (ms / 60_000, ms / 1000 % 60, ms % 1000);
    match minutes {
        0..100 => format!("{sign}{minutes}:{seconds:02}.{ms:03}"),
        100..1000 => format!("{sign}{minutes}:{seconds:02}.{:02}", ms / 10),
        _ => format!("{sign}{minutes}:{seconds:02}"),
    }
}

/// The beginning of a text, with hidden characters written out.
fn cut(text: &str, room: usize) -> String {
    let shown = visible::cell(text);
    if shown.width() <= room {
        return shown.into_owned();
    }
    let mut used = 1;
    let fits = shown.chars().take_while(|c| {
        used += c.width().unwrap_or(0);
        used <= room
    });
    let mut text: String = fits.collect();
    if room > 0 {
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happens_stands_beside_what_runs() {
        let running = [(0, Some("make")), (1, None), (9, Some("a long class"))];
        let running = running.map(|(column, class)| Running { column, class: class.map(Into::into) });
        let cases = [
            (Annotation::Nothing, " 0:00.002 | |               | a lon… +3"),
            (Annotation::Begins { from: Some(0), column: 9, name: "7:0" }, " 0:00.002 +-----------------<=7:0    +3"),
            (Annotation::Text { column: 1, text: "cc\u{202e}" }, " 0:00.002 | | cc\\u{202e}    | a lon… +3"),
            (Annotation::Ends { column: 9, text: "2 s", is_afar: false }, " 0:00.002 | |               \\=2 s    +3"),
            (Annotation::Ends { column: 1, text: "exit 1", is_afar: true }, " 0:00.002 | \\----------------=exit 1 +3"),
        ];
        for (told, expected) in cases {
            assert_eq!(line(40, &MomentTime::Since(2_000_000), &running, 3, &told), expected);
        }
    }

    #[test]
    fn times_keep_their_width() {
        let times = [2_000_000, -61_500_000_000, 6_000_000_000_000, 60_000_000_000_000].map(time_text);
        assert_eq!(times, ["0:00.002", "-1:01.500", "100:00.00", "1000:00"]);
    }
}
