//! From the text of an assertion to what it says.

use barrow_analyzer::{Expression, ExpressionError, Names, parse_duration, parse_size};

use super::figure::Figure;
use super::processes::{ProcessMeasure, Quantity as OfProcesses};
use super::trials::{LimitUnit, Quantity as OfTrials, TrialLimit, TrialMeasure};
use super::{Assertion, Claim, Comparison, Known, Limit, Measure, Quantity, Scope, When};
use crate::flags::{Amount, AmountUnit};
use crate::language::asked::{after_word, names_attribute};
use crate::language::line;

/// Digits that name a leak: fewer could be another's.
const LEAST_DIGITS: usize = 8;

/// The name of a kind has no more words.
const KIND_WORDS: usize = 4;

const CLAIM: &str = "expected `count(…)`, `size(…)`, `retained(…)`, `growth(…)` or `no leaks` here; of processes \
    `count(…)`, `failed(…)`, `memory(…)`, `peak(…)`, `wall(…)`, `cpu(…)`, `user(…)`, `system(…)`, `reads(…)` or \
    `writes(…)`; of trials `compare(…)`, `median(…)`, `minimum(…)`, `maximum(…)`, `modes(…)`, `runs(…)` or `failed(…)`";

/// Reads the whole text.
pub(super) fn parse(text: &str, scope: &Scope<'_>) -> Result<Assertion, ExpressionError> {
    let mut rest = Rest { text, position: 0 };
    let claim = match rest.word() {
        "no" => rest.no_leaks()?,
        word => {
            let position = rest.position - word.len();
            rest.compared(word, position, scope)?
        }
    };
    rest.blanks();
    let position = rest.position;
    let when = rest.when()?;
    rest.blanks();
    let end = rest.position;
    if !rest.rest().is_empty() && !rest.rest().starts_with('#') {
        return Err(error(rest.position, "expected `over 0..9`, `in 3` or the end here"));
    }
    if let (Claim::Compared { measure: Measure { growth: true, .. }, .. }, When::In(_)) = (&claim, &when) {
        return Err(error(position, "one snapshot does not grow; expected `over 0..9` here"));
    }
    match (&claim, &when) {
        (Claim::Processes { .. }, When::In(_) | When::Over(_)) => {
            return Err(error(position, "processes belong to no snapshot; expected the end here"));
        }
        (Claim::Trials { .. }, When::In(_) | When::Over(_)) => {
            return Err(error(position, "trials belong to no snapshot; expected the end here"));
        }
        _ => {}
    }
    Ok(Assertion { text: text[..end].trim().to_owned(), claim, when })
}

fn error(position: usize, message: impl Into<String>) -> ExpressionError {
    ExpressionError { position, message: message.into() }
}

/// A fingerprint or the beginning of one, in small letters.
pub(super) fn fingerprint(word: &str, position: usize) -> Result<String, ExpressionError> {
    let is_one = (LEAST_DIGITS..=16).contains(&word.len()) && word.chars().all(|c| c.is_ascii_hexdigit());
    let expected = || {
        error(
            position,
            format!(
                "expected a fingerprint here: 16 hexadecimal digits, or the first {LEAST_DIGITS} of them; `leaks` prints them"
            ),
        )
    };
    is_one.then(|| word.to_ascii_lowercase()).ok_or_else(expected)
}

/// A line that names a known leak: a fingerprint, perhaps with a size.
pub(super) fn known(line: &str) -> Result<Known, ExpressionError> {
    let mut rest = Rest { text: line, position: 0 };
    let word = rest.word();
    let known = Known::Fingerprint(fingerprint(word, 0)?, rest.up_to()?);
    rest.blanks();
    match rest.rest() {
        "" => Ok(known),
        _ => Err(error(rest.position, "expected `up to SIZE` or the end of the line here")),
    }
}

/// What of the text is not read yet.
struct Rest<'t> {
    text: &'t str,
    position: usize,
}

impl<'t> Rest<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.position..]
    }

    fn blanks(&mut self) {
        self.position = self.text.len() - self.rest().trim_start().len();
    }

    /// The letters, digits, dots and so on that come next, after blanks; empty if there are none.
    fn word(&mut self) -> &'t str {
        self.blanks();
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_alphanumeric() && !"._%".contains(c)).unwrap_or(rest.len());
        self.position += end;
        &rest[..end]
    }

    /// Whether `sign` comes next, after blanks; if so, moves over it.
    fn is_next(&mut self, sign: &str) -> bool {
        self.blanks();
        let is_next = self.rest().starts_with(sign);
        self.position += if is_next { sign.len() } else { 0 };
        is_next
    }

    /// After `no`.
    fn no_leaks(&mut self) -> Result<Claim, ExpressionError> {
        let word = self.word();
        if word != "leaks" {
            return Err(error(self.position - word.len(), "expected `leaks` here"));
        }
        let mut known = Vec::new();
        let before = self.position;
        if self.word() != "except" {
            self.position = before;
            return Ok(Claim::NoLeaks(known));
        }
        loop {
            let word = self.word();
            known.push(match word {
                "baseline" => Known::Baseline,
                word => Known::Fingerprint(fingerprint(word, self.position - word.len())?, self.up_to()?),
            });
            if !self.is_next(",") {
                return Ok(Claim::NoLeaks(known));
            }
        }
    }

    /// After a fingerprint: `up to SIZE`, if it is there.
    fn up_to(&mut self) -> Result<Option<u64>, ExpressionError> {
        let before = self.position;
        if self.word() != "up" {
            self.position = before;
            return Ok(None);
        }
        let word = self.word();
        if word != "to" {
            return Err(error(self.position - word.len(), "expected `to` here"));
        }
        let word = self.word();
        let size = parse_size(word);
        size.map(Some).ok_or_else(|| error(self.position - word.len(), "expected a size such as 64M here"))
    }

    /// `measure(EXPR) comparison limit`, its first word read.
    fn compared(&mut self, word: &str, position: usize, scope: &Scope<'_>) -> Result<Claim, ExpressionError> {
        let is_of_trials = |quantity: &OfTrials| *quantity != OfTrials::Failed || scope.only_trials;
        if let Some(quantity) = OfTrials::named(word).filter(is_of_trials) {
            return self.of_trials(quantity);
        }
        let of_processes = OfProcesses::named(word);
        let quantity = match word {
            "count" => Quantity::Count,
            "size" => Quantity::Size,
            "retained" | "growth" => Quantity::Retained,
            _ if of_processes.is_some() => Quantity::Count,
            _ => return Err(error(position, CLAIM)),
        };
        let before = self.position;
        let (start, end) = self.inside()?;
        if let Some(quantity) = of_processes
            && (word != "count" || is_of_processes(&self.text[start..end], scope))
        {
            let measure = self.process_measure(quantity, (start, end), scope)?;
            let (_, comparison) = self.comparison()?;
            return Ok(Claim::Processes { comparison, limit: self.limit(quantity.unit())?, measure });
        }
        self.position = before;
        let measure = self.measure(quantity, word == "growth", scope.objects)?;
        let (at, comparison) = self.comparison()?;
        if measure.growth && comparison == Comparison::Different {
            return Err(error(at, "growth is known within an interval, so it is compared with < <= > >= or ="));
        }
        Ok(Claim::Compared { measure, comparison, limit: self.limit(Figure::Bytes)? })
    }

    /// `(METRIC, PROGRAM ..) comparison limit`.
    fn of_trials(&mut self, quantity: OfTrials) -> Result<Claim, ExpressionError> {
        let (start, end) = self.inside()?;
        let mut names = named_parts(&self.text[start..end]).into_iter();
        let metric = if quantity.counts_runs() { None } else { names.next() };
        if !quantity.counts_runs() && metric.is_none() {
            return Err(error(start, "expected the name of a metric here; `trials` lists them"));
        }
        let programs: Vec<String> = names.collect();
        if programs.len() > quantity.most_programs() {
            return Err(error(start, "too many names; put one that holds a comma or a parenthesis in quotes"));
        }
        let (_, comparison) = self.comparison()?;
        let mut limit = self.trial_limit()?;
        if quantity == OfTrials::Compare {
            limit.weight = self.weight_limit()?;
        }
        Ok(Claim::Trials { measure: TrialMeasure { quantity, metric, programs }, comparison, limit })
    }

    /// `, weight <= 20%`, if it is there.
    fn weight_limit(&mut self) -> Result<Option<f64>, ExpressionError> {
        if !self.is_next(",") {
            return Ok(None);
        }
        self.blanks();
        let position = self.position;
        let expected = |at: usize| error(at, "expected a limit for weights such as `weight <= 20%` here");
        if self.word() != "weight" || !self.is_next("<=") {
            return Err(expected(position));
        }
        self.blanks();
        let position = self.position;
        let part = self.word().strip_suffix('%').and_then(|part| part.parse().ok());
        let part = part.filter(|part: &f64| (0.0..=100.0).contains(part));
        part.map(|part| Some(part / 100.0)).ok_or_else(|| expected(position))
    }

    /// `10ms`, `64K`, `5%`, `baseline + 5%`.
    fn trial_limit(&mut self) -> Result<TrialLimit, ExpressionError> {
        self.blanks();
        let position = self.position;
        let word = self.word();
        if word == "baseline" {
            // What is added decides the unit.
            let before = self.position;
            let is_changed = ["+", "-"].into_iter().any(|sign| self.is_next(sign));
            let added = if is_changed { self.word() } else { "" };
            let amount = Amount::parse(added).filter(|_| !added.ends_with('%'));
            self.position = before;
            if let Some(amount) = amount {
                let sign = if self.is_next("-") { -1.0 } else { 1.0 };
                self.is_next("+");
                self.word();
                let limit = Limit { plus: sign * amount.value, factor: Some(1.0) };
                return Ok(TrialLimit { limit, unit: LimitUnit::of(amount.unit), weight: None });
            }
            self.position = position;
            return Ok(TrialLimit { limit: self.limit(Figure::Bytes)?, unit: LimitUnit::Number, weight: None });
        }
        if let Some(part) = word.strip_suffix('%') {
            let part = part.parse().ok().filter(|part: &f64| part.is_finite() && *part >= 0.0);
            let part = part.ok_or_else(|| error(position, "expected a part such as 5% here"))?;
            return Ok(TrialLimit {
                limit: Limit { plus: part / 100.0, factor: None },
                unit: LimitUnit::Share,
                weight: None,
            });
        }
        let amount = Amount::parse(word);
        let amount = amount.ok_or_else(|| {
            error(position, "expected a number such as 10ms, 64M or 3, a part such as 5%, or `baseline`, here")
        })?;
        Ok(TrialLimit {
            limit: Limit { plus: amount.value, factor: None },
            unit: LimitUnit::of(amount.unit),
            weight: None,
        })
    }

    fn comparison(&mut self) -> Result<(usize, Comparison), ExpressionError> {
        self.blanks();
        let at = self.position;
        let comparison = Comparison::ALL.into_iter().find(|(sign, _)| self.is_next(sign));
        let expected = || error(at, "expected one of < <= > >= = != here");
        comparison.map(|(_, comparison)| (at, comparison)).ok_or_else(expected)
    }

    /// Moves over `(…)`. Returns where what is between the parentheses begins and ends.
    fn inside(&mut self) -> Result<(usize, usize), ExpressionError> {
        self.blanks();
        let (open, rest) = (self.position, self.rest());
        if !rest.starts_with('(') {
            return Err(error(open, "expected `(` here"));
        }
        let close = closing(rest).ok_or_else(|| error(open, "the ( that begins here is never closed"))?;
        self.position += close + 1;
        Ok((open + 1, open + close))
    }

    /// `([KIND] EXPR)`, or `(count [KIND] EXPR)` for growth.
    fn measure(&mut self, quantity: Quantity, growth: bool, names: &dyn Names) -> Result<Measure, ExpressionError> {
        let (mut start, end) = self.inside()?;
        let mut quantity = quantity;
        let mut inside = Rest { text: &self.text[..end], position: start };
        if growth && inside.word() == "count" {
            (start, quantity) = (inside.position, Quantity::Count);
        }
        let text = &self.text[start..end];
        let (kind, expression) =
            kind_and_expression(text, names).map_err(|wrong| error(start + wrong.position, wrong.message))?;
        Ok(Measure { quantity, growth, kind, expression, text: text.trim().to_owned() })
    }

    /// An expression about processes, maybe after the word `processes`.
    fn process_measure(
        &self,
        quantity: OfProcesses,
        (start, end): (usize, usize),
        scope: &Scope<'_>,
    ) -> Result<ProcessMeasure, ExpressionError> {
        let text = &self.text[start..end];
        let rest = after_word(text).unwrap_or(text);
        let start = end - rest.len();
        let expression = barrow_processes::Expression::parse_with(rest, scope.processes);
        let expression = expression.map_err(|wrong| error(start + wrong.position, wrong.message))?;
        Ok(ProcessMeasure { quantity, expression })
    }

    fn limit(&mut self, unit: Figure) -> Result<Limit, ExpressionError> {
        let (is_time, parse) = match unit {
            Figure::Time => (true, parse_duration as fn(&str) -> Option<u64>),
            _ => (false, parse_size as fn(&str) -> Option<u64>),
        };
        self.blanks();
        let position = self.position;
        let word = self.word();
        if word != "baseline" {
            let number = parse(word).ok_or_else(|| error(position, expected_limit(is_time)))?;
            return Ok(Limit { plus: number as f64, factor: None });
        }
        let signs = ["+", "-", "*"];
        let Some(sign) = signs.into_iter().find(|sign| self.is_next(sign)) else {
            return Ok(Limit { plus: 0.0, factor: Some(1.0) });
        };
        self.blanks();
        let position = self.position;
        let word = self.word();
        if sign == "*" {
            let factor = word.parse().ok().filter(|factor: &f64| factor.is_finite());
            let factor = factor.ok_or_else(|| error(position, "expected a factor such as 1.1 here"))?;
            return Ok(Limit { plus: 0.0, factor: Some(factor) });
        }
        let direction = if sign == "+" { 1.0 } else { -1.0 };
        if let Some(part) = word.strip_suffix('%') {
            let part = part.parse().ok().filter(|part: &f64| part.is_finite());
            let part = part.ok_or_else(|| error(position, expected_change(is_time)))?;
            return Ok(Limit { plus: 0.0, factor: Some(1.0 + direction * part / 100.0) });
        }
        let number = parse(word).ok_or_else(|| error(position, expected_change(is_time)))?;
        Ok(Limit { plus: direction * number as f64, factor: Some(1.0) })
    }

    fn when(&mut self) -> Result<When, ExpressionError> {
        let before = self.position;
        let word = self.word();
        self.blanks();
        let position = self.position;
        match word {
            "over" => {
                let range = self.rest().split('#').next().unwrap_or_default().trim_end();
                let wrong = |message| error(position, message);
                crate::language::selection::check(range)
                    .map_err(|_| wrong("expected snapshots such as 0..9, 3.. or all here"))?;
                self.position += range.len();
                Ok(When::Over(range.to_owned()))
            }
            "in" => {
                let name = self.word().parse();
                name.map(When::In).map_err(|_| error(position, "expected a snapshot such as 3 or last here"))
            }
            _ => {
                self.position = before;
                Ok(When::Selected)
            }
        }
    }
}

impl LimitUnit {
    fn of(unit: AmountUnit) -> Self {
        match unit {
            AmountUnit::Number => LimitUnit::Number,
            AmountUnit::Size => LimitUnit::Size,
            AmountUnit::Time => LimitUnit::Time,
        }
    }
}

/// Names between commas; one in double quotes may hold commas and parentheses.
fn named_parts(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut is_quoted = false;
    for c in text.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => parts.push(String::new()),
            c => parts.last_mut().expect("there is a first part").push(c),
        }
    }
    parts.iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

fn expected_limit(is_time: bool) -> &'static str {
    match is_time {
        true => "expected a time with its unit, such as 1.5s or 10min, or `baseline`, here",
        false => "expected a number such as 100 or 64M, or `baseline`, here",
    }
}

fn expected_change(is_time: bool) -> &'static str {
    match is_time {
        true => "expected a part such as 10% or a time such as 30s here",
        false => "expected a part such as 10% or a number such as 64K here",
    }
}

/// Whether what `count` counts are processes, as for `find`.
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

/// Where the parenthesis that `text` begins with is closed.
fn closing(text: &str) -> Option<usize> {
    let (mut depth, mut end) = (0u32, None);
    let scanned = line::scan(text, |position, c| match c {
        '(' => depth += 1,
        ')' => {
            depth = depth.saturating_sub(1);
            end = end.or((depth == 0).then_some(position));
        }
        _ => {}
    });
    // A quote that is open at the end may follow it.
    scanned.ok().and(end)
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

    fn compared(text: &str) -> (Measure, Comparison, Limit, When) {
        match parsed(text).unwrap() {
            Assertion { claim: Claim::Compared { measure, comparison, limit }, when, .. } => {
                (measure, comparison, limit, when)
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn measures_are_compared_with_limits() {
        let (measure, comparison, limit, when) = compared(r#"retained(type="Ca)che" and (size > 1)) < 64M"#);
        assert_eq!((measure.quantity, measure.growth), (Quantity::Retained, false));
        assert_eq!(measure.text, r#"type="Ca)che" and (size > 1)"#);
        assert_eq!((comparison, limit), (Comparison::Less, Limit { plus: (64 << 20) as f64, factor: None }));
        assert_eq!(when, When::Selected);
        let (measure, comparison, _, when) = compared("growth(count type ~ /(a|\\()/ )<=0 over 3..10");
        assert_eq!((measure.quantity, measure.growth, comparison), (Quantity::Count, true, Comparison::AtMost));
        assert_eq!(when, When::Over("3..10".into()));
        assert_eq!(compared("growth(size > 1M) = 0").0.quantity, Quantity::Retained);
        assert_eq!(compared("count() != 5 in last").3, When::In(crate::flags::SnapshotName::Last));
    }

    #[test]
    fn processes_are_measured_too() {
        let claim = |text: &str| match parsed(text).unwrap().claim {
            Claim::Processes { measure, comparison, limit } => Some((measure.quantity, comparison, limit)),
            _ => None,
        };
        let limit = |plus: f64| Limit { plus, factor: None };
        let memory = Some((OfProcesses::Memory, Comparison::Less, limit((2u64 << 30) as f64)));
        assert_eq!(claim("memory(class = \"ld\") < 2G"), memory);
        assert_eq!(claim("wall() <= 10min"), Some((OfProcesses::Wall, Comparison::AtMost, limit(6e11))));
        let baseline = Limit { plus: 3e10, factor: Some(1.0) };
        assert_eq!(claim("cpu(processes) < baseline + 30s"), Some((OfProcesses::Cpu, Comparison::Less, baseline)));
        assert_eq!(claim("count(failed or cpu > 5s) = 0"), Some((OfProcesses::Count, Comparison::Equal, limit(0.0))));
        assert_eq!(claim("count(processes) = 0"), Some((OfProcesses::Count, Comparison::Equal, limit(0.0))));
        assert_eq!(claim("count(type = command) = 0"), None, "a value is no attribute");
        assert_eq!(claim("count() = 0"), None);
        assert_eq!(claim("count(class size > 5) = 0"), None, "a kind may be called so");
    }

    #[test]
    fn trials_are_measured_too() {
        let claim = |text: &str| match parsed(text).unwrap().claim {
            Claim::Trials { measure, comparison, limit } => (measure, comparison, limit),
            other => panic!("{other:?}"),
        };
        let (measure, comparison, limit) = claim("compare(wall) <= 5%");
        assert_eq!((measure.quantity, measure.metric.as_deref()), (OfTrials::Compare, Some("wall")));
        assert_eq!((comparison, limit.unit, limit.limit.plus), (Comparison::AtMost, LimitUnit::Share, 0.05));
        let (measure, _, limit) = claim("median(\"a (1), b\", sort -n) < 2.5ms");
        assert_eq!((measure.metric.as_deref(), &measure.programs[..]), (Some("a (1), b"), &["sort -n".to_owned()][..]));
        assert_eq!((limit.unit, limit.limit.plus), (LimitUnit::Time, 2.5e6));
        let baseline = |text: &str| claim(&format!("median(peak_heap) <= {text}")).2;
        let (_, _, limit) = claim("compare(wall) <= 5%, weight <= 20%");
        assert_eq!((limit.limit.plus, limit.weight), (0.05, Some(0.2)));
        let limit = |plus, factor, unit| TrialLimit { limit: Limit { plus, factor: Some(factor) }, unit, weight: None };
        assert_eq!(baseline("baseline"), limit(0.0, 1.0, LimitUnit::Number));
        assert_eq!(baseline("baseline + 10%"), limit(0.0, 1.1, LimitUnit::Number));
        assert_eq!(baseline("baseline - 64K"), limit(-65536.0, 1.0, LimitUnit::Size));
        assert_eq!(baseline("baseline + 3ms"), limit(3e6, 1.0, LimitUnit::Time));
        assert_eq!(baseline("baseline * 1.5"), limit(0.0, 1.5, LimitUnit::Number));
        assert_eq!(claim("modes(wall) = 1").2.limit.plus, 1.0);
        assert_eq!(claim("runs() >= 20").0.metric, None);
        for (text, position) in [("median() < 5", 7), ("median(wall) < soon", 15), ("runs(a, b) > 1", 5)] {
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
        let limit = |text: &str| compared(&format!("count(all) <= {text}").replace("all", "size >= 0")).2;
        assert_eq!(limit("baseline"), Limit { plus: 0.0, factor: Some(1.0) });
        assert_eq!(limit("baseline + 10%"), Limit { plus: 0.0, factor: Some(1.1) });
        assert_eq!(limit("baseline-1K"), Limit { plus: -1024.0, factor: Some(1.0) });
        assert_eq!(limit("baseline * 1.5"), Limit { plus: 0.0, factor: Some(1.5) });
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
        ] {
            let (at, told) = parsed(text).unwrap_err();
            assert!(at == position && told.contains(message), "{text}: {at} {told}");
        }
    }
}
