// The numbers of snapshots as a chart, and the same numbers as a table: of all that there is, or of what `trend` asks.

import { fill, h } from './dom.js';
import { numberOf } from './cell.js';
import { numberText, text, visible } from './value_text.js';
import { cellOf, renderAnswer, renderTable } from './answer.js';
import { SeriesChart } from './chart.js';
import { Section } from './section.js';

/** @typedef {import('./context.js').Context} Context */
/** @typedef {import('./state.js').State} State */
/** @typedef {import('./ask.js').Answer} Answer */
/** @typedef {import('./ask.js').Table} Table */
/** @typedef {import('./ask.js').Value} Value */
/** @typedef {import('./ask.js').Column} Column */
/** @typedef {import('./ask.js').Fact} Fact */

/** What the chart shows unless the address says otherwise. */
const PINNED = ['heap_bytes', 'unmanaged_bytes', 'objects'];

/** Characters of a label of a snapshot. */
const LONGEST_MARK = 60;

/** The chart of all snapshots, and the same numbers as a table. */
export class Snapshots {
  /** @param {Context} ctx @param {HTMLElement} root */
  constructor(ctx, root) {
    this.ctx = ctx;
    this.section = new Section(ctx, { title: 'Snapshots', showsLine: true, name: 'snapshots', mirror: root });
    this.table = h('div', { class: 'chart-table', hidden: true });
    this.asked = '';
    /** @type {{snapshots: number[], measures: import('./chart.js').Measure[], marks: string[][]} | null} */
    this.data = null;
    this.chart = new SeriesChart({
      select: (snapshot) => ctx.go({ s: snapshot }),
      brush: (brush) => ctx.go(brush ? { a: brush[0], b: brush[1] } : { a: null, b: null }),
      pin: (pinned) => ctx.go({ pin: [...pinned].join('.') === PINNED.join('.') ? null : [...pinned].join('.') }, { replace: true }),
      table: () => { this.table.hidden = !this.table.hidden; },
    });
  }

  /** @param {State} state */
  update(state) {
    const line = (this.ctx.file.snapshots ?? 1) > 1 ? 'summary all' : 'summary';
    const asked = `${line} ${this.ctx.file.revision} ${state.w} ${line === 'summary' ? state.s : ''}`;
    if (asked === this.asked) return this.show(state);
    this.asked = asked;
    // The selected snapshot is no matter to all of them: the header asks the same.
    void this.section.ask(line, line === 'summary' ? {} : { snapshot: null }, {
      isQuiet: true,
      draw: (answer) => {
        const table = answer.tables.find((one) => one.key === 'snapshots');
        if (!table || table.rows.length < 2) return renderAnswer(answer, this.ctx, { line });
        this.data = { snapshots: table.rows.map((row) => numberOf(row[0])), measures: measuresOf(table), marks: marksOf(table) };
        fill(this.table, renderTable(table, this.ctx, { caption: 'all snapshots', cell: (row, column, at) => this.cell(row, column, at) }));
        queueMicrotask(() => this.show(this.ctx.state));
        return h('div', null, this.chart.element, this.table, renderAnswer({ ...answer, facts: [], tables: [] }, this.ctx, { line, hasCsv: true }));
      },
    });
  }

  /** @param {State} state */
  show(state) {
    if (!this.data) return;
    const known = this.data.measures.map((measure) => measure.key);
    const pinned = (state.extra.pin?.split('.') ?? PINNED).filter((key) => known.includes(key));
    const brush = /** @type {[number, number] | null} */ (state.a === null || state.b === null ? null : [state.a, state.b]);
    this.chart.show({ ...this.data, pinned: new Set(pinned.length > 0 ? pinned : known.slice(0, 1)), selected: this.ctx.snapshot, brush });
  }

  /** A number of a snapshot leads to it. @param {Value[]} row @param {Column} column @param {number} at */
  cell(row, column, at) {
    if (column.key !== 'snapshot') return null;
    return h('a', { href: this.ctx.href({ s: Number(row[at].value) }) }, text(row[at], column));
  }

  destroy() {
    this.chart.destroy();
    this.section.destroy();
  }
}

/** What `trend` asks, as a chart. Its address has no keys of its own: what is shown is forgotten with the answer. */
export class Trend {
  /** @param {Context} ctx @param {Snapshots} all what is known of the snapshots */
  constructor(ctx, all) {
    this.ctx = ctx;
    this.all = all;
    /** @type {SeriesChart | null} */
    this.chart = null;
    /** Shows the selected snapshot. */
    this.update = () => {};
  }

  /** @param {Answer} answer @param {string} line */
  draw(answer, line) {
    const table = answer.tables[answer.tables.length - 1];
    if (!table || table.rows.length < 2) return renderAnswer(answer, this.ctx, { line });
    const measures = measuresOf(table).reverse();
    const snapshots = table.rows.map((row) => numberOf(row[0]));
    const numbers = h('div', { class: 'chart-table', hidden: true }, renderTable(table, this.ctx, { caption: line }));
    return h('div', null, this.chartOf(snapshots, measures, numbers), renderAnswer({ ...answer, tables: [], curves: [] }, this.ctx, { line, hasCsv: true }));
  }

  /** A chart that shows the first of these measures. @param {number[]} snapshots @param {import('./chart.js').Measure[]} measures @param {HTMLElement} [numbers] the same as a table */
  chartOf(snapshots, measures, numbers) {
    this.destroy();
    let pinned = new Set(measures.slice(0, 1).map((measure) => measure.key));
    /** @type {string[][] | undefined} */
    let marks;
    this.update = () => {
      const known = this.all.data;
      if (known && !marks) marks = snapshots.map((snapshot) => known.marks[known.snapshots.indexOf(snapshot)] ?? []);
      chart.show({ snapshots, measures, pinned, selected: this.ctx.snapshot, brush: null, marks });
    };
    const table = numbers ?? h('div', { class: 'chart-table', hidden: true }, tableOf(snapshots, measures));
    const chart = new SeriesChart({
      select: (snapshot) => this.ctx.go({ s: snapshot }), brush: (brush) => brush && this.ctx.go({ a: brush[0], b: brush[1] }),
      pin: (next) => { pinned = next; this.update(); }, table: () => { table.hidden = !table.hidden; },
    });
    this.chart = chart;
    queueMicrotask(() => this.update());
    return h('div', null, chart.element, table);
  }

  destroy() {
    this.chart?.destroy();
    this.chart = null;
    this.update = () => {};
  }
}

/** Measures as a table; what is not known is empty. @param {number[]} snapshots @param {import('./chart.js').Measure[]} measures */
function tableOf(snapshots, measures) {
  const head = (/** @type {string} */ name) => h('th', { scope: 'col', class: 'number' }, name);
  const cell = (/** @type {import('./chart.js').Measure} */ { values, unit }, /** @type {number} */ at) => h('td', { class: 'number' }, values[at] == null ? '' : numberText(values[at], unit));
  return h('table', { class: 'rows' }, h('thead', null, h('tr', null, head('snapshot'), measures.map(({ name }) => head(name)))),
    h('tbody', null, snapshots.map((snapshot, at) => h('tr', null, h('td', { class: 'number' }, snapshot), measures.map((measure) => cell(measure, at))))));
}

/** Every number of a snapshot that can be drawn, those of kinds last. @param {Table} table @returns {import('./chart.js').Measure[]} */
function measuresOf(table) {
  const drawn = table.columns.map((column, at) => ({ column, at }))
    .filter(({ column }) => ['bytes', 'count'].includes(column.unit) && column.audience === 'everyone');
  const own = drawn.map(({ column, at }) => ({
    key: column.key, name: column.heading, unit: column.unit, values: table.rows.map((row) => known(numberOf(row[at]))),
  }));
  const place = (/** @type {{key: string}} */ { key }) => (PINNED.includes(key) ? PINNED.indexOf(key) : PINNED.length);
  own.sort((one, other) => place(one) - place(other));
  return [...own, ...kindsOf(table)].filter((measure) => measure.values.some((value) => value !== null));
}

/** The label and the time of each snapshot, as far as they are known and differ. @param {Table} table @returns {string[][]} */
function marksOf(table) {
  const columns = ['label', 'time_ns'].map((key) => table.columns.find((column) => column.key === key)).filter((column) => column !== undefined);
  const cut = (/** @type {string} */ one) => [...one.slice(0, 2 * LONGEST_MARK)].slice(0, LONGEST_MARK).join('');
  const texts = columns.map((column) => table.rows.map((row) => cut(text(/** @type {Value} */ (cellOf(table, row, column.key)), column))));
  const differing = texts.filter((all) => new Set(all).size > 1);
  return table.rows.map((_, at) => differing.map((all) => all[at]));
}

/** The sizes of each kind. @param {Table} table @returns {import('./chart.js').Measure[]} */
function kindsOf(table) {
  const at = table.columns.findIndex((column) => column.key === 'kinds');
  if (at < 0) return [];
  /** @type {Map<string, (number | null)[]>} */
  const series = new Map();
  table.rows.forEach((row, place) => {
    for (const { column, value: counts } of /** @type {Fact[]} */ (row[at].value ?? [])) {
      const kind = column.key;
      const bytes = counts.value?.find((/** @type {Fact} */ fact) => fact.column.key === 'heap_bytes')?.value;
      if (!series.has(kind)) series.set(kind, Array(table.rows.length).fill(null));
      /** @type {(number | null)[]} */ (series.get(kind))[place] = bytes ? known(numberOf(bytes)) : null;
    }
  });
  const told = [...series].filter(([, values]) => values.some((value) => value));
  return told.length < 2 ? [] : told.slice(0, 12).map(([kind, values]) => ({ key: `kind-${kind.replaceAll('.', '_')}`, name: visible(kind), unit: 'bytes', values }));
}

/** @param {number} number */
function known(number) {
  return Number.isNaN(number) ? null : number;
}
