// How often values were measured: bars over an axis, coloured by mode. Two programs share the axis, the second one upside
// down, and lines join the modes that match. A pointer or keys choose a bar.

import { fill, h, svg } from './dom.js';
import { grouped, visible } from './cell.js';
import { difference, markText, marksOf, measured, modeClass, weightText } from './trial_values.js';

/** @typedef {import('./trial_values.js').Bin} Bin */
/** @typedef {import('./trial_values.js').Mode} Mode */
/** @typedef {{a: number | null, b: number | null, verdict: string, change: number | null}} Pair */
/** @typedef {{program: string, bins: Bin[], modes: Mode[]}} Side */
/** @typedef {{metric: string, unit: string, sides: Side[], pairs: Pair[]}} Charted */

const [LEFT, RIGHT, ABOVE, AXIS, BARS, PAIR] = [44, 12, 20, 20, 130, 17];

export class HistogramChart {
  /** @param {(mode: Mode, program: string) => void} open a bar of a mode was chosen */
  constructor(open) {
    this.open = open;
    /** @type {Charted | null} */
    this.charted = null;
    /** The chosen bar: its side and its place. */
    this.at = [0, 0];
    this.width = 0;
    this.told = h('p', { class: 'lane-told' });
    this.marks = svg('g');
    this.plot = h('div', {
      class: 'bars', tabindex: 0, role: 'slider', 'aria-orientation': 'horizontal', title: 'click: the runs of a mode; keys: ← → ↑ ↓ bars, Enter opens',
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
      onpointermove: (/** @type {PointerEvent} */ event) => this.hover(event),
      onclick: (/** @type {PointerEvent} */ event) => { this.hover(event); this.enter(); },
    });
    this.element = h('div', null, this.told, this.plot);
    this.resized = new ResizeObserver(() => this.width !== this.plot.clientWidth && this.draw());
    this.resized.observe(this.plot);
  }

  /** @param {Charted} charted */
  show(charted) {
    this.charted = charted;
    this.at = [0, Math.max(0, charted.sides[0].bins.findIndex(({ count }) => count > 0))];
    this.plot.setAttribute('aria-label', `${charted.sides.map(({ program }) => visible(program)).join(' and ')}: how often each value of ${visible(charted.metric)} was measured`);
    this.draw();
  }

  /** @returns {[number, number]} */
  get range() {
    const ends = this.charted?.sides.flatMap(({ bins }) => bins.flatMap(({ from, to }) => [from, to])) ?? [];
    return [Math.min(...ends), Math.max(...ends)];
  }

  /** @param {number} value */
  x(value) {
    const [from, to] = this.range;
    return LEFT + (to > from ? (value - from) / (to - from) : 0.5) * (this.width - LEFT - RIGHT);
  }

  /** The room for lines between the two sides. */
  get between() {
    return this.charted && this.charted.sides.length > 1 ? AXIS + Math.max(1, this.charted.pairs.length) * PAIR + 8 : AXIS;
  }

  /** Where the bars of a side begin. @param {number} side */
  base(side) {
    return ABOVE + BARS + (side === 0 ? 0 : this.between);
  }

  draw() {
    this.width = this.plot.clientWidth;
    const charted = this.charted;
    if (!charted || this.width === 0) return;
    const { sides, unit } = charted;
    const most = Math.max(...sides.flatMap(({ bins }) => bins.map(({ count }) => count / total(bins))));
    const height = sides.length > 1 ? this.base(1) + BARS + ABOVE : ABOVE + BARS + AXIS;
    const axis = marksOf(this.range, Math.max(2, Math.floor((this.width - LEFT) / 110))).map((value) => {
      const x = this.x(value);
      return [svg('line', { class: 'grid', x1: x, x2: x, y1: ABOVE, y2: sides.length > 1 ? height - ABOVE : this.base(0) }),
        svg('text', { x, y: this.base(0) + 14, 'text-anchor': x > this.width - 40 ? 'end' : x < LEFT + 20 ? 'start' : 'middle' }, markText(value, unit))];
    });
    fill(this.plot, svg('svg', { width: this.width, height, 'aria-hidden': 'true' }, axis.flat(), this.lines(charted),
      sides.flatMap((side, at) => this.side(side, at, most)), this.marks));
    this.mark();
  }

  /** @param {Side} side @param {number} at @param {number} most the share of the highest bar */
  side({ bins, modes, program }, at, most) {
    const base = this.base(at);
    const all = total(bins);
    const way = at === 0 ? -1 : 1;
    const highest = Math.max(...bins.map(({ count }) => count));
    const end = base + way * (highest / all / most) * BARS;
    return [
      ...bins.map((bin) => {
        const [x, to] = this.ends(bin);
        // No value is without a bar.
        const height = bin.count === 0 ? 0 : Math.max(2, (bin.count / all / most) * BARS);
        return svg('rect', { class: `bar ${modeClass(bin.mode)}`, x: x.toFixed(1), width: Math.max(to - x - 1, 1).toFixed(1), y: (at === 0 ? base - height : base).toFixed(1), height: height.toFixed(1) });
      }),
      svg('line', { class: 'axis', x1: LEFT, x2: this.width - RIGHT, y1: base, y2: base }),
      svg('text', { x: LEFT - 6, y: end + 4, 'text-anchor': 'end' }, grouped(highest)),
      svg('text', { x: LEFT - 6, y: base + (at === 0 ? 0 : 8), 'text-anchor': 'end' }, '0'),
      this.charted && this.charted.sides.length > 1 ? svg('text', { class: 'side', x: this.width - RIGHT, y: at === 0 ? ABOVE + 12 : base + BARS - 4, 'text-anchor': 'end' }, `${'AB'[at]}  ${visible(program.slice(0, 60))}`) : null,
      ...this.labels(modes, at),
    ];
  }

  /** What each mode is, where there is room. @param {Mode[]} modes @param {number} at */
  labels(modes, at) {
    const y = at === 0 ? ABOVE - 7 : this.base(1) + BARS + ABOVE - 6;
    let free = LEFT;
    return modes.length > 12 ? [] : modes.map((mode) => {
      const words = `mode ${mode.number}: ${weightText(mode)}`;
      const half = words.length * 3.3;
      const x = Math.max(free + half, Math.min(this.width - half, this.x(mode.location)));
      if (x + half > this.width) return null;
      free = x + half + 8;
      return [svg('line', { class: `range ${modeClass(mode.number)}`, x1: this.x(mode.low) - 1, x2: this.x(mode.high) + 1, y1: at === 0 ? ABOVE - 2 : y - 12, y2: at === 0 ? ABOVE - 2 : y - 12 }),
        svg('text', { class: 'mode', x, y, 'text-anchor': 'middle' }, words)];
    }).flat();
  }

  /** Modes that match, joined, with the verdicts. @param {Charted} charted */
  lines({ sides, pairs, unit }) {
    if (sides.length < 2) return [];
    const [from, to] = [this.base(0) + AXIS, this.base(1)];
    const drawn = pairs.map(({ a, b, verdict, change }, row) => {
      const place = (/** @type {number | null} */ number, /** @type {number} */ side) => sides[side].modes.find((mode) => mode.number === number)?.location;
      const [one, other] = [place(a, 0), place(b, 1)];
      const y = from + row * PAIR + 12;
      const words = `${a ?? '–'} → ${b ?? '–'}  ${verdict}${change === null || verdict === 'equal' ? '' : `  ${difference(change, unit)}`}`;
      const ends = [one === undefined ? null : [this.x(one), this.base(0)], other === undefined ? null : [this.x(other), to]];
      const x = ends.reduce((sum, end) => sum + (end?.[0] ?? 0), 0) / Math.max(1, ends.filter(Boolean).length);
      const half = words.length * 3.4;
      const middle = Math.max(LEFT + half, Math.min(this.width - RIGHT - half, x));
      return {
        lines: ends.map((end) => end && svg('line', { class: `pair ${verdictClass(verdict)}`, x1: end[0], y1: end[1], x2: x, y2: y - 4 })),
        texts: [svg('rect', { class: 'plate', x: middle - half - 3, y: y - 11, width: 2 * half + 6, height: 15 }),
          svg('text', { class: `pair ${verdictClass(verdict)}`, x: middle, y, 'text-anchor': 'middle' }, words)],
      };
    });
    return [...drawn.flatMap(({ lines }) => lines), ...drawn.flatMap(({ texts }) => texts)];
  }

  /** @param {Bin} bin @returns {[number, number]} */
  ends({ from, to }) {
    return from === to ? [this.x(from) - 12, this.x(from) + 12] : [this.x(from), this.x(to)];
  }

  mark() {
    const side = this.charted?.sides[this.at[0]];
    const bin = side?.bins[this.at[1]];
    if (!this.charted || !side || !bin) return;
    const { unit, sides } = this.charted;
    const [x, to] = this.ends(bin);
    const base = this.base(this.at[0]);
    fill(this.marks, svg('rect', { class: 'chosen', x: x - 0.5, width: Math.max(to - x, 2), y: this.at[0] === 0 ? base - BARS : base, height: BARS }));
    const mode = side.modes.find(({ number }) => number === bin.mode);
    const words = [`${measured(bin.from, unit)} to ${measured(bin.to, unit)}`, `${grouped(bin.count)} ${bin.count === 1 ? 'value' : 'values'}`,
      ...(mode ? [`mode ${mode.number}, ${weightText(mode)} of all`] : []), ...(sides.length > 1 ? [visible(side.program.slice(0, 60))] : [])];
    for (const [name, value] of Object.entries({ min: 0, max: Math.max(side.bins.length - 1, 1), now: this.at[1] })) this.plot.setAttribute(`aria-value${name}`, String(value));
    this.plot.setAttribute('aria-valuetext', words.join(', '));
    fill(this.told, h('bdi', null, words.join(', ')));
  }

  /** @param {MouseEvent} event */
  hover(event) {
    if (!this.charted) return;
    const { left, top } = this.plot.getBoundingClientRect();
    const side = this.charted.sides.length > 1 && event.clientY - top > this.base(0) + this.between / 2 ? 1 : 0;
    const { bins } = this.charted.sides[side];
    const after = bins.findIndex((bin) => this.ends(bin)[1] > event.clientX - left);
    this.at = [side, after < 0 ? bins.length - 1 : after];
    this.mark();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (!this.charted || event.ctrlKey || event.altKey || event.metaKey) return;
    const { sides } = this.charted;
    const last = sides[this.at[0]].bins.length - 1;
    const next = /** @type {Record<string, [number, number]>} */ ({
      ArrowLeft: [this.at[0], this.at[1] - 1], ArrowRight: [this.at[0], this.at[1] + 1], Home: [this.at[0], 0], End: [this.at[0], last],
      ArrowUp: [0, this.at[1]], ArrowDown: [sides.length - 1, this.at[1]],
    })[event.key];
    if (next) {
      this.at = [next[0], Math.max(0, Math.min(last, next[1]))];
      this.mark();
    } else if (event.key === 'Enter') this.enter();
    else return;
    event.preventDefault();
  }

  /** Opens the mode of the chosen bar. */
  enter() {
    const side = this.charted?.sides[this.at[0]];
    const mode = side?.modes.find(({ number }) => number === side.bins[this.at[1]]?.mode);
    if (side && mode) this.open(mode, side.program);
  }

  destroy() {
    this.resized.disconnect();
    this.charted = null;
  }
}

/** @param {Bin[]} bins */
function total(bins) {
  return bins.reduce((sum, { count }) => sum + count, 0) || 1;
}

/** The class of style of a verdict: worse is red, better is green. @param {string} verdict */
export function verdictClass(verdict) {
  return ['slower', 'larger'].includes(verdict) ? 'worse' : ['faster', 'smaller'].includes(verdict) ? 'better' : verdict === 'moved weight' ? 'moved' : 'same';
}
