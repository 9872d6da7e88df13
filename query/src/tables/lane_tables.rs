//! Lanes as tables: blocks for machines, a picture for people, and what the classes did.

use std::cmp::Reverse;

use barrow_processes::{Block, Blocks, ClassUse, ImageId, LabelId, Lanes, Memory, ProcessTree, Schema, Sum, Window};

use super::process_text::time;
use crate::answer::{Audience, Column, Mark, Table, Value, units};

/// What the estimates are.
pub(crate) const ESTIMATE: &str = "cpu and waiting are estimates: processes that ran partly in this time count with that \
                                   part of what they used";
/// Classes that are listed; the others are together. A screen has no room for more.
const MOST_CLASSES: usize = 100;
/// Classes that have a column of their own in the memory: as many as the page has colours.
const CLASSES_OF_MEMORY: usize = 8;
/// Characters of a name that a block repeats, and of the name of a class. A block is seldom wider than the first, and
/// an answer has thousands; the second is whole unless it is hostile.
const LONGEST_NAME: usize = 100;
const LONGEST_CLASS: usize = 1000;
/// The most parts of a lane in a picture: more are narrower than a pixel or a character.
const MOST_PARTS: usize = 1000;

/// A window of lanes, with its classes.
pub(crate) struct LaneTables<'a> {
    tree: &'a ProcessTree,
    schema: &'a Schema,
    /// What processes build, if that is known.
    units: Option<&'a Schema>,
    window: Window,
    /// By label.
    classes: Vec<ClassUse>,
    /// Labels, that first which ran longest in the whole recording: so a class has one colour in all windows.
    ranked: Vec<LabelId>,
    /// The place of each label among them.
    ranks: Vec<usize>,
}

impl<'a> LaneTables<'a> {
    pub(crate) fn new(tree: &'a ProcessTree, lanes: &Lanes, schema: &'a Schema, window: Window) -> Self {
        let whole = lanes.classes(tree, schema, Window::of(tree));
        let mut ranked: Vec<LabelId> = (0..whole.len() as u32).map(LabelId).collect();
        ranked.sort_by_key(|label| Reverse(whole[label.index()].running_ns));
        let mut ranks = vec![0; ranked.len()];
        ranked.iter().enumerate().for_each(|(rank, label)| ranks[label.index()] = rank);
        let classes = if window == Window::of(tree) { whole } else { lanes.classes(tree, schema, window) };
        LaneTables { tree, schema, units: None, window, classes, ranked, ranks }
    }

    /// The same, whose blocks tell what their processes build: the labels of a schema.
    pub(crate) fn named(self, units: Option<&'a Schema>) -> Self {
        LaneTables { units, ..self }
    }

    /// How long anything of a class ran.
    pub(crate) fn running_ns(&self) -> u64 {
        self.classes.iter().fold(0, |sum: u64, class| sum.saturating_add(class.running_ns))
    }

    /// Whether the window is a part of the recording.
    pub(crate) fn is_partial(&self) -> bool {
        let all = Window::of(self.tree);
        self.window.from_ns > all.from_ns || self.window.to_ns < all.to_ns
    }

    /// A row for each block.
    pub(crate) fn blocks(&self, key: &'static str, blocks: &Blocks) -> Table {
        let columns = vec![
            Column::number("lane"),
            Column::duration("from_ns"),
            Column::duration("to_ns"),
            Column::text("class"),
            Column::number("rank").called(""),
            Column::duration("class_ns").called("of the class"),
            Column::duration("running_ns"),
            Column::duration("critical_ns"),
            Column::count("spans"),
            Column::process("process"),
            Column::number("image"),
            Column::text("program"),
            Column::text("unit"),
            // Of all of the image, not only in this block: the system does not tell when it waited.
            Column::duration("image_waiting_ns").called(""),
            Column::duration("image_wall_ns").called(""),
        ];
        let rows = blocks.blocks.iter().map(|block| self.block(block)).collect();
        Table { key, audience: Audience::Machines, columns, rows }
    }

    fn block(&self, block: &Block) -> Vec<Value> {
        let image = block.image.map(|id| self.tree.image(id));
        vec![
            block.lane.into(),
            time(block.from_ns),
            time(block.to_ns),
            block.label.map(|label| cut(self.schema.text(label), LONGEST_NAME)).into(),
            block.label.map(|label| self.ranks[label.index()]).into(),
            block.label_ns.into(),
            block.running_ns.into(),
            block.marked_ns.into(),
            block.spans.into(),
            image.map(|image| self.tree.name(image.process)).into(),
            image.map(|image| image.number).into(),
            block.image.and_then(|id| self.program(id)).map(|program| cut(program, LONGEST_NAME)).into(),
            block.image.and_then(|id| self.units?.class(id)).map(|unit| cut(unit, LONGEST_NAME)).into(),
            image.and_then(|image| image.used.waiting_ns).into(),
            image.map(|image| self.tree.wall_ns(image)).into(),
        ]
    }

    /// The name of the program of an image.
    fn program(&self, id: ImageId) -> Option<&'a str> {
        let image = self.tree.image(id);
        let path = self.tree.arguments(image).next().or_else(|| self.tree.executable(image))?;
        path.rsplit('/').next()
    }

    /// The memory of all processes over time, and that of the first classes.
    pub(crate) fn memory(&self, memory: &[Memory]) -> Table {
        let columns = vec![
            Column::duration("time_ns"),
            Column::bytes("bytes").called("memory"),
            Column::nested("class_bytes").called(""),
        ];
        let first = &self.ranked[..self.ranked.len().min(CLASSES_OF_MEMORY)];
        let rows = memory.iter().map(|at| {
            let of = first.iter().map(|label| at.by_label[label.index()].into()).collect();
            vec![time(at.time_ns), at.bytes.into(), Value::List(of)]
        });
        Table { key: "memory", audience: Audience::Machines, rows: rows.collect(), columns }
    }

    /// What the classes did in the window, that first which ran longest in it.
    pub(crate) fn classes(&self) -> Table {
        let columns = vec![
            Column::picture("mark").called("").for_people(),
            Column::text("class"),
            Column::number("rank").for_machines(),
            Column::count("images").called("programs"),
            Column::duration("running_ns"),
            Column::share("running_share").called("share"),
            Column::duration("cpu_ns"),
            Column::duration("waiting_ns"),
            Column::bytes("peak_bytes").called("peak together"),
        ];
        let mut present: Vec<LabelId> =
            self.ranked.iter().copied().filter(|label| self.classes[label.index()].images > 0).collect();
        present.sort_by_key(|label| Reverse(self.classes[label.index()].running_ns));
        let all = self.running_ns();
        let listed = present.len().min(MOST_CLASSES);
        let mut rows: Vec<Vec<Value>> = present[..listed].iter().map(|&label| self.class(label, all)).collect();
        if let [first, others @ ..] = &present[listed..] {
            let mut sum = self.classes[first.index()];
            for other in others.iter().map(|label| &self.classes[label.index()]) {
                sum.images = sum.images.saturating_add(other.images);
                sum.running_ns = sum.running_ns.saturating_add(other.running_ns);
                sum.cpu_ns.add_all(other.cpu_ns);
                sum.waiting_ns.add_all(other.waiting_ns);
            }
            sum.peak_bytes = None;
            let name = format!("{} other classes", units::grouped((others.len() + 1) as u64));
            rows.push(self.row(&sum, name.into(), Value::None, Mark::Other, all));
        }
        Table { key: "classes", audience: Audience::Everyone, columns, rows }
    }

    fn class(&self, label: LabelId, all: u64) -> Vec<Value> {
        let rank = self.ranks[label.index()];
        self.row(
            &self.classes[label.index()],
            cut(self.schema.text(label), LONGEST_CLASS).into(),
            rank.into(),
            rank_mark(rank),
            all,
        )
    }

    fn row(&self, class: &ClassUse, name: Value, rank: Value, mark: Mark, all: u64) -> Vec<Value> {
        let spent = |sum: Sum| {
            let value = Value::from(sum.value());
            if self.is_partial() { value.estimated() } else { value }
        };
        vec![
            Value::Mark(mark),
            name,
            rank,
            class.images.into(),
            class.running_ns.into(),
            Value::share(class.running_ns, all),
            spent(class.cpu_ns),
            spent(class.waiting_ns),
            class.peak_bytes.into(),
        ]
    }

    /// The critical path and each lane, for people: in each of `parts` the class that ran longest.
    pub(crate) fn picture(&self, path: &Blocks, blocks: &Blocks, parts: usize) -> Table {
        let columns = vec![Column::text("lane"), Column::duration("running_ns"), Column::picture("picture").called("")];
        let parts = parts.clamp(1, MOST_PARTS);
        let row = |name: String, of_lane: &[Block]| {
            let running = of_lane.iter().fold(0u64, |sum, block| sum.saturating_add(block.running_ns));
            vec![name.into(), running.into(), Value::Lane(self.marks(of_lane, parts))]
        };
        let lanes = blocks.blocks.chunk_by(|one, other| one.lane == other.lane);
        let first = Some(&path.blocks[..]).filter(|path| !path.is_empty()).map(|path| row("critical".to_owned(), path));
        let rows = first.into_iter().chain(lanes.map(|of_lane| row(of_lane[0].lane.to_string(), of_lane)));
        Table { key: "picture", audience: Audience::People, rows: rows.collect(), columns }
    }

    fn marks(&self, blocks: &[Block], parts: usize) -> Vec<Mark> {
        let length = u128::from(self.window.length_ns().max(1));
        let place = |time_ns: i64| u128::from(self.window.from_ns.abs_diff(time_ns)) * parts as u128;
        // The time of each part that is covered by the block that covers most of it.
        let mut most = vec![(0, Mark::Nothing); parts];
        for block in blocks {
            let mark = block.label.map_or(Mark::Other, |label| rank_mark(self.ranks[label.index()]));
            let (from, to) = (place(block.from_ns), place(block.to_ns));
            for part in from / length..=((to - 1) / length).min(parts as u128 - 1) {
                let covered = to.min((part + 1) * length) - from.max(part * length);
                let before = &mut most[part as usize];
                if covered > before.0 {
                    *before = (covered, mark);
                }
            }
        }
        most.into_iter().map(|(_, mark)| mark).collect()
    }
}

/// The beginning of a text.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

fn rank_mark(rank: usize) -> Mark {
    u32::try_from(rank).map_or(Mark::Other, Mark::Rank)
}
