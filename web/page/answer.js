// Any answer: facts as a list, tables with units, notes. One renderer for every verb.

import { download } from './ask.js';
import { fill, h } from './dom.js';
import { breakable, cellNode, forPeople, isNothing, isNumeric, nameNode, numberOf, pathNode } from './cell.js';
import { grouped, text, visible } from './value_text.js';
import { lineOfCell, lineOfStep, stepsOf } from './links.js';
import { verbOf } from './state.js';
import { curveNode } from './picture.js';

/** @typedef {import('./ask.js').Answer} Answer */
/** @typedef {import('./ask.js').Table} Table */
/** @typedef {import('./ask.js').Column} Column */
/** @typedef {import('./ask.js').Value} Value */
/** @typedef {import('./context.js').Context} Context */
/**
 * @typedef {object} TableOptions
 * @property {number} [from] the place of the first row in the whole table
 * @property {number | null} [total] rows of the whole table, if they are more than these
 * @property {boolean} [sorts] whether headings sort; only where all rows are there. Default: they are all there
 * @property {string} [caption] what the table is, for screen readers
 * @property {number | null} [snapshot] the snapshot that the objects are in
 * @property {(column: Column) => boolean} [shows] which columns are shown; those for people unless told
 * @property {Value[][]} [rows] what is shown instead of the rows of the table
 * @property {(row: Value[], column: Column, at: number, table: Table) => Node | null} [cell] draws some cells itself; null leaves it
 * @property {(row: Value[], table: Table) => Record<string, any>} [row] attributes of a row
 * @property {(column: Column, at: number) => Order | null} [order] how a heading orders the rows, if the page does not
 */

/**
 * An order that a question asks for.
 * @typedef {{now: 'ascending' | 'descending' | null, go: () => void}} Order
 */

/** The snapshot in which a path is looked at, if it is not the selected one. @typedef {{s?: number}} Where */

/** Rows of one window; a table that has more is shown in windows. */
export const WINDOW = 1000;
/** Rows that are drawn at once; further ones on demand. */
const PAGE = 200;

/** The cell of this key in a row. @param {Table} table @param {Value[]} row @param {string} key @returns {Value | null} */
export function cellOf(table, row, key) {
  const at = table.columns.findIndex((column) => column.key === key);
  return at < 0 ? null : row[at];
}

/** The value of the fact of this key. @param {Answer} answer @param {string} key @returns {any} undefined if there is none */
export function factOf(answer, key) {
  return answer.facts.find((fact) => fact.column.key === key)?.value.value;
}

/** Numbers of a series or a list; null where there is none. @param {Value | null} value @returns {(number | null)[] | null} */
export function numbersOf(value) {
  if (value?.kind === 'series') return value.value.numbers;
  if (value?.kind !== 'list') return null;
  return value.value.map((/** @type {Value} */ one) => (Number.isNaN(numberOf(one)) ? null : numberOf(one)));
}

/**
 * A whole answer.
 * @param {Answer} answer @param {Context} ctx
 * @param {{line?: string, hasCsv?: boolean, hasTitles?: boolean, onPage?: (from: number, n: number) => void, table?: TableOptions}} [options]
 */
export function renderAnswer(answer, ctx, options = {}) {
  const snapshot = snapshotOf(answer, ctx);
  const own = { href: ctx.href, snapshot };
  /** @type {any[]} */
  const nodes = [outcomeNode(answer, ctx), factList(answer, own, ctx)];
  const all = answer.tables.filter((table) => table.columns.length > 0 && (forPeople(table) || table.rows.length > 0));
  // Beside tables with rows, those without any say nothing.
  const hasRows = all.some((table) => forPeople(table) && table.rows.length > 0);
  const tables = all.filter((table) => table.rows.length > 0 || !hasRows);
  const shown = tables.filter(forPeople);
  tables.forEach((table) => {
    const isLast = table === answer.tables[answer.tables.length - 1];
    const more = isLast ? windowOptions(answer, table) : {};
    const node = h('div', { class: 'table-block' },
      tables.length > 1 || options.hasTitles ? h('h3', null, table.key.replaceAll('_', ' ')) : null,
      renderTable(table, ctx, { snapshot, ...more, ...options.table }),
      isLast ? pager(answer, table, options.onPage) : null);
    nodes.push(forPeople(table) || shown.length === 0 && answer.notes.length === 0
      ? node
      : h('details', { class: 'data', open: shown.length === 0 ? true : null }, h('summary', null, `${table.key.replaceAll('_', ' ')} as a table`), node));
  });
  nodes.push(answer.curves.map(curveNode), notesNode(answer, ctx, options.line), footNode(answer, ctx, options));
  return h('div', { class: 'answer' }, nodes);
}

/** The snapshot of the objects of an answer. @param {Answer} answer @param {Context} ctx @returns {number | null} */
export function snapshotOf(answer, ctx) {
  const told = factOf(answer, 'snapshot');
  return typeof told === 'number' ? told : ctx.snapshot;
}

/** @param {Answer} answer @param {Table} table @returns {TableOptions} */
function windowOptions(answer, table) {
  const from = answer.from ?? 0;
  const total = answer.rows_total ?? null;
  const isWhole = from === 0 && !answer.goes_on && (total === null || total <= table.rows.length);
  return { from, total, sorts: isWhole };
}

/** @param {Answer} answer @param {Context} ctx */
function outcomeNode(answer, ctx) {
  /** @type {Record<string, string>} */
  const words = {
    damage_found: 'Damage was found.', false: 'False.', undecided: 'Undecided.', saved: 'Saved.', lost: 'A part was saved.',
    nothing_kept: 'Nothing could be saved.',
  };
  // The banner over every view says what the file has lost.
  const lost = answer.lost && answer.lost !== ctx.file?.lost ? h('p', { class: 'banner lost', role: 'note' }, visible(answer.lost)) : null;
  const told = words[answer.outcome];
  return [told ? h('p', { class: `outcome ${answer.outcome}` }, told) : null, lost];
}

/** @param {Answer} answer @param {import('./cell.js').CellContext} own @param {Context} ctx */
function factList(answer, own, ctx) {
  const facts = answer.facts.filter((fact) => forPeople(fact.column) && fact.column.heading && fact.value.kind !== 'none');
  if (facts.length === 0) return null;
  return h('dl', { class: 'facts' }, facts.map(({ column, value }) => h('div', null,
    h('dt', null, column.heading), h('dd', null, column.key === 'heap' ? heapNode(value, ctx) : factNode(answer, column, ctx, own)))));
}

/** @param {Answer} answer @param {Column} column @param {Context} ctx @param {import('./cell.js').CellContext} own */
function factNode(answer, column, ctx, own) {
  const columns = answer.facts.map((fact) => fact.column);
  const row = answer.facts.map((fact) => fact.value);
  return linkedNode(row, column, columns.indexOf(column), { key: 'facts', audience: 'everyone', columns, rows: [row] }, ctx, own);
}

/** The heap that a process recorded: the file, if that is served too. @param {Value} value @param {Context} ctx */
function heapNode(value, ctx) {
  const file = ctx.files.find((one) => one.uuid === value.value && one !== ctx.file);
  return file ? h('a', { href: ctx.href({ f: file.name, q: '' }) }, h('bdi', null, visible(file.name))) : cellNode(value, { unit: 'text' }, ctx);
}

/** @param {Answer} answer @param {Context} ctx @param {string} [line] */
function notesNode(answer, ctx, line) {
  const notes = answer.notes.slice();
  while (notes[0] === '') notes.shift();
  if (notes.length === 0) return null;
  const isText = notes.length > 8 || notes.some((note) => note.startsWith(' '));
  const nodes = notes.map((note) => noteNode(note, answer, ctx, line));
  if (isText) return h('pre', { class: 'notes' }, nodes.flatMap((node, at) => [at > 0 ? '\n' : '', ...node]));
  return h('ul', { class: 'notes' }, nodes.map((node) => h('li', null, node)));
}

/**
 * A note: the questions that it names are links, and so is what it says of rows that are left out.
 * @param {string} note @param {Answer} answer @param {Context} ctx @param {string} [line] the question that has the note
 * @returns {(Node | string)[]}
 */
export function noteNode(note, answer, ctx, line = '') {
  const link = (/** @type {string} */ q, /** @type {string} */ label) => h('a', { href: ctx.href({ q }), title: visible(q) }, visible(label));
  const rest = lineOfRest(note, answer, ctx, line);
  if (rest !== null) return [link(rest, note)];
  const snapshot = snapshotOf(answer, ctx);
  return note.split(/\x60([^\x60]+)\x60/).map((part, at) => {
    if (at % 2 === 0) return visible(part);
    const isAsked = ctx.verbs.some(({ name, page }) => page && name === verbOf(part)) && !/…|(^|\s)[A-Z]+(\s|$)/.test(part);
    return isAsked ? link(snapshot === null ? part : part.replace(/(?<=\s)@(?=\d)/g, `${snapshot}:@`), part) : visible(`\`${part}\``);
  });
}

/**
 * The question that has the rows that a note says are left out; null if it says nothing like it.
 * @param {string} note @param {Answer} answer @param {Context} ctx @param {string} line
 */
function lineOfRest(note, answer, ctx, line) {
  const counted = /^(\s*\S+(?:\s+\d+\.\.\S*)?)\s+(\d+)(?=\s|$)/;
  if (/^… .*\bmatch\b/.test(note)) return counted.test(line) ? line.replace(counted, '$1') : null;
  const more = note.match(/^… ([\d,]+) more (row|group)s?$/)?.[1];
  const usage = ctx.verbs.find(({ name }) => name === verbOf(line))?.usage ?? '';
  if (more === undefined || !usage.includes('[N]') || usage.includes('ID')) return null;
  const all = Number(line.match(counted)?.[2] ?? answer.tables.at(-1)?.rows.length ?? 0) + Number(more.replaceAll(',', ''));
  return line.replace(counted.test(line) ? counted : /^(\s*\S+)/, `$1 ${all}`);
}

/** @param {Answer} answer @param {Context} ctx @param {{line?: string, hasCsv?: boolean}} options */
function footNode(answer, ctx, { line, hasCsv = false }) {
  const cut = answer.cut && !answer.notes.includes(answer.cut) ? h('p', { class: 'cut' }, noteNode(answer.cut, answer, ctx, line)) : null;
  const exact = answer.exactness ? h('span', { class: 'exactness' }, visible(answer.exactness)) : null;
  const hasRows = answer.tables.some((table) => table.audience !== 'people' && table.rows.length > 0);
  const csv = line && (hasRows || hasCsv) ? csvLink(ctx.csv(line)) : null;
  const time = answer.elapsed_ms === undefined ? null : h('span', { class: 'elapsed' }, `${grouped(Math.round(answer.elapsed_ms))} ms`);
  return h('div', { class: 'answer-foot' }, cut, exact, csv, time);
}

/** A link that saves all rows: the browser alone would ask without the token. @param {string} url */
export function csvLink(url) {
  const link = h('a', { class: 'csv', href: url }, 'CSV');
  link.addEventListener('click', async (event) => {
    event.preventDefault();
    const refusal = await download(url, 'answer.csv').catch(String);
    if (refusal) link.after(' ', h('span', { class: 'cut' }, visible(refusal.slice(0, 2000))));
  });
  return link;
}

/** The buttons of windows. @param {Answer} answer @param {Table} table @param {((from: number, n: number) => void)} [onPage] */
function pager(answer, table, onPage) {
  const { from = 0, total = null, sorts } = windowOptions(answer, table);
  if (sorts || !onPage || table.rows.length === 0) return null;
  const n = Math.max(table.rows.length, PAGE);
  const to = from + table.rows.length;
  const last = total === null ? null : Math.max(0, Math.floor((total - 1) / n) * n);
  const button = (/** @type {string} */ label, /** @type {string} */ name, /** @type {number | null | undefined} */ target) =>
    h('button', { type: 'button', 'aria-label': name, disabled: target == null, onclick: () => onPage(/** @type {number} */ (target), n) }, label);
  const jump = h('input', { type: 'number', min: 1, max: total, value: from + 1, 'aria-label': 'first row', inputmode: 'numeric' });
  const go = (/** @type {Event} */ event) => {
    event.preventDefault();
    onPage(Math.max(0, Math.min(Number(jump.value) - 1 || 0, (total ?? Infinity) - 1)), n);
  };
  const isEnd = total !== null && to >= total;
  return h('form', { class: 'pager', onsubmit: go },
    button('⏮', 'first rows', from > 0 ? 0 : null), button('◂', 'rows before', from > 0 ? Math.max(0, from - n) : null),
    h('span', null, 'rows ', jump, ` – ${grouped(to)}${total === null ? '' : ` of ${grouped(total)}`}`),
    button('▸', 'further rows', isEnd ? null : to), button('⏭', 'last rows', isEnd ? null : last));
}

/**
 * A table: units, right alignment, sorting where all rows are there. Arrow keys move between its links.
 * @param {Table} table @param {Context} ctx @param {TableOptions} [options]
 */
export function renderTable(table, ctx, options = {}) {
  const { from = 0, total = null } = options;
  // The order of a tree is its meaning.
  const sorts = (options.sorts ?? true) && !table.columns.some((column) => column.role === 'depth');
  const own = { href: ctx.href, snapshot: options.snapshot === undefined ? ctx.snapshot : options.snapshot };
  const columns = shownColumns(table, options.shows);
  const body = h('tbody');
  const element = h('table', { class: 'rows', 'aria-rowcount': total !== null && total > table.rows.length ? total + 1 : null },
    options.caption ? h('caption', { class: 'sr-only' }, options.caption) : null);
  let rows = options.rows ?? table.rows;
  const more = h('button', { type: 'button', class: 'more-rows' });
  const settle = rove(body);
  const draw = (/** @type {number} */ to) => {
    const begin = body.childElementCount;
    rows.slice(begin, to).forEach((row, at) => body.append(rowNode(row, begin + at)));
    settle();
    more.hidden = to >= rows.length;
    more.textContent = more.hidden ? '' : `show ${grouped(Math.min(rows.length - to, 1000))} more of ${grouped(rows.length)} rows`;
  };
  more.addEventListener('click', () => {
    const begin = body.childElementCount;
    draw(begin + 1000);
    // The button is gone after the last row.
    if (more.hidden) (/** @type {HTMLElement} */ (body.children[begin]?.querySelector('a, button') ?? element.parentElement)).focus();
  });
  const rowNode = (/** @type {Value[]} */ row, /** @type {number} */ at) => h('tr', {
    'aria-rowindex': total !== null && total > table.rows.length ? from + at + 2 : null, ...options.row?.(row, table),
  }, columns.map(([column, index]) => h('td', { class: isNumeric(column) ? 'number' : column.unit, 'data-column': column.key },
    options.cell?.(row, column, index, table) ?? linkedNode(row, column, index, table, ctx, own))));
  const heads = columns.map(([column, index]) => heading(column, options.order?.(column, index) ?? null, sorts && table.rows.length > 1 ? (way) => {
    rows = way === 0 ? table.rows : sorted(table.rows, index, way);
    fill(body);
    draw(PAGE);
  } : null));
  element.append(h('thead', null, h('tr', null, heads)), body);
  draw(PAGE);
  return h('div', { class: 'table-scroll', tabindex: 0, role: 'group', 'aria-label': options.caption ?? table.key.replaceAll('_', ' ') }, element, more);
}

/** The path of types in a row, each step with the link of its objects. @param {Table} table @param {Value[]} row @param {Context} ctx @param {Where} [where] @param {boolean} [isLine] as for `pathNode` */
export function typePathNode(table, row, ctx, where = {}, isLine = false) {
  const steps = stepsOf(table, row);
  const shown = cellOf(table, row, 'shown_path');
  /** @type {string[]} With the rounds of a cycle, of which only the first step has a line. */
  const texts = shown?.kind === 'path' ? shown.value : [];
  return pathNode(texts, (at) => {
    const line = at < steps.length ? lineOfStep(steps[at]) : null;
    if (line === null) return nameNode(texts[at]);
    const text = texts[at].length > 200 ? `${texts[at].slice(0, 200)}…` : texts[at];
    return h('a', { href: ctx.href({ q: line, ...where }), title: visible(line) }, h('bdi', null, breakable(visible(text))));
  }, isLine);
}

/** A cell as a link to what else has its value. @param {Value[]} row @param {Column} column @param {number} index @param {Table} table @param {Context} ctx @param {import('./cell.js').CellContext} own */
function linkedNode(row, column, index, table, ctx, own) {
  if (column.key === 'shown_path') return typePathNode(table, row, ctx);
  const node = cellNode(row[index], column, own);
  const q = ctx.file && lineOfCell(table, row, column, ctx.file);
  if (!q) return node;
  const isOther = typeof own.snapshot === 'number' && own.snapshot !== ctx.snapshot;
  const link = h('a', { href: ctx.href({ q, beside: null, ...(isOther ? { s: own.snapshot } : {}) }), title: visible(q) });
  // A cut text has a button of its own.
  const isCut = node instanceof HTMLElement && node.querySelector('button') !== null;
  link.append(isCut ? 'objects' : node);
  return isCut ? h('span', null, node, ' ', link) : link;
}

/** The columns that people see and that have something. @param {Table} table @param {(column: Column) => boolean} [shows] @returns {[Column, number][]} */
function shownColumns(table, shows) {
  const all = /** @type {[Column, number][]} */ (table.columns.map((column, index) => [column, index]));
  const isShown = shows ?? forPeople;
  return all.filter(([column, index]) => isShown(column) && (shows || table.rows.length === 0 || table.rows.some((row) => row[index].kind !== 'none')));
}

/** @param {Column} column @param {Order | null} order @param {((way: -1 | 0 | 1) => void) | null} sort */
function heading(column, order, sort) {
  const name = column.heading || column.key.replaceAll('_', ' ');
  const side = isNumeric(column) ? 'number' : column.unit;
  if (order) {
    return h('th', { scope: 'col', class: side, 'aria-sort': order.now }, h('button', { type: 'button', title: `order by ${name}`, onclick: order.go }, visible(column.heading)));
  }
  if (!sort) return h('th', { scope: 'col', class: side }, column.heading || h('span', { class: 'sr-only' }, name));
  const head = h('th', { scope: 'col', class: side });
  head.append(h('button', {
    type: 'button', title: `sort by ${name}`,
    onclick: () => {
      const order = side === 'number' ? ['descending', 'ascending', null] : ['ascending', 'descending', null];
      const next = order[(order.indexOf(head.getAttribute('aria-sort')) + 1) % 3];
      for (const other of head.parentElement?.children ?? []) other.removeAttribute('aria-sort');
      if (next) head.setAttribute('aria-sort', next);
      sort(next === 'ascending' ? 1 : next === 'descending' ? -1 : 0);
    },
  }, column.heading || h('span', { class: 'sr-only' }, name)));
  return head;
}

/** Rows by a column; what has no value is last. @param {Value[][]} rows @param {number} index @param {-1 | 1} way */
function sorted(rows, index, way) {
  const keys = rows.map((row) => row[index]).map((value) => {
    const number = numberOf(value);
    return isNothing(value) ? null : Number.isNaN(number) ? text(value, { unit: 'text' }) : number;
  });
  const compare = (/** @type {any} */ one, /** @type {any} */ other) =>
    typeof one === 'number' && typeof other === 'number' ? one - other
      // Numbers come before texts, in either order.
      : typeof one !== typeof other ? way * (typeof one === 'number' ? -1 : 1)
      : String(one).localeCompare(String(other), 'en', { numeric: true });
  const order = rows.map((_, at) => at).sort((one, other) => {
    const [a, b] = [keys[one], keys[other]];
    if (a === null || b === null) return Number(a === null) - Number(b === null) || one - other;
    return way * compare(a, b) || one - other;
  });
  return order.map((at) => rows[at]);
}

/**
 * One stop of the tabulator for all links of a body; arrows, Home and End move between them.
 * @param {HTMLElement} body @returns {() => void} what to call when rows were added
 */
function rove(body) {
  const stops = (/** @type {ParentNode} */ place) => /** @type {HTMLElement[]} */ ([...place.querySelectorAll('a, button, summary')]);
  const settle = (/** @type {HTMLElement | undefined} */ chosen) => {
    for (const stop of stops(body)) stop.tabIndex = stop === chosen ? 0 : -1;
  };
  body.addEventListener('focusin', (event) => {
    const stop = /** @type {HTMLElement} */ (event.target).closest('a, button, summary');
    if (stop) settle(/** @type {HTMLElement} */ (stop));
  });
  body.addEventListener('keydown', (event) => {
    const stop = /** @type {HTMLElement} */ (event.target).closest('a, button, summary');
    const row = stop?.closest('tr');
    if (!stop || !row || event.ctrlKey || event.altKey || event.metaKey) return;
    const inRow = stops(row);
    const at = inRow.indexOf(/** @type {HTMLElement} */ (stop));
    const next = { ArrowRight: inRow[at + 1], ArrowLeft: inRow[at - 1], ArrowDown: beyond(row, 1, at), ArrowUp: beyond(row, -1, at), Home: beyond(body, 0, at), End: beyond(body, -2, at) }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    next?.focus();
  });
  /** @param {Element} place @param {number} way @param {number} at @returns {HTMLElement | undefined} */
  const beyond = (place, way, at) => {
    const step = (/** @type {Element} */ row) => way > 0 || way === 0 ? row.nextElementSibling : row.previousElementSibling;
    let row = way === 0 ? place.firstElementChild : way === -2 ? place.lastElementChild : step(place);
    while (row && stops(row).length === 0) row = step(row);
    const found = row ? stops(row) : [];
    return found[Math.min(at, found.length - 1)];
  };
  return () => settle(stops(body).find((stop) => stop === document.activeElement) ?? stops(body)[0]);
}
