// What an object holds, as a tree that opens in place: its fields and references, then those of the objects there.

import { fill, h } from './dom.js';
import { isAbort } from './ask.js';
import { cellNode, nameNode, objectLink } from './cell.js';
import { grouped, numberText, visible } from './value_text.js';
import { cellOf, factOf } from './answer.js';
import { isPath } from './asked_rows.js';
import { lineOfCell } from './links.js';
import { nameIs } from './state.js';

/** @typedef {import('./context.js').Context} Context */
/** @typedef {import('./ask.js').Answer} Answer */
/** @typedef {import('./ask.js').Table} Table */
/** @typedef {import('./ask.js').Value} Value */

/** References that are asked for at once. */
export const WINDOW = 100;
/** Deeper levels are not indented further. */
const DEEPEST_INDENT = 12;

/** A type, with the link of its objects. @param {Table} table @param {Value[]} row @param {Context} ctx @param {import('./cell.js').CellContext} own */
export function typeLink(table, row, ctx, own) {
  const column = table.columns.find((one) => one.key === 'type');
  const name = nameNode(String(cellOf(table, row, 'type')?.value ?? ''));
  const line = column ? lineOfCell(table, row, column, ctx.file) : null;
  return line === null ? name : h('a', { class: 'type', href: own.href({ q: line }), title: visible(line) }, name);
}

export class FieldTree {
  /** @param {Context} ctx @param {number | null} snapshot of all objects here */
  constructor(ctx, snapshot) {
    this.ctx = ctx;
    this.own = { href: (/** @type {import('./state.js').Change} */ change) => ctx.href({ beside: null, ...change }), snapshot };
  }

  /** @param {number} id */
  wordOf(id) {
    return this.own.snapshot === null ? `@${id}` : `${this.own.snapshot}:@${id}`;
  }

  /**
   * The list of an object. @param {string} word @param {Answer} info @param {Answer} show its first references
   * @param {number[]} above the objects that it is below, and itself @returns {HTMLElement}
   */
  list(word, info, show, above) {
    const type = String(factOf(info, 'type') ?? '');
    const table = info.tables.find((one) => one.key === 'fields');
    const fields = table?.rows ?? [];
    /** References that fields tell; some of them may be among later ones. @type {Set<string>} */
    const told = new Set();
    const references = lastTable(show);
    const byField = new Map(references?.rows.map((row) => [keyOf(references, row), row]));
    const list = h('ul', { class: above.length > DEEPEST_INDENT ? 'field-tree is-deep' : 'field-tree' });
    for (const row of fields) {
      const at = (/** @type {string} */ key) => cellOf(/** @type {Table} */ (table), row, key);
      const value = /** @type {Value} */ (at('value'));
      const key = value.kind === 'object' ? `${nameOf(String(at('field')?.value))} ${value.value.id}` : '';
      const reference = byField.get(key);
      if (key) told.add(key);
      list.append(this.#item({
        label: this.#fieldLabel(String(at('field')?.value ?? ''), type, at('declared_by')), id: value.kind === 'object' ? value.value.id : null,
        what: this.#valueNodes(value, at, references, reference), sizes: reference ? this.#sizes(/** @type {Table} */ (references), reference) : null, above,
      }));
    }
    this.#append(list, word, show, told, above);
    return list;
  }

  /** The name of a field leads to what others hold in it. @param {string} field @param {string} type @param {Value | null} by */
  #fieldLabel(field, type, by) {
    const inherited = by && by.kind !== 'none' && by.value !== type ? h('span', { class: 'muted' }, ' of ', nameNode(String(by.value))) : null;
    if (!isPath(field)) return [nameNode(field), inherited];
    const href = this.own.href({ q: `group ${nameIs('type', type)} by ${field}` });
    return [h('a', { href, title: 'objects of this type by what they hold here' }, nameNode(field)), inherited];
  }

  /** What an object takes itself, and what it retains where the answer says so. @param {Table} table @param {Value[]} row */
  #sizes(table, row) {
    const [own, retained] = ['shallow_bytes', 'retained_bytes'].map((key) => cellOf(table, row, key));
    const size = (/** @type {Value | null} */ value) => (value?.kind === 'number' ? numberText(value.value, 'bytes') : null);
    return [size(own) && `${size(own)} itself`, size(retained) && `${size(retained)} retained`].filter(Boolean).join(', ');
  }

  /** What a field holds; what an object stands for is said before its number. @param {Value} value @param {(key: string) => Value | null} at
   *  @param {Table | undefined} references @param {Value[] | undefined} reference the same as a reference, if it is among them */
  #valueNodes(value, at, references, reference) {
    const meaning = at('stands_for');
    const holds = h('span', { class: 'muted' }, String(at('holds')?.value ?? ''));
    if (value.kind !== 'object') return [h('span', { class: 'value' }, cellNode(value, { unit: 'text' }, this.own)), ' ', holds];
    if (!meaning || meaning.kind === 'none') {
      const { id, text } = value.value;
      const start = reference && references ? `@${id} ${cellOf(references, reference, 'type')?.value}` : null;
      if (!reference || !references || !text.startsWith(start)) return [h('span', { class: 'value' }, cellNode(value, { unit: 'text' }, this.own))];
      const rest = nameNode(text.slice(start?.length));
      return [h('span', { class: 'value' }, objectLink(id, this.own), ' ', typeLink(references, reference, this.ctx, this.own), rest)];
    }
    const link = objectLink(value.value.id, this.own);
    link.title = visible(value.value.text);
    return [h('span', { class: 'value' }, cellNode(meaning, { unit: 'text' }, this.own), ' ', link)];
  }

  /** Adds references that no field has told. @param {HTMLElement} list @param {string} word @param {Answer} show @param {Set<string>} told @param {number[]} above */
  #append(list, word, show, told, above) {
    const table = lastTable(show);
    if (!table) return;
    for (const row of table.rows) {
      if (told.has(keyOf(table, row))) continue;
      const at = (/** @type {string} */ key) => cellOf(table, row, key);
      const id = at('target')?.kind === 'number' ? at('target')?.value : null;
      const [label, strength] = ['label', 'strength'].map((key) => at(key));
      const name = ['line', 'name'].map((key) => at(key)).find((one) => one && one.kind !== 'none');
      list.append(this.#item({
        label: [label && label.kind !== 'none' ? nameNode(String(label.value)) : h('span', { class: 'muted' }, 'without a name'), strength && strength.kind !== 'none' ? h('span', { class: 'muted' }, ` ${strength.value}`) : null],
        id, sizes: this.#sizes(table, row), above,
        what: [h('span', { class: 'value' }, id === null ? null : [objectLink(id, this.own), ' '], typeLink(table, row, this.ctx, this.own),
          name ? [' ', cellNode(name, { unit: 'text' }, this.own)] : null)],
      }));
    }
    const to = (show.from ?? 0) + table.rows.length;
    const total = show.rows_total ?? null;
    if (table.rows.length === 0 || (total === null ? !show.goes_on : to >= total)) return;
    const more = h('button', {
      type: 'button', class: 'more-rows', onclick: async () => {
        more.disabled = true;
        try {
          const next = await this.ctx.ask(`show ${word}`, { from: to, n: WINDOW });
          more.parentElement?.remove();
          this.#append(list, word, next, told, above);
        } catch (error) {
          more.disabled = false;
          if (!isAbort(error)) more.after(' ', visible(/** @type {Error} */ (error).message));
        }
      },
    }, total === null ? 'further references' : `${grouped(total - to)} further references`);
    list.append(h('li', null, more));
  }

  /** One row, and what is below it once it is open. @param {{label: any, what: any, id: number | null, sizes: string | null, above: number[]}} of */
  #item({ label, what, id, sizes, above }) {
    const item = h('li');
    const isAbove = id !== null && above.includes(id);
    const toggle = id === null ? h('span', { class: 'no-toggle' }) : h('button', {
      type: 'button', class: 'toggle', 'aria-expanded': 'false', 'aria-label': `open @${id}`, onclick: () => void this.#toggle(item, toggle, id, above),
    });
    item.append(h('div', { class: 'field-row' }, toggle, h('span', { class: 'label' }, label), what,
      isAbove ? h('span', { class: 'muted', title: 'this object is above: the references are a cycle' }, ' ↑ above') : null,
      sizes ? h('span', { class: 'number size' }, sizes) : null));
    return item;
  }

  /** @param {HTMLElement} item @param {HTMLElement} toggle @param {number} id @param {number[]} above */
  async #toggle(item, toggle, id, above) {
    const isOpen = toggle.getAttribute('aria-expanded') === 'true';
    toggle.setAttribute('aria-expanded', String(!isOpen));
    item.querySelector(':scope > .below')?.remove();
    if (isOpen) return;
    const below = h('div', { class: 'below' }, h('p', { class: 'muted' }, 'asking …'));
    item.append(below);
    const word = this.wordOf(id);
    try {
      const [info, show] = await Promise.all([this.ctx.ask(`info ${word}`), this.ctx.ask(`show ${word}`, { from: 0, n: WINDOW })]);
      const list = this.list(word, info, show, [...above, id]);
      fill(below, list.hasChildNodes() ? list : h('p', { class: 'muted' }, 'It holds nothing.'));
    } catch (error) {
      if (isAbort(error)) below.remove();
      else fill(below, h('p', { class: 'cut' }, visible(/** @type {Error} */ (error).message)));
      toggle.setAttribute('aria-expanded', String(below.isConnected));
    }
  }
}

/** Arrows move between the rows of a tree, open and close them. @param {KeyboardEvent} event */
export function fieldTreeKey(event) {
  const toggle = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest('.toggle'));
  if (!toggle || event.ctrlKey || event.altKey || event.metaKey) return;
  const all = /** @type {HTMLElement[]} */ ([...(/** @type {Element} */ (event.currentTarget).querySelectorAll('.toggle'))]);
  const isOpen = toggle.getAttribute('aria-expanded') === 'true';
  const at = all.indexOf(toggle);
  const outer = /** @type {HTMLElement | null | undefined} */ (toggle.closest('li')?.parentElement?.closest('li')?.querySelector('.toggle'));
  const to = { ArrowDown: all[at + 1], ArrowUp: all[at - 1], Home: all[0], End: all[all.length - 1], ArrowLeft: isOpen ? toggle : outer, ArrowRight: isOpen ? all[at + 1] : toggle }[event.key];
  if (to == null) return;
  event.preventDefault();
  if (to === toggle && /^Arrow(Left|Right)$/.test(event.key)) toggle.click();
  else to.focus();
}

/** @param {Table} table @param {Value[]} row */
function keyOf(table, row) {
  return `${cellOf(table, row, 'label')?.value ?? ''} ${cellOf(table, row, 'target')?.value ?? ''}`;
}

/** The name of a field as references have it: `."a b"` is `a b`. @param {string} field */
function nameOf(field) {
  const quoted = field.match(/^\."(.*)"$/s)?.[1];
  return quoted?.replace(/\\(.)/gs, '$1') ?? field.slice(1);
}

/** @param {Answer} answer @returns {Table | undefined} */
function lastTable(answer) {
  return answer.tables[answer.tables.length - 1];
}
