//! `dominators`: the dominator tree.

use barrow_analyzer::{Dominators, Folded, Heap, Holder, SnapshotId, Tree, TreePlace, TypeId, UnderCanopy};

use crate::answer::{Answer, Column, table, units};
use crate::language::tree_top::TreeTop;
use crate::tables::references::{MOST_ROWS, range};
use crate::tables::tree_cells;
use crate::tables::tree_rows;
use crate::tables::tree_walk::{Shown, TreeLine, Walk};

use super::{more, prelude::*};

pub(super) const COMMAND: Command = Command {
    aliases: &["dom"],
    arguments: "[ID | roots NAME] [by type | FROM.. | FROM..TO]",
    orders: |_| vec!["type"],
    example: "dominators @123 --depth 2",
    flags: &["--depth", "--min", "--cells"],
    ..Command::new("dominators", include_str!("../../verbs/dominators.md"), Group::Alive, run)
};

/// Levels that are shown by default: a screen has no room for more if several have children. This is a judgement.
const DEPTH: u32 = 5;
/// The index keeps where a page begins if this number of children come before it. This is a judgement: going past
/// fewer is no delay that people notice.
const FAR: u64 = 1 << 16;

/// Lines that are yet to be shown.
#[derive(Clone)]
pub(crate) struct Lines {
    snapshot: SnapshotId,
    top: TreeTop,
    source: Source,
    /// Children are listed one by one.
    range: Option<Range>,
    is_exact: bool,
    /// Number of children of the top.
    children: u64,
}

/// A range of children.
#[derive(Debug, Clone, Copy)]
struct Range {
    /// Number of children that are wanted.
    all: u64,
    /// Number of these that are left.
    left: u64,
    /// The number of the next one.
    next: u64,
}

/// The source of lines.
#[derive(Clone)]
enum Source {
    /// All of them, from the upper part of the tree, which is small.
    Ready(std::vec::IntoIter<TreeLine>),
    /// The tree: the walk, and the line that comes next.
    Tree(Walk<TreePlace>, Option<TreeLine>),
}

/// The top of the tree that the first words name, and the words after them.
fn top<'w>(state: &State, words: &'w [String]) -> Result<(SnapshotId, TreeTop, &'w [String]), QueryError> {
    match words {
        [roots, rest @ ..] if roots == "roots" => {
            let [name, rest @ ..] = rest else {
                return Err(QueryError::usage("which roots? `roots` lists them"));
            };
            let snapshot = state.snapshot()?;
            Ok((snapshot, TreeTop::roots(&*state.heap(snapshot)?, name)?, rest))
        }
        [word, rest @ ..] if word != "by" && range(word).is_none() => {
            let (snapshot, object) = state.object(word)?;
            Ok((snapshot, TreeTop::Object(object), rest))
        }
        _ => Ok((state.snapshot()?, TreeTop::Everything, words)),
    }
}

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let words = ask.arguments.words();
    let (snapshot, top, rest) = top(ask, &words)?;
    let (by_type, range) = match rest {
        [] => (false, None),
        [by, what] if by == "by" && what == "type" => (true, None),
        [word] => (false, Some(range(word).ok_or_else(|| COMMAND.refuses(word))?)),
        [word, ..] => return Err(COMMAND.refuses(word)),
    };
    let flags = &ask.arguments.flags;
    if (by_type || range.is_some()) && (flags.depth.is_some() || flags.min.is_some() || flags.cells.is_some()) {
        return Err(QueryError::usage(
            "`by type` and a range are about all children of one place: without `--depth`, `--min`, `--cells`",
        ));
    }
    if flags.min.is_some() && flags.cells.is_some() {
        return Err(QueryError::usage("`--min` and `--cells` both say what is left out; give one of them"));
    }
    let heap = ask.heap(snapshot)?;
    if by_type {
        return of_types(ask, &heap, &top);
    }
    let lines = match range {
        Some(range) => children(ask, &heap, top, range)?,
        None => upper_part(ask, &heap, top)?,
    };
    lines.map_or_else(|| Ok(unreached().into()), |lines| lines.answer(ask))
}

fn unreached() -> Answer {
    Answer::default().note("no root reaches it: it keeps nothing alive").exact()
}

/// The places that retain most.
fn upper_part(ask: &Ask, heap: &Heap, top: TreeTop) -> Result<Option<Lines>, QueryError> {
    let (meter, snapshot) = (ask.meter(), heap.snapshot());
    if ask.arguments.flags.cells.is_some() {
        return map(ask, heap, top);
    }
    let canopy = if top == TreeTop::Everything { heap.kept_canopy()? } else { None };
    if let Some(canopy) = canopy {
        let shown = shown(ask, &canopy, canopy.top(), 0);
        if canopy.covers(shown.least) {
            let (source, children) = all_lines(&canopy, canopy.top(), shown);
            let is_exact = heap.largest(&meter)?.is_exact();
            return Ok(Some(Lines { snapshot, top, source, range: None, is_exact, children }));
        }
    }
    heap.ask_dominators(&meter, |dominators| {
        let Some(place) = top.place(dominators) else { return Ok::<_, QueryError>(None) };
        let mut walk = Walk::new(place, shown(ask, dominators, place, 0));
        let next = walk.next(dominators);
        let (children, is_exact) = (walk.children, dominators.is_exact());
        let source = Source::Tree(walk, next);
        Ok(Some(Lines { snapshot, top: top.clone(), source, range: None, is_exact, children }))
    })
}

/// The largest places, where each chain is one: the cells of a map.
fn map(ask: &Ask, heap: &Heap, top: TreeTop) -> Result<Option<Lines>, QueryError> {
    let (meter, snapshot) = (ask.meter(), heap.snapshot());
    let types = heap.types(&meter)?;
    let canopy = if top == TreeTop::Everything { heap.kept_canopy()? } else { None };
    heap.ask_dominators(&meter, |dominators| {
        let Some(place) = top.place(dominators) else { return Ok::<_, QueryError>(None) };
        let is_exact = dominators.is_exact();
        if let Some(canopy) = &canopy {
            let tree = UnderCanopy::of(canopy, dominators);
            let folded = Folded::of(&tree, types);
            let place = folded.top();
            let shown = shown(ask, &folded, place, canopy.floor());
            if canopy.covers(shown.least) {
                let (source, children) = all_lines(&folded, place, shown);
                return Ok(Some(Lines { snapshot, top: top.clone(), source, range: None, is_exact, children }));
            }
        }
        let folded = Folded::of(dominators, types);
        let place = folded.place(place);
        let (source, children) = all_lines(&folded, place, shown(ask, &folded, place, 0));
        Ok(Some(Lines { snapshot, top: top.clone(), source, range: None, is_exact, children }))
    })
}

/// All lines of a part of a tree that is small, and the number of children of its top.
fn all_lines<T: Tree>(tree: &T, top: T::Place, shown: Shown) -> (Source, u64) {
    let mut walk = Walk::new(top, shown);
    let lines: Vec<TreeLine> = std::iter::from_fn(|| walk.next(tree)).collect();
    (Source::Ready(lines.into_iter()), walk.children)
}

/// The levels and the least size that the flags ask for. Only places of more than `floor` bytes are looked for; if these
/// are too few, the least size is not above it.
fn shown<T: Tree>(ask: &Ask, tree: &T, top: T::Place, floor: u64) -> Shown {
    let flags = &ask.arguments.flags;
    let whole = tree.retained(top).1;
    let (levels, least) = match flags.cells {
        Some(cells) => (u32::MAX, tree_cells::least_of(tree, top, cells as usize, floor)),
        None => (DEPTH, flags.min.map_or(whole / 100, |_| flags.least(whole))),
    };
    Shown { levels: flags.depth.unwrap_or(levels), least, skip: 0, after: None }
}

/// The children of a place, one by one.
fn children(ask: &Ask, heap: &Heap, top: TreeTop, (first, end): (u64, u64)) -> Result<Option<Lines>, QueryError> {
    let from = first.saturating_add(ask.view.skip.unwrap_or(0));
    let meter = ask.meter();
    let object = top.object();
    let is_marked = from >= FAR && !matches!(top, TreeTop::Roots(..));
    let mark = if is_marked { heap.sibling_mark(object, from) } else { None };
    let (marked, after) = mark.map_or((0, None), |(children, rank)| (children, Some(rank)));
    let mut before = None;
    let found = heap.ask_dominators(&meter, |dominators| {
        let Some(place) = top.place(dominators) else { return Ok::<_, QueryError>(None) };
        let skip = usize::try_from(from - marked).unwrap_or(usize::MAX);
        let mut walk = Walk::new(place, Shown { levels: 2, least: 0, skip, after });
        // A list of children is without the place they are below.
        walk.next(dominators);
        let next = walk.next(dominators);
        let children = walk.children;
        before = walk.before;
        let end = end.min(children);
        let range = Range { all: end.saturating_sub(first), left: end.saturating_sub(from), next: from };
        let source = Source::Tree(walk, next);
        let (snapshot, is_exact) = (heap.snapshot(), dominators.is_exact());
        Ok(Some(Lines { snapshot, top: top.clone(), source, range: Some(range), is_exact, children }))
    })?;
    if let Some(rank) = before.filter(|_| is_marked && from - marked >= FAR) {
        heap.keep_sibling_mark(object, from, rank, &meter)?;
    }
    Ok(found)
}

impl Source {
    fn is_empty(&self) -> bool {
        match self {
            Source::Ready(lines) => lines.as_slice().is_empty(),
            Source::Tree(_, next) => next.is_none(),
        }
    }

    /// The next lines.
    fn take(&mut self, heap: &Heap, state: &State, most: usize) -> Result<Vec<TreeLine>, QueryError> {
        let (walk, next) = match self {
            Source::Ready(lines) => return Ok(lines.take(most).collect()),
            Source::Tree(walk, next) => (walk, next),
        };
        let before = (walk.clone(), *next);
        heap.ask_dominators(&state.meter(), |dominators| {
            // It is asked again where the index is damaged.
            (*walk, *next) = before.clone();
            let mut lines = Vec::new();
            while let Some(line) = next.filter(|_| lines.len() < most) {
                state.context.check()?;
                lines.push(line);
                *next = walk.next(dominators);
            }
            Ok(lines)
        })
    }
}

impl Lines {
    /// The next page.
    pub(super) fn answer(mut self, ask: &Ask) -> Result<Reply, QueryError> {
        let heap = ask.heap(self.snapshot)?;
        let page = ask.piece_rows().min(MOST_ROWS as usize);
        let most = self.range.map_or(page, |range| page.min(usize::try_from(range.left).unwrap_or(usize::MAX)));
        let lines = self.source.take(&heap, ask, most)?;
        if let Some(range) = &mut self.range {
            range.left = range.left.saturating_sub(lines.len() as u64);
            range.next += lines.len() as u64;
        }
        let (table, listed) = tree_rows::table(&heap, ask, &lines)?;
        let mut answer = Answer::default()
            .of_snapshot(self.snapshot.0)
            .fact(Column::count("children"), self.children)
            .table(table)
            .with_exactness(self.is_exact);
        answer.all_rows = self.range.map(|range| range.all);
        if self.range.is_some() && lines.is_empty() {
            answer = answer.note(match self.children {
                0 => "it has no children".to_owned(),
                children => format!("its children have the numbers 0 to {}", children - 1),
            });
        }
        let has_skipped = self.range.is_some() && ask.view.skip.is_some();
        let has_more = !self.source.is_empty() && self.range.is_none_or(|range| range.left > 0);
        let reply = if has_more { self.going_on(answer, ask) } else { answer.into() };
        Ok(reply.listing_page(ask, listed).skipping(has_skipped))
    }

    /// Says how many lines are left, and how to get them.
    fn going_on(self, answer: Answer, ask: &Ask) -> Reply {
        if ask.view.is_whole {
            let answer = Answer { goes_on: true, ..answer };
            return Reply::from(answer).with_more(move |ask| self.clone().answer(ask));
        }
        let of = &self.top;
        let (rest, way) = match (&self.source, self.range) {
            (_, Some(Range { left, next, .. })) => (Some(left), format!("`dominators {of}{next}..`")),
            (Source::Ready(lines), _) => (Some(lines.len() as u64), "a larger `--min`".to_owned()),
            _ => (None, format!("a larger `--min`, or `dominators {of}0..` for all children one by one")),
        };
        let rows = rest.map_or("… more rows".to_owned(), |left| format!("… {}", units::counted(left, "more row")));
        let note = if ask.view.is_paged { format!("{rows}: `more`") } else { format!("{rows}: {way}") };
        let answer = answer
            .fact(Column::text("complete").own_words().for_machines(), false)
            .fact(Column::count("more_rows").for_machines(), rest)
            .cut(note);
        Reply::from(answer).with_more(move |ask| self.clone().answer(ask))
    }
}

/// Children of one type, or one group of roots.
#[derive(Debug, Clone, Copy)]
struct TypeSum {
    children: u64,
    retained: (u64, u64),
    largest: (u64, Holder),
}

/// The children of a place, added up by type.
fn of_types(ask: &Ask, heap: &Heap, top: &TreeTop) -> Result<Reply, QueryError> {
    let meter = ask.meter();
    let types = heap.types(&meter)?;
    let found = heap.ask_dominators(&meter, |dominators| {
        let Some(place) = top.place(dominators) else { return Ok(None) };
        Ok::<_, QueryError>(Some((by_type(ask, dominators, place, types)?, dominators.is_exact())))
    })?;
    drop(meter);
    let Some((mut found, is_exact)) = found else { return Ok(unreached().into()) };
    found.sort_by_key(|(_, of)| (std::cmp::Reverse(of.retained.1), of.largest.1));
    let tables = heap.recording().tables()?;
    let mut listed = Listed::default();
    let table = table!("rows", &found, |(type_id, of)| {
        let roots = match of.largest.1 {
            Holder::Roots(name) => Some(tables.string(name)),
            _ => None,
        };
        let title = match roots {
            Some(name) => format!("roots: {name}"),
            None => type_id.map(|id| tables.type_title(id)).unwrap_or_default(),
        };
        let example = of.largest.1.object();
        Column::row_number() => example.map(|example| listed.push((heap.snapshot(), example))),
        Column::text("type").names() => title,
        Column::text("kind").names() => type_id.map(|id| tables.kind_name(tables.type_kind(id))),
        Column::text("roots").for_machines() => roots,
        Column::count("children") => of.children,
        Column::count("retained_objects").called("retain objects") => of.retained.0,
        Column::bytes("retained_bytes") => of.retained.1,
        Column::object("example").called("largest") => example.map(|example| example.0),
        Column::bytes("example_retained_bytes").called("it retains") => of.largest.0,
    });
    let answer = Answer::default()
        .of_snapshot(heap.snapshot().0)
        .fact(Column::count("children"), found.iter().map(|(_, of)| of.children).sum::<u64>())
        .table(table)
        .with_exactness(is_exact);
    Ok(more::first_page(ask, answer, ask.page_rows()).listing(listed))
}

/// The sums over the children of each type; each group of roots is on its own.
fn by_type(
    state: &State,
    dominators: &Dominators,
    top: TreePlace,
    types: &[u32],
) -> Result<Vec<(Option<TypeId>, TypeSum)>, QueryError> {
    let mut found: Vec<Option<TypeSum>> = vec![None; state.recording()?.tables()?.type_count()];
    let mut groups = Vec::new();
    for (at, child) in dominators.children(top).enumerate() {
        if at.is_multiple_of(1 << 16) {
            state.context.check()?;
        }
        let (holder, bytes) = (dominators.at(child), dominators.bytes_at(child));
        let of = TypeSum { children: 1, retained: (dominators.count_at(child), bytes), largest: (bytes, holder) };
        match holder.object().map(|object| &mut found[types[object.index()] as usize]) {
            None => groups.push((None, of)),
            Some(Some(sum)) => sum.add(&of),
            Some(none) => *none = Some(of),
        }
    }
    let found = (0..).map(TypeId).zip(found).filter_map(|(id, of)| Some((Some(id), of?)));
    Ok(found.chain(groups).collect())
}

impl TypeSum {
    /// Adds a child of the same type.
    #[inline]
    fn add(&mut self, child: &TypeSum) {
        self.children += 1;
        self.retained = (self.retained.0 + child.retained.0, self.retained.1.wrapping_add(child.retained.1));
        let ((most, first), (bytes, holder)) = (self.largest, child.largest);
        if bytes > most || bytes == most && holder < first {
            self.largest = child.largest;
        }
    }
}
