//! The command that an image really executes: wrappers are looked through, and interpreters are identified by their
//! script.
//!
//! ```text
//!   nice -n 5 env A=b ccache /usr/bin/gcc -c a.c      gcc, with the arguments from gcc on
//!   python3 -W ignore -m pytest tests                 python3, script pytest
//!   /bin/sh -c "cd src && gzip -9 a"                  sh; gzip where only the commands of shells were recorded
//! ```

use super::file::{File, Source};
use crate::error::Result;

/// Maximum number of nested wrappers that are looked through.
const MOST_WRAPPERS: usize = 8;

/// The programs that execute others.
#[derive(Debug, Default)]
pub(super) struct Launchers {
    all: Vec<(regex::Regex, Launcher)>,
}

#[derive(Debug, Clone)]
enum Launcher {
    Wrapper { values: Vec<String>, operands: usize, assignments: bool },
    Shell { skip: Vec<String> },
    Interpreter { values: Vec<String>, code: Vec<String> },
}

/// The launcher with a given name, as a position.
pub(super) type Launching = Option<usize>;

impl Launchers {
    /// # Errors
    /// An invalid pattern.
    pub(super) fn compile(source: Source<'_>, file: &File) -> Result<Self> {
        let mut all = Vec::new();
        for text in &file.wrapper {
            let (values, operands) = (text.values.clone(), text.operands);
            all.push((
                source.pattern(&text.program)?,
                Launcher::Wrapper { values, operands, assignments: text.assignments },
            ));
        }
        for text in &file.shell {
            all.push((source.pattern(&text.program)?, Launcher::Shell { skip: text.skip.clone() }));
        }
        for text in &file.interpreter {
            let launcher = Launcher::Interpreter { values: text.values.clone(), code: text.code.clone() };
            all.push((source.pattern(&text.program)?, launcher));
        }
        Ok(Launchers { all })
    }

    /// The launchers of `self`, then those of `other`.
    pub(super) fn and_then(mut self, other: Self) -> Self {
        self.all.extend(other.all);
        self
    }

    /// The launcher for a program of this name.
    pub(super) fn launching(&self, name: &str) -> Launching {
        self.all.iter().position(|(pattern, _)| pattern.is_match(name))
    }
}

/// The executed command.
#[derive(Debug, Default)]
pub(super) struct Command<'t> {
    pub(super) name: &'t str,
    pub(super) script: &'t str,
    pub(super) executable: &'t str,
    /// From the program on.
    pub(super) arguments: Vec<&'t str>,
}

impl<'t> Command<'t> {
    /// Looks through launchers at the start of `arguments`. `launching` caches [`Launchers::launching`]; `is_recipe`
    /// means that shells are looked through as well.
    pub(super) fn read(
        &mut self,
        executable: &'t str,
        arguments: impl Iterator<Item = &'t str>,
        launchers: &Launchers,
        is_recipe: bool,
        mut launching: impl FnMut(&'t str) -> Launching,
    ) {
        self.arguments.clear();
        self.arguments.extend(arguments);
        (self.executable, self.script) = (executable, "");
        for _ in 0..MOST_WRAPPERS {
            let Some(&first) = self.arguments.first() else {
                self.name = name_of(executable);
                return;
            };
            self.name = name_of(first);
            let Some(launcher) = launching(self.name) else { return };
            let inner = match &launchers.all[launcher].1 {
                Launcher::Wrapper { values, operands, assignments } => {
                    wrapped(&self.arguments, values, *operands, *assignments).map(Inner::From)
                }
                Launcher::Shell { skip } if is_recipe => recipe(&self.arguments, skip).map(Inner::Words),
                Launcher::Shell { .. } => {
                    self.script = script(&self.arguments, &[], &[String::from("-c")]).unwrap_or_default();
                    None
                }
                Launcher::Interpreter { values, code } => {
                    self.script = script(&self.arguments, values, code).unwrap_or_default();
                    None
                }
            };
            match inner {
                Some(Inner::From(at)) => drop(self.arguments.drain(..at)),
                Some(Inner::Words(words)) => self.arguments = words,
                None => return,
            }
            self.executable = if self.arguments[0].contains('/') { self.arguments[0] } else { "" };
        }
    }
}

enum Inner<'t> {
    /// The same arguments, from this one on.
    From(usize),
    Words(Vec<&'t str>),
}

/// The last part of a path, without the `-` of a login shell.
fn name_of(path: &str) -> &str {
    let name = path.trim_end_matches('/').rsplit(['/', '\\']).next().unwrap_or(path);
    let name = name.strip_prefix('-').filter(|name| !name.is_empty()).unwrap_or(name);
    name.strip_suffix(".exe").unwrap_or(name)
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// The position at which the command of a wrapper begins.
fn wrapped(arguments: &[&str], values: &[String], operands: usize, assignments: bool) -> Option<usize> {
    let mut at = 1;
    while let Some(&word) = arguments.get(at) {
        if word == "--" {
            at += 1;
            break;
        }
        if word.len() < 2 || !word.starts_with('-') {
            break;
        }
        at += 1 + usize::from(values.iter().any(|option| option == word));
    }
    at += operands;
    while assignments && arguments.get(at).is_some_and(|word| is_assignment(word)) {
        at += 1;
    }
    arguments.get(at).filter(|word| !word.is_empty()).map(|_| at)
}

/// The last part of the script or module that an interpreter runs.
fn script<'t>(arguments: &[&'t str], values: &[String], code: &[String]) -> Option<&'t str> {
    let mut at = 1;
    while let Some(&word) = arguments.get(at) {
        if word.len() < 2 || !word.starts_with('-') {
            return (word != "-").then(|| name_of(word)).filter(|name| !name.is_empty());
        }
        if code.iter().any(|option| option == word) {
            return None;
        }
        at += 1 + usize::from(values.iter().any(|option| option == word));
    }
    None
}

/// The words of the first command of `sh -c` that is not a preparation.
fn recipe<'t>(arguments: &[&'t str], skip: &[String]) -> Option<Vec<&'t str>> {
    const WORDS: [&str; 14] =
        ["if", "then", "else", "elif", "do", "while", "until", "!", "{", "(", "exec", "command", "eval", "time"];
    // Other options may be joined with it, such as -e in `-ec`.
    let at = arguments
        .iter()
        .skip(1)
        .take_while(|word| word.starts_with('-'))
        .position(|word| !word.starts_with("--") && word.contains('c'))?;
    let text = arguments.get(at + 2)?;
    for simple in text.split([';', '|', '&', '\n']) {
        let words = simple.split_whitespace().map(|word| word.trim_matches(['"', '\'', '(', ')', '@']));
        let mut words =
            words.skip_while(|word| word.is_empty() || WORDS.contains(word) || is_assignment(word)).peekable();
        let Some(&first) = words.peek() else { continue };
        if !skip.iter().any(|skipped| skipped == first) {
            return Some(words.collect());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str, is_recipe: bool) -> (String, String, String) {
        let rules = super::super::Rules::standard();
        let words: Vec<&str> = match line.split_once(" -c ") {
            Some((shell, text)) if shell.ends_with("sh") => vec![shell, "-c", text],
            _ => line.split(' ').collect(),
        };
        let mut command = Command::default();
        let launchers = &rules.launchers;
        command.read(words[0], words.iter().copied(), launchers, is_recipe, |name| launchers.launching(name));
        (command.name.to_owned(), command.script.to_owned(), command.arguments.join(" "))
    }

    #[test]
    fn wrappers_are_looked_through() {
        for (line, name, script, arguments) in [
            ("nice -n 5 env A=b ccache /usr/bin/gcc -c a.c", "gcc", "", "/usr/bin/gcc -c a.c"),
            ("env", "env", "", "env"),
            ("env -u HOME -C /tmp -- X=1 y", "y", "", "y"),
            ("ccache -s", "ccache", "", "ccache -s"),
            ("timeout -k 5 10 make -j2", "make", "", "make -j2"),
            ("sccache rustc --crate-name x", "rustc", "", "rustc --crate-name x"),
            ("python3.11 -W ignore -m pytest tests", "python3.11", "pytest", "python3.11 -W ignore -m pytest tests"),
            ("python3 -c import", "python3", "", "python3 -c import"),
            ("/usr/bin/node --max-old-space-size=8 /usr/bin/npm ci", "node", "npm", {
                "/usr/bin/node --max-old-space-size=8 /usr/bin/npm ci"
            }),
            ("java -cp a:b org.X -v", "java", "org.X", "java -cp a:b org.X -v"),
            ("-bash", "bash", "", "-bash"),
            ("/bin/sh ../libtool --mode=link gcc", "sh", "libtool", "/bin/sh ../libtool --mode=link gcc"),
            ("/bin/sh -c cd src && gzip -9 a", "sh", "", "/bin/sh -c cd src && gzip -9 a"),
        ] {
            assert_eq!(read(line, false), (name.to_owned(), script.to_owned(), arguments.to_owned()), "{line}");
        }
    }

    #[test]
    fn recipes_are_the_command_that_matters() {
        for (line, name) in [
            ("/bin/sh -c cd src && gzip -9 a", "gzip"),
            ("sh -c A=b ccache 'gcc' -c a.c", "gcc"),
            ("sh -c if test -f x; then rm x; fi; ar cr a.a", "ar"),
            ("sh -c (cd a && make)", "make"),
            ("sh -c cd a", "sh"),
            ("sh -c ", "sh"),
        ] {
            assert_eq!(read(line, true).0, name, "{line}");
        }
    }
}
