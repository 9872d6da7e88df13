// One value of an answer as what is shown, by its kind and its unit.

import { ABSENT, foldsOf, visible, grouped, text } from './value_text.js';
import { h } from './dom.js';
import { pictureNode } from './picture.js';
import { processLine } from './state.js';

/** @typedef {import('./ask.js').Value} Value */
/** @typedef {import('./ask.js').Column} Column */
/** @typedef {import('./ask.js').Fact} Fact */
/**
 * What a cell needs to make links: a part of the context of a view.
 * @typedef {object} CellContext
 * @property {(change: import('./state.js').Change) => string} href
 * @property {number | null} [snapshot] the snapshot that the objects of this answer are in
 */

/** Characters of a name that are shown; the rest on demand. */
const LONGEST = 200;
/** Characters of a part of a name that stay on one line. */
const LONGEST_PART = 32;
/** Steps that a click shows. */
const MOST_AT_ONCE = 500;

/** The number of a value for sorting and drawing; NaN if it has none. @param {Value} value */
export function numberOf(value) {
  switch (value.kind) {
    case 'number': case 'estimate': case 'change': case 'share': case 'estimated_share': return Number(value.value);
    case 'rate': return value.value === null ? NaN : value.value;
    case 'measured':
    case 'decimal': return Number(value.value.value);
    case 'signed': return Number(value.value);
    case 'flag': case 'truth': return value.value ? 1 : 0;
    default: return NaN;
  }
}

/** Whether values of a column stand at the right. @param {Column} column */
export function isNumeric(column) {
  return !['text', 'nested', 'object', 'process', 'picture'].includes(column.unit);
}

/** Whether a value is none, or none that is known. @param {Value} value */
export function isNothing(value) {
  return value.kind === 'none' || value.kind === 'absent';
}

/** Whether people see a column or a table. @param {{audience: string}} of */
export function forPeople(of) {
  return of.audience !== 'machines';
}

/**
 * What is shown of a value.
 * @param {Value} value @param {Pick<Column, 'unit'>} column @param {CellContext} ctx @returns {Node}
 */
export function cellNode(value, column, ctx) {
  switch (value.kind) {
    case 'none': return document.createTextNode('');
    case 'line': return nameNode(value.value);
    // In quotes, so that it is no number, no word of our own, and is seen if it is empty.
    case 'name': return h('span', { class: 'quoted' }, '"', nameNode(value.value), '"');
    case 'text': return value.value === '' ? document.createTextNode('') : column.unit === 'process' ? processLink(value.value, ctx) : nameNode(value.value);
    case 'path': return pathNode(value.value);
    case 'object': return heldNode(value.value, ctx);
    case 'absent': return value.value === 'missing' ? document.createTextNode('') : h('span', { class: 'absent', title: ABSENT[value.value].title }, ABSENT[value.value].word);
    case 'number': return column.unit === 'object' ? objectLink(value.value, ctx) : number(value, column);
    case 'estimate':
    case 'estimated_share': return h('span', { class: 'number estimate', title: 'an estimate' }, text(value, column));
    case 'change':
    case 'rate': return changeNode(value, column);
    case 'list': return listNode(value.value, column, ctx);
    case 'record': return recordNode(value.value, ctx);
    default: return pictureNode(value) ?? number(value, column);
  }
}

/** @param {Value} value @param {Pick<Column, 'unit'>} column */
function number(value, column) {
  const node = h('span', { class: 'number' }, text(value, column));
  if (column.unit === 'bytes' && numberOf(value) >= 1024) node.title = `${grouped(value.value)} bytes`;
  return node;
}

/** A difference: its sign and an arrow say what its colour says. @param {Value} value @param {Pick<Column, 'unit'>} column */
function changeNode(value, column) {
  const signed = column.unit === 'bytes' || value.kind === 'change';
  const direction = !signed || !(numberOf(value) !== 0) ? '' : numberOf(value) > 0 ? ' up' : ' down';
  const node = h('span', { class: `number change${direction}` }, text(value, column));
  if (column.unit === 'bytes') node.title = `${value.value} bytes`;
  return node;
}

/** A link to an object of a snapshot. @param {number | string} id @param {CellContext} ctx @param {string} [label] */
export function objectLink(id, ctx, label) {
  const name = ctx.snapshot == null ? `@${id}` : `${ctx.snapshot}:@${id}`;
  return h('a', { class: 'object', href: ctx.href({ q: `info ${name}` }), title: `info ${name}` }, label ?? `@${id}`);
}

/** An object that a field holds, `@12 java.util.HashMap`. @param {{id: number, text: string}} held @param {CellContext} ctx */
function heldNode({ id, text }, ctx) {
  const name = `@${id}`;
  const rest = text.startsWith(`${name} `) ? text.slice(name.length + 1) : '';
  return h('span', { class: 'held' }, objectLink(id, ctx), rest ? [' ', nameNode(rest)] : null);
}

/** A link to a process. @param {string} name such as `1234:0` @param {CellContext} ctx */
export function processLink(name, ctx) {
  const line = processLine(name);
  return h('a', { class: 'object', href: ctx.href({ q: line }), title: visible(line) }, h('bdi', null, visible(name)));
}

/** A text that lines break after its parts, such as those of a type, and elsewhere only where a part is too long for one. @param {string} text */
export function breakable(text) {
  const parts = text.split(/(?<=[.$/\\_:;,(<-])(?=[^\s])/);
  const nodes = parts.flatMap((part, at) => (at === 0 ? [part] : [h('wbr', null), part]));
  return parts.some((part) => part.split(/\s/).some((word) => word.length > LONGEST_PART)) ? h('span', { class: 'broken' }, nodes) : nodes;
}

/** A text of a dump: isolated, visible, cut at 200 characters with the whole on demand. @param {string} name */
export function nameNode(name) {
  const first = name.length <= LONGEST ? name : [...name.slice(0, 2 * LONGEST)].slice(0, LONGEST).join('');
  if (first.length === name.length) return h('bdi', null, breakable(visible(name)));
  const start = visible(first);
  const shown = h('bdi', { class: 'broken' }, `${start}…`);
  const more = h('button', {
    class: 'more', type: 'button', title: `${grouped(name.length)} characters`, 'aria-expanded': 'false',
    onclick: (/** @type {Event} */ event) => {
      event.stopPropagation();
      const isCut = more.getAttribute('aria-expanded') === 'false';
      shown.textContent = isCut ? visible(name) : `${start}…`;
      more.setAttribute('aria-expanded', String(isCut));
      more.textContent = isCut ? 'less' : 'all';
    },
  }, 'all');
  return h('span', { class: 'long' }, shown, ' ', more);
}

/**
 * The steps of a path from the roots: what repeats is folded, both ends stay, the middle on demand.
 * @param {string[]} steps @param {(at: number) => Node} [nodeOf] what is shown of a step @param {boolean} [isLine] whether lines do not break
 */
export function pathNode(steps, nodeOf = (at) => nameNode(steps[at]), isLine = false) {
  // Steps that stay at both ends, and the most between them that do: a button takes as much room.
  const [first, last, few] = isLine ? [1, 2, 1] : [2, 4, 3];
  const between = () => h('span', { class: 'between', 'aria-hidden': 'true' }, ' › ');
  const node = (/** @type {import('./value_text.js').Fold} */ { start, period, rounds }) => {
    const round = Array.from({ length: period }, (_, at) => [at > 0 ? between() : null, nodeOf(start + at)]);
    const [open, end] = period > 1 && rounds > 1 ? '()' : ['', ''];
    return h('span', { class: 'step' }, open, round, end, rounds > 1 ? ` × ${grouped(rounds)}` : null);
  };
  const folds = foldsOf(steps);
  const isLong = folds.length > first + last + few;
  const rest = isLong ? folds.splice(first, folds.length - first - last) : [];
  const count = () => `… ${grouped(rest.reduce((sum, { period, rounds }) => sum + period * rounds, 0))} ${isLine ? '' : 'more steps '}…`;
  const nodes = folds.map((fold, at) => [at > 0 && !(isLong && at === first) ? between() : null, node(fold)]);
  if (isLong) nodes.splice(first, 0, [between(), moreOf(h('span', null, h('span', null), between()), rest, (fold) => [node(fold), between()], count)]);
  return h('span', { class: 'path' }, nodes);
}

/**
 * Puts a button into a place that stands for what is not shown: it shows some hundred more before the place, which is gone after the last.
 * @template T @template {HTMLElement} P
 * @param {P} place @param {T[]} rest @param {(one: T) => HTMLElement[]} draw @param {() => string} label
 */
export function moreOf(place, rest, draw, label) {
  const button = h('button', { class: 'more', type: 'button', onclick: (/** @type {Event} */ event) => {
    event.stopPropagation();
    const nodes = rest.splice(0, MOST_AT_ONCE).flatMap(draw);
    place.before(...nodes);
    button.textContent = label();
    // The first of them has the focus: the button may be gone.
    const first = /** @type {HTMLElement} */ (nodes[0].querySelector('a, button') ?? nodes[0]);
    if (first === nodes[0]) first.tabIndex = -1;
    first.focus();
    if (rest.length === 0) place.remove();
  } }, label());
  (place.firstElementChild ?? place).prepend(button);
  return place;
}

/** @param {Value[]} values @param {Pick<Column, 'unit'>} column @param {CellContext} ctx */
function listNode(values, column, ctx) {
  if (values.length === 0) return document.createTextNode('');
  if (values.every((value) => ['number', 'estimate', 'none', 'rate', 'change', 'measured', 'decimal'].includes(value.kind))) {
    return nameNode(values.map((value) => text(value, column) || '–').join(', '));
  }
  const item = (/** @type {Value} */ value) => h('li', null, cellNode(value, column, ctx));
  const list = h('ul', { class: 'nested' }, values.slice(0, 20).map(item));
  if (values.length <= 20) return list;
  const details = h('details', { class: 'nested' }, h('summary', null, `${grouped(values.length - 20)} more`));
  details.addEventListener('toggle', () => {
    if (details.childElementCount === 1) details.append(h('ul', { class: 'nested' }, values.slice(20, 2000).map(item)));
  });
  return h('div', null, list, details);
}

/** @param {Fact[]} fields @param {CellContext} ctx */
function recordNode(fields, ctx) {
  const known = fields.filter(({ value }) => value.kind !== 'none');
  return h('span', { class: 'record' }, known.map(({ column, value }) => h('span', { class: 'field' },
    h('span', { class: 'key' }, visible(column.heading)), ' ', cellNode(value, column, ctx))));
}
