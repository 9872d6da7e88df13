// What ran at each time, in lanes, and the memory below. A pointer or keys choose a block, and brush a part of the time.

import { fill, h, svg } from './dom.js';
import { processLink } from './cell.js';
import { duration, grouped, size, visible } from './value_text.js';
import { fitting, heightOf, marksOf, nearest, rounded, stacked, stepOf, timeText, withoutFolders } from './lane_times.js';

/** @typedef {import('./lane_times.js').Block} Block */
/** @typedef {import('./lane_times.js').Range} Range */
/**
 * @typedef {object} Charted
 * @property {Range} range the time that is drawn
 * @property {number} lanes how many there are
 * @property {Block[]} blocks
 * @property {{name: string, rank: number, share: number}[]} classes those of the range
 * @property {{time: number, bytes: number, classes: number[]}[]} memory
 */
/**
 * @typedef {object} Doing
 * @property {(block: Block) => void} open a block was chosen
 * @property {(brush: Range | null) => void} brush
 * @property {() => void} zoom to the brush, or to everything
 * @property {(change: import('./state.js').Change) => string} href
 */

/** Classes with a colour of their own. */
export const COLOURS = 8;
const [LEFT, RIGHT, AXIS, GAP, MEMORY] = [74, 8, 20, 10, 110];
/** Less waiting is not marked. */
const MARKED = 0.1;
/** Between the critical path and the lanes. */
const APART = 6;
/** A pointer that moves less than this clicks, in pixels. */
const CLICK = 4;

/** The class of style of a class of processes. @param {number | null} rank */
export function colourOf(rank) {
  return rank === null || rank >= COLOURS ? 'kind-other' : `kind-${rank + 1}`;
}

export class LanesChart {
  /** @param {Doing} doing */
  constructor(doing) {
    this.doing = doing;
    /** @type {Charted | null} */
    this.charted = null;
    /** @type {Range | null} */
    this.brush = null;
    /** The chosen block. */
    this.at = -1;
    /** Where a brush by keys began. @type {number | null} */
    this.anchor = null;
    /** Where the pointer went down. @type {number | null} */
    this.down = null;
    this.width = 0;
    this.legend = h('ul', { class: 'lane-legend' });
    this.told = h('p', { class: 'lane-told' });
    this.marks = svg('g', { class: 'marks' });
    this.plot = h('div', {
      class: 'lanes', tabindex: 0, role: 'slider', 'aria-label': 'what ran, in lanes', 'aria-orientation': 'horizontal',
      title: 'click: a block; drag: brush; keys: ← → ↑ ↓ blocks, Shift brushes, Enter opens, z zooms, Del clears',
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
      onpointerdown: (/** @type {PointerEvent} */ event) => this.press(event),
      onpointermove: (/** @type {PointerEvent} */ event) => this.hover(event),
      onpointerup: (/** @type {PointerEvent} */ event) => this.release(event),
      onpointercancel: () => { this.down = null; this.mark(); },
    });
    this.element = h('div', { class: 'lanes-block' }, this.legend, this.told, this.plot);
    this.resized = new ResizeObserver(() => {
      if (this.width !== this.plot.clientWidth) this.draw();
    });
    this.resized.observe(this.plot);
  }

  /** @param {Charted} charted @param {Range | null} brush */
  show(charted, brush) {
    const isSame = charted === this.charted;
    [this.charted, this.brush] = [charted, brush];
    if (isSame && this.plot.hasChildNodes()) return this.mark();
    this.at = charted.blocks.findIndex((block) => block.lane >= 0);
    const others = charted.classes.filter((one) => one.rank >= COLOURS);
    const share = (/** @type {number} */ of) => ` ${(of * 100).toFixed(1)} %`;
    fill(this.legend, charted.classes.filter((one) => one.rank < COLOURS).map((one) => h('li', { class: colourOf(one.rank) },
      h('span', { class: 'patch' }), h('bdi', null, visible(one.name.slice(0, 60))), h('span', { class: 'muted' }, share(one.share)))),
    others.length > 0 ? h('li', { class: 'kind-other' }, h('span', { class: 'patch' }), `${grouped(others.length)} others`,
      h('span', { class: 'muted' }, share(others.reduce((sum, one) => sum + one.share, 0)))) : null,
    charted.blocks.some((block) => block.waiting >= MARKED) ? h('li', null, h('span', { class: 'patch waiting' }), 'waited for a processor') : null);
    this.draw();
  }

  /** @param {number} time */
  x(time) {
    const [from, to] = /** @type {Charted} */ (this.charted).range;
    const share = (time - from) / Math.max(to - from, 1);
    return LEFT + Math.max(0, Math.min(1, share)) * (this.width - LEFT - RIGHT);
  }

  /** @param {MouseEvent} event @returns {{time: number, lane: number}} */
  placeOf(event) {
    const { left, top } = this.plot.getBoundingClientRect();
    const [from, to] = /** @type {Charted} */ (this.charted).range;
    const share = (event.clientX - left - LEFT) / Math.max(this.width - LEFT - RIGHT, 1);
    return { time: Math.round(from + Math.max(0, Math.min(1, share)) * (to - from)), lane: Math.floor((event.clientY - top - this.top(0)) / this.lane) };
  }

  /** The height of a lane. */
  get lane() {
    const lanes = this.charted?.lanes ?? 1;
    return lanes <= 8 ? 22 : lanes <= 24 ? 14 : 7;
  }

  /** Lines above the first lane: that of the critical path has the number −1. */
  get above() {
    return this.charted?.blocks[0]?.lane === -1 ? 1 : 0;
  }

  /** Where a lane begins. @param {number} lane */
  top(lane) {
    return lane < 0 ? 0 : lane * this.lane + this.above * (this.lane + APART);
  }

  draw() {
    this.width = this.plot.clientWidth;
    const charted = this.charted;
    if (!charted || this.width === 0) return;
    const { range, memory } = charted;
    const below = this.top((charted.blocks.at(-1)?.lane ?? 0) + 1);
    const step = stepOf(range[1] - range[0], Math.max(2, Math.floor((this.width - LEFT) / 90)));
    const height = below + AXIS + (memory.length > 0 ? GAP + MEMORY : 0);
    const axis = marksOf(range, step).map((time) => [
      svg('line', { class: 'grid', x1: this.x(time), x2: this.x(time), y1: 0, y2: height }),
      svg('text', { x: this.x(time), y: below + 14, 'text-anchor': this.x(time) > this.width - 40 ? 'end' : this.x(time) < LEFT + 20 ? 'start' : 'middle' }, timeText(time, step)),
    ]);
    fill(this.plot, svg('svg', { width: this.width, height, 'aria-hidden': 'true' }, axis.flat(),
      charted.blocks.flatMap((block) => this.block(block)),
      this.above ? svg('text', { x: LEFT - 6, y: this.lane / 2 + 4, 'text-anchor': 'end' }, 'critical') : null,
      memory.length > 0 ? this.memory(charted, below + AXIS + GAP) : null, this.marks));
    this.mark();
  }

  /** @param {Block} block */
  block(block) {
    const [x, end] = [this.x(block.from), this.x(block.to)];
    const room = this.lane - 2;
    const height = heightOf(block, room);
    const bottom = this.top(block.lane) + 1 + room;
    const width = Math.max(end - x - (end - x > 4 ? 1 : 0), 1);
    const kind = colourOf(block.rank);
    const words = block.spans > 1 ? `${block.name ?? ''} ×${block.spans}` : withoutFolders(block.program ?? block.name ?? '');
    const text = room < 12 || height < 12 ? '' : fitting(visible(words), width - 6);
    return [svg('rect', { class: `${kind} block${block.lane < 0 ? ' path' : ''}`, x: x.toFixed(1), y: (bottom - height).toFixed(1), width: width.toFixed(1), height: height.toFixed(1) }),
      text ? svg('text', { class: 'name', x: (x + 3).toFixed(1), y: bottom - room / 2 + 4 }, text) : null,
      block.critical > 0 ? svg('rect', { class: 'critical', x: x.toFixed(1), y: bottom - 2, width: width.toFixed(1), height: 3 }) : null,
      block.waiting >= MARKED ? svg('rect', { class: 'waiting', x: x.toFixed(1), y: (bottom - height).toFixed(1), width: Math.max(width * block.waiting, 1).toFixed(1), height: 2 }) : null];
  }

  /** The memory of the tree, its classes above each other. @param {Charted} charted @param {number} top */
  memory({ memory, range }, top) {
    const most = memory.reduce((one, at) => Math.max(one, at.bytes), 1);
    const y = (/** @type {number} */ bytes) => (top + MEMORY - (bytes / most) * (MEMORY - 12)).toFixed(1);
    const classes = memory[0].classes.map((_, rank) => memory.map((at) => at.classes[rank]));
    const others = memory.map((at) => Math.max(0, at.bytes - at.classes.reduce((sum, one) => sum + one, 0)));
    const areas = stacked([...classes, others]).map((pairs, rank) => {
      if (pairs.every(([from, to]) => from === to)) return null;
      const line = (/** @type {0 | 1} */ side) => pairs.map((pair, at) => `${this.x(memory[at].time).toFixed(1)},${y(pair[side])}`);
      return svg('polygon', { class: `${colourOf(rank < classes.length ? rank : null)} area${memory.length === 1 ? ' single' : ''}`, points: [...line(1), ...line(0).reverse()].join(' ') });
    });
    return [svg('line', { class: 'grid', x1: LEFT, x2: this.x(range[1]), y1: top + MEMORY, y2: top + MEMORY }), ...areas,
      svg('text', { x: LEFT - 6, y: top + 16, 'text-anchor': 'end' }, size(most).replace('.0 ', ' ')), svg('text', { x: LEFT - 6, y: top + MEMORY, 'text-anchor': 'end' }, '0'),
      svg('text', { x: LEFT - 6, y: top + 32, 'text-anchor': 'end' }, 'memory')];
  }

  /** Shows the brush and the chosen block. @param {Range | null} [dragged] */
  mark(dragged = null) {
    const charted = this.charted;
    if (!charted) return;
    const brush = dragged ?? this.brush;
    const height = this.plot.clientHeight;
    const block = charted.blocks[this.at];
    fill(this.marks,
      brush && svg('rect', { class: 'brush', x: this.x(brush[0]), width: Math.max(this.x(brush[1]) - this.x(brush[0]), 1), y: 0, height }),
      block && svg('rect', { class: 'chosen', x: this.x(block.from) - 1, width: Math.max(this.x(block.to) - this.x(block.from), 1) + 2, y: this.top(block.lane), height: this.lane }));
    this.tell();
  }

  /** Says what the chosen block is. */
  tell() {
    const { range, blocks } = /** @type {Charted} */ (this.charted);
    const block = blocks[this.at];
    for (const [name, value] of [['min', range[0]], ['max', range[1]], ['now', block?.from ?? range[0]]]) {
      this.plot.setAttribute(`aria-value${name}`, String(Math.round(Number(value) / 1e6)));
    }
    const words = block ? wordsOf(block) : ['nothing ran'];
    const brushed = this.brush ? `; brush ${duration(this.brush[0])} to ${duration(this.brush[1])}` : '';
    this.plot.setAttribute('aria-valuetext', words.join(', ') + brushed);
    const process = block?.process ? [' ', processLink(block.process, { href: this.doing.href })] : null;
    fill(this.told, h('bdi', null, words[0]), process, words.slice(1).map((word) => [', ', word]).flat());
  }

  /** @param {PointerEvent} event */
  press(event) {
    if (event.button !== 0 || !this.charted) return;
    this.down = event.clientX;
    this.from = this.placeOf(event).time;
    this.plot.setPointerCapture(event.pointerId);
  }

  /** @param {PointerEvent} event */
  hover(event) {
    if (!this.charted) return;
    const { time, lane } = this.placeOf(event);
    if (this.down !== null && Math.abs(event.clientX - this.down) >= CLICK) return this.mark(rangeBetween(this.from ?? 0, time));
    const near = nearest(this.charted.blocks, lane, time);
    if (near < 0 || near === this.at || this.down !== null) return;
    this.at = near;
    this.mark();
  }

  /** A drag brushes, a click opens a block. @param {PointerEvent} event */
  release(event) {
    if (this.down === null || !this.charted) return;
    const isClick = Math.abs(event.clientX - this.down) < CLICK;
    this.down = null;
    const { time, lane } = this.placeOf(event);
    const block = this.charted.blocks[nearest(this.charted.blocks, lane, time)];
    // A block may be thinner than what a pointer meets.
    const near = block && Math.max(this.x(block.from) - this.x(time), this.x(time) - this.x(block.to)) < CLICK;
    if (!isClick) this.brushed(this.from ?? time, time);
    else if (near) this.doing.open(block);
    else this.doing.brush(null);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const block = this.charted?.blocks[this.at];
    if (!this.charted || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === 'Enter' && block) this.doing.open(block);
    else if (event.key === 'z') this.doing.zoom();
    else if (event.key === 'Delete' || event.key === 'Backspace') this.doing.brush(null);
    else if (!this.move(event)) return;
    event.preventDefault();
  }

  /** @param {KeyboardEvent} event */
  move(event) {
    const { blocks } = /** @type {Charted} */ (this.charted);
    const block = blocks[this.at];
    if (!block) return false;
    const middle = (block.from + block.to) / 2;
    const ofLane = (/** @type {number} */ at) => (blocks[at]?.lane === block.lane ? at : this.at);
    const next = /** @type {Record<string, () => number>} */ ({
      ArrowLeft: () => ofLane(this.at - 1), ArrowRight: () => ofLane(this.at + 1), ArrowUp: () => nearest(blocks, block.lane - 1, middle), ArrowDown: () => nearest(blocks, block.lane + 1, middle),
      Home: () => blocks.findIndex((one) => one.lane === block.lane), End: () => blocks.findLastIndex((one) => one.lane === block.lane),
    })[event.key]?.();
    if (next === undefined) return false;
    if (next >= 0) this.at = next;
    const to = blocks[this.at];
    if (event.shiftKey) {
      // The brush goes from where it began to the end of the chosen block, or to its beginning.
      this.anchor = this.brush && this.anchor !== null ? this.anchor : block.from;
      this.brushed(this.anchor, to.from < this.anchor ? to.from : to.to);
    } else {
      this.anchor = null;
    }
    this.mark();
    return true;
  }

  /** @param {number} one @param {number} other */
  brushed(one, other) {
    const [from, to] = /** @type {Charted} */ (this.charted).range;
    const pixel = (to - from) / Math.max(this.width - LEFT - RIGHT, 1);
    this.doing.brush(one === other ? null : rounded(rangeBetween(one, other), pixel));
  }

  destroy() {
    this.resized.disconnect();
    this.charted = null;
  }
}

/** @param {number} one @param {number} other @returns {Range} */
function rangeBetween(one, other) {
  return [Math.min(one, other), Math.max(one, other)];
}

/** A block in words. @param {Block} block */
function wordsOf(block) {
  const isOne = block.spans === 1;
  const what = isOne || block.process ? block.program ?? block.name ?? 'a process' : `${grouped(block.spans)} pieces`;
  const share = Math.round((block.own / Math.max(block.running, 1)) * 100);
  const of = block.name === null ? 'without a class' : isOne || share === 100 ? block.name : `${share} % ${block.name}`;
  return [visible(what), visible(of), `${duration(block.from)} to ${duration(block.to)}`, `ran ${duration(block.running)}`, block.lane < 0 ? 'the critical path' : `lane ${block.lane}`,
    ...(block.critical > 0 ? [`${duration(block.critical)} on the critical path`] : []),
    ...(block.waiting >= MARKED ? [`waited for a processor ${Math.round(block.waiting * 100)} % of its time`] : [])];
}
