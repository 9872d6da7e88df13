//! The dominator tree: lists within lists, which open without a script.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use barrow_query::answer::text::{quoted, shortened};
use barrow_query::answer::{Answer, Value, units};

use crate::html::Html;
use crate::rows::Rows;

/// Levels of lists. A browser shows no more than some hundred; what is deeper is on the last one, with its level.
const LEVELS: u64 = 24;
/// Levels that are open: with more, the first screen shows only the largest branch. This is a judgement.
const OPEN: u64 = 2;

/// Characters of the name or the line of an object that are shown: its sizes fit beside it. This is a judgement.
const LONGEST_NAME: usize = 60;

/// A place of the tree.
#[derive(Debug, Clone)]
pub(crate) struct TreeNode {
    pub(crate) depth: u64,
    pub(crate) title: String,
    pub(crate) type_name: String,
    pub(crate) retained: u64,
    /// Bytes of its own, and of what is left out below it.
    pub(crate) rest: u64,
    objects: u64,
    left_out: (u64, u64),
}

/// The places of an answer, each before those below it.
pub(crate) fn places(answer: &Answer, with_texts: bool) -> Vec<TreeNode> {
    let Some(rows) = Rows::of(answer, "rows") else { return Vec::new() };
    let place = |row: usize| {
        let (type_name, chain) = (rows.text(row, "type"), rows.text(row, "chain"));
        let title = match rows.value(row, "object") {
            Value::Number(object) if chain.is_empty() => format!("{type_name} @{object}"),
            Value::Number(object) => format!("{chain} from @{object}"),
            _ => type_name.to_owned(),
        };
        let title = match (rows.value(row, "line"), rows.value(row, "name")) {
            (Value::Line(line), _) if with_texts => format!("{title}: {}", shortened(line, LONGEST_NAME)),
            (_, Value::Name(name)) if with_texts => format!("{title} {}", quoted(name, LONGEST_NAME)),
            _ => title,
        };
        let left_out = (rows.number(row, "left_out"), rows.number(row, "left_out_bytes"));
        TreeNode {
            depth: rows.number(row, "depth"),
            title,
            type_name: type_name.to_owned(),
            retained: rows.number(row, "retained_bytes"),
            // A chain has the bytes of all its objects instead of those of one.
            rest: ["shallow_bytes", "unmanaged_bytes", "chain_own_bytes"]
                .map(|key| rows.number(row, key))
                .iter()
                .sum::<u64>()
                + left_out.1,
            objects: rows.number(row, "retained_objects"),
            left_out,
        }
    };
    (0..rows.len()).map(place).collect()
}

/// Draws them as lists.
pub(crate) fn draw(html: &mut Html, places: &[TreeNode]) {
    let whole = places.first().map_or(1, |place| place.retained.max(1));
    let mut open = 0;
    html.open("div", &[("class", "tree")]);
    for (at, place) in places.iter().enumerate() {
        let level = place.depth.min(LEVELS);
        while open > level {
            html.close("details");
            open -= 1;
        }
        let has_more = places.get(at + 1).is_some_and(|next| next.depth > place.depth);
        let is_list = has_more && place.depth < LEVELS;
        if is_list {
            let is_open: &[(&'static str, &str)] = if place.depth < OPEN { &[("open", "")] } else { &[] };
            html.open("details", is_open);
            html.element("summary", &[], |html| line(html, place, whole));
            open += 1;
        } else {
            html.element("p", &[], |html| line(html, place, whole));
        }
    }
    (0..open).for_each(|_| html.close("details"));
    html.close("div");
}

fn line(html: &mut Html, place: &TreeNode, whole: u64) {
    html.leaf("b", &[], &units::size(place.retained));
    html.text(&format!(" {:.1} % ", place.retained as f64 / whole as f64 * 100.0));
    if place.depth > LEVELS {
        html.leaf("i", &[], &format!("level {} ", place.depth));
    }
    html.leaf("bdi", &[], &place.title);
    let mut rest = format!(" {}", units::counted(place.objects, "object"));
    if place.left_out.0 > 0 {
        let smaller = units::grouped(place.left_out.0);
        rest.push_str(&format!(", {smaller} smaller below: {}", units::size(place.left_out.1)));
    }
    html.leaf("small", &[], &rest);
}

/// Types of small places that are named: those that hold most, which say what they are. This is a judgement.
const TYPES: usize = 24;

/// Divides what is left out below the top by type. `by_type` has all children of the top.
pub(crate) fn divide(places: &mut Vec<TreeNode>, by_type: &Answer) {
    let (Some(rows), Some(top)) = (Rows::of(by_type, "rows"), places.first()) else { return };
    let left_out = top.left_out;
    let mut types: BTreeMap<&str, (u64, u64, u64)> = BTreeMap::new();
    for row in 0..rows.len() {
        let of = types.entry(rows.text(row, "type")).or_default();
        of.0 += rows.number(row, "children");
        of.1 += rows.number(row, "retained_objects");
        of.2 += rows.number(row, "retained_bytes");
    }
    for place in places.iter().filter(|place| place.depth == 1) {
        if let Some(of) = types.get_mut(&*place.type_name) {
            *of = (of.0.saturating_sub(1), of.1.saturating_sub(place.objects), of.2.saturating_sub(place.retained));
        }
    }
    let mut types: Vec<_> = types.into_iter().filter(|(_, of)| of.0 > 0).collect();
    let whole: u64 = types.iter().map(|(_, of)| of.2).sum();
    if whole != left_out.1 {
        return;
    }
    types.sort_by_key(|&(name, of)| (Reverse(of.2), name));
    for &(name, (count, objects, retained)) in types.iter().take(TYPES) {
        let title = format!("{name}, {} smaller", units::grouped(count));
        let type_name = name.to_owned();
        places.push(TreeNode { depth: 1, title, type_name, retained, rest: retained, objects, left_out: (0, 0) });
        let top = &mut places[0];
        top.rest -= retained;
        top.left_out = (top.left_out.0 - count, top.left_out.1 - retained);
    }
}

/// Keeps the `most` places that retain most, and adds the others to what is left out.
pub(crate) fn prune(places: &mut Vec<TreeNode>, most: usize) {
    let mut sizes: Vec<u64> = places.iter().map(|place| place.retained).collect();
    sizes.sort_unstable_by_key(|&bytes| Reverse(bytes));
    // Those that tie with the first one beyond are left out as well; the top stays.
    let Some(&floor) = sizes.get(most) else { return };
    let mut above: Vec<usize> = Vec::new();
    let mut kept: Vec<TreeNode> = Vec::new();
    for (at, place) in places.drain(..).enumerate() {
        above.truncate(place.depth as usize);
        if at == 0 || place.retained > floor {
            above.push(kept.len());
            kept.push(place);
        } else if let Some(&parent) = above.get(place.depth as usize - 1) {
            // Only the first place below one that is kept; those below it are a part of it.
            let parent = &mut kept[parent];
            parent.rest += place.retained;
            parent.left_out.0 += 1;
            parent.left_out.1 += place.retained;
        }
    }
    *places = kept;
}
