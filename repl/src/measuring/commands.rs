//! The programs of a trial, from words, lines and parameters.

use std::ffi::OsString;

use barrow_query::QueryError;
use barrow_query::commands::Command as Verb;
use barrow_query::flags::TrialFlags;
use barrow_trial_recorder::{Command, Shell, VariantPlan, filled};

use super::lines::{is_no_program, plain, without_shell};
use super::parameters::{combinations, parameters};

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
            "there is no program `{line}`; with arguments, a program is written `barrow {} -- {together}`",
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
        return Err(QueryError::usage(format!(
            "no command uses the parameter `{0}`: write {{{0}}} where its values go",
            unused.name
        )));
    }
    let combinations = combinations(&parameters)?;
    let mut variants = Vec::new();
    if let Some(line) = &flags.reference {
        // Measured once, whatever parameters the others have, and first: comparisons begin there.
        let template = if is_started_alone { without_shell(line)? } else { Command::Line(line.clone()) };
        variants.push(variant(&template, flags.reference_name.as_ref(), &[], shell.is_none()));
    }
    for (at, template) in templates.iter().enumerate() {
        for parameters in &combinations {
            variants.push(variant(template, flags.name.get(at), parameters, shell.is_none()));
        }
    }
    Ok(variants)
}

/// Returns whether some command has a place for a parameter.
fn is_used(parameter: &str, templates: &[Command], flags: &TrialFlags) -> bool {
    let around = flags.prepare.iter().chain(&flags.conclude).chain(&flags.setup).chain(&flags.cleanup);
    let place = format!("{{{parameter}}}");
    templates.iter().map(Command::text).chain(around.cloned()).any(|text| text.contains(&place))
}

fn variant(
    template: &Command,
    name: Option<&String>,
    parameters: &[(String, String)],
    may_start_alone: bool,
) -> VariantPlan {
    let filled = |text: &str| filled(text, parameters);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_have_their_places() {
        let parameters = [("n", "2"), ("x", "a")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        let made = variant(&Command::Line("x {n} {x} | y".into()), None, &parameters, true);
        assert_eq!((made.name.as_str(), made.command.text().as_str()), ("x 2 a | y", "x 2 a | y"));
        let named = |name: &str| variant(&Command::Line("x".into()), Some(&name.to_owned()), &parameters, true).name;
        assert_eq!((named("one").as_str(), named("with {n}").as_str()), ("one n=2 x=a", "with 2"));
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
}
