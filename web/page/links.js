// What a cell of an answer leads to, and what else can be asked about what a line is about.

import { askedRows, attributes, attributesOf, isPath, termOf } from './asked_rows.js';
import { isNothing } from './cell.js';
import { literal, nameIs, processLine, verbOf } from './state.js';

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
  ['objects', 'find', 'by retained'], ['list with fields', 'list'], ['by field', 'group'], ['outgoing references', 'show'], ['incoming references', 'inrefs'],
  ['merged paths', 'paths'], ['what all have', 'common'], ['what would be freed', 'retained'],
];
/** Characters of a text that a line names whole. */
const LONGEST = 1000;
/** Verbs whose words are an expression. */
const OF_EXPRESSIONS = ['find', 'list', 'group', 'show', 'inrefs', 'paths', 'common', 'retained', 'trend', 'count'];
/** Verbs that ask the same about a set that was just made. */
const OF_SETS = ['paths', 'retained', 'count', 'common'];

/**
 * The line that a cell leads to; null if nothing says what its value is.
 * @param {Table} table @param {Value[]} row @param {Column} column
 * @param {{snapshots: number | null, processes: boolean | null}} file @returns {string | null}
 */
export function lineOfCell(table, row, column, file) {
  const at = (/** @type {string} */ key) => row[table.columns.findIndex((one) => one.key === key)] ?? null;
  const value = at(column.key);
  if (!value || isNothing(value) || (value.value === '' && value.kind !== 'name')) return null;
  if (column.key === 'site' || column.key === 'function') return at('site')?.kind === 'number' ? `site ${at('site')?.value}` : null;
  // What a set has in common: attributes and fields.
  const key = column.key === 'value' && at('objects') ? at('key')?.value : column.key.startsWith('.') && value.kind === 'name' && isPath(column.key) ? column.key : null;
  const term = key && key !== 'root' && file.snapshots && (attributesOf('groups').some(({ words }) => words[0] === key) || isPath(key)) ? termOf(key, value) : null;
  if (term) return `find ${term} by retained`;
  if (!['text', 'name', 'line'].includes(value.kind)) return null;
  if (file.processes && (at('process') || !file.snapshots)) return processesLine(column, value.value, at);
  return file.snapshots ? lineOfHeap(value, column, at) : null;
}

/** The process of a column, or the processes of which an expression says what it says. @param {Column} column @param {string} text @param {(key: string) => Value | null} at @returns {string | null} */
function processesLine({ key, heading }, text, at) {
  const process = key === '' && heading === 'process' ? at('process')?.value : key === 'parent' ? text : null;
  if (process) return processLine(process);
  // What only the other recording has is not asked of this one.
  const before = at('processes_before')?.kind;
  // Nor is the class of all, or that of a process before its first program.
  if (before === 'none' || (key === 'class' && (text === '(all)' || (at('event') && text === 'UNKNOWN')))) return null;
  if (key === 'exit') return at('signal')?.kind === 'number' ? `find signal = ${at('signal')?.value}` : at('exit_code')?.kind === 'number' ? `find exit = ${at('exit_code')?.value}` : null;
  const all = at('arguments');
  if (key === 'command_line' && all?.kind === 'list') return argumentsLine(all.value.map((/** @type {Value} */ one) => one.value).join(' '));
  // A command with arguments, as a shell takes it.
  if (['command', 'command_line'].includes(key) && (before || /\s/.test(text))) return /["'\\$]/.test(text) ? null : argumentsLine(text, before && text.includes('*') ? '~' : '=');
  const word = key === 'unit' ? 'class.unit' : key;
  const isKey = key === 'unit' || attributes.processes.some((attribute) => attribute.groups && attribute.words[0] === key);
  return isKey && isWhole(text) ? `find ${nameIs(word, text)}` : null;
}

/** @param {string} all @param {string} [how] */
function argumentsLine(all, how = '=') {
  return isWhole(all) ? `find arguments ${how} ${literal(all)}` : null;
}

/** Whether a line can name a text: longer ones are cut. @param {string} text */
function isWhole(text) {
  return text.length < LONGEST && !/[\0\r\n]/.test(text);
}

/** @param {Value} value @param {Column} column @param {(key: string) => Value | null} at another value of its row @returns {string | null} */
function lineOfHeap(value, { key, heading }, at) {
  const roots = key === 'root' || (key === 'value' && at('key')?.value === 'root') ? value.value : key === '' ? at('roots')?.value : null;
  if (roots) return `roots ${literal(roots)}`;
  const id = (/** @type {string} */ name) => (at(name)?.kind === 'number' ? at(name)?.value : null);
  const object = ['key', 'value'].map((one) => (one === key ? at(`${key}_object`) : null)).find(Boolean);
  if (object) return object.kind === 'number' ? `info @${object.value}` : null;
  switch (key) {
    case 'type': return objectsLine(value, at('kind'));
    case 'declared_by': return objectsLine(value, null);
    case '': return heading === 'type' ? titleLine(at, id) : null;
    // Roots that dominate an object are among its dominators.
    case 'dominated_by': return id('object') !== null && id('immediate_dominator') === null ? `idom @${id('object')}` : null;
    case 'group': return at('object')?.kind === 'number' ? objectsLine(value, null) : null;
    case 'class': return at('loaders') ? objectsLine(value, null) : null;
    case 'category': return at('roots') ? `roots ${literal(value.value)}` : null;
    case 'thread': return stackLine(value.value);
    case 'frame': return frameLine(at('thread'), id('thread_number'), value);
    case 'name': return at('classes') ? id('object') === null ? null : `info @${id('object')}` : at('cpu_time_ns') || at('allocated_bytes') ? at('roots')?.kind === 'none' ? null : stackLine(`${at('thread')?.value ?? value.value}`) : value.kind === 'name' ? findLine(key, value) : null;
    // The row without an object is about types that have no loader.
    case 'loader': return !at('classes') ? findLine(key, value) : id('object') !== null ? objectsLine(value, null) : at('object') ? 'find not loader ~ "*" by retained' : null;
    case 'source_file': return findLine('file', value);
    case 'file': return at('object') ? findLine(key, value) : null;
    case 'text': case 'line': case 'package': case 'superclass': case 'kind': return findLine(key, value);
    default: return null;
  }
}

/** The title of an object, or of all roots, which are neither an object nor a group; several objects have no type.
 *  @param {(key: string) => Value | null} at @param {(key: string) => number | null} id */
function titleLine(at, id) {
  if (id('object') !== null || (!at('object') && id('example') !== null)) return mergedLine(at) ?? objectsLine(at('type'), at('kind'));
  // With a depth it is the top of the tree that is shown.
  return at('object')?.kind === 'none' && at('roots')?.kind === 'none' && !at('depth') ? 'dominators' : null;
}

/** The class or module that a row of merged paths stands for. @param {(key: string) => Value | null} at */
function mergedLine(at) {
  const [title, type, kind] = ['title', 'type', 'kind'].map((key) => at(key)?.value ?? '');
  return isNamed(title, type, kind) ? `find ${nameIs('name', title.slice(kind.length + 1))} and kind = ${literal(kind)} by retained` : null;
}

/** Whether a title is that of a class or a module with a name. @param {string} title @param {string} type @param {string} kind */
export function isNamed(title, type, kind) {
  return title !== type && title.startsWith(`${kind} `) && title !== `${kind} ${type}`;
}

/** The objects of which an expression says by a word what their column says. @param {string} word @param {Value} value */
function findLine(word, value) {
  return `find ${nameIs(word, value.value)} by retained`;
}

/** The frames of a thread as a question. @param {string} name */
export function stackLine(name) {
  return `stack ${/^[\w.-]+$/.test(name) ? name : literal(name)}`;
}

/** What a frame of a thread holds. Several threads may have one name. @param {Value | null} thread @param {number | null} number @param {Value} frame @returns {string | null} null if no line can name the frame */
function frameLine(thread, number, frame) {
  return thread?.kind === 'text' && isWhole(frame.value) ? `${stackLine(`${number ?? thread.value}`)} --frame ${literal(frame.value)}` : null;
}

/** The steps of the path of types in a row, without the rounds below a cycle's first step; those that the answer does not name lead nowhere. @param {Table} table @param {Value[]} row @returns {Step[]} */
export function stepsOf(table, row) {
  const [shown, named] = ['shown_path', 'steps'].map((key) => row[table.columns.findIndex((column) => column.key === key)]);
  return (shown?.kind === 'path' ? shown.value.slice(0, named?.value?.length || undefined) : []).map((/** @type {string} */ text, /** @type {number} */ at) => {
    const of = (/** @type {string} */ key) => named?.value?.[at]?.value.find((/** @type {import('./ask.js').Fact} */ { column }) => column.key === key)?.value.value ?? null;
    return { text, roots: of('roots'), type: of('type'), kind: of('kind'), name: of('name') };
  });
}

/** The expression of the objects of a step. @param {Pick<Step, 'type' | 'kind' | 'name'>} step */
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

/** Objects as a part of a longer expression. What begins with a kind is none. @param {string} expression */
export function partOf(expression) {
  return isTerm(expression) && !/^@\d+$/.test(expression) ? `(${expression})` : expression;
}

/**
 * The sets after these objects were added to one of them, or to a new one. What begins with a kind has a name of its own before.
 * @param {string[]} lets @param {string | null} name null: a new set @param {string} expression @returns {string[]}
 */
export function withAdded(lets, name, expression) {
  const before = lets.find((set) => name !== null && setName(set) === name);
  if (before === undefined) return [...lets, `${freeName(lets)} = ${partOf(expression)}`];
  /** @type {string[]} */
  const made = [];
  const parts = [expressionOf(before), expression].map((one) => {
    if (isTerm(one)) return partOf(one);
    made.push(`${freeName([...lets, ...made])} = ${one}`);
    return setName(made[made.length - 1]);
  });
  return lets.flatMap((set) => (set === before ? [...made, `${name} = ${parts.join(' or ')}`] : [set]));
}

/** What a set and another one make as a new set: the expression, and the change that has it. @param {import('./state.js').State} state @param {string} name @param {{snapshots: number | null}} file */
export function combined({ q, lets }, name, { snapshots }) {
  const made = freeName(lets);
  const line = !snapshots ? `find ${made}` : OF_SETS.includes(verbOf(q)) ? `${verbOf(q)} ${made}` : `find 100 ${made} by retained`;
  return lets.map(setName).filter((other) => other && other !== name)
    .flatMap((other) => ['and', 'or', 'and not'].map((word) => `${name} ${word} ${other}`))
    .map((expression) => ({ expression, line, made, lets: [...lets, `${made} = ${expression}`] }));
}

/** The sets without one of them: those that it is a part of have its expression instead, or are gone too if that begins with a kind. @param {string[]} lets @param {string} set @returns {string[]} */
export function withoutSet(lets, set) {
  const [name, expression] = [setName(set), expressionOf(set)];
  const inserted = (/** @type {string} */ other) => other.replace(/"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\$[\p{L}\p{N}_]+/gu, (word) => (word === name ? `(${expression})` : word));
  const gone = isTerm(expression) ? undefined : lets.find((other) => other !== set && inserted(other) !== other);
  if (gone !== undefined) return withoutSet(withoutSet(lets.filter((other) => other !== set), gone), set);
  return lets.filter((other) => other !== set).map(inserted);
}

/** Whether an expression begins with a comparison, an object or a set, and so with no kind. @param {string} expression */
function isTerm(expression) {
  return /^([($@.]|(not|is)\b|\w+(\s*[=!<>~]|\s+in\b))/i.test(expression);
}

/** The first name that no set has. @param {string[]} lets */
export function freeName(lets) {
  const names = [...'abcdefghijklmnopqrstuvwxyz'].map((letter) => `$${letter}`);
  return names.find((name) => !lets.some((set) => setName(set) === name)) ?? `$set${lets.length}`;
}

/** The expression of a set. @param {string} set such as `$a = size > 1K` */
function expressionOf(set) {
  return set.replace(/^[^=]*=\s*/, '');
}

/** The name of a set. @param {string} set such as `$a = size > 1K` */
export function setName(set) {
  return set.match(/^\$[^\s=]+/)?.[0] ?? '';
}
