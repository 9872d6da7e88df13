//! Memory layouts of runs, and the knobs that vary them.

use std::str::FromStr;

/// The memory layout of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// The same in all runs, or another one in each.
    pub kind: LayoutKind,
    /// The knobs that vary, if the layout is random.
    pub knobs: Knobs,
}

/// The way in which layouts are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayoutKind {
    /// As the system makes it.
    AsIs,
    /// The same in all runs.
    Fixed,
    /// Another one in each run, which follows from its seed.
    Random,
}

/// A set of knobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Knobs(u8);

impl Knobs {
    /// No knob.
    pub const NONE: Self = Knobs(0);
    /// Address space randomisation by the system.
    pub const ASLR: Self = Knobs(1);
    /// The size of the environment, which moves the stack.
    pub const ENV: Self = Knobs(2);
    /// The length of the path that is executed, which lies before the environment and moves the stack as well.
    pub const ARGV: Self = Knobs(4);
    /// A block on the stack below `main`.
    pub const STACK: Self = Knobs(8);
    /// Blocks on the heap.
    pub const HEAP: Self = Knobs(16);
    /// Huge pages.
    pub const THP: Self = Knobs(32);
    /// Every knob.
    pub const ALL: Self = Knobs(63);

    const NAMES: [(Knobs, &'static str); 6] = [
        (Knobs::ASLR, "aslr"),
        (Knobs::ENV, "env"),
        (Knobs::ARGV, "argv"),
        (Knobs::STACK, "stack"),
        (Knobs::HEAP, "heap"),
        (Knobs::THP, "thp"),
    ];

    /// Whether the set has a knob.
    #[must_use]
    pub fn has(self, knob: Knobs) -> bool {
        self.0 & knob.0 != 0
    }

    /// The same without a knob.
    #[must_use]
    pub fn without(self, knob: Knobs) -> Self {
        Knobs(self.0 & !knob.0)
    }

    /// The same with a knob.
    pub(crate) fn and(self, knob: Knobs) -> Self {
        Knobs(self.0 | knob.0)
    }

    /// The names, divided by commas.
    #[must_use]
    pub fn names(self) -> String {
        let names = Self::NAMES.iter().filter(|(knob, _)| self.has(*knob)).map(|(_, name)| *name);
        names.collect::<Vec<_>>().join(",")
    }
}

impl LayoutKind {
    /// Its name, as programs see it in `BARROW_TRIAL_LAYOUT`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            LayoutKind::AsIs => "as-is",
            LayoutKind::Fixed => "fixed",
            LayoutKind::Random => "random",
        }
    }
}

impl Layout {
    /// As the system makes it.
    pub const AS_IS: Self = Layout { kind: LayoutKind::AsIs, knobs: Knobs::NONE };

    /// As it is typed.
    pub(crate) fn text(self) -> String {
        match self.kind {
            LayoutKind::Random if self.knobs != Knobs::ALL => format!("random={}", self.knobs.names()),
            kind => kind.name().to_owned(),
        }
    }
}

impl FromStr for Layout {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            None => match text {
                "as-is" => Ok(Layout::AS_IS),
                "fixed" => Ok(Layout { kind: LayoutKind::Fixed, knobs: Knobs::NONE }),
                "random" => Ok(Layout { kind: LayoutKind::Random, knobs: Knobs::ALL }),
                _ => Err(format!("`{text}` is no layout; there are fixed, random, random=heap,stack and as-is")),
            },
            Some(("random", names)) => {
                let mut knobs = Knobs::NONE;
                for name in names.split(',') {
                    let knob = Knobs::NAMES.iter().find(|(_, known)| *known == name.trim()).map(|(knob, _)| *knob);
                    knobs = knobs.and(
                        knob.ok_or_else(|| format!("there is no knob `{name}`; there are {}", Knobs::ALL.names()))?,
                    );
                }
                Ok(Layout { kind: LayoutKind::Random, knobs })
            }
            Some((kind, _)) => Err(format!("only random layouts have knobs, and `{kind}` is none")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_read_as_they_are_typed() {
        for text in ["as-is", "fixed", "random", "random=heap", "random=aslr,env,argv,stack"] {
            assert_eq!(text.parse::<Layout>().unwrap().text(), text);
        }
        for wrong in ["", "chaotic", "random=", "random=heap,x", "fixed=heap"] {
            assert!(wrong.parse::<Layout>().is_err(), "{wrong}");
        }
    }
}
