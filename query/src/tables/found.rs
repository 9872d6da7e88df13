//! Objects that match an expression, as `find`, `count` and `let` ask for them.

use std::sync::Arc;

use barrow_analyzer::{
    AnalyzerError, Counted, Doubts, Expression, ExpressionError, Heap, KindId, ObjectDetails, ObjectSet, Recording,
    SnapshotId, Tables,
};

use crate::answer::{Answer, Column, Table, table, units, visible};
use crate::arguments::Arguments;
use crate::ask::Ask;
use crate::error::QueryError;
use crate::language::{kinds::leading_kind, names};
use crate::session::sets::Scope;
use crate::session::state::State;
use crate::tables::{held, label};

/// Where to read on after a mistake.
pub(crate) const EXPRESSIONS: &str = "`help expressions` lists what can be asked";

/// Reads `[KIND] [EXPR]` as [`kinds_and_expression`] does; without any word every object matches.
pub(crate) fn kinds_and_expression_or_all(
    state: &State,
    snapshot: SnapshotId,
    arguments: &Arguments,
    first: usize,
) -> Result<(Vec<KindId>, Expression), QueryError> {
    if arguments.words().len() > first {
        return kinds_and_expression(state, snapshot, arguments, first);
    }
    Ok((Vec::new(), all(&state.scope(snapshot))?))
}

/// The expression that every object matches.
pub(crate) fn all(scope: &Scope<'_>) -> Result<Expression, QueryError> {
    Expression::parse_with("", scope).map_err(|error| pointed_at("", &error, EXPRESSIONS))
}

/// Reads `[KIND] [EXPR]` from the words from `first` on: one of them, or both. Without an expression
/// every object of the kind matches. A type that the recording does not know is a mistake: that no object
/// is of a misspelt type would be no answer.
///
/// A word can begin both, as `type` does where there is a kind `type object`. It is read as a kind if
/// an expression follows; and if neither can be read, the one that got further was meant.
pub(crate) fn kinds_and_expression(
    state: &State,
    snapshot: SnapshotId,
    arguments: &Arguments,
    first: usize,
) -> Result<(Vec<KindId>, Expression), QueryError> {
    let recording = state.recording()?;
    let tables = recording.tables()?;
    refuse_wide(&recording, &arguments.expression(first))?;
    let (kinds, expression) = read(tables, &state.scope(snapshot), arguments, first)?;
    match expression.unknown_types(tables).first() {
        None => Ok((kinds, expression)),
        Some(name) => {
            let mut told = names::unknown_type(name, tables);
            if arguments.expression(first).contains(&format!("is {name}")) && tables.has_type(OBJECT_OF_JVM) {
                told +=
                    " (dumps of a JVM do not tell which classes have an interface; known are the JDK's collections)";
            }
            Err(QueryError::usage(told))
        }
    }
}

/// Refuses a character that the texts of a recording cannot hold: that none has it would be no answer.
pub(crate) fn refuse_wide(recording: &Recording, text: &str) -> Result<(), QueryError> {
    const LAST_OF_16_BITS: char = '\u{ffff}';
    match text.chars().find(|&c| c > LAST_OF_16_BITS) {
        Some(wide) if !recording.has_wide_characters()? => Err(QueryError::usage(format!(
            "V8 writes only the low 16 bits of a character: `{wide}` is U+{:04X} in its snapshots, as is the character of that \
             number",
            u32::from(wide) & u32::from(LAST_OF_16_BITS)
        ))),
        _ => Ok(()),
    }
}

/// The same where types need not be known.
pub(crate) fn read(
    tables: &Tables,
    scope: &Scope<'_>,
    arguments: &Arguments,
    first: usize,
) -> Result<(Vec<KindId>, Expression), QueryError> {
    let words = arguments.words();
    let words = &words[first.min(words.len())..];
    let whole = arguments.expression(first);
    // A shell was given all of it as one word.
    if let ([word], Ok(inner)) = (words, Arguments::of_text(&whole))
        && word.contains(char::is_whitespace)
        && inner.words().len() > 1
    {
        return read(tables, scope, &inner, 0);
    }
    let of_all = Expression::parse_with(&whole, scope)
        .map_err(|error| (error.position, pointed_at(&whole, &error, EXPRESSIONS)));
    let kinds = match leading_kind(tables, words) {
        Ok(kinds) => kinds,
        // A name that is neither a kind nor anything else, or no word at all.
        Err(unknown) => {
            let is_name = words.is_empty() || whole.starts_with(char::is_alphabetic) && !is_comparison(&whole);
            return match of_all {
                Ok(expression) if !words.is_empty() => Ok((Vec::new(), expression)),
                Err((position, error)) if position > 0 || !is_name => Err(error),
                _ => Err(named_type(&whole, tables).unwrap_or(unknown)),
            };
        }
    };
    let rest = arguments.expression(first + kinds.words);
    match (Expression::parse_with(&rest, scope), of_all) {
        (Ok(expression), _) => Ok((kinds.ids, expression)),
        (Err(_), Ok(expression)) => Ok((Vec::new(), expression)),
        (Err(error), Err((position, of_all))) => {
            let before = whole.len().saturating_sub(rest.len());
            Err(if before + error.position < position { of_all } else { pointed_at(&rest, &error, EXPRESSIONS) })
        }
    }
}

/// Says what to type for a word that is no kind and no expression, but the name of a type.
fn named_type(word: &str, tables: &Tables) -> Option<QueryError> {
    if word.is_empty() {
        return None;
    }
    let near = names::type_called(word, tables).filter(|near| !near.contains(['"', '\\']))?;
    Some(QueryError::usage(format!("`{word}` is no kind of this recording; for a type, type `type = \"{near}\"`")))
}

/// Returns whether a text begins as `size > 5` does, with any word in place of the attribute.
pub(crate) fn is_comparison(text: &str) -> bool {
    let rest_after = text.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_').trim_start();
    rest_after.starts_with(['=', '!', '~', '<', '>']) || rest_after.starts_with("in ")
}

/// An error of an expression, with a caret under the place.
pub(crate) fn pointed_at(text: &str, error: &ExpressionError, help: &str) -> QueryError {
    let before = text.get(..error.position.min(text.len())).unwrap_or(text);
    QueryError::Expression {
        message: error.message.clone(),
        text: visible::line(text).into_owned(),
        column: visible::line(before).chars().count(),
        help: help.to_owned(),
    }
}

/// Where to look for fields.
const FIELDS: &str = "`info @ID` has the fields of an object, and `help expressions` what they are compared with";

/// An error about a field, with a caret under its name in the text that was typed.
pub(crate) fn with_place(error: AnalyzerError, typed: &str) -> QueryError {
    let (name, path) = match &error {
        AnalyzerError::NoField { name, path, .. } => (format!(".{name}"), path.as_deref().unwrap_or_default()),
        AnalyzerError::OtherValues { name, .. } => (format!(".{name}"), ""),
        _ => return error.into(),
    };
    // A path may have several names that begin alike.
    let start = typed.find(path).unwrap_or_default();
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$');
    let places = typed[start..].match_indices(&name).map(|(at, _)| start + at);
    let place = places.into_iter().find(|at| ends(&typed[at + name.len()..]));
    match place {
        Some(position) => pointed_at(typed, &ExpressionError { position, message: error.to_string() }, FIELDS),
        None => error.into(),
    }
}

/// The type that all others of a JVM are derived from.
const OBJECT_OF_JVM: &str = "java.lang.Object";

/// The note where the interfaces of types decide.
const OF_INTERFACES: &str = "dumps of a JVM do not tell interfaces: known are those of the JDK's collections, and of \
                             classes derived from these";

/// The note where dates are compared with one that has no zone.
const IN_UTC: &str = "a date or time that was typed without a zone is in UTC for objects with a zone; `Z` or `+02:00` after a \
                      time is another one";

/// The note where superclasses decide and no type has one.
const OF_BASES: &str = "this recording does not tell which types are derived from others: `is` finds the type itself, and \
                        `superclass` nothing";

/// The objects that an answer is about: those of a snapshot and of these kinds that match.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'w> {
    pub(crate) snapshot: SnapshotId,
    pub(crate) kinds: &'w [KindId],
    pub(crate) expression: &'w Expression,
}

/// Marks an answer exact unless retained sizes that are lower bounds decide which objects match. Adds the notes of
/// [`with_gaps`].
pub(crate) fn with_exactness(answer: Answer, state: &State, wanted: Wanted<'_>) -> Result<Answer, QueryError> {
    let is_exact = state.heap(wanted.snapshot)?.matches_exactly(wanted.expression, &state.meter())?;
    with_gaps(said(answer, is_exact), state, wanted)
}

/// Adds a note if it is not known of some objects whether they match, or if the recording lacks the texts, interfaces
/// or superclasses that the expression tests, or types of a whole name that it tests.
pub(crate) fn with_gaps(answer: Answer, state: &State, wanted: Wanted<'_>) -> Result<Answer, QueryError> {
    with_gaps_of(answer, state, &*state.recording()?, || state.heap(wanted.snapshot), wanted)
}

/// The same for a snapshot of any recording.
pub(crate) fn with_gaps_of(
    mut answer: Answer,
    state: &State,
    recording: &Recording,
    heap: impl Fn() -> Result<Arc<Heap>, QueryError>,
    Wanted { kinds, expression, .. }: Wanted<'_>,
) -> Result<Answer, QueryError> {
    if expression.asks_for_texts() && !recording.has_contents()? {
        answer = answer.note("this was recorded without contents: what objects say is not known, and matches nothing");
    }
    if expression.may_be_unknown() {
        let doubts = heap()?.doubts(kinds, expression, &state.meter())?;
        if let Some(doubted) = doubted(&doubts) {
            answer = answer.inexact(AS_FAR_AS_KNOWN, &format!("this leaves out {doubted}"));
        }
    }
    answer = answer.note_if(expression.assumes_utc(), IN_UTC);
    let tables = recording.tables()?;
    answer = names::partial_names(expression, tables).fold(answer, Answer::note);
    Ok(match unknown_bases(tables, expression) {
        Some((exactness, note)) => answer.inexact(exactness, note),
        None => answer,
    })
}

/// The exactness and the note if an expression tests interfaces or superclasses that the recording lacks.
pub(crate) fn unknown_bases(tables: &Tables, expression: &Expression) -> Option<(&'static str, &'static str)> {
    if tables.has_type(OBJECT_OF_JVM) && !expression.interfaces(tables).is_empty() {
        Some(("as far as interfaces are known", OF_INTERFACES))
    } else {
        let asks = expression.asks_for_bases() && !tables.has_bases();
        asks.then_some(("as far as superclasses are known", OF_BASES))
    }
}

/// The objects of which it is not known whether they match, in words; `None` if there are none.
pub(crate) fn doubted(doubts: &Doubts) -> Option<String> {
    let about: Vec<String> = doubts.about.iter().map(|about| format!("`{about}`")).collect();
    let (objects, about) = (doubts.counted.objects, about.join(" and "));
    let match_ = if objects == 1 { "it matches" } else { "they match" };
    let told = units::counted(objects, "object");
    (objects > 0).then(|| format!("{told} of which it is not known whether {match_}, because of {about}"))
}

/// The exactness where some values that an expression tests are not known.
pub(crate) const AS_FAR_AS_KNOWN: &str = "as far as values are known";

/// Marks an answer inexact if a field that holds a number looks as if there was none.
pub(crate) fn with_lost_numbers(answer: Answer, recording: &Recording) -> Result<Answer, QueryError> {
    Ok(if recording.lacks_numbers()? { answer.inexact(AS_FAR_AS_KNOWN, LOST_NUMBERS) } else { answer })
}

/// The note where numbers look as if there was no field.
const LOST_NUMBERS: &str = "this snapshot of V8 lacks numbers: a field that holds one looks as if there was none; \
                            `v8.writeHeapSnapshot(FILE, { exposeNumericValues: true })` writes them";

/// Marks an answer exact, or as chosen by lower bounds.
pub(crate) fn said(answer: Answer, is_exact: bool) -> Answer {
    if is_exact { answer.exact() } else { answer.inexact(BY_LOWER_BOUNDS, INEXACT) }
}

/// The exactness of answers about objects that were chosen by retained sizes that are lower bounds.
pub(crate) const BY_LOWER_BOUNDS: &str = "by lower bounds of retained sizes";

/// The same for people.
pub(crate) const INEXACT: &str = "`retained` is compared with lower bounds here, since ephemerons keep objects alive that \
    are freed with their source or with their key: an object may retain more; `retained @ID` is exact";

/// The objects that match, and what they add up to.
pub(crate) fn select(
    ask: &Ask,
    snapshot: SnapshotId,
    kinds: &[KindId],
    expression: &Expression,
) -> Result<(Arc<ObjectSet>, Counted), QueryError> {
    let (set, counted) = ask.heap(snapshot)?.select(kinds, expression, &ask.meter())?;
    Ok((Arc::new(set), counted))
}

/// A row per object, numbered after those that are listed.
pub(crate) fn table(ask: &Ask, heap: &Heap, objects: &[ObjectDetails]) -> Result<Table, QueryError> {
    let first = ask.listed_before() + 1;
    let tables = heap.recording().tables()?;
    ask.context.require_rows(objects.len())?;
    let mut lines = held::lines_of(heap, objects, &ask.meter())?;
    Ok(table!("rows", objects.iter().enumerate(), |(at, object)| {
        ask.context.check()?;
        Column::row_number() => ask.row_number(first + at),
        Column::object("object") => object.id.0,
        Column::text("type").names() => tables.type_title(object.type_id),
        Column::text("name") => label::name(tables, object.name),
        Column::text("line") => lines.remove(&object.id),
        Column::text("kind").names().secondary() => tables.kind_name(tables.type_kind(object.type_id)),
        Column::bytes("shallow_bytes") => object.shallow_bytes,
        Column::bytes("unmanaged_bytes").secondary() => object.unmanaged_bytes,
        Column::count("references") => object.references,
    }))
}
