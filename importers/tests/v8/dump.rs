//! Snapshots made by hand.

use std::fmt::Write;

/// Which of V8's many versions writes the snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    /// Five fields of nodes, a title, no locations, spaces everywhere.
    Old,
    /// As Node.js 20.
    Now,
    /// Fields in another order, and some that are unknown.
    Later,
}

pub(crate) const VERSIONS: [Version; 3] = [Version::Old, Version::Now, Version::Later];

const NODE_TYPES: [&str; 15] = [
    "hidden",
    "array",
    "string",
    "object",
    "code",
    "closure",
    "regexp",
    "number",
    "native",
    "synthetic",
    "concatenated string",
    "sliced string",
    "symbol",
    "bigint",
    "object shape",
];
const EDGE_TYPES: [&str; 7] = ["context", "element", "property", "internal", "hidden", "shortcut", "weak"];

/// A snapshot under construction.
#[derive(Debug, Clone, Default)]
pub(crate) struct Dump {
    /// With the escapes of the dump.
    pub(crate) strings: Vec<String>,
    nodes: Vec<Node>,
    pub(crate) locations: Vec<[u64; 4]>,
    /// Functions of allocation traces, and the tree as text.
    functions: Vec<[u64; 6]>,
    pub(crate) trace_tree: String,
    /// Times and ids.
    pub(crate) samples: Vec<[u64; 2]>,
}

#[derive(Debug, Clone)]
struct Node {
    type_: u64,
    name: u64,
    id: u64,
    size: u64,
    trace: u64,
    detachedness: u64,
    edges: Vec<[u64; 3]>,
}

impl Dump {
    pub(crate) fn string(&mut self, text: &str) -> u64 {
        let known = self.strings.iter().position(|string| string == text);
        known.unwrap_or_else(|| {
            self.strings.push(text.to_owned());
            self.strings.len() - 1
        }) as u64
    }

    /// Adds a node of this type, name, id and size. Returns its row.
    pub(crate) fn node(&mut self, type_: &str, name: &str, id: u64, size: u64) -> u64 {
        let name = self.string(name);
        self.named_node(type_, name, id, size)
    }

    /// Likewise; its name is the string of this number.
    pub(crate) fn named_node(&mut self, type_: &str, name: u64, id: u64, size: u64) -> u64 {
        let type_ = NODE_TYPES.iter().position(|known| *known == type_).expect("a type of nodes") as u64;
        self.nodes.push(Node { type_, name, id, size, trace: 0, detachedness: 0, edges: Vec::new() });
        self.nodes.len() as u64 - 1
    }

    pub(crate) fn detached(&mut self, row: u64) {
        self.nodes[row as usize].detachedness = 2;
    }

    pub(crate) fn traced(&mut self, row: u64, trace: u64) {
        self.nodes[row as usize].trace = trace;
    }

    /// Adds a function of this name: script, line and column, counted from 1.
    fn function(&mut self, name: &str, script_name: &str, [script, line, column]: [u64; 3]) {
        let (name, script_name) = (self.string(name), self.string(script_name));
        self.functions.push([0, name, script_name, script, line, column]);
    }

    /// Adds an edge with a name.
    pub(crate) fn edge(&mut self, from: u64, type_: &str, name: &str, to: u64) {
        let name = self.string(name);
        self.numbered(from, type_, name, to);
    }

    /// Adds an edge with a number.
    pub(crate) fn numbered(&mut self, from: u64, type_: &str, index: u64, to: u64) {
        let type_ = EDGE_TYPES.iter().position(|known| *known == type_).expect("a type of edges") as u64;
        self.nodes[from as usize].edges.push([type_, index, to]);
    }

    pub(crate) fn location(&mut self, row: u64, place: [u64; 3]) {
        self.locations.push([row, place[0], place[1], place[2]]);
    }

    /// The snapshot's text.
    pub(crate) fn text(&self, version: Version) -> String {
        let fields = match version {
            Version::Old => vec!["type", "name", "id", "self_size", "edge_count"],
            Version::Now => vec!["type", "name", "id", "self_size", "edge_count", "trace_node_id", "detachedness"],
            Version::Later => vec!["id", "detachedness", "edge_count", "colour", "name", "self_size", "type", "taste"],
        };
        let edge_fields = if version == Version::Later {
            vec!["to_node", "weight", "type", "name_or_index"]
        } else {
            vec!["type", "name_or_index", "to_node"]
        };
        let edge_count: usize = self.nodes.iter().map(|node| node.edges.len()).sum();
        let description = format!(
            r#"{{"meta":{{"node_fields":{fields:?},"node_types":{},"edge_fields":{edge_fields:?},"edge_types":{}{}}},
"node_count":{},"edge_count":{edge_count},"trace_function_count":0}}"#,
            types(&fields, &NODE_TYPES),
            types(&edge_fields, &EDGE_TYPES),
            match version {
                Version::Old => "",
                Version::Now => {
                    r#","location_fields":["object_index","script_id","line","column"],
"sample_fields":["timestamp_us","last_assigned_id"],
"trace_function_info_fields":["function_id","name","script_name","script_id","line","column"],
"trace_node_fields":["id","function_info_index","count","size","children"]"#
                }
                Version::Later => r#","location_fields":["object_index","script_id","line","column"]"#,
            },
            self.nodes.len(),
        );
        let mut nodes = Vec::new();
        let mut edges = Vec::new();
        for node in &self.nodes {
            nodes.push(record(&fields, |field| match field {
                "type" => node.type_,
                "name" => node.name,
                "id" => node.id,
                "self_size" => node.size,
                "edge_count" => node.edges.len() as u64,
                "trace_node_id" => node.trace,
                "detachedness" => node.detachedness,
                "colour" => 1_234_567_890_123,
                _ => 0,
            }));
            edges.extend(node.edges.iter().map(|&[type_, name, to]| {
                record(&edge_fields, |field| match field {
                    "type" => type_,
                    "name_or_index" => name,
                    "to_node" => to * fields.len() as u64,
                    _ => 12_345_678,
                })
            }));
        }
        let strings = self.strings.iter().map(|string| format!("\"{string}\"")).collect::<Vec<_>>();
        let locations = self
            .locations
            .iter()
            .map(|&[row, script, line, column]| format!("{},{script},{line},{column}", row * fields.len() as u64));
        let locations = locations.collect::<Vec<_>>().join("\n,");
        let samples = self.samples.iter().flatten().map(u64::to_string).collect::<Vec<_>>().join(",");
        let functions = self.functions.iter().flatten().map(u64::to_string).collect::<Vec<_>>().join(",");
        match version {
            Version::Old => format!(
                " {{ \"snapshot\" : {}, \"nodes\" : [ {} ] ,\n\"edges\": [{} ],\r\n\"strings\" :[ {} ] }} \n",
                description.replacen('{', "{\"title\": \"by hand\",", 1),
                nodes.join(" , "),
                edges.join(",\n\t"),
                strings.join(" ,\n "),
            ),
            Version::Now => format!(
                "{{\"snapshot\":{description},\n\"nodes\":[{}\n],\n\"edges\":[{}\n],\n\"trace_function_infos\":[{functions}],\n\
                 \"trace_tree\":[{}],\n\"samples\":[{samples}],\n\"locations\":[{locations}\n],\n\"strings\":[{}]}}",
                nodes.join("\n,"),
                edges.join("\n,"),
                self.trace_tree,
                strings.join(",\n"),
            ),
            // Nothing says that strings come last.
            Version::Later => format!(
                "{{\"snapshot\":{description},\"strings\":[{}],\"future\":{{\"]\":[1,[2,\"}}\"]]}},\"edges\":[{}],\
                 \"more\":null,\"locations\":[{locations}],\"nodes\":[{}]}}",
                strings.join(","),
                edges.join(","),
                nodes.join(","),
            ),
        }
    }
}

fn types(fields: &[&str], types: &[&str]) -> String {
    let mut text = String::from("[");
    for field in fields {
        let separator = if text.len() == 1 { "" } else { "," };
        let _ = match *field {
            "type" => write!(text, "{separator}{types:?}"),
            _ => write!(text, "{separator}\"number\""),
        };
    }
    text + "]"
}

fn record(fields: &[&str], value: impl Fn(&str) -> u64) -> String {
    fields.iter().map(|field| value(field).to_string()).collect::<Vec<_>>().join(",")
}

/// Something of every sort.
pub(crate) fn tiny() -> Dump {
    let mut dump = Dump::default();
    dump.string("<dummy>");
    let root = dump.node("synthetic", "", 1, 0);
    let roots = dump.node("synthetic", "(GC roots)", 3, 0);
    let global = dump.node("object", "Window", 5, 48);
    let map = dump.node("object shape", "system / Map", 7, 80);
    let card = dump.node("object", "Card", 9, 24);
    let other_card = dump.node("object", "Card", 11, 32);
    let text = dump.node("string", r"gr\u00f6\u00dfer \ud83d\ude00 \ud83d \n", 13, 16);
    let closure = dump.node("closure", "deal", 15, 64);
    let div = dump.node("native", r#"<div id=\"a\">"#, 17, 100);
    let attached = dump.node("native", r#"<div class=\"b\">"#, 19, 200);
    let table = dump.node("array", "", 21, 400);
    let key = dump.node("object", "Key", 23, 12);
    let value = dump.node("object", "Value", 25, 13);
    let orphan = dump.node("hidden", "system / Cell", 27, 14);
    dump.detached(div);
    dump.location(closure, [70, 3, 9]);
    dump.location(card, [70, 11, 4]);
    dump.location(other_card, [70, 12, 4]);

    dump.function("(root)", "", [0, 0, 0]);
    dump.function("main", "cards.js", [70, 1, 1]);
    dump.function("", "", [71, 0, 0]);
    dump.trace_tree = "1,0,0,0,[2,1,3,48,[3,2,1,24,[]],\n4,1,1,12,[]]".to_owned();
    dump.traced(text, 1);
    dump.traced(card, 3);
    dump.traced(key, 4);

    dump.edge(root, "shortcut", "1", global);
    dump.numbered(root, "element", 1, roots);
    dump.edge(roots, "internal", "1 / (builtins)", map);
    dump.edge(global, "property", "card", card);
    dump.edge(global, "property", "12", other_card);
    dump.edge(global, "internal", "table", table);
    dump.edge(global, "weak", "7", orphan);
    dump.edge(global, "internal", "map", map);
    dump.numbered(card, "element", 0, text);
    dump.numbered(card, "element", 1, closure);
    dump.edge(card, "context", "key", key);
    dump.numbered(card, "hidden", 3, card);
    dump.edge(closure, "shortcut", "bound_this", orphan);
    dump.edge(closure, "internal", "native", div);
    dump.edge(div, "property", "next", attached);
    dump.edge(table, "weak", "0", key);
    dump.edge(table, "weak", "1", value);
    dump.edge(table, "internal", "1 / part of key (Key @23) -> value (Value @25) pair in WeakMap (table @21)", value);
    dump.edge(key, "internal", "2 / part of key (Key @23) -> value (Value @25) pair in WeakMap (table @21)", value);
    dump
}
