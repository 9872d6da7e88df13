// One metric of one program: how often each value, the values over the order of the runs, and the knob that explains them.
// Two programs side by side: a verdict for each metric, and the histograms of one on a shared axis, mode beside mode.

import { fill, h } from '../dom.js';
import { forPeople, numberOf } from '../cell.js';
import { text, visible } from '../value_text.js';
import { cellOf, factOf, renderAnswer, renderTable } from '../answer.js';
import { Histogram, Scatter, verdictClass } from '../trial_charts.js';
import { Section } from '../section.js';
import { words } from '../state.js';
import { knobsOf, modeAt, modeClass, modesOf, percent, placesOf, rowsOf, runPlaces, seriesLine, seriesOf, sharedBins, weightText, word } from '../trial_values.js';

/** @typedef {import('../context.js').Context} Context */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../ask.js').Answer} Answer */
/** @typedef {import('../ask.js').Value} Value */
/** @typedef {import('../trial_values.js').Series} Series */

/** What changes have an interval, and the beginning of its keys. @type {Record<string, string>} */
const CHANGES = { location_change: 'location', weight_change: 'weight' };

/** @param {HTMLElement} root @param {Context} ctx @returns {import('../context.js').View} */
export function mount(root, ctx) {
  return new MetricView(root, ctx);
}

class MetricView {
  /** @param {HTMLElement} root @param {Context} ctx */
  constructor(root, ctx) {
    this.ctx = ctx;
    this.values = new Section(ctx, { title: 'Histogram', name: 'histogram', mirror: root });
    this.order = new Section(ctx, { title: 'In the order of the runs', name: 'order' });
    this.modes = new Section(ctx, { title: 'Modes, and what explains them', showsLine: true, name: 'modes' });
    this.programs = h('nav', { class: 'group', 'aria-label': 'programs' });
    this.histogram = new Histogram((mode, program) => ctx.go({ q: `${seriesLine('values', this.series?.metric ?? '', program)} mode ${mode.number}` }));
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
    void this.ask(state.q, key);
    void this.showPrograms(words(state.q).slice(1), key);
  }

  /** The modes belong to the histogram: both are drawn when both are there. @param {string} line @param {string} key */
  async ask(line, key) {
    for (const later of [this.order, this.modes]) {
      later.stop();
      later.element.hidden = true;
    }
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

  /** The programs with values of the metric. @param {string[]} asked @param {string} key */
  async showPrograms(asked, key) {
    const answer = await this.ctx.ask('trials', { from: 0, n: 1000 }).catch(() => null);
    if (!answer || key !== this.asked) return;
    const rows = rowsOf(answer, 'rows').map((get) => [String(get('metric').value), String(get('variant').value)]).filter(([metric]) => word(metric) === asked[0]);
    const [metric, found] = [rows[0]?.[0] ?? '', rows.map(([, name]) => name)];
    fill(this.programs, found.length < 2 ? null : found.map((name) => h('a', {
      class: 'button', href: this.ctx.href({ q: seriesLine('histogram', metric, name) }), 'aria-current': word(name) === asked[1] ? 'true' : null,
    }, h('bdi', null, visible(name.slice(0, 60))))),
    found.length < 2 ? null : h('a', { class: 'button', href: this.ctx.href({ q: `compare ${word(found[0])} ${word(found[1])} ${word(metric)}` }) }, 'side by side'));
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
      label: `values of ${visible(series.metric)} in the order of the runs`, unit: series.unit, names: null, failed: runs,
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
          caption: 'modes', shows: (column) => forPeople(column) && column.role !== 'interval',
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
    const knob = knobs.find(({ name }) => name === this.ctx.state.extra.k) ?? knobs.slice(0, 1).find(({ share }) => !Number.isNaN(share));
    for (const row of this.modes.body.querySelectorAll('[data-knob]')) row.setAttribute('aria-selected', String(row.getAttribute('data-knob') === knob?.name));
    if (!knob) return fill(this.knob);
    const { places, names } = placesOf(knob);
    const modes = modesOf(explained);
    const title = `${visible(knob.name)}${knob.modulus && !names ? ` modulo ${knob.modulus}` : ''}`;
    fill(this.knob, h('h3', null, `Over ${title}`), h('p', { class: 'muted' }, Number.isNaN(knob.share) ? 'no part of the spread' : `${percent(knob.share)} of the spread`), this.settings.element);
    const points = series.values.flatMap(({ value, run }, at) => {
      const x = places[at];
      // Points of a name are beside each other.
      return x == null ? [] : [{ x: names ? x + ((at * 0.618) % 1) * 0.5 - 0.25 : x, y: value, run, mode: modeAt(modes, value), words: `, ${visible(knob.name)} ${visible(String(knob.settings[at]))}` }];
    });
    this.settings.show({ label: `values of ${visible(series.metric)} over ${title}`, unit: series.unit, names, failed: [], points });
  }

  destroy() {
    for (const one of [this.histogram, this.runs, this.settings, this.values, this.order, this.modes]) one.destroy();
  }
}

/** @param {HTMLElement} root @param {Context} ctx @returns {import('../context.js').View} */
export function mountCompare(root, ctx) {
  return new CompareView(root, ctx);
}

class CompareView {
  /** @param {HTMLElement} root @param {Context} ctx */
  constructor(root, ctx) {
    this.ctx = ctx;
    this.verdicts = new Section(ctx, { title: 'B compared with A', name: 'compare', mirror: root });
    this.beside = new Section(ctx, { title: 'Side by side', name: 'beside' });
    this.tools = h('div', { class: 'tree-tools' });
    /** The name of the metric that is drawn. */
    this.metric = '';
    this.asked = '';
    /** @type {Answer | null} */
    this.answer = null;
    this.chart = new Histogram((mode, program) => ctx.go({ q: `${seriesLine('values', this.metric, program)} mode ${mode.number}` }));
    fill(root, this.tools, this.verdicts.element, this.beside.element);
  }

  /** @param {State} state */
  update(state) {
    const key = `${state.q} ${this.ctx.file.revision}`;
    if (key === this.asked) return this.showMetric();
    this.asked = key;
    this.metric = '';
    this.answer = null;
    this.beside.element.hidden = true;
    void this.ask(state.q, key);
  }

  /** @param {string} line @param {string} key */
  async ask(line, key) {
    const answer = await this.verdicts.ask(line, { from: 0, n: 1000 }, { draw: (answer) => this.draw(answer, line) });
    if (key !== this.asked) return;
    void this.showPrograms(key, answer);
    if (!answer) return;
    this.answer = answer;
    this.showMetric();
  }

  /** @param {Answer} answer @param {string} line */
  draw(answer, line) {
    return renderAnswer({ ...answer, tables: answer.tables.filter(({ key }) => key === 'rows') }, this.ctx, {
      line,
      table: {
        caption: 'metrics of both programs',
        cell: (row, column, at) => {
          if (column.key === 'verdict') return h('span', { class: `verdict ${verdictClass(String(row[at].value))}` }, String(row[at].value));
          if (column.key !== 'metric') return null;
          return h('a', { href: this.ctx.href({ m: row[at].value }), title: 'side by side' }, h('bdi', null, visible(String(row[at].value).slice(0, 200))));
        },
        row: (row, table) => ({ 'data-metric': cellOf(table, row, 'metric')?.value }),
      },
    });
  }

  /** Which programs are compared. @param {string} key @param {Answer | null} answer */
  async showPrograms(key, answer) {
    const all = await this.ctx.ask('trials', { from: 0, n: 1000 }).catch(() => null);
    if (!all || key !== this.asked) return;
    const names = [...new Set(rowsOf(all, 'rows').map((get) => String(get('variant').value)))];
    const chosen = answer ? [String(factOf(answer, 'a')), String(factOf(answer, 'b'))] : names.slice(0, 2);
    if (names.length < 2 || chosen.some((name) => !names.includes(name))) return fill(this.tools);
    const go = (/** @type {string[]} */ [a, b]) => this.ctx.go({ q: `compare ${word(a)} ${word(b)}` });
    const choice = (/** @type {number} */ at) => {
      const select = h('select', { 'aria-label': `program ${'AB'[at]}`, onchange: () => go(at === 0 ? [select.value, chosen[1]] : [chosen[0], select.value]) },
        names.map((name) => h('option', { value: name }, visible(name.slice(0, 80)))));
      select.value = chosen[at];
      return h('label', { class: 'group' }, `${'AB'[at]} `, select);
    };
    fill(this.tools, choice(0), choice(1), h('button', { type: 'button', onclick: () => go([chosen[1], chosen[0]]) }, 'swap'));
  }

  /** Draws the chosen metric, or the first one. */
  showMetric() {
    const { answer } = this;
    const all = answer ? rowsOf(answer, 'rows') : [];
    const found = all.find((get) => get('metric').value === this.ctx.state.extra.m) ?? all[0];
    const metric = found ? String(found('metric').value) : '';
    if (!answer || !found || metric === this.metric) return;
    this.metric = metric;
    for (const row of this.verdicts.body.querySelectorAll('[data-metric]')) row.setAttribute('aria-selected', String(row.getAttribute('data-metric') === metric));
    // Programs of other files have no histogram here.
    const sides = ['a', 'b'].map((key) => String(factOf(answer, key)));
    this.beside.element.hidden = false;
    void this.drawBeside(metric, sides, found);
  }

  /** @param {string} metric @param {string[]} sides @param {(key: string) => Value} row */
  async drawBeside(metric, sides, row) {
    const others = [seriesLine('modes', metric, sides[0]), seriesLine('histogram', metric, sides[1]), seriesLine('modes', metric, sides[1])].map((line) => this.ctx.ask(line));
    const rest = Promise.all(others);
    // The section tells of what went wrong with the first of them; of the others here.
    rest.catch(() => {});
    const line = seriesLine('histogram', metric, sides[0]);
    await this.beside.ask(line, {}, {
      isQuiet: true,
      draw: (first) => {
        const drawn = h('div', null, this.sentence(metric, row), this.chart.element, this.pairs(metric));
        rest.then(([modesA, second, modesB]) => {
          if (metric !== this.metric) return;
          const series = [seriesOf(first), seriesOf(second)];
          const modes = [modesOf(modesA), modesOf(modesB)];
          const bins = sharedBins(series, modes);
          this.chart.show({ metric, unit: series[0].unit, sides: sides.map((program, at) => ({ program, bins: bins[at], modes: modes[at] })), pairs: pairsOf(row('modes')) });
          drawn.dataset.state = 'ready';
        }, (error) => this.beside.fail(error, () => { this.metric = ''; this.showMetric(); }));
        drawn.dataset.state = 'loading';
        return drawn;
      },
    });
  }

  /** The verdict in words. @param {string} metric @param {(key: string) => Value} row */
  sentence(metric, row) {
    const words = (/** @type {string} */ key) => (row(key).kind === 'measured' ? text(row(key), { unit: 'number' }) : null);
    const share = (/** @type {string} */ key) => (Number.isNaN(numberOf(row(key))) ? null : `${(numberOf(row(key)) * 100).toFixed(1)} %`);
    const verdict = String(row('verdict').value);
    return h('p', { class: 'finding' }, h('bdi', null, visible(metric.slice(0, 200))), ': B is ', h('strong', { class: `verdict ${verdictClass(verdict)}` }, row('headline').kind === 'text' ? visible(String(row('headline').value)) : verdict),
      words('shift') ? `; shift ${words('shift')}${words('shift_low') ? ` (${words('shift_low')} to ${words('shift_high')})` : ''}` : '',
      share('smallest_detectable') ? `; could see ~${share('smallest_detectable')}` : '', '.');
  }

  /** The modes that match, as a table. @param {string} metric */
  pairs(metric) {
    const table = this.answer?.tables.find(({ key }) => key === 'modes');
    const rows = table?.rows.filter((row) => cellOf(table, row, 'metric')?.value === metric) ?? [];
    if (!table || rows.length === 0) return null;
    const ends = (/** @type {Value[]} */ row, /** @type {string} */ key) => ['low', 'high'].map((end) => text(cellOf(table, row, `${key}_${end}`) ?? { kind: 'none' }, { unit: 'text' })).filter(Boolean);
    return renderTable({ ...table, rows }, this.ctx, {
      caption: `modes of ${visible(metric)}`, shows: (column) => column.key !== 'metric' && column.role !== 'interval',
      cell: (row, column, at) => {
        if (column.key === 'verdict') return h('span', { class: `verdict ${verdictClass(String(row[at].value))}` }, String(row[at].value));
        const kind = CHANGES[column.key];
        const [low, high] = kind ? ends(row, kind) : [];
        return low && high ? h('span', { class: 'number' }, `${text(row[at], column)} (${low} to ${high})`) : null;
      },
    });
  }

  destroy() {
    this.chart.destroy();
    this.verdicts.destroy();
    this.beside.destroy();
  }
}

/** Modes that match, by their numbers. @param {Value} list @returns {import('../trial_charts.js').Pair[]} */
function pairsOf(list) {
  return (list.value ?? []).map((/** @type {Value} */ one) => {
    const fields = new Map(one.value.map((/** @type {import('../ask.js').Fact} */ { column, value }) => [column.key, value]));
    const number = (/** @type {string} */ key) => {
      const value = numberOf(fields.get(key) ?? { kind: 'none' });
      return Number.isNaN(value) ? null : value;
    };
    return { a: number('a'), b: number('b'), verdict: String(fields.get('verdict')?.value ?? ''), change: number('location_change') };
  });
}
