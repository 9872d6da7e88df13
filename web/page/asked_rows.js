// What a line of `list` or `group` asks, both ways: the objects, the columns or keys, and the order.

import { literal, nameIs, verbOf } from './state.js';

/** @typedef {import('./ask.js').Column} Column */
/** @typedef {import('./ask.js').Value} Value */
/** @typedef {import('./ask.js').Table} Table */
/**
 * @typedef {object} AskedRows
 * @property {'list' | 'group'} verb
 * @property {string} rows how many, as typed; empty unless told
 * @property {string} expression which objects, the kind among it; empty for all
 * @property {string[]} names columns of `list`, keys of `group`
 * @property {string} by the column or the total that orders the rows; empty unless told
 * @property {'' | 'asc' | 'desc'} direction
 */

/**
 * An attribute, as /api/verbs tells it.
 * @typedef {object} Attribute
 * @property {string[]} words the usual one first
 * @property {string} document
 * @property {string} key of the column that shows it
 * @property {boolean} lists whether it is a column of `list`
 * @property {boolean} groups whether it is a key of `group`
 * @property {boolean} totals whether groups may be in its order
 */
/** The attributes, once the server has told them. @type {{objects: Attribute[], processes: Attribute[]}} */
export const attributes = { objects: [], processes: [] };

/** The attributes of objects that a part of a line takes. @param {'lists' | 'groups' | 'totals'} part */
export function attributesOf(part) {
  return attributes.objects.filter((attribute) => attribute[part]);
}

/** The usual word for an order of groups; undefined if the word names none. @param {string} name */
export function totalNamed(name) {
  return attributesOf('totals').find(({ words }) => words.includes(name))?.words[0];
}

/** Words of a line with their quotes, as the prompt divides them. @param {string} line @returns {string[]} */
export function rawWords(line) {
  /** @type {string[]} */
  const words = [];
  let [word, quote, last] = ['', '', ''];
  for (let at = 0; at < line.length; at += 1) {
    const c = line[at];
    if (quote === '' && /\s/.test(c)) {
      if (word) words.push(word);
      word = '';
      continue;
    }
    word += c;
    if (quote !== '') {
      if (c === '\\' && at + 1 < line.length) word += line[at += 1];
      else if (c === quote) quote = '';
    } else if (c === '"' || c === "'" || (c === '/' && last === '~')) {
      quote = c;
    }
    last = c;
  }
  return word ? [...words, word] : words;
}

/** Whether the next word belongs to this one, and is none of the line. @param {string | undefined} word */
function goesOn(word) {
  return word !== undefined && !/["'/]$/.test(word) && (/[=~<>!&|(-]$/.test(word) || /^(and|or|not|in)$/i.test(word));
}

/** @param {string} line @returns {AskedRows} */
export function askedRows(line) {
  const verb = verbOf(line) === 'group' ? 'group' : 'list';
  const words = rawWords(line).slice(1);
  const place = (/** @type {string} */ name, /** @type {number} */ from) => {
    const at = words.findIndex((word, index) => index >= from && word === name && !goesOn(words[index - 1]));
    return at < 0 ? words.length : at;
  };
  const begin = verb === 'list' ? place('of', 0) : place('by', 0);
  const rows = begin > 0 && /^\d+$/.test(words[0] ?? '') ? words[0] : '';
  const expression = words.slice(rows ? 1 : 0, begin).join(' ');
  const names = (/** @type {string[]} */ of) => of.join(',').split(',').filter(Boolean);
  if (verb === 'list') {
    const by = place('by', begin);
    const direction = /^(asc|desc)$/.test(words[by + 2] ?? '') ? /** @type {'asc' | 'desc'} */ (words[by + 2]) : '';
    return { verb, rows, expression, names: names(words.slice(begin + 1, by)), by: words[by + 1] ?? '', direction };
  }
  const all = names(words.slice(begin).filter((word) => word !== 'by'));
  return { verb, rows, expression, names: all.filter((name) => !totalNamed(name)), by: all.map(totalNamed).findLast(Boolean) ?? '', direction: '' };
}

/** The line that asks this. @param {AskedRows} asked */
export function rowsLine({ verb, rows, expression, names, by, direction }) {
  const order = by ? ['by', by, verb === 'list' ? direction : ''] : [];
  const of = names.length > 0 ? [verb === 'list' ? 'of' : 'by', names.join(verb === 'list' ? ', ' : ',')] : [];
  return [verb, rows, expression.trim(), ...of, ...order].filter(Boolean).join(' ');
}

/** Whether a text is the path of a field that a line can name. @param {string} text */
export function isPath(text) {
  return text.length < 1000 && /^(\.([^\s.,"'()=!~<>&|]+|"([^",\\]|\\.)+"))+$/.test(text);
}

/**
 * The objects of a row of groups, as an expression; null if none says it.
 * @param {AskedRows} asked @param {Table} table @param {Value[]} row
 */
export function objectsOf(asked, table, row) {
  const terms = asked.names.map((name) => {
    const at = table.columns.findIndex((column) => column.key === name);
    return at < 0 ? null : termOf(name, row[at]);
  });
  if (terms.length === 0 || terms.includes(null)) return null;
  // `all` stands alone, and only `or` binds less than `and`.
  const all = asked.expression === 'all' ? '' : /\bor\b|\|/i.test(asked.expression) ? `(${asked.expression})` : asked.expression;
  return [all, ...terms].filter(Boolean).join(' and ');
}

/** What a key of a group says, as an expression. @param {string} name @param {Value} value @returns {string | null} */
export function termOf(name, value) {
  const { kind } = value;
  // Longer texts are cut.
  const isWhole = (/** @type {string} */ text) => text.length < 1000 && !/[\0\r\n]/.test(text);
  if (name === 'type' && kind === 'text') return nameIs('type', value.value);
  if (!name.startsWith('.') && kind !== 'number') return (kind === 'text' || kind === 'name') && isWhole(value.value) ? nameIs(name, value.value) : null;
  switch (kind) {
    case 'number': case 'signed': case 'rate': return `${name} = ${value.value}`;
    case 'measured': return `${name} = ${value.value.value}`;
    case 'truth': return `${name} = ${value.value}`;
    case 'absent': return ['missing', 'no_field'].includes(value.value) ? null : `${name} = ${value.value}`;
    case 'name': return isWhole(value.value) ? `${name} = ${literal(value.value)}` : null;
    default: return null;
  }
}
