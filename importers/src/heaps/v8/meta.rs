//! The description of a snapshot: its fields, their order and their types.
//!
//! V8 has added fields and types over the years; nothing here depends on their positions.

use serde_json::Value;

use crate::error::Damage;

/// The last type of nodes and of edges: all numbers that the snapshot does not name. V8 has added types before their
/// names.
pub(crate) const UNNAMED: &str = "unnamed type";

/// The most fields of a record.
pub(crate) const MAX_FIELDS: usize = 32;

/// The fields of nodes as V8 writes them; older versions have the first five or six.
const V8_NODE_FIELDS: [&str; 7] = ["type", "name", "id", "self_size", "edge_count", "trace_node_id", "detachedness"];
const V8_EDGE_FIELDS: [&str; 3] = ["type", "name_or_index", "to_node"];

/// The fields of nodes, edges and so on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Meta {
    pub(crate) nodes: NodeFields,
    pub(crate) edges: EdgeFields,
    pub(crate) locations: Option<LocationFields>,
    pub(crate) functions: Option<FunctionFields>,
    /// The fields of a sample, by name.
    pub(crate) sample_fields: Vec<String>,
    /// The fields of a trace node, by name.
    pub(crate) trace_fields: Vec<String>,
    /// Numbers of nodes and edges according to the description.
    pub(crate) node_count: Option<u64>,
    pub(crate) edge_count: Option<u64>,
}

/// The indexes of the fields of a node, and the names of the types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NodeFields {
    pub(crate) count: usize,
    pub(crate) type_: usize,
    pub(crate) name: usize,
    pub(crate) id: usize,
    pub(crate) self_size: usize,
    pub(crate) edge_count: usize,
    pub(crate) trace_node_id: Option<usize>,
    pub(crate) detachedness: Option<usize>,
    /// Number of fields if they are the first of V8's, in V8's order; otherwise 0.
    pub(crate) usual: usize,
    pub(crate) types: Vec<String>,
}

/// The indexes of the fields of an edge, and the names of the types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EdgeFields {
    pub(crate) count: usize,
    pub(crate) type_: usize,
    pub(crate) name_or_index: usize,
    pub(crate) to_node: usize,
    /// They are V8's, in V8's order.
    pub(crate) is_usual: bool,
    pub(crate) types: Vec<String>,
}

/// The indexes of the fields of a location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LocationFields {
    pub(crate) count: usize,
    pub(crate) object_index: usize,
    pub(crate) script_id: usize,
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// The indexes of the fields of a function of the allocation traces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FunctionFields {
    pub(crate) count: usize,
    pub(crate) name: usize,
    pub(crate) script_name: usize,
    pub(crate) script_id: usize,
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl Meta {
    /// Reads the value of `snapshot`, which starts at `offset`.
    ///
    /// # Errors
    /// [`Damage::Json`] if it is none, or lacks a field without which there are no objects.
    pub(crate) fn read(text: &[u8], offset: u64) -> Result<Meta, Damage> {
        let snapshot: Value = serde_json::from_slice(text).map_err(|error| damage(offset, error.to_string()))?;
        let meta = snapshot.get("meta").ok_or_else(|| lacks(offset, "meta"))?;
        let node_fields = names(meta, "node_fields");
        let edge_fields = names(meta, "edge_fields");
        for fields in [&node_fields, &edge_fields] {
            if fields.len() > MAX_FIELDS {
                let count = fields.len();
                return Err(damage(offset, format!("{count} fields in a record, the limit is {MAX_FIELDS}")));
            }
        }
        let required = ["type", "name", "id", "self_size", "edge_count"];
        let [type_, name, id, self_size, edge_count] = places(&node_fields, "node", required, offset)?;
        let nodes = NodeFields {
            count: node_fields.len(),
            type_,
            name,
            id,
            self_size,
            edge_count,
            trace_node_id: place(&node_fields, "trace_node_id"),
            detachedness: place(&node_fields, "detachedness"),
            usual: usual_fields(&node_fields),
            types: types(meta, "node_types", type_).ok_or_else(|| lacks(offset, "node types"))?,
        };
        let [type_, name_or_index, to_node] =
            places(&edge_fields, "edge", ["type", "name_or_index", "to_node"], offset)?;
        let edges = EdgeFields {
            count: edge_fields.len(),
            type_,
            name_or_index,
            to_node,
            is_usual: edge_fields == V8_EDGE_FIELDS,
            types: types(meta, "edge_types", type_).ok_or_else(|| lacks(offset, "edge types"))?,
        };
        let [node_count, edge_count] =
            ["node_count", "edge_count"].map(|key| snapshot.get(key).and_then(Value::as_u64));
        Ok(Meta {
            nodes,
            edges,
            locations: location_fields(&names(meta, "location_fields")),
            functions: function_fields(&names(meta, "trace_function_info_fields")),
            sample_fields: names(meta, "sample_fields"),
            trace_fields: names(meta, "trace_node_fields"),
            node_count,
            edge_count,
        })
    }
}

fn damage(offset: u64, message: String) -> Damage {
    Damage::Json { what: "the snapshot's description", offset, message }
}

fn lacks(offset: u64, name: &str) -> Damage {
    damage(offset, format!("it has no {name}; snapshots of Node.js, Deno, Chrome and Julia have, and can be read"))
}

/// The indexes of the required fields of a record.
fn places<const N: usize>(
    fields: &[String],
    record: &str,
    required: [&str; N],
    offset: u64,
) -> Result<[usize; N], Damage> {
    let mut places = [0; N];
    for (at, name) in places.iter_mut().zip(required) {
        *at = place(fields, name).ok_or_else(|| lacks(offset, &format!("{record} field `{name}`")))?;
    }
    Ok(places)
}

/// Number of fields of a node, if they are V8's; otherwise 0.
fn usual_fields(fields: &[String]) -> usize {
    let is_usual = V8_NODE_FIELDS.get(..fields.len()).is_some_and(|usual| fields == usual);
    if is_usual { fields.len() } else { 0 }
}

fn location_fields(fields: &[String]) -> Option<LocationFields> {
    (fields.len() <= MAX_FIELDS).then_some(())?;
    Some(LocationFields {
        count: fields.len(),
        object_index: place(fields, "object_index")?,
        script_id: place(fields, "script_id")?,
        line: place(fields, "line")?,
        column: place(fields, "column")?,
    })
}

fn function_fields(fields: &[String]) -> Option<FunctionFields> {
    (fields.len() <= MAX_FIELDS).then_some(())?;
    Some(FunctionFields {
        count: fields.len(),
        name: place(fields, "name")?,
        script_name: place(fields, "script_name")?,
        script_id: place(fields, "script_id")?,
        line: place(fields, "line")?,
        column: place(fields, "column")?,
    })
}

fn place(fields: &[String], name: &str) -> Option<usize> {
    fields.iter().position(|field| field == name)
}

/// A list of names; empty if there is none.
fn names(meta: &Value, key: &str) -> Vec<String> {
    strings(meta.get(key))
}

/// The names of the types, which the dump lists in place of the type field's own type, and [`UNNAMED`].
fn types(meta: &Value, key: &str, place: usize) -> Option<Vec<String>> {
    let types = meta.get(key)?.get(place)?;
    types.is_array().then(|| strings(Some(types)).into_iter().chain([UNNAMED.to_owned()]).collect())
}

fn strings(value: Option<&Value>) -> Vec<String> {
    let values = value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    values.iter().map(|value| value.as_str().unwrap_or_default().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = r#"{"title": "of 2014", "uid": 7, "meta": {
        "node_fields": ["type", "name", "id", "self_size", "edge_count"],
        "node_types": [["hidden", "object"], "string", "number", "number", "number"],
        "edge_fields": ["type", "name_or_index", "to_node"],
        "edge_types": [["context", "weak"], "string_or_number", "node"]
    }, "node_count": 3}"#;

    #[test]
    fn fields_are_found_wherever_they_stand() {
        let old = Meta::read(OLD.as_bytes(), 12).expect("an old snapshot");
        assert_eq!((old.nodes.count, old.nodes.edge_count, old.nodes.detachedness), (5, 4, None));
        assert_eq!(old.nodes.types, ["hidden", "object", UNNAMED]);
        assert_eq!((old.locations, old.functions, old.node_count, old.edge_count), (None, None, Some(3), None));

        let new = OLD.replace(
            r#""type", "name", "id", "self_size", "edge_count"]"#,
            r#""name", "self_size", "detachedness",
            "edge_count", "id", "trace_node_id", "type"]"#,
        );
        let new = new.replace(
            r#"[["hidden", "object"], "string", "number", "number", "number"]"#,
            r#"["string", "number",
            "number", "number", "number", "number", ["hidden", "object"]]"#,
        );
        let new = Meta::read(new.as_bytes(), 12).expect("a new snapshot");
        assert_eq!((new.nodes.count, new.nodes.type_, new.nodes.edge_count), (7, 6, 3));
        assert_eq!((new.nodes.detachedness, new.nodes.trace_node_id), (Some(2), Some(5)));
        assert_eq!(new.nodes.types, ["hidden", "object", UNNAMED]);
    }

    #[test]
    fn what_is_missing_is_named() {
        let message = |text: &str| Meta::read(text.as_bytes(), 12).expect_err("not readable").to_string();
        assert_eq!(
            message(&OLD.replace("edge_count\"]", "children\"]")),
            "the snapshot's description at byte 12 cannot be read: it has no node field `edge_count`; \
             snapshots of Node.js, Deno, Chrome and Julia have, and can be read"
        );
        assert!(message(&OLD[..50]).contains("cannot be read: EOF"));
        assert!(message("{}").contains("it has no meta"));
        let many = OLD.replace("[\"type\", \"name\", \"id\"", &format!("[{}\"id\"", "\"type\",".repeat(40)));
        assert!(message(&many).contains("the limit is 32"));
    }
}
