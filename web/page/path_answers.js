// Answers that are paths: merged ones, of which what goes down in turn is one row, and long ones, of which both ends are shown.

import { WINDOW, cellOf, renderAnswer, renderTable, snapshotOf } from './answer.js';
import { forPeople, moreOf, nameNode } from './cell.js';
import { fill, h } from './dom.js';
import { chainsOf } from './flame_cells.js';
import { isNamed, lineOfCell } from './links.js';
import { grouped, visible } from './value_text.js';

/** @typedef {import('./ask.js').Table} Table */
/** @typedef {import('./ask.js').Value} Value */

/** Steps of a long path that are shown from each of its ends. */
const ENDS = 40;
/** A row of merged paths that stands for several: its steps of a round with their names, and the rounds. @typedef {{row: Value[], at: number, depth: number, round: {row: Value[], name: string}[], rounds: number}} PathRow */

/**
 * The rows of merged paths: those that go down in turn are one, and what hangs off them is merged below it.
 * @param {Table} table @param {Set<number>} opened the first rows of chains that are shown whole @returns {PathRow[]}
 */
function foldedPaths(table, opened) {
  const place = (/** @type {string} */ key) => table.columns.findIndex((column) => column.key === key);
  const [through, depth, title, type, kind] = ['through', 'depth', 'title', 'type', 'kind'].map(place);
  // Objects have names where they are alone; classes always have them.
  const names = table.rows.map((row) => row[isNamed(row[title].value, row[type].value, row[kind].value) ? title : type].value);
  const { below, chains } = chainsOf(table.rows.map((row, at) => ({ title: names[at], size: row[through].value, depth: row[depth].value })));
  /** @type {PathRow[]} */
  const all = [];
  const put = (/** @type {number[]} */ same, /** @type {number} */ level) => {
    const [at] = same;
    const turn = same.length > 1 || opened.has(at) ? undefined : chains.get(at);
    const steps = turn?.steps ?? same;
    const row = table.columns.map(({ key }, cell) => {
      const summed = key === 'objects' || key === 'members' ? steps : key === 'through' ? same : [at];
      return summed.length > 1 ? { kind: 'number', value: summed.reduce((sum, one) => sum + table.rows[one][cell].value, 0) } : table.rows[at][cell];
    });
    all.push({ row, at, depth: level, round: steps.slice(0, turn?.period ?? 1).map((one) => ({ row: table.rows[one], name: steps.length > 1 ? names[one] : row[title].value })), rounds: turn?.rounds ?? 1 });
    const inside = new Set(steps);
    const children = steps.flatMap((step) => below[step].filter((child) => !inside.has(child)));
    /** @type {Map<string, number[]>} */
    const merged = new Map();
    for (const child of children) {
      const key = steps.length > 1 ? names[child] : String(child);
      merged.set(key, [...(merged.get(key) ?? []), child]);
    }
    const sum = (/** @type {number[]} */ some) => some.reduce((sum, one) => sum + table.rows[one][through].value, 0);
    for (const some of [...merged.values()].sort((one, other) => sum(other) - sum(one))) put(some, level + 1);
  };
  // A window of rows may begin below what it does not have.
  const isBelow = new Set(below.flat());
  table.rows.forEach((row, at) => { if (!isBelow.has(at)) put([at], row[depth].value); });
  return all;
}

/** Merged paths: what goes down in turn is one row until it is opened. @type {typeof renderAnswer} */
export function pathsNode(answer, ctx, options) {
  const place = h('div');
  /** @type {Set<number>} */
  const opened = new Set();
  const draw = () => {
    const folded = new Map(foldedPaths(answer.tables[answer.tables.length - 1], opened).map((one) => [one.row, one]));
    /** @type {import('./answer.js').TableOptions['cell']} */
    const cell = (row, column, index, table) => {
      const one = folded.get(row);
      if (column.key !== '' || !one) return null;
      const types = one.round.map((step, at) => {
        const q = lineOfCell(table, step.row, column, ctx.file);
        return [at > 0 ? ' › ' : null, q ? h('a', { href: ctx.href({ q }), title: visible(q) }, nameNode(step.name.slice(0, 200))) : nameNode(step.name)];
      });
      const open = () => {
        const at = [...folded.keys()].indexOf(row);
        opened.add(one.at);
        draw();
        place.querySelectorAll('tbody tr')[at]?.querySelector('a')?.focus();
      };
      return h('span', null, '\u00a0\u00a0'.repeat(Math.min(one.depth, 60)), one.round.length > 1 ? '(' : null, types, one.round.length > 1 ? ')' : null,
        one.rounds > 1 ? [` × ${grouped(one.rounds)} `, h('button', { type: 'button', class: 'more', onclick: open }, 'show each')] : null);
    };
    fill(place, renderAnswer(answer, ctx, { ...options, table: { rows: [...folded.keys()], cell } }));
  };
  draw();
  return place;
}

/** A long path keeps both ends, and its middle is on demand. @type {typeof renderAnswer} */
export function longPathNode(answer, ctx, options = {}) {
  const table = answer.tables[answer.tables.length - 1];
  const { rows } = table;
  const hidden = (answer.rows_total ?? 0) - rows.length;
  if (answer.from || rows.length <= 2 * ENDS + 1 || cellOf(table, rows[rows.length - 1], 'path')?.value !== 1) return renderAnswer(answer, ctx, options);
  const shows = (/** @type {import('./ask.js').Column} */ column) => forPeople(column) && rows.some((row) => row[table.columns.indexOf(column)].kind !== 'none');
  const draw = (/** @type {Value[][]} */ some) => /** @type {HTMLElement[]} */ ([...renderTable(table, ctx, { rows: some, shows, snapshot: snapshotOf(answer, ctx) }).querySelectorAll('tbody > tr')]);
  const middle = rows.slice(ENDS, hidden > 0 ? undefined : -ENDS);
  const node = renderAnswer(answer, ctx, { ...options, table: { rows: rows.slice(0, ENDS), shows } });
  const place = () => h('tr', { class: 'hidden-hops' }, h('td', { colspan: table.columns.filter(shows).length }));
  const body = /** @type {HTMLElement} */ ([...node.querySelectorAll('.table-block tbody')].at(-1));
  body.append(moreOf(place(), middle, (row) => draw([row]), () => `show ${grouped(middle.length)} more steps`));
  if (hidden <= 0) {
    body.append(...draw(rows.slice(-ENDS)));
    return node;
  }
  const rest = place();
  rest.firstElementChild?.append(h('a', { href: ctx.href({ from: rows.length, n: WINDOW }) }, `${grouped(Math.max(0, hidden - ENDS))} more steps`));
  body.append(rest);
  const from = Math.max(rows.length, rows.length + hidden - ENDS);
  const numbered = (/** @type {Value[]} */ row, /** @type {number} */ at) => row.map((value, cell) => (table.columns[cell].role === 'place' ? { kind: 'number', value: from + at + 1 } : value));
  ctx.ask(options.line ?? '', { from, n: ENDS }).then((end) => body.append(...draw(end.tables[end.tables.length - 1].rows.map(numbered))), () => {});
  return node;
}
