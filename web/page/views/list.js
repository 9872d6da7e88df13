// Objects with any choice of columns, or grouped by what they hold: the line of `list` and `group` as a form, and its rows.

import { fill, h } from '../dom.js';
import { cellNode } from '../cell.js';
import { visible } from '../value_text.js';
import { askedRows, attributesOf, objectsOf, rowsLine } from '../asked_rows.js';
import { fieldsOf } from '../known_fields.js';
import { Section } from '../section.js';
import { askWindow } from './answer.js';

/** @typedef {import('../context.js').Context} Context */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../ask.js').Column} Column */
/** @typedef {import('../ask.js').Table} Table */
/** @typedef {import('../ask.js').Value} Value */
/** @typedef {import('../asked_rows.js').AskedRows} AskedRows */
/** @typedef {import('../known_fields.js').Field} Field */

/** Fields that a list has at first. */
const FIRST_FIELDS = 5;
/** The attributes that each verb names. */
const PARTS = /** @type {const} */ ({ list: 'lists', group: 'groups' });

/** @param {HTMLElement} root @param {Context} ctx @returns {import('../context.js').View} */
export function mount(root, ctx) {
  return new ListView(root, ctx);
}

/** What a verb names besides fields. @param {'list' | 'group'} verb */
function wordsOf(verb) {
  return attributesOf(PARTS[verb]).flatMap(({ words }) => words);
}

class ListView {
  /** @param {HTMLElement} root @param {Context} ctx */
  constructor(root, ctx) {
    this.ctx = ctx;
    this.asked = askedRows('list');
    this.controller = new AbortController();
    /** The fields of the objects, and those whose names are typed. @type {Field[]} */
    this.fields = [];
    this.fieldsAsked = '';
    const box = (/** @type {string} */ name, /** @type {string} */ label, /** @type {string} */ example) => h('input', {
      type: 'text', name, 'aria-label': label, placeholder: example, list: `${name}-suggestions`, autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false',
      oninput: () => this.#suggest(), onfocus: () => this.#suggest(),
    });
    this.expression = box('expression', 'objects, an expression', 'all objects, or: type = "Session" and .hits > 3');
    this.names = box('names', 'columns', '');
    this.by = h('select', { 'aria-label': 'order', onchange: () => this.#submit() });
    this.direction = h('select', { 'aria-label': 'direction', onchange: () => this.#submit() },
      [['', 'largest or A first'], ['asc', 'smallest or A first'], ['desc', 'largest or Z first']].map(([value, label]) => h('option', { value }, label)));
    this.suggestions = ['expression', 'names'].map((name) => h('datalist', { id: `${name}-suggestions` }));
    this.what = h('span', { class: 'group', role: 'group', 'aria-label': 'list or group' });
    this.namesLabel = h('span');
    this.choices = h('div', { class: 'choices' });
    this.others = h('p', { class: 'chosen-place' });
    const row = (/** @type {any[]} */ ...parts) => h('div', { class: 'rows-row' }, parts);
    const onsubmit = (/** @type {Event} */ event) => { event.preventDefault(); this.#submit(); };
    this.form = h('form', { class: 'search-form rows-form', 'aria-label': 'rows of objects', onsubmit },
      row(this.what, h('label', null, 'objects ', this.expression)), row(h('label', null, this.namesLabel, this.names)), this.choices,
      row(h('label', null, 'in order of ', this.by), this.direction, h('button', { type: 'submit', class: 'primary' }, 'Show')), this.suggestions);
    this.section = new Section(ctx, { name: 'rows', mirror: root });
    fill(root, this.form, this.others, this.section.element);
  }

  destroy() {
    this.controller.abort();
    this.section.destroy();
  }

  /** @param {State} state */
  update(state) {
    this.asked = askedRows(state.q);
    this.#showForm();
    void this.#findFields();
    if (this.asked.names.length > 0) {
      askWindow(this.section, this.ctx, state.q, Number(state.extra.from ?? 0) || 0, Number(state.extra.n ?? 1000) || 1000, {
        order: (column, at) => this.#orderOf(column, at), cell: (row, column, at, table) => this.#cell(row, column, at, table),
      });
    } else {
      this.section.stop();
      this.section.empty(this.asked.verb === 'list' ? 'Choose columns: fields or what else is known of objects.' : 'Choose what to group by: fields or what else objects have in common.');
    }
  }

  // The form

  #showForm() {
    const { asked, ctx } = this;
    const isList = asked.verb === 'list';
    const active = document.activeElement;
    if (active !== this.expression) this.expression.value = asked.expression;
    if (active !== this.names) this.names.value = asked.names.join(', ');
    this.namesLabel.textContent = isList ? 'columns ' : 'grouped by ';
    this.names.setAttribute('aria-label', isList ? 'columns' : 'keys of groups');
    this.names.placeholder = isList ? '.user.name, retained' : '.user.name, .state';
    const verb = (/** @type {'list' | 'group'} */ name, /** @type {string} */ label) => h('a', {
      class: 'button', 'aria-current': asked.verb === name ? 'true' : null, href: ctx.href({ q: this.#as(name) }),
    }, label);
    fill(this.what, verb('list', 'list'), verb('group', 'group'));
    const orders = isList ? [...new Set([...asked.names, ...(asked.by ? [asked.by] : [])])] : attributesOf('totals').map(({ words }) => words[0]);
    fill(this.by, isList ? h('option', { value: '' }, 'their numbers') : null, orders.map((name) => h('option', { value: name }, visible(name))));
    this.by.value = asked.by || (isList ? '' : 'size');
    this.direction.hidden = !isList || !asked.by;
    this.direction.value = asked.direction;
    const link = (/** @type {string} */ q, /** @type {string} */ label) => [h('a', { href: ctx.href({ q }), title: visible(q) }, label), ' · '];
    const { expression } = asked;
    fill(this.others, ...(expression ? ['These objects: ', link(`find ${expression} by retained`, 'one by one'), link(`paths ${expression}`, 'merged paths'),
      link(`retained ${expression}`, 'what all of them retain'), h('a', { href: ctx.href({ q: `trend ${expression}` }) }, 'trend')] : []),
      ...(isList || asked.names.length === 0 || (ctx.file.snapshots ?? 1) < 2 ? [] : [' · ', h('a', { href: ctx.href({ q: `growth ${expression} by ${asked.names.join(',')}` }) }, 'which groups grow')]));
    this.#showChoices();
  }

  /** The same objects by the other verb: keys become columns. @param {'list' | 'group'} verb */
  #as(verb) {
    const { asked } = this;
    if (verb === asked.verb) return rowsLine(asked);
    const known = wordsOf(verb);
    const names = asked.names.filter((name) => name.startsWith('.') || known.includes(name));
    return rowsLine({ ...asked, verb, rows: '', names, by: '', direction: '' });
  }

  /** Fields and what else there is, as buttons: a click adds or removes one. */
  #showChoices() {
    const { asked } = this;
    const button = (/** @type {string} */ name, /** @type {string} */ title) => h('button', {
      type: 'button', class: 'copy', 'aria-pressed': String(asked.names.includes(name)), title, onclick: () => this.#toggle(name),
    }, visible(name));
    const known = this.fields.map((field) => button(field.name, `a field that holds: ${field.holds}`));
    const typed = asked.names.filter((name) => name.startsWith('.') && !this.fields.some((field) => field.name === name));
    const own = [...known, ...typed.map((name) => button(name, 'a field'))];
    const others = attributesOf(PARTS[asked.verb]).map(({ words, document }) => button(words[0], document));
    fill(this.choices, own.length > 0 ? h('div', { class: 'group', role: 'group', 'aria-label': 'fields' }, own) : null, h('div', { class: 'group', role: 'group', 'aria-label': 'attributes' }, others));
  }

  /** @param {string} name */
  #toggle(name) {
    const { asked } = this;
    const names = asked.names.includes(name) ? asked.names.filter((one) => one !== name) : [...asked.names, name];
    const by = asked.verb === 'group' || names.includes(asked.by) ? asked.by : '';
    this.ctx.go({ q: rowsLine({ ...asked, names, by, direction: by ? asked.direction : '' }) });
  }

  #submit() {
    const names = this.names.value.split(/[\s,]+/).filter(Boolean);
    const isList = this.asked.verb === 'list';
    const by = !isList && this.by.value === 'size' ? '' : this.by.value;
    const direction = /** @type {AskedRows['direction']} */ (by ? this.direction.value : '');
    this.ctx.go({ q: rowsLine({ ...this.asked, expression: this.expression.value.trim(), names, by, direction }) });
  }

  // Suggestions

  /** Finds the fields of the objects; a list without columns gets the first of them. */
  async #findFields() {
    const { asked, ctx } = this;
    const key = JSON.stringify([asked.expression, ctx.snapshot, ctx.state.w, ctx.state.lets, ctx.file.revision]);
    if (key === this.fieldsAsked) return;
    this.fieldsAsked = key;
    this.fields = [];
    const fields = asked.expression ? await fieldsOf(ctx, asked.expression, '', this.controller.signal) : [];
    if (key !== this.fieldsAsked) return;
    this.fields = fields;
    if (this.asked.verb === 'list' && this.asked.names.length === 0 && asked.expression) {
      const names = [...fields.slice(0, FIRST_FIELDS).map((field) => field.name), ...(fields.length === 0 ? ['name', 'size'] : []), 'retained'];
      ctx.go({ q: rowsLine({ ...this.asked, names }) }, { replace: true });
    } else {
      this.#showChoices();
    }
  }

  /** Suggests names for what is typed at the end of the field with the focus. */
  async #suggest() {
    const input = document.activeElement === this.names ? this.names : document.activeElement === this.expression ? this.expression : null;
    if (!input) return;
    const text = input.value;
    const word = text.match(input === this.names ? /[^\s,]*$/ : /(?<![\w.])\.[^\s.]*(\.[^\s.]*)*$/)?.[0] ?? '';
    const path = word.startsWith('.') ? word.slice(0, word.lastIndexOf('.')) : '';
    const before = text.slice(0, text.length - word.length);
    const expression = input === this.names ? this.expression.value.trim() : before.replace(/\b(and|or|not|-)?[\s(]*$/i, '').trim();
    const fields = path === '' && expression === this.asked.expression ? this.fields : expression ? await fieldsOf(this.ctx, expression, path, this.controller.signal) : [];
    if (input.value !== text) return;
    const known = input === this.expression || path !== '' ? [] : wordsOf(this.asked.verb);
    const all = [...fields.map((field) => path + field.name), ...known].filter((name) => name.startsWith(word) && name !== word);
    fill(this.suggestions[input === this.names ? 1 : 0], input === this.expression && word === '' ? null : all.map((name) => h('option', { value: before + name }, visible(name))));
  }

  // The rows

  /** A heading orders all rows, also those that are not here.
   *  @param {Column} column @param {number} at @returns {import('../answer.js').Order | null} */
  #orderOf(column, at) {
    const { asked, ctx } = this;
    if (asked.verb === 'group') {
      const by = attributesOf('totals').find(({ key }) => key === column.key)?.words[0];
      if (!by) return null;
      return { now: (asked.by || 'size') === by ? 'descending' : null, go: () => ctx.go({ q: rowsLine({ ...asked, by: by === 'size' ? '' : by }) }) };
    }
    // The first two columns are the number of the row and the object.
    const by = asked.names[at - 2];
    if (by === undefined) return null;
    const usual = column.unit === 'text' ? 'asc' : 'desc';
    const now = asked.by !== by ? null : asked.direction || usual;
    const other = usual === 'asc' ? 'desc' : 'asc';
    // The usual way, the other one, none.
    const next = now === null ? { by, direction: '' } : now === usual ? { by, direction: other } : { by: '', direction: '' };
    return { now: now && (now === 'asc' ? 'ascending' : 'descending'), go: () => ctx.go({ q: rowsLine({ ...asked, .../** @type {any} */ (next) }) }) };
  }

  /** The number of objects of a group leads to these objects. @param {Value[]} row @param {Column} column @param {number} at @param {Table} table */
  #cell(row, column, at, table) {
    const { asked, ctx } = this;
    if (asked.verb !== 'group' || column.key !== 'objects' || row[at].value === 0) return null;
    const expression = objectsOf(asked, table, row);
    if (expression === null) return null;
    const known = asked.names.filter((name) => name.startsWith('.') || wordsOf('list').includes(name));
    const q = rowsLine({ verb: 'list', rows: '', expression, names: [...known, 'retained'], by: 'retained', direction: '' });
    return h('a', { href: ctx.href({ q }), title: visible(q) }, cellNode(row[at], column, { href: ctx.href }));
  }
}
