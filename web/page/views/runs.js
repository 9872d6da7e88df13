// Runs of trials and the values of a mode: each leads to its run, and has the command that repeats it under its layout.

import { fill, h } from '../dom.js';
import { visible } from '../cell.js';
import { cellOf, factOf, renderAnswer } from '../answer.js';
import { copyButton } from '../frame.js';
import { Section } from '../section.js';
import { verbOf, words } from '../state.js';
import { replayLine, seriesLine } from '../trial_values.js';

/** @typedef {import('../context.js').Context} Context */
/** @typedef {import('../ask.js').Answer} Answer */
/** @typedef {import('../ask.js').Table} Table */
/** @typedef {import('../ask.js').Value} Value */

/** Rows of one window. */
const WINDOW = 200;

/** @param {HTMLElement} root @param {Context} ctx @returns {import('../context.js').View} */
export function mount(root, ctx) {
  const section = new Section(ctx, { name: 'runs', mirror: root });
  fill(root, section.element);
  return {
    update(state) {
      const number = (/** @type {string | undefined} */ text, /** @type {number} */ otherwise) => (/^\d{1,15}$/.test(text ?? '') ? Number(text) : otherwise);
      void section.ask(state.q, { from: number(state.extra.from, 0), n: Math.min(1000, number(state.extra.n, WINDOW)) }, {
        draw: (answer) => draw(answer, state.q, ctx),
        why: (answer) => (answer.tables.some((table) => table.rows.length > 0) ? null : visible(answer.notes.join('; ') || 'There is no run.')),
      });
    },
    destroy: () => section.destroy(),
  };
}

/** @param {Answer} answer @param {string} line @param {Context} ctx */
function draw(answer, line, ctx) {
  const asked = words(line);
  const isOne = verbOf(line) === 'runs' && /^\d+$/.test(asked[1] ?? '');
  const column = { key: 'replay', heading: 'repeat it', unit: 'text', audience: 'people', is_secondary: false };
  const hasRun = (/** @type {Table} */ table) => table.columns.some(({ key }) => key === 'run');
  const tables = answer.tables.filter((table) => !isOne || table.rows.length > 0).map((table) => (isOne || !hasRun(table) ? { ...table, key: table.key === 'rows' ? 'run' : table.key } : {
    ...table, columns: [...table.columns, column], rows: table.rows.map((row) => [...row, /** @type {Value} */ ({ kind: 'text', value: ' ' })]),
  }));
  const mode = asked.at(-2) === 'mode' ? Number(asked.at(-1)) : 0;
  const program = String(cellOf(answer.tables[0], answer.tables[0]?.rows[0] ?? [], 'variant')?.value ?? '');
  return h('div', null,
    mode > 0 ? h('p', null, `Runs of mode ${mode}: `, h('a', { href: ctx.href({ q: seriesLine('histogram', factOf(answer, 'metric') ?? '', program) }) }, 'all values')) : null,
    isOne ? replayNode(asked[1], answer, ctx) : null,
    renderAnswer({ ...answer, tables, notes: answer.notes.filter((note) => !note.startsWith('\x60barrow trial --replay ')) }, ctx, {
      line, onPage: (from, n) => ctx.go({ from: from === 0 ? null : from, n }),
      table: {
        cell: (row, one, at, table) => {
          const run = cellOf(table, row, 'run')?.value;
          if (one.key === 'run' && !isOne) return h('a', { href: ctx.href({ q: `runs ${run}` }), title: `runs ${run}` }, String(run));
          if (one.key === 'metric' && isOne) return h('a', { href: ctx.href({ q: seriesLine('histogram', String(row[at].value), program) }) }, h('bdi', null, visible(String(row[at].value).slice(0, 200))));
          if (one.key !== 'replay') return null;
          return isRepeatable(row, table) ? copyButton('copy replay', replayLine(run, ctx.file.name)) : h('span');
        },
      },
    }));
}

/** The command that repeats the run. @param {string} run @param {Answer} answer @param {Context} ctx */
function replayNode(run, answer, ctx) {
  const table = answer.tables[0];
  if (!table?.rows[0] || !isRepeatable(table.rows[0], table)) return null;
  const line = replayLine(Number(run), ctx.file.name);
  return h('p', { class: 'replay' }, 'To repeat it under its layout: ', h('code', null, visible(line)), ' ', copyButton('copy', line));
}

/** Warm-ups are not repeated, nor runs without a seed. @param {Value[]} row @param {Table} table */
function isRepeatable(row, table) {
  const seed = cellOf(table, row, 'seed');
  return seed !== null && seed.kind !== 'none' && cellOf(table, row, 'state')?.value !== 'warm-up';
}
