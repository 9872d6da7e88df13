// The view of any question that has no view of its own.

import { fill, h } from '../dom.js';
import { cellOf, renderAnswer, renderTable, snapshotOf } from '../answer.js';
import { forPeople, moreOf, nameNode } from '../cell.js';
import { foldedPaths } from '../flame_cells.js';
import { grouped, visible } from '../value_text.js';
import { lineOfCell } from '../links.js';
import { Section } from '../section.js';
import { verbOf } from '../state.js';

/** @typedef {import('../ask.js').Value} Value */

/** Rows of one window; a table that has more is shown in windows. */
const WINDOW = 1000;
/** Steps of a long path that are shown from each of its ends. */
const ENDS = 40;

/** @param {HTMLElement} root @param {import('../context.js').Context} ctx @returns {import('../context.js').View} */
export function mount(root, ctx) {
  const section = new Section(ctx, { name: 'answer', mirror: root });
  const title = h('h2');
  fill(root, title, section.element);
  return {
    update(state) {
      title.textContent = ctx.verbs.find((verb) => verb.name === verbOf(state.q))?.about ?? '';
      title.hidden = title.textContent === '';
      const [verb, isPaths] = [verbOf(state.q), verbOf(state.q) === 'paths'];
      section.head.hidden = !isPaths;
      fill(section.actions, isPaths ? h('a', { class: 'button', href: ctx.href({ as: 'flame' }) }, 'flame graph') : null);
      askWindow(section, ctx, state.q, number(state.extra.from) ?? 0, number(state.extra.n) ?? WINDOW, undefined, isPaths ? pathsNode : verb === 'path' ? longPathNode : renderAnswer);
    },
    destroy: () => section.destroy(),
  };
}

/** @param {string | undefined} text */
function number(text) {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** Merged paths: what goes down in turn is one row until it is opened. @type {typeof renderAnswer} */
function pathsNode(answer, ctx, options) {
  const place = h('div');
  /** @type {Set<number>} */
  const opened = new Set();
  const draw = () => {
    const folded = new Map(foldedPaths(answer.tables[answer.tables.length - 1], opened).map((one) => [one.row, one]));
    /** @type {import('../answer.js').TableOptions['cell']} */
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
function longPathNode(answer, ctx, options = {}) {
  const table = answer.tables[answer.tables.length - 1];
  const { rows } = table;
  const hidden = (answer.rows_total ?? 0) - rows.length;
  if (answer.from || rows.length <= 2 * ENDS + 1 || cellOf(table, rows[rows.length - 1], 'path')?.value !== 1) return renderAnswer(answer, ctx, options);
  const shows = (/** @type {import('../ask.js').Column} */ column) => forPeople(column) && rows.some((row) => row[table.columns.indexOf(column)].kind !== 'none');
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

/** Why there is nothing to see: tables without rows, or no answer at all. @param {import('../ask.js').Answer} answer */
function why(answer) {
  const tables = answer.tables.filter(forPeople);
  const isBare = tables.length === 0 && answer.facts.length === 0 && answer.notes.length === 0;
  if (!isBare && (tables.length === 0 || tables.some((table) => table.rows.length > 0))) return null;
  return visible(answer.notes.filter(Boolean).join('; ')) || 'Nothing was found.';
}

/**
 * Asks a line and draws its answer, with buttons for further windows.
 * @param {Section} section @param {import('../context.js').Context} ctx @param {string} line @param {number} from @param {number} n
 * @param {import('../answer.js').TableOptions} [table] @param {typeof renderAnswer} [draw]
 */
export function askWindow(section, ctx, line, from, n, table, draw = renderAnswer) {
  void section.ask(line, { from, n: Math.min(n, WINDOW) }, {
    draw: (answer) => draw(answer, ctx, { line, table, onPage: (to, count) => ctx.go({ from: to === 0 ? null : to, n: count }) }),
    why,
  });
}
