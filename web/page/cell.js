// One value of an answer: by its kind and its unit, as text and as what is shown.

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
/** What it means that a field has no value. @type {Record<string, {word: string, title: string}>} */
const ABSENT = {
  missing: { word: '', title: '' },
  no_field: { word: '(no such field)', title: 'objects of this type have no such field, or the map no such key' },
  unknown: { word: 'unknown', title: 'what the field holds was not recorded' },
  null: { word: 'null', title: 'the field holds nothing' },
  undefined: { word: 'undefined', title: 'the field holds `undefined`' },
};
/** Steps of a path that are shown at its beginning and its end. */
const [FIRST_STEPS, LAST_STEPS] = [2, 4];

/** Controls, and what has no width or changes the direction of text; also halves of characters. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}\u180e\u115f\u1160\u3164\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]/gu;

/** A text with each hidden character written out, such as `\u{1b}`. @param {string} text */
export function visible(text) {
  return text.replace(HIDDEN, (c) => {
    const named = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }[c];
    return named ?? `\\u{${/** @type {number} */ (c.codePointAt(0)).toString(16)}}`;
  });
}

/** `1234567` as `1,234,567`. @param {number | string} number */
export function grouped(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** Bytes in binary units: `12.3 MiB`. @param {number} bytes */
export function size(bytes) {
  const units = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
  if (bytes < 1024) return `${bytes} B`;
  let unit = 0;
  let value = bytes / 1024;
  while (value >= 1023.95 && unit + 1 < units.length) {
    value /= 1024;
    unit += 1;
  }
  return `${fixed(value, 1)} ${units[unit]}`;
}

/**
 * A number with decimals, as at a terminal: of two that are as near, the even one. `toFixed` takes the larger one.
 * @param {number} number @param {number} decimals
 */
function fixed(number, decimals) {
  const power = 10 ** decimals;
  const scaled = Math.abs(number) * power;
  const isHalf = Number.isInteger(number * 2 ** (decimals + 1)) && scaled % 1 === 0.5;
  return (isHalf ? (Math.sign(number) * 2 * Math.round(scaled / 2)) / power : number).toFixed(decimals);
}

/** Bytes per something: `+1.5 KiB`. @param {number} bytes */
function rate(bytes) {
  const sign = bytes < 0 ? '-' : '+';
  const magnitude = Math.abs(bytes);
  if (magnitude === 0) return '0 B';
  if (magnitude < 0.005) return `${sign}< 0.01 B`;
  if (magnitude < 10 && magnitude % 1 !== 0) return `${sign}${fixed(magnitude, 2)} B`;
  return sign + size(Math.round(magnitude));
}

/** Nanoseconds as `1.25 s`; short times as `1.25 ms` and `12.5 µs`. @param {number} ns */
export function duration(ns) {
  if (ns > 0 && ns < 1e5) return `${fixed(ns / 1e3, 1)} µs`;
  return ns > 0 && ns < 1e7 ? `${fixed(ns / 1e6, 2)} ms` : `${fixed(ns / 1e9, 2)} s`;
}

/** A share as `12.3 %`. @param {number} share */
function shareText(share) {
  return `${fixed(share * 100, 1)} %`;
}

/** A number that need not be whole; one that would have many zeros with an exponent. @param {number} number */
function real(number) {
  const amount = Math.abs(number);
  if (amount !== 0 && !(amount >= 1e-5 && amount < 1e16)) return number.toExponential().replace('e+', 'e');
  return Object.is(number, -0) ? '-0' : String(number);
}

/** Units of times and their nanoseconds. @type {Record<string, number>} */
const TIMES = { s: 1e9, ms: 1e6, µs: 1e3, ns: 1 };

/** A measured number with its unit: `19.32 ns`, `8.5 MiB`, `1,234`. @param {number} value @param {string} unit @param {number} [digits] significant ones */
export function measured(value, unit, digits = 4) {
  const [sign, amount] = [value < 0 ? '-' : '', Math.abs(value)];
  if (unit === 'ns') {
    // Less is a rest of arithmetic: quantiles are weighted means.
    return sign + (amount < 1e-3 ? '0 ns' : inTime(amount, Object.keys(TIMES).find((one) => amount >= TIMES[one]) ?? 'ns', digits));
  }
  if (unit === 'bytes' && amount < 1e15) return sign + (Number.isInteger(amount) || amount >= 1024 ? size(Math.round(amount)) : `${significant(amount, digits)} B`);
  return sign + significant(amount, digits) + (unit ? ` ${visible(unit.slice(0, 30))}` : '');
}

/** @param {number} ns @param {string} name a unit of times @param {number} digits */
function inTime(ns, name, digits) {
  return `${significant(ns / TIMES[name], digits)} ${name}`;
}

/** A difference with its sign. @param {number} value @param {string} unit */
export function difference(value, unit) {
  return (value > 0 ? '+' : '') + measured(value, unit);
}

/** A number of so many significant digits; a whole one has all of its digits. @param {number} amount @param {number} digits */
function significant(amount, digits) {
  if (Number.isInteger(amount) && amount < 1e15) return grouped(amount);
  if (amount < 1e-4 || amount >= 1e15) return amount.toExponential(digits - 1).replace('e+', 'e');
  // Digits are counted after rounding: 0.99999 becomes 1.
  const whole = Number(amount.toExponential(digits - 1).split('e')[1]) + 1;
  if (whole >= digits) return grouped(Math.round(amount));
  const [left, right] = fixed(amount, digits - whole).split('.');
  return `${grouped(left)}.${right}`;
}

/** @typedef {{value: number, unit: string, is_difference: boolean, time_unit: string | null}} Measured */

/** A measured number in the unit of times that was asked for, if one was. @param {Measured} measured */
function measuredText({ value, unit, is_difference, time_unit }) {
  if (time_unit === null) return is_difference ? difference(value, unit) : measured(value, unit);
  return (value < 0 ? '-' : is_difference && value > 0 ? '+' : '') + inTime(Math.abs(value), time_unit, 4);
}

/** A number by its unit. @param {number | string} number @param {string} unit */
export function numberText(number, unit) {
  switch (unit) {
    case 'bytes': return size(Number(number));
    case 'count': return grouped(number);
    case 'object': return `@${number}`;
    case 'address': return `0x${BigInt(number).toString(16)}`;
    case 'duration': return duration(Number(number));
    case 'share': return shareText(Number(number));
    default: return String(number);
  }
}

/** A signed difference. @param {number | string} difference @param {string} unit */
function changeText(difference, unit) {
  const digits = String(difference);
  if (digits === '0') return '0';
  const magnitude = digits.replace('-', '');
  return (digits.startsWith('-') ? '-' : '+') + (unit === 'bytes' ? size(Number(magnitude)) : grouped(magnitude));
}

/**
 * A value as text, hidden characters written out. None is an empty text, an estimate has a `~`.
 * @param {Value} value @param {Pick<Column, 'unit'>} column @returns {string}
 */
export function text(value, column) {
  const of = value.value;
  switch (value.kind) {
    case 'none': return '';
    case 'text':
    case 'line': return visible(of);
    // In quotes, with its own quotes and what is hidden written out.
    case 'name': return `"${visible(of.replaceAll('\\', '\\\\').replaceAll('"', '\\"'))}"`;
    case 'path': return of.map(visible).join(' › ');
    case 'number': return numberText(of, column.unit);
    case 'estimate': return `~${numberText(of, column.unit)}`;
    case 'change': return changeText(of, column.unit);
    case 'share': return shareText(of);
    case 'estimated_share': return `~${shareText(of)}`;
    case 'rate': return of === null ? '' : column.unit === 'bytes' ? rate(of) : real(of);
    case 'measured': return measuredText(of);
    case 'decimal': return fixed(of.value, of.decimals);
    case 'flag': return of ? 'yes' : 'no';
    case 'signed': return String(of);
    case 'truth': return String(of);
    case 'object': return visible(of.text);
    case 'absent': return ABSENT[of].word;
    case 'series': return of.numbers.map((/** @type {number | null} */ one) => (one === null ? '' : numberText(one, of.unit))).join(', ');
    case 'bar': return grouped(of.length);
    case 'load': return of.map(shareText).join(', ');
    case 'lane': return of.map((/** @type {any} */ one) => text({ kind: 'mark', value: one }, column)).join(', ');
    case 'mark': return of === 'nothing' ? '' : String(of.rank ?? of);
    case 'list': return of.map((/** @type {Value} */ one) => text(one, column)).join(', ');
    case 'record':
      return of.map((/** @type {Fact} */ fact) => `${visible(fact.column.heading)}: ${text(fact.value, fact.column)}`).join(', ');
    default: return visible(JSON.stringify(value));
  }
}

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
  const name = ctx.snapshot === null || ctx.snapshot === undefined ? `@${id}` : `${ctx.snapshot}:@${id}`;
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

/** A text of a dump: isolated, visible, cut at 200 characters with the whole on demand. @param {string} name */
export function nameNode(name) {
  const first = name.length <= LONGEST ? name : [...name.slice(0, 2 * LONGEST)].slice(0, LONGEST).join('');
  if (first.length === name.length) return h('bdi', null, visible(name));
  const start = visible(first);
  const shown = h('bdi', null, `${start}…`);
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
 * The steps of a path from the roots: both ends stay, the middle on demand. A step may be any node.
 * @param {(string | Node)[]} steps
 */
export function pathNode(steps) {
  const path = h('span', { class: 'path' });
  const nodes = steps.map((step) => h('span', { class: 'step' }, typeof step === 'string' ? nameNode(step) : step));
  const hidden = nodes.length - FIRST_STEPS - LAST_STEPS;
  const between = () => h('span', { class: 'between', 'aria-hidden': 'true' }, ' › ');
  const show = (/** @type {boolean} */ isWhole) => {
    path.replaceChildren();
    nodes.forEach((node, at) => {
      const isHidden = !isWhole && hidden > 1 && at >= FIRST_STEPS && at < FIRST_STEPS + hidden;
      if (isHidden && at > FIRST_STEPS) return;
      if (at > 0) path.append(between());
      path.append(isHidden ? more() : node);
    });
  };
  const more = () => h('button', {
    class: 'more', type: 'button', title: `${hidden} more steps`, 'aria-label': `show ${hidden} more steps`,
    onclick: (/** @type {Event} */ event) => { event.stopPropagation(); show(true); },
  }, `… ${hidden} …`);
  show(false);
  return path;
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
