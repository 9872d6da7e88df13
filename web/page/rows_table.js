// A grid of rows that are all here, drawn when they are seen: thousands of types cost as much as fifty.

import { fill, h } from './dom.js';
import { VirtualRows } from './virtual_rows.js';

/**
 * @template Row
 * @typedef {object} GridColumn
 * @property {string} key
 * @property {string | Node} heading
 * @property {boolean} [isNumber]
 * @property {number} width in rem; the first column takes what is left
 * @property {number} need columns with a larger number are left out first where it is narrow
 * @property {boolean} [isSorted] whether rows are in the order of this column, the largest first
 * @property {(row: Row) => Node | string} cell
 */

/** The least width of the first column, in rem. */
const FIRST = 9;

/** @template Row */
export class RowsTable {
  /** @param {{label: string, onSelect: (row: Row) => void, onOpen: (row: Row) => void}} options */
  constructor(options) {
    this.options = options;
    /** @type {Row[]} */
    this.rows = [];
    /** @type {GridColumn<Row>[]} */
    this.columns = [];
    /** @type {GridColumn<Row>[]} */
    this.fitting = [];
    this.active = 0;
    this.drawn = new WeakMap();
    this.grid = new VirtualRows({ make: () => this.#make(), fill: (element, row) => this.#fill(element, row), shown: (first, end) => this.#rove(first, end) });
    this.head = h('div', { class: 'vr-row vr-head', role: 'row', 'aria-rowindex': 1 });
    this.element = h('div', {
      class: 'rows-table', role: 'grid', 'aria-label': options.label, 'aria-readonly': 'true',
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.#key(event),
    }, this.head, this.grid.element);
    this.resizes = new ResizeObserver(() => this.#fit());
    this.resizes.observe(this.element);
  }

  destroy() {
    this.resizes.disconnect();
    this.grid.destroy();
  }

  /** @param {GridColumn<Row>[]} columns @param {Row[]} rows */
  set(columns, rows) {
    [this.columns, this.rows, this.active] = [columns, rows, 0];
    this.fitting = [];
    this.element.setAttribute('aria-rowcount', String(rows.length + 1));
    this.grid.scrollTo(0);
    this.#fit();
  }

  /** Chooses the columns that there is room for. */
  #fit() {
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize) || 14;
    let room = this.element.clientWidth / rem - FIRST - 1;
    const fits = new Set(this.columns.slice(0, 1));
    for (const column of this.columns.slice(1).sort((one, other) => one.need - other.need)) {
      if (column.width > room) break;
      room -= column.width;
      fits.add(column);
    }
    const fitting = this.columns.filter((column) => fits.has(column));
    const isSame = fitting.length === this.fitting.length && fitting.every((column, at) => column === this.fitting[at]);
    if (!isSame) {
      this.fitting = fitting;
      this.element.style.setProperty('--columns', fitting.map((column, at) => (at === 0 ? `minmax(${FIRST}rem, 1fr)` : `${column.width}rem`)).join(' '));
      fill(this.head, fitting.map((column, at) => h('span', {
        role: 'columnheader', class: column.isNumber ? 'number' : null, 'aria-colindex': at + 1, 'aria-sort': column.isSorted ? 'descending' : null,
      }, column.heading)));
    }
    this.grid.setLength(this.rows.length);
    this.grid.refresh();
  }

  #make() {
    const element = h('div', { class: 'vr-row', role: 'row', tabindex: -1 });
    const rowOf = () => Number(element.getAttribute('aria-rowindex')) - 2;
    element.addEventListener('click', (event) => {
      if (!(/** @type {Element} */ (event.target).closest('a'))) this.#activate(rowOf());
    });
    element.addEventListener('dblclick', () => this.#open(rowOf()));
    element.addEventListener('focus', () => { if (rowOf() !== this.active) this.#activate(rowOf()); });
    return element;
  }

  /** @param {HTMLElement} element @param {number} row */
  #fill(element, row) {
    const isActive = row === this.active;
    element.setAttribute('aria-rowindex', String(row + 2));
    element.setAttribute('aria-selected', String(isActive));
    element.setAttribute('tabindex', isActive ? '0' : '-1');
    const drawn = this.drawn.get(element);
    if (drawn?.row === this.rows[row] && drawn.columns === this.fitting) return;
    this.drawn.set(element, { row: this.rows[row], columns: this.fitting });
    fill(element, this.fitting.map((column, at) => h('span', { role: 'gridcell', class: column.isNumber ? 'number' : null, 'aria-colindex': at + 1 }, column.cell(this.rows[row]))));
    for (const link of element.querySelectorAll('a')) link.setAttribute('tabindex', '-1');
  }

  /** One row is the stop of the tabulator. @param {number} first @param {number} end */
  #rove(first, end) {
    const element = this.grid.elementOf(this.active >= first && this.active < end ? this.active : first);
    // The property `tabIndex` makes the browser lay out; the attribute does not.
    if (!element || element.getAttribute('tabindex') === '0') return;
    for (const one of this.grid.elements.values()) one.setAttribute('tabindex', one === element ? '0' : '-1');
  }

  /** @param {number} row */
  #activate(row) {
    if (row < 0 || row >= this.rows.length) return;
    const before = this.active;
    this.active = row;
    this.grid.reveal(row);
    for (const one of [before, row]) {
      const element = this.grid.elementOf(one);
      if (element) this.#fill(element, one);
    }
    this.grid.elementOf(row)?.focus({ preventScroll: true });
    this.options.onSelect(this.rows[row]);
  }

  /** @param {number} row */
  #open(row) {
    if (this.rows[row]) this.options.onOpen(this.rows[row]);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || this.rows.length === 0) return;
    const { active } = this;
    const last = this.rows.length - 1;
    const to = { ArrowDown: active + 1, ArrowUp: active - 1, Home: 0, End: last, PageDown: active + this.grid.page, PageUp: active - this.grid.page }[event.key];
    if (to !== undefined) this.#activate(Math.max(0, Math.min(last, to)));
    else if (event.key === 'Enter' && !(/** @type {Element} */ (event.target).closest('a, button'))) this.#open(active);
    else return;
    event.preventDefault();
  }
}
