// What trials measured: what ran, and a row for each metric of each program with its histogram; the runs, and the values of a
// mode, each with the command that repeats its run under its layout.

import { fill, h, svg } from '../dom.js';
import { forPeople, numberOf } from '../cell.js';
import { grouped, visible } from '../value_text.js';
import { cellOf, factOf, renderAnswer } from '../answer.js';
import { Section } from '../section.js';
import { copyButton } from '../frame.js';
import { isBare, verbOf, words } from '../state.js';
import { modeClass, replayLine, seriesLine, word } from '../trial_values.js';

/** @typedef {import('../context.js').Context} Context */
/** @typedef {import('../ask.js').Answer} Answer */
/** @typedef {import('../ask.js').Table} Table */
/** @typedef {import('../ask.js').Value} Value */
/** @typedef {import('../ask.js').Column} Column */

const [WIDTH, HEIGHT] = [96, 20];
/** The first columns. */
const ORDER = ['metric', 'variant', 'shape', 'modes', 'layout_matters'];

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
  const tables = answer.tables.map((table) => {
    const all = withColumn(table, 'shape', 'values');
    // What matters most is seen on narrow pages too.
    const place = (/** @type {number} */ at) => (ORDER.indexOf(all.columns[at].key) + 1 || 9) * 99 + at;
    const order = all.columns.map((_, at) => at).sort((one, other) => place(one) - place(other));
    return { ...all, columns: order.map((at) => all.columns[at]), rows: all.rows.map((row) => order.map((at) => row[at])) };
  });
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
  if (column.key === 'metric') return link(ctx, seriesLine('histogram', get('metric'), get('variant')), get('metric'));
  if (column.key === 'layout_matters') return row[at].value === true ? h('strong', null, 'yes') : null;
  if (column.key !== 'shape') return null;
  const numbers = (/** @type {string} */ key) => (get(key) ?? []).map((/** @type {Value} */ one) => (one.kind === 'none' ? null : numberOf(one)));
  return shape(numbers('bin_counts'), numbers('bin_modes'), `${visible(String(get('metric')))}: ${get('modes') ?? 'unknown'} ${get('modes') === 1 ? 'mode' : 'modes'}`);
}

/** A link to a question. @param {Context} ctx @param {string} line @param {any} words */
function link(ctx, line, words) {
  return h('a', { href: ctx.href({ q: line }), title: visible(line) }, h('bdi', null, visible(String(words).slice(0, 200))));
}

/** A table with a column more, whose cells are drawn. @param {Table} table @param {string} key @param {string} heading @returns {Table} */
function withColumn(table, key, heading) {
  const column = { key, heading, unit: 'text', audience: 'people', is_secondary: false };
  return { ...table, columns: [...table.columns, column], rows: table.rows.map((row) => [...row, { kind: 'text', value: ' ' }]) };
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
        return line === null ? null : link(ctx, line, row[at].value);
      },
    },
  });
}

/** Rows of one window. */
const WINDOW = 200;

/** @param {HTMLElement} root @param {Context} ctx @returns {import('../context.js').View} */
export function mountRuns(root, ctx) {
  const section = new Section(ctx, { name: 'runs', mirror: root });
  fill(root, section.element);
  return {
    update(state) {
      const number = (/** @type {string | undefined} */ text, /** @type {number} */ otherwise) => (/^\d{1,15}$/.test(text ?? '') ? Number(text) : otherwise);
      void section.ask(state.q, { from: number(state.extra.from, 0), n: Math.min(1000, number(state.extra.n, WINDOW)) }, {
        draw: (answer) => runsNode(answer, state.q, ctx),
        why: (answer) => (answer.tables.some((table) => table.rows.length > 0) ? null : visible(answer.notes.join('; ') || 'There is no run.')),
      });
    },
    destroy: () => section.destroy(),
  };
}

/** @param {Answer} answer @param {string} line @param {Context} ctx */
function runsNode(answer, line, ctx) {
  const asked = words(line);
  const isOne = verbOf(line) === 'runs' && /^\d+$/.test(asked[1] ?? '');
  const tables = answer.tables.filter((table) => table.rows.length > 0).map((table) => (isOne ? { ...table, key: table.key === 'rows' ? 'run' : table.key } : withColumn(table, 'replay', 'repeat it')));
  const mode = asked.at(-2) === 'mode' ? Number(asked.at(-1)) : 0;
  const program = String(cellOf(answer.tables[0], answer.tables[0]?.rows[0] ?? [], 'variant')?.value ?? '');
  return h('div', null,
    mode > 0 ? h('p', null, `Runs of mode ${mode}: `, link(ctx, seriesLine('histogram', factOf(answer, 'metric') ?? '', program), 'all values')) : null,
    isOne ? replayNode(asked[1], answer, ctx) : null,
    renderAnswer({ ...answer, tables, notes: answer.notes.filter((note) => !note.startsWith('\x60barrow trial --replay ')) }, ctx, {
      line, onPage: (from, n) => ctx.go({ from: from === 0 ? null : from, n }),
      table: {
        cell: (row, one, at, table) => {
          const run = cellOf(table, row, 'run')?.value;
          if (one.key === 'run' && !isOne) return link(ctx, `runs ${run}`, run);
          if (one.key === 'metric' && isOne) return link(ctx, seriesLine('histogram', String(row[at].value), program), row[at].value);
          if (one.key !== 'replay') return null;
          return isRepeatable(row, table) ? copyButton('copy replay', replayLine(run, ctx.file)) : h('span');
        },
      },
    }));
}

/** The command that repeats the run. @param {string} run @param {Answer} answer @param {Context} ctx */
function replayNode(run, answer, ctx) {
  const table = answer.tables[0];
  if (!table?.rows[0] || !isRepeatable(table.rows[0], table)) return null;
  const line = replayLine(Number(run), ctx.file);
  return h('p', { class: 'replay' }, 'To repeat it under its layout: ', h('code', null, visible(line)), ' ', copyButton('copy', line));
}

/** Warm-ups are not repeated, nor runs without a seed. @param {Value[]} row @param {Table} table */
function isRepeatable(row, table) {
  const seed = cellOf(table, row, 'seed');
  return seed !== null && seed.kind !== 'none' && cellOf(table, row, 'state')?.value !== 'warm-up';
}
