// Scrolls through millions of rows with a few dozen elements.
//
// Browsers cap the height of an element near 17 million pixels, which is 700,000 rows. Longer tables have a scroll range of
// `TALLEST` pixels: the thumb is scaled, while the wheel, a finger and the keys move by rows as everywhere else. So the
// position is kept here in pixels of the whole table, and the browser's scroll position only follows it.

import { h } from './dom.js';

/** The longest scroll range, in pixels. */
const TALLEST = 8_000_000;
/** The most elements for rows. */
const MOST_ELEMENTS = 96;
/** After this time without scrolling the thumb is put where it belongs, in milliseconds. */
const SETTLED_MS = 150;

/**
 * @typedef {object} Rows
 * @property {() => HTMLElement} make makes the element of a row, to be filled again and again
 * @property {(element: HTMLElement, row: number) => void} fill shows a row in an element
 * @property {(first: number, end: number) => void} [shown] is told which rows are shown now
 */

export class VirtualRows {
  /** @param {Rows} rows @param {string} [role] of the element around the rows */
  constructor(rows, role = 'rowgroup') {
    this.rows = rows;
    this.length = 0;
    this.height = 0;
    /** The scroll range with what is visible, in pixels. */
    this.tall = 0;
    this.rowHeight = 24;
    /** Pixels of the whole table above the first visible one. */
    this.top = 0;
    this.scrollTop = 0;
    /** Elements by the row that they show. @type {Map<number, HTMLElement>} */
    this.elements = new Map();
    /** Elements that show no row. @type {Set<HTMLElement>} */
    this.free = new Set();
    /** The element that is kept out of sight, because it has the focus. @type {HTMLElement | null} */
    this.away = null;
    this.frame = 0;
    this.settling = 0;
    /** When it was scrolled last. */
    this.moved = 0;
    this.body = h('div', { class: 'vr-rows', role: 'presentation' });
    this.view = h('div', { class: 'vr-view', role: 'presentation' }, this.body);
    this.space = h('div', { class: 'vr-space', role: 'presentation' }, this.view);
    this.probe = h('div', { class: 'vr-probe', role: 'presentation' });
    this.element = h('div', { class: 'vr', role, onscroll: () => this.#scrolled() }, this.probe, this.space);
    this.element.addEventListener('wheel', (event) => this.#wheel(event), { passive: false });
    this.resizes = new ResizeObserver(() => this.resize());
    this.resizes.observe(this.element);
  }

  destroy() {
    this.resizes.disconnect();
    cancelAnimationFrame(this.frame);
    clearTimeout(this.settling);
  }

  /** Shows so many rows from now on. @param {number} length */
  setLength(length) {
    this.length = length;
    this.resize();
  }

  /** Measures again. */
  resize() {
    const height = this.probe.getBoundingClientRect().height || 24;
    const first = this.top / this.rowHeight;
    this.rowHeight = height;
    this.height = this.element.clientHeight;
    this.tall = Math.min(this.#whole, Math.max(TALLEST, this.height));
    this.space.style.height = `${this.tall}px`;
    this.view.style.height = `${Math.min(this.height, this.#whole)}px`;
    this.#moveTo(first * height);
    this.#follow();
    this.draw();
  }

  /** Draws all rows again, because what they show has changed. */
  refresh() {
    for (const [row, element] of this.elements) if (row < this.length) this.rows.fill(element, row);
    this.draw();
  }

  /** The element of a row, if it has one. @param {number} row */
  elementOf(row) {
    return this.elements.get(row);
  }

  /** How many whole rows are visible. */
  get page() {
    return Math.max(1, Math.floor(this.height / this.rowHeight));
  }

  /** Scrolls as little as is needed to see a row whole. @param {number} row */
  reveal(row) {
    const top = row * this.rowHeight;
    if (top < this.top) this.scrollTo(top);
    else if (top + this.rowHeight > this.top + this.height) this.scrollTo(top + this.rowHeight - this.height);
    else this.draw();
  }

  /** @param {number} top in pixels of the whole table */
  scrollTo(top) {
    this.#moveTo(top);
    if (this.#isScaled) this.#settle();
    else this.#follow();
    this.draw();
  }

  /** Shows what is to be seen at the position, now. Only rows that come into view are filled. */
  draw() {
    if (this.frame) cancelAnimationFrame(this.frame);
    this.frame = 0;
    const first = Math.floor(this.top / this.rowHeight);
    const end = Math.min(this.length, first + MOST_ELEMENTS, Math.ceil((this.top + this.height) / this.rowHeight) + 1);
    this.#release(first, end);
    this.#place(first, end);
    this.body.style.transform = `translateY(${first * this.rowHeight - this.top}px)`;
    this.rows.shown?.(first, end);
  }

  /** The height of the whole table. */
  get #whole() {
    return this.length * this.rowHeight;
  }

  get #range() {
    return Math.max(0, this.#whole - this.height);
  }

  /** Pixels of the whole table for each pixel of the scroll range. */
  get #scale() {
    const scrollable = this.tall - this.height;
    return this.#isScaled && scrollable > 0 ? this.#range / scrollable : 1;
  }

  get #isScaled() {
    return this.#whole > TALLEST;
  }

  /** @param {number} top */
  #moveTo(top) {
    this.top = Math.max(0, Math.min(this.#range, top));
  }

  /** Puts the thumb where it belongs. */
  #follow() {
    this.element.scrollTop = this.#isScaled ? this.top / this.#scale : this.top;
    this.scrollTop = this.element.scrollTop;
  }

  #scrolled() {
    const at = this.element.scrollTop;
    const moved = at - this.scrollTop;
    if (moved === 0) return;
    this.scrollTop = at;
    const isJump = !this.#isScaled || Math.abs(moved) > Math.max(200, this.height);
    this.#moveTo(isJump ? at * this.#scale : this.top + moved);
    if (this.#isScaled) this.#settle();
    this.#later();
  }

  /** The position is kept here, so the thumb of a scaled range can follow later: setting it makes the browser lay out. */
  #settle() {
    this.moved = performance.now();
    this.settling ||= window.setTimeout(() => this.#settled(), SETTLED_MS);
  }

  /** One timer waits for the last of many events, because making one for each takes longer. */
  #settled() {
    const left = this.moved + SETTLED_MS - performance.now();
    this.settling = left > 0 ? window.setTimeout(() => this.#settled(), left) : 0;
    if (left <= 0) this.#follow();
  }

  /** @param {WheelEvent} event */
  #wheel(event) {
    if (!this.#isScaled || event.ctrlKey || event.deltaY === 0) return;
    const unit = [1, this.rowHeight, this.height][event.deltaMode] ?? 1;
    const before = this.top;
    this.#moveTo(this.top + event.deltaY * unit);
    if (this.top === before) return;
    event.preventDefault();
    this.#settle();
    this.#later();
  }

  #later() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  /** Frees the elements of rows that are no longer shown. The one with the focus stays, out of sight, and keeps it.
   *  @param {number} first @param {number} end */
  #release(first, end) {
    const focused = document.activeElement;
    const own = focused !== null && this.body.contains(focused) ? focused : null;
    let away = null;
    for (const [row, element] of this.elements) {
      if (row >= first && row < end) continue;
      if (row < this.length && own !== null && element.contains(own)) {
        away = element;
        continue;
      }
      this.elements.delete(row);
      this.free.add(element);
    }
    if (away === this.away) return;
    this.away?.classList.remove('vr-away');
    away?.classList.add('vr-away');
    this.away = away;
  }

  /** Gives every shown row an element, in the order of the rows. One that is free stays where it is if a row belongs there:
   *  putting it elsewhere takes as long as filling it. @param {number} first @param {number} end */
  #place(first, end) {
    let node = this.body.firstChild;
    for (let row = first; row < end; row++) {
      const element = this.elements.get(row);
      while (node && node !== element && (node === this.away || (element && this.free.has(/** @type {HTMLElement} */ (node))))) node = node.nextSibling;
      const here = /** @type {HTMLElement | null} */ (node);
      if (element && element === here) {
        node = here.nextSibling;
      } else if (element) {
        const focused = element.contains(document.activeElement) ? /** @type {HTMLElement} */ (document.activeElement) : null;
        this.body.insertBefore(element, node);
        focused?.focus({ preventScroll: true });
      } else if (here && this.free.has(here)) {
        node = here.nextSibling;
        this.#use(here, row);
      } else {
        const [other = this.rows.make()] = this.free;
        this.body.insertBefore(other, node);
        this.#use(other, row);
      }
    }
    for (const element of this.free) if (!element.hidden) element.hidden = true;
  }

  /** @param {HTMLElement} element @param {number} row */
  #use(element, row) {
    this.free.delete(element);
    if (element.hidden) element.hidden = false;
    this.elements.set(row, element);
    this.rows.fill(element, row);
  }
}
