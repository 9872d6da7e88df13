// Charts of trials: how often values were measured, of one program or of two; and values as points, over the order of the
// runs or over the settings of a knob. A pointer or keys choose a bar or a point.

import { fill, h, svg } from './dom.js';
import { difference, grouped, measured, visible } from './value_text.js';
import { markText, marksOf, modeClass, weightText } from './trial_values.js';

/** @typedef {import('./trial_values.js').Bin} Bin */
/** @typedef {import('./trial_values.js').Mode} Mode */
/** @typedef {{a: number | null, b: number | null, verdict: string, change: number | null}} Pair */
/** @typedef {{program: string, bins: Bin[], modes: Mode[]}} Side */
/** @typedef {{metric: string, unit: string, sides: Side[], pairs: Pair[]}} Bars two sides share the axis, the second one upside down */
/** @typedef {{x: number, y: number, mode: number | null, run: number, words: string}} Point */
/**
 * @typedef {object} Points
 * @property {string} label what the chart shows
 * @property {string} unit of the values
 * @property {Point[]} points
 * @property {number[]} failed runs without a value
 * @property {string[] | null} names those of the places 0, 1, …, if they are no numbers
 */

const [LEFT, RIGHT, ABOVE, AXIS, HEIGHT, PAIR] = [76, 12, 20, 20, 130, 17];
/** A pointer meets a point within this distance, in pixels. */
const REACH = 24;

/** What charts have in common: a place for the keys, and a line that says what is chosen. */
class Chart {
  /** @param {string} what `bars` or `points` */
  constructor(what) {
    this.width = 0;
    /** The chosen bar or point. */
    this.at = 0;
    this.told = h('p', { class: 'lane-told' });
    this.marks = svg('g');
    this.plot = h('div', {
      class: 'bars', tabindex: 0, role: 'slider', 'aria-orientation': 'horizontal', title: `click: what runs are there; keys: ← → choose ${what}, Enter opens`,
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
      onpointermove: (/** @type {MouseEvent} */ event) => this.hover(event),
      onclick: (/** @type {MouseEvent} */ event) => this.hover(event) && this.enter(),
    });
    this.element = h('div', null, this.told, this.plot);
    this.resized = new ResizeObserver(() => this.width !== this.plot.clientWidth && this.draw());
    this.resized.observe(this.plot);
  }

  /** How many can be chosen. */
  get count() { return 0; }

  draw() {}

  mark() {}

  enter() {}

  /** Chooses what is near a pointer, and says whether something is. @param {MouseEvent} _ */
  hover(_) { return false; }

  /** @param {MouseEvent} event @returns {[number, number]} */
  placeOf(event) {
    const { left, top } = this.plot.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  }

  /** @param {number} at */
  choose(at) {
    this.at = Math.max(0, Math.min(this.count - 1, at));
    this.mark();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || this.count === 0) return;
    const next = /** @type {Record<string, number>} */ ({ ArrowLeft: this.at - 1, ArrowRight: this.at + 1, Home: 0, End: this.count, PageUp: this.at - 10, PageDown: this.at + 10 })[event.key];
    if (next !== undefined) this.choose(next);
    else if (event.key === 'Enter') this.enter();
    else return;
    event.preventDefault();
  }

  /** Says what is chosen. @param {string} words @param {...SVGElement} marks around it */
  tell(words, ...marks) {
    fill(this.marks, marks);
    for (const [name, value] of Object.entries({ valuemin: 0, valuemax: Math.max(this.count - 1, 1), valuenow: this.at, valuetext: words })) this.plot.setAttribute(`aria-${name}`, String(value));
    fill(this.told, h('bdi', null, words));
  }

  /** @param {number} height @param {...any} children */
  picture(height, ...children) {
    fill(this.plot, svg('svg', { width: this.width, height, 'aria-hidden': 'true' }, ...children, this.marks));
    this.mark();
  }

  /** A text below the axis, within the chart. @param {number} x @param {number} y @param {string} words */
  below(x, y, words) {
    return svg('text', { x, y: y + 14, 'text-anchor': x > this.width - 40 ? 'end' : x < LEFT + 20 ? 'start' : 'middle' }, words);
  }

  destroy() {
    this.resized.disconnect();
  }
}

export class Histogram extends Chart {
  /** @param {(mode: Mode, program: string) => void} open a bar of a mode was chosen */
  constructor(open) {
    super('bars');
    this.open = open;
    /** @type {Bars | null} */
    this.drawn = null;
  }

  /** @param {Bars} bars */
  show(bars) {
    const { sides, metric } = bars;
    this.drawn = bars;
    this.range = rangeOf(sides.flatMap(({ bins }) => bins.flatMap(({ from, to }) => [from, to])));
    this.at = 0;
    this.plot.setAttribute('aria-label', `${sides.map(({ program }) => visible(program.slice(0, 60))).join(' and ')}: how often each value of ${visible(metric.slice(0, 60))} was measured`);
    this.draw();
  }

  get count() { return this.drawn?.sides.reduce((sum, { bins }) => sum + bins.length, 0) ?? 0; }

  /** The chosen bar and its side. */
  get chosen() {
    const [first, second] = this.drawn?.sides ?? [];
    const isFirst = this.at < (first?.bins.length ?? 0);
    const side = isFirst ? first : second;
    const bin = side?.bins[this.at - (isFirst ? 0 : first.bins.length)];
    return { number: isFirst ? 0 : 1, side, bin, mode: side?.modes.find(({ number }) => number === bin?.mode) };
  }

  /** @param {number} value */
  x(value) {
    return LEFT + share(value, this.range) * (this.width - LEFT - RIGHT);
  }

  /** @param {Bin} bin @returns {[number, number]} */
  ends({ from, to }) {
    return from === to ? [this.x(from) - 12, this.x(from) + 12] : [this.x(from), this.x(to)];
  }

  /** Where the bars of a side begin. Between two sides there is room for lines. @param {number} side */
  base(side) {
    return ABOVE + HEIGHT + (side === 0 ? 0 : AXIS + Math.max(1, this.drawn?.pairs.length ?? 0) * PAIR + 8);
  }

  draw() {
    this.width = this.plot.clientWidth;
    const { drawn } = this;
    if (!drawn || !this.range || this.width === 0) return;
    const { sides, unit } = drawn;
    const most = Math.max(...sides.map(({ bins }) => highest(bins) / total(bins)));
    const end = this.base(sides.length - 1) + (sides.length > 1 ? HEIGHT : 0);
    this.picture(end + AXIS, marksOf(this.range, Math.max(2, Math.floor((this.width - LEFT) / 110))).flatMap((value) => {
      const x = this.x(value);
      return [svg('line', { class: 'grid', x1: x, x2: x, y1: ABOVE, y2: end }), this.below(x, this.base(0), markText(value, unit))];
    }), this.lines(drawn), sides.flatMap((side, at) => this.side(side, at, most)));
  }

  /** @param {Side} side @param {number} at @param {number} most the share of the highest bar */
  side({ bins, modes, program }, at, most) {
    const base = this.base(at);
    const full = (/** @type {number} */ count) => (count / total(bins) / most) * HEIGHT;
    const end = base + (at === 0 ? -1 : 1) * HEIGHT;
    const text = (/** @type {number} */ x, /** @type {number} */ y, /** @type {string} */ words, /** @type {string} */ name) => svg('text', { class: name, x, y, 'text-anchor': 'end' }, words);
    return [
      bins.map((bin) => {
        const [x, to] = this.ends(bin);
        // No value is without a bar.
        const height = bin.count === 0 ? 0 : Math.max(2, full(bin.count));
        return svg('rect', { class: `bar ${modeClass(bin.mode)}`, x: x.toFixed(1), width: Math.max(to - x - 1, 1).toFixed(1), y: (at === 0 ? base - height : base).toFixed(1), height: height.toFixed(1) });
      }),
      svg('line', { class: 'axis', x1: LEFT, x2: this.width - RIGHT, y1: base, y2: base }),
      text(LEFT - 6, base + (at === 0 ? -1 : 1) * full(highest(bins)) + 4, grouped(highest(bins)), ''), text(LEFT - 6, base + at * 8, '0', ''),
      this.drawn?.sides[1] && text(this.width - RIGHT, end + (at === 0 ? 12 : -4), `${'AB'[at]} ${visible(program.slice(0, 60))}`, 'mode'),
      this.labels(modes, end, at),
    ].flat(2);
  }

  /** What each mode is, where there is room. @param {Mode[]} modes @param {number} end of the bars @param {number} at */
  labels(modes, end, at) {
    const line = end + (at === 0 ? -2 : 2);
    let free = LEFT;
    return modes.length > 12 ? [] : modes.map((mode) => {
      const words = `mode ${mode.number}: ${weightText(mode)}`;
      const half = words.length * 3.5;
      const x = Math.max(free + half, Math.min(this.width - half, this.x(mode.location)));
      const fits = x + half <= this.width;
      if (fits) free = x + half + 8;
      return [svg('line', { class: `range ${modeClass(mode.number)}`, x1: this.x(mode.low) - 1, x2: this.x(mode.high) + 1, y1: line, y2: line }),
        fits && svg('text', { class: 'mode', x, y: at === 0 ? line - 5 : line + 13, 'text-anchor': 'middle' }, words)];
    });
  }

  /** Modes that match, joined, with the verdicts. @param {Bars} bars */
  lines({ sides, pairs, unit }) {
    const drawn = sides.length < 2 ? [] : pairs.map(({ a, b, verdict, change }, row) => {
      const end = (/** @type {number | null} */ number, /** @type {number} */ side) => sides[side].modes.filter((mode) => mode.number === number).map(({ location }) => [this.x(location), this.base(side)]);
      const ends = [...end(a, 0), ...end(b, 1)];
      const y = this.base(0) + AXIS + row * PAIR + 12;
      const x = ends.reduce((sum, [one]) => sum + one, 0) / Math.max(1, ends.length);
      const words = `${a ?? '–'} → ${b ?? '–'}  ${verdict}${change === null || verdict === 'equal' ? '' : `  ${difference(change, unit)}`}`;
      const half = words.length * 3.4;
      const middle = Math.max(LEFT + half, Math.min(this.width - RIGHT - half, x));
      const kind = `pair ${verdictClass(verdict)}`;
      return [ends.map(([one, other]) => svg('line', { class: kind, x1: one, y1: other, x2: x, y2: y - 4 })),
        [svg('rect', { class: 'plate', x: middle - half - 3, y: y - 11, width: 2 * half + 6, height: 15 }), svg('text', { class: kind, x: middle, y, 'text-anchor': 'middle' }, words)]];
    });
    return [0, 1].map((layer) => drawn.map((of) => of[layer])).flat(2);
  }

  mark() {
    const { number, side, bin, mode } = this.chosen;
    if (!this.drawn || !side || !bin) return;
    const { unit, sides } = this.drawn;
    const [x, to] = this.ends(bin);
    const words = [`${measured(bin.from, unit)} to ${measured(bin.to, unit)}`, `${grouped(bin.count)} ${bin.count === 1 ? 'value' : 'values'}`,
      ...(mode ? [`mode ${mode.number}, ${weightText(mode)} of all`] : []), ...(sides.length > 1 ? [visible(side.program.slice(0, 60))] : [])];
    this.tell(words.join(', '), svg('rect', { class: 'chosen', x, width: Math.max(to - x, 2), y: this.base(number) - (number === 0 ? HEIGHT : 0), height: HEIGHT }));
  }

  /** @param {MouseEvent} event */
  hover(event) {
    const { sides } = this.drawn ?? { sides: [] };
    const [x, y] = this.placeOf(event);
    const number = sides.length > 1 && y > (this.base(0) + this.base(1)) / 2 ? 1 : 0;
    const after = sides[number]?.bins.findIndex((bin) => this.ends(bin)[1] > x) ?? 0;
    this.choose((number === 1 ? sides[0].bins.length : 0) + (after < 0 ? sides[number].bins.length - 1 : after));
    return true;
  }

  enter() {
    const { side, mode } = this.chosen;
    if (side && mode) this.open(mode, side.program);
  }
}

export class Scatter extends Chart {
  /** @param {(run: number) => void} open a point was chosen */
  constructor(open) {
    super('points');
    this.open = open;
    /** @type {Points | null} */
    this.drawn = null;
    /** All points in the order of their places, the failed runs among them. @type {{x: number, y: number | null, run: number, words: string}[]} */
    this.all = [];
  }

  /** @param {Points} points */
  show(points) {
    this.drawn = points;
    this.at = 0;
    this.all = [...points.points, ...points.failed.map((run) => ({ x: run, y: null, run, words: '' }))].sort((one, other) => one.x - other.x);
    this.rangeX = points.names ? /** @type {[number, number]} */ ([-0.5, points.names.length - 0.5]) : rangeOf(this.all.map(({ x }) => x));
    this.rangeY = rangeOf(points.points.map(({ y }) => y));
    this.plot.setAttribute('aria-label', points.label);
    this.draw();
  }

  get count() { return this.all.length; }

  /** @param {number} value */
  x(value) {
    return LEFT + 6 + share(value, this.rangeX) * (this.width - LEFT - RIGHT - 12);
  }

  /** Failed runs are above all values. @param {number | null} value */
  y(value) {
    return value === null ? ABOVE - 10 : ABOVE + 6 + (1 - share(value, this.rangeY)) * (HEIGHT + 48);
  }

  draw() {
    this.width = this.plot.clientWidth;
    if (!this.drawn || !this.rangeX || !this.rangeY || this.width === 0) return;
    const { names, unit, points, failed } = this.drawn;
    const bottom = ABOVE + HEIGHT + 60;
    const columns = names?.map((_, at) => at) ?? marksOf(this.rangeX, Math.max(2, Math.floor((this.width - LEFT) / 90)));
    /** One path for all points of a mode: ten thousand are as quick as ten. @type {Map<string, string>} */
    const paths = new Map();
    for (const { x, y, mode } of points) {
      const kind = modeClass(mode);
      paths.set(kind, `${paths.get(kind) ?? ''}M${this.x(x).toFixed(1)} ${this.y(y).toFixed(1)}h0`);
    }
    this.picture(bottom + AXIS, marksOf(this.rangeY, 5).flatMap((value) => [svg('line', { class: 'grid', x1: LEFT, x2: this.width - RIGHT, y1: this.y(value), y2: this.y(value) }),
      svg('text', { x: LEFT - 6, y: this.y(value) + 4, 'text-anchor': 'end' }, markText(value, unit))]),
    columns.map((value) => this.below(this.x(value), bottom, names ? visible(names[value].slice(0, 12)) : grouped(value))),
    [...paths].map(([kind, d]) => svg('path', { class: `points ${kind}${points.length > 2000 ? ' many' : ''}`, d })),
    failed.length > 0 && svg('path', { class: 'failed', d: failed.map((run) => `M${(this.x(run) - 4).toFixed(1)} ${this.y(null) - 4}l8 8m0 -8l-8 8`).join('') }));
  }

  mark() {
    const point = this.all[this.at];
    if (!point || !this.drawn) return;
    this.tell(`run ${point.run}: ${point.y === null ? 'failed' : measured(point.y, this.drawn.unit)}${point.words}`, svg('circle', { class: 'chosen', cx: this.x(point.x), cy: this.y(point.y), r: 6 }));
  }

  /** @param {MouseEvent} event */
  hover(event) {
    const [x, y] = this.placeOf(event);
    let [least, near] = [REACH ** 2, -1];
    this.all.forEach((point, at) => {
      const distance = (this.x(point.x) - x) ** 2 + (this.y(point.y) - y) ** 2;
      if (distance < least) [least, near] = [distance, at];
    });
    if (near >= 0) this.choose(near);
    return near >= 0;
  }

  enter() {
    this.open(this.all[this.at].run);
  }
}

/** @param {number[]} all @returns {[number, number]} */
function rangeOf(all) {
  return all.reduce(([least, most], one) => [Math.min(least, one), Math.max(most, one)], [Infinity, -Infinity]);
}

/** @param {number} value @param {[number, number]} [range] */
function share(value, [from, to] = [0, 0]) {
  return to > from ? (value - from) / (to - from) : 0.5;
}

/** @param {Bin[]} bins */
function total(bins) {
  return bins.reduce((sum, { count }) => sum + count, 0) || 1;
}

/** @param {Bin[]} bins */
function highest(bins) {
  return Math.max(...bins.map(({ count }) => count));
}

/** The class of style of a verdict: worse is red, better is green. @param {string} verdict */
export function verdictClass(verdict) {
  return ['slower', 'larger', 'worse weight'].includes(verdict) ? 'worse' : ['faster', 'smaller'].includes(verdict) ? 'better' : verdict === 'moved weight' ? 'moved' : '';
}
