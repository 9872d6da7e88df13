//! The programs of a trial: words, lines of a shell, and lines with parameters.

use std::ffi::OsString;
use std::path::Path;

use barrow_query::QueryError;
use barrow_query::commands::Command as Verb;
use barrow_query::flags::TrialFlags;
use barrow_trial_recorder::{Command, Shell, VariantPlan};

/// The most programs that parameters may make.
const MOST_PROGRAMS: usize = 10_000;
/// Words that only a shell understands, though they look like programs.
const BUILTINS: &str = ". : alias bg cd command eval exec exit export fg getopts hash jobs local read readonly return set \
                        shift source times trap type ulimit umask unalias unset wait if for while until case function \
                        time let declare";

/// A parameter with its values.
struct Parameter {
    name: String,
    values: Vec<String>,
}

/// The programs to measure.
///
/// # Errors
/// A usage error.
pub(super) fn variants(
    verb: &'static Verb,
    lines: &[String],
    words: &[OsString],
    flags: &TrialFlags,
    shell: &Option<Shell>,
) -> Result<Vec<VariantPlan>, QueryError> {
    let mut templates: Vec<Command> = Vec::new();
    if !words.is_empty() {
        templates.push(Command::Words(words.to_vec()));
    }
    if let [first, .., last] = lines
        && shell.is_none()
        && lines.iter().any(|line| is_no_program(line))
    {
        let together = if lines.len() == 2 { format!("{first} {last}") } else { format!("{first} … {last}") };
        let line = lines.iter().find(|line| is_no_program(line)).unwrap_or(last);
        return Err(QueryError::usage(format!(
            "`{line}` is no program; one program with arguments is `barrow {} -- {together}`",
            verb.name
        )));
    }
    let is_started_alone = !words.is_empty() && shell.is_none();
    for line in lines.iter().chain(&flags.compare) {
        templates.push(match is_started_alone {
            true => without_shell(line)?,
            false => Command::Line(line.clone()),
        });
    }
    if templates.is_empty() {
        return Err(QueryError::usage(format!("which command? `barrow {}`", verb.usage())));
    }
    if !flags.name.is_empty() && flags.name.len() != templates.len() {
        let (names, programs) = (flags.name.len(), templates.len());
        return Err(QueryError::usage(format!("{names} times `--name` for {programs} commands; name each of them")));
    }
    let parameters = parameters(flags)?;
    if let Some(unused) = parameters.iter().find(|parameter| !is_used(&parameter.name, &templates, flags)) {
        return Err(QueryError::usage(format!("no command has `{{{0}}}` for the parameter `{0}`", unused.name)));
    }
    let combinations = combinations(&parameters)?;
    let mut variants = Vec::new();
    for (at, template) in templates.iter().enumerate() {
        for parameters in &combinations {
            variants.push(variant(template, flags.name.get(at), parameters, shell.is_none()));
        }
    }
    Ok(variants)
}

/// Whether some command has a place for a parameter.
fn is_used(parameter: &str, templates: &[Command], flags: &TrialFlags) -> bool {
    let around = flags.prepare.iter().chain(&flags.conclude).chain(&flags.setup).chain(&flags.cleanup);
    let place = format!("{{{parameter}}}");
    templates.iter().map(Command::text).chain(around.cloned()).any(|text| text.contains(&place))
}

/// A line beside a command of words: both are started in the same way.
fn without_shell(line: &str) -> Result<Command, QueryError> {
    let words = shlex::split(line).filter(|words| !words.is_empty());
    let words = words.ok_or_else(|| QueryError::usage(format!("`{line}` is no command: a quote is not closed")))?;
    let needs_shell = |word: &String| matches!(word.as_str(), "|" | "||" | "&&" | ";" | "&" | ">" | ">>" | "<");
    if words.iter().any(needs_shell) {
        return Err(QueryError::usage(format!(
            "`{line}` needs a shell, and the command after `--` has none: give both as lines, or add `--shell=sh`"
        )));
    }
    Ok(Command::Words(words.into_iter().map(OsString::from).collect()))
}

fn variant(
    template: &Command,
    name: Option<&String>,
    parameters: &[(String, String)],
    may_start_alone: bool,
) -> VariantPlan {
    let filled = |text: &str| {
        parameters.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
    };
    let command = match template {
        Command::Line(line) => Command::Line(filled(line)),
        Command::Words(words) => Command::Words(
            words.iter().map(|word| word.to_str().map_or_else(|| word.clone(), |word| filled(word).into())).collect(),
        ),
    };
    let text = command.text();
    let command = match &command {
        Command::Line(line) if may_start_alone => plain(line).map_or(command, Command::Words),
        _ => command,
    };
    let name = match name {
        None => text,
        Some(name) if parameters.is_empty() || filled(name) != *name => filled(name),
        Some(name) => {
            let values: Vec<String> = parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
            format!("{name} {}", values.join(" "))
        }
    };
    VariantPlan { name, command, parameters: parameters.to_vec() }
}

/// The words of a line that means the same without a shell: such a program is started without one, so that the shell is no
/// part of what is measured.
fn plain(line: &str) -> Option<Vec<OsString>> {
    let is_plain = |c: char| c.is_alphanumeric() || " \t_-+=./,:@%^".contains(c);
    let words: Vec<&str> = line.split_whitespace().collect();
    let first = words.first()?;
    let is_program = !first.contains('=') && !is_builtin(first);
    let is_there = first.contains('/') || is_in_path(first);
    (line.chars().all(is_plain) && is_program && is_there).then(|| words.into_iter().map(OsString::from).collect())
}

fn is_builtin(word: &str) -> bool {
    BUILTINS.split_whitespace().any(|builtin| builtin == word)
}

fn is_in_path(name: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(Path::new(name)).is_file())
}

/// Whether a line is one word that neither a program nor a shell has for its name.
fn is_no_program(line: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || "_-+.,:@%".contains(c);
    let is_file = line.contains('/') && !Path::new(line).exists();
    let is_word = !line.is_empty() && line.chars().all(|c| is_name(c) || c == '/');
    is_word && !is_builtin(line) && (is_file || (!line.contains('/') && !is_in_path(line)))
}

/// The parameters of the flags.
fn parameters(flags: &TrialFlags) -> Result<Vec<Parameter>, QueryError> {
    let mut parameters = Vec::new();
    for scan in flags.parameter_scan.chunks(3) {
        let [name, from, to] = scan else { continue };
        parameters.push(Parameter { name: name.clone(), values: scanned(from, to, flags.parameter_step_size)? });
    }
    if flags.parameter_step_size.is_some() && flags.parameter_scan.is_empty() {
        return Err(QueryError::usage("`--parameter-step-size` is the step of `--parameter-scan`"));
    }
    for list in flags.parameter_list.chunks(2) {
        let [name, values] = list else { continue };
        parameters.push(Parameter { name: name.clone(), values: listed(values) });
    }
    let mut names: Vec<&str> = parameters.iter().map(|parameter| parameter.name.as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(QueryError::usage(format!("two parameters have the name `{}`", pair[0]))),
        None => Ok(parameters),
    }
}

/// The numbers of a scan, with as many decimals as were given.
fn scanned(from: &str, to: &str, step: Option<f64>) -> Result<Vec<String>, QueryError> {
    let wrong =
        || QueryError::usage(format!("`--parameter-scan` goes from a number to a larger one, not {from} to {to}"));
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    let (first, last) = (number(from).ok_or_else(wrong)?, number(to).ok_or_else(wrong)?);
    let step = step.unwrap_or(1.0);
    if first > last {
        return Err(wrong());
    }
    if !(step > 0.0 && step.is_finite()) {
        return Err(QueryError::usage("the step of a parameter is more than 0"));
    }
    // A last value that rounding alone keeps out is meant.
    let count = ((last - first) / step + 1e-9).floor() + 1.0;
    if count > MOST_PROGRAMS as f64 {
        return Err(too_many());
    }
    let decimals = |text: &str| text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let places = decimals(from).max(decimals(to)).max(decimals(&step.to_string()));
    Ok((0..count as usize).map(|at| format!("{:.places$}", first + at as f64 * step)).collect())
}

/// The values of a list; `\,` is a comma in one of them.
fn listed(text: &str) -> Vec<String> {
    let mut values = vec![String::new()];
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let value = values.last_mut().expect("there is a first value");
        match c {
            '\\' if characters.peek() == Some(&',') => value.extend(characters.next()),
            ',' => values.push(String::new()),
            c => value.push(c),
        }
    }
    values
}

/// All combinations of values, the first parameter slowest; one without any if there are no parameters.
fn combinations(parameters: &[Parameter]) -> Result<Vec<Vec<(String, String)>>, QueryError> {
    let mut all = vec![Vec::new()];
    for Parameter { name, values } in parameters {
        if all.len() * values.len() > MOST_PROGRAMS {
            return Err(too_many());
        }
        let extended = all.iter().flat_map(|before: &Vec<(String, String)>| {
            values.iter().map(move |value| {
                let mut next = before.clone();
                next.push((name.clone(), value.clone()));
                next
            })
        });
        all = extended.collect();
    }
    Ok(all)
}

fn too_many() -> QueryError {
    QueryError::usage(format!("these parameters make more than {MOST_PROGRAMS} programs"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scan_reaches_its_end_in_spite_of_rounding() {
        assert_eq!(scanned("0.1", "0.5", Some(0.1)).unwrap(), ["0.1", "0.2", "0.3", "0.4", "0.5"]);
        assert_eq!(scanned("1", "4", None).unwrap(), ["1", "2", "3", "4"]);
        assert_eq!(scanned("1", "4", Some(2.0)).unwrap(), ["1", "3"]);
        for (from, to, step) in [("4", "1", None), ("a", "1", None), ("0", "1", Some(0.0)), ("0", "1e9", None)] {
            assert!(scanned(from, to, step).is_err(), "{from} {to} {step:?}");
        }
    }

    #[test]
    fn values_of_a_list_may_hold_commas() {
        assert_eq!(listed(r"a,b\,c,,d\e"), ["a", "b,c", "", r"d\e"]);
    }

    #[test]
    fn parameters_are_combined() {
        let flags = TrialFlags {
            parameter_scan: ["n", "1", "2"].map(String::from).to_vec(),
            parameter_list: ["x", "a,b"].map(String::from).to_vec(),
            ..TrialFlags::default()
        };
        let all = combinations(&parameters(&flags).unwrap()).unwrap();
        let texts: Vec<String> = all.iter().map(|one| one.iter().map(|(_, value)| value.as_str()).collect()).collect();
        assert_eq!(texts, ["1a", "1b", "2a", "2b"]);
        let made = variant(&Command::Line("x {n} {x} | y".into()), None, &all[2], true);
        assert_eq!((made.name.as_str(), made.command.text().as_str()), ("x 2 a | y", "x 2 a | y"));
        let named = |name: &str| variant(&Command::Line("x".into()), Some(&name.to_owned()), &all[0], true).name;
        assert_eq!((named("one").as_str(), named("with {n}").as_str()), ("one n=1 x=a", "with 1"));
    }

    #[test]
    fn a_line_without_marks_of_a_shell_needs_none() {
        assert_eq!(plain("/bin/true --x=1 a.b").unwrap(), ["/bin/true", "--x=1", "a.b"]);
        for line in
            ["/bin/true 'a b'", "/bin/true | x", "A=1 /bin/true", "cd /", "exit 3", "/bin/echo $HOME", "/bin/ls *", ""]
        {
            assert_eq!(plain(line), None, "{line}");
        }
        assert!(plain("no-such-program-anywhere").is_none());
    }

    #[test]
    fn arguments_are_not_taken_for_programs() {
        let verb = barrow_query::commands::named("trial").unwrap();
        let of = |lines: &[&str], shell: Option<Shell>| {
            let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
            variants(verb, &lines, &[], &TrialFlags::default(), &shell)
        };
        let told = of(&["sort", "no-such-file.txt"], None).unwrap_err().to_string();
        assert!(told.contains("-- sort no-such-file.txt"), "{told}");
        assert!(of(&["sort", "no-such-file.txt"], Some(Shell::Default)).is_ok());
        assert_eq!(of(&["sort", "exit 3", "true", "A=1 x"], None).unwrap().len(), 4);
        // Its runs will fail, which is told then.
        assert_eq!(of(&["no-such-program"], None).unwrap().len(), 1);
    }

    #[test]
    fn lines_beside_words_are_divided() {
        assert_eq!(without_shell("a 'b c'").unwrap().text(), "a 'b c'");
        assert!(without_shell("a | b").is_err() && without_shell("a 'b").is_err());
    }
}
