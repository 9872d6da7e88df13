// The largest places of the dominator tree as a map on a canvas. Everything that the map shows can be had without it: arrow
// keys walk its cells and say them, and a table lists them.

import { fill, h, onTheme } from './dom.js';
import { grouped, numberText, visible } from './value_text.js';
import { TypeColours, bytesByType, growthColour, inkColour, neutralColour, shortKind } from './map_words.js';
import { OWN, REST, WHOLE, cellAt, cellsOf, childrenOf, layOut } from './squarify.js';
import { chainTitle, kindOf, manyOf, shortType, titleOf } from './tree_nodes.js';

/** @typedef {import('./tree_nodes.js').TreeNode} TreeNode */
/**
 * @typedef {object} MapOptions
 * @property {(node: TreeNode, path: number[]) => void} onSelect `path`: which child each place is, from the top
 * @property {(node: TreeNode) => void} onZoom
 * @property {() => boolean} onOut zooms out of the whole map; whether there is an outside
 * @property {(text: string) => void} announce
 */
/** The change of each place, and between which snapshots. @typedef {{changes: (number | null)[], a: number, b: number}} Growth */

/** Cells are labelled from this width and height on, in pixels. */
const [LABEL_WIDTH, LABEL_HEIGHT] = [36, 17];
/** Divided cells have a strip with a label from this width and height on, and it is this high, in pixels: the cursor covers 3 at its top. */
const [STRIP_WIDTH, STRIP_HEIGHT, STRIP] = [72, 48, 17];
/** Room on each side of a label, and its lines, in pixels. */
const [PADDING, LINE] = [5, 13];
/** Characters of a name that a label has at least before its size. */
const LEAST_NAME = 4;
/** Steps of a tooltip's way down. */
const MOST_STEPS = 8;
/** Cells with a side below this are drawn as one with what is inside them, in pixels. */
const FINEST = 1.5;

export class TreeMap {
  /** @param {MapOptions} options */
  constructor(options) {
    this.options = options;
    /** @type {TreeNode[]} */
    this.nodes = [];
    this.cells = cellsOf([]);
    /** Cells by the object that they are. @type {Map<number, number>} */
    this.objects = new Map();
    /** @type {Growth | null} */
    this.growth = null;
    this.colours = new TypeColours();
    this.top = 0;
    this.selected = -1;
    this.width = this.height = 0;
    this.canvas = h('canvas', { tabindex: 0, role: 'application', 'aria-roledescription': 'treemap' });
    this.cursor = h('div', { class: 'map-cursor', hidden: true });
    this.hover = h('div', { class: 'map-cursor map-hover', hidden: true });
    this.tip = h('div', { class: 'map-tip', hidden: true, 'aria-hidden': 'true' });
    this.element = h('div', { class: 'map' }, this.canvas, this.cursor, this.hover, this.tip);
    this.isDark = false;
    /** The largest change, for the colours. */
    this.largest = 1;
    this.resizes = new ResizeObserver(() => {
      const box = this.element.getBoundingClientRect();
      if (Math.floor(box.width) !== this.width || Math.floor(box.height) !== this.height) this.#layOut();
    });
    this.resizes.observe(this.element);
    this.leaveTheme = onTheme(() => this.paint());
    this.#listen();
  }

  destroy() {
    this.resizes.disconnect();
    this.leaveTheme();
  }

  /** Shows places; own + children + left = retained for each. @param {TreeNode[]} nodes depth first */
  setNodes(nodes) {
    this.nodes = nodes;
    this.objects = new Map(nodes.flatMap((node, at) => (node.object === null ? [] : [[node.object, at]])));
    this.growth = null;
    const least = nodes[0]?.depth ?? 0;
    this.cells = cellsOf(nodes.map((node) => ({
      depth: node.depth - least, bytes: node.retained, own: ownOf(node), left: node.leftBytes, isDivided: node.leftBytes > 0,
    })));
    this.top = 0;
    this.selected = nodes.length > 0 ? 0 : -1;
    this.colours.choose(bytesByType(this));
    this.#layOut();
  }

  /** Colours by growth, or by type again. @param {Growth | null} growth */
  setGrowth(growth) {
    this.growth = growth;
    this.paint();
  }

  /** Selects the cell of an object; nothing if it is not on the map. @param {number | null} object */
  select(object) {
    const cell = object === null ? -1 : this.cellOfObject(object);
    this.selected = cell;
    this.#showCursor();
    return cell >= 0;
  }

  /** The cell of an object; -1 if it is not on the map. @param {number} object */
  cellOfObject(object) {
    return this.objects.get(object) ?? -1;
  }

  /** The smallest cells inside the top: their bytes add up to it. */
  smallest() {
    /** @type {number[]} */
    const all = [];
    const open = this.nodes.length > 0 ? [this.top] : [];
    for (let cell = open.pop(); cell !== undefined; cell = open.pop()) {
      if (this.cells.first[cell] < 0) all.push(cell);
      else open.push(...childrenOf(this.cells, cell));
    }
    return all;
  }

  /** What a cell is. @param {number} cell */
  describe(cell) {
    const { cells } = this;
    const node = this.nodes[cells.node[cell]];
    const part = cells.part[cell];
    const whole = cells.bytes[this.top];
    const what = part === OWN ? `${titleOf(node)}, itself` : part === REST ? `${grouped(node.left)} smaller below ${titleOf(node)}` : titleOf(node);
    const change = this.growth && part !== REST ? this.growth.changes[cells.node[cell]] : null;
    return { node, part, what: visible(what), bytes: cells.bytes[cell], share: whole > 0 ? cells.bytes[cell] / whole : 0, change };
  }

  // Painting

  #layOut() {
    const box = this.element.getBoundingClientRect();
    [this.width, this.height] = [Math.floor(box.width), Math.floor(box.height)];
    if (this.nodes.length > 0) layOut(this.cells, this.top, this.width, this.height, stripOf);
    this.paint();
  }

  paint() {
    const { canvas, width, height } = this;
    const ratio = window.devicePixelRatio || 1;
    [canvas.width, canvas.height] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
    const pen = canvas.getContext('2d');
    if (!pen || this.nodes.length === 0) return;
    pen.scale(ratio, ratio);
    this.isDark = isLight(getComputedStyle(canvas).color);
    this.largest = Math.max(1, ...(this.growth?.changes ?? []).map((change) => Math.abs(change ?? 0)));
    const { divided, leaves } = this.#seen();
    for (const cell of leaves) this.#paintCell(pen, cell);
    this.#hatch(pen, leaves.filter((cell) => this.cells.part[cell] === REST));
    this.#paintEdges(pen, divided, leaves);
    this.#paintStrips(pen, divided);
    this.#paintLabels(pen, leaves);
    const { what, bytes } = this.describe(this.top);
    canvas.setAttribute('aria-label', `map of ${what}, ${numberText(bytes, 'bytes')}; arrow keys walk, Enter zooms in, Escape out`);
    this.#showCursor();
  }

  /** Cells that can be seen: those that are drawn, and those around them, the outermost first. */
  #seen() {
    const { cells } = this;
    const [divided, leaves] = [/** @type {number[]} */ ([]), /** @type {number[]} */ ([])];
    const open = [this.top];
    for (let cell = open.pop(); cell !== undefined; cell = open.pop()) {
      if (cells.first[cell] < 0 || Math.min(cells.w[cell], cells.h[cell]) < FINEST || this.#isPlain(cell)) {
        leaves.push(cell);
        continue;
      }
      divided.push(cell);
      for (let one = cells.first[cell]; one >= 0; one = cells.next[one]) open.push(one);
    }
    return { divided, leaves };
  }

  /** Whether a cell is drawn as one: there are no places inside it, and no room to say what is. @param {number} cell */
  #isPlain(cell) {
    const { cells } = this;
    return cells.first[cell] >= 0 && cells.part[cells.first[cell]] !== WHOLE && stripOf(cells.w[cell], cells.h[cell]) === 0;
  }

  /** @param {CanvasRenderingContext2D} pen @param {number} cell */
  #paintCell(pen, cell) {
    const { cells } = this;
    pen.fillStyle = this.#colour(cell);
    pen.fillRect(cells.x[cell], cells.y[cell], cells.w[cell], cells.h[cell]);
  }

  /** Lines across cells for what is left out. @param {CanvasRenderingContext2D} pen @param {number[]} rests */
  #hatch(pen, rests) {
    const { cells } = this;
    [pen.lineWidth, pen.strokeStyle] = [1, this.isDark ? '#ffffff1c' : '#00000016'];
    for (const cell of rests) {
      const [x, y, w, height] = [cells.x[cell], cells.y[cell], cells.w[cell], cells.h[cell]];
      if (w < 6 || height < 6) continue;
      pen.save();
      pen.beginPath();
      pen.rect(x, y, w, height);
      pen.clip();
      pen.beginPath();
      for (let at = -height; at < w; at += 7) {
        pen.moveTo(x + at, y + height);
        pen.lineTo(x + at + height, y);
      }
      pen.stroke();
      pen.restore();
    }
  }

  /** @param {number} cell */
  #colour(cell) {
    const { cells, isDark } = this;
    const node = this.nodes[cells.node[cell]];
    if (this.growth && cells.part[cell] === REST) return neutralColour(isDark);
    if (this.growth) return growthColour(this.growth.changes[cells.node[cell]] ?? 0, this.largest, isDark);
    return node.object === null && node.members === null ? neutralColour(isDark) : this.colours.of(kindOf(node), isDark, cells.part[cell] !== WHOLE);
  }

  /** Thin lines around cells, thicker ones around those near the top. @param {CanvasRenderingContext2D} pen
   *  @param {number[]} divided @param {number[]} leaves */
  #paintEdges(pen, divided, leaves) {
    const { cells, isDark } = this;
    const around = (/** @type {number[]} */ some, /** @type {number} */ width, /** @type {string} */ colour) => {
      [pen.lineWidth, pen.strokeStyle] = [width, colour];
      pen.beginPath();
      for (const cell of some) if (cells.w[cell] > 3 && cells.h[cell] > 3) pen.rect(cells.x[cell], cells.y[cell], cells.w[cell], cells.h[cell]);
      pen.stroke();
    };
    around(leaves, 0.5, isDark ? '#00000080' : '#ffffffc0');
    around(divided, 1, isDark ? '#000000b0' : '#ffffff');
    const base = this.#depth(this.top);
    around(divided.filter((cell) => this.#depth(cell) <= base + 2), 2, isDark ? '#000000' : '#5b6470');
  }

  /** @param {number} cell */
  #depth(cell) {
    return this.nodes[this.cells.node[cell]].depth;
  }

  /** Names, on as many lines as there is room for, and sizes. @param {CanvasRenderingContext2D} pen @param {number[]} leaves */
  #paintLabels(pen, leaves) {
    const { cells } = this;
    pen.font = '11px system-ui, sans-serif';
    pen.textBaseline = 'top';
    pen.fillStyle = inkColour(this.isDark);
    for (const cell of leaves) {
      if (cells.w[cell] < LABEL_WIDTH || cells.h[cell] < LABEL_HEIGHT) {
        this.#paintSign(pen, cell);
        continue;
      }
      const [x, y, room] = [cells.x[cell] + PADDING, cells.y[cell] + 4, cells.w[cell] - PADDING - 2];
      const [name, size] = this.#label(cell);
      const most = Math.floor((cells.h[cell] - 4) / LINE);
      const lines = most === 1 ? [fittedName(pen, name, room, `  ${size}`)] : [...wrapped(pen, name, room, most - 1), fitted(pen, size, room)];
      lines.forEach((line, at) => pen.fillText(line, x, y + at * LINE));
    }
  }

  /** The names of divided cells, above what is inside them. @param {CanvasRenderingContext2D} pen @param {number[]} divided */
  #paintStrips(pen, divided) {
    const { cells } = this;
    pen.font = '11px system-ui, sans-serif';
    pen.textBaseline = 'middle';
    for (const cell of divided) {
      if (stripOf(cells.w[cell], cells.h[cell]) === 0) continue;
      pen.fillStyle = this.#colour(cell);
      pen.fillRect(cells.x[cell] + 1, cells.y[cell] + 1, cells.w[cell] - 2, STRIP - 1);
      const [name, size] = this.#label(cell);
      pen.fillStyle = inkColour(this.isDark);
      pen.fillText(fittedName(pen, name, cells.w[cell] - PADDING - 2, `  ${size}`), cells.x[cell] + PADDING, cells.y[cell] + STRIP / 2 + 1);
    }
  }

  /** An arrow where there is no room for a label: a colour is never alone. @param {CanvasRenderingContext2D} pen @param {number} cell */
  #paintSign(pen, cell) {
    const { cells } = this;
    const change = cells.part[cell] === REST ? null : this.growth?.changes[cells.node[cell]];
    if (!change || cells.w[cell] < 6 || cells.h[cell] < 6) return;
    const [x, y, up] = [cells.x[cell] + cells.w[cell] / 2, cells.y[cell] + cells.h[cell] / 2, change > 0 ? 1 : -1];
    pen.beginPath();
    pen.moveTo(x, y - 2 * up);
    pen.lineTo(x + 2, y + 1.5 * up);
    pen.lineTo(x - 2, y + 1.5 * up);
    pen.fill();
  }

  /** A name and the size of the rectangle; the change of a path is not that of one of its rectangles, so there is only its sign.
   *  @param {number} cell @returns {[string, string]} */
  #label(cell) {
    const { node, part, bytes, change } = this.describe(cell);
    const own = part === OWN && node.chain ? ', itself' : '';
    const of = part === REST ? `${grouped(node.left)} smaller${node.chain ? ' below the chain' : ''}` : shortName(node) + own;
    const sign = part === REST ? '' : changeSign(change);
    return [sign ? `${sign} ${of}` : of, numberText(bytes, 'bytes')];
  }

  // Cursor and tooltip

  #showCursor() {
    const { cells, selected } = this;
    const isSeen = selected >= 0 && this.#isInside(selected);
    this.cursor.hidden = !isSeen;
    if (isSeen) frame(this.cursor, cells, selected);
  }

  /** @param {number} cell */
  #isInside(cell) {
    let one = cell;
    while (one >= 0 && one !== this.top) one = this.cells.parent[one];
    return one >= 0;
  }

  /** @param {PointerEvent} event */
  #point(event) {
    const cell = this.#cellOf(event);
    this.hover.hidden = this.tip.hidden = cell < 0;
    if (cell < 0) return;
    frame(this.hover, this.cells, cell);
    showTip(this, this.lines(cell), event);
  }

  /** What is said of a cell, in lines. @param {number} cell */
  lines(cell) {
    const { node, part, what, bytes, share, change } = this.describe(cell);
    const lines = [what, `${numberText(bytes, 'bytes')}, ${(share * 100).toFixed(1)} %`];
    if (node.object !== null && part !== REST) lines[0] += ` @${node.object}`;
    if (part === WHOLE && node.objects > 1) lines.push(`${grouped(node.objects)} objects`);
    if (node.chain && part !== REST) lines.push('Each object of a chain is the largest below the one before.');
    const rest = node.chain ? 'What the objects of the chain retain besides each other, too small' : 'Too small';
    if (part === REST) lines.push(`${rest} to be drawn one by one.`);
    if (this.growth && part !== REST) lines.push(pathChange(change, this.growth));
    const way = this.#way(cell).map((one) => shortName(this.nodes[this.cells.node[one]]).slice(0, 60));
    if (way.length > 1) lines.push((way.length > MOST_STEPS ? [...way.slice(0, MOST_STEPS / 2), '…', ...way.slice(-MOST_STEPS / 2)] : way).join(' › '));
    return lines;
  }

  /** The cells below the top that lead to a cell. @param {number} cell */
  #way(cell) {
    /** @type {number[]} */
    const way = [];
    for (let one = cell; one >= 0 && one !== this.top; one = this.cells.parent[one]) if (this.cells.part[one] === WHOLE) way.unshift(one);
    return way;
  }

  // Keys and pointers

  #listen() {
    const { canvas } = this;
    canvas.addEventListener('pointermove', (event) => this.#point(event));
    canvas.addEventListener('pointerleave', () => { this.hover.hidden = this.tip.hidden = true; });
    canvas.addEventListener('click', (event) => this.#choose(this.#cellOf(event)));
    // The menu is that of the links of the chosen cell.
    canvas.addEventListener('contextmenu', (event) => this.#choose(this.#cellOf(event)));
    canvas.addEventListener('dblclick', (event) => this.#zoom(this.#way(this.#cellOf(event))[0] ?? -1));
    canvas.addEventListener('keydown', (event) => this.#key(event));
  }

  /** @param {MouseEvent} event */
  #cellOf(event) {
    const cell = this.nodes.length === 0 ? -1 : cellAt(this.cells, this.top, event.offsetX, event.offsetY);
    return cell >= 0 && cell !== this.top && this.#isPlain(this.cells.parent[cell]) ? this.cells.parent[cell] : cell;
  }

  /** @param {number} cell */
  #choose(cell) {
    if (cell < 0) return;
    this.selected = cell;
    this.#showCursor();
    this.options.announce(this.lines(cell).join(', '));
    this.options.onSelect(this.nodes[this.cells.node[cell]], this.pathOf(cell));
  }

  /** The places from the first one to another. @param {TreeNode} node */
  placesTo(node) {
    const places = [];
    for (let one = this.nodes.indexOf(node); one >= 0; one = this.cells.parent[one]) places.unshift(this.nodes[one]);
    return places;
  }

  /** Which child each place on the way to a cell is: children are rows in their order. @param {number} cell */
  pathOf(cell) {
    const { cells } = this;
    /** @type {number[]} */
    const path = [];
    for (let one = cells.node[cell]; cells.parent[one] >= 0; one = cells.parent[one]) {
      let index = 0;
      for (let before = cells.first[cells.parent[one]]; before >= 0 && before !== one; before = cells.next[before]) index += 1;
      path.unshift(index);
    }
    return path;
  }

  /** Zooms into the place of a cell: at once with the cells that are here, then with finer ones. @param {number} cell */
  #zoom(cell) {
    if (cell < 0) return;
    const { cells } = this;
    let place = cells.part[cell] === WHOLE ? cell : cells.parent[cell];
    if (this.nodes[cells.node[place]].children === 0) place = cells.parent[place];
    if (place < 0 || place === this.top) return;
    this.top = this.selected = place;
    this.#layOut();
    this.options.onZoom(this.nodes[cells.node[place]]);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || this.nodes.length === 0) return;
    const cell = this.selected >= 0 ? this.selected : this.top;
    if (event.key === 'Enter') this.#zoom(cell);
    else if (event.key === 'Escape') {
      if (!this.options.onOut()) return;
    } else {
      const to = this.#neighbour(cell, event.key);
      if (to === undefined) return;
      if (to >= 0) this.#choose(to);
    }
    event.preventDefault();
    event.stopPropagation();
  }

  /** The cell that a key leads to: into the largest cell inside, out, and to the next larger or smaller one beside.
   *  @param {number} cell @param {string} key @returns {number | undefined} undefined for other keys */
  #neighbour(cell, key) {
    const { cells } = this;
    if (key === 'ArrowDown') return childrenOf(cells, cell)[0] ?? -1;
    if (key === 'ArrowUp') return cell === this.top ? -1 : cells.parent[cell];
    if (!['ArrowLeft', 'ArrowRight', 'Home', 'End'].includes(key)) return undefined;
    if (cell === this.top) return -1;
    const beside = childrenOf(cells, cells.parent[cell]);
    const at = beside.indexOf(cell);
    return { ArrowLeft: beside[at - 1], ArrowRight: beside[at + 1], Home: beside[0], End: beside[beside.length - 1] }[key] ?? -1;
  }
}

/** The height of the strip at the top of a divided cell. @param {number} w @param {number} h */
function stripOf(w, h) {
  return w >= STRIP_WIDTH && h >= STRIP_HEIGHT ? STRIP : 0;
}

/** What a place itself has: groups of roots have nothing. @param {TreeNode} node */
function ownOf(node) {
  return node.own ?? 0;
}

/** @param {HTMLElement} box @param {import('./squarify.js').Cells} cells @param {number} cell */
function frame(box, cells, cell) {
  box.style.transform = `translate(${cells.x[cell]}px, ${cells.y[cell]}px)`;
  box.style.width = `${Math.max(2, cells.w[cell])}px`;
  box.style.height = `${Math.max(2, cells.h[cell])}px`;
}

/** What a cell is labelled with, where there is little room. @param {TreeNode} node */
export function shortName(node) {
  if (node.chain) return visible(chainTitle({ ...node.chain, types: node.chain.types.map(shortKind) }).slice(0, 200));
  const [type, word] = node.name !== null && node.kind === 'class' ? [node.name, 'class '] : [node.type, ''];
  return manyOf(node.members, visible(word + shortType(type)[0].slice(0, 200)));
}

/** A text cut to the room there is, with an end that is kept if enough of the text is left. Numbers are whole, or are not there.
 *  @param {CanvasText} pen @param {string} text @param {number} room in pixels @param {string} [end] */
export function fitted(pen, text, room, end = '') {
  const width = pen.measureText(text + end).width;
  if (width <= room) return text + end;
  // Characters differ in their width: the mean says where to begin.
  let length = Math.min(text.length, Math.ceil((room * (text + end).length) / width) - end.length + 3);
  while (length > 0 && pen.measureText(`${text.slice(0, length)}…${end}`).width > room) length -= 1;
  if (length < Math.min(text.length, LEAST_NAME) && end !== '') return fitted(pen, text, room);
  const part = text.slice(0, Math.max(0, length)).replace(/\d[\d.,]*$/, '');
  return part.trim() === '' ? '' : `${part}…${end}`;
}

/** A name with its number, which is left out where the name would have no room. @param {CanvasText} pen
 *  @param {string} name such as `2,968 × Node` @param {number} room @param {string} [end] */
export function fittedName(pen, name, room, end = '') {
  const text = fitted(pen, name, room, end);
  return /^\S* ?[\d,]+ × /.test(name) && !/ × [^…]{3}/.test(text) ? fitted(pen, name.replace(/[\d,]+ × /, ''), room, end) : text;
}

/** A text on lines that end after words and parts of names; the last one is cut. @param {CanvasRenderingContext2D} pen
 *  @param {string} text @param {number} room @param {number} most lines */
function wrapped(pen, text, room, most) {
  /** @type {string[]} */
  const lines = [];
  for (let rest = text; ; ) {
    const line = fitted(pen, rest, room);
    const part = line === rest || lines.length + 1 === most ? '' : line.slice(0, -1).replace(/[^ .$/]+$/, '');
    if (part.trim() === '') return [...lines, lines.length === 0 ? fittedName(pen, rest, room) : line];
    lines.push(part.trimEnd());
    rest = rest.slice(part.length).trimStart();
  }
}

/** @param {number | null} change */
export function changeSign(change) {
  return change === null || change === 0 ? '' : change > 0 ? '▲' : '▼';
}

/** @param {number} change */
export function changeText(change) {
  return `${change > 0 ? '+' : '-'}${numberText(Math.abs(change), 'bytes')}`;
}

/** @param {number | null} change @param {Growth} growth */
function pathChange(change, { a, b }) {
  const told = change === null ? 'no known change' : change === 0 ? 'unchanged' : `${changeSign(change)} ${changeText(change)}`;
  return `${a}..${b}: ${told} for all objects on this path of types`;
}

/** Whether a colour is light: then it is a text on a dark page. @param {string} colour as computed */
export function isLight(colour) {
  const [r = 0, g = 0, b = 0] = (colour.match(/[\d.]+/g) ?? []).map(Number);
  return r * 0.3 + g * 0.59 + b * 0.11 > 127;
}

/** Puts a tooltip beside the pointer. @param {{tip: HTMLElement, width: number, height: number}} graph @param {string[]} lines @param {PointerEvent} event */
export function showTip({ tip, width, height }, lines, { offsetX, offsetY }) {
  fill(tip, lines.map((line) => h('div', null, line)));
  const box = tip.getBoundingClientRect();
  const left = Math.min(offsetX + 14, width - box.width);
  const top = offsetY + 18 + box.height > height ? offsetY - box.height - 8 : offsetY + 18;
  tip.style.transform = `translate(${Math.max(0, left)}px, ${Math.max(0, top)}px)`;
}
