//! `dominators`: the dominator tree.

use barrow_analyzer::{Dominators, Heap, Holder, ObjectId, SnapshotId, TreePlace, TypeId, objects};

use crate::answer::label;
use crate::answer::{Answer, Audience, Column, Table, Unit, Value};
use crate::arguments::Arguments;
use crate::error::QueryError;
use crate::session::Session;
use crate::tables::references::{MOST_ROWS, range};
use crate::tables::tree_walk::{Shown, TreeLine, Walk};
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject, more};

pub(super) const COMMAND: Command = Command {
    name: "dominators",
    aliases: &["dom"],
    group: Group::Alive,
    arguments: "[ID] [by type | FROM.. | FROM..TO]",
    about: "The dominator tree: what is freed with what",
    details: "It begins at the roots, or at an object. A line shows what would be freed with everything below it; its \
              children are what it alone keeps alive. `--depth N` shows N levels (default 5). `--min 1%` or `--min \
              1M` leaves out smaller objects (default 1%). `children` counts all children of the first line. With a \
              range, the children are listed one by one, of any size, the largest retained size first: `dominators \
              @123 0..` begins with the largest, counted from 0. `by type` adds them up by their types, with the \
              largest as example. At the prompt `more` continues to the end. Elsewhere an answer has at most 100,000 \
              rows and says how to get the others.",
    example: "dominators @123 --depth 2",
    flags: &["--depth", "--min"],
    subject: Subject::Recording,
    touches: Touches::RECORDING,
    asks_for_totals: None,
    completion: Completion::Nothing,
    run,
};

/// Levels that are shown by default.
const DEPTH: u32 = 5;
/// The index keeps where a page begins if this number of children come before it.
const FAR: u64 = 1 << 16;

/// Lines that are yet to be shown.
pub(crate) struct Lines {
    snapshot: SnapshotId,
    object: Option<ObjectId>,
    source: Source,
    /// Children are listed one by one: how many are left, and the number of the next one.
    range: Option<(u64, u64)>,
    is_exact: bool,
    children: u64,
}

/// Where lines come from.
enum Source {
    /// All of them, from the upper part of the tree, which is small.
    Ready(std::vec::IntoIter<TreeLine>),
    /// The tree: the walk, and the line that comes next.
    Tree(Walk<TreePlace>, Option<TreeLine>),
}

/// Of what the lines are: an object or the roots, and how.
struct Asked {
    named: Option<(SnapshotId, ObjectId)>,
    by_type: bool,
    range: Option<(u64, u64)>,
}

fn asked(session: &Session, words: &[String]) -> Result<Asked, QueryError> {
    let is_name = |word: &&String| *word != "by" && range(word).is_none();
    let name = words.first().filter(is_name);
    let named = name.map(|name| session.object(name)).transpose()?;
    let (by_type, range) = match &words[usize::from(name.is_some())..] {
        [] => (false, None),
        [by, what] if by == "by" && what == "type" => (true, None),
        [word] => (false, Some(range(word).ok_or_else(|| COMMAND.refuses(word))?)),
        [word, ..] => return Err(COMMAND.refuses(word)),
    };
    Ok(Asked { named, by_type, range })
}

fn run(session: &mut Session, arguments: &Arguments) -> Result<Answer, QueryError> {
    let Asked { named, by_type, range } = asked(session, &arguments.words())?;
    if (by_type || range.is_some()) && (arguments.flags.depth.is_some() || arguments.flags.min.is_some()) {
        let message = "`by type` and a range are about all children of one place: without `--depth` and `--min`";
        return Err(QueryError::usage(message));
    }
    let snapshot = named.map_or_else(|| session.snapshot(), |(snapshot, _)| Ok(snapshot))?;
    let object = named.map(|(_, object)| object);
    let heap = session.heap(snapshot)?;
    session.listed.clear();
    if by_type {
        return of_types(session, &heap, object);
    }
    let Some(lines) = first_lines(session, &heap, object, range, arguments)? else { return Ok(unreached()) };
    lines.answer(session)
}

fn unreached() -> Answer {
    Answer::default().note("no root reaches it: it keeps nothing alive").exact()
}

fn first_lines(
    session: &Session,
    heap: &Heap,
    object: Option<ObjectId>,
    range: Option<(u64, u64)>,
    arguments: &Arguments,
) -> Result<Option<Lines>, QueryError> {
    let meter = session.meter();
    let levels = if range.is_some() { 2 } else { arguments.flags.depth.unwrap_or(DEPTH) };
    let least = |bytes: u64| match range {
        Some(_) => 0,
        None => arguments.flags.min.map_or(bytes / 100, |_| arguments.flags.least(bytes)),
    };
    let lines = |source, is_exact, children, range| {
        Some(Lines { snapshot: heap.snapshot(), object, source, range, is_exact, children })
    };
    let canopy = if object.is_none() && range.is_none() { heap.kept_canopy()? } else { None };
    if let Some(canopy) = canopy.filter(|canopy| canopy.covers(least(canopy_bytes(canopy)))) {
        let shown = Shown { levels, least: least(canopy_bytes(&canopy)), skip: 0, after: None };
        let mut walk = Walk::new(barrow_analyzer::Tree::top(&canopy), shown);
        let ready: Vec<TreeLine> = std::iter::from_fn(|| walk.next(&canopy)).collect();
        let is_exact = heap.largest(&meter)?.is_exact();
        return Ok(lines(Source::Ready(ready.into_iter()), is_exact, walk.children, None));
    }
    let from = range.map_or(0, |(from, _)| from);
    let mark = if from >= FAR { heap.sibling_mark(object, from) } else { None };
    let (marked, after) = mark.map_or((0, None), |(children, rank)| (children, Some(rank)));
    let mut before = None;
    let found = heap.ask_dominators(&meter, |dominators| {
        let Some(top) = object.map_or(Some(dominators.top()), |object| dominators.place(object)) else {
            return Ok::<_, QueryError>(None);
        };
        let skip = usize::try_from(from - marked).unwrap_or(usize::MAX);
        let mut walk = Walk::new(top, Shown { levels, least: least(dominators.bytes_at(top)), skip, after });
        let first = walk.next(dominators);
        // A list of children is without the place they are below.
        let next = if range.is_some() { walk.next(dominators) } else { first };
        let children = walk.children;
        before = walk.before;
        let range = range.map(|(from, end)| (end.min(children).saturating_sub(from), from));
        Ok(lines(Source::Tree(walk, next), dominators.is_exact(), children, range))
    })?;
    if let Some(rank) = before.filter(|_| from - marked >= FAR) {
        heap.keep_sibling_mark(object, from, rank, &meter)?;
    }
    Ok(found)
}

fn canopy_bytes(canopy: &barrow_analyzer::Canopy) -> u64 {
    use barrow_analyzer::Tree as _;
    canopy.retained(canopy.top()).1
}

impl Source {
    fn is_empty(&self) -> bool {
        match self {
            Source::Ready(lines) => lines.as_slice().is_empty(),
            Source::Tree(_, next) => next.is_none(),
        }
    }

    /// The next lines.
    fn take(&mut self, heap: &Heap, session: &Session, most: usize) -> Result<Vec<TreeLine>, QueryError> {
        let (walk, next) = match self {
            Source::Ready(lines) => return Ok(lines.take(most).collect()),
            Source::Tree(walk, next) => (walk, next),
        };
        let before = (walk.clone(), *next);
        heap.ask_dominators(&session.meter(), |dominators| {
            // It is asked again where the index is damaged.
            (*walk, *next) = before.clone();
            let mut lines = Vec::new();
            while let Some(line) = next.filter(|_| lines.len() < most) {
                session.context.check()?;
                lines.push(line);
                *next = walk.next(dominators);
            }
            Ok(lines)
        })
    }
}

impl Lines {
    /// The next page.
    pub(super) fn answer(mut self, session: &mut Session) -> Result<Answer, QueryError> {
        let heap = session.heap(self.snapshot)?;
        let page = session.piece_rows().min(MOST_ROWS as usize);
        let most = self.range.map_or(page, |(left, _)| page.min(usize::try_from(left).unwrap_or(usize::MAX)));
        let lines = self.source.take(&heap, session, most)?;
        if let Some((left, from)) = &mut self.range {
            *left = left.saturating_sub(lines.len() as u64);
            *from += lines.len() as u64;
        }
        let rows = rows(&heap, session, &lines)?;
        let mut answer = Answer::default()
            .of_snapshot(self.snapshot)
            .fact(Column::new("children", "children", Unit::Count), self.children)
            .table(Table { key: "rows", audience: Audience::Everyone, columns: columns(), rows })
            .with_exactness(self.is_exact);
        if self.range.is_some() && lines.is_empty() {
            answer = answer.note(match self.children {
                0 => "it has no children".to_owned(),
                children => format!("its children have the numbers 0 to {}", children - 1),
            });
        }
        Ok(if self.has_more() { self.with_more(answer, session) } else { answer })
    }

    fn has_more(&self) -> bool {
        !self.source.is_empty() && self.range.is_none_or(|(left, _)| left > 0)
    }

    /// Says what is left, and how to get it.
    fn with_more(self, answer: Answer, session: &mut Session) -> Answer {
        if session.whole {
            session.more = Some(Box::new(move |session| self.answer(session)));
            return Answer { goes_on: true, ..answer };
        }
        let of = self.object.map_or_else(String::new, |object| format!("@{object} "));
        let (rest, way) = match (&self.source, self.range) {
            (_, Some((left, from))) => (Some(left), format!("`dominators {of}{from}..`")),
            (Source::Ready(lines), _) => (Some(lines.len() as u64), "a larger `--min`".to_owned()),
            _ => (None, format!("a larger `--min`, or `dominators {of}0..` for all children one by one")),
        };
        let rows = rest.map_or("… more rows".to_owned(), |left| {
            format!("… {}", crate::answer::units::counted(left, "more row"))
        });
        let note = if session.paged { format!("{rows}: `more`") } else { format!("{rows}: {way}") };
        let answer = answer
            .fact(Column::new("complete", "", Unit::Text).for_machines(), Value::Flag(false))
            .fact(Column::new("more_rows", "", Unit::Count).for_machines(), rest)
            .cut(note);
        session.more = Some(Box::new(move |session| self.answer(session)));
        answer
    }
}

/// Children of one type, or one group of roots.
#[derive(Debug, Clone, Copy)]
struct OfType {
    children: u64,
    retained: (u64, u64),
    largest: (u64, Holder),
}

/// The children of a place, added up by type.
fn of_types(session: &mut Session, heap: &Heap, object: Option<ObjectId>) -> Result<Answer, QueryError> {
    let meter = session.meter();
    let types = heap.types(&meter)?;
    let found = heap.ask_dominators(&meter, |dominators| {
        let Some(top) = object.map_or(Some(dominators.top()), |object| dominators.place(object)) else {
            return Ok(None);
        };
        Ok::<_, QueryError>(Some((by_type(session, dominators, top, types)?, dominators.is_exact())))
    })?;
    drop(meter);
    let Some((mut found, is_exact)) = found else { return Ok(unreached()) };
    found.sort_by_key(|(_, of)| (std::cmp::Reverse(of.retained.1), of.largest.1));
    let tables = heap.recording().tables()?;
    let mut rows = Vec::new();
    for (type_id, of) in &found {
        let title = match of.largest.1 {
            Holder::Roots(name) => format!("roots: {}", tables.string(name)),
            _ => type_id.map(|id| tables.type_title(id)).unwrap_or_default(),
        };
        let example = of.largest.1.object();
        session.listed.extend(example.map(|example| (heap.snapshot(), example)));
        rows.push(vec![
            example.map(|_| session.listed.len()).into(),
            Value::Text(title),
            type_id.map(|id| tables.kind_name(tables.type_kind(id))).into(),
            of.children.into(),
            of.retained.0.into(),
            of.retained.1.into(),
            example.map(|example| example.0).into(),
            of.largest.0.into(),
        ]);
    }
    let columns = vec![
        Column::row_number(),
        Column::new("type", "type", Unit::Text),
        Column::new("kind", "kind", Unit::Text),
        Column::new("children", "children", Unit::Count),
        Column::new("retained_objects", "retain objects", Unit::Count),
        Column::new("retained_bytes", "retained", Unit::Bytes),
        Column::new("example", "largest", Unit::Object),
        Column::new("example_retained_bytes", "it retains", Unit::Bytes),
    ];
    let children: u64 = found.iter().map(|(_, of)| of.children).sum();
    let answer = Answer::default()
        .of_snapshot(heap.snapshot())
        .fact(Column::new("children", "children", Unit::Count), children)
        .table(Table { key: "rows", audience: Audience::Everyone, columns, rows })
        .with_exactness(is_exact);
    let page = session.page_rows();
    Ok(more::first_page(session, answer, page))
}

/// Types with what their children add up to; groups of roots are for themselves.
fn by_type(
    session: &Session,
    dominators: &Dominators,
    top: TreePlace,
    types: &[u32],
) -> Result<Vec<(Option<TypeId>, OfType)>, QueryError> {
    let mut found: Vec<Option<OfType>> = vec![None; session.recording()?.tables()?.type_count()];
    let mut groups = Vec::new();
    for (at, child) in dominators.children(top).enumerate() {
        if at.is_multiple_of(1 << 16) {
            session.context.check()?;
        }
        let (holder, bytes) = (dominators.at(child), dominators.bytes_at(child));
        let of = OfType { children: 1, retained: (dominators.count_at(child), bytes), largest: (bytes, holder) };
        let Some(object) = holder.object() else {
            groups.push((None, of));
            continue;
        };
        match &mut found[types[object.index()] as usize] {
            Some(sum) => sum.add(&of),
            none => *none = Some(of),
        }
    }
    let of_type = |(id, of): (u32, Option<OfType>)| Some((Some(TypeId(id)), of?));
    Ok((0..).zip(found).filter_map(of_type).chain(groups).collect())
}

impl OfType {
    /// Adds a child of the same type.
    #[inline]
    fn add(&mut self, child: &OfType) {
        self.children += 1;
        self.retained = (self.retained.0 + child.retained.0, self.retained.1.wrapping_add(child.retained.1));
        let rank = |of: &OfType| (of.largest.0, std::cmp::Reverse(of.largest.1));
        if rank(child) > rank(self) {
            self.largest = child.largest;
        }
    }
}

fn columns() -> Vec<Column> {
    vec![
        Column::row_number(),
        Column::new("depth", "depth", Unit::Number).for_machines(),
        Column::new("object", "object", Unit::Object),
        Column::new("", "type", Unit::Text).for_people(),
        Column::new("type", "type", Unit::Text).for_machines(),
        Column::new("name", "name", Unit::Text).for_machines(),
        Column::new("kind", "kind", Unit::Text).secondary(),
        Column::new("shallow_bytes", "shallow", Unit::Bytes).secondary(),
        Column::new("unmanaged_bytes", "unmanaged", Unit::Bytes).secondary(),
        Column::new("retained_objects", "retains objects", Unit::Count),
        Column::new("retained_bytes", "retained", Unit::Bytes),
        Column::new("left_out", "smaller ones", Unit::Count),
        Column::new("left_out_bytes", "they retain", Unit::Bytes).secondary(),
    ]
}

fn rows(heap: &Heap, session: &mut Session, lines: &[TreeLine]) -> Result<Vec<Vec<Value>>, QueryError> {
    let tables = heap.recording().tables()?;
    let ids: Vec<_> = lines.iter().filter_map(|line| line.holder.object()).collect();
    let mut details = objects(heap.recording(), heap.snapshot(), &ids)?.into_iter();
    let mut rows = Vec::new();
    for line in lines {
        let object = line.holder.object().and_then(|_| details.next());
        let title = match (line.holder, &object) {
            (Holder::Roots(name), _) => format!("roots: {}", tables.string(name)),
            (_, Some(object)) => label::object(tables, object.type_id, object.name),
            _ => "all roots".to_owned(),
        };
        let row = object.map(|object| {
            let number = session.listed.len() + 1;
            session.list(heap.snapshot(), [object.id]);
            session.row_number(number)
        });
        let left_out = |value: u64| if line.left_out.0 == 0 { Value::None } else { Value::Number(value) };
        rows.push(vec![
            row.unwrap_or(Value::None),
            line.depth.into(),
            object.map(|object| object.id.0).into(),
            Value::Text(format!("{}{title}", "  ".repeat((line.depth as usize).min(60)))),
            Value::Text(object.map_or(title, |object| tables.type_title(object.type_id))),
            Value::name(tables, object.and_then(|object| object.name)),
            object.map(|object| tables.kind_name(tables.type_kind(object.type_id))).into(),
            object.map(|object| object.shallow_bytes).into(),
            object.map(|object| object.unmanaged_bytes).into(),
            line.retained.0.into(),
            line.retained.1.into(),
            left_out(line.left_out.0),
            left_out(line.left_out.1),
        ]);
    }
    Ok(rows)
}
