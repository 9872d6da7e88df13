// One metric of one program: how often each value, the values over the order of the runs, and the knob that explains them.

import { fill, h } from '../dom.js';
import { forPeople, numberOf, visible } from '../cell.js';
import { cellOf, renderAnswer } from '../answer.js';
import { HistogramChart } from '../histogram_chart.js';
import { Scatter } from '../scatter.js';
import { Section } from '../section.js';
import { words } from '../state.js';
import { knobsOf, modeAt, modeClass, modesOf, percent, placesOf, rowsOf, runPlaces, seriesLine, seriesOf, weightText, word } from '../trial_values.js';

/** @typedef {import('../context.js').Context} Context */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../ask.js').Answer} Answer */
/** @typedef {import('../trial_values.js').Series} Series */

/** @param {HTMLElement} root @param {Context} ctx @returns {import('../context.js').View} */
export function mount(root, ctx) {
  const view = new MetricView(root, ctx);
  return { update: (state) => view.update(state), destroy: () => view.destroy() };
}

class MetricView {
  /** @param {HTMLElement} root @param {Context} ctx */
  constructor(root, ctx) {
    this.ctx = ctx;
    this.values = new Section(ctx, { title: 'Histogram', name: 'histogram', mirror: root });
    this.order = new Section(ctx, { title: 'In the order of the runs', name: 'order' });
    this.modes = new Section(ctx, { title: 'Modes, and what explains them', showsLine: true, name: 'modes' });
    this.programs = h('nav', { class: 'group', 'aria-label': 'programs' });
    this.histogram = new HistogramChart((mode, program) => ctx.go({ q: `${seriesLine('values', this.series?.metric ?? '', program)} mode ${mode.number}` }));
    const open = (/** @type {number} */ run) => ctx.go({ q: `runs ${run}` });
    this.runs = new Scatter(open);
    this.settings = new Scatter(open);
    this.knob = h('div', { class: 'knob' });
    this.asked = '';
    /** @type {Series | null} */
    this.series = null;
    /** @type {Answer | null} */
    this.explained = null;
    fill(root, this.programs, this.values.element, this.order.element, this.modes.element);
  }

  /** @param {State} state */
  update(state) {
    const key = `${state.q} ${this.ctx.file.revision}`;
    if (key === this.asked) return this.showKnob();
    this.asked = key;
    void this.begin(state.q, key);
  }

  /** A program must be chosen if several have values. @param {string} line @param {string} key */
  async begin(line, key) {
    const asked = words(line).slice(1);
    const programs = this.showPrograms(asked, key);
    if (asked.length !== 1 || (await programs) < 2) return void this.ask(line, key);
    if (key !== this.asked) return;
    this.values.stop();
    this.values.empty('Several programs have values of this metric: choose one.');
    this.order.element.hidden = this.modes.element.hidden = true;
  }

  /** The modes belong to the histogram: both are drawn when both are there. @param {string} line @param {string} key */
  async ask(line, key) {
    this.order.element.hidden = this.modes.element.hidden = true;
    const answer = await this.values.ask(line, {}, { draw: (answer) => this.drawHistogram(answer, line), why: (answer) => (seriesOf(answer).values.length > 0 ? null : 'No run that counts has a value.') });
    if (!answer || key !== this.asked || !this.series?.values.length) return;
    this.order.element.hidden = this.modes.element.hidden = false;
    const { metric, program } = this.series;
    const ofModes = seriesLine('modes', metric, program);
    const explained = await this.modes.ask(ofModes, {}, { isQuiet: true, draw: (answer) => this.drawModes(answer, ofModes) });
    if (!explained || key !== this.asked) return;
    this.histogram.show({ metric, unit: this.series.unit, sides: [{ program, bins: this.series.bins, modes: modesOf(explained) }], pairs: [] });
    // A program that failed has no value there, but its place in the order.
    void this.order.ask(`runs ${word(program)} failed`, { from: 0, n: 1000 }, { isQuiet: true, draw: (failed) => this.drawOrder(failed) });
  }

  /** Shows the programs with values of the metric, and says how many there are. @param {string[]} asked @param {string} key */
  async showPrograms(asked, key) {
    const answer = await this.ctx.ask('trials', { from: 0, n: 1000 }).catch(() => null);
    if (!answer || key !== this.asked) return 0;
    const plain = (/** @type {string} */ text) => text.replace(/^["']|["']$/g, '').replace(/\\(.)/g, '$1');
    const metric = plain(asked[0] ?? '');
    const found = rowsOf(answer, 'rows').filter((get) => get('metric').value === metric).map((get) => String(get('variant').value));
    fill(this.programs, found.length < 2 ? null : found.map((name) => h('a', {
      class: 'button', href: this.ctx.href({ q: seriesLine('histogram', metric, name) }), 'aria-current': asked[1] !== undefined && plain(asked[1]) === name ? 'true' : null,
    }, h('bdi', null, visible(name.slice(0, 60))))),
    found.length < 2 ? null : h('a', { class: 'button', href: this.ctx.href({ q: `compare ${word(found[0])} ${word(found[1])} ${word(metric)}` }) }, 'side by side'));
    return found.length;
  }

  /** @param {Answer} answer @param {string} line */
  drawHistogram(answer, line) {
    const series = seriesOf(answer);
    this.series = series;
    this.explained = null;
    queueMicrotask(() => this.histogram.show({ metric: series.metric, unit: series.unit, sides: [{ program: series.program, bins: series.bins, modes: [] }], pairs: [] }));
    const table = answer.tables.find(({ key }) => key === 'rows');
    return h('div', null, this.histogram.element, h('details', { class: 'data' }, h('summary', null, 'bars as a table'), renderAnswer({ ...answer, facts: [], notes: [], tables: table ? [table] : [] }, this.ctx, { line })),
      renderAnswer({ ...answer, tables: [] }, this.ctx, { line, hasCsv: true }));
  }

  /** @param {Answer} failed */
  drawOrder(failed) {
    const series = /** @type {Series} */ (this.series);
    const modes = this.explained ? modesOf(this.explained) : [];
    const places = runPlaces(series.values);
    const runs = rowsOf(failed, 'rows').map((get) => numberOf(get('run')));
    queueMicrotask(() => this.runs.show({
      label: `values of ${visible(series.metric)} in the order of the runs`, unit: series.unit, names: null, failed: runs.map((run) => ({ x: run, run })),
      points: series.values.map(({ value, run, iteration }, at) => ({ x: places[at], y: value, run, mode: modeAt(modes, value), words: iteration === null ? '' : `, iteration ${iteration}` })),
    }));
    return h('div', null, this.runs.element, h('p', { class: 'muted' }, runs.length > 0 ? [`× ${runs.length} failed: `, runs.slice(0, 20).map((run) => [h('a', { href: this.ctx.href({ q: `runs ${run}` }) }, `run ${run}`), ' '])].flat(2) : 'No run failed.'));
  }

  /** @param {Answer} answer @param {string} line */
  drawModes(answer, line) {
    this.explained = answer;
    const series = /** @type {Series} */ (this.series);
    const explained = answer.notes.slice(-1);
    const rows = answer.tables.filter(({ key }) => key === 'rows');
    const knobs = answer.tables.filter(({ key }) => key === 'knobs').filter(forPeople);
    const modes = modesOf(answer);
    const modeLine = (/** @type {any} */ mode) => `${seriesLine('values', series.metric, series.program)} mode ${mode}`;
    const node = h('div', { class: 'modes' }, h('div', null,
      renderAnswer({ ...answer, facts: answer.facts.filter(({ column }) => column.key === 'mvalue'), tables: rows, notes: [] }, this.ctx, {
        line,
        table: {
          caption: 'modes', shows: (column) => forPeople(column) && !/^weight_/.test(column.key),
          cell: (row, column, at) => (column.key === 'weight' ? h('span', null, weightText(modes[rows[0].rows.indexOf(row)])) : column.key !== 'mode' ? null : h('a', { class: `swatch ${modeClass(numberOf(row[at]))}`, href: this.ctx.href({ q: modeLine(row[at].value) }), title: modeLine(row[at].value) },
            h('span', { class: 'patch' }), `mode ${row[at].value}: runs`)),
        },
      })), h('div', null, explained.map((note) => h('p', { class: 'finding' }, visible(note))),
      renderAnswer({ ...answer, facts: [], notes: [], tables: knobs, exactness: null, elapsed_ms: /** @type {any} */ (undefined) }, this.ctx, {
        table: {
          caption: 'knobs', cell: (row, column, at) => (column.key !== 'knob' ? null : h('a', { href: this.ctx.href({ k: row[at].value }), title: 'the values over this knob' }, h('bdi', null, visible(String(row[at].value))))),
          row: (row, table) => ({ 'data-knob': cellOf(table, row, 'knob')?.value }),
        },
      })), this.knob);
    queueMicrotask(() => this.showKnob());
    return node;
  }

  /** The values over the settings of the knob that explains them, or that was chosen. */
  showKnob() {
    const { series, explained } = this;
    if (!series || !explained) return;
    const knobs = knobsOf(explained);
    const isFound = /\d % of the spread/.test(explained.notes.at(-1) ?? '');
    const knob = knobs.find(({ name }) => name === this.ctx.state.extra.k) ?? (isFound ? knobs[0] : undefined);
    for (const row of this.modes.body.querySelectorAll('[data-knob]')) row.setAttribute('aria-selected', String(row.getAttribute('data-knob') === knob?.name));
    if (!knob) return fill(this.knob);
    const { places, names } = placesOf(knob);
    const modes = modesOf(explained);
    const title = `${visible(knob.name)}${knob.modulus && !names ? ` modulo ${knob.modulus}` : ''}`;
    fill(this.knob, h('h3', null, `Over ${title}`), h('p', { class: 'muted' }, `${percent(knob.share)} of the spread`), this.settings.element);
    const points = series.values.flatMap(({ value, run }, at) => {
      const x = places[at];
      // Points of a name are beside each other.
      return x === null || x === undefined ? [] : [{ x: names ? x + ((at * 0.618) % 1) * 0.5 - 0.25 : x, y: value, run, mode: modeAt(modes, value), words: `, ${visible(knob.name)} ${visible(String(knob.settings[at]))}` }];
    });
    this.settings.show({ label: `values of ${visible(series.metric)} over ${title}`, unit: series.unit, names, failed: [], points });
  }

  destroy() {
    for (const one of [this.histogram, this.runs, this.settings, this.values, this.order, this.modes]) one.destroy();
  }
}
