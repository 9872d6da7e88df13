//! Snapshots of V8: one JSON object, whose tables follow each other.

use std::fmt::Write;

use super::choices::Choices;
use super::objects::assert_part;

const META: &str = r#"{"snapshot":{"meta":{"node_fields":["type","name","id","self_size","edge_count","trace_node_id","detachedness"],"node_types":[["hidden","array","string","object","code","closure","regexp","number","native","synthetic"],"string","number","number","number","number","number"],"edge_fields":["type","name_or_index","to_node"],"edge_types":[["context","element","property","internal","hidden","shortcut","weak"],"string_or_number","node"]}"#;
/// Numbers of a node.
const FIELDS: usize = 7;
const STRINGS: [&str; 5] = ["Node", "Pair", "next", "(root)", "a text"];

/// Makes a snapshot as the bytes say; cuts it, or puts something between its tables' numbers, as they say; and imports it.
///
/// # Panics
/// If what is recovered is no part of what was made.
pub fn damaged_v8(input: &[u8]) {
    let choices = &mut Choices::new(input);
    let count = 1 + choices.up_to(20);
    let (mut nodes, mut edges, mut edge_count) = (Vec::new(), Vec::new(), 0);
    for number in 0..count {
        let own = choices.up_to(3);
        let (kind, name) = match (number, choices.byte() % 3) {
            (0, _) => (9, 3),
            (_, 0) => (2, 4),
            (_, kind) => (3, usize::from(kind) - 1),
        };
        nodes.push(format!("{kind},{name},{},{},{own},0,0\n", 2 * number + 1, 16 + 8 * number));
        for _ in 0..own {
            let (kind, name) = if choices.byte().is_multiple_of(2) { (2, 2) } else { (1, choices.up_to(9)) };
            edges.push(format!("{kind},{name},{}\n", FIELDS * choices.below(count)));
        }
        edge_count += own;
    }
    let mut whole = META.to_owned();
    write!(whole, r#","node_count":{count},"edge_count":{edge_count}}},"#).expect("memory");
    let strings = STRINGS.map(|text| format!("{text:?}")).join(",\n");
    let tables_at = whole.len();
    let (nodes, edges) = (nodes.join(","), edges.join(","));
    let empty = r#""trace_function_infos":[],"trace_tree":[],"samples":[],"locations":[]"#;
    write!(whole, r#""nodes":[{nodes}],"edges":[{edges}],{empty},"strings":[{strings}]}}"#).expect("memory");
    let mut damaged = whole.clone().into_bytes();
    let at = choices.up_to(damaged.len());
    if choices.byte().is_multiple_of(2) || at < tables_at {
        damaged.truncate(at);
    } else {
        // In place of a sign, so that no number becomes another.
        let signs = |byte: &u8| b",[]{}\":\n".contains(byte);
        if let Some(sign) = damaged[at..].iter().position(signs) {
            damaged[at + sign] = [b'!', b'}', b'"', 0, 0xff][choices.below(5)];
        }
    }
    assert_part(whole.as_bytes(), &damaged, |object| object.serial, input);
}
