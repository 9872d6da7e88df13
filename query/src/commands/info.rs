//! `info`: one object, or the file.

use barrow_analyzer::{FieldPath, FieldValue, Heap, Held, Holder, OWN_FIELDS, ObjectDetails, ObjectId, Progress};
use barrow_processes::{ProcessId, ProcessTree};

use crate::answer::{Answer, Column, Unit, Value, table, units};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::session::state::State;
use crate::tables::date;
use crate::tables::entry_rows::EntryRows;
use crate::tables::{held, label, process_details};

use super::snapshot::with_pairs;
use super::{Command, Group};

pub(super) const COMMAND: Command = Command {
    aliases: &["inspect", "p"],
    arguments: "[ID | PID] [--classes FILE]",
    example: "info @123",
    flags: &["--classes"],
    ..Command::new("info", include_str!("../../verbs/info.md"), Group::Objects, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    match &ask.arguments.words()[..] {
        [] => of_file(ask).map(Reply::aside),
        [name] if is_process(ask, name)? => {
            let tree = ask.process_tree()?;
            let id = process(ask, &tree, name)?;
            let (totals, classes) = (ask.process_totals()?, ask.classes_in(&ask.arguments.flags, None)?);
            let units = ask.unit_labels(&ask.arguments.flags)?;
            process_details::answer(&ask.context, &tree, &totals, (&classes, &units), id).map(Reply::aside)
        }
        [name] => of_object(ask, name).map(Reply::aside),
        [_, word, ..] => Err(COMMAND.refuses(word)),
    }
}

fn of_object(ask: &Ask, name: &str) -> Result<Answer, QueryError> {
    let (snapshot, id) = ask.object(name)?;
    let heap = ask.heap(snapshot)?;
    let details = barrow_analyzer::object(heap.recording(), snapshot, id)?;
    let answer = described(&heap, &details, &ask.meter())?;
    let answer = with_fields(&heap, answer, &details, &ask.meter())?;
    let answer = with_entries(&heap, answer, id, &ask.meter())?;
    let born = details.serial.map(|serial| heap.recording().born(serial, snapshot, &ask.meter()));
    let born = born.transpose()?.flatten().map(|snapshot| snapshot.0);
    let answer = answer.fact(Column::number("born_in_snapshot").called("born in"), born);
    with_graph(&heap, answer, id, &ask.meter())
}

/// Characters of a text that people see at once: about two screens of 80 by 24.
const LONG_TEXT: usize = 4096;

/// Adds a note about a text that is too long to be read here.
fn with_long_texts<'t>(answer: Answer, id: ObjectId, mut texts: impl Iterator<Item = &'t str>) -> Answer {
    if !texts.any(|text| text.chars().nth(LONG_TEXT).is_some()) {
        return answer;
    }
    let most = units::grouped(LONG_TEXT as u64);
    answer.note(format!("a text has more than {most} characters: `info @{id}` with `--format json` has the whole"))
}

/// Returns whether a name is that of a process: `1234:0`, and `1234` where there are no objects.
fn is_process(state: &State, name: &str) -> Result<bool, QueryError> {
    let recording = state.recording()?;
    let is_row = name.starts_with('%');
    let is_object = name.contains('@') || is_row && state.listed.images().is_empty() || name.starts_with("0x");
    let may_be_process = is_row || name.contains(':') || recording.snapshot_count() == 0;
    Ok(recording.has_processes() && !is_object && may_be_process)
}

/// The process of a name, or of a row of the last table.
fn process(state: &State, tree: &ProcessTree, name: &str) -> Result<ProcessId, QueryError> {
    let Some(row) = name.strip_prefix('%').and_then(|row| row.parse::<usize>().ok()) else {
        return Ok(tree.named(name)?);
    };
    let images = state.listed.images();
    match row.checked_sub(1).and_then(|at| images.get(at)) {
        Some(image) => Ok(tree.image(*image).process),
        None => {
            let rows = images.len();
            Err(QueryError::usage(format!("{name}: the last table has the rows %1 to %{rows}")))
        }
    }
}

fn described(heap: &Heap, object: &ObjectDetails, progress: &dyn Progress) -> Result<Answer, QueryError> {
    let recording = heap.recording();
    let (tables, type_id) = (recording.tables()?, object.type_id);
    let line = held::lines_of(heap, [object], progress)?.remove(&object.id);
    let name = object.name.map(|name| tables.string(name));
    let site = object.site.map(|site| recording.site(site)).transpose()?.flatten();
    let answer = Answer::default()
        .of_snapshot(heap.snapshot().0)
        .fact(Column::object("object"), object.id.0)
        .fact(Column::text("type").names(), tables.type_name(type_id))
        .fact(Column::text("name"), name.map(|name| Value::Name(name.to_owned())))
        .fact(Column::text("reads_as"), line)
        .fact(Column::text("kind").names(), tables.kind_name(tables.type_kind(type_id)))
        .fact(Column::text("layout").names(), tables.type_layout(type_id))
        .fact(Column::text("source_file").names().called("file"), tables.type_file(type_id))
        .fact(Column::number("source_line").called("line"), tables.type_line(type_id))
        .fact(Column::bytes("shallow_bytes"), object.shallow_bytes)
        .fact(Column::bytes("unmanaged_bytes"), object.unmanaged_bytes)
        .fact(Column::count("references"), object.references)
        .fact(Column::new("address", Unit::Address), object.address)
        .fact(Column::number("serial"), object.serial)
        .fact(Column::number("site"), object.site.map(|site| site.0))
        .fact(Column::text("allocated_at").names(), site.and_then(|site| site.title()));
    Ok(with_long_texts(answer, object.id, name.into_iter()))
}

/// Adds the values of the fields of the object, if they were recorded.
fn with_fields(
    heap: &Heap,
    answer: Answer,
    object: &ObjectDetails,
    progress: &dyn Progress,
) -> Result<Answer, QueryError> {
    let (id, references) = (object.id, object.references);
    let fields = heap.object_fields(id)?;
    if fields.is_empty() {
        return Ok(answer);
    }
    let tables = heap.recording().tables()?;
    let held: Vec<Held> = fields.iter().map(|field| field.held).collect();
    let mut cells = held::cells(heap.recording(), heap.snapshot(), &held)?;
    let mut of_texts = Vec::new();
    for (cell, held) in cells.iter_mut().zip(&held) {
        if let Held::Value(FieldValue::Text(text)) = held {
            of_texts.push(tables.string(*text));
            *cell = Value::Name(tables.string(*text).to_owned());
        }
    }
    let meanings = held::meanings(heap, &held, progress)?;
    let unit = held::unit(&cells);
    let table = table!("fields", fields.iter().zip(cells), |(field, cell)| {
        let meaning = held::meaning_of(&meanings, &field.held);
        Column::text("field") => FieldPath::named(field.name).to_string(),
        Column::text("holds").own_words().secondary() => held::kind(field.encoding),
        Column::new("value", unit) => held::with_meaning(cell, meaning),
        Column::number("stands_for").for_machines() => meaning.map(|meaning| meaning.value.clone()),
        Column::text("declared_by").names().secondary() => field.declared_by.map(|id| tables.type_name(id)),
    });
    let answer = with_long_texts(answer.table(table), id, of_texts.into_iter());
    if references <= OWN_FIELDS as u64 || fields.iter().all(|field| field.declared_by.is_some()) {
        return Ok(answer);
    }
    Ok(answer.note(format!("its fields are those of the first {OWN_FIELDS} references: `show @{id}` has all")))
}

/// Entries that are shown, and those that are counted; `entries` shows all. Both are judgements: few are enough to see
/// what a collection is for.
const SHOWN_ENTRIES: usize = 5;
const COUNTED_ENTRIES: usize = 1000;

/// Adds the first entries of a map, or elements of a list.
fn with_entries(heap: &Heap, answer: Answer, id: ObjectId, progress: &dyn Progress) -> Result<Answer, QueryError> {
    let Some(found) = heap.entries(id, COUNTED_ENTRIES, progress)? else { return Ok(answer) };
    let shown = &found.entries[..found.entries.len().min(SHOWN_ENTRIES)];
    let left = found.entries.len() - shown.len();
    let EntryRows { table, .. } = EntryRows::of(heap, shown, progress)?;
    let is_certain = found.are_known && !found.has_more;
    let mut answer =
        answer.table(table).fact(Column::count("more_entries").for_machines(), Some(left).filter(|_| is_certain));
    if left > 0 {
        let at_least = if is_certain { "" } else { "at least " };
        answer = answer.note(format!("… {at_least}{} more: `entries @{id}`", units::grouped(left as u64)));
    } else if found.entries.is_empty() && found.are_known {
        answer = answer.note("it holds no entries");
    } else if !found.are_known {
        answer = answer.note("there may be more entries: the recording does not tell everything");
    }
    Ok(super::entries::with_nulls(answer, &found))
}

/// Adds the facts that follow from the references of all objects.
fn with_graph(heap: &Heap, answer: Answer, id: ObjectId, progress: &dyn Progress) -> Result<Answer, QueryError> {
    let tables = heap.recording().tables()?;
    let (holder, retained, is_exact) = heap.ask_dominators(progress, |dominators| {
        let is_reachable = dominators.is_reachable(id);
        let retained = is_reachable.then(|| (dominators.retained_bytes(id), dominators.retained_count(id)));
        Ok::<_, QueryError>((dominators.immediate_dominator(id), retained, dominators.is_exact()))
    })?;
    let distance = heap.distance(id, progress)?;
    let incoming = heap.referring_objects(id, progress)?.len();
    let dominated_by = match holder {
        None => None,
        Some(Holder::Object(holder)) => {
            let details = barrow_analyzer::object(heap.recording(), heap.snapshot(), holder)?;
            Some(format!("@{holder} {}", label::object(tables, details.type_id, details.name)))
        }
        Some(Holder::Roots(name)) => Some(format!("roots: {}", tables.string(name))),
        Some(Holder::Everything) => Some("several groups of roots".to_owned()),
    };
    let dominator = holder.and_then(|holder| holder.object()).map(|object| object.0);
    let mut answer = answer
        .fact(Column::count("referring_objects").called("referred to by"), incoming)
        .fact(Column::text("reachable").own_words().for_machines(), retained.is_some())
        .fact(Column::count("distance"), distance)
        .fact(Column::bytes("retained_bytes"), retained.map(|(bytes, _)| bytes))
        .fact(Column::count("retained_objects").called("retains objects"), retained.map(|(_, objects)| objects))
        .fact(Column::object("immediate_dominator").for_machines(), dominator)
        .fact(Column::text("dominated_by"), dominated_by);
    if !heap.has(id) {
        answer = answer.note("it is excluded: `without`");
    } else if retained.is_none() {
        answer = answer.note("no root reaches it");
    }
    Ok(answer.with_exactness(is_exact))
}

fn of_file(state: &State) -> Result<Answer, QueryError> {
    let recording = state.recording()?;
    let file = state.file();
    let (major, minor) = recording.version();
    let created = Some(recording.created_ns()).filter(|&created| created > 0);
    let uuid: String = recording.uuid().iter().map(|byte| format!("{byte:02x}")).collect();
    let tree = recording.has_processes().then(|| state.process_tree()).transpose()?;
    let answer = Answer::default()
        .fact(Column::shown("file", Unit::Text), file.map(|file| file.name.clone()))
        .fact(Column::text("format_version").own_words(), format!("{major}.{minor}"))
        .fact(Column::text("uuid").own_words(), uuid)
        .fact(Column::number("created_ns").for_machines(), created)
        .fact(Column::shown("created", Unit::Text), created.map(date::date))
        .fact(Column::bytes("length_bytes"), recording.length_bytes())
        .fact(Column::count("snapshots"), recording.snapshot_count())
        .fact(Column::count("processes"), tree.as_ref().map(|tree| tree.processes().len()))
        .fact(Column::count("memory_samples"), tree.map(|tree| tree.samples().len()))
        .fact(Column::shown("damage", Unit::Text), file.map(|file| file.damage.as_deref().unwrap_or("none")));
    Ok(with_pairs(answer, "facts", recording.facts()?).exact())
}
