// Squarified treemaps (Bruls, Huizing, van Wijk 2000): rectangles whose areas are proportional to sizes, none too thin.
//
// The places are rows of a tree, depth first. The children of a place, its own size, and what is left out of it fill its
// rectangle without any gap, less a strip for its name. No recursion: a parent comes before its children.

/**
 * Cells of a map. A cell is a place, the size of a place itself, or what is left out below it.
 * @typedef {object} Cells
 * @property {number} length
 * @property {Int32Array} node the place that a cell is or belongs to
 * @property {Uint8Array} part what a cell is: WHOLE, OWN or REST
 * @property {Int32Array} parent the cell around it; -1 at the top
 * @property {Float64Array} bytes
 * @property {Int32Array} first the first cell inside it, -1 if it is not divided
 * @property {Int32Array} next the next cell inside the same one, -1 after the last
 * @property {Float64Array} x @property {Float64Array} y @property {Float64Array} w @property {Float64Array} h
 */

export const WHOLE = 0;
export const OWN = 1;
export const REST = 2;

/**
 * The cells of a tree. `own + children + left = bytes` holds for each place that is divided.
 * @param {{depth: number, bytes: number, own: number, left: number, isDivided?: boolean}[]} nodes depth first, the first is the whole;
 *   places with others below them are divided, and those that say so
 * @returns {Cells}
 */
export function cellsOf(nodes) {
  const most = nodes.length * 3;
  const cells = emptyCells(most);
  /** The last place of each depth. @type {number[]} */
  const above = [];
  const last = new Int32Array(most).fill(-1);
  let length = nodes.length;
  const put = (/** @type {number} */ cell, /** @type {number} */ parent) => {
    cells.parent[cell] = parent;
    if (parent < 0) return;
    if (last[parent] < 0) cells.first[parent] = cell;
    else cells.next[last[parent]] = cell;
    last[parent] = cell;
  };
  nodes.forEach((node, at) => {
    const depth = node.depth - nodes[0].depth;
    above[depth] = at;
    cells.node[at] = at;
    cells.bytes[at] = node.bytes;
    put(at, depth > 0 ? above[depth - 1] : -1);
  });
  nodes.forEach((node, at) => {
    if (cells.first[at] < 0 && !node.isDivided) return;
    for (const [part, bytes] of [[OWN, node.own], [REST, node.left]]) {
      if (bytes <= 0) continue;
      cells.node[length] = at;
      cells.part[length] = part;
      cells.bytes[length] = bytes;
      put(length, at);
      length += 1;
    }
  });
  return { ...cells, length };
}

/** @param {number} most */
function emptyCells(most) {
  const numbers = () => new Float64Array(most);
  const links = () => new Int32Array(most).fill(-1);
  return {
    node: new Int32Array(most), part: new Uint8Array(most), bytes: numbers(), parent: links(), first: links(), next: links(),
    x: numbers(), y: numbers(), w: numbers(), h: numbers(),
  };
}

/**
 * Lays out all cells inside `top`. Without strips all areas are proportional to sizes, with them those inside one cell are.
 * @param {Cells} cells @param {number} top @param {number} width @param {number} height
 * @param {(w: number, h: number) => number} [strip] the height of the strip at the top of a divided cell
 */
export function layOut(cells, top, width, height, strip = () => 0) {
  place(cells, top, 0, 0, width, height);
  const open = [top];
  for (let cell = open.pop(); cell !== undefined; cell = open.pop()) {
    if (cells.first[cell] < 0) continue;
    const inside = childrenOf(cells, cell);
    divide(cells, cell, inside, strip(cells.w[cell], cells.h[cell]));
    for (const one of inside) if (cells.first[one] >= 0) open.push(one);
  }
}

/** The cells inside a cell, the largest first. @param {Cells} cells @param {number} cell */
export function childrenOf(cells, cell) {
  /** @type {number[]} */
  const inside = [];
  for (let one = cells.first[cell]; one >= 0; one = cells.next[one]) inside.push(one);
  return inside.sort((one, other) => cells.bytes[other] - cells.bytes[one] || one - other);
}

/** Fills the rectangle of a cell below its strip, row by row along its shorter side.
 *  @param {Cells} cells @param {number} cell @param {number[]} inside @param {number} strip */
function divide(cells, cell, inside, strip) {
  let [x, y, w, h] = [cells.x[cell], cells.y[cell] + strip, cells.w[cell], cells.h[cell] - strip];
  let left = inside.reduce((sum, one) => sum + cells.bytes[one], 0);
  let at = 0;
  while (at < inside.length && left > 0) {
    const side = Math.min(w, h);
    const scale = (w * h) / left;
    const end = rowEnd(cells, inside, at, side, scale);
    let bytes = 0;
    for (let one = at; one < end; one++) bytes += cells.bytes[inside[one]];
    // The last row takes all that is left, whatever was rounded before.
    const thick = end === inside.length ? Math.max(w, h) : side > 0 ? (bytes * scale) / side : 0;
    placeRow(cells, inside, at, end, bytes, w >= h ? { x, y, w: thick, h, isColumn: true } : { x, y, w, h: thick, isColumn: false });
    if (w >= h) [x, w] = [x + thick, Math.max(0, w - thick)];
    else [y, h] = [y + thick, Math.max(0, h - thick)];
    left -= bytes;
    at = end;
  }
}

/** The end of the row that begins at `at`: as long as the worst proportion gets better.
 *  @param {Cells} cells @param {number[]} inside @param {number} at @param {number} side @param {number} scale */
function rowEnd(cells, inside, at, side, scale) {
  const largest = cells.bytes[inside[at]] * scale;
  let sum = 0;
  let worst = Infinity;
  let end = at;
  for (; end < inside.length; end++) {
    const area = cells.bytes[inside[end]] * scale;
    const all = sum + area;
    const proportion = Math.max((side * side * largest) / (all * all), (all * all) / (side * side * area));
    if (proportion > worst) break;
    worst = proportion;
    sum = all;
  }
  return Math.max(end, at + 1);
}

/** @param {Cells} cells @param {number[]} inside @param {number} at @param {number} end @param {number} bytes
 *  @param {{x: number, y: number, w: number, h: number, isColumn: boolean}} row */
function placeRow(cells, inside, at, end, bytes, { x, y, w, h, isColumn }) {
  let done = 0;
  const side = isColumn ? h : w;
  for (let one = at; one < end; one++) {
    const from = bytes > 0 ? (done / bytes) * side : 0;
    done += cells.bytes[inside[one]];
    const to = bytes > 0 ? (done / bytes) * side : 0;
    if (isColumn) place(cells, inside[one], x, y + from, w, to - from);
    else place(cells, inside[one], x + from, y, to - from, h);
  }
}

/** @param {Cells} cells @param {number} cell @param {number} x @param {number} y @param {number} w @param {number} h */
function place(cells, cell, x, y, w, h) {
  cells.x[cell] = x;
  cells.y[cell] = y;
  cells.w[cell] = w;
  cells.h[cell] = h;
}

/** The smallest cell at a point inside `top`; -1 outside. @param {Cells} cells @param {number} top @param {number} x @param {number} y */
export function cellAt(cells, top, x, y) {
  const isInside = (/** @type {number} */ one) =>
    x >= cells.x[one] && x < cells.x[one] + cells.w[one] && y >= cells.y[one] && y < cells.y[one] + cells.h[one];
  if (!isInside(top)) return -1;
  let cell = top;
  for (;;) {
    let one = cells.first[cell];
    while (one >= 0 && !isInside(one)) one = cells.next[one];
    if (one < 0) return cell;
    cell = one;
  }
}
