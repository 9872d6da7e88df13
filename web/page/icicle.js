// A flame graph that hangs down, on a canvas: the whole in the first row, and below each cell what it retains. All of it can be
// had without a pointer: arrow keys walk the cells and say them, and a table lists them.

import { h, onTheme } from './dom.js';
import { grouped, numberText, visible } from './value_text.js';
import { found } from './flame_cells.js';
import { TypeColours, ageColour, ageText, growthColour, inkColour, neutralColour, shortKind } from './map_words.js';
import { manyOf } from './tree_nodes.js';
import { changeSign, changeText, fittedName, isLight, showTip } from './treemap.js';

/** @typedef {import('./flame_cells.js').FlameCell} FlameCell */
/**
 * @typedef {object} IcicleOptions
 * @property {(cell: FlameCell) => void} onSelect
 * @property {(cell: FlameCell, index: number) => void} onZoom
 * @property {() => boolean} onOut whether there is an outside
 * @property {(text: string) => void} announce
 */
/** The change of each cell, and between which snapshots. @typedef {{changes: (number | null)[], a: number, b: number}} Growth */
/** The age of each cell in snapshots, null where it is not known; and that of objects of the first snapshot. @typedef {{ages: (number | null)[], oldest: number}} Ages */

/**
 * Neighbours in a row that are too thin to be drawn alone, in pixels from the left.
 * @typedef {{depth: number, x: number, w: number, cells: number[], size: number, largest: number}} Strip
 */

/** The height of a row, in pixels. */
const ROW = 20;
/** Cells are drawn from this width on and labelled from that one on, in pixels. */
const [FINEST, LABEL_WIDTH] = [0.4, 26];
/** Thin cells with less room than this between them are one strip, in pixels. */
const APART = 1;
const FONT = '12px system-ui, sans-serif';

export class Icicle {
  /** @param {IcicleOptions} options */
  constructor(options) {
    this.options = options;
    /** @type {FlameCell[]} */
    this.cells = [];
    /** The cells of each depth, from left to right. @type {number[][]} */
    this.rows = [];
    /** Labels that were drawn, and for which room: most of them are the same in the next frame. @type {{room: number, text: string}[]} */
    this.labels = [];
    /** The colours of cells, once they were drawn. @type {string[]} */
    this.painted = [];
    this.colours = new TypeColours();
    /** Of all rows, for a top and a width. @type {Strip[]} */
    this.strips = [];
    this.stripsOf = '';
    this.unit = 'bytes';
    this.top = 0;
    this.selected = -1;
    this.text = '';
    this.matches = found([], '');
    /** @type {Growth | null} */
    this.growth = null;
    /** @type {Ages | null} */
    this.ages = null;
    /** What is in sight, kept because asking the browser makes it lay out the page. */
    this.width = this.height = this.scrolled = 0;
    this.canvas = h('canvas', { width: 0, height: 0, tabindex: 0, role: 'application', 'aria-roledescription': 'flame graph' });
    this.cursor = h('div', { class: 'map-cursor', hidden: true });
    this.hover = h('div', { class: 'map-cursor map-hover', hidden: true });
    this.tip = h('div', { class: 'map-tip', hidden: true, 'aria-hidden': 'true' });
    this.space = h('div', { class: 'flame-space' }, this.canvas, this.cursor, this.hover);
    this.scroller = h('div', { class: 'flame-scroller' }, this.space);
    this.element = h('div', { class: 'flame' }, this.scroller, this.tip);
    /** Measures texts. That of a canvas on the page makes the browser lay out. */
    this.ruler = /** @type {OffscreenCanvasRenderingContext2D} */ (new OffscreenCanvas(1, 1).getContext('2d'));
    this.ruler.font = FONT;
    this.frame = 0;
    this.label = '';
    this.isDark = this.knowsTheme = false;
    /** The largest change, for the colours. */
    this.largest = 1;
    this.resizes = new ResizeObserver(() => {
      [this.width, this.height] = [this.scroller.clientWidth, this.scroller.clientHeight];
      this.paint();
    });
    this.resizes.observe(this.scroller);
    this.leaveTheme = onTheme(() => {
      this.knowsTheme = false;
      this.painted = [];
      this.paint();
    });
    this.#listen();
  }

  destroy() {
    cancelAnimationFrame(this.frame);
    this.resizes.disconnect();
    this.leaveTheme();
  }

  /** @param {FlameCell[]} cells @param {string} unit */
  setCells(cells, unit) {
    this.cells = cells;
    this.unit = unit;
    this.growth = this.ages = null;
    this.rows = [];
    this.labels = [];
    this.painted = [];
    this.stripsOf = '';
    /** What is drawn of each type. @type {Map<string, number>} */
    const sizes = new Map();
    cells.forEach((cell, at) => {
      (this.rows[cell.depth] ??= []).push(at);
      if (!cell.isRest) sizes.set(cell.type, (sizes.get(cell.type) ?? 0) + cell.size);
    });
    this.colours.choose(sizes);
    this.setTop(0);
  }

  /** Shows a cell and what is below it. @param {number} top */
  setTop(top) {
    this.top = this.cells[top] ? top : 0;
    this.selected = this.cells.length > 0 ? this.top : -1;
    this.#scrollTo(0);
    this.setText(this.text);
  }

  /** Highlights cells with a text. @param {string} text */
  setText(text) {
    this.text = text;
    this.matches = found(this.cells, text, this.top);
    this.paint();
  }

  /** Colours by growth or by age, or else by type. @param {{growth?: Growth, ages?: Ages}} [by] */
  setColours({ growth, ages } = {}) {
    this.growth = growth ?? null;
    this.largest = Math.max(1, ...(growth?.changes ?? []).map((change) => Math.abs(change ?? 0)));
    this.ages = ages ?? null;
    this.labels = [];
    this.painted = [];
    this.paint();
  }

  /** @param {number} y from the first row, in pixels */
  #scrollTo(y) {
    if (y === this.scrolled) return;
    this.scroller.scrollTop = y;
    this.scrolled = this.scroller.scrollTop;
  }

  /** Draws with the next frame. */
  paint() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.#paint();
    });
  }

  #paint() {
    const { canvas, cells } = this;
    put(this.space, { height: `${(this.rows.length - this.#depth()) * ROW}px` });
    const ratio = window.devicePixelRatio || 1;
    const [wide, high] = [Math.max(1, Math.round(this.width * ratio)), Math.max(1, Math.round(this.height * ratio))];
    put(canvas, { height: `${this.height}px`, transform: `translateY(${this.scrolled}px)` });
    const pen = canvas.getContext('2d');
    if (!pen) return;
    // Another size makes another bitmap, which takes longer than clearing this one, and loses the font, which makes the browser
    // lay out. So a bitmap may be higher than what is seen of it.
    if (canvas.width !== wide || canvas.height < high) {
      [canvas.width, canvas.height] = [wide, high];
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      pen.font = FONT;
      pen.textBaseline = 'middle';
    }
    if (cells.length === 0) return;
    pen.clearRect(0, 0, this.width, this.height);
    if (!this.knowsTheme) this.isDark = isLight(getComputedStyle(canvas).color);
    this.knowsTheme = true;
    // A canvas parses each colour that differs from the one before, so labels have a pass of their own.
    const seen = this.#seen();
    const strips = this.#seenStrips();
    const isSearched = this.text.trim() !== '';
    for (const at of seen) this.#paintCell(pen, at, isSearched && !this.matches.isFound[at]);
    for (const strip of strips) this.#paintStrip(pen, strip, isSearched && !strip.cells.some((at) => this.matches.isFound[at]));
    pen.fillStyle = inkColour(this.isDark);
    for (const at of seen) this.#paintLabel(pen, at);
    const { title, size } = cells[this.top];
    const label = `flame graph of ${visible(title)}, ${numberText(size, this.unit)}; arrow keys walk, Enter zooms in, Escape out`;
    if (label !== this.label) canvas.setAttribute('aria-label', this.label = label);
    this.#showCursor();
  }

  /** The rows that are in sight. */
  #seen() {
    const first = Math.floor(this.scrolled / ROW) + this.#depth();
    const last = first + Math.ceil(this.height / ROW);
    return this.rows.slice(first, last + 1).flat().filter((at) => {
      const { x, w } = this.#box(at);
      return w >= FINEST && x < this.width && x + w > 0;
    });
  }

  /** The strips of the rows in sight. */
  #seenStrips() {
    const key = `${this.top} ${this.width}`;
    if (key !== this.stripsOf) [this.strips, this.stripsOf] = [this.#allStrips(), key];
    const first = Math.floor(this.scrolled / ROW) + this.#depth();
    const last = first + Math.ceil(this.height / ROW);
    return this.strips.filter(({ depth }) => depth >= first && depth <= last);
  }

  /** Runs of cells that are too thin to be drawn alone. */
  #allStrips() {
    /** @type {Strip[]} */
    const all = [];
    for (const row of this.rows.slice(this.#depth())) {
      /** @type {Strip | null} */
      let strip = null;
      for (const at of row) {
        const { x, w } = this.#box(at);
        const { size, depth } = this.cells[at];
        if (x >= this.width || x + w <= 0) continue;
        if (w >= FINEST) strip = null;
        else if (strip && x - strip.x - strip.w < APART) {
          strip.cells.push(at);
          [strip.w, strip.size] = [x + w - strip.x, strip.size + size];
          if (size > this.cells[strip.largest].size) strip.largest = at;
        } else all.push(strip = { depth, x, w, cells: [at], size, largest: at });
      }
    }
    return all.filter(({ w }) => w >= FINEST);
  }

  /** The strip at a point of the canvas. @param {number} x @param {number} y */
  #stripAt(x, y) {
    const depth = Math.floor((y + this.scrolled) / ROW) + this.#depth();
    return this.#seenStrips().find((strip) => strip.depth === depth && x >= strip.x && x < strip.x + strip.w) ?? null;
  }

  /** The depth of the first row. */
  #depth() {
    return this.cells[this.top]?.depth ?? 0;
  }

  /** Where a cell is, in pixels from the left and from the first row. @param {number} at */
  #box(at) {
    const [cell, top] = [this.cells[at], this.cells[this.top]];
    const scale = this.width / (top.w || 1);
    return { x: (cell.x - top.x) * scale, y: (cell.depth - top.depth) * ROW, w: cell.w * scale };
  }

  /** Where the part of a cell that is in sight is drawn, from the corner of the canvas. @param {number} at */
  #drawn(at) {
    const box = this.#box(at);
    const x = Math.max(0, box.x);
    return { x, y: box.y - this.scrolled, w: Math.min(this.width, box.x + box.w) - x };
  }

  /** @param {CanvasRenderingContext2D} pen @param {number} at @param {boolean} isDim */
  #paintCell(pen, at, isDim) {
    const { x, y, w } = this.#drawn(at);
    pen.fillStyle = isDim ? neutralColour(this.isDark) : this.#colour(at);
    pen.fillRect(x, y, Math.max(w - 0.5, FINEST), ROW - 1);
    if (this.cells[at].isRest) this.#hatch(pen, x, y, w);
  }

  /** @param {CanvasRenderingContext2D} pen @param {Strip} strip @param {boolean} isDim */
  #paintStrip(pen, { x, w, depth, largest }, isDim) {
    const y = (depth - this.#depth()) * ROW - this.scrolled;
    pen.fillStyle = isDim ? neutralColour(this.isDark) : this.#colour(largest);
    pen.fillRect(x, y, w, ROW - 1);
    this.#hatch(pen, x, y, w);
  }

  /** @param {CanvasRenderingContext2D} pen @param {number} at */
  #paintLabel(pen, at) {
    const { x, y, w } = this.#drawn(at);
    if (w < LABEL_WIDTH) return;
    const room = Math.floor(w - 6);
    if (this.labels[at]?.room !== room) this.labels[at] = { room, text: this.#label(at, room) };
    pen.fillText(this.labels[at].text, x + 3, y + ROW / 2);
  }

  /** @param {CanvasRenderingContext2D} pen @param {number} x @param {number} y @param {number} w */
  #hatch(pen, x, y, w) {
    pen.strokeStyle = this.isDark ? '#ffffff2c' : '#00000026';
    pen.beginPath();
    for (let at = x + 4; at < x + w; at += 7) {
      pen.moveTo(Math.max(x, at - 5), y + ROW - 2);
      pen.lineTo(at, y + 1);
    }
    pen.stroke();
  }

  /** @param {number} at */
  #colour(at) {
    return (this.painted[at] ??= this.#colourOf(at));
  }

  /** @param {number} at */
  #colourOf(at) {
    const [cell, isDark] = [this.cells[at], this.isDark];
    if (cell.isRest || cell.depth === 0 || cell.place.roots !== null) return neutralColour(isDark);
    if (this.ages) return ageColour(this.ages.ages[at], this.ages.oldest, isDark);
    return this.growth ? growthColour(this.growth.changes[at] ?? 0, this.largest, isDark) : this.colours.of(cell.type, isDark);
  }

  /** The label of a cell, cut to the room there is; without the package of a type if there is none for it. Its size stays where it can.
   *  @param {number} at @param {number} room in pixels */
  #label(at, room) {
    const { title, many, size } = this.cells[at];
    const sign = this.growth?.changes[at] ? `${changeSign(this.growth.changes[at])} ` : '';
    const end = `  ${numberText(size, this.unit)}`;
    const label = (/** @type {string} */ name) => sign + manyOf(many, visible(name.slice(0, 300)));
    const whole = label(title);
    return this.ruler.measureText(whole + end).width <= room ? whole + end : fittedName(this.ruler, label(shortKind(title)), room, end);
  }

  /** What is said of a cell, in lines. @param {number} at */
  lines(at) {
    const { cells, unit } = this;
    const { title, many, size, own, object, chain } = cells[at];
    const lines = [manyOf(many, visible(title)), this.#sizeOf(size)];
    if (chain !== null) lines.push(chain);
    if (own !== null && own !== size) lines.push(`${numberText(own, unit)} itself`);
    if (object !== null && !cells[at].isRest) lines.push(`${many > 1 ? 'the largest is ' : ''}@${object}`);
    const change = this.growth?.changes[at];
    if (this.growth) lines.push(`${this.growth.a}..${this.growth.b}: ${change ? `${changeSign(change)} ${changeText(change)}` : change === 0 ? 'unchanged' : 'no known change'}`);
    const age = this.ages?.ages[at];
    if (this.ages) lines.push(typeof age === 'number' ? `median age of the type: ${ageText(age, this.ages.oldest)}` : 'no known age');
    const way = this.way(at).slice(1).map((one) => visible(cells[one].title.slice(0, 60)));
    if (way.length > 1) lines.push((way.length > 8 ? [...way.slice(0, 3), '…', ...way.slice(-4)] : way).join(' › '));
    return lines;
  }

  /** @param {number} size */
  #sizeOf(size) {
    return `${numberText(size, this.unit)}, ${((size / (this.cells[this.top].size || 1)) * 100).toFixed(1)} %`;
  }

  /** What is said of cells that are too thin to be drawn alone. @param {Strip} strip */
  #linesOf({ cells, size, largest }) {
    return [`${grouped(cells.length)} cells, each too thin to be drawn alone`, `${this.#sizeOf(size)} together`,
      `the largest: ${visible(this.cells[largest].title.slice(0, 100))}, ${numberText(this.cells[largest].size, this.unit)}`];
  }

  /** The cells from the first one to another. @param {number} at */
  way(at) {
    const way = [];
    for (let one = at; one >= 0; one = this.cells[one].parent) way.unshift(one);
    return way;
  }

  // Cursor and tooltip

  #showCursor() {
    const isSeen = this.selected >= 0 && this.way(this.selected).includes(this.top);
    this.cursor.hidden = !isSeen;
    if (isSeen) this.#frame(this.cursor, this.selected);
  }

  /** @param {HTMLElement} box @param {number} at */
  #frame(box, at) {
    const { x, y, w } = this.#box(at);
    box.style.transform = `translate(${Math.min(x, this.width - 2)}px, ${y}px)`;
    box.style.width = `${Math.max(2, Math.min(w, this.width - x))}px`;
    box.style.height = `${ROW - 1}px`;
  }

  /** @param {PointerEvent} event */
  #point(event) {
    const at = this.cellAt(event.offsetX, event.offsetY);
    const strip = at < 0 ? this.#stripAt(event.offsetX, event.offsetY) : null;
    this.tip.hidden = at < 0 && strip === null;
    this.hover.hidden = at < 0;
    if (this.tip.hidden) return;
    if (at >= 0) this.#frame(this.hover, at);
    showTip(this, strip ? this.#linesOf(strip) : this.lines(at), event);
  }

  /** The cell that is drawn at a point of the canvas; -1 if none is there. @param {number} x @param {number} y */
  cellAt(x, y) {
    if (this.cells.length === 0) return -1;
    const row = this.rows[Math.floor((y + this.scrolled) / ROW) + this.#depth()] ?? [];
    return row.find((at) => {
      const box = this.#box(at);
      return box.w >= FINEST && x >= box.x && x < box.x + box.w;
    }) ?? -1;
  }

  /** A click zooms into a cell; of cells that are too thin into what is drawn around them. @param {MouseEvent} event */
  #click({ offsetX, offsetY }) {
    // What is below the pointer is another cell afterwards.
    this.hover.hidden = this.tip.hidden = true;
    const strip = this.#stripAt(offsetX, offsetY);
    let at = strip ? strip.largest : this.cellAt(offsetX, offsetY);
    if (strip) while (at !== this.top && this.#box(at).w < FINEST) at = this.cells[at].parent;
    this.zoom(at);
    if (strip && at === this.top) this.options.announce(this.#linesOf(strip).join(', '));
  }

  // Keys and pointers

  #listen() {
    const { canvas } = this;
    canvas.addEventListener('pointermove', (event) => this.#point(event));
    canvas.addEventListener('pointerleave', () => { this.hover.hidden = this.tip.hidden = true; });
    canvas.addEventListener('click', (event) => this.#click(event));
    canvas.addEventListener('contextmenu', (event) => this.#chooseForMenu(event));
    canvas.addEventListener('keydown', (event) => this.#key(event));
    this.scroller.addEventListener('scroll', () => {
      this.scrolled = this.scroller.scrollTop;
      this.hover.hidden = this.tip.hidden = true;
      this.paint();
    });
  }

  /** @param {number} at */
  choose(at) {
    if (at < 0) return;
    this.selected = at;
    const { y } = this.#box(at);
    if (y < this.scrolled) this.#scrollTo(y);
    if (y + ROW > this.scrolled + this.height) this.#scrollTo(y + ROW - this.height);
    this.#showCursor();
    this.options.announce(this.lines(at).join(', '));
    this.options.onSelect(this.cells[at]);
  }

  /** Zooms into a cell: at once with the cells that are here. What is left out is seen from the cell above it, or by object. @param {number} at */
  zoom(at) {
    const place = at >= 0 && this.cells[at].isRest && this.cells[at].object === null ? this.cells[at].parent : at;
    if (place < 0) return;
    this.choose(place);
    if (place === this.top) return;
    this.setTop(place);
    this.options.onZoom(this.cells[place], place);
  }

  /** The menu is that of the links of the chosen cell; where no cell is, there is none. @param {MouseEvent} event */
  #chooseForMenu(event) {
    this.hover.hidden = this.tip.hidden = true;
    const at = this.#stripAt(event.offsetX, event.offsetY)?.largest ?? this.cellAt(event.offsetX, event.offsetY);
    if (at < 0) event.stopPropagation();
    this.choose(at);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || this.cells.length === 0) return;
    if (event.key === 'Enter') this.zoom(this.selected);
    else if (event.key === 'Escape') {
      if (!this.options.onOut()) return;
    } else {
      const to = this.#neighbour(event.key);
      if (to === undefined) return;
      this.choose(to);
    }
    event.preventDefault();
    event.stopPropagation();
  }

  /** The cell that a key leads to: the largest below, the one above, those beside. @param {string} key @returns {number | undefined} undefined for other keys */
  #neighbour(key) {
    const at = Math.max(this.selected, 0);
    const { depth, parent } = this.cells[at];
    const row = this.rows[depth] ?? [];
    switch (key) {
      case 'ArrowDown': {
        const below = (this.rows[depth + 1] ?? []).filter((one) => this.cells[one].parent === at);
        return below.sort((one, other) => this.cells[other].size - this.cells[one].size)[0] ?? -1;
      }
      case 'ArrowUp': return at === this.top ? -1 : parent;
      case 'ArrowLeft': return this.#within(row[row.indexOf(at) - 1]);
      case 'ArrowRight': return this.#within(row[row.indexOf(at) + 1]);
      case 'Home': return this.top;
      default: return undefined;
    }
  }

  /** A cell, if it is below the top. @param {number | undefined} at */
  #within(at) {
    return at !== undefined && this.way(at).includes(this.top) ? at : -1;
  }
}

/** Sets what is not so yet of an element's style. @param {HTMLElement} element @param {Record<string, string>} style */
function put(element, style) {
  for (const [name, value] of Object.entries(style)) if (element.style.getPropertyValue(name) !== value) element.style.setProperty(name, value);
}
