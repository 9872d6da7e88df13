// Places of the dominator tree, as answers of `dominators` tell them, and the lines that ask for what is below a place.

import { grouped } from './value_text.js';
import { literal } from './state.js';

/** @typedef {import('./ask.js').Answer} Answer */
/**
 * A place of the dominator tree: an object, a group of roots, all roots, or the children of one type.
 * @typedef {object} TreeNode
 * @property {string | null} word what names it in a line: `28:@123`, `roots "thread"`, nothing for all roots; null for several objects
 * @property {number | null} object the object, or the largest one of a type
 * @property {string} type
 * @property {string | null} name
 * @property {string | null} [roots] the group of roots, if it is one
 * @property {string | null} kind
 * @property {number | null} own shallow and unmanaged bytes of the object itself
 * @property {number} retained
 * @property {number} objects that are retained
 * @property {number} depth
 * @property {number} children in the tree
 * @property {number} left how many of them are not rows of this answer
 * @property {number} leftBytes what these retain
 * @property {number | null} members how many children have this type
 * @property {Chain | null} [chain] the chain that begins with the object, where chains are one place
 * @property {number} [types] how many types the children have, where these are the rows below
 * @property {boolean} [isType] whether it is a row of types, whose children are counted when they are seen
 * @property {TreeNode} [above] the place that it is a child of, where a tree has told it
 */

/** Objects that go down in a line: the types of one round, and how many rounds there are. @typedef {{types: string[], rounds: string}} Chain */

/** The places in the last table of an answer. @param {Answer} answer @param {number} snapshot @returns {TreeNode[]} */
export function nodesOf(answer, snapshot) {
  const table = answer.tables[answer.tables.length - 1];
  if (!table) return [];
  const places = new Map(table.columns.map((column, at) => [column.key, at]));
  /** The last place of each depth. @type {TreeNode[]} */
  const above = [];
  return table.rows.map((row) => {
    const at = (/** @type {string} */ key) => row[places.get(key) ?? -1]?.value ?? null;
    const isType = places.has('example');
    const object = isType ? at('example') : at('object');
    const left = isType ? 0 : at('left_out') ?? 0;
    const roots = at('roots');
    const members = isType ? at('children') : null;
    // A group of roots and a single object are places even where children are told by type.
    const isPlace = !isType || roots !== null || members === 1;
    const node = {
      word: isPlace ? wordOf(object, roots, snapshot) : null,
      object,
      type: at('type') ?? '',
      name: at('chain') ? null : at('name') ?? at('line'),
      roots,
      kind: at('kind'),
      own: at('chain_own_bytes') ?? (at('shallow_bytes') === null ? null : at('shallow_bytes') + (at('unmanaged_bytes') ?? 0)),
      chain: at('chain') === null ? null : chainOf(at('chain')),
      retained: Number(at('retained_bytes') ?? 0),
      objects: Number(at('retained_objects') ?? 0),
      depth: at('depth') ?? 0,
      children: isType ? Number(isPlace && (roots !== null || at('retained_objects') > 1)) : left,
      left,
      leftBytes: at('left_out_bytes') ?? 0,
      members,
      isType,
    };
    above[node.depth] = node;
    if (above[node.depth - 1]) above[node.depth - 1].children += 1;
    return node;
  });
}

/** @param {number | null} object @param {string | null} roots @param {number} snapshot */
function wordOf(object, roots, snapshot) {
  if (object !== null) return `${snapshot}:@${object}`;
  return roots === null ? '' : `roots ${literal(roots)}`;
}

/** The tree at a place as a question. @param {string} word @param {string} [rest] */
export function treeLine(word, rest = '') {
  return ['dominators', word, rest].filter(Boolean).join(' ');
}

/** A type without the package before its dotted name, and that package. @param {string} type @returns {[string, string]} */
export function shortType(type) {
  const dot = /^[\w.$[\]]+$/.test(type) ? type.lastIndexOf('.') : -1;
  return [type.slice(dot + 1), type.slice(0, Math.max(0, dot))];
}

/** A chain as answers write it. @param {string} text `Node × 200,000` or `(Node › Entry) × 100,000` @returns {Chain} */
function chainOf(text) {
  const at = text.lastIndexOf(' × ');
  const [round, rounds] = [text.slice(0, at), text.slice(at + 3)];
  return { types: /^\(.* › .*\)$/s.test(round) ? round.slice(1, -1).split(' › ') : [round], rounds };
}

/** A chain in words. Objects that are beside each other are `2,968 × Node`. @param {Chain} chain */
export function chainTitle({ types, rounds }) {
  return `chain of ${rounds} ${types.length === 1 ? types[0] : `(${types.join(' › ')})`}`;
}

/** Objects of one name that are beside each other. @param {number | null | undefined} many @param {string} name */
export function manyOf(many, name) {
  return (many ?? 1) > 1 ? `${grouped(many ?? 1)} × ${name}` : name;
}

/** What a place is called in a sentence. @param {TreeNode} node */
export function titleOf(node) {
  if (node.chain) return chainTitle(node.chain);
  return manyOf(node.members, node.type + (node.name === null ? '' : ` ${node.name}`));
}

/** What a colour stands for: the type of a place, or all types of a chain. @param {TreeNode} node */
export function kindOf(node) {
  return node.chain ? node.chain.types.join(' › ') : node.type;
}

/** Types by kind and name; those of one kind and name, which differ in their layout only, are one.
 *  @param {TreeNode[]} types @param {number} depth @returns {Map<string, TreeNode>} */
function sumsByType(types, depth) {
  /** @type {Map<string, TreeNode>} */
  const sums = new Map();
  for (const type of types) {
    const key = `${type.kind}\n${type.type}`;
    const sum = sums.get(key);
    if (!sum) {
      const isPlace = type.roots !== null;
      sums.set(key, { ...type, depth, object: null, name: null, word: isPlace ? type.word : null, children: isPlace ? type.children : 0 });
      continue;
    }
    sum.members = (sum.members ?? 0) + (type.members ?? 0);
    sum.retained += type.retained;
    sum.objects += type.objects;
  }
  return sums;
}

/**
 * Divides what is left out below a place into types: the children of each type less those that are rows already.
 * @param {TreeNode[]} nodes depth first @param {TreeNode} place one of them @param {TreeNode[]} types its children by type
 * @returns {TreeNode[]} the rows with those for types after the others below the place; the same rows if the sums differ
 */
export function withRestByType(nodes, place, types) {
  const from = nodes.indexOf(place);
  let end = from + 1;
  const left = sumsByType(types, place.depth + 1);
  for (; end < nodes.length && nodes[end].depth > place.depth; end++) {
    const child = nodes[end];
    const type = child.depth === place.depth + 1 ? left.get(`${child.kind}\n${child.type}`) : null;
    if (!type) continue;
    type.members = (type.members ?? 0) - 1;
    type.retained -= child.retained;
    type.objects -= child.objects;
  }
  const rest = [...left.values()].filter((type) => (type.members ?? 0) > 0);
  const isWhole = rest.every((type) => type.retained >= 0) && rest.reduce((sum, type) => sum + type.retained, 0) === place.leftBytes;
  if (!isWhole) return nodes;
  return [...nodes.slice(0, from), { ...place, left: 0, leftBytes: 0 }, ...nodes.slice(from + 1, end), ...rest, ...nodes.slice(end)];
}
