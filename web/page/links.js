// What a cell of an answer leads to, and what else can be asked about what a line is about.

import { askedRows, attributes } from './asked_rows.js';
import { isNothing } from './cell.js';
import { literal, nameIs, verbOf } from './state.js';

/** @typedef {import('./ask.js').Table} Table */
/** @typedef {import('./ask.js').Column} Column */
/** @typedef {import('./ask.js').Value} Value */
/** @typedef {{label: string, line: string}} Further */
/** A step of a path of types: its text and what it names. @typedef {{text: string, roots: string | null, type: string | null, kind: string | null, name: string | null}} Step */

/** What one object is asked for. @type {[string, string][]} */
const ABOUT_OBJECT = [
  ['object', 'info'], ['outgoing references', 'show'], ['incoming references', 'inrefs'], ['path from a root', 'path'], ['dominators', 'idom'],
  ['tree from here', 'dominators'], ['what would be freed', 'retained'],
];
/** What all objects of an expression are asked for, and the words after it. @type {[string, string, string?][]} */
const ABOUT_OBJECTS = [
  ['objects', 'find', 'by retained'], ['list with fields', 'list'], ['by field', 'group'], ['merged paths', 'paths'], ['what would be freed', 'retained'],
];
/** Characters of a text that a line names whole. */
const LONGEST = 1000;
/** Verbs whose words are an expression. */
const OF_EXPRESSIONS = ['find', 'list', 'group', 'paths', 'retained', 'trend', 'count'];

/**
 * The line that a cell leads to; null if nothing says what its value is.
 * @param {Table} table @param {Value[]} row @param {Column} column
 * @param {{snapshots: number | null, processes: boolean | null}} file @returns {string | null}
 */
export function lineOfCell(table, row, column, file) {
  const at = (/** @type {string} */ key) => row[table.columns.findIndex((one) => one.key === key)] ?? null;
  const value = at(column.key);
  if (!value || isNothing(value) || value.value === '' || !['text', 'name', 'number'].includes(value.kind)) return null;
  if (column.key === 'site' || column.key === 'function') return at('site')?.kind === 'number' ? `site ${at('site')?.value}` : null;
  if (value.kind === 'number') return null;
  if (file.processes && (at('process') || !file.snapshots)) return processesLine(column.key, value.value);
  return file.snapshots ? lineOfHeap(value, column, at) : null;
}

/** The processes of which an expression says what a column says. @param {string} key @param {string} text @returns {string | null} */
function processesLine(key, text) {
  const isKey = attributes.processes.some((attribute) => attribute.groups && attribute.words[0] === key);
  return isKey && isWhole(text) ? `find ${nameIs(key, text)}` : null;
}

/** Whether a line can name a text: longer ones are cut. @param {string} text */
function isWhole(text) {
  return text.length < LONGEST && !/[\0\r\n]/.test(text);
}

/** @param {Value} value @param {Column} column @param {(key: string) => Value | null} at another value of its row @returns {string | null} */
function lineOfHeap(value, { key, heading }, at) {
  switch (key) {
    case 'type': return objectsLine(value, at('kind'));
    case 'declared_by': return objectsLine(value, null);
    // The title of an object; that of roots, or of several objects, has no type.
    case '': return heading === 'type' && at('object')?.kind === 'number' ? objectsLine(at('type'), at('kind')) : null;
    case 'class': return at('loaders') ? objectsLine(value, null) : null;
    case 'category': return at('roots') ? `roots ${literal(value.value)}` : null;
    case 'thread': return stackLine(value.value);
    case 'frame': return frameLine(at('thread'), value);
    case 'name': return at('cpu_time_ns') || at('allocated_bytes') ? stackLine(value.value) : value.kind === 'name' ? findLine(key, value) : null;
    case 'loader': return at('classes') ? null : findLine(key, value);
    case 'text': case 'package': case 'superclass': case 'kind': return findLine(key, value);
    default: return null;
  }
}

/** The objects of which an expression says by a word what their column says. @param {string} word @param {Value} value */
function findLine(word, value) {
  return `find ${nameIs(word, value.value)} by retained`;
}

/** The frames of a thread as a question. @param {string} name */
export function stackLine(name) {
  return `stack ${/^[\w.-]+$/.test(name) ? name : literal(name)}`;
}

/** What a frame of a thread holds. @param {Value | null} thread @param {Value} frame @returns {string | null} null if no line can name the frame */
function frameLine(thread, frame) {
  return thread?.kind === 'text' && isWhole(frame.value) ? `${stackLine(thread.value)} --frame ${literal(frame.value)}` : null;
}

/** The steps of the path of types in a row, without the rounds below a cycle's first step; those that the answer does not name lead nowhere. @param {Table} table @param {Value[]} row @returns {Step[]} */
export function stepsOf(table, row) {
  const [shown, named] = ['shown_path', 'steps'].map((key) => row[table.columns.findIndex((column) => column.key === key)]);
  return (shown?.kind === 'path' ? shown.value.slice(0, named?.value?.length || undefined) : []).map((/** @type {string} */ text, /** @type {number} */ at) => {
    const of = (/** @type {string} */ key) => named?.value?.[at]?.value.find((/** @type {import('./ask.js').Fact} */ { column }) => column.key === key)?.value.value ?? null;
    return { text, roots: of('roots'), type: of('type'), kind: of('kind'), name: of('name') };
  });
}

/** The expression of the objects of a step. @param {Step} step */
export function objectsOfStep({ type, kind, name }) {
  if (type !== null) return nameIs('type', type);
  return kind === null || name === null ? null : `kind = ${literal(kind)} and ${nameIs('name', name)}`;
}

/** The line of a step of a path of types: its objects, the largest first; of a group of roots what these dominate. @param {Step} step */
export function lineOfStep(step) {
  const objects = objectsOfStep(step);
  if (step.roots !== null) return `dominators roots ${literal(step.roots)}`;
  return objects === null ? null : `find 100 ${objects} by retained`;
}

/** @param {Value | null} type @param {Value | null} kind */
function objectsLine(type, kind) {
  if (!type || isNothing(type)) return null;
  return `find ${nameIs('type', type.value)}${kind?.kind === 'text' ? ` and kind = ${literal(kind.value)}` : ''} by retained`;
}

/** The object or the expression that a line is about. @param {string} line @returns {{object?: string, expression?: string}} */
export function subjectOf(line) {
  const verb = verbOf(line);
  const rest = line.trim().replace(/^\S+\s*/, '');
  const [object] = rest.match(/^(\d+:)?@\d+(?=\s|$)/) ?? [];
  if (object) return ABOUT_OBJECT.some(([, one]) => one === verb) ? { object } : {};
  if (verb === 'site' && /^\d+$/.test(rest)) return { expression: `site = ${rest}` };
  if (!OF_EXPRESSIONS.includes(verb) || rest === '') return {};
  if (verb === 'list' || verb === 'group') return { expression: askedRows(line).expression };
  return { expression: verb === 'find' ? rest.replace(/^\d+\s+/, '').replace(/\s+by\s+\w+$/, '') : rest };
}

/** What else can be asked. @param {string} line @param {{snapshots: number | null}} file @returns {Further[]} */
export function furtherOf(line, { snapshots }) {
  const { object, expression } = subjectOf(line);
  if (object) return ABOUT_OBJECT.map(([label, verb]) => ({ label, line: `${verb} ${object}` }));
  // Processes are found by expressions, too; other questions about them are their own.
  if (!expression || !snapshots) return [];
  const all = ABOUT_OBJECTS.map(([label, verb, after]) => ({ label, line: [verb, expression, after].filter(Boolean).join(' ') }));
  return snapshots > 1 ? [...all, { label: 'trend', line: `trend ${expression}` }] : all;
}

/** The sets after these objects were added to one of them, or to a new one. @param {string[]} lets @param {string | null} name null: a new set @param {string} term @returns {string[]} */
export function withAdded(lets, name, term) {
  const before = lets.find((set) => name !== null && set.startsWith(`${name} `));
  if (before) return lets.map((set) => (set === before ? `${name} = (${set.slice(`${name} = `.length)}) or ${term}` : set));
  return [...lets, `${freeName(lets)} = ${term}`];
}

/** The first name that no set has. @param {string[]} lets */
export function freeName(lets) {
  const names = [...'abcdefghijklmnopqrstuvwxyz'].map((letter) => `$${letter}`);
  return names.find((name) => !lets.some((set) => setName(set) === name)) ?? `$set${lets.length}`;
}

/** The name of a set. @param {string} set such as `$a = size > 1K` */
export function setName(set) {
  return set.match(/^\$[^\s=]+/)?.[0] ?? '';
}
