//! The number of slots that the arguments of a scheduler ask for.

use crate::tree::ProcessTree;

/// Schedulers that take the number of their slots by `-j` or `--jobs`.
const SCHEDULERS: [&str; 7] = ["make", "gmake", "mingw32-make", "ninja", "ninja-build", "samu", "cargo"];
/// Their flags that take no word.
const FLAGS: &str = "sBeikLnqrRStwv";
/// A larger number limits nothing that can be replayed: no recorded build had a tenth of it. This is a judgement.
const MOST_SLOTS: u64 = 1 << 14;

/// The most slots that a scheduler of the tree asks for; 0 if none says.
pub(super) fn asked_for(tree: &ProcessTree) -> u64 {
    let schedulers =
        tree.images().iter().filter(|image| tree.command(image).is_some_and(|name| SCHEDULERS.contains(&name)));
    schedulers.filter_map(|image| slots_in(tree.arguments(image).skip(1))).max().unwrap_or(0)
}

/// The number after `-j`, `--jobs` or `--jobs=` in the words of a scheduler. The last one counts.
fn slots_in<'w>(words: impl Iterator<Item = &'w str>) -> Option<u64> {
    let mut words = words.peekable();
    let mut found = None;
    while let Some(word) = words.next() {
        let number = match word {
            // What follows is for the programs of cargo, or a target.
            "--" => break,
            "-j" | "--jobs" => words.peek().copied(),
            word => word.strip_prefix("--jobs=").or_else(|| after_flags(word)),
        };
        let number = number.and_then(|number| number.parse().ok());
        found = number.filter(|slots| (1..=MOST_SLOTS).contains(slots)).or(found);
    }
    found
}

/// What follows `j` among flags of one letter: `4` of `-sj4`.
fn after_flags(word: &str) -> Option<&str> {
    word.strip_prefix('-')?.trim_start_matches(|flag| FLAGS.contains(flag)).strip_prefix('j')
}

#[cfg(test)]
mod tests {
    use super::slots_in;

    #[test]
    fn the_last_number_after_a_flag_counts() {
        for (words, slots) in [
            ("-s -j4 all", Some(4)),
            ("-j 3 -C folder", Some(3)),
            ("--jobs=12", Some(12)),
            ("build --jobs 2", Some(2)),
            ("-skj7", Some(7)),
            ("-vj5 all", Some(5)),
            ("-fj5", None),
            ("-j8 -j1", Some(1)),
            ("-j -k all", None),
            ("-j all", None),
            ("-j0", None),
            ("-j99999999", None),
            ("run -- -j4", None),
            ("", None),
        ] {
            assert_eq!(slots_in(words.split_whitespace()), slots, "{words}");
        }
    }
}
