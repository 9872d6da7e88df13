// What trials measured: what ran, and a row for each metric of each program with its histogram.

import { fill, h, svg } from '../dom.js';
import { cellNode, forPeople, grouped, numberOf, visible } from '../cell.js';
import { cellOf, factOf, renderAnswer } from '../answer.js';
import { Section } from '../section.js';
import { isBare } from '../state.js';
import { modeClass, seriesLine, word } from '../trial_values.js';

/** @typedef {import('../context.js').Context} Context */
/** @typedef {import('../ask.js').Answer} Answer */
/** @typedef {import('../ask.js').Table} Table */
/** @typedef {import('../ask.js').Value} Value */
/** @typedef {import('../ask.js').Column} Column */

const [WIDTH, HEIGHT] = [96, 20];

/** @param {HTMLElement} root @param {Context} ctx @returns {import('../context.js').View} */
export function mount(root, ctx) {
  const metrics = new Section(ctx, { title: 'What was measured', name: 'trials', mirror: root });
  const ran = new Section(ctx, { title: 'What ran', showsLine: true, name: 'ran' });
  let asked = '';
  fill(root, metrics.element, ran.element);
  return {
    update(state) {
      const key = `${state.q} ${ctx.file.revision}`;
      if (key === asked) return;
      asked = key;
      void metrics.ask(state.q, { from: 0, n: 1000 }, { draw: (answer) => metricsNode(answer, state.q, ctx), why });
      // Of a recording with a heap too, the summary is about that.
      ran.element.hidden = !isBare(ctx.file);
      if (!ran.element.hidden) void ran.ask('summary', {}, { isQuiet: true, draw: (answer) => ranNode(answer, ctx) });
    },
    destroy() {
      metrics.destroy();
      ran.destroy();
    },
  };
}

/** @param {Answer} answer */
function why(answer) {
  if (answer.tables.some((table) => table.rows.length > 0)) return null;
  return visible(answer.notes.filter((note) => !note.includes('\x60')).join('; ')) || `No run succeeded${Number(factOf(answer, 'failed_runs')) > 0 ? `; ${grouped(factOf(answer, 'failed_runs'))} failed` : ''}.`;
}

/** @param {Answer} answer @param {string} line @param {Context} ctx */
function metricsNode(answer, line, ctx) {
  const column = { key: 'shape', heading: 'values', unit: 'text', audience: 'people', is_secondary: false };
  // Beside the names, so that it is seen on narrow pages too.
  const tables = answer.tables.map((table) => ({ ...table, columns: table.columns.toSpliced(2, 0, column), rows: table.rows.map((row) => row.toSpliced(2, 0, { kind: 'text', value: ' ' })) }));
  const failed = Number(factOf(answer, 'failed_runs') ?? 0);
  return h('div', null, failed > 0 ? h('p', { class: 'failed-runs' }, h('a', { href: ctx.href({ q: 'runs failed' }) }, failed === 1 ? '1 run failed' : `${grouped(failed)} runs failed`), failed === 1 ? ' and does not count.' : ' and do not count.') : null,
    renderAnswer({ ...answer, tables, notes: failed > 0 ? [] : answer.notes }, ctx, {
      line,
      table: { caption: 'metrics of programs', shows: (one) => forPeople(one) && !['values'].includes(one.key), cell: (row, one, at, table) => metricCell(row, one, at, table, ctx) },
    }));
}

/** @param {Value[]} row @param {Column} column @param {number} at @param {Table} table @param {Context} ctx */
function metricCell(row, column, at, table, ctx) {
  const get = (/** @type {string} */ key) => cellOf(table, row, key)?.value;
  if (column.key === 'metric') {
    const line = seriesLine('histogram', get('metric'), get('variant'));
    return h('a', { href: ctx.href({ q: line }), title: visible(line) }, h('bdi', null, visible(String(row[at].value).slice(0, 200))));
  }
  if (column.key === 'layout_matters') return row[at].value === true ? h('strong', null, 'yes') : null;
  if (column.key !== 'shape') return null;
  const numbers = (/** @type {string} */ key) => (get(key) ?? []).map((/** @type {Value} */ one) => (one.kind === 'none' ? null : numberOf(one)));
  return shape(numbers('bin_counts'), numbers('bin_modes'), `${visible(String(get('metric')))}: ${get('modes') ?? 'unknown'} ${get('modes') === 1 ? 'mode' : 'modes'}`);
}

/** A histogram that fits into a row. @param {number[]} counts @param {(number | null)[]} modes @param {string} label */
function shape(counts, modes, label) {
  const most = Math.max(...counts, 1);
  const step = WIDTH / Math.max(counts.length, 1);
  return svg('svg', { class: 'bars shape', width: WIDTH, height: HEIGHT, viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': label },
    counts.map((count, at) => {
      const height = count === 0 ? 0 : Math.max(1.5, (count / most) * HEIGHT);
      const width = Math.min(step, 12);
      return svg('rect', { class: `bar ${modeClass(modes[at])}`, x: (at * step + (step - width) / 2).toFixed(1), width: Math.max(width - 0.5, 1).toFixed(1), y: (HEIGHT - height).toFixed(1), height: height.toFixed(1) });
    }));
}

/** @param {Answer} answer @param {Context} ctx */
function ranNode(answer, ctx) {
  return renderAnswer({ ...answer, facts: answer.facts.filter(({ column }) => column.key !== 'metrics'), tables: answer.tables.filter(({ key }) => key === 'programs'), notes: [] }, ctx, {
    line: 'summary',
    table: {
      caption: 'programs',
      cell: (row, column, at, table) => {
        const name = String(cellOf(table, row, 'variant')?.value);
        const line = column.key === 'variant' ? `runs ${word(name)}` : column.key === 'failed_runs' && row[at].value > 0 ? `runs ${word(name)} failed` : null;
        return line === null ? null : h('a', { href: ctx.href({ q: line }), title: visible(line) }, cellNode(row[at], column, ctx));
      },
    },
  });
}
