//! The dominator tree as a map: a rectangle for each place, within that of its dominator. Its area is what it retains.

use barrow_query::answer::units;

use crate::colour::class;
use crate::html::Html;
use crate::squarify::{Rect, squarify};
use crate::tree::TreeNode;

const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 500.0;
/// A smaller rectangle cannot be seen: its place is a part of the one around it.
const LEAST: f64 = 2.0;
/// A rectangle of this size has a name in it.
const NAMED: (f64, f64) = (90.0, 16.0);
/// The width of a letter, in the unit of the map: about that of the font of the style sheet, so that names fit their
/// rectangles.
const LETTER: f64 = 6.2;

/// Draws the map of a tree, whose first place is the whole.
pub(crate) fn draw(html: &mut Html, places: &[TreeNode]) {
    let Some(whole) = places.first().filter(|whole| whole.retained > 0) else { return };
    let view = format!("0 0 {WIDTH} {HEIGHT}");
    let told = format!(
        "Map of what {} retain: an area for each of {} of the dominator tree; the list below has the same places",
        units::size(whole.retained),
        units::counted(places.len() as u64, "place")
    );
    html.element("svg", &[("viewBox", &view), ("role", "img"), ("aria-label", &told), ("class", "map")], |html| {
        for cell in cells(places) {
            rectangle(html, &places[cell.place], cell.room);
        }
    });
}

/// A place and its rectangle.
#[derive(Debug, Clone, Copy)]
struct Cell {
    place: usize,
    room: Rect,
}

/// The rectangles, each before those within it.
fn cells(places: &[TreeNode]) -> Vec<Cell> {
    let whole = Rect { x: 0.0, y: 0.0, width: WIDTH, height: HEIGHT };
    let mut open = vec![Cell { place: 0, room: whole }];
    let mut found = Vec::new();
    while let Some(cell) = open.pop() {
        found.push(cell);
        let mut below = children(places, cell.place);
        if below.is_empty() || cell.room.width * cell.room.height < LEAST {
            continue;
        }
        below.sort_by_key(|&child| std::cmp::Reverse(places[child].retained));
        // The place's own size, and the part that is left out, form a rectangle as well: the place itself shows there.
        let mut parts: Vec<(u64, Option<usize>)> = below.iter().map(|&at| (places[at].retained, Some(at))).collect();
        parts.push((places[cell.place].rest, None));
        parts.sort_by_key(|&(bytes, _)| std::cmp::Reverse(bytes));
        let sizes: Vec<u64> = parts.iter().map(|&(bytes, _)| bytes).collect();
        let rooms = squarify(&sizes, cell.room);
        for (&(_, place), room) in parts.iter().zip(rooms).rev() {
            if let Some(place) = place.filter(|_| room.width * room.height >= LEAST) {
                open.push(Cell { place, room });
            }
        }
    }
    found
}

/// The places directly below one.
fn children(places: &[TreeNode], at: usize) -> Vec<usize> {
    let depth = places[at].depth;
    let below = (at + 1..places.len()).take_while(|&next| places[next].depth > depth);
    below.filter(|&next| places[next].depth == depth + 1).collect()
}

fn rectangle(html: &mut Html, place: &TreeNode, room: Rect) {
    let number = |value: f64| format!("{value:.1}");
    let [x, y, width, height] = [room.x, room.y, room.width, room.height].map(number);
    let told = format!("{}: {}", place.title, units::size(place.retained));
    let class = class(&place.type_name);
    html.element("rect", &[("x", &x), ("y", &y), ("width", &width), ("height", &height), ("class", &class)], |html| {
        html.leaf("title", &[], &told);
    });
    if room.width >= NAMED.0 && room.height >= NAMED.1 {
        let name = end(&place.type_name, (room.width / LETTER) as usize);
        let [x, y] = [room.x + 3.0, room.y + 12.0].map(number);
        html.leaf("text", &[("x", &x), ("y", &y)], &name);
    }
}

/// A name in so many letters: the end of it says most.
fn end(name: &str, letters: usize) -> String {
    let before = name.chars().count().saturating_sub(letters);
    if before == 0 { name.to_owned() } else { std::iter::once('…').chain(name.chars().skip(before + 1)).collect() }
}

#[cfg(test)]
mod tests {
    use barrow_query::{Question, Session, Settings, Workspace};
    use barrow_testdata::Graph;

    use super::*;
    use crate::tree::{divide, places};

    fn session(file: &std::path::Path) -> Session {
        let settings = Settings { no_index: true, ..Settings::default() };
        let mut session = Session::new(Workspace::new(None, Some(2)).unwrap(), settings);
        session.open(&file.display().to_string()).unwrap();
        session
    }

    /// A list of two types in turn, whose objects hold a leaf each.
    fn list_in_turn() -> Graph {
        let mut graph = Graph { roots: vec![(1, 0)], ..Graph::default() };
        for object in 0..400 {
            graph.types.push([0, 1, 3][object as usize % 3]);
            graph.sizes.push((30, 0));
            let strong = |to| (to, barrow_writer::StrengthClass::Strong);
            let to = [vec![object + 1, object + 2], vec![object + 2], vec![]][object as usize % 3].clone();
            graph.references.push(to.into_iter().filter(|&to| to < 400).map(strong).collect());
        }
        graph
    }

    #[test]
    fn a_chain_has_the_bytes_of_all_its_objects() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("list.barrow");
        std::fs::write(&file, Graph::bytes_of(&[&list_in_turn()], None)).unwrap();
        let question = Question::of_line("dominators --cells 300").unwrap().unwrap();
        let places = places(&session(&file).ask(&question).unwrap(), false);
        let chain = places.iter().find(|place| place.title.contains('×')).unwrap();
        assert_eq!(chain.retained, 400 * 30, "{places:?}");
        for (at, place) in places.iter().enumerate() {
            let below: u64 = children(&places, at).iter().map(|&child| places[child].retained).sum();
            assert_eq!(place.retained, below + place.rest, "{place:?}");
        }
    }

    /// The area of a rectangle is what its place retains, and what no child covers is the rest of the place.
    #[test]
    fn areas_add_up() {
        let mut session = session(&barrow_testdata::path("invoices.barrow"));
        let question = Question::of_line("dominators --cells 300").unwrap().unwrap();
        let mut places = places(&session.ask(&question).unwrap(), false);
        let by_type = Question::of_line("dominators by type").unwrap().unwrap();
        let before = places.len();
        divide(&mut places, &session.ask(&by_type).unwrap());
        assert!(places.len() > before + 5);
        let whole = places[0].retained as f64;
        for (at, place) in places.iter().enumerate() {
            let below: u64 = children(&places, at).iter().map(|&child| places[child].retained).sum();
            assert_eq!(place.retained, below + place.rest, "{place:?}");
        }
        let cells = cells(&places);
        assert!(cells.len() > 50);
        for cell in &cells {
            let area = cell.room.width * cell.room.height / (WIDTH * HEIGHT);
            assert!((area - places[cell.place].retained as f64 / whole).abs() < 1e-6);
        }
    }
}
