// The cells of a flame graph, from the rows of an answer: depth first, each as wide as what it retains.
//
// Widths are parts of the whole. What a step has itself is room without a cell, what is left out below it is a cell of its own.
// Types that go down in turn, many times, are one cell.

import { foldsOf, grouped } from './value_text.js';
import { literal } from './state.js';
import { chainTitle, kindOf, nodesOf, titleOf } from './tree_nodes.js';

/** @typedef {import('./ask.js').Answer} Answer */
/**
 * @typedef {object} FlameCell
 * @property {string} title
 * @property {string} type the colour follows from it: the type, or all types of a chain
 * @property {number} size bytes, or objects
 * @property {number | null} own what it has itself; null where that is unknown
 * @property {number} many objects of a step
 * @property {number | null} object the object, or the largest one of a step
 * @property {string | null} line the question that begins here; null if there is none
 * @property {number} depth
 * @property {number} parent the index of the cell above; -1 for the first
 * @property {boolean} isRest what is left out below its parent
 * @property {string | null} chain for many steps as one cell: what they are, in a sentence
 * @property {Place[]} between the steps between its parent and it that are no cells
 * @property {number} x the part of the whole to its left
 * @property {number} w its part of the whole
 * @property {Place} place
 */
/** @typedef {{type: string, name: string | null, roots: string | null, kind: string | null, word: string | null, object: number | null}} Place */
/**
 * @typedef {{title: string, type?: string, size: number, own?: number | null, many?: number, object?: number | null, line?: string | null,
 *   depth: number, left?: number, leftSize?: number, leftName?: string, name?: string | null, roots?: string | null, kind?: string | null,
 *   isRest?: boolean, chain?: string | null, between?: Place[], placeType?: string}} Row
 */
/** Steps that are one cell. @typedef {{steps: number[], period: number, rounds: number, goesOn: boolean}} Turn */

/** Steps that repeat are one cell from this many rounds on. */
const LEAST_ROUNDS = 4;
/** A flag that says what is left out. */
const FLAG = /^--(depth|min|cells)(=|$)/;

/** The cells of the answer to a line. @param {string} verb @param {string} line @param {Answer} answer @param {number} snapshot */
export function cellsOf(verb, line, answer, snapshot) {
  switch (verb) {
    case 'flame': return laidOut(folded(stepRows(line, answer)));
    case 'paths': return laidOut(folded(pathRows(answer)));
    case 'sites': return laidOut(siteRows(answer));
    default: return laidOut(nodesOf(answer, snapshot).map((node) => ({
      ...node, title: titleOf(node), type: kindOf(node), placeType: node.type, size: node.retained, leftSize: node.leftBytes,
      leftName: node.left === 1 ? 'smaller object' : 'smaller objects', line: node.word === null ? null : `dominators ${node.word}`.trim(),
      chain: node.chain ? 'Each object of a chain is the largest below the one before.' : null,
    })));
  }
}

/** The words of a `flame` line: the steps from the roots or from an object. @param {string} line */
export function stepsOf(line) {
  const all = line.match(/"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|[^\s"']+/g) ?? [];
  return all.filter((word, at) => at > 0 && !FLAG.test(word) && !/^--(depth|min|cells)$/.test(all[at - 1])).map(unquoted);
}

/** The line of a flame graph at a path. @param {string[]} steps */
export function flameLine(steps) {
  return ['flame', ...steps.map((step, at) => wordOf(step, at === 0))].join(' ');
}

/** @param {string} step @param {boolean} isFirst an object can only begin a path */
function wordOf(step, isFirst) {
  return isFirst && /^(\d+:)?@\d+$/.test(step) ? step : literal(step);
}

/** @param {string} word */
function unquoted(word) {
  const quote = word[0];
  return quote === '"' || quote === "'" ? word.slice(1, word.endsWith(quote) ? -1 : undefined).replace(/\\(.)/g, '$1') : word;
}

/** Reads the last table. @param {Answer} answer @returns {((key: string) => any)[]} */
function readers(answer) {
  const table = answer.tables[answer.tables.length - 1];
  const places = new Map(table?.columns.map((column, at) => [column.key, at]));
  return (table?.rows ?? []).map((row) => (key) => row[places.get(key) ?? -1]?.value ?? null);
}

/** @param {string} line @param {Answer} answer @returns {Row[]} */
function stepRows(line, answer) {
  const begin = stepsOf(line);
  /** The line down to each depth. */
  const path = [flameLine(begin)];
  return readers(answer).map((at) => {
    const depth = Number(at('depth'));
    if (depth > 0) path[depth] = `${path[depth - 1]} ${wordOf(at('step'), begin.length + depth === 1)}`;
    const [title, kind, roots] = [at('title') ?? '', at('kind'), at('roots')];
    return {
      title, type: at('type') ?? title, size: Number(at('retained_bytes')), own: Number(at('own_bytes')), many: Number(at('objects') ?? 1),
      object: at('example'), line: path[depth], depth, left: Number(at('left_out') ?? 0), leftSize: Number(at('left_out_bytes') ?? 0),
      leftName: at('left_out') === 1 ? 'smaller step' : 'smaller steps', kind, roots,
      name: kind !== null && title !== at('type') && title.startsWith(`${kind} `) ? title.slice(kind.length + 1) : null,
    };
  });
}

/** Paths from the roots to objects, with how many are reached. @param {Answer} answer @returns {Row[]} */
function pathRows(answer) {
  const rows = readers(answer).map((at) => ({
    title: at('title') ?? '', type: at('type') ?? '', size: Number(at('through')), own: Number(at('members')), many: Number(at('objects')),
    object: at('example'), depth: Number(at('depth')) + 1, kind: at('kind'),
  }));
  const whole = rows.reduce((sum, row) => sum + (row.depth === 1 ? row.size : 0), 0);
  return [{ title: 'all roots', size: whole, own: 0, depth: 0 }, ...rows];
}

/** Allocation sites below their files. @param {Answer} answer @returns {Row[]} */
function siteRows(answer) {
  /** @type {Map<string, Row[]>} */
  const files = new Map();
  for (const at of readers(answer)) {
    const file = at('file') ?? 'file not recorded';
    const where = at('line') === null ? '' : `:${at('line')}`;
    const row = { title: `${at('function') ?? 'site'}${where}`, size: Number(at('shallow_bytes')) + Number(at('unmanaged_bytes') ?? 0), many: Number(at('objects')), depth: 2, line: at('site') === null ? null : `site ${at('site')}` };
    files.set(file, [...(files.get(file) ?? []), { ...row, own: row.size, type: file }]);
  }
  const sum = (/** @type {Row[]} */ rows) => rows.reduce((all, row) => all + row.size, 0);
  const below = [...files].map(([file, rows]) => [{ title: file, size: sum(rows), own: 0, depth: 1 }, ...rows]).sort(([one], [other]) => other.size - one.size);
  return [{ title: 'all sites', size: sum(below.map(([file]) => file)), own: 0, depth: 0 }, ...below.flat()];
}

/**
 * Folds steps that go down in turn, each the largest below the one before, into one row. What else is below them is below this row.
 * @param {Row[]} rows depth first @returns {Row[]}
 */
export function folded(rows) {
  const { below, chains } = chainsOf(rows);
  return chains.size === 0 ? rows : withChains(rows, below, chains);
}

/** The rows below each row, and the steps that are one, by the first of them. @param {Row[]} rows depth first */
export function chainsOf(rows) {
  /** @type {number[][]} */
  const below = rows.map(() => []);
  /** @type {number[]} */
  const above = [];
  rows.forEach(({ depth }, at) => {
    if (depth > 0) below[above[depth - 1]]?.push(at);
    above[depth] = at;
  });
  const largest = (/** @type {number} */ at) => {
    const first = below[at].reduce((most, one) => (most < 0 || rows[one].size > rows[most].size ? one : most), -1);
    return first >= 0 && rows[first].size >= rows[at].size / 2 ? first : undefined;
  };
  /** @type {(number | undefined)[]} */
  const next = rows.map((_, at) => largest(at));
  const isInside = new Set(next);
  /** @type {Map<number, Turn>} */
  const chains = new Map();
  rows.forEach((_, at) => {
    if (isInside.has(at) || next[at] === undefined) return;
    const line = [at];
    for (let one = /** @type {number | undefined} */ (next[at]); one !== undefined; one = next[one]) line.push(one);
    const titles = line.map((one) => rows[one].title);
    for (const { start, period, rounds } of foldsOf(titles)) {
      if (rounds < LEAST_ROUNDS) continue;
      let end = start + period * rounds;
      while (end < line.length && titles[end] === titles[end - period]) end += 1;
      // Where the answer ends, the chain may go on, with a part of a round.
      const goesOn = end === line.length && (rows[line[end - 1]].leftSize ?? 0) >= rows[line[end - 1]].size / 2;
      if (!goesOn) end = start + period * rounds;
      chains.set(line[start], { steps: line.slice(start, end), period, rounds, goesOn });
    }
  });
  return { below, chains };
}

/** @param {Row[]} rows @param {number[][]} below @param {Map<number, Turn>} chains @returns {Row[]} */
function withChains(rows, below, chains) {
  /** @type {Row[]} */
  const all = [];
  /** @type {{at: number, depth: number, between: Place[]}[]} */
  const open = [{ at: 0, depth: 0, between: [] }];
  for (let one = open.pop(); one; one = open.pop()) {
    const { at, depth, between } = one;
    const chain = chains.get(at);
    if (!chain) {
      all.push({ ...rows[at], depth, between });
      for (const child of below[at].slice().reverse()) open.push({ at: child, depth: depth + 1, between: [] });
      continue;
    }
    const { steps, period, rounds, goesOn } = chain;
    const sum = (/** @type {(row: Row) => number} */ of) => steps.reduce((all, step) => all + of(rows[step]), 0);
    const last = rows[steps[steps.length - 1]];
    const [left, leftSize] = [sum((row) => row.left ?? 0) - (goesOn ? last.left ?? 0 : 0), sum((row) => row.leftSize ?? 0) - (goesOn ? last.leftSize ?? 0 : 0)];
    const titles = steps.slice(0, period).map((step) => rows[step].title);
    all.push({
      ...rows[at], depth, between, left, leftSize, leftName: left === 1 ? 'smaller step' : 'smaller steps', many: 1, own: sum((row) => row.own ?? 0),
      title: chainTitle({ types: titles, rounds: `${goesOn ? 'at least ' : ''}${grouped(rounds)}` }), type: titles.join(' › '), placeType: rows[at].type,
      chain: `${grouped(steps.length)} steps, each the largest below the one before${goesOn ? '; the answer ends here, and the chain may go on' : ''}.`,
    });
    if (goesOn) {
      const rest = { title: 'the chain may go on', chain: 'A graph by object tells how long it is.', object: rows[at].object, isRest: true };
      all.push({ ...rest, size: last.leftSize ?? 0, depth: depth + 1 });
    }
    const inside = new Set(steps);
    const children = steps.flatMap((step, number) => below[step].filter((child) => !inside.has(child)).map((child) => (
      { at: child, depth: depth + 1, between: steps.slice(1, number + 1).map((one) => placeOf(rows[one])) })));
    open.push(...children.sort((child, other) => rows[child.at].size - rows[other.at].size));
  }
  return all;
}

/** @param {Row} row @returns {Place} */
function placeOf({ title, type = title, placeType = type, name = null, roots = null, kind = null, object = null }) {
  return { type: placeType, name, roots, kind, word: roots !== null || type !== 'everything' || kind !== null ? null : '', object };
}

/** Places rows beside each other below their parents. @param {Row[]} rows depth first @returns {FlameCell[]} */
export function laidOut(rows) {
  const whole = rows[0]?.size || 1;
  /** @type {FlameCell[]} */
  const cells = [];
  /** The last cell of each depth, and where the next one below it begins. @type {{at: number, next: number, row: Row}[]} */
  const above = [];
  const put = (/** @type {Row} */ row, /** @type {boolean} */ isRest) => {
    const parent = above[row.depth - 1];
    const x = parent ? parent.next : 0;
    const w = row.size / whole;
    if (parent) parent.next += w;
    const { title, type = title, size, own = null, many = 1, object = null, line = null, depth, chain = null, between = [] } = row;
    cells.push({ title, type, size, own, many, object, line, depth, parent: parent?.at ?? -1, isRest, chain, between, x, w, place: placeOf(row) });
  };
  const close = (/** @type {number} */ depth) => {
    for (let one = above.pop(); one; one = above.length > depth ? above.pop() : undefined) {
      const { left = 0, leftSize = 0, leftName = 'more' } = one.row;
      above.push(one);
      if (left > 0 && leftSize > 0) put({ title: `${grouped(left)} ${leftName}`, size: leftSize, depth: one.row.depth + 1 }, true);
      above.pop();
    }
  };
  for (const row of rows) {
    if (above.length > row.depth) close(row.depth);
    put(row, row.isRest === true);
    above.push({ at: cells.length - 1, next: cells[cells.length - 1].x, row });
  }
  close(0);
  return cells;
}

/** The titles of cells in small letters, for each letter that is typed. @type {WeakMap<FlameCell[], string[]>} */
const small = new WeakMap();

/** @param {FlameCell[]} cells */
function smallTitles(cells) {
  const titles = small.get(cells) ?? cells.map(({ title }) => title.toLowerCase());
  small.set(cells, titles);
  return titles;
}

/** Which cells have a text in their title, and what they retain, each byte once. @param {FlameCell[]} cells @param {string} text @param {number} top */
export function found(cells, text, top = 0) {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return { isFound: [], count: 0, size: 0 };
  const titles = smallTitles(cells);
  const isFound = cells.map((cell, at) => !cell.isRest && titles[at].includes(wanted));
  const isBelow = new Uint8Array(cells.length);
  let [count, size] = [0, 0];
  cells.forEach((cell, at) => {
    const isInside = at === top || (cell.parent >= 0 && (isBelow[cell.parent] & 1) !== 0);
    const isCounted = cell.parent >= 0 && (isBelow[cell.parent] & 2) !== 0;
    isBelow[at] = (isInside ? 1 : 0) | (isInside && (isCounted || isFound[at]) ? 2 : 0);
    if (!isInside || !isFound[at]) return;
    count += 1;
    if (!isCounted) size += cell.size;
  });
  return { isFound, count, size };
}
