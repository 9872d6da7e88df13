// Two programs side by side: a verdict for each metric, and the histograms of one on a shared axis, mode beside mode.

import { fill, h } from '../dom.js';
import { numberOf, text, visible } from '../cell.js';
import { cellOf, factOf, renderAnswer, renderTable } from '../answer.js';
import { HistogramChart, verdictClass } from '../histogram_chart.js';
import { Section } from '../section.js';
import { modesOf, rowsOf, seriesLine, seriesOf, sharedBins, word } from '../trial_values.js';

/** @typedef {import('../context.js').Context} Context */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../ask.js').Answer} Answer */
/** @typedef {import('../ask.js').Value} Value */

/** @param {HTMLElement} root @param {Context} ctx @returns {import('../context.js').View} */
export function mount(root, ctx) {
  const view = new CompareView(root, ctx);
  return { update: (state) => view.update(state), destroy: () => view.destroy() };
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
    this.chart = new HistogramChart((mode, program) => ctx.go({ q: `${seriesLine('values', this.metric, program)} mode ${mode.number}` }));
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
    const words = (/** @type {string} */ key) => (row(key).kind === 'measured' ? visible(row(key).value.text) : null);
    const share = (/** @type {string} */ key) => (Number.isNaN(numberOf(row(key))) ? null : `${(numberOf(row(key)) * 100).toFixed(1)} %`);
    const verdict = String(row('verdict').value);
    return h('p', { class: 'finding' }, h('bdi', null, visible(metric.slice(0, 200))), ': B is ', h('strong', { class: `verdict ${verdictClass(verdict)}` }, verdict),
      words('shift') ? `; shift ${words('shift')}${words('shift_low') ? ` (${words('shift_low')} to ${words('shift_high')})` : ''}` : '',
      share('smallest_detectable') ? `; could see ${share('smallest_detectable')}` : '', '.');
  }

  /** The modes that match, as a table. @param {string} metric */
  pairs(metric) {
    const table = this.answer?.tables.find(({ key }) => key === 'modes');
    const rows = table?.rows.filter((row) => cellOf(table, row, 'metric')?.value === metric) ?? [];
    if (!table || rows.length === 0) return null;
    const ends = (/** @type {Value[]} */ row, /** @type {string} */ key) => ['low', 'high'].map((end) => text(cellOf(table, row, `${key}_${end}`) ?? { kind: 'none' }, { unit: 'text' })).filter(Boolean);
    return renderTable({ ...table, rows }, this.ctx, {
      caption: `modes of ${visible(metric)}`, shows: (column) => !/metric|_low$|_high$/.test(column.key),
      cell: (row, column, at) => {
        if (column.key === 'verdict') return h('span', { class: `verdict ${verdictClass(String(row[at].value))}` }, String(row[at].value));
        const kind = column.key.match(/^(location|weight)_change$/)?.[1];
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

/** Modes that match, by their numbers. @param {Value} list @returns {import('../histogram_chart.js').Pair[]} */
function pairsOf(list) {
  return (list.value ?? []).map((/** @type {Value} */ one) => {
    const fields = new Map(one.value);
    const number = (/** @type {string} */ key) => {
      const value = numberOf(fields.get(key) ?? { kind: 'none' });
      return Number.isNaN(value) ? null : value;
    };
    return { a: number('a'), b: number('b'), verdict: String(fields.get('verdict')?.value ?? ''), change: number('location_change') };
  });
}
