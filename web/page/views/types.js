// Types: how many objects, their sizes, what changed, and their series. Also sites, ages, and what was born or died.

import { fill, h } from '../dom.js';
import { cellNode, forPeople, isNumeric, nameNode, numberOf } from '../cell.js';
import { grouped, text, visible } from '../value_text.js';
import { cellOf, csvLink, factOf, noteNode, numbersOf, renderTable, snapshotOf, typePathNode } from '../answer.js';
import { attributesOf, totalNamed } from '../asked_rows.js';
import { Section } from '../section.js';
import { sparkline } from '../picture.js';
import { literal, nameIs, verbOf, words } from '../state.js';
import { RowsTable } from '../rows_table.js';

/** @typedef {import('../context.js').Context} Context */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../ask.js').Answer} Answer */
/** @typedef {import('../ask.js').Table} Table */
/** @typedef {import('../ask.js').Column} Column */
/** @typedef {import('../ask.js').Value} Value */
/** @typedef {Value[]} Row */

/** Columns of a comparison; their amounts are for machines elsewhere. @type {Record<string, string>} */
const COMPARED = {
  type: 'type', kind: 'kind', objects_after: 'objects', objects_change: 'Δ objects', shallow_bytes_after: 'shallow', shallow_bytes_change: 'Δ shallow',
  unmanaged_bytes_after: 'unmanaged', unmanaged_bytes_change: 'Δ unmanaged', retained_bytes_after: '≥ retained', retained_bytes_change: 'Δ retained', relative: 'relative',
};
/** What is left out first where it is narrow. */
const DISPENSABLE = ['layout', 'kind', 'file', 'column', 'line', 'relative', 'unmanaged_bytes', 'unmanaged_bytes_after', 'unmanaged_bytes_change', 'share'];

/** @param {HTMLElement} root @param {Context} ctx */
export function mount(root, ctx) {
  return new TypesView(root, ctx);
}

/**
 * What a line of types asks.
 * @param {string} line
 * @returns {{verb: string, order: string, before: string | null, after: string | null, rest: string}} `rest`: what else it says
 */
export function askedTypes(line) {
  const verb = verbOf(line);
  const last = line.match(/\bby\s+(\w+)\s*$/);
  const order = totalNamed(last?.[1] ?? '');
  let rest = words(order ? line.slice(0, last?.index) : line).slice(1).join(' ').replace(/\bby\s+type\b/, '').trim();
  let [before, after] = [/** @type {string | null} */ (null), /** @type {string | null} */ (null)];
  if (verb === 'diff') {
    const sides = rest.match(/^(\d+|last)\b\s*(\d+|last)?\s*/);
    [before, after] = [sides?.[1] ?? null, sides?.[2] ?? null];
    rest = rest.slice(sides?.[0].length ?? 0);
  }
  return { verb, order: order ?? 'size', before, after, rest };
}

class TypesView {
  /** @param {HTMLElement} root @param {Context} ctx */
  constructor(root, ctx) {
    this.ctx = ctx;
    this.shown = '';
    /** @type {Answer | null} */
    this.answer = null;
    /** Series by kind, type and layout. @type {Map<string, (number | null)[]>} */
    this.series = new Map();
    this.tools = h('div', { class: 'types-tools' });
    this.filter = h('input', { type: 'search', placeholder: 'filter', 'aria-label': 'filter by name', oninput: () => this.#filtered() });
    this.kinds = h('select', { 'aria-label': 'kind', onchange: () => this.#filtered() });
    this.count = h('span', { class: 'muted', role: 'status' });
    this.chosen = h('p', { class: 'chosen-place' });
    this.totals = h('div');
    this.notes = h('ul', { class: 'notes' });
    this.foot = h('p', { class: 'answer-foot' });
    this.table = new RowsTable({ label: 'types', onSelect: (row) => this.#showChosen(row), onOpen: (row) => this.#open(row) });
    this.section = new Section(ctx, { name: 'types', mirror: root });
    this.body = h('div', { class: 'types-body' }, this.totals,
      h('div', { class: 'types-filter' }, this.filter, this.kinds, this.count), this.chosen, this.table.element, this.notes, this.foot);
    root.append(this.tools, this.section.element);
  }

  destroy() {
    this.section.destroy();
    this.table.destroy();
  }

  /** @param {State} state */
  update(state) {
    const key = JSON.stringify([state.q, this.ctx.snapshot, state.w, state.lets, this.ctx.file.revision]);
    this.#showTools(state);
    if (document.activeElement !== this.filter) this.filter.value = state.extra.filter ?? '';
    if (key === this.shown) return this.#showRows();
    this.shown = key;
    void this.#ask(state);
  }

  /** @param {State} state */
  async #ask(state) {
    const answer = await this.section.ask(state.q, {}, { draw: () => this.body, why: (answer) => whyEmpty(answer, state.q) });
    if (!answer || this.section.element.dataset.state !== 'ready') return;
    this.answer = answer;
    this.series = new Map();
    this.#showAround(answer, state.q);
    this.#showRows();
    if (verbOf(state.q) === 'diff' && columnOf(rowsOf(answer), 'type') >= 0) await this.#joinSeries(answer);
  }

  /** A comparison has no series: they are those of the histogram. @param {Answer} answer */
  async #joinSeries(answer) {
    try {
      const { order } = askedTypes(this.ctx.state.q);
      const histogram = rowsOf(await this.ctx.ask(`histogram by type by ${order === 'retained' ? 'size' : order}`));
      const series = columnOf(histogram, 'series');
      if (this.answer !== answer || series < 0) return;
      for (const row of histogram.rows) this.series.set(identity(histogram, row), numbersOf(row[series]) ?? []);
      this.#showRows();
    } catch {
      // The comparison is there without them.
    }
  }

  /** What is told beside the rows. @param {Answer} answer @param {string} line */
  #showAround(answer, line) {
    const { ctx } = this;
    const totals = answer.tables.slice(0, -1).filter(forPeople);
    fill(this.totals, totals.map((table) => renderTable(table, ctx, { caption: table.key })));
    fill(this.notes, answer.notes.map((note) => h('li', null, noteNode(note, answer, ctx, line))),
      answer.lost ? h('li', { class: 'banner lost' }, visible(answer.lost)) : null);
    const isPart = verbOf(line) === 'top' || answer.cut !== null;
    fill(this.foot, answer.exactness ? h('span', null, visible(answer.exactness)) : null, csvLink(ctx.csv(line)),
      isPart ? h('a', { href: ctx.href({ q: 'histogram by type' }) }, 'all types') : null);
    const table = rowsOf(answer);
    const kind = columnOf(table, 'kind');
    const kinds = kind < 0 ? [] : [...new Set(table.rows.map((row) => row[kind].value).filter(Boolean))];
    this.kinds.hidden = kinds.length < 2;
    fill(this.kinds, h('option', { value: '' }, 'all kinds'), kinds.map((name) => h('option', { value: name }, visible(name))));
    this.kinds.value = kinds.includes(ctx.state.extra.kind) ? ctx.state.extra.kind : '';
    fill(this.chosen);
  }

  #filtered() {
    this.ctx.go({ filter: this.filter.value || null, kind: this.kinds.value || null }, { replace: true });
  }

  /** The rows that the filter lets through. */
  #showRows() {
    const { answer } = this;
    if (!answer || this.section.element.dataset.state !== 'ready') return;
    const table = rowsOf(answer);
    const [name, kind] = [nameColumn(table), columnOf(table, 'kind')];
    const wanted = this.filter.value.toLowerCase();
    const rows = table.rows.filter((row) => (!this.kinds.value || row[kind]?.value === this.kinds.value)
      && (!wanted || String(row[name]?.value ?? '').toLowerCase().includes(wanted)));
    this.count.textContent = rows.length === table.rows.length ? `${grouped(rows.length)} rows` : `${grouped(rows.length)} of ${grouped(table.rows.length)} rows`;
    this.table.set(this.#columns(table, answer), rows);
    if (rows.length > 0) this.#showChosen(rows[0]);
    else fill(this.chosen, 'No row passes the filter.');
  }

  /** @param {Table} table @param {Answer} answer */
  #columns(table, answer) {
    const own = { href: this.ctx.href, snapshot: snapshotOf(answer, this.ctx) };
    const { order, verb } = askedTypes(this.ctx.state.q);
    const isDiff = verb === 'diff' && columnOf(table, 'objects_change') >= 0;
    const name = nameColumn(table);
    // What single objects of a type dominate is a lower bound of what the type retains; of a path it is all.
    const isPaths = columnOf(table, 'shown_path') >= 0;
    const shown = table.columns.map((column, at) => ({ column, at })).filter(({ column, at }) => at !== name && column.role !== 'place' && column.key !== 'series' && (isDiff ? column.key in COMPARED : forPeople(column) && column.heading)
      && table.rows.some((row) => row[at].kind !== 'none'));
    const columns = shown.map(({ column, at }) => ({
      key: column.key, heading: !isDiff ? column.heading : isPaths && column.key === 'retained_bytes_after' ? 'retained' : COMPARED[column.key], isNumber: isNumeric(column), need: isPaths && column.key === 'retained_bytes_change' ? 0 : needOf(column, shown.length),
      width: widthOf(column), isSorted: ordersBy(column, isDiff ? '_change' : '', order),
      cell: (/** @type {Row} */ row) => cellNode(row[at], column, own),
    }));
    const first = {
      key: 'name', heading: table.columns[name]?.heading || 'name', width: 0, need: 0,
      cell: (/** @type {Row} */ row) => (row[name]?.kind === 'path' ? typePathNode(table, row, this.ctx, whereOf(row, table, answer, this.ctx), true) : h('a', { href: this.ctx.href({ q: this.#lineOf(row) }) }, nameNode(String(row[name]?.value ?? '–')))),
    };
    const series = columnOf(table, 'series');
    if (series < 0 && this.series.size === 0) return [first, ...columns];
    const measure = { count: 'objects', unmanaged: 'unmanaged' }[order] ?? 'shallow';
    const unit = measure === 'objects' ? 'count' : 'bytes';
    const ofRow = (/** @type {Row} */ row) => (series >= 0 ? numbersOf(row[series]) : this.series.get(identity(table, row))) ?? [];
    return [first, ...columns, { key: 'series', heading: `${measure} over time`, width: 12, need: 3, cell: (/** @type {Row} */ row) => sparkline(ofRow(row), { unit }) }];
  }

  /** The objects of a row as a question. @param {Row} row */
  #lineOf(row) {
    const table = rowsOf(/** @type {Answer} */ (this.answer));
    const at = (/** @type {string} */ key) => row[columnOf(table, key)]?.value ?? null;
    if (at('object') !== null) return `info ${snapshotOf(/** @type {Answer} */ (this.answer), this.ctx)}:@${at('object')}`;
    if (columnOf(table, 'type') >= 0) return `find ${expressionOf(at('type'), at('kind'))} by retained`;
    if (at('site') !== null) return `site ${at('site')}`;
    return at('kind') === null ? this.ctx.state.q : `find kind = ${literal(at('kind'))} by retained`;
  }

  /** @param {Row} row */
  #open(row) {
    const isPath = row.some((value) => value.kind === 'path');
    this.ctx.go(isPath ? { q: 'dominators', colour: 'growth' } : { q: this.#lineOf(row) });
  }

  /** The chosen type, with what else can be asked of it. @param {Row} row */
  #showChosen(row) {
    const table = rowsOf(/** @type {Answer} */ (this.answer));
    const type = row[columnOf(table, 'type')]?.value;
    const link = (/** @type {string} */ q, /** @type {string} */ label) => [h('a', { href: this.ctx.href({ q }), title: visible(q) }, label), ' · '];
    if (columnOf(table, 'shown_path') >= 0) {
      const { before, after } = askedTypes(this.ctx.state.q);
      const [a, b] = [before, after].map((side) => (side === 'last' || side === null ? this.ctx.snapshot : Number(side)));
      return fill(this.chosen, h('a', { href: this.ctx.href({ q: 'dominators', colour: 'growth', a, b }) }, 'all of this on a map'));
    }
    if (typeof type !== 'string') return fill(this.chosen, link(this.#lineOf(row), 'open'));
    const expression = expressionOf(type, row[columnOf(table, 'kind')]?.value ?? null);
    fill(this.chosen, h('strong', null, nameNode(type)), ': ', link(`find ${expression} by retained`, 'objects'), link(`list ${expression}`, 'list with fields'), link(`group ${expression}`, 'group by fields'), link(`paths ${expression}`, 'merged paths'),
      link(`retained ${expression}`, 'what all of them retain'), link(`trend ${expression}`, 'trend'),
      h('a', { href: this.ctx.href({ w: [...this.ctx.state.w, expression] }) }, 'without this type'));
  }

  /** @param {State} state */
  #showTools(state) {
    const { ctx } = this;
    const asked = askedTypes(state.q);
    const snapshots = ctx.file.snapshots ?? 1;
    if (!['top', 'histogram', 'diff'].includes(asked.verb)) return fill(this.tools, h('a', { class: 'button', href: ctx.href({ q: 'histogram by type' }) }, 'all types'));
    const orders = /\bby\s+(path|object)\b/.test(state.q) ? [] : attributesOf('totals').map(({ words: [order] }) => h('a', {
      class: 'button', href: ctx.href({ q: orderedLine(asked, order) }), 'aria-current': order === asked.order ? 'true' : null,
    }, order));
    // Other heaps that are served; a dump is imported for it.
    const files = ctx.files.filter((one) => one.id !== ctx.file.id && (one.snapshots || one.state === 'dump')).map(({ name }) => ({ name, word: /^[\w./-]+$/.test(name) ? name : literal(name) }));
    const other = h('select', { 'aria-label': 'compare with', onchange: () => ctx.go({ q: other.value === '' ? 'histogram by type' : `diff ${other.value} ${ctx.snapshot}` }) },
      h('option', { value: '' }, 'nothing'), Array.from({ length: snapshots }, (_, at) => h('option', { value: at }, `snapshot ${at}`)),
      files.map(({ name, word }) => h('option', { value: word }, visible(name))));
    other.value = asked.before === 'last' ? String(snapshots - 1) : asked.before ?? files.find(({ word }) => asked.verb === 'diff' && `${asked.rest} `.startsWith(`${word} `))?.word ?? '';
    fill(this.tools, orders.length === 0 ? null : h('span', { class: 'group', role: 'group', 'aria-label': 'order' }, 'by ', orders),
      snapshots > 1 || files.length > 0 ? h('label', { class: 'group' }, 'compare with ', other) : h('span', { class: 'muted' }, 'one snapshot: nothing to compare with'),
      snapshots > 1 && state.a !== null ? h('a', { class: 'button', href: ctx.href({ q: `diff ${state.a} ${state.b}` }) }, `brush ${state.a}..${state.b}`) : null);
  }
}

/** The same question in another order. @param {ReturnType<typeof askedTypes>} asked @param {string} order */
function orderedLine({ verb, before, after, rest }, order) {
  if (verb === 'diff') return ['diff', before, after, rest, `by ${order}`].filter(Boolean).join(' ');
  // `top by retained` ranks objects.
  if (verb === 'top' && order !== 'retained') return ['top', rest, `by ${order}`].filter(Boolean).join(' ');
  const grouping = rest.match(/\bby\s+(kind|site|generation)\b/)?.[0];
  const expression = verb === 'top' ? '' : rest.replace(grouping ?? '', '').trim();
  return ['histogram', expression, grouping ?? 'by type', `by ${order}`].filter(Boolean).join(' ');
}

/** Objects of a type and kind. @param {string} type @param {string | null} kind */
function expressionOf(type, kind) {
  return `${nameIs('type', type)}${kind === null ? '' : ` and kind = ${literal(kind)}`}`;
}

/** @param {Answer} answer @returns {Table} */
function rowsOf(answer) {
  return answer.tables[answer.tables.length - 1];
}

/** @param {Table} table @param {string} key */
function columnOf(table, key) {
  return table.columns.findIndex((column) => column.key === key);
}

/** A path that is gone is looked at in the snapshot before. @param {Row} row @param {Table} table @param {Answer} answer @param {Context} ctx @returns {import('../answer.js').Where} */
function whereOf(row, table, answer, ctx) {
  const isGone = !(numberOf(cellOf(table, row, 'objects_after') ?? { kind: 'none' }) > 0);
  const side = /** @type {import('../ask.js').Fact[]} */ (factOf(answer, isGone ? 'before' : 'after') ?? []);
  const s = side.find(({ column }) => column.key === 'snapshot')?.value.value;
  return typeof s === 'number' && s !== ctx.snapshot ? { s } : {};
}

/** The column that names a row. @param {Table} table */
function nameColumn(table) {
  const at = ['type', 'shown_path', 'function', 'kind'].map((key) => columnOf(table, key)).find((index) => index >= 0);
  return at ?? table.columns.findIndex((column) => column.unit === 'text' || column.unit === 'object');
}

/** @param {Table} table @param {Row} row */
function identity(table, row) {
  return ['kind', 'type', 'layout'].map((key) => row[columnOf(table, key)]?.value ?? '').join('\n');
}

/** Whether a column shows a total, or its part of a comparison. @param {Column} column @param {'' | '_after' | '_change'} part @param {string} [order] any unless told */
function ordersBy(column, part, order) {
  return attributesOf('totals').some(({ key, words: [word] }) => column.key === key + part && (order ?? word) === word);
}

/** @param {Column} column @param {number} columns */
function needOf(column, columns) {
  const at = DISPENSABLE.indexOf(column.key);
  return at < 0 ? (ordersBy(column, '_after') ? 2 : 1) : 4 + columns + DISPENSABLE.length - at;
}

/** @param {Column} column */
function widthOf(column) {
  if (column.key === 'unmanaged_bytes' || column.key === 'unmanaged_bytes_after') return 7;
  return column.unit === 'text' || ordersBy(column, '_change') || column.key === 'relative' ? 8 : 6.5;
}

/** @param {Answer} answer @param {string} line */
function whyEmpty(answer, line) {
  const table = rowsOf(answer);
  if (table && table.rows.length > 0 && !(table.rows.every((row) => row.every((value) => !(numberOf(value) > 0) && !text(value, { unit: 'text' }))))) return null;
  const told = answer.notes.map(visible).join(' ');
  if (verbOf(line) === 'diff') return `Nothing changed. ${told}`;
  return told || (factOf(answer, 'objects') === 0 ? 'This snapshot has no objects.' : 'No type matches.');
}
