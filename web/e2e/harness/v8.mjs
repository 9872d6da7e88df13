// Heap snapshots of V8, written by hand.

/** An object: its type and name, as the numbers of KINDS and of a string, its size in bytes, and its edges: type, name or index, object. @typedef {{type: number, name: number, size: number, to: number[][]}} Node */

const KINDS = ['hidden', 'array', 'string', 'object', 'code', 'closure', 'regexp', 'number', 'native', 'synthetic'];
const EDGES = ['context', 'element', 'property', 'internal', 'hidden', 'shortcut', 'weak'];

/** A snapshot of these objects, the first of which is the root. @param {Node[]} all @param {string[]} strings */
export function heapSnapshot(all, strings) {
  const nodes = all.flatMap(({ type, name, size, to }, at) => [type, name, 2 * at + 1, size, to.length, 0, 0]);
  const edges = all.flatMap(({ to }) => to.flatMap(([type, name, node]) => [type, name, 7 * node]));
  const meta = {
    node_fields: ['type', 'name', 'id', 'self_size', 'edge_count', 'trace_node_id', 'detachedness'],
    node_types: [KINDS, 'string', 'number', 'number', 'number', 'number', 'number'],
    edge_fields: ['type', 'name_or_index', 'to_node'],
    edge_types: [EDGES, 'string_or_number', 'node'],
    trace_function_info_fields: [], trace_node_fields: [], sample_fields: [], location_fields: [],
  };
  const snapshot = { meta, node_count: all.length, edge_count: edges.length / 3, trace_function_count: 0 };
  return JSON.stringify({ snapshot, nodes, edges, trace_function_infos: [], trace_tree: [], samples: [], locations: [], strings });
}
