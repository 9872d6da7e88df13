//! From the text of an assertion to its meaning.

use std::ops::Range;

use barrow_analyzer::{Amount, AmountUnit, Expression, ExpressionError, Names, Reader, parse_duration, parse_size};

use super::judge::objects::Objects;
use super::judge::paths::TypePath;
use super::measure::{MEASURES, Measure, OfObjects, OfProcesses, OfTrials, Reading};
use super::processes::Processes;
use super::trials::Programs;
use super::{Argument, Assertion, Claim, Compared, Comparison, Figure, Known, Limit, Scope, When};
use crate::language::asked::{after_word, names_attribute};
use crate::language::selection;

/// The fewest digits of a fingerprint. Fewer could be those of another leak: with 32 bits, one pair in four billion is
/// alike.
const LEAST_DIGITS: usize = 8;

/// The most words in the name of a kind.
const KIND_WORDS: usize = 4;

/// Parses the whole text.
pub(super) fn parse(text: &str, scope: &Scope<'_>) -> Result<Assertion, ExpressionError> {
    let mut parser = Parser { text, reader: Reader::new(text), scope };
    let claim = match parser.word() {
        (_, "no") => Claim::NoLeaks(parser.no_leaks()?),
        (position, word) => Claim::Compared(parser.compared(word, position)?),
    };
    let position = parser.reader.position();
    let when = parser.when()?;
    let end = parser.reader.position();
    if !parser.reader.is_at_end() {
        return Err(error(end, "expected `over 0..9`, `in 3` or the end here"));
    }
    if let (Claim::Compared(Compared { measure, .. }), true) = (&claim, when != When::Selected) {
        let subject = match measure.reading {
            Reading::Objects(OfObjects::Growth(_)) | Reading::Path if matches!(when, When::In(_)) => {
                return Err(error(position, "one snapshot does not grow; expected `over 0..9` here"));
            }
            Reading::Objects(_) | Reading::Path => "",
            Reading::Processes(_) => "processes",
            Reading::Trials(_) => "trials",
        };
        if !subject.is_empty() {
            return Err(error(position, format!("{subject} belong to no snapshot; expected the end here")));
        }
    }
    Ok(Assertion { text: text[..end].trim().to_owned(), claim, when })
}

/// Parses a line that names a known leak: a fingerprint, optionally with a size.
pub(super) fn known(line: &str) -> Result<Known, ExpressionError> {
    let mut reader = Reader::new(line);
    let known = fingerprint(&mut reader)?;
    match reader.is_at_end() {
        true => Ok(known),
        false => Err(error(reader.position(), "expected `up to SIZE` or the end of the line here")),
    }
}

fn error(position: usize, message: impl Into<String>) -> ExpressionError {
    ExpressionError { position, message: message.into() }
}

/// Parses a fingerprint or the beginning of one, and `up to SIZE`, if it follows.
fn fingerprint(reader: &mut Reader<'_>) -> Result<Known, ExpressionError> {
    let position = reader.position();
    let word = reader.word();
    if !(LEAST_DIGITS..=16).contains(&word.len()) || !word.chars().all(|c| c.is_ascii_hexdigit()) {
        let digits = format!("16 hexadecimal digits, or the first {LEAST_DIGITS} of them");
        return Err(error(position, format!("expected a fingerprint here: {digits}; `leaks` prints them")));
    }
    let mut most = None;
    if reader.is_word("up") {
        if !reader.is_word("to") {
            return Err(error(reader.position(), "expected `to` here"));
        }
        let position = reader.position();
        let size = parse_size(reader.word());
        most = Some(size.ok_or_else(|| error(position, "expected a size such as 64M here"))?);
    }
    Ok(Known::Fingerprint(word.to_ascii_lowercase(), most))
}

struct Parser<'t, 's> {
    text: &'t str,
    reader: Reader<'t>,
    scope: &'s Scope<'s>,
}

impl<'t> Parser<'t, '_> {
    /// The next word, and its position.
    fn word(&mut self) -> (usize, &'t str) {
        (self.reader.position(), self.reader.word())
    }

    /// Parses `leaks`, optionally with exceptions.
    fn no_leaks(&mut self) -> Result<Vec<Known>, ExpressionError> {
        if !self.reader.is_word("leaks") {
            return Err(error(self.reader.position(), "expected `leaks` here"));
        }
        let mut known = Vec::new();
        let mut has_next = self.reader.is_word("except");
        while has_next {
            let is_baseline = self.reader.is_word("baseline");
            known.push(if is_baseline { Known::Baseline } else { fingerprint(&mut self.reader)? });
            has_next = self.is_sign(",");
        }
        Ok(known)
    }

    fn is_sign(&mut self, sign: &str) -> bool {
        self.reader.sign(|next| (next == sign).then_some(())).is_some()
    }

    /// Parses a comparison from its parentheses on; `word` is its measure.
    fn compared(&mut self, word: &str, position: usize) -> Result<Compared, ExpressionError> {
        let (measure, argument) = self.measure(word, position)?;
        let position = self.reader.position();
        let comparison = self.reader.sign(Comparison::named);
        let comparison = comparison.ok_or_else(|| error(position, "expected one of < <= > >= = != here"))?;
        let is_change = matches!(measure.reading, Reading::Trials(OfTrials::Change));
        match measure.reading {
            Reading::Objects(OfObjects::Growth(_)) | Reading::Path if comparison == Comparison::Different => {
                let message = "growth is known within an interval, so it is compared with < <= > >= or =";
                return Err(error(position, message));
            }
            Reading::Trials(OfTrials::Change) if !matches!(comparison, Comparison::Less | Comparison::AtMost) => {
                let message = "`compare(…)` is how much worse it became: it takes `<=` and `<`";
                return Err(error(position, message));
            }
            _ => {}
        }
        let limit = self.limit(measure, is_change)?;
        let weight = if is_change && self.is_sign(",") { Some(self.weight()?) } else { None };
        Ok(Compared { measure, argument, comparison, limit, weight })
    }

    /// The measure of a word, and what is in the parentheses after it.
    fn measure(&mut self, word: &str, position: usize) -> Result<(&'static Measure, Argument), ExpressionError> {
        let mut named = MEASURES.iter().flatten().filter(|measure| measure.word == word);
        let first = named.next().ok_or_else(|| error(position, expected_measure()))?;
        let measure = named.find(|other| self.is_meant(other)).unwrap_or(first);
        let argument = match measure.reading {
            Reading::Objects(reading) => Argument::Objects(self.objects(reading)?),
            Reading::Path => Argument::Path(self.path()?),
            Reading::Processes(reading) => Argument::Processes(self.processes(reading)?),
            Reading::Trials(reading) => Argument::Trials(self.programs(reading)?),
        };
        Ok((measure, argument))
    }

    /// Returns whether the argument that comes next is one of this measure, and not of the first with the same word.
    fn is_meant(&self, measure: &Measure) -> bool {
        let inside = self.reader.clone().expression().map_or("", |inside| &self.text[inside]);
        match measure.reading {
            Reading::Objects(_) => Reader::new(inside).is_word("count"),
            Reading::Path => path_of(inside).is_some(),
            Reading::Processes(_) => is_of_processes(inside, self.scope),
            Reading::Trials(_) => self.scope.only_trials,
        }
    }

    /// `([KIND] EXPR)`, or `(count [KIND] EXPR)` for growth.
    fn objects(&mut self, reading: OfObjects) -> Result<Objects, ExpressionError> {
        let mut inside = self.reader.expression()?;
        let mut words = Reader::new(&self.text[inside.clone()]);
        if matches!(reading, OfObjects::Growth(_)) && words.is_word("count") {
            inside.start += words.position();
        }
        let text = &self.text[inside.clone()];
        let (kind, expression) =
            kind_and_expression(text, self.scope.objects).map_err(|wrong| within(&inside, wrong))?;
        Ok(Objects { reading, kind, expression, text: text.trim().to_owned() })
    }

    /// `(path "PATH")`.
    fn path(&mut self) -> Result<TypePath, ExpressionError> {
        let inside = self.reader.expression()?;
        let wrong = || error(inside.start, "expected `path` and a path in quotes here, as `growth` lists it");
        Ok(TypePath { text: path_of(&self.text[inside.clone()]).ok_or_else(wrong)? })
    }

    /// `(EXPR)` or `(processes EXPR)`.
    fn processes(&mut self, reading: OfProcesses) -> Result<Processes, ExpressionError> {
        let mut inside = self.reader.expression()?;
        let text = &self.text[inside.clone()];
        let text = after_word(text).unwrap_or(text);
        inside.start = inside.end - text.len();
        let expression = barrow_processes::Expression::parse_with(text, self.scope.processes);
        let expression = expression.map_err(|wrong| within(&inside, wrong))?;
        Ok(Processes { reading, expression })
    }

    /// `(METRIC, PROGRAM, ..)`, or `(PROGRAM)` where runs are counted.
    fn programs(&mut self, reading: OfTrials) -> Result<Programs, ExpressionError> {
        let start = self.reader.position() + 1;
        let mut names = self.reader.names()?.into_iter();
        let metric = match reading {
            OfTrials::Runs(..) => String::new(),
            _ => names.next().ok_or_else(|| error(start, "expected the name of a metric here; `trials` lists them"))?,
        };
        let programs: Vec<String> = names.collect();
        if programs.len() > if matches!(reading, OfTrials::Change) { 2 } else { 1 } {
            return Err(error(start, "too many names; put one that holds a comma or a parenthesis in quotes"));
        }
        Ok(Programs { reading, metric, programs })
    }

    /// `64M`, `10ms`, `5%`, `baseline + 5%`.
    fn limit(&mut self, measure: &Measure, is_change: bool) -> Result<Limit, ExpressionError> {
        const NOTHING: Amount = Amount { value: 0.0, unit: AmountUnit::Number };
        let (position, word) = self.word();
        if word != "baseline" {
            let amount = amount(measure, word).ok_or_else(|| error(position, expected_limit(measure)))?;
            if amount.unit == AmountUnit::Share && !is_change {
                let message = "only `compare(…)` takes a part; others a number, or `baseline + 5%`";
                return Err(error(position, message));
            }
            return Ok(Limit { plus: amount, factor: None });
        }
        if is_change {
            let message =
                "`compare(…)` compares with the baseline already: the limit is a part or an amount, like 5% or 64K";
            return Err(error(position, message));
        }
        let sign = self.reader.sign(|sign| "+-*".find(sign));
        let Some(sign) = sign else { return Ok(Limit { plus: NOTHING, factor: Some(1.0) }) };
        let (position, word) = self.word();
        let direction = match sign {
            0 => 1.0,
            1 => -1.0,
            _ => {
                let factor = word.parse().ok().filter(|factor: &f64| factor.is_finite());
                let factor = factor.ok_or_else(|| error(position, "expected a factor such as 1.1 here"))?;
                return Ok(Limit { plus: NOTHING, factor: Some(factor) });
            }
        };
        let Amount { value, unit } =
            amount(measure, word).ok_or_else(|| error(position, expected_change(measure.figure)))?;
        Ok(match unit {
            AmountUnit::Share => Limit { plus: NOTHING, factor: Some(1.0 + direction * value) },
            _ => Limit { plus: Amount { value: direction * value, unit }, factor: Some(1.0) },
        })
    }

    /// `weight <= 20%`, the limit of `compare(…)` for the weights of modes.
    fn weight(&mut self) -> Result<f64, ExpressionError> {
        let mut position = self.reader.position();
        let mut weight = None;
        if self.reader.is_word("weight") && self.is_sign("<=") {
            let word;
            (position, word) = self.word();
            weight = Amount::parse(word).filter(|part| part.unit == AmountUnit::Share && part.value <= 1.0);
        }
        let expected = "expected a limit for weights such as `weight <= 20%` here";
        weight.map(|weight| weight.value).ok_or_else(|| error(position, expected))
    }

    /// `over A..B`, `in N` or nothing.
    fn when(&mut self) -> Result<When, ExpressionError> {
        if self.reader.is_word("over") {
            let position = self.reader.position();
            let range = self.reader.line();
            let wrong = |_| error(position, "expected snapshots such as 0..9, 3.. or all here");
            return selection::check(range).map_err(wrong).map(|()| When::Over(range.to_owned()));
        }
        if self.reader.is_word("in") {
            let (position, word) = self.word();
            return word
                .parse()
                .map(When::In)
                .map_err(|_| error(position, "expected a snapshot such as 3 or last here"));
        }
        Ok(When::Selected)
    }
}

/// An error of a part of the text.
fn within(part: &Range<usize>, wrong: ExpressionError) -> ExpressionError {
    error(part.start + wrong.position, wrong.message)
}

/// Parses a number that a measure is compared with, or by which it may differ from the baseline.
fn amount(measure: &Measure, word: &str) -> Option<Amount> {
    match (measure.reading, measure.figure) {
        _ if word.ends_with('%') => Amount::parse(word),
        (Reading::Trials(_), _) => Amount::parse(word),
        (_, Figure::Time) => parse_duration(word).map(|ns| Amount { value: ns as f64, unit: AmountUnit::Time }),
        _ => parse_size(word).map(|size| Amount { value: size as f64, unit: AmountUnit::Number }),
    }
}

fn expected_measure() -> String {
    let mut subjects =
        MEASURES.each_ref().map(|of| of.iter().map(|measure| format!("`{}(…)`", measure.word)).collect::<Vec<_>>());
    subjects[0].push("`no leaks`".to_owned());
    let [objects, processes, trials] = subjects.map(|mut words| {
        words.dedup();
        let last = words.pop().unwrap_or_default();
        format!("{} or {last}", words.join(", "))
    });
    format!("expected {objects} here; of processes {processes}; of trials {trials}")
}

fn expected_limit(measure: &Measure) -> &'static str {
    match (measure.reading, measure.figure) {
        (Reading::Trials(_), _) => "expected a number such as 10ms, 64M or 3, a part such as 5%, or `baseline`, here",
        (_, Figure::Time) => "expected a time with its unit, such as 1.5s or 10min, or `baseline`, here",
        _ => "expected a number such as 100 or 64M, or `baseline`, here",
    }
}

fn expected_change(figure: Figure) -> &'static str {
    match figure {
        Figure::Time => "expected a part such as 10% or a time such as 30s here",
        _ => "expected a part such as 10% or a number such as 64K here",
    }
}

/// Returns whether `count` counts processes, by the rules of `find`.
/// The path in `path "[roots] › Cache"`.
fn path_of(text: &str) -> Option<String> {
    let mut reader = Reader::new(text);
    let path = if reader.is_word("path") { reader.quoted() } else { None };
    path.filter(|_| reader.is_at_end())
}

fn is_of_processes(text: &str, scope: &Scope<'_>) -> bool {
    if after_word(text).is_some() || scope.only_processes {
        return true;
    }
    let is_expression = barrow_processes::Expression::parse_with(text, scope.processes).is_ok();
    let is_meant = || is_expression || names_attribute(text, scope.objects);
    Expression::parse_with(text, scope.objects).is_err()
        // The word before an expression may be a kind, such as `class`.
        && (is_expression && scope.has_processes || kind_and_expression(text, scope.objects).is_err() && is_meant())
}

/// An expression, and the words before it if it is none with them: they name a kind, which a recording may have.
fn kind_and_expression(text: &str, names: &dyn Names) -> Result<(Vec<String>, Expression), ExpressionError> {
    let wrong = match Expression::parse_with(text, names) {
        Ok(expression) => return Ok((Vec::new(), expression)),
        Err(wrong) => wrong,
    };
    let (mut kind, mut rest) = (Vec::new(), text.trim_start());
    while kind.len() < KIND_WORDS {
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let word = &rest[..end];
        if word.is_empty() || !word.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_') {
            break;
        }
        kind.push(word.to_owned());
        rest = rest[end..].trim_start();
        if let Ok(expression) = Expression::parse_with(rest, names) {
            return Ok((kind, expression));
        }
    }
    Err(wrong)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use barrow_analyzer::SnapshotId;
    use barrow_processes::{ImageId, ImageNames, ImageSet};

    use super::*;
    use crate::session::listed::Listed;
    use crate::session::sets::{self as session, Sets};

    struct NoNames;

    impl ImageNames for NoNames {
        fn schemata(&self) -> Vec<String> {
            Vec::new()
        }

        fn set(&self, name: &str) -> Result<Arc<ImageSet>, String> {
            Err(format!("no ${name}"))
        }

        fn row(&self, row: usize) -> Result<ImageId, String> {
            Err(format!("no %{row}"))
        }
    }

    fn parsed(text: &str) -> Result<Assertion, (usize, String)> {
        let sets = Sets::default();
        let listed = Listed::default();
        let objects = session::Scope { snapshot: SnapshotId(0), sets: &sets, listed: &listed };
        let scope = Scope {
            objects: &objects,
            processes: &NoNames,
            has_processes: false,
            only_trials: false,
            only_processes: false,
        };
        parse(text, &scope).map_err(|error| (error.position, error.message))
    }

    fn claim(text: &str) -> Compared {
        match parsed(text).unwrap().claim {
            Claim::Compared(compared) => compared,
            other => panic!("{other:?}"),
        }
    }

    /// The measured objects, the comparison, its limit, and the snapshots.
    fn compared(text: &str) -> (Objects, Comparison, Limit, When) {
        match claim(text) {
            Compared { argument: Argument::Objects(objects), comparison, limit, .. } => {
                (objects, comparison, limit, parsed(text).unwrap().when)
            }
            other => panic!("{other:?}"),
        }
    }

    fn limit(value: f64, unit: AmountUnit, factor: Option<f64>) -> Limit {
        Limit { plus: Amount { value, unit }, factor }
    }

    #[test]
    fn measures_are_compared_with_limits() {
        let quantity = |objects: &Objects| match objects.reading {
            OfObjects::Amount(quantity) => (quantity.name, false),
            OfObjects::Growth(quantity) => (quantity.name, true),
        };
        let (objects, comparison, found, when) = compared(r#"retained(type="Ca)che" and (size > 1)) < 64M"#);
        assert_eq!(quantity(&objects), ("retained", false));
        assert_eq!(objects.text, r#"type="Ca)che" and (size > 1)"#);
        assert_eq!((comparison, found), (Comparison::Less, limit((64 << 20) as f64, AmountUnit::Number, None)));
        assert_eq!(when, When::Selected);
        let (objects, comparison, _, when) = compared("growth(count type ~ /(a|\\()/ )<=0 over 3..10");
        assert_eq!((quantity(&objects), comparison), (("count", true), Comparison::AtMost));
        assert_eq!(objects.text, "type ~ /(a|\\()/");
        assert_eq!(when, When::Over("3..10".into()));
        assert_eq!(quantity(&compared("growth(size > 1M) = 0").0), ("retained", true));
        assert_eq!(compared("count() != 5 in last").3, When::In(crate::flags::SnapshotName::Last));
    }

    #[test]
    fn processes_are_measured_too() {
        let claim = |text: &str| match claim(text) {
            Compared { measure, argument: Argument::Processes(_), comparison, limit, .. } => {
                Some((measure.word, comparison, limit))
            }
            _ => None,
        };
        let number = |value| limit(value, AmountUnit::Number, None);
        let memory = Some(("memory", Comparison::Less, number((2u64 << 30) as f64)));
        assert_eq!(claim("memory(class = \"ld\") < 2G"), memory);
        assert_eq!(claim("wall() <= 10min"), Some(("wall", Comparison::AtMost, limit(6e11, AmountUnit::Time, None))));
        let baseline = limit(3e10, AmountUnit::Time, Some(1.0));
        assert_eq!(claim("cpu(processes) < baseline + 30s"), Some(("cpu", Comparison::Less, baseline)));
        assert_eq!(claim("count(failed or cpu > 5s) = 0"), Some(("count", Comparison::Equal, number(0.0))));
        assert_eq!(claim("count(processes) = 0"), Some(("count", Comparison::Equal, number(0.0))));
        assert_eq!(claim("count(type = command) = 0"), None, "a value is no attribute");
        assert_eq!(claim("count() = 0"), None);
        assert_eq!(claim("count(class size > 5) = 0"), None, "a kind may be called so");
    }

    #[test]
    fn trials_are_measured_too() {
        let programs = |text: &str| match claim(text).argument {
            Argument::Trials(Programs { metric, programs, .. }) => (metric, programs),
            other => panic!("{other:?}"),
        };
        assert_eq!(programs("compare(wall) <= 5%"), ("wall".to_owned(), vec![]));
        assert_eq!(programs("median(\"a (1), b\", sort -n) < 5"), ("a (1), b".to_owned(), vec!["sort -n".to_owned()]));
        assert_eq!(programs("runs() >= 20"), (String::new(), vec![]));
        let compare = claim("compare(wall) <= 5%, weight <= 20%");
        assert_eq!((compare.comparison, compare.weight), (Comparison::AtMost, Some(0.2)));
        assert_eq!(compare.limit, limit(0.05, AmountUnit::Share, None));
        let found = |text: &str| claim(&format!("median(peak_heap) <= {text}")).limit;
        assert_eq!(found("2.5ms"), limit(2.5e6, AmountUnit::Time, None));
        assert_eq!(found("baseline"), limit(0.0, AmountUnit::Number, Some(1.0)));
        assert_eq!(found("baseline + 10%"), limit(0.0, AmountUnit::Number, Some(1.1)));
        assert_eq!(found("baseline - 64K"), limit(-65536.0, AmountUnit::Number, Some(1.0)));
        assert_eq!(found("baseline + 3ms"), limit(3e6, AmountUnit::Time, Some(1.0)));
        assert_eq!(found("baseline * 1.5"), limit(0.0, AmountUnit::Number, Some(1.5)));
        for (text, position) in [
            ("median() < 5", 7),
            ("median(wall) < soon", 15),
            ("median(wall) < 5%", 15),
            ("runs(a, b) > 1", 5),
            ("compare(wall) > 5%", 14),
            ("compare(wall) < baseline", 16),
            ("compare(wall) < 5%, wait", 20),
            ("compare(wall) < 5%, weight <= 200%", 30),
        ] {
            assert_eq!(parsed(text).unwrap_err().0, position, "{text}");
        }
        assert!(parsed("median(wall) < 5ms in 3").unwrap_err().1.contains("no snapshot"));
    }

    #[test]
    fn an_expression_may_follow_a_kind() {
        let kind = |text: &str| compared(&format!("{text} < 5")).0.kind.join(" ");
        assert_eq!(kind("count(frames size > 1)"), "frames");
        assert_eq!(kind("growth(count type objects type = \"A\")"), "type objects");
        assert_eq!(kind("retained(per-frame roots)"), "per-frame roots");
        assert_eq!(kind("count(root)"), "", "a word that is an expression is one");
        assert_eq!(kind("count()"), "");
    }

    #[test]
    fn limits_name_a_baseline() {
        let found = |text: &str| compared(&format!("count(size >= 0) <= {text}")).2;
        assert_eq!(found("baseline"), limit(0.0, AmountUnit::Number, Some(1.0)));
        assert_eq!(found("baseline + 10%"), limit(0.0, AmountUnit::Number, Some(1.1)));
        assert_eq!(found("baseline-1K"), limit(-1024.0, AmountUnit::Number, Some(1.0)));
        assert_eq!(found("baseline * 1.5"), limit(0.0, AmountUnit::Number, Some(1.5)));
    }

    #[test]
    fn leaks_may_be_known() {
        let known = |text: &str| match parsed(text).unwrap().claim {
            Claim::NoLeaks(known) => known,
            other => panic!("{other:?}"),
        };
        assert_eq!(known("no leaks"), []);
        let expected = [Known::Fingerprint("1a2b3c4d".into(), None), Known::Baseline];
        assert_eq!(known(" no leaks except 1A2B3C4D, baseline "), expected);
        let expected = [Known::Fingerprint("1a2b3c4d".into(), Some(64 << 20)), Known::Baseline];
        assert_eq!(known("no leaks except 1a2b3c4d up to 64M, baseline"), expected);
        assert_eq!(parsed("no leaks over all").unwrap().when, When::Over("all".into()));
    }

    /// Whatever is typed, there is an answer, and the place of a mistake is one in the text.
    #[test]
    fn any_text_is_read_or_refused() {
        const PIECES: [&str; 33] = [
            "count",
            "retained",
            "growth",
            "(",
            ")",
            "()",
            "<=",
            "≠",
            "baseline",
            "+",
            "10%",
            "64M",
            "no",
            "leaks",
            "except",
            ",",
            "over",
            "1..2",
            "in",
            "é",
            "\"",
            "~ /",
            "type = a",
            "1a2b3c4d",
            "memory",
            "wall",
            "class = a",
            "5min",
            "processes",
            "compare",
            "median",
            "5%",
            "2.5ms",
        ];
        let mut random = 1u32;
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..8 {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                text += PIECES[(random >> 24) as usize % PIECES.len()];
                text += if random >> 16 & 1 == 0 { " " } else { "" };
            }
            if let Err((position, message)) = parsed(&text) {
                assert!(text.get(position..).is_some() && !message.is_empty(), "{text}: {position}");
            }
        }
    }

    #[test]
    fn mistakes_have_a_place() {
        for (text, position, message) in [
            ("", 0, "expected `count"),
            ("counts(size > 1) < 5", 0, "expected `count"),
            ("no leak", 3, "expected `leaks`"),
            ("no leaks except 12", 16, "fingerprint"),
            ("no leaks except", 15, "fingerprint"),
            ("no leaks except 1a2b3c4d up 64M", 28, "expected `to`"),
            ("no leaks except 1a2b3c4d up to much", 31, "expected a size"),
            ("count type = \"A\" < 5", 6, "expected `(`"),
            ("count(size > 1 < 5", 5, "never closed"),
            ("count(size >> 1) < 5", 12, "number"),
            ("growth(count colour = 1) < 5", 13, "unknown attribute"),
            ("count(size > 1)", 15, "expected one of <"),
            ("count(size > 1) < many", 18, "expected a number"),
            ("count(size > 1) < baseline + x", 29, "expected a part"),
            ("count(size > 1) < baseline * x", 29, "expected a factor"),
            ("count(size > 1) < 5 over 3..x", 25, "expected snapshots"),
            ("count(size > 1) < 5 in x", 23, "expected a snapshot"),
            ("count(size > 1) < 5 and", 20, "or the end"),
            ("growth(size > 1) != 5", 17, "interval"),
            ("growth(size > 1) < 5 in 2", 21, "does not grow"),
            ("count(%1) < 5", 6, "lists no objects"),
            ("count(class = a size) < 5", 16, "expected `and`"),
            ("memory(type = a) < 5", 7, "unknown attribute"),
            ("memory(processes cpu > 5) < 5", 23, "a time with its unit"),
            ("memory() < 5s", 11, "expected a number such as"),
            ("wall() < 5", 9, "expected a time with its unit"),
            ("wall() < baseline + 5K", 20, "a time such as 30s"),
            ("wall() < 5s in 3", 12, "belong to no snapshot"),
            ("failed < 5", 7, "expected `(`"),
            ("count() < 5%", 10, "only `compare(…)`"),
            ("size(type = \"a) < 5", 12, "never closed"),
        ] {
            let (at, told) = parsed(text).unwrap_err();
            assert!(at == position && told.contains(message), "{text}: {at} {told}");
        }
    }
}
