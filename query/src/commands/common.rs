//! `common`: what all objects of a set have in common.

use barrow_analyzer::{
    CommonReferrers, Expression, FieldPath, GroupKey, Heap, Held, Holder, KindId, Label, ObjectId, ObjectSet,
    SnapshotId, objects,
};

use crate::attributes;
use crate::tables::{found, group_keys, held, label};

use super::{idom, more, prelude::*};

pub(super) const COMMAND: Command = Command {
    arguments: "ID | [KIND] EXPR",
    example: "common type = \"Session\"",
    completion: Completion::Expressions,
    ..Command::new("common", include_str!("../../verbs/common.md"), Group::Alive, run)
};

/// Referrers that a terminal shows, of each sort: what all have in common is among the first ones. This is a judgement.
const REFERRERS: usize = 10;
/// Objects that are listed elsewhere, as many as a page of the browser shows.
const MOST_REFERRERS: usize = 10_000;
/// Fields whose values are compared, and fields that refer to the objects. Each takes a pass over objects, and few have as
/// many.
const MOST_FIELDS: usize = 100;
/// The least part of the objects that has a value in common: nine of ten.
const LEAST: (u64, u64) = (9, 10);

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let words = ask.arguments.words();
    let mut asked = None;
    let (snapshot, set, is_exact) = match &words[..] {
        [] => return Err(QueryError::usage("common to what? `common @123`, `common type = \"Session\"`, `common $_`")),
        [name] if ask.object(name).is_ok() => {
            let (snapshot, object) = ask.object(name)?;
            (snapshot, ask.set_of(snapshot, [object])?, true)
        }
        _ => {
            let snapshot = ask.snapshot()?;
            let (kinds, expression) = found::kinds_and_expression(ask, snapshot, &ask.arguments, 0)?;
            let (set, _) = found::select(ask, snapshot, &kinds, &expression)?;
            let is_exact = ask.heap(snapshot)?.matches_exactly(&expression, &ask.meter())?;
            asked = Some((kinds, expression));
            (snapshot, set, is_exact)
        }
    };
    let heap = ask.heap(snapshot)?;
    let answer = Answer::default().of_snapshot(snapshot.0).fact(Column::count("objects"), set.len());
    if set.is_empty() {
        let answer = told(ask, found::said(answer, is_exact), snapshot, asked.as_ref())?;
        return Ok(Reply::from(answer.note("no object matches")).with_last(set));
    }
    let mut listed = Listed::default();
    let answer = with_values(ask, &heap, answer, &set)?;
    let answer = with_referrers(ask, &heap, answer, &set, &mut listed)?;
    let answer = with_dominators(ask, &heap, answer, &set, &mut listed)?;
    let answer = if is_exact { answer } else { found::said(answer, is_exact) };
    let answer = told(ask, answer, snapshot, asked.as_ref())?;
    Ok(more::first_page(ask, answer, ask.page_rows()).listing(listed).with_last(set))
}

/// Adds what is not known of the objects that match, if an expression was asked for.
fn told(
    ask: &Ask,
    answer: Answer,
    snapshot: SnapshotId,
    asked: Option<&(Vec<KindId>, Expression)>,
) -> Result<Answer, QueryError> {
    match asked {
        None => Ok(answer),
        Some((kinds, expression)) => found::with_gaps(answer, ask, found::Wanted { snapshot, kinds, expression }),
    }
}

/// A key, its value as a cell, and how many objects have it.
type CommonValue = (String, Value, u64);

/// Adds the values of attributes and fields that nearly all objects have.
fn with_values(ask: &Ask, heap: &Heap, answer: Answer, set: &ObjectSet) -> Result<Answer, QueryError> {
    let least = (set.len() * LEAST.0).div_ceil(LEAST.1);
    let names = heap.common_fields(set, least, &ask.meter())?;
    let left_out = names.len().saturating_sub(MOST_FIELDS);
    let fields = names.into_iter().take(MOST_FIELDS).map(|name| GroupKey::Field(FieldPath::named(name)));
    let mut values: Vec<CommonValue> = Vec::new();
    for key in attributes::group_keys().chain(fields) {
        values.extend(value_of(ask, heap, set, key, least)?);
    }
    values.extend(root_of(heap, set, least)?);
    let unit = held::unit(values.iter().map(|(_, value, _)| value));
    let table = table!("values", values, |(key, value, objects)| {
        Column::text("key") => key,
        Column::new("value", unit) => value,
        Column::count("objects") => objects,
        Column::share("share").for_people() => Value::share(objects, set.len()),
    });
    let note = format!("{} not compared", units::counted(left_out as u64, "further field"));
    Ok(answer.table(table).note_if(left_out > 0, note))
}

/// The value of a key that at least so many objects have.
fn value_of(
    ask: &Ask,
    heap: &Heap,
    set: &ObjectSet,
    key: GroupKey,
    least: u64,
) -> Result<Option<CommonValue>, QueryError> {
    let (meter, keys) = (ask.meter(), [key]);
    let mut groups = heap.groups(set, &keys, &meter)?;
    groups.groups.retain(|group| group.objects >= least);
    let Some(&group) = groups.groups.first() else { return Ok(None) };
    let lacks_it = match groups.held(&group) {
        [held] => matches!(held, Held::Missing | Held::Unknown),
        _ => group.key(&keys[0], heap.recording().tables()?).is_none(),
    };
    if lacks_it {
        return Ok(None);
    }
    let lines = group_keys::lines(&groups, heap, &meter)?;
    let cell = group_keys::cells(&keys, &groups, &lines, heap)?.remove(0).remove(0);
    Ok(Some((keys[0].name().into_owned(), cell, group.objects)))
}

/// The group of roots that itself refers to at least so many objects.
fn root_of(heap: &Heap, set: &ObjectSet, least: u64) -> Result<Option<CommonValue>, QueryError> {
    let mut rows: Vec<_> = heap.roots()?.rows().iter().filter(|root| set.contains(root.target)).collect();
    rows.sort_by_key(|root| (root.category, root.target));
    rows.dedup_by_key(|root| (root.category, root.target));
    let tables = heap.recording().tables()?;
    let groups = rows.chunk_by(|one, other| one.category == other.category);
    let largest = groups.max_by_key(|group| group.len()).filter(|group| group.len() as u64 >= least);
    Ok(largest.map(|group| ("root".to_owned(), Value::text(tables.string(group[0].category)), group.len() as u64)))
}

/// Adds the fields and the objects that refer to most of them.
fn with_referrers(
    ask: &Ask,
    heap: &Heap,
    answer: Answer,
    set: &ObjectSet,
    listed: &mut Listed,
) -> Result<Answer, QueryError> {
    let most = if ask.page_rows() == usize::MAX { [MOST_FIELDS, MOST_REFERRERS] } else { [REFERRERS; 2] };
    let CommonReferrers { fields, all_fields, objects: mut referrers, all_objects } =
        heap.common_referrers(set, most, &ask.meter())?;
    let cut = [(most[0], all_fields, "fields"), (most[1], all_objects, "objects")];
    let cut = cut.into_iter().filter(|&(most, all, _)| all > most as u64);
    let cut: Vec<String> = cut.map(|(most, all, what)| format!("{most} of {} {what}", units::grouped(all))).collect();
    let note = format!("of those that refer to them the first: {}", cut.join(", "));
    // Those of a single object of many are nothing in common.
    let found = referrers.len();
    referrers.retain(|referrer| referrer.objects > 1 || set.len() == 1);
    let single = (found - referrers.len()) as u64;
    let of_single =
        format!("not shown: {}, of which each refers to one of them only", units::counted(single, "object"));
    let (tables, snapshot) = (heap.recording().tables()?, heap.snapshot());
    let share = |objects: u64| Value::share(objects, set.len());
    let by_field = table!("fields", &fields, |field| {
        Column::text("type").names().called("referred to by") => tables.type_title(field.source),
        Column::text("label").called("reference") => match field.label {
            Label::Index(_) => Some("[]".to_owned()),
            known => label::text(tables, known),
        },
        Column::count("objects") => field.objects,
        Column::share("share").for_people() => share(field.objects),
    });
    let ids: Vec<ObjectId> = referrers.iter().map(|one| one.source).collect();
    let details = objects(heap.recording(), snapshot, &ids)?;
    let lines = held::lines_of(heap, &details, &ask.meter())?;
    let by_object = table!("referrers", referrers.iter().zip(&details), |(referrer, source)| {
        let row = listed.push((snapshot, source.id));
        let title = label::object(tables, source.type_id, source.name);
        Column::row_number() => row,
        Column::object("object").called("referrer") => source.id.0,
        Column::shown("type", Unit::Text) => held::title_with_line(title, &lines, source.id),
        Column::text("type").names().for_machines() => tables.type_title(source.type_id),
        Column::text("name").for_machines() => label::name(tables, source.name),
        Column::count("objects") => referrer.objects,
        Column::share("share").for_people() => share(referrer.objects),
    });
    Ok(answer
        .fact(Column::count("referring_fields").called("fields that refer to them"), all_fields)
        .fact(Column::count("referring_objects").called("objects that refer to them"), all_objects)
        .table(by_field)
        .table(by_object)
        .note_if(!cut.is_empty(), note)
        .note_if(single > 0 && cut.is_empty(), of_single))
}

/// Adds the dominators that they have in common, the nearest first.
fn with_dominators(
    ask: &Ask,
    heap: &Heap,
    answer: Answer,
    set: &ObjectSet,
    listed: &mut Listed,
) -> Result<Answer, QueryError> {
    let snapshot: SnapshotId = heap.snapshot();
    let asked = heap.ask_dominators(&ask.meter(), |dominators| {
        let holders = dominators.common_holders(set).map(|holder| match holder {
            Holder::Object(object) => (holder, dominators.retained_bytes(object)),
            Holder::Roots(name) => (holder, dominators.group_bytes(name)),
            Holder::Everything => (holder, dominators.reachable_bytes()),
        });
        let holders: Vec<(Holder, u64)> = holders.collect();
        let reachable = set.iter().filter(|&object| dominators.is_reachable(object)).count() as u64;
        Ok::<_, QueryError>((holders, reachable, dominators.is_exact()))
    });
    let (holders, reachable, is_exact) = asked?;
    ask.context.require_rows(holders.len())?;
    let ids: Vec<ObjectId> = holders.iter().filter_map(|(holder, _)| holder.object()).collect();
    let details = objects(heap.recording(), snapshot, &ids)?;
    let lines = held::lines_of(heap, &details, &ask.meter())?;
    let (tables, mut details) = (heap.recording().tables()?, details.into_iter());
    // The only root of the last object says more than its group: a thread, and a frame.
    let mut roots = heap.roots()?.rows().iter().filter(|root| Some(&root.target) == ids.last());
    let root = roots.next().filter(|_| roots.next().is_none());
    let table = table!("dominators", holders, |(holder, bytes)| {
        ask.context.check()?;
        let object = holder.object().and_then(|_| details.next());
        let title = match (holder, object) {
            (Holder::Roots(name), _) => match root.filter(|root| root.category == name) {
                Some(root) => format!("roots: {}", label::root(tables, root)),
                None => format!("roots: {}", tables.string(name)),
            },
            (_, Some(object)) => {
                held::title_with_line(label::object(tables, object.type_id, object.name), &lines, object.id)
            }
            _ => "all roots".to_owned(),
        };
        Column::row_number() => object.map(|object| listed.push((snapshot, object.id))),
        Column::object("object").called("dominator") => object.map(|object| object.id.0),
        Column::shown("type", Unit::Text) => title.as_str(),
        Column::text("type").names().for_machines() => object.map_or(title, |object| tables.type_title(object.type_id)),
        Column::text("roots").for_machines() => idom::roots_of(holder, tables),
        Column::text("name").for_machines() => label::name(tables, object.and_then(|object| object.name)),
        Column::bytes("retained_bytes") => bytes,
    });
    let unreachable = set.len() - reachable;
    let note = match reachable {
        0 => "no root reaches them: nothing keeps them alive".to_owned(),
        _ => format!("{}: the dominators are those of the others", units::counted(unreachable, "unreachable object")),
    };
    let answer = answer.fact(Column::count("reachable_objects").called("reachable"), reachable);
    Ok(answer.table(table).with_exactness(is_exact).note_if(unreachable > 0, note))
}
