// The chart of all snapshots, as SVG: its colours are those of the page, and it needs no library.
// A drag brushes A..B, a click selects a snapshot, and keys do both.

import { fill, h, svg } from './dom.js';
import { numberText } from './value_text.js';

/** @typedef {{key: string, name: string, unit: string, values: (number | null)[]}} Measure */
/**
 * @typedef {object} Charted
 * @property {number[]} snapshots their numbers, rising
 * @property {Measure[]} measures all that can be shown
 * @property {Set<string>} pinned the keys of those that are shown
 * @property {number | null} selected
 * @property {[number, number] | null} brush
 * @property {string[][]} [marks] what is known of each snapshot besides its number: label, time
 */
/**
 * @typedef {object} Doing
 * @property {(snapshot: number) => void} select
 * @property {(brush: [number, number] | null) => void} brush
 * @property {(pinned: Set<string>) => void} pin
 * @property {() => void} table shows or hides the same numbers as a table
 */

const COLOURS = 6;
const HEIGHT = 220;
/** Room for the axes: at the left, at the right if there are two units, above, below. */
const [LEFT, RIGHT, ABOVE, BELOW] = [72, 56, 10, 22];
/** The height of a further line of the axis, and the width of one of its characters. */
const [LINE, CHARACTER] = [14, 7];
/** The least distance of marks of the axis, without and with texts. */
const [APART, TEXTS_APART] = [56, 110];
/** Series of at most this many snapshots have a dot for each. */
const MOST_DOTS = 60;
/** A pointer that moves less than this clicks, in pixels. */
const CLICK = 4;
/** A selection by keys is told after this time without a further key, in milliseconds. */
const SETTLES = 250;

/** The chart, its legend and its keys. */
export class SeriesChart {
  /** @param {Doing} doing */
  constructor(doing) {
    this.doing = doing;
    /** @type {Charted | null} */
    this.charted = null;
    /** @type {number | undefined} */
    this.timer = undefined;
    /** Where a brush by keys began. @type {number | undefined} */
    this.anchor = undefined;
    /** Where the pointer went down. @type {number | null} */
    this.down = null;
    this.legend = h('div', { class: 'legend', role: 'group', 'aria-label': 'series of the chart' });
    this.plot = h('div', {
      class: 'chart', tabindex: 0, role: 'slider', 'aria-label': 'selected snapshot',
      title: 'click: a snapshot; drag: brush A..B; keys: ← → select, Shift brushes, Del clears, t table',
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
      onpointerdown: (/** @type {PointerEvent} */ event) => this.press(event),
      onpointermove: (/** @type {PointerEvent} */ event) => this.hover(event),
      onpointerup: (/** @type {PointerEvent} */ event) => this.release(event),
      onpointercancel: () => { this.down = null; this.mark(null); },
      onpointerleave: () => { if (this.down === null) this.mark(null); },
    });
    this.marks = svg('g', { class: 'marks' });
    this.element = h('div', { class: 'chart-block' }, this.legend, this.plot);
    this.width = 0;
    this.right = RIGHT;
    this.from = 0;
    this.resized = new ResizeObserver(() => {
      if (this.width !== this.plot.clientWidth) this.draw();
    });
    this.resized.observe(this.plot);
  }

  /** @param {Charted} charted */
  show(charted) {
    const before = this.charted;
    this.charted = charted;
    this.showLegend(null);
    this.tell();
    const isSame = before?.measures === charted.measures && before?.marks === charted.marks && [...before.pinned].join() === [...charted.pinned].join();
    if (isSame && this.plot.hasChildNodes()) this.mark(null);
    else this.draw();
  }

  /** Where a snapshot is: all are equally far apart. @param {number} at */
  x(at) {
    const last = Math.max((this.charted?.snapshots.length ?? 1) - 1, 1);
    return LEFT + (at / last) * (this.width - LEFT - this.right);
  }

  /** The snapshot that is nearest to a pointer. @param {MouseEvent} event */
  placeAt(event) {
    const last = (this.charted?.snapshots.length ?? 1) - 1;
    const inside = event.clientX - this.plot.getBoundingClientRect().left - LEFT;
    return Math.max(0, Math.min(last, Math.round((inside / Math.max(this.width - LEFT - this.right, 1)) * last)));
  }

  /** Draws axes and lines. */
  draw() {
    this.width = this.plot.clientWidth;
    if (!this.charted || this.width === 0) return;
    const { measures, pinned, snapshots } = this.charted;
    const drawn = measures.map((measure, at) => ({ measure, at })).filter(({ measure }) => pinned.has(measure.key));
    const units = ['bytes', 'count'].filter((unit) => drawn.some(({ measure }) => measure.unit === unit));
    this.right = units.length > 1 ? RIGHT : 14;
    const scales = Object.fromEntries(units.map((unit) => [unit, scaleOf(unit, drawn.map(({ measure }) => measure).filter((measure) => measure.unit === unit))]));
    const y = (/** @type {string} */ unit, /** @type {number} */ value) => HEIGHT - BELOW - (value / scales[unit].most) * (HEIGHT - ABOVE - BELOW);
    const { nodes: numbers, height } = this.axis();
    const axes = units.map((unit, side) => scales[unit].ticks.map((tick) => [
      side === 0 ? svg('line', { class: 'grid', x1: LEFT, x2: this.width - this.right, y1: y(unit, tick), y2: y(unit, tick) }) : null,
      svg('text', { x: side === 0 ? LEFT - 8 : this.width - this.right + 8, y: y(unit, tick) + 4, 'text-anchor': side === 0 ? 'end' : 'start' }, tickText(tick, unit)),
    ]));
    const lines = drawn.map(({ measure, at }) => this.line(measure, at, y));
    fill(this.plot, svg('svg', { width: this.width, height, 'aria-hidden': 'true' }, axes.flat(2), numbers, this.marks, lines.flat()));
    this.mark(null);
  }

  /** The snapshots below the plot: numbers, and what else is known of them, cut to the room there is. */
  axis() {
    const { snapshots, marks } = /** @type {Charted} */ (this.charted);
    const rows = Math.max(0, ...(marks ?? []).map((mark) => mark.length));
    const room = this.width - LEFT - this.right;
    const step = stepFor(snapshots.length - 1, Math.max(Math.floor(room / (rows > 0 ? TEXTS_APART : APART)), 1), [1, 2, 5, 10]);
    const most = Math.max(Math.floor((room * step) / Math.max(snapshots.length - 1, 1) / CHARACTER) - 1, 4);
    const nodes = snapshots.map((snapshot, at) => {
      if (at % step !== 0) return null;
      const x = this.x(at);
      return [String(snapshot), ...(marks?.[at] ?? [])].map((line, row) => {
        const shown = line.length > most ? `${[...line].slice(0, most - 1).join('')}…` : line;
        // A text that would pass the edge of the window ends or begins there.
        const half = (shown.length * CHARACTER) / 2;
        const [anchor, from] = x + half > this.width ? ['end', this.width - 2] : x < half ? ['start', 2] : ['middle', x];
        return svg('text', { x: from, y: HEIGHT - 5 + row * LINE, 'text-anchor': anchor }, shown);
      });
    });
    return { nodes: nodes.flat(), height: HEIGHT + rows * LINE };
  }

  /** One series. Where there are more snapshots than pixels, the least and the largest value of each pixel are drawn.
   *  @param {Measure} measure @param {number} index @param {(unit: string, value: number) => number} y */
  line(measure, index, y) {
    const kind = `series-${(index % COLOURS) + 1}${measure.unit === 'count' ? ' dotted' : ''}${index >= COLOURS ? ' dashed' : ''}`;
    const points = pointsOf(measure.values, this.width);
    const at = (/** @type {[number, number]} */ [place, value]) => `${this.x(place).toFixed(1)},${y(measure.unit, value).toFixed(1)}`;
    const dots = measure.values.length > MOST_DOTS ? [] : points.flat().map(([place, value]) => svg('circle', { class: kind, cx: this.x(place), cy: y(measure.unit, value), r: 2.5 }));
    return [...points.map((run) => svg('polyline', { class: kind, points: run.map(at).join(' ') })), ...dots];
  }

  /** Shows brush, selected snapshot and pointer. @param {number | null} pointed @param {[number, number] | null} [dragged] */
  mark(pointed, dragged = null) {
    if (!this.charted) return;
    const { snapshots, brush, selected } = this.charted;
    const places = dragged ?? brush?.map((snapshot) => snapshots.indexOf(snapshot)) ?? null;
    const upright = (/** @type {string} */ name, /** @type {number} */ at) => svg('line', { class: name, x1: this.x(at), x2: this.x(at), y1: ABOVE, y2: HEIGHT - BELOW });
    const chosen = snapshots.indexOf(selected ?? -1);
    fill(this.marks,
      places && svg('rect', { class: 'brush', x: this.x(Math.min(...places)), width: Math.max(Math.abs(this.x(places[1]) - this.x(places[0])), 1), y: ABOVE, height: HEIGHT - ABOVE - BELOW }),
      pointed === null ? null : upright('pointed', pointed), chosen < 0 ? null : upright('selected', chosen));
    this.showLegend(pointed);
  }

  /** @param {PointerEvent} event */
  press(event) {
    if (event.button !== 0) return;
    this.down = event.clientX;
    this.from = this.placeAt(event);
    this.plot.setPointerCapture(event.pointerId);
  }

  /** @param {PointerEvent} event */
  hover(event) {
    const at = this.placeAt(event);
    this.mark(at, this.down !== null && Math.abs(event.clientX - this.down) >= CLICK ? [this.from, at] : null);
  }

  /** A drag brushes, a click selects. @param {PointerEvent} event */
  release(event) {
    if (this.down === null || !this.charted) return;
    const isClick = Math.abs(event.clientX - this.down) < CLICK;
    this.down = null;
    const { snapshots } = this.charted;
    const [a, b] = [this.from, this.placeAt(event)].sort((one, other) => one - other);
    if (isClick) this.doing.select(snapshots[b]);
    else if (a < b) this.doing.brush([snapshots[a], snapshots[b]]);
    else this.mark(null);
  }

  /** The names of all series with their values where the cursor is. @param {number | null} at */
  showLegend(at) {
    const charted = this.charted;
    if (!charted) return;
    const place = at ?? charted.snapshots.indexOf(charted.selected ?? -1);
    const snapshot = charted.snapshots[place];
    const toggle = (/** @type {Measure} */ measure) => {
      const next = new Set(charted.pinned);
      if (!next.delete(measure.key)) next.add(measure.key);
      if (next.size > 0) this.doing.pin(next);
    };
    if (this.legend.childElementCount !== charted.measures.length + 2) {
      fill(this.legend, h('span', { class: 'at' }), charted.measures.map((measure, index) => h('button', {
        type: 'button', class: `series-${(index % COLOURS) + 1}`, onclick: () => toggle(measure),
      }, h('span', { class: `key${measure.unit === 'count' ? ' dotted' : ''}`, 'aria-hidden': 'true' }), `${measure.name} `, h('span', { class: 'value' }))),
      h('button', { type: 'button', class: 'table', title: 'the same numbers as a table (t)', onclick: () => this.doing.table() }, 'table'));
    }
    const [told, ...buttons] = this.legend.children;
    told.textContent = snapshot === undefined ? '' : [`snapshot ${snapshot}`, ...(charted.marks?.[place] ?? [])].join(', ');
    charted.measures.forEach((measure, index) => {
      const value = measure.values[place];
      const button = buttons[index];
      button.setAttribute('aria-pressed', String(charted.pinned.has(measure.key)));
      const shown = button.querySelector('.value');
      if (shown) shown.textContent = value == null ? '' : numberText(value, measure.unit);
    });
  }

  /** Tells a screen reader where it is. */
  tell() {
    const { snapshots, measures, pinned, selected, brush } = /** @type {Charted} */ (this.charted);
    const at = snapshots.indexOf(selected ?? -1);
    const values = measures.filter((measure) => pinned.has(measure.key) && at >= 0 && measure.values[at] !== null)
      .map((measure) => `${measure.name} ${numberText(/** @type {number} */ (measure.values[at]), measure.unit)}`);
    const brushed = brush ? `; brush ${brush[0]} to ${brush[1]}` : '';
    this.plot.setAttribute('aria-valuemin', String(snapshots[0]));
    this.plot.setAttribute('aria-valuemax', String(snapshots[snapshots.length - 1]));
    this.plot.setAttribute('aria-valuenow', String(selected ?? snapshots[0]));
    this.plot.setAttribute('aria-valuetext', `snapshot ${selected ?? '–'}: ${values.join(', ')}${brushed}`);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const charted = this.charted;
    if (!charted || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === 't') this.doing.table();
    else if (event.key === 'Delete' || event.key === 'Backspace') this.doing.brush(null);
    else if (!this.move(charted, event)) return;
    event.preventDefault();
  }

  /** @param {Charted} charted @param {KeyboardEvent} event */
  move(charted, event) {
    const { snapshots } = charted;
    const at = snapshots.indexOf(charted.selected ?? -1);
    const last = snapshots.length - 1;
    const target = /** @type {Record<string, number>} */ ({
      ArrowLeft: at - 1, ArrowDown: at - 1, ArrowRight: at + 1, ArrowUp: at + 1, PageDown: at - 10, PageUp: at + 10, Home: 0, End: last,
    })[event.key];
    if (target === undefined) return false;
    const to = snapshots[Math.max(0, Math.min(last, target))];
    if (event.shiftKey) {
      // The brush goes from where it began to the selected snapshot.
      const from = charted.selected ?? to;
      this.anchor = charted.brush?.includes(from) && this.anchor !== undefined ? this.anchor : from;
    } else {
      this.anchor = undefined;
    }
    const brush = /** @type {[number, number] | null} */ (this.anchor === undefined ? charted.brush
      : this.anchor === to ? null : [Math.min(this.anchor, to), Math.max(this.anchor, to)]);
    this.show({ ...charted, selected: to, brush });
    this.settle(to, event.shiftKey ? brush : undefined);
    return true;
  }

  /** Tells what keys have chosen, once they rest. @param {number} selected @param {[number, number] | null} [brush] undefined: as it was */
  settle(selected, brush) {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => {
      if (brush !== undefined) this.doing.brush(brush);
      this.doing.select(selected);
    }, SETTLES);
  }

  destroy() {
    clearTimeout(this.timer);
    this.resized.disconnect();
    this.charted = null;
  }
}

/** The axis of a unit: from zero to above the largest value, with round numbers. @param {string} unit @param {Measure[]} measures */
function scaleOf(unit, measures) {
  const most = measures.flatMap((measure) => measure.values).reduce((/** @type {number} */ one, other) => Math.max(one, other ?? 0), 1);
  const step = unit === 'bytes' ? 2 ** Math.max(0, Math.ceil(Math.log2(most / 6))) : stepFor(most, 6, [1, 2, 5, 10]);
  return { most: most * 1.04, ticks: Array.from({ length: Math.floor(most / step) + 1 }, (_, at) => at * step) };
}

/** The least round step that divides a length into at most some parts. @param {number} length @param {number} parts @param {number[]} round */
function stepFor(length, parts, round) {
  const least = length / parts;
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1e-9)));
  return Math.max((round.find((one) => one * power >= least) ?? 10) * power, 1);
}

/** Runs of places that have a value. @param {(number | null)[]} values @param {number} width @returns {[number, number][][]} */
function pointsOf(values, width) {
  const bucket = Math.max(1, Math.floor(values.length / width));
  /** @type {[number, number][][]} */
  const runs = [[]];
  for (let from = 0; from < values.length; from += bucket) {
    const known = /** @type {[number, number][]} */ (values.slice(from, from + bucket).map((value, at) => [from + at, value]).filter(([, value]) => value !== null));
    if (known.length === 0) runs.push([]);
    else if (bucket === 1) runs[runs.length - 1].push(known[0]);
    else {
      const ends = [known.reduce((one, other) => (other[1] < one[1] ? other : one)), known.reduce((one, other) => (other[1] > one[1] ? other : one))];
      runs[runs.length - 1].push(...ends.sort((one, other) => one[0] - other[0]));
    }
  }
  return runs.filter((run) => run.length > 0);
}

/** @param {number} number @param {string} unit */
function tickText(number, unit) {
  const [base, names] = unit === 'bytes' ? [1024, [' B', ' KiB', ' MiB', ' GiB', ' TiB']] : [1000, ['', ' k', ' M', ' G']];
  const at = names.findLastIndex((_, at) => at === 0 || number >= base ** at);
  return `${Number((number / base ** at).toPrecision(3))}${names[at]}`;
}
