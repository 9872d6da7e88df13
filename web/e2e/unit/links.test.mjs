// Cells lead to lines, and lines to what else can be asked.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import './attributes.mjs';
import { empty } from '../../page/state.js';
import { combined, furtherOf, lineOfCell, lineOfStep, stepsOf, subjectOf, withAdded, withoutSet } from '../../page/links.js';

const heap = { snapshots: 2, processes: false };

/** The line of the first cell of a row. @param {Record<string, any>} values @param {object} [file] */
function lineOf(values, file = heap) {
  const columns = Object.keys(values).map((key) => ({ key, heading: key || 'type', unit: 'text', audience: 'everyone', is_secondary: false }));
  const row = Object.values(values).map((value) => (typeof value === 'string' ? { kind: 'text', value } : value));
  return lineOfCell({ key: 'rows', audience: 'everyone', columns, rows: [row] }, row, columns[0], file);
}

test('what a cell says is a line about it', () => {
  const number = (value) => ({ kind: 'number', value });
  assert.equal(lineOf({ type: 'Node', kind: 'instance' }), 'find type = "Node" and kind = "instance" by retained');
  assert.equal(lineOf({ text: { kind: 'name', value: '7' } }), 'find text = "7" by retained');
  assert.equal(lineOf({ name: 'job 14', cpu_time_ns: number(1) }), 'stack "job 14"');
  assert.equal(lineOf({ function: 'parse', site: number(3) }), 'site 3');
  assert.equal(lineOf({ class: 'linker', process: '1:0' }, { snapshots: 0, processes: true }), 'find class = "linker"');
  assert.equal(lineOf({ class: 'x'.repeat(4097), process: '1:0' }, { snapshots: 0, processes: true }), null);
  assert.equal(lineOf({ process: '1:0' }, { snapshots: 0, processes: true }), null);
  assert.equal(lineOf({ '': 'all roots', type: 'all roots', object: { kind: 'none' } }), null);
  assert.equal(lineOf({ function: 'not recorded', site: { kind: 'none' } }), null);
  assert.equal(lineOf({ loader: '<the JVM\'s own>', classes: number(9) }), null);
  assert.equal(lineOf({ loader: '<the JVM\'s own>', classes: number(9), object: { kind: 'none' } }), 'find not loader ~ "*" by retained');
  assert.equal(lineOf({ name: 'app', classes: number(9), object: number(7) }), 'info @7');
  assert.equal(lineOf({ name: 'app', classes: number(9), object: { kind: 'none' } }), null);
  const top = { '': 'all roots', type: 'all roots', roots: { kind: 'none' }, object: { kind: 'none' } };
  assert.equal(lineOf(top), 'dominators');
  assert.equal(lineOf({ ...top, depth: number(0) }), null);
  assert.equal(lineOf({ dominated_by: 'several groups of roots', immediate_dominator: { kind: 'none' }, object: number(3) }), 'idom @3');
  assert.equal(lineOf({ type: 'wall' }, { snapshots: 0, processes: false }), null);
});

test('what a set has in common, and what holds it, are lines', () => {
  const number = (value) => ({ kind: 'number', value });
  const common = (key, value) => lineOf({ value, key, objects: number(9) });
  assert.equal(common('type', 'Node'), 'find type = "Node" by retained');
  assert.equal(common('.state', { kind: 'name', value: 'CLOSED' }), 'find .state = "CLOSED" by retained');
  assert.equal(common('.hits', number(3)), 'find .hits = 3 by retained');
  assert.equal(common('root', 'sticky class'), 'roots "sticky class"');
  // What a recording says of itself is no attribute of objects.
  assert.equal(lineOf({ value: 'barrow import', key: 'producer' }), null);
  assert.equal(lineOf({ '.state': { kind: 'name', value: '' } }), 'find .state = "" by retained');
  assert.equal(lineOf({ '': 'roots: sticky class', roots: 'sticky class', object: { kind: 'none' } }), 'roots "sticky class"');
  assert.equal(lineOf({ '': 'roots: frames (main: run)', roots: 'frames', object: { kind: 'none' } }), 'roots "frames"');
  assert.equal(lineOf({ key: { kind: 'name', value: 'a' }, key_object: number(7) }), 'info @7');
  assert.equal(lineOf({ line: { kind: 'line', value: 'C heap space' } }), 'find line = "C heap space" by retained');
});

test('a merged path leads to the class that it names, or to objects of its type', () => {
  const at = (title, type, kind) => lineOf({ '': `  ${title}`, title, type, kind, example: { kind: 'number', value: 3 } });
  assert.equal(at('class Cache', 'java.lang.Class', 'class'), 'find name = "Cache" and kind = "class" by retained');
  assert.equal(at('class Cache', 'Cache', 'class'), 'find type = "Cache" and kind = "class" by retained');
  assert.equal(at('Node "first"', 'Node', 'instance'), 'find type = "Node" and kind = "instance" by retained');
});

test('cells of processes are lines about processes', () => {
  const build = { snapshots: 0, processes: true };
  const lines = (of) => lineOf(of, build);
  assert.equal(lines({ parent: '1:0', process: '2:0' }), 'info 1:0');
  assert.equal(lines({ unit: 'a.c', process: '2:0' }), 'find class.unit = "a.c"');
  const args = ['sh', '-c', 'a "b"'].map((value) => ({ kind: 'text', value }));
  assert.equal(lines({ command_line: 'sh -c \'a "b"\'', process: '2:0', arguments: { kind: 'list', value: args } }), 'find arguments = "sh -c a \\"b\\""');
  assert.equal(lines({ command: 'make -j4', process: '2:0' }), 'find arguments = "make -j4"');
  assert.equal(lines({ command: "sh -c 'a'", process: '2:0' }), null);
  assert.equal(lines({ exit: '1', exit_code: { kind: 'number', value: 1 }, process: '2:0' }), 'find exit = 1');
  assert.equal(lines({ exit: 'SIGKILL', signal: { kind: 'number', value: 9 }, process: '2:0' }), 'find signal = 9');
  assert.equal(lines({ class: '(all)' }), null);
  // What only the other recording has.
  assert.equal(lines({ class: 'linker', processes_before: { kind: 'none' } }), null);
});

test('a frame is a line about its thread', () => {
  assert.equal(lineOf({ frame: 'run (job.rb:3)', thread: 'job 14' }), 'stack "job 14" --frame "run (job.rb:3)"');
  assert.equal(lineOf({ frame: 'a "b" \\', thread: 'main' }), 'stack main --frame "a \\"b\\" \\\\"');
  assert.equal(lineOf({ frame: 'two\nlines', thread: 'main' }), null);
  assert.equal(lineOf({ frame: 'run' }), null);
});

test('the steps of a path lead to what the answer names', () => {
  const column = (key) => ({ key, heading: key, unit: 'text', audience: 'everyone', is_secondary: false });
  const record = (fields) => ({ kind: 'record', value: Object.entries(fields).map(([key, value]) => ({ column: column(key), value: { kind: 'text', value } })) });
  const table = (columns) => ({ key: 'rows', audience: 'everyone', columns: columns.map(column), rows: [] });
  const path = { kind: 'path', value: ['[globals]', 'Cache', 'module os'] };
  const steps = { kind: 'list', value: [record({ roots: 'globals' }), record({ type: 'Cache' }), record({ kind: 'module', name: 'os' })] };
  const lines = (columns, row) => stepsOf(table(columns), row).map(lineOfStep);
  assert.deepEqual(lines(['shown_path', 'steps'], [path, steps]), ['dominators roots "globals"', 'find 100 type = "Cache" by retained', 'find 100 kind = "module" and name = "os" by retained']);
  // What only looks like a type is not taken for one.
  assert.deepEqual(lines(['shown_path'], [path]), [null, null, null]);
});

test('a hostile name stays one word of a line', () => {
  for (const name of ['a" or true or "', '$(touch x)`', "it's; rm -rf \\", '</script>']) {
    const line = lineOf({ type: name }) ?? '';
    assert.equal(line, `find type = "${name.replace(/["\\]/g, '\\$&')}" by retained`);
    for (const further of furtherOf(line, heap)) assert.ok(further.line.includes(line.slice('find '.length, -' by retained'.length)), further.line);
  }
});

test('what a line is about', () => {
  assert.deepEqual(subjectOf('info 28:@7'), { object: '28:@7' });
  assert.deepEqual(subjectOf('path @7 3'), { object: '@7' });
  assert.deepEqual(subjectOf('find 100 type = "A by b" by retained'), { expression: 'type = "A by b"' });
  assert.deepEqual(subjectOf('group size > 1K by .owner'), { expression: 'size > 1K' });
  assert.deepEqual(subjectOf('summary all'), {});
  assert.deepEqual(furtherOf('find class = "linker"', { snapshots: 0 }), []);
});

test('two sets make a third one, and one that goes stays in what was made of it', () => {
  const state = { ...empty(), q: 'find 3 size > 1', lets: ['$a = size > 1', '$b = @7', '$ab = all'] };
  const made = combined(state, '$a', { snapshots: 1 });
  assert.deepEqual(made.map(({ expression }) => expression), ['$a and $b', '$a or $b', '$a and not $b', '$a and $ab', '$a or $ab', '$a and not $ab']);
  assert.equal(made[2].line, 'find 100 $c by retained');
  assert.deepEqual(made[2].lets, [...state.lets, '$c = $a and not $b']);
  assert.equal(combined({ ...state, q: 'paths $a' }, '$a', { snapshots: 1 })[0].line, 'paths $c');
  assert.equal(combined(state, '$a', { snapshots: 0 })[0].line, 'find $c');
  const lets = ['$a = size > 1', '$ab = type = "$a" and $a', '$c = $ab or not $a'];
  assert.deepEqual(withoutSet(lets, lets[0]), ['$ab = type = "$a" and (size > 1)', '$c = $ab or not (size > 1)']);
  // What begins with a kind is no part of an expression.
  assert.deepEqual(withoutSet(['$a = objects size > 1', '$b = $a', '$c = $b', '$d = @1'], '$a = objects size > 1'), ['$d = @1']);
});

test('a set gets more objects, or a new one has them', () => {
  assert.deepEqual(withAdded(['$a = size > 1'], null, '@7'), ['$a = size > 1', '$b = @7']);
  assert.deepEqual(withAdded(['$a = size > 1', '$b = @7'], '$a', '@9'), ['$a = (size > 1) or @9', '$b = @7']);
  assert.deepEqual(withAdded(['$a=size > 1'], '$a', 'size < 9'), ['$a = (size > 1) or (size < 9)']);
});

test('what begins with a kind is added by a name', () => {
  for (const kind of ['instance size > 1', '"primitive array"', 'all', 'plugin size > 1']) {
    assert.deepEqual(withAdded([`$a = ${kind}`, '$c = $a'], '$a', '@9'), [`$b = ${kind}`, '$a = $b or @9', '$c = $a']);
    assert.deepEqual(withAdded(['$a = @9'], '$a', kind), [`$b = ${kind}`, '$a = @9 or $b']);
    assert.deepEqual(withAdded([], null, kind), [`$a = ${kind}`]);
    assert.deepEqual(withAdded([`$a = ${kind}`], '$a', kind), [`$b = ${kind}`, `$c = ${kind}`, '$a = $b or $c']);
  }
});
