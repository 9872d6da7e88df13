// The chart of all snapshots. A drag brushes A..B, a click selects a snapshot, and keys do both.

import { colour, fill, h } from './dom.js';
import { grouped, numberText } from './cell.js';

/** @typedef {{key: string, name: string, unit: string, values: (number | null)[]}} Measure */
/**
 * @typedef {object} Charted
 * @property {number[]} snapshots their numbers, rising
 * @property {Measure[]} measures all that can be shown
 * @property {Set<string>} pinned the keys of those that are shown
 * @property {number | null} selected
 * @property {[number, number] | null} brush
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
/** A selection by keys is told after this time without a further key, in milliseconds. */
const SETTLES = 250;

/** Steps of an axis of bytes: round in their units. */
const BYTE_STEPS = Array.from({ length: 6 }, (_, unit) => [1, 2, 5, 10, 20, 50, 100, 200, 500].map((step) => step * 1024 ** unit)).flat();

/** @type {Promise<any> | null} */
let library = null;

/** uPlot, which is loaded when a chart is drawn first. */
function uPlot() {
  library ??= new Promise((resolve, reject) => {
    const script = h('script', { src: 'vendor/uPlot.iife.min.js' });
    script.addEventListener('load', () => resolve(/** @type {any} */ (window).uPlot));
    script.addEventListener('error', () => { library = null; reject(new Error('the chart could not be loaded')); });
    document.head.append(h('link', { rel: 'stylesheet', href: 'vendor/uPlot.min.css' }), script);
  });
  return library;
}

/** The chart, its legend and its keys. */
export class SeriesChart {
  /** @param {Doing} doing */
  constructor(doing) {
    this.doing = doing;
    /** @type {Charted | null} */
    this.charted = null;
    /** @type {any} */
    this.plot = null;
    /** @type {number | undefined} */
    this.timer = undefined;
    /** Where a brush by keys began. @type {number | undefined} */
    this.anchor = undefined;
    this.isMarking = false;
    this.legend = h('div', { class: 'legend', role: 'group', 'aria-label': 'series of the chart' });
    this.canvas = h('div', {
      class: 'chart', tabindex: 0, role: 'slider', 'aria-label': 'selected snapshot',
      title: 'click: a snapshot; drag: brush A..B; keys: ← → select, Shift brushes, Del clears, t table',
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
    });
    this.element = h('div', { class: 'chart-block' }, this.legend, this.canvas);
    this.resized = new ResizeObserver(() => this.plot?.setSize({ width: this.width(), height: HEIGHT }));
    this.resized.observe(this.canvas);
    this.themed = () => this.build();
    this.dark = matchMedia('(prefers-color-scheme: dark)');
    this.dark.addEventListener('change', this.themed);
    window.addEventListener('theme', this.themed);
  }

  width() {
    return Math.max(this.canvas.clientWidth, 200);
  }

  /** @param {Charted} charted */
  show(charted) {
    const before = this.charted;
    this.charted = charted;
    this.showLegend(null);
    this.tell();
    const isSame = before && before.snapshots.length === charted.snapshots.length && before.measures === charted.measures
      && [...before.pinned].join() === [...charted.pinned].join();
    if (isSame && this.plot) this.mark();
    else void this.build();
  }

  async build() {
    if (!this.charted) return;
    const library = await uPlot();
    const charted = this.charted;
    if (!charted || !this.canvas.isConnected) return;
    this.plot?.destroy();
    const pinned = charted.measures.map((measure, at) => ({ measure, at })).filter(({ measure }) => charted.pinned.has(measure.key));
    const [ink, grid] = [colour('muted'), colour('edge')];
    const hasUnit = (/** @type {string} */ unit) => pinned.some(({ measure }) => measure.unit === unit);
    const axis = (/** @type {string} */ scale, /** @type {number} */ side, /** @type {boolean} */ hasGrid) => ({
      scale, side, stroke: ink, grid: { show: hasGrid, stroke: grid, width: 1 }, ticks: { show: false }, size: 74, incrs: scale === 'bytes' ? BYTE_STEPS : undefined, font: '12px system-ui',
      values: (/** @type {any} */ _, /** @type {number[]} */ all) => all.map((value) => scale === 'bytes' ? numberText(value, 'bytes') : short(value)),
    });
    const range = (/** @type {any} */ _, /** @type {number} */ __, /** @type {number} */ most) => [0, (most || 1) * 1.06];
    this.plot = new library({
      width: this.width(), height: HEIGHT, legend: { show: false }, padding: [8, 8, 0, 8],
      cursor: { drag: { x: true, y: false, setScale: false, dist: 4 }, points: { size: 6 } },
      scales: { x: { time: false }, bytes: { range }, count: { range } },
      axes: [
        { stroke: ink, grid: { show: false }, ticks: { show: false }, font: '12px system-ui', incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000], size: 28 },
        ...(hasUnit('bytes') ? [axis('bytes', 3, true)] : []),
        ...(hasUnit('count') ? [axis('count', hasUnit('bytes') ? 1 : 3, !hasUnit('bytes'))] : []),
      ],
      series: [{}, ...pinned.map(({ measure, at }) => ({
        scale: measure.unit, stroke: colour(`series-${(at % COLOURS) + 1}`), width: 1.8, dash: at >= COLOURS ? [6, 4] : measure.unit === 'count' ? [2, 3] : undefined,
        points: { show: charted.snapshots.length <= 40, size: 5 },
      }))],
      hooks: {
        setCursor: [(/** @type {any} */ plot) => this.showLegend(plot.cursor.idx ?? null)],
        setSelect: [(/** @type {any} */ plot) => this.brushed(plot)],
        draw: [(/** @type {any} */ plot) => this.drawSelected(plot)],
      },
    }, [charted.snapshots, ...pinned.map(({ measure }) => measure.values)], this.canvas);
    this.listen();
    this.mark();
  }

  /** A click selects the nearest snapshot; the end of a drag is no click. */
  listen() {
    /** @type {[number, number]} */
    let down = [0, 0];
    const over = this.plot.over;
    over.addEventListener('mousedown', (/** @type {MouseEvent} */ event) => { down = [event.clientX, event.clientY]; });
    over.addEventListener('click', (/** @type {MouseEvent} */ event) => {
      const at = this.plot.cursor.idx;
      if (Math.abs(event.clientX - down[0]) < 4 && at !== null && at !== undefined && this.charted) this.doing.select(this.charted.snapshots[at]);
    });
  }

  /** @param {any} plot */
  brushed(plot) {
    const { left, width } = plot.select;
    if (width < 4 || !this.charted || this.isMarking) return;
    const { snapshots } = this.charted;
    const [a, b] = [plot.posToIdx(left), plot.posToIdx(left + width)].map((at) => snapshots[at]);
    this.doing.brush(a < b ? [a, b] : null);
    if (a >= b) this.mark();
  }

  /** Shows brush and selected snapshot. */
  mark() {
    if (!this.plot || !this.charted) return;
    const { brush } = this.charted;
    const [left, right] = brush ? brush.map((snapshot) => this.plot.valToPos(snapshot, 'x')) : [0, 0];
    this.isMarking = true;
    this.plot.setSelect({ left, width: right - left, top: 0, height: brush ? this.plot.over.clientHeight : 0 }, false);
    this.isMarking = false;
    this.plot.redraw(false);
  }

  /** @param {any} plot */
  drawSelected(plot) {
    if (this.charted?.selected === null || this.charted?.selected === undefined) return;
    const x = Math.round(plot.valToPos(this.charted.selected, 'x', true)) + 0.5;
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.strokeStyle = colour('ink');
    ctx.lineWidth = devicePixelRatio;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.restore();
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
    told.textContent = snapshot === undefined ? '' : `snapshot ${snapshot}`;
    charted.measures.forEach((measure, index) => {
      const value = measure.values[place];
      const button = buttons[index];
      button.setAttribute('aria-pressed', String(charted.pinned.has(measure.key)));
      const shown = button.querySelector('.value');
      if (shown) shown.textContent = value === null || value === undefined ? '' : numberText(value, measure.unit);
    });
  }

  /** Tells a screen reader where it is. */
  tell() {
    const { snapshots, measures, pinned, selected, brush } = /** @type {Charted} */ (this.charted);
    const at = snapshots.indexOf(selected ?? -1);
    const values = measures.filter((measure) => pinned.has(measure.key) && at >= 0 && measure.values[at] !== null)
      .map((measure) => `${measure.name} ${numberText(/** @type {number} */ (measure.values[at]), measure.unit)}`);
    const brushed = brush ? `; brush ${brush[0]} to ${brush[1]}` : '';
    this.canvas.setAttribute('aria-valuemin', String(snapshots[0]));
    this.canvas.setAttribute('aria-valuemax', String(snapshots[snapshots.length - 1]));
    this.canvas.setAttribute('aria-valuenow', String(selected ?? snapshots[0]));
    this.canvas.setAttribute('aria-valuetext', `snapshot ${selected ?? '–'}: ${values.join(', ')}${brushed}`);
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
    this.dark.removeEventListener('change', this.themed);
    window.removeEventListener('theme', this.themed);
    this.plot?.destroy();
    this.charted = null;
  }
}

/** @param {number} number */
function short(number) {
  for (const [unit, name] of /** @type {[number, string][]} */ ([[1e9, 'G'], [1e6, 'M'], [1e3, 'k']])) {
    if (number >= unit) return `${Number((number / unit).toPrecision(3))} ${name}`;
  }
  return grouped(number);
}
