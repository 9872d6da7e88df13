//! A moment of a timeline as a line: time goes from top to bottom, and each process that runs is a block.
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

use barrow_answer::timeline::{Moment, MomentEvent, MomentTime};
use barrow_answer::visible;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The line of a moment.
pub(crate) fn line(moment: &Moment) -> String {
    let limit = Moment::limit(moment.width);
    let time = match &moment.time {
        MomentTime::Unchanged => String::new(),
        MomentTime::Since(time_ns) => time_text(*time_ns),
        MomentTime::Calendar(text) => text.clone(),
    };
    let mut line = Line { text: format!("{time:>width$} ", width = Moment::GUTTER - 1), length: 0 };
    let mut running = moment.running.iter().peekable();
    while let Some(process) = running.next() {
        let column = process.column;
        let room = Moment::room(moment.width, column, running.peek().map(|next| next.column));
        match &moment.event {
            MomentEvent::Begins { from: Some(from), column: at, .. } if *from == column => {
                line.cross(column, '+', Moment::place(*at));
            }
            MomentEvent::Begins { from: Some(from), column: at, .. } if (*from..*at).contains(&column) => {}
            MomentEvent::Ends { column: at, is_afar: true, .. } if column > *at => {}
            event if event.column() == Some(column) => line.event(column, event, room, limit),
            _ => {
                line.put(Moment::place(column), "| ");
                if let Some(class) = process.class.as_deref().filter(|_| room > 0) {
                    line.put(Moment::place(column) + Moment::COLUMN, &cut(class, room));
                }
            }
        }
    }
    if moment.hidden > 0 {
        let more = if moment.hidden < 100 { format!("+{}", moment.hidden) } else { ">99".to_owned() };
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
        self.put(Moment::place(from), first.encode_utf8(&mut [0; 4]));
        self.fill(to, '-');
    }

    fn event(&mut self, column: u32, event: &MomentEvent, room: usize, limit: usize) {
        let at = Moment::place(column);
        let (mark, text) = match event {
            MomentEvent::Begins { from, name, .. } => (if from.is_some() { "<=" } else { ">=" }, name),
            MomentEvent::Told { text, .. } => ("| ", text),
            MomentEvent::Ends { text, is_afar: false, .. } => ("\\=", text),
            MomentEvent::Ends { text, is_afar: true, .. } => {
                let text = cut(text, limit.saturating_sub(at + Moment::COLUMN));
                self.cross(column, '\\', limit.saturating_sub(text.width() + 1));
                self.put(self.length, "=");
                return self.put(self.length, &text);
            }
            MomentEvent::Nothing => return,
        };
        self.put(at, mark);
        self.put(at + Moment::COLUMN, &cut(text, room));
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
    use barrow_answer::timeline::Running;

    fn moment(event: MomentEvent) -> Moment {
        let running = [(0, Some("make")), (1, None), (9, Some("a long class"))];
        let running = running.map(|(column, class)| Running { column, class: class.map(Into::into) }).to_vec();
        Moment { time: MomentTime::Since(2_000_000), running, hidden: 3, event, width: 40 }
    }

    #[test]
    fn what_happens_stands_beside_what_runs() {
        let begins = MomentEvent::Begins { from: Some(0), column: 9, name: "7:0".to_owned() };
        let afar = MomentEvent::Ends { column: 1, text: "exit 1".to_owned(), is_afar: true };
        let cases = [
            (MomentEvent::Nothing, " 0:00.002 | |               | a lon… +3"),
            (begins, " 0:00.002 +-----------------<=7:0    +3"),
            (
                MomentEvent::Told { column: 1, text: "cc\u{202e}".to_owned() },
                " 0:00.002 | | cc\\u{202e}    | a lon… +3",
            ),
            (
                MomentEvent::Ends { column: 9, text: "2 s".to_owned(), is_afar: false },
                " 0:00.002 | |               \\=2 s    +3",
            ),
            (afar, " 0:00.002 | \\----------------=exit 1 +3"),
        ];
        for (event, expected) in cases {
            assert_eq!(line(&moment(event)), expected);
        }
    }

    #[test]
    fn times_keep_their_width() {
        let times = [2_000_000, -61_500_000_000, 6_000_000_000_000, 60_000_000_000_000].map(time_text);
        assert_eq!(times, ["0:00.002", "-1:01.500", "100:00.00", "1000:00"]);
    }
}
