//! The dominator tree: lists within lists, which open without a script.

use barrow_query::answer::text::quoted;
use barrow_query::answer::{Answer, Value, units};

use crate::html::Html;
use crate::rows::Rows;

/// Levels of lists. A browser shows no more than some hundred; what is deeper is on the last one, with its level.
const LEVELS: u64 = 24;
/// Levels that are open.
const OPEN: u64 = 2;

/// Characters of the name of an object that are shown.
const LONGEST_NAME: usize = 60;

/// A place of the tree.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) depth: u64,
    pub(crate) title: String,
    pub(crate) retained: u64,
    /// Bytes of its own, and of what is left out below it.
    pub(crate) rest: u64,
    objects: u64,
    left_out: (u64, u64),
}

/// The places of an answer, each before those below it.
pub(crate) fn places(answer: &Answer, with_texts: bool) -> Vec<Place> {
    let Some(rows) = Rows::of(answer, "rows") else { return Vec::new() };
    let place = |row: usize| {
        let type_name = rows.text(row, "type");
        let title = match rows.value(row, "object") {
            Value::Number(object) => format!("{type_name} @{object}"),
            _ => type_name.to_owned(),
        };
        let title = match rows.value(row, "name") {
            Value::Name(name) if with_texts => format!("{title} {}", quoted(name, LONGEST_NAME)),
            _ => title,
        };
        let left_out = (rows.number(row, "left_out"), rows.number(row, "left_out_bytes"));
        Place {
            depth: rows.number(row, "depth"),
            title,
            retained: rows.number(row, "retained_bytes"),
            rest: rows.number(row, "shallow_bytes") + rows.number(row, "unmanaged_bytes") + left_out.1,
            objects: rows.number(row, "retained_objects"),
            left_out,
        }
    };
    (0..rows.len()).map(place).collect()
}

/// Draws them as lists.
pub(crate) fn draw(html: &mut Html, places: &[Place]) {
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

fn line(html: &mut Html, place: &Place, whole: u64) {
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

/// Keeps the `most` places that retain most, and adds the others to what is left out.
pub(crate) fn prune(places: &mut Vec<Place>, most: usize) {
    let mut sizes: Vec<u64> = places.iter().map(|place| place.retained).collect();
    sizes.sort_unstable_by_key(|&bytes| std::cmp::Reverse(bytes));
    // Those that tie with the first one beyond are left out as well; the top stays.
    let Some(&floor) = sizes.get(most) else { return };
    let mut above: Vec<usize> = Vec::new();
    let mut kept: Vec<Place> = Vec::new();
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
