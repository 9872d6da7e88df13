//! Damage to files of lines.

use super::choices::Choices;

/// A byte that is no part of any text.
const NO_TEXT: u8 = 0xff;

/// What happens to lines.
pub(super) struct Harm {
    /// A line may be broken in two, and two may be one.
    pub(super) breaks: bool,
    /// Fields at the beginning of a line, each with a blank behind it, in which no byte is changed.
    pub(super) kept_fields: usize,
    /// Which bytes are changed.
    pub(super) changes: fn(&u8) -> bool,
}

impl Harm {
    /// The lines with damage at one to three places.
    pub(super) fn damage(&self, lines: &[String], choices: &mut Choices<'_>) -> Vec<u8> {
        let mut lines: Vec<Vec<u8>> = lines.iter().map(|line| format!("{line}\n").into_bytes()).collect();
        for _ in 0..1 + choices.up_to(2) {
            let at = choices.below(lines.len());
            match choices.byte() % 5 {
                0 => _ = lines[at].drain(..),
                1 if self.breaks => _ = lines[at].pop(),
                2 if self.breaks && !lines[at].is_empty() => {
                    let place = choices.below(lines[at].len());
                    lines[at].insert(place, b'\n');
                }
                3 => lines.insert(at, b"\x80 \xfe, no line of a dump {\n".to_vec()),
                _ => self.change_byte(&mut lines[at], choices),
            }
        }
        let mut bytes = lines.concat();
        if choices.byte().is_multiple_of(4) {
            bytes.truncate(choices.up_to(bytes.len()));
        }
        bytes
    }

    fn change_byte(&self, line: &mut [u8], choices: &mut Choices<'_>) {
        let kept: usize = line.split_inclusive(|&byte| byte == b' ').take(self.kept_fields).map(<[u8]>::len).sum();
        let until = line.len().saturating_sub(1);
        let mut changeable: Vec<&mut u8> =
            line[..until].iter_mut().skip(kept).filter(|byte| (self.changes)(byte)).collect();
        if !changeable.is_empty() {
            let at = choices.below(changeable.len());
            *changeable[at] = NO_TEXT;
        }
    }
}
