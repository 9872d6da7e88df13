// Values as points: over the order of runs, or over the settings of a knob. A pointer or keys choose a point.

import { fill, h, svg } from './dom.js';
import { grouped, visible } from './cell.js';
import { markText, marksOf, measured, modeClass } from './trial_values.js';

/** @typedef {{x: number, y: number, mode: number | null, run: number, words: string}} Point */
/**
 * @typedef {object} Charted
 * @property {string} label what the chart shows
 * @property {string} unit of the values
 * @property {Point[]} points
 * @property {{x: number, run: number}[]} failed runs without a value
 * @property {string[] | null} names those of the places 0, 1, …, if they are no numbers
 */

const [LEFT, RIGHT, ABOVE, AXIS, HEIGHT] = [76, 12, 18, 20, 190];
/** A pointer meets a point within this distance, in pixels. */
const REACH = 24;

export class Scatter {
  /** @param {(run: number) => void} open a point was chosen */
  constructor(open) {
    this.open = open;
    /** @type {Charted | null} */
    this.charted = null;
    /** All points in the order of their places, the failed runs among them. @type {{x: number, y: number | null, run: number, words: string}[]} */
    this.all = [];
    this.at = 0;
    /** What the axes show. @type {{x: [number, number], y: [number, number]} | null} */
    this.ranges = null;
    this.width = 0;
    this.told = h('p', { class: 'lane-told' });
    this.marks = svg('g');
    this.plot = h('div', {
      class: 'bars', tabindex: 0, role: 'slider', 'aria-orientation': 'horizontal', title: 'click: a run; keys: ← → points, Enter opens the run',
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
      onpointermove: (/** @type {PointerEvent} */ event) => this.hover(event),
      onclick: (/** @type {PointerEvent} */ event) => this.hover(event) && this.open(this.all[this.at].run),
    });
    this.element = h('div', null, this.told, this.plot);
    this.resized = new ResizeObserver(() => this.width !== this.plot.clientWidth && this.draw());
    this.resized.observe(this.plot);
  }

  /** @param {Charted} charted */
  show(charted) {
    this.charted = charted;
    this.at = 0;
    this.all = [...charted.points, ...charted.failed.map(({ x, run }) => ({ x, y: null, run, words: 'failed' }))].sort((one, other) => one.x - other.x);
    this.ranges = { x: charted.names ? [-0.5, charted.names.length - 0.5] : rangeOf(this.all.map(({ x }) => x)), y: rangeOf(charted.points.map(({ y }) => y)) };
    this.plot.setAttribute('aria-label', charted.label);
    this.draw();
  }

  /** @param {number} value */
  x(value) {
    return LEFT + 6 + share(value, this.ranges?.x) * (this.width - LEFT - RIGHT - 12);
  }

  /** Failed runs are above all values. @param {number | null} value */
  y(value) {
    return value === null ? ABOVE - 8 : ABOVE + 6 + (1 - share(value, this.ranges?.y)) * (HEIGHT - 12);
  }

  draw() {
    this.width = this.plot.clientWidth;
    const charted = this.charted;
    if (!charted || !this.ranges || this.width === 0) return;
    const { names, unit, points, failed } = charted;
    const columns = names?.map((_, at) => at) ?? marksOf(this.ranges.x, Math.max(2, Math.floor((this.width - LEFT) / 90)));
    /** One path for all points of a mode: ten thousand are as quick as ten. @type {Map<string, string[]>} */
    const paths = new Map();
    for (const point of points) {
      const kind = modeClass(point.mode);
      if (!paths.has(kind)) paths.set(kind, []);
      paths.get(kind)?.push(`M${this.x(point.x).toFixed(1)} ${this.y(point.y).toFixed(1)}h0`);
    }
    fill(this.plot, svg('svg', { width: this.width, height: ABOVE + HEIGHT + AXIS, 'aria-hidden': 'true' },
      marksOf(this.ranges.y, 5).flatMap((value) => [svg('line', { class: 'grid', x1: LEFT, x2: this.width - RIGHT, y1: this.y(value), y2: this.y(value) }),
        svg('text', { x: LEFT - 6, y: this.y(value) + 4, 'text-anchor': 'end' }, markText(value, unit))]),
      columns.map((value) => svg('text', { x: this.x(value), y: ABOVE + HEIGHT + 14, 'text-anchor': this.x(value) > this.width - 30 ? 'end' : 'middle' }, names ? visible(names[value].slice(0, 12)) : grouped(value))),
      [...paths].map(([kind, path]) => svg('path', { class: `points ${kind}${points.length > 2000 ? ' many' : ''}`, d: path.join('') })),
      failed.length > 0 ? svg('path', { class: 'failed', d: failed.map(({ x }) => `M${(this.x(x) - 4).toFixed(1)} ${this.y(null) - 4}l8 8m0 -8l-8 8`).join('') }) : null, this.marks));
    this.mark();
  }

  mark() {
    const point = this.all[this.at];
    if (!point || !this.charted) return;
    fill(this.marks, svg('circle', { class: 'chosen', cx: this.x(point.x), cy: this.y(point.y), r: 6 }));
    const words = `run ${point.run}: ${point.y === null ? 'failed' : measured(point.y, this.charted.unit)}${point.y === null ? '' : point.words}`;
    for (const [name, value] of Object.entries({ min: 0, max: Math.max(this.all.length - 1, 1), now: this.at })) this.plot.setAttribute(`aria-value${name}`, String(value));
    this.plot.setAttribute('aria-valuetext', words);
    fill(this.told, h('bdi', null, words));
  }

  /** Whether a pointer is near a point. @param {MouseEvent} event */
  hover(event) {
    const { left, top } = this.plot.getBoundingClientRect();
    const [x, y] = [event.clientX - left, event.clientY - top];
    let [least, near] = [REACH ** 2, -1];
    this.all.forEach((point, at) => {
      const distance = (this.x(point.x) - x) ** 2 + (this.y(point.y) - y) ** 2;
      if (distance < least) [least, near] = [distance, at];
    });
    if (near >= 0 && near !== this.at) {
      this.at = near;
      this.mark();
    }
    return near >= 0;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || this.all.length === 0) return;
    const last = this.all.length - 1;
    const next = /** @type {Record<string, number>} */ ({ ArrowLeft: this.at - 1, ArrowRight: this.at + 1, Home: 0, End: last, PageUp: this.at - 10, PageDown: this.at + 10 })[event.key];
    if (next !== undefined) {
      this.at = Math.max(0, Math.min(last, next));
      this.mark();
    } else if (event.key === 'Enter') this.open(this.all[this.at].run);
    else return;
    event.preventDefault();
  }

  destroy() {
    this.resized.disconnect();
    this.charted = null;
  }
}

/** @param {number[]} all @returns {[number, number]} */
function rangeOf(all) {
  return all.reduce(([least, most], one) => [Math.min(least, one), Math.max(most, one)], [Infinity, -Infinity]);
}

/** @param {number} value @param {[number, number]} [range] */
function share(value, range = [0, 0]) {
  return range[1] > range[0] ? (value - range[0]) / (range[1] - range[0]) : 0.5;
}
